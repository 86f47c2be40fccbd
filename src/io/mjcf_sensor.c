// MJCF <sensor>: the kinds that rigor has too. Those that it does not have warn and read zeros, so
// that the numbers of others keep their places.
#include "io/mjcf.h"

#include <string.h>

rgFrameId rgMjcf_AddOwnFrame(rgMjcf* m, const rgXmlNode* node, rgBodyId body, rgPose pose) {
    rgFrameId id = {0};
    rgFrameDef frame = rgDefaultFrameDef();
    frame.body = body;
    frame.pose = pose;
    frame.source = rgMjcf_Source(node);
    double* radius = rgMjcf_Grow(m, (void**)&m->siteSizes, &m->siteCapacity, m->def->frameCount,
                                 sizeof(*radius));
    if (radius != NULL) {
        *radius = 0;
        rgMjcf_Check(m, rgModelDef_AddFrame(m->def, &frame, &id));
    }
    return id;
}

// Object of a sensor, or the reference it is seen from: a frame, or the frame of a body.
typedef struct rgMjObject {
    rgFrameId frame;
    rgBodyId body;
} rgMjObject;

// "body" is the frame of the inertia, "xbody" that of the body.
static bool rgMjcf_SetInertialFrame(rgMjcf* m, const rgXmlNode* node, int body, bool turns,
                                    rgMjObject* object) {
    if (body == 0) {
        return true;
    }
    const rgMjBody* extra = &m->bodies[body - 1];
    if (turns && !extra->axesKnown) {
        rgXmlReader_Warn(
            &m->reader, node,
            "<%s>: MuJoCo's choice of the principal axes is unknown; the axes of the body are used",
            node->name);
    }
    rgPose pose = {.p = m->def->bodies[body - 1].inertia.center,
                   .q = extra->axesKnown ? extra->inertiaAxes : rgQuatIdentity()};
    object->frame = rgMjcf_AddOwnFrame(m, node, (rgBodyId){body}, pose);
    return object->frame.index1 > 0;
}

static bool rgMjcf_SetGeomFrame(rgMjcf* m, const rgXmlNode* node, int geom, rgMjObject* object) {
    const rgShapeDef* shape = &m->def->shapes[geom];
    if (shape->kind == rg_shapeHull) {
        rgXmlReader_Warn(
            &m->reader, node,
            "<%s>: the frame of a mesh geom is taken as written, not as MuJoCo centres it",
            node->name);
    }
    object->frame = rgMjcf_AddOwnFrame(m, node, shape->body, shape->pose);
    return object->frame.index1 > 0;
}

// Find an object by attributes such as objtype and objname.
static bool rgMjcf_FindObject(rgMjcf* m, const rgXmlNode* node, const char* typeName,
                              const char* name, bool turns, rgMjObject* object) {
    enum { onBody, onXbody, onGeom, onSite, onCamera };
    static const rgXmlWord types[] = {{"body", onBody}, {"xbody", onXbody},   {"geom", onGeom},
                                      {"site", onSite}, {"camera", onCamera}, {NULL, 0}};
    int type = -1;
    if (rgXmlReader_Required(&m->reader, node, typeName) == NULL ||
        !rgXmlReader_Word(&m->reader, node, typeName, types, &type)) {
        return false;
    }
    const rgMjNames* names = type == onGeom     ? &m->geomNames
                             : type == onSite   ? &m->siteNames
                             : type == onCamera ? &m->cameraNames
                                                : &m->bodyNames;
    int number = rgMjcf_Lookup(m, names, node, name,
                               type == onGeom     ? "geom"
                               : type == onSite   ? "site"
                               : type == onCamera ? "camera"
                                                  : "body");
    if (number < 0) {
        return false;
    }
    if (type == onGeom) {
        return rgMjcf_SetGeomFrame(m, node, number, object);
    }
    if (type == onSite || type == onCamera) {
        object->frame.index1 = number + 1;
    } else {
        object->body.index1 = number;
    }
    return type == onBody ? rgMjcf_SetInertialFrame(m, node, number, turns, object) : true;
}

