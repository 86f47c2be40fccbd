// Rays, moving shapes, overlaps and distances in the current state.
#include "rigor/query.h"
#include "world/world.h"

// Poses and boxes of colliders in the current state.
static bool rgWorld_PlaceTargets(const rgWorld* world) {
    rgReadout* readout = world->readout;
    if (readout->targetsValid) {
        return true;
    }
    if (rgReserve(&world->heap.allocator, (void**)&readout->targets, &readout->targetCapacity, 0,
                  world->contacts.colliderCount, sizeof(rgTarget)) != rg_ok) {
        return false;
    }
    const rgDynamics* d = rgReadout_CurrentDynamics(world->readout, &world->state, world->model);
    for (int i = 0; i < world->contacts.colliderCount; ++i) {
        const rgCollider* collider = &world->contacts.colliders[i];
        rgPose pose = rgDynamics_PlacePose(d, &world->model->shapePlaces[collider->shape]);
        readout->targets[i] = (rgTarget){pose, rgGeometry_Box(collider->geometry, pose)};
    }
    readout->targetsValid = true;
    return true;
}

static bool rgIsFiltered(const rgState* state, const rgModel* model, const rgCollider* collider,
                         const rgQueryFilter* filter) {
    const rgShapeDef* shape = &model->shapes[collider->shape];
    if (shape->disabled || rgState_LinkIsDisabled(state, model, collider->link)) {
        return true;
    }
    if (filter == NULL) {
        return false;
    }
    int ignored = filter->ignore.index1 - 1;
    if (filter->groups != 0 && (filter->groups & shape->group) == 0) {
        return true;
    }
    if (filter->ignoreWorld && collider->body < 0) {
        return true;
    }
    if (ignored < 0 || ignored >= model->info.bodyCount) {
        return false;
    }
    int link = model->bodyPlaces[ignored].link, tree = model->links[link].tree;
    bool together = link == collider->link && link > 0;
    together = together || (tree >= 0 && tree == model->links[collider->link].tree);
    return collider->body == ignored || (filter->ignoreTree && together);
}

// Part of a ray within a box, cut to [0, far]; an empty one ends before it starts.
static bool rgRayMeetsBox(const rgBox* box, rgVec3 origin, rgVec3 direction, double far) {
    double near = 0;
    for (int k = 0; k < 3; ++k) {
        double o = rgVec3_At(origin, k), d = rgVec3_At(direction, k);
        double low = rgVec3_At(box->lower, k) - o, high = rgVec3_At(box->upper, k) - o;
        if (d == 0) {
            if (low > 0 || high < 0) {
                return false;
            }
            continue;
        }
        near = RG_MAX(near, RG_MIN(low / d, high / d));
        far = RG_MIN(far, RG_MAX(low / d, high / d));
    }
    return near <= far;
}

static rgWorldHit rgMakeHit(const rgCollider* collider, double fraction, rgVec3 direction) {
    return (rgWorldHit){.shape = {collider->shape + 1},
                        .body = {collider->body + 1},
                        .fraction = fraction,
                        .distance = fraction * rgLength(direction)};
}

// Nearest hit of a ray so far.
typedef struct rgRaySearch {
    const rgWorld* world;
    const rgQueryFilter* filter;
    rgRay rest;  // up to the nearest hit
    int nearest; // collider; -1: none
    rgRayHit found;
} rgRaySearch;

// Try a collider; the one with the least index counts among equally near ones, in any order.
static void rgRaySearch_Try(rgRaySearch* search, int index) {
    const rgWorld* world = search->world;
    const rgCollider* collider = &world->contacts.colliders[index];
    const rgTarget* target = &world->readout->targets[index];
    const rgRay* rest = &search->rest;
    rgRayHit found;
    if (!rgRayMeetsBox(&target->box, rest->origin, rest->direction, rest->maxFraction) ||
        rgIsFiltered(&world->state, world->model, collider, search->filter) ||
        !rgRayCast(collider->geometry, target->pose, rest, &found) ||
        (search->nearest >= 0 &&
         (found.fraction > search->found.fraction ||
          (found.fraction == search->found.fraction && index > search->nearest)))) {
        return;
    }
    search->nearest = index;
    search->rest.maxFraction = found.fraction;
    search->found = found;
}

