// DART: scenes of loose bodies and what is fixed to the world, with its own collision detector, in
// which a floor is a box of 20 m. Its boxed linear complementarity problem is solved by Dantzig's
// method, as it comes.
#include "peers/links.h"

#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/config.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace dart::dynamics;

struct DartWorld {
    const rgPeerScene* scene = nullptr;
    rgPeerLinks links{};
    dart::simulation::WorldPtr world;
    std::vector<SkeletonPtr> bodies; // by link

    ~DartWorld() {
        rgPeerLinks_Free(&links);
    }
};

Eigen::Vector3d toDart(rgVec3 v) {
    return Eigen::Vector3d(v.x, v.y, v.z);
}
rgVec3 fromDart(const Eigen::Vector3d& v) {
    return rgVec(v.x(), v.y(), v.z());
}
Eigen::Isometry3d toDart(const rgPose& pose) {
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.linear() = Eigen::Quaterniond(pose.q.w, pose.q.x, pose.q.y, pose.q.z).toRotationMatrix();
    at.translation() = toDart(pose.p);
    return at;
}

// nullptr: its collision detector has none like that. A plane is moved below its surface.
ShapePtr makeShape(const rgShapeDef* shape, rgPose* pose) {
    const double floor = 20;
    switch (shape->kind) {
    case rg_shapeBox:
        return std::make_shared<BoxShape>(2 * toDart(shape->size));
    case rg_shapeSphere:
        return std::make_shared<SphereShape>(shape->size.x);
    case rg_shapePlane:
        *pose = rgPoseMultiply(*pose, rgPose{rgVec(0, 0, -0.5 * floor), rgQuatIdentity()});
        return std::make_shared<BoxShape>(Eigen::Vector3d(floor, floor, floor));
    default:
        return nullptr;
    }
}

bool addShapes(DartWorld* own) {
    auto ground = Skeleton::create("ground");
    BodyNode* fixed = ground->createJointAndBodyNodePair<WeldJoint>().second;
    for (int i = 0; i < own->scene->info.shapeCount; ++i) {
        const rgShapeDef* def = rgModel_Shape(own->scene->model, rgShapeId{i + 1});
        int link;
        rgPose pose = rgPeerLinks_ShapePose(&own->links, own->scene, i, &link);
        if (def->visualOnly) {
            continue;
        }
        ShapePtr shape = makeShape(def, &pose);
        if (shape == nullptr) {
            return false;
        }
        BodyNode* body = link < 0 ? fixed : own->bodies[static_cast<size_t>(link)]->getBodyNode(0);
        auto* node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
        node->setRelativeTransform(toDart(pose));
        node->getDynamicsAspect()->setFrictionCoeff(def->material.mu); // of a pair, the smaller one
    }
    ground->setMobile(false);
    own->world->addSkeleton(ground);
    return true;
}

void addBodies(DartWorld* own) {
    for (int i = 0; i < own->links.count; ++i) {
        const rgPeerLink& link = own->links.links[i];
        auto skeleton = Skeleton::create("body" + std::to_string(i));
        BodyNode* body = skeleton->createJointAndBodyNodePair<FreeJoint>().second;
        Eigen::Matrix3d moment = toDart(link.moments).asDiagonal();
        body->setInertia(Inertia(link.inertia.mass, Eigen::Vector3d::Zero(), moment));
        own->bodies.push_back(skeleton);
    }
}

void dartReset(void* world) {
    auto* own = static_cast<DartWorld*>(world);
    own->world->reset();
    for (int i = 0; i < own->links.count; ++i) {
        const rgPeerLink& link = own->links.links[i];
        const rgPeerScene* scene = own->scene;
        const double* v =
            scene->v + rgModel_JointRange(scene->model, rgJointId{link.joints[0] + 1}).v;
        rgPose body = scene->poses[link.body], at = rgPoseMultiply(body, link.centre);
        rgVec3 spin = rgRotate(body.q, rgVec(v[3], v[4], v[5]));
        rgVec3 speed =
            rgAdd(rgRotate(body.q, rgVec(v[0], v[1], v[2])), rgCross(spin, rgSub(at.p, body.p)));
        auto* joint = static_cast<FreeJoint*>(own->bodies[static_cast<size_t>(i)]->getJoint(0));
        joint->setTransform(toDart(at));
        joint->setAngularVelocity(toDart(spin));
        joint->setLinearVelocity(toDart(speed));
        own->bodies[static_cast<size_t>(i)]->clearConstraintImpulses();
    }
}

void dartDestroy(void* world) {
    delete static_cast<DartWorld*>(world);
}

void* dartCreate(const rgPeerScene* scene, const char* variant, char* fault, size_t faultSize) {
    (void)variant;
    auto* own = new DartWorld;
    own->scene = scene;
    bool loose = rgPeerLinks_Init(&own->links, scene);
    for (int i = 0; i < own->links.count; ++i) {
        loose = loose && rgPeerLinks_IsLoose(&own->links, scene, i);
    }
    own->world = dart::simulation::World::create();
    own->world->setGravity(toDart(scene->gravity));
    own->world->setTimeStep(scene->timeStep);
    own->world->getConstraintSolver()->setCollisionDetector(
        dart::collision::DARTCollisionDetector::create());
    if (loose) {
        addBodies(own);
    }
    if (!loose || !addShapes(own)) {
        std::snprintf(fault, faultSize, "%s",
                      loose ? "its collision detector has no such shape"
                            : "it is given loose bodies only");
        delete own;
        return nullptr;
    }
    for (auto& body : own->bodies) {
        own->world->addSkeleton(body);
    }
    dartReset(own);
    return own;
}

bool dartStep(void* world) {
    auto* own = static_cast<DartWorld*>(world);
    own->world->step(true);
    return own->bodies.empty() ||
           std::isfinite(own->bodies[0]->getBodyNode(0)->getTransform().translation().sum());
}

void dartLook(void* world, rgPeerLook* look) {
    auto* own = static_cast<DartWorld*>(world);
    *look = rgPeerLook{0, 0, NAN, NAN};
    for (const auto& contact : own->world->getLastCollisionResult().getContacts()) {
        look->contactCount += 1;
        look->penetration = std::fmax(look->penetration, contact.penetrationDepth);
    }
}

bool dartBody(void* world, int body, rgPeerBody* state) {
    auto* own = static_cast<DartWorld*>(world);
    int link = own->links.linkOfBody[body];
    rgPose at = rgPoseIdentity();
    rgSpatial velocity = {};
    double mass = NAN;
    if (link >= 0) {
        const BodyNode* node = own->bodies[static_cast<size_t>(link)]->getBodyNode(0);
        const Eigen::Isometry3d& pose = node->getTransform();
        Eigen::Quaterniond q(pose.linear());
        at = rgPose{fromDart(pose.translation()), rgQuat{q.w(), q.x(), q.y(), q.z()}};
        velocity.linear = fromDart(node->getLinearVelocity());
        velocity.angular = fromDart(node->getAngularVelocity());
        mass = node->getMass();
    }
    rgPeerLinks_Read(&own->links, own->scene, body, at, velocity, mass, state);
    return true;
}

const char* dartVersion(void) {
    return DART_VERSION;
}

const char* const dartVariants[] = {"", nullptr};

} // namespace

extern "C" {
extern const rgPeer rgPeerDart;
const rgPeer rgPeerDart = {"DART",    dartVariants, dartVersion, dartCreate, dartDestroy,
                           dartReset, dartStep,     dartLook,    dartBody,   nullptr};
}
