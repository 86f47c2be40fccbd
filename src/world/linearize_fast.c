// Derivatives of trees that turn fast, whose link velocities are transported and projected on the
// joints (free.10-12), by the configurations of both projections. docs/theory/step_derivatives.md.
#include "dynamics/derivative.h"
#include "world/linearize.h"

#include <string.h>

static double* rgAt(double* matrix, int width, int row, int column) {
    return matrix + (size_t)row * (size_t)width + (size_t)column;
}

bool rgWorld_AnyTransported(const rgWorld* world) {
    bool any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        any = any || world->fast.isTransported[t];
    }
    return any;
}

// Fast from the start, in one part.
static bool rgLeads(const rgWorld* world, int dof) {
    int tree = world->constraints.treeOfDof[dof];
    return world->fast.isFast[tree] && world->fast.isTransported[tree];
}

double rgLinearize_CoordinateVelocity(const rgWorld* world, int dof) {
    double change = world->fast.projectedV[dof] - world->kinematics.v[dof];
    return world->next.v[dof] + (rgLeads(world, dof) ? change : 0);
}

// ---- rates of links: of the centre of mass in world axes, of the turn in those of the link

// Columns of the rates of a link, six rows of width.
static double* rgRatesOf(const rgLinearization* l, double* rates, int link) {
    return rates + (size_t)link * 6 * (size_t)(3 * l->n);
}

static void rgAddRate(const rgLinearization* l, double* rows, int column, double scale,
                      rgVec3 linear, rgVec3 angular) {
    const double x[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int r = 0; r < 6; ++r) {
        *rgAt(rows, 3 * l->n, r, column) += scale * x[r];
    }
}

// Adds the rates of J v by v and by the configuration, columns from byV and byQ on.
static void rgAddRateSlopes(const rgWorld* world, rgLinearization* l, const rgDynamics* d, int tree,
                            const rgFlow* flow, int byV, int byQ, double* rates) {
    const rgModel* model = world->model;
    const rgTree* range = &model->trees[tree];
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const rgRot* r = &d->poses[i].r;
        const rgSpatial* V = &flow->links[i];
        rgVec3 center = rgDynamics_LinkCenter(d, i);
        double* rows = rgRatesOf(l, rates, i);
        for (int j = link->v + link->vCount - 1; j >= 0; j = model->dofs[j].parent) {
            const rgSpatial *S = &d->axes[j], *carried = &flow->carried[j];
            rgVec3 moved = rgAdd(S->linear, rgCross(S->angular, center));
            rgSpatial change = rgSpatialAdd(rgMotionCross(S, V), *carried);
            rgVec3 linear = rgAdd(change.linear, rgCross(change.angular, center));
            rgAddRate(l, rows, byV + j, 1, moved, rgRot_ApplyBack(r, S->angular));
            rgAddRate(l, rows, byQ + j, 1, rgAdd(linear, rgCross(V->angular, moved)),
                      rgRot_ApplyBack(r, carried->angular));
        }
    }
}

static rgVec3 rgSolveWith(const rgSym3* I, rgVec3 L, rgVec3 x) {
    rgVec3 a = rgVec(I->xx, I->xy - L.z, I->xz + L.y);
    rgVec3 b = rgVec(I->xy + L.z, I->yy, I->yz - L.x);
    rgVec3 c = rgVec(I->xz - L.y, I->yz + L.x, I->zz), bc = rgCross(b, c);
    double inverse = 1 / rgDot(a, bc);
    return rgVec(inverse * rgDot(x, bc), inverse * rgDot(a, rgCross(x, c)),
                 inverse * rgDot(a, rgCross(b, x)));
}

static bool rgIsRound(const rgSym3* I) {
    return I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0;
}

