// Free motion, joints, loops, servos: conserved quantities, periods, rates.
#include "physics.h"

// ---- tops

// A symmetric top in steady precession: I1 cos(a) W^2 - I3 w W + m g l = 0 about its point.
#define TOP_MASS   1.0
#define TOP_HEIGHT 0.1
#define TOP_ACROSS 0.002  // about the centre of mass
#define TOP_ALONG  0.0035 //
#define TOP_SPIN   100.0
#define TOP_TILT   0.3

static double rgTopPrecession(void) {
    double I1 = (TOP_ACROSS + TOP_MASS * TOP_HEIGHT * TOP_HEIGHT) * cos(TOP_TILT);
    double L = TOP_ALONG * TOP_SPIN, torque = TOP_MASS * RG_GRAVITY * TOP_HEIGHT;
    return (L - sqrt(L * L - 4 * I1 * torque)) / (2 * I1);
}

static rgOutcome rgTop(bool loop) {
    rgWorldDef def = rgLab_Def();
    rgLab lab =
        rgLab_Open(&def,
                   "<worldbody><body name='top'>%s<inertial pos='0 0 %g' mass='%g' "
                   "diaginertia='%g %g %g'/></body></worldbody>%s",
                   loop ? "<freejoint/>" : "<joint type='ball'/>", TOP_HEIGHT, TOP_MASS, TOP_ACROSS,
                   TOP_ACROSS, TOP_ALONG,
                   loop ? "<equality><connect body1='top' anchor='0 0 0'/></equality>" : "");
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    double rate = rgTopPrecession(), turned = 0;
    rgQuat tilt = rgQuatFromAxisAngle(rgVec(0, 1, 0), TOP_TILT);
    rgVec3 up = rgRotateBack(tilt, rgVec(0, 0, 1)); // in the body's axes
    rgVec3 w = rgScale(rate, up);
    w.z = TOP_SPIN;
    double q[7] = {tilt.w, tilt.x, tilt.y, tilt.z}, v[6] = {w.x, w.y, w.z};
    if (loop) {
        memcpy(q, (double[]){0, 0, 0, tilt.w, tilt.x, tilt.y, tilt.z}, sizeof(q));
        memcpy(v, (double[]){0, 0, 0, w.x, w.y, w.z}, sizeof(v));
    }
    rgWorld_SetState(lab.world, q, v);
    double last = 0;
    for (int i = 0; i < 2000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgQuat now = rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "top")).q;
        rgVec3 axis = rgRotate(now, rgVec(0, 0, 1));
        double angle = atan2(axis.y, axis.x);
        turned += remainder(angle - last, 2 * RG_PI);
        last = angle;
    }
    rgLab_Close(&lab);
    return rgLab_Result(rate, turned / 2);
}

static rgOutcome rgTopOnBall(void) {
    return rgTop(false);
}

static rgOutcome rgTopOnConnect(void) {
    return rgTop(true);
}

// A thin disc that rolls on its rim with its centre at rest: W^2 sin(a) = 4 g/r. Nothing takes
// energy; none may appear.
static rgOutcome rgEulersDisc(void) {
    rgWorldDef def = rgLab_Def();
    def.friction = 1;
    double tilt = 0.3, r = 0.05, half = 1e-4;
    rgLab lab = rgLab_Open(&def,
                           "<worldbody><geom type='plane' size='0 0 1'/><body name='disc' "
                           "pos='0 0 %.17g' euler='0 %.17g 0'><freejoint/><geom type='cylinder' "
                           "size='%g %g' mass='0.4'/></body></worldbody>",
                           r * sin(tilt) + half * cos(tilt), tilt, r, half);
    double rate = sqrt(4 * RG_GRAVITY / (r * sin(tilt))) * sin(tilt);
    rgLab_Throw(&lab, "disc", rgVec(0, 0, 0), rgScale(rate, rgVec(cos(tilt), 0, -sin(tilt))));
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgEnergyLog log = rgEnergyLog_Begin(&lab);
    for (int i = 0; i < 2000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        rgEnergyLog_Add(&log, &lab);
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, log.rise / log.start);
}

