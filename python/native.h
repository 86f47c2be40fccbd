// What the Python package needs beside the public headers: objects that may be destroyed in any
// order, arrays that Python writes and the world takes over, and loops without the interpreter.
#pragma once
#include <rigor/rigor.h>

// rg_ok when the library serves this extension.
rgResult rgPyCheckVersion(void);

// A model that lives until the last of its owners lets go of it.
typedef struct rgPyModel rgPyModel;
rgResult rgPyCreateModel(const rgModelDef* def, rgDiagnostics* diagnostics, rgPyModel** model);
const rgModel* rgPyModel_Model(const rgPyModel* model);
void rgPyReleaseModel(rgPyModel* model);

// Algorithms on a model, which they keep alive.
typedef struct rgPyDynamics rgPyDynamics;
rgResult rgPyCreateDynamics(rgPyModel* model, const rgDynamicsDef* def, rgPyDynamics** dynamics);
void rgPyReleaseDynamics(rgPyDynamics* dynamics);
rgDynamics* rgPyDynamics_Dynamics(rgPyDynamics* dynamics);

// A world with the arrays that Python sees. Every use is between Enter and Leave.
typedef struct rgPyWorld rgPyWorld;
typedef struct rgPyArrays {
    double *q, *v, *control, *force;
} rgPyArrays;
typedef enum rgPyArray { rg_pyPositions, rg_pyVelocities, rg_pyControl, rg_pyForce } rgPyArray;
// What Push did not take: the first number that is none, or index -1.
typedef struct rgPyRefusal {
    rgPyArray array;
    int index;
    double value;
} rgPyRefusal;

rgResult rgPyCreateWorld(rgPyModel* model, const rgWorldDef* def, const rgSceneInfo* scene,
                         rgPyArrays arrays, rgDiagnostics* diagnostics, rgPyWorld** world);
void rgPyReleaseWorld(rgPyWorld* world);
rgWorld* rgPyWorld_World(rgPyWorld* world);
const rgStepReport* rgPyWorld_Report(const rgPyWorld* world);

// False when another thread is in. Leave shows in the arrays what the world has.
bool rgPyWorld_Enter(rgPyWorld* world);
void rgPyWorld_Leave(rgPyWorld* world);
// Give the world what Python wrote into the arrays. On refusal the arrays are as the world is.
rgResult rgPyWorld_Push(rgPyWorld* world);
rgPyRefusal rgPyWorld_Refusal(const rgPyWorld* world);
rgResult rgPyWorld_Forward(rgPyWorld* world);

// Enter, push, so many steps, leave. Returns 0, or an rgResult, or one of the two below.
int rgPyWorld_Step(rgPyWorld* world, int count);
#define RG_PY_BUSY    1000
#define RG_PY_REFUSED 2000

// The same for many worlds; arrays have one row per world. Push gives the batch the rows that were
// written; a row that is refused stops its world, as rgWorldStatus tells.
typedef struct rgPyBatch rgPyBatch;
rgResult rgPyCreateBatch(rgPyModel* model, const rgBatchDef* def, rgPyArrays arrays,
                         rgDiagnostics* diagnostics, rgPyBatch** batch);
void rgPyReleaseBatch(rgPyBatch* batch);
rgBatch* rgPyBatch_Batch(rgPyBatch* batch);
bool rgPyBatch_Enter(rgPyBatch* batch);
void rgPyBatch_Leave(rgPyBatch* batch);
rgResult rgPyBatch_Push(rgPyBatch* batch);
