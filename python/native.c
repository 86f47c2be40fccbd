// Part of rigor._native; see native.h.
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

rgResult rgPyCheckVersion(void) {
    return rgCheckVersion(RG_VERSION);
}

struct rgPyModel {
    rgModel* model;
    atomic_int owners;
};

struct rgPyDynamics {
    rgDynamics* dynamics;
    rgPyModel* model;
};

struct rgPyWorld {
    rgWorld* world;
    rgPyModel* model;
    const rgSceneInfo* scene;
    rgPyArrays arrays;
    size_t qBytes, vBytes, controlBytes;
    rgStepReport report;
    rgPyRefusal refusal;
    atomic_bool busy;
};

rgResult rgPyCreateModel(const rgModelDef* def, rgDiagnostics* diagnostics, rgPyModel** model) {
    rgPyModel* made = calloc(1, sizeof(rgPyModel));
    if (made == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgCompileModel(def, NULL, diagnostics, &made->model);
    if (result != rg_ok) {
        free(made);
        return result;
    }
    atomic_init(&made->owners, 1);
    *model = made;
    return rg_ok;
}

const rgModel* rgPyModel_Model(const rgPyModel* model) {
    return model->model;
}

void rgPyReleaseModel(rgPyModel* model) {
    if (model != NULL && atomic_fetch_sub(&model->owners, 1) == 1) {
        rgDestroyModel(model->model);
        free(model);
    }
}

static rgPyModel* rgPyKeepModel(rgPyModel* model) {
    atomic_fetch_add(&model->owners, 1);
    return model;
}

rgResult rgPyCreateDynamics(rgPyModel* model, const rgDynamicsDef* def, rgPyDynamics** dynamics) {
    rgPyDynamics* made = calloc(1, sizeof(rgPyDynamics));
    rgResult result =
        made != NULL ? rgCreateDynamics(model->model, def, &made->dynamics) : rg_errorMemory;
    if (result != rg_ok) {
        free(made);
        return result;
    }
    made->model = rgPyKeepModel(model);
    *dynamics = made;
    return rg_ok;
}

void rgPyReleaseDynamics(rgPyDynamics* dynamics) {
    if (dynamics != NULL) {
        rgDestroyDynamics(dynamics->dynamics);
        rgPyReleaseModel(dynamics->model);
        free(dynamics);
    }
}

rgDynamics* rgPyDynamics_Dynamics(rgPyDynamics* dynamics) {
    return dynamics->dynamics;
}

static bool rgPyDiffers(const double* array, const double* has, size_t bytes) {
    return bytes > 0 && memcmp(array, has, bytes) != 0;
}

static void rgPyCopy(double* array, const double* has, size_t bytes) {
    if (bytes > 0) {
        memcpy(array, has, bytes);
    }
}

static void rgPyPull(rgPyWorld* w) {
    rgPyCopy(w->arrays.q, rgWorld_Positions(w->world, NULL), w->qBytes);
    rgPyCopy(w->arrays.v, rgWorld_Velocities(w->world, NULL), w->vBytes);
    rgPyCopy(w->arrays.control, rgWorld_Control(w->world, NULL), w->controlBytes);
    rgPyCopy(w->arrays.force, rgWorld_Force(w->world, NULL), w->vBytes);
}

void rgPyWorld_Leave(rgPyWorld* world) {
    rgPyPull(world);
    atomic_store(&world->busy, false);
}

rgResult rgPyCreateWorld(rgPyModel* model, const rgWorldDef* def, const rgSceneInfo* scene,
                         rgPyArrays arrays, rgDiagnostics* diagnostics, rgPyWorld** world) {
    rgPyWorld* made = calloc(1, sizeof(rgPyWorld));
    if (made == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgCreateWorld(model->model, def, diagnostics, &made->world);
    if (result == rg_ok && scene != NULL) {
        result = rgScene_Start(scene, made->world);
    }
    if (result != rg_ok) {
        rgDestroyWorld(made->world);
        free(made);
        return result;
    }
    rgModelInfo info = rgModel_Info(model->model);
    made->qBytes = (size_t)info.qCount * sizeof(double);
    made->vBytes = (size_t)info.vCount * sizeof(double);
    made->controlBytes = (size_t)info.actuatorCount * sizeof(double);
    made->arrays = arrays;
    made->scene = scene;
    made->model = rgPyKeepModel(model);
    atomic_init(&made->busy, false);
    rgPyPull(made);
    *world = made;
    return rg_ok;
}

void rgPyReleaseWorld(rgPyWorld* world) {
    if (world != NULL) {
        rgDestroyWorld(world->world);
        rgPyReleaseModel(world->model);
        free(world);
    }
}

rgWorld* rgPyWorld_World(rgPyWorld* world) {
    return world->world;
}

const rgStepReport* rgPyWorld_Report(const rgPyWorld* world) {
    return &world->report;
}

bool rgPyWorld_Enter(rgPyWorld* world) {
    return !atomic_exchange(&world->busy, true);
}

static rgPyRefusal rgPyRefuse(rgPyArray array, const double* values, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(double); ++i) {
        if (!isfinite(values[i])) {
            return (rgPyRefusal){array, (int)i, values[i]};
        }
    }
    return (rgPyRefusal){array, -1, 0};
}

static rgResult rgPyPushState(rgPyWorld* w) {
    const rgPyArrays* a = &w->arrays;
    if (!rgPyDiffers(a->q, rgWorld_Positions(w->world, NULL), w->qBytes) &&
        !rgPyDiffers(a->v, rgWorld_Velocities(w->world, NULL), w->vBytes)) {
        return rg_ok;
    }
    rgResult result = rgWorld_SetState(w->world, a->q, a->v);
    if (result != rg_ok) {
        rgPyRefusal velocity = rgPyRefuse(rg_pyVelocities, a->v, w->vBytes);
        w->refusal = velocity.index >= 0 ? velocity : rgPyRefuse(rg_pyPositions, a->q, w->qBytes);
    }
    return result;
}

static rgResult rgPyPushControl(rgPyWorld* w) {
    double* array = w->arrays.control;
    rgResult result = rg_ok;
    if (rgPyDiffers(array, rgWorld_Control(w->world, NULL), w->controlBytes) &&
        (result = rgWorld_SetControl(w->world, array)) != rg_ok) {
        w->refusal = rgPyRefuse(rg_pyControl, array, w->controlBytes);
    }
    return result;
}

static rgResult rgPyPushForce(rgPyWorld* w) {
    double* array = w->arrays.force;
    rgResult result = rg_ok;
    if (rgPyDiffers(array, rgWorld_Force(w->world, NULL), w->vBytes) &&
        (result = rgWorld_SetForce(w->world, array)) != rg_ok) {
        w->refusal = rgPyRefuse(rg_pyForce, array, w->vBytes);
    }
    return result;
}

rgResult rgPyWorld_Push(rgPyWorld* world) {
    rgResult result = rgPyPushState(world);
    result = result == rg_ok ? rgPyPushControl(world) : result;
    return result == rg_ok ? rgPyPushForce(world) : result;
}

rgPyRefusal rgPyWorld_Refusal(const rgPyWorld* world) {
    return world->refusal;
}

rgResult rgPyWorld_Forward(rgPyWorld* world) {
    return rgWorld_Forward(world->world, &world->report);
}

int rgPyWorld_Step(rgPyWorld* w, int count) {
    if (!rgPyWorld_Enter(w)) {
        return RG_PY_BUSY;
    }
    int result = rgPyWorld_Push(w) == rg_ok ? rg_ok : RG_PY_REFUSED;
    for (int i = 0; i < count && result == rg_ok; ++i) {
        result = w->scene != NULL ? (int)rgScene_Act(w->scene, w->world) : rg_ok;
        result = result == rg_ok ? (int)rgWorld_Step(w->world, &w->report) : result;
    }
    rgPyWorld_Leave(w);
    return result;
}

// ---- batches

struct rgPyBatch {
    rgBatch* batch;
    rgPyModel* model;
    double* arrays[4]; // by rg_pyBatchArrays
    uint8_t* mask;
    atomic_bool busy;
};

static const rgBatchArray rg_pyBatchArrays[4] = {rg_batchPositions, rg_batchVelocities,
                                                 rg_batchControls, rg_batchForces};

static void rgPyPullBatch(rgPyBatch* b) {
    for (int k = 0; k < 4; ++k) {
        rgBatchView view = rgBatch_View(b->batch, rg_pyBatchArrays[k]);
        if (view.columnCount > 0) {
            size_t count = (size_t)view.rowCount * (size_t)view.columnCount;
            rgBatch_Read(b->batch, rg_pyBatchArrays[k], b->arrays[k], count);
        }
    }
}

rgResult rgPyCreateBatch(rgPyModel* model, const rgBatchDef* def, rgPyArrays arrays,
                         rgDiagnostics* diagnostics, rgPyBatch** batch) {
    rgPyBatch* made = calloc(1, sizeof(rgPyBatch));
    uint8_t* mask = calloc((size_t)def->worldCount + 1, 1);
    rgResult result = made != NULL && mask != NULL
                          ? rgCreateBatch(model->model, def, diagnostics, &made->batch)
                          : rg_errorMemory;
    if (result != rg_ok) {
        free(made);
        free(mask);
        return result;
    }
    made->model = rgPyKeepModel(model);
    made->mask = mask;
    double* all[4] = {arrays.q, arrays.v, arrays.control, arrays.force};
    memcpy(made->arrays, all, sizeof(all));
    atomic_init(&made->busy, false);
    rgPyPullBatch(made);
    *batch = made;
    return rg_ok;
}

void rgPyReleaseBatch(rgPyBatch* batch) {
    if (batch != NULL) {
        rgDestroyBatch(batch->batch);
        rgPyReleaseModel(batch->model);
        free(batch->mask);
        free(batch);
    }
}

rgBatch* rgPyBatch_Batch(rgPyBatch* batch) {
    return batch->batch;
}

bool rgPyBatch_Enter(rgPyBatch* batch) {
    return !atomic_exchange(&batch->busy, true);
}

void rgPyBatch_Leave(rgPyBatch* batch) {
    rgPyPullBatch(batch);
    atomic_store(&batch->busy, false);
}

static rgResult rgPyPushArray(rgPyBatch* b, int k) {
    rgBatchView view = rgBatch_View(b->batch, rg_pyBatchArrays[k]);
    size_t columns = (size_t)view.columnCount;
    bool any = false;
    for (int i = 0; i < view.rowCount; ++i) {
        b->mask[i] = rgPyDiffers(b->arrays[k] + (size_t)i * columns, view.data + i * view.stride,
                                 columns * sizeof(double));
        any = any || b->mask[i];
    }
    rgWorldMask mask = {b->mask, view.rowCount};
    return any ? rgBatch_Write(b->batch, rg_pyBatchArrays[k], b->arrays[k],
                               (size_t)view.rowCount * columns, &mask, NULL)
               : rg_ok;
}

rgResult rgPyBatch_Push(rgPyBatch* batch) {
    rgResult result = rg_ok;
    for (int k = 0; k < 4 && result == rg_ok; ++k) {
        result = rgPyPushArray(batch, k);
    }
    return result;
}
