// rigor identify: its job, and printing of the answer.
#pragma once
#include "model.h"

typedef struct rgIdentifyOptions {
    rgModelArguments model;
    rgTextList fits;
    const char* plan;
    const char* noise;
    const char* startNoise;
    int velocities; // instant, backward
    int loss;
    int slopes;
    double timeStep, tolerance;
    double length; // length for position errors in percent; 0: none
    int threads;
    int seed;
    const char* out;
    const char* motionsCsv;
    bool json;
    bool fields;
    rgIdentifyDef def;
} rgIdentifyOptions;

typedef struct rgIdentifyJob {
    rgIdentifyOptions options;
    rgLoadedModel loaded;
    rgThreadPool* pool;
    rgParameterDef* parameters;
    int parameterCount;
    rgMotion* motions; // copies of the loaded ones' heads
    rgMotion** loadedMotions;
    int motionCount;
    rgIdentification* answer;
    rgProgress progress;
    rgIdentifyStage stage;
} rgIdentifyJob;

// identify_plan.c: "NAME=LOW:HIGH[,log][,start=X][,prior=MEAN:SD]" from --fit and from the lines of
// --plan. False after a message.
bool rgIdentifyJob_ReadPlan(rgIdentifyJob* job);
void rgIdentifyJob_FreePlan(rgIdentifyJob* job);

// identify_report.c
// Mean errors in units of the noise that was stated, the largest kind; about 1 where all fits.
double rgIdentifyJob_Misfit(const rgIdentifyJob* job);
#define RG_IDENTIFY_MISFIT 3 // beyond this the answer is not of these motions
// True if the fit converged, and the remaining errors are those of the noise.
bool rgIdentifyJob_IsSound(const rgIdentifyJob* job);
// Every parameter, and no combination of them is open.
bool rgIdentifyJob_IsDetermined(const rgIdentifyJob* job);
void rgIdentifyJob_Print(const rgIdentifyJob* job);
void rgIdentifyJob_PrintJson(const rgIdentifyJob* job);
// The errors of each motion as CSV; false after a message.
bool rgIdentifyJob_WriteMotions(const rgIdentifyJob* job);
void rgPrintParameterFields(void);
