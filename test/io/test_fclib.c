// FCLIB files: written and read back, hand-made files in every storage, damaged files. With a
// folder as argument it only writes sample files there, which test/io/check_fclib.py reads.
#include "io/fclib.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { rg_maxRows = 24, rg_maxVelocities = 12 };

// A small random problem in all three forms of G, with room for its arrays.
typedef struct rgSample {
    rgContactProblem problem;
    rgBlock blocks[8];
    double dense[rg_maxRows * rg_maxRows];
    int rowStart[rg_maxRows + 1];
    int column[rg_maxRows * rg_maxRows];
    double mass[rg_maxVelocities * 6];
    int massStart[rg_maxVelocities + 1];
    int massColumn[rg_maxVelocities * 6];
    double jacobian[rg_maxRows * rg_maxVelocities];
    int jacobianStart[rg_maxRows + 1];
    int jacobianColumn[rg_maxRows * rg_maxVelocities];
    double g[rg_maxRows], compliance[rg_maxRows];
    double lambda[rg_maxRows], sigma[rg_maxRows];
    int keys[24];
} rgSample;

static char folder[256];

static const char* rgTestPath(const char* name) {
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void rgAddBlock(rgSample* sample, rgBlock block) {
    block.firstRow = sample->problem.rowCount;
    sample->blocks[sample->problem.blockCount++] = block;
    sample->problem.rowCount += block.rowCount;
}

// M = two bodies of three velocities, diagonally dominant; J dense; G = J M^-1 J' is not needed
// here: the dense and sparse forms hold a random symmetric matrix of their own.
static void rgSample_Fill(rgSample* sample, uint64_t seed) {
    rgRandom random = {seed};
    int n = sample->problem.rowCount;
    int nv = 6;
    for (int i = 0; i < n; ++i) {
        sample->g[i] = rgRandom_Normal(&random);
        sample->lambda[i] = rgRandom_Normal(&random);
        sample->sigma[i] = rgRandom_Normal(&random);
        sample->compliance[i] = rgRandom_Uniform(&random, 0, 1);
        sample->rowStart[i] = i * n;
        for (int j = 0; j < n; ++j) {
            double value = j < i ? sample->dense[j * n + i] : rgRandom_Normal(&random);
            sample->dense[i * n + j] = value;
            sample->column[i * n + j] = j;
        }
        sample->jacobianStart[i] = i * nv;
        for (int j = 0; j < nv; ++j) {
            sample->jacobian[i * nv + j] = rgRandom_Normal(&random);
            sample->jacobianColumn[i * nv + j] = j;
        }
    }
    sample->rowStart[n] = n * n;
    sample->jacobianStart[n] = n * nv;
    for (int i = 0; i < nv; ++i) {
        sample->massStart[i] = 3 * i;
        for (int j = 0; j < 3; ++j) {
            int other = i / 3 * 3 + j;
            sample->massColumn[3 * i + j] = other;
            sample->mass[3 * i + j] = other == i ? 2.0 + i : 0.25 * (i % 3 + j);
        }
    }
    sample->massStart[nv] = 3 * nv;
    for (int i = 0; i < 24; ++i) {
        sample->keys[i] = 100 + i;
    }
    sample->problem.blocks = sample->blocks;
    sample->problem.freeVelocity = sample->g;
    sample->problem.delassus = (rgDelassus){
        .matrix = sample->dense,
        .sparse = {n, n, sample->rowStart, sample->column, sample->dense},
        .mass = {nv, nv, sample->massStart, sample->massColumn, sample->mass},
        .jacobian = {n, nv, sample->jacobianStart, sample->jacobianColumn, sample->jacobian}};
}

static void rgSample_Contacts(rgSample* sample, rgDelassusKind kind) {
    *sample = (rgSample){0};
    for (int i = 0; i < 3; ++i) {
        rgAddBlock(sample, (rgBlock){.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.1 + 0.2 * i});
    }
    rgSample_Fill(sample, 7);
    sample->problem.delassus.kind = kind;
}

static void rgSample_Equalities(rgSample* sample, rgDelassusKind kind) {
    *sample = (rgSample){0};
    rgAddBlock(sample, (rgBlock){.kind = rg_blockFree, .rowCount = 2});
    rgAddBlock(sample, (rgBlock){.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.5});
    rgAddBlock(sample, (rgBlock){.kind = rg_blockFree, .rowCount = 1});
    rgAddBlock(sample, (rgBlock){.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0});
    rgSample_Fill(sample, 8);
    sample->problem.delassus.kind = kind;
}

static void rgSample_Extended(rgSample* sample, rgDelassusKind kind) {
    *sample = (rgSample){0};
    rgAddBlock(sample, (rgBlock){.kind = rg_blockHalfLine, .rowCount = 2});
    rgAddBlock(sample,
               (rgBlock){.kind = rg_blockBox, .rowCount = 2, .lower = -INFINITY, .upper = 3});
    rgAddBlock(sample, (rgBlock){.kind = rg_blockCoulomb,
                                 .rowCount = 6,
                                 .mu = 0.5,
                                 .muTorsion = 0.01,
                                 .muRolling = 0.001});
    rgAddBlock(sample, (rgBlock){.kind = rg_blockFree, .rowCount = 1});
    rgSample_Fill(sample, 9);
    sample->problem.delassus.kind = kind;
    sample->problem.compliance = sample->compliance;
}

static rgFclibContent rgSample_Content(const rgSample* sample, rgFclibSolution* guess) {
    *guess = (rgFclibSolution){sample->sigma, sample->lambda};
    return (rgFclibContent){.problem = &sample->problem,
                            .title = "sample",
                            .description = "made by a test",
                            .mathInfo = "none",
                            .keys = sample->keys,
                            .solution = {sample->lambda, sample->sigma},
                            .guesses = guess,
                            .guessCount = 1};
}

static void rgSample_Write(const rgSample* sample, const char* path) {
    rgFclibSolution guess;
    rgFclibContent content = rgSample_Content(sample, &guess);
    assert_int_equal(rgSaveFclib(path, &content, NULL), rg_ok);
}

static rgFclibProblem* rgLoad(const char* path, rgFclibMatrix matrix) {
    rgDiagnostics* diagnostics = NULL;
    rgFclibDef def = rgDefaultFclibDef();
    def.matrix = matrix;
    rgFclibProblem* problem = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgLoadFclib(path, &def, diagnostics, &problem);
    if (rgDiagnostics_Count(diagnostics) > 0) {
        print_message("%s\n", rgDiagnostics_Message(diagnostics, 0).text);
    }
    rgDestroyDiagnostics(diagnostics);
    assert_int_equal(result, rg_ok);
    return problem;
}

// One entry of G, from whatever form it has.
static double rgEntry(const rgSparse* matrix, int row, int column) {
    for (int k = matrix->rowStart[row]; k < matrix->rowStart[row + 1]; ++k) {
        if (matrix->column[k] == column) {
            return matrix->value[k];
        }
    }
    return 0;
}

static double rgDelassusEntry(const rgContactProblem* problem, int row, int column) {
    return problem->delassus.kind == rg_delassusDense
               ? problem->delassus.matrix[row * problem->rowCount + column]
               : rgEntry(&problem->delassus.sparse, row, column);
}

// The problems agree when row[i] of `read` is row i of `made`.
static void rgExpectRows(const rgFclibProblem* read, const rgSample* made, const int* row) {
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    rgFclibSolution solution = rgFclibProblem_Solution(read);
    rgFclibSolution guess = rgFclibProblem_Guess(read, 0);
    assert_int_equal(problem->rowCount, made->problem.rowCount);
    assert_non_null(solution.lambda);
    assert_non_null(solution.sigma);
    assert_int_equal(rgFclibProblem_GuessCount(read), 1);
    for (int i = 0; i < problem->rowCount; ++i) {
        assert_true(problem->freeVelocity[row[i]] == made->g[i]);
        assert_true(solution.lambda[row[i]] == made->lambda[i]);
        assert_true(guess.lambda[row[i]] == made->sigma[i]);
    }
}

static const int identity[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static void test_local_round_trip(void** state) {
    (void)state;
    for (int kind = rg_delassusDense; kind <= rg_delassusSparse; ++kind) {
        rgSample sample;
        rgSample_Contacts(&sample, (rgDelassusKind)kind);
        rgSample_Write(&sample, rgTestPath("local.hdf5"));
        for (int form = rg_fclibMatrixAuto; form <= rg_fclibMatrixSparse; ++form) {
            rgFclibProblem* read = rgLoad(rgTestPath("local.hdf5"), (rgFclibMatrix)form);
            const rgContactProblem* problem = rgFclibProblem_Problem(read);
            rgExpectRows(read, &sample, identity);
            for (int i = 0; i < 9; ++i) {
                assert_true(rgFclibProblem_Solution(read).sigma[i] == sample.sigma[i]);
                for (int j = 0; j < 9; ++j) {
                    assert_true(rgDelassusEntry(problem, i, j) == sample.dense[9 * i + j]);
                }
            }
            for (int i = 0; i < 3; ++i) {
                assert_int_equal(problem->blocks[i].kind, rg_blockCoulomb);
                assert_int_equal(problem->blocks[i].firstRow, 3 * i);
                assert_true(problem->blocks[i].mu == sample.blocks[i].mu);
            }
            rgFclibInfo info = rgFclibProblem_Info(read);
            assert_string_equal(info.title, "sample");
            assert_string_equal(info.description, "made by a test");
            assert_string_equal(info.mathInfo, "none");
            assert_int_equal(info.contactCount, 3);
            assert_false(info.isGlobal);
            assert_memory_equal(rgFclibProblem_Keys(read), sample.keys, 9 * sizeof(int));
            rgDestroyFclibProblem(read);
        }
    }
}

static void test_compliance_joins_the_diagonal(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusDense);
    sample.problem.compliance = sample.compliance;
    rgSample_Write(&sample, rgTestPath("compliant.hdf5"));
    rgFclibProblem* read = rgLoad(rgTestPath("compliant.hdf5"), rg_fclibMatrixDense);
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    for (int i = 0; i < 9; ++i) {
        assert_true(rgDelassusEntry(problem, i, i) == sample.dense[10 * i] + sample.compliance[i]);
    }
    assert_null(problem->compliance);
    rgDestroyFclibProblem(read);
}

static void test_equality_rows_follow_the_contacts(void** state) {
    (void)state;
    static const int row[] = {6, 7, 0, 1, 2, 8, 3, 4, 5};
    rgSample sample;
    rgSample_Equalities(&sample, rg_delassusSparse);
    rgSample_Write(&sample, rgTestPath("equality.hdf5"));
    rgFclibProblem* read = rgLoad(rgTestPath("equality.hdf5"), rg_fclibMatrixAuto);
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    rgExpectRows(read, &sample, row);
    assert_int_equal(problem->blockCount, 3);
    assert_int_equal(problem->blocks[2].kind, rg_blockFree);
    assert_int_equal(problem->blocks[2].rowCount, 3);
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j) {
            assert_true(rgDelassusEntry(problem, row[i], row[j]) == sample.dense[9 * i + j]);
        }
    }
    rgDestroyFclibProblem(read);
}

