// Tendons: length, limits, dry friction, and springs and dampers, which couple degrees of freedom
// and hence are compliant rows instead of entries of M^. docs/theory/constraints.md (7).
#include "world/world.h"

double rgTendonLength(const rgModel* model, int tendon, const double* q) {
    const rgTendonDef* def = &model->tendons[tendon];
    double length = 0;
    for (int k = 0; k < def->jointCount; ++k) {
        length += def->coefficients[k] * q[model->jointRanges[def->joints[k].index1 - 1].q];
    }
    return length;
}

int rgTendonEntries(rgWorld* world, int tendon, double scale) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    int count = 0;
    for (int k = 0; k < def->jointCount; ++k) {
        int dof = model->jointRanges[def->joints[k].index1 - 1].v;
        rgAddEntry(world, &count, dof, scale * def->coefficients[k]);
    }
    return count;
}

static int rgAddTendonRow(rgWorld* world, int tendon, rgBlock block, double sign, int row) {
    int count = rgTendonEntries(world, tendon, sign);
    int first = rgRows_AddRow(world, block, count, world->entryColumns, world->entryValues);
    if (first >= 0) {
        world->rows.sources[first] = (rgRowSource){.kind = rg_constraintTendon,
                                                   .index = tendon,
                                                   .row = row,
                                                   .slot = world->slots.tendon + 4 * tendon + row};
    }
    return first;
}

static double rgTendonRate(const rgWorld* world, int tendon, const double* v) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    double rate = 0;
    for (int k = 0; k < def->jointCount; ++k) {
        rate += def->coefficients[k] * v[model->jointRanges[def->joints[k].index1 - 1].v];
    }
    return rate;
}

static rgResult rgAddTendonLimit(rgWorld* world, int tendon, double phi, double sign, int row) {
    if (!rgLimitIsNear(world, phi, rgTendonRate(world, tendon, world->startV),
                       rgTendonRate(world, tendon, world->freeV))) {
        return rg_ok;
    }
    int first = rgAddTendonRow(world, tendon, (rgBlock){.kind = rg_blockHalfLine}, sign, row);
    if (first < 0) {
        return rg_errorMemory;
    }
    int link = world->model->dofs[world->rows.column[world->rows.rowStart[first]]].link;
    double ahead = rgWorld_TimeAhead(world, link, link);
    rgLaw law = rgUnilateralLaw(world, rgTouchingGap(phi), ahead);
    world->rows.gap[first] = phi;
    world->rows.bias[first] = law.bias;
    world->rows.compliance[first] = law.compliance;
    return rg_ok;
}

static rgResult rgAddTendonLimits(rgWorld* world, int tendon) {
    const rgTendonDef* def = &world->model->tendons[tendon];
    double length = world->length[tendon];
    if (!def->hasLimits || world->def.ignoreLimits) {
        return rg_ok;
    }
    rgResult result = rgAddTendonLimit(world, tendon, length - def->lower, 1, 0);
    return result == rg_ok ? rgAddTendonLimit(world, tendon, def->upper - length, -1, 1) : result;
}

static rgResult rgAddTendonFriction(rgWorld* world, int tendon) {
    double bound = world->dt * world->model->tendons[tendon].dryFriction;
    if (bound == 0) {
        return rg_ok;
    }
    rgBlock block = {.kind = rg_blockBox, .lower = -bound, .upper = bound};
    return rgAddTendonRow(world, tendon, block, 1, 2) >= 0 ? rg_ok : rg_errorMemory;
}

static rgResult rgAddTendonSpring(rgWorld* world, int tendon) {
    const rgTendonDef* def = &world->model->tendons[tendon];
    if (def->stiffness == 0 && def->damping == 0) {
        return rg_ok;
    }
    int first = rgAddTendonRow(world, tendon, (rgBlock){.kind = rg_blockFree}, 1, 3);
    if (first < 0) {
        return rg_errorMemory;
    }
    double stretch = world->length[tendon] - def->springReference;
    world->rows.gap[first] = stretch;
    rgSoftness soft = {def->stiffness, def->damping};
    rgLaw law = rgSpringLaw(world, first, soft, stretch, 0);
    world->rows.compliance[first] = law.compliance;
    world->rows.bias[first] = law.bias;
    return rg_ok;
}

static bool rgTendonSleeps(const rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    bool asleep = false;
    for (int k = 0; k < def->jointCount; ++k) {
        int dof = model->jointRanges[def->joints[k].index1 - 1].v;
        asleep = asleep || rgWorld_LinkSleeps(world, model->dofs[dof].link);
    }
    return asleep;
}

rgResult rgAddTendons(rgWorld* world) {
    rgResult result = rg_ok;
    for (int t = 0; t < world->model->info.tendonCount && result == rg_ok; ++t) {
        if (rgTendonSleeps(world, t)) {
            continue;
        }
        result = rgAddTendonLimits(world, t);
        result = result == rg_ok ? rgAddTendonFriction(world, t) : result;
        result = result == rg_ok ? rgAddTendonSpring(world, t) : result;
    }
    return result;
}
