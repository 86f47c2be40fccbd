// A world that looks at itself: energy that rises by itself, contacts that do work, penetrations
// that come from nowhere. Nothing here changes the motion. docs/theory/step.md (16)-(18).
#include "world/world.h"

#define RG_WATCH_STEPS 8 // between two looks at the energy

// What counts as a doubt. Over two seconds of every scene and robot that we have, sound runs stay
// below half of each, and broken ones exceed some of them four times.
#define RG_DOUBT_RISE  0.03 // of the largest kinetic energy
#define RG_DOUBT_FORCE 1e4  // weights of all that moves
#define RG_DOUBT_STOP  4    // forces that stop all that moves in one step
#define RG_DOUBT_SPEED 0.3  // [m/s] of everything that moves: energies below it are nothing
#define RG_DOUBT_DEPTH 0.02 // of the smaller shape's radius, beside the next
#define RG_DOUBT_LEAST 1e-3 // [m]

static bool rgIsStiff(const rgMaterial* material) {
    return material->stiffness > 0 || material->tangentialStiffness > 0;
}

// Springs of contacts and soft loops keep energy that shows neither as motion nor as height.
static bool rgWorld_Stores(const rgWorld* world) {
    const rgModel* model = world->model;
    bool stores = world->def.stiffness > 0 || world->def.tangentialStiffness > 0;
    for (int i = 0; i < model->info.shapeCount; ++i) {
        stores = stores || rgIsStiff(&model->shapes[i].material);
    }
    for (int i = 0; i < model->pairCount; ++i) {
        stores = stores || (model->pairHasMaterial[i] && rgIsStiff(&model->pairMaterials[i]));
    }
    for (int i = 0; i < model->info.equalityCount; ++i) {
        stores = stores || model->equalities[i].stiffness > 0;
    }
    return stores;
}

void rgMonitor_Create(rgWorld* world) {
    world->monitor.stores = rgWorld_Stores(world);
    world->monitor.placed = true;
}

void rgMonitor_Disturb(rgWorld* world) {
    world->monitor.placed = true;
}

void rgMonitor_Change(rgWorld* world) {
    world->monitor.stores = world->monitor.stores || rgWorld_Stores(world);
    world->monitor.passive = false;
}

static void rgMonitor_Keep(rgMonitor* watch, rgSurprise* most, rgSurprise one, double normal,
                           rgDoubt doubt) {
    if (one.amount > most->amount) {
        *most = one;
    }
    if (one.amount > normal) {
        watch->trust.doubts |= (int)doubt;
    }
}

static double rgMonitor_NormalEnergy(const rgWorld* world, double share) {
    double slow = 0.5 * world->model->info.mass * RG_DOUBT_SPEED * RG_DOUBT_SPEED;
    return share * world->monitor.motion + slow;
}

static rgSurprise rgSurpriseAt(const rgWorld* world, double amount, const rgCollider* A,
                               const rgCollider* B) {
    return (rgSurprise){amount, *world->state.time, {A->shape + 1}, {B->shape + 1}};
}

// ---- (16) depth

void rgMonitor_Pair(rgWorld* world, rgPairMemory* pair, const rgManifold* manifold) {
    rgMonitor* watch = &world->monitor;
    const rgCollider *A = &world->contacts.colliders[pair->a],
                     *B = &world->contacts.colliders[pair->b];
    double least = 0, before = watch->placed ? 0 : pair->gap;
    for (int k = 0; k < manifold->count; ++k) {
        least = RG_MIN(least, manifold->points[k].gap);
    }
    pair->gap = least;
    if ((pair->overlap && watch->placed) || least >= before) {
        return; // placed so: parts of a robot that overlap by design
    }
    double speed = rgLength(rgSub(A->velocity, B->velocity)) + A->spin + B->spin;
    rgSurprise depth = rgSurpriseAt(world, before - least - world->settings.dt * speed, A, B);
    double normal = RG_DOUBT_LEAST + RG_DOUBT_DEPTH * RG_MIN(A->radius, B->radius);
    rgMonitor_Keep(watch, &watch->trust.depth, depth, normal, rg_doubtDepth);
}

