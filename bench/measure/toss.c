// Friction and restitution of a real cube from recorded tosses, by parallel search: every toss with
// every candidate is a world of one batch.
//     rigor bench toss FOLDER [THREADS [EVERY]]
// FOLDER holds toss_NNN.csv as in the reference data; the search uses every EVERY-th toss (4), the
// answer is judged by all. Starts from the first sample, with its velocity at that instant.
#include "measure.h"
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_RATE  148.0
#define RG_PARTS 8 // steps per sample
#define RG_HALF  0.0524
#define RG_G     9.81

enum { rg_mostTosses = 1000, rg_mostSamples = 1000 };

typedef struct rgToss {
    int count;
    double* rows; // count x 13: position, quaternion, velocity, angular velocity (body)
} rgToss;

typedef struct rgPoint {
    double mu, restitution;
    double position, rotation;             // mean errors [% of the width], [deg]
    double medianPosition, medianRotation; // of the tosses' errors
} rgPoint;

static bool rgReadToss(const char* folder, int number, rgToss* toss) {
    char path[512], line[512];
    snprintf(path, sizeof(path), "%s/toss_%03d.csv", folder, number);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    *toss = (rgToss){.rows = calloc(rg_mostSamples * 13, sizeof(double))};
    while (fgets(line, sizeof(line), file) != NULL && toss->count < rg_mostSamples) {
        double* row = toss->rows + (size_t)toss->count * 13;
        char* at = strchr(line, ','); // after the time
        int read = 0;
        for (char* end = NULL; at != NULL && read < 13; ++read) {
            row[read] = strtod(at + 1, &end);
            at = end != at + 1 ? end : NULL;
        }
        toss->count += at != NULL && read == 13;
    }
    fclose(file);
    return toss->count > 1;
}

static rgModel* rgCubeModel(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgCreateModelDef(NULL, &def);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapePlane;
    rgModelDef_AddShape(def, &shape, NULL);
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia.mass = 0.37;
    body.inertia.moment = (rgSym3){.xx = 0.00081, .yy = 0.00081, .zz = 0.00081};
    rgBodyId cube;
    rgModelDef_AddBody(def, &body, &cube);
    rgJointDef joint = rgDefaultJointDef();
    joint.body = cube;
    joint.kind = rg_jointFree;
    rgModelDef_AddJoint(def, &joint, NULL);
    shape = rgDefaultShapeDef();
    shape.kind = rg_shapeBox;
    shape.body = cube;
    shape.size = rgVec(RG_HALF, RG_HALF, RG_HALF);
    rgModelDef_AddShape(def, &shape, NULL);
    rgCompileModel(def, NULL, NULL, &model);
    rgDestroyModelDef(def);
    return model;
}

// ---- one set of candidates

// Velocities are means over the interval that ends at the sample; ours are in body axes.
static void rgStartOf(const rgToss* toss, double* q, double* v) {
    const double* row = toss->rows;
    memcpy(q, row, 7 * sizeof(double));
    rgVec3 velocity = rgVec(row[7], row[8], row[9] - 0.5 * RG_G / RG_RATE);
    velocity = rgRotateBack((rgQuat){row[3], row[4], row[5], row[6]}, velocity);
    v[0] = velocity.x, v[1] = velocity.y, v[2] = velocity.z;
    v[3] = row[10], v[4] = row[11], v[5] = row[12];
}

static void rgErrors(const rgToss* toss, const double* q, double* position, double* rotation) {
    *position = *rotation = 0;
    for (int s = 1; s < toss->count; ++s) {
        const double *a = q + (size_t)(s - 1) * 7, *b = toss->rows + (size_t)s * 13;
        double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        double dot = fabs(a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]);
        *position += 100 * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (2 * RG_HALF);
        *rotation += 2 * acos(fmin(dot, 1)) * 57.29577951308232;
    }
    *position /= toss->count - 1;
    *rotation /= toss->count - 1;
}

static int rgCompare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void rgSummarize(rgPoint* point, double* position, double* rotation, int count) {
    point->position = point->rotation = 0;
    for (int i = 0; i < count; ++i) {
        point->position += position[i] / count;
        point->rotation += rotation[i] / count;
    }
    qsort(position, (size_t)count, sizeof(double), rgCompare);
    qsort(rotation, (size_t)count, sizeof(double), rgCompare);
    point->medianPosition = position[count / 2];
    point->medianRotation = rotation[count / 2];
}

// Worlds: every toss for the first candidate, then for the next.
static void rgFillStarts(rgBatch* batch, const rgToss* tosses, int tossCount, const rgPoint* points,
                         int worlds) {
    double* q = malloc((size_t)worlds * 15 * sizeof(double));
    double *v = q + (size_t)worlds * 7, *mu = v + (size_t)worlds * 6, *e = mu + worlds;
    for (int i = 0; i < worlds; ++i) {
        rgStartOf(&tosses[i % tossCount], q + (size_t)i * 7, v + (size_t)i * 6);
        mu[i] = points[i / tossCount].mu;
        e[i] = points[i / tossCount].restitution;
    }
    size_t count = (size_t)worlds;
    rgBatch_SetParameter(batch, rg_parameterFriction, mu, count, NULL, NULL);
    rgBatch_SetParameter(batch, rg_parameterRestitution, e, count, NULL, NULL);
    rgBatch_Write(batch, rg_batchPositions, q, 7 * count, NULL, NULL);
    rgBatch_Write(batch, rg_batchVelocities, v, 6 * count, NULL, NULL);
    free(q);
}

