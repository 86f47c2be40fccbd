// Files of results: what is written is read, in one file and in parts; what is there already, what
// is missing and what is damaged.
#include "folder.h"
#include "support.h"

#include "rigor/results.h"

#include <hdf5.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rows = 23 };

static const rgResultsArray arrays[] = {
    {"positions", {3, 4}, false}, {"count", {0, 0}, true}, {"numbers", {5, 0}, false}};
static const int sizes[] = {12, 1, 5};

static rgResultsDef Def(int parts) {
    static const rgResultsText texts[] = {{"settings", "steps 3"}, {"names", "a,b"}};
    rgResultsDef def = rgDefaultResultsDef();
    def.rowCount = rows;
    def.partCount = parts;
    def.arrays = arrays;
    def.arrayCount = 3;
    def.texts = texts;
    def.textCount = 2;
    return def;
}

static double Value(int array, int64_t row, int k) {
    return array == 1 ? (double)(7 * row - 50) : 100.0 * (double)row + k + 0.25 * array;
}

static void WriteRows(rgResults* results, int64_t first, int64_t count) {
    double values[rows * 12];
    int32_t status[rows];
    for (int a = 0; a < 3; ++a) {
        for (int64_t i = 0; i < count; ++i) {
            status[i] = (int32_t)(1 + (first + i) % 3);
            for (int k = 0; k < sizes[a]; ++k) {
                values[i * sizes[a] + k] = Value(a, first + i, k);
            }
        }
        assert_int_equal(rgResults_Write(results, a, first, count, values, NULL), rg_ok);
    }
    assert_int_equal(rgResults_Commit(results, first, count, status, NULL), rg_ok);
}

static void CheckRows(rgResults* results, int64_t first, int64_t count) {
    double values[rows * 12];
    int32_t status[rows];
    for (int a = 0; a < 3; ++a) {
        assert_int_equal(rgResults_Read(results, a, first, count, values, NULL), rg_ok);
        for (int64_t i = 0; i < count; ++i) {
            for (int k = 0; k < sizes[a]; ++k) {
                assert_true(values[i * sizes[a] + k] == Value(a, first + i, k));
            }
        }
    }
    assert_int_equal(rgResults_ReadStatus(results, first, count, status, NULL), rg_ok);
    for (int64_t i = 0; i < count; ++i) {
        assert_int_equal(status[i], 1 + (first + i) % 3);
    }
}

static void test_round_trip(void** state) {
    (void)state;
    for (int parts = 1; parts <= 5; ++parts) {
        char name[32];
        snprintf(name, sizeof(name), "trip%d.h5", parts);
        rgResultsDef def = Def(parts);
        rgResults* results = NULL;
        assert_int_equal(rgCreateResults(rgTestPath(name), &def, NULL, &results), rg_ok);
        // Some rows across the border of parts, then the process ends; the rest in a later one.
        WriteRows(results, 3, 11);
        rgDestroyResults(results);
        assert_int_equal(rgOpenResults(rgTestPath(name), true, NULL, &results), rg_ok);
        int32_t status[rows];
        assert_int_equal(rgResults_ReadStatus(results, 0, rows, status, NULL), rg_ok);
        for (int i = 0; i < rows; ++i) {
            assert_int_equal(status[i] != 0, i >= 3 && i < 14);
        }
        WriteRows(results, 14, rows - 14);
        WriteRows(results, 0, 3);
        rgDestroyResults(results);
        assert_int_equal(rgOpenResults(rgTestPath(name), false, NULL, &results), rg_ok);
        assert_int_equal(rgResults_RowCount(results), rows);
        assert_int_equal(rgResults_PartCount(results), parts);
        assert_string_equal(rgResults_Text(results, "settings"), "steps 3");
        assert_null(rgResults_Text(results, "nothing"));
        assert_int_equal(rgResults_ArrayCount(results), 3);
        assert_int_equal(rgResults_FindArray(results, "numbers"), 2);
        assert_int_equal(rgResults_FindArray(results, "status"), -1);
        assert_int_equal(rgResults_Array(results, 0).extent[1], 4);
        assert_true(rgResults_Array(results, 1).isWhole);
        CheckRows(results, 0, rows);
        CheckRows(results, 9, 5);
        int64_t next = 0;
        for (int p = 0; p < parts; ++p) {
            int64_t first, count;
            rgResults_PartRows(results, p, &first, &count);
            assert_int_equal(first, next);
            assert_true(count >= rows / parts && count <= rows / parts + 1);
            next = first + count;
        }
        assert_int_equal(next, rows);
        rgDestroyResults(results);
    }
}

