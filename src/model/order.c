// The order of coordinates before a definition is compiled, and which of them a key speaks of.
#include "model/def.h"

int rgJointSize(rgJointKind kind, bool isVelocity) {
    switch (kind) {
    case rg_jointFixed:
        return 0;
    case rg_jointSpherical:
        return isVelocity ? 3 : 4;
    case rg_jointFree:
        return isVelocity ? 6 : 7;
    case rg_jointPlanar:
        return 3;
    default:
        return 1;
    }
}

// Bodies depth first, children as they were added, then the joints of each.
rgResult rgModelDef_JointOrder(const rgModelDef* def, int* order) {
    int bodyCount = def->bodyCount, top = 0, done = 0;
    size_t total = 4 * ((size_t)bodyCount + 1) + (size_t)def->jointCount;
    int* memory = rgAllocate(&def->allocator, total, sizeof(int));
    if (memory == NULL) {
        return rg_errorMemory;
    }
    int* lastChild = memory; // per body, the world first; 0: none
    int* nextChild = lastChild + bodyCount + 1;
    int* firstJoint = nextChild + bodyCount + 1;
    int* stack = firstJoint + bodyCount + 1;
    int* nextJoint = stack + bodyCount + 1; // per joint, from 1
    for (int i = 1; i <= bodyCount; ++i) {
        int parent = def->bodies[i - 1].parent.index1;
        nextChild[i] = lastChild[parent];
        lastChild[parent] = i;
    }
    for (int j = def->jointCount; j >= 1; --j) {
        int body = def->joints[j - 1].body.index1;
        nextJoint[j - 1] = firstJoint[body];
        firstJoint[body] = j;
    }
    stack[top++] = 0;
    while (top > 0) {
        int body = stack[--top];
        for (int j = firstJoint[body]; j > 0; j = nextJoint[j - 1]) {
            order[done++] = j - 1;
        }
        for (int i = lastChild[body]; i > 0; i = nextChild[i]) {
            stack[top++] = i;
        }
    }
    RG_ASSERT(done == def->jointCount);
    rgRelease(&def->allocator, memory);
    return rg_ok;
}

int rgCoordinateCount(const rgModelDef* def, int first, int count, bool isVelocity) {
    int size = 0;
    for (int i = first; i < first + count; ++i) {
        size += rgJointSize(def->joints[i].kind, isVelocity);
    }
    return size;
}

static bool rgFits(const double* values, int count, int wanted) {
    return values == NULL || count == wanted;
}

rgKeyCover rgModelDef_KeyCover(const rgModelDef* def, int index) {
    const rgKeyDef* key = &def->keys[index];
    rgKeyCover cover = def->covers[index];
    if (rgFits(key->q, key->qCount, rgCoordinateCount(def, 0, def->jointCount, false)) &&
        rgFits(key->v, key->vCount, rgCoordinateCount(def, 0, def->jointCount, true))) {
        cover.firstJoint = 0;
        cover.jointCount = def->jointCount;
    }
    if (rgFits(key->control, key->controlCount, def->actuatorCount) &&
        rgFits(key->activation, key->activationCount, def->actuatorCount)) {
        cover.firstActuator = 0;
        cover.actuatorCount = def->actuatorCount;
    }
    return cover;
}

void rgModelDef_FixKeyCovers(rgModelDef* def) {
    for (int i = 0; i < def->keyCount; ++i) {
        def->covers[i] = rgModelDef_KeyCover(def, i);
    }
}
