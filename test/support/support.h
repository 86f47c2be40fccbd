// What tests share: cmocka, a random generator, a counting allocator, the data folder.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random.h"
#include "rigor/base.h"

// An allocator that counts calls and live blocks of any thread, and can be told to fail from the
// nth call on.
typedef struct rgCounter {
    _Atomic int allocations;
    _Atomic int live;
    int failAfter; // negative: never
} rgCounter;
rgAllocator rgCountingAllocator(rgCounter* counter);

// Path inside RIGOR_DATA, or NULL when the data are not there. Valid until the next call.
const char* rgDataPath(const char* relative);
// A data test's main starts with: if (!rgHaveData("fclib")) return 77;
bool rgHaveData(const char* relative);

// How many of so many random cases to run: a tenth, at least one, where they are slow, that is in
// builds with sanitizers and under valgrind (which sets RIGOR_TEST_LIGHT in the environment),
// unless RIGOR_TEST_WHOLE is set (`make whole`).
int rgFewer(int count);

// |actual - expected| <= tolerance, with a message that shows all three.
void rgExpectNear(double actual, double expected, double tolerance, const char* what,
                  const char* file, int line);
#define EXPECT_NEAR(actual, expected, tolerance)                                                   \
    rgExpectNear((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

// No entry further off than the tolerance times the largest expected one.
void rgExpectRelative(const char* what, const double* actual, const double* expected, int count,
                      double tolerance);