// free.10 by the rate, through its iterations.
static rgMat3 rgTurnSlope(const rgSym3* I, rgVec3 w, double time) {
    rgVec3 next = w, momentum = rgSym3_Multiply(I, w);
    rgVec3 e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, slope[3] = {e[0], e[1], e[2]};
    if (rgIsRound(I)) {
        return rgMat3_Identity();
    }
    for (int k = 0; k < RG_ROTATION_ITERATIONS; ++k) {
        rgVec3 L = rgScale(0.25 * time, rgAdd(momentum, rgSym3_Multiply(I, next)));
        rgVec3 after = rgSolveWith(I, L, rgAdd(momentum, rgCross(L, w)));
        for (int c = 0; c < 3; ++c) { // (I - [L]) after = I w + L x w
            rgVec3 dL = rgScale(0.25 * time, rgSym3_Multiply(I, rgAdd(e[c], slope[c])));
            rgVec3 right = rgAdd(rgSym3_Multiply(I, e[c]), rgCross(L, e[c]));
            slope[c] = rgSolveWith(I, L, rgAdd(right, rgCross(dL, rgAdd(w, after))));
        }
        next = after;
    }
    return (rgMat3){{slope[0].x, slope[1].x, slope[2].x, slope[0].y, slope[1].y, slope[2].y,
                     slope[0].z, slope[1].z, slope[2].z}};
}

// Columns of the rates of a tree after free rotation from given rates.
static void rgTurnColumns(const rgWorld* world, const rgLinearization* l, int tree, double time,
                          const rgSpatial* before, double* rates) {
    const rgTree* range = &world->model->trees[tree];
    int width = 3 * l->n;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &world->model->links[i];
        if (link->massless) {
            continue;
        }
        rgMat3 turn = rgTurnSlope(&link->moment, before[i].angular, time);
        double *x = rgAt(rgRatesOf(l, rates, i), width, 3, 0), *y = x + width, *z = y + width;
        for (int c = 0; c < width; ++c) {
            rgVec3 out = rgMat3_Multiply(&turn, rgVec(x[c], y[c], z[c]));
            x[c] = out.x, y[c] = out.y, z[c] = out.z;
        }
    }
}

// ---- free.11: M^-1 J' of the momenta

// F := J' P of the columns of the rates, n x 3n; the rates become momenta with all below.
static void rgSumColumns(const rgWorld* world, const rgLinearization* l, const rgDynamics* d,
                         int tree, double* rates, double* F) {
    const rgModel* model = world->model;
    const rgTree* range = &model->trees[tree];
    int width = 3 * l->n;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const rgRot* r = &d->poses[i].r;
        rgVec3 center = rgDynamics_LinkCenter(d, i);
        double* x[6];
        for (int k = 0; k < 6; ++k) {
            x[k] = rgAt(rgRatesOf(l, rates, i), width, k, 0);
        }
        for (int c = 0; c < width; ++c) {
            rgVec3 push = rgScale(link->mass, rgVec(x[0][c], x[1][c], x[2][c]));
            rgVec3 spin =
                rgRot_Apply(r, rgSym3_Multiply(&link->moment, rgVec(x[3][c], x[4][c], x[5][c])));
            spin = rgAdd(spin, rgCross(center, push));
            x[0][c] = push.x, x[1][c] = push.y, x[2][c] = push.z;
            x[3][c] = spin.x, x[4][c] = spin.y, x[5][c] = spin.z;
        }
    }
    for (int i = range->firstLink + range->linkCount - 1; i >= range->firstLink; --i) {
        const rgLink* link = &model->links[i];
        const double* own = rgRatesOf(l, rates, i);
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            const rgSpatial* S = &d->axes[k];
            const double axis[6] = {S->linear.x,  S->linear.y,  S->linear.z,
                                    S->angular.x, S->angular.y, S->angular.z};
            double* out = rgAt(F, width, k, 0);
            memset(out, 0, (size_t)width * sizeof(double));
            world->constraints.kernels->combineRows(6, width, axis, own, out);
        }
        double* parent = rgRatesOf(l, rates, link->parent);
        for (int c = 0; c < 6 * width && link->parent > 0; ++c) {
            parent[c] += own[c];
        }
    }
}

