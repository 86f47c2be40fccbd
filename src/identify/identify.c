// Identification from start to answer: checks, the fit of all motions, cross-validation, bootstrap,
// and the parameters that the motions determine. docs/theory/identify.md.
#include "identify/identify.h"
#include "identify/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_COOKIE_IDENTIFY 0x6964656eu

rgIdentifyDef rgDefaultIdentifyDef(void) {
    return (rgIdentifyDef){.world = rgDefaultWorldDef(),
                           .positionNoise = 1e-3,
                           .rotationNoise = 0.017453292519943295,
                           .coordinateNoise = 0.01,
                           .lossLimit = 1,
                           .generations = 40,
                           .searchMotions = 64,
                           .searchStep = 0.2,
                           .refinements = 8,
                           .differenceStep = 0.02,
                           .bootstrapCount = 1000,
                           .cookie = RG_COOKIE_IDENTIFY};
}

struct rgIdentification {
    rgAllocator allocator;
    rgFit fit;
    rgIdentifyDef def; // definition that fit.def points to; names and motions are copies
    rgSolution solution;
    rgIdentificationInfo info;
    char** parameterNames;
    char** motionNames;
    double* startValues;
    double* values;
    double* foldValues; // foldCount x p
    double* deviations; // p, as the next three
    double* lowers;
    double* uppers;
    double* shares;
    double* directions; // p x p, one per row
    double* strengths;  // p
    rgMotionError *before, *after, *adapted, *heldOut;
    double *q, *v; // starts that were found
};

// ---- checks

static bool rgRefuse(rgDiagnostics* diagnostics, const char* why) {
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "identify: %s", why);
    return false;
}

static bool rgCheckDef(const rgIdentifyDef* def, rgDiagnostics* diagnostics) {
    const struct {
        bool wrong;
        const char* why;
    } cases[] = {
        {def->parameterCount < 1 || def->parameters == NULL, "there is no parameter to fit"},
        {def->parameterCount > RG_MAX_PARAMETERS, "more than 128 parameters"},
        {def->motionCount < 1 || def->motions == NULL, "there is no motion to fit them to"},
        {!(def->positionNoise > 0) || !(def->rotationNoise > 0) || !(def->coordinateNoise > 0),
         "the noises must be above 0"},
        {!(def->lossLimit > 0), "the limit of the loss must be above 0"},
        {!(def->startPosition >= 0) || !(def->startRotation >= 0) || !(def->startVelocity >= 0) ||
             !(def->startRate >= 0) || !(def->startWindow >= 0),
         "the deviations of the starts and their window must not be negative"},
        {def->generations < 0 || def->refinements < 0 || def->bootstrapCount < 0 ||
             def->searchMotions < 0 || def->population < 0,
         "counts must not be negative"},
        {def->population > 0 && (def->population < 4 || def->population > 10000),
         "a generation has 4 to 10 000 candidates"},
        {!(def->searchStep > 0) || !(def->differenceStep > 0) || def->differenceStep > 0.5,
         "the steps of search and differences must be above 0"},
        {def->foldCount < 0 || def->foldCount == 1, "a cross-validation has at least two folds"},
        {def->foldCount > def->motionCount, "there are more folds than motions"},
        {def->world.tasks.run != NULL || def->world.beforeStep != NULL ||
             def->world.afterStep != NULL,
         "its worlds have no tasks and no hooks of their own"},
    };
    bool good = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        good = cases[i].wrong ? rgRefuse(diagnostics, cases[i].why) : good;
    }
    return good;
}

static bool rgCheckParameter(const rgParameterDef* def, rgDiagnostics* diagnostics) {
    const struct {
        bool wrong;
        const char* why;
    } cases[] = {
        {!isfinite(def->lower) || !isfinite(def->upper) || !(def->lower < def->upper),
         "the lower bound must be below the upper one"},
        {def->logarithmic && !(def->lower > 0), "equal ratios need a lower bound above 0"},
        {!(def->deviation >= 0) || (def->deviation > 0 && !isfinite(def->prior)),
         "a prior has a mean and a deviation above 0"},
        {!isnan(def->start) && !(def->start >= def->lower && def->start <= def->upper),
         "the start is not within the bounds"},
    };
    bool good = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        if (cases[i].wrong) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "parameter '%s': %s",
                              def->name != NULL ? def->name : "", cases[i].why);
            good = false;
        }
    }
    return good;
}