static bool rgRaySearch_Hit(const rgRaySearch* search, rgWorldHit* hit) {
    if (search->nearest < 0) {
        return false;
    }
    const rgRayHit* found = &search->found;
    *hit = rgMakeHit(&search->world->contacts.colliders[search->nearest], found->fraction,
                     search->rest.direction);
    hit->point = found->position;
    hit->normal = found->normal;
    hit->part = found->part;
    return true;
}

bool rgWorld_RayCast(const rgWorld* world, const rgRay* ray, const rgQueryFilter* filter,
                     rgWorldHit* hit) {
    if (world == NULL || ray == NULL || hit == NULL || !rgWorld_PlaceTargets(world)) {
        return false;
    }
    rgRaySearch search = {.world = world, .filter = filter, .rest = *ray, .nearest = -1};
    for (int i = 0; i < world->contacts.colliderCount; ++i) {
        rgRaySearch_Try(&search, i);
    }
    return rgRaySearch_Hit(&search, hit);
}

// ---- many rays, by a tree of boxes

enum { rg_leafColliders = 4, rg_treeDepth = 64 };

static double rgCenterAlong(const rgTarget* target, int axis) {
    return rgVec3_At(target->box.lower, axis) + rgVec3_At(target->box.upper, axis);
}

static rgBox rgBoxAround(const rgReadout* readout, int first, int count) {
    rgBox box = readout->targets[readout->order[first]].box;
    for (int i = first + 1; i < first + count; ++i) {
        const rgBox* other = &readout->targets[readout->order[i]].box;
        box.lower = rgVec(RG_MIN(box.lower.x, other->lower.x), RG_MIN(box.lower.y, other->lower.y),
                          RG_MIN(box.lower.z, other->lower.z));
        box.upper = rgVec(RG_MAX(box.upper.x, other->upper.x), RG_MAX(box.upper.y, other->upper.y),
                          RG_MAX(box.upper.z, other->upper.z));
    }
    return box;
}

