// Trees of which a joint turns fast: instead of a bias, the velocities of the links are carried
// from where the tree stands to where it is placed next, and projected on what its joints allow
// there. Energy never rises by that. docs/theory/step.md (35)-(37), (30).
#include "world/project.h"

#include <string.h>

#define RG_FAST_TURN   0.03 // [rad] of a joint in a step
#define RG_FAST_CHANGE 10
#define RG_PART_TURN   0.02 // likewise, in a part of it
#define RG_MAX_PARTS   50
#define RG_TURN_ROUNDS 2

// ---- one link that turns freely

static rgVec3 rgSolveColumns3(const rgVec3 m[3], rgVec3 right) {
    rgVec3 bc = rgCross(m[1], m[2]);
    double inverse = 1 / rgDot(m[0], bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(m[0], rgCross(right, m[2])),
                 inverse * rgDot(m[0], rgCross(m[1], right)));
}

// (35) I (w+ - w) = L x (w + w+) with L = time/4 I (w + w+): w + w+ is across the right side, so
// that energy stays for any L.
static rgVec3 rgTurnRate(const rgSym3* I, rgVec3 w, double time) {
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return w;
    }
    rgVec3 next = w, momentum = rgSym3_Multiply(I, w), m[3];
    for (int k = 0; k < RG_TURN_ROUNDS; ++k) {
        rgVec3 L = rgScale(0.25 * time, rgAdd(momentum, rgSym3_Multiply(I, next)));
        m[0] = rgVec(I->xx, I->xy - L.z, I->xz + L.y);
        m[1] = rgVec(I->xy + L.z, I->yy, I->yz - L.x);
        m[2] = rgVec(I->xz - L.y, I->yz + L.x, I->zz);
        next = rgSolveColumns3(m, rgAdd(momentum, rgCross(L, w)));
    }
    return next;
}

static void rgTurnRates(const rgModel* model, int tree, double time, rgSpatial* rates) {
    const rgTree* range = &model->trees[tree];
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (!link->massless) {
            rates[i].angular = rgTurnRate(&link->moment, rates[i].angular, time);
        }
    }
}

// ---- one tree

// rates := J v + scale rates
static void rgAddRates(rgWorld* world, int tree, const double* v, double scale, rgSpatial* rates) {
    const rgTree* range = &world->model->trees[tree];
    rgSpatial* along = world->linkVelocities;
    rgDynamics_TreeRates(world->dynamics, tree, v, along);
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        rates[i] = rgSpatialAddScaled(along[i], scale, rates[i]);
    }
}

// (36) x := M^-1 J' of the momenta; rotors turn with their joints.
static rgResult rgProjectRates(rgDynamics* d, int tree, const rgSpatial* rates, const double* rotor,
                               double* x) {
    const rgTree* range = &d->model->trees[tree];
    rgResult result = rgDynamics_FactorizeTree(d, tree, NULL);
    rgDynamics_SumMomenta(d, tree, rates, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] += d->model->dofs[i].armature * rotor[i];
    }
    rgDynamics_SolveTree(d, tree, x);
    return result;
}

// What acts on a tree meanwhile.
typedef struct rgPush {
    int tree;
    double dt;
    const double *tau, *added; // forces, M^ - M
    const double *v, *middle;  // at the start, projected
} rgPush;

// x := dt tau and weight, and of what is implicit what (1) has in v+ - v beside x
static void rgPush_Gather(rgWorld* world, const rgPush* push, double* x) {
    const rgTree* range = &world->model->trees[push->tree];
    rgDynamics_TreeWeight(world->dynamics, push->tree, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] =
            push->dt * (x[i] + push->tau[i]) + 2 * push->added[i] * (push->v[i] - push->middle[i]);
    }
}

static double rgSquare(const double* x, int count) {
    return count < 3 ? x[0] * x[0] : x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
}

// Of the fastest joint of a tree in a step with v [rad]. What changed in the last step, up to the
// rate itself, may do so again: it counts ten times, and is no part of what is foreseen.
static double rgWorld_TreeTurn(const rgWorld* world, int tree, const double* v,
                               const double* change) {
    const rgTree* range = &world->model->trees[tree];
    double most = 0;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &world->model->links[i];
        int first = link->v + (link->kind == rg_linkFree ? 3 : 0);
        double square = link->kind != rg_linkPrismatic ? rgSquare(v + first, link->vCount) : 0;
        if (change != NULL) {
            double changed = rgSquare(change + first, link->vCount);
            square += RG_FAST_CHANGE * RG_FAST_CHANGE * (changed < square ? changed : square);
        }
        most = square > most ? square : most;
    }
    return world->dt * sqrt(most);
}

// ---- a step

