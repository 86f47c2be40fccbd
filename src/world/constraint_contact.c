// Contacts: three rows per point (two tangents, normal), and torsional and rolling rows where the
// material asks for them. docs/theory/constraints.md (1)-(4), (17).
#include "world/world.h"

// The material of a pair, with what the world overrides.
static rgMaterial rgWorld_Material(const rgWorld* world, const rgPoint* point) {
    const rgWorldDef* def = &world->def;
    rgShapeId a = {world->colliders[point->colliderA].shape + 1};
    rgShapeId b = {world->colliders[point->colliderB].shape + 1};
    rgMaterial material = rgModel_PairMaterial(world->model, a, b);
    if (def->stiffness > 0) {
        material.stiffness = def->stiffness;
        material.damping = def->damping;
    }
    if (def->tangentialStiffness > 0) {
        material.tangentialStiffness = def->tangentialStiffness;
        material.tangentialDamping = def->tangentialDamping;
    }
    material.mu = material.dimension == 1 ? 0 : material.mu;
    material.mu = def->friction >= 0 ? def->friction : material.mu;
    material.restitution = def->restitution >= 0 ? def->restitution : material.restitution;
    return material;
}

static int rgContactRowCount(const rgMaterial* material) {
    if (material->dimension >= 6 && material->muRolling > 0) {
        return 6;
    }
    return material->dimension >= 4 && material->muTorsion > 0 ? 4 : 3;
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
}

// (4) An impact that this step sees: the point closes now, and it came fast enough.
static bool rgContactBounces(const rgWorld* world, const rgPoint* point, const rgMaterial* material,
                             double before) {
    double closing = rgRows_Dot(&world->rows, point->firstRow + 2, world->freeV);
    return material->stiffness == 0 && before < -world->restitutionThreshold &&
           point->gap + world->dt * closing < 0;
}

// Of contacts between parts that overlap by design, relative to G: where they jam each other, there
// may be no solution without it.
#define RG_OVERLAP_COMPLIANCE 0.1

static void rgSetContactLaw(rgWorld* world, rgPoint* point, const rgMaterial* material) {
    rgRows* rows = &world->rows;
    int normal = point->firstRow + 2;
    double n = point->pointCount;
    rgSoftness soft = {material->stiffness / n, material->damping / n};
    point->tangential =
        (rgSoftness){material->tangentialStiffness / n, material->tangentialDamping / n};
    rgLaw law = rgUnilateralLaw(world, point->gap, soft);
    point->overlaps = world->memories[1].pairs[point->pair].overlap && material->stiffness == 0;
    if (point->overlaps) {
        law.bias = fmax(law.bias, 0);
    }
    point->pushesOut = material->stiffness == 0 && law.bias < 0;
    if (material->restitution > 0) {
        double before = rgRows_Dot(rows, normal, world->startV);
        if (rgContactBounces(world, point, material, before)) {
            law.bias = material->restitution * before;
        }
    }
    rows->gap[normal] = point->gap;
    rows->bias[normal] = law.bias;
    rows->compliance[normal] = law.compliance;
}

rgResult rgAddContacts(rgWorld* world) {
    rgMaterial material = {0};
    for (int i = 0; i < world->pointCount; ++i) {
        rgPoint* point = &world->points[i];
        if (i == 0 || point->pair != world->points[i - 1].pair) {
            material = rgWorld_Material(world, point);
        }
        point->rowCount = rgContactRowCount(&material);
        point->mu = material.mu;
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
        rgSetContactLaw(world, point, &material);
    }
    rgAddAnchors(world);
    return rg_ok;
}

// (17) Bodies that are jammed between others cannot be pushed out, and rigid contacts would ask for
// infinite forces. A trace of compliance on contacts that want to leave a penetration keeps them
// finite. A body sinks by no more than this share of its load's free fall in one step.
#define RG_JAM_COMPLIANCE 1e-7 // relative to G

// |W|^2 of a row
static double rgWorld_WhitenedDelassus(const rgWorld* world, int row) {
    double sum = 0;
    for (int k = world->rows.rowStart[row]; k < world->rows.rowStart[row + 1]; ++k) {
        sum += world->whitened[k] * world->whitened[k];
    }
    return sum;
}

void rgSoftenContacts(rgWorld* world) {
    rgRows* rows = &world->rows;
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        int normal = point->firstRow + 2;
        bool jams = point->pushesOut && rows->compliance[normal] == 0;
        if (point->overlaps || jams) {
            double share = point->overlaps ? RG_OVERLAP_COMPLIANCE : RG_JAM_COMPLIANCE;
            rows->compliance[normal] = share * rgWorld_WhitenedDelassus(world, normal);
        }
    }
}

void rgSoftenOverlaps(rgWorld* world) {
    for (int i = 0; i < world->pointCount; ++i) {
        int normal = world->points[i].firstRow + 2;
        if (world->points[i].overlaps) {
            world->rows.compliance[normal] = RG_OVERLAP_COMPLIANCE * rgRows_Delassus(world, normal);
        }
    }
}
