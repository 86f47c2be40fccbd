// Derivative-free search: the evolution strategy with covariance matrix adaptation (Hansen, The CMA
// evolution strategy: a tutorial, 2016), with random numbers that are functions of the generation
// and the candidate, so that candidates can be judged in any order.
#pragma once
#include "base/base.h"

typedef struct rgSearch {
    int size;       // n, parameters, each in [0, 1]
    int population; // candidates per generation
    int parents;    // number of candidates that are recombined
    uint64_t seed;
    int generation;
    double sigma;   // step size
    double* memory; // all that follows
    double* mean;
    double* path;       // evolution path of the covariance
    double* sigmaPath;  // evolution path of the step size
    double* covariance; // n x n
    double* axes;       // n x n, eigenvectors
    double* lengths;    // n, roots of eigenvalues
    double* candidates; // population x n, of this generation
    double* weights;    // parents
    double* scratch;    // n x n + n
    int* order;         // population
} rgSearch;

rgResult rgSearch_Create(rgSearch* search, const rgAllocator* allocator, int size, int population,
                         uint64_t seed);
void rgSearch_Free(rgSearch* search, const rgAllocator* allocator);
// Begin at a mean with a step size.
void rgSearch_Begin(rgSearch* search, const double* mean, double sigma);
// Draw the candidates of this generation, within [0, 1] by reflection.
void rgSearch_Sample(rgSearch* search);
// Their costs (infinite: refused): the distribution moves on.
void rgSearch_Update(rgSearch* search, const double* costs);
