// Private view of a file of results.
#pragma once
#include "io/hdf5.h"
#include "rigor/results.h"

typedef struct rgResultsPart {
    char* path;
    int file;         // descriptor; negative until it is needed
    int64_t* offsets; // per array, and of the checks: of its first row in the file
} rgResultsPart;

struct rgResults {
    rgAllocator allocator;
    char* path;
    bool writes;
    bool isChecked; // rows have checksums: all but files of version 1
    int64_t rowCount;
    int partCount;
    rgResultsPart* parts;
    int arrayCount;         // with the status, the last
    rgResultsArray* arrays; // and the checks behind them, one number per array
    int textCount;
    rgResultsText* texts;
};
