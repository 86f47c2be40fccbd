// A world is made of a model: geometries, broadphase, plans for actuators and rows, and one block
// of state.
#include "world/world.h"

#include <string.h>

#define RG_COOKIE_WORLD 0x77726c64u

rgWorldDef rgDefaultWorldDef(void) {
    rgWorldDef def = {.contact = rgDefaultContactSolverDef(),
                      .friction = NAN,
                      .restitution = NAN,
                      .pushOutSpeed = 1,
                      .sleepSpeed = 1e-3,
                      .margin = 4e-3,
                      .maxContactsPerPair = 4,
                      .judgeInterval = 16,
                      .cookie = RG_COOKIE_WORLD};
    return def;
}

// ---- memory

#define RG_METER_HEADER ((size_t)RG_ALIGNMENT)

static void* rgMeter_Allocate(size_t bytes, size_t alignment, void* context) {
    rgMeter* meter = context;
    char* memory = meter->inner.allocate(bytes + RG_METER_HEADER, alignment, meter->inner.context);
    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory, &bytes, sizeof(bytes));
    atomic_fetch_add(&meter->bytes, bytes + RG_METER_HEADER);
    return memory + RG_METER_HEADER;
}

static void rgMeter_Release(void* memory, void* context) {
    rgMeter* meter = context;
    if (memory == NULL) {
        return;
    }
    size_t bytes;
    char* start = (char*)memory - RG_METER_HEADER;
    memcpy(&bytes, start, sizeof(bytes));
    atomic_fetch_sub(&meter->bytes, bytes + RG_METER_HEADER);
    meter->inner.release(start, meter->inner.context);
}

size_t rgWorld_MemoryUse(const rgWorld* world) {
    return world != NULL ? atomic_load(&world->meter.bytes) + sizeof(rgWorld) : 0;
}

// ---- checks

static bool rgRefuse(rgDiagnostics* diagnostics, const char* what, double value) {
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "world: %s is %g", what, value);
    return false;
}

_Static_assert(rg_stageCount <= RG_STAGE_CAPACITY, "reports have room for every stage");

bool rgCheckWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics) {
    struct {
        const char* name;
        double value, least;
    } numbers[] = {{"the time step", def->timeStep, 0},
                   {"the stiffness", def->stiffness, 0},
                   {"the damping", def->damping, 0},
                   {"the dissipation", def->dissipation, 0},
                   {"the tangential stiffness", def->tangentialStiffness, 0},
                   {"the tangential damping", def->tangentialDamping, 0},
                   {"the push-out speed", def->pushOutSpeed, 0},
                   {"the restitution threshold", def->restitutionThreshold, 0},
                   {"the margin", def->margin, 0},
                   {"the sleep time", def->sleepTime, 0},
                   {"the sleep speed", def->sleepSpeed, 0},
                   {"the friction", isnan(def->friction) ? 0 : def->friction, 0},
                   {"the restitution", isnan(def->restitution) ? 0 : def->restitution, 0},
                   {"gravity", def->gravity.x + def->gravity.y + def->gravity.z, -HUGE_VAL}};
    bool good = true;
    for (int i = 0; i < RG_COUNT(numbers); ++i) {
        if (!isfinite(numbers[i].value) || numbers[i].value < numbers[i].least) {
            good = rgRefuse(diagnostics, numbers[i].name, numbers[i].value);
        }
    }
    if (def->judgeInterval < 1) {
        good = rgRefuse(diagnostics, "the judge's interval", def->judgeInterval);
    }
    if (def->restitution > 1) {
        good = rgRefuse(diagnostics, "the restitution", def->restitution);
    }
    if ((int)def->frictionRule < rg_frictionUnset || def->frictionRule > rg_frictionMaximum) {
        good = rgRefuse(diagnostics, "the friction rule", def->frictionRule);
    }
    if (def->maxContactsPerPair < 1 || def->maxContactsPerPair > RG_MANIFOLD_CAPACITY) {
        good = rgRefuse(diagnostics, "the number of contacts of a pair", def->maxContactsPerPair);
    }
    return good;
}

