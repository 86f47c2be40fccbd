// Robots: inverse dynamics returns the forces of a step, and a step with the forces of inverse
// dynamics returns the motion.
#include "physics.h"

enum { maxDofs = 64, maxContacts = 128, maxRows = 256 };

static uint64_t rgNextRandom(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

// In world axes: the projection of positions turns those of a body.
static void rgAxesVelocity(const rgWorld* world, double* v) {
    rgModel_StepVelocity(rgWorld_Model(world), rgWorld_Positions(world, NULL),
                         rgWorld_Velocities(world, NULL), v);
}

// One step with random forces, its velocity inverted, and the step made again with the result: the
// largest difference of velocities.
static double rgTripError(rgWorld* world, double size, uint64_t* random) {
    int nv = 0, contactCount = 0, rowCount = 0;
    rgWorld_Velocities(world, &nv);
    size_t bytes = rgWorld_StateSize(world);
    void* saved = malloc(bytes);
    double force[maxDofs], wanted[maxDofs], v[maxDofs], error = 0;
    static const double unit = 1.0 / 9007199254740992.0;
    for (int i = 0; i < nv; ++i) {
        force[i] = size * (2 * unit * (double)rgNextRandom(random) - 1);
    }
    rgWorld_SetForce(world, force);
    bool good = saved != NULL && rgWorld_Save(world, saved, bytes) == rg_ok &&
                rgWorld_Step(world, NULL) == rg_ok;
    double(*impulses)[6] = calloc(maxContacts, sizeof(*impulses));
    rgConstraintForce* rows = calloc(maxRows, sizeof(*rows));
    if (good && impulses != NULL && rows != NULL) {
        rgAxesVelocity(world, wanted);
        const rgContact* contacts = rgWorld_Contacts(world, &contactCount);
        const rgConstraintForce* others = rgWorld_Constraints(world, &rowCount);
        good = contactCount <= maxContacts && rowCount <= maxRows;
        for (int i = 0; good && i < contactCount; ++i) {
            memcpy(impulses[i], contacts[i].impulse, sizeof(impulses[i]));
        }
        for (int i = 0; good && i < rowCount; ++i) {
            rows[i] = others[i];
        }
    }
    rgInverseDef def = rgDefaultInverseDef();
    def.snap = 1e-5;
    def.coordinates = rg_velocityStep;
    def.start = rg_startGiven;
    def.impulses = impulses != NULL ? impulses[0] : NULL;
    def.impulseCount = contactCount;
    def.constraints = rows;
    def.constraintCount = rowCount;
    rgInverseResult result;
    good = good && rgWorld_Restore(world, saved, bytes) == rg_ok &&
           rgWorld_Inverse(world, &def, wanted, &result) == rg_ok &&
           rgWorld_SetForce(world, result.force) == rg_ok && rgWorld_Step(world, NULL) == rg_ok;
    rgAxesVelocity(world, v);
    for (int i = 0; good && i < nv; ++i) {
        error = fmax(error, fabs(v[i] - wanted[i]));
    }
    free(saved);
    free(impulses);
    free(rows);
    return good ? error : NAN;
}

static rgOutcome rgRoundTrip(const char* name, double size) {
    const rgSceneInfo* scene = rgFindScene(name);
    rgModelDef* model = NULL;
    if (scene == NULL || rgBuildScene(scene, NULL, NULL, &model) != rg_ok) {
        return rgLab_Fail();
    }
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_OpenDef(&def, model);
    if (lab.world == NULL || rgModel_Info(lab.model).vCount > maxDofs ||
        rgScene_Start(scene, lab.world) != rg_ok) {
        rgLab_Close(&lab);
        return rgLab_Fail();
    }
    uint64_t random = 7;
    double worst = 0;
    for (int i = 0; i < 500; ++i) {
        double error = rgTripError(lab.world, size, &random);
        worst = error > worst || isnan(error) ? error : worst;
    }
    rgLab_Close(&lab);
    return rgLab_Result(0, worst);
}

static rgOutcome rgArmTrip(void) {
    return rgRoundTrip("arm", 5);
}

static rgOutcome rgBipedTrip(void) {
    return rgRoundTrip("biped", 2);
}

static rgOutcome rgQuadrupedTrip(void) {
    return rgRoundTrip("quadruped", 1);
}

static rgOutcome rgHandTrip(void) {
    return rgRoundTrip("hand", 0.01);
}

static rgOutcome rgHumanoidTrip(void) {
    return rgRoundTrip("humanoid", 5);
}

// A robot that stands on its servos: the floor carries its weight.
static rgOutcome rgStands(void) {
    const rgSceneInfo* scene = rgFindScene("quadruped");
    rgModelDef* model = NULL;
    if (scene == NULL || rgBuildScene(scene, NULL, NULL, &model) != rg_ok) {
        return rgLab_Fail();
    }
    rgWorldDef def = rgLab_Def();
    rgLab lab = rgLab_OpenDef(&def, model);
    double carried = NAN, weight = 1;
    if (lab.world != NULL && rgScene_Start(scene, lab.world) == rg_ok && rgLab_Run(&lab, 5)) {
        int count = 0;
        const rgContact* contacts = rgWorld_Contacts(lab.world, &count);
        carried = 0;
        for (int i = 0; i < count; ++i) {
            carried += contacts[i].bodyA.index1 == 0 ? contacts[i].force.z : 0;
        }
        weight = RG_GRAVITY * rgModel_Info(lab.model).mass;
    }
    rgLab_Close(&lab);
    return rgLab_Result(1, carried / weight);
}

static const rgPhysicsTest experiments[] = {
    {"inverse round trip, arm: velocity", "rad/s", 1e-6, rgArmTrip, false, NULL},
    {"inverse round trip, biped with loops: velocity", "rad/s", 1e-6, rgBipedTrip, false, NULL},
    {"inverse round trip, quadruped: velocity", "rad/s", 1e-6, rgQuadrupedTrip, false, NULL},
    {"inverse round trip, hand with cubes: velocity", "rad/s", 1e-6, rgHandTrip, false, NULL},
    {"inverse round trip, humanoid: velocity", "rad/s", 1e-6, rgHumanoidTrip, false,
     "in one step of 500 a foot pivots at another speed, a second solution"},
    {"quadruped that stands: force on the floor, share of the weight", "", 1e-6, rgStands, false,
     NULL},
};

const rgSubject rgPhysicsRobots = {"robots", experiments,
                                   (int)(sizeof(experiments) / sizeof(experiments[0]))};