static void test_global_round_trip(void** state) {
    (void)state;
    static const int row[] = {6, 7, 0, 1, 2, 8, 3, 4, 5};
    rgSample sample;
    rgSample_Equalities(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("global.hdf5"));
    rgFclibProblem* read = rgLoad(rgTestPath("global.hdf5"), rg_fclibMatrixAuto);
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    assert_int_equal(problem->delassus.kind, rg_delassusVelocity);
    assert_true(rgFclibProblem_Info(read).isGlobal);
    assert_int_equal(rgFclibProblem_Info(read).velocityCount, 6);
    rgExpectRows(read, &sample, row);
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 6; ++j) {
            assert_true(rgEntry(&problem->delassus.jacobian, row[i], j) ==
                        sample.jacobian[6 * i + j]);
        }
    }
    for (int i = 0; i < 18; ++i) {
        assert_true(problem->delassus.mass.value[i] == sample.mass[i]);
    }
    rgDestroyFclibProblem(read);
}

// x <- M^-1 x by Gaussian elimination within a body's 3 x 3 block: shares nothing with the library.
static void rgSolveBody(const double* mass, double* x) {
    double a[3][4];
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            a[i][j] = mass[3 * i + j];
        }
        a[i][3] = x[i];
    }
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) {
            double factor = i != k ? a[i][k] / a[k][k] : 0;
            for (int j = k; j < 4; ++j) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        x[i] = a[i][3] / a[i][i];
    }
}

