// rigor bench generate: collections of contact problems as FCLIB files.
#include "collection.h"
#include "dense_problem.h"
#include "measure.h"
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

// ---- single problems

static bool rgWriteDense(const rgContactProblem* problem, const char* path, const char* title) {
    rgDenseProblem dense;
    rgDenseProblem_Copy(&dense, problem);
    bool good = rgWriteProblem(&dense.problem, NULL, path, title,
                               "first step of its kind; see rigor bench convergence");
    rgDenseProblem_Free(&dense);
    return good;
}

static bool rgTouches(const rgWorld* world, rgBodyId body) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        if (contacts[i].firstRow >= 0 &&
            (contacts[i].bodyA.index1 == body.index1 || contacts[i].bodyB.index1 == body.index1)) {
            return true;
        }
    }
    return false;
}

// Run a scene until a body of this name is touched (NULL: until it has so many contacts), and write
// the problem of that step.
static bool rgCatchProblem(const char* what, const char* body, int contacts, const char* path) {
    rgSimulation simulation;
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    arguments.what = what;
    arguments.timeStep = 1e-3;
    bool found = false, good = rgSimulation_Begin(&simulation, &arguments);
    if (good && simulation.scene == NULL && simulation.info.keyCount > 0) {
        good = rgWorld_Reset(simulation.world, (rgKeyId){1}) == rg_ok;
    }
    rgStepReport report;
    for (int i = 0; good && !found && i < 6000; ++i) {
        good = rgSimulation_Step(&simulation, &report) == rg_ok;
        const rgContactProblem* problem = good ? rgWorld_Problem(simulation.world, NULL) : NULL;
        if (problem != NULL) {
            found = body != NULL ? rgTouches(simulation.world,
                                             rgModel_FindBody(simulation.loaded.model, body))
                                 : rgCountContacts(problem, NULL) >= contacts;
            good = !found || rgWriteDense(problem, path, simulation.name);
        }
    }
    rgSimulation_Free(&simulation);
    return good && found;
}

// The wall at the touch of the ball, and robots below $RIGOR_DATA when they have so many contacts.
static bool rgWriteSingles(const char* out) {
    static const struct {
        const char *name, *file, *body;
        int contacts;
    } singles[] = {{"wall", NULL, "ball", 0},
                   {"Talos", "robots/talos/talos.xml", NULL, 8},
                   {"humanoid", "robots/humanoid/humanoid.xml", NULL, 8},
                   {"Solo12", "robots/solo12/solo12.xml", NULL, 8},
                   {"Cassie", "robots/cassie/cassie_noeq.xml", NULL, 8}};
    const char* data = getenv("RIGOR_DATA");
    bool good = true;
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]) && good; ++i) {
        char* path = rgCli_Format("%s/single/%s.hdf5", out, singles[i].name);
        char* what =
            singles[i].file != NULL
                ? rgCli_Format("%s/%s", data != NULL ? data : "../shared/data", singles[i].file)
                : rgCli_CopyText(singles[i].name);
        good = rgCatchProblem(what, singles[i].body, singles[i].contacts, path);
        if (good) {
            printf("%s\n", path);
        }
        free(path);
        free(what);
    }
    return good;
}

// ---- collections

static const rgFamily* rgFindFamily(const char* name) {
    const char* names[rg_familyCount];
    for (int i = 0; i < rg_familyCount; ++i) {
        names[i] = rgFamilies[i].name;
        if (strcmp(names[i], name) == 0) {
            return &rgFamilies[i];
        }
    }
    rgCli_UnknownName(name, names, rg_familyCount, "'%s' is not a collection", name);
    return NULL;
}

int rgBench_Generate(int argc, char** argv) {
    const char* out = "fclib";
    int every = 1, count = 0;
    bool singles = false;
    const rgOption table[] = {
        {"--out", rg_optionText, &out, "folder for the collections (fclib)", "DIR", NULL, 0, 0},
        {"--every", rg_optionInt, &every, "only every N-th problem", "N", NULL, 1, 1e6},
        {"--singles", rg_optionFlag, &singles, "also one problem of the wall and of each robot",
         NULL, NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor bench generate",
        .usage = "[BoxesStack|Chain|Capsules]... [OPTIONS]",
        .summary =
            "Simulate, and write contact problems as FCLIB files: 255 of stacked boxes (mu "
            "0.7, up to\n240 contacts), 242 of chains (mu 0.3, 8 to 28), 249 of heaps of "
            "capsules (mu 0.7, up to 200):\nthe names and numbers of the paper's Table II, but "
            "problems of our own. Those of the report are frozen (bench/problems).",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, &count);
    for (int i = 1; code == RG_CLI_GO && i <= count; ++i) {
        code = rgFindFamily(argv[i]) != NULL ? code : rg_exitUsage;
    }
    for (int i = 0; code == RG_CLI_GO && i < (count > 0 ? count : rg_familyCount); ++i) {
        const rgFamily* family = count > 0 ? rgFindFamily(argv[i + 1]) : &rgFamilies[i];
        if (!rgFamily_Write(family, every, out)) {
            code = rg_exitNo;
        } else {
            printf("%s/%s: %d problems, %s\n", out, family->name,
                   (family->count + every - 1) / every, family->description);
        }
    }
    if (code == RG_CLI_GO && singles && !rgWriteSingles(out)) {
        rgCli_Error("--singles: the wall or a robot below $RIGOR_DATA has no such problem");
        code = rg_exitNo;
    }
    return code == RG_CLI_GO ? rg_exitDone : code;
}
