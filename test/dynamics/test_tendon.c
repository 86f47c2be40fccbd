// Ways of tendons: tangents of a circle in closed form, moment arms against differences of lengths,
// and the shortest way by brute force.
#include "dynamics/dynamics.h"
#include "dynamics/wrap.h"
#include "rigor/rigor.h"
#include "source_dir.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static double Way(const rgWrap* wrap, rgVec3 a, rgVec3 b) {
    return wrap->touches
               ? rgLength(rgSub(a, wrap->from)) + wrap->length + rgLength(rgSub(b, wrap->to))
               : rgLength(rgSub(a, b));
}

// Two points at distance d of a circle of radius r, an angle t apart: two tangents and an arc.
static void test_circle(void** state) {
    (void)state;
    const double r = 0.3;
    for (int kind = 0; kind < 2; ++kind) {
        for (double t = 0.2; t < 3.1; t += 0.2) {
            double d = 0.7, tangent = sqrt(d * d - r * r), leave = 2 * acos(r / d);
            rgPose pose = {{1, 2, 3}, rgQuatFromRotationVector(rgVec(0.3, -0.2, 0.5))};
            rgVec3 a = rgPose_Point(pose, rgVec(d, 0, 0));
            rgVec3 b = rgPose_Point(pose, rgVec(d * cos(t), d * sin(t), 0));
            rgVec3 near = rgPose_Point(pose, rgVec(cos(t / 2), sin(t / 2), 0));
            rgVec3 far = rgPose_Point(pose, rgVec(-cos(t / 2), -sin(t / 2), 0));
            rgShapeKind shape = kind == 0 ? rg_shapeSphere : rg_shapeCylinder;
            rgWrap plain = rgWrapAround(shape, r, pose, a, b, NULL);
            rgWrap same = rgWrapAround(shape, r, pose, a, b, &near);
            rgWrap around = rgWrapAround(shape, r, pose, a, b, &far);
            double shortest = t > leave ? 2 * tangent + r * (t - leave) : 2 * d * sin(t / 2);
            assert_true(plain.touches == (t > leave) && around.touches);
            EXPECT_NEAR(Way(&plain, a, b), shortest, 1e-14);
            EXPECT_NEAR(Way(&same, a, b), shortest, 1e-14);
            EXPECT_NEAR(Way(&around, a, b), 2 * tangent + r * (2 * PI - t - leave), 1e-14);
        }
    }
}

// On a cylinder the way unrolls to a straight line.
static void test_helix(void** state) {
    (void)state;
    rgVec3 a = {0.5, 0, -0.2}, b = {-0.5, 0, 0.7}, side = {0, 1, 0};
    rgWrap wrap = rgWrapAround(rg_shapeCylinder, 0.2, rgPoseIdentity(), a, b, &side);
    double flat = 2 * sqrt(0.25 - 0.04) + 0.2 * (PI - 2 * acos(0.4));
    EXPECT_NEAR(Way(&wrap, a, b), hypot(flat, 0.9), 1e-14);
    assert_true(wrap.from.y > 0 && wrap.to.y > 0 && wrap.from.z < wrap.to.z);
}

// Random ends: no polygon around (on that side) is shorter, and those with many corners come near.
static void test_shortest(void** state) {
    (void)state;
    rgRandom random = {.state = 5};
    int touched = 0, through = 0;
    for (int n = 0; n < rgFewer(400); ++n) {
        double r = 1;
        rgVec3 a = {rgRandom_Uniform(&random, -3, 3), rgRandom_Uniform(&random, -3, 3), 0};
        rgVec3 b = {rgRandom_Uniform(&random, -3, 3), rgRandom_Uniform(&random, -3, 3), 0};
        if (hypot(a.x, a.y) < 1.01 || hypot(b.x, b.y) < 1.01) {
            continue;
        }
        rgVec3 inside = {0.1, 0.2, 0};
        rgWrap wrap = rgWrapAround(rg_shapeSphere, r, rgPoseIdentity(), a, b, NULL);
        rgWrap hole = rgWrapAround(rg_shapeSphere, r, rgPoseIdentity(), a, b, &inside);
        // through: the least over points of the circle
        double least = INFINITY, around = INFINITY;
        enum { corners = 720 };
        for (int k = 0; k < corners; ++k) {
            double t = 2 * PI * k / corners;
            rgVec3 x = {cos(t), sin(t), 0};
            least = fmin(least, rgLength(rgSub(a, x)) + rgLength(rgSub(x, b)));
        }
        // around: from any corner to any other, either way, along tangents that do not cross it
        for (int k = 0; wrap.touches && k < corners; ++k) {
            double t = 2 * PI * k / corners;
            rgVec3 x = {cos(t), sin(t), 0};
            for (int m = 0; rgDot(rgSub(a, x), x) >= 0 && m < corners; ++m) {
                double u = 2 * PI * m / corners, turn = fabs(u - t);
                rgVec3 y = {cos(u), sin(u), 0};
                if (rgDot(rgSub(b, y), y) >= 0) {
                    double arc = fmin(turn, 2 * PI - turn);
                    around = fmin(around, rgLength(rgSub(a, x)) + arc + rgLength(rgSub(y, b)));
                }
            }
        }
        if (wrap.touches) {
            double way = Way(&wrap, a, b);
            assert_true(way <= around + 1e-12 && way >= around - 1e-3);
            EXPECT_NEAR(rgLength(wrap.from), 1, 1e-14);
            EXPECT_NEAR(rgDot(rgSub(a, wrap.from), wrap.from), 0, 1e-12);
            EXPECT_NEAR(rgDot(rgSub(b, wrap.to), wrap.to), 0, 1e-12);
            assert_false(hole.touches); // the straight way is through it already
            ++touched;
        } else {
            double way = Way(&hole, a, b);
            assert_true(hole.touches && way <= least + 1e-12 && way >= least - 2e-3);
            // as a mirror would: the directions to both ends have opposite parts along the circle
            rgVec3 x = hole.from, along = {-x.y, x.x, 0};
            double turn =
                rgDot(along, rgNormalize(rgSub(a, x))) + rgDot(along, rgNormalize(rgSub(b, x)));
            EXPECT_NEAR(turn, 0, 1e-10);
            ++through;
        }
    }
    assert_true(touched > 5 && through > 5);
}

