// Loop closures (connect, weld) and couplings of joints and tendons. constraints.15,
// constraints.16, constraints.17.
#include "math/triple.h"
#include "world/world.h"

#include <string.h>

// A frame of a body, or of the world, at the present kinematics.
typedef struct rgAttachment {
    int link;
    rgVec3 point;
    rgQuat rotation; // of welds
} rgAttachment;

void rgConstraintSet_PlaceLoops(rgConstraintSet* constraints, const rgModel* model) {
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        for (int side = 0; side < 2; ++side) {
            rgBodyId body = side == 0 ? def->bodyA : def->bodyB;
            rgPose pose = side == 0 ? def->poseA : def->poseB;
            rgPlace place = {.pose = pose};
            if (body.index1 > 0) {
                place = model->bodyPlaces[body.index1 - 1];
                place.pose = rgPoseMultiply(place.pose, pose);
                place.isOrigin = false;
            }
            constraints->loopPlaces[2 * e + side] = place;
        }
    }
}

static rgAttachment rgAttach(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                             int equality, int side, bool weld) {
    const rgDynamics* d = kinematics->dynamics;
    const rgPlace* place = &constraints->loopPlaces[2 * equality + side];
    if (place->link == 0) {
        return (rgAttachment){0, place->pose.p, place->pose.q};
    }
    rgAttachment at = {.link = place->link};
    rgVec3 origin = rgDynamics_LinkOrigin(d, place->link);
    at.point = rgAdd(origin, rgDynamics_PlacePoint(d, place));
    if (weld) {
        at.rotation = rgDynamics_PlacePose(d, place).q;
    }
    return at;
}

static void rgSetSources(const rgWarmStart* warmStart, rgRows* rows, int first, int count,
                         int equality) {
    for (int k = 0; k < count; ++k) {
        rows->sources[first + k] =
            (rgRowSource){.kind = rg_constraintEquality,
                          .index = equality,
                          .row = k,
                          .slot = warmStart->slots.equality + 6 * equality + k};
    }
}

// Two frames to be joined, and the violation: position of B relative to A, in world axes.
typedef struct rgLoop {
    rgAttachment A, B;
    rgVec3 offset, angle;
} rgLoop;

// Frames and violation of a loop. False: its bodies sleep or do not move.
static bool rgLoop_Open(rgLoop* loop, const rgConstraintSet* constraints,
                        const rgKinematics* kinematics, const rgSleep* sleep, int equality) {
    const rgModel* model = kinematics->dynamics->model;
    const rgPlace* places = &constraints->loopPlaces[2 * equality];
    bool weld = model->equalities[equality].kind == rg_equalityWeld;
    int a = places[0].link, b = places[1].link;
    if ((!rgSleep_LinkMoves(sleep, model, a) && !rgSleep_LinkMoves(sleep, model, b)) ||
        rgSleep_LinkSleeps(sleep, model, a) || rgSleep_LinkSleeps(sleep, model, b)) {
        return false;
    }
    loop->A = rgAttach(kinematics, constraints, equality, 0, weld);
    loop->B = rgAttach(kinematics, constraints, equality, 1, weld);
    loop->offset = rgSub(loop->B.point, loop->A.point);
    if (weld) {
        rgQuat turn = rgQuatMultiply(rgQuatConjugate(loop->A.rotation), loop->B.rotation);
        loop->angle = rgRotate(loop->A.rotation, rgRotationVectorFromQuat(turn));
    }
    return true;
}

