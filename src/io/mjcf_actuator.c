// MJCF <actuator>: every element is a <general> with some of its settings made.
#include "io/mjcf.h"

#include <string.h>

// Laws of gain and bias. Zero is an unsupported one, as "user".
typedef enum rgMjLaw { rg_mjLawOther, rg_mjLawNone, rg_mjLawAffine, rg_mjLawMuscle } rgMjLaw;

#define RG_NO_ACTIVATION (-1) // index of kinds that are not supported

typedef struct rgMjActuator {
    int ctrlLimited, forceLimited, actLimited;
    double ctrlRange[2], forceRange[2], actRange[2], lengthRange[2];
    double gear[6], gain[10], bias[10], dynamics[10];
    int activation; // rgActivationKind or RG_NO_ACTIVATION
    int gainLaw;    // fixed counts as none
    int biasLaw;
    double inheritRange, dampRatio, crankLength;
    bool early;
    int group, stateSize;
} rgMjActuator;

static void rgMjcf_ApplyGeneral(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    static const rgXmlWord dynamics[] = {{"none", rg_activationNone},
                                         {"integrator", rg_activationIntegrator},
                                         {"filter", rg_activationFilter},
                                         {"filterexact", rg_activationFilter},
                                         {"muscle", rg_activationMuscle},
                                         {"user", RG_NO_ACTIVATION},
                                         {NULL, 0}};
    static const rgXmlWord gains[] = {{"fixed", rg_mjLawNone},
                                      {"affine", rg_mjLawAffine},
                                      {"muscle", rg_mjLawMuscle},
                                      {"user", rg_mjLawOther},
                                      {NULL, 0}};
    static const rgXmlWord biases[] = {{"none", rg_mjLawNone},
                                       {"affine", rg_mjLawAffine},
                                       {"muscle", rg_mjLawMuscle},
                                       {"user", rg_mjLawOther},
                                       {NULL, 0}};
    rgXmlReader_Word(&m->reader, node, "dyntype", dynamics, &a->activation);
    rgXmlReader_Word(&m->reader, node, "gaintype", gains, &a->gainLaw);
    rgXmlReader_Word(&m->reader, node, "biastype", biases, &a->biasLaw);
    rgXmlReader_Doubles(&m->reader, node, "dynprm", a->dynamics, 1, 10);
    rgXmlReader_Doubles(&m->reader, node, "gainprm", a->gain, 1, 10);
    rgXmlReader_Doubles(&m->reader, node, "biasprm", a->bias, 1, 10);
}

static void rgMjcf_ApplyMotor(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    (void)m;
    (void)node;
    memset(a->gain, 0, sizeof(a->gain));
    memset(a->bias, 0, sizeof(a->bias));
    a->gain[0] = 1;
    a->gainLaw = a->biasLaw = rg_mjLawNone;
    a->activation = rg_activationNone;
}

static void rgMjcf_ApplyPosition(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double kv = 0;
    double kp = a->gain[0];
    rgXmlReader_Double(&m->reader, node, "kp", &kp);
    a->gain[0] = kp;
    a->gainLaw = rg_mjLawNone;
    a->biasLaw = rg_mjLawAffine;
    a->bias[1] = -kp;
    bool hasDamping = rgXmlReader_Double(&m->reader, node, "kv", &kv);
    bool hasRatio = rgXmlReader_Double(&m->reader, node, "dampratio", &a->dampRatio);
    if (hasDamping && hasRatio) {
        rgXmlReader_Error(&m->reader, node, "<%s>: has both kv and dampratio", node->name);
    }
    a->bias[2] = hasDamping ? -kv : hasRatio ? 0 : a->bias[2];
    a->dampRatio = hasDamping ? 0 : a->dampRatio;
    rgXmlReader_Double(&m->reader, node, "inheritrange", &a->inheritRange);
    if (rgXmlReader_Double(&m->reader, node, "timeconst", &a->dynamics[0])) {
        a->activation = a->dynamics[0] > 0 ? rg_activationFilter : rg_activationNone;
    }
}

static void rgMjcf_ApplyIntVelocity(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    rgMjcf_ApplyPosition(m, node, a);
    a->activation = rg_activationIntegrator;
}

static void rgMjcf_ApplyVelocity(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double kv = a->gain[0];
    rgXmlReader_Double(&m->reader, node, "kv", &kv);
    a->gain[0] = kv;
    a->gainLaw = rg_mjLawNone;
    a->biasLaw = rg_mjLawAffine;
    a->bias[0] = 0;
    a->bias[1] = 0;
    a->bias[2] = -kv;
}

