// The summary of a simulation, for people and as JSON.
#include "run.h"
#include "simulate.h"

#include <inttypes.h>
#include <math.h>

static double rgSimulatedTime(const rgSimulation* simulation) {
    return simulation->stats.steps * rgWorld_TimeStep(simulation->world);
}

static double rgConvergedShare(const rgSimulationStats* stats) {
    return stats->steps > 0 ? 1 - (double)stats->unconverged / stats->steps : 1;
}

static double rgRatio(double a, double b) {
    return b > 0 ? a / b : 0;
}

// "1.2 um", "3.4 mm", "5.6 m"
static const char* rgFormatLength(char buffer[24], double metres) {
    if (metres < 1e-3) {
        snprintf(buffer, 24, "%.3g um", metres * 1e6);
    } else if (metres < 1) {
        snprintf(buffer, 24, "%.3g mm", metres * 1e3);
    } else {
        snprintf(buffer, 24, "%.3g m", metres);
    }
    return buffer;
}

static void rgPrintStages(const rgSimulationStats* stats, FILE* out) {
    double total = 0;
    for (int i = 0; i < rg_stageCount; ++i) {
        total += stats->stageSeconds[i];
    }
    fprintf(out, "stages       ");
    for (int i = 0; i < rg_stageCount; ++i) {
        fprintf(out, "%s%s %.0f %%", i > 0 ? ", " : "", rgStageNames[i],
                100 * rgRatio(stats->stageSeconds[i], total));
    }
    fprintf(out, "\n");
}

// ---- anomalies ----

// "'floor'", "a shape of 'leg'", "shape 3"
static const char* rgShapeName(const rgModel* model, rgShapeId id, char buffer[96]) {
    const rgShapeDef* shape = rgModel_Shape(model, id);
    const rgBodyDef* body = shape != NULL ? rgModel_Body(model, shape->body) : NULL;
    if (shape != NULL && shape->name != NULL && shape->name[0] != '\0') {
        snprintf(buffer, 96, "'%.80s'", shape->name);
    } else if (body != NULL && body->name != NULL && body->name[0] != '\0') {
        snprintf(buffer, 96, "a shape of '%.76s'", body->name);
    } else {
        snprintf(buffer, 96, "shape %d", id.index1);
    }
    return buffer;
}

void rgSimulateSummary_PrintAnomalies(const rgSimulateSummary* summary) {
    const rgModel* model = summary->simulation->loaded.model;
    rgHealth health = rgWorld_Health(summary->simulation->world);
    char a[96], b[96], length[24];
    if ((health.anomalies & rg_anomalyDepth) != 0) {
        rgCli_Print(stderr,
                    "warning: at %g s %s and %s overlap, %s deeper than their motion explains\n",
                    health.depth.time, rgShapeName(model, health.depth.shapeA, a),
                    rgShapeName(model, health.depth.shapeB, b),
                    rgFormatLength(length, health.depth.amount));
    }
    if ((health.anomalies & rg_anomalyForce) != 0) {
        rgCli_Print(
            stderr,
            "warning: at %g s %s and %s press on each other with %.3g N: weight and motion do not "
            "explain it\n",
            health.force.time, rgShapeName(model, health.force.shapeA, a),
            rgShapeName(model, health.force.shapeB, b), health.force.amount);
    }
    if ((health.anomalies & rg_anomalyEnergy) != 0) {
        fprintf(
            stderr,
            "warning: by %g s the energy has risen by %.3g J, and no actuator or user added it\n",
            health.energy.time, health.energy.amount);
    }
}

void rgSimulateSummary_Print(const rgSimulateSummary* summary) {
    const rgSimulation* simulation = summary->simulation;
    const rgSimulationStats* stats = &simulation->stats;
    const rgWorld* world = simulation->world;
    FILE* out = summary->out;
    double time = rgSimulatedTime(simulation);
    char length[24], other[24], seconds[16];
    const rgContactSolverDef* contact = &simulation->def.contact;
    bool accurate = contact->accuracy > contact->tolerance; // solved means to the accuracy
    rgCli_Print(out, "%s: %g s in steps of %g s, %s solver, %s %g\n", simulation->name, time,
                rgWorld_TimeStep(world), rgSolverNames[summary->arguments->solver],
                accurate ? "accuracy" : "tolerance",
                accurate ? contact->accuracy : contact->tolerance);
    fprintf(out, "speed        %.0f steps/s, %.3gx real time (%d steps in %s, %d thread%s)\n",
            rgRatio(stats->steps, stats->seconds), rgRatio(time, stats->seconds), stats->steps,
            rgFormatSeconds(seconds, stats->seconds), summary->arguments->threads,
            summary->arguments->threads == 1 ? "" : "s");
    fprintf(out, "contacts     mean %.1f, p95 %d\n", rgHistogram_Mean(&stats->contacts),
            rgHistogram_Quantile(&stats->contacts, 0.95));
    fprintf(out, "iterations   mean %.2f, p95 %d\n", rgHistogram_Mean(&stats->iterations),
            rgHistogram_Quantile(&stats->iterations, 0.95));
    fprintf(out, "converged    %.2f %% of the steps (%d unconverged), worst residual %.1e\n",
            100 * rgConvergedShare(stats), stats->unconverged, stats->residual);
    if (summary->answers != NULL) {
        const rgAnswerCounts* answers = summary->answers;
        fprintf(out,
                "answers      of %d steps with contacts, %d have other impulses, %d another motion "
                "(at most %.3g m/s apart)\n",
                answers->searched, answers->impulses, answers->motions, answers->velocity);
    }
    if (stats->regularized > 0) {
        fprintf(out, "regularized  %d steps with squeezed contacts or open loops\n",
                stats->regularized);
    }
    fprintf(out, "geometry     deepest penetration %s, largest drift %s\n",
            rgFormatLength(length, stats->penetration), rgFormatLength(other, stats->drift));
    double kinetic = rgWorld_KineticEnergy(world);
    fprintf(out, "energy       kinetic %.6g J, total %.9g J\n", kinetic,
            kinetic + rgWorld_PotentialEnergy(world));
    fprintf(out, "health       %s\n",
            rgWorld_Health(world).anomalies == rg_anomalyNone
                ? "no anomaly of energy, force or depth"
                : "ANOMALIES: see the warnings");
    rgPrintStages(stats, out);
    if (summary->dumped >= 0) {
        fprintf(out, "dumped       %d contact problems\n", summary->dumped);
    }
    fprintf(out, "hash         %016" PRIx64 "\n", rgWorld_Hash(world));
}

