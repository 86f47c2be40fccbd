// Worlds of a batch against worlds of their own, bit for bit: threads, masks, faults, arrays,
// memory.
#include "fleet.h"

static const char* const robots[] = {"humanoid", "quadruped"};

enum { worlds = 12, steps = 120 };

static rgRolloutDef OpenLoop(const double* controls, int count, int stepCount, int size) {
    rgRolloutDef def = rgDefaultRolloutDef();
    def.stepCount = stepCount;
    def.controls = controls;
    def.controlCount = (size_t)(count * stepCount * size);
    return def;
}

static void test_batch_is_one_by_one(void** state) {
    (void)state;
    for (int r = 0; r < 2; ++r) {
        Fleet fleet = FleetModel(robots[r]);
        rgBatchDef def = rgDefaultBatchDef();
        def.keepContacts = true;
        rgWorld* alone[worlds];
        for (int i = 0; i < worlds; ++i) {
            alone[i] = FleetAlone(&fleet, &def.world, i, steps);
        }
        for (int threads = 1; threads <= 8; threads *= 2) {
            FleetMake(&fleet, worlds, threads, def);
            double* u = FleetControls(&fleet, steps);
            FleetStart(&fleet);
            rgRolloutDef rollout = OpenLoop(u, worlds, steps, fleet.info.actuatorCount);
            assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
            const rgWorldStatus* status = rgBatch_Status(fleet.batch);
            for (int i = 0; i < worlds; ++i) {
                assert_true(rgBatch_Hash(fleet.batch, i) == rgWorld_Hash(alone[i]));
                assert_int_equal(status[i].fault, rg_faultNone);
                assert_int_equal(status[i].stepCount, steps);
                assert_int_equal(status[i].unconvergedCount, rgWorld_UnconvergedSteps(alone[i]));
                assert_int_equal(status[i].anomalies, rgWorld_Health(alone[i]).anomalies);
                int count = 0, expected = 0;
                const rgContact* contacts = rgBatch_Contacts(fleet.batch, i, &count);
                const rgContact* own = rgWorld_Contacts(alone[i], &expected);
                assert_int_equal(count, expected);
                for (int k = 0; k < count; ++k) {
                    assert_int_equal(contacts[k].feature, own[k].feature);
                    assert_memory_equal(contacts[k].impulse, own[k].impulse, sizeof(own->impulse));
                }
            }
            free(u);
            FleetUnmake(&fleet);
        }
        for (int i = 0; i < worlds; ++i) {
            rgDestroyWorld(alone[i]);
        }
        FleetEnd(&fleet);
    }
}

// A scene whose script waits with a body and throws it: sleep, many bodies, a callback that sets
// state.
static rgResult Act(rgWorld* world, int index, int step, void* context) {
    (void)step;
    rgVec3 push = rgVec(0.2 * index, 0, 0);
    rgWorld_ClearWrenches(world);
    rgResult result = rgWorld_ApplyWrench(world, (rgBodyId){1}, push, rgVec(0, 0, 0));
    return result == rg_ok ? rgScene_Act(context, world) : result;
}

static rgResult Start(rgWorld* world, int index, int step, void* context) {
    (void)index;
    (void)step;
    rgResult result = rgScene_Start(context, world);
    return result == rg_ok ? rgWorld_SetTime(world, 1.99) : result; // shortly before the throw
}

