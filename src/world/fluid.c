// Forces of a fluid around the bodies: each is a box with the inertia of the body, with drag on its
// sides and Stokes' law for a sphere of its size, or is the ellipsoids of its shapes.
// docs/theory/fluid.md.
#include "world/world.h"

#include "rigor/inertia.h"

#define RG_PI 3.14159265358979323846

bool rgWorld_HasFluid(const rgModel* model) {
    return model->info.options.density > 0 || model->info.options.viscosity > 0;
}

// fluid.1: Half the sum of the other two moments less its own is m b^2/12.
static double rgBoxSide(double own, double a, double b, double mass) {
    return sqrt(fmax(6 * (a + b - own) / mass, 0));
}

static rgFluidBox rgFluidBoxOf(const rgBodyDef* body) {
    const rgInertia* inertia = &body->inertia;
    rgQuat axes = body->fluidAxes;
    if (!(inertia->mass > 0)) {
        return (rgFluidBox){.axes = rgQuatIdentity()};
    }
    rgVec3 I;
    if (axes.w == 0 && axes.x == 0 && axes.y == 0 && axes.z == 0) {
        I = rgSym3Eigen(&inertia->moment, &axes);
    } else {
        axes = rgQuatNormalize(axes);
        rgVec3 e[3] = {rgRotate(axes, rgVec(1, 0, 0)), rgRotate(axes, rgVec(0, 1, 0)),
                       rgRotate(axes, rgVec(0, 0, 1))};
        I = rgVec(rgDot(e[0], rgSym3_Multiply(&inertia->moment, e[0])),
                  rgDot(e[1], rgSym3_Multiply(&inertia->moment, e[1])),
                  rgDot(e[2], rgSym3_Multiply(&inertia->moment, e[2])));
    }
    double m = inertia->mass;
    return (rgFluidBox){.axes = axes,
                        .sides = {rgBoxSide(I.x, I.y, I.z, m), rgBoxSide(I.y, I.z, I.x, m),
                                  rgBoxSide(I.z, I.x, I.y, m)}};
}

void rgFreeMotion_PlanFluid(rgFreeMotion* motion, const rgModel* model) {
    motion->hasFluid = rgWorld_HasFluid(model);
    for (int b = 0; motion->hasFluid && b < model->info.bodyCount; ++b) {
        motion->fluidBoxes[b] = rgFluidBoxOf(&model->bodies[b]);
    }
    motion->fluidEllipsoidCount = 0;
    for (int s = 0; motion->hasFluid && s < model->info.shapeCount; ++s) {
        const rgShapeDef* shape = &model->shapes[s];
        if (shape->fluidEllipsoid && shape->body.index1 > 0) {
            rgFluidEllipsoid* e = &motion->fluidEllipsoids[motion->fluidEllipsoidCount++];
            e->shape = s;
            rgFluidEllipsoid_Set(e, shape);
            motion->fluidBoxes[shape->body.index1 - 1].isLeft = true;
        }
    }
}

// Along and about the axes of the box: linear and quadratic coefficients.
typedef struct rgDrag {
    double linear[6], square[6];
} rgDrag;

// fluid.2, fluid.3
static rgDrag rgDragOf(const rgFluidBox* box, double density, double viscosity) {
    rgDrag drag;
    const double* b = box->sides;
    double diameter = (b[0] + b[1] + b[2]) / 3;
    for (int k = 0; k < 3; ++k) {
        double y = b[(k + 1) % 3], z = b[(k + 2) % 3];
        drag.linear[k] = 3 * RG_PI * viscosity * diameter;
        drag.linear[3 + k] = RG_PI * viscosity * diameter * diameter * diameter;
        drag.square[k] = 0.5 * density * y * z;
        drag.square[3 + k] = density * b[k] * (y * y * y * y + z * z * z * z) / 64;
    }
    return drag;
}

// A motion in the axes of a box, at its centre.
typedef struct rgBoxFrame {
    rgQuat axes;
    rgVec3 center; // world
} rgBoxFrame;

static void rgInBox(const rgBoxFrame* frame, rgVec3 linear, rgVec3 angular, double out[6]) {
    rgVec3 v = rgRotateBack(frame->axes, linear), w = rgRotateBack(frame->axes, angular);
    out[0] = v.x, out[1] = v.y, out[2] = v.z;
    out[3] = w.x, out[4] = w.y, out[5] = w.z;
}

static int rgBodyLast(const rgModel* model, int link) {
    const rgLink* l = &model->links[link];
    return link > 0 && l->vCount > 0 ? l->v + l->vCount - 1 : -1;
}

