// rigor inverse: the forces that a motion needs, with the contact forces that go with it.
#include "motion.h"
#include "run.h"
#include "simulation.h"
#include "trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const startNames[] = {"zero", "last", "force", NULL};

typedef struct rgInverseOptions {
    rgSimulationArguments arguments;
    rgInverseDef def;
    int start;
    int model;
    const char* reference;
    const char* csv;
    bool json;
} rgInverseOptions;

// Sums over the calls of a run.
typedef struct rgInverseStats {
    int steps;
    int unsolved;
    int infeasible;
    int unheld;
    int overloaded;
    int iterationsMost;
    double iterations, residual, violation, effortExcess;
    double missingForce, missingTorque;
    double forceMost, normalMost;
    double velocityError; // error of the step driven by the forces, if it is taken
    int openMost;
    double seconds;
} rgInverseStats;

typedef struct rgInverseJob {
    rgInverseOptions options;
    rgSimulation simulation;
    rgMotionFile reference;
    rgInverseStats stats;
    FILE* csv;
} rgInverseJob;

static int rgParseInverse(int argc, char** argv, rgInverseOptions* options, int* count) {
    rgSimulationArguments* a = &options->arguments;
    rgInverseDef* def = &options->def;
    rgOption table[] = {
        [RG_SIMULATION_OPTION_COUNT +
         RG_CONTACT_OPTION_COUNT] = {"--ref", rg_optionText, &options->reference,
                                     "read the motion from a CSV file (required)", "FILE", NULL, 0,
                                     0},
        {"--model", rg_optionChoice, &options->model, "exact friction or its convex relaxation",
         "M", rgConvexModelNames, 0, 0},
        {"--rho", rg_optionNumber, &def->penalty, "rho of the proximal iteration [1/kg]", "RHO",
         NULL, 1e-300, 1e300},
        {"--tol", rg_optionNumber, &def->tolerance, "residual to reach, in SI units", "T", NULL,
         1e-300, 1e300},
        {"--max-iter", rg_optionInt, &def->maxIterations, "limit of iterations per call", "N", NULL,
         0, 1e9},
        {"--R", rg_optionNumber, &def->compliance, "compliance of every contact [1/kg]", "R", NULL,
         0, 1e300},
        {"--start", rg_optionChoice, &options->start,
         "start impulses; those of rigid contacts stay near them", "S", startNames, 0, 0},
        {"--normal-force", rg_optionNumber, &def->normalForce,
         "wanted force at every pair that touches [N]; implies --start force", "F", NULL, 0, 1e300},
        {"--feasible", rg_optionFlag, &def->feasible,
         "choose contact forces that leave the least force at the floating base", NULL, NULL, 0, 0},
        {"--csv", rg_optionOutput, &options->csv, "write forces and contact forces of every step",
         "FILE", NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print the summary as one JSON object", NULL,
         NULL, 0, 0},
    };
    rgSimulationArguments_Options(a, table);
    rgSimulationArguments_ContactOptions(a, table + RG_SIMULATION_OPTION_COUNT);
    const rgCommand command = {
        .name = "rigor inverse",
        .usage = "SCENE|FILE... --ref FILE.csv [OPTIONS]",
        .summary =
            "Compute the forces that a motion needs, contact forces included. The motion is a CSV "
            "file with\n"
            "columns time, q:JOINT, v:JOINT as rigor simulate --csv writes them: each step "
            "leads\nfrom one row to the next. A file without positions starts as in rigor "
            "simulate, and the forces\nfound drive every step, which checks them. Exit code: 0 "
            "when the motors can make the motion, 1\nwhen contacts or effort limits do not allow "
            "it or nothing holds the base, 2 for wrong options or\nfiles.\n\nExamples:\n  rigor "
            "inverse arm_wall --key home --ref motion.csv --csv "
            "forces.csv",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 1,
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, count);
    if (code == RG_CLI_GO && options->reference == NULL) {
        rgCli_Error("--ref is missing; see rigor inverse --help");
        code = rg_exitUsage;
    }
    def->model = (rgContactModel)options->model;
    def->start = def->normalForce > 0 ? rg_startForce : (rgInverseStart)options->start;
    return code;
}

// ---- output

static void rgWriteColumns(FILE* out, const rgModel* model) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory != NULL) {
        rgCsv_WriteHeader(memory, model);
        fclose(memory);
        text[strcspn(text, "\n")] = '\0';
        fputs("time", out);
        for (char* at = strstr(text, ",v:"); at != NULL; at = strstr(at + 1, ",v:")) {
            size_t length = strcspn(at + 1, ",");
            fprintf(out, ",force:%.*s", (int)length - 2, at + 3);
        }
    }
    free(text);
    fputs(",contacts,normal,tangential,iterations,residual,violation,base_force,base_torque\n",
          out);
}

typedef struct rgContactSum {
    double normal, tangential;
} rgContactSum;

