// Errors of a definition, with the part's name, its values and its source.
#include "model/def.h"
#include "model/model.h"
#include "rigor/inertia.h"

#include <float.h>

// A part under inspection: complaints start with its kind and name.
typedef struct rgCase {
    rgCompiler* compiler;
    const char* kind;
    const char* name;
    rgSource source;
    char buffer[32];
} rgCase;

static void rgCase_Open(rgCase* c, const char* kind, const char* name, int index, rgSource source) {
    c->kind = kind;
    c->name = rgPartName(name, index, c->buffer);
    c->source = source;
}

static void rgCase_Error(rgCase* c, const char* what) {
    rgCompiler_Error(c->compiler, c->source, "%s '%s': %s", c->kind, c->name, what);
}

static void rgCase_Finite(rgCase* c, const char* what, double value) {
    if (!isfinite(value)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': %s is %g", c->kind, c->name, what,
                         value);
    }
}

static void rgCase_NotNegative(rgCase* c, const char* what, double value) {
    if (!(value >= 0) || !isfinite(value)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': %s is %g; it must not be negative",
                         c->kind, c->name, what, value);
    }
}

static void rgCase_Positive(rgCase* c, const char* what, double value) {
    if (!(value > 0) || !isfinite(value)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': %s is %g; it must be positive", c->kind,
                         c->name, what, value);
    }
}

static void rgCase_Range(rgCase* c, const char* what, double lower, double upper) {
    if (!(lower <= upper)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': the %s are crossed: lower %g, upper %g",
                         c->kind, c->name, what, lower, upper);
    }
}

static bool rgVecIsFinite(rgVec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static void rgCase_Pose(rgCase* c, const char* what, rgPose pose) {
    double length =
        sqrt(pose.q.w * pose.q.w + pose.q.x * pose.q.x + pose.q.y * pose.q.y + pose.q.z * pose.q.z);
    if (!rgVecIsFinite(pose.p)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': position of %s is (%g, %g, %g)", c->kind,
                         c->name, what, pose.p.x, pose.p.y, pose.p.z);
    }
    if (!(fabs(length - 1) < 1e-3)) {
        rgCompiler_Error(
            c->compiler, c->source,
            "%s '%s': quaternion of %s is (%g, %g, %g, %g), of length %g; it must be 1", c->kind,
            c->name, what, pose.q.w, pose.q.x, pose.q.y, pose.q.z, length);
    }
}

static void rgCase_Inertia(rgCase* c, const rgInertia* inertia) {
    rgInertiaFault fault = rgInertia_Check(inertia);
    const rgSym3* s = &inertia->moment;
    rgVec3 e = fault == rg_inertiaIndefinite || fault == rg_inertiaTriangle ? rgSym3Eigen(s, NULL)
                                                                            : rgVec(0, 0, 0);
    switch (fault) {
    case rg_inertiaFine:
        break;
    case rg_inertiaNotFinite:
        rgCompiler_Error(c->compiler, c->source,
                         "%s '%s': inertia has a value that is not a number: mass %g, centre (%g, "
                         "%g, %g), moment (%g, %g, %g, %g, %g, %g)",
                         c->kind, c->name, inertia->mass, inertia->center.x, inertia->center.y,
                         inertia->center.z, s->xx, s->yy, s->zz, s->xy, s->xz, s->yz);
        break;
    case rg_inertiaNegativeMass:
        rgCompiler_Error(c->compiler, c->source, "%s '%s': mass %g is negative", c->kind, c->name,
                         inertia->mass);
        break;
    case rg_inertiaMassless:
        rgCompiler_Error(c->compiler, c->source,
                         "%s '%s': moment of inertia (%g, %g, %g) without a mass", c->kind, c->name,
                         s->xx, s->yy, s->zz);
        break;
    case rg_inertiaIndefinite:
        rgCompiler_Error(c->compiler, c->source,
                         "%s '%s': principal moments of inertia (%g, %g, %g): one is negative",
                         c->kind, c->name, e.x, e.y, e.z);
        break;
    case rg_inertiaTriangle:
        rgCompiler_Warn(c->compiler, c->source,
                        "%s '%s': principal moments of inertia (%g, %g, %g): the largest exceeds "
                        "the sum of the others, no body has these",
                        c->kind, c->name, e.x, e.y, e.z);
        break;
    }
}

static void rgCheckBodies(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->bodyCount; ++i) {
        const rgBodyDef* body = &compiler->def->bodies[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "body", body->name, i, body->source);
        rgCase_Pose(&c, "the body", body->pose);
        rgCase_Inertia(&c, &body->inertia);
        rgCase_Finite(&c, "gravity compensation", body->gravityCompensation);
    }
}

