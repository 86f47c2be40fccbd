// Bytes as a contact problem: every form and kind of block, numbers that hurt.
#pragma once
#include "fuzz.h"

#include "rigor/contact.h"

enum { rg_mostBlocks = 6, rg_mostRows = 6 * rg_mostBlocks, rg_mostColumns = 12 };

typedef struct rgCase {
    rgBlock blocks[rg_mostBlocks];
    double g[rg_mostRows], compliance[rg_mostRows], lengths[rg_mostRows];
    double J[rg_mostRows * rg_mostColumns], G[rg_mostRows * rg_mostRows];
    double mass[rg_mostColumns];
    int rowStart[rg_mostRows + 1], column[rg_mostRows * rg_mostRows];
    int massStart[rg_mostColumns + 1], massColumn[rg_mostColumns];
    rgContactProblem problem;
} rgCase;

static void rgMakeBlocks(rgInput* in, rgCase* c) {
    static const int rows[] = {3, 3, 3, 4, 6, 1};
    c->problem.blockCount = rgInput_Below(in, rg_mostBlocks + 1);
    for (int i = 0; i < c->problem.blockCount; ++i) {
        rgBlock* b = &c->blocks[i];
        b->kind = (rgBlockKind)rgInput_Below(in, 4);
        b->firstRow = c->problem.rowCount;
        b->rowCount =
            b->kind == rg_blockCoulomb ? rows[rgInput_Below(in, 5)] : 1 + rgInput_Below(in, 3);
        b->mu = fabs(rgInput_Number(in));
        b->muTorsion = fabs(rgInput_Number(in));
        b->muRolling = fabs(rgInput_Number(in));
        b->lower = rgInput_Byte(in) < 32 ? -INFINITY : -fabs(rgInput_Number(in));
        b->upper = rgInput_Byte(in) < 32 ? INFINITY : fabs(rgInput_Number(in));
        c->problem.rowCount += b->rowCount;
    }
}

// G = J D J' with D positive, of any rank; masses may differ by any ratio.
static void rgMakeMatrix(rgInput* in, rgCase* c) {
    int n = c->problem.rowCount, m = 1 + rgInput_Below(in, rg_mostColumns);
    bool hostile = rgInput_Byte(in) < 64;
    for (int k = 0; k < m; ++k) {
        c->mass[k] = rgInput_Byte(in) < 64 ? fabs(rgInput_Number(in)) : 1;
        c->massStart[k + 1] = k + 1;
        c->massColumn[k] = k;
    }
    for (int i = 0; i < n * m; ++i) {
        c->J[i] = hostile ? rgInput_Number(in) : rgInput_Sane(in);
        c->column[i] = i % m;
    }
    for (int i = 0; i < n; ++i) {
        c->rowStart[i + 1] = (i + 1) * m;
    }
    rgDelassus* d = &c->problem.delassus;
    d->kind = (rgDelassusKind)rgInput_Below(in, 3);
    d->mass = (rgSparse){m, m, c->massStart, c->massColumn, c->mass};
    d->jacobian = (rgSparse){n, m, c->rowStart, c->column, c->J};
    if (d->kind == rg_delassusVelocity) {
        return;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < m; ++k) {
                sum += c->J[i * m + k] * c->J[j * m + k] / c->mass[k];
            }
            c->G[i * n + j] = c->G[j * n + i] = sum;
        }
        c->rowStart[i + 1] = (i + 1) * n;
        for (int j = 0; j < n; ++j) {
            c->column[i * n + j] = j;
        }
    }
    if (n > 0 && rgInput_Byte(in) < 16) { // one that is not what it should be
        c->G[rgInput_Byte(in) % (n * n)] = rgInput_Number(in);
    }
    d->matrix = c->G;
    d->sparse = (rgSparse){n, n, c->rowStart, c->column, c->G};
}

static void rgMakeProblem(rgInput* in, rgCase* c) {
    rgMakeBlocks(in, c);
    rgMakeMatrix(in, c);
    for (int i = 0; i < c->problem.rowCount; ++i) {
        c->g[i] = rgInput_Number(in);
        c->compliance[i] = fabs(rgInput_Sane(in)) * 1e-3;
        c->lengths[i] = 1;
    }
    c->problem.blocks = c->blocks;
    c->problem.freeVelocity = c->g;
    c->problem.compliance = rgInput_Byte(in) < 64 ? c->compliance : NULL;
    c->problem.rowLength = rgInput_Byte(in) < 32 ? c->lengths : NULL;
    c->problem.referenceVelocity = rgInput_Byte(in) < 32 ? fabs(rgInput_Number(in)) : 0;
}
