// Contact problems from files: found, read in child processes, held.
#include "cases.h"

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Limits of folders named instead of files: depth and number of entries.
#define RG_WALK_DEPTH   16
#define RG_WALK_ENTRIES 100000

// ---- finding ----

static bool rgHasEnding(const char* name, const char* ending) {
    size_t length = strlen(name);
    size_t wanted = strlen(ending);
    return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

static char* rgFamilyOf(const char* path) {
    const char* end = strrchr(path, '/');
    if (end == NULL) {
        return rgCli_CopyText(".");
    }
    const char* start = end;
    while (start > path && start[-1] != '/') {
        --start;
    }
    return rgCli_Format("%.*s", (int)(end - start), start);
}

static void rgCaseFiles_Add(rgCaseFiles* files, const char* path, const char* relative) {
    if (files->count == files->capacity) {
        files->capacity = 2 * files->capacity + 16;
        files->files = rgCli_Grow(files->files, (size_t)files->capacity, sizeof(rgCaseFile));
    }
    files->files[files->count++] = (rgCaseFile){.path = rgCli_CopyText(path),
                                                .relative = rgCli_CopyText(relative),
                                                .family = rgFamilyOf(path)};
}

// A walk below one folder. It looks at the folder's own file system, goes through no symbolic link
// to a folder, and gives up rather than leave out what may be meant.
typedef struct rgWalk {
    rgCaseFiles* files;
    const char* argument;
    dev_t device;
    int seen;
    bool failed;
} rgWalk;

static void rgWalk_Fail(rgWalk* walk, const char* what, int limit) {
    rgCli_Error("%s: more than %d %s; name the folder of the problems", walk->argument, limit,
                what);
    walk->failed = true;
}

static void rgWalk_Folder(rgWalk* walk, const char* folder, const char* relative, int depth);

static void rgWalk_Entry(rgWalk* walk, const char* path, const char* relative, int depth) {
    struct stat info;
    if (++walk->seen > RG_WALK_ENTRIES) {
        rgWalk_Fail(walk, "files and folders", RG_WALK_ENTRIES);
    } else if (lstat(path, &info) != 0) {
        return;
    } else if (S_ISDIR(info.st_mode)) {
        if (info.st_dev == walk->device) {
            rgWalk_Folder(walk, path, relative, depth + 1);
        }
    } else if ((rgHasEnding(path, ".hdf5") || rgHasEnding(path, ".h5")) &&
               (stat(path, &info) != 0 || S_ISREG(info.st_mode))) { // a broken link is an error
        rgCaseFiles_Add(walk->files, path, relative);
    }
}

static void rgWalk_Folder(rgWalk* walk, const char* folder, const char* relative, int depth) {
    if (depth >= RG_WALK_DEPTH) {
        rgWalk_Fail(walk, "folders in each other", RG_WALK_DEPTH);
        return;
    }
    DIR* listing = opendir(folder);
    struct dirent* entry;
    while (listing != NULL && !walk->failed && (entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        const char* slash = strcmp(folder, "/") == 0 ? "" : "/";
        char* path = rgCli_Format("%s%s%s", folder, slash, entry->d_name);
        char* below = *relative != '\0' ? rgCli_Format("%s/%s", relative, entry->d_name)
                                        : rgCli_CopyText(entry->d_name);
        rgWalk_Entry(walk, path, below, depth);
        free(path);
        free(below);
    }
    if (listing != NULL) {
        closedir(listing);
    }
}

static int rgComparePaths(const void* a, const void* b) {
    return strcmp(((const rgCaseFile*)a)->path, ((const rgCaseFile*)b)->path);
}

// A folder's path without slashes at its end, so that paths below it read well.
static char* rgTrimFolder(const char* path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        --length;
    }
    return rgCli_Format("%.*s", (int)length, path);
}

static bool rgFindArgument(const char* argument, rgCaseFiles* files) {
    struct stat info;
    if (stat(argument, &info) != 0) {
        rgCli_Error("%s: %s", argument, strerror(errno));
        return false;
    }
    if (!S_ISDIR(info.st_mode)) {
        const char* slash = strrchr(argument, '/');
        rgCaseFiles_Add(files, argument, slash != NULL ? slash + 1 : argument);
        return true;
    }
    int first = files->count;
    char* folder = rgTrimFolder(argument);
    rgWalk walk = {.files = files, .argument = argument, .device = info.st_dev};
    rgWalk_Folder(&walk, folder, "", 0);
    free(folder);
    if (!walk.failed && files->count == first) {
        rgCli_Error("%s: no .hdf5 or .h5 files in this folder", argument);
        walk.failed = true;
    }
    if (walk.failed) {
        return false;
    }
    qsort(files->files + first, (size_t)(files->count - first), sizeof(rgCaseFile), rgComparePaths);
    return true;
}

bool rgFindCases(char** arguments, int count, rgCaseFiles* files) {
    *files = (rgCaseFiles){0};
    for (int i = 0; i < count; ++i) {
        if (!rgFindArgument(arguments[i], files)) {
            rgCaseFiles_Free(files);
            return false;
        }
    }
    return true;
}

void rgCaseFiles_Free(rgCaseFiles* files) {
    for (int i = 0; i < files->count; ++i) {
        free(files->files[i].path);
        free(files->files[i].relative);
        free(files->files[i].family);
    }
    free(files->files);
    *files = (rgCaseFiles){0};
}

// ---- reading ----

static void rgPutSparse(rgByteBuffer* buffer, const rgSparse* matrix) {
    rgByteBuffer_Put(buffer, matrix, sizeof(*matrix));
    size_t rows = matrix->rowStart != NULL ? (size_t)matrix->rowCount + 1 : 0;
    size_t entries = rows > 0 ? (size_t)matrix->rowStart[matrix->rowCount] : 0;
    rgByteBuffer_Put(buffer, matrix->rowStart, rows * sizeof(int));
    rgByteBuffer_Put(buffer, matrix->column, entries * sizeof(int));
    rgByteBuffer_Put(buffer, matrix->value, entries * sizeof(double));
}

static rgSparse rgUnpackSparse(rgByteBuffer* buffer) {
    const rgSparse* stored = rgByteBuffer_Read(buffer, NULL);
    rgSparse matrix = stored != NULL ? *stored : (rgSparse){0};
    matrix.rowStart = rgByteBuffer_Read(buffer, NULL);
    matrix.column = rgByteBuffer_Read(buffer, NULL);
    matrix.value = rgByteBuffer_Read(buffer, NULL);
    return matrix;
}

static void rgPutProblem(rgByteBuffer* buffer, const rgFclibProblem* loaded) {
    const rgContactProblem* problem = rgFclibProblem_Problem(loaded);
    rgFclibInfo info = rgFclibProblem_Info(loaded);
    size_t rows = (size_t)problem->rowCount;
    rgByteBuffer_Put(buffer, problem, sizeof(*problem));
    rgByteBuffer_Put(buffer, &info.contactCount, sizeof(int));
    rgByteBuffer_Put(buffer, problem->blocks, (size_t)problem->blockCount * sizeof(rgBlock));
    rgByteBuffer_Put(buffer, problem->freeVelocity, rows * sizeof(double));
    rgByteBuffer_Put(buffer, problem->compliance, rows * sizeof(double));
    rgByteBuffer_Put(buffer, problem->delassus.matrix, rows * rows * sizeof(double));
    rgPutSparse(buffer, &problem->delassus.sparse);
    rgPutSparse(buffer, &problem->delassus.mass);
    rgPutSparse(buffer, &problem->delassus.jacobian);
    rgByteBuffer_Put(buffer, rgFclibProblem_Keys(loaded),
                     3 * (size_t)info.contactCount * sizeof(int));
    rgByteBuffer_Put(buffer, rgFclibProblem_Guess(loaded, 0).lambda, rows * sizeof(double));
}

static void rgUnpackProblem(rgByteBuffer* buffer, rgCase* loaded) {
    const rgContactProblem* stored = rgByteBuffer_Read(buffer, NULL);
    const int* contactCount = rgByteBuffer_Read(buffer, NULL);
    if (stored == NULL || contactCount == NULL) {
        loaded->fault = rgCli_CopyText("the reading process sent nothing");
        return;
    }
    loaded->problem = *stored;
    loaded->contactCount = *contactCount;
    loaded->problem.blocks = rgByteBuffer_Read(buffer, NULL);
    loaded->problem.freeVelocity = rgByteBuffer_Read(buffer, NULL);
    loaded->problem.compliance = rgByteBuffer_Read(buffer, NULL);
    loaded->problem.delassus.matrix = rgByteBuffer_Read(buffer, NULL);
    loaded->problem.delassus.sparse = rgUnpackSparse(buffer);
    loaded->problem.delassus.mass = rgUnpackSparse(buffer);
    loaded->problem.delassus.jacobian = rgUnpackSparse(buffer);
    loaded->keys = rgByteBuffer_Read(buffer, NULL);
    loaded->guess = rgByteBuffer_Read(buffer, NULL);
}

typedef struct rgLoadContext {
    const char* path;
    rgFclibMatrix matrix;
} rgLoadContext;

// The first error, or NULL; warnings as texts, one by one, then nothing.
static void rgPutMessages(rgByteBuffer* buffer, const rgDiagnostics* diagnostics, rgResult result) {
    const char* error = result == rg_ok ? NULL : rgResult_Name(result);
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        if (message.severity == rg_severityError) {
            error = message.text;
        }
    }
    rgByteBuffer_Put(buffer, error, error != NULL ? strlen(error) + 1 : 0);
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        if (message.severity == rg_severityWarning) {
            rgByteBuffer_Put(buffer, message.text, strlen(message.text) + 1);
        }
    }
    rgByteBuffer_Put(buffer, NULL, 0);
}

