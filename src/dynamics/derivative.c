// Derivatives of inverse dynamics by positions and velocities: sums over composites, without
// transformations between links. derivatives.6-13.
#include "dynamics/derivative.h"

#include <string.h>

typedef struct rgPlanner {
    char* block;
    size_t used;
} rgPlanner;

static void* rgPlanner_Allocate(rgPlanner* planner, int count, size_t size) {
    size_t bytes = ((size_t)count * size + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    void* piece = planner->block != NULL ? planner->block + planner->used : NULL;
    planner->used += bytes;
    return piece;
}

static void rgSlopes_Plan(rgSlopes* s, const rgModel* model, rgPlanner* planner) {
    int links = rgModel_AllLinks(model), dofs = model->vCount;
    s->a = rgPlanner_Allocate(planner, dofs, sizeof(double));
    s->tau = rgPlanner_Allocate(planner, dofs, sizeof(double));
    s->row = rgPlanner_Allocate(planner, 4 * dofs, sizeof(double));
    s->zeros = rgPlanner_Allocate(planner, RG_MAX(dofs, 6 * links), sizeof(double));
    s->carried = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    s->pulled = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    s->swung = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    s->coriolis = rgPlanner_Allocate(planner, links, sizeof(rgTurning));
    s->loads = rgPlanner_Allocate(planner, links, sizeof(rgTurning));
    s->through = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    s->inert = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    s->turned = rgPlanner_Allocate(planner, links, sizeof(rgVec3));
    s->loaded = rgPlanner_Allocate(planner, links, sizeof(rgVec3));
}

rgResult rgDynamics_NeedSlopes(rgDynamics* d) {
    if (d->slopes != NULL) {
        return rg_ok;
    }
    rgSlopes plan;
    rgPlanner planner = {.used = 0};
    rgPlanner_Allocate(&planner, 1, sizeof(rgSlopes));
    rgSlopes_Plan(&plan, d->model, &planner);
    char* block = rgAllocate(&d->allocator, planner.used, 1);
    if (block == NULL) {
        return rg_errorMemory;
    }
    planner = (rgPlanner){.block = block};
    d->slopes = rgPlanner_Allocate(&planner, 1, sizeof(rgSlopes));
    rgSlopes_Plan(d->slopes, d->model, &planner);
    return rg_ok;
}

rgRest rgDynamics_Rest(rgDynamics* d) {
    rgRest rest = {d->gravity, d->velocities, d->biases, d->v};
    d->gravity = rgVec(0, 0, 0);
    d->velocities = d->biases = (rgSpatial*)d->slopes->zeros;
    d->v = d->slopes->zeros;
    return rest;
}

void rgDynamics_Resume(rgDynamics* d, rgRest rest) {
    d->gravity = rest.gravity;
    d->velocities = rest.velocities;
    d->biases = rest.biases;
    d->v = rest.v;
}

// derivatives.8, derivatives.10
static void rgDynamics_FillAxes(rgDynamics* d) {
    const rgModel* model = d->model;
    rgSlopes* s = d->slopes;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial V = rgDynamics_ParentMotion(d, link, d->velocities[link->parent], d->v);
        rgSpatial pushed = rgSpatialAdd(d->pushes[link->parent], d->biases[link->parent]);
        rgSpatial A = rgDynamics_ParentMotion(d, link, pushed, s->a);
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            const rgSpatial* axis = &d->axes[k];
            s->carried[k] = rgMotionCross(&V, axis);
            s->pulled[k] = rgSpatialAdd(rgMotionCross(&A, axis), rgMotionCross(&V, &s->carried[k]));
            s->swung[k] = s->carried[k];
            if (!rgDynamics_IsStatic(d, k)) {
                rgSpatial own = rgMotionCross(&d->velocities[i], axis);
                s->swung[k] = rgSpatialAdd(s->swung[k], own);
            }
        }
    }
}

// derivatives.9: Coriolis force of a velocity: 2 (s x p, N s) with N = m (v . c) - p c' - [w] (tr I
// / 2 - I).
static rgTurning rgLinkCoriolis(const rgLinkInertia* inertia, const rgSpatial* V) {
    rgVec3 c = inertia->center, w = V->angular;
    rgVec3 p = rgScale(inertia->mass, rgAdd(V->linear, rgCross(w, c)));
    const rgSym3* I = &inertia->moment;
    double half = 0.5 * (I->xx + I->yy + I->zz);
    rgMat3 spread = {
        {half - I->xx, -I->xy, -I->xz, -I->xy, half - I->yy, -I->yz, -I->xz, -I->yz, half - I->zz}};
    rgMat3 turn = rgSkew(w), product = rgMat3_Product(&turn, &spread);
    rgMat3 arm = rgOuterProduct(p, c);
    rgTurning t = {.push = rgScale(2, p)};
    double along = 2 * inertia->mass * rgDot(V->linear, c);
    t.torque.m[0] = t.torque.m[4] = t.torque.m[8] = along;
    rgMat3_AddScaled(&t.torque, -2, &arm);
    rgMat3_AddScaled(&t.torque, -2, &product);
    return t;
}

