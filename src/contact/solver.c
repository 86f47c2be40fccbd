// The contact solver: checks, splits into islands, runs the chosen method on each, judges the
// whole.
#include "contact/cones.h"
#include "contact/problem.h"
#include "contact/run.h"
#include "contact/tuning.h"

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

// What one worker needs to solve islands, one after the other.
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
    int* conflict; // blocks
    int conflictCapacity;
};

// One solve in progress, shared by the islands.
typedef struct rgSolve {
    rgContactSolver* solver;
    const rgContactProblem* problem;
    rgLayout layout;
    const double* start; // where the caller began, n
    double* lambda;
    double tolerance; // what the runs aim at
    double reference; // (11) least V [m/s]
    rgStart* rest;    // per tree; NULL: nothing is known of it
    rgStart* islandStarts;
    rgIslandOutcome* outcomes;
    bool* conflict; // per block
} rgSolve;

_Static_assert(rg_phaseCount <= RG_PHASE_CAPACITY, "reports have room for every phase");

// Which methods know which models.
static bool rgMethodSuits(rgContactMethod method, rgContactModel model) {
    switch (method) {
    case rg_methodAuto:
    case rg_methodPgs:
        return true;
    case rg_methodPivot:
        return rgModelSides(model) > 0;
    case rg_methodBisection:
        return model == rg_modelNcp;
    default:
        return rgModelSides(model) == 0;
    }
}

static bool rgContactSolverDef_IsValid(const rgContactSolverDef* def) {
    const rgAdmmDef* admm = &def->admm;
    bool numbers = def->tolerance > 0 && def->budget >= 0 && def->budget < INFINITY &&
                   def->maxIterations >= 0 && def->relativeTolerance >= 0 &&
                   def->overRelaxation > 0 && def->overRelaxation < 2;
    bool admmNumbers = admm->proximal > 0 && isfinite(admm->exponent) && admm->exponentStep > 0 &&
                       admm->factor > 1 && admm->ratio >= 1 && admm->penalty >= 0 &&
                       admm->penalty < INFINITY && admm->relaxation > 0 && admm->relaxation < 2 &&
                       admm->andersonMemory >= 0 && admm->andersonMemory <= 100 &&
                       admm->cooldown >= 1;
    bool choices =
        (int)def->kernels >= 0 && def->kernels <= rg_kernelsAvx512 && (int)def->method >= 0 &&
        def->method <= rg_methodBisection && (int)def->model >= 0 && def->model <= rg_modelLcp8 &&
        (int)def->stop >= 0 && def->stop <= rg_stopPaper && (int)def->form >= 0 &&
        def->form <= rg_formVelocity && (int)admm->rule >= 0 && admm->rule <= rg_penaltyConstant;
    return numbers && admmNumbers && choices && rgMethodSuits(def->method, def->model);
}

// The paper's algorithm with the paper's own stopping test.
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

// The central path ends a little before the solution: Newton goes the rest of the way.
static rgResult rgRunPolishedInterior(rgRun* run, int limit) {
    rgResult result =
        rgRunInterior(run, &(rgInteriorOptions){.limit = RG_MIN(limit, RG_INTERIOR_ITERATIONS),
                                                .blockingMost = RG_BLOCKING_MOST_COUNT});
    if (result == rg_ok && !rgRun_Solved(run)) {
        result = rgRunNewton(run, run->best,
                             &(rgNewtonOptions){.limit = RG_POLISH_END_ITERATIONS,
                                                .weight = 1,
                                                .regularisation = RG_NEWTON_SHIFT_RATIO});
    }
    return result;
}

// Polygons in place of discs: pivots, and sweeps where they do not get there.
static rgResult rgRunLinearised(rgRun* run, int limit) {
    rgResult result = rgRunPivots(run);
    return result == rg_ok && !rgRun_Solved(run) ? rgRunGaussSeidel(run, run->start, limit, 1)
                                                 : result;
}

