// The experiments, in the order of the report: one file each in this folder.
#include "report/report.h"

extern const rgExperiment rgExperimentPhysics;

const rgExperiment* const rgExperiments[] = {
    &rgExperimentPhysics,
};
const int rgExperimentCount = (int)(sizeof(rgExperiments) / sizeof(rgExperiments[0]));