static bool rgCheckMotion(const rgMotion* motion, const rgModelInfo* info,
                          rgDiagnostics* diagnostics) {
    const char* why = NULL;
    bool there = motion->sampleCount >= 2 && motion->times != NULL && motion->values != NULL &&
                 motion->channels != NULL && motion->channelCount > 0 && motion->q != NULL &&
                 motion->v != NULL;
    int values = 0;
    for (int i = 0; there && i < motion->channelCount; ++i) {
        const rgChannel* channel = &motion->channels[i];
        bool pose = channel->kind == rg_channelPose;
        bool known = pose ? channel->body.index1 >= 1 && channel->body.index1 <= info->bodyCount
                          : channel->coordinate >= 0 && channel->coordinate < info->qCount;
        why = known ? why : "it measures a part that the model does not have";
        values += pose ? 7 : 1;
    }
    for (int i = 1; there && i < motion->sampleCount; ++i) {
        bool rises = motion->times[i] > motion->times[i - 1];
        why = rises ? why : "its times do not increase";
    }
    why = there ? why : "it lacks samples, channels or a start";
    why = why == NULL && values != motion->valueCount ? "its rows do not fit its channels" : why;
    if (why != NULL) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "motion '%s': %s",
                          motion->name != NULL ? motion->name : "", why);
    }
    return why == NULL;
}

// ---- making

static rgResult rgCopyModelDef(const rgModelDef* model, const rgAllocator* allocator,
                               rgModelDef** copy) {
    rgResult result = rgCreateModelDef(allocator, copy);
    if (result == rg_ok) {
        result = rgModelDef_Attach(*copy, model, NULL, NULL, NULL);
    }
    if (result == rg_ok) {
        rgModelOptions options = rgModelDef_Info(model).options;
        rgModelDef_SetOptions(*copy, &options);
    }
    return result;
}

static rgResult rgBuildParameters(rgIdentification* id, const rgModelDef* model,
                                  rgDiagnostics* diagnostics) {
    rgFit* fit = &id->fit;
    bool good = true;
    for (int i = 0; i < fit->parameterCount; ++i) {
        rgParameter* parameter = &fit->parameters[i];
        parameter->def = id->def.parameters[i];
        id->parameterNames[i] = rgCopyString(&id->allocator, parameter->def.name);
        parameter->def.name = id->parameterNames[i] != NULL ? id->parameterNames[i] : "";
        good = rgCheckParameter(&parameter->def, diagnostics) && good;
        if (rgParameter_Resolve(parameter, model, diagnostics) != rg_ok) {
            good = false;
            continue;
        }
        for (int k = 0; k < i; ++k) {
            if (strcmp(fit->parameters[k].def.name, parameter->def.name) == 0) {
                rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                                  "parameter '%s' is given twice", parameter->def.name);
                good = false;
            }
        }
        double start = parameter->def.start;
        start = isnan(start) ? rgParameter_Value(parameter, model) : start;
        id->solution.place[i] = good ? rgParameter_ToUnit(parameter, start) : 0;
        id->startValues[i] = good ? rgParameter_FromUnit(parameter, id->solution.place[i]) : NAN;
    }
    return good ? rg_ok : rg_errorArgument;
}

static bool rgIsAngle(const rgJointDef* joint, int k) {
    switch (joint->kind) {
    case rg_jointFree:
        return k >= 3;
    case rg_jointPlanar:
        return k == 2;
    case rg_jointPrismatic:
        return false;
    default:
        return true;
    }
}

