// Inverse dynamics, row by row: reference velocity, start of the impulses, distance of the
// reference from the admissible velocities, closed forms of compliant rows, open impulses.
// inverse.5-9.
#include "inverse/inverse.h"

#include <string.h>

static bool rgInverse_IsRigidLoop(const rgConstraintSet* constraints, const rgModel* model,
                                  int row) {
    const rgRowSource* source = &constraints->rows.sources[row];
    return source->kind == rg_constraintEquality && model->equalities[source->index].stiffness == 0;
}

// inverse.5
void rgInverse_Reference(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgRows* rows = &world->constraints.rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        call->work->reference[r] = rows->bias[r] + rgRows_Speed(rows, r, call->work->vRef);
    }
    for (int i = 0; i < world->contacts.pointCount && call->def->compliance >= 0; ++i) {
        rows->compliance[world->contacts.points[i].firstRow + 2] = call->def->compliance;
    }
}

// ---- friction that goes with a normal impulse

// Row k >= 3 of a Coulomb block.
static double rgSideFriction(const rgBlock* block, int k) {
    return k == 3 ? block->muTorsion : block->muRolling;
}

// Impulses per unit of normal impulse that oppose the velocity; zero where it is below the snap.
static void rgFrictionRay(const rgBlock* block, const double* velocity, double snap, double* ray) {
    double speed = hypot(velocity[0], velocity[1]);
    bool slides = speed > snap;
    ray[0] = slides ? -block->mu * velocity[0] / speed : 0;
    ray[1] = slides ? -block->mu * velocity[1] / speed : 0;
    ray[2] = 1;
    for (int k = 3; k < block->rowCount; ++k) {
        ray[k] = fabs(velocity[k]) > snap ? -copysign(rgSideFriction(block, k), velocity[k]) : 0;
    }
}

// Friction of tangential springs for a normal impulse, cut to the cone.
static void rgSpringFriction(const rgBlock* block, const double* velocity, double R,
                             double* lambda) {
    double bound = block->mu * lambda[2], length = hypot(velocity[0], velocity[1]) / R;
    double scale = length > bound ? bound / length : 1;
    lambda[0] = -scale * velocity[0] / R;
    lambda[1] = -scale * velocity[1] / R;
}

// ---- start

static void rgInverse_StartGiven(rgInverseCall* call) {
    rgWorld* world = call->world;
    const rgInverseDef* def = call->def;
    rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        memcpy(rows->lambda + point->firstRow, def->impulses + 6 * (size_t)i,
               (size_t)point->rowCount * sizeof(double));
    }
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        for (int k = 0; k < def->constraintCount && source->kind >= 0; ++k) {
            const rgConstraintForce* given = &def->constraints[k];
            if ((int)given->kind == source->kind && given->index == source->index &&
                given->row == source->row) {
                rows->lambda[r] = given->impulse;
                break;
            }
        }
    }
}

static void rgInverse_StartForce(rgInverseCall* call) {
    rgWorld* world = call->world;
    for (int b = 0; b < world->constraints.rows.blockCount; ++b) {
        const rgBlock* block = &world->constraints.rows.blocks[b];
        const double* velocity = call->work->reference + block->firstRow;
        if (block->kind != rg_blockCoulomb || velocity[2] > call->def->snap) {
            continue;
        }
        const rgContactPoint* point =
            &world->contacts.points[world->constraints.rows.sources[block->firstRow].index];
        double normal = world->settings.dt * call->def->normalForce / point->pointCount, ray[6];
        rgFrictionRay(block, velocity, call->def->snap, ray);
        for (int k = 0; k < block->rowCount; ++k) {
            world->constraints.rows.lambda[block->firstRow + k] = normal * ray[k];
        }
        double R = world->constraints.rows.compliance[block->firstRow];
        if (R > 0) {
            rgSpringFriction(block, velocity, R, world->constraints.rows.lambda + block->firstRow);
        }
    }
}

void rgInverse_Start(rgInverseCall* call) {
    rgRows* rows = &call->world->constraints.rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        rows->lambda[r] = 0;
    }
    switch (call->def->start) {
    case rg_startZero:
        break;
    case rg_startLast:
        rgWorld_LoadImpulses(call->world);
        break;
    case rg_startForce:
        rgInverse_StartForce(call);
        break;
    case rg_startGiven:
        rgInverse_StartGiven(call);
        break;
    }
}

// ---- target

static void rgInverse_Violate(rgInverseCall* call, double violation) {
    rgInverseResult* result = call->result;
    result->violation = fmax(result->violation, violation);
    result->violationCount += violation > fmax(call->def->snap, call->def->tolerance);
}

