#define _XOPEN_SOURCE 700 // lstat
// Contact problems, solutions and guesses to FCLIB files. Everything is written to a temporary file
// beside the target, which is renamed when it is complete.
#include "base/system.h"
#include "io/fclib.h"
#include "io/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A file in the making.
typedef struct rgDraft {
    char* temporary;
    const char* path;
    rgAllocator allocator;
} rgDraft;

static rgResult rgDraft_Begin(rgDraft* draft, const char* path, rgDiagnostics* diagnostics) {
    *draft = (rgDraft){.path = path, .allocator = rgResolveAllocator(NULL)};
    if (!rgIsPlaceForFile(path, diagnostics)) {
        return rg_errorFile;
    }
    size_t bytes = strlen(path) + 32;
    draft->temporary = rgAllocate(&draft->allocator, bytes, 1);
    if (draft->temporary == NULL) {
        return rg_errorMemory;
    }
    snprintf(draft->temporary, bytes, "%s.%ld.part", path, (long)getpid());
    return rg_ok;
}

static rgResult rgDraft_End(rgDraft* draft, rgResult result, rgDiagnostics* diagnostics) {
    if (result == rg_ok && rename(draft->temporary, draft->path) != 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, draft->path, 0, "cannot be written: %s",
                          strerror(errno));
        result = rg_errorFile;
    }
    if (result != rg_ok && draft->temporary != NULL) {
        remove(draft->temporary);
    }
    rgRelease(&draft->allocator, draft->temporary);
    return result;
}

// Map from the rows of a problem to those of a file.
typedef struct rgRowMap {
    int* fileRow; // contacts first, n t1 t2; then the equality rows
    int contactCount;
    int equalityCount;
    bool isExtended; // rows that FCLIB has no place for: everything stays where it is
} rgRowMap;

static bool rgBlocksCover(const rgContactProblem* problem) {
    int row = 0;
    for (int i = 0; i < problem->blockCount; ++i) {
        const rgBlock* block = &problem->blocks[i];
        if (block->firstRow != row || block->rowCount < 0 ||
            block->rowCount > problem->rowCount - row) {
            return false;
        }
        row += block->rowCount;
    }
    return row == problem->rowCount;
}

static bool rgIsFclibBlock(const rgBlock* block) {
    return block->kind == rg_blockFree || (block->kind == rg_blockCoulomb && block->rowCount == 3);
}

static void rgRowMap_Fill(rgRowMap* map, const rgContactProblem* problem) {
    static const int order[3] = {1, 2, 0};
    int contact = 0;
    int equality = 3 * map->contactCount;
    for (int i = 0; i < problem->blockCount; ++i) {
        const rgBlock* block = &problem->blocks[i];
        for (int k = 0; k < block->rowCount; ++k) {
            int row = block->firstRow + k;
            if (map->isExtended) {
                map->fileRow[row] = row;
            } else if (block->kind == rg_blockCoulomb) {
                map->fileRow[row] = 3 * contact + order[k];
            } else {
                map->fileRow[row] = equality++;
            }
        }
        contact += block->kind == rg_blockCoulomb;
    }
}

static rgResult rgRowMap_Make(rgRowMap* map, const rgContactProblem* problem) {
    *map = (rgRowMap){0};
    for (int i = 0; i < problem->blockCount; ++i) {
        const rgBlock* block = &problem->blocks[i];
        map->isExtended = map->isExtended || !rgIsFclibBlock(block);
        map->contactCount += block->kind == rg_blockCoulomb;
        map->equalityCount += block->kind == rg_blockFree ? block->rowCount : 0;
    }
    map->fileRow = rgAllocate(NULL, (size_t)problem->rowCount, sizeof(int));
    if (map->fileRow == NULL) {
        return rg_errorMemory;
    }
    rgRowMap_Fill(map, problem);
    return rg_ok;
}