static void test_condensed_is_the_schur_complement(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("condense.hdf5"));
    for (int form = rg_fclibMatrixDense; form <= rg_fclibMatrixSparse; ++form) {
        rgFclibProblem* read = rgLoad(rgTestPath("condense.hdf5"), (rgFclibMatrix)form);
        const rgContactProblem* problem = rgFclibProblem_Problem(read);
        for (int j = 0; j < 9; ++j) {
            double x[6];
            memcpy(x, sample.jacobian + 6 * j, sizeof(x));
            rgSolveBody(sample.mass, x);
            rgSolveBody(sample.mass + 9, x + 3);
            for (int i = 0; i < 9; ++i) {
                double expected = 0;
                for (int k = 0; k < 6; ++k) {
                    expected += sample.jacobian[6 * i + k] * x[k];
                }
                // Rounding of sums of six terms of size 1.
                EXPECT_NEAR(rgDelassusEntry(problem, i, j), expected, 1e-13);
                assert_true(rgDelassusEntry(problem, i, j) == rgDelassusEntry(problem, j, i));
            }
        }
        rgDestroyFclibProblem(read);
    }
}

static void test_velocity_form_with_compliance_is_condensed(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("rigid.hdf5"));
    sample.problem.compliance = sample.compliance;
    rgSample_Write(&sample, rgTestPath("soft.hdf5"));
    rgFclibProblem* rigid = rgLoad(rgTestPath("rigid.hdf5"), rg_fclibMatrixDense);
    rgFclibProblem* soft = rgLoad(rgTestPath("soft.hdf5"), rg_fclibMatrixDense);
    assert_false(rgFclibProblem_Info(soft).isGlobal);
    for (int i = 0; i < 9; ++i) {
        double difference = rgDelassusEntry(rgFclibProblem_Problem(soft), i, i) -
                            rgDelassusEntry(rgFclibProblem_Problem(rigid), i, i);
        EXPECT_NEAR(difference, sample.compliance[i], 1e-14);
    }
    rgDestroyFclibProblem(rigid);
    rgDestroyFclibProblem(soft);
}

static void test_other_blocks_round_trip(void** state) {
    (void)state;
    for (int kind = rg_delassusDense; kind <= rg_delassusVelocity; ++kind) {
        rgSample sample;
        rgSample_Extended(&sample, (rgDelassusKind)kind);
        rgSample_Write(&sample, rgTestPath("extended.hdf5"));
        rgFclibProblem* read = rgLoad(rgTestPath("extended.hdf5"), rg_fclibMatrixAuto);
        const rgContactProblem* problem = rgFclibProblem_Problem(read);
        rgExpectRows(read, &sample, identity);
        assert_int_equal(problem->blockCount, 4);
        for (int i = 0; i < 4; ++i) {
            assert_memory_equal(&problem->blocks[i], &sample.blocks[i], sizeof(rgBlock));
        }
        assert_memory_equal(problem->compliance, sample.compliance, 11 * sizeof(double));
        if (kind == rg_delassusVelocity) {
            assert_memory_equal(problem->delassus.jacobian.value, sample.jacobian,
                                66 * sizeof(double));
        } else {
            assert_true(rgDelassusEntry(problem, 2, 7) == sample.dense[2 * 11 + 7]);
        }
        rgDestroyFclibProblem(read);
    }
}

// ---- files made by hand ----

typedef struct rgRaw {
    int nz, m, n;
    const int *p, *i;
    int pCount, iCount, xCount;
    const double* x;
} rgRaw;

