// Derivatives of a step: against central differences of whole steps at smooth points, the adjoint
// against the matrices, identities of mechanics, and finite answers wherever a state may be.
#include "base/base.h"
#include "scene.h"

#define HEAD                                                                                       \
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"                      \
    "<geom type='plane' size='0 0 1' friction='0.5'/>"

// Pendulums of hinges and balls, with springs and dampers of all stiffnesses.
static const char rgChain[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<body pos='0 0 2'><joint type='hinge' axis='0 1 0' damping='0.1' stiffness='3'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.4 0 0' mass='1'/>"
    "<body pos='0.4 0 0'><joint type='ball' damping='0.02' stiffness='2'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.1 0.3 0' mass='0.7'/>"
    "<body pos='0.1 0.3 0'><joint type='slide' axis='1 2 0' damping='1' stiffness='2000'/>"
    "<geom type='box' size='0.05 0.03 0.02' mass='0.3'/>"
    "<body pos='0 0.1 0'><joint type='hinge' axis='0 1 1' damping='0.2' armature='0.01'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0 0 -0.3' mass='0.2'/>"
    "</body></body></body></body></worldbody></mujoco>";

// A free body of another moment about each axis, and one with its centre beside its origin.
static const char rgTops[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<body pos='0 0 5'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='0.01 0.02 0.027'/>"
    "</body><body pos='3 0 5'><freejoint/><inertial pos='0.1 0.02 -0.05' mass='2' "
    "diaginertia='0.03 0.02 0.04'/></body></worldbody></mujoco>";

static const char rgCube[] =
    HEAD "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
         "</worldbody></mujoco>";

static const char rgBrick[] =
    HEAD "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.2 0.05 0.1' mass='1'/></body>"
         "</worldbody></mujoco>";

static const char rgBall[] =
    HEAD "<body pos='0 0 0.11'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"
         "<body pos='1 0 0.32' euler='0.2 1.2 0'><freejoint/><geom type='capsule' size='0.1 0.2' "
         "mass='1'/></body>"
         "</worldbody></mujoco>";

// A leg that stands on a point, with a position servo of limited force.
static const char rgLeg[] =
    HEAD "<body pos='0 0 0.62'><freejoint/><geom type='box' size='0.1 0.1 0.05' mass='3'/>"
         "<body pos='0 0 0'><joint name='hip' axis='0 1 0' damping='0.1'/>"
         "<geom type='capsule' size='0.02' fromto='0 0 0 0.1 0 -0.3' mass='0.5'/>"
         "<body pos='0.1 0 -0.3'><joint name='knee' axis='0 1 0' range='-1 1' limited='true'/>"
         "<geom type='capsule' size='0.02' fromto='0 0 0 -0.1 0 -0.3' mass='0.3'/>"
         "</body></body></body></worldbody><actuator>"
         "<position joint='hip' kp='50' kv='1' forcerange='-8 8'/>"
         "<position joint='knee' kp='80' kv='2'/></actuator></mujoco>";

// Limits, dry friction, joint couplings and a tendon of joints.
static const char rgCoupled[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<body pos='0 0 2'><joint name='a' axis='0 1 0' range='-0.2 0.1' limited='true'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.4 0 0' mass='1'/>"
    "<body pos='0.4 0 0'><joint name='b' axis='0 1 0' frictionloss='0.3'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.3 0 0' mass='0.5'/>"
    "<body pos='0.3 0 0'><joint name='c' axis='0 1 0' damping='0.01'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.2 0 0' mass='0.3'/>"
    "<body pos='0.2 0 0'><joint name='d' axis='1 1 0' frictionloss='2'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0 0.2 0' mass='0.2'/>"
    "</body></body></body></body></worldbody>"
    "<tendon><fixed name='t' stiffness='30' damping='0.5' springlength='0.1'>"
    "<joint joint='a' coef='1'/><joint joint='b' coef='-0.7'/></fixed></tendon>"
    "<equality><joint joint1='c' joint2='b' polycoef='0 0.5 0.3 0 0'/></equality></mujoco>";

// A loop of bodies with hinges and a ball, closed by a connect, and a weld.
static const char rgLoops[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<body pos='0 0 1'><joint axis='0 1 0' damping='0.1'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.3 0 0' mass='1'/>"
    "<body name='B' pos='0.3 0 0'><joint type='ball'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0 0 -0.4' mass='0.7'/></body></body>"
    "<body name='C' pos='0.3 0 0.2'><joint axis='0 1 0.2'/><joint axis='1 0 0'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.2 0 0.4' mass='0.5'/></body>"
    "<body name='D' pos='2 0 1'><joint axis='0 1 0'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.3 0 0' mass='1'/>"
    "<body name='E' pos='0.3 0 0'><joint axis='0 1 0'/><joint axis='0 0 1'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.3 0 0' mass='1'/></body></body>"
    "</worldbody><equality><connect body1='B' body2='C' anchor='0 0 -0.4'/></equality></mujoco>";

// Shapes that touch each other: corners, edges and round sides.
static const char rgHeap[] =
    HEAD "<body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><joint type='hinge' axis='0 0 1'/>"
         "<geom type='box' size='0.3 0.3 0.1' mass='2'/></body>"
         "<body pos='0.02 0.01 0.38' euler='0.3 0.2 0.1'><freejoint/>"
         "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
         "<body pos='-0.2 0 0.27'><freejoint/><geom type='sphere' size='0.06' mass='0.5'/></body>"
         "</worldbody></mujoco>";

// A box that leans by less than a hundred thousandth of a radian on another: whose face has the
// normal changes within the increment of differences of the narrow phase.
static const char rgLeaning[] =
    HEAD "<body pos='0 0 0.5'><joint type='slide' axis='1 0 0'/><joint axis='0 1 0'/>"
         "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
         "<body pos='0.11 0.02 0.6999' quat='1 2e-6 0 0'><freejoint/>"
         "<geom type='box' size='0.1 0.09 0.1' mass='1' friction='0' priority='1'/></body>"
         "</worldbody></mujoco>";

// A capsule that lies beside the top of another on springs, one end lower than the other: the
// normal that its two points share turns with every motion across.
static const char rgLying[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<geom type='capsule' fromto='-1 0 0.1 1 0 0.1' size='0.1' friction='0'/>"
    "<body pos='0 0.05 0.24145' quat='1 1e-3 5e-5 1e-6'><freejoint/>"
    "<geom type='capsule' fromto='-0.2 0 0 0.2 0 0' size='0.05' mass='1' friction='0'/></body>"
    "</worldbody></mujoco>";

// Two bodies and the world in a chain of points and a weld.
static const char rgLinked[] =
    "<mujoco><option timestep='0.001'/><worldbody>"
    "<body name='A' pos='0 0 1'><freejoint/><inertial pos='0.02 0.01 0' mass='1' "
    "diaginertia='0.01 0.02 0.027'/></body>"
    "<body name='B' pos='0.3 0 1'><freejoint/><inertial pos='0 0 0' mass='0.7' "
    "diaginertia='0.02 0.01 0.025'/></body>"
    "<body name='C' pos='0.5 0 1'><freejoint/><inertial pos='0 0 0' mass='0.4' "
    "diaginertia='0.02 0.01 0.02'/></body></worldbody><equality>"
    "<connect body1='A' anchor='0 0 0.2'/><connect body1='A' body2='B' anchor='0.15 0 0'/>"
    "<weld body1='B' body2='C'/></equality></mujoco>";

// Tendons along points, with a spring, a motor and a servo; forces on sites.
static const char rgArms[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
    "<site name='root' pos='0.1 0.05 2.2'/>"
    "<body pos='0 0 2'><joint name='a' axis='0 1 0' damping='0.1'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.4 0 0' mass='1'/>"
    "<site name='middle' pos='0.2 0.03 0.06'/>"
    "<body pos='0.4 0 0'><joint name='b' type='ball' damping='0.02'/>"
    "<geom type='capsule' size='0.03' fromto='0 0 0 0.3 0.1 0' mass='0.5'/>"
    "<site name='end' pos='0.25 0.05 0.05'/></body></body>"
    "<body pos='0 2 2'><freejoint/><geom type='box' size='0.1 0.2 0.05' mass='1'/>"
    "<site name='nozzle' pos='0.1 0.1 0' euler='0.1 0.2 0.3'/></body></worldbody>"
    "<tendon><spatial name='long' stiffness='40' damping='0.5' springlength='0.3'>"
    "<site site='root'/><site site='middle'/><site site='end'/></spatial>"
    "<spatial name='short'><site site='root'/><site site='end'/></spatial></tendon>"
    "<actuator><motor tendon='short' gear='2'/><position tendon='short' kp='30' kv='1'/>"
    "<motor site='nozzle' gear='0 0 3 0 0 0.5'/><position site='end' refsite='root' kp='20' kv='1' "
    "gear='1 0 0 0 0 0'/></actuator></mujoco>";

typedef struct rgStudy {
    const char* text;
    const char* name;
    double speed;     // of random velocities [m/s] or [rad/s]
    double stiffness; // of contacts
    int steps;        // per start
    int least;        // smooth states among them
    rgIntegrator integrator;
    double restitution;
    double increment;             // of differences; 0: 1e-6
    double byTrend;               // least of what v+ changes by
    double positions, velocities; // tolerances of q+ and v+; 0: 1e-4, 1e-6
} rgStudy;

static rgWorld* rgOpen(const rgStudy* study, rgModel** model) {
    rgLoadDef load = rgDefaultLoadDef();
    rgModelDef* def = NULL;
    assert_int_equal(
        rgParseModelDef(study->text, strlen(study->text), "study.xml", &load, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, model), rg_ok);
    rgDestroyModelDef(def);
    rgWorldDef world = rgDefaultWorldDef();
    world.contact.tolerance = 1e-12;
    world.judgeInterval = 1;
    world.integrator = study->integrator;
    world.restitution = study->restitution > 0 ? study->restitution : NAN;
    world.stiffness = study->stiffness;
    world.damping = study->stiffness > 0 ? 20 : 0;
    rgWorld* out = NULL;
    assert_int_equal(rgCreateWorld(*model, &world, NULL, &out), rg_ok);
    return out;
}

static void rgStart(rgWorld* world, const rgStudy* study, uint64_t seed) {
    rgRandom random = {seed};
    int n, nq, nu;
    double q[64], v[64], u[16];
    rgWorld_Velocities(world, &n);
    rgWorld_Control(world, &nu);
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){0}), rg_ok);
    const double* start = rgWorld_Positions(world, &nq);
    memcpy(q, start, (size_t)nq * sizeof(double));
    for (int i = 0; i < n; ++i) {
        v[i] = rgRandom_Uniform(&random, -study->speed, study->speed);
    }
    for (int i = 0; i < nu; ++i) {
        u[i] = rgRandom_Uniform(&random, -0.2, 0.2);
    }
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(world, u), rg_ok);
}

enum { rg_most = 40 * 130 };

static double rgApart(const double* x, const double* y, int rows, int width, int first, int end) {
    double most = 0, size = 0;
    for (int i = 0; i < rows; ++i) {
        for (int j = first; j < end; ++j) {
            most = fmax(most, fabs(x[i * width + j] - y[i * width + j]));
            size = fmax(size, fabs(y[i * width + j]));
        }
    }
    return size > 0 ? most / size : most;
}

static double rgFarthest(const double* x, const double* y, int rows, int width, int first,
                         int end) {
    double most = 0;
    for (int i = 0; i < rows; ++i) {
        for (int j = first; j < end; ++j) {
            most = fmax(most, fabs(x[i * width + j] - y[i * width + j]));
        }
    }
    return most;
}

// Differences that do not depend on their increment: no contact changes its mode within.
static bool rgDiffers(rgWorld* world, const rgDerivativeDef* def, double increment, double* q,
                      double* v, double* t, int count) {
    rgDerivativeDef other = *def;
    rgDerivatives out;
    other.differences = true;
    other.increment = increment;
    rgResult result = rgWorld_Derivatives(world, &other, &out);
    assert_int_equal(result, rg_ok);
    memcpy(q, out.nextQ, (size_t)count * sizeof(double));
    memcpy(v, out.nextV, (size_t)count * sizeof(double));
    if (t != NULL) {
        memcpy(t, out.nextTrend, 2 * (size_t)count * sizeof(double));
    }
    return true;
}

// Blocks of columns apart: those by position are a thousand times as large as those by force.
static bool rgAgree(const double* a, const double* b, int n, const rgDerivatives* d,
                    double tolerance) {
    return rgApart(a, b, n, d->columnCount, 0, n) < tolerance &&
           rgApart(a, b, n, d->columnCount, n, 2 * n) < tolerance;
}

// What is foreseen next is half of this change, of the last one, or nothing. Where they are as
// large as each other, as in free fall, it has a kink.
static bool rgForesees(const double* trend, int n, const rgDerivatives* d) {
    int width = d->columnCount;
    for (int i = 0; i < n; ++i) {
        const double *row = trend + i * width, *change = trend + (n + i) * width;
        bool none = true, now = true, last = true;
        for (int j = 0; j < width; ++j) {
            none = none && fabs(row[j]) <= 1e-7;
            now = now && fabs(row[j] - 0.5 * change[j]) <= 1e-7 * (1 + fabs(row[j]));
            last = last && fabs(row[j] - (j == d->trendColumn + n + i ? 0.5 : 0)) <= 1e-7;
        }
        if (!none && !now && !last) {
            return false;
        }
    }
    return true;
}

static bool rgCompare(rgWorld* world, const rgStudy* study, int step, double* byTrend) {
    static double q[rg_most], v[rg_most], q1[rg_most], v1[rg_most], q2[rg_most], v2[rg_most];
    static double t[2 * rg_most], t1[2 * rg_most], zeros[rg_most];
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by |= rg_byForce | rg_byTrend;
    rgDerivatives d;
    int n;
    rgWorld_Velocities(world, &n);
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    int count = n * d.columnCount;
    assert_true(count <= rg_most);
    memcpy(q, d.nextQ, (size_t)count * sizeof(double));
    memcpy(v, d.nextV, (size_t)count * sizeof(double));
    memcpy(t, d.nextTrend, 2 * (size_t)count * sizeof(double));
    if (d.betweenModes > 0 || d.touching > 0 || d.frozen > 0 || d.margin < 1e-2) {
        return false;
    }
    double h = study->increment > 0 ? study->increment : 1e-6;
    rgDiffers(world, &def, h, q1, v1, t1, count);
    rgDiffers(world, &def, 2 * h, q2, v2, NULL, count);
    if (!rgAgree(v1, v2, n, &d, 1e-6) || !rgAgree(q1, q2, n, &d, 1e-4)) {
        return false;
    }
    assert_true(study->integrator == rg_integratorEuler || rgForesees(t, n, &d));
    int firsts[6] = {0, n, 2 * n, d.forceColumn, d.trendColumn, d.columnCount};
    for (int k = 0; k < 5; ++k) {
        int at = n * d.columnCount;
        int first = firsts[k], end = firsts[k + 1], width = d.columnCount;
        double errorT = rgFarthest(t + at, t1 + at, n, width, first, end);
        if (k == 4) { // the trend has little influence: errors are relative to one
            double error = rgFarthest(v, v1, n, width, first, end);
            double moved = rgFarthest(q, q1, n, width, first, end); // as positions are projected
            *byTrend = fmax(*byTrend, rgFarthest(zeros, v, n, width, first, end));
            assert_true(error < 1e-7 && errorT < 1e-7 && moved < 1e-6);
            break;
        }
        double size = rgFarthest(zeros, v1, n, width, first, end);
        double positions = study->positions > 0 ? study->positions : 1e-4;
        double velocities = study->velocities > 0 ? study->velocities : 1e-6;
        if (!(errorT <= velocities * size)) {
            print_message("%s step %d block %d: trend %.2e\n", study->name, step, k, errorT / size);
        }
        assert_true(errorT <= velocities * size);
        double errorV = rgApart(v, v1, n, d.columnCount, firsts[k], firsts[k + 1]);
        double errorQ = rgApart(q, q1, n, d.columnCount, firsts[k], firsts[k + 1]);
        // Differences of positions have the tolerance of their projection.
        if (!(errorV < velocities) || !(errorQ < positions)) {
            print_message("%s step %d block %d: v %.2e q %.2e, margin %.1e\n", study->name, step, k,
                          errorV, errorQ, d.margin);
        }
        assert_true(errorV < velocities);
        assert_true(errorQ < positions);
    }
    return true;
}

static void rgStudyOf(const rgStudy* study) {
    rgModel* model = NULL;
    rgWorld* world = rgOpen(study, &model);
    double byTrend = 0;
    int smooth = 0, starts = rgFewer(3) > 1 ? 3 : 1;
    for (int k = 0; k < starts; ++k) {
        rgStart(world, study, 11 + (uint64_t)k);
        for (int i = 0; i < study->steps; ++i) {
            smooth += i % 7 == 3 && rgCompare(world, study, i, &byTrend);
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
    }
    if (getenv("RIGOR_SHOW") != NULL) {
        print_message("%s: %d smooth, by trend %.1e\n", study->name, smooth, byTrend);
    }
    assert_true(starts < 3 || (smooth >= study->least && byTrend >= study->byTrend));
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

#define STUDY(function, ...)                                                                       \
    static void function(void** state) {                                                           \
        (void)state;                                                                               \
        rgStudy study = {__VA_ARGS__};                                                             \
        rgStudyOf(&study);                                                                         \
    }

STUDY(test_chain, rgChain, "chain", 2, .steps = 60, .least = 10)
STUDY(test_chain_euler, rgChain, "chain, Euler", 2, .steps = 60, .least = 10,
      .integrator = rg_integratorEuler)
STUDY(test_fast_chain, rgChain, "fast chain", 60, .steps = 20, .least = 3, .increment = 1e-5,
      .velocities = 1e-5)
STUDY(test_fast_chain_euler, rgChain, "fast chain, Euler", 60, .steps = 20, .least = 3,
      .increment = 1e-5, .integrator = rg_integratorEuler)
STUDY(test_fast_leg, rgLeg, "fast leg", 15, .steps = 150, .least = 10, .increment = 1e-5)
STUDY(test_fast_coupled, rgCoupled, "fast coupled", 40, .steps = 60, .least = 5, .increment = 1e-5,
      .positions = 1e-3, .velocities = 1e-4)
STUDY(test_fast_loops, rgLoops, "fast loops", 40, .steps = 40, .least = 3, .increment = 1e-5)
STUDY(test_linked, rgLinked, "linked", 3, .steps = 60, .least = 5, .byTrend = 1e-4)
STUDY(test_arms, rgArms, "arms", 2, .steps = 60, .least = 10, .increment = 1e-5)
STUDY(test_tops, rgTops, "tops", 20, .steps = 60, .least = 10)
STUDY(test_cube, rgCube, "cube", 2, .steps = 200, .least = 10)
STUDY(test_cube_rebounds, rgCube, "cube that rebounds", 3, .steps = 200, .least = 10,
      .restitution = 0.5)
STUDY(test_cube_on_springs, rgCube, "cube on springs", 1, 2e4, .steps = 200, .least = 10,
      .increment = 1e-5)
STUDY(test_brick_on_springs, rgBrick, "brick on springs", 3, 2e4, .steps = 200, .least = 5,
      .increment = 1e-5)
STUDY(test_ball, rgBall, "balls", 1, .steps = 150, .least = 2)
STUDY(test_leg, rgLeg, "leg", 1, .steps = 150, .least = 10, .byTrend = 1e-3)
STUDY(test_coupled, rgCoupled, "coupled", 1, .steps = 150, .least = 10, .byTrend = 1e-3)
STUDY(test_loops, rgLoops, "loops", 1, .steps = 60, .least = 5, .increment = 1e-5, .byTrend = 1e-3)
STUDY(test_heap, rgHeap, "heap", 0.5, .steps = 150, .least = 3)

static void test_leaning_box(void** state) {
    (void)state;
    static double v[3][rg_most];
    rgStudy study = {rgLeaning, "leaning", 1, .steps = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    double q[9], rates[8] = {0.1, 0.01, 0.3, 0.2, -0.5, 1e-9, 1e-9, 3};
    memcpy(q, rgWorld_Positions(world, NULL), sizeof(q));
    assert_int_equal(rgWorld_SetState(world, q, rates), rg_ok);
    rgDerivativeDef def = rgDefaultDerivativeDef();
    rgDerivatives d;
    def.by = rg_byPosition;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    memcpy(v[0], d.nextV, 64 * sizeof(double));
    assert_true(d.rowCount > 0);
    assert_int_equal(d.touching + d.frozen + d.betweenModes, 0);
    rgDiffers(world, &def, 1e-6, v[1], v[1], NULL, 64);
    rgDiffers(world, &def, 5e-7, v[2], v[2], NULL, 64);
    assert_true(rgApart(v[1], v[2], 8, 8, 0, 8) < 1e-5);
    EXPECT_NEAR(rgApart(v[0], v[1], 8, 8, 0, 8), 0, 1e-4);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// ---- sensors

// The leg with a sensor of every kind that depends on the motion, and a muscle-free tendon.
static const char rgSensing[] =
    "<mujoco><compiler angle='radian'/><option timestep='0.001' magnetic='0.1 0.2 "
    "-0.5'/><worldbody>"
    "<geom name='floor' type='plane' size='0 0 1' friction='0.5'/>"
    "<body name='base' pos='0 0 0.62'><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.05' mass='3'/><site name='eye' pos='0.1 0 0.02' "
    "euler='0.1 1.2 0.3'/>"
    "<body name='thigh'><joint name='hip' axis='0 1 0' damping='0.1'/>"
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.1 0 -0.3' mass='0.5'/>"
    "<site name='thigh' pos='0.05 0.02 -0.1' euler='0.3 0.2 0.1'/>"
    "<body name='shin' pos='0.1 0 -0.3'><joint name='knee' axis='0 1 0' range='-1 0.002' "
    "limited='true'/><geom type='capsule' size='0.02' fromto='0 0 0 -0.1 0 -0.3' mass='0.3'/>"
    "<site name='shin' euler='0.2 0.5 0'/>"
    "<body pos='0.1 0.2 0'><joint name='ball' type='ball' damping='0.01'/>"
    "<geom type='sphere' size='0.03' mass='0.1' pos='0.02 0 0'/></body>"
    "</body></body></body></worldbody><tendon><fixed name='t'><joint joint='hip' coef='1'/>"
    "<joint joint='knee' coef='-0.7'/></fixed></tendon><actuator>"
    "<position name='a' joint='hip' kp='50' kv='1' forcerange='-8 8'/>"
    "<position name='b' joint='knee' kp='80' kv='2'/><motor name='c' tendon='t' gear='3'/>"
    "</actuator><sensor><accelerometer site='shin'/><velocimeter site='shin'/><gyro site='eye'/>"
    "<force site='thigh'/><torque site='shin'/><touch site='shin'/><magnetometer site='eye'/>"
    "<rangefinder site='eye'/><jointpos joint='hip'/><jointvel joint='knee'/>"
    "<tendonpos tendon='t'/><tendonvel tendon='t'/><actuatorpos actuator='b'/>"
    "<actuatorvel actuator='c'/><actuatorfrc actuator='a'/><actuatorfrc actuator='b'/>"
    "<actuatorfrc actuator='c'/><jointactuatorfrc joint='knee'/><tendonactuatorfrc tendon='t'/>"
    "<ballquat joint='ball'/><ballangvel joint='ball'/><jointlimitpos joint='knee'/>"
    "<jointlimitvel joint='knee'/><jointlimitfrc joint='knee'/>"
    "<framepos objtype='site' objname='shin' reftype='site' refname='eye'/>"
    "<framequat objtype='body' objname='shin'/><framexaxis objtype='site' objname='thigh'/>"
    "<framelinvel objtype='site' objname='shin' reftype='site' refname='eye'/>"
    "<frameangvel objtype='site' objname='shin'/><framelinacc objtype='site' objname='eye'/>"
    "<frameangacc objtype='site' objname='shin'/><subtreecom body='thigh'/>"
    "<subtreelinvel body='base'/><subtreeangmom body='thigh'/><e_potential/><e_kinetic/>"
    "<contact geom1='floor' data='force torque dist pos normal' num='2'/>"
    "<contact geom1='floor' data='force pos' reduce='netforce'/></sensor></mujoco>";

// Rows of sensors have units of their own: the largest difference of each over its largest slope.
static int rgCompareSensors(rgWorld* world) {
    static double own[200 * 120], other[2][200 * 120];
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by |= rg_byForce | rg_byTrend;
    def.sensors = true;
    rgDerivatives d;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    if (d.betweenModes + d.frozen > 0 || d.margin < 0.01) {
        return 0;
    }
    int count = d.sensorCount * d.columnCount, n = d.velocityColumn, compared = 0;
    bool touching = d.touching > 0; // a kink by position
    assert_true(count > 0 && count <= RG_COUNT(own));
    memcpy(own, d.sensor, (size_t)count * sizeof(double));
    static double bars[200], back[120], sums[120];
    memset(sums, 0, sizeof(sums));
    for (int i = 0; i < count; ++i) {
        bars[i / d.columnCount] = cos(i / d.columnCount);
        sums[i % d.columnCount] += cos(i / d.columnCount) * d.sensor[i];
    }
    rgStepGradient gradient = {.sensorBar = bars};
    int columnCount = d.columnCount;
    assert_int_equal(rgWorld_Adjoint(world, &def, &gradient, back, NULL), rg_ok);
    for (int j = 0; j < columnCount; ++j) {
        EXPECT_NEAR(back[j], sums[j], 1e-12 * fabs(sums[j]));
    }
    def.differences = true;
    for (int k = 0; k < 2; ++k) {
        def.increment = k == 0 ? 1e-6 : 2e-6;
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
        memcpy(other[k], d.sensor, (size_t)count * sizeof(double));
    }
    int firsts[] = {0, n, d.controlColumn, d.forceColumn, d.trendColumn};
    const double* now = rgWorld_Sensors(world, NULL);
    for (int s = 0; s < d.sensorCount; ++s) {
        const double *a = own + s * d.columnCount, *b = other[0] + s * d.columnCount,
                     *c = other[1] + s * d.columnCount;
        for (int k = touching; k + 1 < RG_COUNT(firsts); ++k) {
            double size = 0, error = 0, kink = 0;
            for (int j = firsts[k]; j < firsts[k + 1]; ++j) {
                size = fmax(size, fabs(b[j]));
                error = fmax(error, fabs(a[j] - b[j]));
                kink = fmax(kink, fabs(c[j] - b[j]));
            }
            if (kink > 1e-5 * size) {
                continue; // also where rounding is all there is
            }
            double noise = 1e-8 * (1 + fabs(now[s])); // of a reading over the increment
            if (!(error <= 1e-4 * size + noise)) {
                print_message("number %d of sensors, block %d: %.2e of %.2e\n", s, k, error, size);
            }
            assert_true(error <= 1e-4 * size + noise);
            compared += size > 0;
        }
    }
    return compared;
}

static void test_sensors(void** state) {
    (void)state;
    rgStudy study = {rgSensing, "sensing", 0.5, .steps = 150};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    int compared = 0;
    rgStart(world, &study, 5);
    for (int i = 0; i < study.steps; ++i) {
        compared += i % 7 == 3 ? rgCompareSensors(world) : 0;
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    assert_true(compared > 1000);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

static void test_lying_capsule(void** state) {
    (void)state;
    static double v[3][rg_most];
    rgStudy study = {rgLying, "lying", 1, 1e4, .steps = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    const double rates[6] = {0.1, -0.03, -0.1, 0.1, 1e-4, 1e-5};
    assert_int_equal(rgWorld_SetState(world, NULL, rates), rg_ok);
    for (int i = 0; i < 6; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    rgDerivativeDef def = rgDefaultDerivativeDef();
    rgDerivatives d;
    def.by = rg_byPosition;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    memcpy(v[0], d.nextV, 36 * sizeof(double));
    assert_int_equal(d.rowCount, 6);
    assert_int_equal(d.touching + d.frozen + d.betweenModes, 0);
    rgDiffers(world, &def, 1e-6, v[1], v[1], NULL, 36);
    rgDiffers(world, &def, 5e-7, v[2], v[2], NULL, 36);
    assert_true(rgApart(v[1], v[2], 6, 6, 0, 6) < 1e-6);
    // Gaps of the two ends change along normals that are a little apart: 2e-4.
    EXPECT_NEAR(rgApart(v[0], v[1], 6, 6, 0, 6), 0, 1e-3);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// ---- a body that is carried around

// A box on a plate that moves and turns, faster than friction carries it.
static void test_carried(void** state) {
    (void)state;
    rgStudy study = {.text = "<mujoco><option timestep='0.001'/><worldbody>"
                             "<body name='plate' mocap='true' pos='0 0 1'>"
                             "<geom type='box' size='1 1 0.1' friction='0.4'/></body>"
                             "<body pos='0.3 0.1 1.2'><freejoint/>"
                             "<geom type='box' size='0.1 0.1 0.1' mass='1' friction='0.4'/></body>"
                             "</worldbody></mujoco>",
                     .name = "carried",
                     .stiffness = 2e4,
                     .speed = 0.3,
                     .increment = 1e-5};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    double byTrend = 0;
    int smooth = 0;
    rgStart(world, &study, 2);
    rgSpatial velocity = {{0.5, 0.2, 0.3}, {0.4, 0.3, 6}};
    assert_int_equal(rgWorld_SetBodyVelocity(world, (rgBodyId){1}, velocity), rg_ok);
    for (int i = 0; i < 150; ++i) {
        smooth += i % 7 == 3 && rgCompare(world, &study, i, &byTrend);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    if (getenv("RIGOR_SHOW") != NULL) {
        print_message("carried: %d smooth\n", smooth);
    }
    assert_true(smooth > 2);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// ---- controls through activations, as far as they act within the step

static void test_activations(void** state) {
    (void)state;
    rgStudy study = {
        .text =
            "<mujoco><option timestep='0.001'/><worldbody><body pos='0 0 2'><joint name='a' "
            "axis='0 1 0'/><geom type='capsule' size='0.03' fromto='0 0 0 0.4 0 0' "
            "mass='1'/></body>"
            "</worldbody><actuator><general joint='a' dyntype='filter' dynprm='0.01' gainprm='2'/>"
            "<general joint='a' dyntype='integrator' gainprm='30'/>"
            "<general joint='a' dyntype='integrator' actearly='true' "
            "gainprm='7'/></actuator></mujoco>",
        .name = "activations",
        .speed = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    rgDerivativeDef def = rgDefaultDerivativeDef();
    rgDerivatives d;
    double own[3], inertia = 4.0 / 75; // about
    rgStart(world, &study, 1);
    assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    assert_int_equal(d.frozen, 0);
    memcpy(own, d.nextV + d.controlColumn, sizeof(own));
    double unit = own[2] / (7 * 1e-3); // dt/I
    EXPECT_NEAR(unit * inertia, 1e-3, 1e-4);
    EXPECT_NEAR(own[0], 2 * unit * -expm1(-0.05), 1e-12);
    EXPECT_NEAR(own[1], 30 * unit * 0.5e-3, 1e-12);
    def.differences = true;
    def.increment = 1e-3;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(own[k], d.nextV[d.controlColumn + k], 1e-11);
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// ---- one side of a kink

// A cube at rest: a little higher, the gap is closed within the step; a little deeper, it has to be
// pushed out. Pushed just as hard as friction can hold: a little harder, and it slides.
static void test_directions(void** state) {
    (void)state;
    rgStudy study = {rgCube, "cube", 0, .steps = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by = rg_byPosition | rg_byForce;
    rgDerivatives d;
    double direction[12] = {0}, q[6], v[6];
    uint64_t hash = rgWorld_Hash(world);
    direction[2] = 1; // up
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d), rg_ok);
    assert_int_equal(d.touching, 0);
    EXPECT_NEAR(v[2], -1e3, 1);
    direction[2] = -1;
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d), rg_ok);
    assert_int_equal(d.touching, 0);
    EXPECT_NEAR(v[2], 0, 1e-6);
    assert_true(rgWorld_Hash(world) == hash);
    direction[2] = 0;
    double force[6] = {9.81, 0, 0, 0, 0, 0}; // mu m g, mu the larger of two
    assert_int_equal(rgWorld_SetForce(world, force), rg_ok);
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    assert_true(d.betweenModes > 0);
    direction[6] = 1;
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d), rg_ok);
    EXPECT_NEAR(v[0], 1e-3, 1e-8);
    direction[6] = -1;
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d), rg_ok);
    EXPECT_NEAR(v[0], 0, 1e-8);
    direction[2] = 1e307; // whose product is no number
    q[0] = v[0] = 7;
    def.heldGaps = true;
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d),
                     rg_errorNumeric);
    assert_true(q[0] == 7 && v[0] == 7);
    direction[6] = NAN;
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, q, v, &d),
                     rg_errorArgument);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// ---- the adjoint and the matrices are one map

static double rgAdjointError(rgWorld* world, double smoothing, rgRandom* random) {
    static double q[rg_most], v[rg_most], t[2 * rg_most], out[130], qBar[64], vBar[64], tBar[128];
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by |= rg_byForce | rg_byTrend;
    def.smoothing = smoothing;
    rgDerivatives d;
    int n;
    rgWorld_Velocities(world, &n);
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    int width = d.columnCount;
    memcpy(q, d.nextQ, (size_t)(n * width) * sizeof(double));
    memcpy(v, d.nextV, (size_t)(n * width) * sizeof(double));
    memcpy(t, d.nextTrend, 2 * (size_t)(n * width) * sizeof(double));
    for (int i = 0; i < 2 * n; ++i) {
        tBar[i] = rgRandom_Uniform(random, -1, 1);
    }
    for (int i = 0; i < n; ++i) {
        qBar[i] = rgRandom_Uniform(random, -1, 1);
        vBar[i] = rgRandom_Uniform(random, -1, 1);
    }
    rgDerivatives again;
    assert_int_equal(
        rgWorld_Adjoint(world, &def,
                        &(rgStepGradient){.qBar = qBar, .vBar = vBar, .trendBar = tBar}, out,
                        &again),
        rg_ok);
    assert_int_equal(again.betweenModes, d.betweenModes);
    assert_int_equal(again.columnCount, width);
    double error = 0, most = 0;
    for (int j = 0; j < width; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) {
            sum += qBar[i] * q[i * width + j] + vBar[i] * v[i * width + j];
        }
        for (int i = 0; i < 2 * n; ++i) {
            sum += tBar[i] * t[i * width + j];
        }
        error = fmax(error, fabs(sum - out[j]));
        most = fmax(most, fabs(sum));
    }
    return most > 0 ? error / most : error;
}

static const rgStudy rgStudies[] = {
    {rgChain, "chain", 2, .steps = 40},       {rgTops, "tops", 20, .steps = 20},
    {rgCube, "cube", 2, .steps = 150},        {rgCube, "springs", 2, 2e4, .steps = 150},
    {rgBall, "balls", 1, .steps = 100},       {rgLeg, "leg", 1, .steps = 150},
    {rgChain, "fast chain", 60, .steps = 20}, {rgLeg, "fast leg", 15, .steps = 150},
    {rgCoupled, "coupled", 1, .steps = 100},  {rgLoops, "loops", 1, .steps = 40},
    {rgHeap, "heap", 0.5, .steps = 200},      {rgSensing, "sensing", 0.5, .steps = 60},
    {rgLinked, "linked", 3, .steps = 40},     {rgArms, "arms", 2, .steps = 40}};

static void test_adjoint(void** state) {
    (void)state;
    for (int k = 0; k < RG_COUNT(rgStudies); ++k) {
        rgModel* model = NULL;
        rgWorld* world = rgOpen(&rgStudies[k], &model);
        rgRandom random = {7};
        rgStart(world, &rgStudies[k], 3);
        for (int i = 0; i < rgStudies[k].steps; ++i) {
            if (i % 5 == 2) {
                EXPECT_NEAR(rgAdjointError(world, 0, &random), 0, 1e-12);
                EXPECT_NEAR(rgAdjointError(world, 0.1, &random), 0, 1e-12);
            }
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
        rgDestroyWorld(world);
        rgDestroyModel(model);
    }
}

// ---- the smoothed law

// A ball that falls from some height: v+ = V - g dt + lambda/m with lambda (lambda - z) = k, in
// velocities, where z = -(gap/dt + V - g dt), the velocity that keeps the gap open. The step goes
// on for dt/2 before and for dt after, as one after a state that was set does.
static void test_smoothed_ball(void** state) {
    (void)state;
    const rgStudy study = {HEAD "<body pos='0 0 0.1'><freejoint/>"
                                "<geom type='sphere' size='0.1' mass='2' condim='1'/></body>"
                                "</worldbody></mujoco>",
                           "ball", .steps = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    rgDerivativeDef def = rgDefaultDerivativeDef();
    const double heights[] = {3e-3, 1e-3, 1e-4, 1e-6}, speeds[] = {1e-2, 0.1, 1};
    for (int h = 0; h < RG_COUNT(heights); ++h) {
        for (int k = 0; k < RG_COUNT(speeds); ++k) {
            double q[7] = {0, 0, 0.1 + heights[h], 1, 0, 0, 0}, v[6] = {0}, dt = 1e-3;
            rgDerivatives d;
            assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
            def.smoothing = speeds[k];
            assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
            double free = -9.81 * dt, sigma = heights[h] / dt + free;
            double z = -sigma, slope = 0.5 * (1 + z / sqrt(z * z + 4 * speeds[k] * speeds[k]));
            EXPECT_NEAR(d.nextV[2 * d.columnCount + 2], -slope / dt, 1e-9 / dt);
            EXPECT_NEAR(d.nextV[2 * d.columnCount + 8], 1 - 1.5 * slope, 1e-9);
        }
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// Largest difference of v+ from that of the exact law.
static double rgSmoothingError(rgWorld* world, rgDerivativeDef def, const double* exact, int n,
                               double smoothing) {
    rgDerivatives d;
    def.smoothing = smoothing;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
    return rgApart(d.nextV, exact, n, d.columnCount, n, 2 * n + 1); // by v and by friction
}

// The exact law is the limit, which errors tend to in proportion to the square of the speed.
static void test_smoothed_limit(void** state) {
    (void)state;
    static double exact[rg_most];
    int compared = 0;
    const rgStudy studies[] = {rgStudies[2], rgStudies[4], rgStudies[5]}; // cube, balls, leg
    for (int k = 0; k < RG_COUNT(studies); ++k) {
        rgModel* model = NULL;
        rgWorld* world = rgOpen(&studies[k], &model);
        rgWorldDef settings = rgWorld_Settings(world);
        settings.friction = 0.5;
        assert_int_equal(rgWorld_ChangeSettings(world, &settings, NULL), rg_ok);
        rgQuantity friction = {rg_quantityFriction, -1, 0};
        rgDerivativeDef def = rgDefaultDerivativeDef();
        def.by = rg_byPosition | rg_byVelocity | rg_byParameters;
        def.parameters = &friction;
        def.parameterCount = 1;
        int n;
        rgWorld_Velocities(world, &n);
        rgStart(world, &studies[k], 3);
        for (int i = 0; i < studies[k].steps; ++i) {
            rgDerivatives d;
            assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
            memcpy(exact, d.nextV, (size_t)(n * d.columnCount) * sizeof(double));
            if (d.rowCount > 0 && d.betweenModes == 0 && d.redundant == 0 && d.margin > 0.1) {
                double far = rgSmoothingError(world, def, exact, n, 1e-4);
                double near = rgSmoothingError(world, def, exact, n, 1e-4 / sqrt(10));
                if (far > 1e-8) { // near is beyond rounding
                    EXPECT_NEAR(log10(far / near), 1, 0.1);
                    ++compared;
                }
            }
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
        rgDestroyWorld(world);
        rgDestroyModel(model);
    }
    assert_true(compared > 20);
}

// ---- the state stays, or moves on as a step would

static void test_advance(void** state) {
    (void)state;
    for (int k = 0; k < RG_COUNT(rgStudies); ++k) {
        rgModel* models[2];
        rgWorld *plain = rgOpen(&rgStudies[k], &models[0]),
                *other = rgOpen(&rgStudies[k], &models[1]);
        rgDerivativeDef def = rgDefaultDerivativeDef();
        rgDerivatives d;
        rgStart(plain, &rgStudies[k], 5);
        rgStart(other, &rgStudies[k], 5);
        for (int i = 0; i < 60; ++i) {
            uint64_t before = rgWorld_Hash(other);
            def.advance = false;
            def.smoothing = 0;
            assert_int_equal(rgWorld_Derivatives(other, &def, &d), rg_ok);
            assert_true(rgWorld_Hash(other) == before);
            def.advance = true;
            def.smoothing = i % 2; // which gives rows to contacts that stay open
            assert_int_equal(rgWorld_Derivatives(other, &def, &d), rg_ok);
            assert_int_equal(rgWorld_Step(plain, NULL), rg_ok);
            assert_true(rgWorld_Hash(plain) == rgWorld_Hash(other));
        }
        rgDestroyWorld(plain);
        rgDestroyWorld(other);
        rgDestroyModel(models[0]);
        rgDestroyModel(models[1]);
    }
}

// ---- parameters

static void rgSetQuantity(rgWorld* world, const rgQuantity* of, double by) {
    const rgModel* model = rgWorld_Model(world);
    rgResult result = rg_ok;
    if (of->kind == rg_quantityFriction && of->index >= 0) {
        rgShapeDef shape = *rgModel_Shape(model, (rgShapeId){of->index + 1});
        shape.material.mu += by;
        result = rgWorld_ChangeShape(world, (rgShapeId){of->index + 1}, &shape, NULL);
    } else if (of->kind == rg_quantityFriction || of->kind == rg_quantityRestitution) {
        rgWorldDef def = rgWorld_Settings(world);
        def.friction += of->kind == rg_quantityFriction ? by : 0;
        def.restitution += of->kind == rg_quantityFriction ? 0 : by;
        result = rgWorld_ChangeSettings(world, &def, NULL);
    } else if (of->kind == rg_quantityMass || of->kind == rg_quantityInertia) {
        rgBodyDef body = *rgModel_Body(model, (rgBodyId){of->index + 1});
        double parameters[RG_INERTIA_PARAMETERS];
        if (of->kind == rg_quantityMass) {
            body.inertia.mass += by;
        } else {
            rgInertia_Parameters(&body.inertia, parameters);
            parameters[of->element] += by;
            body.inertia = rgInertiaFromParameters(parameters);
        }
        result = rgWorld_ChangeBody(world, (rgBodyId){of->index + 1}, &body, NULL);
    } else if (of->kind <= rg_quantityDryFriction) {
        rgJointDef joint = *rgModel_Joint(model, (rgJointId){of->index + 1});
        joint.damping += of->kind == rg_quantityDamping ? by : 0;
        joint.stiffness += of->kind == rg_quantityStiffness ? by : 0;
        joint.armature += of->kind == rg_quantityArmature ? by : 0;
        joint.dryFriction += of->kind == rg_quantityDryFriction ? by : 0;
        result = rgWorld_ChangeJoint(world, (rgJointId){of->index + 1}, &joint, NULL);
    } else {
        rgActuatorDef drive = *rgModel_Actuator(model, (rgActuatorId){of->index + 1});
        drive.kp += of->kind == rg_quantityPositionGain ? by : 0;
        drive.kd += of->kind == rg_quantityVelocityGain ? by : 0;
        drive.gain += of->kind == rg_quantityGain ? by : 0;
        result = rgWorld_ChangeActuator(world, (rgActuatorId){of->index + 1}, &drive, NULL);
    }
    assert_int_equal(result, rg_ok);
}

static void rgByDifference(rgWorld* world, const rgQuantity* of, double size, double* out) {
    size_t bytes = rgWorld_StateSize(world);
    void* kept = malloc(bytes);
    int n;
    double h = 1e-5 * size;
    assert_int_equal(rgWorld_Save(world, kept, bytes), rg_ok);
    for (int side = 0; side < 2; ++side) {
        rgSetQuantity(world, of, side == 0 ? -h : h);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        const double* v = rgWorld_Velocities(world, &n);
        for (int i = 0; i < n; ++i) {
            out[i] = side == 0 ? v[i] : (v[i] - out[i]) / (2 * h);
        }
        assert_int_equal(rgWorld_Restore(world, kept, bytes), rg_ok);
    }
    free(kept);
}

typedef struct rgQuantityCase {
    rgStudy study;
    rgQuantity of;
    double size;
} rgQuantityCase;

static bool rgCheckQuantity(const rgQuantityCase* c) {
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&c->study, &model);
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by = rg_byParameters;
    def.parameters = &c->of;
    def.parameterCount = 1;
    rgStart(world, &c->study, 21);
    if (c->of.kind == rg_quantityFriction && c->of.index < 0) {
        rgWorldDef settings = rgWorld_Settings(world);
        settings.friction = 0.5;
        assert_int_equal(rgWorld_ChangeSettings(world, &settings, NULL), rg_ok);
    }
    int n, compared = 0;
    double most = 0, worst = 0, other[64];
    rgWorld_Velocities(world, &n);
    for (int i = 0; i < c->study.steps; ++i) {
        rgDerivatives d;
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
        if (i > 2 && d.redundant == 0 && d.betweenModes + d.touching == 0 && d.frozen == 0 &&
            d.margin > 0.01) {
            rgByDifference(world, &c->of, c->size, other);
            for (int k = 0; k < n; ++k) {
                most = fmax(most, fabs(other[k]));
                worst = fmax(worst, fabs(other[k] - d.nextV[k]));
            }
            ++compared;
        }
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    if (!(worst < 1e-6 * most) || compared < 3) {
        print_message("%s quantity %d of %d: %.2e of %.2e, %d times\n", c->study.name, c->of.kind,
                      c->of.index, worst, most, compared);
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    return compared >= 3 && most > 0 && worst < 1e-6 * most;
}

static void test_parameters(void** state) {
    (void)state;
    static const rgQuantityCase cases[] = {
        {{rgCube, "cube", 2, .steps = 100}, {rg_quantityFriction, -1, 0}, 1},
        {{rgCube, "cube", 2, .steps = 100}, {rg_quantityFriction, 1, 0}, 1},
        {{rgCube, "cube", 3, .steps = 200, .restitution = 0.5}, {rg_quantityRestitution, -1, 0}, 1},
        {{rgTops, "tops", 20, .steps = 40}, {rg_quantityInertia, 0, 5}, 0.01},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityMass, 1, 0}, 1},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityInertia, 1, 2}, 0.1},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityInertia, 3, 7}, 0.01},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityDamping, 0, 0}, 1},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityDamping, 1, 0}, 0.1},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityStiffness, 1, 0}, 1},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityStiffness, 2, 0}, 1000},
        {{rgChain, "chain", 2, .steps = 40}, {rg_quantityArmature, 3, 0}, 0.01},
        {{rgCoupled, "coupled", 1, .steps = 60}, {rg_quantityDryFriction, 1, 0}, 1},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityPositionGain, 0, 0}, 10},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityVelocityGain, 0, 0}, 1},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityPositionGain, 1, 0}, 10},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityGain, 0, 0}, 10},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityGain, 1, 0}, 10},
        {{rgLeg, "leg", 1, .steps = 60}, {rg_quantityMass, 1, 0}, 1},
    };
    bool good = true;
    for (int k = 0; k < RG_COUNT(cases); ++k) {
        good = rgCheckQuantity(&cases[k]) && good;
    }
    assert_true(good);
}