static int rgAddLoopRows(rgWorld* world, rgRows* rows, int equality) {
    const rgEqualityDef* def = &world->model->equalities[equality];
    bool weld = def->kind == rg_equalityWeld;
    rgLoop loop;
    if (!rgLoop_Open(&loop, &world->constraints, &world->kinematics, &world->sleep, equality)) {
        return -2;
    }
    const rgAttachment *A = &loop.A, *B = &loop.B;
    rgBlock block = {.kind = rg_blockFree, .rowCount = weld ? 6 : 3};
    int first = rgRows_AddPair(rows, world->model, &world->heap.allocator, block, A->link, B->link);
    if (first < 0) {
        return first;
    }
    int columns = rgRows_Columns(rows, first);
    double* values = rows->value + rows->rowStart[first];
    rgDynamics_LoopRows(world->kinematics.dynamics, A->link, A->point, B->link, B->point, columns,
                        values);
    rgSpatial driftA = rgKinematics_Drift(&world->kinematics, A->link, A->point);
    rgSpatial driftB = rgKinematics_Drift(&world->kinematics, B->link, B->point);
    rgVec3 drift = rgSub(driftB.linear, driftA.linear);
    rgVec3 turning = rgSub(driftB.angular, driftA.angular);
    memcpy(rows->gap + first, &loop.offset, sizeof(loop.offset));
    memcpy(rows->drift + first, &drift, sizeof(drift));
    if (weld) {
        static const rgVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        rgDynamics_PairAngularRows(world->kinematics.dynamics, A->link, B->link, axes, 3, columns,
                                   values + 3 * columns);
        memcpy(rows->gap + first + 3, &loop.angle, sizeof(loop.angle));
        memcpy(rows->drift + first + 3, &turning, sizeof(turning));
    }
    rgSetSources(&world->warmStart, rows, first, block.rowCount, equality);
    return first;
}

typedef struct rgCurve {
    double value, slope;
} rgCurve;

static rgCurve rgEvaluate(const double* c, double x) {
    return (rgCurve){c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4]))),
                     c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]))};
}

static int rgFinishCoupling(rgWorld* world, rgRows* rows, int equality, int count, double gap) {
    bool asleep = count == 0;
    for (int k = 0; k < count; ++k) {
        int link = world->model->dofs[world->constraints.entryColumns[k]].link;
        asleep = asleep || rgSleep_LinkSleeps(&world->sleep, world->model, link);
    }
    if (asleep) {
        return -2;
    }
    int first =
        rgRows_AddRow(rows, world->model, &world->heap.allocator, (rgBlock){.kind = rg_blockFree},
                      count, world->constraints.entryColumns, world->constraints.entryValues);
    if (first >= 0) {
        rows->gap[first] = gap;
        rgSetSources(&world->warmStart, rows, first, 1, equality);
    }
    return first;
}

static int rgAddJointCoupling(rgWorld* world, rgRows* rows, int equality) {
    const rgModel* model = world->model;
    const rgEqualityDef* def = &model->equalities[equality];
    const double* q = world->kinematics.dynamics->q;
    int a = def->jointA.index1 - 1, b = def->jointB.index1 - 1, count = 0;
    double x = b >= 0 ? q[model->jointRanges[b].q] - model->joints[b].reference : 0;
    rgCurve curve = rgEvaluate(def->polynomial, x);
    rgAddEntry(&world->constraints, &count, model->jointRanges[a].v, 1);
    if (b >= 0) {
        rgAddEntry(&world->constraints, &count, model->jointRanges[b].v, -curve.slope);
    }
    double gap = q[model->jointRanges[a].q] - model->joints[a].reference - curve.value;
    return rgFinishCoupling(world, rows, equality, count, gap);
}

static rgCurve rgTendonCurve(const rgTransmission* transmission, const rgEqualityDef* def) {
    int b = def->tendonB.index1 - 1;
    return rgEvaluate(def->polynomial,
                      b >= 0 ? transmission->tendonLength[b] - transmission->tendonNeutral[b] : 0);
}

double rgCouplingSlope(const rgTransmission* transmission, const rgModel* model, int equality) {
    return rgTendonCurve(transmission, &model->equalities[equality]).slope;
}

static int rgAddTendonCoupling(rgWorld* world, rgRows* rows, int equality) {
    const rgModel* model = world->model;
    const rgEqualityDef* def = &model->equalities[equality];
    int a = def->tendonA.index1 - 1, b = def->tendonB.index1 - 1;
    rgCurve curve = rgTendonCurve(&world->transmission, def);
    int count = rgTendonEntries(&world->transmission, &world->constraints, model, a, 1);
    for (int k = b >= 0 ? model->tendonStart[b] : 0; b >= 0 && k < model->tendonStart[b + 1]; ++k) {
        rgAddEntry(&world->constraints, &count, model->tendonColumns[k],
                   -curve.slope * world->transmission.tendonValues[k]);
    }
    double gap =
        world->transmission.tendonLength[a] - world->transmission.tendonNeutral[a] - curve.value;
    int first = rgFinishCoupling(world, rows, equality, count, gap);
    if (first >= 0) {
        rows->drift[first] = world->transmission.tendonDrift[a] -
                             (b >= 0 ? curve.slope * world->transmission.tendonDrift[b] : 0);
    }
    return first;
}

