// Derivatives of steps through the exact contact law: time beside that of a step and of differences
// of steps, and how far the two are apart where no contact is between two modes.
//     rigor bench derivatives [STATES REPEAT FILE...]
// mj_step and mjd_transitionFD of MuJoCo are measured on the same files, where it is built in.
// CPU time of one call, least of the repetitions, mean of the states; calls with the step that they
// differentiate. States lie along simulations with random controls and velocities.
#include "measure.h"
#include "peers/mujoco.h"
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RG_STATE_STRIDE    5    // steps from one state to the next
#define RG_RUN_STATES      20   // states of one run
#define RG_LEAST_MARGIN    0.01 // of contacts from another mode where differences are compared
#define RG_INCREMENT       1e-5
#define RG_STATE_INCREMENT 1e-6
#define RG_SAME_RATIO      1e-5 // of differences with an increment and with another one

typedef struct rgStudy {
    rgModel* model;
    rgModelInfo info;
    rgWorld* world;
    int states, repeat, columns;
    double step, matrices, adjoint, differences; // sums of seconds
    double worst[2];                             // of q+ and v+, relative to the largest entry
    int differenced, compared, kinks;            // states, and blocks of columns
    int frozen, between, failed;
    uint64_t drawn;
    char* saved;
    size_t savedSize;
    double* numbers;
} rgStudy;

static double rgNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double rgDraw(rgStudy* study) {
    return 2 * rgRandomUnit(1, study->drawn++) - 1;
}

static bool rgSave(rgStudy* study) {
    size_t size = rgWorld_StateSize(study->world);
    if (size > study->savedSize) {
        study->saved = realloc(study->saved, size);
        study->savedSize = size;
    }
    return rgWorld_Save(study->world, study->saved, size) == rg_ok;
}

static void rgBack(rgStudy* study) {
    rgWorld_Restore(study->world, study->saved, rgWorld_StateSize(study->world));
}

// The next state: from the first key, with velocities of its own, or some steps on.
static bool rgNextState(rgStudy* study, int state) {
    rgWorld* world = study->world;
    int n = study->info.vCount;
    if (state % RG_RUN_STATES == 0) {
        rgWorld_Reset(world, (rgKeyId){study->info.keyCount > 0 ? 1 : 0});
        double *v = study->numbers, *q = v + n;
        memcpy(q, rgWorld_Positions(world, NULL), (size_t)study->info.qCount * sizeof(double));
        for (int i = 0; i < n; ++i) {
            v[i] = 0.3 * rgDraw(study);
        }
        rgWorld_SetState(world, q, v);
    }
    for (int s = 0; s < RG_STATE_STRIDE; ++s) {
        for (int a = 0; a < study->info.actuatorCount; ++a) {
            double control = rgWorld_Control(world, NULL)[a];
            rgWorld_SetActuatorControl(world, (rgActuatorId){a + 1},
                                       control + 0.02 * rgDraw(study));
        }
        if (rgWorld_Step(world, NULL) != rg_ok) {
            return false;
        }
    }
    return true;
}

// ---- accuracy

// Largest difference of some columns over their largest entry.
static double rgApart(const rgStudy* study, int first, int end, const double* a, const double* b) {
    double most = 0, size = 1e-6;
    for (int i = 0; i < study->info.vCount; ++i) {
        for (int at = i * study->columns + first; at < i * study->columns + end; ++at) {
            most = fmax(most, fabs(a[at] - b[at]));
            size = fmax(size, fabs(b[at]));
        }
    }
    return most / size;
}

