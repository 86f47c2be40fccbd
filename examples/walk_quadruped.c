// A quadruped trots open loop: servos follow sines, legs of a diagonal together.
// Should show: it walks more than a quarter metre per second and stays upright.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    if (rgLoadModelDef("quadruped", NULL, NULL, &def) != rg_ok) {
        return 1;
    }
    while (rgModelDef_Info(def).actuatorCount > 0) { // its own motors take torques
        rgModelDef_RemoveActuator(def, (rgActuatorId){1}, NULL);
    }
    rgModelDef_AddServos(def, 80, 2);
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok) {
        return 1;
    }
    rgWorld_Reset(world, rgModel_FindKey(model, "stand"));

    rgBodyId trunk = rgModel_FindBody(model, "trunk");
    const double turn = 2 * acos(-1), rate = 2.5, phases[4] = {0, 0.5, 0.5, 0};
    double lowest = 1;
    while (rgWorld_Time(world) < 5) {
        double t = rgWorld_Time(world), control[12];
        double size = fmin(1, t); // start softly
        for (int leg = 0; leg < 4; ++leg) {
            double phase = turn * (rate * t + phases[leg]);
            double swing = fmax(0, sin(phase)); // the foot is lifted in this half
            control[3 * leg] = 0;
            control[3 * leg + 1] = -0.75 + size * (0.18 * cos(phase) - 0.3 * swing);
            control[3 * leg + 2] = 1.5692 + size * 0.6 * swing;
        }
        rgWorld_SetControl(world, control);
        rgWorld_Step(world, NULL);
        lowest = fmin(lowest, rgRotate(rgWorld_BodyPose(world, trunk).q, rgVec(0, 0, 1)).z);
    }
    double speed = rgWorld_BodyPose(world, trunk).p.x / 5;
    printf("walks at %.2f m/s; the trunk leans by %.0f degrees at most\n", speed,
           360 / turn * acos(lowest));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return fabs(speed) > 0.25 && lowest > 0.9 ? 0 : 1;
}
