// MJCF <tendon> and <actuator>.
#include "io/mjcf.h"

#include <string.h>

typedef struct rgMjTendon {
    int limited;
    double range[2];
    double frictionLoss, stiffness, damping;
    double springLength[2];
    int springCount;
} rgMjTendon;

void rgMjcf_ApplyTendon(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const char* const unsupported[] = {"margin", "armature", "actuatorfrcrange", NULL};
    rgXmlReader* r = &m->reader;
    rgMjTendon* t = value;
    rgMjcf_Unsupported(m, node, unsupported);
    rgXmlReader_Word(r, node, "limited", rgMjAutoWords, &t->limited);
    rgXmlReader_Doubles(r, node, "range", t->range, 2, 2);
    rgXmlReader_Double(r, node, "frictionloss", &t->frictionLoss);
    rgXmlReader_Double(r, node, "stiffness", &t->stiffness);
    rgXmlReader_Double(r, node, "damping", &t->damping);
    int count = rgXmlReader_Doubles(r, node, "springlength", t->springLength, 1, 2);
    t->springCount = RG_MAX(count, t->springCount);
}

// Joints and coefficients of a fixed tendon, in the arena.
static int rgMjcf_ReadTendonJoints(rgMjcf* m, const rgXmlNode* node, rgTendonDef* def,
                                   double* spring) {
    int count = 0;
    for (const rgXmlNode* j = rgXmlNode_Child(node, "joint"); j != NULL;
         j = rgXmlNode_Next(j, "joint")) {
        ++count;
    }
    rgJointId* joints = RG_TAKE(&m->arena, rgJointId, RG_MAX(count, 1));
    double* coefficients = RG_TAKE(&m->arena, double, RG_MAX(count, 1));
    if (joints == NULL || coefficients == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return 0;
    }
    int used = 0;
    for (const rgXmlNode* j = rgXmlNode_Child(node, "joint"); j != NULL;
         j = rgXmlNode_Next(j, "joint")) {
        int joint = rgMjcf_Lookup(m, &m->jointNames, j, "joint", "joint");
        coefficients[used] = 0;
        rgXmlReader_Required(&m->reader, j, "coef");
        rgXmlReader_Double(&m->reader, j, "coef", &coefficients[used]);
        if (joint >= 0) {
            joints[used].index1 = joint + 1;
            *spring += coefficients[used] * m->def->joints[joint].springReference;
            ++used;
        }
    }
    def->joints = joints;
    def->coefficients = coefficients;
    return used;
}

static void rgMjcf_SetTendonSpring(rgMjcf* m, const rgXmlNode* node, const rgMjTendon* t,
                                   double atReference, rgTendonDef* def) {
    double rest = t->springLength[0];
    if (t->springCount == 2 && t->springLength[1] != rest) {
        rgXmlReader_Warn(&m->reader, node,
                         "<fixed springlength>: a dead band is not supported; its middle is taken");
        rest = (rest + t->springLength[1]) / 2;
    }
    def->springReference = t->springCount == 0 || rest == -1 ? atReference : rest;
}

static void rgMjcf_ReadFixedTendon(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"tendon", NULL};
    static const char* const known[] = {"name",
                                        "class",
                                        "group",
                                        "limited",
                                        "range",
                                        "solreflimit",
                                        "solimplimit",
                                        "solreffriction",
                                        "solimpfriction",
                                        "margin",
                                        "frictionloss",
                                        "springlength",
                                        "stiffness",
                                        "damping",
                                        "armature",
                                        "actuatorfrclimited",
                                        "actuatorfrcrange",
                                        "user",
                                        NULL};
    static const char* const children[] = {"joint", NULL};
    rgMjTendon settings = {.limited = 2};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_CheckChildren(&m->reader, node, children);
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyTendon, &settings);
    rgMjcf_ApplyTendon(m, node, &settings);
    rgTendonDef def = rgDefaultTendonDef();
    double spring = 0;
    def.name = rgXmlNode_Attribute(node, "name");
    def.source = rgMjcf_Source(node);
    def.jointCount = rgMjcf_ReadTendonJoints(m, node, &def, &spring);
    def.hasLimits = rgMjcf_Limited(m, node, "range", settings.limited, settings.range);
    def.lower = settings.range[0];
    def.upper = settings.range[1];
    def.damping = settings.damping;
    def.dryFriction = settings.frictionLoss;
    def.stiffness = settings.stiffness;
    rgMjcf_SetTendonSpring(m, node, &settings, spring, &def);
    if (def.jointCount == 0) {
        rgXmlReader_Error(&m->reader, node, "<fixed>: has no joints");
        return;
    }
    rgMjNames_Add(m, &m->tendonNames, node, def.name, m->def->tendonCount);
    rgMjcf_Check(m, rgModelDef_AddTendon(m->def, &def, NULL));
}

