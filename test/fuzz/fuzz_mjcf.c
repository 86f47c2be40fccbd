// Bytes as MJCF.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgFuzzModel(rgParseMjcf, bytes, count);
    return 0;
}
