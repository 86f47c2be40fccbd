// Further answers of a contact problem (docs/theory/ncp.md, Other answers): solves that start from
// the impulses of the same contacts at other velocities, compared island by island.
#include "contact/layout.h"
#include "contact/problem.h"
#include "contact/tuning.h"

#include <math.h>

#define RG_ANSWER_COOKIE 0x616e7377u // "answ"

// Room of a search, of one problem.
typedef struct rgSearch {
    const rgContactProblem* problem;
    const rgAnswerDef* def;
    rgArena arena;
    rgLayout layout;
    rgContactSolver* rough;    // of the same contacts at other velocities
    rgContactSolver* exact;    // of the problem, around a start
    double* first;             // the answer of the given impulses, n
    double* firstVelocity;     // n
    double* trial;             // answer that is compared with it, n
    double* trialVelocity;     // n
    double* velocity;          // g of the problem with other velocities, n
    double* compliance;        // R of it, n
    double* mobility;          // velocity that an impulse makes in its row, n [1/kg]
    double* speed;             // V of each island, of ncp.17 [m/s]
    double* load;              // of each island: largest impulse, as velocity [m/s]
    double *loadApart, *apart; // of each island: largest differences of load and velocity [m/s]
    uint64_t random;
} rgSearch;

rgAnswerDef rgDefaultAnswerDef(void) {
    return (rgAnswerDef){.starts = 8, .tolerance = 1e-9, .apart = 1e-4, .cookie = RG_ANSWER_COOKIE};
}

// ---- random numbers