// Kinematic bodies have no joints, above or below them.
static void rgCheckKinematic(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    bool* below = rgCompiler_Allocate(compiler, def->bodyCount, sizeof(bool)); // a kinematic body
    bool* moves = rgCompiler_Allocate(compiler, def->bodyCount, sizeof(bool));
    if (below == NULL || moves == NULL) {
        return;
    }
    for (int j = 0; j < def->jointCount; ++j) {
        moves[def->joints[j].body.index1 - 1] |= def->joints[j].kind != rg_jointFixed;
    }
    for (int i = 0; i < def->bodyCount; ++i) {
        const rgBodyDef* body = &def->bodies[i];
        int parent = body->parent.index1 - 1;
        below[i] = parent >= 0 && (below[parent] || def->bodies[parent].kinematic);
        if (body->kinematic && parent >= 0 && moves[parent]) {
            rgCase c = {.compiler = compiler};
            rgCase_Open(&c, "body", body->name, i, body->source);
            rgCase_Error(&c, "a kinematic body whose parent moves; its parent must be the world");
        }
        moves[i] |= body->kinematic || (parent >= 0 && moves[parent]);
    }
    for (int j = 0; j < def->jointCount; ++j) {
        const rgJointDef* joint = &def->joints[j];
        int body = joint->body.index1 - 1;
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "joint", joint->name, j, joint->source);
        if (joint->kind == rg_jointFixed) {
            continue;
        }
        if (def->bodies[body].kinematic) {
            rgCase_Error(&c, "its body is kinematic and has no joints: its motion is prescribed");
        } else if (below[body]) {
            rgCase_Error(
                &c,
                "a joint below a kinematic body; a free body that is welded to it can have joints");
        }
    }
}

static bool rgIsScalarJoint(rgJointKind kind) {
    return kind == rg_jointRevolute || kind == rg_jointPrismatic;
}

static void rgCheckJointLimits(rgCase* c, const rgJointDef* joint) {
    if (!joint->hasLimits || joint->kind == rg_jointFixed) {
        return;
    }
    if (joint->kind == rg_jointSpherical) {
        rgCase_Positive(c, "the largest angle (upper limit)", joint->upper);
    } else if (rgIsScalarJoint(joint->kind)) {
        rgCase_Range(c, "limits", joint->lower, joint->upper);
    } else {
        rgCompiler_Warn(c->compiler, c->source,
                        "%s '%s': limits of a free or planar joint are ignored", c->kind, c->name);
    }
}

static void rgCheckAxis(rgCase* c, const rgJointDef* joint) {
    bool needed = rgIsScalarJoint(joint->kind) || joint->kind == rg_jointPlanar;
    double length = rgLength(joint->axis);
    if (needed && (!(length > 1e-9) || !isfinite(length))) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': axis (%g, %g, %g) has no direction",
                         c->kind, c->name, joint->axis.x, joint->axis.y, joint->axis.z);
    }
}

static void rgCheckJoint(rgCase* c, const rgJointDef* joint) {
    if (joint->kind < rg_jointFixed || joint->kind > rg_jointPlanar) {
        rgCase_Error(c, "unknown kind of joint");
        return;
    }
    if (!rgVecIsFinite(joint->anchor)) {
        rgCase_Error(c, "the anchor is not a number");
    }
    rgCheckAxis(c, joint);
    rgCheckJointLimits(c, joint);
    rgCase_Finite(c, "reference", joint->reference);
    rgCase_Finite(c, "spring reference", joint->springReference);
    rgCase_NotNegative(c, "damping", joint->damping);
    rgCase_NotNegative(c, "dry friction", joint->dryFriction);
    rgCase_NotNegative(c, "armature", joint->armature);
    rgCase_NotNegative(c, "stiffness", joint->stiffness);
    rgCase_NotNegative(c, "effort limit", joint->effortLimit);
    rgCase_NotNegative(c, "velocity limit", joint->velocityLimit);
}

// Free joints stand alone on a body whose parents do not move.
static void rgCheckFreeJoints(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    bool* moves = rgCompiler_Allocate(compiler, def->bodyCount, sizeof(bool));
    int* partCounts = rgCompiler_Allocate(compiler, def->bodyCount, sizeof(int));
    if (moves == NULL || partCounts == NULL) {
        return;
    }
    for (int j = 0; j < def->jointCount; ++j) {
        partCounts[def->joints[j].body.index1 - 1] += def->joints[j].kind != rg_jointFixed;
    }
    for (int i = 0; i < def->bodyCount; ++i) {
        int parent = def->bodies[i].parent.index1 - 1;
        moves[i] = partCounts[i] > 0 || (parent >= 0 && moves[parent]);
    }
    for (int j = 0; j < def->jointCount; ++j) {
        const rgJointDef* joint = &def->joints[j];
        int body = joint->body.index1 - 1;
        int parent = def->bodies[body].parent.index1 - 1;
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "joint", joint->name, j, joint->source);
        if (joint->kind == rg_jointFree && partCounts[body] > 1) {
            rgCase_Error(&c, "a free joint must be the only joint of its body");
        }
        if (joint->kind == rg_jointFree && parent >= 0 && moves[parent]) {
            rgCase_Error(&c, "a free joint on a body whose parent moves; its parent must be the "
                             "world");
        }
    }
}

