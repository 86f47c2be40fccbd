// Derivatives of contact points and normals by the motion of the bodies, in rows and forces.
// docs/theory/step_derivatives.md.
#include "world/linearize.h"

#include <string.h>

static void rgPut3(double* matrix, int column, rgVec3 x) {
    matrix[column] = x.x, matrix[6 + column] = x.y, matrix[12 + column] = x.z;
}

static rgVec3 rgTimes6(const double* matrix, rgVec3 linear, rgVec3 angular) {
    double x[3];
    for (int i = 0; i < 3; ++i) {
        const double* row = matrix + 6 * i;
        x[i] = row[0] * linear.x + row[1] * linear.y + row[2] * linear.z + row[3] * angular.x +
               row[4] * angular.y + row[5] * angular.z;
    }
    return rgVec(x[0], x[1], x[2]);
}

// step_derivatives.12 A point of a body below a plane at a distance from the contact point along
// the normal: it rides on the body, the normal on the plane.
static void rgPlaneVariation(const rgContactPoint* point, bool planeIsA, double distance,
                             rgContactVariation* out) {
    rgVec3 n = point->normal;
    memset(out, 0, sizeof(*out));
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2), none = rgVec(0, 0, 0);
        rgVec3 half = rgScale(0.5 * rgDot(n, e), n);
        rgVec3 turned = rgScale(distance, rgCross(e, n));
        rgPut3(out->point, k, planeIsA ? rgSub(e, half) : half);
        rgPut3(out->point, 3 + k, turned);
        rgPut3(out->normal, 3 + k, planeIsA ? none : rgCross(e, n));
    }
}

// Points of a pair with a plane whose other side rides on its body.
static bool rgPlaneMoves(const rgWorld* world, const rgContactPoint* point,
                         rgContactVariation* out) {
    const rgCollider *A = &world->contacts.colliders[point->colliderA],
                     *B = &world->contacts.colliders[point->colliderB];
    const rgCollider* body = A->plane ? B : A;
    if (!A->plane && !B->plane) {
        return false;
    }
    const rgShapeDef* shape = &world->model->shapes[body->shape];
    bool rounded = shape->kind == rg_shapeSphere || shape->kind == rg_shapeCapsule;
    bool cornered = shape->kind == rg_shapeBox || shape->kind == rg_shapeHull;
    if (!rounded && !cornered) {
        return false;
    }
    double radius = rounded ? shape->size.x : shape->rounding;
    rgPlaneVariation(point, A->plane, 0.5 * point->gap + radius, out);
    return true;
}

// ---- differences of the narrow phase

typedef struct rgPairProbe {
    const rgCollider *A, *B;
    double margin;
    const rgPairCache* cache;
} rgPairProbe;

// Points with B moved by a small twist about a point.
static void rgPairProbe_Collide(const rgPairProbe* probe, rgVec3 about, rgVec3 linear,
                                rgVec3 angular, rgManifold* manifold) {
    rgQuat turn = rgQuatFromRotationVector(angular);
    rgVec3 arm = rgSub(probe->B->pose.p, about);
    rgPose pose = {rgAdd(rgAdd(about, rgRotate(turn, arm)), linear),
                   rgQuatNormalize(rgQuatMultiply(turn, probe->B->pose.q))};
    rgPairCache cache = *probe->cache;
    rgCollideInput input = {.a = probe->A->geometry,
                            .b = probe->B->geometry,
                            .poseA = &probe->A->pose,
                            .poseB = &pose,
                            .margin = probe->margin,
                            .maxPoints = RG_MANIFOLD_CAPACITY,
                            .cache = &cache};
    manifold->count = 0;
    rgCollideShapes(&input, manifold);
}

