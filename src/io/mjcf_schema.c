// Report attributes that no reader consumed: those that do not change the motion are compared with
// the attributes that MuJoCo knows; those that would change it are reported with their consequence.
// No attribute is dropped in silence.
#include "io/mjcf.h"

#include <string.h>

// Attributes of an element, in words; `parent` NULL: wherever it stands.
typedef struct rgMjElement {
    const char* parent;
    const char* name;
    const char* attributes;
} rgMjElement;

#define RG_PLACE "pos quat axisangle xyaxes zaxis euler "
#define RG_ACTUATOR                                                                                \
    "name class group nsample interp delay ctrllimited forcelimited actlimited ctrlrange "         \
    "forcerange actrange lengthrange gear damping armature cranklength joint jointinparent "       \
    "tendon slidersite cranksite site refsite user actdim actearly "
#define RG_SENSOR "name nsample interp delay interval cutoff noise user "
#define RG_FRAMED RG_SENSOR "objtype objname reftype refname"

static const rgMjElement elements[] = {
    {NULL, "mujoco", "model"},
    {"compiler", "lengthrange",
     "mode useexisting uselimit accel maxforce timeconst timestep inttotal interval tolrange"},
    {"mujoco", "size",
     "memory njmax nconmax nstack nuserdata nkey nuser_body nuser_jnt nuser_geom nuser_site "
     "nuser_cam nuser_tendon nuser_actuator nuser_sensor"},
    {"mujoco", "visual", ""},
    {"visual", "global",
     "cameraid orthographic fovy ipd azimuth elevation linewidth glow realtime offwidth offheight "
     "ellipsoidinertia bvactive"},
    {"visual", "quality", "shadowsize offsamples numslices numstacks numquads"},
    {"visual", "headlight", "ambient diffuse specular active"},
    {"visual", "map",
     "stiffness stiffnessrot force torque alpha fogstart fogend znear zfar haze shadowclip "
     "shadowscale actuatortendon"},
    {"visual", "scale",
     "forcewidth contactwidth contactheight connect com camera light selectpoint jointlength "
     "jointwidth actuatorlength actuatorwidth framelength framewidth constraint slidercrank "
     "frustum"},
    {"visual", "rgba",
     "fog haze force inertia joint actuator actuatornegative actuatorpositive com camera light "
     "selectpoint connect contactpoint contactforce contactfriction contacttorque contactgap "
     "rangefinder constraint slidercrank crankbroken frustum bv bvactive"},
    {"mujoco", "statistic", "meaninertia meanmass meansize extent center"},
    {"mujoco", "custom", ""},
    {"custom", "numeric", "name size data"},
    {"custom", "text", "name data"},
    {"custom", "tuple", "name"},
    {"tuple", "element", "objtype objname prm"},
    {"mujoco", "asset", ""},
    {"asset", "texture",
     "name type colorspace content_type file gridsize gridlayout fileright fileleft fileup "
     "filedown filefront fileback builtin rgb1 rgb2 mark markrgb random width height hflip vflip "
     "nchannel"},
    {NULL, "material",
     "name class texture texrepeat texuniform emission specular shininess reflectance metallic "
     "roughness rgba"},
    {"material", "layer", "role texture"},
    {"default", "mesh", "scale maxhullvert inertia"},
    {"default", "equality", "active solref solimp"},
    {"default", "tendon",
     "group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
     "solreffriction solimpfriction frictionloss springlength width material margin stiffness "
     "damping armature rgba user"},
    {NULL, "light",
     "name class mode target type directional castshadow active pos dir bulbradius intensity "
     "range attenuation cutoff exponent ambient diffuse specular texture"},
    {NULL, "camera",
     "name class mode target orthographic projection fovy ipd resolution output focal focalpixel "
     "principal principalpixel sensorsize user " RG_PLACE},
    {"mujoco", "worldbody", ""},
    {NULL, "frame", "name childclass " RG_PLACE},
    {"mujoco", "contact", ""},
    {"mujoco", "equality", ""},
    {"mujoco", "tendon", ""},
    {"fixed", "joint", "joint coef"},
    {"tendon", "spatial",
     "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit "
     "solreffriction solimpfriction frictionloss springlength width material margin stiffness "
     "damping armature rgba user"},
    {"spatial", "site", "site"},
    {"spatial", "geom", "geom sidesite"},
    {"spatial", "pulley", "divisor"},
    {"mujoco", "actuator", ""},
    {NULL, "intvelocity", RG_ACTUATOR "kp kv dampratio inheritrange"},
    {NULL, "damper", RG_ACTUATOR "kv"},
    {NULL, "cylinder", RG_ACTUATOR "timeconst area diameter bias"},
    {NULL, "muscle",
     RG_ACTUATOR "timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax"},
    {NULL, "adhesion", RG_ACTUATOR "body gain"},
    {NULL, "pid", RG_ACTUATOR "kp kv ki dampratio inheritrange slewmax input"},
    {NULL, "dcmotor",
     RG_ACTUATOR "motorconst resistance nominal saturation inductance cogging lugre thermal "
                 "controller input"},
    {"mujoco", "sensor", ""},
    {"sensor", "touch", RG_SENSOR "site"},
    {"sensor", "accelerometer", RG_SENSOR "site"},
    {"sensor", "velocimeter", RG_SENSOR "site"},
    {"sensor", "gyro", RG_SENSOR "site"},
    {"sensor", "force", RG_SENSOR "site"},
    {"sensor", "torque", RG_SENSOR "site"},
    {"sensor", "magnetometer", RG_SENSOR "site"},
    {"sensor", "camprojection", RG_SENSOR "site camera"},
    {"sensor", "rangefinder", RG_SENSOR "site camera data"},
    {"sensor", "jointpos", RG_SENSOR "joint"},
    {"sensor", "jointvel", RG_SENSOR "joint"},
    {"sensor", "ballquat", RG_SENSOR "joint"},
    {"sensor", "ballangvel", RG_SENSOR "joint"},
    {"sensor", "jointactuatorfrc", RG_SENSOR "joint"},
    {"sensor", "jointlimitpos", RG_SENSOR "joint"},
    {"sensor", "jointlimitvel", RG_SENSOR "joint"},
    {"sensor", "jointlimitfrc", RG_SENSOR "joint"},
    {"sensor", "tendonpos", RG_SENSOR "tendon"},
    {"sensor", "tendonvel", RG_SENSOR "tendon"},
    {"sensor", "tendonactuatorfrc", RG_SENSOR "tendon"},
    {"sensor", "tendonlimitpos", RG_SENSOR "tendon"},
    {"sensor", "tendonlimitvel", RG_SENSOR "tendon"},
    {"sensor", "tendonlimitfrc", RG_SENSOR "tendon"},
    {"sensor", "actuatorpos", RG_SENSOR "actuator"},
    {"sensor", "actuatorvel", RG_SENSOR "actuator"},
    {"sensor", "actuatorfrc", RG_SENSOR "actuator"},
    {"sensor", "framepos", RG_FRAMED},
    {"sensor", "framequat", RG_FRAMED},
    {"sensor", "framexaxis", RG_FRAMED},
    {"sensor", "frameyaxis", RG_FRAMED},
    {"sensor", "framezaxis", RG_FRAMED},
    {"sensor", "framelinvel", RG_FRAMED},
    {"sensor", "frameangvel", RG_FRAMED},
    {"sensor", "framelinacc", RG_SENSOR "objtype objname"},
    {"sensor", "frameangacc", RG_SENSOR "objtype objname"},
    {"sensor", "subtreecom", RG_SENSOR "body"},
    {"sensor", "subtreelinvel", RG_SENSOR "body"},
    {"sensor", "subtreeangmom", RG_SENSOR "body"},
    {"sensor", "insidesite", RG_SENSOR "site objtype objname"},
    {"sensor", "distance", RG_SENSOR "geom1 geom2 body1 body2"},
    {"sensor", "normal", RG_SENSOR "geom1 geom2 body1 body2"},
    {"sensor", "fromto", RG_SENSOR "geom1 geom2 body1 body2"},
    {"sensor", "contact",
     RG_SENSOR "geom1 geom2 body1 body2 subtree1 subtree2 site num data reduce"},
    {"sensor", "tactile", RG_SENSOR "geom mesh"},
    {"sensor", "e_potential", RG_SENSOR},
    {"sensor", "e_kinetic", RG_SENSOR},
    {"sensor", "clock", RG_SENSOR},
    {"sensor", "user", RG_SENSOR "objtype objname datatype needstage dim"},
    {"mujoco", "keyframe", ""},
};

