// Contacts: three rows per point (two tangents, normal), and torsional and rolling rows where the
// material asks for them. docs/theory/constraints.md (1)-(4), (17)-(19).
#include "world/world.h"

// The material of a pair, with what the world overrides.
rgMaterial rgWorld_Material(const rgWorld* world, const rgPoint* point) {
    const rgWorldDef* def = &world->def;
    rgShapeId a = {world->colliders[point->colliderA].shape + 1};
    rgShapeId b = {world->colliders[point->colliderB].shape + 1};
    rgMaterial material = rgModel_CombinedMaterial(world->model, a, b, def->frictionRule);
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

// Velocity of the surface past the shape: its part along the surface.
static rgVec3 rgBeltVelocity(const rgWorld* world, const rgCollider* collider, rgVec3 normal) {
    rgVec3 belt = rgRotate(collider->pose.q, world->model->shapes[collider->shape].surfaceVelocity);
    return rgAddScaled(belt, -rgDot(belt, normal), normal);
}

// (24) What the velocities of the problem have no part in.
static void rgSetContactDrift(rgWorld* world, const rgPoint* point) {
    const rgCollider *A = &world->colliders[point->colliderA],
                     *B = &world->colliders[point->colliderB];
    rgSpatial a = rgWorld_Drift(world, A->link, point->position);
    rgSpatial b = rgWorld_Drift(world, B->link, point->position);
    rgVec3 slide = rgSub(b.linear, a.linear), turn = rgSub(b.angular, a.angular);
    if (world->belts) {
        slide = rgAdd(slide, rgSub(rgBeltVelocity(world, B, point->normal),
                                   rgBeltVelocity(world, A, point->normal)));
    }
    const rgVec3 axes[3] = {point->tangent1, point->tangent2, point->normal};
    double* drift = world->rows.drift + point->firstRow;
    for (int k = 0; k < point->rowCount; ++k) {
        drift[k] = k < 3 ? rgDot(axes[k], slide) : rgDot(axes[(k + 2) % 3], turn);
    }
}

static void rgFillContact(rgWorld* world, const rgPoint* point) {
    rgRows* rows = &world->rows;
    int linkA = world->colliders[point->colliderA].link;
    int linkB = world->colliders[point->colliderB].link;
    int columns = rgRows_Columns(rows, point->firstRow);
    double* values = rows->value + rows->rowStart[point->firstRow];
    rgVec3 linear[3] = {point->tangent1, point->tangent2, point->normal};
    rgDynamics_PairRows(world->dynamics, linkA, linkB, point->position, linear, 3, columns, values);
    if (point->rowCount > 3) {
        rgVec3 angular[3] = {point->normal, point->tangent1, point->tangent2};
        rgDynamics_PairAngularRows(world->dynamics, linkA, linkB, angular, point->rowCount - 3,
                                   columns, values + 3 * columns);
    }
    rgSetContactDrift(world, point);
}

// (19) From sliding to impact by the speed at which the point closes.
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

// (3) Which points a manifold has changes with the motion, and one that appears deep brings energy
// that nobody gave. The springs of a pair act with as much of the depth as they were paid for.
static double rgElasticShare(rgWorld* world, int first, double stiffness) {
    rgPairMemory* pair = &world->memories[1].pairs[world->points[first].pair];
    double stored = 0;
    for (int i = first; i < first + world->points[first].pointCount; ++i) {
        double depth = RG_MAX(-world->points[i].gap, 0);
        stored += 0.5 * stiffness * depth * depth;
    }
    if (stored == 0 || pair->taken < 0) {
        pair->taken = stored;
    }
    return pair->taken < stored ? sqrt(pair->taken / stored) : 1;
}

void rgChargeSprings(rgWorld* world) {
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        int normal = point->firstRow + 2;
        if (point->isSoft) {
            double speed = rgRows_Speed(&world->rows, normal, world->nextV);
            double* taken = &world->memories[1].pairs[point->pair].taken;
            *taken = RG_MAX(*taken - world->rows.lambda[normal] * speed, 0);
        }
    }
}

