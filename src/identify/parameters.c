// Parameters of a definition by name: KIND/NAME/FIELD.
#include "identify/identify.h"
#include "rigor/derivative.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define RG_COOKIE_PARAMETER 0x7061726du

rgParameterDef rgDefaultParameterDef(void) {
    return (rgParameterDef){.start = NAN, .cookie = RG_COOKIE_PARAMETER};
}

// ---- fields

// Fields that are more than one number of the part. They come after the plain ones, in this order.
typedef enum rgFieldRule {
    rg_fieldPlain,
    rg_fieldGain,    // kp, and the gain with it where that is the same
    rg_fieldMoments, // factor of the moments of inertia
    rg_fieldMatter,  // factor of mass and moments
    rg_fieldExtent,  // factor of the size
    rg_fieldCorner,  // rounding, with the outer size kept
    rg_fieldGravity, // length of gravity
} rgFieldRule;

struct rgFieldInfo {
    rgParameterField about;
    rgPartKind part;
    size_t offset;
    rgFieldRule rule;
};

#define RG_BODY(field, member, unit, meaning)                                                      \
    { {"body", field, unit, meaning}, rg_partBody, offsetof(rgBodyDef, member), rg_fieldPlain }
#define RG_SHAPE(field, member, unit, meaning)                                                     \
    { {"shape", field, unit, meaning}, rg_partShape, offsetof(rgShapeDef, member), rg_fieldPlain }
#define RG_JOINT(field, member, unit, meaning)                                                     \
    { {"joint", field, unit, meaning}, rg_partJoint, offsetof(rgJointDef, member), rg_fieldPlain }
#define RG_TENDON(field, member, unit, meaning)                                                    \
    {                                                                                              \
        {"tendon", field, unit, meaning}, rg_partTendon, offsetof(rgTendonDef, member),            \
            rg_fieldPlain                                                                          \
    }
#define RG_ACTUATOR(field, member, unit, meaning)                                                  \
    {                                                                                              \
        {"actuator", field, unit, meaning}, rg_partActuator, offsetof(rgActuatorDef, member),      \
            rg_fieldPlain                                                                          \
    }
#define RG_EQUALITY(field, member, unit, meaning)                                                  \
    {                                                                                              \
        {"equality", field, unit, meaning}, rg_partEquality, offsetof(rgEqualityDef, member),      \
            rg_fieldPlain                                                                          \
    }

static const rgFieldInfo rgFields[] = {
    RG_BODY("mass", inertia.mass, "kg", "mass; the moments stay"),
    RG_BODY("com.x", inertia.center.x, "m", "centre of mass in the body frame"),
    RG_BODY("com.y", inertia.center.y, "m", ""),
    RG_BODY("com.z", inertia.center.z, "m", ""),
    RG_BODY("inertia.xx", inertia.moment.xx, "kg m^2", "about the centre of mass"),
    RG_BODY("inertia.yy", inertia.moment.yy, "kg m^2", ""),
    RG_BODY("inertia.zz", inertia.moment.zz, "kg m^2", ""),
    RG_BODY("inertia.xy", inertia.moment.xy, "kg m^2", ""),
    RG_BODY("inertia.xz", inertia.moment.xz, "kg m^2", ""),
    RG_BODY("inertia.yz", inertia.moment.yz, "kg m^2", ""),
    {{"body", "inertia.scale", "-", "factor of all moments"}, rg_partBody, 0, rg_fieldMoments},
    {{"body", "scale", "-", "factor of mass and moments"}, rg_partBody, 0, rg_fieldMatter},
    RG_SHAPE("friction", material.mu, "-", "mu; with a transition, that of sliding"),
    RG_SHAPE("impact_friction", material.muImpact, "-", "mu of impacts, with a transition"),
    RG_SHAPE("transition_speed", material.transitionSpeed, "m/s", "closing speed of an impact"),
    RG_SHAPE("torsion", material.muTorsion, "m", "torsional friction"),
    RG_SHAPE("rolling", material.muRolling, "m", "rolling friction"),
    RG_SHAPE("restitution", material.restitution, "-", ""),
    RG_SHAPE("stiffness", material.stiffness, "N/m", "of each contact point"),
    RG_SHAPE("damping", material.damping, "N s/m", "with stiffness"),
    RG_SHAPE("dissipation", material.dissipation, "s/m", "of Hunt and Crossley, with stiffness"),
    RG_SHAPE("tangential_stiffness", material.tangentialStiffness, "N/m", "of what sticks"),
    RG_SHAPE("tangential_damping", material.tangentialDamping, "N s/m", ""),
    RG_SHAPE("size.x", size.x, "m", "radius or half extent"),
    RG_SHAPE("size.y", size.y, "m", ""),
    RG_SHAPE("size.z", size.z, "m", ""),
    {{"shape", "size.scale", "-", "factor of the size"}, rg_partShape, 0, rg_fieldExtent},
    RG_SHAPE("pos.x", pose.p.x, "m", "in the body frame"),
    RG_SHAPE("pos.y", pose.p.y, "m", ""),
    RG_SHAPE("pos.z", pose.p.z, "m", ""),
    RG_SHAPE("rounding", rounding, "m", "of a box, cylinder or hull, added all around"),
    {{"shape", "corner", "m", "rounding of a box or cylinder that keeps its outer size"},
     rg_partShape,
     0,
     rg_fieldCorner},
    RG_JOINT("damping", damping, "N s/m, N m s/rad", ""),
    RG_JOINT("friction", dryFriction, "N, N m", "dry friction"),
    RG_JOINT("armature", armature, "kg, kg m^2", ""),
    RG_JOINT("stiffness", stiffness, "N/m, N m/rad", "spring"),
    RG_JOINT("spring_reference", springReference, "m, rad", "rest position of the spring"),
    RG_TENDON("damping", damping, "N s/m", ""),
    RG_TENDON("friction", dryFriction, "N", ""),
    RG_TENDON("stiffness", stiffness, "N/m", ""),
    RG_ACTUATOR("gear", gear[0], "-", "of the first degree of freedom"),
    RG_ACTUATOR("gain", gain, "-", "force per control"),
    RG_ACTUATOR("bias", bias, "N, N m", ""),
    {{"actuator", "kp", "N/m, N m/rad", "of a servo, its gain with it"},
     rg_partActuator,
     offsetof(rgActuatorDef, kp),
     rg_fieldGain},
    RG_ACTUATOR("kd", kd, "N s/m, N m s/rad", ""),
    RG_EQUALITY("stiffness", stiffness, "N/m", ""),
    RG_EQUALITY("damping", damping, "N s/m", ""),
    {{"gravity", "", "m/s^2", "its length; the direction stays"},
     rg_partKindCount,
     0,
     rg_fieldGravity},
};

