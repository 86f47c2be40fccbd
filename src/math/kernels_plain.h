// The plain table, for kernels.c.
#pragma once
#include "math/kernels.h"

extern const rgKernels rg_plainKernels;
