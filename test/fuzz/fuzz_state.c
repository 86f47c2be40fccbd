// Bytes as a saved state: a real one with some bytes changed, or anything. It is refused and the
// world is as it was, or the world goes on and its numbers stay finite or a step says that they do
// not.
#include "fuzz.h"

#include "rigor/inertia.h"
#include "rigor/world.h"
#include "world/world.h"

// One body of each kind of shape, falling on each other over a static mesh.
static rgModel* rgMakeModel(void) {
    static const double corners[] = {0.1, 0,    0, -0.1, 0, 0,   0, 0.1, 0,
                                     0,   -0.1, 0, 0,    0, 0.1, 0, 0,   -0.1};
    static const double ground[] = {-2, -2, 0, 2, -2, 0, 2, 2, 0.1, -2, 2, 0};
    static const int faces[] = {0, 1, 2, 0, 2, 3};
    static const rgMeshData hull = {6, corners, 0, NULL}, mesh = {4, ground, 2, faces};
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    RG_PROMISE(rgCreateModelDef(NULL, &def) == rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeMesh;
    shape.mesh = &mesh;
    RG_PROMISE(rgModelDef_AddShape(def, &shape, NULL) == rg_ok);
    for (int i = 0; i < 6; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        rgJointDef joint = rgDefaultJointDef();
        body.pose.p = rgVec(0.05 * (i % 3), 0.04 * (i % 2), 0.15 + 0.16 * (i / 2));
        body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 500);
        RG_PROMISE(rgModelDef_AddBody(def, &body, &joint.body) == rg_ok);
        joint.kind = rg_jointFree;
        RG_PROMISE(rgModelDef_AddJoint(def, &joint, NULL) == rg_ok);
        shape.body = joint.body;
        shape.kind = (rgShapeKind)(rg_shapeSphere + i % 6);
        shape.size = rgVec(0.1, 0.06, 0.08);
        shape.mesh = shape.kind == rg_shapeHull ? &hull : NULL;
        shape.material.tangentialStiffness = i % 4 == 0 ? 1e5 : 0;
        RG_PROMISE(rgModelDef_AddShape(def, &shape, NULL) == rg_ok);
    }
    RG_PROMISE(rgCompileModel(def, NULL, NULL, &model) == rg_ok);
    rgDestroyModelDef(def);
    return model;
}

static rgWorld* rgMakeWorld(void) {
    rgWorld* world = NULL; // it and its model live as long as the program
    rgWorldDef def = rgDefaultWorldDef();
    def.sleepTime = 0.05;
    def.timeStep = 2e-3;
    def.contact.maxIterations = 40; // spoilt states jam, and more runs find more than exact ones
    RG_PROMISE(rgCreateWorld(rgMakeModel(), &def, NULL, &world) == rg_ok);
    for (int i = 0; i < 150; ++i) {
        RG_PROMISE(rgWorld_Step(world, NULL) == rg_ok);
    }
    return world;
}

// Changes to a real state: pairs of a place and a byte or a number.
static void rgSpoil(rgInput* in, uint8_t* blob, size_t size) {
    while (in->left > 0) {
        size_t place = (size_t)rgInput_Byte(in) << 8 | rgInput_Byte(in);
        if (rgInput_Byte(in) < 64) {
            blob[place % size] = (uint8_t)rgInput_Byte(in);
        } else {
            double number = rgInput_Number(in);
            place = place % (size / sizeof(number)) * sizeof(number);
            memcpy(blob + place, &number, sizeof(number));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    static rgWorld* world;
    static uint8_t *good, *blob;
    static size_t size;
    if (world == NULL) {
        world = rgMakeWorld();
        size = rgWorld_StateSize(world);
        good = malloc(size);
        blob = malloc(size);
        RG_PROMISE(rgWorld_Save(world, good, size) == rg_ok);
    }
    rgInput in = {bytes, count};
    bool raw = rgInput_Byte(&in) < 32;
    memcpy(blob, good, size);
    if (!raw) {
        rgSpoil(&in, blob, size);
        rgSealState(blob, size); // else nothing beyond its checksum would be tried
    }
    RG_PROMISE(rgWorld_Restore(world, good, size) == rg_ok);
    uint64_t before = rgWorld_Hash(world);
    rgResult result =
        raw ? rgWorld_Restore(world, in.at, in.left) : rgWorld_Restore(world, blob, size);
    if (result != rg_ok) {
        RG_PROMISE(result == rg_errorArgument || result == rg_errorFormat);
        RG_PROMISE(rgWorld_Hash(world) == before);
        return 0;
    }
    for (int i = 0; i < 2; ++i) {
        uint64_t hash = rgWorld_Hash(world);
        result = rgWorld_Step(world, NULL);
        RG_PROMISE(result == rg_ok || result == rg_errorNumeric || result == rg_errorArgument);
        RG_PROMISE(result == rg_ok || rgWorld_Hash(world) == hash);
        int nq, nv;
        const double *q = rgWorld_Positions(world, &nq), *v = rgWorld_Velocities(world, &nv);
        RG_PROMISE(rgAllFinite(q, nq) && rgAllFinite(v, nv));
    }
    return 0;
}