bool rgParameterFieldAt(int index, rgParameterField* field) {
    if (index < 0 || index >= RG_COUNT(rgFields) || field == NULL) {
        return false;
    }
    *field = rgFields[index].about;
    return true;
}

const char* rgParameter_Unit(const rgParameter* parameter) {
    return parameter->field->about.unit;
}

// ---- parts of a definition, whatever their kind

static int rgPartCount(const rgModelDef* model, rgPartKind kind) {
    rgModelInfo info = rgModelDef_Info(model);
    switch (kind) {
    case rg_partBody:
        return info.bodyCount;
    case rg_partShape:
        return info.shapeCount;
    case rg_partJoint:
        return info.jointCount;
    case rg_partTendon:
        return info.tendonCount;
    case rg_partActuator:
        return info.actuatorCount;
    case rg_partEquality:
        return info.equalityCount;
    default:
        return 0;
    }
}

typedef union rgPart {
    rgBodyDef body;
    rgShapeDef shape;
    rgJointDef joint;
    rgTendonDef tendon;
    rgActuatorDef actuator;
    rgEqualityDef equality;
} rgPart;

// The name of the part, or NULL.
static const char* rgGetPart(const rgModelDef* model, rgPartKind kind, int index1, rgPart* part) {
    switch (kind) {
    case rg_partBody:
        part->body = *rgModelDef_Body(model, (rgBodyId){index1});
        return part->body.name;
    case rg_partShape:
        part->shape = *rgModelDef_Shape(model, (rgShapeId){index1});
        return part->shape.name;
    case rg_partJoint:
        part->joint = *rgModelDef_Joint(model, (rgJointId){index1});
        return part->joint.name;
    case rg_partTendon:
        part->tendon = *rgModelDef_Tendon(model, (rgTendonId){index1});
        return part->tendon.name;
    case rg_partActuator:
        part->actuator = *rgModelDef_Actuator(model, (rgActuatorId){index1});
        return part->actuator.name;
    default:
        part->equality = *rgModelDef_Equality(model, (rgEqualityId){index1});
        return part->equality.name;
    }
}

