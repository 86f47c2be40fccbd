// Worlds on a device, by its code on the host: each step beside rgWorld's from the same state, what
// is left to the host, and what is refused.
#include "device/worlds.h"
#include "rigor/io.h"
#include "source_dir.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rgModel* rgModelNamed(const char* name) {
    char path[512];
    rgModel* model = NULL;
    rgPrint(path, sizeof(path), "%s/models/%s.xml", RIGOR_SOURCE_DIR, name);
    assert_int_equal(rgLoadModel(path, NULL, NULL, &model), rg_ok);
    return model;
}

static rgModel* rgModelOf(const char* text) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgParseMjcf(text, strlen(text), "text", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModelDef(def);
    return model;
}

static rgDeviceBatch* rgBatchOf(const rgModel* model, const rgDeviceBatchDef* def) {
    rgDeviceBatch* batch = NULL;
    assert_int_equal(rgCreateDeviceBatch(model, def, NULL, &batch), rg_ok);
    return batch;
}

// A run in which each step is done by both.
typedef struct rgCase {
    const char* model;
    const char* text; // in its place
    double dt, lift;
    rgIntegrator integrator;
    int steps;
    double share; // of steps that the device must do
} rgCase;

static double rgLargestGap(const double* a, const double* b, int count) {
    double most = 0;
    for (int i = 0; i < count; ++i) {
        double gap = fabs(a[i] - b[i]);
        most = gap <= most ? most : gap;
    }
    return most;
}

static void rgStartWorld(rgWorld* world, double lift) {
    int nq = world->model->qCount, nv = world->model->vCount;
    double *q = calloc((size_t)nq + 1, sizeof(double)), *v = calloc((size_t)nv + 1, sizeof(double));
    memcpy(q, world->state.q, (size_t)nq * sizeof(double));
    if (world->model->links[1].kind == rg_linkFree) {
        q[2] += lift;
    }
    for (int i = 0; i < nv; ++i) {
        v[i] = 0.5 * (rgRandomUnit(1, (uint64_t)i) - 0.5);
    }
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    free(q);
    free(v);
}

static void rgDriveWorld(rgWorld* world, int step) {
    int count = world->model->info.actuatorCount;
    double* u = calloc((size_t)count + 1, sizeof(double));
    for (int i = 0; i < count; ++i) {
        u[i] = 0.6 * (rgRandomUnit(2, (uint64_t)(1000 * step + i)) - 0.5);
    }
    assert_int_equal(rgWorld_SetControl(world, u), rg_ok);
    free(u);
}

#define RG_MOST_V           1e-6 // [m/s], [rad/s] between two ways to one solution
#define RG_MOST_V_OF_POINTS 1e-2 // where contact points are others

// True if the impulses of the device's step solve the last problem of the world's.
static bool rgSolvesToo(const rgWorld* world, const rgDeviceBatch* batch) {
    const rgContactProblem* problem = rgWorld_Problem(world, NULL);
    const double* lambda = rgManyHostImpulses(&batch->sizes, batch->memory[0]);
    double residual = rgContactProblem_Residual(problem, lambda);
    return residual <= 2e-9;
}

