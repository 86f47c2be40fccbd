// Lever arms: they turn velocities of constraint rows into metres per second, so that errors of
// hinges, sliders and contacts can be compared. ncp.10.
#include "world/constraints.h"

// Distance of the farthest point of each link's subtree from its origin, roughly.
static void rgLinkLeverArm(const rgContactSet* contacts, const rgModel* model, double* reach) {
    for (int l = 0; l < rgModel_AllLinks(model); ++l) {
        reach[l] = rgLength(model->links[l].center);
    }
    for (int i = 0; i < contacts->colliderCount; ++i) {
        const rgCollider* collider = &contacts->colliders[i];
        const rgPlace* place = &model->shapePlaces[collider->shape];
        if (isfinite(collider->radius)) {
            reach[place->link] =
                fmax(reach[place->link], rgLength(place->pose.p) + collider->radius);
        }
    }
    for (int l = model->linkCount - 1; l > 0; --l) {
        const rgLink* link = &model->links[l];
        reach[link->parent] = fmax(reach[link->parent], rgLength(link->origin) + reach[l]);
    }
}

static bool rgDofTurns(const rgModel* model, int v) {
    const rgLink* link = &model->links[model->dofs[v].link];
    switch ((rgJointKind)link->kind) {
    case rg_jointPrismatic:
        return false;
    case rg_jointFree:
        return v - link->v >= 3;
    case rg_jointPlanar:
        return v - link->v == 2;
    default:
        return true;
    }
}

void rgKinematics_SetLeverArms(rgKinematics* kinematics, const rgContactSet* contacts) {
    const rgModel* model = kinematics->dynamics->model;
    rgLinkLeverArm(contacts, model, kinematics->linkLeverArm);
    for (int v = 0; v < model->vCount; ++v) {
        double reach = kinematics->linkLeverArm[model->dofs[v].link];
        kinematics->leverArm[v] = !rgDofTurns(model, v) || reach == 0 ? RG_LEAST_REACH : reach;
    }
}

// Length of torsional and rolling rows: the radius of the smaller shape.
static double rgSpinLength(const rgContactSet* contacts, const rgContactPoint* point) {
    double a = contacts->colliders[point->colliderA].radius;
    double b = contacts->colliders[point->colliderB].radius;
    return isfinite(fmin(a, b)) ? fmin(a, b) : RG_LEAST_REACH;
}

// Row of coordinates: lever arm of its first coordinate [m].
static double rgCoordinateLength(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                                 int row) {
    const rgRows* rows = &constraints->rows;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        if (rows->value[k] != 0) {
            return kinematics->leverArm[rows->column[k]] / fabs(rows->value[k]);
        }
    }
    return RG_LEAST_REACH;
}

// True for rows of tendon paths and frames, whose coordinate is a length.
static bool rgIsLengthRow(const rgModel* model, const rgRowSource* source) {
    int tendon = -1;
    if (source->kind == rg_constraintActuator && model->actuators[source->index].frame.index1 > 0) {
        return true;
    }
    if (source->kind == rg_constraintTendon) {
        tendon = source->index;
    } else if (source->kind == rg_constraintActuator) {
        tendon = model->actuators[source->index].tendon.index1 - 1;
    } else if (source->kind == rg_constraintEquality) {
        tendon = model->equalities[source->index].tendonA.index1 - 1;
    }
    return tendon >= 0 && model->tendons[tendon].pointCount > 0;
}

static double rgRowLength(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                          const rgContactSet* contacts, int row) {
    const rgRows* rows = &constraints->rows;
    const rgRowSource* source = &rows->sources[row];
    if (source->kind < 0) {
        return source->row >= 3 ? rgSpinLength(contacts, &contacts->points[source->index]) : 1;
    }
    if (rgIsLengthRow(kinematics->dynamics->model, source)) {
        return 1;
    }
    if (source->kind != rg_constraintEquality) {
        return rgCoordinateLength(constraints, kinematics, row);
    }
    switch (kinematics->dynamics->model->equalities[source->index].kind) {
    case rg_equalityConnect:
        return 1;
    case rg_equalityWeld: // about the axes of space: whatever coordinate turns last
        return source->row < 3 || rows->rowStart[row + 1] == rows->rowStart[row]
                   ? 1
                   : kinematics->leverArm[rows->column[rows->rowStart[row + 1] - 1]];
    default:
        return rgCoordinateLength(constraints, kinematics, row);
    }
}

void rgConstraintSet_FillLengths(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                 const rgContactSet* contacts) {
    for (int r = 0; r < constraints->rows.rowCount; ++r) {
        constraints->rows.length[r] = rgRowLength(constraints, kinematics, contacts, r);
    }
}
