// HDF5 files that lead elsewhere: datasets whose bytes are in another file, and links to others. A
// recording, results or a problem that someone sends must not carry out what its reader may read.
#include "folder.h"
#include "support.h"

#include "rigor/fclib.h"
#include "rigor/io.h"
#include "rigor/record.h"
#include "rigor/results.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum rgWay { wayExternal, wayVirtual, wayLink, waySoft, wayGroup, wayCount } rgWay;

// A file of the user, as bytes and as HDF5: what must not come out.
static void MakeSecret(void) {
    double numbers[4096];
    for (int i = 0; i < 4096; ++i) {
        numbers[i] = 42;
    }
    FILE* file = fopen(rgTestPath("secret.bin"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(numbers, 1, sizeof(numbers), file), sizeof(numbers));
    fclose(file);
}

// Copy `name` of the good file to the other one, and put something in its place that leads there.
static void Redirect(const char* path, const char* name, rgWay way) {
    char secret[300], other[300], group[100];
    snprintf(secret, sizeof(secret), "%s", rgTestPath("secret.bin"));
    snprintf(other, sizeof(other), "%s", rgTestPath("other.h5"));
    snprintf(group, sizeof(group), "%s", name);
    char* slash = strrchr(group, '/');
    *(slash != NULL ? slash : group) = '\0';
    hid_t there = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(there >= 0 && file >= 0);
    const char* taken = way == wayGroup ? group : name;
    assert_true(H5Ocopy(file, taken, there, "copy", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Ldelete(file, taken, H5P_DEFAULT) >= 0);
    if (way == wayExternal) {
        assert_true(H5Pset_external(plan, secret, 0, H5F_UNLIMITED) >= 0);
    } else if (way == wayVirtual) {
        assert_true(H5Pset_virtual(plan, space, other, "copy", space) >= 0);
    }
    if (way <= wayVirtual) {
        hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
        assert_true(made >= 0);
        H5Dclose(made);
    } else if (way == waySoft) { // a link inside, to one that leads outside
        assert_true(H5Lcreate_external(other, "copy", file, "door", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        assert_true(H5Lcreate_soft("/door", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    } else {
        assert_true(H5Lcreate_external(other, "copy", file, taken, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    H5Pclose(plan);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    H5Fclose(there);
}

static void ExpectRefused(rgResult result, const rgDiagnostics* said, const char* name) {
    assert_int_equal(result, rg_errorFormat);
    assert_true(rgDiagnostics_Count(said) > 0);
    const char* text = rgDiagnostics_Message(said, 0).text;
    if (strstr(text, name) == NULL || strstr(text, "another file") == NULL) {
        fail_msg("'%s' does not say that %s leads to another file", text, name);
    }
}

// ---- recordings

static void MakeRecording(const char* path) {
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgStepReport report;
    rgModelDef* def = NULL;
    assert_int_equal(rgLoadModelDef("arm", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    rgRecorderDef settings = rgDefaultRecorderDef();
    settings.path = path;
    settings.def = def;
    settings.arguments = "simulate\narm\n";
    assert_int_equal(rgCreateRecorder(&settings, world, NULL, &recorder), rg_ok);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        assert_int_equal(rgRecorder_Add(recorder, world, &report), rg_ok);
    }
    rgDestroyRecorder(recorder);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static void test_recording(void** state) {
    static const char* const names[] = {"model/mjcf",    "model/scene",   "run/title",
                                        "run/arguments", "run/time_step", "frames/q",
                                        "frames/time",   "contacts/point"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        for (rgWay way = wayExternal; way < wayCount; ++way) {
            bool grows = strncmp(names[i], "frames", 6) == 0 || names[i][0] == 'c';
            if (grows && way == wayExternal) {
                continue; // HDF5 keeps no growing dataset of rank 2 so
            }
            char path[300];
            snprintf(path, sizeof(path), "%s", rgTestPath("recording.h5"));
            MakeRecording(path);
            Redirect(path, names[i], way);
            rgDiagnostics* said = NULL;
            rgRecording* recording = NULL;
            assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
            rgResult result = rgLoadRecording(path, NULL, said, &recording);
            char group[32];
            snprintf(group, sizeof(group), "%.*s", (int)strcspn(names[i], "/"), names[i]);
            ExpectRefused(result, said, way == wayGroup ? group : names[i]);
            assert_null(recording);
            rgDestroyDiagnostics(said);
        }
    }
}

// ---- results

static void MakeResults(const char* path, int parts) {
    const rgResultsArray arrays[] = {{"x", {2, 0}, false}, {"n", {0, 0}, true}};
    const rgResultsText texts[] = {{"plan", "text"}};
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int32_t status[4] = {1, 1, 1, 1};
    rgResults* results = NULL;
    rgResultsDef def = rgDefaultResultsDef();
    def.rowCount = 4;
    def.partCount = parts;
    def.arrays = arrays;
    def.arrayCount = 2;
    def.texts = texts;
    def.textCount = 1;
    def.overwrite = true;
    assert_int_equal(rgCreateResults(path, &def, NULL, &results), rg_ok);
    assert_int_equal(rgResults_Write(results, 0, 0, 4, x, NULL), rg_ok);
    assert_int_equal(rgResults_Write(results, 1, 0, 4, x, NULL), rg_ok);
    assert_int_equal(rgResults_Commit(results, 0, 4, status, NULL), rg_ok);
    rgDestroyResults(results);
}

// All that there is, as a reader does; the first fault.
static rgResult ReadResults(const char* path, bool write, rgDiagnostics* said) {
    rgResults* results = NULL;
    double numbers[16];
    int32_t status[4];
    rgResult result = rgOpenResults(path, write, said, &results);
    if (result == rg_ok) {
        result = rgResults_ReadStatus(results, 0, 4, status, said);
    }
    for (int i = 0; result == rg_ok && !write && i < rgResults_ArrayCount(results); ++i) {
        result = rgResults_Read(results, i, 0, 4, numbers, said);
    }
    rgDestroyResults(results);
    return result;
}

static void test_results(void** state) {
    static const char* const names[] = {"x", "status", "about/rows", "about/texts/plan",
                                        "about/arrays/0"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        for (rgWay way = wayExternal; way < wayCount; ++way) {
            for (int write = 0; write < 2; ++write) {
                if (way == wayGroup && strchr(names[i], '/') == NULL) {
                    continue;
                }
                char path[300];
                snprintf(path, sizeof(path), "%s", rgTestPath("results.h5"));
                MakeResults(path, 1);
                Redirect(path, names[i], way);
                rgDiagnostics* said = NULL;
                assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
                char group[32];
                snprintf(
                    group, sizeof(group), "%.*s",
                    (int)(strrchr(names[i], '/') != NULL ? strrchr(names[i], '/') - names[i] : 0),
                    names[i]);
                ExpectRefused(ReadResults(path, write, said), said,
                              way == wayGroup ? group : names[i]);
                rgDestroyDiagnostics(said);
            }
        }
    }
}

// The index of parts has virtual datasets of its own, for other programs: we read the parts, and
// nothing else that the index may name.
static void test_parts(void** state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof(path), "%s", rgTestPath("parts.h5"));
    MakeResults(path, 2);
    assert_int_equal(ReadResults(path, false, NULL), rg_ok);
    Redirect(path, "x", wayVirtual);
    assert_int_equal(ReadResults(path, false, NULL), rg_errorFormat); // by its checksum
    int one = 1;                                                      // a version without
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t version = H5Dopen2(file, "about/version", H5P_DEFAULT);
    assert_true(H5Dwrite(version, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &one) >= 0);
    H5Dclose(version);
    H5Fclose(file);
    rgResults* results = NULL;
    double x[8];
    assert_int_equal(rgOpenResults(path, false, NULL, &results), rg_ok);
    assert_int_equal(rgResults_Read(results, 0, 0, 4, x, NULL), rg_ok);
    for (int i = 0; i < 8; ++i) {
        assert_true(x[i] == i + 1);
    }
    rgDestroyResults(results);
}

// ---- problems

static void MakeProblem(const char* path) {
    static const double G[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, g[3] = {1, 0, -1};
    rgBlock block = {.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.5};
    rgContactProblem problem = {
        .rowCount = 3, .blockCount = 1, .blocks = &block, .freeVelocity = g};
    problem.delassus.matrix = G;
    rgFclibContent content = {.problem = &problem, .title = "title", .solution = {g, g}};
    assert_int_equal(rgSaveFclib(path, &content, NULL), rg_ok);
}

static void test_problem(void** state) {
    static const char* const names[] = {"fclib_local/vectors/q", "fclib_local/W/x",
                                        "fclib_local/spacedim", "fclib_local/info/title",
                                        "solution/r"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        for (rgWay way = wayExternal; way < wayGroup; ++way) {
            char path[300];
            snprintf(path, sizeof(path), "%s", rgTestPath("problem.hdf5"));
            MakeProblem(path);
            Redirect(path, names[i], way);
            rgDiagnostics* said = NULL;
            rgFclibProblem* read = NULL;
            assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
            ExpectRefused(rgLoadFclib(path, NULL, said, &read), said, names[i]);
            assert_null(read);
            rgDestroyDiagnostics(said);
        }
    }
}

static int SetUp(void** state) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    int made = rgMakeTestFolder(state);
    MakeSecret();
    return made;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_problem),
    };
    return cmocka_run_group_tests(tests, SetUp, rgRemoveTestFolder);
}
