// Reading a world: poses and energies of the current state; contacts, constraint forces and
// reactions of the last step. Computed when asked for, so that a step pays for none of it.
#include "world/world.h"

void rgReadout_Invalidate(rgReadout* readout) {
    readout->nowValid = readout->startValid = false;
    readout->contactsValid = readout->constraintsValid = readout->sensorsValid = false;
    readout->queryValid = readout->targetsValid = false;
    readout->treeValid = readout->touchesValid = false;
}

rgResult rgReadout_Create(rgWorld* world) {
    const rgModelInfo* info = &world->model->info;
    rgReadout* readout = rgAllocate(&world->heap.allocator, 1, sizeof(rgReadout));
    world->readout = readout;
    if (readout == NULL) {
        return rg_errorMemory;
    }
    rgDynamicsDef def = rgDefaultDynamicsDef(world->model);
    def.gravity = world->settings.gravity;
    def.coordinates = rg_velocityStep;
    def.allocator = world->heap.allocator;
    readout->reactions =
        rgAllocate(&world->heap.allocator, (size_t)info->bodyCount, sizeof(rgSpatial));
    readout->sensorStarts =
        rgAllocate(&world->heap.allocator, (size_t)info->sensorCount + 1, sizeof(int));
    readout->row = rgAllocate(&world->heap.allocator, (size_t)info->vCount, sizeof(double));
    if (readout->reactions == NULL || readout->sensorStarts == NULL || readout->row == NULL) {
        return rg_errorMemory;
    }
    for (int s = 0; s < info->sensorCount; ++s) {
        readout->sensorStarts[s + 1] =
            readout->sensorStarts[s] + rgSensorDef_Size(&world->model->sensors[s]);
    }
    int numbers = readout->sensorStarts[info->sensorCount];
    readout->sensors = rgAllocate(&world->heap.allocator, (size_t)numbers, sizeof(double));
    rgResult result = readout->sensors != NULL ? rg_ok : rg_errorMemory;
    if (result != rg_ok) {
        return result;
    }
    result = rgCreateDynamics(world->model, &def, &readout->now);
    if (result != rg_ok) {
        return result;
    }
    return rgCreateDynamics(world->model, &def, &readout->start);
}

void rgReadout_Destroy(rgReadout* readout, const rgAllocator* allocator) {
    if (readout == NULL) {
        return;
    }
    rgDestroyDynamics(readout->now);
    rgDestroyDynamics(readout->start);
    rgDestroyDynamics(readout->query);
    rgRelease(allocator, readout->targets);
    rgRelease(allocator, readout->nodes);
    rgRelease(allocator, readout->order);
    rgRelease(allocator, readout->touches);
    rgRelease(allocator, readout->contacts);
    rgRelease(allocator, readout->constraints);
    rgRelease(allocator, readout->reactions);
    rgRelease(allocator, readout->sensors);
    rgRelease(allocator, readout->row);
    rgRelease(allocator, readout->sensorStarts);
    rgRelease(allocator, readout);
}

// ---- the current state

rgDynamics* rgReadout_CurrentDynamics(rgReadout* readout, const rgState* state,
                                      const rgModel* model) {
    if (!readout->nowValid) {
        double* v = readout->now->scratch;
        rgModel_StepVelocity(model, state->q, state->v, v);
        rgState_PlaceNow(state, model, readout->now);
        rgDynamics_SetState(readout->now, state->q, v);
        readout->nowValid = true;
    }
    return readout->now;
}

const rgModel* rgWorld_Model(const rgWorld* world) {
    return world != NULL ? world->model : NULL;
}

rgPose rgWorld_BodyPose(const rgWorld* world, rgBodyId body) {
    return world != NULL
               ? rgDynamics_BodyPose(
                     rgReadout_CurrentDynamics(world->readout, &world->state, world->model), body)
               : rgPoseIdentity();
}

