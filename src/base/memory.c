// Memory: the default allocator, growing arrays and the scratch arena.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static void* rgRuntimeAllocate(size_t bytes, size_t alignment, void* context) {
    (void)context;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
#ifdef _WIN32
    return _aligned_malloc(rounded, alignment);
#else
    return aligned_alloc(alignment, rounded);
#endif
}

static void rgRuntimeRelease(void* memory, void* context) {
    (void)context;
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
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

static void rgArena_Enter(rgArena* arena, rgArenaBlock* block, char* next) {
    arena->block = block;
    arena->next = next;
    arena->end = block != NULL ? rgArenaBlock_Data(block) + block->capacity : NULL;
}

static size_t rgArena_Used(const rgArena* arena) {
    return arena->block != NULL ? (size_t)(arena->next - rgArenaBlock_Data(arena->block)) : 0;
}

static void rgArena_NotePeak(rgArena* arena) {
    arena->peak = RG_MAX(arena->peak, arena->total + rgArena_Used(arena));
}

static rgArenaBlock* rgCreateArenaBlock(const rgAllocator* allocator, size_t bytes) {
    size_t capacity = (bytes / RG_ALIGNMENT + 1) * RG_ALIGNMENT; // some is left when all is taken
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
    rgArena_NotePeak(arena);
    rgArenaBlock* block = arena->block;
    if (block != NULL && (block->previous != NULL || block->next != NULL)) { // fragmented
        rgArena_FreeBlocks(arena);
        block = rgCreateArenaBlock(&arena->allocator, arena->peak + arena->peak / 2);
    }
    rgArena_Enter(arena, block, block != NULL ? rgArenaBlock_Data(block) : NULL);
    arena->total = 0;
    arena->failed = false;
}

rgArenaMark rgArena_Mark(const rgArena* arena) {
    return (rgArenaMark){.block = arena->block, .next = arena->next, .total = arena->total};
}

void rgArena_Return(rgArena* arena, rgArenaMark mark) {
    rgArena_NotePeak(arena);
    if (mark.block == NULL) {
        // The mark was taken before the first block existed: go back to the first block.
        rgArenaBlock* first = arena->block;
        while (first != NULL && first->previous != NULL) {
            first = first->previous;
        }
        rgArena_Enter(arena, first, first != NULL ? rgArenaBlock_Data(first) : NULL);
        arena->total = 0;
        return;
    }
    rgArena_Enter(arena, mark.block, mark.next);
    arena->total = mark.total;
}

static bool rgArena_OpenBlock(rgArena* arena, size_t bytes) {
    rgArenaBlock* current = arena->block;
    rgArenaBlock* next = current != NULL ? current->next : NULL;
    if (next == NULL || next->capacity <= bytes) {
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
    arena->total += rgArena_Used(arena);
    rgArena_Enter(arena, next, rgArenaBlock_Data(next));
    return true;
}

void* rgArena_TakeMore(rgArena* arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4 ||
        !rgArena_OpenBlock(arena, bytes)) {
        arena->failed = true;
        return NULL;
    }
    return rgArena_Take(arena, count, size);
}