static void test_scene_is_one_by_one(void** state) {
    (void)state;
    enum { count = 3, length = 60 };
    const rgSceneInfo* wall = rgFindScene("wall");
    Fleet fleet = {0};
    assert_int_equal(rgBuildScene(wall, NULL, NULL, &fleet.def), rg_ok);
    assert_int_equal(rgCompileModel(fleet.def, NULL, NULL, &fleet.model), rg_ok);
    FleetMake(&fleet, count, 2, rgDefaultBatchDef());
    rgRolloutDef rollout = rgDefaultRolloutDef();
    rollout.stepCount = length;
    rollout.each = Act;
    // The callback takes what is constant.
    rollout.context = (void*)(uintptr_t)wall;
    assert_int_equal(rgBatch_Each(fleet.batch, Start, rollout.context, NULL), rg_ok);
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
    for (int i = 0; i < count; ++i) {
        rgWorldDef def = rgDefaultWorldDef();
        rgWorld* world = NULL;
        assert_int_equal(rgCreateWorld(fleet.model, &def, NULL, &world), rg_ok);
        assert_int_equal(Start(world, i, 0, rollout.context), rg_ok);
        for (int s = 0; s < length; ++s) {
            assert_int_equal(Act(world, i, s, rollout.context), rg_ok);
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
        assert_int_equal(rgBatch_Status(fleet.batch)[i].fault, rg_faultNone);
        assert_true(rgBatch_Hash(fleet.batch, i) == rgWorld_Hash(world));
        rgDestroyWorld(world);
    }
    assert_false(rgBatch_Hash(fleet.batch, 0) == rgBatch_Hash(fleet.batch, 1));
    FleetEnd(&fleet);
}

// The same steps in other portions, with the arrays read between.
static void test_portions_do_not_matter(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    FleetMake(&fleet, worlds, 2, rgDefaultBatchDef());
    FleetStart(&fleet);
    assert_int_equal(rgBatch_Step(fleet.batch, 60, NULL), rg_ok);
    uint64_t hashes[worlds];
    for (int i = 0; i < worlds; ++i) {
        hashes[i] = rgBatch_Hash(fleet.batch, i);
    }
    FleetStart(&fleet);
    for (int done = 0, k = 1; done < 60; done += k, k = k % 7 + 1) {
        k = k < 60 - done ? k : 60 - done;
        assert_int_equal(rgBatch_Step(fleet.batch, k, NULL), rg_ok);
        assert_int_equal(rgBatch_Forward(fleet.batch, NULL), rg_ok);
        rgBatchView time = rgBatch_View(fleet.batch, rg_batchTime);
        EXPECT_NEAR(time.data[5 * time.stride], (done + k) * rgBatch_TimeStep(fleet.batch), 1e-12);
    }
    for (int i = 0; i < worlds; ++i) {
        assert_true(rgBatch_Hash(fleet.batch, i) == hashes[i]);
    }
    FleetEnd(&fleet);
}

static void test_mask(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    FleetMake(&fleet, worlds, 3, rgDefaultBatchDef());
    FleetStart(&fleet);
    uint64_t start[worlds], moved[worlds];
    uint8_t on[worlds];
    for (int i = 0; i < worlds; ++i) {
        start[i] = rgBatch_Hash(fleet.batch, i);
        on[i] = i % 3 == 1;
    }
    rgWorldMask mask = {on, worlds};
    assert_int_equal(rgBatch_Step(fleet.batch, 20, &mask), rg_ok);
    for (int i = 0; i < worlds; ++i) {
        moved[i] = rgBatch_Hash(fleet.batch, i);
        assert_int_equal(moved[i] == start[i], i % 3 != 1);
        assert_int_equal(rgBatch_Status(fleet.batch)[i].stepCount, i % 3 == 1 ? 20 : 0);
        on[i] = i == 4;
    }
    assert_int_equal(rgBatch_Reset(fleet.batch, FleetKey(&fleet), &mask), rg_ok);
    assert_int_equal(rgBatch_Status(fleet.batch)[4].stepCount, 0);
    rgWorld* fresh = NULL;
    rgWorldDef def = rgDefaultWorldDef();
    assert_int_equal(rgCreateWorld(fleet.model, &def, NULL, &fresh), rg_ok);
    assert_int_equal(rgWorld_Reset(fresh, FleetKey(&fleet)), rg_ok);
    for (int i = 0; i < worlds; ++i) {
        assert_true(rgBatch_Hash(fleet.batch, i) == (i == 4 ? rgWorld_Hash(fresh) : moved[i]));
    }
    rgDestroyWorld(fresh);
    FleetEnd(&fleet);
}

// Bad numbers and a world that explodes: each stops with its reason, and nobody else notices.
static void test_faults_stay_alone(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    FleetMake(&fleet, worlds, 2, rgDefaultBatchDef());
    int nu = fleet.info.actuatorCount, nv = fleet.info.vCount, nq = fleet.info.qCount;
    double* u = FleetControls(&fleet, steps);
    rgRolloutDef rollout = OpenLoop(u, worlds, steps, nu);
    double* q = malloc((size_t)(worlds * steps * nq) * sizeof(double));
    rollout.positions = q;
    rollout.positionCount = (size_t)(worlds * steps * nq);
    double* inputs = malloc((size_t)(worlds * steps * nu) * sizeof(double));
    rollout.inputs = inputs;
    rollout.inputCount = (size_t)(worlds * steps * nu) - 1;
    double times[worlds * steps];
    rollout.times = times;
    rollout.timeCount = worlds * steps;
    FleetStart(&fleet);
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_errorArgument);
    ++rollout.inputCount;
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
    assert_memory_equal(inputs, u, rollout.inputCount * sizeof(double));
    EXPECT_NEAR(times[3 * steps + 9], 10 * rgBatch_TimeStep(fleet.batch), 1e-12);
    uint64_t good[worlds];
    for (int i = 0; i < worlds; ++i) {
        good[i] = rgBatch_Hash(fleet.batch, i);
    }
    FleetStart(&fleet);
    u[(2 * steps + 30) * nu + 1] = NAN;
    u[(7 * steps) * nu] = INFINITY;
    double* v = malloc((size_t)(worlds * nv) * sizeof(double));
    assert_int_equal(rgBatch_Read(fleet.batch, rg_batchVelocities, v, (size_t)(worlds * nv)),
                     rg_ok);
    v[4 * nv + 3] = 1e200;
    v[9 * nv] = NAN;
    assert_int_equal(
        rgBatch_Write(fleet.batch, rg_batchVelocities, v, (size_t)(worlds * nv), NULL, NULL),
        rg_ok);
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
    const rgWorldStatus* status = rgBatch_Status(fleet.batch);
    for (int i = 0; i < worlds; ++i) {
        rgWorldFault expected = i == 2 || i == 7 ? rg_faultControl
                                : i == 4         ? rg_faultDiverged
                                : i == 9         ? rg_faultState
                                                 : rg_faultNone;
        assert_int_equal(status[i].fault, expected);
        assert_int_equal(rgBatch_Hash(fleet.batch, i) == good[i], expected == rg_faultNone);
        const double* last = q + ((i + 1) * steps - 1) * nq;
        assert_int_equal(isnan(last[0]), expected != rg_faultNone);
    }
    assert_int_equal(status[2].stepCount, 30);
    EXPECT_NEAR(status[2].faultTime, 30 * rgBatch_TimeStep(fleet.batch), 1e-12);
    assert_false(isnan(q[(2 * steps + 29) * nq]));
    assert_true(isnan(q[(2 * steps + 30) * nq]));
    assert_string_equal(rgWorldFault_Name(status[4].fault), "diverged");
    // They stand still, and a reset brings them back.
    assert_int_equal(rgBatch_Step(fleet.batch, 1, NULL), rg_ok);
    assert_int_equal(status[2].stepCount, 30);
    u[(2 * steps + 30) * nu + 1] = u[(7 * steps) * nu] = 0.01;
    FleetStart(&fleet);
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
    for (int i = 0; i < worlds; ++i) {
        assert_int_equal(rgBatch_Status(fleet.batch)[i].fault, rg_faultNone);
    }
    free(v);
    free(q);
    free(inputs);
    free(u);
    FleetEnd(&fleet);
}

