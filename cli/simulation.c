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
         "how a step is made: as the file says, of second or of first order", "I",
         rgIntegratorNames, 0, 0},
        {"--seed", rg_optionInt, &a->seed, "of everything that is random", "N", NULL, 0,
         2147483647},
        {"--threads", rg_optionInt, &a->threads,
         "threads (of each rank); the result does not depend on it", "N", NULL, 1, 256},
        {"--bodies", rg_optionInt, &a->bodyCount, "size of the scenes pile, tower, domino, chain",
         "N", NULL, 1, 1000000},
        {"--ground", rg_optionFlag, &a->ground,
         "add a floor at z = 0, or below a robot that starts lower", NULL, NULL, 0, 0},
        {"--key", rg_optionText, &a->key, "start from a key frame: its name, or its number from 0",
         "K", NULL, 0, 0},
        {"--q", rg_optionText, &a->q, "start configuration", "Q1,Q2,...", NULL, 0, 0},
        {"--v", rg_optionText, &a->v, "start velocity; free joints in body axes", "V1,V2,...", NULL,
         0, 0},
        {"--self-collision", rg_optionChoice, &a->selfCollision,
         "pairs of one robot that meet: as the file says, all but neighbors, none", "S",
         rgSelfCollisionNames, 0, 0},
    };
    memcpy(table + RG_MODEL_OPTION_COUNT, options, sizeof(options));
}

void rgSimulationArguments_ContactOptions(rgSimulationArguments* a, rgOption* table) {
    const rgOption options[RG_CONTACT_OPTION_COUNT] = {
        {"--stiffness", rg_optionNumber, &a->stiffness,
         "of every contact point [N/m]; rigid without it", "K", NULL, 1e-3, 1e300},
        {"--damping", rg_optionNumber, &a->damping,
         "with --stiffness [N s/m]; K times ten time steps without it", "D", NULL, 0, 1e300},
        {"--dissipation", rg_optionNumber, &a->dissipation,
         "with --stiffness [s/m]: force K x (1 + C x') instead of damping", "C", NULL, 0, 1e300},
        {"--tangential-stiffness", rg_optionNumber, &a->tangentialStiffness,
         "of what sticks, along the surface [N/m]; rigid without it", "K", NULL, 1e-3, 1e300},
        {"--tangential-damping", rg_optionNumber, &a->tangentialDamping,
         "with the former [N s/m]; K times ten time steps without it", "D", NULL, 0, 1e300},
        {"--mu", rg_optionNumber, &a->friction, "friction of every contact pair", "MU", NULL, 0,
         1e6},
        {"--friction-rule", rg_optionChoice, &a->frictionRule,
         "how the friction of two shapes makes that of the pair", "R", rgFrictionRuleNames, 0, 0},
        {"--restitution", rg_optionNumber, &a->restitution, "of every rigid contact pair", "E",
         NULL, 0, 1},
    };
    memcpy(table, options, sizeof(options));
}

rgOption rgHoldOption(rgSimulationArguments* a) {
    return (rgOption){
        "--hold", rg_optionText,
        &a->hold, "a position servo for every joint without an actuator, aiming at the start",
        "KP,KD",  NULL,
        0,        0};
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
                rgCli_Error("%s is for files; the scene '%s' stands where it is", options[i].name,
                            arguments->what);
                return true;
            }
        }
    }
    return false;
}