// The control is a damping: force = -kv l' u.
static void rgMjcf_ApplyDamper(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double kv = a->gainLaw == rg_mjLawAffine && a->gain[2] != 0 ? -a->gain[2] : 1;
    rgXmlReader_Double(&m->reader, node, "kv", &kv);
    if (kv < 0) {
        rgXmlReader_Error(&m->reader, node, "<damper kv>: %g is negative", kv);
    }
    memset(a->gain, 0, sizeof(a->gain));
    a->gain[2] = -kv;
    a->gainLaw = rg_mjLawAffine;
    a->biasLaw = rg_mjLawNone;
}

static void rgMjcf_ApplyCylinder(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double diameter = 0;
    rgXmlReader_Double(&m->reader, node, "timeconst", &a->dynamics[0]);
    rgXmlReader_Doubles(&m->reader, node, "bias", a->bias, 3, 3);
    rgXmlReader_Double(&m->reader, node, "area", &a->gain[0]);
    if (rgXmlReader_Double(&m->reader, node, "diameter", &diameter)) {
        a->gain[0] = 0.25 * 3.14159265358979323846 * diameter * diameter;
    }
    a->activation = rg_activationFilter;
    a->gainLaw = rg_mjLawNone;
    a->biasLaw = rg_mjLawAffine;
}

// gain: range, force, scale, lmin, lmax, vmax, fpmax, fvmax
static void rgMjcf_ApplyMuscle(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    static const struct {
        const char* name;
        int at, count;
        double usual[2];
    } fields[] = {{"range", 0, 2, {0.75, 1.05}}, {"force", 2, 1, {-1}}, {"scale", 3, 1, {200}},
                  {"lmin", 4, 1, {0.5}},         {"lmax", 5, 1, {1.6}}, {"vmax", 6, 1, {1.5}},
                  {"fpmax", 7, 1, {1.3}},        {"fvmax", 8, 1, {1.2}}};
    bool fresh = a->gainLaw != rg_mjLawMuscle;
    for (int i = 0; i < RG_COUNT(fields); ++i) {
        double* values = a->gain + fields[i].at;
        if (fresh) {
            memcpy(values, fields[i].usual, (size_t)fields[i].count * sizeof(double));
        }
        rgXmlReader_Doubles(&m->reader, node, fields[i].name, values, fields[i].count,
                            fields[i].count);
    }
    if (fresh) {
        a->dynamics[0] = 0.01;
        a->dynamics[1] = 0.04;
        a->dynamics[2] = 0;
    }
    rgXmlReader_Doubles(&m->reader, node, "timeconst", a->dynamics, 2, 2);
    rgXmlReader_Double(&m->reader, node, "tausmooth", &a->dynamics[2]);
    a->activation = rg_activationMuscle;
    a->gainLaw = a->biasLaw = rg_mjLawMuscle;
}

typedef void rgMjActuatorFcn(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a);
static const struct {
    const char* name;
    rgMjActuatorFcn* apply;
} rgMjActuators[] = {{"general", rgMjcf_ApplyGeneral},   {"motor", rgMjcf_ApplyMotor},
                     {"position", rgMjcf_ApplyPosition}, {"velocity", rgMjcf_ApplyVelocity},
                     {"damper", rgMjcf_ApplyDamper},     {"intvelocity", rgMjcf_ApplyIntVelocity},
                     {"cylinder", rgMjcf_ApplyCylinder}, {"muscle", rgMjcf_ApplyMuscle}};

static const char* const actuatorKnown[] = {"name",         "class",
                                            "group",        "nsample",
                                            "interp",       "delay",
                                            "ctrllimited",  "forcelimited",
                                            "actlimited",   "ctrlrange",
                                            "forcerange",   "actrange",
                                            "lengthrange",  "gear",
                                            "cranklength",  "user",
                                            "joint",        "jointinparent",
                                            "tendon",       "slidersite",
                                            "cranksite",    "site",
                                            "refsite",      "body",
                                            "actdim",       "dyntype",
                                            "gaintype",     "biastype",
                                            "dynprm",       "gainprm",
                                            "biasprm",      "actearly",
                                            "kp",           "kv",
                                            "dampratio",    "timeconst",
                                            "inheritrange", "area",
                                            "diameter",     "bias",
                                            "tausmooth",    "range",
                                            "force",        "scale",
                                            "lmin",         "lmax",
                                            "vmax",         "fpmax",
                                            "fvmax",        NULL};

