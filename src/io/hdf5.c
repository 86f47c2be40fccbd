// A thin layer over libhdf5: one file, sticky first error, checked sizes and types, no printing.
#include "io/hdf5.h"

#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_H5_ATTEMPTS 25 // the last after 17 ms

void rgH5_Fail(rgH5* h5, rgResult result, const char* format, ...) {
    if (h5->result != rg_ok) {
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    rgPrintList(text, sizeof(text), format, arguments);
    va_end(arguments);
    h5->result = result;
    rgDiagnostics_Add(h5->diagnostics, rg_severityError, h5->path, 0, "%s", text);
}

void rgH5_Warn(rgH5* h5, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    rgPrintList(text, sizeof(text), format, arguments);
    va_end(arguments);
    rgDiagnostics_Add(h5->diagnostics, rg_severityWarning, h5->path, 0, "%s", text);
}

// HDF5 prints its error stack on stderr unless this is switched off; the caller's setting is
// restored later.
static void rgH5_Begin(rgH5* h5, const char* path, const rgAllocator* allocator,
                       rgDiagnostics* diagnostics) {
    *h5 = (rgH5){.allocator = rgResolveAllocator(allocator),
                 .diagnostics = diagnostics,
                 .path = path,
                 .file = -1};
    errno = 0; // a later failure gives a reason only if the system set one
    H5Eget_auto2(H5E_DEFAULT, &h5->report, &h5->reportContext);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void rgH5_CheckExists(rgH5* h5, const char* path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        rgH5_Fail(h5, rg_errorFile, "is not a regular file");
    } else if (H5Fis_hdf5(path) <= 0) {
        rgH5_Fail(h5, rg_errorFormat, "is not an HDF5 file (no signature, or not readable)");
    }
}

static void rgH5_Open(rgH5* h5, const char* path, unsigned flags) {
    rgH5_CheckExists(h5, path);
    if (h5->result != rg_ok) {
        return;
    }
    h5->file = H5Fopen(path, flags, H5P_DEFAULT);
    if (h5->file < 0 && flags == H5F_ACC_RDONLY) {
        // Headers that do not match their checksum are read again, since a writer may be changing
        // them. HDF5 would try 100 times, with a delay that doubles each time.
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_metadata_read_attempts(access, RG_H5_ATTEMPTS);
        h5->file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
        h5->isGrowing = h5->file >= 0;
        H5Pclose(access);
    }
    if (h5->file < 0) {
        rgH5_Fail(h5, rg_errorFormat, "cannot be opened by HDF5: damaged or truncated");
    }
}

void rgH5_OpenRead(rgH5* h5, const char* path, const rgAllocator* allocator,
                   rgDiagnostics* diagnostics) {
    rgH5_Begin(h5, path, allocator, diagnostics);
    rgH5_Open(h5, path, H5F_ACC_RDONLY);
}

void rgH5_OpenChange(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics) {
    rgH5_Begin(h5, shown, NULL, diagnostics);
    rgH5_Open(h5, path, H5F_ACC_RDWR);
}

static void rgH5_CheckCreated(rgH5* h5) {
    if (h5->file < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot be created%s%s", errno != 0 ? ": " : "",
                  errno != 0 ? strerror(errno) : "");
    }
}

void rgH5_Create(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics) {
    rgH5_Begin(h5, shown, NULL, diagnostics);
    h5->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    rgH5_CheckCreated(h5);
}

void rgH5_CreateChecked(rgH5* h5, const char* path, const char* shown, rgDiagnostics* diagnostics) {
    rgH5_Begin(h5, shown, NULL, diagnostics);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), plan = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(plan, false);
#if H5_VERSION_GE(1, 10, 7) // the file is claimed, and on network drives one lock meets the other
    H5Pset_file_locking(access, false, true);
#endif
    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0) {
        h5->file = H5Fcreate(path, H5F_ACC_TRUNC, plan, access);
        h5->isChecked = true;
    }
    if (plan >= 0) {
        H5Pclose(plan);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    rgH5_CheckCreated(h5);
}

void rgH5_CreateGrowing(rgH5* h5, const char* path, rgDiagnostics* diagnostics) {
    rgH5_CreateChecked(h5, path, path, diagnostics);
}

rgResult rgH5_Close(rgH5* h5) {
    if (h5->file >= 0 && H5Fclose(h5->file) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot be closed: not everything was written");
    }
    h5->file = -1;
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, h5->report, h5->reportContext);
    return h5->result;
}

