// Bytes as SDF.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgFuzzModel(rgParseSdf, bytes, count);
    return 0;
}
