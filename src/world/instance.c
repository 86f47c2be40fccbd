// Bind worlds one after the other to the workspace of one; a batch has one on each thread.
#include "world/world.h"

#include <string.h>

static rgResult rgMemory_Copy(rgMemory* to, const rgMemory* from, const rgAllocator* allocator) {
    rgResult result = rgReserve(allocator, (void**)&to->pairs, &to->pairCapacity, 0,
                                from->pairCount, sizeof(rgPairMemory));
    if (result == rg_ok) {
        result = rgReserve(allocator, (void**)&to->contacts, &to->contactCapacity, 0,
                           from->contactCount, sizeof(rgContactMemory));
    }
    if (result != rg_ok) {
        return result;
    }
    if (from->pairCount > 0) {
        memcpy(to->pairs, from->pairs, (size_t)from->pairCount * sizeof(rgPairMemory));
    }
    if (from->contactCount > 0) {
        memcpy(to->contacts, from->contacts, (size_t)from->contactCount * sizeof(rgContactMemory));
    }
    to->pairCount = from->pairCount;
    to->contactCount = from->contactCount;
    return rg_ok;
}

// Reset the workspace as before a first step: no contacts, no forces, no acceleration.
static void rgWorld_ClearStep(rgWorld* world) {
    const rgModel* model = world->model;
    memcpy(world->kinematics.q, world->state.q, (size_t)model->qCount * sizeof(double));
    rgModel_StepVelocity(model, world->kinematics.q, world->state.v, world->kinematics.v);
    memcpy(world->next.v, world->kinematics.v, (size_t)model->vCount * sizeof(double));
    memcpy(world->next.endV, world->kinematics.v, (size_t)model->vCount * sizeof(double));
    rgKinematics_ClearHistory(&world->kinematics, &world->state);
    memset(world->transmission.actuatorForce, 0,
           (size_t)model->info.actuatorCount * sizeof(double));
    world->free.hasWrench = false;
    rgContactSet_Clear(&world->contacts);
    rgConstraintSet_Clear(&world->constraints);
    rgReadout_Invalidate(world->readout);
    world->readout->evaluated = false;
}

rgResult rgWorld_Bind(rgWorld* world, const rgInstance* instance) {
    rgResult result =
        rgMemory_Copy(&world->warmStart.memories[0], &instance->memory, &world->heap.allocator);
    if (result == rg_ok) {
        result = rgWorld_ReadChanges(world, instance->changed, (const char*)instance->changes);
    }
    if (result != rg_ok) {
        return result;
    }
    rgViewState(&world->sleep, &world->warmStart, world->model, world->state.historyCount,
                instance->block, &world->state);
    world->monitor = instance->monitor;
    world->free.stateHasWrench = instance->wrenched;
    rgWorld_ClearStep(world);
    return rg_ok;
}

static rgResult rgWorld_CopyChanges(const rgWorld* world, rgInstance* instance,
                                    const rgAllocator* allocator) {
    int count = (int)rgVariant_ChangeCount(&world->variant, world->variant.changed);
    rgResult result = rgReserve(allocator, (void**)&instance->changes, &instance->changeCapacity, 0,
                                count, sizeof(double));
    if (result == rg_ok) {
        instance->changed = world->variant.changed;
        rgWorld_WriteChanges(world, (char*)instance->changes);
    }
    return result;
}

rgResult rgWorld_Unbind(rgWorld* world, rgInstance* instance, const rgAllocator* allocator) {
    instance->monitor = world->monitor;
    instance->wrenched = world->free.stateHasWrench;
    rgResult result = rgMemory_Copy(&instance->memory, &world->warmStart.memories[0], allocator);
    if (result != rg_ok) {
        return result;
    }
    return rgWorld_CopyChanges(world, instance, allocator);
}
