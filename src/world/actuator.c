// What actuators do in a step: activations, gains at the present positions, and what of them acts
// implicitly. docs/theory/actuators.md.
#include "world/world.h"

#include <string.h>

static double rgClampControl(const rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    double c = world->state.control[actuator];
    return def->hasControlRange ? fmin(fmax(c, def->controlLower), def->controlUpper) : c;
}

// (4) Time constant of a muscle's activation: slower to come the more there is, quicker to go.
static double rgMuscleTime(const rgMuscle* muscle, double control, double activation) {
    double u = fmin(fmax(activation, 0), 1), scale = 0.5 + 1.5 * u;
    double up = muscle->activationTime * scale, down = muscle->deactivationTime / scale;
    double excess = control - activation;
    if (muscle->smoothing <= 0) {
        return excess > 0 ? up : down;
    }
    double x = fmin(fmax(excess / muscle->smoothing + 0.5, 0), 1);
    return down + (up - down) * x * x * x * (x * (6 * x - 15) + 10);
}

// (2) u' = (c - u)/constant
static double rgFilter(double u, double c, double constant, double time) {
    return u + (c - u) * (constant > 0 ? -expm1(-time / constant) : time > 0);
}

// (1)-(4) The activation after a time: exact where its law is linear, of a muscle with the time
// constant of the middle.
static double rgActivationAfter(const rgWorld* world, int actuator, double time) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    double u = world->state.activation[actuator], c = rgClampControl(world, actuator);
    if (def->activation == rg_activationIntegrator) {
        u += time * c;
    } else if (def->activation == rg_activationFilter) {
        u = rgFilter(u, c, def->timeConstant, time);
    } else if (def->activation == rg_activationMuscle) {
        c = fmin(fmax(c, 0), 1);
        double middle = rgFilter(u, c, rgMuscleTime(&def->muscle, c, u), 0.5 * time);
        u = rgFilter(u, c, rgMuscleTime(&def->muscle, c, middle), time);
    }
    return def->hasActivationRange ? fmin(fmax(u, def->activationLower), def->activationUpper) : u;
}

void rgWorld_CommitActivations(rgWorld* world) {
    for (int a = 0; a < world->model->info.activationCount; ++a) {
        world->state.activation[a] = rgActivationAfter(world, a, world->dt);
    }
}

// What drives it where the step is computed.
static double rgDriveInput(const rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    if (def->activation == rg_activationNone) {
        return rgClampControl(world, actuator);
    }
    double middle = world->integrator == rg_integratorMidpoint ? 0.5 * world->dt : 0;
    return rgActivationAfter(world, actuator, def->early ? world->dt : middle);
}

// A value with its slopes.
typedef struct rgSlope {
    double value, slope;
} rgSlope;

// (6) Active force over length: four parabolas, 1 at L = 1, 0 at lmin and lmax.
static rgSlope rgForceLength(const rgMuscle* m, double L) {
    double low = 0.5 * (m->lmin + 1), high = 0.5 * (m->lmax + 1);
    if (L <= m->lmin || L >= m->lmax) {
        return (rgSlope){0};
    }
    if (L < low || L > high) {
        double width = L < low ? low - m->lmin : high - m->lmax;
        double x = (L - (L < low ? m->lmin : m->lmax)) / width;
        return (rgSlope){0.5 * x * x, x / width};
    }
    double width = L < 1 ? low - 1 : high - 1, x = (L - 1) / width;
    return (rgSlope){1 - 0.5 * x * x, -x / width};
}

// (7) Over velocity: 0 at V = -1, 1 at 0, fvmax from fvmax - 1 on.
static rgSlope rgForceVelocity(const rgMuscle* m, double V) {
    double y = m->fvmax - 1;
    if (V <= -1) {
        return (rgSlope){0};
    }
    if (V <= 0) {
        return (rgSlope){(V + 1) * (V + 1), 2 * (V + 1)};
    }
    if (V < y) {
        return (rgSlope){m->fvmax - (y - V) * (y - V) / y, 2 * (y - V) / y};
    }
    return (rgSlope){m->fvmax, 0};
}

// (8) Passive force over length: a parabola from L = 1 to the middle of 1 and lmax, then a line.
static rgSlope rgPassiveForce(const rgMuscle* m, double L) {
    double width = 0.5 * (m->lmax - 1), x = (L - 1) / width;
    if (x <= 0) {
        return (rgSlope){0};
    }
    double y = x < 1 ? x : 1;
    return (rgSlope){m->fpmax * y * (x - 0.5 * y), m->fpmax * y / width};
}

// Force and how it falls with position and rate.
typedef struct rgDriveForce {
    double force, stiffness, damping;
} rgDriveForce;

// (5)
static rgDriveForce rgMuscleForce(const rgMuscle* m, double l, double rate, double u) {
    double unit = (m->lengthRange[1] - m->lengthRange[0]) / (m->range[1] - m->range[0]);
    double L = m->range[0] + (l - m->lengthRange[0]) / unit, V = rate / (unit * m->vmax);
    rgSlope fl = rgForceLength(m, L), fv = rgForceVelocity(m, V), fp = rgPassiveForce(m, L);
    return (rgDriveForce){-m->force * (fl.value * fv.value * u + fp.value),
                          m->force * (fl.slope * fv.value * u + fp.slope) / unit,
                          m->force * fl.value * fv.slope * u / (unit * m->vmax)};
}

static double rgDriveRate(const rgWorld* world, int actuator, const double* v) {
    const rgModel* model = world->model;
    double rate = world->drives[actuator].drift;
    for (int k = model->driveStart[actuator]; k < model->driveStart[actuator + 1]; ++k) {
        rate += world->driveValues[k] * v[model->driveColumns[k]];
    }
    return rate;
}

// Gains that vary: what holds back is implicit about the present position and rate, what pushes on
// is a force.
static void rgSetVaryingGains(rgWorld* world, int actuator, double u) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    rgDrive* drive = &world->drives[actuator];
    double l = drive->position, rate = rgDriveRate(world, actuator, world->startV);
    rgDriveForce f = {.stiffness = def->kp - def->gainPosition * u,
                      .damping = def->kd - def->gainVelocity * u};
    f.force = def->gain * u + def->bias - f.stiffness * l - f.damping * rate;
    if (def->isMuscle) {
        f = rgMuscleForce(&def->muscle, l, rate, u);
    }
    drive->stiffness = drive->holds ? fmax(f.stiffness, 0) : 0;
    drive->damping = fmax(f.damping, 0);
    drive->command = f.force + drive->stiffness * l + drive->damping * rate;
    drive->mode = drive->stiffness == 0 && drive->damping == 0 ? rg_driveForce : rg_driveRow;
}

void rgWorld_PlaceDrives(rgWorld* world) {
    const rgModel* model = world->model;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        rgDrive* drive = &world->drives[a];
        double u = rgDriveInput(world, a);
        drive->position = rgDynamics_DriveRow(
            world->dynamics, a, world->driveValues + model->driveStart[a], &drive->drift);
        if (drive->varies) {
            rgSetVaryingGains(world, a, u);
        } else {
            drive->command = def->gain * u + def->bias;
        }
    }
}
