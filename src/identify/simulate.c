// Simulations of recorded motions: batches of worlds of one model each, spread over the threads.
// Every world is one motion, and its errors are taken on the way.
#include "identify/identify.h"

#include <math.h>
#include <string.h>

enum { rg_trialsTogether = 32 };

// A world of a batch and how far it has come.
typedef struct rgRunner {
    const rgTrial* trial;
    const rgTarget* target;
    const rgIdentifyDef* def;
    int next;       // sample to be met
    int controlRow; // sample whose controls hold
    int last;       // sample after which it ends
    bool hasLast;
    bool touched; // from the first step on, or since
    double* past; // measured values after the step before
    double* now;
    rgSlopeRun* slopes; // or NULL
} rgRunner;

// ---- measured quantities

static void rgMeasure(const rgWorld* world, const rgMotion* motion, double* values) {
    const double* q = rgWorld_Positions(world, NULL);
    for (int i = 0; i < motion->channelCount; ++i) {
        const rgChannel* channel = &motion->channels[i];
        if (channel->kind == rg_channelCoordinate) {
            *values++ = q[channel->coordinate];
            continue;
        }
        rgPose pose = rgWorld_BodyPose(world, channel->body);
        const double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w,
                                   pose.q.x, pose.q.y, pose.q.z};
        memcpy(values, numbers, sizeof(numbers));
        values += 7;
    }
}

static rgQuat rgQuatOf(const double* x) {
    return (rgQuat){x[0], x[1], x[2], x[3]};
}

// Between two rotations that are a step apart.
static rgQuat rgBlend(rgQuat a, rgQuat b, double share) {
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0 ? -1 : 1;
    double s = sign * share, r = 1 - share;
    return rgQuatNormalize(
        (rgQuat){r * a.w + s * b.w, r * a.x + s * b.x, r * a.y + s * b.y, r * a.z + s * b.z});
}

// Errors of a sample that lies `share` of the way from the last values to those of now.
static void rgCompare(const rgRunner* runner, double share) {
    const rgIdentifyDef* def = runner->def;
    const rgMotion* motion = runner->target->motion;
    const double *a = runner->past, *b = runner->now;
    const double* seen = motion->values + (size_t)runner->next * (size_t)motion->valueCount;
    double* out =
        runner->trial->errors + (size_t)(runner->next - 1) * (size_t)runner->target->errorCount;
    for (int i = 0; i < motion->channelCount; ++i) {
        if (motion->channels[i].kind == rg_channelCoordinate) {
            double error = a[0] + share * (b[0] - a[0]) - seen[0];
            *out++ = isnan(seen[0]) ? 0 : error / def->coordinateNoise;
            ++a, ++b, ++seen;
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            double error = a[k] + share * (b[k] - a[k]) - seen[k];
            *out++ = isnan(seen[k]) ? 0 : error / def->positionNoise;
        }
        rgQuat there = rgBlend(rgQuatOf(a + 3), rgQuatOf(b + 3), share);
        rgVec3 turn =
            rgRotationVectorFromQuat(rgQuatMultiply(there, rgQuatConjugate(rgQuatOf(seen + 3))));
        for (int k = 0; k < 3; ++k) {
            *out++ = isnan(seen[3]) ? 0 : rgVec3_At(turn, k) / def->rotationNoise;
        }
        a += 7, b += 7, seen += 7;
    }
}

// ---- one world

static rgResult rgApplyControls(rgRunner* runner, rgWorld* world, double time, double slack) {
    const rgMotion* motion = runner->target->motion;
    int row = runner->controlRow;
    while (row + 1 < motion->sampleCount && motion->times[row + 1] <= time + slack) {
        ++row;
    }
    if (motion->controls == NULL || row == runner->controlRow) {
        return rg_ok;
    }
    runner->controlRow = row;
    int count = 0;
    rgWorld_Control(world, &count);
    return rgWorld_SetControl(world, motion->controls + (size_t)row * (size_t)count);
}

// True if a contact force acted in the last step.
static bool rgTouches(const rgWorld* world) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        if (contacts[i].impulse[2] > 0) {
            return true;
        }
    }
    return false;
}

