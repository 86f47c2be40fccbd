// The same MJCF files read by MuJoCo: masses, poses, mass matrix, bias, shapes, joints, actuators,
// loops and key frames agree. Free joints are compared in MuJoCo's coordinates, which are those of
// the time step. Tolerance: 1e-9 relative to the largest entry; meshes 1e-6, being floats there.
#include "model/def.h"
#include "rigor/rigor.h"
#include "source_dir.h"
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgPeer {
    const char* file;
    mjModel* m;
    mjData* d;
    rgModelDef* def;
    rgModel* model;
    rgDynamics* dynamics;
} rgPeer;

static bool rgOpenPeer(rgPeer* peer, const char* path) {
    char error[1000] = "";
    *peer = (rgPeer){.file = path};
    peer->m = mj_loadXML(path, NULL, error, sizeof(error));
    if (peer->m == NULL) {
        print_message("skipped: MuJoCo does not load %s: %s\n", path, error);
        return false;
    }
    peer->m->opt.jacobian = mjJAC_DENSE;
    peer->d = mj_makeData(peer->m);
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResult result = rgLoadModelDef(path, NULL, said, &peer->def);
    if (result == rg_ok) {
        result = rgCompileModel(peer->def, NULL, said, &peer->model);
    }
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(said); ++i) {
        print_error("%s: %s\n", path, rgDiagnostics_Message(said, i).text);
    }
    rgDestroyDiagnostics(said);
    assert_int_equal(result, rg_ok);
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(peer->model);
    dynamics.coordinates = rg_velocityStep;
    assert_int_equal(rgCreateDynamics(peer->model, &dynamics, &peer->dynamics), rg_ok);
    return true;
}

static void rgClosePeer(rgPeer* peer) {
    rgDestroyDynamics(peer->dynamics);
    rgDestroyModel(peer->model);
    rgDestroyModelDef(peer->def);
    mj_deleteData(peer->d);
    mj_deleteModel(peer->m);
}

static void rgCompare(const rgPeer* peer, const char* what, int index, const double* ours,
                      const double* theirs, int count, double tolerance) {
    double largest = 1e-3, error = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(theirs[i]));
        error = fmax(error, fabs(ours[i] - theirs[i]));
    }
    if (!(error <= tolerance * largest)) {
        fail_msg("%s: %s %d: error %g, largest %g (ours %g, theirs %g)", peer->file, what, index,
                 error, largest, ours[0], theirs[0]);
    }
}

static void rgComparePose(const rgPeer* peer, const char* what, int index, rgPose pose,
                          const double* position, const double* matrix) {
    rgMat3 r = rgMat3FromQuat(pose.q);
    const double p[3] = {pose.p.x, pose.p.y, pose.p.z};
    rgCompare(peer, what, index, p, position, 3, 1e-9);
    rgCompare(peer, what, index, r.m, matrix, 9, 1e-9);
}

static void rgCompareBodies(const rgPeer* peer) {
    const mjModel* m = peer->m;
    double ours = 0, theirs = 0;
    assert_int_equal(peer->def->bodyCount, m->nbody - 1);
    for (int i = 1; i < m->nbody; ++i) {
        const rgBodyDef* body = &peer->def->bodies[i - 1];
        const char* name = mj_id2name(m, mjOBJ_BODY, i);
        assert_string_equal(body->name != NULL ? body->name : "", name != NULL ? name : "");
        const double center[3] = {body->inertia.center.x, body->inertia.center.y,
                                  body->inertia.center.z};
        rgVec3 principal = rgSym3Eigen(&body->inertia.moment, NULL);
        double sorted[3] = {m->body_inertia[3 * i], m->body_inertia[3 * i + 1],
                            m->body_inertia[3 * i + 2]};
        for (int a = 0; a < 2; ++a) {
            for (int b = a + 1; b < 3; ++b) {
                if (sorted[b] > sorted[a]) {
                    double swap = sorted[a];
                    sorted[a] = sorted[b];
                    sorted[b] = swap;
                }
            }
        }
        const double moments[3] = {principal.x, principal.y, principal.z};
        bool floats = strstr(peer->file, "inertia.xml") != NULL; // meshes weigh here
        rgCompare(peer, "mass", i, &body->inertia.mass, &m->body_mass[i], 1, floats ? 1e-6 : 1e-12);
        if (m->body_mass[i] > 0) {
            rgCompare(peer, "centre", i, center, m->body_ipos + 3 * i, 3, floats ? 1e-6 : 1e-12);
            rgCompare(peer, "moments", i, moments, sorted, 3, floats ? 1e-5 : 1e-9);
        }
        ours += body->inertia.mass;
        theirs += m->body_mass[i];
    }
    EXPECT_NEAR(ours, theirs, 1e-6 * theirs);
}