// By position, velocity and control, where differences do not depend on their increment; by control
// alone where a gap is zero, as what moves it has a kink there.
static void rgCompareBlocks(rgStudy* study, const rgDerivatives* d, double increment, int from,
                            int last) {
    int n = study->info.vCount, count = n * d->columnCount;
    double* x[6];
    for (int k = 0; k < 6; ++k) {
        x[k] = study->numbers + (size_t)k * (size_t)count;
    }
    int firsts[4] = {0, n, 2 * n, d->columnCount};
    memcpy(x[0], d->nextQ, (size_t)count * sizeof(double));
    memcpy(x[1], d->nextV, (size_t)count * sizeof(double));
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.differences = true;
    def.increment = increment;
    for (int side = 0; side < 2; ++side) {
        rgDerivatives other;
        double begin = rgNow();
        if (rgWorld_Derivatives(study->world, &def, &other) != rg_ok) {
            return;
        }
        study->differences += 0.5 * (rgNow() - begin);
        memcpy(x[2 + 2 * side], other.nextQ, (size_t)count * sizeof(double));
        memcpy(x[3 + 2 * side], other.nextV, (size_t)count * sizeof(double));
        def.increment *= from < 2 ? 0.1 : 2; // gaps may be passed by the larger one
    }
    study->differenced += 1;
    for (int block = from; block < last; ++block) {
        int first = firsts[block], end = firsts[block + 1];
        bool same = rgApart(study, first, end, x[3], x[5]) < RG_SAME_RATIO &&
                    rgApart(study, first, end, x[2], x[4]) < RG_SAME_RATIO;
        study->kinks += !same;
        for (int k = 0; k < 2 && same; ++k) {
            double apart = rgApart(study, first, end, x[k], x[2 + k]);
            study->worst[k] = fmax(study->worst[k], apart);
        }
        study->compared += same;
    }
}

// Increments of states are so small that they pass no gap that does not count as zero already.
static void rgCompare(rgStudy* study, const rgDerivatives* d) {
    bool touches = d->touching > 0;
    rgCompareBlocks(study, d, RG_INCREMENT, 2, 3);
    rgDerivatives again; // its views are new
    if (!touches && rgWorld_Derivatives(study->world, NULL, &again) == rg_ok) {
        rgCompareBlocks(study, &again, RG_STATE_INCREMENT, 0, 2);
    }
}

// ---- time

static void rgTime(rgStudy* study, rgDerivatives* d) {
    double least[3] = {INFINITY, INFINITY, INFINITY}, *bars = study->numbers;
    int n = study->info.vCount;
    for (int i = 0; i < 2 * n; ++i) {
        bars[i] = rgDraw(study);
    }
    for (int r = 0; r < study->repeat && rgSave(study); ++r) {
        double begin = rgNow();
        rgWorld_Adjoint(study->world, NULL, &(rgStepGradient){.qBar = bars, .vBar = bars + n},
                        bars + 2 * n, NULL);
        double middle = rgNow();
        rgResult result = rgWorld_Derivatives(study->world, NULL, d);
        double end = rgNow();
        least[0] = fmin(least[0], middle - begin);
        least[1] = fmin(least[1], end - middle);
        study->failed += result != rg_ok && r == 0;
        begin = rgNow();
        rgWorld_Step(study->world, NULL);
        least[2] = fmin(least[2], rgNow() - begin);
        rgBack(study);
    }
    study->adjoint += least[0];
    study->matrices += least[1];
    study->step += least[2];
}

static bool rgOpen(rgStudy* study, const char* path, double tolerance) {
    rgModelDef* def = NULL;
    const rgBuiltinModel* own = rgFindBuiltinModel(path);
    rgResult result = own != NULL
                          ? rgParseModelDef(own->text, own->byteCount, path, NULL, NULL, &def)
                          : rgLoadModelDef(path, NULL, NULL, &def);
    if (result != rg_ok || rgCompileModel(def, NULL, NULL, &study->model) != rg_ok) {
        rgDestroyModelDef(def);
        return false;
    }
    rgDestroyModelDef(def);
    rgWorldDef world = rgDefaultWorldDef();
    world.contact.tolerance = tolerance > 0 ? tolerance : world.contact.tolerance;
    study->info = rgModel_Info(study->model);
    study->columns = rgModel_DerivativeColumns(study->model, NULL);
    size_t count = 6 * (size_t)study->info.vCount * (size_t)study->columns;
    study->numbers = malloc((count + 8 * (size_t)study->info.qCount + 1000) * sizeof(double));
    return rgCreateWorld(study->model, &world, NULL, &study->world) == rg_ok;
}

static void rgClose(rgStudy* study) {
    rgDestroyWorld(study->world);
    rgDestroyModel(study->model);
    free(study->numbers);
    free(study->saved);
}

