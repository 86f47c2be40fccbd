// Derivatives of the rows of the constraint problem, by Q and V at fixed v+ and impulses, and the
// mode that each row is in. docs/theory/step_derivatives.md.
#include "world/linearize.h"

#include <string.h>

static double* rgRowOf(const rgLinearization* l, double* matrix, int row) {
    return matrix + (size_t)row * (size_t)l->width;
}

// ---- modes

// Velocity of a row with its compliance, at v+.
static double rgRowVelocity(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    return rgRows_Speed(rows, row, world->next.v) + rows->bias[row] +
           rows->compliance[row] * rows->lambda[row];
}

// Some way along a direction, rows are nearer to the kink that is looked at than others may be.
static double rgEdge(const rgLinearization* l, double ratio) {
    return l->isSided ? RG_SIDE_EDGE * ratio : ratio;
}

// A row with room on one side of an edge, as velocities, and on the other one.
static bool rgDecide(rgLinearization* l, double inside, double outside, double least) {
    double larger = fmax(inside, outside), smaller = fmin(inside, outside);
    l->margin = fmin(l->margin, larger > 0 ? (larger - smaller) / (larger + least) : 0);
    if (larger < least) {
        l->betweenModes += 1;
    }
    return inside > outside;
}

static double rgRowMass(const rgLinearization* l, int row) {
    return l->G[(size_t)row * (size_t)(l->pitch + 1)];
}

// Boxes and half lines: active while they have room.
static void rgDecideBox(const rgWorld* world, rgLinearization* l, const rgBlock* block, int row) {
    double lambda = world->constraints.rows.lambda[row], speed = rgRowVelocity(world, row);
    if (block->kind == rg_blockHalfLine && l->def.smoothing > 0) {
        l->modes[row] = rg_modeSmooth;
        return;
    }
    double least =
        rgEdge(l, RG_EDGE_SPEED_RATIO) * rgLength(world->settings.gravity) * world->settings.dt;
    double room = block->kind == rg_blockHalfLine
                      ? lambda
                      : fmin(lambda - block->lower, block->upper - lambda);
    if (block->kind == rg_blockBox && !(block->upper > block->lower)) {
        l->modes[row] = rg_modeOpen;
        return;
    }
    least /= fmax(world->constraints.rows.length[row], 1e-9);
    double mass = rgRowMass(l, row) + world->constraints.rows.compliance[row];
    bool active = rgDecide(l, room * mass, fabs(speed), least);
    l->modes[row] = active ? rg_modeActive : rg_modeOpen;
}

// Two tangential rows, or two of rolling: bound mu lambda_n.
static bool rgSlips(const rgWorld* world, rgLinearization* l, int row, double bound, double least) {
    const double* lambda = world->constraints.rows.lambda + row;
    double push = hypot(lambda[0], lambda[1]);
    double slip = hypot(rgRowVelocity(world, row), rgRowVelocity(world, row + 1));
    double mass = 0.5 * (rgRowMass(l, row) + rgRowMass(l, row + 1));
    double inside = (bound - push) * mass;
    if (inside < rgEdge(l, RG_CONE_RATIO) * bound * mass && slip < least) { // sticking of the two
        l->betweenModes += 1;
        l->margin = 0;
        return false;
    }
    return !rgDecide(l, inside, slip, 0);
}

// Torsion and rolling of a closed contact.
static void rgDecideTwist(const rgWorld* world, rgLinearization* l, const rgBlock* block) {
    int row = block->firstRow;
    const double* lambda = world->constraints.rows.lambda + row;
    if (block->rowCount > 3) {
        double room = (block->muTorsion * lambda[2] - fabs(lambda[3])) * rgRowMass(l, row + 3);
        double speed = fabs(rgRowVelocity(world, row + 3));
        bool spins = block->muTorsion > 0 && !rgDecide(l, room, speed, 0);
        l->modes[row + 3] = !(block->muTorsion > 0) ? rg_modeOpen
                            : spins                 ? rg_modeSpin
                                                    : rg_modeActive;
    }
    if (block->rowCount > 4) {
        bool rolls = rgSlips(world, l, row + 4, block->muRolling * lambda[2], 0);
        l->modes[row + 4] = l->modes[row + 5] = rolls ? rg_modeRolling : rg_modeActive;
    }
}