static void rgCheckJoints(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->jointCount; ++i) {
        const rgJointDef* joint = &compiler->def->joints[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "joint", joint->name, i, joint->source);
        rgCheckJoint(&c, joint);
    }
    rgCheckFreeJoints(compiler);
}

static void rgCheckMaterial(rgCase* c, const rgMaterial* material) {
    int dimension = material->dimension;
    rgCase_NotNegative(c, "friction", material->mu);
    rgCase_NotNegative(c, "torsional friction", material->muTorsion);
    rgCase_NotNegative(c, "rolling friction", material->muRolling);
    rgCase_NotNegative(c, "contact stiffness", material->stiffness);
    rgCase_NotNegative(c, "contact damping", material->damping);
    rgCase_NotNegative(c, "contact dissipation", material->dissipation);
    rgCase_NotNegative(c, "friction in impacts", material->muImpact);
    rgCase_NotNegative(c, "transition speed", material->transitionSpeed);
    rgCase_NotNegative(c, "adhesion", material->adhesion);
    rgCase_NotNegative(c, "tangential contact stiffness", material->tangentialStiffness);
    rgCase_NotNegative(c, "tangential contact damping", material->tangentialDamping);
    if (!(material->restitution >= 0 && material->restitution <= 1)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': restitution %g is not between 0 and 1",
                         c->kind, c->name, material->restitution);
    }
    if (dimension != 1 && dimension != 3 && dimension != 4 && dimension != 6) {
        rgCompiler_Error(c->compiler, c->source,
                         "%s '%s': contact dimension %d is not 1, 3, 4 or 6", c->kind, c->name,
                         dimension);
    }
    if ((int)material->frictionRule < rg_frictionUnset ||
        material->frictionRule > rg_frictionMaximum) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': friction rule %d does not exist",
                         c->kind, c->name, (int)material->frictionRule);
    }
}

// Properties of materials without effect: the first case of each kind, and the number of cases.
typedef struct rgIneffective {
    const char* what;
    rgCase first;
    int count;
} rgIneffective;

enum { rg_ineffectiveCount = 7 };

// Another shape may bring the dimension that this one lacks.
static void rgFindIneffective(const rgCase* c, const rgMaterial* material, int dimension,
                              rgIneffective* properties) {
    const bool isIneffective[rg_ineffectiveCount] = {
        material->restitution > 0 && material->stiffness > 0,
        material->damping > 0 && material->stiffness == 0,
        material->dissipation > 0 && material->stiffness == 0,
        material->tangentialDamping > 0 && material->tangentialStiffness == 0,
        material->muTorsion > 0 && dimension<4, material->muRolling> 0 &&
            dimension<6, material->muImpact> 0 && material->transitionSpeed == 0,
    };
    for (int i = 0; i < rg_ineffectiveCount; ++i) {
        if (isIneffective[i] && properties[i].count++ == 0) {
            properties[i].first = *c;
            properties[i].first.name = c->name == c->buffer ? properties[i].first.buffer : c->name;
        }
    }
}

static void rgReportIneffective(const rgIneffective* property) {
    const rgCase* c = &property->first;
    if (property->count == 1) {
        rgCompiler_Warn(c->compiler, c->source, "%s '%s': %s", c->kind, c->name, property->what);
    } else if (property->count > 1) {
        rgCompiler_Warn(c->compiler, c->source, "%s '%s' and %d more: %s", c->kind, c->name,
                        property->count - 1, property->what);
    }
}

static void rgWarnMaterials(rgCompiler* compiler) {
    rgIneffective properties[rg_ineffectiveCount] = {
        {.what = "restitution has no effect with a contact stiffness"},
        {.what = "contact damping has no effect without a contact stiffness"},
        {.what = "contact dissipation has no effect without a contact stiffness"},
        {.what = "tangential contact damping has no effect without a tangential stiffness"},
        {.what = "torsional friction has no effect with a contact dimension below 4"},
        {.what = "rolling friction has no effect with a contact dimension below 6"},
        {.what = "friction in impacts has no effect without a transition speed"},
    };
    const rgModelDef* def = compiler->def;
    int dimension = 0;
    for (int i = 0; i < def->shapeCount; ++i) {
        dimension = RG_MAX(dimension, def->shapes[i].material.dimension);
    }
    for (int i = 0; i < def->shapeCount; ++i) {
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "shape", def->shapes[i].name, i, def->shapes[i].source);
        if (!def->shapes[i].visualOnly) {
            rgFindIneffective(&c, &def->shapes[i].material, dimension, properties);
        }
    }
    for (int i = 0; i < rg_ineffectiveCount; ++i) {
        rgReportIneffective(&properties[i]);
    }
}