// Find the uncertain numbers of a start and their standard deviations.
static rgResult rgBuildLocals(rgIdentification* id) {
    rgFit* fit = &id->fit;
    const rgIdentifyDef* def = &id->def;
    rgModelInfo info = rgModel_Info(fit->model);
    size_t most = 2 * (size_t)info.vCount + 1;
    fit->localIndex = rgAllocate(&id->allocator, most, sizeof(int));
    fit->localUnit = rgAllocate(&id->allocator, most, sizeof(double));
    if (fit->localIndex == NULL || fit->localUnit == NULL) {
        return rg_errorMemory;
    }
    for (int rate = 0; rate < 2; ++rate) {
        for (int j = 1; j <= info.jointCount; ++j) {
            const rgJointDef* joint = rgModel_Joint(fit->model, (rgJointId){j});
            rgJointRange range = rgModel_JointRange(fit->model, (rgJointId){j});
            for (int k = 0; k < range.vCount; ++k) {
                bool angle = rgIsAngle(joint, k);
                double unit = rate == 0 ? (angle ? def->startRotation : def->startPosition)
                                        : (angle ? def->startRate : def->startVelocity);
                if (unit > 0) {
                    fit->localIndex[fit->localCount] = rate * info.vCount + range.v + k;
                    fit->localUnit[fit->localCount++] = unit;
                }
            }
        }
    }
    if (fit->localCount > RG_MAX_LOCALS) {
        rgRefuse(fit->diagnostics, "a start has more than 128 uncertain numbers");
        return rg_errorUnsupported;
    }
    return rg_ok;
}

static rgResult rgBuildTargets(rgIdentification* id) {
    rgFit* fit = &id->fit;
    rgModelInfo info = rgModel_Info(fit->model);
    for (int i = 0; i < fit->motionCount; ++i) {
        const rgMotion* motion = &id->def.motions[i];
        if (!rgCheckMotion(motion, &info, fit->diagnostics)) {
            return rg_errorArgument;
        }
        rgTarget* target = &fit->targets[i];
        target->motion = motion;
        for (int k = 0; k < motion->channelCount; ++k) {
            target->errorCount += motion->channels[k].kind == rg_channelPose ? 6 : 1;
        }
        target->sizeCount = (motion->sampleCount - 1) * target->errorCount;
        id->motionNames[i] = rgCopyString(&id->allocator, motion->name != NULL ? motion->name : "");
        id->solution.motions[i] = i;
    }
    return rg_ok;
}

static rgResult rgIdentification_Reserve(rgIdentification* id) {
    size_t p = (size_t)id->def.parameterCount, m = (size_t)id->def.motionCount;
    size_t folds = (size_t)id->def.foldCount;
    struct {
        void** at;
        size_t count, size;
    } parts[] = {
        {(void**)&id->fit.parameters, p, sizeof(rgParameter)},
        {(void**)&id->fit.targets, m, sizeof(rgTarget)},
        {(void**)&id->parameterNames, p, sizeof(char*)},
        {(void**)&id->motionNames, m, sizeof(char*)},
        {(void**)&id->startValues, p, sizeof(double)},
        {(void**)&id->values, p, sizeof(double)},
        {(void**)&id->foldValues, folds * p + 1, sizeof(double)},
        {(void**)&id->deviations, p, sizeof(double)},
        {(void**)&id->lowers, p, sizeof(double)},
        {(void**)&id->uppers, p, sizeof(double)},
        {(void**)&id->shares, p, sizeof(double)},
        {(void**)&id->directions, p * p, sizeof(double)},
        {(void**)&id->strengths, p, sizeof(double)},
        {(void**)&id->before, m, sizeof(rgMotionError)},
        {(void**)&id->after, m, sizeof(rgMotionError)},
        {(void**)&id->adapted, m, sizeof(rgMotionError)},
        {(void**)&id->heldOut, m, sizeof(rgMotionError)},
    };
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        *parts[i].at = rgAllocate(&id->allocator, parts[i].count, parts[i].size);
        if (*parts[i].at == NULL) {
            return rg_errorMemory;
        }
    }
    return rg_ok;
}

// Coordinates of joints of several degrees of freedom have no derivative of their own.
static bool rgMeasuresHaveSlopes(const rgFit* fit) {
    bool good = true;
    for (int m = 0; m < fit->motionCount; ++m) {
        const rgMotion* motion = fit->targets[m].motion;
        for (int c = 0; c < motion->channelCount; ++c) {
            const rgChannel* channel = &motion->channels[c];
            good = good && (channel->kind != rg_channelCoordinate ||
                            rgCoordinateDof(fit->model, channel->coordinate) >= 0);
        }
    }
    return good;
}

