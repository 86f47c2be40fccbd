// A newer MuJoCo than Debian's, in WebAssembly, in a process of Node's beside us: mujoco.mjs. Its
// times are CPU times of that process around the steps. Settings as in mujoco.c.
#include "cli.h"
#include "peer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rg_wasmHead = 4, rg_wasmBody = 13 }; // numbers of an answer

typedef struct rgWasmWorld {
    const rgPeerScene* scene;
    pid_t child;
    FILE *to, *from;
    int nq, nv, bodyCount; // with the world's
    int* bodies;           // by body of the scene; -1: not there
    double* masses;
    double* start;  // q, v
    double* answer; // to the last question
    int pending;    // steps that were not sent yet
    bool asked;     // the answer is that of now
    bool lost;      // the process is gone
} rgWasmWorld;

static const char* const rgWasmVariants[] = {"elliptic", "pyramidal", "elliptic near-rigid",
                                             "pyramidal near-rigid", NULL};

static const char* rgWasm_Version(void) {
    static char version[24] = "";
    FILE* file = fopen(RIGOR_SOURCE_DIR "/bench/node_modules/@mujoco/mujoco/package.json", "r");
    char line[256];
    while (file != NULL && version[0] == '\0' && fgets(line, sizeof(line), file) != NULL) {
        sscanf(line, " \"version\": \"%23[^\"]\"", version);
    }
    if (file != NULL) {
        fclose(file);
    }
    return version[0] != '\0' ? version : "not installed";
}

// ---- the process

static bool rgWasm_Launch(rgWasmWorld* own, const char* file, const char* variant) {
    int to[2], from[2];
    char* step = rgCli_Format("%.17g", own->scene->timeStep);
    bool good = pipe(to) == 0 && pipe(from) == 0;
    fflush(NULL);
    own->child = good ? fork() : -1;
    if (own->child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        for (int i = 0; i < 2; ++i) {
            close(to[i]);
            close(from[i]);
        }
        execlp("node", "node", RIGOR_SOURCE_DIR "/bench/peers/mujoco.mjs", file, step, variant,
               (char*)NULL);
        _exit(127);
    }
    free(step);
    if (own->child > 0) {
        close(to[0]);
        close(from[1]);
        own->to = fdopen(to[1], "w");
        own->from = fdopen(from[0], "r");
    }
    signal(SIGPIPE, SIG_IGN); // a process that is gone is seen when it does not answer
    return own->to != NULL && own->from != NULL;
}

static void rgWasm_Destroy(void* world) {
    rgWasmWorld* own = world;
    if (own->to != NULL) {
        fclose(own->to); // it ends at the end of its input
    }
    if (own->from != NULL) {
        fclose(own->from);
    }
    if (own->child > 0) {
        waitpid(own->child, NULL, 0);
    }
    free(own->bodies);
    free(own->masses);
    free(own->start);
    free(own->answer);
    free(own);
}

static void rgWasm_SendSteps(rgWasmWorld* own) {
    int32_t count = own->pending;
    if (count > 0) {
        own->lost = own->lost || fputc('s', own->to) == EOF ||
                    fwrite(&count, sizeof(count), 1, own->to) != 1;
        own->pending = 0;
        own->asked = false;
    }
}

static bool rgWasm_Ask(rgWasmWorld* own) {
    size_t count = rg_wasmHead + rg_wasmBody * (size_t)own->bodyCount;
    rgWasm_SendSteps(own);
    if (!own->asked) {
        own->lost = own->lost || fputc('q', own->to) == EOF || fflush(own->to) != 0 ||
                    fread(own->answer, sizeof(double), count, own->from) != count;
        own->asked = true;
    }
    return !own->lost;
}

// ---- the start

static bool rgWasm_ReadHead(rgWasmWorld* own, char* fault, size_t faultSize) {
    char line[512] = "", name[256];
    bool read = fgets(line, sizeof(line), own->from) != NULL;
    if (!read || sscanf(line, "ok %d %d %d", &own->nq, &own->nv, &own->bodyCount) != 3) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(fault, faultSize, "%s",
                 strncmp(line, "fault ", 6) == 0 ? line + 6 : "node did not start (./setup bench)");
        return false;
    }
    const rgPeerScene* scene = own->scene;
    own->bodies = rgCli_Allocate((size_t)scene->info.bodyCount, sizeof(int));
    own->masses = rgCli_Allocate((size_t)own->bodyCount, sizeof(double));
    own->start = rgCli_Allocate((size_t)(own->nq + own->nv), sizeof(double));
    own->answer =
        rgCli_Allocate(rg_wasmHead + rg_wasmBody * (size_t)own->bodyCount, sizeof(double));
    bool alike = own->bodyCount == scene->info.bodyCount + 1;
    for (int i = 0; i < scene->info.bodyCount; ++i) {
        own->bodies[i] = alike ? i + 1 : -1;
    }
    for (int b = 0; b < own->bodyCount; ++b) {
        if (fgets(line, sizeof(line), own->from) == NULL ||
            sscanf(line, "%lf %255s", &own->masses[b], name) < 1) {
            snprintf(fault, faultSize, "its answer ends early");
            return false;
        }
        for (int i = 0; i < scene->info.bodyCount; ++i) {
            const char* own_name = rgModel_Body(scene->model, (rgBodyId){i + 1})->name;
            if (own_name != NULL && strcmp(own_name, name) == 0) {
                own->bodies[i] = b;
            }
        }
    }
    return true;
}

