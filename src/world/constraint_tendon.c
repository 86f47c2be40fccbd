// Tendons: length, limits, dry friction, and springs and dampers, which couple degrees of freedom
// and hence are compliant rows instead of entries of M^. constraints.11.
#include "world/world.h"

void rgTransmission_PlaceTendons(rgTransmission* transmission, const rgKinematics* kinematics) {
    const rgModel* model = kinematics->dynamics->model;
    for (int t = 0; t < model->info.tendonCount; ++t) {
        transmission->tendonLength[t] = rgDynamics_TendonRow(
            kinematics->dynamics, t, transmission->tendonValues + model->tendonStart[t],
            &transmission->tendonDrift[t]);
    }
}

int rgTendonEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                    const rgModel* model, int tendon, double scale) {
    int count = 0;
    for (int k = model->tendonStart[tendon]; k < model->tendonStart[tendon + 1]; ++k) {
        rgAddEntry(constraints, &count, model->tendonColumns[k],
                   scale * transmission->tendonValues[k]);
    }
    return count;
}

static int rgAddTendonRow(rgWorld* world, int tendon, rgBlock block, double sign, int row) {
    int count =
        rgTendonEntries(&world->transmission, &world->constraints, world->model, tendon, sign);
    int first =
        rgRows_AddRow(&world->constraints.rows, world->model, &world->heap.allocator, block, count,
                      world->constraints.entryColumns, world->constraints.entryValues);
    if (first >= 0) {
        world->constraints.rows.sources[first] =
            (rgRowSource){.kind = rg_constraintTendon,
                          .index = tendon,
                          .row = row,
                          .slot = world->warmStart.slots.tendon + RG_TENDON_ROWS * tendon + row};
        world->constraints.rows.drift[first] = sign * world->transmission.tendonDrift[tendon];
    }
    return first;
}

static double rgTendonRate(const rgTransmission* transmission, const rgModel* model, int tendon,
                           const double* v) {
    double rate = transmission->tendonDrift[tendon];
    for (int k = model->tendonStart[tendon]; k < model->tendonStart[tendon + 1]; ++k) {
        rate += transmission->tendonValues[k] * v[model->tendonColumns[k]];
    }
    return rate;
}

// Limit: rigid, or the end of the slack of a spring.
static rgResult rgAddTendonLimit(rgWorld* world, int tendon, double phi, int row, double k) {
    double sign = row % 2 == 0 ? 1 : -1;
    if (!rgLimitIsNear(
            world->settings.dt, phi,
            rgTendonRate(&world->transmission, world->model, tendon, world->kinematics.v),
            rgTendonRate(&world->transmission, world->model, tendon, world->free.v))) {
        return rg_ok;
    }
    int first = rgAddTendonRow(world, tendon, (rgBlock){.kind = rg_blockHalfLine}, sign, row);
    if (first < 0) {
        return rg_errorMemory;
    }
    int link =
        world->model->dofs[world->constraints.rows.column[world->constraints.rows.rowStart[first]]]
            .link;
    double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings, link, link);
    rgLaw law = rgUnilateralLaw(rgTouchingGap(phi), ahead);
    world->constraints.rows.gap[first] = phi;
    world->constraints.rows.bias[first] = law.bias;
    world->constraints.rows.compliance[first] = law.compliance;
    if (k > 0) {
        world->constraints.rows.bias[first] = phi / (phi > 0 ? ahead : world->settings.dt);
        world->constraints.rows.compliance[first] =
            1 / (world->settings.dt * world->settings.dt * k);
    }
    return rg_ok;
}

static rgResult rgAddTendonLimits(rgWorld* world, int tendon) {
    const rgTendonDef* def = &world->model->tendons[tendon];
    double length = world->transmission.tendonLength[tendon];
    if (!def->hasLimits || world->def.ignoreLimits) {
        return rg_ok;
    }
    rgResult result = rgAddTendonLimit(world, tendon, length - def->lower, 0, 0);
    if (result != rg_ok) {
        return result;
    }
    return rgAddTendonLimit(world, tendon, def->upper - length, 1, 0);
}

static rgResult rgAddTendonFriction(rgWorld* world, int tendon) {
    double bound = world->settings.dt * world->model->tendons[tendon].dryFriction;
    if (bound == 0) {
        return rg_ok;
    }
    rgBlock block = {.kind = rg_blockBox, .lower = -bound, .upper = bound};
    return rgAddTendonRow(world, tendon, block, 1, 2) >= 0 ? rg_ok : rg_errorMemory;
}