// Derivatives of steps miss the slope through jumps, which contacts that begin are. Motions are
// simulated with the start values.
static rgResult rgChooseSlopes(rgIdentification* id) {
    rgFit* fit = &id->fit;
    fit->hasSlopes = id->def.slopes != rg_slopesDifferences && rgMeasuresHaveSlopes(fit);
    if (!fit->hasSlopes || id->def.slopes == rg_slopesSteps) {
        return rg_ok;
    }
    size_t room = 0, count = (size_t)fit->motionCount;
    for (int m = 0; m < fit->motionCount; ++m) {
        room += (size_t)fit->targets[m].sizeCount;
    }
    rgTrialList list;
    rgModel* model = NULL;
    double* contacts = rgAllocate(&fit->allocator, count, sizeof(double));
    rgResult result = rgTrialList_Create(&list, fit, fit->motionCount, room);
    result = contacts == NULL ? rg_errorMemory : result;
    if (result == rg_ok) {
        result = rgFit_Compile(fit, id->solution.place, &model);
    }
    for (int m = 0; m < fit->motionCount && result == rg_ok; ++m) {
        contacts[m] = INFINITY;
        rgTrialList_Add(&list, fit, model, m, NULL);
        list.trials[m].contact = &contacts[m];
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int m = 0; m < fit->motionCount && result == rg_ok; ++m) {
        fit->hasSlopes = fit->hasSlopes && contacts[m] == INFINITY;
    }
    rgDestroyModel(model);
    rgTrialList_Free(&list, fit);
    rgRelease(&fit->allocator, contacts);
    return result;
}

static rgResult rgIdentification_Build(rgIdentification* id, const rgModelDef* model,
                                       rgDiagnostics* diagnostics) {
    rgFit* fit = &id->fit;
    *fit = (rgFit){.allocator = id->allocator,
                   .def = &id->def,
                   .diagnostics = diagnostics,
                   .base = model,
                   .hasWindow = id->def.startWindow > 0,
                   .parameterCount = id->def.parameterCount,
                   .motionCount = id->def.motionCount};
    rgResult result = rgIdentification_Reserve(id);
    if (result == rg_ok) {
        result = rgCompileModel(model, &id->allocator, diagnostics, &fit->model);
    }
    if (result == rg_ok) {
        result = rgBuildLocals(id);
    }
    if (result == rg_ok) {
        result = rgSolution_Create(&id->solution, fit, fit->motionCount);
    }
    if (result == rg_ok) {
        result = rgBuildParameters(id, model, diagnostics);
    }
    if (result == rg_ok) {
        result = rgBuildTargets(id);
    }
    if (result == rg_ok) {
        result = rgCopyModelDef(model, &id->allocator, &fit->work);
    }
    fit->simulator = (rgSimulator){&id->def, fit->targets, id->allocator};
    return result == rg_ok ? rgChooseSlopes(id) : result;
}

void rgDestroyIdentification(rgIdentification* id) {
    if (id == NULL) {
        return;
    }
    rgAllocator allocator = id->allocator;
    for (int i = 0; id->parameterNames != NULL && i < id->def.parameterCount; ++i) {
        rgRelease(&allocator, id->parameterNames[i]);
    }
    for (int i = 0; id->motionNames != NULL && i < id->def.motionCount; ++i) {
        rgRelease(&allocator, id->motionNames[i]);
    }
    rgSolution_Free(&id->solution, &id->fit);
    rgDestroyModel(id->fit.model);
    rgDestroyModelDef(id->fit.work);
    void* parts[] = {id->fit.parameters,
                     id->fit.targets,
                     id->fit.localIndex,
                     id->fit.localUnit,
                     id->parameterNames,
                     id->motionNames,
                     id->startValues,
                     id->values,
                     id->foldValues,
                     id->deviations,
                     id->lowers,
                     id->uppers,
                     id->shares,
                     id->directions,
                     id->strengths,
                     id->before,
                     id->after,
                     id->adapted,
                     id->heldOut,
                     id->q,
                     id->v,
                     id};
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        rgRelease(&allocator, parts[i]);
    }
}

