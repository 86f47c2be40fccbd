// Scenes of the paper's Figs. 1 to 3: their sizes, and pictures if a browser is installed.
#include "report/report.h"
#include "scratch.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rgShownScene {
    const char* name;
    const char* file;    // below $RIGOR_DATA/robots; NULL: built in
    const char* builtIn; // scene used if the file is missing; NULL: left out
    double time;         // time of the picture [s]
    double stiffness;    // 0: rigid
    const char* camera;
    const char* caption;
} rgShownScene;

static const rgShownScene rgShown[] = {
    {"wall", NULL, "wall", 2.0, 0, "2.2,-2.2,1.1,0,0,0.45",
     "Fig. 1: the wall, 1 kg below to 10^4 kg on top, stands (2 s)"},
    {"wall hit", NULL, "wall", 2.25, 0, "2.2,-2.2,1.1,0,0,0.45",
     "Fig. 1: hit by a ball of 10^3 kg"},
    {"rigid", NULL, "humanoid", 3, 0, "1.6,-1.6,0.8,0,0,0.15", "Fig. 2: a limp humanoid, rigid"},
    {"compliant", NULL, "humanoid", 3, 2e3, "1.6,-1.6,0.8,0,0,0.15",
     "Fig. 2: the same with 2 kN/m per contact point: it sinks in"},
    {"UR5", "ur5/ur5.xml", "arm", 1.5, 0, "1.5,-1.1,0.9,0.2,0.2,0.2",
     "Fig. 6: UR5 without actuation"},
    {"Cassie", "cassie/cassie_eq.xml", "biped", 1.5, 0, "1.3,-1.3,0.9,0,0,0.2",
     "Fig. 6: Cassie with its loops, collapsed"},
    {"Talos", "talos/talos.xml", NULL, 1.5, 0, "1.8,-1.8,1.1,0,0,0.2", "Fig. 3: Talos has fallen"},
    {"hand", NULL, "hand", 1, 0, "0.42,-0.40,0.42,0.04,0.02,0.05",
     "Fig. 3: a hand with a stack of cubes"},
};
enum { rg_shownCount = sizeof(rgShown) / sizeof(rgShown[0]) };

// The file, the built-in scene in its place, or NULL.
static char* rgFindShown(const rgShownScene* scene) {
    const char* data = getenv("RIGOR_DATA");
    if (scene->file != NULL) {
        char* path =
            rgCli_Format("%s/robots/%s", data != NULL ? data : "../shared/data", scene->file);
        if (access(path, R_OK) == 0) {
            return path;
        }
        free(path);
    }
    return scene->builtIn != NULL ? rgCli_CopyText(scene->builtIn) : NULL;
}

static bool rgAddShownRow(rgSheet* sheet, const rgShownScene* scene, const char* what, int steps) {
    rgSimulation simulation;
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    rgStepReport report;
    arguments.what = what;
    arguments.timeStep = 1e-3;
    arguments.stiffness = scene->stiffness;
    bool good = rgSimulation_Begin(&simulation, &arguments);
    if (good && simulation.scene == NULL && simulation.info.keyCount > 0) {
        good = rgWorld_Reset(simulation.world, (rgKeyId){1}) == rg_ok;
    }
    for (int i = 0; good && i < steps; ++i) {
        good = rgSimulation_Step(&simulation, &report) == rg_ok;
    }
    if (good) {
        rgSheet_Text(sheet, "%s", scene->name);
        rgSheet_Number(sheet, simulation.info.bodyCount);
        rgSheet_Number(sheet, simulation.info.vCount);
        rgSheet_Number(sheet, simulation.info.mass);
        rgSheet_Number(sheet, steps * 1e-3);
        rgSheet_Number(sheet, rgHistogram_Mean(&simulation.stats.contacts));
        rgSheet_Number(sheet, 1e3 * simulation.stats.penetration);
        rgSheet_Number(sheet, simulation.stats.residual);
    }
    rgSimulation_Free(&simulation);
    return good;
}

static bool rgTakePicture(rgReport* report, const char* rigor, const char* folder, int index,
                          const char* what) {
    const rgShownScene* scene = &rgShown[index];
    char stiffness[48] = "";
    if (scene->stiffness > 0) {
        snprintf(stiffness, sizeof(stiffness), "--stiffness %g", scene->stiffness);
    }
    char* picture = rgCli_Format("%s/%d.png", folder, index);
    char* command = rgCli_Format(
        "'%s' simulate '%s' %s --dt 1e-3 --time %g %s --record '%s/%d.h5' --record-every 10 "
        ">/dev/null 2>&1 && '%s' render '%s/%d.h5' '%s' --size 560x380 --show shadows --camera %s "
        ">/dev/null 2>&1",
        rigor, what, strchr(what, '/') != NULL ? "--start key" : "", scene->time, stiffness, folder,
        index, rigor, folder, index, picture, scene->camera);
    bool good = system(command) == 0 && rgReport_Picture(report, picture, scene->caption);
    free(command);
    free(picture);
    return good;
}

static bool rgRunScenes(rgReport* report) {
    char* rigor = rgFindProgram();
    char* scratch = rgMakeScratch();
    int shown = 0, pictures = 0;
    bool good = scratch != NULL;
    rgSheet* sheet = rgReport_Table(report, "scenes", "Scenes");
    rgSheet_Column(sheet, "scene", NULL, NULL);
    rgSheet_Column(sheet, "bodies", NULL, "%.0f");
    rgSheet_Column(sheet, "velocities", NULL, "%.0f");
    rgSheet_Column(sheet, "mass", "kg", "%.4g");
    rgSheet_Column(sheet, "simulated", "s", "%.2f");
    rgSheet_Column(sheet, "contacts", "mean", "%.1f");
    rgSheet_Column(sheet, "deepest penetration", "mm", "%.2g");
    rgSheet_Column(sheet, "worst residual", NULL, "%.0e");
    for (int i = 0; good && i < rg_shownCount; ++i) {
        char* what = rgFindShown(&rgShown[i]);
        if (what != NULL) {
            rgReport_Progress(report, i, rg_shownCount, rgShown[i].name);
            bool quick = rgReport_Effort(report) == rg_effortQuick;
            int steps = quick ? 20 : (int)lround(1e3 * rgShown[i].time);
            good = rgAddShownRow(sheet, &rgShown[i], what, steps);
            pictures +=
                good && !quick && rigor != NULL && rgTakePicture(report, rigor, scratch, i, what);
            shown += good;
        }
        free(what);
    }
    if (pictures == 0) {
        rgReport_Note(report, "No pictures: rigor render needs Chromium, and the quick pass takes "
                              "none.");
    }
    rgReport_Conclude(report,
                      "%d scenes of the paper's figures, simulated with exact friction by "
                      "one solver and one set of defaults.",
                      shown);
    rgRemoveScratch(scratch);
    free(rigor);
    return good || rgReport_Fail(report, "a scene could not be simulated");
}

const rgExperiment rgExperimentScenes = {"scenes", "The scenes", "What is simulated?",
                                         "paper, Figs. 1 to 3", rgRunScenes};