// ---- closed loop

static rgResult EachControl(rgWorld* world, int index, int step, void* context) {
    const Fleet* fleet = context;
    double u[64];
    FleetControl(fleet, index, step, u);
    return rgWorld_SetControl(world, u);
}

static rgResult AllControl(rgBatch* batch, int step, void* context) {
    const Fleet* fleet = context;
    int size = fleet->info.actuatorCount;
    size_t count = (size_t)(fleet->count * size);
    double* u = malloc(count * sizeof(double));
    for (int i = 0; i < fleet->count; ++i) {
        FleetControl(fleet, i, step, u + i * size);
    }
    rgResult result = rgBatch_Write(batch, rg_batchControls, u, count, NULL, NULL);
    free(u);
    return result;
}

// The same controls given, made for each world and made for all: the same motion and records.
static void test_loops_agree(void** state) {
    (void)state;
    enum { interval = 7, records = steps / interval };
    Fleet fleet = FleetModel("humanoid");
    FleetMake(&fleet, worlds, 4, rgDefaultBatchDef());
    int nq = fleet.info.qCount, nv = fleet.info.vCount;
    double* u = FleetControls(&fleet, steps);
    double *q[3], *v[3];
    uint64_t hashes[worlds];
    for (int kind = 0; kind < 3; ++kind) {
        rgRolloutDef rollout =
            OpenLoop(kind == 0 ? u : NULL, worlds, steps, fleet.info.actuatorCount);
        rollout.each = kind == 1 ? EachControl : NULL;
        rollout.all = kind == 2 ? AllControl : NULL;
        rollout.context = &fleet;
        rollout.recordInterval = interval;
        rollout.positionCount = (size_t)(worlds * records * nq);
        rollout.velocityCount = (size_t)(worlds * records * nv);
        rollout.positions = q[kind] = calloc(rollout.positionCount, sizeof(double));
        rollout.velocities = v[kind] = calloc(rollout.velocityCount, sizeof(double));
        FleetStart(&fleet);
        assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
        for (int i = 0; i < worlds; ++i) {
            uint64_t hash = rgBatch_Hash(fleet.batch, i);
            hashes[i] = kind == 0 ? hash : hashes[i];
            assert_true(hash == hashes[i]);
        }
        assert_memory_equal(q[kind], q[0], rollout.positionCount * sizeof(double));
        assert_memory_equal(v[kind], v[0], rollout.velocityCount * sizeof(double));
    }
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* alone = FleetAlone(&fleet, &def, 3, 2 * interval);
    assert_memory_equal(q[0] + (3 * records + 1) * nq, rgWorld_Positions(alone, NULL),
                        (size_t)nq * sizeof(double));
    assert_memory_equal(v[0] + (3 * records + 1) * nv, rgWorld_Velocities(alone, NULL),
                        (size_t)nv * sizeof(double));
    rgDestroyWorld(alone);
    for (int kind = 0; kind < 3; ++kind) {
        free(q[kind]);
        free(v[kind]);
    }
    free(u);
    FleetEnd(&fleet);
}