static void rgPutMatrix(rgH5* h5, const char* group, rgRaw raw) {
    char name[RG_H5_PATH];
    rgH5_MakeGroup(h5, group);
    const char* const fields[] = {"nz", "m", "n", "nzmax"};
    const int values[] = {raw.nz, raw.m, raw.n, raw.xCount};
    for (int k = 0; k < 4; ++k) {
        snprintf(name, sizeof(name), "%s/%s", group, fields[k]);
        rgH5_WriteInt(h5, name, values[k]);
    }
    snprintf(name, sizeof(name), "%s/p", group);
    rgH5_WriteInts(h5, name, raw.p, raw.pCount);
    snprintf(name, sizeof(name), "%s/i", group);
    rgH5_WriteInts(h5, name, raw.i, raw.iCount);
    snprintf(name, sizeof(name), "%s/x", group);
    rgH5_WriteNumbers(h5, name, raw.x, raw.xCount);
}

// n, t1, t2 of one contact: W = (4 1 0; 1 5 2; 0 2 6), q = (-1 2 3), mu = 0.5.
static const double plainValues[] = {4, 1, 1, 5, 2, 2, 6};
static const int plainIndices[] = {0, 1, 0, 1, 2, 1, 2};
static const int plainStarts[] = {0, 2, 5, 7};

static rgRaw rgPlainMatrix(void) {
    return (rgRaw){.nz = -2,
                   .m = 3,
                   .n = 3,
                   .p = plainStarts,
                   .i = plainIndices,
                   .pCount = 4,
                   .iCount = 7,
                   .xCount = 7,
                   .x = plainValues};
}

static void rgPutLocal(rgH5* h5, rgRaw matrix) {
    const double q[] = {-1, 2, 3};
    const double mu[] = {0.5};
    rgH5_MakeGroup(h5, "fclib_local");
    rgPutMatrix(h5, "fclib_local/W", matrix);
    rgH5_WriteInt(h5, "fclib_local/spacedim", 3);
    rgH5_MakeGroup(h5, "fclib_local/vectors");
    rgH5_WriteNumbers(h5, "fclib_local/vectors/q", q, 3);
    rgH5_WriteNumbers(h5, "fclib_local/vectors/mu", mu, 1);
}

static void rgExpectPlain(const char* path) {
    static const double expected[3][3] = {{5, 2, 1}, {2, 6, 0}, {1, 0, 4}}; // t1, t2, n
    rgFclibProblem* read = rgLoad(path, rg_fclibMatrixAuto);
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    const double g[] = {2, 3, -1};
    for (int i = 0; i < 3; ++i) {
        assert_true(problem->freeVelocity[i] == g[i]);
        for (int j = 0; j < 3; ++j) {
            assert_true(rgDelassusEntry(problem, i, j) == expected[i][j]);
        }
    }
    assert_true(problem->blocks[0].mu == 0.5);
    rgDestroyFclibProblem(read);
}

static void test_every_storage_reads_alike(void** state) {
    (void)state;
    // Triplets in any order, the 5 in two parts; W is symmetric, so columns look like rows, and
    // the test of the direction is test_asymmetry_is_told.
    static const int rows[] = {2, 0, 1, 1, 0, 1, 2, 1};
    static const int columns[] = {2, 0, 2, 1, 1, 0, 1, 1};
    static const double values[] = {6, 4, 2, 3, 1, 1, 2, 2};
    rgRaw triplets = {8, 3, 3, columns, rows, 8, 8, 8, values};
    for (int nz = -2; nz <= 0; ++nz) {
        rgH5 h5;
        rgH5_Create(&h5, rgTestPath("raw.hdf5"), "raw", NULL);
        rgRaw matrix = rgPlainMatrix();
        matrix.nz = nz;
        rgPutLocal(&h5, nz < 0 ? matrix : triplets);
        assert_int_equal(rgH5_Close(&h5), rg_ok);
        rgExpectPlain(rgTestPath("raw.hdf5"));
    }
}

