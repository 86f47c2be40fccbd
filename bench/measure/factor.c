// The block factorization against CHOLMOD's supernodal Cholesky, on the same matrices in one run:
// they take turns, minima over rounds count. Usage: rigor bench factor [ROUNDS
// [DIRECTORY_OF_FCLIB]]
#include "math/blockfactor.h"
#include "measure.h"

#include <cblas.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>
#include <unistd.h>

// Symmetric positive definite matrix of equal blocks.
typedef struct rgMatrix {
    int blocks, size;
    int* blockStart;
    int* rowStart;
    int* column;
    const double** values;
    double* numbers;
    double shift;
} rgMatrix;

typedef struct rgPairs {
    int count, capacity;
    int64_t* key; // row * blocks + column
} rgPairs;

static void* rgCheck(void* memory) {
    if (memory == NULL) {
        fprintf(stderr, "rigor bench factor: out of memory\n");
        exit(1);
    }
    return memory;
}

static void rgPairs_Add(rgPairs* p, int blocks, int i, int j) {
    if (p->count + 2 > p->capacity) {
        p->capacity = 2 * p->capacity + 1024;
        p->key = rgCheck(realloc(p->key, (size_t)p->capacity * sizeof(int64_t)));
    }
    p->key[p->count++] = (int64_t)i * blocks + j;
    p->key[p->count++] = (int64_t)j * blocks + i;
}

static int rgCompareKeys(const void* a, const void* b) {
    int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return x < y ? -1 : x > y;
}

// Pattern from pairs (consumed), diagonal added; values zero.
static rgMatrix rgNewMatrix(int blocks, int size, rgPairs* pairs) {
    for (int i = 0; i < blocks; ++i) {
        rgPairs_Add(pairs, blocks, i, i);
    }
    qsort(pairs->key, (size_t)pairs->count, sizeof(int64_t), rgCompareKeys);
    rgMatrix m = {.blocks = blocks, .size = size};
    m.blockStart = rgCheck(calloc((size_t)blocks + 1, sizeof(int)));
    m.rowStart = rgCheck(calloc((size_t)blocks + 1, sizeof(int)));
    m.column = rgCheck(calloc((size_t)pairs->count, sizeof(int)));
    int count = 0;
    for (int k = 0; k < pairs->count; ++k) {
        if (k > 0 && pairs->key[k] == pairs->key[k - 1]) {
            continue;
        }
        m.column[count++] = (int)(pairs->key[k] % blocks);
        m.rowStart[pairs->key[k] / blocks + 1] = count;
    }
    for (int i = 0; i <= blocks; ++i) {
        m.blockStart[i] = i * size;
    }
    size_t area = (size_t)(size * size);
    m.numbers = rgCheck(calloc((size_t)count * area, sizeof(double)));
    m.values = rgCheck(calloc((size_t)count, sizeof(double*)));
    for (int k = 0; k < count; ++k) {
        m.values[k] = m.numbers + (size_t)k * area;
    }
    free(pairs->key);
    return m;
}

static void rgFreeMatrix(rgMatrix* m) {
    free(m->blockStart), free(m->rowStart), free(m->column), free(m->values), free(m->numbers);
}

static double* rgBlockAt(rgMatrix* m, int i, int j) {
    int low = m->rowStart[i], high = m->rowStart[i + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        low = m->column[middle] < j ? middle + 1 : low;
        high = m->column[middle] < j ? high : middle;
    }
    return m->numbers + (size_t)low * (size_t)(m->size * m->size);
}

// Symmetric values with a dominant diagonal.
static void rgFillValues(rgMatrix* m) {
    uint64_t state = 7;
    for (int i = 0; i < m->blocks; ++i) {
        for (int k = m->rowStart[i]; k < m->rowStart[i + 1]; ++k) {
            int j = m->column[k];
            double* a = rgBlockAt(m, i, j);
            double* b = rgBlockAt(m, j, i);
            for (int e = 0; j <= i && e < m->size * m->size; ++e) {
                int r = e / m->size, c = e % m->size;
                state = state * 6364136223846793005u + 1442695040888963407u;
                double x = (double)(state >> 40) / (1 << 24) - 0.5;
                a[e] = b[c * m->size + r] = x;
            }
        }
        double* d = rgBlockAt(m, i, i);
        for (int r = 0; r < m->size; ++r) {
            d[r * m->size + r] += 0.5 * m->size * (m->rowStart[i + 1] - m->rowStart[i]);
        }
    }
}

static int rgRandomBelow(uint64_t* state, int count) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int)((*state >> 33) % (uint64_t)count);
}

