// A model definition as MJCF: compiler and options, assets, bodies. Sections that refer to bodies
// are in mjcf_export_parts.c. Inertias are written out, so geoms carry no mass.
#include "io/mjcf_export.h"

#include "rigor/io.h"

#include <string.h>

static const char* rgMjWriter_BodyName(const rgModelDef* def, int number, rgPartName* made) {
    const char* name = def->bodies[number].name;
    if (name != NULL && strcmp(name, "world") == 0) {
        return "world_body"; // "world" is taken
    }
    return rgNamed(name, "body", number + 1, made);
}

const char* rgMjWriter_Body(const rgMjWriter* w, rgBodyId id, rgPartName* made) {
    return id.index1 == 0 ? "world" : rgMjWriter_BodyName(w->def, id.index1 - 1, made);
}

void rgMjWriter_Pose(rgMjWriter* w, rgPose pose) {
    const double quat[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    if (pose.p.x != 0 || pose.p.y != 0 || pose.p.z != 0) {
        rgText_Vec(&w->text, "pos", pose.p);
    }
    if (pose.q.w != 1 || pose.q.x != 0 || pose.q.y != 0 || pose.q.z != 0) {
        rgText_Numbers(&w->text, "quat", quat, 4);
    }
}

static void rgMjWriter_Option(rgMjWriter* w) {
    const rgModelOptions* options = &w->def->options;
    rgText_Add(&w->text, "  <option");
    if (!options->impliedTimeStep) { // MJCF means another one by saying nothing
        rgText_Number(&w->text, "timestep", options->timeStep > 0 ? options->timeStep : 1e-3);
    }
    if (options->integrator != rg_integratorAny) {
        bool euler = options->integrator == rg_integratorEuler;
        rgText_Add(&w->text, " integrator=\"%s\"", euler ? "Euler" : "implicitfast");
    }
    if (options->hasGravity) {
        rgText_Vec(&w->text, "gravity", options->gravity);
    }
    rgText_Vec(&w->text, "magnetic", options->magnetic);
    rgText_NumberUnless(&w->text, "density", options->density, 0);
    rgText_NumberUnless(&w->text, "viscosity", options->viscosity, 0);
    if (rgLengthSquared(options->wind) > 0) {
        rgText_Vec(&w->text, "wind", options->wind);
    }
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_Mesh(rgMjWriter* w, int shape, const rgMeshData* mesh) {
    rgText_Add(&w->text, "    <mesh name=\"mesh_%d\"", shape + 1);
    rgText_Numbers(&w->text, "vertex", mesh->vertices, 3 * mesh->vertexCount);
    if (mesh->triangleCount > 0) {
        rgText_Add(&w->text, " face=\"");
        for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
            rgText_Add(&w->text, "%s%d", i > 0 ? " " : "", mesh->triangles[i]);
        }
        rgText_Add(&w->text, "\"");
    }
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_FieldRange(const rgHeightFieldData* field, double* low, double* high) {
    *low = *high = field->heights[0];
    for (int i = 0; i < field->columnCount * field->rowCount; ++i) {
        *low = RG_MIN(*low, field->heights[i]);
        *high = RG_MAX(*high, field->heights[i]);
    }
}

// Rows from the far side down, the order of MJCF.
static void rgMjWriter_Field(rgMjWriter* w, int shape, const rgHeightFieldData* field) {
    double low, high;
    rgMjWriter_FieldRange(field, &low, &high);
    const double size[4] = {field->sizeX, field->sizeY, high > low ? high - low : 1,
                            field->depth > 0 ? field->depth : 1e-3};
    rgText_Add(&w->text, "    <hfield name=\"hfield_%d\" nrow=\"%d\" ncol=\"%d\"", shape + 1,
               field->rowCount, field->columnCount);
    rgText_Numbers(&w->text, "size", size, 4);
    rgText_Add(&w->text, " elevation=\"");
    for (int row = field->rowCount - 1; row >= 0; --row) {
        for (int column = 0; column < field->columnCount; ++column) {
            rgText_Value(&w->text, field->heights[row * field->columnCount + column]);
            rgText_Add(&w->text, " ");
        }
    }
    rgText_Add(&w->text, "\"/>\n");
}

static void rgMjWriter_Assets(rgMjWriter* w) {
    rgText_Add(&w->text, "  <asset>\n");
    for (int i = 0; i < w->def->shapeCount; ++i) {
        const rgShapeDef* shape = &w->def->shapes[i];
        if (shape->kind == rg_shapeHull || shape->kind == rg_shapeMesh) {
            rgMjWriter_Mesh(w, i, shape->mesh);
        } else if (shape->kind == rg_shapeHeightField) {
            rgMjWriter_Field(w, i, shape->heightField);
        }
    }
    rgText_Add(&w->text, "  </asset>\n");
}

static void rgMjWriter_Size(rgMjWriter* w, int number) {
    const rgShapeDef* shape = &w->def->shapes[number];
    double out = shape->rounding;
    const double s[3] = {shape->size.x + out, shape->size.y + out, shape->size.z + out};
    switch (shape->kind) {
    case rg_shapePlane:
        rgText_Add(&w->text, " type=\"plane\" size=\"0 0 1\"");
        break;
    case rg_shapeSphere:
        rgText_Add(&w->text, " type=\"sphere\"");
        rgText_Numbers(&w->text, "size", s, 1);
        break;
    case rg_shapeCapsule:
    case rg_shapeCylinder:
        rgText_Add(&w->text, " type=\"%s\"",
                   shape->kind == rg_shapeCapsule ? "capsule" : "cylinder");
        rgText_Numbers(&w->text, "size", s, 2);
        break;
    case rg_shapeBox:
    case rg_shapeEllipsoid:
        rgText_Add(&w->text, " type=\"%s\"", shape->kind == rg_shapeBox ? "box" : "ellipsoid");
        rgText_Numbers(&w->text, "size", s, 3);
        break;
    case rg_shapeHeightField:
        rgText_Add(&w->text, " type=\"hfield\" hfield=\"hfield_%d\"", number + 1);
        break;
    default:
        rgText_Add(&w->text, " type=\"mesh\" mesh=\"mesh_%d\"", number + 1);
        break;
    }
}

static void rgMjWriter_Surface(rgMjWriter* w, const rgShapeDef* shape) {
    const rgMaterial* m = &shape->material;
    const double friction[3] = {m->mu, m->muTorsion, m->muRolling};
    rgText_Numbers(&w->text, "friction", friction, 3);
    rgText_Integer(&w->text, "condim", m->dimension > 0 ? m->dimension : 3);
    bool ghost = shape->visualOnly;
    rgText_Integer(&w->text, "contype", ghost ? 0 : (int)shape->group);
    if (shape->hidden) {
        rgText_Integer(&w->text, "group", 3);
    }
    rgText_Integer(&w->text, "conaffinity", ghost ? 0 : (int)shape->mask);
    if (shape->priority != 0) {
        rgText_Integer(&w->text, "priority", shape->priority);
    }
    rgText_NumberUnless(&w->text, "margin", shape->margin, 0);
    rgText_NumberUnless(&w->text, "adhesion", m->adhesion, 0);
    rgText_Color(&w->text, shape->color);
}

static void rgMjWriter_Geom(rgMjWriter* w, int number, int depth) {
    const rgShapeDef* shape = &w->def->shapes[number];
    rgPose pose = shape->pose;
    rgPartName made;
    if (shape->kind == rg_shapeHeightField) {
        double low, high;
        rgMjWriter_FieldRange(shape->heightField, &low, &high);
        pose.p = rgPose_Point(pose, rgVec(0, 0, low)); // MJCF heights start at 0
    }
    rgText_Indent(&w->text, depth);
    rgText_Add(&w->text, "<geom");
    rgText_Attribute(&w->text, "name", rgNamed(shape->name, "geom", number + 1, &made));
    rgMjWriter_Size(w, number);
    rgMjWriter_Pose(w, pose);
    rgMjWriter_Surface(w, shape);
    if (rgShapeDef_HasBelt(shape)) {
        const rgVec3 *v = &shape->surfaceVelocity, *s = &shape->surfaceSpin;
        const double field[6] = {v->x, v->y, v->z, s->x, s->y, s->z};
        rgText_Numbers(&w->text, "surfacevel", field, 6);
    }
    if (shape->fluidEllipsoid) {
        rgText_Attribute(&w->text, "fluidshape", "ellipsoid");
        rgText_Numbers(&w->text, "fluidcoef", shape->fluidCoefficients, 5);
    }
    rgText_Add(&w->text, "/>\n");
}

// Axes that a fluid makes a difference of.
static void rgMjWriter_Principal(rgMjWriter* w, const rgSym3* s, rgQuat axes) {
    const double quat[4] = {axes.w, axes.x, axes.y, axes.z};
    double moments[3];
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgRotate(axes, rgVec(k == 0, k == 1, k == 2));
        moments[k] = rgDot(e, rgSym3_Multiply(s, e));
    }
    rgText_Numbers(&w->text, "quat", quat, 4);
    rgText_Numbers(&w->text, "diaginertia", moments, 3);
}

static void rgMjWriter_Inertial(rgMjWriter* w, const rgBodyDef* body, int depth) {
    const rgInertia* inertia = &body->inertia;
    const rgSym3* s = &inertia->moment;
    const rgModelOptions* options = &w->def->options;
    bool fluid = options->density > 0 || options->viscosity > 0;
    double known = fabs(body->fluidAxes.w) + fabs(body->fluidAxes.x) + fabs(body->fluidAxes.y) +
                   fabs(body->fluidAxes.z);
    const double full[6] = {s->xx, s->yy, s->zz, s->xy, s->xz, s->yz};
    if (!(inertia->mass > 0)) {
        return;
    }
    rgText_Indent(&w->text, depth);
    rgText_Add(&w->text, "<inertial");
    rgText_Vec(&w->text, "pos", inertia->center);
    rgText_Number(&w->text, "mass", inertia->mass);
    if (fluid && known > 0) {
        rgMjWriter_Principal(w, s, body->fluidAxes);
    } else {
        rgText_Numbers(&w->text, "fullinertia", full, 6);
    }
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_JointNumbers(rgMjWriter* w, const rgJointDef* joint) {
    const double range[2] = {joint->lower, joint->upper};
    const double effort[2] = {-joint->effortLimit, joint->effortLimit};
    if (joint->hasLimits) {
        rgText_Add(&w->text, " limited=\"true\"");
        rgText_Numbers(&w->text, "range", range, 2);
    }
    if (joint->effortLimit > 0) {
        rgText_Numbers(&w->text, "actuatorfrcrange", effort, 2);
    }
    rgText_NumberUnless(&w->text, "damping", joint->damping, 0);
    rgText_NumberUnless(&w->text, "frictionloss", joint->dryFriction, 0);
    rgText_NumberUnless(&w->text, "armature", joint->armature, 0);
    rgText_NumberUnless(&w->text, "stiffness", joint->stiffness, 0);
    rgText_NumberUnless(&w->text, "springref", joint->springReference, 0);
    rgText_NumberUnless(&w->text, "ref", joint->reference, 0);
}

static void rgMjWriter_OneJoint(rgMjWriter* w, const rgJointDef* joint, const char* name,
                                const char* type, int depth) {
    rgText_Indent(&w->text, depth);
    rgText_Add(&w->text, "<joint");
    rgText_Attribute(&w->text, "name", name);
    rgText_Attribute(&w->text, "type", type);
    if (joint->kind != rg_jointFree) {
        rgText_Vec(&w->text, "pos", joint->anchor);
        rgText_Vec(&w->text, "axis", joint->axis);
    }
    rgMjWriter_JointNumbers(w, joint);
    rgText_Add(&w->text, "/>\n");
}

// x, y and the angle as three joints.
static void rgMjWriter_PlanarJoint(rgMjWriter* w, const rgJointDef* joint, const char* name,
                                   int depth) {
    rgJointDef part = *joint;
    char partName[200];
    rgVec3 t1, t2;
    rgTangentBasis(rgNormalize(joint->axis), &t1, &t2);
    const rgVec3 axes[3] = {t1, t2, joint->axis};
    const char* const suffixes[3] = {"_x", "_y", "_angle"};
    part.hasLimits = false;
    for (int i = 0; i < 3; ++i) {
        part.axis = axes[i];
        snprintf(partName, sizeof(partName), "%s%s", name, suffixes[i]);
        rgMjWriter_OneJoint(w, &part, partName, i < 2 ? "slide" : "hinge", depth);
    }
    rgOmissions_Add(&w->split, name);
}

static void rgMjWriter_Joint(rgMjWriter* w, int number, int depth) {
    static const char* const types[] = {[rg_jointRevolute] = "hinge",
                                        [rg_jointPrismatic] = "slide",
                                        [rg_jointSpherical] = "ball",
                                        [rg_jointFree] = "free"};
    const rgJointDef* joint = &w->def->joints[number];
    rgPartName made;
    const char* name = rgNamed(joint->name, "joint", number + 1, &made);
    if (joint->velocityLimit > 0) {
        rgOmissions_Add(&w->speeds, name);
    }
    if (joint->kind == rg_jointPlanar) {
        rgMjWriter_PlanarJoint(w, joint, name, depth);
    } else if (joint->kind != rg_jointFixed) {
        rgMjWriter_OneJoint(w, joint, name, types[joint->kind], depth);
    }
}

// A frame with a field of view is a camera, unless something needs it that only takes sites.
const char* rgMjWriter_FrameElement(const rgMjWriter* w, rgFrameId id) {
    const rgModelDef* def = w->def;
    bool site = !(def->frames[id.index1 - 1].fieldOfView > 0);
    for (int i = 0; i < def->actuatorCount && !site; ++i) {
        const rgActuatorDef* a = &def->actuators[i];
        site = a->frame.index1 == id.index1 || a->reference.index1 == id.index1 ||
               a->slider.index1 == id.index1;
    }
    for (int i = 0; i < def->tendonCount && !site; ++i) {
        for (int k = 0; k < def->tendons[i].pointCount; ++k) {
            site = site || def->tendons[i].points[k].frame.index1 == id.index1;
        }
    }
    for (int i = 0; i < def->sensorCount && !site; ++i) {
        const rgSensorDef* s = &def->sensors[i];
        bool alone = rgSensorKind_Traits(s->kind)->object == rg_objectSite;
        site = s->frame.index1 == id.index1 && alone;
    }
    return site ? "site" : "camera";
}

static void rgMjWriter_Site(rgMjWriter* w, int number, int depth) {
    const rgFrameDef* frame = &w->def->frames[number];
    rgPartName made;
    double size = 0.005;
    for (int i = 0; i < w->def->sensorCount; ++i) {
        const rgSensorDef* sensor = &w->def->sensors[i];
        bool mine = sensor->kind == rg_sensorTouch && sensor->frame.index1 == number + 1;
        size = mine && sensor->touchRadius > 0 ? sensor->touchRadius : size;
    }
    rgText_Indent(&w->text, depth);
    if (strcmp(rgMjWriter_FrameElement(w, (rgFrameId){number + 1}), "camera") == 0) {
        rgText_Add(&w->text, "<camera");
        rgText_Attribute(&w->text, "name", rgNamed(frame->name, "site", number + 1, &made));
        rgMjWriter_Pose(w, frame->pose);
        rgText_Number(&w->text, "fovy", frame->fieldOfView * 180 / 3.141592653589793);
        rgText_Add(&w->text, "/>\n");
        return;
    }
    rgText_Add(&w->text, "<site");
    rgText_Attribute(&w->text, "name", rgNamed(frame->name, "site", number + 1, &made));
    rgMjWriter_Pose(w, frame->pose);
    rgText_Number(&w->text, "size", size);
    rgText_Add(&w->text, "/>\n");
}

// Joints, then shapes and frames, then child bodies.
static void rgMjWriter_Contents(rgMjWriter* w, int body, int depth) {
    const rgModelDef* def = w->def;
    for (int i = w->firstJoint[body]; i >= 0; i = w->nextJoint[i]) {
        rgMjWriter_Joint(w, i, depth);
    }
    for (int i = w->firstShape[body]; i >= 0; i = w->nextShape[i]) {
        rgMjWriter_Geom(w, i, depth);
    }
    for (int i = 0; i < def->frameCount; ++i) {
        if (def->frames[i].body.index1 == body) {
            rgMjWriter_Site(w, i, depth);
        }
    }
    rgMjWriter_HelperSites(w, body, depth);
    for (int child = w->firstChild[body]; child > 0; child = w->nextChild[child]) {
        const rgBodyDef* part = &def->bodies[child - 1];
        rgPartName made;
        rgText_Indent(&w->text, depth);
        rgText_Add(&w->text, "<body");
        rgText_Attribute(&w->text, "name", rgMjWriter_BodyName(def, child - 1, &made));
        rgMjWriter_Pose(w, part->pose);
        rgText_NumberUnless(&w->text, "gravcomp", part->gravityCompensation, 0);
        if (part->kinematic) {
            rgText_Attribute(&w->text, "mocap", "true");
        }
        rgText_Add(&w->text, ">\n");
        rgMjWriter_Inertial(w, part, depth + 1);
        rgMjWriter_Contents(w, child, depth + 1);
        rgText_Indent(&w->text, depth);
        rgText_Add(&w->text, "</body>\n");
    }
}

// Lists by body, in order of addition; index 0 is the world.
static bool rgMjWriter_List(rgMjWriter* w) {
    const rgModelDef* def = w->def;
    int count = def->bodyCount + 1;
    rgArena* arena = &w->arena;
    w->firstJoint = RG_TAKE(arena, int, count);
    w->firstShape = RG_TAKE(arena, int, count);
    w->firstChild = RG_TAKE(arena, int, count);
    w->nextChild = RG_TAKE(arena, int, count);
    w->nextJoint = RG_TAKE(arena, int, def->jointCount + 1);
    w->nextShape = RG_TAKE(arena, int, def->shapeCount + 1);
    w->world = RG_TAKE(arena, rgPose, count);
    if (arena->failed) {
        return false;
    }
    w->world[0] = rgPoseIdentity();
    for (int i = 0; i < count; ++i) {
        w->firstJoint[i] = w->firstShape[i] = -1;
        w->firstChild[i] = w->nextChild[i] = 0;
    }
    for (int i = def->bodyCount; i >= 1; --i) {
        int parent = def->bodies[i - 1].parent.index1;
        w->nextChild[i] = w->firstChild[parent];
        w->firstChild[parent] = i;
    }
    for (int i = 1; i < count; ++i) { // parents come first
        w->world[i] =
            rgPoseMultiply(w->world[def->bodies[i - 1].parent.index1], def->bodies[i - 1].pose);
    }
    for (int i = def->jointCount - 1; i >= 0; --i) {
        int body = def->joints[i].body.index1;
        w->nextJoint[i] = w->firstJoint[body];
        w->firstJoint[body] = i;
    }
    for (int i = def->shapeCount - 1; i >= 0; --i) {
        int body = def->shapes[i].body.index1;
        w->nextShape[i] = w->firstShape[body];
        w->firstShape[body] = i;
    }
    return true;
}

static void rgMjWriter_ReportShapes(rgMjWriter* w) {
    rgOmissions soft = {.diagnostics = w->diagnostics,
                        .what =
                            "MJCF pairs have no stiffness and restitution; left out for pairs of"};
    rgOmissions hulls = {.diagnostics = w->diagnostics,
                         .what = "MJCF collides with the convex hull of a mesh"};
    rgOmissions round = {.diagnostics = w->diagnostics,
                         .what = "rounded hulls are written as their cores"};
    for (int i = 0; i < w->def->shapeCount; ++i) {
        const rgShapeDef* shape = &w->def->shapes[i];
        if (shape->kind == rg_shapeMesh && !shape->visualOnly) {
            rgOmissions_Add(&hulls, shape->name);
        }
        if (shape->rounding > 0 && shape->kind == rg_shapeHull) {
            rgOmissions_Add(&round, shape->name);
        }
    }
    for (int i = 0; i < w->def->pairCount; ++i) {
        const rgMaterial* material = &w->def->pairs[i].material;
        if (w->def->pairs[i].hasMaterial &&
            (material->stiffness > 0 || material->tangentialStiffness > 0 ||
             material->restitution > 0 || material->transitionSpeed > 0)) {
            rgOmissions_Add(&soft, w->def->shapes[w->def->pairs[i].a.index1 - 1].name);
        }
    }
    rgOmissions_Report(&soft);
    rgOmissions_Report(&hulls);
    rgReportSurfaces(w->def, w->diagnostics, false);
    rgOmissions_Report(&round);
}

static void rgMjWriter_Write(rgMjWriter* w) {
    rgText_Add(&w->text, "<mujoco");
    rgText_Attribute(&w->text, "model", w->def->name);
    rgText_Add(&w->text,
               ">\n  <compiler angle=\"radian\" autolimits=\"true\" inertiafromgeom=\"false\"/>\n");
    rgMjWriter_Option(w);
    rgMjWriter_Assets(w);
    rgText_Add(&w->text, "  <worldbody>\n");
    rgMjWriter_Contents(w, 0, 2);
    rgText_Add(&w->text, "  </worldbody>\n");
    rgMjWriter_Parts(w);
    rgText_Add(&w->text, "</mujoco>\n");
    rgMjWriter_ReportShapes(w);
    rgOmissions_Report(&w->speeds);
    rgOmissions_Report(&w->split);
}

rgResult rgWriteMjcf(const rgModelDef* def, rgDiagnostics* diagnostics, rgText* text) {
    rgMjWriter w = {.def = def,
                    .diagnostics = diagnostics,
                    .text = *text,
                    .speeds = {.diagnostics = diagnostics,
                               .what = "MJCF has no velocity limits; left out for joints"},
                    .split = {.diagnostics = diagnostics,
                              .what = "planar joints were written as three joints each"}};
    rgArena_Init(&w.arena, &def->allocator);
    bool listed = rgMjWriter_List(&w);
    if (listed) {
        rgMjWriter_Write(&w);
    }
    *text = w.text;
    rgArena_Free(&w.arena);
    return listed && !text->failed ? rg_ok : rg_errorMemory;
}

rgResult rgSaveMjcf(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics) {
    if (def == NULL || path == NULL) {
        return rg_errorArgument;
    }
    rgText text = {.allocator = def->allocator};
    rgResult result = rgWriteMjcf(def, diagnostics, &text);
    if (result == rg_ok) {
        result = rgText_Save(&text, path, diagnostics);
    }
    rgRelease(&def->allocator, text.bytes);
    return result;
}
