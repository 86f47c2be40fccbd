// Additions of arguments to a definition before it is compiled: servos, pairs of one robot,
// sensors, a floor.
#include "simulation.h"

#include <stdlib.h>

const char* const rgSelfCollisionNames[] = {"auto", "all", "none", NULL};
const char* const rgStartNames[] = {"file", "neutral", "key", "projected", NULL};

static bool rgAddHold(rgModelDef* def, const char* text) {
    double gains[2] = {0};
    if (!rgCli_ReadNumbers("--hold", text, gains, 2)) {
        return false;
    }
    if (!(gains[0] >= 0 && gains[1] >= 0)) {
        rgCli_Error("--hold: gains must not be negative");
        return false;
    }
    int before = rgModelDef_Info(def).actuatorCount;
    if (rgModelDef_AddServos(def, gains[0], gains[1]) != rg_ok) {
        rgCli_Error("--hold: the servos could not be added");
        return false;
    }
    if (rgModelDef_Info(def).actuatorCount == before) {
        rgCli_Error("--hold: the model has no joint without an actuator");
        return false;
    }
    return true;
}

// ---- pairs of one robot ----

// Connectivity of bodies, by id; the world is 0.
typedef struct rgAssembly {
    int bodyCount;
    int* link; // the body with joints that carries this one
    int* root; // the topmost body
} rgAssembly;

static rgAssembly rgMakeAssembly(const rgModelDef* def) {
    rgModelInfo info = rgModelDef_Info(def);
    rgAssembly a = {.bodyCount = info.bodyCount};
    size_t size = (size_t)info.bodyCount + 1;
    bool* moves = rgCli_Allocate(size, sizeof(bool));
    a.link = rgCli_Allocate(size, sizeof(int));
    a.root = rgCli_Allocate(size, sizeof(int));
    for (int i = 1; i <= info.jointCount; ++i) {
        const rgJointDef* joint = rgModelDef_Joint(def, (rgJointId){i});
        moves[joint->body.index1] = moves[joint->body.index1] || joint->kind != rg_jointFixed;
    }
    for (int i = 1; i <= info.bodyCount; ++i) { // parents come first
        int parent = rgModelDef_Body(def, (rgBodyId){i})->parent.index1;
        a.link[i] = moves[i] ? i : a.link[parent];
        a.root[i] = parent == 0 ? i : a.root[parent];
    }
    free(moves);
    return a;
}

static void rgFreeAssembly(rgAssembly* a) {
    free(a->link);
    free(a->root);
}

// True if two shapes belong to one robot and not to neighbours in it.
static bool rgAreApart(const rgModelDef* def, const rgAssembly* a, int x, int y) {
    if (x == 0 || y == 0 || a->root[x] != a->root[y] || a->link[x] == a->link[y]) {
        return false;
    }
    int above[2] = {0, 0}, links[2] = {a->link[x], a->link[y]};
    for (int i = 0; i < 2; ++i) {
        if (links[i] > 0) {
            above[i] = a->link[rgModelDef_Body(def, (rgBodyId){links[i]})->parent.index1];
        }
    }
    return above[0] != links[1] && above[1] != links[0];
}

static rgResult rgSetSelfCollision(rgModelDef* def, rgSelfCollision wish) {
    rgAssembly a = rgMakeAssembly(def);
    rgResult result = rg_ok;
    int shapes = rgModelDef_Info(def).shapeCount;
    for (int i = 1; result == rg_ok && wish == rg_selfNone && i <= a.bodyCount; ++i) {
        for (int j = i + 1; result == rg_ok && j <= a.bodyCount; ++j) {
            if (a.root[i] == a.root[j] && a.link[i] != a.link[j]) {
                result = rgModelDef_ExcludePair(def, (rgBodyId){i}, (rgBodyId){j});
            }
        }
    }
    for (int i = 1; result == rg_ok && wish == rg_selfAll && i <= shapes; ++i) {
        rgShapeDef x = *rgModelDef_Shape(def, (rgShapeId){i});
        for (int j = i + 1; result == rg_ok && !x.visualOnly && j <= shapes; ++j) {
            const rgShapeDef* y = rgModelDef_Shape(def, (rgShapeId){j});
            if (!y->visualOnly && rgAreApart(def, &a, x.body.index1, y->body.index1)) {
                result = rgModelDef_AddPair(def, (rgShapeId){i}, (rgShapeId){j}, NULL);
            }
        }
    }
    rgFreeAssembly(&a);
    return result;
}

// ---- sensors ----

static rgResult rgWatchTorques(rgModelDef* def) {
    rgResult result = rg_ok;
    for (int i = 1; result == rg_ok && i <= rgModelDef_Info(def).jointCount; ++i) {
        rgJointKind kind = rgModelDef_Joint(def, (rgJointId){i})->kind;
        rgSensorDef sensor = rgDefaultSensorDef();
        sensor.kind = rg_sensorJointActuatorForce;
        sensor.joint.index1 = i;
        if (kind == rg_jointRevolute || kind == rg_jointPrismatic) {
            result = rgModelDef_AddSensor(def, &sensor, NULL);
        }
    }
    return result;
}

// ---- the floor ----

static rgResult rgAddGround(rgModelDef* def) {
    rgShapeDef plane = rgDefaultShapeDef();
    plane.name = "rigor_ground";
    plane.kind = rg_shapePlane;
    return rgModelDef_AddShape(def, &plane, NULL);
}

bool rgPrepareDef(rgModelDef* def, const rgSimulationArguments* arguments) {
    if (arguments->hold != NULL && !rgAddHold(def, arguments->hold)) {
        return false;
    }
    rgResult result = rg_ok;
    if (arguments->selfCollision != rg_selfAuto) {
        result = rgSetSelfCollision(def, (rgSelfCollision)arguments->selfCollision);
    }
    if (result == rg_ok && arguments->watchTorques) {
        result = rgWatchTorques(def);
    }
    if (result == rg_ok && arguments->ground) {
        result = rgAddGround(def);
    }
    if (result != rg_ok) {
        rgCli_Error("the model could not be changed: %s", rgResult_Name(result));
    }
    return result == rg_ok;
}
