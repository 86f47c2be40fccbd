// Inverse dynamics (recursive Newton-Euler): accelerations outwards (dynamics.7), forces of each
// link (dynamics.8), sums inwards (dynamics.9). docs/theory/dynamics.md.
#include "dynamics/dynamics.h"
#include "math/six.h"

// dynamics.8: Force about the reference point that a link needs for acceleration A at velocity V.
static inline rgSpatial rgLinkForce(const rgLinkInertia* inertia, const rgSpatial* V,
                                    const rgSpatial* A) {
    rgVec3 c = inertia->center, w = V->angular;
    rgVec3 centerVelocity = rgAdd(V->linear, rgCross(w, c));
    rgVec3 centerAcceleration =
        rgAdd(rgAdd(A->linear, rgCross(A->angular, c)), rgCross(w, centerVelocity));
    rgVec3 force = rgScale(inertia->mass, centerAcceleration);
    rgVec3 torque = rgAdd(rgSym3_Multiply(&inertia->moment, A->angular),
                          rgCross(w, rgSym3_Multiply(&inertia->moment, w)));
    return (rgSpatial){force, rgAdd(torque, rgCross(c, force))};
}

// dynamics.7: Part of the accelerations that a and gravity cause; the bias is added where it is
// used.
static void rgDynamics_Accelerate(rgDynamics* d, const double* a) {
    const rgModel* model = d->model;
    d->pushes[0] = (rgSpatial){rgNegate(d->gravity), {0, 0, 0}};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const rgSpatial* axes = d->axes + link->v;
        rgSpatial sum = rgSpatialAddScaled(d->pushes[link->parent], a[link->v], axes[0]);
        for (int k = 1; k < link->vCount; ++k) {
            sum = rgSpatialAddScaled(sum, a[link->v + k], axes[k]);
        }
        d->pushes[i] = sum;
    }
}

static void rgDynamics_SubtractWrenches(rgDynamics* d, const rgSpatial* wrenches) {
    const rgModel* model = d->model;
    for (int b = 0; b < model->info.bodyCount; ++b) {
        const rgPlace* place = &model->bodyPlaces[b];
        rgSpatial* force = &d->forces[place->link];
        rgVec3 arm = rgDynamics_PlacePoint(d, place);
        force->linear = rgSub(force->linear, wrenches[b].linear);
        force->angular =
            rgSub(force->angular, rgAdd(wrenches[b].angular, rgCross(arm, wrenches[b].linear)));
    }
}

// dynamics.8 of the links from first to before end.
static void rgDynamics_FillForces(rgDynamics* d, int first, int end, bool pushed) {
    const rgModel* model = d->model;
    rgVec3 up = rgNegate(d->gravity);
    for (int i = first; i < end; ++i) {
        if (model->links[i].massless) {
            d->forces[i] = (rgSpatial){0};
            continue;
        }
        rgSpatial A = d->biases[i];
        if (pushed) {
            A = rgSpatialAdd(A, d->pushes[i]);
        } else {
            A.linear = rgAdd(A.linear, up);
        }
        d->forces[i] = rgLinkForce(&d->inertias[i], &d->velocities[i], &A);
    }
}

void rgDynamics_LinkForces(rgDynamics* d, const double* a, const rgSpatial* wrenches) {
    rgDynamics_NeedInertias(d);
    if (a != NULL) {
        rgDynamics_Accelerate(d, a);
    }
    d->forces[0] = (rgSpatial){0};
    rgDynamics_FillForces(d, 1, d->model->linkCount, a != NULL);
    if (wrenches != NULL) {
        rgDynamics_SubtractWrenches(d, wrenches);
    }
}

// dynamics.9: tau = S . F, and F is added unchanged to the parent.
static void rgDynamics_SumForces(rgDynamics* d, int first, int end, double* tau) {
    const rgModel* model = d->model;
    for (int i = end - 1; i >= first; --i) {
        const rgLink* link = &model->links[i];
        rgSix force = rgLoadSix(&d->forces[i]);
        for (int k = 0; k < link->vCount; ++k) {
            tau[link->v + k] = rgSix_Dot(rgLoadSix(&d->axes[link->v + k]), force);
        }
        rgSpatial* above = &d->forces[link->parent];
        rgStoreSix(above, rgSix_Add(rgLoadSix(above), force));
    }
}