static void rgWarnWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics) {
    const struct {
        bool vain;
        const char* what;
    } cases[] = {
        {def->restitution > 0 && def->stiffness > 0,
         "the restitution has no effect with a stiffness"},
        {def->damping > 0 && def->stiffness == 0, "the damping has no effect without a stiffness"},
        {def->dissipation > 0 && def->stiffness == 0,
         "the dissipation has no effect without a stiffness"},
        {def->tangentialDamping > 0 && def->tangentialStiffness == 0,
         "the tangential damping has no effect without a tangential stiffness"},
        {def->frictionRule != rg_frictionUnset && def->friction >= 0,
         "the friction rule has no effect with one friction for all pairs"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        if (cases[i].vain) {
            rgDiagnostics_Add(diagnostics, rg_severityWarning, NULL, 0, "world: %s", cases[i].what);
        }
    }
}

// ---- state

static double* rgTakeNumbers(double** cursor, int count) {
    double* start = *cursor;
    *cursor += count;
    return start;
}

void rgWorld_ViewState(const rgWorld* world, double* block, rgState* state) {
    const rgModelInfo* info = &world->model->info;
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
    state->kinematic = rgTakeNumbers(&cursor, RG_GUIDE_NUMBERS * world->model->kinematicCount);
    state->rest = rgTakeNumbers(&cursor, world->sleepCount);
    state->isSet = rgTakeNumbers(&cursor, info->treeCount);
    state->change = rgTakeNumbers(&cursor, info->vCount);
    state->trend = rgTakeNumbers(&cursor, info->vCount);
    state->fresh = rgTakeNumbers(&cursor, info->treeCount);
    state->impulse = rgTakeNumbers(&cursor, world->slots.count);
    state->blockCount = (int)(cursor - block);
}

static bool rgWorld_CreateState(rgWorld* world) {
    const rgModelInfo* info = &world->model->info;
    int count = 1 + info->qCount + 4 * info->vCount + info->actuatorCount + info->activationCount +
                6 * info->bodyCount + 3 * info->treeCount +
                RG_GUIDE_NUMBERS * world->model->kinematicCount + world->sleepCount +
                world->slots.count;
    double* block = rgAllocate(&world->allocator, (size_t)count, sizeof(double));
    if (block == NULL) {
        return false;
    }
    rgWorld_ViewState(world, block, &world->state);
    RG_ASSERT(world->state.blockCount == count);
    memcpy(world->state.q, world->model->neutral, (size_t)info->qCount * sizeof(double));
    for (int t = 0; t < info->treeCount; ++t) {
        world->state.isSet[t] = 1;
    }
    rgWorld_ResetKinematic(world);
    return true;
}

static rgSlots rgPlanSlots(const rgModel* model) {
    rgSlots slots = {.limit = 0};
    slots.friction = slots.limit + 2 * model->info.jointCount;
    slots.tendon = slots.friction + model->vCount;
    slots.equality = slots.tendon + RG_TENDON_ROWS * model->info.tendonCount;
    slots.actuator = slots.equality + 6 * model->info.equalityCount;
    slots.count = slots.actuator + model->info.actuatorCount;
    return slots;
}

// ---- plans

// What it acts on has a position to hold.
static bool rgHasPosition(const rgModel* model, const rgActuatorDef* def) {
    if (def->joint.index1 > 0) {
        return model->joints[def->joint.index1 - 1].kind != rg_jointFree;
    }
    return def->frame.index1 == 0 || def->reference.index1 > 0 || def->slider.index1 > 0;
}

static rgDrive rgPlanDrive(const rgModel* model, const rgActuatorDef* def) {
    rgDrive drive = {.lower = def->hasForceRange ? def->forceLower : -INFINITY,
                     .upper = def->hasForceRange ? def->forceUpper : INFINITY,
                     .holds = rgHasPosition(model, def),
                     .stiffness = rgHasPosition(model, def) ? def->kp : 0,
                     .damping = def->kd,
                     .varies = def->isMuscle || def->gainPosition != 0 || def->gainVelocity != 0 ||
                               def->kp < 0 || def->kd < 0};
    bool scalar = false;
    if (def->joint.index1 > 0) {
        const rgJointDef* joint = &model->joints[def->joint.index1 - 1];
        scalar = model->jointRanges[def->joint.index1 - 1].vCount == 1 && def->gear[0] != 0;
        if (scalar && joint->effortLimit > 0) {
            double bound = joint->effortLimit / fabs(def->gear[0]);
            drive.lower = fmax(drive.lower, -bound);
            drive.upper = fmin(drive.upper, bound);
        }
    }
    bool limited = isfinite(drive.lower) || isfinite(drive.upper);
    drive.mode = drive.stiffness == 0 && drive.damping == 0 ? rg_driveForce
                 : scalar && !limited && !drive.varies      ? rg_driveJoint
                                                            : rg_driveRow;
    return drive;
}

static bool rgIsFreeBody(const rgModel* model, const rgTree* tree) {
    const rgLink* link = &model->links[tree->firstLink];
    bool alone = tree->linkCount == 1 && link->kind == rg_linkFree && !rgWorld_HasFluid(model);
    for (int k = 0; alone && k < tree->dofCount; ++k) {
        const rgDof* dof = &model->dofs[tree->firstDof + k];
        alone = dof->armature == 0 && dof->damping == 0;
    }
    return alone;
}

// What of (1) belongs to a degree of freedom: how stiff it is says how implicit the step is there.
static void rgWorld_PlanPulls(rgWorld* world) {
    const rgModel* model = world->model;
    for (int i = 0; i < model->vCount; ++i) {
        world->dofDamping[i] = model->dofs[i].damping;
        world->dofStiffness[i] = 0;
    }
    for (int j = 0; j < model->info.jointCount; ++j) {
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; k < range->v + range->vCount; ++k) {
            world->dofStiffness[k] += model->joints[j].stiffness;
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgDrive* drive = &world->drives[a];
        const rgActuatorDef* def = &model->actuators[a];
        if (drive->mode == rg_driveJoint) {
            int dof = model->jointRanges[def->joint.index1 - 1].v;
            world->dofStiffness[dof] += def->gear[0] * def->gear[0] * drive->stiffness;
            world->dofDamping[dof] += def->gear[0] * def->gear[0] * drive->damping;
        }
    }
}

static void rgWorld_MarkLoop(rgWorld* world, const rgEqualityDef* def) {
    const rgModel* model = world->model;
    const int bodies[2] = {def->bodyA.index1, def->bodyB.index1};
    for (int i = 0; i < 2; ++i) {
        int link = bodies[i] > 0 ? model->bodyPlaces[bodies[i] - 1].link : 0;
        int tree = model->links[link].tree;
        if (tree >= 0 && !def->disabled && def->stiffness == 0) {
            world->isLooped[tree] = true;
        }
    }
}

// A spring that turns a body as it pulls bends its path as a loop does.
static void rgWorld_MarkTendon(rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    bool pulls =
        def->pointCount > 0 && (def->stiffness > 0 || def->damping > 0 || def->armature > 0);
    for (int k = model->tendonStart[tendon]; pulls && k < model->tendonStart[tendon + 1]; ++k) {
        world->isLooped[model->links[model->dofs[model->tendonColumns[k]].link].tree] = true;
    }
}

static void rgWorld_MarkDrive(rgWorld* world, int actuator) {
    const rgModel* model = world->model;
    const rgActuatorDef* def = &model->actuators[actuator];
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    bool way = joint >= 0    ? model->jointRanges[joint].vCount > 1
               : tendon >= 0 ? model->tendons[tendon].pointCount > 0
                             : true;
    const rgDrive* drive = &world->drives[actuator];
    bool pulls = drive->mode == rg_driveRow || (way && drive->varies);
    for (int k = model->driveStart[actuator]; pulls && k < model->driveStart[actuator + 1]; ++k) {
        world->isLooped[model->links[model->dofs[model->driveColumns[k]].link].tree] = true;
    }
}

void rgWorld_Plan(rgWorld* world) {
    const rgModel* model = world->model;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        world->drives[a] = rgPlanDrive(model, &model->actuators[a]);
    }
    for (int t = 0; t < model->treeCount; ++t) {
        world->isFreeBody[t] = rgIsFreeBody(model, &model->trees[t]);
        world->isLooped[t] = false;
    }
    world->compensates = false;
    for (int b = 0; b < model->info.bodyCount; ++b) {
        world->compensates = world->compensates || model->bodies[b].gravityCompensation != 0;
    }
    world->belts = false;
    for (int s = 0; s < model->info.shapeCount; ++s) {
        rgVec3 belt = model->shapes[s].surfaceVelocity;
        world->belts = world->belts || belt.x != 0 || belt.y != 0 || belt.z != 0;
    }
    world->rigidEqualityCount = 0;
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        world->rigidEqualityCount += !def->disabled && def->stiffness == 0;
        rgWorld_MarkLoop(world, def);
    }
    rgWorld_PlaceLoops(world);
    for (int t = 0; t < model->info.tendonCount; ++t) {
        rgWorld_MarkTendon(world, t);
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        rgWorld_MarkDrive(world, a);
    }
    rgWorld_PlanPulls(world);
    rgWorld_PlanFluid(world);
}

