// Bytes as the text files of the program: motions, controls, tables and measurements (CSV), plans
// of an identification, lists of runs (JSON).
#include "fuzz.h"

#include "identify.h"
#include "json_read.h"
#include "motion.h"
#include "recording.h"
#include "runs.h"
#include "trajectory.h"

#include <stdio.h>
#include <unistd.h>

static rgModel* rgMakeModel(void) {
    rgModel* model = NULL;
    RG_PROMISE(rgLoadModel("arm", NULL, NULL, &model) == rg_ok);
    return model;
}

static void rgTryMotion(const char* path, const rgModel* model) {
    rgMotionFile motion;
    if (rgMotionFile_Read(&motion, path, model)) {
        RG_PROMISE(motion.rowCount > 0 && rgAllFinite(motion.v, motion.rowCount * motion.vCount));
        rgMotionFile_Fits(&motion, path, 1e-3);
    }
    rgMotionFile_Free(&motion);
}

static void rgTryControls(const char* path, const rgModel* model) {
    rgControlFile controls;
    rgWorld* world = NULL;
    if (rgControlFile_Read(&controls, path, model) && controls.rowCount > 0) {
        RG_PROMISE(rgCreateWorld(model, NULL, NULL, &world) == rg_ok);
        RG_PROMISE(rgAllFinite(controls.values, controls.rowCount * controls.columnCount));
        (void)!rgControlFile_Apply(&controls, world);
        rgDestroyWorld(world);
    }
    rgControlFile_Free(&controls);
}

static void rgTryMeasurements(const char* path, const rgModel* model) {
    rgMotion* motion = NULL;
    rgDiagnostics* said = NULL;
    RG_PROMISE(rgCreateDiagnostics(NULL, &said) == rg_ok);
    rgResult result = rgLoadMotion(path, model, NULL, said, &motion);
    RG_PROMISE((motion != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(said, rg_severityError) > 0);
    rgDestroyMotion(motion);
    rgDestroyDiagnostics(said);
}

static void rgTryPlan(const char* path) {
    rgIdentifyJob job = {.options.plan = path};
    rgIdentifyJob_ReadPlan(&job);
    rgIdentifyJob_FreePlan(&job);
}

// A picture whose name has no ending is refused once the table was read.
static void rgTryTable(char* path) {
    char verb[] = "plot", picture[] = "nowhere/picture";
    char* arguments[] = {verb, path, picture, NULL};
    RG_PROMISE(rgCli_Plot(3, arguments) == rg_exitUsage);
}

// The words of a run, which are read and not run.
static int rgLookAtRun(int argc, char** argv) {
    size_t length = 0;
    for (int i = 0; i < argc; ++i) {
        length += strlen(argv[i]);
    }
    RG_PROMISE(argc > 0 && length > 0);
    return rg_exitDone;
}

static void rgTryRuns(char* path) {
    char verb[] = "simulate", option[] = "--runs";
    char* arguments[] = {verb, option, path, NULL};
    rgRunAll(path, 3, arguments, false, rgLookAtRun);
    rgJsonValue root;
    if (rgReadJson(path, &root)) {
        rgJsonValue_Find(&root, "runs");
    }
    rgFreeJson(&root);
}

// As the JSON of a recording's model.
static void rgTryScene(const uint8_t* bytes, size_t count) {
    char* text = malloc(count + 1);
    RG_PROMISE(text != NULL);
    memcpy(text, bytes, count);
    text[count] = '\0';
    rgOpenedRecording opened = {.info.scene = text};
    rgRecordedNames names;
    if (rgRecordedNames_Read(&names, &opened, "shapes")) {
        for (int i = -1; i < 3; ++i) {
            RG_PROMISE((rgRecordedNames_At(&names, i) != NULL) == (i > 0 && i <= names.count));
        }
    }
    rgRecordedNames_Free(&names);
    free(text);
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
    rgTryMotion(path, model);
    rgTryControls(path, model);
    rgTryMeasurements(path, model);
    rgTryPlan(path);
    rgTryTable(path);
    rgTryRuns(path);
    rgTryScene(bytes, count);
    unlink(path);
    return 0;
}
