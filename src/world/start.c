// Start configuration of a world: the neutral one, with joints inside their limits.
#include "world/world.h"

#include <math.h>
#include <string.h>

static bool rgJointIsOutside(const rgModel* model, int joint, const double* q, double tolerance) {
    const rgJointDef* def = &model->joints[joint];
    bool scalar = def->kind == rg_jointRevolute || def->kind == rg_jointPrismatic;
    double value = q[model->jointRanges[joint].q];
    return def->hasLimits && scalar &&
           (value < def->lower - tolerance || value > def->upper + tolerance);
}

// Joints outside their limits, and the first of them.
static int rgCountOutside(const rgModel* model, const double* q, double tolerance, int* first) {
    int count = 0;
    for (int j = model->info.jointCount - 1; j >= 0; --j) {
        if (rgJointIsOutside(model, j, q, tolerance)) {
            count += 1;
            *first = j;
        }
    }
    return count;
}

// Move joints to their nearer limit.
static void rgClampToLimits(const rgModel* model, double* q) {
    for (int j = 0; j < model->info.jointCount; ++j) {
        if (rgJointIsOutside(model, j, q, 0)) {
            double* value = &q[model->jointRanges[j].q];
            *value = RG_MIN(RG_MAX(*value, model->joints[j].lower), model->joints[j].upper);
        }
    }
}

// Alternate between the limits and the loops, whose projections are onto nearly convex sets.
static bool rgWorld_CloseWithinLimits(rgWorld* world, double* q) {
    const rgModel* model = world->model;
    int first = 0;
    bool inside = model->info.equalityCount == 0;
    for (int round = 0; !inside && round < RG_SEARCH_ITERATIONS; ++round) {
        if (rgWorld_Project(world) != rg_ok) {
            return false;
        }
        inside = rgCountOutside(model, world->state.q, RG_DEPTH_TOLERANCE, &first) == 0;
        memcpy(q, world->state.q, (size_t)model->qCount * sizeof(double));
        rgClampToLimits(model, q);
        if (!inside && rgWorld_SetState(world, q, NULL) != rg_ok) {
            return false;
        }
    }
    return inside;
}

static void rgReportStart(const rgModel* model, int joint, int count, const double* q,
                          rgDiagnostics* diagnostics) {
    const rgJointDef* def = &model->joints[joint];
    int at = model->jointRanges[joint].q;
    char more[48] = "";
    if (count > 1) {
        rgPrint(more, sizeof(more), ", and %d more joints", count - 1);
    }
    rgDiagnostics_Add(diagnostics, rg_severityNote, def->source.file, def->source.line,
                      "joint '%.60s' starts at %.4g, not %.4g, inside its limits%s", def->name,
                      q[at], model->neutral[at], more);
}

rgResult rgWorld_SetStart(rgWorld* world, rgDiagnostics* diagnostics) {
    const rgModel* model = world->model;
    int first = 0, count = rgCountOutside(model, model->neutral, 0, &first);
    if (count == 0) {
        return rgWorld_SetState(world, NULL, NULL);
    }
    double* q = rgAllocate(&world->heap.allocator, (size_t)model->qCount, sizeof(double));
    if (q == NULL) {
        return rg_errorMemory;
    }
    rgModel_StartConfiguration(model, q);
    rgResult result = rgWorld_SetState(world, q, NULL);
    if (result == rg_ok && rgWorld_CloseWithinLimits(world, q)) {
        rgReportStart(model, first, count, world->state.q, diagnostics);
    } else if (result == rg_ok) {
        result = rgWorld_SetState(world, NULL, NULL);
    }
    rgRelease(&world->heap.allocator, q);
    return result;
}
