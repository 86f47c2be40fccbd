// What the verbs of the program share. Each verb is one file, one function here, one row in main.c.
#pragma once
#include "rigor/rigor.h"

typedef struct rgVerb {
    const char* name;
    const char* summary;
    int (*run)(int argc, char** argv); // argv[0] is the verb; returns the exit code
} rgVerb;

int rgCli_Demo(int argc, char** argv);
