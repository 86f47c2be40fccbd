// Functions that only MuJoCo offers.
#pragma once
#include <stdbool.h>

// mj_inverse from the first key frame of a file, moved along z, for rest: the least time of a call
// [s] and the number of contacts. False when MuJoCo was not built in or cannot read the file.
bool rgMujoco_TimeInverse(const char* path, int calls, double shift, double* seconds,
                          int* contactCount);

// mj_step and mjd_transitionFD with central differences of 1e-6, at states along a simulation from
// the first key frame of a file: means of the least times of a call [s]. False likewise.
bool rgMujoco_TimeTransition(const char* path, int states, int repeat, double* step,
                             double* transition);
