// Solvers by name, and one solve measured and judged.
#include "run.h"

#include "cli.h"

#include <string.h>

const char* const rgSolverNames[] = {"auto",      "newton", "interior", "admm",
                                     "admm-fast", "pgs",    NULL};
const char* const rgModelNames[] = {"ncp", "ccp", NULL};
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
    static const rgContactMethod methods[rg_solverCount] = {rg_methodAuto,     rg_methodNewton,
                                                            rg_methodInterior, rg_methodAdmm,
                                                            rg_methodAdmm,     rg_methodPgs};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = methods[solver];
    if (strcmp(rgSolverNames[solver], "admm") == 0) {
        def.admm = rgDefaultAdmmDef();
    } else if (strcmp(rgSolverNames[solver], "admm-fast") == 0) {
        def.admm = rgAcceleratedAdmmDef();
    }
    return def;
}

const char* rgStatusName(rgContactStatus status) {
    static const char* const names[] = {"unsolved", "solved",   "stalled",
                                        "limit",    "budgeted", "infeasible"};
    return names[status];
}

const char* rgPhaseName(rgContactPhase phase) {
    static const char* const names[] = {"newton", "sweep", "interior", "admm"};
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
