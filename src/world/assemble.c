// The constraint problem of a step, and its solution. docs/theory/step.md (6)-(9).
#include "world/world.h"

#include <string.h>

// (7) A spring and damper, or their rigid limit. phi > 0: nothing acts at a distance, and the
// damper counts the part of the way that is in contact.
rgLaw rgUnilateralLaw(const rgWorld* world, double phi, rgSoftness soft) {
    double dt = world->dt;
    if (fabs(phi) < RG_TOUCHING) {
        phi = 0;
    }
    if (soft.stiffness > 0) {
        double gain = dt * soft.stiffness + soft.damping;
        double bias = phi > 0 ? phi / dt : phi * soft.stiffness / gain;
        return (rgLaw){.bias = bias, .compliance = 1 / (dt * gain)};
    }
    if (phi > 0) {
        return (rgLaw){.bias = phi / dt};
    }
    double speed = phi / (dt + world->timeConstant);
    return (rgLaw){.bias = fmax(speed, -world->def.pushOutSpeed)};
}

// (8) The same for both signs of the violation.
rgLaw rgBilateralLaw(const rgWorld* world, double phi, rgSoftness soft) {
    double dt = world->dt;
    if (soft.stiffness > 0) {
        double gain = dt * soft.stiffness + soft.damping;
        return (rgLaw){.bias = phi * soft.stiffness / gain, .compliance = 1 / (dt * gain)};
    }
    double speed = phi / (dt + world->timeConstant), limit = world->def.pushOutSpeed;
    return (rgLaw){.bias = fmin(fmax(speed, -limit), limit)};
}

rgResult rgWorld_AddRows(rgWorld* world) {
    rgRows_Clear(&world->rows);
    rgSetArcs(world);
    rgResult result = rgAddLimits(world);
    result = result == rg_ok ? rgAddDryFriction(world) : result;
    result = result == rg_ok ? rgAddTendons(world) : result;
    result = result == rg_ok ? rgAddActuators(world) : result;
    result = result == rg_ok ? rgAddEqualities(world) : result;
    return result == rg_ok ? rgAddContacts(world) : result;
}

// M^ in compressed rows.
void rgWorld_FillMass(const rgWorld* world, const double* added, double* values) {
    const rgModel* model = world->model;
    const double* compact = rgDynamics_CompactMassMatrix(world->dynamics, NULL);
    int k = 0;
    for (int i = 0; i < model->vCount; ++i) {
        for (; k < world->massStart[i + 1]; ++k) {
            values[k] = compact[world->massSource[k]];
            if (added != NULL && world->massColumn[k] == i) {
                values[k] += added[i];
            }
        }
    }
}

// (6) g = J v_free + gamma
static rgResult rgAssembleRows(rgStep* step) {
    rgWorld* world = step->world;
    rgRows* rows = &world->rows;
    rgResult result = rgWorld_AddRows(world);
    int n = rows->rowCount, nv = world->model->vCount;
    step->report->rowCount = n;
    if (result != rg_ok || n == 0) {
        world->problem = (rgContactProblem){0};
        return result;
    }
    rgWorld_FillMass(world, world->added, world->massValue);
    rgWorld_FillLengths(world);
    rgWorld_RecallImpulses(world);
    rgShareNormals(world);
    for (int r = 0; r < n; ++r) {
        rows->bias[r] += rgRows_Speed(rows, r, world->freeV);
    }
    result = rgReserve(&world->allocator, (void**)&world->whitened, &world->whitenedCapacity, 0,
                       rows->entryCount, sizeof(double));
    if (result != rg_ok) {
        return result;
    }
    world->problem = (rgContactProblem){
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {nv, nv, world->massStart, world->massColumn, world->massValue},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value},
                     .whitened = world->whitened,
                     .tree = world->treeOfDof},
        .freeVelocity = rows->bias,
        .compliance = rows->compliance,
        .rowLength = rows->length,
        .referenceVelocity = rgLength(world->gravity) * world->dt,
    };
    rgDynamics_Whiten(world->dynamics, &world->problem.delassus.jacobian, world->whitened);
    return rg_ok;
}

rgResult rgAssembleProblem(rgStep* step) {
    rgResult result = rgWorld_ParkPoints(step->world);
    return result == rg_ok ? rgAssembleRows(step) : result;
}

// The judge factorizes M, which takes a tenth of a small step: between samples it believes W.
rgResult rgWorld_Solve(rgWorld* world, rgContactReport* report) {
    rgContactProblem problem = world->problem;
    if (world->solveCount++ % world->def.judgeInterval != 0) {
        problem.delassus.mass.value = NULL;
    }
    return rgContactSolver_Solve(world->solver, &problem, world->rows.lambda, NULL, report);
}

