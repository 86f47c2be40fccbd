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

// ---- Readers, one function for each kind or family of kinds

typedef void rgReadSensorFcn(const rgWorld* world, const rgSensorDef* def, double* out);

static const rgDynamics* rgNow(const rgWorld* world) {
    return rgReadout_CurrentDynamics(world->readout, &world->state, world->model);
}

static rgFrameId rgSensorFrame(const rgModel* model, const rgSensorDef* def) {
    return def->frame.index1 > 0 ? def->frame : rgModel_BodyFrame(model, def->body);
}

static void rgReadZeros(const rgWorld* world, const rgSensorDef* def, double* out) {
    (void)world;
    memset(out, 0, (size_t)def->zeroCount * sizeof(double));
}

static void rgReadClock(const rgWorld* world, const rgSensorDef* def, double* out) {
    (void)def;
    *out = *world->state.time;
}

static void rgReadEnergy(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = def->kind == rg_sensorKineticEnergy ? rgWorld_KineticEnergy(world)
                                               : rgWorld_PotentialEnergy(world);
}

static void rgReadJoint(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    bool position = def->kind == rg_sensorJointPosition || def->kind == rg_sensorBallQuat;
    memcpy(out, position ? world->state.q + range->q : world->state.v + range->v,
           (size_t)rgSensorDef_Size(def) * sizeof(double));
}

static void rgReadJointForce(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = rgJointActuatorForce(&world->transmission, world->model, def->joint.index1 - 1);
}

static void rgReadTendon(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = def->kind == rg_sensorTendonPosition
               ? rgDynamics_TendonLength(rgNow(world), def->tendon)
               : rgTendonSpeed(world->readout, &world->state, world->model, def->tendon.index1 - 1);
}

static void rgReadTendonForce(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = rgTendonActuatorForce(&world->transmission, world->model, def->tendon.index1 - 1);
}

static void rgReadActuator(const rgWorld* world, const rgSensorDef* def, double* out) {
    int a = def->actuator.index1 - 1;
    *out = def->kind == rg_sensorActuatorPosition
               ? rgDynamics_DriveRow(rgNow(world), a, NULL, NULL)
               : rgActuatorSpeed(world->readout, &world->state, world->model, a);
}

static void rgReadActuatorForce(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = world->transmission.actuatorForce[def->actuator.index1 - 1];
}

static void rgReadJointLimit(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgJointDef* joint = &world->model->joints[def->joint.index1 - 1];
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    rgBeyond beyond =
        rgBeyondLimits(joint->hasLimits, world->state.q[range->q], joint->lower, joint->upper);
    *out = def->kind == rg_sensorJointLimitPosition ? beyond.depth
                                                    : beyond.sign * world->state.v[range->v];
}

static void rgReadJointLimitForce(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = rgLimitForce(&world->constraints, world->settings.dt, rg_constraintLimit,
                        def->joint.index1 - 1);
}

static void rgReadTendonLimit(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgTendonDef* tendon = &world->model->tendons[def->tendon.index1 - 1];
    rgBeyond beyond =
        rgBeyondLimits(tendon->hasLimits, rgDynamics_TendonLength(rgNow(world), def->tendon),
                       tendon->lower, tendon->upper);
    *out = def->kind == rg_sensorTendonLimitPosition
               ? beyond.depth
               : beyond.sign * rgTendonSpeed(world->readout, &world->state, world->model,
                                             def->tendon.index1 - 1);
}

static void rgReadTendonLimitForce(const rgWorld* world, const rgSensorDef* def, double* out) {
    *out = rgLimitForce(&world->constraints, world->settings.dt, rg_constraintTendon,
                        def->tendon.index1 - 1);
}

// Motion of a frame now, in its own axes.
static void rgReadMotion(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgSpatial V =
        rgDynamics_FrameVelocity(rgNow(world), rgSensorFrame(world->model, def), rg_referenceLocal);
    rgStore3(def->kind == rg_sensorGyro ? V.angular : V.linear, out);
}

static void rgReadAcceleration(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgDynamics* d = rgWorld_StartDynamics(world);
    rgFrameId frame = rgSensorFrame(world->model, def);
    rgSpatial A = rgDynamics_FrameAcceleration(d, frame, rg_referenceAligned);
    rgVec3 result = def->kind == rg_sensorFrameAngularAcceleration ? A.angular : A.linear;
    if (def->kind == rg_sensorAccelerometer) {
        result = rgRotateBack(rgDynamics_FramePose(d, frame).q,
                              rgSub(A.linear, world->settings.gravity));
    }
    rgStore3(result, out);
}

static void rgReadReaction(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgFrameId frame = rgSensorFrame(world->model, def);
    int body = world->model->framePlaces[frame.index1 - 1].body;
    rgPose pose = rgDynamics_FramePose(rgWorld_StartDynamics(world), frame);
    rgSpatial wrench = body >= 0 ? rgWorld_Reactions(world)[body] : (rgSpatial){0};
    rgVec3 torque = rgSub(wrench.angular, rgCross(pose.p, wrench.linear));
    rgStore3(rgRotateBack(pose.q, def->kind == rg_sensorForce ? wrench.linear : torque), out);
}

static void rgReadTouch(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgFrameId frame = rgSensorFrame(world->model, def);
    int count, body = world->model->framePlaces[frame.index1 - 1].body;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 center = rgDynamics_FramePose(rgWorld_StartDynamics(world), frame).p;
    *out = 0;
    for (int i = 0; i < count; ++i) {
        bool own = contacts[i].bodyA.index1 == body + 1 || contacts[i].bodyB.index1 == body + 1;
        bool near =
            def->touchRadius == 0 || rgLength(rgSub(contacts[i].point, center)) <= def->touchRadius;
        *out += own && near ? contacts[i].impulse[2] / world->settings.dt : 0;
    }
}

