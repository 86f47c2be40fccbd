// Kinematics of a step: positions drift to its middle, and links are placed there. step.1, free.5.
#include "world/world.h"

#include <string.h>

// step.1: To the middle of the step.
static void rgKinematics_DriftToMiddle(rgKinematics* kinematics, rgState* state,
                                       const rgSettings* settings) {
    const rgModel* model = kinematics->dynamics->model;
    memcpy(kinematics->q, state->q, (size_t)model->qCount * sizeof(double));
    rgModel_StepVelocity(model, state->q, state->v, kinematics->v);
    bool drifts = settings->integrator == rg_integratorMidpoint;
    for (int t = 0; t < model->treeCount; ++t) {
        if (kinematics->driftTime[t] > 0) {
            rgKinematics_IntegrateTree(kinematics, t, state->q, kinematics->v,
                                       kinematics->driftTime[t], kinematics->q);
        }
    }
    if (drifts) {
        rgKinematics_TransformVelocity(kinematics, state->q, kinematics->q, kinematics->v);
    }
    memcpy(kinematics->predictor, state->predictor, (size_t)model->vCount * sizeof(double));
    if (drifts) {
        rgKinematics_TurnRates(kinematics, kinematics->predictor, false);
    }
    for (int i = 0; i < model->vCount; ++i) {
        kinematics->midV[i] = kinematics->v[i] + kinematics->predictor[i];
    }
}

// Powers of two, so that small changes of masses leave the law of springs as it is.
void rgKinematics_FindCoupling(rgKinematics* kinematics) {
    rgDynamics* dynamics = kinematics->dynamics;
    const rgModel* model = dynamics->model;
    rgDynamics_SetPositions(dynamics, model->neutral);
    rgDynamics_NeedMass(dynamics);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* range = &model->trees[t];
        bool good = rgDynamics_FactorizeTree(dynamics, t, NULL) == rg_ok;
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
            double mass = dynamics->mass[model->dofs[i].rowStart];
            kinematics->coupling[i] =
                good ? exp2(round(log2(mass * dynamics->inverseDiagonal[i]))) : 1;
        }
    }
    kinematics->isCoupled = true;
}

void rgWorld_Place(rgWorld* world) {
    const rgModel* model = world->model;
    if (!world->kinematics.isCoupled) {
        rgKinematics_FindCoupling(&world->kinematics);
    }
    rgKinematics_DriftToMiddle(&world->kinematics, &world->state, &world->settings);
    rgKinematics_MoveLinks(&world->kinematics, &world->state, &world->settings);
    rgDynamics_SetState(world->kinematics.dynamics, world->kinematics.q, world->kinematics.v);
    for (int i = 0; i < rgModel_AllLinks(model); ++i) {
        rgMat3 m = rgMat3FromRot(&world->kinematics.dynamics->poses[i].r);
        world->kinematics.rotations[i] = rgQuatFromMat3(&m);
    }
    rgTransmission_PlaceTendons(&world->transmission, &world->kinematics);
    rgWorld_PlaceActuators(world);
    rgWorld_StartFast(world);
}

static bool rgState_TreeMoves(const rgState* state, const rgModel* model, int tree) {
    const rgTree* range = &model->trees[tree];
    bool moves = false;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        moves = moves || state->v[i] != 0;
    }
    return moves;
}

// Trees whose state was set stay at q until collision detection finds their path free.
rgResult rgUpdateKinematics(rgStep* step) {
    rgWorld* world = step->world;
    bool drifts = world->settings.integrator == rg_integratorMidpoint;
    rgSleep_Start(&world->sleep, &world->state, world->model);
    for (int t = 0; t < world->model->treeCount; ++t) {
        bool wasSet =
            world->state.isSet[t] != 0 && rgState_TreeMoves(&world->state, world->model, t);
        world->kinematics.driftTime[t] = drifts && !wasSet ? 0.5 * world->settings.dt : 0;
    }
    rgWorld_Place(world);
    return rg_ok;
}