static void rgDecideContact(const rgWorld* world, rgLinearization* l, const rgBlock* block) {
    int row = block->firstRow;
    const double* lambda = world->constraints.rows.lambda + row;
    double unit = rgLength(world->settings.gravity) * world->settings.dt;
    double mass = rgRowMass(l, row + 2) + world->constraints.rows.compliance[row + 2];
    double speed = rgRowVelocity(world, row + 2);
    bool smoothed = l->def.smoothing > 0; // torsion and rolling are as they are even then
    bool closed = smoothed
                      ? lambda[2] * mass > speed
                      : rgDecide(l, lambda[2] * mass, speed, rgEdge(l, RG_EDGE_SPEED_RATIO) * unit);
    for (int k = 0; k < block->rowCount; ++k) {
        l->modes[row + k] = smoothed && k < 3 ? rg_modeSmooth
                            : closed          ? rg_modeActive
                                              : rg_modeOpen;
    }
    if (!(block->mu > 0)) {
        l->modes[row] = l->modes[row + 1] = rg_modeOpen;
    } else if (closed && !smoothed &&
               rgSlips(world, l, row, block->mu * lambda[2], rgEdge(l, RG_CONE_RATIO) * unit)) {
        l->modes[row] = l->modes[row + 1] = rg_modeSlip;
    }
    if (closed) {
        rgDecideTwist(world, l, block);
    }
}

void rgLinearize_Modes(rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        const rgBlock* block = &rows->blocks[b];
        int normal = block->firstRow + (block->kind == rg_blockCoulomb ? 2 : 0);
        bool moves = rgRowMass(l, normal) > 0 || block->kind == rg_blockFree;
        for (int r = block->firstRow; r < block->firstRow + block->rowCount; ++r) {
            l->modes[r] = moves && rgRowMass(l, r) > 0 ? rg_modeActive : rg_modeOpen;
        }
        if (!moves) {
            continue;
        }
        if (block->kind == rg_blockCoulomb) {
            rgDecideContact(world, l, block);
        } else if (block->kind != rg_blockFree) {
            rgDecideBox(world, l, block, block->firstRow);
        }
    }
}

// ---- laws of rows

// Of the bias and the compliance of a row: by its gap, its rate at V and 1/m.
typedef struct rgLawSlope {
    double gap, rate, mobility;
} rgLawSlope;

// step_derivatives.13 The slope of rgTouchingGap().
static double rgTouchingSlope(const rgLinearization* l, double gap) {
    double size = fabs(gap);
    if (size < RG_SLOP) { // between two slopes
        return l->def.heldGaps ? 1 : 0;
    }
    return size < 2 * RG_SLOP && !l->def.heldGaps ? 0 : 1;
}

static double rgUnilateralSlope(rgLinearization* l, double gap, double ahead) {
    bool touches = fabs(gap) < 2 * RG_SLOP;
    l->touching += touches;
    return gap > 0 || (touches && l->def.heldGaps) ? rgTouchingSlope(l, gap) / ahead : 0;
}

// w of step.8 and its slope by z.
static rgWeights rgWeightsOf(double lead, double z, double* slope) {
    double y = 4 * z, square = 1 + y * y;
    *slope = lead == 0 || y > 1e8 ? 0 : 8 * y / (square * square);
    return rgSpringWeights(lead, z);
}

double rgLinearize_SpringByWeights(double dt, double R, double rest, double rate, rgSoftness soft,
                                   rgWeights by) {
    double k = soft.stiffness, d = soft.damping;
    return -R * R * dt * (dt * k * by.ahead + d * by.share) * rest +
           R * dt * rate * (dt * k * (by.along - by.ahead) - d * by.share);
}

