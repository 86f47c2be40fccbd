// A built-in robot, many times: start states and controls that differ from world to world.
#pragma once
#include "support.h"

#include "rigor/rigor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fleet {
    rgModelDef* def;
    rgModel* model;
    rgModelInfo info;
    rgThreadPool* pool;
    rgBatch* batch;
    int count;
} Fleet;

static inline Fleet FleetModel(const char* name) {
    Fleet fleet = {0};
    assert_int_equal(rgLoadModelDef(name, NULL, NULL, &fleet.def), rg_ok);
    assert_int_equal(rgCompileModel(fleet.def, NULL, NULL, &fleet.model), rg_ok);
    fleet.info = rgModel_Info(fleet.model);
    return fleet;
}

static inline rgKeyId FleetKey(const Fleet* fleet) {
    return (rgKeyId){fleet->info.keyCount > 0 ? 1 : 0};
}

static inline void FleetMake(Fleet* fleet, int count, int threads, rgBatchDef def) {
    fleet->count = def.worldCount = count;
    if (threads > 1) {
        assert_int_equal(rgCreateThreadPool(threads, NULL, &fleet->pool), rg_ok);
        def.tasks = rgThreadPool_Tasks(fleet->pool);
    }
    assert_int_equal(rgCreateBatch(fleet->model, &def, NULL, &fleet->batch), rg_ok);
}

static inline void FleetUnmake(Fleet* fleet) {
    rgDestroyBatch(fleet->batch);
    rgDestroyThreadPool(fleet->pool);
    fleet->batch = NULL;
    fleet->pool = NULL;
}

static inline void FleetEnd(Fleet* fleet) {
    FleetUnmake(fleet);
    rgDestroyModel(fleet->model);
    rgDestroyModelDef(fleet->def);
}

// Velocities of world i, and its control at a step.
static inline void FleetVelocity(const Fleet* fleet, int i, double* v) {
    for (int k = 0; k < fleet->info.vCount; ++k) {
        v[k] = 0.6 * (rgRandomUnit((uint64_t)i, (uint64_t)k) - 0.5);
    }
}

static inline void FleetControl(const Fleet* fleet, int i, int step, double* u) {
    for (int k = 0; k < fleet->info.actuatorCount; ++k) {
        u[k] = 0.3 * rgRandomNormal((uint64_t)(1000 + i), (uint64_t)(step / 5 * 64 + k));
    }
}

// N x T x actuators.
static inline double* FleetControls(const Fleet* fleet, int steps) {
    int size = fleet->info.actuatorCount;
    double* u = calloc((size_t)(fleet->count * steps * size) + 1, sizeof(double));
    for (int i = 0; i < fleet->count; ++i) {
        for (int s = 0; s < steps; ++s) {
            FleetControl(fleet, i, s, u + (i * steps + s) * size);
        }
    }
    return u;
}

static inline void FleetStart(Fleet* fleet) {
    assert_int_equal(rgBatch_Reset(fleet->batch, FleetKey(fleet), NULL), rg_ok);
    size_t count = (size_t)(fleet->count * fleet->info.vCount);
    double* v = malloc((count + 1) * sizeof(double));
    for (int i = 0; i < fleet->count; ++i) {
        FleetVelocity(fleet, i, v + i * fleet->info.vCount);
    }
    assert_int_equal(rgBatch_Write(fleet->batch, rg_batchVelocities, v, count, NULL, NULL), rg_ok);
    free(v);
}

// World i alone, for so many steps.
static inline rgWorld* FleetAlone(const Fleet* fleet, const rgWorldDef* def, int i, int steps) {
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(fleet->model, def, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_Reset(world, FleetKey(fleet)), rg_ok);
    double* q = malloc((size_t)fleet->info.qCount * sizeof(double));
    double v[64], u[64];
    assert_true(fleet->info.vCount <= 64 && fleet->info.actuatorCount <= 64);
    FleetVelocity(fleet, i, v);
    memcpy(q, rgWorld_Positions(world, NULL), (size_t)fleet->info.qCount * sizeof(double));
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    free(q);
    for (int s = 0; s < steps; ++s) {
        FleetControl(fleet, i, s, u);
        assert_int_equal(rgWorld_SetControl(world, u), rg_ok);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    return world;
}
