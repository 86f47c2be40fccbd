// Derivatives of batches: those of worlds of their own, to the bit, for any number of threads.
#include "fleet.h"

enum { worlds = 6, steps = 40 };

static void test_as_alone(void** state) {
    (void)state;
    Fleet fleet = FleetModel("quadruped");
    rgBatchDef def = rgDefaultBatchDef();
    rgDerivativeDef slopes = rgDefaultDerivativeDef();
    int n = fleet.info.vCount, width = rgModel_DerivativeColumns(fleet.model, &slopes);
    assert_int_equal(width, 2 * n + fleet.info.actuatorCount);
    size_t count = (size_t)(n * width), bytes = count * sizeof(double);
    double *q = malloc(worlds * bytes), *v = malloc(worlds * bytes);
    double* bars = malloc(2 * worlds * (size_t)n * sizeof(double));
    double* out = malloc(worlds * (size_t)width * sizeof(double));
    for (int k = 0; k < 2 * worlds * n; ++k) {
        bars[k] = sin(k);
    }
    for (int threads = 1; threads <= 4; threads *= 2) {
        FleetMake(&fleet, worlds, threads, def);
        double* u = FleetControls(&fleet, steps);
        FleetStart(&fleet);
        rgRolloutDef rollout = rgDefaultRolloutDef();
        rollout.stepCount = steps;
        rollout.controls = u;
        rollout.controlCount = (size_t)(worlds * steps * fleet.info.actuatorCount);
        assert_int_equal(rgBatch_Rollout(fleet.batch, &rollout, NULL, NULL), rg_ok);
        rgDerivatives answers[worlds];
        assert_int_equal(rgBatch_Derivatives(fleet.batch, &slopes,
                                             &(rgBatchMatrices){.nextQ = q, .nextV = v}, answers,
                                             NULL),
                         rg_ok);
        assert_int_equal(rgBatch_Adjoint(fleet.batch, &slopes,
                                         &(rgStepGradient){.qBar = bars, .vBar = bars + worlds * n},
                                         out, NULL, NULL),
                         rg_ok);
        for (int i = 0; i < worlds; ++i) {
            rgWorld* alone = FleetAlone(&fleet, &def.world, i, steps);
            assert_true(rgBatch_Hash(fleet.batch, i) == rgWorld_Hash(alone));
            rgDerivatives d;
            double own[200];
            assert_int_equal(rgWorld_Derivatives(alone, &slopes, &d), rg_ok);
            assert_memory_equal(d.nextQ, q + (size_t)i * count, bytes);
            assert_memory_equal(d.nextV, v + (size_t)i * count, bytes);
            assert_int_equal(d.betweenModes, answers[i].betweenModes);
            assert_null(answers[i].nextQ);
            assert_int_equal(rgWorld_Adjoint(alone, &slopes,
                                             &(rgStepGradient){.qBar = bars + i * n,
                                                               .vBar = bars + (worlds + i) * n},
                                             own, NULL),
                             rg_ok);
            assert_memory_equal(own, out + (size_t)i * (size_t)width,
                                (size_t)width * sizeof(double));
            rgDestroyWorld(alone);
        }
        free(u);
        FleetUnmake(&fleet);
    }
    slopes.advance = true;
    assert_int_equal(rgBatch_Derivatives(NULL, &slopes, NULL, NULL, NULL), rg_errorArgument);
    free(q);
    free(v);
    free(bars);
    free(out);
    FleetEnd(&fleet);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
