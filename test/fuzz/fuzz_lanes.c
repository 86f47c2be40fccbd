// Bytes as contact problems of a batch, with numbers that hurt. A load takes all of them or names
// one that is refused; impulses that are said to be a solution are finite, and the judge agrees.
#include "fuzz_problem.h"

#include "rigor/device.h"

enum { rg_mostProblems = 3 };

static bool rgIsSymmetric(const rgCase* c) {
    int n = c->problem.rowCount;
    for (int i = 0; i < n * n && c->problem.delassus.kind != rg_delassusVelocity; ++i) {
        if (c->G[i] != c->G[i % n * n + i / n]) {
            return false;
        }
    }
    return true;
}

static rgContactBatchDef rgMakeBatch(rgInput* in) {
    rgContactBatchDef def = rgDefaultContactBatchDef();
    def.lanesOnly = rgInput_Byte(in) < 64;
    def.judgeInterval = rgInput_Below(in, 3);
    def.sharedMemory = rgInput_Byte(in) < 64 ? 64 * rgInput_Byte(in) : 0;
    return def;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgInput in = {bytes, count};
    rgCase* cases = calloc(rg_mostProblems, sizeof(rgCase));
    rgContactProblem problems[rg_mostProblems];
    rgContactBatchDef def = rgMakeBatch(&in);
    int problemCount = rgInput_Below(&in, rg_mostProblems + 1), rows = 0;
    bool good = true;
    for (int i = 0; i < problemCount; ++i) {
        rgMakeProblem(&in, &cases[i]);
        problems[i] = cases[i].problem;
        good = rgContactProblem_Check(&problems[i], NULL) == rg_ok && good;
        rows += problems[i].rowCount;
    }
    rgContactBatch* batch = NULL;
    rgDiagnostics* diagnostics = NULL;
    RG_PROMISE(rgCreateDiagnostics(NULL, &diagnostics) == rg_ok);
    RG_PROMISE(rgCreateContactBatch(&def, NULL, &batch) == rg_ok);
    rgResult result = rgContactBatch_Load(batch, problems, problemCount, diagnostics);
    RG_PROMISE(result == rg_ok || rgDiagnostics_Count(diagnostics) > 0);
    RG_PROMISE(good || result != rg_ok);
    if (result == rg_ok) {
        double lambda[rg_mostProblems * rg_mostRows], sigma[rg_mostProblems * rg_mostRows];
        rgContactOutcome outcomes[rg_mostProblems];
        rgContactBatchReport report;
        RG_PROMISE(rgContactBatch_RowCount(batch) == rows);
        for (int i = 0; i < rows; ++i) {
            lambda[i] = rgInput_Byte(&in) < 64 ? rgInput_Number(&in) : 0;
        }
        result = rgContactBatch_Solve(batch, lambda, sigma, rows, outcomes, problemCount, &report);
        RG_PROMISE(result == rg_ok || result == rg_errorArgument || result == rg_errorNumeric);
        int solved = 0;
        for (int i = 0, row = 0; i < problemCount && result == rg_ok; ++i) {
            rgResidual residual;
            bool isSolved = outcomes[i].status == rg_contactSolved;
            bool isFinite = rgAllFinite(lambda + row, problems[i].rowCount);
            RG_PROMISE(isFinite || !isSolved); // a start that is left as it is may be infinite
            rgResult judged =
                rgContactProblem_Judge(&problems[i], rg_modelNcp, lambda + row, &residual);
            // G that is not symmetric has two answers, unless the host judges all of them.
            RG_PROMISE(!isSolved || problems[i].rowCount == 0 ||
                       (judged == rg_ok && residual.total <= 2 * def.tolerance) ||
                       (def.judgeInterval != 1 && !rgIsSymmetric(&cases[i])));
            solved += isSolved;
            row += problems[i].rowCount;
        }
        RG_PROMISE(result != rg_ok || solved == report.solvedCount);
    }
    rgDestroyContactBatch(batch);
    rgDestroyDiagnostics(diagnostics);
    free(cases);
    return 0;
}