static void rgReadField(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgPose pose = rgDynamics_FramePose(rgNow(world), rgSensorFrame(world->model, def));
    rgStore3(rgRotateBack(pose.q, world->model->info.options.magnetic), out);
}

typedef struct rgSubtree {
    double mass;
    rgVec3 first;    // mass times centre
    rgVec3 momentum; // linear
    rgVec3 spin;     // angular, about the world's origin
} rgSubtree;

static rgSubtree rgSumSubtree(const rgWorld* world, int top) {
    const rgModel* model = world->model;
    const rgDynamics* d = rgNow(world);
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

static void rgReadSubtree(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgFrameId frame = rgSensorFrame(world->model, def);
    rgSubtree sum = rgSumSubtree(world, world->model->framePlaces[frame.index1 - 1].body);
    double inverse = sum.mass > 0 ? 1 / sum.mass : 0;
    rgVec3 center = rgScale(inverse, sum.first);
    if (def->kind == rg_sensorSubtreeCenter) {
        rgStore3(center, out);
    } else if (def->kind == rg_sensorSubtreeLinearVelocity) {
        rgStore3(rgScale(inverse, sum.momentum), out);
    } else {
        rgStore3(rgSub(sum.spin, rgCross(center, sum.momentum)), out);
    }
}

// Pose and velocity of a frame, relative to another or to the world.
static void rgReadRelative(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgModel* model = world->model;
    const rgDynamics* now = rgNow(world);
    rgFrameId frame = rgSensorFrame(model, def);
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

static void rgReadRange(const rgWorld* world, const rgSensorDef* def, double* out) {
    rgFrameId frame = rgSensorFrame(world->model, def);
    rgPose pose = rgDynamics_FramePose(rgNow(world), frame);
    rgRay ray = {.origin = pose.p,
                 .direction = rgRotate(pose.q, rgVec(0, 0, 1)),
                 .maxFraction = RG_RANGE_MOST};
    int body = world->model->framePlaces[frame.index1 - 1].body;
    rgQueryFilter filter = {.ignore = {body + 1}, .ignoreWorld = body < 0};
    rgWorldHit hit;
    *out = rgWorld_RayCast(world, &ray, &filter, &hit) ? hit.distance : -1;
}

static rgReadSensorFcn* const readers[rg_sensorKindCount] = {
    [rg_sensorNone] = rgReadZeros,
    [rg_sensorJointPosition] = rgReadJoint,
    [rg_sensorJointVelocity] = rgReadJoint,
    [rg_sensorJointActuatorForce] = rgReadJointForce,
    [rg_sensorTendonPosition] = rgReadTendon,
    [rg_sensorTendonVelocity] = rgReadTendon,
    [rg_sensorActuatorPosition] = rgReadActuator,
    [rg_sensorActuatorVelocity] = rgReadActuator,
    [rg_sensorActuatorForce] = rgReadActuatorForce,
    [rg_sensorBallQuat] = rgReadJoint,
    [rg_sensorBallAngularVelocity] = rgReadJoint,
    [rg_sensorFramePosition] = rgReadRelative,
    [rg_sensorFrameQuat] = rgReadRelative,
    [rg_sensorFrameLinearVelocity] = rgReadRelative,
    [rg_sensorFrameAngularVelocity] = rgReadRelative,
    [rg_sensorFrameLinearAcceleration] = rgReadAcceleration,
    [rg_sensorFrameAngularAcceleration] = rgReadAcceleration,
    [rg_sensorAccelerometer] = rgReadAcceleration,
    [rg_sensorGyro] = rgReadMotion,
    [rg_sensorVelocimeter] = rgReadMotion,
    [rg_sensorForce] = rgReadReaction,
    [rg_sensorTorque] = rgReadReaction,
    [rg_sensorTouch] = rgReadTouch,
    [rg_sensorSubtreeCenter] = rgReadSubtree,
    [rg_sensorSubtreeLinearVelocity] = rgReadSubtree,
    [rg_sensorSubtreeAngularMomentum] = rgReadSubtree,
    [rg_sensorTendonActuatorForce] = rgReadTendonForce,
    [rg_sensorJointLimitPosition] = rgReadJointLimit,
    [rg_sensorJointLimitVelocity] = rgReadJointLimit,
    [rg_sensorJointLimitForce] = rgReadJointLimitForce,
    [rg_sensorTendonLimitPosition] = rgReadTendonLimit,
    [rg_sensorTendonLimitVelocity] = rgReadTendonLimit,
    [rg_sensorTendonLimitForce] = rgReadTendonLimitForce,
    [rg_sensorFrameXAxis] = rgReadRelative,
    [rg_sensorFrameYAxis] = rgReadRelative,
    [rg_sensorFrameZAxis] = rgReadRelative,
    [rg_sensorMagnetometer] = rgReadField,
    [rg_sensorRangefinder] = rgReadRange,
    [rg_sensorClock] = rgReadClock,
    [rg_sensorPotentialEnergy] = rgReadEnergy,
    [rg_sensorKineticEnergy] = rgReadEnergy,
    [rg_sensorContact] = rgReadContactSensor,
};

static void rgCutSensor(const rgSensorDef* def, double* out) {
    rgSensorRange range = rgSensorKind_Traits(def->kind)->range;
    double least = range == rg_rangeAboveZero ? -INFINITY : -def->cutoff;
    bool cuts = def->cutoff > 0 && range != rg_rangeUnit;
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
        readers[def->kind](world, def, out);
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