// D := derivative of M x - J' p by the configuration, n x n, at rates whose momenta keep their
// direction while their point rides on the link, spins their axes of the link.
static rgResult rgProjectionSlopes(const rgWorld* world, const rgLinearization* l, rgDynamics* d,
                                   const double* x, const rgSpatial* rates, double* D) {
    const rgModel* model = world->model;
    int n = l->n;
    rgResult result = rgDynamics_NeedSlopes(d);
    if (result != rg_ok) {
        return result;
    }
    rgRest rest = rgDynamics_Rest(d);
    result = rgDynamics_Slopes(d, x, NULL);
    for (int i = 1; i < model->linkCount && result == rg_ok; ++i) {
        const rgLink* link = &model->links[i];
        if (!world->fast.isTransported[link->tree] || link->massless) {
            continue;
        }
        rgVec3 center = rgDynamics_LinkCenter(d, i), none = rgVec(0, 0, 0);
        rgVec3 push = rgScale(link->mass, rates[i].linear);
        rgVec3 spin = rgRot_Apply(&d->poses[i].r, rgSym3_Multiply(&link->moment, rates[i].angular));
        rgSpatial fixed = {push, none}, total = {push, rgAdd(spin, rgCross(center, push))};
        rgTurning_AddWrench(&d->slopes->loads[i], &fixed, center);
        for (int k = i; k > 0; k = model->links[k].parent) {
            d->forces[k] = rgSpatialAddScaled(d->forces[k], -1, total);
        }
    }
    if (result == rg_ok) {
        rgDynamics_SumSlopes(d);
        memset(D, 0, (size_t)n * (size_t)n * sizeof(double));
    }
    for (int i = 0; i < n && result == rg_ok; ++i) {
        const rgDof* dof = &model->dofs[i];
        rgSlopeRow row = rgDynamics_SlopeRow(d, i);
        for (int k = 0; k < dof->depth; ++k) {
            int j = model->massColumns[dof->rowStart + k];
            *rgAt(D, n, i, j) = row.qRow[k];
            *rgAt(D, n, j, i) = row.qColumn[k];
        }
    }
    rgDynamics_Resume(d, rest);
    return result;
}

// ---- the start

// Columns by q and v of a joint become those by Q and V: x_Q = x_q T, x_V = x_v + x_q U.
static void rgStartColumns(const rgWorld* world, const rgLinearization* l, const rgLink* link,
                           int byQ, int byV, double* rows) {
    double lead = world->kinematics.driftTime[link->tree];
    int width = 3 * l->n, turn = link->vCount == 1 ? 1 : link->vCount - 3;
    rgMat3 T, U;
    if (link->vCount > 1) { // angle_q = exp(r) (angle_Q - lead Jr(r) dw)
        const double* w = world->kinematics.v + link->v + turn;
        rgVec3 r = rgScale(lead, rgVec(w[0], w[1], w[2]));
        T = rgMat3FromQuat(rgQuatFromRotationVector(r));
        rgMat3 J = rgRotationJacobian(r);
        U = rgMat3_Product(&T, &J);
    }
    for (int row = 0; row < 6; ++row) {
        double *q = rgAt(rows, width, row, byQ + link->v),
               *v = rgAt(rows, width, row, byV + link->v);
        for (int k = 0; k < turn; ++k) {
            v[k] -= lead * q[k];
        }
        for (int c = 0; c < 3 && link->vCount > 1; ++c) {
            const double* x = q + turn;
            v[turn + c] -= lead * (x[0] * U.m[c] + x[1] * U.m[3 + c] + x[2] * U.m[6 + c]);
        }
        if (link->vCount > 1) {
            double x[3] = {q[turn], q[turn + 1], q[turn + 2]};
            for (int c = 0; c < 3; ++c) {
                q[turn + c] = x[0] * T.m[c] + x[1] * T.m[3 + c] + x[2] * T.m[6 + c];
            }
        }
    }
}