static rgResult rgRunMethod(rgRun* run) {
    const rgContactSolverDef* def = run->def;
    int limit = def->maxIterations;
    switch (def->method) {
    case rg_methodNewton:
        return rgRunNewton(run, run->start,
                           &(rgNewtonOptions){.limit = limit,
                                              .weight = 1,
                                              .regularisation = RG_NEWTON_SHIFT_RATIO,
                                              .cycles = true});
    case rg_methodAdmm:
        return rgRunAdmm(run, run->start, &def->admm, limit);
    case rg_methodPgs:
        return rgRunGaussSeidel(run, run->start, limit, def->overRelaxation);
    case rg_methodInterior:
        return rgRunPolishedInterior(run, limit);
    case rg_methodPivot:
        return rgRunPivots(run);
    case rg_methodBisection:
        return rgRunBisection(run, limit, def->overRelaxation);
    case rg_methodAuto:
        break;
    }
    return rgModelSides(def->model) > 0 ? rgRunLinearised(run, limit) : rgRunPlan(run);
}

// Rows that nothing can move and that want to be moved prove that there is no solution.
static bool rgSystem_IsImmovable(const rgSystem* system) {
    for (int i = 0; i < system->entryCount; ++i) {
        if (system->diagonal[i] != 0) {
            return false;
        }
    }
    return system->n > 0;
}

static void rgKeepHistory(rgSolve* solve, int island, const rgRun* run) {
    rgContactSolver* solver = solve->solver;
    if (run->history == NULL) {
        return;
    }
    int kept = solver->historyCount;
    if (rgReserve(&solver->def.allocator, (void**)&solver->history, &solver->historyCapacity, kept,
                  kept + run->historyCount, sizeof(rgContactRecord)) == rg_ok) {
        for (int i = 0; i < run->historyCount; ++i) {
            solver->history[kept + i] = run->history[i];
            solver->history[kept + i].island = island;
        }
        solver->historyCount += run->historyCount;
    }
}

static rgContactStatus rgWorseStatus(rgContactStatus a, rgContactStatus b) {
    // unsolved, solved, stalled, limit, budgeted, infeasible
    static const int rank[] = {5, 0, 3, 2, 1, 4};
    return rank[a] >= rank[b] ? a : b;
}

// Whole plans alone: the rest ends where the tolerance is met.
static double rgSolve_FirstTolerance(const rgSolve* solve, int island) {
    const rgContactSolverDef* def = &solve->solver->def;
    bool fine = solve->rest != NULL && solve->islandStarts[island] != rg_startMoves &&
                def->method == rg_methodAuto && def->budget == 0;
    return fine ? fmin(solve->tolerance,
                       fmax(RG_REST_TOLERANCE_RATIO * def->tolerance, RG_REST_LEAST_TOLERANCE))
                : solve->tolerance;
}

static rgResult rgSolveSystem(rgSolve* solve, rgSystem* system, rgIslandOutcome* outcome) {
    rgRun run;
    bool paper = rgContactSolverDef_IsPaper(&solve->solver->def);
    rgResult result = rgRun_Init(&run, &solve->solver->def, system, solve->tolerance, solve->start);
    run.firstTolerance = rgSolve_FirstTolerance(solve, (int)(outcome - solve->outcomes));
    run.infeasible = result == rg_ok && rgSystem_IsImmovable(system);
    for (int i = 0; i < system->blockCount && run.infeasible; ++i) {
        run.conflict[i] = true;
    }
    if (result == rg_ok && !run.infeasible && (paper || run.bestResidual > run.firstTolerance)) {
        result = rgRunMethod(&run);
    }
    outcome->iterationCount = run.iterationCount;
    outcome->factorizationCount += system->factorizationCount;
    memcpy(outcome->phaseIterations, run.phaseIterations, sizeof(run.phaseIterations));
    result = result == rg_ok ? rgSystem_Store(system, run.best, solve->lambda) : result;
    if (result != rg_ok) {
        return result;
    }
    if (solve->rest != NULL && rgRun_Solved(&run) &&
        memcmp(run.best, run.start, (size_t)system->n * sizeof(double)) == 0) {
        solve->islandStarts[outcome - solve->outcomes] = rg_startAccepted; // nothing was better
    }
    bool solved = paper ? run.accepted : rgRun_Solved(&run);
    rgContactStatus status = solved                                     ? rg_contactSolved
                             : run.infeasible                           ? rg_contactInfeasible
                             : run.budget > 0                           ? rg_contactBudgeted
                             : run.iterationCount >= run.iterationLimit ? rg_contactLimit
                                                                        : rg_contactStalled;
    outcome->status = rgWorseStatus(outcome->left, status);
    for (int i = 0; i < system->blockCount; ++i) {
        if (run.conflict[i]) {
            int row = system->globalRow[system->blocks[i].row];
            solve->conflict[solve->layout.blocks[solve->layout.blockOfRow[row]].given] = true;
        }
    }
    rgKeepHistory(solve, (int)(outcome - solve->outcomes), &run);
    return rg_ok;
}

