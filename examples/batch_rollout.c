// 64 quadrupeds of one model, each with random motor torques, stepped together on two threads.
// Should show: the same bits as one world alone, and who came furthest.
#include <rigor/rigor.h>
#include <stdio.h>
#include <stdlib.h>

enum { worlds = 64, steps = 200 };

int main(void) {
    rgModel* model = NULL;
    rgBatch* batch = NULL;
    rgWorld* alone = NULL;
    rgThreadPool* pool = NULL;
    if (rgLoadModel("quadruped", NULL, NULL, &model) != rg_ok ||
        rgCreateThreadPool(2, NULL, &pool) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &alone) != rg_ok) {
        return 1;
    }
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = worlds;
    def.tasks = rgThreadPool_Tasks(pool);
    if (rgCreateBatch(model, &def, NULL, &batch) != rg_ok) {
        return 1;
    }
    rgKeyId stand = rgModel_FindKey(model, "stand");
    size_t motors = (size_t)rgModel_Info(model).actuatorCount;
    double* torques = malloc(worlds * steps * motors * sizeof(double));
    for (size_t i = 0; i < worlds * steps * motors; ++i) {
        torques[i] = 3 * rgRandomNormal(1, i / (20 * motors) * motors + i % motors);
    }
    rgRolloutDef rollout = rgDefaultRolloutDef();
    rollout.stepCount = steps;
    rollout.controls = torques;
    rollout.controlCount = worlds * steps * motors;
    rgBatch_Reset(batch, stand, NULL);
    if (rgBatch_Rollout(batch, &rollout, NULL, NULL) != rg_ok) {
        return 1;
    }

    int best = 0;
    rgBatchView q = rgBatch_View(batch, rg_batchPositions);
    for (int i = 1; i < worlds; ++i) {
        best = q.data[i * q.stride] > q.data[best * q.stride] ? i : best;
    }
    rgWorld_Reset(alone, stand);
    for (size_t k = 0; k < steps; ++k) {
        rgWorld_SetControl(alone, torques + ((size_t)best * steps + k) * motors);
        rgWorld_Step(alone, NULL);
    }
    int same = rgWorld_Hash(alone) == rgBatch_Hash(batch, best);
    printf("world %d came furthest, %.3f m; alone it gives %s bits\n", best,
           q.data[best * q.stride], same ? "the same" : "other");
    free(torques);
    rgDestroyBatch(batch);
    rgDestroyWorld(alone);
    rgDestroyThreadPool(pool);
    rgDestroyModel(model);
    return same ? 0 : 1;
}
