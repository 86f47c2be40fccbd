// Candidates: their models, starts and costs.
#include "identify/identify.h"
#include "rigor/dynamics.h"

#include <math.h>
#include <string.h>

// ---- one candidate

rgResult rgFit_Compile(rgFit* fit, const double* place, rgModel** model) {
    double values[RG_MAX_PARAMETERS];
    for (int i = 0; i < fit->parameterCount; ++i) {
        values[i] = rgParameter_FromUnit(&fit->parameters[i], place[i]);
    }
    *model = NULL;
    rgResult result =
        rgParameters_Apply(fit->parameters, fit->parameterCount, values, fit->base, fit->work);
    if (result == rg_ok) {
        result = rgCompileModel(fit->work, &fit->allocator, NULL, model);
    }
    return result == rg_errorMemory ? result : rg_ok;
}

void rgFit_Start(const rgFit* fit, int motion, const double* local, double* q, double* v) {
    const rgMotion* recorded = fit->targets[motion].motion;
    rgModelInfo info = rgModel_Info(fit->model);
    memcpy(q, recorded->q, (size_t)info.qCount * sizeof(double));
    memcpy(v, recorded->v, (size_t)info.vCount * sizeof(double));
    if (local == NULL || fit->localCount == 0) {
        return;
    }
    double* step = v + info.vCount; // scratch behind it
    memset(step, 0, (size_t)info.vCount * sizeof(double));
    for (int k = 0; k < fit->localCount; ++k) {
        int index = fit->localIndex[k];
        double by = local[k] * fit->localUnit[k];
        if (index < info.vCount) {
            step[index] = by;
        } else {
            v[index - info.vCount] += by;
        }
    }
    rgModel_Integrate(fit->model, q, step, 1, q);
}

double rgFit_Prior(const rgFit* fit, const double* place, double* gradient, double* hessian) {
    int p = fit->parameterCount;
    double sum = 0;
    for (int i = 0; i < p; ++i) {
        const rgParameter* parameter = &fit->parameters[i];
        const rgParameterDef* def = &parameter->def;
        if (!(def->deviation > 0)) {
            continue;
        }
        double value = rgParameter_FromUnit(parameter, place[i]);
        double slope =
            def->logarithmic ? value * log(def->upper / def->lower) : def->upper - def->lower;
        double off = (value - def->prior) / def->deviation;
        slope /= def->deviation;
        sum += off * off;
        if (gradient != NULL) {
            gradient[i] += off * slope;
            hessian[i * p + i] += slope * slope;
        }
    }
    return sum;
}

// ---- many simulations

rgResult rgTrialList_Create(rgTrialList* list, const rgFit* fit, int trialCount,
                            size_t errorCount) {
    rgModelInfo info = rgModel_Info(fit->model);
    *list = (rgTrialList){.startSize = (size_t)(info.qCount + 2 * info.vCount)};
    list->trials = rgAllocate(&fit->allocator, (size_t)trialCount + 1, sizeof(rgTrial));
    list->starts =
        rgAllocate(&fit->allocator, (size_t)trialCount * list->startSize + 1, sizeof(double));
    list->errors = rgAllocate(&fit->allocator, errorCount + 1, sizeof(double));
    bool good = list->trials != NULL && list->starts != NULL && list->errors != NULL;
    return good ? rg_ok : rg_errorMemory;
}

void rgTrialList_Free(rgTrialList* list, const rgFit* fit) {
    rgRelease(&fit->allocator, list->trials);
    rgRelease(&fit->allocator, list->starts);
    rgRelease(&fit->allocator, list->errors);
}

void rgTrialList_Add(rgTrialList* list, const rgFit* fit, const rgModel* model, int motion,
                     const double* local) {
    double* q = list->starts + (size_t)list->count * list->startSize;
    double* v = q + rgModel_Info(fit->model).qCount;
    rgFit_Start(fit, motion, local, q, v);
    list->trials[list->count++] = (rgTrial){.model = model,
                                            .target = motion,
                                            .q = q,
                                            .v = v,
                                            .errors = list->errors + list->errorsUsed};
    list->errorsUsed += (size_t)fit->targets[motion].sizeCount;
}

rgResult rgTrialList_Run(rgTrialList* list, rgFit* fit) {
    fit->simulationCount += list->count;
    return rgSimulator_Run(&fit->simulator, list->trials, list->count);
}

// ---- costs

enum { rg_motionsTogether = 256 };

static rgResult rgJudgeSome(rgFit* fit, const rgSolution* solution, const rgModel* model,
                            const double* local, int first, int end, double* costs,
                            rgMotionError* errors) {
    size_t room = 0;
    for (int i = first; i < end; ++i) {
        room += (size_t)fit->targets[solution->motions[i]].sizeCount;
    }
    rgTrialList list;
    rgResult result = rgTrialList_Create(&list, fit, end - first, room);
    for (int i = first; i < end && result == rg_ok; ++i) {
        const double* start = local != NULL ? local + (size_t)i * (size_t)fit->localCount : NULL;
        rgTrialList_Add(&list, fit, model, solution->motions[i], start);
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int i = first; i < end && result == rg_ok; ++i) {
        const rgTrial* trial = &list.trials[i - first];
        const rgTarget* target = &fit->targets[trial->target];
        costs[i] = rgMotionCost(fit->def, target, trial->errors, NULL);
        if (errors != NULL) {
            errors[i] = rgMotionErrorOf(fit->def, target, trial->errors);
        }
    }
    rgTrialList_Free(&list, fit);
    return result;
}

rgResult rgFit_Judge(rgFit* fit, const rgSolution* solution, const double* place,
                     const double* local, double* costs, rgMotionError* errors) {
    rgModel* model = NULL;
    rgResult result = rgFit_Compile(fit, place, &model);
    for (int i = 0; i < solution->motionCount && result == rg_ok; i += rg_motionsTogether) {
        int end = RG_MIN(i + rg_motionsTogether, solution->motionCount);
        result = rgJudgeSome(fit, solution, model, local, i, end, costs, errors);
    }
    rgDestroyModel(model);
    return result;
}

double rgFit_Total(const rgFit* fit, const rgSolution* solution, const double* place,
                   const double* local, const double* costs) {
    double sum = rgFit_Prior(fit, place, NULL, NULL);
    for (int i = 0; i < solution->motionCount; ++i) {
        sum += costs[i];
        for (int k = 0; local != NULL && k < fit->localCount; ++k) {
            double x = local[(size_t)i * (size_t)fit->localCount + (size_t)k];
            sum += x * x;
        }
    }
    return sum / solution->motionCount;
}

rgResult rgFit_Report(const rgFit* fit, rgIdentifyStage stage, int done, int total, double cost) {
    const rgIdentifyDef* def = fit->def;
    bool on = def->progress == NULL || def->progress(stage, done, total, cost, def->context);
    return on ? rg_ok : rg_errorArgument;
}
