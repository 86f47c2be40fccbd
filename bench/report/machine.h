// Machine, compiler and build of a measurement.
#pragma once
#include "cli.h"

typedef struct rgMachine {
    char processor[128];
    char system[128];
    int coreCount;
    const char* compiler;
    const char* flags;
    const char* commit;
} rgMachine;

rgMachine rgReadMachine(void);
double rgMachineLoad(void);      // processes that ran or waited in the last minute; NAN: not known
void rgJson_Build(rgJson* json); // as the member `build`
