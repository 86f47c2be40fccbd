// rigor bench solver: every solver on every problem, under one judge. Studies: all solvers, the
// additions to ADMM one by one, the paper's penalty rules, warm-started sequences, random problems,
// the parts of auto's plan.
#include "solver.h"
#include "wall.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    rg_studyCompare,
    rg_studyAblation,
    rg_studyPenalty,
    rg_studyWarm,
    rg_studyRandom,
    rg_studyPlan
};
static const char* const rgStudyNames[] = {"compare", "ablation", "penalty", "warm",
                                           "random",  "plan",     NULL};

typedef struct rgBenchOptions {
    int study;
    int model;
    int form;
    int repeat;
    int maxIterations;
    int first, count;
    double tolerance;
    double secondsPerRun;
    rgSolverArguments admm;
    const char* solvers;
    const char* profile;
    const char* parts;
    bool quick;
    bool json;
} rgBenchOptions;

static int rgParseBench(int argc, char** argv, rgBenchOptions* options, int* count) {
    *options = (rgBenchOptions){.count = 20000, .tolerance = 1e-6, .secondsPerRun = 1};
    options->admm = rgDefaultSolverArguments();
    rgOption table[] = {
        [RG_SOLVER_OPTION_COUNT] = {"--study", rg_optionChoice, &options->study, "what to compare",
                                    "S", rgStudyNames, 0, 0},
        {"--solvers", rg_optionText, &options->solvers, "only these, separated by commas", "LIST",
         NULL, 0, 0},
        {"--model", rg_optionChoice, &options->model, "exact friction or its convex relaxation",
         "M", rgModelNames, 0, 0},
        {"--form", rg_optionChoice, &options->form, "form of the matrix while solving", "F",
         rgFormNames, 0, 0},
        {"--tol", rg_optionNumber, &options->tolerance, "residual to reach", "T", NULL, 1e-300, 1},
        {"--max-iter", rg_optionInt, &options->maxIterations,
         "iterations at most (20000, studies random and plan 2000)", "N", NULL, 1, 1e9},
        {"--repeat", rg_optionInt, &options->repeat,
         "repetitions, the least time counts (5, study random 1)", "N", NULL, 1, 1e6},
        {"--count", rg_optionInt, &options->count, "study random: how many problems (20000)", "N",
         NULL, 1, 1e9},
        {"--first", rg_optionInt, &options->first, "study random: number of the first problem (0)",
         "N", NULL, 0, 1e9},
        {"--seconds", rg_optionNumber, &options->secondsPerRun,
         "stop repeating a solve after this time", "S", NULL, 0, 1e9},
        {"--parts", rg_optionText, &options->parts,
         "study plan: leave out these, separated by commas; a+b: both", "LIST", NULL, 0, 0},
        {"--quick", rg_optionFlag, &options->quick, "study plan: less of everything", NULL, NULL, 0,
         0},
        {"--profile", rg_optionText, &options->profile, "write performance profiles to a CSV file",
         "FILE", NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    rgSolverArguments_Options(&options->admm, table);
    const rgCommand command = {
        .name = "rigor bench solver",
        .usage = "[FILE|DIR...] [OPTIONS]",
        .summary =
            "Compare contact solvers on FCLIB problems; without arguments, on the built-in "
            "wall of cubes.\nTimes are CPU times of the solve call alone, the least of all "
            "repetitions, which alternate\nbetween the solvers. The study `warm` starts each "
            "step of a recorded sequence\n(NAME_0001.hdf5, NAME_0002.hdf5, ...) from the "
            "impulses of the step before. The study\n`random` needs no files: problems built "
            "from a known solution each, solved at the tolerance\nand at a thousandth of it, and "
            "judged by the program itself. The study `plan`\ntakes parts out of auto's plan, on "
            "files below $RIGOR_DATA, simulations and random problems.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, count);
    bool random = options->study == rg_studyRandom;
    options->repeat = options->repeat > 0 ? options->repeat : random ? 1 : 5;
    if (options->maxIterations == 0) {
        options->maxIterations = random || options->study == rg_studyPlan
                                     ? rgDefaultContactSolverDef().maxIterations
                                     : 20000;
    }
    options->solvers = options->solvers == NULL && random ? "auto" : options->solvers;
    return code;
}

// ---- variants ----

static rgVariant* rgAddVariant(rgBench* bench, const char* name, int solver) {
    rgVariant* variant = &bench->variants[bench->variantCount++];
    snprintf(variant->name, sizeof(variant->name), "%s", name);
    variant->def = rgSolverDef(solver);
    rgSolverArguments_Apply(&bench->arguments, &variant->def);
    return variant;
}

// All solvers, or those of a list. False after a message.
static bool rgAddSolvers(rgBench* bench, const char* list) {
    for (int i = 0; list == NULL && i < rg_solverCount; ++i) {
        rgAddVariant(bench, rgSolverNames[i], i);
    }
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        int solver = rgSolverIndex(list, length);
        if (solver < 0 || bench->variantCount == rg_maxVariants) {
            rgCli_Error("--solvers: '%.*s' is not a solver, or there are too many", (int)length,
                        list);
            return false;
        }
        rgAddVariant(bench, rgSolverNames[solver], solver);
        list += length + (list[length] == ',');
    }
    return true;
}

// Variants: the paper's ADMM with one addition at a time to all of them, and all without one.
static void rgAddAblation(rgBench* bench) {
    int admm = rgSolverIndex("admm", 4);
    rgAdmmDef paper = rgDefaultAdmmDef();
    rgAdmmDef fast = rgAcceleratedAdmmDef();
    static const char* const names[] = {"scaling", "relaxation", "anderson", "cooldown"};
    for (int kind = 0; kind < 2; ++kind) {
        rgVariant* base = rgAddVariant(bench, kind == 0 ? "paper" : "all", admm);
        base->def.admm = kind == 0 ? paper : fast;
        rgSolverArguments_Apply(&bench->arguments, &base->def);
        for (int i = 0; i < 4; ++i) {
            char name[24];
            snprintf(name, sizeof(name), "%s%s", kind == 0 ? "paper+" : "all-", names[i]);
            rgAdmmDef from = kind == 0 ? fast : paper;
            rgAdmmDef admmDef = kind == 0 ? paper : fast;
            admmDef.scaling = i == 0 ? from.scaling : admmDef.scaling;
            admmDef.relaxation = i == 1 ? from.relaxation : admmDef.relaxation;
            admmDef.andersonMemory = i == 2 ? from.andersonMemory : admmDef.andersonMemory;
            admmDef.cooldown = i == 3 ? from.cooldown : admmDef.cooldown;
            rgVariant* variant = rgAddVariant(bench, name, admm);
            variant->def.admm = admmDef;
            rgSolverArguments_Apply(&bench->arguments, &variant->def);
        }
    }
}

// The rules of the paper's Tables III and IV.
static void rgAddPenalties(rgBench* bench) {
    int admm = rgSolverIndex("admm", 4);
    static const double factors[] = {2, 4, 8, 16};
    static const double steps[] = {0.01, 0.05, 0.08};
    char name[24];
    for (int i = 0; i < 4; ++i) {
        snprintf(name, sizeof(name), "linear %g", factors[i]);
        rgVariant* variant = rgAddVariant(bench, name, admm);
        variant->def.admm.rule = rg_penaltyLinear;
        variant->def.admm.factor = factors[i];
    }
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof(name), "spectral %g", steps[i]);
        rgVariant* variant = rgAddVariant(bench, name, admm);
        variant->def.admm.rule = rg_penaltySpectral;
        variant->def.admm.exponentStep = steps[i];
    }
}