// Kane and Levinson's rattleback: spun one way it turns around, spun the other way it goes on.
static bool rgRattlebackReverses(double spin) {
    rgWorldDef def = rgLab_Def();
    def.friction = 10;
    def.timeStep = 2e-4;
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><geom type='plane' size='0 0 1'/><body name='back' pos='0 0 0.01' "
        "euler='0.0087 0 0'><freejoint/><inertial pos='0 0 0' mass='1' "
        "fullinertia='2e-4 1.6e-3 1.7e-3 -2e-5 0 0'/><geom type='ellipsoid' size='0.2 0.03 0.02' "
        "pos='0 0 0.01'/></body></worldbody>");
    rgLab_Throw(&lab, "back", rgVec(0, 0, 0), rgVec(0, 0, spin));
    double least = INFINITY;
    for (int i = 0; lab.world != NULL && i < 40000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        least = fmin(least, rgLab_Motion(&lab, "back").angular.z / spin);
    }
    rgLab_Close(&lab);
    return least < -0.1;
}

static rgOutcome rgRattleback(void) {
    return rgLab_Result(1, rgRattlebackReverses(5) + rgRattlebackReverses(-5));
}

// ---- chains

// Largest distance of the energy from its start over so many seconds, as a share of scale.
static rgOutcome rgKeepsEnergy(rgLab* lab, double seconds, double scale) {
    if (lab->world == NULL) {
        return rgLab_Fail();
    }
    rgEnergyLog log = rgEnergyLog_Begin(lab);
    int steps = (int)lround(seconds / rgWorld_TimeStep(lab->world)), done = 0;
    for (; done < steps && rgWorld_Step(lab->world, NULL) == rg_ok; ++done) {
        if (done % 5 == 0) {
            rgEnergyLog_Add(&log, lab);
        }
    }
    rgLab_Close(lab);
    return done == steps ? rgLab_Result(0, log.drift / scale) : rgLab_Fail();
}

static rgOutcome rgDoublePendulum(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def, "<worldbody><body name='a'><joint axis='0 1 0'/><inertial pos='0 0 -0.5' mass='1' "
              "diaginertia='0.083 0.083 0.001'/><body name='b' pos='0 0 -1'><joint axis='0 1 0'/>"
              "<inertial pos='0 0 -0.4' mass='0.7' diaginertia='0.05 0.05 0.001'/></body></body>"
              "</worldbody>");
    double q[2] = {2, 1};
    if (lab.world != NULL) {
        rgWorld_SetState(lab.world, q, NULL);
    }
    return rgKeepsEnergy(&lab, 60, 2 * RG_GRAVITY * (0.5 + 0.7 * 1.4));
}

#define FLOATING                                                                                   \
    "<option gravity='0 0 0'/><worldbody><body name='a' pos='0 0 1'><freejoint/><inertial "        \
    "pos='0.05 0.02 0' mass='2' diaginertia='0.05 0.08 0.1'/><body name='b' pos='0.3 0 0'>"        \
    "<joint axis='0 1 0'/><inertial pos='0.2 0 0.03' mass='1' diaginertia='0.004 0.02 0.02'/>"     \
    "<body name='c' pos='0.4 0 0'><joint axis='0 0 1'/><inertial pos='0.15 0.01 0' mass='0.6' "    \
    "diaginertia='0.003 0.01 0.01'/></body></body></body></worldbody>"

static rgLab rgOpenFloating(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(&def, FLOATING);
    double v[8] = {0.1, 0, 0, 1, 2, 3, 2, -3};
    if (lab.world != NULL) {
        rgWorld_SetState(lab.world, NULL, v);
    }
    return lab;
}