// One link, without following it. Links to other files, and links by name, which may lead to those,
// would let a file show other files that its reader may read.
static bool rgH5_IsHard(rgH5* h5, const char* link) {
    H5L_info_t info;
    if (H5Lexists(h5->file, link, H5P_DEFAULT) <= 0) {
        return false;
    }
    bool hard = H5Lget_info(h5->file, link, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
    if (!hard) {
        rgH5_Fail(h5, rg_errorFormat, "%s is a link, maybe to another file: links are not followed",
                  link);
    }
    return hard;
}

// True if every link in the first `length` characters of the path exists, since HDF5 follows all
// but the last.
static bool rgH5_HasPath(rgH5* h5, const char* name, size_t length) {
    char part[RG_H5_PATH];
    for (size_t i = 1; i <= length; ++i) {
        if (name[i] == '/' || name[i] == '\0') {
            snprintf(part, sizeof(part), "%.*s", (int)i, name);
            if (!rgH5_IsHard(h5, part)) {
                return false;
            }
        }
    }
    return h5->result == rg_ok;
}

bool rgH5_Has(rgH5* h5, const char* name) {
    return h5->result == rg_ok && rgH5_HasPath(h5, name, strlen(name)) &&
           H5Oexists_by_name(h5->file, name, H5P_DEFAULT) > 0;
}

bool rgH5_HasIn(rgH5* h5, const char* group, const char* name) {
    char path[RG_H5_PATH];
    snprintf(path, sizeof(path), "%s/%s", group, name);
    return rgH5_Has(h5, path);
}

static int64_t rgH5_CountOf(hid_t dataset) {
    hid_t space = H5Dget_space(dataset);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) {
        H5Sclose(space);
    }
    return count;
}

// The bytes of a dataset are in this file: neither in others that it names (external storage) nor
// put together from datasets of others (virtual).
static bool rgH5_IsInside(hid_t dataset) {
    hid_t plan = H5Dget_create_plist(dataset);
    bool inside =
        plan >= 0 && H5Pget_layout(plan) != H5D_VIRTUAL && H5Pget_external_count(plan) == 0;
    if (plan >= 0) {
        H5Pclose(plan);
    }
    return inside;
}

hid_t rgH5_OpenDataset(rgH5* h5, const char* name) {
    if (h5->result != rg_ok) {
        return -1;
    }
    if (!rgH5_Has(h5, name)) {
        rgH5_Fail(h5, rg_errorFormat, "%s is missing", name);
        return -1;
    }
    hid_t dataset = H5Dopen2(h5->file, name, H5P_DEFAULT);
    if (dataset < 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s is not a dataset that can be read", name);
    } else if (!rgH5_IsInside(dataset)) {
        rgH5_Fail(h5, rg_errorFormat, "%s is in another file, which is not read", name);
        H5Dclose(dataset);
        dataset = -1;
    }
    return dataset;
}

int64_t rgH5_Count(rgH5* h5, const char* name) {
    if (!rgH5_Has(h5, name)) {
        return -1;
    }
    hid_t dataset = rgH5_OpenDataset(h5, name);
    if (dataset < 0) {
        return -1;
    }
    int64_t count = rgH5_CountOf(dataset);
    H5Dclose(dataset);
    return count;
}

static H5T_class_t rgH5_ClassOf(hid_t dataset) {
    hid_t type = H5Dget_type(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    if (type >= 0) {
        H5Tclose(type);
    }
    return class;
}

// The checks that come before memory is taken for a dataset.
static bool rgH5_CheckDataset(rgH5* h5, hid_t dataset, const char* name, int64_t expected,
                              bool wholeNumbers) {
    H5T_class_t class = rgH5_ClassOf(dataset);
    if (class != H5T_INTEGER && (wholeNumbers || class != H5T_FLOAT)) {
        rgH5_Fail(h5, rg_errorFormat, "%s holds no %s", name,
                  wholeNumbers ? "whole numbers" : "numbers");
        return false;
    }
    int64_t count = rgH5_CountOf(dataset);
    if (expected != RG_H5_ANY && count != expected) {
        rgH5_Fail(h5, rg_errorFormat, "%s has %lld numbers where %lld are needed", name,
                  (long long)count, (long long)expected);
        return false;
    }
    if (count < 0 || count > INT32_MAX) {
        rgH5_Fail(h5, rg_errorFormat, "%s has too many numbers", name);
        return false;
    }
    return true;
}

static void* rgH5_ReadArray(rgH5* h5, const char* name, int64_t expected, hid_t type, size_t size) {
    hid_t dataset = rgH5_OpenDataset(h5, name);
    if (dataset < 0) {
        return NULL;
    }
    void* values = NULL;
    if (rgH5_CheckDataset(h5, dataset, name, expected, type == H5T_NATIVE_INT)) {
        size_t count = (size_t)rgH5_CountOf(dataset);
        values = rgAllocate(&h5->allocator, count, size);
        if (values == NULL) {
            rgH5_Fail(h5, rg_errorMemory, "no memory for %s (%zu numbers)", name, count);
        } else if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            rgH5_Fail(h5, rg_errorFormat, "%s cannot be read: damaged or truncated", name);
            rgRelease(&h5->allocator, values);
            values = NULL;
        }
    }
    H5Dclose(dataset);
    return values;
}

int* rgH5_ReadInts(rgH5* h5, const char* name, int64_t expected) {
    return rgH5_ReadArray(h5, name, expected, H5T_NATIVE_INT, sizeof(int));
}

double* rgH5_ReadNumbers(rgH5* h5, const char* name, int64_t expected) {
    return rgH5_ReadArray(h5, name, expected, H5T_NATIVE_DOUBLE, sizeof(double));
}