// step_derivatives.14 of a spring and damper along a row.
static rgLawSlope rgSpringSlope(const rgWorld* world, int row, rgSoftness soft, double stretch,
                                double command, double* byCommand) {
    const rgRows* rows = &world->constraints.rows;
    double dt = world->settings.dt, k = soft.stiffness, d = soft.damping;
    double lead = world->kinematics
                      .driftTime[world->constraints.treeOfDof[rows->column[rows->rowStart[row]]]];
    double mobility = rgRows_SpringMobility(&world->constraints, &world->kinematics, row);
    double K = dt * dt * k * mobility, D = dt * d * mobility;
    rgWeights w = rgJointWeights(lead, K, D), byK, byD;
    rgJointWeightSlopes(lead, K, D, &byK, &byD);
    double R = 1 / (dt * (dt * k * w.ahead + d * w.share));
    double rate = rgRows_Speed(rows, row, world->kinematics.v);
    double before = d * (1 - w.share) + dt * k * (w.along - w.ahead);
    double rest = dt * (k * stretch + before * rate - command) + rows->lambda[row];
    double byMobility = (K * rgLinearize_SpringByWeights(dt, R, rest, rate, soft, byK) +
                         D * rgLinearize_SpringByWeights(dt, R, rest, rate, soft, byD)) /
                        rgRows_Mobility(&world->constraints, &world->kinematics, row);
    *byCommand = -R * dt;
    return (rgLawSlope){R * dt * k, R * dt * before, byMobility};
}

// 1/m of a row over joints, whose entries stay: - sum of J_i^2/M_ii^2 dM_ii.
static void rgAddMobility(const rgWorld* world, const rgLinearization* l, int row, double slope,
                          double* out) {
    const rgRows* rows = &world->constraints.rows;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1] && slope != 0; ++k) {
        int i = rows->column[k];
        double mass = world->kinematics.dynamics->mass[world->model->dofs[i].rowStart];
        double share = rows->value[k] / mass, factor = -slope * share * share;
        const double* slopes = l->diagonal + (size_t)i * (size_t)l->n;
        for (int j = 0; j < l->n && factor != 0; ++j) {
            out[j] += factor * slopes[j];
        }
    }
}

static void rgAddLaw(const rgWorld* world, rgLinearization* l, int row, rgLawSlope slope) {
    const rgRows* rows = &world->constraints.rows;
    double* out = rgRowOf(l, l->rows, row);
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        out[rows->column[k]] += slope.gap * rows->value[k];
        out[l->n + rows->column[k]] += slope.rate * rows->value[k];
    }
    l->mobility[row] += slope.mobility;
    l->rateSlope[row] += slope.rate;
    rgAddMobility(world, l, row, slope.mobility, out);
}

static void rgLinearizeLimit(const rgWorld* world, rgLinearization* l, int row) {
    const rgRows* rows = &world->constraints.rows;
    int link = world->model->dofs[rows->column[rows->rowStart[row]]].link;
    double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings, link, link);
    const rgRowSource* source = &rows->sources[row];
    bool soft = rows->compliance[row] != 0;
    double slope = soft ? 1 / (rows->gap[row] > 0 ? ahead : world->settings.dt)
                        : rgUnilateralSlope(l, rows->gap[row], ahead);
    rgAddLaw(world, l, row, (rgLawSlope){.gap = slope});
    if (source->kind == rg_constraintLimit && rgRows_Columns(rows, row) > 1 &&
        world->model->joints[source->index].kind == rg_jointSpherical) {
        rgLinearization_Freeze(l, "axes of limits of spherical joints");
    }
}

static void rgLinearizeActuator(rgWorld* world, rgLinearization* l, int row, int actuator) {
    const rgActuator* drive = &world->transmission.actuators[actuator];
    rgSoftness gains = {drive->stiffness, drive->damping};
    double byCommand;
    rgLawSlope slope =
        rgSpringSlope(world, row, gains, drive->position, drive->command, &byCommand);
    rgAddLaw(world, l, row, slope);
    if (drive->varies) {
        rgLinearization_Freeze(l, "gains that vary");
    }
    if (l->controlFirst >= 0) {
        double gain = rgLinearize_ControlGain(world, l, actuator);
        rgRowOf(l, l->rows, row)[l->controlFirst + actuator] += byCommand * gain;
    }
}

