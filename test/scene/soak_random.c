// A long run of anything: random scenes, sizes, solvers and settings; random pushes, controls,
// changes, saved and restored states. Steps are solved or say that they are not; numbers stay
// finite; memory comes back whole. Use: soak_random [SECONDS [SEED]]; RIGOR_SOAK_SECONDS wins. 180
// s by default.
#include "support.h"

#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct rgSoak {
    rgRandom random;
    const rgSceneInfo* scene;
    rgModel* model;
    rgWorld* world;
    rgCounter counter;
    void* saved;
    size_t savedSize;
    uint64_t savedHash;
    long steps, unconverged, refused, worlds;
    time_t start, told;
    double seconds;
} rgSoak;

static bool rgSoak_IsOver(const rgSoak* soak) {
    return difftime(time(NULL), soak->start) >= soak->seconds;
}

static void rgSoak_Tell(rgSoak* soak) {
    printf("%ld worlds, %ld steps, %ld not converged and said so, %ld refused\n", soak->worlds,
           soak->steps, soak->unconverged, soak->refused);
    soak->told = time(NULL);
}

static void rgStop(const rgSoak* soak, const char* why) {
    printf("FAILED: %s (scene %s, world %ld, step %ld)\n", why,
           soak->scene != NULL ? soak->scene->name : "none", soak->worlds, soak->steps);
    exit(1);
}

static rgWorldDef rgRandomSettings(rgRandom* r) {
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = rgRandom_Index(r, 3) == 0 ? rgRandom_Uniform(r, 2e-4, 5e-3) : 0;
    def.integrator = (rgIntegrator)rgRandom_Index(r, 3);
    def.contact.method =
        rgRandom_Index(r, 2) ? rg_methodAuto : (rgContactMethod)rgRandom_Index(r, 5);
    def.contact.kernels = (rgKernelSet)rgRandom_Index(r, 5);
    def.contact.form = (rgSystemForm)rgRandom_Index(r, 4);
    def.contact.maxIterations = 1 + rgRandom_Index(r, 300);
    def.stiffness = rgRandom_Index(r, 4) == 0 ? pow(10, rgRandom_Uniform(r, 3, 8)) : 0;
    def.damping = def.stiffness > 0 ? def.stiffness * 0.01 : 0;
    def.tangentialStiffness = rgRandom_Index(r, 6) == 0 ? 1e5 : 0;
    def.friction = rgRandom_Index(r, 3) == 0 ? rgRandom_Uniform(r, 0, 2) : NAN;
    def.restitution = rgRandom_Index(r, 4) == 0 ? rgRandom_Uniform(r, 0, 1) : NAN;
    def.sleepTime = rgRandom_Index(r, 3) == 0 ? 0.1 : 0;
    def.maxContactsPerPair = 1 + rgRandom_Index(r, 8);
    return def;
}

static bool rgSoak_Begin(rgSoak* soak) {
    rgSceneDef sceneDef = rgDefaultSceneDef();
    rgModelDef* def = NULL;
    soak->scene = rgSceneAt(rgRandom_Index(&soak->random, rgSceneCount()));
    sceneDef.count = soak->scene->defaultCount > 0 ? 2 + rgRandom_Index(&soak->random, 40) : 0;
    sceneDef.seed = (uint64_t)rgRandom_Index(&soak->random, 1000);
    rgWorldDef settings = rgRandomSettings(&soak->random);
    soak->counter = (rgCounter){.failAfter = -1};
    settings.allocator = rgCountingAllocator(&soak->counter);
    if (rgBuildScene(soak->scene, &sceneDef, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &soak->model) != rg_ok) {
        rgStop(soak, "the scene was not built");
    }
    rgDestroyModelDef(def);
    // A form that the problem does not have is refused, and said so.
    if (rgCreateWorld(soak->model, &settings, NULL, &soak->world) != rg_ok) {
        soak->refused += 1;
        return false;
    }
    soak->worlds += 1;
    return rgScene_Start(soak->scene, soak->world) == rg_ok;
}

