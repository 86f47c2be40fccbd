// Impacts and contact springs: heights, times, forces, momenta, and nothing that passes through.
#include "physics.h"

#define FLOOR "<geom type='plane' size='0 0 1'/>"

static rgLab rgOpenDrop(const rgWorldDef* def, double height) {
    return rgLab_Open(def,
                      "<worldbody>" FLOOR "<body name='ball' pos='0 0 %.17g'><freejoint/><geom "
                      "type='sphere' size='0.1' mass='1'/></body></worldbody>",
                      0.1 + height);
}

// ---- rigid bounces

static rgOutcome rgReboundHeight(void) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 0.8;
    rgLab lab = rgOpenDrop(&def, 1);
    double most = 0;
    bool up = false;
    for (int i = 0; lab.world != NULL && i < 900 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        up = up || rgLab_Motion(&lab, "ball").linear.z > 0;
        most = up ? fmax(most, rgLab_At(&lab, "ball").z - 0.1) : most;
    }
    rgLab_Close(&lab);
    return rgLab_Result(0.64, most);
}

// All bounces take sqrt(2 h/g) (1 + e)/(1 - e); those below the threshold are left out.
static rgOutcome rgZeno(void) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 0.7;
    def.timeStep = 1e-4;
    def.restitutionThreshold = 0.01;
    rgLab lab = rgOpenDrop(&def, 0.5);
    double last = 0;
    for (int i = 0; lab.world != NULL && i < 30000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        last = fabs(rgLab_Motion(&lab, "ball").linear.z) > 1e-6 ? rgWorld_Time(lab.world) : last;
    }
    rgLab_Close(&lab);
    return rgLab_Result(sqrt(1 / RG_GRAVITY) * 1.7 / 0.3, last);
}

// ---- springs

typedef struct rgSpringBounce {
    double height, force, time;
} rgSpringBounce;

// Bounce from 0.1 m plus a little, so that the touch falls anywhere within a step.
static rgSpringBounce rgBounceOnSpring(double phase) {
    rgWorldDef def = rgLab_Def();
    def.stiffness = 1e4;
    rgLab lab = rgOpenDrop(&def, 0.1 + 1.4e-3 * phase);
    rgSpringBounce out = {0};
    bool up = false;
    for (int i = 0; lab.world != NULL && i < 400 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        double force = rgWorld_ContactForce(lab.world, rgLab_Body(&lab, "ball")).z;
        out.force = fmax(out.force, force);
        out.time += !up && force > 0 ? 1e-3 : 0;
        up = up || (rgLab_Motion(&lab, "ball").linear.z > 0 && force == 0 && out.force > 0);
        out.height = up ? fmax(out.height, rgLab_At(&lab, "ball").z - 0.1) : 0;
    }
    out.height -= 1.4e-3 * phase;
    rgLab_Close(&lab);
    return out;
}

static rgOutcome rgSpringHeight(void) {
    double worst = 0.1;
    for (int k = 0; k < 10; ++k) {
        double height = rgBounceOnSpring(0.1 * k).height;
        worst = fabs(height - 0.1) > fabs(worst - 0.1) ? height : worst;
    }
    return rgLab_Result(0.1, worst);
}

static rgOutcome rgSpringForce(void) {
    double sum = 0, weight = RG_GRAVITY, k = 1e4;
    for (int i = 0; i < 10; ++i) {
        sum += rgBounceOnSpring(0.1 * i).force / 10;
    }
    return rgLab_Result(weight + sqrt(weight * weight + 2 * k * weight * 0.1), sum);
}

static rgOutcome rgSpringTime(void) {
    double sum = 0;
    for (int i = 0; i < 10; ++i) {
        sum += rgBounceOnSpring(0.1 * i).time / 10;
    }
    // gravity makes it longer than pi sqrt(m/k) by 2 atan(m g/(k v) sqrt(k/m)) sqrt(m/k)
    double w = 100, v = sqrt(0.2 * RG_GRAVITY);
    return rgLab_Result((RG_PI + 2 * atan(RG_GRAVITY / (w * v))) / w, sum);
}

