// Frictional contact at one instant: the problem, the solvers, and an independent judge.
#pragma once
#include "rigor/base.h"

/// The set K that the impulses of a block live in.
typedef enum rgBlockKind {
    rg_blockFree,     ///< any impulse: sigma = 0. Any number of rows.
    rg_blockHalfLine, ///< lambda >= 0, sigma >= 0, lambda sigma = 0. Any number of rows.
    rg_blockBox,      ///< lower <= lambda <= upper, row by row.
    rg_blockCoulomb,  ///< rows t1, t2, n: |lambda_t| <= mu lambda_n; mu = 0 is a ray. With 4 or 6
                      ///< rows, torsion, |lambda_3| <= muTorsion lambda_n, and two rolling rows
                      ///< follow, sqrt(lambda_4^2 + lambda_5^2) <= muRolling lambda_n.
} rgBlockKind;

/// Rows of a problem that share one set. Blocks cover the rows without gaps, in order.
typedef struct rgBlock {
    rgBlockKind kind;
    int firstRow;
    int rowCount;
    double mu;        ///< sliding friction (Coulomb), >= 0
    double muTorsion; ///< [m], row 3 of a Coulomb block with 4 or 6 rows
    double muRolling; ///< [m], rows 4 and 5 of a Coulomb block with 6 rows
    double lower;     ///< [N s] (box); -INFINITY is allowed
    double upper;     ///< [N s] (box); INFINITY is allowed
} rgBlock;

/// Compressed rows, columns ascending within a row. Borrowed.
typedef struct rgSparse {
    int rowCount;
    int columnCount;
    const int* rowStart; ///< rowCount + 1
    const int* column;   ///< rowStart[rowCount]
    const double* value; ///< rowStart[rowCount]
} rgSparse;

typedef enum rgDelassusKind {
    rg_delassusDense,    ///< matrix: n x n numbers
    rg_delassusSparse,   ///< sparse: n x n, both triangles
    rg_delassusVelocity, ///< G = jacobian mass^-1 jacobian', never formed unless that is cheaper
} rgDelassusKind;

/// G, symmetric positive semidefinite, in one of three forms. Borrowed. In velocity form, a
/// caller with a factor of the mass matrix may supply W = J L^-T (M = L L', or any other root of M)
/// and the groups of velocities that M couples; else both are computed from mass and jacobian.
/// Solvers use W; the judge uses M and J, and W only if M has no values.
typedef struct rgDelassus {
    rgDelassusKind kind;
    const double* matrix;   ///< dense, n x n
    rgSparse sparse;        ///< n x n [1/kg]
    rgSparse mass;          ///< nv x nv, symmetric positive definite, both triangles; with whitened
                            ///< and tree its values may be missing (value NULL)
    rgSparse jacobian;      ///< n x nv
    const double* whitened; ///< velocity form, optional: W in the pattern of J, W W' = J M^-1 J'
    const int* tree;        ///< with whitened, optional, nv: velocities with equal numbers belong
                            ///< together; numbers from 0, ascending
} rgDelassus;

/// Contact problem at a fixed configuration. Every array is borrowed for the call.
///
///     sigma = (G + R) lambda + g,     K ∋ lambda ⟂ sigma + Gamma(sigma) ∈ K*
///
/// K is the product of the blocks' sets; Gamma acts on Coulomb blocks only. See docs/theory/ncp.md.
typedef struct rgContactProblem {
    int rowCount; ///< n
    int blockCount;
    const rgBlock* blocks;
    rgDelassus delassus;
    const double* freeVelocity; ///< g [m/s], n
    const double* compliance;   ///< diagonal of R [1/kg], n; NULL means rigid
    const double* rowLength;    ///< n: factor to m/s of a row's velocity, where rows of other units
                                ///< meet; of a contact's first three rows the first counts. NULL: 1
    double referenceVelocity;   ///< [m/s] that an island's errors are compared with at least, such
                                ///< as |gravity| dt; 0: 1e-3 of the error of zero impulses
} rgContactProblem;

