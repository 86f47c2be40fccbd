// The built-in wall: sizes, free velocity, rigid motions, weight.
#include "wall.h"

#include "support.h"

#include <math.h>
#include <stdlib.h>

static rgWall* rgMakeWall(void) {
    rgWall* wall = malloc(sizeof(rgWall));
    assert_non_null(wall);
    rgWall_Build(wall);
    return wall;
}

// Row i of J times v.
static double rgRowTimes(const rgWall* wall, int i, const double* v) {
    double sum = 0;
    for (int k = wall->jacobianStart[i]; k < wall->jacobianStart[i + 1]; ++k) {
        sum += wall->jacobian[k] * v[wall->jacobianColumn[k]];
    }
    return sum;
}

static void test_problem_is_well_formed(void** state) {
    (void)state;
    rgWall* wall = rgMakeWall();
    assert_int_equal(wall->problem.blockCount, rg_wallContacts);
    assert_int_equal(wall->jacobianStart[rg_wallRows], 20 * 3 * 6 + 80 * 3 * 12);
    assert_int_equal(rgContactProblem_Check(&wall->problem, NULL), rg_ok);
    double total = 0;
    for (int i = 0; i < rg_wallCubes; ++i) {
        total += wall->mass[6 * i];
    }
    EXPECT_NEAR(total, 5 + 40 + 300 + 2000 + 10000, 0);
    free(wall);
}

static void test_free_velocity_is_a_fall(void** state) {
    (void)state;
    rgWall* wall = rgMakeWall();
    double v[rg_wallVelocities] = {0};
    for (int i = 0; i < rg_wallCubes; ++i) {
        v[6 * i + 2] = -9.81e-3;
    }
    for (int i = 0; i < rg_wallRows; ++i) {
        EXPECT_NEAR(rgRowTimes(wall, i, v), wall->freeVelocity[i], 1e-17);
    }
    free(wall);
}

// The whole wall turned about an axis through the origin moves no pair of cubes against each other.
static void test_pairs_do_not_feel_rigid_motions(void** state) {
    (void)state;
    rgWall* wall = rgMakeWall();
    const double w[3] = {0.3, -0.7, 1.1};
    double v[rg_wallVelocities];
    double z = 0.1, x = -0.42;
    int cube = 0;
    for (int row = 0; row < 5; ++row, z += 0.2) {
        x = -0.105 * (4 - row);
        for (int i = 0; i < 5 - row; ++i, ++cube, x += 0.21) {
            const double velocity[6] = {w[1] * z, w[2] * x - w[0] * z, -w[1] * x, w[0], w[1], w[2]};
            for (int k = 0; k < 6; ++k) {
                v[6 * cube + k] = velocity[k];
            }
        }
    }
    double largestOnFloor = 0;
    for (int i = 0; i < rg_wallRows; ++i) {
        double relative = rgRowTimes(wall, i, v);
        if (i < 60) {
            largestOnFloor = fmax(largestOnFloor, fabs(relative));
        } else {
            EXPECT_NEAR(relative, 0, 1e-15);
        }
    }
    assert_true(largestOnFloor > 0.1);
    free(wall);
}

// A push through contact j changes the velocity at contact i as J M^-1 J' says.
static void test_condensed_matches_the_velocity_form(void** state) {
    (void)state;
    rgWall* wall = rgMakeWall();
    double* matrix = calloc((size_t)rg_wallRows * rg_wallRows, sizeof(double));
    double* lambda = calloc(2 * rg_wallRows, sizeof(double));
    double* sigma = lambda + rg_wallRows;
    assert_true(matrix != NULL && lambda != NULL);
    rgWall_Condense(wall, matrix);
    for (int j = 0; j < rg_wallRows; j += 7) {
        lambda[j] = 1;
        assert_int_equal(rgContactProblem_Velocity(&wall->problem, lambda, sigma), rg_ok);
        for (int i = 0; i < rg_wallRows; ++i) {
            double change = sigma[i] - wall->freeVelocity[i];
            EXPECT_NEAR(matrix[i * rg_wallRows + j], change, 1e-14);
        }
        lambda[j] = 0;
    }
    free(lambda);
    free(matrix);
    free(wall);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem_is_well_formed),
        cmocka_unit_test(test_free_velocity_is_a_fall),
        cmocka_unit_test(test_condensed_matches_the_velocity_form),
        cmocka_unit_test(test_pairs_do_not_feel_rigid_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
