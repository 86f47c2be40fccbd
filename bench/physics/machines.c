// Flight, pendulums, gears, pulleys, lifts and grips.
#include "physics.h"

// ---- flight

static rgOutcome rgProjectile(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(&def, "<worldbody><body name='a'><freejoint/><inertial pos='.1 0 .05' "
                                 "mass='2' diaginertia='.1 .2 .25'/></body></worldbody>");
    rgLab_Throw(&lab, "a", rgVec(3, 0, 4), rgVec(0, 0, 0));
    double high = -INFINITY;
    for (int i = 0; lab.world != NULL && i < 800 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        high = fmax(high, rgLab_At(&lab, "a").z);
    }
    rgLab_Close(&lab);
    return rgLab_Result(16 / (2 * RG_GRAVITY), high);
}

// A box of three moments that tumbles about its middle axis.
static rgLab rgOpenTumbling(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(&def, "<option gravity='0 0 0'/><worldbody><body name='a'><freejoint/>"
                                 "<inertial pos='0 0 0' mass='2' diaginertia='.1 .2 .25'/></body>"
                                 "</worldbody>");
    rgLab_Throw(&lab, "a", rgVec(0, 0, 0), rgVec(0.01, 10, 0));
    return lab;
}

static rgVec3 rgTumblingMomentum(const rgLab* lab) {
    rgQuat q = rgWorld_BodyPose(lab->world, rgLab_Body(lab, "a")).q;
    rgVec3 w = rgRotateBack(q, rgLab_Motion(lab, "a").angular);
    return rgRotate(q, rgVec(0.1 * w.x, 0.2 * w.y, 0.25 * w.z));
}

static rgOutcome rgTumblingSpin(void) {
    rgLab lab = rgOpenTumbling();
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgVec3 start = rgTumblingMomentum(&lab);
    bool good = rgLab_Run(&lab, 60);
    double off = rgLength(rgSub(rgTumblingMomentum(&lab), start)) / rgLength(start);
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, off) : rgLab_Fail();
}

static rgOutcome rgTumblingEnergy(void) {
    rgLab lab = rgOpenTumbling();
    double start = lab.world != NULL ? rgWorld_KineticEnergy(lab.world) : NAN;
    bool good = rgLab_Run(&lab, 60);
    double off = good ? rgWorld_KineticEnergy(lab.world) / start - 1 : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(0, off);
}

// A root of 100 g with a limb of 1 kg on a ball joint, or on three hinges in a row, that tumbles.
static rgOutcome rgLightRoot(const char* joints) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<option gravity='0 0 0'/><worldbody><body name='root'><freejoint/><inertial pos='0 0 0' "
        "mass='.1' diaginertia='6e-5 6e-5 6e-5'/><body name='limb' pos='.05 0 0'>%s<inertial "
        "pos='.14 0 0' mass='1' diaginertia='3e-4 6e-3 6e-3'/></body></body></worldbody>",
        joints);
    double v[9] = {0, 0, 0, 2, -6, 4, 3, 8, -9};
    if (lab.world == NULL || rgWorld_SetState(lab.world, NULL, v) != rg_ok) {
        rgLab_Close(&lab);
        return rgLab_Fail();
    }
    rgWorld_Step(lab.world, NULL);
    rgEnergyLog log = rgEnergyLog_Begin(&lab);
    for (int i = 0; i < 5000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgEnergyLog_Add(&log, &lab);
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, log.rise / log.start);
}

static rgOutcome rgLightRootBall(void) {
    return rgLightRoot("<joint type='ball'/>");
}

static rgOutcome rgLightRootHinges(void) {
    return rgLightRoot("<joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/>");
}

// ---- pendulums

static rgOutcome rgPendulumPeriod(void) {
    rgWorldDef def = rgLab_Def();
    double I = 0.03, l = 0.4, m = 1.5, angle = 0.01;
    rgLab lab = rgLab_Open(&def,
                           "<worldbody><body name='a'><joint axis='0 1 0'/><inertial pos='0 0 %g' "
                           "mass='%g' diaginertia='%g %g %g'/></body></worldbody>",
                           -l, m, I, I, I);
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgWorld_SetState(lab.world, &angle, NULL);
    double last = angle, first = NAN, end = NAN;
    int crossings = 0;
    for (int i = 0; i < 20000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        double now = rgWorld_Positions(lab.world, NULL)[0];
        if (last > 0 && now <= 0) {
            end = rgWorld_Time(lab.world) - 1e-3 * now / (now - last);
            first = crossings++ == 0 ? end : first;
        }
        last = now;
    }
    rgLab_Close(&lab);
    double period = 2 * RG_PI * sqrt((I + m * l * l) / (m * RG_GRAVITY * l));
    return rgLab_Result(period * (1 + angle * angle / 16), (end - first) / (crossings - 1));
}