static bool rgMakeVariants(rgBench* bench, const rgBenchOptions* options) {
    if (options->study == rg_studyAblation) {
        rgAddAblation(bench);
    } else if (options->study == rg_studyPenalty) {
        rgAddPenalties(bench);
    } else if (options->study == rg_studyPlan) {
        if (!rgBench_AddPlans(bench, options->parts)) {
            return false;
        }
    } else if (!rgAddSolvers(bench, options->solvers)) {
        return false;
    }
    bool paperTest = options->study == rg_studyPenalty && options->admm.stop < 0;
    for (int i = 0; i < bench->variantCount; ++i) {
        rgVariant* variant = &bench->variants[i];
        variant->def.tolerance = options->tolerance;
        variant->def.maxIterations = options->maxIterations;
        variant->def.model = (rgContactModel)options->model;
        variant->def.form = (rgSystemForm)options->form;
        variant->def.stop = paperTest ? rg_stopPaper : variant->def.stop;
        rgResult result = rgCreateContactSolver(&variant->def, &variant->solver);
        if (result != rg_ok) {
            rgCli_Error("solver %s cannot be made: %s", variant->name, rgResult_Name(result));
            return false;
        }
    }
    return true;
}

// ---- problems ----

// The number at the end of a file's name; the rest of the name has *prefix characters.
static long rgStepNumber(const char* name, int* prefix) {
    const char* end = strrchr(name, '.');
    const char* start = end != NULL ? end : name + strlen(name);
    while (start > name && isdigit((unsigned char)start[-1])) {
        --start;
    }
    *prefix = (int)(start - name);
    return isdigit((unsigned char)*start) ? strtol(start, NULL, 10) : -1;
}

