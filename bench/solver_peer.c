// Contact problems for solvers of other projects, and their answers.
#include "solver_peer.h"

#include "cli.h"
#include "peers/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const rgSolverPeer rgSolverPeers[] = {
    {"Pinocchio", "ADMM", rg_modelNcp},
    {"Pinocchio", "ADMM spectral", rg_modelNcp},
    {"Pinocchio", "ADMM preconditioned", rg_modelNcp},
    {"Pinocchio", "ADMM preconditioned, rho kept", rg_modelNcp},
    {"Pinocchio", "PGS", rg_modelNcp},
    {"Pinocchio", "PGS over-relaxed", rg_modelNcp},
    {"Siconos", "NSGS", rg_modelNcp},
    {"Siconos", "NSN_AC", rg_modelNcp},
    {"Siconos", "ADMM", rg_modelNcp},
    {"SCS", "", rg_modelCcp},
};
const int rgSolverPeerCount = (int)(sizeof(rgSolverPeers) / sizeof(rgSolverPeers[0]));

const rgSolverPeer* rgFindSolverPeer(const char* name, const char* method) {
    for (int i = 0; i < rgSolverPeerCount; ++i) {
        if (strcmp(rgSolverPeers[i].name, name) == 0 &&
            strcmp(rgSolverPeers[i].method, method) == 0) {
            return &rgSolverPeers[i];
        }
    }
    return NULL;
}

// ---- where they are

// Programs beside this one, or NULL.
static char* rgProgram(const char* name) {
    char own[1024];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(own, '/');
    char* path = NULL;
    for (int up = 0; slash != NULL && path == NULL && up < 3; ++up) { // tests are in folders below
        *slash = '\0';
        path = rgCli_Format("%s/%s", own, name);
        if (access(path, X_OK) != 0) {
            free(path);
            path = NULL;
        }
        slash = strrchr(own, '/');
    }
    return path;
}

// Its program, and a script for that or NULL; NULL: not there. The caller frees the program.
static char* rgSolverProgram(const rgSolverPeer* peer, const char** script) {
    char version[32];
    *script = NULL;
    if (strcmp(peer->name, "SCS") == 0) {
        *script = RIGOR_SOURCE_DIR "/bench/solvers/scs_process.py";
        bool there = strcmp(rgPeerPackage("scs", version, sizeof(version)), "not installed") != 0;
        return there ? rgPeerPython() : NULL;
    }
    return rgProgram(strcmp(peer->name, "Siconos") == 0 ? "rigor-bench-siconos"
                                                        : "rigor-bench-pinocchio");
}

const char* rgSolverPeer_Version(const rgSolverPeer* peer, char* buffer, size_t size) {
    const char* script;
    char* program = rgSolverProgram(peer, &script);
    snprintf(buffer, size, "not installed");
    if (program != NULL && script != NULL) {
        rgPeerPackage("scs", buffer, size);
    } else if (program != NULL) {
        char* command = rgCli_Format("'%s' version", program);
        FILE* in = popen(command, "r"); // NOLINT: the path is ours
        if (in != NULL && fgets(buffer, (int)size, in) != NULL) {
            buffer[strcspn(buffer, "\n")] = '\0';
        }
        if (in != NULL) {
            pclose(in);
        }
        free(command);
    }
    free(program);
    return buffer;
}

// ---- problems

static void rgPutIntegers(FILE* file, const int32_t* values, int count) {
    fwrite(values, sizeof(int32_t), (size_t)count, file);
}

static void rgPutProblem(FILE* file, const rgContactProblem* problem) {
    size_t n = (size_t)problem->rowCount;
    rgPutIntegers(file, (int32_t[]){problem->rowCount, problem->blockCount}, 2);
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = &problem->blocks[b];
        int kind = block->kind == rg_blockCoulomb    ? (block->rowCount == 3 ? 0 : 4)
                   : block->kind == rg_blockHalfLine ? 1
                   : block->kind == rg_blockBox      ? 2
                                                     : 3;
        double numbers[3] = {block->mu, block->lower, block->upper};
        rgPutIntegers(file, (int32_t[]){kind, block->firstRow, block->rowCount}, 3);
        fwrite(numbers, sizeof(double), 3, file);
    }
    fwrite(problem->freeVelocity, sizeof(double), n, file);
    for (size_t j = 0; j < n; ++j) {
        double diagonal = problem->delassus.matrix[j * n + j] +
                          (problem->compliance != NULL ? problem->compliance[j] : 0);
        fwrite(problem->delassus.matrix + j * n, sizeof(double), j, file);
        fwrite(&diagonal, sizeof(double), 1, file);
        fwrite(problem->delassus.matrix + j * n + j + 1, sizeof(double), n - j - 1, file);
    }
}