static void rgLinearizeTendon(rgWorld* world, rgLinearization* l, int row) {
    const rgRows* rows = &world->constraints.rows;
    const rgRowSource* source = &rows->sources[row];
    const rgTendonDef* def = &world->model->tendons[source->index];
    double unused;
    if (rgTendonRowIsLimit(source->row)) {
        rgLinearizeLimit(world, l, row);
    } else if (source->row == 3) {
        bool slack = def->slack > 0 && def->stiffness > 0;
        rgSoftness soft = {slack ? 0 : def->stiffness, def->damping};
        rgAddLaw(world, l, row, rgSpringSlope(world, row, soft, rows->gap[row], 0, &unused));
    } else if (source->row == 6) { // constraints.md
        rgAddLaw(world, l, row, (rgLawSlope){.rate = -1});
    }
}

// Second derivative of what a joint's coordinate is to be.
static double rgCurvatureOf(const double* c, double x) {
    return 2 * c[2] + x * (6 * c[3] + x * 12 * c[4]);
}

static void rgLinearizeEquality(rgWorld* world, rgLinearization* l, int row) {
    const rgRows* rows = &world->constraints.rows;
    const rgModel* model = world->model;
    const rgEqualityDef* def = &model->equalities[rows->sources[row].index];
    double* out = rgRowOf(l, l->rows, row);
    if (def->kind == rg_equalityJoint) {
        int b = def->jointB.index1 - 1;
        double x =
            b >= 0 ? world->kinematics.q[model->jointRanges[b].q] - model->joints[b].reference : 0;
        double bent = b >= 0 ? rgCurvatureOf(def->polynomial, x) : 0;
        int v = b >= 0 ? model->jointRanges[b].v : 0;
        out[v] -= b >= 0 ? bent * rgLinearize_CoordinateVelocity(world, v) : 0;
        rgRowOf(l, l->force, v)[v] -= bent * rows->lambda[row];
    } else if (def->kind == rg_equalityTendon) {
        rgLinearization_Freeze(l, "couplings of tendons");
    }
    if (world->constraints.isOpen[rows->sources[row].index]) {
        rgLinearization_Freeze(l, "open loops");
        return;
    }
    if (def->stiffness > 0) {
        double gain = world->settings.dt * def->stiffness + def->damping;
        rgAddLaw(world, l, row, (rgLawSlope){.gap = def->stiffness / gain});
    }
}

// Rows of a loop, from the first on, along axes of the world: of its point, then of its frame.
typedef struct rgLoopRows {
    int first, count;
} rgLoopRows;

static rgLoopRows rgLoopRowsFrom(const rgWorld* world, const rgLinearization* l, int row) {
    const rgRowSource* source = &world->constraints.rows.sources[row];
    rgLoopRows out = {row, 1};
    while (row + out.count < l->m && source[out.count].kind == source->kind &&
           source[out.count].index == source->index) {
        out.count += 1;
    }
    return out;
}

static void rgAddToLoop(const rgWorld* world, const rgLoopRows* rows, double scale, rgVec3 linear,
                        rgVec3 angular, double* matrix, int width) {
    const rgRowSource* sources = &world->constraints.rows.sources[rows->first];
    for (int r = 0; r < rows->count; ++r) {
        int axis = sources[r].row;
        matrix[(size_t)r * (size_t)width] +=
            scale * (axis < 3 ? rgVec3_At(linear, axis) : rgVec3_At(angular, axis - 3));
    }
}

// (dJ) v of a loop: the velocity of a point of B past one of A.
static void rgAddLoopTurning(rgWorld* world, rgLinearization* l, const rgFlow* flow,
                             const rgLoopRows* loop) {
    const rgRowSource* source = &world->constraints.rows.sources[loop->first];
    const rgPlace* places = &world->constraints.loopPlaces[2 * source->index];
    const rgDynamics* d = world->kinematics.dynamics;
    double* out = rgRowOf(l, l->rows, loop->first);
    for (int side = 0; side < 2; ++side) {
        int link = places[side].link;
        if (link == 0 || rgModel_IsKinematic(world->model, link)) {
            continue;
        }
        rgVec3 arm = rgDynamics_PlacePoint(d, &places[side]);
        const rgSpatial* V = &flow->links[link];
        const rgLink* end = &world->model->links[link];
        for (int j = end->v + end->vCount - 1; j >= 0; j = world->model->dofs[j].parent) {
            const rgSpatial* S = &d->axes[j];
            rgSpatial change = rgSpatialAdd(rgMotionCross(S, V), flow->carried[j]);
            rgVec3 at = rgAdd(S->linear, rgCross(S->angular, arm));
            rgVec3 x =
                rgAdd(rgAdd(change.linear, rgCross(change.angular, arm)), rgCross(V->angular, at));
            rgAddToLoop(world, loop, side == 0 ? -1 : 1, x, change.angular, out + j, l->width);
        }
    }
}

