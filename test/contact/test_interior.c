// The interior point: its smoothed law, its cones, few contacts solved exactly while the others
// respond linearly, and starts from impulses that are nearly right.
#include "built.h"

#include "contact/interior.h"

// Factorize what Newton would at the solution, every contact taking part.
static void rgBuilt_Factor(rgBuilt* built) {
    rgSystem* system = &built->system;
    double* lambda = RG_TAKE(&built->arena, double, system->n);
    double* sigma = RG_TAKE(&built->arena, double, system->n);
    double* A = RG_TAKE(&built->arena, double, system->entryCount);
    double* B = RG_TAKE(&built->arena, double, system->entryCount);
    rgJacobianKind* kinds = RG_TAKE(&built->arena, rgJacobianKind, system->blockCount);
    rgSystem_Load(system, built->made->lambda, lambda);
    rgSystem_Velocity(system, lambda, sigma);
    rgSystem_Linearize(system, lambda, sigma, A, B, kinds);
    assert_int_equal(system->ops->factorNewton(system, A, B, kinds, 1e-3), rg_ok);
}

enum { rg_most = 8, rg_lead = 3 * rg_most };

static int rgThreeRows(const rgSystem* system, int blocks[rg_most]) {
    int count = 0;
    for (int i = 0; i < system->blockCount && count < rg_most; i += 2) {
        if (system->blocks[i].kind == rg_blockCoulomb && system->blocks[i].size == 3) {
            blocks[count++] = i;
        }
    }
    return count;
}

// X and Y are rows and columns of the inverse and of G times it, in every form.
static void test_response_is_that_of_single_columns(void** state) {
    (void)state;
    static const int bodies[] = {3, 12, 40}; // one dense matrix, and blocks
    for (int k = 0; k < 3; ++k) {
        rgContactCaseDef def = rgMixedCase((uint64_t)(7 + k), bodies[k], 3 * bodies[k]);
        rgBuilt built;
        rgBuilt_Init(&built, &def, rg_formVelocity);
        rgBuilt_Factor(&built);
        int blocks[rg_most];
        int count = rgThreeRows(&built.system, blocks);
        assert_true(count >= 3);
        double X[rg_lead * rg_lead] = {0}, Y[rg_lead * rg_lead] = {0};
        double X2[rg_lead * rg_lead] = {0}, Y2[rg_lead * rg_lead] = {0};
        rgSystem* system = &built.system;
        assert_true(system->ops->respond != rgSystem_RespondByColumns);
        assert_int_equal(system->ops->respond(system, count, blocks, X, Y, rg_lead), rg_ok);
        assert_int_equal(rgSystem_RespondByColumns(system, count, blocks, X2, Y2, rg_lead), rg_ok);
        int n = rg_lead * rg_lead;
        double size = rgLargestNumber(n, X2);
        assert_true(size > 0.1);
        EXPECT_NEAR(rgLargestDifference(n, X, X2), 0, 1e-10 * size);
        EXPECT_NEAR(rgLargestDifference(n, Y, Y2), 0, 1e-10 * size);
        rgBuilt_Free(&built);
    }
}

