// Quantities of the whole model: centre of mass, momentum, energy. dynamics.19-21.
#include "dynamics/dynamics.h"

rgVec3 rgDynamics_Center(rgDynamics* d) {
    if (d == NULL) {
        return (rgVec3){0};
    }
    const rgModel* model = d->model;
    double mass = model->info.mass;
    rgVec3 sum = {0, 0, 0};
    rgDynamics_NeedComposites(d);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgComposite* tree = &d->composites[model->trees[t].firstLink];
        sum = rgAdd(sum, rgAddScaled(tree->first, tree->mass, d->origins[t]));
    }
    return mass > 0 ? rgScale(1 / mass, sum) : sum;
}

// Momentum of one link: linear, and angular about the link's own centre of mass.
static rgSpatial rgDynamics_LinkMomentum(const rgDynamics* d, int link) {
    const rgLinkInertia* inertia = &d->inertias[link];
    const rgSpatial* V = &d->velocities[link];
    rgVec3 velocity = rgAdd(V->linear, rgCross(V->angular, inertia->center));
    return (rgSpatial){rgScale(inertia->mass, velocity),
                       rgSym3_Multiply(&inertia->moment, V->angular)};
}

rgSpatial rgDynamics_Momentum(rgDynamics* d) {
    if (d == NULL) {
        return (rgSpatial){0};
    }
    const rgModel* model = d->model;
    rgVec3 center = rgDynamics_Center(d);
    rgSpatial sum = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 1; i < model->linkCount; ++i) {
        rgSpatial link = rgDynamics_LinkMomentum(d, i);
        rgVec3 offset = rgSub(rgDynamics_LinkOrigin(d, i), center);
        rgVec3 arm = rgAdd(offset, d->inertias[i].center);
        sum.linear = rgAdd(sum.linear, link.linear);
        sum.angular = rgAdd(sum.angular, rgAdd(link.angular, rgCross(arm, link.linear)));
    }
    return sum;
}

rgVec3 rgDynamics_CenterVelocity(rgDynamics* d) {
    if (d == NULL) {
        return (rgVec3){0};
    }
    const rgModel* model = d->model;
    double mass = model->info.mass;
    rgVec3 sum = {0, 0, 0};
    rgDynamics_NeedInertias(d);
    for (int i = 1; i < model->linkCount; ++i) {
        sum = rgAdd(sum, rgDynamics_LinkMomentum(d, i).linear);
    }
    return mass > 0 ? rgScale(1 / mass, sum) : sum;
}

void rgDynamics_CenterJacobian(rgDynamics* d, double* jacobian) {
    if (d == NULL || jacobian == NULL) {
        return;
    }
    const rgModel* model = d->model;
    int n = model->vCount;
    double scale = model->info.mass > 0 ? 1 / model->info.mass : 0;
    rgDynamics_NeedComposites(d);
    for (int i = 0; i < n; ++i) {
        const rgComposite* below = &d->composites[model->dofs[i].link];
        rgVec3 column = rgScale(scale, rgComposite_Force(below, &d->axes[i]).linear);
        jacobian[i] = column.x;
        jacobian[n + i] = column.y;
        jacobian[2 * n + i] = column.z;
    }
}

void rgDynamics_MomentumMatrix(rgDynamics* d, double* matrix) {
    if (d == NULL || matrix == NULL) {
        return;
    }
    const rgModel* model = d->model;
    size_t n = (size_t)model->vCount;
    rgVec3 center = rgDynamics_Center(d); // with the composites
    for (size_t i = 0; i < n; ++i) {
        const rgDof* dof = &model->dofs[i];
        rgSpatial column = rgComposite_Force(&d->composites[dof->link], &d->axes[i]);
        rgVec3 arm = rgSub(rgDynamics_LinkOrigin(d, dof->link), center);
        rgVec3 angular = rgAdd(column.angular, rgCross(arm, column.linear));
        matrix[i] = column.linear.x;
        matrix[n + i] = column.linear.y;
        matrix[2 * n + i] = column.linear.z;
        matrix[3 * n + i] = angular.x;
        matrix[4 * n + i] = angular.y;
        matrix[5 * n + i] = angular.z;
    }
}

// In place: the lower triangle of A becomes L, then A^-1. False when it is singular.
static bool rgInvertSymmetric(int n, double* A) {
    size_t N = (size_t)n;
    for (size_t i = 0; i < N; ++i) {
        double least = 1e-12 * A[i * N + i];
        for (size_t j = 0; j <= i; ++j) {
            double sum = A[i * N + j];
            for (size_t k = 0; k < j; ++k) {
                sum -= A[i * N + k] * A[j * N + k];
            }
            if (i == j && !(sum > least)) {
                return false;
            }
            A[i * N + j] = i == j ? sqrt(sum) : sum / A[j * N + j];
        }
    }
    for (size_t j = 0; j < N; ++j) { // L^-1, column by column, in the upper triangle
        for (size_t i = j; i < N; ++i) {
            double sum = i == j;
            for (size_t k = j; k < i; ++k) {
                sum -= A[i * N + k] * (k == j ? 1 / A[j * N + j] : A[j * N + k]);
            }
            if (i > j) {
                A[j * N + i] = sum / A[i * N + i];
            }
        }
    }
    for (size_t i = 0; i < N; ++i) {
        A[i * N + i] = 1 / A[i * N + i];
    }
    for (size_t i = 0; i < N; ++i) { // L^-T L^-1
        for (size_t j = 0; j <= i; ++j) {
            double sum = 0;
            for (size_t k = i; k < N; ++k) {
                sum += A[i * N + k] * A[j * N + k];
            }
            A[i * N + j] = sum;
        }
    }
    for (size_t i = 0; i < N; ++i) {
        for (size_t j = 0; j < i; ++j) {
            A[j * N + i] = A[i * N + j];
        }
    }
    return true;
}