// Columns of v_Q by Q and V -> base, and of the transported rates -> l->rates.
static rgResult rgFastStart(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->readout->start;
    int n = l->n, width = 3 * n;
    size_t bytes = (size_t)rgModel_AllLinks(model) * 6 * (size_t)width * sizeof(double);
    rgSpatial *rates = l->linkRates, *transported = rates + rgModel_AllLinks(model);
    memset(l->rates, 0, bytes);
    world->readout->startValid = false;
    rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, d);
    rgDynamics_SetState(d, world->state.q, world->kinematics.v);
    rgDynamics_NeedInertias(d);
    rgFlow_Fill(model, d, world->kinematics.v, &l->flows[2]);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* range = &model->trees[t];
        if (!world->fast.isTransported[t]) {
            continue;
        }
        rgAddRateSlopes(world, l, d, t, &l->flows[2], 2 * n, n, l->rates);
        for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
            for (int k = range->firstLink; k < range->firstLink + range->linkCount; ++k) {
                rgStartColumns(world, l, &model->links[k], n, 2 * n, rgRatesOf(l, l->rates, i));
            }
        }
        rgDynamics_TreeRates(d, t, world->kinematics.v, rates);
        rgTurnColumns(world, l, t, world->kinematics.driftTime[t], rates, l->rates);
    }
    rgDynamics_SetState(d, world->kinematics.q, world->kinematics.v);
    rgResult result = rgDynamics_Factorize(d, NULL);
    memset(l->work, 0, (size_t)n * sizeof(double));
    for (int t = 0; t < model->treeCount && result == rg_ok; ++t) {
        const rgTree* range = &model->trees[t];
        if (!world->fast.isTransported[t]) {
            continue;
        }
        memcpy(l->work + range->firstDof, world->fast.projectedV + range->firstDof,
               (size_t)range->dofCount * sizeof(double));
        rgDynamics_TreeRates(d, t, world->fast.projectedV, transported);
        for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
            transported[i] = rgSpatialAddScaled(transported[i], -1, world->fast.rejectedRates[i]);
        }
    }
    result =
        result == rg_ok ? rgProjectionSlopes(world, l, d, l->work, transported, l->slopes) : result;
    if (result != rg_ok) {
        return result;
    }
    memcpy(l->sums, l->rates, bytes);
    memset(l->ends, 0, (size_t)n * (size_t)width * sizeof(double));
    for (int t = 0; t < model->treeCount; ++t) {
        if (world->fast.isTransported[t]) {
            rgSumColumns(world, l, d, t, l->sums, l->ends);
        }
    }
    for (int i = 0; i < n; ++i) {
        bool moves = world->fast.isTransported[world->constraints.treeOfDof[i]];
        for (int j = 0; j < n && moves; ++j) {
            *rgAt(l->ends, width, i, n + j) -= *rgAt(l->slopes, n, i, j);
        }
        *rgAt(l->ends, width, i, 2 * n + i) += moves ? model->dofs[i].armature : 0;
    }
    rgDynamics_Solve(d, width, l->ends);
    for (int i = 0; i < n; ++i) {
        if (rgLeads(world, i)) {
            memcpy(rgAt(l->base, l->width, i, 0), rgAt(l->ends, width, i, n),
                   (size_t)(2 * n) * sizeof(double));
            double added = 2 * world->free.added[i];
            for (int j = 0; j < 2 * n && added != 0; ++j) { // 2 (M^ - M) (V - v_Q) of free.12
                *rgAt(l->force, l->width, i, j) +=
                    added * ((j == n + i) - *rgAt(l->base, l->width, i, j));
            }
        }
    }
    return rg_ok;
}

// ---- rows