// fluid.4: D is a sum of d u u' over bodies and axes, u the motion along an axis per degree of
// freedom, and u u' <= diag(|u_i| m_i^1/2 sum_j |u_j| m_j^-1/2), m the diagonal of M.
static void rgAddMajorant(rgFreeMotion* motion, const rgKinematics* kinematics,
                          const rgBoxFrame* frame, int link, const double d[6]) {
    const rgModel* model = kinematics->dynamics->model;
    const rgDynamics* dynamics = kinematics->dynamics;
    rgVec3 arm = rgSub(frame->center, rgDynamics_LinkOrigin(dynamics, link));
    double sums[6] = {0}, u[6];
    for (int round = 0; round < 2; ++round) {
        for (int i = rgBodyLast(model, link); i >= 0; i = model->dofs[i].parent) {
            const rgSpatial* axis = &dynamics->axes[i];
            double root = sqrt(dynamics->mass[model->dofs[i].rowStart]), sum = 0;
            rgInBox(frame, rgAdd(axis->linear, rgCross(axis->angular, arm)), axis->angular, u);
            for (int k = 0; k < 6; ++k) {
                sums[k] += round == 0 ? fabs(u[k]) / root : 0;
                sum += d[k] * fabs(u[k]) * sums[k];
            }
            motion->fluidDamping[i] += round == 1 ? root * sum : 0;
        }
    }
}

// Motion of a body through the fluid, for a velocity of its link.
static void rgFlow(const rgWorld* world, const rgBoxFrame* frame, int link, const rgSpatial* V,
                   double out[6]) {
    rgVec3 arm = rgSub(frame->center, rgDynamics_LinkOrigin(world->kinematics.dynamics, link));
    rgVec3 linear = rgAdd(V->linear, rgCross(V->angular, arm));
    rgInBox(frame, rgSub(linear, world->model->info.options.wind), V->angular, out);
}

// Force along an axis of the box, at the predicted velocity or, the stiffer the more, at that of
// the start, about which it is implicit. The inertia along the axis is at least that of the body.
static double rgAxisForce(double dt, const rgDrag* drag, int k, double inertia, double start,
                          double middle, double* slope) {
    double most = fmax(fabs(start), fabs(middle));
    *slope = drag->linear[k] + 2 * drag->square[k] * most;
    double w = rgSpringWeights(dt, dt * *slope / inertia).along;
    double v = w * start + (1 - w) * middle;
    return -(drag->linear[k] + drag->square[k] * fabs(v)) * v;
}

// Add the forces of the fluid on a body at its centre of mass, in world axes.
static void rgWorld_AddBodyFluid(rgWorld* world, int body) {
    const rgModel* model = world->model;
    const rgModelOptions* options = &model->info.options;
    const rgPlace* place = &model->bodyPlaces[body];
    const rgInertia* inertia = &model->bodies[body].inertia;
    const rgFluidBox* box = &world->free.fluidBoxes[body];
    if (!(inertia->mass > 0) || place->link == 0 || box->isLeft) {
        return;
    }
    rgPose pose = rgDynamics_PlacePose(world->kinematics.dynamics, place);
    rgBoxFrame frame = {rgQuatMultiply(pose.q, box->axes), rgPose_Point(pose, inertia->center)};
    rgDrag drag = rgDragOf(box, options->density, options->viscosity);
    double start[6], middle[6], f[6], slope[6];
    rgFlow(world, &frame, place->link, &world->kinematics.linkVelocities[place->link], start);
    rgFlow(world, &frame, place->link, &world->kinematics.dynamics->velocities[place->link],
           middle);
    for (int k = 0; k < 6; ++k) {
        double y = box->sides[(k + 1) % 3], z = box->sides[(k + 2) % 3];
        double weight = k < 3 ? inertia->mass : inertia->mass * (y * y + z * z) / 12;
        f[k] = weight > 0 ? rgAxisForce(world->settings.dt, &drag, k, weight, start[k], middle[k],
                                        &slope[k])
                          : (slope[k] = 0);
    }
    rgVec3 force = rgRotate(frame.axes, rgVec(f[0], f[1], f[2]));
    rgVec3 torque = rgRotate(frame.axes, rgVec(f[3], f[4], f[5]));
    double* w = world->free.wrench + 6 * body;
    w[0] += force.x, w[1] += force.y, w[2] += force.z;
    w[3] += torque.x, w[4] += torque.y, w[5] += torque.z;
    rgAddMajorant(&world->free, &world->kinematics, &frame, place->link, slope);
}