// Both solve the exact law to a tolerance far below the differences that are allowed.
static void rgCheckCase(const rgCase* one) {
    rgModel* model = one->text != NULL ? rgModelOf(one->text) : rgModelNamed(one->model);
    rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
    def.world.timeStep = one->dt;
    def.world.integrator = one->integrator;
    def.world.contact.tolerance = 1e-9;
    rgDeviceBatch* batch = rgBatchOf(model, &def);
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(model, &def.world, NULL, &world), rg_ok);
    rgStartWorld(world, one->lift);
    const rgManyModel* m = &batch->plan;
    double mostV = 0, mostQ = 0;
    int done = 0, others = 0, points = 0, steps = rgFewer(one->steps),
        counts[rg_hostReasonCount] = {0};
    for (int s = 0; s < steps; ++s) {
        if (s % 20 == 0) {
            rgDriveWorld(world, s);
        }
        assert_int_equal(rgDeviceBatch_TakeWorld(batch, 0, world), rg_ok);
        memset(batch->memory[0], 0xff, rgManyHostBytes(&batch->sizes)); // not numbers
        rgManyHostStep(m, &batch->sizes, batch->state, batch->stateInt, batch->memory[0]);
        rgStepReport report;
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        int reason = batch->stateInt[m->stateInt.reason];
        counts[reason] += 1;
        if (reason == rg_manyDone && report.contact.status == rg_contactSolved) {
            double v = rgLargestGap(batch->state + m->state.v, world->state.v, m->vCount);
            double q = rgLargestGap(batch->state + m->state.q, world->state.q, m->qCount);
            // The law may have several solutions: impulses of another one solve rgWorld's problem.
            // Without the memory of a pair, penetration may have another way out.
            if (v > RG_MOST_V && rgSolvesToo(world, batch)) {
                ++others;
            } else if (v > RG_MOST_V && v < RG_MOST_V_OF_POINTS) {
                ++points;
            } else {
                mostV = fmax(mostV, v);
                mostQ = fmax(mostQ, q);
            }
            ++done;
        }
    }
    print_message("%s, %g s, rule %d: %d of %d steps, v within %.1e, q within %.1e, %d with "
                  "another solution, %d with other points; left:",
                  one->model, one->dt, (int)one->integrator, done, steps, mostV, mostQ, others,
                  points);
    for (int i = 1; i < rg_hostReasonCount; ++i) {
        if (counts[i] > 0) {
            print_message(" %s %d", rgHostReason_Name((rgHostReason)i), counts[i]);
        }
    }
    print_message("\n");
    assert_true(done >= one->share * steps);
    assert_true(mostV <= RG_MOST_V);
    assert_true(mostQ <= 1e-6);
    assert_true(others <= 0.03 * steps);
    assert_true(points <= 0.005 * steps);
    rgDestroyWorld(world);
    rgDestroyDeviceBatch(batch);
    rgDestroyModel(model);
}

static const char rg_mixed[] =
    "<mujoco><option timestep='0.002'/><worldbody>"
    "<geom type='plane' size='5 5 0.1'/>"
    "<body pos='0 0 0.3'><freejoint/><geom type='box' size='0.1 0.15 0.05' mass='2'/></body>"
    "<body pos='0.5 0 0.35'><freejoint/><geom type='sphere' size='0.1' mass='1' friction='0.3'/>"
    "<body pos='0 0 0.2'><joint type='ball'/><geom type='capsule' fromto='0 0 0 0 0 0.2' "
    "size='0.03' mass='0.4'/></body></body>"
    "<body pos='1 0 0.5'><joint name='s' type='slide' axis='0 0 1' range='-0.3 0.2' "
    "limited='true' stiffness='20' damping='1'/><joint name='h' type='hinge' axis='0 1 0' "
    "frictionloss='0.1'/><geom type='capsule' fromto='-0.2 0 0 0.2 0 0' size='0.04' mass='1'/>"
    "</body></worldbody><actuator><motor joint='s' gear='10'/>"
    "<position joint='h' kp='20' forcerange='-1 1'/></actuator></mujoco>";

