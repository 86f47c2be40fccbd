// Output of rigor identify: parameters, how well the motions determine them, and errors before and
// after.
#include "identify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_DEGREES 57.29577951308232
// Least share of a parameter in a direction that the motions leave open, in widths of the bounds,
// for which the parameter counts as open: it leaves 1.4 % of the width undetermined.
#define RG_OPEN_SHARE 0.05

// Direction in the space of parameters that the motions determine less than the bounds do.
static const double* rgOpenDirection(const rgIdentifyJob* job, int index) {
    double strength = 0;
    const double* direction = rgIdentification_Direction(job->answer, index, &strength);
    return strength < sqrt(12) ? direction : NULL;
}

// Parameters that the motions determine in some combination alone.
static bool rgIsOpenTogether(const rgIdentifyJob* job, int parameter) {
    bool open = false;
    for (int j = 0; j < job->parameterCount; ++j) {
        const double* direction = rgOpenDirection(job, j);
        open = open || (direction != NULL && fabs(direction[parameter]) > RG_OPEN_SHARE);
    }
    return open;
}

double rgIdentifyJob_Misfit(const rgIdentifyJob* job) {
    const rgIdentifyDef* def = &job->options.def;
    rgIdentificationInfo info = rgIdentification_Info(job->answer);
    const rgMotionError* e = job->options.startNoise != NULL ? &info.adapted : &info.after;
    const double shares[] = {e->position / def->positionNoise, e->rotation / def->rotationNoise,
                             e->coordinate / def->coordinateNoise};
    double most = 0;
    for (int i = 0; i < 3; ++i) {
        most = fmax(most, shares[i]); // NAN where nothing was measured
    }
    return most;
}

bool rgIdentifyJob_IsSound(const rgIdentifyJob* job) {
    return rgIdentification_Info(job->answer).converged &&
           rgIdentifyJob_Misfit(job) <= RG_IDENTIFY_MISFIT;
}

// Verdict on a parameter, in a word. A fit that did not converge gives none, and an answer far from
// the measurements is unsure.
static const char* rgVerdict(const rgIdentifyJob* job, int i, const rgParameterEstimate* p) {
    return !rgIdentification_Info(job->answer).converged        ? "not known"
           : p->determined < 0.5                                ? "no"
           : rgIsOpenTogether(job, i)                           ? "together"
           : p->determined < 0.9 || !rgIdentifyJob_IsSound(job) ? "weakly"
                                                                : "yes";
}

bool rgIdentifyJob_IsDetermined(const rgIdentifyJob* job) {
    bool good =
        rgIdentifyJob_IsSound(job) && rgIdentification_Info(job->answer).undeterminedCount == 0;
    for (int i = 0; i < job->parameterCount; ++i) {
        good = good && !rgIsOpenTogether(job, i);
    }
    return good;
}

// Fields of joints have two units, that of slides before that of hinges; a parameter of one joint
// has one of them.
static const char* rgUnitOf(const rgIdentifyJob* job, const rgParameterEstimate* p, int* length) {
    const char* comma = strstr(p->unit, ", ");
    const char* slash = strrchr(p->name, '/');
    *length = (int)strlen(p->unit);
    if (comma == NULL || slash == NULL || strncmp(p->name, "joint/", 6) != 0) {
        return p->unit;
    }
    char* name = rgCli_Format("%.*s", (int)(slash - p->name - 6), p->name + 6);
    const rgModelDef* def = job->loaded.def;
    rgJointId joint = rgModelDef_FindJoint(def, name);
    free(name);
    if (joint.index1 == 0) {
        return p->unit;
    }
    bool slides = rgModelDef_Joint(def, joint)->kind == rg_jointPrismatic;
    *length = slides ? (int)(comma - p->unit) : (int)strlen(comma + 2);
    return slides ? p->unit : comma + 2;
}