static rgVec3 rgCenterOfMass(const rgLab* lab) {
    rgVec3 sum = {0, 0, 0};
    double mass = 0;
    for (int i = 1; i <= rgModel_Info(lab->model).bodyCount; ++i) {
        const rgInertia* inertia = &rgModel_Body(lab->model, (rgBodyId){i})->inertia;
        rgPose pose = rgWorld_BodyPose(lab->world, (rgBodyId){i});
        sum = rgAddScaled(sum, inertia->mass, rgPose_Point(pose, inertia->center));
        mass += inertia->mass;
    }
    return rgScale(1 / mass, sum);
}

static rgOutcome rgFloatingCenter(void) {
    rgLab lab = rgOpenFloating();
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgVec3 start = rgCenterOfMass(&lab);
    rgWorld_Step(lab.world, NULL);
    rgVec3 first = rgCenterOfMass(&lab);
    bool good = rgLab_Run(&lab, 9.999);
    rgVec3 straight = rgAddScaled(start, 10000, rgSub(first, start));
    double off = rgLength(rgSub(rgCenterOfMass(&lab), straight));
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, off) : rgLab_Fail();
}

static rgVec3 rgAngularMomentum(const rgLab* lab) {
    rgVec3 sum = {0, 0, 0};
    for (int i = 1; i <= rgModel_Info(lab->model).bodyCount; ++i) {
        rgBodyId id = {i};
        const rgInertia* inertia = &rgModel_Body(lab->model, id)->inertia;
        rgPose pose = rgWorld_BodyPose(lab->world, id);
        rgSpatial V = rgWorld_BodyVelocity(lab->world, id);
        rgVec3 c = rgPose_Point(pose, inertia->center);
        rgVec3 v = rgAdd(V.linear, rgCross(V.angular, rgSub(c, pose.p)));
        rgVec3 w = rgRotateBack(pose.q, V.angular);
        sum = rgAdd(sum, rgRotate(pose.q, rgSym3_Multiply(&inertia->moment, w)));
        sum = rgAddScaled(sum, inertia->mass, rgCross(c, v));
    }
    return sum;
}

static rgOutcome rgFloatingSpin(void) {
    rgLab lab = rgOpenFloating();
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgVec3 start = rgAngularMomentum(&lab);
    bool good = rgLab_Run(&lab, 10);
    double off = rgLength(rgSub(rgAngularMomentum(&lab), start)) / rgLength(start);
    rgLab_Close(&lab);
    return good ? rgLab_Result(0, off) : rgLab_Fail();
}

static rgOutcome rgFloatingEnergy(void) {
    rgLab lab = rgOpenFloating();
    return rgKeepsEnergy(&lab, 10, lab.world != NULL ? rgWorld_KineticEnergy(lab.world) : 1);
}

// With springs in the joints, which swing at 2 Hz.
static rgOutcome rgFloatingSprings(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<option gravity='0 0 0'/><worldbody><body name='a' pos='0 0 1'><freejoint/><inertial "
        "pos='0.05 0.02 0' mass='2' diaginertia='0.05 0.08 0.1'/><body name='b' pos='0.3 0 0'>"
        "<joint axis='0 1 0' stiffness='8'/><inertial pos='0.2 0 0.03' mass='1' "
        "diaginertia='0.004 0.02 0.02'/></body></body></worldbody>");
    double v[7] = {0.1, 0, 0, 1, 2, 3, 2};
    if (lab.world != NULL) {
        rgWorld_SetState(lab.world, NULL, v);
    }
    return rgKeepsEnergy(&lab, 10, lab.world != NULL ? rgWorld_KineticEnergy(lab.world) : 1);
}

