// Derivatives of sensors after a step. Readings are functions of both ends of the step and of its
// impulses, whose changes are known: central differences of the readings along each column, without
// a solve. docs/theory/step_derivatives.md.
#include "rigor/query.h"
#include "world/linearize.h"

#include <string.h>

// Quantities of a step that sensors read.
typedef struct rgReadings {
    double *Q, *V, *midV, *rowV, *endV, *lambda, *forces; // of the step
    double *q, *v;                                        // after it
    double* sides[2];                                     // sensors
    rgContactPoint* points;
    rgPointChange* changes; // points x n
} rgReadings;

static void* rgTakeBytes(char* block, size_t* used, size_t bytes) {
    char* piece = block != NULL ? block + *used : NULL;
    *used += (bytes + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    return piece;
}

static size_t rgPlanReadings(const rgWorld* world, const rgLinearization* l, char* block,
                             rgReadings* r) {
    size_t nq = (size_t)world->model->qCount, n = (size_t)l->n, used = 0;
    size_t points = (size_t)world->contacts.pointCount;
    size_t counts[] = {nq,
                       n,
                       n,
                       n,
                       n,
                       (size_t)l->m,
                       (size_t)world->model->info.actuatorCount,
                       nq,
                       n,
                       (size_t)l->sensorCount,
                       (size_t)l->sensorCount};
    double** arrays[] = {&r->Q,      &r->V, &r->midV, &r->rowV,     &r->endV,    &r->lambda,
                         &r->forces, &r->q, &r->v,    &r->sides[0], &r->sides[1]};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        *arrays[i] = rgTakeBytes(block, &used, counts[i] * sizeof(double));
    }
    r->points = rgTakeBytes(block, &used, points * sizeof(rgContactPoint));
    r->changes = rgTakeBytes(block, &used, points * n * sizeof(rgPointChange));
    return used;
}

// Copy what the step has, or write it back.
static void rgCopyReadings(rgWorld* world, const rgLinearization* l, const rgReadings* r,
                           bool back) {
    size_t nq = (size_t)world->model->qCount, n = (size_t)l->n;
    const struct {
        double *live, *copy;
        size_t count;
    } arrays[] = {
        {world->kinematics.q, r->Q, nq},
        {world->kinematics.v, r->V, n},
        {world->kinematics.midV, r->midV, n},
        {world->next.v, r->rowV, n},
        {world->next.endV, r->endV, n},
        {world->constraints.rows.lambda, r->lambda, (size_t)l->m},
        {world->transmission.actuatorForce, r->forces, (size_t)world->model->info.actuatorCount}};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        memcpy(back ? arrays[i].live : arrays[i].copy, back ? arrays[i].copy : arrays[i].live,
               arrays[i].count * sizeof(double));
    }
    size_t bytes = (size_t)world->contacts.pointCount * sizeof(rgContactPoint);
    memcpy(back ? world->contacts.points : r->points, back ? r->points : world->contacts.points,
           bytes);
}

// ---- changes along a column

// Adds h times a column of the velocity whose accelerations sensors see: V + t, or the mean.
static void rgMoveMiddle(const rgWorld* world, const rgLinearization* l, int column, double h) {
    const rgModel* model = world->model;
    int n = l->n;
    double* mid = world->kinematics.midV;
    for (int i = 0; i < n; ++i) {
        rgTreeLaw law = l->laws[world->constraints.treeOfDof[i]];
        double own = column == n + i;
        if (law == rg_treeRefined || law == rg_treeFast) {
            mid[i] += h * 0.5 * (own + l->change[(size_t)i * (size_t)l->width + (size_t)column]);
        } else {
            mid[i] += h * own;
        }
    }
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgTreeLaw law = l->laws[link->tree];
        int w = link->v + link->vCount - 3;
        if (law == rg_treeRefined || law == rg_treeFast) {
            continue;
        }
        if (link->vCount == 1) {
            mid[link->v] += l->trendFirst >= 0 && column == l->trendFirst + link->v ? h : 0;
            continue;
        }
        const double* t = world->kinematics.predictor + w;
        int angle = column - w, trend = column - l->trendFirst - link->v;
        double x[6] = {0};
        if (l->trendFirst >= 0 && trend >= 0 && trend < link->vCount) {
            x[trend] = 1;
        }
        // Axes of the parent; kinematics.q is that of the column.
        const double* q = world->kinematics.q + link->q + (link->kind == rg_linkFree ? 3 : 0);
        int a = link->vCount - 3;
        rgVec3 turned =
            rgRotateBack((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(x[a], x[a + 1], x[a + 2]));
        if (angle >= 0 && angle < 3) {
            turned = rgAdd(turned, rgCross(rgVec(t[0], t[1], t[2]),
                                           rgVec(angle == 0, angle == 1, angle == 2)));
        }
        x[a] = turned.x, x[a + 1] = turned.y, x[a + 2] = turned.z;
        for (int k = 0; k < link->vCount; ++k) {
            mid[link->v + k] += h * x[k];
        }
    }
}

