// Work in a process of its own, with limits on time and memory: for libhdf5, which crashes or hangs
// on some damaged files.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes in one block. Every piece starts at a multiple of 8, so that readers may point into it.
typedef struct rgByteBuffer {
    unsigned char* data;
    size_t size;
    size_t capacity;
    size_t at; // start of the next Take
} rgByteBuffer;

void rgByteBuffer_Put(rgByteBuffer* buffer, const void* bytes,
                      size_t count); // NULL bytes: marked absent
// The next piece, or NULL when it was absent; its size goes to *count unless that is NULL.
void* rgByteBuffer_Read(rgByteBuffer* buffer, size_t* count);
void rgByteBuffer_Free(rgByteBuffer* buffer);

typedef void rgGuardFcn(void* context, rgByteBuffer* result);

typedef struct rgGuardLimits {
    double seconds;
    size_t bytes; // address space in bytes
} rgGuardLimits;

rgGuardLimits rgDefaultGuardLimits(void);

// Run the function in a child process and get the bytes it put into its buffer. When that fails,
// the result is false and *fault a text to free with the reason.
bool rgRunGuarded(rgGuardFcn* run, void* context, rgGuardLimits limits, rgByteBuffer* result,
                  char** fault);
