// Quantities of the whole model: centre of mass, momentum, energy. docs/theory/dynamics.md
// (19)-(21).
#include "dynamics/dynamics.h"

rgVec3 rgDynamics_Center(rgDynamics* d) {
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
        double stretch = -tendon->springReference;
        for (int k = 0; k < tendon->jointCount; ++k) {
            int joint = tendon->joints[k].index1 - 1;
            stretch += tendon->coefficients[k] * d->q[model->jointRanges[joint].q];
        }
        sum += 0.5 * tendon->stiffness * stretch * stretch;
    }
    return sum;
}

rgEnergy rgDynamics_Energy(rgDynamics* d) {
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
    for (int i = 0; i < model->vCount; ++i) {
        energy.kinetic += 0.5 * model->dofs[i].armature * d->v[i] * d->v[i];
    }
    return energy;
}
