// A contact problem of your own, without models and worlds: a block of 2 kg that slides on a table.
// Should show: Coulomb's law, and a residual below the tolerance.
#include <math.h>
#include <rigor/contact.h>
#include <stdio.h>

int main(void) {
    const double mass = 2, dt = 1e-3, mu = 0.5;
    // Rows tangent, tangent, normal: velocity after the step = G lambda + g.
    const double G[9] = {1 / mass, 0, 0, 0, 1 / mass, 0, 0, 0, 1 / mass};
    const double g[3] = {0.05, 0, -dt * 9.81};
    rgBlock contact = {.kind = rg_blockCoulomb, .firstRow = 0, .rowCount = 3, .mu = mu};
    rgContactProblem problem = {.rowCount = 3,
                                .blockCount = 1,
                                .blocks = &contact,
                                .delassus = {.kind = rg_delassusDense, .matrix = G},
                                .freeVelocity = g};
    rgContactSolver* solver = NULL;
    double lambda[3] = {0}, sigma[3];
    rgContactReport report;
    if (rgCreateContactSolver(NULL, &solver) != rg_ok ||
        rgContactSolver_Solve(solver, &problem, lambda, sigma, &report) != rg_ok) {
        return 1;
    }
    double normal = lambda[2] / dt, friction = hypot(lambda[0], lambda[1]) / dt;
    double residual = rgContactProblem_Residual(&problem, lambda);
    printf(
        "normal %.4f N, expected %.4f; friction %.4f N, expected %.4f; residual below 1e-6: %s\n",
        normal, mass * 9.81, friction, mu * mass * 9.81, residual < 1e-6 ? "yes" : "no");
    rgDestroyContactSolver(solver);
    return fabs(normal - mass * 9.81) < 1e-4 && fabs(friction - mu * normal) < 1e-4 &&
                   residual < 1e-6
               ? 0
               : 1;
}
