// Choice of the kernel table at run time.
#include "math/kernels.h"

#include "math/kernels_plain.h"
#include "math/kernels_wide.h"

#if defined(__x86_64__)
static bool rgRunsAvx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool rgRunsAvx512(void) {
    return rgRunsAvx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw");
}

const rgKernels* rgSelectKernels(rgKernelSet choice) {
    bool any = choice == rg_kernelsBest;
    if ((any || choice == rg_kernelsAvx512) && rgRunsAvx512()) {
        return &rg_avx512Kernels;
    }
    if ((any || choice == rg_kernelsAvx2) && rgRunsAvx2()) {
        return &rg_avx2Kernels;
    }
    return &rg_plainKernels;
}
#elif defined(__aarch64__)
const rgKernels* rgSelectKernels(rgKernelSet choice) {
    return choice == rg_kernelsBest || choice == rg_kernelsNeon ? &rg_neonKernels
                                                                : &rg_plainKernels;
}
#else
const rgKernels* rgSelectKernels(rgKernelSet choice) {
    (void)choice;
    return &rg_plainKernels;
}
#endif
