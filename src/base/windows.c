// Calls of the operating system for Windows: those of system.h, and locks of files.
#ifdef _WIN32
#include "base/system.h"

#include "base/base.h"

#include <errno.h>
#include <share.h>
#include <string.h>
#include <windows.h>

int rgReplaceFile(const char* from, const char* to) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        return 0;
    }
    errno = GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
    return -1;
}

FILE* rgOpenSink(char** text, size_t* size) {
    *text = NULL;
    *size = 0;
    return tmpfile();
}

ssize_t pread(int file, void* bytes, size_t count, off_t at) {
    return _lseeki64(file, at, SEEK_SET) < 0
               ? -1
               : _read(file, bytes, (unsigned)RG_MIN(count, (size_t)INT32_MAX));
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
    return _lseeki64(file, at, SEEK_SET) < 0
               ? -1
               : _write(file, bytes, (unsigned)RG_MIN(count, (size_t)INT32_MAX));
}

int rgFillDisk(int file, off_t size) {
    return _chsize_s(file, size);
}

// Lock a byte behind any file: HDF5 opens the file once more, which a lock of the whole file would
// refuse.
int rgLockFile(const char* path, bool create, const char** fault, int* reason) {
    OVERLAPPED end = {.OffsetHigh = INT32_MAX};
    struct stat found;
    int file = -1;
    *fault = NULL;
    *reason = 0;
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        *fault = "cannot be written: it exists and is not a regular file";
        return -1;
    }
    int flags = O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0);
    *reason = _sopen_s(&file, path, flags, _SH_DENYNO, _S_IREAD | _S_IWRITE);
    if (*reason != 0) {
        *fault = "cannot be created";
        return -1;
    }
    if (!LockFileEx((HANDLE)_get_osfhandle(file),
                    LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &end)) {
        *fault = "is being written by another program";
        _close(file);
        return -1;
    }
    return file;
}

bool rgReserveDisk(int file, uint64_t from, uint64_t to) {
    (void)file, (void)from, (void)to;
    return true;
}

void rgReleaseDisk(int file) {
    (void)file;
}

void* rgOpenLibrary(const char* path, char why[256]) {
    HMODULE library = LoadLibraryA(path);
    rgPrint(why, 256, "error %lu", library == NULL ? GetLastError() : 0ul);
    return (void*)library;
}

void* rgLibrarySymbol(void* library, const char* name) {
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void* symbol;
    memcpy(&symbol, &found, sizeof(symbol));
    return symbol;
}

void rgPathOfCode(const void* address, char* path, size_t size) {
    HMODULE module = NULL;
    if (address != NULL) {
        GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (const char*)address, &module);
    }
    DWORD length = GetModuleFileNameA(module, path, (DWORD)size);
    path[length < size ? length : 0] = '\0';
    for (char* at = path; *at != '\0'; ++at) {
        *at = *at == '\\' ? '/' : *at;
    }
}

int rgCoreCount(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (int)info.dwNumberOfProcessors;
}

uint64_t rgMemorySize(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof(status)};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}
#else
typedef int rgNotWindows; // a file of C has a declaration
#endif
