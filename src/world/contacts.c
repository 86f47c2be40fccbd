// Contact points of a step: boxes with a speculative margin, active pairs, manifolds. step.4,
// step.5.
#include "world/world.h"

#include <string.h>

// Motion of a link, shared by its colliders.
typedef struct rgLinkMotion {
    int link;
    const rgLinkPose* pose;
    rgQuat q;
    rgVec3 origin;
    rgSpatial velocity;
    double turning; // [rad/s]
    double ahead;   // rgKinematics_TreeAhead() [s]
} rgLinkMotion;

static rgLinkMotion rgKinematics_LinkMotion(const rgKinematics* kinematics,
                                            const rgSettings* settings, int link) {
    const rgDynamics* d = kinematics->dynamics;
    const rgSpatial* V = &d->velocities[link];
    return (rgLinkMotion){link,
                          &d->poses[link],
                          kinematics->rotations[link],
                          rgDynamics_LinkOrigin(d, link),
                          *V,
                          rgLength(V->angular),
                          rgKinematics_TreeAhead(kinematics, settings, link)};
}

static void rgCollider_Move(rgCollider* collider, const rgLinkMotion* on, const rgPlace* place) {
    rgVec3 p = rgAdd(on->pose->p, rgRot_Apply(&on->pose->r, place->pose.p));
    p = rgAdd(on->origin, p);
    collider->pose = (rgPose){p, place->isOrigin ? on->q : rgQuatMultiply(on->q, place->pose.q)};
    rgVec3 arm = rgSub(p, on->origin);
    bool turns = on->turning > 0 && isfinite(collider->radius);
    collider->velocity = rgAdd(on->velocity.linear, rgCross(on->velocity.angular, arm));
    collider->spin = turns ? on->turning * collider->radius : 0;
    collider->speed = rgLength(collider->velocity) + collider->spin;
    collider->ahead = on->ahead;
}

static rgResult rgWorld_PlaceColliders(rgWorld* world) {
    const rgModel* model = world->model;
    rgLinkMotion on = {.link = -1};
    rgResult result = rg_ok;
    for (int i = 0; i < world->contacts.colliderCount && result == rg_ok; ++i) {
        rgCollider* collider = &world->contacts.colliders[i];
        collider->margin = model->shapes[collider->shape].margin;
        if (collider->link == 0) {
            collider->ahead = world->settings.dt;
            continue; // placed at creation
        }
        if (collider->link != on.link) {
            on = rgKinematics_LinkMotion(&world->kinematics, &world->settings, collider->link);
        }
        rgCollider_Move(collider, &on, &model->shapePlaces[collider->shape]);
        collider->reach = collider->ahead * collider->speed + world->def.margin + collider->margin;
        rgBox box;
        rgPlaceGeometry(collider->geometry, &collider->pose, collider->reach, &collider->placement,
                        &box);
        result = rgBroadphase_MoveTo(world->contacts.broadphase, i, &box);
    }
    return result == rg_errorArgument ? rg_errorNumeric : result;
}

static bool rgWorld_PairFilter(int a, int b, void* context) {
    const rgWorld* world = context;
    const rgCollider *A = &world->contacts.colliders[a], *B = &world->contacts.colliders[b];
    rgShapeId shapeA = {A->shape + 1}, shapeB = {B->shape + 1};
    const rgLink* links = world->model->links;
    return (links[A->link].tree >= 0 || links[B->link].tree >= 0) &&
           rgModel_ShapesMayMeet(world->model, shapeA, shapeB);
}

// Bound on the points of a manifold. A fast pair gets all its points: those that matter are chosen
// by their own speed. Parts that overlap by design do not lie on each other's faces: two points
// keep them from going deeper and from turning about the first.
static int rgPairPoints(const rgWorldDef* def, const rgPairMemory* pair, double travel) {
    int most = RG_MAX(1, RG_MIN(def->maxContactsPerPair, RG_MANIFOLD_CAPACITY));
    return pair->overlap != 0     ? RG_MIN(most, RG_OVERLAP_POINT_COUNT)
           : travel > def->margin ? RG_MANIFOLD_CAPACITY
                                  : most;
}

