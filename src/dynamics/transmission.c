// Lengths of tendons and positions of actuators, and their derivatives by the degrees of freedom.
// docs/theory/tendons.md, docs/theory/actuators.md.
#include "dynamics/dynamics.h"
#include "dynamics/wrap.h"

#include <string.h>

// A point of a link, in the world.
typedef struct rgKnot {
    rgVec3 point;
    int link;
    int body; // -1: the world
} rgKnot;

// The row under construction: values over the columns of the tendon or actuator.
typedef struct rgMotionRow {
    const rgDynamics* d;
    const int* columns;
    int count;
    double* values; // NULL: only the length counts
    double drift;
    rgSpatial* wrenches; // NULL, or where the forces of a unit of force along the length go
    double force;
} rgMotionRow;

static void rgMotionRow_Add(rgMotionRow* row, int dof, double value) {
    int low = 0, high = row->count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (row->columns[middle] < dof) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    row->values[low] += value;
}

// Power of a force and a torque at a point per unit of a motion.
static double rgPower(const rgSpatial* motion, rgVec3 arm, const rgSpatial* push) {
    rgVec3 velocity = rgAdd(motion->linear, rgCross(motion->angular, arm));
    return rgDot(push->linear, velocity) + rgDot(push->angular, motion->angular);
}

// tendons.3: Speed of a knot along a direction (and its turning about an axis): per degree of
// freedom, or that of a kinematic link. Degrees of freedom that move the other link as well cancel
// and are left out.
static void rgMotionRow_Push(rgMotionRow* row, const rgKnot* knot, int other, rgSpatial push) {
    const rgDynamics* d = row->d;
    const rgModel* model = d->model;
    const rgLink* link = &model->links[knot->link];
    rgVec3 arm = rgSub(knot->point, rgDynamics_LinkOrigin(d, knot->link));
    if (rgModel_IsKinematic(model, knot->link)) {
        row->drift += rgPower(&d->velocities[knot->link], arm, &push);
        return;
    }
    const rgLink* far = &model->links[other];
    int shared = other > 0 && far->vCount > 0 ? far->v + far->vCount - 1 : -1;
    int k = knot->link > 0 && link->vCount > 0 ? link->v + link->vCount - 1 : -1;
    while (k >= 0) {
        while (shared > k) {
            shared = model->dofs[shared].parent;
        }
        if (shared == k) {
            return; // and all above
        }
        rgMotionRow_Add(row, k, rgPower(&d->axes[k], arm, &push));
        k = model->dofs[k].parent;
    }
}

// Forces of a unit of force along the row, about the world's origin.
static void rgMotionRow_Load(rgMotionRow* row, const rgKnot* knot, rgSpatial push) {
    if (knot->body >= 0) {
        rgSpatial wrench = {push.linear, rgAdd(push.angular, rgCross(knot->point, push.linear))};
        row->wrenches[knot->body] =
            rgSpatialAddScaled(row->wrenches[knot->body], row->force, wrench);
    }
}

// A push on one knot and its opposite on another.
static void rgMotionRow_Between(rgMotionRow* row, const rgKnot* from, const rgKnot* to,
                                rgSpatial push) {
    rgSpatial back = {rgNegate(push.linear), rgNegate(push.angular)};
    if (row->values != NULL && from->link != to->link) {
        rgMotionRow_Push(row, to, from->link, push);
        rgMotionRow_Push(row, from, to->link, back);
    }
    if (row->wrenches != NULL) {
        rgMotionRow_Load(row, to, push);
        rgMotionRow_Load(row, from, back);
    }
}

// A straight piece; returns its length.
static double rgMotionRow_Line(rgMotionRow* row, const rgKnot* from, const rgKnot* to,
                               double share) {
    rgVec3 way = rgSub(to->point, from->point);
    double length = rgLength(way);
    if (length > 0) {
        rgMotionRow_Between(row, from, to, (rgSpatial){.linear = rgScale(share / length, way)});
    }
    return share * length;
}

