// Tangents of a state: from what users see to where the step is computed, and from there to the new
// state. docs/theory/step_derivatives.md.
#include "world/linearize.h"

#include <string.h>

static rgQuat rgQuatAt(const double* q) {
    return (rgQuat){q[0], q[1], q[2], q[3]};
}

static rgVec3 rgVecAt(const double* x) {
    return rgVec(x[0], x[1], x[2]);
}

static void rgPutVec(rgVec3 x, double* out) {
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

// A turn of a joint over a time: the change of its end, about the axes there.
typedef struct rgTurnMap {
    rgQuat from, to;
    rgMat3 jacobian; // time Jr
    rgQuat turn;
} rgTurnMap;

static rgTurnMap rgMakeTurn(rgQuat from, rgVec3 rate, double time) {
    rgVec3 r = rgScale(time, rate);
    rgMat3 J = rgRotationJacobian(r);
    rgTurnMap map = {.from = from, .turn = rgQuatFromRotationVector(r)};
    map.to = rgQuatNormalize(rgQuatMultiply(from, map.turn));
    for (int k = 0; k < 9; ++k) {
        map.jacobian.m[k] = time * J.m[k];
    }
    return map;
}

static rgVec3 rgTurnMap_Change(const rgTurnMap* map, rgVec3 angle, rgVec3 rate) {
    return rgAdd(rgRotateBack(map->turn, angle), rgMat3_Multiply(&map->jacobian, rate));
}

// Changes of a free joint: position, angle, velocity, rate.
typedef struct rgFreeChange {
    rgVec3 p, angle, v, rate;
} rgFreeChange;

static rgFreeChange rgUnitChange(int column) {
    double x[12] = {0};
    x[column] = 1;
    return (rgFreeChange){rgVecAt(x), rgVecAt(x + 3), rgVecAt(x + 6), rgVecAt(x + 9)};
}

// step_derivatives.2 What the arm of a free body's centre adds to where its origin goes and how
// fast.
static rgVec3 rgSwing(rgQuat at, rgVec3 rate, rgVec3 center, const rgFreeChange* change,
                      rgVec3 angle) {
    rgVec3 s = rgCross(rate, center), ds = rgCross(change->rate, center);
    return rgRotate(at, rgAdd(ds, rgCross(angle, s)));
}

// step_derivatives.1, step_derivatives.2 q, v -> Q, V. Linear ones of the change are in body axes.
static rgFreeChange rgStartChange(const rgTurnMap* turn, double time, rgVec3 center,
                                  const double* v, const rgFreeChange* in) {
    rgVec3 rate = rgVecAt(v + 3);
    rgFreeChange out = {.rate = in->rate};
    out.angle = rgTurnMap_Change(turn, in->angle, in->rate);
    rgVec3 dv = rgRotate(turn->from, rgAdd(in->v, rgCross(in->angle, rgVecAt(v))));
    rgVec3 dc = rgAdd(dv, rgSwing(turn->from, rate, center, in, in->angle));
    out.p = rgAddScaled(rgRotate(turn->from, in->p), time, dc);
    out.p = rgAdd(out.p, rgRotate(turn->from, rgCross(in->angle, center)));
    out.p = rgSub(out.p, rgRotate(turn->to, rgCross(out.angle, center)));
    out.v = rgSub(dc, rgSwing(turn->to, rate, center, in, out.angle));
    return out;
}

// step_derivatives.3 Q and the velocity -> q+, in world axes.
static rgFreeChange rgEndChange(const rgTurnMap* turn, double time, rgVec3 center, const double* v,
                                const rgFreeChange* in) {
    rgVec3 rate = rgVecAt(v + 3);
    rgFreeChange out = {.angle = rgTurnMap_Change(turn, in->angle, in->rate)};
    rgVec3 dc = rgAdd(in->v, rgSwing(turn->from, rate, center, in, in->angle));
    out.p = rgAddScaled(in->p, time, dc);
    out.p = rgAdd(out.p, rgRotate(turn->from, rgCross(in->angle, center)));
    out.p = rgSub(out.p, rgRotate(turn->to, rgCross(out.angle, center)));
    return out;
}

static void rgPutColumn(const rgVec3 first, const rgVec3 second, int column, double* matrix) {
    double x[6];
    rgPutVec(first, x);
    rgPutVec(second, x + 3);
    for (int i = 0; i < 6; ++i) {
        matrix[6 * i + column] = x[i];
    }
}

static void rgFreeMaps(const rgWorld* world, const rgLink* link, const double* velocity,
                       rgJointMaps* maps) {
    const double *q = world->state.q + link->q, *v = world->state.v + link->v;
    const double *Q = world->kinematics.q + link->q, *end = velocity + link->v;
    double time = world->kinematics.driftTime[link->tree], rest = world->settings.dt - time;
    bool whole = world->kinematics.isFreeBody[link->tree];
    rgVec3 center = whole ? link->center : rgVec(0, 0, 0);
    rgTurnMap start = rgMakeTurn(rgQuatAt(q + 3), rgVecAt(v + 3), time);
    rgTurnMap turn = rgMakeTurn(rgQuatAt(Q + 3), rgVecAt(end + 3), rest);
    rgQuat after = rgQuatAt(world->next.q + link->q + 3);
    rgVec3 rate = rgVecAt(end + 3), body = rgVecAt(world->next.bodyV + link->v);
    for (int k = 0; k < 12; ++k) {
        rgFreeChange in = rgUnitChange(k), zero = {0};
        rgFreeChange first = rgStartChange(&start, time, center, v, &in);
        rgFreeChange last = rgEndChange(&turn, rest, center, end, &in);
        rgPutColumn(first.p, first.angle, k % 6, k < 6 ? maps->startQq : maps->startQv);
        rgPutColumn(first.v, first.rate, k % 6, k < 6 ? maps->startVq : maps->startVv);
        rgPutColumn(last.p, last.angle, k % 6, k < 6 ? maps->endQ : maps->endV);
        // step_derivatives.4 as users see it
        rgVec3 swing = rgSwing(turn.from, rate, center, &in, in.angle);
        swing = rgSub(swing, rgSwing(after, rate, center, &in, zero.angle));
        rgPutColumn(rgRotateBack(after, rgAdd(in.v, swing)), in.rate, k % 6,
                    k < 6 ? maps->outQ : maps->outV);
        if (k < 6) {
            rgFreeChange still = {0};
            rgVec3 turned = rgSwing(after, rate, center, &still, in.angle);
            rgVec3 seen = rgSub(rgCross(body, in.angle), rgRotateBack(after, turned));
            rgPutColumn(seen, rgVec(0, 0, 0), k, maps->outN);
            rgPutColumn(rgRotateBack(after, in.p), in.angle, k, maps->turn);
        }
    }
}

static void rgBallMaps(const rgWorld* world, const rgLink* link, const double* velocity,
                       rgJointMaps* maps) {
    const double *q = world->state.q + link->q, *v = world->state.v + link->v;
    const double *Q = world->kinematics.q + link->q, *end = velocity + link->v;
    double time = world->kinematics.driftTime[link->tree], rest = world->settings.dt - time;
    rgTurnMap start = rgMakeTurn(rgQuatAt(q), rgVecAt(v), time);
    rgTurnMap turn = rgMakeTurn(rgQuatAt(Q), rgVecAt(end), rest);
    memset(maps, 0, sizeof(*maps));
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2), none = rgVec(0, 0, 0);
        rgVec3 columns[4] = {rgTurnMap_Change(&start, e, none), rgTurnMap_Change(&start, none, e),
                             rgTurnMap_Change(&turn, e, none), rgTurnMap_Change(&turn, none, e)};
        double* matrices[4] = {maps->startQq, maps->startQv, maps->endQ, maps->endV};
        for (int c = 0; c < 4; ++c) {
            double x[3];
            rgPutVec(columns[c], x);
            for (int i = 0; i < 3; ++i) {
                matrices[c][3 * i + k] = x[i];
            }
        }
        maps->startVv[4 * k] = maps->outV[4 * k] = maps->turn[4 * k] = 1;
    }
}

