// Derivatives of a motion's errors along one simulation: the derivatives of its steps, chained.
// identify.14, identify.15.
#include "identify/identify.h"
#include "rigor/derivative.h"

#include <math.h>
#include <string.h>

// ---- numbers of the model by places of parameters

#define RG_PLACE_STEP 1e-4 // of differences of numbers of a definition, which are formulas

void rgSlopeTable_Free(rgSlopeTable* table, const rgFit* fit) {
    rgRelease(&fit->allocator, table->quantities);
    rgRelease(&fit->allocator, table->weights);
    *table = (rgSlopeTable){0};
}

// Steps have no derivative by the centre of mass of a body that moves freely.
static bool rgMovesFreely(const rgModel* model, int body) {
    int moving = rgModel_BodyLink(model, (rgBodyId){body + 1}).moving.index1;
    bool freely = false;
    for (int j = 1; j <= rgModel_Info(model).jointCount && moving > 0; ++j) {
        const rgJointDef* joint = rgModel_Joint(model, (rgJointId){j});
        freely = freely || (joint->kind == rg_jointFree && joint->body.index1 == moving);
    }
    return freely;
}

static bool rgAnyMovesFreely(const rgModel* model, const rgQuantity* quantities, int count) {
    bool any = false;
    for (int k = 0; k < count; ++k) {
        any = any || (quantities[k].kind == rg_quantityInertia &&
                      rgMovesFreely(model, quantities[k].index));
    }
    return any;
}

rgResult rgSlopeTable_Create(rgSlopeTable* table, const rgFit* fit) {
    *table = (rgSlopeTable){.fit = fit};
    int most = 0;
    for (int i = 0; i < fit->parameterCount; ++i) {
        most += RG_MAX(rgParameter_Numbers(&fit->parameters[i], fit->base, NULL, NULL), 0);
    }
    size_t count = (size_t)most, p = (size_t)fit->parameterCount;
    table->quantities = rgAllocate(&fit->allocator, count + 1, sizeof(rgQuantity));
    table->weights = rgAllocate(&fit->allocator, 2 * count + count * p + 1, sizeof(double));
    if (table->quantities == NULL || table->weights == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < fit->parameterCount && fit->hasSlopes; ++i) {
        rgQuantity* own = table->quantities + table->count;
        int numbers = rgParameter_Numbers(&fit->parameters[i], fit->base, own, NULL);
        table->known[i] = numbers >= 0 && !rgAnyMovesFreely(fit->model, own, numbers);
        table->count += table->known[i] ? numbers : 0;
    }
    return rg_ok;
}

// identify.14 Weights at a place, by differences of definitions.
rgResult rgSlopeTable_Fill(rgSlopeTable* table, const double* place) {
    const rgFit* fit = table->fit;
    int p = fit->parameterCount, first = 0;
    double values[RG_MAX_PARAMETERS],
        *ends[2] = {table->weights + table->count * p, table->weights + table->count * (p + 1)};
    memset(table->weights, 0, (size_t)(table->count * p) * sizeof(double));
    for (int i = 0; i < p; ++i) {
        int count = 0;
        double at[2] = {fmax(place[i] - RG_PLACE_STEP, 0), fmin(place[i] + RG_PLACE_STEP, 1)};
        for (int side = 0; side < 2 && table->known[i]; ++side) {
            for (int k = 0; k < p; ++k) {
                values[k] = rgParameter_FromUnit(&fit->parameters[k], k == i ? at[side] : place[k]);
            }
            rgResult result = rgParameters_Apply(fit->parameters, p, values, fit->base, fit->work);
            if (result != rg_ok) {
                return result;
            }
            count = rgParameter_Numbers(&fit->parameters[i], fit->work, table->quantities + first,
                                        ends[side]);
        }
        for (int k = 0; k < count; ++k) {
            table->weights[(first + k) * p + i] = (ends[1][k] - ends[0][k]) / (at[1] - at[0]);
        }
        first += count;
    }
    return rg_ok;
}

// ---- along a simulation

void rgSlopeRun_End(rgSlopeRun* run, const rgAllocator* allocator) {
    if (run->failed) {
        memset(run->trial->columns, 0, (size_t)(run->n * run->target->sizeCount) * sizeof(double));
    }
    rgRelease(allocator, run->memory);
    rgDestroyDynamics(run->dynamics);
}

