// FCLIB files to contact problems: local (W, q, mu, and V, R, s) and global (M, H, f, w, mu, and G,
// b). Meaning of the fields: docs/formats/fclib.md.
#include "io/fclib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_FCLIB_COOKIE 0x46434c31u

rgFclibDef rgDefaultFclibDef(void) {
    return (rgFclibDef){.cookie = RG_FCLIB_COOKIE};
}

int rgFclibToRow(int fileRow, int contactRowCount) {
    static const int order[3] = {2, 0, 1};
    return fileRow < contactRowCount ? fileRow - fileRow % 3 + order[fileRow % 3] : fileRow;
}

int rgFclibFromRow(int row, int contactRowCount) {
    static const int order[3] = {1, 2, 0};
    return row < contactRowCount ? row - row % 3 + order[row % 3] : row;
}

// Entries that are added to a matrix with a shift, on rows and columns of contacts (permuted) or of
// other quantities.
typedef struct rgPlacement {
    int rowShift, columnShift;
    int contactRowCount; // rows (and columns) below this are permuted; 0: none
    bool permuteColumns;
    bool transpose; // before all else
} rgPlacement;

static void rgPlace(rgH5* h5, const rgTriplets* from, rgPlacement placement, rgTriplets* to) {
    for (int k = 0; h5->result == rg_ok && k < from->count; ++k) {
        const rgTriplet* entry = &from->entries[k];
        int row = placement.rowShift + (placement.transpose ? entry->column : entry->row);
        int column = placement.columnShift + (placement.transpose ? entry->row : entry->column);
        row = rgFclibToRow(row, placement.contactRowCount);
        if (placement.permuteColumns) {
            column = rgFclibToRow(column, placement.contactRowCount);
        }
        rgH5_Check(h5, rgTriplets_Add(to, row, column, entry->value), "a matrix");
    }
}

// Read a vector and put it at `values` in the order of rigor. Refuses numbers that are not finite.
static void rgReadRows(rgH5* h5, const char* name, int count, int contactRowCount, double* values) {
    double* read = rgH5_ReadNumbers(h5, name, count);
    rgH5_CheckFinite(h5, name, read, count);
    for (int i = 0; h5->result == rg_ok && i < count; ++i) {
        values[rgFclibToRow(i, contactRowCount)] = read[i];
    }
    rgRelease(&h5->allocator, read);
}

static void* rgMake(rgH5* h5, size_t count, size_t size) {
    void* memory = h5->result == rg_ok ? rgAllocate(&h5->allocator, count, size) : NULL;
    if (memory == NULL) {
        rgH5_Fail(h5, rg_errorMemory, "no memory for the problem");
    }
    return memory;
}

// One Coulomb block per contact, then one free block for all equality rows.
static void rgMakeBlocks(rgH5* h5, rgFclibProblem* problem, const char* muName, int contactCount,
                         int equalityCount) {
    problem->info.contactCount = contactCount;
    problem->equalityCount = equalityCount;
    problem->problem.rowCount = 3 * contactCount + equalityCount;
    problem->problem.blockCount = contactCount + (equalityCount > 0);
    problem->blocks = rgMake(h5, (size_t)problem->problem.blockCount, sizeof(rgBlock));
    double* mu = rgH5_ReadNumbers(h5, muName, contactCount);
    rgH5_CheckFinite(h5, muName, mu, contactCount);
    for (int i = 0; h5->result == rg_ok && i < contactCount; ++i) {
        if (mu[i] < 0) {
            rgH5_Fail(h5, rg_errorFormat, "%s[%d] is %g: friction cannot be negative", muName, i,
                      mu[i]);
        } else {
            problem->blocks[i] =
                (rgBlock){.kind = rg_blockCoulomb, .firstRow = 3 * i, .rowCount = 3, .mu = mu[i]};
        }
    }
    if (h5->result == rg_ok && equalityCount > 0) {
        problem->blocks[contactCount] = (rgBlock){
            .kind = rg_blockFree, .firstRow = 3 * contactCount, .rowCount = equalityCount};
    }
    rgRelease(&h5->allocator, mu);
}