// Attributes that would change something and are not read. `element` NULL: of any in the section.
typedef struct rgMjIgnored {
    const char* section; // at the top, or "" for the root's own and bodies
    const char* element;
    const char* attribute;
    bool warns; // otherwise a note
    const char* consequence;
} rgMjIgnored;

static const rgMjIgnored ignored[] = {
    {"sensor", NULL, "noise", false, "readings have no noise; in MuJoCo it is informative, too"},
    {"sensor", NULL, "delay", true, "readings have no delay"},
    {"sensor", NULL, "interval", true, "readings are updated in every step"},
    {"asset", "mesh", "maxhullvert", false, "hulls keep all their vertices"},
    {"default", "mesh", "maxhullvert", false, "hulls keep all their vertices"},
    {"worldbody", "freejoint", "align", true,
     "coordinates stay those of the body's frame, not of its centre of mass"},
    {"worldbody", "body", "sleep", false, "sleep is an option of the world"},
    {"worldbody", "joint", "actuatorgravcomp", false,
     "actuatorfrcrange does not limit gravcomp, and readings of actuators exclude it"},
    {"default", "joint", "actuatorgravcomp", false,
     "actuatorfrcrange does not limit gravcomp, and readings of actuators exclude it"},
    {"worldbody", "joint", "solreflimit", false, "limits are rigid"},
    {"worldbody", "joint", "solimplimit", false, "limits are rigid"},
    {"worldbody", "joint", "solreffriction", false, "dry friction is rigid"},
    {"worldbody", "joint", "solimpfriction", false, "dry friction is rigid"},
    {"default", "joint", "solreflimit", false, "limits are rigid"},
    {"default", "joint", "solimplimit", false, "limits are rigid"},
    {"default", "joint", "solreffriction", false, "dry friction is rigid"},
    {"default", "joint", "solimpfriction", false, "dry friction is rigid"},
    {"tendon", NULL, "solreflimit", false, "limits are rigid"},
    {"tendon", NULL, "solimplimit", false, "limits are rigid"},
    {"tendon", NULL, "solreffriction", false, "dry friction is rigid"},
    {"tendon", NULL, "solimpfriction", false, "dry friction is rigid"},
    {"equality", "joint", "solref", false, "couplings are rigid"},
    {"equality", "joint", "solimp", false, "couplings are rigid"},
    {"equality", "tendon", "solref", false, "couplings are rigid"},
    {"equality", "tendon", "solimp", false, "couplings are rigid"},
    {"contact", "pair", "solreffriction", false, "friction is rigid"},
    {"equality", "weld", "torquescale", false,
     "it weights the rotation of a soft weld, and this weld is rigid"},
    {"option", "option", "impratio", false, "friction is exact"},
    {"option", "option", "cone", false, "friction is exact, with round cones"},
    {"option", "option", "solver", false, "an option of MuJoCo; --solver selects a solver"},
    {"option", "option", "iterations", false, "an option of MuJoCo's solver"},
    {"option", "option", "tolerance", false, "an option of MuJoCo's solver"},
    {"option", "option", "jacobian", false, "an option of MuJoCo's solver"},
    {"option", "option", "noslip_iterations", false, "sticking contacts do not slip"},
    {"option", "flag", "sensornoise", false, "readings have no noise"},
    {"option", "flag", "multiccd", false, "contacts have as many points as they need"},
    {"option", "flag", "sleep", false, "sleep is an option of the world"},
    {"compiler", "compiler", "alignfree", true,
     "coordinates stay those of the body's frame, not of its centre of mass"},
    {"compiler", "compiler", "convexhull", true, "meshes collide as their hulls"},
    {"compiler", "compiler", "discardvisual", false, "visual geoms are kept"},
    {"compiler", "compiler", "fusestatic", false, "bodies without joints keep their names"},
};

