// This library, as one engine among others.
#include "peer.h"

#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgOwnWorld {
    const rgPeerScene* scene;
    rgWorld* world;
    rgStepReport report;
} rgOwnWorld;

// Methods of rigor solve.
static const char* const rgOwnVariants[] = {"",    "admm",        "admm-fast", "pgs",
                                            "ccp", "first order", NULL};

static const char* rgOwn_Version(void) {
    static char text[16];
    snprintf(text, sizeof(text), "%d.%d.%d", RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH);
    return text;
}

static void rgOwn_Reset(void* world) {
    rgOwnWorld* own = world;
    rgWorld_Reset(own->world, (rgKeyId){0});
    rgWorld_SetState(own->world, own->scene->q, own->scene->v);
}

static void rgOwn_Destroy(void* world) {
    rgOwnWorld* own = world;
    rgDestroyWorld(own->world);
    free(own);
}

static bool rgChoose(const char* variant, rgWorldDef* def) {
    int iterations = def->contact.maxIterations;
    int solver = rgSolverIndex(variant, strlen(variant));
    if (strcmp(variant, "ccp") == 0) {
        def->contact.model = rg_modelCcp;
    } else if (strcmp(variant, "first order") == 0) {
        def->integrator = rg_integratorEuler;
    } else if (solver >= 0) {
        def->contact = rgSolverDef(solver);
        def->contact.maxIterations = iterations;
    } else {
        return variant[0] == '\0';
    }
    return true;
}

static void* rgOwn_Create(const rgPeerScene* scene, const char* variant, char* fault,
                          size_t faultSize) {
    rgWorldDef def = rgDefaultWorldDef();
    rgOwnWorld* own = calloc(1, sizeof(rgOwnWorld));
    def.timeStep = scene->timeStep;
    def.untimed = true; // as MuJoCo's timers are off while it is timed
    if (own == NULL || !rgChoose(variant, &def) ||
        rgCreateWorld(scene->model, &def, NULL, &own->world) != rg_ok) {
        snprintf(fault, faultSize, "no world with '%s'", variant);
        free(own);
        return NULL;
    }
    own->scene = scene;
    rgOwn_Reset(own);
    return own;
}

static bool rgOwn_Step(void* world) {
    rgOwnWorld* own = world;
    return rgWorld_Step(own->world, &own->report) == rg_ok;
}

static void rgOwn_Look(void* world, rgPeerLook* look) {
    const rgOwnWorld* own = world;
    *look = (rgPeerLook){.contactCount = own->report.contactCount,
                         .penetration = own->report.penetration,
                         .residual = own->report.contact.residual.total,
                         .collision = NAN};
}

static bool rgOwn_Body(void* world, int body, rgPeerBody* state) {
    const rgOwnWorld* own = world;
    rgBodyId id = {body + 1};
    *state = (rgPeerBody){.pose = rgWorld_BodyPose(own->world, id),
                          .velocity = rgWorld_BodyVelocity(own->world, id),
                          .mass = rgModel_Body(own->scene->model, id)->inertia.mass};
    return true;
}

static void rgOwn_Control(void* world, const double* control) {
    rgWorld_SetControl(((rgOwnWorld*)world)->world, control);
}

const rgPeer rgPeerRigor = {
    .name = "rigor",
    .variants = rgOwnVariants,
    .version = rgOwn_Version,
    .create = rgOwn_Create,
    .destroy = rgOwn_Destroy,
    .reset = rgOwn_Reset,
    .step = rgOwn_Step,
    .look = rgOwn_Look,
    .body = rgOwn_Body,
    .control = rgOwn_Control,
};