static void rgCheckSpace(rgH5* h5, const char* group, int contactRowCount) {
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/spacedim", group);
    int dimension = rgH5_ReadInt(h5, name);
    if (h5->result == rg_ok && dimension == 2) {
        rgH5_Fail(h5, rg_errorUnsupported, "%s is 2: plane problems are not supported", name);
    } else if (h5->result == rg_ok && dimension != 3) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d; it must be 2 or 3", name, dimension);
    } else if (h5->result == rg_ok && contactRowCount % 3 != 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s: %d contact rows are not a multiple of 3", group,
                  contactRowCount);
    }
}

static void rgSymmetrise(rgH5* h5, const char* group, const rgTriplets* entries, int rowCount,
                         rgFclibProblem* problem, rgOwnedSparse* matrix) {
    if (h5->result == rg_ok) {
        double* asymmetry = &problem->info.asymmetry;
        rgH5_Check(h5, rgTriplets_CompressSymmetric(entries, rowCount, matrix, asymmetry), group);
        rgWarnAsymmetry(h5, group, *asymmetry);
    }
}

static void rgReadLocalMatrix(rgH5* h5, int contactRowCount, int equalityCount,
                              rgTriplets* entries) {
    rgTriplets V = {.allocator = h5->allocator};
    rgTriplets R = {.allocator = h5->allocator};
    int rows = contactRowCount;
    int columns = equalityCount;
    rgReadFclibMatrix(h5, "fclib_local/V", &rows, &columns, &V);
    rows = columns = equalityCount;
    rgReadFclibMatrix(h5, "fclib_local/R", &rows, &columns, &R);
    rgPlace(h5, &V,
            (rgPlacement){.columnShift = contactRowCount, .contactRowCount = contactRowCount},
            entries);
    rgPlace(h5, &V,
            (rgPlacement){.rowShift = contactRowCount,
                          .contactRowCount = contactRowCount,
                          .permuteColumns = true,
                          .transpose = true},
            entries);
    rgPlace(h5, &R, (rgPlacement){.rowShift = contactRowCount, .columnShift = contactRowCount},
            entries);
    rgTriplets_Free(&V);
    rgTriplets_Free(&R);
}

static int rgReadEqualityCount(rgH5* h5, const char* group, const char* other) {
    char name[RG_H5_PATH];
    if (!rgH5_Has(h5, group) && (other == NULL || !rgH5_Has(h5, other))) {
        return 0;
    }
    snprintf(name, sizeof(name), "%s/n", group);
    int count = rgH5_ReadInt(h5, name);
    if (count < 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d; a size cannot be negative", name, count);
    }
    return count;
}

static void rgReadLocal(rgH5* h5, rgFclibProblem* problem) {
    int m = RG_H5_ANY;
    int n = RG_H5_ANY;
    rgTriplets W = {.allocator = h5->allocator};
    rgTriplets entries = {.allocator = h5->allocator};
    rgReadFclibMatrix(h5, "fclib_local/W", &m, &n, &W);
    if (m != n) {
        rgH5_Fail(h5, rg_errorFormat, "fclib_local/W is %d x %d, not square", m, n);
    }
    rgCheckSpace(h5, "fclib_local", m);
    int equalityCount = rgReadEqualityCount(h5, "fclib_local/R", "fclib_local/V");
    rgMakeBlocks(h5, problem, "fclib_local/vectors/mu", m / 3, equalityCount);
    rgPlace(h5, &W, (rgPlacement){.contactRowCount = m, .permuteColumns = true}, &entries);
    int rowCount = problem->problem.rowCount;
    problem->freeVelocity = rgMake(h5, (size_t)rowCount, sizeof(double));
    rgReadRows(h5, "fclib_local/vectors/q", m, m, problem->freeVelocity);
    if (h5->result == rg_ok && equalityCount > 0) {
        rgReadLocalMatrix(h5, m, equalityCount, &entries);
        rgReadRows(h5, "fclib_local/vectors/s", equalityCount, 0, problem->freeVelocity + m);
    }
    rgSymmetrise(h5, "fclib_local/W", &entries, rowCount, problem, &problem->sparse);
    rgTriplets_Free(&W);
    rgTriplets_Free(&entries);
}

