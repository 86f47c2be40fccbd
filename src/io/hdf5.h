// A thin layer over libhdf5: one file, sticky first error, checked sizes and types, no printing.
#pragma once
#include "base/base.h"

#include <hdf5.h>

// A file being read or written. After a fault every call does nothing, so that callers check once.
typedef struct rgH5 {
    rgAllocator allocator;
    rgDiagnostics* diagnostics;
    const char* path;   // shown in messages
    hid_t file;         // negative when not open
    rgResult result;    // code of the first fault
    bool isGrowing;     // opened while, or after, a writer did not close it
    bool isChecked;     // its format has checksums of headers
    H5E_auto2_t report; // HDF5's own error printing, put back by close
    void* reportContext;
} rgH5;

#define RG_H5_PATH 256 // longest dataset name we build
#define RG_H5_ANY  (-1)

void rgH5_OpenRead(rgH5* h5, const char* path, const rgAllocator* allocator,
                   rgDiagnostics* diagnostics);
// Messages name the file `shown`, the final name of `path`.
void rgH5_OpenChange(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics);
void rgH5_Create(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics);
// With checksums in its headers.
void rgH5_CreateChecked(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics);
// A file that stays readable while it grows, and after a crash, once H5Fstart_swmr_write() was
// called.
void rgH5_CreateGrowing(rgH5* h5, const char* path, rgDiagnostics* diagnostics);
rgResult rgH5_Close(rgH5* h5); // the first fault of all calls, closing included

// Report a fault and remember its result, unless there was one already.
void rgH5_Fail(rgH5* h5, rgResult result, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void rgH5_Warn(rgH5* h5, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Every link of the path leads to something. A link that is not a hard one is a fault: nothing that
// is read leads out of the file.
bool rgH5_Has(rgH5* h5, const char* name);
bool rgH5_HasIn(rgH5* h5, const char* group, const char* name);
// A dataset whose bytes are in this file, to be closed; negative after a fault.
hid_t rgH5_OpenDataset(rgH5* h5, const char* name);
// Number of elements of a dataset; -1 when it is missing. A fault when it is none, or not inside.
int64_t rgH5_Count(rgH5* h5, const char* name);

// Read a whole dataset; the caller releases it. expected is the number of elements, or RG_H5_ANY.
// NULL after a fault.
int* rgH5_ReadInts(rgH5* h5, const char* name, int64_t expected);
double* rgH5_ReadNumbers(rgH5* h5, const char* name, int64_t expected);
int rgH5_ReadInt(rgH5* h5, const char* name);    // a dataset of one element
char* rgH5_ReadText(rgH5* h5, const char* name); // NULL when the dataset is missing

// The first number that is not finite is a fault, with its index.
void rgH5_CheckFinite(rgH5* h5, const char* name, const double* values, int64_t count);

void rgH5_MakeGroup(rgH5* h5, const char* name);
void rgH5_Remove(rgH5* h5, const char* name); // nothing happens when it is missing
void rgH5_WriteInts(rgH5* h5, const char* name, const int* values, int64_t count);
void rgH5_WriteInt(rgH5* h5, const char* name, int value); // a dataset of one element
void rgH5_WriteIntRows(rgH5* h5, const char* name, const int* values, int rows, int columns);
void rgH5_WriteNumbers(rgH5* h5, const char* name, const double* values, int64_t count);
void rgH5_WriteText(rgH5* h5, const char* name, const char* text); // NULL text: nothing
