// The wide tables, for kernels.c. The first two exist on x86-64 only, the last on aarch64 only.
#pragma once
#include "math/kernels.h"

extern const rgKernels rg_avx2Kernels;
extern const rgKernels rg_avx512Kernels;
extern const rgKernels rg_neonKernels;
