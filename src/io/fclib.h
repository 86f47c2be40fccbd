// Private to the FCLIB reader and writer: the owner of a problem and the order of its rows.
#pragma once
#include "io/hdf5.h"
#include "io/triplets.h"
#include "rigor/fclib.h"

typedef struct rgFclibImpulses {
    double* lambda;
    double* sigma; // NULL when the file has none
} rgFclibImpulses;

struct rgFclibProblem {
    rgAllocator allocator;
    rgContactProblem problem; // views of the arrays below
    rgFclibInfo info;
    rgBlock* blocks;
    rgOwnedSparse sparse;
    rgOwnedSparse mass;
    rgOwnedSparse jacobian;
    double* dense;
    double* freeVelocity;
    double* compliance; // compliance of a problem in the group `rigor`, else NULL
    double* force;      // f of a global problem, else NULL
    char* title;
    char* description;
    char* mathInfo;
    int* keys;
    rgFclibImpulses solution;
    rgFclibImpulses* guesses;
    int guessCount;
    int equalityCount; // rows after those of the contacts
    bool isExtended;   // read from the group `rigor`
};

// FCLIB has rows n, t1, t2 per contact where rigor has t1, t2, n. Equality rows stay in place.
int rgFclibToRow(int fileRow, int contactRowCount);
int rgFclibFromRow(int row, int contactRowCount);

// Extended problems: the group `rigor` (fclib_extended.c).
void rgReadExtended(rgH5* h5, rgFclibProblem* problem);
void rgWriteExtended(rgH5* h5, const rgContactProblem* problem);

// Matrices in files (fclib_matrix.c). Entries are in the file's row order. expected sizes may be
// RG_H5_ANY; the real ones come back.
void rgReadFclibMatrix(rgH5* h5, const char* group, int* rowCount, int* columnCount,
                       rgTriplets* entries);
// Write a matrix as compressed columns (nz = -1), which FCLIB's own tools read best; entries at one
// place add up.
void rgWriteFclibMatrix(rgH5* h5, const char* group, const rgTriplets* entries, int rowCount,
                        int columnCount);
// Report a failed library call that is not HDF5's.
void rgH5_Check(rgH5* h5, rgResult result, const char* what);
// Note the asymmetry of a matrix that was made symmetric, and warn when it is more than rounding.
void rgWarnAsymmetry(rgH5* h5, const char* group, double asymmetry);
