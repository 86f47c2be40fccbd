// Contact problems as SCS takes them: minimise 1/2 x'Px + c'x with Ax + s = b, s in a cone, x the
// impulses. Cones come in the order free, half lines, second order.
#include "scs_peer.h"

#include "cli.h"

#ifdef RIGOR_HAVE_SCS
#include <scs.h>
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One row of A: it has one number.
typedef struct rgScsRow {
    int column;
    double value, b;
} rgScsRow;

typedef struct rgScsRows {
    rgScsRow* rows;
    int count, half, cones;
} rgScsRows;

static void rgScsRows_Add(rgScsRows* rows, int column, double value, double b) {
    rows->rows[rows->count++] = (rgScsRow){column, value, b};
}

// s = b - A x: lambda - low, high - lambda; then (mu lambda_n, lambda_t).
static bool rgScsRows_Fill(rgScsRows* rows, const rgContactProblem* problem) {
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = &problem->blocks[b];
        double low = block->kind == rg_blockHalfLine ? 0 : block->lower;
        double high = block->kind == rg_blockHalfLine ? INFINITY : block->upper;
        bool bounded = block->kind == rg_blockHalfLine || block->kind == rg_blockBox;
        for (int i = 0; i < block->rowCount && bounded; ++i) {
            if (low > -INFINITY) {
                rgScsRows_Add(rows, block->firstRow + i, -1, -low);
            }
            if (high < INFINITY) {
                rgScsRows_Add(rows, block->firstRow + i, 1, high);
            }
        }
    }
    rows->half = rows->count;
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = &problem->blocks[b];
        if (block->kind != rg_blockCoulomb) {
            continue;
        }
        if (block->rowCount != 3) {
            return false;
        }
        rgScsRows_Add(rows, block->firstRow + 2, -block->mu, 0);
        rgScsRows_Add(rows, block->firstRow, -1, 0);
        rgScsRows_Add(rows, block->firstRow + 1, -1, 0);
        rows->cones += 1;
    }
    return true;
}

// A problem in compressed columns: P has its upper triangle.
typedef struct rgScsData {
    int n, m, half, cones;
    double *Px, *c, *Ax, *b;
    int *Pi, *Pp, *Ai, *Ap;
} rgScsData;

static void rgScsData_Free(rgScsData* data) {
    free(data->Px);
    free(data->c);
    free(data->Ax);
    free(data->b);
    free(data->Pi);
    free(data->Pp);
    free(data->Ai);
    free(data->Ap);
}

static void rgFillObjective(rgScsData* data, const rgContactProblem* problem) {
    size_t n = (size_t)problem->rowCount, entry = 0;
    data->Px = rgCli_Allocate(n * (n + 1) / 2, sizeof(double));
    data->Pi = rgCli_Allocate(n * (n + 1) / 2, sizeof(int));
    data->Pp = rgCli_Allocate(n + 1, sizeof(int));
    data->c = rgCli_Allocate(n, sizeof(double));
    memcpy(data->c, problem->freeVelocity, n * sizeof(double));
    for (size_t j = 0; j < n; ++j) {
        for (size_t i = 0; i <= j; ++i) {
            double R = i == j && problem->compliance != NULL ? problem->compliance[i] : 0;
            data->Px[entry] = problem->delassus.matrix[j * n + i] + R;
            data->Pi[entry++] = (int)i;
        }
        data->Pp[j + 1] = (int)entry;
    }
}

static void rgFillConstraints(rgScsData* data, const rgScsRows* rows) {
    int entry = 0;
    data->Ax = rgCli_Allocate((size_t)rows->count, sizeof(double));
    data->Ai = rgCli_Allocate((size_t)rows->count, sizeof(int));
    data->Ap = rgCli_Allocate((size_t)data->n + 1, sizeof(int));
    data->b = rgCli_Allocate((size_t)rows->count, sizeof(double));
    for (int j = 0; j < data->n; ++j) {
        for (int i = 0; i < rows->count; ++i) {
            if (rows->rows[i].column == j) {
                data->Ai[entry] = i;
                data->Ax[entry++] = rows->rows[i].value;
            }
        }
        data->Ap[j + 1] = entry;
    }
    for (int i = 0; i < rows->count; ++i) {
        data->b[i] = rows->rows[i].b;
    }
}

// False: there is a set that SCS does not know.
static bool rgScsData_Make(rgScsData* data, const rgContactProblem* problem) {
    rgScsRows rows = {.rows = rgCli_Allocate(2 * (size_t)problem->rowCount, sizeof(rgScsRow))};
    bool known = rgScsRows_Fill(&rows, problem);
    *data = (rgScsData){
        .n = problem->rowCount, .m = rows.count, .half = rows.half, .cones = rows.cones};
    if (known) {
        rgFillObjective(data, problem);
        rgFillConstraints(data, &rows);
    }
    free(rows.rows);
    return known;
}

#ifdef RIGOR_HAVE_SCS

// ---- in this process, by the library

const char* rgScs_Label(void) {
    return "SCS (native)";
}

static scs_int* rgScsIntegers(const int* values, int count) {
    scs_int* copy = rgCli_Allocate((size_t)count, sizeof(scs_int));
    for (int i = 0; i < count; ++i) {
        copy[i] = values[i];
    }
    return copy;
}