// ---- the fit of all motions

static rgMotionError rgMeanError(const rgMotionError* errors, int count) {
    rgMotionError mean = {0};
    int counts[3] = {0};
    for (int i = 0; i < count; ++i) {
        double x[3] = {errors[i].position, errors[i].rotation, errors[i].coordinate};
        double* sums[3] = {&mean.position, &mean.rotation, &mean.coordinate};
        for (int k = 0; k < 3; ++k) {
            if (!isnan(x[k]) || !isfinite(errors[i].cost)) { // a failed motion is no good mean
                *sums[k] += x[k];
                ++counts[k];
            }
        }
        mean.cost += errors[i].cost / count;
    }
    mean.position = counts[0] > 0 ? mean.position / counts[0] : NAN;
    mean.rotation = counts[1] > 0 ? mean.rotation / counts[1] : NAN;
    mean.coordinate = counts[2] > 0 ? mean.coordinate / counts[2] : NAN;
    return mean;
}

static rgResult rgFitAll(rgIdentification* id) {
    rgFit* fit = &id->fit;
    rgSolution* all = &id->solution;
    rgModel* first = NULL;
    rgResult result = rgFit_Compile(fit, all->place, &first);
    if (result == rg_ok && first == NULL) { // report the reason, once
        result = rgCompileModel(fit->work, &id->allocator, fit->diagnostics, &first);
    }
    rgDestroyModel(first);
    if (result == rg_ok) {
        result = rgFit_FindStarts(fit, all, all->place);
    }
    if (result == rg_ok) {
        result = rgFit_Judge(fit, all, all->place, all->local, all->costs, id->before);
        id->info.costBefore = rgFit_Total(fit, all, all->place, all->local, all->costs);
    }
    if (result == rg_ok) {
        result = rgFit_Solve(fit, all, true);
    }
    if (result == rg_ok) {
        id->info.cost = all->cost;
        const double* starts = fit->hasWindow ? all->local : NULL;
        result = rgFit_Judge(fit, all, all->place, starts, all->costs, id->after);
    }
    if (result == rg_ok) {
        result = rgFit_Judge(fit, all, all->place, all->local, all->costs, id->adapted);
    }
    for (int i = 0; i < fit->parameterCount; ++i) {
        id->values[i] = rgParameter_FromUnit(&fit->parameters[i], all->place[i]);
    }
    return result;
}

static rgResult rgKeepStarts(rgIdentification* id) {
    const rgFit* fit = &id->fit;
    rgModelInfo info = rgModel_Info(fit->model);
    size_t nq = (size_t)info.qCount, nv = (size_t)info.vCount, m = (size_t)fit->motionCount;
    id->q = rgAllocate(&id->allocator, m * nq + 1, sizeof(double));
    id->v = rgAllocate(&id->allocator, (m + 1) * nv + 1, sizeof(double)); // and scratch
    if (id->q == NULL || id->v == NULL) {
        return rg_errorMemory;
    }
    for (size_t i = 0; i < m; ++i) {
        rgFit_Start(fit, (int)i, id->solution.local + i * (size_t)fit->localCount, id->q + i * nq,
                    id->v + i * nv);
    }
    return rg_ok;
}

// ---- cross-validation

