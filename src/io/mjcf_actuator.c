// MJCF <actuator>: every element is a <general> with some of its settings made.
#include "io/mjcf.h"

#include <math.h>
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
    double delay;
    int delayKind; // index of delayWords
    int group, stateSize;
    unsigned inputs;          // bits of rgMjInput; 0: one control
    double damping, armature; // of what it acts on
} rgMjActuator;

// Controls that an element has, in their order.
typedef enum rgMjInput {
    rg_mjInputPosition = 1,
    rg_mjInputVelocity = 2,
    rg_mjInputForce = 4,
    rg_mjInputVoltage = 8,
    rg_mjInputNone = 16,
} rgMjInput;

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

static void rgMjcf_ApplyAdhesion(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    rgXmlReader_Double(&m->reader, node, "gain", &a->gain[0]);
    a->gainLaw = a->biasLaw = rg_mjLawNone;
    a->activation = rg_activationNone;
}

// input="pos vel": controls by their names.
static void rgMjcf_ReadInputs(rgMjcf* m, const rgXmlNode* node, unsigned* inputs) {
    static const struct {
        const char* name;
        unsigned bit;
    } words[] = {{"pos", rg_mjInputPosition},
                 {"vel", rg_mjInputVelocity},
                 {"ff", rg_mjInputForce},
                 {"volt", rg_mjInputVoltage},
                 {"none", rg_mjInputNone}};
    const char* text = rgXmlNode_Attribute(node, "input");
    if (text == NULL) {
        return;
    }
    *inputs = 0;
    for (size_t length; *text != '\0'; text += length) {
        length = strspn(text, " \t\n");
        if (length > 0) {
            continue;
        }
        length = strcspn(text, " \t\n");
        unsigned bit = 0;
        for (int i = 0; i < RG_COUNT(words); ++i) {
            bool is = strlen(words[i].name) == length && strncmp(words[i].name, text, length) == 0;
            bit = is ? words[i].bit : bit;
        }
        if (bit == 0) {
            rgXmlReader_Error(&m->reader, node,
                              "<%s input>: '%.*s' is none of pos, vel, ff, volt, none", node->name,
                              (int)length, text);
            return;
        }
        *inputs |= bit;
    }
}

static void rgMjcf_WarnPart(rgMjcf* m, const rgXmlNode* node, const char* attribute,
                            const char* consequence) {
    double values[6] = {0};
    int count = rgXmlReader_Doubles(&m->reader, node, attribute, values, 1, 6);
    bool any = false;
    for (int i = 0; i < count; ++i) {
        any = any || values[i] != 0;
    }
    if (any) {
        rgXmlReader_Warn(&m->reader, node, "<%s %s> is not supported: %s", node->name, attribute,
                         consequence);
    }
}

// force = kp (u_pos - l) + kv (u_vel - l') + u_ff
static void rgMjcf_ApplyPid(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    rgMjcf_ApplyPosition(m, node, a);
    a->inputs = a->inputs == 0 ? rg_mjInputPosition | rg_mjInputVelocity : a->inputs;
    rgMjcf_ReadInputs(m, node, &a->inputs);
    rgMjcf_WarnPart(m, node, "ki", "the controller has no integral part");
    rgMjcf_WarnPart(m, node, "slewmax", "the target jumps");
}