static rgResult rgSetPart(rgModelDef* model, rgPartKind kind, int index1, const rgPart* part) {
    switch (kind) {
    case rg_partBody:
        return rgModelDef_SetBody(model, (rgBodyId){index1}, &part->body);
    case rg_partShape:
        return rgModelDef_SetShape(model, (rgShapeId){index1}, &part->shape);
    case rg_partJoint:
        return rgModelDef_SetJoint(model, (rgJointId){index1}, &part->joint);
    case rg_partTendon:
        return rgModelDef_SetTendon(model, (rgTendonId){index1}, &part->tendon);
    case rg_partActuator:
        return rgModelDef_SetActuator(model, (rgActuatorId){index1}, &part->actuator);
    default:
        return rgModelDef_SetEquality(model, (rgEqualityId){index1}, &part->equality);
    }
}

// True for shapes that a parameter covers: they collide, and have corners if the parameter needs
// these.
static bool rgParameterCovers(const rgParameter* parameter, const rgPart* part, int index1) {
    if (parameter->only != 0) {
        return parameter->only == index1;
    }
    if (parameter->field->part != rg_partShape) {
        return true;
    }
    rgShapeKind kind = part->shape.kind;
    bool fits =
        parameter->field->rule != rg_fieldCorner || kind == rg_shapeBox || kind == rg_shapeCylinder;
    return !part->shape.visualOnly && fits;
}

// ---- numbers that steps have derivatives by

static double* rgPlainNumber(const rgFieldInfo* field, rgPart* part) {
    return (double*)(void*)((char*)part + field->offset);
}

// Kinds of the numbers that a field of a part is; 0: it is another.
static int rgNumberKinds(const rgFieldInfo* field, const rgPart* part, rgQuantityKind* kinds) {
    static const struct {
        rgPartKind part;
        size_t offset;
        rgQuantityKind kind;
    } own[] = {{rg_partShape, offsetof(rgShapeDef, material.mu), rg_quantityFriction},
               {rg_partShape, offsetof(rgShapeDef, material.restitution), rg_quantityRestitution},
               {rg_partJoint, offsetof(rgJointDef, damping), rg_quantityDamping},
               {rg_partJoint, offsetof(rgJointDef, dryFriction), rg_quantityDryFriction},
               {rg_partJoint, offsetof(rgJointDef, armature), rg_quantityArmature},
               {rg_partJoint, offsetof(rgJointDef, stiffness), rg_quantityStiffness},
               {rg_partActuator, offsetof(rgActuatorDef, gain), rg_quantityGain},
               {rg_partActuator, offsetof(rgActuatorDef, kp), rg_quantityPositionGain},
               {rg_partActuator, offsetof(rgActuatorDef, kd), rg_quantityVelocityGain}};
    if (field->part == rg_partBody) {
        for (int k = 0; k < RG_INERTIA_PARAMETERS; ++k) {
            kinds[k] = rg_quantityInertia;
        }
        return RG_INERTIA_PARAMETERS;
    }
    int count = 0;
    for (int k = 0; k < RG_COUNT(own); ++k) {
        if (own[k].part == field->part && own[k].offset == field->offset &&
            (field->rule == rg_fieldPlain || field->rule == rg_fieldGain)) {
            kinds[count++] = own[k].kind;
        }
    }
    if (field->rule == rg_fieldGain) {
        kinds[count++] = rg_quantityGain;
    }
    bool varies = field->part == rg_partShape && part->shape.material.transitionSpeed > 0;
    return varies ? 0 : count;
}

static void rgReadNumbers(const rgFieldInfo* field, rgPart* part, const rgQuantityKind* kinds,
                          int count, double* numbers) {
    if (field->part == rg_partBody) {
        rgInertia_Parameters(&part->body.inertia, numbers);
        return;
    }
    for (int k = 0; k < count; ++k) {
        bool gain = kinds[k] == rg_quantityGain;
        numbers[k] = gain ? part->actuator.gain : *rgPlainNumber(field, part);
    }
}

int rgParameter_Numbers(const rgParameter* parameter, const rgModelDef* model,
                        rgQuantity* quantities, double* numbers) {
    const rgFieldInfo* field = parameter->field;
    int total = 0;
    for (int i = 1; i <= rgPartCount(model, field->part); ++i) {
        rgPart part;
        rgQuantityKind kinds[RG_INERTIA_PARAMETERS];
        rgGetPart(model, field->part, i, &part);
        if (!rgParameterCovers(parameter, &part, i)) {
            continue;
        }
        int count = rgNumberKinds(field, &part, kinds);
        if (count == 0) {
            return -1;
        }
        for (int k = 0; k < count && quantities != NULL; ++k) {
            quantities[total + k] = (rgQuantity){kinds[k], i - 1, k};
        }
        if (numbers != NULL) {
            rgReadNumbers(field, &part, kinds, count, numbers + total);
        }
        total += count;
    }
    return total > 0 ? total : -1;
}

