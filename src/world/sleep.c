// Sleep of trees that rows connect, once all of them have been slow for a while. Sleepers keep
// their positions and contact memory; collision and solver leave them out until a contact
// or a change of their inputs wakes them. step.15, step.16.
#include "world/world.h"

#include <string.h>

#define RG_ASLEEP 2 // and above: a group of trees that fell asleep together

static bool rgIsAsleep(double mark) {
    return mark >= RG_ASLEEP;
}

void rgSleep_Start(rgSleep* sleep, const rgState* state, const rgModel* model) {
    memcpy(sleep->asleep, state->asleep, (size_t)model->treeCount * sizeof(double));
}

static void rgWakeGroup(double* sleeps, int count, double mark) {
    for (int t = 0; t < count; ++t) {
        sleeps[t] = sleeps[t] == mark ? 0 : sleeps[t];
    }
}

static void rgSleep_WakeTree(rgSleep* sleep, rgState* state, const rgModel* model, int tree) {
    if (tree >= 0 && rgIsAsleep(state->asleep[tree])) {
        rgWakeGroup(state->asleep, model->treeCount, state->asleep[tree]);
    }
    if (tree >= 0 && sleep->treeCount > 0) {
        state->slowTime[tree] = 0;
    }
}

void rgSleep_WakeLink(rgSleep* sleep, rgState* state, const rgModel* model, int link) {
    rgSleep_WakeTree(sleep, state, model, model->links[link].tree);
}

void rgSleep_WakeDof(rgSleep* sleep, rgState* state, const rgModel* model, int dof) {
    rgSleep_WakeLink(sleep, state, model, model->dofs[dof].link);
}

void rgSleep_WakeAll(rgSleep* sleep, rgState* state, const rgModel* model) {
    for (int t = 0; t < model->treeCount; ++t) {
        rgSleep_WakeTree(sleep, state, model, t);
    }
}

// Wake trees that loops tie to a kinematic link.
void rgSleep_WakeLoops(rgSleep* sleep, rgState* state, const rgModel* model, int link) {
    for (int e = 0; e < model->info.equalityCount && sleep->treeCount > 0; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        if (def->kind != rg_equalityConnect && def->kind != rg_equalityWeld) {
            continue;
        }
        int a = def->bodyA.index1 > 0 ? model->bodyPlaces[def->bodyA.index1 - 1].link : 0;
        int b = def->bodyB.index1 > 0 ? model->bodyPlaces[def->bodyB.index1 - 1].link : 0;
        if (a == link || b == link) {
            rgSleep_WakeLink(sleep, state, model, a);
            rgSleep_WakeLink(sleep, state, model, b);
        }
    }
}

bool rgWorld_IsAsleep(const rgWorld* world, rgBodyId body) {
    if (world == NULL) {
        return false;
    }
    if (rgModel_Body(world->model, body) == NULL) {
        return false;
    }
    int tree = world->model->links[world->model->bodyPlaces[body.index1 - 1].link].tree;
    return tree >= 0 && rgIsAsleep(world->state.asleep[tree]);
}

// ---- pairs

static bool rgSleep_ColliderSleeps(const rgSleep* sleep, const rgModel* model,
                                   const rgCollider* collider) {
    int tree = model->links[collider->link].tree;
    return tree >= 0 && rgIsAsleep(sleep->asleep[tree]);
}

static bool rgSleep_ColliderMoves(const rgSleep* sleep, const rgKinematics* kinematics,
                                  const rgCollider* collider) {
    const rgModel* model = kinematics->dynamics->model;
    if (!rgModel_IsKinematic(model, collider->link)) {
        return rgSleep_LinkMoves(sleep, model, collider->link);
    }
    const rgSpatial* v = &kinematics->links[collider->link - model->linkCount].velocity;
    return rgDot(v->linear, v->linear) + rgDot(v->angular, v->angular) > 0;
}

rgPairRest rgSleep_PairRest(const rgSleep* sleep, const rgKinematics* kinematics,
                            const rgContactSet* contacts, int a, int b) {
    if (sleep->treeCount == 0) {
        return rg_pairAwake;
    }
    const rgCollider *A = &contacts->colliders[a], *B = &contacts->colliders[b];
    bool sleepsA = rgSleep_ColliderSleeps(sleep, kinematics->dynamics->model, A),
         sleepsB = rgSleep_ColliderSleeps(sleep, kinematics->dynamics->model, B);
    if (!sleepsA && !sleepsB) {
        return rg_pairAwake;
    }
    bool moves =
        rgSleep_ColliderMoves(sleep, kinematics, A) || rgSleep_ColliderMoves(sleep, kinematics, B);
    return moves ? rg_pairWaking : rg_pairDormant;
}

