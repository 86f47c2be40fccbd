// rigor check: content of a robot description, and its faults.
#include "check.h"

#include <string.h>

static const char* const jointNames[] = {"fixed",     "revolute", "prismatic",
                                         "spherical", "free",     "planar"};
static const char* const shapeNames[] = {"none", "plane",     "sphere", "capsule",      "cylinder",
                                         "box",  "ellipsoid", "hull",   "height field", "mesh"};
enum {
    rg_jointKinds = sizeof(jointNames) / sizeof(jointNames[0]),
    rg_shapeKinds = sizeof(shapeNames) / sizeof(shapeNames[0])
};

#define RG_COUNTED_SHAPES 5000 // up to which their pairs are counted, a tenth of a second

// Number of parts of each kind in a model.
typedef struct rgModelCounts {
    rgModelInfo info;
    int joints[rg_jointKinds];
    int collisions[rg_shapeKinds];
    int visuals[rg_shapeKinds];
    int collisionCount, visualCount;
    int pairCount; // number of pairs of shapes that may collide; -1: not counted
    int rules[rg_frictionMaximum + 1]; // number of colliding shapes per rule of friction
    int softCount;                     // shapes that collide and are compliant
    double softest, stiffest;          // range of the stiffness of compliant shapes [N/m]
} rgModelCounts;

static int rgCountPairs(const rgModel* model, int shapeCount) {
    int count = 0;
    for (int i = 1; i <= shapeCount; ++i) {
        for (int j = i + 1; j <= shapeCount; ++j) {
            count += rgModel_ShapesMeet(model, (rgShapeId){i}, (rgShapeId){j});
        }
    }
    return count;
}

static rgModelCounts rgCountModel(const rgModel* model) {
    rgModelCounts counts = {.info = rgModel_Info(model)};
    for (int i = 1; i <= counts.info.jointCount; ++i) {
        ++counts.joints[rgModel_Joint(model, (rgJointId){i})->kind];
    }
    for (int i = 1; i <= counts.info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(model, (rgShapeId){i});
        ++(shape->visualOnly ? counts.visuals : counts.collisions)[shape->kind];
        ++*(shape->visualOnly ? &counts.visualCount : &counts.collisionCount);
        rgFrictionRule rule = shape->material.frictionRule;
        counts.rules[rule == rg_frictionUnset ? rg_frictionGeometric : rule] += !shape->visualOnly;
        double stiffness = shape->material.stiffness;
        if (stiffness > 0 && !shape->visualOnly) {
            bool first = counts.softCount++ == 0;
            counts.softest = first || stiffness < counts.softest ? stiffness : counts.softest;
            counts.stiffest = first || stiffness > counts.stiffest ? stiffness : counts.stiffest;
        }
    }
    counts.pairCount = counts.info.shapeCount <= RG_COUNTED_SHAPES
                           ? rgCountPairs(model, counts.info.shapeCount)
                           : -1;
    return counts;
}

static void rgPrintKinds(const char* label, int total, const int* counts, const char* const* names,
                         int kindCount) {
    printf("  %-12s %d", label, total);
    const char* separator = " (";
    for (int i = 0; i < kindCount; ++i) {
        if (counts[i] > 0) {
            printf("%s%d %s", separator, counts[i], names[i]);
            separator = ", ";
        }
    }
    printf("%s\n", separator[0] == ',' ? ")" : "");
}

static void rgPrintCount(const char* label, int count) {
    if (count > 0) {
        printf("  %-12s %d\n", label, count);
    }
}

// Rule of friction of the shapes that collide; "mixed" if their rules differ.
static const char* rgModelCounts_Rule(const rgModelCounts* counts) {
    int used = 0, last = rg_frictionGeometric;
    for (int i = 0; i <= rg_frictionMaximum; ++i) {
        used += counts->rules[i] > 0;
        last = counts->rules[i] > 0 ? i : last;
    }
    return used > 1 ? "mixed" : rgFrictionRuleNames[last];
}