// ---- names

static void rgReportFields(const char* name, const char* kind, int kindLength,
                           rgDiagnostics* diagnostics) {
    char list[1024] = "";
    size_t used = 0;
    for (int i = 0; i < RG_COUNT(rgFields); ++i) {
        const rgParameterField* about = &rgFields[i].about;
        bool same = (int)strlen(about->kind) == kindLength &&
                    memcmp(about->kind, kind, (size_t)kindLength) == 0;
        if (same && used + strlen(about->field) + 3 < sizeof(list)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                     used > 0 ? ", " : " ", about->field);
        }
    }
    if (used > 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "parameter '%s': there is no such field of a %.*s; there are%s", name,
                          kindLength, kind, list);
        return;
    }
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                      "parameter '%s': a name is KIND/NAME/FIELD, of a body, shape, joint, tendon, "
                      "actuator or equality, or 'gravity'",
                      name);
}

static const rgFieldInfo* rgFindField(const char* kind, size_t kindLength, const char* field) {
    for (int i = 0; i < RG_COUNT(rgFields); ++i) {
        const rgParameterField* about = &rgFields[i].about;
        if (strlen(about->kind) == kindLength && memcmp(about->kind, kind, kindLength) == 0 &&
            strcmp(about->field, field) == 0) {
            return &rgFields[i];
        }
    }
    return NULL;
}

// The part called so, from 1.
static rgResult rgFindPart(rgParameter* parameter, const rgModelDef* model, const char* part,
                           size_t length, rgDiagnostics* diagnostics) {
    const rgFieldInfo* field = parameter->field;
    int count = rgPartCount(model, field->part), near = 0;
    if (length == 1 && part[0] == '*' && count > 0) {
        parameter->only = 0;
        return rg_ok;
    }
    const char* names[256];
    rgPart unused;
    for (int i = 1; i <= count; ++i) {
        const char* name = rgGetPart(model, field->part, i, &unused);
        if (name != NULL && strlen(name) == length && memcmp(name, part, length) == 0) {
            parameter->only = i;
            return rg_ok;
        }
        if (near < RG_COUNT(names)) {
            names[near++] = name;
        }
    }
    char wanted[200], suggestion[100];
    snprintf(wanted, sizeof(wanted), "%.*s", (int)length, part);
    rgDidYouMean(wanted, names, near, suggestion);
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                      "parameter '%s': the model has no %s '%s'%s", parameter->def.name,
                      field->about.kind, wanted, suggestion);
    return rg_errorArgument;
}

rgResult rgParameter_Resolve(rgParameter* parameter, const rgModelDef* model,
                             rgDiagnostics* diagnostics) {
    const char* name = parameter->def.name != NULL ? parameter->def.name : "";
    if (strcmp(name, "gravity") == 0) {
        parameter->field = rgFindField(name, strlen(name), "");
        return rg_ok;
    }
    const char *first = strchr(name, '/'), *last = strrchr(name, '/');
    size_t kindLength = first != NULL ? (size_t)(first - name) : strlen(name);
    parameter->field =
        first != NULL && last > first ? rgFindField(name, kindLength, last + 1) : NULL;
    if (parameter->field == NULL) {
        rgReportFields(name, name, (int)kindLength, diagnostics);
        return rg_errorArgument;
    }
    return rgFindPart(parameter, model, first + 1, (size_t)(last - first - 1), diagnostics);
}

// ---- values

static double rgGravityLength(const rgModelDef* model) {
    rgModelOptions options = rgModelDef_Info(model).options;
    return options.hasGravity ? rgLength(options.gravity) : 9.81;
}

double rgParameter_Value(const rgParameter* parameter, const rgModelDef* model) {
    const rgFieldInfo* field = parameter->field;
    rgPart part;
    switch (field->rule) {
    case rg_fieldGravity:
        return rgGravityLength(model);
    case rg_fieldMoments:
    case rg_fieldMatter:
    case rg_fieldExtent:
        return 1;
    default:
        break;
    }
    for (int i = 1; i <= rgPartCount(model, field->part); ++i) {
        rgGetPart(model, field->part, i, &part);
        if (rgParameterCovers(parameter, &part, i)) {
            return field->rule == rg_fieldCorner ? part.shape.rounding
                                                 : *rgPlainNumber(field, &part);
        }
    }
    return NAN;
}

static void rgScaleInertia(rgInertia* inertia, double moments, double mass) {
    rgSym3* m = &inertia->moment;
    *m = (rgSym3){moments * m->xx, moments * m->yy, moments * m->zz,
                  moments * m->xy, moments * m->xz, moments * m->yz};
    inertia->mass *= mass;
}

