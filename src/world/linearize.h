// Workspace of the derivatives of a step: docs/theory/step_derivatives.md.
//
// Changes are those of Q and V, positions and velocities where the step is computed (step
// coordinates), of controls, forces and parameters: one column each. Matrices are dense and stored
// row by row.
#pragma once
#include "rigor/linearize.h"
#include "world/world.h"

#define RG_ALIGNED_COUNT 8 // numbers of rows that kernels like

// Velocities of links for some v, and what positions change them by: dV_i/dq_j = S_j x V_i +
// carried_j for a link i that j moves.
typedef struct rgFlow {
    const double* v;
    rgSpatial* links;
    rgSpatial* carried; // per degree of freedom
} rgFlow;

// step_derivatives.3-5 of a joint of 3 or 6 degrees of freedom, k x k.
typedef struct rgJointMaps {
    double startQq[36], startQv[36], startVq[36], startVv[36]; // Q and V by q and v
    double endQ[36], endV[36];                                 // q+ by Q and by the velocity
    double outQ[36], outV[36], outN[36]; // v+ of users by Q, by the velocity, by q+
    double turn[36];                     // q+ of users by q+
} rgJointMaps;

// Derivatives of a contact point and its normal by the motion of B relative to A at the point
// (linear, angular), without the motion that they share with A.
typedef struct rgContactVariation {
    double point[18], normal[18]; // 3 x 6
} rgContactVariation;

// Change of a contact point and of its frame, as a rotation.
typedef struct rgPointChange {
    rgVec3 point, turn;
} rgPointChange;

typedef enum rgRowMode {
    rg_modeOpen,    // no impulse, or one at its bound
    rg_modeActive,  // no velocity
    rg_modeSlip,    // tangential: at the bound of friction
    rg_modeSpin,    // torsion at its bound
    rg_modeRolling, // rolling at its bound
    rg_modeSmooth,  // of the smoothed law
} rgRowMode;

// Form of the velocity equation of a tree. docs/theory/step_derivatives.md.
typedef enum rgTreeLaw {
    rg_treeStart,   // bias at V
    rg_treeMiddle,  // bias at V + t
    rg_treeRefined, // bias at (V + v+)/2
    rg_treeFree,    // a free body
    rg_treeFast,    // transported velocities
    rg_treeAsleep,
} rgTreeLaw;

// Equations K x = b: factors of K, or its pseudoinverse where it is singular. Impulses are measured
// in units in which all weigh alike.
typedef struct rgLinearSystem {
    const rgKernels* kernels;
    int n, rank;
    bool isRegular;
    double* K;      // n x n
    double* units;  // n
    double* factor; // n x n: of K' in its units, or the pseudoinverse of K
    double* null; // (n - rank) x n: rows that right sides which have a solution are orthogonal to,
                  // all of the same size in the units
    int* exchanges; // n: of rows of the factor
    int* order;     // n, scratch
} rgLinearSystem;

// A row of the projection of positions: of the step, or -1 - r, r of the loops.
typedef struct rgProjectedRow {
    int row;
    double share, ahead, slope; // of a change of its gap: share (slope J dQ + ahead d(J v+))
    double compliance;
} rgProjectedRow;

