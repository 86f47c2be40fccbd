// Golden hashes: every scene after 1000 steps, with 1 to 8 threads, and once more from a state that
// was saved on the way. The hashes of test/scene/golden.txt belong to the type of CPU that its
// first line names, to a kernel set and a physics revision. Elsewhere they are not compared, which
// is said. Whoever changes what a step computes raises RG_PHYSICS_REVISION and writes the file
// anew: golden FILE --write.
#include "support.h"

#include "rigor/rigor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rg_steps = 1000, rg_most = 40 }; // bodies of scenes that come in sizes

typedef struct rgRun {
    const rgSceneInfo* scene;
    rgKernelSet kernels;
    int threads;
    int saveAt;  // step after which the state is kept; 0: never
    void* saved; // that state, or one to start from
    size_t savedSize;
    bool fromSaved;
} rgRun;

static void rgNeed(bool holds, const char* what) {
    if (!holds) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

static rgWorld* rgMake(const rgRun* run, rgThreadPool* pool, rgModel** model) {
    rgSceneDef sceneDef = rgDefaultSceneDef();
    rgWorldDef def = rgDefaultWorldDef();
    rgModelDef* parts = NULL;
    rgWorld* world = NULL;
    sceneDef.count = run->scene->defaultCount > rg_most ? rg_most : 0;
    def.contact.kernels = run->kernels;
    def.tasks = rgThreadPool_Tasks(pool);
    rgNeed(rgBuildScene(run->scene, &sceneDef, NULL, &parts) == rg_ok, "scene");
    rgNeed(rgCompileModel(parts, NULL, NULL, model) == rg_ok, "model");
    rgNeed(rgCreateWorld(*model, &def, NULL, &world) == rg_ok, "world");
    rgNeed(rgScene_Start(run->scene, world) == rg_ok, "start");
    rgDestroyModelDef(parts);
    return world;
}

static uint64_t rgHashRun(rgRun* run) {
    rgThreadPool* pool = NULL;
    rgModel* model = NULL;
    if (run->threads > 1) {
        rgNeed(rgCreateThreadPool(run->threads, NULL, &pool) == rg_ok, "threads");
    }
    rgWorld* world = rgMake(run, pool, &model);
    int first = 0;
    if (run->fromSaved) {
        rgNeed(rgWorld_Restore(world, run->saved, run->savedSize) == rg_ok, "restore");
        first = run->saveAt;
    }
    for (int i = first; i < rg_steps; ++i) {
        if (i == run->saveAt && !run->fromSaved && i > 0) {
            run->savedSize = rgWorld_StateSize(world);
            run->saved = malloc(run->savedSize);
            rgNeed(rgWorld_Save(world, run->saved, run->savedSize) == rg_ok, "save");
        }
        rgNeed(rgScene_Act(run->scene, world) == rg_ok && rgWorld_Step(world, NULL) == rg_ok,
               "step");
    }
    uint64_t hash = rgWorld_Hash(world);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyThreadPool(pool);
    return hash;
}

// The same bits for any number of threads and after a saved state; 0 where they are not.
static uint64_t rgHashScene(const rgSceneInfo* scene, rgKernelSet kernels, bool all) {
    rgRandom random = {7};
    rgRun one = {.scene = scene,
                 .kernels = kernels,
                 .threads = 1,
                 .saveAt = 1 + rgRandom_Index(&random, rg_steps - 1)};
    uint64_t hash = rgHashRun(&one);
    rgRun rest = one;
    rest.threads = 3;
    rest.fromSaved = true;
    bool same = rgHashRun(&rest) == hash;
    for (int threads = 2; all && threads <= 8; ++threads) {
        rgRun run = {.scene = scene, .kernels = kernels, .threads = threads};
        same = same && rgHashRun(&run) == hash;
    }
    free(one.saved);
    return same ? hash : 0;
}

// Maker, family and model, as Linux tells them; "unknown" elsewhere.
static void rgFindCpu(char name[80]) {
    static const char* const keys[] = {"vendor_id", "cpu family", "model\t"};
    FILE* file = fopen("/proc/cpuinfo", "r");
    char line[256], values[3][24] = {"", "", ""};
    while (file != NULL && fgets(line, sizeof(line), file) != NULL && values[2][0] == '\0') {
        for (int k = 0; k < 3; ++k) {
            if (strncmp(line, keys[k], strlen(keys[k])) == 0 && strchr(line, ':') != NULL) {
                sscanf(strchr(line, ':') + 1, "%23s", values[k]);
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    snprintf(name, 80, "%s %s %s", values[0], values[1], values[2]);
    if (values[2][0] == '\0') {
        strcpy(name, "unknown");
    }
}

// The first line, "cpu NAME".
static bool rgIsForCpu(FILE* file, const char* cpu) {
    char line[96] = "";
    rewind(file);
    rgNeed(fgets(line, sizeof(line), file) != NULL && strncmp(line, "cpu ", 4) == 0,
           "the first line names the CPU");
    line[strcspn(line, "\n")] = '\0';
    bool same = strcmp(line + 4, cpu) == 0 && strcmp(cpu, "unknown") != 0;
    if (!same) {
        printf("SKIPPED: golden hashes belong to the CPU %s, this is %s; compared are threads and "
               "saved states\n",
               line + 4, cpu);
    }
    return same;
}

static bool rgFindGolden(FILE* file, const char* kernels, const char* scene, uint64_t* hash) {
    char set[16], name[32];
    int revision = 0;
    rewind(file);
    (void)!fscanf(file, "cpu %*[^\n]");
    while (fscanf(file, "%d %15s %31s %" SCNx64, &revision, set, name, hash) == 4) {
        if (revision == RG_PHYSICS_REVISION && strcmp(set, kernels) == 0 &&
            strcmp(name, scene) == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char** argv) {
    static const char* const sets[] = {"best", "plain", "avx2", "avx512"};
    bool write = argc > 2 && strcmp(argv[2], "--write") == 0;
    int faults = 0;
    FILE* file = argc > 1 ? fopen(argv[1], write ? "w" : "r") : NULL;
    rgNeed(file != NULL, "golden FILE [--write]");
    char cpu[80];
    rgFindCpu(cpu);
    bool compared = !write && rgIsForCpu(file, cpu);
    if (write) {
        fprintf(file, "cpu %s\n", cpu);
    }
    for (int set = rg_kernelsPlain; set <= rg_kernelsAvx512; ++set) {
        for (int i = 0; i < rgSceneCount(); ++i) {
            const rgSceneInfo* scene = rgSceneAt(i);
            uint64_t expected = 0,
                     hash = rgHashScene(scene, (rgKernelSet)set, set == rg_kernelsAvx2 && !write);
            bool known = compared && rgFindGolden(file, sets[set], scene->name, &expected);
            bool good = hash != 0 && (!compared || (known && hash == expected));
            if (write) {
                fprintf(file, "%d %s %s %016" PRIx64 "\n", RG_PHYSICS_REVISION, sets[set],
                        scene->name, hash);
            }
            printf("%-7s %-15s %016" PRIx64 "%s\n", sets[set], scene->name, hash,
                   hash == 0 ? " differs by threads or after restoring"
                   : good    ? ""
                   : known   ? " is not the golden one"
                             : " has no golden one of this revision");
            faults += !good;
        }
    }
    fclose(file);
    printf("revision %d: %d faults\n", RG_PHYSICS_REVISION, faults);
    return faults != 0;
}
