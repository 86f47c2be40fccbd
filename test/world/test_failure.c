// What a world shows after a step that failed.
#include "support.h"

#include "rigor/rigor.h"

// A first step that fails after contacts were found has no rows to read. Found by fuzzing.
static void test_failed_step(void** state) {
    (void)state;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    int count = -1, constraints = -1;
    assert_int_equal(rgLoadModel("quadruped", NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    rgPose low = {rgVec(0, 0, 0.05), rgQuatIdentity()}; // in the floor
    assert_int_equal(rgWorld_SetBodyPose(world, (rgBodyId){1}, low), rg_ok);
    rgSpatial fast = {rgVec(0, 0, 0), rgVec(1e200, 1e200, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(world, (rgBodyId){1}, fast), rg_ok);
    assert_int_equal(rgWorld_Step(world, NULL), rg_errorNumeric);
    rgWorld_Contacts(world, &count);
    rgWorld_Constraints(world, &constraints);
    assert_int_equal(count, 0);
    assert_int_equal(constraints, 0);
    rgWorld_Touches(world, &count);
    assert_int_equal(count, 0);
    rgWorld_Sensors(world, &count);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failed_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
