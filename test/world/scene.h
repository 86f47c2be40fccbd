// Small scenes for tests of the world: a builder that asserts, and one call to make a world.
#pragma once
#include "support.h"

#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCENE_G 9.81

typedef struct Scene {
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
} Scene;

static inline Scene SceneStart(void) {
    Scene scene = {0};
    assert_int_equal(rgCreateModelDef(NULL, &scene.def), rg_ok);
    return scene;
}

static inline void ScenePlane(Scene* scene, double mu, rgQuat rotation) {
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapePlane;
    shape.pose.q = rotation;
    shape.material.mu = mu;
    assert_int_equal(rgModelDef_AddShape(scene->def, &shape, NULL), rg_ok);
}

typedef struct Solid {
    rgShapeKind kind;
    rgVec3 size;
    double mass;
    rgPose pose;
    rgMaterial material;
    const char* name;
} Solid;

static inline Solid SolidOf(rgShapeKind kind, rgVec3 size, double mass, rgVec3 position) {
    return (Solid){.kind = kind,
                   .size = size,
                   .mass = mass,
                   .pose = {position, {1, 0, 0, 0}},
                   .material = rgDefaultMaterial()};
}

// A body with one shape and its inertia; parent null and a free joint unless told otherwise.
static inline rgBodyId SceneBody(Scene* scene, const Solid* solid, rgBodyId parent) {
    rgBodyDef body = rgDefaultBodyDef();
    body.name = solid->name;
    body.parent = parent;
    body.pose = solid->pose;
    body.inertia = rgInertiaFromShape(solid->kind, solid->size, solid->mass);
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene->def, &body, &id), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = solid->kind;
    shape.size = solid->size;
    shape.material = solid->material;
    assert_int_equal(rgModelDef_AddShape(scene->def, &shape, NULL), rg_ok);
    return id;
}

static inline rgJointId SceneJoint(Scene* scene, rgBodyId body, rgJointKind kind, rgVec3 anchor,
                                   rgVec3 axis) {
    rgJointDef joint = rgDefaultJointDef();
    joint.body = body;
    joint.kind = kind;
    joint.anchor = anchor;
    joint.axis = axis;
    rgJointId id;
    assert_int_equal(rgModelDef_AddJoint(scene->def, &joint, &id), rg_ok);
    return id;
}

static inline rgBodyId SceneFree(Scene* scene, const Solid* solid) {
    rgBodyId id = SceneBody(scene, solid, (rgBodyId){0});
    SceneJoint(scene, id, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    return id;
}

static inline rgBodyId SceneCube(Scene* scene, double half, double mass, rgVec3 position,
                                 double mu) {
    Solid solid = SolidOf(rg_shapeBox, rgVec(half, half, half), mass, position);
    solid.material.mu = mu;
    return SceneFree(scene, &solid);
}

static inline rgWorldDef SceneWorldDef(double dt, double tolerance) {
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = dt;
    def.contact.tolerance = tolerance;
    def.judgeInterval = 1;
    return def;
}

static inline void SceneMake(Scene* scene, const rgWorldDef* def) {
    rgDiagnostics* diagnostics;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    if (scene->model == NULL) {
        rgResult compiled = rgCompileModel(scene->def, NULL, diagnostics, &scene->model);
        for (int i = 0; i < rgDiagnostics_Count(diagnostics) && compiled != rg_ok; ++i) {
            print_message("%s\n", rgDiagnostics_Message(diagnostics, i).text);
        }
        assert_int_equal(compiled, rg_ok);
    }
    assert_int_equal(rgCreateWorld(scene->model, def, diagnostics, &scene->world), rg_ok);
    rgDestroyDiagnostics(diagnostics);
}

// The same from the text of a file.
static inline Scene SceneText(const char* text, const rgWorldDef* def) {
    Scene scene = {0};
    assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &scene.def), rg_ok);
    SceneMake(&scene, def);
    return scene;
}

static inline void SceneEnd(Scene* scene) {
    rgDestroyWorld(scene->world);
    rgDestroyModel(scene->model);
    rgDestroyModelDef(scene->def);
    *scene = (Scene){0};
}

static inline rgStepReport SceneStep(Scene* scene) {
    rgStepReport report;
    assert_int_equal(rgWorld_Step(scene->world, &report), rg_ok);
    return report;
}

static inline void SceneRun(Scene* scene, int steps) {
    for (int i = 0; i < steps; ++i) {
        SceneStep(scene);
    }
}

static inline double SceneEnergy(const Scene* scene) {
    return rgWorld_KineticEnergy(scene->world) + rgWorld_PotentialEnergy(scene->world);
}

static inline rgVec3 SceneBodyPoint(const Scene* scene, rgBodyId body) {
    return rgWorld_BodyPose(scene->world, body).p;
}

// Velocities of the present state with one entry range replaced.
static inline void SceneSetVelocity(Scene* scene, int first, int count, const double* values) {
    int nv, nq;
    const double* v = rgWorld_Velocities(scene->world, &nv);
    const double* q = rgWorld_Positions(scene->world, &nq);
    double* next = malloc(((size_t)nv + 1) * sizeof(double));
    double* place = malloc(((size_t)nq + 1) * sizeof(double));
    memcpy(next, v, (size_t)nv * sizeof(double));
    memcpy(place, q, (size_t)nq * sizeof(double));
    memcpy(next + first, values, (size_t)count * sizeof(double));
    assert_int_equal(rgWorld_SetState(scene->world, place, next), rg_ok);
    free(next);
    free(place);
}
