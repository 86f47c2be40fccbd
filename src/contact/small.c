// Newton on the stack for islands of few contacts with a near start. Set-up, not arithmetic, is
// most of the cost of such islands: UR5 takes 16 % more instructions without it. Islands that it
// does not solve are left to the plan. newton.17.
#include "contact/cones.h"
#include "contact/problem.h"
#include "contact/run.h"
#include "contact/tuning.h"
#include "math/two.h"

#include <math.h>
#include <string.h>

#define RG_SMALL_ROWS   (3 * RG_SMALL_CONTACT_COUNT)
#define RG_SMALL_STRIDE (RG_SMALL_ROWS + 2) // with a right-hand side, even

typedef struct rgSmall {
    int count;    // contacts
    bool trivial; // zero impulses solve the island, exactly
    double mu[RG_SMALL_CONTACT_COUNT];
    double mass[RG_SMALL_CONTACT_COUNT];   // m of the judge (ncp.9)
    double weight[RG_SMALL_CONTACT_COUNT]; // residual = weight |lambda - P(lambda - m u)|
    double G[RG_SMALL_ROWS][RG_SMALL_ROWS];
    double g[RG_SMALL_ROWS];
    double lambda[RG_SMALL_ROWS];
    double sigma[RG_SMALL_ROWS];
} rgSmall;

// An unknown of newton.15 and its equation, left . G right y + diagonal y = side - left . sigma: a
// row of its own, or in slip (newton.14) across t, and the normal, which takes the impulse along t
// with it.
typedef struct rgStepRow {
    int row;         // its own; slip: the first of the contact
    bool isAcross;   // left and right are these two numbers on the first two rows
    bool isCombined; // right is these two numbers on the first two rows, and one on the third
    double x, y;
    double diagonal, side;
} rgStepRow;

// Block of W W' between two contacts.
static void rgSmall_FillBlock(rgSmall* small, const rgDelassus* delassus, int i, int rowI, int j,
                              int rowJ) {
    const int *start = delassus->jacobian.rowStart, *column = delassus->jacobian.column;
    int a = start[rowI], endA = start[rowI + 1], countA = endA - a;
    int b = start[rowJ], endB = start[rowJ + 1], countB = endB - b;
    const double *x = delassus->whitened, *y = delassus->whitened;
    double sum[3][3] = {{0}};
    while (a < endA && b < endB) {
        if (column[a] == column[b]) {
            for (int r = 0; r < 3; ++r) {
                for (int c = 0; c < 3; ++c) {
                    sum[r][c] += x[a + r * countA] * y[b + c * countB];
                }
            }
            ++a, ++b;
        } else if (column[a] < column[b]) {
            ++a;
        } else {
            ++b;
        }
    }
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            small->G[3 * i + r][3 * j + c] = small->G[3 * j + c][3 * i + r] = sum[r][c];
        }
    }
}

// ncp.9-11, and G with the compliance. False: a contact that nothing moves.
static bool rgSmall_Weigh(rgSmall* small, const rgSystemDef* def, const int* rows) {
    const rgContactProblem* problem = def->problem;
    double V = def->reference;
    small->trivial = true;
    for (int i = 0; i < small->count; ++i) {
        double moved = 0, sum = 0;
        for (int r = 3 * i; r < 3 * i + 3; ++r) {
            moved += small->G[r][r];
            small->G[r][r] +=
                problem->compliance != NULL ? problem->compliance[rows[i] + r % 3] : 0;
            sum += small->G[r][r];
        }
        double normal = small->G[3 * i + 2][3 * i + 2];
        if (!(moved > 0) || normal < RG_RANK_RATIO * (sum - normal)) {
            return false;
        }
        double length = problem->rowLength != NULL ? problem->rowLength[rows[i]] : 1;
        small->mass[i] = 3 / sum;
        small->weight[i] = moved / 3 * length;
        double error = rgOpeningError(small->mu[i], rg_modelNcp, small->g + 3 * i);
        V = fmax(V, error * small->mass[i] * small->weight[i]);
        small->trivial = small->trivial && error == 0;
    }
    for (int i = 0; i < small->count; ++i) {
        small->weight[i] /= V;
    }
    return V > 0;
}

