// The experiments, in the order of the report: one file each in this folder.
#include "report/report.h"

// clang-format off
extern const rgExperiment rgExperimentAblation;
extern const rgExperiment rgExperimentAnswers;
extern const rgExperiment rgExperimentCompliance;
extern const rgExperiment rgExperimentConvergence;
extern const rgExperiment rgExperimentFclib;
extern const rgExperiment rgExperimentGrasp;
extern const rgExperiment rgExperimentGrowth;
extern const rgExperiment rgExperimentInverse;
extern const rgExperiment rgExperimentLarge;
extern const rgExperiment rgExperimentMicro;
extern const rgExperiment rgExperimentModels;
extern const rgExperiment rgExperimentPhysics;
extern const rgExperiment rgExperimentScenes;
extern const rgExperiment rgExperimentSimulators;
extern const rgExperiment rgExperimentTimings;
extern const rgExperiment rgExperimentTongs;
extern const rgExperiment rgExperimentTosses;
extern const rgExperiment rgExperimentWallCube;

const rgExperiment* const rgExperiments[] = {
    &rgExperimentScenes,
    &rgExperimentConvergence,
    &rgExperimentTimings,
    &rgExperimentSimulators,
    &rgExperimentWallCube,
    &rgExperimentFclib,
    &rgExperimentInverse,
    &rgExperimentCompliance,
    &rgExperimentTosses,
    &rgExperimentGrasp,
    &rgExperimentTongs,
    &rgExperimentGrowth,
    &rgExperimentMicro,
    &rgExperimentLarge,
    &rgExperimentModels,
    &rgExperimentAnswers,
    &rgExperimentAblation,
    &rgExperimentPhysics,
};
// clang-format on
const int rgExperimentCount = (int)(sizeof(rgExperiments) / sizeof(rgExperiments[0]));