static void rgCheckMesh(rgCase* c, const rgMeshData* mesh, bool needsTriangles) {
    if (mesh == NULL || mesh->vertexCount < (needsTriangles ? 3 : 4) ||
        (needsTriangles && mesh->triangleCount < 1)) {
        rgCompiler_Error(c->compiler, c->source, "%s '%s': mesh has %d vertices and %d triangles",
                         c->kind, c->name, mesh != NULL ? mesh->vertexCount : 0,
                         mesh != NULL ? mesh->triangleCount : 0);
        return;
    }
    for (int i = 0; i < 3 * mesh->vertexCount; ++i) {
        if (!isfinite(mesh->vertices[i])) {
            rgCompiler_Error(c->compiler, c->source, "%s '%s': vertex %d is not a number", c->kind,
                             c->name, i / 3);
            return;
        }
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertexCount) {
            rgCompiler_Error(c->compiler, c->source, "%s '%s': triangle %d names vertex %d of %d",
                             c->kind, c->name, i / 3, mesh->triangles[i], mesh->vertexCount);
            return;
        }
    }
}

static void rgCheckHeightField(rgCase* c, const rgHeightFieldData* field) {
    if (field == NULL || field->columnCount < 2 || field->rowCount < 2) {
        rgCase_Error(c, "a height field needs at least 2 by 2 samples");
        return;
    }
    rgCase_Positive(c, "half extent along x", field->sizeX);
    rgCase_Positive(c, "half extent along y", field->sizeY);
    rgCase_NotNegative(c, "depth", field->depth);
    for (int i = 0; i < field->columnCount * field->rowCount; ++i) {
        if (!isfinite(field->heights[i])) {
            rgCompiler_Error(c->compiler, c->source, "%s '%s': height %d is not a number", c->kind,
                             c->name, i);
            return;
        }
    }
}

static void rgCheckRounding(rgCase* c, const rgShapeDef* shape) {
    bool allowed = shape->kind == rg_shapeBox || shape->kind == rg_shapeCylinder ||
                   shape->kind == rg_shapeHull;
    rgCase_NotNegative(c, "rounding", shape->rounding);
    if (shape->rounding > 0 && !allowed) {
        rgCase_Error(c, "only boxes, cylinders and hulls can be rounded");
    }
}

static void rgCheckSize(rgCase* c, const rgShapeDef* shape) {
    rgCheckRounding(c, shape);
    switch (shape->kind) {
    case rg_shapePlane:
        break;
    case rg_shapeSphere:
        rgCase_Positive(c, "radius", shape->size.x);
        break;
    case rg_shapeCapsule:
        rgCase_Positive(c, "radius", shape->size.x);
        rgCase_NotNegative(c, "half length", shape->size.y);
        break;
    case rg_shapeCylinder:
        rgCase_Positive(c, "radius", shape->size.x);
        rgCase_Positive(c, "half length", shape->size.y);
        break;
    case rg_shapeBox:
    case rg_shapeEllipsoid:
        rgCase_Positive(c, "size along x", shape->size.x);
        rgCase_Positive(c, "size along y", shape->size.y);
        rgCase_Positive(c, "size along z", shape->size.z);
        break;
    case rg_shapeHull:
        rgCheckMesh(c, shape->mesh, false);
        break;
    case rg_shapeMesh:
        rgCheckMesh(c, shape->mesh, true);
        break;
    case rg_shapeHeightField:
        rgCheckHeightField(c, shape->heightField);
        break;
    default:
        rgCase_Error(c, "unknown kind of shape");
        break;
    }
}

static void rgCheckSurface(rgCase* c, const rgShapeDef* shape) {
    rgCheckMaterial(c, &shape->material);
    if (!rgVecIsFinite(shape->surfaceVelocity) || !rgVecIsFinite(shape->surfaceSpin)) {
        rgCase_Error(c, "the surface velocity is not a number");
    }
    bool round = shape->kind == rg_shapeSphere || shape->kind == rg_shapeCapsule ||
                 shape->kind == rg_shapeCylinder || shape->kind == rg_shapeBox ||
                 shape->kind == rg_shapeEllipsoid;
    if (shape->fluidEllipsoid && !round) {
        rgCase_Error(c, "a fluid acts on spheres, capsules, cylinders, boxes and ellipsoids alone");
    }
    for (int k = 0; k < RG_COUNT(shape->fluidCoefficients); ++k) {
        rgCase_NotNegative(c, "coefficient of the fluid", shape->fluidCoefficients[k]);
    }
}

static void rgCheckShapes(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->shapeCount; ++i) {
        const rgShapeDef* shape = &compiler->def->shapes[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "shape", shape->name, i, shape->source);
        rgCase_Pose(&c, "the shape", shape->pose);
        rgCheckSize(&c, shape);
        rgCheckSurface(&c, shape);
        rgCase_NotNegative(&c, "margin", shape->margin);
    }
    for (int i = 0; i < compiler->def->pairCount; ++i) {
        const rgPairDef* pair = &compiler->def->pairs[i];
        const rgShapeDef* shape = &compiler->def->shapes[pair->a.index1 - 1];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "pair with shape", shape->name, pair->a.index1 - 1, shape->source);
        rgCheckMaterial(&c, &pair->material);
    }
    rgWarnMaterials(compiler);
}

