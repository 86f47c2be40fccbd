// The model's sensors, computed when read: positions and velocities of the current state; forces
// and accelerations of the last step or forward call.
#include "query/query.h"

#include <string.h>

static void rgStore3(rgVec3 v, double* out) {
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

// Force of all actuators on a joint, also through tendons and frames.
static double rgJointActuatorForce(const rgTransmission* transmission, const rgModel* model,
                                   int joint) {
    int dof = model->jointRanges[joint].v;
    double sum = 0;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        for (int k = model->driveStart[a]; k < model->driveStart[a + 1]; ++k) {
            bool acts = model->driveColumns[k] == dof;
            sum += acts ? transmission->actuatorValues[k] * transmission->actuatorForce[a] : 0;
        }
    }
    return sum;
}

const double* rgWorld_ActuatorForces(const rgWorld* world, int* count) {
    if (world == NULL || world->model->info.actuatorCount == 0) {
        return rgNothing(count);
    }
    if (count != NULL) {
        *count = world->model->info.actuatorCount;
    }
    return world->transmission.actuatorForce;
}

rgResult rgWorld_ActuatorTorques(const rgWorld* world, double* torques) {
    if (world == NULL || torques == NULL) {
        return rg_errorArgument;
    }
    const rgModel* model = world->model;
    memset(torques, 0, (size_t)model->vCount * sizeof(double));
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        for (int k = model->driveStart[a]; k < model->driveStart[a + 1]; ++k) {
            torques[model->driveColumns[k]] +=
                world->transmission.actuatorValues[k] * world->transmission.actuatorForce[a];
        }
    }
    rgModel_BodyVelocity(model, world->kinematics.q, torques, torques); // forces turn as velocities
    return rg_ok;
}

// Rate of a row over some columns.
static double rgRowRate(const rgDynamics* now, const int* columns, int count, const double* values,
                        double drift) {
    double rate = drift;
    for (int k = 0; k < count; ++k) {
        rate += values[k] * now->v[columns[k]];
    }
    return rate;
}

static double rgTendonSpeed(rgReadout* readout, const rgState* state, const rgModel* model,
                            int tendon) {
    const rgDynamics* now = rgReadout_CurrentDynamics(readout, state, model);
    const int* start = model->tendonStart + tendon;
    double drift, *values = readout->row;
    rgDynamics_TendonRow(now, tendon, values, &drift);
    return rgRowRate(now, model->tendonColumns + start[0], start[1] - start[0], values, drift);
}

static double rgActuatorSpeed(rgReadout* readout, const rgState* state, const rgModel* model,
                              int actuator) {
    const rgDynamics* now = rgReadout_CurrentDynamics(readout, state, model);
    const int* start = model->driveStart + actuator;
    double drift, *values = readout->row;
    rgDynamics_DriveRow(now, actuator, values, &drift);
    return rgRowRate(now, model->driveColumns + start[0], start[1] - start[0], values, drift);
}

static double rgTendonActuatorForce(const rgTransmission* transmission, const rgModel* model,
                                    int tendon) {
    double sum = 0;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        sum += model->actuators[a].tendon.index1 == tendon + 1 ? transmission->actuatorForce[a] : 0;
    }
    return sum;
}

// A coordinate with limits, and which way it went beyond one of them.
typedef struct rgBeyond {
    double depth; // negative, or 0
    double sign;  // of the force that brings it back; 0: within
} rgBeyond;

static rgBeyond rgBeyondLimits(bool limited, double x, double lower, double upper) {
    if (limited && x < lower) {
        return (rgBeyond){x - lower, 1};
    }
    return limited && x > upper ? (rgBeyond){upper - x, -1} : (rgBeyond){0};
}

