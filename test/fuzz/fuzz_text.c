// Bytes as the text files of the program: motions (CSV) and lists of runs (JSON).
#include "fuzz.h"

#include "json_read.h"
#include "motion.h"

#include <stdio.h>
#include <unistd.h>

static rgModel* rgMakeModel(void) {
    rgModel* model = NULL;
    RG_PROMISE(rgLoadModel("arm", NULL, NULL, &model) == rg_ok);
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    static rgModel* model;
    static char path[64];
    if (model == NULL) {
        model = rgMakeModel();
        snprintf(path, sizeof(path), "/dev/shm/rigor_fuzz_%ld.txt", (long)getpid());
    }
    FILE* file = fopen(path, "wb");
    RG_PROMISE(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
    rgMotionFile motion;
    if (rgMotionFile_Read(&motion, path, model)) {
        RG_PROMISE(motion.rowCount > 0 && rgAllFinite(motion.v, motion.rowCount * motion.vCount));
        rgMotionFile_Fits(&motion, path, 1e-3);
    }
    rgMotionFile_Free(&motion);
    rgJsonValue root;
    if (rgReadJson(path, &root)) {
        rgJsonValue_Find(&root, "runs");
    }
    rgFreeJson(&root);
    unlink(path);
    return 0;
}