// (35) and (36) of the start of the step.
static bool rgWorld_CarryTree(rgWorld* world, int tree) {
    rgDynamics *d = world->dynamics, *before = world->readout->start;
    rgDynamics_PlaceTreeLinks(before, tree, world->state.q);
    rgDynamics_TreeRates(before, tree, world->startV, world->excess);
    rgTurnRates(world->model, tree, world->lead[tree], world->excess);
    rgResult result = rgProjectRates(d, tree, world->excess, world->startV, world->projectedV);
    rgAddRates(world, tree, world->projectedV, -1, world->excess);
    return result == rg_ok;
}

// One link that turns freely, a top, costs next to nothing.
static double rgWorld_SlowTurn(const rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    return range->linkCount == 1 && range->dofCount >= 3 ? 0 : RG_FAST_TURN;
}

void rgWorld_CarryFast(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const double *v = world->startV, *change = world->state.change;
        world->isFast[t] = false;
        if (!world->isFreeBody[t] &&
            rgWorld_TreeTurn(world, t, v, change) > rgWorld_SlowTurn(world, t)) {
            rgDynamics_NeedMass(world->dynamics);
            world->isFast[t] = rgWorld_CarryTree(world, t);
        }
    }
}

// M^ of the step; where it is M it is there.
rgResult rgWorld_FactorizeTree(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    bool plain = world->isFast[tree];
    for (int i = range->firstDof; plain && i < range->firstDof + range->dofCount; ++i) {
        plain = world->added[i] == 0;
    }
    return plain ? rg_ok : rgDynamics_FactorizeTree(world->dynamics, tree, world->added);
}

// dt times all forces but what (1) has in v+ - v.
void rgWorld_PushFast(rgWorld* world, int tree, double* x) {
    rgPush push = {tree, world->dt, world->tau, world->added, world->startV, world->projectedV};
    rgPush_Gather(world, &push, x);
}

// What v+ of the coordinates has beside that of the rows.
static double rgWorld_Lead(const rgWorld* world, int dof) {
    return world->projectedV[dof] - world->startV[dof];
}

// The velocity that moves the coordinates of a tree, of that of the rows.
void rgWorld_LeadTree(const rgWorld* world, int tree, const double* v, double* out) {
    const rgTree* range = &world->model->trees[tree];
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        out[i] = v[i] + (world->isFast[tree] ? rgWorld_Lead(world, i) : 0);
    }
}

// The same along a row, of the trees that are held; NULL: all that it has.
double rgWorld_RowLead(const rgWorld* world, int row, const bool* held) {
    const rgRows* rows = &world->rows;
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        int i = rows->column[k], tree = world->treeOfDof[i];
        bool leads = world->isFast[tree] && (held == NULL || held[tree]);
        sum += leads ? rows->value[k] * rgWorld_Lead(world, i) : 0;
    }
    return sum;
}

// Joints, tendons and loops are about the coordinates, which move on with v+ (37).
void rgWorld_LeadRows(rgWorld* world) {
    rgRows* rows = &world->rows;
    bool any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        any = any || (world->isFast[t] && world->isHeld[t]);
    }
    int contacts = world->pointCount > 0 ? world->points[0].firstRow : rows->rowCount;
    for (int r = 0; any && r < contacts; ++r) {
        rows->bias[r] += rgWorld_RowLead(world, r, world->isHeld);
    }
}

// (37) v moves the coordinates.
static void rgWorld_LeaveTree(rgWorld* world, int tree, const double* v) {
    const rgTree* range = &world->model->trees[tree];
    double* x = world->column;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        world->endRates[i] = world->excess[i];
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = v[i] - rgWorld_Lead(world, i);
    }
    rgAddRates(world, tree, x, 1, world->endRates);
    rgTurnRates(world->model, tree, world->dt - world->lead[tree], world->endRates);
}

// A v+ of a tree that was slow. What an impact has made fast leaves like others.
bool rgWorld_IsHit(rgWorld* world, int tree, const double* v) {
    return world->isHeld[tree] && !world->isFast[tree] && !world->isFreeBody[tree] &&
           rgWorld_TreeTurn(world, tree, v, NULL) > RG_FAST_TURN && rgWorld_CarryTree(world, tree);
}

rgResult rgWorld_LeaveFast(rgWorld* world) {
    rgResult result = rg_ok;
    memcpy(world->endV, world->nextV, (size_t)world->model->vCount * sizeof(double));
    for (int t = 0; t < world->model->treeCount && result == rg_ok; ++t) {
        bool hit = rgWorld_IsHit(world, t, world->nextV);
        world->lands[t] = hit || (world->isFast[t] && world->parts[t] == 1);
        if (hit) { // loops and readers have the factors of the step
            result = rgDynamics_FactorizeTree(world->dynamics, t, world->added);
        }
        if (world->lands[t]) {
            rgWorld_LeadTree(world, t, world->nextV, world->endV);
            rgWorld_LeaveTree(world, t, world->endV);
        }
    }
    return result;
}

