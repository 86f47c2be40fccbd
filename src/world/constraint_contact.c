// Contacts: three rows per point (two tangents, normal), and torsional and rolling rows where the
// material asks for them. constraints.1-2, constraints.4, constraints.6, constraints.3,
// constraints.5, constraints.8.
#include "world/world.h"

// Material of a pair, with the overrides of the world's definition.
rgMaterial rgContactSet_Material(const rgContactSet* contacts, const rgWorldDef* def,
                                 const rgModel* model, const rgContactPoint* point) {
    rgShapeId a = {contacts->colliders[point->colliderA].shape + 1};
    rgShapeId b = {contacts->colliders[point->colliderB].shape + 1};
    rgMaterial material = rgModel_CombinedMaterial(model, a, b, def->frictionRule);
    if (def->stiffness > 0) {
        material.stiffness = def->stiffness;
        material.damping = def->damping;
        material.dissipation = def->dissipation;
    }
    if (def->tangentialStiffness > 0) {
        material.tangentialStiffness = def->tangentialStiffness;
        material.tangentialDamping = def->tangentialDamping;
    }
    if (material.dimension == 1 || def->friction >= 0) {
        material.mu = def->friction >= 0 ? def->friction : 0;
        material.transitionSpeed = 0;
    }
    material.restitution = def->restitution >= 0 ? def->restitution : material.restitution;
    return material;
}

int rgContactRowCount(const rgMaterial* material) {
    if (material->dimension >= 6 && material->muRolling > 0) {
        return 6;
    }
    return material->dimension >= 4 && material->muTorsion > 0 ? 4 : 3;
}

// Velocity of the surface past the shape: linear along the surface, angular about its normal.
static rgSpatial rgBeltVelocity(const rgModel* model, const rgCollider* collider,
                                const rgContactPoint* point) {
    const rgShapeDef* shape = &model->shapes[collider->shape];
    rgVec3 spin = rgRotate(collider->pose.q, shape->surfaceSpin);
    rgVec3 belt = rgAdd(rgRotate(collider->pose.q, shape->surfaceVelocity),
                        rgCross(spin, rgSub(point->position, collider->pose.p)));
    return (rgSpatial){
        .linear = rgAddScaled(belt, -rgDot(belt, point->normal), point->normal),
        .angular = rgScale(rgDot(spin, point->normal), point->normal),
    };
}

// Relative velocity at a point that does not depend on v: kinematic bodies and belts
// (constraints.25).
static void rgSetContactDrift(rgConstraintSet* constraints, const rgKinematics* kinematics,
                              rgContactSet* contacts, const rgContactPoint* point) {
    const rgCollider *A = &contacts->colliders[point->colliderA],
                     *B = &contacts->colliders[point->colliderB];
    rgSpatial a = rgKinematics_Drift(kinematics, A->link, point->position);
    rgSpatial b = rgKinematics_Drift(kinematics, B->link, point->position);
    rgVec3 slide = rgSub(b.linear, a.linear), turn = rgSub(b.angular, a.angular);
    if (constraints->hasBelts) {
        rgSpatial beltA = rgBeltVelocity(kinematics->dynamics->model, A, point),
                  beltB = rgBeltVelocity(kinematics->dynamics->model, B, point);
        slide = rgAdd(slide, rgSub(beltB.linear, beltA.linear));
        turn = rgAdd(turn, rgSub(beltB.angular, beltA.angular));
    }
    const rgVec3 axes[3] = {point->tangent1, point->tangent2, point->normal};
    double* drift = constraints->rows.drift + point->firstRow;
    for (int k = 0; k < point->rowCount; ++k) {
        drift[k] = k < 3 ? rgDot(axes[k], slide) : rgDot(axes[(k + 2) % 3], turn);
    }
}

static void rgFillContact(rgConstraintSet* constraints, const rgKinematics* kinematics,
                          rgContactSet* contacts, const rgContactPoint* point) {
    rgRows* rows = &constraints->rows;
    int linkA = contacts->colliders[point->colliderA].link;
    int linkB = contacts->colliders[point->colliderB].link;
    int columns = rgRows_Columns(rows, point->firstRow);
    double* values = rows->value + rows->rowStart[point->firstRow];
    rgVec3 linear[3] = {point->tangent1, point->tangent2, point->normal};
    rgDynamics_PairRows(kinematics->dynamics, linkA, linkB, point->position, linear,
                        rows->column + rows->rowStart[point->firstRow], columns, values);
    if (point->rowCount > 3) {
        rgVec3 angular[3] = {point->normal, point->tangent1, point->tangent2};
        rgDynamics_PairAngularRows(kinematics->dynamics, linkA, linkB, angular, point->rowCount - 3,
                                   columns, values + 3 * columns);
    }
    if (constraints->hasBelts || kinematics->dynamics->model->kinematicCount > 0) {
        rgSetContactDrift(constraints, kinematics, contacts, point);
    }
}

