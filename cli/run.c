// Solvers by name, and one solve measured and judged.
#include "run.h"

#include <math.h>
#include <string.h>

const char* const rgSolverNames[] = {"auto",      "newton",    "interior", "admm",
                                     "admm-fast", "pgs",       "pivot",    "bisection",
                                     "dojo",      "staggered", NULL};
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
    static const rgContactMethod methods[] = {
        rg_methodAuto, rg_methodNewton, rg_methodInterior,  rg_methodAdmm, rg_methodAdmm,
        rg_methodPgs,  rg_methodPivot,  rg_methodBisection, rg_methodDojo, rg_methodStaggered};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = methods[solver];
    if (strcmp(rgSolverNames[solver], "admm") == 0) {
        def.admm = rgDefaultAdmmDef();
    } else if (strcmp(rgSolverNames[solver], "admm-fast") == 0) {
        def.admm = rgAcceleratedAdmmDef();
    }
    return def;
}

static bool rgSupportsNcpAlone(rgContactMethod method) {
    return method == rg_methodBisection || method == rg_methodDojo || method == rg_methodStaggered;
}

bool rgSolverSupports(int solver, int model) {
    rgContactSolverDef def = rgSolverDef(solver);
    def.model = (rgContactModel)model;
    rgContactSolver* made = NULL;
    bool supports = rgCreateContactSolver(&def, &made) == rg_ok;
    rgDestroyContactSolver(made);
    if (!supports) {
        rgCli_Error("--solver %s cannot solve --model %s; %s", rgSolverNames[solver],
                    rgModelNames[model],
                    def.method == rg_methodPivot     ? "it is for lcp4 and lcp8"
                    : rgSupportsNcpAlone(def.method) ? "it is for ncp"
                                                     : "auto, pgs and pivot do");
    }
    return supports;
}

// ---- the paper's parameters

static const char* const rgRuleNames[] = {"spectral", "linear", "constant", NULL};
static const char* const rgStopTestNames[] = {"judge", "paper", NULL};
static const char* const rgIslandNames[] = {"on", "off", NULL};

rgSolverArguments rgDefaultSolverArguments(void) {
    return (rgSolverArguments){-1, -1, -1, NAN, NAN, NAN, NAN, NAN, NAN};
}

void rgSolverArguments_Options(rgSolverArguments* arguments, rgOption* table) {
    const rgOption options[RG_SOLVER_OPTION_COUNT] = {
        {"--islands", rg_optionChoice, &arguments->islands,
         "solve independent islands apart, or all at once", "W", rgIslandNames, 0, 0},
        {"--stop", rg_optionChoice, &arguments->stop,
         "ADMM: stopping test, by the residual or by its own iterates", "W", rgStopTestNames, 0, 0},
        {"--rule", rg_optionChoice, &arguments->rule, "ADMM: rule that adapts the penalty rho", "R",
         rgRuleNames, 0, 0},
        {"--eta", rg_optionNumber, &arguments->eta, "ADMM: proximal term [1/kg]", "E", NULL, 0,
         1e9},
        {"--p", rg_optionNumber, &arguments->step, "ADMM, spectral rule: step of the exponent", "P",
         NULL, 1e-9, 10},
        {"--p-start", rg_optionNumber, &arguments->power, "ADMM: exponent at the start", "P", NULL,
         -10, 10},
        {"--tau", rg_optionNumber, &arguments->tau, "ADMM, linear rule: factor between penalties",
         "T", NULL, 1 + 1e-9, 1e9},
        {"--alpha", rg_optionNumber, &arguments->alpha,
         "ADMM: ratio of residuals above which rho changes", "A", NULL, 1, 1e18},
        {"--rho", rg_optionNumber, &arguments->rho,
         "ADMM: rho at the start [1/kg]; from the spectrum without it", "R", NULL, 1e-300, 1e300},
    };
    memcpy(table, options, sizeof(options));
}

bool rgSolverArguments_Check(const rgSolverArguments* arguments, const rgContactSolverDef* def) {
    rgSolverArguments copy = *arguments;
    rgOption table[RG_SOLVER_OPTION_COUNT];
    rgSolverArguments_Options(&copy, table);
    for (int i = 1; def->method != rg_methodAdmm && i < RG_SOLVER_OPTION_COUNT; ++i) {
        bool given = table[i].kind == rg_optionChoice ? *(const int*)table[i].value >= 0
                                                      : !isnan(*(const double*)table[i].value);
        if (given) {
            rgCli_Error("%s belongs to ADMM: choose --solver admm or admm-fast", table[i].name);
            return false;
        }
    }
    rgPenaltyRule rule = arguments->rule < 0 ? def->admm.rule : (rgPenaltyRule)arguments->rule;
    if (!isnan(arguments->step) && rule != rg_penaltySpectral) {
        rgCli_Error("--p needs --rule spectral");
        return false;
    }
    if (!isnan(arguments->tau) && rule != rg_penaltyLinear) {
        rgCli_Error("--tau needs --rule linear");
        return false;
    }
    return true;
}

static void rgSetIfGiven(double* parameter, double value) {
    *parameter = isnan(value) ? *parameter : value;
}

void rgSolverArguments_Apply(const rgSolverArguments* arguments, rgContactSolverDef* def) {
    def->splitIslands = arguments->islands < 0 ? def->splitIslands : arguments->islands == 0;
    if (def->method != rg_methodAdmm) {
        return;
    }
    def->stop = arguments->stop < 0 ? def->stop : (rgStopTest)arguments->stop;
    def->admm.rule = arguments->rule < 0 ? def->admm.rule : (rgPenaltyRule)arguments->rule;
    rgSetIfGiven(&def->admm.proximal, arguments->eta);
    rgSetIfGiven(&def->admm.exponentStep, arguments->step);
    rgSetIfGiven(&def->admm.exponent, arguments->power);
    rgSetIfGiven(&def->admm.factor, arguments->tau);
    rgSetIfGiven(&def->admm.ratio, arguments->alpha);
    rgSetIfGiven(&def->admm.penalty, arguments->rho);
}

const char* rgStatusName(rgContactStatus status) {
    static const char* const names[] = {"unsolved", "solved", "stalled", "limit", "infeasible"};
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
