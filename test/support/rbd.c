#include "rbd.h"

#include "rigor/rigor.h"

#include <stdio.h>
#include <string.h>

static rgVec3 rgReadVec(const rgJson* object, const char* key) {
    double x[3] = {0};
    rgJson_Flatten(rgJson_Find(object, key), x, 3);
    return rgVec(x[0], x[1], x[2]);
}

static rgPose rgReadPose(const rgJson* object) {
    rgMat3 m = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    rgJson_Flatten(rgJson_Find(object, "R"), m.m, 9);
    return (rgPose){rgReadVec(object, "p"), rgQuatFromMat3(&m)};
}

static rgInertia rgReadInertia(const rgJson* joint) {
    double i[9] = {0};
    rgJson_Flatten(rgJson_Find(joint, "inertia_at_com"), i, 9);
    return (rgInertia){.mass = rgJson_Number(joint, "mass"),
                       .center = rgReadVec(joint, "com"),
                       .moment = {i[0], i[4], i[8], i[1], i[2], i[5]}};
}

// Kind and axis from the motion subspace: six rows of nv numbers.
static void rgReadSubspace(const rgJson* joint, const char* key, rgJointDef* def) {
    int nv = (int)rgJson_Number(joint, "nv");
    double s[36] = {0};
    rgJson_Flatten(rgJson_Find(joint, key), s, 36);
    rgVec3 linear = rgVec(s[0], s[1], s[2]), angular = rgVec(s[3], s[4], s[5]);
    if (nv == 6) {
        def->kind = rg_jointFree;
    } else if (nv == 3) {
        def->kind = rg_jointSpherical;
    } else {
        def->kind = rgLength(angular) > 0.5 ? rg_jointRevolute : rg_jointPrismatic;
        def->axis = def->kind == rg_jointRevolute ? angular : linear;
    }
}

typedef struct rgRbdBuilder {
    const rgJson* root;
    rgModelDef* def;
    rgResult result;
} rgRbdBuilder;

static void rgRbd_Joint(rgRbdBuilder* b, rgJointDef* def, const rgJson* source) {
    double armature[64] = {0};
    rgJson_Flatten(rgJson_Find(b->root, "armature"), armature, 64);
    def->armature = armature[(int)rgJson_Number(source, "idx_v")];
    if (b->result == rg_ok) {
        b->result = rgModelDef_AddJoint(b->def, def, NULL);
    }
}

// Frames of the sub-joints in the joint's frame at neutral; the body is at the last one.
static int rgRbd_SubPoses(const rgJson* parts, rgPose* poses) {
    rgPose pose = rgPoseIdentity();
    for (int k = 0; k < parts->count; ++k) {
        pose = rgPoseMultiply(pose, rgReadPose(&parts->items[k]));
        poses[k] = pose;
    }
    return parts->count;
}

static void rgRbd_Composite(rgRbdBuilder* b, const rgJson* parts, rgBodyId body) {
    rgPose poses[8];
    int count = rgRbd_SubPoses(parts, poses);
    for (int k = 0; k < count; ++k) {
        char name[32];
        rgPose seen = rgPoseMultiply(rgPoseInvert(poses[count - 1]), poses[k]);
        rgJointDef def = rgDefaultJointDef();
        snprintf(name, sizeof(name), "b%d_%d", body.index1, k);
        def.name = name;
        def.body = body;
        rgReadSubspace(&parts->items[k], "S", &def);
        def.axis = rgRotate(seen.q, def.axis);
        def.anchor = seen.p;
        rgRbd_Joint(b, &def, &parts->items[k]);
    }
}

static void rgRbd_Body(rgRbdBuilder* b, const rgJson* joint) {
    const char* name = rgJson_Text(joint, "name");
    const rgJson* parts = rgJson_Find(rgJson_Find(b->root, "composite_subjoints"), name);
    rgBodyDef body = rgDefaultBodyDef();
    rgBodyId id = {0};
    body.name = name;
    body.parent.index1 = (int)rgJson_Number(joint, "parent");
    body.pose = rgReadPose(rgJson_Find(joint, "placement"));
    body.inertia = rgReadInertia(joint);
    if (parts != NULL) {
        rgPose poses[8];
        int count = rgRbd_SubPoses(parts, poses);
        body.pose = rgPoseMultiply(body.pose, poses[count - 1]);
    }
    if (b->result == rg_ok) {
        b->result = rgModelDef_AddBody(b->def, &body, &id);
    }
    if (parts != NULL) {
        rgRbd_Composite(b, parts, id);
        return;
    }
    rgJointDef def = rgDefaultJointDef();
    def.name = name;
    def.body = id;
    rgReadSubspace(joint, "S_at_neutral", &def);
    rgRbd_Joint(b, &def, joint);
}

static void rgRbd_Frames(rgRbdBuilder* b) {
    const rgJson* frames = rgJson_Find(b->root, "body_frames");
    for (int i = 0; i < frames->count && b->result == rg_ok; ++i) {
        char name[128];
        rgFrameDef frame = rgDefaultFrameDef();
        snprintf(name, sizeof(name), "frame:%s", rgJson_Text(&frames->items[i], "name"));
        frame.name = name;
        frame.body.index1 = (int)rgJson_Number(&frames->items[i], "parent_joint");
        frame.pose = rgReadPose(rgJson_Find(&frames->items[i], "placement"));
        b->result = rgModelDef_AddFrame(b->def, &frame, NULL);
    }
}

rgModel* rgModelFromRbd(const rgJson* root) {
    rgRbdBuilder b = {.root = root};
    const rgJson* joints = rgJson_Find(root, "joints");
    rgModel* model = NULL;
    b.result = rgCreateModelDef(NULL, &b.def);
    for (int i = 0; i < joints->count; ++i) {
        rgRbd_Body(&b, &joints->items[i]);
    }
    rgRbd_Frames(&b);
    if (b.result == rg_ok) {
        rgDiagnostics* said = NULL;
        rgCreateDiagnostics(NULL, &said);
        b.result = rgCompileModel(b.def, NULL, said, &model);
        for (int i = 0; b.result != rg_ok && i < rgDiagnostics_Count(said); ++i) {
            fprintf(stderr, "%s\n", rgDiagnostics_Message(said, i).text);
        }
        rgDestroyDiagnostics(said);
    }
    rgDestroyModelDef(b.def);
    return b.result == rg_ok ? model : NULL;
}

void rgConvertRbdPositions(const rgModel* model, const double* theirs, double* q) {
    rgModelInfo info = rgModel_Info(model);
    memcpy(q, theirs, (size_t)info.qCount * sizeof(double));
    for (int j = 1; j <= info.jointCount; ++j) {
        rgJointRange range = rgModel_JointRange(model, (rgJointId){j});
        int at = range.qCount == 7 ? range.q + 3 : range.qCount == 4 ? range.q : -1;
        if (at >= 0) {
            q[at] = theirs[at + 3];
            memcpy(q + at + 1, theirs + at, 3 * sizeof(double));
        }
    }
}
