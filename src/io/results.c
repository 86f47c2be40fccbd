// Files of results. HDF5 makes them once, with every array allocated as one piece; from then on
// rows are written at their place in the file, behind HDF5's back. Nothing that HDF5 wrote changes
// any more, so that no moment at which the process may end leaves a file that cannot be read. Every
// row has a checksum per array, and all other bytes of a file have one.
#include "io/results.h"

#include "base/system.h"
#include "io/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_COOKIE_RESULTS  0x72736c74u
#define RG_RESULTS_VERSION 2
#define RG_STATUS          "status"
#define RG_CHECK           "check"
#define RG_SEAL            "seal"
#define RG_RESULTS_PARTS   9999
#define RG_PART_NAME       "%s.part%04d"

rgResultsDef rgDefaultResultsDef(void) {
    return (rgResultsDef){.partCount = 1, .cookie = RG_COOKIE_RESULTS};
}

// ---- shapes

static size_t rgArray_RowNumbers(const rgResultsArray* array) {
    size_t columns = array->extent[0] > 0 ? (size_t)array->extent[0] : 1;
    return array->extent[1] > 0 ? columns * (size_t)array->extent[1] : columns;
}

static size_t rgArray_RowBytes(const rgResultsArray* array) { // 8 of a check as of a double
    return rgArray_RowNumbers(array) * (array->isWhole ? sizeof(int32_t) : sizeof(double));
}

static int rgArray_Extent(const rgResultsArray* array, int64_t rows, hsize_t extent[3]) {
    extent[0] = (hsize_t)rows;
    extent[1] = (hsize_t)array->extent[0];
    extent[2] = (hsize_t)array->extent[1];
    return array->extent[0] == 0 ? 1 : array->extent[1] == 0 ? 2 : 3;
}

static hid_t rgArray_Type(const rgResultsArray* array) {
    return array->isWhole                       ? H5T_NATIVE_INT32
           : strcmp(array->name, RG_CHECK) == 0 ? H5T_NATIVE_UINT64
                                                : H5T_NATIVE_DOUBLE;
}

int64_t rgResults_RowCount(const rgResults* results) {
    return results != NULL ? results->rowCount : 0;
}

int rgResults_PartCount(const rgResults* results) {
    return results != NULL ? results->partCount : 0;
}

static int64_t rgFirstRow(int64_t rows, int parts, int part) {
    return rows / parts * part + (rows % parts < part ? rows % parts : part);
}

void rgResults_PartRows(const rgResults* results, int part, int64_t* first, int64_t* count) {
    bool exists = results != NULL && part >= 0 && part < results->partCount;
    int64_t start = exists ? rgFirstRow(results->rowCount, results->partCount, part) : 0;
    int64_t end = exists ? rgFirstRow(results->rowCount, results->partCount, part + 1) : 0;
    if (first != NULL) {
        *first = start;
    }
    if (count != NULL) {
        *count = end - start;
    }
}

static int rgResults_PartOf(const rgResults* results, int64_t row) {
    int low = 0, high = results->partCount - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        bool before = rgFirstRow(results->rowCount, results->partCount, middle) > row;
        low = before ? low : middle;
        high = before ? middle - 1 : high;
    }
    return low;
}

int rgResults_ArrayCount(const rgResults* results) {
    return results != NULL ? results->arrayCount - 1 : 0;
}

rgResultsArray rgResults_Array(const rgResults* results, int index) {
    if (results == NULL) {
        return (rgResultsArray){0};
    }
    bool exists = index >= 0 && index < results->arrayCount - 1;
    return exists ? results->arrays[index] : (rgResultsArray){0};
}