// False: not an island for this.
static bool rgSmall_Build(rgSmall* small, const rgSystemDef* def, const double* lambda, int* rows) {
    const rgContactProblem* problem = def->problem;
    const rgDelassus* delassus = &problem->delassus;
    small->count = def->memberCount;
    for (int i = 0; i < small->count; ++i) {
        const rgLayoutBlock* source = def->layout->blocks + def->members[i];
        const rgBlock* block = problem->blocks + source->given;
        rows[i] = source->firstRow;
        small->mu[i] = block->mu;
        memcpy(small->g + 3 * i, problem->freeVelocity + rows[i], 3 * sizeof(double));
        memcpy(small->lambda + 3 * i, lambda + rows[i], 3 * sizeof(double));
        if (block->kind != rg_blockCoulomb || source->rowCount != 3 ||
            block->mu > RG_STEEP_FRICTION || !rgRowsAreAlike(&delassus->jacobian, rows[i])) {
            return false;
        }
        for (int j = 0; j <= i; ++j) {
            rgSmall_FillBlock(small, delassus, i, rows[i], j, rows[j]);
        }
    }
    return rgSmall_Weigh(small, def, rows);
}

// sigma = G lambda + g; G is symmetric.
static void rgSmall_Move(rgSmall* small) {
    int n = 3 * small->count;
    memcpy(small->sigma, small->g, (size_t)n * sizeof(double));
    for (int j = 0; j < n; ++j) {
        if (small->lambda[j] != 0) {
            rgAddMultiple(n, small->lambda[j], small->G[j], small->sigma);
        }
    }
}

// Puts the impulses into K. Returns the residual (ncp.12).
static double rgSmall_Judge(rgSmall* small) {
    double largest = 0;
    for (int i = 0; i < small->count; ++i) {
        rgProjectCone(small->mu[i], small->lambda + 3 * i);
    }
    rgSmall_Move(small);
    for (int i = 0; i < small->count; ++i) {
        const double *l = small->lambda + 3 * i, *s = small->sigma + 3 * i;
        double m = small->mass[i], mu = small->mu[i];
        double shift = mu * sqrt(s[0] * s[0] + s[1] * s[1]);
        double x[3] = {l[0] - m * s[0], l[1] - m * s[1], l[2] - m * (s[2] + shift)};
        rgProjectCone(mu, x);
        double a = l[0] - x[0], b = l[1] - x[1], c = l[2] - x[2];
        double error = small->weight[i] * sqrt(a * a + b * b + c * c);
        largest = error <= largest ? largest : error; // a NaN must not vanish
    }
    return largest;
}

// newton.13, newton.14 of one contact. What is known of its impulses is put into them; sides hold
// what is not -sigma. Returns how many unknowns it has.
static int rgSmall_ListContact(rgSmall* small, int i, rgStepRow* unknowns) {
    int row = 3 * i;
    double *l = small->lambda + row, r = small->mass[i], mu = small->mu[i],
           p = RG_NEWTON_PROXIMAL_RATIO / r;
    const double* s = small->sigma + row;
    double normal = l[2] - r * s[2];
    if (normal <= 0) {
        l[0] = l[1] = l[2] = 0;
        return 0;
    }
    double w[2] = {l[0] - r * s[0], l[1] - r * s[1]};
    double size = sqrt(w[0] * w[0] + w[1] * w[1]), radius = mu * normal;
    if (size <= radius) {
        for (int k = 0; k < 3; ++k) {
            unknowns[k] = (rgStepRow){.row = row + k, .diagonal = p};
        }
        return 3;
    }
    int count = 0;
    double t[2] = {w[0] / size, w[1] / size}, k = radius / size;
    double across = t[0] * l[1] - t[1] * l[0];
    if (k > 0) {
        unknowns[count++] = (rgStepRow){.row = row,
                                        .isAcross = true,
                                        .x = -t[1],
                                        .y = t[0],
                                        .diagonal = p + (1 - k) / (r * k),
                                        .side = across * (1 - 1 / k) / r};
    } else {
        across = 0;
    }
    l[0] = mu * l[2] * t[0] - across * t[1];
    l[1] = mu * l[2] * t[1] + across * t[0];
    unknowns[count++] =
        (rgStepRow){.row = row, .isCombined = true, .x = mu * t[0], .y = mu * t[1], .diagonal = p};
    return count;
}

