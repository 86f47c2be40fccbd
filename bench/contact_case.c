#include "contact_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* rgMake(size_t count, size_t size) {
    void* memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static int rgContactCaseDef_BlockCount(const rgContactCaseDef* def) {
    return def->contactCount + def->torsionCount + def->rollingCount + def->halfLineCount +
           def->boxCount + def->freeCount;
}

// Kinds in a shuffled order, so that they mix within islands.
static int rgChooseBlocks(const rgContactCaseDef* def, rgRandom* random, rgBlock* blocks) {
    int count = 0;
    const int counts[6] = {def->contactCount,  def->torsionCount, def->rollingCount,
                           def->halfLineCount, def->boxCount,     def->freeCount};
    for (int kind = 0; kind < 6; ++kind) {
        for (int i = 0; i < counts[kind]; ++i) {
            double mu = def->mu >= 0 ? def->mu : rgRandom_Uniform(random, 0, -def->mu);
            rgBlock block = {.kind = rg_blockCoulomb,
                             .rowCount = kind == 0   ? 3
                                         : kind == 1 ? 4
                                                     : 6,
                             .mu = mu,
                             .muTorsion = rgRandom_Uniform(random, 0.01, 0.1),
                             .muRolling = rgRandom_Uniform(random, 0.01, 0.05)};
            if (kind >= 3) {
                block.kind = kind == 3 ? rg_blockHalfLine : kind == 4 ? rg_blockBox : rg_blockFree;
                block.rowCount = 1 + rgRandom_Index(random, 3);
                block.lower = -rgRandom_Uniform(random, 0.1, 1);
                block.upper = rgRandom_Uniform(random, 0.1, 1);
            }
            blocks[count++] = block;
        }
    }
    int row = 0;
    for (int i = 0; i < count; ++i) {
        int j = i + rgRandom_Index(random, count - i);
        rgBlock swap = blocks[i];
        blocks[i] = blocks[j];
        blocks[j] = swap;
        blocks[i].firstRow = row;
        row += blocks[i].rowCount;
    }
    return row;
}

// Block-diagonal mass: per body a random symmetric positive definite 6 x 6 matrix.
static void rgFillMass(rgContactCase* made, const rgContactCaseDef* def, rgRandom* random) {
    for (int body = 0; body < def->bodyCount; ++body) {
        double mass = pow(10, rgRandom_Uniform(random, -0.5, 0.5) * def->massDecades);
        double A[36], M[36];
        for (int i = 0; i < 36; ++i) {
            A[i] = rgRandom_Uniform(random, -0.3, 0.3);
        }
        for (int i = 0; i < 6; ++i) {
            for (int j = 0; j < 6; ++j) {
                double sum = i == j;
                for (int k = 0; k < 6; ++k) {
                    sum += A[6 * i + k] * A[6 * j + k];
                }
                M[6 * i + j] = mass * sum;
            }
        }
        for (int i = 0; i < 6; ++i) {
            int row = 6 * body + i;
            made->Mstart[row] = 6 * row;
            for (int j = 0; j < 6; ++j) {
                made->Mcolumn[6 * row + j] = 6 * body + j;
                made->Mvalue[6 * row + j] = M[6 * i + j];
            }
        }
    }
    made->Mstart[made->nv] = 6 * made->nv;
}

// Each block acts between a body and its neighbour in the same island, or the world.
static void rgFillJacobian(rgContactCase* made, const rgContactCaseDef* def, rgRandom* random) {
    int entries = 0;
    int island = def->island > 0 ? def->island : def->bodyCount;
    for (int b = 0; b < made->problem.blockCount; ++b) {
        int body = b < def->bodyCount ? b : rgRandom_Index(random, def->bodyCount);
        bool pair = (body + 1) % island != 0 && body + 1 < def->bodyCount &&
                    (def->island > 0 || rgRandom_Index(random, 4) > 0);
        for (int r = 0; r < made->blocks[b].rowCount; ++r) {
            made->Jstart[made->blocks[b].firstRow + r] = entries;
            for (int c = 0; c < (pair ? 12 : 6); ++c) {
                made->Jcolumn[entries] = 6 * body + c;
                made->Jvalue[entries++] = rgRandom_Uniform(random, -1, 1);
            }
        }
    }
    made->Jstart[made->problem.rowCount] = entries;
}