// derivatives.9: Turning of a wrench that keeps its direction while its point r turns with the
// body: (s x f, (r . f) s - f (r . s) - n x s).
void rgTurning_AddWrench(rgTurning* t, const rgSpatial* wrench, rgVec3 r) {
    rgMat3 arm = rgOuterProduct(wrench->linear, r), turn = rgSkew(wrench->angular);
    double along = rgDot(r, wrench->linear);
    t->push = rgAdd(t->push, wrench->linear);
    rgMat3_AddScaled(&t->torque, -1, &arm);
    rgMat3_AddScaled(&t->torque, -1, &turn);
    t->torque.m[0] += along, t->torque.m[4] += along, t->torque.m[8] += along;
}

static void rgDynamics_FillTurning(rgDynamics* d, const rgSpatial* wrenches) {
    const rgModel* model = d->model;
    rgSlopes* s = d->slopes;
    for (int i = 1; i < model->linkCount; ++i) {
        s->coriolis[i] = rgLinkCoriolis(&d->inertias[i], &d->velocities[i]);
    }
    memset(s->loads, 0, (size_t)rgModel_AllLinks(model) * sizeof(rgTurning));
    for (int b = 0; wrenches != NULL && b < model->info.bodyCount; ++b) {
        const rgPlace* place = &model->bodyPlaces[b];
        rgTurning_AddWrench(&s->loads[place->link], &wrenches[b], rgDynamics_PlacePoint(d, place));
    }
}

rgResult rgDynamics_Slopes(rgDynamics* d, const double* a, const rgSpatial* wrenches) {
    rgResult result = rgDynamics_NeedSlopes(d);
    if (result != rg_ok) {
        return result;
    }
    rgSlopes* s = d->slopes;
    for (int i = 0; i < d->model->vCount; ++i) {
        s->a[i] = a != NULL ? a[i] : 0;
    }
    rgDynamics_InverseDynamics(d, s->a, wrenches, s->tau); // with sums of forces
    rgDynamics_FillAxes(d);
    rgDynamics_FillTurning(d, wrenches);
    return rg_ok;
}

static void rgTurning_Add(rgTurning* sum, const rgTurning* part) {
    sum->push = rgAdd(sum->push, part->push);
    rgMat3_AddScaled(&sum->torque, 1, &part->torque);
}

void rgDynamics_SumSlopes(rgDynamics* d) {
    const rgModel* model = d->model;
    rgSlopes* s = d->slopes;
    rgDynamics_NeedComposites(d);
    for (int i = model->linkCount - 1; i > 0; --i) {
        int parent = model->links[i].parent;
        if (parent > 0) {
            rgTurning_Add(&s->coriolis[parent], &s->coriolis[i]);
            rgTurning_Add(&s->loads[parent], &s->loads[i]);
        }
    }
}

// derivatives.11: Forces that couple S_i and the columns that move it along with the axes from i
// upwards. All forces are those of everything below i.
typedef struct rgSlopeForces {
    rgSpatial inert;         // force of an acceleration along S_i
    rgVec3 coriolis, loads;  // transposed
    rgSpatial moved, turned; // by a displacement along S_i: without and with the forces that turn
    rgSpatial sped;          // by a velocity along S_i
} rgSlopeForces;

static rgSlopeForces rgDynamics_SlopeForces(const rgDynamics* d, int i) {
    const rgSlopes* s = d->slopes;
    int link = d->model->dofs[i].link;
    const rgSpatial* axis = &d->axes[i];
    const rgComposite* inertia = &d->composites[link];
    const rgTurning *coriolis = &s->coriolis[link], *loads = &s->loads[link];
    rgSlopeForces f = {.inert = rgComposite_Force(inertia, axis),
                       .coriolis = rgTurning_Back(coriolis, axis),
                       .loads = rgTurning_Back(loads, axis),
                       .moved = rgComposite_Force(inertia, &s->pulled[i]),
                       .sped = rgComposite_Force(inertia, &s->swung[i])};
    f.moved = rgSpatialAdd(f.moved, rgTurning_Force(coriolis, s->carried[i].angular));
    f.moved = rgSpatialAdd(f.moved, rgTurning_Force(loads, axis->angular));
    f.sped = rgSpatialAdd(f.sped, rgTurning_Force(coriolis, axis->angular));
    f.turned = rgSpatialAdd(f.moved, rgForceCross(axis, &d->forces[link]));
    return f;
}

