// The tasks of docs/tasks.md with rigor. What stands between "//: name" and "//;" is counted.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults;

static void expect(const char* task, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance)) {
        printf("%s: %g, expected %g\n", task, found, expected);
        ++faults;
    }
}

static void basics(const char* path) {
    rgModel* model = NULL;
    rgWorld* world = NULL;
    //: load a model and make it ready to run
    rgLoadModel(path, NULL, NULL, &model);
    rgCreateWorld(model, NULL, NULL, &world);
    //;
    //: start from a key frame
    rgWorld_Reset(world, rgModel_FindKey(model, "home"));
    //;
    //: simulate one second
    while (rgWorld_Time(world) < 1) {
        rgWorld_Step(world, NULL);
    }
    //;
    expect("time", rgWorld_Time(world), 1, 0.002);
    double q[16] = {0}, v[16] = {0};
    memcpy(q, rgWorld_Positions(world, NULL), sizeof(double) * 9);
    q[7] = 0.3;
    //: set positions and velocities
    rgWorld_SetState(world, q, v);
    //;
    {
        //: angle of a joint
        rgJointId joint = rgModel_FindJoint(model, "hinge");
        double angle = rgWorld_Positions(world, NULL)[rgModel_JointRange(model, joint).q];
        //;
        expect("angle", angle, 0.3, 0);
    }
    {
        //: where a body is, and how it is turned
        rgBodyId body = rgModel_FindBody(model, "box");
        rgPose pose = rgWorld_BodyPose(world, body);
        //;
        expect("pose", pose.p.z, q[2], 1e-12);
    }
    {
        //: set one motor
        rgActuatorId motor = rgModel_FindActuator(model, "motor");
        rgWorld_SetActuatorControl(world, motor, 0.5);
        //;
        expect("control", rgWorld_Control(world, NULL)[motor.index1 - 1], 0.5, 0);
    }
    {
        //: read a sensor
        rgSensorId sensor = rgModel_FindSensor(model, "gyro");
        const double* rate = rgWorld_Sensors(world, NULL) + rgWorld_SensorStart(world, sensor);
        //;
        expect("sensor", rate[0], 0, 1e-9);
    }
    {
        //: push a body with 10 N
        rgBodyId body = rgModel_FindBody(model, "box");
        rgWorld_ApplyWrench(world, body, rgVec(10, 0, 0), rgVec(0, 0, 0));
        //;
        rgWorld_Step(world, NULL);
        expect("push", rgWorld_BodyVelocity(world, body).linear.x > 0, 1, 0);
        rgWorld_ClearWrenches(world);
    }
    {
        //: put a free body elsewhere
        rgBodyId body = rgModel_FindBody(model, "box");
        rgWorld_SetBodyPose(world, body, (rgPose){{1, 2, 0.1}, {1, 0, 0, 0}});
        //;
        expect("elsewhere", rgWorld_BodyPose(world, body).p.y, 2, 0);
        rgWorld_SetBodyVelocity(world, body, (rgSpatial){{0, 0, 0}, {0, 0, 0}});
    }
    for (int i = 0; i < 500; ++i) {
        rgWorld_Step(world, NULL);
    }
    {
        //: net contact force on a body
        rgBodyId body = rgModel_FindBody(model, "box");
        rgVec3 force = rgWorld_ContactForce(world, body);
        //;
        expect("force", force.z, 9.81, 1e-3);
    }
    double M[64], J[48], tau[8], a[8] = {0};
    int n = rgModel_Info(model).vCount;
    //: mass matrix
    rgDynamics_MassMatrix(rgWorld_Dynamics(world), M);
    //;
    expect("mass", M[0], 1, 1e-9);
    {
        //: Jacobian of a frame
        rgFrameId frame = rgModel_FindFrame(model, "tip");
        rgDynamics_FrameJacobian(rgWorld_Dynamics(world), frame, rg_referenceAligned, J);
        //;
        expect("Jacobian", fabs(J[3 * n + 6]) + fabs(J[4 * n + 6]) + fabs(J[5 * n + 6]), 1, 1e-9);
    }
    //: inverse dynamics
    rgDynamics_InverseDynamics(rgWorld_Dynamics(world), a, NULL, tau);
    //;
    expect("inverse", tau[2], 9.81, 1e-3);
    {
        //: what a ray meets
        rgRay ray = {{1, 2, 3}, {0, 0, -10}, 1};
        rgWorldHit hit;
        rgWorld_RayCast(world, &ray, NULL, &hit);
        //;
        expect("ray", hit.distance, 2.8, 1e-3);
    }
    {
        //: take a snapshot and go back to it
        size_t size = rgWorld_StateSize(world);
        void* bytes = malloc(size);
        rgWorld_Save(world, bytes, size);
        rgWorld_Restore(world, bytes, size);
        free(bytes);
        //;
    }
    {
        rgThreadPool* pool = NULL;
        rgBatch* batch = NULL;
        //: 64 worlds on all cores, 100 steps each
        rgCreateThreadPool(2, NULL, &pool);
        rgBatchDef def = rgDefaultBatchDef();
        def.worldCount = 64;
        def.tasks = rgThreadPool_Tasks(pool);
        rgCreateBatch(model, &def, NULL, &batch);
        rgBatch_Step(batch, 100, NULL);
        //;
        expect("batch", rgBatch_Status(batch)[63].stepCount, 100, 0);
        rgDestroyBatch(batch);
        rgDestroyThreadPool(pool);
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

static void compose(const char* path) {
    rgModel* model = NULL;
    {
        rgModelDef* def = NULL;
        //: a scene from text in memory
        const char text[] = "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                            "<body pos='0 0 1'><freejoint/><geom size='.1'/></body>"
                            "</worldbody></mujoco>";
        rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &def);
        rgCompileModel(def, NULL, NULL, &model);
        //;
        expect("text", rgModel_Info(model).qCount, 7, 0);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
    }
    {
        rgModelDef *def = NULL, *tool = NULL;
        rgLoadModelDef("arm_wall", NULL, NULL, &def);
        //: fix a tool from another file to an arm
        rgLoadModelDef(path, NULL, NULL, &tool);
        rgAttachDef how = rgDefaultAttachDef();
        how.kind = rg_attachFixed;
        how.prefix = "tool/";
        how.parent = rgModelDef_FindBody(def, "wrist_3");
        rgModelDef_Attach(def, tool, &how, NULL, NULL);
        //;
        while (rgModelDef_Info(def).actuatorCount > 0) {
            rgModelDef_RemoveActuator(def, (rgActuatorId){1}, NULL);
        }
        //: a position servo for every joint
        rgModelDef_AddServos(def, 100, 10);
        //;
        rgResult result = rgCompileModel(def, NULL, NULL, &model);
        expect("attach", result == rg_ok ? rgModel_Info(model).actuatorCount : -1, 7, 0);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
        rgDestroyModelDef(tool);
    }
}

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    basics(argv[1]);
    compose(argv[1]);
    return faults != 0;
}
