// Monitor: energy that rises, contact forces and penetrations that mechanics does not explain. It
// has no part in the motion. monitor.1-3.
#include "world/world.h"

static bool rgIsStiff(const rgMaterial* material) {
    return material->stiffness > 0 || material->tangentialStiffness > 0;
}

// True if springs of contacts or soft loops hold energy that rgDynamics_Energy() does not count.
static bool rgHasOtherSprings(const rgModel* model, const rgWorldDef* def) {
    bool stores = def->stiffness > 0 || def->tangentialStiffness > 0;
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

void rgMonitor_Create(rgMonitor* monitor, const rgWorldDef* def, const rgModel* model) {
    monitor->stores = rgHasOtherSprings(model, def);
    monitor->placed = true;
}

void rgMonitor_Reset(rgMonitor* monitor) {
    monitor->placed = true;
    monitor->ranAway = false;
}

void rgMonitor_Change(rgMonitor* monitor, const rgWorldDef* def, const rgModel* model) {
    monitor->stores = monitor->stores || rgHasOtherSprings(model, def);
    monitor->passive = false;
}

static void rgMonitor_Update(rgMonitor* monitor, rgAnomaly* most, rgAnomaly one, double normal,
                             rgAnomalyFlag anomaly) {
    if (one.amount > most->amount) {
        *most = one;
    }
    if (one.amount > normal) {
        monitor->health.anomalies |= (int)anomaly;
    }
}

static double rgMonitor_NormalEnergy(const rgMonitor* monitor, const rgModel* model, double share) {
    double slow = 0.5 * model->info.mass * RG_ANOMALY_SPEED * RG_ANOMALY_SPEED;
    return share * monitor->motion + slow;
}

static rgAnomaly rgAnomalyAt(const rgState* state, double amount, const rgCollider* A,
                             const rgCollider* B) {
    return (rgAnomaly){amount, *state->time, {A->shape + 1}, {B->shape + 1}};
}

// ---- depth (monitor.1)

void rgMonitor_CheckPair(rgWorld* world, rgPairMemory* pair, const rgManifold* manifold) {
    rgMonitor* monitor = &world->monitor;
    const rgCollider *A = &world->contacts.colliders[pair->a],
                     *B = &world->contacts.colliders[pair->b];
    double least = 0, before = monitor->placed ? 0 : pair->gap;
    for (int k = 0; k < manifold->count; ++k) {
        least = RG_MIN(least, manifold->points[k].gap);
    }
    pair->gap = least;
    if ((pair->overlap && monitor->placed) || least >= before) {
        return; // placed so: parts of a robot that overlap by design
    }
    double speed = rgLength(rgSub(A->velocity, B->velocity)) + A->spin + B->spin;
    rgAnomaly depth = rgAnomalyAt(&world->state, before - least - world->settings.dt * speed, A, B);
    double normal = RG_ANOMALY_LEAST_DEPTH + RG_ANOMALY_DEPTH_RATIO * RG_MIN(A->radius, B->radius);
    rgMonitor_Update(monitor, &monitor->health.depth, depth, normal, rg_anomalyDepth);
}

// ---- contact forces (monitor.2)

// Largest normal force, over the weight of all bodies and the force that stops them in a step.
static void rgMonitor_Forces(rgWorld* world) {
    rgMonitor* monitor = &world->monitor;
    const rgContactPoint* point = NULL;
    double most = 0, mass = world->model->info.mass;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        double push = world->constraints.rows.lambda[world->contacts.points[i].firstRow + 2];
        point = push > most ? &world->contacts.points[i] : point;
        most = RG_MAX(push, most);
    }
    double weight = mass * rgLength(world->settings.gravity), force = most / world->settings.dt;
    if (point == NULL || weight == 0 || force <= RG_ANOMALY_FORCE_RATIO * weight) {
        return;
    }
    double kinetic =
        rgDynamics_Energy(rgReadout_CurrentDynamics(world->readout, &world->state, world->model))
            .kinetic;
    double stop = sqrt(2 * mass * RG_MAX(kinetic, monitor->motion)) / world->settings.dt;
    rgAnomaly one = rgAnomalyAt(&world->state, force, &world->contacts.colliders[point->colliderA],
                                &world->contacts.colliders[point->colliderB]);
    double normal = RG_ANOMALY_FORCE_RATIO * weight + RG_ANOMALY_STOP_RATIO * stop;
    rgMonitor_Update(monitor, &monitor->health.force, one, normal, rg_anomalyForce);
}

