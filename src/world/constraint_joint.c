// Joint limits and dry friction. constraints.9, constraints.10.
#include "world/world.h"

// Limits have rows if this step may reach them, after the hardest impact too.
bool rgLimitIsNear(double dt, double phi, double speed, double freeSpeed) {
    double reach = dt * (fabs(speed) + fabs(freeSpeed));
    return phi <= RG_SLOP + RG_IMPACT_SPEED_RATIO * reach;
}

typedef struct rgLimitRow {
    double phi;
    int count;
    int columns[3];
    double values[3];
} rgLimitRow;

static rgResult rgAddLimit(rgWorld* world, int joint, int side, const rgLimitRow* limit) {
    double speed = 0, freeSpeed = 0;
    for (int k = 0; k < limit->count; ++k) {
        speed += limit->values[k] * world->kinematics.v[limit->columns[k]];
        freeSpeed += limit->values[k] * world->free.v[limit->columns[k]];
    }
    if (!rgLimitIsNear(world->settings.dt, limit->phi, speed, freeSpeed)) {
        return rg_ok;
    }
    int row = rgRows_AddRow(&world->constraints.rows, world->model, &world->heap.allocator,
                            (rgBlock){.kind = rg_blockHalfLine}, limit->count, limit->columns,
                            limit->values);
    if (row < 0) {
        return rg_errorMemory;
    }
    int link = world->model->dofs[limit->columns[0]].link;
    double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings, link, link);
    rgLaw law = rgUnilateralLaw(rgTouchingGap(limit->phi), ahead);
    world->constraints.rows.gap[row] = limit->phi;
    world->constraints.rows.bias[row] = law.bias;
    world->constraints.rows.compliance[row] = law.compliance;
    world->constraints.rows.sources[row] =
        (rgRowSource){.kind = rg_constraintLimit,
                      .index = joint,
                      .row = side,
                      .slot = world->warmStart.slots.limit + 2 * joint + side};
    return rg_ok;
}

static rgResult rgAddScalarLimits(rgWorld* world, int joint) {
    const rgJointDef* def = &world->model->joints[joint];
    const rgJointRange* range = &world->model->jointRanges[joint];
    double q = world->kinematics.q[range->q];
    rgLimitRow lower = {q - def->lower, 1, {range->v}, {1}};
    rgLimitRow upper = {def->upper - q, 1, {range->v}, {-1}};
    rgResult result = rgAddLimit(world, joint, 0, &lower);
    if (result != rg_ok) {
        return result;
    }
    return rgAddLimit(world, joint, 1, &upper);
}

// The angle of a spherical joint changes with the part of its rate along the axis of rotation.
static rgResult rgAddSphericalLimit(rgWorld* world, int joint) {
    const rgJointRange* range = &world->model->jointRanges[joint];
    const double* q = world->kinematics.q + range->q;
    rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
    double angle = rgLength(r);
    if (angle < RG_ROUNDING) {
        return rg_ok;
    }
    rgVec3 axis = rgScale(-1 / angle, r);
    int v = range->v;
    rgLimitRow row = {
        world->model->joints[joint].upper - angle, 3, {v, v + 1, v + 2}, {axis.x, axis.y, axis.z}};
    return rgAddLimit(world, joint, 1, &row);
}

rgResult rgAddLimits(rgWorld* world) {
    const rgModel* model = world->model;
    rgResult result = rg_ok;
    int count = world->def.ignoreLimits ? 0 : model->info.jointCount;
    for (int j = 0; j < count; ++j) {
        const rgJointDef* def = &model->joints[j];
        const rgJointRange* range = &model->jointRanges[j];
        if (!def->hasLimits || range->vCount == 0 ||
            rgSleep_LinkSleeps(&world->sleep, model, model->dofs[range->v].link)) {
            continue;
        }
        if (range->vCount == 1) {
            result = rgAddScalarLimits(world, j);
        } else if (def->kind == rg_jointSpherical) {
            result = rgAddSphericalLimit(world, j);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

rgResult rgAddDryFriction(rgWorld* world) {
    const rgModel* model = world->model;
    for (int i = 0; i < model->vCount; ++i) {
        double bound = world->settings.dt * model->dofs[i].dryFriction, one = 1;
        if (bound == 0 || rgSleep_LinkSleeps(&world->sleep, model, model->dofs[i].link)) {
            continue;
        }
        rgBlock block = {.kind = rg_blockBox, .lower = -bound, .upper = bound};
        int row = rgRows_AddRow(&world->constraints.rows, model, &world->heap.allocator, block, 1,
                                &i, &one);
        if (row < 0) {
            return rg_errorMemory;
        }
        int joint = model->dofs[i].joint;
        world->constraints.rows.sources[row] =
            (rgRowSource){.kind = rg_constraintFriction,
                          .index = joint,
                          .row = i - model->jointRanges[joint].v,
                          .slot = world->warmStart.slots.friction + i};
    }
    return rg_ok;
}
