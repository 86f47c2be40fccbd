// Recordings as verbs meet them.
#include "recording.h"

#include "guard.h"
#include "json_read.h"

#include <stdlib.h>
#include <string.h>

bool rgCli_IsHdf5(const char* path) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char bytes[8] = {0};
    FILE* file = fopen(path, "rb");
    bool same = file != NULL && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
                memcmp(bytes, signature, sizeof(bytes)) == 0;
    if (file != NULL) {
        fclose(file);
    }
    return same;
}

// ---- opening ----

static void rgReadThrough(void* context, rgByteBuffer* result) {
    rgRecording* recording = NULL;
    rgDiagnostics* diagnostics = NULL;
    rgCreateDiagnostics(NULL, &diagnostics);
    rgResult outcome = rgLoadRecording(context, NULL, diagnostics, &recording);
    if (outcome == rg_ok) {
        rgRecordedFrame frame;
        int64_t count = rgRecording_Info(recording).frameCount;
        for (int64_t i = 0; outcome == rg_ok && i < count; i += 256) {
            outcome = rgRecording_Frame(recording, i, &frame);
        }
    }
    const char* text = rgDiagnostics_Count(diagnostics) > 0
                           ? rgDiagnostics_Message(diagnostics, 0).text
                           : rgResult_Name(outcome);
    if (outcome != rg_ok) {
        rgByteBuffer_Put(result, text, strlen(text) + 1);
    }
    rgDestroyRecording(recording);
    rgDestroyDiagnostics(diagnostics);
}

static bool rgIsReadable(const char* path) {
    rgByteBuffer result;
    char* fault = NULL;
    char* copy = rgCli_CopyText(path);
    bool good = rgRunGuarded(rgReadThrough, copy, rgDefaultGuardLimits(), &result, &fault);
    const char* said = good ? rgByteBuffer_Read(&result, NULL) : fault;
    if (said != NULL) {
        rgCli_Error("%s: %s", path, said);
    }
    good = said == NULL;
    rgByteBuffer_Free(&result);
    free(fault);
    free(copy);
    return good;
}

// Names come from the MJCF text, as far as its coordinates are those of the recording.
static void rgReadModel(rgOpenedRecording* opened) {
    rgLoadDef load = rgDefaultLoadDef();
    load.cacheFolder = "";
    size_t size = strlen(opened->info.mjcf);
    if (size == 0 || rgParseModelDef(opened->info.mjcf, size, "model/mjcf", &load, NULL,
                                     &opened->def) != rg_ok) {
        return;
    }
    if (rgCompileModel(opened->def, NULL, NULL, &opened->model) != rg_ok) {
        return;
    }
    rgModelInfo model = rgModel_Info(opened->model);
    if (model.qCount != opened->info.qCount || model.vCount != opened->info.vCount) {
        rgDestroyModel(opened->model);
        opened->model = NULL;
    }
}

bool rgCli_OpenRecording(const char* path, rgOpenedRecording* opened) {
    *opened = (rgOpenedRecording){0};
    if (!rgIsReadable(path)) {
        return false;
    }
    rgCreateDiagnostics(NULL, &opened->diagnostics);
    if (rgLoadRecording(path, NULL, opened->diagnostics, &opened->recording) != rg_ok) {
        rgCli_PrintDiagnostics(opened->diagnostics, stderr, false, false);
        return false;
    }
    opened->info = rgRecording_Info(opened->recording);
    if (opened->info.frameCount == 0) {
        rgCli_Error("%s: the recording has no frames: it ended before the first flush", path);
        return false;
    }
    rgReadModel(opened);
    return true;
}

void rgCli_CloseRecording(rgOpenedRecording* opened) {
    rgDestroyModel(opened->model);
    rgDestroyModelDef(opened->def);
    rgDestroyRecording(opened->recording);
    rgDestroyDiagnostics(opened->diagnostics);
    *opened = (rgOpenedRecording){0};
}

// ---- names ----

bool rgRecordedNames_Read(rgRecordedNames* names, const rgOpenedRecording* opened,
                          const char* kind) {
    rgJsonValue scene;
    *names = (rgRecordedNames){0};
    if (!rgParseJson("model/scene", opened->info.scene, strlen(opened->info.scene), &scene)) {
        return false;
    }
    const rgJsonValue* list = rgJsonValue_Find(&scene, kind);
    int count = list != NULL && list->kind == rg_jsonArray ? list->count : 0;
    names->texts = rgCli_Allocate((size_t)count, sizeof(char*));
    names->count = count;
    for (int i = 0; i < count; ++i) {
        const rgJsonValue* name = rgJsonValue_Find(&list->items[i], "name");
        bool isText = name != NULL && name->kind == rg_jsonText;
        names->texts[i] = rgCli_CopyText(isText ? name->text : "");
    }
    rgFreeJson(&scene);
    return true;
}

const char* rgRecordedNames_At(const rgRecordedNames* names, int number) {
    return number >= 1 && number <= names->count ? names->texts[number - 1] : NULL;
}

void rgRecordedNames_Free(rgRecordedNames* names) {
    for (int i = 0; i < names->count; ++i) {
        free(names->texts[i]);
    }
    free(names->texts);
    *names = (rgRecordedNames){0};
}

// ---- arguments ----

typedef enum rgArgumentUse {
    rg_useUnknown, // not an option of rigor simulate
    rg_useOutput,  // path of results: not kept
    rg_useLength,  // duration of the run, which the frames of a recording contain as well
    rg_useRun,     // decides what is simulated
} rgArgumentUse;

