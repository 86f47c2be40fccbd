// Forward kinematics: poses and motion axes from q (dynamics.1-3), velocities and bias
// accelerations from v (dynamics.4-5), inertias in world axes (dynamics.6).
// docs/theory/dynamics.md.
#include "dynamics/dynamics.h"
#include "math/sincos.h"
#include "math/split.h"

#include <string.h>

// Turn the frame about its own axis by the angle with cosine c and sine s.
static inline void rgTurn(rgRot* r, int axis, double c, double s) {
    rgVec3 a, b;
    switch (axis) {
    case 0:
        a = r->y, b = r->z;
        r->y = rgAddScaled(rgScale(c, a), s, b);
        r->z = rgAddScaled(rgScale(c, b), -s, a);
        break;
    case 1:
        a = r->z, b = r->x;
        r->z = rgAddScaled(rgScale(c, a), s, b);
        r->x = rgAddScaled(rgScale(c, b), -s, a);
        break;
    default:
        a = r->x, b = r->y;
        r->x = rgAddScaled(rgScale(c, a), s, b);
        r->y = rgAddScaled(rgScale(c, b), -s, a);
        break;
    }
}

static inline rgVec3 rgRot_Axis(const rgRot* r, const rgLink* link) {
    const rgVec3* columns = &r->x;
    return rgScale(link->sign, columns[link->axis]);
}

// The link's frame at q = 0, from its parent's.
static inline rgLinkPose rgStartPose(const rgLink* link, const rgLinkPose* parent) {
    rgLinkPose pose;
    pose.p = rgAdd(parent->p, rgRot_Apply(&parent->r, link->origin));
    pose.r = link->unrotated ? parent->r : rgRot_Multiply(&parent->r, &link->rotation);
    return pose;
}

// The first link of a tree gives the tree its reference point.
static inline void rgDynamics_Anchor(rgDynamics* d, const rgLink* link, rgLinkPose* pose) {
    if (link->parent == 0) {
        d->origins[link->tree] = pose->p;
        pose->p = rgVec(0, 0, 0);
    }
}

static rgQuat rgReadQuat(const double* q) {
    return rgQuatNormalize((rgQuat){q[0], q[1], q[2], q[3]});
}

static void rgDynamics_PlaceSpherical(rgDynamics* d, const rgLink* link, rgLinkPose* pose) {
    rgRot turn = rgRotFromQuat(rgReadQuat(d->q + link->q));
    rgSpatial* axes = d->axes + link->v;
    pose->r = rgRot_Multiply(&pose->r, &turn);
    rgDynamics_Anchor(d, link, pose);
    const rgVec3* columns = &pose->r.x;
    for (int k = 0; k < 3; ++k) {
        axes[k] = (rgSpatial){rgCross(pose->p, columns[k]), columns[k]};
    }
}

static void rgDynamics_PlaceFree(rgDynamics* d, const rgLink* link, rgLinkPose* pose) {
    const double* q = d->q + link->q;
    rgSpatial* axes = d->axes + link->v;
    pose->r = rgRotFromQuat(rgReadQuat(q + 3));
    pose->p = rgVec(q[0], q[1], q[2]);
    rgDynamics_Anchor(d, link, pose);
    static const rgRot world = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const rgVec3* linear = d->stepCoordinates ? &world.x : &pose->r.x;
    const rgVec3* angular = &pose->r.x;
    for (int k = 0; k < 3; ++k) {
        axes[k] = (rgSpatial){linear[k], {0, 0, 0}};
        axes[3 + k] = (rgSpatial){{0, 0, 0}, angular[k]};
    }
}

// Links without a tree have the world's origin for their reference point.
static void rgDynamics_PlacePrescribed(rgDynamics* d) {
    const rgModel* model = d->model;
    for (int i = 0; i < model->kinematicCount; ++i) {
        const rgPrescribed* p = &d->prescribed[i];
        d->poses[model->linkCount + i] = (rgLinkPose){rgRotFromQuat(p->pose.q), p->pose.p};
    }
}

