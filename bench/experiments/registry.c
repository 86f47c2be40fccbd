// The experiments, in the order of the report: one file each in this folder.
#include "report/report.h"

extern const rgExperiment rgExperimentPhysics;
extern const rgExperiment rgExperimentSimulators;
extern const rgExperiment rgExperimentModels;
extern const rgExperiment rgExperimentWallCube;
extern const rgExperiment rgExperimentLarge;
extern const rgExperiment rgExperimentTimings;
extern const rgExperiment rgExperimentGrasp;

const rgExperiment* const rgExperiments[] = {
    &rgExperimentPhysics, //
    &rgExperimentTimings, &rgExperimentSimulators, &rgExperimentWallCube,
    &rgExperimentLarge,   &rgExperimentGrasp,      &rgExperimentModels,
};
const int rgExperimentCount = (int)(sizeof(rgExperiments) / sizeof(rgExperiments[0]));
