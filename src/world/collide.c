// Where everything is, and what touches: kinematics, boxes with a speculative margin, active pairs,
// manifolds, contact points. docs/theory/step.md (14), (15), (21).
#include "world/world.h"

#include <string.h>

// Positions of the middle of the step, kinematics there.
static void rgWorld_PlaceMiddle(rgWorld* world) {
    const rgModel* model = world->model;
    rgModel_StepVelocity(model, world->state.q, world->state.v, world->startV);
    for (int t = 0; t < model->treeCount; ++t) {
        rgWorld_MoveTree(world, t, world->state.q, world->startV, world->treeLead[t],
                         world->startQ);
    }
    rgWorld_CarryVelocity(world, world->state.q, world->startQ, world->startV);
    rgDynamics_SetState(world->dynamics, world->startQ, world->startV);
    for (int i = 0; i < model->linkCount; ++i) {
        rgMat3 m = rgMat3FromRot(&world->dynamics->poses[i].r);
        world->linkRotations[i] = rgQuatFromMat3(&m);
    }
    for (int t = 0; t < model->info.tendonCount; ++t) {
        world->length[t] = rgTendonLength(model, t, world->startQ);
    }
}

static rgPose rgWorld_PlacePose(const rgWorld* world, const rgPlace* place) {
    const rgDynamics* d = world->dynamics;
    rgQuat q = world->linkRotations[place->link];
    rgVec3 p = rgAdd(rgDynamics_LinkOrigin(d, place->link), rgDynamics_PlacePoint(d, place));
    return (rgPose){p, place->isOrigin ? q : rgQuatMultiply(q, place->pose.q)};
}

static void rgWorld_MoveCollider(const rgWorld* world, rgCollider* collider) {
    const rgSpatial* V = &world->dynamics->velocities[collider->link];
    rgVec3 arm = rgSub(collider->pose.p, rgDynamics_LinkOrigin(world->dynamics, collider->link));
    double turning = rgLength(V->angular);
    collider->velocity = rgAdd(V->linear, rgCross(V->angular, arm));
    collider->spin = turning > 0 && isfinite(collider->radius) ? turning * collider->radius : 0;
}

static rgResult rgWorld_PlaceColliders(rgWorld* world) {
    const rgModel* model = world->model;
    rgResult result = rg_ok;
    for (int i = 0; i < world->colliderCount && result == rg_ok; ++i) {
        rgCollider* collider = &world->colliders[i];
        if (collider->link == 0) {
            continue; // placed at creation
        }
        collider->pose = rgWorld_PlacePose(world, &model->shapePlaces[collider->shape]);
        rgWorld_MoveCollider(world, collider);
        rgBox box = rgGeometry_Box(collider->geometry, collider->pose);
        rgVec3 grow = rgVec(1, 1, 1);
        double reach = world->dt * (rgLength(collider->velocity) + collider->spin) +
                       world->def.margin + model->shapes[collider->shape].margin;
        box.lower = rgAddScaled(box.lower, -reach, grow);
        box.upper = rgAddScaled(box.upper, reach, grow);
        result = rgBroadphase_Move(world->broadphase, i, box);
    }
    return result == rg_errorArgument ? rg_errorNumeric : result;
}

static bool rgWorld_MayMeet(int a, int b, void* context) {
    const rgWorld* world = context;
    const rgCollider *A = &world->colliders[a], *B = &world->colliders[b];
    rgShapeId shapeA = {A->shape + 1}, shapeB = {B->shape + 1};
    return (A->link != 0 || B->link != 0) && rgModel_ShapesMeet(world->model, shapeA, shapeB);
}

// Bound on how far points of a pair close in this step.
static double rgWorld_PairTravel(const rgWorld* world, const rgPairMemory* pair) {
    const rgCollider *A = &world->colliders[pair->a], *B = &world->colliders[pair->b];
    return world->dt * (rgLength(rgSub(A->velocity, B->velocity)) + A->spin + B->spin);
}

// (14) Twice the travel: where one end is stopped, the other swings on up to that much faster.
static double rgWorld_PairMargin(const rgWorld* world, const rgPairMemory* pair, double travel) {
    const rgShapeDef* shapes = world->model->shapes;
    const rgCollider *A = &world->colliders[pair->a], *B = &world->colliders[pair->b];
    double own = RG_MAX(shapes[A->shape].margin, shapes[B->shape].margin);
    return RG_MAX(2 * travel + world->def.margin, own);
}

// A fast pair is asked for all its points: those that matter are chosen by their own speed.
static int rgWorld_PairPoints(const rgWorld* world, double travel) {
    int most = world->def.maxContactsPerPair;
    return travel > world->def.margin ? RG_MANIFOLD_CAPACITY : most;
}

// Speed of a point of a link along the normal of a contact, at the start of the step.
static double rgWorld_NormalSpeed(const rgWorld* world, int link, const rgManifoldPoint* p) {
    const rgSpatial* V = &world->dynamics->velocities[link];
    rgVec3 arm = rgSub(p->position, rgDynamics_LinkOrigin(world->dynamics, link));
    return rgDot(p->normal, rgAdd(V->linear, rgCross(V->angular, arm)));
}

