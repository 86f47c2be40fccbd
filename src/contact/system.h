// One island of a contact problem, made dimensionless, in a form that solvers can work with:
//     sigma = G lambda + g,  in units in which the diagonal of G is near one (ncp.13-14).
// G includes the compliance R. A core that all forms share, and one table of operations: contact
// space, where G is a matrix, dense or sparse, and velocity space, where it is W W' + R.
#pragma once
#include "contact/layout.h"
#include "contact/matrix.h"
#include "rigor/contact.h"

// Rows of the system that share one set. Boxes have one row, half lines and free rows at most
// RG_BLOCK_ROWS.
typedef struct rgSystemBlock {
    rgBlockKind kind;
    int row;        // first row in the island
    int size;       // rows
    int entryStart; // offset of this block's size x size entries in the arrays A and B
    double mu;
    double torsion, rolling; // Coulomb rows 3, and 4 and 5: impulse at most, over lambda_n
    double lower, upper;
    bool immovable; // a contact whose normal nothing can move, before any row is eliminated
} rgSystemBlock;

// Structure of a block's Jacobians A and B, which the linear algebra exploits.
typedef enum rgJacobianKind {
    rg_jacobianWhole, // anything
    rg_jacobianIdle,  // A = I, B = 0
    rg_jacobianRows,  // both diagonal; rows with B = 0 have A = 1
    rg_jacobianSlip,  // newton.4 with a radius above zero, plus multiples of B; three rows
} rgJacobianKind;

// Slip as A and B of its block have it: along t, and across t their only entries.
typedef struct rgSlip {
    double t[2];
    double A, B;
} rgSlip;

static inline rgSlip rgSlip_Of(const rgSystemBlock* block, const double* A, const double* B) {
    double scale = 1 / (block->mu * B[8]), x = scale * B[2], y = scale * B[5];
    return (rgSlip){.t = {x, y},
                    .A = y * y * A[0] - x * y * (A[1] + A[3]) + x * x * A[4],
                    .B = y * y * B[0] - x * y * (B[1] + B[3]) + x * x * B[4]};
}

typedef struct rgSystem rgSystem;

// Compliant free rows e, such as those of loops, that were taken out of the system beforehand; in
// the problem's units. ncp.15-16.
typedef struct rgEliminated {
    int count;
    int* globalRow;
    int lead;
    double* L; // factor of G_ee, count x count, lower triangle, column-major
    double* C; // G_ce L^-T below it: n x count
    double* y; // L^-1 g_e
} rgEliminated;

// Linear algebra that depends on the form. Vectors have n entries.
typedef struct rgSystemOps {
    // G = unit S G S with S = diag(rowScale)
    void (*scale)(rgSystem* system);
    // y = G x
    void (*apply)(rgSystem* system, const double* x, double* y);
    // One Gauss-Seidel pass: lambda and sigma are kept consistent, block by block.
    void (*gaussSeidel)(rgSystem* system, double* lambda, double* sigma, double relaxation);
    // Prepare solves with G + shift I.
    rgResult (*factorShift)(rgSystem* system, double shift);
    void (*solveShift)(rgSystem* system, double* x);
    // Prepare solves with A + eps I + B G, A and B block-diagonal. A, B and kinds, one per block,
    // are borrowed until the last solve.
    rgResult (*factorNewton)(rgSystem* system, const double* A, const double* B,
                             const rgJacobianKind* kinds, double eps);
    // and moved = G x, up to the rounding of the solve; NULL when it is not wanted
    void (*solveNewton)(rgSystem* system, const double* rhs, double* x, double* moved);
    // The inverse of that matrix, and G times it, for the rows and columns of a few blocks of three
    // rows: X and Y, column-major, 3 count x 3 count.
    rgResult (*respond)(rgSystem* system, int count, const int* blocks, double* X, double* Y,
                        int ld);
} rgSystemOps;

