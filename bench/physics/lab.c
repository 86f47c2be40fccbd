// Worlds for experiments, from a few lines of MJCF.
#include "physics.h"

static rgLab rgLab_Make(const rgWorldDef* def, rgModelDef* model, rgDiagnostics* said) {
    rgLab lab = {.def = model};
    if (rgCompileModel(model, NULL, said, &lab.model) == rg_ok) {
        rgCreateWorld(lab.model, def, said, &lab.world);
    }
    return lab;
}

static void rgPrintErrors(const rgDiagnostics* said) {
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        rgMessage message = rgDiagnostics_Message(said, i);
        if (message.severity == rg_severityError) {
            fprintf(stderr, "rigor: experiment: %s\n", message.text);
        }
    }
}

rgLab rgLab_OpenDef(const rgWorldDef* def, rgModelDef* model) {
    rgDiagnostics* said = NULL;
    if (rgCreateDiagnostics(NULL, &said) != rg_ok) {
        return (rgLab){.def = model};
    }
    rgLab lab = rgLab_Make(def, model, said);
    if (lab.world == NULL) {
        rgPrintErrors(said);
    }
    rgDestroyDiagnostics(said);
    return lab;
}

rgLab rgLab_Open(const rgWorldDef* def, const char* format, ...) {
    enum { capacity = 1 << 17 };
    rgLab lab = {0};
    char* text = malloc(capacity);
    rgDiagnostics* said = NULL;
    if (text == NULL || rgCreateDiagnostics(NULL, &said) != rg_ok) {
        free(text);
        return lab;
    }
    va_list arguments;
    int used = snprintf(text, capacity,
                        "<mujoco><option timestep='0.001'/><compiler "
                        "angle='radian'/><default><geom friction='0.5 0 0'/>"
                        "</default>");
    va_start(arguments, format);
    used += vsnprintf(text + used, (size_t)(capacity - used), format, arguments);
    va_end(arguments);
    if (used < capacity - 16) {
        used += snprintf(text + used, (size_t)(capacity - used), "</mujoco>");
        rgModelDef* model = NULL;
        if (rgParseMjcf(text, (size_t)used, "experiment", NULL, said, &model) == rg_ok) {
            lab = rgLab_Make(def, model, said);
        }
    }
    if (lab.world == NULL) {
        rgPrintErrors(said);
    }
    rgDestroyDiagnostics(said);
    free(text);
    return lab;
}

void rgLab_Close(rgLab* lab) {
    rgDestroyWorld(lab->world);
    rgDestroyModel(lab->model);
    rgDestroyModelDef(lab->def);
    *lab = (rgLab){0};
}

bool rgLab_Run(rgLab* lab, double seconds) {
    if (lab->world == NULL) {
        return false;
    }
    int steps = (int)lround(seconds / rgWorld_TimeStep(lab->world));
    bool good = true;
    for (int i = 0; good && i < steps; ++i) {
        good = rgWorld_Step(lab->world, NULL) == rg_ok;
    }
    return good;
}

rgBodyId rgLab_Body(const rgLab* lab, const char* name) {
    return rgModel_FindBody(lab->model, name);
}

rgVec3 rgLab_At(const rgLab* lab, const char* name) {
    return lab->world != NULL ? rgWorld_BodyPose(lab->world, rgLab_Body(lab, name)).p
                              : rgVec(NAN, NAN, NAN);
}

rgSpatial rgLab_Motion(const rgLab* lab, const char* name) {
    return lab->world != NULL ? rgWorld_BodyVelocity(lab->world, rgLab_Body(lab, name))
                              : (rgSpatial){{NAN, NAN, NAN}, {NAN, NAN, NAN}};
}

void rgLab_Throw(rgLab* lab, const char* name, rgVec3 linear, rgVec3 angular) {
    if (lab->world != NULL) {
        rgWorld_SetBodyVelocity(lab->world, rgLab_Body(lab, name), (rgSpatial){linear, angular});
    }
}

double rgLab_Energy(const rgLab* lab) {
    return lab->world != NULL
               ? rgWorld_KineticEnergy(lab->world) + rgWorld_PotentialEnergy(lab->world)
               : NAN;
}

rgWorldDef rgLab_Def(void) {
    rgWorldDef def = rgDefaultWorldDef();
    def.contact.tolerance = 1e-10;
    return def;
}

rgWorldDef rgLab_Tilted(double angle) {
    rgWorldDef def = rgLab_Def();
    def.hasGravity = true;
    def.gravity = rgVec(RG_GRAVITY * sin(angle), 0, -RG_GRAVITY * cos(angle));
    return def;
}

rgOutcome rgLab_Fail(void) {
    return (rgOutcome){NAN, NAN};
}

rgOutcome rgLab_Result(double expected, double measured) {
    return (rgOutcome){expected, measured};
}

double rgBisect(rgHoldsFcn* holds, double low, double high, int steps) {
    for (int i = 0; i < steps; ++i) {
        double middle = 0.5 * (low + high);
        bool good = holds(middle);
        low = good ? middle : low;
        high = good ? high : middle;
    }
    return 0.5 * (low + high);
}

rgEnergyLog rgEnergyLog_Begin(const rgLab* lab) {
    double now = rgLab_Energy(lab);
    return (rgEnergyLog){.start = now, .least = now};
}

void rgEnergyLog_Add(rgEnergyLog* log, const rgLab* lab) {
    double kinetic = rgWorld_KineticEnergy(lab->world);
    double now = kinetic + rgWorld_PotentialEnergy(lab->world);
    log->least = fmin(log->least, now);
    log->rise = fmax(log->rise, now - log->least);
    log->drift = fmax(log->drift, fabs(now - log->start));
    log->most = fmax(log->most, kinetic);
}
