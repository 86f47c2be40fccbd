// Private view of identification: parameters as places in a definition, simulations of many
// candidates, and the fit.
#pragma once
#include "base/base.h"
#include "model/kinds.h"
#include "rigor/dynamics.h"
#include "rigor/identify.h"
#include "rigor/linearize.h"

enum { RG_MAX_PARAMETERS = 128, RG_MAX_LOCALS = 128 };

// ---- parameters.c

typedef struct rgFieldInfo rgFieldInfo;

// A parameter with the parts that it names.
typedef struct rgParameter {
    rgParameterDef def;
    const rgFieldInfo* field;
    int only; // index of the part from 1; 0: all of the kind
} rgParameter;

// Find the field and the part that a name means; a message if there is none.
rgResult rgParameter_Resolve(rgParameter* parameter, const rgModelDef* model,
                             rgDiagnostics* diagnostics);
const char* rgParameter_Unit(const rgParameter* parameter);
double rgParameter_Value(const rgParameter* parameter, const rgModelDef* model);
// Set the model's parameters to those of `base`, with these values in place.
rgResult rgParameters_Apply(const rgParameter* parameters, int count, const double* values,
                            const rgModelDef* base, rgModelDef* model);
// The numbers that it moves, where steps have derivatives by them: how many, or -1. Both may be
// NULL.
int rgParameter_Numbers(const rgParameter* parameter, const rgModelDef* model,
                        rgQuantity* quantities, double* numbers);
// Values from places in [0, 1] between the bounds, and back.
double rgParameter_FromUnit(const rgParameter* parameter, double place);
double rgParameter_ToUnit(const rgParameter* parameter, double value);

// ---- simulate.c

// Comparison of a motion: sizes of its errors, and the uncertain numbers of its start.
typedef struct rgTarget {
    const rgMotion* motion;
    int errorCount; // numbers of a sample's error: 6 per pose, 1 per coordinate
    int sizeCount;  // number of all errors: (sampleCount - 1) x errorCount
} rgTarget;

// One simulation to make: a motion from a start, with a model.
typedef struct rgTrial {
    const rgModel* model; // NULL: refused, all errors are NAN
    int target;
    const double *q, *v;
    int lastSample;  // sample at which it may end; 0: at the last
    double* errors;  // out: sizeCount of the target, in units of the noises; NAN after a fault
    double* contact; // out, or NULL: time of the first contact force, if it starts without [s]
    const struct rgSlopeTable* slopes; // NULL: errors alone
    const double* local;               // with slopes: of the start, in units of their deviations
    int unknownCount;                  // parameters, and unknowns of the start
    double* columns; // out: unknownCount x sizeCount derivatives of the errors; zero after a fault
} rgTrial;

typedef struct rgSimulator {
    const rgIdentifyDef* def;
    const rgTarget* targets;
    rgAllocator allocator;
} rgSimulator;

// Trials with the same model side by side are simulated together.
rgResult rgSimulator_Run(const rgSimulator* simulator, const rgTrial* trials, int count);

// ---- cost.c

// The cost of a motion from its errors, and the weight of each sample in a sum of squares that has
// the same gradient (weights may be NULL). INFINITY when an error is not finite.
double rgMotionCost(const rgIdentifyDef* def, const rgTarget* target, const double* errors,
                    double* weights);
rgMotionError rgMotionErrorOf(const rgIdentifyDef* def, const rgTarget* target,
                              const double* errors);

// ---- slopes.c

// Numbers of the model by places of parameters; steps have derivatives by them.
typedef struct rgSlopeTable {
    const struct rgFit* fit;
    int count;
    rgQuantity* quantities;
    double* weights;               // count x parameterCount, and room
    bool known[RG_MAX_PARAMETERS]; // false: a parameter moves more than such numbers
} rgSlopeTable;

rgResult rgSlopeTable_Create(rgSlopeTable* table, const struct rgFit* fit);
void rgSlopeTable_Free(rgSlopeTable* table, const struct rgFit* fit);
rgResult rgSlopeTable_Fill(rgSlopeTable* table, const double* place);

// Degree of freedom of a coordinate; -1: its joint has several.
int rgCoordinateDof(const rgModel* model, int coordinate);

// Derivatives of a state along one simulation, and of what is measured, by n unknowns.
typedef struct rgSlopeRun {
    const rgTrial* trial;
    const rgTarget* target;
    rgDynamics* dynamics;
    int n, nv;
    bool failed;
    double *S, *next;   // 4 nv x n: of q, v and the trend
    double *past, *now; // errors of a sample x n: of measured values
    double* jacobian;
    double* memory;
} rgSlopeRun;

rgResult rgSlopeRun_Begin(rgSlopeRun* run, const rgTrial* trial, const rgTarget* target,
                          const rgAllocator* allocator);