int rgResults_FindArray(const rgResults* results, const char* name) {
    for (int i = 0; results != NULL && name != NULL && i < results->arrayCount - 1; ++i) {
        if (strcmp(results->arrays[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char* rgResults_Text(const rgResults* results, const char* name) {
    for (int i = 0; results != NULL && name != NULL && i < results->textCount; ++i) {
        if (strcmp(results->texts[i].name, name) == 0) {
            return results->texts[i].text;
        }
    }
    return NULL;
}

// ---- the object

static char* rgPartPath(const rgResults* results, const char* path, int part) {
    size_t size = strlen(path) + 24;
    char* text = rgAllocate(&results->allocator, size, 1);
    if (text != NULL) {
        snprintf(text, size, results->partCount > 1 ? RG_PART_NAME : "%s", path, part);
    }
    return text;
}

// The arrays are copied, the status last.
static bool rgResults_CopyShape(rgResults* results, const rgResultsArray* arrays, int count) {
    const rgAllocator* allocator = &results->allocator;
    results->arrays = rgAllocate(allocator, (size_t)count + 2, sizeof(rgResultsArray));
    results->parts = rgAllocate(allocator, (size_t)results->partCount, sizeof(rgResultsPart));
    bool good = results->arrays != NULL && results->parts != NULL;
    for (int p = 0; good && p < results->partCount; ++p) {
        rgResultsPart* part = &results->parts[p];
        part->file = -1;
        part->path = rgPartPath(results, results->path, p);
        part->offsets = rgAllocate(allocator, (size_t)count + 2, sizeof(int64_t));
        good = part->path != NULL && part->offsets != NULL;
    }
    if (good) { // not among those that are counted
        results->arrays[count + 1] = (rgResultsArray){RG_CHECK, {count + 1, 0}, false};
    }
    for (int i = 0; good && i <= count; ++i) {
        results->arrays[i] = i < count ? arrays[i] : (rgResultsArray){RG_STATUS, {0, 0}, true};
        results->arrays[i].name = rgCopyString(allocator, results->arrays[i].name);
        results->arrayCount = i + 1;
        good = results->arrays[i].name != NULL;
    }
    return good;
}

static bool rgResults_AddText(rgResults* results, const char* name, const char* text) {
    rgResultsText* slot = &results->texts[results->textCount++];
    slot->name = rgCopyString(&results->allocator, name);
    slot->text = rgCopyString(&results->allocator, text);
    return slot->name != NULL && slot->text != NULL;
}

static void rgReleaseText(const rgAllocator* allocator, const char* text) {
    rgRelease(allocator, (void*)(uintptr_t)text);
}

static rgResults* rgResults_New(const char* path) {
    rgAllocator allocator = rgResolveAllocator(NULL);
    rgResults* results = rgAllocate(&allocator, 1, sizeof(rgResults));
    if (results != NULL) {
        results->allocator = allocator;
        results->path = rgCopyString(&allocator, path);
    }
    return results;
}

void rgDestroyResults(rgResults* results) {
    if (results == NULL) {
        return;
    }
    rgAllocator allocator = results->allocator;
    for (int p = 0; results->parts != NULL && p < results->partCount; ++p) {
        if (results->parts[p].file >= 0) {
            close(results->parts[p].file);
        }
        rgRelease(&allocator, results->parts[p].path);
        rgRelease(&allocator, results->parts[p].offsets);
    }
    for (int i = 0; results->arrays != NULL && i < results->arrayCount; ++i) {
        rgReleaseText(&allocator, results->arrays[i].name);
    }
    for (int i = 0; results->texts != NULL && i < results->textCount; ++i) {
        rgReleaseText(&allocator, results->texts[i].name);
        rgReleaseText(&allocator, results->texts[i].text);
    }
    rgRelease(&allocator, results->parts);
    rgRelease(&allocator, results->arrays);
    rgRelease(&allocator, results->texts);
    rgRelease(&allocator, results->path);
    rgRelease(&allocator, results);
}

// ---- making files

// One piece of file, there from the start. Zeros come from the system.
static void rgMakeDataset(rgH5* h5, const rgResultsArray* array, int64_t rows) {
    hsize_t extent[3];
    int rank = rgArray_Extent(array, rows, extent);
    hid_t space = H5Screate_simple(rank, extent, NULL);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (space >= 0 && plan >= 0 && H5Pset_alloc_time(plan, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(plan, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_obj_track_times(plan, false) >= 0) {
        dataset = H5Dcreate2(h5->file, array->name, rgArray_Type(array), space, H5P_DEFAULT, plan,
                             H5P_DEFAULT);
    }
    if (dataset < 0 || H5Dclose(dataset) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot create the array %s", array->name);
    }
    H5Pclose(plan);
    H5Sclose(space);
}

// Rows of the parts, seen as one array.
static void rgMakeVirtual(rgH5* h5, const rgResults* results, const rgResultsArray* array) {
    hsize_t extent[3], start[3] = {0}, size[3];
    int rank = rgArray_Extent(array, results->rowCount, extent);
    hid_t space = H5Screate_simple(rank, extent, NULL);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    bool good = space >= 0 && plan >= 0 && H5Pset_obj_track_times(plan, false) >= 0;
    for (int p = 0; good && p < results->partCount; ++p) {
        int64_t first, count;
        rgResults_PartRows(results, p, &first, &count);
        rgArray_Extent(array, count, size);
        start[0] = (hsize_t)first;
        const char* slash = strrchr(results->parts[p].path, '/');
        const char* name = slash != NULL ? slash + 1 : results->parts[p].path;
        hid_t source = H5Screate_simple(rank, size, NULL);
        good = source >= 0 &&
               H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
               H5Pset_virtual(plan, space, name, array->name, source) >= 0;
        H5Sclose(source);
    }
    good = good && H5Sselect_all(space) >= 0;
    hid_t dataset = good ? H5Dcreate2(h5->file, array->name, rgArray_Type(array), space,
                                      H5P_DEFAULT, plan, H5P_DEFAULT)
                         : -1;
    if (dataset < 0 || H5Dclose(dataset) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot create the array %s", array->name);
    }
    H5Pclose(plan);
    H5Sclose(space);
}

static void rgMakeSeal(rgH5* h5) {
    uint64_t none = 0;
    hid_t space = H5Screate_simple(1, (const hsize_t[]){1}, NULL);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plan, false);
    hid_t dataset =
        H5Dcreate2(h5->file, RG_SEAL, H5T_NATIVE_UINT64, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    if (dataset < 0 ||
        H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &none) < 0 ||
        H5Dclose(dataset) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot create the checksum");
    }
    H5Pclose(plan);
    H5Sclose(space);
}

static void rgDescribe(rgH5* h5, const rgResults* results) {
    double rows = (double)results->rowCount;
    rgH5_MakeGroup(h5, "about");
    rgH5_WriteInt(h5, "about/version", RG_RESULTS_VERSION);
    rgH5_WriteInt(h5, "about/parts", results->partCount);
    rgH5_WriteNumbers(h5, "about/rows", &rows, 1);
    rgH5_MakeGroup(h5, "about/arrays");
    for (int i = 0; i < results->arrayCount - 1; ++i) {
        const rgResultsArray* array = &results->arrays[i];
        char name[RG_H5_PATH];
        snprintf(name, sizeof(name), "about/arrays/%d", i);
        rgH5_WriteText(h5, name, array->name);
    }
    rgH5_MakeGroup(h5, "about/texts");
    for (int i = 0; i < results->textCount; ++i) {
        char name[RG_H5_PATH];
        snprintf(name, sizeof(name), "about/texts/%s", results->texts[i].name);
        rgH5_WriteText(h5, name, results->texts[i].text);
    }
}

// All of the file's blocks, so that later writes find their place whatever else fills the disk.
static rgResult rgReserveSpace(const char* path, const char* shown, rgDiagnostics* diagnostics) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    off_t size = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
    int fault = size < 0 ? errno : rgFillDisk(file, size);
    if (file >= 0) {
        fault = fsync(file) != 0 && fault == 0 ? errno : fault;
        close(file);
    }
    if (fault != 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, shown, 0,
                          "no room for %.3g MB of results: %s", 1e-6 * (double)size,
                          strerror(fault));
    }
    return fault == 0 ? rg_ok : rg_errorFile;
}

// ---- the checksum of a file but for its rows

typedef struct rgPieces {
    struct rgPiece {
        int64_t first, end; // [bytes]
    } at[2 * 64 + 3];
    int count;
    int64_t seal; // offset of the seal's number
} rgPieces;

// Bytes of a dataset that is one piece; false where it is none.
static bool rgPieces_Add(rgPieces* pieces, rgH5* h5, const char* name) {
    hid_t dataset = rgH5_OpenDataset(h5, name);
    haddr_t offset = dataset >= 0 ? H5Dget_offset(dataset) : HADDR_UNDEF;
    hsize_t size = dataset >= 0 ? H5Dget_storage_size(dataset) : 0;
    bool good =
        offset < INT64_MAX / 2 && size < INT64_MAX / 2 && pieces->count < RG_COUNT(pieces->at);
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    if (good) {
        int i = pieces->count++;
        for (; i > 0 && pieces->at[i - 1].first > (int64_t)offset; --i) {
            pieces->at[i] = pieces->at[i - 1];
        }
        pieces->at[i] = (struct rgPiece){(int64_t)offset, (int64_t)(offset + size)};
    }
    return good;
}

// Byte ranges of a file that change: its rows and the seal itself. An index has no rows.
static void rgFindPieces(rgH5* h5, const rgResults* results, rgPieces* pieces) {
    *pieces = (rgPieces){0};
    if (rgPieces_Add(pieces, h5, RG_SEAL)) {
        pieces->seal = pieces->at[0].first;
        bool hasRows = rgH5_Has(h5, RG_CHECK);
        for (int i = 0; hasRows && i <= results->arrayCount; ++i) {
            hasRows = rgPieces_Add(pieces, h5, results->arrays[i].name);
        }
    }
    if (h5->result == rg_ok && pieces->seal == 0) {
        rgH5_Fail(h5, rg_errorFormat, "has no checksum: damaged");
    }
}

// The hash of everything between the pieces, of which there is a last one at the end of the file.
static bool rgHashBetween(int file, const rgPieces* pieces, int64_t size, uint64_t* hash) {
    unsigned char block[1 << 14];
    int64_t at = 0;
    *hash = (uint64_t)size;
    for (int i = 0; i <= pieces->count; ++i) {
        int64_t end = i < pieces->count ? pieces->at[i].first : size;
        while (at < end) {
            ssize_t count =
                pread(file, block, (size_t)RG_MIN(end - at, (int64_t)sizeof(block)), at);
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count <= 0) {
                return false;
            }
            *hash = rgHashBytes(block, (size_t)count, *hash);
            at += count;
        }
        at = i < pieces->count ? RG_MAX(at, pieces->at[i].end) : at;
    }
    return true;
}

static bool rgHashFile(int file, const rgPieces* pieces, uint64_t* hash) {
    off_t size = lseek(file, 0, SEEK_END);
    return size >= 0 && rgHashBetween(file, pieces, size, hash);
}

static rgResult rgSealFile(const rgResults* results, const char* path, const char* shown,
                           rgDiagnostics* diagnostics) {
    rgH5 h5;
    rgPieces pieces;
    rgH5_OpenRead(&h5, path, &results->allocator, diagnostics);
    rgFindPieces(&h5, results, &pieces);
    rgResult result = rgH5_Close(&h5);
    uint64_t hash = 0;
    int file = result == rg_ok ? open(path, O_RDWR | O_CLOEXEC) : -1;
    bool good = file >= 0 && rgHashFile(file, &pieces, &hash) &&
                pwrite(file, &hash, sizeof(hash), pieces.seal) == (ssize_t)sizeof(hash);
    if (result == rg_ok && !good) {
        rgDiagnostics_Add(diagnostics, rg_severityError, shown, 0, "cannot be written: %s",
                          strerror(errno));
        result = rg_errorFile;
    }
    if (file >= 0) {
        close(file);
    }
    return result;
}

// While the file is open in HDF5, whose pieces are looked up.
static void rgCheckSeal(rgH5* h5, const rgResults* results, const char* path) {
    rgPieces pieces;
    if (h5->result != rg_ok || !results->isChecked) {
        return;
    }
    rgFindPieces(h5, results, &pieces);
    uint64_t hash = 0, stored = 0;
    int file = h5->result == rg_ok ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0 &&
        (!rgHashFile(file, &pieces, &hash) ||
         pread(file, &stored, sizeof(stored), pieces.seal) != (ssize_t)sizeof(stored) ||
         hash != stored)) {
        rgH5_Fail(h5, rg_errorFormat,
                  "is damaged: its checksum, of all but the rows, does not fit");
    }
    if (file >= 0) {
        close(file);
    }
}

typedef void rgFillFcn(rgH5* h5, const rgResults* results, int part);

static void rgFillPart(rgH5* h5, const rgResults* results, int part) {
    int64_t first, count;
    rgResults_PartRows(results, part, &first, &count);
    for (int i = 0; i <= results->arrayCount; ++i) {
        rgMakeDataset(h5, &results->arrays[i], count);
    }
    if (results->partCount == 1) {
        rgDescribe(h5, results);
    }
}

static void rgFillIndex(rgH5* h5, const rgResults* results, int part) {
    (void)part;
    for (int i = 0; i < results->arrayCount; ++i) {
        rgMakeVirtual(h5, results, &results->arrays[i]);
    }
    rgDescribe(h5, results);
}

// Under another name first: a file of this name is complete.
static rgResult rgMakeFile(const rgResults* results, const char* path, rgFillFcn* fill, int part,
                           rgDiagnostics* diagnostics) {
    size_t size = strlen(path) + 8;
    char* draft = rgAllocate(&results->allocator, size, 1);
    if (draft == NULL) {
        return rg_errorMemory;
    }
    snprintf(draft, size, "%s.new", path);
    rgH5 h5;
    rgH5_CreateChecked(&h5, draft, path, diagnostics);
    if (h5.result == rg_ok) {
        rgMakeSeal(&h5);
        fill(&h5, results, part);
    }
    rgResult result = rgH5_Close(&h5);
    result = result == rg_ok ? rgSealFile(results, draft, path, diagnostics) : result;
    result = result == rg_ok ? rgReserveSpace(draft, path, diagnostics) : result;
    if (result == rg_ok && rename(draft, path) != 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0, "cannot be created: %s",
                          strerror(errno));
        result = rg_errorFile;
    }
    if (result != rg_ok) {
        unlink(draft);
    }
    rgRelease(&results->allocator, draft);
    return result;
}

// A part is written by one process at a time; negative after a message.
static int rgLockPart(const char* path, rgDiagnostics* diagnostics) {
    const char* fault;
    int reason, file = rgLockFile(path, false, &fault, &reason);
    if (file < 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0, "%s%s%s", fault,
                          reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
    }
    return file;
}

static bool rgMayCreate(const char* path, bool overwrite, rgDiagnostics* diagnostics) {
    struct stat found;
    if (lstat(path, &found) != 0) {
        return true;
    }
    if (overwrite) {
        int file = rgIsPlaceForFile(path, diagnostics) ? rgLockPart(path, diagnostics) : -1;
        if (file >= 0) {
            close(file);
        }
        return file >= 0;
    }
    rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                      "exists already; files are overwritten only on request");
    return false;
}