static bool rgBodyMoves(const rgModel* model, int index1) {
    return index1 > 0 && model->links[model->bodyPlaces[index1 - 1].link].tree >= 0;
}

// Equalities between things that do not move, or only as they are told, say nothing.
static void rgWorld_WarnEqualities(const rgWorld* world, rgDiagnostics* diagnostics) {
    const rgModel* model = world->model;
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        bool loop = def->kind == rg_equalityConnect || def->kind == rg_equalityWeld;
        int a = def->bodyA.index1, b = def->bodyB.index1;
        if (loop && !def->disabled && !rgBodyMoves(model, a) && !rgBodyMoves(model, b)) {
            rgDiagnostics_Add(diagnostics, rg_severityWarning, def->source.file, def->source.line,
                              "equality '%s': neither side moves; it takes no part",
                              def->name != NULL ? def->name : "");
        }
    }
}

// Pattern of M, both triangles, from the compact rows.
static bool rgWorld_PlanMass(rgWorld* world) {
    const rgModel* model = world->model;
    int nv = model->vCount, entries = 2 * model->massCount - nv;
    world->massStart = rgAllocate(&world->allocator, (size_t)nv + 1, sizeof(int));
    world->massColumn = rgAllocate(&world->allocator, (size_t)entries, sizeof(int));
    world->massSource = rgAllocate(&world->allocator, (size_t)entries, sizeof(int));
    world->massValue = rgAllocate(&world->allocator, (size_t)entries, sizeof(double));
    int* fill = rgAllocate(&world->allocator, (size_t)nv, sizeof(int));
    world->treeOfDof = rgAllocate(&world->allocator, (size_t)nv, sizeof(int));
    world->islands = rgAllocate(&world->allocator, (size_t)model->info.treeCount, sizeof(rgIsland));
    bool good = world->massStart != NULL && world->massColumn != NULL &&
                world->massSource != NULL && world->massValue != NULL && world->treeOfDof != NULL &&
                world->islands != NULL && fill != NULL;
    for (int i = 1; good && i < nv; ++i) {
        bool root = model->dofs[i].parent < 0;
        world->treeOfDof[i] = world->treeOfDof[i - 1] + (root ? 1 : 0);
    }
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        world->massStart[i + 1] += dof->depth;
        for (int k = 1; k < dof->depth; ++k) {
            world->massStart[model->massColumns[dof->rowStart + k] + 1] += 1;
        }
    }
    for (int i = 0; good && i < nv; ++i) {
        world->massStart[i + 1] += world->massStart[i];
        fill[i] = world->massStart[i];
    }
    // Row i: ancestors and itself ascending, then descendants as their turn comes.
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        for (int k = dof->depth - 1; k >= 0; --k) {
            int j = model->massColumns[dof->rowStart + k];
            world->massColumn[fill[i]] = j;
            world->massSource[fill[i]++] = dof->rowStart + k;
            if (k > 0) {
                world->massColumn[fill[j]] = i;
                world->massSource[fill[j]++] = dof->rowStart + k;
            }
        }
    }
    rgRelease(&world->allocator, fill);
    return good;
}