// J = (H G)', with the rows of H in the order of rigor.
static void rgReadJacobian(rgH5* h5, rgFclibProblem* problem, int nv, int m, int equalityCount) {
    rgTriplets H = {.allocator = h5->allocator};
    rgTriplets G = {.allocator = h5->allocator};
    rgTriplets entries = {.allocator = h5->allocator};
    rgReadFclibMatrix(h5, "fclib_global/H", &nv, &m, &H);
    rgPlace(h5, &H, (rgPlacement){.contactRowCount = m, .transpose = true}, &entries);
    if (equalityCount > 0) {
        rgReadFclibMatrix(h5, "fclib_global/G", &nv, &equalityCount, &G);
        rgPlace(h5, &G, (rgPlacement){.rowShift = m, .transpose = true}, &entries);
    }
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgTriplets_Compress(&entries, m + equalityCount, nv, &problem->jacobian),
                   "fclib_global/H");
    }
    rgTriplets_Free(&H);
    rgTriplets_Free(&G);
    rgTriplets_Free(&entries);
}

// g = J M^-1 f + (w b), because M v = J' lambda + f and sigma = J v + (w b).
static void rgAddForces(rgH5* h5, rgFclibProblem* problem) {
    rgSparse mass = rgOwnedSparse_View(&problem->mass);
    rgMassFactor* factor = NULL;
    int nv = mass.rowCount;
    double* v = rgMake(h5, (size_t)nv, sizeof(double));
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgCreateMassFactor(&mass, &h5->allocator, &factor), "fclib_global/M");
    }
    if (h5->result == rg_ok) {
        memcpy(v, problem->force, (size_t)nv * sizeof(double));
        rgMassFactor_Solve(factor, v);
        const rgOwnedSparse* J = &problem->jacobian;
        for (int i = 0; i < J->rowCount; ++i) {
            for (int k = J->rowStart[i]; k < J->rowStart[i + 1]; ++k) {
                problem->freeVelocity[i] += J->value[k] * v[J->column[k]];
            }
        }
        rgH5_CheckFinite(h5, "H' M^-1 f + w", problem->freeVelocity, J->rowCount);
    }
    rgDestroyMassFactor(factor);
    rgRelease(&h5->allocator, v);
}

static void rgReadGlobal(rgH5* h5, rgFclibProblem* problem) {
    int nv = RG_H5_ANY;
    int n = RG_H5_ANY;
    rgTriplets M = {.allocator = h5->allocator};
    rgReadFclibMatrix(h5, "fclib_global/M", &nv, &n, &M);
    if (nv != n) {
        rgH5_Fail(h5, rg_errorFormat, "fclib_global/M is %d x %d, not square", nv, n);
    }
    rgSymmetrise(h5, "fclib_global/M", &M, nv, problem, &problem->mass);
    rgTriplets_Free(&M);
    int m = rgH5_ReadInt(h5, "fclib_global/H/n");
    if (m < 0) {
        rgH5_Fail(h5, rg_errorFormat, "fclib_global/H/n is %d; a size cannot be negative", m);
    }
    int equalityCount = rgReadEqualityCount(h5, "fclib_global/G", NULL);
    rgCheckSpace(h5, "fclib_global", m);
    rgReadJacobian(h5, problem, nv, m, equalityCount);
    rgMakeBlocks(h5, problem, "fclib_global/vectors/mu", m / 3, equalityCount);
    problem->info.isGlobal = true;
    problem->info.velocityCount = nv;
    problem->freeVelocity = rgMake(h5, (size_t)problem->problem.rowCount, sizeof(double));
    problem->force = rgMake(h5, (size_t)RG_MAX(nv, 0), sizeof(double));
    rgReadRows(h5, "fclib_global/vectors/f", nv, 0, problem->force);
    rgReadRows(h5, "fclib_global/vectors/w", m, m, problem->freeVelocity);
    if (h5->result == rg_ok && equalityCount > 0) {
        rgReadRows(h5, "fclib_global/vectors/b", equalityCount, 0, problem->freeVelocity + m);
    }
    if (h5->result == rg_ok) {
        rgAddForces(h5, problem);
    }
}