// Times of MuJoCo [us]: a step and its differences; zero where it does not load the file.
static void rgTimePeer(const char* path, int states, int repeat, double times[2]) {
    char copy[] = "/tmp/rigor_derivatives_XXXXXX";
    const rgBuiltinModel* own = rgFindBuiltinModel(path);
    int file = own != NULL ? mkstemp(copy) : -1;
    bool written = own == NULL ||
                   (file >= 0 && write(file, own->text, own->byteCount) == (ssize_t)own->byteCount);
    times[0] = times[1] = 0;
    if (written &&
        rgMujoco_TimeTransition(own != NULL ? copy : path, states, repeat, &times[0], &times[1])) {
        times[0] *= 1e6;
        times[1] *= 1e6;
    }
    if (file >= 0) {
        close(file);
        remove(copy);
    }
}

// Times at the usual tolerance, accuracy at a tight one: differences divide what a solver leaves.
static bool rgMeasure(const char* path, int states, int repeat) {
    rgStudy time = {.states = states, .repeat = repeat}, accuracy = {.states = states};
    if (!rgOpen(&time, path, 0) || !rgOpen(&accuracy, path, 1e-12)) {
        fprintf(stderr, "%s: cannot be loaded\n", path);
        return false;
    }
    int timed = 0;
    for (int s = 0; s < states; ++s) {
        rgDerivatives d;
        if (rgNextState(&time, s)) {
            rgTime(&time, &d);
            timed += 1;
        }
        if (rgNextState(&accuracy, s) && rgWorld_Derivatives(accuracy.world, NULL, &d) == rg_ok) {
            accuracy.frozen += d.frozen > 0;
            accuracy.between += d.betweenModes > 0;
            if (d.betweenModes + d.frozen + d.inconsistent == 0 && d.margin > RG_LEAST_MARGIN) {
                rgCompare(&accuracy, &d);
            }
        }
    }
    double us = 1e6 / fmax(timed, 1), perDifference = 1e6 / fmax(accuracy.differenced, 1);
    const char* name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    double peer[2];
    rgTimePeer(path, states, repeat, peer);
    printf("%-12.12s %3d %4d %7.1f %7.1f %5.2f %7.1f %5.2f %8.0f %4d %4d %4d %4d %8.1e %8.1e %6d "
           "%7.1f %8.0f\n",
           name, time.info.vCount, time.columns, us * time.step, us * time.matrices,
           time.matrices / time.step, us * time.adjoint, time.adjoint / time.step,
           perDifference * accuracy.differences, accuracy.compared, accuracy.kinks,
           accuracy.between, accuracy.frozen, accuracy.worst[0], accuracy.worst[1], time.failed,
           peer[0], peer[1]);
    rgClose(&time);
    rgClose(&accuracy);
    return true;
}

int rgBench_Derivatives(int argc, char** argv) {
    int states = argc > 1 ? atoi(argv[1]) : 200, repeat = argc > 2 ? atoi(argv[2]) : 10;
    if (states < 1 || repeat < 1) {
        fprintf(stderr, "usage: rigor bench derivatives [STATES REPEAT FILE...]\n");
        return 2;
    }
    printf("%d states; us: a step, A and B, an adjoint, differences. Blocks of columns that were "
           "compared, and those with\na kink nearby; states between modes, and with terms left "
           "out; worst of q+ and v+ over the largest; failed calls; MuJoCo's step and "
           "mjd_transitionFD\n",
           states);
    printf("%-12s %3s %4s %7s %7s %5s %7s %5s %8s %4s %4s %4s %4s %8s %8s %6s %7s %8s\n", "model",
           "nv", "cols", "step", "A, B", "steps", "adjoint", "steps", "differ.", "comp", "kink",
           "betw", "left", "q+", "v+", "failed", "mj_step", "differ.");
    bool good = true;
    for (int i = 3; i < argc; ++i) {
        good = rgMeasure(argv[i], states, repeat) && good;
    }
    for (int i = 0; argc <= 3 && i < rgBuiltinModelCount(); ++i) {
        good = rgMeasure(rgBuiltinModelAt(i)->name, states, repeat) && good;
    }
    return good ? 0 : 2;
}