// A bead on a rail, on a rope whose length has an inertia m: (M + m sin^2) x'^2/2 stays.
static rgOutcome rgHeavyRope(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<option gravity='0 0 0'/><worldbody><site name='top' pos='0 0 .5'/><body name='b'>"
        "<joint type='slide' axis='1 0 0'/><geom size='.05' mass='2'/><site name='end'/>"
        "</body></worldbody><tendon><spatial armature='3'><site site='top'/><site site='end'/>"
        "</spatial></tendon>");
    double x = -1, v = 1.5;
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    rgWorld_SetState(lab.world, &x, &v);
    bool good = rgLab_Run(&lab, 1);
    x = rgWorld_Positions(lab.world, NULL)[0], v = rgWorld_Velocities(lab.world, NULL)[0];
    rgLab_Close(&lab);
    double energy = 0.5 * (2 + 3 * x * x / (x * x + 0.25)) * v * v;
    return good ? rgLab_Result(0.5 * (2 + 3 / 1.25) * 2.25, energy) : rgLab_Fail();
}

// A chain of rods on hinges, horizontal at the start. Text of the bodies; the caller frees it.
static char* rgChainText(int count, double length, double mass) {
    char* text = calloc((size_t)count * 200 + 1, 1);
    size_t used = 0, capacity = (size_t)count * 200 + 1;
    double I = mass * length * length / 12;
    for (int i = 0; text != NULL && i < count; ++i) {
        used += (size_t)snprintf(text + used, capacity - used,
                                 "<body name='l%d' pos='%.9g 0 0'><joint axis='0 1 0'/><inertial "
                                 "pos='%.9g 0 0' mass='%.9g' diaginertia='%.9g %.9g %.9g'/>",
                                 i, i > 0 ? length : 0, length / 2, mass, I, I, I);
    }
    for (int i = 0; text != NULL && i < count; ++i) {
        used += (size_t)snprintf(text + used, capacity - used, "</body>");
    }
    return text;
}

static rgOutcome rgChainEnergy(int count, double length, double seconds) {
    rgWorldDef def = rgLab_Def();
    char* text = rgChainText(count, length, 1.0 / count);
    rgLab lab = rgLab_Open(&def, "<worldbody>%s</worldbody>", text);
    free(text);
    return rgKeepsEnergy(&lab, seconds, RG_GRAVITY * count * length);
}

static rgOutcome rgTenLinks(void) {
    return rgChainEnergy(10, 0.05, 60);
}

static rgOutcome rgFiftyLinks(void) {
    return rgChainEnergy(50, 0.02, 10);
}

// ---- catenary

// 40 rods between two points at 0.7 of their length: tan(a_i) = (i - 19.5) w/H; H from the span.
#define ROPE_LINKS 40
#define ROPE_SPAN  0.7

static double rgRopeWidth(double H, double* sag) {
    double width = 0, depth = 0;
    for (int i = 0; i < ROPE_LINKS; ++i) {
        double slope = (i - 0.5 * (ROPE_LINKS - 1)) / H, length = 1.0 / ROPE_LINKS;
        width += length / sqrt(1 + slope * slope);
        depth += i < ROPE_LINKS / 2 ? -length * slope / sqrt(1 + slope * slope) : 0;
    }
    *sag = depth;
    return width;
}

static double rgRopeSag(double span) {
    double low = 1e-3, high = 1e4, sag = 0;
    for (int i = 0; i < 200; ++i) {
        double middle = sqrt(low * high);
        *(rgRopeWidth(middle, &sag) < span ? &low : &high) = middle;
    }
    return sag;
}

