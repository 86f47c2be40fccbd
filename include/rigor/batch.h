// Many worlds of one model, stepped on all cores: numbers go in and out as stacked arrays.
#pragma once
#include "rigor/linearize.h"

/// N worlds of one model. A world has the bits of an rgWorld of the same settings, for any
/// neighbours and any number of threads. Only a world's state is kept per world; the model is
/// shared, and work memory belongs to the threads. One caller at a time.
typedef struct rgBatch rgBatch;

/// Start from rgDefaultBatchDef(), then set members.
typedef struct rgBatchDef {
    int worldCount;     ///< N, at least 1
    rgWorldDef world;   ///< of every world; tasks and hooks stay unset: see tasks and rgRolloutDef
    bool keepSensors;   ///< read all sensors after every call that steps
    bool keepContacts;  ///< read all contacts after every call that steps
    uint64_t seed;      ///< rgBatch_Seed() of every world comes from it
    int64_t firstWorld; ///< number of the first world where a batch is part of something larger
    rgTasks tasks;      ///< worlds are spread over these; zero: the calling thread does all
    rgAllocator allocator; ///< called by all threads; zero means the C runtime
    uint32_t cookie;
} rgBatchDef;

/// Some of the worlds: those with on[i] != 0. As an argument, NULL means all.
typedef struct rgWorldMask {
    const uint8_t* on;
    int count; ///< must be N
} rgWorldMask;

/// Numbers that every world has, as an array of N rows.
typedef enum rgBatchArray {
    rg_batchTime,        ///< 1 [s]
    rg_batchPositions,   ///< nq
    rg_batchVelocities,  ///< nv
    rg_batchControls,    ///< one per actuator
    rg_batchForces,      ///< nv, generalised forces beside the actuators
    rg_batchSensors,     ///< all sensors, as rgWorld_Sensors(); read only, with keepSensors
    rg_batchActivations, ///< one per actuator, or none at all, as rgWorld_Activation()
    rg_batchArrayCount
} rgBatchArray;

/// An array where it is: entry (i, k) is at data[i * stride + k]. Valid until the batch is
/// destroyed; the next call may change its contents.
typedef struct rgBatchView {
    const double* data;
    int rowCount, columnCount;
    ptrdiff_t stride; ///< [numbers]
} rgBatchView;

/// Why a world stands still while its neighbours go on.
typedef enum rgWorldFault {
    rg_faultNone,
    rg_faultState,     ///< a position, velocity or time that is refused, such as NaN
    rg_faultControl,   ///< a control or force that is not a finite number
    rg_faultDiverged,  ///< a step made numbers that are not finite
    rg_faultCallback,  ///< a callback said so
    rg_faultParameter, ///< a parameter that a model would refuse
    rg_faultMemory,
} rgWorldFault;

/// How a world is doing since it was made, reset or restored.
typedef struct rgWorldStatus {
    rgWorldFault fault; ///< set: it stays at its last good state until it is reset or restored
    double faultTime;   ///< [s], of that state
    int stepCount;
    int unconvergedCount; ///< steps whose solve did not reach the tolerance
    int regularizedCount; ///< steps with regularized rows
    int anomalies;        ///< bits of rgAnomalyFlag
    int contactCount;     ///< of the last step
    double residual;      ///< worst of all steps
    double penetration;   ///< deepest at the start of a step [m]
} rgWorldStatus;

/// Parameters that may differ from world to world. Values are rows of N as in rgBatchArray; those
/// that are NAN are as the model and the batch's def say.
typedef enum rgBatchParameter {
    rg_parameterGravity,     ///< 3 [m/s^2]
    rg_parameterMass,        ///< a factor per body, of mass and moments of inertia
    rg_parameterFriction,    ///< 1, mu of every pair
    rg_parameterRestitution, ///< 1, of every pair
    rg_parameterStiffness,   ///< 1 [N/m], of every contact point; damping keeps its ratio to it,
                             ///< ten time steps where the def has none
    rg_parameterGain,        ///< a factor per actuator, of its gain, bias, kp and kd
    rg_parameterDamping,     ///< a factor per joint, of its damping
    rg_parameterCount
} rgBatchParameter;

