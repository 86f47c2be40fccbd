// The columns of a recording.
#include "record/record.h"
#include "world/world.h"

const rgColumnInfo rgColumns[rg_columnCount] = {
    [rg_columnQ] = {"frames/q", rg_cellDouble, 0, true},
    [rg_columnV] = {"frames/v", rg_cellDouble, 0, true},
    [rg_columnControl] = {"frames/control", rg_cellDouble, 0, false},
    [rg_columnActivation] = {"frames/activation", rg_cellDouble, 0, true},
    [rg_columnSensors] = {"frames/sensors", rg_cellDouble, 0, true},
    [rg_columnKinematic] = {"frames/kinematic", rg_cellDouble, 0, false},
    [rg_columnGravity] = {"frames/gravity", rg_cellDouble, 3, false},
    [rg_columnResidual] = {"frames/residual", rg_cellDouble, 1, true},
    [rg_columnIterations] = {"frames/iterations", rg_cellInt, 1, false},
    [rg_columnStatus] = {"frames/status", rg_cellByte, 1, false},
    [rg_columnRegularized] = {"frames/regularized", rg_cellInt, 1, false},
    [rg_columnEnergy] = {"frames/energy", rg_cellDouble, 2, true},
    [rg_columnStages] = {"frames/stages", rg_cellFloat, rg_stageCount, true},
    [rg_columnHash] = {"frames/hash", rg_cellLong, 1, true},
    [rg_columnContactEnd] = {"frames/contact_end", rg_cellLong, 1, false},
    [rg_columnTime] = {"frames/time", rg_cellDouble, 1, false},
    [rg_columnBodies] = {"contacts/bodies", rg_cellInt, 2, false},
    [rg_columnShapes] = {"contacts/shapes", rg_cellInt, 2, false},
    [rg_columnFeature] = {"contacts/feature", rg_cellUnsigned, 1, false},
    [rg_columnPoint] = {"contacts/point", rg_cellFloat, 3, false},
    [rg_columnNormal] = {"contacts/normal", rg_cellFloat, 3, false},
    [rg_columnForce] = {"contacts/force", rg_cellFloat, 3, true},
    [rg_columnGap] = {"contacts/gap", rg_cellFloat, 1, false},
    [rg_columnMu] = {"contacts/mu", rg_cellFloat, 1, false},
    [rg_columnState] = {"contacts/state", rg_cellByte, 1, false},
};

size_t rgCellSize(rgCellType type) {
    static const size_t sizes[] = {1, 4, 4, 8, 4, 8};
    return sizes[type];
}

hid_t rgCellH5Type(rgCellType type) {
    switch (type) {
    case rg_cellByte:
        return H5T_NATIVE_UINT8;
    case rg_cellInt:
        return H5T_NATIVE_INT32;
    case rg_cellUnsigned:
        return H5T_NATIVE_UINT32;
    case rg_cellLong:
        return H5T_NATIVE_UINT64;
    case rg_cellFloat:
        return H5T_NATIVE_FLOAT;
    default:
        return H5T_NATIVE_DOUBLE;
    }
}

rgBodyId rgModel_NextKinematic(const rgModel* model, rgBodyId after) {
    const rgBodyDef* body;
    do {
        after.index1 += 1;
        body = rgModel_Body(model, after);
    } while (body != NULL && !body->kinematic);
    return body != NULL ? after : (rgBodyId){0};
}

int rgModel_SensorSize(const rgModel* model, rgSensorId sensor) {
    return rgSensorDef_Size(rgModel_Sensor(model, sensor));
}