// constraints.8: From sliding to impact by the speed at which the point closes.
static double rgContactFriction(const rgMaterial* material, double before) {
    double closing = RG_MAX(-before, 0);
    if (!(material->transitionSpeed > 0)) {
        return material->mu;
    }
    return closing < material->transitionSpeed
               ? material->mu +
                     (material->muImpact - material->mu) * closing / material->transitionSpeed
               : material->muImpact;
}

// Depth of a point at the start of the step, where springs keep their energy.
static double rgStartDepth(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                           double dt, const rgContactPoint* point) {
    int normal = point->firstRow + 2;
    return rgRows_DriftTime(constraints, kinematics, dt, normal) *
               rgRows_Speed(&constraints->rows, normal, kinematics->v) -
           point->gap;
}

// Share of the depth that is paid for (constraints.4). The points of a manifold change with the
// motion, and a point that appears deep brings energy from nowhere: springs of a pair act with as
// much of their depth at the start of the step as their energy tank has.
static double rgElasticShare(rgWorld* world, int first, int count, double stiffness) {
    rgPairMemory* pair = &world->warmStart.memories[1].pairs[world->contacts.points[first].pair];
    double stored = 0;
    for (int i = first; i < first + count; ++i) {
        double depth = RG_MAX(rgStartDepth(&world->kinematics, &world->constraints,
                                           world->settings.dt, &world->contacts.points[i]),
                              0);
        stored += 0.5 * stiffness * depth * depth;
    }
    if (stored == 0 || pair->energyTank < 0) {
        pair->energyTank = stored;
    }
    return pair->energyTank < stored ? sqrt(pair->energyTank / stored) : 1;
}

// Energy tanks take the work that bodies lose to normal springs and dampers.
void rgUpdateEnergyTanks(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        int normal = point->firstRow + 2;
        if (point->isSoft) {
            double speed = rgRows_Speed(rows, normal, world->next.v);
            if (rgRows_DriftTime(&world->constraints, &world->kinematics, world->settings.dt,
                                 normal) > 0) {
                speed = 0.5 * (speed + rgRows_Speed(rows, normal, world->kinematics.v));
            }
            double* taken = &world->warmStart.memories[1].pairs[point->pair].energyTank;
            *taken = RG_MAX(*taken - rows->lambda[normal] * speed, 0);
        }
    }
}

// Spring and damper of a normal row (step.8).
static rgLaw rgContactSpring(rgWorld* world, rgContactPoint* point, rgSoftness soft, double ahead,
                             double share) {
    int normal = point->firstRow + 2;
    double dt = world->settings.dt, k = soft.stiffness, d = soft.damping;
    double driftTime = rgRows_DriftTime(&world->constraints, &world->kinematics, world->settings.dt,
                                        normal),
           rate = rgRows_Speed(&world->constraints.rows, normal, world->kinematics.v);
    double start = rgStartDepth(&world->kinematics, &world->constraints, world->settings.dt, point);
    int count = world->contacts.manifolds[point->pair].count; // inactive ones included
    double z = count * dt * (dt * k + d) *
               rgRows_Mobility(&world->constraints, &world->kinematics, normal);
    rgWeights w = rgSpringWeights(driftTime, z);
    point->springEnergy = start > 0 ? 0.5 * k * share * share * start * start : 0;
    if (start <= 0) { // the damper counts the part of the way that is in contact
        double gain = dt * k + d, time = driftTime > 0 ? w.share * dt : ahead;
        double bias = point->gap > 0 ? point->gap / time : point->gap * k / (w.share * gain);
        return (rgLaw){.bias = bias, .compliance = 1 / (w.share * dt * gain)};
    }
    double gain = dt * k * w.ahead + d * w.share;
    double before = (dt * k * (w.along - w.ahead) + d * (1 - w.share)) * rate;
    double depth = share * start - driftTime * rate;
    return (rgLaw){.bias = (before - k * depth) / gain, .compliance = 1 / (dt * gain)};
}

// True if any degree of freedom moves the two bodies along the row.
static bool rgRows_Moves(const rgRows* rows, int row) {
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        if (fabs(rows->value[k]) > RG_ROUNDING) {
            return true;
        }
    }
    return false;
}