/// Closed loop, one world: called before each step, by any thread, with the world as it is. It may
/// read everything, and set controls, forces, wrenches and state. For the same bits with any number
/// of threads it uses nothing but its arguments. At the first step of a call, contacts and forces
/// are those of rgWorld_Forward(). Anything but rg_ok stops this world with rg_faultCallback.
typedef rgResult rgWorldPolicyFcn(rgWorld* world, int index, int step, void* context);

/// Closed loop, all worlds: called before each step of the batch by the thread that called
/// rgBatch_Rollout(). It may read and write arrays and reset worlds. Anything but rg_ok ends the
/// rollout and becomes its result.
typedef rgResult rgBatchPolicyFcn(rgBatch* batch, int step, void* context);

/// Start from rgDefaultRolloutDef(), then set members. Arrays are dense, with
/// the last index fastest; their counts are in numbers and must fit.
typedef struct rgRolloutDef {
    int stepCount;          ///< T
    const double* controls; ///< open loop, N x T x nu; NULL: controls stay as they are
    size_t controlCount;    ///< N T nu
    rgWorldPolicyFcn* each; ///< closed loop; one of the two, or none
    rgBatchPolicyFcn* all;  ///< closed loop of all worlds; one of the two, or none
    void* context;          ///< of the two
    int recordInterval;     ///< record after every so many steps: S = T / recordInterval times
    double* positions;      ///< N x S x nq, or NULL, as the next four
    size_t positionCount;   ///<
    double* velocities;     ///< N x S x nv
    size_t velocityCount;   ///<
    double* sensors;        ///< N x S x sensors
    size_t sensorCount;     ///<
    double* inputs;         ///< N x S x nu: controls in the step that ends at the row
    size_t inputCount;      ///<
    double* times;          ///< N x S [s]
    size_t timeCount;       ///< Rows after a world's fault are NaN; of worlds left out, untouched.
    uint32_t cookie;
} rgRolloutDef;

typedef struct rgBatchMemory {
    size_t shared;    ///< bytes of the batch itself
    size_t perThread; ///< largest of all threads
    size_t perWorld;  ///< mean of all worlds
} rgBatchMemory;

RG_API rgBatchDef rgDefaultBatchDef(void);
/// All worlds start as rgCreateWorld() has them. The model must outlive them.
RG_API rgResult rgCreateBatch(const rgModel* model, const rgBatchDef* def,
                              rgDiagnostics* diagnostics, rgBatch** batch);
RG_API void rgDestroyBatch(rgBatch* batch);

/// Advance by so many steps, with controls as they are. Failures of a world are in its
/// status; the result is that of the call.
RG_API rgResult rgBatch_Step(rgBatch* batch, int stepCount, const rgWorldMask* mask);
/// Contacts and sensors at the current state, without moving.
RG_API rgResult rgBatch_Forward(rgBatch* batch, const rgWorldMask* mask);
RG_API rgRolloutDef rgDefaultRolloutDef(void);
RG_API rgResult rgBatch_Rollout(rgBatch* batch, const rgRolloutDef* def, const rgWorldMask* mask,
                                rgDiagnostics* diagnostics);

/// As rgWorld_Reset(), and the status is new.
RG_API rgResult rgBatch_Reset(rgBatch* batch, rgKeyId key, const rgWorldMask* mask);
/// Start from bytes that rgWorld_Save() or rgBatch_Save() wrote for a world of this model.
RG_API rgResult rgBatch_Restore(rgBatch* batch, const void* bytes, size_t byteCount,
                                const rgWorldMask* mask);
RG_API size_t rgBatch_StateSize(const rgBatch* batch, int world); ///< bytes
RG_API rgResult rgBatch_Save(const rgBatch* batch, int world, void* bytes, size_t byteCount);

