// One simulation from a scene or a file: from arguments to a world that steps.
#include "simulation.h"

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* const rgStageNames[] = {"kinematics", "collide",  "dynamics", "assemble",
                                    "solve",      "velocity", "position", "project"};

rgSimulationArguments rgDefaultSimulationArguments(void) {
    return (rgSimulationArguments){.what = "wall",
                                   .damping = -1,
                                   .tangentialDamping = -1,
                                   .friction = NAN,
                                   .restitution = NAN,
                                   .admm = rgDefaultSolverArguments(),
                                   .threads = 1};
}

// ---- options ----

void rgSimulationArguments_Options(rgSimulationArguments* a, rgOption* table) {
    rgModelArguments_Options(&a->model, table);
    const rgOption options[RG_SIMULATION_OPTION_COUNT - RG_MODEL_OPTION_COUNT] = {
        {"--dt", rg_optionNumber, &a->timeStep, "time step [s]", "DT", NULL, 1e-9, 10},
        {"--integrator", rg_optionChoice, &a->integrator,
         "that of the file, of second order, or of first order", "I", rgIntegratorNames, 0, 0},
        {"--seed", rg_optionInt, &a->seed, "seed of all random numbers", "N", NULL, 0, 2147483647},
        {"--threads", rg_optionInt, &a->threads,
         "number of threads (per rank); results do not depend on it", "N", NULL, 1, 256},
        {"--bodies", rg_optionInt, &a->bodyCount,
         "number of bodies in the scenes pile, tower, domino, chain", "N", NULL, 1, 1000000},
        {"--ground", rg_optionFlag, &a->ground,
         "add a floor at z = 0, and lift a free robot that starts in it", NULL, NULL, 0, 0},
        {"--key", rg_optionText, &a->key, "start from a key frame: its name, or its number from 0",
         "K", NULL, 0, 0},
        {"--q", rg_optionText, &a->q, "start configuration", "Q1,Q2,...", NULL, 0, 0},
        {"--v", rg_optionText, &a->v, "start velocity; that of free joints in body axes",
         "V1,V2,...", NULL, 0, 0},
        {"--self-collision", rg_optionChoice, &a->selfCollision,
         "collisions within one robot: as in the file, all but neighbors, none", "S",
         rgSelfCollisionNames, 0, 0},
    };
    memcpy(table + RG_MODEL_OPTION_COUNT, options, sizeof(options));
}

void rgSimulationArguments_ContactOptions(rgSimulationArguments* a, rgOption* table) {
    const rgOption options[RG_CONTACT_OPTION_COUNT] = {
        {"--stiffness", rg_optionNumber, &a->stiffness,
         "stiffness of every contact point [N/m]; rigid without it", "K", NULL, 1e-3, 1e300},
        {"--damping", rg_optionNumber, &a->damping,
         "damping of --stiffness [N s/m]; K times ten time steps without it", "D", NULL, 0, 1e300},
        {"--dissipation", rg_optionNumber, &a->dissipation,
         "dissipation of --stiffness [s/m]: force K x (1 + C x') instead of damping", "C", NULL, 0,
         1e300},
        {"--tangential-stiffness", rg_optionNumber, &a->tangentialStiffness,
         "stiffness of sticking contacts along the surface [N/m]; rigid without it", "K", NULL,
         1e-3, 1e300},
        {"--tangential-damping", rg_optionNumber, &a->tangentialDamping,
         "damping of the same [N s/m]; K times ten time steps without it", "D", NULL, 0, 1e300},
        {"--mu", rg_optionNumber, &a->friction, "friction of every contact pair (also: --friction)",
         "MU", NULL, 0, 1e6},
        {"--friction-rule", rg_optionChoice, &a->frictionRule,
         "rule that combines the friction of two shapes", "R", rgFrictionRuleNames, 0, 0},
        {"--restitution", rg_optionNumber, &a->restitution,
         "restitution of every rigid contact pair", "E", NULL, 0, 1},
    };
    memcpy(table, options, sizeof(options));
}