// Remove the index first: it must not refer to missing parts.
static void rgRemoveFiles(const rgResults* results) {
    size_t size = strlen(results->path) + 24;
    char* part = rgAllocate(&results->allocator, size, 1);
    unlink(results->path);
    for (int p = 0; part != NULL && p < RG_RESULTS_PARTS; ++p) {
        snprintf(part, size, RG_PART_NAME, results->path, p);
        if (unlink(part) != 0 && p >= results->partCount) {
            break;
        }
    }
    rgRelease(&results->allocator, part);
}

static rgResult rgResults_MakeFiles(rgResults* results, bool overwrite,
                                    rgDiagnostics* diagnostics) {
    bool free = rgMayCreate(results->path, overwrite, diagnostics);
    for (int p = 0; free && p < results->partCount; ++p) {
        free = rgMayCreate(results->parts[p].path, overwrite, diagnostics);
    }
    if (!free) {
        return rg_errorFile;
    }
    if (overwrite) {
        rgRemoveFiles(results);
    }
    rgResult result = rg_ok;
    int made = 0;
    while (result == rg_ok && made < results->partCount) {
        result = rgMakeFile(results, results->parts[made].path, rgFillPart, made, diagnostics);
        made += result == rg_ok;
    }
    if (result == rg_ok && results->partCount > 1) {
        result = rgMakeFile(results, results->path, rgFillIndex, 0, diagnostics);
    }
    for (int p = 0; result != rg_ok && p < made; ++p) {
        unlink(results->parts[p].path);
    }
    return result;
}

