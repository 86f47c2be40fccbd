// Siconos' contact solvers on the problems of solver_peer.h: rigor-bench-siconos METHOD FILE. Its
// rows are normal, tangent, tangent. Problems are made dimensionless first, as its tolerance is in
// units of the problem. The least CPU time of a few calls counts, each from nothing.
#include "problems.h"

#include <Friction_cst.h>
#include <FrictionContactProblem.h>
#include <math.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <string.h>
#include <time.h>

static double rgNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Row i of theirs is row rgOurs(i) of ours.
static int rgOurs(int i) {
    return i % 3 == 0 ? i + 2 : i - 1;
}

static void rgSolveOne(const rgPeerProblem* problem, int method, double tolerance, int iterations) {
    size_t n = (size_t)problem->n;
    double* lambda = calloc(n, sizeof(double));
    double mass = 0, speed = 0, least = INFINITY, spent = 0;
    int made = 0, info = 1;
    for (size_t i = 0; i < n; ++i) {
        mass += problem->G[i * n + i] / (double)n;
        speed = fmax(speed, fabs(problem->g[i]));
    }
    mass = mass > 0 ? mass : 1;
    speed = speed > 0 ? speed : 1;
    for (int turn = 0; turn < 3 && spent < 0.2; ++turn) {
        double* W = malloc(n * n * sizeof(double));
        double* q = malloc(n * sizeof(double));
        double* reaction = calloc(n, sizeof(double));
        double* velocity = calloc(n, sizeof(double));
        for (int i = 0; i < problem->n; ++i) {
            q[i] = problem->g[rgOurs(i)] / speed;
            for (int j = 0; j < problem->n; ++j) {
                W[(size_t)j * n + (size_t)i] =
                    problem->G[(size_t)rgOurs(i) * n + (size_t)rgOurs(j)] / mass;
            }
        }
        double begin = rgNow();
        NumericsMatrix* matrix = NM_create_from_data(NM_DENSE, problem->n, problem->n, W);
        NumericsMatrix* sparse = NULL;
        if (method == SICONOS_FRICTION_3D_ADMM) { // has no dense form
            sparse = NM_create(NM_SPARSE, problem->n, problem->n);
            NM_copy_to_sparse(matrix, sparse, 0);
        }
        FrictionContactProblem given = {.dimension = 3,
                                        .numberOfContacts = problem->contacts,
                                        .M = sparse != NULL ? sparse : matrix,
                                        .q = q,
                                        .mu = problem->mu};
        SolverOptions* options = solver_options_create(method);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        // a Newton iteration factors the whole matrix: a hundred cost more than all else here
        int most = method == SICONOS_FRICTION_3D_NSN_AC && iterations > 100 ? 100 : iterations;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = most;
        info = fc3d_driver(&given, reaction, velocity, options);
        made = options->iparam[SICONOS_IPARAM_ITER_DONE];
        made = made >= most ? iterations : made; // it came to the most: no use in another try
        double took = rgNow() - begin;
        least = fmin(least, took);
        spent += took;
        for (int i = 0; i < problem->n; ++i) {
            lambda[rgOurs(i)] = reaction[i] * speed / mass;
        }
        solver_options_delete(options);
        if (sparse != NULL) {
            NM_clear(sparse);
            free(sparse);
        }
        NM_clear(matrix); // with W
        free(matrix);
        free(q);
        free(reaction);
        free(velocity);
    }
    rgPrintAnswer(least, made, info == 0, problem->n, lambda);
    free(lambda);
}

int main(int argc, char** argv) {
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        printf("%s\n", RIGOR_SICONOS_VERSION);
        return 0;
    }
    int method = argc != 3                        ? 0
                 : strcmp(argv[1], "NSGS") == 0   ? SICONOS_FRICTION_3D_NSGS
                 : strcmp(argv[1], "NSN_AC") == 0 ? SICONOS_FRICTION_3D_NSN_AC
                 : strcmp(argv[1], "ADMM") == 0   ? SICONOS_FRICTION_3D_ADMM
                                                  : 0;
    if (method == 0) {
        printf("fault rigor-bench-siconos NSGS|NSN_AC|ADMM FILE\n");
        return 2;
    }
    rgPeerProblems all = rgReadProblems(argv[2]);
    for (int i = 0; i < all.count; ++i) {
        if (all.problems[i].contacts > 0) {
            rgSolveOne(&all.problems[i], method, all.tolerance, all.iterations);
        } else {
            printf("none\n");
        }
    }
    return 0;
}