typedef struct rgLinearization {
    rgDerivativeDef def;
    int n, m, used; // degrees of freedom, rows, columns
    int controlCount, sensorCount;
    int width, pitch; // of rows of matrices with as many columns, and with as many as rows: used
                      // and m, and zeros up to a multiple of RG_ALIGNED_COUNT
    int controlFirst, forceFirst, parameterFirst, trendFirst; // columns; -1: none
    int betweenModes, touching, inconsistent, redundant, frozen;
    const char* frozenWhy;
    double margin;
    bool hasFast, hasParts;      // some tree is transported, or moves in parts of the step
    bool needsDiagonal, isSided; // isSided: rgWorld_DirectionalDerivative()

    double* base;           // n x width: v+ = base + M^^-1 (force + J' dlambda)
    double* force;          // n x width
    double* rows;           // m x width: change of the rows' velocities but for that of v+
    double* turning;        // m x n: (dJ) v+ alone
    double* bounds;         // m x width: c of step_derivatives.17
    double* G;              // m x pitch
    double* B;              // m x pitch, blocks on the diagonal
    double* columns;        // n x pitch: M^^-1 J'
    double* change;         // n x width: dv+
    double* impulse;        // m x width
    double* trend;          // 2n x width, with columns by it
    double* sensor;         // sensorCount x width
    double* gradient;       // 2 width
    double *rates, *sums;   // links x 6 x 3n: of transported velocities, by v, Q and V
    double* ends;           // n x 3n: of the velocity at q+ by that of the coordinates, Q and V
    double* slopes;         // n x n: by q+
    double* turned;         // n x width
    double* parts;          // 4n x width: of trees that move in parts of the step
    double* partBars;       // 4n
    bool* inParts;          // n
    rgSpatial* linkRates;   // 2 links
    double* next;           // n x width: dq+
    double* out;            // n x width: dv+ of users
    double* diagonal;       // n x n: slopes of the diagonal of M
    double* tree;           // n x n: implicit matrices of refined trees, factorized
    double* slip;           // m: of a tangential row's equation, by mu lambda_n; smoothed: by -mu
    double* share;          // n: slope of the force of springs by what a degree of freedom weighs
    double* stiffnessShare; // n: of the weights of springs, by k of free.2
    double* dampingShare;   // n: and by d
    double* mobility;       // m: slope of a row's law by its 1/m
    double* rateSlope;      // m: by its rate at V
    double* work;           // scratch
    rgLinearSystem system;  // active rows
    double* inverse;        // of it, square
    double* answer;         // n x m: M^^-1 J' K^-1 of active rows
    double* packed;         // m x width and more
    double* pushed;         // n x projected rows: M^^-1 J' (G + R)^-1
    rgLinearSystem projection; // projected rows
    rgProjectedRow* projected;
    int projectedCount, projectedCapacity;
    int *active, *place, *pivots; // rows that are not open, and where they are among them
    int activeCount;
    rgRowMode* modes; // m
    rgTreeLaw* laws;  // per tree
    rgFlow flows[3];  // v+, V, and scratch
    rgJointMaps* maps;
    rgContactVariation* points;
    rgVec3 *along, *turn, *atA, *angular; // per column of a pair
    bool* marks;                          // 2 n
    double* bars[4];                      // n each: gradients on their way
    rgQuantity* parameters;

    char* block; // all of these arrays
    int blockCapacity;
    char* kept; // state that differences start from
    int keptCapacity;
} rgLinearization;

rgResult rgLinearization_Reserve(rgWorld* world, rgLinearization* l); // arrays for m rows
// A term that has no derivative here.
void rgLinearization_Freeze(rgLinearization* l, const char* why);

// linearize_state.c: step_derivatives.1-5
void rgLinearize_State(const rgWorld* world, rgLinearization* l);
void rgLinearize_PullStart(const rgWorld* world, const rgLinearization* l, int rowCount,
                           double* matrix); // columns by Q and V become those by q and v
void rgLinearize_PushEnd(const rgWorld* world, rgLinearization* l); // change -> next
void rgLinearize_PushOut(const rgWorld* world, rgLinearization* l); // next -> those of users
// Transposed: from gradients by what users see to those by v+, Q and q+.
void rgLinearize_PullOut(const rgWorld* world, const rgLinearization* l, const double* qBar,
                         const double* vBar, double* nextBar, double* endBar, double* QBar);
// q := from moved along a column in the tangent of step coordinates; others as they are.
void rgMovePositions(const rgModel* model, const double* from, int column, double by, double* q);
void rgLinearize_PullEnd(const rgWorld* world, const rgLinearization* l, const double* nextBar,
                         double* endBar, double* QBar);

// free.2 of a degree of freedom: its weights, and their slopes by k and by d.
typedef struct rgDofLaw {
    double k, d;
    rgWeights weights, byK, byD;
} rgDofLaw;

// linearize_free.c: step_derivatives.6-9
rgDofLaw rgLinearize_DofLaw(const rgWorld* world, int dof);
void rgLinearize_Laws(rgWorld* world, rgLinearization* l);
rgResult rgLinearize_Free(rgWorld* world, rgLinearization* l);
void rgLinearize_SolveFree(const rgWorld* world, const rgLinearization* l, int columnCount,
                           bool transposed, double* x);
double rgLinearize_BaseVelocity(const rgWorld* world, const rgLinearization* l, int dof);
void rgLinearize_Accelerations(const rgWorld* world, const rgLinearization* l, double* a);
double rgLinearize_ImplicitChange(const rgWorld* world, const rgLinearization* l, int dof);
// step_derivatives.9 Inverse of the change of momentum by the rate after the free motion.
rgMat3 rgLinearize_SpinInverse(const rgWorld* world, const rgLink* link, rgVec3 after);
void rgFlow_Fill(const rgModel* model, const rgDynamics* d, const double* v, rgFlow* flow);

// linearize_arm.c: force, then rows and force again, of lever arms that vary
void rgLinearize_ForceArms(rgWorld* world, rgLinearization* l);
void rgLinearize_RowArms(rgWorld* world, rgLinearization* l);
bool rgActuator_ArmVaries(const rgModel* model, int actuator);

