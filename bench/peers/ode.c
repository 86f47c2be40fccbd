// ODE: scenes of loose bodies and what is fixed to the world. Settings: its direct method, which is
// Dantzig's, and its quick one, which is projected Gauss-Seidel with so many iterations. Friction
// is its pyramid (dContactApprox1), which "aligned" turns so that an axis is along the sliding of
// each point; "restitution"; everything else as it comes.
#include "peers/links.h"

#include "cli.h"

#include <math.h>
#include <ode/ode.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rg_odePoints = 8 }; // most points of one pair

typedef struct rgOdeWorld {
    const rgPeerScene* scene;
    rgPeerLinks links;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID* bodies; // by link
    int quick;       // iterations; 0: the direct method
    bool aligned;    // pyramids along the sliding
    double restitution;
    int contactCount;
    double depth;
} rgOdeWorld;

static const char* const rgOdeVariants[] = {"direct", "quick 20", "quick 200", "direct aligned",
                                            NULL};

static int rgOdeUsers; // dInitODE and dCloseODE go in pairs

static dGeomID rgOde_MakeGeom(const rgOdeWorld* own, const rgShapeDef* shape, rgPose pose) {
    rgVec3 s = shape->size;
    switch (shape->kind) {
    case rg_shapeBox:
        return dCreateBox(own->space, 2 * s.x, 2 * s.y, 2 * s.z);
    case rg_shapeSphere:
        return dCreateSphere(own->space, s.x);
    case rg_shapeCapsule:
        return dCreateCapsule(own->space, s.x, 2 * s.y);
    case rg_shapeCylinder:
        return dCreateCylinder(own->space, s.x, 2 * s.y);
    case rg_shapePlane: {
        rgVec3 n = rgRotate(pose.q, rgVec(0, 0, 1));
        return dCreatePlane(own->space, n.x, n.y, n.z, rgDot(n, pose.p));
    }
    default:
        return NULL;
    }
}

static void rgQuatToOde(rgQuat q, dQuaternion out) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

static bool rgOde_AddShapes(rgOdeWorld* own) {
    for (int i = 0; i < own->scene->info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(own->scene->model, (rgShapeId){i + 1});
        int link;
        rgPose pose = rgPeerLinks_ShapePose(&own->links, own->scene, i, &link);
        if (shape->visualOnly) {
            continue;
        }
        dGeomID geom = rgOde_MakeGeom(own, shape, pose);
        if (geom == NULL) {
            return false;
        }
        dQuaternion q;
        rgQuatToOde(pose.q, q);
        dGeomSetData(geom, (void*)(intptr_t)(i + 1));
        if (link >= 0) {
            dGeomSetBody(geom, own->bodies[link]);
            dGeomSetOffsetPosition(geom, pose.p.x, pose.p.y, pose.p.z);
            dGeomSetOffsetQuaternion(geom, q);
        } else if (shape->kind != rg_shapePlane) {
            dGeomSetPosition(geom, pose.p.x, pose.p.y, pose.p.z);
            dGeomSetQuaternion(geom, q);
        }
    }
    return true;
}

static void rgOde_AddBodies(rgOdeWorld* own) {
    own->bodies = rgCli_Allocate((size_t)own->links.count, sizeof(dBodyID));
    for (int i = 0; i < own->links.count; ++i) {
        const rgPeerLink* link = &own->links.links[i];
        dMass mass;
        own->bodies[i] = dBodyCreate(own->world);
        dMassSetParameters(&mass, link->inertia.mass, 0, 0, 0, link->moments.x, link->moments.y,
                           link->moments.z, 0, 0, 0);
        dBodySetMass(own->bodies[i], &mass);
        dBodySetAutoDisableFlag(own->bodies[i], 0);
    }
}

