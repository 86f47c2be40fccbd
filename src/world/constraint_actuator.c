// The rows of actuators whose gains are limited, vary, or act through tendons, on frames or on
// several degrees of freedom. constraints.14.
#include "world/world.h"

void rgAddEntry(rgConstraintSet* constraints, int* count, int column, double value) {
    rgInsertEntry(constraints->entryColumns, constraints->entryValues, count, column, value);
}

int rgActuatorEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                      const rgModel* model, int actuator) {
    int count = 0;
    for (int k = model->driveStart[actuator]; k < model->driveStart[actuator + 1]; ++k) {
        if (transmission->actuatorValues[k] != 0) {
            rgAddEntry(constraints, &count, model->driveColumns[k],
                       transmission->actuatorValues[k]);
        }
    }
    return count;
}

// constraints.14: A spring and damper, |lambda| within dt times the force limits.
static rgResult rgAddActuator(rgWorld* world, int actuator) {
    const rgActuator* servo = &world->transmission.actuators[actuator];
    double dt = world->settings.dt;
    int count =
        rgActuatorEntries(&world->transmission, &world->constraints, world->model, actuator);
    bool asleep = count == 0;
    for (int k = 0; k < count; ++k) {
        int link = world->model->dofs[world->constraints.entryColumns[k]].link;
        asleep = asleep || rgSleep_LinkSleeps(&world->sleep, world->model, link);
    }
    if (asleep) {
        return rg_ok;
    }
    rgBlock block = {.kind = rg_blockBox, .lower = dt * servo->lower, .upper = dt * servo->upper};
    int row = rgRows_AddRow(&world->constraints.rows, world->model, &world->heap.allocator, block,
                            count, world->constraints.entryColumns, world->constraints.entryValues);
    if (row < 0) {
        return rg_errorMemory;
    }
    world->constraints.rows.drift[row] = servo->drift;
    rgSoftness gains = {servo->stiffness, servo->damping};
    rgLaw law = rgSpringLaw(&world->constraints, &world->kinematics, world->settings.dt, row, gains,
                            servo->position, servo->command);
    world->constraints.rows.compliance[row] = law.compliance;
    world->constraints.rows.bias[row] = law.bias;
    world->constraints.rows.gap[row] = servo->position;
    world->constraints.rows.sources[row] =
        (rgRowSource){.kind = rg_constraintActuator,
                      .index = actuator,
                      .slot = world->warmStart.slots.actuator + actuator};
    return rg_ok;
}

rgResult rgAddActuators(rgWorld* world) {
    rgResult result = rg_ok;
    for (int a = 0; a < world->model->info.actuatorCount; ++a) {
        if (world->transmission.actuators[a].mode == rg_actuatorRow) {
            result = rgAddActuator(world, a);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}