// Catenary: its far end is tied to a post that a servo pulls in from the straight rope.
static rgOutcome rgCatenary(void) {
    rgWorldDef def = rgLab_Def();
    char* text = rgChainText(ROPE_LINKS, 1.0 / ROPE_LINKS, 1.0 / ROPE_LINKS);
    rgLab lab = rgLab_Open(
        &def,
        "<default><joint damping='0.001'/></default><worldbody>%s<body name='post' pos='1 0 0'>"
        "<joint name='x' type='slide' axis='1 0 0' damping='200'/><inertial pos='0 0 0' mass='1' "
        "diaginertia='1 1 1'/></body></worldbody><equality><connect body1='l%d' body2='post' "
        "anchor='%.17g 0 0'/></equality><actuator><position joint='x' kp='1e4'/></actuator>",
        text, ROPE_LINKS - 1, 1.0 / ROPE_LINKS);
    free(text);
    bool good = lab.world != NULL;
    for (int i = 1; good && i <= 300; ++i) {
        double target = (ROPE_SPAN - 1) * fmin(0.01 * i, 1);
        good = rgWorld_SetControl(lab.world, &target) == rg_ok && rgLab_Run(&lab, 0.1);
    }
    if (!good) {
        rgLab_Close(&lab);
        return rgLab_Fail();
    }
    char middle[16];
    snprintf(middle, sizeof(middle), "l%d", ROPE_LINKS / 2);
    double sag = -rgLab_At(&lab, middle).z, span = rgLab_At(&lab, "post").x;
    rgLab_Close(&lab);
    return rgLab_Result(rgRopeSag(span), sag);
}

// ---- loops

static rgOutcome rgFourBar(void) {
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody><body name='crank'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 "
        "0.3' size='0.01' mass='1' contype='0' conaffinity='0'/><body name='coupler' pos='0 0 "
        "0.3'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.8 0 0.3' size='0.01' "
        "mass='1' contype='0' conaffinity='0'/></body></body><body name='rocker' pos='0.8 0 0'>"
        "<joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.01' mass='1' "
        "contype='0' conaffinity='0'/></body></worldbody><equality><connect body1='coupler' "
        "body2='rocker' anchor='0.8 0 0.3'/></equality>");
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    double v[3] = {3, 0, 0}, most = 0;
    rgWorld_SetState(lab.world, NULL, v);
    int done = 0;
    for (; done < 60000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++done) {
        rgPose a = rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "coupler"));
        rgPose b = rgWorld_BodyPose(lab.world, rgLab_Body(&lab, "rocker"));
        rgVec3 gap = rgSub(rgPose_Point(a, rgVec(0.8, 0, 0.3)), rgPose_Point(b, rgVec(0, 0, 0.6)));
        most = fmax(most, rgLength(gap));
    }
    rgLab_Close(&lab);
    return done == 60000 ? rgLab_Result(0, most) : rgLab_Fail();
}

// Six legs with springs, each on a ball and a slider, connected to a platform that swings.
static rgOutcome rgStewart(void) {
    char legs[8192] = "", loops[2048] = "";
    double height = 0.5;
    for (int i = 0; i < 6; ++i) {
        double base = RG_PI / 3 * (i / 2 * 2) + (i % 2 ? 0.3 : -0.3);
        double top = RG_PI / 3 * ((i + 1) / 2 * 2 - 1) + (i % 2 ? -0.3 : 0.3);
        rgVec3 foot = rgVec(0.4 * cos(base), 0.4 * sin(base), 0);
        rgVec3 head = rgVec(0.25 * cos(top), 0.25 * sin(top), height);
        rgVec3 along = rgSub(head, foot);
        double length = rgLength(along);
        along = rgScale(1 / length, along);
        size_t used = strlen(legs);
        snprintf(legs + used, sizeof(legs) - used,
                 "<body name='leg%d' pos='%.12g %.12g 0' zaxis='%.12g %.12g %.12g'><joint "
                 "type='ball'/><inertial pos='0 0 0.1' mass='0.3' diaginertia='1e-3 1e-3 1e-4'/>"
                 "<body name='rod%d' pos='0 0 %.12g'><joint type='slide' axis='0 0 1' "
                 "stiffness='2000' springref='0.02'/><inertial pos='0 0 -0.1' mass='0.3' "
                 "diaginertia='1e-3 1e-3 1e-4'/></body></body>",
                 i, foot.x, foot.y, along.x, along.y, along.z, i, length);
        used = strlen(loops);
        snprintf(loops + used, sizeof(loops) - used,
                 "<connect body1='rod%d' body2='plate' anchor='0 0 0'/>", i);
    }
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_Open(&def,
                           "<worldbody>%s<body name='plate' pos='0 0 %g'><freejoint/><inertial "
                           "pos='0 0 0.02' mass='5' diaginertia='0.1 0.1 0.2'/></body></worldbody>"
                           "<equality>%s</equality>",
                           legs, height, loops);
    rgLab_Throw(&lab, "plate", rgVec(0.3, 0, 0), rgVec(0, 0.5, 1));
    int count = 0, done = 0;
    double most = 0;
    for (; lab.world != NULL && done < 60000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++done) {
        const rgConstraintForce* rows = rgWorld_Constraints(lab.world, &count);
        for (int k = 0; k < count && done > 100; ++k) {
            most = fmax(most, rows[k].kind == rg_constraintEquality ? fabs(rows[k].gap) : 0);
        }
    }
    rgLab_Close(&lab);
    return done == 60000 ? rgLab_Result(0, most) : rgLab_Fail();
}

