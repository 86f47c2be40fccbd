// Proximal ADMM: the paper's Algorithm 1, and the additions that rgAdmmDef switches on (scaling of
// the system, over-relaxation, Anderson acceleration, cooldown of the penalty). admm.1-12.
#include "contact/run.h"

#include "contact/baselines/anderson.h"
#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define RG_SPECTRUM_STEPS 12

typedef struct rgAdmm {
    rgRun* run;
    rgSystem* system;
    const rgAdmmDef* def;
    double rho;
    double exponent; // p
    double smallest; // m, of G + R + eta I
    double largest;  // L
    int sinceMove;   // iterations since rho moved
    double* f;       // impulses of the quadratic step
    double* fBefore;
    double* y; // impulses in K
    double* yBefore;
    double* z;        // dual variable: sigma + Gamma(sigma) at the solution
    double* shifted;  // g + Gamma(z)
    double* velocity; // G f + g
    double* state;    // Douglas-Rachford state u = relaxed f - z/rho
    double primal, dual, complementarity;
    double primalScale, dualScale; // sizes that the relative test compares with
    rgAnderson anderson;
} rgAdmm;

static rgResult rgAdmm_Init(rgAdmm* admm, rgRun* run, const rgAdmmDef* def) {
    rgSystem* system = run->system;
    *admm = (rgAdmm){.run = run, .system = system, .def = def, .exponent = def->exponent};
    double** vectors[] = {&admm->f, &admm->fBefore, &admm->y,        &admm->yBefore,
                          &admm->z, &admm->shifted, &admm->velocity, &admm->state};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(system->arena, double, system->n);
        if (*vectors[i] == NULL) {
            return rg_errorMemory;
        }
        memset(*vectors[i], 0, (size_t)system->n * sizeof(double));
    }
    return rgAnderson_Init(&admm->anderson, system->n, def->andersonMemory, system->kernels,
                           system->arena);
}

static void rgApplySystem(const double* x, double* y, void* context) {
    rgSystem* system = context;
    system->ops->apply(system, x, y);
}

static void rgSolveSystemShift(const double* x, double* y, void* context) {
    rgSystem* system = context;
    memcpy(y, x, (size_t)system->n * sizeof(double));
    system->ops->solveShift(system, y);
}

// admm.7: L and m of G + R + eta I by Lanczos, m through the inverse. The scaled system takes m =
// eta: nearly all contact problems are rank deficient, and eta is then the answer.
static rgResult rgAdmm_EstimateSpectrum(rgAdmm* admm) {
    rgSystem* system = admm->system;
    double eta = admm->def->proximal;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* scratch =
        RG_TAKE(system->arena, double, rgSpectrumScratch(system->n, RG_SPECTRUM_STEPS));
    if (scratch == NULL) {
        return rg_errorMemory;
    }
    rgOperator A = {.size = system->n, .apply = rgApplySystem, .context = system};
    rgOperator inverse = {.size = system->n, .apply = rgSolveSystemShift, .context = system};
    rgSpectrum spectrum = rgEstimateSpectrum(system->kernels, &A, RG_SPECTRUM_STEPS, 1e-2, scratch);
    admm->largest = spectrum.largest + eta;
    admm->smallest = eta;
    if (!admm->def->scaling && system->ops->factorShift(system, eta) == rg_ok) {
        double smallest = rgEstimateSmallestEigenvalue(system->kernels, &inverse, RG_SPECTRUM_STEPS,
                                                       1e-2, scratch);
        admm->smallest = fmax(smallest, eta);
    }
    rgArena_Return(system->arena, mark);
    return isfinite(admm->largest) ? rg_ok : rg_errorNumeric;
}

// admm.8: rho = sqrt(m L) kappa^p
static double rgAdmm_SpectralPenalty(const rgAdmm* admm) {
    double m = admm->smallest;
    double L = fmax(admm->largest, m);
    return sqrt(m * L) * pow(L / m, admm->exponent);
}

static rgResult rgAdmm_Factorize(rgAdmm* admm) {
    return admm->system->ops->factorShift(admm->system, admm->rho + admm->def->proximal);
}