rgSpatial rgWorld_BodyVelocity(const rgWorld* world, rgBodyId body) {
    if (world == NULL) {
        return (rgSpatial){0};
    }
    rgFrameId frame = rgModel_BodyFrame(world->model, body);
    return rgDynamics_FrameVelocity(
        rgReadout_CurrentDynamics(world->readout, &world->state, world->model), frame,
        rg_referenceAligned);
}

rgPose rgWorld_FramePose(const rgWorld* world, rgFrameId frame) {
    return world != NULL
               ? rgDynamics_FramePose(
                     rgReadout_CurrentDynamics(world->readout, &world->state, world->model), frame)
               : rgPoseIdentity();
}

rgPose rgWorld_ShapePose(const rgWorld* world, rgShapeId shape) {
    return world != NULL
               ? rgDynamics_ShapePose(
                     rgReadout_CurrentDynamics(world->readout, &world->state, world->model), shape)
               : rgPoseIdentity();
}

double rgWorld_KineticEnergy(const rgWorld* world) {
    return world != NULL ? rgDynamics_Energy(rgReadout_CurrentDynamics(world->readout,
                                                                       &world->state, world->model))
                               .kinetic
                         : 0;
}

double rgWorld_PotentialEnergy(const rgWorld* world) {
    if (world == NULL) {
        return 0;
    }
    rgEnergy energy =
        rgDynamics_Energy(rgReadout_CurrentDynamics(world->readout, &world->state, world->model));
    return energy.potential + energy.spring;
}

// ---- the last step

rgDynamics* rgWorld_StartDynamics(const rgWorld* world) {
    rgReadout* readout = world->readout;
    rgDynamics* d = readout->start;
    if (!readout->startValid) {
        rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, d);
        rgDynamics_SetState(d, world->kinematics.q, world->kinematics.midV);
        for (int i = 0; i < world->model->vCount; ++i) {
            d->scratch[i] = (world->next.endV[i] - world->kinematics.v[i]) / world->settings.dt;
        }
        rgDynamics_SetAccelerations(d, d->scratch);
        rgDynamics_NeedInertias(d);
        readout->startValid = true;
    }
    return d;
}

// Slip without the motion of the bristle.
static double rgSlipSpeed(double dt, const rgContactPoint* point, const rgContact* contact) {
    rgVec3 stretch = rgScale(1 / dt, rgSub(contact->anchor, point->anchor));
    return hypot(contact->slip[0] - rgDot(stretch, point->tangent1),
                 contact->slip[1] - rgDot(stretch, point->tangent2));
}

static rgContactState rgStateOf(const rgContact* contact, double speed) {
    const double* impulse = contact->impulse;
    double tangential = hypot(impulse[0], impulse[1]), normal = impulse[2];
    if (!(normal > 0)) {
        return rg_contactOpen;
    }
    bool onCone = tangential >= contact->mu * normal * (1 - RG_CONE_RATIO);
    return onCone && speed > RG_CREEP_SPEED ? rg_contactSlip : rg_contactStick;
}

static rgContact rgContactSet_ReadPlace(const rgContactSet* contacts, const rgContactPoint* point) {
    const rgCollider* A = &contacts->colliders[point->colliderA];
    const rgCollider* B = &contacts->colliders[point->colliderB];
    return (rgContact){.bodyA = {A->body + 1},
                       .bodyB = {B->body + 1},
                       .shapeA = {A->shape + 1},
                       .shapeB = {B->shape + 1},
                       .feature = point->feature,
                       .point = point->position,
                       .normal = point->normal,
                       .tangent1 = point->tangent1,
                       .tangent2 = point->tangent2,
                       .gap = point->gap,
                       .mu = point->mu,
                       .regularized = point->regularized,
                       .rowCount = point->rowCount,
                       .firstRow = point->firstRow};
}