// ---- joints

static rgLab rgOpenSlider(const char* joint, const char* actuator) {
    rgWorldDef def = rgLab_Def();
    return rgLab_Open(&def,
                      "<option gravity='0 0 0'/><worldbody><body name='mass'><joint name='x' "
                      "type='slide' axis='1 0 0' %s/><inertial pos='0 0 0' mass='2' "
                      "diaginertia='1 1 1'/></body></worldbody><actuator>%s</actuator>",
                      joint, actuator);
}

static double rgSliderAfter(rgLab* lab, double q, double v, double seconds, double* speed) {
    if (lab->world == NULL) {
        return NAN;
    }
    rgWorld_SetState(lab->world, &q, &v);
    bool good = rgLab_Run(lab, seconds);
    double x = good ? rgWorld_Positions(lab->world, NULL)[0] : NAN;
    *speed = good ? rgWorld_Velocities(lab->world, NULL)[0] : NAN;
    rgLab_Close(lab);
    return x;
}

static rgOutcome rgSpring(void) {
    char joint[64];
    double k = 2 * pow(2 * RG_PI * 5, 2), v = 0;
    snprintf(joint, sizeof(joint), "stiffness='%.12g'", k);
    rgLab lab = rgOpenSlider(joint, "");
    double x = rgSliderAfter(&lab, 0.1, 0, 10, &v);
    return rgLab_Result(1, (0.5 * k * x * x + v * v) / (0.5 * k * 0.01));
}

static rgOutcome rgSpringPeriod(void) {
    double k = 2 * pow(2 * RG_PI * 5, 2), v = 1, x = 0.1;
    char joint[64];
    snprintf(joint, sizeof(joint), "stiffness='%.12g'", k);
    rgLab lab = rgOpenSlider(joint, "");
    if (lab.world == NULL) {
        return rgLab_Fail();
    }
    v = 0;
    rgWorld_SetState(lab.world, &x, &v);
    int crossings = 0;
    double first = NAN, last = NAN;
    for (int i = 0; i < 5000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        double now = rgWorld_Positions(lab.world, NULL)[0];
        if (x > 0 && now <= 0) {
            last = rgWorld_Time(lab.world) - 1e-3 * now / (now - x);
            first = crossings++ == 0 ? last : first;
        }
        x = now;
    }
    rgLab_Close(&lab);
    return rgLab_Result(0.2, (last - first) / (crossings - 1));
}

static rgOutcome rgDryFriction(void) {
    double v = 0;
    rgLab lab = rgOpenSlider("frictionloss='3'", "");
    double x = rgSliderAfter(&lab, 0, 1, 1, &v);
    return rgLab_Result(1.0 / 3, x); // v^2 m/(2 f)
}

static rgOutcome rgDamping(void) {
    double v = 0;
    rgLab lab = rgOpenSlider("damping='4'", "");
    rgSliderAfter(&lab, 0, 1, 0.5, &v);
    return rgLab_Result(exp(-1), v);
}

