// A recording is written, locked while it is, and read again: .ci/windows runs this under wine,
// where the unit tests do not run.
#include <rigor/rigor.h>
#include <stdio.h>
#include <string.h>

static int rgFail(const rgDiagnostics* said, const char* what) {
    int count = rgDiagnostics_Count(said);
    printf("FAILED: %s: %s\n", what, count > 0 ? rgDiagnostics_Message(said, count - 1).text : "");
    return 1;
}

int main(void) {
    rgDiagnostics* said = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder *recorder = NULL, *second = NULL;
    rgRecording* recording = NULL;
    rgRecordedFrame frame;
    rgRecorderDef def = rgDefaultRecorderDef();
    def.path = "recording.h5";
    rgCreateDiagnostics(NULL, &said);
    if (rgLoadModel("quadruped", NULL, said, &model) != rg_ok ||
        rgCreateWorld(model, NULL, said, &world) != rg_ok ||
        rgCreateRecorder(&def, world, said, &recorder) != rg_ok) {
        return rgFail(said, "start");
    }
    if (rgCreateRecorder(&def, world, said, &second) == rg_ok) {
        return rgFail(said, "two recorders of one file");
    }
    for (int i = 0; i < 300; ++i) {
        rgStepReport report;
        if (rgWorld_Step(world, &report) != rg_ok ||
            rgRecorder_Add(recorder, world, &report) != rg_ok) {
            return rgFail(said, "step");
        }
    }
    if (rgRecorder_Finish(recorder) != rg_ok) {
        return rgFail(said, "finish");
    }
    rgDestroyRecorder(recorder);
    if (rgLoadRecording(def.path, NULL, said, &recording) != rg_ok) {
        return rgFail(said, "load");
    }
    rgRecordingInfo info = rgRecording_Info(recording);
    if (!info.isComplete || info.frameCount != 300 ||
        rgRecording_Frame(recording, 299, &frame) != rg_ok ||
        memcmp(frame.q, rgWorld_Positions(world, NULL), info.qCount * sizeof(double)) != 0) {
        return rgFail(said, "frames");
    }
    printf("%lld frames, %lld contacts, state %016llx\n", (long long)info.frameCount,
           (long long)info.contactCount, (unsigned long long)rgWorld_Hash(world));
    rgDestroyRecording(recording);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyDiagnostics(said);
    return 0;
}