static void rgLoadInChild(void* context, rgByteBuffer* buffer) {
    const rgLoadContext* load = context;
    rgDiagnostics* diagnostics = NULL;
    rgFclibProblem* loaded = NULL;
    rgFclibDef def = rgDefaultFclibDef();
    def.matrix = load->matrix;
    rgCreateDiagnostics(NULL, &diagnostics);
    rgResult result = rgLoadFclib(load->path, &def, diagnostics, &loaded);
    rgPutMessages(buffer, diagnostics, result);
    if (result == rg_ok) {
        rgPutProblem(buffer, loaded);
    }
    rgDestroyFclibProblem(loaded);
    rgDestroyDiagnostics(diagnostics);
}

static void rgCase_AddWarning(rgCase* loaded, const char* text) {
    loaded->warnings =
        rgCli_Grow(loaded->warnings, (size_t)loaded->warningCount + 1, sizeof(const char*));
    loaded->warnings[loaded->warningCount++] = text;
}

bool rgLoadCase(const char* path, rgFclibMatrix matrix, rgCase* loaded) {
    *loaded = (rgCase){0};
    rgLoadContext context = {.path = path, .matrix = matrix};
    if (!rgRunGuarded(rgLoadInChild, &context, rgDefaultGuardLimits(), &loaded->bytes,
                      &loaded->fault)) {
        return false;
    }
    const char* error = rgByteBuffer_Read(&loaded->bytes, NULL);
    const char* warning;
    while ((warning = rgByteBuffer_Read(&loaded->bytes, NULL)) != NULL) {
        rgCase_AddWarning(loaded, warning);
    }
    if (error != NULL) {
        loaded->fault = rgCli_CopyText(error);
    } else {
        rgUnpackProblem(&loaded->bytes, loaded);
    }
    return loaded->fault == NULL;
}

