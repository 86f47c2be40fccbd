// Frictional contact problems in the HDF5 format of FCLIB. See docs/formats/fclib.md.
#pragma once
#include "rigor/contact.h"

/// How the matrix of a loaded problem is held.
typedef enum rgFclibMatrix {
    rg_fclibMatrixAuto,     ///< local: dense when more than half full, else sparse; global: as M, H
    rg_fclibMatrixDense,    ///< G as a dense matrix; global problems are condensed
    rg_fclibMatrixSparse,   ///< G as a sparse matrix; global problems are condensed
    rg_fclibMatrixVelocity, ///< M and H; local problems, which have none, are refused
} rgFclibMatrix;

/// Start from rgDefaultFclibDef(), then set members.
typedef struct rgFclibDef {
    rgFclibMatrix matrix;
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;       ///< set by the default function, checked by load
} rgFclibDef;

/// A problem that was read from a file, with everything that the file says about it.
typedef struct rgFclibProblem rgFclibProblem;

/// Texts of a file beside its numbers. Views into the problem.
typedef struct rgFclibInfo {
    const char* title;       ///< NULL when absent, as the next two
    const char* description; ///< of the problem
    const char* mathInfo;    ///< existence and uniqueness of solutions
    bool isGlobal;           ///< the file holds M, H, f, w, not W, q
    int contactCount;
    int velocityCount; ///< of a global problem, else 0
    double asymmetry;  ///< max |W - W'| / max |W| before W (or M) was made symmetric
} rgFclibInfo;

/// Impulses and velocities in the order of rgContactProblem's rows.
typedef struct rgFclibSolution {
    const double* lambda; ///< [N s], n
    const double* sigma;  ///< [m/s], n; NULL when unknown
} rgFclibSolution;

RG_API rgFclibDef rgDefaultFclibDef(void);

/// Read a file. The def may be NULL for defaults. Trusts libhdf5 with the bytes of the file, which
/// crashes or hangs on some damaged ones: read files of unknown origin in a process of their own,
/// as the program `rigor` does. Debian's libhdf5 is not for several threads at a time, hence
/// neither are the calls of this header.
RG_API rgResult rgLoadFclib(const char* path, const rgFclibDef* def, rgDiagnostics* diagnostics,
                            rgFclibProblem** problem);
RG_API void rgDestroyFclibProblem(rgFclibProblem* problem);

/// The problem in the convention of rigor: rows t1, t2, n of each contact, then the equality rows.
/// Valid as long as the owner.
RG_API const rgContactProblem* rgFclibProblem_Problem(const rgFclibProblem* problem);
RG_API rgFclibInfo rgFclibProblem_Info(const rgFclibProblem* problem);

/// Three numbers per contact that name it across time steps; NULL when the file has none.
RG_API const int* rgFclibProblem_Keys(const rgFclibProblem* problem);

/// The stored solution; lambda is NULL when the file has none.
RG_API rgFclibSolution rgFclibProblem_Solution(const rgFclibProblem* problem);
RG_API int rgFclibProblem_GuessCount(const rgFclibProblem* problem);
RG_API rgFclibSolution rgFclibProblem_Guess(const rgFclibProblem* problem, int index);

/// Content of a file. Zero-initialise, then set the members that there are.
typedef struct rgFclibContent {
    const rgContactProblem* problem;
    const char* title;        ///< NULL means none, as the next two
    const char* description;  ///< of the problem
    const char* mathInfo;     ///< existence and uniqueness of solutions
    const int* keys;          ///< three per Coulomb block, or NULL
    rgFclibSolution solution; ///< lambda NULL means none
    const rgFclibSolution* guesses;
    int guessCount;
} rgFclibContent;

/// Write a problem. Coulomb blocks of three rows and free rows become an FCLIB problem: global when
/// G is in velocity form (f = 0, w = g), else local, with the compliance added to W. Problems with
/// other blocks go to the group `rigor`, which only rigor reads. The file appears complete or not
/// at all.
RG_API rgResult rgSaveFclib(const char* path, const rgFclibContent* content,
                            rgDiagnostics* diagnostics);

/// Copy the file `source` to `path` with `solution` in the place of any solution it had, in the
/// row order and frames of the file. The copy appears complete or not at all.
RG_API rgResult rgSaveFclibSolution(const char* source, const char* path,
                                    const rgFclibSolution* solution, rgDiagnostics* diagnostics);