static rgOutcome rgSpringDepth(void) {
    rgWorldDef def = rgLab_Def();
    def.stiffness = 1e4;
    def.damping = 100;
    rgLab lab = rgOpenDrop(&def, 0);
    rgLab_Run(&lab, 2);
    double depth = 0.1 - rgLab_At(&lab, "ball").z;
    rgLab_Close(&lab);
    return rgLab_Result(RG_GRAVITY / 1e4, depth);
}

// A mass that never leaves its contact spring swings with 2 pi sqrt(m/k).
static rgOutcome rgSpringPeriod(void) {
    rgWorldDef def = rgLab_Def();
    def.stiffness = 1e3;
    rgLab lab = rgOpenDrop(&def, -0.5 * RG_GRAVITY / 1e3);
    double rest = 0.1 - RG_GRAVITY / 1e3, x = 1, first = NAN, last = NAN;
    int crossings = 0;
    for (int i = 0; lab.world != NULL && i < 2000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        double now = rgLab_At(&lab, "ball").z - rest;
        if (x > 0 && now <= 0) {
            last = rgWorld_Time(lab.world) - 1e-3 * now / (now - x);
            first = crossings++ == 0 ? last : first;
        }
        x = now;
    }
    rgLab_Close(&lab);
    return rgLab_Result(2 * RG_PI / sqrt(1e3), (last - first) / (crossings - 1));
}

// ---- two bodies and more

static rgOutcome rgCollision(void) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 0.5;
    def.hasGravity = true;
    rgLab lab =
        rgLab_Open(&def, "<worldbody><body name='a'><freejoint/><geom type='sphere' size='0.1' "
                         "mass='1'/></body><body name='b' pos='0.5 0 0'><freejoint/><geom "
                         "type='sphere' size='0.1' mass='3'/></body></worldbody>");
    rgLab_Throw(&lab, "a", rgVec(1, 0, 0), rgVec(0, 0, 0));
    rgLab_Run(&lab, 1);
    double v = rgLab_Motion(&lab, "b").linear.x;
    rgLab_Close(&lab);
    return rgLab_Result(1.5 / 4, v);
}

static rgVec3 rgMomentum(const rgLab* lab, const char* name, rgVec3* spin) {
    rgBodyId id = rgLab_Body(lab, name);
    const rgInertia* inertia = &rgModel_Body(lab->model, id)->inertia;
    rgPose pose = rgWorld_BodyPose(lab->world, id);
    rgSpatial v = rgWorld_BodyVelocity(lab->world, id);
    rgVec3 p = rgScale(inertia->mass, v.linear);
    rgVec3 own =
        rgRotate(pose.q, rgSym3_Multiply(&inertia->moment, rgRotateBack(pose.q, v.angular)));
    *spin = rgAdd(*spin, rgAdd(own, rgCross(pose.p, p)));
    return p;
}

// Spinning boxes that hit each other off centre, with friction, in space.
static rgOutcome rgMomenta(bool turning) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 0.4;
    def.hasGravity = true;
    rgLab lab =
        rgLab_Open(&def, "<worldbody><body name='a'><freejoint/><geom type='box' size='0.1 0.2 "
                         "0.15' mass='1'/></body><body name='b' pos='0.6 0.1 0.05'><freejoint/>"
                         "<geom type='box' size='0.2 0.1 0.1' mass='3'/></body></worldbody>");
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgLab_Throw(&lab, "a", rgVec(2, 0.1, 0), rgVec(1, 2, 3));
    rgLab_Throw(&lab, "b", rgVec(-1, 0, 0.2), rgVec(-2, 0, 1));
    rgVec3 spin = {0, 0, 0}, later = {0, 0, 0};
    rgVec3 p = rgAdd(rgMomentum(&lab, "a", &spin), rgMomentum(&lab, "b", &spin));
    rgLab_Run(&lab, 0.5);
    rgVec3 q = rgAdd(rgMomentum(&lab, "a", &later), rgMomentum(&lab, "b", &later));
    double linear = rgLength(rgSub(p, q)) / rgLength(p);
    double angular = rgLength(rgSub(spin, later)) / rgLength(spin);
    rgLab_Close(&lab);
    return rgLab_Result(0, turning ? angular : linear);
}

static rgOutcome rgMomentumKept(void) {
    return rgMomenta(false);
}

static rgOutcome rgSpinKept(void) {
    return rgMomenta(true);
}