// The point of the same features; one that is elsewhere has other features of the same name.
static const rgManifoldPoint* rgFindFeature(const rgManifold* manifold,
                                            const rgContactPoint* point) {
    const rgManifoldPoint* found = NULL;
    for (int k = 0; k < manifold->count; ++k) {
        const rgManifoldPoint* p = &manifold->points[k];
        bool same = p->feature == point->feature &&
                    rgLength(rgSub(p->position, point->position)) < 1e3 * RG_POINT_STEP &&
                    rgDot(p->normal, point->normal) > 0.99;
        found = same ? p : found;
    }
    return found;
}

// A column of all points of a pair by central differences. False: some have other features, or the
// two sides differ, as where the face that has the normal changes within the step.
static bool rgProbeColumn(const rgPairProbe* probe, rgLinearization* l, int first, int count,
                          const rgContactPoint* points, const rgManifold* middle, int column,
                          double step) {
    rgManifold sides[2];
    double x[6] = {0};
    bool smooth = true;
    for (int side = 0; side < 2; ++side) {
        x[column] = side == 0 ? step : -step;
        rgPairProbe_Collide(probe, points->position, rgVec(x[0], x[1], x[2]),
                            rgVec(x[3], x[4], x[5]), &sides[side]);
    }
    for (int i = 0; i < count; ++i) {
        const rgContactPoint* point = &points[i];
        const rgManifoldPoint *a = rgFindFeature(&sides[0], point),
                              *b = rgFindFeature(&sides[1], point),
                              *now = rgFindFeature(middle, point);
        if (a == NULL || b == NULL || now == NULL) {
            smooth = false;
            continue;
        }
        rgVec3 dp = rgScale(0.5 / step, rgSub(a->position, b->position));
        rgVec3 dn = rgScale(0.5 / step, rgSub(a->normal, b->normal));
        rgVec3 bent = rgAddScaled(rgAdd(a->normal, b->normal), -2, now->normal);
        rgVec3 bentPoint = rgAddScaled(rgAdd(a->position, b->position), -2, now->position);
        smooth = smooth && rgLength(bent) <= RG_POINT_BEND * step * (1 + rgLength(dn)) &&
                 rgLength(bentPoint) <= RG_POINT_BEND * step * (1 + rgLength(dp));
        dn = rgAddScaled(dn, -rgDot(dn, point->normal), point->normal);
        rgPut3(l->points[first + i].point, column, dp);
        rgPut3(l->points[first + i].normal, column, dn);
    }
    return smooth;
}

static void rgProbePair(const rgWorld* world, rgLinearization* l, int first, int count) {
    const rgContactPoint* points = &world->contacts.points[first];
    const rgPairMemory* pair = &world->warmStart.memories[1].pairs[points->pair];
    rgPairProbe probe = {.A = &world->contacts.colliders[points->colliderA],
                         .B = &world->contacts.colliders[points->colliderB],
                         .cache = &pair->cache};
    probe.margin = rgPairMargin(&world->def, probe.A, probe.B, rgPairTravel(probe.A, probe.B));
    rgVec3 about = points->position, none = rgVec(0, 0, 0);
    rgManifold middle;
    rgPairProbe_Collide(&probe, about, none, none, &middle);
    memset(&l->points[first], 0, (size_t)count * sizeof(rgContactVariation));
    for (int column = 0; column < 6; ++column) {
        if (!rgProbeColumn(&probe, l, first, count, points, &middle, column, RG_POINT_STEP) &&
            !rgProbeColumn(&probe, l, first, count, points, &middle, column, RG_POINT_FINE_STEP)) {
            rgLinearization_Freeze(l, "contact points whose features come and go");
        }
    }
    // A turn about the first point is one about another and a motion of that.
    for (int i = 1; i < count; ++i) {
        rgVec3 arm = rgSub(points[i].position, about);
        rgContactVariation* out = &l->points[first + i];
        for (int k = 0; k < 3; ++k) {
            rgVec3 e = rgVec(k == 0, k == 1, k == 2), moved = rgCross(e, arm);
            for (int row = 0; row < 3; ++row) {
                double *p = out->point + 6 * row, *n = out->normal + 6 * row;
                p[3 + k] -= p[0] * moved.x + p[1] * moved.y + p[2] * moved.z;
                n[3 + k] -= n[0] * moved.x + n[1] * moved.y + n[2] * moved.z;
            }
        }
    }
}