static rgOutcome rgLimit(void) {
    double v = 0;
    rgLab lab =
        rgOpenSlider("limited='true' range='-0.1 0.2'", "<motor joint='x' ctrllimited='false'/>");
    if (lab.world != NULL) {
        double push = 50;
        rgWorld_SetControl(lab.world, &push);
    }
    return rgLab_Result(0.2, rgSliderAfter(&lab, 0, 0, 2, &v));
}

// A stiff servo (kp 1e6) settles at its target, without oscillation.
static rgOutcome rgServo(void) {
    double v = 0, target = 0.3;
    rgLab lab = rgOpenSlider("damping='2000'", "<position joint='x' kp='1000000'/>");
    if (lab.world != NULL) {
        rgWorld_SetControl(lab.world, &target);
    }
    double x = rgSliderAfter(&lab, 0, 0, 1, &v);
    return rgLab_Result(0.3, x + fabs(v));
}

static rgOutcome rgServoLoaded(void) {
    // kp 200 against 10 N: 0.05 m short of the target
    double v = 0, target = 0.3, push = -10;
    rgLab lab = rgOpenSlider("damping='40'", "<position joint='x' kp='200'/>");
    if (lab.world != NULL) {
        rgWorld_SetControl(lab.world, &target);
        rgWorld_SetForce(lab.world, &push);
    }
    return rgLab_Result(0.25, rgSliderAfter(&lab, 0, 0, 5, &v));
}

static const rgPhysicsTest experiments[] = {
    {"top on a ball joint: precession", "rad/s", 5e-3, rgTopOnBall, false, NULL},
    {"top on a connect: precession", "rad/s", 5e-3, rgTopOnConnect, false, NULL},
    {"Euler's disc, 2 s: rise of the energy, share", "", 2e-3, rgEulersDisc, false, NULL},
    {"rattleback, 8 s, dt 0.2 ms: directions of spin that turn around", "", 0, rgRattleback, true,
     NULL},
    {"double pendulum, 60 s: energy, share of its range", "", 1e-3, rgDoublePendulum, true, NULL},
    {"floating chain, 10 s: centre of mass", "m", 1e-8, rgFloatingCenter, false, NULL},
    {"floating chain, 10 s: energy, share", "", 1e-8, rgFloatingEnergy, false, NULL},
    {"floating chain, 10 s: angular momentum, change", "", 1e-8, rgFloatingSpin, false, NULL},
    {"floating body with a sprung arm, 10 s: energy, share", "", 1e-7, rgFloatingSprings, false,
     NULL},
    {"bead on a rail and a heavy rope: energy", "J", 1e-4, rgHeavyRope, false, NULL},
    {"ten short links, 60 s: energy, share of their range", "", 1e-2, rgTenLinks, true, NULL},
    {"fifty links, 10 s: energy, share of their range", "", 1e-2, rgFiftyLinks, true, NULL},
    {"catenary of 40 links: sag", "m", 1e-4, rgCatenary, true, NULL},
    {"four-bar, 60 s: largest opening of the loop", "m", 1e-8, rgFourBar, true, NULL},
    {"Stewart platform, 60 s: largest opening of its loops", "m", 1e-8, rgStewart, true, NULL},
    {"spring of 5 Hz after 10 s: energy, share", "", 1e-3, rgSpring, false, NULL},
    {"spring of 5 Hz: period", "s", 2e-5, rgSpringPeriod, false, NULL},
    {"joint damping: speed after one time constant", "m/s", 1e-3, rgDamping, false, NULL},
    {"dry friction in a joint: stopping distance", "m", 6e-4, rgDryFriction, false, NULL},
    {"joint limit under 50 N: position", "m", 1e-9, rgLimit, false, NULL},
    {"servo, kp 1e6: position plus speed", "m", 1e-9, rgServo, false, NULL},
    {"servo, kp 200, loaded with 10 N: position", "m", 1e-6, rgServoLoaded, false, NULL},
};

const rgSubject rgPhysicsMotion = {"motion", experiments,
                                   (int)(sizeof(experiments) / sizeof(experiments[0]))};