// Names are sorted, so that the step before is the problem before, if it is recorded at all.
static int rgFindPrevious(const rgBench* bench, int index) {
    if (index == 0 || bench->problems[index].keys == NULL ||
        bench->problems[index - 1].keys == NULL) {
        return -1;
    }
    int prefix, prefixBefore;
    const char* name = bench->problems[index].name;
    const char* before = bench->problems[index - 1].name;
    long step = rgStepNumber(name, &prefix);
    long stepBefore = rgStepNumber(before, &prefixBefore);
    bool follows = step >= 0 && stepBefore == step - 1 && prefix == prefixBefore &&
                   strncmp(name, before, (size_t)prefix) == 0;
    return follows ? index - 1 : -1;
}

bool rgBench_Load(rgBench* bench, const rgCaseFiles* files) {
    bench->problems = rgCli_Allocate((size_t)files->count, sizeof(rgBenchProblem));
    rgProgress progress;
    rgProgress_Begin(&progress, "reading", files->count);
    bool complete = true;
    for (int i = 0; i < files->count; ++i) {
        const rgCaseFile* file = &files->files[i];
        rgBenchProblem* problem = &bench->problems[bench->problemCount];
        rgProgress_Update(&progress, i, file->relative);
        if (!rgLoadCase(file->path, rg_fclibMatrixAuto, &problem->loaded)) {
            fprintf(stderr, "%s: error: %s\n", file->path, problem->loaded.fault);
            rgCase_Free(&problem->loaded);
            complete = false;
            continue;
        }
        problem->name = rgCli_CopyText(file->relative);
        problem->family = rgCli_CopyText(file->family);
        problem->problem = problem->loaded.problem;
        problem->contactCount = problem->loaded.contactCount;
        problem->keys = problem->loaded.keys;
        problem->previous = rgFindPrevious(bench, bench->problemCount);
        bench->problemCount += 1;
    }
    rgProgress_End(&progress);
    return complete;
}

// The wall in velocity space and as a dense matrix.
static void rgAddWalls(rgBench* bench, rgWall* wall, double* matrix) {
    rgWall_Build(wall);
    rgWall_Condense(wall, matrix);
    bench->problems = rgCli_Allocate(2, sizeof(rgBenchProblem));
    for (int i = 0; i < 2; ++i) {
        bench->problems[i] =
            (rgBenchProblem){.name = rgCli_CopyText(i == 0 ? "wall" : "wall, dense"),
                             .family = rgCli_CopyText(i == 0 ? "wall" : "wall, dense"),
                             .problem = wall->problem,
                             .contactCount = rg_wallContacts,
                             .previous = -1};
    }
    bench->problems[1].problem.delassus = (rgDelassus){.kind = rg_delassusDense, .matrix = matrix};
    bench->problemCount = 2;
}

// ---- runs ----

// First row of each contact, in the order of the keys.
static int* rgContactRows(const rgBenchProblem* problem) {
    int* rows = rgCli_Allocate((size_t)problem->contactCount, sizeof(int));
    int count = 0;
    for (int i = 0; i < problem->problem.blockCount && count < problem->contactCount; ++i) {
        if (problem->problem.blocks[i].kind == rg_blockCoulomb) {
            rows[count++] = problem->problem.blocks[i].firstRow;
        }
    }
    return rows;
}

// Impulses of the contacts that were there one step before; zeros for new ones and other rows.
static void rgTransfer(const rgBenchProblem* from, const double* lambdaBefore,
                       const rgBenchProblem* to, double* start) {
    int* rows = rgContactRows(to);
    int* rowsBefore = rgContactRows(from);
    for (int i = 0; i < to->contactCount; ++i) {
        for (int j = 0; j < from->contactCount; ++j) {
            if (memcmp(to->keys + 3 * i, from->keys + 3 * j, 3 * sizeof(int)) == 0) {
                memcpy(start + rows[i], lambdaBefore + rowsBefore[j], 3 * sizeof(double));
                break;
            }
        }
    }
    free(rows);
    free(rowsBefore);
}

