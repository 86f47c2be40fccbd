// Every solver on problems built backwards from known solutions. Where the solution is unique it
// must be found; elsewhere the judge alone decides.
#include "solve.h"

#define RG_SEEDS (RG_SLOW_BUILD ? 12 : 40)

// Impulses relative to the largest of them. The residual bounds the error through the smallest
// eigenvalue of the scaled G, of the order of 1e-3 in these problems.
static const double rgUniqueError = 1e-5;

typedef struct rgSweep {
    rgContactCaseDef def;
    bool unique;
    unsigned ways; // bit per rgWay that is expected to solve all of them
    double tolerance;
} rgSweep;

#define ALL_WAYS     ((1u << rg_wayCount) - 1)
#define WITHOUT(way) (ALL_WAYS & ~(1u << (way)))
#define ONLY(way)    (1u << (way))

static void rgRunSweep(const rgSweep* sweep, int seeds) {
    for (uint64_t seed = 1; seed <= (uint64_t)seeds; ++seed) {
        rgContactCaseDef caseDef = sweep->def;
        caseDef.seed = seed;
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        double size = rgLargestNumber(n, made->lambda);
        for (int way = 0; way < rg_wayCount; ++way) {
            if (!(sweep->ways >> way & 1)) {
                continue;
            }
            rgContactSolverDef def = rgWayDef((rgWay)way, sweep->tolerance);
            double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, seed);
            if (sweep->unique &&
                !(rgLargestDifference(n, lambda, made->lambda) <= rgUniqueError * size)) {
                fail_msg("%s, seed %d: not the constructed solution, off by %g", rgWayNames[way],
                         (int)seed, rgLargestDifference(n, lambda, made->lambda) / size);
            }
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

// As many contacts as bodies in a chain: G is positive definite.
static rgContactCaseDef rgDefinite(int contacts, double mu, int contactState) {
    return (rgContactCaseDef){
        .bodyCount = contacts, .contactCount = contacts, .mu = mu, .state = contactState};
}

static void test_unique_open_stick_slip(void** state) {
    (void)state;
    for (int contactState = -1; contactState < 3; ++contactState) {
        for (int k = 0; k < 4; ++k) {
            static const double mu[] = {0, 0.1, 0.3, 0.5};
            rgRunSweep(&(rgSweep){.def = rgDefinite(6, mu[k], contactState),
                                  .unique = true,
                                  .ways = ALL_WAYS,
                                  .tolerance = 1e-10},
                       RG_SEEDS / 4);
        }
    }
}

static void test_unique_small(void** state) {
    (void)state;
    for (int contacts = 1; contacts <= 3; ++contacts) {
        rgRunSweep(&(rgSweep){.def = rgDefinite(contacts, -0.5, -1),
                              .unique = true,
                              .ways = WITHOUT(rg_wayPgs),
                              .tolerance = 1e-10},
                   2 * RG_SEEDS);
    }
}

// Sweeps go round in circles where mu |G_tn| exceeds G_nn, as in a contact of seed 12; smaller
// steps end that (docs/theory/pgs.md).
static void test_careful_sweeps(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 24; ++seed) {
        rgContactCaseDef caseDef = rgDefinite(3, -0.5, -1);
        caseDef.seed = seed;
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgContactSolverDef def = rgWayDef(rg_wayPgs, 1e-10);
        def.overRelaxation = 0.6;
        double* lambda = rgMustSolve(rg_wayPgs, &def, &made->problem, seed);
        EXPECT_NEAR(rgLargestDifference(9, lambda, made->lambda), 0,
                    rgUniqueError * rgLargestNumber(9, made->lambda));
        free(lambda);
        rgFreeContactCase(made);
    }
}

static void test_unique_compliant(void** state) {
    (void)state;
    // More contacts than the bodies can tell apart: R alone makes the solution unique.
    rgContactCaseDef def = {
        .bodyCount = 3, .contactCount = 9, .mu = -0.4, .compliance = 0.1, .state = -1};
    rgRunSweep(&(rgSweep){.def = def, .unique = true, .ways = ALL_WAYS, .tolerance = 1e-10},
               RG_SEEDS);
}

static void test_masses_over_eight_decades(void** state) {
    (void)state;
    rgContactCaseDef def = rgDefinite(8, 0.5, -1);
    def.massDecades = 8;
    // The published ADMM and plain sweeps slow down without limit here; the others must not.
    rgRunSweep(
        &(rgSweep){.def = def, .ways = WITHOUT(rg_wayAdmm) & WITHOUT(rg_wayPgs), .tolerance = 1e-9},
        RG_SEEDS);
}

static void test_friction_from_zero_to_ten(void** state) {
    (void)state;
    static const double mu[] = {0, 0.01, 0.3, 1, 2, 5, 10};
    for (int k = 0; k < 7; ++k) {
        rgContactCaseDef def = {.bodyCount = 6, .contactCount = 8, .mu = mu[k], .state = -1};
        rgRunSweep(&(rgSweep){.def = def,
                              .ways = mu[k] <= 1 ? WITHOUT(rg_wayPgs) : ONLY(rg_wayAuto),
                              .tolerance = 1e-8},
                   RG_SEEDS / 2);
    }
}

static void test_rank_deficient(void** state) {
    (void)state;
    rgContactCaseDef def = {.bodyCount = 4, .contactCount = 16, .mu = 0.5, .state = -1};
    rgRunSweep(&(rgSweep){.def = def,
                          .ways = ONLY(rg_wayAuto) | ONLY(rg_wayNewton) | ONLY(rg_wayFastAdmm),
                          .tolerance = 1e-8},
               RG_SEEDS);
}

// Methods without a guarantee must still solve most of what they are meant for.
static void test_most_are_solved(void** state) {
    (void)state;
    static const rgWay ways[] = {rg_wayInterior, rg_wayPgs, rg_wayAdmm};
    static const int least[] = {80, 50, 80}; // percent
    for (int k = 0; k < 3; ++k) {
        int solved = 0;
        int count = 24;
        for (int seed = 1; seed <= count; ++seed) {
            rgContactCaseDef caseDef = {
                .seed = (uint64_t)seed, .bodyCount = 4, .contactCount = 16, .mu = 0.5, .state = -1};
            rgContactCase* made = rgMakeContactCase(&caseDef);
            rgContactSolverDef def = rgWayDef(ways[k], 1e-6);
            def.maxIterations = 3000;
            double* lambda = rgZeros(made->problem.rowCount);
            solved += rgSolveAndCheck(&def, &made->problem, lambda).status == rg_contactSolved;
            free(lambda);
            rgFreeContactCase(made);
        }
        print_message("%s: %d of %d\n", rgWayNames[ways[k]], solved, count);
        assert_true(100 * solved >= least[k] * count);
    }
}

static rgContactCaseDef rgMixed(int bodies) {
    return (rgContactCaseDef){.bodyCount = bodies,
                              .contactCount = 3,
                              .torsionCount = 2,
                              .rollingCount = 2,
                              .halfLineCount = 2,
                              .boxCount = 2,
                              .freeCount = 2,
                              .mu = 0.4,
                              .state = -1};
}

// Half lines, boxes, free rows, torsion and rolling in every method.
static void test_every_set_in_every_method(void** state) {
    (void)state;
    rgRunSweep(&(rgSweep){.def = rgMixed(13), .ways = ALL_WAYS, .tolerance = 1e-8}, RG_SEEDS);
    rgContactCaseDef compliant = rgMixed(6);
    compliant.compliance = 0.05;
    rgRunSweep(&(rgSweep){.def = compliant, .unique = true, .ways = ALL_WAYS, .tolerance = 1e-10},
               RG_SEEDS / 2);
}

static void test_each_set_alone(void** state) {
    (void)state;
    rgContactCaseDef defs[] = {
        {.bodyCount = 5, .torsionCount = 5, .mu = 0.5, .state = -1},
        {.bodyCount = 6, .rollingCount = 5, .mu = 0.5, .state = -1},
        {.bodyCount = 5, .halfLineCount = 5},
        {.bodyCount = 5, .boxCount = 5},
        {.bodyCount = 5, .freeCount = 5},
    };
    for (int k = 0; k < 5; ++k) {
        bool rows = k >= 2;
        rgRunSweep(
            &(rgSweep){
                .def = defs[k], .unique = rows, .ways = ALL_WAYS, .tolerance = rows ? 1e-10 : 1e-8},
            RG_SEEDS / 2);
    }
}

// Auto, ADMM and PGS find the same impulses where there is only one answer.
static void test_methods_agree(void** state) {
    (void)state;
    rgContactCaseDef caseDef = rgDefinite(10, -0.5, -1);
    for (uint64_t seed = 100; seed < 100 + RG_SEEDS; ++seed) {
        caseDef.seed = seed;
        rgContactCase* made = rgMakeContactCase(&caseDef);
        // Another free velocity than the one constructed: nobody knows this solution beforehand.
        rgRandom random = {seed};
        int n = made->problem.rowCount;
        for (int i = 0; i < n; ++i) {
            made->g[i] = rgRandom_Uniform(&random, -1, 1);
        }
        double* first = NULL;
        static const rgWay ways[] = {rg_wayAuto, rg_wayAdmm, rg_wayPgs};
        for (int k = 0; k < 3; ++k) {
            rgContactSolverDef def = rgWayDef(ways[k], 1e-10);
            double* lambda = rgMustSolve(ways[k], &def, &made->problem, seed);
            if (first == NULL) {
                first = lambda;
                continue;
            }
            EXPECT_NEAR(rgLargestDifference(n, lambda, first), 0,
                        rgUniqueError * rgLargestNumber(n, first));
            free(lambda);
        }
        free(first);
        rgFreeContactCase(made);
    }
}

// A body on many points: impulses are not unique, velocities are. Frictionless, so that the
// problem is a convex quadratic one and the uniqueness of G lambda is a theorem.
static void test_velocities_agree(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RG_SEEDS; ++seed) {
        rgContactCaseDef caseDef = {.seed = seed, .bodyCount = 2, .contactCount = 10, .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        double sigma[64], size = rgLargestNumber(n, made->g);
        for (int way = 0; way < rg_wayCount; ++way) {
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
            if (way == rg_wayAdmm) {
                // Constant rho converges on convex problems; the spectral rule, which may move it
                // in every iteration, cycles for ever on seed 20 (docs/theory/admm.md).
                def.admm.rule = rg_penaltyConstant;
            }
            double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, seed);
            assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
            // The error in sigma goes with the square root of the complementarity error.
            EXPECT_NEAR(rgLargestDifference(n, sigma, made->sigma), 0, 3e-4 * size);
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

// Equality constraints only, J with linearly dependent rows, R = 0, g in the range of G.
static void test_redundant_equalities(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RG_SEEDS; ++seed) {
        rgContactCaseDef caseDef = {.seed = seed, .bodyCount = 2, .freeCount = 12};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        assert_true(made->problem.rowCount > made->nv);
        static const rgWay ways[] = {rg_wayAuto, rg_wayNewton, rg_wayFastAdmm, rg_wayInterior};
        for (int k = 0; k < 4; ++k) {
            for (int kind = 0; kind < 3; ++kind) {
                rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
                rgContactSolverDef def = rgWayDef(ways[k], 1e-8);
                free(rgMustSolve(ways[k], &def, &problem, seed));
            }
        }
        rgFreeContactCase(made);
    }
}

// The only one of 3600 random problems with a known solution that auto did not solve to 1e-6: it
// must stay honest about it, and close.
static void test_hardest_known(void** state) {
    (void)state;
    rgContactCaseDef caseDef = {
        .seed = 1157, .bodyCount = 6, .contactCount = 24, .mu = 1, .state = -1};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    double* lambda = rgZeros(made->problem.rowCount);
    rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
    print_message("status %d, residual %g after %d iterations\n", (int)report.status,
                  report.residual.total, report.iterationCount);
    assert_true(rgContactProblem_Residual(&made->problem, made->lambda) < 1e-12);
    assert_true(report.residual.total < 1e-3);
    free(lambda);
    rgFreeContactCase(made);
}

static void test_sizes(void** state) {
    (void)state;
    static const int sizes[] = {1, 2, 5, 10, 30, 100, 200, 500};
    int most = RG_SLOW_BUILD ? 6 : 8;
    for (int k = 0; k < most; ++k) {
        rgContactCaseDef caseDef = {.seed = 1,
                                    .bodyCount = 1 + sizes[k] / 3,
                                    .contactCount = sizes[k],
                                    .mu = 0.5,
                                    .massDecades = 2,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-8);
        free(rgMustSolve(rg_wayAuto, &def, &problem, (uint64_t)sizes[k]));
        if (sizes[k] <= 200) {
            def = rgWayDef(rg_wayNewton, 1e-8);
            free(rgMustSolve(rg_wayNewton, &def, &problem, (uint64_t)sizes[k]));
        }
        rgFreeContactCase(made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique_open_stick_slip),
        cmocka_unit_test(test_unique_small),
        cmocka_unit_test(test_careful_sweeps),
        cmocka_unit_test(test_unique_compliant),
        cmocka_unit_test(test_masses_over_eight_decades),
        cmocka_unit_test(test_friction_from_zero_to_ten),
        cmocka_unit_test(test_rank_deficient),
        cmocka_unit_test(test_most_are_solved),
        cmocka_unit_test(test_every_set_in_every_method),
        cmocka_unit_test(test_each_set_alone),
        cmocka_unit_test(test_methods_agree),
        cmocka_unit_test(test_velocities_agree),
        cmocka_unit_test(test_redundant_equalities),
        cmocka_unit_test(test_hardest_known),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