// Neighbours in a box of bodies, some links left out (`sideways` of 10 stay, 9 of 10 of the
// vertical ones): body i touches i + step[0..2].
static int rgPileContacts(int side, int layers, int sideways, int contacts[][2]) {
    uint64_t state = 3;
    int count = 0;
    for (int i = 0; i < side * side * layers; ++i) {
        int x = i % side, y = i / side % side, z = i / (side * side);
        const int step[3] = {x + 1 < side ? 1 : 0, y + 1 < side ? side : 0,
                             z + 1 < layers ? side * side : 0};
        for (int d = 0; d < 3; ++d) {
            if (step[d] > 0 && rgRandomBelow(&state, 10) < (d == 2 ? 9 : sideways)) {
                contacts[count][0] = i;
                contacts[count][1] = i + step[d];
                ++count;
            }
        }
    }
    return count;
}

// Contacts that share a body: the Delassus matrix, 3 x 3 blocks.
static rgMatrix rgPileOfContacts(int side) {
    int bodies = side * side * side;
    int(*contacts)[2] = rgCheck(calloc((size_t)bodies * 3, sizeof(*contacts)));
    int count = rgPileContacts(side, side, 5, contacts);
    int* touching = rgCheck(calloc((size_t)bodies * 6, sizeof(int)));
    int* degree = rgCheck(calloc((size_t)bodies, sizeof(int)));
    rgPairs pairs = {0};
    for (int c = 0; c < count; ++c) {
        for (int e = 0; e < 2; ++e) {
            int b = contacts[c][e];
            for (int k = 0; k < degree[b]; ++k) {
                rgPairs_Add(&pairs, count, c, touching[b * 6 + k]);
            }
            touching[b * 6 + degree[b]++] = c;
        }
    }
    free(contacts), free(touching), free(degree);
    return rgNewMatrix(count, 3, &pairs);
}

// Bodies that touch: the velocity-space matrix, 6 x 6 blocks.
static rgMatrix rgBoxOfBodies(int side, int layers, int sideways) {
    int bodies = side * side * layers;
    int(*contacts)[2] = rgCheck(calloc((size_t)bodies * 3, sizeof(*contacts)));
    int count = rgPileContacts(side, layers, sideways, contacts);
    rgPairs pairs = {0};
    for (int c = 0; c < count; ++c) {
        rgPairs_Add(&pairs, bodies, contacts[c][0], contacts[c][1]);
    }
    free(contacts);
    return rgNewMatrix(bodies, 6, &pairs);
}

static rgMatrix rgPileOfBodies(int side) {
    return rgBoxOfBodies(side, side, 5);
}

// Bodies that were poured out over a floor: few layers, most neighbours touch.
static rgMatrix rgShallowPile(int side, int layers) {
    return rgBoxOfBodies(side, layers, 9);
}

static rgMatrix rgChain(int count, int size) {
    rgPairs pairs = {0};
    for (int i = 1; i < count; ++i) {
        rgPairs_Add(&pairs, count, i, i - 1);
    }
    return rgNewMatrix(count, size, &pairs);
}

static int rgReadInt(hid_t file, const char* path) {
    int value = 0;
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dclose(set);
    return value;
}

static void* rgReadArray(hid_t file, const char* path, hid_t type, size_t size, int* count) {
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    *count = (int)H5Sget_simple_extent_npoints(space);
    void* data = rgCheck(calloc((size_t)*count + 1, size));
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Sclose(space);
    H5Dclose(set);
    return data;
}

// Visit W's numbers: compressed columns or rows, or triplets.
typedef struct rgStoredMatrix {
    int form, n, count;
    int* p;
    int* i;
    double* x;
} rgStoredMatrix;

static int rgEntryColumn(const rgStoredMatrix* w, int k, int* column) {
    if (w->form >= 0) {
        return w->p[k];
    }
    while (w->p[*column + 1] <= k) {
        ++*column;
    }
    return *column;
}