static rgContactSum rgSumContacts(const rgWorld* world) {
    int count = 0;
    rgContactSum sum = {0};
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    double dt = rgWorld_TimeStep(world);
    for (int i = 0; i < count; ++i) {
        sum.normal += contacts[i].impulse[2] / dt;
        sum.tangential += hypot(contacts[i].impulse[0], contacts[i].impulse[1]) / dt;
    }
    return sum;
}

static void rgWriteStep(const rgInverseJob* job, const rgInverseResult* result, double time) {
    rgContactSum sum = rgSumContacts(job->simulation.world);
    fprintf(job->csv, "%.9g", time);
    for (int i = 0; i < job->simulation.info.vCount; ++i) {
        fprintf(job->csv, ",%.17g", result->force[i]);
    }
    double force = 0, torque = 0;
    for (int i = 0; i < result->baseCount; ++i) {
        force = fmax(force, rgLength(result->bases[i].force));
        torque = fmax(torque, rgLength(result->bases[i].torque));
    }
    fprintf(job->csv, ",%d,%.9g,%.9g,%d,%.6g,%.6g,%.9g,%.9g\n", result->contactCount, sum.normal,
            sum.tangential, result->contact.iterationCount, result->contact.residual.total,
            result->violation, force, torque);
}

static void rgInverseStats_Add(rgInverseStats* stats, const rgSimulation* simulation,
                               const rgInverseResult* result) {
    stats->steps += 1;
    stats->unsolved += result->status != rg_inverseSolved;
    stats->infeasible += result->status == rg_inverseForbidden;
    stats->unheld += result->status == rg_inverseUnheld;
    stats->overloaded += result->status == rg_inverseOverload;
    stats->iterations += result->contact.iterationCount;
    stats->iterationsMost = result->contact.iterationCount > stats->iterationsMost
                                ? result->contact.iterationCount
                                : stats->iterationsMost;
    stats->openMost = result->openCount > stats->openMost ? result->openCount : stats->openMost;
    stats->residual = fmax(stats->residual, result->contact.residual.total);
    stats->violation = fmax(stats->violation, result->violation);
    stats->missingForce = fmax(stats->missingForce, result->missingForce);
    stats->missingTorque = fmax(stats->missingTorque, result->missingTorque);
    stats->effortExcess = fmax(stats->effortExcess, result->effortExcess);
    stats->normalMost = fmax(stats->normalMost, rgSumContacts(simulation->world).normal);
    stats->seconds += result->seconds;
    for (int i = 0; i < simulation->info.vCount; ++i) {
        stats->forceMost = fmax(stats->forceMost, fabs(result->force[i]));
    }
}

static void rgPrintInverse(const rgInverseJob* job) {
    const rgInverseStats* stats = &job->stats;
    char time[16];
    printf("%d steps, %.1f iterations (at most %d), residual %.2g, %s a call\n", stats->steps,
           stats->steps > 0 ? stats->iterations / stats->steps : 0, stats->iterationsMost,
           stats->residual, rgFormatSeconds(time, stats->seconds / fmax(stats->steps, 1)));
    printf("largest force %.6g, largest sum of normal forces %.6g N\n", stats->forceMost,
           stats->normalMost);
    if (stats->openMost > 0) {
        printf("up to %d impulses are not determined by the motion; they follow the start%s\n",
               stats->openMost, job->options.def.feasible ? " and the base" : "");
    }
    if (stats->missingForce > 0 || stats->missingTorque > 0) {
        printf("%d steps are not possible: the base lacks up to %.6g N and %.6g N m%s\n",
               stats->unheld, stats->missingForce, stats->missingTorque,
               job->options.def.feasible ? ", and no contact can give them"
                                         : " (--feasible looks for contact forces that give them)");
    }
    if (stats->effortExcess > 0) {
        printf("%d steps exceed the effort limits of motors, by up to %.6g\n", stats->overloaded,
               stats->effortExcess);
    }
    if (!job->reference.hasPositions) {
        printf("driven by these forces, velocities differ by at most %.3g\n", stats->velocityError);
    }
    if (stats->infeasible > 0) {
        printf("%d steps need velocities that contacts do not allow, by up to %.6g\n",
               stats->infeasible, stats->violation);
    }
}

static void rgPrintInverseJson(const rgInverseJob* job) {
    const rgInverseStats* stats = &job->stats;
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "scene", job->simulation.name);
    rgJson_String(&json, "model", rgModelNames[job->options.model]);
    rgJson_Number(&json, "dt", rgWorld_TimeStep(job->simulation.world));
    rgJson_Int(&json, "steps", stats->steps);
    rgJson_Int(&json, "unsolved_steps", stats->unsolved);
    rgJson_Int(&json, "infeasible_steps", stats->infeasible);
    rgJson_Number(&json, "iterations_mean",
                  stats->steps > 0 ? stats->iterations / stats->steps : 0);
    rgJson_Int(&json, "iterations_max", stats->iterationsMost);
    rgJson_Number(&json, "residual_max", stats->residual);
    rgJson_Number(&json, "violation_max", stats->violation);
    rgJson_Number(&json, "force_max", stats->forceMost);
    rgJson_Number(&json, "normal_force_max", stats->normalMost);
    rgJson_Int(&json, "unheld_steps", stats->unheld);
    rgJson_Number(&json, "missing_force_max", stats->missingForce);
    rgJson_Number(&json, "missing_torque_max", stats->missingTorque);
    rgJson_Int(&json, "overload_steps", stats->overloaded);
    rgJson_Number(&json, "effort_excess_max", stats->effortExcess);
    rgJson_Int(&json, "open_impulses_max", stats->openMost);
    rgJson_Number(&json, "velocity_error_max",
                  job->reference.hasPositions ? NAN : stats->velocityError);
    rgJson_Number(&json, "seconds_per_call", stats->seconds / fmax(stats->steps, 1));
    rgJson_EndObject(&json);
}