static void rgCheckFrames(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->frameCount; ++i) {
        const rgFrameDef* frame = &compiler->def->frames[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "frame", frame->name, i, frame->source);
        rgCase_Pose(&c, "the frame", frame->pose);
    }
}

static bool rgIsScalarJointId(const rgModelDef* def, rgJointId id) {
    return id.index1 > 0 && rgIsScalarJoint(def->joints[id.index1 - 1].kind);
}

static void rgCheckTendon(rgCase* c, const rgTendonDef* tendon) {
    if (tendon->hasLimits) {
        rgCase_Range(c, "limits", tendon->lower, tendon->upper);
    }
    rgCase_NotNegative(c, "damping", tendon->damping);
    rgCase_NotNegative(c, "dry friction", tendon->dryFriction);
    rgCase_NotNegative(c, "stiffness", tendon->stiffness);
    rgCase_Finite(c, "spring reference", tendon->springReference);
    rgCase_NotNegative(c, "slack", tendon->slack);
    rgCase_NotNegative(c, "armature", tendon->armature);
}

static bool rgIsFramePoint(const rgTendonDef* tendon, int k) {
    return k >= 0 && k < tendon->pointCount && tendon->points[k].kind == rg_pointFrame;
}

// NULL: the point may be where it is.
static const char* rgMisplacedPoint(const rgModelDef* def, const rgTendonDef* tendon, int k) {
    const rgTendonPoint* point = &tendon->points[k];
    bool before = rgIsFramePoint(tendon, k - 1), after = rgIsFramePoint(tendon, k + 1);
    rgShapeKind kind =
        point->shape.index1 > 0 ? def->shapes[point->shape.index1 - 1].kind : rg_shapeNone;
    switch (point->kind) {
    case rg_pointFrame: {
        bool shapes = (k > 0 && tendon->points[k - 1].kind == rg_pointShape) ||
                      (k + 1 < tendon->pointCount && tendon->points[k + 1].kind == rg_pointShape);
        return point->frame.index1 == 0    ? "a point of its path has no frame"
               : before || after || shapes ? NULL
                                           : "a frame of its path does not exist";
    }
    case rg_pointShape:
        return kind != rg_shapeSphere && kind != rg_shapeCylinder
                   ? "its path can wrap around spheres and cylinders only"
               : before && after ? NULL
                                 : "a shape of its path is not between two frames";
    case rg_pointPulley:
        return !(point->divisor > 0) || !isfinite(point->divisor)
                   ? "the divisor of a pulley is not positive"
               : after ? NULL
                       : "a pulley is not followed by a frame";
    default:
        return "unknown kind of point";
    }
}

static void rgCheckWay(rgCase* c, const rgModelDef* def, const rgTendonDef* tendon) {
    const char* wrong = tendon->jointCount > 0 ? "it has joints and points" : NULL;
    for (int k = 0; k < tendon->pointCount && wrong == NULL; ++k) {
        wrong = rgMisplacedPoint(def, tendon, k);
    }
    if (wrong != NULL) {
        rgCase_Error(c, wrong);
    }
}

static void rgCheckTendons(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    for (int i = 0; i < def->tendonCount; ++i) {
        const rgTendonDef* tendon = &def->tendons[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "tendon", tendon->name, i, tendon->source);
        if (tendon->pointCount > 0) {
            rgCheckWay(&c, def, tendon);
        } else if (tendon->jointCount == 0) {
            rgCase_Error(&c, "it has no joint");
        }
        for (int k = 0; k < tendon->jointCount; ++k) {
            rgCase_Finite(&c, "a coefficient", tendon->coefficients[k]);
            if (!rgIsScalarJointId(def, tendon->joints[k])) {
                rgCase_Error(&c, "its joints must be revolute or prismatic");
            }
        }
        rgCheckTendon(&c, tendon);
    }
}

static void rgCheckMuscle(rgCase* c, const rgMuscle* m) {
    rgCase_Range(c, "length range", m->lengthRange[0], m->lengthRange[1]);
    rgCase_Range(c, "range of a muscle", m->range[0], m->range[1]);
    rgCase_NotNegative(c, "force of a muscle", m->force);
    rgCase_NotNegative(c, "fpmax", m->fpmax);
    rgCase_NotNegative(c, "fvmax", m->fvmax);
    rgCase_NotNegative(c, "smoothing", m->smoothing);
    bool ordered = m->lengthRange[0] < m->lengthRange[1] && m->range[0] < m->range[1] &&
                   m->lmin >= 0 && m->lmin < 1 && m->lmax > 1 && m->vmax > 0 && isfinite(m->lmax);
    if (!ordered) {
        rgCase_Error(c,
                     "a muscle needs a length range, a range, 0 <= lmin < 1 < lmax and vmax > 0");
    }
    if (!(m->activationTime > 0) || !(m->deactivationTime > 0)) {
        rgCase_Error(c, "the time constants of a muscle are not positive");
    }
}

