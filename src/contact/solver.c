// The contact solver: checks, splits into islands, runs the chosen method on each, judges the
// whole.
#include "contact/cones.h"
#include "contact/problem.h"
#include "contact/run.h"
#include "contact/tuning.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define RG_CONTACT_COOKIE 0x52434f4eu

rgAdmmDef rgDefaultAdmmDef(void) {
    return (rgAdmmDef){
        .rule = rg_penaltySpectral,
        .proximal = 1e-6,
        .exponent = 0.2,
        .exponentStep = 0.05,
        .factor = 2,
        .ratio = 10,
        .relaxation = 1,
        .cooldown = 1,
    };
}

rgAdmmDef rgAcceleratedAdmmDef(void) {
    rgAdmmDef def = rgDefaultAdmmDef();
    def.scaling = true;
    def.relaxation = 1.6;
    def.andersonMemory = 20;
    def.cooldown = 5;
    return def;
}

rgContactSolverDef rgDefaultContactSolverDef(void) {
    return (rgContactSolverDef){
        .method = rg_methodAuto,
        .maxIterations = 2000,
        .tolerance = 1e-6,
        .overRelaxation = 1,
        .admm = rgDefaultAdmmDef(),
        .splitIslands = true,
        .cookie = RG_CONTACT_COOKIE,
    };
}

// Memory of one worker, which solves islands one after the other.
typedef struct rgWorkspace {
    rgArena arena;
    rgBlockFactor* factor;
} rgWorkspace;

typedef struct rgIslandOutcome {
    rgResult result;
    rgContactStatus status;
    rgContactStatus left; // solved, or infeasible where blocks were left out
    int iterationCount;
    int factorizationCount;
    int phaseIterations[rg_phaseCount];
} rgIslandOutcome;

struct rgContactSolver {
    rgContactSolverDef def;
    const rgKernels* kernels;
    rgArena arena; // the whole problem: layout, outcomes, judge
    int workerCount;
    rgWorkspace* workspaces;
    rgContactRecord* history;
    int historyCount;
    int historyCapacity;
    int* conflict; // blocks of the problem
    int conflictCapacity;
    bool keepsStarts; // searches around the start even if zero impulses are an answer
};

// One solve in progress, shared by the islands.
typedef struct rgSolve {
    rgContactSolver* solver;
    const rgContactProblem* problem;
    rgLayout layout;
    const double* start; // where the caller began, n
    double* lambda;
    double tolerance;   // of the runs
    double reference;   // ncp.11: least V [m/s]
    rgStart* starts;    // per tree; NULL: unknown
    int factorizations; // most of an island
    rgStart* islandStarts;
    rgIslandOutcome* outcomes;
    bool* conflict; // per block
} rgSolve;

_Static_assert(rg_phaseCount <= RG_PHASE_CAPACITY, "reports have room for every phase");

// True if the method can solve the model.
static bool rgMethodSupports(rgContactMethod method, rgContactModel model) {
    switch (method) {
    case rg_methodAuto:
    case rg_methodPgs:
        return true;
    case rg_methodPivot:
        return rgModelSides(model) > 0;
    case rg_methodBisection:
    case rg_methodDojo:
    case rg_methodStaggered:
        return model == rg_modelNcp;
    default:
        return rgModelSides(model) == 0;
    }
}

static bool rgContactSolverDef_IsValid(const rgContactSolverDef* def) {
    const rgAdmmDef* admm = &def->admm;
    bool numbers = def->tolerance > 0 && def->accuracy >= 0 && def->accuracy < INFINITY &&
                   def->maxIterations >= 0 && def->relativeTolerance >= 0 &&
                   def->overRelaxation > 0 && def->overRelaxation < 2;
    bool admmNumbers = admm->proximal > 0 && isfinite(admm->exponent) && admm->exponentStep > 0 &&
                       admm->factor > 1 && admm->ratio >= 1 && admm->penalty >= 0 &&
                       admm->penalty < INFINITY && admm->relaxation > 0 && admm->relaxation < 2 &&
                       admm->andersonMemory >= 0 && admm->andersonMemory <= 100 &&
                       admm->cooldown >= 1;
    bool choices =
        (int)def->kernels >= 0 && def->kernels <= rg_kernelsNeon && (int)def->method >= 0 &&
        def->method <= rg_methodStaggered && (int)def->model >= 0 && def->model <= rg_modelLcp8 &&
        (int)def->stop >= 0 && def->stop <= rg_stopPaper && (int)def->form >= 0 &&
        def->form <= rg_formVelocity && (int)admm->rule >= 0 && admm->rule <= rg_penaltyConstant;
    return numbers && admmNumbers && choices && rgMethodSupports(def->method, def->model);
}

