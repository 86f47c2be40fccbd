// rigor bench solver --study plan: auto, and auto without one part of its plan at a time, on files,
// recorded steps, states of simulations and random problems: what each part is worth.
#include "random_case.h"
#include "simulation.h"
#include "solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The parts of the plan that can be switched off; a row of the table each.
static const struct {
    const char* name;
    uint32_t bit;
} rgParts[] = {
    {"start", rg_planStart},
    {"proximal", rg_planProximal},
    {"interior", rg_planInterior},
    {"few", rg_planFew},
    {"polish", rg_planPolish},
    {"damped", rg_planDamped},
    {"certificate", rg_planCertificate},
};

enum { rg_partCount = sizeof(rgParts) / sizeof(rgParts[0]) };

// ---- variants ----

static const char* rgPartBit(const char* name, size_t length, uint32_t* bits) {
    for (int i = 0; i < rg_partCount; ++i) {
        if (strlen(rgParts[i].name) == length && strncmp(rgParts[i].name, name, length) == 0) {
            *bits |= rgParts[i].bit;
            return rgParts[i].name;
        }
    }
    return NULL;
}

static void rgAddPlan(rgBench* bench, const char* name, size_t length, uint32_t bits) {
    rgVariant* variant = &bench->variants[bench->variantCount++];
    snprintf(variant->name, sizeof(variant->name), "%.*s", (int)length, name);
    variant->def = rgDefaultContactSolverDef();
    variant->def.disabled = bits;
}

bool rgBench_AddPlans(rgBench* bench, const char* list) {
    rgAddPlan(bench, "auto", 4, 0);
    for (int i = 0; list == NULL && i < rg_partCount; ++i) {
        rgAddPlan(bench, rgParts[i].name, strlen(rgParts[i].name), rgParts[i].bit);
    }
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        uint32_t bits = 0;
        for (size_t at = 0; at < length;) {
            size_t part = strcspn(list + at, "+,");
            if (rgPartBit(list + at, part, &bits) == NULL ||
                bench->variantCount == rg_maxVariants) {
                rgCli_Error("--parts: '%.*s' is not a part of the plan, or there are too many",
                            (int)part, list + at);
                return false;
            }
            at += part + 1;
        }
        rgAddPlan(bench, list, length, bits);
        list += length + (list[length] == ',');
    }
    return true;
}

// ---- groups ----

static rgPlanGroup* rgAddGroup(rgPlanStudy* study, const char* name) {
    rgPlanGroup* group = &study->groups[study->groupCount++];
    group->name = name;
    return group;
}

static void rgPlanSum_Add(rgPlanSum* sum, const rgContactReport* report, bool solved,
                          double seconds) {
    sum->count += 1;
    sum->solvedCount += solved;
    sum->iterations += report->iterationCount;
    sum->factorizations += report->factorizationCount;
    sum->seconds += seconds;
}

// Every file of a folder of the data, through the machinery of the other studies.
static void rgRunFiles(rgPlanStudy* study, const char* name, const char* folder, bool warm) {
    const char* data = getenv("RIGOR_DATA");
    char* path = rgCli_Format("%s/%s", data != NULL ? data : "../shared/data", folder);
    char* arguments[1] = {path};
    rgCaseFiles files = {0};
    rgBench own = *study->bench;
    own.problems = NULL;
    own.problemCount = 0;
    own.runs = NULL;
    own.warm = warm;
    if (rgFindCases(arguments, 1, &files)) {
        rgBench_Load(&own, &files);
        rgBench_MeasureAll(&own, 1);
        rgPlanGroup* group = rgAddGroup(study, name);
        for (int i = 0; i < own.problemCount; ++i) {
            for (int v = 0; v < own.variantCount && (!warm || own.problems[i].previous >= 0); ++v) {
                const rgRun* run = rgBench_Run(&own, i, v);
                rgPlanSum_Add(&group->sums[v], &run->report, run->solved, run->seconds);
            }
        }
    }
    rgBench_FreeProblems(&own);
    rgCaseFiles_Free(&files);
    free(path);
}

