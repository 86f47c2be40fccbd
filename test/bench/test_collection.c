// Collections of our own: the problems have the sizes and friction that they promise, are solved,
// and come back from their files as they were.
#include "collection.h"

#include "cases.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rgCheckedProblems {
    rgContactSolver* solver;
    char path[64];
    int count, end;
    int next; // the number that comes next
} rgCheckedProblems;

static bool rgCheckOne(void* context, const rgFamily* family, int index,
                       const rgContactProblem* problem, const int* keys) {
    (void)keys;
    rgCheckedProblems* checked = context;
    int others = 0, contacts = rgCountContacts(problem, &others);
    assert_int_equal(index, checked->next);
    assert_int_equal(others, 0);
    assert_in_range(contacts, family->least, family->most);
    for (int i = 0; i < problem->blockCount; ++i) {
        EXPECT_NEAR(problem->blocks[i].mu, family->mu, 0);
    }
    double* lambda = calloc((size_t)problem->rowCount, sizeof(double));
    rgContactReport report;
    assert_int_equal(rgContactSolver_Solve(checked->solver, problem, lambda, NULL, &report), rg_ok);
    assert_int_equal(report.status, rg_contactSolved);
    assert_true(rgContactProblem_Residual(problem, lambda) <= 1e-6);
    // What was written is the same problem: the judge thinks the same of the same impulses.
    rgCase loaded;
    assert_true(rgWriteProblem(problem, NULL, checked->path, family->name, family->description));
    assert_true(rgLoadCase(checked->path, rg_fclibMatrixAuto, &loaded));
    assert_int_equal(loaded.contactCount, contacts);
    assert_int_equal(loaded.problem.rowCount, problem->rowCount);
    lambda[2] += 1e-3;
    rgResidual here, there;
    assert_int_equal(rgContactProblem_Judge(problem, rg_modelNcp, lambda, &here), rg_ok);
    assert_int_equal(rgContactProblem_Judge(&loaded.problem, rg_modelNcp, lambda, &there), rg_ok);
    EXPECT_NEAR(there.velocity, here.velocity, 1e-9 * here.velocity);
    EXPECT_NEAR(there.complementarity, here.complementarity, 1e-9 * here.complementarity + 1e-15);
    rgCase_Free(&loaded);
    free(lambda);
    checked->next += 5;
    return ++checked->count < checked->end;
}

// Bits of a problem, to see that it is made the same way again.
static bool rgAddBits(void* context, const rgFamily* family, int index,
                      const rgContactProblem* problem, const int* keys) {
    (void)family, (void)index, (void)keys;
    double* sum = context;
    for (int i = 0; i < problem->rowCount; ++i) {
        *sum = 0.5 * *sum + problem->freeVelocity[i];
    }
    return index < 20;
}

static void test_families(void** state) {
    (void)state;
    rgCheckedProblems checked = {.end = rgFewer(12)};
    char folder[] = "/tmp/rigor-collection-XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(checked.path, sizeof(checked.path), "%s/one.hdf5", folder);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    assert_int_equal(rgCreateContactSolver(&def, &checked.solver), rg_ok);
    for (int i = 0; i < rg_familyCount; ++i) {
        checked.count = checked.next = 0;
        assert_false(rgFamily_Generate(&rgFamilies[i], 5, rgCheckOne, &checked)); // we ended it
        assert_int_equal(checked.count, checked.end);
        double first = 0, again = 0;
        rgFamily_Generate(&rgFamilies[i], 4, rgAddBits, &first);
        rgFamily_Generate(&rgFamilies[i], 4, rgAddBits, &again);
        assert_true(first == again && first != 0);
    }
    rgDestroyContactSolver(checked.solver);
    remove(checked.path);
    assert_int_equal(rmdir(folder), 0);
}

// As many as the paper has.
static void test_counts(void** state) {
    (void)state;
    assert_int_equal(rgFamilies[0].count, 255);
    assert_int_equal(rgFamilies[1].count, 242);
    assert_int_equal(rgFamilies[2].count, 249);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