// Residual that is enough.
static double rgContactSolverDef_Enough(const rgContactSolverDef* def) {
    return def->method == rg_methodAuto ? fmax(def->tolerance, def->accuracy) : def->tolerance;
}

// True if the paper's algorithm ends by the paper's own test.
static bool rgContactSolverDef_IsPaper(const rgContactSolverDef* def) {
    return def->method == rg_methodAdmm && def->stop == rg_stopPaper;
}

rgResult rgCreateContactSolver(const rgContactSolverDef* def, rgContactSolver** solver) {
    rgContactSolverDef usual = rgDefaultContactSolverDef();
    def = def != NULL ? def : &usual;
    if (solver == NULL || def->cookie != RG_CONTACT_COOKIE || !rgContactSolverDef_IsValid(def)) {
        return rg_errorArgument;
    }
    rgContactSolver* made = rgAllocate(&def->allocator, 1, sizeof(rgContactSolver));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->def = *def;
    made->def.allocator = rgResolveAllocator(&def->allocator);
    made->kernels = rgSelectKernels(def->kernels);
    rgArena_Init(&made->arena, &made->def.allocator);
    made->workerCount = RG_MAX(def->tasks.workerCount, 1);
    made->workspaces =
        rgAllocate(&made->def.allocator, (size_t)made->workerCount, sizeof(rgWorkspace));
    rgResult result = made->workspaces != NULL ? rg_ok : rg_errorMemory;
    for (int i = 0; result == rg_ok && i < made->workerCount; ++i) {
        rgWorkspace* workspace = made->workspaces + i;
        rgArena_Init(&workspace->arena, &made->def.allocator);
        result = rgCreateBlockFactor(&made->def.allocator, made->kernels, &workspace->factor);
    }
    if (result != rg_ok) {
        rgDestroyContactSolver(made);
        return result;
    }
    *solver = made;
    return rg_ok;
}

void rgContactSolver_KeepStarts(rgContactSolver* solver) {
    solver->keepsStarts = true;
}

void rgDestroyContactSolver(rgContactSolver* solver) {
    if (solver == NULL) {
        return;
    }
    for (int i = 0; solver->workspaces != NULL && i < solver->workerCount; ++i) {
        rgDestroyBlockFactor(solver->workspaces[i].factor);
        rgArena_Free(&solver->workspaces[i].arena);
    }
    rgAllocator allocator = solver->def.allocator;
    rgArena_Free(&solver->arena);
    rgRelease(&allocator, solver->history);
    rgRelease(&allocator, solver->conflict);
    rgRelease(&allocator, solver->workspaces);
    rgRelease(&allocator, solver);
}

// True if every block of G on the diagonal is zero: constraints between fixed bodies. Their free
// velocities cannot change, so that the island has no solution.
static bool rgSystem_IsImmovable(const rgSystem* system) {
    for (int i = 0; i < system->entryCount; ++i) {
        if (system->diagonal[i] != 0) {
            return false;
        }
    }
    return system->n > 0;
}

// Append the records of one island to the solver's history.
static rgResult rgKeepHistory(rgSolve* solve, int island, const rgRun* run) {
    rgContactSolver* solver = solve->solver;
    if (run->history == NULL) {
        return rg_ok;
    }
    int kept = solver->historyCount;
    rgResult result =
        rgReserve(&solver->def.allocator, (void**)&solver->history, &solver->historyCapacity, kept,
                  kept + run->historyCount, sizeof(rgContactRecord));
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < run->historyCount; ++i) {
        solver->history[kept + i] = run->history[i];
        solver->history[kept + i].island = island;
    }
    solver->historyCount += run->historyCount;
    return rg_ok;
}