// admm.2: g + Gamma(z), the De Saxcé term
static void rgAdmm_ShiftVelocity(rgAdmm* admm) {
    rgSystem* system = admm->system;
    rgSystem_Shift(system, admm->z, admm->shifted);
    for (int i = 0; i < system->n; ++i) {
        admm->shifted[i] += system->g[i] - admm->z[i];
    }
}

// admm.3: f = -(G + R + (eta + rho) I)^-1 (g + s - eta f - rho y - z)
static void rgAdmm_SolveImpulses(rgAdmm* admm) {
    rgSystem* system = admm->system;
    double eta = admm->def->proximal;
    double* before = admm->fBefore;
    admm->fBefore = admm->f;
    admm->f = before;
    for (int i = 0; i < system->n; ++i) {
        admm->f[i] =
            -(admm->shifted[i] - eta * admm->fBefore[i] - admm->rho * admm->y[i] - admm->z[i]);
        admm->velocity[i] = admm->f[i];
    }
    system->ops->solveShift(system, admm->f);
    // G f follows from the system that f solves.
    for (int i = 0; i < system->n; ++i) {
        admm->velocity[i] += system->g[i] - (eta + admm->rho) * admm->f[i];
    }
}

// admm.4: y = P_K(u), admm.5: z = rho (y - u), with u = relaxed f - z / rho
static void rgAdmm_ProjectCones(rgAdmm* admm) {
    rgSystem* system = admm->system;
    double a = admm->def->relaxation;
    for (int i = 0; i < system->n; ++i) {
        double relaxed = a * admm->f[i] + (1 - a) * admm->y[i];
        admm->state[i] = relaxed - admm->z[i] / admm->rho;
    }
    if (admm->def->andersonMemory > 0) {
        rgAnderson_Accelerate(&admm->anderson, admm->state);
    }
    double* before = admm->yBefore;
    admm->yBefore = admm->y;
    admm->y = before;
    memcpy(admm->y, admm->state, (size_t)system->n * sizeof(double));
    rgSystem_Project(system, admm->y);
    for (int i = 0; i < system->n; ++i) {
        admm->z[i] = admm->rho * (admm->y[i] - admm->state[i]);
    }
}

// admm.6: |f - y|, |eta (f - f_) + rho (y - y_)|, |f . z| per contact, all in the infinity norm
static void rgAdmm_MeasureResiduals(rgAdmm* admm) {
    rgSystem* system = admm->system;
    double eta = admm->def->proximal;
    admm->primal = admm->dual = admm->complementarity = 0;
    admm->primalScale = admm->dualScale = 0;
    for (int i = 0; i < system->n; ++i) {
        double dual =
            eta * (admm->f[i] - admm->fBefore[i]) + admm->rho * (admm->y[i] - admm->yBefore[i]);
        admm->primal = fmax(admm->primal, fabs(admm->f[i] - admm->y[i]));
        admm->dual = fmax(admm->dual, fabs(dual));
        admm->primalScale = fmax(admm->primalScale, fmax(fabs(admm->f[i]), fabs(admm->y[i])));
        admm->dualScale = fmax(admm->dualScale, fmax(fabs(admm->z[i]), fabs(admm->velocity[i])));
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        double sum = 0;
        for (int k = 0; k < block->size; ++k) {
            sum += admm->f[block->row + k] * admm->z[block->row + k];
        }
        admm->complementarity = fmax(admm->complementarity, fabs(sum));
    }
}

// The paper's stopping test on the iterates, absolute and relative.
static bool rgAdmm_PaperTest(const rgAdmm* admm) {
    double absolute = admm->run->def->tolerance;
    double relative = admm->run->def->relativeTolerance;
    return admm->primal <= absolute + relative * admm->primalScale &&
           admm->dual <= absolute + relative * admm->dualScale &&
           admm->complementarity <= absolute + relative * admm->primalScale * admm->dualScale;
}

// The paper's mode stops on its own test and returns its own last iterate, whatever the judge
// thinks of it.
static bool rgAdmm_PaperDone(rgAdmm* admm) {
    rgRun* run = admm->run;
    if (run->def->method != rg_methodAdmm || run->def->stop != rg_stopPaper ||
        !rgAdmm_PaperTest(admm)) {
        return false;
    }
    memcpy(run->best, admm->y, (size_t)admm->system->n * sizeof(double));
    run->accepted = true;
    return true;
}