// inverse.6: A rigid row of a half line: too fast towards the limit is not allowed, slow is zero.
static double rgInverse_Allowed(rgInverseCall* call, double velocity) {
    if (velocity < 0) {
        rgInverse_Violate(call, -velocity);
    }
    return velocity > call->def->snap ? velocity : 0;
}

// inverse.7: Compliant normal: the law gives its impulse, friction follows or is cut to the cone.
static void rgInverse_CloseContact(rgInverseCall* call, const rgBlock* block) {
    rgRows* rows = &call->world->constraints.rows;
    const double* velocity = call->work->reference + block->firstRow;
    double* lambda = rows->lambda + block->firstRow;
    double R = rows->compliance[block->firstRow + 2], ray[6];
    double term = call->def->model == rg_modelCcp ? block->mu * hypot(velocity[0], velocity[1]) : 0;
    double normal = fmax((term - velocity[2]) / R, 0);
    rgFrictionRay(block, velocity, call->def->snap, ray);
    double tangent = hypot(lambda[0], lambda[1]), bound = block->mu * normal;
    double scale = tangent > bound ? bound / tangent : 1;
    bool slides = hypot(velocity[0], velocity[1]) > call->def->snap;
    lambda[0] = slides ? normal * ray[0] : scale * lambda[0];
    lambda[1] = slides ? normal * ray[1] : scale * lambda[1];
    lambda[2] = normal;
    for (int k = 3; k < block->rowCount; ++k) {
        double limit = rgSideFriction(block, k) * normal;
        lambda[k] = ray[k] != 0 ? normal * ray[k] : fmin(fmax(lambda[k], -limit), limit);
    }
    if (rows->compliance[block->firstRow] > 0) {
        rgSpringFriction(block, velocity, rows->compliance[block->firstRow], lambda);
    }
}

// The nearest contact velocity that the model allows.
static void rgInverse_JudgeContact(rgInverseCall* call, const rgBlock* block, bool rigid) {
    const rgWorld* world = call->world;
    const double* velocity = call->work->reference + block->firstRow;
    rgInverseContact* contact =
        &call->work->contacts[world->constraints.rows.sources[block->firstRow].index];
    double nearest[3] = {velocity[0], velocity[1], velocity[2]}, distance = 0;
    bool springs = world->constraints.rows.compliance[block->firstRow] > 0;
    if (rigid && (springs || call->def->model == rg_modelNcp)) {
        nearest[2] = fmax(nearest[2], 0);
    } else if (rigid) {
        rgBlock cone = *block;
        cone.rowCount = 3;
        rgBlock_ProjectDual(&cone, nearest);
    }
    for (int k = 0; k < 3; ++k) {
        double gamma = world->constraints.rows.bias[block->firstRow + k];
        distance = hypot(distance, nearest[k] - velocity[k]);
        contact->reference[k] = velocity[k] - gamma;
        contact->nearest[k] = nearest[k] - gamma;
    }
    contact->violation = distance;
    rgInverse_Violate(call, distance);
}

static void rgInverse_TargetContact(rgInverseCall* call, const rgBlock* block) {
    rgRows* rows = &call->world->constraints.rows;
    const double* velocity = call->work->reference + block->firstRow;
    const double* R = rows->compliance + block->firstRow;
    double *target = call->work->target + block->firstRow, snap = call->def->snap;
    bool rigid = R[2] == 0, sticks = R[0] == 0 && hypot(velocity[0], velocity[1]) <= snap;
    memcpy(target, velocity, (size_t)block->rowCount * sizeof(double));
    rgInverse_JudgeContact(call, block, rigid);
    if (sticks) {
        target[0] = target[1] = 0;
    }
    for (int k = 3; k < block->rowCount; ++k) {
        target[k] = R[k] == 0 && fabs(velocity[k]) <= snap ? 0 : velocity[k];
    }
    if (!rigid && (R[0] == 0 || call->def->model == rg_modelNcp)) {
        rgInverse_CloseContact(call, block);
    } else if (rigid && (fabs(velocity[2]) <= snap || call->def->model == rg_modelNcp)) {
        target[2] = velocity[2] > snap ? velocity[2] : 0;
    }
}

// inverse.8: Rows that do not interact.
static void rgInverse_TargetRow(rgInverseCall* call, const rgBlock* block, int row) {
    rgRows* rows = &call->world->constraints.rows;
    double velocity = call->work->reference[row], R = rows->compliance[row];
    double* lambda = &rows->lambda[row];
    double* target = &call->work->target[row];
    *target = velocity;
    if (block->kind == rg_blockFree &&
        rgInverse_IsRigidLoop(&call->world->constraints, call->world->model, row)) {
        *target = -R * *lambda; // stays where it starts
        rgInverse_Violate(call, fabs(velocity + R * *lambda));
    } else if (R > 0) {
        *lambda = -velocity / R;
        rgBlock one = *block;
        one.rowCount = 1;
        rgBlock_Project(&one, lambda);
    } else if (block->kind == rg_blockHalfLine) {
        *target = rgInverse_Allowed(call, velocity);
    } else if (fabs(velocity) <= call->def->snap) {
        *target = 0;
    }
}

