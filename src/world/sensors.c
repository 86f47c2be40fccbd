// The model's sensors, computed when read: positions and velocities of the current state; forces
// and accelerations of the last step or forward call.
#include "world/world.h"

int rgSensorSize(rgSensorKind kind) {
    switch (kind) {
    case rg_sensorNone:
        return 0;
    case rg_sensorJointPosition:
    case rg_sensorJointVelocity:
    case rg_sensorJointActuatorForce:
    case rg_sensorTendonPosition:
    case rg_sensorTendonVelocity:
    case rg_sensorActuatorPosition:
    case rg_sensorActuatorVelocity:
    case rg_sensorActuatorForce:
    case rg_sensorTouch:
        return 1;
    case rg_sensorBallQuat:
    case rg_sensorFrameQuat:
        return 4;
    default:
        return 3;
    }
}

static void rgStore3(rgVec3 v, double* out) {
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
}

static double rgJointDriveForce(const rgWorld* world, int joint) {
    const rgModel* model = world->model;
    double sum = 0;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        if (model->actuators[a].joint.index1 == joint + 1) {
            sum += model->actuators[a].gear[0] * world->driveForce[a];
        }
    }
    return sum;
}

static double rgTendonSpeed(const rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    double rate = 0;
    for (int k = 0; k < def->jointCount; ++k) {
        rate +=
            def->coefficients[k] * world->state.v[model->jointRanges[def->joints[k].index1 - 1].v];
    }
    return rate;
}

static double rgDriveSpeed(const rgWorld* world, int actuator) {
    const rgModel* model = world->model;
    const rgActuatorDef* def = &model->actuators[actuator];
    if (def->tendon.index1 > 0) {
        return def->gear[0] * rgTendonSpeed(world, def->tendon.index1 - 1);
    }
    const rgJointRange* range = &model->jointRanges[def->joint.index1 - 1];
    double rate = 0;
    for (int k = 0; k < range->vCount; ++k) {
        rate += def->gear[k] * world->state.v[range->v + k];
    }
    return rate;
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
        out[0] = rgJointDriveForce(world, joint);
        break;
    case rg_sensorTendonPosition:
        out[0] = rgTendonLength(model, tendon, world->state.q);
        break;
    case rg_sensorTendonVelocity:
        out[0] = rgTendonSpeed(world, tendon);
        break;
    case rg_sensorActuatorPosition:
        out[0] = rgDrivePosition(model, actuator, world->state.q);
        break;
    case rg_sensorActuatorVelocity:
        out[0] = rgDriveSpeed(world, actuator);
        break;
    default:
        out[0] = world->driveForce[actuator];
        break;
    }
}

static void rgReadBall(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    bool quat = def->kind == rg_sensorBallQuat;
    const double* from = quat ? world->state.q + range->q : world->state.v + range->v;
    for (int k = 0; k < (quat ? 4 : 3); ++k) {
        out[k] = from[k];
    }
}

// Motion of a frame now, in world axes or in its own.
static void rgReadMotion(const rgWorld* world, rgFrameId frame, rgSensorKind kind, double* out) {
    bool local = kind == rg_sensorGyro || kind == rg_sensorVelocimeter;
    bool angular = kind == rg_sensorGyro || kind == rg_sensorFrameAngularVelocity;
    rgSpatial V = rgDynamics_FrameVelocity(rgWorld_Now(world), frame,
                                           local ? rg_referenceLocal : rg_referenceAligned);
    rgStore3(angular ? V.angular : V.linear, out);
}

static void rgReadAcceleration(const rgWorld* world, rgFrameId frame, rgSensorKind kind,
                               double* out) {
    rgDynamics* d = rgWorld_Start(world);
    rgSpatial A = rgDynamics_FrameAcceleration(d, frame, rg_referenceAligned);
    rgVec3 result = kind == rg_sensorFrameAngularAcceleration ? A.angular : A.linear;
    if (kind == rg_sensorAccelerometer) {
        result = rgRotateBack(rgDynamics_FramePose(d, frame).q, rgSub(A.linear, world->gravity));
    }
    rgStore3(result, out);
}