// Shapes of all kinds that a device collides, on each other.
static const char rg_shapes[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 0.1'/>"
    "<body pos='0 0 0.11'><freejoint/><geom type='box' size='0.2 0.2 0.1' mass='4'/></body>"
    "<body pos='0.02 0.01 0.32'><freejoint/><geom type='box' size='0.15 0.1 0.1' mass='2'/></body>"
    "<body pos='0.03 0 0.55'><freejoint/><geom type='cylinder' size='0.08 0.1' mass='1'/></body>"
    "<body pos='0 0.8 0.1' euler='20 30 0'><freejoint/><geom type='ellipsoid' size='0.1 0.07 0.05' "
    "mass='1'/></body>"
    "<body pos='0.1 0.85 0.3' euler='50 0 0'><freejoint/><geom type='capsule' size='0.04 0.1' "
    "mass='1'/></body>"
    "<body pos='0.8 0 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.02' mass='1'/></body>"
    "<body pos='0.85 0.02 0.45'><freejoint/><geom type='sphere' size='0.06' mass='1'/></body>"
    "</worldbody></mujoco>";

static void test_steps(void** state) {
    (void)state;
    static const rgCase cases[] = {
        {"humanoid", NULL, 1e-3, 0, rg_integratorMidpoint, 1200, 0.85},
        {"humanoid", NULL, 1e-3, 1, rg_integratorMidpoint, 700, 0.9},
        {"humanoid", NULL, 1e-3, 0, rg_integratorEuler, 600, 0.85},
        {"quadruped", NULL, 1e-3, 0, rg_integratorMidpoint, 800, 0.9},
        {"quadruped", NULL, 4e-3, 0.3, rg_integratorMidpoint, 100, 0.5},
        {"arm_wall", NULL, 2e-3, 0, rg_integratorMidpoint, 400, 0.9},
        {"tossed_cube", NULL, 1e-3, 0, rg_integratorMidpoint, 800, 0.9},
        {"mixed", rg_mixed, 1e-3, 0, rg_integratorMidpoint, 1000, 0.9},
        {"mixed", rg_mixed, 2e-3, 0, rg_integratorEuler, 800, 0.9},
        {"shapes", rg_shapes, 1e-3, 0, rg_integratorMidpoint, 1000, 0.02},
        {"shapes", rg_shapes, 1e-3, 0, rg_integratorEuler, 1000, 0.02},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgCheckCase(&cases[i]);
    }
}

// Controls, and steps of a batch; what world 0 ends with.
static void rgRunBatch(rgDeviceBatch* batch, int steps, double* q, double* v) {
    const rgManyModel* m = &batch->plan;
    size_t n = (size_t)batch->worldCount, nu = (size_t)m->driveCount;
    size_t nv = (size_t)m->vCount, nq = (size_t)m->qCount;
    double *u = calloc(n * nu + 1, sizeof(double)), *all = calloc(n * (nq + nv), sizeof(double));
    for (size_t i = 0; i < n * nv; ++i) {
        all[i] = 0.5 * (rgRandomUnit(i / nv, i % nv) - 0.5);
    }
    assert_int_equal(rgDeviceBatch_Write(batch, rg_batchVelocities, all, n * nv, NULL), rg_ok);
    for (int s = 0; s < steps; ++s) {
        for (size_t i = 0; i < n * nu && s % 10 == 0; ++i) {
            u[i] = 0.6 * (rgRandomUnit(i / nu, (uint64_t)(1000 * s) + i % nu) - 0.5);
        }
        assert_int_equal(rgDeviceBatch_Write(batch, rg_batchControls, u, n * nu, NULL), rg_ok);
        assert_int_equal(rgDeviceBatch_Step(batch, 1), rg_ok);
    }
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, all, n * nq), rg_ok);
    memcpy(q, all, nq * sizeof(double));
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchVelocities, all, n * nv), rg_ok);
    memcpy(v, all, nv * sizeof(double));
    free(u);
    free(all);
}

// Bits of a world depend neither on its neighbours, nor on threads, nor on the run.
static void test_bits(void** state) {
    (void)state;
    rgModel* model = rgModelNamed("quadruped");
    rgThreadPool* pool = NULL;
    rgCreateThreadPool(3, NULL, &pool);
    double q[2][64], v[2][64];
    int steps = rgFewer(300);
    for (int k = 0; k < 2; ++k) {
        rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
        def.worldCount = k == 0 ? 1 : 7;
        def.world.timeStep = 1e-3;
        def.tasks = k == 0 ? (rgTasks){0} : rgThreadPool_Tasks(pool);
        rgDeviceBatch* batch = rgBatchOf(model, &def);
        rgRunBatch(batch, steps, q[k], v[k]);
        rgDeviceBatchReport report = rgDeviceBatch_Report(batch);
        assert_true(report.stepCount == (int64_t)steps * def.worldCount);
        assert_true(report.hostCount < report.stepCount && report.faultCount == 0);
        assert_true(report.worstResidual <= 1e-6);
        rgDestroyDeviceBatch(batch);
    }
    assert_memory_equal(q[0], q[1], 19 * sizeof(double));
    assert_memory_equal(v[0], v[1], 18 * sizeof(double));
    rgDestroyThreadPool(pool);
    rgDestroyModel(model);
}