int rgAddEqualityRows(rgWorld* world, rgRows* rows, int equality) {
    switch (world->model->equalities[equality].kind) {
    case rg_equalityJoint:
        return rgAddJointCoupling(world, rows, equality);
    case rg_equalityTendon:
        return rgAddTendonCoupling(world, rows, equality);
    default:
        return rgAddLoopRows(world, rows, equality);
    }
}

void rgRows_Delassus(const rgRows* rows, const rgKinematics* kinematics, int row, int count,
                     double* G) {
    int start = rows->rowStart[row];
    rgDynamics_RowsDelassus(kinematics->dynamics, count, rgRows_Columns(rows, row),
                            rows->column + start, rows->value + start, G);
}

// Move one row of the last block to another place in it.
static void rgRows_Copy(rgRows* rows, int from, int to) {
    int count = rgRows_Columns(rows, from);
    int source = rows->rowStart[from], target = rows->rowStart[to];
    memmove(rows->value + target, rows->value + source, (size_t)count * sizeof(double));
    memmove(rows->column + target, rows->column + source, (size_t)count * sizeof(int));
    rows->sources[to] = rows->sources[from];
    rows->gap[to] = rows->gap[from];
    rows->drift[to] = rows->drift[from];
    rows->rowStart[to + 1] = target + count;
}

// constraints.16: Compliance that regularizes redundant loops. False: some rows have no mobility.
static bool rgRows_AddCompliance(rgRows* rows, int block, const double* G, int stride) {
    int first = rows->blocks[block].firstRow, count = rows->blocks[block].rowCount, moving = 0;
    double sum[2] = {0}; // of translations, of rotations
    for (int k = 0; k < count; ++k) {
        sum[k >= 3] += G[k * stride];
    }
    double mean = (sum[0] + sum[1]) / count;
    for (int k = 0; k < count; ++k) {
        rows->compliance[first + k] = INFINITY;
        if (G[k * stride] > RG_ROUNDING * mean) {
            rows->compliance[first + k] =
                RG_RIGID_COMPLIANCE_RATIO * sum[k >= 3] / RG_MIN(count, 3);
            ++moving;
        }
    }
    return moving == count;
}

// constraints.16: Remove rows without mobility from the last block.
void rgRows_Regularize(rgRows* rows, const rgKinematics* kinematics, int first) {
    rgBlock* block = &rows->blocks[rows->blockCount - 1];
    double G[6];
    rgRows_Delassus(rows, kinematics, first, block->rowCount, G);
    if (rgRows_AddCompliance(rows, rows->blockCount - 1, G, 1)) {
        return;
    }
    int kept = 0;
    for (int k = 0; k < block->rowCount; ++k) {
        if (isfinite(rows->compliance[first + k])) {
            rgRows_Copy(rows, first + k, first + kept);
            rows->compliance[first + kept] = rows->compliance[first + k];
            ++kept;
        }
    }
    block->rowCount = kept;
    rows->rowCount = first + kept;
    rows->entryCount = rows->rowStart[first + kept];
    rows->blockCount -= kept == 0;
}

