// Tapes: gradients of rollouts equal products of the matrices of their steps and differences of
// whole rollouts, to the same bits whatever is kept and for any number of threads.
#include "fleet.h"

enum { worlds = 5, steps = 23 };

typedef struct Way {
    double *qBar, *vBar, *start, *controls, *parameters;
    rgTapeGradient gradient;
} Way;

static Way WayMake(const rgModelInfo* info, int count, int stepCount, int parameterCount) {
    size_t n = (size_t)info->vCount, rows = (size_t)(count * stepCount);
    Way way = {.qBar = malloc(rows * n * sizeof(double)),
               .vBar = malloc(rows * n * sizeof(double)),
               .start = malloc((size_t)count * 2 * n * sizeof(double)),
               .controls = malloc((rows * (size_t)info->actuatorCount + 1) * sizeof(double)),
               .parameters = malloc((size_t)(count * parameterCount + 1) * sizeof(double))};
    for (size_t k = 0; k < rows * n; ++k) {
        way.qBar[k] = sin(0.7 * (double)k);
        way.vBar[k] = cos(1.3 * (double)k);
    }
    way.gradient = (rgTapeGradient){way.qBar, way.vBar, way.start, way.controls, way.parameters};
    return way;
}

static void WayEnd(Way* way) {
    free(way->qBar);
    free(way->vBar);
    free(way->start);
    free(way->controls);
    free(way->parameters);
}

static rgTapeDef TapeDef(const Fleet* fleet, const double* controls, int count, int interval) {
    rgTapeDef def = rgDefaultTapeDef();
    def.stepCount = steps;
    def.controls = controls;
    def.controlCount = (size_t)(count * steps * fleet->info.actuatorCount);
    def.stateInterval = interval;
    return def;
}

// ---- products of matrices

static const rgQuantity rgQuantities[] = {{rg_quantityMass, 1, 0}, {rg_quantityFriction, -1, 0}};

static void test_products(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    rgBatchDef batchDef = rgDefaultBatchDef();
    fleet.count = 1;
    double* u = FleetControls(&fleet, steps);
    int n = fleet.info.vCount, nu = fleet.info.actuatorCount, width = 4 * n + nu + 2;
    Way way = WayMake(&fleet.info, 1, steps, 2);
    rgWorld* world = FleetAlone(&fleet, &batchDef.world, 0, 7);
    rgWorld* other = FleetAlone(&fleet, &batchDef.world, 0, 7);
    rgTapeDef def = TapeDef(&fleet, u, 1, 4);
    def.parameters = rgQuantities;
    def.parameterCount = 2;
    rgTape* tape = NULL;
    assert_int_equal(rgWorld_Record(world, &def, &tape), rg_ok);
    uint64_t hash = rgWorld_Hash(world);
    assert_int_equal(rgTape_WorldGradient(tape, world, &way.gradient), rg_ok);
    assert_true(rgWorld_Hash(world) == hash);

    rgDerivativeDef slopes = rgDefaultDerivativeDef();
    slopes.by |= rg_byParameters | rg_byTrend;
    slopes.parameters = rgQuantities;
    slopes.parameterCount = 2;
    slopes.advance = true;
    size_t count = (size_t)(n * width);
    double* matrices = malloc(4 * steps * count * sizeof(double));
    for (int s = 0; s < steps; ++s) {
        rgDerivatives d;
        assert_int_equal(rgWorld_SetControl(other, u + s * nu), rg_ok);
        assert_int_equal(rgWorld_Derivatives(other, &slopes, &d), rg_ok);
        assert_int_equal(d.columnCount, width);
        double* own = matrices + 4 * (size_t)s * count;
        memcpy(own, d.nextQ, count * sizeof(double));
        memcpy(own + count, d.nextV, count * sizeof(double));
        memcpy(own + 2 * count, d.nextTrend, 2 * count * sizeof(double));
        assert_memory_equal(rgWorld_Positions(other, NULL),
                            rgTape_Positions(tape, 0) + (s + 1) * fleet.info.qCount,
                            (size_t)fleet.info.qCount * sizeof(double));
    }
    assert_true(rgWorld_Hash(other) == hash);
    double bars[4][64] = {{0}}, parameters[2] = {0}, most = 0;
    for (int s = steps - 1; s >= 0; --s) {
        double out[200] = {0};
        for (int i = 0; i < n; ++i) {
            bars[0][i] += way.qBar[s * n + i];
            bars[1][i] += way.vBar[s * n + i];
            for (int j = 0; j < width; ++j) {
                const double* A = matrices + 4 * (size_t)s * count + i * width + j;
                for (int k = 0; k < 4; ++k) {
                    out[j] += bars[k][i] * A[(size_t)k * count];
                }
            }
        }
        for (int j = 0; j < width; ++j) {
            most = fmax(most, fabs(out[j]));
        }
        for (int k = 0; k < nu; ++k) {
            EXPECT_NEAR(way.controls[s * nu + k] / most, out[2 * n + k] / most, 1e-11);
        }
        for (int k = 0; k < 2; ++k) {
            parameters[k] += out[2 * n + nu + k];
        }
        for (int k = 0; k < 4; ++k) { // q, v, then the trend
            memcpy(bars[k], out + k * n + (k < 2 ? 0 : nu + 2), sizeof(double) * (size_t)n);
        }
    }
    for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(way.start[i] / most, bars[0][i] / most, 1e-11);
        EXPECT_NEAR(way.start[n + i] / most, bars[1][i] / most, 1e-11);
    }
    for (int k = 0; k < 2; ++k) {
        EXPECT_NEAR(way.parameters[k] / most, parameters[k] / most, 1e-11);
    }
    assert_true(rgTape_MemoryUse(tape) > 0);
    rgDestroyWorld(world);
    rgDestroyWorld(other);
    rgDestroyTape(tape); // may live longer
    WayEnd(&way);
    free(matrices);
    free(u);
    FleetEnd(&fleet);
}

