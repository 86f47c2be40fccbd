// Problems whose answers are known: the search finds those that there are, and no others.
#include "random.h"
#include "rigor/contact.h"

#include "support.h"

#include <math.h>
#include <string.h>

enum { rg_rowsMost = 12, rg_columnsMost = 6 };

// G = J J' of bodies of unit mass and inertia, and g = J v.
typedef struct Problem {
    double G[rg_rowsMost * rg_rowsMost];
    double g[rg_rowsMost];
    rgBlock blocks[rg_rowsMost / 3];
    rgContactProblem problem;
} Problem;

static void MakeProblem(Problem* made, int contacts, double mu) {
    int n = 3 * contacts;
    for (int i = 0; i < contacts; ++i) {
        made->blocks[i] =
            (rgBlock){.kind = rg_blockCoulomb, .firstRow = 3 * i, .rowCount = 3, .mu = mu};
    }
    made->problem = (rgContactProblem){.rowCount = n,
                                       .blockCount = contacts,
                                       .blocks = made->blocks,
                                       .delassus.matrix = made->G,
                                       .freeVelocity = made->g};
}

static void FillFrom(Problem* made, int columns, const double* J, const double* v) {
    int n = made->problem.rowCount;
    for (int i = 0; i < n; ++i) {
        made->g[i] = 0;
        for (int k = 0; k < columns; ++k) {
            made->g[i] += J[columns * i + k] * v[k];
        }
        for (int j = 0; j < n; ++j) {
            made->G[n * i + j] = 0;
            for (int k = 0; k < columns; ++k) {
                made->G[n * i + j] += J[columns * i + k] * J[columns * j + k];
            }
        }
    }
}

static rgAnswers Search(const Problem* made, const double* lambda, double* other) {
    rgAnswers answers;
    assert_int_equal(rgContactProblem_FindAnswers(&made->problem, NULL, lambda, other, &answers),
                     rg_ok);
    assert_int_equal(answers.starts, rgDefaultAnswerDef().starts + 1);
    assert_true(rgContactProblem_Residual(&made->problem, other) <= 1e-9);
    return answers;
}

// A point between two walls that exactly touch it falls, or they press on it and friction holds it.
static void test_point_between_walls(void** state) {
    (void)state;
    const double J[6 * 3] = {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, -1, -1, 0, 0};
    const double v[3] = {0, 0, -0.01};
    for (double mu = 0.01; mu < 2; mu *= 3) {
        Problem made;
        double falls[6] = {0}, held[6], other[6];
        MakeProblem(&made, 2, mu);
        FillFrom(&made, 3, J, v);
        rgAnswers answers = Search(&made, falls, held);
        assert_true(answers.motionDiffers && answers.impulsesDiffer);
        EXPECT_NEAR(answers.velocity, 0.01, 1e-9);
        assert_true(held[2] + held[5] >= 0.01 / mu * (1 - 1e-6)); // Coulomb: what friction needs
        answers = Search(&made, held, other);
        assert_true(answers.motionDiffers);
        EXPECT_NEAR(answers.velocity, 0.01, 1e-9);
    }
}

// A rod that slides on its tip, past Painleve's paradox: it lifts off by itself, or its tip is
// caught without having closed in.
static void test_painleve(void** state) {
    (void)state;
    const double mu = 2, angle = 1.05, c = cos(angle), s = sin(angle);
    Problem made;
    MakeProblem(&made, 1, mu);
    const double G[9] = {1 + 3 * s * s, 0, 3 * s * c, 0, 4, 0, 3 * s * c, 0, 1 + 3 * c * c};
    const double caught[3] = {-0.95 * mu, 0, 1};
    memcpy(made.G, G, sizeof(G));
    for (int i = 0; i < 3; ++i) {
        made.g[i] = -(G[3 * i] * caught[0] + G[3 * i + 2] * caught[2]);
    }
    assert_true(made.g[2] > 0);
    double lifts[3] = {0}, other[3];
    assert_true(Search(&made, lifts, other).motionDiffers);
    assert_true(Search(&made, caught, other).motionDiffers);
    assert_true(rgContactProblem_Residual(&made.problem, caught) < 1e-12);
    EXPECT_NEAR(rgContactProblem_Residual(&made.problem, lifts), 0, 0);
}