// Vectors: those of the contacts and those of the equality rows go to two datasets.
static void rgWriteRows(rgH5* h5, const rgRowMap* map, int rowCount, const double* values,
                        const char* contactName, const char* equalityName) {
    double* sorted = rgAllocate(&h5->allocator, (size_t)rowCount, sizeof(double));
    rgH5_Check(h5, sorted != NULL ? rg_ok : rg_errorMemory, contactName);
    for (int i = 0; h5->result == rg_ok && i < rowCount; ++i) {
        sorted[map->fileRow[i]] = values[i];
    }
    int contactRows = map->isExtended ? rowCount : 3 * map->contactCount;
    rgH5_WriteNumbers(h5, contactName, sorted, contactRows);
    if (!map->isExtended && map->equalityCount > 0 && equalityName != NULL) {
        rgH5_WriteNumbers(h5, equalityName, sorted != NULL ? sorted + contactRows : NULL,
                          map->equalityCount);
    }
    rgRelease(&h5->allocator, sorted);
}

static void rgWriteFriction(rgH5* h5, const char* name, const rgContactProblem* problem,
                            int contactCount) {
    double* mu = rgAllocate(&h5->allocator, (size_t)contactCount, sizeof(double));
    rgH5_Check(h5, mu != NULL ? rg_ok : rg_errorMemory, name);
    int used = 0;
    for (int i = 0; h5->result == rg_ok && i < problem->blockCount; ++i) {
        if (problem->blocks[i].kind == rg_blockCoulomb) {
            mu[used++] = problem->blocks[i].mu;
        }
    }
    rgH5_WriteNumbers(h5, name, mu, contactCount);
    rgRelease(&h5->allocator, mu);
}

// G + R as entries.
static rgResult rgCollectDense(const rgContactProblem* problem, rgTriplets* entries) {
    rgResult result = rg_ok;
    int n = problem->rowCount;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; result == rg_ok && j < n; ++j) {
            double value = problem->delassus.matrix[(size_t)i * (size_t)n + (size_t)j];
            if (value != 0) {
                result = rgTriplets_Add(entries, i, j, value);
            }
        }
    }
    return result;
}

static rgResult rgCollectSparse(const rgSparse* matrix, rgTriplets* entries) {
    rgResult result = rg_ok;
    for (int i = 0; i < matrix->rowCount; ++i) {
        for (int k = matrix->rowStart[i]; result == rg_ok && k < matrix->rowStart[i + 1]; ++k) {
            result = rgTriplets_Add(entries, i, matrix->column[k], matrix->value[k]);
        }
    }
    return result;
}

static rgResult rgCollectVelocity(const rgContactProblem* problem, rgTriplets* entries) {
    rgMassFactor* factor = NULL;
    rgResult result = rgCreateMassFactor(&problem->delassus.mass, &entries->allocator, &factor);
    if (result == rg_ok) {
        result = rgMassFactor_Condense(factor, &problem->delassus.jacobian, entries);
    }
    rgDestroyMassFactor(factor);
    return result;
}

static rgResult rgCollect(const rgContactProblem* problem, rgTriplets* entries) {
    rgResult result = problem->delassus.kind == rg_delassusDense ? rgCollectDense(problem, entries)
                      : problem->delassus.kind == rg_delassusSparse
                          ? rgCollectSparse(&problem->delassus.sparse, entries)
                          : rgCollectVelocity(problem, entries);
    for (int i = 0; problem->compliance != NULL && result == rg_ok && i < problem->rowCount; ++i) {
        result = rgTriplets_Add(entries, i, i, problem->compliance[i]);
    }
    return result;
}

// Deal the entries of G + R out to W, V and R.
static rgResult rgSplitLocal(const rgTriplets* entries, const rgRowMap* map, rgTriplets parts[3]) {
    int contactRows = 3 * map->contactCount;
    rgResult result = rg_ok;
    for (int k = 0; result == rg_ok && k < entries->count; ++k) {
        int row = map->fileRow[entries->entries[k].row];
        int column = map->fileRow[entries->entries[k].column];
        double value = entries->entries[k].value;
        if (row < contactRows && column < contactRows) {
            result = rgTriplets_Add(&parts[0], row, column, value);
        } else if (row < contactRows) {
            result = rgTriplets_Add(&parts[1], row, column - contactRows, value);
        } else if (column >= contactRows) {
            result = rgTriplets_Add(&parts[2], row - contactRows, column - contactRows, value);
        }
    }
    return result;
}