static rgMatrix rgReadFclib(const char* path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        return (rgMatrix){0};
    }
    rgStoredMatrix w = {.form = rgReadInt(file, "/fclib_local/W/nz"),
                        .n = rgReadInt(file, "/fclib_local/W/n")};
    int ignored;
    w.p = rgReadArray(file, "/fclib_local/W/p", H5T_NATIVE_INT, sizeof(int), &ignored);
    w.i = rgReadArray(file, "/fclib_local/W/i", H5T_NATIVE_INT, sizeof(int), &ignored);
    w.x = rgReadArray(file, "/fclib_local/W/x", H5T_NATIVE_DOUBLE, sizeof(double), &w.count);
    w.count = w.form >= 0 ? w.form : w.p[w.n];
    H5Fclose(file);
    int blocks = w.n / 3, column = 0;
    rgPairs pairs = {0};
    for (int k = 0; k < w.count; ++k) {
        rgPairs_Add(&pairs, blocks, w.i[k] / 3, rgEntryColumn(&w, k, &column) / 3);
    }
    rgMatrix m = rgNewMatrix(blocks, 3, &pairs);
    double trace = 0;
    column = 0;
    for (int k = 0; k < w.count; ++k) {
        int i = w.i[k], j = rgEntryColumn(&w, k, &column);
        rgBlockAt(&m, i / 3, j / 3)[3 * (i % 3) + j % 3] += 0.5 * w.x[k];
        rgBlockAt(&m, j / 3, i / 3)[3 * (j % 3) + i % 3] += 0.5 * w.x[k];
        trace += i == j ? w.x[k] : 0;
    }
    m.shift = 1e-3 * trace / w.n;
    free(w.p), free(w.i), free(w.x);
    return m;
}

static cholmod_sparse* rgToCholmod(const rgMatrix* m, cholmod_common* common) {
    size_t n = (size_t)m->blocks * (size_t)m->size;
    size_t entries = (size_t)m->rowStart[m->blocks] * (size_t)(m->size * m->size);
    cholmod_triplet* t = rgCheck(cholmod_allocate_triplet(n, n, entries, -1, CHOLMOD_REAL, common));
    int *rows = t->i, *columns = t->j;
    double* x = t->x;
    for (int i = 0; i < m->blocks; ++i) {
        for (int k = m->rowStart[i]; k < m->rowStart[i + 1]; ++k) {
            for (int e = 0; e < m->size * m->size; ++e) {
                int r = i * m->size + e / m->size, c = m->column[k] * m->size + e % m->size;
                if (r >= c) {
                    rows[t->nnz] = r;
                    columns[t->nnz] = c;
                    x[t->nnz++] = m->values[k][e] + (r == c ? m->shift : 0);
                }
            }
        }
    }
    cholmod_sparse* s = rgCheck(cholmod_triplet_to_sparse(t, 0, common));
    cholmod_free_triplet(&t, common);
    return s;
}

typedef struct rgTimes {
    double analyse, factor, solve, many, lu;
} rgTimes;

static void rgKeepMinimum(double* best, double start) {
    double time = rgSeconds() - start;
    *best = time < *best ? time : *best;
}

enum { rg_manyCount = 24 };

static void rgTimeOurs(rgBlockFactor* f, const rgMatrix* m, double* x, double* many, rgTimes* t) {
    const int noStart[] = {0};
    rgBlockPattern empty = {0, noStart, noStart, noStart};
    rgBlockPattern pattern = {m->blocks, m->blockStart, m->rowStart, m->column};
    rgBlockFactor_Analyse(f, &empty);
    double start = rgSeconds();
    rgBlockFactor_Analyse(f, &pattern);
    rgKeepMinimum(&t->analyse, start);
    start = rgSeconds();
    rgResult lu = rgBlockFactor_Lu(f, m->values, m->shift);
    rgKeepMinimum(&t->lu, start);
    start = rgSeconds();
    rgResult cholesky = rgBlockFactor_Cholesky(f, m->values, m->shift);
    rgKeepMinimum(&t->factor, start);
    if (lu != rg_ok || cholesky != rg_ok) {
        printf("failed: %s %s\n", rgResult_Name(lu), rgResult_Name(cholesky));
        return;
    }
    for (int i = 0; i < m->blocks * m->size; ++i) {
        x[i] = 1;
    }
    start = rgSeconds();
    rgBlockFactor_Solve(f, x);
    rgKeepMinimum(&t->solve, start);
    for (int i = 0; i < rg_manyCount * m->blocks * m->size; ++i) {
        many[i] = 1;
    }
    start = rgSeconds();
    rgBlockFactor_SolveMany(f, rg_manyCount, many, m->blocks * m->size);
    rgKeepMinimum(&t->many, start);
}

static void rgTimeCholmod(cholmod_sparse* A, double* x, rgTimes* t, cholmod_common* common) {
    double start = rgSeconds();
    cholmod_factor* L = cholmod_analyze(A, common);
    rgKeepMinimum(&t->analyse, start);
    cholmod_factorize(A, L, common); // makes the memory
    start = rgSeconds();
    cholmod_factorize(A, L, common);
    rgKeepMinimum(&t->factor, start);
    cholmod_dense* b = cholmod_ones(A->nrow, 1, CHOLMOD_REAL, common);
    start = rgSeconds();
    cholmod_dense* y = cholmod_solve(CHOLMOD_A, L, b, common);
    rgKeepMinimum(&t->solve, start);
    memcpy(x, y->x, A->nrow * sizeof(double));
    cholmod_free_dense(&b, common);
    cholmod_free_dense(&y, common);
    cholmod_free_factor(&L, common);
}