static void rgWatchContact(rgRunner* runner, const rgWorld* world, int step, double time) {
    double* contact = runner->trial->contact;
    if (contact == NULL || runner->touched) {
        return;
    }
    *contact = INFINITY;
    if (rgTouches(world)) {
        runner->touched = true;
        *contact = step > 0 ? time : INFINITY;
    }
}

// Before each step: compare the samples between the last one and now. A world whose samples are all
// met stops.
static rgResult rgMeetSamples(rgRunner* runner, rgWorld* world, int step) {
    const rgMotion* motion = runner->target->motion;
    double dt = rgWorld_TimeStep(world), slack = 1e-6 * dt;
    double time = motion->times[0] + step * dt;
    rgWatchContact(runner, world, step, time);
    if (motion->times[runner->next] > time + dt + slack) {
        runner->hasLast = false; // nothing to be met before the next step
        return rgApplyControls(runner, world, time, slack);
    }
    rgMeasure(world, motion, runner->now);
    if (runner->slopes != NULL) {
        rgSlopeRun_Measure(runner->slopes, world);
    }
    while (runner->next <= runner->last && motion->times[runner->next] <= time + slack) {
        double share = 1 - (time - motion->times[runner->next]) / dt;
        share = runner->hasLast ? share : 1;
        rgCompare(runner, share);
        if (runner->slopes != NULL) {
            rgSlopeRun_Compare(runner->slopes, runner->def, runner->next, share);
        }
        ++runner->next;
    }
    double* swap = runner->past;
    runner->past = runner->now;
    runner->now = swap;
    runner->hasLast = true;
    return runner->next <= runner->last ? rgApplyControls(runner, world, time, slack)
                                        : rg_errorArgument;
}

static rgResult rgAdvance(rgWorld* world, int index, int step, void* context) {
    rgRunner* runner = (rgRunner*)context + index;
    rgResult result = rgMeetSamples(runner, world, step);
    if (result == rg_ok && runner->slopes != NULL) {
        rgSlopeRun_Step(runner->slopes, world);
    }
    return result;
}

// ---- a batch of them

typedef struct rgChunk {
    const rgSimulator* simulator;
    const rgTrial* trials;
    int* firsts;       // chunk i has trials firsts[i] to firsts[i + 1] - 1
    rgResult* results; // by chunk
} rgChunk;

static void rgDiscardWorlds(const rgSimulator* simulator, const rgTrial* trial) {
    const rgTarget* target = &simulator->targets[trial->target];
    for (int k = 0; k < target->sizeCount; ++k) {
        trial->errors[k] = NAN;
    }
}

static void rgFillRunners(const rgSimulator* simulator, const rgTrial* trials, int count,
                          rgRunner* runners, double* memory) {
    for (int i = 0; i < count; ++i) {
        const rgTarget* target = &simulator->targets[trials[i].target];
        int size = target->motion->valueCount;
        runners[i] = (rgRunner){.trial = &trials[i],
                                .target = target,
                                .def = simulator->def,
                                .next = 1,
                                .last = trials[i].lastSample > 0 ? trials[i].lastSample
                                                                 : target->motion->sampleCount - 1,
                                .controlRow = -1,
                                .past = memory,
                                .now = memory + size};
        memory += 2 * size;
    }
}

static int rgStepsOf(const rgMotion* motion, double dt) {
    double length = motion->times[motion->sampleCount - 1] - motion->times[0];
    return (int)ceil(length / dt - 1e-6) + 1; // the last call of rgAdvance is before one more step
}

static rgResult rgWriteStarts(rgBatch* batch, const rgTrial* trials, int count, double* memory) {
    rgModelInfo info = rgModel_Info(rgBatch_Model(batch));
    size_t nq = (size_t)info.qCount, nv = (size_t)info.vCount, worlds = (size_t)count;
    double *q = memory, *v = memory + worlds * nq;
    for (int i = 0; i < count; ++i) {
        memcpy(q + (size_t)i * nq, trials[i].q, nq * sizeof(double));
        memcpy(v + (size_t)i * nv, trials[i].v, nv * sizeof(double));
    }
    rgResult result = rgBatch_Write(batch, rg_batchPositions, q, worlds * nq, NULL, NULL);
    return result == rg_ok ? rgBatch_Write(batch, rg_batchVelocities, v, worlds * nv, NULL, NULL)
                           : result;
}

