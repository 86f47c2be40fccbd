// rigor view: a scene, a robot or a recording in the browser, or as a page to keep.
#include "live.h"
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct rgViewOptions {
    rgSimulationArguments arguments;
    const char* export;
    const char* ghost;
    const char* address;
    int port;
    double time;
    double framesPerSecond;
    bool open;
    bool json;
} rgViewOptions;

#define RG_VIEW_OPTION_COUNT (RG_PHYSICS_OPTION_COUNT + 9)

// given: options that the user gave; names: of the same.
static int rgParseView(int argc, char** argv, rgViewOptions* options, int* count,
                       bool given[RG_VIEW_OPTION_COUNT], const char* names[RG_VIEW_OPTION_COUNT]) {
    rgSimulationArguments* a = &options->arguments;
    rgOption table[RG_VIEW_OPTION_COUNT] = {
        [RG_PHYSICS_OPTION_COUNT] = {"--port", rg_optionInt, &options->port,
                                     "port of the server; any free one without it", "N", NULL, 0,
                                     65535},
        {"--address", rg_optionText, &options->address,
         "IPv4 address to listen on; 127.0.0.1, this machine alone, without it", "A", NULL, 0, 0},
        {"--open", rg_optionFlag, &options->open, "open a browser if there is a display", NULL,
         NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print the address or the file as JSON", NULL,
         NULL, 0, 0},
        {"--export", rg_optionOutput, &options->export,
         "write one HTML file that plays by itself, and end", "FILE", NULL, 0, 0},
        {"--ghost", rg_optionText, &options->ghost,
         "draw a second recording see-through, at the same time", "FILE.h5", NULL, 0, 0},
        {"--fps", rg_optionNumber, &options->framesPerSecond,
         "frames per second kept of a recording (60); 0: all", "N", NULL, 0, 1e6},
        {"--time", rg_optionNumber, &options->time,
         "end after this simulated time [s]; with --export: length of the recording", "T", NULL,
         1e-9, 1e9},
        rgHoldOption(a),
    };
    rgSimulationArguments_PhysicsOptions(a, table);
    for (int i = 0; i < RG_VIEW_OPTION_COUNT; ++i) {
        names[i] = table[i].name;
    }
    const rgCommand command = {
        .name = "rigor view",
        .usage = "RECORDING.h5|SCENE|FILE... [OPTIONS]",
        .summary =
            "Show a recording in a browser, or simulate a scene or files in real time and show "
            "them. The command\nprints the address. In the page: pull bodies, change gravity and "
            "friction, pause, reset.\nThrough ssh: ssh -L 8080:localhost:8080 HOST, then "
            "rigor view wall --port 8080.\n\n"
            "Examples:\n"
            "  rigor view humanoid\n"
            "  rigor view robot.urdf --floating --ground\n"
            "  rigor simulate wall --record wall.h5 && rigor view wall.h5\n"
            "  rigor view wall.h5 --ghost other.h5\n"
            "  rigor view wall.h5 --export wall.html",
        .options = table,
        .optionCount = RG_VIEW_OPTION_COUNT,
        .minArguments = 1,
        .maxArguments = -1,
        .given = given,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// True after a message about an option without effect: those of simulations for a recording, those
// of recordings for a live simulation.
static bool rgIgnoresOption(const rgViewOptions* options, const char* what, const bool* given,
                            const char* const* names) {
    bool recording = rgCli_IsHdf5(what);
    for (int i = 0; i < RG_VIEW_OPTION_COUNT; ++i) {
        bool simulates = i < RG_PHYSICS_OPTION_COUNT || strcmp(names[i], "--hold") == 0 ||
                         strcmp(names[i], "--time") == 0;
        if (given[i] && recording && simulates) {
            rgCli_Error("%s is for simulations; %s is a recording", names[i], what);
            return true;
        }
        if (given[i] && !recording && strcmp(names[i], "--ghost") == 0) {
            rgCli_Error("--ghost needs a recording; %s is simulated", what);
            return true;
        }
        if (given[i] && !recording && options->export == NULL && strcmp(names[i], "--fps") == 0) {
            rgCli_Error("--fps needs a recording or --export");
            return true;
        }
        bool serves = strcmp(names[i], "--port") == 0 || strcmp(names[i], "--address") == 0;
        if (given[i] && options->export != NULL && serves) {
            rgCli_Error("%s is for a server; --export writes a file and ends", names[i]);
            return true;
        }
    }
    return false;
}

// ---- recordings ----

static rgPageDef rgMakePageDef(const rgOpenedRecording* ghost, const rgViewOptions* options) {
    rgPageDef page = rgDefaultPageDef();
    page.framesPerSecond = options->framesPerSecond;
    page.ghost = ghost->recording;
    return page;
}

static int rgExportRecording(rgOpenedRecording* opened, const rgOpenedRecording* ghost,
                             const rgViewOptions* options) {
    rgPageDef page = rgMakePageDef(ghost, options);
    rgDiagnostics_Clear(opened->diagnostics);
    rgResult result =
        rgRecording_SavePage(opened->recording, &page, options->export, opened->diagnostics);
    if (result != rg_ok) {
        rgCli_PrintDiagnostics(opened->diagnostics, stderr, false, false);
        if (rgDiagnostics_Count(opened->diagnostics) == 0) {
            rgCli_Error("%s: no page can be written: %s", options->export, rgResult_Name(result));
        }
        return rg_exitUsage;
    }
    if (options->json) {
        rgJson json = {.out = stdout};
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "title", opened->info.title);
        rgJson_String(&json, "page", options->export);
        rgJson_Int(&json, "recorded_frames", opened->info.frameCount);
        rgJson_EndObject(&json);
    } else {
        printf("%s plays in any browser\n", options->export);
    }
    return rg_exitDone;
}

static int rgServeRecording(rgOpenedRecording* opened, const rgOpenedRecording* ghost,
                            const rgViewOptions* options) {
    rgPageDef page = rgMakePageDef(ghost, options);
    rgViewer* viewer = rgCli_StartViewer(opened->info.title, options->address, options->port);
    if (viewer == NULL) {
        return rg_exitUsage;
    }
    rgResult result = rgViewer_ShowRecording(viewer, opened->recording, &page);
    if (result == rg_ok) {
        rgLiveOptions told = {.title = opened->info.title,
                              .address = options->address,
                              .open = options->open,
                              .json = options->json};
        rgCli_PrintAddress(viewer, &told);
    } else {
        rgCli_Error("the recording cannot be shown: %s", rgResult_Name(result));
    }
    while (result == rg_ok && !rgCli_IsInterrupted()) {
        struct timespec pause = {.tv_sec = 1};
        nanosleep(&pause, NULL); // ends early on Ctrl-C
    }
    rgDestroyViewer(viewer);
    return result == rg_ok ? rg_exitDone : rg_exitUsage;
}

static int rgViewRecording(const char* path, const rgViewOptions* options) {
    rgOpenedRecording opened, ghost = {0};
    int code = rg_exitUsage;
    if (rgCli_OpenRecording(path, &opened) &&
        (options->ghost == NULL || rgCli_OpenRecording(options->ghost, &ghost))) {
        code = options->export != NULL ? rgExportRecording(&opened, &ghost, options)
                                       : rgServeRecording(&opened, &ghost, options);
    }
    rgCli_CloseRecording(&ghost);
    rgCli_CloseRecording(&opened);
    return code;
}

// ---- simulations ----

char* rgCli_MakeTemporary(void) {
    const char* folder = getenv("TMPDIR");
    char* path = rgCli_Format("%s/rigor-XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        rgCli_Error("%s: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    close(file);
    return path;
}

// Simulate into a temporary recording, then export that.
static int rgExportSimulation(const rgViewOptions* options) {
    char* path = rgCli_MakeTemporary();
    if (path == NULL) {
        return rg_exitUsage;
    }
    int code = rgCli_RecordSimulation(&options->arguments, options->time, path, true);
    if (code == rg_exitDone) {
        code = rgViewRecording(path, options);
    }
    remove(path);
    free(path);
    return code;
}

static int rgViewSimulation(const rgViewOptions* options) {
    rgSimulation simulation;
    int code = rg_exitUsage;
    if (rgSimulation_Begin(&simulation, &options->arguments)) {
        rgLiveOptions live = {.title = simulation.name,
                              .address = options->address,
                              .port = options->port,
                              .open = options->open,
                              .json = options->json,
                              .time = options->time};
        code = rgCli_RunLive(&simulation, &live);
    }
    rgSimulation_Free(&simulation);
    return code;
}

int rgCli_View(int argc, char** argv) {
    rgViewOptions options = {.arguments = rgDefaultSimulationArguments(), .framesPerSecond = 60};
    int count = 0;
    bool given[RG_VIEW_OPTION_COUNT] = {false};
    const char* names[RG_VIEW_OPTION_COUNT];
    int code = rgParseView(argc, argv, &options, &count, given, names);
    if (code != RG_CLI_GO) {
        return code;
    }
    options.arguments.what = argv[1];
    options.arguments.more = argv + 2;
    options.arguments.moreCount = count - 1;
    if (rgCli_IsHdf5(argv[1]) && count > 1) {
        rgCli_Error("%s: a recording is shown alone, without %s", argv[1], argv[2]);
        return rg_exitUsage;
    }
    if (rgIgnoresOption(&options, argv[1], given, names)) {
        return rg_exitUsage;
    }
    if (rgCli_IsHdf5(argv[1])) {
        return rgViewRecording(argv[1], &options);
    }
    return options.export != NULL ? rgExportSimulation(&options) : rgViewSimulation(&options);
}

// ---- the demonstration ----

// Save the picture, and show it if a browser can be opened.
static int rgShowDemo(const char* path, const char* page) {
    rgViewOptions options = {.framesPerSecond = 60, .export = page, .open = true};
    int code = page != NULL ? rgViewRecording(path, &options) : rg_exitDone;
    bool isWatched = (getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL) &&
                     isatty(STDOUT_FILENO) == 1;
    if (code == rg_exitDone && isWatched && rgHasViewer()) {
        options.export = NULL;
        code = rgViewRecording(path, &options);
    }
    return code;
}

int rgCli_Demo(int argc, char** argv) {
    const char* page = NULL;
    const rgOption table[] = {
        {"--export", rg_optionOutput, &page, "write an HTML file that plays it", "FILE", NULL, 0,
         0},
    };
    const rgCommand command = {.name = "rigor demo",
                               .usage = "[--export FILE.html]",
                               .summary =
                                   "Simulate the wall of cubes: it stands for 2 s, then a "
                                   "ball hits it. Where there is a display,\nshow it in the "
                                   "browser.\nThe same as: rigor simulate wall --record "
                                   "wall.h5 && rigor view wall.h5 --open\n\n"
                                   "Examples:\n  rigor demo\n  rigor demo --export wall.html",
                               .options = table,
                               .optionCount = 1};
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    char* path = rgCli_MakeTemporary();
    if (path == NULL) {
        return rg_exitUsage;
    }
    code = rgCli_RecordSimulation(&arguments, 0, path, false);
    if (code == rg_exitDone && rgHasPage()) {
        code = rgShowDemo(path, page);
    } else if (code == rg_exitDone) {
        printf("\nno picture: rigor was built without the viewer, which needs Node, npm and its "
               "registry\n");
    }
    remove(path);
    free(path);
    return code;
}