// Derivatives of the start by its own unknowns.
static void rgSlopeRun_Start(rgSlopeRun* run, double* scratch) {
    const rgFit* fit = run->trial->slopes->fit;
    int nv = run->nv, p = fit->parameterCount;
    double *step = scratch, *byStep = scratch + nv;
    memset(step, 0, (size_t)nv * sizeof(double));
    for (int k = 0; k < fit->localCount && run->n > p; ++k) {
        if (fit->localIndex[k] < nv) {
            step[fit->localIndex[k]] = run->trial->local[k] * fit->localUnit[k];
        }
    }
    rgModel_IntegrateDerivatives(run->trial->model, step, 1, rg_velocityBody, NULL, byStep);
    for (int k = 0; p + k < run->n; ++k) {
        int index = fit->localIndex[k];
        for (int i = 0; i < nv && index < nv; ++i) {
            run->S[i * run->n + p + k] = byStep[i * nv + index] * fit->localUnit[k];
        }
        if (index >= nv) {
            run->S[index * run->n + p + k] = fit->localUnit[k];
        }
    }
}

rgResult rgSlopeRun_Begin(rgSlopeRun* run, const rgTrial* trial, const rgTarget* target,
                          const rgAllocator* allocator) {
    rgModelInfo info = rgModel_Info(trial->model);
    size_t nv = (size_t)info.vCount, n = (size_t)trial->unknownCount;
    size_t errors = (size_t)target->errorCount;
    *run =
        (rgSlopeRun){.trial = trial, .target = target, .n = trial->unknownCount, .nv = info.vCount};
    rgDynamicsDef def = rgDefaultDynamicsDef(trial->model);
    def.allocator = *allocator;
    rgResult result = rgCreateDynamics(trial->model, &def, &run->dynamics);
    run->memory =
        rgAllocate(allocator, 8 * nv * n + 2 * errors * n + 7 * nv + nv * nv + 1, sizeof(double));
    if (result != rg_ok || run->memory == NULL) {
        return rg_errorMemory;
    }
    run->S = run->memory;
    run->next = run->S + 4 * nv * n;
    run->past = run->next + 4 * nv * n;
    run->now = run->past + errors * n;
    run->jacobian = run->now + errors * n;
    memset(run->memory, 0, (size_t)(run->jacobian - run->memory) * sizeof(double));
    memset(trial->columns, 0, n * (size_t)target->sizeCount * sizeof(double));
    rgSlopeRun_Start(run, run->jacobian);
    return rg_ok;
}

static const double* rgSlopeRowOf(const rgDerivatives* d, int nv, int row) {
    const double* matrix = row < nv ? d->nextQ : row < 2 * nv ? d->nextV : d->nextTrend;
    int first = row < nv ? 0 : row < 2 * nv ? nv : 2 * nv;
    return matrix + (row - first) * d->columnCount;
}

// to += row W, rows of W of n numbers.
static void rgAddCombined(const double* row, int count, const double* from, int n, double* to) {
    for (int k = 0; k < count; ++k) {
        for (int j = 0; j < n && row[k] != 0; ++j) {
            to[j] += row[k] * from[k * n + j];
        }
    }
}

// identify.14 S := A S + B W of the step that comes next.
void rgSlopeRun_Step(rgSlopeRun* run, rgWorld* world) {
    const rgSlopeTable* table = run->trial->slopes;
    int nv = run->nv, n = run->n, p = table->fit->parameterCount;
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by = rg_byPosition | rg_byVelocity | rg_byParameters | rg_byTrend;
    def.parameters = table->quantities;
    def.parameterCount = table->count;
    rgDerivatives d;
    run->failed = run->failed || rgWorld_Derivatives(world, &def, &d) != rg_ok;
    if (run->failed) {
        return;
    }
    memset(run->next, 0, (size_t)(4 * nv * n) * sizeof(double));
    for (int i = 0; i < 4 * nv; ++i) {
        const double* row = rgSlopeRowOf(&d, nv, i);
        double* out = run->next + i * n;
        rgAddCombined(row, 2 * nv, run->S, n, out);
        rgAddCombined(row + d.trendColumn, 2 * nv, run->S + 2 * nv * n, n, out);
        rgAddCombined(row + d.trendColumn - table->count, table->count, table->weights, p, out);
    }
    double* swap = run->S;
    run->S = run->next;
    run->next = swap;
}