// The rows of the limits of a joint or tendon in the last step.
static double rgLimitForce(const rgConstraintSet* constraints, double dt, rgConstraintKind kind,
                           int index) {
    const rgRows* rows = &constraints->rows;
    double sum = 0;
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        bool limit = kind == rg_constraintLimit || source->row < 2;
        bool own = source->kind == (int)kind && source->index == index && limit;
        sum += own ? rows->lambda[r] / dt : 0;
    }
    return sum;
}

static double rgReadLimit(const rgWorld* world, const rgSensorDef* def) {
    const rgModel* model = world->model;
    int tendon = def->tendon.index1 - 1, joint = def->joint.index1 - 1;
    bool force = def->kind == rg_sensorJointLimitForce || def->kind == rg_sensorTendonLimitForce;
    bool depth =
        def->kind == rg_sensorJointLimitPosition || def->kind == rg_sensorTendonLimitPosition;
    if (tendon >= 0) {
        const rgTendonDef* t = &model->tendons[tendon];
        double length = rgDynamics_TendonLength(
            rgReadout_CurrentDynamics(world->readout, &world->state, model), def->tendon);
        rgBeyond beyond = rgBeyondLimits(t->hasLimits, length, t->lower, t->upper);
        return force   ? rgLimitForce(&world->constraints, world->settings.dt, rg_constraintTendon,
                                      tendon)
               : depth ? beyond.depth
                       : beyond.sign * rgTendonSpeed(world->readout, &world->state, model, tendon);
    }
    const rgJointDef* j = &model->joints[joint];
    double q = world->state.q[model->jointRanges[joint].q];
    rgBeyond beyond = rgBeyondLimits(j->hasLimits, q, j->lower, j->upper);
    return force ? rgLimitForce(&world->constraints, world->settings.dt, rg_constraintLimit, joint)
           : depth ? beyond.depth
                   : beyond.sign * world->state.v[model->jointRanges[joint].v];
}

static void rgReadScalar(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgModel* model = world->model;
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    int actuator = def->actuator.index1 - 1;
    switch (def->kind) {
    case rg_sensorJointPosition:
        out[0] = world->state.q[model->jointRanges[joint].q];
        break;
    case rg_sensorJointVelocity:
        out[0] = world->state.v[model->jointRanges[joint].v];
        break;
    case rg_sensorJointActuatorForce:
        out[0] = rgJointActuatorForce(&world->transmission, model, joint);
        break;
    case rg_sensorTendonPosition:
        out[0] = rgDynamics_TendonLength(
            rgReadout_CurrentDynamics(world->readout, &world->state, model), def->tendon);
        break;
    case rg_sensorTendonVelocity:
        out[0] = rgTendonSpeed(world->readout, &world->state, model, tendon);
        break;
    case rg_sensorTendonActuatorForce:
        out[0] = rgTendonActuatorForce(&world->transmission, model, tendon);
        break;
    case rg_sensorActuatorPosition:
        out[0] = rgDynamics_DriveRow(
            rgReadout_CurrentDynamics(world->readout, &world->state, model), actuator, NULL, NULL);
        break;
    case rg_sensorActuatorVelocity:
        out[0] = rgActuatorSpeed(world->readout, &world->state, model, actuator);
        break;
    case rg_sensorActuatorForce:
        out[0] = world->transmission.actuatorForce[actuator];
        break;
    case rg_sensorClock:
        out[0] = *world->state.time;
        break;
    case rg_sensorPotentialEnergy:
        out[0] = rgWorld_PotentialEnergy(world);
        break;
    case rg_sensorKineticEnergy:
        out[0] = rgWorld_KineticEnergy(world);
        break;
    default:
        out[0] = rgReadLimit(world, def);
        break;
    }
}

static void rgReadBall(const rgState* state, const rgModel* model, const rgSensorDef* def,
                       double* out) {
    const rgJointRange* range = &model->jointRanges[def->joint.index1 - 1];
    bool quat = def->kind == rg_sensorBallQuat;
    const double* from = quat ? state->q + range->q : state->v + range->v;
    for (int k = 0; k < (quat ? 4 : 3); ++k) {
        out[k] = from[k];
    }
}

