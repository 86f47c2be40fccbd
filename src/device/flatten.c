// A model as the device reads it, from a world of it; what the device does not have is named.
#include "device/worlds.h"

#include "collision/internal.h"

#include <string.h>

// ---- what is refused

typedef struct rgRefusal {
    rgDiagnostics* diagnostics;
    int count;
} rgRefusal;

static void rgRefuse(rgRefusal* refusal, rgSource source, const char* kind, const char* name,
                     const char* why) {
    rgDiagnostics_Add(refusal->diagnostics, rg_severityError, source.file, source.line,
                      "%s%s%s%s: %s, which worlds on a device do not have", kind,
                      name != NULL ? " '" : "", name != NULL ? name : "", name != NULL ? "'" : "",
                      why);
    refusal->count += 1;
}

static void rgRefuseDef(rgRefusal* refusal, const rgWorld* world) {
    const rgWorldDef* def = &world->def;
    const rgSource none = {0};
    bool other = def->contact.model != rg_modelNcp || def->contact.stop == rg_stopPaper;
    if (def->sleepTime > 0) {
        rgRefuse(refusal, none, "world", NULL, "sleep");
    }
    if (def->beforeStep != NULL || def->afterStep != NULL) {
        rgRefuse(refusal, none, "world", NULL, "calls before or after a step");
    }
    if (other) {
        rgRefuse(refusal, none, "world", NULL, "a contact law or stop other than the exact one");
    }
}

static void rgRefuseParts(rgRefusal* refusal, const rgWorld* world) {
    const rgModel* model = world->model;
    const rgSource none = {0};
    if (model->kinematicCount > 0) {
        rgRefuse(refusal, none, "model", NULL, "kinematic bodies");
    }
    if (rgWorld_HasFluid(model)) {
        rgRefuse(refusal, none, "model", NULL, "a fluid");
    }
    for (int b = 0; b < model->info.bodyCount; ++b) {
        if (model->bodies[b].gravityCompensation != 0) {
            rgRefuse(refusal, model->bodies[b].source, "body", model->bodies[b].name,
                     "gravity compensation");
        }
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        if (!model->equalities[e].disabled) {
            rgRefuse(refusal, model->equalities[e].source, "equality", model->equalities[e].name,
                     "loops and couplings");
        }
    }
    for (int t = 0; t < model->info.tendonCount; ++t) {
        const rgTendonDef* def = &model->tendons[t];
        if (def->hasLimits || def->damping != 0 || def->dryFriction != 0 || def->stiffness != 0 ||
            def->armature != 0) {
            rgRefuse(refusal, def->source, "tendon", def->name, "limits or forces of tendons");
        }
    }
    for (int s = 0; s < model->info.shapeCount; ++s) {
        if (rgShapeDef_HasBelt(&model->shapes[s])) {
            rgRefuse(refusal, model->shapes[s].source, "shape", model->shapes[s].name,
                     "a moving surface");
        }
    }
}

static void rgRefuseJoint(rgRefusal* refusal, const rgWorld* world, int index) {
    const rgJointDef* def = &world->model->joints[index];
    if (world->model->jointRanges[index].vCount < 2) {
        return;
    }
    if (def->stiffness > 0) {
        rgRefuse(refusal, def->source, "joint", def->name,
                 "a spring on several degrees of freedom");
    }
    if (def->hasLimits && !world->def.ignoreLimits) {
        rgRefuse(refusal, def->source, "joint", def->name, "a limit on several degrees of freedom");
    }
}

