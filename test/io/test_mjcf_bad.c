// MJCF files with one mistake each: what is said about them, and that damaged bytes never crash.
#include "rigor/io.h"
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_BAD_FOLDER RIGOR_SOURCE_DIR "/test/io/bad_mjcf"

static bool rgHasRemark(const rgDiagnostics* diagnostics, rgSeverity severity, int line,
                        const char* text) {
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        if (message.severity == severity && message.line == line &&
            strstr(message.text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void rgPrintRemarks(const rgDiagnostics* diagnostics) {
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        print_error("%d %s:%d: %s\n", message.severity, message.file, message.line, message.text);
    }
}

// FILE.expect holds: severity, line, text. Warnings become errors under strict.
static void rgCheckBadFile(const char* expectPath) {
    char path[4096], severityName[16], text[1024];
    int line = 0;
    FILE* file = fopen(expectPath, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%15s %d %1000[^\n]", severityName, &line, text), 3);
    fclose(file);
    snprintf(path, sizeof(path), "%.*s", (int)(strlen(expectPath) - strlen(".expect")), expectPath);
    for (int strict = 0; strict < 2; ++strict) {
        rgDiagnostics* diagnostics = NULL;
        rgModelDef* model = NULL;
        rgLoadDef def = rgDefaultLoadDef();
        def.strict = strict != 0;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        rgResult result = rgLoadModelDef(path, &def, diagnostics, &model);
        bool fails = strict || strcmp(severityName, "error") == 0;
        rgSeverity severity = fails ? rg_severityError : rg_severityWarning;
        bool found = rgHasRemark(diagnostics, severity, line, text);
        // What follows from a part that was left out is not reached when that is an error.
        found = found || (strict && strstr(path, "_left_out") != NULL);
        if (!found || (result == rg_ok) == fails) {
            print_error("%s: expected line %d '%s', said:\n", path, line, text);
            rgPrintRemarks(diagnostics);
        }
        assert_true(found);
        assert_true((result != rg_ok) == fails);
        assert_true((model != NULL) == (result == rg_ok));
        rgDestroyModelDef(model);
        rgDestroyDiagnostics(diagnostics);
    }
}

static void test_bad_files(void** state) {
    (void)state;
    DIR* folder = opendir(RG_BAD_FOLDER);
    int count = 0;
    assert_non_null(folder);
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".expect") != NULL) {
            char path[4096];
            snprintf(path, sizeof(path), "%s/%s", RG_BAD_FOLDER, entry->d_name);
            rgCheckBadFile(path);
            ++count;
        }
    }
    closedir(folder);
    assert_true(count >= 80);
}

// A model or an error that is told; nothing else.
static void rgLoadBytes(const char* bytes, size_t count, int failAfter) {
    rgCounter counter = {.failAfter = failAfter};
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* model = NULL;
    rgLoadDef def = rgDefaultLoadDef();
    def.allocator = rgCountingAllocator(&counter);
    def.fileContact = true;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgParseMjcf(bytes, count, RIGOR_SOURCE_DIR "/test/io/mjcf/x.xml", &def,
                                  diagnostics, &model);
    if (result == rg_ok) {
        rgDestroyModelDef(model);
    } else {
        assert_true(result == rg_errorMemory ||
                    rgDiagnostics_CountOf(diagnostics, rg_severityError) > 0);
        assert_null(model);
    }
    assert_int_equal(counter.live, 0);
    rgDestroyDiagnostics(diagnostics);
}

static char* rgReadText(const char* name, size_t* count) {
    char path[4096];
    snprintf(path, sizeof(path), RIGOR_SOURCE_DIR "/test/io/mjcf/%s", name);
    FILE* file = fopen(path, "rb");
    char* bytes = calloc(1, 100000);
    assert_non_null(file);
    *count = fread(bytes, 1, 99999, file);
    fclose(file);
    return bytes;
}

// Bytes changed, cut out, doubled.
static void test_damage(void** state) {
    (void)state;
    static const char* const names[] = {"classes.xml", "inertia.xml", "loops.xml"};
    rgRandom random = {.state = 11};
    for (int n = 0; n < 3; ++n) {
        size_t count = 0;
        char* bytes = rgReadText(names[n], &count);
        char* copy = malloc(2 * count + 100);
        for (int k = 0; k < 400; ++k) {
            size_t size = count;
            memcpy(copy, bytes, count);
            for (int j = rgRandom_Index(&random, 4); j >= 0; --j) {
                int at = rgRandom_Index(&random, (int)size - 20);
                int length = rgRandom_Index(&random, 20);
                if (rgRandom_Index(&random, 2) == 0) {
                    static const char letters[] = "0123456789-.eE \"<>/=abxyz";
                    copy[at] = letters[rgRandom_Index(&random, (int)sizeof(letters) - 1)];
                } else {
                    memmove(copy + at, copy + at + length, size - (size_t)(at + length));
                    size -= (size_t)length;
                }
            }
            rgLoadBytes(copy, size, -1);
        }
        free(copy);
        free(bytes);
    }
}

static void test_out_of_memory(void** state) {
    (void)state;
    static const char* const names[] = {"classes.xml", "inertia.xml"};
    for (int n = 0; n < 2; ++n) {
        size_t count = 0;
        char* bytes = rgReadText(names[n], &count);
        for (int k = 0; k < 120; ++k) {
            rgLoadBytes(bytes, count, k);
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
