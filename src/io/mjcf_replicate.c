// MJCF <replicate>: copies of a subtree, each further along by an offset and a turn, with numbered
// names. Elements elsewhere that name parts of the subtree (actuators, sensors, tendons,
// equalities, contact pairs) are copied with it.
#include "io/mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_MAX_COPIES 10000

typedef enum rgMjKind {
    rg_mjKindBody,
    rg_mjKindJoint,
    rg_mjKindGeom,
    rg_mjKindSite,
    rg_mjKindTendon,
    rg_mjKindActuator,
    rg_mjKindOther, // cameras, lights
    rg_mjKindCount
} rgMjKind;

// The names that get a number, and the number they get.
typedef struct rgMjCopies {
    rgMjcf* m;
    rgMjNames names[rg_mjKindCount];
    const char* suffix;
} rgMjCopies;

typedef struct rgMjWordKind {
    const char* word;
    rgMjKind kind;
} rgMjWordKind;

static const rgMjWordKind elementKinds[] = {
    {"body", rg_mjKindBody},   {"joint", rg_mjKindJoint},    {"freejoint", rg_mjKindJoint},
    {"geom", rg_mjKindGeom},   {"site", rg_mjKindSite},      {"camera", rg_mjKindOther},
    {"light", rg_mjKindOther}, {"spatial", rg_mjKindTendon}, {"fixed", rg_mjKindTendon},
};

static const rgMjWordKind referenceKinds[] = {
    {"body", rg_mjKindBody},       {"body1", rg_mjKindBody},
    {"body2", rg_mjKindBody},      {"target", rg_mjKindBody},
    {"joint", rg_mjKindJoint},     {"joint1", rg_mjKindJoint},
    {"joint2", rg_mjKindJoint},    {"jointinparent", rg_mjKindJoint},
    {"geom", rg_mjKindGeom},       {"geom1", rg_mjKindGeom},
    {"geom2", rg_mjKindGeom},      {"site", rg_mjKindSite},
    {"site1", rg_mjKindSite},      {"site2", rg_mjKindSite},
    {"refsite", rg_mjKindSite},    {"cranksite", rg_mjKindSite},
    {"slidersite", rg_mjKindSite}, {"sidesite", rg_mjKindSite},
    {"tendon", rg_mjKindTendon},   {"tendon1", rg_mjKindTendon},
    {"tendon2", rg_mjKindTendon},  {"actuator", rg_mjKindActuator},
};

static int rgFindKind(const rgMjWordKind* kinds, int count, const char* word) {
    for (int i = 0; i < count; ++i) {
        if (strcmp(kinds[i].word, word) == 0) {
            return (int)kinds[i].kind;
        }
    }
    return -1;
}

// Kind of the part that an attribute names; -1: it names none that could be copied.
static int rgMjcf_ReferenceKind(const rgXmlNode* node, const char* attribute) {
    bool object = strcmp(attribute, "objname") == 0;
    if (object || strcmp(attribute, "refname") == 0) {
        const char* type = rgXmlNode_Attribute(node, object ? "objtype" : "reftype");
        if (type != NULL && strcmp(type, "xbody") == 0) {
            return rg_mjKindBody;
        }
        return type != NULL ? rgFindKind(elementKinds, RG_COUNT(elementKinds), type) : -1;
    }
    return rgFindKind(referenceKinds, RG_COUNT(referenceKinds), attribute);
}

static bool rgMjCopies_Has(const rgMjCopies* copies, const rgXmlNode* node,
                           const rgXmlAttribute* attribute) {
    int kind = rgMjcf_ReferenceKind(node, attribute->name);
    return kind >= 0 && rgMjNames_Find(&copies->names[kind], attribute->value) >= 0;
}

static const char* rgMjCopies_Rename(void* context, const rgXmlNode* node,
                                     const rgXmlAttribute* attribute) {
    rgMjCopies* copies = context;
    if (strcmp(attribute->name, "name") != 0 && !rgMjCopies_Has(copies, node, attribute)) {
        return NULL;
    }
    size_t length = strlen(attribute->value), more = strlen(copies->suffix) + 1;
    char* name = RG_TAKE(&copies->m->arena, char, length + more);
    if (name != NULL) {
        memcpy(name, attribute->value, length);
        memcpy(name + length, copies->suffix, more);
    }
    return name;
}

static void rgMjCopies_Collect(rgMjCopies* copies, const rgXmlNode* node) {
    int kind = rgFindKind(elementKinds, RG_COUNT(elementKinds), node->name);
    if (kind >= 0) {
        rgMjNames_Add(copies->m, &copies->names[kind], node, rgXmlNode_Attribute(node, "name"), 0);
    }
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        rgMjCopies_Collect(copies, child);
    }
}

static int rgCountDigits(int number) {
    char text[16];
    return snprintf(text, sizeof(text), "%d", number);
}

// Puts count copies of node in its place.
static void rgMjCopies_Put(rgMjCopies* copies, rgXmlNode* node, const char* separator, int count) {
    rgXmlNode holder = {.name = node->name};
    char suffix[200];
    int digits = rgCountDigits(count);
    for (int i = 0; i < count; ++i) {
        snprintf(suffix, sizeof(suffix), "%.150s%0*d", separator, digits, i);
        copies->suffix = suffix;
        rgXmlNode* copy = rgXmlTree_Copy(copies->m->tree, node, rgMjCopies_Rename, copies);
        if (copy == NULL) {
            rgXmlReader_Error(&copies->m->reader, node, "<%s>: there are too many elements",
                              node->name);
            return;
        }
        copy->copy = i;
        rgXmlNode_Append(&holder, copy);
    }
    rgXmlNode_ReplaceByChildren(node, &holder);
}

