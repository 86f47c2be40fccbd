// Rows, checks and solves of problems for the files of this folder and the world.
#pragma once
#include "base/base.h"
#include "rigor/contact.h"

#include <string.h>

// One row of G as it is given, for problems in contact space: entries from start to end. A dense
// matrix has no columns.
typedef struct rgGivenRow {
    int start, end;
    const int* column;
    const double* value;
} rgGivenRow;

static inline rgGivenRow rgContactProblem_Row(const rgContactProblem* problem, int row) {
    const rgDelassus* G = &problem->delassus;
    int n = problem->rowCount;
    return G->kind == rg_delassusDense
               ? (rgGivenRow){row * n, row * n + n, NULL, G->matrix}
               : (rgGivenRow){G->sparse.rowStart[row], G->sparse.rowStart[row + 1],
                              G->sparse.column, G->sparse.value};
}

static inline int rgGivenRow_Column(const rgGivenRow* row, int k) {
    return row->column != NULL ? row->column[k] : k - row->start;
}

// True if a row and the two after it have the same columns, as those of a contact do. Columns
// ascend: those that stand side by side are known by the first and the last.
static inline bool rgRowsAreAlike(const rgSparse* J, int row) {
    const int* start = J->rowStart + row;
    if (row + 3 > J->rowCount) {
        return false;
    }
    int n = start[1] - start[0];
    if (n == 0 || start[2] - start[1] != n || start[3] - start[2] != n) {
        return false;
    }
    const int *a = J->column + start[0], *b = a + n, *c = b + n;
    size_t bytes = (size_t)n * sizeof(int);
    return a[0] == b[0] && a[0] == c[0] && a[n - 1] == b[n - 1] && a[n - 1] == c[n - 1] &&
           (a[n - 1] - a[0] == n - 1 || (memcmp(a, b, bytes) == 0 && memcmp(a, c, bytes) == 0));
}

// Search around the start also where zero impulses are an answer, which is taken otherwise.
void rgContactSolver_KeepStarts(rgContactSolver* solver);

struct rgLayout;

// Judge with scratch from an arena (rgContactProblem_Judge makes its own). The layout is that of
// the problem, split into islands.
// islands, NULL or one per island of the layout, gets the residual of each.
rgResult rgJudge(const rgContactProblem* problem, const struct rgLayout* layout,
                 rgContactModel model, const double* lambda, rgArena* arena, rgResidual* residual,
                 double* islands);

// sigma = (G + R) lambda + g likewise.
rgResult rgJudgeVelocity(const rgContactProblem* problem, const struct rgLayout* layout,
                         const double* lambda, rgArena* arena, double* sigma);

// The diagonal of G likewise.
rgResult rgJudgeDiagonal(const rgContactProblem* problem, const struct rgLayout* layout,
                         rgArena* arena, double* diagonal);

// Do the blocks cover the rows without gaps, each with numbers that make sense?
rgResult rgCheckBlocks(int rowCount, int blockCount, const rgBlock* blocks,
                       rgDiagnostics* diagnostics);

// Velocity problems that a world has built, with W, R and all else in order: whether their numbers
// are finite, which forces and states from outside may have spoilt. Debug builds check everything.
bool rgContactProblem_IsBuilt(const rgContactProblem* problem);
//
// starts: NULL, or per tree. An island of trees at rest keeps its start where that is a solution,
// and is solved beyond the tolerance where it is not; a resumed island keeps a start that is
// enough. Trees that kept theirs are rg_startAccepted afterwards.
typedef enum rgStart {
    rg_startMoves,   // it moves
    rg_startResumed, // it moves, and the start is what an earlier pass of the step ended with
    rg_startSolved,  // the start was solved for in the last step
    rg_startKept,    // the start was taken in the last step, too
    rg_startAccepted,
} rgStart;
//
// factorizations: most of an island; 0: as many as the plan has.
rgResult rgContactSolver_SolveBuilt(rgContactSolver* solver, const rgContactProblem* problem,
                                    double* lambda, rgStart* starts, int factorizations,
                                    rgContactReport* report);