// Motion of a frame now, in its own axes.
static void rgReadMotion(rgReadout* readout, const rgState* state, const rgModel* model,
                         rgFrameId frame, rgSensorKind kind, double* out) {
    rgSpatial V = rgDynamics_FrameVelocity(rgReadout_CurrentDynamics(readout, state, model), frame,
                                           rg_referenceLocal);
    rgStore3(kind == rg_sensorGyro ? V.angular : V.linear, out);
}

static void rgReadAcceleration(const rgWorld* world, rgFrameId frame, rgSensorKind kind,
                               double* out) {
    rgDynamics* d = rgWorld_StartDynamics(world);
    rgSpatial A = rgDynamics_FrameAcceleration(d, frame, rg_referenceAligned);
    rgVec3 result = kind == rg_sensorFrameAngularAcceleration ? A.angular : A.linear;
    if (kind == rg_sensorAccelerometer) {
        result = rgRotateBack(rgDynamics_FramePose(d, frame).q,
                              rgSub(A.linear, world->settings.gravity));
    }
    rgStore3(result, out);
}

static void rgReadReaction(const rgWorld* world, rgFrameId frame, rgSensorKind kind, double* out) {
    int body = world->model->framePlaces[frame.index1 - 1].body;
    rgPose pose = rgDynamics_FramePose(rgWorld_StartDynamics(world), frame);
    rgSpatial wrench = body >= 0 ? rgWorld_Reactions(world)[body] : (rgSpatial){0};
    rgVec3 torque = rgSub(wrench.angular, rgCross(pose.p, wrench.linear));
    rgStore3(rgRotateBack(pose.q, kind == rg_sensorForce ? wrench.linear : torque), out);
}

static double rgReadTouch(const rgWorld* world, rgFrameId frame, double radius) {
    int count, body = world->model->framePlaces[frame.index1 - 1].body;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 center = rgDynamics_FramePose(rgWorld_StartDynamics(world), frame).p;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        bool own = contacts[i].bodyA.index1 == body + 1 || contacts[i].bodyB.index1 == body + 1;
        bool near = radius == 0 || rgLength(rgSub(contacts[i].point, center)) <= radius;
        sum += own && near ? contacts[i].impulse[2] / world->settings.dt : 0;
    }
    return sum;
}

typedef struct rgSubtree {
    double mass;
    rgVec3 first;    // mass times centre
    rgVec3 momentum; // linear
    rgVec3 spin;     // angular, about the world's origin
} rgSubtree;

static rgSubtree rgSumSubtree(rgReadout* readout, const rgState* state, const rgModel* model,
                              int top) {
    rgDynamics* d = rgReadout_CurrentDynamics(readout, state, model);
    rgSubtree sum = {0};
    for (int b = top; b < model->info.bodyCount; ++b) {
        const rgInertia* inertia = &model->bodies[b].inertia;
        if (!rgModel_IsBelow(model, b, top) || inertia->mass == 0) {
            continue;
        }
        rgPose pose = rgDynamics_BodyPose(d, (rgBodyId){b + 1});
        rgSpatial V = rgDynamics_FrameVelocity(d, rgModel_BodyFrame(model, (rgBodyId){b + 1}),
                                               rg_referenceAligned);
        rgVec3 center = rgPose_Point(pose, inertia->center);
        rgVec3 velocity = rgAdd(V.linear, rgCross(V.angular, rgSub(center, pose.p)));
        rgVec3 momentum = rgScale(inertia->mass, velocity);
        rgVec3 spin =
            rgRotate(pose.q, rgSym3_Multiply(&inertia->moment, rgRotateBack(pose.q, V.angular)));
        sum.mass += inertia->mass;
        sum.first = rgAddScaled(sum.first, inertia->mass, center);
        sum.momentum = rgAdd(sum.momentum, momentum);
        sum.spin = rgAdd(sum.spin, rgAdd(spin, rgCross(center, momentum)));
    }
    return sum;
}