// H is not symmetric: H(v, n) in each storage, M = diag(2, 4), f = (2, 8), w = (10, 20, 30).
static void test_global_by_hand(void** state) {
    (void)state;
    static const double massValues[] = {2, 4};
    static const int massIndices[] = {0, 1}, massStarts[] = {0, 1, 2};
    rgRaw mass = {-1, 2, 2, massStarts, massIndices, 3, 2, 2, massValues};
    // H = (1 2 0; 0 3 4): columns n, t1, t2
    static const int columnStarts[] = {0, 1, 3, 4}, columnRows[] = {0, 0, 1, 1};
    static const double columnValues[] = {1, 2, 3, 4};
    static const int rowStarts[] = {0, 2, 4}, rowColumns[] = {0, 1, 1, 2};
    static const int tripletRows[] = {0, 0, 1, 1}, tripletColumns[] = {0, 1, 1, 2};
    const rgRaw storages[] = {
        {-1, 2, 3, columnStarts, columnRows, 4, 4, 4, columnValues},
        {-2, 2, 3, rowStarts, rowColumns, 3, 4, 4, columnValues},
        {4, 2, 3, tripletColumns, tripletRows, 4, 4, 4, columnValues},
    };
    for (int k = 0; k < 3; ++k) {
        const double f[] = {2, 8}, w[] = {10, 20, 30}, mu[] = {0.25};
        rgH5 h5;
        rgH5_Create(&h5, rgTestPath("hand.hdf5"), "hand", NULL);
        rgH5_MakeGroup(&h5, "fclib_global");
        rgH5_WriteInt(&h5, "fclib_global/spacedim", 3);
        rgPutMatrix(&h5, "fclib_global/M", mass);
        rgPutMatrix(&h5, "fclib_global/H", storages[k]);
        rgH5_MakeGroup(&h5, "fclib_global/vectors");
        rgH5_WriteNumbers(&h5, "fclib_global/vectors/f", f, 2);
        rgH5_WriteNumbers(&h5, "fclib_global/vectors/w", w, 3);
        rgH5_WriteNumbers(&h5, "fclib_global/vectors/mu", mu, 1);
        assert_int_equal(rgH5_Close(&h5), rg_ok);
        // v = M^-1 f = (1, 2), H' v = (1, 8, 8), q = (11, 28, 38)
        rgFclibProblem* read = rgLoad(rgTestPath("hand.hdf5"), rg_fclibMatrixDense);
        const double* g = rgFclibProblem_Problem(read)->freeVelocity;
        EXPECT_NEAR(g[0], 28, 1e-13);
        EXPECT_NEAR(g[1], 38, 1e-13);
        EXPECT_NEAR(g[2], 11, 1e-13);
        // W_nn = 1/2, W_t1t1 = 4/2 + 9/4, W_t1t2 = 3, W_n,t1 = 1
        const double* G = rgFclibProblem_Problem(read)->delassus.matrix;
        EXPECT_NEAR(G[0], 4.25, 1e-14);
        EXPECT_NEAR(G[1], 3, 1e-14);
        EXPECT_NEAR(G[2], 1, 1e-14);
        EXPECT_NEAR(G[8], 0.5, 1e-14);
        rgDestroyFclibProblem(read);
        // A solution of a global problem carries v = M^-1 (f + H r) as well: r = (t1 t2 n).
        const double lambda[] = {1, 1, 2}, sigma[] = {0, 0, 0};
        rgFclibSolution solution = {lambda, sigma};
        assert_int_equal(
            rgSaveFclibSolution(rgTestPath("hand.hdf5"), rgTestPath("hand.hdf5"), &solution, NULL),
            rg_ok);
        rgH5_OpenRead(&h5, rgTestPath("hand.hdf5"), NULL, NULL);
        double* v = rgH5_ReadNumbers(&h5, "solution/v", 2);
        double* r = rgH5_ReadNumbers(&h5, "solution/r", 3);
        assert_int_equal(rgH5_Close(&h5), rg_ok);
        EXPECT_NEAR(v[0], (2 + 1 * 2 + 2 * 1) / 2.0, 1e-14);
        EXPECT_NEAR(v[1], (8 + 3 * 1 + 4 * 1) / 4.0, 1e-14);
        assert_true(r[0] == 2 && r[1] == 1 && r[2] == 1);
        rgRelease(NULL, v);
        rgRelease(NULL, r);
    }
}

// The first error of a load, which must fail and give no problem.
static void rgExpectRefused(const char* path, rgResult expected, const char* field) {
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgFclibProblem* problem = NULL;
    rgResult result = rgLoadFclib(path, NULL, diagnostics, &problem);
    assert_null(problem);
    assert_int_equal(rgDiagnostics_CountOf(diagnostics, rg_severityError), 1);
    rgMessage message = rgDiagnostics_Message(diagnostics, rgDiagnostics_Count(diagnostics) - 1);
    assert_string_equal(message.file, path);
    if (strstr(message.text, field) == NULL || result != expected) {
        fail_msg("%s: '%s' (%s) does not name '%s'", path, message.text, rgResult_Name(result),
                 field);
    }
    rgDestroyDiagnostics(diagnostics);
}

// Write the plain problem, then spoil it.
typedef void rgSpoilFcn(rgH5* h5);

static void rgReplaceInt(rgH5* h5, const char* name, int value) {
    rgH5_Remove(h5, name);
    rgH5_WriteInt(h5, name, value);
}
static void rgReplaceNumbers(rgH5* h5, const char* name, const double* values, int count) {
    rgH5_Remove(h5, name);
    rgH5_WriteNumbers(h5, name, values, count);
}
static void rgSpoilGroup(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local");
}
static void rgSpoilW(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W");
}
static void rgSpoilQ(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/vectors/q");
}
static void rgSpoilQSize(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/vectors/q", (double[]){1, 2}, 2);
}
static void rgSpoilQNan(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/vectors/q", (double[]){1, 2, NAN}, 3);
}
static void rgSpoilMu(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/vectors/mu", (double[]){-0.1}, 1);
}
static void rgSpoilMuInfinite(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/vectors/mu", (double[]){INFINITY}, 1);
}
static void rgSpoilX(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/W/x", (double[]){1, 2, 3, 4, NAN, 6, 7}, 7);
}
static void rgSpoilXSize(rgH5* h5) {
    rgReplaceNumbers(h5, "fclib_local/W/x", (double[]){1, 2}, 2);
}
static void rgSpoilXText(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W/x");
    rgH5_WriteText(h5, "fclib_local/W/x", "numbers");
}
static void rgSpoilSpace(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/spacedim", 2);
}
static void rgSpoilSpace4(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/spacedim", 4);
}
static void rgSpoilNz(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/W/nz", -3);
}
static void rgSpoilNzHuge(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/W/nz", 2000000000);
}
static void rgSpoilM(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/W/m", -3);
}
static void rgSpoilN(rgH5* h5) {
    rgReplaceInt(h5, "fclib_local/W/n", 6);
}
static void rgSpoilContacts(rgH5* h5) { // one contact and a row more
    static const int p[] = {0, 1, 2, 3, 4}, i[] = {0, 1, 2, 3};
    static const double x[] = {1, 1, 1, 1};
    rgH5_Remove(h5, "fclib_local/W");
    rgPutMatrix(h5, "fclib_local/W", (rgRaw){-2, 4, 4, p, i, 5, 4, 4, x});
    rgReplaceNumbers(h5, "fclib_local/vectors/q", x, 4);
}
static void rgSpoilIndex(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W/i");
    rgH5_WriteInts(h5, "fclib_local/W/i", (int[]){0, 1, 0, 1, 3, 1, 2}, 7);
}
static void rgSpoilPointer(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W/p");
    rgH5_WriteInts(h5, "fclib_local/W/p", (int[]){0, 5, 2, 7}, 4);
}
static void rgSpoilPointerEnd(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W/p");
    rgH5_WriteInts(h5, "fclib_local/W/p", (int[]){0, 2, 5, 70}, 4);
}
static void rgSpoilKeys(rgH5* h5) {
    rgH5_MakeGroup(h5, "contacts");
    rgH5_WriteInts(h5, "contacts/keys", (int[]){0, 1}, 2);
}
static void rgSpoilV(rgH5* h5) {
    rgPutMatrix(h5, "fclib_local/V", rgPlainMatrix());
}
static void rgSpoilPointerGroup(rgH5* h5) {
    rgH5_Remove(h5, "fclib_local/W/p");
    rgH5_MakeGroup(h5, "fclib_local/W/p");
}

