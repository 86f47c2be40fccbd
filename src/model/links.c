// From bodies and joints to links: depth-first order, merged bodies, frames in which every joint's
// axis is a coordinate axis through the origin, degrees of freedom and the rows of M.
#include "model/def.h"
#include "model/model.h"
#include "rigor/inertia.h"

#include <string.h>

// Scratch of one build; linked lists over indices, -1 ends.
typedef struct rgLinkBuilder {
    rgCompiler* compiler;
    rgModel* model;
    int* lastChild;  // per body and, at bodyCount, the world: children from last to first
    int* nextChild;  // per body
    int* firstJoint; // per body, in order of addition
    int* nextJoint;  // per joint
    int* stack;      // bodies to visit
    int visitCount;
    int firstKinematic; // link
} rgLinkBuilder;

static int rgJointPartCount(rgJointKind kind) {
    return kind == rg_jointFixed ? 0 : kind == rg_jointPlanar ? 3 : 1;
}

static int rgCountLinks(const rgModelDef* def) {
    int count = 1;
    for (int i = 0; i < def->jointCount; ++i) {
        count += rgJointPartCount(def->joints[i].kind);
    }
    return count;
}

static int rgCountKinematic(const rgModelDef* def) {
    int count = 0;
    for (int i = 0; i < def->bodyCount; ++i) {
        count += def->bodies[i].kinematic;
    }
    return count;
}

static bool rgLinkBuilder_Allocate(rgLinkBuilder* b) {
    rgCompiler* c = b->compiler;
    rgModel* model = b->model;
    const rgModelDef* def = c->def;
    int linkCount = rgCountLinks(def), all = linkCount + rgCountKinematic(def);
    b->firstKinematic = linkCount;
    b->lastChild = rgCompiler_Allocate(c, def->bodyCount + 1, sizeof(int));
    b->nextChild = rgCompiler_Allocate(c, def->bodyCount, sizeof(int));
    b->firstJoint = rgCompiler_Allocate(c, def->bodyCount, sizeof(int));
    b->nextJoint = rgCompiler_Allocate(c, def->jointCount, sizeof(int));
    b->stack = rgCompiler_Allocate(c, def->bodyCount, sizeof(int));
    model->links = rgCompiler_Allocate(c, all, sizeof(rgLink));
    model->kinematicPoses = rgCompiler_Allocate(c, all - linkCount, sizeof(rgPose));
    model->trees = rgCompiler_Allocate(c, linkCount, sizeof(rgTree));
    model->dofs = rgCompiler_Allocate(c, 6 * linkCount, sizeof(rgDof));
    model->neutral = rgCompiler_Allocate(c, 7 * linkCount, sizeof(double));
    model->movingBodies = rgCompiler_Allocate(c, all, sizeof(int));
    model->bodyOrder = rgCompiler_Allocate(c, def->bodyCount, sizeof(int));
    model->bodyPlaces = rgCompiler_Allocate(c, def->bodyCount, sizeof(rgPlace));
    model->jointRanges = rgCompiler_Allocate(c, def->jointCount, sizeof(rgJointRange));
    return !c->outOfMemory;
}

static void rgLinkBuilder_List(rgLinkBuilder* b) {
    const rgModelDef* def = b->compiler->def;
    for (int i = 0; i <= def->bodyCount; ++i) {
        b->lastChild[i] = -1;
    }
    for (int i = 0; i < def->bodyCount; ++i) {
        int parent = def->bodies[i].parent.index1 - 1;
        int slot = parent < 0 ? def->bodyCount : parent;
        b->nextChild[i] = b->lastChild[slot];
        b->lastChild[slot] = i;
        b->firstJoint[i] = -1;
    }
    for (int j = def->jointCount - 1; j >= 0; --j) {
        int body = def->joints[j].body.index1 - 1;
        b->nextJoint[j] = b->firstJoint[body];
        b->firstJoint[body] = j;
    }
}

