// MJCF <worldbody>: bodies, and frames, which only move their content.
#include "io/mjcf.h"

#include <string.h>

// Scope of the reader: the parent of the children it reads, and their defaults.
typedef struct rgMjScope {
    rgBodyId body; // null: the world
    int class;     // handed down by childclass
    rgPose frame;  // pose of the <frame> elements between the body and here
} rgMjScope;

// Geoms of a body as they add up.
typedef struct rgMjMass {
    rgInertia sum;
    int count;
    rgQuat axes; // rotation of the last one
} rgMjMass;

static const char* const bodyChildren[] = {
    "inertial", "joint",  "freejoint", "geom",      "site",     "camera",    "light", "body",
    "frame",    "attach", "plugin",    "composite", "flexcomp", "replicate", NULL};

static bool rgIsNamed(const rgXmlNode* node, const char* name) {
    return strcmp(node->name, name) == 0;
}

// Copies that <replicate> made are frames.
bool rgMjcf_IsFrame(const rgXmlNode* node) {
    return rgIsNamed(node, "frame") || rgIsNamed(node, "replicate");
}

static rgMjScope rgMjcf_EnterFrame(rgMjcf* m, const rgXmlNode* node, rgMjScope scope) {
    rgMjPlace place = rgMjcf_NoPlace();
    rgMjcf_ReadPlace(m, node, &place);
    rgPose pose =
        rgIsNamed(node, "frame") ? rgMjcf_Pose(m, node, &place) : rgMjcf_ReplicaPose(m, node);
    scope.frame = rgPoseMultiply(scope.frame, pose);
    scope.class = rgMjcf_Class(m, node, "childclass", scope.class);
    return scope;
}

static void rgMjcf_CheckBodyChildren(rgMjcf* m, const rgXmlNode* node) {
    static const char* const refused[] = {"plugin", "composite", "flexcomp"};
    rgXmlReader_CheckChildren(&m->reader, node, bodyChildren);
    for (int i = 0; i < RG_COUNT(refused); ++i) {
        for (const rgXmlNode* child = rgXmlNode_Child(node, refused[i]); child != NULL;
             child = rgXmlNode_Next(child, refused[i])) {
            rgXmlReader_Warn(&m->reader, child, "<%s> is not supported; it is left out",
                             child->name);
        }
    }
}

static void rgMjcf_ReadJoints(rgMjcf* m, const rgXmlNode* node, rgMjScope scope) {
    for (const rgXmlNode* child = rgXmlNode_Child(node, NULL); child != NULL;
         child = rgXmlNode_Next(child, NULL)) {
        if (rgMjcf_IsFrame(child)) {
            rgMjcf_ReadJoints(m, child, rgMjcf_EnterFrame(m, child, scope));
        } else if (rgIsNamed(child, "joint") || rgIsNamed(child, "freejoint")) {
            if (scope.body.index1 == 0) {
                rgXmlReader_Error(&m->reader, child, "<%s>: the world has no joints", child->name);
                return;
            }
            rgMjcf_ReadJoint(m, child, scope.body, scope.class, scope.frame);
        }
    }
}

static void rgMjMass_Add(rgMjMass* mass, const rgInertia* geom, rgQuat axes) {
    if (geom->mass > 0) {
        mass->sum = mass->count == 0 ? *geom : rgInertiaAdd(&mass->sum, geom);
        mass->axes = axes;
        mass->count += 1;
    }
}

static void rgMjcf_ReadGeoms(rgMjcf* m, const rgXmlNode* node, rgMjScope scope, rgMjMass* mass) {
    for (const rgXmlNode* child = rgXmlNode_Child(node, NULL); child != NULL && m->result == rg_ok;
         child = rgXmlNode_Next(child, NULL)) {
        if (rgMjcf_IsFrame(child)) {
            rgMjcf_ReadGeoms(m, child, rgMjcf_EnterFrame(m, child, scope), mass);
        } else if (rgIsNamed(child, "geom")) {
            int before = m->def->shapeCount;
            rgInertia geom = rgMjcf_ReadGeom(m, child, scope.body, scope.class, scope.frame);
            bool added = m->def->shapeCount > before;
            rgMjMass_Add(mass, &geom, added ? m->def->shapes[before].pose.q : rgQuatIdentity());
        } else if (rgIsNamed(child, "site")) {
            rgMjcf_ReadSite(m, child, scope.body, scope.class, scope.frame);
        } else if (rgIsNamed(child, "camera")) {
            rgMjcf_ReadCamera(m, child, scope.body, scope.class, scope.frame);
        }
    }
}

