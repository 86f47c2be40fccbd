// Solvers by name, and one solve measured and judged: shared by solve, demo and bench.
#pragma once
#include "cli.h"

// NULL-terminated. "admm" is the paper's Algorithm 1, "admm-fast" the accelerated one.
extern const char* const rgSolverNames[];
extern const char* const rgModelNames[];        // names of rgContactModel
extern const char* const rgConvexModelNames[];  // those of inverse dynamics
extern const char* const rgIntegratorNames[];   // names of rgIntegrator
extern const char* const rgFrictionRuleNames[]; // names of rgFrictionRule
extern const char* const rgFormNames[];         // names of rgSystemForm
enum { rg_solverCount = 6 }; // the first so many know the exact law and its relaxation

// Place of a name of so many characters in rgSolverNames, or -1.
int rgSolverIndex(const char* name, size_t length);

// The library's defaults for a solver, by its place in rgSolverNames.
rgContactSolverDef rgSolverDef(int solver);

// True if a solver knows a model; complains on stderr when it does not.
bool rgSolverSupports(int solver, int model);

// The paper's parameters of ADMM, and islands, as a verb takes them; what is not given stays as the
// solver has it.
typedef struct rgSolverArguments {
    int rule, stop, islands; // as the choices; -1: not given
    double eta;              // NAN: not given, as the next
    double tau, alpha;
    double step;  // p_inc = p_dec
    double power; // p at the start
    double rho;   // at the start
} rgSolverArguments;

#define RG_SOLVER_OPTION_COUNT 9
rgSolverArguments rgDefaultSolverArguments(void);
// Write the options to the start of a verb's table.
void rgSolverArguments_Options(rgSolverArguments* arguments, rgOption* table);
// False after a message when a parameter of ADMM is given to another method.
bool rgSolverArguments_Check(const rgSolverArguments* arguments, const rgContactSolverDef* def);
// Parameters of ADMM go to ADMM alone.
void rgSolverArguments_Apply(const rgSolverArguments* arguments, rgContactSolverDef* def);

const char* rgStatusName(rgContactStatus status);
const char* rgPhaseName(rgContactPhase phase);

typedef struct rgRun {
    rgResult result;
    rgContactReport report; // history is not kept
    rgResidual residual;    // by the judge, called anew
    bool solved;            // the solver and the judge agree that it is solved
    double seconds;         // CPU time of the solve call alone, least of all repetitions
} rgRun;

// One repetition: start from `start` (NULL: zeros), solve, keep the least time in run->seconds
// (start with INFINITY). lambda and sigma get the answer.
void rgRun_Repeat(rgRun* run, rgContactSolver* solver, const rgContactProblem* problem,
                  const double* start, double* lambda, double* sigma);
// Judge the result of the last repetition.
void rgRun_Judge(rgRun* run, const rgContactSolverDef* def, const rgContactProblem* problem,
                 const double* lambda);