// The point that is at the reference now moves with the body; its acceleration is that of a frame
// that stands still there.
static void rgDynamics_MovePrescribed(rgDynamics* d) {
    const rgModel* model = d->model;
    for (int i = 0; i < model->kinematicCount; ++i) {
        const rgPrescribed* p = &d->prescribed[i];
        rgVec3 w = p->velocity.angular, v = p->velocity.linear, r = p->pose.p;
        rgVec3 a = p->acceleration.linear, turn = p->acceleration.angular;
        rgVec3 rest = rgNegate(rgCross(w, v));
        rgSpatial* all[3] = {&d->velocities[model->linkCount + i], &d->biases[model->linkCount + i],
                             &d->accelerations[model->linkCount + i]};
        *all[0] = (rgSpatial){rgSub(v, rgCross(w, r)), w};
        *all[1] = (rgSpatial){rest, rgVec(0, 0, 0)};
        *all[2] = (rgSpatial){rgSub(rgAdd(a, rest), rgCross(turn, r)), turn};
    }
}

// Links from first to before end, whose sines and cosines are there.
static void rgDynamics_PlaceLinks(rgDynamics* d, int first, int end) {
    const rgModel* model = d->model;
    for (int i = first; i < end; ++i) {
        const rgLink* link = &model->links[i];
        rgLinkPose pose = rgStartPose(link, &d->poses[link->parent]);
        if (link->kind == rg_linkRevolute) {
            rgTurn(&pose.r, link->axis, d->cosines[link->q], link->sign * d->sines[link->q]);
            rgDynamics_Anchor(d, link, &pose);
            rgVec3 axis = rgRot_Axis(&pose.r, link);
            d->axes[link->v] = (rgSpatial){rgCross(pose.p, axis), axis};
        } else if (link->kind == rg_linkPrismatic) {
            rgVec3 axis = rgRot_Axis(&pose.r, link);
            pose.p = rgAddScaled(pose.p, d->q[link->q], axis);
            rgDynamics_Anchor(d, link, &pose);
            d->axes[link->v] = (rgSpatial){axis, {0, 0, 0}};
        } else if (link->kind == rg_linkSpherical) {
            rgDynamics_PlaceSpherical(d, link, &pose);
        } else {
            rgDynamics_PlaceFree(d, link, &pose);
        }
        d->poses[i] = pose;
    }
}

// Sines and cosines of a tree's coordinates that may be angles; free bodies have none.
static void rgDynamics_FindSines(rgDynamics* d, int tree) {
    const rgModel* model = d->model;
    const rgTree* range = &model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    while (first < end && model->links[first].kind != rg_linkRevolute) {
        ++first;
    }
    if (first < end) {
        int from = model->links[first].q;
        int to = end < model->linkCount ? model->links[end].q : model->qCount;
        rgSinCos(to - from, d->q + from, d->sines + from, d->cosines + from);
    }
}

