// rigor replay: what a recording holds, as text, CSV or MJCF; and whether a new run gives the same.
#include "live.h"
#include "recording.h"
#include "trajectory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct rgReplayOptions {
    const char* csv;
    const char* contacts;
    const char* mjcf;
    bool check;
    bool json;
} rgReplayOptions;

typedef struct rgReplaySummary {
    double begin, end; // [s]
    double meanContacts;
    double worstResidual, worstTime;
    int64_t unsolved, regularized;
    double firstEnergy, lastEnergy;
    uint64_t hash;
    int64_t compared, differing; // frames, with --check
    double firstDifference;      // [s]
    double largestDifference;    // largest difference of any q
} rgReplaySummary;

static int rgParseReplay(int argc, char** argv, rgReplayOptions* options, int* count) {
    const rgOption table[] = {
        {"--csv", rg_optionOutput, &options->csv, "write time, q and v of every frame", "FILE",
         NULL, 0, 0},
        {"--contacts", rg_optionOutput, &options->contacts,
         "write every contact of every frame as CSV, with the names of the model", "FILE", NULL, 0,
         0},
        {"--mjcf", rg_optionOutput, &options->mjcf, "write the model as MJCF", "FILE", NULL, 0, 0},
        {"--check", rg_optionFlag, &options->check,
         "simulate again and compare the bits of every frame", NULL, NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor replay",
        .usage = "RECORDING [OPTIONS]",
        .summary = "Describe a recording, export it, or simulate it again. Exit code: 0 on "
                   "success, 1 when --check\nfinds other bits, 2 for wrong options or files.\n\n"
                   "Examples:\n"
                   "  rigor simulate wall --record wall.h5 && rigor replay wall.h5\n"
                   "  rigor replay wall.h5 --csv wall.csv\n"
                   "  rigor replay wall.h5 --check",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 1,
        .maxArguments = 1,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// ---- reading ----

static bool rgSummarize(rgOpenedRecording* opened, rgReplaySummary* s) {
    rgRecordedFrame frame;
    double contacts = 0;
    for (int64_t i = 0; i < opened->info.frameCount; ++i) {
        if (rgRecording_Frame(opened->recording, i, &frame) != rg_ok) {
            rgCli_PrintDiagnostics(opened->diagnostics, stderr, false, false);
            return false;
        }
        double energy = frame.kineticEnergy + frame.potentialEnergy;
        if (i == 0) {
            s->begin = frame.time;
            s->firstEnergy = energy;
        }
        contacts += frame.contactCount;
        s->unsolved += frame.status != rg_contactSolved;
        s->regularized += frame.regularizedRows > 0;
        if (frame.residual > s->worstResidual) {
            s->worstResidual = frame.residual;
            s->worstTime = frame.time;
        }
        s->end = frame.time;
        s->lastEnergy = energy;
        s->hash = frame.hash;
    }
    s->meanContacts = contacts / (double)opened->info.frameCount;
    return true;
}

// ---- files ----

static void rgWriteHeader(FILE* file, const rgOpenedRecording* opened) {
    if (opened->model != NULL) {
        rgCsv_WriteHeader(file, opened->model);
        return;
    }
    fputs("time", file);
    for (int i = 0; i < opened->info.qCount; ++i) {
        fprintf(file, ",q:%d", i);
    }
    for (int i = 0; i < opened->info.vCount; ++i) {
        fprintf(file, ",v:%d", i);
    }
    fputc('\n', file);
}

static void rgWriteState(FILE* file, const rgOpenedRecording* opened,
                         const rgRecordedFrame* frame) {
    fprintf(file, "%.9g", frame->time);
    for (int i = 0; i < opened->info.qCount; ++i) {
        fprintf(file, ",%.17g", frame->q[i]);
    }
    for (int i = 0; i < opened->info.vCount; ++i) {
        fprintf(file, ",%.17g", frame->v[i]);
    }
    fputc('\n', file);
}

// A name as a cell of CSV, or the number where there is none.
static void rgWriteName(FILE* file, const char* name, int number) {
    if (name == NULL || name[0] == '\0') {
        fprintf(file, ",%d", number);
        return;
    }
    bool plain = strpbrk(name, ",\"\n") == NULL;
    fputs(plain ? "," : ",\"", file);
    for (const char* at = name; *at != '\0'; ++at) {
        fputs(*at == '"' ? "\"" : "", file);
        fputc(*at, file);
    }
    fputs(plain ? "" : "\"", file);
}

typedef struct rgPartNames {
    rgRecordedNames bodies, shapes;
} rgPartNames;

static void rgWriteBody(FILE* file, const rgPartNames* names, rgBodyId body) {
    rgWriteName(file, body.index1 == 0 ? "world" : rgRecordedNames_At(&names->bodies, body.index1),
                body.index1);
}

static void rgWriteShape(FILE* file, const rgPartNames* names, rgShapeId shape) {
    rgWriteName(file, rgRecordedNames_At(&names->shapes, shape.index1), shape.index1);
}

static void rgWriteContacts(FILE* file, const rgPartNames* names, const rgRecordedFrame* frame) {
    static const char* const states[] = {"open", "stick", "slip"};
    for (int i = 0; i < frame->contactCount; ++i) {
        const rgRecordedContact* c = &frame->contacts[i];
        fprintf(file, "%.9g", frame->time);
        rgWriteBody(file, names, c->bodyA);
        rgWriteBody(file, names, c->bodyB);
        rgWriteShape(file, names, c->shapeA);
        rgWriteShape(file, names, c->shapeB);
        fprintf(file, ",%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%s\n", c->point.x,
                c->point.y, c->point.z, c->normal.x, c->normal.y, c->normal.z, c->force.x,
                c->force.y, c->force.z, c->gap, c->mu,
                c->state <= rg_contactSlip ? states[c->state] : "unknown");
    }
}

static bool rgExportCsv(rgOpenedRecording* opened, const char* path, bool contacts) {
    rgPartNames names = {0};
    if (contacts && (!rgRecordedNames_Read(&names.bodies, opened, "bodies") ||
                     !rgRecordedNames_Read(&names.shapes, opened, "shapes"))) {
        return false;
    }
    FILE* file = rgCli_OpenToWrite(path);
    if (file != NULL && contacts) {
        fputs("time,body_a,body_b,shape_a,shape_b,x,y,z,nx,ny,nz,fx,fy,fz,gap,mu,state\n", file);
    } else if (file != NULL) {
        rgWriteHeader(file, opened);
    }
    rgRecordedFrame frame;
    for (int64_t i = 0; file != NULL && i < opened->info.frameCount; ++i) {
        if (rgRecording_Frame(opened->recording, i, &frame) != rg_ok) {
            break;
        }
        if (contacts) {
            rgWriteContacts(file, &names, &frame);
        } else {
            rgWriteState(file, opened, &frame);
        }
    }
    rgRecordedNames_Free(&names.bodies);
    rgRecordedNames_Free(&names.shapes);
    return file != NULL && rgCsv_Close(file, path);
}

static bool rgExportMjcf(const rgOpenedRecording* opened, const char* path) {
    if (opened->info.mjcf[0] == '\0') {
        rgCli_Error("--mjcf: the recording holds no model definition");
        return false;
    }
    FILE* file = rgCli_OpenToWrite(path);
    if (file == NULL) {
        return false;
    }
    fputs(opened->info.mjcf, file);
    return rgCsv_Close(file, path);
}

// ---- simulating again ----

// The run of a foreign file: it has no input, no place for caches, and its arguments are those that
// rgCli_SplitArguments lets through.
static void rgExecAgain(char** arguments) {
    setenv("XDG_CACHE_HOME", "", 1);
    unsetenv("HOME");
    if (freopen("/dev/null", "r", stdin) != NULL && freopen("/dev/null", "w", stdout) != NULL) {
        execv("/proc/self/exe", arguments);
    }
    _exit(rg_exitUsage);
}

// Simulate as many steps as the recording has, whatever time its arguments give.
static bool rgRunAgain(const rgOpenedRecording* opened, const char* path) {
    int count = 0;
    char** arguments = rgCli_SplitArguments(opened->info.arguments, "rigor", &count);
    if (arguments == NULL) {
        return false;
    }
    if (count < 2 || strcmp(arguments[1], "simulate") != 0) {
        rgCli_Error("--check: the recording has no command line to repeat");
        rgCli_FreeArguments(arguments);
        return false;
    }
    int64_t steps = (opened->info.frameCount - 1) * opened->info.interval;
    arguments[count++] = rgCli_Format("--steps=%" PRId64, steps > 0 ? steps : 1);
    arguments[count++] = rgCli_Format("--record=%s", path);
    arguments[count++] = rgCli_Format("--record-every=%d", opened->info.interval);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rgExecAgain(arguments);
    }
    rgCli_FreeArguments(arguments);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // a run that failed in a step (1) may have been recorded so
    bool ran = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= rg_exitNo;
    if (!ran) {
        rgCli_Error("--check: the run could not be repeated; its files are searched from the "
                    "present folder");
    }
    return ran;
}

static double rgLargestGap(const double* a, const double* b, int count) {
    double largest = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(a[i] - b[i]));
    }
    return largest;
}