void rgMjcf_ReadTendons(rgMjcf* m, const rgXmlNode* root) {
    static const char* const known[] = {"fixed", "spatial", NULL};
    for (const rgXmlNode* section = rgXmlNode_Child(root, "tendon"); section != NULL;
         section = rgXmlNode_Next(section, "tendon")) {
        rgXmlReader_CheckChildren(&m->reader, section, known);
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL); node != NULL;
             node = rgXmlNode_Next(node, NULL)) {
            if (strcmp(node->name, "fixed") == 0) {
                rgMjcf_ReadFixedTendon(m, node);
            } else if (strcmp(node->name, "spatial") == 0) {
                rgXmlReader_Warn(&m->reader, node,
                                 "<spatial> tendons are not supported; it is left out");
                rgMjNames_Add(m, &m->leftTendons, node, rgXmlNode_Attribute(node, "name"), 0);
            }
        }
    }
}

typedef enum rgMjDynamics {
    rg_mjDynNone,
    rg_mjDynIntegrator,
    rg_mjDynFilter,
    rg_mjDynOther
} rgMjDynamics;
typedef enum rgMjGain { rg_mjFixed, rg_mjAffine, rg_mjGainOther } rgMjGain;

typedef struct rgMjActuator {
    int ctrlLimited, forceLimited;
    double ctrlRange[2], forceRange[2];
    double gear[6], gain[10], bias[10];
    int dynamics, gainType;
    bool hasBias;
    double inheritRange, dampRatio;
    int group;
} rgMjActuator;

static void rgMjcf_ApplyGeneral(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    static const rgXmlWord dynamics[] = {{"none", rg_mjDynNone},
                                         {"integrator", rg_mjDynIntegrator},
                                         {"filter", rg_mjDynFilter},
                                         {"filterexact", rg_mjDynFilter},
                                         {"muscle", rg_mjDynOther},
                                         {"user", rg_mjDynOther},
                                         {NULL, 0}};
    static const rgXmlWord gains[] = {{"fixed", rg_mjFixed},
                                      {"affine", rg_mjAffine},
                                      {"muscle", rg_mjGainOther},
                                      {"user", rg_mjGainOther},
                                      {NULL, 0}};
    static const rgXmlWord biases[] = {
        {"none", 0}, {"affine", 1}, {"muscle", 2}, {"user", 2}, {NULL, 0}};
    int bias = a->hasBias;
    rgXmlReader_Word(&m->reader, node, "dyntype", dynamics, &a->dynamics);
    rgXmlReader_Word(&m->reader, node, "gaintype", gains, &a->gainType);
    if (rgXmlReader_Word(&m->reader, node, "biastype", biases, &bias)) {
        a->hasBias = bias == 1;
        a->gainType = bias == 2 ? rg_mjGainOther : a->gainType;
    }
    rgXmlReader_Doubles(&m->reader, node, "gainprm", a->gain, 1, 10);
    rgXmlReader_Doubles(&m->reader, node, "biasprm", a->bias, 1, 10);
}

// Shortcuts set the same fields as <general>.
static void rgMjcf_ApplyPosition(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double time = 0, kv = 0;
    double kp = a->gain[0];
    rgXmlReader_Double(&m->reader, node, "kp", &kp);
    a->gain[0] = kp;
    a->gainType = rg_mjFixed;
    a->hasBias = true;
    a->bias[1] = -kp;
    bool hasDamping = rgXmlReader_Double(&m->reader, node, "kv", &kv);
    bool hasRatio = rgXmlReader_Double(&m->reader, node, "dampratio", &a->dampRatio);
    if (hasDamping && hasRatio) {
        rgXmlReader_Error(&m->reader, node, "<position>: has both kv and dampratio");
    }
    a->bias[2] = hasDamping ? -kv : hasRatio ? 0 : a->bias[2];
    a->dampRatio = hasDamping ? 0 : a->dampRatio;
    rgXmlReader_Double(&m->reader, node, "inheritrange", &a->inheritRange);
    if (rgXmlReader_Double(&m->reader, node, "timeconst", &time) && time > 0) {
        a->dynamics = rg_mjDynFilter;
    }
}