// Acceleration of a point of a link by a column, with constant v, where the bias is taken: by Q,
// and by the velocity.
typedef struct rgBiasSlope {
    rgSpatial byQ, byV; // linear: of the point
} rgBiasSlope;

// step_derivatives.16 A_i are biases, V_i velocities, about the reference of the tree.
static rgBiasSlope rgPointBiasSlope(const rgWorld* world, const rgFlow* flow, int link, rgVec3 arm,
                                    int j) {
    const rgModel* model = world->model;
    const rgDynamics* d = world->kinematics.dynamics;
    const rgLink* own = &model->links[model->dofs[j].link];
    const rgSpatial *S = &d->axes[j], *V = &d->velocities[link], *A = &d->biases[link];
    const rgSpatial* carried = &flow->carried[j];
    bool still = own->kind == rg_linkFree && j < own->v + 3;
    rgSpatial carrier = d->velocities[own->parent], above = d->biases[own->parent];
    if (own->kind == rg_linkFree) {
        carrier.linear =
            rgAdd(carrier.linear, rgVec(flow->v[own->v], flow->v[own->v + 1], flow->v[own->v + 2]));
    }
    rgSpatial change = rgSpatialAdd(rgMotionCross(S, V), *carried); // of V by Q
    rgSpatial pulled = rgSpatialAdd(rgMotionCross(&above, S), rgMotionCross(&carrier, carried));
    rgSpatial byQ = rgSpatialAdd(rgMotionCross(S, A), pulled);
    byQ = rgSpatialAdd(byQ, rgMotionCross(carried, V));
    rgSpatial byV = change;
    if (!still) {
        byV = rgSpatialAdd(byV, rgMotionCross(&d->velocities[model->dofs[j].link], S));
    }
    rgVec3 w = V->angular, v = rgAdd(V->linear, rgCross(w, arm));
    rgVec3 moved = rgAdd(S->linear, rgCross(S->angular, arm));
    rgVec3 faster = rgAdd(rgAdd(change.linear, rgCross(change.angular, arm)), rgCross(w, moved));
    rgBiasSlope out = {byQ, byV};
    out.byQ.linear = rgAdd(rgAdd(byQ.linear, rgCross(byQ.angular, arm)),
                           rgAdd(rgCross(A->angular, moved), rgCross(change.angular, v)));
    out.byQ.linear = rgAdd(out.byQ.linear, rgCross(w, faster));
    out.byV.linear = rgAdd(rgAdd(byV.linear, rgCross(byV.angular, arm)),
                           rgAdd(rgCross(S->angular, v), rgCross(w, moved)));
    return out;
}

// Predicted tangents turn with joints, t' = t x angle: adds the derivative of a row by the velocity
// of the bias to that by Q.
static void rgTurnPredicted(const rgWorld* world, const rgLinearization* l, const double* byV,
                            double* byQ) {
    const rgModel* model = world->model;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->vCount == 1 || l->laws[link->tree] != rg_treeMiddle) {
            continue;
        }
        int first = link->v + link->vCount - 3;
        const double *t = world->kinematics.predictor + first, *x = byV + first;
        rgVec3 change = rgCross(rgVec(x[0], x[1], x[2]), rgVec(t[0], t[1], t[2]));
        byQ[first] += change.x, byQ[first + 1] += change.y, byQ[first + 2] += change.z;
    }
}

