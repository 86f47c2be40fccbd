// Bookkeeping of one island's solve.
#include "contact/run.h"

#include <limits.h>
#include <math.h>
#include <string.h>

rgResult rgRun_Init(rgRun* run, const rgContactSolverDef* def, rgSystem* system, double tolerance,
                    const double* lambda) {
    *run = (rgRun){.def = def,
                   .system = system,
                   .tolerance = tolerance,
                   .firstTolerance = tolerance,
                   .accuracy = tolerance,
                   .iterationLimit = def->maxIterations,
                   .factorizationLimit = INT_MAX,
                   .bestResidual = INFINITY};
    rgArena* arena = system->arena;
    run->best = RG_TAKE(arena, double, system->n);
    run->start = RG_TAKE(arena, double, system->n);
    run->trial = RG_TAKE(arena, double, system->n);
    run->trialSigma = RG_TAKE(arena, double, system->n);
    run->conflict = RG_TAKE(arena, bool, system->blockCount);
    if (def->recordHistory) {
        run->historyCapacity = def->maxIterations + 1;
        run->history = RG_TAKE(arena, rgContactRecord, run->historyCapacity);
    }
    if (arena->failed) {
        return rg_errorMemory;
    }
    memset(run->conflict, 0, (size_t)system->blockCount * sizeof(bool));
    rgSystem_Load(system, lambda, run->start);
    for (int i = 0; i < system->n; ++i) {
        if (!isfinite(run->start[i])) {
            run->start[i] = 0; // a broken warm start is no start
        }
    }
    rgRun_UpdateBest(run, run->start, NULL);
    memcpy(run->start, run->trial, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->n && !run->warm; ++i) {
        run->warm = run->start[i] != 0;
    }
    return rg_ok;
}

rgResult rgRun_Fork(const rgRun* run, rgSystem* system, rgRun* fork) {
    *fork = *run;
    fork->system = system;
    fork->best = RG_TAKE(system->arena, double, system->n);
    fork->trial = RG_TAKE(system->arena, double, system->n);
    fork->trialSigma = RG_TAKE(system->arena, double, system->n);
    fork->bestResidual = INFINITY;
    return system->arena->failed ? rg_errorMemory : rg_ok;
}

void rgRun_Join(rgRun* run, const rgRun* fork) {
    run->iterationCount = fork->iterationCount;
    run->historyCount = fork->historyCount;
    memcpy(run->phaseIterations, fork->phaseIterations, sizeof(run->phaseIterations));
    run->system->factorizationCount = fork->system->factorizationCount;
}

double rgRun_UpdateBest(rgRun* run, const double* lambda, const double* sigma) {
    size_t bytes = (size_t)run->system->n * sizeof(double);
    if (lambda != run->trial) {
        memcpy(run->trial, lambda, bytes);
    }
    rgSystem_Project(run->system, run->trial);
    bool moved = sigma == NULL || memcmp(run->trial, lambda, bytes) != 0;
    if (moved) {
        rgSystem_Velocity(run->system, run->trial, run->trialSigma);
    }
    double residual = rgSystem_Residual(run->system, run->trial, moved ? run->trialSigma : sigma);
    if (residual < run->bestResidual) {
        run->bestResidual = residual;
        memcpy(run->best, run->trial, bytes);
    }
    return residual;
}

bool rgRun_MayContinue(const rgRun* run) {
    return run->iterationCount < run->iterationLimit &&
           run->system->factorizationCount < run->factorizationLimit;
}

bool rgRun_Count(rgRun* run, rgContactPhase phase) {
    if (!rgRun_MayContinue(run)) {
        return false;
    }
    run->iterationCount += 1;
    run->phaseIterations[phase] += 1;
    return true;
}

void rgRun_Record(rgRun* run, const rgContactRecord* record) {
    if (run->history != NULL && run->historyCount < run->historyCapacity) {
        run->history[run->historyCount++] = *record;
    }
}

void rgRun_RecordResidual(rgRun* run, rgContactPhase phase, double residual) {
    rgContactRecord record = {.phase = phase,
                              .primal = NAN,
                              .dual = NAN,
                              .complementarity = NAN,
                              .residual = residual,
                              .penalty = NAN};
    rgRun_Record(run, &record);
}
