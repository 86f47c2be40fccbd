// Files as bytes, and the names of files.
#pragma once
#include "base/base.h"

#include <stdio.h>

#define RG_PATH_LENGTH 4096

// Read the whole file, with a zero byte after it. Only regular files up to `limit` bytes are read.
// The caller releases the bytes. Error messages contain the file's name.
rgResult rgReadFile(const char* path, size_t limit, const rgAllocator* allocator,
                    rgDiagnostics* diagnostics, char** bytes, size_t* count);

bool rgFileExists(const char* path); // a regular file

// True if a file may get this name: no file exists, or a regular one. A device, a pipe or a folder
// is refused, and so is a link, which would be replaced. Refusals add a remark.
bool rgIsPlaceForFile(const char* path, rgDiagnostics* diagnostics);

// A file that is written whole or not at all: beside its place, and moved there in the end.
// Devices and pipes are written to as they are. A link to a file, or to nothing, is refused.
typedef struct rgNewFile {
    FILE* file;
    const char* path;
    char* temporary; // NULL: written in place
    rgAllocator allocator;
} rgNewFile;
rgResult rgNewFile_Open(rgNewFile* made, const char* path, rgDiagnostics* diagnostics);
rgResult rgNewFile_Close(rgNewFile* made, bool good, rgDiagnostics* diagnostics);

// True if path starts with a slash.
bool rgIsAbsolutePath(const char* path);
// Folder of a file, without the last slash; "." when the name has none. False: too long.
bool rgPathFolder(const char* path, char out[RG_PATH_LENGTH]);
// folder/name, or name alone when it is absolute. False: too long.
bool rgJoinPath(const char* folder, const char* name, char out[RG_PATH_LENGTH]);
// Extension of a path: text after the last dot of the last part, lower case, cut to 15 characters;
// "" without a dot.
void rgPathExtension(const char* path, char out[16]);
