// Times of rigid-body algorithms on one robot, beside MuJoCo's and Pinocchio's.
#pragma once
#include <stdbool.h>

enum { rg_algorithmCount = 8, rg_timedRobotCount = 5 };

typedef struct rgAlgorithmTimes {
    char robot[64]; // its file
    int velocityCount;
    const char* names[rg_algorithmCount];
    double own[rg_algorithmCount];       // [us], least of all rounds
    double peer[rg_algorithmCount];      // NAN: MuJoCo is not there, or has no such call
    double pinocchio[rg_algorithmCount]; // likewise
} rgAlgorithmTimes;

// The robots are those of $RIGOR_DATA, or of models/ where there are such. False: there is none.
bool rgTimeAlgorithms(int robot, int rounds, rgAlgorithmTimes* times);