static bool rgRefuseActuator(rgRefusal* refusal, const rgWorld* world, int index) {
    const rgModel* model = world->model;
    const rgActuatorDef* def = &model->actuators[index];
    const char* why = NULL;
    if (def->joint.index1 == 0 || model->jointRanges[def->joint.index1 - 1].vCount != 1) {
        why = "an actuator that drives neither a hinge nor a slide";
    } else if (def->delay > 0) {
        why = "a delay";
    } else if (def->activation != rg_activationNone) {
        why = "an activation";
    } else if (world->transmission.actuators[index].varies) {
        why = "gains that vary";
    } else if (def->gear[0] == 0) {
        why = "a gear of zero";
    }
    if (why != NULL) {
        rgRefuse(refusal, def->source, "actuator", def->name, why);
    }
    return why != NULL;
}

static void rgRefuseMaterial(rgRefusal* refusal, const rgWorld* world, int a,
                             const rgMaterial* material) {
    const rgShapeDef* def = &world->model->shapes[world->contacts.colliders[a].shape];
    const char* why = material->stiffness > 0 || material->tangentialStiffness > 0
                          ? "compliant contacts"
                      : rgContactRowCount(material) > 3 ? "torsion or rolling friction"
                      : material->adhesion > 0          ? "adhesion"
                      : material->transitionSpeed > 0   ? "friction that depends on the impact"
                                                        : NULL;
    if (why != NULL) {
        rgRefuse(refusal, def->source, "shape", def->name, why);
    }
}

// ---- the block

typedef struct rgBlockPlan {
    char* memory; // NULL: only the size
    size_t size;
} rgBlockPlan;

static void* rgPlace_Take(rgBlockPlan* block, int count, size_t size) {
    size_t at = block->size;
    block->size += ((size_t)count * size + 63) / 64 * 64;
    return block->memory != NULL ? block->memory + at : NULL;
}

typedef struct rgPlanArrays {
    rgManyLink* links;
    rgManyDof* dofs;
    rgManyTree* trees;
    rgManyLimit* limits;
    rgManyDrive* drives;
    rgManyCollider* colliders;
    rgGeometry* geometries;
    rgManyPair* pairs;
    int* massColumns;
} rgPlanArrays;

static void rgTakeArrays(const rgManyModel* plan, rgBlockPlan* block, rgPlanArrays* arrays) {
    arrays->links = rgPlace_Take(block, plan->linkCount, sizeof(rgManyLink));
    arrays->dofs = rgPlace_Take(block, plan->vCount, sizeof(rgManyDof));
    arrays->trees = rgPlace_Take(block, plan->treeCount, sizeof(rgManyTree));
    arrays->limits = rgPlace_Take(block, plan->limitCount, sizeof(rgManyLimit));
    arrays->drives = rgPlace_Take(block, plan->driveCount, sizeof(rgManyDrive));
    arrays->colliders = rgPlace_Take(block, plan->colliderCount, sizeof(rgManyCollider));
    arrays->geometries = rgPlace_Take(block, plan->colliderCount, sizeof(rgGeometry));
    arrays->pairs = rgPlace_Take(block, plan->pairCount, sizeof(rgManyPair));
    arrays->massColumns = rgPlace_Take(block, plan->massCount, sizeof(int));
}

// ---- parts

static rgManyLink rgPlanLink(const rgLink* link) {
    return (rgManyLink){.rotation = link->rotation,
                        .origin = link->origin,
                        .center = link->center,
                        .moment = link->moment,
                        .mass = link->mass,
                        .sign = link->sign,
                        .parent = link->parent,
                        .q = link->q,
                        .v = link->v,
                        .vCount = link->vCount,
                        .tree = link->tree,
                        .kind = link->kind,
                        .axis = link->axis,
                        .unrotated = link->unrotated,
                        .massless = link->massless};
}

