// Forward dynamics (articulated bodies). With world axes and a common reference point, bias
// accelerations need no recursion of their own: inwards (dynamics.15), outwards (dynamics.16).
// docs/theory/dynamics.md.
#include "dynamics/dynamics.h"

#include <string.h>

static rgArticulated rgRigidArticulated(const rgLinkInertia* inertia) {
    double m = inertia->mass;
    rgVec3 c = inertia->center;
    rgVec3 h = rgScale(m, c);
    const rgSym3* s = &inertia->moment;
    // B = -m [c]x: force of an angular acceleration.
    return (rgArticulated){.A = {.xx = m, .yy = m, .zz = m},
                           .B = {{0, h.z, -h.y, -h.z, 0, h.x, h.y, -h.x, 0}},
                           .C = {.xx = s->xx + h.y * c.y + h.z * c.z,
                                 .yy = s->yy + h.x * c.x + h.z * c.z,
                                 .zz = s->zz + h.x * c.x + h.y * c.y,
                                 .xy = s->xy - h.x * c.y,
                                 .xz = s->xz - h.x * c.z,
                                 .yz = s->yz - h.y * c.z}};
}

static inline rgSpatial rgArticulated_Force(const rgArticulated* a, const rgSpatial* motion) {
    return (rgSpatial){
        rgAdd(rgSym3_Multiply(&a->A, motion->linear), rgMat3_Multiply(&a->B, motion->angular)),
        rgAdd(rgMat3_MultiplyTransposed(&a->B, motion->linear),
              rgSym3_Multiply(&a->C, motion->angular))};
}

static inline void rgSym3_AddSquare(rgSym3* s, double k, rgVec3 u) {
    rgVec3 ku = rgScale(k, u);
    s->xx += ku.x * u.x;
    s->yy += ku.y * u.y;
    s->zz += ku.z * u.z;
    s->xy += ku.x * u.y;
    s->xz += ku.x * u.z;
    s->yz += ku.y * u.z;
}

static inline void rgSym3_Add(rgSym3* s, const rgSym3* t) {
    s->xx += t->xx;
    s->yy += t->yy;
    s->zz += t->zz;
    s->xy += t->xy;
    s->xz += t->xz;
    s->yz += t->yz;
}

// a += k u u'
static inline void rgArticulated_AddSquare(rgArticulated* a, double k, const rgSpatial* u) {
    rgVec3 l = rgScale(k, u->linear), w = u->angular;
    rgSym3_AddSquare(&a->A, k, u->linear);
    rgSym3_AddSquare(&a->C, k, u->angular);
    double* b = a->B.m;
    b[0] += l.x * w.x, b[1] += l.x * w.y, b[2] += l.x * w.z;
    b[3] += l.y * w.x, b[4] += l.y * w.y, b[5] += l.y * w.z;
    b[6] += l.z * w.x, b[7] += l.z * w.y, b[8] += l.z * w.z;
}

static inline void rgArticulated_Add(rgArticulated* sum, const rgArticulated* part) {
    rgSym3_Add(&sum->A, &part->A);
    rgSym3_Add(&sum->C, &part->C);
    for (int k = 0; k < 9; ++k) {
        sum->B.m[k] += part->B.m[k];
    }
}

// Eliminate one degree of freedom of a link: the rest is its articulated inertia and bias force.
// Earlier degrees of freedom of the same link see the remainder as their own.
static bool rgDynamics_Eliminate(rgDynamics* d, int dof, rgArticulated* inertia, rgSpatial* force,
                                 double* u) {
    const rgSpatial* axis = &d->axes[dof];
    rgSpatial U = rgArticulated_Force(inertia, axis);
    double D = rgSpatialDot(axis, &U) + d->model->dofs[dof].armature;
    if (!(D > 0)) {
        return false;
    }
    double inverse = 1 / D;
    double rest = u[dof] - rgSpatialDot(axis, force);
    d->hinged[dof] = U;
    d->hingedInverse[dof] = inverse;
    u[dof] = rest * inverse;
    rgArticulated_AddSquare(inertia, -inverse, &U);
    *force = rgSpatialAddScaled(*force, u[dof], U);
    return true;
}

// dynamics.15
static rgResult rgDynamics_Gather(rgDynamics* d, double* u) {
    const rgModel* model = d->model;
    for (int i = 1; i < model->linkCount; ++i) {
        d->articulated[i] = rgRigidArticulated(&d->inertias[i]);
    }
    for (int i = model->linkCount - 1; i > 0; --i) {
        const rgLink* link = &model->links[i];
        rgArticulated* inertia = &d->articulated[i];
        rgSpatial force = d->forces[i];
        for (int k = link->vCount - 1; k >= 0; --k) {
            if (!rgDynamics_Eliminate(d, link->v + k, inertia, &force, u)) {
                return rg_errorNumeric;
            }
        }
        if (link->parent > 0) {
            rgArticulated_Add(&d->articulated[link->parent], inertia);
            d->forces[link->parent] = rgSpatialAdd(d->forces[link->parent], force);
        }
    }
    return rg_ok;
}

