// URDF into a model definition: collect links and joints, check that they form a tree, then add
// bodies depth first, the children of a link in the order of the file. See docs/formats/urdf.md.
#include "io/urdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rgUrdf_Suggest(rgUrdf* urdf, const rgIndexedName* names, int count, const char* name,
                    char out[100]) {
    rgArenaMark mark = rgArena_Mark(&urdf->arena);
    const char** known = RG_TAKE(&urdf->arena, const char*, RG_MAX(count, 1));
    for (int i = 0; known != NULL && i < count; ++i) {
        known[i] = names[i].name;
    }
    rgDidYouMean(name, known, known != NULL ? count : 0, out);
    rgArena_Return(&urdf->arena, mark);
}

static int rgCountChildren(const rgXmlNode* node, const char* name) {
    int count = 0;
    for (const rgXmlNode* at = rgXmlNode_Child(node, name); at != NULL;
         at = rgXmlNode_Next(at, name)) {
        ++count;
    }
    return count;
}

static void* rgUrdf_Allocate(rgUrdf* urdf, int count, size_t size) {
    void* memory = rgArena_Take(&urdf->arena, (size_t)RG_MAX(count, 1), size);
    if (memory == NULL) {
        urdf->result = rg_errorMemory;
        return NULL;
    }
    return memset(memory, 0, (size_t)RG_MAX(count, 1) * size);
}

// The name of a link, joint or material; "" and an error without one.
static const char* rgUrdf_Name(rgUrdf* urdf, const rgXmlNode* node) {
    const char* name = rgXmlReader_Required(&urdf->xml, node, "name");
    return name != NULL ? name : "";
}

// Sort names; report those that occur twice, at the later place.
static void rgUrdf_SortUnique(rgUrdf* urdf, rgIndexedName* names, int count,
                              const rgXmlNode* const* nodes) {
    rgSortNames(names, count);
    for (int i = 1; i < count; ++i) {
        if (names[i].name[0] != '\0' && strcmp(names[i].name, names[i - 1].name) == 0) {
            urdf->hasDuplicates = true;
            const rgXmlNode* node = nodes[names[i].index];
            rgXmlReader_Error(&urdf->xml, node, "the %s name '%.60s' is already used on line %d",
                              node->name, names[i].name, nodes[names[i - 1].index]->line);
        }
    }
}

// Names and nodes of all elements of one kind. NULL: out of memory.
static const rgXmlNode** rgUrdf_Collect(rgUrdf* urdf, const char* kind, int* count,
                                        rgIndexedName** names) {
    *count = rgCountChildren(urdf->root, kind);
    const rgXmlNode** nodes = rgUrdf_Allocate(urdf, *count, sizeof(rgXmlNode*));
    *names = rgUrdf_Allocate(urdf, *count, sizeof(rgIndexedName));
    if (nodes == NULL || *names == NULL) {
        return NULL;
    }
    int i = 0;
    for (const rgXmlNode* at = rgXmlNode_Child(urdf->root, kind); at != NULL;
         at = rgXmlNode_Next(at, kind)) {
        nodes[i] = at;
        (*names)[i] = (rgIndexedName){.name = rgUrdf_Name(urdf, at), .index = i};
        ++i;
    }
    return nodes;
}

// Visuals that define a colour where they name it serve others too.
static int rgUrdf_VisualMaterials(rgUrdf* urdf, const rgXmlNode** nodes) {
    int count = 0;
    for (const rgXmlNode* link = rgXmlNode_Child(urdf->root, "link"); link != NULL;
         link = rgXmlNode_Next(link, "link")) {
        for (const rgXmlNode* visual = rgXmlNode_Child(link, "visual"); visual != NULL;
             visual = rgXmlNode_Next(visual, "visual")) {
            const rgXmlNode* material = rgXmlNode_Child(visual, "material");
            bool defines = material != NULL && rgXmlNode_Child(material, "color") != NULL &&
                           rgXmlNode_Attribute(material, "name") != NULL;
            if (defines && nodes != NULL) {
                nodes[count] = material;
            }
            count += defines;
        }
    }
    return count;
}

