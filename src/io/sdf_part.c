// Everything of an SDF file that has a frame, in the order of the file: models, links, joints and
// frames, those of included files too; and their names.
#include "io/sdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// prefix + name + "::" where wanted, in the arena.
static const char* rgSdf_Join(rgSdf* sdf, const char* prefix, const char* name, const char* end) {
    size_t capacity = strlen(prefix) + strlen(name) + strlen(end) + 1;
    char* text = rgArena_Take(&sdf->arena, capacity, 1);
    if (text == NULL) {
        sdf->result = rg_errorMemory;
        return "";
    }
    snprintf(text, capacity, "%s%s%s", prefix, name, end);
    return text;
}

// A new part; -1 when there is no room for it.
static int rgSdf_Add(rgSdf* sdf, rgSdfKind kind, const rgXmlNode* node, const char* name, int scope,
                     int model) {
    int index = sdf->partCount;
    if (index >= RG_SDF_MAX_PARTS) {
        rgXmlReader_Error(&sdf->xml, node, "there are more than %d links, joints and frames",
                          RG_SDF_MAX_PARTS);
        return -1;
    }
    if (rgReserve(&sdf->def->allocator, (void**)&sdf->parts, &sdf->partCapacity, index, index + 1,
                  sizeof(rgSdfPart)) != rg_ok) {
        sdf->result = rg_errorMemory;
        return -1;
    }
    const rgSdfPart* holder = &sdf->parts[scope];
    rgSdfPart part = {.kind = kind,
                      .node = node,
                      .name = name,
                      .scope = scope,
                      .model = model,
                      .version = sdf->version,
                      .pose = rgXmlNode_Child(node, "pose"),
                      .prefix = "",
                      .link = -1,
                      .treeJoint = -1,
                      .firstChild = -1,
                      .lastChild = -1,
                      .nextChild = -1,
                      .parent = -1,
                      .child = -1,
                      .isStatic = index > 0 && holder->isStatic};
    part.fullName = index > 0 ? rgSdf_Join(sdf, holder->prefix, name, "") : name;
    sdf->parts[index] = part;
    sdf->partCount += 1;
    return index;
}

static const char* rgSdf_Name(rgSdf* sdf, const rgXmlNode* node) {
    const char* name = rgXmlReader_Required(&sdf->xml, node, "name");
    if (name == NULL) {
        return "";
    }
    bool isWorld = strcmp(name, "world") == 0, isLink = strcmp(node->name, "link") == 0;
    bool reserved = (isWorld && !isLink) || strstr(name, "::") != NULL ||
                    (strlen(name) >= 4 && strncmp(name, "__", 2) == 0 &&
                     strcmp(name + strlen(name) - 2, "__") == 0);
    if (isWorld && isLink) {
        rgXmlReader_Warn(&sdf->xml, node,
                         "a link may not be called 'world': here it is a separate link, to which "
                         "joints of its model refer by that name");
    }
    if (reserved) {
        rgXmlReader_Error(&sdf->xml, node, "the name '%.60s' of <%s> is reserved", name,
                          node->name);
    }
    return name;
}

static void rgSdf_CollectContents(rgSdf* sdf, const rgXmlNode* node, int scope, int model);

static void rgSdf_CheckModel(rgSdf* sdf, const rgXmlNode* node) {
    static const char* const knownAttributes[] = {"name", "canonical_link", "placement_frame",
                                                  "xmlns", NULL};
    static const char* const known[] = {"static", "self_collide", "pose",    "link", "joint",
                                        "frame",  "model",        "include", NULL};
    static const char* const skipped[] = {"plugin",
                                          "its parts stay passive",
                                          "gripper",
                                          "it cannot hold objects",
                                          "allow_auto_disable",
                                          "sleep is an option of the world",
                                          "enable_wind",
                                          "!there is no wind",
                                          NULL};
    rgXmlReader_CheckAttributes(&sdf->xml, node, knownAttributes);
    rgSdf_CheckChildren(sdf, node, known, skipped);
}