void rgInverse_Target(rgInverseCall* call) {
    const rgRows* rows = &call->world->constraints.rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        const rgBlock* block = &rows->blocks[b];
        if (block->kind == rg_blockCoulomb) {
            rgInverse_TargetContact(call, block);
            continue;
        }
        for (int k = 0; k < block->rowCount; ++k) {
            rgInverse_TargetRow(call, block, block->firstRow + k);
        }
    }
}

// ---- open impulses

static rgResult rgInverse_AddOpen(rgInverseCall* call, const rgInverseOpen* open) {
    rgInverseWork* work = call->work;
    rgResult result = rg_ok;
    if (work->openCount >= work->openCapacity) {
        result = rgReserve(&call->world->heap.allocator, (void**)&work->opens, &work->openCapacity,
                           work->openCount, work->openCount + 1, sizeof(rgInverseOpen));
    }
    if (result == rg_ok) {
        work->opens[work->openCount++] = *open;
        for (int k = 0; k < open->count; ++k) {
            call->result->openCount += open->independent[k];
        }
    }
    return result;
}

// Friction of a bristle is no more open than its normal: it sticks, or slides along.
static void rgOpen_Spring(rgInverseOpen* open, const double* lambda) {
    bool slides =
        hypot(lambda[0], lambda[1]) >= open->block.mu * lambda[2] * (1 - RG_FEASIBLE_TOLERANCE);
    for (int k = 0; k < 2; ++k) {
        open->ray[k] = slides && lambda[2] > 0 ? lambda[k] / lambda[2] : 0;
    }
}

// inverse.9: Touching: the normal of a rigid contact, and friction wherever it does not slide.
static rgResult rgInverse_OpenContact(rgInverseCall* call, const rgBlock* block) {
    const rgRows* rows = &call->world->constraints.rows;
    const double* target = call->work->target + block->firstRow;
    const double* lambda = rows->lambda + block->firstRow;
    bool rigid = rows->compliance[block->firstRow + 2] == 0;
    if (rigid ? target[2] > 0 : !(lambda[2] > 0)) {
        return rg_ok;
    }
    bool springs = rows->compliance[block->firstRow] > 0;
    bool slides = springs || target[0] != 0 || target[1] != 0;
    rgInverseOpen open = {.block = *block,
                          .first = block->firstRow,
                          .count = block->rowCount,
                          .normalIsGiven = !rigid,
                          .normal = lambda[2],
                          .springs = springs};
    rgFrictionRay(block, target, 0, open.ray);
    if (springs) {
        rgOpen_Spring(&open, lambda);
    }
    open.independent[0] = open.independent[1] = !slides && block->mu > 0;
    open.independent[2] = rigid;
    bool alone = !open.independent[0], any = rigid || open.independent[0];
    for (int k = 3; k < block->rowCount; ++k) {
        open.independent[k] = target[k] == 0 && rgSideFriction(block, k) > 0;
        alone = alone && !open.independent[k];
        any = any || open.independent[k];
    }
    open.block.mu = slides ? 0 : block->mu;
    if (alone) {
        open.block = (rgBlock){.kind = rg_blockHalfLine, .rowCount = 1};
    }
    return any ? rgInverse_AddOpen(call, &open) : rg_ok;
}

static rgResult rgInverse_OpenRows(rgInverseCall* call, const rgBlock* block) {
    rgResult result = rg_ok;
    for (int k = 0; k < block->rowCount; ++k) {
        int row = block->firstRow + k;
        bool loop = rgInverse_IsRigidLoop(&call->world->constraints, call->world->model, row);
        bool rigid = call->world->constraints.rows.compliance[row] == 0;
        if (loop || (rigid && call->work->target[row] == 0)) {
            rgInverseOpen open = {
                .block = *block, .first = row, .count = 1, .ray = {1}, .independent = {true}};
            open.block.rowCount = 1;
            result = rgInverse_AddOpen(call, &open);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

rgResult rgInverse_FindOpen(rgInverseCall* call) {
    const rgRows* rows = &call->world->constraints.rows;
    rgResult result = rg_ok;
    call->work->openCount = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        const rgBlock* block = &rows->blocks[b];
        result = block->kind == rg_blockCoulomb ? rgInverse_OpenContact(call, block)
                                                : rgInverse_OpenRows(call, block);
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}