static void rgRunRandom(rgPlanStudy* study) {
    int count = study->randomCount;
    rgPlanGroup* group = rgAddGroup(study, "random");
    rgProgress progress;
    rgProgress_Begin(&progress, "measuring", count);
    for (int i = 0; i < count; ++i) {
        rgProgress_Update(&progress, i, "random problems");
        rgContactCase* made = rgMakeRandomCase((uint64_t)i, NULL);
        double* lambda = rgCli_Allocate((size_t)made->problem.rowCount, sizeof(double));
        rgRun runs[rg_maxVariants];
        for (int r = 0; r < 2; ++r) {
            for (int v = 0; v < study->bench->variantCount; ++v) {
                runs[v].seconds = r == 0 ? INFINITY : runs[v].seconds;
                rgRun_Repeat(&runs[v], study->bench->variants[v].solver, &made->problem, NULL,
                             lambda, NULL);
                bool solved = runs[v].report.status == rg_contactSolved;
                if (r == 1) {
                    rgPlanSum_Add(&group->sums[v], &runs[v].report, solved, runs[v].seconds);
                }
            }
        }
        free(lambda);
        rgFreeContactCase(made);
    }
    rgProgress_End(&progress);
}

// ---- states of simulations ----

// A simulation runs for a while; then states are kept, each of which every variant steps from.
typedef struct rgPlanSource {
    const char* what;
    int bodyCount;
    double timeStep;
    int skip;   // steps before the first state
    int stride; // steps between two states
    int count;
    int quickCount;
    bool sweeps; // the way there is too dear for auto: a few sweeps a step, then two steps of auto
} rgPlanSource;

static const rgPlanSource rgScenes[] = {
    {"humanoid", 0, 1e-3, 300, 10, 100, 10, false},
    {"quadruped", 0, 1e-3, 50, 20, 50, 5, false},
    {"quadruped-fall", 0, 1e-3, 200, 10, 100, 10, false},
    {"wall", 0, 1e-3, 1900, 5, 100, 10, false},
    {"pile", 100, 2e-3, 300, 10, 50, 5, false},
};
static const rgPlanSource rgPiles[] = {
    {"pile", 100, 2e-3, 150, 10, 30, 5, false},
    {"pile", 300, 2e-3, 200, 20, 20, 3, false},
    {"pile", 1000, 2e-3, 300, 100, 4, 0, true},
    {"pile", 3000, 2e-3, 300, 200, 2, 0, true},
};
static const char* const rgPileNames[] = {"pile 100", "pile 300", "pile 1000", "pile 3000"};

static rgResult rgStepOnce(rgSimulation* simulation, rgWorld* world, rgStepReport* report) {
    if (simulation->scene != NULL) {
        rgScene_Act(simulation->scene, world);
    }
    return rgWorld_Step(world, report);
}

// A saved world.
typedef struct rgPlanState {
    void* bytes;
    size_t size;
} rgPlanState;

static rgResult rgKeepState(rgPlanState* state, const rgWorld* world) {
    free(state->bytes);
    state->size = rgWorld_StateSize(world);
    state->bytes = rgCli_Allocate(state->size, 1);
    return rgWorld_Save(world, state->bytes, state->size);
}

// Bring the simulation to its next state; where it runs on sweeps, the last steps are those of
// `world`.
static bool rgReachState(const rgPlanSource* source, rgSimulation* simulation, rgWorld* world,
                         int steps, rgPlanState* state) {
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < steps; ++i) {
        result = rgStepOnce(simulation, simulation->world, NULL);
    }
    result = result == rg_ok ? rgKeepState(state, simulation->world) : result;
    if (source->sweeps && result == rg_ok) {
        result = rgWorld_Restore(world, state->bytes, state->size);
        for (int i = 0; result == rg_ok && i < 2; ++i) {
            result = rgStepOnce(simulation, world, NULL);
        }
        result = result == rg_ok ? rgKeepState(state, world) : result;
    }
    return result == rg_ok;
}