// ---- differences of rollouts

typedef struct Rollout {
    Fleet fleet;
    rgWorldDef worldDef;
    double q[64], v[64];
    double* u;
    const double* path; // positions that those of others are measured from
    Way way;
} Rollout;

// Sum of the bars times what is reached.
static double Reach(const Rollout* rollout, const double* q, const double* v) {
    const Fleet* fleet = &rollout->fleet;
    int n = fleet->info.vCount;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(fleet->model, &rollout->worldDef, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    double sum = 0, moved[64];
    for (int s = 0; s < steps; ++s) {
        assert_int_equal(rgWorld_SetControl(world, rollout->u + s * fleet->info.actuatorCount),
                         rg_ok);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        rgModel_Difference(fleet->model, rollout->path + (s + 1) * fleet->info.qCount,
                           rgWorld_Positions(world, NULL), moved);
        for (int i = 0; i < n; ++i) {
            sum += rollout->way.qBar[s * n + i] * moved[i];
            sum += rollout->way.vBar[s * n + i] * rgWorld_Velocities(world, NULL)[i];
        }
    }
    rgDestroyWorld(world);
    return sum;
}

static double Moved(const Rollout* rollout, int column, double by) {
    int n = rollout->fleet.info.vCount;
    double q[64], v[64], unit[64] = {0};
    memcpy(q, rollout->q, sizeof(q));
    memcpy(v, rollout->v, sizeof(v));
    if (column < n) {
        unit[column] = by;
        rgModel_Integrate(rollout->fleet.model, rollout->q, unit, 1, q);
    } else {
        v[column - n] += by;
    }
    return Reach(rollout, q, v);
}

static void RolloutCheck(const char* name, int key, double speed, double shift, double tolerance) {
    Rollout rollout = {.fleet = FleetModel(name), .worldDef = rgDefaultWorldDef()};
    Fleet* fleet = &rollout.fleet;
    fleet->count = 1;
    int n = fleet->info.vCount, nu = fleet->info.actuatorCount;
    double* u = rollout.u = FleetControls(fleet, steps);
    Way* way = &rollout.way;
    *way = WayMake(&fleet->info, 1, steps, 0);
    rollout.worldDef.contact.tolerance = 1e-12;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(fleet->model, &rollout.worldDef, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){key}), rg_ok);
    double start[64];
    for (int i = 0; i < n; ++i) {
        start[i] = shift * sin(i + 1);
        rollout.v[i] = speed * cos(i);
    }
    rgModel_Integrate(fleet->model, rgWorld_Positions(world, NULL), start, 1, rollout.q);
    assert_int_equal(rgWorld_SetState(world, rollout.q, rollout.v), rg_ok);
    rgTapeDef def = TapeDef(fleet, u, 1, 1);
    rgTape* tape = NULL;
    assert_int_equal(rgWorld_Record(world, &def, &tape), rg_ok);
    assert_int_equal(rgTape_WorldGradient(tape, world, &way->gradient), rg_ok);
    rollout.path = rgTape_Positions(tape, 0);
    double h = 1e-6, most = 0;
    for (int j = 0; j < 2 * n; ++j) {
        most = fmax(most, fabs(way->start[j]));
    }
    for (int j = 0; j < 2 * n; ++j) {
        double slope = (Moved(&rollout, j, h) - Moved(&rollout, j, -h)) / (2 * h);
        bool closes = key > 0 && j == 2; // the gap of feet, within the increment
        EXPECT_NEAR(way->start[j] / most, slope / most, closes ? 1e-4 : tolerance);
    }
    for (int k = 0; k < nu * steps; k += 5) {
        double kept = u[k], step = 1e-4;
        u[k] = kept + step;
        double above = Reach(&rollout, rollout.q, rollout.v);
        u[k] = kept - step;
        double below = Reach(&rollout, rollout.q, rollout.v);
        u[k] = kept;
        EXPECT_NEAR(way->controls[k] / most, (above - below) / (2 * step) / most, tolerance);
    }
    rgDestroyTape(tape);
    rgDestroyWorld(world);
    WayEnd(way);
    free(u);
    FleetEnd(fleet);
}