static void rgCheckTransmission(rgCase* c, const rgActuatorDef* actuator) {
    int joint = actuator->joint.index1 > 0, tendon = actuator->tendon.index1 > 0;
    int frame = actuator->frame.index1 > 0;
    if (joint + tendon + frame != 1) {
        rgCase_Error(c, "it must act on a joint, a tendon or a frame");
    } else if (!frame && (actuator->reference.index1 > 0 || actuator->slider.index1 > 0)) {
        rgCase_Error(c, "a reference or a slider needs a frame");
    } else if (actuator->isAdhesive && (!frame || actuator->reference.index1 > 0 ||
                                        actuator->slider.index1 > 0 || actuator->isMuscle)) {
        rgCase_Error(c, "adhesion needs a frame and no other object");
    } else if (actuator->isAdhesive &&
               (actuator->kp != 0 || actuator->kd != 0 || actuator->gainPosition != 0 ||
                actuator->gainVelocity != 0)) {
        rgCase_Error(c, "adhesion has a position or velocity gain");
    } else if (actuator->reference.index1 > 0 && actuator->slider.index1 > 0) {
        rgCase_Error(c, "a crank has no reference");
    } else if (actuator->slider.index1 > 0 && !(actuator->crankLength > 0)) {
        rgCase_Error(c, "the length of its crank is not positive");
    }
}

static void rgCheckActivation(rgCase* c, const rgActuatorDef* actuator) {
    if ((int)actuator->activation < rg_activationNone ||
        actuator->activation > rg_activationMuscle) {
        rgCase_Error(c, "unknown kind of activation");
    }
    rgCase_NotNegative(c, "time constant", actuator->timeConstant);
    if (actuator->hasActivationRange) {
        rgCase_Range(c, "activation limits", actuator->activationLower, actuator->activationUpper);
    }
    if (actuator->isMuscle || actuator->activation == rg_activationMuscle) {
        rgCheckMuscle(c, &actuator->muscle);
    }
}

static void rgCheckActuator(rgCase* c, const rgActuatorDef* actuator) {
    rgCheckTransmission(c, actuator);
    for (int k = 0; k < 6; ++k) {
        rgCase_Finite(c, "gear", actuator->gear[k]);
    }
    rgCase_Finite(c, "gain", actuator->gain);
    rgCase_Finite(c, "gain of the position", actuator->gainPosition);
    rgCase_Finite(c, "gain of the velocity", actuator->gainVelocity);
    rgCase_Finite(c, "bias", actuator->bias);
    rgCase_Finite(c, "kp", actuator->kp);
    rgCase_Finite(c, "kd", actuator->kd);
    rgCheckActivation(c, actuator);
    rgCase_NotNegative(c, "delay", actuator->delay);
    if (actuator->hasControlRange) {
        rgCase_Range(c, "control limits", actuator->controlLower, actuator->controlUpper);
    }
    if (actuator->hasForceRange) {
        rgCase_Range(c, "force limits", actuator->forceLower, actuator->forceUpper);
    }
}

static void rgCheckActuators(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->actuatorCount; ++i) {
        const rgActuatorDef* actuator = &compiler->def->actuators[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "actuator", actuator->name, i, actuator->source);
        rgCheckActuator(&c, actuator);
    }
}

static void rgCheckEqualityNumbers(rgCase* c, const rgEqualityDef* equality) {
    if (equality->kind == rg_equalityConnect || equality->kind == rg_equalityWeld) {
        rgCase_Pose(c, "frame A", equality->poseA);
        rgCase_Pose(c, "frame B", equality->poseB);
    }
    for (int k = 0; k < 5; ++k) {
        rgCase_Finite(c, "a polynomial coefficient", equality->polynomial[k]);
    }
    rgCase_NotNegative(c, "stiffness", equality->stiffness);
    rgCase_NotNegative(c, "damping", equality->damping);
}

static void rgCheckEquality(rgCase* c, const rgModelDef* def, const rgEqualityDef* equality) {
    switch (equality->kind) {
    case rg_equalityConnect:
    case rg_equalityWeld:
        if (equality->bodyA.index1 == equality->bodyB.index1) {
            rgCase_Error(c, "it ties a body to itself");
        }
        break;
    case rg_equalityJoint:
        if (!rgIsScalarJointId(def, equality->jointA) ||
            (equality->jointB.index1 > 0 && !rgIsScalarJointId(def, equality->jointB))) {
            rgCase_Error(c, "its joints must be revolute or prismatic");
        } else if (equality->jointA.index1 == equality->jointB.index1) {
            rgCase_Error(c, "it ties a joint to itself");
        }
        break;
    case rg_equalityTendon:
        if (equality->tendonA.index1 == 0 || equality->tendonA.index1 == equality->tendonB.index1) {
            rgCase_Error(c, "it needs a tendon, and another one or none");
        }
        break;
    default:
        rgCase_Error(c, "unknown kind of equality");
        break;
    }
    rgCheckEqualityNumbers(c, equality);
}