static void rgDynamics_PlaceAll(rgDynamics* d) {
    for (int t = 0; t < d->model->treeCount; ++t) {
        rgDynamics_FindSines(d, t);
    }
    d->poses[0] = (rgLinkPose){.r = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    rgDynamics_PlaceLinks(d, 1, d->model->linkCount);
    rgDynamics_PlacePrescribed(d);
}

// Velocity of a link relative to its parent: S v.
static inline rgSpatial rgJointVelocity(const rgDynamics* d, const rgLink* link) {
    const rgSpatial* axes = d->axes + link->v;
    const double* v = d->v + link->v;
    rgSpatial sum = {rgScale(v[0], axes[0].linear), rgScale(v[0], axes[0].angular)};
    for (int k = 1; k < link->vCount; ++k) {
        sum = rgSpatialAddScaled(sum, v[k], axes[k]);
    }
    return sum;
}

// dynamics.4, dynamics.5: V = V_parent + S v and the bias acceleration V x S v, summed along the
// tree.
static void rgDynamics_MoveLinks(rgDynamics* d, int first, int end) {
    const rgModel* model = d->model;
    for (int i = first; i < end; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial joint = rgJointVelocity(d, link);
        rgSpatial velocity = rgSpatialAdd(d->velocities[link->parent], joint);
        rgSpatial bias = rgMotionCross(&velocity, &joint);
        if (link->kind == rg_linkFree && d->stepCoordinates) {
            // The linear axes stand still in the world instead of turning with the body.
            bias.linear = rgNegate(rgCross(velocity.angular, velocity.linear));
        }
        d->velocities[i] = velocity;
        d->biases[i] = rgSpatialAdd(d->biases[link->parent], bias);
    }
    rgDynamics_MovePrescribed(d);
}

rgPrescribed rgPrescribe(const rgPlace* place, rgPrescribed body) {
    if (place->isOrigin) {
        return body;
    }
    rgPrescribed link = body;
    link.pose = rgPoseMultiply(body.pose, rgPoseInvert(place->pose));
    rgVec3 arm = rgSub(link.pose.p, body.pose.p), w = body.velocity.angular;
    link.velocity.linear = rgAdd(body.velocity.linear, rgCross(w, arm));
    link.acceleration.linear =
        rgAdd(body.acceleration.linear,
              rgAdd(rgCross(body.acceleration.angular, arm), rgCross(w, rgCross(w, arm))));
    return link;
}

// A model without joints has no coordinates, and its users no arrays.
static void rgCopyNumbers(double* to, const double* from, int count) {
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof(double));
    }
}

rgResult rgDynamics_SetBodyMotion(rgDynamics* d, rgBodyId body, rgPose pose, rgSpatial velocity,
                                  rgSpatial acceleration) {
    if (d == NULL || rgModel_Body(d->model, body) == NULL) {
        return rg_errorArgument;
    }
    const rgPlace* place = &d->model->bodyPlaces[body.index1 - 1];
    if (!rgModel_IsKinematic(d->model, place->link)) {
        return rg_errorUnsupported;
    }
    pose.q = rgQuatNormalize(pose.q);
    d->prescribed[place->link - d->model->linkCount] =
        rgPrescribe(place, (rgPrescribed){pose, velocity, acceleration});
    return rg_ok;
}

void rgDynamics_SetPositions(rgDynamics* d, const double* q) {
    if (d == NULL || q == NULL) {
        return;
    }
    const rgModel* model = d->model;
    rgCopyNumbers(d->q, q, model->qCount);
    if (d->moving) {
        memset(d->v, 0, (size_t)model->vCount * sizeof(double));
        memset(d->velocities, 0, (size_t)rgModel_AllLinks(model) * sizeof(rgSpatial));
        memset(d->biases, 0, (size_t)rgModel_AllLinks(model) * sizeof(rgSpatial));
        memset(d->accelerations, 0, (size_t)rgModel_AllLinks(model) * sizeof(rgSpatial));
    }
    d->moving = false;
    d->valid = 0;
    rgDynamics_PlaceAll(d);
}

void rgDynamics_SetState(rgDynamics* d, const double* q, const double* v) {
    if (d == NULL || q == NULL || v == NULL) {
        return;
    }
    const rgModel* model = d->model;
    rgCopyNumbers(d->q, q, model->qCount);
    rgCopyNumbers(d->v, v, model->vCount);
    d->moving = true;
    d->valid = 0;
    rgDynamics_PlaceAll(d);
    rgDynamics_MoveLinks(d, 1, model->linkCount);
}

void rgDynamics_SetTreeVelocity(rgDynamics* d, int tree, const double* v) {
    const rgTree* range = &d->model->trees[tree];
    rgCopyNumbers(d->v + range->firstDof, v + range->firstDof, range->dofCount);
    rgDynamics_MoveLinks(d, range->firstLink, range->firstLink + range->linkCount);
}

