// rigor render: pictures and films of a recording without a display, by a headless Chromium under
// the control of the viewer's server, and ffmpeg.
#include "live.h"
#include "recording.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RG_MOST_PICTURES 100000

typedef struct rgRenderOptions {
    double time; // negative: none given
    double framesPerSecond;
    const char* size;
    const char* camera;
    double eyeAndTarget[6]; // eye and target of --camera
    const char* show;
    const char* ghost;
    bool isNamedCamera; // --camera names a camera of the model
    bool dark;
    bool json;
} rgRenderOptions;

typedef struct rgRenderJob {
    const char* out;
    bool isFolder;
    int count;
    double* times;
    bool* isThere; // per picture
    pthread_mutex_t mutex;
    int done;
    bool failed;
} rgRenderJob;

static int rgParseRender(int argc, char** argv, rgRenderOptions* options, int* count) {
    const rgOption table[] = {
        {"--time", rg_optionNumber, &options->time, "time of the picture [s]; the end without it",
         "T", NULL, 0, 1e9},
        {"--fps", rg_optionNumber, &options->framesPerSecond,
         "pictures per second of a film or in a folder (30)", "N", NULL, 0.01, 1000},
        {"--size", rg_optionText, &options->size, "size in pixels (1280x720)", "WxH", NULL, 0, 0},
        {"--camera", rg_optionText, &options->camera,
         "position of the eye and its target, or a camera of the model; the whole scene without it",
         "X,Y,Z,TX,TY,TZ|NAME", NULL, 0, 0},
        {"--ghost", rg_optionText, &options->ghost,
         "draw a second recording see-through, at the same time", "FILE.h5", NULL, 0, 0},
        {"--show", rg_optionText, &options->show,
         "parts to draw: forces, points, cones, network, com, support, frames, axes, inertia, "
         "collision, trails, labels, grid, shadows",
         "LIST", NULL, 0, 0},
        {"--dark", rg_optionFlag, &options->dark, "draw on a dark background", NULL, NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print a list of the pictures as JSON", NULL,
         NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor render",
        .usage = "RECORDING OUT.png|OUT.mp4|FOLDER/ [OPTIONS]",
        .summary =
            "Make a picture of a recording, a film (.mp4, .webm, .gif), or a folder of pictures "
            "(frame_00000.png ...),\nwithout a display. Needs Chromium (chromium, google-chrome, "
            "or "
            "RIGOR_BROWSER); films need\nffmpeg (or RIGOR_FFMPEG).\n\n"
            "Examples:\n"
            "  rigor render wall.h5 wall.png --time 2.3\n"
            "  rigor render wall.h5 wall.mp4 --size 1920x1080\n"
            "  rigor render wall.h5 frames/ --fps 30 --size 1920x1080\n"
            "  rigor render pile.h5 pile.png --show network,grid,shadows --dark",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 2,
        .maxArguments = 2,
        .output = 2,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// ---- pictures ----

// Called by a thread of the server. A picture that comes again is the same one.
static void rgKeepPicture(int index, const void* bytes, size_t byteCount, void* context) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    rgRenderJob* job = context;
    pthread_mutex_lock(&job->mutex);
    bool again = job->isThere[index];
    job->isThere[index] = true;
    pthread_mutex_unlock(&job->mutex);
    if (again) {
        return;
    }
    char* path = job->isFolder ? rgCli_Format("%s/frame_%05d.png", job->out, index)
                               : rgCli_CopyText(job->out);
    rgOutput output;
    bool good = byteCount > sizeof(signature) && memcmp(bytes, signature, sizeof(signature)) == 0;
    if (!good) {
        rgCli_Error("%s: the browser made no picture", path);
    } else if ((good = rgOutput_Open(&output, path))) {
        bool whole = fwrite(bytes, 1, byteCount, output.file) == byteCount;
        good = rgOutput_Close(&output, whole) && whole;
    }
    free(path);
    pthread_mutex_lock(&job->mutex);
    job->done += 1;
    job->failed = job->failed || !good;
    pthread_mutex_unlock(&job->mutex);
}

// Words of --show, by commas.
static bool rgCheckShow(const char* show) {
    static const char* const names[] = {"forces",  "points", "cones", "network", "com",
                                        "support", "frames", "axes",  "inertia", "collision",
                                        "trails",  "labels", "grid",  "shadows"};
    bool good = true;
    char* words = rgCli_CopyText(show != NULL ? show : "");
    for (char* word = strtok(words, ","); word != NULL && good; word = strtok(NULL, ",")) {
        good = false;
        for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); ++i) {
            good = good || strcmp(word, names[i]) == 0;
        }
        if (!good) {
            rgCli_UnknownName(word, names, (int)(sizeof(names) / sizeof(names[0])),
                              "--show: unknown part '%s'", word);
        }
    }
    free(words);
    return good;
}

