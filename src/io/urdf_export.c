// A model definition as URDF. The root link is "world"; bodies are connected to it by their joints.
// A body with several joints becomes a chain of links without mass. A link's frame is its body's,
// moved to the anchor of the last joint, because URDF turns links about their origin.
#include "io/convex.h"
#include "io/export.h"

#include "io/file.h"
#include "io/load.h"
#include "rigor/io.h"

#include <stdio.h>
#include <string.h>

typedef struct rgUrdfWriter {
    const rgModelDef* def;
    rgDiagnostics* diagnostics;
    const char* path;
    rgText text;
    rgArena arena;
    rgVec3* offset; // by body (0: the world): origin of its link in the body frame
    bool* written;  // equalities that became <mimic>
    rgOmissions shapes, armatures, springs, frictions;
    int meshCount;
    rgResult result;
} rgUrdfWriter;

static const char* rgUrdfWriter_Link(const rgUrdfWriter* w, int body, rgPartName* made) {
    if (body == 0) {
        return "world";
    }
    const char* name = w->def->bodies[body - 1].name;
    return name != NULL && strcmp(name, "world") == 0 ? "world_body"
                                                      : rgNamed(name, "link", body, made);
}

static const char* rgUrdfWriter_JointName(const rgUrdfWriter* w, int joint, rgPartName* made) {
    return rgNamed(w->def->joints[joint].name, "joint", joint + 1, made);
}

// Fixed-axis angles of Rz Ry Rx.
static rgVec3 rgRollPitchYaw(rgQuat q) {
    rgMat3 r = rgMat3FromQuat(q);
    double across = hypot(r.m[0], r.m[3]);
    double pitch = atan2(-r.m[6], across);
    if (across > 1e-9) {
        return rgVec(atan2(r.m[7], r.m[8]), pitch, atan2(r.m[3], r.m[0]));
    }
    return rgVec(0, pitch, atan2(-r.m[1], r.m[4])); // roll and yaw turn about one axis
}

static void rgUrdfWriter_Origin(rgUrdfWriter* w, rgPose pose, int depth) {
    rgText_Indent(&w->text, depth);
    rgText_Add(&w->text, "<origin");
    rgText_Vec(&w->text, "xyz", pose.p);
    rgText_Vec(&w->text, "rpy", rgRollPitchYaw(pose.q));
    rgText_Add(&w->text, "/>\n");
}

static void rgUrdfWriter_Inertial(rgUrdfWriter* w, const rgInertia* inertia, rgVec3 offset) {
    const rgSym3* s = &inertia->moment;
    if (!(inertia->mass > 0)) {
        return;
    }
    rgText_Add(&w->text, "    <inertial>\n");
    rgUrdfWriter_Origin(w, (rgPose){.p = rgSub(inertia->center, offset), .q = rgQuatIdentity()}, 3);
    rgText_Add(&w->text, "      <mass");
    rgText_Number(&w->text, "value", inertia->mass);
    rgText_Add(&w->text, "/>\n      <inertia");
    rgText_Number(&w->text, "ixx", s->xx);
    rgText_Number(&w->text, "ixy", s->xy);
    rgText_Number(&w->text, "ixz", s->xz);
    rgText_Number(&w->text, "iyy", s->yy);
    rgText_Number(&w->text, "iyz", s->yz);
    rgText_Number(&w->text, "izz", s->zz);
    rgText_Add(&w->text, "/>\n    </inertial>\n");
}

