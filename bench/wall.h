// The wall of cubes as a contact problem, assembled in code: what the demonstration, the tests and
// the benchmarks solve when no files are at hand.
#pragma once
#include "rigor/contact.h"

enum {
    rg_wallCubes = 15,
    rg_wallContacts = 100, // 4 under each of 5 cubes, 4 for each of 20 pairs
    rg_wallRows = 3 * rg_wallContacts,
    rg_wallVelocities = 6 * rg_wallCubes,
};

// 15 cubes of 0.2 m in rows of 5, 4, 3, 2, 1 with 1 cm between neighbours; row r has 10^r kg per
// cube; mu = 0.5. The free velocity is that of a standing wall after dt = 1 ms of gravity.
typedef struct rgWall {
    rgContactProblem problem; // velocity form; views of the arrays below
    rgBlock blocks[rg_wallContacts];
    double freeVelocity[rg_wallRows];
    int massStart[rg_wallVelocities + 1];
    int massColumn[rg_wallVelocities];
    double mass[rg_wallVelocities];
    int jacobianStart[rg_wallRows + 1];
    int jacobianColumn[12 * rg_wallRows];
    double jacobian[12 * rg_wallRows];
} rgWall;

// J M^-1 J', dense: the problem in contact space.
void rgWall_Condense(const rgWall* wall, double* matrix); // rg_wallRows x rg_wallRows
void rgWall_Build(rgWall* wall); // keep the wall where it is: the problem points into it
