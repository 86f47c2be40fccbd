// MuJoCo: files unchanged, other scenes through MJCF. Settings: the cone, and contacts of the file
// or nearly rigid ones (a time constant of two steps, and an impedance of 0.9999), or with
// "timeconst", "dampratio" and "impedance" of all contacts.
#include "mujoco.h"

#include "cli.h"
#include "peer.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rgMujocoWorld {
    const rgPeerScene* scene;
    mjModel* model;
    mjData* data;
    int* bodies; // by body of the scene; -1: not there
    mjtNum* qpos;
    mjtNum* qvel;
    bool moved; // mj_step leaves the bodies where they were before it
} rgMujocoWorld;

static const char* const rgMujocoVariants[] = {
    "elliptic", "pyramidal", "elliptic near-rigid", "pyramidal near-rigid", "CG", "noslip", NULL};

// ---- loading

static mjModel* rgLoadFile(const char* path, char* fault, size_t faultSize) {
    char error[200] = "";
    mjModel* model = mj_loadXML(path, NULL, error, sizeof(error));
    if (model == NULL) {
        snprintf(fault, faultSize, "%s", error);
    }
    return model;
}

static char* rgReadText(const char* path) {
    FILE* file = fopen(path, "r");
    long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char* text = size >= 0 ? rgCli_Allocate((size_t)size + 1, 1) : NULL;
    if (text != NULL) {
        rewind(file);
        text[fread(text, 1, (size_t)size, file)] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

// Enlarge the memory of a model: MuJoCo 2.2 has room for the contacts of a few bodies unless a file
// sets more, and refuses key frames of many; the state is set anyway.
static bool rgMakeRoom(const rgPeerScene* scene, const char* path) {
    char* text = rgReadText(path);
    char* head = text != NULL ? strchr(text, '>') : NULL; // end of the tag <mujoco ...>
    FILE* file = head != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        char *keys = strstr(text, "<keyframe>"), *end = strstr(text, "</keyframe>");
        double contacts = 200 + 6.0 * scene->info.bodyCount, rows = 3.2 * contacts;
        double nv = scene->info.vCount;
        fwrite(text, 1, (size_t)(head + 1 - text), file);
        fprintf(file, "<size nconmax='%.0f' njmax='%.0f' nstack='%.0f'/>", contacts, rows,
                1e6 + 8 * nv * nv + 2 * rows * nv);
        if (keys != NULL && end != NULL) {
            fwrite(head + 1, 1, (size_t)(keys - head - 1), file);
            head = end + strlen("</keyframe>") - 1;
        }
        fwrite(head + 1, 1, strlen(head + 1), file);
        fclose(file);
    }
    free(text);
    return file != NULL;
}

static mjModel* rgLoadThroughMjcf(const rgPeerScene* scene, char* fault, size_t faultSize) {
    char folder[] = "/tmp/rigor-bench-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        snprintf(fault, faultSize, "no temporary folder");
        return NULL;
    }
    char* path = rgCli_Format("%s/scene.xml", folder);
    mjModel* model = NULL;
    if (rgSaveMjcf(scene->def, path, NULL) == rg_ok && rgMakeRoom(scene, path)) {
        model = rgLoadFile(path, fault, faultSize);
    } else {
        snprintf(fault, faultSize, "the scene cannot be written as MJCF");
    }
    unlink(path);
    rmdir(folder);
    free(path);
    return model;
}

// Set reference and impedance of all contacts. The option "override" would set their friction as
// well, from version 3 on.
static void rgSetContacts(mjModel* model, const mjtNum reference[mjNREF],
                          const mjtNum impedance[mjNIMP]) {
    for (int i = 0; i < model->ngeom; ++i) {
        memcpy(model->geom_solref + mjNREF * i, reference, mjNREF * sizeof(mjtNum));
        memcpy(model->geom_solimp + mjNIMP * i, impedance, mjNIMP * sizeof(mjtNum));
    }
    for (int i = 0; i < model->npair; ++i) {
        memcpy(model->pair_solref + mjNREF * i, reference, mjNREF * sizeof(mjtNum));
        memcpy(model->pair_solimp + mjNIMP * i, impedance, mjNIMP * sizeof(mjtNum));
    }
}

