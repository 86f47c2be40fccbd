// Actuators in a step: activations, gains at the present positions, and the implicit part of their
// forces. docs/theory/actuators.md.
#include "world/world.h"

#include <string.h>

static double rgClampControl(const rgState* state, const rgModel* model, int actuator) {
    const rgActuatorDef* def = &model->actuators[actuator];
    double c = rgState_Control(state, actuator);
    return def->hasControlRange ? fmin(fmax(c, def->controlLower), def->controlUpper) : c;
}

// actuators.4: Time constant of a muscle's activation: it rises slower and falls faster with the
// activation.
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

// actuators.2: u' = (c - u)/constant
static double rgFilter(double u, double c, double constant, double time) {
    return u + (c - u) * (constant > 0 ? -expm1(-time / constant) : time > 0);
}

// actuators.1-4: The activation after a time: exact where its law is linear, of a muscle with the
// time constant of the middle.
static double rgActivationAfter(const rgState* state, const rgModel* model, int actuator,
                                double time) {
    const rgActuatorDef* def = &model->actuators[actuator];
    double u = state->activation[actuator], c = rgClampControl(state, model, actuator);
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

void rgState_CommitActivations(rgState* state, const rgModel* model, double dt) {
    for (int a = 0; a < model->info.activationCount; ++a) {
        state->activation[a] = rgActivationAfter(state, model, a, dt);
    }
}

// Input of an actuator where the step is computed.
static double rgActuatorInput(const rgState* state, const rgModel* model,
                              const rgSettings* settings, int actuator) {
    const rgActuatorDef* def = &model->actuators[actuator];
    if (def->activation == rg_activationNone) {
        return rgClampControl(state, model, actuator);
    }
    double middle = settings->integrator == rg_integratorMidpoint ? 0.5 * settings->dt : 0;
    return rgActivationAfter(state, model, actuator, def->early ? settings->dt : middle);
}

double rgActuatorInputSlope(const rgState* state, const rgModel* model, const rgSettings* settings,
                            int actuator) {
    const rgActuatorDef* def = &model->actuators[actuator];
    double middle = settings->integrator == rg_integratorMidpoint ? 0.5 * settings->dt : 0;
    double time = def->early ? settings->dt : middle;
    double u = rgActuatorInput(state, model, settings, actuator);
    bool cut = def->activation != rg_activationNone && def->hasActivationRange &&
               !(u > def->activationLower && u < def->activationUpper);
    switch (def->activation) {
    case rg_activationNone:
        return 1;
    case rg_activationIntegrator:
        return cut ? 0 : time;
    case rg_activationFilter:
        return cut ? 0 : def->timeConstant > 0 ? -expm1(-time / def->timeConstant) : time > 0;
    default:
        return 0;
    }
}

// A value with its slopes.
typedef struct rgSlope {
    double value, slope;
} rgSlope;

// actuators.7: Active force over length: four parabolas, 1 at L = 1, 0 at lmin and lmax.
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

// actuators.8: Over velocity: 0 at V = -1, 1 at 0, fvmax from fvmax - 1 on.
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

// actuators.9: Passive force over length: a parabola from L = 1 to the middle of 1 and lmax, then a
// line.
static rgSlope rgPassiveForce(const rgMuscle* m, double L) {
    double width = 0.5 * (m->lmax - 1), x = (L - 1) / width;
    if (x <= 0) {
        return (rgSlope){0};
    }
    double y = x < 1 ? x : 1;
    return (rgSlope){m->fpmax * y * (x - 0.5 * y), m->fpmax * y / width};
}

// Force with its negative slopes by position and rate.
typedef struct rgDriveForce {
    double force, stiffness, damping;
} rgDriveForce;

// actuators.6
static rgDriveForce rgMuscleForce(const rgMuscle* m, double l, double rate, double u) {
    double unit = (m->lengthRange[1] - m->lengthRange[0]) / (m->range[1] - m->range[0]);
    double L = m->range[0] + (l - m->lengthRange[0]) / unit, V = rate / (unit * m->vmax);
    rgSlope fl = rgForceLength(m, L), fv = rgForceVelocity(m, V), fp = rgPassiveForce(m, L);
    return (rgDriveForce){-m->force * (fl.value * fv.value * u + fp.value),
                          m->force * (fl.slope * fv.value * u + fp.slope) / unit,
                          m->force * fl.value * fv.slope * u / (unit * m->vmax)};
}

static double rgActuatorRate(const rgTransmission* transmission, const rgModel* model, int actuator,
                             const double* v) {
    double rate = transmission->actuators[actuator].drift;
    for (int k = model->driveStart[actuator]; k < model->driveStart[actuator + 1]; ++k) {
        rate += transmission->actuatorValues[k] * v[model->driveColumns[k]];
    }
    return rate;
}

// Varying gains: the part that opposes the motion is implicit about the present position and rate,
// the other part is a force.
static void rgSetVaryingGains(rgTransmission* transmission, const rgKinematics* kinematics,
                              int actuator, double u) {
    const rgActuatorDef* def = &kinematics->dynamics->model->actuators[actuator];
    rgActuator* servo = &transmission->actuators[actuator];
    double l = servo->position, rate = rgActuatorRate(transmission, kinematics->dynamics->model,
                                                      actuator, kinematics->v);
    rgDriveForce f = {.stiffness = def->kp - def->gainPosition * u,
                      .damping = def->kd - def->gainVelocity * u};
    f.force = def->gain * u + def->bias - f.stiffness * l - f.damping * rate;
    if (def->isMuscle) {
        f = rgMuscleForce(&def->muscle, l, rate, u);
    }
    servo->stiffness = servo->holds ? fmax(f.stiffness, 0) : 0;
    servo->damping = fmax(f.damping, 0);
    servo->command = f.force + servo->stiffness * l + servo->damping * rate;
    servo->mode = servo->stiffness == 0 && servo->damping == 0 ? rg_actuatorForce : rg_actuatorRow;
}

void rgWorld_PlaceActuators(rgWorld* world) {
    const rgModel* model = world->model;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        rgActuator* servo = &world->transmission.actuators[a];
        double u = rgActuatorInput(&world->state, model, &world->settings, a);
        servo->position = rgDynamics_DriveRow(
            world->kinematics.dynamics, a,
            world->transmission.actuatorValues + model->driveStart[a], &servo->drift);
        if (servo->varies) {
            rgSetVaryingGains(&world->transmission, &world->kinematics, a, u);
        } else {
            servo->command = def->gain * u + def->bias;
        }
    }
}