#define RG_MOST_WORDS 64

// The words of a list as pointers that end with NULL.
static void rgSplitWords(const char* text, char copy[1024], const char* words[RG_MOST_WORDS]) {
    int count = 0;
    strncpy(copy, text, 1023);
    copy[1023] = '\0';
    for (char* at = copy; *at != '\0' && count < RG_MOST_WORDS - 1;) {
        words[count++] = at;
        at += strcspn(at, " ");
        while (*at == ' ') {
            *at++ = '\0';
        }
    }
    words[count] = NULL;
}

static const rgMjElement* rgFindElement(const rgXmlNode* node) {
    const rgMjElement* found = NULL;
    for (int i = 0; i < RG_COUNT(elements); ++i) {
        bool here = elements[i].parent == NULL ||
                    (node->parent != NULL && strcmp(elements[i].parent, node->parent->name) == 0);
        if (here && strcmp(elements[i].name, node->name) == 0 &&
            (found == NULL || elements[i].parent != NULL)) {
            found = &elements[i];
        }
    }
    return found;
}

// Off, as it would be without the attribute.
static bool rgIsOff(const char* value) {
    static const char* const words[] = {"", "0", "false", "auto", "disable", "-1"};
    for (int i = 0; i < RG_COUNT(words); ++i) {
        if (strcmp(value, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void rgMjcf_ReportIgnored(rgMjcf* m, const rgXmlNode* node, const char* section) {
    for (int i = 0; i < RG_COUNT(ignored); ++i) {
        const rgMjIgnored* it = &ignored[i];
        if (strcmp(it->section, section) != 0 ||
            (it->element != NULL && strcmp(it->element, node->name) != 0)) {
            continue;
        }
        const char* value = rgXmlNode_Attribute(node, it->attribute);
        // convexhull is on without the attribute.
        bool warns =
            value != NULL && (strcmp(it->attribute, "convexhull") == 0 ? strcmp(value, "false") == 0
                                                                       : !rgIsOff(value));
        if (warns && it->warns) {
            rgXmlReader_Warn(&m->reader, node, "<%s %s>: '%.40s' is not supported; %s", node->name,
                             it->attribute, value, it->consequence);
        } else if (warns) {
            rgXmlReader_Note(&m->reader, node, "<%s %s> is not used: %s", node->name, it->attribute,
                             it->consequence);
        }
    }
}

// True for elements that are refused as a whole; a message was given.
static bool rgIsRefused(const rgXmlNode* node) {
    static const char* const names[] = {"extension", "deformable", "composite", "flexcomp",
                                        "plugin",    "skin",       "attach"};
    for (int i = 0; i < RG_COUNT(names); ++i) {
        if (strcmp(node->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void rgMjcf_CheckRest(rgMjcf* m, const rgXmlNode* node, const char* section) {
    const rgMjElement* element = node->isChecked ? NULL : rgFindElement(node);
    if (element != NULL) {
        char copy[1024];
        const char* words[RG_MOST_WORDS];
        rgSplitWords(element->attributes, copy, words);
        rgXmlReader_CheckAttributes(&m->reader, node, words);
    }
    rgMjcf_ReportIgnored(m, node, section);
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        if (!rgIsRefused(child)) {
            rgMjcf_CheckRest(m, child, section); // depth <= XML's
        }
    }
}

void rgMjcf_CheckUnread(rgMjcf* m, const rgXmlNode* root) {
    rgMjcf_CheckRest(m,
                     &(rgXmlNode){.name = root->name,
                                  .file = root->file,
                                  .line = root->line,
                                  .attributeCount = root->attributeCount,
                                  .attributes = root->attributes},
                     "");
    for (const rgXmlNode* child = root->firstChild; child != NULL; child = child->next) {
        if (!rgIsRefused(child)) {
            rgMjcf_CheckRest(m, child, child->name);
        }
    }
}