static bool rgMjcf_SetObject(rgMjcf* m, const rgXmlNode* node, rgSensorDef* def) {
    bool seen = rgXmlNode_Attribute(node, "reftype") != NULL;
    bool turns = rgSensorKind_Traits(def->kind)->range == rg_rangeUnit;
    rgMjObject object = {0}, reference = {0};
    if (!rgMjcf_FindObject(m, node, "objtype", "objname", turns, &object) ||
        (seen && !rgMjcf_FindObject(m, node, "reftype", "refname", true, &reference))) {
        return false;
    }
    if (object.frame.index1 == 0 && object.body.index1 == 0) { // the world has no frame by itself
        object.frame = rgMjcf_AddOwnFrame(m, node, (rgBodyId){0}, rgPoseIdentity());
    }
    def->frame = object.frame;
    def->body = object.body;
    def->reference = reference.frame;
    def->referenceBody = reference.body;
    return true;
}

// Read geom1, body1 or subtree1, or those of side 2. False after an error message.
static bool rgMjcf_SetContactSide(rgMjcf* m, const rgXmlNode* node, int number,
                                  rgContactSide* side) {
    static const char* const names[][2] = {
        {"geom1", "geom2"}, {"body1", "body2"}, {"subtree1", "subtree2"}};
    for (int i = 0; i < RG_COUNT(names); ++i) {
        const char* attribute = names[i][number];
        if (rgXmlNode_Attribute(node, attribute) == NULL) {
            continue;
        }
        if (side->part != rg_contactPartAny) {
            rgXmlReader_Error(&m->reader, node, "<contact>: side %d is given twice", number + 1);
            return false;
        }
        int found = rgMjcf_Lookup(m, i == 0 ? &m->geomNames : &m->bodyNames, node, attribute,
                                  i == 0 ? "geom" : "body");
        side->part = (rgContactPart)(rg_contactPartShape + i);
        side->shape.index1 = i == 0 ? found + 1 : 0;
        side->body.index1 = i > 0 ? RG_MAX(found, 0) : 0;
        if (found < 0) {
            return false;
        }
    }
    return true;
}

// The words of data, whose order is fixed.
static void rgMjcf_SetContactNumbers(rgMjcf* m, const rgXmlNode* node, rgSensorDef* def) {
    static const char* const words[] = {"found", "force",  "torque", "dist",
                                        "pos",   "normal", "tangent"};
    const char* at = rgXmlNode_Attribute(node, "data");
    at = at != NULL ? at : "found";
    def->contactNumbers = 0;
    for (at += strspn(at, " \t\n\r"); *at != '\0'; at += strspn(at, " \t\n\r")) {
        int length = (int)strcspn(at, " \t\n\r"), bit = 0;
        for (int i = 0; i < RG_COUNT(words); ++i) {
            bool same =
                strncmp(at, words[i], (size_t)length) == 0 && (int)strlen(words[i]) == length;
            bit = same ? 1 << i : bit;
        }
        if (bit <= def->contactNumbers) { // unknown, twice, or before one that precedes it
            rgXmlReader_Error(&m->reader, node,
                              "<contact data>: '%.*s' is unknown or out of order; the words are "
                              "found, force, torque, dist, pos, normal, tangent, in this order",
                              RG_MIN(length, 40), at);
            return;
        }
        def->contactNumbers |= bit;
        at += length;
    }
}

static bool rgMjcf_SetContacts(rgMjcf* m, const rgXmlNode* node, rgSensorDef* def) {
    static const rgXmlWord choices[] = {{"none", rg_contactFirst},
                                        {"mindist", rg_contactNearest},
                                        {"maxforce", rg_contactHardest},
                                        {"netforce", rg_contactSum},
                                        {NULL, 0}};
    int choice = rg_contactFirst;
    def->contactCount = 1;
    rgMjcf_SetContactNumbers(m, node, def);
    rgXmlReader_Word(&m->reader, node, "reduce", choices, &choice);
    rgXmlReader_Int(&m->reader, node, "num", &def->contactCount);
    def->contactChoice = (rgContactChoice)choice;
    if (def->contactCount < 1 || def->contactCount > 10000) {
        rgXmlReader_Error(&m->reader, node, "<contact num>: %d is not within 1 and 10000",
                          def->contactCount);
        return false;
    }
    if (rgXmlNode_Attribute(node, "site") != NULL) {
        rgXmlReader_Warn(&m->reader, node,
                         "<contact site>: contacts within a site are not supported; the sensor "
                         "reads zeros");
        return false;
    }
    return rgMjcf_SetContactSide(m, node, 0, &def->sides[0]) &&
           rgMjcf_SetContactSide(m, node, 1, &def->sides[1]);
}