static bool rgPoseIsIdentity(rgPose pose) {
    return pose.p.x == 0 && pose.p.y == 0 && pose.p.z == 0 && pose.q.x == 0 && pose.q.y == 0 &&
           pose.q.z == 0;
}

static rgPlace rgMakePlace(int link, int body, rgPose pose) {
    pose.q = rgQuatNormalize(pose.q);
    return (rgPlace){.pose = pose, .link = link, .body = body, .isOrigin = rgPoseIsIdentity(pose)};
}

// Place of a point of a body (-1: the world) that has the given pose in the body's frame.
static rgPlace rgPlaceOn(const rgModel* model, int body, rgPose pose) {
    if (body < 0) {
        return rgMakePlace(0, -1, pose);
    }
    const rgPlace* place = &model->bodyPlaces[body];
    rgPose combined = place->isOrigin ? pose : rgPoseMultiply(place->pose, pose);
    return rgMakePlace(place->link, body, combined);
}

// The frame of a joint part in the body's frame, and which axis of it the joint uses.
typedef struct rgJointFrame {
    rgPose pose;
    int axis;
    double sign;
} rgJointFrame;

static rgJointFrame rgFrameOfAxis(rgVec3 anchor, rgVec3 axis) {
    rgJointFrame frame = {.pose = {anchor, rgQuatIdentity()}, .axis = 2, .sign = 1};
    for (int k = 0; k < 3; ++k) {
        double along = rgVec3_At(axis, k);
        if (fabs(along) == 1) {
            frame.axis = k;
            frame.sign = along;
            return frame;
        }
    }
    frame.pose.q = rgQuatBetween(rgVec(0, 0, 1), axis);
    return frame;
}

