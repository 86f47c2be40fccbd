// Block factorization: the object, its memory, and the check whether a pattern is the last one.
#include "math/blockfactor_private.h"

#include <string.h>

rgResult rgBuffer_Reserve(rgBuffer* buffer, const rgAllocator* allocator, size_t bytes) {
    if (bytes <= buffer->bytes) {
        return rg_ok;
    }
    // Allocate a quarter more, so that slowly growing problems settle.
    size_t room = bytes + bytes / 4;
    void* memory = rgAllocate(allocator, room, 1);
    if (memory == NULL) {
        return rg_errorMemory;
    }
    rgRelease(allocator, buffer->memory);
    buffer->memory = memory;
    buffer->bytes = room;
    return rg_ok;
}

void rgBuffer_Free(rgBuffer* buffer, const rgAllocator* allocator) {
    rgRelease(allocator, buffer->memory);
    *buffer = (rgBuffer){0};
}

rgResult rgCreateBlockFactor(const rgAllocator* allocator, const rgKernels* kernels,
                             rgBlockFactor** factor) {
    rgAllocator used = rgResolveAllocator(allocator);
    rgBlockFactor* made = rgAllocate(&used, 1, sizeof(rgBlockFactor));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = used;
    made->kernels = kernels != NULL ? kernels : rgSelectKernels(rg_kernelsBest);
    *factor = made;
    return rg_ok;
}

void rgDestroyBlockFactor(rgBlockFactor* factor) {
    if (factor == NULL) {
        return;
    }
    rgAllocator allocator = factor->allocator;
    rgBuffer* buffers[] = {&factor->patternMemory, &factor->frontMemory, &factor->rowMemory,
                           &factor->workMemory,    &factor->valueMemory, &factor->updateMemory,
                           &factor->vectorMemory,  &factor->pivotMemory, &factor->dissectionMemory,
                           &factor->flagMemory,    &factor->pieceMemory};
    for (int i = 0; i < RG_COUNT(buffers); ++i) {
        rgBuffer_Free(buffers[i], &allocator);
    }
    rgRelease(&allocator, factor);
}

static bool rgSameInts(const int* a, const int* b, int count) {
    return memcmp(a, b, (size_t)count * sizeof(int)) == 0;
}

static bool rgIsSamePattern(const rgBlockFactor* f, const rgBlockPattern* p) {
    int n = p->blockCount;
    return f->analysed && f->blockCount == n && f->entryCount == p->rowStart[n] &&
           rgSameInts(f->blockStart, p->blockStart, n + 1) &&
           rgSameInts(f->rowStart, p->rowStart, n + 1) &&
           rgSameInts(f->column, p->column, p->rowStart[n]);
}

// Block sizes positive, columns ascending and in range, every diagonal block there.
static bool rgIsValidPattern(const rgBlockPattern* p) {
    if (p->blockCount < 0 || p->rowStart[0] != 0 || p->blockStart[0] != 0) {
        return false;
    }
    for (int i = 0; i < p->blockCount; ++i) {
        bool diagonal = false;
        if (p->blockStart[i + 1] <= p->blockStart[i] || p->rowStart[i + 1] < p->rowStart[i]) {
            return false;
        }
        for (int k = p->rowStart[i]; k < p->rowStart[i + 1]; ++k) {
            int j = p->column[k];
            bool ascends = k == p->rowStart[i] || j > p->column[k - 1];
            if (!ascends || j < 0 || j >= p->blockCount) {
                return false;
            }
            diagonal = diagonal || j == i;
        }
        if (!diagonal) {
            return false;
        }
    }
    return true;
}

static rgResult rgKeepPattern(rgBlockFactor* f, const rgBlockPattern* p) {
    size_t n = (size_t)p->blockCount, entries = (size_t)p->rowStart[p->blockCount];
    rgResult result =
        rgBuffer_Reserve(&f->patternMemory, &f->allocator, (2 * (n + 1) + entries) * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    f->blockStart = f->patternMemory.memory;
    f->rowStart = f->blockStart + n + 1;
    f->column = f->rowStart + n + 1;
    memcpy(f->blockStart, p->blockStart, (n + 1) * sizeof(int));
    memcpy(f->rowStart, p->rowStart, (n + 1) * sizeof(int));
    memcpy(f->column, p->column, entries * sizeof(int));
    f->blockCount = p->blockCount;
    f->entryCount = (int)entries;
    f->scalarCount = p->blockStart[n];
    return rg_ok;
}

rgResult rgBlockFactor_Analyse(rgBlockFactor* factor, const rgBlockPattern* pattern) {
    if (rgIsSamePattern(factor, pattern)) {
        return rg_ok;
    }
    factor->analysed = false;
    factor->kind = rg_factorNone;
    if (!rgIsValidPattern(pattern)) {
        return rg_errorArgument;
    }
    rgResult result = rgKeepPattern(factor, pattern);
    if (result == rg_ok) {
        result = rgBlockFactor_BuildFronts(factor);
    }
    factor->analysed = result == rg_ok;
    return result;
}

double rgBlockFactor_CholeskyFlops(const rgBlockFactor* factor) {
    return factor->choleskyFlops;
}

double rgBlockFactor_LuFlops(const rgBlockFactor* factor) {
    return factor->luFlops;
}

double rgBlockFactor_Entries(const rgBlockFactor* factor) {
    return factor->factorEntries;
}
