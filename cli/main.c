// The program `rigor`: finds the verb and runs it.
#include "cli.h"

#include <cblas.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Rows without a function are headings.
static const rgVerb verbs[] = {
    {"Simulate", NULL, NULL},
    {"simulate", "simulate a scene or files", rgCli_Simulate},
    {"view", "show a scene, files or a recording in a browser", rgCli_View},
    {"rollout", "simulate many worlds with different parameters", rgCli_Rollout},
    {"scenes", "list the built-in scenes", rgCli_Scenes},
    {"demo", "simulate a wall of cubes that a ball hits", rgCli_Demo},
    {"new", "write a small project that runs", rgCli_New},
    {"Recordings", NULL, NULL},
    {"plot", "draw quantities of a recording or CSV file over time", rgCli_Plot},
    {"render", "make pictures of a recording without a display", rgCli_Render},
    {"replay", "describe a recording, export it, or simulate it again", rgCli_Replay},
    {"Models", NULL, NULL},
    {"check", "describe a URDF, MJCF or SDF file and list its faults", rgCli_Check},
    {"convert", "write a model as URDF or MJCF", rgCli_Convert},
    {"dynamics", "print mass matrix, bias, energies and poses of a robot", rgCli_Dynamics},
    {"identify", "fit model parameters to recorded motions", rgCli_Identify},
    {"inverse", "compute the forces and contact forces of a motion", rgCli_Inverse},
    {"derive", "differentiate the steps of a simulation", rgCli_Derive},
    {"Solver", NULL, NULL},
    {"solve", "solve contact problems in FCLIB files", rgCli_Solve},
    {"bench", "measure accuracy and speed, beside other engines", rgCli_Bench},
    {"devices", "list the GPUs that can be used, or why there are none", rgCli_Devices},
};

// Exit without destructors of libraries: OpenBLAS hangs at the end while its threads lack memory in
// an address space with a limit; libhdf5 crashes there over a file that it could not close on a
// full disk.
static int rgEnd(int code) {
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (limited || code != rg_exitDone) {
        fflush(NULL);
        _exit(code);
    }
    return code;
}

int main(int argc, char** argv) {
    if (rgCheckVersion(RG_VERSION) != rg_ok) {
        rgCli_Error("the program was built for another version of the library");
        return rg_exitUsage;
    }
    openblas_set_num_threads(1); // rigor spreads work itself; see docs/limits.md
    int code = rgRunVerb("rigor", verbs, (int)(sizeof(verbs) / sizeof(verbs[0])), argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        rgCli_Error("the standard output cannot be written");
        code = rg_exitUsage;
    }
    return rgEnd(code);
}