void rgMjcf_ApplyActuator(rgMjcf* m, const rgXmlNode* node, void* value) {
    rgXmlReader* r = &m->reader;
    rgMjActuator* a = value;
    rgXmlReader_CheckAttributes(r, node, actuatorKnown);
    rgXmlReader_Word(r, node, "ctrllimited", rgMjAutoWords, &a->ctrlLimited);
    rgXmlReader_Word(r, node, "forcelimited", rgMjAutoWords, &a->forceLimited);
    rgXmlReader_Word(r, node, "actlimited", rgMjAutoWords, &a->actLimited);
    rgXmlReader_Doubles(r, node, "ctrlrange", a->ctrlRange, 2, 2);
    rgXmlReader_Doubles(r, node, "forcerange", a->forceRange, 2, 2);
    rgXmlReader_Doubles(r, node, "actrange", a->actRange, 2, 2);
    rgXmlReader_Doubles(r, node, "lengthrange", a->lengthRange, 2, 2);
    rgXmlReader_Doubles(r, node, "gear", a->gear, 1, 6);
    rgXmlReader_Double(r, node, "cranklength", &a->crankLength);
    rgXmlReader_Int(r, node, "group", &a->group);
    rgXmlReader_Int(r, node, "actdim", &a->stateSize);
    rgMjcf_Flag(m, node, "actearly", &a->early);
    for (int i = 0; i < RG_COUNT(rgMjActuators); ++i) {
        if (strcmp(node->name, rgMjActuators[i].name) == 0) {
            rgMjActuators[i].apply(m, node, a);
        }
    }
}

static bool rgMjcf_FindSite(rgMjcf* m, const rgXmlNode* node, const char* attribute,
                            rgFrameId* frame) {
    frame->index1 = rgMjcf_Lookup(m, &m->siteNames, node, attribute, "site") + 1;
    return frame->index1 > 0;
}

// Set the transmission target of the actuator. False: it is left out (reported).
static bool rgMjcf_SetTarget(rgMjcf* m, const rgXmlNode* node, rgActuatorDef* def) {
    if (rgXmlNode_Attribute(node, "joint") != NULL) {
        def->joint.index1 = rgMjcf_Lookup(m, &m->jointNames, node, "joint", "joint") + 1;
        return def->joint.index1 > 0;
    }
    if (rgXmlNode_Attribute(node, "jointinparent") != NULL) {
        int joint = rgMjcf_Lookup(m, &m->jointNames, node, "jointinparent", "joint");
        def->joint.index1 = joint + 1;
        def->inParent = true;
        return joint >= 0;
    }
    if (rgXmlNode_Attribute(node, "tendon") != NULL) {
        int tendon = rgMjcf_Lookup(m, &m->tendonNames, node, "tendon", "tendon");
        def->tendon.index1 = tendon + 1;
        return tendon >= 0;
    }
    if (rgXmlNode_Attribute(node, "cranksite") != NULL) {
        return rgMjcf_FindSite(m, node, "cranksite", &def->frame) &&
               rgMjcf_FindSite(m, node, "slidersite", &def->slider);
    }
    if (rgXmlNode_Attribute(node, "site") != NULL) {
        return rgMjcf_FindSite(m, node, "site", &def->frame) &&
               (rgXmlNode_Attribute(node, "refsite") == NULL ||
                rgMjcf_FindSite(m, node, "refsite", &def->reference));
    }
    rgXmlReader_Warn(&m->reader, node,
                     "<%s>: acts on no joint, tendon or site, which is not supported; it keeps "
                     "its control and does nothing",
                     node->name);
    return false;
}

static bool rgMjcf_IsKnownLaw(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a) {
    bool half = (a->gainLaw == rg_mjLawMuscle) != (a->biasLaw == rg_mjLawMuscle);
    if (a->gainLaw == rg_mjLawOther || a->biasLaw == rg_mjLawOther || half ||
        a->activation == RG_NO_ACTIVATION || a->stateSize > 1) {
        rgXmlReader_Warn(&m->reader, node,
                         "<%s>: this kind of gain, bias or dynamics is not supported; it keeps "
                         "its control and does nothing",
                         node->name);
        return false;
    }
    return true;
}