// Order a part so that its first half has the lower centers along an axis (Hoare's selection).
static void rgHalveAlong(const rgReadout* readout, int first, int count, int axis) {
    int* order = readout->order;
    int low = first, high = first + count - 1, middle = first + count / 2;
    while (low < high) {
        double pivot = rgCenterAlong(&readout->targets[order[(low + high) / 2]], axis);
        int i = low, j = high;
        while (i <= j) {
            while (rgCenterAlong(&readout->targets[order[i]], axis) < pivot) {
                ++i;
            }
            while (rgCenterAlong(&readout->targets[order[j]], axis) > pivot) {
                --j;
            }
            if (i <= j) {
                int swapped = order[i];
                order[i++] = order[j];
                order[j--] = swapped;
            }
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

static int rgAddNode(rgReadout* readout, int first, int count) {
    int index = readout->nodeCount++;
    rgBox box = rgBoxAround(readout, first, count);
    readout->nodes[index] = (rgTargetNode){.box = box, .first = first, .count = count};
    if (count > rg_leafColliders) {
        rgVec3 size = rgSub(box.upper, box.lower);
        int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
        rgHalveAlong(readout, first, count, axis);
        int left = rgAddNode(readout, first, count / 2);
        int right = rgAddNode(readout, first + count / 2, count - count / 2);
        readout->nodes[index].count = 0;
        readout->nodes[index].left = left;
        readout->nodes[index].right = right;
    }
    return index;
}

static bool rgWorld_BuildTree(const rgWorld* world) {
    rgReadout* readout = world->readout;
    const rgAllocator* allocator = &world->heap.allocator;
    int count = world->contacts.colliderCount;
    if (!rgWorld_PlaceTargets(world)) {
        return false;
    }
    if (readout->treeValid) {
        return true;
    }
    if (rgReserve(allocator, (void**)&readout->order, &readout->orderCapacity, 0, count,
                  sizeof(int)) != rg_ok ||
        rgReserve(allocator, (void**)&readout->nodes, &readout->nodeCapacity, 0, 2 * count,
                  sizeof(rgTargetNode)) != rg_ok) {
        return false;
    }
    int unbounded = 0, bounded = count;
    for (int i = count - 1; i >= 0; --i) {
        const rgBox* box = &readout->targets[i].box;
        if (isfinite(rgLength(rgSub(box->upper, box->lower)))) {
            readout->order[--bounded] = i;
        }
    }
    for (int i = 0; i < count; ++i) {
        const rgBox* box = &readout->targets[i].box;
        if (!isfinite(rgLength(rgSub(box->upper, box->lower)))) {
            readout->order[unbounded++] = i;
        }
    }
    readout->unboundedCount = unbounded;
    readout->nodeCount = 0;
    if (count > unbounded) {
        rgAddNode(readout, unbounded, count - unbounded);
    }
    readout->treeValid = true;
    return true;
}

static void rgRaySearch_Descend(rgRaySearch* search) {
    const rgReadout* readout = search->world->readout;
    int stack[rg_treeDepth], depth = 0;
    for (int i = 0; i < readout->unboundedCount; ++i) {
        rgRaySearch_Try(search, readout->order[i]);
    }
    if (readout->nodeCount > 0) {
        stack[depth++] = 0;
    }
    while (depth > 0) {
        const rgTargetNode* node = &readout->nodes[stack[--depth]];
        const rgRay* rest = &search->rest;
        if (!rgRayMeetsBox(&node->box, rest->origin, rest->direction, rest->maxFraction)) {
            continue;
        }
        for (int i = 0; i < node->count; ++i) {
            rgRaySearch_Try(search, readout->order[node->first + i]);
        }
        if (node->count == 0) { // halves: the depth is that of the number's bits
            const rgTargetNode* left = &readout->nodes[node->left];
            const rgTargetNode* right = &readout->nodes[node->right];
            rgVec3 apart = rgSub(rgAdd(right->box.lower, right->box.upper),
                                 rgAdd(left->box.lower, left->box.upper));
            bool leftFirst = rgDot(apart, rest->direction) >= 0;
            stack[depth++] = leftFirst ? node->right : node->left;
            stack[depth++] = leftFirst ? node->left : node->right;
        }
    }
}

int rgWorld_CastRays(const rgWorld* world, const rgRay* rays, int count,
                     const rgQueryFilter* filter, rgWorldHit* hits) {
    if (world == NULL || rays == NULL || hits == NULL || !rgWorld_BuildTree(world)) {
        return 0;
    }
    int met = 0;
    for (int i = 0; i < count; ++i) {
        rgRaySearch search = {.world = world, .filter = filter, .rest = rays[i], .nearest = -1};
        rgRaySearch_Descend(&search);
        bool any = rgRaySearch_Hit(&search, &hits[i]);
        if (!any) {
            hits[i] = (rgWorldHit){.distance = INFINITY, .fraction = INFINITY};
        }
        met += any;
    }
    return met;
}

// Conservative advancement: no point of the geometry closes the distance faster than it moves
// along the normal of the plane between two convex shapes, or at all where the other is a surface.
static bool rgCastAt(const rgGeometry* geometry, rgPose pose, rgVec3 direction, double maxFraction,
                     const rgGeometry* other, rgPose otherPose, double* fraction,
                     rgProximity* proximity) {
    rgShapeKind kind = rgGeometry_Kind(other);
    bool convex = kind != rg_shapeMesh && kind != rg_shapeHeightField;
    double speed = rgLength(direction);
    rgPose moved = pose;
    for (int i = 0; i < RG_CAST_ITERATIONS; ++i) {
        moved.p = rgAddScaled(pose.p, *fraction, direction);
        if (rgDistance(geometry, moved, other, otherPose, NULL, proximity) != rg_ok) {
            return false;
        }
        if (proximity->distance <= RG_DEPTH_TOLERANCE) {
            return true;
        }
        double closing = convex ? rgDot(direction, proximity->normal) : speed;
        if (!(closing > 0)) {
            return false;
        }
        *fraction += proximity->distance / closing;
        if (*fraction > maxFraction) {
            return false;
        }
    }
    return true; // it has come close for as long as anybody would wait: it grazes
}

static rgBox rgSweptBox(const rgGeometry* geometry, rgPose pose, rgVec3 way) {
    rgBox box = rgGeometry_Box(geometry, pose);
    rgVec3 back = rgVec(RG_MIN(way.x, 0), RG_MIN(way.y, 0), RG_MIN(way.z, 0));
    rgVec3 ahead = rgVec(RG_MAX(way.x, 0), RG_MAX(way.y, 0), RG_MAX(way.z, 0));
    rgVec3 around = rgVec(RG_DEPTH_TOLERANCE, RG_DEPTH_TOLERANCE, RG_DEPTH_TOLERANCE);
    box.lower = rgAdd(box.lower, rgSub(back, around));
    box.upper = rgAdd(box.upper, rgAdd(ahead, around));
    return box;
}

static bool rgIsUsableCast(rgPose pose, rgVec3 direction, double maxFraction) {
    return rgPoseIsUsable(pose) && isfinite(rgLength(direction)) && maxFraction >= 0;
}

bool rgWorld_ShapeCast(const rgWorld* world, const rgGeometry* geometry, rgPose pose,
                       rgVec3 direction, double maxFraction, const rgQueryFilter* filter,
                       rgWorldHit* hit) {
    if (world == NULL || geometry == NULL || hit == NULL ||
        !rgIsUsableCast(pose, direction, maxFraction) || !rgWorld_PlaceTargets(world)) {
        return false;
    }
    double most = maxFraction;
    bool any = false;
    for (int i = 0; i < world->contacts.colliderCount; ++i) {
        const rgCollider* collider = &world->contacts.colliders[i];
        const rgTarget* target = &world->readout->targets[i];
        rgBox swept = rgSweptBox(geometry, pose, rgScale(most, direction));
        double fraction = 0;
        rgProximity proximity;
        if (!rgBoxesMeet(&swept, &target->box) ||
            rgIsFiltered(&world->state, world->model, collider, filter) ||
            !rgCastAt(geometry, pose, direction, most, collider->geometry, target->pose, &fraction,
                      &proximity) ||
            (any && fraction >= hit->fraction)) {
            continue;
        }
        any = true;
        most = fraction;
        *hit = rgMakeHit(collider, fraction, direction);
        hit->point = proximity.pointB;
        hit->normal = rgNegate(proximity.normal);
    }
    return any;
}

int rgWorld_Overlaps(const rgWorld* world, const rgGeometry* geometry, rgPose pose,
                     const rgQueryFilter* filter, rgShapeId* shapes, int capacity) {
    if (world == NULL || geometry == NULL || !rgPoseIsUsable(pose) ||
        !rgWorld_PlaceTargets(world)) {
        return 0;
    }
    rgBox box = rgGeometry_Box(geometry, pose);
    int count = 0;
    for (int i = 0; i < world->contacts.colliderCount; ++i) {
        const rgCollider* collider = &world->contacts.colliders[i];
        const rgTarget* target = &world->readout->targets[i];
        if (rgBoxesMeet(&box, &target->box) &&
            !rgIsFiltered(&world->state, world->model, collider, filter) &&
            rgOverlap(geometry, pose, collider->geometry, target->pose)) {
            if (count < capacity) {
                shapes[count] = (rgShapeId){collider->shape + 1};
            }
            ++count;
        }
    }
    return count;
}

rgResult rgWorld_ShapeDistance(const rgWorld* world, rgShapeId a, rgShapeId b,
                               rgProximity* proximity) {
    if (world == NULL || proximity == NULL || rgModel_Shape(world->model, a) == NULL ||
        rgModel_Shape(world->model, b) == NULL) {
        return rg_errorArgument;
    }
    const rgGeometry* A = world->contacts.geometries[a.index1 - 1];
    const rgGeometry* B = world->contacts.geometries[b.index1 - 1];
    if (A == NULL || B == NULL) {
        return rg_errorUnsupported;
    }
    return rgDistance(A, rgWorld_ShapePose(world, a), B, rgWorld_ShapePose(world, b), NULL,
                      proximity);
}

// ---- rigid-body quantities

rgDynamics* rgWorld_Dynamics(const rgWorld* world) {
    if (world == NULL) {
        return NULL;
    }
    rgReadout* readout = world->readout;
    if (readout->query == NULL) {
        rgDynamicsDef def = rgDefaultDynamicsDef(world->variant.shared);
        def.allocator = world->heap.allocator;
        if (rgCreateDynamics(world->variant.shared, &def, &readout->query) != rg_ok) {
            return NULL;
        }
    }
    if (!readout->queryValid) {
        readout->query->model = world->model;
        readout->query->gravity = world->settings.gravity;
        rgState_PlaceNow(&world->state, world->model, readout->query);
        rgDynamics_SetState(readout->query, world->state.q, world->state.v);
        readout->queryValid = true;
    }
    return readout->query;
}

rgSpatial rgWorld_FrameAcceleration(const rgWorld* world, rgFrameId frame) {
    return world != NULL ? rgDynamics_FrameAcceleration(rgWorld_StartDynamics(world), frame,
                                                        rg_referenceAligned)
                         : (rgSpatial){0};
}
