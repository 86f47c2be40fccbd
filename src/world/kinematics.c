// Kinematics of a step: positions drift to its middle, and links are placed there. step.1, free.3.
#include "world/world.h"

#include <string.h>

// step.1: To the middle of the step.
static void rgWorld_DriftToMiddle(rgWorld* world) {
    const rgModel* model = world->model;
    const rgState* state = &world->state;
    memcpy(world->kinematics.q, state->q, (size_t)model->qCount * sizeof(double));
    rgModel_StepVelocity(model, state->q, state->v, world->kinematics.v);
    bool drifts = world->settings.integrator == rg_integratorMidpoint;
    for (int t = 0; t < model->treeCount; ++t) {
        if (world->kinematics.driftTime[t] > 0) {
            rgWorld_MoveTree(world, t, state->q, world->kinematics.v,
                             world->kinematics.driftTime[t], world->kinematics.q);
        }
    }
    if (drifts) {
        rgWorld_TransformVelocity(world, state->q, world->kinematics.q, world->kinematics.v);
    }
    memcpy(world->kinematics.predictor, state->predictor, (size_t)model->vCount * sizeof(double));
    if (drifts) {
        rgWorld_TurnRates(world, world->kinematics.predictor, false);
    }
    for (int i = 0; i < model->vCount; ++i) {
        world->kinematics.midV[i] = world->kinematics.v[i] + world->kinematics.predictor[i];
    }
}

void rgWorld_Place(rgWorld* world) {
    const rgModel* model = world->model;
    rgWorld_DriftToMiddle(world);
    rgWorld_MoveKinematic(world);
    rgDynamics_SetState(world->kinematics.dynamics, world->kinematics.q, world->kinematics.v);
    for (int i = 0; i < rgModel_AllLinks(model); ++i) {
        rgMat3 m = rgMat3FromRot(&world->kinematics.dynamics->poses[i].r);
        world->kinematics.rotations[i] = rgQuatFromMat3(&m);
    }
    rgWorld_PlaceTendons(world);
    rgWorld_PlaceActuators(world);
    rgWorld_StartFast(world);
}

static bool rgWorld_TreeMoves(const rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    bool moves = false;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        moves = moves || world->state.v[i] != 0;
    }
    return moves;
}

// Trees that were set to move wait at q until collision finds their way free.
rgResult rgUpdateKinematics(rgStep* step) {
    rgWorld* world = step->world;
    bool drifts = world->settings.integrator == rg_integratorMidpoint;
    rgWorld_StartSleep(world);
    for (int t = 0; t < world->model->treeCount; ++t) {
        bool wasSet = world->state.isSet[t] != 0 && rgWorld_TreeMoves(world, t);
        world->kinematics.driftTime[t] = drifts && !wasSet ? 0.5 * world->settings.dt : 0;
    }
    rgWorld_Place(world);
    return rg_ok;
}

void rgWorld_SetLinkVelocities(const rgWorld* world, const double* v) {
    const rgModel* model = world->model;
    const rgSpatial* axes = world->kinematics.dynamics->axes;
    rgSpatial* out = world->kinematics.linkVelocities;
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
        out[i] = world->kinematics.dynamics->velocities[i];
    }
}

static inline rgVec3 rgWorld_SideVelocity(const rgWorld* world, int collider, rgVec3 position) {
    int link = world->contacts.colliders[collider].link;
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    const rgSpatial* V = &world->kinematics.linkVelocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(world->kinematics.dynamics, link));
    return rgAdd(V->linear, rgCross(V->angular, arm));
}

rgVec3 rgWorld_PointVelocity(const rgWorld* world, const rgContactPoint* point) {
    return rgSub(rgWorld_SideVelocity(world, point->colliderB, point->position),
                 rgWorld_SideVelocity(world, point->colliderA, point->position));
}

double rgWorld_StraightGap(const rgWorld* world, const rgContactPoint* point) {
    int linkA = world->contacts.colliders[point->colliderA].link;
    int linkB = world->contacts.colliders[point->colliderB].link;
    return point->gap + rgWorld_TimeAhead(world, linkA, linkB) *
                            rgDot(point->normal, rgWorld_PointVelocity(world, point));
}

bool rgIsFreeBody(const rgModel* model, const rgTree* tree) {
    const rgLink* link = &model->links[tree->firstLink];
    bool alone = tree->linkCount == 1 && link->kind == rg_linkFree && !rgWorld_HasFluid(model);
    for (int k = 0; alone && k < tree->dofCount; ++k) {
        const rgDof* dof = &model->dofs[tree->firstDof + k];
        alone = dof->armature == 0 && dof->damping == 0;
    }
    return alone;
}

rgResult rgKinematics_Create(rgWorld* world) {
    rgKinematics* k = &world->kinematics;
    const rgModelInfo* info = &world->model->info;
    int nv = world->model->vCount;
    int nq = world->model->qCount;
    int links = rgModel_AllLinks(world->model);
    bool good = true;
    k->leverArm = rgWorld_Allocate(world, nv, sizeof(double), &good);
    k->linkLeverArm = rgWorld_Allocate(world, links, sizeof(double), &good);
    k->links =
        rgWorld_Allocate(world, world->model->kinematicCount, sizeof(rgKinematicLink), &good);
    k->isFreeBody = rgWorld_Allocate(world, info->treeCount, sizeof(bool), &good);
    k->rotations = rgWorld_Allocate(world, links, sizeof(rgQuat), &good);
    k->linkVelocities = rgWorld_Allocate(world, links, sizeof(rgSpatial), &good);
    k->q = rgWorld_Allocate(world, nq, sizeof(double), &good);
    k->v = rgWorld_Allocate(world, nv, sizeof(double), &good);
    k->midV = rgWorld_Allocate(world, nv, sizeof(double), &good);
    k->predictor = rgWorld_Allocate(world, nv, sizeof(double), &good);
    k->driftTime = rgWorld_Allocate(world, info->treeCount, sizeof(double), &good);
    k->scratch = rgWorld_Allocate(world, nv, sizeof(double), &good);
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