// A stored vector of contact rows, or NULL with a warning when it cannot be used.
static double* rgReadStored(rgH5* h5, const char* group, const char* field, int count) {
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/%s", group, field);
    int64_t stored = rgH5_Count(h5, name);
    if (stored < 0) {
        return NULL;
    }
    if (stored != count) {
        rgH5_Warn(h5, "%s has %lld numbers where %d are needed; it is ignored", name,
                  (long long)stored, count);
        return NULL;
    }
    double* values = rgH5_ReadNumbers(h5, name, count);
    for (int i = 0; values != NULL && i < count; ++i) {
        if (!isfinite(values[i])) {
            rgH5_Warn(h5, "%s[%d] is not finite; it is ignored", name, i);
            rgRelease(&h5->allocator, values);
            values = NULL;
        }
    }
    return values;
}

// Impulses r and l, velocities u. Equality rows have velocity zero.
static void rgReadImpulses(rgH5* h5, const rgFclibProblem* problem, const char* group,
                           rgFclibImpulses* impulses) {
    int equalityCount = problem->equalityCount;
    int contactRows = problem->problem.rowCount - equalityCount;
    int permuted = problem->isExtended ? 0 : contactRows;
    double* r = rgReadStored(h5, group, "r", contactRows);
    double* u = rgReadStored(h5, group, "u", contactRows);
    double* l = equalityCount > 0 ? rgReadStored(h5, group, "l", equalityCount) : NULL;
    if (h5->result == rg_ok && r != NULL) {
        impulses->lambda = rgMake(h5, (size_t)problem->problem.rowCount, sizeof(double));
        impulses->sigma =
            u != NULL ? rgMake(h5, (size_t)problem->problem.rowCount, sizeof(double)) : NULL;
    }
    for (int i = 0; h5->result == rg_ok && r != NULL && i < contactRows; ++i) {
        int row = rgFclibToRow(i, permuted);
        impulses->lambda[row] = r[i];
        if (u != NULL) {
            impulses->sigma[row] = u[i];
        }
    }
    if (h5->result == rg_ok && r != NULL && l != NULL) {
        memcpy(impulses->lambda + contactRows, l, (size_t)equalityCount * sizeof(double));
    }
    rgRelease(&h5->allocator, r);
    rgRelease(&h5->allocator, u);
    rgRelease(&h5->allocator, l);
}

static void rgReadGuesses(rgH5* h5, rgFclibProblem* problem) {
    if (!rgH5_Has(h5, "guesses/number_of_guesses")) {
        return;
    }
    int count = rgH5_ReadInt(h5, "guesses/number_of_guesses");
    if (count < 0 || count > 1 << 20) {
        rgH5_Fail(h5, rg_errorFormat, "guesses/number_of_guesses is %d", count);
    }
    problem->guesses = rgMake(h5, (size_t)RG_MAX(count, 0), sizeof(rgFclibImpulses));
    for (int i = 0; h5->result == rg_ok && i < count; ++i) {
        char group[32];
        snprintf(group, sizeof(group), "guesses/%d", i + 1);
        rgFclibImpulses guess = {0};
        rgReadImpulses(h5, problem, group, &guess);
        if (guess.lambda != NULL) {
            problem->guesses[problem->guessCount++] = guess;
        }
    }
}

static void rgReadKeys(rgH5* h5, rgFclibProblem* problem) {
    if (rgH5_Has(h5, "contacts/keys")) {
        problem->keys = rgH5_ReadInts(h5, "contacts/keys", 3 * (int64_t)problem->info.contactCount);
    }
}

static void rgReadInfo(rgH5* h5, rgFclibProblem* problem, const char* group) {
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/info/title", group);
    problem->title = rgH5_ReadText(h5, name);
    snprintf(name, sizeof(name), "%s/info/description", group);
    problem->description = rgH5_ReadText(h5, name);
    snprintf(name, sizeof(name), "%s/info/math_info", group);
    problem->mathInfo = rgH5_ReadText(h5, name);
    problem->info.title = problem->title;
    problem->info.description = problem->description;
    problem->info.mathInfo = problem->mathInfo;
}

