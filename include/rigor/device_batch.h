// Many worlds of one model that step on an accelerator, or on the host by the same code.
#pragma once
#include "rigor/batch.h"
#include "rigor/device.h"

/// N worlds of one model whose state stays on a device. A step is a transaction per world: what the
/// device has no room, code or solution for is not committed there but done by rgWorld_Step() from
/// the same state, and counted. The host as a device (rg_deviceHost) runs the same code and gives
/// the same bits. One caller at a time. docs/gpu.md says what the device has.
typedef struct rgDeviceBatch rgDeviceBatch;

/// Why a step was done by rgWorld_Step() on the host.
typedef enum rgHostReason {
    rg_hostNone,
    rg_hostStart,       ///< a moving tree was set: its first step looks ahead
    rg_hostFast,        ///< a fast tree turns with another one that it touches
    rg_hostShapes,      ///< shapes are near that the device does not collide
    rg_hostCurved,      ///< a path of a contact curves
    rg_hostRolling,     ///< a round body rolls
    rg_hostRestitution, ///< an impact rebounds
    rg_hostPoints,      ///< more contact points than there is room for
    rg_hostRows,        ///< more rows than there is room for
    rg_hostPasses,      ///< contacts were added more often than the device does it
    rg_hostUnsolved,    ///< the contact problem, after both runs
    rg_hostProjection,  ///< the projection of positions
    rg_hostFlight,      ///< a body in flight turns far within a step
    rg_hostNumbers,     ///< numbers that are not finite, or no factor of M
    rg_hostReasonCount
} rgHostReason;

/// Start from rgDefaultDeviceBatchDef(), then set members.
typedef struct rgDeviceBatchDef {
    rgDeviceKind device;
    int deviceIndex;
    int worldCount;   ///< N, at least 1
    rgWorldDef world; ///< of every world; tasks and hooks stay unset
    int maxRows;      ///< room for rows per world; 0: what the device's fast memory allows, at most
                      ///< 96
    rgTasks tasks;    ///< of the host's steps; zero: on the calling thread
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgDeviceBatchDef;

/// An array where it is: entry (i, k) at data[i * worldStride + k * columnStride]. The address is
/// one of the device. Valid until the batch is destroyed.
typedef struct rgDeviceView {
    double* data;
    rgDeviceKind device;
    int deviceIndex;
    int rowCount, columnCount;
    ptrdiff_t worldStride, columnStride; ///< [numbers]
} rgDeviceView;

/// Counts since the batch was made.
typedef struct rgDeviceBatchReport {
    int64_t stepCount;                       ///< of all worlds, wherever they were done
    int64_t hostCount;                       ///< of these, on the host
    int64_t reasonCount[rg_hostReasonCount]; ///< of these, by reason
    int64_t unconvergedCount;                ///< steps of the host beyond the tolerance
    int faultCount;                          ///< worlds that stand still
    int mostRows;                            ///< of a world in a step on the device
    double worstResidual;                    ///< of a step on the device, by the judge there
    double deviceTime;                       ///< [s] in the kernels of the last call
} rgDeviceBatchReport;

RG_API rgDeviceBatchDef rgDefaultDeviceBatchDef(void);
/// All worlds start as rgCreateWorld() has them. rg_errorUnsupported, with remarks that name it,
/// where there is no such device or where the model has what the device never does. The model must
/// outlive the batch.
RG_API rgResult rgCreateDeviceBatch(const rgModel* model, const rgDeviceBatchDef* def,
                                    rgDiagnostics* diagnostics, rgDeviceBatch** batch);
RG_API void rgDestroyDeviceBatch(rgDeviceBatch* batch);

/// Advance by so many steps, with controls as they are. A world that fails on the host, too, stands
/// still from then on until it is reset.
RG_API rgResult rgDeviceBatch_Step(rgDeviceBatch* batch, int stepCount);
/// Worlds of the mask as they were at first; NULL: all.
RG_API rgResult rgDeviceBatch_Reset(rgDeviceBatch* batch, const rgWorldMask* mask);
/// Set rows of an array, as rgBatch_Write(); numbers that are not finite, and quaternions without
/// length, are refused as a whole. Time, positions, velocities, controls and forces.
RG_API rgResult rgDeviceBatch_Write(rgDeviceBatch* batch, rgBatchArray array, const double* values,
                                    size_t count, const rgWorldMask* mask);
/// Copy an array to N dense rows.
RG_API rgResult rgDeviceBatch_Read(const rgDeviceBatch* batch, rgBatchArray array, double* values,
                                   size_t count);
/// The array itself. Controls and forces may be written there; q and v are to be set by
/// rgDeviceBatch_Write(), since a state that was set starts anew.
RG_API rgDeviceView rgDeviceBatch_View(const rgDeviceBatch* batch, rgBatchArray array);
RG_API rgDeviceBatchReport rgDeviceBatch_Report(const rgDeviceBatch* batch);
/// One byte per world: 1 if it stands still after a fault.
RG_API rgResult rgDeviceBatch_Faults(const rgDeviceBatch* batch, uint8_t* faults, size_t count);
RG_API const char* rgHostReason_Name(rgHostReason reason); ///< such as "shapes"
