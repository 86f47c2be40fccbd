// Inverse and forward dynamics by the inertial parameters of a body. derivatives.13,
// derivatives.18.
#include "dynamics/regressor.h"

#include <string.h>

rgBodyRates rgDynamics_BodyRates(const rgDynamics* d, int body, const double* a) {
    const rgModel* model = d->model;
    const rgPlace* place = &model->bodyPlaces[body];
    const rgLink* link = &model->links[place->link];
    rgRot offset = rgRotFromQuat(place->pose.q);
    rgBodyRates rates = {.axes = rgRot_Multiply(&d->poses[place->link].r, &offset),
                         .origin = rgDynamics_PlacePoint(d, place)};
    rgSpatial V = d->velocities[place->link], A = d->biases[place->link];
    A.linear = rgSub(A.linear, d->gravity);
    int last = link->vCount > 0 ? link->v + link->vCount - 1 : -1;
    for (int k = last; a != NULL && k >= 0; k = model->dofs[k].parent) {
        A = rgSpatialAddScaled(A, a[k], d->axes[k]);
    }
    rgVec3 w = V.angular, moved = rgAdd(V.linear, rgCross(w, rates.origin));
    rgVec3 pulled = rgAdd(rgAdd(A.linear, rgCross(A.angular, rates.origin)), rgCross(w, moved));
    rates.acceleration = rgRot_ApplyBack(&rates.axes, pulled);
    rates.rate = rgRot_ApplyBack(&rates.axes, w);
    rates.turning = rgRot_ApplyBack(&rates.axes, A.angular);
    return rates;
}

void rgBodyRates_Product(const rgBodyRates* rates, rgSpatial U, double scale, double* parameters) {
    rgVec3 a = rates->acceleration, w = rates->rate, e = rates->turning;
    rgVec3 u = rgRot_ApplyBack(&rates->axes, rgAdd(U.linear, rgCross(U.angular, rates->origin)));
    rgVec3 s = rgRot_ApplyBack(&rates->axes, U.angular), t = rgCross(s, w);
    rgVec3 first = rgAdd(rgCross(u, e), rgAdd(rgCross(rgCross(u, w), w), rgCross(a, s)));
    const double product[RG_INERTIA_PARAMETERS] = {rgDot(u, a),
                                                   first.x,
                                                   first.y,
                                                   first.z,
                                                   s.x * e.x + t.x * w.x,
                                                   s.y * e.y + t.y * w.y,
                                                   s.z * e.z + t.z * w.z,
                                                   s.x * e.y + s.y * e.x + t.x * w.y + t.y * w.x,
                                                   s.x * e.z + s.z * e.x + t.x * w.z + t.z * w.x,
                                                   s.y * e.z + s.z * e.y + t.y * w.z + t.z * w.y};
    for (int k = 0; k < RG_INERTIA_PARAMETERS; ++k) {
        parameters[k] = scale * product[k];
    }
}

rgResult rgDynamics_InverseDynamicsByInertia(const rgDynamics* d, const double* a, rgBodyId body,
                                             double* byInertia) {
    if (d == NULL || byInertia == NULL || rgModel_Body(d->model, body) == NULL) {
        return rg_errorArgument;
    }
    const rgModel* model = d->model;
    const rgLink* link = &model->links[model->bodyPlaces[body.index1 - 1].link];
    size_t count = (size_t)model->vCount * RG_INERTIA_PARAMETERS;
    memset(byInertia, 0, count * sizeof(double));
    rgBodyRates rates = rgDynamics_BodyRates(d, body.index1 - 1, a);
    int last = link->vCount > 0 ? link->v + link->vCount - 1 : -1;
    for (int k = last; k >= 0; k = model->dofs[k].parent) {
        rgBodyRates_Product(&rates, d->axes[k], 1, byInertia + RG_INERTIA_PARAMETERS * (size_t)k);
    }
    return rg_ok;
}

rgResult rgDynamics_ForwardDynamicsByInertia(rgDynamics* d, const double* a, rgBodyId body,
                                             double* byInertia) {
    rgResult result = rgDynamics_InverseDynamicsByInertia(d, a, body, byInertia);
    if (result == rg_ok) {
        result = rgDynamics_Factorize(d, NULL);
    }
    if (result == rg_ok) {
        rgDynamics_Solve(d, RG_INERTIA_PARAMETERS, byInertia);
        for (int i = 0; i < d->model->vCount * RG_INERTIA_PARAMETERS; ++i) {
            byInertia[i] = -byInertia[i];
        }
    }
    return result;
}

void rgInertia_Parameters(const rgInertia* inertia, double* parameters) {
    if (inertia == NULL || parameters == NULL) {
        return;
    }
    double m = inertia->mass;
    rgVec3 c = inertia->center;
    const rgSym3* I = &inertia->moment;
    const double all[RG_INERTIA_PARAMETERS] = {m,
                                               m * c.x,
                                               m * c.y,
                                               m * c.z,
                                               I->xx + m * (c.y * c.y + c.z * c.z),
                                               I->yy + m * (c.x * c.x + c.z * c.z),
                                               I->zz + m * (c.x * c.x + c.y * c.y),
                                               I->xy - m * c.x * c.y,
                                               I->xz - m * c.x * c.z,
                                               I->yz - m * c.y * c.z};
    memcpy(parameters, all, sizeof(all));
}

rgInertia rgInertiaFromParameters(const double* parameters) {
    if (parameters == NULL) {
        return (rgInertia){0};
    }
    const double* p = parameters;
    double m = p[0], over = m != 0 ? 1 / m : 0;
    rgVec3 c = rgVec(p[1] * over, p[2] * over, p[3] * over);
    return (rgInertia){.mass = m,
                       .center = c,
                       .moment = {.xx = p[4] - m * (c.y * c.y + c.z * c.z),
                                  .yy = p[5] - m * (c.x * c.x + c.z * c.z),
                                  .zz = p[6] - m * (c.x * c.x + c.y * c.y),
                                  .xy = p[7] + m * c.x * c.y,
                                  .xz = p[8] + m * c.x * c.z,
                                  .yz = p[9] + m * c.y * c.z}};
}