// All variants from one state, in turns; the least CPU time of each counts.
static bool rgMeasureState(rgPlanStudy* study, rgPlanGroup* group, rgSimulation* simulation,
                           rgWorld** worlds, const rgPlanState* state) {
    double least[rg_maxVariants] = {0}, spent = 0;
    rgStepReport reports[rg_maxVariants] = {0};
    bool good = true;
    // Once is enough for steps that take long.
    for (int r = 0; good && r < 5 && spent < 0.1 * study->bench->variantCount; ++r) {
        for (int v = 0; good && v < study->bench->variantCount; ++v) {
            good = rgWorld_Restore(worlds[v], state->bytes, state->size) == rg_ok;
            double begin = rgCli_ThreadSeconds();
            good = good && rgStepOnce(simulation, worlds[v], &reports[v]) == rg_ok;
            double seconds = rgCli_ThreadSeconds() - begin;
            least[v] = r == 0 ? seconds : fmin(least[v], seconds);
            spent += seconds;
        }
    }
    for (int v = 0; good && v < study->bench->variantCount; ++v) {
        const rgContactReport* report = &reports[v].contact;
        rgPlanSum_Add(&group->sums[v], report, report->status == rg_contactSolved, least[v]);
    }
    return good;
}

static bool rgMakeWorlds(rgPlanStudy* study, const rgSimulation* simulation, rgWorld** worlds) {
    rgWorldDef def = simulation->def;
    rgContactSolverDef standard = rgDefaultWorldDef().contact;
    for (int v = 0; v < study->bench->variantCount; ++v) {
        def.contact = standard;
        def.contact.tolerance = study->bench->tolerance;
        def.contact.disabled = study->bench->variants[v].def.disabled;
        if (rgCreateWorld(simulation->loaded.model, &def, NULL, &worlds[v]) != rg_ok) {
            return false;
        }
    }
    return true;
}

static bool rgMeasureStates(rgPlanStudy* study, rgPlanGroup* group, const rgPlanSource* source,
                            rgSimulation* simulation, rgWorld** worlds) {
    int count = study->quick ? source->quickCount : source->count;
    rgPlanState state = {NULL, 0};
    bool good = true;
    for (int k = 0; good && k < count; ++k) {
        int steps = k == 0 ? source->skip : source->stride;
        good = rgReachState(source, simulation, worlds[0], steps, &state) &&
               rgMeasureState(study, group, simulation, worlds, &state);
    }
    free(state.bytes);
    return good;
}

static bool rgRunSource(rgPlanStudy* study, rgPlanGroup* group, const rgPlanSource* source) {
    if (study->quick && source->quickCount == 0) {
        return true;
    }
    rgSimulation simulation;
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    arguments.what = source->what;
    arguments.bodyCount = source->bodyCount;
    arguments.timeStep = source->timeStep;
    if (source->sweeps) {
        arguments.solver = rgSolverIndex("pgs", 3);
        arguments.maxIterations = 30;
    }
    rgWorld* worlds[rg_maxVariants] = {0};
    bool good = rgSimulation_Begin(&simulation, &arguments) &&
                rgMakeWorlds(study, &simulation, worlds) &&
                rgMeasureStates(study, group, source, &simulation, worlds);
    if (!good) {
        rgCli_Error("%s: the simulation failed", source->what);
    }
    for (int v = 0; v < study->bench->variantCount; ++v) {
        rgDestroyWorld(worlds[v]);
    }
    rgSimulation_Free(&simulation);
    return good;
}

static bool rgRunStates(rgPlanStudy* study) {
    enum {
        sceneCount = sizeof(rgScenes) / sizeof(rgScenes[0]),
        pileCount = sizeof(rgPiles) / sizeof(rgPiles[0])
    };
    bool good = true;
    rgProgress progress;
    rgProgress_Begin(&progress, "stepping", sceneCount + pileCount);
    rgPlanGroup* scenes = rgAddGroup(study, "scenes");
    for (int i = 0; good && i < sceneCount; ++i) {
        rgProgress_Update(&progress, i, rgScenes[i].what);
        good = rgRunSource(study, scenes, &rgScenes[i]);
    }
    for (int i = 0; good && i < pileCount; ++i) {
        if (!study->quick || rgPiles[i].quickCount > 0) {
            rgProgress_Update(&progress, sceneCount + i, rgPileNames[i]);
            good = rgRunSource(study, rgAddGroup(study, rgPileNames[i]), &rgPiles[i]);
        }
    }
    rgProgress_End(&progress);
    return good;
}