static void rgScs_SolveOne(rgScsData* data, double tolerance, int iterations, rgScsAnswer* answer) {
    ScsMatrix P = {.x = data->Px,
                   .i = rgScsIntegers(data->Pi, data->Pp[data->n]),
                   .p = rgScsIntegers(data->Pp, data->n + 1),
                   .m = data->n,
                   .n = data->n};
    ScsMatrix A = {.x = data->Ax,
                   .i = rgScsIntegers(data->Ai, data->m),
                   .p = rgScsIntegers(data->Ap, data->n + 1),
                   .m = data->m,
                   .n = data->n};
    ScsData problem = {.m = data->m, .n = data->n, .A = &A, .P = &P, .b = data->b, .c = data->c};
    scs_int* sizes = rgCli_Allocate((size_t)data->cones, sizeof(scs_int));
    for (int i = 0; i < data->cones; ++i) {
        sizes[i] = 3;
    }
    ScsCone cone = {.l = data->half, .q = sizes, .qsize = data->cones};
    ScsSettings settings;
    scs_set_default_settings(&settings);
    settings.eps_abs = tolerance;
    settings.eps_rel = 0;
    settings.max_iters = iterations;
    settings.verbose = 0;
    answer->seconds = INFINITY;
    for (int turn = 0; turn < 2; ++turn) {
        ScsSolution solution = {0};
        ScsInfo info = {0};
        scs(&problem, &cone, &settings, &solution, &info);
        answer->seconds = fmin(answer->seconds, 1e-3 * (info.setup_time + info.solve_time));
        answer->iterations = (int)info.iter;
        for (int i = 0; i < data->n; ++i) {
            answer->lambda[i] = solution.x != NULL ? solution.x[i] : NAN;
        }
        free(solution.x);
        free(solution.y);
        free(solution.s);
    }
    free(P.i);
    free(P.p);
    free(A.i);
    free(A.p);
    free(sizes);
}

bool rgScs_Solve(const rgContactProblem** problems, int count, double tolerance, int iterations,
                 rgScsAnswer* answers) {
    bool good = true;
    for (int i = 0; i < count; ++i) {
        rgScsData data;
        answers[i].lambda = rgCli_Allocate((size_t)problems[i]->rowCount, sizeof(double));
        good = good && rgScsData_Make(&data, problems[i]);
        if (good) {
            rgScs_SolveOne(&data, tolerance, iterations, &answers[i]);
            rgScsData_Free(&data);
        }
    }
    return good;
}

#else

// ---- in a process of Node's, in WebAssembly

const char* rgScs_Label(void) {
    return "SCS (WebAssembly)";
}

static void rgWriteNumbers(FILE* file, const char* name, const double* values, int count) {
    fprintf(file, "\"%s\":[", name);
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%s%.17g", i > 0 ? "," : "", values[i]);
    }
    fprintf(file, "],");
}

static void rgWriteIntegers(FILE* file, const char* name, const int* values, int count) {
    fprintf(file, "\"%s\":[", name);
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%s%d", i > 0 ? "," : "", values[i]);
    }
    fprintf(file, "],");
}

static bool rgWriteProblem(FILE* file, const rgContactProblem* problem) {
    rgScsData data;
    if (!rgScsData_Make(&data, problem)) {
        return false;
    }
    fprintf(file, "{\"data\":{");
    rgWriteNumbers(file, "P_x", data.Px, data.Pp[data.n]);
    rgWriteIntegers(file, "P_i", data.Pi, data.Pp[data.n]);
    rgWriteIntegers(file, "P_p", data.Pp, data.n + 1);
    rgWriteNumbers(file, "c", data.c, data.n);
    rgWriteNumbers(file, "A_x", data.Ax, data.m);
    rgWriteIntegers(file, "A_i", data.Ai, data.m);
    rgWriteIntegers(file, "A_p", data.Ap, data.n + 1);
    rgWriteNumbers(file, "b", data.b, data.m);
    fprintf(file, "\"m\":%d,\"n\":%d},\"cone\":{\"z\":0,\"l\":%d,\"q\":[", data.m, data.n,
            data.half);
    for (int i = 0; i < data.cones; ++i) {
        fprintf(file, "%s3", i > 0 ? "," : "");
    }
    fprintf(file, "],\"qsize\":%d}}", data.cones);
    rgScsData_Free(&data);
    return true;
}

static bool rgReadAnswer(FILE* in, int n, rgScsAnswer* answer) {
    int count = 0;
    bool good =
        fscanf(in, "%lf %d %d", &answer->seconds, &answer->iterations, &count) == 3 && count == n;
    for (int i = 0; i < n && good; ++i) {
        good = fscanf(in, "%lf", &answer->lambda[i]) == 1;
    }
    return good;
}

bool rgScs_Solve(const rgContactProblem** problems, int count, double tolerance, int iterations,
                 rgScsAnswer* answers) {
    char path[] = "/tmp/rigor-scs-XXXXXX";
    int handle = mkstemp(path);
    FILE* file = handle >= 0 ? fdopen(handle, "w") : NULL;
    bool good = file != NULL;
    if (good) {
        fprintf(file, "{\"tolerance\":%g,\"iterations\":%d,\"problems\":[", tolerance, iterations);
        for (int i = 0; i < count && good; ++i) {
            fprintf(file, "%s", i > 0 ? "," : "");
            good = rgWriteProblem(file, problems[i]);
            answers[i].lambda = rgCli_Allocate((size_t)problems[i]->rowCount, sizeof(double));
        }
        fprintf(file, "]}");
        fclose(file);
    }
    char* command =
        rgCli_Format("node '%s/bench/peers/scs.mjs' '%s' 2>/dev/null", RIGOR_SOURCE_DIR, path);
    FILE* in = good ? popen(command, "r") : NULL; // NOLINT: both paths are ours
    good = in != NULL;
    for (int i = 0; i < count && good; ++i) {
        good = rgReadAnswer(in, problems[i]->rowCount, &answers[i]);
    }
    if (in != NULL) {
        pclose(in);
    }
    unlink(path);
    free(command);
    return good;
}

#endif
