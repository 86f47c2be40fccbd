// What bench/scs.c uses of the interface of SCS 3: names of the library, which is not needed to
// test that problems are handed over right. The solver behind it is scs.c here.
#pragma once

typedef int scs_int;
typedef double scs_float;

typedef struct ScsMatrix {
    scs_float* x;
    scs_int *i, *p;
    scs_int m, n;
} ScsMatrix;

typedef struct ScsData {
    scs_int m, n;
    ScsMatrix *A, *P;
    scs_float *b, *c;
} ScsData;

typedef struct ScsCone {
    scs_int z, l;
    scs_int* q;
    scs_int qsize;
} ScsCone;

typedef struct ScsSettings {
    scs_int max_iters;
    scs_float eps_abs, eps_rel;
    scs_int verbose;
} ScsSettings;

typedef struct ScsSolution {
    scs_float *x, *y, *s;
} ScsSolution;

typedef struct ScsInfo {
    scs_int iter;
    scs_float setup_time, solve_time; // milliseconds
} ScsInfo;

void scs_set_default_settings(ScsSettings* settings);
scs_int scs(const ScsData* data, const ScsCone* cone, const ScsSettings* settings,
            ScsSolution* solution, ScsInfo* info);
