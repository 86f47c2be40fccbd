// The end of a step: v+, q+, and the predictor of the next one.
#pragma once
#include "world/kinematics.h"

typedef struct rgConstraintSet rgConstraintSet;
typedef struct rgFreeMotion rgFreeMotion;
typedef struct rgHeap rgHeap;

// The end of a step.
typedef struct rgNext {
    double* v;     // vCount, step coordinates: v+ of the rows
    double* endV;  // vCount, step coordinates: of the coordinates, then of the next state
    double* q;     // qCount; the projection moves it
    double* bodyV; // vCount, body coordinates
} rgNext;

bool rgNext_Create(rgNext* next, rgHeap* heap, const rgModel* model);
bool rgAllFinite(const double* x, int count);
// next := q moved by v (step coordinates) for a time; next may be q.
void rgKinematics_Integrate(const rgKinematics* kinematics, const double* q, const double* v,
                            double time, double* next);
void rgKinematics_IntegrateTree(const rgKinematics* kinematics, int tree, const double* q,
                                const double* v, double time, double* next);
// Transform v from one configuration to another: free bodies keep the velocity of their centre.
void rgKinematics_TransformVelocity(const rgKinematics* kinematics, const double* from,
                                    const double* to, double* v);
// Rates of joints that turn freely, from axes of the body to those of its parent (out) or back.
void rgKinematics_TurnRates(const rgKinematics* kinematics, double* v, bool out);
// The change of v in this step as the state keeps it: rates in axes of the parent.
void rgWorld_FindChange(const rgWorld* world, double* change);
// free.5: the last change and the predictor, of the state before, become those after the step.
void rgWorld_FindTrend(rgWorld* world, double* last, double* predictor);
// Half of the smaller of two changes where they agree in sign, else zero (free.5).
void rgPredictChange(const double* last, const double* now, int count, double* predictor);
// Predictor of the next step, from the change of v in this one.
void rgWorld_CommitPredictor(rgWorld* world);
// v at the end of the step, in step coordinates.
void rgWorld_StepVelocityAfter(const rgWorld* world, double* v);
