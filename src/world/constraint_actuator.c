// Actuators: command, transmission, and the rows of those whose gains are limited, act through
// tendons or on several degrees of freedom. docs/theory/constraints.md (8).
#include "world/world.h"

void rgAddEntry(rgWorld* world, int* count, int column, double value) {
    rgInsertEntry(world->entryColumns, world->entryValues, count, column, value);
}

// A free joint's linear gears are in the body frame; the step works in world axes.
static void rgWorldGear(const rgWorld* world, const rgActuatorDef* def, double* gear) {
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    for (int k = 0; k < 6; ++k) {
        gear[k] = def->gear[k];
    }
    if (range->vCount == 6) {
        const double* q = world->startQ + range->q + 3;
        rgVec3 linear =
            rgRotate((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(gear[0], gear[1], gear[2]));
        gear[0] = linear.x, gear[1] = linear.y, gear[2] = linear.z;
    }
}

int rgDriveEntries(rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    if (def->tendon.index1 > 0) {
        return rgTendonEntries(world, def->tendon.index1 - 1, def->gear[0]);
    }
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    double gear[6];
    int count = 0;
    rgWorldGear(world, def, gear);
    for (int k = 0; k < range->vCount; ++k) {
        if (gear[k] != 0) {
            rgAddEntry(world, &count, range->v + k, gear[k]);
        }
    }
    return count;
}

double rgDrivePosition(const rgModel* model, int actuator, const double* configuration) {
    const rgActuatorDef* def = &model->actuators[actuator];
    if (def->tendon.index1 > 0) {
        return def->gear[0] * rgTendonLength(model, def->tendon.index1 - 1, configuration);
    }
    int joint = def->joint.index1 - 1;
    const double* q = configuration + model->jointRanges[joint].q;
    switch (model->joints[joint].kind) {
    case rg_jointRevolute:
    case rg_jointPrismatic:
        return def->gear[0] * q[0];
    case rg_jointPlanar:
        return def->gear[0] * q[0] + def->gear[1] * q[1] + def->gear[2] * q[2];
    case rg_jointSpherical:
        return rgDot(rgVec(def->gear[0], def->gear[1], def->gear[2]),
                     rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]}));
    default:
        return 0; // a free joint has no position to hold
    }
}

double rgDriveCommand(const rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    double u = world->state.control[actuator];
    if (def->hasControlRange) {
        u = fmin(fmax(u, def->controlLower), def->controlUpper);
    }
    return def->gain * u + def->bias;
}

// (8) A spring and damper, |lambda| within dt times the force limits.
static rgResult rgAddActuator(rgWorld* world, int actuator) {
    const rgDrive* drive = &world->drives[actuator];
    double dt = world->dt;
    int count = rgDriveEntries(world, actuator);
    bool asleep = count == 0;
    for (int k = 0; k < count; ++k) {
        int link = world->model->dofs[world->entryColumns[k]].link;
        asleep = asleep || rgWorld_LinkSleeps(world, link);
    }
    if (asleep) {
        return rg_ok;
    }
    rgBlock block = {.kind = rg_blockBox, .lower = dt * drive->lower, .upper = dt * drive->upper};
    int row = rgRows_AddRow(world, block, count, world->entryColumns, world->entryValues);
    if (row < 0) {
        return rg_errorMemory;
    }
    double position = rgDrivePosition(world->model, actuator, world->startQ);
    rgSoftness gains = {drive->stiffness, drive->damping};
    rgLaw law = rgSpringLaw(world, row, gains, position, rgDriveCommand(world, actuator));
    world->rows.compliance[row] = law.compliance;
    world->rows.bias[row] = law.bias;
    world->rows.gap[row] = position;
    world->rows.sources[row] = (rgRowSource){
        .kind = rg_constraintActuator, .index = actuator, .slot = world->slots.actuator + actuator};
    return rg_ok;
}

rgResult rgAddActuators(rgWorld* world) {
    rgResult result = rg_ok;
    for (int a = 0; a < world->model->info.actuatorCount && result == rg_ok; ++a) {
        if (world->drives[a].mode == rg_driveRow) {
            result = rgAddActuator(world, a);
        }
    }
    return result;
}
