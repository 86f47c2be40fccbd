// MJCF <compiler>, <option>, and included files.
#include "io/mjcf.h"

#include <string.h>

#define RG_MJCF_TIME_STEP 2e-3 // [s] if a file sets none

static void rgMjcf_ReadEulerSequence(rgMjcf* m, const rgXmlNode* node) {
    const char* value = rgXmlNode_Attribute(node, "eulerseq");
    if (value == NULL) {
        return;
    }
    if (strlen(value) != 3 || strspn(value, "xyzXYZ") != 3) {
        rgXmlReader_Error(&m->reader, node,
                          "<compiler eulerseq>: '%.20s' is not three of the letters xyzXYZ", value);
        return;
    }
    memcpy(m->compiler.eulerSequence, value, 4);
}

static void rgMjcf_ReadAngle(rgMjcf* m, const rgXmlNode* node) {
    static const rgXmlWord angles[] = {{"degree", 0}, {"radian", 1}, {NULL, 0}};
    int radian = 0;
    if (rgXmlReader_Word(&m->reader, node, "angle", angles, &radian)) {
        m->compiler.angleScale = radian ? 1 : 3.14159265358979323846 / 180;
    }
    static const rgXmlWord coordinates[] = {{"local", 0}, {"global", 1}, {NULL, 0}};
    int global = 0;
    if (rgXmlReader_Word(&m->reader, node, "coordinate", coordinates, &global) && global) {
        rgXmlReader_Error(&m->reader, node,
                          "<compiler coordinate>: 'global' is no longer part of MJCF");
    }
}

static void rgMjcf_ReadCompilerNode(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {"autolimits",
                                        "boundmass",
                                        "boundinertia",
                                        "settotalmass",
                                        "balanceinertia",
                                        "strippath",
                                        "coordinate",
                                        "angle",
                                        "fitaabb",
                                        "eulerseq",
                                        "meshdir",
                                        "texturedir",
                                        "discardvisual",
                                        "usethread",
                                        "fusestatic",
                                        "inertiafromgeom",
                                        "inertiagrouprange",
                                        "exactmeshinertia",
                                        "assetdir",
                                        "alignfree",
                                        "saveinertial",
                                        "convexhull",
                                        NULL};
    rgXmlReader* r = &m->reader;
    rgMjCompiler* c = &m->compiler;
    rgXmlReader_CheckAttributes(r, node, known);
    rgMjcf_ReadAngle(m, node);
    rgMjcf_ReadEulerSequence(m, node);
    rgMjcf_Flag(m, node, "autolimits", &c->autoLimits);
    rgMjcf_Flag(m, node, "balanceinertia", &c->balanceInertia);
    rgMjcf_Flag(m, node, "strippath", &c->stripPath);
    rgXmlReader_Word(r, node, "inertiafromgeom", rgMjAutoWords, &c->inertiaFromGeom);
    rgXmlReader_Ints(r, node, "inertiagrouprange", c->groupRange, 2, 2);
    rgXmlReader_Double(r, node, "boundmass", &c->boundMass);
    rgXmlReader_Double(r, node, "boundinertia", &c->boundInertia);
    rgXmlReader_Double(r, node, "settotalmass", &c->totalMass);
    const char* assetDir = rgXmlNode_Attribute(node, "assetdir");
    const char* meshDir = rgXmlNode_Attribute(node, "meshdir");
    c->meshDir = meshDir != NULL ? meshDir : assetDir != NULL ? assetDir : c->meshDir;
    rgMjcf_Flag(m, node, "fitaabb", &c->fitsBounds);
}

void rgMjcf_ReadCompiler(rgMjcf* m, const rgXmlNode* root) {
    m->compiler = (rgMjCompiler){.angleScale = 3.14159265358979323846 / 180,
                                 .eulerSequence = "xyz",
                                 .autoLimits = true,
                                 .inertiaFromGeom = rg_mjInertiaAuto,
                                 .groupRange = {0, 5},
                                 .totalMass = -1};
    for (const rgXmlNode* node = rgXmlNode_Child(root, "compiler"); node != NULL;
         node = rgXmlNode_Next(node, "compiler")) {
        rgMjcf_ReadCompilerNode(m, node);
    }
}

