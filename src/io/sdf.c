// SDF, Gazebo's format, into a model definition: collect everything that has a frame, find where it
// is, make trees of the links by their joints, then add bodies depth first. See
// docs/formats/sdf.md.
#include "io/sdf.h"

#include "rigor/inertia.h"

#include <stdio.h>
#include <string.h>

#define RG_SDF_MAX_EXCLUDED 1000 // links of one model between which contacts are excluded

static void rgSdf_ReadPhysics(rgSdf* sdf, const rgXmlNode* world, rgModelOptions* options) {
    static const char* const known[] = {"max_step_size",         "gravity",      "real_time_factor",
                                        "real_time_update_rate", "max_contacts", NULL};
    static const char* const solver[] = {
        "ode",         "it sets up Gazebo's solver",         "bullet", "it sets up Gazebo's solver",
        "simbody",     "it sets up Gazebo's solver",         "dart",   "it sets up Gazebo's solver",
        "update_rate", "steps are as long as max_step_size", NULL};
    const rgXmlNode* node = rgXmlNode_Child(world, "physics");
    for (const rgXmlNode* at = node; at != NULL; at = rgXmlNode_Next(at, "physics")) {
        const char* chosen = rgXmlNode_Attribute(at, "default");
        if (chosen != NULL && (strcmp(chosen, "true") == 0 || strcmp(chosen, "1") == 0)) {
            node = at;
        }
    }
    if (node == NULL) {
        return;
    }
    rgSdf_CheckChildren(sdf, node, known, solver);
    double step = 0;
    if (rgSdf_NotNegative(sdf, node, "max_step_size", &step)) {
        options->timeStep = step;
    }
    rgSdf_Vector(sdf, node, "gravity", &options->gravity); // before SDF 1.6
}

static void rgSdf_ReadWorld(rgSdf* sdf, const rgXmlNode* world) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {"model",
                                        "include",
                                        "gravity",
                                        "physics",
                                        "frame",
                                        "joint",
                                        "light",
                                        "scene",
                                        "gui",
                                        "magnetic_field",
                                        "spherical_coordinates",
                                        "audio",
                                        "road",
                                        "atmosphere",
                                        NULL};
    static const char* const skipped[] = {"plugin",
                                          "its parts stay passive",
                                          "actor",
                                          "!it is not there",
                                          "population",
                                          "!its models are not there",
                                          "wind",
                                          "!there is no wind",
                                          "state",
                                          "!models stand where <model> puts them",
                                          "particle_emitter",
                                          "particles are not shown",
                                          NULL};
    rgModelOptions options = {.gravity = rgVec(0, 0, -9.8), .hasGravity = true}; // default of SDF
    options.source = (rgSource){.file = world->file, .line = world->line};
    rgXmlReader_CheckAttributes(&sdf->xml, world, knownAttributes);
    rgSdf_CheckChildren(sdf, world, known, skipped);
    rgSdf_ReadPhysics(sdf, world, &options);
    rgSdf_Vector(sdf, world, "gravity", &options.gravity);
    rgModelDef_SetOptions(sdf->model, &options);
}

static void rgSdf_ReadRoot(rgSdf* sdf, const rgXmlNode* root) {
    static const char* const known[] = {"world", "model", "include", "light", NULL};
    static const char* const skipped[] = {"actor", "!it is not there", NULL};
    sdf->version = rgSdf_ReadVersion(sdf, root);
    rgSdf_CheckChildren(sdf, root, known, skipped);
    const rgXmlNode* world = rgXmlNode_Child(root, "world");
    const rgXmlNode* model = rgXmlNode_Child(root, "model");
    if (world == NULL && model == NULL && rgXmlNode_Child(root, "include") == NULL) {
        rgXmlReader_Error(&sdf->xml, root, "there is neither a <world> nor a <model>");
    }
    if (world != NULL && rgXmlNode_Next(world, "world") != NULL) {
        rgXmlReader_Warn(&sdf->xml, rgXmlNode_Next(world, "world"),
                         "only the first <world> is read");
    }
    if (world != NULL && model != NULL) {
        rgXmlReader_Warn(&sdf->xml, model, "a <model> beside the <world> is left out");
    }
    const rgXmlNode* named = world != NULL ? world : model;
    const char* name = named != NULL ? rgXmlNode_Attribute(named, "name") : NULL;
    rgModelDef_SetName(sdf->model, name != NULL ? name : "");
    if (world != NULL) {
        rgSdf_ReadWorld(sdf, world);
    }
}