void rgDynamics_InverseDynamics(rgDynamics* d, const double* a, const rgSpatial* wrenches,
                                double* tau) {
    if (d == NULL || tau == NULL) {
        return;
    }
    const rgModel* model = d->model;
    rgDynamics_LinkForces(d, a, wrenches);
    if (a == NULL) {
        rgDynamics_SumForces(d, 1, model->linkCount, tau);
        return;
    }
    for (int i = 0; i < model->vCount; ++i) {
        d->scratch[i] = model->dofs[i].armature * a[i]; // a may be tau
    }
    rgDynamics_SumForces(d, 1, model->linkCount, tau);
    for (int i = 0; i < model->vCount; ++i) {
        tau[i] += d->scratch[i];
    }
}

void rgDynamics_Bias(rgDynamics* d, double* bias) {
    if (d == NULL || bias == NULL) {
        return;
    }
    rgDynamics_InverseDynamics(d, NULL, NULL, bias);
}

void rgDynamics_TreeBias(rgDynamics* d, int tree, double* bias) {
    const rgTree* range = &d->model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    int last = range->firstDof + range->dofCount - 1;
    if (!(d->valid & rg_haveInertias) && d->rowLength[last] < d->model->dofs[last].depth) {
        rgDynamics_FillInertias(d, first, end);
    }
    d->forces[0] = (rgSpatial){0};
    rgDynamics_FillForces(d, first, end, false);
    rgDynamics_SumForces(d, first, end, bias);
}

// ---- momenta

void rgDynamics_TreeRates(rgDynamics* d, int tree, const double* v, rgSpatial* rates) {
    const rgTree* range = &d->model->trees[tree];
    rgSpatial* velocities = d->pushes;
    velocities[0] = (rgSpatial){0};
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &d->model->links[i];
        rgSpatial V = velocities[link->parent];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            V = rgSpatialAddScaled(V, v[k], d->axes[k]);
        }
        velocities[i] = V;
        rates[i].linear = rgAdd(V.linear, rgCross(V.angular, rgDynamics_LinkCenter(d, i)));
        rates[i].angular = rgRot_ApplyBack(&d->poses[i].r, V.angular);
    }
}

void rgDynamics_SumMomenta(rgDynamics* d, int tree, const rgSpatial* rates, double* sum) {
    const rgTree* range = &d->model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    d->forces[0] = (rgSpatial){0};
    for (int i = first; i < end; ++i) {
        const rgLink* link = &d->model->links[i];
        if (link->massless) {
            d->forces[i] = (rgSpatial){0};
            continue;
        }
        rgVec3 push = rgScale(link->mass, rates[i].linear);
        rgVec3 spin = rgRot_Apply(&d->poses[i].r, rgSym3_Multiply(&link->moment, rates[i].angular));
        d->forces[i] = (rgSpatial){push, rgAdd(spin, rgCross(rgDynamics_LinkCenter(d, i), push))};
    }
    rgDynamics_SumForces(d, first, end, sum);
}

void rgDynamics_TreeWeight(rgDynamics* d, int tree, double* sum) {
    const rgTree* range = &d->model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    d->forces[0] = (rgSpatial){0};
    for (int i = first; i < end; ++i) {
        rgVec3 weight = rgScale(d->model->links[i].mass, d->gravity);
        d->forces[i] = (rgSpatial){weight, rgCross(rgDynamics_LinkCenter(d, i), weight)};
    }
    rgDynamics_SumForces(d, first, end, sum);
}

void rgDynamics_GravityTorque(rgDynamics* d, double* torque) {
    if (d == NULL || torque == NULL) {
        return;
    }
    const rgModel* model = d->model;
    rgDynamics_NeedInertias(d);
    for (int i = 0; i < model->linkCount; ++i) {
        const rgLinkInertia* inertia = &d->inertias[i];
        rgVec3 force = i > 0 ? rgScale(-inertia->mass, d->gravity) : rgVec(0, 0, 0);
        d->forces[i] = (rgSpatial){force, rgCross(inertia->center, force)};
    }
    rgDynamics_SumForces(d, 1, model->linkCount, torque);
}
