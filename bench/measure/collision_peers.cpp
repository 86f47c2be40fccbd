// FCL (with its own solver and with libccd) and Bullet behind plain C calls.
#include "collision_peers.h"

#include <memory>
#include <vector>

#include <fcl/fcl.h>

#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

struct PeerHull {
    std::vector<double> vertices;
    std::shared_ptr<fcl::Convexd> fcl;
    std::unique_ptr<btConvexHullShape> bullet;
};

extern "C" PeerHull* peerCreateHull(int vertexCount, const double* vertices, int faceCount,
                                    const int* polygons, int polygonSize) {
    auto* hull = new PeerHull;
    hull->vertices.assign(vertices, vertices + 3 * vertexCount);
    auto points = std::make_shared<std::vector<fcl::Vector3d>>();
    for (int i = 0; i < vertexCount; ++i) {
        points->emplace_back(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
    }
    auto faces = std::make_shared<std::vector<int>>(polygons, polygons + polygonSize);
    hull->fcl = std::make_shared<fcl::Convexd>(points, faceCount, faces);
    hull->bullet = std::make_unique<btConvexHullShape>();
    for (int i = 0; i < vertexCount; ++i) {
        btVector3 p(btScalar(vertices[3 * i]), btScalar(vertices[3 * i + 1]),
                    btScalar(vertices[3 * i + 2]));
        hull->bullet->addPoint(p, false);
    }
    hull->bullet->recalcLocalAabb();
    hull->bullet->setMargin(0);
    return hull;
}

extern "C" void peerDestroyHull(PeerHull* hull) {
    delete hull;
}

static fcl::Transform3d fclPose(const double* p) {
    fcl::Transform3d t = fcl::Transform3d::Identity();
    t.linear() = fcl::Quaterniond(p[3], p[4], p[5], p[6]).toRotationMatrix();
    t.translation() = fcl::Vector3d(p[0], p[1], p[2]);
    return t;
}

static double fclDistance(PeerHull* a, const double* poseA, PeerHull* b, const double* poseB,
                          fcl::GJKSolverType solver) {
    fcl::DistanceRequestd request(true);
    request.gjk_solver_type = solver;
    request.distance_tolerance = 1e-6;
    fcl::DistanceResultd result;
    fcl::distance(a->fcl.get(), fclPose(poseA), b->fcl.get(), fclPose(poseB), request, result);
    return result.min_distance;
}

extern "C" double peerCcdDistance(PeerHull* a, const double* poseA, PeerHull* b,
                                  const double* poseB) {
    return fclDistance(a, poseA, b, poseB, fcl::GST_LIBCCD);
}

extern "C" double peerFclDistance(PeerHull* a, const double* poseA, PeerHull* b,
                                  const double* poseB) {
    return fclDistance(a, poseA, b, poseB, fcl::GST_INDEP);
}

static btTransform bulletPose(const double* p) {
    return btTransform(btQuaternion(btScalar(p[4]), btScalar(p[5]), btScalar(p[6]), btScalar(p[3])),
                       btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])));
}

extern "C" double peerBulletDistance(PeerHull* a, const double* poseA, PeerHull* b,
                                     const double* poseB) {
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver depth;
    btGjkPairDetector detector(a->bullet.get(), b->bullet.get(), &simplex, &depth);
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA = bulletPose(poseA);
    input.m_transformB = bulletPose(poseB);
    btPointCollector output;
    detector.getClosestPoints(input, output, nullptr);
    return output.m_distance;
}

struct PeerCrowd {
    std::vector<std::unique_ptr<fcl::CollisionObjectd>> objects;
    fcl::DynamicAABBTreeCollisionManagerd manager;
};

extern "C" PeerCrowd* peerCreateCrowd(int count, const double* centers, double half) {
    auto* crowd = new PeerCrowd;
    auto box = std::make_shared<fcl::Boxd>(2 * half, 2 * half, 2 * half);
    std::vector<fcl::CollisionObjectd*> all;
    for (int i = 0; i < count; ++i) {
        fcl::Transform3d t = fcl::Transform3d::Identity();
        t.translation() = fcl::Vector3d(centers[3 * i], centers[3 * i + 1], centers[3 * i + 2]);
        crowd->objects.push_back(std::make_unique<fcl::CollisionObjectd>(box, t));
        all.push_back(crowd->objects.back().get());
    }
    crowd->manager.registerObjects(all);
    crowd->manager.setup();
    return crowd;
}

extern "C" void peerDestroyCrowd(PeerCrowd* crowd) {
    delete crowd;
}

static bool countPair(fcl::CollisionObjectd* a, fcl::CollisionObjectd* b, void* data) {
    *static_cast<int*>(data) += a->getAABB().overlap(b->getAABB());
    return false;
}

extern "C" int peerStepCrowd(PeerCrowd* crowd, const double* centers) {
    for (size_t i = 0; i < crowd->objects.size(); ++i) {
        crowd->objects[i]->setTranslation(
            fcl::Vector3d(centers[3 * i], centers[3 * i + 1], centers[3 * i + 2]));
        crowd->objects[i]->computeAABB();
    }
    crowd->manager.update();
    int pairs = 0;
    crowd->manager.collide(&pairs, countPair);
    return pairs;
}