static bool rgCheckResultsDef(const rgResultsDef* def, rgDiagnostics* diagnostics) {
    bool good = def->cookie == RG_COOKIE_RESULTS && def->rowCount >= 1 && def->partCount >= 1 &&
                def->partCount <= RG_RESULTS_PARTS && def->partCount <= def->rowCount &&
                def->arrayCount >= 0 && def->textCount >= 0;
    for (int i = 0; good && i < def->arrayCount; ++i) {
        const rgResultsArray* array = &def->arrays[i];
        good = array->name != NULL && array->name[0] != '\0' && strlen(array->name) < 200 &&
               strchr(array->name, '/') == NULL && array->extent[0] >= 0 && array->extent[1] >= 0 &&
               strcmp(array->name, RG_STATUS) != 0 && strcmp(array->name, RG_CHECK) != 0 &&
               strcmp(array->name, RG_SEAL) != 0 && strcmp(array->name, "about") != 0;
    }
    for (int i = 0; good && i < def->textCount; ++i) {
        good = def->texts[i].name != NULL && def->texts[i].text != NULL &&
               strchr(def->texts[i].name, '/') == NULL && strlen(def->texts[i].name) < 200;
    }
    if (!good) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "results: %lld rows in %d parts, or the name or extent of an array or "
                          "text, cannot be",
                          (long long)def->rowCount, def->partCount);
    }
    return good;
}

