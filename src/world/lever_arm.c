// Lever arms: they turn velocities of constraint rows into metres per second, so that errors of
// hinges, sliders and contacts can be compared. ncp.10.
#include "world/world.h"

// Distance of the farthest point of each link's subtree from its origin, roughly.
static void rgWorld_FindLinkLeverArm(const rgWorld* world, double* reach) {
    const rgModel* model = world->model;
    for (int l = 0; l < rgModel_AllLinks(model); ++l) {
        reach[l] = rgLength(model->links[l].center);
    }
    for (int i = 0; i < world->contacts.colliderCount; ++i) {
        const rgCollider* collider = &world->contacts.colliders[i];
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

void rgWorld_SetLeverArms(rgWorld* world) {
    const rgModel* model = world->model;
    rgWorld_FindLinkLeverArm(world, world->kinematics.linkLeverArm);
    for (int v = 0; v < model->vCount; ++v) {
        double reach = world->kinematics.linkLeverArm[model->dofs[v].link];
        world->kinematics.leverArm[v] =
            !rgDofTurns(model, v) || reach == 0 ? RG_LEAST_REACH : reach;
    }
}

// Torsion and rolling: the smaller of the two shapes.
static double rgSpinLength(const rgWorld* world, const rgContactPoint* point) {
    double a = world->contacts.colliders[point->colliderA].radius;
    double b = world->contacts.colliders[point->colliderB].radius;
    return isfinite(fmin(a, b)) ? fmin(a, b) : RG_LEAST_REACH;
}

// A row that measures coordinates: metres at the end of what its first coordinate turns.
static double rgCoordinateLength(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        if (rows->value[k] != 0) {
            return world->kinematics.leverArm[rows->column[k]] / fabs(rows->value[k]);
        }
    }
    return RG_LEAST_REACH;
}

// A row of a tendon's way, or of a frame's, already counts metres.
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

static double rgRowLength(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    const rgRowSource* source = &rows->sources[row];
    if (source->kind < 0) {
        return source->row >= 3 ? rgSpinLength(world, &world->contacts.points[source->index]) : 1;
    }
    if (rgIsLengthRow(world->model, source)) {
        return 1;
    }
    if (source->kind != rg_constraintEquality) {
        return rgCoordinateLength(world, row);
    }
    switch (world->model->equalities[source->index].kind) {
    case rg_equalityConnect:
        return 1;
    case rg_equalityWeld: // about the axes of space: whatever coordinate turns last
        return source->row < 3 || rows->rowStart[row + 1] == rows->rowStart[row]
                   ? 1
                   : world->kinematics.leverArm[rows->column[rows->rowStart[row + 1] - 1]];
    default:
        return rgCoordinateLength(world, row);
    }
}

void rgWorld_FillLengths(rgWorld* world) {
    for (int r = 0; r < world->constraints.rows.rowCount; ++r) {
        world->constraints.rows.length[r] = rgRowLength(world, r);
    }
}