// x = M^-1 x for one body's six numbers.
static void rgSolveBody(const rgContactCase* made, int body, double* x) {
    double L[36];
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = made->Mvalue[36 * body + 6 * i + j];
            for (int k = 0; k < j; ++k) {
                sum -= L[6 * i + k] * L[6 * j + k];
            }
            L[6 * i + j] = i == j ? sqrt(sum) : sum / L[6 * j + j];
        }
    }
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < i; ++k) {
            x[i] -= L[6 * i + k] * x[k];
        }
        x[i] /= L[6 * i + i];
    }
    for (int i = 5; i >= 0; --i) {
        for (int k = i + 1; k < 6; ++k) {
            x[i] -= L[6 * k + i] * x[k];
        }
        x[i] /= L[6 * i + i];
    }
}

// G = J M^-1 J', dense, exactly symmetric.
static void rgFillDense(rgContactCase* made) {
    int n = made->problem.rowCount;
    double* x = rgMake((size_t)made->nv, sizeof(double));
    for (int i = 0; i < n; ++i) {
        memset(x, 0, (size_t)made->nv * sizeof(double));
        for (int k = made->Jstart[i]; k < made->Jstart[i + 1]; ++k) {
            x[made->Jcolumn[k]] = made->Jvalue[k];
        }
        for (int k = made->Jstart[i]; k < made->Jstart[i + 1]; k += 6) {
            rgSolveBody(made, made->Jcolumn[k] / 6, x + made->Jcolumn[k]);
        }
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = made->Jstart[j]; k < made->Jstart[j + 1]; ++k) {
                sum += made->Jvalue[k] * x[made->Jcolumn[k]];
            }
            made->G[(size_t)i * (size_t)n + (size_t)j] = sum;
            made->G[(size_t)j * (size_t)n + (size_t)i] = sum;
        }
    }
    free(x);
}

static void rgFillSparse(rgContactCase* made) {
    int n = made->problem.rowCount;
    int entries = 0;
    for (int i = 0; i < n; ++i) {
        made->Gstart[i] = entries;
        for (int j = 0; j < n; ++j) {
            double value = made->G[(size_t)i * (size_t)n + (size_t)j];
            if (value != 0) {
                made->Gcolumn[entries] = j;
                made->Gvalue[entries++] = value;
            }
        }
    }
    made->Gstart[n] = entries;
}

static double rgSign(rgRandom* random) {
    return rgRandom_Index(random, 2) ? 1 : -1;
}

// Map impulses in a square to the disc of the same width: rolling about one axis, or none.
static void rgChooseRolling(double* lambda, double* sigma) {
    if (sigma[0] != 0) {
        lambda[1] = sigma[1] = 0;
    } else if (sigma[1] != 0) {
        lambda[0] = 0;
    } else {
        lambda[0] *= 0.7;
        lambda[1] *= 0.7;
    }
}

static void rgChooseContact(const rgBlock* block, int state, rgRandom* random, double* lambda,
                            double* sigma) {
    double angle = rgRandom_Uniform(random, 0, 6.2831853);
    double t[2] = {cos(angle), sin(angle)};
    double speed = rgRandom_Uniform(random, 0.1, 1);
    if (state == 0) {
        sigma[0] = speed * t[0];
        sigma[1] = speed * t[1];
        sigma[2] = rgRandom_Uniform(random, 0.1, 1);
        for (int k = 3; k < block->rowCount; ++k) {
            sigma[k] = rgRandom_Uniform(random, -1, 1);
        }
        return;
    }
    lambda[2] = rgRandom_Uniform(random, 0.2, 1);
    bool slip = state == 2 || block->mu == 0;
    double reach = block->mu * lambda[2] * (slip ? 1 : rgRandom_Uniform(random, 0, 0.9));
    lambda[0] = -reach * t[0];
    lambda[1] = -reach * t[1];
    if (slip) {
        sigma[0] = speed * t[0];
        sigma[1] = speed * t[1];
    }
    for (int k = 3; k < block->rowCount; ++k) {
        double bound = (k == 3 ? block->muTorsion : block->muRolling) * lambda[2];
        if (rgRandom_Index(random, 2)) {
            lambda[k] = bound * rgRandom_Uniform(random, -0.9, 0.9);
        } else {
            double side = rgSign(random);
            lambda[k] = -side * bound;
            sigma[k] = side * rgRandom_Uniform(random, 0.1, 1);
        }
    }
    if (block->rowCount == 6) {
        rgChooseRolling(lambda + 4, sigma + 4);
    }
}