static rgContactStatus rgWorseStatus(rgContactStatus a, rgContactStatus b) {
    // unsolved, solved, stalled, limit, infeasible
    static const int rank[] = {4, 0, 2, 1, 3};
    return rank[a] >= rank[b] ? a : b;
}

// Tolerance of the first phase. Bodies at rest are solved beyond the tolerance, so that their
// impulses hold in the next steps without being solved again; only auto does so.
static double rgSolve_FirstTolerance(const rgSolve* solve, int island) {
    const rgContactSolverDef* def = &solve->solver->def;
    bool moves = solve->starts == NULL || solve->islandStarts[island] <= rg_startResumed;
    if (moves || def->method != rg_methodAuto) {
        return solve->tolerance;
    }
    return RG_REST_TOLERANCE_RATIO * def->tolerance;
}

static rgContactStatus rgRun_Status(const rgRun* run, bool solved) {
    if (solved) {
        return rg_contactSolved;
    }
    if (run->infeasible) {
        return rg_contactInfeasible;
    }
    return rgRun_MayContinue(run) ? rg_contactStalled : rg_contactLimit;
}

// Blocks of the problem that the run names as contradictory.
static void rgSolve_MarkConflict(rgSolve* solve, const rgSystem* system, const rgRun* run) {
    const rgLayout* layout = &solve->layout;
    for (int i = 0; i < system->blockCount; ++i) {
        if (run->conflict[i]) {
            int row = system->globalRow[system->blocks[i].row];
            solve->conflict[layout->blocks[layout->blockOfRow[row]].given] = true;
        }
    }
}

static rgResult rgSolveSystem(rgSolve* solve, rgSystem* system, rgIslandOutcome* outcome) {
    const rgContactSolverDef* def = &solve->solver->def;
    int island = (int)(outcome - solve->outcomes);
    bool paper = rgContactSolverDef_IsPaper(def);
    rgRun run;
    rgResult result = rgRun_Init(&run, def, system, solve->tolerance, solve->start);
    if (result != rg_ok) {
        return result;
    }
    if (system->blockCount <= RG_LARGE_BLOCK_COUNT) {
        run.factorizationLimit = solve->factorizations;
    }
    run.accuracy = RG_RUN_TOLERANCE_RATIO * rgContactSolverDef_Enough(def);
    run.firstTolerance = rgSolve_FirstTolerance(solve, island);
    run.infeasible = rgSystem_IsImmovable(system);
    if (run.infeasible) {
        memset(run.conflict, 1, (size_t)system->blockCount * sizeof(bool));
    } else if (paper || run.bestResidual > run.firstTolerance) {
        result = rgRunMethod(&run);
    }
    outcome->iterationCount = run.iterationCount;
    outcome->factorizationCount += system->factorizationCount;
    memcpy(outcome->phaseIterations, run.phaseIterations, sizeof(run.phaseIterations));
    if (result == rg_ok) {
        result = rgSystem_Store(system, run.best, solve->lambda);
    }
    if (result != rg_ok) {
        return result;
    }
    size_t bytes = (size_t)system->n * sizeof(double);
    if (solve->starts != NULL && rgRun_Solved(&run) && memcmp(run.best, run.start, bytes) == 0) {
        solve->islandStarts[island] = rg_startAccepted;
    }
    bool solved = paper ? run.accepted : rgRun_Satisfied(&run);
    outcome->status = rgWorseStatus(outcome->left, rgRun_Status(&run, solved));
    rgSolve_MarkConflict(solve, system, &run);
    return rgKeepHistory(solve, island, &run);
}