static void rgMjcf_ReadDisabledGroups(rgMjcf* m, const rgXmlNode* node) {
    int groups[32];
    int count = rgXmlReader_Ints(&m->reader, node, "actuatorgroupdisable", groups, 1, 32);
    m->disabledGroups = count > 0 ? 0 : m->disabledGroups;
    for (int i = 0; i < count; ++i) {
        if (groups[i] < 0 || groups[i] > 30) {
            rgXmlReader_Error(&m->reader, node,
                              "<option actuatorgroupdisable>: %d is not between 0 and 30",
                              groups[i]);
            return;
        }
        m->disabledGroups |= 1u << groups[i];
    }
}

static void rgMjcf_ReadCollision(rgMjcf* m, const rgXmlNode* node) {
    static const rgXmlWord words[] = {{"all", rg_mjCollideAll},
                                      {"predefined", rg_mjCollidePairs},
                                      {"dynamic", rg_mjCollideMasks},
                                      {NULL, 0}};
    rgXmlReader_Word(&m->reader, node, "collision", words, &m->collision);
}

// MuJoCo's Euler is ours. Its others treat velocities implicitly, or are of higher order: nearest
// is the midpoint rule, which does the former and is of second order.
static void rgMjcf_ReadIntegrator(rgMjcf* m, const rgXmlNode* node, rgModelOptions* options) {
    const char* name = rgXmlNode_Attribute(node, "integrator");
    if (name == NULL) {
        return;
    }
    bool euler = strcmp(name, "Euler") == 0;
    if (!euler && strcmp(name, "RK4") != 0 && strcmp(name, "implicit") != 0 &&
        strcmp(name, "implicitfast") != 0) {
        rgXmlReader_Error(&m->reader, node,
                          "<option integrator>: '%s' is none of Euler, RK4, "
                          "implicit, implicitfast",
                          name);
        return;
    }
    options->integrator = euler ? rg_integratorEuler : rg_integratorMidpoint;
    rgXmlReader_Note(&m->reader, node, "<option integrator>: '%s' becomes '%s'", name,
                     euler ? "euler" : "midpoint");
}

