// Memory: the default allocator, growing arrays and the scratch arena.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static void* rgRuntimeAllocate(size_t bytes, size_t alignment, void* context) {
    (void)context;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return aligned_alloc(alignment, rounded);
}

static void rgRuntimeRelease(void* memory, void* context) {
    (void)context;
    free(memory);
}

rgAllocator rgResolveAllocator(const rgAllocator* allocator) {
    if (allocator != NULL && allocator->allocate != NULL) {
        return *allocator;
    }
    return (rgAllocator){.allocate = rgRuntimeAllocate, .release = rgRuntimeRelease};
}

static void* rgAllocateRaw(const rgAllocator* allocator, size_t bytes) {
    rgAllocator used = rgResolveAllocator(allocator);
    return used.allocate(bytes, RG_ALIGNMENT, used.context);
}

void* rgAllocate(const rgAllocator* allocator, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX - RG_ALIGNMENT) / size) {
        return NULL;
    }
    size_t bytes = RG_MAX(count * size, (size_t)1);
    void* memory = rgAllocateRaw(allocator, bytes);
    if (memory != NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

void rgRelease(const rgAllocator* allocator, void* memory) {
    if (memory != NULL) {
        rgAllocator used = rgResolveAllocator(allocator);
        used.release(memory, used.context);
    }
}

char* rgCopyString(const rgAllocator* allocator, const char* text) {
    if (text == NULL) {
        return NULL;
    }
    size_t bytes = strlen(text) + 1;
    char* copy = rgAllocate(allocator, bytes, 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

rgResult rgReserve(const rgAllocator* allocator, void** array, int* capacity, int used, int needed,
                   size_t elementSize) {
    if (needed <= *capacity) {
        return rg_ok;
    }
    if (needed < 0 || *capacity > INT32_MAX / 2) {
        return rg_errorMemory;
    }
    int grown = RG_MAX(RG_MAX(needed, 2 * *capacity), 8);
    void* memory = rgAllocate(allocator, (size_t)grown, elementSize);
    if (memory == NULL) {
        return rg_errorMemory;
    }
    if (used > 0) {
        memcpy(memory, *array, (size_t)used * elementSize);
    }
    rgRelease(allocator, *array);
    *array = memory;
    *capacity = grown;
    return rg_ok;
}

typedef struct rgArenaBlock {
    struct rgArenaBlock* previous;
    struct rgArenaBlock* next; // kept for reuse after a return
    size_t capacity;
} rgArenaBlock;

#define RG_ARENA_HEADER ((sizeof(rgArenaBlock) + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT)
#define RG_ARENA_FIRST  ((size_t)16 * 1024)

static char* rgArenaBlock_Data(rgArenaBlock* block) {
    return (char*)block + RG_ARENA_HEADER;
}

static rgArenaBlock* rgCreateArenaBlock(const rgAllocator* allocator, size_t capacity) {
    rgArenaBlock* block = rgAllocateRaw(allocator, RG_ARENA_HEADER + capacity);
    if (block != NULL) {
        *block = (rgArenaBlock){.capacity = capacity};
    }
    return block;
}

void rgArena_Init(rgArena* arena, const rgAllocator* allocator) {
    *arena = (rgArena){.allocator = rgResolveAllocator(allocator)};
}

static void rgArena_FreeBlocks(rgArena* arena) {
    rgArenaBlock* block = arena->block;
    while (block != NULL && block->next != NULL) {
        block = block->next;
    }
    while (block != NULL) {
        rgArenaBlock* previous = block->previous;
        rgRelease(&arena->allocator, block);
        block = previous;
    }
    arena->block = NULL;
}

void rgArena_Free(rgArena* arena) {
    rgArena_FreeBlocks(arena);
    *arena = (rgArena){.allocator = arena->allocator};
}

void rgArena_Reset(rgArena* arena) {
    bool fragmented =
        arena->block != NULL && (arena->block->previous != NULL || arena->block->next != NULL);
    if (fragmented) {
        rgArena_FreeBlocks(arena);
        arena->block = rgCreateArenaBlock(&arena->allocator, arena->peak + arena->peak / 2);
    }
    arena->used = 0;
    arena->total = 0;
    arena->failed = false;
}

rgArenaMark rgArena_Mark(const rgArena* arena) {
    return (rgArenaMark){.block = arena->block, .used = arena->used, .total = arena->total};
}

void rgArena_Return(rgArena* arena, rgArenaMark mark) {
    if (mark.block == NULL) {
        // The mark was taken before the first block existed: go back to the first block.
        while (arena->block != NULL && arena->block->previous != NULL) {
            arena->block = arena->block->previous;
        }
        arena->used = 0;
        arena->total = 0;
        return;
    }
    arena->block = mark.block;
    arena->used = mark.used;
    arena->total = mark.total;
}

// Apart, so that the common way saves no registers.
__attribute__((noinline)) static bool rgArena_OpenBlock(rgArena* arena, size_t bytes) {
    rgArenaBlock* current = arena->block;
    rgArenaBlock* next = current != NULL ? current->next : NULL;
    if (next == NULL || next->capacity < bytes) {
        size_t last = current != NULL ? current->capacity : RG_ARENA_FIRST / 2;
        rgArenaBlock* made = rgCreateArenaBlock(&arena->allocator, RG_MAX(2 * last, bytes));
        if (made == NULL) {
            return false;
        }
        made->previous = current;
        made->next = next;
        if (next != NULL) {
            next->previous = made;
        }
        if (current != NULL) {
            current->next = made;
        }
        next = made;
    }
    arena->total += arena->used;
    arena->block = next;
    arena->used = 0;
    return true;
}

void* rgArena_Take(rgArena* arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        arena->failed = true;
        return NULL;
    }
    bytes = (bytes + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    bool fits = arena->block != NULL && arena->used + bytes <= arena->block->capacity;
    if (!fits && !rgArena_OpenBlock(arena, bytes)) {
        arena->failed = true;
        return NULL;
    }
    void* memory = rgArenaBlock_Data(arena->block) + arena->used;
    arena->used += bytes;
    arena->peak = RG_MAX(arena->peak, arena->total + arena->used);
    return memory;
}
