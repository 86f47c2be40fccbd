// Contact problems built backwards: choose impulses and velocities that obey every law, then the
// free velocity that makes them the solution. One set of numbers in dense, sparse and velocity
// form.
#pragma once
#include "random.h"
#include "rigor/contact.h"

typedef struct rgContactCase {
    rgContactProblem problem; // dense form, unless rgContactCase_UseForm changed it
    rgBlock* blocks;
    double* G; // n x n
    int *Gstart, *Gcolumn;
    double* Gvalue;
    int nv;
    int *Mstart, *Mcolumn;
    double* Mvalue;
    int *Jstart, *Jcolumn;
    double* Jvalue;
    double* g;
    double* R;      // NULL: rigid
    double* lambda; // a solution
    double* sigma;  // its velocity
} rgContactCase;

typedef struct rgContactCaseDef {
    uint64_t seed;
    int bodyCount;     // six velocities each
    int contactCount;  // Coulomb blocks of three rows
    int torsionCount;  // Coulomb blocks of four rows
    int rollingCount;  // Coulomb blocks of six rows
    int halfLineCount; // blocks of one to three rows
    int boxCount;
    int freeCount;
    double mu;           // friction of every contact; negative: each its own in [0, -mu]
    double massDecades;  // masses spread over so many powers of ten
    double compliance;   // R relative to the diagonal of G; 0: rigid
    int island;          // bodies per island; 0: all in one chain
    int state;           // 0 open, 1 stick, 2 slip for all contacts; negative: random
    double impulseScale; // 0 means 1
} rgContactCaseDef;

rgContactCase* rgMakeContactCase(const rgContactCaseDef* def);
void rgFreeContactCase(rgContactCase* made);

// Copy of the problem in another form of G. The arrays stay those of the case.
rgContactProblem rgContactCase_UseForm(const rgContactCase* made, rgDelassusKind kind);

// A case from given dense numbers: copies n x n G and g. lambda and sigma are zero.
rgContactCase* rgMakeDenseCase(int blockCount, const rgBlock* blocks, const double* G,
                               const double* g);

// For those who choose blocks, M, J, lambda and sigma themselves: room for a problem of these sizes
// with at most twelve numbers in a row of J and M of 6 x 6 blocks; then G from M and J; then g and
// the problem, after R, lambda and sigma are chosen.
rgContactCase* rgMakeEmptyCase(int blockCount, int rowCount, int nv);
void rgContactCase_SetBlocks(rgContactCase* made, const rgBlock* blocks);
void rgContactCase_FillMatrix(rgContactCase* made);
void rgContactCase_Finish(rgContactCase* made);

// Largest |a - b|, and largest |a|.
double rgLargestDifference(int n, const double* a, const double* b);
double rgLargestNumber(int n, const double* a);

static inline rgBlock rgContactBlock(int firstRow, double mu) {
    return (rgBlock){.kind = rg_blockCoulomb, .firstRow = firstRow, .rowCount = 3, .mu = mu};
}