// Leave out and name contacts whose normal cannot move, such as a turntable that stands in the
// floor: if their free velocity closes them, no impulse of any contact can open them. True if there
// are any.
static bool rgDropImmovable(rgSolve* solve, rgSystemDef* def, const rgSystem* system, int* members,
                            rgIslandOutcome* outcome) {
    rgLayout* layout = &solve->layout;
    bool any = false;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        if (!block->immovable || system->g[block->row + 2] >= 0) {
            continue;
        }
        int own = layout->blockOfRow[system->globalRow[block->row]];
        layout->placeOfBlock[own] = -1;
        solve->conflict[layout->blocks[own].given] = true;
        memset(solve->lambda + layout->blocks[own].firstRow, 0,
               (size_t)block->size * sizeof(double));
        outcome->left = outcome->status = rg_contactInfeasible;
        any = true;
    }
    int count = 0;
    for (int i = 0; i < def->memberCount; ++i) {
        if (layout->placeOfBlock[members[i]] >= 0) {
            members[count++] = members[i];
        }
    }
    def->memberCount = count;
    return any;
}

// Zero impulses solve the island exactly.
static void rgClearIsland(rgSolve* solve, const rgSystem* system) {
    for (int i = 0; i < system->n; ++i) {
        solve->lambda[system->globalRow[i]] = 0;
    }
}

// True for islands whose own work is spread over the tasks.
static bool rgSolve_IsLarge(const rgSolve* solve, int island) {
    const int* start = solve->layout.islandStart + island;
    return start[1] - start[0] > RG_LARGE_BLOCK_COUNT;
}

static rgResult rgSolveMembers(rgSolve* solve, int island, rgWorkspace* workspace,
                               rgIslandOutcome* outcome) {
    rgContactSolver* solver = solve->solver;
    const int* start = solve->layout.islandStart + island;
    int* members = solve->layout.members + start[0];
    rgSystemDef def = {
        .problem = solve->problem,
        .layout = &solve->layout,
        .memberCount = start[1] - start[0],
        .members = members,
        .model = solver->def.model,
        .form = solver->def.form,
        .reference = solve->reference,
        .scaled = solver->def.method != rg_methodAdmm || solver->def.admm.scaling,
        .keepsStart = solver->keepsStarts,
        .eliminate = solver->def.method == rg_methodAuto && rgModelSides(solver->def.model) == 0,
        .kernels = solver->kernels,
        .arena = &workspace->arena,
        .factor = workspace->factor,
    };
    if (rgSolve_IsLarge(solve, island)) {
        def.tasks = solver->def.tasks;
    }
    rgSystem system;
    rgResult result = rgBlockFactor_SetTasks(workspace->factor, &def.tasks);
    if (result == rg_ok) {
        result = rgBuildSystem(&def, &system);
    }
    if (result == rg_ok && system.velocityUnit != 0 && def.scaled &&
        rgDropImmovable(solve, &def, &system, members, outcome)) {
        result = rgBuildSystem(&def, &system);
    }
    if (result != rg_ok) {
        return result;
    }
    if (system.velocityUnit == 0) {
        rgClearIsland(solve, &system);
        return rg_ok;
    }
    return rgSolveSystem(solve, &system, outcome);
}

static void rgSolveIsland(rgSolve* solve, int island, int worker) {
    rgWorkspace* workspace = solve->solver->workspaces + worker;
    rgIslandOutcome* outcome = solve->outcomes + island;
    *outcome = (rgIslandOutcome){.status = rg_contactSolved, .left = rg_contactSolved};
    if (solve->starts != NULL && solve->islandStarts[island] == rg_startAccepted) {
        return;
    }
    rgArena_Reset(&workspace->arena);
    outcome->result = rgSolveMembers(solve, island, workspace, outcome);
}

static void rgSolveSmallIsland(int island, int worker, void* context) {
    rgSolve* solve = context;
    if (!rgSolve_IsLarge(solve, island)) {
        rgSolveIsland(solve, island, worker);
    }
}

// Large islands one after the other on all threads, then the small ones at the same time.
static void rgSolveEachIsland(rgSolve* solve) {
    const rgContactSolverDef* def = &solve->solver->def;
    int count = solve->layout.islandCount;
    for (int i = 0; i < count; ++i) { // records of a history are in the order of the islands
        if (def->recordHistory || rgSolve_IsLarge(solve, i)) {
            rgSolveIsland(solve, i, 0);
        }
    }
    if (!def->recordHistory) {
        rgTasks_Run(&def->tasks, count, rgSolveSmallIsland, solve);
    }
}