static rgResult rgResults_Draft(const char* path, const rgResultsDef* def, rgResults** results) {
    rgResults* made = rgResults_New(path);
    *results = made;
    if (made == NULL || made->path == NULL) {
        return rg_errorMemory;
    }
    made->rowCount = def->rowCount;
    made->partCount = def->partCount;
    made->texts = rgAllocate(&made->allocator, (size_t)def->textCount + 1, sizeof(rgResultsText));
    bool good = made->texts != NULL && rgResults_CopyShape(made, def->arrays, def->arrayCount);
    for (int i = 0; good && i < def->textCount; ++i) {
        good = rgResults_AddText(made, def->texts[i].name, def->texts[i].text);
    }
    return good ? rg_ok : rg_errorMemory;
}

rgResult rgCreateResults(const char* path, const rgResultsDef* def, rgDiagnostics* diagnostics,
                         rgResults** results) {
    if (path == NULL || def == NULL || results == NULL || !rgCheckResultsDef(def, diagnostics)) {
        return rg_errorArgument;
    }
    rgResults* made = NULL;
    rgResult result = rgResults_Draft(path, def, &made);
    if (result == rg_ok) {
        result = rgResults_MakeFiles(made, def->overwrite, diagnostics);
    }
    rgDestroyResults(made);
    return result == rg_ok ? rgOpenResults(path, true, diagnostics, results) : result;
}

// ---- opening

