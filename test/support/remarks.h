// Remarks of loaders, and folders of files with one mistake each.
#pragma once
#include "support.h"

// Whether there is a remark of this severity at this line that contains the text and names a file.
bool rgHasRemark(const rgDiagnostics* diagnostics, rgSeverity severity, int line, const char* text);
void rgPrintRemarks(const rgDiagnostics* diagnostics);

// What FILE.expect says about FILE.
typedef struct rgBadFile {
    char path[4096]; // FILE
    bool isError;    // or a warning, which is an error under strict
    int line;
    char text[1024];
} rgBadFile;

typedef void rgBadFileFcn(const rgBadFile* file);
// Call check for every FILE.expect of a folder; returns how many there are.
int rgForEachBadFile(const char* folder, rgBadFileFcn* check);
// Fails unless the remark is there and the call failed or not as it should.
void rgExpectRemark(const rgBadFile* file, const rgDiagnostics* diagnostics, bool fails,
                    bool failed);
