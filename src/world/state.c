// State: set, reset, save, restore, hash; controls, forces and sleep.
#include "world/world.h"

#include <limits.h>
#include <string.h>

bool rgNumbersAreFinite(const double* x, int count) {
    for (int i = 0; i < count; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// First entry of the quaternion of a link; -1 when it has none.
static int rgQuatIndex(const rgLink* link) {
    return link->kind == rg_linkSpherical ? link->q : link->kind == rg_linkFree ? link->q + 3 : -1;
}

static double rgNorm4(const double* q) {
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

// Clear the predictor of a tree that was set.
static void rgState_ClearPredictor(rgState* state, const rgModel* model, int index) {
    const rgTree* tree = &model->trees[index];
    size_t bytes = (size_t)tree->dofCount * sizeof(double);
    memset(state->change + tree->firstDof, 0, bytes);
    memset(state->predictor + tree->firstDof, 0, bytes);
    state->isSet[index] = 1;
    state->solved[index] = 0;
}

static bool rgQuatsAreUsable(const rgModel* model, const double* q) {
    for (int i = 1; i < model->linkCount; ++i) {
        int at = rgQuatIndex(&model->links[i]);
        double norm = at >= 0 ? rgNorm4(q + at) : 1;
        if (!(norm > 1e-9 && norm < 1e9)) {
            return false;
        }
    }
    return true;
}

static void rgNormalizeQuats(const rgModel* model, double* q) {
    for (int i = 1; i < model->linkCount; ++i) {
        int at = rgQuatIndex(&model->links[i]);
        double norm = at >= 0 ? rgNorm4(q + at) : 1;
        // A quaternion of unit length up to rounding keeps its bits: a state that was read can be
        // set.
        for (int k = 0; fabs(norm - 1) > 1e-15 && k < 4; ++k) {
            q[at + k] /= norm;
        }
    }
}

// Set a tree; one that has these numbers already goes on as before.
static void rgState_SetTree(rgState* state, const rgModel* model, int index, const double* q,
                            const double* v) {
    const rgTree* tree = &model->trees[index];
    const rgLink *first = &model->links[tree->firstLink], *next = first + tree->linkCount;
    int qEnd = next < model->links + model->linkCount ? next->q : model->qCount;
    size_t qBytes = (size_t)(qEnd - first->q) * sizeof(double);
    size_t vBytes = (size_t)tree->dofCount * sizeof(double);
    double *oldQ = state->q + first->q, *oldV = state->v + tree->firstDof;
    q += first->q, v += tree->firstDof;
    if (memcmp(oldQ, q, qBytes) != 0 || memcmp(oldV, v, vBytes) != 0) {
        memcpy(oldQ, q, qBytes);
        memcpy(oldV, v, vBytes);
        rgState_ClearPredictor(state, model, index);
    }
}

rgResult rgWorld_SetState(rgWorld* world, const double* q, const double* v) {
    if (world == NULL) {
        return rg_errorArgument;
    }
    const rgModel* model = world->model;
    if ((q != NULL && (!rgNumbersAreFinite(q, model->qCount) || !rgQuatsAreUsable(model, q))) ||
        (v != NULL && !rgNumbersAreFinite(v, model->vCount))) {
        return rg_errorArgument;
    }
    // The arrays may be views of this very state.
    double *newQ = world->next.q, *newV = world->next.bodyV;
    memcpy(newQ, q != NULL ? q : model->neutral, (size_t)model->qCount * sizeof(double));
    rgNormalizeQuats(model, newQ);
    memset(newV, 0, (size_t)model->vCount * sizeof(double));
    if (v != NULL) {
        memcpy(newV, v, (size_t)model->vCount * sizeof(double));
    }
    for (int t = 0; t < model->treeCount; ++t) {
        rgState_SetTree(&world->state, model, t, newQ, newV);
    }
    rgWarmStart_ClearEnergyTanks(&world->warmStart);
    rgSleep_WakeAll(&world->sleep, &world->state, model);
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
    return rg_ok;
}

// ---- one body, in world axes

bool rgPoseIsUsable(rgPose pose) {
    const double numbers[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w,
                               pose.q.x, pose.q.y, pose.q.z};
    double norm = rgNorm4(numbers + 3);
    return rgNumbersAreFinite(numbers, 7) && norm > 1e-9 && norm < 1e9;
}

static bool rgSpatialIsFinite(rgSpatial s) {
    const double numbers[6] = {s.linear.x,  s.linear.y,  s.linear.z,
                               s.angular.x, s.angular.y, s.angular.z};
    return rgNumbersAreFinite(numbers, 6);
}

// Free or kinematic link that a body is fixed to, or the reason why there is none.
static rgResult rgWorld_FindFreeLink(const rgWorld* world, rgBodyId body, const rgLink** link) {
    if (world == NULL || rgModel_Body(world->model, body) == NULL) {
        return rg_errorArgument;
    }
    *link = &world->model->links[world->model->bodyPlaces[body.index1 - 1].link];
    bool settable = (*link)->kind == rg_linkFree || (*link)->kind == rg_linkKinematic;
    return settable ? rg_ok : rg_errorUnsupported;
}

// Velocity of the link's frame, which v holds, from that of a body fixed to it.
static void rgWorld_StoreFreeVelocity(rgWorld* world, rgBodyId body, const rgLink* link,
                                      rgSpatial velocity) {
    const double* q = world->state.q + link->q + 3;
    double* v = world->state.v + link->v;
    rgQuat rotation = {q[0], q[1], q[2], q[3]};
    rgVec3 arm = rgRotate(rotation, world->model->bodyPlaces[body.index1 - 1].pose.p);
    rgVec3 linear = rgSub(velocity.linear, rgCross(velocity.angular, arm));
    linear = rgRotateBack(rotation, linear);
    rgVec3 angular = rgRotateBack(rotation, velocity.angular);
    v[0] = linear.x, v[1] = linear.y, v[2] = linear.z;
    v[3] = angular.x, v[4] = angular.y, v[5] = angular.z;
    rgSleep_WakeDof(&world->sleep, &world->state, world->model, link->v);
    rgState_ClearPredictor(&world->state, world->model, link->tree);
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
}

rgResult rgWorld_SetBodyPose(rgWorld* world, rgBodyId body, rgPose pose) {
    const rgLink* link = NULL;
    rgResult result = rgWorld_FindFreeLink(world, body, &link);
    if (result == rg_ok && !rgPoseIsUsable(pose)) {
        result = rg_errorArgument;
    }
    if (result != rg_ok) {
        return result;
    }
    pose.q = rgQuatNormalize(pose.q);
    if (rgWorld_SetKinematicPose(world, body, pose)) {
        return rg_ok;
    }
    rgSpatial velocity = rgWorld_BodyVelocity(world, body);
    const rgPlace* place = &world->model->bodyPlaces[body.index1 - 1];
    rgPose at = place->isOrigin ? pose : rgPoseMultiply(pose, rgPoseInvert(place->pose));
    double* q = world->state.q + link->q;
    q[0] = at.p.x, q[1] = at.p.y, q[2] = at.p.z;
    q[3] = at.q.w, q[4] = at.q.x, q[5] = at.q.y, q[6] = at.q.z;
    rgWorld_StoreFreeVelocity(world, body, link, velocity);
    return rg_ok;
}

rgResult rgWorld_SetBodyVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity) {
    const rgLink* link = NULL;
    rgResult result = rgWorld_FindFreeLink(world, body, &link);
    if (result == rg_ok && !rgSpatialIsFinite(velocity)) {
        result = rg_errorArgument;
    }
    if (result == rg_ok && !rgWorld_SetKinematicVelocity(world, body, velocity)) {
        rgWorld_StoreFreeVelocity(world, body, link, velocity);
    }
    return result;
}

rgResult rgWorld_SetTime(rgWorld* world, double time) {
    if (world == NULL || !isfinite(time)) {
        return rg_errorArgument;
    }
    *world->state.time = time;
    return rg_ok;
}

// As if the controls had been what they are for ever.
static void rgState_ResetHistory(rgState* state, const rgModel* model) {
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        for (int k = 0; k < state->delays[a].count; ++k) {
            state->history[state->delays[a].first + k] = state->control[a];
        }
    }
}

rgResult rgWorld_Reset(rgWorld* world, rgKeyId key) {
    if (world == NULL || key.index1 < 0 || key.index1 > world->model->info.keyCount) {
        return rg_errorArgument;
    }
    const rgKeyDef* def = rgModel_Key(world->model, key);
    rgResult result =
        rgWorld_SetState(world, def != NULL ? def->q : NULL, def != NULL ? def->v : NULL);
    if (result != rg_ok) {
        return result;
    }
    const rgModelInfo* info = &world->model->info;
    memset(world->state.control, 0, (size_t)info->actuatorCount * sizeof(double));
    memset(world->state.activation, 0, (size_t)info->activationCount * sizeof(double));
    memset(world->state.force, 0, (size_t)info->vCount * sizeof(double));
    memset(world->state.asleep, 0, (size_t)info->treeCount * sizeof(double));
    memset(world->state.slowTime, 0, (size_t)world->sleep.treeCount * sizeof(double));
    if (def != NULL && def->control != NULL) {
        memcpy(world->state.control, def->control, (size_t)info->actuatorCount * sizeof(double));
    }
    rgState_ResetHistory(&world->state, world->model);
    if (def != NULL && def->activation != NULL) {
        memcpy(world->state.activation, def->activation,
               (size_t)info->activationCount * sizeof(double));
    }
    rgState_ResetKinematic(&world->state, world->model);
    rgWorld_ClearWrenches(world);
    rgWarmStart_ClearImpulses(&world->warmStart, &world->state);
    result = def == NULL ? rgWorld_SetStart(world, NULL) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        rgState_ClearPredictor(&world->state, world->model, t);
    }
    return rgWorld_SetTime(world, def != NULL ? def->time : 0);
}

