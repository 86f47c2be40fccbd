// Arena, growing arrays, allocation failure, diagnostics, hash, version.
#include "base/base.h"
#include "support.h"

#include <string.h>

static void test_arena_settles(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgArena arena;
    rgArena_Init(&arena, &allocator);
    for (int round = 0; round < 4; ++round) {
        int before = counter.allocations;
        rgArena_Reset(&arena);
        for (int i = 0; i < 100; ++i) {
            double* numbers = RG_TAKE(&arena, double, 1000);
            assert_non_null(numbers);
            assert_int_equal((uintptr_t)numbers % RG_ALIGNMENT, 0);
            memset(numbers, 1, 8000);
        }
        if (round >= 2) {
            assert_int_equal(counter.allocations, before);
        }
    }
    rgArena_Free(&arena);
    assert_int_equal(counter.live, 0);
}

static void test_arena_marks_nest(void** state) {
    (void)state;
    rgArena arena;
    rgArena_Init(&arena, NULL);
    rgArenaMark outer = rgArena_Mark(&arena);
    int* first = RG_TAKE(&arena, int, 10);
    first[0] = 7;
    rgArenaMark inner = rgArena_Mark(&arena);
    char* big = RG_TAKE(&arena, char, 1 << 20);
    memset(big, 3, 1 << 20);
    rgArena_Return(&arena, inner);
    assert_ptr_equal(RG_TAKE(&arena, char, 1 << 20), big);
    assert_int_equal(first[0], 7);
    rgArena_Return(&arena, outer);
    assert_ptr_equal(RG_TAKE(&arena, int, 10), first);
    rgArena_Free(&arena);
}

static void test_allocation_failure_is_reported(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = 0};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(&allocator, &diagnostics), rg_errorMemory);
    assert_null(diagnostics);
    rgThreadPool* pool = NULL;
    assert_int_equal(rgCreateThreadPool(2, &allocator, &pool), rg_errorMemory);
    rgArena arena;
    rgArena_Init(&arena, &allocator);
    assert_null(RG_TAKE(&arena, double, 10));
    assert_true(arena.failed);
    assert_int_equal(counter.live, 0);
}

static void test_diagnostics_keep_messages(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(&allocator, &diagnostics), rg_ok);
    for (int i = 0; i < 50; ++i) {
        rgDiagnostics_Add(diagnostics, i % 2 ? rg_severityError : rg_severityWarning, "a.urdf", i,
                          "value %d", i);
    }
    rgDiagnostics_Add(NULL, rg_severityError, NULL, 0, "ignored");
    assert_int_equal(rgDiagnostics_Count(diagnostics), 50);
    assert_int_equal(rgDiagnostics_CountOf(diagnostics, rg_severityError), 25);
    assert_string_equal(rgDiagnostics_Message(diagnostics, 13).text, "value 13");
    assert_string_equal(rgDiagnostics_Message(diagnostics, 13).file, "a.urdf");
    assert_string_equal(rgDiagnostics_Message(diagnostics, 99).text, "");
    rgDestroyDiagnostics(diagnostics);
    assert_int_equal(counter.live, 0);
}

static void test_hash_is_fixed(void** state) {
    (void)state;
    assert_true(rgHashBytes("rigor", 5, 0) == rgHashBytes("rigor", 5, 0));
    assert_true(rgHashBytes("rigor", 5, 0) != rgHashBytes("rigos", 5, 0));
    assert_true(rgHashBytes("rigor", 5, 0) != rgHashBytes("rigor", 5, 1));
}

static void test_version_check(void** state) {
    (void)state;
    assert_int_equal(rgCheckVersion(rgVersion()), rg_ok);
    assert_int_equal(rgCheckVersion(rgVersion() + 100), rg_errorVersion);
    assert_string_equal(rgResult_Name(rg_errorFormat), "format");
    assert_string_equal(rgResult_Name((rgResult)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_settles),
        cmocka_unit_test(test_arena_marks_nest),
        cmocka_unit_test(test_allocation_failure_is_reported),
        cmocka_unit_test(test_diagnostics_keep_messages),
        cmocka_unit_test(test_hash_is_fixed),
        cmocka_unit_test(test_version_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