static double rgSize3(const double* v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The least moment of a box of uniform density.
static double rgLeastMoment(const rgFluidBox* box, double mass) {
    double x = box->sides[0] * box->sides[0], y = box->sides[1] * box->sides[1],
           z = box->sides[2] * box->sides[2];
    return mass / 12 * (x + y + z - fmax(x, fmax(y, z)));
}

// Add the forces of the fluid on an ellipsoid: as with boxes, at the predicted velocity or, where
// its drag is stiff for the body, at that of the start.
static void rgWorld_AddEllipsoidFluid(rgWorld* world, const rgFluidEllipsoid* ellipsoid) {
    const rgModel* model = world->model;
    const rgShapeDef* shape = &model->shapes[ellipsoid->shape];
    int body = shape->body.index1 - 1;
    const rgPlace* place = &model->bodyPlaces[body];
    const rgInertia* inertia = &model->bodies[body].inertia;
    if (!(inertia->mass > 0) || place->link == 0) {
        return;
    }
    rgPose pose = rgDynamics_PlacePose(world->kinematics.dynamics, place);
    rgBoxFrame frame = {rgQuatMultiply(pose.q, shape->pose.q), rgPose_Point(pose, shape->pose.p)};
    double start[6], motion[6], f[6], slope[6], dt = world->settings.dt;
    rgFlow(world, &frame, place->link, &world->kinematics.linkVelocities[place->link], start);
    rgFlow(world, &frame, place->link, &world->kinematics.dynamics->velocities[place->link],
           motion);
    rgFluidEllipsoid_Slopes(ellipsoid, shape->fluidCoefficients, &model->info.options,
                            fmax(rgSize3(start), rgSize3(motion)),
                            fmax(rgSize3(start + 3), rgSize3(motion + 3)), slope);
    double moment = rgLeastMoment(&world->free.fluidBoxes[body], inertia->mass);
    double linear = rgSpringWeights(dt, dt * slope[0] / inertia->mass).along,
           angular = moment > 0 ? rgSpringWeights(dt, dt * slope[3] / moment).along : 1;
    for (int k = 0; k < 6; ++k) {
        motion[k] += (k < 3 ? linear : angular) * (start[k] - motion[k]);
    }
    rgFluidEllipsoid_Force(ellipsoid, shape->fluidCoefficients, &model->info.options, motion, f);
    rgVec3 force = rgRotate(frame.axes, rgVec(f[0], f[1], f[2]));
    rgVec3 torque = rgRotate(frame.axes, rgVec(f[3], f[4], f[5]));
    rgVec3 arm = rgSub(frame.center, rgPose_Point(pose, inertia->center));
    torque = rgAdd(torque, rgCross(arm, force));
    double* w = world->free.wrench + 6 * body;
    w[0] += force.x, w[1] += force.y, w[2] += force.z;
    w[3] += torque.x, w[4] += torque.y, w[5] += torque.z;
    rgAddMajorant(&world->free, &world->kinematics, &frame, place->link, slope);
}

// Largest dt d/m of the degrees of freedom of a tree.
static double rgTreeStiffness(const rgFreeMotion* motion, const rgKinematics* kinematics, double dt,
                              int tree) {
    const rgModel* model = kinematics->dynamics->model;
    const rgTree* range = &model->trees[tree];
    double most = 0;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        double mass = kinematics->dynamics->mass[model->dofs[i].rowStart];
        most = fmax(most, dt * motion->fluidDamping[i] / mass);
    }
    return most;
}

bool rgFreeMotion_FluidIsThick(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree) {
    return rgTreeStiffness(motion, kinematics, dt, tree) > RG_FLUID_STIFF_RATIO;
}

// fluid.5: A tree is as implicit as its stiffest degree of freedom.
static void rgFreeMotion_DampTree(rgFreeMotion* motion, const rgKinematics* kinematics, double dt,
                                  int tree) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    double w =
        rgSpringWeights(kinematics->driftTime[tree], rgTreeStiffness(motion, kinematics, dt, tree))
            .along;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        motion->added[i] += dt * w * motion->fluidDamping[i];
    }
}

void rgWorld_AddFluid(rgWorld* world) {
    const rgModel* model = world->model;
    for (int i = 0; i < model->vCount; ++i) {
        world->free.fluidDamping[i] = 0;
    }
    rgKinematics_SetLinkVelocities(&world->kinematics, world->kinematics.v);
    for (int b = 0; b < model->info.bodyCount; ++b) {
        rgWorld_AddBodyFluid(world, b);
    }
    for (int e = 0; e < world->free.fluidEllipsoidCount; ++e) {
        rgWorld_AddEllipsoidFluid(world, &world->free.fluidEllipsoids[e]);
    }
    for (int t = 0; t < model->treeCount; ++t) {
        rgFreeMotion_DampTree(&world->free, &world->kinematics, world->settings.dt, t);
    }
}
