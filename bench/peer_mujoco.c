// MuJoCo on one file, for rigor bench, which runs this as a child process:
//     rigor_peer_mujoco FILE.xml STEPS DT
//     rigor_peer_mujoco --inverse FILE.xml CALLS SHIFT
// Steps from the first key frame with the elliptic cone, once for the time and once for what there
// is to see, and prints: seconds, mean contacts, deepest penetration [m], seconds of collision
// detection by MuJoCo's own timer, version.
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double rgPeerSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rgPeerReset(const mjModel* model, mjData* data) {
    if (model->nkey > 0) {
        mj_resetDataKeyframe(model, data, 0);
    } else {
        mj_resetData(model, data);
    }
}

static double rgPeerTime(const mjModel* model, mjData* data, int steps) {
    rgPeerReset(model, data);
    double begin = rgPeerSeconds();
    for (int i = 0; i < steps; ++i) {
        mj_step(model, data);
    }
    return rgPeerSeconds() - begin;
}

static mjtNum rgPeerClock(void) {
    return rgPeerSeconds();
}

static void rgPeerLook(const mjModel* model, mjData* data, int steps, double* contacts,
                       double* penetration, double* collision) {
    long long total = 0;
    *penetration = 0;
    rgPeerReset(model, data);
    mjcb_time = rgPeerClock;
    for (int i = 0; i < steps; ++i) {
        mj_step(model, data);
        total += data->ncon;
        for (int k = 0; k < data->ncon; ++k) {
            double depth = -data->contact[k].dist;
            *penetration = depth > *penetration ? depth : *penetration;
        }
    }
    *contacts = (double)total / steps;
    *collision = data->timer[mjTIMER_POS_COLLISION].duration;
    mjcb_time = NULL;
}

static mjModel* rgPeerLoad(const char* path) {
    char error[512] = "";
    mjModel* model = mj_loadXML(path, NULL, error, sizeof(error));
    if (model == NULL) {
        fprintf(stderr, "%s\n", error);
    } else {
        model->opt.cone = mjCONE_ELLIPTIC;
    }
    return model;
}

// mj_inverse from the first key frame, moved along z, for rest: least seconds, contacts, version.
static int rgPeerInverse(const char* path, int calls, double shift) {
    mjModel* model = rgPeerLoad(path);
    if (model == NULL) {
        return 1;
    }
    mjData* data = mj_makeData(model);
    double least = 1e300;
    rgPeerReset(model, data);
    data->qpos[2] += shift;
    for (int i = 0; i < calls; ++i) {
        double begin = rgPeerSeconds();
        mj_inverse(model, data);
        double seconds = rgPeerSeconds() - begin;
        least = seconds < least ? seconds : least;
    }
    printf("%.9g %d %s\n", least, data->ncon, mj_versionString());
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}

int main(int argc, char** argv) {
    if (argc == 5 && strcmp(argv[1], "--inverse") == 0 && atoi(argv[3]) > 0) {
        return rgPeerInverse(argv[2], atoi(argv[3]), atof(argv[4]));
    }
    int steps = argc == 4 ? atoi(argv[2]) : 0;
    double dt = argc == 4 ? atof(argv[3]) : 0;
    if (steps < 1 || !(dt > 0)) {
        fprintf(stderr, "usage: rigor_peer_mujoco FILE.xml STEPS DT\n");
        return 2;
    }
    mjModel* model = rgPeerLoad(argv[1]);
    if (model == NULL) {
        return 1;
    }
    model->opt.timestep = dt;
    mjData* data = mj_makeData(model);
    double contacts = 0, penetration = 0, collision = 0;
    double seconds = rgPeerTime(model, data, steps);
    rgPeerLook(model, data, steps, &contacts, &penetration, &collision);
    printf("%.9g %.9g %.9g %.9g %s\n", seconds, contacts, penetration, collision,
           mj_versionString());
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}