static void rgWriteLocal(rgH5* h5, const rgContactProblem* problem, const rgRowMap* map) {
    rgTriplets entries = {.allocator = h5->allocator};
    rgTriplets parts[3] = {
        {.allocator = h5->allocator}, {.allocator = h5->allocator}, {.allocator = h5->allocator}};
    int contactRows = 3 * map->contactCount;
    rgH5_Check(h5, rgCollect(problem, &entries), "the Delassus matrix");
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgSplitLocal(&entries, map, parts), "the Delassus matrix");
    }
    rgH5_MakeGroup(h5, "fclib_local");
    rgH5_WriteInt(h5, "fclib_local/spacedim", 3);
    rgWriteFclibMatrix(h5, "fclib_local/W", &parts[0], contactRows, contactRows);
    if (map->equalityCount > 0) {
        rgWriteFclibMatrix(h5, "fclib_local/V", &parts[1], contactRows, map->equalityCount);
        rgWriteFclibMatrix(h5, "fclib_local/R", &parts[2], map->equalityCount, map->equalityCount);
    }
    rgH5_MakeGroup(h5, "fclib_local/vectors");
    rgWriteRows(h5, map, problem->rowCount, problem->freeVelocity, "fclib_local/vectors/q",
                "fclib_local/vectors/s");
    rgWriteFriction(h5, "fclib_local/vectors/mu", problem, map->contactCount);
    rgTriplets_Free(&entries);
    for (int i = 0; i < 3; ++i) {
        rgTriplets_Free(&parts[i]);
    }
}

// H and G hold the rows of J as columns.
static rgResult rgSplitJacobian(const rgSparse* jacobian, const rgRowMap* map,
                                rgTriplets parts[2]) {
    int contactRows = 3 * map->contactCount;
    rgResult result = rg_ok;
    for (int i = 0; i < jacobian->rowCount; ++i) {
        int column = map->fileRow[i];
        bool equality = column >= contactRows;
        for (int k = jacobian->rowStart[i]; result == rg_ok && k < jacobian->rowStart[i + 1]; ++k) {
            result = rgTriplets_Add(&parts[equality], jacobian->column[k],
                                    equality ? column - contactRows : column, jacobian->value[k]);
        }
    }
    return result;
}

static void rgWriteGlobal(rgH5* h5, const rgContactProblem* problem, const rgRowMap* map) {
    int nv = problem->delassus.mass.rowCount;
    rgTriplets mass = {.allocator = h5->allocator};
    rgTriplets parts[2] = {{.allocator = h5->allocator}, {.allocator = h5->allocator}};
    double* f = rgAllocate(&h5->allocator, (size_t)nv, sizeof(double));
    rgH5_Check(h5, f != NULL ? rg_ok : rg_errorMemory, "f");
    rgH5_Check(h5, rgCollectSparse(&problem->delassus.mass, &mass), "M");
    rgH5_Check(h5, rgSplitJacobian(&problem->delassus.jacobian, map, parts), "H");
    rgH5_MakeGroup(h5, "fclib_global");
    rgH5_WriteInt(h5, "fclib_global/spacedim", 3);
    rgWriteFclibMatrix(h5, "fclib_global/M", &mass, nv, nv);
    rgWriteFclibMatrix(h5, "fclib_global/H", &parts[0], nv, 3 * map->contactCount);
    if (map->equalityCount > 0) {
        rgWriteFclibMatrix(h5, "fclib_global/G", &parts[1], nv, map->equalityCount);
    }
    rgH5_MakeGroup(h5, "fclib_global/vectors");
    rgH5_WriteNumbers(h5, "fclib_global/vectors/f", f, nv);
    rgWriteRows(h5, map, problem->rowCount, problem->freeVelocity, "fclib_global/vectors/w",
                "fclib_global/vectors/b");
    rgWriteFriction(h5, "fclib_global/vectors/mu", problem, map->contactCount);
    rgRelease(&h5->allocator, f);
    rgTriplets_Free(&mass);
    rgTriplets_Free(&parts[0]);
    rgTriplets_Free(&parts[1]);
}

// Problem and unknowns that a solution group is written for.
typedef struct rgSolutionTarget {
    const rgContactProblem* problem;
    const rgRowMap* map;
    const double* force; // f [N s]; NULL means zero
    bool isGlobal;       // FCLIB wants the velocities v of a global problem too
} rgSolutionTarget;

