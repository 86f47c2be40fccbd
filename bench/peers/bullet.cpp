// Bullet in double precision: trees as btMultiBody, loose bodies as btRigidBody. Settings: the
// number of iterations of its sequential impulses. No sleeping, no damping; friction of a pair is
// that of the model; "restitution", or "stiffness" and "damping" of loose bodies. Scenes of loose
// bodies are solved as by its world of rigid bodies; everything else as it comes.
#include "peers/links.h"

#include "cli.h"

#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

const double RG_BULLET_MARGIN =
    1e-3; // of boxes and hulls [m]; its 4 cm are larger than most shapes

btVector3 toBullet(rgVec3 v) {
    return btVector3(v.x, v.y, v.z);
}
btQuaternion toBullet(rgQuat q) {
    return btQuaternion(q.x, q.y, q.z, q.w);
}
btTransform toBullet(const rgPose& pose) {
    return btTransform(toBullet(pose.q), toBullet(pose.p));
}
rgVec3 fromBullet(const btVector3& v) {
    return rgVec(v.x(), v.y(), v.z());
}
rgPose fromBullet(const btTransform& at) {
    btQuaternion q = at.getRotation();
    return rgPose{fromBullet(at.getOrigin()), rgQuat{q.w(), q.x(), q.y(), q.z()}};
}

// Shapes that one collision object of Bullet's has.
struct Part {
    const rgPeerScene* scene;
    std::vector<int> shapes; // from 0
};

bool partsMeet(const Part* a, const Part* b) {
    for (int i : a->shapes) {
        for (int j : b->shapes) {
            if (rgModel_ShapesMeet(a->scene->model, rgShapeId{i + 1}, rgShapeId{j + 1})) {
                return true;
            }
        }
    }
    return false;
}

btScalar pairFriction(const btCollisionObject* a, const btCollisionObject* b) {
    const Part* partA = static_cast<const Part*>(a->getUserPointer());
    const Part* partB = static_cast<const Part*>(b->getUserPointer());
    return rgModel_PairMaterial(partA->scene->model, rgShapeId{partA->shapes[0] + 1},
                                rgShapeId{partB->shapes[0] + 1})
        .mu;
}

struct Filter : btOverlapFilterCallback {
    bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override {
        auto* objectA = static_cast<btCollisionObject*>(a->m_clientObject);
        auto* objectB = static_cast<btCollisionObject*>(b->m_clientObject);
        return partsMeet(static_cast<const Part*>(objectA->getUserPointer()),
                         static_cast<const Part*>(objectB->getUserPointer()));
    }
};

struct Place {
    btRigidBody* loose = nullptr;
    btMultiBody* tree = nullptr;
    int link = -1;  // of the tree; -1: its base
    int first = -1; // link of its first joint
};

struct BulletWorld {
    const rgPeerScene* scene = nullptr;
    rgPeerLinks links{};
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    Filter filter;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btTriangleMesh>> meshes;
    std::vector<std::unique_ptr<Part>> parts;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btMultiBody>> trees;
    std::vector<std::unique_ptr<btMultiBodyLinkCollider>> colliders;
    std::vector<std::unique_ptr<btMultiBodyConstraint>> loops;
    std::vector<Place> places; // by link
    double restitution = 0, stiffness = 0, damping = 0;

    void setMaterial(btCollisionObject* object) const {
        object->setRestitution(std::sqrt(restitution)); // of a pair it takes the product
    }

    ~BulletWorld() {
        for (auto& loop : loops) {
            world.removeMultiBodyConstraint(loop.get());
        }
        for (auto& collider : colliders) {
            world.removeCollisionObject(collider.get());
        }
        for (auto& tree : trees) {
            world.removeMultiBody(tree.get());
        }
        for (auto& body : bodies) {
            world.removeRigidBody(body.get());
        }
        rgPeerLinks_Free(&links);
    }
};

// ---- shapes

