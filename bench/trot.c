// Diagonal legs swing in turns. Feet are placed by the speed of the trunk (Raibert), swing legs
// that meet the ground early stand, stance legs that miss it reach down, and leg lengths level the
// trunk.
#include "trot.h"

#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgSlope = 20 * 3.14159265358979323846 / 180;
static const double rgUpper = 0.209, rgLower = 0.195; // [m] of the legs
static const double rgHeight = 0.29;                  // height of the hips above the feet [m]
static const double rgPeriod = 0.4;                   // [s]
static const double rgSpeed = 0.4;                    // wanted, up the slope [m/s]
static const char* const rgLegs[4] = {"fl", "fr", "hl", "hr"};

static rgResult rgAddTerrain(rgModelDef* def) {
    enum { columns = 161, rows = 61 };
    double* heights = rgCli_Allocate((size_t)columns * rows, sizeof(double));
    rgHeightFieldData field = {.columnCount = columns,
                               .rowCount = rows,
                               .sizeX = 4,
                               .sizeY = 1.5,
                               .depth = 0.5,
                               .heights = heights};
    for (int j = 0; j < rows; ++j) {
        for (int i = 0; i < columns; ++i) {
            double x = -4 + 8.0 * i / (columns - 1), y = -1.5 + 3.0 * j / (rows - 1);
            double bumps = 0.015 * sin(9 * x) * cos(7 * y) + 0.008 * sin(23 * x + 2) * sin(19 * y);
            heights[j * columns + i] = tan(rgSlope) * x + bumps;
        }
    }
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = "terrain";
    shape.kind = rg_shapeHeightField;
    shape.heightField = &field;
    shape.material.mu = 0.7;
    shape.material.frictionRule = rg_frictionMinimum; // steep and slippery
    rgResult result = rgModelDef_AddShape(def, &shape, NULL);
    free(heights);
    return result;
}

static rgResult rgAddLegServos(rgModelDef* def) {
    static const char* const parts[3] = {"abad", "hip", "knee"};
    rgResult result = rg_ok;
    for (int k = 0; k < 12 && result == rg_ok; ++k) {
        char joint[32], name[48];
        snprintf(joint, sizeof(joint), "%s_%s", parts[k % 3], rgLegs[k / 3]);
        snprintf(name, sizeof(name), "servo_%s", joint);
        rgActuatorDef servo = rgDefaultActuatorDef();
        servo.name = name;
        servo.joint = rgModelDef_FindJoint(def, joint);
        servo.gain = servo.kp = 60;
        servo.kd = 1.5;
        servo.hasForceRange = true;
        servo.forceLower = -17;
        servo.forceUpper = 17;
        result = rgModelDef_AddActuator(def, &servo, NULL);
    }
    return result;
}

rgResult rgBuildTrot(rgModelDef** def) {
    rgResult result = rgLoadModelDef("quadruped", NULL, NULL, def);
    if (result == rg_ok) {
        result = rgModelDef_RemoveShape(*def, rgModelDef_FindShape(*def, "floor"), NULL);
    }
    result = result == rg_ok ? rgAddTerrain(*def) : result;
    return result == rg_ok ? rgAddLegServos(*def) : result;
}

bool rgTrot_Init(rgTrot* trot, const rgModel* model) {
    static const char* const parts[3] = {"abad", "hip", "knee"};
    *trot = (rgTrot){.controlCount = rgModel_Info(model).actuatorCount};
    trot->trunk = rgModel_FindBody(model, "trunk");
    bool found = trot->trunk.index1 != 0 && trot->controlCount <= 64;
    for (int k = 0; k < 12 && found; ++k) {
        char name[48];
        int leg = k / 3;
        snprintf(name, sizeof(name), "servo_%s_%s", parts[k % 3], rgLegs[leg]);
        rgActuatorId servo = rgModel_FindActuator(model, name);
        rgJointId joint = rgModel_FindJoint(model, name + strlen("servo_"));
        snprintf(name, sizeof(name), "shank_%s", rgLegs[leg]);
        trot->feet[leg] = rgModel_FindBody(model, name);
        found = servo.index1 != 0 && joint.index1 != 0 && trot->feet[leg].index1 != 0;
        trot->actuators[leg][k % 3] = servo.index1 - 1;
        trot->joints[leg][k % 3] = found ? rgModel_JointRange(model, joint).q : 0;
    }
    return found;
}

// Hip and knee that put the foot at (x, z) below the hip.
static void rgReach(double x, double z, double* hip, double* knee) {
    double most = 0.99 * (rgUpper + rgLower), r = fmin(sqrt(x * x + z * z), most);
    double bend = (r * r - rgUpper * rgUpper - rgLower * rgLower) / (2 * rgUpper * rgLower);
    *knee = acos(fmax(-1, fmin(1, bend)));
    *hip = atan2(-x, -z) - atan2(rgLower * sin(*knee), rgUpper + rgLower * cos(*knee));
}

void rgTrot_Control(rgTrot* trot, rgWorld* world) {
    rgPose trunk = rgWorld_BodyPose(world, trot->trunk);
    rgVec3 speed = rgRotateBack(trunk.q, rgWorld_BodyVelocity(world, trot->trunk).linear);
    rgVec3 up = rgRotateBack(trunk.q, rgVec(-sin(rgSlope), 0, cos(rgSlope))); // slope's normal
    double phase = fmod(rgWorld_Time(world) / rgPeriod, 1);
    for (int leg = 0; leg < 4; ++leg) {
        bool first = leg == 0 || leg == 3;
        double own = fmod(phase + (first ? 0 : 0.5), 1); // [0, 0.5): stance
        bool swings = own >= 0.5;
        double t = swings ? 2 * own - 1 : 2 * own;
        double step = 0.25 * rgPeriod * rgSpeed;
        double place = step + 0.06 * (speed.x - rgSpeed);
        double x = swings ? -step + t * (place + step) : place - 2 * step * t;
        x -= rgHeight * tan(rgSlope);                     // below the centre of mass, along gravity
        double spread = 0.5 * (swings ? t : 1) * speed.y; // steps to where it drifts
        double z = -rgHeight;
        bool touches = rgLength(rgWorld_ContactWrench(world, trot->feet[leg]).linear) > 1;
        if (swings && !(touches && t > 0.5)) {
            z += 0.07 * sin(t * 3.14159265358979323846);
        } else if (!touches) {
            z -= 0.03;
        }
        double front = leg < 2 ? 0.19 : -0.19, left = leg % 2 == 0 ? 0.11 : -0.11;
        z += 0.8 * (front * up.x + left * up.y); // towards parallel to the slope
        double* control = trot->control;
        rgReach(x, z, &control[trot->actuators[leg][1]], &control[trot->actuators[leg][2]]);
        control[trot->actuators[leg][0]] = spread;
    }
    rgWorld_SetControl(world, trot->control);
}
