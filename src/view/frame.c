// Frames of a running world as server-sent events: numbers in single precision, in base64.
// web/src/data.ts (decodeLive) reads them.
#include "model/model.h"
#include "record/record.h"
#include "view/view.h"

static void rgAddNumbers(rgBytes* out, const double* values, int count) {
    float* place = rgBytes_Add(out, NULL, (size_t)count * sizeof(float));
    for (int i = 0; place != NULL && i < count; ++i) {
        place[i] = (float)values[i];
    }
}

static void rgAddLiveContacts(rgBytes* out, const rgContact* contacts, int count) {
    for (int i = 0; i < count; ++i) {
        const rgContact* c = &contacts[i];
        const double numbers[] = {c->point.x,  c->point.y,  c->point.z, c->normal.x,
                                  c->normal.y, c->normal.z, c->force.x, c->force.y,
                                  c->force.z,  c->gap,      c->mu};
        rgAddNumbers(out, numbers, RG_COUNT(numbers));
    }
    for (int i = 0; i < count; ++i) {
        const int32_t bodies[2] = {contacts[i].bodyA.index1, contacts[i].bodyB.index1};
        rgBytes_Add(out, bodies, sizeof(bodies));
    }
    for (int i = 0; i < count; ++i) {
        const uint8_t state = (uint8_t)contacts[i].state;
        rgBytes_Add(out, &state, 1);
    }
}

static void rgAddKinematic(rgBytes* out, const rgWorld* world) {
    const rgModel* model = rgWorld_Model(world);
    rgBodyId body = rgModel_NextKinematic(model, (rgBodyId){0});
    for (; body.index1 > 0; body = rgModel_NextKinematic(model, body)) {
        rgPose pose = rgWorld_BodyPose(world, body);
        rgAddNumbers(out, (const double*)&pose, RG_POSE_NUMBERS);
    }
}

static int rgFlagsOf(const rgStepReport* report) {
    bool solved = report->rowCount == 0 || report->contact.status == rg_contactSolved;
    return (solved ? 0 : 1) | (report->regularizedRows > 0 ? 2 : 0);
}

rgResult rgPackFrame(const rgWorld* world, const rgStepReport* report, const rgFrameNotes* notes,
                     rgBytes* scratch, rgBytes* event) {
    static const rgStepReport none = {0};
    const rgStepReport* from = report != NULL ? report : &none;
    int nq = 0, nv = 0, sensorCount = 0, contactCount = 0;
    const double* q = rgWorld_Positions(world, &nq);
    const double* v = rgWorld_Velocities(world, &nv);
    const double* sensors = rgWorld_Sensors(world, &sensorCount);
    const rgContact* contacts = rgWorld_Contacts(world, &contactCount);
    const double head[5] = {rgWorld_Time(world), rgWorld_KineticEnergy(world),
                            rgWorld_PotentialEnergy(world), notes->realTime,
                            rgWorld_TimeStep(world)};
    const int32_t counts[9] = {contactCount,
                               from->contact.iterationCount,
                               rgFlagsOf(from),
                               notes->generation,
                               nq,
                               nv,
                               sensorCount,
                               notes->isStopped ? 2 : notes->isPaused,
                               rgWorld_Model(world)->kinematicCount};
    scratch->size = event->size = 0;
    rgBytes_Add(scratch, head, sizeof(head));
    rgBytes_Add(scratch, counts, sizeof(counts));
    rgAddNumbers(scratch, from->stageSeconds, rg_stageCount);
    rgAddNumbers(scratch, &from->contact.residual.total, 1);
    rgAddNumbers(scratch, q, nq);
    rgAddNumbers(scratch, v, nv);
    rgAddNumbers(scratch, sensors, sensorCount);
    rgAddKinematic(scratch, world);
    rgAddLiveContacts(scratch, contacts, contactCount);
    rgBytes_Add(event, "data: ", 6);
    char* place = rgBytes_Add(event, NULL, 4 * ((scratch->size + 2) / 3) + 3);
    if (scratch->failed || event->failed) {
        return rg_errorMemory;
    }
    size_t length = rgEncodeBase64(scratch->data, scratch->size, place);
    place[length] = '\n';
    place[length + 1] = '\n';
    event->size = 6 + length + 2;
    return rg_ok;
}
