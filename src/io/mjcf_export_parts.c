// A model definition as MJCF: elements that refer to bodies, joints and shapes.
#include "io/mjcf_export.h"

#include <string.h>

static const char* rgMjWriter_JointName(const rgMjWriter* w, rgJointId id, rgPartName* made) {
    return rgNamed(w->def->joints[id.index1 - 1].name, "joint", id.index1, made);
}

static const char* rgMjWriter_TendonName(const rgMjWriter* w, rgTendonId id, rgPartName* made) {
    return rgNamed(w->def->tendons[id.index1 - 1].name, "tendon", id.index1, made);
}

static bool rgIsSame(rgPose a, rgPose b) {
    double turn = fabs(a.q.w * b.q.w + a.q.x * b.q.x + a.q.y * b.q.y + a.q.z * b.q.z);
    return rgLength(rgSub(a.p, b.p)) < 1e-10 && turn > 1 - 1e-15;
}

// True if an anchor defines it alone: both ends meet at the reference configuration.
static bool rgMjWriter_IsPlain(const rgMjWriter* w, const rgEqualityDef* e) {
    if (e->kind == rg_equalityWeld) {
        return rgIsSame((rgPose){.p = e->poseB.p, .q = rgQuatIdentity()}, e->poseB);
    }
    rgVec3 a = rgPose_Point(w->world[e->bodyA.index1], e->poseA.p);
    rgVec3 b = rgPose_Point(w->world[e->bodyB.index1], e->poseB.p);
    return e->kind != rg_equalityConnect || rgLength(rgSub(a, b)) < 1e-10;
}

static bool rgNeedsBodySite(const rgSensorDef* sensor) {
    return rgSensorKind_Traits(sensor->kind)->object == rg_objectSite && sensor->frame.index1 == 0;
}

static void rgMjWriter_HelperSite(rgMjWriter* w, const char* kind, int number, rgPose pose,
                                  double size, int depth) {
    rgText_Indent(&w->text, depth);
    rgText_Add(&w->text, "<site name=\"%s_%d\"", kind, number + 1);
    rgMjWriter_Pose(w, pose);
    rgText_Number(&w->text, "size", size);
    rgText_Add(&w->text, "/>\n");
}

void rgMjWriter_HelperSites(rgMjWriter* w, int body, int depth) {
    for (int i = 0; i < w->def->equalityCount; ++i) {
        const rgEqualityDef* e = &w->def->equalities[i];
        if (e->kind > rg_equalityWeld || rgMjWriter_IsPlain(w, e)) {
            continue;
        }
        if (e->bodyA.index1 == body) {
            rgMjWriter_HelperSite(w, "equality_site1", i, e->poseA, 0.005, depth);
        }
        if (e->bodyB.index1 == body) {
            rgMjWriter_HelperSite(w, "equality_site2", i, e->poseB, 0.005, depth);
        }
    }
    for (int i = 0; i < w->def->sensorCount; ++i) {
        const rgSensorDef* sensor = &w->def->sensors[i];
        if (rgNeedsBodySite(sensor) && sensor->body.index1 == body) {
            double size = sensor->touchRadius > 0 ? sensor->touchRadius : 0.005;
            rgMjWriter_HelperSite(w, "sensor_site", i, rgPoseIdentity(), size, depth);
        }
    }
}

