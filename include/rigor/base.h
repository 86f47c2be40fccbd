// Results, diagnostics, memory and tasks. Every other header includes this one.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(RG_BUILD)
#define RG_EXPORT __attribute__((visibility("default")))
#else
#define RG_EXPORT
#endif
#ifdef __cplusplus
#define RG_API extern "C" RG_EXPORT
#else
#define RG_API RG_EXPORT
#endif

#define RG_VERSION_MAJOR 0
#define RG_VERSION_MINOR 2
#define RG_VERSION_PATCH 0
#define RG_VERSION       (RG_VERSION_MAJOR * 10000 + RG_VERSION_MINOR * 100 + RG_VERSION_PATCH)

/// Reason for which a call failed. The outcome of a computation is in its report instead.
typedef enum rgResult {
    rg_ok,
    rg_errorArgument,    ///< a value that the call refuses; nothing was changed
    rg_errorMemory,      ///< the allocator returned NULL
    rg_errorFile,        ///< a file could not be opened, read or written
    rg_errorFormat,      ///< a file was read and its content is wrong
    rg_errorUnsupported, ///< well-formed, and something that rigor does not do
    rg_errorNumeric, ///< not a number where one is needed, or a matrix that cannot be factorized
    rg_errorVersion, ///< header and library differ
} rgResult;

/// Short name of a result, such as "argument".
RG_API const char* rgResult_Name(rgResult result);

/// Version of the library in use, in the form of RG_VERSION.
RG_API int rgVersion(void);

/// rg_errorVersion unless the library can serve a program compiled against headerVersion
/// (RG_VERSION).
RG_API rgResult rgCheckVersion(int headerVersion);

/// Source of the memory of objects. A zero-initialized allocator is the C runtime.
typedef struct rgAllocator {
    void* (*allocate)(size_t bytes, size_t alignment, void* context);
    void (*release)(void* memory, void* context); ///< NULL memory is allowed
    void* context;
} rgAllocator;

typedef enum rgSeverity { rg_severityNote, rg_severityWarning, rg_severityError } rgSeverity;

/// One remark about an input. Strings belong to the diagnostics that hold it.
typedef struct rgMessage {
    rgSeverity severity;
    const char* file; ///< NULL when it did not come from a file
    int line;         ///< from 1; 0 when unknown
    const char* text;
} rgMessage;

/// Remarks that a loader or a compiler makes, in the order they were found. Every call that takes
/// one also takes NULL.
typedef struct rgDiagnostics rgDiagnostics;

RG_API rgResult rgCreateDiagnostics(const rgAllocator* allocator, rgDiagnostics** diagnostics);
RG_API void rgDestroyDiagnostics(rgDiagnostics* diagnostics);
RG_API void rgDiagnostics_Clear(rgDiagnostics* diagnostics);
RG_API int rgDiagnostics_Count(const rgDiagnostics* diagnostics);
RG_API rgMessage rgDiagnostics_Message(const rgDiagnostics* diagnostics, int index);
RG_API int rgDiagnostics_CountOf(const rgDiagnostics* diagnostics, rgSeverity severity);

/// The name that was probably meant: index of the one nearest in spelling, -1 when none is near.
/// NULL names are skipped.
RG_API int rgNearestName(const char* name, const char* const* names, int count);

/// One piece of a parallel loop. Pieces with different indices may run at the same time.
typedef void rgTaskFcn(int index, int worker, void* taskContext);

/// Runs parallel loops. Zero-initialized: the calling thread does everything, in order. Results of
/// rigor have the same bits for any scheduler.
typedef struct rgTasks {
    void (*run)(int count, rgTaskFcn* task, void* taskContext, void* context);
    int workerCount; ///< worker in rgTaskFcn is below this; 0 counts as 1
    void* context;
} rgTasks;

/// A pool of threads that implements rgTasks. The calling thread is worker 0. A child of fork() has
/// no other: there a pool of its parent runs all on the calling thread.
typedef struct rgThreadPool rgThreadPool;
RG_API rgResult rgCreateThreadPool(int workerCount, const rgAllocator* allocator,
                                   rgThreadPool** pool);
RG_API void rgDestroyThreadPool(rgThreadPool* pool);
RG_API rgTasks rgThreadPool_Tasks(rgThreadPool* pool);

/// Which instruction sets the dense kernels use. All give the same answers within rounding.
typedef enum rgKernelSet {
    rg_kernelsBest,  ///< the widest that this machine runs
    rg_kernelsPlain, ///< plain C: the same bits from every compiler
    rg_kernelsAvx2,
    rg_kernelsAvx512,
    rg_kernelsNeon, ///< these three: plain where the machine does not run them
} rgKernelSet;

/// 64-bit hash of bytes, the same on every machine. Chain by passing the last hash as seed.
RG_API uint64_t rgHashBytes(const void* bytes, size_t count, uint64_t seed);
