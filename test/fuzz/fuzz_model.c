// Bytes as a robot description of the kind that the root element says.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgFuzzModel(rgParseModelDef, bytes, count);
    return 0;
}