static rgManyDof rgPlanDof(const rgWorld* world, int index) {
    const rgModel* model = world->model;
    const rgDof* dof = &model->dofs[index];
    const rgJointDef* joint = &model->joints[dof->joint];
    bool scalar = model->jointRanges[dof->joint].vCount == 1;
    return (rgManyDof){.armature = dof->armature,
                       .damping = dof->damping,
                       .dryFriction = dof->dryFriction,
                       .effort = joint->effortLimit,
                       .spring = scalar ? joint->stiffness : 0,
                       .springReference = joint->springReference,
                       .allStiffness = world->free.dofStiffness[index],
                       .allDamping = world->free.dofDamping[index],
                       .leverArm = world->kinematics.leverArm[index],
                       .coupling = world->kinematics.coupling[index],
                       .link = dof->link,
                       .parent = dof->parent,
                       .rowStart = dof->rowStart,
                       .depth = dof->depth,
                       .tree = model->links[dof->link].tree,
                       .q = model->jointRanges[dof->joint].q,
                       .slot = -1};
}

static rgManyDrive rgPlanDrive(const rgWorld* world, int index) {
    const rgModel* model = world->model;
    const rgActuatorDef* def = &model->actuators[index];
    const rgActuator* servo = &world->transmission.actuators[index];
    const rgJointRange* range = &model->jointRanges[def->joint.index1 - 1];
    return (rgManyDrive){.gain = def->gain,
                         .bias = def->bias,
                         .controlLower = def->controlLower,
                         .controlUpper = def->controlUpper,
                         .lower = servo->lower,
                         .upper = servo->upper,
                         .stiffness = servo->stiffness,
                         .damping = servo->damping,
                         .gear = def->gear[0],
                         .mode = servo->mode == rg_actuatorForce   ? rg_manyForce
                                 : servo->mode == rg_actuatorJoint ? rg_manyJoint
                                                                   : rg_manyRow,
                         .q = range->q,
                         .v = range->v,
                         .slot = -1,
                         .hasControlRange = def->hasControlRange};
}

static rgManyCollider rgPlanCollider(const rgWorld* world, int index) {
    const rgCollider* from = &world->contacts.colliders[index];
    const rgModel* model = world->model;
    const rgPlace* place = &model->shapePlaces[from->shape];
    rgShapeKind kind = from->geometry->kind;
    rgVec3 off = rgSub(place->pose.p, model->links[from->link].center);
    bool round = kind == rg_shapeSphere || kind == rg_shapeCapsule || kind == rg_shapeCylinder ||
                 kind == rg_shapeEllipsoid;
    return (rgManyCollider){.place = from->link == 0 ? from->pose : place->pose,
                            .bound = from->radius,
                            .thin = from->thin,
                            .margin = model->shapes[from->shape].margin,
                            .link = from->link,
                            .tree = model->links[from->link].tree,
                            .isOrigin = from->link > 0 && place->isOrigin,
                            .isRound = round,
                            .isCentered = kind == rg_shapeSphere && rgLengthSquared(off) == 0,
                            .isFlat = kind == rg_shapePlane || kind == rg_shapeBox,
                            .isKnown = round || kind == rg_shapePlane || kind == rg_shapeBox};
}

// Without what is in memory elsewhere.
static rgGeometry rgPlanGeometry(const rgGeometry* from) {
    rgGeometry g = {.kind = from->kind,
                    .size = from->size,
                    .convex = from->convex,
                    .box = from->box,
                    .middle = from->middle,
                    .half = from->half,
                    .boundingRadius = from->boundingRadius};
    g.convex.hull = NULL;
    return g;
}

// Static assembly of a collider, or of the base of its tree; 0: none.
static int rgAssemblyOf(const rgModel* model, const rgCollider* collider) {
    int body = collider->body, tree = model->links[collider->link].tree;
    if (tree >= 0) {
        int root = model->movingBodies[model->trees[tree].firstLink];
        body = model->bodies[root].parent.index1 - 1;
    }
    return body >= 0 ? model->assemblies[body] : 0;
}

// True if colliders a and b may meet in a step.
static bool rgMayMeet(const rgWorld* world, int a, int b) {
    const rgCollider *A = &world->contacts.colliders[a], *B = &world->contacts.colliders[b];
    const rgModel* model = world->model;
    return (model->links[A->link].tree >= 0 || model->links[B->link].tree >= 0) &&
           !model->shapes[A->shape].disabled && !model->shapes[B->shape].disabled &&
           rgModel_ShapesMayMeet(model, (rgShapeId){A->shape + 1}, (rgShapeId){B->shape + 1});
}