static void rgCompareJoints(const rgPeer* peer) {
    const mjModel* m = peer->m;
    double q[512];
    rgModelInfo info = rgModel_Info(peer->model);
    assert_int_equal(info.qCount, m->nq);
    assert_int_equal(info.vCount, m->nv);
    rgModel_NeutralConfiguration(peer->model, q);
    rgCompare(peer, "neutral", 0, q, m->qpos0, m->nq, 1e-12);
    for (int i = 0; i < m->njnt; ++i) {
        const rgJointDef* joint = &peer->def->joints[i];
        int dof = m->jnt_dofadr[i];
        const char* name = mj_id2name(m, mjOBJ_JOINT, i);
        assert_string_equal(joint->name != NULL ? joint->name : "", name != NULL ? name : "");
        assert_int_equal(joint->hasLimits, m->jnt_limited[i]);
        const double ours[] = {joint->damping,   joint->dryFriction, joint->armature,
                               joint->stiffness, joint->lower,       joint->upper};
        const double theirs[] = {m->dof_damping[dof],
                                 m->dof_frictionloss[dof],
                                 m->dof_armature[dof],
                                 m->jnt_stiffness[i],
                                 m->jnt_limited[i] ? m->jnt_range[2 * i] : 0,
                                 m->jnt_limited[i] ? m->jnt_range[2 * i + 1] : 0};
        rgCompare(peer, "joint", i, ours, theirs, 6, 1e-12);
        if (m->jnt_type[i] >= mjJNT_SLIDE) {
            rgCompare(peer, "spring", i, &joint->springReference,
                      &m->qpos_spring[m->jnt_qposadr[i]], 1, 1e-12);
        }
    }
}

static void rgCompareGeoms(const rgPeer* peer) {
    const mjModel* m = peer->m;
    assert_int_equal(peer->def->shapeCount, m->ngeom);
    for (int i = 0; i < m->ngeom; ++i) {
        const rgShapeDef* shape = &peer->def->shapes[i];
        const double friction[3] = {shape->material.mu, shape->material.muTorsion,
                                    shape->material.muRolling};
        const double size[3] = {shape->size.x, shape->size.y, shape->size.z};
        const int counts[] = {[mjGEOM_SPHERE] = 1,   [mjGEOM_CAPSULE] = 2, [mjGEOM_ELLIPSOID] = 3,
                              [mjGEOM_CYLINDER] = 2, [mjGEOM_BOX] = 3,     [mjGEOM_MESH] = 0};
        assert_int_equal(shape->body.index1, m->geom_bodyid[i]);
        assert_int_equal(shape->material.dimension, m->geom_condim[i]);
        assert_int_equal((int)shape->group, m->geom_contype[i]);
        assert_int_equal((int)shape->mask, m->geom_conaffinity[i]);
        // torsion and rolling that no condim asks for are dropped
        int frictions = friction[2] > 0 ? 3 : friction[1] > 0 ? 2 : 1;
        rgCompare(peer, "friction", i, friction, m->geom_friction + 3 * i, frictions, 1e-12);
        rgCompare(peer, "size", i, size, m->geom_size + 3 * i, counts[m->geom_type[i]], 1e-12);
    }
}