static double rgSearch_Uniform(rgSearch* search) {
    uint64_t z = (search->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double rgSearch_Normal(rgSearch* search) {
    double radius = sqrt(-2 * log(1 - rgSearch_Uniform(search)));
    return radius * cos(6.283185307179586 * rgSearch_Uniform(search));
}

// ---- starts

static int rgSearch_IslandOf(const rgSearch* search, int row) {
    return search->layout.islandOfBlock[search->layout.blockOfRow[row]];
}

// Factor to m/s of a row; the first one of a contact counts for three.
static double rgSearch_LengthOf(const rgSearch* search, int row) {
    const double* lengths = search->problem->rowLength;
    if (lengths == NULL) {
        return 1;
    }
    int given = search->layout.blocks[search->layout.blockOfRow[row]].given;
    const rgBlock* block = search->problem->blocks + given;
    bool leads = block->kind == rg_blockCoulomb && row < block->firstRow + 3;
    double length = lengths[leads ? block->firstRow : row];
    return length > 0 ? length : 1;
}

// ncp.17: the largest free velocity of an island.
static void rgSearch_FindSpeeds(rgSearch* search) {
    const rgContactProblem* problem = search->problem;
    for (int i = 0; i < search->layout.islandCount; ++i) {
        search->speed[i] = problem->referenceVelocity;
    }
    for (int r = 0; r < problem->rowCount; ++r) {
        double* speed = &search->speed[rgSearch_IslandOf(search, r)];
        *speed = fmax(*speed, fabs(problem->freeVelocity[r]) * rgSearch_LengthOf(search, r));
    }
}

// g with all contacts closing in by so much more.
static void rgSearch_Press(const rgSearch* search, double by, double* velocity) {
    const rgContactProblem* given = search->problem;
    memcpy(velocity, given->freeVelocity, (size_t)given->rowCount * sizeof(double));
    for (int b = 0; b < given->blockCount; ++b) {
        const rgBlock* block = given->blocks + b;
        for (int i = 0; i < block->rowCount; ++i) {
            int row = block->firstRow + i;
            bool normal = block->kind == rg_blockCoulomb ? i == 2 : block->kind == rg_blockHalfLine;
            double speed = search->speed[rgSearch_IslandOf(search, row)];
            velocity[row] -= normal ? by * speed / rgSearch_LengthOf(search, row) : 0;
        }
    }
}

// g with random velocities added.
static void rgSearch_Shake(rgSearch* search) {
    for (int r = 0; r < search->problem->rowCount; ++r) {
        double speed = search->speed[rgSearch_IslandOf(search, r)];
        search->velocity[r] = search->problem->freeVelocity[r] +
                              speed / rgSearch_LengthOf(search, r) * rgSearch_Normal(search);
    }
}

// ncp.18: impulses of the same contacts, a little compliant, at other velocities. False: none.
static bool rgSearch_Start(rgSearch* search, int start) {
    const rgContactProblem* given = search->problem;
    size_t size = (size_t)given->rowCount * sizeof(double);
    memset(search->trial, 0, size);
    if (start == 0) {
        return true;
    }
    if (start % 2 == 1) {
        rgSearch_Press(search, pow(10, 2 * rgSearch_Uniform(search) - 1), search->velocity);
    } else {
        rgSearch_Shake(search);
    }
    rgContactProblem problem = *given;
    problem.freeVelocity = search->velocity;
    problem.compliance = search->compliance;
    return rgContactSolver_Solve(search->rough, &problem, search->trial, NULL, NULL) == rg_ok;
}

// ---- answers

static double rgSearch_LoadApart(const rgSearch* search, int row) {
    return search->mobility[row] * fabs(search->trial[row] - search->first[row]);
}

static void rgSearch_Measure(rgSearch* search) {
    int islands = search->layout.islandCount;
    size_t size = (size_t)islands * sizeof(double);
    memset(search->load, 0, size);
    memset(search->loadApart, 0, size);
    memset(search->apart, 0, size);
    for (int r = 0; r < search->problem->rowCount; ++r) {
        int i = rgSearch_IslandOf(search, r);
        double largest = fmax(fabs(search->first[r]), fabs(search->trial[r]));
        double apart = fabs(search->trialVelocity[r] - search->firstVelocity[r]);
        search->load[i] = fmax(search->load[i], search->mobility[r] * largest);
        search->loadApart[i] = fmax(search->loadApart[i], rgSearch_LoadApart(search, r));
        search->apart[i] = fmax(search->apart[i], apart * rgSearch_LengthOf(search, r));
    }
}

// The block where the velocities of an island differ most, or its impulses where they do not.
static int rgSearch_Block(const rgSearch* search, int island, bool motion) {
    int block = -1;
    double most = -1;
    for (int r = 0; r < search->problem->rowCount; ++r) {
        double apart = motion ? fabs(search->trialVelocity[r] - search->firstVelocity[r]) *
                                    rgSearch_LengthOf(search, r)
                              : rgSearch_LoadApart(search, r);
        if (rgSearch_IslandOf(search, r) == island && apart > most) {
            most = apart;
            block = search->layout.blocks[search->layout.blockOfRow[r]].given;
        }
    }
    return block;
}

// Note what an answer differs in; true: it is the farthest so far.
static bool rgSearch_Compare(rgSearch* search, rgAnswers* answers) {
    bool farther = false;
    rgSearch_Measure(search);
    for (int i = 0; i < search->layout.islandCount; ++i) {
        double V = search->speed[i], share = search->def->apart;
        bool motion = search->apart[i] > share * V;
        bool impulses = search->loadApart[i] > share * fmax(V, search->load[i]);
        bool farthest = motion ? !answers->motionDiffers || search->apart[i] > answers->velocity
                               : impulses && !answers->motionDiffers && !answers->impulsesDiffer;
        answers->motionDiffers = answers->motionDiffers || motion;
        answers->impulsesDiffer = answers->impulsesDiffer || impulses;
        answers->velocity = fmax(answers->velocity, search->apart[i]);
        if (farthest) {
            answers->block = rgSearch_Block(search, i, motion);
            farther = true;
        }
    }
    for (int r = 0; r < search->problem->rowCount; ++r) {
        answers->impulse = fmax(answers->impulse, fabs(search->trial[r] - search->first[r]));
    }
    return farther;
}

// True for impulses that the judge accepts; they get their velocity.
static bool rgSearch_Accepts(rgSearch* search, const double* lambda, double* velocity) {
    rgResidual residual;
    rgArenaMark mark = rgArena_Mark(&search->arena);
    bool good = rgContactSolver_Judge(search->exact, search->problem, lambda, &residual) == rg_ok &&
                residual.total <= search->def->tolerance &&
                rgJudgeVelocity(search->problem, &search->layout, lambda, &search->arena,
                                velocity) == rg_ok;
    rgArena_Return(&search->arena, mark);
    return good;
}

static bool rgSearch_Solve(rgSearch* search, double* lambda, double* velocity) {
    return rgSearch_Accepts(search, lambda, velocity) ||
           (rgContactSolver_Solve(search->exact, search->problem, lambda, NULL, NULL) == rg_ok &&
            rgSearch_Accepts(search, lambda, velocity));
}

static rgResult rgSearch_Run(rgSearch* search, const double* lambda, double* other,
                             rgAnswers* answers) {
    size_t size = (size_t)search->problem->rowCount * sizeof(double);
    memcpy(search->first, lambda, size);
    memcpy(other, lambda, size);
    if (!rgSearch_Solve(search, search->first, search->firstVelocity)) {
        return rg_ok; // nothing to compare with
    }
    memcpy(other, search->first, size);
    answers->count = 1;
    for (int start = 0; start <= search->def->starts; ++start) {
        answers->starts += 1;
        if (rgSearch_Start(search, start) &&
            rgSearch_Solve(search, search->trial, search->trialVelocity)) {
            answers->count += 1;
            if (rgSearch_Compare(search, answers)) {
                memcpy(other, search->trial, size);
            }
        }
    }
    return rg_ok;
}

// ---- the call

static rgResult rgSearch_Open(rgSearch* search) {
    const rgContactProblem* problem = search->problem;
    rgResult result = rgBuildLayout(problem, true, &search->arena, &search->layout);
    int n = problem->rowCount, islands = search->layout.islandCount;
    double** rows[] = {&search->first,         &search->firstVelocity, &search->trial,
                       &search->trialVelocity, &search->velocity,      &search->compliance,
                       &search->mobility};
    double** perIsland[] = {&search->speed, &search->load, &search->loadApart, &search->apart};
    for (int i = 0; result == rg_ok && i < RG_COUNT(rows); ++i) {
        *rows[i] = RG_TAKE(&search->arena, double, n);
    }
    for (int i = 0; result == rg_ok && i < RG_COUNT(perIsland); ++i) {
        *perIsland[i] = RG_TAKE(&search->arena, double, islands);
    }
    result = search->arena.failed ? rg_errorMemory : result;
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.allocator = search->def->allocator;
    def.tolerance = RG_ANSWER_START_TOLERANCE;
    result = result == rg_ok ? rgCreateContactSolver(&def, &search->rough) : result;
    def.tolerance = search->def->tolerance;
    result = result == rg_ok ? rgCreateContactSolver(&def, &search->exact) : result;
    if (result == rg_ok) {
        rgContactSolver_KeepStarts(search->exact);
        result = rgJudgeDiagonal(problem, &search->layout, &search->arena, search->mobility);
    }
    for (int r = 0; result == rg_ok && r < n; ++r) {
        search->compliance[r] = RG_ANSWER_COMPLIANCE_RATIO * search->mobility[r] +
                                (problem->compliance != NULL ? problem->compliance[r] : 0);
        search->mobility[r] *= rgSearch_LengthOf(search, r);
    }
    return result;
}

static bool rgAnswerDef_IsValid(const rgAnswerDef* def) {
    return def->cookie == RG_ANSWER_COOKIE && def->starts >= 0 && def->tolerance > 0 &&
           def->apart > def->tolerance && isfinite(def->apart);
}

rgResult rgContactProblem_FindAnswers(const rgContactProblem* problem, const rgAnswerDef* def,
                                      const double* lambda, double* other, rgAnswers* answers) {
    rgAnswerDef usual = rgDefaultAnswerDef();
    def = def != NULL ? def : &usual;
    if (answers == NULL || !rgAnswerDef_IsValid(def) ||
        rgContactProblem_Check(problem, NULL) != rg_ok ||
        (problem->rowCount > 0 && (lambda == NULL || other == NULL))) {
        return rg_errorArgument;
    }
    *answers = (rgAnswers){.block = -1};
    if (problem->rowCount == 0) {
        return rg_ok;
    }
    rgSearch search = {.problem = problem, .def = def, .random = def->seed};
    rgArena_Init(&search.arena, &def->allocator);
    rgResult result = rgSearch_Open(&search);
    if (result == rg_ok) {
        rgSearch_FindSpeeds(&search);
        result = rgSearch_Run(&search, lambda, other, answers);
    }
    rgDestroyContactSolver(search.exact);
    rgDestroyContactSolver(search.rough);
    rgArena_Free(&search.arena);
    return result;
}