btCollisionShape* makeTriangles(BulletWorld* own, const rgShapeDef* shape) {
    auto* mesh = new btTriangleMesh;
    own->meshes.emplace_back(mesh);
    auto vertex = [](const double* v) { return btVector3(v[0], v[1], v[2]); };
    if (shape->kind == rg_shapeMesh) {
        for (int i = 0; i < shape->mesh->triangleCount; ++i) {
            const int* t = shape->mesh->triangles + 3 * i;
            mesh->addTriangle(vertex(shape->mesh->vertices + 3 * t[0]),
                              vertex(shape->mesh->vertices + 3 * t[1]),
                              vertex(shape->mesh->vertices + 3 * t[2]));
        }
    } else {
        const rgHeightFieldData* field = shape->heightField;
        auto at = [field](int x, int y) {
            return btVector3(field->sizeX * (2.0 * x / (field->columnCount - 1) - 1),
                             field->sizeY * (2.0 * y / (field->rowCount - 1) - 1),
                             field->heights[y * field->columnCount + x]);
        };
        for (int y = 0; y + 1 < field->rowCount; ++y) {
            for (int x = 0; x + 1 < field->columnCount; ++x) {
                mesh->addTriangle(at(x, y), at(x + 1, y), at(x + 1, y + 1));
                mesh->addTriangle(at(x, y), at(x + 1, y + 1), at(x, y + 1));
            }
        }
    }
    return new btBvhTriangleMeshShape(mesh, true);
}

// nullptr: it has none like that.
btCollisionShape* makeShape(BulletWorld* own, const rgShapeDef* shape) {
    rgVec3 s = shape->size;
    switch (shape->kind) {
    case rg_shapeBox: {
        auto* box = new btBoxShape(toBullet(s));
        box->setMargin(RG_BULLET_MARGIN);
        return box;
    }
    case rg_shapeSphere:
        return new btSphereShape(s.x);
    case rg_shapeCapsule:
        return new btCapsuleShapeZ(s.x, 2 * s.y);
    case rg_shapeCylinder: {
        auto* cylinder = new btCylinderShapeZ(btVector3(s.x, s.x, s.y));
        cylinder->setMargin(RG_BULLET_MARGIN);
        return cylinder;
    }
    case rg_shapePlane:
        return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
    case rg_shapeHull: {
        auto* hull = new btConvexHullShape(shape->mesh->vertices, shape->mesh->vertexCount,
                                           3 * sizeof(double));
        hull->setMargin(RG_BULLET_MARGIN); // added outside; without one it sinks in
        return hull;
    }
    case rg_shapeMesh:
    case rg_shapeHeightField:
        return makeTriangles(own, shape);
    default:
        return nullptr;
    }
}

// All shapes of a link as one, in the frame of its centre; a shape of the world alone. nullptr with
// an empty part: none.
btCollisionShape* makeCompound(BulletWorld* own, int link, int only, Part* part, bool* known) {
    auto* compound = new btCompoundShape;
    own->shapes.emplace_back(compound);
    for (int i = 0; i < own->scene->info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(own->scene->model, rgShapeId{i + 1});
        int owner;
        rgPose pose = rgPeerLinks_ShapePose(&own->links, own->scene, i, &owner);
        if (owner != link || shape->visualOnly || (only >= 0 && i != only)) {
            continue;
        }
        btCollisionShape* made = makeShape(own, shape);
        *known = *known && made != nullptr;
        if (made != nullptr) {
            own->shapes.emplace_back(made);
            compound->addChildShape(toBullet(pose), made);
            part->shapes.push_back(i);
        }
    }
    return compound;
}

// One shape that is where its body is needs no compound.
btCollisionShape* simplest(btCollisionShape* shape) {
    auto* compound = static_cast<btCompoundShape*>(shape);
    if (compound->getNumChildShapes() != 1) {
        return compound;
    }
    const btTransform& at = compound->getChildTransform(0);
    bool same = at.getOrigin().length() < 1e-12 && at.getRotation().getAngleShortestPath() < 1e-9;
    return same ? compound->getChildShape(0) : compound;
}

Part* addPart(BulletWorld* own) {
    own->parts.emplace_back(new Part{own->scene, {}});
    return own->parts.back().get();
}

// ---- bodies