// derivatives.12
rgSlopeRow rgDynamics_SlopeRow(const rgDynamics* d, int i) {
    const rgModel* model = d->model;
    const rgSlopes* s = d->slopes;
    const rgDof* dof = &model->dofs[i];
    const int* column = model->massColumns + dof->rowStart;
    rgSlopeForces f = rgDynamics_SlopeForces(d, i);
    double* row = s->row;
    rgSlopeRow out = {row, row + model->vCount, row + 2 * model->vCount, row + 3 * model->vCount};
    for (int k = 0; k < dof->depth; ++k) {
        int j = column[k];
        const rgSpatial *axis = &d->axes[j], *carried = &s->carried[j];
        bool turns = model->dofs[j].link == dof->link && !rgDynamics_IsStatic(d, j);
        out.qRow[k] = rgSpatialDot(&f.inert, &s->pulled[j]) + rgDot(f.coriolis, carried->angular) +
                      rgDot(f.loads, axis->angular);
        out.vRow[k] = rgSpatialDot(&f.inert, &s->swung[j]) + rgDot(f.coriolis, axis->angular);
        out.qColumn[k] = rgSpatialDot(axis, turns ? &f.moved : &f.turned);
        out.vColumn[k] = rgSpatialDot(axis, &f.sped);
    }
    return out;
}

// Both triangles of the matrices that are wanted.
static void rgDynamics_StoreSlopes(const rgDynamics* d, double* byQ, double* byV) {
    const rgModel* model = d->model;
    size_t n = (size_t)model->vCount;
    double* both[2] = {byQ, byV};
    for (int m = 0; m < 2; ++m) {
        if (both[m] != NULL && n > 0) {
            memset(both[m], 0, n * n * sizeof(double));
        }
    }
    for (size_t i = 0; i < n; ++i) {
        const rgDof* dof = &model->dofs[i];
        rgSlopeRow row = rgDynamics_SlopeRow(d, (int)i);
        for (int k = 0; k < dof->depth; ++k) {
            size_t j = (size_t)model->massColumns[dof->rowStart + k];
            if (byQ != NULL) {
                byQ[j * n + i] = row.qColumn[k];
                byQ[i * n + j] = row.qRow[k];
            }
            if (byV != NULL) {
                byV[j * n + i] = row.vColumn[k];
                byV[i * n + j] = row.vRow[k];
            }
        }
    }
}

rgResult rgDynamics_InverseDynamicsDerivatives(rgDynamics* d, const double* a,
                                               const rgSpatial* wrenches, double* byQ,
                                               double* byV) {
    if (d == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgDynamics_Slopes(d, a, wrenches);
    if (result == rg_ok) {
        rgDynamics_SumSlopes(d);
        rgDynamics_StoreSlopes(d, byQ, byV);
    }
    return result;
}

rgResult rgDynamics_MassDerivative(rgDynamics* d, const double* y, double* byQ) {
    if (d == NULL || y == NULL || byQ == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgDynamics_NeedSlopes(d);
    if (result == rg_ok) {
        rgRest rest = rgDynamics_Rest(d);
        result = rgDynamics_InverseDynamicsDerivatives(d, y, NULL, byQ, NULL);
        rgDynamics_Resume(d, rest);
    }
    return result;
}

// ---- forward dynamics

// derivatives.13: x := -M^-1 x
static void rgDynamics_SolveNegative(const rgDynamics* d, double* x) {
    size_t n = (size_t)d->model->vCount;
    if (x != NULL) {
        rgDynamics_Solve(d, d->model->vCount, x);
        for (size_t i = 0; i < n * n; ++i) {
            x[i] = -x[i];
        }
    }
}

rgResult rgDynamics_ForwardDynamicsDerivatives(rgDynamics* d, const double* tau,
                                               const rgSpatial* wrenches, double* byQ, double* byV,
                                               double* byTau) {
    if (d == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgDynamics_NeedSlopes(d);
    if (result == rg_ok) {
        result = rgDynamics_ForwardDynamics(d, tau, wrenches, d->slopes->row);
    }
    if (result == rg_ok) {
        result = rgDynamics_InverseDynamicsDerivatives(d, d->slopes->row, wrenches, byQ, byV);
    }
    if (result == rg_ok) {
        result = rgDynamics_Factorize(d, NULL);
    }
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_SolveNegative(d, byQ);
    rgDynamics_SolveNegative(d, byV);
    size_t n = (size_t)d->model->vCount;
    for (size_t i = 0; byTau != NULL && i < n * n; ++i) {
        byTau[i] = i % (n + 1) == 0;
    }
    if (byTau != NULL) {
        rgDynamics_Solve(d, d->model->vCount, byTau);
    }
    return rg_ok;
}
