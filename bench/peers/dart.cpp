// DART: loose bodies, and trees of free, revolute, prismatic and ball joints. Boxes, balls and a
// floor, which is a box of 20 m, go through its own collision detector; scenes with other shapes
// through ODE's, where that part of it was found. Its boxed linear complementarity problem is
// solved by Dantzig's method, as it comes; "restitution".
#include "peers/links.h"

#include <dart/collision/CollisionFilter.hpp>
#include <dart/collision/CollisionObject.hpp>
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#ifdef RIGOR_DART_ODE
#include <dart/collision/ode/OdeCollisionDetector.hpp>
#endif
#include <dart/config.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CapsuleShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PlaneShape.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace dart::dynamics;

struct DartWorld {
    const rgPeerScene* scene = nullptr;
    rgPeerLinks links{};
    dart::simulation::WorldPtr world;
    std::vector<SkeletonPtr> trees;
    std::vector<BodyNode*> nodes;            // by link
    std::vector<BodyNode*> firsts;           // likewise: that of its first joint
    std::map<const ShapeFrame*, int> shapes; // from 0
    double restitution = 0;

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
Eigen::Matrix3d toDart(rgQuat q) {
    return Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
}
Eigen::Isometry3d toDart(const rgPose& pose) {
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.linear() = toDart(pose.q);
    at.translation() = toDart(pose.p);
    return at;
}

// ---- shapes

// Pairs of shapes collide as in the model.
struct Filter : dart::collision::CollisionFilter {
    const DartWorld* own;