// Gain of a free body, which spins on at the predicted rate: R (r x (exp(H r) a - a)), r = w + 2 t,
// H half of the step.
static void rgAddFreeGain(rgWorld* world, rgLinearization* l, const rgLoopRows* loop, int link,
                          rgVec3 arm, double sign) {
    const rgLink* body = &world->model->links[link];
    const rgRot* R = &world->kinematics.dynamics->poses[link].r;
    const double *v = world->kinematics.v + body->v + 3,
                 *t = world->kinematics.predictor + body->v + 3;
    double half = 0.5 * world->settings.dt, *out = rgRowOf(l, l->rows, loop->first);
    rgVec3 trend = rgVec(t[0], t[1], t[2]), none = rgVec(0, 0, 0);
    rgVec3 rate = rgAddScaled(rgVec(v[0], v[1], v[2]), 2, trend);
    rgVec3 a = rgSub(rgRot_ApplyBack(R, arm), body->center);
    rgQuat turn = rgQuatFromRotationVector(rgScale(half, rate));
    rgMat3 J = rgRotationJacobian(rgScale(half, rate));
    rgVec3 moved = rgSub(rgRotate(turn, a), a), gain = rgCross(rate, moved);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2), column = rgVec(J.m[k], J.m[3 + k], J.m[6 + k]);
        rgVec3 swung = rgRotate(turn, rgCross(rgScale(half, column), a));
        rgVec3 byRate = rgRot_Apply(R, rgAdd(rgCross(e, moved), rgCross(rate, swung)));
        int at = body->v + 3 + k;
        rgAddToLoop(world, loop, sign, byRate, none, out + l->n + at, l->width);
        if (l->trendFirst >= 0) {
            rgAddToLoop(world, loop, 2 * sign, byRate, none, out + l->trendFirst + at, l->width);
        }
        rgAddToLoop(world, loop, sign, rgRot_Apply(R, rgCross(e, gain)), none, out + at, l->width);
        // t in axes of the body turns: t x e, along which byRate is a sum of columns
        rgVec3 turned = rgScale(2, rgCross(trend, e));
        rgVec3 spun = rgMat3_Multiply(&J, rgScale(half, turned));
        rgVec3 change =
            rgAdd(rgCross(turned, moved), rgCross(rate, rgRotate(turn, rgCross(spun, a))));
        rgAddToLoop(world, loop, sign, rgRot_Apply(R, change), none, out + at, l->width);
    }
}

// step_derivatives.16 gamma of a rigid loop: what its velocity gains until the end of the step.
static void rgAddLoopGain(rgWorld* world, rgLinearization* l, const rgLoopRows* loop) {
    const rgRowSource* source = &world->constraints.rows.sources[loop->first];
    const rgPlace* places = &world->constraints.loopPlaces[2 * source->index];
    const rgModel* model = world->model;
    double half = 0.5 * world->settings.dt, *out = rgRowOf(l, l->rows, loop->first);
    double* byV = l->packed;
    memset(byV, 0, (size_t)loop->count * (size_t)l->n * sizeof(double));
    for (int side = 0; side < 2; ++side) {
        int link = places[side].link, tree = model->links[link].tree;
        if (link == 0 || tree < 0) {
            continue;
        }
        rgVec3 arm = rgDynamics_PlacePoint(world->kinematics.dynamics, &places[side]);
        if (l->laws[tree] == rg_treeFree) {
            rgAddFreeGain(world, l, loop, link, arm, side == 0 ? -1 : 1);
            continue;
        }
        if (l->laws[tree] != rg_treeMiddle) {
            rgLinearization_Freeze(l, "loops of trees that turn fast");
            continue;
        }
        double sign = side == 0 ? -half : half;
        int last = model->links[link].v + model->links[link].vCount - 1;
        for (int j = last; j >= 0; j = model->dofs[j].parent) {
            rgBiasSlope slope = rgPointBiasSlope(world, &l->flows[2], link, arm, j);
            rgAddToLoop(world, loop, sign, slope.byQ.linear, slope.byQ.angular, out + j, l->width);
            rgAddToLoop(world, loop, sign, slope.byV.linear, slope.byV.angular, byV + j, l->n);
        }
    }
    for (int r = 0; r < loop->count; ++r) {
        double* own = byV + (size_t)r * (size_t)l->n;
        double* row = rgRowOf(l, l->rows, loop->first + r);
        rgTurnPredicted(world, l, own, row);
        for (int j = 0; j < l->n; ++j) {
            row[l->n + j] += own[j];
        }
        for (int j = 0; j < l->n && l->trendFirst >= 0; ++j) {
            row[l->trendFirst + j] += own[j];
        }
    }
}

