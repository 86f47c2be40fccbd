// Other people's solvers get our problems and give back what solves them, by the judge. Those that
// are not installed are passed by.
#include "rigor/rigor.h"
#include "solver_peer.h"

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { rg_n = 12 };

typedef struct rgSmall {
    rgBlock blocks[4];
    double G[rg_n * rg_n], g[rg_n], R[rg_n];
    rgContactProblem problem;
} rgSmall;

// Four contacts, or three and half lines and a box; with some compliance.
static void rgMakeSmall(rgSmall* small, int trial, bool contactsOnly) {
    for (int b = 0; b < 4; ++b) {
        small->blocks[b] = (rgBlock){
            .kind = rg_blockCoulomb, .firstRow = 3 * b, .rowCount = 3, .mu = 0.2 + 0.2 * b};
    }
    if (!contactsOnly) {
        small->blocks[1] = (rgBlock){.kind = rg_blockHalfLine, .firstRow = 3, .rowCount = 3};
        small->blocks[3] = (rgBlock){
            .kind = rg_blockBox, .firstRow = 9, .rowCount = 3, .lower = -0.2, .upper = 0.1};
    }
    double root[rg_n * rg_n];
    for (int i = 0; i < rg_n * rg_n; ++i) {
        root[i] = rgRandomNormal((uint64_t)trial, (uint64_t)i);
    }
    for (int i = 0; i < rg_n; ++i) {
        small->g[i] = rgRandomNormal((uint64_t)trial, (uint64_t)(200 + i));
        small->R[i] = 0.01 * i;
        for (int j = 0; j < rg_n; ++j) {
            small->G[i * rg_n + j] = i == j ? 0.5 : 0;
            for (int k = 0; k < rg_n; ++k) {
                small->G[i * rg_n + j] += root[i * rg_n + k] * root[j * rg_n + k] / rg_n;
            }
        }
    }
    small->problem = (rgContactProblem){.rowCount = rg_n,
                                        .blockCount = 4,
                                        .blocks = small->blocks,
                                        .delassus = {.kind = rg_delassusDense, .matrix = small->G},
                                        .freeVelocity = small->g,
                                        .compliance = small->R};
}

static void test_peers(void** state) {
    (void)state;
    enum { count = 6 };
    rgSmall smalls[count];
    const rgContactProblem* problems[count];
    for (int i = 0; i < count; ++i) {
        rgMakeSmall(&smalls[i], i, i < count - 1); // the last one has other sets
        problems[i] = &smalls[i].problem;
    }
    for (int p = 0; p < rgSolverPeerCount; ++p) {
        const rgSolverPeer* peer = &rgSolverPeers[p];
        rgSolverAnswer answers[count];
        bool first[count];
        char fault[256] = "", version[64];
        bool there =
            strcmp(rgSolverPeer_Version(peer, version, sizeof(version)), "not installed") != 0;
        bool solved = rgSolverPeer_SolveTruly(peer, problems, count, 1e-5, 10000, answers, first,
                                              fault, sizeof(fault));
        assert_int_equal(solved, there);
        if (!there) {
            assert_non_null(strstr(fault, "./setup bench"));
            continue;
        }
        for (int i = 0; i < count; ++i) {
            bool scs = strcmp(peer->name, "SCS") == 0;
            assert_int_equal(answers[i].lambda != NULL, i < count - 1 || scs);
            if (answers[i].lambda == NULL) {
                continue;
            }
            rgResidual residual;
            assert_int_equal(
                rgContactProblem_Judge(problems[i], peer->model, answers[i].lambda, &residual),
                rg_ok);
            // Its PGS is wrong where normal and tangent couple, as they do here.
            bool sweeps = strncmp(peer->method, "PGS", 3) == 0;
            if (!sweeps && residual.total > 1e-5) {
                fail_msg("%s %s, problem %d: %.1e", peer->name, peer->method, i, residual.total);
            }
            assert_true(answers[i].seconds > 0);
        }
        rgSolverAnswers_Free(answers, count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