static bool rgAnyActs(const rgWorld* world, const rgLinearization* l, int first, int count) {
    bool any = false;
    for (int i = first; i < first + count; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        for (int k = 0; k < point->rowCount; ++k) {
            any = any || l->modes[point->firstRow + k] != rg_modeOpen;
        }
    }
    return any;
}

void rgLinearize_FindPoints(rgWorld* world, rgLinearization* l) {
    for (int i = 0, count; i < world->contacts.pointCount; i += count) {
        count = world->contacts.points[i].pointCount;
        if (!rgAnyActs(world, l, i, count)) {
            continue;
        }
        for (int k = i; k < i + count; ++k) {
            if (!rgPlaneMoves(world, &world->contacts.points[k], &l->points[k])) {
                rgProbePair(world, l, i, count);
                break;
            }
        }
    }
}

// ---- rows and forces

// A side of a contact: what moves it, and velocities there.
typedef struct rgSideView {
    int link;    // 0: no column moves it
    int carrier; // link that moves it without: 0: none
    rgVec3 arm;  // from the reference of its tree
    double sign;
} rgSideView;

static rgSideView rgViewSide(const rgWorld* world, int collider, rgVec3 position, double sign) {
    int link = world->contacts.colliders[collider].link;
    bool carried = rgModel_IsKinematic(world->model, link);
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(world->kinematics.dynamics, link));
    return (rgSideView){carried ? 0 : link, carried ? link : 0, arm, sign};
}

static int rgLastDof(const rgModel* model, int link) {
    return link > 0 ? model->links[link].v + model->links[link].vCount - 1 : -1;
}

static rgVec3 rgVelocityOf(const rgSpatial* V, rgVec3 arm) {
    return rgAdd(V->linear, rgCross(V->angular, arm));
}

// Motion of B past A at the point per unit of a column, the motion of A there and its rate.
static void rgFillColumns(const rgWorld* world, rgLinearization* l, const rgSideView sides[2],
                          const int* columns, int count) {
    const rgModel* model = world->model;
    const rgDynamics* d = world->kinematics.dynamics;
    rgVec3 none = rgVec(0, 0, 0);
    for (int k = 0; k < count; ++k) {
        l->along[columns[k]] = l->turn[columns[k]] = none;
        l->atA[columns[k]] = l->angular[columns[k]] = none;
    }
    for (int side = 0; side < 2; ++side) {
        const rgSideView* view = &sides[side];
        for (int j = rgLastDof(model, view->link); j >= 0; j = model->dofs[j].parent) {
            const rgSpatial* S = &d->axes[j];
            rgVec3 at = rgVelocityOf(S, view->arm);
            l->along[j] = rgAddScaled(l->along[j], view->sign, at);
            l->turn[j] = rgAddScaled(l->turn[j], view->sign, S->angular);
            if (side == 0) {
                l->atA[j] = at;
                l->angular[j] = S->angular;
            }
        }
    }
}

// Velocity of B less that of A at the point of a contact.
typedef struct rgRelative {
    rgVec3 linear, angular;
} rgRelative;

static rgRelative rgRelativeOf(const rgSideView sides[2], const rgSpatial* links, bool carried) {
    rgRelative out = {{0, 0, 0}, {0, 0, 0}};
    for (int side = 0; side < 2; ++side) {
        int link = sides[side].link > 0 || !carried ? sides[side].link : sides[side].carrier;
        const rgSpatial* V = &links[link];
        if (link > 0) {
            out.linear =
                rgAddScaled(out.linear, sides[side].sign, rgVelocityOf(V, sides[side].arm));
            out.angular = rgAddScaled(out.angular, sides[side].sign, V->angular);
        }
    }
    return out;
}