static void rgUrdf_CollectMaterials(rgUrdf* urdf) {
    int globalCount = 0;
    rgIndexedName* globalNames = NULL;
    const rgXmlNode** globals = rgUrdf_Collect(urdf, "material", &globalCount, &globalNames);
    int count = globalCount + rgUrdf_VisualMaterials(urdf, NULL);
    urdf->materials = rgUrdf_Allocate(urdf, count, sizeof(rgXmlNode*));
    urdf->materialNames = rgUrdf_Allocate(urdf, count, sizeof(rgIndexedName));
    if (urdf->result != rg_ok) {
        return;
    }
    float ignored[4];
    for (int i = 0; i < globalCount; ++i) {
        urdf->materials[i] = globals[i];
        rgReadUrdfColor(&urdf->xml, globals[i], ignored);
    }
    rgUrdf_SortUnique(urdf, globalNames, globalCount, globals);
    rgUrdf_VisualMaterials(urdf, urdf->materials + globalCount);
    for (int i = 0; i < count; ++i) {
        const char* name = rgXmlNode_Attribute(urdf->materials[i], "name");
        urdf->materialNames[i] = (rgIndexedName){.name = name != NULL ? name : "", .index = i};
    }
    rgSortNames(urdf->materialNames, count);
    urdf->materialCount = count;
}

// The elements <gazebo reference="LINK">, by link.
static void rgUrdf_CollectGazebo(rgUrdf* urdf) {
    int count = rgCountChildren(urdf->root, "gazebo");
    urdf->gazebos = rgUrdf_Allocate(urdf, count, sizeof(*urdf->gazebos));
    urdf->gazeboNames = rgUrdf_Allocate(urdf, count, sizeof(rgIndexedName));
    if (urdf->gazebos == NULL || urdf->gazeboNames == NULL) {
        return;
    }
    for (const rgXmlNode* node = rgXmlNode_Child(urdf->root, "gazebo"); node != NULL;
         node = rgXmlNode_Next(node, "gazebo")) {
        const char* link = rgXmlNode_Attribute(node, "reference");
        int i = urdf->gazeboCount++;
        urdf->gazebos[i] = node;
        urdf->gazeboNames[i] = (rgIndexedName){.name = link != NULL ? link : "", .index = i};
    }
    rgSortNames(urdf->gazeboNames, urdf->gazeboCount);
}

static void rgUrdf_CheckLink(rgUrdf* urdf, const rgXmlNode* node) {
    static const char* const knownAttributes[] = {"name", "type", NULL};
    static const char* const known[] = {"inertial", "visual", "collision", "contact", NULL};
    static const char* const single[] = {"inertial", NULL};
    rgXmlReader_CheckAttributes(&urdf->xml, node, knownAttributes);
    rgXmlReader_CheckChildren(&urdf->xml, node, known);
    rgCheckUrdfSingle(&urdf->xml, node, single);
}

// Joints that start at a link 'world' that is nowhere declared mean the world itself.
static bool rgUrdf_ImpliesWorld(const rgUrdf* urdf) {
    for (const rgXmlNode* link = rgXmlNode_Child(urdf->root, "link"); link != NULL;
         link = rgXmlNode_Next(link, "link")) {
        const char* name = rgXmlNode_Attribute(link, "name");
        if (name != NULL && strcmp(name, "world") == 0) {
            return false;
        }
    }
    for (const rgXmlNode* joint = rgXmlNode_Child(urdf->root, "joint"); joint != NULL;
         joint = rgXmlNode_Next(joint, "joint")) {
        const rgXmlNode* parent = rgXmlNode_Child(joint, "parent");
        const char* name = parent != NULL ? rgXmlNode_Attribute(parent, "link") : NULL;
        if (name != NULL && strcmp(name, "world") == 0) {
            return true;
        }
    }
    return false;
}

