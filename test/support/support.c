#include "support.h"
#include "source_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void* rgCountAllocate(size_t bytes, size_t alignment, void* context) {
    rgCounter* counter = context;
    if (counter->failAfter >= 0 && counter->allocations >= counter->failAfter) {
        return NULL;
    }
    counter->allocations += 1;
    counter->live += 1;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void rgCountRelease(void* memory, void* context) {
    rgCounter* counter = context;
    counter->live -= memory != NULL;
    free(memory);
}

rgAllocator rgCountingAllocator(rgCounter* counter) {
    return (rgAllocator){
        .allocate = rgCountAllocate, .release = rgCountRelease, .context = counter};
}

const char* rgDataPath(const char* relative) {
    static char path[4096];
    const char* root = getenv("RIGOR_DATA");
    if (root == NULL) {
        root = RIGOR_SOURCE_DIR "/../shared/data";
    }
    snprintf(path, sizeof(path), "%s/%s", root, relative);
    struct stat info;
    return stat(path, &info) == 0 ? path : NULL;
}

bool rgHaveData(const char* relative) {
    if (rgDataPath(relative) != NULL) {
        return true;
    }
    printf("skipped: %s is not in RIGOR_DATA\n", relative);
    return false;
}

int rgFewer(int count) {
#ifdef RIGOR_TEST_LIGHT
    bool light = true;
#else
    bool light = getenv("RIGOR_TEST_LIGHT") != NULL;
#endif
    light = light && getenv("RIGOR_TEST_WHOLE") == NULL;
    return light ? (count + 9) / 10 : count;
}

void rgExpectNear(double actual, double expected, double tolerance, const char* what,
                  const char* file, int line) {
    if (!(fabs(actual - expected) <= tolerance)) {
        print_error("%s = %.17g, expected %.17g within %g\n", what, actual, expected, tolerance);
        _fail(file, line);
    }
}

void rgExpectRelative(const char* what, const double* actual, const double* expected, int count,
                      double tolerance) {
    double largest = 0, error = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(expected[i]));
        double difference = fabs(actual[i] - expected[i]);
        error = difference > error || isnan(difference) ? difference : error;
    }
    if (!(error <= tolerance * largest)) {
        fail_msg("%s: error %g, largest entry %g", what, error, largest);
    }
}