// Range of a servo's target as a share of the range of its joint or tendon.
static void rgMjcf_InheritRange(const rgMjcf* m, const rgMjActuator* a, rgActuatorDef* def) {
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    const rgJointDef* joints = m->def->joints;
    const rgTendonDef* tendons = m->def->tendons;
    bool limited = joint >= 0 ? joints[joint].hasLimits : tendon >= 0 && tendons[tendon].hasLimits;
    bool integrates = def->activation == rg_activationIntegrator;
    bool* has = integrates ? &def->hasActivationRange : &def->hasControlRange;
    if (!limited || *has) {
        return;
    }
    double lower = joint >= 0 ? joints[joint].lower : tendons[tendon].lower;
    double upper = joint >= 0 ? joints[joint].upper : tendons[tendon].upper;
    double middle = (lower + upper) / 2, half = a->inheritRange * (upper - lower) / 2;
    *has = true;
    *(integrates ? &def->activationLower : &def->controlLower) = middle - half;
    *(integrates ? &def->activationUpper : &def->controlUpper) = middle + half;
}

static void rgMjcf_SetRanges(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a,
                             rgActuatorDef* def) {
    def->hasControlRange = rgMjcf_Limited(m, node, "ctrlrange", a->ctrlLimited, a->ctrlRange);
    def->controlLower = a->ctrlRange[0];
    def->controlUpper = a->ctrlRange[1];
    def->hasForceRange = rgMjcf_Limited(m, node, "forcerange", a->forceLimited, a->forceRange);
    def->forceLower = a->forceRange[0];
    def->forceUpper = a->forceRange[1];
    def->hasActivationRange = rgMjcf_Limited(m, node, "actrange", a->actLimited, a->actRange);
    def->activationLower = a->actRange[0];
    def->activationUpper = a->actRange[1];
    if (a->inheritRange > 0) {
        rgMjcf_InheritRange(m, a, def);
    }
    if (def->hasActivationRange && def->activation == rg_activationNone) {
        def->hasActivationRange = false; // MuJoCo refuses it; there is nothing to limit
    }
}

// A positive third number of an affine bias is a damping ratio, where the actuator is a servo.
static void rgMjActuator_FindRatio(rgMjActuator* a) {
    bool servo =
        a->biasLaw == rg_mjLawAffine && a->gainLaw == rg_mjLawNone && a->gain[0] == -a->bias[1];
    if (servo && a->bias[2] > 0) {
        a->dampRatio = a->bias[2];
        a->bias[2] = 0;
    }
}

static void rgMjActuator_SetMuscle(const rgMjActuator* a, rgActuatorDef* def) {
    const double* p = a->gain;
    def->isMuscle = a->gainLaw == rg_mjLawMuscle;
    if (def->isMuscle) {
        def->muscle = (rgMuscle){.range = {p[0], p[1]},
                                 .force = p[2],
                                 .lmin = p[4],
                                 .lmax = p[5],
                                 .vmax = p[6],
                                 .fpmax = p[7],
                                 .fvmax = p[8]};
        memcpy(def->muscle.lengthRange, a->lengthRange, sizeof(a->lengthRange));
    }
    def->muscle.activationTime = a->dynamics[0];
    def->muscle.deactivationTime = a->dynamics[1];
    def->muscle.smoothing = a->dynamics[2];
}

static void rgMjActuator_SetLaw(const rgMjActuator* a, rgActuatorDef* def) {
    bool affine = a->gainLaw == rg_mjLawAffine, biased = a->biasLaw == rg_mjLawAffine;
    memcpy(def->gear, a->gear, sizeof(def->gear));
    def->gain = a->gain[0];
    def->gainPosition = affine ? a->gain[1] : 0;
    def->gainVelocity = affine ? a->gain[2] : 0;
    def->bias = biased ? a->bias[0] : 0;
    def->kp = biased ? -a->bias[1] : 0;
    def->kd = biased ? -a->bias[2] : 0;
    def->activation = (rgActivationKind)a->activation;
    def->timeConstant = a->activation == rg_activationFilter ? a->dynamics[0] : 0;
    def->crankLength = def->slider.index1 > 0 ? a->crankLength : 0;
    def->early = a->early;
    if (a->gainLaw == rg_mjLawMuscle || a->activation == rg_activationMuscle) {
        rgMjActuator_SetMuscle(a, def);
    }
}