/// Exact Coulomb friction, and approximations of it (docs/theory/models.md).
typedef enum rgContactModel {
    rg_modelNcp,  ///< exact
    rg_modelCcp,  ///< the convex relaxation that drops Gamma (MuJoCo, Drake)
    rg_modelLcp4, ///< friction on a square around the disc, axis by axis (ODE, PhysX, DART);
                  ///< methods auto, pgs and pivot
    rg_modelLcp8, ///< friction on an octagon around the disc; the same methods
} rgContactModel;

typedef enum rgContactMethod {
    rg_methodAuto,      ///< the plan of docs/theory/auto.md; the default
    rg_methodNewton,    ///< semismooth Newton on the Alart-Curnier function
    rg_methodAdmm,      ///< the paper's Algorithm 1, with the additions that rgAdmmDef switches on
    rg_methodPgs,       ///< projected Gauss-Seidel
    rg_methodInterior,  ///< nonsmooth interior point
    rg_methodPivot,     ///< Lemke's complementary pivots; models lcp4 and lcp8
    rg_methodBisection, ///< RaiSim's per-contact iteration; exact model only, whose solution it
                        ///< misses where normal and tangent couple
    rg_methodDojo,      ///< Dojo's interior point on Jordan products; exact model only
    rg_methodStaggered, ///< staggered projections: normal impulses and friction in turns; exact
                        ///< model only
} rgContactMethod;

/// How the matrix is held while solving; a form that the problem does not allow counts as auto. The
/// answer is the same; the cost is not.
typedef enum rgSystemForm {
    rg_formAuto,     ///< by predicted cost
    rg_formDense,    ///< contact space, dense
    rg_formSparse,   ///< contact space, blocks with a fill-reducing order; only where G is given
    rg_formVelocity, ///< velocity space; only where M and J are given
} rgSystemForm;

typedef enum rgPenaltyRule {
    rg_penaltySpectral,
    rg_penaltyLinear,
    rg_penaltyConstant
} rgPenaltyRule;

/// Test that ends a solve: the judge's residual, or the paper's test on ADMM's own iterates.
typedef enum rgStopTest { rg_stopJudge, rg_stopPaper } rgStopTest;

/// ADMM. The default is the paper's Algorithm 1 to the letter; rgAcceleratedAdmmDef() has all
/// additions.
typedef struct rgAdmmDef {
    rgPenaltyRule rule;
    double proximal;     ///< eta
    double exponent;     ///< p at the start: rho = sqrt(m L) kappa^p
    double exponentStep; ///< spectral rule: p_inc = p_dec
    double factor;       ///< linear rule: tau_inc = tau_dec
    double ratio;        ///< alpha: residuals that differ by more move rho
    double penalty;      ///< rho at the start [1/kg]; 0 means from the spectrum
    bool scaling;        ///< addition: solve the dimensionless problem of the judge
    double relaxation;   ///< addition: over-relaxation, 1 means none
    int andersonMemory;  ///< addition: Anderson acceleration, 0 means none
    int cooldown;        ///< addition: iterations between two moves of rho, 1 means none
} rgAdmmDef;

/// Parts of auto's plan (docs/theory/auto.md). Each can be switched off, for ablations.
typedef enum rgPlanPart {
    rg_planStart = 1 << 0,       ///< Newton from the start
    rg_planProximal = 1 << 1,    ///< its proximal term
    rg_planInterior = 1 << 3,    ///< the interior point
    rg_planFew = 1 << 4,         ///< contacts that hold it up are solved exactly
    rg_planPolish = 1 << 5,      ///< Newton near its end
    rg_planDamped = 1 << 7,      ///< Newton with large regularization
    rg_planCertificate = 1 << 6, ///< the search for a proof that there is no solution
} rgPlanPart;

/// Start from rgDefaultContactSolverDef(), then set members.
typedef struct rgContactSolverDef {
    rgContactMethod method;
    rgContactModel model;
    int maxIterations;        ///< of the chosen method; auto counts all phases together
    double tolerance;         ///< on the judge's residual [-], or the paper's eps_abs
    double accuracy;          ///< of auto: residual [-] that is enough for islands that move; those
                              ///< at rest have the tolerance. 0: the tolerance for all
    double relativeTolerance; ///< the paper's test only: eps_rel, 0 means absolute alone
    rgStopTest stop;
    double overRelaxation; ///< PGS and bisection, 1 means none
    rgAdmmDef admm;
    rgKernelSet kernels;
    rgSystemForm form;
    bool recordHistory;    ///< fill rgContactReport.history
    bool splitIslands;     ///< solve connected components apart
    uint32_t disabled;     ///< parts of auto's plan that are left out: bits of rgPlanPart
    rgTasks tasks;         ///< for islands; zero means: on the calling thread
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;       ///< set by the default function, checked by create
} rgContactSolverDef;