static bool rgCompare(rgOpenedRecording* old, rgOpenedRecording* again, rgReplaySummary* s) {
    int64_t count = old->info.frameCount;
    if (again->info.qCount != old->info.qCount || again->info.vCount != old->info.vCount ||
        again->info.frameCount < count) {
        rgCli_Error("--check: the new run has %" PRId64 " frames of %d coordinates, not %" PRId64
                    " of %d",
                    again->info.frameCount, again->info.qCount, count, old->info.qCount);
        return false;
    }
    rgRecordedFrame a, b;
    for (int64_t i = 0; i < count; ++i) {
        if (rgRecording_Frame(old->recording, i, &a) != rg_ok ||
            rgRecording_Frame(again->recording, i, &b) != rg_ok) {
            return false;
        }
        if (a.hash != b.hash) {
            s->firstDifference = s->differing == 0 ? a.time : s->firstDifference;
            s->differing += 1;
            s->largestDifference =
                fmax(s->largestDifference, rgLargestGap(a.q, b.q, old->info.qCount));
        }
    }
    s->compared = count;
    return true;
}

static bool rgCheckAgain(rgOpenedRecording* opened, rgReplaySummary* summary) {
    char* path = rgCli_MakeTemporary();
    rgOpenedRecording again = {0};
    bool good = path != NULL && rgRunAgain(opened, path) && rgCli_OpenRecording(path, &again) &&
                rgCompare(opened, &again, summary);
    rgCli_CloseRecording(&again);
    if (path != NULL) {
        unlink(path);
    }
    free(path);
    return good;
}

