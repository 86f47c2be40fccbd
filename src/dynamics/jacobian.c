// Motion of frames: Jacobians (17), velocities, accelerations and bias terms (18) at three
// references, and the rows that constraints between two links need. docs/theory/dynamics.md.
#include "dynamics/dynamics.h"

#include <string.h>

// A frame at one instant: the point whose velocity counts, and the axes it is told in.
typedef struct rgView {
    int link;
    rgVec3 point; // relative to the tree's reference point
    rgRot axes;
    rgReference reference;
} rgView;

static bool rgView_Open(rgView* view, const rgDynamics* d, rgFrameId frame, rgReference reference) {
    if (rgModel_Frame(d->model, frame) == NULL) {
        return false;
    }
    const rgPlace* place = &d->model->framePlaces[frame.index1 - 1];
    view->link = place->link;
    view->reference = reference;
    view->axes = (rgRot){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    view->point = rgDynamics_PlacePoint(d, place);
    if (reference == rg_referenceWorld) {
        view->point = rgNegate(rgDynamics_LinkOrigin(d, place->link));
    } else if (reference == rg_referenceLocal) {
        rgRot offset = rgRotFromQuat(place->pose.q);
        view->axes = rgRot_Multiply(&d->poses[place->link].r, &offset);
    }
    return true;
}

static rgSpatial rgView_Turn(const rgView* view, rgVec3 linear, rgVec3 angular) {
    if (view->reference != rg_referenceLocal) {
        return (rgSpatial){linear, angular};
    }
    return (rgSpatial){rgRot_ApplyBack(&view->axes, linear), rgRot_ApplyBack(&view->axes, angular)};
}

static rgVec3 rgVelocityAt(const rgSpatial* motion, rgVec3 point) {
    return rgAdd(motion->linear, rgCross(motion->angular, point));
}

// (18) Rate of the view's velocity when the link accelerates with A.
static rgSpatial rgView_Rate(const rgView* view, const rgDynamics* d, const rgSpatial* A) {
    const rgSpatial* V = &d->velocities[view->link];
    rgVec3 linear = rgVelocityAt(A, view->point);
    if (view->reference == rg_referenceAligned) {
        // The point moves with the frame.
        linear = rgAdd(linear, rgCross(V->angular, rgVelocityAt(V, view->point)));
    }
    return rgView_Turn(view, linear, A->angular);
}

rgSpatial rgDynamics_FrameVelocity(const rgDynamics* d, rgFrameId frame, rgReference reference) {
    if (d == NULL) {
        return (rgSpatial){0};
    }
    rgView view;
    if (!rgView_Open(&view, d, frame, reference)) {
        return (rgSpatial){0};
    }
    const rgSpatial* V = &d->velocities[view.link];
    return rgView_Turn(&view, rgVelocityAt(V, view.point), V->angular);
}

rgSpatial rgDynamics_FrameAcceleration(const rgDynamics* d, rgFrameId frame,
                                       rgReference reference) {
    if (d == NULL) {
        return (rgSpatial){0};
    }
    rgView view;
    if (!rgView_Open(&view, d, frame, reference)) {
        return (rgSpatial){0};
    }
    return rgView_Rate(&view, d, &d->accelerations[view.link]);
}

rgSpatial rgDynamics_FrameBias(const rgDynamics* d, rgFrameId frame, rgReference reference) {
    if (d == NULL) {
        return (rgSpatial){0};
    }
    rgView view;
    if (!rgView_Open(&view, d, frame, reference)) {
        return (rgSpatial){0};
    }
    return rgView_Rate(&view, d, &d->biases[view.link]);
}

// Last degree of freedom that moves a link; -1 for the world.
static int rgLastDof(const rgModel* model, int link) {
    return link > 0 ? model->links[link].v + model->links[link].vCount - 1 : -1;
}

// (17)
static void rgDynamics_ViewJacobian(const rgDynamics* d, const rgView* view, double* jacobian) {
    const rgModel* model = d->model;
    size_t n = (size_t)model->vCount;
    memset(jacobian, 0, 6 * n * sizeof(double));
    int last = view != NULL ? rgLastDof(model, view->link) : -1;
    for (int k = last; k >= 0; k = model->dofs[k].parent) {
        const rgSpatial* axis = &d->axes[k];
        rgSpatial column = rgView_Turn(view, rgVelocityAt(axis, view->point), axis->angular);
        double* out = jacobian + k;
        out[0] = column.linear.x;
        out[n] = column.linear.y;
        out[2 * n] = column.linear.z;
        out[3 * n] = column.angular.x;
        out[4 * n] = column.angular.y;
        out[5 * n] = column.angular.z;
    }
}

void rgDynamics_FrameJacobian(const rgDynamics* d, rgFrameId frame, rgReference reference,
                              double* jacobian) {
    if (d == NULL || jacobian == NULL) {
        return;
    }
    rgView view;
    bool known = rgView_Open(&view, d, frame, reference);
    rgDynamics_ViewJacobian(d, known ? &view : NULL, jacobian);
}

// A view in world axes of a body's point that is given in the world.
static bool rgView_OpenPoint(rgView* view, const rgDynamics* d, rgBodyId body, rgVec3 point) {
    if (rgModel_Body(d->model, body) == NULL) {
        return false;
    }
    int link = d->model->bodyPlaces[body.index1 - 1].link;
    *view = (rgView){.link = link,
                     .point = rgSub(point, rgDynamics_LinkOrigin(d, link)),
                     .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     .reference = rg_referenceAligned};
    return true;
}

void rgDynamics_PointJacobian(const rgDynamics* d, rgBodyId body, rgVec3 point, double* jacobian) {
    if (d == NULL || jacobian == NULL) {
        return;
    }
    rgView view;
    bool known = rgView_OpenPoint(&view, d, body, point);
    rgDynamics_ViewJacobian(d, known ? &view : NULL, jacobian);
}

rgSpatial rgDynamics_PointVelocity(const rgDynamics* d, rgBodyId body, rgVec3 point) {
    if (d == NULL) {
        return (rgSpatial){0};
    }
    rgView view;
    if (!rgView_OpenPoint(&view, d, body, point)) {
        return (rgSpatial){0};
    }
    const rgSpatial* V = &d->velocities[view.link];
    return (rgSpatial){rgVelocityAt(V, view.point), V->angular};
}

// A walk up two chains of links at once, largest link first. Links are in the order of their
// degrees of freedom; the world and what is told to move have none.
typedef struct rgWalk {
    int a, b;
} rgWalk;

static rgWalk rgStartWalk(const rgModel* model, int linkA, int linkB) {
    const rgLink* links = model->links;
    return (rgWalk){links[linkA].vCount > 0 ? linkA : 0, links[linkB].vCount > 0 ? linkB : 0};
}

// Sign: -1 where only A is moved, 1 where only B is, 0 where both are.
static inline const rgLink* rgWalk_Next(rgWalk* walk, const rgModel* model, int* sign) {
    int next = RG_MAX(walk->a, walk->b);
    const rgLink* link = &model->links[next];
    *sign = (walk->b == next) - (walk->a == next);
    walk->a = walk->a == next ? link->parent : walk->a;
    walk->b = walk->b == next ? link->parent : walk->b;
    return link;
}

static inline bool rgWalk_GoesOn(const rgWalk* walk) {
    return (walk->a | walk->b) > 0;
}

int rgModel_PairColumns(const rgModel* model, int linkA, int linkB, int* columns) {
    int sign, count = 0;
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    while (rgWalk_GoesOn(&walk)) {
        count += rgWalk_Next(&walk, model, &sign)->vCount;
    }
    walk = rgStartWalk(model, linkA, linkB);
    for (int i = count; i > 0;) {
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        i -= link->vCount;
        for (int k = 0; k < link->vCount; ++k) {
            columns[i + k] = link->v + k;
        }
    }
    return count;
}

// What a free joint does to a point: its linear axes are those of the world.
static void rgFillFreeRows(const rgRot* r, rgVec3 arm, double sign, const rgVec3* directions,
                           int directionCount, int stride, double* rows) {
    rgVec3 x = rgScale(sign, rgCross(r->x, arm)), y = rgScale(sign, rgCross(r->y, arm));
    rgVec3 z = rgScale(sign, rgCross(r->z, arm));
    for (int k = 0; k < directionCount; ++k) {
        rgVec3 n = directions[k];
        double* row = rows + k * stride;
        row[0] = sign * n.x, row[1] = sign * n.y, row[2] = sign * n.z;
        row[3] = rgDot(n, x), row[4] = rgDot(n, y), row[5] = rgDot(n, z);
    }
}

void rgDynamics_PairRows(const rgDynamics* d, int linkA, int linkB, rgVec3 point,
                         const rgVec3* directions, int directionCount, int columnCount,
                         double* rows) {
    const rgModel* model = d->model;
    rgVec3 armA = rgSub(point, rgDynamics_LinkOrigin(d, linkA));
    rgVec3 armB = rgSub(point, rgDynamics_LinkOrigin(d, linkB));
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    for (int i = columnCount; i > 0;) {
        int sign;
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        rgVec3 arm = sign < 0 ? armA : armB;
        i -= link->vCount;
        if (link->kind == rg_linkFree && d->stepCoordinates) {
            rgFillFreeRows(&d->poses[link - model->links].r, arm, sign, directions, directionCount,
                           columnCount, rows + i);
            continue;
        }
        for (int j = 0; j < link->vCount; ++j) {
            rgVec3 velocity = rgScale(sign, rgVelocityAt(&d->axes[link->v + j], arm));
            for (int k = 0; k < directionCount; ++k) {
                rows[k * columnCount + i + j] = rgDot(directions[k], velocity);
            }
        }
    }
}

void rgDynamics_PairAngularRows(const rgDynamics* d, int linkA, int linkB, const rgVec3* directions,
                                int directionCount, int columnCount, double* rows) {
    const rgModel* model = d->model;
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    for (int i = columnCount; i > 0;) {
        int sign;
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        i -= link->vCount;
        for (int j = 0; j < link->vCount; ++j) {
            for (int k = 0; k < directionCount; ++k) {
                rows[k * columnCount + i + j] =
                    sign * rgDot(directions[k], d->axes[link->v + j].angular);
            }
        }
    }
}

void rgDynamics_LoopRows(const rgDynamics* d, int linkA, rgVec3 pointA, int linkB, rgVec3 pointB,
                         int columnCount, double* rows) {
    const rgModel* model = d->model;
    rgVec3 armA = rgSub(pointA, rgDynamics_LinkOrigin(d, linkA));
    rgVec3 armB = rgSub(pointB, rgDynamics_LinkOrigin(d, linkB));
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    for (int i = columnCount; i > 0;) {
        int sign;
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        i -= link->vCount;
        for (int j = 0; j < link->vCount; ++j) {
            const rgSpatial* axis = &d->axes[link->v + j];
            rgVec3 velocity = sign >= 0 ? rgVelocityAt(axis, armB) : rgVec(0, 0, 0);
            velocity = sign <= 0 ? rgSub(velocity, rgVelocityAt(axis, armA)) : velocity;
            rows[i + j] = velocity.x;
            rows[columnCount + i + j] = velocity.y;
            rows[2 * columnCount + i + j] = velocity.z;
        }
    }
}