struct rgSystem {
    rgContactModel model;
    bool bisect; // Gauss-Seidel solves each contact as RaiSim does (models.7)
    int n;
    int blockCount;
    rgSystemBlock* blocks;
    int* blockStart;     // first row of each block, and n: blockCount + 1
    int entryCount;      // total of size x size over the blocks
    double* g;           // n
    double* diagonal;    // dense diagonal blocks of G, laid out like A and B
    double* rowScale;    // s, n: powers of two (all ones in the paper's units)
    double velocityUnit; // c: sigma^ = c s sigma. Also a power of two; 0: lambda = 0 is a solution
    double massUnit;     // lambda^ = c lambda/(massUnit s), G^ = massUnit s G s
    double* mass;        // m of the judge (ncp.9) in these units, n; 0: nothing moves the row
    double* weight;      // residual of a block = weight |lambda - P(lambda - mass u)|, n
    int* globalRow;      // n
    rgEliminated eliminated;
    const rgSystemOps* ops;
    void* form; // data of the operations
    const rgKernels* kernels;
    rgTasks tasks;         // zero: the calling thread does all
    double* rangeResidual; // with tasks: largest residual of each range of blocks
    rgArena* arena;
    int factorizationCount;
};

typedef struct rgSystemDef {
    const rgContactProblem* problem;
    const rgLayout* layout;
    int memberCount;
    const int* members; // blocks of the layout, ascending: an island, or part of it
    rgContactModel model;
    rgSystemForm form;
    bool scaled;      // false: the paper's units
    bool eliminate;   // compliant free rows, where G is a dense matrix
    bool keepsStart;  // build it also where lambda = 0 solves the island
    double reference; // V of the judge is at least this [m/s]
    const rgKernels* kernels;
    rgTasks tasks;
    rgArena* arena;
    rgBlockFactor* factor;
} rgSystemDef;

// Build the system. velocityUnit = 0 when lambda = 0 solves the island; then nothing else is set
// up.
rgResult rgBuildSystem(const rgSystemDef* def, rgSystem* system);

// Between the problem's impulses and the system's. Store also gives the eliminated ones.
void rgSystem_Load(const rgSystem* system, const double* lambda, double* own);
rgResult rgSystem_Store(const rgSystem* system, const double* own, double* lambda);

// ncp.15-16: rows without the free ones that can always give way; all of these taken out
// of a dense G, unless they are redundant; their impulses from those of the others.
int rgSystem_RowsLeft(const rgSystem* system, const rgSystemDef* def);
rgResult rgSystem_Eliminate(rgSystem* system, const rgSystemDef* def, rgMatrix* G);
rgResult rgSystem_Restore(const rgSystem* system, double* lambda);

// Work on first .. end - 1 of the blocks or parts, which writes what belongs to these alone.
typedef void rgRangeFcn(int first, int end, int worker, void* context);

// Ranges that cover `count` blocks or parts, spread over the tasks of the system.
void rgSystem_Spread(const rgSystem* system, int count, rgRangeFcn* work, void* context);

// sigma = G lambda + g
void rgSystem_Velocity(rgSystem* system, const double* lambda, double* sigma);

// Gauss-Seidel on one block: moves lambda of the block, returns the change. Also keeps the
// block's own sigma current.
bool rgGaussSeidelBlock(const rgSystem* system, const rgSystemBlock* block, double relaxation,
                        double* lambda, double* sigma, double* change);

// models.7: RaiSim's impulse x of one contact while the others stay: open, stick, or the least
// energy on the cone without normal velocity. D is the contact's block with rows of `stride`, c its
// velocity without an impulse.
void rgBisectContact(double mu, const double* D, int stride, const double* c, double* x);

// Solutions of the last factorNewton for unit right-hand sides, column by column: `respond` of the
// forms that have no better way.
rgResult rgSystem_RespondByColumns(rgSystem* system, int count, const int* blocks, double* X,
                                   double* Y, int ld);

// The forms. Each fills ops, form, diagonal and costs of a system whose blocks are known. Velocity
// input comes as rows of W. G of a system of the dense form may become smaller afterwards.
struct rgWhitened;
rgResult rgMakeDense(const rgSystemDef* def, const struct rgWhitened* rows, rgSystem* system);
rgResult rgMakeSparse(const rgSystemDef* def, rgSystem* system); // contact-space input only
rgResult rgMakeVelocity(const rgSystemDef* def, const struct rgWhitened* rows, rgSystem* system);
rgMatrix* rgSystem_Dense(const rgSystem* system); // NULL: another form
extern const rgSystemOps rgContactOps;
extern const rgSystemOps rgVelocityOps;