static void rgUrdfWriter_SaveObj(rgUrdfWriter* w, const rgMeshData* mesh, const char* path) {
    rgText obj = {.allocator = w->def->allocator};
    for (int i = 0; i < mesh->vertexCount; ++i) {
        const double* v = mesh->vertices + 3 * (size_t)i;
        rgText_Add(&obj, "v");
        for (int k = 0; k < 3; ++k) {
            rgText_Add(&obj, " ");
            rgText_Value(&obj, v[k]);
        }
        rgText_Add(&obj, "\n");
    }
    for (int i = 0; i < mesh->triangleCount; ++i) {
        const int* t = mesh->triangles + 3 * (size_t)i;
        rgText_Add(&obj, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    rgResult result = rgText_Save(&obj, path, w->diagnostics);
    w->result = w->result == rg_ok ? result : w->result;
    rgRelease(&w->def->allocator, obj.bytes);
}

// An OBJ file beside the URDF file. Hulls are written with the triangles of the hull, so that they
// stay hulls when they are read as meshes.
static void rgUrdfWriter_SaveMesh(rgUrdfWriter* w, const rgShapeDef* shape, const char* path) {
    rgMeshData hull;
    bool convex = shape->kind == rg_shapeHull && rgConvexTriangles(shape->mesh, &w->arena, &hull);
    rgUrdfWriter_SaveObj(w, convex ? &hull : shape->mesh, path);
}

static void rgUrdfWriter_Mesh(rgUrdfWriter* w, const rgShapeDef* shape) {
    char path[RG_PATH_LENGTH + 32];
    const char* slash = strrchr(w->path, '/');
    const char* base = slash != NULL ? slash + 1 : w->path;
    const char* dot = strrchr(base, '.');
    int stem = (int)(dot != NULL ? dot - w->path : (long)strlen(w->path));
    snprintf(path, sizeof(path), "%.*s_mesh_%d.obj", RG_MIN(stem, RG_PATH_LENGTH), w->path,
             ++w->meshCount);
    rgUrdfWriter_SaveMesh(w, shape, path);
    slash = strrchr(path, '/');
    rgText_Add(&w->text, "<mesh");
    rgText_Attribute(&w->text, "filename", slash != NULL ? slash + 1 : path);
    rgText_Add(&w->text, "/>");
}

static void rgUrdfWriter_Geometry(rgUrdfWriter* w, const rgShapeDef* shape) {
    double out = shape->rounding; // written sharp, at its full size
    rgText_Add(&w->text, "      <geometry>");
    switch (shape->kind) {
    case rg_shapeSphere:
        rgText_Add(&w->text, "<sphere");
        rgText_Number(&w->text, "radius", shape->size.x);
        rgText_Add(&w->text, "/>");
        break;
    case rg_shapeBox:
        rgText_Add(&w->text, "<box");
        rgText_Vec(&w->text, "size", rgScale(2, rgAdd(shape->size, rgVec(out, out, out))));
        rgText_Add(&w->text, "/>");
        break;
    case rg_shapeCapsule:
    case rg_shapeCylinder:
        rgText_Add(&w->text, shape->kind == rg_shapeCapsule ? "<capsule" : "<cylinder");
        rgText_Number(&w->text, "radius", shape->size.x + out);
        rgText_Number(&w->text, "length", 2 * (shape->size.y + out));
        rgText_Add(&w->text, "/>");
        break;
    default:
        rgUrdfWriter_Mesh(w, shape);
        break;
    }
    rgText_Add(&w->text, "</geometry>\n");
}

static bool rgUrdfCanShow(rgShapeKind kind) {
    return kind != rg_shapePlane && kind != rg_shapeEllipsoid && kind != rg_shapeHeightField &&
           kind != rg_shapeNone;
}

static void rgUrdfWriter_Shape(rgUrdfWriter* w, const rgShapeDef* shape, rgVec3 offset) {
    const char* element = shape->visualOnly ? "visual" : "collision";
    if (!rgUrdfCanShow(shape->kind)) {
        rgOmissions_Add(&w->shapes, shape->name);
        return;
    }
    rgPose pose = {.p = rgSub(shape->pose.p, offset), .q = shape->pose.q};
    rgText_Add(&w->text, "    <%s", element);
    rgText_Attribute(&w->text, "name", shape->name);
    rgText_Add(&w->text, ">\n");
    rgUrdfWriter_Origin(w, pose, 3);
    rgUrdfWriter_Geometry(w, shape);
    if (shape->visualOnly) {
        rgText_Add(&w->text, "      <material name=\"\"><color");
        rgText_Color(&w->text, shape->color);
        rgText_Add(&w->text, "/></material>\n");
    }
    rgText_Add(&w->text, "    </%s>\n", element);
}

// Friction and restitution of a link, in the element that Bullet has added: those of its first
// shape that collides. NULL: it has none.
static const rgMaterial* rgUrdfWriter_Surface(const rgUrdfWriter* w, int body) {
    for (int i = 0; i < w->def->shapeCount; ++i) {
        const rgShapeDef* shape = &w->def->shapes[i];
        if (shape->body.index1 == body && !shape->visualOnly && rgUrdfCanShow(shape->kind)) {
            return &shape->material;
        }
    }
    return NULL;
}

static void rgUrdfWriter_Contact(rgUrdfWriter* w, int body) {
    const rgMaterial* material = rgUrdfWriter_Surface(w, body);
    rgMaterial usual = rgDefaultMaterial();
    if (material == NULL || (material->mu == usual.mu && material->restitution == 0)) {
        return;
    }
    rgText_Add(&w->text, "    <contact><lateral_friction");
    rgText_Number(&w->text, "value", material->mu);
    rgText_Add(&w->text, "/>");
    if (material->restitution > 0) {
        rgText_Add(&w->text, "<restitution");
        rgText_Number(&w->text, "value", material->restitution);
        rgText_Add(&w->text, "/>");
    }
    rgText_Add(&w->text, "</contact>\n");
}

static void rgUrdfWriter_BodyLink(rgUrdfWriter* w, int body) {
    rgPartName made;
    rgText_Add(&w->text, "  <link");
    rgText_Attribute(&w->text, "name", rgUrdfWriter_Link(w, body, &made));
    rgText_Add(&w->text, ">\n");
    if (body > 0) {
        rgUrdfWriter_Inertial(w, &w->def->bodies[body - 1].inertia, w->offset[body]);
    }
    for (int i = 0; i < w->def->shapeCount; ++i) {
        if (w->def->shapes[i].body.index1 == body) {
            rgUrdfWriter_Shape(w, &w->def->shapes[i], w->offset[body]);
        }
    }
    rgUrdfWriter_Contact(w, body);
    rgText_Add(&w->text, "  </link>\n");
}

static void rgUrdfWriter_Limit(rgUrdfWriter* w, const rgJointDef* joint) {
    if (!joint->hasLimits && !(joint->effortLimit > 0) && !(joint->velocityLimit > 0)) {
        return;
    }
    rgText_Add(&w->text, "    <limit");
    if (joint->hasLimits) {
        rgText_Number(&w->text, "lower", joint->lower);
        rgText_Number(&w->text, "upper", joint->upper);
    }
    rgText_NumberUnless(&w->text, "effort", joint->effortLimit, 0);
    rgText_NumberUnless(&w->text, "velocity", joint->velocityLimit, 0);
    rgText_Add(&w->text, "/>\n");
}

// Coupling of two joints that <mimic> can express: q_A = offset + multiplier q_B.
static void rgUrdfWriter_Mimic(rgUrdfWriter* w, int joint) {
    for (int i = 0; i < w->def->equalityCount; ++i) {
        const rgEqualityDef* e = &w->def->equalities[i];
        const double* c = e->polynomial;
        if (e->kind != rg_equalityJoint || e->jointA.index1 != joint + 1 || e->jointB.index1 == 0 ||
            e->disabled || c[2] != 0 || c[3] != 0 || c[4] != 0) {
            continue;
        }
        rgPartName made;
        int other = e->jointB.index1 - 1;
        rgText_Add(&w->text, "    <mimic");
        rgText_Attribute(&w->text, "joint", rgUrdfWriter_JointName(w, other, &made));
        rgText_Number(&w->text, "multiplier", c[1]);
        rgText_Number(&w->text, "offset",
                      c[0] + w->def->joints[joint].reference -
                          c[1] * w->def->joints[other].reference);
        rgText_Add(&w->text, "/>\n");
        w->written[i] = true;
        return;
    }
}

static const char* rgUrdfJointType(const rgJointDef* joint) {
    switch (joint->kind) {
    case rg_jointRevolute:
        return joint->hasLimits ? "revolute" : "continuous";
    case rg_jointPrismatic:
        return "prismatic";
    case rg_jointSpherical:
        return "spherical";
    case rg_jointFree:
        return "floating";
    case rg_jointPlanar:
        return "planar";
    default:
        return "fixed";
    }
}

static void rgUrdfWriter_JointNumbers(rgUrdfWriter* w, const rgJointDef* joint, int number,
                                      const char* name) {
    if (joint->kind != rg_jointSpherical && joint->kind != rg_jointFree) {
        rgText_Add(&w->text, "    <axis");
        rgText_Vec(&w->text, "xyz", rgNormalize(joint->axis));
        rgText_Add(&w->text, "/>\n");
        rgUrdfWriter_Limit(w, joint);
    }
    if (joint->damping > 0 || joint->dryFriction > 0) {
        rgText_Add(&w->text, "    <dynamics");
        rgText_Number(&w->text, "damping", joint->damping);
        rgText_Number(&w->text, "friction", joint->dryFriction);
        rgText_Add(&w->text, "/>\n");
    }
    if (joint->armature > 0) {
        rgOmissions_Add(&w->armatures, name);
    }
    if (joint->stiffness > 0) {
        rgOmissions_Add(&w->springs, name);
    }
    rgUrdfWriter_Mimic(w, number);
}

static void rgUrdfWriter_Joint(rgUrdfWriter* w, int number, const char* parent, const char* child,
                               rgPose origin) {
    const rgJointDef* joint = &w->def->joints[number];
    rgPartName made;
    const char* name = rgUrdfWriter_JointName(w, number, &made);
    rgText_Add(&w->text, "  <joint");
    rgText_Attribute(&w->text, "name", name);
    rgText_Attribute(&w->text, "type", rgUrdfJointType(joint));
    rgText_Add(&w->text, ">\n");
    rgUrdfWriter_Origin(w, origin, 2);
    rgText_Add(&w->text, "    <parent");
    rgText_Attribute(&w->text, "link", parent);
    rgText_Add(&w->text, "/>\n    <child");
    rgText_Attribute(&w->text, "link", child);
    rgText_Add(&w->text, "/>\n");
    rgUrdfWriter_JointNumbers(w, joint, number, name);
    rgText_Add(&w->text, "  </joint>\n");
}

static void rgUrdfWriter_FixedJoint(rgUrdfWriter* w, const char* parent, const char* child,
                                    rgPose origin) {
    char name[300];
    snprintf(name, sizeof(name), "%.250s_fixed", child);
    rgText_Add(&w->text, "  <joint");
    rgText_Attribute(&w->text, "name", name);
    rgText_Add(&w->text, " type=\"fixed\">\n");
    rgUrdfWriter_Origin(w, origin, 2);
    rgText_Add(&w->text, "    <parent");
    rgText_Attribute(&w->text, "link", parent);
    rgText_Add(&w->text, "/>\n    <child");
    rgText_Attribute(&w->text, "link", child);
    rgText_Add(&w->text, "/>\n  </joint>\n");
}

// Origin of a joint's link, in the link before it: at the anchor, turned or moved back by the
// reference, since URDF's joints are zero at their origin.
static rgPose rgUrdfJointOrigin(const rgJointDef* joint, rgPose body, rgVec3* offset) {
    rgPose step = rgPoseIdentity();
    rgVec3 axis = rgNormalize(joint->axis);
    if (joint->kind == rg_jointPrismatic) {
        step.p = rgAddScaled(*offset, -joint->reference, axis);
        return rgPoseMultiply(body, step);
    }
    *offset = joint->kind == rg_jointFree ? rgVec(0, 0, 0) : joint->anchor;
    step.p = *offset;
    if (joint->kind == rg_jointRevolute) {
        step.q = rgQuatFromAxisAngle(axis, -joint->reference);
    }
    return rgPoseMultiply(body, step);
}

// A link between two joints of one body. Saying that it weighs nothing shows that it is meant.
static void rgUrdfWriter_EmptyLink(rgUrdfWriter* w, const char* name) {
    rgText_Add(&w->text, "  <link");
    rgText_Attribute(&w->text, "name", name);
    rgText_Add(&w->text, ">\n    <inertial>\n      <mass value=\"0\"/>\n"
                         "      <inertia ixx=\"0\" ixy=\"0\" ixz=\"0\" iyy=\"0\" iyz=\"0\" "
                         "izz=\"0\"/>\n    </inertial>\n  </link>\n");
}

// Links and joints of one body: from the link of its parent to its own.
static void rgUrdfWriter_Body(rgUrdfWriter* w, int body) {
    const rgBodyDef* def = &w->def->bodies[body - 1];
    rgPartName parentMade, childMade;
    int parentBody = def->parent.index1, last = -1;
    for (int i = 0; i < w->def->jointCount; ++i) {
        bool mine =
            w->def->joints[i].body.index1 == body && w->def->joints[i].kind != rg_jointFixed;
        last = mine ? i : last;
    }
    char parent[300], child[300];
    snprintf(parent, sizeof(parent), "%s", rgUrdfWriter_Link(w, parentBody, &parentMade));
    const char* name = rgUrdfWriter_Link(w, body, &childMade);
    rgVec3 offset = {0, 0, 0};
    rgPose from = {.p = rgSub(def->pose.p, w->offset[parentBody]), .q = def->pose.q};
    for (int i = 0; i <= last; ++i) {
        if (w->def->joints[i].body.index1 != body || w->def->joints[i].kind == rg_jointFixed) {
            continue;
        }
        rgPartName made;
        rgPose origin = rgUrdfJointOrigin(&w->def->joints[i], from, &offset);
        if (i == last) {
            w->offset[body] = offset;
            snprintf(child, sizeof(child), "%s", name);
            rgUrdfWriter_BodyLink(w, body);
        } else {
            snprintf(child, sizeof(child), "%.120s_%.120s", name,
                     rgUrdfWriter_JointName(w, i, &made));
            rgUrdfWriter_EmptyLink(w, child);
        }
        rgUrdfWriter_Joint(w, i, parent, child, origin);
        memcpy(parent, child, sizeof(parent));
        from = (rgPose){.p = rgNegate(offset), .q = rgQuatIdentity()};
    }
    if (last < 0) {
        w->offset[body] = rgVec(0, 0, 0);
        rgUrdfWriter_BodyLink(w, body);
        rgUrdfWriter_FixedJoint(w, parent, name, from);
    }
}

static bool rgUrdfWriter_IsLink(const rgUrdfWriter* w, const char* name) {
    for (int i = 0; i < w->def->bodyCount; ++i) {
        if (w->def->bodies[i].name != NULL && strcmp(w->def->bodies[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void rgUrdfWriter_Frames(rgUrdfWriter* w) {
    rgOmissions omissions = {.diagnostics = w->diagnostics,
                             .what = "frames without a name, or with that of a body, are left out"};
    for (int i = 0; i < w->def->frameCount; ++i) {
        const rgFrameDef* frame = &w->def->frames[i];
        rgPartName made;
        if (frame->name == NULL || rgUrdfWriter_IsLink(w, frame->name)) {
            rgOmissions_Add(&omissions, frame->name);
            continue;
        }
        int body = frame->body.index1;
        rgPose pose = {.p = rgSub(frame->pose.p, w->offset[body]), .q = frame->pose.q};
        rgText_Add(&w->text, "  <link");
        rgText_Attribute(&w->text, "name", frame->name);
        rgText_Add(&w->text, "/>\n");
        rgUrdfWriter_FixedJoint(w, rgUrdfWriter_Link(w, body, &made), frame->name, pose);
    }
    rgOmissions_Report(&omissions);
}

static void rgUrdfWriter_ReportRounded(rgUrdfWriter* w) {
    rgOmissions omissions = {.diagnostics = w->diagnostics,
                             .what = "rounded shapes are written without rounding: boxes and "
                                     "cylinders in full size, hulls as their cores"};
    for (int i = 0; i < w->def->shapeCount; ++i) {
        if (w->def->shapes[i].rounding > 0) {
            rgOmissions_Add(&omissions, w->def->shapes[i].name);
        }
    }
    rgOmissions_Report(&omissions);
}

static void rgUrdfWriter_ReportKinematic(rgUrdfWriter* w) {
    rgOmissions omissions = {.diagnostics = w->diagnostics,
                             .what = "URDF has no kinematic bodies; written as fixed"};
    for (int i = 0; i < w->def->bodyCount; ++i) {
        if (w->def->bodies[i].kinematic) {
            rgOmissions_Add(&omissions, w->def->bodies[i].name);
        }
    }
    rgOmissions_Report(&omissions);
}

static void rgUrdfWriter_ReportEqualities(rgUrdfWriter* w) {
    rgOmissions omissions = {.diagnostics = w->diagnostics,
                             .what =
                                 "URDF has no loops and only linear couplings of joints; left out"};
    for (int i = 0; i < w->def->equalityCount; ++i) {
        if (!w->written[i]) {
            const rgEqualityDef* e = &w->def->equalities[i];
            const char* body =
                e->bodyA.index1 > 0 ? w->def->bodies[e->bodyA.index1 - 1].name : NULL;
            rgOmissions_Add(&omissions, e->name != NULL ? e->name : body);
        }
    }
    rgOmissions_Report(&omissions);
}

static void rgUrdfWriter_ReportParts(rgUrdfWriter* w) {
    const rgModelDef* def = w->def;
    rgOmissions actuators = {.diagnostics = w->diagnostics,
                             .what = "URDF has no actuators; left out"};
    rgOmissions sensors = {.diagnostics = w->diagnostics, .what = "URDF has no sensors; left out"};
    rgOmissions tendons = {.diagnostics = w->diagnostics, .what = "URDF has no tendons; left out"};
    rgOmissions keys = {.diagnostics = w->diagnostics, .what = "URDF has no key frames; left out"};
    rgOmissions pairs = {.diagnostics = w->diagnostics,
                         .what = "URDF cannot express which bodies may collide; left out"};
    for (int i = 0; i < def->actuatorCount; ++i) {
        rgOmissions_Add(&actuators, def->actuators[i].name);
    }
    for (int i = 0; i < def->sensorCount; ++i) {
        rgOmissions_Add(&sensors, def->sensors[i].name);
    }
    for (int i = 0; i < def->tendonCount; ++i) {
        rgOmissions_Add(&tendons, def->tendons[i].name);
    }
    for (int i = 0; i < def->keyCount; ++i) {
        rgOmissions_Add(&keys, def->keys[i].name);
    }
    for (int i = 0; i < def->excludeCount; ++i) {
        if (def->excludes[i].overlap > 0) {
            continue; // the loader excludes it again
        }
        rgPartName a, b;
        char both[200];
        snprintf(both, sizeof(both), "%s/%s", rgUrdfWriter_Link(w, def->excludes[i].a.index1, &a),
                 rgUrdfWriter_Link(w, def->excludes[i].b.index1, &b));
        rgOmissions_Add(&pairs, both);
    }
    for (int i = 0; i < def->pairCount; ++i) {
        rgOmissions_Add(&pairs, def->shapes[def->pairs[i].a.index1 - 1].name);
    }
    rgOmissions* const all[] = {&w->shapes, &w->armatures, &w->springs, &tendons,
                                &actuators, &sensors,      &keys,       &pairs};
    for (int i = 0; i < RG_COUNT(all); ++i) {
        rgOmissions_Report(all[i]);
    }
}

static rgFrictionRule rgUrdfWriter_Rule(const rgUrdfWriter* w) {
    return w->def->shapeCount > 0 ? w->def->shapes[0].material.frictionRule : rg_frictionUnset;
}

static void rgUrdfWriter_ReportSurfaces(rgUrdfWriter* w) {
    for (int i = 0; i < w->def->shapeCount; ++i) {
        const rgShapeDef* shape = &w->def->shapes[i];
        const rgMaterial *own = &shape->material,
                         *written = rgUrdfWriter_Surface(w, shape->body.index1);
        if (shape->visualOnly || !rgUrdfCanShow(shape->kind)) {
            continue;
        }
        if (shape->group != 1 || shape->mask != 1 || own->mu != written->mu ||
            own->restitution != written->restitution || own->stiffness > 0 ||
            own->tangentialStiffness > 0 || own->transitionSpeed > 0 || own->adhesion > 0 ||
            own->dimension != 3 || own->frictionRule != rgUrdfWriter_Rule(w)) {
            rgOmissions_Add(&w->frictions, shape->name);
        }
    }
    rgOmissions_Report(&w->frictions);
}

static void rgUrdfWriter_Write(rgUrdfWriter* w) {
    rgText_Add(&w->text, "<?xml version=\"1.0\"?>\n<robot");
    rgText_Attribute(&w->text, "name", w->def->name[0] != '\0' ? w->def->name : "robot");
    rgText_Add(&w->text, ">\n");
    rgUrdfWriter_BodyLink(w, 0);
    for (int body = 1; body <= w->def->bodyCount; ++body) { // parents come first
        rgUrdfWriter_Body(w, body);
    }
    rgUrdfWriter_Frames(w);
    if (rgUrdfWriter_Rule(w) > rg_frictionGeometric) {
        rgText_Add(&w->text, "  <rigor friction_rule=\"%s\"/>\n",
                   rgFrictionRuleWord(rgUrdfWriter_Rule(w)));
    }
    rgText_Add(&w->text, "</robot>\n");
    rgUrdfWriter_ReportRounded(w);
    rgUrdfWriter_ReportKinematic(w);
    rgReportSurfaces(w->def, w->diagnostics, true);
    rgUrdfWriter_ReportEqualities(w);
    rgUrdfWriter_ReportParts(w);
    rgUrdfWriter_ReportSurfaces(w);
}

rgResult rgSaveUrdf(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics) {
    if (def == NULL || path == NULL) {
        return rg_errorArgument;
    }
    rgUrdfWriter w = {
        .def = def,
        .diagnostics = diagnostics,
        .path = path,
        .text = {.allocator = def->allocator},
        .shapes = {.diagnostics = diagnostics,
                   .what = "URDF has no planes, ellipsoids and height fields; left out"},
        .armatures = {.diagnostics = diagnostics,
                      .what = "URDF has no armature; left out for joints"},
        .springs = {.diagnostics = diagnostics, .what = "URDF has no springs; left out for joints"},
        .frictions = {.diagnostics = diagnostics,
                      .what =
                          "URDF has one friction and restitution per link and no contact masks, "
                          "dimensions and springs; left out for shapes"}};
    rgArena_Init(&w.arena, &def->allocator);
    w.offset = RG_TAKE(&w.arena, rgVec3, def->bodyCount + 1);
    w.written = RG_TAKE(&w.arena, bool, def->equalityCount + 1);
    rgResult result = rg_errorMemory;
    if (!w.arena.failed) {
        w.offset[0] = rgVec(0, 0, 0);
        memset(w.written, 0, sizeof(bool) * ((size_t)def->equalityCount + 1));
        rgUrdfWriter_Write(&w);
        result = rgText_Save(&w.text, path, diagnostics);
        result = result == rg_ok ? w.result : result;
    }
    rgRelease(&def->allocator, w.text.bytes);
    rgArena_Free(&w.arena);
    return result;
}

rgResult rgSaveModelDef(const rgModelDef* def, const char* path, rgDiagnostics* diagnostics) {
    char extension[16];
    if (def == NULL || path == NULL) {
        return rg_errorArgument;
    }
    rgPathExtension(path, extension);
    if (strcmp(extension, "urdf") == 0) {
        return rgSaveUrdf(def, path, diagnostics);
    }
    if (strcmp(extension, "xml") == 0 || strcmp(extension, "mjcf") == 0) {
        return rgSaveMjcf(def, path, diagnostics);
    }
    rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                      "the name ends in neither .urdf nor .xml");
    return rg_errorUnsupported;
}