static void rgReadSubtree(rgReadout* readout, const rgState* state, const rgModel* model, int body,
                          rgSensorKind kind, double* out) {
    rgSubtree sum = rgSumSubtree(readout, state, model, body);
    double inverse = sum.mass > 0 ? 1 / sum.mass : 0;
    rgVec3 center = rgScale(inverse, sum.first);
    if (kind == rg_sensorSubtreeCenter) {
        rgStore3(center, out);
    } else if (kind == rg_sensorSubtreeLinearVelocity) {
        rgStore3(rgScale(inverse, sum.momentum), out);
    } else {
        rgStore3(rgSub(sum.spin, rgCross(center, sum.momentum)), out);
    }
}

static rgFrameId rgSensorFrame(const rgModel* model, const rgSensorDef* def) {
    return def->frame.index1 > 0 ? def->frame : rgModel_BodyFrame(model, def->body);
}

// Pose and velocity of a frame, relative to another or to the world.
static void rgReadRelative(rgReadout* readout, const rgState* state, const rgModel* model,
                           rgFrameId frame, const rgSensorDef* def, double* out) {
    const rgDynamics* now = rgReadout_CurrentDynamics(readout, state, model);
    rgFrameId from =
        def->reference.index1 > 0 ? def->reference : rgModel_BodyFrame(model, def->referenceBody);
    bool seen = from.index1 > 0;
    rgPose pose = rgDynamics_FramePose(now, frame);
    rgPose base = seen ? rgDynamics_FramePose(now, from) : rgPoseIdentity();
    rgSpatial V = rgDynamics_FrameVelocity(now, frame, rg_referenceAligned);
    rgSpatial B = seen ? rgDynamics_FrameVelocity(now, from, rg_referenceAligned) : (rgSpatial){0};
    rgVec3 arm = rgSub(pose.p, base.p), result;
    rgQuat turn = rgQuatMultiply(rgQuatConjugate(base.q), pose.q);
    switch (def->kind) {
    case rg_sensorFrameQuat:
        out[0] = turn.w, out[1] = turn.x, out[2] = turn.y, out[3] = turn.z;
        return;
    case rg_sensorFramePosition:
        result = rgRotateBack(base.q, arm);
        break;
    case rg_sensorFrameXAxis:
    case rg_sensorFrameYAxis:
    case rg_sensorFrameZAxis:
        result =
            rgRotate(turn, rgVec(def->kind == rg_sensorFrameXAxis, def->kind == rg_sensorFrameYAxis,
                                 def->kind == rg_sensorFrameZAxis));
        break;
    case rg_sensorFrameLinearVelocity:
        result = rgSub(rgSub(V.linear, B.linear), rgCross(B.angular, arm));
        result = rgRotateBack(base.q, result);
        break;
    default:
        result = rgRotateBack(base.q, rgSub(V.angular, B.angular));
        break;
    }
    rgStore3(result, out);
}

static double rgReadRange(const rgWorld* world, rgFrameId frame) {
    rgPose pose = rgDynamics_FramePose(
        rgReadout_CurrentDynamics(world->readout, &world->state, world->model), frame);
    rgRay ray = {.origin = pose.p,
                 .direction = rgRotate(pose.q, rgVec(0, 0, 1)),
                 .maxFraction = RG_RANGE_MOST};
    int body = world->model->framePlaces[frame.index1 - 1].body;
    rgQueryFilter filter = {.ignore = {body + 1}, .ignoreWorld = body < 0};
    rgWorldHit hit;
    return rgWorld_RayCast(world, &ray, &filter, &hit) ? hit.distance : -1;
}