// The first row of a loop that has an impulse stands for all.
static bool rgIsFirstOfLoop(const rgWorld* world, const rgLinearization* l, int row) {
    const rgRowSource* sources = world->constraints.rows.sources;
    int r = row - 1;
    while (r >= 0 && sources[r].kind == sources[row].kind &&
           sources[r].index == sources[row].index && l->modes[r] == rg_modeOpen) {
        --r;
    }
    return r < 0 || sources[r].kind != sources[row].kind || sources[r].index != sources[row].index;
}

static void rgLinearizeLoop(rgWorld* world, rgLinearization* l, int row) {
    const rgRowSource* source = &world->constraints.rows.sources[row];
    rgLoopRows loop = rgLoopRowsFrom(world, l, row);
    rgAddLoopTurning(world, l, &l->flows[0], &loop);
    if (rgRows_DriftTime(&world->constraints, &world->kinematics, world->settings.dt, row) > 0 &&
        !(world->model->equalities[source->index].stiffness > 0)) {
        rgAddLoopGain(world, l, &loop);
    }
}

// Joints, tendons and loops move on with what a fast tree's projection adds.
static void rgLinearizeRow(rgWorld* world, rgLinearization* l, int row) {
    const rgRowSource* source = &world->constraints.rows.sources[row];
    const rgEqualityDef* def =
        source->kind == rg_constraintEquality ? &world->model->equalities[source->index] : NULL;
    switch ((rgConstraintKind)source->kind) {
    case rg_constraintLimit:
        rgLinearizeLimit(world, l, row);
        break;
    case rg_constraintActuator:
        rgLinearizeActuator(world, l, row, source->index);
        break;
    case rg_constraintTendon:
        rgLinearizeTendon(world, l, row);
        break;
    case rg_constraintEquality:
        rgLinearizeEquality(world, l, row);
        if (rgEqualityIsLoop(def) && rgIsFirstOfLoop(world, l, row)) {
            rgLinearizeLoop(world, l, row);
        }
        break;
    default: // dry friction has nothing that changes
        break;
    }
}

// ---- contacts

// step_derivatives.15 of compliant contacts.
static rgLawSlope rgSoftSlope(rgWorld* world, rgLinearization* l, const rgContactPoint* point,
                              const rgMaterial* material, double ahead) {
    const rgRows* rows = &world->constraints.rows;
    int normal = point->firstRow + 2;
    double dt = world->settings.dt, k = material->stiffness, lambda = rows->lambda[normal];
    double gap = point->gap, c = k * material->dissipation;
    double lead =
        rgRows_DriftTime(&world->constraints, &world->kinematics, world->settings.dt, normal);
    double rate = rgRows_Speed(rows, normal, world->kinematics.v), start = lead * rate - gap;
    double share = start > 0 ? sqrt(point->springEnergy / (0.5 * k)) / start : 1;
    if (start > 0 && share < 1 - 1e-12) {
        rgLinearization_Freeze(l, "contact springs that are scaled by their energy");
    }
    double d = material->damping + c * share * RG_MAX(-gap, 0), byGap = gap < 0 ? -c * share : 0;
    int count = world->contacts.manifolds[point->pair].count;
    double mobility = rgRows_Mobility(&world->constraints, &world->kinematics, normal), slope;
    rgWeights w = rgWeightsOf(lead, count * dt * (dt * k + d) * mobility, &slope);
    double half = 0.5 * (1 + w.along), gain, bias, R, gapSlope, rateSlope, byD, byW;
    if (start <= 0) {
        gain = dt * k + d;
        R = 1 / (w.share * dt * gain);
        double time = lead > 0 ? w.share * dt : ahead;
        bias = gap > 0 ? gap / time : gap * k / (w.share * gain);
        gapSlope = gap > 0 ? 1 / time : k / (w.share * gain);
        rateSlope = 0;
        byD = -(gap > 0 ? 0 : bias / gain) - R * lambda / gain;
        byW = -0.5 * (gap > 0 && lead == 0 ? 0 : bias) / w.share - 0.5 * R * lambda / w.share;
    } else {
        gain = dt * k * w.ahead + d * w.share;
        R = 1 / (dt * gain);
        double coefficient = dt * k * (w.along - w.ahead) + d * (1 - w.share);
        bias = (coefficient * rate - k * (share * start - lead * rate)) / gain;
        gapSlope = k * share / gain;
        rateSlope = (coefficient - k * (share - 1) * lead) / gain;
        byD = ((1 - w.share) * rate - (bias + R * lambda) * w.share) / gain;
        byW = ((dt * k * (1 - half) - 0.5 * d) * rate -
               (bias + R * lambda) * (dt * k * half + 0.5 * d)) /
              gain;
    }
    byD += byW * slope * count * dt * mobility;
    return (rgLawSlope){gapSlope + byD * byGap, rateSlope, byW * slope * count * dt * (dt * k + d)};
}