static void rgOde_Reset(void* world) {
    rgOdeWorld* own = world;
    for (int i = 0; i < own->links.count; ++i) {
        const rgPeerLink* link = &own->links.links[i];
        rgJointRange range =
            rgModel_JointRange(own->scene->model, (rgJointId){link->joints[0] + 1});
        const double* v = own->scene->v + range.v;
        rgPose body = own->scene->poses[link->body];
        rgPose at = rgPoseMultiply(body, link->centre);
        rgVec3 spin = rgRotate(body.q, rgVec(v[3], v[4], v[5]));
        rgVec3 speed =
            rgAdd(rgRotate(body.q, rgVec(v[0], v[1], v[2])), rgCross(spin, rgSub(at.p, body.p)));
        dQuaternion q;
        rgQuatToOde(at.q, q);
        dBodySetPosition(own->bodies[i], at.p.x, at.p.y, at.p.z);
        dBodySetQuaternion(own->bodies[i], q);
        dBodySetLinearVel(own->bodies[i], speed.x, speed.y, speed.z);
        dBodySetAngularVel(own->bodies[i], spin.x, spin.y, spin.z);
        dBodyEnable(own->bodies[i]);
    }
    dRandSetSeed(0); // its quick method shuffles
}

static void rgOde_Destroy(void* world) {
    rgOdeWorld* own = world;
    dJointGroupDestroy(own->contacts);
    dSpaceDestroy(own->space);
    dWorldDestroy(own->world);
    rgPeerLinks_Free(&own->links);
    free(own->bodies);
    free(own);
    if (--rgOdeUsers == 0) {
        dCloseODE();
    }
}

static bool rgOde_Supports(const rgOdeWorld* own, char* fault, size_t faultSize) {
    for (int i = 0; i < own->links.count; ++i) {
        if (!rgPeerLinks_IsLoose(&own->links, own->scene, i)) {
            snprintf(fault, faultSize, "it is given loose bodies only");
            return false;
        }
    }
    return true;
}

// Its direct method complains of itself in every other step.
static void rgOde_Silence(int code, const char* text, va_list arguments) {
    (void)code, (void)text, (void)arguments;
}

static void* rgOde_Create(const rgPeerScene* scene, const char* variant, char* fault,
                          size_t faultSize) {
    rgOdeWorld* own = rgCli_Allocate(1, sizeof(rgOdeWorld));
    if (rgOdeUsers++ == 0) {
        dInitODE2(0);
        dAllocateODEDataForThread(dAllocateMaskAll);
        dSetMessageHandler(rgOde_Silence);
    }
    own->scene = scene;
    own->world = dWorldCreate();
    own->space = dHashSpaceCreate(NULL);
    own->contacts = dJointGroupCreate(0);
    own->quick = strncmp(variant, "quick ", 6) == 0 ? atoi(variant + 6) : 0;
    own->restitution = rgPeerSetting(variant, "restitution", 0);
    own->aligned = strstr(variant, "aligned") != NULL;
    dWorldSetGravity(own->world, scene->gravity.x, scene->gravity.y, scene->gravity.z);
    dWorldSetAutoDisableFlag(own->world, 0);
    dWorldSetQuickStepNumIterations(own->world, own->quick > 0 ? own->quick : 20);
    rgPeerLinks_Init(&own->links, scene);
    if (!rgOde_Supports(own, fault, faultSize)) {
        rgOde_Destroy(own);
        return NULL;
    }
    rgOde_AddBodies(own);
    if (!rgOde_AddShapes(own)) {
        snprintf(fault, faultSize, "it has no such shape");
        rgOde_Destroy(own);
        return NULL;
    }
    rgOde_Reset(own);
    return own;
}

// The first direction of friction, along the sliding of a point. False: it does not slide.
static bool rgOde_Align(dContact* contact, dBodyID a, dBodyID b) {
    const dReal *p = contact->geom.pos, *n = contact->geom.normal;
    dVector3 va = {0}, vb = {0};
    if (a != NULL) {
        dBodyGetPointVel(a, p[0], p[1], p[2], va);
    }
    if (b != NULL) {
        dBodyGetPointVel(b, p[0], p[1], p[2], vb);
    }
    rgVec3 normal = rgVec(n[0], n[1], n[2]);
    rgVec3 slip = rgVec(va[0] - vb[0], va[1] - vb[1], va[2] - vb[2]);
    slip = rgSub(slip, rgScale(rgDot(slip, normal), normal));
    if (rgLength(slip) < 1e-9) {
        return false;
    }
    slip = rgNormalize(slip);
    contact->fdir1[0] = slip.x;
    contact->fdir1[1] = slip.y;
    contact->fdir1[2] = slip.z;
    return true;
}