static void rgUrdf_DeclareWorld(rgUrdf* urdf) {
    rgXmlAttribute* name = rgUrdf_Allocate(urdf, 1, sizeof(rgXmlAttribute));
    rgXmlNode* link = rgUrdf_Allocate(urdf, 1, sizeof(rgXmlNode));
    if (name != NULL && link != NULL && rgUrdf_ImpliesWorld(urdf)) {
        *name = (rgXmlAttribute){.name = "name", .value = "world"};
        *link = (rgXmlNode){.name = "link",
                            .file = urdf->root->file,
                            .line = urdf->root->line,
                            .attributeCount = 1,
                            .attributes = name};
        rgXmlNode_Append(urdf->root, link);
        rgXmlReader_Note(&urdf->xml, urdf->root,
                         "the link 'world' is not declared: it is the world itself");
    }
}

static void rgUrdf_CollectLinks(rgUrdf* urdf) {
    rgUrdf_DeclareWorld(urdf);
    const rgXmlNode** nodes = rgUrdf_Collect(urdf, "link", &urdf->linkCount, &urdf->linkNames);
    urdf->links = rgUrdf_Allocate(urdf, urdf->linkCount, sizeof(rgUrdfLink));
    if (nodes == NULL || urdf->links == NULL) {
        return;
    }
    for (int i = 0; i < urdf->linkCount; ++i) {
        urdf->links[i] = (rgUrdfLink){.name = urdf->linkNames[i].name,
                                      .node = nodes[i],
                                      .parentJoint = -1,
                                      .firstJoint = -1,
                                      .lastJoint = -1};
        rgUrdf_CheckLink(urdf, nodes[i]);
        rgUrdf_ReadInertial(urdf, &urdf->links[i]);
    }
    rgUrdf_SortUnique(urdf, urdf->linkNames, urdf->linkCount, nodes);
}

static void rgUrdf_CollectJoints(rgUrdf* urdf) {
    const rgXmlNode** nodes = rgUrdf_Collect(urdf, "joint", &urdf->jointCount, &urdf->jointNames);
    urdf->joints = rgUrdf_Allocate(urdf, urdf->jointCount, sizeof(rgUrdfJoint));
    if (nodes == NULL || urdf->joints == NULL) {
        return;
    }
    for (int i = 0; i < urdf->jointCount; ++i) {
        urdf->joints[i] =
            (rgUrdfJoint){.name = urdf->jointNames[i].name, .node = nodes[i], .next = -1};
        rgUrdf_ReadJoint(urdf, &urdf->joints[i]);
    }
    rgUrdf_SortUnique(urdf, urdf->jointNames, urdf->jointCount, nodes);
}

// Add a joint to the list of its parent link, and claim its child. False after an error.
static bool rgUrdf_ConnectJoint(rgUrdf* urdf, int index) {
    rgUrdfJoint* joint = &urdf->joints[index];
    if (joint->parent < 0 || joint->child < 0) {
        return false;
    }
    rgUrdfLink* child = &urdf->links[joint->child];
    if (child->parentCount++ > 0) {
        const rgUrdfJoint* other = &urdf->joints[child->parentJoint];
        rgXmlReader_Error(&urdf->xml, joint->node,
                          "link '%.60s' is the child of joint '%.60s' and of joint '%.60s' (line "
                          "%d): a loop, which URDF cannot express",
                          child->name, joint->name, other->name, other->node->line);
        return false;
    }
    child->parentJoint = index;
    rgUrdfLink* parent = &urdf->links[joint->parent];
    if (parent->lastJoint >= 0) {
        urdf->joints[parent->lastJoint].next = index;
    } else {
        parent->firstJoint = index;
    }
    parent->lastJoint = index;
    return true;
}

// The only link that is no joint's child. -1 and an error when there is none or another.
static int rgUrdf_FindRoot(rgUrdf* urdf) {
    int root = -1;
    for (int i = 0; i < urdf->linkCount; ++i) {
        if (urdf->links[i].parentCount > 0) {
            continue;
        }
        if (root >= 0) {
            rgXmlReader_Error(&urdf->xml, urdf->links[i].node,
                              "link '%.60s' has no parent, and neither has '%.60s' (line %d): a "
                              "robot has one root",
                              urdf->links[i].name, urdf->links[root].name,
                              urdf->links[root].node->line);
            return -1;
        }
        root = i;
    }
    if (root < 0) {
        rgXmlReader_Error(&urdf->xml, urdf->root,
                          urdf->linkCount == 0 ? "the robot has no link"
                                               : "the joints form a cycle: no link is the root");
    }
    return root;
}