static rgPointChange rgPointChangeOf(const rgLinearization* l, const rgContactPoint* point,
                                     const rgContactVariation* of, int column) {
    rgVec3 linear = l->along[column], angular = l->turn[column];
    rgVec3 normal = rgTimes6(of->normal, linear, angular);
    return (rgPointChange){rgAdd(l->atA[column], rgTimes6(of->point, linear, angular)),
                           rgAdd(l->angular[column], rgCross(point->normal, normal))};
}

// step_derivatives.11 The change of B past A at the point for constant v.
static rgRelative rgRelativeChange(const rgWorld* world, const rgSideView sides[2],
                                   const rgSpatial* links, const rgSpatial* carried,
                                   const rgRelative* now, const bool moves[2], int column,
                                   rgVec3 dp) {
    const rgSpatial* S = &world->kinematics.dynamics->axes[column];
    rgRelative out = {rgCross(now->angular, dp), {0, 0, 0}};
    for (int side = 0; side < 2; ++side) {
        if (!moves[side]) {
            continue;
        }
        rgSpatial change = rgMotionCross(S, &links[sides[side].link]);
        change = rgSpatialAdd(change, carried[column]);
        out.linear =
            rgAddScaled(out.linear, sides[side].sign, rgVelocityOf(&change, sides[side].arm));
        out.angular = rgAddScaled(out.angular, sides[side].sign, change.angular);
    }
    return out;
}

static void rgMarkChain(const rgModel* model, int link, const int* columns, int count,
                        bool* marks) {
    int k = count - 1;
    for (int i = 0; i < count; ++i) {
        marks[i] = false;
    }
    for (int j = rgLastDof(model, link); j >= 0; j = model->dofs[j].parent) {
        while (k >= 0 && columns[k] > j) {
            --k;
        }
        if (k >= 0 && columns[k] == j) {
            marks[k] = true;
        }
    }
}

// J_n D^-1 with the diagonal of M, as a velocity, whose row gives the slope of 1/m by J.
static void rgMobilityFlow(const rgWorld* world, rgLinearization* l, int row, rgFlow* flow) {
    const rgRows* rows = &world->constraints.rows;
    double* v = l->work;
    memset(v, 0, (size_t)l->n * sizeof(double));
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        int i = rows->column[k];
        v[i] =
            2 * rows->value[k] / world->kinematics.dynamics->mass[world->model->dofs[i].rowStart];
    }
    rgFlow_Fill(world->model, world->kinematics.dynamics, v, flow);
}

// Force and torque on B that its impulse is.
static rgRelative rgContactImpulse(const rgWorld* world, const rgContactPoint* point) {
    const double* lambda = world->constraints.rows.lambda + point->firstRow;
    const rgVec3 axes[3] = {point->tangent1, point->tangent2, point->normal};
    rgRelative out = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < point->rowCount; ++k) {
        rgVec3* sum = k < 3 ? &out.linear : &out.angular;
        *sum = rgAddScaled(*sum, lambda[k], axes[k < 3 ? k : (k + 2) % 3]);
    }
    return out;
}

// Beside what wrenches do that ride on both links and keep their direction.
static void rgAddContactForce(const rgWorld* world, rgLinearization* l, const rgContactPoint* point,
                              const int* columns, int count, int j, const rgPointChange* change) {
    rgRelative push = rgContactImpulse(world, point);
    rgVec3 force = rgCross(change->turn, push.linear);
    rgVec3 onB = rgSub(rgSub(change->point, l->atA[j]), l->along[j]);
    rgVec3 torque = rgAdd(rgCross(onB, push.linear), rgCross(change->turn, push.angular));
    rgVec3 rest = rgCross(l->along[j], push.linear);
    for (int k = 0; k < count; ++k) {
        int i = columns[k];
        l->force[(size_t)i * (size_t)l->width + (size_t)j] +=
            rgDot(l->along[i], force) + rgDot(l->turn[i], torque) - rgDot(l->angular[i], rest);
    }
}