static void rgMjcf_ApplyVelocity(rgMjcf* m, const rgXmlNode* node, rgMjActuator* a) {
    double kv = a->gain[0];
    rgXmlReader_Double(&m->reader, node, "kv", &kv);
    a->gain[0] = kv;
    a->gainType = rg_mjFixed;
    a->hasBias = true;
    a->bias[0] = 0;
    a->bias[1] = 0;
    a->bias[2] = -kv;
}

static void rgMjcf_ApplyMotor(rgMjActuator* a) {
    memset(a->gain, 0, sizeof(a->gain));
    memset(a->bias, 0, sizeof(a->bias));
    a->gain[0] = 1;
    a->gainType = rg_mjFixed;
    a->hasBias = false;
    a->dynamics = rg_mjDynNone;
}

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
                                            "inheritrange", NULL};

void rgMjcf_ApplyActuator(rgMjcf* m, const rgXmlNode* node, void* value) {
    rgXmlReader* r = &m->reader;
    rgMjActuator* a = value;
    rgXmlReader_CheckAttributes(r, node, actuatorKnown);
    rgXmlReader_Word(r, node, "ctrllimited", rgMjAutoWords, &a->ctrlLimited);
    rgXmlReader_Word(r, node, "forcelimited", rgMjAutoWords, &a->forceLimited);
    rgXmlReader_Doubles(r, node, "ctrlrange", a->ctrlRange, 2, 2);
    rgXmlReader_Doubles(r, node, "forcerange", a->forceRange, 2, 2);
    rgXmlReader_Doubles(r, node, "gear", a->gear, 1, 6);
    rgXmlReader_Int(r, node, "group", &a->group);
    if (strcmp(node->name, "position") == 0) {
        rgMjcf_ApplyPosition(m, node, a);
    } else if (strcmp(node->name, "velocity") == 0) {
        rgMjcf_ApplyVelocity(m, node, a);
    } else if (strcmp(node->name, "motor") == 0) {
        rgMjcf_ApplyMotor(a);
    } else {
        rgMjcf_ApplyGeneral(m, node, a);
    }
}

// What the actuator acts on. False: it is left out (told).
static bool rgMjcf_SetTarget(rgMjcf* m, const rgXmlNode* node, rgActuatorDef* def) {
    if (rgXmlNode_Attribute(node, "joint") != NULL) {
        def->joint.index1 = rgMjcf_Lookup(m, &m->jointNames, node, "joint", "joint") + 1;
        return def->joint.index1 > 0;
    }
    if (rgXmlNode_Attribute(node, "jointinparent") != NULL) {
        int joint = rgMjcf_Lookup(m, &m->jointNames, node, "jointinparent", "joint");
        def->joint.index1 = joint + 1;
        if (joint >= 0 && (m->def->joints[joint].kind == rg_jointSpherical ||
                           m->def->joints[joint].kind == rg_jointFree)) {
            rgXmlReader_Warn(&m->reader, node,
                             "<%s jointinparent>: forces act in the child's frame", node->name);
        }
        return joint >= 0;
    }
    if (rgXmlNode_Attribute(node, "tendon") != NULL) {
        int tendon = rgMjcf_Lookup(m, &m->tendonNames, node, "tendon", "fixed tendon");
        def->tendon.index1 = tendon + 1;
        return tendon >= 0;
    }
    rgXmlReader_Warn(
        &m->reader, node,
        "<%s>: acts on neither joint nor tendon, which is not supported; it is left out",
        node->name);
    return false;
}

static bool rgMjcf_IsAffine(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a) {
    bool gainVaries = a->gainType == rg_mjAffine && (a->gain[1] != 0 || a->gain[2] != 0);
    if (a->gainType == rg_mjGainOther || gainVaries || a->dynamics == rg_mjDynOther ||
        a->dynamics == rg_mjDynIntegrator) {
        rgXmlReader_Warn(
            &m->reader, node,
            "<%s>: this kind of gain, bias or dynamics is not supported; it is left out",
            node->name);
        return false;
    }
    if (a->dynamics == rg_mjDynFilter) {
        rgXmlReader_Warn(&m->reader, node,
                         "<%s>: filters are not supported; the control acts at once", node->name);
    }
    return true;
}

