// Choice of the kernel table at run time.
#include "math/kernels.h"

#include "math/kernels_plain.h"

const rgKernels* rgSelectKernels(rgKernelSet choice) {
    (void)choice;
    return &rg_plainKernels;
}