void rgSimulationArguments_PhysicsOptions(rgSimulationArguments* a, rgOption* table) {
    const rgOption options[] = {
        {"--solver", rg_optionChoice, &a->solver, "method of the contact solver", "S",
         rgSolverNames, 0, 0},
        {"--model", rg_optionChoice, &a->contactModel,
         "friction law: exact, convex relaxation, on a square or an octagon", "M", rgModelNames, 0,
         0},
        {"--accuracy", rg_optionNumber, &a->accuracy,
         "residual that suffices for moving bodies, such as 1e-3 (0: that of --tol)", "A", NULL, 0,
         1},
        {"--tol", rg_optionNumber, &a->tolerance, "residual to reach; 1e-6 without it", "T", NULL,
         1e-300, 1},
        {"--max-iter", rg_optionInt, &a->maxIterations, "limit of iterations per solve", "N", NULL,
         1, 1e9},
        {"--start", rg_optionChoice, &a->start,
         "start: as in the file or scene, neutral, first key frame, or with all loops closed", "S",
         rgStartNames, 0, 0},
    };
    int contact = RG_SIMULATION_OPTION_COUNT, solver = contact + RG_CONTACT_OPTION_COUNT;
    rgSimulationArguments_Options(a, table);
    rgSimulationArguments_ContactOptions(a, table + contact);
    rgSolverArguments_Options(&a->admm, table + solver);
    memcpy(table + solver + RG_SOLVER_OPTION_COUNT, options, sizeof(options));
}

rgOption rgHoldOption(rgSimulationArguments* a) {
    return (rgOption){
        "--hold",
        rg_optionText,
        &a->hold,
        "add a position servo to every joint without an actuator; its target is the start",
        "KP,KD",
        NULL,
        0,
        0};
}

// ---- histograms ----

void rgHistogram_Add(rgHistogram* histogram, int value) {
    if (value >= histogram->size) {
        int size = 2 * value + 64;
        histogram->counts = rgCli_Grow(histogram->counts, (size_t)size, sizeof(long long));
        memset(histogram->counts + histogram->size, 0,
               (size_t)(size - histogram->size) * sizeof(long long));
        histogram->size = size;
    }
    histogram->counts[value] += 1;
    histogram->total += 1;
    histogram->sum += value;
}

double rgHistogram_Mean(const rgHistogram* histogram) {
    return histogram->total > 0 ? histogram->sum / (double)histogram->total : 0;
}

int rgHistogram_Quantile(const rgHistogram* histogram, double share) {
    long long seen = 0;
    for (int i = 0; i < histogram->size; ++i) {
        seen += histogram->counts[i];
        if ((double)seen >= share * (double)histogram->total) {
            return i;
        }
    }
    return 0;
}

void rgHistogram_Free(rgHistogram* histogram) {
    free(histogram->counts);
    *histogram = (rgHistogram){0};
}

// ---- the model ----

// Options that place a file would be ignored for a scene.
static bool rgPlacesScene(const rgSimulationArguments* arguments) {
    const rgModelArguments* m = &arguments->model;
    const struct {
        const char* name;
        const rgPlacedList* list;
    } options[] = {{"--at", &m->at},
                   {"--rpy", &m->rpy},
                   {"--prefix", &m->prefix},
                   {"--on", &m->on},
                   {"--floating", &m->floating},
                   {"--fixed", &m->fixed},
                   {"--scale", &m->scale},
                   {"--density", &m->density},
                   {"--without-world", &m->withoutWorld}};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); ++i) {
        for (int k = 0; k < options[i].list->count; ++k) {
            int argument = options[i].list->arguments[k];
            if (argument == 1 || (argument == 0 && arguments->moreCount == 0)) {
                rgCli_Error("%s is for files; the scene '%s' has a fixed place", options[i].name,
                            arguments->what);
                return true;
            }
        }
    }
    return false;
}

