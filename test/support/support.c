#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

uint64_t rgRandom_Bits(rgRandom* random) {
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double rgRandom_Uniform(rgRandom* random, double low, double high) {
    double unit = (double)(rgRandom_Bits(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

double rgRandom_Normal(rgRandom* random) {
    double u = rgRandom_Uniform(random, 1e-300, 1);
    double v = rgRandom_Uniform(random, 0, 6.283185307179586);
    return sqrt(-2 * log(u)) * cos(v);
}

int rgRandom_Index(rgRandom* random, int count) {
    return (int)(rgRandom_Bits(random) % (uint64_t)count);
}

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
