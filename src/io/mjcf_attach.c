// MJCF <attach>: a body of another file, or all of them, with all parts that belong to it, under a
// prefix. The file is read by itself, with its own compiler settings, classes and assets, and its
// definition becomes part of this one.
#include "io/mjcf.h"

#include <stdio.h>
#include <string.h>

#define RG_ATTACH_MAX_DEPTH 8

// The name of a model that is given none: that in its file, or else the file's.
static const char* rgMjcf_OwnModelName(rgMjcf* m, const char* file) {
    char path[RG_PATH_LENGTH];
    rgXmlTree* tree = NULL;
    rgXmlNode* root = NULL;
    const char* kept = NULL;
    bool failed = false;
    if (rgJoinPath(m->folder, file, path) && rgFileExists(path) &&
        rgCreateXmlTree(&m->load->allocator, &tree) == rg_ok &&
        rgXmlTree_Load(tree, path, NULL, &root) == rg_ok) {
        kept = rgKeepString(&m->arena, rgXmlNode_Attribute(root, "model"), &failed);
    }
    rgDestroyXmlTree(tree);
    rgMjcf_Check(m, failed ? rg_errorMemory : rg_ok);
    return kept != NULL && kept[0] != '\0' ? kept : rgMjcf_FileStem(m, file);
}