static void rgSetContactLaw(rgWorld* world, rgContactPoint* point, const rgMaterial* material,
                            double share) {
    rgRows* rows = &world->constraints.rows;
    int normal = point->firstRow + 2;
    double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                          world->contacts.colliders[point->colliderA].link,
                                          world->contacts.colliders[point->colliderB].link);
    point->isSoft = material->stiffness > 0;
    point->tangential = (rgSoftness){material->tangentialStiffness, material->tangentialDamping};
    rgLaw law;
    if (point->isSoft) {
        // constraints.5: Hunt and Crossley's dissipation is a damper that grows with the depth.
        double depth = share * RG_MAX(-point->gap, 0), k = material->stiffness;
        rgSoftness soft = {k, material->damping + k * material->dissipation * depth};
        law = rgContactSpring(world, point, soft, ahead, share);
    } else {
        law = rgUnilateralLaw(point->gap, ahead);
    }
    // Contacts without mobility along the normal have no push-out: slides along a floor that they
    // penetrate.
    point->overlaps =
        material->stiffness == 0 &&
        (world->warmStart.memories[1].pairs[point->pair].overlap || !rgRows_Moves(rows, normal));
    // Contacts of kinematic bodies may have no rigid solution. Their compliance changes the
    // velocity by less than the tolerance unless bodies are squeezed.
    point->squeezes = !point->isSoft && rows->drift[normal] < 0;
    if (point->squeezes) {
        double G;
        rgRows_Delassus(rows, &world->kinematics, normal, 1, &G);
        law.compliance = RG_SQUEEZE_COMPLIANCE_RATIO * G;
    }
    bool needsSpeed = material->restitution > 0 || material->tangentialStiffness > 0 ||
                      material->transitionSpeed > 0;
    double before = needsSpeed || point->gapCorrection < 0
                        ? rgRows_Speed(rows, normal, world->kinematics.v)
                        : 0;
    double thin = RG_MIN(world->contacts.colliders[point->colliderA].thin,
                         world->contacts.colliders[point->colliderB].thin);
    // gap.2: Gap at the end of a curved path. A body that arrives and would turn through the other
    // one leaves it, without gain of energy; lasting contacts are left to the projection.
    bool comes = point->gap > 0 || before < -RG_CURVED_GAP_RATIO * thin / ahead;
    bool curves = !point->isSoft && (comes || point->rolls);
    double corrected = law.bias + (curves ? point->gapCorrection / ahead : 0);
    point->restBias = point->rolls ? corrected : law.bias; // gap.1: no rebound
    point->restitutionBias = corrected < RG_MIN(point->restBias, 0) ? corrected : 0;
    law.bias = corrected;
    // constraints.6: Impact of a rigid contact: its closing speed is above the threshold, and the
    // free motion or another impact closes it now.
    bool passedOn = point->hitSpeed < -world->settings.restitutionThreshold;
    before = needsSpeed && passedOn ? point->hitSpeed : before;
    point->mayHit = !point->isSoft && before < -world->settings.restitutionThreshold;
    if (point->mayHit &&
        (passedOn || point->gap + ahead * rgRows_Speed(rows, normal, world->free.v) < 0)) {
        point->restitutionBias = RG_MIN(material->restitution * before, point->restitutionBias);
        point->tangential = (rgSoftness){0}; // constraints.21: springs have no time to give way
    }
    if (point->restitutionBias < 0) { // constraints.7
        double rebounds = rgConstraintSet_RestitutionShare(&world->constraints, &world->contacts,
                                                           world->model, point);
        law.bias = (1 - rebounds) * point->restBias + rebounds * point->restitutionBias;
    }
    point->mu = rgContactFriction(material, before);
    rows->gap[normal] = point->gap;
    rows->bias[normal] = law.bias;
    rows->compliance[normal] = law.compliance;
}

static rgResult rgAddContact(rgWorld* world, int index, const rgMaterial* material) {
    rgContactPoint* point = &world->contacts.points[index];
    point->rowCount = rgContactRowCount(material);
    rgBlock block = {.kind = rg_blockCoulomb,
                     .rowCount = point->rowCount,
                     .muTorsion = material->muTorsion,
                     .muRolling = material->muRolling};
    bool alike = index > 0 && point[-1].pair == point->pair;
    point->firstRow =
        alike ? rgRows_AddAlike(&world->constraints.rows, &world->heap.allocator, block,
                                point[-1].firstRow)
              : rgRows_AddPair(&world->constraints.rows, world->model, &world->heap.allocator,
                               block, world->contacts.colliders[point->colliderA].link,
                               world->contacts.colliders[point->colliderB].link);
    if (point->firstRow < 0) {
        return rg_errorMemory;
    }
    for (int k = 0; k < point->rowCount; ++k) {
        world->constraints.rows.sources[point->firstRow + k].index = index;
        world->constraints.rows.sources[point->firstRow + k].row = k;
    }
    rgFillContact(&world->constraints, &world->kinematics, &world->contacts, point);
    return rg_ok;
}

rgResult rgAddContacts(rgWorld* world) {
    rgResult result = rg_ok;
    for (int i = 0, count; i < world->contacts.pointCount && result == rg_ok; i += count) {
        count = world->contacts.points[i].pointCount;
        rgMaterial material = rgContactSet_Material(&world->contacts, &world->def, world->model,
                                                    &world->contacts.points[i]);
        int first = world->constraints.rows.blockCount;
        for (int k = i; k < i + count && result == rg_ok; ++k) {
            result = rgAddContact(world, k, &material);
        }
        if (result != rg_ok) {
            return result;
        }
        bool soft = material.stiffness > 0;
        double share = soft ? rgElasticShare(world, i, count, material.stiffness) : 1;
        for (int k = i; k < i + count; ++k) {
            rgSetContactLaw(world, &world->contacts.points[k], &material, share);
            world->constraints.rows.blocks[first + k - i].mu = world->contacts.points[k].mu;
        }
    }
    rgAddBristles(world);
    rgAddCurvatureSlips(world);
    return result;
}