// A model, its own or of an included file. `include` may override name, pose, static and placement.
static void rgSdf_CollectModel(rgSdf* sdf, const rgXmlNode* node, const rgXmlNode* include,
                               int scope, int model, bool lone) {
    rgSdf_CheckModel(sdf, node);
    const char* own = rgSdf_Name(sdf, node);
    const char* given = include != NULL ? rgSdf_Text(include, "name") : NULL;
    int index = rgSdf_Add(sdf, rg_sdfModel, node, given != NULL ? given : own, scope, model);
    if (index < 0 || sdf->result != rg_ok) {
        return;
    }
    rgSdfPart* part = &sdf->parts[index];
    bool isStatic = false;
    rgSdf_Bool(sdf, node, "static", &isStatic);
    part->placement = rgXmlNode_Attribute(node, "placement_frame");
    rgSdf_Bool(sdf, node, "self_collide", &part->selfCollides);
    if (include != NULL) {
        rgSdf_Bool(sdf, include, "static", &isStatic);
        const rgXmlNode* pose = rgXmlNode_Child(include, "pose");
        const char* placement = rgSdf_Text(include, "placement_frame");
        part->pose = pose != NULL ? pose : part->pose;
        part->placement = placement != NULL ? placement : part->placement;
    }
    part->isStatic = part->isStatic || isStatic;
    part->prefix = lone ? "" : rgSdf_Join(sdf, part->fullName, "::", "");
    rgSdf_CollectContents(sdf, node, index, index);
}

// Merge the parts of an included model into the model that includes it. A frame replaces its own.
static void rgSdf_MergeModel(rgSdf* sdf, const rgXmlNode* node, const rgXmlNode* include, int scope,
                             int model) {
    rgSdf_CheckModel(sdf, node);
    const char* name = rgSdf_Join(sdf, "_merged__", rgSdf_Name(sdf, node), "__model__");
    int index = rgSdf_Add(sdf, rg_sdfFrame, node, name, scope, model);
    if (index < 0 || sdf->result != rg_ok) {
        return;
    }
    rgSdfPart* part = &sdf->parts[index];
    const rgXmlNode* pose = rgXmlNode_Child(include, "pose");
    const char* placement = rgSdf_Text(include, "placement_frame");
    part->pose = pose != NULL ? pose : part->pose;
    part->placement = placement != NULL ? placement : rgXmlNode_Attribute(node, "placement_frame");
    rgSdf_CollectContents(sdf, node, scope, index);
}

static void rgSdf_CollectInclude(rgSdf* sdf, const rgXmlNode* include, int scope, int model,
                                 bool lone) {
    static const char* const knownAttributes[] = {"merge", NULL};
    static const char* const known[] = {"uri", "name", "pose", "static", "placement_frame", NULL};
    static const char* const skipped[] = {"plugin", "its parts stay passive", "experimental:params",
                                          "parts stay as the file has them", NULL};
    rgXmlReader_CheckAttributes(&sdf->xml, include, knownAttributes);
    rgSdf_CheckChildren(sdf, include, known, skipped);
    if (sdf->depth >= RG_SDF_MAX_DEPTH) {
        rgXmlReader_Error(&sdf->xml, include, "<include>: more than %d files deep",
                          RG_SDF_MAX_DEPTH);
        return;
    }
    int version = sdf->version;
    bool merge = false;
    rgXmlReader_Bool(&sdf->xml, include, "merge", &merge);
    const rgXmlNode* node = rgSdf_Included(sdf, include);
    sdf->depth += 1;
    if (node != NULL && merge && scope > 0) {
        rgSdf_MergeModel(sdf, node, include, scope, model);
    } else if (node != NULL) {
        rgSdf_CollectModel(sdf, node, include, scope, model, lone);
    }
    sdf->depth -= 1;
    sdf->version = version;
}

// A link called world that holds nothing is the world itself, which joints name so.
static bool rgSdf_MeansWorld(rgSdf* sdf, const rgXmlNode* link) {
    const char* name = rgXmlNode_Attribute(link, "name");
    if (name == NULL || strcmp(name, "world") != 0 || link->firstChild != NULL) {
        return false;
    }
    rgXmlReader_Warn(&sdf->xml, link, "a link may not be called 'world': it is the world itself");
    return true;
}

static void rgSdf_CollectContents(rgSdf* sdf, const rgXmlNode* node, int scope, int model) {
    for (const rgXmlNode* at = node->firstChild; at != NULL; at = at->next) {
        if (sdf->result != rg_ok || sdf->xml.errorCount >= RG_XML_MAX_REMARKS) {
            return;
        }
        if (strcmp(at->name, "link") == 0 && scope > 0 && !rgSdf_MeansWorld(sdf, at)) {
            rgSdf_Add(sdf, rg_sdfLink, at, rgSdf_Name(sdf, at), scope, model);
        } else if (strcmp(at->name, "joint") == 0) {
            rgSdf_Add(sdf, rg_sdfJoint, at, rgSdf_Name(sdf, at), scope, model);
        } else if (strcmp(at->name, "frame") == 0) {
            rgSdf_Add(sdf, rg_sdfFrame, at, rgSdf_Name(sdf, at), scope, model);
        } else if (strcmp(at->name, "model") == 0) {
            rgSdf_CollectModel(sdf, at, NULL, scope, model, false);
        } else if (strcmp(at->name, "include") == 0) {
            rgSdf_CollectInclude(sdf, at, scope, model, false);
        }
    }
}