static rgContact rgWorld_ReadContact(const rgWorld* world, const rgContactPoint* point) {
    rgContact contact = rgContactSet_ReadPlace(&world->contacts, point);
    const double* lambda = world->constraints.rows.lambda + point->firstRow;
    for (int k = 0; k < point->rowCount; ++k) {
        contact.impulse[k] = lambda[k];
    }
    for (int k = 0; k < 2; ++k) {
        contact.slip[k] =
            rgRows_Speed(&world->constraints.rows, point->firstRow + k, world->next.v) +
            rgDot(point->curvatureSlip, k == 0 ? point->tangent1 : point->tangent2);
    }
    rgVec3 impulse = rgAddScaled(rgScale(lambda[0], point->tangent1), lambda[1], point->tangent2);
    impulse = rgAddScaled(impulse, lambda[2], point->normal);
    contact.force = rgScale(1 / world->settings.dt, impulse);
    contact.anchor = rgNextBristle(world, point);
    contact.state = rgStateOf(&contact, rgSlipSpeed(world->settings.dt, point, &contact));
    return contact;
}

// A point without rows: open, for the whole step.
static rgContact rgContactSet_ReadInactive(const rgContactSet* contacts,
                                           const rgKinematics* kinematics, const rgWorldDef* def,
                                           const rgContactPoint* point) {
    rgContact contact = rgContactSet_ReadPlace(contacts, point);
    rgMaterial material = rgContactSet_Material(contacts, def, kinematics->dynamics->model, point);
    rgVec3 velocity = rgKinematics_PointVelocity(kinematics, contacts, point);
    contact.mu = material.mu;
    contact.rowCount = rgContactRowCount(&material);
    contact.firstRow = -1;
    contact.slip[0] = rgDot(velocity, point->tangent1);
    contact.slip[1] = rgDot(velocity, point->tangent2);
    return contact;
}

// True if inactive point w is listed before point i.
static bool rgInactiveIsNext(const rgContactSet* contacts, int i, int w) {
    return w < contacts->inactiveCount &&
           (i == contacts->pointCount ||
            rgPointBefore(&contacts->inactive[w], &contacts->points[i]));
}

// Points with rows and without, in the order in which they were found.
static void rgWorld_ReadContacts(const rgWorld* world, rgContact* contacts) {
    if (world->contacts.inactiveCount > 0) {
        rgKinematics_SetLinkVelocities(&world->kinematics, world->next.v);
    }
    for (int i = 0, w = 0; i < world->contacts.pointCount || w < world->contacts.inactiveCount;) {
        bool isInactive = rgInactiveIsNext(&world->contacts, i, w);
        *contacts++ = isInactive
                          ? rgContactSet_ReadInactive(&world->contacts, &world->kinematics,
                                                      &world->def, &world->contacts.inactive[w])
                          : rgWorld_ReadContact(world, &world->contacts.points[i]);
        w += isInactive;
        i += !isInactive;
    }
}

const rgContact* rgWorld_Contacts(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    rgReadout* readout = world->readout;
    int total = world->contacts.pointCount + world->contacts.inactiveCount;
    if (!readout->contactsValid) {
        readout->contactCount = 0;
        if (rgReserve(&world->heap.allocator, (void**)&readout->contacts, &readout->contactCapacity,
                      0, total, sizeof(rgContact)) == rg_ok) {
            rgWorld_ReadContacts(world, readout->contacts);
            readout->contactCount = total;
            readout->contactsValid = true;
        }
    }
    if (count != NULL) {
        *count = readout->contactCount;
    }
    return readout->contacts;
}

rgResult rgWorld_SetImpulses(rgWorld* world, const double* impulses, int contactCount) {
    if (world == NULL || (impulses == NULL && contactCount > 0)) {
        return rg_errorArgument;
    }
    const rgContactSet* contacts = &world->contacts;
    int total = contacts->pointCount + contacts->inactiveCount;
    if (contactCount != total || !rgNumbersAreFinite(impulses, 6 * total) ||
        !rgWarmStart_HoldsPoints(&world->warmStart, contacts)) {
        return rg_errorArgument;
    }
    for (int i = 0, w = 0; i + w < total; impulses += 6) {
        if (rgInactiveIsNext(contacts, i, w)) {
            w += 1; // nothing closes it, and it has no impulse
        } else {
            rgWarmStart_SetImpulse(&world->warmStart, contacts, i, impulses);
            i += 1;
        }
    }
    return rg_ok;
}

