// A gripper closes on a box, lifts it, carries it aside and holds it: servos, contact, friction.
// Should show: the box goes where the gripper goes, and does not slip.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>
#include <string.h>

static const char scene[] =
    "<mujoco><option timestep='0.002'/><worldbody>"
    "<geom type='plane' size='1 1 1'/>"
    "<body name='box' pos='0 0 0.03'><freejoint/>"
    "<geom type='box' size='0.03 0.03 0.03' mass='0.2' friction='0.8'/></body>"
    "<body name='wrist' pos='0 0 0.2'>"
    "<joint name='aside' type='slide' axis='1 0 0'/><joint name='lift' type='slide' axis='0 0 1'/>"
    "<geom type='box' size='0.02 0.1 0.02' mass='1'/>"
    "<body name='left' pos='0 0.06 -0.14'><joint name='left' type='slide' axis='0 -1 0'/>"
    "<geom type='box' size='0.015 0.01 0.05' mass='0.1' friction='0.8'/></body>"
    "<body name='right' pos='0 -0.06 -0.14'><joint name='right' type='slide' axis='0 1 0'/>"
    "<geom type='box' size='0.015 0.01 0.05' mass='0.1' friction='0.8'/></body>"
    "</body></worldbody><actuator>"
    "<position name='aside' joint='aside' kp='5000' kv='300'/>"
    "<position name='lift' joint='lift' kp='5000' kv='300'/>"
    "<motor name='left' joint='left'/><motor name='right' joint='right'/>"
    "</actuator></mujoco>";

// Move the targets steadily from where they are.
static void runUntil(rgWorld* world, double time, double aside, double lift, double grip) {
    const double* old = rgWorld_Control(world, NULL);
    double from[2] = {old[0], old[1]}, start = rgWorld_Time(world);
    while (rgWorld_Time(world) < time) {
        double s = fmin(1, 1.3 * (rgWorld_Time(world) - start) / (time - start));
        double ease = s * s * (3 - 2 * s);
        double control[4] = {from[0] + ease * (aside - from[0]), from[1] + ease * (lift - from[1]),
                             grip, grip};
        rgWorld_SetControl(world, control);
        rgWorld_Step(world, NULL);
    }
}

int main(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    if (rgParseModelDef(scene, strlen(scene), "gripper", NULL, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok) {
        return 1;
    }
    rgBodyId box = rgModel_FindBody(model, "box"), wrist = rgModel_FindBody(model, "wrist");
    runUntil(world, 0.5, 0, 0, 5); // close with 5 N
    rgVec3 held = rgSub(rgWorld_BodyPose(world, box).p, rgWorld_BodyPose(world, wrist).p);
    runUntil(world, 1.5, 0, 0.2, 5);
    runUntil(world, 3, 0.3, 0.2, 5);

    rgVec3 at = rgWorld_BodyPose(world, box).p;
    rgVec3 slip = rgSub(rgSub(at, rgWorld_BodyPose(world, wrist).p), held);
    printf("the box is at x = %.3f m, z = %.3f m, expected 0.300 and 0.230; it slipped by %.1e m\n",
           at.x, at.z, rgLength(slip));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return fabs(at.x - 0.3) < 0.005 && fabs(at.z - 0.23) < 0.01 && rgLength(slip) < 1e-4 ? 0 : 1;
}