// ---- parts

static rgResult rgWorld_CreateGeometry(rgWorld* world, int shape, rgDiagnostics* diagnostics) {
    const rgShapeDef* def = &world->model->shapes[shape];
    rgGeometryDef geometry = rgDefaultGeometryDef();
    geometry.kind = def->kind;
    geometry.size = def->size;
    geometry.rounding = def->rounding;
    geometry.mesh = def->mesh;
    geometry.heightField = def->heightField;
    geometry.file = def->source.file;
    geometry.line = def->source.line;
    geometry.allocator = world->allocator;
    return rgCreateGeometry(&geometry, diagnostics, &world->geometries[shape]);
}

// A shape takes part unless it is for show only and named in no explicit pair.
static bool rgShapeCollides(const rgModel* model, int shape) {
    const rgShapeDef* def = &model->shapes[shape];
    bool listed = !def->visualOnly && (def->group != 0 || def->mask != 0);
    for (int p = 0; p < model->pairCount && !listed; ++p) {
        listed = (int)(model->pairs[p] >> 32) == shape || (int)(uint32_t)model->pairs[p] == shape;
    }
    return listed;
}

static rgResult rgWorld_AddCollider(rgWorld* world, int shape, rgDiagnostics* diagnostics) {
    const rgPlace* place = &world->model->shapePlaces[shape];
    rgCollider collider = {.geometry = world->geometries[shape],
                           .radius = rgGeometry_BoundingRadius(world->geometries[shape]),
                           .thin = 0.5 * rgGeometry_Width(world->geometries[shape]),
                           .shape = shape,
                           .link = place->link,
                           .body = place->body,
                           .plane = world->model->shapes[shape].kind == rg_shapePlane,
                           .pose = rgDynamics_PlacePose(world->dynamics, place)};
    int proxy;
    rgBox box;
    rgPlaceGeometry(collider.geometry, &collider.pose, 0, &collider.placement, &box);
    rgResult result = rgBroadphase_Add(world->broadphase, box, &proxy);
    if (result == rg_ok) {
        world->colliders[world->colliderCount++] = collider;
    }
    if (result == rg_errorArgument) {
        const rgShapeDef* def = &world->model->shapes[shape];
        rgDiagnostics_Add(diagnostics, rg_severityError, def->source.file, def->source.line,
                          "shape %d (%s) is so large or so far away that its box is not finite",
                          shape + 1, def->name != NULL ? def->name : "unnamed");
    }
    return result;
}

