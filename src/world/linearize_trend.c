// Derivatives of the change of the velocity that is foreseen (free.5), which the state holds beside
// q and v. docs/theory/step_derivatives.md.
#include "math/mat3.h"
#include "world/linearize.h"

#include <string.h>

static double* rgTrendRow(const rgLinearization* l, int row) {
    return l->trend + (size_t)row * (size_t)l->width;
}

static rgRot rgJointRotation(const rgWorld* world, const rgLink* link) {
    const double* q = world->kinematics.q + link->q + (link->kind == rg_linkFree ? 3 : 0);
    return rgRotFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
}

static bool rgTurnsFreely(const rgLink* link) {
    return link->kind == rg_linkFree || link->kind == rg_linkSpherical;
}

// Columns by what is foreseen in axes of a joint become those in axes of its parent.
static void rgTurnColumns(const rgRot* turn, int rowCount, int width, double* matrix) {
    for (int r = 0; r < rowCount; ++r) {
        double* x = matrix + (size_t)r * (size_t)width;
        rgVec3 out = rgRot_Apply(turn, rgVec(x[0], x[1], x[2]));
        x[0] = out.x, x[1] = out.y, x[2] = out.z;
    }
}

void rgLinearize_TurnTrend(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    for (int i = 1; i < model->linkCount && l->trendFirst >= 0; ++i) {
        const rgLink* link = &model->links[i];
        if (rgTurnsFreely(link)) {
            rgRot turn = rgJointRotation(world, link);
            int first = l->trendFirst + link->v + link->vCount - 3;
            rgTurnColumns(&turn, l->n, l->width, l->base + first);
            rgTurnColumns(&turn, l->n, l->width, l->force + first);
            rgTurnColumns(&turn, l->m, l->width, l->rows + first);
        }
    }
}

// Predicted change of some degrees of freedom: the last one, the present one, or none.
typedef struct rgForeseen {
    bool last, now;
} rgForeseen;

static rgForeseen rgForesee(const double* last, const double* now, int count) {
    double both = 0, a = 0, b = 0;
    for (int k = 0; k < count; ++k) {
        both += last[k] * now[k];
        a += last[k] * last[k];
        b += now[k] * now[k];
    }
    bool alike = both > 0, smaller = a < b;
    return (rgForeseen){.last = alike && smaller, .now = alike && !smaller};
}

// step_derivatives.24 of the degrees of freedom of a joint from first on.
typedef struct rgTrendPart {
    int first, count;
    rgForeseen foreseen;
} rgTrendPart;

static int rgTrendParts(const rgWorld* world, const rgLink* link, const double* now,
                        rgTrendPart parts[2]) {
    int count = link->vCount > 3 ? 2 : 1;
    for (int k = 0; k < count; ++k) {
        rgTrendPart* part = &parts[k];
        part->first = link->v + 3 * k;
        part->count = RG_MIN(link->vCount, 3);
        part->foreseen =
            rgForesee(world->state.change + part->first, now + part->first, part->count);
    }
    return count;
}

static rgVec3 rgRateChange(const rgWorld* world, const rgLink* link) {
    int w = link->v + link->vCount - 3;
    const double *end = world->next.endV + w, *start = world->kinematics.v + w;
    return rgVec(end[0] - start[0], end[1] - start[1], end[2] - start[2]);
}

static const double* rgChangeNow(rgWorld* world) {
    double* now = world->kinematics.scratch;
    rgWorld_FindChange(world, now);
    return now;
}

// True if the step uses the predictor. Euler's rule does not, and keeps its state.
static bool rgForesees(const rgWorld* world) {
    return world->settings.integrator != rg_integratorEuler;
}

void rgLinearize_PushTrend(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    size_t width = (size_t)l->width;
    int n = l->n;
    memset(l->trend, 0, 2 * (size_t)n * width * sizeof(double));
    for (int i = 0; i < 2 * n && !rgForesees(world); ++i) {
        rgTrendRow(l, i)[l->trendFirst + i] = 1;
    }
    const double* now = rgChangeNow(world);
    for (int i = 1; i < model->linkCount && rgForesees(world); ++i) {
        const rgLink* link = &model->links[i];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            memcpy(rgTrendRow(l, n + k), l->change + (size_t)k * width, width * sizeof(double));
            rgTrendRow(l, n + k)[n + k] -= 1;
        }
        if (rgTurnsFreely(link)) {
            int w = link->v + link->vCount - 3;
            rgVec3 change = rgRateChange(world, link);
            rgMat3 turned = rgSkew(change);
            rgRot turn = rgJointRotation(world, link);
            double* rows[3] = {rgTrendRow(l, n + w), rgTrendRow(l, n + w + 1),
                               rgTrendRow(l, n + w + 2)};
            for (int k = 0; k < 9; ++k) { // angle x change
                rows[k / 3][w + k % 3] -= turned.m[k];
            }
            for (size_t j = 0; j < width; ++j) {
                rgVec3 x = rgRot_Apply(&turn, rgVec(rows[0][j], rows[1][j], rows[2][j]));
                rows[0][j] = x.x, rows[1][j] = x.y, rows[2][j] = x.z;
            }
        }
        rgTrendPart parts[2];
        int count = rgTrendParts(world, link, now, parts);
        for (int p = 0; p < count; ++p) {
            for (int k = parts[p].first; k < parts[p].first + parts[p].count; ++k) {
                double* out = rgTrendRow(l, k);
                for (size_t j = 0; j < width && parts[p].foreseen.now; ++j) {
                    out[j] = 0.5 * rgTrendRow(l, n + k)[j];
                }
                out[l->trendFirst + n + k] += parts[p].foreseen.last ? 0.5 : 0;
            }
        }
    }
}

void rgLinearize_PullTrend(rgWorld* world, const rgLinearization* l, const double* bar,
                           double* endBar, double* row) {
    const rgModel* model = world->model;
    int n = l->n;
    for (int i = 0; i < 2 * n && !rgForesees(world); ++i) {
        row[l->trendFirst + i] += bar[i];
    }
    const double* now = rgChangeNow(world);
    for (int i = 1; i < model->linkCount && rgForesees(world); ++i) {
        const rgLink* link = &model->links[i];
        double by[6]; // the change
        rgTrendPart parts[2];
        int count = rgTrendParts(world, link, now, parts), v = link->v;
        for (int p = 0; p < count; ++p) {
            for (int k = parts[p].first; k < parts[p].first + parts[p].count; ++k) {
                by[k - v] = bar[n + k] + (parts[p].foreseen.now ? 0.5 * bar[k] : 0);
                row[l->trendFirst + n + k] += parts[p].foreseen.last ? 0.5 * bar[k] : 0;
            }
        }
        if (rgTurnsFreely(link)) {
            int w = link->vCount - 3;
            rgRot turn = rgJointRotation(world, link);
            rgVec3 x = rgRot_ApplyBack(&turn, rgVec(by[w], by[w + 1], by[w + 2]));
            rgVec3 angle = rgCross(rgRateChange(world, link), x);
            by[w] = x.x, by[w + 1] = x.y, by[w + 2] = x.z;
            row[v + w] += angle.x, row[v + w + 1] += angle.y, row[v + w + 2] += angle.z;
        }
        for (int k = 0; k < link->vCount; ++k) {
            endBar[v + k] += by[k];
            row[n + v + k] -= by[k];
        }
    }
}