static rgManyPair rgPlanPair(const rgWorld* world, int a, int b, rgRefusal* refusal) {
    const rgCollider *A = &world->contacts.colliders[a], *B = &world->contacts.colliders[b];
    const rgModel* model = world->model;
    rgContactPoint point = {.colliderA = a, .colliderB = b};
    rgMaterial material = rgContactSet_Material(&world->contacts, &world->def, model, &point);
    int assembly = rgAssemblyOf(model, A);
    rgRefuseMaterial(refusal, world, b, &material);
    return (rgManyPair){.mu = material.mu,
                        .restitution = material.restitution,
                        .a = a,
                        .b = b,
                        .sameRobot = model->links[A->link].tree == model->links[B->link].tree ||
                                     (assembly != 0 && assembly == rgAssemblyOf(model, B))};
}

// ---- places of numbers

static int rgTakePlace(int* count, int size) {
    int at = *count;
    *count += size;
    return at;
}

static void rgPlanPlaces(rgManyModel* m) {
    int n = 0, nq = m->qCount, nv = m->vCount, links = m->linkCount;
    m->state = (rgManyState){
        .time = rgTakePlace(&n, 1),
        .q = rgTakePlace(&n, nq),
        .v = rgTakePlace(&n, nv),
        .control = rgTakePlace(&n, m->driveCount),
        .force = rgTakePlace(&n, nv),
        .change = rgTakePlace(&n, nv),
        .predictor = rgTakePlace(&n, nv),
        .isSet = rgTakePlace(&n, m->treeCount),
        .impulse = rgTakePlace(&n, m->slotCount),
        .memory = rgTakePlace(&n, 4 * m->pointCapacity),
        .residual = rgTakePlace(&n, 1),
    };
    m->state.count = n;
    n = 0;
    m->stateInt = (rgManyStateInt){
        .memoryCount = rgTakePlace(&n, 1),
        .memoryPair = rgTakePlace(&n, m->pointCapacity),
        .memoryFeature = rgTakePlace(&n, m->pointCapacity),
        .pair = rgTakePlace(&n, m->pairCount),
        .steps = rgTakePlace(&n, 1),
        .mostRows = rgTakePlace(&n, 1),
        .reason = rgTakePlace(&n, 1),
        .halted = rgTakePlace(&n, 1),
    };
    m->stateInt.count = n;
    n = 0;
    m->work = (rgManyWork){
        .q = rgTakePlace(&n, nq),
        .v = rgTakePlace(&n, nv),
        .predictor = rgTakePlace(&n, nv),
        .midV = rgTakePlace(&n, nv),
        .tau = rgTakePlace(&n, nv),
        .added = rgTakePlace(&n, nv),
        .freeV = rgTakePlace(&n, nv),
        .nextV = rgTakePlace(&n, nv),
        .endV = rgTakePlace(&n, nv),
        .bodyV = rgTakePlace(&n, nv),
        .nextQ = rgTakePlace(&n, nq),
        .x = rgTakePlace(&n, nv),
        .y = rgTakePlace(&n, nv),
        .origins = rgTakePlace(&n, 3 * m->treeCount),
        .poses = rgTakePlace(&n, 12 * links),
        .axes = rgTakePlace(&n, 6 * nv),
        .velocities = rgTakePlace(&n, 6 * links),
        .biases = rgTakePlace(&n, 6 * links),
        .linkV = rgTakePlace(&n, 6 * links),
        .inertias = rgTakePlace(&n, 9 * links),
        .composites = rgTakePlace(&n, 10 * links),
        .mass = rgTakePlace(&n, m->massCount),
        .diagonal = rgTakePlace(&n, nv),
        .factor = rgTakePlace(&n, m->massCount),
        .inverse = rgTakePlace(&n, nv),
        .drift = rgTakePlace(&n, m->treeCount),
        .projectedV = rgTakePlace(&n, nv),
        .rejected = rgTakePlace(&n, 6 * links),
        .colliders = rgTakePlace(&n, RG_MANY_COLLIDER_NUMBERS * m->colliderCount),
        .points = rgTakePlace(&n, RG_MANY_POINT_NUMBERS * m->pointCapacity),
        .before = rgTakePlace(&n, 12 * links),
        .beforeOrigins = rgTakePlace(&n, 3 * m->treeCount),
        .rowGap = rgTakePlace(&n, m->rowCapacity),
        .projection = rgTakePlace(&n, m->pointCapacity),
        .room = rgTakePlace(&n, 3 * m->rowCapacity),
        .flightQ = rgTakePlace(&n, nq),
        .flightV = rgTakePlace(&n, nv),
        .flightMid = rgTakePlace(&n, nv),
        .flightForce = rgTakePlace(&n, nv),
        .flightTau = rgTakePlace(&n, nv),
        .flightAdded = rgTakePlace(&n, nv),
    };
    m->work.count = n;
    n = 0;
    m->workInt = (rgManyWorkInt){
        .pointCount = rgTakePlace(&n, 1),
        .pointPair = rgTakePlace(&n, m->pointCapacity),
        .pointFeature = rgTakePlace(&n, m->pointCapacity),
        .pointActive = rgTakePlace(&n, m->pointCapacity),
        .pointHasImpulse = rgTakePlace(&n, m->pointCapacity),
        .pointOverlaps = rgTakePlace(&n, m->pointCapacity),
        .pointCurves = rgTakePlace(&n, m->pointCapacity),
        .pointRow = rgTakePlace(&n, m->pointCapacity),
        .pairState = rgTakePlace(&n, m->pairCount),
        .rowKind = rgTakePlace(&n, m->rowCapacity),
        .rowSource = rgTakePlace(&n, m->rowCapacity),
        .isHeld = rgTakePlace(&n, m->treeCount),
        .isFast = rgTakePlace(&n, m->treeCount),
        .isTransported = rgTakePlace(&n, m->treeCount),
        .substeps = rgTakePlace(&n, m->treeCount),
        .island = rgTakePlace(&n, m->treeCount),
        .treeTouches = rgTakePlace(&n, m->treeCount),
        .rowCount = rgTakePlace(&n, 1),
        .groupCount = rgTakePlace(&n, 1),
        .pass = rgTakePlace(&n, 1),
        .again = rgTakePlace(&n, 1),
        .resumes = rgTakePlace(&n, 1),
        .reason = rgTakePlace(&n, 1),
        .lineRow = rgTakePlace(&n, m->rowCapacity),
        .mayCurve = rgTakePlace(&n, 1),
    };
    m->workInt.count = n;
}

