// All experiments with known answers, run.
#include "table.h"

#include "cli.h"

static const rgSubject* const subjects[] = {
    &rgPhysicsFriction, &rgPhysicsMotion,     &rgPhysicsRolling, &rgPhysicsMachines,
    &rgPhysicsImpact,   &rgPhysicsStructures, &rgPhysicsRobots};
enum { subjectCount = sizeof(subjects) / sizeof(subjects[0]) };

static rgPhysicsRow rgRunPhysicsTest(const char* subject, const rgPhysicsTest* experiment) {
    double start = rgCli_Seconds();
    rgPhysicsRow row = {subject, experiment, experiment->run(), 0, false};
    row.seconds = rgCli_Seconds() - start;
    row.passes = fabs(row.outcome.measured - row.outcome.expected) <= experiment->tolerance;
    return row;
}

int rgPhysics_Run(const char* only, bool quick, rgPhysicsRow rows[rg_physicsCapacity],
                  rgPhysicsReportFcn* report, void* context) {
    int count = 0, total = 0;
    for (int s = 0; s < subjectCount; ++s) {
        total += subjects[s]->count;
    }
    for (int s = 0, done = 0; s < subjectCount; ++s) {
        for (int i = 0; i < subjects[s]->count; ++i, ++done) {
            const rgPhysicsTest* experiment = &subjects[s]->experiments[i];
            bool wanted = only == NULL || strstr(experiment->name, only) != NULL;
            if (wanted && !(quick && experiment->slow) && count < rg_physicsCapacity) {
                if (report != NULL) {
                    report(context, done, total, experiment->name);
                }
                rows[count++] = rgRunPhysicsTest(subjects[s]->name, experiment);
            }
        }
    }
    return count;
}