// step.16: Something comes so close that it may touch a sleeper in this step.
bool rgWorld_WakeByContact(rgWorld* world) {
    const rgMemory* next = &world->warmStart.memories[1];
    double fall = world->settings.dt * world->settings.dt * rgLength(world->settings.gravity);
    bool any = false;
    for (int i = 0; i < next->pairCount && world->sleep.treeCount > 0; ++i) {
        const rgPairMemory* pair = &next->pairs[i];
        rgManifold* manifold = &world->contacts.manifolds[i];
        if (rgSleep_PairRest(&world->sleep, &world->kinematics, &world->contacts, pair->a,
                             pair->b) != rg_pairWaking) {
            continue;
        }
        const rgCollider *A = &world->contacts.colliders[pair->a],
                         *B = &world->contacts.colliders[pair->b];
        double reach = RG_IMPACT_SPEED_RATIO * rgPairTravel(A, B);
        bool touches = false;
        for (int k = 0; k < manifold->count; ++k) {
            touches = touches || manifold->points[k].gap <= reach + fall + RG_SLOP;
        }
        if (touches) {
            const rgCollider* asleep =
                rgSleep_ColliderSleeps(&world->sleep, world->model, A) ? A : B;
            int tree = world->model->links[asleep->link].tree;
            rgWakeGroup(world->sleep.asleep, world->model->treeCount, world->sleep.asleep[tree]);
            any = true;
        } else {
            manifold->count = 0; // nothing acts on a sleeper
        }
    }
    return any;
}

int rgWorld_DormantContacts(const rgWorld* world) {
    const rgMemory* next = &world->warmStart.memories[1];
    int count = 0;
    for (int i = 0; i < next->pairCount && world->sleep.treeCount > 0; ++i) {
        const rgPairMemory* pair = &next->pairs[i];
        count += rgSleep_PairIsDormant(&world->sleep, &world->kinematics, &world->contacts, pair)
                     ? pair->contactCount
                     : 0;
    }
    return count;
}

// Contact memory of sleepers continues, behind the contacts of the step.
bool rgWorld_CopyDormant(rgWorld* world, rgPairMemory* pair) {
    const rgMemory* last = &world->warmStart.memories[0];
    rgMemory* next = &world->warmStart.memories[1];
    if (!rgSleep_PairIsDormant(&world->sleep, &world->kinematics, &world->contacts, pair)) {
        return false;
    }
    if (pair->contactCount > 0) {
        memcpy(next->contacts + next->contactCount, last->contacts + pair->firstContact,
               (size_t)pair->contactCount * sizeof(rgContactMemory));
    }
    pair->firstContact = next->contactCount;
    next->contactCount += pair->contactCount;
    return true;
}

// ---- falling asleep

static bool rgKinematics_TreeIsSlow(const rgKinematics* kinematics, const rgNext* next,
                                    const rgWorldDef* def, const rgTree* tree) {
    double most = 0;
    for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
        most = RG_MAX(most, fabs(next->v[i]) * kinematics->leverArm[i]);
    }
    return most < def->sleepSpeed;
}

// Islands that fall asleep as a whole: slow, and without rows of kinematic bodies (step.15).
void rgWorld_UpdateSleep(rgWorld* world) {
    const rgModel* model = world->model;
    double* slowTime = world->state.slowTime;
    memcpy(world->state.asleep, world->sleep.asleep, (size_t)model->treeCount * sizeof(double));
    if (world->sleep.treeCount == 0) {
        return;
    }
    rgConnectIslands(&world->constraints, model);
    for (int t = 0; t < model->treeCount; ++t) {
        bool slow = rgKinematics_TreeIsSlow(&world->kinematics, &world->next, &world->def,
                                            &model->trees[t]);
        slowTime[t] = slow ? slowTime[t] + world->settings.dt : 0;
        world->constraints.islands[t].limited = false;
    }
    for (int r = 0; r < world->constraints.rows.rowCount; ++r) {
        if (world->constraints.rows.drift[r] != 0 &&
            rgRows_Columns(&world->constraints.rows, r) > 0) {
            world->constraints.islands[rgRowIsland(&world->constraints, r)].limited = true;
        }
    }
    for (int t = 0; t < model->treeCount; ++t) {
        int root = rgFindIsland(world->constraints.islands, t);
        if (slowTime[t] < world->def.sleepTime || world->sleep.asleep[t] != 0) {
            world->constraints.islands[root].limited = true;
        }
    }
    for (int t = 0; t < model->treeCount; ++t) {
        int root = rgFindIsland(world->constraints.islands, t);
        if (!world->constraints.islands[root].limited) {
            const rgTree* tree = &model->trees[t];
            world->state.asleep[t] = RG_ASLEEP + root;
            memset(world->state.v + tree->firstDof, 0, (size_t)tree->dofCount * sizeof(double));
        }
    }
}

void rgSleep_Plan(rgSleep* sleep, const rgWorldDef* def, const rgModel* model) {
    sleep->treeCount = def->sleepTime > 0 ? model->treeCount : 0;
}

bool rgSleep_Create(rgSleep* sleep, rgHeap* heap, const rgModel* model) {
    const rgModelInfo* info = &model->info;
    bool good = true;
    sleep->asleep = rgHeap_Allocate(heap, info->treeCount, sizeof(double), &good);
    return good;
}