double rgWorld_Time(const rgWorld* world) {
    return world != NULL ? *world->state.time : 0;
}

double rgWorld_TimeStep(const rgWorld* world) {
    return world != NULL ? world->settings.dt : 0;
}

static const double* rgView(const double* numbers, int size, int* count) {
    if (count != NULL) {
        *count = size;
    }
    return numbers;
}

const double* rgWorld_Positions(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    return rgView(world->state.q, world->model->qCount, count);
}

const double* rgWorld_Velocities(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    return rgView(world->state.v, world->model->vCount, count);
}

const double* rgWorld_Control(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    return rgView(world->state.control, world->model->info.actuatorCount, count);
}

const double* rgWorld_Activation(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    return rgView(world->state.activation, world->model->info.activationCount, count);
}

const double* rgWorld_Force(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    return rgView(world->state.force, world->model->vCount, count);
}

int rgWorld_UnconvergedSteps(const rgWorld* world) {
    return world != NULL ? world->monitor.unconvergedCount : 0;
}

int rgWorld_RegularizedSteps(const rgWorld* world) {
    return world != NULL ? world->monitor.regularizedCount : 0;
}

// ---- one block

#define RG_STATE_MAGIC 0x3774617473676972u // "rigstat7"

typedef struct rgStateHeader {
    uint64_t magic;
    uint64_t byteCount;
    int32_t blockCount, pairCount, contactCount, colliderCount;
    uint64_t changed; // bits of rgChangeKind
} rgStateHeader;

