// rigor demo: the wall of cubes, solved by every method. What a newcomer sees first.
#include "cli.h"
#include "run.h"
#include "wall.h"

#include <math.h>
#include <stdlib.h>

enum { rg_demoRepeats = 5 };

static bool rgDemoRow(rgTable* table, const rgWall* wall, int solver, double* lambda) {
    rgContactSolverDef def = rgSolverDef(solver);
    def.maxIterations = 20000;
    rgContactSolver* made = NULL;
    rgRun run = {.result = rgCreateContactSolver(&def, &made), .seconds = INFINITY};
    for (int i = 0; run.result == rg_ok && i < rg_demoRepeats; ++i) {
        rgRun_Repeat(&run, made, &wall->problem, NULL, lambda, NULL);
    }
    rgRun_Judge(&run, &def, &wall->problem, lambda);
    rgDestroyContactSolver(made);
    char time[16];
    rgTable_Add(table, "%s", rgSolverNames[solver]);
    rgTable_Add(table, "%s",
                run.result == rg_ok ? rgStatusName(run.report.status) : rgResult_Name(run.result));
    rgTable_Add(table, "%d", run.report.iterationCount);
    rgTable_Add(table, "%d", run.report.factorizationCount);
    rgTable_Add(table, "%.1e", run.scaled.total);
    rgTable_Add(table, "%s", rgFormatSeconds(time, run.seconds));
    return run.solved;
}

// The floor must carry the whole wall: the sum of the normal impulses there is m g dt.
static void rgPrintLoad(const rgWall* wall, const double* lambda) {
    double load = 0;
    for (int i = 0; i < 20; ++i) {
        load += lambda[3 * i + 2];
    }
    double weight = 0;
    for (int i = 0; i < rg_wallCubes; ++i) {
        weight += wall->mass[6 * i] * 9.81;
    }
    printf("\nThe floor pushes with %.9g N; the wall weighs %.9g N.\n", load / 1e-3, weight);
}

int rgCli_Demo(int argc, char** argv) {
    const rgCommand command = {.name = "rigor demo",
                               .usage = "",
                               .summary = "Solve the built-in wall of cubes with every solver."};
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    static const char* const headers[] = {"solver",         "status",   "iterations",
                                          "factorizations", "residual", "time"};
    rgWall* wall = rgCli_Allocate(1, sizeof(rgWall));
    double* lambda = rgCli_Allocate(rg_wallRows, sizeof(double));
    rgWall_Build(wall);
    printf("A wall of %d cubes, 1 kg at the bottom to 10000 kg on top: %d contacts, friction 0.5, "
           "one step of 1 ms.\nEvery solver aims at a residual of 1e-6, measured from its answer "
           "alone; times are cold starts.\n\n",
           rg_wallCubes, rg_wallContacts);
    rgTable table;
    rgTable_Init(&table, headers, 6);
    bool autoSolved = false;
    // auto comes last, so that its impulses remain.
    for (int i = rg_solverCount - 1; i >= 0; --i) {
        autoSolved = rgDemoRow(&table, wall, i, lambda);
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
    rgPrintLoad(wall, lambda);
    free(lambda);
    free(wall);
    return autoSolved ? rg_exitDone : rg_exitNo;
}