// The gradient is that of the length, everywhere but where the way jumps.
static void test_moment_arms(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    const char* file = RIGOR_SOURCE_DIR "/test/io/mjcf/motion/tendon_wrap.xml";
    assert_int_equal(rgLoadModelDef(file, NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamics* d = NULL;
    assert_int_equal(rgCreateDynamics(model, NULL, &d), rg_ok);
    enum { nv = 9, nq = 10 };
    rgModelInfo info = rgModel_Info(model);
    assert_int_equal(info.vCount, nv);
    const double h = 1e-6;
    double q[nq], moved[nq], v[nv], row[nv];
    for (int n = 0; n < 50; ++n) {
        rgModel_RandomConfiguration(model, (uint64_t)n + 1, q);
        for (int t = 1; t <= info.tendonCount; ++t) {
            for (int i = 0; i < nv; ++i) {
                double length[2];
                for (int side = 0; side < 2; ++side) {
                    memset(v, 0, sizeof(v));
                    v[i] = side == 0 ? -h : h;
                    rgModel_Integrate(model, q, v, 1, moved);
                    rgDynamics_SetPositions(d, moved);
                    length[side] = rgDynamics_TendonLength(d, (rgTendonId){t});
                }
                rgDynamics_SetPositions(d, q);
                rgDynamics_TendonJacobian(d, (rgTendonId){t}, row);
                EXPECT_NEAR(row[i], (length[1] - length[0]) / (2 * h), 1e-8);
            }
        }
    }
    EXPECT_NEAR(rgDynamics_TendonLength(d, (rgTendonId){99}), 0, 0);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// A drive over a tendon has its row and its length, times the gear.
static void test_gear(void** state) {
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><site name='s' pos='0 0 2'/><body><joint axis='0 1 0'/>"
        "<geom size='0.1' pos='1 0 0'/><site name='e' pos='1 0 0'/></body></worldbody><tendon>"
        "<spatial name='t'><site site='s'/><site site='e'/></spatial></tendon>"
        "<actuator><motor tendon='t' gear='3'/></actuator></mujoco>";
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgDynamics* d = NULL;
    assert_int_equal(rgParseMjcf(text, strlen(text), "x.xml", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateDynamics(model, NULL, &d), rg_ok);
    double q = 0.3, v = 2, row, drive;
    rgDynamics_SetState(d, &q, &v);
    double length = rgDynamics_TendonRow(d, 0, &row, NULL);
    EXPECT_NEAR(length, hypot(cos(q), 2 + sin(q)), 1e-14);
    EXPECT_NEAR(rgDynamics_DriveRow(d, 0, &drive, NULL), 3 * length, 1e-14);
    EXPECT_NEAR(drive, 3 * row, 1e-14);
    EXPECT_NEAR(rgDynamics_DriveRow(d, 0, NULL, NULL), 3 * length, 1e-14);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Armatures of tendons over joints and along a way count in the kinetic energy.
static void test_energy_of_armature(void** state) {
    (void)state;
    double kinetic[2], rate[2];
    for (int k = 0; k < 2; ++k) {
        char text[1024];
        snprintf(
            text, sizeof(text),
            "<mujoco><worldbody><site name='s'/><body pos='1 0 0'><joint name='a' "
            "axis='0 1 0'/><geom size='.1' mass='1'/><body pos='0 0 1'><joint name='b' "
            "type='slide' axis='1 0 0'/><geom size='.1' mass='2'/><site name='t'/></body></body>"
            "</worldbody><tendon><spatial armature='%g'><site site='s'/><site site='t'/>"
            "</spatial><fixed armature='%g'><joint joint='a' coef='2'/><joint joint='b' "
            "coef='-1'/></fixed></tendon></mujoco>",
            3.0 * k, 5.0 * k);
        rgModelDef* file = NULL;
        rgModel* model = NULL;
        assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &file), rg_ok);
        assert_int_equal(rgCompileModel(file, NULL, NULL, &model), rg_ok);
        rgDynamicsDef def = rgDefaultDynamicsDef(model);
        rgDynamics* d;
        assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
        const double q[2] = {0.3, -0.2}, v[2] = {1.5, 0.7};
        rgDynamics_SetState(d, q, v);
        kinetic[k] = rgDynamics_Energy(d).kinetic;
        for (int t = 0; t < 2; ++t) {
            double J[2];
            rgDynamics_TendonJacobian(d, (rgTendonId){t + 1}, J);
            rate[t] = J[0] * v[0] + J[1] * v[1];
        }
        rgDestroyDynamics(d);
        rgDestroyModel(model);
        rgDestroyModelDef(file);
    }
    EXPECT_NEAR(rate[1], 2 * 1.5 - 0.7, 1e-14);
    EXPECT_NEAR(kinetic[1] - kinetic[0], 1.5 * rate[0] * rate[0] + 2.5 * rate[1] * rate[1], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_circle),
                                       cmocka_unit_test(test_helix),
                                       cmocka_unit_test(test_shortest),
                                       cmocka_unit_test(test_moment_arms),
                                       cmocka_unit_test(test_energy_of_armature),
                                       cmocka_unit_test(test_gear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