static void rgPrintParameters(const rgIdentifyJob* job) {
    static const char* const headers[] = {"parameter", "unit",          "start",    "found",
                                          "+-",        "95 % interval", "of range", "determined"};
    rgTable table;
    rgTable_Init(&table, headers, 8);
    bool bound = false;
    for (int i = 0; i < job->parameterCount; ++i) {
        rgParameterEstimate p = rgIdentification_Parameter(job->answer, i);
        rgTable_Add(&table, "%s", p.name);
        int length = 0;
        const char* unit = rgUnitOf(job, &p, &length);
        rgTable_Add(&table, "%.*s", length, unit);
        rgTable_Add(&table, "%.5g", p.start);
        rgTable_Add(&table, "%.5g%s", p.value, p.atBound ? "*" : "");
        if (isnan(p.deviation)) {
            rgTable_Add(&table, "-");
            rgTable_Add(&table, "-");
        } else {
            rgTable_Add(&table, "%.2g", p.deviation);
            rgTable_Add(&table, "%.4g to %.4g", p.lower, p.upper);
        }
        rgTable_Add(&table, "%.0f %%", 100 * p.determined);
        rgTable_Add(&table, "%s", rgVerdict(job, i, &p));
        bound = bound || p.atBound;
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
    if (bound) {
        printf("* at a bound\n");
    }
}

// Combinations of parameters that the motions leave open.
static void rgPrintDirections(const rgIdentifyJob* job) {
    for (int j = 0; j < job->parameterCount; ++j) {
        const double* direction = rgOpenDirection(job, j);
        if (direction == NULL) {
            continue;
        }
        printf("open:");
        for (int i = 0; i < job->parameterCount; ++i) {
            if (fabs(direction[i]) > RG_OPEN_SHARE) {
                rgCli_Print(stdout, " %+.2f %s", direction[i],
                            rgIdentification_Parameter(job->answer, i).name);
            }
        }
        printf("  (in widths of the bounds)\n");
    }
}

static void rgAddErrors(rgTable* table, const char* what, const rgMotionError* e, double length) {
    rgTable_Add(table, "%s", what);
    if (isnan(e->position)) {
        rgTable_Add(table, "-");
    } else if (length > 0) {
        rgTable_Add(table, "%.2f %%", 100 * e->position / length);
    } else {
        rgTable_Add(table, "%.3f mm", 1000 * e->position);
    }
    if (isnan(e->rotation)) {
        rgTable_Add(table, "-");
    } else {
        rgTable_Add(table, "%.2f deg", RG_DEGREES * e->rotation);
    }
    if (isnan(e->coordinate)) {
        rgTable_Add(table, "-");
    } else {
        rgTable_Add(table, "%.4g", e->coordinate);
    }
    rgTable_Add(table, "%.4g", e->cost);
}

static void rgPrintErrors(const rgIdentifyJob* job, const rgIdentificationInfo* info) {
    static const char* const headers[] = {"mean errors", "position", "rotation", "coordinates",
                                          "cost"};
    const rgIdentifyDef* def = &job->options.def;
    double length = job->options.length;
    bool starts = def->startPosition > 0 || def->startRotation > 0 || def->startVelocity > 0 ||
                  def->startRate > 0;
    rgTable table;
    rgTable_Init(&table, headers, 5);
    rgAddErrors(&table, "start values", &info->before, length);
    rgAddErrors(&table, "found", &info->after, length);
    if (starts) {
        rgAddErrors(&table, "found, starts too", &info->adapted, length);
    }
    if (info->foldCount > 0) {
        rgAddErrors(&table, "held out", &info->heldOut, length);
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

void rgIdentifyJob_Print(const rgIdentifyJob* job) {
    rgIdentificationInfo info = rgIdentification_Info(job->answer);
    printf("%d parameters from %d motions, %d simulations%s\n\n", info.parameterCount,
           info.motionCount, info.simulationCount,
           info.converged ? "" : "; not converged: more --refine may help");
    rgPrintParameters(job);
    rgPrintDirections(job);
    putchar('\n');
    rgPrintErrors(job, &info);
    double misfit = rgIdentifyJob_Misfit(job);
    if (misfit > RG_IDENTIFY_MISFIT) {
        printf("the errors are %.2g times those of --noise: %s\n", misfit,
               job->options.startNoise == NULL
                   ? "if starts have noise or no velocities, --start-noise fits them, too"
                   : "the model, --noise or --start-noise does not fit them");
    }
    if (info.foldCount > 0) {
        printf("held out: each motion predicted from its recorded start, with values found without "
               "its fold of %d\n",
               info.foldCount);
    }
    if (job->options.out != NULL) {
        printf("written to %s\n", job->options.out);
    }
}

// ---- JSON

static void rgJsonErrors(rgJson* json, const char* key, const rgMotionError* e) {
    rgJson_BeginObject(json, key);
    rgJson_Number(json, "position", e->position);
    rgJson_Number(json, "rotation", e->rotation);
    rgJson_Number(json, "coordinate", e->coordinate);
    rgJson_Number(json, "cost", e->cost);
    rgJson_EndObject(json);
}

static void rgJsonParameters(rgJson* json, const rgIdentifyJob* job) {
    int folds = rgIdentification_Info(job->answer).foldCount;
    rgJson_BeginArray(json, "parameters");
    for (int i = 0; i < job->parameterCount; ++i) {
        rgParameterEstimate p = rgIdentification_Parameter(job->answer, i);
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "name", p.name);
        int length = 0;
        const char* text = rgUnitOf(job, &p, &length);
        char* unit = rgCli_Format("%.*s", length, text);
        rgJson_String(json, "unit", unit);
        free(unit);
        rgJson_Number(json, "start", p.start);
        rgJson_Number(json, "value", p.value);
        rgJson_Number(json, "deviation", p.deviation);
        rgJson_Number(json, "lower", p.lower);
        rgJson_Number(json, "upper", p.upper);
        rgJson_Number(json, "determined", p.determined);
        rgJson_Bool(json, "at_bound", p.atBound);
        rgJson_BeginArray(json, "folds");
        for (int f = 0; f < folds; ++f) {
            rgJson_Number(json, NULL, rgIdentification_FoldValue(job->answer, f, i));
        }
        rgJson_EndArray(json);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
}

static void rgJsonDirections(rgJson* json, const rgIdentifyJob* job) {
    rgJson_BeginArray(json, "directions");
    for (int j = 0; j < job->parameterCount; ++j) {
        double strength = 0;
        const double* direction = rgIdentification_Direction(job->answer, j, &strength);
        rgJson_BeginObject(json, NULL);
        rgJson_Number(json, "strength", strength);
        rgJson_BeginArray(json, "vector");
        for (int i = 0; i < job->parameterCount; ++i) {
            rgJson_Number(json, NULL, direction[i]);
        }
        rgJson_EndArray(json);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
}

void rgIdentifyJob_PrintJson(const rgIdentifyJob* job) {
    rgIdentificationInfo info = rgIdentification_Info(job->answer);
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_Int(&json, "motions", info.motionCount);
    rgJson_Int(&json, "folds", info.foldCount);
    rgJson_Int(&json, "simulations", info.simulationCount);
    rgJson_Bool(&json, "converged", info.converged);
    rgJson_Number(&json, "misfit", rgIdentifyJob_Misfit(job));
    rgJson_Bool(&json, "all_determined", rgIdentifyJob_IsDetermined(job));
    rgJson_Int(&json, "undetermined", info.undeterminedCount);
    rgJson_Number(&json, "cost_before", info.costBefore);
    rgJson_Number(&json, "cost", info.cost);
    rgJsonParameters(&json, job);
    rgJsonDirections(&json, job);
    rgJson_BeginObject(&json, "errors");
    rgJsonErrors(&json, "before", &info.before);
    rgJsonErrors(&json, "after", &info.after);
    rgJsonErrors(&json, "adapted", &info.adapted);
    rgJsonErrors(&json, "held_out", &info.heldOut);
    rgJson_EndObject(&json);
    rgJson_EndObject(&json);
}

// ---- errors of each motion

bool rgIdentifyJob_WriteMotions(const rgIdentifyJob* job) {
    static const char* const headers[] = {"motion",
                                          "fold",
                                          "samples",
                                          "position_before",
                                          "rotation_before",
                                          "position_after",
                                          "rotation_after",
                                          "position_held_out",
                                          "rotation_held_out",
                                          "coordinate_before",
                                          "coordinate_after",
                                          "coordinate_held_out"};
    rgOutput output;
    if (!rgOutput_Open(&output, job->options.motionsCsv)) {
        return false;
    }
    rgTable table;
    rgTable_Init(&table, headers, 12);
    for (int i = 0; i < job->motionCount; ++i) {
        rgMotionEstimate m = rgIdentification_Motion(job->answer, i);
        rgTable_Add(&table, "%s", m.name);
        rgTable_Add(&table, "%d", m.fold);
        rgTable_Add(&table, "%d", m.sampleCount);
        const double numbers[] = {m.before.position,   m.before.rotation,  m.after.position,
                                  m.after.rotation,    m.heldOut.position, m.heldOut.rotation,
                                  m.before.coordinate, m.after.coordinate, m.heldOut.coordinate};
        for (int k = 0; k < 9; ++k) {
            if (isnan(numbers[k])) {
                rgTable_Add(&table, "%s", "");
            } else {
                rgTable_Add(&table, "%.9g", numbers[k]);
            }
        }
    }
    rgTable_PrintCsv(&table, output.file);
    rgTable_Free(&table);
    return rgOutput_Close(&output, true);
}

void rgPrintParameterFields(void) {
    static const char* const headers[] = {"parameter", "unit", "meaning"};
    rgTable table;
    rgTable_Init(&table, headers, 3);
    rgParameterField field;
    for (int i = 0; rgParameterFieldAt(i, &field); ++i) {
        rgTable_Add(&table, field.field[0] != '\0' ? "%s/NAME/%s" : "%s", field.kind, field.field);
        rgTable_Add(&table, "%s", field.unit);
        rgTable_Add(&table, "%s", field.meaning);
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}
