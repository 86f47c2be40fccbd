// Workspace of the derivatives of inverse dynamics. docs/theory/derivatives.md.
#pragma once
#include "dynamics/dynamics.h"
#include "math/mat3.h"
#include "rigor/derivative.h"

// Force (s x push, torque s) of an angular displacement or velocity s.
typedef struct rgTurning {
    rgVec3 push;
    rgMat3 torque;
} rgTurning;

// One block of memory; the numbers are those of the last rgDynamics_Slopes().
struct rgSlopes {
    double* a;           // accelerations, vCount
    double* tau;         // inverse dynamics, vCount
    double* row;         // rgDynamics_SlopeRow, 4 vCount
    double* zeros;       // as many as a link or a degree of freedom may need
    rgSpatial* carried;  // per degree of freedom (derivatives.8)
    rgSpatial* pulled;   // per degree of freedom (derivatives.8)
    rgSpatial* swung;    // per degree of freedom (derivatives.10)
    rgTurning* coriolis; // per link (derivatives.9)
    rgTurning* loads;    // per link (derivatives.9)
    rgSpatial* through;  // per link: U of derivatives.14
    rgSpatial* inert;    // per link: P of derivatives.14
    rgVec3* turned;      // per link: Q of derivatives.14
    rgVec3* loaded;      // per link: R of derivatives.14
};

// Derivatives between a degree of freedom and its ancestors (itself included), in the order of a
// compact row of M: entries of its row and of its column.
typedef struct rgSlopeRow {
    double *qRow, *qColumn; // by positions
    double *vRow, *vColumn; // by velocities
} rgSlopeRow;

// The workspace, made by the first call.
rgResult rgDynamics_NeedSlopes(rgDynamics* d);
// derivatives.7-10 for accelerations a (NULL: zero) and wrenches (NULL: none); coriolis and loads
// are those of single links.
rgResult rgDynamics_Slopes(rgDynamics* d, const double* a, const rgSpatial* wrenches);
// coriolis and loads of links with all below them, which rgDynamics_SlopeRow() takes.
void rgDynamics_SumSlopes(rgDynamics* d);
// (9) of a wrench, at a point r, that keeps its direction while the point turns with its link.
void rgTurning_AddWrench(rgTurning* t, const rgSpatial* wrench, rgVec3 r);
rgSlopeRow rgDynamics_SlopeRow(const rgDynamics* d, int dof);

// The robot at rest without gravity, where inverse dynamics is M a.
typedef struct rgRest {
    rgVec3 gravity;
    rgSpatial *velocities, *biases;
    double* v;
} rgRest;
rgRest rgDynamics_Rest(rgDynamics* d); // the workspace must be there
void rgDynamics_Resume(rgDynamics* d, rgRest rest);

// Axes that do not turn with their link: the linear ones of free joints in step coordinates.
static inline bool rgDynamics_IsStatic(const rgDynamics* d, int dof) {
    const rgLink* link = &d->model->links[d->model->dofs[dof].link];
    return d->stepCoordinates && link->kind == rg_linkFree && dof < link->v + 3;
}

// Velocity or acceleration of a link without its joint, given that of its parent and the joint's
// numbers: the parent's, plus the linear part of a free joint in step coordinates.
static inline rgSpatial rgDynamics_ParentMotion(const rgDynamics* d, const rgLink* link,
                                                rgSpatial parent, const double* numbers) {
    if (d->stepCoordinates && link->kind == rg_linkFree) {
        const double* x = numbers + link->v;
        parent.linear = rgAdd(parent.linear, rgVec(x[0], x[1], x[2]));
    }
    return parent;
}

// Transpose of rgTurning_Force: torque by a motion along an axis.
static inline rgVec3 rgTurning_Back(const rgTurning* t, const rgSpatial* axis) {
    return rgAdd(rgCross(t->push, axis->linear),
                 rgMat3_MultiplyTransposed(&t->torque, axis->angular));
}

static inline rgSpatial rgTurning_Force(const rgTurning* t, rgVec3 s) {
    return (rgSpatial){rgCross(s, t->push), rgMat3_Multiply(&t->torque, s)};
}
