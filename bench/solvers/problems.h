// The problems of solver_peer.h, as programs beside rigor-bench read them; C and C++.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct rgPeerProblem {
    int n, contacts;
    double* mu; // friction of each contact i, whose rows are 3 i, 3 i + 1, 3 i + 2
    double* g;
    double* G; // n x n
} rgPeerProblem;

typedef struct rgPeerProblems {
    int count, iterations;
    double tolerance;
    rgPeerProblem* problems;
} rgPeerProblems;

static inline void rgTake(FILE* file, void* to, size_t size, size_t count) {
    if (fread(to, size, count, file) != count) {
        printf("fault the file of problems ends early\n");
        exit(1);
    }
}

// Problems with other sets than contacts of three rows, in order, have no contacts and are passed
// by.
static inline rgPeerProblems rgReadProblems(const char* path) {
    FILE* file = fopen(path, "rb");
    int32_t head[2], size[2], block[3];
    rgPeerProblems all;
    if (file == NULL) {
        printf("fault the file of problems is not there\n");
        exit(1);
    }
    rgTake(file, head, sizeof(int32_t), 2);
    rgTake(file, &all.tolerance, sizeof(double), 1);
    all.count = head[0];
    all.iterations = head[1];
    all.problems = (rgPeerProblem*)calloc((size_t)all.count, sizeof(rgPeerProblem));
    for (int i = 0; i < all.count; ++i) {
        rgPeerProblem* problem = &all.problems[i];
        rgTake(file, size, sizeof(int32_t), 2);
        size_t n = (size_t)size[0];
        int plain = size[0] == 3 * size[1];
        problem->n = size[0];
        problem->mu = (double*)calloc((size_t)size[1] + 1, sizeof(double));
        for (int b = 0; b < size[1]; ++b) {
            double numbers[3];
            rgTake(file, block, sizeof(int32_t), 3);
            rgTake(file, numbers, sizeof(double), 3);
            plain = plain && block[0] == 0 && block[1] == 3 * b;
            problem->mu[b] = numbers[0];
        }
        problem->contacts = plain ? size[1] : 0;
        problem->g = (double*)malloc((n + 1) * sizeof(double));
        problem->G = (double*)malloc((n * n + 1) * sizeof(double));
        rgTake(file, problem->g, sizeof(double), n);
        rgTake(file, problem->G, sizeof(double), n * n);
    }
    fclose(file);
    return all;
}

static inline void rgPrintAnswer(double seconds, int iterations, int claimed, int n,
                                 const double* lambda) {
    printf("%.9g %d %d %d", seconds, iterations, claimed, n);
    for (int i = 0; i < n; ++i) {
        printf(" %.17g", lambda[i]);
    }
    printf("\n");
}