// Start of an island: the least settled of its trees decides.
static rgResult rgSolve_FindStarts(rgSolve* solve) {
    const rgLayout* layout = &solve->layout;
    if (solve->starts == NULL || layout->blockOfPart == NULL) {
        solve->starts = NULL;
        return rg_ok;
    }
    solve->islandStarts = RG_TAKE(&solve->solver->arena, rgStart, layout->islandCount);
    if (solve->islandStarts == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < layout->islandCount; ++i) {
        solve->islandStarts[i] = rg_startKept;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        if (layout->blockOfPart[p] >= 0) {
            rgStart* start = &solve->islandStarts[layout->islandOfBlock[layout->blockOfPart[p]]];
            *start = RG_MIN(*start, solve->starts[p]);
        }
    }
    return rg_ok;
}

static bool rgSolve_MayAccept(const rgSolve* solve) {
    for (int i = 0; solve->starts != NULL && i < solve->layout.islandCount; ++i) {
        if (solve->islandStarts[i] != rg_startMoves) {
            return true;
        }
    }
    return false;
}

// Accept the starts of islands at rest, and of those that an earlier pass solved, which meet the
// tolerance. The residual is computed from W, so that acceptance does not depend on M being given
// as well. all: every island is accepted, and the residual is that of the whole problem.
static rgResult rgSolve_AcceptStarts(rgSolve* solve, rgResidual* residual, bool* all) {
    const rgLayout* layout = &solve->layout;
    const rgContactSolverDef* def = &solve->solver->def;
    rgArena* arena = &solve->solver->arena;
    *all = false;
    if (!rgSolve_MayAccept(solve)) {
        return rg_ok;
    }
    rgContactProblem problem = *solve->problem;
    problem.delassus.mass.value = NULL;
    double* residuals = RG_TAKE(arena, double, layout->islandCount);
    rgArenaMark mark = rgArena_Mark(arena);
    if (residuals == NULL) {
        return rg_errorMemory;
    }
    rgResult result =
        rgJudge(&problem, layout, def->model, solve->lambda, arena, residual, residuals);
    rgArena_Return(arena, mark);
    if (result != rg_ok) {
        return result;
    }
    *all = true;
    for (int i = 0; i < layout->islandCount; ++i) {
        rgStart* start = &solve->islandStarts[i];
        double most = *start == rg_startResumed ? rgContactSolverDef_Enough(def)
                      : *start == rg_startKept  ? def->tolerance
                                                : RG_START_TOLERANCE_RATIO * def->tolerance;
        if (*start != rg_startMoves && residuals[i] <= most) {
            *start = rg_startAccepted;
        } else {
            *all = false;
        }
    }
    return rg_ok;
}

// Tell the caller the trees of islands whose start was accepted.
static void rgSolve_ReturnStarts(const rgSolve* solve) {
    const rgLayout* layout = &solve->layout;
    for (int p = 0; solve->starts != NULL && p < layout->partCount; ++p) {
        int block = layout->blockOfPart[p];
        if (block >= 0 && solve->islandStarts[layout->islandOfBlock[block]] == rg_startAccepted) {
            solve->starts[p] = rg_startAccepted;
        }
    }
}

static rgResult rgSummarise(const rgSolve* solve, rgContactReport* report) {
    int islands = solve->layout.islandCount;
    for (int i = 0; i < islands; ++i) {
        const rgIslandOutcome* outcome = solve->outcomes + i;
        if (outcome->result != rg_ok) {
            return outcome->result;
        }
        report->status = rgWorseStatus(report->status, outcome->status);
        report->factorizationCount += outcome->factorizationCount;
        if (outcome->iterationCount > report->iterationCount) {
            report->iterationCount = outcome->iterationCount;
            memcpy(report->phaseIterations, outcome->phaseIterations,
                   sizeof(outcome->phaseIterations));
        }
    }
    return rg_ok;
}