void rgLinearize_State(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    double* velocity = l->work;
    for (int i = 0; i < l->n; ++i) {
        velocity[i] = rgLinearize_CoordinateVelocity(world, i);
    }
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->kind == rg_linkFree) {
            rgFreeMaps(world, link, velocity, &l->maps[i]);
        } else if (link->kind == rg_linkSpherical) {
            rgBallMaps(world, link, velocity, &l->maps[i]);
        }
    }
}

// out += a x, k x k; transposed: a' x.
static void rgAddBlock(int k, const double* a, bool transposed, const double* x, double* out) {
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j < k; ++j) {
            out[i] += a[transposed ? k * j + i : k * i + j] * x[j];
        }
    }
}

// Rows by Q and V of a joint become those by q and v.
static inline __attribute__((always_inline)) void
rgPullJoint(const rgJointMaps* maps, int k, int rowCount, size_t n, size_t width, double* matrix) {
    for (int r = 0; r < rowCount; ++r) {
        double *byQ = matrix + (size_t)r * width, *byV = byQ + n, q[6] = {0}, v[6] = {0};
        for (int i = 0; i < k; ++i) {
            for (int j = 0; j < k; ++j) {
                q[j] += byQ[i] * maps->startQq[k * i + j] + byV[i] * maps->startVq[k * i + j];
                v[j] += byQ[i] * maps->startQv[k * i + j] + byV[i] * maps->startVv[k * i + j];
            }
        }
        memcpy(byQ, q, (size_t)k * sizeof(double));
        memcpy(byV, v, (size_t)k * sizeof(double));
    }
}