static bool rgMjcf_MakeActuator(rgMjcf* m, const rgXmlNode* node, rgActuatorDef* def,
                                rgMjReflected* reflected) {
    const char* names[RG_COUNT(rgMjActuators) + 1] = {NULL};
    for (int i = 0; i < RG_COUNT(rgMjActuators); ++i) {
        names[i] = rgMjActuators[i].name;
    }
    rgMjActuator a = {.ctrlLimited = 2,
                      .forceLimited = 2,
                      .actLimited = 2,
                      .gear = {1},
                      .gain = {1},
                      .dynamics = {1},
                      .gainLaw = rg_mjLawNone,
                      .biasLaw = rg_mjLawNone};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyActuator, &a);
    rgMjcf_ApplyActuator(m, node, &a);
    if (!rgMjcf_SetTarget(m, node, def) || !rgMjcf_IsKnownLaw(m, node, &a)) {
        return false;
    }
    rgMjActuator_FindRatio(&a);
    *reflected = (rgMjReflected){.dampRatio = a.dampRatio, .muscleScale = a.gain[3]};
    if (def->reference.index1 > 0 && (a.gear[3] != 0 || a.gear[4] != 0 || a.gear[5] != 0)) {
        rgXmlReader_Note(&m->reader, node,
                         "<%s refsite>: the rotation is that of the site against refsite, as a "
                         "vector in the axes of refsite; MuJoCo 2 takes it in another order",
                         node->name);
    }
    def->name = rgXmlNode_Attribute(node, "name");
    def->source = rgMjcf_Source(node);
    rgMjActuator_SetLaw(&a, def);
    rgMjcf_SetRanges(m, node, &a, def);
    if (a.group >= 0 && a.group < 31 && (m->disabledGroups & (1u << a.group)) != 0) {
        def->gain = def->gainPosition = def->gainVelocity = 0;
        def->bias = def->kp = def->kd = reflected->dampRatio = 0;
        def->isMuscle = false;
    }
    return true;
}

static bool rgMjcf_IsSupportedActuator(const char* name) {
    for (int i = 0; i < RG_COUNT(rgMjActuators); ++i) {
        if (strcmp(rgMjActuators[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool rgMjcf_IsIdle(const rgModelDef* def, const rgActuatorDef* actuator) {
    int frame = actuator->frame.index1 - 1;
    return frame >= 0 && def->frames[frame].body.index1 == 0 && actuator->gain == 0;
}

// Replace an unsupported actuator: it keeps its place among the controls, and acts on the world.
static bool rgMjcf_MakeIdle(rgMjcf* m, const rgXmlNode* node, rgActuatorDef* def,
                            rgMjReflected* reflected) {
    *def = rgDefaultActuatorDef();
    *reflected = (rgMjReflected){0};
    def->name = rgXmlNode_Attribute(node, "name");
    def->source = rgMjcf_Source(node);
    def->frame = rgMjcf_AddOwnFrame(m, node, (rgBodyId){0}, rgPoseIdentity());
    def->gain = 0;
    return def->frame.index1 > 0;
}

static void rgMjcf_ReadActuator(rgMjcf* m, const rgXmlNode* node) {
    rgMjReflected* reflected = rgMjcf_Grow(m, (void**)&m->reflected, &m->reflectedCapacity,
                                           m->def->actuatorCount, sizeof(*reflected));
    if (reflected == NULL) {
        return;
    }
    rgActuatorDef def = rgDefaultActuatorDef();
    int before = m->reader.errorCount;
    bool supported = rgMjcf_IsSupportedActuator(node->name);
    if (!supported) {
        rgXmlReader_Warn(
            &m->reader, node,
            "<%.60s> is not supported; the actuator keeps its control and does nothing",
            node->name);
    }
    bool made = supported && rgMjcf_MakeActuator(m, node, &def, reflected);
    if (made || (m->reader.errorCount == before && rgMjcf_MakeIdle(m, node, &def, reflected))) {
        rgMjNames_Add(m, &m->actuatorNames, node, def.name, m->def->actuatorCount);
        rgMjcf_Check(m, rgModelDef_AddActuator(m->def, &def, NULL));
    }
}

void rgMjcf_ReadActuators(rgMjcf* m, const rgXmlNode* root) {
    for (const rgXmlNode* section = rgXmlNode_Child(root, "actuator"); section != NULL;
         section = rgXmlNode_Next(section, "actuator")) {
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL);
             node != NULL && m->result == rg_ok; node = rgXmlNode_Next(node, NULL)) {
            rgMjcf_ReadActuator(m, node);
        }
    }
}