static rgStateHeader rgWorld_Header(const rgWorld* world) {
    const rgMemory* memory = &world->warmStart.memories[0];
    size_t bytes = sizeof(rgStateHeader) + (size_t)world->state.blockCount * sizeof(double) +
                   (size_t)memory->pairCount * sizeof(rgPairMemory) +
                   (size_t)memory->contactCount * sizeof(rgContactMemory) +
                   rgVariant_ChangeCount(&world->variant, world->variant.changed) * sizeof(double);
    return (rgStateHeader){RG_STATE_MAGIC,          bytes,
                           world->state.blockCount, memory->pairCount,
                           memory->contactCount,    world->contacts.colliderCount,
                           world->variant.changed};
}

// Checksum of a saved state, by words: states are also saved and restored many times a second.
static uint64_t rgStateCheck(const char* bytes, size_t count) {
    uint64_t check = count, word;
    for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        check = (check ^ word) * 0x9e3779b97f4a7c15u;
        check ^= check >> 32;
    }
    return rgHashBytes(bytes, count, check);
}

void rgSealState(void* bytes, size_t byteCount) {
    uint64_t check = rgStateCheck(bytes, byteCount - sizeof(check));
    memcpy((char*)bytes + byteCount - sizeof(check), &check, sizeof(check));
}

size_t rgWorld_StateSize(const rgWorld* world) {
    return world != NULL ? (size_t)rgWorld_Header(world).byteCount + sizeof(uint64_t) : 0;
}

