// One simulation from a scene or a file: the model, the world, the loop, and its measurements.
// Shared by simulate and bench.
#pragma once
#include "model.h"
#include "run.h"

// Counts of small whole numbers.
typedef struct rgHistogram {
    long long* counts;
    int size;
    long long total;
    double sum;
} rgHistogram;

void rgHistogram_Add(rgHistogram* histogram, int value);
double rgHistogram_Mean(const rgHistogram* histogram);
// The smallest value that at least this share of all values does not exceed.
int rgHistogram_Quantile(const rgHistogram* histogram, double share);
void rgHistogram_Free(rgHistogram* histogram);

typedef struct rgSimulationArguments {
    rgModelArguments model;
    const char* what;  // scene, built-in model or file
    char* const* more; // files that are attached to it
    int moreCount;
    const char* label; // label in the summary; NULL: `what`
    const char* hold;  // KP,KD of a servo for every joint
    bool watchTorques; // sensors of all joints' actuator forces, after the others
    int selfCollision; // rgSelfCollision
    int start;         // rgStart
    double timeStep;   // 0: that of the file
    int integrator;    // rgIntegrator; 0: that of the file
    int solver;
    int contactModel;
    rgSolverArguments admm;
    double accuracy;   // residual that is enough for bodies that move; 0: the tolerance
    double tolerance;  // 0: the library's default, as the next
    int maxIterations; //
    double stiffness;  // 0: that of the materials
    double damping;    // negative: ten time steps times stiffness
    double tangentialStiffness;
    double tangentialDamping; // as the two before
    double dissipation;       // [s/m]
    double friction;          // NAN: that of the materials
    double restitution;       // NAN: that of the materials
    int frictionRule;         // rgFrictionRule; 0: that of the materials
    int seed;
    int threads;
    int bodyCount; // 0: the scene's own
    bool ground;
    const char* key;
    const char* q;
    const char* v;
} rgSimulationArguments;

typedef enum rgSelfCollision { rg_selfAuto, rg_selfAll, rg_selfNone } rgSelfCollision;
typedef enum rgStart { rg_startFile, rg_startNeutral, rg_startKey, rg_startProjected } rgStart;
extern const char* const rgSelfCollisionNames[];
extern const char* const rgStartNames[];

rgSimulationArguments rgDefaultSimulationArguments(void);

// Write the options of every verb that simulates to the start of its table: those of the files, the
// step, the start; then those of the contact law, and the servos that hold a robot.
#define RG_SIMULATION_OPTION_COUNT (RG_MODEL_OPTION_COUNT + 10)
#define RG_CONTACT_OPTION_COUNT    8
void rgSimulationArguments_Options(rgSimulationArguments* arguments, rgOption* table);
void rgSimulationArguments_ContactOptions(rgSimulationArguments* arguments, rgOption* table);
// All that decide how a simulation moves: these, the method of the solver, and how it starts.
#define RG_PHYSICS_OPTION_COUNT                                                                    \
    (RG_SIMULATION_OPTION_COUNT + RG_CONTACT_OPTION_COUNT + RG_SOLVER_OPTION_COUNT + 6)
void rgSimulationArguments_PhysicsOptions(rgSimulationArguments* arguments, rgOption* table);
rgOption rgHoldOption(rgSimulationArguments* arguments);

// Apply the arguments to a definition before it is compiled: servos, pairs of one robot, sensors.
// False after a message. prepare.c
bool rgPrepareDef(rgModelDef* def, const rgSimulationArguments* arguments);

typedef struct rgSimulationStats {
    int steps;
    double seconds; // in rgWorld_Step alone
    double stageSeconds[rg_stageCount];
    rgHistogram contacts;
    rgHistogram iterations;
    int unconverged;
    int regularized;      // steps
    int within6, within5; // steps with a residual of at most 1e-6, 1e-5
    double residual;      // worst
    double penetration;   // deepest, without bodies that the script moves [m]
    double drift;         // farthest from the start, without bodies that the script moves [m]
} rgSimulationStats;

typedef struct rgSimulation {
    const char* name;
    const rgSceneInfo* scene; // NULL for files
    rgLoadedModel loaded;
    rgModelInfo info;
    rgWorldDef def;
    rgThreadPool* pool;
    rgWorld* world;
    rgDynamics* poses; // at the positions last measured
    bool* isScripted;  // by body, from 0
    rgVec3* start;     // start position of each body
    int ownActuators;  // actuators before the servos of --hold
    int ownSensors;    // sensors before those of torques
    rgSimulationStats stats;
} rgSimulation;

// Lift robots that start inside a floor and move freely, with a message; false after a message
// about one that cannot be lifted. floor.c
bool rgSimulation_LiftFromFloor(rgSimulation* simulation, const rgSimulationArguments* arguments);
// True if a shape collides, and its body moves.
bool rgIsMovingShape(const rgModel* model, rgShapeId id);

// Make a simulation ready to run. False after messages on stderr; free it either way.
bool rgSimulation_Begin(rgSimulation* simulation, const rgSimulationArguments* arguments);
void rgSimulation_Free(rgSimulation* simulation);

// One step of the scene's script and of the world, measured.
rgResult rgSimulation_Step(rgSimulation* simulation, rgStepReport* report);

// True if a loose body has nothing at all to fall on.
bool rgSimulation_HasNoFloor(const rgSimulation* simulation);

extern const char* const rgStageNames[]; // by rgStage