static bool rgSetOptions(mjModel* model, const char* variant, double timeStep) {
    bool known = false;
    for (int i = 0; rgMujocoVariants[i] != NULL; ++i) {
        known = known || rgPeerVariantIs(variant, rgMujocoVariants[i]);
    }
    model->opt.timestep = timeStep;
    model->opt.cone = strncmp(variant, "pyramidal", 9) == 0 ? mjCONE_PYRAMIDAL : mjCONE_ELLIPTIC;
    if (strstr(variant, "near-rigid") != NULL) {
        static const mjtNum impedance[mjNIMP] = {0.99, 0.9999, 0.001, 0.5, 2};
        const mjtNum reference[mjNREF] = {2 * timeStep, 1};
        rgSetContacts(model, reference, impedance);
    } else if (strchr(variant, ';') != NULL) {
        double least = rgPeerSetting(variant, "impedance", 0.9);
        const mjtNum impedance[mjNIMP] = {least, fmax(0.95, 1 - 0.1 * (1 - least)), 0.001, 0.5, 2};
        const mjtNum reference[mjNREF] = {rgPeerSetting(variant, "timeconst", 0.02),
                                          rgPeerSetting(variant, "dampratio", 1)};
        rgSetContacts(model, reference, impedance);
    } else if (strcmp(variant, "CG") == 0) {
        model->opt.solver = mjSOL_CG;
    } else if (strcmp(variant, "noslip") == 0) { // MuJoCo's documentation: for grasps
        model->opt.impratio = 10;
        model->opt.noslip_iterations = 10;
    }
    return known;
}

// ---- the start

static int rgFindBody(const rgMujocoWorld* world, int body) {
    const char* name = rgModel_Body(world->scene->model, (rgBodyId){body + 1})->name;
    int id = name != NULL && name[0] != '\0' ? mj_name2id(world->model, mjOBJ_BODY, name) : -1;
    bool alike = world->model->nbody == world->scene->info.bodyCount + 1;
    return id >= 0 ? id : alike ? body + 1 : -1;
}

// Coordinates have the same order and meaning, but for the linear velocity of free joints, which
// MuJoCo has in world axes.
static bool rgPlaceStart(rgMujocoWorld* world) {
    const rgPeerScene* scene = world->scene;
    if (world->model->nq != scene->info.qCount || world->model->nv != scene->info.vCount) {
        return false;
    }
    for (int i = 0; i < scene->info.qCount; ++i) {
        world->qpos[i] = scene->q[i];
    }
    for (int i = 0; i < scene->info.vCount; ++i) {
        world->qvel[i] = scene->v[i];
    }
    for (int j = 0; j < world->model->njnt; ++j) {
        if (world->model->jnt_type[j] == mjJNT_FREE) {
            mjtNum linear[3];
            memcpy(linear, world->qvel + world->model->jnt_dofadr[j], sizeof(linear));
            mju_rotVecQuat(world->qvel + world->model->jnt_dofadr[j], linear,
                           world->qpos + world->model->jnt_qposadr[j] + 3);
        }
    }
    return true;
}

static void rgMujoco_Reset(void* world) {
    rgMujocoWorld* own = world;
    if (own->model->nkey > 0 && own->scene->file != NULL) {
        mj_resetDataKeyframe(own->model, own->data, 0);
    } else {
        mj_resetData(own->model, own->data);
    }
    memcpy(own->data->qpos, own->qpos, (size_t)own->model->nq * sizeof(mjtNum));
    memcpy(own->data->qvel, own->qvel, (size_t)own->model->nv * sizeof(mjtNum));
    for (int i = 0; i < mjNTIMER; ++i) {
        own->data->timer[i].duration = 0;
    }
    mjcb_time = NULL;
    own->moved = true;
}