static rgResult rgWorld_CreateColliders(rgWorld* world, rgDiagnostics* diagnostics) {
    const rgModel* model = world->model;
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    def.allocator = world->allocator;
    def.kernels = world->def.contact.kernels;
    rgResult result = rgCreateBroadphase(&def, &world->broadphase);
    for (int s = 0; s < model->info.shapeCount && result == rg_ok; ++s) {
        if (!rgShapeCollides(model, s)) {
            continue;
        }
        result = rgWorld_CreateGeometry(world, s, diagnostics);
        result = result == rg_ok ? rgWorld_AddCollider(world, s, diagnostics) : result;
    }
    return result;
}

static void* rgWorld_Take(rgWorld* world, int count, size_t size, bool* good) {
    void* memory = rgAllocate(&world->allocator, (size_t)count, size);
    *good = *good && memory != NULL;
    return memory;
}

static bool rgWorld_CreateArrays(rgWorld* world) {
    const rgModelInfo* info = &world->model->info;
    int nv = info->vCount, nq = info->qCount, links = rgModel_AllLinks(world->model);
    bool good = true;
    world->geometryCount = info->shapeCount;
    world->geometries = rgWorld_Take(world, info->shapeCount, sizeof(rgGeometry*), &good);
    world->colliders = rgWorld_Take(world, info->shapeCount, sizeof(rgCollider), &good);
    world->colliderRest = rgWorld_Take(world, info->shapeCount, 1, &good);
    world->reach = rgWorld_Take(world, nv, sizeof(double), &good);
    world->linkReach = rgWorld_Take(world, links, sizeof(double), &good);
    world->sleeps = rgWorld_Take(world, info->treeCount, sizeof(double), &good);
    world->guides = rgWorld_Take(world, world->model->kinematicCount, sizeof(rgGuide), &good);
    world->drives = rgWorld_Take(world, info->actuatorCount, sizeof(rgDrive), &good);
    world->tendonNeutral = rgWorld_Take(world, info->tendonCount, sizeof(double), &good);
    world->isFreeBody = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->linkRotations = rgWorld_Take(world, links, sizeof(rgQuat), &good);
    world->linkVelocities = rgWorld_Take(world, links, sizeof(rgSpatial), &good);
    world->startQ = rgWorld_Take(world, nq, sizeof(double), &good);
    world->startV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->midV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->trend = rgWorld_Take(world, nv, sizeof(double), &good);
    world->parts = rgWorld_Take(world, info->treeCount, sizeof(int), &good);
    world->partV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->partForce = rgWorld_Take(world, nv, sizeof(double), &good);
    world->partTau = rgWorld_Take(world, nv, sizeof(double), &good);
    world->partAdded = rgWorld_Take(world, nv, sizeof(double), &good);
    world->isLooped = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->touches = rgWorld_Take(world, info->treeCount, sizeof(int), &good);
    world->rolls = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->springs = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->isFast = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->lands = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->projectedV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->excess = rgWorld_Take(world, links, sizeof(rgSpatial), &good);
    world->endRates = rgWorld_Take(world, links, sizeof(rgSpatial), &good);
    world->endV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->lead = rgWorld_Take(world, info->treeCount, sizeof(double), &good);
    world->isHeld = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->rest = rgWorld_Take(world, info->treeCount, sizeof(rgRest), &good);
    world->fresh = rgWorld_Take(world, info->treeCount, sizeof(bool), &good);
    world->dofStiffness = rgWorld_Take(world, nv, sizeof(double), &good);
    world->dofDamping = rgWorld_Take(world, nv, sizeof(double), &good);
    world->stepWrench = rgWorld_Take(world, 6 * info->bodyCount, sizeof(double), &good);
    world->tau = rgWorld_Take(world, nv, sizeof(double), &good);
    world->added = rgWorld_Take(world, nv, sizeof(double), &good);
    world->freeV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->nextV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->fluidBoxes = rgWorld_Take(world, info->bodyCount, sizeof(rgFluidBox), &good);
    world->fluidDamping = rgWorld_Take(world, nv, sizeof(double), &good);
    world->driveForce = rgWorld_Take(world, info->actuatorCount, sizeof(double), &good);
    world->nextQ = rgWorld_Take(world, nq, sizeof(double), &good);
    world->triedQ = rgWorld_Take(world, nq, sizeof(double), &good);
    world->isOpen = rgWorld_Take(world, info->equalityCount, sizeof(bool), &good);
    world->loopPlaces = rgWorld_Take(world, 2 * info->equalityCount, sizeof(rgPlace), &good);
    world->nextBodyV = rgWorld_Take(world, nv, sizeof(double), &good);
    world->nextImpulse = rgWorld_Take(world, world->slots.count, sizeof(double), &good);
    world->column = rgWorld_Take(world, nv, sizeof(double), &good);
    world->entryColumns = rgWorld_Take(world, nv, sizeof(int), &good);
    world->entryValues = rgWorld_Take(world, nv, sizeof(double), &good);
    world->length = rgWorld_Take(world, info->tendonCount, sizeof(double), &good);
    world->tendonDrift = rgWorld_Take(world, info->tendonCount, sizeof(double), &good);
    world->driveValues =
        rgWorld_Take(world, world->model->driveStart[info->actuatorCount], sizeof(double), &good);
    world->tendonValues =
        rgWorld_Take(world, world->model->tendonStart[info->tendonCount], sizeof(double), &good);
    return good;
}