void rgKinematics_SetLinkVelocities(const rgKinematics* kinematics, const double* v) {
    const rgModel* model = kinematics->dynamics->model;
    const rgSpatial* axes = kinematics->dynamics->axes;
    rgSpatial* out = kinematics->linkVelocities;
    out[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = out[link->parent];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            sum.linear = rgAddScaled(sum.linear, v[k], axes[k].linear);
            sum.angular = rgAddScaled(sum.angular, v[k], axes[k].angular);
        }
        out[i] = sum;
    }
    for (int i = model->linkCount; i < model->linkCount + model->kinematicCount; ++i) {
        out[i] = kinematics->dynamics->velocities[i];
    }
}

static inline rgVec3 rgKinematics_SideVelocity(const rgKinematics* kinematics,
                                               const rgContactSet* contacts, int collider,
                                               rgVec3 position) {
    int link = contacts->colliders[collider].link;
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    const rgSpatial* V = &kinematics->linkVelocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(kinematics->dynamics, link));
    return rgAdd(V->linear, rgCross(V->angular, arm));
}

rgVec3 rgKinematics_PointVelocity(const rgKinematics* kinematics, const rgContactSet* contacts,
                                  const rgContactPoint* point) {
    return rgSub(
        rgKinematics_SideVelocity(kinematics, contacts, point->colliderB, point->position),
        rgKinematics_SideVelocity(kinematics, contacts, point->colliderA, point->position));
}

double rgContactSet_StraightGap(const rgContactSet* contacts, const rgKinematics* kinematics,
                                const rgSettings* settings, const rgContactPoint* point) {
    int linkA = contacts->colliders[point->colliderA].link;
    int linkB = contacts->colliders[point->colliderB].link;
    return point->gap +
           rgKinematics_TimeAhead(kinematics, settings, linkA, linkB) *
               rgDot(point->normal, rgKinematics_PointVelocity(kinematics, contacts, point));
}

// A tree of one free link without armature or damping, outside fluids.
static bool rgIsFreeBody(const rgModel* model, const rgTree* tree) {
    const rgLink* link = &model->links[tree->firstLink];
    bool alone = tree->linkCount == 1 && link->kind == rg_linkFree && !rgWorld_HasFluid(model);
    for (int k = 0; alone && k < tree->dofCount; ++k) {
        const rgDof* dof = &model->dofs[tree->firstDof + k];
        alone = dof->armature == 0 && dof->damping == 0;
    }
    return alone;
}

void rgKinematics_Plan(rgKinematics* kinematics) {
    const rgModel* model = kinematics->dynamics->model;
    for (int t = 0; t < model->treeCount; ++t) {
        kinematics->isFreeBody[t] = rgIsFreeBody(model, &model->trees[t]);
    }
    kinematics->isCoupled = false;
}

rgResult rgKinematics_Create(rgWorld* world) {
    rgKinematics* k = &world->kinematics;
    const rgModelInfo* info = &world->model->info;
    int nv = world->model->vCount;
    int nq = world->model->qCount;
    int links = rgModel_AllLinks(world->model);
    bool good = true;
    k->leverArm = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    k->linkLeverArm = rgHeap_Allocate(&world->heap, links, sizeof(double), &good);
    k->links =
        rgHeap_Allocate(&world->heap, world->model->kinematicCount, sizeof(rgKinematicLink), &good);
    k->isFreeBody = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(bool), &good);
    k->rotations = rgHeap_Allocate(&world->heap, links, sizeof(rgQuat), &good);
    k->linkVelocities = rgHeap_Allocate(&world->heap, links, sizeof(rgSpatial), &good);
    k->q = rgHeap_Allocate(&world->heap, nq, sizeof(double), &good);
    k->v = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    k->midV = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    k->predictor = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    k->driftTime = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(double), &good);
    k->scratch = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    k->coupling = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    if (!good) {
        return rg_errorMemory;
    }
    memcpy(k->q, world->model->neutral, (size_t)world->model->qCount * sizeof(double));
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(world->model);
    dynamics.gravity = world->settings.gravity;
    dynamics.coordinates = rg_velocityStep;
    dynamics.allocator = world->heap.allocator;
    return rgCreateDynamics(world->model, &dynamics, &k->dynamics);
}

void rgKinematics_Destroy(rgKinematics* kinematics) {
    rgDestroyDynamics(kinematics->dynamics);
}
