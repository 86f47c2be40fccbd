// Configurations: neutral, random, moved by a velocity, compared; and the two coordinates of a free
// joint's velocity. Positions move along straight lines, never along the exponential of SE(3).
#include "dynamics/dynamics.h"

static rgQuat rgLoadQuat(const double* q) {
    return (rgQuat){q[0], q[1], q[2], q[3]};
}

static rgVec3 rgLoadVec(const double* v) {
    return rgVec(v[0], v[1], v[2]);
}

static void rgStoreQuat(rgQuat q, double* out) {
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

static void rgStoreVec(rgVec3 v, double* out) {
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

void rgModel_NeutralConfiguration(const rgModel* model, double* q) {
    if (model == NULL || q == NULL) {
        return;
    }
    for (int i = 0; i < model->qCount; ++i) {
        q[i] = model->neutral[i];
    }
}

void rgModel_StartConfiguration(const rgModel* model, double* q) {
    rgModel_NeutralConfiguration(model, q);
    for (int j = 0; model != NULL && q != NULL && j < model->info.jointCount; ++j) {
        const rgJointDef* joint = &model->joints[j];
        double* value = &q[model->jointRanges[j].q];
        if (joint->hasLimits &&
            (joint->kind == rg_jointRevolute || joint->kind == rg_jointPrismatic)) {
            *value = RG_MIN(RG_MAX(*value, joint->lower), joint->upper);
        }
    }
}

static double rgRandomUnit(uint64_t* state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double rgRandomBetween(uint64_t* state, double low, double high) {
    return low + (high - low) * rgRandomUnit(state);
}

static const double rgPi = 3.14159265358979323846;

// Uniform over all rotations.
static rgQuat rgRandomQuat(uint64_t* state) {
    double u = rgRandomUnit(state);
    double a = 2 * rgPi * rgRandomUnit(state), b = 2 * rgPi * rgRandomUnit(state);
    double s = sqrt(1 - u), t = sqrt(u);
    return (rgQuat){s * sin(a), s * cos(a), t * sin(b), t * cos(b)};
}

static rgQuat rgRandomSpherical(uint64_t* state, const rgJointDef* joint) {
    rgQuat q = rgRandomQuat(state);
    if (!joint->hasLimits) {
        return q;
    }
    rgVec3 rotation = rgRotationVectorFromQuat(q);
    double shrink = fmin(joint->upper / rgPi, 1);
    return rgQuatFromRotationVector(rgScale(shrink, rotation));
}

static double rgRandomScalar(uint64_t* state, const rgLink* link, const rgJointDef* joint) {
    bool limited = joint->hasLimits && joint->kind != rg_jointPlanar && isfinite(joint->lower) &&
                   isfinite(joint->upper);
    double reach = link->kind == rg_linkRevolute ? rgPi : 1;
    return limited ? rgRandomBetween(state, joint->lower, joint->upper)
                   : rgRandomBetween(state, -reach, reach);
}

void rgModel_RandomConfiguration(const rgModel* model, uint64_t seed, double* q) {
    if (model == NULL || q == NULL) {
        return;
    }
    uint64_t state = seed;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const rgJointDef* joint = &model->joints[link->joint];
        double* out = q + link->q;
        if (link->kind == rg_linkSpherical) {
            rgStoreQuat(rgRandomSpherical(&state, joint), out);
        } else if (link->kind == rg_linkFree) {
            for (int k = 0; k < 3; ++k) {
                out[k] = rgRandomBetween(&state, -1, 1);
            }
            rgStoreQuat(rgRandomQuat(&state), out + 3);
        } else {
            out[0] = rgRandomScalar(&state, link, joint);
        }
    }
}

static void rgIntegrateQuat(const double* q, const double* rate, double dt, double* out) {
    rgQuat turn = rgQuatFromRotationVector(rgScale(dt, rgLoadVec(rate)));
    rgStoreQuat(rgQuatNormalize(rgQuatMultiply(rgLoadQuat(q), turn)), out);
}

void rgModel_Integrate(const rgModel* model, const double* q, const double* v, double dt,
                       double* result) {
    if (model == NULL || q == NULL || v == NULL || result == NULL) {
        return;
    }
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const double *from = q + link->q, *rate = v + link->v;
        double* out = result + link->q;
        if (link->kind == rg_linkSpherical) {
            rgIntegrateQuat(from, rate, dt, out);
        } else if (link->kind == rg_linkFree) {
            rgVec3 velocity = rgRotate(rgLoadQuat(from + 3), rgLoadVec(rate));
            rgStoreVec(rgAddScaled(rgLoadVec(from), dt, velocity), out);
            rgIntegrateQuat(from + 3, rate + 3, dt, out + 3);
        } else {
            out[0] = from[0] + dt * rate[0];
        }
    }
}

static rgVec3 rgQuatDifference(const double* q0, const double* q1) {
    return rgRotationVectorFromQuat(
        rgQuatMultiply(rgQuatConjugate(rgLoadQuat(q0)), rgLoadQuat(q1)));
}

void rgModel_Difference(const rgModel* model, const double* q0, const double* q1, double* v) {
    if (model == NULL || q0 == NULL || q1 == NULL || v == NULL) {
        return;
    }
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const double *from = q0 + link->q, *to = q1 + link->q;
        double* out = v + link->v;
        if (link->kind == rg_linkSpherical) {
            rgStoreVec(rgQuatDifference(from, to), out);
        } else if (link->kind == rg_linkFree) {
            rgVec3 moved = rgSub(rgLoadVec(to), rgLoadVec(from));
            rgStoreVec(rgRotateBack(rgLoadQuat(from + 3), moved), out);
            rgStoreVec(rgQuatDifference(from + 3, to + 3), out + 3);
        } else {
            out[0] = to[0] - from[0];
        }
    }
}

static void rgTurnFreeVelocities(const rgModel* model, const double* q, const double* v,
                                 bool toWorld, double* result) {
    for (int i = 0; i < model->vCount; ++i) {
        result[i] = v[i];
    }
    // A free joint is always the first of its tree.
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        if (link->kind == rg_linkFree) {
            rgQuat turn = rgLoadQuat(q + link->q + 3);
            rgVec3 linear = rgLoadVec(v + link->v);
            rgStoreVec(toWorld ? rgRotate(turn, linear) : rgRotateBack(turn, linear),
                       result + link->v);
        }
    }
}

void rgModel_StepVelocity(const rgModel* model, const double* q, const double* v, double* result) {
    if (model == NULL || q == NULL || v == NULL || result == NULL) {
        return;
    }
    rgTurnFreeVelocities(model, q, v, true, result);
}

void rgModel_BodyVelocity(const rgModel* model, const double* q, const double* v, double* result) {
    if (model == NULL || q == NULL || v == NULL || result == NULL) {
        return;
    }
    rgTurnFreeVelocities(model, q, v, false, result);
}