    explicit Filter(const DartWorld* world) : own(world) {
    }
    bool ignoresCollision(const dart::collision::CollisionObject* a,
                          const dart::collision::CollisionObject* b) const override {
        auto shapeA = own->shapes.find(a->getShapeFrame());
        auto shapeB = own->shapes.find(b->getShapeFrame());
        return shapeA == own->shapes.end() || shapeB == own->shapes.end() ||
               !rgModel_ShapesMeet(own->scene->model, rgShapeId{shapeA->second + 1},
                                   rgShapeId{shapeB->second + 1});
    }
};

// True if DART's own detector has all shapes.
bool isBoxesAndBalls(const rgPeerScene* scene) {
    bool plain = true;
    for (int i = 0; i < scene->info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(scene->model, rgShapeId{i + 1});
        plain = plain && (shape->visualOnly || shape->kind == rg_shapeBox ||
                          shape->kind == rg_shapeSphere || shape->kind == rg_shapePlane);
    }
    return plain;
}

// nullptr: the detector has none like that. Its own has no planes: a box below the surface.
ShapePtr makeShape(const rgShapeDef* shape, bool plain, rgPose* pose) {
    const double floor = 20;
    rgVec3 s = shape->size;
    switch (shape->kind) {
    case rg_shapeBox:
        return std::make_shared<BoxShape>(2 * toDart(s));
    case rg_shapeSphere:
        return std::make_shared<SphereShape>(s.x);
    case rg_shapeCapsule:
        return std::make_shared<CapsuleShape>(s.x, 2 * s.y);
    case rg_shapeCylinder:
        return std::make_shared<CylinderShape>(s.x, 2 * s.y);
    case rg_shapePlane:
        if (!plain) {
            return std::make_shared<PlaneShape>(Eigen::Vector3d(0, 0, 1), 0.0);
        }
        *pose = rgPoseMultiply(*pose, rgPose{rgVec(0, 0, -0.5 * floor), rgQuatIdentity()});
        return std::make_shared<BoxShape>(Eigen::Vector3d(floor, floor, floor));
    default:
        return nullptr;
    }
}

bool addShapes(DartWorld* own, bool plain) {
    auto ground = Skeleton::create("ground");
    BodyNode* fixed = ground->createJointAndBodyNodePair<WeldJoint>().second;
    for (int i = 0; i < own->scene->info.shapeCount; ++i) {
        const rgShapeDef* def = rgModel_Shape(own->scene->model, rgShapeId{i + 1});
        int link;
        rgPose pose = rgPeerLinks_ShapePose(&own->links, own->scene, i, &link);
        if (def->visualOnly) {
            continue;
        }
        ShapePtr shape = makeShape(def, plain, &pose);
        if (shape == nullptr) {
            return false;
        }
        BodyNode* body = link < 0 ? fixed : own->nodes[static_cast<size_t>(link)];
        auto* node = body->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
        node->setRelativeTransform(toDart(pose));
        node->getDynamicsAspect()->setFrictionCoeff(def->material.mu); // of a pair, the smaller one
        node->getDynamicsAspect()->setRestitutionCoeff(std::sqrt(own->restitution)); // the product
        own->shapes[node] = i;
    }
    ground->setMobile(false);
    own->world->addSkeleton(ground);
    return true;
}

// ---- bodies

const rgJointDef* jointOf(const DartWorld* own, const rgPeerLink& link, int k) {
    return rgModel_Joint(own->scene->model, rgJointId{link.joints[k] + 1});
}

template <class J>
std::pair<J*, BodyNode*> addNode(const SkeletonPtr& tree, BodyNode* parent,
                                 const std::string& name) {
    typename J::Properties properties;
    properties.mName = name;
    return tree->createJointAndBodyNodePair<J>(parent, properties,
                                               BodyNode::AspectProperties(name));
}

// A body of DART's per joint, in the frame of the link's centre; those before the last weigh next
// to nothing. False: it has no such joint.
bool addLink(DartWorld* own, int index) {
    const rgPeerLink& def = own->links.links[index];
    SkeletonPtr tree = def.parent < 0 ? Skeleton::create("tree" + std::to_string(index))
                                      : own->nodes[static_cast<size_t>(def.parent)]->getSkeleton();
    BodyNode* parent = def.parent < 0 ? nullptr : own->nodes[static_cast<size_t>(def.parent)];
    rgPose parentCentre = def.parent >= 0 ? own->links.links[def.parent].centre : rgPoseIdentity();
    rgPose relative =
        rgPoseMultiply(rgPoseInvert(parentCentre), rgPoseMultiply(def.pose, def.centre));
    for (int k = 0; k < def.jointCount; ++k) {
        const rgJointDef* joint = jointOf(own, def, k);
        rgPose at = {rgPose_PointBack(def.centre, joint->anchor), rgQuatIdentity()};
        Eigen::Vector3d axis = toDart(rgNormalize(rgRotateBack(def.centre.q, joint->axis)));
        std::string name = std::to_string(index) + "." + std::to_string(k);
        BodyNode* node = nullptr;
        if (joint->kind == rg_jointFree) {
            node = addNode<FreeJoint>(tree, parent, name).second;
        } else if (joint->kind == rg_jointSpherical) {
            node = addNode<BallJoint>(tree, parent, name).second;
        } else if (joint->kind == rg_jointRevolute) {
            auto pair = addNode<RevoluteJoint>(tree, parent, name);
            pair.first->setAxis(axis);
            node = pair.second;
        } else if (joint->kind == rg_jointPrismatic) {
            auto pair = addNode<PrismaticJoint>(tree, parent, name);
            pair.first->setAxis(axis);
            node = pair.second;
        } else {
            return false;
        }
        if (joint->kind != rg_jointFree) {
            rgPose before = k == 0 ? rgPoseMultiply(relative, at) : at;
            node->getParentJoint()->setTransformFromParentBodyNode(toDart(before));
            node->getParentJoint()->setTransformFromChildBodyNode(toDart(at));
        }
        bool last = k == def.jointCount - 1;
        double share = last ? 1 : 1e-9;
        Eigen::Matrix3d moment = (share * toDart(def.moments)).asDiagonal();
        node->setInertia(Inertia(share * def.inertia.mass, Eigen::Vector3d::Zero(), moment));
        own->firsts[static_cast<size_t>(index)] =
            k == 0 ? node : own->firsts[static_cast<size_t>(index)];
        parent = node;
    }
    own->nodes[static_cast<size_t>(index)] = parent;
    if (def.parent < 0) {
        own->trees.push_back(tree);
    }
    return parent != nullptr;
}

void resetFree(DartWorld* own, int index) {
    const rgPeerLink& link = own->links.links[index];
    const rgPeerScene* scene = own->scene;
    const double* v = scene->v + rgModel_JointRange(scene->model, rgJointId{link.joints[0] + 1}).v;
    rgPose body = scene->poses[link.body], at = rgPoseMultiply(body, link.centre);
    rgVec3 spin = rgRotate(body.q, rgVec(v[3], v[4], v[5]));
    rgVec3 speed =
        rgAdd(rgRotate(body.q, rgVec(v[0], v[1], v[2])), rgCross(spin, rgSub(at.p, body.p)));
    auto* joint = static_cast<FreeJoint*>(own->nodes[static_cast<size_t>(index)]->getParentJoint());
    joint->setTransform(toDart(at));
    joint->setAngularVelocity(toDart(spin));
    joint->setLinearVelocity(toDart(speed));
}

void resetJoints(DartWorld* own, int index) {
    const rgPeerLink& def = own->links.links[index];
    BodyNode* node = own->firsts[static_cast<size_t>(index)];
    for (int k = 0; k < def.jointCount; ++k) {
        rgJointRange range = rgModel_JointRange(own->scene->model, rgJointId{def.joints[k] + 1});
        const double *q = own->scene->q + range.q, *v = own->scene->v + range.v;
        Joint* joint = node->getParentJoint();
        if (jointOf(own, def, k)->kind == rg_jointSpherical) {
            rgQuat turn = rgQuatMultiply(
                rgQuatMultiply(rgQuatConjugate(def.centre.q), rgQuat{q[0], q[1], q[2], q[3]}),
                def.centre.q);
            joint->setPositions(BallJoint::convertToPositions(toDart(turn)));
            joint->setVelocities(toDart(rgRotateBack(def.centre.q, rgVec(v[0], v[1], v[2]))));
        } else {
            joint->setPosition(0, q[0] - jointOf(own, def, k)->reference);
            joint->setVelocity(0, v[0]);
        }
        node = k + 1 < def.jointCount ? node->getChildBodyNode(0) : node;
    }
}

// ---- the interface

void dartReset(void* world) {
    auto* own = static_cast<DartWorld*>(world);
    own->world->reset();
    for (int i = 0; i < own->links.count; ++i) {
        if (jointOf(own, own->links.links[i], 0)->kind == rg_jointFree) {
            resetFree(own, i);
        } else {
            resetJoints(own, i);
        }
    }
    for (auto& tree : own->trees) {
        tree->clearConstraintImpulses();
    }
}

void dartDestroy(void* world) {
    delete static_cast<DartWorld*>(world);
}

// nullptr with a reason; what was made goes with the world.
const char* build(DartWorld* own) {
    const rgPeerScene* scene = own->scene;
    bool fits = rgPeerLinks_Init(&own->links, scene), plain = isBoxesAndBalls(scene);
    if (!fits || !rgPeerScene_IsPlain(scene) || scene->info.equalityCount > 0) {
        return "it is given no limits, dampers or servos of joints, and no loops";
    }
    auto* solver = own->world->getConstraintSolver();
    if (plain) {
        solver->setCollisionDetector(dart::collision::DARTCollisionDetector::create());
    } else {
#ifdef RIGOR_DART_ODE
        solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
#else
        return "its collision detector has no such shape";
#endif
    }
    solver->getCollisionOption().collisionFilter = std::make_shared<Filter>(own);
    own->nodes.resize(static_cast<size_t>(own->links.count));
    own->firsts.resize(static_cast<size_t>(own->links.count));
    for (int i = 0; i < own->links.count; ++i) {
        if (!addLink(own, i)) {
            return "it has no such joint";
        }
    }
    if (!addShapes(own, plain)) {
        return "its collision detectors have no such shape";
    }
    for (auto& tree : own->trees) {
        own->world->addSkeleton(tree);
    }
    return nullptr;
}

void* dartCreate(const rgPeerScene* scene, const char* variant, char* fault, size_t faultSize) {
    auto* own = new DartWorld;
    own->scene = scene;
    own->restitution = rgPeerSetting(variant, "restitution", 0);
    own->world = dart::simulation::World::create();
    own->world->setGravity(toDart(scene->gravity));
    own->world->setTimeStep(scene->timeStep);
    const char* reason = build(own);
    if (reason != nullptr) {
        std::snprintf(fault, faultSize, "%s", reason);
        delete own;
        return nullptr;
    }
    dartReset(own);
    return own;
}

bool dartStep(void* world) {
    auto* own = static_cast<DartWorld*>(world);
    own->world->step(true);
    return own->nodes.empty() || std::isfinite(own->nodes[0]->getTransform().translation().sum());
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
        const BodyNode* node = own->nodes[static_cast<size_t>(link)];
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
const rgPeer rgPeerDart = {"DART",   dartVariants, dartVersion, dartCreate, dartDestroy, dartReset,
                           dartStep, dartLook,     dartBody,    nullptr,    nullptr};
}