static void rgSdf_CheckLink(rgSdf* sdf, const rgSdfPart* link) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {"pose",         "inertial",          "collision",
                                        "visual",       "gravity",           "light",
                                        "self_collide", "must_be_base_link", NULL};
    static const char* const skipped[] = {"sensor",
                                          "no sensor is made",
                                          "projector",
                                          "nothing is projected",
                                          "audio_source",
                                          "there is no sound",
                                          "audio_sink",
                                          "there is no sound",
                                          "battery",
                                          "nothing runs out",
                                          "particle_emitter",
                                          "particles are not shown",
                                          "plugin",
                                          "its parts stay passive",
                                          "kinematic",
                                          "!the link moves as forces make it",
                                          "velocity_decay",
                                          "!nothing slows the link but friction and damping",
                                          "enable_wind",
                                          "!there is no wind",
                                          NULL};
    rgXmlReader_CheckAttributes(&sdf->xml, link->node, knownAttributes);
    rgSdf_CheckChildren(sdf, link->node, known, skipped);
}

// A free joint, as models that no joint holds move freely.
static void rgSdf_AddFree(rgSdf* sdf, const rgSdfPart* link) {
    size_t length = strlen(link->fullName) + 16;
    char* name = rgArena_Take(&sdf->arena, length, 1);
    if (name == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    snprintf(name, length, "%s::free", link->fullName);
    rgJointDef def = rgDefaultJointDef();
    def.name = name;
    def.body = link->body;
    def.kind = rg_jointFree;
    def.source = (rgSource){.file = link->node->file, .line = link->node->line};
    sdf->result = rgModelDef_AddJoint(sdf->model, &def, NULL);
}

static int rgSdf_TreeParent(const rgSdf* sdf, const rgSdfPart* link) {
    if (link->treeJoint < 0) {
        return 0;
    }
    const rgSdfPart* joint = &sdf->parts[link->treeJoint];
    return &sdf->parts[joint->parent] != link ? joint->parent : joint->child;
}

// True if nothing moves it: judged before its shapes are read, parents first.
static bool rgSdf_IsStatic(const rgSdf* sdf, const rgSdfPart* link) {
    if (link->isStatic) {
        return true;
    }
    if (link->treeJoint < 0) {
        return sdf->def->base == rg_baseFixed;
    }
    int parent = rgSdf_TreeParent(sdf, link);
    bool held = parent == 0 || sdf->parts[parent].isStatic;
    return held && sdf->parts[link->treeJoint].type == rg_sdfFixed;
}

// Topmost link of the link's tree, which rests on the world.
static int rgSdf_TreeRoot(const rgSdf* sdf, const rgSdfPart* link) {
    int parent = rgSdf_TreeParent(sdf, link);
    while (parent != 0) {
        link = &sdf->parts[parent];
        parent = rgSdf_TreeParent(sdf, link);
    }
    return (int)(link - sdf->parts);
}

// Base of a robot: it has a mass, and a part that moves is mounted on its tree.
static bool rgSdf_IsBase(const rgSdf* sdf, const rgSdfPart* link) {
    bool moves = false;
    int root = rgSdf_TreeRoot(sdf, link);
    for (int i = 0; i < sdf->partCount && !moves; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        moves = part->kind == rg_sdfLink && part->treeJoint >= 0 &&
                sdf->parts[part->treeJoint].type != rg_sdfFixed &&
                rgSdf_TreeRoot(sdf, part) == root;
    }
    return moves && rgXmlNode_Child(link->node, "inertial") != NULL;
}

// A root whose mass is written as 0 stands on the world, as Bullet has it.
static bool rgSdf_IsPinned(rgSdf* sdf, const rgSdfPart* link) {
    double mass = 1;
    const rgXmlNode* node = rgXmlNode_Child(link->node, "inertial");
    const rgXmlNode* value = node != NULL ? rgXmlNode_Child(node, "mass") : NULL;
    bool isRoot = link->treeJoint < 0 && !link->isStatic && sdf->def->base == rg_baseFromFile;
    return isRoot && value != NULL && rgXmlReader_Text(&sdf->xml, value, &mass) && mass == 0;
}

static void rgSdf_AddBody(rgSdf* sdf, rgSdfPart* link) {
    bool isAuto = false, gravity = true;
    const rgSdfPart* parent = &sdf->parts[rgSdf_TreeParent(sdf, link)];
    if (rgSdf_IsPinned(sdf, link)) {
        rgXmlReader_Warn(&sdf->xml, link->node,
                         "link '%.60s' has mass 0 and no parent: it is fixed to the world",
                         link->fullName);
        link->isStatic = true;
    }
    bool isFree = link->treeJoint < 0 && !link->isStatic && sdf->def->base != rg_baseFixed;
    rgSdf_CheckLink(sdf, link);
    bool isPlaced = link->isStatic; // by a model that is static
    link->isStatic = rgSdf_IsStatic(sdf, link);
    link->isScenery = link->isStatic && (isPlaced || !rgSdf_IsBase(sdf, link));
    rgBodyDef def = rgDefaultBodyDef();
    def.name = link->fullName;
    def.parent = parent->body;
    def.pose = rgPoseMultiply(rgPoseInvert(parent->world), link->world);
    def.inertia = rgSdf_ReadInertial(sdf, link, &isAuto);
    rgSdf_Bool(sdf, link->node, "gravity", &gravity);
    def.gravityCompensation = gravity ? 0 : 1;
    def.source = (rgSource){.file = link->node->file, .line = link->node->line};
    sdf->result = rgModelDef_AddBody(sdf->model, &def, &link->body);
    if (sdf->result == rg_ok && link->treeJoint >= 0) {
        rgSdf_AddJoint(sdf, link);
    } else if (sdf->result == rg_ok && isFree) {
        rgSdf_AddFree(sdf, link);
    }
    rgInertia sum = {0};
    if (sdf->result == rg_ok) {
        rgSdf_AddShapes(sdf, link, isAuto ? &sum : NULL);
    }
    if (sdf->result == rg_ok && isAuto) {
        def.inertia = sum;
        sdf->result = rgModelDef_SetBody(sdf->model, link->body, &def);
    }
}

// The link after this one, depth first; -1 at the end of the tree.
static int rgSdf_NextLink(const rgSdf* sdf, int link, int root) {
    if (sdf->parts[link].firstChild >= 0) {
        return sdf->parts[link].firstChild;
    }
    while (link != root) {
        if (sdf->parts[link].nextChild >= 0) {
            return sdf->parts[link].nextChild;
        }
        link = rgSdf_TreeParent(sdf, &sdf->parts[link]);
    }
    return -1;
}

// Trees in the order of their roots: links without a tree joint, or with one to the world.
static void rgSdf_AddTrees(rgSdf* sdf) {
    for (int i = 1; i < sdf->partCount; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        bool isRoot =
            part->kind == rg_sdfLink && (part->treeJoint < 0 || rgSdf_TreeParent(sdf, part) == 0);
        for (int link = isRoot ? i : -1; link >= 0 && sdf->result == rg_ok;
             link = rgSdf_NextLink(sdf, link, i)) {
            rgSdf_AddBody(sdf, &sdf->parts[link]);
        }
    }
}

// Exclude collisions between links of a model unless it allows them.
static void rgSdf_ExcludeWithin(rgSdf* sdf, int model) {
    int count = 0;
    for (int i = model + 1; i < sdf->partCount && sdf->parts[i].scope >= model; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        count += part->kind == rg_sdfLink && part->scope == model && part->collides;
    }
    int* links = RG_TAKE(&sdf->arena, int, RG_MAX(count, 1));
    if (links == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    if (count > RG_SDF_MAX_EXCLUDED) {
        rgXmlReader_Warn(&sdf->xml, sdf->parts[model].node,
                         "model '%.60s' has %d links that collide, and they may meet: beyond %d, "
                         "they are not told apart",
                         sdf->parts[model].fullName, count, RG_SDF_MAX_EXCLUDED);
        return;
    }
    count = 0;
    for (int i = model + 1; i < sdf->partCount && sdf->parts[i].scope >= model; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        if (part->kind == rg_sdfLink && part->scope == model && part->collides) {
            links[count++] = i;
        }
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < i && sdf->result == rg_ok; ++j) {
            sdf->result = rgModelDef_ExcludePair(sdf->model, sdf->parts[links[j]].body,
                                                 sdf->parts[links[i]].body);
        }
    }
}

static void rgSdf_AddFrame(rgSdf* sdf, const rgSdfPart* part) {
    const rgSdfPart* link = &sdf->parts[part->link];
    rgFrameDef def = rgDefaultFrameDef();
    def.name = part->fullName;
    def.body = link->body;
    def.pose = rgPoseMultiply(rgPoseInvert(link->world), part->world);
    def.source = (rgSource){.file = part->node->file, .line = part->node->line};
    sdf->result = rgModelDef_AddFrame(sdf->model, &def, NULL);
}

static void rgSdf_AddRest(rgSdf* sdf) {
    static const char* const frameAttributes[] = {"name", "attached_to", NULL};
    static const char* const frameElements[] = {"pose", NULL};
    for (int i = 1; i < sdf->partCount && sdf->result == rg_ok; ++i) {
        const rgSdfPart* part = &sdf->parts[i];
        if (part->kind == rg_sdfJoint) {
            if (sdf->def->base == rg_baseFloating && part->type == rg_sdfFixed &&
                part->parent == 0) {
                rgXmlReader_Note(&sdf->xml, part->node,
                                 "joint '%.60s' is left out, as a floating base is requested",
                                 part->fullName);
            }
            rgSdf_AddLoop(sdf, part);
            rgSdf_AddMimic(sdf, part);
        } else if (part->kind == rg_sdfModel && !part->isStatic && !part->selfCollides) {
            rgSdf_ExcludeWithin(sdf, i);
        } else if (part->kind == rg_sdfFrame && strcmp(part->node->name, "frame") == 0) {
            rgXmlReader_CheckAttributes(&sdf->xml, part->node, frameAttributes);
            rgXmlReader_CheckChildren(&sdf->xml, part->node, frameElements);
            rgSdf_AddFrame(sdf, part);
        }
    }
}

// Warn about attributes of elements that hold values: none is known. Elements that are skipped as a
// whole are not checked.
static void rgSdf_CheckRest(rgSdf* sdf, const rgXmlNode* node) {
    static const char* const skipped[] = {"plugin",
                                          "sensor",
                                          "light",
                                          "actor",
                                          "gui",
                                          "scene",
                                          "state",
                                          "population",
                                          "material",
                                          "physics",
                                          "road",
                                          "wind",
                                          "gripper",
                                          "atmosphere",
                                          "projector",
                                          "audio_source",
                                          "battery",
                                          "audio",
                                          "audio_sink",
                                          "spherical_coordinates",
                                          "particle_emitter",
                                          "magnetic_field"};
    for (int i = 0; i < RG_COUNT(skipped); ++i) {
        if (strcmp(node->name, skipped[i]) == 0) {
            return;
        }
    }
    if (!node->isChecked && strchr(node->name, ':') == NULL) {
        rgXmlReader_CheckAttributes(&sdf->xml, node, NULL);
    }
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        rgSdf_CheckRest(sdf, child); // depth <= XML's
    }
}