static void rgWriteStages(rgJson* json, const rgSimulationStats* stats) {
    rgJson_BeginObject(json, "stages");
    for (int i = 0; i < rg_stageCount; ++i) {
        rgJson_Number(json, rgStageNames[i], stats->stageSeconds[i]);
    }
    rgJson_EndObject(json);
}

static void rgWriteSettings(rgJson* json, const rgSimulateSummary* summary) {
    const rgSimulation* simulation = summary->simulation;
    const rgSimulationArguments* arguments = summary->arguments;
    rgJson_String(json, "scene", simulation->name);
    rgJson_String(json, "solver", rgSolverNames[arguments->solver]);
    rgJson_String(json, "model", rgModelNames[arguments->contactModel]);
    rgJson_Number(json, "tolerance", simulation->def.contact.tolerance);
    rgJson_Number(json, "accuracy", simulation->def.contact.accuracy);
    rgJson_Int(json, "threads", arguments->threads);
    rgJson_Int(json, "seed", arguments->seed);
    rgJson_Number(json, "dt", rgWorld_TimeStep(simulation->world));
    rgJson_Int(json, "bodies", simulation->info.bodyCount);
}

static void rgWriteSolves(rgJson* json, const rgSimulationStats* stats) {
    rgJson_Number(json, "contacts_mean", rgHistogram_Mean(&stats->contacts));
    rgJson_Int(json, "contacts_p95", rgHistogram_Quantile(&stats->contacts, 0.95));
    rgJson_Number(json, "iterations_mean", rgHistogram_Mean(&stats->iterations));
    rgJson_Int(json, "iterations_p95", rgHistogram_Quantile(&stats->iterations, 0.95));
    rgJson_Number(json, "converged_share", rgConvergedShare(stats));
    rgJson_Int(json, "unconverged_steps", stats->unconverged);
    rgJson_Int(json, "regularized_steps", stats->regularized);
    rgJson_Number(json, "residual_max", stats->residual);
}

static void rgWriteAnswers(rgJson* json, const rgAnswerCounts* answers) {
    rgJson_BeginObject(json, "answers");
    rgJson_Int(json, "searched_steps", answers->searched);
    rgJson_Int(json, "steps_with_other_impulses", answers->impulses);
    rgJson_Int(json, "steps_with_another_motion", answers->motions);
    rgJson_Number(json, "velocity_apart_max", answers->velocity);
    rgJson_EndObject(json);
}

static void rgWriteHealth(rgJson* json, const rgWorld* world) {
    rgHealth health = rgWorld_Health(world);
    static const char* const names[] = {"energy", "force", "depth"};
    rgJson_BeginArray(json, "anomalies");
    for (int i = 0; i < 3; ++i) {
        if ((health.anomalies & (1 << i)) != 0) {
            rgJson_String(json, NULL, names[i]);
        }
    }
    rgJson_EndArray(json);
    rgJson_Number(json, "energy_rise", health.energy.amount);
    rgJson_Number(json, "contact_force_max", health.force.amount);
    rgJson_Number(json, "sudden_depth", health.depth.amount);
}

void rgSimulateSummary_PrintJson(const rgSimulateSummary* summary) {
    const rgSimulation* simulation = summary->simulation;
    const rgSimulationStats* stats = &simulation->stats;
    const rgWorld* world = simulation->world;
    double time = rgSimulatedTime(simulation);
    double kinetic = rgWorld_KineticEnergy(world);
    char hash[24];
    snprintf(hash, sizeof(hash), "%016" PRIx64, rgWorld_Hash(world));
    rgJson json = {.out = summary->out};
    rgJson_BeginObject(&json, NULL);
    rgWriteSettings(&json, summary);
    rgJson_Int(&json, "steps", stats->steps);
    rgJson_Number(&json, "time", time);
    rgJson_Number(&json, "seconds", stats->seconds);
    rgJson_Number(&json, "steps_per_second", rgRatio(stats->steps, stats->seconds));
    rgJson_Number(&json, "realtime_factor", rgRatio(time, stats->seconds));
    rgWriteSolves(&json, stats);
    if (summary->answers != NULL) {
        rgWriteAnswers(&json, summary->answers);
    }
    rgJson_Number(&json, "penetration_max", stats->penetration);
    rgJson_Number(&json, "drift_max", stats->drift);
    rgJson_Number(&json, "kinetic_energy", kinetic);
    rgJson_Number(&json, "energy", kinetic + rgWorld_PotentialEnergy(world));
    rgWriteHealth(&json, world);
    rgJson_String(&json, "hash", hash);
    rgWriteStages(&json, stats);
    rgJson_String(&json, "error", summary->fault);
    rgJson_EndObject(&json);
}
