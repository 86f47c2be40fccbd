// Sticking and slipping, rolling and toppling, guides and grasps.
#include "physics.h"

#define FLOOR "<geom type='plane' size='0 0 1'/>"

// ---- blocks

static rgLab rgOpenBlock(const rgWorldDef* def, double mu, const char* size) {
    rgWorldDef own = *def;
    own.friction = mu;
    double z = 0;
    sscanf(size, "%*f %*f %lf", &z);
    return rgLab_Open(&own,
                      "<worldbody>" FLOOR "<body name='block' pos='0 0 %.17g'><freejoint/>"
                      "<geom type='box' size='%s' mass='1'/></body></worldbody>",
                      z, size);
}

static bool rgBlockStays(double angle, double mu, const char* size) {
    rgWorldDef def = rgLab_Tilted(angle);
    rgLab lab = rgOpenBlock(&def, mu, size);
    bool good = rgLab_Run(&lab, 0.5);
    rgPose pose = good ? rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "block")) : rgPoseIdentity();
    rgLab_Close(&lab);
    return good && fabs(pose.p.x) < 1e-5 && fabs(pose.q.y) < 1e-5;
}

static bool rgSlopeHolds(double degrees) {
    return rgBlockStays(degrees * RG_PI / 180, 0.5, "0.1 0.1 0.1");
}

static rgOutcome rgSlope(void) {
    return rgLab_Result(atan(0.5) * 180 / RG_PI, rgBisect(rgSlopeHolds, 20, 32, 12));
}

static bool rgTallStays(double degrees) {
    return rgBlockStays(degrees * RG_PI / 180, 0.8, "0.05 0.05 0.1");
}

static rgOutcome rgTopples(void) {
    return rgLab_Result(atan(0.5) * 180 / RG_PI, rgBisect(rgTallStays, 20, 32, 12));
}

// Upright block with less friction: it slides before it topples.
static rgOutcome rgSlidesUpright(void) {
    rgWorldDef def = rgLab_Tilted(24 * RG_PI / 180);
    rgLab lab = rgOpenBlock(&def, 0.4, "0.05 0.05 0.1");
    bool good = rgLab_Run(&lab, 0.5);
    double v = good ? rgLab_Motion(&lab, "block").linear.x : NAN;
    double a = RG_GRAVITY * (sin(24 * RG_PI / 180) - 0.4 * cos(24 * RG_PI / 180));
    rgLab_Close(&lab);
    return rgLab_Result(0.5 * a, v);
}

// ---- a table that accelerates

static rgLab rgOpenTable(double acceleration) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><body name='table'><joint name='rail' type='slide' axis='1 0 0'/>"
        "<geom type='box' size='5 1 0.1' mass='999'/></body>"
        "<body name='block' pos='0 0 0.15'><freejoint/><geom type='box' size='0.05 0.05 0.05' "
        "mass='1'/></body></worldbody>");
    if (lab.world != NULL) {
        rgWorld_ApplyWrench(lab.world, rgLab_Body(&lab, "table"), rgVec(1000 * acceleration, 0, 0),
                            rgVec(0, 0, 0));
    }
    return lab;
}

static bool rgStaysOnTable(double acceleration) {
    rgLab lab = rgOpenTable(acceleration);
    bool good = rgLab_Run(&lab, 0.3);
    double slip = good ? rgLab_At(&lab, "table").x - rgLab_At(&lab, "block").x : 1;
    rgLab_Close(&lab);
    return fabs(slip) < 1e-5;
}

static rgOutcome rgTableLimit(void) {
    return rgLab_Result(0.5 * RG_GRAVITY, rgBisect(rgStaysOnTable, 4, 6, 10));
}

static rgOutcome rgTableSlips(void) {
    rgLab lab = rgOpenTable(8);
    bool good = rgLab_Run(&lab, 0.4);
    double v = good ? rgLab_Motion(&lab, "block").linear.x : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(0.4 * 0.5 * RG_GRAVITY, v);
}

// ---- directions

static rgOutcome rgDirections(void) {
    double least = INFINITY, most = 0;
    for (int k = 0; k < 36; ++k) {
        rgWorldDef def = rgLab_Def();
        rgLab lab = rgOpenBlock(&def, 0.5, "0.1 0.1 0.02");
        double angle = k * RG_PI / 18;
        rgLab_Throw(&lab, "block", rgVec(cos(angle), sin(angle), 0), rgVec(0, 0, 0));
        rgLab_Run(&lab, 0.4);
        rgVec3 p = rgLab_At(&lab, "block");
        double along = p.x * cos(angle) + p.y * sin(angle);
        double across = p.y * cos(angle) - p.x * sin(angle);
        least = fmin(least, along - fabs(across));
        most = fmax(most, along + fabs(across));
        rgLab_Close(&lab);
    }
    return rgLab_Result(0, most - least);
}