// Vertices as they lie in the body, whatever frame the mesh was moved to.
static void rgCompareMesh(const rgPeer* peer, int geom) {
    const mjModel* m = peer->m;
    const rgShapeDef* shape = &peer->def->shapes[geom];
    int mesh = m->geom_dataid[geom];
    const double* p = m->geom_pos + 3 * geom;
    const double* q = m->geom_quat + 4 * geom;
    rgPose theirs = {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
    assert_int_equal(shape->kind, rg_shapeHull);
    for (int i = 0; i < m->mesh_vertnum[mesh]; ++i) {
        const float* v = m->mesh_vert + 3 * (m->mesh_vertadr[mesh] + i);
        rgVec3 there = rgPose_Point(theirs, rgVec(v[0], v[1], v[2]));
        double best = 1e30;
        for (int k = 0; k < shape->mesh->vertexCount; ++k) {
            const double* w = shape->mesh->vertices + 3 * k;
            rgVec3 here = rgPose_Point(shape->pose, rgVec(w[0], w[1], w[2]));
            best = fmin(best, rgLength(rgSub(here, there)));
        }
        if (!(best < 2e-6)) {
            fail_msg("%s: geom %d vertex %d is off by %g", peer->file, geom, i, best);
        }
    }
}

static void rgCompareActuators(const rgPeer* peer) {
    const mjModel* m = peer->m;
    assert_int_equal(peer->def->actuatorCount, m->nu);
    for (int i = 0; i < m->nu; ++i) {
        const rgActuatorDef* a = &peer->def->actuators[i];
        bool biased = m->actuator_biastype[i] == mjBIAS_AFFINE;
        bool affine = m->actuator_gaintype[i] == mjGAIN_AFFINE;
        const double* bias = m->actuator_biasprm + mjNBIAS * i;
        const double* gain = m->actuator_gainprm + mjNGAIN * i;
        assert_int_equal(a->isMuscle, m->actuator_gaintype[i] == mjGAIN_MUSCLE);
        if (a->isMuscle) {
            const double given[] = {a->muscle.range[0], a->muscle.range[1], a->muscle.lmin,
                                    a->muscle.lmax,     a->muscle.vmax,     a->muscle.fpmax,
                                    a->muscle.fvmax};
            const double wanted[] = {gain[0], gain[1], gain[4], gain[5], gain[6], gain[7], gain[8]};
            double force = gain[2] < 0 ? gain[3] / m->actuator_acc0[i] : gain[2];
            rgCompare(peer, "muscle", i, given, wanted, 7, 1e-12);
            rgCompare(peer, "force", i, &a->muscle.force, &force, 1, 1e-9);
            rgCompare(peer, "lengths", i, a->muscle.lengthRange, m->actuator_lengthrange + 2 * i, 2,
                      1e-12);
            continue;
        }
        const double ours[] = {a->gain, a->bias, a->kp, a->kd, a->gainPosition, a->gainVelocity};
        const double theirs[] = {gain[0],
                                 biased ? bias[0] : 0,
                                 biased ? -bias[1] : 0,
                                 biased ? -bias[2] : 0,
                                 affine ? gain[1] : 0,
                                 affine ? gain[2] : 0};
        rgCompare(peer, "actuator", i, ours, theirs, 6, 1e-12);
        rgCompare(peer, "gear", i, a->gear, m->actuator_gear + 6 * i, 6, 1e-12);
        assert_int_equal(a->hasControlRange, m->actuator_ctrllimited[i]);
        assert_int_equal(a->hasForceRange, m->actuator_forcelimited[i]);
        if (a->hasControlRange) {
            rgCompare(peer, "control range", i, &a->controlLower, m->actuator_ctrlrange + 2 * i, 2,
                      1e-12);
        }
    }
}

static void rgCompareEqualities(const rgPeer* peer) {
    const mjModel* m = peer->m;
    assert_int_equal(peer->def->equalityCount, m->neq);
    for (int i = 0; i < m->neq; ++i) {
        const rgEqualityDef* e = &peer->def->equalities[i];
        const double* data = m->eq_data + mjNEQDATA * i;
        const double a[7] = {e->poseA.p.x, e->poseA.p.y, e->poseA.p.z, e->poseA.q.w,
                             e->poseA.q.x, e->poseA.q.y, e->poseA.q.z};
        const double b[3] = {e->poseB.p.x, e->poseB.p.y, e->poseB.p.z};
        if (m->eq_type[i] == mjEQ_CONNECT) {
            rgCompare(peer, "anchor", i, a, data, 3, 1e-9);
            rgCompare(peer, "anchor of B", i, b, data + 3, 3, 1e-9);
        } else if (m->eq_type[i] == mjEQ_WELD) {
            double q[4] = {a[3], a[4], a[5], a[6]};
            double sign = 0;
            for (int k = 0; k < 4; ++k) {
                sign += q[k] * data[6 + k];
            }
            for (int k = 0; k < 4; ++k) {
                q[k] = sign < 0 ? -q[k] : q[k];
            }
            rgCompare(peer, "weld anchor", i, b, data, 3, 1e-9);
            rgCompare(peer, "weld place", i, a, data + 3, 3, 1e-9);
            rgCompare(peer, "weld turn", i, q, data + 6, 4, 1e-9);
        } else {
            rgCompare(peer, "polynomial", i, e->polynomial, data, 5, 1e-12);
        }
    }
}

static void rgComparePoses(const rgPeer* peer) {
    const mjModel* m = peer->m;
    for (int i = 1; i < m->nbody; ++i) {
        rgComparePose(peer, "body", i, rgDynamics_BodyPose(peer->dynamics, (rgBodyId){i}),
                      peer->d->xpos + 3 * i, peer->d->xmat + 9 * i);
    }
    for (int i = 0; i < m->ngeom; ++i) {
        if (m->geom_type[i] != mjGEOM_MESH) {
            rgComparePose(peer, "geom", i, rgDynamics_ShapePose(peer->dynamics, (rgShapeId){i + 1}),
                          peer->d->geom_xpos + 3 * i, peer->d->geom_xmat + 9 * i);
        }
    }
    for (int i = 0; i < m->nsite; ++i) {
        rgComparePose(peer, "site", i, rgDynamics_FramePose(peer->dynamics, (rgFrameId){i + 1}),
                      peer->d->site_xpos + 3 * i, peer->d->site_xmat + 9 * i);
    }
}

// Lengths and moment arms; what a tendon goes through is found to 1e-6 there.
static void rgCompareTendons(const rgPeer* peer) {
    const mjModel* m = peer->m;
    double* row = calloc((size_t)m->nv + 1, sizeof(double));
    assert_int_equal(peer->def->tendonCount, m->ntendon);
    for (int i = 0; i < m->ntendon; ++i) {
        const rgTendonDef* def = &peer->def->tendons[i];
        double length = rgDynamics_TendonLength(peer->dynamics, (rgTendonId){i + 1});
        rgCompare(peer, "tendon length", i, &length, &peer->d->ten_length[i], 1, 1e-9);
        rgDynamics_TendonJacobian(peer->dynamics, (rgTendonId){i + 1}, row);
        rgCompare(peer, "moment arms", i, row, peer->d->ten_J + (size_t)(i * m->nv), m->nv, 1e-6);
        const double ours[] = {def->stiffness, def->damping, def->dryFriction,
                               def->springReference};
        const double theirs[] = {m->tendon_stiffness[i], m->tendon_damping[i],
                                 m->tendon_frictionloss[i], m->tendon_lengthspring[i]};
        rgCompare(peer, "tendon", i, ours, theirs, 4, 1e-9);
    }
    free(row);
}

// M and bias at the state in d->qpos, d->qvel.
static void rgCompareState(const rgPeer* peer) {
    int nv = peer->m->nv;
    double* ours = calloc((size_t)(nv * nv), sizeof(double));
    double* theirs = calloc((size_t)(nv * nv), sizeof(double));
    bool floats = strstr(peer->file, "inertia.xml") != NULL;
    mj_forward(peer->m, peer->d);
    mj_fullM(peer->m, theirs, peer->d->qM);
    rgDynamics_SetState(peer->dynamics, peer->d->qpos, peer->d->qvel);
    rgComparePoses(peer);
    rgCompareTendons(peer);
    rgDynamics_MassMatrix(peer->dynamics, ours);
    rgCompare(peer, "M", 0, ours, theirs, nv * nv, floats ? 1e-6 : 1e-9);
    rgDynamics_Bias(peer->dynamics, ours);
    rgCompare(peer, "bias", 0, ours, peer->d->qfrc_bias, nv, floats ? 1e-6 : 1e-9);
    free(ours);
    free(theirs);
}

static void rgCompareStates(const rgPeer* peer) {
    rgRandom random = {.state = 7};
    for (int k = 0; k < 5; ++k) {
        rgModel_RandomConfiguration(peer->model, (uint64_t)k + 1, peer->d->qpos);
        for (int i = 0; i < peer->m->nv; ++i) {
            peer->d->qvel[i] = rgRandom_Uniform(&random, -2, 2);
        }
        rgCompareState(peer);
    }
}

// Key frames: the same q, and velocities that are the same motion.
static void rgCompareKeys(const rgPeer* peer) {
    const mjModel* m = peer->m;
    assert_int_equal(rgModel_Info(peer->model).keyCount, m->nkey);
    double* v = calloc((size_t)m->nv, sizeof(double));
    for (int i = 0; i < m->nkey; ++i) {
        const rgKeyDef* key = rgModel_Key(peer->model, (rgKeyId){i + 1});
        mj_resetDataKeyframe(m, peer->d, i);
        mj_forward(m, peer->d);
        rgCompare(peer, "key", i, key->q, peer->d->qpos, m->nq, 1e-12);
        rgModel_StepVelocity(peer->model, key->q, key->v, v);
        rgCompare(peer, "key velocity", i, v, peer->d->qvel, m->nv, 1e-12);
        rgCompare(peer, "key control", i, key->control, peer->d->ctrl, m->nu, 1e-12);
        rgDynamics_SetPositions(peer->dynamics, key->q);
        rgComparePoses(peer);
    }
    free(v);
}

static void rgCompareFile(const char* path) {
    rgPeer peer;
    if (!rgOpenPeer(&peer, path)) {
        return;
    }
    rgCompareBodies(&peer);
    rgCompareJoints(&peer);
    rgCompareGeoms(&peer);
    for (int i = 0; i < peer.m->ngeom; ++i) {
        if (peer.m->geom_type[i] == mjGEOM_MESH) {
            rgCompareMesh(&peer, i);
        }
    }
    rgCompareActuators(&peer);
    rgCompareEqualities(&peer);
    rgCompareStates(&peer);
    rgCompareKeys(&peer);
    rgClosePeer(&peer);
}

static int rgCompareFolder(const char* folder) {
    DIR* dir = opendir(folder);
    int count = 0;
    if (dir == NULL) {
        return 0;
    }
    for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        // Included parts, and files that differ in exclusions alone.
        bool part = strcmp(entry->d_name, "part.xml") == 0 ||
                    strcmp(entry->d_name, "joint.xml") == 0 ||
                    strstr(entry->d_name, "_strict") != NULL;
        if (length > 4 && strcmp(entry->d_name + length - 4, ".xml") == 0 && !part) {
            rgCompareFile(path);
            ++count;
        }
    }
    closedir(dir);
    return count;
}

static void test_rules(void** state) {
    (void)state;
    assert_true(rgCompareFolder(RIGOR_SOURCE_DIR "/test/io/mjcf") >= 4);
    assert_true(rgCompareFolder(RIGOR_SOURCE_DIR "/test/io/mjcf/motion") >= 1);
}

static void test_models(void** state) {
    (void)state;
    assert_int_equal(rgCompareFolder(RIGOR_SOURCE_DIR "/models"), 7);
}

static void test_robots(void** state) {
    static const char* const folders[] = {
        "robots/allegro", "robots/cassie", "robots/humanoid", "robots/solo12",
        "robots/talos",   "robots/ur5",    "robots/wall",     "rbd/urdf",
    };
    (void)state;
    if (!rgHaveData("robots") || !rgHaveData("rbd")) {
        skip();
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); ++i) {
        char path[4096];
        snprintf(path, sizeof(path), "%s", rgDataPath(folders[i]));
        assert_true(rgCompareFolder(path) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
