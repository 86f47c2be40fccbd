// Reactions: the wrench of the parent on a body and all below it, from the motion of the last step
// and all other forces. step.17.
#include "query/query.h"

#include <string.h>

static rgSpatial rgWrenchAt(rgVec3 point, rgVec3 force, rgVec3 torque) {
    return (rgSpatial){force, rgAdd(torque, rgCross(point, force))};
}

static void rgLoad(rgSpatial* reactions, int body, rgSpatial wrench, double sign) {
    if (body >= 0) {
        reactions[body] = rgSpatialAddScaled(reactions[body], -sign, wrench);
    }
}

// Mass times acceleration, less gravity, about the world's origin.
static rgSpatial rgInertialWrench(const rgModel* model, const rgSettings* settings, rgDynamics* d,
                                  int body) {
    const rgPlace* place = &model->bodyPlaces[body];
    const rgInertia* inertia = &model->bodies[body].inertia;
    const rgSpatial *V = &d->velocities[place->link], *A = &d->accelerations[place->link];
    rgPose pose = rgDynamics_PlacePose(d, place);
    rgVec3 center = rgPose_Point(pose, inertia->center);
    rgVec3 c = rgSub(center, rgDynamics_LinkOrigin(d, place->link));
    rgVec3 velocity = rgAdd(V->linear, rgCross(V->angular, c));
    rgVec3 rate = rgAdd(rgAdd(A->linear, rgCross(A->angular, c)), rgCross(V->angular, velocity));
    rgVec3 w = rgRotateBack(pose.q, V->angular), turn = rgRotateBack(pose.q, A->angular);
    rgVec3 torque = rgAdd(rgSym3_Multiply(&inertia->moment, turn),
                          rgCross(w, rgSym3_Multiply(&inertia->moment, w)));
    rgVec3 force = rgScale(inertia->mass, rgSub(rate, settings->gravity));
    return rgWrenchAt(center, force, rgRotate(pose.q, torque));
}

static void rgAddInertial(const rgFreeMotion* motion, const rgModel* model,
                          const rgSettings* settings, rgDynamics* d, rgSpatial* reactions) {
    memset(reactions, 0, (size_t)model->info.bodyCount * sizeof(rgSpatial));
    for (int b = 0; b < model->info.bodyCount; ++b) {
        rgSpatial wrench = rgInertialWrench(model, settings, d, b);
        rgLoad(reactions, b, wrench, -1);
        if (!motion->hasWrench) {
            continue;
        }
        const double* w = motion->wrench + 6 * b;
        rgPose pose = rgDynamics_PlacePose(d, &model->bodyPlaces[b]);
        rgVec3 center = rgPose_Point(pose, model->bodies[b].inertia.center);
        rgLoad(reactions, b, rgWrenchAt(center, rgVec(w[0], w[1], w[2]), rgVec(w[3], w[4], w[5])),
               1);
    }
}

rgVec3 rgContactTorque(const rgContact* c, double dt) {
    double rate = 1 / dt;
    rgVec3 torque =
        rgAddScaled(rgScale(rate * c->impulse[3], c->normal), rate * c->impulse[4], c->tangent1);
    return rgAddScaled(torque, rate * c->impulse[5], c->tangent2);
}

static void rgAddContactLoads(const rgWorld* world, rgSpatial* reactions) {
    int count;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        const rgContact* c = &contacts[i];
        rgSpatial wrench = rgWrenchAt(c->point, c->force, rgContactTorque(c, world->settings.dt));
        rgLoad(reactions, c->bodyB.index1 - 1, wrench, 1);
        rgLoad(reactions, c->bodyA.index1 - 1, wrench, -1);
    }
}

static rgVec3 rgAttachmentPoint(rgDynamics* d, rgBodyId body, rgPose pose) {
    return body.index1 > 0 ? rgPose_Point(rgDynamics_BodyPose(d, body), pose.p) : pose.p;
}