// Residual of (A + eps I + B G) x = b, where moved = G x.
static double rgPairError(const rgSystem* system, const double* A, const double* B, double eps,
                          const double* x, const double* moved, const double* b) {
    double worst = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* set = system->blocks + i;
        for (int r = 0; r < set->size; ++r) {
            const double *a = A + set->entryStart + r * set->size, *c = a + (B - A);
            double sum = eps * x[set->row + r] - b[set->row + r];
            for (int k = 0; k < set->size; ++k) {
                sum += a[k] * x[set->row + k] + c[k] * moved[set->row + k];
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

// At random points contacts stick, slip and open beside half lines, boxes, torsion and rolling:
// whatever is eliminated before, the equations hold. All rows stick: the symmetric case.
static void test_pair_systems_are_solved(void** state) {
    (void)state;
    static const rgSystemForm forms[] = {rg_formDense, rg_formVelocity};
    int kinds[4] = {0};
    for (int trial = 0; trial < 120; ++trial) {
        rgContactCaseDef def = rgMixedCase((uint64_t)trial, trial % 2 == 0 ? 3 : 30, 9);
        def.compliance = trial % 3 == 0 ? 0 : def.compliance;
        rgBuilt built;
        rgBuilt_Init(&built, &def, forms[trial / 2 % 2]);
        rgSystem* system = &built.system;
        rgRandom random = {(uint64_t)trial};
        double* vectors[5];
        for (int k = 0; k < 5; ++k) {
            vectors[k] = RG_TAKE(&built.arena, double, system->n);
            for (int i = 0; i < system->n; ++i) {
                vectors[k][i] = rgRandom_Uniform(&random, -1, 1);
            }
        }
        double *lambda = vectors[0], *sigma = vectors[1];
        for (int i = 0; i < system->blockCount; ++i) {
            const rgSystemBlock* set = system->blocks + i;
            if (set->kind == rg_blockCoulomb && (trial % 5 == 0 || i % 3 != 0)) {
                lambda[set->row + 2] = trial % 5 == 0 ? 50 : 3;
            }
        }
        double* A = RG_TAKE(&built.arena, double, 2 * system->entryCount);
        double* B = A + system->entryCount;
        rgJacobianKind* own = RG_TAKE(&built.arena, rgJacobianKind, system->blockCount);
        double p = trial % 7 == 0 ? 0.1 : 0, eps = 1e-2;
        rgSystem_Linearize(system, lambda, sigma, A, B, own);
        for (int i = 0; i < system->entryCount; ++i) {
            A[i] += p * B[i];
        }
        for (int i = 0; i < system->blockCount; ++i) {
            kinds[own[i]] += 1;
        }
        assert_int_equal(system->ops->factorNewton(system, A, B, own, eps), rg_ok);
        system->ops->solveNewton(system, vectors[2], vectors[3], vectors[4]);
        system->ops->apply(system, vectors[3], vectors[4]);
        double size = 1 + rgLargestNumber(system->n, vectors[3]);
        EXPECT_NEAR(rgPairError(system, A, B, eps, vectors[3], vectors[4], vectors[2]), 0,
                    1e-10 * size);
        rgBuilt_Free(&built);
    }
    for (int k = 0; k < 4; ++k) {
        assert_true(kinds[k] > 50);
    }
}

// Iterations of the interior point, or `limit` when it does not get there.
static int rgCountIterations(const rgContactCaseDef* caseDef, int few, int limit, bool* solved) {
    rgBuilt built;
    rgBuilt_Init(&built, caseDef, rg_formVelocity);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    double* zero = calloc((size_t)built.problem.rowCount, sizeof(double));
    rgRun run;
    assert_int_equal(rgRun_Init(&run, &def, &built.system, 1e-7, zero), rg_ok);
    rgInteriorOptions options = {.limit = limit, .blockingMost = few};
    assert_int_equal(rgRunInterior(&run, &options), rg_ok);
    *solved = rgRun_Solved(&run);
    int count = run.iterationCount;
    free(zero);
    rgBuilt_Free(&built);
    return count;
}

// Much friction and few bodies: the slip term rules. Steps that are widened solve more, sooner.
static void test_widened_steps_solve_more(void** state) {
    (void)state;
    int solved[2] = {0, 0}, iterations[2] = {0, 0};
    int cases = RG_SLOW_BUILD ? 20 : 100;
    for (int k = 0; k < cases; ++k) {
        rgContactCaseDef def = {.seed = (uint64_t)(1000 + k),
                                .bodyCount = 8,
                                .contactCount = 40,
                                .mu = 1.5,
                                .massDecades = 2,
                                .state = -1};
        for (int way = 0; way < 2; ++way) {
            bool ended;
            iterations[way] += rgCountIterations(&def, way == 0 ? 0 : 20, 60, &ended);
            solved[way] += ended;
        }
    }
    print_message("plain: %d of %d in %d iterations, widened: %d in %d\n", solved[0], cases,
                  iterations[0], solved[1], iterations[1]);
    assert_true(solved[1] > solved[0]);
    assert_true(iterations[1] < iterations[0]);
}

// Random number in low..high, logarithmically.
static double rgRandomSize(rgRandom* random, double low, double high) {
    return low * pow(high / low, rgRandom_Uniform(random, 0, 1));
}

typedef struct rgLawCase {
    double mu;
    double k[2];
    double z[3];
} rgLawCase;

static rgLawCase rgRandomLaw(rgRandom* random) {
    rgLawCase c = {.mu = rgRandomSize(random, 1e-3, 10)};
    for (int i = 0; i < 2; ++i) {
        c.k[i] = rgRandomSize(random, 1e-14, 1);
    }
    for (int i = 0; i < 3; ++i) {
        double sign = rgRandom_Uniform(random, 0, 1) < 0.5 ? -1 : 1;
        c.z[i] = sign * rgRandomSize(random, 1e-8, 10);
    }
    return c;
}

// interior.3, interior.5: both products, impulses against the slip, lambda - sigma = z, psi.
static void test_smoothed_law(void** state) {
    (void)state;
    rgRandom random = {3};
    for (int i = 0; i < 20000; ++i) {
        rgLawCase c = rgRandomLaw(&random);
        double l[3], s[3];
        rgSmoothLaw(c.mu, c.k, c.z, l, s, NULL);
        double psi = rgSlipBound(c.mu, c.k[1], l, s);
        double b = c.mu * l[2], t = hypot(l[0], l[1]);
        assert_true(l[2] > 0 && s[2] > 0 && t <= b && psi >= hypot(s[0], s[1]));
        EXPECT_NEAR(l[2] * s[2], c.k[0], 1e-14 * c.k[0]);
        for (int r = 0; r < 3; ++r) {
            EXPECT_NEAR(l[r] - s[r], c.z[r], 1e-13 * (fabs(l[r]) + fabs(s[r])));
        }
        EXPECT_NEAR(l[0] * s[1] - l[1] * s[0], 0, 1e-14 * t * hypot(s[0], s[1]));
        assert_true(l[0] * s[0] + l[1] * s[1] <= 0);
        // The Jordan product, as far as the difference b - t is known after rounding.
        double rounding = 1e-15 * b * (psi + hypot(s[0], s[1]));
        EXPECT_NEAR(b * psi + l[0] * s[0] + l[1] * s[1], c.k[1], 1e-12 * c.k[1] + 4 * rounding);
        EXPECT_NEAR(psi * l[0] + b * s[0], 0, 1e-12 * c.k[1] + 4 * rounding);
    }
}

// The derivative of the law is its difference quotient.
static void test_derivative_of_the_law(void** state) {
    (void)state;
    rgRandom random = {4};
    for (int i = 0; i < 2000; ++i) {
        rgLawCase c = rgRandomLaw(&random);
        c.k[0] = c.k[1] = rgRandomSize(&random, 1e-3, 1); // smooth on the scale of the step
        double l[3], s[3], D[9];
        rgSmoothLaw(c.mu, c.k, c.z, l, s, D);
        for (int j = 0; j < 3; ++j) {
            double h = 1e-6, high[3], low[3], z[3] = {c.z[0], c.z[1], c.z[2]};
            z[j] = c.z[j] + h;
            rgSmoothLaw(c.mu, c.k, z, high, s, NULL);
            z[j] = c.z[j] - h;
            rgSmoothLaw(c.mu, c.k, z, low, s, NULL);
            for (int r = 0; r < 3; ++r) {
                // rounding 1e-16 |z|/h, curvature h^2/k
                EXPECT_NEAR(D[3 * r + j], (high[r] - low[r]) / (2 * h), 1e-7);
            }
        }
    }
}

// W e = W^-1 b = v, and steps to the boundary of the cone.
static void test_scaling_and_steps(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int i = 0; i < 2000; ++i) {
        double x[2][3], d[3];
        for (int k = 0; k < 2; ++k) {
            x[k][1] = rgRandom_Uniform(&random, 0, 1) - 0.5;
            x[k][2] = rgRandom_Uniform(&random, 0, 1) - 0.5;
            x[k][0] = hypot(x[k][1], x[k][2]) + rgRandomSize(&random, 1e-4, 1);
        }
        rgScaling scaling;
        rgScaling_Init(&scaling, x[0], x[1]);
        double other[3], back[3], product[3];
        rgScaling_Apply(&scaling, true, x[0], other);
        rgScaling_Apply(&scaling, false, other, back);
        rgJordan(scaling.v, other, product);
        rgJordanSolve(scaling.v, product, d);
        for (int k = 0; k < 3; ++k) {
            EXPECT_NEAR(other[k], scaling.v[k], 1e-9);
            EXPECT_NEAR(back[k], x[0][k], 1e-9);
            EXPECT_NEAR(d[k], other[k], 1e-9);
        }
        double t = rgConeStep(x[0], (double[3]){-x[1][1], x[1][0], x[1][2]});
        double end[3] = {x[0][0] - t * x[1][1], x[0][1] + t * x[1][0], x[0][2] + t * x[1][2]};
        assert_true(t > 0 && isfinite(t));
        EXPECT_NEAR(end[0], hypot(end[1], end[2]), 1e-9 * (1 + fabs(end[0])));
        assert_true(end[0] >= -1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smoothed_law),
        cmocka_unit_test(test_derivative_of_the_law),
        cmocka_unit_test(test_scaling_and_steps),
        cmocka_unit_test(test_pair_systems_are_solved),
        cmocka_unit_test(test_response_is_that_of_single_columns),
        cmocka_unit_test(test_widened_steps_solve_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