static void rgPlaceBodies(rgMujocoWorld* own) {
    if (own->moved) {
        mj_kinematics(own->model, own->data);
        mj_comPos(own->model, own->data);
        mj_comVel(own->model, own->data);
        own->moved = false;
    }
}

static void rgMujoco_Destroy(void* world) {
    rgMujocoWorld* own = world;
    mj_deleteData(own->data);
    mj_deleteModel(own->model);
    free(own->bodies);
    free(own->qpos);
    free(own->qvel);
    free(own);
}

// Steps that fail are counted; MuJoCo would also write a file where the program runs.
static void rgMujoco_Silence(const char* text) {
    (void)text;
}

static void* rgMujoco_Create(const rgPeerScene* scene, const char* variant, char* fault,
                             size_t faultSize) {
    rgMujocoWorld* own = rgCli_Allocate(1, sizeof(rgMujocoWorld));
    mju_user_warning = rgMujoco_Silence;
    own->scene = scene;
    own->model = scene->file != NULL ? rgLoadFile(scene->file, fault, faultSize)
                                     : rgLoadThroughMjcf(scene, fault, faultSize);
    if (own->model == NULL) {
        free(own);
        return NULL;
    }
    own->data = mj_makeData(own->model);
    own->bodies = rgCli_Allocate((size_t)scene->info.bodyCount, sizeof(int));
    own->qpos = rgCli_Allocate((size_t)own->model->nq, sizeof(mjtNum));
    own->qvel = rgCli_Allocate((size_t)own->model->nv, sizeof(mjtNum));
    if (!rgSetOptions(own->model, variant, scene->timeStep)) {
        snprintf(fault, faultSize, "there is no setting '%s'", variant);
        rgMujoco_Destroy(own);
        return NULL;
    }
    if (!rgPlaceStart(own)) {
        snprintf(fault, faultSize, "it has %d positions and %d velocities instead of %d and %d",
                 own->model->nq, own->model->nv, scene->info.qCount, scene->info.vCount);
        rgMujoco_Destroy(own);
        return NULL;
    }
    for (int i = 0; i < scene->info.bodyCount; ++i) {
        own->bodies[i] = rgFindBody(own, i);
    }
    rgMujoco_Reset(own);
    return own;
}

// ---- steps

// Without a clock MuJoCo's timers stay at zero and cost nothing.
static mjtNum rgMujocoClock(void) {
    return rgCli_Seconds();
}

static bool rgMujoco_Step(void* world) {
    rgMujocoWorld* own = world;
    mj_step(own->model, own->data);
    own->moved = true;
    const mjWarningStat* warning = own->data->warning;
    return warning[mjWARN_BADQACC].number == 0 && warning[mjWARN_CONTACTFULL].number == 0 &&
           warning[mjWARN_CNSTRFULL].number == 0;
}

static void rgMujoco_Look(void* world, rgPeerLook* look) {
    const rgMujocoWorld* own = world;
    mjcb_time = rgMujocoClock; // from the first look on: timing runs do not look
    *look = (rgPeerLook){.contactCount = own->data->ncon,
                         .residual = NAN,
                         .collision = own->data->timer[mjTIMER_POS_COLLISION].duration};
    for (int i = 0; i < own->data->ncon; ++i) {
        look->penetration = fmax(look->penetration, -own->data->contact[i].dist);
    }
}

static bool rgMujoco_Body(void* world, int body, rgPeerBody* state) {
    rgMujocoWorld* own = world;
    int id = own->bodies[body];
    if (id < 0) {
        return false;
    }
    rgPlaceBodies(own);
    const mjtNum *p = own->data->xpos + 3 * id, *q = own->data->xquat + 4 * id;
    mjtNum twist[6];
    mj_objectVelocity(own->model, own->data, mjOBJ_XBODY, id, twist, 0); // rotation first
    *state = (rgPeerBody){
        .pose = {.p = rgVec(p[0], p[1], p[2]), .q = {q[0], q[1], q[2], q[3]}},
        .velocity = {.linear = rgVec(twist[3], twist[4], twist[5]),
                     .angular = rgVec(twist[0], twist[1], twist[2])},
        .mass = own->model->body_mass[id],
    };
    return true;
}

