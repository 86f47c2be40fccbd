// The constraint problem of a step, and its solution. docs/theory/step.md (6)-(9).
#include "world/world.h"

// (7) phi > 0: nothing acts at a distance. phi <= 0: a spring and damper, or their rigid limit.
rgLaw rgUnilateralLaw(const rgWorld* world, double phi, rgSoftness soft) {
    double dt = world->dt;
    if (fabs(phi) < RG_TOUCHING) {
        phi = 0;
    }
    if (phi > 0) {
        return (rgLaw){.bias = phi / dt};
    }
    if (soft.stiffness > 0) {
        double gain = dt * soft.stiffness + soft.damping;
        return (rgLaw){.bias = phi * soft.stiffness / gain, .compliance = 1 / (dt * gain)};
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
rgResult rgAssembleProblem(rgStep* step) {
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
    rgWorld_RecallImpulses(world);
    for (int r = 0; r < n; ++r) {
        rows->bias[r] += rgRows_Dot(rows, r, world->freeV);
    }
    world->problem = (rgContactProblem){
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {nv, nv, world->massStart, world->massColumn, world->massValue},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value}},
        .freeVelocity = rows->bias,
        .compliance = rows->compliance,
    };
    return rg_ok;
}

// Few rows on few trees: G itself is cheap, along the tree, and saves the solver from finding it.
static bool rgWorld_IsSmall(const rgWorld* world) {
    int n = world->rows.rowCount;
    return n <= 60 || (world->model->treeCount == 1 && n <= 240);
}

// The same problem with G in place of M^ and J.
rgResult rgWorld_DenseProblem(rgWorld* world, rgContactProblem* problem) {
    const rgRows* rows = &world->rows;
    int n = rows->rowCount;
    rgResult result = rgReserve(&world->allocator, (void**)&world->G, &world->capacityG, 0, n * n,
                                sizeof(double));
    if (result == rg_ok) {
        result = rgReserve(&world->allocator, (void**)&world->work, &world->workCapacity, 0,
                           rows->entryCount, sizeof(double));
    }
    if (result == rg_ok) {
        rgDynamics_Delassus(world->dynamics, &problem->delassus.jacobian, world->work, world->G);
        problem->delassus.kind = rg_delassusDense; // mass and jacobian stay beside it
        problem->delassus.matrix = world->G;
    }
    return result;
}

// (9)
rgResult rgSolveProblem(rgStep* step) {
    rgWorld* world = step->world;
    if (world->rows.rowCount == 0) {
        return rg_ok;
    }
    rgContactProblem problem = world->problem;
    rgResult result = rg_ok;
    if (rgWorld_IsSmall(world) && world->def.contact.form != rg_formVelocity) {
        result = rgWorld_DenseProblem(world, &problem);
    }
    if (result == rg_ok) {
        result = rgContactSolver_Solve(world->solver, &problem, world->rows.lambda, NULL,
                                       &step->report->contact);
    }
    // What the solver refuses came from numbers that are none.
    return result == rg_errorArgument ? rg_errorNumeric : result;
}