static bool rgMjcf_SetSensorObject(rgMjcf* m, const rgXmlNode* node, rgSensorDef* def) {
    int number = -1;
    switch (rgSensorKind_Traits(def->kind)->object) {
    case rg_objectSite:
        number = rgMjcf_Lookup(m, &m->siteNames, node, "site", "site");
        def->frame.index1 = number + 1;
        def->touchRadius = number >= 0 && def->kind == rg_sensorTouch ? m->siteSizes[number] : 0;
        break;
    case rg_objectJoint:
    case rg_objectBall:
        number = rgMjcf_Lookup(m, &m->jointNames, node, "joint", "joint");
        def->joint.index1 = number + 1;
        break;
    case rg_objectTendon:
        number = rgMjcf_Lookup(m, &m->tendonNames, node, "tendon", "tendon");
        def->tendon.index1 = number + 1;
        break;
    case rg_objectActuator:
        number = rgMjcf_Lookup(m, &m->actuatorNames, node, "actuator", "actuator");
        def->actuator.index1 = number + 1;
        break;
    case rg_objectSubtree:
        number = rgMjcf_Lookup(m, &m->bodyNames, node, "body", "body");
        def->body.index1 = RG_MAX(number, 0);
        break;
    case rg_objectContacts:
        return rgMjcf_SetContacts(m, node, def);
    case rg_objectNothing:
        return true;
    default:
        return rgMjcf_SetObject(m, node, def);
    }
    return number >= 0;
}

static void rgMjcf_AddSensor(rgMjcf* m, const rgXmlNode* node, const rgSensorDef* def) {
    rgMjNames_Add(m, &m->sensorNames, node, def->name, m->def->sensorCount);
    rgMjcf_Check(m, rgModelDef_AddSensor(m->def, def, NULL));
}

// A kind that is not supported keeps its place where its size is known.
static void rgMjcf_AddSilentSensor(rgMjcf* m, const rgXmlNode* node, rgSensorDef* def) {
    static const struct {
        const char* name;
        int size;
    } sizes[] = {{"camprojection", 2}, {"insidesite", 1}, {"distance", 1},
                 {"normal", 3},        {"fromto", 6},     {"user", 0}};
    for (int i = 0; i < RG_COUNT(sizes); ++i) {
        def->zeroCount = strcmp(node->name, sizes[i].name) == 0 ? sizes[i].size : def->zeroCount;
    }
    if (strcmp(node->name, "user") == 0) {
        rgXmlReader_Int(&m->reader, node, "dim", &def->zeroCount);
    }
    if (def->zeroCount > 0 && def->zeroCount <= 100000) {
        rgXmlReader_Warn(&m->reader, node,
                         "<%.60s> sensors are not supported; it keeps its place among the readings "
                         "and reads zeros",
                         node->name);
        rgMjcf_AddSensor(m, node, def);
    } else {
        rgXmlReader_Warn(&m->reader, node,
                         "<%.60s> sensors are not supported; it is left out, and readings after it "
                         "move up",
                         node->name);
    }
}

static void rgMjcf_ReadSensor(rgMjcf* m, const rgXmlNode* node) {
    rgSensorDef def = rgDefaultSensorDef();
    int before = m->reader.errorCount;
    def.name = rgXmlNode_Attribute(node, "name");
    def.source = rgMjcf_Source(node);
    def.kind = rgSensorKind_Find(node->name);
    if (def.kind == rg_sensorNone) {
        rgMjcf_AddSilentSensor(m, node, &def);
        return;
    }
    if (rgXmlReader_Double(&m->reader, node, "cutoff", &def.cutoff) && def.cutoff < 0) {
        rgXmlReader_Error(&m->reader, node, "<%s cutoff>: %g is negative", node->name, def.cutoff);
    }
    if (!rgMjcf_SetSensorObject(m, node, &def)) {
        // Sensors that cannot be measured read zeros; errors have been reported.
        def = (rgSensorDef){.name = def.name,
                            .source = def.source,
                            .cookie = def.cookie,
                            .zeroCount = rgSensorDef_Size(&def)};
    }
    if (m->reader.errorCount == before) {
        rgMjcf_AddSensor(m, node, &def);
    }
}

void rgMjcf_ReadSensors(rgMjcf* m, const rgXmlNode* root) {
    for (const rgXmlNode* section = rgXmlNode_Child(root, "sensor"); section != NULL;
         section = rgXmlNode_Next(section, "sensor")) {
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL);
             node != NULL && m->result == rg_ok; node = rgXmlNode_Next(node, NULL)) {
            rgMjcf_ReadSensor(m, node);
        }
    }
}