// ---- the plan

#define RG_MANY_MOST_PAIRS   4096
#define RG_MANY_USUAL_ROWS   96
#define RG_MANY_LEAST_POINTS 24

// Counts, and room; true unless the rows of joints alone are too many.
static bool rgCountParts(rgDeviceBatch* batch, const rgWorld* world, int64_t laneBytes) {
    const rgModel* model = world->model;
    rgManyModel* m = &batch->plan;
    int rows = 0;
    m->linkCount = model->linkCount;
    m->treeCount = model->treeCount;
    m->vCount = model->vCount;
    m->qCount = model->qCount;
    m->massCount = model->massCount;
    m->driveCount = model->info.actuatorCount;
    m->colliderCount = world->contacts.colliderCount;
    for (int j = 0; j < model->info.jointCount && !world->def.ignoreLimits; ++j) {
        bool scalar = model->jointRanges[j].vCount == 1;
        m->limitCount += model->joints[j].hasLimits && scalar;
    }
    m->slotCount = 2 * m->limitCount;
    for (int i = 0; i < model->vCount; ++i) {
        rows += model->dofs[i].dryFriction != 0;
    }
    for (int a = 0; a < m->driveCount; ++a) {
        rows += world->transmission.actuators[a].mode == rg_actuatorRow;
    }
    m->slotCount += rows;
    for (int a = 0; a < m->colliderCount; ++a) {
        for (int b = a + 1; b < m->colliderCount; ++b) {
            m->pairCount += rgMayMeet(world, a, b);
        }
    }
    int most = batch->def.maxRows > 0 ? batch->def.maxRows : RG_MANY_USUAL_ROWS;
    while (most > rows && rgLaneBytes(most, most, m->vCount, rg_laneMass) > laneBytes) {
        --most;
    }
    m->rowCapacity = most;
    m->pointCapacity = RG_MAX(RG_MANY_LEAST_POINTS, most / 2);
    return most > rows || rows == 0;
}