// constraints.17: Change of the velocity of a point from the middle of the step to its end. Free
// bodies spin fast: to all orders, at the predicted rate.
static rgVec3 rgPointGain(const rgKinematics* kinematics, double dt, const rgAttachment* at) {
    const rgLink* link = &kinematics->dynamics->model->links[at->link];
    if (at->link >= kinematics->dynamics->model->linkCount || link->tree < 0 ||
        !kinematics->isFreeBody[link->tree]) {
        return rgScale(0.5 * dt, rgKinematics_PointBias(kinematics, at->link, at->point));
    }
    const rgRot* r = &kinematics->dynamics->poses[at->link].r;
    const double *v = kinematics->v + link->v + 3, *t = kinematics->predictor + link->v + 3;
    rgVec3 rate = rgVec(v[0] + 2 * t[0], v[1] + 2 * t[1], v[2] + 2 * t[2]);
    rgVec3 arm = rgSub(at->point, rgDynamics_LinkOrigin(kinematics->dynamics, at->link));
    arm = rgSub(rgRot_ApplyBack(r, arm), link->center);
    rgQuat turn = rgQuatFromRotationVector(rgScale(0.5 * dt, rate));
    return rgRot_Apply(r, rgCross(rate, rgSub(rgRotate(turn, arm), arm)));
}

// constraints.17: J' v, the change of the violation's rate at constant v, and its change until the
// end of the step.
static void rgLoopBias(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                       double dt, int equality, double bias[6], double gain[6]) {
    const rgDynamics* d = kinematics->dynamics;
    rgAttachment A = rgAttach(kinematics, constraints, equality, 0, false);
    rgAttachment B = rgAttach(kinematics, constraints, equality, 1, false);
    rgVec3 linear = rgSub(rgKinematics_PointBias(kinematics, B.link, B.point),
                          rgKinematics_PointBias(kinematics, A.link, A.point));
    rgVec3 angular = rgSub(d->biases[B.link].angular, d->biases[A.link].angular);
    rgVec3 more = rgSub(rgPointGain(kinematics, dt, &B), rgPointGain(kinematics, dt, &A));
    rgVec3 turn = rgScale(0.5 * dt, angular);
    memcpy(bias, &linear, sizeof(linear));
    memcpy(bias + 3, &angular, sizeof(angular));
    memcpy(gain, &more, sizeof(more));
    memcpy(gain + 3, &turn, sizeof(turn));
}

// constraints.17: Velocity of a rigid loop: zero at the end of the step. The gap is that at its
// start; the estimate is off by accelerations of kinematic bodies. A loop that a kinematic body
// drags gets a larger compliance: near singular configurations joints move at most 16 times as fast
// as the body.
static void rgSetRigidLoop(rgConstraintSet* constraints, const rgKinematics* kinematics, double dt,
                           int equality, int first) {
    rgRows* rows = &constraints->rows;
    bool turns = rgEqualityIsLoop(&kinematics->dynamics->model->equalities[equality]);
    double bias[6] = {0}, gain[6] = {0},
           driftTime = rgRows_DriftTime(constraints, kinematics, dt, first), violation = 0;
    bool dragged = false;
    if (turns && driftTime > 0) {
        rgLoopBias(kinematics, constraints, dt, equality, bias, gain);
    }
    for (int r = first; r < rows->rowCount; ++r) {
        double rate = rgRows_Speed(rows, r, kinematics->v),
               acceleration = bias[rows->sources[r].row];
        rows->gap[r] += driftTime * (0.5 * driftTime * acceleration - rate);
        rows->bias[r] = gain[rows->sources[r].row];
        violation = fmax(violation, fabs(rows->gap[r]));
        dragged = dragged || rows->drift[r] != 0;
    }
    for (int r = first; dragged && r < rows->rowCount; ++r) {
        rows->compliance[r] *= RG_DAMPED_COMPLIANCE_RATIO / RG_RIGID_COMPLIANCE_RATIO;
    }
    constraints->isOpen[equality] = violation > RG_OPEN_VIOLATION;
}

// projection.8: An open connect or weld, out of reach or not closed yet: a spring and damper,
// critically damped for the mass of the loop, that closes at the push-out speed at most.
static void rgSetOpenLoop(rgWorld* world, int first) {
    rgRows* rows = &world->constraints.rows;
    double G[6], sum[2] = {0}, T = RG_OPEN_STEPS * world->settings.dt,
                 limit = world->def.pushOutSpeed;
    int count[2] = {0};
    rgRows_Delassus(rows, &world->kinematics, first, rows->rowCount - first, G);
    for (int r = first; r < rows->rowCount; ++r) {
        int turns = rows->sources[r].row >= 3;
        sum[turns] += G[r - first];
        ++count[turns];
    }
    for (int r = first; r < rows->rowCount; ++r) {
        int turns = rows->sources[r].row >= 3;
        double mass = count[turns] / sum[turns];
        rgSoftness soft = {.stiffness = mass / (T * T), .damping = 2 * mass / T};
        rgLaw law = rgBilateralLaw(world->settings.dt, rows->gap[r], soft);
        rows->bias[r] = fmin(fmax(law.bias, -limit), limit);
        rows->compliance[r] += law.compliance;
    }
}