static void rgMujoco_Control(void* world, const double* control) {
    const rgMujocoWorld* own = world;
    for (int i = 0; i < own->model->nu; ++i) {
        own->data->ctrl[i] = control[i];
    }
}

static const char* rgMujoco_Version(void) {
    return mj_versionString();
}

const rgPeer rgPeerMujoco = {
    .name = "MuJoCo",
    .variants = rgMujocoVariants,
    .version = rgMujoco_Version,
    .create = rgMujoco_Create,
    .destroy = rgMujoco_Destroy,
    .reset = rgMujoco_Reset,
    .step = rgMujoco_Step,
    .look = rgMujoco_Look,
    .body = rgMujoco_Body,
    .control = rgMujoco_Control,
};

// ---- inverse dynamics

bool rgMujoco_TimeInverse(const char* path, int calls, double shift, double* seconds,
                          int* contactCount) {
    char fault[200];
    mjModel* model = rgLoadFile(path, fault, sizeof(fault));
    if (model == NULL) {
        return false;
    }
    model->opt.cone = mjCONE_ELLIPTIC;
    mjData* data = mj_makeData(model);
    if (model->nkey > 0) {
        mj_resetDataKeyframe(model, data, 0);
    }
    data->qpos[2] += shift;
    *seconds = INFINITY;
    for (int i = 0; i < calls; ++i) {
        double begin = rgCli_Seconds();
        mj_inverse(model, data);
        *seconds = fmin(*seconds, rgCli_Seconds() - begin);
    }
    *contactCount = data->ncon;
    mj_deleteData(data);
    mj_deleteModel(model);
    return true;
}

// ---- derivatives

enum { rg_runStates = 20, rg_stateStride = 5 };

static void rgNextMujocoState(const mjModel* model, mjData* data, int state) {
    if (state % rg_runStates == 0) {
        mj_resetData(model, data);
        if (model->nkey > 0) {
            mj_resetDataKeyframe(model, data, 0);
        }
        for (int i = 0; i < model->nv; ++i) {
            data->qvel[i] = 0.3 * (2 * rgRandomUnit(1, (uint64_t)(state * model->nv + i)) - 1);
        }
    }
    for (int k = 0; k < rg_stateStride; ++k) {
        mj_step(model, data);
    }
}

bool rgMujoco_TimeTransition(const char* path, int states, int repeat, double* step,
                             double* transition) {
    char fault[200];
    mjModel* model = rgLoadFile(path, fault, sizeof(fault));
    if (model == NULL) {
        return false;
    }
    model->opt.cone = mjCONE_ELLIPTIC;
    mjData *data = mj_makeData(model), *kept = mj_makeData(model);
    size_t n = (size_t)(2 * model->nv + model->na), nu = (size_t)model->nu;
    double* A = rgCli_Allocate(n * (n + nu) + 1, sizeof(double));
    *step = *transition = 0;
    for (int s = 0; s < states; ++s) {
        double least[2] = {INFINITY, INFINITY};
        rgNextMujocoState(model, data, s);
        mj_copyData(kept, model, data);
        for (int r = 0; r < repeat; ++r) {
            double begin = rgCli_Seconds();
            mjd_transitionFD(model, data, 1e-6, 1, A, A + n * n, NULL, NULL);
            double middle = rgCli_Seconds();
            mj_step(model, data);
            least[0] = fmin(least[0], rgCli_Seconds() - middle);
            least[1] = fmin(least[1], middle - begin);
            mj_copyData(data, model, kept);
        }
        *step += least[0] / states;
        *transition += least[1] / states;
    }
    free(A);
    mj_deleteData(kept);
    mj_deleteData(data);
    mj_deleteModel(model);
    return true;
}