// The link after this one, depth first; -1 at the end.
static int rgUrdf_NextLink(const rgUrdf* urdf, int link) {
    if (urdf->links[link].firstJoint >= 0) {
        return urdf->joints[urdf->links[link].firstJoint].child;
    }
    while (link != urdf->rootLink) {
        const rgUrdfJoint* joint = &urdf->joints[urdf->links[link].parentJoint];
        if (joint->next >= 0) {
            return urdf->joints[joint->next].child;
        }
        link = joint->parent;
    }
    return -1;
}

// Report links that the root does not reach: they are part of a cycle, or descend from one.
static void rgUrdf_CheckReached(rgUrdf* urdf) {
    for (int link = urdf->rootLink; link >= 0; link = rgUrdf_NextLink(urdf, link)) {
        urdf->links[link].reached = true;
    }
    for (int i = 0; i < urdf->linkCount; ++i) {
        if (!urdf->links[i].reached) {
            const rgUrdfJoint* joint = &urdf->joints[urdf->links[i].parentJoint];
            rgXmlReader_Error(&urdf->xml, joint->node,
                              "joint '%.60s' is in a cycle, or below one: it is not connected to "
                              "the root '%.60s'",
                              joint->name, urdf->links[urdf->rootLink].name);
            return;
        }
    }
}

static void rgUrdf_BuildTree(rgUrdf* urdf) {
    bool connected = true;
    for (int i = 0; i < urdf->jointCount; ++i) {
        connected = rgUrdf_ConnectJoint(urdf, i) && connected;
    }
    // Joints without parent or child have been reported; messages about the roots that they leave
    // would only confuse.
    urdf->rootLink = connected && !urdf->hasDuplicates ? rgUrdf_FindRoot(urdf) : -1;
    if (urdf->rootLink >= 0) {
        urdf->worldRoot = strcmp(urdf->links[urdf->rootLink].name, "world") == 0;
        rgUrdf_CheckReached(urdf);
    }
}

static const rgUrdfJoint* rgUrdf_ParentJoint(const rgUrdf* urdf, const rgUrdfLink* link) {
    return link->parentJoint >= 0 ? &urdf->joints[link->parentJoint] : NULL;
}

// A free joint for the root, called root_joint as other tools do.
static void rgUrdf_FloatRoot(rgUrdf* urdf, const rgUrdfLink* link) {
    char name[32] = "root_joint";
    for (int i = 1; rgFindName(urdf->jointNames, urdf->jointCount, name) >= 0; ++i) {
        snprintf(name, sizeof(name), "root_joint_%d", i);
    }
    rgJointDef def = rgDefaultJointDef();
    def.name = name;
    def.body = link->body;
    def.kind = rg_jointFree;
    def.source = (rgSource){.file = link->node->file, .line = link->node->line};
    urdf->result = rgModelDef_AddJoint(urdf->model, &def, NULL);
}

static void rgUrdf_AddLink(rgUrdf* urdf, rgUrdfLink* link) {
    rgUrdfJoint* joint = link->parentJoint >= 0 ? &urdf->joints[link->parentJoint] : NULL;
    bool isWorld = joint == NULL && urdf->worldRoot;
    if (!isWorld) {
        rgBodyDef def = rgDefaultBodyDef();
        def.name = link->name;
        def.inertia = link->inertia;
        def.source = (rgSource){.file = link->node->file, .line = link->node->line};
        if (joint != NULL) {
            def.parent = urdf->links[joint->parent].body;
            def.pose = rgUrdf_Origin(urdf, joint->node);
        }
        urdf->result = rgModelDef_AddBody(urdf->model, &def, &link->body);
    }
    if (urdf->result != rg_ok) {
        return;
    }
    if (joint != NULL) {
        rgUrdf_AddJoint(urdf, joint, link->body);
    } else if (!isWorld && urdf->def->base == rg_baseFloating) {
        rgUrdf_FloatRoot(urdf, link);
    }
    rgUrdf_AddShapes(urdf, link);
}