static bool rgMjCopies_IsNamedIn(const rgMjCopies* copies, const rgXmlNode* node) {
    for (int i = 0; i < node->attributeCount; ++i) {
        if (rgMjCopies_Has(copies, node, &node->attributes[i])) {
            return true;
        }
    }
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        if (rgMjCopies_IsNamedIn(copies, child)) {
            return true;
        }
    }
    return false;
}

// Elements outside that name parts of the subtree. Tendons and actuators first: others name them.
static void rgMjCopies_PutReferences(rgMjCopies* copies, rgXmlNode* root, const char* separator,
                                     int count) {
    static const char* const sections[] = {"tendon", "actuator", "contact", "equality", "sensor"};
    rgMjcf* m = copies->m;
    for (int i = 0; i < RG_COUNT(sections); ++i) {
        for (rgXmlNode* section = root->firstChild; section != NULL; section = section->next) {
            bool here = strcmp(section->name, sections[i]) == 0;
            for (rgXmlNode* node = here ? section->firstChild : NULL; node != NULL;) {
                rgXmlNode* next = node->next;
                if (rgMjCopies_IsNamedIn(copies, node)) {
                    const char* name = rgXmlNode_Attribute(node, "name");
                    if (i < 2) {
                        rgMjKind kind = i == 0 ? rg_mjKindTendon : rg_mjKindActuator;
                        rgMjNames_Add(m, &copies->names[kind], node, name, 0);
                    }
                    rgMjCopies_Put(copies, node, separator, count);
                }
                node = next;
            }
        }
    }
}

static void rgMjcf_ReplicateNode(rgMjcf* m, rgXmlNode* root, rgXmlNode* node) {
    static const char* const known[] = {"count", "sep", "offset", "euler", "childclass", NULL};
    int count = 0;
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_Required(&m->reader, node, "count");
    rgXmlReader_Int(&m->reader, node, "count", &count);
    if (rgMjcf_Failed(m)) {
        return;
    }
    if (count < 1 || count > RG_MAX_COPIES) {
        rgXmlReader_Error(&m->reader, node, "<replicate count>: %d is not between 1 and %d", count,
                          RG_MAX_COPIES);
        return;
    }
    const char* separator = rgXmlNode_Attribute(node, "sep");
    rgMjCopies copies = {.m = m};
    rgMjCopies_Collect(&copies, node);
    if (!rgMjcf_Failed(m)) {
        const char* between = separator != NULL ? separator : "";
        rgMjCopies_PutReferences(&copies, root, between, count);
        rgMjCopies_Put(&copies, node, between, count);
    }
    for (int i = 0; i < rg_mjKindCount; ++i) {
        rgRelease(&m->load->allocator, copies.names[i].slots);
    }
}

// Innermost first, so that inner numbers come first in a name.
static void rgMjcf_ReplicateIn(rgMjcf* m, rgXmlNode* root, rgXmlNode* parent) {
    for (rgXmlNode* child = parent->firstChild; child != NULL && !rgMjcf_Failed(m);) {
        rgXmlNode* next = child->next;
        rgMjcf_ReplicateIn(m, root, child);
        if (strcmp(child->name, "replicate") == 0) {
            rgMjcf_ReplicateNode(m, root, child);
        }
        child = next;
    }
}

void rgMjcf_Replicate(rgMjcf* m, rgXmlNode* root) {
    for (rgXmlNode* section = root->firstChild; section != NULL; section = section->next) {
        if (strcmp(section->name, "worldbody") == 0) {
            rgMjcf_ReplicateIn(m, root, section);
        }
    }
}

const char* rgMjcf_ReplicaSuffix(rgMjcf* m, const rgXmlNode* node) {
    char text[1024] = "";
    int used = 0;
    for (node = node->parent; node != NULL; node = node->parent) {
        const char* count = rgXmlNode_Attribute(node, "count");
        const char* separator = rgXmlNode_Attribute(node, "sep");
        if (strcmp(node->name, "replicate") == 0 && count != NULL && used < 800) {
            used +=
                rgPrint(text + used, sizeof(text) - (size_t)used, "%.150s%0*d",
                        separator != NULL ? separator : "", rgCountDigits(atoi(count)), node->copy);
        }
    }
    bool failed = false;
    const char* kept = used > 0 ? rgKeepString(&m->arena, text, &failed) : NULL;
    if (failed) {
        rgMjcf_Check(m, rg_errorMemory);
    }
    return kept;
}

rgPose rgMjcf_ReplicaPose(rgMjcf* m, const rgXmlNode* node) {
    double offset[3] = {0, 0, 0}, euler[3] = {0, 0, 0};
    rgXmlReader_Doubles(&m->reader, node, "offset", offset, 3, 3);
    rgXmlReader_Doubles(&m->reader, node, "euler", euler, 3, 3);
    rgPose pose = rgPoseIdentity();
    for (int i = 0; i < node->copy; ++i) {
        pose.p = rgPose_Point(pose, rgVec(offset[0], offset[1], offset[2]));
        rgMjPlace turn = rgMjcf_NoPlace();
        turn.turn = rg_mjTurnEuler;
        for (int k = 0; k < 3; ++k) {
            turn.values[k] = (i + 1) * euler[k];
        }
        pose.q = rgMjcf_Pose(m, node, &turn).q;
    }
    return pose;
}
