// Derivatives of what tendons along points and actuators on frames do as their lever arms change:
// of the rows' velocities and of the forces. docs/theory/step_derivatives.md.
#include "world/linearize.h"

#include <string.h>

// A transmission: over which degrees of freedom, and where its gradient comes from.
typedef struct rgArm {
    bool isTendon;
    int index, count;
    const int* columns;
} rgArm;

bool rgActuator_ArmVaries(const rgModel* model, int actuator) {
    const rgActuatorDef* def = &model->actuators[actuator];
    int tendon = def->tendon.index1 - 1, joint = def->joint.index1 - 1;
    return def->frame.index1 > 0 || (tendon >= 0 && model->tendons[tendon].pointCount > 0) ||
           (joint >= 0 && model->jointRanges[joint].vCount > 1);
}

static rgArm rgTendonArm(const rgModel* model, int tendon) {
    int first = model->tendonStart[tendon];
    return (rgArm){true, tendon, model->tendonStart[tendon + 1] - first,
                   model->tendonColumns + first};
}

static rgArm rgActuatorArm(const rgModel* model, int actuator) {
    int first = model->driveStart[actuator];
    return (rgArm){false, actuator, model->driveStart[actuator + 1] - first,
                   model->driveColumns + first};
}

// J of an arm a small way along a column.
static void rgArm_Gradient(rgWorld* world, const rgArm* arm, int column, double by, double* q,
                           double* out) {
    rgDynamics* d = world->readout->start;
    double drift;
    memcpy(q, world->kinematics.q, (size_t)world->model->qCount * sizeof(double));
    rgMovePositions(world->model, world->kinematics.q, column, by, q);
    rgDynamics_SetPositions(d, q);
    if (arm->isTendon) {
        rgDynamics_TendonRow(d, arm->index, out, &drift);
    } else {
        rgDynamics_DriveRow(d, arm->index, out, &drift);
    }
}

static double rgRows_ValueOf(const rgWorld* world, int row, int column) {
    const rgRows* rows = &world->constraints.rows;
    double value = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        value += rows->column[k] == column ? rows->value[k] : 0;
    }
    return value;
}

// step_derivatives.10 of a row (-1: a force alone) that is `sign` times the arm. push: its impulse.
static void rgAddArm(rgWorld* world, rgLinearization* l, const rgArm* arm, int row, double sign,
                     double push, double byRate) {
    size_t count = (size_t)arm->count;
    double *below = l->work, *above = below + count, *q = above + count;
    for (int c = 0; c < arm->count; ++c) {
        int j = arm->columns[c];
        rgArm_Gradient(world, arm, j, -RG_ARM_STEP, q, below);
        rgArm_Gradient(world, arm, j, RG_ARM_STEP, q, above);
        for (int k = 0; k < arm->count; ++k) {
            int i = arm->columns[k];
            double slope = sign * (above[k] - below[k]) / (2 * RG_ARM_STEP);
            l->force[(size_t)i * (size_t)l->width + (size_t)j] += push * slope;
            if (row >= 0) {
                double mass = world->kinematics.dynamics->mass[world->model->dofs[i].rowStart];
                double rate =
                    rgLinearize_CoordinateVelocity(world, i) + byRate * world->kinematics.v[i];
                l->rows[(size_t)row * (size_t)l->width + (size_t)j] +=
                    slope * (rate + 2 * l->mobility[row] * rgRows_ValueOf(world, row, i) / mass);
            }
        }
    }
}

// Forces of actuators that are no rows.
void rgLinearize_ForceArms(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, world->readout->start);
    world->readout->startValid = false;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        double force = world->transmission.actuatorForce[a];
        bool acts = world->transmission.actuators[a].mode == rg_actuatorForce && force != 0;
        if (acts && rgActuator_ArmVaries(model, a)) {
            rgArm arm = rgActuatorArm(model, a);
            rgAddArm(world, l, &arm, -1, 1, world->settings.dt * force, 0);
        }
    }
}

// Rows of tendons and actuators, once they have their laws.
void rgLinearize_RowArms(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    const rgRows* rows = &world->constraints.rows;
    rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, world->readout->start);
    for (int r = 0; r < l->m; ++r) {
        const rgRowSource* source = &rows->sources[r];
        bool tendon = source->kind == rg_constraintTendon;
        bool varies = tendon ? model->tendons[source->index].pointCount > 0
                             : source->kind == rg_constraintActuator &&
                                   rgActuator_ArmVaries(model, source->index);
        if (!varies || (l->modes[r] == rg_modeOpen && rows->lambda[r] == 0)) {
            continue;
        }
        if (tendon && source->row == 6) {
            rgLinearization_Freeze(l, "inertia of tendons along points");
            continue;
        }
        rgArm arm =
            tendon ? rgTendonArm(model, source->index) : rgActuatorArm(model, source->index);
        bool upper = tendon && rgTendonRowIsLimit(source->row) && source->row % 2 == 1;
        rgAddArm(world, l, &arm, r, upper ? -1 : 1, rows->lambda[r], l->rateSlope[r]);
    }
}