// ---- whatever a state may be, the answer is finite

static void rgExpectFinite(const double* x, int count) {
    for (int i = 0; i < count; ++i) {
        assert_true(isfinite(x[i]));
    }
}

// Steps from a start, differentiated as they are taken.
static int rgFiniteRun(rgWorld* world, const rgStudy* study, int seed) {
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.advance = def.impulses = true;
    def.by |= seed % 3 == 1 ? rg_byTrend : 0;
    def.sensors = seed % 16 == 5;
    int n, steps = 5 + seed % 40;
    rgWorld_Velocities(world, &n);
    rgStart(world, study, (uint64_t)seed);
    for (int i = 0; i < steps; ++i) {
        rgDerivatives d;
        def.smoothing = seed % 4 == 1 ? pow(10, i % 12 - 8) : 0;
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
        rgExpectFinite(d.nextQ, n * d.columnCount);
        rgExpectFinite(d.nextV, n * d.columnCount);
        rgExpectFinite(d.impulse, d.rowCount * d.columnCount);
        rgExpectFinite(d.nextTrend, d.nextTrend != NULL ? 2 * n * d.columnCount : 0);
        rgExpectFinite(d.sensor, d.sensorCount * d.columnCount);
    }
    return steps;
}

// A hundred thousand steps of all worlds here.
static void test_finite(void** state) {
    (void)state;
    int count = rgFewer(300), done = 0;
    for (int k = 0; k < RG_COUNT(rgStudies); ++k) {
        rgModel* model = NULL;
        rgWorld* world = rgOpen(&rgStudies[k], &model);
        for (int seed = 1; seed <= count; ++seed) {
            rgStudy wild = rgStudies[k];
            wild.speed = seed % 3 == 0 ? 0 : pow(10, seed % 7 * 0.5 - 1.5);
            done += rgFiniteRun(world, &wild, seed);
        }
        rgDestroyWorld(world);
        rgDestroyModel(model);
    }
    if (getenv("RIGOR_SHOW") != NULL) {
        print_message("%d steps\n", done);
    }
}

