// A robot arm from a file, held by position servos that are added before it is compiled.
// Should show: each joint gives way by the torque of its weight over the gain of its servo.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgDynamics* dynamics = NULL;
    const double kp = 2000, kd = 200, wanted[6] = {0, -1, 1.2, -0.5, 0.3, 0};

    if (rgLoadModelDef("arm_wall", NULL, NULL, &def) != rg_ok) {
        return 1;
    }
    while (rgModelDef_Info(def).actuatorCount > 0) { // its own motors take torques
        rgModelDef_RemoveActuator(def, (rgActuatorId){1}, NULL);
    }
    rgModelDef_AddServos(def, kp, kd);
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok ||
        rgCreateDynamics(model, NULL, &dynamics) != rg_ok) {
        return 1;
    }
    rgWorld_SetState(world, wanted, NULL);
    rgWorld_SetControl(world, wanted);
    while (rgWorld_Time(world) < 10) {
        rgWorld_Step(world, NULL);
    }

    // Torques that balance gravity where the arm is.
    const double* q = rgWorld_Positions(world, NULL);
    double weight[6], worst = 0, largest = 0;
    rgDynamics_SetPositions(dynamics, q);
    rgDynamics_Bias(dynamics, weight);
    for (int i = 0; i < 6; ++i) {
        double sag = wanted[i] - q[i];
        largest = fmax(largest, fabs(sag));
        worst = fmax(worst, fabs(sag - weight[i] / kp));
    }
    printf("largest sag %.4f rad, off the expected one by %.1e rad\n", largest, worst);
    rgDestroyDynamics(dynamics);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return worst < 1e-5 && largest > 1e-3 ? 0 : 1;
}