// ---- report ----

static double rgOver(double sum, int count) {
    return count > 0 ? sum / count : NAN;
}

// Solved and time, or iterations and factorizations, of every group.
static void rgPrintPlanTable(const rgPlanStudy* study, bool work) {
    const char* headers[1 + 2 * rg_maxGroups] = {"without"};
    for (int g = 0; g < study->groupCount; ++g) {
        headers[1 + 2 * g] = study->groups[g].name;
        headers[2 + 2 * g] = work ? "fact" : "time";
    }
    rgTable table;
    rgTable_Init(&table, headers, 1 + 2 * study->groupCount);
    for (int v = 0; v < study->bench->variantCount; ++v) {
        rgTable_Add(&table, "%s", v == 0 ? "(auto)" : study->bench->variants[v].name);
        for (int g = 0; g < study->groupCount; ++g) {
            const rgPlanSum* base = &study->groups[g].sums[0];
            const rgPlanSum* s = &study->groups[g].sums[v];
            char time[16];
            if (work) {
                rgTable_Add(&table, "%.1f", rgOver(s->iterations, s->count));
                rgTable_Add(&table, "%.1f", rgOver(s->factorizations, s->count));
            } else if (v == 0) {
                rgTable_Add(&table, "%d/%d", s->solvedCount, s->count);
                rgTable_Add(&table, "%s", rgFormatSeconds(time, rgOver(s->seconds, s->count)));
            } else {
                rgTable_Add(&table, "%+d", s->solvedCount - base->solvedCount);
                rgTable_Add(&table, "x %.2f", s->seconds / base->seconds);
            }
        }
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

static void rgPrintPlanJson(const rgPlanStudy* study) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "study", study->bench->study);
    rgJson_Number(&json, "tolerance", study->bench->tolerance);
    rgJson_Bool(&json, "quick", study->quick);
    rgJson_Build(&json);
    rgJson_BeginArray(&json, "rows");
    for (int v = 0; v < study->bench->variantCount; ++v) {
        for (int g = 0; g < study->groupCount; ++g) {
            const rgPlanSum* s = &study->groups[g].sums[v];
            rgJson_BeginObject(&json, NULL);
            rgJson_String(&json, "without", v == 0 ? NULL : study->bench->variants[v].name);
            rgJson_String(&json, "group", study->groups[g].name);
            rgJson_Int(&json, "problems", s->count);
            rgJson_Int(&json, "solved", s->solvedCount);
            rgJson_Number(&json, "iterations_mean", rgOver(s->iterations, s->count));
            rgJson_Number(&json, "factorizations_mean", rgOver(s->factorizations, s->count));
            rgJson_Number(&json, "seconds_mean", rgOver(s->seconds, s->count));
            rgJson_EndObject(&json);
        }
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

bool rgPlanStudy_Run(rgPlanStudy* study) {
    if (study->files) {
        rgRunFiles(study, "fclib", "fclib", false);
        rgRunFiles(study, "robots", "robot_steps", false);
        rgRunFiles(study, "windows", "robot_steps", true);
    }
    bool good = !study->states || rgRunStates(study);
    rgRunRandom(study);
    return good;
}

int rgBench_Plan(rgBench* bench, bool quick, bool json) {
    rgPlanStudy* study = rgCli_Allocate(1, sizeof(rgPlanStudy));
    study->bench = bench;
    study->quick = quick;
    study->files = study->states = true;
    study->randomCount = quick ? 200 : 2000;
    bool good = rgPlanStudy_Run(study);
    if (json) {
        rgPrintPlanJson(study);
    } else {
        printf(
            "auto, and auto without one part at a time: solved and mean CPU time (of a solve; of a "
            "whole step in scenes\nand piles, whose variants all step from the same "
            "states), minima of repetitions in turns\n\n");
        rgPrintPlanTable(study, false);
        printf("\niterations and factorizations, means\n\n");
        rgPrintPlanTable(study, true);
    }
    free(study);
    return good ? rg_exitDone : rg_exitNo;
}