static bool rgLoadScene(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    if (rgPlacesScene(arguments)) {
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

static void rgTellUnknownScene(const char* name) {
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

// What the arguments add to the definition, then the model.
static bool rgFinishModel(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    rgModelInfo info = rgModelDef_Info(simulation->loaded.def);
    simulation->ownActuators = info.actuatorCount;
    simulation->ownSensors = info.sensorCount;
    return rgPrepareDef(simulation->loaded.def, arguments) &&
           rgCli_CompileDef(&arguments->model, &simulation->loaded);
}

// A file wins over a scene of the same name only if its name says that it is one.
static bool rgLoad(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    simulation->name = arguments->label != NULL ? arguments->label : arguments->what;
    simulation->scene = rgFindScene(arguments->what);
    bool isPath = strpbrk(arguments->what, "/.") != NULL;
    if (simulation->scene == NULL && !isPath && rgFindBuiltinModel(arguments->what) == NULL) {
        FILE* file = fopen(arguments->what, "rb");
        if (file == NULL) {
            rgTellUnknownScene(arguments->what);
            return false;
        }
        fclose(file);
    }
    bool good = simulation->scene != NULL ? rgLoadScene(simulation, arguments)
                                          : rgLoadFile(simulation, arguments);
    good = good && rgFinishModel(simulation, arguments);
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

// The numbers of an option, or a copy of what holds without it. NULL after a message.
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

// How far a joint of one coordinate is outside its limits; positive: below.
static double rgMissing(const rgModel* model, int joint, const double* q) {
    const rgJointDef* def = rgModel_Joint(model, (rgJointId){joint});
    if (!def->hasLimits || (def->kind != rg_jointRevolute && def->kind != rg_jointPrismatic)) {
        return 0;
    }
    double value = q[rgModel_JointRange(model, (rgJointId){joint}).q];
    return value < def->lower ? def->lower - value : value > def->upper ? def->upper - value : 0;
}

static bool rgIsWithinLimits(const rgModel* model, const double* q) {
    bool within = true;
    for (int j = 1; j <= rgModel_Info(model).jointCount; ++j) {
        within = within && fabs(rgMissing(model, j, q)) < 1e-6;
    }
    return within;
}

// Put joints that the file draws outside their limits at the nearest one, and say so. With loops
// that cannot be closed then, all stays as it is drawn.
static rgResult rgEnterLimits(rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    size_t count = (size_t)simulation->info.qCount;
    double* q = rgCli_Allocate(2 * count + 1, sizeof(double));
    double* drawn = q + count;
    int moved = 0, first = 0;
    memcpy(q, rgWorld_Positions(simulation->world, NULL), count * sizeof(double));
    memcpy(drawn, q, count * sizeof(double));
    for (int j = 1; j <= simulation->info.jointCount; ++j) {
        double missing = rgMissing(model, j, q);
        if (missing != 0) {
            q[rgModel_JointRange(model, (rgJointId){j}).q] += missing;
            first = moved++ == 0 ? j : first;
        }
    }
    rgResult result = moved > 0 ? rgWorld_SetState(simulation->world, q, NULL) : rg_ok;
    const double* reached = rgWorld_Positions(simulation->world, NULL);
    if (result == rg_ok && moved > 0 && simulation->info.equalityCount > 0 &&
        (rgWorld_Project(simulation->world) != rg_ok || !rgIsWithinLimits(model, reached))) {
        result = rgWorld_SetState(simulation->world, drawn, NULL);
        moved = 0;
    }
    if (moved > 0) {
        int at = rgModel_JointRange(model, (rgJointId){first}).q;
        const char* name = rgModel_Joint(model, (rgJointId){first})->name;
        rgCli_Print(stderr, "start: joint '%s' is moved from %.4g to %.4g, into its limits", name,
                    drawn[at], q[at]);
        if (moved > 1) {
            fprintf(stderr, ", and %d more likewise", moved - 1);
        }
        fputs("; --start neutral leaves it\n", stderr);
    }
    free(q);
    return result;
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
        result = rgEnterLimits(simulation);
    }
    if (result == rg_ok && arguments->start == rg_startNeutral) {
        result = rgWorld_Reset(world, (rgKeyId){0});
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
    if (result == rg_ok && arguments->hold != NULL) {
        result = rgHoldStart(simulation);
    }
    if (result != rg_ok) {
        rgCli_Error("the start state is refused: %s", rgResult_Name(result));
    }
    return result == rg_ok;
}

// ---- the floor ----

static double rgLowestPoint(const rgShapeDef* shape, rgPose pose) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = shape->kind;
    def.size = shape->size;
    def.rounding = shape->rounding;
    def.mesh = shape->mesh;
    def.heightField = shape->heightField;
    rgGeometry* geometry = NULL;
    if (rgCreateGeometry(&def, NULL, &geometry) != rg_ok) {
        return INFINITY;
    }
    double lowest = rgGeometry_Box(geometry, pose).lower.z;
    rgDestroyGeometry(geometry);
    return lowest;
}

static bool rgIsMovingShape(const rgModel* model, rgShapeId id) {
    const rgShapeDef* shape = rgModel_Shape(model, id);
    return !shape->visualOnly && shape->body.index1 != 0 &&
           rgModel_BodyLink(model, shape->body).moving.index1 != 0;
}

// The floor is at z = 0, or lower where the robot starts lower.
static double rgGroundLevel(const rgSimulation* simulation) {
    const rgModel* model = simulation->loaded.model;
    double level = 0;
    for (int i = 1; i <= simulation->info.shapeCount; ++i) {
        rgShapeId id = {i};
        if (rgIsMovingShape(model, id)) {
            double low = rgLowestPoint(rgModel_Shape(model, id),
                                       rgDynamics_ShapePose(simulation->poses, id));
            level = fmin(level, low);
        }
    }
    return level;
}

static void rgUnmakeWorld(rgSimulation* simulation) {
    rgDestroyWorld(simulation->world);
    rgDestroyDynamics(simulation->poses);
    simulation->world = NULL;
    simulation->poses = NULL;
}

static bool rgAddGround(rgSimulation* simulation) {
    rgLoadedModel* loaded = &simulation->loaded;
    simulation->groundLevel = rgGroundLevel(simulation);
    rgShapeDef plane = rgDefaultShapeDef();
    plane.name = "rigor_ground";
    plane.kind = rg_shapePlane;
    plane.pose.p.z = simulation->groundLevel;
    rgResult result = rgModelDef_AddShape(loaded->def, &plane, NULL);
    rgUnmakeWorld(simulation);
    rgDestroyModel(loaded->model);
    loaded->model = NULL;
    if (result == rg_ok) {
        result = rgCompileModel(loaded->def, NULL, loaded->diagnostics, &loaded->model);
    }
    if (result != rg_ok) {
        rgCli_PrintDiagnostics(loaded->diagnostics, stderr, false, false);
        rgCli_Error("--ground: the floor could not be added: %s", rgResult_Name(result));
    }
    return result == rg_ok;
}

bool rgSimulation_LacksFloor(const rgSimulation* simulation) {
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
    contact.budget = arguments->budget;
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

// A damping acts together with its stiffness; alone it would be ignored.
static bool rgDampingsHaveSprings(const rgSimulationArguments* arguments) {
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
    return true;
}

static bool rgMakeWorld(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    rgContactSolverDef method = rgSolverDef(arguments->solver);
    if (!rgDampingsHaveSprings(arguments) || !rgSolverArguments_Check(&arguments->admm, &method)) {
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
        rgCli_Error("%s: no world can be made of it: %s", simulation->name, rgResult_Name(result));
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
    // The floor goes below the start pose, which takes a first world to know.
    if (arguments->ground && (!rgAddGround(simulation) || !rgMakeWorld(simulation, arguments))) {
        return false;
    }
    rgRememberStart(simulation);
    return true;
}

void rgSimulation_Free(rgSimulation* simulation) {
    rgUnmakeWorld(simulation);
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
    stats->budgeted += report->contact.status == rg_contactBudgeted;
    stats->unconverged += report->rowCount > 0 && report->contact.status != rg_contactSolved &&
                          report->contact.status != rg_contactBudgeted;
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
