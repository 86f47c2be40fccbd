// The wide tables, for kernels.c. They exist on x86-64 only.
#pragma once
#include "math/kernels.h"

extern const rgKernels rg_avx2Kernels;
extern const rgKernels rg_avx512Kernels;