rgResult rgDynamics_OperationalInertia(rgDynamics* d, int rowCount, const double* jacobian,
                                       double* inertia) {
    if (d == NULL || rowCount < 1 || jacobian == NULL || inertia == NULL) {
        return rg_errorArgument;
    }
    size_t n = (size_t)d->model->vCount, rows = (size_t)rowCount;
    rgResult result = rgDynamics_Factorize(d, NULL);
    if (result != rg_ok) {
        return result;
    }
    double* X = rgAllocate(&d->allocator, n * rows, sizeof(double));
    if (X == NULL && n > 0) {
        return rg_errorMemory;
    }
    for (size_t r = 0; r < rows; ++r) {
        for (size_t i = 0; i < n; ++i) {
            X[i * rows + r] = jacobian[r * n + i];
        }
    }
    rgDynamics_Solve(d, rowCount, X);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t s = 0; s < rows; ++s) {
            double sum = 0;
            for (size_t i = 0; i < n; ++i) {
                sum += jacobian[r * n + i] * X[i * rows + s];
            }
            inertia[r * rows + s] = sum;
        }
    }
    rgRelease(&d->allocator, X);
    return rgInvertSymmetric(rowCount, inertia) ? rg_ok : rg_errorNumeric;
}

static double rgJointSpringEnergy(const rgDynamics* d, int joint) {
    const rgJointDef* def = &d->model->joints[joint];
    const double* q = d->q + d->model->jointRanges[joint].q;
    double stretch = 0;
    if (def->kind == rg_jointRevolute || def->kind == rg_jointPrismatic) {
        stretch = q[0] - def->springReference;
    } else if (def->kind == rg_jointSpherical) {
        stretch = rgLength(rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]}));
    }
    return 0.5 * def->stiffness * stretch * stretch;
}

static double rgSpringEnergy(const rgDynamics* d) {
    const rgModel* model = d->model;
    double sum = 0;
    for (int j = 0; j < model->info.jointCount; ++j) {
        sum += model->joints[j].stiffness > 0 ? rgJointSpringEnergy(d, j) : 0;
    }
    for (int t = 0; t < model->info.tendonCount; ++t) {
        const rgTendonDef* tendon = &model->tendons[t];
        if (tendon->stiffness == 0) {
            continue;
        }
        double stretch = rgSlackStretch(tendon, rgDynamics_TendonRow(d, t, NULL, NULL));
        sum += 0.5 * tendon->stiffness * stretch * stretch;
    }
    return sum;
}

static double rgTendonRate(const rgDynamics* d, int tendon) {
    const rgModel* model = d->model;
    int first = model->tendonStart[tendon], count = model->tendonStart[tendon + 1] - first;
    double rate = 0;
    rgDynamics_TendonRow(d, tendon, d->scratch, &rate); // the motion of kinematic bodies
    for (int k = 0; k < count; ++k) {
        rate += d->scratch[k] * d->v[model->tendonColumns[first + k]];
    }
    return rate;
}

rgEnergy rgDynamics_Energy(rgDynamics* d) {
    if (d == NULL) {
        return (rgEnergy){0};
    }
    const rgModel* model = d->model;
    rgEnergy energy = {.spring = rgSpringEnergy(d)};
    rgDynamics_NeedInertias(d);
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLinkInertia* inertia = &d->inertias[i];
        rgSpatial momentum = rgDynamics_LinkMomentum(d, i);
        rgVec3 center = rgAdd(inertia->center, rgDynamics_LinkOrigin(d, i));
        double mass = inertia->mass;
        energy.kinetic += mass > 0 ? 0.5 * rgLengthSquared(momentum.linear) / mass : 0;
        energy.kinetic += 0.5 * rgDot(momentum.angular, d->velocities[i].angular);
        energy.potential -= mass * rgDot(d->gravity, center);
    }
    for (int t = 0; t < model->info.tendonCount; ++t) {
        double armature = model->tendons[t].armature;
        double rate = armature > 0 ? rgTendonRate(d, t) : 0;
        energy.kinetic += 0.5 * armature * rate * rate;
    }
    for (int i = 0; i < model->vCount; ++i) {
        energy.kinetic += 0.5 * model->dofs[i].armature * d->v[i] * d->v[i];
    }
    return energy;
}