static void rgReadConstraints(const rgConstraintSet* constraints, double dt, rgReadout* readout) {
    const rgRows* rows = &constraints->rows;
    readout->constraintCount = 0;
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        if (source->kind >= 0) {
            readout->constraints[readout->constraintCount++] =
                (rgConstraintForce){.kind = (rgConstraintKind)source->kind,
                                    .index = source->index,
                                    .row = source->row,
                                    .regularized = rgConstraintSet_LoopIsOpen(constraints, r),
                                    .gap = rows->gap[r],
                                    .impulse = rows->lambda[r],
                                    .force = rows->lambda[r] / dt};
        }
    }
}

const rgConstraintForce* rgWorld_Constraints(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    rgReadout* readout = world->readout;
    if (!readout->constraintsValid) {
        readout->constraintCount = 0;
        if (rgReserve(&world->heap.allocator, (void**)&readout->constraints,
                      &readout->constraintCapacity, 0, world->constraints.rows.rowCount,
                      sizeof(rgConstraintForce)) == rg_ok) {
            rgReadConstraints(&world->constraints, world->settings.dt, readout);
            readout->constraintsValid = true;
        }
    }
    if (count != NULL) {
        *count = readout->constraintCount;
    }
    return readout->constraints;
}

rgVec3 rgWorld_ContactForce(const rgWorld* world, rgBodyId body) {
    if (world == NULL) {
        return (rgVec3){0};
    }
    int count;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 sum = {0, 0, 0};
    for (int i = 0; i < count && body.index1 > 0; ++i) {
        double sign =
            (contacts[i].bodyB.index1 == body.index1) - (contacts[i].bodyA.index1 == body.index1);
        sum = rgAddScaled(sum, sign, contacts[i].force);
    }
    return sum;
}

const rgContactProblem* rgWorld_Problem(const rgWorld* world, const double** lambda) {
    if (world == NULL) {
        return NULL;
    }
    if (lambda != NULL) {
        *lambda = world->constraints.rows.lambda;
    }
    if (world->constraints.problem.rowCount == 0 ||
        world->constraints.problem.delassus.mass.value != NULL) {
        return &world->constraints.problem;
    }
    rgConstraintSet_FillMass(&world->constraints, &world->kinematics, world->free.added,
                             world->constraints.massValue);
    world->readout->problem = world->constraints.problem;
    world->readout->problem.delassus.mass.value = world->constraints.massValue;
    return &world->readout->problem;
}

// Impulses of all points, from those of the rows.
static void rgWorld_CopyImpulses(const rgWorld* world, const double* lambda, double* impulses) {
    const rgContactSet* contacts = &world->contacts;
    int total = contacts->pointCount + contacts->inactiveCount;
    memset(impulses, 0, 6 * (size_t)total * sizeof(double));
    for (int i = 0, w = 0; i + w < total; impulses += 6) {
        if (rgInactiveIsNext(contacts, i, w)) {
            w += 1;
        } else {
            const rgContactPoint* point = &contacts->points[i++];
            memcpy(impulses, lambda + point->firstRow, (size_t)point->rowCount * sizeof(double));
        }
    }
}

rgResult rgWorld_FindAnswers(const rgWorld* world, const rgAnswerDef* def, double* impulses,
                             rgAnswers* answers) {
    if (world == NULL || answers == NULL) {
        return rg_errorArgument;
    }
    rgAnswerDef chosen = def != NULL ? *def : rgDefaultAnswerDef();
    if (chosen.allocator.allocate == NULL) {
        chosen.allocator = world->heap.allocator;
    }
    const rgContactProblem* problem = rgWorld_Problem(world, NULL);
    double* other = rgAllocate(&chosen.allocator, (size_t)problem->rowCount + 1, sizeof(double));
    if (other == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgContactProblem_FindAnswers(problem, &chosen, world->constraints.rows.lambda,
                                                   other, answers);
    if (result == rg_ok && impulses != NULL) {
        rgWorld_CopyImpulses(world, other, impulses);
    }
    rgRelease(&chosen.allocator, other);
    return result;
}