static void rgMjcf_ReadOptionNode(rgMjcf* m, const rgXmlNode* node, rgModelOptions* options) {
    // Those that are not read here are settings of MuJoCo's own solver.
    static const char* const known[] = {"timestep",
                                        "apirate",
                                        "impratio",
                                        "tolerance",
                                        "ls_tolerance",
                                        "noslip_tolerance",
                                        "ccd_tolerance",
                                        "mpr_tolerance",
                                        "sleep_tolerance",
                                        "gravity",
                                        "wind",
                                        "magnetic",
                                        "density",
                                        "viscosity",
                                        "o_margin",
                                        "o_solref",
                                        "o_solimp",
                                        "o_friction",
                                        "integrator",
                                        "collision",
                                        "cone",
                                        "jacobian",
                                        "solver",
                                        "iterations",
                                        "ls_iterations",
                                        "noslip_iterations",
                                        "ccd_iterations",
                                        "mpr_iterations",
                                        "sdf_iterations",
                                        "sdf_initpoints",
                                        "actuatorgroupdisable",
                                        NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_CheckChildren(&m->reader, node, (const char* const[]){"flag", NULL});
    rgMjcf_ReadCollision(m, node);
    rgMjcf_ReadDisabledGroups(m, node);
    double gravity[3], magnetic[3], wind[3];
    options->source = rgMjcf_Source(node);
    if (rgXmlReader_Doubles(&m->reader, node, "magnetic", magnetic, 3, 3) == 3) {
        options->magnetic = rgVec(magnetic[0], magnetic[1], magnetic[2]);
    }
    if (rgXmlReader_Doubles(&m->reader, node, "gravity", gravity, 3, 3) == 3) {
        options->gravity = rgVec(gravity[0], gravity[1], gravity[2]);
        options->hasGravity = true;
    }
    if (rgXmlReader_Doubles(&m->reader, node, "wind", wind, 3, 3) == 3) {
        options->wind = rgVec(wind[0], wind[1], wind[2]);
    }
    rgXmlReader_Double(&m->reader, node, "density", &options->density);
    rgXmlReader_Double(&m->reader, node, "viscosity", &options->viscosity);
    if (options->density < 0 || options->viscosity < 0) {
        rgXmlReader_Error(&m->reader, node, "<option>: density or viscosity is negative");
    }
    if (rgXmlReader_Double(&m->reader, node, "timestep", &options->timeStep)) {
        options->impliedTimeStep = false;
        if (!(options->timeStep > 0)) {
            rgXmlReader_Error(&m->reader, node, "<option timestep>: %g is not positive",
                              options->timeStep);
        }
    }
    rgMjcf_ReadIntegrator(m, node, options);
    const rgXmlNode* flags = rgXmlNode_Child(node, "flag");
    if (flags != NULL) {
        rgMjcf_ReadFlags(m, flags);
    }
}

void rgMjcf_ReadOption(rgMjcf* m, const rgXmlNode* root) {
    rgModelOptions options = {.gravity = {0, 0, -9.81},
                              .timeStep = RG_MJCF_TIME_STEP,
                              .impliedTimeStep = true,
                              .magnetic = {0, -0.5, 0}};
    for (const rgXmlNode* node = rgXmlNode_Child(root, "option"); node != NULL;
         node = rgXmlNode_Next(node, "option")) {
        rgMjcf_ReadOptionNode(m, node, &options);
    }
    rgModelDef_SetOptions(m->def, &options);
}

// Files that are being or were included; a file may come in once.
typedef struct rgMjIncludes {
    const char* paths[256];
    int count;
    int depth; // depth of elements, included files as if they stood in place
} rgMjIncludes;

static const char* rgMjcf_IncludePath(rgMjcf* m, const rgXmlNode* node, rgMjIncludes* includes) {
    const char* file = rgXmlReader_Required(&m->reader, node, "file");
    char path[RG_PATH_LENGTH];
    if (file == NULL) {
        return NULL;
    }
    bool fits = rgJoinPath(m->folder, file, path);
    if (fits && !rgFileExists(path)) {
        // Not beside the main file: perhaps beside the one that includes it.
        char folder[RG_PATH_LENGTH], beside[RG_PATH_LENGTH];
        if (node->file != NULL && rgPathFolder(node->file, folder) &&
            rgJoinPath(folder, file, beside) && rgFileExists(beside)) {
            memcpy(path, beside, sizeof(path));
        }
    }
    if (!fits || includes->count == RG_COUNT(includes->paths)) {
        rgXmlReader_Error(&m->reader, node, "<include file>: too long a name or too many files");
        return NULL;
    }
    for (int i = 0; i < includes->count; ++i) {
        if (strcmp(includes->paths[i], path) == 0) {
            rgXmlReader_Error(&m->reader, node, "<include file>: '%.200s' is included twice", file);
            return NULL;
        }
    }
    bool failed = false;
    const char* kept = rgKeepString(&m->arena, path, &failed);
    if (failed) {
        rgMjcf_Check(m, rg_errorMemory);
        return NULL;
    }
    includes->paths[includes->count++] = kept;
    return kept;
}

static void rgMjcf_IncludeIn(rgMjcf* m, rgXmlNode* parent, rgMjIncludes* includes);

static void rgMjcf_IncludeFile(rgMjcf* m, rgXmlNode* node, rgMjIncludes* includes) {
    const char* path = rgMjcf_IncludePath(m, node, includes);
    if (path == NULL) {
        return;
    }
    rgXmlNode* root = NULL;
    rgResult result = rgXmlTree_Load(m->tree, path, m->reader.diagnostics, &root);
    if (result != rg_ok) {
        rgXmlReader_Error(&m->reader, node, "<include file>: '%.200s' cannot be included", path);
        return;
    }
    if (strcmp(root->name, "mujocoinclude") != 0 && strcmp(root->name, "mujoco") != 0) {
        rgXmlReader_Error(&m->reader, root, "<%.60s>: an included file starts with <mujocoinclude>",
                          root->name);
        return;
    }
    rgMjcf_IncludeIn(m, root, includes);
    rgXmlNode_ReplaceByChildren(node, root);
}

static void rgMjcf_IncludeIn(rgMjcf* m, rgXmlNode* parent, rgMjIncludes* includes) {
    if (++includes->depth > RG_XML_MAX_DEPTH) {
        rgXmlReader_Error(&m->reader, parent, "<%.60s>: elements are nested more than %d deep",
                          parent->name, RG_XML_MAX_DEPTH);
    }
    for (rgXmlNode* child = parent->firstChild; child != NULL && !rgMjcf_Failed(m);) {
        rgXmlNode* next = child->next;
        if (strcmp(child->name, "include") == 0) {
            rgMjcf_IncludeFile(m, child, includes);
        } else {
            rgMjcf_IncludeIn(m, child, includes);
        }
        child = next;
    }
    includes->depth -= 1;
}

void rgMjcf_Include(rgMjcf* m, rgXmlNode* root) {
    rgMjIncludes includes = {.count = 0};
    if (root->file != NULL) {
        includes.paths[includes.count++] = root->file;
    }
    rgMjcf_IncludeIn(m, root, &includes);
}