static void rgMjcf_SetRanges(rgMjcf* m, const rgXmlNode* node, const rgMjActuator* a,
                             rgActuatorDef* def) {
    def->hasControlRange = rgMjcf_Limited(m, node, "ctrlrange", a->ctrlLimited, a->ctrlRange);
    def->controlLower = a->ctrlRange[0];
    def->controlUpper = a->ctrlRange[1];
    def->hasForceRange = rgMjcf_Limited(m, node, "forcerange", a->forceLimited, a->forceRange);
    def->forceLower = a->forceRange[0];
    def->forceUpper = a->forceRange[1];
    const rgJointDef* joint = def->joint.index1 > 0 ? &m->def->joints[def->joint.index1 - 1] : NULL;
    if (a->inheritRange > 0 && !def->hasControlRange && joint != NULL && joint->hasLimits) {
        double middle = (joint->lower + joint->upper) / 2, half = (joint->upper - joint->lower) / 2;
        def->hasControlRange = true;
        def->controlLower = middle - a->inheritRange * half;
        def->controlUpper = middle + a->inheritRange * half;
    }
}

// A positive third number of an affine bias is a damping ratio, where the actuator is a servo.
static void rgMjActuator_FindRatio(rgMjActuator* a) {
    bool servo = a->hasBias && a->gainType == rg_mjFixed && a->gain[0] == -a->bias[1];
    if (servo && a->bias[2] > 0) {
        a->dampRatio = a->bias[2];
        a->bias[2] = 0;
    }
}

static bool rgMjcf_MakeActuator(rgMjcf* m, const rgXmlNode* node, rgActuatorDef* def,
                                double* dampRatio) {
    static const char* const names[] = {"general", "motor", "position", "velocity", NULL};
    rgMjActuator a = {.ctrlLimited = 2, .forceLimited = 2, .gear = {1}, .gain = {1}};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyActuator, &a);
    rgMjcf_ApplyActuator(m, node, &a);
    if (!rgMjcf_SetTarget(m, node, def) || !rgMjcf_IsAffine(m, node, &a)) {
        return false;
    }
    rgMjActuator_FindRatio(&a);
    *dampRatio = a.dampRatio;
    def->name = rgXmlNode_Attribute(node, "name");
    def->source = rgMjcf_Source(node);
    memcpy(def->gear, a.gear, sizeof(def->gear));
    def->gain = a.gain[0];
    def->bias = a.hasBias ? a.bias[0] : 0;
    def->kp = a.hasBias ? -a.bias[1] : 0;
    def->kd = a.hasBias ? -a.bias[2] : 0;
    rgMjcf_SetRanges(m, node, &a, def);
    if (a.group >= 0 && a.group < 31 && (m->disabledGroups & (1u << a.group)) != 0) {
        def->gain = def->bias = def->kp = def->kd = *dampRatio = 0;
    }
    return true;
}

static bool rgMjcf_IsSupportedActuator(const char* name) {
    const char* const names[] = {"general", "motor", "position", "velocity"};
    for (int i = 0; i < RG_COUNT(names); ++i) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void rgMjcf_ReadActuator(rgMjcf* m, const rgXmlNode* node) {
    int* slot =
        rgMjcf_Grow(m, (void**)&m->controls, &m->controlCapacity, m->controlCount, sizeof(*slot));
    double* ratio = rgMjcf_Grow(m, (void**)&m->dampRatios, &m->dampCapacity, m->def->actuatorCount,
                                sizeof(*ratio));
    if (slot == NULL || ratio == NULL) {
        return;
    }
    *slot = -1;
    m->controlCount += 1;
    rgActuatorDef def = rgDefaultActuatorDef();
    if (!rgMjcf_IsSupportedActuator(node->name)) {
        rgXmlReader_Warn(&m->reader, node, "<%.60s> is not supported; the actuator is left out",
                         node->name);
    } else if (rgMjcf_MakeActuator(m, node, &def, ratio)) {
        *slot = m->def->actuatorCount;
        rgMjNames_Add(m, &m->actuatorNames, node, def.name, *slot);
        rgMjcf_Check(m, rgModelDef_AddActuator(m->def, &def, NULL));
        return;
    }
    rgMjNames_Add(m, &m->leftActuators, node, rgXmlNode_Attribute(node, "name"), 0);
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