static const char* Said(rgDiagnostics* said) {
    return rgDiagnostics_Count(said) > 0 ? rgDiagnostics_Message(said, 0).text : "";
}

static void test_nothing_is_overwritten(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResultsDef def = Def(2);
    rgResults *results = NULL, *other = NULL;
    assert_int_equal(rgCreateResults(rgTestPath("mine.h5"), &def, NULL, &results), rg_ok);
    WriteRows(results, 0, rows);
    rgDestroyResults(results);
    assert_int_equal(rgCreateResults(rgTestPath("mine.h5"), &def, said, &other), rg_errorFile);
    assert_non_null(strstr(Said(said), "exists already"));
    rgDiagnostics_Clear(said);
    assert_int_equal(unlink(rgTestPath("mine.h5")), 0); // the index; its parts are still there
    assert_int_equal(rgCreateResults(rgTestPath("mine.h5"), &def, said, &other), rg_errorFile);
    assert_non_null(strstr(Said(said), "exists already"));
    def.overwrite = true;
    assert_int_equal(rgCreateResults(rgTestPath("mine.h5"), &def, NULL, &results), rg_ok);
    int32_t status[rows];
    assert_int_equal(rgResults_ReadStatus(results, 0, rows, status, NULL), rg_ok);
    assert_int_equal(status[0] + status[rows - 1], 0);
    rgDestroyResults(results);
    // A folder of that name, asked for or not.
    assert_int_equal(mkdir(rgTestPath("folder.h5"), 0777), 0);
    assert_int_equal(rgCreateResults(rgTestPath("folder.h5"), &def, said, &other), rg_errorFile);
    struct stat info;
    assert_int_equal(stat(rgTestPath("folder.h5"), &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    // Nor are a pipe, a link or what it leads to replaced, asked for or not.
    assert_int_equal(mkfifo(rgTestPath("pipe.h5"), 0600), 0);
    assert_int_equal(symlink("pipe.h5", rgTestPath("link.h5")), 0);
    assert_int_equal(symlink("absent", rgTestPath("dangling.h5")), 0);
    static const char* const special[] = {"pipe.h5", "link.h5", "dangling.h5"};
    for (int i = 0; i < 6; ++i) {
        rgResultsDef one = Def(1);
        one.overwrite = i < 3;
        rgDiagnostics_Clear(said);
        assert_int_equal(rgCreateResults(rgTestPath(special[i % 3]), &one, said, &other),
                         rg_errorFile);
        assert_int_equal(rgDiagnostics_CountOf(said, rg_severityError), 1);
        assert_int_equal(lstat(rgTestPath(special[i % 3]), &info), 0);
        assert_true(i % 3 == 0 ? S_ISFIFO(info.st_mode) : S_ISLNK(info.st_mode));
    }
    rgDestroyDiagnostics(said);
}

static void test_bad_files(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResults* results = NULL;
    assert_int_equal(rgOpenResults(rgTestPath("absent.h5"), false, said, &results), rg_errorFile);
    rgResultsDef def = Def(3);
    assert_int_equal(rgCreateResults(rgTestPath("no/such/place.h5"), &def, said, &results),
                     rg_errorFile);
    def.rowCount = 0;
    assert_int_equal(rgCreateResults(rgTestPath("empty.h5"), &def, said, &results),
                     rg_errorArgument);
    def = Def(rows + 1);
    assert_int_equal(rgCreateResults(rgTestPath("empty.h5"), &def, said, &results),
                     rg_errorArgument);
    def = Def(1);
    def.arrays = (const rgResultsArray[]){{"status", {0, 0}, false}};
    def.arrayCount = 1;
    assert_int_equal(rgCreateResults(rgTestPath("empty.h5"), &def, said, &results),
                     rg_errorArgument);
    FILE* file = fopen(rgTestPath("text.h5"), "w");
    assert_non_null(file);
    fputs("no results", file);
    fclose(file);
    assert_int_equal(rgOpenResults(rgTestPath("text.h5"), false, said, &results), rg_errorFormat);
    // A part that was lost, and one that was cut.
    def = Def(3);
    assert_int_equal(rgCreateResults(rgTestPath("lost.h5"), &def, NULL, &results), rg_ok);
    WriteRows(results, 0, rows);
    rgDestroyResults(results);
    assert_int_equal(truncate(rgTestPath("lost.h5.part0001"), 100), 0);
    assert_int_equal(rgOpenResults(rgTestPath("lost.h5"), true, NULL, &results), rg_ok);
    int32_t status[rows];
    assert_int_equal(rgResults_ReadStatus(results, 0, 3, status, NULL), rg_ok);
    assert_int_not_equal(rgResults_ReadStatus(results, 0, rows, status, NULL), rg_ok);
    // Rows that do not exist.
    double number[12] = {0};
    assert_int_equal(rgResults_Write(results, 1, rows, 1, number, NULL), rg_errorArgument);
    assert_int_equal(rgResults_Write(results, 3, 0, 1, number, NULL), rg_errorArgument);
    assert_int_equal(rgResults_Read(results, 1, 0, 1, number, NULL), rg_errorArgument);
    rgDestroyResults(results);
    assert_null(strstr(Said(said), "%"));
    rgDestroyDiagnostics(said);
}

// Rows are written by one process at a time, and not replaced by another.
static void test_two_writers(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    rgResults *first = NULL, *second = NULL;
    rgResultsDef def = Def(2);
    int32_t status[rows];
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgCreateResults(rgTestPath("two.h5"), &def, NULL, &first), rg_ok);
    WriteRows(first, 0, 5); // of the first part
    assert_int_equal(rgOpenResults(rgTestPath("two.h5"), true, NULL, &second), rg_ok);
    assert_int_equal(rgResults_ReadStatus(second, 0, 5, status, said), rg_errorFile);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "by another program"));
    WriteRows(second, 12, 3); // of the other part
    rgDestroyResults(second);
    def.overwrite = true;
    assert_int_equal(rgCreateResults(rgTestPath("two.h5"), &def, said, &second), rg_errorFile);
    WriteRows(first, 5, 7);
    rgDestroyResults(first);
    assert_int_equal(rgOpenResults(rgTestPath("two.h5"), false, NULL, &first), rg_ok);
    CheckRows(first, 0, 15);
    rgDestroyResults(first);
    rgDestroyDiagnostics(said);
}