static void rgCheckEqualities(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->equalityCount; ++i) {
        const rgEqualityDef* equality = &compiler->def->equalities[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "equality", equality->name, i, equality->source);
        rgCheckEquality(&c, compiler->def, equality);
    }
}

static const char* rgMissingOfContactSensor(const rgSensorDef* sensor) {
    for (int i = 0; i < 2; ++i) {
        const rgContactSide* side = &sensor->sides[i];
        if ((int)side->part < 0 || side->part > rg_contactPartSubtree) {
            return "unknown part of a side";
        }
        if (side->part == rg_contactPartShape && side->shape.index1 == 0) {
            return "a side needs a shape";
        }
    }
    if (sensor->contactNumbers <= 0 || sensor->contactNumbers >= 2 * rg_contactTangent) {
        return "its numbers are none of rgContactNumbers";
    }
    if (sensor->contactCount < 0 || sensor->contactCount > 10000) {
        return "the count of contacts is not within 0 and 10000";
    }
    bool known = (int)sensor->contactChoice >= 0 && sensor->contactChoice <= rg_contactSum;
    return known ? NULL : "unknown choice of contacts";
}

static const char* rgMissingOfSensor(const rgModelDef* def, const rgSensorDef* sensor) {
    if ((int)sensor->kind < 0 || sensor->kind >= rg_sensorKindCount) {
        return "unknown kind of sensor";
    }
    if (sensor->kind == rg_sensorNone) {
        return sensor->zeroCount > 0 ? NULL : "unknown kind of sensor";
    }
    switch (rgSensorKind_Traits(sensor->kind)->object) {
    case rg_objectContacts:
        return rgMissingOfContactSensor(sensor);
    case rg_objectJoint:
        return rgIsScalarJointId(def, sensor->joint) ? NULL
                                                     : "it needs a revolute or prismatic joint";
    case rg_objectTendon:
        return sensor->tendon.index1 > 0 ? NULL : "it needs a tendon";
    case rg_objectActuator:
        return sensor->actuator.index1 > 0 ? NULL : "it needs an actuator";
    case rg_objectBall: {
        bool good = sensor->joint.index1 > 0 &&
                    def->joints[sensor->joint.index1 - 1].kind == rg_jointSpherical;
        return good ? NULL : "it needs a spherical joint";
    }
    case rg_objectSite:
    case rg_objectFrame:
    case rg_objectSubtree:
        return sensor->frame.index1 > 0 || sensor->body.index1 > 0 ? NULL
                                                                   : "it needs a frame or a body";
    default:
        return NULL;
    }
}

static void rgCheckSensors(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->sensorCount; ++i) {
        const rgSensorDef* sensor = &compiler->def->sensors[i];
        const char* missing = rgMissingOfSensor(compiler->def, sensor);
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "sensor", sensor->name, i, sensor->source);
        if (missing != NULL) {
            rgCase_Error(&c, missing);
        }
        rgCase_NotNegative(&c, "touch radius", sensor->touchRadius);
        rgCase_NotNegative(&c, "cutoff", sensor->cutoff);
    }
}

static void rgCheckNumbers(rgCase* c, const char* what, const double* numbers, int count) {
    for (int i = 0; numbers != NULL && i < count; ++i) {
        if (!isfinite(numbers[i])) {
            rgCompiler_Error(c->compiler, c->source, "%s '%s': %s[%d] is %g", c->kind, c->name,
                             what, i, numbers[i]);
            return;
        }
    }
}

static void rgCheckKeys(rgCompiler* compiler) {
    for (int i = 0; i < compiler->def->keyCount; ++i) {
        const rgKeyDef* key = &compiler->def->keys[i];
        rgCase c = {.compiler = compiler};
        rgCase_Open(&c, "key", key->name, i, key->source);
        rgCase_Finite(&c, "time", key->time);
        rgCheckNumbers(&c, "q", key->q, key->qCount);
        rgCheckNumbers(&c, "v", key->v, key->vCount);
        rgCheckNumbers(&c, "control", key->control, key->controlCount);
        rgCheckNumbers(&c, "activation", key->activation, key->activationCount);
    }
}