// What a callback reads must not come from the world that the thread stepped before.
typedef struct Seen {
    double height[worlds], force[worlds];
} Seen;

static rgResult Look(rgWorld* world, int index, int step, void* context) {
    Seen* seen = context;
    if (step == 0) {
        int count = 0;
        const rgContact* contacts = rgWorld_Contacts(world, &count);
        seen->height[index] = rgWorld_BodyPose(world, (rgBodyId){1}).p.z;
        seen->force[index] = 0;
        for (int i = 0; i < count; ++i) {
            seen->force[index] += contacts[i].force.z;
        }
    }
    return index == 5 && step == 3 ? rg_errorUnsupported : rg_ok;
}

static void test_callback_sees_its_world(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    Seen seen[2];
    for (int threads = 1; threads <= 2; ++threads) {
        FleetMake(&fleet, worlds, threads, rgDefaultBatchDef());
        FleetStart(&fleet);
        assert_int_equal(rgBatch_Step(fleet.batch, 300, NULL), rg_ok);
        rgRolloutDef rollout = rgDefaultRolloutDef();
        rollout.stepCount = 5;
        rollout.each = Look;
        rollout.context = &seen[threads - 1];
        assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
        const rgWorldStatus* status = rgBatch_Status(fleet.batch);
        assert_int_equal(status[5].fault, rg_faultCallback);
        assert_int_equal(status[5].stepCount, 303);
        assert_int_equal(status[6].fault, rg_faultNone);
        FleetUnmake(&fleet);
    }
    assert_memory_equal(&seen[0], &seen[1], sizeof(Seen));
    for (int i = 0; i < worlds; ++i) {
        assert_true(seen[0].force[i] > 1); // it stands on the floor
    }
    FleetEnd(&fleet);
}

