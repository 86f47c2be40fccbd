#include "pile_bullet.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <memory>
#include <vector>

struct PeerPile {
    double timeStep;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
};

PeerPile* peerCreatePile(double timeStep, int iterations) {
    auto* pile = new PeerPile;
    pile->timeStep = timeStep;
    pile->world.setGravity(btVector3(0, 0, -9.81));
    pile->world.getSolverInfo().m_numIterations = iterations;
    return pile;
}

void peerDestroyPile(PeerPile* pile) {
    if (pile == nullptr) {
        return;
    }
    for (auto& body : pile->bodies) {
        pile->world.removeRigidBody(body.get());
    }
    delete pile;
}

static btCollisionShape* peerMakeShape(PeerShape shape, const double* size) {
    if (shape == peerBox) {
        return new btBoxShape(btVector3(size[0], size[1], size[2]));
    }
    if (shape == peerSphere) {
        return new btSphereShape(size[0]);
    }
    if (shape == peerCapsule) {
        return new btCapsuleShapeZ(size[0], 2 * size[1]);
    }
    return new btStaticPlaneShape(btVector3(0, 0, 1), 0);
}

void peerAddBody(PeerPile* pile, PeerShape shape, const double* size, double mass,
                 const double* moments, const double* pose, double mu) {
    btCollisionShape* made = peerMakeShape(shape, size);
    pile->shapes.emplace_back(made);
    if (shape == peerBox) {
        made->setMargin(1e-3); // the default of 4 cm is larger than these bodies
    }
    btVector3 inertia(moments[0], moments[1], moments[2]);
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, made, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(pose[0], pose[1], pose[2]));
    info.m_startWorldTransform.setRotation(btQuaternion(pose[4], pose[5], pose[6], pose[3]));
    info.m_friction = std::sqrt(mu); // a pair has the product
    auto* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    pile->bodies.emplace_back(body);
    pile->world.addRigidBody(body);
}

void peerStepPile(PeerPile* pile) {
    pile->world.stepSimulation(pile->timeStep, 0);
}

void peerReadPose(const PeerPile* pile, int body, double* pose) {
    const btTransform& at = pile->bodies[(size_t)body]->getWorldTransform();
    const btQuaternion q = at.getRotation();
    const double values[7] = {at.getOrigin().x(), at.getOrigin().y(), at.getOrigin().z(), q.w(),
                              q.x(),              q.y(),              q.z()};
    for (int i = 0; i < 7; ++i) {
        pose[i] = values[i];
    }
}

int peerVersion(void) {
    return BT_BULLET_VERSION;
}