static void rgSoak_End(rgSoak* soak) {
    rgDestroyWorld(soak->world);
    rgDestroyModel(soak->model);
    free(soak->saved);
    soak->world = NULL;
    soak->model = NULL;
    soak->saved = NULL;
    if (soak->counter.live != 0) {
        rgStop(soak, "memory was lost");
    }
}

static void rgSoak_Disturb(rgSoak* soak) {
    rgRandom* r = &soak->random;
    rgModelInfo info = rgModel_Info(soak->model);
    rgBodyId body = {1 + rgRandom_Index(r, info.bodyCount > 0 ? info.bodyCount : 1)};
    double size = pow(10, rgRandom_Uniform(r, 0, 4));
    switch (rgRandom_Index(r, 12)) {
    case 0:
        (void)!rgWorld_ApplyWrench(soak->world, body,
                                   rgVec(rgRandom_Uniform(r, -size, size),
                                         rgRandom_Uniform(r, -size, size),
                                         rgRandom_Uniform(r, -size, size)),
                                   rgVec(0, rgRandom_Uniform(r, -0.1 * size, 0.1 * size), 0));
        break;
    case 1:
        rgWorld_ClearWrenches(soak->world);
        break;
    case 2:
        if (info.actuatorCount > 0) {
            rgActuatorId actuator = {1 + rgRandom_Index(r, info.actuatorCount)};
            (void)!rgWorld_SetActuatorControl(soak->world, actuator, rgRandom_Uniform(r, -3, 3));
        }
        break;
    case 3:
        free(soak->saved);
        soak->savedSize = rgWorld_StateSize(soak->world);
        soak->saved = malloc(soak->savedSize);
        soak->savedHash = rgWorld_Hash(soak->world);
        if (rgWorld_Save(soak->world, soak->saved, soak->savedSize) != rg_ok) {
            rgStop(soak, "the state was not saved");
        }
        break;
    case 4:
        if (soak->saved != NULL &&
            (rgWorld_Restore(soak->world, soak->saved, soak->savedSize) != rg_ok ||
             rgWorld_Hash(soak->world) != soak->savedHash)) {
            rgStop(soak, "the state did not come back");
        }
        break;
    case 5: {
        rgWorldDef settings = rgWorld_Settings(soak->world);
        settings.friction = rgRandom_Uniform(r, 0, 1.5);
        settings.gravity = rgVec(rgRandom_Uniform(r, -3, 3), 0, rgRandom_Uniform(r, -20, 5));
        (void)!rgWorld_ChangeSettings(soak->world, &settings, NULL);
        break;
    }
    case 6:
        (void)!rgWorld_EnableBody(soak->world, body, rgRandom_Index(r, 2));
        break;
    default:
        break;
    }
}

static void rgSoak_CheckNumbers(const rgSoak* soak) {
    int nq, nv, contacts;
    const double *q = rgWorld_Positions(soak->world, &nq),
                 *v = rgWorld_Velocities(soak->world, &nv);
    const rgContact* c = rgWorld_Contacts(soak->world, &contacts);
    bool good = true;
    for (int i = 0; i < nq; ++i) {
        good = good && isfinite(q[i]);
    }
    for (int i = 0; i < nv; ++i) {
        good = good && isfinite(v[i]);
    }
    for (int i = 0; i < contacts; ++i) {
        good = good && isfinite(c[i].gap) && isfinite(c[i].force.x + c[i].force.y + c[i].force.z);
    }
    if (!good) {
        rgStop(soak, "a number is not finite");
    }
}