// ---- arrays

static void test_arrays_and_states(void** state) {
    (void)state;
    Fleet fleet = FleetModel("humanoid");
    rgBatchDef def = rgDefaultBatchDef();
    def.keepSensors = true;
    FleetMake(&fleet, worlds, 2, def);
    FleetStart(&fleet);
    assert_int_equal(rgBatch_Step(fleet.batch, 40, NULL), rg_ok);
    for (int a = 0; a < rg_batchArrayCount; ++a) {
        rgBatchView view = rgBatch_View(fleet.batch, (rgBatchArray)a);
        size_t count = (size_t)(view.rowCount * view.columnCount);
        double* copy = malloc((count + 1) * sizeof(double));
        assert_int_equal(rgBatch_Read(fleet.batch, (rgBatchArray)a, copy, count), rg_ok);
        assert_int_equal(rgBatch_Read(fleet.batch, (rgBatchArray)a, copy, count + 1),
                         rg_errorArgument);
        for (int i = 0; i < worlds; ++i) {
            for (int k = 0; k < view.columnCount; ++k) {
                assert_true(copy[i * view.columnCount + k] == view.data[i * view.stride + k]);
            }
        }
        free(copy);
    }
    // One world's state for all: the way of sampling-based control.
    size_t size = rgBatch_StateSize(fleet.batch, 3);
    void* saved = malloc(size);
    assert_int_equal(rgBatch_Save(fleet.batch, 3, saved, size), rg_ok);
    uint64_t hash = rgBatch_Hash(fleet.batch, 3);
    assert_int_equal(rgBatch_Restore(fleet.batch, saved, size - 1, NULL), rg_errorArgument);
    assert_false(rgBatch_Hash(fleet.batch, 0) == hash);
    assert_int_equal(rgBatch_Restore(fleet.batch, saved, size, NULL), rg_ok);
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(fleet.model, &def.world, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_Restore(world, saved, size), rg_ok);
    for (int i = 0; i < worlds; ++i) {
        assert_true(rgBatch_Hash(fleet.batch, i) == hash);
    }
    for (int s = 0; s < 25; ++s) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    assert_int_equal(rgBatch_Step(fleet.batch, 25, NULL), rg_ok);
    assert_true(rgBatch_Hash(fleet.batch, worlds - 1) == rgWorld_Hash(world));
    int sensors = 0;
    const double* own = rgWorld_Sensors(world, &sensors);
    rgBatchView view = rgBatch_View(fleet.batch, rg_batchSensors);
    assert_int_equal(view.columnCount, sensors);
    assert_memory_equal(view.data + 7 * view.stride, own, (size_t)sensors * sizeof(double));
    rgDestroyWorld(world);
    free(saved);
    FleetEnd(&fleet);
}

