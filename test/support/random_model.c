#include "random_model.h"

#include <stdio.h>

rgVec3 rgRandomVec(rgRandom* random, double size) {
    double x = rgRandom_Uniform(random, -size, size);
    double y = rgRandom_Uniform(random, -size, size);
    return rgVec(x, y, rgRandom_Uniform(random, -size, size));
}

rgPose rgRandomPose(rgRandom* random) {
    rgVec3 p = rgRandomVec(random, 0.5);
    return (rgPose){p, rgQuatFromRotationVector(rgRandomVec(random, 2))};
}

rgInertia rgRandomInertia(rgRandom* random) {
    rgVec3 size = rgVec(rgRandom_Uniform(random, 0.05, 0.3), rgRandom_Uniform(random, 0.05, 0.3),
                        rgRandom_Uniform(random, 0.05, 0.3));
    rgInertia box = rgInertiaFromShape(rg_shapeBox, size, rgRandom_Uniform(random, 0.5, 3));
    return rgInertiaMove(rgRandomPose(random), &box);
}

static rgVec3 rgRandomAxis(rgRandom* random) {
    static const rgVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}};
    int k = rgRandom_Index(random, 8);
    return k < 5 ? axes[k] : rgRandomVec(random, 1);
}

static void rgAddRandomJoint(rgRandom* random, rgModelDef* def, rgBodyId body, rgJointKind kind,
                             double armature) {
    rgJointDef joint = rgDefaultJointDef();
    joint.body = body;
    joint.kind = kind;
    joint.axis = rgRandomAxis(random);
    joint.anchor = rgRandom_Index(random, 2) ? rgRandomVec(random, 0.3) : rgVec(0, 0, 0);
    joint.reference = rgRandom_Index(random, 3) == 0 ? rgRandom_Uniform(random, -1, 1) : 0;
    joint.armature = armature;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
}

static void rgAddRandomJoints(rgRandom* random, rgModelDef* def, rgBodyId body, bool isRoot) {
    static const rgJointKind kinds[] = {rg_jointRevolute,  rg_jointRevolute, rg_jointPrismatic,
                                        rg_jointSpherical, rg_jointPlanar,   rg_jointFixed};
    if (isRoot && rgRandom_Index(random, 2)) {
        rgAddRandomJoint(random, def, body, rg_jointFree, 0);
        return;
    }
    int count = rgRandom_Index(random, 5) == 0 ? 3 : 1;
    // Several joints without mass between them may be redundant: armature keeps M regular.
    double armature = count > 1 || rgRandom_Index(random, 2) ? 0.1 : 0;
    for (int k = 0; k < count; ++k) {
        rgAddRandomJoint(random, def, body, kinds[rgRandom_Index(random, 6)], armature);
    }
}

static void rgAddRandomBody(rgRandom* random, rgModelDef* def, int index, rgPose base) {
    char name[16];
    rgBodyDef body = rgDefaultBodyDef();
    rgFrameDef frame = rgDefaultFrameDef();
    rgBodyId id;
    bool isRoot = index == 0 || rgRandom_Index(random, 6) == 0;
    body.parent.index1 = isRoot ? 0 : 1 + rgRandom_Index(random, index);
    body.pose = rgRandomPose(random);
    if (isRoot) {
        body.pose = rgPoseMultiply(base, body.pose);
    }
    body.inertia = rgRandomInertia(random);
    assert_int_equal(rgModelDef_AddBody(def, &body, &id), rg_ok);
    rgAddRandomJoints(random, def, id, isRoot);
    snprintf(name, sizeof(name), "f%d", index);
    frame.name = name;
    frame.body = id;
    frame.pose = rgRandomPose(random);
    assert_int_equal(rgModelDef_AddFrame(def, &frame, NULL), rg_ok);
}

rgModel* rgRandomModel(rgRandom* random, int bodyCount) {
    return rgRandomModelAt(random, bodyCount, rgPoseIdentity());
}

rgModel* rgRandomModelAt(rgRandom* random, int bodyCount, rgPose base) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    for (int i = 0; i < bodyCount; ++i) {
        rgAddRandomBody(random, def, i, base);
    }
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModelDef(def);
    return model;
}

void rgRandomVelocity(rgRandom* random, int count, double* v) {
    for (int i = 0; i < count; ++i) {
        v[i] = rgRandom_Uniform(random, -2, 2);
    }
}