// (36) of the end of the step. What would not be fast by that was not made fast.
static rgResult rgWorld_LandTree(rgWorld* world, int tree, const double* q, double* v) {
    rgDynamics* after = world->readout->start;
    const rgTree* range = &world->model->trees[tree];
    rgDynamics_PlaceTree(after, tree, q);
    rgResult result = rgProjectRates(after, tree, world->endRates, v, world->column);
    if (world->isFast[tree] || rgWorld_TreeTurn(world, tree, world->column, NULL) > RG_FAST_TURN) {
        memcpy(v + range->firstDof, world->column + range->firstDof,
               (size_t)range->dofCount * sizeof(double));
    }
    return result;
}

// At q+, which the projection has moved: the links keep their velocities, so that it adds no
// energy.
rgResult rgLandFast(rgStep* step) {
    rgWorld* world = step->world;
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (!world->lands[t]) {
            continue;
        }
        const rgTree* range = &world->model->trees[t];
        rgWorld_LeadTree(world, t, world->nextV, world->endV);
        rgResult result = rgWorld_LandTree(world, t, world->nextQ, world->endV);
        if (result != rg_ok) {
            return result;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) { // for readers
            world->midV[i] = 0.5 * (world->startV[i] + world->endV[i]);
            world->nextBodyV[i] = world->endV[i];
        }
        const rgLink* root = &world->model->links[range->firstLink];
        if (root->kind == rg_linkFree) {
            const double* quat = world->nextQ + root->q + 3;
            double* v = world->nextBodyV + root->v;
            rgVec3 linear =
                rgRotateBack((rgQuat){quat[0], quat[1], quat[2], quat[3]}, rgVec(v[0], v[1], v[2]));
            v[0] = linear.x, v[1] = linear.y, v[2] = linear.z;
        }
    }
    return rgAllFinite(world->nextBodyV, world->model->vCount) ? rg_ok : rg_errorNumeric;
}

// ---- parts of a step

int rgWorld_CountParts(const rgWorld* world, int tree) {
    if (world->fluid && rgWorld_FluidIsThick(world, tree)) {
        return 1; // its forces would change from part to part
    }
    double turn = rgWorld_TreeTurn(world, tree, world->startV, NULL);
    return (int)fmin(fmax(ceil(turn / RG_PART_TURN), 1), RG_MAX_PARTS);
}

// One part of h, from nextQ, where the tree is placed, and partV to those of its end.
static rgResult rgWorld_MovePart(rgWorld* world, rgPull* pull, int tree, double h) {
    const rgTree* range = &world->model->trees[tree];
    rgDynamics* d = world->dynamics;
    int first = range->firstDof, end = first + range->dofCount;
    double *v = world->partV, *x = world->column, *middle = world->projectedV;
    rgPush push = {tree, h, pull->tau, pull->added, v, middle};
    rgDynamics_TreeRates(d, tree, v, world->excess);
    rgTurnRates(world->model, tree, 0.5 * h, world->excess);
    rgWorld_MoveTree(world, tree, world->nextQ, v, 0.5 * h, world->nextQ);
    rgDynamics_PlaceTree(d, tree, world->nextQ);
    rgResult result = rgProjectRates(d, tree, world->excess, v, middle);
    rgWorld_TreePulls(world, pull);
    for (int i = first; i < end; ++i) {
        pull->tau[i] += world->partForce[i];
    }
    rgPush_Gather(world, &push, x);
    result = result == rg_ok ? rgDynamics_FactorizeTree(d, tree, pull->added) : result;
    rgDynamics_SolveTree(d, tree, x);
    for (int i = first; i < end; ++i) { // x := v + v+
        x[i] += 2 * middle[i];
    }
    rgAddRates(world, tree, x, -1, world->excess);
    rgTurnRates(world->model, tree, 0.5 * h, world->excess);
    for (int i = first; i < end; ++i) {
        v[i] = x[i] - v[i];
    }
    rgWorld_MoveTree(world, tree, world->nextQ, v, 0.5 * h, world->nextQ);
    rgDynamics_PlaceTree(d, tree, world->nextQ);
    memcpy(x + first, v + first, (size_t)range->dofCount * sizeof(double));
    return result == rg_ok ? rgProjectRates(d, tree, world->excess, x, v) : result;
}