static double rgWorld_ClosingSpeed(const rgWorld* world, const rgPairMemory* pair,
                                   const rgManifoldPoint* p) {
    double a = rgWorld_NormalSpeed(world, world->colliders[pair->a].link, p);
    double b = rgWorld_NormalSpeed(world, world->colliders[pair->b].link, p);
    return RG_MAX(a - b, 0);
}

// (15) Drop points that stay open by far, even at twice the speed at which they or, once an impact
// turns the bodies, any point of the pair closes now.
static void rgWorld_DropDistant(const rgWorld* world, const rgPairMemory* pair,
                                rgManifold* manifold) {
    double closing[RG_MANIFOLD_CAPACITY], most = 0;
    for (int k = 0; k < manifold->count; ++k) {
        const rgManifoldPoint* p = &manifold->points[k];
        closing[k] = rgWorld_ClosingSpeed(world, pair, p);
        if (p->gap <= world->dt * closing[k]) {
            most = RG_MAX(most, closing[k]);
        }
    }
    int kept = 0;
    for (int k = 0; k < manifold->count; ++k) {
        double speed = RG_MAX(closing[k], most);
        if (manifold->points[k].gap <= world->def.margin + 2 * world->dt * speed) {
            manifold->points[kept++] = manifold->points[k];
        }
    }
    manifold->count = kept;
}

#define RG_PAIRS_PER_TASK 64

static void rgCollideChunk(int chunk, int worker, void* context) {
    (void)worker;
    rgWorld* world = context;
    rgMemory* next = &world->memories[1];
    int end = RG_MIN((chunk + 1) * RG_PAIRS_PER_TASK, next->pairCount);
    for (int i = chunk * RG_PAIRS_PER_TASK; i < end; ++i) {
        rgPairMemory* pair = &next->pairs[i];
        const rgCollider *A = &world->colliders[pair->a], *B = &world->colliders[pair->b];
        double travel = rgWorld_PairTravel(world, pair);
        rgCollideUpTo(rgWorld_PairPoints(world, travel), A->geometry, A->pose, B->geometry, B->pose,
                      rgWorld_PairMargin(world, pair, travel), &pair->cache, &world->manifolds[i]);
        rgWorld_DropDistant(world, pair, &world->manifolds[i]);
    }
}

// (21) What was open at the start of the step is not deep.
double rgWorld_GapAtStart(const rgWorld* world, double gap, double closing) {
    return gap < 0 ? fmin(gap + world->lead * fmax(closing, 0), 0) : gap;
}

static rgPoint rgMakePoint(const rgManifoldPoint* from, const rgPairMemory* pair, int index,
                           int pointCount) {
    rgPoint point = {.position = from->position,
                     .normal = from->normal,
                     .gap = fabs(from->gap) < RG_TOUCHING ? 0 : from->gap,
                     .feature = from->feature,
                     .pair = index,
                     .colliderA = pair->a,
                     .colliderB = pair->b,
                     .pointCount = pointCount};
    rgTangentBasis(point.normal, &point.tangent1, &point.tangent2);
    return point;
}

#define RG_OVERLAP_DEPTH 1e-6 // [m]

// The static assembly that a collider belongs to, or that carries its tree; 0: none.
static int rgWorld_Assembly(const rgWorld* world, const rgCollider* collider) {
    const rgModel* model = world->model;
    int body = collider->body, tree = model->links[collider->link].tree;
    if (tree >= 0) {
        int root = model->movingBodies[model->trees[tree].firstLink];
        body = model->bodies[root].parent.index1 - 1;
    }
    return body >= 0 ? model->assemblies[body] : 0;
}

// Of one tree, or hung on one base that is fixed to the world.
static bool rgWorld_SameRobot(const rgWorld* world, const rgCollider* A, const rgCollider* B) {
    const rgLink* links = world->model->links;
    int assembly = rgWorld_Assembly(world, A);
    return links[A->link].tree == links[B->link].tree ||
           (assembly != 0 && assembly == rgWorld_Assembly(world, B));
}

// Parts of one robot that overlap when they are first seen are drawn so: pushing them apart may ask
// the impossible of its joints. They are kept from going deeper, until they come apart.
static void rgWorld_JudgeOverlap(const rgWorld* world, rgPairMemory* pair,
                                 const rgManifold* manifold) {
    const rgCollider *A = &world->colliders[pair->a], *B = &world->colliders[pair->b];
    double least = 0;
    for (int k = 0; k < manifold->count; ++k) {
        least = RG_MIN(least, manifold->points[k].gap);
    }
    bool born = pair->age == 0 && least < -RG_OVERLAP_DEPTH && rgWorld_SameRobot(world, A, B);
    pair->overlap = (born || pair->overlap) && least < -RG_OVERLAP_DEPTH;
    pair->jammed = least < 0 ? pair->jammed : 0;
    pair->age = 1;
}