static void test_bad_files_are_explained(void** state) {
    (void)state;
    static const struct {
        rgSpoilFcn* spoil;
        rgResult result;
        const char* field;
    } cases[] = {
        {rgSpoilGroup, rg_errorFormat, "fclib_local"},
        {rgSpoilW, rg_errorFormat, "fclib_local/W is missing"},
        {rgSpoilQ, rg_errorFormat, "fclib_local/vectors/q is missing"},
        {rgSpoilQSize, rg_errorFormat, "fclib_local/vectors/q has 2 numbers where 3"},
        {rgSpoilQNan, rg_errorNumeric, "fclib_local/vectors/q[2] is not a number"},
        {rgSpoilMu, rg_errorFormat, "fclib_local/vectors/mu[0] is -0.1"},
        {rgSpoilMuInfinite, rg_errorNumeric, "fclib_local/vectors/mu[0] is infinite"},
        {rgSpoilX, rg_errorNumeric, "fclib_local/W/x[4] is not a number"},
        {rgSpoilXSize, rg_errorFormat, "fclib_local/W/x has 2 numbers where 7"},
        {rgSpoilXText, rg_errorFormat, "fclib_local/W/x holds no numbers"},
        {rgSpoilSpace, rg_errorUnsupported, "fclib_local/spacedim is 2"},
        {rgSpoilSpace4, rg_errorFormat, "fclib_local/spacedim is 4"},
        {rgSpoilNz, rg_errorFormat, "fclib_local/W/nz is -3"},
        {rgSpoilNzHuge, rg_errorFormat, "fclib_local/W/i has 7 numbers where 2000000000"},
        {rgSpoilM, rg_errorFormat, "fclib_local/W/m is -3"},
        {rgSpoilN, rg_errorFormat, "3 x 6, not square"},
        {rgSpoilContacts, rg_errorFormat, "fclib_local: 4 contact rows are not a multiple of 3"},
        {rgSpoilIndex, rg_errorFormat, "fclib_local/W/i[4] is 3, outside 0..2"},
        {rgSpoilPointer, rg_errorFormat, "fclib_local/W/p[2] is 2, outside 5..7"},
        {rgSpoilPointerEnd, rg_errorFormat, "fclib_local/W/p[3] is 70"},
        {rgSpoilKeys, rg_errorFormat, "contacts/keys has 2 numbers where 3"},
        {rgSpoilV, rg_errorFormat, "fclib_local/R"},
        {rgSpoilPointerGroup, rg_errorFormat, "fclib_local/W/p is not a dataset"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgH5 h5;
        rgH5_Create(&h5, rgTestPath("bad.hdf5"), "bad", NULL);
        rgPutLocal(&h5, rgPlainMatrix());
        cases[i].spoil(&h5);
        assert_int_equal(rgH5_Close(&h5), rg_ok);
        rgExpectRefused(rgTestPath("bad.hdf5"), cases[i].result, cases[i].field);
    }
}

static void test_asymmetry_is_told(void** state) {
    (void)state;
    // W(n, t1) = 1.5 and W(t1, n) = 1, stored by rows: difference 0.5 of 6.
    static const double values[] = {4, 1.5, 1, 5, 2, 2, 6};
    rgRaw matrix = rgPlainMatrix();
    matrix.x = values;
    rgH5 h5;
    rgH5_Create(&h5, rgTestPath("skew.hdf5"), "skew", NULL);
    rgPutLocal(&h5, matrix);
    assert_int_equal(rgH5_Close(&h5), rg_ok);
    rgDiagnostics* diagnostics = NULL;
    rgFclibProblem* read = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgLoadFclib(rgTestPath("skew.hdf5"), NULL, diagnostics, &read), rg_ok);
    assert_int_equal(rgDiagnostics_CountOf(diagnostics, rg_severityWarning), 1);
    assert_non_null(strstr(rgDiagnostics_Message(diagnostics, 0).text, "0.083"));
    EXPECT_NEAR(rgFclibProblem_Info(read).asymmetry, 0.5 / 6, 1e-15);
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    assert_true(rgDelassusEntry(problem, 0, 2) == 1.25);
    assert_true(rgDelassusEntry(problem, 2, 0) == 1.25);
    rgDestroyFclibProblem(read);
    rgDestroyDiagnostics(diagnostics);
}