// Without a controller the input is a voltage V: force = K/R (V - K l').
static void rgMjcf_ApplyDcMotor(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double constants[2] = {0}, nominal[3] = {0}, limits[3] = {0}, gains[6] = {0};
    double K = a->dynamics[8], R = a->dynamics[9]; // of the class
    int count = rgXmlReader_Doubles(&m->reader, node, "motorconst", constants, 1, 2);
    K = count == 2 ? sqrt(constants[0] * constants[1]) : count == 1 ? constants[0] : K;
    rgXmlReader_Double(&m->reader, node, "resistance", &R);
    if (rgXmlReader_Doubles(&m->reader, node, "nominal", nominal, 3, 3) > 0 && nominal[1] > 0 &&
        nominal[2] > 0) { // voltage, torque at rest, speed without load
        K = nominal[0] / nominal[2];
        R = K * nominal[0] / nominal[1];
    }
    a->dynamics[8] = K, a->dynamics[9] = R;
    a->inputs = a->inputs == 0 ? rg_mjInputVoltage : a->inputs;
    rgMjcf_ReadInputs(m, node, &a->inputs);
    a->gainLaw = rg_mjLawNone;
    a->biasLaw = rg_mjLawAffine;
    a->activation = rg_activationNone;
    bool controlled = (a->inputs & (rg_mjInputVoltage | rg_mjInputNone)) == 0;
    if (rgXmlReader_Doubles(&m->reader, node, "controller", gains, 1, 6) > 0 && controlled) {
        a->bias[1] = -gains[0];
        a->bias[2] = -gains[2];
        if (gains[1] != 0 || gains[3] != 0) {
            rgXmlReader_Warn(&m->reader, node,
                             "<dcmotor controller>: the integral part and the bound on the rate of "
                             "the target are not supported");
        }
    } else if (!controlled) {
        a->bias[2] = R > 0 ? -K * K / R : 0;
        a->gain[0] = R > 0 ? K / R : 0;
    }
    if (rgXmlReader_Doubles(&m->reader, node, "saturation", limits, 1, 3) > 0) {
        double most = limits[0] > 0 && limits[1] > 0 ? fmin(limits[0], K * limits[1])
                      : limits[0] > 0                ? limits[0]
                                                     : K * limits[1];
        if (most > 0) { // torque, or current
            a->forceRange[0] = -most, a->forceRange[1] = most;
            a->forceLimited = 1;
        }
        if (limits[2] > 0 && a->inputs == rg_mjInputVoltage) {
            rgXmlReader_Warn(&m->reader, node,
                             "<dcmotor saturation>: the voltage is limited by ctrlrange alone");
        }
    }
    rgMjcf_WarnPart(m, node, "inductance", "the current follows at once");
    rgMjcf_WarnPart(m, node, "cogging", "the torque does not depend on the angle");
    rgMjcf_WarnPart(m, node, "lugre", "friction is that of the joint");
    rgMjcf_WarnPart(m, node, "thermal", "the resistance is constant");
}

typedef void rgMjActuatorFcn(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a);
static const struct {
    const char* name;
    rgMjActuatorFcn* apply;
} rgMjActuators[] = {{"general", rgMjcf_ApplyGeneral},   {"motor", rgMjcf_ApplyMotor},
                     {"position", rgMjcf_ApplyPosition}, {"velocity", rgMjcf_ApplyVelocity},
                     {"damper", rgMjcf_ApplyDamper},     {"intvelocity", rgMjcf_ApplyIntVelocity},
                     {"cylinder", rgMjcf_ApplyCylinder}, {"muscle", rgMjcf_ApplyMuscle},
                     {"adhesion", rgMjcf_ApplyAdhesion}, {"pid", rgMjcf_ApplyPid},
                     {"dcmotor", rgMjcf_ApplyDcMotor}};

static const char* const actuatorKnown[] = {
    "name",         "class",        "group",       "nsample",    "interp",     "delay",
    "ctrllimited",  "forcelimited", "actlimited",  "ctrlrange",  "forcerange", "actrange",
    "lengthrange",  "gear",         "cranklength", "user",       "joint",      "jointinparent",
    "tendon",       "slidersite",   "cranksite",   "site",       "refsite",    "body",
    "actdim",       "dyntype",      "gaintype",    "biastype",   "dynprm",     "gainprm",
    "biasprm",      "actearly",     "kp",          "kv",         "dampratio",  "timeconst",
    "inheritrange", "area",         "diameter",    "bias",       "tausmooth",  "range",
    "force",        "scale",        "lmin",        "lmax",       "vmax",       "fpmax",
    "fvmax",        "damping",      "armature",    "ki",         "slewmax",    "gain",
    "input",        "motorconst",   "resistance",  "nominal",    "saturation", "inductance",
    "cogging",      "lugre",        "thermal",     "controller", NULL};