int rgH5_ReadInt(rgH5* h5, const char* name) {
    int* values = rgH5_ReadInts(h5, name, 1);
    int value = values != NULL ? values[0] : 0;
    rgRelease(&h5->allocator, values);
    return value;
}

static char* rgH5_ReadFixedText(rgH5* h5, hid_t dataset, hid_t type) {
    size_t size = H5Tget_size(type);
    int64_t count = rgH5_CountOf(dataset);
    if (count != 1 || size > 1 << 20) {
        return NULL;
    }
    // One more byte, zeroed, ends texts that fill their field.
    char* text = rgAllocate(&h5->allocator, size + 1, 1);
    if (text != NULL && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        rgRelease(&h5->allocator, text);
        return NULL;
    }
    return text;
}

static char* rgH5_ReadVariableText(rgH5* h5, hid_t dataset, hid_t type) {
    char* borrowed = NULL;
    if (rgH5_CountOf(dataset) != 1 ||
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &borrowed) < 0) {
        return NULL;
    }
    char* text = rgCopyString(&h5->allocator, borrowed);
    H5free_memory(borrowed);
    return text;
}

char* rgH5_ReadText(rgH5* h5, const char* name) {
    if (!rgH5_Has(h5, name)) {
        return NULL;
    }
    hid_t dataset = rgH5_OpenDataset(h5, name);
    hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    char* text = NULL;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING) {
        text = H5Tis_variable_str(type) > 0 ? rgH5_ReadVariableText(h5, dataset, type)
                                            : rgH5_ReadFixedText(h5, dataset, type);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    return text;
}

void rgH5_CheckFinite(rgH5* h5, const char* name, const double* values, int64_t count) {
    for (int64_t i = 0; h5->result == rg_ok && i < count; ++i) {
        if (!isfinite(values[i])) {
            rgH5_Fail(h5, rg_errorNumeric, "%s[%lld] is %s", name, (long long)i,
                      isnan(values[i]) ? "not a number" : "infinite");
        }
    }
}

void rgH5_MakeGroup(rgH5* h5, const char* name) {
    if (h5->result != rg_ok || rgH5_Has(h5, name) || h5->result != rg_ok) {
        return;
    }
    hid_t plan = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(plan, false);
    hid_t group = H5Gcreate2(h5->file, name, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Pclose(plan);
    if (group < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot create the group %s", name);
    } else {
        H5Gclose(group);
    }
}

void rgH5_Remove(rgH5* h5, const char* name) {
    if (rgH5_Has(h5, name) && H5Ldelete(h5->file, name, H5P_DEFAULT) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot remove %s", name);
    }
}

static void rgH5_WriteSpace(rgH5* h5, const char* name, hid_t type, hid_t space,
                            const void* values) {
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(plan, false); // the same content gives the same bytes
    if (h5->isChecked && H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space) < 1024) {
        H5Pset_layout(plan, H5D_COMPACT); // in the header, under its checksum
    }
    hid_t dataset = H5Dcreate2(h5->file, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    H5Pclose(plan);
    bool done =
        dataset >= 0 && (H5Sget_simple_extent_npoints(space) == 0 ||
                         H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (dataset >= 0) {
        done = H5Dclose(dataset) >= 0 && done;
    }
    if (!done) {
        rgH5_Fail(h5, rg_errorFile, "cannot write %s", name);
    }
}

static void rgH5_WriteArray(rgH5* h5, const char* name, hid_t type, const void* values,
                            const hsize_t* extent, int rank) {
    if (h5->result != rg_ok) {
        return;
    }
    hid_t space = H5Screate_simple(rank, extent, NULL);
    if (space < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot write %s", name);
        return;
    }
    rgH5_WriteSpace(h5, name, type, space, values);
    H5Sclose(space);
}

void rgH5_WriteInts(rgH5* h5, const char* name, const int* values, int64_t count) {
    rgH5_WriteArray(h5, name, H5T_NATIVE_INT, values, &(hsize_t){(hsize_t)count}, 1);
}

void rgH5_WriteInt(rgH5* h5, const char* name, int value) {
    rgH5_WriteInts(h5, name, &value, 1);
}

void rgH5_WriteIntRows(rgH5* h5, const char* name, const int* values, int rows, int columns) {
    hsize_t extent[2] = {(hsize_t)rows, (hsize_t)columns};
    rgH5_WriteArray(h5, name, H5T_NATIVE_INT, values, extent, 2);
}

void rgH5_WriteNumbers(rgH5* h5, const char* name, const double* values, int64_t count) {
    rgH5_WriteArray(h5, name, H5T_NATIVE_DOUBLE, values, &(hsize_t){(hsize_t)count}, 1);
}

void rgH5_WriteText(rgH5* h5, const char* name, const char* text) {
    if (h5->result != rg_ok || text == NULL) {
        return;
    }
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate(H5S_SCALAR);
    if (type < 0 || space < 0 || H5Tset_size(type, strlen(text) + 1) < 0) {
        rgH5_Fail(h5, rg_errorFile, "cannot write %s", name);
    } else {
        rgH5_WriteSpace(h5, name, type, space, text);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
}