static void rgPrintModelCounts(const char* path, const rgModelCounts* counts) {
    const rgModelInfo* info = &counts->info;
    rgCli_Print(stdout, "%s: %s\n", path, info->name[0] != '\0' ? info->name : "(no name)");
    printf("  %-12s %d\n", "bodies", info->bodyCount);
    rgPrintKinds("joints", info->jointCount, counts->joints, jointNames, rg_jointKinds);
    printf("  %-12s %d, %d\n", "nq, nv", info->qCount, info->vCount);
    printf("  %-12s %.6g kg", "mass", info->mass);
    if (info->staticMass > 0) {
        printf(" and %.6g kg fixed to the world", info->staticMass);
    }
    printf("\n");
    rgPrintKinds("collisions", counts->collisionCount, counts->collisions, shapeNames,
                 rg_shapeKinds);
    rgPrintKinds("visuals", counts->visualCount, counts->visuals, shapeNames, rg_shapeKinds);
    if (counts->pairCount >= 0) {
        printf("  %-12s %d of shapes may collide\n", "pairs", counts->pairCount);
    } else {
        printf("  %-12s not counted among %d shapes\n", "pairs", counts->info.shapeCount);
    }
    printf("  %-12s of a pair: %s\n", "friction", rgModelCounts_Rule(counts));
    if (counts->softCount > 0 && counts->softest == counts->stiffest) {
        printf("  %-12s %.4g N/m per point for %d shapes, rigid for %d\n", "contacts",
               counts->softest, counts->softCount, counts->collisionCount - counts->softCount);
    } else if (counts->softCount > 0) {
        printf("  %-12s %.4g to %.4g N/m per point for %d shapes, rigid for %d\n", "contacts",
               counts->softest, counts->stiffest, counts->softCount,
               counts->collisionCount - counts->softCount);
    } else {
        printf("  %-12s rigid\n", "contacts");
    }
    rgPrintCount("tendons", info->tendonCount);
    rgPrintCount("actuators", info->actuatorCount);
    rgPrintCount("equalities", info->equalityCount);
    rgPrintCount("sensors", info->sensorCount);
    rgPrintCount("keys", info->keyCount);
}

static void rgWriteKinds(rgJson* json, const char* key, const int* counts, const char* const* names,
                         int kindCount) {
    rgJson_BeginObject(json, key);
    for (int i = 0; i < kindCount; ++i) {
        if (counts[i] > 0) {
            rgJson_Int(json, names[i], counts[i]);
        }
    }
    rgJson_EndObject(json);
}

static void rgWriteModelCounts(rgJson* json, const rgModelCounts* counts) {
    const rgModelInfo* info = &counts->info;
    rgJson_String(json, "name", info->name);
    rgJson_Int(json, "bodies", info->bodyCount);
    rgJson_Int(json, "joints", info->jointCount);
    rgWriteKinds(json, "jointKinds", counts->joints, jointNames, rg_jointKinds);
    rgJson_Int(json, "nq", info->qCount);
    rgJson_Int(json, "nv", info->vCount);
    rgJson_Number(json, "mass", info->mass);
    rgJson_Number(json, "staticMass", info->staticMass);
    rgJson_Int(json, "shapes", info->shapeCount);
    rgWriteKinds(json, "collisionKinds", counts->collisions, shapeNames, rg_shapeKinds);
    rgWriteKinds(json, "visualKinds", counts->visuals, shapeNames, rg_shapeKinds);
    if (counts->pairCount >= 0) {
        rgJson_Int(json, "pairs", counts->pairCount);
    }
    rgJson_String(json, "frictionRule", rgModelCounts_Rule(counts));
    rgJson_Int(json, "softShapes", counts->softCount);
    if (counts->softCount > 0) {
        rgJson_Number(json, "softest", counts->softest);
        rgJson_Number(json, "stiffest", counts->stiffest);
    }
    rgJson_Int(json, "tendons", info->tendonCount);
    rgJson_Int(json, "actuators", info->actuatorCount);
    rgJson_Int(json, "equalities", info->equalityCount);
    rgJson_Int(json, "sensors", info->sensorCount);
    rgJson_Int(json, "keys", info->keyCount);
}

