// Accelerators, and many contact problems at once on one of them or on the host.
#pragma once
#include "rigor/contact.h"

/// Where work is done.
typedef enum rgDeviceKind {
    rg_deviceHost, ///< this process; always there, index 0
    rg_deviceCuda, ///< a GPU of NVIDIA, through librigor_cuda.so
    rg_deviceKindCount
} rgDeviceKind;

typedef struct rgDeviceInfo {
    rgDeviceKind kind;
    int index;
    char name[128];
    int major, minor;   ///< CUDA's compute capability
    int processorCount; ///< multiprocessors
    int sharedMemory;   ///< fast memory that one problem can have [bytes]
    int driver;         ///< version of CUDA that the driver serves, such as 13000
    uint64_t memory;    ///< [bytes]
} rgDeviceInfo;

/// How many there are. Where there are none, a remark says why: no library, no driver, no device.
/// librigor_cuda.so is looked for beside this library, then where the loader looks.
RG_API int rgDeviceCount(rgDeviceKind kind, rgDiagnostics* diagnostics);
RG_API rgResult rgDeviceAt(rgDeviceKind kind, int index, rgDeviceInfo* info);
RG_API const char* rgDeviceKind_Name(rgDeviceKind kind); ///< such as "cuda"

/// Contact problems that have nothing to do with each other, solved to the exact law. Each is
/// worked on by 32 lanes: of a warp on a device, or played by a thread on the host. Both give the
/// same bits, for any number of problems, threads and devices. What they do not solve, or cannot,
/// rgContactSolver solves from the same start: nothing is left out. One caller at a time.
typedef struct rgContactBatch rgContactBatch;

/// Start from rgDefaultContactBatchDef(), then change what you mean to change.
typedef struct rgContactBatchDef {
    rgDeviceKind device;
    int deviceIndex;
    double tolerance;  ///< on the judge's residual [-]
    bool lanesOnly;    ///< leave what the lanes do not solve as it is, with its status
    int judgeInterval; ///< one of so many results of the lanes is judged by the host's judge, too,
                       ///< and counts as unsolved where that disagrees; 0: none
    int sharedMemory;  ///< [bytes] that the lanes of one problem may use at most; 0: what the
                       ///< device has, and on the host 227 KB
    rgTasks tasks;     ///< of the host's work; zero means: on the calling thread
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgContactBatchDef;

/// Who found the impulses.
typedef enum rgContactSource {
    rg_sourceFirst,  ///< the first run of the lanes, a few iterations for every problem
    rg_sourceSecond, ///< their second run, over what was left
    rg_sourceHost,   ///< rgContactSolver
} rgContactSource;

/// Why lanes were not tried.
typedef enum rgContactLack {
    rg_lackNothing,
    rg_lackRoom,    ///< too many rows or velocities for the memory of the lanes
    rg_lackSpin,    ///< torsion or rolling rows
    rg_lackNumbers, ///< M cannot be factorized, something cannot move, or numbers are not finite
} rgContactLack;

typedef struct rgContactOutcome {
    rgContactStatus status;
    rgContactSource source;
    rgContactLack lack;
    int iterationCount;
    int block;       ///< with the largest error; -1: none has any
    double residual; ///< the judge's, in double precision, by M and J
    double velocity; ///< that error [m/s]
} rgContactOutcome;

typedef struct rgContactBatchReport {
    int solvedCount;       ///< by anyone
    int firstCount;        ///< solved by the lanes' first run
    int secondCount;       ///< by their second
    int hostCount;         ///< given to rgContactSolver
    int lackCount;         ///< of these, without a try by the lanes
    int judgedCount;       ///< results of the lanes that the host judged
    int disagreementCount; ///< of these, not within the tolerance
    double worstResidual;
    int worstProblem; ///< -1: none
    double laneTime;  ///< [s] that both runs of the lanes took, without copies
} rgContactBatchReport;

RG_API rgContactBatchDef rgDefaultContactBatchDef(void);
/// rg_errorUnsupported, with a remark, where there is no such device.
RG_API rgResult rgCreateContactBatch(const rgContactBatchDef* def, rgDiagnostics* diagnostics,
                                     rgContactBatch** batch);
RG_API void rgDestroyContactBatch(rgContactBatch* batch);

/// Take problems, and bring them to the device. The problems themselves are borrowed until the
/// next load, for rgContactSolver. One that rgContactProblem_Check() refuses is named, and nothing
/// is taken.
RG_API rgResult rgContactBatch_Load(rgContactBatch* batch, const rgContactProblem* problems,
                                    int count, rgDiagnostics* diagnostics);
/// Rows of all problems, one after the other.
RG_API int64_t rgContactBatch_RowCount(const rgContactBatch* batch);
/// Improve lambda [N s] of all problems, one after the other, in place; its values are the warm
/// start. Also sigma [m/s], one outcome per problem and a report, unless NULL. Sizes must fit.
RG_API rgResult rgContactBatch_Solve(rgContactBatch* batch, double* lambda, double* sigma,
                                     int64_t rowCount, rgContactOutcome* outcomes, int problemCount,
                                     rgContactBatchReport* report);
