// Contact problems as SCS takes them: minimise 1/2 x'Px + c'x with Ax + s = b, s in a cone, x the
// impulses. Cones come in the order free, half lines, second order.
#include "scs.h"

#include "cli.h"

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

static void rgWriteNumbers(FILE* file, const char* name, const double* values, size_t count) {
    fprintf(file, "\"%s\":[", name);
    for (size_t i = 0; i < count; ++i) {
        fprintf(file, "%s%.17g", i > 0 ? "," : "", values[i]);
    }
    fprintf(file, "],");
}

static void rgWriteObjective(FILE* file, const rgContactProblem* problem) {
    int n = problem->rowCount;
    fprintf(file, "\"P_x\":[");
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i <= j; ++i) {
            double R = i == j && problem->compliance != NULL ? problem->compliance[i] : 0;
            fprintf(file, "%s%.17g", i + j > 0 ? "," : "",
                    problem->delassus.matrix[(size_t)j * (size_t)n + (size_t)i] + R);
        }
    }
    fprintf(file, "],\"P_i\":[");
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i <= j; ++i) {
            fprintf(file, "%s%d", i + j > 0 ? "," : "", i);
        }
    }
    fprintf(file, "],\"P_p\":[0");
    for (int j = 0; j < n; ++j) {
        fprintf(file, ",%d", (j + 1) * (j + 2) / 2);
    }
    fprintf(file, "],");
    rgWriteNumbers(file, "c", problem->freeVelocity, (size_t)n);
}

static void rgWriteConstraints(FILE* file, const rgContactProblem* problem, const rgScsRows* rows) {
    int n = problem->rowCount, written = 0;
    int* starts = rgCli_Allocate((size_t)n + 1, sizeof(int));
    double* values = rgCli_Allocate((size_t)rows->count, sizeof(double));
    double* b = rgCli_Allocate((size_t)rows->count, sizeof(double));
    fprintf(file, "\"A_i\":[");
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < rows->count; ++i) {
            if (rows->rows[i].column == j) {
                fprintf(file, "%s%d", written > 0 ? "," : "", i);
                values[written++] = rows->rows[i].value;
            }
        }
        starts[j + 1] = written;
    }
    fprintf(file, "],\"A_p\":[0");
    for (int j = 0; j < n; ++j) {
        fprintf(file, ",%d", starts[j + 1]);
    }
    fprintf(file, "],");
    for (int i = 0; i < rows->count; ++i) {
        b[i] = rows->rows[i].b;
    }
    rgWriteNumbers(file, "A_x", values, (size_t)written);
    rgWriteNumbers(file, "b", b, (size_t)rows->count);
    free(starts);
    free(values);
    free(b);
}

static bool rgWriteProblem(FILE* file, const rgContactProblem* problem) {
    rgScsRows rows = {.rows = rgCli_Allocate(2 * (size_t)problem->rowCount, sizeof(rgScsRow))};
    bool known = rgScsRows_Fill(&rows, problem);
    if (known) {
        fprintf(file, "{\"data\":{");
        rgWriteObjective(file, problem);
        rgWriteConstraints(file, problem, &rows);
        fprintf(file, "\"m\":%d,\"n\":%d},\"cone\":{\"z\":0,\"l\":%d,\"q\":[", rows.count,
                problem->rowCount, rows.half);
        for (int i = 0; i < rows.cones; ++i) {
            fprintf(file, "%s3", i > 0 ? "," : "");
        }
        fprintf(file, "],\"qsize\":%d}}", rows.cones);
    }
    free(rows.rows);
    return known;
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