static bool rgChooseTimes(rgRenderJob* job, const rgOpenedRecording* opened,
                          const rgRenderOptions* options) {
    rgRecordedFrame first, last;
    if (rgRecording_Frame(opened->recording, 0, &first) != rg_ok) {
        return false;
    }
    double begin = first.time;
    if (rgRecording_Frame(opened->recording, opened->info.frameCount - 1, &last) != rg_ok) {
        return false;
    }
    double span = last.time - begin, frames = floor(span * options->framesPerSecond) + 1;
    if (job->isFolder && frames > RG_MOST_PICTURES) {
        rgCli_Error("--fps %g: %.0f pictures, more than %d; choose a smaller one",
                    options->framesPerSecond, frames, RG_MOST_PICTURES);
        return false;
    }
    // A time that was typed with fewer digits than the last frame's is that frame.
    if (!job->isFolder && options->time > last.time * (1 + 1e-9) + opened->info.timeStep) {
        rgCli_Error("--time %g: the recording ends at %g s", options->time, last.time);
        return false;
    }
    job->count = job->isFolder ? (int)frames : 1;
    job->times = rgCli_Allocate((size_t)job->count, sizeof(double));
    job->isThere = rgCli_Allocate((size_t)job->count, sizeof(bool));
    for (int i = 0; i < job->count; ++i) {
        job->times[i] = job->isFolder        ? begin + i / options->framesPerSecond
                        : options->time >= 0 ? options->time
                                             : last.time;
    }
    return true;
}

// ---- the browser ----

// The program that a variable of the environment names, else the first of some that is in the PATH;
// NULL: none.
static char* rgFindProgram(const char* variable, const char* const* names, int count) {
    const char* own = getenv(variable);
    if (own != NULL) {
        return rgCli_CopyText(own);
    }
    const char* path = getenv("PATH");
    for (int i = 0; path != NULL && i < count; ++i) {
        for (const char* at = path; *at != '\0';) {
            size_t length = strcspn(at, ":");
            char* file = rgCli_Format("%.*s/%s", (int)length, at, names[i]);
            if (access(file, X_OK) == 0) {
                return file;
            }
            free(file);
            at += length + (at[length] == ':');
        }
    }
    return NULL;
}

static char* rgFindBrowser(void) {
    static const char* const names[] = {"chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable"};
    return rgFindProgram("RIGOR_BROWSER", names, (int)(sizeof(names) / sizeof(names[0])));
}

static pid_t rgStartBrowser(const char* browser, const char* profile, const char* url) {
    char* data = rgCli_Format("--user-data-dir=%s", profile);
    const char* arguments[] = {browser,
                               "--headless=new",
                               "--use-gl=angle",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--disable-background-networking",
                               "--disable-component-update",
                               "--disable-sync",
                               "--no-first-run",
                               data,
                               geteuid() == 0 ? "--no-sandbox" : "--disable-extensions",
                               url,
                               NULL};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (freopen("/dev/null", "w", stdout) != NULL &&
            freopen("/dev/null", "w", stderr) != NULL) {
            execv(browser, (char* const*)(uintptr_t)arguments);
        }
        _exit(127);
    }
    free(data);
    return child;
}

static void rgRemoveFolder(const char* path) {
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char*)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

// Until all pictures are there, the browser ended, or none came for a minute.
static bool rgAwaitPictures(rgRenderJob* job, pid_t browser) {
    rgProgress progress;
    rgProgress_Begin(&progress, "render", job->count);
    double last = rgCli_Seconds();
    int seen = 0;
    bool ended = false;
    while (seen < job->count && !ended && !rgCli_IsInterrupted() && rgCli_Seconds() - last < 60) {
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&job->mutex);
        int done = job->done;
        pthread_mutex_unlock(&job->mutex);
        last = done > seen ? rgCli_Seconds() : last;
        seen = done;
        rgProgress_Update(&progress, seen, "");
        ended = waitpid(browser, NULL, WNOHANG) == browser;
    }
    rgProgress_End(&progress);
    if (!ended) {
        kill(-browser, SIGKILL);
        waitpid(browser, NULL, 0);
    }
    return seen == job->count;
}

// ---- the job ----