static void rgFillPlan(rgDeviceBatch* batch, const rgWorld* world, rgPlanArrays* to,
                       rgRefusal* refusal) {
    const rgModel* model = world->model;
    rgManyModel* m = &batch->plan;
    int slot = 0, limit = 0, pair = 0;
    for (int i = 0; i < m->linkCount; ++i) {
        to->links[i] = rgPlanLink(&model->links[i]);
        to->links[i].tree = i > 0 ? model->links[i].tree : -1;
    }
    for (int t = 0; t < m->treeCount; ++t) {
        const rgTree* tree = &model->trees[t];
        to->trees[t] = (rgManyTree){tree->firstLink, tree->linkCount, tree->firstDof,
                                    tree->dofCount, world->kinematics.isFreeBody[t]};
    }
    memcpy(to->massColumns, model->massColumns, (size_t)m->massCount * sizeof(int));
    for (int j = 0; j < model->info.jointCount && !world->def.ignoreLimits; ++j) {
        const rgJointDef* def = &model->joints[j];
        const rgJointRange* range = &model->jointRanges[j];
        if (def->hasLimits && range->vCount == 1) {
            to->limits[limit++] = (rgManyLimit){def->lower, def->upper, range->q, range->v, slot};
            batch->hostSlots[slot++] = world->warmStart.slots.limit + 2 * j;
            batch->hostSlots[slot++] = world->warmStart.slots.limit + 2 * j + 1;
        }
    }
    for (int i = 0; i < m->vCount; ++i) {
        to->dofs[i] = rgPlanDof(world, i);
        if (model->dofs[i].dryFriction != 0) {
            to->dofs[i].slot = slot;
            batch->hostSlots[slot++] = world->warmStart.slots.friction + i;
        }
    }
    for (int a = 0; a < m->driveCount; ++a) {
        if (rgRefuseActuator(refusal, world, a)) {
            continue;
        }
        to->drives[a] = rgPlanDrive(world, a);
        if (to->drives[a].mode == rg_manyRow) {
            to->drives[a].slot = slot;
            batch->hostSlots[slot++] = world->warmStart.slots.actuator + a;
        }
    }
    for (int c = 0; c < m->colliderCount; ++c) {
        to->colliders[c] = rgPlanCollider(world, c);
        to->geometries[c] = rgPlanGeometry(world->contacts.colliders[c].geometry);
        bool whole =
            to->colliders[c].tree >= 0 && world->kinematics.isFreeBody[to->colliders[c].tree];
        m->hasWholeRounds = m->hasWholeRounds || (whole && to->colliders[c].isRound);
    }
    for (int a = 0; a < m->colliderCount; ++a) {
        for (int b = a + 1; b < m->colliderCount; ++b) {
            if (rgMayMeet(world, a, b)) {
                int before = refusal->count;
                to->pairs[pair++] = rgPlanPair(world, a, b, refusal);
                if (refusal->count > before) {
                    return; // one is enough
                }
            }
        }
    }
}