// Rows of joints, tendons and loops constrain the coordinates, which move with v_Q - V beside.
void rgLinearize_FastRows(const rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    for (int r = 0; r < l->m && l->hasFast; ++r) {
        bool contact = rows->sources[r].kind < 0;
        double share = 1;
        if (contact) {
            const rgContactPoint* point = &world->contacts.points[rows->sources[r].index];
            share = r < point->firstRow + 2 ? point->rollingShare : 0;
        }
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1] && share != 0; ++k) {
            int i = rows->column[k], tree = world->constraints.treeOfDof[i];
            if (!rgLeads(world, i) || (!contact && !world->constraints.isHeld[tree])) {
                continue;
            }
            double *out = rgAt(l->rows, l->width, r, 0), factor = share * rows->value[k];
            const double* base = rgAt(l->base, l->width, i, 0);
            for (int j = 0; j < 2 * l->n; ++j) {
                out[j] += factor * base[j];
            }
            out[l->n + i] -= factor;
        }
    }
}

// ---- the end

// True where a slow tree that v+ seemed to make fast stays slow.
static bool rgStaysSlow(const rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    return !world->fast.isFast[tree] &&
           memcmp(world->next.endV + range->firstDof, world->next.v + range->firstDof,
                  (size_t)range->dofCount * sizeof(double)) == 0;
}

// step_derivatives.23 l->ends := columns of the velocity at q+ by that of the coordinates, Q and V;
// l->slopes := those by q+.
static rgResult rgFastEnd(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->readout->start; // at Q
    int n = l->n, width = 3 * n, links = rgModel_AllLinks(model);
    size_t count = (size_t)links * 6 * (size_t)width;
    rgSpatial* before = l->linkRates;
    double *w = l->work, *both = l->work + n;
    memset(w, 0, (size_t)(2 * n) * sizeof(double));
    for (int i = 0; i < n; ++i) {
        w[i] = rgLinearize_CoordinateVelocity(world, i);
        both[i] = w[i] + world->kinematics.v[i];
    }
    memset(l->sums, 0, count * sizeof(double));
    rgFlow_Fill(model, d, both, &l->flows[2]);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* range = &model->trees[t];
        if (!world->fast.isTransported[t]) {
            continue;
        }
        rgAddRateSlopes(world, l, d, t, &l->flows[2], 0, n, l->sums);
        rgDynamics_TreeRates(d, t, both, before);
        rgSpatial* rates = before + links; // V', of which the rest is left
        rgDynamics_TreeRates(d, t, world->fast.projectedV, rates);
        for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
            rates[i] = rgSpatialAddScaled(rates[i], -1, world->fast.rejectedRates[i]);
            before[i] = rgSpatialAddScaled(before[i], -1, rates[i]);
            double *to = rgRatesOf(l, l->sums, i), *from = rgRatesOf(l, l->rates, i);
            for (int r = 0; r < 6; ++r) {
                double *out = to + r * width, *own = from + r * width;
                for (int j = 0; j < n; ++j) {
                    out[n + j] -= own[n + j];
                    out[2 * n + j] += out[j] - own[2 * n + j];
                }
            }
        }
        rgTurnColumns(world, l, t, world->settings.dt - world->kinematics.driftTime[t], before,
                      l->sums);
    }
    rgKinematics_PlaceNext(&world->kinematics, d);
    rgDynamics_SetState(d, world->next.q, world->kinematics.v);
    rgResult result = rgDynamics_Factorize(d, NULL);
    memset(both, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        both[i] =
            world->fast.isTransported[world->constraints.treeOfDof[i]] ? world->next.endV[i] : 0;
    }
    rgDynamics_NeedInertias(d);
    result = result == rg_ok
                 ? rgProjectionSlopes(world, l, d, both, world->fast.endRates, l->slopes)
                 : result;
    if (result != rg_ok) {
        return result;
    }
    memset(l->ends, 0, (size_t)n * (size_t)width * sizeof(double));
    for (int t = 0; t < model->treeCount; ++t) {
        if (world->fast.isTransported[t]) {
            rgSumColumns(world, l, d, t, l->sums, l->ends);
        }
    }
    for (int i = 0; i < n; ++i) {
        bool moves = world->fast.isTransported[world->constraints.treeOfDof[i]];
        *rgAt(l->ends, width, i, i) += moves ? model->dofs[i].armature : 0;
        for (int j = 0; j < n; ++j) {
            *rgAt(l->slopes, n, i, j) *= moves ? -1 : 0;
        }
    }
    rgDynamics_Solve(d, width, l->ends);
    rgDynamics_Solve(d, n, l->slopes);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* range = &model->trees[t];
        if (world->fast.isTransported[t] && !rgStaysSlow(world, t)) {
            continue;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
            memset(rgAt(l->ends, width, i, 0), 0, (size_t)width * sizeof(double));
            memset(rgAt(l->slopes, n, i, 0), 0, (size_t)n * sizeof(double));
            *rgAt(l->ends, width, i, i) = 1;
        }
    }
    return rg_ok;
}