// Meshes that collide from one side only, since they have a border.
static int rgOpenTriangles(const rgShapeDef* shape) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = shape->kind;
    def.mesh = shape->mesh;
    rgGeometry* geometry = NULL;
    bool mesh = shape->kind == rg_shapeMesh && !shape->visualOnly;
    if (!mesh || rgCreateGeometry(&def, NULL, &geometry) != rg_ok) {
        return 0;
    }
    int count = rgGeometry_OpenTriangleCount(geometry);
    rgDestroyGeometry(geometry);
    return count;
}

static void rgCheckOpenMeshes(const rgModel* model, rgJson* json) {
    if (json != NULL) {
        rgJson_BeginArray(json, "openMeshes");
    }
    for (int i = 1; i <= rgModel_Info(model).shapeCount; ++i) {
        char text[80];
        int count = rgOpenTriangles(rgModel_Shape(model, (rgShapeId){i}));
        const char* name = rgShapeLabel(model, (rgShapeId){i}, text);
        if (count > 0 && json == NULL) {
            rgCli_Print(stdout,
                        "  %-12s '%s' is open (%d triangles): it stops bodies only on the side "
                        "that its triangles face; --sheet T makes it T m thick\n",
                        "mesh", name, count);
        } else if (count > 0) {
            rgJson_BeginObject(json, NULL);
            rgJson_String(json, "shape", name);
            rgJson_Int(json, "triangles", count);
            rgJson_EndObject(json);
        }
    }
    if (json != NULL) {
        rgJson_EndArray(json);
    }
}

// The body's shapes; whether none of them meets one of the other body's.
static bool rgNeverMeet(const rgModel* model, int a, int b) {
    int pairs = 0, shapeCount = rgModel_Info(model).shapeCount;
    for (int i = 1; i <= shapeCount; ++i) {
        const rgShapeDef* A = rgModel_Shape(model, (rgShapeId){i});
        for (int j = 1; j <= shapeCount && A->body.index1 == a && !A->visualOnly; ++j) {
            const rgShapeDef* B = rgModel_Shape(model, (rgShapeId){j});
            if (B->body.index1 == b && !B->visualOnly) {
                ++pairs;
                if (rgModel_ShapesMeet(model, (rgShapeId){i}, (rgShapeId){j})) {
                    return false;
                }
            }
        }
    }
    return pairs > 0;
}

// Bases that are fixed to the world do not collide with the first link on them.
static void rgCheckBases(const rgModel* model, rgJson* json) {
    if (json != NULL) {
        rgJson_BeginArray(json, "filteredBases");
    }
    for (int b = 1; b <= rgModel_Info(model).bodyCount; ++b) {
        const rgBodyDef* body = rgModel_Body(model, (rgBodyId){b});
        int base = body->parent.index1;
        bool first = base > 0 && rgModel_BodyLink(model, (rgBodyId){b}).moving.index1 == b &&
                     rgModel_BodyLink(model, (rgBodyId){base}).moving.index1 == 0;
        if (!first || !rgNeverMeet(model, base, b)) {
            continue;
        }
        const char* name = rgModel_Body(model, (rgBodyId){base})->name;
        const char *from = name != NULL ? name : "a body", *to = body->name;
        to = to != NULL ? to : "a body";
        if (json == NULL) {
            rgCli_Print(stdout, "  %-12s '%s', fixed to the world, and '%s' on it do not collide\n",
                        "base", from, to);
            continue;
        }
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "base", from);
        rgJson_String(json, "link", to);
        rgJson_EndObject(json);
    }
    if (json != NULL) {
        rgJson_EndArray(json);
    }
}

