// One time step: the method's table of contents. docs/theory/step.md.
#include "world/flight.h"
#include "world/world.h"

#include <string.h>

// Run one stage unless an earlier one failed, and charge its time to the report. A stage begins
// where the one before has ended: reading the clock takes a hundredth of a small step.
static void rgRun(rgStep* step, rgStage stage, rgStageFcn* run) {
    if (step->result != rg_ok) {
        return;
    }
    step->result = run(step);
    if (step->timed) {
        double now = rgSeconds();
        step->report->stageSeconds[stage] += now - step->clock;
        step->clock = now;
    }
}

static void rgCallHook(rgWorld* world, rgStepFcn* hook) {
    if (hook != NULL) {
        hook(world, world->def.context);
    }
}

// Start a step. report NULL: `own` takes its place, without times.
static rgStep rgBeginStep(rgWorld* world, rgStepReport* report, rgStepReport* own) {
    bool timed = report != NULL && !world->def.untimed;
    report = report != NULL ? report : own;
    *report = (rgStepReport){.contact.status = rg_contactSolved};
    rgReadout_Invalidate(world->readout);
    world->readout->evaluated = true;
    world->readout->committed = false;
    return (rgStep){.world = world,
                    .report = report,
                    .result = rg_ok,
                    .timed = timed,
                    .clock = timed ? rgSeconds() : 0};
}

// The new state, and all that goes with it.
rgResult rgWorld_CommitStep(rgStep* step) {
    rgWorld* world = step->world;
    if (step->result != rg_ok) {
        return step->result;
    }
    const rgModel* model = world->model;
    rgMonitor_BeforeCommit(world, step->report);
    memcpy(world->state.q, world->next.q, (size_t)model->qCount * sizeof(double));
    memcpy(world->state.v, world->next.bodyV, (size_t)model->vCount * sizeof(double));
    rgWorld_UpdateSleep(world);
    rgKinematics_Commit(&world->kinematics, &world->state);
    rgWorld_CommitPredictor(world);
    rgState_CommitActivations(&world->state, model, world->settings.dt);
    rgWorld_CommitControls(world);
    for (int t = 0; t < model->treeCount; ++t) {
        world->state.solved[t] = world->constraints.solved[t];
    }
    *world->state.time += world->settings.dt;
    rgWarmStart_Commit(&world->warmStart, &world->state);
    world->readout->committed = true;
    rgMonitor_AfterCommit(world);
    return rg_ok;
}

// All stages of a step but those that move the state.
static rgStep rgEvaluate(rgWorld* world, rgStepReport* report, rgStepReport* own) {
    rgStep step = rgBeginStep(world, report, own);
    rgRun(&step, rg_stageKinematics, rgUpdateKinematics);  // q, v          -> Q, poses, gains
    rgRun(&step, rg_stageCollide, rgFindContacts);         // poses         -> points, gaps
    rgRun(&step, rg_stageDynamics, rgComputeFreeVelocity); // Q, v, tau     -> M^, v_free
    do {
        rgRun(&step, rg_stageAssemble, rgAssembleProblem); // J, v_free, gaps -> g, R, K
        rgRun(&step, rg_stageSolve, rgSolveProblem);       // g, R, K       -> lambda
        rgRun(&step, rg_stageVelocity, rgUpdateVelocity);  // lambda        -> v+
    } while (rgRevise(&step)); // contacts, gaps and rebounds that v+ asks for
    rgRun(&step, rg_stageVelocity, rgStoreContactState); // lambda, v+    -> warm start, bristles
    if (step.result != rg_ok) {                          // readers see no points without rows
        rgContactSet_Clear(&world->contacts);
        rgConstraintSet_Clear(&world->constraints);
        world->readout->evaluated = false;
    }
    return step;
}

static rgStep rgFinish(rgStep step) {
    rgRun(&step, rg_stagePosition, rgIntegratePositions); // Q, v+         -> q+
    rgRun(&step, rg_stageProject, rgProjectPosition);     // q+            -> loops closed, apart
    rgRun(&step, rg_stageVelocity, rgUpdateBodyVelocity); // v+            -> in axes of q+
    rgRun(&step, rg_stageVelocity, rgExtrapolateFlight);  // q+, v+        -> at fourth order
    return step;
}

static rgResult rgAdvance(rgWorld* world, rgStepReport* report) {
    rgStepReport own;
    if (world->monitor.ranAway) {
        *(report != NULL ? report : &own) = (rgStepReport){0};
        return rg_errorNumeric;
    }
    rgStep step = rgFinish(rgEvaluate(world, report, &own));
    return rgWorld_CommitStep(&step); // or leave the state as it was
}

rgStep rgWorld_EvaluateStep(rgWorld* world, rgStepReport* report) {
    return rgFinish(rgEvaluate(world, NULL, report));
}

rgResult rgWorld_Step(rgWorld* world, rgStepReport* report) {
    if (world == NULL) {
        return rg_errorArgument;
    }
    rgCallHook(world, world->def.beforeStep);
    rgResult result = rgAdvance(world, report);
    rgCallHook(world, world->def.afterStep);
    return result;
}

rgResult rgWorld_Forward(rgWorld* world, rgStepReport* report) {
    rgStepReport own;
    if (world == NULL) {
        return rg_errorArgument;
    }
    return rgEvaluate(world, report, &own).result;
}