static rgKnot rgFrameKnot(const rgDynamics* d, rgFrameId frame) {
    const rgPlace* place = &d->model->framePlaces[frame.index1 - 1];
    return (rgKnot){rgAdd(rgDynamics_LinkOrigin(d, place->link), rgDynamics_PlacePoint(d, place)),
                    place->link, place->body};
}

// Length from one frame to another past a shape, and its rate.
static double rgMotionRow_Wrap(rgMotionRow* row, const rgKnot* from, const rgTendonPoint* point,
                               const rgKnot* to, double share) {
    const rgDynamics* d = row->d;
    const rgShapeDef* shape = &d->model->shapes[point->shape.index1 - 1];
    const rgPlace* place = &d->model->shapePlaces[point->shape.index1 - 1];
    bool sided = point->frame.index1 > 0;
    rgVec3 side = sided ? rgFrameKnot(d, point->frame).point : rgVec(0, 0, 0);
    rgWrap wrap = rgWrapAround(shape->kind, shape->size.x, rgDynamics_PlacePose(d, place),
                               from->point, to->point, sided ? &side : NULL);
    if (!wrap.touches) {
        return rgMotionRow_Line(row, from, to, share);
    }
    rgKnot first = {wrap.from, place->link, place->body};
    rgKnot last = {wrap.to, place->link, place->body};
    return rgMotionRow_Line(row, from, &first, share) + share * wrap.length +
           rgMotionRow_Line(row, &last, to, share);
}

static double rgMotionRow_Path(rgMotionRow* row, const rgTendonDef* def) {
    double length = 0, share = 1;
    for (int k = 0; k + 1 < def->pointCount; ++k) {
        const rgTendonPoint* point = &def->points[k];
        if (point->kind == rg_pointPulley) {
            share = 1 / point->divisor;
        }
        if (point->kind != rg_pointFrame || point[1].kind == rg_pointPulley) {
            continue;
        }
        bool past = point[1].kind == rg_pointShape;
        rgKnot from = rgFrameKnot(row->d, point->frame);
        rgKnot to = rgFrameKnot(row->d, point[past ? 2 : 1].frame);
        length += past ? rgMotionRow_Wrap(row, &from, point + 1, &to, share)
                       : rgMotionRow_Line(row, &from, &to, share);
    }
    return length;
}

static double rgMotionRow_Sum(rgMotionRow* row, const rgTendonDef* def) {
    const rgModel* model = row->d->model;
    double length = 0;
    for (int k = 0; k < def->jointCount; ++k) {
        const rgJointRange* range = &model->jointRanges[def->joints[k].index1 - 1];
        length += def->coefficients[k] * row->d->q[range->q];
        if (row->values != NULL) {
            rgMotionRow_Add(row, range->v, def->coefficients[k]);
        }
    }
    return length;
}

double rgDynamics_TendonRow(const rgDynamics* d, int tendon, double* values, double* drift) {
    const rgModel* model = d->model;
    const rgTendonDef* def = &model->tendons[tendon];
    int start = model->tendonStart[tendon];
    rgMotionRow row = {.d = d,
                       .columns = model->tendonColumns + start,
                       .count = model->tendonStart[tendon + 1] - start,
                       .values = values};
    if (values != NULL) {
        memset(values, 0, (size_t)row.count * sizeof(double));
    }
    double length = def->pointCount > 0 ? rgMotionRow_Path(&row, def) : rgMotionRow_Sum(&row, def);
    if (drift != NULL) {
        *drift = row.drift;
    }
    return length;
}

void rgDynamics_LoadTendon(const rgDynamics* d, int tendon, double force, rgSpatial* wrenches) {
    rgMotionRow row = {.d = d, .wrenches = wrenches, .force = force};
    rgMotionRow_Path(&row, &d->model->tendons[tendon]);
}