// Find groups of fixed links: group[i] is the link that carries link i, -1 for the world.
static void rgUrdf_FindGroups(rgUrdf* urdf) {
    int* group = rgUrdf_Allocate(urdf, urdf->linkCount, sizeof(int));
    if (group == NULL) {
        return;
    }
    bool moves = false;
    bool floats = urdf->def->base == rg_baseFloating && !urdf->worldRoot;
    // Parents come before their children, so that groups pass down.
    for (int i = urdf->rootLink; i >= 0; i = rgUrdf_NextLink(urdf, i)) {
        const rgUrdfJoint* joint = rgUrdf_ParentJoint(urdf, &urdf->links[i]);
        if (joint == NULL) {
            group[i] = floats ? i : -1;
        } else {
            group[i] = rgUrdfJoint_Moves(urdf, joint) ? i : group[joint->parent];
        }
        urdf->links[i].carrier = group[i];
        urdf->links[i].isBare = group[i] == i;
        moves = moves || group[i] >= 0;
        if (group[i] >= 0 && urdf->links[i].hasInertia) {
            urdf->links[group[i]].isBare = false;
        }
    }
    for (int i = urdf->rootLink; i >= 0; i = rgUrdf_NextLink(urdf, i)) {
        bool isBase = moves && urdf->links[i].inertia.mass > 0;
        urdf->links[i].isScenery = group[i] < 0 && !isBase;
    }
}

// A request for a floating base when the root is the world: its one fixed joint becomes free.
static void rgUrdf_CheckBase(rgUrdf* urdf) {
    if (urdf->def->base != rg_baseFloating || !urdf->worldRoot) {
        return;
    }
    const rgUrdfLink* root = &urdf->links[urdf->rootLink];
    if (root->firstJoint < 0 || root->firstJoint != root->lastJoint) {
        rgXmlReader_Error(&urdf->xml, root->node,
                          "a floating base is requested, but not exactly one joint starts at the "
                          "link 'world'");
        return;
    }
    const rgUrdfJoint* joint = &urdf->joints[root->firstJoint];
    if (joint->type == rg_urdfFixed) {
        rgXmlReader_Note(&urdf->xml, joint->node,
                         "joint '%.60s' is made free, as a floating base is requested",
                         joint->name);
    }
}

static void rgUrdf_AddTree(rgUrdf* urdf) {
    for (int i = urdf->rootLink; i >= 0 && urdf->result == rg_ok; i = rgUrdf_NextLink(urdf, i)) {
        rgUrdf_AddLink(urdf, &urdf->links[i]);
    }
    int count = 0;
    int* order = rgUrdf_Allocate(urdf, urdf->linkCount, sizeof(int));
    for (int i = urdf->rootLink; i >= 0 && order != NULL; i = rgUrdf_NextLink(urdf, i)) {
        order[count++] = i;
    }
    if (urdf->result == rg_ok && urdf->xml.errorCount == 0) {
        rgUrdf_AddInertias(urdf, order, count);
    }
    for (int i = 0; i < urdf->jointCount && urdf->result == rg_ok; ++i) {
        rgUrdf_AddMimic(urdf, &urdf->joints[i]);
    }
}

// Elements of other programs are skipped, with one note for each kind.
// <rigor friction_rule="...">, which URDF has no word for.
static void rgUrdf_ReadOwn(rgUrdf* urdf) {
    static const char* const known[] = {"friction_rule", NULL};
    const rgXmlNode* own = rgXmlNode_Child(urdf->root, "rigor");
    int rule = rg_frictionUnset;
    if (own != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, own, known);
        rgXmlReader_Word(&urdf->xml, own, "friction_rule", rgFrictionRuleWords, &rule);
        urdf->frictionRule = (rgFrictionRule)rule;
    }
}

