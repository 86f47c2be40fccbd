// The system of a problem that was built backwards, for tests of what solvers are made of.
#pragma once
#include "solve.h"

#include "base/base.h"
#include "contact/run.h"

typedef struct rgBuilt {
    rgContactCase* made;
    rgContactProblem problem;
    rgArena arena;
    rgBlockFactor* factor;
    rgLayout layout;
    rgSystem system;
} rgBuilt;

static inline void rgBuilt_Init(rgBuilt* built, const rgContactCaseDef* def, rgSystemForm form) {
    rgAllocator allocator = rgResolveAllocator(NULL);
    const rgKernels* kernels = rgSelectKernels(rg_kernelsPlain);
    built->made = rgMakeContactCase(def);
    built->problem = rgContactCase_UseForm(built->made, rg_delassusVelocity);
    rgArena_Init(&built->arena, &allocator);
    assert_int_equal(rgCreateBlockFactor(&allocator, kernels, &built->factor), rg_ok);
    assert_int_equal(rgBuildLayout(&built->problem, false, &built->arena, &built->layout), rg_ok);
    rgSystemDef system = {.problem = &built->problem,
                          .layout = &built->layout,
                          .memberCount = built->layout.blockCount,
                          .members = built->layout.members,
                          .model = rg_modelNcp,
                          .form = form,
                          .scaled = true,
                          .kernels = kernels,
                          .arena = &built->arena,
                          .factor = built->factor};
    assert_int_equal(rgBuildSystem(&system, &built->system), rg_ok);
}

static inline void rgBuilt_Free(rgBuilt* built) {
    rgDestroyBlockFactor(built->factor);
    rgArena_Free(&built->arena);
    rgFreeContactCase(built->made);
}