// Every option of rigor simulate. A recording may set those that change the simulated motion, and
// no others: an option that is not marked here is never run for a file from someone else.
static const struct {
    const char* name;
    rgArgumentUse use;
    bool isFlag;
} rgArgumentUses[] = {
    {"--at", rg_useRun, false},
    {"--rpy", rg_useRun, false},
    {"--prefix", rg_useRun, false},
    {"--on", rg_useRun, false},
    {"--floating", rg_useRun, true},
    {"--fixed", rg_useRun, true},
    {"--scale", rg_useRun, false},
    {"--density", rg_useRun, false},
    {"--without-world", rg_useRun, true},
    {"--package-dir", rg_useRun, false},
    {"--strict", rg_useRun, true},
    {"--no-meshes", rg_useRun, true},
    {"--hull", rg_useRun, true},
    {"--decompose", rg_useRun, true},
    {"--sheet", rg_useRun, true},
    {"--contact", rg_useRun, false},
    {"--bound", rg_useRun, false},
    {"--dt", rg_useRun, false},
    {"--integrator", rg_useRun, false},
    {"--seed", rg_useRun, false},
    {"--threads", rg_useRun, false},
    {"--bodies", rg_useRun, false},
    {"--ground", rg_useRun, true},
    {"--key", rg_useRun, false},
    {"--q", rg_useRun, false},
    {"--v", rg_useRun, false},
    {"--self-collision", rg_useRun, false},
    {"--self-overlap", rg_useRun, false},
    {"--stiffness", rg_useRun, false},
    {"--damping", rg_useRun, false},
    {"--dissipation", rg_useRun, false},
    {"--tangential-stiffness", rg_useRun, false},
    {"--tangential-damping", rg_useRun, false},
    {"--mu", rg_useRun, false},
    {"--friction", rg_useRun, false},
    {"--friction-rule", rg_useRun, false},
    {"--restitution", rg_useRun, false},
    {"--islands", rg_useRun, false},
    {"--stop", rg_useRun, false},
    {"--rule", rg_useRun, false},
    {"--eta", rg_useRun, false},
    {"--p", rg_useRun, false},
    {"--p-start", rg_useRun, false},
    {"--tau", rg_useRun, false},
    {"--alpha", rg_useRun, false},
    {"--rho", rg_useRun, false},
    {"--solver", rg_useRun, false},
    {"--model", rg_useRun, false},
    {"--accuracy", rg_useRun, false},
    {"--answers", rg_useRun, true},
    {"--tol", rg_useRun, false},
    {"--max-iter", rg_useRun, false},
    {"--start", rg_useRun, false},
    {"--hold", rg_useRun, false},
    {"--ctrl", rg_useRun, false},
    {"--name", rg_useRun, false},
    {"--time", rg_useLength, false},
    {"--steps", rg_useLength, false},
    {"--csv", rg_useOutput, false},
    {"--columns", rg_useOutput, false},
    {"--runs", rg_useOutput, false},
    {"--dump", rg_useOutput, false},
    {"--record", rg_useOutput, false},
    {"--record-every", rg_useOutput, false},
    {"--view", rg_useOutput, true},
    {"--port", rg_useOutput, false},
    {"--json", rg_useOutput, true},
    {"--realtime", rg_useOutput, true},
};

// Use of an argument; `hasValue` is set if the next one is its value.
static rgArgumentUse rgUseOfArgument(const char* argument, bool* hasValue) {
    size_t length = strcspn(argument, "=");
    *hasValue = false;
    if (argument[0] != '-') {
        return rg_useRun; // a scene or a file
    }
    for (size_t i = 0; i < sizeof(rgArgumentUses) / sizeof(rgArgumentUses[0]); ++i) {
        const char* name = rgArgumentUses[i].name;
        if (strlen(name) == length && strncmp(name, argument, length) == 0) {
            *hasValue = !rgArgumentUses[i].isFlag && argument[length] != '=';
            return rgArgumentUses[i].use;
        }
    }
    return rg_useUnknown;
}

char* rgCli_JoinArguments(int argc, char** argv) {
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    for (int i = 0; out != NULL && i < argc; ++i) {
        bool hasValue;
        bool isKept = rgUseOfArgument(argv[i], &hasValue) != rg_useOutput;
        int last = hasValue && i + 1 < argc ? i + 1 : i;
        for (int k = i; isKept && k <= last; ++k) {
            for (const char* c = argv[k]; *c != '\0'; ++c) {
                fputc(*c == '\n' ? ' ' : *c, out); // one line each
            }
            fputc('\n', out);
        }
        i = last;
    }
    if (out != NULL) {
        fclose(out);
    }
    return text != NULL ? text : rgCli_CopyText("");
}

char** rgCli_SplitArguments(const char* text, const char* first, int* count) {
    size_t lines = 0;
    for (const char* at = text; *at != '\0'; ++at) {
        lines += *at == '\n';
    }
    char** arguments = rgCli_Allocate(lines + 8, sizeof(char*)); // room for the caller's own
    arguments[0] = rgCli_CopyText(first);
    *count = 1;
    bool isValue = false, isKept = true;
    for (const char* at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        char* line = rgCli_Format("%.*s", (int)strcspn(at, "\n"), at);
        rgArgumentUse use = rg_useRun;
        if (!isValue) {
            use = rgUseOfArgument(line, &isValue);
            isKept = use == rg_useRun;
        } else {
            isValue = false;
        }
        if (use == rg_useUnknown || use == rg_useOutput) {
            rgCli_Error("--check: a replay cannot repeat '%s' of the recording", line);
            free(line);
            rgCli_FreeArguments(arguments);
            return NULL;
        }
        if (isKept) {
            arguments[(*count)++] = line;
        } else {
            free(line);
        }
    }
    return arguments;
}

void rgCli_FreeArguments(char** arguments) {
    for (int i = 0; arguments != NULL && arguments[i] != NULL; ++i) {
        free(arguments[i]);
    }
    free(arguments);
}