// (30) From the state to the end of the step in equal parts. Leaves q+ in nextQ and v+ in partV.
rgResult rgWorld_MoveInParts(rgWorld* world, int tree, int count) {
    const rgModel* model = world->model;
    const rgTree* range = &model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    rgPull pull = {world->startQ, world->startV,  world->dt,       first,
                   end,           world->partTau, world->partAdded};
    rgWorld_TreePulls(world, &pull);
    for (int i = first; i < end; ++i) {
        world->partForce[i] = world->tau[i] - pull.tau[i];
        world->partV[i] = world->startV[i];
    }
    rgWorld_MoveTree(world, tree, world->state.q, world->startV, 0, world->nextQ);
    rgDynamics_PlaceTreeLinks(world->dynamics, tree, world->nextQ);
    pull.q = world->nextQ, pull.v = world->partV, pull.dt = world->dt / count;
    rgResult result = rg_ok;
    for (int k = 0; k < count && result == rg_ok; ++k) {
        result = rgWorld_MovePart(world, &pull, tree, pull.dt);
    }
    return result;
}

// ---- the same, turned around (docs/theory/inverse.md)

#define RG_FIND_STEPS 50
#define RG_FIND_RISES 4 // of the error, before it is rounding

// asked is a v+ of step coordinates, or has the linear velocity of a free joint in the axes that it
// ends with. error := asked less the velocity that the tree ends with.
static double rgWorld_Miss(const rgWorld* world, int tree, const rgAsked* asked, const double* v,
                           double* error) {
    const rgTree* range = &world->model->trees[tree];
    const rgLink* link = &world->model->links[range->firstLink];
    double most = 0;
    memcpy(error + range->firstDof, asked->v + range->firstDof,
           (size_t)range->dofCount * sizeof(double));
    if (asked->inBody && link->kind == rg_linkFree) {
        const double *q = world->nextQ + link->q + 3, *a = asked->v + link->v;
        rgVec3 linear = rgRotate((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(a[0], a[1], a[2]));
        error[link->v] = linear.x, error[link->v + 1] = linear.y, error[link->v + 2] = linear.z;
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        error[i] -= v[i];
        most = fmax(most, fabs(error[i]));
    }
    return most;
}

// The velocity of the rows with which the step ends as asked, which becomes endV.
void rgWorld_FindFast(rgWorld* world, int tree, const rgAsked* asked, double* v) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount, rises = 0;
    double last = INFINITY, *error = world->partV;
    memcpy(v + first, asked->v + first, (size_t)(end - first) * sizeof(double));
    for (int k = 0; k < RG_FIND_STEPS && rises <= RG_FIND_RISES; ++k) {
        rgWorld_LeaveTree(world, tree, v);
        rgWorld_MoveTree(world, tree, world->startQ, v, world->dt - world->lead[tree],
                         world->nextQ);
        rgWorld_MoveTree(world, tree, world->nextQ, world->projection->moved, 1, world->nextQ);
        memcpy(world->endV + first, v + first, (size_t)(end - first) * sizeof(double));
        rgWorld_LandTree(world, tree, world->nextQ, world->endV);
        double most = rgWorld_Miss(world, tree, asked, world->endV, error);
        rises += !(most < last);
        last = most;
        for (int i = first; i < end && rises <= RG_FIND_RISES; ++i) {
            v[i] += error[i];
        }
    }
    for (int i = first; i < end && world->isFast[tree]; ++i) {
        v[i] -= rgWorld_Lead(world, i);
    }
}

// Force that is missing for the rows to have that velocity.
void rgWorld_FastForce(rgWorld* world, int tree, const double* v, double* force) {
    const rgTree* range = &world->model->trees[tree];
    double *x = world->column, *push = world->partV;
    rgWorld_PushFast(world, tree, push);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = v[i] - world->projectedV[i];
    }
    rgDynamics_TreeMultiply(world->dynamics, tree, x, force);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        force[i] = (force[i] + world->added[i] * x[i] - push[i]) / world->dt;
    }
}

// (30) solved for the force that, beside tau, makes the parts end as asked. Starts from one that is
// near; M is near enough to what the parts weigh.
void rgWorld_FindPartForce(rgWorld* world, int tree, const rgAsked* asked, double* force) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    int count = rgWorld_CountParts(world, tree);
    double last = INFINITY, *error = world->column, *more = world->partForce;
    int rises = 0;
    for (int i = first; i < end; ++i) {
        world->tau[i] += force[i];
    }
    for (int k = 0; k < RG_FIND_STEPS && rises <= RG_FIND_RISES; ++k) {
        if (rgWorld_MoveInParts(world, tree, count) != rg_ok) {
            break;
        }
        memcpy(world->endV + first, world->partV + first, (size_t)(end - first) * sizeof(double));
        double most = rgWorld_Miss(world, tree, asked, world->partV, error);
        rises += !(most < last);
        last = most;
        rgDynamics_TreeMultiply(world->dynamics, tree, error, more);
        for (int i = first; i < end && rises <= RG_FIND_RISES; ++i) {
            force[i] += more[i] / world->dt;
            world->tau[i] += more[i] / world->dt;
        }
    }
    for (int i = first; i < end; ++i) {
        world->tau[i] -= force[i];
    }
}