static rgLawSlope rgRigidSlope(rgWorld* world, rgLinearization* l, const rgContactPoint* point,
                               const rgMaterial* material, double ahead) {
    rgLawSlope slope = {.gap = rgUnilateralSlope(l, point->gap, ahead)};
    if (point->restitutionBias < 0) {
        const rgRows* rows = &world->constraints.rows;
        double before = rgRows_Speed(rows, point->firstRow + 2, world->kinematics.v);
        double share = rgConstraintSet_RestitutionShare(&world->constraints, &world->contacts,
                                                        world->model, point);
        if (share < 1 || point->restitutionBias < material->restitution * before) {
            rgLinearization_Freeze(l, "rebounds that are bounded by energy");
        }
        slope.gap *= 1 - share;
        slope.rate = share * material->restitution;
    }
    return slope;
}

// Count terms of a contact's law that are constants here.
static void rgFreezeContact(const rgWorld* world, rgLinearization* l, const rgContactPoint* point,
                            const rgMaterial* material) {
    const rgVec3 slip = point->curvatureSlip;
    if (slip.x != 0 || slip.y != 0 || slip.z != 0 || point->gapCorrection != 0) {
        rgLinearization_Freeze(l, "curved paths of contact points");
    }
    if (point->tangential.stiffness > 0) {
        rgLinearization_Freeze(l, "tangential springs");
    }
    if (material->transitionSpeed > 0) {
        rgLinearization_Freeze(l, "friction that depends on speed");
    }
    if (world->constraints.hasBelts) {
        rgLinearization_Freeze(l, "motion of belts");
    }
}

static bool rgContactActs(const rgLinearization* l, const rgContactPoint* point) {
    bool acts = false;
    for (int k = 0; k < point->rowCount; ++k) {
        acts = acts || l->modes[point->firstRow + k] != rg_modeOpen;
    }
    return acts;
}

void rgLinearize_Rows(rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    memset(l->rows, 0, (size_t)l->m * (size_t)l->width * sizeof(double));
    memset(l->turning, 0, (size_t)l->m * (size_t)l->n * sizeof(double));
    memset(l->mobility, 0, (size_t)l->m * sizeof(double));
    memset(l->rateSlope, 0, (size_t)l->m * sizeof(double));
    const rgDynamics* d = world->kinematics.dynamics;
    rgFlow_Fill(world->model, d, d->v, &l->flows[2]); // where biases are taken
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].kind >= 0 && l->modes[r] != rg_modeOpen) {
            rgLinearizeRow(world, l, r);
        } else if (rows->sources[r].kind == rg_constraintActuator) {
            continue; // at its bound
        }
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        if (!rgContactActs(l, point)) {
            continue;
        }
        rgMaterial material =
            rgContactSet_Material(&world->contacts, &world->def, world->model, point);
        double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                              world->contacts.colliders[point->colliderA].link,
                                              world->contacts.colliders[point->colliderB].link);
        rgFreezeContact(world, l, point, &material);
        rgLawSlope slope = point->isSoft ? rgSoftSlope(world, l, point, &material, ahead)
                                         : rgRigidSlope(world, l, point, &material, ahead);
        rgLinearize_ContactMotion(world, l, i, slope.rate, slope.mobility);
        rgAddLaw(world, l, point->firstRow + 2, slope);
    }
    rgLinearize_FastRows(world, l);
    rgLinearize_RowArms(world, l);
}