static rgResult rgWorld_ListPoints(rgWorld* world) {
    rgMemory* next = &world->memories[1];
    int total = 0;
    for (int i = 0; i < next->pairCount; ++i) {
        total += world->manifolds[i].count;
    }
    rgResult result = rgReserve(&world->allocator, (void**)&world->points, &world->pointCapacity, 0,
                                total, sizeof(rgPoint));
    if (result != rg_ok) {
        return result;
    }
    world->pointCount = 0;
    world->penetration = 0;
    for (int i = 0; i < next->pairCount; ++i) {
        const rgManifold* manifold = &world->manifolds[i];
        rgWorld_JudgeOverlap(world, &next->pairs[i], manifold);
        rgWatch_Pair(world, &next->pairs[i], manifold);
        for (int k = 0; k < manifold->count; ++k) {
            rgPoint point = rgMakePoint(&manifold->points[k], &next->pairs[i], i, manifold->count);
            world->points[world->pointCount++] = point;
            world->penetration = RG_MAX(world->penetration, -point.gap);
        }
    }
    return rg_ok;
}

static rgResult rgWorld_Collide(rgWorld* world) {
    rgResult result = rgWorld_PlaceColliders(world);
    if (result == rg_ok) {
        result = rgBroadphase_Update(world->broadphase, rgWorld_MayMeet, world);
    }
    if (result == rg_ok) {
        result = rgWorld_MatchPairs(world);
    }
    int pairCount = world->memories[1].pairCount;
    if (result == rg_ok) {
        result = rgReserve(&world->allocator, (void**)&world->manifolds, &world->manifoldCapacity,
                           0, pairCount, sizeof(rgManifold));
    }
    if (result == rg_ok) {
        int chunks = (pairCount + RG_PAIRS_PER_TASK - 1) / RG_PAIRS_PER_TASK;
        rgTasks_Run(&world->def.tasks, chunks, rgCollideChunk, world);
    }
    return result;
}

rgResult rgFindContacts(rgStep* step) {
    rgWorld* world = step->world;
    rgResult result = rgWorld_Collide(world);
    if (result == rg_ok) {
        result = rgWorld_ListPoints(world);
    }
    step->report->contactCount = world->pointCount;
    step->report->penetration = world->penetration;
    return result;
}

// ---- (21) A state that was set may meet something before the middle of the step, which no step
// has looked ahead to. Its trees are taken no further than there.

static void rgWorld_ShortenLead(rgWorld* world, int link, double lead) {
    int tree = world->model->links[link].tree;
    if (tree >= 0) {
        world->treeLead[tree] = RG_MIN(world->treeLead[tree], lead);
    }
}

static void rgWorld_StopAtLimits(rgWorld* world) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount && !world->def.ignoreLimits; ++j) {
        const rgJointDef* def = &model->joints[j];
        const rgJointRange* range = &model->jointRanges[j];
        if (!def->hasLimits || range->vCount != 1) {
            continue;
        }
        double q = world->state.q[range->q], v = world->state.v[range->v];
        double way = v > 0 ? RG_MAX(def->upper - q, 0) : RG_MIN(def->lower - q, 0);
        if (v != 0) {
            rgWorld_ShortenLead(world, model->dofs[range->v].link, way / v);
        }
    }
}

static bool rgWorld_PairIsRigid(const rgWorld* world, const rgPairMemory* pair) {
    rgShapeId a = {world->colliders[pair->a].shape + 1}, b = {world->colliders[pair->b].shape + 1};
    return world->def.stiffness == 0 && rgModel_PairMaterial(world->model, a, b).stiffness == 0;
}

static void rgWorld_StopAtContacts(rgWorld* world) {
    const rgMemory* next = &world->memories[1];
    for (int i = 0; i < next->pairCount; ++i) {
        const rgPairMemory* pair = &next->pairs[i];
        for (int k = 0; k < world->manifolds[i].count && rgWorld_PairIsRigid(world, pair); ++k) {
            const rgManifoldPoint* p = &world->manifolds[i].points[k];
            double closing = rgWorld_ClosingSpeed(world, pair, p);
            if (closing > 0) {
                double lead = RG_MAX(p->gap, 0) / closing;
                rgWorld_ShortenLead(world, world->colliders[pair->a].link, lead);
                rgWorld_ShortenLead(world, world->colliders[pair->b].link, lead);
            }
        }
    }
}

static rgResult rgWorld_LookAhead(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->treeLead[t] = 0;
    }
    rgWorld_PlaceMiddle(world);
    rgResult result = rgWorld_Collide(world);
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->treeLead[t] = world->lead;
    }
    if (result == rg_ok) {
        rgWorld_StopAtContacts(world);
        rgWorld_StopAtLimits(world);
    }
    return result;
}

static bool rgWorld_IsMoving(const rgWorld* world) {
    bool moving = false;
    for (int i = 0; i < world->model->vCount && !moving; ++i) {
        moving = world->state.v[i] != 0;
    }
    return moving;
}

rgResult rgUpdateKinematics(rgStep* step) {
    rgWorld* world = step->world;
    rgResult result = rg_ok;
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->treeLead[t] = world->lead;
    }
    if (*world->state.isSet != 0 && world->lead > 0 && rgWorld_IsMoving(world)) {
        result = rgWorld_LookAhead(world);
    }
    rgWorld_PlaceMiddle(world);
    return result;
}
