// MJCF <option>: parts of the motion that a file switches off. They are removed from the definition
// after all of it is read.
#include "io/mjcf.h"

#include <string.h>

static const char* const switchNames[rg_mjSwitchCount] = {
    [rg_mjSwitchConstraint] = "constraint", [rg_mjSwitchEquality] = "equality",
    [rg_mjSwitchFriction] = "frictionloss", [rg_mjSwitchLimit] = "limit",
    [rg_mjSwitchContact] = "contact",       [rg_mjSwitchPassive] = "passive",
    [rg_mjSwitchSpring] = "spring",         [rg_mjSwitchDamper] = "damper",
    [rg_mjSwitchGravity] = "gravity",       [rg_mjSwitchClamp] = "clampctrl",
    [rg_mjSwitchActuation] = "actuation",   [rg_mjSwitchParent] = "filterparent",
};

void rgMjcf_ReadFlags(rgMjcf* m, const rgXmlNode* node) {
    // Others concern MuJoCo's own solver or its reports.
    static const char* const known[] = {
        "constraint",  "equality", "frictionloss", "limit",     "contact",   "passive",
        "spring",      "damper",   "gravity",      "clampctrl", "actuation", "filterparent",
        "warmstart",   "refsafe",  "sensor",       "midphase",  "eulerdamp", "autoreset",
        "nativeccd",   "island",   "override",     "energy",    "fwdinv",    "invdiscrete",
        "sensornoise", "multiccd", "sleep",        "diagexact", NULL};
    static const rgXmlWord words[] = {{"disable", 0}, {"enable", 1}, {NULL, 0}};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    for (int i = 0; i < rg_mjSwitchCount; ++i) {
        int on = !m->isOff[i];
        rgXmlReader_Word(&m->reader, node, switchNames[i], words, &on);
        m->isOff[i] = !on;
    }
    int on = 0;
    if (rgXmlReader_Word(&m->reader, node, "override", words, &on) && on) {
        rgXmlReader_Warn(&m->reader, node,
                         "<flag override>: is not supported; contacts keep their own margin, "
                         "solref, solimp and friction");
    }
    on = 1;
    if (rgXmlReader_Word(&m->reader, node, "sensor", words, &on) && !on) {
        rgXmlReader_Warn(&m->reader, node,
                         "<flag sensor>: 'disable' is not supported; sensors keep measuring");
    }
}

static bool rgMjcf_IsOff(const rgMjcf* m, rgMjSwitch a, rgMjSwitch b) {
    return m->isOff[a] || m->isOff[b];
}

static void rgMjcf_SwitchJoints(rgMjcf* m) {
    bool limits = !rgMjcf_IsOff(m, rg_mjSwitchConstraint, rg_mjSwitchLimit);
    bool friction = !rgMjcf_IsOff(m, rg_mjSwitchConstraint, rg_mjSwitchFriction);
    bool springs = !rgMjcf_IsOff(m, rg_mjSwitchPassive, rg_mjSwitchSpring);
    bool dampers = !rgMjcf_IsOff(m, rg_mjSwitchPassive, rg_mjSwitchDamper);
    for (int i = 0; i < m->def->jointCount; ++i) {
        rgJointDef* joint = &m->def->joints[i];
        joint->hasLimits = joint->hasLimits && limits;
        joint->dryFriction = friction ? joint->dryFriction : 0;
        joint->stiffness = springs ? joint->stiffness : 0;
        joint->damping = dampers ? joint->damping : 0;
    }
    for (int i = 0; i < m->def->tendonCount; ++i) {
        rgTendonDef* tendon = &m->def->tendons[i];
        tendon->hasLimits = tendon->hasLimits && limits;
        tendon->dryFriction = friction ? tendon->dryFriction : 0;
        tendon->stiffness = springs ? tendon->stiffness : 0;
        tendon->damping = dampers ? tendon->damping : 0;
    }
}

static void rgMjcf_SwitchActuators(rgMjcf* m) {
    for (int i = 0; i < m->def->actuatorCount; ++i) {
        rgActuatorDef* actuator = &m->def->actuators[i];
        actuator->hasControlRange = actuator->hasControlRange && !m->isOff[rg_mjSwitchClamp];
        if (m->isOff[rg_mjSwitchActuation]) {
            actuator->gain = actuator->bias = actuator->kp = actuator->kd = 0;
            actuator->gainPosition = actuator->gainVelocity = 0;
            actuator->isMuscle = false;
        }
    }
}

// Parent and child may meet unless the parent is fixed to the world: as explicit pairs.
static void rgMjcf_PairParents(rgMjcf* m) {
    rgModelDef* def = m->def;
    for (int i = 0; i < def->shapeCount; ++i) {
        for (int k = 0; k < def->shapeCount; ++k) {
            const rgShapeDef *a = &def->shapes[i], *b = &def->shapes[k];
            bool linked = a->body.index1 > 0 && b->body.index1 > 0 &&
                          def->bodies[b->body.index1 - 1].parent.index1 == a->body.index1;
            bool masks = (a->group & b->mask) != 0 || (b->group & a->mask) != 0;
            if (linked && masks && !isinf(rgMjcf_TreeMass(m, a->body))) {
                rgMjcf_Check(m,
                             rgModelDef_AddPair(def, (rgShapeId){i + 1}, (rgShapeId){k + 1}, NULL));
            }
        }
    }
}

static void rgMjcf_SwitchContacts(rgMjcf* m) {
    if (rgMjcf_IsOff(m, rg_mjSwitchConstraint, rg_mjSwitchContact)) {
        m->def->pairCount = 0;
        for (int i = 0; i < m->def->shapeCount; ++i) {
            m->def->shapes[i].visualOnly = true;
        }
        return;
    }
    if (m->collision == rg_mjCollideMasks) {
        m->def->pairCount = 0;
    }
    for (int i = 0; m->collision == rg_mjCollidePairs && i < m->def->shapeCount; ++i) {
        m->def->shapes[i].group = 0;
        m->def->shapes[i].mask = 0;
    }
    if (m->isOff[rg_mjSwitchParent]) {
        rgMjcf_PairParents(m);
    }
}

void rgMjcf_Switch(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    rgMjcf_SwitchJoints(m);
    rgMjcf_SwitchActuators(m);
    rgMjcf_SwitchContacts(m);
    for (int i = 0; i < m->def->equalityCount; ++i) {
        m->def->equalities[i].disabled =
            m->def->equalities[i].disabled ||
            rgMjcf_IsOff(m, rg_mjSwitchConstraint, rg_mjSwitchEquality);
    }
    if (m->isOff[rg_mjSwitchGravity]) {
        m->def->options.gravity = rgVec(0, 0, 0);
        m->def->options.hasGravity = true;
    }
}
