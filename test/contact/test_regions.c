// Regions of a large island, and the pull that keeps impulses where they are.
#include "built.h"

enum { rg_bodies = 72 };

static const rgContactCaseDef rgChain = {
    .seed = 5, .bodyCount = rg_bodies, .contactCount = 120, .mu = 0.6, .state = 1};

typedef struct rgAtSolution {
    rgBuilt built;
    rgContactSolverDef def;
    rgRun run;
    double* lambda; // what is tested works on this
} rgAtSolution;

static const double rgTestTolerance = 1e-6;

// The system and its solution; `moved` is a body whose contacts all get another free velocity.
static void rgAtSolution_Init(rgAtSolution* at, const rgContactCaseDef* def, int moved) {
    rgBuilt_Init(&at->built, def, rg_formVelocity);
    rgSystem* system = &at->built.system;
    for (int i = 0; i < system->setCount; ++i) {
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            if (system->links[l].part == moved) {
                system->g[system->sets[i].row] += 2e-3;
                system->g[system->sets[i].row + 2] -= 1e-3;
            }
        }
    }
    at->def = rgDefaultContactSolverDef();
    at->lambda = RG_TAKE(&at->built.arena, double, system->n);
    rgResult result =
        rgRun_Init(&at->run, &at->def, system, rgTestTolerance, at->built.made->lambda);
    assert_int_equal(result, rg_ok);
    memcpy(at->lambda, at->run.start, (size_t)system->n * sizeof(double));
}

static void rgAtSolution_Free(rgAtSolution* at) {
    rgBuilt_Free(&at->built);
}

static void TestSolvedStaysAsItIs(void** state) {
    (void)state;
    rgAtSolution at;
    rgAtSolution_Init(&at, &rgChain, -1);
    assert_true(rgRun_Solved(&at.run));
    assert_int_equal(rgRunRegions(&at.run, at.lambda), rg_ok);
    assert_memory_equal(at.lambda, at.run.start, (size_t)at.built.system.n * sizeof(double));
    rgAtSolution_Free(&at);
}

// Bodies that wrong contacts act on, and those that press on them.
static void rgFindAwake(const rgAtSolution* at, const double* sigma, bool* awake) {
    const rgSystem* system = &at->built.system;
    bool wrong[rg_bodies] = {false};
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < system->setCount; ++i) {
            const double* own = at->run.start + system->sets[i].row;
            bool joins = rgSystem_SetResidual(system, i, at->run.start, sigma) > rgTestTolerance;
            for (int l = system->linkStart[i]; pass == 1 && l < system->linkStart[i + 1]; ++l) {
                joins = joins || (wrong[system->links[l].part] && own[2] > 1e-6);
            }
            for (int l = system->linkStart[i]; joins && l < system->linkStart[i + 1]; ++l) {
                awake[system->links[l].part] = true;
            }
        }
        memcpy(wrong, awake, sizeof(wrong));
    }
}

// What becomes of sigma when impulses change and only the bodies that are awake move.
static void rgMoveAwake(const rgAtSolution* at, const bool* awake, double* sigma) {
    const rgSystem* system = &at->built.system;
    double* v = calloc((size_t)system->nv, sizeof(double));
    for (int pass = 0; pass < 2; ++pass) {
        for (int l = 0; l < system->linkCount; ++l) {
            const rgVelocityLink* link = system->links + l;
            const rgVelocityPart* part = system->parts + link->part;
            int row = system->sets[link->set].row;
            for (int k = 0; awake[link->part] && k < 3 * part->size; ++k) {
                int r = row + k / part->size, c = part->start + k % part->size;
                double change = at->lambda[r] - at->run.start[r];
                *(pass == 0 ? v + c : sigma + r) += link->W[k] * (pass == 0 ? change : v[c]);
            }
        }
    }
    free(v);
}

// A change at one body: with all else standing still its neighbourhood is solved up to the pull,
// and what is far away keeps its impulses to the last bit.
static void TestChangeStaysNear(void** state) {
    (void)state;
    const int body = rg_bodies / 2;
    rgAtSolution at;
    rgAtSolution_Init(&at, &rgChain, body);
    rgSystem* system = &at.built.system;
    assert_int_equal(system->partCount, rg_bodies);
    assert_true(at.run.bestResidual > 1e-4);
    double* sigma = RG_TAKE(&at.built.arena, double, system->n);
    rgSystem_Velocity(system, at.run.start, sigma);
    bool awake[rg_bodies] = {false};
    rgFindAwake(&at, sigma, awake);
    assert_int_equal(rgRunRegions(&at.run, at.lambda), rg_ok);
    double change = rgLargestDifference(system->n, at.lambda, at.run.start);
    assert_true(change > 1e-4 && change < 1);
    rgMoveAwake(&at, awake, sigma);
    double load = rgLargestNumber(system->n, at.lambda);
    int near = 0, far = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        bool touches = false;
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            touches = touches || awake[system->links[l].part];
        }
        if (touches) {
            near += 1;
            double residual = rgSystem_SetResidual(system, i, at.lambda, sigma);
            assert_true(residual <= 1e-4 * change * (1 + 3 * load) + 2 * rgTestTolerance);
        } else {
            far += 1;
            assert_memory_equal(at.lambda + set->row, at.run.start + set->row, 3 * sizeof(double));
        }
    }
    assert_true(near >= 4 && far > system->setCount / 2);
    rgAtSolution_Free(&at);
}