// A body on a ball joint that goes around a cone without spin of its own.
static rgOutcome rgConicalPendulum(void) {
    rgWorldDef def = rgLab_Def();
    double I = 0.02, along = 0.005, l = 0.5, m = 1, tilt = 0.6;
    double rate = sqrt(m * RG_GRAVITY * l / ((I + m * l * l - along) * cos(tilt)));
    rgLab lab = rgLab_Open(&def,
                           "<worldbody><body name='a'><joint type='ball'/><inertial pos='0 0 %g' "
                           "mass='%g' diaginertia='%g %g %g'/></body></worldbody>",
                           -l, m, I, I, along);
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgQuat q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
    rgVec3 w = rgRotateBack(q, rgVec(0, 0, rate));
    double at[4] = {q.w, q.x, q.y, q.z}, v[3] = {w.x, w.y, w.z}, most = 0;
    rgWorld_SetState(lab.world, at, v);
    for (int i = 0; i < 10000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgQuat now = rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "a")).q;
        most = fmax(most, fabs(acos(rgRotate(now, rgVec(0, 0, 1)).z) - tilt));
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, most);
}

// ---- gears and pulleys

static double rgSpeedOfFirst(rgLab* lab, const double* force, double seconds) {
    bool good = lab->world != NULL &&
                (force == NULL || rgWorld_SetForce(lab->world, force) == rg_ok) &&
                rgLab_Run(lab, seconds);
    double speed = good ? rgWorld_Velocities(lab->world, NULL)[0] : NAN;
    rgLab_Close(lab);
    return speed;
}

#define SLIDES                                                                                     \
    "<worldbody><body><joint name='a' type='slide' axis='0 0 1'/><inertial pos='0 0 0' mass='1' "  \
    "diaginertia='1 1 1'/></body><body pos='1 0 0'><joint name='b' type='slide' axis='0 0 1'/>"    \
    "<inertial pos='0 0 0' mass='%g' diaginertia='1 1 1'/></body></worldbody>"

static rgOutcome rgAtwood(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def, SLIDES "<equality><joint joint1='a' joint2='b' polycoef='0 -1 0 0 0'/></equality>",
        2.0);
    return rgLab_Result(RG_GRAVITY / 3, rgSpeedOfFirst(&lab, NULL, 1));
}

static rgOutcome rgGears(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def, "<worldbody><body><joint name='a'/><inertial pos='0 0 0' mass='1' diaginertia='.1 "
              ".1 .1'/></body><body><joint name='b'/><inertial pos='0 0 0' mass='1' "
              "diaginertia='.2 .2 .2'/></body></worldbody><equality><joint joint1='b' joint2='a' "
              "polycoef='0 5 0 0 0'/></equality>");
    double torque[2] = {1, 0};
    return rgLab_Result(1 / (0.1 + 25 * 0.2), rgSpeedOfFirst(&lab, torque, 1));
}

// The sum of two slides has inertia 2 of its own: M = [3 2; 2 3].
static rgOutcome rgTendonInertia(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(&def,
                           "<option gravity='0 0 0'/>" SLIDES "<tendon><fixed armature='2'><joint "
                           "joint='a' coef='1'/><joint joint='b' coef='1'/></fixed></tendon>",
                           1.0);
    double push[2] = {1, 0};
    return rgLab_Result(0.6, rgSpeedOfFirst(&lab, push, 1));
}

// A floating gripper tumbles with a box between its fingers: angular momentum about the origin.
static rgVec3 rgBoxMomentum(const rgLab* lab, const char* name, double mass, rgVec3 half) {
    rgPose pose = rgWorld_BodyPose(lab->world, rgLab_Body(lab, name));
    rgSpatial V = rgLab_Motion(lab, name);
    rgVec3 w = rgRotateBack(pose.q, V.angular), s = rgScale(mass / 3, half);
    rgVec3 spin = rgVec(w.x * (s.y * half.y + s.z * half.z), w.y * (s.x * half.x + s.z * half.z),
                        w.z * (s.x * half.x + s.y * half.y));
    return rgAdd(rgScale(mass, rgCross(pose.p, V.linear)), rgRotate(pose.q, spin));
}

static rgVec3 rgGripperMomentum(const rgLab* lab) {
    rgVec3 finger = rgVec(0.01, 0.05, 0.05);
    rgVec3 sum = rgBoxMomentum(lab, "base", 5, rgVec(0.1, 0.1, 0.1));
    sum = rgAdd(sum, rgBoxMomentum(lab, "L", 0.2, finger));
    sum = rgAdd(sum, rgBoxMomentum(lab, "R", 0.2, finger));
    return rgAdd(sum, rgBoxMomentum(lab, "o", 1, rgVec(0.02, 0.02, 0.02)));
}

// Changes of the momentum and of the kinetic energy in ten seconds, as shares.
typedef struct rgTumble {
    bool good;
    double momentum, energy;
} rgTumble;

