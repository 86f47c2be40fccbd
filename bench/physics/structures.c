// Standing and falling structures: stacks, arches, card houses, tables, masses that differ.
#include "physics.h"

#define FLOOR "<geom type='plane' size='0 0 1'/>"

// Cubes of 0.1 m on each other; masses grow by a factor from one to the next. Largest distance from
// the start after a time.
static double rgStackMoves(int count, double factor, double seconds, double* force) {
    char* text = calloc((size_t)count, 200);
    double mass = 1, weight = 0;
    for (int i = 0; text != NULL && i < count; ++i) {
        size_t used = strlen(text);
        snprintf(text + used, (size_t)count * 200 - used,
                 "<body name='c%d' pos='0 0 %.9g'><freejoint/><geom type='box' size='0.05 0.05 "
                 "0.05' mass='%.17g'/></body>",
                 i, 0.05 + 0.1 * i, mass);
        weight += mass * RG_GRAVITY;
        mass *= factor;
    }
    rgWorldDef def = rgDefaultWorldDef();
    rgLab lab = rgLab_Open(&def, "<worldbody>" FLOOR "%s</worldbody>", text);
    free(text);
    bool good = rgLab_Run(&lab, seconds);
    double most = good ? 0 : NAN;
    for (int i = 0; good && i < count; ++i) {
        rgVec3 p = rgWorld_BodyPose(lab.world, (rgBodyId){i + 1}).p;
        most = fmax(most, rgLength(rgSub(p, rgVec(0, 0, 0.05 + 0.1 * i))));
    }
    if (force != NULL) {
        int contacts = 0;
        const rgContact* list = good ? rgWorld_Contacts(lab.world, &contacts) : NULL;
        *force = 0;
        for (int i = 0; i < contacts; ++i) {
            *force += list[i].bodyA.index1 == 0 ? list[i].force.z / weight : 0;
        }
    }
    rgLab_Close(&lab);
    return most;
}

static rgOutcome rgStack(void) {
    return rgLab_Result(0, rgStackMoves(30, 1, 2, NULL));
}

static rgOutcome rgInverted(void) {
    return rgLab_Result(0, rgStackMoves(6, 10, 2, NULL));
}

static rgOutcome rgMassRatio(void) {
    return rgLab_Result(0, rgStackMoves(2, 1e8, 1, NULL));
}

static rgOutcome rgMassRatioForce(void) {
    double force = NAN;
    rgStackMoves(2, 1e8, 1, &force);
    return rgLab_Result(1, force);
}

// ---- arch

// A half circle of voussoirs of mean radius 1; stands if thicker than Milankovitch's ratio.
#define VOUSSOIRS 15

static rgBodyId rgAddVoussoir(rgModelDef* def, int index, double thickness) {
    double from = RG_PI * index / VOUSSOIRS, to = RG_PI * (index + 1) / VOUSSOIRS;
    double inner = 1 - thickness / 2, outer = 1 + thickness / 2, middle = (from + to) / 2;
    rgVec3 center = rgVec(cos(middle), 0, sin(middle));
    double vertices[24];
    for (int k = 0; k < 8; ++k) {
        double r = k & 1 ? outer : inner, a = k & 2 ? to : from;
        vertices[3 * k] = r * cos(a) - center.x;
        vertices[3 * k + 1] = k & 4 ? 0.1 : -0.1;
        vertices[3 * k + 2] = r * sin(a) - center.z;
    }
    rgMeshData mesh = {.vertexCount = 8, .vertices = vertices};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeHull;
    shape.mesh = &mesh;
    shape.material.mu = 2;
    rgBodyDef body = rgDefaultBodyDef();
    body.pose.p = center;
    double half = (outer - inner) / 2, width = (to - from) / 2;
    body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(half, 0.1, width), thickness * width);
    // the centroid of the ring segment is a little off its middle
    double mean = 2.0 / 3 * (outer * outer * outer - inner * inner * inner) /
                  (outer * outer - inner * inner) * sin(width) / width;
    body.inertia.center = rgScale(mean - 1, center);
    rgModelDef_AddBody(def, &body, &shape.body);
    rgModelDef_AddShape(def, &shape, NULL);
    rgJointDef joint = rgDefaultJointDef();
    joint.kind = rg_jointFree;
    joint.body = shape.body;
    rgModelDef_AddJoint(def, &joint, NULL);
    return shape.body;
}

static bool rgArchFalls(double thickness) {
    rgModelDef* def = NULL;
    if (rgCreateModelDef(NULL, &def) != rg_ok) {
        return true;
    }
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    floor.material.mu = 2;
    rgModelDef_AddShape(def, &floor, NULL);
    rgBodyId crown = {0};
    for (int i = 0; i < VOUSSOIRS; ++i) {
        rgBodyId id = rgAddVoussoir(def, i, thickness);
        crown = i == VOUSSOIRS / 2 ? id : crown;
    }
    rgWorldDef settings = rgDefaultWorldDef();
    settings.timeStep = 2e-3;
    rgLab lab = rgLab_OpenDef(&settings, def);
    double start = lab.world != NULL ? rgWorld_BodyPose(lab.world, crown).p.z : NAN;
    bool good = rgLab_Run(&lab, 3);
    double sunk = good ? start - rgWorld_BodyPose(lab.world, crown).p.z : INFINITY;
    rgLab_Close(&lab);
    return !(sunk < 0.01);
}