double rgDynamics_TendonLength(const rgDynamics* d, rgTendonId tendon) {
    bool known = d != NULL && rgModel_Tendon(d->model, tendon) != NULL;
    return known ? rgDynamics_TendonRow(d, tendon.index1 - 1, NULL, NULL) : 0;
}

void rgDynamics_TendonJacobian(const rgDynamics* d, rgTendonId tendon, double* jacobian) {
    if (d == NULL || jacobian == NULL) {
        return;
    }
    const rgModel* model = d->model;
    memset(jacobian, 0, (size_t)model->vCount * sizeof(double));
    if (rgModel_Tendon(model, tendon) == NULL) {
        return;
    }
    // Columns ascend: values move to their places from the last one on.
    int t = tendon.index1 - 1, start = model->tendonStart[t];
    rgDynamics_TendonRow(d, t, jacobian, NULL);
    for (int k = model->tendonStart[t + 1] - 1; k >= start; --k) {
        double value = jacobian[k - start];
        jacobian[k - start] = 0;
        jacobian[model->tendonColumns[k]] = value;
    }
}

// ---- actuators

static rgVec3 rgGear(const double* gear) {
    return rgVec(gear[0], gear[1], gear[2]);
}

static void rgMotionRow_AddGear(rgMotionRow* row, int dof, rgVec3 gear) {
    if (row->values != NULL) {
        rgMotionRow_Add(row, dof, gear.x);
        rgMotionRow_Add(row, dof + 1, gear.y);
        rgMotionRow_Add(row, dof + 2, gear.z);
    }
}

// Free: the linear part in world axes. Free and spherical: the axis in the body's or the parent's.
static double rgMotionRow_Turning(rgMotionRow* row, const rgActuatorDef* def) {
    const rgDynamics* d = row->d;
    const rgJointRange* range = &d->model->jointRanges[def->joint.index1 - 1];
    bool isFree = range->vCount == 6;
    const double* c = d->q + range->q + (isFree ? 3 : 0);
    rgQuat turn = {c[0], c[1], c[2], c[3]};
    rgVec3 axis = rgGear(def->gear + (isFree ? 3 : 0));
    axis = def->inParent ? rgRotateBack(turn, axis) : axis;
    rgMotionRow_AddGear(row, range->v + (isFree ? 3 : 0), axis);
    if (isFree) {
        rgVec3 linear = rgGear(def->gear);
        linear = d->stepCoordinates ? linear : rgRotateBack(turn, linear);
        rgMotionRow_AddGear(row, range->v, linear);
        return 0; // it has no position to hold
    }
    return rgDot(axis, rgRotationVectorFromQuat(turn));
}

static double rgMotionRow_Joint(rgMotionRow* row, const rgActuatorDef* def) {
    const rgDynamics* d = row->d;
    const rgJointRange* range = &d->model->jointRanges[def->joint.index1 - 1];
    rgJointKind kind = d->model->joints[def->joint.index1 - 1].kind;
    double position = 0;
    if (kind == rg_jointSpherical || kind == rg_jointFree) {
        return rgMotionRow_Turning(row, def);
    }
    for (int k = 0; k < range->vCount; ++k) {
        position += def->gear[k] * d->q[range->q + k];
        if (row->values != NULL) {
            rgMotionRow_Add(row, range->v + k, def->gear[k]);
        }
    }
    return position;
}

