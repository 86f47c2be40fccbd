// Columns of a simulation's CSV file: --columns.
#pragma once
#include "simulation.h"

typedef enum rgColumnKind {
    rg_columnPosition, // q
    rg_columnVelocity, // v
    rg_columnTorque,   // tau: force of the actuators on each revolute and prismatic joint
    rg_columnContact,  // contact: points, least gap, sum of normal forces
    rg_columnForce,    // force:BODY, of its contacts
    rg_columnSensor,   // sensor, sensor:NAME
    rg_columnPose,     // pose:FRAME
    rg_columnTwist,    // twist:BODY
    rg_columnEnergy,   // energy: kinetic, potential
} rgColumnKind;

typedef struct rgColumn {
    rgColumnKind kind;
    int id; // id of the body, frame or sensor; 0: all
} rgColumn;

typedef struct rgColumns {
    rgColumn* items;
    int count;
} rgColumns;

// True if a list of columns contains torques, which need sensors of their own.
bool rgColumns_WantTorques(const char* text);
// Read a list such as "q,v,pose:hand"; NULL means "q,v". False after a message; free it either way.
bool rgColumns_Read(rgColumns* columns, const char* text, const rgModel* model);
void rgColumns_Free(rgColumns* columns);
void rgColumns_WriteNames(const rgColumns* columns, FILE* file, const rgSimulation* simulation);
void rgColumns_Write(const rgColumns* columns, FILE* file, const rgSimulation* simulation);