static void rgMjWriter_Contact(rgMjWriter* w) {
    const rgModelDef* def = w->def;
    rgPartName a, b;
    rgText_Add(&w->text, "  <contact>\n");
    for (int i = 0; i < def->pairCount; ++i) {
        const rgPairDef* pair = &def->pairs[i];
        const rgMaterial* m = &pair->material;
        rgText_Add(&w->text, "    <pair");
        rgText_Attribute(&w->text, "geom1",
                         rgNamed(def->shapes[pair->a.index1 - 1].name, "geom", pair->a.index1, &a));
        rgText_Attribute(&w->text, "geom2",
                         rgNamed(def->shapes[pair->b.index1 - 1].name, "geom", pair->b.index1, &b));
        if (pair->hasMaterial) {
            const double friction[5] = {m->mu, m->mu, m->muTorsion, m->muRolling, m->muRolling};
            rgText_Integer(&w->text, "condim", m->dimension > 0 ? m->dimension : 3);
            rgText_Numbers(&w->text, "friction", friction, 5);
            rgText_NumberUnless(&w->text, "adhesion", m->adhesion, 0);
        }
        rgText_Add(&w->text, "/>\n");
    }
    for (int i = 0; i < def->excludeCount; ++i) {
        rgText_Add(&w->text, "    <exclude");
        rgText_Attribute(&w->text, "body1", rgMjWriter_Body(w, def->excludes[i].a, &a));
        rgText_Attribute(&w->text, "body2", rgMjWriter_Body(w, def->excludes[i].b, &b));
        rgText_Add(&w->text, "/>\n");
    }
    rgText_Add(&w->text, "  </contact>\n");
}

static void rgMjWriter_TendonSpring(rgMjWriter* w, const rgTendonDef* t) {
    const double range[2] = {t->springReference, t->springReference + t->slack};
    double spring = t->jointCount > 0 ? 0 : -1; // no way is negative
    for (int i = 0; i < t->jointCount; ++i) {
        spring += t->coefficients[i] * w->def->joints[t->joints[i].index1 - 1].springReference;
    }
    if (t->slack > 0) {
        rgText_Numbers(&w->text, "springlength", range, 2);
    } else {
        rgText_NumberUnless(&w->text, "springlength", t->springReference, spring);
    }
}