// Five balls with gaps of 5 mm, e = 1: the last one leaves with the speed of the first.
static rgOutcome rgCradle(void) {
    char text[2048] = "";
    for (int i = 0; i < 5; ++i) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used,
                 "<body name='b%d' pos='%.9g 0 0'><joint type='slide' axis='1 0 0'/><geom "
                 "type='sphere' size='0.05' mass='1'/></body>",
                 i, 0.105 * i + (i == 0 ? -0.1 : 0));
    }
    rgWorldDef def = rgLab_Def();
    def.restitution = 1;
    def.hasGravity = true;
    rgLab lab = rgLab_Open(&def, "<worldbody>%s</worldbody>", text);
    double v[5] = {1}, out = NAN;
    if (lab.world != NULL) {
        rgWorld_SetState(lab.world, NULL, v);
        rgLab_Run(&lab, 0.5);
        const double* w = rgWorld_Velocities(lab.world, NULL);
        out = w[4] - fabs(w[0]) - fabs(w[1]) - fabs(w[2]) - fabs(w[3]);
    }
    rgLab_Close(&lab);
    return rgLab_Result(1, out);
}

// Balls in a row, nearer to each other than the way of a step: e = 1 keeps the energy.
static rgLab rgOpenRow(double gap) {
    rgWorldDef def = rgLab_Def();
    def.friction = 0;
    def.restitution = 1;
    char balls[1024] = "";
    for (int i = 0; i < 5; ++i) {
        size_t used = strlen(balls);
        snprintf(balls + used, sizeof(balls) - used,
                 "<body name='b%d' pos='%.12g 0 0'><freejoint/><geom size='.05' mass='1'/></body>",
                 i, i * (0.1 + gap) - (i == 0 ? 0.0205 : 0));
    }
    rgLab lab = rgLab_Open(&def, "<option gravity='0 0 0'/><worldbody>%s</worldbody>", balls);
    rgLab_Throw(&lab, "b0", rgVec(1, 0, 0), rgVec(0, 0, 0));
    return lab;
}

static rgOutcome rgNarrowCradle(void) {
    rgLab lab = rgOpenRow(1e-4);
    bool good = rgLab_Run(&lab, 0.1);
    double energy = good ? rgWorld_KineticEnergy(lab.world) : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(0.5, energy);
}

static rgOutcome rgTouchingCradle(void) {
    rgLab lab = rgOpenRow(0);
    bool good = rgLab_Run(&lab, 0.1);
    double speed = good ? rgLab_Motion(&lab, "b0").linear.x : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(-0.6, speed);
}

// A ball on a rail that dips into the floor by 1 in 2, e = 1: with mu > 1/2 no impulse makes it
// rebound (Painleve), and it stops; with less it goes back as it came.
static rgOutcome rgRail(double mu, double expected) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 1;
    def.friction = mu;
    rgLab lab = rgLab_Open(&def, "<option gravity='0 0 0'/><worldbody><geom type='plane' size='0 0 "
                                 "1'/><body name='b' pos='0 0 .15'><joint type='slide' axis='2 0 "
                                 "-1'/><geom size='.1' mass='1'/></body></worldbody>");
    double v = 1;
    if (lab.world != NULL) {
        rgWorld_SetState(lab.world, NULL, &v);
    }
    bool good = rgLab_Run(&lab, 0.15);
    double speed = good ? rgWorld_Velocities(lab.world, NULL)[0] : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(expected, speed);
}

static rgOutcome rgRailStops(void) {
    return rgRail(0.8, 0);
}

static rgOutcome rgRailRebounds(void) {
    return rgRail(0.3, -1);
}

// Without gravity whatever comes rebounds.
static rgOutcome rgSlowRebound(void) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 0.5;
    rgLab lab = rgLab_Open(&def, "<option gravity='0 0 0'/><worldbody><geom type='plane' size='0 0 "
                                 "1'/><body name='b' pos='0 0 .101'><freejoint/><geom size='.1' "
                                 "mass='1'/></body></worldbody>");
    rgLab_Throw(&lab, "b", rgVec(0, 0, -0.01), rgVec(0, 0, 0));
    bool good = rgLab_Run(&lab, 0.3);
    double speed = good ? rgLab_Motion(&lab, "b").linear.z : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(0.005, speed);
}

