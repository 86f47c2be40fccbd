// Settings of a world, and parameters that it changes of its shared model.
#pragma once
#include "model/model.h"
#include "rigor/world.h"

// Settings from the definition and the options of the model.
typedef struct rgSettings {
    rgVec3 gravity;
    double dt;
    rgIntegrator integrator; // midpoint or Euler
    double restitutionThreshold;
} rgSettings;

// Kinds of parameters that can change while a world runs.
typedef enum rgChangeKind {
    rg_changeSettings,
    rg_changeBody,
    rg_changeJoint,
    rg_changeShape,
    rg_changeTendon,
    rg_changeActuator,
    rg_changeEquality,
    rg_changeKindCount,
} rgChangeKind;

// Parameters that a world has changed of its shared model.
typedef struct rgVariant {
    const rgModel* shared;
    rgModel own;      // the shared one, but for the arrays of the kinds that are owned
    unsigned owned;   // bits of rgChangeKind: arrays that are this world's
    unsigned changed; // bits of rgChangeKind: part of the state
    rgWorldDef firstDef;
} rgVariant;

// ---- change.c
// Changes as numbers: their count, written, checked and read back.
size_t rgVariant_ChangeCount(const rgVariant* variant, unsigned changed);
void rgWorld_WriteChanges(const rgWorld* world, char* bytes);
bool rgWorld_ChangesAreUsable(const rgWorld* world, unsigned changed, const char* bytes);
rgResult rgWorld_ReadChanges(rgWorld* world, unsigned changed, const char* bytes);
uint64_t rgWorld_HashChanges(const rgWorld* world, uint64_t hash);
void rgVariant_FreeChanges(rgVariant* variant, const rgAllocator* allocator);
