// Measurements with options of their own: rigor bench NAME. One file each, one row in main.c.
#pragma once
#include "cli.h"
#include "report/machine.h"

int rgBench_Batch(int argc, char** argv);
int rgBench_Collision(int argc, char** argv);
int rgBench_Derivatives(int argc, char** argv);
int rgBench_Dynamics(int argc, char** argv);
int rgBench_Factor(int argc, char** argv); // built in if CHOLMOD was found
int rgBench_Falls(int argc, char** argv);
int rgBench_Generate(int argc, char** argv);
int rgBench_Inverse(int argc, char** argv);
int rgBench_Kernels(int argc, char** argv);
int rgBench_Lanes(int argc, char** argv);
int rgBench_Worlds(int argc, char** argv);
int rgBench_Physics(int argc, char** argv);
int rgBench_Pile(int argc, char** argv);
int rgBench_Simulate(int argc, char** argv);
int rgBench_Solver(int argc, char** argv);