void rgDynamics_SetAccelerations(rgDynamics* d, const double* a) {
    if (d == NULL || a == NULL) {
        return;
    }
    const rgModel* model = d->model;
    d->moving = true;
    d->accelerations[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = d->accelerations[link->parent];
        for (int k = 0; k < link->vCount; ++k) {
            sum = rgSpatialAddScaled(sum, a[link->v + k], d->axes[link->v + k]);
        }
        d->accelerations[i] = sum;
    }
    for (int i = 1; i < model->linkCount; ++i) {
        d->accelerations[i] = rgSpatialAdd(d->accelerations[i], d->biases[i]);
    }
}

void rgDynamics_FillInertias(rgDynamics* d, int first, int end) {
    for (int i = first; i < end; ++i) {
        const rgLink* link = &d->model->links[i];
        const rgLinkPose* pose = &d->poses[i];
        rgLinkInertia* inertia = &d->inertias[i];
        const rgSplit r[3] = {rgSplitOf(pose->r.x), rgSplitOf(pose->r.y), rgSplitOf(pose->r.z)};
        rgSplit center = rgSplit_Add(rgSplitOf(pose->p), rgSplit_Combine(r, link->center));
        inertia->mass = link->mass;
        inertia->center = rgVec(center.xy[0], center.xy[1], center.z);
        inertia->moment = rgSplit_Congruence(r, &link->moment);
    }
}

void rgDynamics_NeedInertias(rgDynamics* d) {
    if (!(d->valid & rg_haveInertias)) {
        rgDynamics_FillInertias(d, 1, d->model->linkCount);
        d->valid |= rg_haveInertias;
    }
}

void rgDynamics_PlaceTreeLinks(rgDynamics* d, int tree, const double* q) {
    const rgTree* range = &d->model->trees[tree];
    int first = range->firstLink, end = first + range->linkCount;
    int from = d->model->links[first].q;
    int to = end < d->model->linkCount ? d->model->links[end].q : d->model->qCount;
    rgCopyNumbers(d->q + from, q + from, to - from);
    rgDynamics_FindSines(d, tree);
    rgDynamics_PlaceLinks(d, first, end);
}

void rgDynamics_PlaceTree(rgDynamics* d, int tree, const double* q) {
    const rgTree* range = &d->model->trees[tree];
    rgDynamics_PlaceTreeLinks(d, tree, q);
    rgDynamics_FillInertias(d, range->firstLink, range->firstLink + range->linkCount);
    rgDynamics_FillTreeMass(d, tree);
}

rgPose rgDynamics_PlacePose(const rgDynamics* d, const rgPlace* place) {
    rgMat3 m = rgMat3FromRot(&d->poses[place->link].r);
    rgVec3 p = rgAdd(rgDynamics_LinkOrigin(d, place->link), rgDynamics_PlacePoint(d, place));
    rgQuat q = rgQuatFromMat3(&m);
    return (rgPose){p, place->isOrigin ? q : rgQuatMultiply(q, place->pose.q)};
}

rgPose rgDynamics_BodyPose(const rgDynamics* d, rgBodyId body) {
    if (d == NULL) {
        return rgPoseIdentity();
    }
    bool known = rgModel_Body(d->model, body) != NULL;
    return known ? rgDynamics_PlacePose(d, &d->model->bodyPlaces[body.index1 - 1])
                 : rgPoseIdentity();
}

rgPose rgDynamics_FramePose(const rgDynamics* d, rgFrameId frame) {
    if (d == NULL) {
        return rgPoseIdentity();
    }
    bool known = rgModel_Frame(d->model, frame) != NULL;
    return known ? rgDynamics_PlacePose(d, &d->model->framePlaces[frame.index1 - 1])
                 : rgPoseIdentity();
}

rgPose rgDynamics_ShapePose(const rgDynamics* d, rgShapeId shape) {
    if (d == NULL) {
        return rgPoseIdentity();
    }
    bool known = rgModel_Shape(d->model, shape) != NULL;
    return known ? rgDynamics_PlacePose(d, &d->model->shapePlaces[shape.index1 - 1])
                 : rgPoseIdentity();
}
