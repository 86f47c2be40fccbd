// The summary of a simulation.
#pragma once
#include "simulation.h"

typedef struct rgSimulateSummary {
    const rgSimulation* simulation;
    const rgSimulationArguments* arguments;
    const char* fault; // reason for which the run ended early, or NULL
    int dumped;        // problems written; negative: dumps are off
    FILE* out;         // stream that the summary is printed to
} rgSimulateSummary;

// Warnings on stderr: anomalies, which mechanics does not explain.
void rgSimulateSummary_PrintAnomalies(const rgSimulateSummary* summary);
void rgSimulateSummary_Print(const rgSimulateSummary* summary);
void rgSimulateSummary_PrintJson(const rgSimulateSummary* summary);
