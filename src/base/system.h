// Calls of the operating system that are not in C17. Files outside src/base include this header and
// none of POSIX. Windows lacks some of the calls: windows.c has them under the same names.
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef _WIN32
#include <io.h>
#include <stdlib.h>
#define O_CLOEXEC                  (O_NOINHERIT | O_BINARY)
#define lstat(path, found)         stat(path, found)
#define S_ISLNK(mode)              0
#define mkdir(path, mode)          ((void)(mode), mkdir(path))
#define fsync(file)                _commit(file)
#define fdatasync(file)            _commit(file)
#define rename(from, to)           rgReplaceFile(from, to) // the C library's does not replace
#define realpath(path, out)        _fullpath(out, path, _MAX_PATH)
#define open_memstream(text, size) rgOpenSink(text, size)
int rgReplaceFile(const char* from, const char* to);
FILE* rgOpenSink(char** text, size_t* size); // what is written to it is lost
ssize_t pread(int file, void* bytes, size_t count, off_t at);
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at);
#endif
#ifdef __APPLE__
#define fdatasync(file) fsync(file)
#endif

// Give all of a file's bytes up to size a place on the disk; errno or 0. system.c
int rgFillDisk(int file, off_t size);

// ---- Libraries that are loaded while running, and the machine. system.c, windows.c
void* rgOpenLibrary(const char* path, char why[256]); // stays open
void* rgLibrarySymbol(void* library, const char* name);
// Path of the library or program that has an address, or of the running program (NULL); "" unknown.
void rgPathOfCode(const void* address, char* path, size_t size);
int rgCoreCount(void);
uint64_t rgMemorySize(void); // [bytes], 0 unknown