static void rgChooseRow(const rgBlock* block, rgRandom* random, double* lambda, double* sigma) {
    int state = rgRandom_Index(random, 3);
    if (block->kind == rg_blockFree) {
        *lambda = rgRandom_Uniform(random, -1, 1);
    } else if (block->kind == rg_blockHalfLine) {
        *lambda = state ? rgRandom_Uniform(random, 0.1, 1) : 0;
        *sigma = state ? 0 : rgRandom_Uniform(random, 0.1, 1);
    } else if (state == 0) {
        *lambda = rgRandom_Uniform(random, 0.9 * block->lower, 0.9 * block->upper);
    } else {
        *lambda = state == 1 ? block->lower : block->upper;
        *sigma = (state == 1 ? 1 : -1) * rgRandom_Uniform(random, 0.1, 1);
    }
}

// The size of one block's rows of G, so that chosen velocities are of the size impulses make.
static double rgBlockSize(const rgContactCase* made, const rgBlock* block) {
    size_t n = (size_t)made->problem.rowCount;
    double sum = 0;
    for (int i = 0; i < block->rowCount; ++i) {
        size_t row = (size_t)(block->firstRow + i);
        sum += made->G[row * n + row];
    }
    return sum / block->rowCount;
}

static void rgChooseSolution(rgContactCase* made, const rgContactCaseDef* def, rgRandom* random) {
    for (int b = 0; b < made->problem.blockCount; ++b) {
        rgBlock* block = made->blocks + b;
        double* lambda = made->lambda + block->firstRow;
        double* sigma = made->sigma + block->firstRow;
        if (block->kind == rg_blockCoulomb) {
            int state = def->state >= 0 ? def->state : rgRandom_Index(random, 3);
            rgChooseContact(block, state, random, lambda, sigma);
        } else {
            for (int i = 0; i < block->rowCount; ++i) {
                rgChooseRow(block, random, lambda + i, sigma + i);
            }
        }
        // Light and heavy bodies: impulses and velocities follow the block's inertia.
        double root = sqrt(rgBlockSize(made, block));
        double scale = def->impulseScale > 0 ? def->impulseScale : 1;
        for (int i = 0; i < block->rowCount; ++i) {
            lambda[i] *= scale / root;
            sigma[i] *= scale * root;
        }
        block->lower *= scale / root;
        block->upper *= scale / root;
    }
}

static void rgChooseFreeVelocity(rgContactCase* made) {
    int n = made->problem.rowCount;
    for (int i = 0; i < n; ++i) {
        double sum = made->R != NULL ? made->R[i] * made->lambda[i] : 0;
        for (int j = 0; j < n; ++j) {
            sum += made->G[(size_t)i * (size_t)n + (size_t)j] * made->lambda[j];
        }
        made->g[i] = made->sigma[i] - sum;
    }
}

rgContactCase* rgMakeEmptyCase(int blockCount, int rowCount, int nv) {
    size_t n = (size_t)rowCount;
    rgContactCase* made = rgMake(1, sizeof(rgContactCase));
    made->nv = nv;
    made->G = rgMake(n * n, sizeof(double));
    made->Gstart = rgMake(n + 1, sizeof(int));
    made->Gcolumn = rgMake(n * n, sizeof(int));
    made->Gvalue = rgMake(n * n, sizeof(double));
    made->Mstart = rgMake((size_t)nv + 1, sizeof(int));
    made->Mcolumn = rgMake((size_t)nv * 6, sizeof(int));
    made->Mvalue = rgMake((size_t)nv * 6, sizeof(double));
    made->Jstart = rgMake(n + 1, sizeof(int));
    made->Jcolumn = rgMake(n * 12, sizeof(int));
    made->Jvalue = rgMake(n * 12, sizeof(double));
    made->g = rgMake(n, sizeof(double));
    made->lambda = rgMake(n, sizeof(double));
    made->sigma = rgMake(n, sizeof(double));
    made->problem.rowCount = rowCount;
    made->problem.blockCount = blockCount;
    return made;
}