// ---- telling ----

static void rgPrintReplay(const rgOpenedRecording* opened, const rgReplaySummary* s, bool check) {
    const rgRecordingInfo* info = &opened->info;
    rgCli_Print(stdout,
                "%s: %" PRId64 " frames from %g s to %g s, steps of %g s, every %d kept%s\n",
                info->title, info->frameCount, s->begin, s->end, info->timeStep, info->interval,
                info->isComplete ? "" : " (not closed: the run crashed or still goes on)");
    printf("size         %d positions, %d velocities, %d controls, %d sensors\n", info->qCount,
           info->vCount, info->controlCount, info->sensorCount);
    printf("contacts     mean %.1f, %" PRId64 " in all\n", s->meanContacts, info->contactCount);
    printf("residual     worst %.1e at %g s; %" PRId64 " frames not solved, %" PRId64
           " regularized\n",
           s->worstResidual, s->worstTime, s->unsolved, s->regularized);
    printf("energy       %.9g J at the start, %.9g J at the end\n", s->firstEnergy, s->lastEnergy);
    printf("hash         %016" PRIx64 " of all frames\n", s->hash);
    if (check && s->differing == 0) {
        printf("again        %" PRId64 " frames, the same bits\n", s->compared);
    } else if (check) {
        printf("again        %" PRId64 " of %" PRId64
               " frames differ, first at %g s, by up to %.3g\n",
               s->differing, s->compared, s->firstDifference, s->largestDifference);
    }
    if (check && info->revision != RG_PHYSICS_REVISION) {
        printf(
            "note         it was recorded with physics revision %d, and this program has %d: other "
            "bits are no fault\n",
            info->revision, RG_PHYSICS_REVISION);
    }
}

static void rgWriteReplay(const rgOpenedRecording* opened, const rgReplaySummary* s, bool check) {
    const rgRecordingInfo* info = &opened->info;
    char hash[24];
    snprintf(hash, sizeof(hash), "%016" PRIx64, s->hash);
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "title", info->title);
    rgJson_Bool(&json, "complete", info->isComplete);
    rgJson_Int(&json, "frames", info->frameCount);
    rgJson_Number(&json, "begin", s->begin);
    rgJson_Number(&json, "end", s->end);
    rgJson_Number(&json, "dt", info->timeStep);
    rgJson_Int(&json, "interval", info->interval);
    rgJson_Int(&json, "nq", info->qCount);
    rgJson_Int(&json, "nv", info->vCount);
    rgJson_Number(&json, "contacts_mean", s->meanContacts);
    rgJson_Number(&json, "residual_max", s->worstResidual);
    rgJson_Int(&json, "unsolved_frames", s->unsolved);
    rgJson_Int(&json, "regularized_frames", s->regularized);
    rgJson_Number(&json, "energy_begin", s->firstEnergy);
    rgJson_Number(&json, "energy_end", s->lastEnergy);
    rgJson_String(&json, "hash", hash);
    rgJson_Int(&json, "revision", info->revision);
    if (check) {
        rgJson_Int(&json, "compared_frames", s->compared);
        rgJson_Int(&json, "differing_frames", s->differing);
    }
    rgJson_EndObject(&json);
}

static int rgReplay(rgOpenedRecording* opened, const rgReplayOptions* options) {
    rgReplaySummary summary = {0};
    if (!rgSummarize(opened, &summary) ||
        (options->csv != NULL && !rgExportCsv(opened, options->csv, false)) ||
        (options->contacts != NULL && !rgExportCsv(opened, options->contacts, true)) ||
        (options->mjcf != NULL && !rgExportMjcf(opened, options->mjcf)) ||
        (options->check && !rgCheckAgain(opened, &summary))) {
        return rg_exitUsage;
    }
    if (options->json) {
        rgWriteReplay(opened, &summary, options->check);
    } else {
        rgPrintReplay(opened, &summary, options->check);
    }
    return summary.differing > 0 ? rg_exitNo : rg_exitDone;
}

int rgCli_Replay(int argc, char** argv) {
    rgReplayOptions options = {0};
    int count = 0;
    int code = rgParseReplay(argc, argv, &options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgOpenedRecording opened;
    code = rgCli_OpenRecording(argv[1], &opened) ? rgReplay(&opened, &options) : rg_exitUsage;
    rgCli_CloseRecording(&opened);
    return code;
}