// Trees that turn fast have no derivatives by masses.
static void test_what_is_left_out_is_named(void** state) {
    (void)state;
    rgStudy study = {rgChain, "chain", 0, .steps = 1};
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&study, &model);
    const double speeds[] = {1, 60, 300};
    rgQuantity mass = {rg_quantityMass, 1, 0};
    for (int k = 0; k < RG_COUNT(speeds); ++k) {
        rgDerivativeDef def = rgDefaultDerivativeDef();
        rgDerivatives d;
        rgStart(world, &study, 1);
        int n;
        double v[64] = {0};
        rgWorld_Velocities(world, &n);
        v[n - 1] = speeds[k];
        assert_int_equal(rgWorld_SetState(world, NULL, v), rg_ok);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        assert_int_equal(rgWorld_Derivatives(world, NULL, &d), rg_ok);
        assert_int_equal(d.frozen, 0);
        def.by |= rg_byParameters;
        def.parameters = &mass;
        def.parameterCount = 1;
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_ok);
        assert_int_equal(d.frozen > 0, k > 0);
        if (k > 0) {
            assert_string_equal(d.frozenWhy, "numbers of trees that move in parts of the step");
        }
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

static void test_refusals(void** state) {
    (void)state;
    rgModel* model = NULL;
    rgWorld* world = rgOpen(&rgStudies[2], &model);
    rgDerivativeDef def = rgDefaultDerivativeDef();
    rgDerivatives d;
    double out[64];
    def.cookie = 0;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    def = rgDefaultDerivativeDef();
    def.by = 1u << 9;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    def = rgDefaultDerivativeDef();
    def.increment = 0;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    const double speeds[] = {-1, NAN, INFINITY};
    for (int k = 0; k < RG_COUNT(speeds); ++k) {
        def = rgDefaultDerivativeDef();
        def.smoothing = speeds[k];
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    }
    def.smoothing = 1; // the step itself is not smooth
    def.differences = true;
    assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    def.differences = false;
    double direction[18] = {0};
    assert_int_equal(rgWorld_DirectionalDerivative(world, &def, direction, NULL, NULL, NULL),
                     rg_errorArgument);
    def = rgDefaultDerivativeDef();
    rgQuantity wrong[] = {{rg_quantityMass, 99, 0}, {rg_quantityInertia, 0, 10}, {99, 0, 0}};
    def.by = rg_byParameters;
    def.parameterCount = 1;
    for (int k = 0; k < RG_COUNT(wrong); ++k) {
        def.parameters = &wrong[k];
        assert_int_equal(rgWorld_Derivatives(world, &def, &d), rg_errorArgument);
    }
    def = rgDefaultDerivativeDef();
    def.differences = true;
    assert_int_equal(rgWorld_Adjoint(world, &def, NULL, out, NULL), rg_errorArgument);
    assert_int_equal(rgWorld_Derivatives(world, NULL, &d), rg_ok);
    assert_int_equal(d.columnCount, 12);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_chain_euler),
        cmocka_unit_test(test_fast_chain),
        cmocka_unit_test(test_fast_chain_euler),
        cmocka_unit_test(test_fast_leg),
        cmocka_unit_test(test_fast_coupled),
        cmocka_unit_test(test_fast_loops),
        cmocka_unit_test(test_linked),
        cmocka_unit_test(test_arms),
        cmocka_unit_test(test_tops),
        cmocka_unit_test(test_cube),
        cmocka_unit_test(test_cube_rebounds),
        cmocka_unit_test(test_cube_on_springs),
        cmocka_unit_test(test_brick_on_springs),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_leg),
        cmocka_unit_test(test_coupled),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_leaning_box),
        cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_lying_capsule),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_carried),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_adjoint),
        cmocka_unit_test(test_smoothed_ball),
        cmocka_unit_test(test_smoothed_limit),
        cmocka_unit_test(test_advance),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_is_left_out_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
