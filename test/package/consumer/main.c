// A program outside the project: one contact that a mass of 2 kg meets at 1 m/s.
#include <rigor/contact.h>
#include <stdio.h>

int main(void) {
    if (rgCheckVersion(RG_VERSION) != rg_ok) {
        return 1;
    }
    const double G[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5};
    const double g[3] = {0, 0, -1};
    const rgBlock contact = {.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.7};
    const rgContactProblem problem = {.rowCount = 3,
                                      .blockCount = 1,
                                      .blocks = &contact,
                                      .delassus = {.kind = rg_delassusDense, .matrix = G},
                                      .freeVelocity = g};
    const rgContactSolverDef def = rgDefaultContactSolverDef();
    rgContactSolver* solver = NULL;
    double lambda[3] = {0, 0, 0};
    if (rgCreateContactSolver(&def, &solver) != rg_ok ||
        rgContactSolver_Solve(solver, &problem, lambda, NULL, NULL) != rg_ok) {
        return 1;
    }
    rgDestroyContactSolver(solver);
    printf("rigor %d.%d.%d: lambda_n = %.6f\n", RG_VERSION_MAJOR, RG_VERSION_MINOR,
           RG_VERSION_PATCH, lambda[2]);
    return 0;
}