static void test_bad_mass_is_explained(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusVelocity);
    sample.mass[0] = -1;
    rgFclibContent content = {.problem = &sample.problem};
    assert_int_equal(rgSaveFclib(rgTestPath("mass.hdf5"), &content, NULL), rg_ok);
    rgExpectRefused(rgTestPath("mass.hdf5"), rg_errorNumeric, "fclib_global/M");
}

static void test_unusable_solutions_are_left_out(void** state) {
    (void)state;
    rgH5 h5;
    rgH5_Create(&h5, rgTestPath("odd.hdf5"), "odd", NULL);
    rgPutLocal(&h5, rgPlainMatrix());
    rgH5_MakeGroup(&h5, "solution");
    rgH5_WriteNumbers(&h5, "solution/r", (double[]){1, 2}, 2);
    assert_int_equal(rgH5_Close(&h5), rg_ok);
    rgFclibProblem* read = rgLoad(rgTestPath("odd.hdf5"), rg_fclibMatrixAuto);
    assert_null(rgFclibProblem_Solution(read).lambda);
    rgDestroyFclibProblem(read);
}

static void test_files_that_are_no_hdf5(void** state) {
    (void)state;
    FILE* file = fopen(rgTestPath("text.hdf5"), "w");
    assert_non_null(file);
    fputs("fclib_local\n", file);
    fclose(file);
    rgExpectRefused(rgTestPath("text.hdf5"), rg_errorFormat, "not an HDF5 file");
    rgExpectRefused(rgTestPath("nothing.hdf5"), rg_errorFile, "cannot be opened");
    rgExpectRefused(folder, rg_errorFile, "not a regular file");
}

static void test_truncated_files_are_refused(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusDense);
    rgSample_Write(&sample, rgTestPath("whole.hdf5"));
    char bytes[1 << 16];
    FILE* file = fopen(rgTestPath("whole.hdf5"), "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t kept = 8; kept < size; kept += size / 7) {
        file = fopen(rgTestPath("cut.hdf5"), "wb");
        assert_int_equal(fwrite(bytes, 1, kept, file), kept);
        fclose(file);
        rgExpectRefused(rgTestPath("cut.hdf5"), rg_errorFormat, "truncated");
    }
}

static void rgExpectNoLeftovers(const char* name) {
    char path[600];
    snprintf(path, sizeof(path), "%s/%s.%ld.part", folder, name, (long)getpid());
    assert_int_equal(access(path, F_OK), -1);
}

static void test_failed_writes_leave_nothing(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("keep.hdf5"));
    sample.mass[0] = -1; // cannot be condensed
    sample.problem.compliance = sample.compliance;
    rgFclibContent content = {.problem = &sample.problem};
    assert_int_equal(rgSaveFclib(rgTestPath("keep.hdf5"), &content, NULL), rg_errorNumeric);
    rgExpectNoLeftovers("keep.hdf5");
    rgFclibProblem* read = rgLoad(rgTestPath("keep.hdf5"), rg_fclibMatrixAuto);
    assert_true(rgFclibProblem_Info(read).isGlobal); // still the first one
    rgDestroyFclibProblem(read);
    assert_int_equal(rgSaveFclib(rgTestPath("none/x.hdf5"), &content, NULL), rg_errorFile);
    sample.problem.rowCount = 8; // blocks reach beyond it
    assert_int_equal(rgSaveFclib(rgTestPath("keep.hdf5"), &content, NULL), rg_errorArgument);
    rgFclibSolution solution = {sample.lambda, sample.sigma};
    assert_int_equal(
        rgSaveFclibSolution(rgTestPath("nothing.hdf5"), rgTestPath("copy.hdf5"), &solution, NULL),
        rg_errorFile);
    assert_int_equal(access(rgTestPath("copy.hdf5"), F_OK), -1);
}

static void test_solution_replaces_the_stored_one(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Equalities(&sample, rg_delassusDense);
    rgSample_Write(&sample, rgTestPath("before.hdf5"));
    rgFclibProblem* before = rgLoad(rgTestPath("before.hdf5"), rg_fclibMatrixAuto);
    double lambda[9], sigma[9];
    for (int i = 0; i < 9; ++i) {
        lambda[i] = 10 + i;
        sigma[i] = i < 6 ? 20 + i : 0;
    }
    char source[512];
    snprintf(source, sizeof(source), "%s", rgTestPath("before.hdf5"));
    rgFclibSolution solution = {lambda, sigma};
    assert_int_equal(rgSaveFclibSolution(source, rgTestPath("after.hdf5"), &solution, NULL), rg_ok);
    rgFclibProblem* after = rgLoad(rgTestPath("after.hdf5"), rg_fclibMatrixAuto);
    assert_memory_equal(rgFclibProblem_Solution(after).lambda, lambda, sizeof(lambda));
    assert_memory_equal(rgFclibProblem_Solution(after).sigma, sigma, sizeof(sigma));
    assert_memory_equal(rgFclibProblem_Problem(after)->freeVelocity,
                        rgFclibProblem_Problem(before)->freeVelocity, sizeof(lambda));
    assert_int_equal(rgFclibProblem_GuessCount(after), 1);
    rgDestroyFclibProblem(before);
    rgDestroyFclibProblem(after);
}