static rgOutcome rgArch(void) {
    return rgLab_Result(0.1075, rgBisect(rgArchFalls, 0.09, 0.13, 6));
}

// ---- cards

// Two sharp cards lean on each other at 30 degrees.
static bool rgCardsSlide(double mu) {
    rgWorldDef def = rgLab_Def();
    def.friction = mu;
    double angle = RG_PI / 6, half = 0.05, t = 0.001;
    double x = half * sin(angle) + t * cos(angle), z = half * cos(angle) + t * sin(angle);
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody>" FLOOR "<body name='r' pos='%.17g 0 %.17g' euler='0 %.17g 0'><freejoint/>"
        "<geom type='box' size='%g 0.03 %g' mass='0.01'/></body><body name='l' pos='%.17g 0 %.17g' "
        "euler='0 %.17g 0'><freejoint/><geom type='box' size='%g 0.03 %g' mass='0.01'/></body>"
        "</worldbody>",
        x, z, -angle, t, half, -x, z, angle, t, half);
    bool good = rgLab_Run(&lab, 1);
    double moved = good ? rgLab_At(&lab, "r").x - x : 1;
    rgLab_Close(&lab);
    return !(fabs(moved) < 1e-3);
}

// Cards of thickness 2 t touch each other and the floor with the same face: moments about the lower
// edge give the push at the top.
static rgOutcome rgCards(void) {
    double angle = RG_PI / 6, half = 0.05, t = 0.001;
    double push = (half * sin(angle) - t * cos(angle)) / (2 * half * cos(angle));
    return rgLab_Result(push, rgBisect(rgCardsSlide, 0.15, 0.6, 9));
}

// ---- table

// Four legs and a load off the middle: the distribution of the load is undetermined, but the sum is
// the weight and nothing changes from step to step.
static rgOutcome rgTable4(void) {
    rgWorldDef def = rgDefaultWorldDef();
    rgLab lab = rgLab_Open(
        &def,
        "<worldbody>" FLOOR "<body name='t' pos='0 0 0.72'><freejoint/><geom type='box' "
        "size='0.55 0.45 0.02' mass='10'/><geom type='sphere' size='0.02' pos='-0.5 -0.4 -0.7' "
        "mass='0.5'/><geom type='sphere' size='0.02' pos='-0.5 0.4 -0.7' mass='0.5'/><geom "
        "type='sphere' size='0.02' pos='0.5 -0.4 -0.7' mass='0.5'/><geom type='sphere' size='0.02' "
        "pos='0.5 0.4 -0.7' mass='0.5'/></body><body name='w' pos='0.2 0.1 0.77'><freejoint/><geom "
        "type='box' size='0.03 0.03 0.03' mass='5'/></body></worldbody>");
    if (!rgLab_Run(&lab, 1)) {
        rgLab_Close(&lab);
        return rgLab_Fail();
    }
    double last[64] = {0}, jump = 0;
    for (int i = 0; i < 1000 && rgWorld_Step(lab.world, NULL) == rg_ok; ++i) {
        int count = 0;
        const rgContact* contacts = rgWorld_Contacts(lab.world, &count);
        for (int k = 0; k < count && k < 64; ++k) {
            if (contacts[k].bodyA.index1 == 0) {
                jump = fmax(jump, i > 0 ? fabs(contacts[k].force.z - last[k]) : 0);
                last[k] = contacts[k].force.z;
            }
        }
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, jump);
}

static const rgPhysicsTest experiments[] = {
    {"stack of 30 cubes, 2 s: moves", "m", 1e-6, rgStack, false, NULL},
    {"inverted stack, 1 kg to 10^5 kg, 2 s: moves", "m", 1e-6, rgInverted, false, NULL},
    {"10^8 kg on 1 kg: moves", "m", 1e-6, rgMassRatio, false, NULL},
    {"10^8 kg on 1 kg: force on the floor, share of the weight", "", 1e-6, rgMassRatioForce, false,
     NULL},
    {"arch of 15 voussoirs falls when thinner than", "", 0.003, rgArch, true, NULL},
    {"house of two cards at 30 degrees: friction that holds it", "", 5e-3, rgCards, true, NULL},
    {"table with four legs: largest change of a leg's force in a step", "N", 1e-3, rgTable4, false,
     NULL},
};

const rgSubject rgPhysicsStructures = {"structures", experiments,
                                       (int)(sizeof(experiments) / sizeof(experiments[0]))};