bool addLoose(BulletWorld* own, int link) {
    const rgPeerLink& def = own->links.links[link];
    bool known = true;
    Part* part = addPart(own);
    btCollisionShape* shape = simplest(makeCompound(own, link, -1, part, &known));
    btRigidBody::btRigidBodyConstructionInfo info(def.inertia.mass, nullptr, shape,
                                                  toBullet(def.moments));
    auto* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    body->setUserPointer(part);
    own->setMaterial(body);
    if (own->stiffness > 0) { // of a pair it takes them in series; the rest is rigid
        body->setContactStiffnessAndDamping(own->stiffness, own->damping);
    }
    own->bodies.emplace_back(body);
    own->places[link].loose = body;
    if (!part->shapes.empty()) {
        own->world.addRigidBody(body);
    }
    return known;
}

bool addStatics(BulletWorld* own) {
    bool known = true;
    for (int i = 0; i < own->scene->info.shapeCount; ++i) {
        int link;
        rgPose pose = rgPeerLinks_ShapePose(&own->links, own->scene, i, &link);
        const rgShapeDef* def = rgModel_Shape(own->scene->model, rgShapeId{i + 1});
        if (link >= 0 || def->visualOnly) {
            continue;
        }
        Part* part = addPart(own);
        part->shapes.push_back(i);
        btCollisionShape* shape = makeShape(own, def);
        known = known && shape != nullptr;
        if (shape == nullptr) {
            continue;
        }
        own->shapes.emplace_back(shape);
        btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, shape, btVector3(0, 0, 0));
        info.m_startWorldTransform = toBullet(pose);
        auto* body = new btRigidBody(info);
        body->setUserPointer(part);
        own->setMaterial(body);
        own->bodies.emplace_back(body);
        own->world.addRigidBody(body);
    }
    return known;
}

// The root link of the tree that a link belongs to.
int rootOf(const BulletWorld* own, int link) {
    while (own->links.links[link].parent >= 0) {
        link = own->links.links[link].parent;
    }
    return link;
}

const rgJointDef* jointOf(const BulletWorld* own, const rgPeerLink& link, int k) {
    return rgModel_Joint(own->scene->model, rgJointId{link.joints[k] + 1});
}

bool isFree(const BulletWorld* own, int link) {
    const rgPeerLink& def = own->links.links[link];
    return def.jointCount == 1 && jointOf(own, def, 0)->kind == rg_jointFree;
}

// A link of Bullet's per joint, all in the frame of the link's centre; those before the last weigh
// nothing.
bool setupJoints(BulletWorld* own, btMultiBody* tree, int index, int* next) {
    const rgPeerLink& def = own->links.links[index];
    Place& place = own->places[index];
    // the parent's centre (the world's origin for a fixed base) and this centre, joints at
    // reference
    rgPose parentCentre = def.parent >= 0 ? own->links.links[def.parent].centre : rgPoseIdentity();
    rgPose here = rgPoseMultiply(def.pose, def.centre); // in the parent body's frame
    rgPose relative = rgPoseMultiply(rgPoseInvert(parentCentre), here); // in the parent's centre
    int parent = def.parent >= 0 ? own->places[def.parent].link : -1;
    for (int k = 0; k < def.jointCount; ++k) {
        const rgJointDef* joint = jointOf(own, def, k);
        bool last = k == def.jointCount - 1;
        int link = (*next)++;
        rgVec3 anchor = rgPose_PointBack(def.centre, joint->anchor);
        btVector3 axis = toBullet(rgNormalize(rgRotateBack(def.centre.q, joint->axis)));
        btQuaternion turn =
            k == 0 ? toBullet(rgQuatConjugate(relative.q)) : btQuaternion(0, 0, 0, 1);
        btVector3 pivot = toBullet(k == 0 ? rgPose_Point(relative, anchor) : anchor);
        btVector3 toCentre = -toBullet(anchor);
        double mass = last ? def.inertia.mass : 0;
        btVector3 moments = last ? toBullet(def.moments) : btVector3(0, 0, 0);
        if (joint->kind == rg_jointRevolute) {
            tree->setupRevolute(link, mass, moments, parent, turn, axis, pivot, toCentre, true);
        } else if (joint->kind == rg_jointPrismatic) {
            tree->setupPrismatic(link, mass, moments, parent, turn, axis, pivot, toCentre, true);
        } else if (joint->kind == rg_jointSpherical) {
            tree->setupSpherical(link, mass, moments, parent, turn, pivot, toCentre, true);
        } else {
            return false;
        }
        place.first = k == 0 ? link : place.first;
        place.link = parent = link;
    }
    place.tree = tree;
    return true;
}

