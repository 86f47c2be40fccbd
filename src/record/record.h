// Columns of a recording, shared by the writer and the reader.
#pragma once
#include "io/hdf5.h"
#include "rigor/record.h"

#define RG_COOKIE_RECORDER 0x72676331u
#define RG_RECORD_FORMAT   "rigor recording"
#define RG_RECORD_VERSION  2
#define RG_POSE_NUMBERS    7 // numbers of an rgPose

typedef enum rgColumn {
    // one row per frame
    rg_columnQ,
    rg_columnV,
    rg_columnControl,
    rg_columnActivation,
    rg_columnSensors,
    rg_columnKinematic,
    rg_columnGravity,
    rg_columnResidual,
    rg_columnIterations,
    rg_columnStatus,
    rg_columnRegularized,
    rg_columnEnergy,
    rg_columnStages,
    rg_columnHash,
    rg_columnContactEnd,
    rg_columnTime, // last, so that a row with a time is whole
    // one row per contact
    rg_columnBodies,
    rg_columnShapes,
    rg_columnFeature,
    rg_columnPoint,
    rg_columnNormal,
    rg_columnForce,
    rg_columnGap,
    rg_columnMu,
    rg_columnState,
    rg_columnCount,
    rg_columnFirstOfContact = rg_columnBodies,
} rgColumn;

typedef enum rgCellType {
    rg_cellByte,
    rg_cellInt,
    rg_cellUnsigned,
    rg_cellLong,
    rg_cellFloat,
    rg_cellDouble
} rgCellType;

typedef struct rgColumnInfo {
    const char* name; // name of the dataset
    rgCellType type;
    int width; // cells per row; 0: depends on the model
    bool raw;  // mostly noise, which compression would only slow down
} rgColumnInfo;

extern const rgColumnInfo rgColumns[rg_columnCount];

size_t rgCellSize(rgCellType type);
hid_t rgCellH5Type(rgCellType type); // in memory and in the file; not to be closed

// The kinematic body after one, 0 for the first; null after the last.
rgBodyId rgModel_NextKinematic(const rgModel* model, rgBodyId after);

// Numbers that a sensor gives.
int rgModel_SensorSize(const rgModel* model, rgSensorId sensor);

// A definition as MJCF text, which the caller releases, also after a fault.
rgResult rgDescribeDef(const rgModelDef* def, const rgAllocator* allocator, char** mjcf);

// Write 4 characters per 3 bytes begun; returns how many. No end is written.
size_t rgEncodeBase64(const void* bytes, size_t count, char* out);
