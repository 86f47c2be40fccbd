// Rolling and spinning on a point: coins, tops, balls on balls and on turntables.
#include "physics.h"

#define FLOOR "<worldbody><geom type='plane' size='0 0 1'/>"

// ---- a disc that rolls in a circle

typedef struct rgDisc {
    double radius, half, mass, tilt; // tilt of its plane against the floor
} rgDisc;

typedef struct rgSteady {
    double precession, spin; // about the vertical, and about its axis in all [rad/s]
    double speed;            // speed of its centre
} rgSteady;

// Moments about the centre, with the rim at rest on the floor: linear in the spin.
static rgSteady rgDisc_Steady(const rgDisc* d, double precession) {
    double r = d->radius, h = d->half, s = sin(d->tilt), c = cos(d->tilt), W = precession;
    double across = d->mass * (r * r / 4 + h * h / 3), along = d->mass * r * r / 2;
    double k = d->mass * W * (r * s + h * c);
    double weight = d->mass * RG_GRAVITY * (h * s - r * c);
    double spin = (weight + k * W * s * h + c * across * W * W * s) / (W * s * along + k * r);
    return (rgSteady){W, spin, W * s * h - spin * r};
}

// The precession at which the centre stays.
static double rgDisc_Spinning(const rgDisc* d) {
    double low = 1, high = 1000;
    bool forward = rgDisc_Steady(d, low).speed > 0;
    for (int i = 0; i < 200; ++i) {
        double middle = 0.5 * (low + high);
        bool same = (rgDisc_Steady(d, middle).speed > 0) == forward;
        *(same ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

typedef struct rgRolled {
    double off, energy; // distance of the centre from its circle [m]; relative change of energy
} rgRolled;

static rgRolled rgDisc_Roll(const rgDisc* d, double precession, double seconds, double dt) {
    rgWorldDef def = rgLab_Def();
    def.friction = 10;
    def.timeStep = dt;
    rgSteady steady = rgDisc_Steady(d, precession);
    double s = sin(d->tilt), c = cos(d->tilt), r = d->radius, h = d->half;
    rgLab lab = rgLab_Open(&def,
                           FLOOR "<body name='disc' pos='0 0 %.17g' euler='%.17g 0 0'><freejoint/>"
                                 "<geom type='cylinder' size='%g %g' mass='%g'/></body>"
                                 "</worldbody>",
                           r * s + h * c, d->tilt, r, h, d->mass);
    if (lab.world == NULL) {
        return (rgRolled){NAN, NAN};
    }
    double own = steady.spin - precession * c;
    rgLab_Throw(&lab, "disc", rgVec(steady.speed, 0, 0), rgVec(0, -s * own, precession + c * own));
    double energy = rgLab_Energy(&lab), around = steady.speed / precession;
    bool good = rgLab_Run(&lab, seconds);
    double angle = precession * rgWorld_Time(lab.world);
    rgVec3 at = rgLab_At(&lab, "disc");
    double off = hypot(at.x - around * sin(angle), at.y - around * (1 - cos(angle)));
    rgRolled rolled = {off, rgLab_Energy(&lab) / energy - 1};
    rgLab_Close(&lab);
    return good ? rolled : (rgRolled){NAN, NAN};
}

static const rgDisc coin70 = {0.1, 0.002, 1, 70 * RG_PI / 180};
static const rgDisc coin60 = {0.1, 0.002, 1, 60 * RG_PI / 180};
static const rgDisc coin30 = {0.1, 0.002, 1, 30 * RG_PI / 180};

static rgOutcome rgCoin70(void) {
    return rgLab_Result(0, rgDisc_Roll(&coin70, 2, RG_PI, 1e-3).off);
}

static rgOutcome rgCoin60(void) {
    return rgLab_Result(0, rgDisc_Roll(&coin60, 4, RG_PI / 2, 1e-3).off);
}

static rgOutcome rgCoinOrder(void) {
    double coarse = rgDisc_Roll(&coin70, 2, 3.1, 2e-3).off;
    return rgLab_Result(2, log2(coarse / rgDisc_Roll(&coin70, 2, 3.1, 1e-3).off));
}

static rgOutcome rgEulersDisc60(void) {
    return rgLab_Result(0, rgDisc_Roll(&coin60, rgDisc_Spinning(&coin60), 2, 1e-3).energy);
}

static rgOutcome rgEulersDisc30(void) {
    return rgLab_Result(0, rgDisc_Roll(&coin30, rgDisc_Spinning(&coin30), 1, 1e-3).energy);
}

// ---- a top on a peg

#define PEG_HEIGHT 0.06
#define PEG_TIP    1e-5

static rgLab rgOpenPeg(double tilt, double precession, double spin, double dt) {
    rgWorldDef def = rgLab_Def();
    def.friction = 2;
    def.timeStep = dt;
    rgLab lab =
        rgLab_Open(&def,
                   FLOOR "<body name='top' pos='0 0 %g' euler='%.17g 0 0'><freejoint/><inertial "
                         "pos='0 0 %g' mass='0.5' diaginertia='0.0003 0.0003 0.0002'/><geom "
                         "size='%g'/></body></worldbody>",
                   PEG_TIP, tilt, PEG_HEIGHT, PEG_TIP);
    double own = spin - precession * cos(tilt);
    rgVec3 w = rgVec(0, -sin(tilt) * own, precession + cos(tilt) * own);
    rgLab_Throw(&lab, "top", rgCross(w, rgVec(0, 0, PEG_TIP)), w);
    return lab;
}

static rgOutcome rgPegEnergy(void) {
    rgLab lab = rgOpenPeg(0.8, 0, 300, 1e-3);
    double energy = rgLab_Energy(&lab);
    bool good = rgLab_Run(&lab, 2);
    double now = rgLab_Energy(&lab);
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, now / energy - 1) : rgLab_Fail();
}

// In steady precession a fast top stays at its tilt.
static rgOutcome rgPegTilt(void) {
    double tilt = 0.5, spin = 300, I = 0.0003 + 0.5 * PEG_HEIGHT * PEG_HEIGHT;
    double L = 0.0002 * spin, torque = 0.5 * RG_GRAVITY * PEG_HEIGHT;
    double precession = (L - sqrt(L * L - 4 * I * cos(tilt) * torque)) / (2 * I * cos(tilt));
    rgLab lab = rgOpenPeg(tilt, precession, spin, 5e-4);
    double most = 0;
    for (int i = 0; lab.world != NULL && i < 2000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgQuat q = rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "top")).q;
        most = fmax(most, fabs(acos(rgRotate(q, rgVec(0, 0, 1)).z) - tilt));
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, most);
}