static void rgTry(const rgModel* model, rgTasks tasks, const rgToss* tosses, int tossCount,
                  rgPoint* points, int pointCount) {
    int samples = 0, worlds = tossCount * pointCount;
    for (int i = 0; i < tossCount; ++i) {
        samples = tosses[i].count > samples ? tosses[i].count : samples;
    }
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = worlds;
    def.world.timeStep = 1 / RG_RATE / RG_PARTS;
    def.tasks = tasks;
    rgBatch* batch = NULL;
    rgCreateBatch(model, &def, NULL, &batch);
    rgFillStarts(batch, tosses, tossCount, points, worlds);
    rgRolloutDef rollout = rgDefaultRolloutDef();
    rollout.stepCount = (samples - 1) * RG_PARTS;
    rollout.recordInterval = RG_PARTS;
    rollout.positionCount = (size_t)worlds * (size_t)(samples - 1) * 7;
    rollout.positions = malloc(rollout.positionCount * sizeof(double));
    rgBatch_Rollout(batch, &rollout, NULL, NULL);
    double* errors = malloc((size_t)tossCount * 2 * sizeof(double));
    for (int p = 0; p < pointCount; ++p) {
        for (int i = 0; i < tossCount; ++i) {
            size_t world = (size_t)(p * tossCount + i);
            rgErrors(&tosses[i], rollout.positions + world * (size_t)(samples - 1) * 7, errors + i,
                     errors + tossCount + i);
        }
        rgSummarize(&points[p], errors, errors + tossCount, tossCount);
    }
    free(errors);
    free(rollout.positions);
    rgDestroyBatch(batch);
}

// ---- the search

enum { rg_sideMu = 7, rg_sideE = 5, rg_rounds = 4 };

// A grid about the best point, half as wide in every round.
static rgPoint rgSearch(const rgModel* model, rgTasks tasks, const rgToss* tosses, int tossCount) {
    rgPoint best = {.mu = 0.2, .restitution = 0.3, .position = INFINITY};
    double widthMu = 0.15, widthE = 0.3;
    for (int round = 0; round < rg_rounds; ++round) {
        rgPoint points[rg_sideMu * rg_sideE];
        for (int i = 0; i < rg_sideMu * rg_sideE; ++i) {
            double a = 2.0 * (i / rg_sideE) / (rg_sideMu - 1) - 1;
            double b = 2.0 * (i % rg_sideE) / (rg_sideE - 1) - 1;
            points[i] = (rgPoint){.mu = fmax(best.mu + a * widthMu, 0),
                                  .restitution = fmax(best.restitution + b * widthE, 0)};
        }
        rgTry(model, tasks, tosses, tossCount, points, rg_sideMu * rg_sideE);
        for (int i = 0; i < rg_sideMu * rg_sideE; ++i) {
            best = points[i].position < best.position ? points[i] : best;
        }
        printf("round %d: mu %.4f, restitution %.4f: %.2f %% of the width\n", round + 1, best.mu,
               best.restitution, best.position);
        fflush(stdout);
        widthMu /= 2;
        widthE /= 2;
    }
    return best;
}

int rgBench_Toss(int argc, char** argv) {
    static rgToss all[rg_mostTosses], some[rg_mostTosses];
    int threads = argc > 2 ? atoi(argv[2]) : 1, every = argc > 3 ? atoi(argv[3]) : 4;
    int count = 0, few = 0;
    for (int i = 0; argc > 1 && i < rg_mostTosses; ++i) {
        count += rgReadToss(argv[1], i, &all[count]);
    }
    if (count == 0 || threads < 1 || threads > 256 || every < 1) {
        fprintf(stderr, "usage: rigor bench toss FOLDER [THREADS [EVERY]]\n");
        return 2;
    }
    for (int i = 0; i < count; i += every) {
        some[few++] = all[i];
    }
    rgModel* model = rgCubeModel();
    rgThreadPool* pool = NULL;
    rgCreateThreadPool(threads, NULL, &pool);
    rgTasks tasks = rgThreadPool_Tasks(pool);
    printf("%d tosses, %d for the search\n", count, few);
    rgPoint best = rgSearch(model, tasks, some, few);
    rgPoint judged[2] = {{.mu = 0.18, .restitution = 0.125},
                         {.mu = best.mu, .restitution = best.restitution}};
    rgTry(model, tasks, all, count, judged, 2);
    for (int i = 0; i < 2; ++i) {
        printf("%s mu %.4f, restitution %.4f: position %.2f %% (median %.2f), rotation %.2f deg "
               "(median %.2f)\n",
               i == 0 ? "published:" : "found:    ", judged[i].mu, judged[i].restitution,
               judged[i].position, judged[i].medianPosition, judged[i].rotation,
               judged[i].medianRotation);
    }
    for (int i = 0; i < count; ++i) {
        free(all[i].rows);
    }
    rgDestroyThreadPool(pool);
    rgDestroyModel(model);
    return 0;
}