static void test_differences(void** state) {
    (void)state;
    RolloutCheck("arm_wall", 0, 0.3, 0.1, 1e-6);
}

// Feet that touch: the change of v that is foreseen is part of the gradient. As data, it leaves
// errors of 1e-4.
static void test_differences_of_touching(void** state) {
    (void)state;
    RolloutCheck("quadruped", 1, 0.15, 0, 2e-6);
}

// ---- the same bits

static void test_same_bits(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    rgBatchDef batchDef = rgDefaultBatchDef();
    int n = fleet.info.vCount, nu = fleet.info.actuatorCount;
    Way first = WayMake(&fleet.info, worlds, steps, 0),
        way = WayMake(&fleet.info, worlds, steps, 0);
    const int intervals[] = {1, 5, steps + 1};
    for (int c = 0; c < 3; ++c) {
        FleetMake(&fleet, worlds, 1 << c, batchDef);
        double* u = FleetControls(&fleet, steps);
        FleetStart(&fleet);
        rgTapeDef def = TapeDef(&fleet, u, worlds, intervals[c]);
        rgTape* tape = NULL;
        assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_ok);
        uint64_t hash = rgBatch_Hash(fleet.batch, 3);
        Way* own = c == 0 ? &first : &way;
        for (int again = 0; again < 2; ++again) {
            assert_int_equal(rgTape_BatchGradient(tape, fleet.batch, &own->gradient), rg_ok);
            assert_true(rgBatch_Hash(fleet.batch, 3) == hash);
        }
        assert_memory_equal(first.start, own->start, (size_t)(worlds * 2 * n) * sizeof(double));
        assert_memory_equal(first.controls, own->controls,
                            (size_t)(worlds * steps * nu) * sizeof(double));
        rgDestroyTape(tape);
        free(u);
        FleetUnmake(&fleet);
    }
    WayEnd(&first);
    WayEnd(&way);
    FleetEnd(&fleet);
}

// A world that fails has no gradient, the others have theirs.
static void test_fault(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    FleetMake(&fleet, 3, 1, rgDefaultBatchDef());
    double* u = FleetControls(&fleet, steps);
    FleetStart(&fleet);
    u[(steps + 9) * fleet.info.actuatorCount] = NAN;
    Way way = WayMake(&fleet.info, 3, steps, 0);
    rgTapeDef def = TapeDef(&fleet, u, 3, 3);
    rgTape* tape = NULL;
    assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_ok);
    assert_int_equal(rgTape_BatchGradient(tape, fleet.batch, &way.gradient), rg_ok);
    int n = fleet.info.vCount;
    assert_true(rgBatch_Status(fleet.batch)[1].fault != rg_faultNone);
    assert_true(isnan(rgTape_Positions(tape, 1)[steps * fleet.info.qCount]));
    for (int i = 0; i < 2 * n; ++i) {
        assert_true(way.start[2 * n + i] == 0);
        assert_true(way.start[i] != 0 && isfinite(way.start[4 * n + i]));
    }
    rgDestroyTape(tape);
    WayEnd(&way);
    free(u);
    FleetEnd(&fleet);
}

static void test_refusals(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    FleetMake(&fleet, 2, 1, rgDefaultBatchDef());
    rgTapeDef def = rgDefaultTapeDef();
    rgTapeGradient gradient = {0};
    rgTape* tape = NULL;
    def.stateInterval = 0;
    assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_errorArgument);
    def = rgDefaultTapeDef();
    def.stepCount = -1;
    assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_errorArgument);
    def.stepCount = 2;
    double u[3] = {0};
    def.controls = u;
    def.controlCount = 3;
    assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_errorArgument);
    assert_null(tape);
    def = rgDefaultTapeDef();
    assert_int_equal(rgBatch_Record(fleet.batch, &def, NULL, &tape), rg_ok);
    assert_int_equal(rgTape_WorldGradient(tape, NULL, &gradient), rg_errorArgument);
    assert_null(rgTape_Positions(tape, 2));
    rgDestroyTape(tape);
    FleetEnd(&fleet);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_differences),
                                       cmocka_unit_test(test_differences_of_touching),
                                       cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_fault),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