void addCollider(BulletWorld* own, btMultiBody* tree, int link, Part* part,
                 btCollisionShape* shape) {
    auto* collider = new btMultiBodyLinkCollider(tree, link);
    collider->setCollisionShape(shape);
    collider->setUserPointer(part);
    own->colliders.emplace_back(collider);
    if (link >= 0) {
        tree->getLink(link).m_collider = collider;
    } else {
        tree->setBaseCollider(collider);
    }
    own->world.addCollisionObject(collider, btBroadphaseProxy::DefaultFilter,
                                  btBroadphaseProxy::AllFilter);
}

bool addTree(BulletWorld* own, int root) {
    bool floats = isFree(own, root), known = true;
    int count = 0, next = 0;
    for (int i = 0; i < own->links.count; ++i) {
        bool mine = rootOf(own, i) == root;
        count += mine && !(floats && i == root) ? own->links.links[i].jointCount : 0;
    }
    const rgPeerLink& def = own->links.links[root];
    auto* tree =
        new btMultiBody(count, floats ? def.inertia.mass : 0,
                        floats ? toBullet(def.moments) : btVector3(0, 0, 0), !floats, false);
    own->trees.emplace_back(tree);
    for (int i = 0; i < own->links.count; ++i) {
        if (rootOf(own, i) != root) {
            continue;
        }
        if (floats && i == root) {
            own->places[i].tree = tree;
        } else if (!setupJoints(own, tree, i, &next)) {
            return false;
        }
    }
    tree->finalizeMultiDof();
    tree->setLinearDamping(0);
    tree->setAngularDamping(0);
    tree->setCanSleep(false);
    tree->setHasSelfCollision(true); // the filter knows who meets whom
    own->world.addMultiBody(tree);
    for (int i = 0; i < own->links.count; ++i) {
        if (rootOf(own, i) == root) {
            Part* part = addPart(own);
            btCollisionShape* shape = simplest(makeCompound(own, i, -1, part, &known));
            if (!part->shapes.empty()) {
                addCollider(own, tree, own->places[i].link, part, shape);
            }
        }
    }
    return known;
}

// Points of two bodies that coincide.
bool addLoops(BulletWorld* own) {
    for (int i = 0; i < own->scene->info.equalityCount; ++i) {
        const rgEqualityDef* loop = rgModel_Equality(own->scene->model, rgEqualityId{i + 1});
        if (loop->disabled) {
            continue;
        }
        int a = loop->bodyA.index1 > 0 ? own->links.linkOfBody[loop->bodyA.index1 - 1] : -1;
        int b = loop->bodyB.index1 > 0 ? own->links.linkOfBody[loop->bodyB.index1 - 1] : -1;
        if (loop->kind != rg_equalityConnect || a < 0 || b < 0 || own->places[a].tree == nullptr ||
            own->places[b].tree == nullptr) {
            return false;
        }
        auto point = [own](int link, rgBodyId body, rgPose at) {
            rgPose inLink = rgModel_BodyLink(own->scene->model, body).pose;
            bool itself = own->links.links[link].body == body.index1 - 1;
            rgPose inBody = itself ? at : rgPoseMultiply(inLink, at);
            return toBullet(rgPose_PointBack(own->links.links[link].centre, inBody.p));
        };
        auto* made = new btMultiBodyPoint2Point(
            own->places[a].tree, own->places[a].link, own->places[b].tree, own->places[b].link,
            point(a, loop->bodyA, loop->poseA), point(b, loop->bodyB, loop->poseB));
        made->setMaxAppliedImpulse(1e9);
        own->loops.emplace_back(made);
        own->world.addMultiBodyConstraint(made);
    }
    return true;
}

// ---- the interface