// step.5: Drop points that stay open by far, even at a multiple of the speed at which they or,
// once an impact turns the bodies, any point of the pair closes now.
static void rgWorld_RemoveDistant(const rgWorld* world, const rgPairMemory* pair,
                                  rgManifold* manifold) {
    int linkA = world->contacts.colliders[pair->a].link,
        linkB = world->contacts.colliders[pair->b].link;
    rgRelativeTwist twist = rgKinematics_RelativeTwist(
        &world->kinematics, world->kinematics.dynamics->velocities, linkA, linkB);
    double closing[RG_MANIFOLD_CAPACITY],
        most = 0, time = rgKinematics_TimeAhead(&world->kinematics, &world->settings, linkA, linkB);
    for (int k = 0; k < manifold->count; ++k) {
        const rgManifoldPoint* p = &manifold->points[k];
        closing[k] = RG_MAX(-rgDot(p->normal, rgRelativeTwist_At(&twist, p->position)), 0);
        if (p->gap <= time * closing[k]) {
            most = RG_MAX(most, closing[k]);
        }
    }
    int kept = 0;
    for (int k = 0; k < manifold->count; ++k) {
        double speed = RG_MAX(closing[k], most);
        if (manifold->points[k].gap <= world->def.margin + RG_IMPACT_SPEED_RATIO * time * speed) {
            manifold->points[kept++] = manifold->points[k];
        }
    }
    manifold->count = kept;
}

static void rgWorld_CollidePair(const rgWorld* world, rgPairMemory* pair, rgManifold* manifold) {
    const rgCollider *A = &world->contacts.colliders[pair->a],
                     *B = &world->contacts.colliders[pair->b];
    double travel = rgPairTravel(A, B);
    rgCollideInput input = {A->geometry,
                            B->geometry,
                            &A->pose,
                            &B->pose,
                            rgPairMargin(&world->def, A, B, travel),
                            rgPairPoints(&world->def, pair, travel),
                            &pair->cache,
                            pair->cache.depth < 0,
                            &A->placement.axes,
                            &B->placement.axes};
    if (input.isSeparationUnknown && rgStaysApart(&input, &A->placement, &B->placement)) {
        manifold->count = 0;
    } else if (rgCollideShapes(&input, manifold) > 0) {
        rgWorld_RemoveDistant(world, pair, manifold);
    }
}

static void rgCollideChunk(int chunk, int worker, void* context) {
    (void)worker;
    rgWorld* world = context;
    rgMemory* next = &world->warmStart.memories[1];
    int end = RG_MIN((chunk + 1) * RG_PAIRS_PER_TASK, next->pairCount);
    for (int i = chunk * RG_PAIRS_PER_TASK; i < end; ++i) {
        rgPairMemory* pair = &next->pairs[i];
        if (rgSleep_PairIsDormant(&world->sleep, &world->kinematics, &world->contacts, pair)) {
            world->contacts.manifolds[i].count = 0;
        } else {
            rgWorld_CollidePair(world, pair, &world->contacts.manifolds[i]);
        }
    }
}

static void rgPoint_Set(rgContactPoint* point, const rgManifold* manifold, int place,
                        const rgPairMemory* pair, int index, bool curves) {
    const rgManifoldPoint* from = &manifold->points[place];
    *point = (rgContactPoint){.position = from->position,
                              .normal = from->normal,
                              .gap = rgTouchingGap(from->gap),
                              .feature = from->feature,
                              .pair = index,
                              .place = place,
                              .colliderA = pair->a,
                              .colliderB = pair->b,
                              .pointCount = manifold->count,
                              .mayCurve = curves};
}