// Derivatives that could not be had are zero.
void rgSlopeRun_End(rgSlopeRun* run, const rgAllocator* allocator);
void rgSlopeRun_Measure(rgSlopeRun* run, const rgWorld* world);
void rgSlopeRun_Compare(rgSlopeRun* run, const rgIdentifyDef* def, int sample, double share);
void rgSlopeRun_Step(rgSlopeRun* run, rgWorld* world);

// ---- fit.c

// Everything that fits of one set of parameters share.
typedef struct rgFit {
    rgAllocator allocator;
    const rgIdentifyDef* def;
    rgDiagnostics* diagnostics;
    const rgModelDef* base;
    rgModelDef* work; // base with a candidate's values
    rgModel* model;   // model of the start values: sizes and kinds do not change
    int parameterCount;
    rgParameter* parameters;
    int motionCount;
    rgTarget* targets;
    rgSimulator simulator;
    int localCount;    // uncertain numbers of a start
    bool hasSlopes;    // false: derivatives are differences
    bool hasWindow;    // true if starts are found from their first samples alone
    int* localIndex;   // into q's tangent (below nv) or nv + that of v
    double* localUnit; // their standard deviations
    int simulationCount;
} rgFit;

// A set of motions and the parameters fitted to them.
typedef struct rgSolution {
    int motionCount;
    int* motions;      // numbers of the fit's motions
    double* place;     // parameterCount, in [0, 1]
    double* local;     // motionCount x localCount, starts in units of their deviations
    double* hessians;  // motionCount x p x p: of each motion, starts eliminated
    double* gradients; // motionCount x p
    double* costs;     // motionCount, without priors
    double cost;       // mean over the motions, with priors
    bool converged;
} rgSolution;

// Model of a candidate; NULL when it is refused.
rgResult rgFit_Compile(rgFit* fit, const double* place, rgModel** model);
// The start of a motion, moved by its uncertain numbers.
void rgFit_Start(const rgFit* fit, int motion, const double* local, double* q, double* v);
// Squares of priors at a place, and their gradient and curvature (may be NULL, else added to).
double rgFit_Prior(const rgFit* fit, const double* place, double* gradient, double* hessian);
// Simulations that are made together. Room is for so many trials with so many errors in all.
typedef struct rgTrialList {
    rgTrial* trials;
    double* starts;
    double* errors;
    int count;
    size_t startSize, errorsUsed;
} rgTrialList;

rgResult rgTrialList_Create(rgTrialList* list, const rgFit* fit, int trialCount, size_t errorCount);
void rgTrialList_Free(rgTrialList* list, const rgFit* fit);
// A motion with a model, from its start moved by `local` (NULL: as recorded).
void rgTrialList_Add(rgTrialList* list, const rgFit* fit, const rgModel* model, int motion,
                     const double* local);
rgResult rgTrialList_Run(rgTrialList* list, rgFit* fit);

// Cost of each of a solution's motions at a place, from the starts in `local` (NULL: as recorded).
// errors may be NULL: per motion, for the protocol of a report.
rgResult rgFit_Judge(rgFit* fit, const rgSolution* solution, const double* place,
                     const double* local, double* costs, rgMotionError* errors);
// The sum that is made small: motions, starts and priors, over the number of motions.
double rgFit_Total(const rgFit* fit, const rgSolution* solution, const double* place,
                   const double* local, const double* costs);

// Report progress to the caller; rg_errorArgument when the caller stops the fit.
rgResult rgFit_Report(const rgFit* fit, rgIdentifyStage stage, int done, int total, double cost);

// ---- starts.c

// Find the starts of a solution's motions from the samples of their windows.
rgResult rgFit_FindStarts(rgFit* fit, rgSolution* solution, const double* place);

// ---- refine.c

// Levenberg and Marquardt's method from the solution's place, at most so many steps. Curvatures are
// those of the end where they are wanted.
rgResult rgFit_Refine(rgFit* fit, rgSolution* solution, int steps, bool curvatures);

// ---- explore.c

// Search over the bounds from the solution's place; fills that.
rgResult rgFit_Search(rgFit* fit, rgSolution* solution);
// Choose motions of a solution at equal distances, with their starts; some has room for all.
void rgSolution_Choose(const rgSolution* solution, const rgFit* fit, rgSolution* some);

// ---- solution.c

rgResult rgSolution_Create(rgSolution* solution, const rgFit* fit, int motionCount);
void rgSolution_Free(rgSolution* solution, const rgFit* fit);
// Run the whole fit: starts, search, refinement with some motions, then with all.
rgResult rgFit_Solve(rgFit* fit, rgSolution* solution, bool curvatures);