void resetLoose(BulletWorld* own, int link) {
    const rgPeerLink& def = own->links.links[link];
    const rgPeerScene* scene = own->scene;
    const double* v = scene->v + rgModel_JointRange(scene->model, rgJointId{def.joints[0] + 1}).v;
    rgPose body = scene->poses[def.body], at = rgPoseMultiply(body, def.centre);
    rgVec3 spin = rgRotate(body.q, rgVec(v[3], v[4], v[5]));
    rgVec3 speed =
        rgAdd(rgRotate(body.q, rgVec(v[0], v[1], v[2])), rgCross(spin, rgSub(at.p, body.p)));
    Place& place = own->places[link];
    if (place.loose != nullptr) {
        place.loose->setWorldTransform(toBullet(at));
        place.loose->setInterpolationWorldTransform(toBullet(at));
        place.loose->setLinearVelocity(toBullet(speed));
        place.loose->setAngularVelocity(toBullet(spin));
        place.loose->clearForces();
    } else {
        place.tree->setBasePos(toBullet(at.p));
        place.tree->setWorldToBaseRot(toBullet(at.q).inverse());
        place.tree->setBaseVel(toBullet(speed));
        place.tree->setBaseOmega(toBullet(spin));
    }
}

void resetJoints(BulletWorld* own, int index) {
    const rgPeerLink& def = own->links.links[index];
    const Place& place = own->places[index];
    for (int k = 0; k < def.jointCount; ++k) {
        rgJointRange range = rgModel_JointRange(own->scene->model, rgJointId{def.joints[k] + 1});
        const double *q = own->scene->q + range.q, *v = own->scene->v + range.v;
        int link = place.first + k;
        if (jointOf(own, def, k)->kind == rg_jointSpherical) {
            // the link's axes are the principal ones
            rgQuat turn = rgQuatMultiply(
                rgQuatMultiply(rgQuatConjugate(def.centre.q), rgQuat{q[0], q[1], q[2], q[3]}),
                def.centre.q);
            rgVec3 rate = rgRotateBack(def.centre.q, rgVec(v[0], v[1], v[2]));
            btScalar position[4] = {turn.x, turn.y, turn.z, turn.w};
            btScalar velocity[3] = {rate.x, rate.y, rate.z};
            place.tree->setJointPosMultiDof(link, position);
            place.tree->setJointVelMultiDof(link, velocity);
        } else {
            place.tree->setJointPos(link, q[0] - jointOf(own, def, k)->reference);
            place.tree->setJointVel(link, v[0]);
        }
    }
}

void updateTree(btMultiBody* tree) {
    btAlignedObjectArray<btQuaternion> turns;
    btAlignedObjectArray<btVector3> places;
    tree->forwardKinematics(turns, places);
    tree->updateCollisionObjectWorldTransforms(turns, places);
}

void bulletReset(void* world) {
    auto* own = static_cast<BulletWorld*>(world);
    for (int i = 0; i < own->links.count; ++i) {
        if (isFree(own, i)) {
            resetLoose(own, i);
        } else {
            resetJoints(own, i);
        }
    }
    for (auto& tree : own->trees) {
        tree->clearForcesAndTorques();
        tree->clearConstraintForces();
        updateTree(tree.get());
    }
    // contacts that it remembers belong to another run
    auto* objects = &own->world.getCollisionObjectArray();
    for (int i = 0; i < objects->size(); ++i) {
        own->world.getBroadphase()->getOverlappingPairCache()->cleanProxyFromPairs(
            (*objects)[i]->getBroadphaseHandle(), &own->dispatcher);
    }
    own->broadphase.resetPool(&own->dispatcher);
    own->solver.reset();
}

void bulletDestroy(void* world) {
    delete static_cast<BulletWorld*>(world);
}