// ---- the run

static bool rgInverseCall_Run(rgInverseJob* job, const double* vRef, rgInverseResult* result) {
    rgWorld* world = job->simulation.world;
    double time = rgWorld_Time(world);
    rgResult code = rgWorld_Inverse(world, &job->options.def, vRef, result);
    if (code != rg_ok) {
        rgCli_Error("step %d: refused: %s", job->stats.steps, rgResult_Name(code));
        return false;
    }
    rgInverseStats_Add(&job->stats, &job->simulation, result);
    if (job->csv != NULL) {
        rgWriteStep(job, result, time);
    }
    return true;
}

// Invert the motion from every row to the next.
static bool rgFollowStates(rgInverseJob* job) {
    const rgMotionFile* ref = &job->reference;
    rgInverseResult result;
    bool good = true;
    for (int i = 0; good && i + 1 < ref->rowCount; ++i) {
        const double* q = ref->q + (size_t)i * (size_t)ref->qCount;
        const double* v = ref->v + (size_t)i * (size_t)ref->vCount;
        rgResult code = rgWorld_SetState(job->simulation.world, q, v);
        if (code == rg_ok) {
            code = rgWorld_SetTime(job->simulation.world, ref->times[i]);
        }
        if (code != rg_ok) {
            rgCli_Error("%s: row %d is not a valid state: %s", job->options.reference, i + 1,
                        rgResult_Name(code));
        }
        good = code == rg_ok && rgInverseCall_Run(job, v + ref->vCount, &result);
    }
    return good;
}

// Velocities alone: each step is driven by the forces found for it.
static bool rgFollowVelocities(rgInverseJob* job) {
    const rgMotionFile* ref = &job->reference;
    rgWorld* world = job->simulation.world;
    rgInverseResult result;
    for (int i = 0; i < ref->rowCount; ++i) {
        const double* v = ref->v + (size_t)i * (size_t)ref->vCount;
        if (!rgInverseCall_Run(job, v, &result)) {
            return false;
        }
        rgResult code = rgWorld_SetForce(world, result.force);
        code = code == rg_ok ? rgWorld_Step(world, NULL) : code;
        if (code != rg_ok) {
            rgCli_Error("step %d failed: %s", i, rgResult_Name(code));
            return false;
        }
        const double* after = rgWorld_Velocities(world, NULL);
        for (int k = 0; k < ref->vCount; ++k) {
            job->stats.velocityError = fmax(job->stats.velocityError, fabs(after[k] - v[k]));
        }
    }
    return true;
}

static bool rgInverseJob_Run(rgInverseJob* job) {
    const rgModel* model = job->simulation.loaded.model;
    const char* path = job->options.reference;
    if (!rgMotionFile_Read(&job->reference, path, model) ||
        !rgMotionFile_Fits(&job->reference, path, rgWorld_TimeStep(job->simulation.world))) {
        return false;
    }
    if (job->options.csv != NULL) {
        job->csv = rgCli_OpenToWrite(job->options.csv);
        if (job->csv == NULL) {
            return false;
        }
        rgWriteColumns(job->csv, model);
    }
    bool good = job->reference.hasPositions ? rgFollowStates(job) : rgFollowVelocities(job);
    return (job->csv == NULL || rgCsv_Close(job->csv, job->options.csv)) && good;
}

int rgCli_Inverse(int argc, char** argv) {
    rgInverseJob job = {
        .options = {.arguments = rgDefaultSimulationArguments(), .def = rgDefaultInverseDef()}};
    int count = 0, code = rgParseInverse(argc, argv, &job.options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    job.options.arguments.what = argv[1];
    job.options.arguments.more = argv + 2;
    job.options.arguments.moreCount = count - 1;
    bool good =
        rgSimulation_Begin(&job.simulation, &job.options.arguments) && rgInverseJob_Run(&job);
    if (good && job.options.json) {
        rgPrintInverseJson(&job);
    } else if (good) {
        rgPrintInverse(&job);
    }
    rgMotionFile_Free(&job.reference);
    rgSimulation_Free(&job.simulation);
    return !good ? rg_exitUsage : job.stats.unsolved > 0 ? rg_exitNo : rg_exitDone;
}