static void rgWriteCheck(const char* path, const rgLoadedModel* loaded, rgWorld* world) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "file", path);
    rgJson_Bool(&json, "ok", world != NULL);
    if (world != NULL) {
        rgModelCounts counts = rgCountModel(loaded->model);
        rgWriteModelCounts(&json, &counts);
        rgCheckOpenMeshes(loaded->model, &json);
        rgCheckBases(loaded->model, &json);
        rgCli_CheckStarts(loaded->def, world, &json);
    }
    rgCli_WriteDiagnostics(&json, loaded->diagnostics);
    rgJson_EndObject(&json);
}

static void rgPrintCheck(const char* path, const rgLoadedModel* loaded, rgWorld* world,
                         bool verbose) {
    rgCli_PrintDiagnostics(loaded->diagnostics, stderr, true, verbose);
    int warningCount = rgDiagnostics_CountOf(loaded->diagnostics, rg_severityWarning);
    int errorCount = rgDiagnostics_CountOf(loaded->diagnostics, rg_severityError);
    if (world != NULL) {
        rgModelCounts counts = rgCountModel(loaded->model);
        rgPrintModelCounts(path, &counts);
        rgCheckOpenMeshes(loaded->model, NULL);
        rgCheckBases(loaded->model, NULL);
        rgCli_CheckStarts(loaded->def, world, NULL);
        printf("  %-12s %d\n", "warnings", warningCount);
    } else {
        rgCli_Print(stdout, "%s: not a usable model (%d errors, %d warnings)\n", path, errorCount,
                    warningCount);
    }
}

// A model without a world cannot be simulated.
static rgWorld* rgTryWorld(const rgLoadedModel* loaded) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* world = NULL;
    def.contact.maxIterations = 1; // only where things are counts
    rgResult result = loaded->model != NULL
                          ? rgCreateWorld(loaded->model, &def, loaded->diagnostics, &world)
                          : rg_ok;
    if (result == rg_errorMemory) {
        rgCli_Error("a world cannot be created: %s", rgResult_Name(result));
    }
    return world;
}

int rgCli_Check(int argc, char** argv) {
    rgModelArguments arguments = {0};
    bool json = false, verbose = false;
    rgOption table[RG_MODEL_OPTION_COUNT + 2] = {
        [RG_MODEL_OPTION_COUNT] = {"--json", rg_optionFlag, &json, "print one JSON object", NULL,
                                   NULL, 0, 0},
        {"--verbose", rg_optionFlag, &verbose,
         "print every message, not one of each kind with a count", NULL, NULL, 0, 0}};
    rgModelArguments_Options(&arguments, table);
    const rgCommand command = {
        .name = "rigor check",
        .usage = "MODEL... [OPTIONS]",
        .summary =
            "Read a robot description (URDF, MJCF, SDF, a mesh), or several as one scene. Print "
            "its contents and\nits faults.\nExit code: 0 when it can be simulated, else "
            "1.\n\nExamples:\n  rigor check robot.urdf --strict\n  rigor check scene.xml --json",
        .options = table,
        .optionCount = RG_MODEL_OPTION_COUNT + 2,
        .minArguments = 1,
        .maxArguments = -1,
    };
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgLoadedModel loaded;
    (void)!rgCli_LoadModel(argv + 1, count, &arguments, &loaded);
    if (loaded.diagnostics == NULL) {
        return rg_exitUsage;
    }
    rgWorld* world = rgTryWorld(&loaded);
    bool good = world != NULL;
    if (json) {
        rgWriteCheck(argv[1], &loaded, world);
    } else {
        rgPrintCheck(argv[1], &loaded, world, verbose);
    }
    rgDestroyWorld(world);
    rgCli_FreeModel(&loaded);
    return good ? rg_exitDone : rg_exitNo;
}