// ---- balls

// Angle at which a ball leaves the top of a fixed ball: one that slides at cos a = 2/3, one that
// rolls at 10/17.
static double rgLeavesAt(double mu) {
    rgWorldDef def = rgLab_Def();
    def.friction = mu;
    def.timeStep = 2e-4;
    double start = 0.1, R = 1, r = 0.1;
    rgLab lab = rgLab_Open(&def,
                           "<worldbody><geom size='%g'/><body name='ball' pos='%.17g 0 %.17g'>"
                           "<freejoint/><geom size='%g' mass='1'/></body></worldbody>",
                           R, (R + r) * sin(start), (R + r) * cos(start), r);
    double angle = NAN;
    for (int i = 0; lab.world != NULL && i < 7500 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        int count;
        const rgContact* contacts = rgWorld_Contacts(lab.world, &count);
        rgVec3 at = rgLab_At(&lab, "ball");
        angle = count > 0 && contacts->force.z > 0 ? atan2(at.x, at.z) : angle;
    }
    rgLab_Close(&lab);
    return angle * 180 / RG_PI;
}

// With energy from the start angle on: cos a = 2/3 cos a0, and 10/17 cos a0.
static rgOutcome rgSlidesOff(void) {
    return rgLab_Result(acos(2.0 / 3 * cos(0.1)) * 180 / RG_PI, rgLeavesAt(0));
}

static rgOutcome rgRollsOff(void) {
    return rgLab_Result(acos(10.0 / 17 * cos(0.1)) * 180 / RG_PI, rgLeavesAt(50));
}