// v = M^-1 (f + J' lambda)
static void rgWriteVelocities(rgH5* h5, const char* name, const rgSolutionTarget* target,
                              const double* lambda) {
    const rgSparse* J = &target->problem->delassus.jacobian;
    int nv = target->problem->delassus.mass.rowCount;
    rgMassFactor* factor = NULL;
    double* v = rgAllocate(&h5->allocator, (size_t)nv, sizeof(double));
    rgH5_Check(h5, v != NULL ? rg_ok : rg_errorMemory, name);
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgCreateMassFactor(&target->problem->delassus.mass, &h5->allocator, &factor),
                   "M");
    }
    if (h5->result == rg_ok) {
        if (target->force != NULL) {
            memcpy(v, target->force, (size_t)nv * sizeof(double));
        }
        for (int i = 0; i < J->rowCount; ++i) {
            for (int k = J->rowStart[i]; k < J->rowStart[i + 1]; ++k) {
                v[J->column[k]] += J->value[k] * lambda[i];
            }
        }
        rgMassFactor_Solve(factor, v);
        rgH5_WriteNumbers(h5, name, v, nv);
    }
    rgDestroyMassFactor(factor);
    rgRelease(&h5->allocator, v);
}

static void rgWriteImpulses(rgH5* h5, const char* group, const rgSolutionTarget* target,
                            const rgFclibSolution* solution) {
    char names[4][RG_H5_PATH];
    static const char* const fields[] = {"r", "l", "u", "v"};
    for (int i = 0; i < 4; ++i) {
        snprintf(names[i], RG_H5_PATH, "%s/%s", group, fields[i]);
    }
    rgH5_MakeGroup(h5, group);
    int rowCount = target->problem->rowCount;
    rgWriteRows(h5, target->map, rowCount, solution->lambda, names[0], names[1]);
    if (solution->sigma != NULL) {
        rgWriteRows(h5, target->map, rowCount, solution->sigma, names[2], NULL);
    }
    if (target->isGlobal) {
        rgWriteVelocities(h5, names[3], target, solution->lambda);
    }
}

static void rgWriteGuesses(rgH5* h5, const rgFclibContent* content,
                           const rgSolutionTarget* target) {
    if (content->guessCount == 0) {
        return;
    }
    rgH5_MakeGroup(h5, "guesses");
    rgH5_WriteInt(h5, "guesses/number_of_guesses", content->guessCount);
    for (int i = 0; i < content->guessCount; ++i) {
        char group[32];
        snprintf(group, sizeof(group), "guesses/%d", i + 1);
        rgWriteImpulses(h5, group, target, &content->guesses[i]);
    }
}

static void rgWriteInfo(rgH5* h5, const char* group, const rgFclibContent* content) {
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/info", group);
    rgH5_MakeGroup(h5, name);
    snprintf(name, sizeof(name), "%s/info/title", group);
    rgH5_WriteText(h5, name, content->title);
    snprintf(name, sizeof(name), "%s/info/description", group);
    rgH5_WriteText(h5, name, content->description);
    snprintf(name, sizeof(name), "%s/info/math_info", group);
    rgH5_WriteText(h5, name, content->mathInfo);
}

static void rgWriteContent(rgH5* h5, const rgFclibContent* content, const rgRowMap* map) {
    const rgContactProblem* problem = content->problem;
    bool velocity = problem->delassus.kind == rg_delassusVelocity;
    rgSolutionTarget target = {.problem = problem, .map = map};
    if (map->isExtended) {
        rgWriteExtended(h5, problem);
        rgWriteInfo(h5, "rigor", content);
    } else if (velocity && problem->compliance == NULL) {
        target.isGlobal = true;
        rgWriteGlobal(h5, problem, map);
        rgWriteInfo(h5, "fclib_global", content);
    } else {
        rgWriteLocal(h5, problem, map);
        rgWriteInfo(h5, "fclib_local", content);
    }
    if (content->keys != NULL) {
        rgH5_MakeGroup(h5, "contacts");
        rgH5_WriteIntRows(h5, "contacts/keys", content->keys, map->contactCount, 3);
    }
    if (content->solution.lambda != NULL) {
        rgWriteImpulses(h5, "solution", &target, &content->solution);
    }
    rgWriteGuesses(h5, content, &target);
}