static rgVec3 rgUnitVector(int axis, double sign) {
    return rgVec(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
}

static void rgLink_SetPose(rgLink* link, rgPose pose) {
    rgQuat q = rgQuatNormalize(pose.q);
    link->rotation = rgRotFromQuat(q);
    link->origin = pose.p;
    link->unrotated = q.x == 0 && q.y == 0 && q.z == 0;
}

// The pose at q = 0 of a part that is where the definition says at q = reference.
static rgPose rgBakeReference(rgPose pose, const rgLink* link, double reference) {
    rgVec3 axis = rgUnitVector(link->axis, link->sign);
    rgPose back = rgPoseIdentity();
    if (reference == 0) {
        return pose;
    }
    if (link->kind == rg_linkRevolute) {
        back.q = rgQuatFromAxisAngle(axis, -reference);
    } else {
        back.p = rgScale(-reference, axis);
    }
    return rgPoseMultiply(pose, back);
}

#define RG_MASS_LIMIT (1 << 28) // entries of M: 2 GB, twice, and as much for their places

static void rgLinkBuilder_AddDofs(rgLinkBuilder* b, int index) {
    rgModel* model = b->model;
    const rgLink* link = &model->links[index];
    const rgLink* parent = &model->links[link->parent];
    int above = link->parent == 0 ? -1 : parent->v + parent->vCount - 1;
    for (int k = 0; k < link->vCount; ++k) {
        rgDof* dof = &model->dofs[link->v + k];
        *dof = (rgDof){.link = index,
                       .joint = link->joint,
                       .parent = above,
                       .rowStart = model->massCount,
                       .depth = above < 0 ? 1 : model->dofs[above].depth + 1};
        model->massCount = RG_MIN(model->massCount + dof->depth, RG_MASS_LIMIT + 1);
        above = link->v + k;
    }
}

static int rgLinkBuilder_Tree(rgLinkBuilder* b, int index) {
    rgModel* model = b->model;
    const rgLink* link = &model->links[index];
    if (link->parent == 0) {
        model->trees[model->treeCount++] = (rgTree){.firstLink = index, .firstDof = link->v};
    }
    rgTree* tree = &model->trees[model->treeCount - 1];
    tree->linkCount += 1;
    tree->dofCount += link->vCount;
    return model->treeCount - 1;
}

// Append a link of the given kind below parent; pose is its frame in the parent's at the reference.
static int rgLinkBuilder_Append(rgLinkBuilder* b, int joint, rgLink link, rgPose pose) {
    rgModel* model = b->model;
    const rgJointDef* def = &model->joints[joint];
    int index = model->linkCount++;
    bool scalar = link.kind == rg_linkRevolute || link.kind == rg_linkPrismatic;
    link.joint = joint;
    link.q = model->qCount;
    link.v = model->vCount;
    link.vCount = scalar ? 1 : link.kind == rg_linkSpherical ? 3 : 6;
    model->qCount += scalar ? 1 : link.kind == rg_linkSpherical ? 4 : 7;
    model->vCount += link.vCount;
    model->movingBodies[index] = def->body.index1 - 1;
    double reference = scalar && def->kind != rg_jointPlanar ? def->reference : 0;
    rgLink_SetPose(&link, rgBakeReference(pose, &link, reference));
    double* q = model->neutral + link.q;
    if (scalar) {
        q[0] = reference;
    } else if (link.kind == rg_linkSpherical) {
        q[0] = 1;
    } else {
        memcpy(q, &pose, sizeof(pose)); // p then q, as in rgPose
        rgLink_SetPose(&link, rgPoseIdentity());
    }
    model->links[index] = link;
    rgLinkBuilder_AddDofs(b, index);
    model->links[index].tree = rgLinkBuilder_Tree(b, index);
    return index;
}

// Last link of a body's chain so far.
typedef struct rgChain {
    int link;
    rgPose body; // the body's frame in that link's frame
} rgChain;

static void rgChain_Extend(rgChain* chain, rgLinkBuilder* b, int joint, rgLinkKind kind,
                           rgJointFrame frame) {
    rgLink link = {.parent = chain->link,
                   .kind = (uint8_t)kind,
                   .axis = (uint8_t)frame.axis,
                   .sign = frame.sign};
    rgPose pose = rgPoseMultiply(chain->body, frame.pose);
    chain->link = rgLinkBuilder_Append(b, joint, link, pose);
    chain->body = rgPoseInvert(frame.pose);
}

static void rgChain_AddPlanar(rgChain* chain, rgLinkBuilder* b, int joint) {
    const rgJointDef* def = &b->model->joints[joint];
    rgVec3 t1, t2;
    rgTangentBasis(def->axis, &t1, &t2);
    rgChain_Extend(chain, b, joint, rg_linkPrismatic, rgFrameOfAxis(def->anchor, t1));
    rgChain_Extend(chain, b, joint, rg_linkPrismatic, rgFrameOfAxis(def->anchor, t2));
    rgChain_Extend(chain, b, joint, rg_linkRevolute, rgFrameOfAxis(def->anchor, def->axis));
}

static void rgChain_AddJoint(rgChain* chain, rgLinkBuilder* b, int joint) {
    rgModel* model = b->model;
    const rgJointDef* def = &model->joints[joint];
    rgJointRange* range = &model->jointRanges[joint];
    rgJointFrame plain = {.pose = {def->anchor, rgQuatIdentity()}, .axis = 2, .sign = 1};
    *range = (rgJointRange){.q = model->qCount, .v = model->vCount};
    switch (def->kind) {
    case rg_jointFixed:
        break;
    case rg_jointRevolute:
        rgChain_Extend(chain, b, joint, rg_linkRevolute, rgFrameOfAxis(def->anchor, def->axis));
        break;
    case rg_jointPrismatic:
        rgChain_Extend(chain, b, joint, rg_linkPrismatic, rgFrameOfAxis(def->anchor, def->axis));
        break;
    case rg_jointSpherical:
        rgChain_Extend(chain, b, joint, rg_linkSpherical, plain);
        break;
    case rg_jointFree:
        plain.pose.p = rgVec(0, 0, 0);
        rgChain_Extend(chain, b, joint, rg_linkFree, plain);
        break;
    case rg_jointPlanar:
        rgChain_AddPlanar(chain, b, joint);
        break;
    }
    range->qCount = model->qCount - range->q;
    range->vCount = model->vCount - range->v;
}

// A link whose frame is that of its body.
static rgChain rgLinkBuilder_AddKinematic(rgLinkBuilder* b, int body, rgPose pose) {
    rgModel* model = b->model;
    int index = b->firstKinematic + model->kinematicCount;
    pose.q = rgQuatNormalize(pose.q);
    model->kinematicPoses[model->kinematicCount++] = pose;
    model->links[index] = (rgLink){.kind = rg_linkKinematic, .joint = -1, .tree = -1, .sign = 1};
    model->movingBodies[index] = body;
    rgLink_SetPose(&model->links[index], rgPoseIdentity());
    return (rgChain){.link = index, .body = rgPoseIdentity()};
}

static void rgLinkBuilder_Visit(rgLinkBuilder* b, int body) {
    rgModel* model = b->model;
    const rgBodyDef* def = &model->bodies[body];
    rgPlace start = rgPlaceOn(model, def->parent.index1 - 1, def->pose);
    rgChain chain = {.link = start.link, .body = start.pose};
    if (def->kinematic) {
        chain = rgLinkBuilder_AddKinematic(b, body, start.pose);
    }
    for (int j = b->firstJoint[body]; j >= 0; j = b->nextJoint[j]) {
        rgChain_AddJoint(&chain, b, j);
    }
    model->bodyPlaces[body] = rgMakePlace(chain.link, body, chain.body);
    model->bodyOrder[b->visitCount++] = body;
}

static void rgLinkBuilder_VisitAll(rgLinkBuilder* b) {
    int top = 0;
    int bodyCount = b->compiler->def->bodyCount;
    for (int i = b->lastChild[bodyCount]; i >= 0; i = b->nextChild[i]) {
        b->stack[top++] = i;
    }
    while (top > 0) {
        int body = b->stack[--top];
        rgLinkBuilder_Visit(b, body);
        for (int i = b->lastChild[body]; i >= 0; i = b->nextChild[i]) {
            b->stack[top++] = i;
        }
    }
}

void rgModel_SumInertias(rgModel* model) {
    for (int i = 0; i < rgModel_AllLinks(model); ++i) {
        rgLink* link = &model->links[i];
        link->mass = 0;
        link->center = rgVec(0, 0, 0);
        link->moment = (rgSym3){0};
    }
    for (int i = 0; i < model->info.bodyCount; ++i) {
        const rgPlace* place = &model->bodyPlaces[model->bodyOrder[i]];
        rgLink* link = &model->links[place->link];
        rgInertia sum = {link->mass, link->center, link->moment};
        rgInertia moved = rgInertiaMove(place->pose, &model->bodies[model->bodyOrder[i]].inertia);
        sum = rgInertiaAdd(&sum, &moved);
        link->mass = sum.mass;
        link->center = sum.center;
        link->moment = sum.moment;
    }
    model->info.mass = 0;
    for (int i = 0; i < model->linkCount; ++i) {
        model->links[i].massless = model->links[i].mass == 0;
        model->info.mass += i > 0 ? model->links[i].mass : 0;
    }
    model->info.staticMass = model->links[0].mass;
}

void rgModel_SetDofs(rgModel* model) {
    for (int i = 0; i < model->vCount; ++i) {
        rgDof* dof = &model->dofs[i];
        const rgJointDef* joint = &model->joints[dof->joint];
        dof->armature = joint->armature;
        dof->damping = joint->damping;
        dof->dryFriction = joint->dryFriction;
    }
}

static bool rgBuildRows(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    if (model->massCount > RG_MASS_LIMIT) {
        rgCompiler_Error(compiler, (rgSource){0},
                         "the trees are too deep: their mass matrix has more than %d entries, "
                         "which a chain of %d joints has",
                         RG_MASS_LIMIT, (int)sqrt(2.0 * RG_MASS_LIMIT));
        return false;
    }
    model->massColumns = rgCompiler_Allocate(compiler, model->massCount, sizeof(int));
    if (model->massColumns == NULL) {
        return false;
    }
    for (int i = 0; i < model->vCount; ++i) {
        int* row = model->massColumns + model->dofs[i].rowStart;
        for (int k = i; k >= 0; k = model->dofs[k].parent) {
            *row++ = k;
        }
    }
    return true;
}

static void rgCountSparseRows(rgModel* model) {
    for (int i = 0; i < model->vCount; ++i) {
        const rgDof* dof = &model->dofs[i];
        const int* column = model->massColumns + dof->rowStart;
        model->sparseStart[i + 1] += dof->depth;
        for (int k = 1; k < dof->depth; ++k) {
            model->sparseStart[column[k] + 1] += 1;
        }
    }
    for (int i = 0; i < model->vCount; ++i) {
        model->sparseStart[i + 1] += model->sparseStart[i];
    }
}

// A row has the ancestors, the diagonal, and the descendants; the last part grows as rows are met.
static void rgFillSparseRows(rgModel* model, int* next) {
    for (int i = 0; i < model->vCount; ++i) {
        const rgDof* dof = &model->dofs[i];
        int start = model->sparseStart[i];
        for (int k = dof->depth - 1; k >= 0; --k) {
            int column = model->massColumns[dof->rowStart + k];
            int here = start + dof->depth - 1 - k;
            model->sparseColumns[here] = column;
            model->sparseFrom[here] = dof->rowStart + k;
            if (k > 0) {
                model->sparseColumns[next[column]] = i;
                model->sparseFrom[next[column]++] = dof->rowStart + k;
            }
        }
        next[i] = start + dof->depth;
    }
}

static bool rgBuildSparse(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    int count = 2 * model->massCount - model->vCount;
    int* next = rgCompiler_Allocate(compiler, model->vCount, sizeof(int));
    model->sparseStart = rgCompiler_Allocate(compiler, model->vCount + 1, sizeof(int));
    model->sparseColumns = rgCompiler_Allocate(compiler, count, sizeof(int));
    model->sparseFrom = rgCompiler_Allocate(compiler, count, sizeof(int));
    if (compiler->outOfMemory) {
        return false;
    }
    rgCountSparseRows(model);
    rgFillSparseRows(model, next);
    return true;
}

static bool rgBuildPlaces(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    model->shapePlaces = rgCompiler_Allocate(compiler, model->info.shapeCount, sizeof(rgPlace));
    model->framePlaces = rgCompiler_Allocate(compiler, model->info.frameCount, sizeof(rgPlace));
    if (compiler->outOfMemory) {
        return false;
    }
    for (int i = 0; i < model->info.shapeCount; ++i) {
        const rgShapeDef* shape = &model->shapes[i];
        model->shapePlaces[i] = rgPlaceOn(model, shape->body.index1 - 1, shape->pose);
    }
    for (int i = 0; i < model->info.frameCount; ++i) {
        const rgFrameDef* frame = &model->frames[i];
        model->framePlaces[i] = rgPlaceOn(model, frame->body.index1 - 1, frame->pose);
    }
    return true;
}

bool rgBuildLinks(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    rgLinkBuilder builder = {.compiler = compiler, .model = model};
    if (!rgLinkBuilder_Allocate(&builder)) {
        return false;
    }
    model->links[0] = (rgLink){.kind = rg_linkWorld, .joint = -1, .tree = -1, .sign = 1};
    rgLink_SetPose(&model->links[0], rgPoseIdentity());
    model->movingBodies[0] = -1;
    model->linkCount = 1;
    rgLinkBuilder_List(&builder);
    rgLinkBuilder_VisitAll(&builder);
    rgModel_SumInertias(model);
    rgModel_SetDofs(model);
    model->info.qCount = model->qCount;
    model->info.vCount = model->vCount;
    model->info.linkCount = model->linkCount - 1;
    model->info.treeCount = model->treeCount;
    return rgBuildRows(compiler) && rgBuildSparse(compiler) && rgBuildPlaces(compiler);
}