static char* rgMakeAddress(const rgViewer* viewer, const rgRenderOptions* options) {
    const double* c = options->eyeAndTarget;
    char* camera = options->isNamedCamera    ? rgCli_Format("&camera=%s", options->camera)
                   : options->camera != NULL ? rgCli_Format("&eye=%.9g,%.9g,%.9g&at=%.9g,%.9g,%.9g",
                                                            c[0], c[1], c[2], c[3], c[4], c[5])
                                             : rgCli_CopyText("");
    char* show = rgCli_CopyText(options->show != NULL ? options->show : "");
    for (char* at = show; *at != '\0'; ++at) {
        *at = *at == ',' ? '+' : *at;
    }
    char* url = rgCli_Format("http://localhost:%d/#render=1&bare=1&theme=%s%s%s%s",
                             rgViewer_Port(viewer), options->dark ? "dark" : "light", camera,
                             show[0] != '\0' ? "&show=" : "", show);
    free(camera);
    free(show);
    return url;
}

static bool rgRunRender(rgRenderJob* job, rgViewer* viewer, const rgRenderOptions* options) {
    char* browser = rgFindBrowser();
    if (browser == NULL) {
        rgCli_Error("render needs Chromium: install chromium, or name a browser in RIGOR_BROWSER");
        return false;
    }
    char* profile = rgCli_CopyText("/tmp/rigor-browser-XXXXXX");
    bool good = mkdtemp(profile) != NULL;
    if (good) {
        char* url = rgMakeAddress(viewer, options);
        pid_t child = rgStartBrowser(browser, profile, url);
        good = child > 0 && rgAwaitPictures(job, child);
        free(url);
        rgRemoveFolder(profile);
    }
    if (!good) {
        rgCli_Error("%s made %d of %d pictures", browser, job->done, job->count);
    }
    free(profile);
    free(browser);
    return good && !job->failed;
}

// Pictures into a file or, with a final slash, a folder.
static int rgRender(rgOpenedRecording* opened, const rgRenderOptions* options, const char* out,
                    const char* shown) {
    rgRenderJob job = {.out = out};
    int width = 1280, height = 720;
    size_t length = strlen(out);
    job.isFolder = length > 0 && out[length - 1] == '/';
    if (!job.isFolder && (length < 5 || strcmp(out + length - 4, ".png") != 0)) {
        rgCli_Error("%s: pictures end in .png, films in .mp4, .webm or .gif, folders in /", out);
        return rg_exitUsage;
    }
    if (!rgCheckShow(options->show)) {
        return rg_exitUsage;
    }
    int read = 0;
    if (options->size != NULL && (sscanf(options->size, "%5dx%5d%n", &width, &height, &read) != 2 ||
                                  options->size[read] != '\0' || width < 16 || height < 16 ||
                                  width > 8192 || height > 8192)) {
        rgCli_Error("--size is WIDTHxHEIGHT, 16 to 8192 each, not '%s'", options->size);
        return rg_exitUsage;
    }
    if (job.isFolder && mkdir(out, 0777) != 0 && errno != EEXIST) {
        rgCli_Error("%s: %s", out, strerror(errno));
        return rg_exitUsage;
    }
    rgViewer* viewer = rgCli_StartViewer(opened->info.title, NULL, 0);
    if (viewer == NULL || !rgChooseTimes(&job, opened, options)) {
        rgDestroyViewer(viewer);
        return rg_exitUsage;
    }
    pthread_mutex_init(&job.mutex, NULL);
    rgPictureDef pictures = {.count = job.count,
                             .times = job.times,
                             .width = width,
                             .height = height,
                             .picture = rgKeepPicture,
                             .context = &job};
    rgOpenedRecording ghost = {0};
    rgPageDef page = rgDefaultPageDef();
    page.framesPerSecond = fmax(60, options->framesPerSecond);
    bool good = options->ghost == NULL || rgCli_OpenRecording(options->ghost, &ghost);
    page.ghost = ghost.recording;
    good = good && rgViewer_ShowRecording(viewer, opened->recording, &page) == rg_ok &&
           rgViewer_RequestPictures(viewer, &pictures) == rg_ok &&
           rgRunRender(&job, viewer, options);
    rgDestroyViewer(viewer);
    rgCli_CloseRecording(&ghost);
    pthread_mutex_destroy(&job.mutex);
    if (good && options->json) {
        rgJson json = {.out = stdout};
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, shown != out ? "film" : job.isFolder ? "folder" : "picture", shown);
        rgJson_Int(&json, "pictures", job.count);
        rgJson_Int(&json, "width", width);
        rgJson_Int(&json, "height", height);
        rgJson_Number(&json, "begin", job.times[0]);
        rgJson_Number(&json, "end", job.times[job.count - 1]);
        rgJson_EndObject(&json);
    }
    free(job.times);
    free(job.isThere);
    return good ? rg_exitDone : rg_exitUsage;
}

// ---- films ----

static bool rgIsFilm(const char* out) {
    const char* end = strrchr(out, '.');
    return end != NULL &&
           (strcmp(end, ".mp4") == 0 || strcmp(end, ".webm") == 0 || strcmp(end, ".gif") == 0);
}