// A wall that moves at 1 m/s hits a ball at rest.
static rgOutcome rgMovingWall(void) {
    rgWorldDef def = rgLab_Def();
    def.restitution = 1;
    rgLab lab = rgLab_Open(&def, "<option gravity='0 0 0'/><worldbody><body name='wall' "
                                 "mocap='true'><geom type='box' size='.1 1 1'/></body><body "
                                 "name='b' pos='.3 0 0'><freejoint/><geom size='.1' mass='1'/>"
                                 "</body></worldbody>");
    rgLab_Throw(&lab, "wall", rgVec(1, 0, 0), rgVec(0, 0, 0));
    bool good = rgLab_Run(&lab, 0.3);
    double speed = good ? rgLab_Motion(&lab, "b").linear.x : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(2, speed);
}

// ---- Painleve

// A rod that slides on its tip with mu = 2 at 60 degrees, past the paradox: solved, and no energy.
static rgOutcome rgPainleve(void) {
    rgWorldDef def = rgLab_Def();
    def.contact.tolerance = 1e-8;
    def.friction = 2;
    double angle = 1.05, half = 0.5, r = 0.01;
    rgLab lab = rgLab_Open(&def,
                           "<worldbody>" FLOOR "<body name='rod' pos='0 0 %.17g' euler='0 %.17g 0'>"
                           "<freejoint/><geom type='capsule' size='%g %g' mass='1'/></body>"
                           "</worldbody>",
                           half * sin(angle) + r, angle - RG_PI / 2, r, half);
    rgLab_Throw(&lab, "rod", rgVec(-2, 0, 0), rgVec(0, 0, 0));
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgEnergyLog log = rgEnergyLog_Begin(&lab);
    for (int i = 0; i < 1000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgEnergyLog_Add(&log, &lab);
    }
    double bad = rgWorld_UnconvergedSteps(lab.world) + fmax(log.rise / log.start - 1e-4, 0);
    rgLab_Close(&lab);
    return rgLab_Result(0, bad);
}

// ---- what must not pass

// Bullets of 5 mm at 50 to 1000 m/s on a static plate of 1 mm, also at an angle.
static rgOutcome rgBullets(void) {
    int through = 0;
    for (int i = 0; i < 40; ++i) {
        rgWorldDef def = rgLab_Def();
        def.hasGravity = true;
        rgLab lab = rgLab_Open(&def,
                               "<worldbody><geom type='box' size='1 1 0.0005'/><body name='bullet' "
                               "pos='0 0 %.9g'><freejoint/><geom type='%s' size='0.005 0.005 "
                               "0.005' mass='0.01'/></body></worldbody>",
                               0.5 + 0.013 * i, i % 2 ? "sphere" : "box");
        double speed = 50 * pow(20, i / 39.0);
        rgLab_Throw(&lab, "bullet", rgVec(0.3 * speed * (i % 3 - 1), 0, -speed),
                    rgVec(300, 200, 0));
        bool good = rgLab_Run(&lab, 0.05);
        through += !good || rgLab_At(&lab, "bullet").z < 0;
        rgLab_Close(&lab);
    }
    return rgLab_Result(0, through);
}

// Two plates of 1 mm that close at 100 m/s and spin.
static rgOutcome rgPlates(void) {
    int through = 0;
    for (int i = 0; i < 60; ++i) {
        rgWorldDef def = rgLab_Def();
        def.hasGravity = true;
        rgLab lab = rgLab_Open(
            &def,
            "<worldbody><body name='a'><freejoint/><geom type='box' size='0.2 0.2 0.0005' "
            "mass='1'/></body><body name='b' pos='0.02 0.03 %.9g' euler='%.9g %.9g 0.3'>"
            "<freejoint/><geom type='box' size='0.2 0.2 0.0005' mass='1'/></body></worldbody>",
            0.3 + 0.0037 * i, 0.1 * sin(i), 0.1 * cos(2.3 * i));
        rgLab_Throw(&lab, "a", rgVec(0, 0, 50), rgVec(40 * sin(1.7 * i), 30 * cos(i), 10));
        rgLab_Throw(&lab, "b", rgVec(0, 0, -50), rgVec(30 * cos(0.7 * i), 40 * sin(3.1 * i), -20));
        rgVec3 up = rgVec(0, 0, 1), gap = up;
        bool good = true;
        for (int k = 0; good && k < 8; ++k) {
            good = rgLab_Run(&lab, 1e-3);
            gap = rgSub(rgLab_At(&lab, "b"), rgLab_At(&lab, "a"));
        }
        // e = 0: they stay together or part, but b stays above a
        through += !good || rgDot(gap, up) < -0.05;
        rgLab_Close(&lab);
    }
    return rgLab_Result(0, through);
}