int rgCoordinateDof(const rgModel* model, int coordinate) {
    int count = rgModel_Info(model).jointCount;
    for (int j = 1; j <= count; ++j) {
        rgJointRange range = rgModel_JointRange(model, (rgJointId){j});
        if (range.q == coordinate && range.qCount == 1) {
            return range.v;
        }
    }
    return -1;
}

// identify.15 Derivatives of measured values, a pose as a velocity of its origin and a turn.
void rgSlopeRun_Measure(rgSlopeRun* run, const rgWorld* world) {
    const rgMotion* motion = run->target->motion;
    const rgModel* model = run->trial->model;
    int nv = run->nv, n = run->n;
    double *swap = run->past, *out = run->now = (run->past = run->now, swap);
    memset(out, 0, (size_t)(run->target->errorCount * n) * sizeof(double));
    rgDynamics_SetPositions(run->dynamics, rgWorld_Positions(world, NULL));
    for (int c = 0; c < motion->channelCount; ++c) {
        const rgChannel* channel = &motion->channels[c];
        int rows = 6;
        if (channel->kind == rg_channelCoordinate) {
            int v = rgCoordinateDof(model, channel->coordinate);
            memset(run->jacobian, 0, (size_t)nv * sizeof(double));
            run->jacobian[v] = 1;
            rows = 1;
        } else {
            rgVec3 at = rgDynamics_BodyPose(run->dynamics, channel->body).p;
            rgDynamics_PointJacobian(run->dynamics, channel->body, at, run->jacobian);
        }
        for (int r = 0; r < rows; ++r, out += n) {
            for (int k = 0; k < nv; ++k) {
                double factor = run->jacobian[r * nv + k];
                for (int j = 0; j < n && factor != 0; ++j) {
                    out[j] += factor * run->S[k * n + j];
                }
            }
        }
    }
}

// The change of a rotation vector by a small turn before it, in axes of the world.
static rgVec3 rgVectorChange(rgVec3 vector, rgVec3 turn) {
    double angle = rgLength(vector), half = 0.5 * angle;
    double share = angle > 1e-4 ? (1 - half / tan(half)) / (angle * angle) : 1.0 / 12;
    rgVec3 across = rgCross(vector, turn);
    rgVec3 out = rgAddScaled(turn, -0.5, across);
    return rgAddScaled(out, share, rgCross(vector, across));
}

// Errors of a sample, which lies `share` of the way from the last values to those of now.
void rgSlopeRun_Compare(rgSlopeRun* run, const rgIdentifyDef* def, int sample, double share) {
    const rgMotion* motion = run->target->motion;
    int n = run->n, size = run->target->errorCount;
    const double* errors = run->trial->errors + (sample - 1) * size;
    const double* seen = motion->values + (size_t)sample * (size_t)motion->valueCount;
    for (int j = 0; j < n; ++j) {
        double* out = run->trial->columns + (size_t)j * (size_t)run->target->sizeCount +
                      (size_t)((sample - 1) * size);
        const double *a = run->past + j, *b = run->now + j, *s = seen;
        for (int c = 0, row = 0; c < motion->channelCount; ++c) {
            bool pose = motion->channels[c].kind != rg_channelCoordinate;
            double change[6];
            for (int r = 0; r < (pose ? 6 : 1); ++r) {
                change[r] = a[(row + r) * n] + share * (b[(row + r) * n] - a[(row + r) * n]);
            }
            if (!pose) {
                out[row] = isnan(s[0]) ? 0 : change[0] / def->coordinateNoise;
                ++row, ++s;
                continue;
            }
            double noise = def->rotationNoise;
            const double* e = errors + row + 3;
            rgVec3 turn = rgVectorChange(rgVec(noise * e[0], noise * e[1], noise * e[2]),
                                         rgVec(change[3], change[4], change[5]));
            for (int r = 0; r < 3; ++r) {
                out[row + r] = isnan(s[r]) ? 0 : change[r] / def->positionNoise;
                out[row + 3 + r] = isnan(s[3]) ? 0 : rgVec3_At(turn, r) / noise;
            }
            row += 6, s += 7;
        }
    }
}