static void test_memory_failures_leak_nothing(void** state) {
    (void)state;
    rgSample sample;
    rgSample_Equalities(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("memory.hdf5"));
    rgResult result = rg_errorMemory;
    for (int limit = 0; result == rg_errorMemory; ++limit) {
        rgCounter counter = {.failAfter = limit};
        rgFclibDef def = rgDefaultFclibDef();
        def.allocator = rgCountingAllocator(&counter);
        def.matrix = rg_fclibMatrixSparse;
        rgFclibProblem* problem = NULL;
        result = rgLoadFclib(rgTestPath("memory.hdf5"), &def, NULL, &problem);
        rgDestroyFclibProblem(problem);
        assert_int_equal(counter.live, 0);
        assert_true(limit < 1000);
    }
    assert_int_equal(result, rg_ok);
}

static herr_t rgOurReporter(hid_t stack, void* context) {
    (void)stack;
    *(int*)context += 1;
    return 0;
}

static void test_error_printing_is_put_back(void** state) {
    (void)state;
    int calls = 0;
    H5E_auto2_t before = NULL, after = NULL;
    void *contextBefore = NULL, *contextAfter = NULL;
    H5Eget_auto2(H5E_DEFAULT, &before, &contextBefore);
    H5Eset_auto2(H5E_DEFAULT, rgOurReporter, &calls);
    rgFclibProblem* problem = NULL;
    assert_int_equal(rgLoadFclib(rgTestPath("text.hdf5"), NULL, NULL, &problem), rg_errorFormat);
    H5Eget_auto2(H5E_DEFAULT, &after, &contextAfter);
    assert_true(after == rgOurReporter && contextAfter == &calls);
    assert_int_equal(calls, 0);
    H5Eset_auto2(H5E_DEFAULT, before, contextBefore);
}

static void test_misuse_is_refused(void** state) {
    (void)state;
    rgFclibProblem* problem = NULL;
    rgFclibDef empty = {0};
    assert_int_equal(rgLoadFclib(NULL, NULL, NULL, &problem), rg_errorArgument);
    assert_int_equal(rgLoadFclib("x", &empty, NULL, &problem), rg_errorArgument);
    assert_int_equal(rgSaveFclib("x", NULL, NULL), rg_errorArgument);
    rgSample sample;
    rgSample_Contacts(&sample, rg_delassusDense);
    rgSample_Write(&sample, rgTestPath("local.hdf5"));
    rgFclibDef def = rgDefaultFclibDef();
    def.matrix = rg_fclibMatrixVelocity;
    assert_int_equal(rgLoadFclib(rgTestPath("local.hdf5"), &def, NULL, &problem),
                     rg_errorUnsupported);
    rgDestroyFclibProblem(NULL);
}

// For check_fclib.py, which knows these numbers from the text files beside them.
static void rgDumpNumbers(const char* name, const double* values, int count) {
    FILE* file = fopen(rgTestPath(name), "w");
    for (int i = 0; file != NULL && i < count; ++i) {
        fprintf(file, "%.17g\n", values[i]);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static int rgWriteSamples(void) {
    rgSample sample;
    rgSample_Equalities(&sample, rg_delassusDense);
    rgSample_Write(&sample, rgTestPath("local.hdf5"));
    rgSample_Equalities(&sample, rg_delassusVelocity);
    rgSample_Write(&sample, rgTestPath("global.hdf5"));
    rgDumpNumbers("dense.txt", sample.dense, 81);
    rgDumpNumbers("jacobian.txt", sample.jacobian, 54);
    rgDumpNumbers("mass.txt", sample.mass, 18);
    rgDumpNumbers("g.txt", sample.g, 9);
    rgDumpNumbers("lambda.txt", sample.lambda, 9);
    rgDumpNumbers("sigma.txt", sample.sigma, 9);
    return 0;
}

int main(int argc, char** argv) {
    if (argc > 1) {
        snprintf(folder, sizeof(folder), "%s", argv[1]);
        return rgWriteSamples();
    }
    const char* root = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/rigor_fclib_XXXXXX", root != NULL ? root : "/tmp");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_round_trip),
        cmocka_unit_test(test_compliance_joins_the_diagonal),
        cmocka_unit_test(test_equality_rows_follow_the_contacts),
        cmocka_unit_test(test_global_round_trip),
        cmocka_unit_test(test_condensed_is_the_schur_complement),
        cmocka_unit_test(test_velocity_form_with_compliance_is_condensed),
        cmocka_unit_test(test_other_blocks_round_trip),
        cmocka_unit_test(test_every_storage_reads_alike),
        cmocka_unit_test(test_global_by_hand),
        cmocka_unit_test(test_bad_files_are_explained),
        cmocka_unit_test(test_asymmetry_is_told),
        cmocka_unit_test(test_bad_mass_is_explained),
        cmocka_unit_test(test_unusable_solutions_are_left_out),
        cmocka_unit_test(test_files_that_are_no_hdf5),
        cmocka_unit_test(test_truncated_files_are_refused),
        cmocka_unit_test(test_failed_writes_leave_nothing),
        cmocka_unit_test(test_solution_replaces_the_stored_one),
        cmocka_unit_test(test_memory_failures_leak_nothing),
        cmocka_unit_test(test_error_printing_is_put_back),
        cmocka_unit_test(test_misuse_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[600];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command) != 0 || failed != 0;
}