static void rgAddLoopLoads(const rgConstraintSet* constraints, const rgModel* model, double dt,
                           rgDynamics* d, rgSpatial* reactions) {
    const rgRows* rows = &constraints->rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        if (source->kind != rg_constraintEquality) {
            continue;
        }
        const rgEqualityDef* def = &model->equalities[source->index];
        if (def->kind != rg_equalityConnect && def->kind != rg_equalityWeld) {
            continue;
        }
        int k = source->row % 3;
        rgVec3 axis = rgVec(k == 0, k == 1, k == 2);
        rgVec3 push = rgScale(rows->lambda[r] / dt, axis), none = rgVec(0, 0, 0);
        bool turns = source->row >= 3;
        rgVec3 force = turns ? none : push, torque = turns ? push : none;
        rgVec3 a = rgAttachmentPoint(d, def->bodyA, def->poseA);
        rgVec3 b = rgAttachmentPoint(d, def->bodyB, def->poseB);
        rgLoad(reactions, def->bodyB.index1 - 1, rgWrenchAt(b, force, torque), 1);
        rgLoad(reactions, def->bodyA.index1 - 1, rgWrenchAt(a, force, torque), -1);
    }
}

// Force along a tendon: of its own rows, and of actuators and couplings that act on it.
static double rgTendonForce(const rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    const rgRows* rows = &world->constraints.rows;
    double force = 0;
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        double push = rows->lambda[r] / world->settings.dt;
        if (source->kind == rg_constraintTendon && source->index == tendon) {
            force += rgTendonRowIsLimit(source->row) && source->row % 2 == 1 ? -push : push;
        } else if (source->kind == rg_constraintEquality) {
            const rgEqualityDef* def = &model->equalities[source->index];
            force += def->tendonA.index1 == tendon + 1 ? push : 0;
            force -= def->tendonB.index1 == tendon + 1
                         ? push * rgCouplingSlope(&world->transmission, world->model, source->index)
                         : 0;
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        force += def->tendon.index1 == tendon + 1
                     ? def->gear[0] * world->transmission.actuatorForce[a]
                     : 0;
    }
    return force;
}

static void rgAddTendonLoads(const rgWorld* world, rgDynamics* d, rgSpatial* reactions) {
    const rgModel* model = world->model;
    for (int t = 0; t < model->info.tendonCount; ++t) {
        if (model->tendons[t].pointCount > 0) {
            rgDynamics_LoadTendon(d, t, -rgTendonForce(world, t), reactions);
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        if (model->actuators[a].frame.index1 > 0) {
            rgDynamics_LoadDrive(d, a, -world->transmission.actuatorForce[a], reactions);
        }
    }
}

const rgSpatial* rgWorld_Reactions(const rgWorld* world) {
    const rgModel* model = world->model;
    rgSpatial* reactions = world->readout->reactions;
    rgDynamics* d = rgWorld_StartDynamics(world);
    rgAddInertial(&world->free, world->model, &world->settings, d, reactions);
    rgAddContactLoads(world, reactions);
    rgAddLoopLoads(&world->constraints, world->model, world->settings.dt, d, reactions);
    rgAddTendonLoads(world, d, reactions);
    for (int b = model->info.bodyCount - 1; b >= 0; --b) {
        int parent = model->bodies[b].parent.index1 - 1;
        if (parent >= 0) {
            reactions[parent] = rgSpatialAdd(reactions[parent], reactions[b]);
        }
    }
    return reactions;
}

rgSpatial rgWorld_BodyReaction(const rgWorld* world, rgBodyId body) {
    if (world == NULL) {
        return (rgSpatial){0};
    }
    if (rgModel_Body(world->model, body) == NULL) {
        return (rgSpatial){0};
    }
    rgSpatial wrench = rgWorld_Reactions(world)[body.index1 - 1];
    rgVec3 point = rgDynamics_BodyPose(rgWorld_StartDynamics(world), body).p;
    return (rgSpatial){wrench.linear, rgSub(wrench.angular, rgCross(point, wrench.linear))};
}

rgSpatial rgWorld_JointReaction(const rgWorld* world, rgJointId joint) {
    if (world == NULL) {
        return (rgSpatial){0};
    }
    const rgJointDef* def = rgModel_Joint(world->model, joint);
    if (def == NULL) {
        return (rgSpatial){0};
    }
    rgSpatial wrench = rgWorld_Reactions(world)[def->body.index1 - 1];
    rgPose pose = rgDynamics_BodyPose(rgWorld_StartDynamics(world), def->body);
    rgVec3 point = rgPose_Point(pose, def->anchor);
    return (rgSpatial){wrench.linear, rgSub(wrench.angular, rgCross(point, wrench.linear))};
}