static void rgMjcf_ReadChildren(rgMjcf* m, const rgXmlNode* node, rgMjScope scope);

static rgBodyId rgMjcf_AddBody(rgMjcf* m, const rgXmlNode* node, rgMjScope scope) {
    rgBodyId id = {0};
    rgMjPlace place = rgMjcf_NoPlace();
    rgMjcf_ReadPlace(m, node, &place);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = rgXmlNode_Attribute(node, "name");
    body.parent = scope.body;
    body.pose = rgPoseMultiply(scope.frame, rgMjcf_Pose(m, node, &place));
    body.source = rgMjcf_Source(node);
    rgXmlReader_Double(&m->reader, node, "gravcomp", &body.gravityCompensation);
    rgXmlReader_Bool(&m->reader, node, "mocap", &body.kinematic);
    if (body.kinematic && scope.body.index1 > 0) {
        rgXmlReader_Error(&m->reader, node, "<body mocap>: it must be a body of the world");
    }
    int number = m->def->bodyCount;
    rgMjBody* extra = rgMjcf_Grow(m, (void**)&m->bodies, &m->bodyCapacity, number, sizeof(*extra));
    if (extra == NULL) {
        return id;
    }
    int parent = scope.body.index1 - 1;
    *extra = (rgMjBody){.world = body.pose, .root = number, .inertiaAxes = rgQuatIdentity()};
    if (parent >= 0) {
        extra->world = rgPoseMultiply(m->bodies[parent].world, body.pose);
        extra->root = m->bodies[parent].root;
    }
    rgMjcf_Check(m, rgModelDef_AddBody(m->def, &body, &id));
    rgMjNames_Add(m, &m->bodyNames, node, body.name, id.index1);
    return id;
}

static void rgMjcf_ReadBody(rgMjcf* m, const rgXmlNode* node, rgMjScope scope) {
    static const char* const known[] = {"name",   "childclass", "pos",   "quat",  "axisangle",
                                        "xyaxes", "zaxis",      "euler", "mocap", "gravcomp",
                                        "user",   "sleep",      NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgBodyId id = rgMjcf_AddBody(m, node, scope);
    if (id.index1 == 0 || m->result != rg_ok) {
        return;
    }
    rgMjScope inside = {.body = id,
                        .class = rgMjcf_Class(m, node, "childclass", scope.class),
                        .frame = rgPoseIdentity()};
    rgMjMass mass = {.count = 0, .axes = rgQuatIdentity()};
    rgMjcf_ReadJoints(m, node, inside);
    rgMjcf_ReadGeoms(m, node, inside, &mass);
    rgMjcf_SetInertia(m, node, id.index1 - 1, &mass.sum, mass.count, mass.axes);
    rgMjcf_ReadChildren(m, node, inside);
}

static void rgMjcf_ReadChildren(rgMjcf* m, const rgXmlNode* node, rgMjScope scope) {
    rgMjcf_CheckBodyChildren(m, node);
    for (const rgXmlNode* child = rgXmlNode_Child(node, NULL); child != NULL && m->result == rg_ok;
         child = rgXmlNode_Next(child, NULL)) {
        if (rgMjcf_IsFrame(child)) {
            rgMjcf_ReadChildren(m, child, rgMjcf_EnterFrame(m, child, scope));
        } else if (rgIsNamed(child, "body")) {
            rgMjcf_ReadBody(m, child, scope);
        } else if (rgIsNamed(child, "attach")) {
            rgMjcf_Attach(m, child, scope.body, scope.frame);
        }
    }
}

void rgMjcf_ReadBodies(rgMjcf* m, const rgXmlNode* root) {
    rgMjNames_Add(m, &m->bodyNames, root, "world", 0);
    for (const rgXmlNode* node = rgXmlNode_Child(root, "worldbody"); node != NULL;
         node = rgXmlNode_Next(node, "worldbody")) {
        rgMjScope scope = {.class = rgMjcf_Class(m, node, "childclass", 0),
                           .frame = rgPoseIdentity()};
        rgMjMass ignored = {.count = 0};
        rgMjcf_ReadJoints(m, node, scope);
        rgMjcf_ReadGeoms(m, node, scope, &ignored);
        rgMjcf_ReadChildren(m, node, scope);
    }
}