void rgCase_Free(rgCase* loaded) {
    free(loaded->warnings);
    free(loaded->fault);
    rgByteBuffer_Free(&loaded->bytes);
    *loaded = (rgCase){0};
}

// ---- writing ----

typedef struct rgWriteContext {
    const char* source;
    const char* path;
    const rgFclibSolution* solution;
} rgWriteContext;

static void rgWriteInChild(void* context, rgByteBuffer* buffer) {
    const rgWriteContext* write = context;
    rgDiagnostics* diagnostics = NULL;
    rgCreateDiagnostics(NULL, &diagnostics);
    rgResult result = rgSaveFclibSolution(write->source, write->path, write->solution, diagnostics);
    rgPutMessages(buffer, diagnostics, result);
    rgDestroyDiagnostics(diagnostics);
}

char* rgWriteCase(const char* source, const char* path, const rgFclibSolution* solution) {
    rgWriteContext context = {.source = source, .path = path, .solution = solution};
    rgByteBuffer result;
    char* fault = NULL;
    if (!rgMakeParents(path)) {
        return rgCli_Format("its folder cannot be made: %s", strerror(errno));
    }
    if (rgRunGuarded(rgWriteInChild, &context, rgDefaultGuardLimits(), &result, &fault)) {
        const char* error = rgByteBuffer_Read(&result, NULL);
        fault = error != NULL ? rgCli_CopyText(error) : NULL;
        rgByteBuffer_Free(&result);
    }
    return fault;
}

bool rgMakeParents(const char* path) {
    char* folder = rgCli_CopyText(path);
    bool made = true;
    for (char* c = folder + 1; made && *c != '\0'; ++c) {
        if (*c == '/') {
            *c = '\0';
            made = mkdir(folder, 0777) == 0 || errno == EEXIST;
            *c = '/';
        }
    }
    free(folder);
    return made;
}