// ---- energy (monitor.3)

static bool rgWorld_IsDriven(const rgWorld* world) {
    bool driven = world->free.stateHasWrench || world->free.compensates ||
                  world->constraints.hasBelts || rgKinematics_LinksMove(&world->kinematics) ||
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
    rgEnergy energy =
        rgDynamics_Energy(rgReadout_CurrentDynamics(world->readout, &world->state, world->model));
    world->monitor.motion = RG_MAX(world->monitor.motion, energy.kinetic);
    return energy.kinetic + energy.potential + energy.spring;
}

// Energy of the contact springs at the start of the step.
static double rgContactSet_SpringEnergy(const rgContactSet* contacts) {
    double sum = 0;
    for (int i = 0; i < contacts->pointCount; ++i) {
        sum += contacts->points[i].springEnergy;
    }
    return sum;
}

// monitor.3: Kinetic energy a hundred times that without the rise.
static bool rgMonitor_IsRunaway(const rgModel* model, double kinetic, double rise) {
    double slow = 0.5 * model->info.mass * RG_RUNAWAY_SPEED * RG_RUNAWAY_SPEED;
    return kinetic > slow && rise > (1 - 1.0 / RG_RUNAWAY_RATIO) * kinetic;
}

// Reference energy, from the state at the start of the step.
void rgMonitor_BeforeCommit(rgWorld* world, const rgStepReport* report) {
    rgMonitor* monitor = &world->monitor;
    monitor->unconvergedCount += report->contact.status != rg_contactSolved;
    monitor->regularizedCount += report->regularizedRows > 0;
    bool passive = report->regularizedRows == 0 && !rgWorld_IsDriven(world);
    if (passive && (monitor->placed || !monitor->passive)) {
        monitor->count = 0;
        monitor->motion = 0;
        monitor->least = rgMonitor_Energy(world) + rgContactSet_SpringEnergy(&world->contacts);
        rgReadout_Invalidate(world->readout);
    }
    monitor->passive = passive;
    monitor->placed = false;
}

// The state is the new one.
void rgMonitor_AfterCommit(rgWorld* world) {
    rgMonitor* monitor = &world->monitor;
    bool looks = ++monitor->count % RG_MONITOR_STEPS == 0;
    if (looks) {
        rgMonitor_Forces(world);
    }
    if (!looks || !monitor->passive) {
        return;
    }
    double energy = rgMonitor_Energy(world);
    double normal = rgMonitor_NormalEnergy(&world->monitor, world->model, RG_ANOMALY_ENERGY_RATIO);
    rgAnomaly rise = {energy - monitor->least, *world->state.time, {0}, {0}};
    rgMonitor_Update(monitor, &monitor->health.energy, rise, normal, rg_anomalyEnergy);
    if (!monitor->stores && energy < monitor->least) {
        monitor->least = energy;
    }
    monitor->ranAway = rgMonitor_IsRunaway(
        world->model,
        rgDynamics_Energy(rgReadout_CurrentDynamics(world->readout, &world->state, world->model))
            .kinetic,
        rise.amount);
}

// monitor.3: Bound on all speeds: driven scenes, which have no energy balance, explode too.
bool rgMonitor_IsSlow(const double* v, int count) {
    for (int i = 0; i < count; ++i) {
        if (!(fabs(v[i]) < RG_LIGHT_SPEED)) {
            return false;
        }
    }
    return true;
}

rgBodyId rgWorld_FastestBody(const rgWorld* world, double* speed) {
    rgBodyId fastest = {0};
    double most = 0;
    for (int i = 1; world != NULL && i <= world->model->info.bodyCount; ++i) {
        rgSpatial V = rgWorld_BodyVelocity(world, (rgBodyId){i});
        double size = RG_MAX(rgLength(V.linear), rgLength(V.angular));
        if (!(size <= most)) {
            most = isfinite(size) ? size : INFINITY;
            fastest.index1 = i;
        }
    }
    if (speed != NULL) {
        *speed = most;
    }
    return fastest;
}

rgHealth rgWorld_Health(const rgWorld* world) {
    return world != NULL ? world->monitor.health : (rgHealth){0};
}