static char* rgPut(char* cursor, const void* bytes, size_t count) {
    if (count > 0) {
        memcpy(cursor, bytes, count);
    }
    return cursor + count;
}

rgResult rgWorld_Save(const rgWorld* world, void* bytes, size_t byteCount) {
    if (world == NULL || bytes == NULL || byteCount < rgWorld_StateSize(world)) {
        return rg_errorArgument;
    }
    rgStateHeader header = rgWorld_Header(world);
    const rgMemory* memory = &world->warmStart.memories[0];
    char* cursor = rgPut(bytes, &header, sizeof(header));
    cursor = rgPut(cursor, world->state.block, (size_t)header.blockCount * sizeof(double));
    cursor = rgPut(cursor, memory->pairs, (size_t)header.pairCount * sizeof(rgPairMemory));
    cursor = rgPut(cursor, memory->contacts, (size_t)header.contactCount * sizeof(rgContactMemory));
    rgWorld_WriteChanges(world, cursor);
    rgSealState(bytes, rgWorld_StateSize(world));
    return rg_ok;
}

static bool rgStateIsWhole(const char* bytes, const rgStateHeader* header) {
    uint64_t check;
    memcpy(&check, bytes + header->byteCount, sizeof(check));
    return check == rgStateCheck(bytes, (size_t)header->byteCount);
}

static bool rgHeaderFits(const rgContactSet* contacts, const rgState* state,
                         const rgVariant* variant, const rgStateHeader* header, size_t byteCount) {
    if (header->magic != RG_STATE_MAGIC || header->blockCount != state->blockCount ||
        header->colliderCount != contacts->colliderCount || header->pairCount < 0 ||
        header->contactCount < 0 || header->changed >= 1u << rg_changeKindCount) {
        return false;
    }
    uint64_t bytes = sizeof(rgStateHeader) + (uint64_t)header->blockCount * sizeof(double) +
                     (uint64_t)header->pairCount * sizeof(rgPairMemory) +
                     (uint64_t)header->contactCount * sizeof(rgContactMemory) +
                     rgVariant_ChangeCount(variant, (unsigned)header->changed) * sizeof(double);
    return header->byteCount == bytes && bytes + sizeof(uint64_t) <= byteCount;
}

// Ranges of contacts must lie within, and energies be numbers, whatever the bytes say.
static bool rgPairsFit(const rgStateHeader* header, const char* bytes) {
    for (int i = 0; i < header->pairCount; ++i) {
        rgPairMemory pair;
        memcpy(&pair, bytes + (size_t)i * sizeof(pair), sizeof(pair));
        bool within = pair.firstContact >= 0 && pair.contactCount >= 0 &&
                      pair.firstContact <= header->contactCount - pair.contactCount;
        if (!within || !isfinite(pair.energyTank)) {
            return false;
        }
    }
    return true;
}

static bool rgContactsAreUsable(const rgStateHeader* header, const char* bytes) {
    for (int i = 0; i < header->contactCount; ++i) {
        rgContactMemory contact;
        memcpy(&contact, bytes + (size_t)i * sizeof(contact), sizeof(contact));
        const rgVec3 s = contact.anchor, n = contact.normal;
        if (!rgNumbersAreFinite((const double[]){s.x, s.y, s.z, n.x, n.y, n.z, contact.projection},
                                7)) {
            return false;
        }
    }
    return true;
}

static bool rgBlockIsUsable(const rgState* state, const char* bytes) {
    for (int i = 0; i < state->blockCount; ++i) {
        double number;
        memcpy(&number, bytes + (size_t)i * sizeof(number), sizeof(number));
        if (!isfinite(number)) {
            return false;
        }
    }
    return true;
}

static bool rgAnyWrench(const rgState* state, const rgModel* model) {
    for (int i = 0; i < 6 * model->info.bodyCount; ++i) {
        if (state->wrench[i] != 0) {
            return true;
        }
    }
    return false;
}

static rgResult rgMemory_Reserve(rgWarmStart* warmStart, const rgAllocator* allocator,
                                 int pairCount, int contactCount) {
    rgMemory* memory = &warmStart->memories[0];
    rgResult result = rgReserve(allocator, (void**)&memory->pairs, &memory->pairCapacity,
                                memory->pairCount, pairCount, sizeof(rgPairMemory));
    if (result == rg_ok) {
        result = rgReserve(allocator, (void**)&memory->contacts, &memory->contactCapacity,
                           memory->contactCount, contactCount, sizeof(rgContactMemory));
    }
    return result;
}

