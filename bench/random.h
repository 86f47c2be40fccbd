// Deterministic random numbers (splitmix64), the same on every machine. Start from any state.
#pragma once
#include <math.h>
#include <stdint.h>

typedef struct rgRandom {
    uint64_t state;
} rgRandom;

static inline uint64_t rgRandom_Bits(rgRandom* random) {
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double rgRandom_Uniform(rgRandom* random, double low, double high) {
    double unit = (double)(rgRandom_Bits(random) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

static inline double rgRandom_Normal(rgRandom* random) {
    double u = rgRandom_Uniform(random, 1e-300, 1);
    double v = rgRandom_Uniform(random, 0, 6.283185307179586);
    return sqrt(-2 * log(u)) * cos(v);
}

// 0 .. count - 1
static inline int rgRandom_Index(rgRandom* random, int count) {
    return (int)(rgRandom_Bits(random) % (uint64_t)count);
}