// A wrench at a frame, and its opposite at the reference. Adhesion acts at contacts.
static double rgMotionRow_Frame(rgMotionRow* row, const rgActuatorDef* def) {
    const rgDynamics* d = row->d;
    if (def->isAdhesive) {
        return 0;
    }
    rgVec3 force = rgGear(def->gear), torque = rgGear(def->gear + 3);
    rgKnot at = rgFrameKnot(d, def->frame), from = {.point = at.point, .body = -1};
    rgPose pose = rgDynamics_FramePose(d, def->frame), axes = pose;
    double position = 0;
    if (def->reference.index1 > 0) {
        axes = rgDynamics_FramePose(d, def->reference);
        from = rgFrameKnot(d, def->reference);
        rgVec3 offset = rgRotateBack(axes.q, rgSub(pose.p, axes.p));
        rgQuat turn = rgQuatMultiply(rgQuatConjugate(axes.q), pose.q);
        position = rgDot(force, offset) + rgDot(torque, rgRotationVectorFromQuat(turn));
    }
    rgSpatial push = {rgRotate(axes.q, force), rgRotate(axes.q, torque)};
    rgMotionRow_Between(row, &from, &at, push);
    return position;
}

// The rod of length r from the slider at s = a . v - sqrt((a . v)^2 + r^2 - v . v) along the axis a
// to the pin at v from the origin of the slider's frame.
static double rgMotionRow_Crank(rgMotionRow* row, const rgActuatorDef* def) {
    const rgDynamics* d = row->d;
    rgPose guide = rgDynamics_FramePose(d, def->slider);
    rgKnot pin = rgFrameKnot(d, def->frame), base = rgFrameKnot(d, def->slider);
    rgVec3 a = rgRotate(guide.q, rgVec(0, 0, 1)), v = rgSub(pin.point, base.point);
    double along = rgDot(a, v), r = def->crankLength;
    double square = along * along + r * r - rgLengthSquared(v);
    double root = square > 0 ? sqrt(square) : 0, gear = def->gear[0];
    // gradients with respect to v and a; where the rod does not reach, the foot of the pin
    double share = root > 0 ? 1 - along / root : 1;
    rgVec3 toV = rgAddScaled(rgScale(share, a), root > 0 ? 1 / root : 0, v),
           toA = rgScale(share, v);
    rgSpatial push = {.linear = rgScale(gear, toV)};
    rgKnot turned = base;
    rgMotionRow_Between(row, &base, &pin, push);
    rgSpatial turn = {.angular = rgScale(gear, rgCross(a, toA))};
    if (row->values != NULL) {
        rgMotionRow_Push(row, &turned, pin.link, turn);
    }
    if (row->wrenches != NULL) {
        rgMotionRow_Load(row, &turned, turn);
    }
    return gear * (along - root);
}

double rgDynamics_DriveRow(const rgDynamics* d, int actuator, double* values, double* drift) {
    const rgModel* model = d->model;
    const rgActuatorDef* def = &model->actuators[actuator];
    int start = model->driveStart[actuator], count = model->driveStart[actuator + 1] - start;
    rgMotionRow row = {
        .d = d, .columns = model->driveColumns + start, .count = count, .values = values};
    if (def->tendon.index1 > 0) {
        double length = rgDynamics_TendonRow(d, def->tendon.index1 - 1, values, drift);
        for (int k = 0; values != NULL && k < count; ++k) {
            values[k] *= def->gear[0];
        }
        if (drift != NULL) {
            *drift *= def->gear[0];
        }
        return def->gear[0] * length;
    }
    if (values != NULL) {
        memset(values, 0, (size_t)count * sizeof(double));
    }
    double position = def->joint.index1 > 0    ? rgMotionRow_Joint(&row, def)
                      : def->slider.index1 > 0 ? rgMotionRow_Crank(&row, def)
                                               : rgMotionRow_Frame(&row, def);
    if (drift != NULL) {
        *drift = row.drift;
    }
    return position;
}

void rgDynamics_LoadDrive(const rgDynamics* d, int actuator, double force, rgSpatial* wrenches) {
    const rgActuatorDef* def = &d->model->actuators[actuator];
    rgMotionRow row = {.d = d, .wrenches = wrenches, .force = force};
    if (def->slider.index1 > 0) {
        rgMotionRow_Crank(&row, def);
    } else if (def->frame.index1 > 0) {
        rgMotionRow_Frame(&row, def);
    }
}
