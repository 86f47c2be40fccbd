// Models that come with the library.
#include "io/builtin.h"

#include "base/base.h"

#include <string.h>

int rgBuiltinModelCount(void) {
    return rgBuiltinModelTotal;
}

const rgBuiltinModel* rgBuiltinModelAt(int index) {
    return index >= 0 && index < rgBuiltinModelTotal ? &rgBuiltinModels[index] : NULL;
}

const rgBuiltinModel* rgFindBuiltinModel(const char* name) {
    for (int i = 0; name != NULL && i < rgBuiltinModelTotal; ++i) {
        if (strcmp(rgBuiltinModels[i].name, name) == 0) {
            return &rgBuiltinModels[i];
        }
    }
    return NULL;
}