static bool rgCanWrite(const rgFclibContent* content) {
    if (content == NULL || content->problem == NULL || content->guessCount < 0 ||
        (content->guessCount > 0 && content->guesses == NULL)) {
        return false;
    }
    for (int i = 0; i < content->guessCount; ++i) {
        if (content->guesses[i].lambda == NULL) {
            return false;
        }
    }
    return rgBlocksCover(content->problem);
}

rgResult rgSaveFclib(const char* path, const rgFclibContent* content, rgDiagnostics* diagnostics) {
    if (path == NULL || !rgCanWrite(content)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "not written: the blocks of the problem do not cover its rows, or a "
                          "guess has no impulses");
        return rg_errorArgument;
    }
    rgRowMap map = {0};
    rgDraft draft = {0};
    rgResult result = rgRowMap_Make(&map, content->problem);
    if (result == rg_ok) {
        result = rgDraft_Begin(&draft, path, diagnostics);
    }
    if (result == rg_ok) {
        rgH5 h5;
        rgH5_Create(&h5, draft.temporary, path, diagnostics);
        rgWriteContent(&h5, content, &map);
        result = rgDraft_End(&draft, rgH5_Close(&h5), diagnostics);
    }
    rgRelease(NULL, map.fileRow);
    return result;
}

static rgResult rgCopyBytes(FILE* from, FILE* to) {
    char buffer[1 << 14];
    size_t count;
    while ((count = fread(buffer, 1, sizeof(buffer), from)) > 0) {
        if (fwrite(buffer, 1, count, to) != count) {
            return rg_errorFile;
        }
    }
    return ferror(from) != 0 ? rg_errorFile : rg_ok;
}

static rgResult rgCopyFile(const char* source, const rgDraft* draft, rgDiagnostics* diagnostics) {
    FILE* from = fopen(source, "rb");
    FILE* to = from != NULL ? fopen(draft->temporary, "wb") : NULL;
    rgResult result = from != NULL && to != NULL ? rgCopyBytes(from, to) : rg_errorFile;
    if (to != NULL && fclose(to) != 0) {
        result = rg_errorFile;
    }
    if (result != rg_ok) {
        rgDiagnostics_Add(diagnostics, rg_severityError, from == NULL ? source : draft->path, 0,
                          "cannot be %s: %s", from == NULL ? "read" : "written", strerror(errno));
    }
    if (from != NULL) {
        fclose(from);
    }
    return result;
}

// The solution group of a copy, in the order of the loaded file.
static rgResult rgReplaceSolution(const rgDraft* draft, const rgFclibProblem* problem,
                                  const rgFclibSolution* solution, rgDiagnostics* diagnostics) {
    rgRowMap map = {0};
    rgResult result = rgRowMap_Make(&map, &problem->problem);
    if (result != rg_ok) {
        return result;
    }
    if (problem->isExtended) {
        map.isExtended = true;
        rgRowMap_Fill(&map, &problem->problem);
    }
    rgSolutionTarget target = {.problem = &problem->problem,
                               .map = &map,
                               .force = problem->force,
                               .isGlobal = problem->info.isGlobal};
    rgH5 h5;
    rgH5_OpenChange(&h5, draft->temporary, draft->path, diagnostics);
    rgH5_Remove(&h5, "solution");
    rgWriteImpulses(&h5, "solution", &target, solution);
    rgRelease(NULL, map.fileRow);
    return rgH5_Close(&h5);
}

rgResult rgSaveFclibSolution(const char* source, const char* path, const rgFclibSolution* solution,
                             rgDiagnostics* diagnostics) {
    if (source == NULL || path == NULL || solution == NULL || solution->lambda == NULL) {
        return rg_errorArgument;
    }
    rgFclibProblem* problem = NULL;
    rgDraft draft = {0};
    rgResult result = rgLoadFclib(source, NULL, diagnostics, &problem);
    if (result == rg_ok) {
        result = rgDraft_Begin(&draft, path, diagnostics);
    }
    if (result == rg_ok) {
        result = rgCopyFile(source, &draft, diagnostics);
        if (result == rg_ok) {
            result = rgReplaceSolution(&draft, problem, solution, diagnostics);
        }
        result = rgDraft_End(&draft, result, diagnostics);
    }
    rgDestroyFclibProblem(problem);
    return result;
}