static void rgOde_Near(void* world, dGeomID a, dGeomID b) {
    rgOdeWorld* own = world;
    rgShapeId idA = {(int32_t)(intptr_t)dGeomGetData(a)};
    rgShapeId idB = {(int32_t)(intptr_t)dGeomGetData(b)};
    if (!rgModel_ShapesMeet(own->scene->model, idA, idB)) {
        return;
    }
    dContact points[rg_odePoints];
    int count = dCollide(a, b, rg_odePoints, &points[0].geom, sizeof(dContact));
    double mu = count > 0 ? rgModel_PairMaterial(own->scene->model, idA, idB).mu : 0;
    for (int i = 0; i < count; ++i) {
        points[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = mu};
        if (own->restitution > 0) {
            points[i].surface.mode |= dContactBounce;
            points[i].surface.bounce = own->restitution;
            points[i].surface.bounce_vel = 0.01;
        }
        if (own->aligned && rgOde_Align(&points[i], dGeomGetBody(a), dGeomGetBody(b))) {
            points[i].surface.mode |= dContactFDir1;
        }
        dJointID joint = dJointCreateContact(own->world, own->contacts, &points[i]);
        dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
        own->depth = fmax(own->depth, points[i].geom.depth);
    }
    own->contactCount += count;
}

static bool rgOde_Step(void* world) {
    rgOdeWorld* own = world;
    own->contactCount = 0;
    own->depth = 0;
    dSpaceCollide(own->space, own, rgOde_Near);
    if (own->quick > 0) {
        dWorldQuickStep(own->world, own->scene->timeStep);
    } else {
        dWorldStep(own->world, own->scene->timeStep);
    }
    dJointGroupEmpty(own->contacts);
    return own->links.count == 0 || isfinite(dBodyGetPosition(own->bodies[0])[2]);
}

static void rgOde_Look(void* world, rgPeerLook* look) {
    const rgOdeWorld* own = world;
    *look = (rgPeerLook){.contactCount = own->contactCount,
                         .penetration = own->depth,
                         .residual = NAN,
                         .collision = NAN};
}

static bool rgOde_Body(void* world, int body, rgPeerBody* state) {
    const rgOdeWorld* own = world;
    int link = own->links.linkOfBody[body];
    rgPose at = rgPoseIdentity();
    rgSpatial velocity = {0};
    double mass = NAN;
    if (link >= 0) {
        dBodyID id = own->bodies[link];
        const dReal *p = dBodyGetPosition(id), *q = dBodyGetQuaternion(id);
        const dReal *v = dBodyGetLinearVel(id), *w = dBodyGetAngularVel(id);
        dMass kept;
        dBodyGetMass(id, &kept);
        mass = kept.mass;
        at = (rgPose){.p = rgVec(p[0], p[1], p[2]), .q = {q[0], q[1], q[2], q[3]}};
        velocity.linear = rgVec(v[0], v[1], v[2]);
        velocity.angular = rgVec(w[0], w[1], w[2]);
    }
    rgPeerLinks_Read(&own->links, own->scene, body, at, velocity, mass, state);
    return true;
}

static const char* rgOde_Version(void) {
    return RIGOR_ODE_VERSION;
}

const rgPeer rgPeerOde = {
    .name = "ODE",
    .variants = rgOdeVariants,
    .version = rgOde_Version,
    .create = rgOde_Create,
    .destroy = rgOde_Destroy,
    .reset = rgOde_Reset,
    .step = rgOde_Step,
    .look = rgOde_Look,
    .body = rgOde_Body,
};