static void rgSdf_Run(rgSdf* sdf, const rgXmlNode* root) {
    rgSdf_ReadRoot(sdf, root);
    rgSdf_Collect(sdf, root);
    if (sdf->result != rg_ok || sdf->partCount == 0) {
        return;
    }
    rgSdf_SortNames(sdf);
    if (sdf->result != rg_ok) {
        return;
    }
    for (int i = 1; i < sdf->partCount; ++i) {
        if (sdf->parts[i].kind == rg_sdfJoint) {
            rgSdf_ReadJoint(sdf, &sdf->parts[i]);
        }
    }
    rgSdf_Resolve(sdf);
    // Without every name and every frame there is no tree.
    if (sdf->result != rg_ok || sdf->xml.errorCount > 0) {
        return;
    }
    rgSdf_BuildTree(sdf);
    if (sdf->xml.errorCount == 0) {
        rgSdf_AddTrees(sdf);
        rgSdf_AddRest(sdf);
        rgSdf_CheckRest(sdf, root);
        for (int i = 0; i < sdf->includedCount; ++i) {
            rgSdf_CheckRest(sdf, sdf->roots[i]);
        }
    }
}

rgResult rgReadSdf(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                   rgDiagnostics* diagnostics, rgModelDef** model) {
    rgSdf sdf = {
        .xml = {.diagnostics = diagnostics, .strict = def->strict}, .tree = tree, .def = def};
    rgResult result = rgCreateModelDef(&def->allocator, &sdf.model);
    if (result != rg_ok) {
        return result;
    }
    rgArena_Init(&sdf.arena, &def->allocator);
    rgLinkMeshes_Init(&sdf.meshes, &sdf.xml, def, &sdf.arena);
    rgSdf_Run(&sdf, root);
    rgLinkMeshes_Free(&sdf.meshes);
    rgRelease(&def->allocator, sdf.parts);
    rgRelease(&def->allocator, sdf.included);
    rgRelease(&def->allocator, sdf.roots);
    rgArena_Free(&sdf.arena);
    result = sdf.result != rg_ok ? sdf.result : sdf.xml.errorCount > 0 ? rg_errorFormat : rg_ok;
    if (result != rg_ok) {
        rgDestroyModelDef(sdf.model);
        return result;
    }
    *model = sdf.model;
    return rg_ok;
}