// ---- damage

static long SizeOf(const char* path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (long)info.st_size;
}

static void FlipBit(const char* path, long at, int bit) {
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1 << bit, file);
    fclose(file);
}

// As --resume does (write), or as someone who reads it all.
static rgResult TakeAll(const char* path, bool write, rgDiagnostics* said) {
    rgResults* results = NULL;
    double values[rows * 12];
    int32_t status[rows];
    rgResult result = rgOpenResults(path, write, said, &results);
    result = result == rg_ok ? rgResults_ReadStatus(results, 0, rows, status, said) : result;
    for (int a = 0; result == rg_ok && !write && a < 3; ++a) {
        result = rgResults_Read(results, a, 0, rows, values, said);
    }
    rgDestroyResults(results);
    return result;
}

// Flip bits all over a file, one at a time, and read the results whose index this is: how many
// flips nobody saw.
static int CountMissed(const char* path, const char* index) {
    rgDiagnostics* said = NULL;
    int missed = 0;
    long size = SizeOf(path);
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    for (long k = 0; k < rgFewer(300); ++k) {
        long at = k * size / rgFewer(300) + k % 7;
        at = at < size ? at : size - 1;
        FlipBit(path, at, (int)(k % 8));
        for (int write = 0; write < 2; ++write) {
            rgDiagnostics_Clear(said);
            bool found = TakeAll(index, write == 1, said) != rg_ok &&
                         rgDiagnostics_CountOf(said, rg_severityError) > 0;
            if (!found) {
                printf("%s: byte %ld of %ld, bit %ld: not found\n", path, at, size, k % 8);
            }
            missed += !found;
        }
        FlipBit(path, at, (int)(k % 8));
    }
    rgDestroyDiagnostics(said);
    return missed;
}

// In a process of its own, which is killed: libhdf5 loses memory over headers that it refuses, and
// memcheck looks for that where a process ends.
static int CountMissedApart(const char* path, const char* index) {
    int missed = -1, ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        missed = CountMissed(path, index);
        (void)!write(ends[1], &missed, sizeof(missed));
        kill(getpid(), SIGKILL);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], &missed, sizeof(missed));
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return size == sizeof(missed) ? missed : -1;
}

