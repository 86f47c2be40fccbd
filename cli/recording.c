// Recordings as verbs meet them.
#include "recording.h"

#include "guard.h"

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
    const char* said = good ? rgByteBuffer_Take(&result, NULL) : fault;
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

// ---- arguments ----

// Options that only say where results go; 2 when a value follows, 1 when none does, 0 otherwise.
static int rgOutputOption(const char* argument) {
    static const struct {
        const char* name;
        int parts;
    } options[] = {{"--record", 2}, {"--record-every", 2}, {"--csv", 2},      {"--columns", 2},
                   {"--dump", 2},   {"--json", 1},         {"--realtime", 1}, {"--view", 1},
                   {"--port", 2},   {"--export", 2},       {"--open", 1},     {"--contacts", 2},
                   {"--mjcf", 2}};
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); ++i) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, argument, length) == 0) {
            return argument[length] == '=' ? 1 : options[i].parts;
        }
    }
    return 0;
}

char* rgCli_JoinArguments(int argc, char** argv) {
    size_t size = 1;
    for (int i = 0; i < argc; ++i) {
        size += strlen(argv[i]) + 1;
    }
    char* text = rgCli_Allocate(size, 1);
    char* at = text;
    for (int i = 0; i < argc; ++i) {
        int skip = rgOutputOption(argv[i]);
        if (skip > 0 || strchr(argv[i], '\n') != NULL) {
            i += skip > 1;
            continue;
        }
        size_t length = strlen(argv[i]);
        memcpy(at, argv[i], length);
        at += length;
        *at++ = '\n';
    }
    *at = '\0';
    return text;
}

char** rgCli_SplitArguments(const char* text, const char* first, int* count) {
    size_t lines = 0;
    for (const char* at = text; *at != '\0'; ++at) {
        lines += *at == '\n';
    }
    char** arguments = rgCli_Allocate(lines + 8, sizeof(char*)); // room for the caller's own
    arguments[0] = rgCli_CopyText(first);
    *count = 1;
    bool skipNext = false;
    for (const char* at = text; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        char* line = rgCli_Format("%.*s", (int)length, at);
        int skip = skipNext ? 1 : rgOutputOption(line);
        skipNext = !skipNext && skip == 2;
        if (skip > 0 || length == 0) {
            free(line);
        } else {
            arguments[(*count)++] = line;
        }
        at += length + (at[length] == '\n');
    }
    return arguments;
}

void rgCli_FreeArguments(char** arguments) {
    for (int i = 0; arguments != NULL && arguments[i] != NULL; ++i) {
        free(arguments[i]);
    }
    free(arguments);
}