// A ball or a round ellipsoid on a turntable goes around at 2/7 of its rate.
static rgOutcome rgOnTurntable(const char* shape) {
    rgWorldDef def = rgLab_Def();
    def.friction = 1;
    double rate = 6, r = 0.05;
    rgVec3 start = rgVec(0.5, 0, r), speed = rgVec(0.05, 0.35, 0);
    rgLab lab = rgLab_Open(&def,
                           "<worldbody><body name='table' mocap='true' pos='0 0 -0.1'><geom "
                           "type='cylinder' size='2 0.1'/></body><body name='ball' pos='0.5 0 "
                           "%g'><freejoint/><geom %s mass='1'/></body></worldbody>",
                           r, shape);
    rgLab_Throw(&lab, "table", rgVec(0, 0, 0), rgVec(0, 0, rate));
    rgVec3 slip = rgSub(rgCross(rgVec(0, 0, rate), start), speed);
    rgLab_Throw(&lab, "ball", speed, rgVec(slip.y / r, -slip.x / r, 0));
    double around = 2 * rate / 7, most = 0;
    rgVec3 center = rgAdd(start, rgScale(1 / around, rgVec(-speed.y, speed.x, 0)));
    for (int i = 0; lab.world != NULL && i < 3000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgQuat turn = rgQuatFromAxisAngle(rgVec(0, 0, 1), around * rgWorld_Time(lab.world));
        rgVec3 ideal = rgAdd(center, rgRotate(turn, rgSub(start, center)));
        most = fmax(most, rgLength(rgSub(rgLab_At(&lab, "ball"), ideal)));
    }
    bool good = lab.world != NULL;
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, most) : rgLab_Fail();
}

static rgOutcome rgBallOnTurntable(void) {
    return rgOnTurntable("size='0.05'");
}

static rgOutcome rgEllipsoidOnTurntable(void) {
    return rgOnTurntable("type='ellipsoid' size='0.05 0.05 0.05'");
}

// A round body that rolls down a slope by itself: a = g sin a/(1 + k), k = I/(m r^2).
static rgOutcome rgRollsDown(const char* shape, double k) {
    rgWorldDef def = rgLab_Tilted(0.3);
    def.friction = 1;
    rgLab lab = rgLab_Open(&def,
                           FLOOR "<body name='ball' pos='0 0 0.1' euler='%.17g 0 0'><freejoint/>"
                                 "<geom %s mass='1'/></body></worldbody>",
                           RG_PI / 2, shape);
    bool good = rgLab_Run(&lab, 1);
    double speed = rgLab_Motion(&lab, "ball").linear.x;
    rgLab_Close(&lab);
    return good ? rgLab_Result(RG_GRAVITY * sin(0.3) / (1 + k), speed) : rgLab_Fail();
}

static rgOutcome rgCylinderDown(void) {
    return rgRollsDown("type='cylinder' size='0.1 0.05'", 0.5);
}

static rgOutcome rgCoinDown(void) {
    return rgRollsDown("type='cylinder' size='0.1 0.001'", 0.5);
}

static rgOutcome rgBallDown(void) {
    return rgRollsDown("size='0.1'", 0.4);
}

static const rgPhysicsTest experiments[] = {
    {"coin rolls at 70 degrees, a turn of 3.1 s: off its circle", "m", 5e-4, rgCoin70, false, NULL},
    {"coin rolls at 60 degrees, a turn of 1.6 s: off its circle", "m", 5e-4, rgCoin60, false, NULL},
    {"coin: order of that error in the time step", "", 0.1, rgCoinOrder, false, NULL},
    {"Euler's disc at 60 degrees, 2 s: energy, share", "", 5e-5, rgEulersDisc60, false, NULL},
    {"Euler's disc at 30 degrees, 1 s: energy, share", "", 2e-4, rgEulersDisc30, false, NULL},
    {"top on a peg at 300 rad/s, 2 s: energy, share", "", 5e-4, rgPegEnergy, false, NULL},
    {"top on a peg in steady precession, 1 s: change of its tilt", "rad", 2e-3, rgPegTilt, false,
     NULL},
    {"ball slides off a ball at", "deg", 0.1, rgSlidesOff, false, NULL},
    {"ball rolls off a ball at", "deg", 0.1, rgRollsOff, false, NULL},
    {"ball on a turntable, 3 s: off its circle", "m", 1e-6, rgBallOnTurntable, false, NULL},
    {"ellipsoid on a turntable, 3 s: off its circle", "m", 1e-6, rgEllipsoidOnTurntable, false,
     NULL},
    {"cylinder rolls down a slope: speed after 1 s", "m/s", 1e-6, rgCylinderDown, false, NULL},
    {"coin on its edge rolls down a slope: speed after 1 s", "m/s", 1e-6, rgCoinDown, false, NULL},
    {"ball rolls down a slope: speed after 1 s", "m/s", 1e-6, rgBallDown, false, NULL},
};

const rgSubject rgPhysicsRolling = {"rolling", experiments,
                                    (int)(sizeof(experiments) / sizeof(experiments[0]))};
