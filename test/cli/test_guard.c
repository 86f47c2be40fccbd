// Child processes that work, crash, hang and eat memory.
#include "guard.h"

#include "cli.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rgSendPieces(void* context, rgByteBuffer* result) {
    int count = *(const int*)context;
    int* numbers = calloc((size_t)count, sizeof(int));
    for (int i = 0; i < count; ++i) {
        numbers[i] = 7 * i;
    }
    rgByteBuffer_Put(result, "text", 5);
    rgByteBuffer_Put(result, NULL, 0);
    rgByteBuffer_Put(result, numbers, (size_t)count * sizeof(int));
    rgByteBuffer_Put(result, "", 0);
    free(numbers);
}

static void rgCrash(void* context, rgByteBuffer* result) {
    rgByteBuffer_Put(result, context, 1);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void rgHang(void* context, rgByteBuffer* result) {
    (void)context;
    (void)result;
    for (;;) {
        pause();
    }
}

static void rgLeave(void* context, rgByteBuffer* result) {
    (void)context;
    (void)result;
    _exit(3);
}

static void test_pieces_arrive(void** state) {
    (void)state;
    int count = 100001; // much more than a pipe holds, and no multiple of 8 bytes
    rgByteBuffer result;
    char* fault = NULL;
    assert_true(rgRunGuarded(rgSendPieces, &count, rgDefaultGuardLimits(), &result, &fault));
    assert_null(fault);
    size_t bytes = 0;
    assert_string_equal(rgByteBuffer_Read(&result, &bytes), "text");
    assert_int_equal(bytes, 5);
    assert_null(rgByteBuffer_Read(&result, NULL));
    const int* numbers = rgByteBuffer_Read(&result, &bytes);
    assert_int_equal(bytes, 100001 * sizeof(int));
    assert_int_equal((uintptr_t)numbers % 8, 0);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(numbers[i], 7 * i);
    }
    assert_non_null(rgByteBuffer_Read(&result, &bytes));
    assert_int_equal(bytes, 0);
    assert_null(rgByteBuffer_Read(&result, &bytes)); // the end
    rgByteBuffer_Free(&result);
}

static void rgExpectFault(rgGuardFcn* run, rgGuardLimits limits, const char* text) {
    rgByteBuffer result;
    char* fault = NULL;
    char context = 'x';
    assert_false(rgRunGuarded(run, &context, limits, &result, &fault));
    assert_non_null(fault);
    assert_null(result.data);
    if (strstr(fault, text) == NULL) {
        fail_msg("'%s' does not say '%s'", fault, text);
    }
    free(fault);
}

static void test_faults_are_told(void** state) {
    (void)state;
    rgGuardLimits limits = rgDefaultGuardLimits();
    rgExpectFault(rgCrash, limits, "signal 11");
    rgExpectFault(rgLeave, limits, "ended the reading process");
    limits.seconds = 0.2;
    rgExpectFault(rgHang, limits, "longer than 0.2 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_arrive),
        cmocka_unit_test(test_faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
