// Shared types of the benchmarks of contact solvers: variants x problems -> runs.
#pragma once
#include "cases.h"
#include "measure.h"
#include "run.h"

// A solver with its settings.
typedef struct rgVariant {
    char name[32];
    rgContactSolverDef def;
    rgContactSolver* solver;
} rgVariant;

enum { rg_maxVariants = 24 };

typedef struct rgBenchProblem {
    char* name;   // relative path, or "wall"
    char* family; // its folder
    rgContactProblem problem;
    int contactCount;
    const int* keys;
    rgCase loaded; // owner, unless built in
    int previous;  // the problem one time step before, or -1
} rgBenchProblem;

typedef struct rgBench {
    const char* study;
    double tolerance;
    int repeat;
    bool warm;                   // start from the impulses of the problem before
    rgSolverArguments arguments; // arguments of ADMM variants, unless a study sets its own
    rgVariant variants[rg_maxVariants];
    int variantCount;
    rgBenchProblem* problems;
    int problemCount;
    rgRun* runs; // problemCount x variantCount
} rgBench;

rgRun* rgBench_Run(const rgBench* bench, int problem, int variant);
// True if the true residual is within the tolerance, whatever the solver's own test reports.
bool rgBench_IsTrue(const rgBench* bench, const rgRun* run);

// solver.c: files into problems, false when some could not be read; every variant on every
// problem; the problems and runs back.
bool rgBench_Load(rgBench* bench, const rgCaseFiles* files);
void rgBench_MeasureAll(rgBench* bench, double secondsPerRun);
void rgBench_FreeProblems(rgBench* bench);

// solver_plan.c: variants of auto without parts of its plan: "near,near+sweeps"; NULL: without each
// part. False after a message. The study; its exit code.
bool rgBench_AddPlans(rgBench* bench, const char* list);

// Sums over the runs of one variant in one group of problems.
typedef struct rgPlanSum {
    int count;
    int solvedCount;
    double iterations, factorizations, seconds;
} rgPlanSum;

enum { rg_maxGroups = 12 };

typedef struct rgPlanGroup {
    const char* name;
    rgPlanSum sums[rg_maxVariants];
} rgPlanGroup;

typedef struct rgPlanStudy {
    rgBench* bench; // its variants, with their solvers
    bool quick;     // less of everything
    bool files;     // those below $RIGOR_DATA
    bool states;    // states of simulations
    int randomCount;
    rgPlanGroup groups[rg_maxGroups];
    int groupCount;
} rgPlanStudy;

bool rgPlanStudy_Run(rgPlanStudy* study); // false after a message
int rgBench_Plan(rgBench* bench, bool quick, bool json);

// solver_random.c: problems first .. first + count - 1 of the random set; the exit code.
int rgBench_Random(const rgBench* bench, int first, int count, bool json);

// solver_report.c
void rgBench_PrintFamilies(const rgBench* bench);
// Ratios of auto, if it took part, to admm and to the better of admm and pgs.
void rgBench_PrintRatios(const rgBench* bench);
void rgBench_PrintUnsolved(const rgBench* bench);
void rgBench_PrintJson(const rgBench* bench);
// Dolan and More: the share of problems that a variant solves within a factor of the fastest one.
bool rgBench_WriteProfile(const rgBench* bench, const char* path);