void rgMjcf_AddModel(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {"name", "file", "content_type", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    const char* file = rgXmlReader_Required(&m->reader, node, "file");
    const char* name = rgXmlNode_Attribute(node, "name");
    const rgXmlNode** slot =
        rgMjcf_Grow(m, (void**)&m->models, &m->modelCapacity, m->modelCount, sizeof(*slot));
    if (slot != NULL && file != NULL) {
        *slot = node;
        rgMjNames_Add(m, &m->modelNames, node, name != NULL ? name : rgMjcf_OwnModelName(m, file),
                      m->modelCount++);
    }
}

static rgResult rgMjcf_LoadModel(rgMjcf* m, const rgXmlNode* node, rgModelDef** other) {
    char path[RG_PATH_LENGTH];
    rgXmlTree* tree = NULL;
    rgXmlNode* root = NULL;
    if (m->depth >= RG_ATTACH_MAX_DEPTH ||
        !rgJoinPath(m->folder, rgXmlNode_Attribute(node, "file"), path)) {
        rgXmlReader_Error(&m->reader, node,
                          "<model file>: models that contain models are nested more than %d deep, "
                          "or the path is too long",
                          RG_ATTACH_MAX_DEPTH);
        return rg_errorFormat;
    }
    rgResult result = rgCreateXmlTree(&m->load->allocator, &tree);
    if (result != rg_ok) {
        return result;
    }
    result = rgXmlTree_Load(tree, path, m->reader.diagnostics, &root);
    if (result == rg_ok && strcmp(root->name, "mujoco") != 0) {
        rgXmlReader_Error(&m->reader, root, "the root element is <%.60s>, not <mujoco>",
                          root->name);
        result = rg_errorFormat;
    }
    if (result == rg_ok) {
        result = rgReadMjcfAt(tree, root, m->load, m->reader.diagnostics, m->depth + 1, other);
    }
    rgDestroyXmlTree(tree);
    return result;
}

// Keep the named body, as a root with the pose that it has in its parent, and its subtree.
static rgResult rgKeepBody(rgModelDef* other, const char* name) {
    rgBodyId id = rgModelDef_FindBody(other, name);
    if (id.index1 == 0) {
        return rg_errorArgument;
    }
    rgBodyDef body = other->bodies[id.index1 - 1];
    body.parent.index1 = 0;
    rgResult result = rgModelDef_SetBody(other, id, &body);
    for (int i = 0; result == rg_ok && i < other->bodyCount;) {
        const char* found = other->bodies[i].name;
        bool other_root =
            other->bodies[i].parent.index1 == 0 && (found == NULL || strcmp(found, name) != 0);
        if (other_root) {
            result = rgModelDef_RemoveBody(other, (rgBodyId){i + 1}, NULL);
            i = 0; // numbers have changed
        } else {
            ++i;
        }
    }
    return result;
}

static rgMjCounts rgMjcf_Count(const rgModelDef* def) {
    return (rgMjCounts){def->bodyCount,   def->jointCount,    def->shapeCount,    def->frameCount,
                        def->tendonCount, def->actuatorCount, def->equalityCount, def->sensorCount};
}

// Enter the reader's own data of new bodies of the definition.
static void rgMjcf_EnterBodies(rgMjcf* m, const rgXmlNode* node, int first) {
    const rgModelDef* def = m->def;
    for (int i = first; i < def->bodyCount; ++i) {
        rgMjBody* extra = rgMjcf_Grow(m, (void**)&m->bodies, &m->bodyCapacity, i, sizeof(*extra));
        if (extra == NULL) {
            return;
        }
        int parent = def->bodies[i].parent.index1 - 1;
        *extra =
            (rgMjBody){.world = def->bodies[i].pose, .root = i, .inertiaAxes = rgQuatIdentity()};
        if (parent >= 0) {
            extra->world = rgPoseMultiply(m->bodies[parent].world, def->bodies[i].pose);
            extra->root = m->bodies[parent].root;
        }
        rgMjNames_Add(m, &m->bodyNames, node, def->bodies[i].name, i + 1);
    }
}

static void rgMjcf_EnterJoints(rgMjcf* m, const rgXmlNode* node, int first) {
    for (int i = first; i < m->def->jointCount; ++i) {
        double(*spring)[2] =
            rgMjcf_Grow(m, (void**)&m->springDampers, &m->springCapacity, i, sizeof(*spring));
        if (spring == NULL) {
            return;
        }
        (*spring)[0] = (*spring)[1] = 0; // their springs are known already
        rgMjNames_Add(m, &m->jointNames, node, m->def->joints[i].name, i);
        m->bodies[m->bodies[m->def->joints[i].body.index1 - 1].root].treeMoves = true;
    }
}

static void rgMjcf_EnterShapes(rgMjcf* m, const rgXmlNode* node, rgMjCounts first) {
    for (int i = first.shapes; i < m->def->shapeCount; ++i) {
        rgMjGeom* geom = rgMjcf_Grow(m, (void**)&m->geoms, &m->geomCapacity, i, sizeof(*geom));
        if (geom == NULL) {
            return;
        }
        *geom = (rgMjGeom){.softness = rgMjcf_NoSoftness()}; // applied already, if set
        rgMjNames_Add(m, &m->geomNames, node, m->def->shapes[i].name, i);
    }
    for (int i = first.frames; i < m->def->frameCount; ++i) {
        double* radius =
            rgMjcf_Grow(m, (void**)&m->siteSizes, &m->siteCapacity, i, sizeof(*radius));
        if (radius == NULL) {
            return;
        }
        *radius = 0.005;
        rgMjNames_Add(m, &m->siteNames, node, m->def->frames[i].name, i);
    }
}

static void rgMjcf_EnterActuators(rgMjcf* m, const rgXmlNode* node, int first) {
    for (int i = first; i < m->def->actuatorCount; ++i) {
        rgMjReflected* ratio =
            rgMjcf_Grow(m, (void**)&m->reflected, &m->reflectedCapacity, i, sizeof(*ratio));
        if (ratio == NULL) {
            return;
        }
        *ratio = (rgMjReflected){0};
        rgMjNames_Add(m, &m->actuatorNames, node, m->def->actuators[i].name, i);
    }
}

static void rgMjcf_Enter(rgMjcf* m, const rgXmlNode* node, rgMjCounts first) {
    rgMjcf_EnterBodies(m, node, first.bodies);
    rgMjcf_EnterJoints(m, node, first.joints);
    rgMjcf_EnterShapes(m, node, first);
    rgMjcf_EnterActuators(m, node, first.actuators);
    for (int i = first.tendons; i < m->def->tendonCount; ++i) {
        rgMjNames_Add(m, &m->tendonNames, node, m->def->tendons[i].name, i);
    }
    for (int i = first.equalities; i < m->def->equalityCount; ++i) {
        rgMjNames_Add(m, &m->equalityNames, node, m->def->equalities[i].name, i);
    }
    for (int i = first.sensors; i < m->def->sensorCount; ++i) {
        rgMjNames_Add(m, &m->sensorNames, node, m->def->sensors[i].name, i);
    }
}

static rgResult rgMjcf_AttachDef(rgMjcf* m, const rgXmlNode* node, rgModelDef* other,
                                 rgBodyId parent, rgPose frame) {
    const char* body = rgXmlNode_Attribute(node, "body");
    rgResult result = body != NULL ? rgKeepBody(other, body) : rg_ok;
    if (result == rg_errorArgument) {
        rgXmlReader_Error(&m->reader, node, "<attach body>: the model has no body '%.60s'", body);
        return result;
    }
    if (other->keyCount > 0) {
        rgXmlReader_Note(&m->reader, node, "<attach>: key frames of the model are left out");
        other->keyCount = 0;
    }
    other->options = (rgModelOptions){0}; // those of this file hold
    rgAttachDef how = rgDefaultAttachDef();
    how.prefix = rgXmlNode_Attribute(node, "prefix");
    how.suffix = rgMjcf_ReplicaSuffix(m, node);
    how.parent = parent;
    how.pose = frame;
    how.withoutWorld = body != NULL;
    rgMjCounts first = rgMjcf_Count(m->def);
    result = result == rg_ok ? rgModelDef_Attach(m->def, other, &how, m->reader.diagnostics, NULL)
                             : result;
    if (result == rg_ok) {
        rgMjcf_Enter(m, node, first);
    }
    return result;
}

void rgMjcf_Attach(rgMjcf* m, const rgXmlNode* node, rgBodyId parent, rgPose frame) {
    static const char* const known[] = {"model", "body", "prefix", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    int model = rgMjcf_Lookup(m, &m->modelNames, node, "model", "model");
    if (model < 0) {
        return;
    }
    rgModelDef* other = NULL;
    rgResult result = rgMjcf_LoadModel(m, m->models[model], &other);
    if (result == rg_ok) {
        result = rgMjcf_AttachDef(m, node, other, parent, frame);
    }
    rgDestroyModelDef(other);
    if (result == rg_errorMemory) {
        rgMjcf_Check(m, result);
    } else if (result != rg_ok) {
        rgXmlReader_Error(&m->reader, node, "<attach model>: '%.60s' cannot be attached",
                          rgXmlNode_Attribute(node, "model"));
    }
}

// ---- order

void rgMjcf_CountAttached(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    m->attached = rgMjcf_Count(m->def);
}

static void rgReverse(char* parts, size_t size, int count) {
    for (int i = 0, k = count - 1; i < k; ++i, --k) {
        for (size_t b = 0; b < size; ++b) {
            char byte = parts[(size_t)i * size + b];
            parts[(size_t)i * size + b] = parts[(size_t)k * size + b];
            parts[(size_t)k * size + b] = byte;
        }
    }
}

// The first ones go behind the others.
static void rgMoveBehind(void* parts, size_t size, int first, int count) {
    char* bytes = parts;
    if (first == 0) {
        return; // an empty array may be NULL
    }
    rgReverse(bytes, size, first);
    rgReverse(bytes + (size_t)first * size, size, count - first);
    rgReverse(bytes, size, count);
}

// Id of a part after rgMoveBehind.
static int rgMovedBehind(int id, int first, int count) {
    return id == 0 ? 0 : id <= first ? id + count - first : id - first;
}

// MuJoCo has the file's own tendons, equalities, actuators and sensors before those of the models
// that it attaches, while these are read with the bodies.
void rgMjcf_OrderAttached(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    rgModelDef* def = m->def;
    int tendons = m->attached.tendons, actuators = m->attached.actuators;
    for (int i = 0; i < def->actuatorCount; ++i) {
        int* id = &def->actuators[i].tendon.index1;
        *id = rgMovedBehind(*id, tendons, def->tendonCount);
    }
    for (int i = 0; i < def->equalityCount; ++i) {
        int* a = &def->equalities[i].tendonA.index1;
        int* b = &def->equalities[i].tendonB.index1;
        *a = rgMovedBehind(*a, tendons, def->tendonCount);
        *b = rgMovedBehind(*b, tendons, def->tendonCount);
    }
    for (int i = 0; i < def->sensorCount; ++i) {
        int* tendon = &def->sensors[i].tendon.index1;
        int* actuator = &def->sensors[i].actuator.index1;
        *tendon = rgMovedBehind(*tendon, tendons, def->tendonCount);
        *actuator = rgMovedBehind(*actuator, actuators, def->actuatorCount);
    }
    rgMoveBehind(def->tendons, sizeof(*def->tendons), tendons, def->tendonCount);
    rgMoveBehind(def->actuators, sizeof(*def->actuators), actuators, def->actuatorCount);
    rgMoveBehind(def->equalities, sizeof(*def->equalities), m->attached.equalities,
                 def->equalityCount);
    rgMoveBehind(def->sensors, sizeof(*def->sensors), m->attached.sensors, def->sensorCount);
}