static void rgSetField(const rgFieldInfo* field, rgPart* part, double value) {
    rgShapeDef* shape = &part->shape;
    switch (field->rule) {
    case rg_fieldGain:
        if (part->actuator.gain == part->actuator.kp) {
            part->actuator.gain = value;
        }
        part->actuator.kp = value;
        break;
    case rg_fieldMoments:
        rgScaleInertia(&part->body.inertia, value, 1);
        break;
    case rg_fieldMatter:
        rgScaleInertia(&part->body.inertia, value, value);
        break;
    case rg_fieldExtent:
        shape->size = rgScale(value, shape->size);
        break;
    case rg_fieldCorner: {
        double more = value - shape->rounding;
        shape->size = rgSub(shape->size, shape->kind == rg_shapeBox ? rgVec(more, more, more)
                                                                    : rgVec(more, more, 0));
        shape->rounding = value;
        break;
    }
    default:
        *rgPlainNumber(field, part) = value;
        break;
    }
}

// Set all values of one part, plain numbers first.
static rgResult rgApplyToPart(const rgParameter* parameters, int count, const double* values,
                              const rgModelDef* base, rgModelDef* model, rgPartKind kind,
                              int index1) {
    rgPart part;
    bool changed = false;
    rgGetPart(base, kind, index1, &part);
    for (int rule = rg_fieldPlain; rule < rg_fieldGravity; ++rule) {
        for (int i = 0; i < count; ++i) {
            const rgFieldInfo* field = parameters[i].field;
            if (field->part == kind && (int)field->rule == rule &&
                rgParameterCovers(&parameters[i], &part, index1)) {
                rgSetField(field, &part, values[i]);
                changed = true;
            }
        }
    }
    return changed ? rgSetPart(model, kind, index1, &part) : rg_ok;
}

static void rgApplyGravity(const rgModelDef* base, rgModelDef* model, double value) {
    rgModelOptions options = rgModelDef_Info(base).options;
    rgVec3 down = options.hasGravity && rgLength(options.gravity) > 0 ? rgNormalize(options.gravity)
                                                                      : rgVec(0, 0, -1);
    options.gravity = rgScale(value, down);
    options.hasGravity = true;
    rgModelDef_SetOptions(model, &options);
}

rgResult rgParameters_Apply(const rgParameter* parameters, int count, const double* values,
                            const rgModelDef* base, rgModelDef* model) {
    bool asked[rg_partKindCount + 1] = {false};
    for (int i = 0; i < count; ++i) {
        asked[parameters[i].field->part] = true;
        if (parameters[i].field->rule == rg_fieldGravity) {
            rgApplyGravity(base, model, values[i]);
        }
    }
    rgResult result = rg_ok;
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        int parts = asked[kind] ? rgPartCount(base, (rgPartKind)kind) : 0;
        for (int k = 1; k <= parts && result == rg_ok; ++k) {
            result = rgApplyToPart(parameters, count, values, base, model, (rgPartKind)kind, k);
        }
    }
    return result;
}

rgResult rgModelDef_ParameterValue(const rgModelDef* def, const char* name, double* value,
                                   rgDiagnostics* diagnostics) {
    rgParameter parameter = {.def = {.name = name}};
    if (def == NULL || name == NULL || value == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgParameter_Resolve(&parameter, def, diagnostics);
    if (result == rg_ok) {
        *value = rgParameter_Value(&parameter, def);
    }
    return result;
}

rgResult rgModelDef_SetParameter(rgModelDef* def, const char* name, double value,
                                 rgDiagnostics* diagnostics) {
    rgParameter parameter = {.def = {.name = name}};
    if (def == NULL || name == NULL || !isfinite(value)) {
        return rg_errorArgument;
    }
    rgResult result = rgParameter_Resolve(&parameter, def, diagnostics);
    return result == rg_ok ? rgParameters_Apply(&parameter, 1, &value, def, def) : result;
}

// ---- between the bounds

double rgParameter_FromUnit(const rgParameter* parameter, double place) {
    const rgParameterDef* def = &parameter->def;
    place = fmin(fmax(place, 0), 1);
    return def->logarithmic ? def->lower * pow(def->upper / def->lower, place)
                            : def->lower + place * (def->upper - def->lower);
}

double rgParameter_ToUnit(const rgParameter* parameter, double value) {
    const rgParameterDef* def = &parameter->def;
    double place = def->logarithmic ? log(value / def->lower) / log(def->upper / def->lower)
                                    : (value - def->lower) / (def->upper - def->lower);
    return fmin(fmax(place, 0), 1);
}