// Frames to a film in the format of the ending: H.264 or VP9 of even size, or a GIF with a palette
// of its own.
static bool rgEncode(const char* encoder, const char* folder, double framesPerSecond,
                     const char* ending, const char* out) {
    bool gif = strcmp(ending, ".gif") == 0;
    char* frames = rgCli_Format("%sframe_%%05d.png", folder);
    char* rate = rgCli_Format("%.9g", framesPerSecond);
    char* target = rgCli_Format("file:%s", out);
    const char* arguments[] = {encoder,
                               "-y",
                               "-loglevel",
                               "error",
                               "-framerate",
                               rate,
                               "-i",
                               frames,
                               "-vf",
                               gif ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                                   : "scale=trunc(iw/2)*2:trunc(ih/2)*2,format=yuv420p",
                               "-f",
                               ending + 1,
                               target,
                               NULL};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execv(encoder, (char* const*)(uintptr_t)arguments);
        _exit(127);
    }
    int status = 0;
    bool good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == 0;
    if (!good) {
        rgCli_Error("%s made no film; see its message above", encoder);
    }
    free(frames);
    free(rate);
    free(target);
    return good;
}

static int rgFilm(rgOpenedRecording* opened, const rgRenderOptions* options, const char* out) {
    static const char* const names[] = {"ffmpeg"};
    char* encoder = rgFindProgram("RIGOR_FFMPEG", names, 1);
    if (encoder == NULL) {
        rgCli_Error("%s: films need ffmpeg: install ffmpeg, or name it in RIGOR_FFMPEG; pictures "
                    "in a folder need none",
                    out);
        return rg_exitUsage;
    }
    const char* fault = access(encoder, X_OK) != 0
                            ? "cannot be started; RIGOR_FFMPEG is the path of ffmpeg"
                        : options->time >= 0 ? "--time is for one picture; a film has all times"
                                             : NULL;
    if (fault != NULL) {
        rgCli_Error("%s: %s", access(encoder, X_OK) != 0 ? encoder : out, fault);
        free(encoder);
        return rg_exitUsage;
    }
    char* folder = rgCli_CopyText("/tmp/rigor-frames-XXXXXX");
    int code = rg_exitUsage;
    if (mkdtemp(folder) == NULL) {
        rgCli_Error("%s: %s", folder, strerror(errno));
    } else {
        char* inside = rgCli_Format("%s/", folder);
        rgOutput output;
        if (rgOutput_Open(&output, out)) {
            code = rgRender(opened, options, inside, out);
            bool good = code == rg_exitDone &&
                        rgEncode(encoder, inside, options->framesPerSecond, strrchr(out, '.'),
                                 output.part != NULL ? output.part : out);
            code = rgOutput_Close(&output, good) && good ? rg_exitDone : rg_exitUsage;
        }
        free(inside);
        rgRemoveFolder(folder);
    }
    free(folder);
    free(encoder);
    return code;
}

// The name of --camera is that of a frame with a field of view. Its characters stand in an address.
static bool rgCheckCamera(const rgOpenedRecording* opened, const rgRenderOptions* options) {
    const char* names[256];
    int count = 0;
    if (!options->isNamedCamera) {
        return true;
    }
    for (int i = 1; opened->model != NULL && i <= rgModel_Info(opened->model).frameCount; ++i) {
        const rgFrameDef* frame = rgModel_Frame(opened->model, (rgFrameId){i});
        if (frame != NULL && frame->fieldOfView > 0 && count < 256) {
            names[count++] = frame->name;
        }
    }
    for (int i = 0; i < count; ++i) {
        if (strcmp(names[i], options->camera) == 0) {
            return strpbrk(options->camera, "&#%+ ") == NULL;
        }
    }
    rgCli_UnknownName(options->camera, names, count, "--camera: the model has no camera '%s'",
                      options->camera);
    return false;
}

int rgCli_Render(int argc, char** argv) {
    rgRenderOptions options = {.time = -1, .framesPerSecond = 30};
    int count = 0;
    int code = rgParseRender(argc, argv, &options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    options.isNamedCamera = options.camera != NULL && strchr(options.camera, ',') == NULL;
    if (options.camera != NULL && !options.isNamedCamera &&
        !rgCli_ReadNumbers("--camera", options.camera, options.eyeAndTarget, 6)) {
        return rg_exitUsage;
    }
    rgOpenedRecording opened;
    const char* out = argv[2];
    code = !rgCli_OpenRecording(argv[1], &opened) || !rgCheckCamera(&opened, &options)
               ? rg_exitUsage
           : rgIsFilm(out) ? rgFilm(&opened, &options, out)
                           : rgRender(&opened, &options, out, out);
    rgCli_CloseRecording(&opened);
    return code;
}