// Without room, steps are rgWorld's from the same state: the motion is that of a batch with room,
// as far as both are at the solution.
static void test_room(void** state) {
    (void)state;
    rgModel* model = rgModelNamed("quadruped");
    double q[2][64], v[2][64];
    int steps = rgFewer(120);
    for (int k = 0; k < 2; ++k) {
        rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
        def.world.timeStep = 1e-3;
        def.world.contact.tolerance = 1e-10;
        def.maxRows = k == 0 ? 0 : 13;
        rgDeviceBatch* batch = rgBatchOf(model, &def);
        rgRunBatch(batch, steps, q[k], v[k]);
        rgDeviceBatchReport report = rgDeviceBatch_Report(batch);
        int64_t sum = 0;
        for (int i = 0; i < rg_hostReasonCount; ++i) {
            sum += report.reasonCount[i];
        }
        assert_true(sum == report.hostCount);
        assert_true((report.reasonCount[rg_hostRows] > 0) == (k == 1));
        rgDestroyDeviceBatch(batch);
    }
    assert_true(rgLargestGap(q[0], q[1], 19) < 1e-6);
    assert_true(rgLargestGap(v[0], v[1], 18) < 1e-4);
    rgDestroyModel(model);
}

static bool rgRemarks(const rgDiagnostics* diagnostics, const char* part) {
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        if (strstr(rgDiagnostics_Message(diagnostics, i).text, part) != NULL) {
            return true;
        }
    }
    return false;
}

// Features that a device never has are named.
static void test_refused(void** state) {
    (void)state;
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1'/></body><body name='b' "
         "pos='1 0 0'><freejoint/><geom size='0.1'/></body></worldbody><equality><weld body1='a' "
         "body2='b'/></equality></mujoco>",
         "loops and couplings"},
        {"<mujoco><worldbody><body><joint name='j' type='ball' range='0 1' limited='true'/><geom "
         "size='0.1'/></body></worldbody></mujoco>",
         "joint 'j': a limit on several degrees of freedom"},
        {"<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
         "<actuator><general name='a' joint='j' dyntype='filter' "
         "dynprm='0.1'/></actuator></mujoco>",
         "actuator 'a': an activation"},
        {"<mujoco><option density='1.2'/><worldbody><body><freejoint/><geom size='0.1'/></body>"
         "</worldbody></mujoco>",
         "a fluid"},
        {"<mujoco><worldbody><geom type='plane' size='1 1 1'/><body><freejoint/><geom name='g' "
         "size='0.1' condim='6' friction='1 0.1 0.1'/></body></worldbody></mujoco>",
         "shape 'g': torsion or rolling friction"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgModel* model = rgModelOf(cases[i].text);
        rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
        rgDiagnostics* diagnostics = NULL;
        rgDeviceBatch* batch = NULL;
        rgCreateDiagnostics(NULL, &diagnostics);
        assert_int_equal(rgCreateDeviceBatch(model, &def, diagnostics, &batch),
                         rg_errorUnsupported);
        assert_null(batch);
        if (!rgRemarks(diagnostics, cases[i].named)) {
            fail_msg("case %d does not say '%s'", i, cases[i].named);
        }
        rgDestroyDiagnostics(diagnostics);
        rgDestroyModel(model);
    }
}

