// Results of many runs: arrays with one row per run, in an HDF5 file or in several that read as
// one. See docs/formats/results.md.
#pragma once
#include "rigor/base.h"

/// A file of results being read or written. Rows are written in any order, by several processes if
/// there are parts, and count once they are committed. Committed rows survive the end of the
/// process at any moment.
typedef struct rgResults rgResults;

typedef struct rgResultsArray {
    const char* name; ///< of the dataset, without slashes
    int extent[2];    ///< numbers per row: extent[0] x extent[1]; [1] = 0: one dimension; [0] = 0:
                      ///< one number
    bool isWhole;     ///< 32-bit integers, not doubles
} rgResultsArray;

/// A text that the file keeps, such as the settings of the run.
typedef struct rgResultsText {
    const char* name;
    const char* text;
} rgResultsText;

/// Start from rgDefaultResultsDef(), then set members.
typedef struct rgResultsDef {
    int64_t rowCount;             ///< at least 1
    int partCount;                ///< 1: one file; more: files PATH.part0000 ... beside PATH
    const rgResultsArray* arrays; ///< beside "status", "check" and "seal", which every file has
    int arrayCount;
    const rgResultsText* texts;
    int textCount;
    bool overwrite; ///< files that exist; otherwise that is an error
    uint32_t cookie;
} rgResultsDef;

RG_API rgResultsDef rgDefaultResultsDef(void);
/// Make the files, with room for everything, and open them for writing. Space that the disk does
/// not have is an error now, not later.
RG_API rgResult rgCreateResults(const char* path, const rgResultsDef* def,
                                rgDiagnostics* diagnostics, rgResults** results);
/// Open existing results, to read them or to write missing rows.
RG_API rgResult rgOpenResults(const char* path, bool write, rgDiagnostics* diagnostics,
                              rgResults** results);
RG_API void rgDestroyResults(rgResults* results); ///< closes the files

RG_API int64_t rgResults_RowCount(const rgResults* results);
RG_API int rgResults_PartCount(const rgResults* results);
/// Rows first to first + count - 1 are in this part. Only one process may write to a part.
RG_API void rgResults_PartRows(const rgResults* results, int part, int64_t* first, int64_t* count);
RG_API const char* rgResults_Text(const rgResults* results, const char* name); ///< NULL: none
RG_API int rgResults_ArrayCount(const rgResults* results);
RG_API rgResultsArray rgResults_Array(const rgResults* results, int index);
RG_API int rgResults_FindArray(const rgResults* results, const char* name); ///< -1: none

/// Rows of one array. Integers are rounded from and to doubles. A row that does not fit its
/// checksum is an error that names it; who opened the file to write learns of all by
/// rgResults_ReadStatus().
RG_API rgResult rgResults_Write(rgResults* results, int array, int64_t first, int64_t count,
                                const double* values, rgDiagnostics* diagnostics);
/// Rows that were written are on the disk, with checksums; their status becomes this. 0
/// means: not there.
RG_API rgResult rgResults_Commit(rgResults* results, int64_t first, int64_t count,
                                 const int32_t* status, rgDiagnostics* diagnostics);
RG_API rgResult rgResults_ReadStatus(rgResults* results, int64_t first, int64_t count,
                                     int32_t* status, rgDiagnostics* diagnostics);
RG_API rgResult rgResults_Read(rgResults* results, int array, int64_t first, int64_t count,
                               double* values, rgDiagnostics* diagnostics);