// Activations of all worlds, written and read, move as those of a world alone.
static void test_activations(void** state) {
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><body><joint name='x' type='slide'/><geom size='.1'/></body>"
        "</worldbody><actuator><motor joint='x'/><general joint='x' dyntype='filter' "
        "dynprm='0.05'/></actuator></mujoco>";
    Fleet fleet = {0};
    assert_int_equal(rgParseMjcf(text, strlen(text), NULL, NULL, NULL, &fleet.def), rg_ok);
    assert_int_equal(rgCompileModel(fleet.def, NULL, NULL, &fleet.model), rg_ok);
    fleet.info = rgModel_Info(fleet.model);
    FleetMake(&fleet, 3, 2, rgDefaultBatchDef());
    const double rows[6] = {0, 0.1, 0, 0.2, 0, 0.3};
    double got[6];
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchActivations, rows, 6, NULL, NULL), rg_ok);
    assert_int_equal(rgBatch_Step(fleet.batch, 10, NULL), rg_ok);
    assert_int_equal(rgBatch_Read(fleet.batch, rg_batchActivations, got, 6), rg_ok);
    for (int i = 0; i < 3; ++i) {
        rgWorld* world = NULL;
        assert_int_equal(rgCreateWorld(fleet.model, NULL, NULL, &world), rg_ok);
        assert_int_equal(rgWorld_SetActivation(world, rows + 2 * i), rg_ok);
        for (int s = 0; s < 10; ++s) {
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
        assert_memory_equal(got + 2 * i, rgWorld_Activation(world, NULL), 2 * sizeof(double));
        assert_true(rgBatch_Hash(fleet.batch, i) == rgWorld_Hash(world));
        rgDestroyWorld(world);
    }
    const double bad[6] = {0, 1, 0, NAN, 0, 1};
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchActivations, bad, 6, NULL, NULL), rg_ok);
    assert_int_equal(rgBatch_Status(fleet.batch)[0].fault, rg_faultNone);
    assert_int_equal(rgBatch_Status(fleet.batch)[1].fault, rg_faultControl);
    FleetEnd(&fleet);
    fleet = FleetModel("quadruped"); // none of its actuators has one
    FleetMake(&fleet, 2, 1, rgDefaultBatchDef());
    assert_int_equal(rgBatch_View(fleet.batch, rg_batchActivations).columnCount, 0);
    FleetEnd(&fleet);
}

static void test_bad_input(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    rgBatch* batch = NULL;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = 0;
    assert_int_equal(rgCreateBatch(fleet.model, &def, said, &batch), rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "at least one world"));
    def.worldCount = 2;
    def.world.timeStep = -1;
    assert_int_equal(rgCreateBatch(fleet.model, &def, said, &batch), rg_errorArgument);
    def = rgDefaultBatchDef();
    def.cookie = 0;
    assert_int_equal(rgCreateBatch(fleet.model, &def, said, &batch), rg_errorArgument);
    def = rgDefaultBatchDef();
    def.world.beforeStep = (rgStepFcn*)(void (*)(void))Look;
    assert_int_equal(rgCreateBatch(fleet.model, &def, said, &batch), rg_errorArgument);
    assert_null(batch);

    FleetMake(&fleet, worlds, 1, rgDefaultBatchDef());
    uint8_t on[worlds + 1] = {0};
    rgWorldMask wrong = {on, worlds + 1}, none = {NULL, worlds};
    double numbers[64 * worlds] = {0};
    size_t count = (size_t)(worlds * fleet.info.actuatorCount);
    assert_int_equal(rgBatch_Step(fleet.batch, 1, &wrong), rg_errorArgument);
    assert_int_equal(rgBatch_Step(fleet.batch, 1, &none), rg_errorArgument);
    assert_int_equal(rgBatch_Step(fleet.batch, -1, NULL), rg_errorArgument);
    assert_int_equal(rgBatch_Reset(fleet.batch, (rgKeyId){99}, NULL), rg_errorArgument);
    rgDiagnostics_Clear(said);
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchControls, numbers, count - 1, NULL, said),
                     rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "controls of 12 worlds"));
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchControls, NULL, count, NULL, said),
                     rg_errorArgument);
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchSensors, numbers, 0, NULL, said),
                     rg_errorArgument);
    assert_int_equal(rgBatch_Write(fleet.batch, rg_batchControls, numbers, count, &wrong, said),
                     rg_errorArgument);
    rgRolloutDef rollout = rgDefaultRolloutDef();
    rollout.stepCount = 3;
    rollout.controls = numbers;
    rollout.controlCount = 7;
    rgDiagnostics_Clear(said);
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, said), rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "controls needs 432"));
    rollout = rgDefaultRolloutDef();
    rollout.recordInterval = 0;
    assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, said), rg_errorArgument);
    assert_int_equal(rgBatch_Status(fleet.batch)[0].stepCount, 0);
    rgDestroyDiagnostics(said);
    FleetEnd(&fleet);
}

// ---- memory