// Motion i is held out in fold i mod K.
static rgResult rgFitFold(rgIdentification* id, int fold) {
    rgFit* fit = &id->fit;
    int folds = id->def.foldCount, m = fit->motionCount;
    rgSolution train = {0}, test = {0};
    rgResult result = rgSolution_Create(&train, fit, m);
    rgMotionError* errors = rgAllocate(&id->allocator, (size_t)m, sizeof(rgMotionError));
    if (result == rg_ok) {
        result = rgSolution_Create(&test, fit, m);
    }
    result = errors != NULL ? result : rg_errorMemory;
    if (result == rg_ok) {
        train.motionCount = test.motionCount = 0;
        for (int i = 0; i < m; ++i) {
            rgSolution* part = i % folds == fold ? &test : &train;
            part->motions[part->motionCount++] = i;
        }
        for (int i = 0; i < fit->parameterCount; ++i) {
            train.place[i] = rgParameter_ToUnit(&fit->parameters[i], id->startValues[i]);
        }
        result = rgFit_Solve(fit, &train, false);
    }
    if (result == rg_ok) {
        result = rgFit_FindStarts(fit, &test, train.place);
    }
    if (result == rg_ok) {
        result = rgFit_Judge(fit, &test, train.place, test.local, test.costs, errors);
    }
    for (int i = 0; i < test.motionCount && result == rg_ok; ++i) {
        id->heldOut[test.motions[i]] = errors[i];
    }
    for (int i = 0; i < fit->parameterCount && result == rg_ok; ++i) {
        id->foldValues[fold * fit->parameterCount + i] =
            rgParameter_FromUnit(&fit->parameters[i], train.place[i]);
    }
    rgRelease(&id->allocator, errors);
    rgSolution_Free(&train, fit);
    rgSolution_Free(&test, fit);
    return result;
}

static rgResult rgCrossValidate(rgIdentification* id) {
    rgResult result = rg_ok;
    for (int fold = 0; fold < id->def.foldCount && result == rg_ok; ++fold) {
        result = rgFitFold(id, fold);
        if (result == rg_ok) {
            result = rgFit_Report(&id->fit, rg_identifyFolds, fold + 1, id->def.foldCount,
                                  id->info.cost);
        }
    }
    return result;
}

// ---- parameters that the motions determine

// Sum of the motions' curvatures, each weighted by `counts` (NULL: 1).
static void rgSumMotions(const rgIdentification* id, const int* counts, double* H, double* g) {
    const rgSolution* s = &id->solution;
    size_t p = (size_t)id->fit.parameterCount;
    memset(H, 0, p * p * sizeof(double));
    memset(g, 0, p * sizeof(double));
    for (size_t i = 0; i < (size_t)s->motionCount; ++i) {
        double often = counts != NULL ? counts[i] : 1;
        for (size_t k = 0; k < p * p; ++k) {
            H[k] += often * s->hessians[i * p * p + k];
        }
        for (size_t k = 0; k < p; ++k) {
            g[k] += often * s->gradients[i * p + k];
        }
    }
}

// identify.10-12: Curvature in units of the scatter of a motion's cost, against that of the bounds.
static rgResult rgDetermine(rgIdentification* id) {
    int p = id->fit.parameterCount;
    size_t size = (size_t)p;
    double* H = rgAllocate(&id->allocator, 2 * size * size + size, sizeof(double));
    if (H == NULL) {
        return rg_errorMemory;
    }
    double *V = H + p * p, *g = V + p * p;
    double scatter = fmax(id->info.cost, 1);
    rgSumMotions(id, NULL, H, g);
    for (int k = 0; k < p * p; ++k) {
        H[k] /= scatter;
    }
    rgSymmetricEigen(p, H, id->strengths, V);
    for (int i = 0; i < p; ++i) {
        double variance = 0;
        for (int j = 0; j < p; ++j) {
            double v = V[i * p + j];
            id->directions[j * p + i] = v;
            variance += v * v / (fmax(id->strengths[j], 0) + 12);
        }
        id->shares[i] = 1 - 12 * variance; // 1/12: variance within bounds of width 1
        id->info.undeterminedCount += id->shares[i] < 0.5;
    }
    for (int j = 0; j < p; ++j) {
        id->strengths[j] = sqrt(fmax(id->strengths[j], 0));
    }
    rgRelease(&id->allocator, H);
    return rg_ok;
}

// ---- bootstrap

static int rgCompareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void rgDraw(const rgIdentification* id, int replicate, int* counts) {
    int m = id->solution.motionCount;
    uint64_t seed = rgRandomBits(id->def.seed ^ 0x626f6f74u, (uint64_t)replicate);
    memset(counts, 0, (size_t)m * sizeof(int));
    for (int i = 0; i < m; ++i) {
        ++counts[(int)(rgRandomUnit(seed, (uint64_t)i) * m)];
    }
}