static double rgActuatorSlope(const rgWorld* world, const rgLinearization* l, int actuator,
                              int column) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    const rgActuator* drive = &world->transmission.actuators[actuator];
    bool joint = drive->mode == rg_actuatorJoint;
    bool inside = joint || (drive->command > drive->lower && drive->command < drive->upper);
    if (l->controlFirst >= 0 && column == l->controlFirst + actuator) {
        return inside && def->delay == 0 ? rgActuatorGain(world, actuator) : 0;
    }
    const rgQuantity* of = l->parameterFirst >= 0 && column >= l->parameterFirst &&
                                   column < l->parameterFirst + l->def.parameterCount
                               ? &l->def.parameters[column - l->parameterFirst]
                               : NULL;
    if (of != NULL && of->kind == rg_quantityGain && of->index == actuator && inside) {
        double control = rgState_Control(&world->state, actuator);
        return def->hasControlRange ? fmin(fmax(control, def->controlLower), def->controlUpper)
                                    : control;
    }
    if (!joint) {
        return 0;
    }
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    int dof = range->v;
    double dt = world->settings.dt, gear = def->gear[0], k = drive->stiffness, d = drive->damping;
    double v = gear * world->kinematics.v[dof];
    rgDofLaw law = rgLinearize_DofLaw(world, dof);
    double mass = world->kinematics.dynamics->mass[world->model->dofs[dof].rowStart];
    double byMass = k * dt * v * (law.byK.along * law.k + law.byD.along * law.d) / mass;
    if (column < l->n) {
        double moved = column == dof ? k * gear : 0;
        return byMass * l->diagonal[(size_t)dof * (size_t)l->n + (size_t)column] - moved;
    }
    if (column == l->n + dof) {
        return -gear * (k * law.weights.along * dt + d);
    }
    if (of == NULL || of->index != actuator) {
        return 0;
    }
    double factor = dt * rgKinematics_DofMobility(&world->kinematics, dof) * gear * gear;
    if (of->kind == rg_quantityPositionGain) {
        double position = gear * world->kinematics.q[range->q] + law.weights.along * dt * v;
        return -position - k * dt * v * law.byK.along * factor * dt;
    }
    return of->kind == rg_quantityVelocityGain ? -v - k * dt * v * law.byD.along * factor : 0;
}

static void rgMovePoints(const rgWorld* world, const rgLinearization* l, const rgReadings* r,
                         int column, double h) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount && column < l->n; ++i) {
        const rgPointChange* change = &r->changes[(size_t)i * (size_t)l->n + (size_t)column];
        const rgContactPoint* from = &r->points[i];
        rgContactPoint* point = &world->contacts.points[i];
        rgQuat turn = rgQuatFromRotationVector(rgScale(h, change->turn));
        point->position = rgAddScaled(from->position, h, change->point);
        point->normal = rgRotate(turn, from->normal);
        point->tangent1 = rgRotate(turn, from->tangent1);
        point->tangent2 = rgRotate(turn, from->tangent2);
        int normal = from->firstRow + 2;
        for (int k = rows->rowStart[normal]; k < rows->rowStart[normal + 1]; ++k) {
            point->gap = rows->column[k] == column ? from->gap + h * rows->value[k] : point->gap;
        }
    }
}

static double rgCell(const rgLinearization* l, const double* matrix, int row, int column) {
    return matrix[(size_t)row * (size_t)l->width + (size_t)column];
}