rgResult rgWorld_Restore(rgWorld* world, const void* bytes, size_t byteCount) {
    rgStateHeader header;
    if (world == NULL || bytes == NULL || byteCount < sizeof(header)) {
        return rg_errorArgument;
    }
    memcpy(&header, bytes, sizeof(header));
    if (!rgHeaderFits(&world->contacts, &world->state, &world->variant, &header, byteCount)) {
        return rg_errorArgument;
    }
    if (!rgStateIsWhole(bytes, &header)) {
        return rg_errorFormat;
    }
    const char* block = (const char*)bytes + sizeof(header);
    const char* pairs = block + (size_t)header.blockCount * sizeof(double);
    const char* contacts = pairs + (size_t)header.pairCount * sizeof(rgPairMemory);
    const char* changes = contacts + (size_t)header.contactCount * sizeof(rgContactMemory);
    unsigned changed = (unsigned)header.changed;
    if (!rgBlockIsUsable(&world->state, block) || !rgPairsFit(&header, pairs) ||
        !rgContactsAreUsable(&header, contacts) ||
        !rgWorld_ChangesAreUsable(world, changed, changes)) {
        return rg_errorArgument;
    }
    rgResult result = rgMemory_Reserve(&world->warmStart, &world->heap.allocator, header.pairCount,
                                       header.contactCount);
    if (result == rg_ok) {
        result = rgWorld_ReadChanges(world, changed, changes);
    }
    if (result != rg_ok) {
        return result;
    }
    rgMemory* memory = &world->warmStart.memories[0];
    rgPut((char*)world->state.block, block, (size_t)header.blockCount * sizeof(double));
    rgPut((char*)memory->pairs, pairs, (size_t)header.pairCount * sizeof(rgPairMemory));
    rgPut((char*)memory->contacts, contacts, (size_t)header.contactCount * sizeof(rgContactMemory));
    memory->pairCount = header.pairCount;
    memory->contactCount = header.contactCount;
    world->free.stateHasWrench = rgAnyWrench(&world->state, world->model);
    world->readout->evaluated = false; // nothing is known of the step before
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
    return rg_ok;
}

uint64_t rgWorld_Hash(const rgWorld* world) {
    if (world == NULL) {
        return 0;
    }
    const rgMemory* memory = &world->warmStart.memories[0];
    rgStateHeader header = rgWorld_Header(world);
    uint64_t hash = rgHashBytes(&header, sizeof(header), 0);
    hash = rgHashBytes(world->state.block, (size_t)header.blockCount * sizeof(double), hash);
    hash = rgHashBytes(memory->pairs, (size_t)header.pairCount * sizeof(rgPairMemory), hash);
    hash =
        rgHashBytes(memory->contacts, (size_t)header.contactCount * sizeof(rgContactMemory), hash);
    return rgWorld_HashChanges(world, hash);
}

// ---- inputs

static bool rgMayBeSet(const double* values, int count) {
    return count == 0 || (values != NULL && rgNumbersAreFinite(values, count));
}

static void rgSleep_WakeActuator(rgSleep* sleep, rgState* state, const rgModel* model,
                                 int actuator) {
    for (int k = model->driveStart[actuator]; k < model->driveStart[actuator + 1]; ++k) {
        rgSleep_WakeDof(sleep, state, model, model->driveColumns[k]);
    }
}

rgResult rgWorld_SetControl(rgWorld* world, const double* control) {
    int count = world != NULL ? world->model->info.actuatorCount : 0;
    if (world == NULL || !rgMayBeSet(control, count)) {
        return rg_errorArgument;
    }
    for (int a = 0; a < count && world->sleep.treeCount > 0; ++a) {
        if (control[a] != world->state.control[a]) {
            rgSleep_WakeActuator(&world->sleep, &world->state, world->model, a);
        }
    }
    rgPut((char*)world->state.control, control, (size_t)count * sizeof(double));
    return rg_ok;
}