// identify.13: One step of Newton for the motions of the draw, from the solution with all motions.
static bool rgReplicate(const rgIdentification* id, const int* counts, double* H, double* step) {
    const rgFit* fit = &id->fit;
    int p = fit->parameterCount;
    rgSumMotions(id, counts, H, step);
    rgFit_Prior(fit, id->solution.place, step, H);
    double trace = 0;
    for (int i = 0; i < p; ++i) {
        trace += H[i * p + i];
    }
    for (int i = 0; i < p; ++i) {
        H[i * p + i] += 1e-9 * trace / p + 1e-300;
    }
    if (!rgCholesky(p, H)) {
        return false;
    }
    rgCholeskySolve(p, H, step);
    return true;
}

static void rgSummarize(rgIdentification* id, int i, double* places, int count) {
    const rgParameter* parameter = &id->fit.parameters[i];
    double mean = 0, square = 0;
    for (int b = 0; b < count; ++b) {
        places[b] = rgParameter_FromUnit(parameter, places[b]);
        mean += places[b] / count;
    }
    for (int b = 0; b < count; ++b) {
        square += (places[b] - mean) * (places[b] - mean);
    }
    qsort(places, (size_t)count, sizeof(double), rgCompareNumbers);
    id->deviations[i] = sqrt(square / RG_MAX(count - 1, 1));
    id->lowers[i] = places[(int)(0.025 * (count - 1))];
    id->uppers[i] = places[(int)ceil(0.975 * (count - 1))];
}

static rgResult rgBootstrap(rgIdentification* id) {
    int p = id->fit.parameterCount, m = id->solution.motionCount, draws = id->def.bootstrapCount;
    size_t size = (size_t)p;
    for (int i = 0; i < p; ++i) {
        id->deviations[i] = id->lowers[i] = id->uppers[i] = NAN;
    }
    if (draws < 2 || m < 2) {
        return rg_ok;
    }
    int* counts = rgAllocate(&id->allocator, (size_t)m, sizeof(int));
    double* H = rgAllocate(&id->allocator, size * size + 2 * size, sizeof(double));
    double* places = rgAllocate(&id->allocator, size * (size_t)draws, sizeof(double));
    bool good = counts != NULL && H != NULL && places != NULL;
    if (good) {
        double *step = H + p * p, *middle = step + p;
        int made = 0;
        for (int i = 0; i < m; ++i) {
            counts[i] = 1;
        }
        // Subtract the step with all motions: it is no part of their scatter.
        bool solved = rgReplicate(id, counts, H, middle);
        for (int b = 0; b < draws && solved; ++b) {
            rgDraw(id, b, counts);
            if (rgReplicate(id, counts, H, step)) {
                for (int i = 0; i < p; ++i) {
                    places[(size_t)i * (size_t)draws + (size_t)made] =
                        id->solution.place[i] - step[i] + middle[i];
                }
                ++made;
            }
        }
        for (int i = 0; i < p && made >= 2; ++i) {
            rgSummarize(id, i, places + (size_t)i * (size_t)draws, made);
        }
    }
    rgRelease(&id->allocator, counts);
    rgRelease(&id->allocator, H);
    rgRelease(&id->allocator, places);
    return good ? rg_ok : rg_errorMemory;
}

// ---- the whole fit

static rgResult rgIdentification_Run(rgIdentification* id) {
    rgResult result = rgFitAll(id);
    if (result == rg_ok) {
        result = rgKeepStarts(id);
    }
    if (result == rg_ok) {
        result = rgDetermine(id);
    }
    if (result == rg_ok) {
        result = rgBootstrap(id);
    }
    return result == rg_ok ? rgCrossValidate(id) : result;
}

static void rgIdentification_Conclude(rgIdentification* id) {
    int m = id->def.motionCount;
    rgIdentificationInfo* info = &id->info;
    info->parameterCount = id->def.parameterCount;
    info->motionCount = m;
    info->foldCount = id->def.foldCount;
    info->simulationCount = id->fit.simulationCount;
    info->converged = id->solution.converged;
    info->before = rgMeanError(id->before, m);
    info->after = rgMeanError(id->after, m);
    info->adapted = rgMeanError(id->adapted, m);
    for (int i = 0; i < m && info->foldCount == 0; ++i) {
        id->heldOut[i] = (rgMotionError){NAN, NAN, NAN, NAN};
    }
    info->heldOut = rgMeanError(id->heldOut, m);
    id->fit.base = NULL; // the caller's, as the motions
    id->fit.diagnostics = NULL;
}

