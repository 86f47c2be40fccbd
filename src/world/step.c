// One time step: the method's table of contents. docs/theory/step.md.
#include "world/world.h"

// Run one stage unless an earlier one failed, and charge its time to the report. Looking at the
// clock takes a hundredth of a small step.
static void rgRun(rgStep* step, rgStage stage, rgStageFcn* run) {
    if (step->result != rg_ok) {
        return;
    }
    if (step->world->untimed) {
        step->result = run(step);
        return;
    }
    double start = rgSeconds();
    step->result = run(step);
    step->report->stageSeconds[stage] = rgSeconds() - start;
}

static void rgCallHook(rgWorld* world, rgStepFcn* hook) {
    if (hook != NULL) {
        hook(world, world->def.context);
    }
}

static rgStep rgBeginStep(rgWorld* world, rgStepReport* report) {
    *report = (rgStepReport){.contact.status = rg_contactSolved};
    rgReadout_Invalidate(world->readout);
    world->readout->evaluated = true;
    world->readout->committed = false;
    return (rgStep){.world = world, .report = report, .result = rg_ok};
}

static rgResult rgCommit(rgStep* step) {
    rgWorld* world = step->world;
    if (step->result != rg_ok) {
        return step->result;
    }
    const rgModel* model = world->model;
    rgWatch_BeforeCommit(world);
    for (int i = 0; i < model->qCount; ++i) {
        world->state.q[i] = world->nextQ[i];
    }
    for (int i = 0; i < model->vCount; ++i) {
        world->state.v[i] = world->nextBodyV[i];
    }
    rgWorld_FallAsleep(world);
    rgWorld_CommitGuides(world);
    rgWorld_CommitTrend(world);
    rgWorld_CommitActivations(world);
    rgWorld_CommitLoops(world);
    *world->state.time += world->dt;
    world->unconvergedCount += step->report->contact.status != rg_contactSolved &&
                               step->report->contact.status != rg_contactBudgeted;
    world->softenedCount += step->report->softenedRows > 0;
    rgWorld_CommitMemory(world);
    world->readout->committed = true;
    rgWatch_AfterCommit(world);
    return rg_ok;
}

// Everything but moving on.
static rgStep rgEvaluate(rgWorld* world, rgStepReport* report) {
    rgStep step = rgBeginStep(world, report);
    rgRun(&step, rg_stageKinematics, rgUpdateKinematics);  // q            -> poses, motion axes
    rgRun(&step, rg_stageCollide, rgFindContacts);         // poses        -> points, frames, gaps
    rgRun(&step, rg_stageDynamics, rgComputeFreeVelocity); // q, v, tau    -> M^, v_free
    rgRun(&step, rg_stageAssemble, rgAssembleProblem);     // M^, J, v_free -> R, g, K
    rgRun(&step, rg_stageSolve, rgSolveProblem);           // M^, J, R, g, K -> lambda
    rgRun(&step, rg_stageVelocity, rgApplyImpulses);       // lambda       -> v+
    if (step.result != rg_ok) { // points without rows are nothing for readers to see
        world->pointCount = world->waitingCount = 0;
        world->problem = (rgContactProblem){0};
        rgRows_Clear(&world->rows);
        world->readout->evaluated = false;
    }
    return step;
}

static rgResult rgAdvance(rgWorld* world, rgStepReport* report) {
    rgStep step = rgEvaluate(world, report);
    rgRun(&step, rg_stagePosition, rgIntegratePositions); // q, v+ -> q+
    return rgCommit(&step);                               // or leaves the state as it was
}

rgResult rgWorld_Step(rgWorld* world, rgStepReport* report) {
    rgStepReport own;
    if (world == NULL) {
        return rg_errorArgument;
    }
    rgCallHook(world, world->def.beforeStep);
    rgResult result = rgAdvance(world, report != NULL ? report : &own);
    rgCallHook(world, world->def.afterStep);
    return result;
}

rgResult rgWorld_Forward(rgWorld* world, rgStepReport* report) {
    rgStepReport own;
    if (world == NULL) {
        return rg_errorArgument;
    }
    return rgEvaluate(world, report != NULL ? report : &own).result;
}