static void test_no_allocation_after_warm_up(void** state) {
    (void)state;
    Fleet fleet = FleetModel("humanoid");
    rgCounter counter = {.failAfter = -1};
    rgBatchDef def = rgDefaultBatchDef();
    def.allocator = rgCountingAllocator(&counter);
    def.keepContacts = def.keepSensors = true;
    FleetMake(&fleet, worlds, 1, def);
    double* u = FleetControls(&fleet, steps);
    rgRolloutDef rollout = OpenLoop(u, worlds, steps, fleet.info.actuatorCount);
    uint64_t hash = 0;
    for (int round = 0; round < 2; ++round) {
        FleetStart(&fleet);
        int before = counter.allocations;
        assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
        assert_true(round == 0 || counter.allocations == before);
        assert_true(round == 0 || rgBatch_Hash(fleet.batch, 5) == hash);
        hash = rgBatch_Hash(fleet.batch, 5);
    }
    rgBatchMemory use = rgBatch_MemoryUse(fleet.batch);
    assert_true(use.perWorld > 4000 && use.perWorld < 100000);
    assert_true(use.perThread > 100000);
    free(u);
    FleetUnmake(&fleet);
    assert_int_equal(counter.live, 0);
    // Every allocation may fail: an error or a fault, and nothing is lost.
    for (int fail = 0; fail < 400; fail += 7) {
        counter = (rgCounter){.failAfter = fail};
        rgBatch* batch = NULL;
        def.worldCount = 3;
        if (rgCreateBatch(fleet.model, &def, NULL, &batch) == rg_ok) {
            assert_int_equal(rgBatch_Reset(batch, FleetKey(&fleet), NULL), rg_ok);
            assert_int_equal(rgBatch_Step(batch, 3, NULL), rg_ok);
            for (int i = 0; i < 3; ++i) {
                rgWorldFault fault = rgBatch_Status(batch)[i].fault;
                assert_true(fault == rg_faultNone || fault == rg_faultMemory);
            }
            rgDestroyBatch(batch);
        }
        assert_int_equal(counter.live, 0);
    }
    FleetEnd(&fleet);
}

static void test_random_numbers(void** state) {
    (void)state;
    enum { count = 20000 };
    double mean = 0, square = 0, normal = 0, variance = 0;
    for (int i = 0; i < count; ++i) {
        double u = rgRandomUnit(5, (uint64_t)i), z = rgRandomNormal(6, (uint64_t)i);
        assert_true(u >= 0 && u < 1 && isfinite(z));
        mean += u / count;
        square += u * u / count;
        normal += z / count;
        variance += z * z / count;
    }
    // Five standard deviations of the mean of so many.
    EXPECT_NEAR(mean, 0.5, 5 * sqrt(1.0 / 12 / count));
    EXPECT_NEAR(square, 1.0 / 3, 5 * sqrt(4.0 / 45 / count));
    EXPECT_NEAR(normal, 0, 5 * sqrt(1.0 / count));
    EXPECT_NEAR(variance, 1, 5 * sqrt(2.0 / count));
    Fleet fleet = FleetModel("quadruped");
    rgBatchDef def = rgDefaultBatchDef();
    def.seed = 9;
    FleetMake(&fleet, 8, 1, def);
    uint64_t fifth = rgBatch_Seed(fleet.batch, 5);
    assert_false(fifth == rgBatch_Seed(fleet.batch, 4));
    FleetUnmake(&fleet);
    def.firstWorld = 5;
    FleetMake(&fleet, 2, 1, def);
    assert_true(rgBatch_Seed(fleet.batch, 0) == fifth);
    FleetEnd(&fleet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_is_one_by_one),
        cmocka_unit_test(test_scene_is_one_by_one),
        cmocka_unit_test(test_portions_do_not_matter),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_faults_stay_alone),
        cmocka_unit_test(test_loops_agree),
        cmocka_unit_test(test_callback_sees_its_world),
        cmocka_unit_test(test_arrays_and_states),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_no_allocation_after_warm_up),
        cmocka_unit_test(test_random_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
