// The summary of a simulation.
#pragma once
#include "simulation.h"

// Steps with other answers, of those that were searched.
typedef struct rgAnswerCounts {
    int searched, impulses, motions;
    double velocity; // farthest motion [m/s]
} rgAnswerCounts;

typedef struct rgSimulateSummary {
    const rgSimulation* simulation;
    const rgSimulationArguments* arguments;
    const char* fault;             // reason for which the run ended early, or NULL
    int dumped;                    // problems written; negative: dumps are off
    const rgAnswerCounts* answers; // NULL: none were searched
    FILE* out;                     // stream that the summary is printed to
} rgSimulateSummary;

// Warnings on stderr: anomalies, which mechanics does not explain.
void rgSimulateSummary_PrintAnomalies(const rgSimulateSummary* summary);
void rgSimulateSummary_Print(const rgSimulateSummary* summary);
void rgSimulateSummary_PrintJson(const rgSimulateSummary* summary);
