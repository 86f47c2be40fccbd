// Memory of a world: counted, and released with the world.
#pragma once
#include "base/base.h"

#include <stdatomic.h>

// Counts bytes in use on the way to the real allocator.
typedef struct rgMeter {
    rgAllocator inner;
    atomic_size_t bytes;
} rgMeter;

// Memory in use, counted on the way to the allocator of the definition.
typedef struct rgHeap {
    rgMeter meter;
    rgAllocator allocator; // goes through the meter
    void** blocks;         // rgHeap_Allocate: released with the world
    int blockCount, blockCapacity;
} rgHeap;

// Array of zeros that lives as long as the world; on failure NULL and *good = false.
void* rgHeap_Allocate(rgHeap* heap, int count, size_t size, bool* good);
