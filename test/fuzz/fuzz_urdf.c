// Bytes as URDF.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgFuzzModel(rgParseUrdf, bytes, count);
    return 0;
}