void rgMjcf_ApplyActuator(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const rgXmlWord delayWords[] = {{"zoh", 0}, {"linear", 1}, {"cubic", 2}, {NULL, 0}};
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
    rgXmlReader_Double(r, node, "delay", &a->delay);
    rgXmlReader_Word(r, node, "interp", delayWords, &a->delayKind);
    if (a->delayKind == 2 && a->delay > 0) {
        rgXmlReader_Warn(r, node, "<%s interp>: 'cubic' is not supported; 'linear' is taken",
                         node->name);
    }
    rgXmlReader_Double(r, node, "damping", &a->damping);
    rgXmlReader_Double(r, node, "armature", &a->armature);
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
    if (rgXmlNode_Attribute(node, "body") != NULL) {
        int body = rgMjcf_Lookup(m, &m->bodyNames, node, "body", "body");
        if (body >= 0) {
            def->frame = rgMjcf_AddOwnFrame(m, node, (rgBodyId){body}, rgPoseIdentity());
            def->isAdhesive = true;
        }
        return body >= 0;
    }
    rgXmlReader_Warn(
        &m->reader, node,
        "<%s>: acts on no joint, tendon, site or body, which is not supported; it keeps "
        "its control and does nothing",
        node->name);
    return false;
}

static bool rgMjcf_IsKnownLaw(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a) {
    bool half = (a->gainLaw == rg_mjLawMuscle) != (a->biasLaw == rg_mjLawMuscle);
    bool electric = (a->inputs & (rg_mjInputVoltage | rg_mjInputNone)) != 0;
    if (electric && !(a->dynamics[8] > 0 && a->dynamics[9] > 0)) {
        rgXmlReader_Error(&m->reader, node,
                          "<dcmotor>: motorconst and resistance are not positive (or nominal)");
        return false;
    }
    bool adheres = rgXmlNode_Attribute(node, "body") != NULL;
    half = half || (adheres && (a->gainLaw != rg_mjLawNone || a->biasLaw != rg_mjLawNone));
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
    def->delay = a->delay;
    def->delayIsContinuous = a->delayKind > 0;
    if (a->gainLaw == rg_mjLawMuscle || a->activation == rg_activationMuscle) {
        rgMjActuator_SetMuscle(a, def);
    }
}

// The element with its class.
static rgMjActuator rgMjcf_ParseActuator(rgMjcf* m, const rgXmlNode* node) {
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
    rgMjActuator_FindRatio(&a);
    return a;
}

// Gains of the controls, in their order. Returns how many there are.
static int rgMjActuator_InputGains(const rgMjActuator* a, double gains[3]) {
    int count = 0;
    if ((a->inputs & rg_mjInputPosition) != 0) {
        gains[count++] = -a->bias[1];
    }
    if ((a->inputs & rg_mjInputVelocity) != 0) {
        gains[count++] = -a->bias[2];
    }
    if ((a->inputs & rg_mjInputForce) != 0) {
        gains[count++] = 1;
    }
    if (count == 0 && (a->inputs & rg_mjInputNone) == 0) {
        gains[count++] = a->gain[0];
    }
    return count;
}

// Damping and armature that an actuator adds to what it acts on.
static void rgMjcf_AddRotor(rgMjcf* m, const rgXmlNode* node, const rgActuatorDef* def,
                            double damping, double armature) {
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    double square = def->gear[0] * def->gear[0];
    if (damping == 0 && armature == 0) {
        return;
    }
    if (joint >= 0 && (m->def->joints[joint].kind == rg_jointRevolute ||
                       m->def->joints[joint].kind == rg_jointPrismatic)) {
        m->def->joints[joint].damping += square * damping;
        m->def->joints[joint].armature += square * armature;
    } else if (tendon >= 0) {
        m->def->tendons[tendon].damping += square * damping;
        m->def->tendons[tendon].armature += square * armature;
    } else {
        rgXmlReader_Warn(&m->reader, node,
                         "<%s>: damping and armature of actuators are supported on hinges, slides "
                         "and tendons; they are left out",
                         node->name);
    }
}