void rgLinearize_PullStart(const rgWorld* world, const rgLinearization* l, int rowCount,
                           double* matrix) {
    const rgModel* model = world->model;
    size_t n = (size_t)l->n, width = (size_t)l->width;
    double* times = l->work; // of degrees of freedom that move on by themselves
    memset(times, 0, n * sizeof(double));
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->vCount == 1) {
            times[link->v] = world->kinematics.driftTime[link->tree];
        } else if (link->vCount == 3) {
            rgPullJoint(&l->maps[i], 3, rowCount, n, width, matrix + link->v);
        } else {
            rgPullJoint(&l->maps[i], 6, rowCount, n, width, matrix + link->v);
        }
    }
    for (int r = 0; r < rowCount; ++r) {
        double *byQ = matrix + (size_t)r * width, *byV = byQ + n;
        for (size_t j = 0; j < n; ++j) {
            byV[j] += times[j] * byQ[j];
        }
    }
}

// out rows of a joint += a times other rows, or times rows of the identity that begin at a column.
static void rgAddRows(const rgLinearization* l, int k, const double* a, const double* rows,
                      double* out) {
    rgAddProduct(k, k, l->width, a, rows, out);
}

static void rgAddIdentity(const rgLinearization* l, int k, const double* a, int column,
                          double* out) {
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j < k; ++j) {
            out[(size_t)i * (size_t)l->width + (size_t)(column + j)] += a[k * i + j];
        }
    }
}

// step_derivatives.3 change is that of the velocity that moves the coordinates.
void rgLinearize_PushEnd(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    size_t width = (size_t)l->width;
    memset(l->next, 0, (size_t)l->n * width * sizeof(double));
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        size_t at = (size_t)link->v * width;
        double rest = world->settings.dt - world->kinematics.driftTime[link->tree];
        if (link->vCount == 1) {
            for (size_t j = 0; j < width; ++j) {
                l->next[at + j] = rest * l->change[at + j];
            }
            l->next[at + (size_t)link->v] += 1;
            continue;
        }
        rgAddRows(l, link->vCount, l->maps[i].endV, l->change + at, l->next + at);
        rgAddIdentity(l, link->vCount, l->maps[i].endQ, link->v, l->next + at);
    }
}

// step_derivatives.4, step_derivatives.5
void rgLinearize_PushOut(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    size_t width = (size_t)l->width;
    memcpy(l->out, l->change, (size_t)l->n * width * sizeof(double));
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->vCount == 1) {
            continue;
        }
        const rgJointMaps* maps = &l->maps[i];
        int k = link->vCount;
        size_t at = (size_t)link->v * width, bytes = (size_t)k * width * sizeof(double);
        memset(l->out + at, 0, bytes);
        rgAddRows(l, k, maps->outV, l->change + at, l->out + at);
        rgAddIdentity(l, k, maps->outQ, link->v, l->out + at);
        rgAddRows(l, k, maps->outN, l->next + at, l->out + at);
        memset(l->work, 0, bytes);
        rgAddRows(l, k, maps->turn, l->next + at, l->work);
        memcpy(l->next + at, l->work, bytes);
    }
}

void rgLinearize_PullOut(const rgWorld* world, const rgLinearization* l, const double* qBar,
                         const double* vBar, double* nextBar, double* endBar, double* QBar) {
    const rgModel* model = world->model;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        int v = link->v, k = link->vCount;
        if (k == 1) {
            nextBar[v] += qBar[v];
            endBar[v] += vBar[v];
            continue;
        }
        const rgJointMaps* maps = &l->maps[i];
        rgAddBlock(k, maps->turn, true, qBar + v, nextBar + v);
        rgAddBlock(k, maps->outN, true, vBar + v, nextBar + v);
        rgAddBlock(k, maps->outV, true, vBar + v, endBar + v);
        rgAddBlock(k, maps->outQ, true, vBar + v, QBar + v);
    }
}

void rgLinearize_PullEnd(const rgWorld* world, const rgLinearization* l, const double* nextBar,
                         double* endBar, double* QBar) {
    const rgModel* model = world->model;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        int v = link->v, k = link->vCount;
        if (k == 1) {
            endBar[v] +=
                (world->settings.dt - world->kinematics.driftTime[link->tree]) * nextBar[v];
            QBar[v] += nextBar[v];
            continue;
        }
        rgAddBlock(k, l->maps[i].endV, true, nextBar + v, endBar + v);
        rgAddBlock(k, l->maps[i].endQ, true, nextBar + v, QBar + v);
    }
}

void rgMovePositions(const rgModel* model, const double* from, int column, double by, double* q) {
    const rgLink* link = &model->links[model->dofs[column].link];
    int k = column - link->v, turn = link->vCount - 3;
    double* out = q + link->q;
    if (link->vCount == 1 || k < turn) {
        out[k] = from[link->q + k] + by;
        return;
    }
    const double* quat = from + link->q + turn;
    rgVec3 axis = rgVec(k == turn, k == turn + 1, k == turn + 2);
    rgQuat next = rgQuatNormalize(rgQuatMultiply((rgQuat){quat[0], quat[1], quat[2], quat[3]},
                                                 rgQuatFromRotationVector(rgScale(by, axis))));
    out += turn;
    out[0] = next.w, out[1] = next.x, out[2] = next.y, out[3] = next.z;
}