// Four legs share a weight in many ways, and stand in one.
static void test_four_legs(void** state) {
    (void)state;
    double J[12 * 6] = {0};
    const double v[6] = {0.001, 0, -0.01, 0, 0, 0};
    for (int i = 0; i < 4; ++i) {
        double x = i % 2 == 0 ? -1 : 1, y = i < 2 ? -1 : 1, z = -1;
        const double rows[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
        memcpy(J + 18 * (size_t)i, rows, sizeof(rows));
    }
    Problem made;
    double lambda[12] = {0}, other[12];
    MakeProblem(&made, 4, 0.5);
    FillFrom(&made, 6, J, v);
    rgAnswers answers = Search(&made, lambda, other);
    assert_true(answers.impulsesDiffer && !answers.motionDiffers);
    assert_true(answers.velocity < 1e-8 && answers.impulse > 1e-4 && answers.block >= 0);
}

// One contact has one answer where mu^2 (G^-1)_nn |G_tt| < 1: the map from the slip speed, which
// shifts the normal velocity of the convex problem, to the slip speed of its solution contracts.
static void test_unique(void** state) {
    (void)state;
    rgRandom random = {21};
    int count = rgFewer(300);
    for (int p = 0; p < count; ++p) {
        double J[9], v[3], inverse, largest;
        for (int i = 0; i < 9; ++i) {
            J[i] = (i % 4 == 0) + 0.3 * rgRandom_Normal(&random);
        }
        for (int i = 0; i < 3; ++i) {
            v[i] = rgRandom_Normal(&random);
        }
        Problem made;
        MakeProblem(&made, 1, 0.1);
        FillFrom(&made, 3, J, v);
        const double* G = made.G;
        double determinant = G[0] * (G[4] * G[8] - G[5] * G[5]) -
                             G[1] * (G[1] * G[8] - G[5] * G[2]) +
                             G[2] * (G[1] * G[5] - G[4] * G[2]);
        inverse = (G[0] * G[4] - G[1] * G[1]) / determinant;
        largest = 0.5 * (G[0] + G[4]) + hypot(0.5 * (G[0] - G[4]), G[1]);
        made.blocks[0].mu = 0.9 / sqrt(inverse * largest);
        double lambda[3] = {0}, other[3];
        rgAnswers answers = Search(&made, lambda, other);
        assert_true(!answers.motionDiffers && !answers.impulsesDiffer);
        assert_int_equal(answers.count, answers.starts + 1);
        assert_int_equal(answers.block, -1);
    }
}

static void test_misuse(void** state) {
    (void)state;
    const double J[3 * 3] = {0, 1, 0, 0, 0, 1, 1, 0, 0}, v[3] = {-1, 0, 0};
    Problem made;
    double lambda[3] = {0}, other[3], again[3];
    MakeProblem(&made, 1, 0.5);
    FillFrom(&made, 3, J, v);
    rgAnswers answers, second;
    rgAnswerDef def = rgDefaultAnswerDef();
    const rgContactProblem* problem = &made.problem;
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, NULL, other, &answers),
                     rg_errorArgument);
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, NULL, &answers),
                     rg_errorArgument);
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, other, NULL),
                     rg_errorArgument);
    def.starts = -1;
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, other, &answers),
                     rg_errorArgument);
    def = rgDefaultAnswerDef();
    def.apart = def.tolerance; // as far apart as they are exact
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, other, &answers),
                     rg_errorArgument);
    def = (rgAnswerDef){.starts = 1, .tolerance = 1e-9, .apart = 1e-4};
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, other, &answers),
                     rg_errorArgument);
    def = rgDefaultAnswerDef();
    def.seed = 5;
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, other, &answers), rg_ok);
    assert_int_equal(rgContactProblem_FindAnswers(problem, &def, lambda, again, &second), rg_ok);
    assert_memory_equal(&answers, &second, sizeof(answers));
    assert_memory_equal(other, again, sizeof(other));
    rgContactProblem none = {0};
    assert_int_equal(rgContactProblem_FindAnswers(&none, NULL, NULL, NULL, &answers), rg_ok);
    assert_int_equal(answers.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point_between_walls),
        cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_four_legs),
        cmocka_unit_test(test_unique),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