// ---- (17) contact forces

// The largest normal force beside the weight of all that moves, and beside what stops it in a step.
static void rgMonitor_Forces(rgWorld* world) {
    rgMonitor* watch = &world->monitor;
    const rgContactPoint* point = NULL;
    double most = 0, mass = world->model->info.mass;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        double push = world->constraints.rows.lambda[world->contacts.points[i].firstRow + 2];
        point = push > most ? &world->contacts.points[i] : point;
        most = RG_MAX(push, most);
    }
    double weight = mass * rgLength(world->settings.gravity), force = most / world->settings.dt;
    if (point == NULL || weight == 0 || force <= RG_DOUBT_FORCE * weight) {
        return;
    }
    double kinetic = rgDynamics_Energy(rgWorld_Now(world)).kinetic;
    double stop = sqrt(2 * mass * RG_MAX(kinetic, watch->motion)) / world->settings.dt;
    rgSurprise one = rgSurpriseAt(world, force, &world->contacts.colliders[point->colliderA],
                                  &world->contacts.colliders[point->colliderB]);
    double normal = RG_DOUBT_FORCE * weight + RG_DOUBT_STOP * stop;
    rgMonitor_Keep(watch, &watch->trust.force, one, normal, rg_doubtForce);
}

// ---- (18) energy

static bool rgWorld_IsDriven(const rgWorld* world) {
    bool driven = world->free.stateHasWrench || world->free.compensates ||
                  world->constraints.hasBelts || rgWorld_KinematicMoves(world) ||
                  rgWorld_RegularizedRows(world) > 0 ||
                  (world->free.hasFluid && rgLengthSquared(world->model->info.options.wind) > 0);
    for (int a = 0; a < world->model->info.actuatorCount; ++a) {
        driven = driven || world->transmission.actuatorForce[a] != 0;
    }
    for (int i = 0; i < world->model->vCount; ++i) {
        driven = driven || world->state.force[i] != 0;
    }
    return driven;
}

static double rgMonitor_Energy(rgWorld* world) {
    rgEnergy energy = rgDynamics_Energy(rgWorld_Now(world));
    world->monitor.motion = RG_MAX(world->monitor.motion, energy.kinetic);
    return energy.kinetic + energy.potential + energy.spring;
}

// Of the contact springs at the start of the step.
static double rgWorld_SpringEnergy(const rgWorld* world) {
    double sum = 0;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        sum += world->contacts.points[i].springEnergy;
    }
    return sum;
}

// The state is still that of the start of the step: what to compare with.
void rgMonitor_BeforeCommit(rgWorld* world) {
    rgMonitor* watch = &world->monitor;
    bool passive = !rgWorld_IsDriven(world);
    if (passive && (watch->placed || !watch->passive)) {
        watch->count = 0;
        watch->motion = 0;
        watch->least = rgMonitor_Energy(world) + rgWorld_SpringEnergy(world);
        rgReadout_Invalidate(world->readout);
    }
    watch->passive = passive;
    watch->placed = false;
}

// The state is the new one.
void rgMonitor_AfterCommit(rgWorld* world) {
    rgMonitor* watch = &world->monitor;
    bool looks = ++watch->count % RG_WATCH_STEPS == 0;
    if (looks) {
        rgMonitor_Forces(world);
    }
    if (!looks || !watch->passive) {
        return;
    }
    double energy = rgMonitor_Energy(world);
    double normal = rgMonitor_NormalEnergy(world, RG_DOUBT_RISE);
    rgSurprise rise = {energy - watch->least, *world->state.time, {0}, {0}};
    rgMonitor_Keep(watch, &watch->trust.energy, rise, normal, rg_doubtEnergy);
    if (!watch->stores && energy < watch->least) {
        watch->least = energy;
    }
}

rgTrust rgWorld_Trust(const rgWorld* world) {
    return world != NULL ? world->monitor.trust : (rgTrust){0};
}