static rgResult rgWorld_CreateEngines(rgWorld* world) {
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(world->model);
    dynamics.gravity = world->gravity;
    dynamics.coordinates = rg_velocityStep;
    dynamics.allocator = world->allocator;
    rgContactSolverDef contact = world->def.contact;
    contact.allocator = world->allocator;
    contact.disabled |= rg_planCertificate; // velocity problems of worlds have a solution
    if (contact.tasks.run == NULL) {
        contact.tasks = world->def.tasks;
    }
    world->kernels = rgSelectKernels(contact.kernels);
    rgResult result = rgCreateDynamics(world->model, &dynamics, &world->dynamics);
    return result == rg_ok ? rgCreateContactSolver(&contact, &world->solver) : result;
}

void rgWorld_SetConstants(rgWorld* world) {
    const rgWorldDef* def = &world->def;
    const rgModelOptions* options = &world->model->info.options;
    world->gravity = def->hasGravity       ? def->gravity
                     : options->hasGravity ? options->gravity
                                           : rgVec(0, 0, -9.81);
    world->dt = def->timeStep > 0       ? def->timeStep
                : options->timeStep > 0 ? options->timeStep
                                        : 1e-3;
    world->integrator = def->integrator != rg_integratorAny       ? def->integrator
                        : options->integrator != rg_integratorAny ? options->integrator
                                                                  : rg_integratorMidpoint;
    world->restitutionThreshold = def->restitutionThreshold > 0
                                      ? def->restitutionThreshold
                                      : fmax(0.05, 2 * rgLength(world->gravity) * world->dt);
    world->slots = rgPlanSlots(world->model);
    world->sleepCount = def->sleepTime > 0 ? world->model->treeCount : 0;
}