void rgSdf_Collect(rgSdf* sdf, const rgXmlNode* root) {
    const rgXmlNode* world = rgXmlNode_Child(root, "world");
    int index = rgSdf_Add(sdf, rg_sdfModel, world != NULL ? world : root, "world", 0, 0);
    if (index < 0) {
        return;
    }
    sdf->parts[0].resolved = true;
    sdf->parts[0].link = 0;
    sdf->parts[0].world = rgPoseIdentity();
    if (world != NULL) {
        rgSdf_CollectContents(sdf, world, 0, 0);
        return;
    }
    int count = 0;
    for (const rgXmlNode* at = root->firstChild; at != NULL; at = at->next) {
        count += strcmp(at->name, "model") == 0 || strcmp(at->name, "include") == 0;
    }
    for (const rgXmlNode* at = root->firstChild; at != NULL; at = at->next) {
        if (strcmp(at->name, "model") == 0) {
            rgSdf_CollectModel(sdf, at, NULL, 0, 0, count == 1);
        } else if (strcmp(at->name, "include") == 0) {
            rgSdf_CollectInclude(sdf, at, 0, 0, count == 1);
        }
    }
}

// Sort key: scope, name, kind, place. The table comes first, as qsort has no context.
typedef struct rgSdfKey {
    int scope;
    const char* name;
    rgSdfKind kind;
    int index;
} rgSdfKey;

static int rgCompareKeys(const void* a, const void* b) {
    const rgSdfKey* x = a;
    const rgSdfKey* y = b;
    if (x->scope != y->scope) {
        return x->scope < y->scope ? -1 : 1;
    }
    int order = strcmp(x->name, y->name);
    if (order != 0) {
        return order;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

void rgSdf_SortNames(rgSdf* sdf) {
    int count = sdf->partCount;
    rgSdfKey* keys = RG_TAKE(&sdf->arena, rgSdfKey, count);
    sdf->order = RG_TAKE(&sdf->arena, int, count);
    if (keys == NULL || sdf->order == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    for (int i = 0; i < count; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        keys[i] = (rgSdfKey){i > 0 ? part->scope : -1, part->name, part->kind, i};
    }
    qsort(keys, (size_t)count, sizeof(rgSdfKey), rgCompareKeys);
    for (int i = 0; i < count; ++i) {
        sdf->order[i] = keys[i].index;
        bool twice = i > 0 && keys[i].scope == keys[i - 1].scope &&
                     keys[i].kind == keys[i - 1].kind && keys[i].name[0] != '\0' &&
                     strcmp(keys[i].name, keys[i - 1].name) == 0;
        if (twice) {
            const rgSdfPart* part = &sdf->parts[keys[i].index];
            rgXmlReader_Error(&sdf->xml, part->node,
                              "the %s name '%.60s' is already used on line %d", part->node->name,
                              part->name, sdf->parts[keys[i - 1].index].node->line);
        }
    }
}

// The first part of a scope with this name of a given length.
static int rgSdf_FindIn(const rgSdf* sdf, int scope, const char* name, size_t length) {
    int low = 1, high = sdf->partCount; // the world is first
    while (low < high) {
        int middle = low + (high - low) / 2;
        const rgSdfPart* part = &sdf->parts[sdf->order[middle]];
        int order = part->scope != scope ? (part->scope < scope ? -1 : 1)
                                         : strncmp(part->name, name, length);
        if (order == 0 && part->name[length] != '\0') {
            order = 1;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low >= sdf->partCount) {
        return -1;
    }
    const rgSdfPart* part = &sdf->parts[sdf->order[low]];
    bool found = part->scope == scope && strncmp(part->name, name, length) == 0 &&
                 part->name[length] == '\0';
    return found ? sdf->order[low] : -1;
}

int rgSdf_Find(const rgSdf* sdf, const rgSdfPart* from, const char* name) {
    if (strcmp(name, "__model__") == 0) {
        return from->model;
    }
    if (strcmp(name, "world") == 0) {
        return RG_MAX(rgSdf_FindIn(sdf, from->scope, name, strlen(name)),
                      0); // a link, or the world
    }
    int scope = from->scope;
    for (const char* colons = strstr(name, "::"); colons != NULL; colons = strstr(name, "::")) {
        scope = rgSdf_FindIn(sdf, scope, name, (size_t)(colons - name));
        if (scope < 0 || sdf->parts[scope].kind != rg_sdfModel) {
            return -1;
        }
        name = colons + 2;
    }
    return strcmp(name, "__model__") == 0 ? scope : rgSdf_FindIn(sdf, scope, name, strlen(name));
}
