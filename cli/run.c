// Solvers by name, and one solve measured and judged.
#include "run.h"

#include "cli.h"

#include <string.h>

const char* const rgSolverNames[] = {"auto", "newton", "interior",  "admm", "admm-fast",
                                     "pgs",  "pivot",  "bisection", NULL};
const char* const rgModelNames[] = {"ncp", "ccp", "lcp4", "lcp8", NULL};
const char* const rgConvexModelNames[] = {"ncp", "ccp", NULL};
const char* const rgIntegratorNames[] = {"file", "midpoint", "euler", NULL};
const char* const rgFrictionRuleNames[] = {"file",    "geometric", "average",
                                           "minimum", "maximum",   NULL};
const char* const rgFormNames[] = {"auto", "dense", "sparse", "velocity", NULL};

int rgSolverIndex(const char* name, size_t length) {
    for (int i = 0; rgSolverNames[i] != NULL; ++i) {
        if (strlen(rgSolverNames[i]) == length && strncmp(rgSolverNames[i], name, length) == 0) {
            return i;
        }
    }
    return -1;
}

rgContactSolverDef rgSolverDef(int solver) {
    static const rgContactMethod methods[] = {rg_methodAuto,  rg_methodNewton,   rg_methodInterior,
                                              rg_methodAdmm,  rg_methodAdmm,     rg_methodPgs,
                                              rg_methodPivot, rg_methodBisection};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = methods[solver];
    if (strcmp(rgSolverNames[solver], "admm") == 0) {
        def.admm = rgDefaultAdmmDef();
    } else if (strcmp(rgSolverNames[solver], "admm-fast") == 0) {
        def.admm = rgAcceleratedAdmmDef();
    }
    return def;
}

bool rgSolverSuits(int solver, int model) {
    rgContactSolverDef def = rgSolverDef(solver);
    def.model = (rgContactModel)model;
    rgContactSolver* made = NULL;
    bool suits = rgCreateContactSolver(&def, &made) == rg_ok;
    rgDestroyContactSolver(made);
    if (!suits) {
        rgCli_Error("--solver %s does not know --model %s; %s", rgSolverNames[solver],
                    rgModelNames[model],
                    def.method == rg_methodPivot       ? "it is for lcp4 and lcp8"
                    : def.method == rg_methodBisection ? "it is for ncp"
                                                       : "auto, pgs and pivot do");
    }
    return suits;
}

const char* rgStatusName(rgContactStatus status) {
    static const char* const names[] = {"unsolved", "solved",   "stalled",
                                        "limit",    "budgeted", "infeasible"};
    return names[status];
}

const char* rgPhaseName(rgContactPhase phase) {
    static const char* const names[] = {"newton", "sweep", "interior", "admm", "pivot"};
    return names[phase];
}

void rgRun_Repeat(rgRun* run, rgContactSolver* solver, const rgContactProblem* problem,
                  const double* start, double* lambda, double* sigma) {
    size_t bytes = (size_t)problem->rowCount * sizeof(double);
    if (start != NULL) {
        memcpy(lambda, start, bytes);
    } else {
        memset(lambda, 0, bytes);
    }
    double begin = rgCli_ThreadSeconds();
    run->result = rgContactSolver_Solve(solver, problem, lambda, sigma, &run->report);
    double seconds = rgCli_ThreadSeconds() - begin;
    run->seconds = seconds < run->seconds ? seconds : run->seconds;
    run->report.history = NULL;
}

void rgRun_Judge(rgRun* run, const rgContactSolverDef* def, const rgContactProblem* problem,
                 const double* lambda) {
    if (run->result == rg_ok) {
        run->result = rgContactProblem_Judge(problem, def->model, lambda, &run->residual);
    }
    bool agreed = def->stop == rg_stopPaper || run->residual.total <= def->tolerance;
    run->solved = run->result == rg_ok && run->report.status == rg_contactSolved && agreed;
}