static bool rgMjcf_MakeActuator(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a,
                                rgActuatorDef* def, rgMjReflected* reflected) {
    if (!rgMjcf_SetTarget(m, node, def) || !rgMjcf_IsKnownLaw(m, node, a)) {
        return false;
    }
    *reflected = (rgMjReflected){.dampRatio = a->dampRatio, .muscleScale = a->gain[3]};
    if (def->reference.index1 > 0 && (a->gear[3] != 0 || a->gear[4] != 0 || a->gear[5] != 0)) {
        rgXmlReader_Note(&m->reader, node,
                         "<%s refsite>: the rotation is that of the site against refsite, as a "
                         "vector in the axes of refsite; MuJoCo 2 takes it in another order",
                         node->name);
    }
    def->name = rgXmlNode_Attribute(node, "name");
    def->source = rgMjcf_Source(node);
    rgMjActuator_SetLaw(a, def);
    rgMjcf_SetRanges(m, node, a, def);
    rgMjcf_AddRotor(m, node, def, a->damping, a->armature);
    if (a->inputs == rg_mjInputNone) { // no control, hence no actuator
        rgMjcf_AddRotor(m, node, def, def->kd, 0);
    }
    if (a->group >= 0 && a->group < 31 && (m->disabledGroups & (1u << a->group)) != 0) {
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

static void rgMjcf_AddActuator(rgMjcf* m, const rgActuatorDef* def, rgMjReflected reflected) {
    rgMjReflected* place = rgMjcf_Grow(m, (void**)&m->reflected, &m->reflectedCapacity,
                                       m->def->actuatorCount, sizeof(*place));
    if (place != NULL) {
        *place = reflected;
        rgMjcf_Check(m, rgModelDef_AddActuator(m->def, def, NULL));
    }
}

// One actuator per control: the first has the feedback, and the limits.
static void rgMjcf_AddInputs(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a, bool made,
                             rgActuatorDef* def, rgMjReflected reflected) {
    double gains[3] = {0};
    int count = rgMjActuator_InputGains(a, gains);
    if (count > 1 && made && def->hasForceRange) {
        rgXmlReader_Warn(&m->reader, node,
                         "<%s forcerange>: limits the force of the first control and of the "
                         "feedback, not those of the other controls",
                         node->name);
    }
    for (int i = 0; i < count; ++i) {
        if (a->inputs != 0 && made) {
            def->gain = gains[i];
        }
        if (i > 0) {
            def->name = NULL;
            def->kp = def->kd = def->bias = 0;
            def->hasControlRange = def->hasForceRange = false;
            reflected.dampRatio = 0;
        } else {
            rgMjNames_Add(m, &m->actuatorNames, node, def->name, m->def->actuatorCount);
        }
        rgMjcf_AddActuator(m, def, reflected);
    }
}

static void rgMjcf_ReadActuator(rgMjcf* m, const rgXmlNode* node) {
    rgActuatorDef def = rgDefaultActuatorDef();
    rgMjReflected reflected = {0};
    int before = m->reader.errorCount;
    bool supported = rgMjcf_IsSupportedActuator(node->name);
    if (!supported) {
        rgXmlReader_Warn(
            &m->reader, node,
            "<%.60s> is not supported; the actuator keeps its control and does nothing",
            node->name);
    }
    rgMjActuator a = {0};
    if (supported) {
        a = rgMjcf_ParseActuator(m, node);
    }
    bool made = supported && rgMjcf_MakeActuator(m, node, &a, &def, &reflected);
    if (made || (m->reader.errorCount == before && rgMjcf_MakeIdle(m, node, &def, &reflected))) {
        rgMjcf_AddInputs(m, node, &a, made, &def, reflected);
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