// Every flipped bit of a file is found, wherever it is.
static void test_flipped_bits(void** state) {
    (void)state;
    for (int parts = 1; parts <= 3; parts += 2) {
        rgResultsDef def = Def(parts);
        rgResults* results = NULL;
        def.overwrite = true;
        assert_int_equal(rgCreateResults(rgTestPath("flip.h5"), &def, NULL, &results), rg_ok);
        WriteRows(results, 0, rows);
        rgDestroyResults(results);
        for (int p = -1; p < (parts > 1 ? parts : 0); ++p) {
            char name[32], path[300], index[300];
            snprintf(name, sizeof(name), p < 0 ? "flip.h5" : "flip.h5.part%04d", p);
            snprintf(path, sizeof(path), "%s", rgTestPath(name));
            snprintf(index, sizeof(index), "%s", rgTestPath("flip.h5"));
            assert_int_equal(CountMissedApart(path, index), 0);
        }
        assert_int_equal(TakeAll(rgTestPath("flip.h5"), false, NULL), rg_ok);
        assert_int_equal(TakeAll(rgTestPath("flip.h5"), true, NULL), rg_ok);
    }
}

// The offset of a number of an array that no other has.
static long FindNumber(const char* path, double number) {
    FILE* file = fopen(path, "rb");
    double found = 0;
    long at = 0;
    for (; found != number; ++at) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fread(&found, sizeof(found), 1, file), 1);
    }
    fclose(file);
    return at - 1;
}

// The message says which row of which array, in which file.
static void test_damage_is_named(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResultsDef def = Def(2);
    rgResults* results = NULL;
    assert_int_equal(rgCreateResults(rgTestPath("named.h5"), &def, NULL, &results), rg_ok);
    WriteRows(results, 0, rows);
    rgDestroyResults(results);
    char path[300];
    snprintf(path, sizeof(path), "%s", rgTestPath("named.h5.part0001"));
    FlipBit(path, FindNumber(path, Value(2, 17, 3)), 2);
    assert_int_equal(TakeAll(rgTestPath("named.h5"), false, said), rg_errorFormat);
    assert_string_equal(Said(said), "row 17 of numbers is damaged: its checksum does not fit");
    assert_string_equal(rgDiagnostics_Message(said, 0).file, path);
    double values[rows * 12];
    assert_int_equal(rgOpenResults(rgTestPath("named.h5"), false, NULL, &results), rg_ok);
    assert_int_equal(rgResults_Read(results, 2, 0, 17, values, NULL), rg_ok); // all others are good
    assert_int_equal(rgResults_Read(results, 2, 18, rows - 18, values, NULL), rg_ok);
    assert_int_equal(rgResults_Read(results, 0, 0, rows, values, NULL), rg_ok);
    rgDestroyResults(results);
    rgDestroyDiagnostics(said);
}

// Files without checksums, of version 1, are read and gone on with.
static void test_version1(void** state) {
    (void)state;
    rgResultsDef def = Def(1);
    rgResults* results = NULL;
    assert_int_equal(rgCreateResults(rgTestPath("old.h5"), &def, NULL, &results), rg_ok);
    WriteRows(results, 0, 9);
    rgDestroyResults(results);
    int one = 1;
    hid_t file = H5Fopen(rgTestPath("old.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t version = H5Dopen2(file, "about/version", H5P_DEFAULT);
    assert_true(H5Dwrite(version, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &one) >= 0);
    assert_true(H5Ldelete(file, "check", H5P_DEFAULT) >= 0);
    assert_true(H5Ldelete(file, "seal", H5P_DEFAULT) >= 0);
    H5Dclose(version);
    H5Fclose(file);
    assert_int_equal(rgOpenResults(rgTestPath("old.h5"), true, NULL, &results), rg_ok);
    WriteRows(results, 9, rows - 9);
    rgDestroyResults(results);
    assert_int_equal(rgOpenResults(rgTestPath("old.h5"), false, NULL, &results), rg_ok);
    CheckRows(results, 0, rows);
    rgDestroyResults(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_writers),     cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_damage_is_named), cmocka_unit_test(test_version1),
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_nothing_is_overwritten),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, rgMakeTestFolder, rgRemoveTestFolder);
}