// Contacts whose normal nothing can move, a turntable that stands in the floor: where they want to
// be moved there is no solution, and nothing that any other contact could do about it. They are
// named and left out. True when there are any.
static bool rgDropImmovable(rgSolve* solve, rgSystemDef* def, const rgSystem* system, int* members,
                            rgIslandOutcome* outcome) {
    rgLayout* layout = &solve->layout;
    bool any = false;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        const double* d = system->diagonal + block->entryStart;
        int m = block->size;
        bool drop = block->kind == rg_blockCoulomb && system->g[block->row + 2] < 0 &&
                    d[2 * m + 2] < RG_IMMOVABLE_RATIO * (d[0] + d[m + 1]);
        if (drop) {
            int own = layout->blockOfRow[system->globalRow[block->row]];
            layout->placeOfBlock[own] = -1;
            solve->conflict[layout->blocks[own].given] = true;
            memset(solve->lambda + layout->blocks[own].firstRow, 0, (size_t)m * sizeof(double));
            outcome->left = outcome->status = rg_contactInfeasible;
            any = true;
        }
    }
    int count = 0;
    for (int i = 0; i < def->memberCount && any; ++i) {
        if (layout->placeOfBlock[members[i]] >= 0) {
            members[count++] = members[i];
        }
    }
    def->memberCount = any ? count : def->memberCount;
    return any;
}

// Whether islands of a few contacts may go their own way: auto, with all its parts, and W at hand.
static bool rgSolve_TakesSmall(const rgSolve* solve) {
    const rgContactSolverDef* def = &solve->solver->def;
    const rgDelassus* delassus = &solve->problem->delassus;
    return def->method == rg_methodAuto && def->model == rg_modelNcp && def->form == rg_formAuto &&
           def->budget == 0 && (def->disabled & ~rg_planCertificate) == 0 && !def->recordHistory &&
           delassus->kind == rg_delassusVelocity && delassus->whitened != NULL;
}

static bool rgSolveFew(rgSolve* solve, const rgSystemDef* def, int island,
                       rgIslandOutcome* outcome) {
    rgSmallOutcome small;
    rgSmallOptions options = {solve->tolerance, rgSolve_FirstTolerance(solve, island),
                              solve->solver->def.maxIterations};
    if (!rgSolveSmall(def, &options, solve->lambda, &small)) {
        return false;
    }
    outcome->iterationCount = outcome->factorizationCount = small.iterationCount;
    outcome->phaseIterations[rg_phaseNewton] = small.iterationCount;
    if (solve->rest != NULL && small.kept) {
        solve->islandStarts[island] = rg_startAccepted;
    }
    return true;
}