typedef enum rgContactStatus {
    rg_contactUnsolved,
    rg_contactSolved,     ///< the tolerance holds, or the accuracy where that is enough
    rg_contactStalled,    ///< no progress any more; the best iterate is returned
    rg_contactLimit,      ///< the limit of iterations, or of a step's work, came first; the best
                          ///< iterate is returned
    rg_contactInfeasible, ///< a certificate shows that no solution exists; the blocks in conflict
                          ///< are named, and bounded impulses returned
} rgContactStatus;

/// Error of impulses; zero for an exact solution. ncp.9-12.
typedef struct rgResidual {
    double total;           ///< the largest velocity error of any constraint, over the error of
                            ///< zero impulses in its island [-]; zero impulses have 1
    double velocity;        ///< that error [m/s]
    double reference;       ///< velocity that it is compared with [m/s]
    int block;              ///< that has it; -1: none has any
    double impulse;         ///< largest error in impulses [N s]
    double dual;            ///< largest distance of sigma + Gamma(sigma) to K* [m/s]
    double complementarity; ///< largest |lambda . (sigma + Gamma(sigma))| [J]
} rgResidual;

typedef enum rgContactPhase {
    rg_phaseNewton,
    rg_phaseSweep,
    rg_phaseInterior,
    rg_phaseAdmm,
    rg_phasePivot, ///< one iteration is one whole run of pivots
    rg_phaseCount
} rgContactPhase;

/// Room of arrays that are indexed by phase: a new phase does not change any size.
#define RG_PHASE_CAPACITY 8

/// One iteration, when rgContactSolverDef.recordHistory is set.
typedef struct rgContactRecord {
    int island; ///< islands follow each other
    rgContactPhase phase;
    double primal, dual, complementarity; ///< ADMM's own residuals; NAN in other phases
    double residual;                      ///< the judge's total
    double penalty;                       ///< rho; NAN in other phases
} rgContactRecord;

typedef struct rgContactReport {
    rgContactStatus status; ///< outcome of the solve; misuse comes back as rgResult
    int iterationCount;     ///< of the island that took most
    int factorizationCount; ///< all islands
    int islandCount;
    int phaseIterations[RG_PHASE_CAPACITY]; ///< by rgContactPhase, of the island that took most
    rgResidual residual;                    ///< rgContactProblem_Judge() of the returned impulses
    const int* conflict; ///< blocks that a certificate names; a view until the next solve
    int conflictCount;
    const rgContactRecord* history; ///< a view until the next solve; NULL unless recorded
    int historyCount;
} rgContactReport;

typedef struct rgContactSolver rgContactSolver;

RG_API rgAdmmDef rgDefaultAdmmDef(void);
RG_API rgAdmmDef rgAcceleratedAdmmDef(void);
RG_API rgContactSolverDef rgDefaultContactSolverDef(void);
RG_API rgResult rgCreateContactSolver(const rgContactSolverDef* def, rgContactSolver** solver);
RG_API void rgDestroyContactSolver(rgContactSolver* solver);

/// Improve lambda [N s, n] in place; its input value is the warm start (zeros: cold). Also gives
/// sigma [m/s, n] unless it is NULL. The report may be NULL. Numbers so large that no finite
/// impulses come out give rg_errorNumeric, and lambda stays as it was.
RG_API rgResult rgContactSolver_Solve(rgContactSolver* solver, const rgContactProblem* problem,
                                      double* lambda, double* sigma, rgContactReport* report);

/// rgContactProblem_Judge() with scratch of the solver: nothing is allocated after
/// warm-up.
RG_API rgResult rgContactSolver_Judge(rgContactSolver* solver, const rgContactProblem* problem,
                                      const double* lambda, rgResidual* residual);