static rgOutcome rgStoppingDistance(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgOpenBlock(&def, 0.5, "0.1 0.1 0.02");
    rgLab_Throw(&lab, "block", rgVec(1, 0, 0), rgVec(0, 0, 0));
    rgLab_Run(&lab, 0.4);
    double x = rgLab_At(&lab, "block").x;
    rgLab_Close(&lab);
    return rgLab_Result(1 / (2 * 0.5 * RG_GRAVITY), x);
}

// ---- balls

static rgLab rgOpenBall(const char* friction, int condim) {
    rgWorldDef def = rgLab_Def();
    return rgLab_Open(&def,
                      "<default><geom friction='%s' condim='%d'/></default><worldbody>" FLOOR
                      "<body name='ball' pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
                      "mass='1'/></body></worldbody>",
                      friction, condim);
}

static rgOutcome rgBilliard(void) {
    rgLab lab = rgOpenBall("0.3 0 0", 3);
    rgLab_Throw(&lab, "ball", rgVec(2, 0, 0), rgVec(0, 0, 0));
    rgLab_Run(&lab, 1);
    double v = rgLab_Motion(&lab, "ball").linear.x;
    rgLab_Close(&lab);
    return rgLab_Result(5.0 / 7, v / 2);
}

static rgOutcome rgBilliardDraw(void) {
    // backspin: v + (2/5) r w is kept about the point of contact, and v = r w when it rolls
    rgLab lab = rgOpenBall("0.3 0 0", 3);
    rgLab_Throw(&lab, "ball", rgVec(1, 0, 0), rgVec(0, -50, 0));
    rgLab_Run(&lab, 3);
    double v = rgLab_Motion(&lab, "ball").linear.x;
    rgLab_Close(&lab);
    return rgLab_Result((1 - 0.4 * 0.1 * 50) * 5 / 7, v);
}

static rgOutcome rgRollingStops(void) {
    double worst = 0, a = 0.005 * RG_GRAVITY / 0.1 * 5 / 7;
    for (int k = 0; k < 8; ++k) {
        rgLab lab = rgOpenBall("0.8 0 0.005", 6);
        double angle = k * RG_PI / 8;
        rgLab_Throw(&lab, "ball", rgVec(0.5 * cos(angle), 0.5 * sin(angle), 0),
                    rgVec(-5 * sin(angle), 5 * cos(angle), 0));
        rgLab_Run(&lab, 2);
        rgVec3 p = rgLab_At(&lab, "ball");
        double off = hypot(p.x - 0.125 / a * cos(angle), p.y - 0.125 / a * sin(angle));
        worst = fmax(worst, off);
        rgLab_Close(&lab);
    }
    return rgLab_Result(0, worst);
}

static rgOutcome rgTorsion(void) {
    rgLab lab = rgOpenBall("0.8 0.02 0", 4);
    rgLab_Throw(&lab, "ball", rgVec(0, 0, 0), rgVec(0, 0, 10));
    rgLab_Run(&lab, 0.1);
    double w = rgLab_Motion(&lab, "ball").angular.z;
    rgLab_Close(&lab);
    return rgLab_Result(10 - 0.1 * 0.02 * RG_GRAVITY / (0.4 * 0.01), w);
}

// ---- guides

// Pushed at a distance e from its middle, a drawer of length L jams when e > L/(2 mu).
static bool rgDrawerMoves(double offset) {
    rgWorldDef def = rgLab_Def();
    def.hasGravity = true;
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><geom type='box' size='2 0.05 0.1' pos='0 0.15001 0'/>"
        "<geom type='box' size='2 0.05 0.1' pos='0 -0.15001 0'/>"
        "<body name='drawer'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
        "<joint type='hinge' axis='0 0 1'/><geom type='box' size='0.2 0.1 0.05' mass='1'/></body>"
        "</worldbody>");
    if (lab.world == NULL) {
        return false;
    }
    rgWorld_ApplyWrench(lab.world, rgLab_Body(&lab, "drawer"), rgVec(1, 0, 0),
                        rgVec(0, 0, -offset));
    bool good = rgLab_Run(&lab, 1);
    double v = rgLab_Motion(&lab, "drawer").linear.x;
    rgLab_Close(&lab);
    return good && v > 1e-4;
}

static rgOutcome rgDrawer(void) {
    return rgLab_Result(0.4 / (2 * 0.5), rgBisect(rgDrawerMoves, 0.3, 0.5, 9));
}

