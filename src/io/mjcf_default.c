// MJCF default classes: a tree of named sets of attribute values.
#include "io/mjcf.h"

#include <string.h>

static int rgMjcf_AddClass(rgMjcf* m, const rgXmlNode* node, const char* name, int parent) {
    rgMjClass* added =
        rgMjcf_Grow(m, (void**)&m->classes, &m->classCapacity, m->classCount, sizeof(*added));
    if (added == NULL) {
        return -1;
    }
    *added = (rgMjClass){.name = name, .parent = parent};
    rgMjNames_Add(m, &m->classNames, node, name, m->classCount);
    return m->classCount++;
}

static void rgMjClass_AddNode(rgMjcf* m, int class, const rgXmlNode* node) {
    rgMjClass* c = &m->classes[class];
    const rgXmlNode** slot =
        rgMjcf_Grow(m, (void**)&c->nodes, &c->nodeCapacity, c->nodeCount, sizeof(*slot));
    if (slot != NULL) {
        *slot = node;
        c->nodeCount += 1;
    }
}

static const char* const settings[] = {
    "mesh",     "material", "joint",    "geom",  "site",     "camera",   "light",       "pair",
    "equality", "tendon",   "general",  "motor", "position", "velocity", "intvelocity", "damper",
    "cylinder", "muscle",   "adhesion", "pid",   "dcmotor",  "default",  NULL};

static void rgMjcf_ReadClass(rgMjcf* m, const rgXmlNode* node, int parent) {
    const char* name = rgXmlNode_Attribute(node, "class");
    if (name == NULL && parent >= 0) {
        rgXmlReader_Error(&m->reader, node,
                          "<default class>: missing; only the outermost default may omit it");
        return;
    }
    int class = rgMjNames_Find(&m->classNames, name != NULL ? name : "main");
    if (parent < 0) {
        class = 0;
        if (name != NULL && strcmp(name, m->classes[0].name) != 0) {
            rgXmlReader_Error(&m->reader, node,
                              "<default class>: the outermost class is 'main', not '%.60s'", name);
            return;
        }
    } else if (class < 0) {
        class = rgMjcf_AddClass(m, node, name, parent);
    } else if (m->classes[class].parent != parent) {
        rgXmlReader_Error(&m->reader, node, "<default class>: '%.60s' is used twice", name);
        return;
    }
    if (class < 0) {
        return;
    }
    rgXmlReader_CheckAttributes(&m->reader, node, (const char* const[]){"class", NULL});
    rgXmlReader_CheckChildren(&m->reader, node, settings);
    rgMjClass_AddNode(m, class, node);
    for (const rgXmlNode* child = rgXmlNode_Child(node, "default"); child != NULL;
         child = rgXmlNode_Next(child, "default")) {
        rgMjcf_ReadClass(m, child, class);
    }
}

typedef struct rgMjSetting {
    const char* name;
    rgMjApplyFcn* apply;
} rgMjSetting;

static const rgMjSetting readSettings[] = {
    {"geom", rgMjcf_ApplyGeom},         {"joint", rgMjcf_ApplyJoint},
    {"site", rgMjcf_ApplySite},         {"mesh", rgMjcf_ApplyMesh},
    {"pair", rgMjcf_ApplyPair},         {"equality", rgMjcf_ApplyEquality},
    {"tendon", rgMjcf_ApplyTendon},     {"general", rgMjcf_ApplyActuator},
    {"motor", rgMjcf_ApplyActuator},    {"position", rgMjcf_ApplyActuator},
    {"velocity", rgMjcf_ApplyActuator}, {"intvelocity", rgMjcf_ApplyActuator},
    {"damper", rgMjcf_ApplyActuator},   {"cylinder", rgMjcf_ApplyActuator},
    {"muscle", rgMjcf_ApplyActuator},   {"adhesion", rgMjcf_ApplyActuator},
    {"pid", rgMjcf_ApplyActuator},      {"dcmotor", rgMjcf_ApplyActuator},
};

static void rgMjcf_TrySetting(rgMjcf* m, const rgXmlNode* node) {
    union {
        max_align_t align;
        char bytes[2048]; // larger than anything an apply function writes
    } scratch = {.bytes = {0}};
    for (int i = 0; i < RG_COUNT(readSettings); ++i) {
        if (strcmp(node->name, readSettings[i].name) == 0) {
            readSettings[i].apply(m, node, &scratch);
        }
    }
}

// Check the values of all classes once, so that mistakes in unused classes are reported too, and
// reported once only: elements read values again whenever they use them.
static void rgMjcf_TryClasses(rgMjcf* m) {
    for (int i = 0; i < m->classCount; ++i) {
        for (int k = 0; k < m->classes[i].nodeCount; ++k) {
            for (const rgXmlNode* child = rgXmlNode_Child(m->classes[i].nodes[k], NULL);
                 child != NULL; child = rgXmlNode_Next(child, NULL)) {
                rgMjcf_TrySetting(m, child);
            }
        }
    }
}

void rgMjcf_ReadDefaults(rgMjcf* m, const rgXmlNode* root) {
    if (rgMjcf_AddClass(m, root, "main", -1) < 0) {
        return;
    }
    for (const rgXmlNode* node = rgXmlNode_Child(root, "default"); node != NULL;
         node = rgXmlNode_Next(node, "default")) {
        rgMjcf_ReadClass(m, node, -1);
    }
    rgMjcf_TryClasses(m);
}

int rgMjcf_Class(rgMjcf* m, const rgXmlNode* node, const char* attribute, int inherited) {
    const char* name = rgXmlNode_Attribute(node, attribute);
    if (name == NULL) {
        return inherited;
    }
    int class = rgMjNames_Find(&m->classNames, name);
    if (class < 0) {
        char suggestion[100];
        rgMjcf_Suggest(m, &m->classNames, name, suggestion);
        rgXmlReader_Error(&m->reader, node, "<%s %s>: there is no default class '%.60s'%s",
                          node->name, attribute, name, suggestion);
        return inherited;
    }
    return class;
}

static bool rgIsOneOf(const char* word, const char* const* words) {
    for (int i = 0; words[i] != NULL; ++i) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

void rgMjcf_ApplyClass(rgMjcf* m, int class, const char* const* names, rgMjApplyFcn* apply,
                       void* value) {
    if (class < 0 || class >= m->classCount) {
        return;
    }
    rgMjcf_ApplyClass(m, m->classes[class].parent, names, apply, value); // depth <= XML's
    rgXmlReader reader = m->reader;
    m->reader.diagnostics = NULL; // rgMjcf_TryClasses has reported all faults
    for (int i = 0; i < m->classes[class].nodeCount; ++i) {
        for (const rgXmlNode* child = rgXmlNode_Child(m->classes[class].nodes[i], NULL);
             child != NULL; child = rgXmlNode_Next(child, NULL)) {
            if (rgIsOneOf(child->name, names)) {
                apply(m, child, value);
            }
        }
    }
    m->reader = reader;
}