static rgTumble rgTumbleGripper(void) {
    rgWorldDef def = rgLab_Def();
    def.friction = 1;
    rgLab lab = rgLab_Open(
        &def,
        "<option gravity='0 0 0'/><worldbody><body name='base'><freejoint/><geom type='box' "
        "size='.1 .1 .1' mass='5' contype='0' conaffinity='0'/><body name='L' pos='-.03 0 .3'>"
        "<joint name='l' type='slide' axis='1 0 0'/><geom type='box' size='.01 .05 .05' mass='.2'/>"
        "</body><body name='R' pos='.03 0 .3'><joint name='r' type='slide' axis='-1 0 0'/><geom "
        "type='box' size='.01 .05 .05' mass='.2'/></body></body><body name='o' pos='0 0 .3'>"
        "<freejoint/><geom type='box' size='.02 .02 .02' mass='1'/></body></worldbody><actuator>"
        "<position joint='l' kp='1e5' kv='1e2'/><motor joint='r'/></actuator>");
    double control[2] = {0.01, 50};
    if (lab.world == NULL || rgWorld_SetControl(lab.world, control) != rg_ok ||
        !rgLab_Run(&lab, 0.5)) {
        rgLab_Close(&lab);
        return (rgTumble){0};
    }
    rgVec3 w = rgVec(3, 2, 1);
    rgLab_Throw(&lab, "base", rgCross(w, rgLab_At(&lab, "base")), w);
    rgLab_Throw(&lab, "o", rgCross(w, rgLab_At(&lab, "o")), w);
    rgWorld_Step(lab.world, NULL);
    rgVec3 start = rgGripperMomentum(&lab);
    double energy = rgWorld_KineticEnergy(lab.world);
    rgTumble tumble = {.good = rgLab_Run(&lab, 10)};
    tumble.momentum = rgLength(rgSub(rgGripperMomentum(&lab), start)) / rgLength(start);
    tumble.energy = rgWorld_KineticEnergy(lab.world) / energy - 1;
    rgLab_Close(&lab);
    return tumble;
}

static rgOutcome rgGripper(void) {
    rgTumble tumble = rgTumbleGripper();
    return tumble.good ? rgLab_Result(0, tumble.momentum) : rgLab_Fail();
}

static rgOutcome rgGripperEnergy(void) {
    rgTumble tumble = rgTumbleGripper();
    return tumble.good ? rgLab_Result(0, tumble.energy) : rgLab_Fail();
}

// A servo with a stiff damper, as those of robots: dt d/m = 0.9.
static rgOutcome rgServo(void) {
    rgWorldDef def = rgLab_Def();
    const double m = 0.5, k = 4500, d = 450, t = 0.1, root = sqrt(d * d - 4 * m * k);
    rgLab lab = rgLab_Open(
        &def, "<option gravity='0 0 0'/><worldbody><body><joint name='j' type='slide' axis='1 0 "
              "0'/><inertial pos='0 0 0' mass='0.5' diaginertia='1 1 1'/></body></worldbody>"
              "<actuator><position joint='j' kp='4500' kv='450'/></actuator>");
    double target = 1, slow = (d - root) / (2 * m), fast = (d + root) / (2 * m);
    bool good =
        lab.world != NULL && rgWorld_SetControl(lab.world, &target) == rg_ok && rgLab_Run(&lab, t);
    double q = good ? rgWorld_Positions(lab.world, NULL)[0] : NAN;
    rgLab_Close(&lab);
    return rgLab_Result(1 - (fast * exp(-slow * t) - slow * exp(-fast * t)) / (fast - slow), q);
}

static const rgPhysicsTest experiments[] = {
    {"projectile thrown up at 4 m/s: height", "m", 1e-5, rgProjectile, false, NULL},
    {"tumbling box, 60 s: angular momentum, change", "", 1e-9, rgTumblingSpin, true, NULL},
    {"tumbling box, 60 s: energy, share", "", 1e-6, rgTumblingEnergy, true, NULL},
    {"1 kg on a ball joint of a root of 100 g: rise of the energy, share", "", 1e-3,
     rgLightRootBall, false, NULL},
    {"the same on three hinges", "", 1e-3, rgLightRootHinges, false, NULL},
    {"pendulum: period", "s", 1e-5, rgPendulumPeriod, false, NULL},
    {"conical pendulum, 10 s: change of its tilt", "rad", 1e-4, rgConicalPendulum, false, NULL},
    {"1 kg and 2 kg over a pulley: speed after 1 s", "m/s", 1e-6, rgAtwood, false, NULL},
    {"gears of 1 to 5: rate after 1 s", "rad/s", 1e-6, rgGears, false, NULL},
    {"inertia of a tendon: speed after 1 s", "m/s", 1e-6, rgTendonInertia, false, NULL},
    {"servo with a stiff damper, from rest: position after 0.1 s", "m", 2e-3, rgServo, false, NULL},
    {"floating gripper with a box, 10 s: angular momentum, change", "", 1e-4, rgGripper, true,
     NULL},
    {"the same: kinetic energy, change", "", 1e-4, rgGripperEnergy, true, NULL},
};

const rgSubject rgPhysicsMachines = {"machines", experiments,
                                     (int)(sizeof(experiments) / sizeof(experiments[0]))};