rgResult rgManyPlan(rgDeviceBatch* batch, const rgWorld* world, int64_t laneBytes,
                    rgDiagnostics* diagnostics) {
    rgRefusal refusal = {.diagnostics = diagnostics};
    rgManyModel* m = &batch->plan;
    const rgSource none = {0};
    rgRefuseDef(&refusal, world);
    rgRefuseParts(&refusal, world);
    for (int j = 0; j < world->model->info.jointCount; ++j) {
        rgRefuseJoint(&refusal, world, j);
    }
    if (!rgCountParts(batch, world, laneBytes)) {
        rgRefuse(&refusal, none, "model", NULL, "that many servos and joints with friction");
    }
    if (m->pairCount > RG_MANY_MOST_PAIRS) {
        rgRefuse(&refusal, none, "model", NULL, "more than 4096 pairs of shapes that may meet");
    }
    if (refusal.count > 0) {
        return rg_errorUnsupported;
    }
    *m = (rgManyModel){.linkCount = m->linkCount,
                       .treeCount = m->treeCount,
                       .vCount = m->vCount,
                       .qCount = m->qCount,
                       .massCount = m->massCount,
                       .limitCount = m->limitCount,
                       .driveCount = m->driveCount,
                       .colliderCount = m->colliderCount,
                       .pairCount = m->pairCount,
                       .slotCount = m->slotCount,
                       .pointCapacity = m->pointCapacity,
                       .rowCapacity = m->rowCapacity,
                       .drifts = world->settings.integrator == rg_integratorMidpoint,
                       .maxContactsPerPair =
                           RG_MAX(1, RG_MIN(world->def.maxContactsPerPair, RG_MANIFOLD_CAPACITY)),
                       .dt = world->settings.dt,
                       .margin = world->def.margin,
                       .pushOutSpeed = world->def.pushOutSpeed,
                       .restitutionThreshold = world->settings.restitutionThreshold,
                       .gravityLength = rgLength(world->settings.gravity),
                       .gravity = world->settings.gravity};
    rgPlanPlaces(m);
    rgBlockPlan block = {0};
    rgPlanArrays arrays;
    rgTakeArrays(m, &block, &arrays);
    batch->block = rgAllocate(&batch->allocator, block.size + 64, 1);
    batch->hostSlots = rgAllocate(&batch->allocator, (size_t)m->slotCount + 1, sizeof(int));
    if (batch->block == NULL || batch->hostSlots == NULL) {
        return rg_errorMemory;
    }
    batch->sizes.blockBytes = block.size + 64;
    block = (rgBlockPlan){.memory = batch->block};
    rgTakeArrays(m, &block, &arrays);
    m->links = arrays.links;
    m->dofs = arrays.dofs;
    m->trees = arrays.trees;
    m->limits = arrays.limits;
    m->drives = arrays.drives;
    m->colliders = arrays.colliders;
    m->geometries = arrays.geometries;
    m->pairs = arrays.pairs;
    m->massColumns = arrays.massColumns;
    rgFillPlan(batch, world, &arrays, &refusal);
    int nv = m->vCount, n = m->rowCapacity;
    rgManySizes* sizes = &batch->sizes;
    sizes->stateCount = m->state.count;
    sizes->stateIntCount = m->stateInt.count;
    sizes->workCount = m->work.count;
    sizes->workIntCount = m->workInt.count;
    sizes->rowCapacity = n;
    sizes->matrixCount = nv * (nv + 1) / 2 + n * nv;
    sizes->factorCount = (int)rgLaneFactors(nv, rg_laneMass);
    sizes->laneBytes = rgLaneBytes(n, n, nv, rg_laneMass);
    sizes->tolerance = world->def.contact.tolerance;
    return refusal.count > 0 ? rg_errorUnsupported : rg_ok;
}