static double rgDistance(int n, const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// Many impulses hold many contacts of few bodies. g moves by G delta, hence lambda - delta would
// do; the pull finds what is no farther from the start, the interior point goes to the middle.
static void TestPullFindsTheNearest(void** state) {
    (void)state;
    rgContactCaseDef def = {
        .seed = 11, .bodyCount = 25, .contactCount = 130, .mu = 0.6, .state = 1};
    rgAtSolution at;
    rgAtSolution_Init(&at, &def, -1);
    rgSystem* system = &at.built.system;
    double* delta = RG_TAKE(&at.built.arena, double, system->n);
    double* moved = RG_TAKE(&at.built.arena, double, system->n);
    rgRandom random = {3};
    double size = 0, distances[2];
    for (int i = 0; i < system->n; ++i) {
        delta[i] = 1e-3 * rgRandom_Uniform(&random, -1, 1);
        size = hypot(size, delta[i]);
    }
    system->ops->apply(system, delta, moved);
    for (int i = 0; i < system->n; ++i) {
        system->g[i] += moved[i];
    }
    for (int way = 0; way < 2; ++way) {
        assert_int_equal(rgRun_Init(&at.run, &at.def, system, 1e-8, at.built.made->lambda), rg_ok);
        assert_false(rgRun_Solved(&at.run));
        rgNewtonOptions newton = {
            .limit = 20, .weight = 1, .regularisation = 1e-3, .pull = 1e-5, .lastPull = 1e-5};
        rgInteriorOptions interior = {.limit = 60, .size = 1, .slipShare = 1, .few = 20};
        rgResult result = way == 0 ? rgRunNewton(&at.run, at.run.start, &newton)
                                   : rgRunInterior(&at.run, &interior);
        assert_int_equal(result, rg_ok);
        assert_true(rgRun_Solved(&at.run));
        distances[way] = rgDistance(system->n, at.run.best, at.run.start);
    }
    print_message("change %.2e, pulled %.2e, interior point %.2e\n", size, distances[0],
                  distances[1]);
    assert_true(distances[0] <= 1.01 * size);
    assert_true(distances[1] > 10 * distances[0]);
    rgAtSolution_Free(&at);
}

// How far one step of Newton goes.
static double rgFirstStep(double pull) {
    rgAtSolution at;
    rgAtSolution_Init(&at, &rgChain, rg_bodies / 2);
    rgNewtonOptions newton = {
        .limit = 1, .weight = 1, .regularisation = 1e-3, .pull = pull, .lastPull = pull};
    assert_int_equal(rgRunNewton(&at.run, at.run.start, &newton), rg_ok);
    double length = rgDistance(at.built.system.n, at.run.trial, at.run.start);
    rgAtSolution_Free(&at);
    return length;
}

static void TestPullHoldsBack(void** state) {
    (void)state;
    double none = rgFirstStep(0), weak = rgFirstStep(1e-5), strong = rgFirstStep(30);
    assert_true(none > 1e-4);
    EXPECT_NEAR(weak, none, 0.1 * none);
    assert_true(strong < 0.1 * none && strong > 0);
}

// The default method on a large island of which one body moves.
static void TestAutoKeepsWhatHolds(void** state) {
    (void)state;
    rgContactCase* made = rgMakeContactCase(&rgChain);
    rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
    size_t n = (size_t)problem.rowCount;
    double* g = malloc(n * sizeof(double));
    double* lambda = malloc(n * sizeof(double));
    memcpy(g, problem.freeVelocity, n * sizeof(double));
    memcpy(lambda, made->lambda, n * sizeof(double));
    problem.freeVelocity = g;
    int row = problem.blocks[problem.blockCount / 2].firstRow;
    double scale = rgLargestNumber(problem.rowCount, g);
    g[row] += 3e-3 * scale;
    g[row + 2] -= 1e-3 * scale;
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.splitIslands = false;
    rgContactReport report = rgSolveAndCheck(&def, &problem, lambda);
    assert_int_equal(report.status, rg_contactSolved);
    assert_int_equal(report.phaseIterations[rg_phaseInterior], 0);
    assert_true(report.iterationCount > 0 && report.iterationCount <= 15);
    int kept = 0;
    for (int i = 0; i < problem.rowCount; ++i) {
        kept += fabs(lambda[i] - made->lambda[i]) < 1e-5 * (1 + fabs(made->lambda[i]));
    }
    assert_true(kept > problem.rowCount / 2);
    free(lambda);
    free(g);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TestSolvedStaysAsItIs),   cmocka_unit_test(TestChangeStaysNear),
        cmocka_unit_test(TestPullFindsTheNearest), cmocka_unit_test(TestPullHoldsBack),
        cmocka_unit_test(TestAutoKeepsWhatHolds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
