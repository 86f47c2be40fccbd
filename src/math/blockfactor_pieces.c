// Pieces of the tree of fronts that threads work on at the same time. What a front computes depends
// on its children alone, which it takes in a fixed order, so that the bits are those of one thread.
#include "math/blockfactor_private.h"

#include <math.h>
#include <string.h>

// Predicted time [ns] from which several threads work on a factorization, and share of it that a
// subtree has at most: more pieces than threads, so that all are busy until near the root.
static const double rg_parallelTime = 2e5, rg_pieceShare = 1.0 / 48;

// Arrays of the division, by front.
typedef struct rgDivision {
    double* time; // of the subtree
    int* first;   // front of the subtree
    int* parent;  // front, -1: a root
    int* piece;   // of a front above the subtrees
} rgDivision;

static bool rgSameTasks(const rgTasks* a, const rgTasks* b) {
    return a->run == b->run && a->context == b->context && a->workerCount == b->workerCount;
}

rgResult rgBlockFactor_SetTasks(rgBlockFactor* f, const rgTasks* tasks) {
    if (rgSameTasks(&f->tasks, tasks)) {
        return rg_ok;
    }
    f->tasks = *tasks;
    f->kind = rg_factorNone;
    return f->analysed ? rgBlockFactor_Divide(f) : rg_ok;
}

bool rgBlockFactor_IsParallel(const rgBlockFactor* f) {
    return f->pieceCount > 1;
}

static void rgMeasureSubtrees(const rgBlockFactor* f, rgDivision* d) {
    for (int s = 0; s < f->frontCount; ++s) {
        const rgFront* front = &f->fronts[s];
        d->time[s] = rgPredictedTime(front->width, front->order);
        d->first[s] = s;
        d->parent[s] = d->piece[s] = -1;
        for (int c = front->firstChild; c != -1; c = f->fronts[c].nextSibling) {
            d->time[s] += d->time[c];
            d->first[s] = RG_MIN(d->first[s], d->first[c]);
            d->parent[c] = s;
        }
    }
}

// Time that a subtree has at most; without bound where one thread does all.
static double rgPieceTime(const rgBlockFactor* f, const rgDivision* d) {
    double all = 0;
    for (int s = 0; s < f->frontCount; ++s) {
        all += d->parent[s] < 0 ? d->time[s] : 0;
    }
    bool parallel = f->tasks.run != NULL && f->tasks.workerCount > 1 && all > rg_parallelTime;
    return parallel ? rg_pieceShare * all : INFINITY;
}

// Subtrees of at most that time, and the fronts above them one by one, in postorder.
static void rgFindPieces(rgBlockFactor* f, rgDivision* d) {
    double most = rgPieceTime(f, d);
    f->pieceCount = 0;
    for (int s = 0; s < f->frontCount; ++s) {
        int up = d->parent[s];
        bool above = d->time[s] > most, root = up < 0 || d->time[up] > most;
        if (above || root) {
            d->piece[s] = f->pieceCount;
            f->pieces[f->pieceCount++] = (rgPiece){above ? s : d->first[s], s + 1};
        }
    }
    for (int i = 0; i < f->pieceCount; ++i) {
        int up = d->parent[f->pieces[i].endFront - 1];
        f->pieceParent[i] = up < 0 ? -1 : d->piece[up];
    }
    if (most == INFINITY && f->frontCount > 0) { // trees in one thread share the stacks
        f->pieces[0] = (rgPiece){0, f->frontCount};
        f->pieceParent[0] = -1;
        f->pieceCount = 1;
    }
}

// Two stacks for the update matrices of a piece: those of a front's children lie on top of one, its
// own goes onto the other.
static void rgPlaceUpdates(rgBlockFactor* f, const rgPiece* piece) {
    size_t top[2] = {0, 0}, most[2] = {0, 0};
    for (int s = piece->firstFront; s < piece->endFront; ++s) {
        rgFront* front = &f->fronts[s];
        size_t rest = (size_t)(front->order - front->width);
        if (front->firstChild >= piece->firstFront) {
            top[1 - front->stack] = f->fronts[front->firstChild].update;
        }
        front->update = top[front->stack];
        top[front->stack] += (size_t)front->updateLead * rest;
        most[front->stack] = RG_MAX(most[front->stack], top[front->stack]);
    }
    for (int s = piece->firstFront; s < piece->endFront; ++s) {
        f->fronts[s].update += f->updateCount + (f->fronts[s].stack == 1 ? most[0] : 0);
    }
    f->updateCount += most[0] + most[1];
}

rgResult rgBlockFactor_Divide(rgBlockFactor* f) {
    size_t n = (size_t)f->frontCount;
    size_t bytes =
        n * (sizeof(double) + sizeof(rgPiece) + 4 * sizeof(int)) + rgTaskTreeScratch(f->frontCount);
    rgResult result = rgBuffer_Reserve(&f->pieceMemory, &f->allocator, bytes);
    if (result != rg_ok) {
        return result;
    }
    rgDivision d = {.time = f->pieceMemory.memory};
    f->pieces = (rgPiece*)(d.time + n);
    f->pieceParent = (int*)(f->pieces + n);
    d.first = f->pieceParent + n;
    d.parent = d.first + n;
    d.piece = d.parent + n;
    f->pieceScratch = d.piece + n;
    f->updateCount = 0;
    rgMeasureSubtrees(f, &d);
    rgFindPieces(f, &d);
    for (int i = 0; i < f->pieceCount; ++i) {
        rgPlaceUpdates(f, &f->pieces[i]);
    }
    return rg_ok;
}