// True if the transmission has a position to hold.
static bool rgHasPosition(const rgModel* model, const rgActuatorDef* def) {
    if (def->joint.index1 > 0) {
        return model->joints[def->joint.index1 - 1].kind != rg_jointFree;
    }
    return def->frame.index1 == 0 || def->reference.index1 > 0 || def->slider.index1 > 0;
}

static rgActuator rgPlanActuator(const rgModel* model, const rgActuatorDef* def) {
    rgActuator servo = {.lower = def->hasForceRange ? def->forceLower : -INFINITY,
                        .upper = def->hasForceRange ? def->forceUpper : INFINITY,
                        .holds = rgHasPosition(model, def),
                        .stiffness = rgHasPosition(model, def) ? def->kp : 0,
                        .damping = def->kd,
                        .varies = def->isMuscle || def->gainPosition != 0 ||
                                  def->gainVelocity != 0 || def->kp < 0 || def->kd < 0};
    bool scalar = false;
    if (def->joint.index1 > 0) {
        const rgJointDef* joint = &model->joints[def->joint.index1 - 1];
        scalar = model->jointRanges[def->joint.index1 - 1].vCount == 1 && def->gear[0] != 0;
        if (scalar && joint->effortLimit > 0) {
            double bound = joint->effortLimit / fabs(def->gear[0]);
            servo.lower = fmax(servo.lower, -bound);
            servo.upper = fmin(servo.upper, bound);
        }
    }
    bool limited = isfinite(servo.lower) || isfinite(servo.upper);
    servo.mode = servo.stiffness == 0 && servo.damping == 0 ? rg_actuatorForce
                 : scalar && !limited && !servo.varies      ? rg_actuatorJoint
                                                            : rg_actuatorRow;
    return servo;
}

bool rgTransmission_Create(rgTransmission* t, rgHeap* heap, const rgModel* model) {
    const rgModelInfo* info = &model->info;
    int nq = model->qCount;
    bool good = true;
    t->actuators = rgHeap_Allocate(heap, info->actuatorCount, sizeof(rgActuator), &good);
    t->tendonNeutral = rgHeap_Allocate(heap, info->tendonCount, sizeof(double), &good);
    t->actuatorForce = rgHeap_Allocate(heap, info->actuatorCount, sizeof(double), &good);
    t->triedQ = rgHeap_Allocate(heap, nq, sizeof(double), &good);
    t->tendonLength = rgHeap_Allocate(heap, info->tendonCount, sizeof(double), &good);
    t->tendonDrift = rgHeap_Allocate(heap, info->tendonCount, sizeof(double), &good);
    t->actuatorValues =
        rgHeap_Allocate(heap, model->driveStart[info->actuatorCount], sizeof(double), &good);
    t->tendonValues =
        rgHeap_Allocate(heap, model->tendonStart[info->tendonCount], sizeof(double), &good);
    return good;
}

void rgTransmission_Plan(rgTransmission* transmission, const rgModel* model) {
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        transmission->actuators[a] = rgPlanActuator(model, &model->actuators[a]);
    }
}
