// Moving bodies with the bodies fixed to them.
#include "peers/links.h"

#include "cli.h"

#include <math.h>
#include <stdlib.h>

static const rgBodyDef* rgBodyAt(const rgPeerScene* scene, int body) {
    return rgModel_Body(scene->model, (rgBodyId){body + 1});
}

static rgPose rgCentreOf(const rgInertia* inertia, rgVec3* moments) {
    rgPose centre = {.p = inertia->center};
    *moments = rgSym3Eigen(&inertia->moment, &centre.q);
    return centre;
}

bool rgPeerLinks_Init(rgPeerLinks* links, const rgPeerScene* scene) {
    int bodies = scene->info.bodyCount;
    bool fits = true;
    *links = (rgPeerLinks){.bodyCount = bodies};
    links->links = rgCli_Allocate((size_t)bodies, sizeof(rgPeerLink));
    links->linkOfBody = rgCli_Allocate((size_t)bodies, sizeof(int));
    for (int i = 0; i < bodies; ++i) {
        rgBodyLink place = rgModel_BodyLink(scene->model, (rgBodyId){i + 1});
        const rgBodyDef* body = rgBodyAt(scene, i);
        int moving = place.moving.index1 - 1;
        links->linkOfBody[i] = -1;
        if (moving == i) {
            links->linkOfBody[i] = links->count;
            rgPeerLink* link = &links->links[links->count++];
            *link = (rgPeerLink){.body = i, .parent = -1, .pose = body->pose};
            link->inertia = body->inertia;
            if (body->parent.index1 != 0) {
                rgBodyLink parent = rgModel_BodyLink(scene->model, body->parent);
                link->parent =
                    parent.moving.index1 != 0 ? links->linkOfBody[parent.moving.index1 - 1] : -1;
                link->pose = rgPoseMultiply(parent.pose, body->pose);
            }
        } else if (moving >= 0) {
            links->linkOfBody[i] = links->linkOfBody[moving];
            rgInertia moved = rgInertiaMove(place.pose, &body->inertia);
            rgPeerLink* link = &links->links[links->linkOfBody[moving]];
            link->inertia = rgInertiaAdd(&link->inertia, &moved);
        }
    }
    for (int j = 0; j < scene->info.jointCount; ++j) {
        const rgJointDef* joint = rgModel_Joint(scene->model, (rgJointId){j + 1});
        int link = links->linkOfBody[joint->body.index1 - 1];
        if (joint->kind != rg_jointFixed && link >= 0) {
            rgPeerLink* own = &links->links[link];
            fits = fits && own->jointCount < rg_linkJointsMost;
            if (fits) {
                own->joints[own->jointCount++] = j;
            }
        }
    }
    for (int i = 0; i < links->count; ++i) {
        links->links[i].centre = rgCentreOf(&links->links[i].inertia, &links->links[i].moments);
    }
    return fits;
}

void rgPeerLinks_Free(rgPeerLinks* links) {
    free(links->links);
    free(links->linkOfBody);
    *links = (rgPeerLinks){0};
}

bool rgPeerScene_IsPlain(const rgPeerScene* scene) {
    bool plain = scene->info.actuatorCount == 0 && scene->info.tendonCount == 0;
    for (int i = 0; i < scene->info.jointCount; ++i) {
        const rgJointDef* joint = rgModel_Joint(scene->model, (rgJointId){i + 1});
        plain = plain && !joint->hasLimits && joint->damping == 0 && joint->dryFriction == 0 &&
                joint->armature == 0 && joint->stiffness == 0;
    }
    return plain;
}

bool rgPeerLinks_IsLoose(const rgPeerLinks* links, const rgPeerScene* scene, int link) {
    const rgPeerLink* own = &links->links[link];
    bool loose = own->jointCount == 1 &&
                 rgModel_Joint(scene->model, (rgJointId){own->joints[0] + 1})->kind == rg_jointFree;
    for (int i = 0; i < links->count && loose; ++i) {
        loose = links->links[i].parent != link;
    }
    return loose;
}

rgPose rgPeerLinks_ShapePose(const rgPeerLinks* links, const rgPeerScene* scene, int shape,
                             int* link) {
    const rgShapeDef* def = rgModel_Shape(scene->model, (rgShapeId){shape + 1});
    *link = def->body.index1 != 0 ? links->linkOfBody[def->body.index1 - 1] : -1;
    if (def->body.index1 == 0) {
        return def->pose;
    }
    rgPose pose = rgPoseMultiply(rgModel_BodyLink(scene->model, def->body).pose, def->pose);
    return *link < 0 ? pose : rgPoseMultiply(rgPoseInvert(links->links[*link].centre), pose);
}

rgPose rgPeerLinks_BodyPose(const rgPeerLinks* links, const rgPeerScene* scene, int body,
                            rgPose centre) {
    int link = links->linkOfBody[body];
    rgBodyLink place = rgModel_BodyLink(scene->model, (rgBodyId){body + 1});
    if (link < 0) {
        return place.pose;
    }
    rgPose moving = rgPoseMultiply(centre, rgPoseInvert(links->links[link].centre));
    return links->links[link].body == body ? moving : rgPoseMultiply(moving, place.pose);
}

void rgPeerLinks_Read(const rgPeerLinks* links, const rgPeerScene* scene, int body, rgPose centre,
                      rgSpatial velocity, double mass, rgPeerBody* state) {
    int link = links->linkOfBody[body];
    const rgBodyDef* def = rgBodyAt(scene, body);
    *state = (rgPeerBody){.pose = rgPeerLinks_BodyPose(links, scene, body, centre), .mass = NAN};
    if (link >= 0) {
        rgVec3 arm = rgSub(state->pose.p, centre.p);
        state->velocity.angular = velocity.angular;
        state->velocity.linear = rgAdd(velocity.linear, rgCross(velocity.angular, arm));
        bool alone = fabs(links->links[link].inertia.mass - def->inertia.mass) <=
                     1e-12 * links->links[link].inertia.mass;
        state->mass = alone ? mass : NAN;
    }
}