// Needles that an impact lets spin by radians in a step.
static rgOutcome rgNeedles(void) {
    int through = 0;
    for (int i = 0; i < 60; ++i) {
        rgWorldDef def = rgLab_Def();
        def.contact.tolerance = 1e-8;
        rgLab lab = rgLab_Open(&def,
                               "<option gravity='0 0 0'/><worldbody><geom type='box' size='.5 .5 "
                               ".05'/><body name='b' pos='.1 .2 %g' euler='%g %g %g'><freejoint/>"
                               "<geom type='ellipsoid' size='.02 .005 .005' mass='1'/></body>"
                               "</worldbody>",
                               0.35 + 0.005 * i, 1.7 * i, 0.9 * i, 0.4 * i);
        rgLab_Throw(&lab, "b", rgVec(0, 0, -300), rgVec(20 * sin(i), 20 * cos(2.3 * i), 10));
        through += !rgLab_Run(&lab, 0.02) || rgLab_At(&lab, "b").z < 0;
        rgLab_Close(&lab);
    }
    return rgLab_Result(0, through);
}

static const rgPhysicsTest experiments[] = {
    {"rebound from 1 m, e 0.8: height", "m", 0.01, rgReboundHeight, false, NULL},
    {"bounces, e 0.7, from 0.5 m end after", "s", 0.02, rgZeno, true, NULL},
    {"ball on a spring, k 1e4: height, worst of 10 phases", "m", 0.002, rgSpringHeight, false,
     NULL},
    {"the same: largest force, mean", "N", 1, rgSpringForce, false, NULL},
    {"the same: time of contact, mean", "s", 1e-3, rgSpringTime, false, NULL},
    {"ball at rest on a spring: depth", "m", 1e-9, rgSpringDepth, false, NULL},
    {"mass on a contact spring: period", "s", 5e-5, rgSpringPeriod, false, NULL},
    {"1 kg hits 3 kg, e 0.5: speed of the second", "m/s", 1e-9, rgCollision, false, NULL},
    {"boxes that hit each other in space: momentum, change", "", 1e-12, rgMomentumKept, false,
     NULL},
    {"the same: angular momentum, change", "", 1e-3, rgSpinKept, false, NULL},
    {"cradle with gaps, e 1: the last less all others", "m/s", 1e-9, rgCradle, false, NULL},
    {"cradle with gaps of 0.1 mm, e 1: energy", "J", 1e-3, rgNarrowCradle, false, NULL},
    {"cradle that touches, e 1: speed of the first", "m/s", 1e-9, rgTouchingCradle, false, NULL},
    {"ball that comes at 1 cm/s without weight, e 0.5: speed", "m/s", 1e-9, rgSlowRebound, false,
     NULL},
    {"rail into the floor by 1 in 2, e 1, mu 0.8: speed", "m/s", 1e-9, rgRailStops, false, NULL},
    {"the same with mu 0.3: speed", "m/s", 1e-9, rgRailRebounds, false, NULL},
    {"wall at 1 m/s hits a ball, e 1: speed", "m/s", 1e-7, rgMovingWall, false, NULL},
    {"60 needles of 4 cm at 300 m/s on a plate of 10 cm: through", "", 0, rgNeedles, false, NULL},
    {"Painleve's rod: unsolved steps and energy gained", "", 0, rgPainleve, false, NULL},
    {"40 bullets on a plate of 1 mm, up to 1000 m/s: through", "", 0, rgBullets, false, NULL},
    {"60 pairs of plates of 1 mm at 100 m/s: through", "", 0, rgPlates, false, NULL},
};

const rgSubject rgPhysicsImpact = {"impact", experiments,
                                   (int)(sizeof(experiments) / sizeof(experiments[0]))};