static void rgReadArrayShape(rgH5* h5, rgResultsArray* array) {
    hid_t dataset = rgH5_OpenDataset(h5, array->name);
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : -1;
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    hsize_t extent[3] = {0};
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    if (rank < 1 || rank > 3 || H5Sget_simple_extent_dims(space, extent, NULL) != rank ||
        extent[1] > INT32_MAX || extent[2] > INT32_MAX || type < 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s is not an array of results", array->name);
    } else {
        array->extent[0] = rank > 1 ? (int)extent[1] : 0;
        array->extent[1] = rank > 2 ? (int)extent[2] : 0;
        array->isWhole = H5Tget_class(type) == H5T_INTEGER;
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
}

#define RG_RESULTS_ARRAYS 64

// Shapes are those of the first part: the arrays of the index are only for other programs.
static void rgReadShapes(rgH5* h5, const rgResults* results, rgResultsArray* arrays, int count) {
    rgH5 first;
    char* path = rgPartPath(results, results->path, 0);
    bool isPart = results->partCount > 1;
    if (path == NULL) {
        rgH5_Fail(h5, rg_errorMemory, "no memory for its shape");
    } else if (isPart) {
        rgH5_OpenRead(&first, path, &h5->allocator, h5->diagnostics);
    }
    for (int i = 0; h5->result == rg_ok && i < count; ++i) {
        rgReadArrayShape(isPart ? &first : h5, &arrays[i]);
    }
    if (path != NULL && isPart) {
        h5->result = rgH5_Close(&first);
    }
    rgRelease(&results->allocator, path);
}

static void rgReadArrays(rgH5* h5, rgResults* results) {
    rgResultsArray arrays[RG_RESULTS_ARRAYS] = {0};
    int count = 0;
    char name[RG_H5_PATH];
    for (;;) {
        snprintf(name, sizeof(name), "about/arrays/%d", count);
        char* text = count < RG_RESULTS_ARRAYS ? rgH5_ReadText(h5, name) : NULL;
        if (text == NULL) {
            break;
        }
        arrays[count++].name = text;
    }
    if (h5->result == rg_ok) {
        rgReadShapes(h5, results, arrays, count);
    }
    if (h5->result == rg_ok && !rgResults_CopyShape(results, arrays, count)) {
        rgH5_Fail(h5, rg_errorMemory, "no memory for its shape");
    }
    for (int i = 0; i < count; ++i) {
        rgReleaseText(&h5->allocator, arrays[i].name);
    }
}

typedef struct rgTextVisit {
    rgH5* h5;
    rgResults* results;
} rgTextVisit;

static herr_t rgVisitText(hid_t group, const char* name, const H5L_info_t* info, void* context) {
    (void)group;
    (void)info;
    const rgTextVisit* visit = context;
    rgResults* results = visit->results;
    char path[RG_H5_PATH];
    snprintf(path, sizeof(path), "about/texts/%.200s", name);
    char* text = results->textCount < RG_RESULTS_ARRAYS ? rgH5_ReadText(visit->h5, path) : NULL;
    bool good = text != NULL && rgResults_AddText(results, name, text);
    rgRelease(&results->allocator, text);
    return good ? 0 : -1;
}

static void rgReadTexts(rgH5* h5, rgResults* results) {
    results->texts = rgAllocate(&results->allocator, RG_RESULTS_ARRAYS, sizeof(rgResultsText));
    hsize_t next = 0;
    rgTextVisit visit = {h5, results};
    if (h5->result == rg_ok &&
        (results->texts == NULL ||
         H5Literate_by_name(h5->file, "about/texts", H5_INDEX_NAME, H5_ITER_INC, &next, rgVisitText,
                            &visit, H5P_DEFAULT) < 0)) {
        rgH5_Fail(h5, rg_errorFormat, "its texts cannot be read");
    }
}

static void rgReadAbout(rgH5* h5, rgResults* results) {
    if (h5->result == rg_ok && !rgH5_Has(h5, "about/version")) {
        rgH5_Fail(h5, rg_errorFormat, "is not a file of results");
    }
    int version = rgH5_ReadInt(h5, "about/version");
    results->partCount = rgH5_ReadInt(h5, "about/parts");
    double* rows = rgH5_ReadNumbers(h5, "about/rows", 1);
    double count = rows != NULL ? rows[0] : 0;
    rgRelease(&h5->allocator, rows);
    results->isChecked = version != 1;
    if (h5->result == rg_ok &&
        (version < 1 || version > RG_RESULTS_VERSION || !(count >= 1 && count < 0x1p53) ||
         results->partCount < 1 || results->partCount > RG_RESULTS_PARTS ||
         results->partCount > count)) {
        rgH5_Fail(h5, rg_errorFormat, "is a file of results of another version, or damaged");
    }
    results->rowCount = h5->result == rg_ok ? (int64_t)count : 0;
}

// Offset of an array of a part in its file; negative when its storage is not one contiguous piece
// of the expected size.
static int64_t rgFindRows(rgH5* h5, const rgResultsArray* array, int64_t rows) {
    hid_t dataset = rgH5_OpenDataset(h5, array->name);
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    haddr_t offset = dataset >= 0 ? H5Dget_offset(dataset) : HADDR_UNDEF;
    bool good = offset < INT64_MAX / 2 && H5Tequal(type, rgArray_Type(array)) > 0 &&
                rgH5_Count(h5, array->name) == rows * (int64_t)rgArray_RowNumbers(array);
    if (type >= 0) {
        H5Tclose(type);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    if (!good) {
        rgH5_Fail(h5, rg_errorFormat, "the array %s does not fit the index", array->name);
    }
    return good ? (int64_t)offset : -1;
}

static rgResult rgOpenPart(rgResults* results, int p, rgDiagnostics* diagnostics) {
    rgResultsPart* part = &results->parts[p];
    int64_t first, count;
    rgResults_PartRows(results, p, &first, &count);
    rgH5 h5;
    rgH5_OpenRead(&h5, part->path, &results->allocator, diagnostics);
    for (int i = 0; i < results->arrayCount + results->isChecked && h5.result == rg_ok; ++i) {
        part->offsets[i] = rgFindRows(&h5, &results->arrays[i], count);
    }
    if (results->partCount > 1) {
        rgCheckSeal(&h5, results, part->path);
    }
    rgResult result = rgH5_Close(&h5);
    if (result == rg_ok) {
        part->file = results->writes ? rgLockPart(part->path, diagnostics)
                                     : open(part->path, O_RDONLY | O_CLOEXEC);
        result = part->file >= 0 ? rg_ok : rg_errorFile;
        if (part->file < 0 && !results->writes) {
            rgDiagnostics_Add(diagnostics, rg_severityError, part->path, 0,
                              "cannot be opened for reading: %s", strerror(errno));
        }
    }
    return result;
}

rgResult rgOpenResults(const char* path, bool write, rgDiagnostics* diagnostics,
                       rgResults** results) {
    if (path == NULL || results == NULL) {
        return rg_errorArgument;
    }
    rgResults* made = rgResults_New(path);
    if (made == NULL || made->path == NULL) {
        rgDestroyResults(made);
        return rg_errorMemory;
    }
    rgH5 h5;
    rgH5_OpenRead(&h5, made->path, &made->allocator, diagnostics);
    rgReadAbout(&h5, made);
    rgReadArrays(&h5, made);
    rgReadTexts(&h5, made);
    rgCheckSeal(&h5, made, made->path);
    rgResult result = rgH5_Close(&h5);
    made->writes = write;
    if (result != rg_ok) {
        rgDestroyResults(made);
        return result;
    }
    *results = made;
    return rg_ok;
}

// ---- rows in files

typedef ssize_t rgTransferFcn(int file, void* bytes, size_t count, off_t at);

static ssize_t rgPutBytes(int file, void* bytes, size_t count, off_t at) {
    return pwrite(file, bytes, count, at);
}

static bool rgTransfer(rgTransferFcn* transfer, int file, char* bytes, size_t count, off_t at) {
    while (count > 0) {
        ssize_t done = transfer(file, bytes, count, at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            errno = done == 0 ? EIO : errno;
            return false;
        }
        bytes += done;
        count -= (size_t)done;
        at += done;
    }
    return true;
}

// Rows of one part: count of them, from row `local` of the part on.
static rgResult rgMoveRows(rgResults* results, int array, int p, int64_t local, int64_t count,
                           void* bytes, rgTransferFcn* transfer, rgDiagnostics* diagnostics) {
    rgResultsPart* part = &results->parts[p];
    rgResult result = part->file < 0 ? rgOpenPart(results, p, diagnostics) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    size_t size = rgArray_RowBytes(&results->arrays[array]);
    off_t at = (off_t)(part->offsets[array] + local * (int64_t)size);
    if (!rgTransfer(transfer, part->file, bytes, (size_t)count * size, at)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, part->path, 0, "results cannot be %s: %s",
                          transfer == rgPutBytes ? "written" : "read", strerror(errno));
        return rg_errorFile;
    }
    return rg_ok;
}

static rgResult rgMoveAll(rgResults* results, int array, int64_t first, int64_t count, char* bytes,
                          rgTransferFcn* transfer, rgDiagnostics* diagnostics) {
    size_t size = rgArray_RowBytes(&results->arrays[array]);
    rgResult result = rg_ok;
    while (count > 0 && result == rg_ok) {
        int64_t start, length;
        int p = rgResults_PartOf(results, first);
        rgResults_PartRows(results, p, &start, &length);
        int64_t here = RG_MIN(count, start + length - first);
        result = rgMoveRows(results, array, p, first - start, here, bytes, transfer, diagnostics);
        first += here;
        count -= here;
        bytes += (size_t)here * size;
    }
    return result;
}

static bool rgRowsExist(const rgResults* results, int array, int64_t first, int64_t count,
                        const void* values) {
    return results != NULL && array >= 0 && array < results->arrayCount && first >= 0 &&
           count >= 0 && first <= results->rowCount - count && (count == 0 || values != NULL);
}

rgResult rgResults_Write(rgResults* results, int array, int64_t first, int64_t count,
                         const double* values, rgDiagnostics* diagnostics) {
    if (!rgRowsExist(results, array, first, count, values) || !results->writes ||
        array == results->arrayCount - 1) {
        return rg_errorArgument;
    }
    if (!results->arrays[array].isWhole) {
        return rgMoveAll(results, array, first, count, (char*)(uintptr_t)values, rgPutBytes,
                         diagnostics);
    }
    size_t numbers = (size_t)count * rgArray_RowNumbers(&results->arrays[array]);
    int32_t* whole = rgAllocate(&results->allocator, numbers, sizeof(int32_t));
    if (whole == NULL) {
        return rg_errorMemory;
    }
    for (size_t i = 0; i < numbers; ++i) {
        whole[i] = (int32_t)fmin(fmax(rint(values[i]), INT32_MIN), INT32_MAX);
    }
    rgResult result =
        rgMoveAll(results, array, first, count, (char*)whole, rgPutBytes, diagnostics);
    rgRelease(&results->allocator, whole);
    return result;
}

// ---- checksums of rows

static ssize_t rgGetBytes(int file, void* bytes, size_t count, off_t at) {
    return pread(file, bytes, count, at);
}

typedef enum rgVisitKind { rg_visitCompute, rg_visitCompare } rgVisitKind;

// Checks of rows on their way to or from a file: arrayCount numbers per row, the last of the
// status. That one is 0 as long as the row is not there.
typedef struct rgChecker {
    rgResults* results;
    rgVisitKind kind;
    rgDiagnostics* diagnostics;
    uint64_t* checks; // owned by the caller
    int64_t first;    // row of the first check
} rgChecker;

// Allocate the checks, and read them from the file unless they are to be computed.
static rgResult rgChecker_Begin(rgChecker* checker, int64_t count) {
    rgResults* results = checker->results;
    size_t numbers = (size_t)count * (size_t)results->arrayCount;
    checker->checks = rgAllocate(&results->allocator, numbers + 1, sizeof(uint64_t));
    return checker->checks == NULL ? rg_errorMemory
           : checker->kind == rg_visitCompute
               ? rg_ok
               : rgMoveAll(results, results->arrayCount, checker->first, count,
                           (char*)checker->checks, rgGetBytes, checker->diagnostics);
}

// Rows of an array whose bytes are in memory.
static rgResult rgChecker_Visit(rgChecker* checker, int array, int64_t first, int64_t count,
                                const void* bytes) {
    const rgResults* results = checker->results;
    size_t size = rgArray_RowBytes(&results->arrays[array]);
    for (int64_t i = 0; i < count; ++i) {
        int64_t row = first + i;
        uint64_t* checks = checker->checks + (row - checker->first) * results->arrayCount;
        uint64_t seed = (uint64_t)row * (uint64_t)results->arrayCount + (uint64_t)array;
        uint64_t check = rgHashBytes((const char*)bytes + (size_t)i * size, size, seed);
        check = check != 0 ? check : 1;
        if (checker->kind == rg_visitCompute) {
            checks[array] = check;
        } else if (checks[results->arrayCount - 1] != 0 && checks[array] != check) {
            rgDiagnostics_Add(checker->diagnostics, rg_severityError,
                              results->parts[rgResults_PartOf(results, row)].path, 0,
                              "row %lld of %s is damaged: its checksum does not fit",
                              (long long)row, results->arrays[array].name);
            return rg_errorFormat;
        }
    }
    return rg_ok;
}

// Rows of an array as they are in the file, some at a time.
static rgResult rgChecker_VisitRows(rgChecker* checker, int array, int64_t first, int64_t count) {
    rgResults* results = checker->results;
    size_t size = rgArray_RowBytes(&results->arrays[array]);
    int64_t most = RG_MAX(1, (1 << 20) / (int64_t)RG_MAX(size, 1));
    char* bytes = rgAllocate(&results->allocator, (size_t)RG_MIN(most, count) + 1, size + 1);
    rgResult result = bytes != NULL ? rg_ok : rg_errorMemory;
    while (result == rg_ok && count > 0) {
        int64_t some = RG_MIN(count, most);
        result = rgMoveAll(results, array, first, some, bytes, rgGetBytes, checker->diagnostics);
        result = result == rg_ok ? rgChecker_Visit(checker, array, first, some, bytes) : result;
        first += some;
        count -= some;
    }
    rgRelease(&results->allocator, bytes);
    return result;
}

// Flush to the disk before writing goes on, so that later data cannot be there without these.
static rgResult rgSettle(rgResults* results, int64_t first, int64_t count,
                         rgDiagnostics* diagnostics) {
    int last = count > 0 ? rgResults_PartOf(results, first + count - 1) : -1;
    for (int p = rgResults_PartOf(results, first); p <= last; ++p) {
        if (results->parts[p].file >= 0 && fdatasync(results->parts[p].file) != 0) {
            rgDiagnostics_Add(diagnostics, rg_severityError, results->parts[p].path, 0,
                              "results cannot be written: %s", strerror(errno));
            return rg_errorFile;
        }
    }
    return rg_ok;
}

// After the rows and their status: a row counts once its checks are there.
static rgResult rgWriteChecks(rgResults* results, int64_t first, int64_t count,
                              rgDiagnostics* diagnostics) {
    if (!results->isChecked) {
        return rg_ok;
    }
    rgChecker checker = {results, rg_visitCompute, diagnostics, NULL, first};
    rgResult result = rgChecker_Begin(&checker, count);
    for (int a = 0; result == rg_ok && a < results->arrayCount; ++a) {
        result = rgChecker_VisitRows(&checker, a, first, count);
    }
    result = result == rg_ok ? rgSettle(results, first, count, diagnostics) : result;
    if (result == rg_ok) {
        result = rgMoveAll(results, results->arrayCount, first, count, (char*)checker.checks,
                           rgPutBytes, diagnostics);
    }
    rgRelease(&results->allocator, checker.checks);
    return result;
}

rgResult rgResults_Commit(rgResults* results, int64_t first, int64_t count, const int32_t* status,
                          rgDiagnostics* diagnostics) {
    int array = results != NULL ? results->arrayCount - 1 : 0;
    if (!rgRowsExist(results, array, first, count, status) || !results->writes) {
        return rg_errorArgument;
    }
    rgResult result = rgSettle(results, first, count, diagnostics);
    if (result == rg_ok) {
        result = rgMoveAll(results, array, first, count, (char*)(uintptr_t)status, rgPutBytes,
                           diagnostics);
    }
    return result == rg_ok ? rgWriteChecks(results, first, count, diagnostics) : result;
}

// ---- reading

rgResult rgResults_ReadStatus(rgResults* results, int64_t first, int64_t count, int32_t* status,
                              rgDiagnostics* diagnostics) {
    int array = results != NULL ? results->arrayCount - 1 : 0;
    if (!rgRowsExist(results, array, first, count, status)) {
        return rg_errorArgument;
    }
    rgResult result =
        rgMoveAll(results, array, first, count, (char*)status, rgGetBytes, diagnostics);
    if (result != rg_ok || !results->isChecked) {
        return result;
    }
    rgChecker checker = {results, rg_visitCompare, diagnostics, NULL, first};
    result = rgChecker_Begin(&checker, count);
    for (int64_t i = 0; result == rg_ok && i < count; ++i) {
        bool isThere = checker.checks[(i + 1) * results->arrayCount - 1] != 0;
        status[i] = isThere ? status[i] : 0; // its writer ended before the checks
    }
    // Check all rows of the requested array for readers; writers that continue a file check all
    // arrays.
    for (int a = results->writes ? 0 : array; result == rg_ok && a < results->arrayCount; ++a) {
        result = rgChecker_VisitRows(&checker, a, first, count);
    }
    rgRelease(&results->allocator, checker.checks);
    return result;
}

rgResult rgResults_Read(rgResults* results, int array, int64_t first, int64_t count, double* values,
                        rgDiagnostics* diagnostics) {
    if (!rgRowsExist(results, array, first, count, values) || results->writes) {
        return rg_errorArgument;
    }
    rgResult result =
        rgMoveAll(results, array, first, count, (char*)values, rgGetBytes, diagnostics);
    if (result == rg_ok && results->isChecked) {
        rgChecker checker = {results, rg_visitCompare, diagnostics, NULL, first};
        result = rgChecker_Begin(&checker, count);
        result = result == rg_ok ? rgChecker_Visit(&checker, array, first, count, values) : result;
        rgRelease(&results->allocator, checker.checks);
    }
    if (result == rg_ok && results->arrays[array].isWhole) { // from the last on: doubles are longer
        for (size_t i = (size_t)count * rgArray_RowNumbers(&results->arrays[array]); i-- > 0;) {
            int32_t whole;
            memcpy(&whole, (const char*)values + i * sizeof(whole), sizeof(whole));
            values[i] = whole;
        }
    }
    return result;
}