rgResult rgLinearize_Fast(rgWorld* world, rgLinearization* l) {
    rgResult result = l->hasFast ? rgFastStart(world, l) : rg_ok;
    return l->hasFast && result == rg_ok ? rgFastEnd(world, l) : result;
}

// change: that of v+ of the rows becomes that of the coordinates.
void rgLinearize_PushFast(const rgWorld* world, rgLinearization* l) {
    for (int i = 0; i < l->n && l->hasFast; ++i) {
        if (rgLeads(world, i)) {
            double* out = rgAt(l->change, l->width, i, 0);
            const double* base = rgAt(l->base, l->width, i, 0);
            for (int j = 0; j < l->width; ++j) {
                out[j] += base[j];
            }
            out[l->n + i] -= 1;
        }
    }
}

// change: that of the coordinates becomes that of the velocity at q+.
void rgLinearize_PushFastEnd(const rgWorld* world, rgLinearization* l) {
    int n = l->n, width = 3 * n;
    if (!l->hasFast) {
        return;
    }
    double* out = l->turned;
    memset(out, 0, (size_t)n * (size_t)l->width * sizeof(double));
    for (int i = 0; i < n; ++i) {
        double* row = rgAt(out, l->width, i, 0);
        const double* ends = rgAt(l->ends, width, i, 0);
        world->constraints.kernels->combineRows(n, l->width, ends, l->change, row);
        world->constraints.kernels->combineRows(n, l->width, rgAt(l->slopes, n, i, 0), l->next,
                                                row);
        for (int j = 0; j < 2 * n; ++j) {
            row[j] += ends[n + j];
        }
    }
    memcpy(l->change, out, (size_t)n * (size_t)l->width * sizeof(double));
}

// The transposes.
void rgLinearize_PullFastEnd(const rgLinearization* l, double* nextBar, double* endBar,
                             double* row) {
    int n = l->n, width = 3 * n;
    double* bar = l->work;
    if (!l->hasFast) {
        return;
    }
    memcpy(bar, endBar, (size_t)n * sizeof(double));
    memset(endBar, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        const double* ends = rgAt(l->ends, width, i, 0);
        for (int j = 0; j < n && bar[i] != 0; ++j) {
            endBar[j] += bar[i] * ends[j];
            nextBar[j] += bar[i] * *rgAt(l->slopes, n, i, j);
            row[j] += bar[i] * ends[n + j];
            row[n + j] += bar[i] * ends[2 * n + j];
        }
    }
}

void rgLinearize_PullFast(const rgWorld* world, const rgLinearization* l, const double* endBar,
                          double* row) {
    for (int i = 0; i < l->n && l->hasFast; ++i) {
        if (rgLeads(world, i)) {
            const double* base = rgAt(l->base, l->width, i, 0);
            for (int j = 0; j < l->width; ++j) {
                row[j] += endBar[i] * base[j];
            }
            row[l->n + i] -= endBar[i];
        }
    }
}
