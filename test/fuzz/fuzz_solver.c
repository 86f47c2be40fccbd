// Bytes as a contact problem: every form, kind of block, method and kernel set, numbers that hurt.
// A solve ends with finite impulses inside their sets and a report that the judge agrees with, or
// with an error.
#include "fuzz_problem.h"

static rgContactSolverDef rgMakeSolver(rgInput* in) {
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = (rgContactMethod)rgInput_Below(in, 5);
    def.model = rgInput_Byte(in) < 32 ? rg_modelCcp : rg_modelNcp;
    def.kernels = (rgKernelSet)rgInput_Below(in, 4);
    def.form = (rgSystemForm)rgInput_Below(in, 4);
    def.maxIterations = 1 + rgInput_Below(in, 60);
    def.splitIslands = rgInput_Byte(in) < 128;
    def.recordHistory = rgInput_Byte(in) < 32;
    def.disabled = rgInput_Byte(in) < 64 ? rgInput_Byte(in) * 8u : 0;
    def.admm = rgInput_Byte(in) < 128 ? rgAcceleratedAdmmDef() : rgDefaultAdmmDef();
    def.overRelaxation = rgInput_Byte(in) < 32 ? 1.3 : 1;
    def.accuracy = rgInput_Byte(in) < 32 ? 1e-3 : 0;
    return def;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgInput in = {bytes, count};
    rgCase* c = calloc(1, sizeof(rgCase));
    rgContactSolverDef def = rgMakeSolver(&in);
    rgMakeProblem(&in, c);
    int n = c->problem.rowCount;
    double lambda[rg_mostRows], sigma[rg_mostRows];
    for (int i = 0; i < n; ++i) {
        lambda[i] = rgInput_Byte(&in) < 64 ? rgInput_Number(&in) : 0;
    }
    rgContactSolver* solver = NULL;
    rgContactReport report;
    RG_PROMISE(rgCreateContactSolver(&def, &solver) == rg_ok);
    rgResult checked = rgContactProblem_Check(&c->problem, NULL);
    rgResult result = rgContactSolver_Solve(solver, &c->problem, lambda, sigma, &report);
    RG_PROMISE(result == rg_ok || result == rg_errorArgument || result == rg_errorNumeric ||
               result == rg_errorUnsupported);
    if (result == rg_ok) {
        RG_PROMISE(checked == rg_ok);
        RG_PROMISE(rgAllFinite(lambda, n) && report.status != rg_contactUnsolved);
        rgResidual residual;
        RG_PROMISE(rgContactProblem_Judge(&c->problem, def.model, lambda, &residual) == rg_ok);
        // Numbers whose products overflow have no residual; then nothing is said to be solved.
        double gap = fabs(residual.total - report.residual.total);
        RG_PROMISE(gap <= 1e-6 + 1e-3 * residual.total || !(residual.total < 1e100));
        double enough =
            def.method == rg_methodAuto ? fmax(def.tolerance, def.accuracy) : def.tolerance;
        RG_PROMISE(report.status != rg_contactSolved || residual.total <= 2 * enough);
    }
    rgDestroyContactSolver(solver);
    free(c);
    return 0;
}