static double rgLargestDifference(int n, const double* x, const double* y) {
    double difference = 0, size = 0;
    for (int i = 0; i < n; ++i) {
        difference = fmax(difference, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return difference / size;
}

static void rgCompare(const char* name, rgMatrix m, int rounds) {
    if (m.blocks == 0) {
        return;
    }
    int n = m.blocks * m.size;
    rgTimes ours = {1e9, 1e9, 1e9, 1e9, 1e9}, theirs = ours;
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_AMD;
    common.print = 0;
    cholmod_sparse* A = rgToCholmod(&m, &common);
    double* x = rgCheck(calloc(2 * (size_t)n, sizeof(double)));
    double* many = rgCheck(calloc(rg_manyCount * (size_t)n, sizeof(double)));
    rgBlockFactor* f = NULL;
    if (rgCreateBlockFactor(NULL, NULL, &f) != rg_ok) {
        exit(1);
    }
    for (int r = 0; r < rounds; ++r) {
        rgTimeOurs(f, &m, x, many, &ours);
        rgTimeCholmod(A, x + n, &theirs, &common);
    }
    double flops = rgBlockFactor_CholeskyFlops(f);
    printf("%-22s %6d %6d %8.2f %9.0f %9.0f %5.2f %9.0f %9.0f %5.2f %9.0f %8.0f %8.0f %5.2f %8.1f  "
           "%.0e\n",
           name, m.blocks, n, 1e-6 * flops, 1e6 * ours.analyse, 1e6 * theirs.analyse,
           ours.analyse / theirs.analyse, 1e6 * ours.factor, 1e6 * theirs.factor,
           ours.factor / theirs.factor, 1e6 * ours.lu, 1e6 * ours.solve, 1e6 * theirs.solve,
           ours.solve / theirs.solve, 1e6 * ours.many / rg_manyCount,
           rgLargestDifference(n, x, x + n));
    fflush(stdout);
    rgDestroyBlockFactor(f);
    free(x), free(many);
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
    rgFreeMatrix(&m);
}

static rgMatrix rgFilled(rgMatrix m) {
    rgFillValues(&m);
    return m;
}

static void rgCompareFclib(const char* directory, const char* file, int rounds) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, file);
    const char* slash = strrchr(file, '/');
    rgCompare(slash + 1, rgReadFclib(path), rounds);
}

int rgBench_Factor(int argc, char** argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    openblas_set_num_threads(1);
    printf("matrix                 blocks      n   MFlop   analyse   CHOLMOD ratio   factor   "
           "CHOLMOD ratio        LU    solve  CHOLMOD ratio  of many  difference   [us, minima]\n");
    if (argc > 2) {
        rgCompareFclib(argv[2], "KaplasTower/KaplasTower-i1061-4.hdf5", rounds);
        rgCompareFclib(argv[2], "Capsules/Capsules-i100-1090.hdf5", rounds);
    }
    rgCompare("chain 3, 100", rgFilled(rgChain(100, 3)), rounds);
    rgCompare("chain 6, 15", rgFilled(rgChain(15, 6)), rounds);
    rgCompare("chain 6, 1000", rgFilled(rgChain(1000, 6)), rounds);
    rgCompare("chain 24, 100", rgFilled(rgChain(100, 24)), rounds);
    rgCompare("pile 4^3, contacts", rgFilled(rgPileOfContacts(4)), rounds);
    rgCompare("pile 7^3, contacts", rgFilled(rgPileOfContacts(7)), rounds);
    rgCompare("pile 10^3, contacts", rgFilled(rgPileOfContacts(10)), rounds);
    rgCompare("pile 4^3, bodies", rgFilled(rgPileOfBodies(4)), rounds);
    rgCompare("pile 7^3, bodies", rgFilled(rgPileOfBodies(7)), rounds);
    rgCompare("pile 10^3, bodies", rgFilled(rgPileOfBodies(10)), rounds);
    rgCompare("shallow 18 x 18 x 3", rgFilled(rgShallowPile(18, 3)), rounds);
    rgCompare("shallow 28 x 28 x 4", rgFilled(rgShallowPile(28, 4)), rounds);
    rgCompare("shallow 50 x 50 x 4", rgFilled(rgShallowPile(50, 4)), rounds < 2 ? rounds : 2);
    rgCompare("pile 16^3, contacts", rgFilled(rgPileOfContacts(16)), rounds < 2 ? rounds : 2);
    rgCompare("pile 16^3, bodies", rgFilled(rgPileOfBodies(16)), rounds < 2 ? rounds : 2);
    return 0;
}