/// Set rows of an array; `count` is that of all N rows, and those off the mask are not read. A row
/// that is refused changes nothing and stops its world: see rgWorldStatus.
RG_API rgResult rgBatch_Write(rgBatch* batch, rgBatchArray array, const double* values,
                              size_t count, const rgWorldMask* mask, rgDiagnostics* diagnostics);
/// Copy an array to N dense rows.
RG_API rgResult rgBatch_Read(const rgBatch* batch, rgBatchArray array, double* values,
                             size_t count);
/// The array itself, without a copy; no data where there is none.
RG_API rgBatchView rgBatch_View(const rgBatch* batch, rgBatchArray array);

/// Set rows of a parameter, as rgBatch_Write() does; it stays through resets. A world that refuses
/// its row stops with rg_faultParameter. For other parameters use rgBatch_Each().
RG_API rgResult rgBatch_SetParameter(rgBatch* batch, rgBatchParameter parameter,
                                     const double* values, size_t count, const rgWorldMask* mask,
                                     rgDiagnostics* diagnostics);
RG_API int rgBatch_ParameterSize(const rgBatch* batch, rgBatchParameter parameter); ///< columns
RG_API const char* rgBatchParameter_Name(rgBatchParameter parameter); ///< such as "mu"
/// Call a function with each world as it is, with step 0, on all threads: for readouts, and for
/// rgWorld_ChangeBody() and its like. Contacts and forces are there after rgWorld_Forward().
RG_API rgResult rgBatch_Each(rgBatch* batch, rgWorldPolicyFcn* call, void* context,
                             const rgWorldMask* mask);

RG_API int rgBatch_WorldCount(const rgBatch* batch);
RG_API const rgModel* rgBatch_Model(const rgBatch* batch);
RG_API double rgBatch_TimeStep(const rgBatch* batch);
/// Of worlds 0 to N - 1; the view is valid until the next call with a non-const batch.
RG_API const rgWorldStatus* rgBatch_Status(const rgBatch* batch);
/// Of the last call that stepped this world, with keepContacts.
RG_API const rgContact* rgBatch_Contacts(const rgBatch* batch, int world, int* count);
RG_API uint64_t rgBatch_Hash(const rgBatch* batch, int world); ///< equal to rgWorld_Hash()
RG_API uint64_t rgBatch_Seed(const rgBatch* batch, int world); ///< by its number, firstWorld added
RG_API rgBatchMemory rgBatch_MemoryUse(const rgBatch* batch);
RG_API const char* rgWorldFault_Name(rgWorldFault fault); ///< such as "diverged"

/// Random numbers without a state: the same for the same arguments, on every thread and rank.
RG_API uint64_t rgRandomBits(uint64_t seed, uint64_t index);
RG_API double rgRandomUnit(uint64_t seed, uint64_t index);   ///< uniform in [0, 1)
RG_API double rgRandomNormal(uint64_t seed, uint64_t index); ///< mean 0, variance 1

/// Matrices of all worlds: worldCount times those of rgDerivatives. NULL: not wanted.
typedef struct rgBatchMatrices {
    double* nextQ;     ///< worldCount x vCount x columns
    double* nextV;     ///< worldCount x vCount x columns
    double* nextTrend; ///< worldCount x 2 vCount x columns, with rg_byTrend
    double* sensor;    ///< worldCount x rgModel_SensorNumbers() x columns, with sensors of the def
} rgBatchMatrices;

/// rgWorld_Derivatives() of all worlds, on all threads. answers, one per world, or NULL: counts,
/// without matrices. Rows of worlds that are left out, or that fail and stop, stay as they were.
/// The def must not advance.
RG_API rgResult rgBatch_Derivatives(rgBatch* batch, const rgDerivativeDef* def,
                                    const rgBatchMatrices* matrices, rgDerivatives* answers,
                                    const rgWorldMask* mask);
/// rgWorld_Adjoint() likewise: gradients worldCount x theirs, out worldCount x columns.
RG_API rgResult rgBatch_Adjoint(rgBatch* batch, const rgDerivativeDef* def,
                                const rgStepGradient* gradient, double* out, rgDerivatives* answers,
                                const rgWorldMask* mask);