static void rgMjWriter_TendonPoint(rgMjWriter* w, const rgTendonPoint* point) {
    static const char* const elements[] = {"site", "geom", "pulley"};
    const rgFrameDef* frames = w->def->frames;
    int frame = point->frame.index1, shape = point->shape.index1;
    rgPartName made;
    rgText_Add(&w->text, "      <%s", elements[point->kind]);
    if (point->kind == rg_pointShape) {
        rgText_Attribute(&w->text, "geom",
                         rgNamed(w->def->shapes[shape - 1].name, "geom", shape, &made));
    } else if (point->kind == rg_pointPulley) {
        rgText_Number(&w->text, "divisor", point->divisor);
    }
    if (frame > 0) {
        rgText_Attribute(&w->text, point->kind == rg_pointShape ? "sidesite" : "site",
                         rgNamed(frames[frame - 1].name, "site", frame, &made));
    }
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_Tendon(rgMjWriter* w, int number) {
    const rgTendonDef* t = &w->def->tendons[number];
    const double range[2] = {t->lower, t->upper};
    const char* element = t->pointCount > 0 ? "spatial" : "fixed";
    rgPartName made;
    rgText_Add(&w->text, "    <%s", element);
    rgText_Attribute(&w->text, "name", rgNamed(t->name, "tendon", number + 1, &made));
    if (t->hasLimits) {
        rgText_Add(&w->text, " limited=\"true\"");
        rgText_Numbers(&w->text, "range", range, 2);
    }
    rgText_NumberUnless(&w->text, "damping", t->damping, 0);
    rgText_NumberUnless(&w->text, "frictionloss", t->dryFriction, 0);
    rgText_NumberUnless(&w->text, "stiffness", t->stiffness, 0);
    rgText_NumberUnless(&w->text, "armature", t->armature, 0);
    rgMjWriter_TendonSpring(w, t);
    rgText_Add(&w->text, ">\n");
    for (int i = 0; i < t->jointCount; ++i) {
        rgText_Add(&w->text, "      <joint");
        rgText_Attribute(&w->text, "joint", rgMjWriter_JointName(w, t->joints[i], &made));
        rgText_Number(&w->text, "coef", t->coefficients[i]);
        rgText_Add(&w->text, "/>\n");
    }
    for (int i = 0; i < t->pointCount; ++i) {
        rgMjWriter_TendonPoint(w, &t->points[i]);
    }
    rgText_Add(&w->text, "    </%s>\n", element);
}

static void rgMjWriter_BodyEnds(rgMjWriter* w, const rgEqualityDef* e, int number) {
    rgPartName a, b;
    if (!rgMjWriter_IsPlain(w, e)) {
        rgText_Add(&w->text, " site1=\"equality_site1_%d\" site2=\"equality_site2_%d\"", number + 1,
                   number + 1);
        return;
    }
    rgText_Attribute(&w->text, "body1", rgMjWriter_Body(w, e->bodyA, &a));
    rgText_Attribute(&w->text, "body2", rgMjWriter_Body(w, e->bodyB, &b));
    if (e->kind == rg_equalityConnect) {
        rgText_Vec(&w->text, "anchor", e->poseA.p);
        return;
    }
    const rgPose* p = &e->poseA;
    const double relative[7] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
    rgText_Vec(&w->text, "anchor", e->poseB.p);
    rgText_Numbers(&w->text, "relpose", relative, 7);
}

static void rgMjWriter_Coupling(rgMjWriter* w, const rgEqualityDef* e) {
    rgPartName a, b;
    if (e->kind == rg_equalityJoint) {
        rgText_Attribute(&w->text, "joint1", rgMjWriter_JointName(w, e->jointA, &a));
        rgText_Attribute(&w->text, "joint2",
                         e->jointB.index1 > 0 ? rgMjWriter_JointName(w, e->jointB, &b) : NULL);
    } else {
        rgText_Attribute(&w->text, "tendon1", rgMjWriter_TendonName(w, e->tendonA, &a));
        rgText_Attribute(&w->text, "tendon2",
                         e->tendonB.index1 > 0 ? rgMjWriter_TendonName(w, e->tendonB, &b) : NULL);
    }
    rgText_Numbers(&w->text, "polycoef", e->polynomial, 5);
}

static void rgMjWriter_Equality(rgMjWriter* w, int number) {
    static const char* const names[] = {"connect", "weld", "joint", "tendon"};
    const rgEqualityDef* e = &w->def->equalities[number];
    rgText_Add(&w->text, "    <%s", names[e->kind]);
    rgText_Attribute(&w->text, "name", e->name);
    if (e->disabled) {
        rgText_Add(&w->text, " active=\"false\"");
    }
    if (e->kind == rg_equalityConnect || e->kind == rg_equalityWeld) {
        rgMjWriter_BodyEnds(w, e, number);
    } else {
        rgMjWriter_Coupling(w, e);
    }
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_Site(rgMjWriter* w, const char* attribute, rgFrameId frame) {
    rgPartName made;
    if (frame.index1 > 0) {
        rgText_Attribute(
            &w->text, attribute,
            rgNamed(w->def->frames[frame.index1 - 1].name, "site", frame.index1, &made));
    }
}

static void rgMjWriter_Transmission(rgMjWriter* w, const rgActuatorDef* a) {
    rgPartName made;
    if (a->joint.index1 > 0) {
        rgText_Attribute(&w->text, a->inParent ? "jointinparent" : "joint",
                         rgMjWriter_JointName(w, a->joint, &made));
    } else if (a->tendon.index1 > 0) {
        rgText_Attribute(&w->text, "tendon", rgMjWriter_TendonName(w, a->tendon, &made));
    } else if (a->slider.index1 > 0) {
        rgMjWriter_Site(w, "cranksite", a->frame);
        rgMjWriter_Site(w, "slidersite", a->slider);
        rgText_Number(&w->text, "cranklength", a->crankLength);
    } else {
        rgMjWriter_Site(w, "site", a->frame);
        rgMjWriter_Site(w, "refsite", a->reference);
    }
    rgText_Numbers(&w->text, "gear", a->gear, 6);
}

static void rgMjWriter_Muscle(rgMjWriter* w, const rgMuscle* m) {
    const double gain[9] = {m->range[0], m->range[1], m->force, 200,     m->lmin,
                            m->lmax,     m->vmax,     m->fpmax, m->fvmax};
    rgText_Add(&w->text, " gaintype=\"muscle\" biastype=\"muscle\"");
    rgText_Numbers(&w->text, "gainprm", gain, 9);
    rgText_Numbers(&w->text, "biasprm", gain, 9);
    rgText_Numbers(&w->text, "lengthrange", m->lengthRange, 2);
}

static void rgMjWriter_Gains(rgMjWriter* w, const rgActuatorDef* a) {
    const double gain[3] = {a->gain, a->gainPosition, a->gainVelocity};
    const double bias[3] = {a->bias, -a->kp, -a->kd};
    bool affine = a->gainPosition != 0 || a->gainVelocity != 0;
    if (affine) {
        rgText_Add(&w->text, " gaintype=\"affine\"");
    }
    rgText_Numbers(&w->text, "gainprm", gain, affine ? 3 : 1);
    if (a->bias != 0 || a->kp != 0 || a->kd != 0) {
        rgText_Add(&w->text, " biastype=\"affine\"");
        rgText_Numbers(&w->text, "biasprm", bias, 3);
    }
}

static void rgMjWriter_Activation(rgMjWriter* w, const rgActuatorDef* a) {
    static const char* const words[] = {"none", "integrator", "filterexact", "muscle"};
    const double range[2] = {a->activationLower, a->activationUpper};
    const double muscle[3] = {a->muscle.activationTime, a->muscle.deactivationTime,
                              a->muscle.smoothing};
    if (a->activation == rg_activationNone) {
        return;
    }
    rgText_Attribute(&w->text, "dyntype", words[a->activation]);
    if (a->activation == rg_activationFilter) {
        rgText_Number(&w->text, "dynprm", a->timeConstant);
    } else if (a->activation == rg_activationMuscle) {
        rgText_Numbers(&w->text, "dynprm", muscle, 3);
    }
    if (a->early) {
        rgText_Add(&w->text, " actearly=\"true\"");
    }
    if (a->hasActivationRange) {
        rgText_Add(&w->text, " actlimited=\"true\"");
        rgText_Numbers(&w->text, "actrange", range, 2);
    }
}

static void rgMjWriter_Delay(rgMjWriter* w, const rgActuatorDef* a) {
    double step = w->def->options.timeStep > 0 ? w->def->options.timeStep : 1e-3;
    if (a->delay > 0) {
        rgText_Number(&w->text, "delay", a->delay);
        rgText_Integer(&w->text, "nsample", (int)fmin(ceil(a->delay / step), 1e6));
        rgText_Attribute(&w->text, "interp", a->delayIsContinuous ? "linear" : "zoh");
    }
}

static void rgMjWriter_Actuator(rgMjWriter* w, int number) {
    const rgActuatorDef* a = &w->def->actuators[number];
    const double control[2] = {a->controlLower, a->controlUpper},
                 force[2] = {a->forceLower, a->forceUpper};
    rgPartName made;
    rgText_Add(&w->text, a->isAdhesive ? "    <adhesion" : "    <general");
    rgText_Attribute(&w->text, "name", rgNamed(a->name, "actuator", number + 1, &made));
    if (a->isAdhesive) {
        rgText_Attribute(&w->text, "body",
                         rgMjWriter_Body(w, w->def->frames[a->frame.index1 - 1].body, &made));
        rgText_Number(&w->text, "gain", a->gain);
        rgText_Numbers(&w->text, "ctrlrange", control, a->hasControlRange ? 2 : 0);
        rgMjWriter_Delay(w, a);
        rgText_Add(&w->text, "/>\n");
        return;
    }
    rgMjWriter_Transmission(w, a);
    rgMjWriter_Activation(w, a);
    if (a->isMuscle) {
        rgMjWriter_Muscle(w, &a->muscle);
    } else {
        rgMjWriter_Gains(w, a);
    }
    if (a->hasControlRange) {
        rgText_Numbers(&w->text, "ctrlrange", control, 2);
    }
    if (a->hasForceRange) {
        rgText_Numbers(&w->text, "forcerange", force, 2);
    }
    rgMjWriter_Delay(w, a);
    rgText_Add(&w->text, "/>\n");
}

static void rgMjWriter_SensorReference(rgMjWriter* w, const rgSensorDef* s) {
    rgPartName made;
    if (s->reference.index1 > 0) {
        rgText_Attribute(&w->text, "reftype", rgMjWriter_FrameElement(w, s->reference));
        rgMjWriter_Site(w, "refname", s->reference);
    } else if (s->referenceBody.index1 > 0) {
        rgText_Add(&w->text, " reftype=\"xbody\"");
        rgText_Attribute(&w->text, "refname", rgMjWriter_Body(w, s->referenceBody, &made));
    }
}

static void rgMjWriter_ContactSide(rgMjWriter* w, const rgContactSide* side, int number) {
    static const char* const names[][2] = {
        {"geom1", "geom2"}, {"body1", "body2"}, {"subtree1", "subtree2"}};
    rgPartName made;
    if (side->part == rg_contactPartAny) {
        return;
    }
    int shape = side->shape.index1;
    const char* name = side->part == rg_contactPartShape
                           ? rgNamed(w->def->shapes[shape - 1].name, "geom", shape, &made)
                           : rgMjWriter_Body(w, side->body, &made);
    rgText_Attribute(&w->text, names[side->part - rg_contactPartShape][number], name);
}

static void rgMjWriter_ContactSensor(rgMjWriter* w, const rgSensorDef* s) {
    static const char* const words[] = {"found", "force",  "torque", "dist",
                                        "pos",   "normal", "tangent"};
    static const char* const choices[] = {"none", "mindist", "maxforce", "netforce"};
    rgMjWriter_ContactSide(w, &s->sides[0], 0);
    rgMjWriter_ContactSide(w, &s->sides[1], 1);
    rgText_Add(&w->text, " data=\"");
    for (int i = 0, some = 0; i < RG_COUNT(words); ++i) {
        if ((s->contactNumbers & (1 << i)) != 0) {
            rgText_Add(&w->text, "%s%s", some++ > 0 ? " " : "", words[i]);
        }
    }
    rgText_Add(&w->text, "\"");
    rgText_Integer(&w->text, "num", RG_MAX(s->contactCount, 1));
    rgText_Attribute(&w->text, "reduce", choices[s->contactChoice]);
}

static void rgMjWriter_SensorObject(rgMjWriter* w, const rgSensorDef* s, int number) {
    rgPartName made;
    const char* site = s->frame.index1 > 0 ? rgNamed(w->def->frames[s->frame.index1 - 1].name,
                                                     "site", s->frame.index1, &made)
                                           : NULL;
    rgBodyId top = s->frame.index1 > 0 ? w->def->frames[s->frame.index1 - 1].body : s->body;
    switch (rgSensorKind_Traits(s->kind)->object) {
    case rg_objectJoint:
    case rg_objectBall:
        rgText_Attribute(&w->text, "joint", rgMjWriter_JointName(w, s->joint, &made));
        break;
    case rg_objectTendon:
        rgText_Attribute(&w->text, "tendon", rgMjWriter_TendonName(w, s->tendon, &made));
        break;
    case rg_objectActuator:
        rgText_Attribute(&w->text, "actuator",
                         rgNamed(w->def->actuators[s->actuator.index1 - 1].name, "actuator",
                                 s->actuator.index1, &made));
        break;
    case rg_objectFrame:
        rgText_Attribute(&w->text, "objtype",
                         site == NULL ? "xbody" : rgMjWriter_FrameElement(w, s->frame));
        rgText_Attribute(&w->text, "objname",
                         site != NULL ? site : rgMjWriter_Body(w, s->body, &made));
        rgMjWriter_SensorReference(w, s);
        break;
    case rg_objectSite:
        if (site != NULL) {
            rgText_Attribute(&w->text, "site", site);
        } else {
            rgText_Add(&w->text, " site=\"sensor_site_%d\"", number + 1);
        }
        break;
    case rg_objectSubtree:
        rgText_Attribute(&w->text, "body", rgMjWriter_Body(w, top, &made));
        break;
    case rg_objectContacts:
        rgMjWriter_ContactSensor(w, s);
        break;
    default:
        break;
    }
}

static void rgMjWriter_Sensor(rgMjWriter* w, int number) {
    const rgSensorDef* s = &w->def->sensors[number];
    const char* element = rgSensorKind_Traits(s->kind)->name;
    if (element == NULL) {
        return;
    }
    rgText_Add(&w->text, "    <%s", element);
    rgText_Attribute(&w->text, "name", s->name);
    rgMjWriter_SensorObject(w, s, number);
    rgText_NumberUnless(&w->text, "cutoff", s->cutoff, 0);
    rgText_Add(&w->text, "/>\n");
}

// Free velocities into world axes.
static void rgMjWriter_KeyVelocity(rgMjWriter* w, const rgModel* model, const rgKeyDef* key) {
    double* v = RG_TAKE(&w->arena, double, RG_MAX(key->vCount, 1));
    if (v == NULL) {
        w->text.failed = true;
        return;
    }
    memcpy(v, key->v, (size_t)key->vCount * sizeof(double));
    for (int i = 1; i <= w->def->jointCount; ++i) {
        rgJointRange range = rgModel_JointRange(model, (rgJointId){i});
        if (w->def->joints[i - 1].kind == rg_jointFree) {
            const double* q = key->q + range.q + 3;
            double* linear = v + range.v;
            rgVec3 turned =
                rgRotate((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(linear[0], linear[1], linear[2]));
            memcpy(linear, &turned, sizeof(turned));
        }
    }
    rgText_Numbers(&w->text, "qvel", v, key->vCount);
}

// Activations of the actuators that have one.
static void rgMjWriter_KeyActivations(rgMjWriter* w, const rgKeyDef* key) {
    double* values = RG_TAKE(&w->arena, double, RG_MAX(key->activationCount, 1));
    int count = 0;
    for (int a = 0; values != NULL && a < key->activationCount; ++a) {
        values[count] = key->activation[a];
        count += w->def->actuators[a].activation != rg_activationNone;
    }
    w->text.failed = w->text.failed || values == NULL;
    if (count > 0) {
        rgText_Numbers(&w->text, "act", values, count);
    }
}

// Key with values for the whole model; values that the definition lacks are left out.
static void rgMjWriter_Key(rgMjWriter* w, const rgModel* model, int index) {
    const rgKeyDef* said = &w->def->keys[index];
    const rgKeyDef* key = rgModel_Key(model, (rgKeyId){index + 1});
    rgText_Add(&w->text, "    <key");
    rgText_Attribute(&w->text, "name", said->name);
    rgText_NumberUnless(&w->text, "time", said->time, 0);
    if (said->q != NULL) {
        rgText_Numbers(&w->text, "qpos", key->q, key->qCount);
    }
    if (said->v != NULL) {
        rgMjWriter_KeyVelocity(w, model, key);
    }
    if (said->control != NULL) {
        rgText_Numbers(&w->text, "ctrl", key->control, key->controlCount);
    }
    if (said->activation != NULL) {
        rgMjWriter_KeyActivations(w, key);
    }
    rgText_Add(&w->text, "/>\n");
}

// Keys contain coordinates, which only a model has.
static void rgMjWriter_Keys(rgMjWriter* w) {
    rgModel* model = NULL;
    rgOmissions omissions = {.diagnostics = w->diagnostics,
                             .what = "the model does not compile, and its key frames are left out"};
    bool compiles = rgCompileModel(w->def, &w->def->allocator, NULL, &model) == rg_ok;
    rgText_Add(&w->text, "  <keyframe>\n");
    for (int i = 0; i < w->def->keyCount; ++i) {
        if (compiles) {
            rgMjWriter_Key(w, model, i);
        } else {
            rgOmissions_Add(&omissions, w->def->keys[i].name);
        }
    }
    rgText_Add(&w->text, "  </keyframe>\n");
    rgOmissions_Report(&omissions);
    rgDestroyModel(model);
}

static void rgMjWriter_Section(rgMjWriter* w, const char* name, int count,
                               void (*write)(rgMjWriter* w, int number)) {
    if (count == 0) {
        return;
    }
    rgText_Add(&w->text, "  <%s>\n", name);
    for (int i = 0; i < count; ++i) {
        write(w, i);
    }
    rgText_Add(&w->text, "  </%s>\n", name);
}

// Name of a custom element: rigor:what:geom. The geom's name may be long.
static void rgMjWriter_CustomName(rgMjWriter* w, const char* what, const char* geom) {
    rgArenaMark mark = rgArena_Mark(&w->arena);
    size_t size = strlen(what) + strlen(geom) + 8;
    char* name = RG_TAKE(&w->arena, char, size);
    if (name != NULL) {
        snprintf(name, size, "rigor:%s:%s", what, geom);
        rgText_Attribute(&w->text, "name", name);
    }
    rgArena_Return(&w->arena, mark);
}

// A number of a geom, where it is not zero.
static void rgMjWriter_Numeric(rgMjWriter* w, const char* name, const char* geom, double value) {
    if (value != 0) {
        rgText_Add(&w->text, "    <numeric");
        rgMjWriter_CustomName(w, name, geom);
        rgText_Number(&w->text, "data", value);
        rgText_Add(&w->text, "/>\n");
    }
}

// Properties of a shape that MJCF cannot express. The rule of friction is written if it is not the
// common one.
static void rgMjWriter_CustomGeom(rgMjWriter* w, int number, rgFrictionRule common) {
    const rgShapeDef* shape = &w->def->shapes[number];
    rgMaterial material = shape->material;
    rgPartName made;
    const char* geom = rgNamed(shape->name, "geom", number + 1, &made);
    for (int i = 0; i < RG_MJ_PROPERTY_COUNT; ++i) {
        double value = *rgMjProperty_Of(&rgMjProperties[i], &material);
        rgMjWriter_Numeric(w, rgMjProperties[i].name, geom, value);
    }
    if (shape->kind == rg_shapeBox || shape->kind == rg_shapeCylinder) {
        rgMjWriter_Numeric(w, "rounding", geom, shape->rounding);
    }
    if (material.frictionRule != common) {
        rgText_Add(&w->text, "    <text");
        rgMjWriter_CustomName(w, "friction_rule", geom);
        rgText_Attribute(&w->text, "data", rgFrictionRuleWord(material.frictionRule));
        rgText_Add(&w->text, "/>\n");
    }
}

static void rgMjWriter_Custom(rgMjWriter* w) {
    rgFrictionRule common =
        w->def->shapeCount > 0 ? w->def->shapes[0].material.frictionRule : rg_frictionMaximum;
    rgText_Add(&w->text, "  <custom>\n");
    if (common != rg_frictionMaximum) {
        rgText_Add(&w->text, "    <text name=\"rigor:friction_rule\" data=\"%s\"/>\n",
                   rgFrictionRuleWord(common));
    }
    for (int i = 0; i < w->def->shapeCount; ++i) {
        if (!w->def->shapes[i].visualOnly) {
            rgMjWriter_CustomGeom(w, i, common);
        }
    }
    rgText_Add(&w->text, "  </custom>\n");
}

void rgMjWriter_Parts(rgMjWriter* w) {
    rgMjWriter_Custom(w);
    rgMjWriter_Contact(w);
    rgMjWriter_Section(w, "tendon", w->def->tendonCount, rgMjWriter_Tendon);
    rgMjWriter_Section(w, "equality", w->def->equalityCount, rgMjWriter_Equality);
    rgMjWriter_Section(w, "actuator", w->def->actuatorCount, rgMjWriter_Actuator);
    rgMjWriter_Section(w, "sensor", w->def->sensorCount, rgMjWriter_Sensor);
    rgMjWriter_Keys(w);
}