rgResult rgWorld_SetActuatorControl(rgWorld* world, rgActuatorId actuator, double control) {
    if (world == NULL || rgModel_Actuator(world->model, actuator) == NULL || !isfinite(control)) {
        return rg_errorArgument;
    }
    double* own = &world->state.control[actuator.index1 - 1];
    if (control != *own && world->sleep.treeCount > 0) {
        rgSleep_WakeActuator(&world->sleep, &world->state, world->model, actuator.index1 - 1);
    }
    *own = control;
    return rg_ok;
}

rgResult rgWorld_SetActivation(rgWorld* world, const double* activation) {
    int count = world != NULL ? world->model->info.activationCount : 0;
    if (world == NULL || !rgMayBeSet(activation, count)) {
        return rg_errorArgument;
    }
    for (int a = 0; a < count && world->sleep.treeCount > 0; ++a) {
        if (activation[a] != world->state.activation[a]) {
            rgSleep_WakeActuator(&world->sleep, &world->state, world->model, a);
        }
    }
    rgPut((char*)world->state.activation, activation, (size_t)count * sizeof(double));
    return rg_ok;
}

rgResult rgWorld_SetForce(rgWorld* world, const double* force) {
    int count = world != NULL ? world->model->vCount : 0;
    if (world == NULL || !rgMayBeSet(force, count)) {
        return rg_errorArgument;
    }
    for (int i = 0; i < count && world->sleep.treeCount > 0; ++i) {
        if (force[i] != world->state.force[i]) {
            rgSleep_WakeDof(&world->sleep, &world->state, world->model, i);
        }
    }
    rgPut((char*)world->state.force, force, (size_t)count * sizeof(double));
    return rg_ok;
}

rgResult rgWorld_ApplyWrench(rgWorld* world, rgBodyId body, rgVec3 force, rgVec3 torque) {
    double numbers[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    if (world == NULL || rgModel_Body(world->model, body) == NULL ||
        !rgNumbersAreFinite(numbers, 6)) {
        return rg_errorArgument;
    }
    double* wrench = world->state.wrench + 6 * (body.index1 - 1);
    for (int k = 0; k < 6; ++k) {
        wrench[k] += numbers[k];
    }
    world->free.stateHasWrench = true;
    rgSleep_WakeLink(&world->sleep, &world->state, world->model,
                     world->model->bodyPlaces[body.index1 - 1].link);
    return rg_ok;
}

void rgWorld_ClearWrenches(rgWorld* world) {
    if (world == NULL) {
        return;
    }
    for (int i = 0; i < 6 * world->model->info.bodyCount && world->sleep.treeCount > 0; ++i) {
        if (world->state.wrench[i] != 0) {
            rgSleep_WakeLink(&world->sleep, &world->state, world->model,
                             world->model->bodyPlaces[i / 6].link);
        }
    }
    memset(world->state.wrench, 0, (size_t)(6 * world->model->info.bodyCount) * sizeof(double));
    world->free.stateHasWrench = false;
}

rgResult rgWorld_ApplyForceAt(rgWorld* world, rgBodyId body, rgVec3 force, rgVec3 point) {
    if (world == NULL || rgModel_Body(world->model, body) == NULL) {
        return rg_errorArgument;
    }
    rgVec3 center = world->model->bodies[body.index1 - 1].inertia.center;
    center = rgPose_Point(rgWorld_BodyPose(world, body), center);
    return rgWorld_ApplyWrench(world, body, force, rgCross(rgSub(point, center), force));
}

rgResult rgWorld_EnableBody(rgWorld* world, rgBodyId body, bool enabled) {
    if (world == NULL || rgModel_Body(world->model, body) == NULL) {
        return rg_errorArgument;
    }
    const rgModel* model = world->model;
    int tree = model->links[model->bodyPlaces[body.index1 - 1].link].tree;
    if (tree < 0) {
        return rg_ok; // fixed to the world: always at rest
    }
    rgSleep_WakeLink(&world->sleep, &world->state, model, model->trees[tree].firstLink);
    world->state.asleep[tree] = !enabled;
    if (!enabled) {
        memset(world->state.v + model->trees[tree].firstDof, 0,
               (size_t)model->trees[tree].dofCount * sizeof(double));
    }
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
    return rg_ok;
}

static double* rgTakeNumbers(double** cursor, int count) {
    double* start = *cursor;
    *cursor += count;
    return start;
}

void rgViewState(const rgSleep* sleep, const rgWarmStart* warmStart, const rgModel* model,
                 int historyCount, double* block, rgState* state) {
    const rgModelInfo* info = &model->info;
    double* cursor = block;
    state->block = block;
    state->time = rgTakeNumbers(&cursor, 1);
    state->q = rgTakeNumbers(&cursor, info->qCount);
    state->v = rgTakeNumbers(&cursor, info->vCount);
    state->control = rgTakeNumbers(&cursor, info->actuatorCount);
    state->activation = rgTakeNumbers(&cursor, info->activationCount);
    state->force = rgTakeNumbers(&cursor, info->vCount);
    state->wrench = rgTakeNumbers(&cursor, 6 * info->bodyCount);
    state->asleep = rgTakeNumbers(&cursor, info->treeCount);
    state->kinematic = rgTakeNumbers(&cursor, RG_KINEMATIC_NUMBERS * model->kinematicCount);
    state->slowTime = rgTakeNumbers(&cursor, sleep->treeCount);
    state->isSet = rgTakeNumbers(&cursor, info->treeCount);
    state->change = rgTakeNumbers(&cursor, info->vCount);
    state->predictor = rgTakeNumbers(&cursor, info->vCount);
    state->solved = rgTakeNumbers(&cursor, info->treeCount);
    state->impulse = rgTakeNumbers(&cursor, warmStart->slots.count);
    state->history = rgTakeNumbers(&cursor, historyCount);
    state->historyCount = historyCount;
    state->blockCount = (int)(cursor - block);
}

// ---- delays of controls

// Plan where the history has the controls of each actuator. Returns their count; -1: too many.
static int rgState_PlanDelays(rgState* state, const rgModel* model, double dt) {
    double total = 0;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        // A multiple of the step stays one in spite of rounding.
        double steps = def->delay / dt, count = ceil(steps - 1e-6);
        double share = def->delayIsContinuous && count > 1 ? steps - (count - 1) : 1;
        state->delays[a] = (rgDelay){(int)fmin(total, INT_MAX), (int)fmin(count, INT_MAX),
                                     fmin(fmax(share, 0), 1)};
        total += count;
    }
    return total < RG_MOST_DELAYED_CONTROLS ? (int)total : -1;
}