/// Check a problem for faults: sizes, gaps between blocks, NaN, negative
/// friction, crossed bounds. The first fault is described with its index.
RG_API rgResult rgContactProblem_Check(const rgContactProblem* problem, rgDiagnostics* diagnostics);

/// Judge impulses from the problem alone; shares no arithmetic with any solver. lambda is projected
/// on K first. Allocates scratch from the C runtime.
RG_API rgResult rgContactProblem_Judge(const rgContactProblem* problem, rgContactModel model,
                                       const double* lambda, rgResidual* residual);

/// The total of rgContactProblem_Judge() for the exact model; NAN when it cannot be computed.
RG_API double rgContactProblem_Residual(const rgContactProblem* problem, const double* lambda);

/// sigma = (G + R) lambda + g. Allocates scratch from the C runtime for the velocity form.
RG_API rgResult rgContactProblem_Velocity(const rgContactProblem* problem, const double* lambda,
                                          double* sigma);

/// A search for further answers. Start from rgDefaultAnswerDef(), then set members.
typedef struct rgAnswerDef {
    int starts;            ///< of the search, beside zero impulses; every one costs two solves
    double tolerance;      ///< on the judge's residual of every answer [-]
    double apart;          ///< answers are other ones where, over the largest free velocity of the
                           ///< island, velocities are further apart than this, or the velocities
                           ///< that impulses make are [-]
    uint64_t seed;         ///< of the starts
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;       ///< set by the default function, checked by the search
} rgAnswerDef;

/// Result of a search. Both flags false: no other answer from these starts, which is no proof.
typedef struct rgAnswers {
    int starts;          ///< tried
    int count;           ///< answers that the judge accepts, with that of the given impulses; 0:
                         ///< they lead to none
    bool impulsesDiffer; ///< the contacts share their load in more than one way
    bool motionDiffers;  ///< velocities differ: another motion, equally exact
    double impulse;      ///< largest difference [N s]
    double velocity;     ///< largest difference [m/s]
    int block;           ///< where the farthest answer differs most; -1: there is none
} rgAnswers;

RG_API rgAnswerDef rgDefaultAnswerDef(void);

/// Solve the problem to a tight tolerance from the given impulses, from zero, and from the impulses
/// of the same contacts at other velocities, and compare the answers. other [n] gets the impulses
/// of the farthest one, else those that the given ones lead to. See docs/theory/ncp.md.
RG_API rgResult rgContactProblem_FindAnswers(const rgContactProblem* problem,
                                             const rgAnswerDef* def, const double* lambda,
                                             double* other, rgAnswers* answers);

/// Euclidean projections of one block's rows, in place.
RG_API void rgBlock_Project(const rgBlock* block, double* lambda);
RG_API void rgBlock_ProjectDual(const rgBlock* block, double* sigma);
/// Projection in the metric diag(metric), whose two tangential entries are equal (Coulomb blocks of
/// 3 rows, half lines, boxes and free rows).
RG_API void rgBlock_ProjectMetric(const rgBlock* block, const double* metric, double* lambda);

/// Inverse problem (paper, Algorithm 2): impulses that go with a wanted contact velocity.
///
///     K ∋ lambda ⟂ sigma + Gamma(sigma) ∈ K*,   sigma = R lambda + c_ref + gamma
typedef struct rgInverseProblem {
    int rowCount;
    int blockCount;
    const rgBlock* blocks;
    const double* velocity;   ///< c_ref + gamma [m/s], n
    const double* compliance; ///< diagonal of R [1/kg], n; NULL means rigid
    rgContactModel model;
    double penalty;   ///< rho [1/kg]
    double tolerance; ///< on the residual in SI units
    int maxIterations;
} rgInverseProblem;

RG_API rgInverseProblem rgDefaultInverseProblem(void);

/// Improve lambda [N s] in place. For R = 0 the answer depends on its input value. The residual's
/// total is the largest of its parts in SI units; status stalled when velocity is not one that
/// contacts allow.
RG_API rgResult rgInverseProblem_Solve(const rgInverseProblem* problem, double* lambda,
                                       rgContactReport* report);
