// Private foundation: assertions, memory through an allocator, arena, growing arrays, clock.
#pragma once
#include "rigor/base.h"

#include <assert.h>
#include <stdarg.h>

// Our own bugs, never a user's input.
#define RG_ASSERT(condition) assert(condition)
#define RG_COUNT(array)      ((int)(sizeof(array) / sizeof((array)[0])))
#define RG_MIN(a, b)         ((a) < (b) ? (a) : (b))
#define RG_MAX(a, b)         ((a) > (b) ? (a) : (b))
#define RG_ALIGNMENT         64

// Fills a zero-initialised allocator with the C runtime's functions.
rgAllocator rgResolveAllocator(const rgAllocator* allocator);

// Zeroed memory, aligned to RG_ALIGNMENT; NULL when there is none. count * size may not overflow.
void* rgAllocate(const rgAllocator* allocator, size_t count, size_t size);
void rgRelease(const rgAllocator* allocator, void* memory);
char* rgCopyString(const rgAllocator* allocator, const char* text); // NULL gives NULL

// Grow *array to hold at least `needed` elements, keeping `used`. Capacity at least doubles.
rgResult rgReserve(const rgAllocator* allocator, void** array, int* capacity, int used, int needed,
                   size_t elementSize);

// Bump memory for scratch: plan by running, so that after warm-up nothing is allocated. Blocks are
// chained when one is full and merged into one at the next reset.
typedef struct rgArena {
    rgAllocator allocator;
    struct rgArenaBlock* block; // current block, linked to earlier ones
    char* next;                 // first free byte of the current block
    char* end;
    size_t total; // bytes used in earlier blocks
    size_t peak;  // largest use since creation, as far as it is over
    bool failed;  // an allocation returned NULL since the last reset
} rgArena;

typedef struct rgArenaMark {
    struct rgArenaBlock* block;
    char* next;
    size_t total;
} rgArenaMark;

void rgArena_Init(rgArena* arena, const rgAllocator* allocator);
void rgArena_Free(rgArena* arena);
void rgArena_Reset(rgArena* arena); // everything taken so far becomes invalid
rgArenaMark rgArena_Mark(const rgArena* arena);
void rgArena_Return(rgArena* arena, rgArenaMark mark); // keeps blocks for reuse until reset
void* rgArena_TakeMore(rgArena* arena, size_t count, size_t size); // ... of another block

// Not zeroed; NULL when out of memory. A small step takes a hundred pieces, hence in place. Pieces
// and the end of a block are aligned: sizes that fit do so when they are rounded up.
static inline void* rgArena_Take(rgArena* arena, size_t count, size_t size) {
    size_t bytes;
    char* memory = arena->next;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes >= (size_t)(arena->end - memory)) {
        return rgArena_TakeMore(arena, count, size);
    }
    arena->next = memory + (bytes + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    return memory;
}
#define RG_TAKE(arena, type, count) ((type*)rgArena_Take((arena), (size_t)(count), sizeof(type)))

// Add a remark; the text is formatted like printf. NULL diagnostics are ignored.
void rgDiagnostics_Add(rgDiagnostics* diagnostics, rgSeverity severity, const char* file, int line,
                       const char* format, ...) __attribute__((format(printf, 5, 6)));

// Open a regular file for writing, for this program alone; close() ends that. Negative: it is a
// link or no file, cannot be opened, or another program has it; *fault says so and *reason is errno
// or 0.
int rgLockFile(const char* path, bool create, const char** fault, int* reason);
// Room on the disk behind a file, which does not grow; false, with errno, when there is none.
// Systems without such a call return true. Unused room is released.
bool rgReserveDisk(int file, uint64_t from, uint64_t to);
void rgReleaseDisk(int file);

// snprintf for files and messages: numbers have a point whatever the locale of the program says.
int rgPrint(char* text, size_t size, const char* format, ...) __attribute__((format(printf, 3, 4)));
int rgPrintList(char* text, size_t size, const char* format, va_list arguments);

// "; did you mean 'x'?" or nothing.
void rgDidYouMean(const char* name, const char* const* names, int count, char out[100]);

// Result of a call that lists things, without an object: NULL, and a count of 0.
static inline const void* rgNothing(int* count) {
    if (count != NULL) {
        *count = 0;
    }
    return NULL;
}

// Run count pieces on tasks (zero tasks: here, in order).
void rgTasks_Run(const rgTasks* tasks, int count, rgTaskFcn* task, void* taskContext);

// Run the nodes of a tree, each after its children: parent[i] of node i, -1 for a root. Scratch has
// rgTaskTreeScratch() bytes, aligned for an int.
size_t rgTaskTreeScratch(int count);
void rgTasks_RunTree(const rgTasks* tasks, int count, const int* parent, void* scratch,
                     rgTaskFcn* task, void* taskContext);

// Monotonic clock [s]. For reports only: no result may depend on it.
double rgSeconds(void);