// A world that is slow to solve makes room for others after some seconds of work.
static void rgSoak_Run(rgSoak* soak, int steps) {
    const clock_t end = clock() + 5 * CLOCKS_PER_SEC;
    for (int i = 0; i < steps && clock() < end && !rgSoak_IsOver(soak); ++i) {
        rgStepReport report;
        rgSoak_Disturb(soak);
        if (rgScene_Act(soak->scene, soak->world) != rg_ok) {
            return; // a body of the script is disabled
        }
        uint64_t before = rgWorld_Hash(soak->world);
        rgResult result = rgWorld_Step(soak->world, &report);
        soak->steps += 1;
        if (result !=
            rg_ok) { // numbers that grew beyond all measure end a world, with its state as it was
            if (result != rg_errorNumeric || rgWorld_Hash(soak->world) != before) {
                rgStop(soak, rgResult_Name(result));
            }
            soak->refused += 1;
            return;
        }
        bool solved = report.rowCount == 0 || report.contact.status == rg_contactSolved;
        soak->unconverged += !solved;
        if (solved && report.rowCount > 0 && !(report.contact.residual.total <= 1e-5)) {
            rgStop(soak, "said to be solved, and is not");
        }
        rgSoak_CheckNumbers(soak);
        if (difftime(time(NULL), soak->told) >= 60) {
            rgSoak_Tell(soak);
        }
    }
}

static long rgResidentPages(void) {
    long size = 0, pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &pages) != 2) {
        pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return pages;
}

// Worlds come and go; what the process holds does not grow.
static bool rgCycles(int count) {
    rgModel* model = NULL;
    long before = 0;
    if (rgLoadModel("humanoid", NULL, NULL, &model) != rg_ok) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        rgWorld* world = NULL;
        if (rgCreateWorld(model, NULL, NULL, &world) != rg_ok ||
            rgWorld_Step(world, NULL) != rg_ok) {
            return false;
        }
        rgDestroyWorld(world);
        before = i == count / 5 ? rgResidentPages() : before;
    }
    rgDestroyModel(model);
    long grown = (rgResidentPages() - before) * sysconf(_SC_PAGESIZE) / 1024;
    printf("%d worlds made and unmade: %ld KiB grown\n", count, grown);
#if defined(__SANITIZE_ADDRESS__)
    return true; // freed memory waits in quarantine
#else
    return grown < 4096;
#endif
}

static bool rgLargePile(int bodies, int steps) {
    rgSceneDef sceneDef = rgDefaultSceneDef();
    rgSoak soak = {.random = {1}, .scene = rgFindScene("pile")};
    rgModelDef* def = NULL;
    sceneDef.count = bodies;
    if (rgBuildScene(soak.scene, &sceneDef, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &soak.model) != rg_ok ||
        rgCreateWorld(soak.model, NULL, NULL, &soak.world) != rg_ok ||
        rgScene_Start(soak.scene, soak.world) != rg_ok) {
        return false;
    }
    rgDestroyModelDef(def);
    for (int i = 0; i < steps; ++i) {
        if (rgWorld_Step(soak.world, NULL) != rg_ok) {
            return false;
        }
    }
    rgSoak_CheckNumbers(&soak);
    printf("pile of %d bodies: %d steps, %zu MB\n", bodies, steps,
           rgWorld_MemoryUse(soak.world) >> 20);
    rgSoak_End(&soak);
    return true;
}

int main(int argc, char** argv) {
    const char* wish = getenv("RIGOR_SOAK_SECONDS");
    double seconds = wish != NULL ? atof(wish) : argc > 1 ? atof(argv[1]) : 180;
    rgSoak soak = {.random = {argc > 2 ? (uint64_t)atoll(argv[2]) : 1},
                   .start = time(NULL),
                   .told = time(NULL),
                   .seconds = seconds};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!rgCycles(1000) || !rgLargePile(10000, 3)) {
        printf("FAILED: cycles or the large pile\n");
        return 1;
    }
    while (!rgSoak_IsOver(&soak)) {
        if (rgSoak_Begin(&soak)) {
            rgSoak_Run(&soak, 50 + rgRandom_Index(&soak.random, 400));
        }
        rgSoak_End(&soak);
    }
    rgSoak_Tell(&soak);
    return 0;
}