static void rgReadSensor(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgModel* model = world->model;
    rgFrameId frame = rgSensorFrame(model, def);
    switch (def->kind) {
    case rg_sensorNone:
        memset(out, 0, (size_t)def->zeroCount * sizeof(double));
        break;
    case rg_sensorContact:
        rgReadContactSensor(world, def, out);
        break;
    case rg_sensorBallQuat:
    case rg_sensorBallAngularVelocity:
        rgReadBall(&world->state, model, def, out);
        break;
    case rg_sensorFramePosition:
    case rg_sensorFrameQuat:
    case rg_sensorFrameXAxis:
    case rg_sensorFrameYAxis:
    case rg_sensorFrameZAxis:
    case rg_sensorFrameLinearVelocity:
    case rg_sensorFrameAngularVelocity:
        rgReadRelative(world->readout, &world->state, model, frame, def, out);
        break;
    case rg_sensorGyro:
    case rg_sensorVelocimeter:
        rgReadMotion(world->readout, &world->state, model, frame, def->kind, out);
        break;
    case rg_sensorFrameLinearAcceleration:
    case rg_sensorFrameAngularAcceleration:
    case rg_sensorAccelerometer:
        rgReadAcceleration(world, frame, def->kind, out);
        break;
    case rg_sensorForce:
    case rg_sensorTorque:
        rgReadReaction(world, frame, def->kind, out);
        break;
    case rg_sensorTouch:
        out[0] = rgReadTouch(world, frame, def->touchRadius);
        break;
    case rg_sensorSubtreeCenter:
    case rg_sensorSubtreeLinearVelocity:
    case rg_sensorSubtreeAngularMomentum:
        rgReadSubtree(world->readout, &world->state, model,
                      model->framePlaces[frame.index1 - 1].body, def->kind, out);
        break;
    case rg_sensorMagnetometer:
        rgStore3(
            rgRotateBack(rgDynamics_FramePose(
                             rgReadout_CurrentDynamics(world->readout, &world->state, model), frame)
                             .q,
                         model->info.options.magnetic),
            out);
        break;
    case rg_sensorRangefinder:
        out[0] = rgReadRange(world, frame);
        break;
    default:
        rgReadScalar(world, def, out);
        break;
    }
}

static bool rgSensorIsPositive(rgSensorKind kind) {
    return kind == rg_sensorTouch || kind == rg_sensorRangefinder ||
           kind == rg_sensorJointLimitForce || kind == rg_sensorTendonLimitForce;
}

static bool rgSensorIsUnit(rgSensorKind kind) {
    return kind == rg_sensorBallQuat || kind == rg_sensorFrameQuat ||
           (kind >= rg_sensorFrameXAxis && kind <= rg_sensorFrameZAxis);
}

static void rgCutSensor(const rgSensorDef* def, double* out) {
    bool cuts = def->cutoff > 0 && !rgSensorIsUnit(def->kind);
    double least = rgSensorIsPositive(def->kind) ? -INFINITY : -def->cutoff;
    for (int k = 0; cuts && k < rgSensorDef_Size(def); ++k) {
        out[k] = fmin(fmax(out[k], least), def->cutoff);
    }
}

const double* rgWorld_Sensors(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    rgReadout* readout = world->readout;
    int sensorCount = world->model->info.sensorCount;
    for (int s = 0; s < sensorCount && !readout->sensorsValid; ++s) {
        const rgSensorDef* def = &world->model->sensors[s];
        double* out = readout->sensors + readout->sensorStarts[s];
        rgReadSensor(world, def, out);
        rgCutSensor(def, out);
    }
    readout->sensorsValid = true;
    if (count != NULL) {
        *count = readout->sensorStarts[sensorCount];
    }
    return readout->sensors;
}

int rgWorld_SensorStart(const rgWorld* world, rgSensorId sensor) {
    if (world == NULL) {
        return -1;
    }
    bool known = rgModel_Sensor(world->model, sensor) != NULL;
    return known ? world->readout->sensorStarts[sensor.index1 - 1] : -1;
}