// One problem, all variants: repetitions alternate between the variants, so that a slow moment of
// the machine hits all alike.
static void rgBench_Measure(rgBench* bench, int index, double secondsPerRun, double** lambda) {
    const rgBenchProblem* problem = &bench->problems[index];
    size_t rows = (size_t)problem->problem.rowCount;
    double* starts = rgCli_Allocate(rows * (size_t)bench->variantCount, sizeof(double));
    double* spent = rgCli_Allocate((size_t)bench->variantCount, sizeof(double));
    for (int v = 0; v < bench->variantCount; ++v) {
        double* next = rgCli_Allocate(rows, sizeof(double));
        if (bench->warm && problem->previous >= 0) {
            rgTransfer(&bench->problems[problem->previous], lambda[v], problem, starts + rows * v);
        }
        free(lambda[v]);
        lambda[v] = next;
        *rgBench_Run(bench, index, v) = (rgRun){.seconds = INFINITY};
    }
    for (int k = 0; k < bench->repeat; ++k) {
        for (int v = 0; v < bench->variantCount; ++v) {
            if (k > 0 && spent[v] > secondsPerRun) {
                continue;
            }
            double begin = rgCli_Seconds();
            rgRun_Repeat(rgBench_Run(bench, index, v), bench->variants[v].solver, &problem->problem,
                         starts + rows * v, lambda[v], NULL);
            spent[v] += rgCli_Seconds() - begin;
        }
    }
    for (int v = 0; v < bench->variantCount; ++v) {
        rgRun_Judge(rgBench_Run(bench, index, v), &bench->variants[v].def, &problem->problem,
                    lambda[v]);
    }
    free(spent);
    free(starts);
}

void rgBench_MeasureAll(rgBench* bench, double secondsPerRun) {
    size_t runCount = (size_t)bench->problemCount * (size_t)bench->variantCount;
    bench->runs = rgCli_Allocate(runCount, sizeof(rgRun));
    double* lambda[rg_maxVariants] = {0}; // impulses of the problem before
    rgProgress progress;
    rgProgress_Begin(&progress, "measuring", bench->problemCount);
    for (int i = 0; i < bench->problemCount; ++i) {
        rgProgress_Update(&progress, i, bench->problems[i].name);
        rgBench_Measure(bench, i, secondsPerRun, lambda);
    }
    rgProgress_End(&progress);
    for (int v = 0; v < bench->variantCount; ++v) {
        free(lambda[v]);
    }
}

void rgBench_FreeProblems(rgBench* bench) {
    for (int i = 0; i < bench->problemCount; ++i) {
        free(bench->problems[i].name);
        free(bench->problems[i].family);
        rgCase_Free(&bench->problems[i].loaded);
    }
    free(bench->problems);
    free(bench->runs);
}

static void rgBench_Free(rgBench* bench) {
    for (int i = 0; i < bench->variantCount; ++i) {
        rgDestroyContactSolver(bench->variants[i].solver);
    }
    rgBench_FreeProblems(bench);
}

static int rgBench_Report(const rgBench* bench, const rgBenchOptions* options) {
    if (options->json) {
        rgBench_PrintJson(bench);
    } else {
        rgBench_PrintFamilies(bench);
        rgBench_PrintRatios(bench);
        rgBench_PrintUnsolved(bench);
    }
    bool written = options->profile == NULL || rgBench_WriteProfile(bench, options->profile);
    return written ? rg_exitDone : rg_exitUsage;
}

int rgBench_Solver(int argc, char** argv) {
    rgBenchOptions options;
    int count = 0;
    int code = rgParseBench(argc, argv, &options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgBench bench = {.study = rgStudyNames[options.study],
                     .tolerance = options.tolerance,
                     .repeat = options.repeat,
                     .arguments = options.admm,
                     .warm = options.study == rg_studyWarm};
    rgCaseFiles files = {0};
    rgWall* wall = rgCli_Allocate(1, sizeof(rgWall));
    double* matrix = rgCli_Allocate((size_t)rg_wallRows * rg_wallRows, sizeof(double));
    code = rg_exitUsage;
    if (options.study == rg_studyRandom) {
        if (rgMakeVariants(&bench, &options)) {
            code = rgBench_Random(&bench, options.first, options.count, options.json);
        }
    } else if (options.study == rg_studyPlan) {
        if (rgMakeVariants(&bench, &options)) {
            code = rgBench_Plan(&bench, options.quick, options.json);
        }
    } else if (rgMakeVariants(&bench, &options) && rgFindCases(argv + 1, count, &files)) {
        bool complete = true;
        if (count == 0) {
            rgAddWalls(&bench, wall, matrix);
        } else {
            complete = rgBench_Load(&bench, &files);
        }
        rgBench_MeasureAll(&bench, options.secondsPerRun);
        code = rgBench_Report(&bench, &options);
        code = complete ? code : rg_exitUsage;
    }
    rgBench_Free(&bench);
    rgCaseFiles_Free(&files);
    free(matrix);
    free(wall);
    return code;
}