// Zero impulses solve the island, exactly.
static void rgClearIsland(rgSolve* solve, const rgSystem* system) {
    for (int i = 0; i < system->n; ++i) {
        solve->lambda[system->globalRow[i]] = 0;
    }
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
        .eliminate = solver->def.method == rg_methodAuto && rgModelSides(solver->def.model) == 0,
        .kernels = solver->kernels,
        .arena = &workspace->arena,
        .factor = workspace->factor,
    };
    if (rgSolve_TakesSmall(solve) && rgSolveFew(solve, &def, island, outcome)) {
        return rg_ok;
    }
    rgSystem system;
    rgResult result = rgBuildSystem(&def, &system);
    if (result == rg_ok && system.velocityUnit != 0 && def.scaled &&
        rgDropImmovable(solve, &def, &system, members, outcome)) {
        result = rgBuildSystem(&def, &system);
    }
    if (result == rg_ok && system.velocityUnit == 0) {
        rgClearIsland(solve, &system);
        return rg_ok;
    }
    return result == rg_ok ? rgSolveSystem(solve, &system, outcome) : result;
}

static void rgSolveIsland(int island, int worker, void* context) {
    rgSolve* solve = context;
    rgWorkspace* workspace = solve->solver->workspaces + worker;
    rgIslandOutcome* outcome = solve->outcomes + island;
    *outcome = (rgIslandOutcome){.status = rg_contactSolved, .left = rg_contactSolved};
    if (solve->rest != NULL && solve->islandStarts[island] == rg_startAccepted) {
        return;
    }
    rgArena_Reset(&workspace->arena);
    outcome->result = rgSolveMembers(solve, island, workspace, outcome);
}

// An island is as little at rest as the tree of it that is least.
static rgResult rgSolve_FindRest(rgSolve* solve) {
    const rgLayout* layout = &solve->layout;
    if (solve->rest == NULL || layout->blockOfPart == NULL) {
        solve->rest = NULL;
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
            rgStart* rest = &solve->islandStarts[layout->islandOfBlock[layout->blockOfPart[p]]];
            *rest = RG_MIN(*rest, solve->rest[p]);
        }
    }
    return rg_ok;
}

