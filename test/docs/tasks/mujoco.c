// The tasks of docs/tasks.md with MuJoCo 2.2. What stands between "//: name" and "//;" is counted.
// "//: name (3.2)" stands in a comment: these calls came later, and are counted as they are
// written.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

static int faults;

static void expect(const char* task, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance)) {
        printf("%s: %g, expected %g\n", task, found, expected);
        ++faults;
    }
}

static void basics(const char* path) {
    char error[500] = "";
    //: load a model and make it ready to run
    mjModel* m = mj_loadXML(path, NULL, error, sizeof(error));
    mjData* d = mj_makeData(m);
    //;
    //: start from a key frame
    mj_resetDataKeyframe(m, d, mj_name2id(m, mjOBJ_KEY, "home"));
    //;
    //: simulate one second
    while (d->time < 1) {
        mj_step(m, d);
    }
    //;
    expect("time", d->time, 1, 0.003);
    mjtNum q[16] = {0}, v[16] = {0};
    mju_copy(q, d->qpos, m->nq);
    q[7] = 0.3;
    //: set positions and velocities
    mju_copy(d->qpos, q, m->nq);
    mju_copy(d->qvel, v, m->nv);
    //;
    {
        //: angle of a joint
        int joint = mj_name2id(m, mjOBJ_JOINT, "hinge");
        mjtNum angle = d->qpos[m->jnt_qposadr[joint]];
        //;
        expect("angle", angle, 0.3, 0);
    }
    mj_forward(m, d);
    {
        //: where a body is, and how it is turned
        int body = mj_name2id(m, mjOBJ_BODY, "box");
        const mjtNum* position = d->xpos + 3 * body;
        const mjtNum* quaternion = d->xquat + 4 * body;
        //;
        expect("pose", position[2] + 0 * quaternion[0], q[2], 1e-12);
    }
    {
        //: set one motor
        int motor = mj_name2id(m, mjOBJ_ACTUATOR, "motor");
        d->ctrl[motor] = 0.5;
        //;
    }
    {
        //: read a sensor
        int sensor = mj_name2id(m, mjOBJ_SENSOR, "gyro");
        const mjtNum* rate = d->sensordata + m->sensor_adr[sensor];
        //;
        expect("sensor", rate[0], 0, 1e-6);
    }
    {
        //: push a body with 10 N
        int body = mj_name2id(m, mjOBJ_BODY, "box");
        d->xfrc_applied[6 * body] = 10;
        //;
        mj_step(m, d);
        expect("push", d->qvel[0] > 0, 1, 0);
        d->xfrc_applied[6 * body] = 0;
    }
    {
        //: put a free body elsewhere
        int body = mj_name2id(m, mjOBJ_BODY, "box");
        const mjtNum pose[7] = {1, 2, 0.1, 1, 0, 0, 0};
        mju_copy(d->qpos + m->jnt_qposadr[m->body_jntadr[body]], pose, 7);
        //;
        mju_zero(d->qvel, m->nv);
    }
    for (int i = 0; i < 500; ++i) {
        mj_step(m, d);
    }
    {
        //: net contact force on a body
        int body = mj_name2id(m, mjOBJ_BODY, "box");
        mjtNum force[3] = {0};
        for (int i = 0; i < d->ncon; ++i) {
            mjtNum local[6], world[3];
            const mjContact* c = d->contact + i;
            mj_contactForce(m, d, i, local);
            mju_rotVecMatT(world, local, c->frame);
            if (m->geom_bodyid[c->geom2] == body) {
                mju_addTo3(force, world);
            } else if (m->geom_bodyid[c->geom1] == body) {
                mju_subFrom3(force, world);
            }
        }
        //;
        expect("force", force[2], 9.81, 0.05);
    }
    mjtNum M[64], jacp[24], jacr[24], a[8] = {0};
    //: mass matrix
    mj_forward(m, d);
    mj_fullM(m, M, d->qM);
    //;
    expect("mass", M[0], 1, 1e-9);
    {
        //: Jacobian of a frame
        int site = mj_name2id(m, mjOBJ_SITE, "tip");
        mj_jacSite(m, d, jacp, jacr, site);
        //;
        expect("Jacobian", fabs(jacr[m->nv + 6]), 1, 1e-9);
    }
    //: inverse dynamics
    mju_copy(d->qacc, a, m->nv);
    mj_inverse(m, d);
    //;
    {
        //: what a ray meets
        const mjtNum from[3] = {1, 2, 3}, along[3] = {0, 0, -1};
        int geom = -1;
        mjtNum distance = mj_ray(m, d, from, along, NULL, 1, -1, &geom);
        //;
        expect("ray", distance, 2.8, 1e-2);
    }
    /*
    //: take a snapshot and go back to it (3.2)
    int size = mj_stateSize(m, mjSTATE_INTEGRATION);
    mjtNum* state = malloc(size * sizeof(mjtNum));
    mj_getState(m, d, state, mjSTATE_INTEGRATION);
    mj_setState(m, d, state, mjSTATE_INTEGRATION);
    free(state);
    //;
    */
    {
        //: 64 worlds on all cores, 100 steps each
        mjData* worlds[64];
        for (int i = 0; i < 64; ++i) {
            worlds[i] = mj_makeData(m);
        }
#pragma omp parallel for
        for (int i = 0; i < 64; ++i) {
            for (int k = 0; k < 100; ++k) {
                mj_step(m, worlds[i]);
            }
        }
        //;
        for (int i = 0; i < 64; ++i) {
            mj_deleteData(worlds[i]);
        }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
}

static void compose(void) {
    char error[500] = "";
    static mjVFS vfs;
    //: a scene from text in memory
    const char text[] = "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                        "<body pos='0 0 1'><freejoint/><geom size='.1'/></body>"
                        "</worldbody></mujoco>";
    mj_defaultVFS(&vfs);
    mj_makeEmptyFileVFS(&vfs, "scene.xml", sizeof(text));
    memcpy(vfs.filedata[mj_findFileVFS(&vfs, "scene.xml")], text, sizeof(text));
    mjModel* m = mj_loadXML("scene.xml", &vfs, error, sizeof(error));
    //;
    expect("text", m != NULL ? m->nq : 0, 7, 0);
    mj_deleteModel(m);
    mj_deleteVFS(&vfs);
    /*
    //: fix a tool from another file to an arm (3.2)
    mjSpec* tool = mj_parseXML(path, NULL, error, sizeof(error));
    mjsBody* wrist = mjs_findBody(arm, "wrist_3");
    mjsFrame* frame = mjs_addFrame(wrist, NULL);
    mjsBody* root = mjs_findBody(tool, "box");
    mjs_delete(mjs_firstElement(tool, mjOBJ_JOINT));
    mjs_attachBody(frame, root, "tool/", "");
    //;
    //: a position servo for every joint (3.2)
    mjsElement* e = mjs_firstElement(arm, mjOBJ_JOINT);
    for (; e != NULL; e = mjs_nextElement(arm, e)) {
        mjsActuator* servo = mjs_addActuator(arm, NULL);
        mjs_setString(servo->target, mjs_getString(mjs_getName(e)));
        servo->trntype = mjTRN_JOINT;
        servo->gainprm[0] = 100;
        servo->biastype = mjBIAS_AFFINE;
        servo->biasprm[1] = -100;
        servo->biasprm[2] = -10;
    }
    //;
    */
}

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    basics(argv[1]);
    compose();
    return faults != 0;
}
