// MJCF files with one mistake each: what is said about them, and that damaged bytes never crash.
#include "remarks.h"
#include "rigor/io.h"
#include "source_dir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_BAD_FOLDER RIGOR_SOURCE_DIR "/test/io/bad_mjcf"

// Warnings become errors under strict.
static void rgCheckBadFile(const rgBadFile* file) {
    for (int strict = 0; strict < 2; ++strict) {
        rgDiagnostics* diagnostics = NULL;
        rgModelDef* model = NULL;
        rgLoadDef def = rgDefaultLoadDef();
        def.strict = strict != 0;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        rgResult result = rgLoadModelDef(file->path, &def, diagnostics, &model);
        // What follows from a part that was left out is not reached when that is an error.
        if (strict && strstr(file->path, "_left_out") != NULL) {
            assert_true(result != rg_ok);
        } else {
            rgExpectRemark(file, diagnostics, strict || file->isError, result != rg_ok);
        }
        assert_true((model != NULL) == (result == rg_ok));
        rgDestroyModelDef(model);
        rgDestroyDiagnostics(diagnostics);
    }
}

static void test_bad_files(void** state) {
    (void)state;
    assert_true(rgForEachBadFile(RG_BAD_FOLDER, rgCheckBadFile) >= 80);
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

// Whether a warning about the text names the attribute.
static bool rgTells(const char* bytes, size_t count, const char* attribute) {
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* model = NULL;
    bool told = false;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgParseMjcf(bytes, count, RIGOR_SOURCE_DIR "/test/io/mjcf/x.xml", NULL,
                                  diagnostics, &model);
    assert_int_equal(result, rg_ok);
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        told = told || (message.severity == rg_severityWarning &&
                        strstr(message.text, "unknown attribute") != NULL &&
                        strstr(message.text, attribute) != NULL);
    }
    rgDestroyModelDef(model);
    rgDestroyDiagnostics(diagnostics);
    return told;
}

// An attribute that no element has, in every element of a file with all of them.
static void test_unknown_attributes(void** state) {
    (void)state;
    size_t count = 0;
    char* bytes = rgReadText("every_element.xml", &count);
    char* copy = malloc(count + 20);
    int elementCount = 0;
    for (size_t i = 0; i < count; ++i) {
        bool starts = bytes[i] == '<' && bytes[i + 1] >= 'a' && bytes[i + 1] <= 'z';
        if (!starts) {
            continue;
        }
        size_t end = i + strcspn(bytes + i, " >/");
        memcpy(copy, bytes, end);
        memcpy(copy + end, " zzz='1'", 8);
        memcpy(copy + end + 8, bytes + end, count - end);
        if (!rgTells(copy, count + 8, "zzz")) {
            fail_msg("%.*s zzz='1': nothing is said", (int)(end - i), bytes + i);
        }
        ++elementCount;
    }
    assert_true(elementCount > 140);
    assert_false(rgTells(bytes, count, ""));
    free(copy);
    free(bytes);
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
        cmocka_unit_test(test_unknown_attributes),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
