#include "remarks.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

bool rgHasRemark(const rgDiagnostics* diagnostics, rgSeverity severity, int line,
                 const char* text) {
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        if (message.severity == severity && message.line == line &&
            strstr(message.text, text) != NULL && message.file != NULL) {
            return true;
        }
    }
    return false;
}

void rgPrintRemarks(const rgDiagnostics* diagnostics) {
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        print_error("%d %s:%d: %s\n", message.severity, message.file, message.line, message.text);
    }
}

// The expectation is one line: severity, line, text.
static rgBadFile rgReadExpectation(const char* folder, const char* name) {
    rgBadFile bad = {0};
    char severity[16];
    snprintf(bad.path, sizeof(bad.path), "%s/%s", folder, name);
    FILE* file = fopen(bad.path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%15s %d %1000[^\n]", severity, &bad.line, bad.text), 3);
    fclose(file);
    bad.isError = strcmp(severity, "error") == 0;
    *strstr(bad.path, ".expect") = '\0';
    return bad;
}

int rgForEachBadFile(const char* folder, rgBadFileFcn* check) {
    DIR* entries = opendir(folder);
    int count = 0;
    assert_non_null(entries);
    for (struct dirent* entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (strstr(entry->d_name, ".expect") != NULL) {
            rgBadFile bad = rgReadExpectation(folder, entry->d_name);
            check(&bad);
            ++count;
        }
    }
    closedir(entries);
    return count;
}

void rgExpectRemark(const rgBadFile* file, const rgDiagnostics* diagnostics, bool fails,
                    bool failed) {
    rgSeverity severity = fails ? rg_severityError : rg_severityWarning;
    bool found = rgHasRemark(diagnostics, severity, file->line, file->text);
    if (!found || failed != fails) {
        print_error("%s: expected line %d '%s', said:\n", file->path, file->line, file->text);
        rgPrintRemarks(diagnostics);
    }
    assert_true(found);
    assert_true(failed == fails);
}
