// Projected Gauss-Seidel with over-relaxation, judged by the true residual. docs/theory/pgs.md.
#include "contact/run.h"

#include <math.h>

#define RG_SWEEPS_PER_RENEWAL 32 // sigma is updated in place; now and then it is computed afresh

rgResult rgRunSweeps(rgRun* run, double* lambda, int limit, double relaxation) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* sigma = RG_TAKE(system->arena, double, system->n);
    if (sigma == NULL) {
        return rg_errorMemory;
    }
    bool pending = false; // lambda has moved since it was offered
    for (int k = 0; k < limit && !rgRun_Solved(run) && rgRun_Count(run, rg_phaseSweep); ++k) {
        if (k % RG_SWEEPS_PER_RENEWAL == 0) {
            rgSystem_Velocity(system, lambda, sigma);
        }
        system->ops->sweep(system, lambda, sigma, relaxation);
        // lambda is in K and sigma is current: the residual costs no product with G.
        double residual = rgSystem_Residual(system, lambda, sigma);
        pending = residual > run->tolerance && k + 1 < limit && k % 64 != 63;
        if (!pending) {
            residual = rgRun_Offer(run, lambda, NULL);
        }
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseSweep,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = NAN,
                                             .residual = residual,
                                             .penalty = NAN});
    }
    if (pending) {
        rgRun_Offer(run, lambda, NULL); // the budget ended between two offers
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
