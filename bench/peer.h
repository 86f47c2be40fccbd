// Other engines behind one interface, all fed from one description of a scene, so that all
// simulate the same thing: masses and poses are compared before anything is timed. rigor itself is
// one of them. One file each in bench/peers; which are there is found at build time.
#pragma once
#include "rigor/rigor.h"

#ifdef __cplusplus
extern "C" {
#endif

// A scene: rigor's model, and where it starts. Bodies are counted from 0 here, as in the
// definition.
typedef struct rgPeerScene {
    char* name;
    char* file;       // MJCF file that it was read from; NULL: made in code
    rgModelDef* def;  // as read
    rgModel* model;   // compiled
    rgModelInfo info; // sizes of the model
    double timeStep;  // [s]
    rgVec3 gravity;
    double* q; // start, in the coordinates of the model
    double* v;
    rgPose* poses; // poses of all bodies at the start
} rgPeerScene;

// Read a file (first key frame), a built-in model or a built-in scene; or take ownership of a
// definition, on failure too. v may be NULL: at rest; q NULL: first key frame, else neutral. False
// after a message; free it either way.
bool rgPeerScene_Load(rgPeerScene* scene, const char* what, double timeStep);
bool rgPeerScene_Create(rgPeerScene* scene, const char* name, rgModelDef* def, double timeStep,
                        const double* q, const double* v);
void rgPeerScene_Free(rgPeerScene* scene);

typedef struct rgPeerLook {
    int contactCount;
    double penetration; // deepest now, by the engine's own account [m]
    double residual;    // residual of the last step, by the judge; NAN: the engine has none
    double collision;   // seconds in collision detection since the reset; NAN: not known
} rgPeerLook;

typedef struct rgPeerBody {
    rgPose pose;        // pose of the frame of rigor's body
    rgSpatial velocity; // at its origin, world axes
    double mass;        // NAN: the engine keeps none for it
} rgPeerBody;

typedef struct rgPeer {
    const char* name;            // "MuJoCo"
    const char* const* variants; // settings by name, NULL-terminated; the first is the default.
                                 // Numbers may follow: "elliptic; timeconst 0.01; dampratio 0.5"
    const char* (*version)(void);
    // NULL with a fault when the engine cannot do this scene. The world refers to the scene.
    void* (*create)(const rgPeerScene* scene, const char* variant, char* fault, size_t faultSize);
    void (*destroy)(void* world);
    void (*reset)(void* world); // back to the start
    bool (*step)(void* world);
    void (*look)(void* world, rgPeerLook* look);
    bool (*body)(void* world, int body, rgPeerBody* state); // false: not known
    // One entry per actuator of the model; NULL: not offered.
    void (*control)(void* world, const double* control);
    // CPU seconds of the steps since the reset, where they are made in another process. NULL: they
    // are made by the calling thread.
    double (*seconds)(void* world);
} rgPeer;

// Engines that were built in, rigor first. NULL: not built.
const rgPeer* rgPeerAt(int index);
const rgPeer* rgFindPeer(const char* name);
extern const rgPeer rgPeerRigor;

// A number behind a variant's name, and whether the variant is this one, whatever follows.
double rgPeerSetting(const char* variant, const char* name, double otherwise);
bool rgPeerVariantIs(const char* variant, const char* name);

// One engine with one setting on one scene.
typedef struct rgPeerRun {
    const rgPeer* peer;
    const char* variant;
    char label[64];  // "MuJoCo elliptic"
    void* world;     // NULL: takes no part
    char fault[256]; // why
    const rgPeerScene* scene;
    double* seconds; // CPU time of the thread in each repetition
    int repeatCount;
    double least, median; // least and median of the times
    int steps;            // per repetition
    bool failed;          // a step did
    double contacts;      // mean over the steps looked at
    double penetration;   // deepest of them, by its own account [m]
    double residual;      // largest of them; NAN: none
    double collision;     // seconds, least of all looks; NAN
} rgPeerRun;

// Create the world and compare masses and poses with the scene's. False: see fault. End it either
// way. A NULL variant is the default one.
bool rgPeerRun_Begin(rgPeerRun* run, const rgPeer* peer, const char* variant,
                     const rgPeerScene* scene);
void rgPeerRun_End(rgPeerRun* run);
// Largest difference of a mass (relative) and of a position [m] or rotation [rad] from the scene's
// at the start.
bool rgPeerRun_Compare(rgPeerRun* run, double* mass, double* pose);
// Time `steps` steps from the start; repetitions of all runs alternate. None starts after
// `seconds`.
void rgPeerRuns_Time(rgPeerRun* runs, int runCount, int steps, int repeat, double seconds);
// Repeat the run, and evaluate every step.
void rgPeerRun_Look(rgPeerRun* run, int steps);

#ifdef __cplusplus
}
#endif
