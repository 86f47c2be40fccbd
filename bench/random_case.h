// A large set of random contact problems, one for each number, every one with a known solution: the
// study `rigor bench solver --study random` and the tests solve the same ones.
#pragma once
#include "contact_case.h"

typedef enum rgRandomKind {
    rg_randomChain, // bodies in a row
    rg_randomPile,  // balls that touch their neighbours and the floor
    rg_randomStack, // boxes that stand on four or more points each
    rg_randomAny,   // rows without geometry, every velocity for itself
    rg_randomKindCount
} rgRandomKind;
extern const char* const rgRandomKindNames[rg_randomKindCount];

// Traits of a problem of the random set.
typedef struct rgRandomTraits {
    rgRandomKind kind; // number % rg_randomKindCount
    double massDecades;
    double mu; // friction of every contact, or the largest one
    bool compliant;
    bool otherRows; // half lines, boxes and free rows among the contacts
} rgRandomTraits;

// Masses spread over 0 to 6 powers of ten, friction from 0 to 2 (none at all in a seventh of the
// problems, mixed in half of them), rank-deficient G in most, torsion and rolling in a fourth, rows
// of other kinds in a third, compliance in a fourth. The form of G (dense, sparse, velocity)
// changes from one problem to the next. Traits may be NULL.
rgContactCase* rgMakeRandomCase(uint64_t number, rgRandomTraits* traits);

// The residual of docs/theory/ncp.md from the definition and the dense matrix of the case, in long
// double: the largest error of any constraint by the natural map with its own mass, as the velocity
// that it would make, over that of zero impulses in its island. Shares no code with the library.
double rgNaturalResidual(const rgContactCase* made, const double* lambda);
