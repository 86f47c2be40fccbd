// MuJoCo on one file, for rigor bench simulate, which runs this as a child process:
//     rigor_peer_mujoco FILE.xml STEPS DT
// Steps from the first key frame with the elliptic cone, once for the time and once for what there
// is to see, and prints: seconds, mean contacts, deepest penetration [m], version.
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
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

static void rgPeerLook(const mjModel* model, mjData* data, int steps, double* contacts,
                       double* penetration) {
    long long total = 0;
    *penetration = 0;
    rgPeerReset(model, data);
    for (int i = 0; i < steps; ++i) {
        mj_step(model, data);
        total += data->ncon;
        for (int k = 0; k < data->ncon; ++k) {
            double depth = -data->contact[k].dist;
            *penetration = depth > *penetration ? depth : *penetration;
        }
    }
    *contacts = (double)total / steps;
}

int main(int argc, char** argv) {
    int steps = argc == 4 ? atoi(argv[2]) : 0;
    double dt = argc == 4 ? atof(argv[3]) : 0;
    if (steps < 1 || !(dt > 0)) {
        fprintf(stderr, "usage: rigor_peer_mujoco FILE.xml STEPS DT\n");
        return 2;
    }
    char error[512] = "";
    mjModel* model = mj_loadXML(argv[1], NULL, error, sizeof(error));
    if (model == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    model->opt.timestep = dt;
    model->opt.cone = mjCONE_ELLIPTIC;
    mjData* data = mj_makeData(model);
    double contacts = 0, penetration = 0;
    double seconds = rgPeerTime(model, data, steps);
    rgPeerLook(model, data, steps, &contacts, &penetration);
    printf("%.9g %.9g %.9g %s\n", seconds, contacts, penetration, mj_versionString());
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}
