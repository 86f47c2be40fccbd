// Motion against MuJoCo: the files of test/io/mjcf/motion, each a feature, from their first key
// frame. MuJoCo runs with RK4 at a tenth of the time step, where the file does not say another
// integrator; states agree after 0.2 s to what a step of second order leaves. Sensors of the state
// agree where both are put into the same one, at random.
#include "rigor/rigor.h"
#include "source_dir.h"
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgTwin {
    const char* file;
    mjModel* m;
    mjData* d;
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
} rgTwin;

static bool rgOpenTwin(rgTwin* twin, const char* path) {
    char error[1000] = "";
    *twin = (rgTwin){.file = path};
    twin->m = mj_loadXML(path, NULL, error, sizeof(error));
    if (twin->m == NULL) {
        print_message("skipped: MuJoCo does not load %s: %s\n", path, error);
        return false;
    }
    twin->d = mj_makeData(twin->m);
    assert_int_equal(rgLoadModelDef(path, NULL, NULL, &twin->def), rg_ok);
    assert_int_equal(rgCompileModel(twin->def, NULL, NULL, &twin->model), rg_ok);
    rgWorldDef def = rgDefaultWorldDef();
    def.integrator = rg_integratorMidpoint;
    def.contact.tolerance = 1e-10;
    assert_int_equal(rgCreateWorld(twin->model, &def, NULL, &twin->world), rg_ok);
    return true;
}

static void rgCloseTwin(rgTwin* twin) {
    rgDestroyWorld(twin->world);
    rgDestroyModel(twin->model);
    rgDestroyModelDef(twin->def);
    mj_deleteData(twin->d);
    mj_deleteModel(twin->m);
}

static void rgAgree(const rgTwin* twin, const char* what, const double* ours, const double* theirs,
                    int count, double tolerance) {
    for (int i = 0; i < count; ++i) {
        double size = fmax(1, fabs(theirs[i]));
        if (!(fabs(ours[i] - theirs[i]) <= tolerance * size)) {
            fail_msg("%s: %s %d: ours %.12g, theirs %.12g", twin->file, what, i, ours[i],
                     theirs[i]);
        }
    }
}

// The state of MuJoCo's data, in the world.
static void rgCopyState(const rgTwin* twin) {
    const mjModel* m = twin->m;
    double* v = calloc((size_t)m->nv + 1, sizeof(double));
    rgModel_BodyVelocity(twin->model, twin->d->qpos, twin->d->qvel, v);
    assert_int_equal(rgWorld_SetState(twin->world, twin->d->qpos, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(twin->world, m->nu > 0 ? twin->d->ctrl : NULL), rg_ok);
    double* activation = calloc((size_t)m->nu + 1, sizeof(double));
    for (int i = 0, k = 0; i < m->nu; ++i) {
        activation[i] = m->actuator_dyntype[i] != mjDYN_NONE ? twin->d->act[k++] : 0;
    }
    assert_int_equal(rgWorld_SetActivation(twin->world, activation), rg_ok);
    free(activation);
    free(v);
}

// A quaternion and its opposite are the same.
static void rgAlign(const double* ours, double* theirs) {
    double dot = 0;
    for (int k = 0; k < 4; ++k) {
        dot += ours[k] * theirs[k];
    }
    for (int k = 0; k < 4; ++k) {
        theirs[k] *= dot < 0 ? -1 : 1;
    }
}

// Sensors of positions and velocities.
static void rgCompareSensors(const rgTwin* twin) {
    const mjModel* m = twin->m;
    rgRandom random = {.state = 3};
    for (int k = 0; k < 20; ++k) {
        mj_resetDataKeyframe(m, twin->d, 0);
        rgModel_RandomConfiguration(twin->model, (uint64_t)k + 1, twin->d->qpos);
        for (int i = 0; i < m->nv; ++i) {
            twin->d->qvel[i] = rgRandom_Uniform(&random, -2, 2);
        }
        mj_forward(m, twin->d);
        rgCopyState(twin);
        const double* ours = rgWorld_Sensors(twin->world, NULL);
        for (int s = 0; s < m->nsensor; ++s) {
            if (m->sensor_needstage[s] != mjSTAGE_ACC) {
                char what[80];
                snprintf(what, sizeof(what), "state %d, sensor %d, number", k, s);
                int at = rgWorld_SensorStart(twin->world, (rgSensorId){s + 1});
                if (m->sensor_dim[s] == 4) {
                    rgAlign(ours + at, twin->d->sensordata + m->sensor_adr[s]);
                }
                rgAgree(twin, what, ours + at, twin->d->sensordata + m->sensor_adr[s],
                        m->sensor_dim[s], 1e-7);
            }
        }
    }
}

static void rgCompareMotion(const rgTwin* twin) {
    mjModel* m = twin->m;
    mj_resetDataKeyframe(m, twin->d, 0);
    rgCopyState(twin);
    double dt = m->opt.timestep;
    int steps = (int)round(0.2 / dt);
    m->opt.integrator = mjINT_RK4;
    m->opt.timestep = 0.1 * dt;
    for (int i = 0; i < steps; ++i) {
        for (int k = 0; k < 10; ++k) {
            mj_step(m, twin->d);
        }
        assert_int_equal(rgWorld_Step(twin->world, NULL), rg_ok);
    }
    m->opt.timestep = dt;
    rgAgree(twin, "q", rgWorld_Positions(twin->world, NULL), twin->d->qpos, m->nq, 2e-4);
    double* v = calloc((size_t)m->nv + 1, sizeof(double));
    rgModel_StepVelocity(twin->model, rgWorld_Positions(twin->world, NULL),
                         rgWorld_Velocities(twin->world, NULL), v);
    rgAgree(twin, "v", v, twin->d->qvel, m->nv, 4e-3);
    free(v);
}

static void test_motion(void** state) {
    const char* folder = RIGOR_SOURCE_DIR "/test/io/mjcf/motion";
    DIR* dir = opendir(folder);
    int count = 0;
    (void)state;
    assert_non_null(dir);
    for (struct dirent* entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        rgTwin twin;
        if (strstr(entry->d_name, ".xml") != NULL && rgOpenTwin(&twin, path)) {
            rgCompareSensors(&twin);
            rgCompareMotion(&twin);
            rgCloseTwin(&twin);
            ++count;
        }
    }
    closedir(dir);
    assert_true(count >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
