// The program `rigor`: finds the verb and runs it.
#include "cli.h"

#include <cblas.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const rgVerb verbs[] = {
    {"bench", "measure", rgCli_Bench},
    {"check", "say what a robot description holds and what is wrong with it", rgCli_Check},
    {"convert", "write a robot description as URDF or MJCF", rgCli_Convert},
    {"demo", "simulate the wall of cubes and the ball that hits it", rgCli_Demo},
    {"derive", "differentiate the steps of a simulation", rgCli_Derive},
    {"dynamics", "print mass matrix, bias, energies and poses of a robot", rgCli_Dynamics},
    {"identify", "find numbers of a robot description from recorded motions", rgCli_Identify},
    {"inverse", "forces and contact forces that a motion needs", rgCli_Inverse},
    {"plot", "draw quantities of a recording or CSV file over time", rgCli_Plot},
    {"render", "make pictures of a recording without a display", rgCli_Render},
    {"replay", "say what a recording holds, export it, simulate it again", rgCli_Replay},
    {"rollout", "simulate many worlds of a scene or a robot description", rgCli_Rollout},
    {"scenes", "list the built-in scenes", rgCli_Scenes},
    {"simulate", "simulate a scene or a robot description", rgCli_Simulate},
    {"solve", "solve contact problems in FCLIB files", rgCli_Solve},
    {"view", "show a scene, a robot or a recording in a browser", rgCli_View},
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