static bool rgAdmm_IsDone(rgAdmm* admm, bool last) {
    rgRun* run = admm->run;
    bool judged = run->def->method != rg_methodAdmm || run->def->stop == rg_stopJudge;
    // The velocity of f stands in for that of y until both nearly agree.
    double residual = rgSystem_Residual(admm->system, admm->y, admm->velocity);
    if (last || (judged && residual <= 10 * run->tolerance) || run->history != NULL) {
        residual = rgRun_UpdateBest(run, admm->y, NULL);
    }
    rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseAdmm,
                                         .primal = admm->primal,
                                         .dual = admm->dual,
                                         .complementarity = admm->complementarity,
                                         .residual = residual,
                                         .penalty = admm->rho});
    return judged ? rgRun_Solved(run) : rgAdmm_PaperDone(admm);
}

// Spectral rule on p (admm.9), linear rule on rho (admm.10); refactorizes when rho moves
static rgResult rgAdmm_AdaptPenalty(rgAdmm* admm) {
    const rgAdmmDef* def = admm->def;
    admm->sinceMove += 1;
    int direction = admm->primal >= def->ratio * admm->dual   ? 1
                    : admm->dual >= def->ratio * admm->primal ? -1
                                                              : 0;
    if (def->rule == rg_penaltyConstant || direction == 0 || admm->sinceMove < def->cooldown) {
        return rg_ok;
    }
    double rho = admm->rho;
    if (def->rule == rg_penaltySpectral) {
        admm->exponent += direction * def->exponentStep;
        rho = rgAdmm_SpectralPenalty(admm);
    } else {
        rho = direction > 0 ? rho * def->factor : rho / def->factor;
    }
    rho = fmin(fmax(rho, 1e-12 * admm->largest), 1e12 * admm->largest);
    if (rho == admm->rho) {
        return rg_ok;
    }
    admm->rho = rho;
    admm->sinceMove = 0;
    rgAnderson_Restart(&admm->anderson);
    return rgAdmm_Factorize(admm);
}

// Zero impulses start at z = 0, as in the paper; others bring their own dual variable along.
static void rgAdmm_Start(rgAdmm* admm, const double* lambda) {
    rgSystem* system = admm->system;
    bool warm = false;
    for (int i = 0; i < system->n && !warm; ++i) {
        warm = lambda[i] != 0;
    }
    if (!warm) {
        return;
    }
    memcpy(admm->f, lambda, (size_t)system->n * sizeof(double));
    memcpy(admm->y, lambda, (size_t)system->n * sizeof(double));
    rgSystem_Velocity(system, lambda, admm->velocity);
    rgSystem_Shift(system, admm->velocity, admm->z);
}

rgResult rgRunAdmm(rgRun* run, const double* lambda, const rgAdmmDef* def, int limit) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgAdmm admm;
    rgResult result = rgAdmm_Init(&admm, run, def);
    if (result == rg_ok) {
        result = rgAdmm_EstimateSpectrum(&admm);
    }
    if (result == rg_ok) {
        rgAdmm_Start(&admm, lambda);
        admm.rho = def->penalty > 0 ? def->penalty : rgAdmm_SpectralPenalty(&admm);
        result = rgAdmm_Factorize(&admm);
    }
    for (int k = 0; result == rg_ok && k < limit && rgRun_Count(run, rg_phaseAdmm); ++k) {
        rgAdmm_ShiftVelocity(&admm);    // admm.2
        rgAdmm_SolveImpulses(&admm);    // admm.3
        rgAdmm_ProjectCones(&admm);     // admm.4, admm.5
        rgAdmm_MeasureResiduals(&admm); // admm.6
        if (rgAdmm_IsDone(&admm, k + 1 == limit || k % 50 == 49)) {
            break;
        }
        result = rgAdmm_AdaptPenalty(&admm); // admm.9, admm.10
    }
    if (!run->accepted && admm.y != NULL) {
        rgRun_UpdateBest(run, admm.y, NULL);
    }
    rgArena_Return(system->arena, mark);
    return result == rg_errorNumeric ? rg_ok : result;
}