// Islands whose start may be taken and holds. By W, whatever the last judge goes by: what is taken
// must not depend on it. all: nothing is left to solve, and the residual is known.
static rgResult rgSolve_TakeStarts(rgSolve* solve, rgResidual* residual, bool* all) {
    const rgLayout* layout = &solve->layout;
    rgArena* arena = &solve->solver->arena;
    bool any = false;
    *all = false;
    for (int i = 0; solve->rest != NULL && i < layout->islandCount; ++i) {
        any = any || solve->islandStarts[i] != rg_startMoves;
    }
    if (!any) {
        return rg_ok;
    }
    rgContactProblem problem = *solve->problem;
    problem.delassus.mass.value = NULL;
    double* residuals = RG_TAKE(arena, double, layout->islandCount);
    rgArenaMark mark = rgArena_Mark(arena);
    if (residuals == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgJudge(&problem, layout, solve->solver->def.model, solve->lambda, arena,
                              residual, residuals);
    rgArena_Return(arena, mark);
    *all = result == rg_ok;
    for (int i = 0; i < layout->islandCount && result == rg_ok; ++i) {
        rgStart rest = solve->islandStarts[i];
        double share = rest == rg_startKept ? 1 : RG_START_TOLERANCE_RATIO;
        bool taken = rest != rg_startMoves && residuals[i] <= share * solve->solver->def.tolerance;
        solve->islandStarts[i] = taken ? rg_startAccepted : solve->islandStarts[i];
        *all = *all && taken;
    }
    return result;
}

// Trees of islands whose start is what they have now.
static void rgSolve_TellRest(const rgSolve* solve) {
    const rgLayout* layout = &solve->layout;
    for (int p = 0; solve->rest != NULL && p < layout->partCount; ++p) {
        int block = layout->blockOfPart[p];
        bool taken =
            block >= 0 && solve->islandStarts[layout->islandOfBlock[block]] == rg_startAccepted;
        solve->rest[p] = taken ? rg_startAccepted : solve->rest[p];
    }
}

static rgResult rgSummarise(const rgSolve* solve, rgContactReport* report) {
    int islands = solve->layout.islandCount;
    *report = (rgContactReport){.status = rg_contactSolved, .islandCount = islands};
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

// Run the islands, judge the whole. The judge has the last word.
static rgResult rgSolveIslands(rgSolve* solve, rgContactReport* report) {
    rgContactSolver* solver = solve->solver;
    bool paper = rgContactSolverDef_IsPaper(&solver->def);
    rgTasks serial = {0}; // a history is that of the islands in their order
    solver->historyCount = 0;
    solve->tolerance = RG_RUN_TOLERANCE_RATIO * solver->def.tolerance;
    rgResidual start;
    bool taken;
    rgResult result = rgSolve_TakeStarts(solve, &start, &taken);
    if (result != rg_ok) {
        return result;
    }
    if (taken) {
        *report = (rgContactReport){.status = rg_contactSolved,
                                    .residual = start,
                                    .islandCount = solve->layout.islandCount};
    } else {
        rgTasks_Run(solver->def.recordHistory ? &serial : &solver->def.tasks,
                    solve->layout.islandCount, rgSolveIsland, solve);
        result = rgSummarise(solve, report);
    }
    rgSolve_TellRest(solve);
    if (taken && solve->problem->delassus.mass.value == NULL) {
        return rg_ok;
    }
    rgArenaMark mark = rgArena_Mark(&solver->arena);
    rgLayout islands = solve->layout;
    if (result == rg_ok && !solver->def.splitIslands) {
        result = rgBuildLayout(solve->problem, true, &solver->arena, &islands);
    }
    if (result == rg_ok) {
        result = rgJudge(solve->problem, &islands, solver->def.model, solve->lambda, &solver->arena,
                         &report->residual, NULL);
    }
    rgArena_Return(&solver->arena, mark);
    bool holds = report->residual.total <= solver->def.tolerance;
    if (!paper && holds) {
        report->status = rg_contactSolved;
    } else if (!paper && report->status == rg_contactSolved) {
        report->status = rg_contactStalled; // rounding took it away
    }
    return result;
}

// What zero leaves wrong in a row, as far as unbounded impulses can mend it.
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

// (11) Where the problem names no reference: a share of the largest velocity that zero impulses
// leave wrong and that bounded ones need not reach.
static double rgSolve_Reference(const rgSolve* solve) {
    const rgContactProblem* problem = solve->problem;
    const double* length = problem->rowLength;
    double whole = 0;
    for (int b = 0; problem->referenceVelocity == 0 && b < problem->blockCount; ++b) {
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
    return problem->referenceVelocity > 0 ? problem->referenceVelocity : RG_REFERENCE_RATIO * whole;
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
    result = rgSolve_FindRest(solve);
    result = result == rg_ok ? rgSolveIslands(solve, report) : result;
    result = result == rg_ok ? rgListConflict(solve, report) : result;
    if (solver->historyCount > 0) {
        report->history = solver->history;
        report->historyCount = solver->historyCount;
    }
    return result;
}

static rgResult rgContactSolver_SolveChecked(rgContactSolver* solver,
                                             const rgContactProblem* problem, double* lambda,
                                             double* sigma, rgStart* rest,
                                             rgContactReport* report) {
    size_t bytes = (size_t)problem->rowCount * sizeof(double);
    rgArena_Reset(&solver->arena);
    rgSolve solve = {.solver = solver, .problem = problem, .start = lambda, .rest = rest};
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
    return rgContactSolver_SolveChecked(solver, problem, lambda, sigma, NULL, report);
}

rgResult rgContactSolver_SolveBuilt(rgContactSolver* solver, const rgContactProblem* problem,
                                    double* lambda, rgStart* rest, rgContactReport* report) {
    return rgContactProblem_IsBuilt(problem)
               ? rgContactSolver_SolveChecked(solver, problem, lambda, NULL, rest, report)
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

rgResult rgContactSolver_JudgeBuilt(rgContactSolver* solver, const rgContactProblem* problem,
                                    const double* lambda, rgResidual* residual) {
    return rgContactProblem_IsBuilt(problem)
               ? rgContactSolver_JudgeChecked(solver, problem, lambda, residual)
               : rg_errorNumeric;
}