// dynamics.16
static void rgDynamics_Release(rgDynamics* d, double* a) {
    const rgModel* model = d->model;
    d->pushes[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = d->pushes[link->parent];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            a[k] -= d->hingedInverse[k] * rgSpatialDot(&d->hinged[k], &sum);
            sum = rgSpatialAddScaled(sum, a[k], d->axes[k]);
        }
        d->pushes[i] = sum;
    }
}

rgResult rgDynamics_ForwardDynamics(rgDynamics* d, const double* tau, const rgSpatial* wrenches,
                                    double* a) {
    if (d == NULL || (a == NULL && d->model->vCount > 0)) {
        return rg_errorArgument;
    }
    const rgModel* model = d->model;
    rgDynamics_LinkForces(d, NULL, wrenches);
    for (int i = 0; i < model->vCount; ++i) {
        a[i] = tau != NULL ? tau[i] : 0;
    }
    rgResult result = rgDynamics_Gather(d, a);
    if (result == rg_ok) {
        rgDynamics_Release(d, a);
    }
    return result;
}

// ---- M^ of deep trees

// dynamics.15 without forces: levers are U, inverseDiagonal is 1/D.
rgResult rgDynamics_Articulate(rgDynamics* d, int tree, const double* added) {
    const rgModel* model = d->model;
    const rgTree* range = &model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    for (int i = first; i < end; ++i) {
        d->articulated[i] = rgRigidArticulated(&d->inertias[i]);
    }
    for (int i = end - 1; i >= first; --i) {
        const rgLink* link = &model->links[i];
        rgArticulated* inertia = &d->articulated[i];
        for (int k = link->v + link->vCount - 1; k >= link->v; --k) {
            rgSpatial U = rgArticulated_Force(inertia, &d->axes[k]);
            double D = rgSpatialDot(&d->axes[k], &U) + model->dofs[k].armature;
            D += added != NULL ? added[k] : 0;
            if (!(D > 0)) {
                return rg_errorNumeric;
            }
            d->levers[k] = U;
            d->inverseDiagonal[k] = 1 / D;
            rgArticulated_AddSquare(inertia, -1 / D, &U);
        }
        if (link->parent > 0) {
            rgArticulated_Add(&d->articulated[link->parent], inertia);
        }
    }
    return rg_ok;
}

// dynamics.16
void rgDynamics_FollowArticulated(const rgDynamics* d, int tree, double* x) {
    const rgModel* model = d->model;
    int first = model->trees[tree].firstLink, end = first + model->trees[tree].linkCount;
    rgSpatial* pushes = d->pushes;
    for (int i = first; i < end; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = link->parent > 0 ? pushes[link->parent] : (rgSpatial){0};
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            x[k] -= d->inverseDiagonal[k] * rgSpatialDot(&d->levers[k], &sum);
            sum = rgSpatialAddScaled(sum, x[k], d->axes[k]);
        }
        pushes[i] = sum;
    }
}

// dynamics.15 of forces, then dynamics.16
void rgDynamics_SolveArticulated(const rgDynamics* d, int tree, double* x) {
    const rgModel* model = d->model;
    int first = model->trees[tree].firstLink, count = model->trees[tree].linkCount;
    rgSpatial* forces = d->forces;
    memset(forces + first, 0, (size_t)count * sizeof(rgSpatial));
    for (int i = first + count - 1; i >= first; --i) {
        const rgLink* link = &model->links[i];
        rgSpatial force = forces[i];
        for (int k = link->v + link->vCount - 1; k >= link->v; --k) {
            x[k] = (x[k] - rgSpatialDot(&d->axes[k], &force)) * d->inverseDiagonal[k];
            force = rgSpatialAddScaled(force, x[k], d->levers[k]);
        }
        if (link->parent > 0) {
            forces[link->parent] = rgSpatialAdd(forces[link->parent], force);
        }
    }
    rgDynamics_FollowArticulated(d, tree, x);
}

void rgDynamics_ReduceDeep(const rgDynamics* d, const int* columns, int count, int stride,
                           double* x) {
    const rgModel* model = d->model;
    for (int t = 0; t < count; ++t) {
        d->forces[model->dofs[columns[t]].link] = (rgSpatial){0};
    }
    for (int t = count - 1; t >= 0; --t) {
        int k = columns[t], i = model->dofs[k].link;
        const rgLink* link = &model->links[i];
        if (!d->isDeep[link->tree]) {
            continue;
        }
        double* rest = &x[stride * k];
        *rest -= rgSpatialDot(&d->axes[k], &d->forces[i]);
        d->forces[i] =
            rgSpatialAddScaled(d->forces[i], *rest * d->inverseDiagonal[k], d->levers[k]);
        if (k == link->v && link->parent > 0) {
            d->forces[link->parent] = rgSpatialAdd(d->forces[link->parent], d->forces[i]);
        }
    }
}