static void rgUrdf_CheckRoot(rgUrdf* urdf) {
    static const char* const knownAttributes[] = {"name", "version", NULL};
    static const char* const known[] = {"link",         "joint",  "material", "transmission",
                                        "ros2_control", "gazebo", "mujoco",   "sensor",
                                        "rigor",        NULL};
    static const char* const skipped[] = {"transmission", "ros2_control", "gazebo",
                                          "mujoco",       "sensor",       NULL};
    rgXmlReader_CheckAttributes(&urdf->xml, urdf->root, knownAttributes);
    rgXmlReader_CheckChildren(&urdf->xml, urdf->root, known);
    for (int i = 0; skipped[i] != NULL; ++i) {
        const rgXmlNode* first = rgXmlNode_Child(urdf->root, skipped[i]);
        if (first != NULL) {
            bool gazebo = strcmp(skipped[i], "gazebo") == 0; // surfaces are read
            rgXmlReader_Note(&urdf->xml, first, "<%s> is skipped%s (%d in the file)", skipped[i],
                             gazebo ? " but for surfaces of links" : "",
                             rgCountChildren(urdf->root, skipped[i]));
        }
    }
    rgUrdf_ReadOwn(urdf);
}

// The element after this one in the file, at any depth.
static const rgXmlNode* rgNextElement(const rgXmlNode* node, const rgXmlNode* root) {
    if (node->firstChild != NULL) {
        return node->firstChild;
    }
    while (node != root && node->next == NULL) {
        node = node->parent;
    }
    return node != root ? node->next : NULL;
}

static bool rgIsXacro(const rgXmlNode* node) {
    if (strncmp(node->name, "xacro:", 6) == 0) {
        return true;
    }
    for (int i = 0; i < node->attributeCount; ++i) {
        const char* value = node->attributes[i].value;
        if (strstr(value, "${") != NULL || strstr(value, "$(") != NULL) {
            return true;
        }
    }
    return false;
}

static bool rgUrdf_RefuseXacro(rgUrdf* urdf) {
    for (const rgXmlNode* node = urdf->root; node != NULL; node = rgNextElement(node, urdf->root)) {
        if (rgIsXacro(node)) {
            rgXmlReader_Error(&urdf->xml, node,
                              "this is a xacro file; expand it to a URDF file first: "
                              "xacro FILE > robot.urdf");
            return true;
        }
    }
    return false;
}

static void rgUrdf_Run(rgUrdf* urdf) {
    if (rgUrdf_RefuseXacro(urdf)) {
        return;
    }
    rgUrdf_CheckRoot(urdf);
    const char* name = rgXmlNode_Attribute(urdf->root, "name");
    if (name == NULL || name[0] == '\0') {
        rgXmlReader_Warn(&urdf->xml, urdf->root, "the robot has no name");
    }
    rgModelDef_SetName(urdf->model, name != NULL ? name : "");
    rgUrdf_CollectMaterials(urdf);
    rgUrdf_CollectGazebo(urdf);
    rgUrdf_CollectLinks(urdf);
    if (urdf->result == rg_ok) {
        rgUrdf_CollectJoints(urdf);
    }
    if (urdf->result == rg_ok) {
        rgUrdf_BuildTree(urdf);
    }
    // Shapes and joints are read even when the tree has a mistake, as long as there is a tree.
    if (urdf->result == rg_ok && urdf->rootLink >= 0) {
        rgUrdf_CheckBase(urdf);
        rgUrdf_FindGroups(urdf);
        rgUrdf_AddTree(urdf);
    }
}

rgResult rgReadUrdf(rgXmlTree* tree, rgXmlNode* root, const rgLoadDef* def,
                    rgDiagnostics* diagnostics, rgModelDef** model) {
    (void)tree;
    rgUrdf urdf = {.xml = {.diagnostics = diagnostics, .strict = def->strict},
                   .def = def,
                   .root = root,
                   .rootLink = -1};
    rgResult result = rgCreateModelDef(&def->allocator, &urdf.model);
    if (result != rg_ok) {
        return result;
    }
    rgArena_Init(&urdf.arena, &def->allocator);
    rgLinkMeshes_Init(&urdf.meshes, &urdf.xml, def, &urdf.arena);
    rgUrdf_Run(&urdf);
    rgLinkMeshes_Free(&urdf.meshes);
    rgArena_Free(&urdf.arena);
    result = urdf.result != rg_ok ? urdf.result : urdf.xml.errorCount > 0 ? rg_errorFormat : rg_ok;
    if (result != rg_ok) {
        rgDestroyModelDef(urdf.model);
        return result;
    }
    *model = urdf.model;
    return rg_ok;
}