static bool rgReadAnswer(FILE* in, int n, rgSolverAnswer* answer, char* fault, size_t faultSize) {
    char word[32];
    int claimed = 0, count = 0;
    if (fscanf(in, "%31s", word) != 1) {
        snprintf(fault, faultSize, "its answer ends early");
        return false;
    }
    if (strcmp(word, "none") == 0) {
        return true;
    }
    if (strcmp(word, "fault") == 0) {
        if (fgets(fault, (int)faultSize, in) != NULL) {
            fault[strcspn(fault, "\n")] = '\0';
        }
        return false;
    }
    answer->seconds = strtod(word, NULL);
    bool good = fscanf(in, "%d %d %d", &answer->iterations, &claimed, &count) == 3 && count == n;
    answer->claimed = claimed != 0;
    answer->lambda = rgCli_Allocate((size_t)n, sizeof(double));
    for (int i = 0; i < n && good; ++i) {
        good = fscanf(in, "%lf", &answer->lambda[i]) == 1;
    }
    if (!good) {
        snprintf(fault, faultSize, "its answer cannot be read");
    }
    return good;
}

bool rgSolverPeer_Solve(const rgSolverPeer* peer, const rgContactProblem** problems, int count,
                        double tolerance, int iterations, rgSolverAnswer* answers, char* fault,
                        size_t faultSize) {
    char path[] = "/tmp/rigor-solver-XXXXXX";
    const char* script;
    memset(answers, 0, (size_t)count * sizeof(rgSolverAnswer));
    char* program = rgSolverProgram(peer, &script);
    if (program == NULL) {
        snprintf(fault, faultSize, "not installed: ./setup bench");
        return false;
    }
    int handle = mkstemp(path);
    FILE* file = handle >= 0 ? fdopen(handle, "w") : NULL;
    bool good = file != NULL;
    if (good) {
        rgPutIntegers(file, (int32_t[]){count, iterations}, 2);
        fwrite(&tolerance, sizeof(double), 1, file);
        for (int i = 0; i < count; ++i) {
            rgPutProblem(file, problems[i]);
        }
        good = fclose(file) == 0;
    }
    // Pinocchio's PGS keeps matrices of large problems on the stack.
    char* command = rgCli_Format("ulimit -s unlimited 2>/dev/null; OPENBLAS_NUM_THREADS=1 "
                                 "OMP_NUM_THREADS=1 '%s' %s '%s' '%s' 2>/dev/null",
                                 program, script != NULL ? script : "", peer->method, path);
    FILE* in = good ? popen(command, "r") : NULL; // NOLINT: all paths are ours
    good = in != NULL;
    for (int i = 0; i < count && good; ++i) {
        good = rgReadAnswer(in, problems[i]->rowCount, &answers[i], fault, faultSize);
    }
    if (in != NULL) {
        pclose(in);
    }
    unlink(path);
    free(command);
    free(program);
    return good;
}

void rgSolverAnswers_Free(rgSolverAnswer* answers, int count) {
    for (int i = 0; i < count; ++i) {
        free(answers[i].lambda);
        answers[i].lambda = NULL;
    }
}

static bool rgIsTrue(const rgSolverPeer* peer, const rgContactProblem* problem,
                     const rgSolverAnswer* answer, double tolerance) {
    rgResidual residual = {.total = INFINITY};
    return answer->lambda != NULL &&
           rgContactProblem_Judge(problem, peer->model, answer->lambda, &residual) == rg_ok &&
           residual.total <= tolerance;
}

bool rgSolverPeer_SolveTruly(const rgSolverPeer* peer, const rgContactProblem** problems, int count,
                             double tolerance, int iterations, rgSolverAnswer* answers, bool* first,
                             char* fault, size_t faultSize) {
    if (!rgSolverPeer_Solve(peer, problems, count, tolerance, iterations, answers, fault,
                            faultSize)) {
        return false;
    }
    const rgContactProblem** left = rgCli_Allocate((size_t)count, sizeof(rgContactProblem*));
    rgSolverAnswer* again = rgCli_Allocate((size_t)count, sizeof(rgSolverAnswer));
    int* index = rgCli_Allocate((size_t)count, sizeof(int));
    bool* solved = rgCli_Allocate((size_t)count, sizeof(bool));
    int* made = rgCli_Allocate((size_t)count, sizeof(int)); // iterations of the last try
    for (int i = 0; i < count; ++i) {
        solved[i] = rgIsTrue(peer, problems[i], &answers[i], tolerance);
        made[i] = answers[i].iterations;
        if (first != NULL) {
            first[i] = solved[i];
        }
    }
    for (int k = 1; k <= 6; ++k) {
        int open = 0;
        for (int i = 0; i < count; ++i) {
            // a try that came to the most iterations would end as it did
            bool more = !solved[i] && answers[i].lambda != NULL && made[i] < iterations;
            if (more) {
                left[open] = problems[i];
                index[open++] = i;
            }
        }
        if (open == 0 || !rgSolverPeer_Solve(peer, left, open, tolerance * pow(10, -k), iterations,
                                             again, fault, faultSize)) {
            break;
        }
        for (int j = 0; j < open; ++j) {
            rgSolverAnswer* answer = &answers[index[j]];
            made[index[j]] = again[j].lambda != NULL ? again[j].iterations : iterations;
            solved[index[j]] = rgIsTrue(peer, left[j], &again[j], tolerance);
            if (solved[index[j]]) {
                free(answer->lambda);
                answer->lambda = again[j].lambda;
                answer->seconds = again[j].seconds;
                answer->iterations = again[j].iterations;
                again[j].lambda = NULL;
            }
        }
        rgSolverAnswers_Free(again, open);
    }
    free((void*)left);
    free(again);
    free(index);
    free(solved);
    free(made);
    return true;
}