static rgResult rgRunBatch(const rgSimulator* simulator, const rgTrial* trials, int count,
                           rgRunner* runners, double* memory, rgSlopeRun* slopes) {
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = count;
    def.world = simulator->def->world;
    def.allocator = simulator->allocator;
    rgBatch* batch = NULL;
    rgResult result = rgCreateBatch(trials[0].model, &def, NULL, &batch);
    if (result == rg_ok) {
        result = rgWriteStarts(batch, trials, count, memory);
    }
    if (result == rg_ok) {
        rgFillRunners(simulator, trials, count, runners, memory);
        rgRolloutDef rollout = rgDefaultRolloutDef();
        for (int i = 0; i < count; ++i) {
            int steps = rgStepsOf(runners[i].target->motion, rgBatch_TimeStep(batch));
            rollout.stepCount = RG_MAX(rollout.stepCount, steps);
            runners[i].slopes = trials[i].slopes != NULL ? &slopes[i] : NULL;
        }
        rollout.each = rgAdvance;
        rollout.context = runners;
        result = rgBatch_Rollout(batch, &rollout, NULL, NULL);
    }
    rgDestroyBatch(batch);
    return result;
}

static void rgRunChunk(int index, int worker, void* context) {
    (void)worker;
    const rgChunk* chunk = context;
    const rgSimulator* simulator = chunk->simulator;
    const rgTrial* trials = chunk->trials + chunk->firsts[index];
    int count = chunk->firsts[index + 1] - chunk->firsts[index];
    size_t numbers = 0;
    for (int i = 0; i < count; ++i) {
        rgDiscardWorlds(simulator, &trials[i]);
        numbers += 2 * (size_t)simulator->targets[trials[i].target].motion->valueCount;
    }
    chunk->results[index] = rg_ok;
    if (trials[0].model == NULL) {
        return;
    }
    rgModelInfo info = rgModel_Info(trials[0].model);
    numbers = RG_MAX(numbers, (size_t)count * (size_t)(info.qCount + info.vCount));
    const rgAllocator* allocator = &simulator->allocator;
    rgRunner* runners = rgAllocate(allocator, (size_t)count, sizeof(rgRunner));
    double* memory = rgAllocate(allocator, numbers + 1, sizeof(double));
    rgSlopeRun* slopes = rgAllocate(allocator, (size_t)count, sizeof(rgSlopeRun));
    bool good = runners != NULL && memory != NULL && slopes != NULL;
    rgResult result = good ? rg_ok : rg_errorMemory;
    for (int i = 0; i < count && result == rg_ok && trials[0].slopes != NULL; ++i) {
        result = rgSlopeRun_Begin(&slopes[i], &trials[i], &simulator->targets[trials[i].target],
                                  allocator);
    }
    chunk->results[index] =
        result == rg_ok ? rgRunBatch(simulator, trials, count, runners, memory, slopes) : result;
    for (int i = 0; i < count && slopes != NULL; ++i) {
        rgSlopeRun_End(&slopes[i], allocator);
    }
    rgRelease(allocator, slopes);
    rgRelease(allocator, runners);
    rgRelease(allocator, memory);
}

rgResult rgSimulator_Run(const rgSimulator* simulator, const rgTrial* trials, int count) {
    const rgAllocator* allocator = &simulator->allocator;
    int* firsts = rgAllocate(allocator, (size_t)count + 1, sizeof(int));
    rgResult* results = rgAllocate(allocator, (size_t)count + 1, sizeof(rgResult));
    rgResult result = firsts != NULL && results != NULL ? rg_ok : rg_errorMemory;
    int chunks = 0;
    for (int i = 0; i < count && result == rg_ok; ++i) {
        bool starts = i == 0 || trials[i].model != trials[i - 1].model ||
                      trials[i].slopes != trials[i - 1].slopes ||
                      i - firsts[chunks - 1] >= rg_trialsTogether;
        if (starts) {
            firsts[chunks++] = i;
        }
        firsts[chunks] = i + 1;
    }
    if (result == rg_ok) {
        rgChunk chunk = {simulator, trials, firsts, results};
        rgTasks_Run(&simulator->def->tasks, chunks, rgRunChunk, &chunk);
    }
    for (int i = 0; i < chunks && result == rg_ok; ++i) {
        result = results[i];
    }
    rgRelease(allocator, firsts);
    rgRelease(allocator, results);
    return result;
}