// linearize_fast.c: step_derivatives.23
bool rgWorld_AnyTransported(const rgWorld* world);
double rgLinearize_CoordinateVelocity(const rgWorld* world, int dof); // which moves positions
rgResult rgLinearize_Fast(rgWorld* world, rgLinearization* l);        // base, ends, slopes
void rgLinearize_FastRows(const rgWorld* world, rgLinearization* l);
void rgLinearize_PushFast(const rgWorld* world, rgLinearization* l);
void rgLinearize_PushFastEnd(const rgWorld* world, rgLinearization* l);
void rgLinearize_PullFastEnd(const rgLinearization* l, double* nextBar, double* endBar,
                             double* row);
void rgLinearize_PullFast(const rgWorld* world, const rgLinearization* l, const double* endBar,
                          double* row);

// linearize_rows.c, linearize_contact.c: step_derivatives.10-16
void rgLinearize_Modes(rgWorld* world, rgLinearization* l);
void rgLinearize_Rows(rgWorld* world, rgLinearization* l);
// Rows of a contact, and what its impulse does to the force, as its point and normal move. Slopes
// of the normal row by its rate at V and by 1/m are of its law.
void rgLinearize_ContactMotion(rgWorld* world, rgLinearization* l, int index, double byRate,
                               double byMobility);
// Slope of the bias and compliance (times impulse) of a spring along a row, by its weights: R is
// the compliance, rest what the impulse leaves of the force.
double rgLinearize_SpringByWeights(double dt, double R, double rest, double rate, rgSoftness soft,
                                   rgWeights by);
// Derivative of an actuator's command by its control.
double rgActuatorGain(const rgWorld* world, int actuator); // without counts
double rgLinearize_ControlGain(const rgWorld* world, rgLinearization* l, int actuator);
void rgLinearize_FindPoints(rgWorld* world, rgLinearization* l);
// By Q, n of them; none where a contact does not act.
void rgLinearize_PointChanges(const rgWorld* world, rgLinearization* l, int index,
                              rgPointChange* out);

// linearize_trend.c: step_derivatives.24. Columns by the trend are in axes of parents from there
// on.
void rgLinearize_TurnTrend(const rgWorld* world, rgLinearization* l);
void rgLinearize_PushTrend(rgWorld* world, rgLinearization* l); // change -> trend
void rgLinearize_PullTrend(rgWorld* world, const rgLinearization* l, const double* bar,
                           double* endBar, double* row);

// linearize_sensor.c: change, next, out, impulse -> sensor
rgResult rgLinearize_PushSensors(rgWorld* world, rgLinearization* l);

// linearize_parameters.c: columns of base, force, rows and bounds
void rgLinearize_Parameters(rgWorld* world, rgLinearization* l);

// linearize_solve.c: step_derivatives.17-22
rgResult rgLinearize_Solve(rgWorld* world, rgLinearization* l);
void rgLinearize_Forward(rgWorld* world, rgLinearization* l);
void rgLinearize_Backward(rgWorld* world, rgLinearization* l, const double* bar, double* out);
rgResult rgLinearize_Project(rgWorld* world, rgLinearization* l);
void rgLinearize_PushProjection(rgWorld* world, rgLinearization* l); // next
void rgLinearize_PullProjection(const rgWorld* world, const rgLinearization* l, double* nextBar,
                                double* endBar, double* QBar);

// linearize_difference.c
rgResult rgLinearize_Differences(rgWorld* world, rgLinearization* l);
bool rgWorld_MovesInParts(const rgWorld* world, int tree);
rgResult rgLinearize_Parts(rgWorld* world, rgLinearization* l); // after which a step is evaluated
void rgLinearize_PushParts(const rgLinearization* l);
void rgLinearize_PullParts(const rgLinearization* l, double* bars, double* row);

// c += a b, of n x k and k x m; zeros of a cost nothing.
void rgAddProduct(int n, int k, int m, const double* a, const double* b, double* c);

// linearize_dense.c
// c -= a b, of n x k and k x m
void rgSubtractProduct(const rgKernels* kernels, int n, int k, int m, const double* a,
                       const double* b, double* c);
// n, K and units are there; scratch: 2 n^2 + 3 n numbers. False: K is not finite.
bool rgLinearSystem_Factorize(rgLinearSystem* system, const rgKernels* kernels, double* scratch);
// x := x K^-1, of rowCount x n; scratch: as many numbers. A single row is K^-T times a vector.
void rgLinearSystem_SolveRight(const rgLinearSystem* system, int rowCount, double* x,
                               double* scratch);
// K^-1, which may be that of the system itself; scratch: n^2 numbers.
const double* rgLinearSystem_Inverse(const rgLinearSystem* system, double* out, double* scratch);