static void rgReadProblem(rgH5* h5, rgFclibProblem* problem) {
    const char* group = "fclib_local";
    if (rgH5_Has(h5, "rigor")) {
        group = "rigor";
        problem->isExtended = true;
        rgReadExtended(h5, problem);
    } else if (rgH5_Has(h5, "fclib_global")) {
        group = "fclib_global";
        rgReadGlobal(h5, problem);
    } else if (rgH5_Has(h5, "fclib_local")) {
        rgReadLocal(h5, problem);
    } else {
        rgH5_Fail(h5, rg_errorFormat, "contains neither fclib_local nor fclib_global");
    }
    rgReadInfo(h5, problem, group);
    rgReadKeys(h5, problem);
    rgReadImpulses(h5, problem, "solution", &problem->solution);
    rgReadGuesses(h5, problem);
}

// J M^-1 J' in the place of M and J.
static void rgCondense(rgH5* h5, rgFclibProblem* problem) {
    rgSparse mass = rgOwnedSparse_View(&problem->mass);
    rgSparse jacobian = rgOwnedSparse_View(&problem->jacobian);
    rgTriplets entries = {.allocator = h5->allocator};
    rgMassFactor* factor = NULL;
    rgH5_Check(h5, rgCreateMassFactor(&mass, &h5->allocator, &factor), "M");
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgMassFactor_Condense(factor, &jacobian, &entries), "H' M^-1 H");
    }
    if (h5->result == rg_ok) {
        rgH5_Check(
            h5,
            rgTriplets_Compress(&entries, jacobian.rowCount, jacobian.rowCount, &problem->sparse),
            "H' M^-1 H");
    }
    rgDestroyMassFactor(factor);
    rgTriplets_Free(&entries);
}

// Refuse a G whose entries overflow: those of H' M^-1 H, or means of mirrored entries.
static void rgCheckOverflow(rgH5* h5, const rgOwnedSparse* G) {
    for (int k = 0; h5->result == rg_ok && k < G->rowStart[G->rowCount]; ++k) {
        if (!isfinite(G->value[k])) {
            rgH5_Fail(h5, rg_errorFormat, "an entry of column %d of G overflows: it is %g",
                      G->column[k], G->value[k]);
        }
    }
}

static void rgMakeDense(rgH5* h5, rgFclibProblem* problem) {
    const rgOwnedSparse* G = &problem->sparse;
    size_t n = (size_t)G->rowCount;
    problem->dense = rgMake(h5, n * n, sizeof(double));
    for (int i = 0; h5->result == rg_ok && i < G->rowCount; ++i) {
        for (int k = G->rowStart[i]; k < G->rowStart[i + 1]; ++k) {
            problem->dense[(size_t)i * n + (size_t)G->column[k]] = G->value[k];
        }
    }
}

// Choose the form of G, and let the public problem see the arrays.
static void rgFinish(rgH5* h5, rgFclibProblem* problem, rgFclibMatrix wanted) {
    bool velocity = problem->mass.rowStart != NULL;
    if (h5->result == rg_ok && wanted == rg_fclibMatrixVelocity && !velocity) {
        rgH5_Fail(h5, rg_errorUnsupported, "is a local problem: it has no M and H");
    }
    bool condense = wanted == rg_fclibMatrixDense || wanted == rg_fclibMatrixSparse;
    if (h5->result == rg_ok && velocity && condense) {
        rgCondense(h5, problem);
        velocity = false;
    }
    if (h5->result == rg_ok && !velocity) {
        rgCheckOverflow(h5, &problem->sparse);
    }
    rgDelassus* delassus = &problem->problem.delassus;
    double n = problem->problem.rowCount;
    bool dense = wanted == rg_fclibMatrixDense;
    if (h5->result == rg_ok && wanted == rg_fclibMatrixAuto && !velocity) {
        dense = problem->sparse.rowStart[problem->sparse.rowCount] > 0.5 * n * n;
    }
    if (h5->result == rg_ok && dense) {
        rgMakeDense(h5, problem);
        rgOwnedSparse_Free(&h5->allocator, &problem->sparse);
    }
    *delassus = (rgDelassus){.kind = velocity ? rg_delassusVelocity
                                     : dense  ? rg_delassusDense
                                              : rg_delassusSparse,
                             .matrix = problem->dense};
    if (velocity) {
        delassus->mass = rgOwnedSparse_View(&problem->mass);
        delassus->jacobian = rgOwnedSparse_View(&problem->jacobian);
    } else if (!dense) {
        delassus->sparse = rgOwnedSparse_View(&problem->sparse);
    }
    problem->problem.blocks = problem->blocks;
    problem->problem.freeVelocity = problem->freeVelocity;
    problem->problem.compliance = problem->compliance;
}

