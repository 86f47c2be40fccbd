// rigor devices: what accelerators there are, or why there are none.
#include "cli.h"

// Reason of a kind that has no devices; it stays until the next call.
static const char* rgReason(rgDeviceKind kind) {
    static char text[256];
    rgDiagnostics* diagnostics = NULL;
    text[0] = '\0';
    if (rgCreateDiagnostics(NULL, &diagnostics) == rg_ok) {
        rgDeviceCount(kind, diagnostics);
        if (rgDiagnostics_Count(diagnostics) > 0) {
            snprintf(text, sizeof(text), "%s", rgDiagnostics_Message(diagnostics, 0).text);
        }
    }
    rgDestroyDiagnostics(diagnostics);
    return text;
}

static void rgPrintDevice(const rgDeviceInfo* info) {
    double gigabytes = (double)info->memory / (1024.0 * 1024 * 1024);
    if (info->kind == rg_deviceHost) {
        printf("host    %s, %d cores, %.0f GB\n", info->name, info->processorCount, gigabytes);
        return;
    }
    printf("%s:%d  %s, compute capability %d.%d, %d multiprocessors, %.0f GB, driver for CUDA "
           "%d.%d\n",
           rgDeviceKind_Name(info->kind), info->index, info->name, info->major, info->minor,
           info->processorCount, gigabytes, info->driver / 1000, info->driver % 1000 / 10);
}

static void rgPrintDevices(void) {
    rgDeviceInfo info;
    for (int kind = 0; kind < rg_deviceKindCount; ++kind) {
        int count = rgDeviceCount((rgDeviceKind)kind, NULL);
        for (int i = 0; i < count; ++i) {
            if (rgDeviceAt((rgDeviceKind)kind, i, &info) == rg_ok) {
                rgPrintDevice(&info);
            }
        }
        if (count == 0) {
            printf("%s    none: %s\n", rgDeviceKind_Name((rgDeviceKind)kind),
                   rgReason((rgDeviceKind)kind));
        }
    }
}

static void rgWriteDevices(void) {
    rgJson json = {.out = stdout};
    rgDeviceInfo info;
    rgJson_BeginObject(&json, NULL);
    rgJson_BeginArray(&json, "devices");
    for (int kind = 0; kind < rg_deviceKindCount; ++kind) {
        for (int i = 0; i < rgDeviceCount((rgDeviceKind)kind, NULL); ++i) {
            if (rgDeviceAt((rgDeviceKind)kind, i, &info) != rg_ok) {
                continue;
            }
            rgJson_BeginObject(&json, NULL);
            rgJson_String(&json, "kind", rgDeviceKind_Name(info.kind));
            rgJson_Int(&json, "index", info.index);
            rgJson_String(&json, "name", info.name);
            rgJson_Int(&json, "processors", info.processorCount);
            rgJson_Number(&json, "memory", (double)info.memory);
            rgJson_EndObject(&json);
        }
    }
    rgJson_EndArray(&json);
    if (rgDeviceCount(rg_deviceCuda, NULL) == 0) {
        rgJson_String(&json, "cuda_missing", rgReason(rg_deviceCuda));
    }
    rgJson_EndObject(&json);
}

int rgCli_Devices(int argc, char** argv) {
    bool isJson = false;
    const rgOption table[] = {
        {"--json", rg_optionFlag, &isJson, "print one JSON object", NULL, NULL, 0, 0},
    };
    const rgCommand command = {.name = "rigor devices",
                               .usage = "[--json]",
                               .summary =
                                   "List the accelerators, or the reason why there are none.\n\n"
                                   "Examples:\n  rigor devices\n  rigor devices --json",
                               .options = table,
                               .optionCount = 1};
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    if (isJson) {
        rgWriteDevices();
    } else {
        rgPrintDevices();
    }
    return rg_exitDone;
}