static void rgReadReaction(const rgWorld* world, rgFrameId frame, rgSensorKind kind, double* out) {
    int body = world->model->framePlaces[frame.index1 - 1].body;
    rgPose pose = rgDynamics_FramePose(rgWorld_Start(world), frame);
    rgSpatial wrench = body >= 0 ? rgWorld_Reactions(world)[body] : (rgSpatial){0};
    rgVec3 torque = rgSub(wrench.angular, rgCross(pose.p, wrench.linear));
    rgStore3(rgRotateBack(pose.q, kind == rg_sensorForce ? wrench.linear : torque), out);
}

static double rgReadTouch(const rgWorld* world, rgFrameId frame, double radius) {
    int count, body = world->model->framePlaces[frame.index1 - 1].body;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 center = rgDynamics_FramePose(rgWorld_Start(world), frame).p;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        bool own = contacts[i].bodyA.index1 == body + 1 || contacts[i].bodyB.index1 == body + 1;
        bool near = radius == 0 || rgLength(rgSub(contacts[i].point, center)) <= radius;
        sum += own && near ? contacts[i].impulse[2] / world->dt : 0;
    }
    return sum;
}

static bool rgIsBelow(const rgModel* model, int body, int top) {
    while (body >= 0 && body != top) {
        body = model->bodies[body].parent.index1 - 1;
    }
    return body == top;
}

typedef struct rgSubtree {
    double mass;
    rgVec3 first;    // mass times centre
    rgVec3 momentum; // linear
    rgVec3 spin;     // angular, about the world's origin
} rgSubtree;

static rgSubtree rgSumSubtree(const rgWorld* world, int top) {
    const rgModel* model = world->model;
    rgDynamics* d = rgWorld_Now(world);
    rgSubtree sum = {0};
    for (int b = top; b < model->info.bodyCount; ++b) {
        const rgInertia* inertia = &model->bodies[b].inertia;
        if (!rgIsBelow(model, b, top) || inertia->mass == 0) {
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

static void rgReadSubtree(const rgWorld* world, int body, rgSensorKind kind, double* out) {
    rgSubtree sum = rgSumSubtree(world, body);
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

static void rgReadSensor(const rgWorld* world, const rgSensorDef* def, double* out) {
    const rgModel* model = world->model;
    rgFrameId frame = rgSensorFrame(model, def);
    rgPose pose;
    switch (def->kind) {
    case rg_sensorNone:
        break;
    case rg_sensorBallQuat:
    case rg_sensorBallAngularVelocity:
        rgReadBall(world, def, out);
        break;
    case rg_sensorFramePosition:
        rgStore3(rgDynamics_FramePose(rgWorld_Now(world), frame).p, out);
        break;
    case rg_sensorFrameQuat:
        pose = rgDynamics_FramePose(rgWorld_Now(world), frame);
        out[0] = pose.q.w, out[1] = pose.q.x, out[2] = pose.q.y, out[3] = pose.q.z;
        break;
    case rg_sensorFrameLinearVelocity:
    case rg_sensorFrameAngularVelocity:
    case rg_sensorGyro:
    case rg_sensorVelocimeter:
        rgReadMotion(world, frame, def->kind, out);
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
        rgReadSubtree(world, model->framePlaces[frame.index1 - 1].body, def->kind, out);
        break;
    default:
        rgReadScalar(world, def, out);
        break;
    }
}

const double* rgWorld_Sensors(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    rgReadout* readout = world->readout;
    int sensorCount = world->model->info.sensorCount;
    for (int s = 0; s < sensorCount && !readout->sensorsValid; ++s) {
        rgReadSensor(world, &world->model->sensors[s], readout->sensors + readout->sensorStarts[s]);
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