static void rgWorld_MeasureTendons(rgWorld* world) {
    rgDynamics_SetPositions(world->dynamics, world->model->neutral);
    for (int t = 0; t < world->model->info.tendonCount; ++t) {
        world->tendonNeutral[t] = rgDynamics_TendonRow(world->dynamics, t, NULL, NULL);
    }
}

static rgResult rgWorld_Build(rgWorld* world, rgDiagnostics* diagnostics) {
    rgWorld_SetConstants(world);
    rgResult result = rgWorld_CreateEngines(world);
    if (result != rg_ok) {
        return result;
    }
    if (!rgWorld_CreateState(world) || !rgWorld_CreateArrays(world) || !rgWorld_PlanMass(world)) {
        return rg_errorMemory;
    }
    memcpy(world->startQ, world->model->neutral, (size_t)world->model->qCount * sizeof(double));
    rgWorld_ForgetGuides(world);
    rgWorld_MeasureTendons(world);
    rgWorld_Plan(world);
    rgWorld_WarnEqualities(world, diagnostics);
    result = rgWorld_CreateColliders(world, diagnostics);
    rgWorld_SetReach(world);
    result = result == rg_ok ? rgProjection_Create(world) : result;
    return result == rg_ok ? rgReadout_Create(world) : result;
}

