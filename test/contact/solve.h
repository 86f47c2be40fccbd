// One solve with a given definition; sizes that sanitizers allow.
#pragma once
#include "contact_case.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RG_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RG_SLOW_BUILD 1
#endif
#endif
#ifndef RG_SLOW_BUILD
#define RG_SLOW_BUILD 0
#endif

// Contacts of every kind, and rows of every other kind.
static inline rgContactCaseDef rgMixedCase(uint64_t seed, int bodies, int contacts) {
    return (rgContactCaseDef){.seed = seed,
                              .bodyCount = bodies,
                              .contactCount = contacts,
                              .torsionCount = 1,
                              .rollingCount = 1,
                              .halfLineCount = 2,
                              .boxCount = 1,
                              .freeCount = 1,
                              .mu = 0.4,
                              .compliance = 0.02,
                              .state = -1};
}

// Every way to solve that a user can choose.
typedef enum rgWay {
    rg_wayAuto,
    rg_wayNewton,
    rg_wayAdmm,
    rg_wayFastAdmm,
    rg_wayPgs,
    rg_wayInterior,
    rg_wayCount
} rgWay;

static const char* const rgWayNames[rg_wayCount] = {"auto",      "newton", "admm",
                                                    "admm-fast", "pgs",    "interior"};

static inline rgContactSolverDef rgWayDef(rgWay way, double tolerance) {
    static const rgContactMethod methods[rg_wayCount] = {rg_methodAuto, rg_methodNewton,
                                                         rg_methodAdmm, rg_methodAdmm,
                                                         rg_methodPgs,  rg_methodInterior};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = methods[way];
    def.tolerance = tolerance;
    def.maxIterations = 20000;
    if (way == rg_wayFastAdmm) {
        def.admm = rgAcceleratedAdmmDef();
    }
    return def;
}

// Solve and check what every report promises: the residual is the judge's, impulses lie in K,
// sigma belongs to lambda, the status fits the residual.
static inline rgContactReport rgSolveAndCheck(const rgContactSolverDef* def,
                                              const rgContactProblem* problem, double* lambda) {
    int n = problem->rowCount;
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(def, &solver), rg_ok);
    rgContactReport report;
    double* sigma = calloc((size_t)n + 1, sizeof(double));
    double* other = calloc((size_t)n + 1, sizeof(double));
    assert_int_equal(rgContactSolver_Solve(solver, problem, lambda, sigma, &report), rg_ok);
    rgResidual residual;
    assert_int_equal(rgContactProblem_Judge(problem, def->model, lambda, &residual), rg_ok);
    assert_true(residual.total == report.residual.total);
    if (def->stop == rg_stopJudge) {
        assert_int_equal(report.status == rg_contactSolved, residual.total <= def->tolerance);
    }
    assert_int_equal(rgContactProblem_Velocity(problem, lambda, other), rg_ok);
    assert_true(rgLargestDifference(n, sigma, other) == 0);
    memcpy(other, lambda, (size_t)n * sizeof(double));
    for (int b = 0; b < problem->blockCount; ++b) {
        rgBlock_Project(problem->blocks + b, other + problem->blocks[b].firstRow);
    }
    assert_true(rgLargestDifference(n, lambda, other) <= 1e-14 * rgLargestNumber(n, lambda));
    free(sigma);
    free(other);
    rgDestroyContactSolver(solver);
    return report;
}

static inline double* rgZeros(int n) {
    double* zeros = calloc((size_t)n + 1, sizeof(double));
    assert_non_null(zeros);
    return zeros;
}

// Cold solve that must succeed; the impulses are the caller's.
static inline double* rgMustSolve(rgWay way, const rgContactSolverDef* def,
                                  const rgContactProblem* problem, uint64_t seed) {
    double* lambda = rgZeros(problem->rowCount);
    rgContactReport report = rgSolveAndCheck(def, problem, lambda);
    if (report.status != rg_contactSolved) {
        fail_msg("%s, seed %d, %d rows: status %d after %d iterations, residual %g",
                 rgWayNames[way], (int)seed, problem->rowCount, (int)report.status,
                 report.iterationCount, report.residual.total);
    }
    return lambda;
}