// Residual of the whole problem by its islands, whether or not these were solved apart. It decides
// the status: runs compute in another order and may be off by rounding.
static rgResult rgSolve_JudgeWhole(const rgSolve* solve, rgContactReport* report) {
    rgContactSolver* solver = solve->solver;
    rgArenaMark mark = rgArena_Mark(&solver->arena);
    rgLayout islands = solve->layout;
    rgResult result = rg_ok;
    if (!solver->def.splitIslands) {
        result = rgBuildLayout(solve->problem, true, &solver->arena, &islands);
    }
    if (result == rg_ok) {
        result = rgJudge(solve->problem, &islands, solver->def.model, solve->lambda, &solver->arena,
                         &report->residual, NULL);
    }
    rgArena_Return(&solver->arena, mark);
    if (result != rg_ok || rgContactSolverDef_IsPaper(&solver->def)) {
        return result;
    }
    if (report->residual.total <= rgContactSolverDef_Enough(&solver->def)) {
        report->status = rg_contactSolved;
    } else if (report->status == rg_contactSolved) {
        report->status = rg_contactStalled;
    }
    return rg_ok;
}

// Solve the islands whose starts are not accepted, then judge the whole.
static rgResult rgSolveIslands(rgSolve* solve, rgContactReport* report) {
    rgContactSolver* solver = solve->solver;
    solver->historyCount = 0;
    solve->tolerance = RG_RUN_TOLERANCE_RATIO * solver->def.tolerance;
    *report =
        (rgContactReport){.status = rg_contactSolved, .islandCount = solve->layout.islandCount};
    bool accepted;
    rgResult result = rgSolve_AcceptStarts(solve, &report->residual, &accepted);
    if (result == rg_ok && !accepted) {
        rgSolveEachIsland(solve);
        result = rgSummarise(solve, report);
    }
    rgSolve_ReturnStarts(solve);
    if (result != rg_ok || (accepted && solve->problem->delassus.mass.value == NULL)) {
        return result;
    }
    return rgSolve_JudgeWhole(solve, report);
}

// Velocity error of zero impulses in a row, as far as unbounded impulses can remove it.
static double rgUnboundedError(const rgBlock* block, double g) {
    switch (block->kind) {
    case rg_blockFree:
        return fabs(g);
    case rg_blockHalfLine:
        return g < 0 ? -g : 0;
    default:
        return (g < 0 ? block->upper : -block->lower) == INFINITY ? fabs(g) : 0;
    }
}

// ncp.11: Least reference velocity: that of the problem, or a ratio of the largest velocity error
// of zero impulses that unbounded ones can remove.
static double rgSolve_Reference(const rgSolve* solve) {
    const rgContactProblem* problem = solve->problem;
    const double* length = problem->rowLength;
    double whole = 0;
    if (problem->referenceVelocity > 0) {
        return problem->referenceVelocity;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = problem->blocks + b;
        bool contact = block->kind == rg_blockCoulomb;
        for (int i = 0; i < (contact ? 1 : block->rowCount); ++i) {
            int row = block->firstRow + i;
            const double* g = problem->freeVelocity + row;
            double error = contact ? rgOpeningError(block->mu, solve->solver->def.model, g)
                                   : rgUnboundedError(block, *g);
            whole = RG_MAX(whole, error * (length != NULL ? length[row] : 1));
        }
    }
    return RG_REFERENCE_RATIO * whole;
}

static rgResult rgListConflict(rgSolve* solve, rgContactReport* report) {
    rgContactSolver* solver = solve->solver;
    for (int b = 0; b < solve->problem->blockCount; ++b) {
        if (!solve->conflict[b]) {
            continue;
        }
        rgResult result =
            rgReserve(&solver->def.allocator, (void**)&solver->conflict, &solver->conflictCapacity,
                      report->conflictCount, report->conflictCount + 1, sizeof(int));
        if (result != rg_ok) {
            return result;
        }
        solver->conflict[report->conflictCount++] = b;
    }
    report->conflict = report->conflictCount > 0 ? solver->conflict : NULL;
    return rg_ok;
}