// Adds the turning of one row by a column.
static double rgRowTurning(const rgContactPoint* point, int k, const rgPointChange* change,
                           const rgRelative* now, const rgRelative* next) {
    const rgVec3 axes[3] = {point->tangent1, point->tangent2, point->normal};
    rgVec3 e = axes[k < 3 ? k : (k + 2) % 3];
    rgVec3 turned = rgCross(change->turn, e);
    return k < 3 ? rgDot(turned, now->linear) + rgDot(e, next->linear)
                 : rgDot(turned, now->angular) + rgDot(e, next->angular);
}

void rgLinearize_PointChanges(const rgWorld* world, rgLinearization* l, int index,
                              rgPointChange* out) {
    const rgRows* rows = &world->constraints.rows;
    const rgContactPoint* point = &world->contacts.points[index];
    int first = point->firstRow, count = rgRows_Columns(rows, first);
    const int* columns = rows->column + rows->rowStart[first];
    rgSideView sides[2] = {rgViewSide(world, point->colliderA, point->position, -1),
                           rgViewSide(world, point->colliderB, point->position, 1)};
    memset(out, 0, (size_t)l->n * sizeof(rgPointChange));
    if (rgAnyActs(world, l, index, 1)) {
        rgFillColumns(world, l, sides, columns, count);
        for (int k = 0; k < count; ++k) {
            out[columns[k]] = rgPointChangeOf(l, point, &l->points[index], columns[k]);
        }
    }
}

void rgLinearize_ContactMotion(rgWorld* world, rgLinearization* l, int index, double byRate,
                               double byMobility) {
    const rgRows* rows = &world->constraints.rows;
    const rgModel* model = world->model;
    const rgContactPoint* point = &world->contacts.points[index];
    const rgContactVariation* of = &l->points[index];
    int first = point->firstRow, count = rgRows_Columns(rows, first);
    const int* columns = rows->column + rows->rowStart[first];
    rgSideView sides[2] = {rgViewSide(world, point->colliderA, point->position, -1),
                           rgViewSide(world, point->colliderB, point->position, 1)};
    rgFillColumns(world, l, sides, columns, count);
    bool* marks[2] = {l->marks, l->marks + l->n};
    for (int side = 0; side < 2; ++side) {
        rgMarkChain(model, sides[side].link, columns, count, marks[side]);
    }
    rgFlow* flows[3] = {&l->flows[0], &l->flows[1], &l->flows[2]};
    double scales[3] = {1, byRate, byMobility};
    if (byMobility != 0) {
        rgMobilityFlow(world, l, first + 2, flows[2]);
    }
    for (int f = 0; f < 3; ++f) {
        if (scales[f] == 0) {
            continue;
        }
        rgRelative now = rgRelativeOf(sides, flows[f]->links, f < 2);
        for (int k = 0; k < count; ++k) {
            int j = columns[k];
            rgPointChange change = rgPointChangeOf(l, point, of, j);
            bool moves[2] = {marks[0][k], marks[1][k]};
            rgRelative next = rgRelativeChange(world, sides, flows[f]->links, flows[f]->carried,
                                               &now, moves, j, change.point);
            for (int r = f == 0 ? 0 : 2; r < (f == 0 ? point->rowCount : 3); ++r) {
                size_t at = (size_t)first + (size_t)r;
                double turning = rgRowTurning(point, r, &change, &now, &next);
                l->rows[at * (size_t)l->width + (size_t)j] += scales[f] * turning;
                l->turning[at * (size_t)l->n + (size_t)j] += f == 0 ? turning : 0;
            }
            if (f == 0) {
                rgAddContactForce(world, l, point, columns, count, j, &change);
            }
        }
    }
}