void* bulletCreate(const rgPeerScene* scene, const char* variant, char* fault, size_t faultSize) {
    if (!rgPeerScene_IsPlain(scene)) {
        std::snprintf(fault, faultSize, "it is given no limits, dampers or servos of joints");
        return nullptr;
    }
    auto* own = new BulletWorld;
    own->scene = scene;
    bool known = rgPeerLinks_Init(&own->links, scene), joints = true;
    own->places.resize(static_cast<size_t>(own->links.count));
    // On a plane it finds one corner per step, and forgets it when it slides by 2 % of the body.
    own->configuration.setPlaneConvexMultipointIterations();
    own->world.setGravity(toBullet(scene->gravity));
    own->world.getSolverInfo().m_numIterations = std::atoi(variant);
    own->restitution = rgPeerSetting(variant, "restitution", 0);
    own->stiffness = rgPeerSetting(variant, "stiffness", 0);
    own->damping = rgPeerSetting(variant, "damping", 0);
    own->world.getPairCache()->setOverlapFilterCallback(&own->filter);
    gCalculateCombinedFrictionCallback = pairFriction;
    known = known && addStatics(own);
    for (int i = 0; i < own->links.count; ++i) {
        if (rgPeerLinks_IsLoose(&own->links, scene, i)) {
            known = addLoose(own, i) && known;
        } else if (own->links.links[i].parent < 0) {
            joints = addTree(own, i) && joints;
        }
    }
    joints = joints && addLoops(own);
    if (own->trees.empty()) {
        // A world of multibodies asks for two directions of friction, which is a cone between
        // links but a pyramid between rigid bodies: up to 1.4 mu. One of rigid bodies alone does
        // not, and friction follows the velocity.
        own->world.getSolverInfo().m_solverMode &= ~SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    if (!known || !joints) {
        std::snprintf(fault, faultSize, "%s",
                      known ? "it has no such joint, loop or shape" : "it has no such shape");
        delete own;
        return nullptr;
    }
    bulletReset(own);
    return own;
}

bool bulletStep(void* world) {
    auto* own = static_cast<BulletWorld*>(world);
    own->world.stepSimulation(own->scene->timeStep, 0);
    btVector3 p = own->trees.empty() ? btVector3(0, 0, 0) : own->trees[0]->getBasePos();
    return std::isfinite(p.x() + p.y() + p.z());
}

void bulletLook(void* world, rgPeerLook* look) {
    auto* own = static_cast<BulletWorld*>(world);
    *look = rgPeerLook{0, 0, NAN, NAN};
    for (int i = 0; i < own->dispatcher.getNumManifolds(); ++i) {
        btPersistentManifold* manifold = own->dispatcher.getManifoldByIndexInternal(i);
        for (int k = 0; k < manifold->getNumContacts(); ++k) {
            double distance = manifold->getContactPoint(k).getDistance();
            look->contactCount += distance <= 0;
            look->penetration = std::fmax(look->penetration, -distance);
        }
    }
}

bool bulletBody(void* world, int body, rgPeerBody* state) {
    auto* own = static_cast<BulletWorld*>(world);
    int link = own->links.linkOfBody[body];
    rgPose at = rgPoseIdentity();
    rgSpatial velocity = {};
    double mass = NAN;
    if (link >= 0) {
        const Place& place = own->places[link];
        if (place.loose != nullptr) {
            at = fromBullet(place.loose->getWorldTransform());
            velocity.linear = fromBullet(place.loose->getLinearVelocity());
            velocity.angular = fromBullet(place.loose->getAngularVelocity());
            mass = 1 / place.loose->getInvMass();
        } else {
            btMultiBody* tree = place.tree;
            if (place.link < 0) {
                at = fromBullet(tree->getBaseWorldTransform());
                velocity.linear = fromBullet(tree->getBaseVel());
                velocity.angular = fromBullet(tree->getBaseOmega());
                mass = tree->getBaseMass();
            } else {
                at = fromBullet(tree->getLink(place.link).m_cachedWorldTransform);
                mass = tree->getLinkMass(place.link);
            }
        }
    }
    rgPeerLinks_Read(&own->links, own->scene, body, at, velocity, mass, state);
    return true;
}

const char* bulletVersion(void) {
    static char text[16];
    std::snprintf(text, sizeof(text), "%d.%02d", BT_BULLET_VERSION / 100, BT_BULLET_VERSION % 100);
    return text;
}

const char* const bulletVariants[] = {"50 iterations", "10 iterations", "1000 iterations", nullptr};

} // namespace

extern "C" {
extern const rgPeer rgPeerBullet;
const rgPeer rgPeerBullet = {"Bullet",      bulletVariants, bulletVersion, bulletCreate,
                             bulletDestroy, bulletReset,    bulletStep,    bulletLook,
                             bulletBody,    nullptr,        nullptr};
}