static rgResult rgSolveAll(rgSolve* solve, rgContactReport* report) {
    rgContactSolver* solver = solve->solver;
    rgArena* arena = &solver->arena;
    rgResult result =
        rgBuildLayout(solve->problem, solver->def.splitIslands, arena, &solve->layout);
    if (result != rg_ok) {
        return result;
    }
    solve->reference = rgSolve_Reference(solve);
    solve->outcomes = RG_TAKE(arena, rgIslandOutcome, solve->layout.islandCount);
    solve->conflict = RG_TAKE(arena, bool, solve->problem->blockCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    memset(solve->conflict, 0, (size_t)solve->problem->blockCount * sizeof(bool));
    result = rgSolve_FindStarts(solve);
    if (result == rg_ok) {
        result = rgSolveIslands(solve, report);
    }
    if (result == rg_ok) {
        result = rgListConflict(solve, report);
    }
    if (solver->historyCount > 0) {
        report->history = solver->history;
        report->historyCount = solver->historyCount;
    }
    return result;
}

static rgResult rgContactSolver_SolveChecked(rgContactSolver* solver,
                                             const rgContactProblem* problem, double* lambda,
                                             double* sigma, rgStart* starts, int factorizations,
                                             rgContactReport* report) {
    size_t bytes = (size_t)problem->rowCount * sizeof(double);
    rgArena_Reset(&solver->arena);
    rgSolve solve = {.solver = solver,
                     .problem = problem,
                     .start = lambda,
                     .starts = starts,
                     .factorizations = factorizations > 0 ? factorizations : INT_MAX};
    solve.lambda = RG_TAKE(&solver->arena, double, problem->rowCount);
    if (solver->arena.failed) {
        return rg_errorMemory;
    }
    if (bytes > 0) {
        memcpy(solve.lambda, lambda, bytes);
    }
    rgContactReport own;
    rgResult result = rgSolveAll(&solve, &own);
    for (int i = 0; result == rg_ok && i < problem->rowCount; ++i) {
        result = isfinite(solve.lambda[i]) ? rg_ok : rg_errorNumeric; // products overflowed
    }
    if (result == rg_ok && sigma != NULL) {
        result = rgJudgeVelocity(problem, &solve.layout, solve.lambda, &solver->arena, sigma);
    }
    if (result == rg_ok && bytes > 0) {
        memcpy(lambda, solve.lambda, bytes);
    }
    if (result == rg_ok && report != NULL) {
        *report = own;
    }
    return result;
}

rgResult rgContactSolver_Solve(rgContactSolver* solver, const rgContactProblem* problem,
                               double* lambda, double* sigma, rgContactReport* report) {
    if (solver == NULL || rgContactProblem_Check(problem, NULL) != rg_ok ||
        (lambda == NULL && problem->rowCount > 0)) {
        return rg_errorArgument;
    }
    return rgContactSolver_SolveChecked(solver, problem, lambda, sigma, NULL, 0, report);
}

rgResult rgContactSolver_SolveBuilt(rgContactSolver* solver, const rgContactProblem* problem,
                                    double* lambda, rgStart* starts, int factorizations,
                                    rgContactReport* report) {
    return rgContactProblem_IsBuilt(problem)
               ? rgContactSolver_SolveChecked(solver, problem, lambda, NULL, starts, factorizations,
                                              report)
               : rg_errorNumeric;
}

static rgResult rgContactSolver_JudgeChecked(rgContactSolver* solver,
                                             const rgContactProblem* problem, const double* lambda,
                                             rgResidual* residual) {
    rgArena_Reset(&solver->arena);
    rgLayout layout;
    rgResult result = rgBuildLayout(problem, true, &solver->arena, &layout);
    return result == rg_ok ? rgJudge(problem, &layout, solver->def.model, lambda, &solver->arena,
                                     residual, NULL)
                           : result;
}

rgResult rgContactSolver_Judge(rgContactSolver* solver, const rgContactProblem* problem,
                               const double* lambda, rgResidual* residual) {
    if (solver == NULL || residual == NULL || rgContactProblem_Check(problem, NULL) != rg_ok ||
        (lambda == NULL && problem->rowCount > 0)) {
        return rg_errorArgument;
    }
    return rgContactSolver_JudgeChecked(solver, problem, lambda, residual);
}