static void test_arguments(void** state) {
    (void)state;
    rgModel* model = rgModelNamed("tossed_cube");
    rgDeviceBatch* batch = NULL;
    rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
    assert_int_equal(rgCreateDeviceBatch(NULL, &def, NULL, &batch), rg_errorArgument);
    def.worldCount = 0;
    assert_int_equal(rgCreateDeviceBatch(model, &def, NULL, &batch), rg_errorArgument);
    def.worldCount = 3;
    def.cookie = 0;
    assert_int_equal(rgCreateDeviceBatch(model, &def, NULL, &batch), rg_errorArgument);
    def.cookie = rgDefaultDeviceBatchDef().cookie;
    batch = rgBatchOf(model, &def);
    double q[21], before[21];
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, before, 21), rg_ok);
    memcpy(q, before, sizeof(q));
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, q, 20), rg_errorArgument);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchSensors, q, 0), rg_errorArgument);
    q[8] = NAN;
    assert_int_equal(rgDeviceBatch_Write(batch, rg_batchPositions, q, 21, NULL), rg_errorArgument);
    memset(q + 7 + 3, 0, 4 * sizeof(double));
    q[8] = 0;
    assert_int_equal(rgDeviceBatch_Write(batch, rg_batchPositions, q, 21, NULL), rg_errorArgument);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, q, 21), rg_ok);
    assert_memory_equal(q, before, sizeof(q)); // nothing was changed
    uint8_t on[3] = {0, 1, 0};
    rgWorldMask mask = {on, 3}, wrong = {on, 2};
    q[9] = 2;
    q[2] = 5;
    assert_int_equal(rgDeviceBatch_Write(batch, rg_batchPositions, q, 21, &wrong),
                     rg_errorArgument);
    assert_int_equal(rgDeviceBatch_Write(batch, rg_batchPositions, q, 21, &mask), rg_ok);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, q, 21), rg_ok);
    assert_true(q[9] == 2 && q[2] == before[2]);
    rgDeviceView view = rgDeviceBatch_View(batch, rg_batchPositions);
    assert_int_equal(view.rowCount, 3);
    assert_int_equal(view.columnCount, 7);
    for (int i = 0; i < 21; ++i) {
        assert_true(view.data[i / 7 * view.worldStride + i % 7 * view.columnStride] == q[i]);
    }
    assert_int_equal(rgDeviceBatch_Step(batch, 5), rg_ok);
    assert_int_equal(rgDeviceBatch_Step(batch, -1), rg_errorArgument);
    double time[3];
    assert_int_equal(rgDeviceBatch_Reset(batch, &mask), rg_ok);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchTime, time, 3), rg_ok);
    assert_true(time[0] > 0 && time[1] == 0);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchPositions, q, 21), rg_ok);
    assert_memory_equal(q + 7, before + 7, 7 * sizeof(double));
    rgDestroyDeviceBatch(batch);
    rgDestroyModel(model);
}

// A world whose numbers neither the device nor rgWorld can take stands still; others go on.
static void test_fault(void** state) {
    (void)state;
    rgModel* model = rgModelNamed("tossed_cube");
    rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
    def.worldCount = 3;
    rgDeviceBatch* batch = rgBatchOf(model, &def);
    rgDeviceView force = rgDeviceBatch_View(batch, rg_batchForces);
    force.data[force.worldStride] = NAN;
    assert_int_equal(rgDeviceBatch_Step(batch, 3), rg_ok);
    uint8_t faults[3];
    double time[3];
    assert_int_equal(rgDeviceBatch_Faults(batch, faults, 3), rg_ok);
    assert_int_equal(rgDeviceBatch_Read(batch, rg_batchTime, time, 3), rg_ok);
    assert_true(!faults[0] && faults[1] && !faults[2]);
    assert_true(time[0] > 0 && time[1] == 0 && time[2] == time[0]);
    rgDeviceBatchReport report = rgDeviceBatch_Report(batch);
    assert_int_equal(report.faultCount, 1);
    assert_true(report.reasonCount[rg_hostNumbers] == 1);
    uint8_t on[3] = {0, 1, 0};
    rgWorldMask mask = {on, 3};
    assert_int_equal(rgDeviceBatch_Reset(batch, &mask), rg_ok);
    assert_int_equal(rgDeviceBatch_Step(batch, 1), rg_ok);
    assert_int_equal(rgDeviceBatch_Report(batch).faultCount, 0);
    rgDestroyDeviceBatch(batch);
    rgDestroyModel(model);
}

static void test_memory(void** state) {
    (void)state;
    rgModel* model = rgModelNamed("tossed_cube");
    for (int fail = 0, more = 1; more; ++fail) {
        rgCounter counter = {.failAfter = fail};
        rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
        def.worldCount = 2;
        def.allocator = rgCountingAllocator(&counter);
        rgDeviceBatch* batch = NULL;
        rgResult result = rgCreateDeviceBatch(model, &def, NULL, &batch);
        more = result == rg_errorMemory;
        assert_true(more || result == rg_ok);
        rgDestroyDeviceBatch(batch);
        assert_int_equal(counter.live, 0);
    }
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_bits),
        cmocka_unit_test(test_room),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_fault),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