// constraints.12: A spring with slack has two one-sided ends.
static rgResult rgAddSlackSpring(rgWorld* world, int tendon) {
    const rgTendonDef* def = &world->model->tendons[tendon];
    double stretch = world->transmission.tendonLength[tendon] - def->springReference,
           k = def->stiffness;
    rgResult result = rgAddTendonLimit(world, tendon, stretch, 4, k);
    if (result != rg_ok) {
        return result;
    }
    return rgAddTendonLimit(world, tendon, def->slack - stretch, 5, k);
}

static rgResult rgAddTendonSpring(rgWorld* world, int tendon) {
    const rgTendonDef* def = &world->model->tendons[tendon];
    bool slack = def->slack > 0 && def->stiffness > 0;
    rgSoftness soft = {slack ? 0 : def->stiffness, def->damping};
    rgResult result = slack ? rgAddSlackSpring(world, tendon) : rg_ok;
    if (result != rg_ok || (soft.stiffness == 0 && soft.damping == 0)) {
        return result;
    }
    int first = rgAddTendonRow(world, tendon, (rgBlock){.kind = rg_blockFree}, 1, 3);
    if (first < 0) {
        return rg_errorMemory;
    }
    double stretch = world->transmission.tendonLength[tendon] - def->springReference;
    world->constraints.rows.gap[first] = stretch;
    rgLaw law = rgSpringLaw(&world->constraints, &world->kinematics, world->settings.dt, first,
                            soft, stretch, 0);
    world->constraints.rows.compliance[first] = law.compliance;
    world->constraints.rows.bias[first] = law.bias;
    return rg_ok;
}

// J' v: change of the rate of a length while v stays, by the rates at both ends of the step.
static double rgTendonRateChange(rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    rgDynamics* d = world->readout->now;
    double *values = world->readout->row, rates[2];
    for (int side = 0; side < 2; ++side) {
        double drift, time = (side == 0 ? -0.5 : 0.5) * world->settings.dt;
        rgKinematics_Integrate(&world->kinematics, world->kinematics.q, world->kinematics.midV,
                               time, world->transmission.triedQ);
        rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, d);
        rgDynamics_SetPositions(d, world->transmission.triedQ);
        rgDynamics_TendonRow(d, tendon, values, &drift);
        rates[side] = drift;
        for (int k = model->tendonStart[tendon]; k < model->tendonStart[tendon + 1]; ++k) {
            rates[side] += values[k - model->tendonStart[tendon]] *
                           world->kinematics.midV[model->tendonColumns[k]];
        }
    }
    world->readout->nowValid = false;
    return (rates[1] - rates[0]) / world->settings.dt;
}

// constraints.13: lambda = -armature (J v+ - J v + dt J' v)
static rgResult rgAddTendonInertia(rgWorld* world, int tendon) {
    double armature = world->model->tendons[tendon].armature;
    if (armature == 0) {
        return rg_ok;
    }
    int first = rgAddTendonRow(world, tendon, (rgBlock){.kind = rg_blockFree}, 1, 6);
    if (first < 0) {
        return rg_errorMemory;
    }
    world->constraints.rows.compliance[first] = 1 / armature;
    bool isSpatial = world->model->tendons[tendon].pointCount > 0;
    world->constraints.rows.bias[first] =
        (isSpatial ? world->settings.dt * rgTendonRateChange(world, tendon) : 0) -
        rgTendonRate(&world->transmission, world->model, tendon, world->kinematics.v);
    return rg_ok;
}

// True if a tendon has no rows: its bodies sleep or do not move.
static bool rgTendonHasNoRows(const rgSleep* sleep, const rgModel* model, int tendon) {
    int start = model->tendonStart[tendon], end = model->tendonStart[tendon + 1];
    bool rests = start == end;
    for (int k = start; k < end; ++k) {
        rests =
            rests || rgSleep_LinkSleeps(sleep, model, model->dofs[model->tendonColumns[k]].link);
    }
    return rests;
}

rgResult rgAddTendons(rgWorld* world) {
    rgResult result = rg_ok;
    for (int t = 0; t < world->model->info.tendonCount; ++t) {
        if (rgTendonHasNoRows(&world->sleep, world->model, t)) {
            continue;
        }
        result = rgAddTendonLimits(world, t);
        if (result != rg_ok) {
            return result;
        }
        result = rgAddTendonFriction(world, t);
        if (result != rg_ok) {
            return result;
        }
        result = rgAddTendonSpring(world, t);
        if (result != rg_ok) {
            return result;
        }
        result = rgAddTendonInertia(world, t);
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

void rgTransmission_MeasureTendons(rgTransmission* transmission, const rgKinematics* kinematics) {
    rgDynamics_SetPositions(kinematics->dynamics, kinematics->dynamics->model->neutral);
    for (int t = 0; t < kinematics->dynamics->model->info.tendonCount; ++t) {
        transmission->tendonNeutral[t] = rgDynamics_TendonRow(kinematics->dynamics, t, NULL, NULL);
    }
}