// Options of the reader of files, without files.
static bool rgReadsScene(const rgSimulationArguments* arguments) {
    const rgModelArguments* m = &arguments->model;
    const struct {
        const char* name;
        bool given;
    } options[] = {{"--package-dir", m->packageDirs.count > 0},
                   {"--strict", m->strict},
                   {"--no-meshes", m->noMeshes},
                   {"--hull", m->hull},
                   {"--decompose", m->decompose},
                   {"--sheet", m->sheet != 0},
                   {"--self-overlap", m->selfOverlap != 0},
                   {"--bound", m->bound != NULL}};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && arguments->moreCount == 0; ++i) {
        if (options[i].given) {
            rgCli_Error("%s is for files; '%s' is a built-in scene", options[i].name,
                        arguments->what);
            return true;
        }
    }
    return false;
}

static bool rgLoadScene(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    if (rgPlacesScene(arguments) || rgReadsScene(arguments)) {
        return false;
    }
    rgLoadedModel* loaded = &simulation->loaded;
    rgSceneDef def = rgDefaultSceneDef();
    def.count = arguments->bodyCount;
    def.seed = (uint64_t)arguments->seed;
    def.fileContact = arguments->model.contact == 1;
    if (rgCreateDiagnostics(NULL, &loaded->diagnostics) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    rgResult result = rgBuildScene(simulation->scene, &def, loaded->diagnostics, &loaded->def);
    if (result == rg_errorMemory) {
        rgCli_Error("%s: out of memory", simulation->name);
    }
    return result == rg_ok &&
           rgCli_LoadDef(arguments->more, arguments->moreCount, &arguments->model, loaded);
}

static bool rgLoadFile(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    if (arguments->bodyCount != 0) {
        rgCli_Error("--bodies is for scenes that come in sizes; '%s' is a file", simulation->name);
        return false;
    }
    char** paths = rgCli_Allocate((size_t)arguments->moreCount + 1, sizeof(char*));
    char* first = rgCli_CopyText(arguments->what);
    paths[0] = first;
    for (int i = 0; i < arguments->moreCount; ++i) {
        paths[i + 1] = arguments->more[i];
    }
    bool good =
        rgCli_LoadDef(paths, arguments->moreCount + 1, &arguments->model, &simulation->loaded);
    free(first);
    free((void*)paths);
    return good;
}

static void rgReportUnknownScene(const char* name) {
    int scenes = rgSceneCount(), models = rgBuiltinModelCount();
    const char** names = rgCli_Allocate((size_t)scenes + (size_t)models, sizeof(char*));
    for (int i = 0; i < scenes; ++i) {
        names[i] = rgSceneAt(i)->name;
    }
    for (int i = 0; i < models; ++i) {
        names[scenes + i] = rgBuiltinModelAt(i)->name;
    }
    rgCli_UnknownName(name, names, scenes + models,
                      "'%s' is neither a scene nor a file; `rigor scenes` lists the scenes", name);
    free((void*)names);
}

// Complete the definition from the arguments, then compile the model.
static bool rgFinishModel(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    rgModelInfo info = rgModelDef_Info(simulation->loaded.def);
    simulation->ownActuators = info.actuatorCount;
    simulation->ownSensors = info.sensorCount;
    return rgPrepareDef(simulation->loaded.def, arguments) &&
           rgCli_CompileDef(&arguments->model, &simulation->loaded);
}

// Report ignored pairs: notes are for rigor check, but pairs that do not collide concern all users.
static void rgReportIgnoredPairs(const rgModelDef* def) {
    int count = 0, ignored = 0;
    const rgExcludedPair* pairs = rgModelDef_ExcludedPairs(def, &count);
    for (int i = 0; i < count; ++i) {
        ignored += pairs[i].overlap > 0;
    }
    if (ignored > 0) {
        fprintf(stderr,
                "start: %d pair%s of parts overlap%s and %s not collide; with --self-overlap "
                "keep they collide\n",
                ignored, ignored > 1 ? "s" : "", ignored > 1 ? "" : "s",
                ignored > 1 ? "do" : "does");
    }
}

// Load a file instead of a scene of the same name only if its name contains a slash or a dot.
static bool rgLoad(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    simulation->name = arguments->label != NULL ? arguments->label : arguments->what;
    simulation->scene = rgFindScene(arguments->what);
    bool isPath = strpbrk(arguments->what, "/.") != NULL;
    if (simulation->scene == NULL && !isPath && rgFindBuiltinModel(arguments->what) == NULL) {
        FILE* file = fopen(arguments->what, "rb");
        if (file == NULL) {
            rgReportUnknownScene(arguments->what);
            return false;
        }
        fclose(file);
    }
    bool good = simulation->scene != NULL ? rgLoadScene(simulation, arguments)
                                          : rgLoadFile(simulation, arguments);
    good = good && rgFinishModel(simulation, arguments);
    rgReportIgnoredPairs(simulation->loaded.def);
    if (simulation->loaded.diagnostics != NULL) {
        rgCli_PrintDiagnostics(simulation->loaded.diagnostics, stderr, false, false);
        rgDiagnostics_Clear(simulation->loaded.diagnostics);
    }
    return good;
}

// ---- the start ----

static rgKeyId rgFindKey(const rgModel* model, const char* name) {
    rgKeyId key = rgModel_FindKey(model, name);
    int index = 0;
    if (key.index1 == 0 && rgParseInt(name, &index) && index >= 0 &&
        index < rgModel_Info(model).keyCount) {
        key.index1 = index + 1;
    }
    return key;
}

static bool rgCheckKey(const rgModel* model, const rgSimulationArguments* arguments) {
    const char* name = arguments->key;
    if (name == NULL && arguments->start == rg_startKey && rgModel_Info(model).keyCount == 0) {
        rgCli_Error("--start key: the model has no key frame");
        return false;
    }
    if (name == NULL || rgFindKey(model, name).index1 != 0) {
        return true;
    }
    int count = rgModel_Info(model).keyCount;
    const char** names = rgCli_Allocate((size_t)count, sizeof(char*));
    for (int i = 0; i < count; ++i) {
        names[i] = rgModel_Key(model, (rgKeyId){i + 1})->name;
    }
    int nearest = rgNearestName(name, names, count);
    rgCli_Print(stderr, "rigor: --key: the model has no key frame '%s'", name);
    for (int i = 1; i <= count; ++i) {
        const char* known = rgModel_Key(model, (rgKeyId){i})->name;
        rgCli_Print(stderr, "%s %s", i == 1 ? "; it has" : ",",
                    known != NULL ? known : "one unnamed");
    }
    fputs(count == 0 ? "; it has none" : "", stderr);
    if (nearest >= 0) {
        rgCli_Print(stderr, "; did you mean '%s'?", names[nearest]);
    }
    fputc('\n', stderr);
    free((void*)names);
    return false;
}

// Numbers of an option, or a copy of the present values without it. NULL after a message.
static double* rgReadState(const char* option, const char* text, const double* present, int count) {
    double* numbers = rgCli_Allocate((size_t)count, sizeof(double));
    if (count > 0) {
        memcpy(numbers, present, (size_t)count * sizeof(double));
    }
    if (text != NULL && !rgCli_ReadNumbers(option, text, numbers, count)) {
        free(numbers);
        return NULL;
    }
    return numbers;
}

// The servos of --hold aim at where their joints are.
static rgResult rgHoldStart(rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    int count = 0;
    const double* old = rgWorld_Control(simulation->world, &count);
    const double* q = rgWorld_Positions(simulation->world, NULL);
    double* control = rgCli_Allocate((size_t)count, sizeof(double));
    memcpy(control, old, (size_t)count * sizeof(double));
    for (int i = simulation->ownActuators; i < count; ++i) {
        rgJointId joint = rgModel_Actuator(model, (rgActuatorId){i + 1})->joint;
        control[i] = q[rgModel_JointRange(model, joint).q];
    }
    rgResult result = rgWorld_SetControl(simulation->world, control);
    free(control);
    return result;
}

// Joints that start inside their limits and are drawn outside.
static void rgReportLimits(const rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    const double* q = rgWorld_Positions(simulation->world, NULL);
    double* drawn = rgCli_Allocate((size_t)simulation->info.qCount, sizeof(double));
    int moved = 0, first = 0;
    rgModel_NeutralConfiguration(model, drawn);
    for (int j = simulation->info.jointCount; j >= 1; --j) {
        const rgJointDef* def = rgModel_Joint(model, (rgJointId){j});
        int at = rgModel_JointRange(model, (rgJointId){j}).q;
        bool scalar = def->kind == rg_jointRevolute || def->kind == rg_jointPrismatic;
        if (def->hasLimits && scalar && (drawn[at] < def->lower || drawn[at] > def->upper) &&
            q[at] != drawn[at]) {
            moved += 1;
            first = j;
        }
    }
    if (moved > 0) {
        int at = rgModel_JointRange(model, (rgJointId){first}).q;
        const char* name = rgModel_Joint(model, (rgJointId){first})->name;
        rgCli_Print(stderr, "start: joint '%s' is moved from %.4g to %.4g, into its limits", name,
                    drawn[at], q[at]);
        if (moved > 1) {
            fprintf(stderr, ", and %d more joints", moved - 1);
        }
        fputs("; --start neutral leaves it\n", stderr);
    }
    free(drawn);
}

static bool rgSetStart(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    const rgModel* model = simulation->loaded.model;
    rgWorld* world = simulation->world;
    rgResult result = rg_ok;
    if (simulation->scene != NULL) {
        result = rgScene_Start(simulation->scene, world);
    }
    if (result == rg_ok && simulation->scene == NULL && arguments->key == NULL &&
        arguments->q == NULL && arguments->start != rg_startNeutral &&
        arguments->start != rg_startKey) {
        rgReportLimits(simulation);
    }
    if (result == rg_ok && arguments->start == rg_startNeutral) {
        result = rgWorld_SetState(world, NULL, NULL);
    }
    if (result == rg_ok && arguments->start == rg_startKey && arguments->key == NULL) {
        result = rgWorld_Reset(world, (rgKeyId){1});
    }
    if (result == rg_ok && arguments->key != NULL) {
        result = rgWorld_Reset(world, rgFindKey(model, arguments->key));
    }
    if (result == rg_ok && (arguments->q != NULL || arguments->v != NULL)) {
        double* q = rgReadState("--q", arguments->q, rgWorld_Positions(world, NULL),
                                simulation->info.qCount);
        double* v = rgReadState("--v", arguments->v, rgWorld_Velocities(world, NULL),
                                simulation->info.vCount);
        bool good = q != NULL && v != NULL;
        result = good ? rgWorld_SetState(world, q, v) : rg_ok;
        free(q);
        free(v);
        if (!good) {
            return false;
        }
    }
    if (result == rg_ok && arguments->start == rg_startProjected) {
        result = rgWorld_Project(world);
        if (result == rg_errorNumeric) {
            rgCli_Error("--start projected: no configuration was found that closes all loops");
            return false;
        }
    }
    if (result == rg_ok && !rgSimulation_LiftFromFloor(simulation, arguments)) {
        return false;
    }
    if (result == rg_ok && arguments->hold != NULL) {
        result = rgHoldStart(simulation);
    }
    if (result != rg_ok) {
        rgCli_Error("the start state is not valid: %s", rgResult_Name(result));
    }
    return result == rg_ok;
}

// ---- the floor ----

bool rgIsMovingShape(const rgModel* model, rgShapeId id) {
    const rgShapeDef* shape = rgModel_Shape(model, id);
    return !shape->visualOnly && shape->body.index1 != 0 &&
           rgModel_BodyLink(model, shape->body).moving.index1 != 0;
}

bool rgSimulation_HasNoFloor(const rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    rgModelOptions options = simulation->info.options;
    bool isLoose = false;
    if (options.hasGravity && rgLengthSquared(options.gravity) == 0) {
        return false;
    }
    for (int i = 1; i <= simulation->info.jointCount; ++i) {
        isLoose = isLoose || rgModel_Joint(model, (rgJointId){i})->kind == rg_jointFree;
    }
    for (int i = 1; i <= simulation->info.shapeCount; ++i) {
        rgShapeId id = {i};
        if (!rgModel_Shape(model, id)->visualOnly && !rgIsMovingShape(model, id)) {
            return false;
        }
    }
    return isLoose;
}

// ---- the world ----

static rgWorldDef rgMakeWorldDef(const rgSimulation* simulation,
                                 const rgSimulationArguments* arguments) {
    rgWorldDef def = rgDefaultWorldDef();
    rgContactSolverDef contact = rgSolverDef(arguments->solver);
    contact.maxIterations =
        arguments->maxIterations > 0 ? arguments->maxIterations : def.contact.maxIterations;
    contact.accuracy = arguments->accuracy;
    contact.tolerance = arguments->tolerance > 0 ? arguments->tolerance : def.contact.tolerance;
    contact.model = (rgContactModel)arguments->contactModel;
    contact.splitIslands = def.contact.splitIslands;
    rgSolverArguments_Apply(&arguments->admm, &contact);
    def.contact = contact;
    def.timeStep = arguments->timeStep;
    def.integrator = (rgIntegrator)arguments->integrator;
    def.stiffness = arguments->stiffness;
    def.friction = arguments->friction;
    def.frictionRule = (rgFrictionRule)arguments->frictionRule;
    def.restitution = arguments->restitution;
    def.dissipation = arguments->dissipation;
    if (simulation->pool != NULL) {
        def.tasks = rgThreadPool_Tasks(simulation->pool);
        def.contact.tasks = def.tasks;
    }
    double wish = simulation->info.options.timeStep;
    double dt = def.timeStep > 0 ? def.timeStep : wish > 0 ? wish : 1e-3;
    double usual = def.dissipation > 0 ? 0 : 10 * dt * def.stiffness;
    def.damping = arguments->damping >= 0 ? arguments->damping : usual;
    def.tangentialStiffness = arguments->tangentialStiffness;
    def.tangentialDamping = arguments->tangentialDamping >= 0 ? arguments->tangentialDamping
                                                              : 10 * dt * def.tangentialStiffness;
    return def;
}

// True unless an option has no effect without another one.
static bool rgSimulationArguments_Agree(const rgSimulationArguments* arguments) {
    if (arguments->damping >= 0 && arguments->stiffness == 0) {
        rgCli_Error("--damping needs --stiffness");
        return false;
    }
    if (arguments->dissipation > 0 && arguments->stiffness == 0) {
        rgCli_Error("--dissipation needs --stiffness");
        return false;
    }
    if (arguments->tangentialDamping >= 0 && arguments->tangentialStiffness == 0) {
        rgCli_Error("--tangential-damping needs --tangential-stiffness");
        return false;
    }
    if (arguments->accuracy > 0 && rgSolverDef(arguments->solver).method != rg_methodAuto) {
        rgCli_Error("--accuracy needs --solver auto");
        return false;
    }
    return true;
}

static bool rgMakeWorld(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    rgContactSolverDef method = rgSolverDef(arguments->solver);
    if (!rgSimulationArguments_Agree(arguments) ||
        !rgSolverArguments_Check(&arguments->admm, &method)) {
        return false;
    }
    rgDiagnostics* diagnostics = simulation->loaded.diagnostics;
    if (arguments->threads > 1 && simulation->pool == NULL &&
        rgCreateThreadPool(arguments->threads, NULL, &simulation->pool) != rg_ok) {
        rgCli_Error("--threads: %d threads could not be started", arguments->threads);
        return false;
    }
    simulation->info = rgModel_Info(simulation->loaded.model);
    simulation->def = rgMakeWorldDef(simulation, arguments);
    rgDiagnostics_Clear(diagnostics);
    rgResult result =
        rgCreateWorld(simulation->loaded.model, &simulation->def, diagnostics, &simulation->world);
    rgCli_PrintDiagnostics(diagnostics, stderr, false, false);
    if (result != rg_ok) {
        rgCli_Error("%s: a world cannot be created: %s", simulation->name, rgResult_Name(result));
        return false;
    }
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(simulation->loaded.model);
    if (rgCreateDynamics(simulation->loaded.model, &dynamics, &simulation->poses) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    if (!rgSetStart(simulation, arguments)) {
        return false;
    }
    rgDynamics_SetPositions(simulation->poses, rgWorld_Positions(simulation->world, NULL));
    return true;
}

static void rgRememberStart(rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    size_t count = (size_t)simulation->info.bodyCount;
    simulation->start = rgCli_Allocate(count, sizeof(rgVec3));
    simulation->isScripted = rgCli_Allocate(count, sizeof(bool));
    for (int i = 0; i < simulation->info.bodyCount; ++i) {
        rgBodyId body = {i + 1};
        simulation->start[i] = rgDynamics_BodyPose(simulation->poses, body).p;
        simulation->isScripted[i] =
            simulation->scene != NULL && rgScene_Moves(simulation->scene, model, body);
    }
}

bool rgSimulation_Begin(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    *simulation = (rgSimulation){0};
    if (!rgLoad(simulation, arguments) || !rgCheckKey(simulation->loaded.model, arguments) ||
        !rgMakeWorld(simulation, arguments)) {
        return false;
    }
    rgRememberStart(simulation);
    return true;
}

void rgSimulation_Free(rgSimulation* simulation) {
    rgDestroyWorld(simulation->world);
    rgDestroyDynamics(simulation->poses);
    rgDestroyThreadPool(simulation->pool);
    rgCli_FreeModel(&simulation->loaded);
    rgHistogram_Free(&simulation->stats.contacts);
    rgHistogram_Free(&simulation->stats.iterations);
    free(simulation->start);
    free(simulation->isScripted);
    *simulation = (rgSimulation){0};
}

// ---- stepping ----

static bool rgIsScripted(const rgSimulation* simulation, rgBodyId body) {
    return body.index1 != 0 && simulation->isScripted[body.index1 - 1];
}

static void rgMeasureContacts(rgSimulation* simulation) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(simulation->world, &count);
    for (int i = 0; i < count; ++i) {
        if (!rgIsScripted(simulation, contacts[i].bodyA) &&
            !rgIsScripted(simulation, contacts[i].bodyB)) {
            simulation->stats.penetration = fmax(simulation->stats.penetration, -contacts[i].gap);
        }
    }
}

static void rgMeasureDrift(rgSimulation* simulation) {
    rgDynamics_SetPositions(simulation->poses, rgWorld_Positions(simulation->world, NULL));
    for (int i = 0; i < simulation->info.bodyCount; ++i) {
        if (!simulation->isScripted[i]) {
            rgVec3 now = rgDynamics_BodyPose(simulation->poses, (rgBodyId){i + 1}).p;
            double moved = rgLength(rgSub(now, simulation->start[i]));
            simulation->stats.drift = fmax(simulation->stats.drift, moved);
        }
    }
}

static void rgCountStep(rgSimulationStats* stats, const rgStepReport* report) {
    double residual = report->contact.residual.total;
    rgHistogram_Add(&stats->contacts, report->contactCount);
    rgHistogram_Add(&stats->iterations, report->contact.iterationCount);
    stats->steps += 1;
    stats->regularized += report->regularizedRows > 0;
    stats->unconverged += report->rowCount > 0 && report->contact.status != rg_contactSolved;
    stats->within6 += residual <= 1e-6;
    stats->within5 += residual <= 1e-5;
    stats->residual = fmax(stats->residual, residual);
    for (int i = 0; i < rg_stageCount; ++i) {
        stats->stageSeconds[i] += report->stageSeconds[i];
    }
}

rgResult rgSimulation_Step(rgSimulation* simulation, rgStepReport* report) {
    rgResult result = rg_ok;
    *report = (rgStepReport){0};
    if (simulation->scene != NULL) {
        result = rgScene_Act(simulation->scene, simulation->world);
    }
    if (result != rg_ok) {
        return result;
    }
    double begin = rgCli_Seconds();
    result = rgWorld_Step(simulation->world, report);
    simulation->stats.seconds += rgCli_Seconds() - begin;
    if (result == rg_ok) {
        rgCountStep(&simulation->stats, report);
        rgMeasureContacts(simulation);
        rgMeasureDrift(simulation);
    }
    return result;
}