// In a groove of 90 degrees each side presses with m g/sqrt(2): deceleration mu g sqrt(2).
static rgOutcome rgGroove(void) {
    rgWorldDef def = rgLab_Def();
    def.friction = 0.3;
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><geom type='plane' size='0 0 1' zaxis='0 1 1'/>"
        "<geom type='plane' size='0 0 1' zaxis='0 -1 1'/>"
        "<body name='bar' pos='0 0 %.17g' euler='%.17g 0 0'><freejoint/><geom type='box' "
        "size='0.2 0.1 0.1' mass='1'/></body></worldbody>",
        0.1 * sqrt(2), RG_PI / 4);
    rgLab_Throw(&lab, "bar", rgVec(1, 0, 0), rgVec(0, 0, 0));
    rgLab_Run(&lab, 0.2);
    double v = rgLab_Motion(&lab, "bar").linear.x;
    rgLab_Close(&lab);
    return rgLab_Result(1 - 0.2 * 0.3 * RG_GRAVITY * sqrt(2), v);
}

// ---- grasps

// Two fingers press with 2 N each on 100 g, on a heavy hand that may be shaken up and down.
static bool rgGraspHolds(double mu, double shake) {
    rgWorldDef def = rgLab_Def();
    def.friction = mu;
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><body name='hand' pos='0 0 1'><joint name='lift' type='slide' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='1000' diaginertia='1 1 1'/>"
        "<body name='left' pos='-0.06 0 0'><joint name='l' type='slide' axis='1 0 0'/>"
        "<geom type='box' size='0.01 0.03 0.03' mass='0.1'/></body>"
        "<body name='right' pos='0.06 0 0'><joint name='r' type='slide' axis='-1 0 0'/>"
        "<geom type='box' size='0.01 0.03 0.03' mass='0.1'/></body></body>"
        "<body name='cube' pos='0 0 1'><freejoint/><geom type='box' size='0.05 0.02 0.02' "
        "mass='0.1'/></body></worldbody>");
    bool good = lab.world != NULL;
    double w = 2 * RG_PI * 4, amplitude = shake / (w * w);
    rgBodyId hand = {0};
    if (good) {
        double force[9] = {0};
        force[rgModel_JointRange(lab.model, rgModel_FindJoint(lab.model, "l")).v] = 2;
        force[rgModel_JointRange(lab.model, rgModel_FindJoint(lab.model, "r")).v] = 2;
        rgWorld_SetForce(lab.world, force);
        hand = rgLab_Body(&lab, "hand");
    }
    double carried = 1000 + 0.3, least = INFINITY, most = -INFINITY;
    for (int i = 0; good && i < 1000; ++i) {
        double t = rgWorld_Time(lab.world), ramp = fmin(t / 0.5, 1);
        double a = -amplitude * w * w * ramp * sin(w * t);
        rgWorld_ClearWrenches(lab.world);
        rgWorld_ApplyWrench(lab.world, hand, rgVec(0, 0, carried * (RG_GRAVITY + a)),
                            rgVec(0, 0, 0));
        good = rgWorld_Step(lab.world, NULL) == rg_ok;
        double slip = rgLab_At(&lab, "cube").z - rgLab_At(&lab, "hand").z;
        least = fmin(least, slip);
        most = fmax(most, slip);
    }
    rgLab_Close(&lab);
    return good && most - least < 1e-5;
}

static bool rgGraspSlips(double mu) {
    return !rgGraspHolds(mu, 0);
}

static rgOutcome rgGrasp(void) {
    return rgLab_Result(0.1 * RG_GRAVITY / 4, rgBisect(rgGraspSlips, 0.2, 0.3, 9));
}

static bool rgShakenSlips(double mu) {
    return !rgGraspHolds(mu, 10);
}

static rgOutcome rgShakenGrasp(void) {
    return rgLab_Result(0.1 * (RG_GRAVITY + 10) / 4, rgBisect(rgShakenSlips, 0.4, 0.6, 8));
}

// ---- turntable

static rgOutcome rgTurntable(void) {
    rgWorldDef def = rgLab_Def();
    def.friction = 1.5;
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><body name='table'><joint name='axle' type='hinge' axis='0 0 1'/>"
        "<geom type='cylinder' size='1 0.1' mass='1000'/></body>"
        "<body name='block' pos='0.5 0 0.105'><freejoint/><geom type='box' size='0.02 0.02 0.005' "
        "mass='0.1'/></body></worldbody>");
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    int nq = 0, nv = 0;
    const double* q = rgWorld_Positions(lab.world, &nq);
    const double* v = rgWorld_Velocities(lab.world, &nv);
    double start[8], rate[7];
    memcpy(start, q, sizeof(start));
    memcpy(rate, v, sizeof(rate));
    rate[0] = 5;
    rgWorld_SetState(lab.world, start, rate);
    rgLab_Throw(&lab, "block", rgVec(0, 2.5, 0), rgVec(0, 0, 5));
    bool good = rgLab_Run(&lab, 0.2);
    rgVec3 a = rgLab_At(&lab, "block");
    good = good && rgLab_Run(&lab, 2);
    rgVec3 b = rgLab_At(&lab, "block");
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, 1e6 * (hypot(b.x, b.y) - hypot(a.x, a.y)) / 2) : rgLab_Fail();
}