rgResult rgCreateWorld(const rgModel* model, const rgWorldDef* def, rgDiagnostics* diagnostics,
                       rgWorld** world) {
    rgWorldDef usual = rgDefaultWorldDef();
    def = def != NULL ? def : &usual;
    if (model == NULL || world == NULL || def->cookie != RG_COOKIE_WORLD ||
        !rgCheckWorldDef(def, diagnostics)) {
        return rg_errorArgument;
    }
    rgWarnWorldDef(def, diagnostics);
    rgAllocator allocator = rgResolveAllocator(&def->allocator);
    rgWorld* made = rgAllocate(&allocator, 1, sizeof(rgWorld));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->meter.inner = allocator;
    made->allocator = (rgAllocator){rgMeter_Allocate, rgMeter_Release, &made->meter};
    made->def = *def;
    made->firstDef = *def;
    made->model = made->shared = model;
    rgResult result = rgWorld_Build(made, diagnostics);
    if (result != rg_ok) {
        rgDestroyWorld(made);
        return result;
    }
    rgWatch_Create(made);
    result = rgWorld_SetStart(made, diagnostics);
    if (result != rg_ok) {
        rgDestroyWorld(made);
        return result;
    }
    *world = made;
    return rg_ok;
}

static void rgWorld_FreeArrays(rgWorld* world) {
    void* arrays[] = {
        world->stepWrench,  world->state.block,    world->geometries,  world->colliders,
        world->drives,      world->tendonNeutral,  world->isFreeBody,  world->linkRotations,
        world->startQ,      world->startV,         world->tau,         world->added,
        world->freeV,       world->nextV,          world->driveForce,  world->nextQ,
        world->nextBodyV,   world->nextImpulse,    world->column,      world->entryColumns,
        world->entryValues, world->length,         world->points,      world->manifolds,
        world->whitened,    world->treeOfDof,      world->massStart,   world->massColumn,
        world->massSource,  world->massValue,      world->islands,     world->reach,
        world->parts,       world->partV,          world->partForce,   world->partTau,
        world->partAdded,   world->midV,           world->trend,       world->isHeld,
        world->rest,        world->fresh,          world->isLooped,    world->touches,
        world->rolls,       world->springs,        world->lead,        world->dofStiffness,
        world->dofDamping,  world->linkReach,      world->guides,      world->sleeps,
        world->waiting,     world->linkVelocities, world->colliderRest};
    void* more[] = {world->tendonDrift,  world->tendonValues, world->driveValues, world->fluidBoxes,
                    world->fluidDamping, world->triedQ,       world->loopPlaces,  world->isOpen,
                    world->isFast,       world->lands,        world->projectedV,  world->excess,
                    world->endRates,     world->endV};
    for (int i = 0; i < RG_COUNT(more); ++i) {
        rgRelease(&world->allocator, more[i]);
    }
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&world->allocator, arrays[i]);
    }
    for (int i = 0; i < 2; ++i) {
        rgRelease(&world->allocator, world->memories[i].pairs);
        rgRelease(&world->allocator, world->memories[i].contacts);
    }
}

void rgDestroyWorld(rgWorld* world) {
    if (world == NULL) {
        return;
    }
    for (int s = 0; world->geometries != NULL && s < world->geometryCount; ++s) {
        rgDestroyGeometry(world->geometries[s]);
    }
    rgReadout_Destroy(world);
    rgInverse_Destroy(world);
    rgDestroyBroadphase(world->broadphase);
    rgDestroyDynamics(world->dynamics);
    rgDestroyContactSolver(world->solver);
    rgRows_Free(world, &world->rows);
    rgProjection_Destroy(world);
    rgWorld_FreeChanges(world);
    rgWorld_FreeArrays(world);
    rgAllocator inner = world->meter.inner;
    rgRelease(&inner, world);
}