// The step and its end, h along a column.
static void rgMoveAlong(rgWorld* world, const rgLinearization* l, const rgReadings* r, int column,
                        double h) {
    const rgModel* model = world->model;
    int n = l->n;
    rgCopyReadings(world, l, r, true);
    if (column < n) {
        rgMovePositions(model, r->Q, column, h, world->kinematics.q);
    } else if (column < 2 * n) {
        world->kinematics.v[column - n] += h;
    }
    rgMoveMiddle(world, l, column, h);
    for (int i = 0; i < n; ++i) {
        double change = h * rgCell(l, l->change, i, column);
        world->next.v[i] += change;
        world->next.endV[i] += change;
        world->state.v[i] = world->next.bodyV[i] + h * rgCell(l, l->out, i, column);
        l->work[i] = rgCell(l, l->next, i, column);
    }
    rgModel_Integrate(model, world->next.q, l->work, h, world->state.q);
    for (int k = 0; k < l->m; ++k) {
        world->constraints.rows.lambda[k] += h * rgCell(l, l->impulse, k, column);
    }
    for (int k = 0; k < l->m; ++k) {
        const rgRowSource* source = &world->constraints.rows.sources[k];
        if (source->kind == rg_constraintActuator) {
            world->transmission.actuatorForce[source->index] =
                world->constraints.rows.lambda[k] / world->settings.dt;
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        if (world->transmission.actuators[a].mode != rg_actuatorRow) {
            world->transmission.actuatorForce[a] += h * rgActuatorSlope(world, l, a, column);
        }
    }
    rgMovePoints(world, l, r, column, h);
}

// Increment by which nothing that is read moves by more than RG_READ_STEP.
static double rgReadStep(const rgLinearization* l, int column) {
    double most = column < 2 * l->n;
    for (int i = 0; i < l->n; ++i) {
        most = fmax(most, fabs(rgCell(l, l->next, i, column)));
        most = fmax(most, fabs(rgCell(l, l->out, i, column)));
    }
    return most > 0 ? RG_READ_STEP / most : 0;
}

static void rgFreezeReadings(const rgWorld* world, rgLinearization* l) {
    bool moving = rgKinematics_LinksMove(&world->kinematics);
    if (moving || l->hasParts) {
        rgLinearization_Freeze(l, moving ? "sensors beside moving kinematic bodies"
                                         : "sensors of trees that move in parts of the step");
    }
}

rgResult rgLinearize_PushSensors(rgWorld* world, rgLinearization* l) {
    rgReadings r;
    size_t bytes = rgPlanReadings(world, l, NULL, &r);
    rgResult result =
        rgReserve(&world->heap.allocator, (void**)&l->kept, &l->keptCapacity, 0, (int)bytes, 1);
    if (result != rg_ok) {
        return result;
    }
    rgPlanReadings(world, l, l->kept, &r);
    rgFreezeReadings(world, l);
    size_t nq = (size_t)world->model->qCount, n = (size_t)l->n;
    memcpy(r.q, world->state.q, nq * sizeof(double));
    memcpy(r.v, world->state.v, n * sizeof(double));
    rgCopyReadings(world, l, &r, false);
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgLinearize_PointChanges(world, l, i, r.changes + (size_t)i * n);
    }
    memset(l->sensor, 0, (size_t)l->sensorCount * (size_t)l->width * sizeof(double));
    for (int column = 0; column < l->used; ++column) {
        double h = rgReadStep(l, column);
        for (int side = 0; side < 2 && h > 0; ++side) {
            rgMoveAlong(world, l, &r, column, side == 0 ? -h : h);
            rgReadout_Invalidate(world->readout);
            memcpy(r.sides[side], rgWorld_Sensors(world, NULL),
                   (size_t)l->sensorCount * sizeof(double));
        }
        for (int s = 0; s < l->sensorCount && h > 0; ++s) {
            l->sensor[(size_t)s * (size_t)l->width + (size_t)column] =
                (r.sides[1][s] - r.sides[0][s]) / (2 * h);
        }
    }
    rgCopyReadings(world, l, &r, true);
    memcpy(world->state.q, r.q, nq * sizeof(double));
    memcpy(world->state.v, r.v, n * sizeof(double));
    rgReadout_Invalidate(world->readout);
    return rg_ok;
}
