// Motion of frames: Jacobians (dynamics.17), velocities, accelerations and bias terms (dynamics.18)
// at three references, and the rows that constraints between two links need.
// docs/theory/dynamics.md.
#include "dynamics/dynamics.h"
#include "math/two.h"

#include <string.h>

// A frame at one instant: the point of its velocity, and the axes of its components.
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

// dynamics.18: Rate of the view's velocity when the link accelerates with A.
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

// dynamics.17
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

// Walk up two chains of links at once, largest link first. Links are in the order of their degrees
// of freedom; the world and kinematic bodies have none.
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

// The degrees of freedom that move a link, descending, as a row of M has them.
static const int* rgModel_Chain(const rgModel* model, int link, int* count) {
    const rgLink* l = &model->links[link];
    const rgDof* last = l->vCount > 0 ? &model->dofs[l->v + l->vCount - 1] : NULL;
    *count = last != NULL ? last->depth : 0;
    return last != NULL ? model->massColumns + last->rowStart : NULL;
}

int rgModel_PairColumns(const rgModel* model, int linkA, int linkB, int* columns) {
    int i, j, count = 0;
    const int *a = rgModel_Chain(model, linkA, &i), *b = rgModel_Chain(model, linkB, &j);
    while (i > 0 && j > 0) {
        int x = a[i - 1], y = b[j - 1];
        columns[count++] = RG_MIN(x, y);
        i -= x <= y;
        j -= y <= x;
    }
    while (i > 0) {
        columns[count++] = a[--i];
    }
    while (j > 0) {
        columns[count++] = b[--j];
    }
    return count;
}

// Impulses along three directions at a point, as what they are at a tree's reference point: a row
// of J has their products with the axes.
static inline void rgListPushes(rgVec3 arm, double sign, const rgVec3 directions[3],
                                rgSpatial pushes[3]) {
    for (int k = 0; k < 3; ++k) {
        rgVec3 n = rgScale(sign, directions[k]);
        pushes[k] = (rgSpatial){n, rgCross(arm, n)};
    }
}

// Columns of a free joint: its linear axes are the world's.
static inline void rgFillFreeRows(const rgRot* r, const rgSpatial pushes[3], int stride,
                                  double* rows) {
    for (int k = 0; k < 3; ++k) {
        double* row = rows + k * stride;
        rgVec3 n = pushes[k].linear, m = pushes[k].angular;
        row[0] = n.x, row[1] = n.y, row[2] = n.z;
        row[3] = rgDot(r->x, m), row[4] = rgDot(r->y, m), row[5] = rgDot(r->z, m);
    }
}

// Products of three pushes with an axis, even and odd numbers apart as rgSpatialDot() has them.
typedef struct rgTriple {
    rgTwo a[3], b[3], c[3];
} rgTriple;

static inline rgTriple rgLoadTriple(const rgSpatial pushes[3]) {
    rgTriple t;
    for (int k = 0; k < 3; ++k) {
        const double* x = &pushes[k].linear.x;
        t.a[k] = rgLoadTwo(x), t.b[k] = rgLoadTwo(x + 2), t.c[k] = rgLoadTwo(x + 4);
    }
    return t;
}

static inline void rgTriple_Fill(const rgTriple* t, const rgSpatial* axis, int stride,
                                 double* out) {
    const double* x = &axis->linear.x;
    rgTwo a = rgLoadTwo(x), b = rgLoadTwo(x + 2), c = rgLoadTwo(x + 4);
    for (int k = 0; k < 3; ++k) {
        rgTwo sum = a * t->a[k] + (b * t->b[k] + c * t->c[k]);
        out[k * stride] = sum[0] + sum[1];
    }
}

// One side of the pair is the world: all columns move the other one.
static void rgDynamics_SideRows(const rgDynamics* d, int link, const rgSpatial pushes[3],
                                const int* columns, int count, double* rows) {
    const rgModel* model = d->model;
    int first = 0, root = model->trees[model->links[link].tree].firstLink;
    if (model->links[root].kind == rg_linkFree && d->stepCoordinates) {
        rgFillFreeRows(&d->poses[root].r, pushes, count, rows);
        first = 6;
    }
    rgTriple triple = rgLoadTriple(pushes);
    for (int i = first; i < count; ++i) {
        rgTriple_Fill(&triple, &d->axes[columns[i]], count, rows + i);
    }
}

void rgDynamics_PairRows(const rgDynamics* d, int linkA, int linkB, rgVec3 point,
                         const rgVec3 directions[3], const int* columns, int columnCount,
                         double* rows) {
    const rgModel* model = d->model;
    const rgSpatial* axes = d->axes;
    rgSpatial onA[3], onB[3];
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    if (walk.a > 0) {
        rgListPushes(rgSub(point, rgDynamics_LinkOrigin(d, linkA)), -1, directions, onA);
    }
    if (walk.b > 0) {
        rgListPushes(rgSub(point, rgDynamics_LinkOrigin(d, linkB)), 1, directions, onB);
    }
    if (walk.a == 0 || walk.b == 0) {
        if (columnCount > 0) {
            rgDynamics_SideRows(d, walk.a + walk.b, walk.a > 0 ? onA : onB, columns, columnCount,
                                rows);
        }
        return;
    }
    rgTriple tripleA = rgLoadTriple(onA), tripleB = rgLoadTriple(onB);
    for (int i = columnCount; i > 0;) {
        int sign;
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        if (sign == 0) { // from here on both move alike
            for (int k = 0; k < 3; ++k) {
                memset(rows + k * columnCount, 0, (size_t)i * sizeof(double));
            }
            return;
        }
        i -= link->vCount;
        if (link->kind == rg_linkFree && d->stepCoordinates) {
            const rgRot* r = &d->poses[link - model->links].r;
            rgFillFreeRows(r, sign < 0 ? onA : onB, columnCount, rows + i);
            continue;
        }
        for (int j = 0; j < link->vCount; ++j) {
            rgTriple_Fill(sign < 0 ? &tripleA : &tripleB, &axes[link->v + j], columnCount,
                          rows + i + j);
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
    rgVec3 between = rgSub(pointB, pointA);
    rgWalk walk = rgStartWalk(model, linkA, linkB);
    for (int i = columnCount; i > 0;) {
        int sign;
        const rgLink* link = rgWalk_Next(&walk, model, &sign);
        i -= link->vCount;
        for (int j = 0; j < link->vCount; ++j) {
            const rgSpatial* axis = &d->axes[link->v + j];
            rgVec3 velocity = sign > 0    ? rgVelocityAt(axis, armB)
                              : sign == 0 ? rgCross(axis->angular, between) // both are moved
                                          : rgNegate(rgVelocityAt(axis, armA));
            rows[i + j] = velocity.x;
            rows[columnCount + i + j] = velocity.y;
            rows[2 * columnCount + i + j] = velocity.z;
        }
    }
}