rgResult rgLoadFclib(const char* path, const rgFclibDef* def, rgDiagnostics* diagnostics,
                     rgFclibProblem** problem) {
    rgFclibDef used = def != NULL ? *def : rgDefaultFclibDef();
    if (path == NULL || problem == NULL || used.cookie != RG_FCLIB_COOKIE) {
        return rg_errorArgument;
    }
    rgFclibProblem* made = rgAllocate(&used.allocator, 1, sizeof(rgFclibProblem));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(&used.allocator);
    rgH5 h5;
    rgH5_OpenRead(&h5, path, &made->allocator, diagnostics);
    rgReadProblem(&h5, made);
    rgFinish(&h5, made, used.matrix);
    rgResult result = rgH5_Close(&h5);
    if (result != rg_ok) {
        rgDestroyFclibProblem(made);
        return result;
    }
    *problem = made;
    return rg_ok;
}

void rgDestroyFclibProblem(rgFclibProblem* problem) {
    if (problem == NULL) {
        return;
    }
    rgAllocator allocator = problem->allocator;
    rgOwnedSparse_Free(&allocator, &problem->sparse);
    rgOwnedSparse_Free(&allocator, &problem->mass);
    rgOwnedSparse_Free(&allocator, &problem->jacobian);
    for (int i = 0; i < problem->guessCount; ++i) {
        rgRelease(&allocator, problem->guesses[i].lambda);
        rgRelease(&allocator, problem->guesses[i].sigma);
    }
    void* const owned[] = {problem->blocks,          problem->dense,    problem->freeVelocity,
                           problem->compliance,      problem->force,    problem->title,
                           problem->description,     problem->mathInfo, problem->keys,
                           problem->solution.lambda, problem->guesses,  problem->solution.sigma};
    for (int i = 0; i < RG_COUNT(owned); ++i) {
        rgRelease(&allocator, owned[i]);
    }
    rgRelease(&allocator, problem);
}

const rgContactProblem* rgFclibProblem_Problem(const rgFclibProblem* problem) {
    return problem != NULL ? &problem->problem : NULL;
}

rgFclibInfo rgFclibProblem_Info(const rgFclibProblem* problem) {
    return problem != NULL ? problem->info : (rgFclibInfo){0};
}

const int* rgFclibProblem_Keys(const rgFclibProblem* problem) {
    return problem != NULL ? problem->keys : NULL;
}

static rgFclibSolution rgFclibImpulses_View(const rgFclibImpulses* impulses) {
    return (rgFclibSolution){.lambda = impulses->lambda, .sigma = impulses->sigma};
}

rgFclibSolution rgFclibProblem_Solution(const rgFclibProblem* problem) {
    return problem != NULL ? rgFclibImpulses_View(&problem->solution) : (rgFclibSolution){0};
}

int rgFclibProblem_GuessCount(const rgFclibProblem* problem) {
    return problem != NULL ? problem->guessCount : 0;
}

rgFclibSolution rgFclibProblem_Guess(const rgFclibProblem* problem, int index) {
    if (problem == NULL) {
        return (rgFclibSolution){0};
    }
    if (index < 0 || index >= problem->guessCount) {
        return (rgFclibSolution){0};
    }
    return rgFclibImpulses_View(&problem->guesses[index]);
}