double rgState_Control(const rgState* state, int actuator) {
    const rgDelay* delay = &state->delays[actuator];
    if (delay->count == 0) {
        return state->control[actuator];
    }
    const double* last = state->history + delay->first + delay->count - 1;
    return delay->share < 1 ? delay->share * last[0] + (1 - delay->share) * last[-1] : last[0];
}

void rgWorld_CommitControls(rgWorld* world) {
    rgState* state = &world->state;
    for (int a = 0; a < world->model->info.actuatorCount && state->historyCount > 0; ++a) {
        const rgDelay* delay = &state->delays[a];
        if (delay->count > 0) {
            double *first = state->history + delay->first, before = rgState_Control(state, a);
            memmove(first + 1, first, (size_t)(delay->count - 1) * sizeof(double));
            first[0] = state->control[a];
            if (rgState_Control(state, a) != before) {
                rgSleep_WakeActuator(&world->sleep, state, world->model, a);
            }
        }
    }
}

bool rgState_Create(rgWorld* world) {
    const rgModelInfo* info = &world->model->info;
    bool good = true;
    world->state.delays =
        rgHeap_Allocate(&world->heap, info->actuatorCount, sizeof(rgDelay), &good);
    int history = good ? rgState_PlanDelays(&world->state, world->model, world->settings.dt) : -1;
    if (history < 0) {
        return false;
    }
    int count = 1 + info->qCount + 4 * info->vCount + info->actuatorCount + info->activationCount +
                6 * info->bodyCount + 3 * info->treeCount +
                RG_KINEMATIC_NUMBERS * world->model->kinematicCount + world->sleep.treeCount +
                world->warmStart.slots.count + history;
    double* block = rgHeap_Allocate(&world->heap, count, sizeof(double), &good);
    if (!good) {
        return false;
    }
    rgViewState(&world->sleep, &world->warmStart, world->model, history, block, &world->state);
    RG_ASSERT(world->state.blockCount == count);
    memcpy(world->state.q, world->model->neutral, (size_t)info->qCount * sizeof(double));
    for (int t = 0; t < info->treeCount; ++t) {
        world->state.isSet[t] = 1;
    }
    rgState_ResetKinematic(&world->state, world->model);
    return true;
}