static void rgCheckOptions(rgCompiler* compiler) {
    const rgModelOptions* options = &compiler->def->options;
    rgCase c = {.compiler = compiler};
    rgCase_Open(&c, "model", compiler->def->name, 0, (rgSource){0});
    rgCase_NotNegative(&c, "time step", options->timeStep);
    rgCase_NotNegative(&c, "density", options->density);
    rgCase_NotNegative(&c, "viscosity", options->viscosity);
    if (!rgVecIsFinite(options->wind) || !rgVecIsFinite(options->magnetic)) {
        rgCase_Error(&c, "wind or magnetic field is not finite");
    }
    if (options->hasGravity && !rgVecIsFinite(options->gravity)) {
        rgCase_Error(&c, "gravity is not a number");
    }
}

void rgCheckDefinition(rgCompiler* compiler) {
    rgCheckOptions(compiler);
    rgCheckBodies(compiler);
    rgCheckJoints(compiler);
    rgCheckKinematic(compiler);
    rgCheckShapes(compiler);
    rgCheckFrames(compiler);
    rgCheckTendons(compiler);
    rgCheckActuators(compiler);
    rgCheckEqualities(compiler);
    rgCheckSensors(compiler);
    rgCheckKeys(compiler);
}

// Inertia that a joint of a link without children feels, in the worst direction.
static double rgEffectiveInertia(const rgLink* link) {
    rgInertia inertia = {.mass = link->mass, .center = link->center, .moment = link->moment};
    rgSym3 about = rgMomentAbout(&inertia, inertia.center);
    double diagonal[3] = {about.xx, about.yy, about.zz};
    switch (link->kind) {
    case rg_linkRevolute:
        return diagonal[link->axis];
    case rg_linkSpherical:
        return rgSym3Eigen(&about, NULL).z;
    case rg_linkFree:
        return fmin(link->mass, rgSym3Eigen(&inertia.moment, NULL).z);
    default:
        return link->mass;
    }
}

static void rgCheckLeaf(rgCompiler* compiler, const rgLink* link) {
    const rgModel* model = compiler->model;
    const rgJointDef* joint = &model->joints[link->joint];
    int body = joint->body.index1 - 1;
    char buffer[32];
    if (rgEffectiveInertia(link) + joint->armature > DBL_MIN) {
        return;
    }
    rgCompiler_Error(compiler, model->bodies[body].source,
                     "body '%s': mass %g and moment of inertia (%g, %g, %g) leave its joint '%s' "
                     "without inertia: give the body a mass or the joint an armature, or set least "
                     "values (--bound, rgLoadDef.boundMass and boundInertia)",
                     rgPartName(model->bodies[body].name, body, buffer), link->mass,
                     link->moment.xx, link->moment.yy, link->moment.zz, joint->name);
}

void rgCheckLinks(rgCompiler* compiler) {
    const rgModel* model = compiler->model;
    bool* hasChild = rgCompiler_Allocate(compiler, model->linkCount, sizeof(bool));
    double* mass = rgCompiler_Allocate(compiler, model->linkCount, sizeof(double));
    if (hasChild == NULL || mass == NULL) {
        compiler->errorCount += 1;
        return;
    }
    for (int i = model->linkCount - 1; i > 0; --i) {
        const rgLink* link = &model->links[i];
        mass[i] += link->mass;
        mass[link->parent] += mass[i];
        hasChild[link->parent] = true;
        // Links that carry others only need some mass below them.
        if (!hasChild[i] || !(mass[i] > 0)) {
            rgCheckLeaf(compiler, link);
        }
    }
}

// ---- parts of a model that is compiled

bool rgCheckChange(rgPartKind kind, int index, const void* part, rgDiagnostics* diagnostics) {
    rgCompiler compiler = {.diagnostics = diagnostics};
    rgCase c = {.compiler = &compiler};
    if (kind == rg_partBody) {
        const rgBodyDef* body = part;
        rgCase_Open(&c, "body", body->name, index, body->source);
        rgCase_Inertia(&c, &body->inertia);
        rgCase_Finite(&c, "gravity compensation", body->gravityCompensation);
    } else if (kind == rg_partJoint) {
        const rgJointDef* joint = part;
        rgCase_Open(&c, "joint", joint->name, index, joint->source);
        rgCheckJoint(&c, joint);
    } else if (kind == rg_partShape) {
        const rgShapeDef* shape = part;
        rgCase_Open(&c, "shape", shape->name, index, shape->source);
        rgCheckSurface(&c, shape);
    } else if (kind == rg_partTendon) {
        const rgTendonDef* tendon = part;
        rgCase_Open(&c, "tendon", tendon->name, index, tendon->source);
        rgCheckTendon(&c, tendon);
    } else if (kind == rg_partActuator) {
        const rgActuatorDef* actuator = part;
        rgCase_Open(&c, "actuator", actuator->name, index, actuator->source);
        rgCheckActuator(&c, actuator);
    } else {
        const rgEqualityDef* equality = part;
        rgCase_Open(&c, "equality", equality->name, index, equality->source);
        rgCheckEqualityNumbers(&c, equality);
    }
    return compiler.errorCount == 0;
}