// The linear velocity of free joints is in world axes there.
static bool rgWasm_PlaceStart(rgWasmWorld* own, char* fault, size_t faultSize) {
    const rgPeerScene* scene = own->scene;
    if (own->nq != scene->info.qCount || own->nv != scene->info.vCount) {
        snprintf(fault, faultSize, "it has %d positions and %d velocities instead of %d and %d",
                 own->nq, own->nv, scene->info.qCount, scene->info.vCount);
        return false;
    }
    memcpy(own->start, scene->q, (size_t)own->nq * sizeof(double));
    memcpy(own->start + own->nq, scene->v, (size_t)own->nv * sizeof(double));
    for (int j = 0; j < scene->info.jointCount; ++j) {
        rgJointRange range = rgModel_JointRange(scene->model, (rgJointId){j + 1});
        if (rgModel_Joint(scene->model, (rgJointId){j + 1})->kind == rg_jointFree) {
            const double* q = scene->q + range.q + 3;
            double* v = own->start + own->nq + range.v;
            rgVec3 speed = rgRotate((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(v[0], v[1], v[2]));
            v[0] = speed.x;
            v[1] = speed.y;
            v[2] = speed.z;
        }
    }
    return true;
}

static void rgWasm_Reset(void* world) {
    rgWasmWorld* own = world;
    size_t count = (size_t)(own->nq + own->nv);
    own->pending = 0;
    own->asked = false;
    own->lost = own->lost || fputc('r', own->to) == EOF ||
                fwrite(own->start, sizeof(double), count, own->to) != count;
}

static void* rgWasm_Create(const rgPeerScene* scene, const char* variant, char* fault,
                           size_t faultSize) {
    char folder[] = "/tmp/rigor-bench-XXXXXX";
    char* made = NULL;
    if (strcmp(rgWasm_Version(), "not installed") == 0) {
        snprintf(fault, faultSize, "the package @mujoco/mujoco is not there (./setup bench)");
        return NULL;
    }
    if (scene->file == NULL) {
        made = mkdtemp(folder) != NULL ? rgCli_Format("%s/scene.xml", folder) : NULL;
        if (made == NULL || rgSaveMjcf(scene->def, made, NULL) != rg_ok) {
            snprintf(fault, faultSize, "the scene cannot be written as MJCF");
            free(made);
            return NULL;
        }
    }
    rgWasmWorld* own = rgCli_Allocate(1, sizeof(rgWasmWorld));
    own->scene = scene;
    bool good = rgWasm_Launch(own, made != NULL ? made : scene->file, variant) &&
                rgWasm_ReadHead(own, fault, faultSize) && rgWasm_PlaceStart(own, fault, faultSize);
    if (made != NULL) {
        unlink(made);
        rmdir(folder);
        free(made);
    }
    if (!good) {
        rgWasm_Destroy(own);
        return NULL;
    }
    rgWasm_Reset(own);
    return own;
}

// ---- steps

static bool rgWasm_Step(void* world) {
    rgWasmWorld* own = world;
    own->pending += 1;
    own->asked = false;
    return !own->lost;
}

static double rgWasm_Seconds(void* world) {
    rgWasmWorld* own = world;
    return rgWasm_Ask(own) && own->answer[0] == 0 ? own->answer[1] : NAN;
}

static void rgWasm_Look(void* world, rgPeerLook* look) {
    rgWasmWorld* own = world;
    bool good = rgWasm_Ask(own);
    *look = (rgPeerLook){.contactCount = good ? (int)own->answer[2] : 0,
                         .penetration = good ? own->answer[3] : NAN,
                         .residual = NAN,
                         .collision = NAN};
}

static bool rgWasm_Body(void* world, int body, rgPeerBody* state) {
    rgWasmWorld* own = world;
    int id = own->bodies[body];
    if (id < 0 || !rgWasm_Ask(own)) {
        return false;
    }
    const double *p = own->answer + rg_wasmHead + rg_wasmBody * (size_t)id, *q = p + 3, *v = p + 7;
    *state = (rgPeerBody){
        .pose = {.p = rgVec(p[0], p[1], p[2]), .q = {q[0], q[1], q[2], q[3]}},
        .velocity = {.linear = rgVec(v[0], v[1], v[2]), .angular = rgVec(v[3], v[4], v[5])},
        .mass = own->masses[id]};
    return true;
}

const rgPeer rgPeerWasm = {
    .name = "MuJoCo wasm",
    .variants = rgWasmVariants,
    .version = rgWasm_Version,
    .create = rgWasm_Create,
    .destroy = rgWasm_Destroy,
    .reset = rgWasm_Reset,
    .step = rgWasm_Step,
    .look = rgWasm_Look,
    .body = rgWasm_Body,
    .seconds = rgWasm_Seconds,
};