rgResult rgIdentify(const rgModelDef* model, const rgIdentifyDef* def, rgDiagnostics* diagnostics,
                    rgIdentification** identification) {
    if (model == NULL || def == NULL || identification == NULL ||
        def->cookie != RG_COOKIE_IDENTIFY || !rgCheckDef(def, diagnostics)) {
        return rg_errorArgument;
    }
    rgAllocator allocator = rgResolveAllocator(&def->allocator);
    rgIdentification* id = rgAllocate(&allocator, 1, sizeof(rgIdentification));
    if (id == NULL) {
        return rg_errorMemory;
    }
    id->allocator = allocator;
    id->def = *def;
    rgResult result = rgIdentification_Build(id, model, diagnostics);
    if (result == rg_ok) {
        result = rgIdentification_Run(id);
    }
    if (result != rg_ok) {
        rgDestroyIdentification(id);
        return result;
    }
    rgIdentification_Conclude(id);
    *identification = id;
    return rg_ok;
}

// ---- the answer

rgResult rgIdentification_Apply(const rgIdentification* id, rgModelDef* model) {
    if (id == NULL || model == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rg_ok;
    for (int i = 0; i < id->fit.parameterCount && result == rg_ok; ++i) {
        rgParameter parameter = id->fit.parameters[i];
        result = rgParameter_Resolve(&parameter, model, NULL);
    }
    return result == rg_ok ? rgParameters_Apply(id->fit.parameters, id->fit.parameterCount,
                                                id->values, model, model)
                           : result;
}

rgIdentificationInfo rgIdentification_Info(const rgIdentification* id) {
    return id != NULL ? id->info : (rgIdentificationInfo){0};
}

rgParameterEstimate rgIdentification_Parameter(const rgIdentification* id, int i) {
    if (id == NULL || i < 0 || i >= id->info.parameterCount) {
        return (rgParameterEstimate){0};
    }
    double place = id->solution.place[i];
    return (rgParameterEstimate){.name = id->parameterNames[i],
                                 .unit = rgParameter_Unit(&id->fit.parameters[i]),
                                 .start = id->startValues[i],
                                 .value = id->values[i],
                                 .deviation = id->deviations[i],
                                 .lower = id->lowers[i],
                                 .upper = id->uppers[i],
                                 .determined = id->shares[i],
                                 .atBound = place < 1e-6 || place > 1 - 1e-6};
}

double rgIdentification_FoldValue(const rgIdentification* id, int fold, int parameter) {
    bool there = id != NULL && fold >= 0 && fold < id->info.foldCount && parameter >= 0 &&
                 parameter < id->info.parameterCount;
    return there ? id->foldValues[fold * id->info.parameterCount + parameter] : 0;
}

rgMotionEstimate rgIdentification_Motion(const rgIdentification* id, int i) {
    if (id == NULL || i < 0 || i >= id->info.motionCount) {
        return (rgMotionEstimate){0};
    }
    rgModelInfo info = rgModel_Info(id->fit.model);
    return (rgMotionEstimate){.name = id->motionNames[i],
                              .fold = id->info.foldCount > 0 ? i % id->info.foldCount : -1,
                              .sampleCount =
                                  id->fit.targets[i].sizeCount / id->fit.targets[i].errorCount + 1,
                              .before = id->before[i],
                              .after = id->after[i],
                              .adapted = id->adapted[i],
                              .heldOut = id->heldOut[i],
                              .q = id->q + (size_t)i * (size_t)info.qCount,
                              .v = id->v + (size_t)i * (size_t)info.vCount};
}

const double* rgIdentification_Direction(const rgIdentification* id, int index, double* strength) {
    if (id == NULL || index < 0 || index >= id->info.parameterCount) {
        return NULL;
    }
    if (strength != NULL) {
        *strength = id->strengths[index];
    }
    return id->directions + (size_t)index * (size_t)id->info.parameterCount;
}