static void rgSetContactLaw(rgWorld* world, rgPoint* point, const rgMaterial* material,
                            double share) {
    rgRows* rows = &world->rows;
    int normal = point->firstRow + 2;
    double gap = point->gap < 0 ? share * point->gap : point->gap;
    double ahead = rgWorld_TimeAhead(world, world->colliders[point->colliderA].link,
                                     world->colliders[point->colliderB].link);
    // (18) Hunt and Crossley's dissipation is a damper that grows with the depth.
    rgSoftness soft = {material->stiffness, material->damping + material->stiffness *
                                                                    material->dissipation *
                                                                    RG_MAX(-gap, 0)};
    point->isSoft = material->stiffness > 0;
    point->tangential = (rgSoftness){material->tangentialStiffness, material->tangentialDamping};
    rgLaw law = rgUnilateralLaw(world, gap, ahead, soft);
    point->overlaps = world->memories[1].pairs[point->pair].overlap && material->stiffness == 0;
    if (point->overlaps) {
        law.bias = fmax(law.bias, 0);
    }
    point->pushesOut = material->stiffness == 0 && law.bias < 0;
    bool asks = material->restitution > 0 || material->tangentialStiffness > 0 ||
                material->transitionSpeed > 0;
    double before = asks ? rgRows_Speed(rows, normal, world->startV) : 0;
    // (31) What would turn through the other body has to leave it, with the energy that there is.
    double bent = law.bias + (point->isSoft ? 0 : point->bend / ahead);
    point->restBias = law.bias;
    point->rebound = bent < RG_MIN(law.bias, 0) ? bent : 0;
    law.bias = bent;
    // (4) An impact of a rigid contact: it came fast enough, and the free motion closes it now.
    point->mayHit = !point->isSoft && before < -world->restitutionThreshold;
    if (point->mayHit && point->gap + ahead * rgRows_Speed(rows, normal, world->freeV) < 0) {
        point->rebound = RG_MIN(material->restitution * before, point->rebound);
        law.bias = point->rebound < 0 ? point->rebound : law.bias;
        point->tangential = (rgSoftness){0}; // (14) springs have no time to give way
    }
    point->mu = rgContactFriction(material, before);
    rows->gap[normal] = point->gap;
    rows->bias[normal] = law.bias;
    rows->compliance[normal] = law.compliance;
}

rgResult rgAddContacts(rgWorld* world) {
    rgMaterial material = {0};
    double share = 1;
    for (int i = 0; i < world->pointCount; ++i) {
        rgPoint* point = &world->points[i];
        if (i == 0 || point->pair != world->points[i - 1].pair) {
            material = rgWorld_Material(world, point);
            share = material.stiffness > 0 ? rgElasticShare(world, i, material.stiffness) : 1;
        }
        point->rowCount = rgContactRowCount(&material);
        rgBlock block = {.kind = rg_blockCoulomb,
                         .rowCount = point->rowCount,
                         .mu = material.mu,
                         .muTorsion = material.muTorsion,
                         .muRolling = material.muRolling};
        point->firstRow = rgRows_AddPair(world, block, world->colliders[point->colliderA].link,
                                         world->colliders[point->colliderB].link);
        if (point->firstRow < 0) {
            return rg_errorMemory;
        }
        for (int k = 0; k < point->rowCount; ++k) {
            world->rows.sources[point->firstRow + k].index = i;
            world->rows.sources[point->firstRow + k].row = k;
        }
        rgFillContact(world, point);
        rgSetContactLaw(world, point, &material, share);
        world->rows.blocks[world->rows.blockCount - 1].mu = point->mu;
    }
    rgAddAnchors(world);
    rgAddArcs(world);
    return rg_ok;
}
