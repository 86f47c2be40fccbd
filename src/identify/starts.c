// Starts of motions from their first samples: least squares over the samples before the first
// contact, where the motion is smooth and depends little on the parameters.
// identify.9.
#include "identify/identify.h"
#include "identify/linear.h"

#include <math.h>
#include <string.h>

enum { rg_startsTogether = 64, rg_startSteps = 3, rg_fewestSamples = 3 };
#define RG_START_STEP 0.25 // step of differences, in deviations of the start

// The last sample of each motion's window, 0: too few.
static rgResult rgFindWindows(rgFit* fit, const rgSolution* solution, const rgModel* model,
                              int first, int end, int* lasts) {
    rgTrialList list;
    double contacts[rg_startsTogether];
    size_t room = 0;
    for (int i = first; i < end; ++i) {
        room += (size_t)fit->targets[solution->motions[i]].sizeCount;
        contacts[i - first] = INFINITY;
    }
    rgResult result = rgTrialList_Create(&list, fit, end - first, room);
    for (int i = first; i < end && result == rg_ok; ++i) {
        rgTrialList_Add(&list, fit, model, solution->motions[i], NULL);
        list.trials[i - first].contact = &contacts[i - first];
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int i = first; i < end && result == rg_ok; ++i) {
        const rgMotion* motion = fit->targets[solution->motions[i]].motion;
        int last = 0;
        // When exactly the body touches is uncertain by a sample.
        while (last + 1 < motion->sampleCount - 1 &&
               motion->times[last + 2] < contacts[i - first] &&
               motion->times[last + 1] <= motion->times[0] + fit->def->startWindow) {
            ++last;
        }
        lasts[i - first] = last >= rg_fewestSamples ? last : 0;
    }
    rgTrialList_Free(&list, fit);
    return result;
}

typedef struct rgStarting {
    rgFit* fit;
    rgSolution* solution;
    const rgModel* model;
    int first, end;
    int lasts[rg_startsTogether];
    double* columns; // localCount x errors of a window
} rgStarting;

// identify.9: A step of Gauss and Newton for one motion. Variants of a motion stand side by side.
static void rgStepStart(const rgStarting* s, const rgTrial* variants, int last, double* local) {
    const rgFit* fit = s->fit;
    int l = fit->localCount, size = last * fit->targets[variants[0].target].errorCount;
    double full[RG_MAX_LOCALS * RG_MAX_LOCALS], half[RG_MAX_LOCALS];
    for (int k = 0; k < l; ++k) {
        const double *up = variants[1 + 2 * k].errors, *down = variants[2 + 2 * k].errors;
        for (int j = 0; j < size; ++j) {
            double slope = (up[j] - down[j]) / (2 * RG_START_STEP);
            if (!isfinite(slope) || !isfinite(variants[0].errors[j])) {
                return;
            }
            s->columns[(size_t)k * (size_t)size + (size_t)j] = slope;
        }
    }
    rgNormalEquations(l, size, 1, s->columns, NULL, variants[0].errors, full, half);
    for (int k = 0; k < l; ++k) {
        full[k * l + k] += 1;
        half[k] += local[k];
    }
    if (rgCholesky(l, full)) {
        rgCholeskySolve(l, full, half);
        for (int k = 0; k < l; ++k) {
            local[k] -= half[k];
        }
    }
}

static rgResult rgStepStarts(rgStarting* s) {
    rgFit* fit = s->fit;
    int l = fit->localCount, variants = 1 + 2 * l, count = s->end - s->first;
    size_t room = 0;
    for (int i = s->first; i < s->end; ++i) {
        room += (size_t)fit->targets[s->solution->motions[i]].sizeCount * (size_t)variants;
    }
    rgTrialList list;
    rgResult result = rgTrialList_Create(&list, fit, count * variants, room);
    for (int i = 0; i < count && result == rg_ok; ++i) {
        double shift[RG_MAX_LOCALS];
        const double* local = s->solution->local + (size_t)(s->first + i) * (size_t)l;
        for (int v = 0; v < variants; ++v) {
            memcpy(shift, local, (size_t)l * sizeof(double));
            if (v > 0) {
                shift[(v - 1) / 2] += v % 2 == 1 ? RG_START_STEP : -RG_START_STEP;
            }
            rgTrialList_Add(&list, fit, s->model, s->solution->motions[s->first + i], shift);
            list.trials[list.count - 1].lastSample = RG_MAX(s->lasts[i], 1);
        }
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int i = 0; i < count && result == rg_ok; ++i) {
        if (s->lasts[i] > 0) {
            rgStepStart(s, &list.trials[i * variants], s->lasts[i],
                        s->solution->local + (size_t)(s->first + i) * (size_t)l);
        }
    }
    rgTrialList_Free(&list, fit);
    return result;
}

static rgResult rgFindSomeStarts(rgStarting* s) {
    size_t l = (size_t)s->fit->localCount;
    memset(s->solution->local + (size_t)s->first * l, 0,
           (size_t)(s->end - s->first) * l * sizeof(double));
    rgResult result = rgFindWindows(s->fit, s->solution, s->model, s->first, s->end, s->lasts);
    for (int k = 0; k < rg_startSteps && result == rg_ok; ++k) {
        result = rgStepStarts(s);
    }
    return result;
}

rgResult rgFit_FindStarts(rgFit* fit, rgSolution* solution, const double* place) {
    if (!fit->hasWindow || fit->localCount == 0) {
        return rg_ok;
    }
    rgModel* model = NULL;
    rgResult result = rgFit_Compile(fit, place, &model);
    if (result != rg_ok || model == NULL) {
        return result;
    }
    size_t most = 0;
    for (int i = 0; i < solution->motionCount; ++i) {
        most = RG_MAX(most, (size_t)fit->targets[solution->motions[i]].sizeCount);
    }
    rgStarting s = {.fit = fit, .solution = solution, .model = model};
    s.columns = rgAllocate(&fit->allocator, most * (size_t)fit->localCount, sizeof(double));
    result = s.columns != NULL ? rg_ok : rg_errorMemory;
    for (int i = 0; i < solution->motionCount && result == rg_ok; i += rg_startsTogether) {
        s.first = i;
        s.end = RG_MIN(i + rg_startsTogether, solution->motionCount);
        result = rgFindSomeStarts(&s);
    }
    rgRelease(&fit->allocator, s.columns);
    rgDestroyModel(model);
    return result;
}