static bool rgSameVector(rgVec3 a, rgVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Static assembly of a collider, or of the base of its tree; 0: none.
static int rgColliderAssembly(const rgModel* model, const rgCollider* collider) {
    int body = collider->body, tree = model->links[collider->link].tree;
    if (tree >= 0) {
        int root = model->movingBodies[model->trees[tree].firstLink];
        body = model->bodies[root].parent.index1 - 1;
    }
    return body >= 0 ? model->assemblies[body] : 0;
}

// True for colliders of one tree, or on one base that is fixed to the world.
static bool rgSameRobot(const rgModel* model, const rgCollider* A, const rgCollider* B) {
    const rgLink* links = model->links;
    int assembly = rgColliderAssembly(model, A);
    return links[A->link].tree == links[B->link].tree ||
           (assembly != 0 && assembly == rgColliderAssembly(model, B));
}

// Parts of one robot that overlap when they are first seen: joints may have no motion that
// separates them. They are kept from going deeper, until they separate.
static void rgContactSet_JudgeOverlap(const rgContactSet* contacts, const rgModel* model,
                                      rgPairMemory* pair, const rgManifold* manifold) {
    double least = 0;
    for (int k = 0; k < manifold->count; ++k) {
        least = RG_MIN(least, manifold->points[k].gap);
    }
    bool born = pair->age == 0 && least < -RG_DEPTH_TOLERANCE &&
                rgSameRobot(model, &contacts->colliders[pair->a], &contacts->colliders[pair->b]);
    pair->overlap = (born || pair->overlap) && least < -RG_DEPTH_TOLERANCE;
    pair->age = 1;
}

// Memory of a pair without points.
static void rgClearPairTouch(rgPairMemory* pair) {
    pair->overlap = 0;
    pair->age = 1;
    pair->gap = 0;
}

static rgResult rgWorld_ListPoints(rgWorld* world) {
    rgMemory* next = &world->warmStart.memories[1];
    int total = 0;
    for (int i = 0; i < next->pairCount; ++i) {
        total += world->contacts.manifolds[i].count;
    }
    rgResult result = rgReserve(&world->heap.allocator, (void**)&world->contacts.points,
                                &world->contacts.pointCapacity, 0, total, sizeof(rgContactPoint));
    if (result != rg_ok) {
        return result;
    }
    world->contacts.pointCount = world->contacts.inactiveCount = 0;
    world->contacts.mayCurve = false;
    for (int i = 0; i < next->pairCount; ++i) {
        const rgManifold* manifold = &world->contacts.manifolds[i];
        rgPairMemory* pair = &next->pairs[i];
        if (rgSleep_PairIsDormant(&world->sleep, &world->kinematics, &world->contacts, pair)) {
            continue;
        }
        if (manifold->count == 0) {
            rgClearPairTouch(pair);
            continue;
        }
        rgContactSet_JudgeOverlap(&world->contacts, world->model, pair, manifold);
        rgMonitor_CheckPair(world, pair, manifold);
        bool curves = rgContactSet_PairCurves(&world->contacts, pair);
        world->contacts.mayCurve = world->contacts.mayCurve || curves;
        for (int k = 0; k < manifold->count; ++k) {
            rgContactPoint* point = &world->contacts.points[world->contacts.pointCount++];
            rgPoint_Set(point, manifold, k, pair, i, curves);
            if (k > 0 && rgSameVector(point->normal, point[-1].normal)) {
                point->tangent1 = point[-1].tangent1;
                point->tangent2 = point[-1].tangent2;
            } else {
                rgTangentBasis(point->normal, &point->tangent1, &point->tangent2);
            }
        }
    }
    return rg_ok;
}

// ---- start-up: drift to the middle of the step after a state was set

static bool rgPassesDeep(double dt, double gap, double closing) {
    return RG_MIN(gap, 0) - (gap - 0.5 * dt * closing) > RG_DEPTH_TOLERANCE;
}

static bool rgContactSet_PointBlocks(const rgContactSet* contacts, const rgKinematics* kinematics,
                                     double dt, const rgContactPoint* point, int tree) {
    int linkA = contacts->colliders[point->colliderA].link;
    int linkB = contacts->colliders[point->colliderB].link;
    const rgLink* links = kinematics->dynamics->model->links;
    if (links[linkA].tree != tree && links[linkB].tree != tree) {
        return false;
    }
    rgRelativeTwist twist =
        rgKinematics_RelativeTwist(kinematics, kinematics->dynamics->velocities, linkA, linkB);
    rgVec3 rate = rgRelativeTwist_At(&twist, point->position);
    return rgPassesDeep(dt, point->gap, -rgDot(point->normal, rate));
}

static bool rgConstraintSet_LimitBlocks(const rgConstraintSet* constraints,
                                        const rgKinematics* kinematics, double dt, int joint,
                                        int tree) {
    const rgJointDef* def = &kinematics->dynamics->model->joints[joint];
    const rgJointRange* range = &kinematics->dynamics->model->jointRanges[joint];
    if (!def->hasLimits || range->vCount != 1 || constraints->treeOfDof[range->v] != tree) {
        return false;
    }
    double q = kinematics->q[range->q], v = kinematics->v[range->v];
    return rgPassesDeep(dt, q - def->lower, -v) || rgPassesDeep(dt, def->upper - q, v);
}

static bool rgWorld_PathIsFree(const rgWorld* world, int tree) {
    bool inWay = false;
    for (int i = 0; i < world->contacts.pointCount && !inWay; ++i) {
        inWay = rgContactSet_PointBlocks(&world->contacts, &world->kinematics, world->settings.dt,
                                         &world->contacts.points[i], tree);
    }
    int joints = world->def.ignoreLimits ? 0 : world->model->info.jointCount;
    for (int j = 0; j < joints && !inWay; ++j) {
        inWay = rgConstraintSet_LimitBlocks(&world->constraints, &world->kinematics,
                                            world->settings.dt, j, tree);
    }
    return !inWay;
}

// Let trees drift that were set and whose path is free. True: there is one.
static bool rgWorld_StartMidpoint(rgWorld* world) {
    bool any = false;
    bool drifts = world->settings.integrator == rg_integratorMidpoint;
    for (int t = 0; t < world->model->treeCount && drifts; ++t) {
        if (world->kinematics.driftTime[t] == 0 && rgWorld_PathIsFree(world, t)) {
            world->kinematics.driftTime[t] = 0.5 * world->settings.dt;
            any = true;
        }
    }
    return any;
}

// Active pairs and their manifolds.
static rgResult rgWorld_Collide(rgWorld* world) {
    rgResult result = rgWorld_MatchPairs(world);
    int pairCount = world->warmStart.memories[1].pairCount;
    if (result == rg_ok) {
        result = rgReserve(&world->heap.allocator, (void**)&world->contacts.manifolds,
                           &world->contacts.manifoldCapacity, 0, pairCount, sizeof(rgManifold));
    }
    if (result == rg_ok) {
        int chunks = (pairCount + RG_PAIRS_PER_TASK - 1) / RG_PAIRS_PER_TASK;
        rgTasks_Run(&world->def.tasks, chunks, rgCollideChunk, world);
    }
    return result;
}

static rgResult rgWorld_FindPoints(rgWorld* world) {
    rgResult result = rgWorld_PlaceColliders(world);
    if (result == rg_ok) {
        result = rgBroadphase_Update(world->contacts.broadphase, rgWorld_PairFilter, world);
    }
    if (result != rg_ok) {
        return result;
    }
    result = rgWorld_Collide(world);
    while (result == rg_ok && rgWorld_WakeByContact(world)) { // each time fewer sleep
        result = rgWorld_Collide(world);
    }
    if (result != rg_ok) {
        return result;
    }
    return rgWorld_ListPoints(world);
}

// The largest [m].
static double rgContactSet_Penetration(const rgContactSet* contacts) {
    double largest = 0;
    for (int i = 0; i < contacts->pointCount; ++i) {
        largest = RG_MAX(largest, -contacts->points[i].gap);
    }
    return largest;
}

rgResult rgFindContacts(rgStep* step) {
    rgWorld* world = step->world;
    rgResult result = rgWorld_FindPoints(world);
    if (result == rg_ok && rgWorld_StartMidpoint(world)) {
        rgWorld_Place(world);
        result = rgWorld_FindPoints(world);
    }
    if (result != rg_ok) {
        return result;
    }
    step->report->contactCount = world->contacts.pointCount;
    step->report->penetration = rgContactSet_Penetration(&world->contacts);
    rgSetCurvatureSlips(world);
    rgWorld_FindRolling(world);
    return rg_ok;
}

static rgResult rgContactSet_CreateGeometry(rgContactSet* contacts, const rgModel* model,
                                            const rgAllocator* allocator, int shape,
                                            rgDiagnostics* diagnostics) {
    const rgShapeDef* def = &model->shapes[shape];
    rgGeometryDef geometry = rgDefaultGeometryDef();
    geometry.kind = def->kind;
    geometry.size = def->size;
    geometry.rounding = def->rounding;
    geometry.mesh = def->mesh;
    geometry.heightField = def->heightField;
    geometry.file = def->source.file;
    geometry.line = def->source.line;
    geometry.allocator = *allocator;
    return rgCreateGeometry(&geometry, diagnostics, &contacts->geometries[shape]);
}

// True unless the shape is visual only and in no explicit pair.
static bool rgShapeCollides(const rgModel* model, int shape) {
    const rgShapeDef* def = &model->shapes[shape];
    bool listed = !def->visualOnly && (def->group != 0 || def->mask != 0);
    for (int p = 0; p < model->pairCount && !listed; ++p) {
        listed = (int)(model->pairs[p] >> 32) == shape || (int)(uint32_t)model->pairs[p] == shape;
    }
    return listed;
}

static rgResult rgContactSet_AddCollider(rgContactSet* contacts, const rgKinematics* kinematics,
                                         int shape, rgDiagnostics* diagnostics) {
    const rgModel* model = kinematics->dynamics->model;
    const rgPlace* place = &model->shapePlaces[shape];
    rgCollider collider = {.geometry = contacts->geometries[shape],
                           .radius = rgGeometry_BoundingRadius(contacts->geometries[shape]),
                           .thin = 0.5 * rgGeometry_Width(contacts->geometries[shape]),
                           .shape = shape,
                           .link = place->link,
                           .body = place->body,
                           .plane = model->shapes[shape].kind == rg_shapePlane,
                           .pose = rgDynamics_PlacePose(kinematics->dynamics, place)};
    int proxy;
    rgBox box;
    rgPlaceGeometry(collider.geometry, &collider.pose, 0, &collider.placement, &box);
    rgResult result = rgBroadphase_Add(contacts->broadphase, box, &proxy);
    if (result == rg_ok) {
        contacts->colliders[contacts->colliderCount++] = collider;
    }
    if (result == rg_errorArgument) {
        const rgShapeDef* def = &model->shapes[shape];
        rgDiagnostics_Add(diagnostics, rg_severityError, def->source.file, def->source.line,
                          "shape %d (%s) is so large or so far away that its box is not finite",
                          shape + 1,
                          def->name != NULL && def->name[0] != '\0' ? def->name : "unnamed");
    }
    return result;
}

// Colliders of shapes that the model fixes to the world, or of bodies.
static rgResult rgContactSet_AddColliders(rgContactSet* contacts, const rgKinematics* kinematics,
                                          const rgAllocator* allocator, bool ofWorld,
                                          rgDiagnostics* diagnostics) {
    const rgModel* model = kinematics->dynamics->model;
    rgResult result = rg_ok;
    for (int s = 0; s < model->info.shapeCount && result == rg_ok; ++s) {
        if (!rgShapeCollides(model, s) || (model->shapePlaces[s].body < 0) != ofWorld) {
            continue;
        }
        result = rgContactSet_CreateGeometry(contacts, model, allocator, s, diagnostics);
        if (result == rg_ok) {
            result = rgContactSet_AddCollider(contacts, kinematics, s, diagnostics);
        }
    }
    return result;
}

// Colliders of the world come first: the first of a pair is A.
rgResult rgWorld_CreateColliders(rgWorld* world, rgDiagnostics* diagnostics) {
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    def.allocator = world->heap.allocator;
    def.kernels = world->def.contact.kernels;
    rgResult result = rgCreateBroadphase(&def, &world->contacts.broadphase);
    if (result == rg_ok) {
        result = rgContactSet_AddColliders(&world->contacts, &world->kinematics,
                                           &world->heap.allocator, true, diagnostics);
    }
    if (result == rg_ok) {
        result = rgContactSet_AddColliders(&world->contacts, &world->kinematics,
                                           &world->heap.allocator, false, diagnostics);
    }
    return result;
}

bool rgContactSet_Create(rgContactSet* set, rgHeap* heap, const rgModel* model) {
    const rgModelInfo* info = &model->info;
    bool good = true;
    set->geometryCount = model->info.shapeCount;
    set->geometries = rgHeap_Allocate(heap, info->shapeCount, sizeof(rgGeometry*), &good);
    set->colliders = rgHeap_Allocate(heap, info->shapeCount, sizeof(rgCollider), &good);
    set->colliderRest = rgHeap_Allocate(heap, info->shapeCount, 1, &good);
    set->treeContacts = rgHeap_Allocate(heap, info->treeCount, sizeof(int), &good);
    set->treeRolls = rgHeap_Allocate(heap, info->treeCount, sizeof(bool), &good);
    set->treeSprings = rgHeap_Allocate(heap, info->treeCount, sizeof(bool), &good);
    return good;
}

void rgContactSet_Destroy(rgContactSet* set, const rgAllocator* allocator) {
    for (int s = 0; set->geometries != NULL && s < set->geometryCount; ++s) {
        rgDestroyGeometry(set->geometries[s]);
    }
    rgDestroyBroadphase(set->broadphase);
    void* arrays[] = {set->points, set->inactive, set->manifolds};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(allocator, arrays[i]);
    }
}

void rgContactSet_Clear(rgContactSet* contacts) {
    contacts->pointCount = contacts->inactiveCount = 0;
}