// ---- adhesion

// A cup that hangs still pulls on 1 kg below it.
static bool rgCupDrops(double pull) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><body name='cup' pos='0 0 1'><geom type='box' size='.05 .05 .02' mass='.1'/>"
        "</body><body name='load' pos='0 0 .93'><freejoint/><geom type='box' size='.05 .05 .05' "
        "mass='1'/></body></worldbody><actuator><adhesion body='load' gain='1' ctrlrange='0 99'/>"
        "</actuator>");
    bool good =
        lab.world != NULL && rgWorld_SetControl(lab.world, &pull) == rg_ok && rgLab_Run(&lab, 1);
    bool drops = good && rgLab_At(&lab, "load").z < 0.93 - 1e-6;
    rgLab_Close(&lab);
    return drops;
}

static rgOutcome rgCup(void) {
    return rgLab_Result(RG_GRAVITY, rgBisect(rgCupDrops, 9, 11, 12));
}

static bool rgWallDrops(double pull) {
    rgWorldDef def = rgLab_Def();
    def.friction = 0.5;
    rgLab lab = rgLab_Open(
        &def, "<worldbody><geom type='plane' size='5 5 .1' zaxis='1 0 0'/><body name='box' "
              "pos='.05 0 0'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body>"
              "</worldbody><actuator><adhesion body='box' gain='1' ctrlrange='0 99'/></actuator>");
    bool good =
        lab.world != NULL && rgWorld_SetControl(lab.world, &pull) == rg_ok && rgLab_Run(&lab, 1);
    bool drops = good && rgLab_At(&lab, "box").z < -1e-5;
    rgLab_Close(&lab);
    return drops;
}

static rgOutcome rgClinging(void) {
    return rgLab_Result(2 * RG_GRAVITY, rgBisect(rgWallDrops, 18, 22, 12));
}

static const rgPhysicsTest experiments[] = {
    {"slope: angle at which a cube slides, mu 0.5", "deg", 0.02, rgSlope, false, NULL},
    {"table: acceleration that a block follows, mu 0.5", "m/s^2", 0.005, rgTableLimit, false, NULL},
    {"table: speed of a block that slips", "m/s", 1e-6, rgTableSlips, false, NULL},
    {"block twice as high as wide topples at", "deg", 0.02, rgTopples, false, NULL},
    {"the same with mu 0.4 slides upright: speed", "m/s", 1e-6, rgSlidesUpright, false, NULL},
    {"stopping distance from 1 m/s, mu 0.5", "m", 6e-4, rgStoppingDistance, false, NULL},
    {"36 directions: spread of it", "m", 1e-6, rgDirections, false, NULL},
    {"billiard ball: speed when it rolls, share", "", 1e-3, rgBilliard, false, NULL},
    {"billiard ball with backspin: speed when it rolls", "m/s", 2e-3, rgBilliardDraw, false, NULL},
    {"rolling friction, 8 directions: where balls stop, error", "m", 1e-3, rgRollingStops, false,
     NULL},
    {"torsional friction: rate after 0.1 s", "rad/s", 1e-6, rgTorsion, false, NULL},
    {"drawer of 0.4 m jams when pushed at", "m", 0.004, rgDrawer, false, NULL},
    {"bar in a V groove: speed after 0.2 s", "m/s", 1e-6, rgGroove, false, NULL},
    {"grasp: friction that holds 100 g with 2 N", "", 1e-3, rgGrasp, true, NULL},
    {"grasp shaken by 10 m/s^2: friction that holds", "", 5e-3, rgShakenGrasp, true, NULL},
    {"turntable, 5 rad/s: a sticking block moves outwards with", "um/s", 1, rgTurntable, false,
     NULL},
    {"suction cup: pull that holds 1 kg", "N", 2e-3, rgCup, false, NULL},
    {"box that clings to a wall, mu 0.5: pull that holds 1 kg", "N", 4e-3, rgClinging, false, NULL},
};

const rgSubject rgPhysicsFriction = {"friction", experiments,
                                     (int)(sizeof(experiments) / sizeof(experiments[0]))};