// W of the last block, and the diagonal of its G.
static rgResult rgRows_WhitenLast(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                  const rgAllocator* allocator, int first, double G[6]) {
    const rgRows* rows = &constraints->rows;
    rgSparse J = {rows->rowCount, kinematics->dynamics->model->vCount, rows->rowStart, rows->column,
                  rows->value};
    rgResult result = rgConstraintSet_ReserveWhitened(constraints, allocator);
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_WhitenFrom(kinematics->dynamics, &J, first, constraints->whitened);
    for (int r = first; r < rows->rowCount; ++r) {
        G[r - first] =
            rgSquareOf(rgRows_Columns(rows, r), constraints->whitened + rows->rowStart[r]);
    }
    return rg_ok;
}

// Regularize rows whose W is computed here in any case.
static rgResult rgRows_WhitenRegular(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                     const rgAllocator* allocator, int first) {
    double G[6];
    rgResult result = rgRows_WhitenLast(constraints, kinematics, allocator, first, G);
    if (result == rg_ok &&
        !rgRows_AddCompliance(&constraints->rows, constraints->rows.blockCount - 1, G, 1)) {
        rgRows_Regularize(&constraints->rows, kinematics, first);
        result = rgRows_WhitenLast(constraints, kinematics, allocator, first, G);
    }
    constraints->whitenedEnd = constraints->rows.rowCount;
    return result;
}

rgResult rgAddEqualities(rgWorld* world) {
    const rgModel* model = world->model;
    world->constraints.whitenedFirst = world->constraints.whitenedEnd =
        world->constraints.rows.rowCount;
    if (model->info.equalityCount > 0) {
        rgDynamics_FindRoots(world->kinematics.dynamics);
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        int first = def->disabled ? -2 : rgAddEqualityRows(world, &world->constraints.rows, e);
        if (first == -1) {
            return rg_errorMemory;
        }
        if (first < 0) {
            continue;
        }
        rgRows* rows = &world->constraints.rows;
        if (rgRows_WhitenRegular(&world->constraints, &world->kinematics, &world->heap.allocator,
                                 first) != rg_ok) {
            return rg_errorMemory;
        }
        if (def->stiffness == 0) {
            rgSetRigidLoop(&world->constraints, &world->kinematics, world->settings.dt, e, first);
            // Couplings of joints and tendons stay rigid: the projection closes any violation of
            // theirs.
            if (world->constraints.isOpen[e] && rgEqualityIsLoop(def)) {
                rgSetOpenLoop(world, first);
            }
            continue;
        }
        for (int r = first; r < rows->rowCount; ++r) {
            rgLaw law = rgBilateralLaw(world->settings.dt, rows->gap[r],
                                       (rgSoftness){def->stiffness, def->damping});
            rows->bias[r] = law.bias;
            rows->compliance[r] += law.compliance;
        }
    }
    return rg_ok;
}

static bool rgBodyMoves(const rgModel* model, int index1) {
    return index1 > 0 && model->links[model->bodyPlaces[index1 - 1].link].tree >= 0;
}

// Warnings for equalities between bodies that do not move or are kinematic: they have no rows.
void rgWarnEqualities(const rgModel* model, rgDiagnostics* diagnostics) {
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        bool loop = def->kind == rg_equalityConnect || def->kind == rg_equalityWeld;
        int a = def->bodyA.index1, b = def->bodyB.index1;
        if (loop && !def->disabled && !rgBodyMoves(model, a) && !rgBodyMoves(model, b)) {
            rgDiagnostics_Add(diagnostics, rg_severityWarning, def->source.file, def->source.line,
                              "equality '%s': neither side moves; it has no effect",
                              def->name != NULL ? def->name : "");
        }
    }
}