// By W first, whatever the sample: what is taken must not depend on it.
static rgResult rgJudgeStart(const rgWorld* world, bool byMass, rgResidual* residual, bool* holds) {
    rgContactProblem problem = world->problem;
    if (!byMass) {
        problem.delassus.mass.value = NULL;
    }
    rgResult result = rgContactSolver_Judge(world->solver, &problem, world->rows.lambda, residual);
    *holds = result == rg_ok && residual->total <= world->def.contact.tolerance;
    return result;
}

#define RG_RESTING 0.01 // of g dt, which is what would move it

static bool rgWorld_Rests(const rgWorld* world) {
    double limit = RG_RESTING * rgLength(world->gravity) * world->dt;
    bool rests = true;
    for (int i = 0; i < world->model->vCount; ++i) {
        rests = rests && fabs(world->startV[i]) < limit;
    }
    return rests;
}

// What rests is mostly solved by the impulses of the last step, and then the judge is all it takes.
static rgResult rgTryStart(rgStep* step, bool* taken) {
    rgWorld* world = step->world;
    rgContactReport* report = &step->report->contact;
    *taken = false;
    if (!rgWorld_Rests(world) || world->def.contact.stop == rg_stopPaper) {
        return rg_ok;
    }
    *report = (rgContactReport){.status = rg_contactSolved};
    rgResult result = rgJudgeStart(world, false, &report->residual, taken);
    if (*taken && world->solveCount % world->def.judgeInterval == 0) {
        result = rgJudgeStart(world, true, &report->residual, taken);
    }
    world->solveCount += *taken;
    return result;
}

static rgResult rgSolveOnce(rgStep* step) {
    rgWorld* world = step->world;
    bool taken;
    rgResult result = rgTryStart(step, &taken);
    if (result == rg_ok && !taken) {
        result = rgWorld_Solve(world, &step->report->contact);
    }
    if (result == rg_ok) {
        result = rgLimitRebounds(step);
    }
    // What the solver refuses came from numbers that are none.
    return result == rg_errorArgument ? rg_errorNumeric : result;
}

// The residual is that of the problem that was asked for, whatever was softened.
static rgResult rgJudgeAsked(rgStep* step) {
    rgWorld* world = step->world;
    rgContactProblem problem = world->problem;
    problem.compliance = world->asked;
    step->report->softenedResidual = step->report->contact.residual.total;
    rgResult result = rgContactSolver_Judge(world->solver, &problem, world->rows.lambda,
                                            &step->report->contact.residual);
    if (result == rg_ok && step->report->contact.residual.total > world->def.contact.tolerance &&
        step->report->contact.status == rg_contactSolved) {
        step->report->contact.status = rg_contactStalled;
    }
    return result;
}

// (9) Rigid as asked for. Contacts for which that has no solution, or none that was found, yield.
static rgResult rgSolveRows(rgStep* step) {
    rgWorld* world = step->world;
    int n = world->rows.rowCount;
    if (n == 0) {
        return rg_ok;
    }
    rgResult result = rgReserve(&world->allocator, (void**)&world->asked, &world->askedCapacity, 0,
                                n, sizeof(double));
    if (result != rg_ok) {
        return result;
    }
    memcpy(world->asked, world->rows.compliance, (size_t)n * sizeof(double));
    int softened = rgSoftenKnownJams(world);
    result = rgSolveOnce(step);
    rgContactStatus status = step->report->contact.status;
    if (result == rg_ok && status != rg_contactSolved && status != rg_contactBudgeted) {
        int more = rgSoftenNewJams(world, &step->report->contact);
        softened += more;
        result = more > 0 ? rgSolveOnce(step) : rg_ok;
    }
    if (softened == 0) {
        rgForgetJams(world);
    }
    step->report->softenedRows = softened;
    return result == rg_ok && softened > 0 ? rgJudgeAsked(step) : result;
}

// (15) Whether v+ bends gaps or closes points that wait: the step has to be solved again.
static bool rgWorld_Missed(rgWorld* world, int round) {
    if (world->pointCount + world->waitingCount == 0) {
        return false;
    }
    rgWorld_NextVelocity(world, world->nextV);
    rgWorld_MoveLinks(world, world->nextV);
    bool bent = rgWorld_BendGaps(world, round);
    return rgWorld_AdmitPoints(world, round) || bent;
}

rgResult rgSolveProblem(rgStep* step) {
    rgContactReport* report = &step->report->contact;
    rgResult result = rgSolveRows(step);
    for (int round = 1; result == rg_ok && rgWorld_Missed(step->world, round); ++round) {
        int iterations = report->iterationCount, factorizations = report->factorizationCount;
        result = rgAssembleRows(step);
        result = result == rg_ok ? rgSolveRows(step) : result;
        report->iterationCount += iterations;
        report->factorizationCount += factorizations;
    }
    return result;
}
