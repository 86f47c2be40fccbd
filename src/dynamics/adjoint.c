// Gradients through inverse and forward dynamics: one pass outwards and one inwards, no matrices.
// derivatives.13-17.
#include "dynamics/derivative.h"
#include "dynamics/regressor.h"

#include <string.h>

// derivatives.14: Outwards: U, the velocities that the gradient by the torques would give the
// links; for each link alone what its inertia and velocity and its wrenches make of them.
static void rgDynamics_PassThrough(rgDynamics* d, const double* tauBar) {
    const rgModel* model = d->model;
    rgSlopes* s = d->slopes;
    s->through[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial U = s->through[link->parent];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            U = rgSpatialAddScaled(U, tauBar[k], d->axes[k]);
        }
        const rgLinkInertia* inertia = &d->inertias[i];
        rgVec3 force = rgScale(inertia->mass, rgAdd(U.linear, rgCross(U.angular, inertia->center)));
        s->through[i] = U;
        s->inert[i] = (rgSpatial){force, rgAdd(rgSym3_Multiply(&inertia->moment, U.angular),
                                               rgCross(inertia->center, force))};
        s->turned[i] = rgTurning_Back(&s->coriolis[i], &U);
        s->loaded[i] = rgTurning_Back(&s->loads[i], &U);
    }
}

// derivatives.15: Sums over all below, inwards.
static void rgDynamics_SumThrough(rgDynamics* d) {
    const rgModel* model = d->model;
    rgSlopes* s = d->slopes;
    for (int i = model->linkCount - 1; i > 0; --i) {
        int parent = model->links[i].parent;
        if (parent > 0) {
            s->inert[parent] = rgSpatialAdd(s->inert[parent], s->inert[i]);
            s->turned[parent] = rgAdd(s->turned[parent], s->turned[i]);
            s->loaded[parent] = rgAdd(s->loaded[parent], s->loaded[i]);
        }
    }
}

// derivatives.16
static void rgDynamics_StoreGradients(rgDynamics* d, double sign, const double* tauBar, double* q,
                                      double* v, double* a) {
    const rgModel* model = d->model;
    const rgSlopes* s = d->slopes;
    for (int i = model->linkCount - 1; i > 0; --i) {
        const rgLink* link = &model->links[i];
        rgSpatial U = rgDynamics_ParentMotion(d, link, s->through[link->parent], tauBar);
        for (int k = link->v + link->vCount - 1; k >= link->v; --k) {
            const rgSpatial* axis = &d->axes[k];
            rgSpatial change = rgMotionCross(&U, axis);
            double inertia = rgSpatialDot(axis, &s->inert[i]) + model->dofs[k].armature * tauBar[k];
            if (q != NULL) {
                q[k] = sign * (rgSpatialDot(&change, &d->forces[i]) +
                               rgSpatialDot(&s->pulled[k], &s->inert[i]) +
                               rgDot(s->carried[k].angular, s->turned[i]) +
                               rgDot(axis->angular, s->loaded[i]));
            }
            if (v != NULL) {
                v[k] = sign * (rgDot(axis->angular, s->turned[i]) +
                               rgSpatialDot(&s->swung[k], &s->inert[i]));
            }
            if (a != NULL) {
                a[k] = sign * inertia;
            }
        }
    }
}

// derivatives.17, derivatives.18: The gradient by wrenches and inertial parameters of bodies.
static void rgDynamics_StoreBodies(const rgDynamics* d, double sign, rgSpatial* wrenches,
                                   double* inertias) {
    const rgModel* model = d->model;
    const rgSlopes* s = d->slopes;
    for (int b = 0; b < model->info.bodyCount; ++b) {
        const rgPlace* place = &model->bodyPlaces[b];
        bool moves = place->link > 0 && !rgModel_IsKinematic(model, place->link);
        rgSpatial U = moves ? s->through[place->link] : (rgSpatial){0};
        if (wrenches != NULL) {
            rgVec3 at = rgDynamics_PlacePoint(d, place);
            wrenches[b].linear = rgScale(-sign, rgAdd(U.linear, rgCross(U.angular, at)));
            wrenches[b].angular = rgScale(-sign, U.angular);
        }
        if (inertias != NULL) {
            rgBodyRates rates = rgDynamics_BodyRates(d, b, s->a);
            rgBodyRates_Product(&rates, U, sign, inertias + RG_INERTIA_PARAMETERS * b);
        }
    }
}

static void rgDynamics_Backward(rgDynamics* d, double sign, const double* tauBar,
                                const rgDynamicsGradient* out) {
    rgDynamics_PassThrough(d, tauBar);
    rgDynamics_SumThrough(d);
    rgDynamics_StoreGradients(d, sign, tauBar, out->q, out->v, out->a);
    if (out->wrenches != NULL || out->inertias != NULL) {
        rgDynamics_StoreBodies(d, sign, out->wrenches, out->inertias);
    }
}

rgResult rgDynamics_InverseDynamicsGradient(rgDynamics* d, const double* a,
                                            const rgSpatial* wrenches, const double* tauBar,
                                            const rgDynamicsGradient* gradient) {
    if (d == NULL || gradient == NULL || (tauBar == NULL && d->model->vCount > 0)) {
        return rg_errorArgument;
    }
    rgResult result = rgDynamics_Slopes(d, a, wrenches);
    if (result == rg_ok) {
        rgDynamics_Backward(d, 1, tauBar, gradient);
    }
    return result;
}

rgResult rgDynamics_ForwardDynamicsGradient(rgDynamics* d, const double* tau,
                                            const rgSpatial* wrenches, const double* aBar,
                                            const rgDynamicsGradient* gradient) {
    if (d == NULL || gradient == NULL || (aBar == NULL && d->model->vCount > 0)) {
        return rg_errorArgument;
    }
    rgResult result = rgDynamics_NeedSlopes(d);
    int n = d->model->vCount;
    if (result == rg_ok) {
        result = rgDynamics_Factorize(d, NULL);
    }
    if (result != rg_ok) {
        return result;
    }
    double *x = d->slopes->row, *rest = x + n;
    for (int i = 0; i < n; ++i) {
        x[i] = aBar[i];
    }
    rgDynamics_Solve(d, 1, x);
    result = rgDynamics_ForwardDynamics(d, tau, wrenches, rest);
    if (result == rg_ok) {
        result = rgDynamics_Slopes(d, rest, wrenches);
    }
    if (result == rg_ok) {
        rgDynamicsGradient out = *gradient;
        out.a = NULL;
        rgDynamics_Backward(d, -1, x, &out);
        for (int i = 0; gradient->tau != NULL && i < n; ++i) {
            gradient->tau[i] = x[i];
        }
    }
    return result;
}