// Gauss's elimination with pivots by column; the right-hand side is the last column. False:
// singular.
static bool rgEliminate(int n, double K[][RG_SMALL_STRIDE], double* x) {
    for (int j = 0; j < n; ++j) {
        int pivot = j;
        for (int i = j + 1; i < n; ++i) {
            pivot = fabs(K[i][j]) > fabs(K[pivot][j]) ? i : pivot;
        }
        for (int c = j; c <= n && pivot != j; ++c) {
            double keep = K[j][c];
            K[j][c] = K[pivot][c];
            K[pivot][c] = keep;
        }
        double inverse = 1 / K[j][j];
        if (!isfinite(inverse)) {
            return false;
        }
        for (int i = j + 1; i < n; ++i) {
            rgAddMultiple(n - j, -K[i][j] * inverse, K[j] + j + 1, K[i] + j + 1);
        }
        K[j][j] = inverse;
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = K[i][n];
        for (int c = i + 1; c < n; ++c) {
            sum -= K[i][c] * x[c];
        }
        x[i] = sum * K[i][i];
    }
    return true;
}

// G times the right side of an unknown; scratch is used where that is not a column.
static const double* rgSmall_Column(const rgSmall* small, const rgStepRow* unknown,
                                    double* scratch) {
    if (!unknown->isAcross && !unknown->isCombined) {
        return small->G[unknown->row];
    }
    const double* third = small->G[unknown->row + 2];
    for (int i = 0; i < 3 * small->count; ++i) {
        double sum =
            unknown->x * small->G[unknown->row][i] + unknown->y * small->G[unknown->row + 1][i];
        scratch[i] = unknown->isCombined ? sum + third[i] : sum;
    }
    return scratch;
}

static inline double rgStepRow_Left(const rgStepRow* unknown, const double* x) {
    x += unknown->row;
    return unknown->isAcross ? unknown->x * x[0] + unknown->y * x[1]
                             : x[unknown->isCombined ? 2 : 0];
}

// One iteration (newton.15, newton.16) with a proximal term around the iterate.
static bool rgSmall_Step(rgSmall* small) {
    rgStepRow unknowns[RG_SMALL_ROWS];
    double K[RG_SMALL_ROWS][RG_SMALL_STRIDE], y[RG_SMALL_ROWS], scratch[RG_SMALL_ROWS];
    int count = 0;
    for (int i = 0; i < small->count; ++i) {
        count += rgSmall_ListContact(small, i, unknowns + count);
    }
    rgSmall_Move(small);
    for (int b = 0; b < count; ++b) {
        const double* column = rgSmall_Column(small, unknowns + b, scratch);
        for (int a = 0; a < count; ++a) {
            K[a][b] = rgStepRow_Left(unknowns + a, column);
        }
        K[b][b] += unknowns[b].diagonal;
    }
    for (int a = 0; a < count; ++a) {
        K[a][count] = unknowns[a].side - rgStepRow_Left(unknowns + a, small->sigma);
    }
    if (!rgEliminate(count, K, y)) {
        return false;
    }
    for (int b = 0; b < count; ++b) {
        double* own = small->lambda + unknowns[b].row;
        bool slips = unknowns[b].isAcross || unknowns[b].isCombined;
        own[0] += (slips ? unknowns[b].x : 1) * y[b];
        if (slips) {
            own[1] += unknowns[b].y * y[b];
            own[2] += unknowns[b].isCombined ? y[b] : 0;
        }
    }
    return true;
}

bool rgSolveSmall(const rgSystemDef* def, const rgSmallOptions* options, double* lambda,
                  rgSmallOutcome* outcome) {
    rgSmall small;
    int rows[RG_SMALL_CONTACT_COUNT];
    double best[RG_SMALL_ROWS], least = RG_START_FAR_RESIDUAL, residual = 0;
    *outcome = (rgSmallOutcome){0};
    if (def->memberCount > RG_SMALL_CONTACT_COUNT || !rgSmall_Build(&small, def, lambda, rows)) {
        return false;
    }
    if (small.trivial) {
        memset(small.lambda, 0, sizeof(small.lambda));
    } else {
        residual = rgSmall_Judge(&small);
    }
    while (residual < least) {
        memcpy(best, small.lambda, (size_t)small.count * 3 * sizeof(double));
        least = residual;
        outcome->kept = outcome->iterationCount == 0 && !small.trivial;
        if (least <= options->firstTolerance || outcome->iterationCount >= options->limit ||
            !rgSmall_Step(&small)) {
            break;
        }
        outcome->iterationCount += 1;
        residual = rgSmall_Judge(&small);
    }
    for (int i = 0; i < small.count && least <= options->tolerance; ++i) {
        memcpy(lambda + rows[i], best + 3 * i, 3 * sizeof(double));
    }
    return least <= options->tolerance;
}