rgContactProblem rgContactCase_UseForm(const rgContactCase* made, rgDelassusKind kind) {
    int n = made->problem.rowCount;
    rgContactProblem problem = made->problem;
    problem.blocks = made->blocks;
    problem.freeVelocity = made->g;
    problem.compliance = made->R;
    problem.delassus = (rgDelassus){
        .kind = kind,
        .matrix = kind == rg_delassusDense ? made->G : NULL,
        .sparse = {n, n, made->Gstart, made->Gcolumn, made->Gvalue},
        .mass = {made->nv, made->nv, made->Mstart, made->Mcolumn, made->Mvalue},
        .jacobian = {n, made->nv, made->Jstart, made->Jcolumn, made->Jvalue},
    };
    return problem;
}

void rgContactCase_SetBlocks(rgContactCase* made, const rgBlock* blocks) {
    size_t count = (size_t)made->problem.blockCount;
    made->blocks = rgMake(count, sizeof(rgBlock));
    if (count > 0) {
        memcpy(made->blocks, blocks, count * sizeof(rgBlock));
    }
}

void rgContactCase_FillMatrix(rgContactCase* made) {
    rgFillDense(made);
    rgFillSparse(made);
}

void rgContactCase_Finish(rgContactCase* made) {
    rgChooseFreeVelocity(made);
    made->problem = rgContactCase_UseForm(made, rg_delassusDense);
}

rgContactCase* rgMakeContactCase(const rgContactCaseDef* def) {
    rgRandom random = {def->seed * 7919 + 17};
    int blockCount = rgContactCaseDef_BlockCount(def);
    rgBlock* blocks = rgMake((size_t)blockCount, sizeof(rgBlock));
    int rowCount = rgChooseBlocks(def, &random, blocks);
    rgContactCase* made = rgMakeEmptyCase(blockCount, rowCount, 6 * def->bodyCount);
    made->blocks = blocks;
    rgFillMass(made, def, &random);
    rgFillJacobian(made, def, &random);
    rgContactCase_FillMatrix(made);
    if (def->compliance > 0) {
        made->R = rgMake((size_t)rowCount, sizeof(double));
        for (int b = 0; b < blockCount; ++b) {
            for (int i = 0; i < blocks[b].rowCount; ++i) {
                made->R[blocks[b].firstRow + i] = def->compliance * rgBlockSize(made, blocks + b);
            }
        }
    }
    rgChooseSolution(made, def, &random);
    rgContactCase_Finish(made);
    return made;
}

rgContactCase* rgMakeDenseCase(int blockCount, const rgBlock* blocks, const double* G,
                               const double* g) {
    int n = 0;
    for (int b = 0; b < blockCount; ++b) {
        n += blocks[b].rowCount;
    }
    rgContactCase* made = rgMakeEmptyCase(blockCount, n, 0);
    rgContactCase_SetBlocks(made, blocks);
    if (n > 0) {
        memcpy(made->G, G, (size_t)(n * n) * sizeof(double));
        memcpy(made->g, g, (size_t)n * sizeof(double));
    }
    rgFillSparse(made);
    made->problem = rgContactCase_UseForm(made, rg_delassusDense);
    return made;
}

void rgFreeContactCase(rgContactCase* made) {
    void* parts[] = {made->blocks, made->G,       made->Gstart, made->Gcolumn, made->Gvalue,
                     made->Mstart, made->Mcolumn, made->Mvalue, made->Jstart,  made->Jcolumn,
                     made->Jvalue, made->g,       made->R,      made->lambda,  made->sigma};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        free(parts[i]);
    }
    free(made);
}

double rgLargestDifference(int n, const double* a, const double* b) {
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        double difference = fabs(a[i] - b[i]);
        largest = difference <= largest ? largest : difference; // keeps NaN
    }
    return largest;
}

double rgLargestNumber(int n, const double* a) {
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        largest = fabs(a[i]) <= largest ? largest : fabs(a[i]);
    }
    return largest;
}
