// Simulation for a viewer: kept at real time, changed by commands of the page.
#pragma once
#include "simulation.h"

typedef struct rgLiveOptions {
    const char* title;
    const char* address; // NULL: this machine alone
    int port;            // 0: any that is free
    bool open;           // a browser, where there is a display
    bool json;           // print the address as JSON
    double time;         // simulated seconds; 0: until the user ends it
    // NULL, or what keeps a recording: called before each step, after it, and when the model is
    // about to be another one, which the old recording has no place for.
    void (*begin)(void* context);
    void (*keep)(void* context, const rgStepReport* report);
    void (*end)(void* context);
    void* context; // context of these functions
} rgLiveOptions;

// Make the server; from then on Ctrl-C only sets a flag. NULL after a message.
rgViewer* rgCli_StartViewer(const char* title, const char* address, int port);
// Print where it is, once there is something to see.
void rgCli_PrintAddress(const rgViewer* viewer, const rgLiveOptions* options);
// Run until Ctrl-C; the simulation is ready to run. Exit code.
int rgCli_RunLive(rgSimulation* simulation, const rgLiveOptions* options);

// Simulate and write a recording, with or without the summary. Exit code. (simulate.c)
int rgCli_RecordSimulation(const rgSimulationArguments* arguments, double time, const char* path,
                           bool quiet);
// A file of its own below TMPDIR, to be removed and freed; NULL after a message. (view.c)
char* rgCli_MakeTemporary(void);
