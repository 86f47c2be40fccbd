// Which shapes may meet, and the material that holds between them.
#include "model/def.h"
#include "model/model.h"

#include <stdlib.h>

static uint64_t rgPairKey(int a, int b) {
    uint64_t low = (uint64_t)(uint32_t)RG_MIN(a, b), high = (uint64_t)(uint32_t)RG_MAX(a, b);
    return high << 32 | low;
}

static int rgCompareKeys(const void* a, const void* b) {
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static int rgFindKey(const uint64_t* keys, int count, uint64_t key) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && keys[low] == key ? low : -1;
}

// Bodies fixed to the world and to each other form an assembly, named by its topmost body.
static void rgNumberAssemblies(rgModel* model) {
    for (int i = 0; i < model->info.bodyCount; ++i) {
        int parent = model->bodies[i].parent.index1 - 1;
        bool isStatic = model->bodyPlaces[i].link == 0;
        model->assemblies[i] = !isStatic ? 0 : parent < 0 ? i + 1 : model->assemblies[parent];
    }
}

// Excluded bodies are stored as index + 1, so that the world is 0.
static void rgSortExcludes(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    model->excludeCount = def->excludeCount;
    for (int i = 0; i < def->excludeCount; ++i) {
        model->excludes[i] = rgPairKey(def->excludes[i].a.index1, def->excludes[i].b.index1);
    }
    qsort(model->excludes, (size_t)model->excludeCount, sizeof(uint64_t), rgCompareKeys);
}

// Explicit pairs, sorted by insertion at their place; a pair given twice keeps the last material.
static void rgSortPairs(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    for (int i = 0; i < def->pairCount; ++i) {
        model->pairs[i] = rgPairKey(def->pairs[i].a.index1 - 1, def->pairs[i].b.index1 - 1);
    }
    qsort(model->pairs, (size_t)def->pairCount, sizeof(uint64_t), rgCompareKeys);
    int count = 0;
    for (int i = 0; i < def->pairCount; ++i) {
        if (count == 0 || model->pairs[count - 1] != model->pairs[i]) {
            model->pairs[count++] = model->pairs[i];
        }
    }
    model->pairCount = count;
    for (int i = 0; i < def->pairCount; ++i) {
        const rgPairDef* pair = &def->pairs[i];
        int slot =
            rgFindKey(model->pairs, count, rgPairKey(pair->a.index1 - 1, pair->b.index1 - 1));
        model->pairMaterials[slot] = pair->material;
        model->pairHasMaterial[slot] = pair->hasMaterial;
    }
}

bool rgBuildFilters(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    model->assemblies = rgCompiler_Allocate(compiler, def->bodyCount, sizeof(int));
    model->excludes = rgCompiler_Allocate(compiler, def->excludeCount, sizeof(uint64_t));
    model->pairs = rgCompiler_Allocate(compiler, def->pairCount, sizeof(uint64_t));
    model->pairMaterials = rgCompiler_Allocate(compiler, def->pairCount, sizeof(rgMaterial));
    model->pairHasMaterial = rgCompiler_Allocate(compiler, def->pairCount, sizeof(bool));
    if (compiler->outOfMemory) {
        return false;
    }
    rgNumberAssemblies(model);
    rgSortExcludes(compiler);
    rgSortPairs(compiler);
    return true;
}

// The link above the whole chain of links of the body that moves with this link.
static int rgParentLink(const rgModel* model, int link) {
    int body = model->movingBodies[link];
    int above = model->links[link].parent;
    while (above > 0 && model->movingBodies[above] == body) {
        above = model->links[above].parent;
    }
    return above;
}

// Child's parent body is in the group of bodies that the other shape is fixed to.
static bool rgIsParentOf(const rgModel* model, const rgPlace* parent, const rgPlace* child) {
    if (child->link == 0 || rgParentLink(model, child->link) != parent->link) {
        return false;
    }
    if (parent->link != 0) {
        return true;
    }
    // Fixed to the world: the base that carries the child, but not the floor beside it.
    int parentBody = model->bodies[model->movingBodies[child->link]].parent.index1 - 1;
    return parentBody >= 0 && parent->body >= 0 &&
           model->assemblies[parentBody] == model->assemblies[parent->body];
}

static bool rgIsShape(const rgModel* model, rgShapeId id) {
    return model != NULL && id.index1 >= 1 && id.index1 <= model->info.shapeCount;
}

static bool rgMasksMeet(const rgShapeDef* a, const rgShapeDef* b) {
    return (a->group & b->mask) != 0 || (b->group & a->mask) != 0;
}

bool rgModel_ShapesMayMeet(const rgModel* model, rgShapeId idA, rgShapeId idB) {
    int a = idA.index1 - 1, b = idB.index1 - 1;
    if (rgFindKey(model->pairs, model->pairCount, rgPairKey(a, b)) >= 0) {
        return true;
    }
    const rgShapeDef *shapeA = &model->shapes[a], *shapeB = &model->shapes[b];
    const rgPlace *placeA = &model->shapePlaces[a], *placeB = &model->shapePlaces[b];
    if (shapeA->visualOnly || shapeB->visualOnly || placeA->link == placeB->link ||
        !rgMasksMeet(shapeA, shapeB)) {
        return false;
    }
    if (rgIsParentOf(model, placeA, placeB) || rgIsParentOf(model, placeB, placeA)) {
        return false;
    }
    uint64_t bodies = rgPairKey(placeA->body + 1, placeB->body + 1);
    return rgFindKey(model->excludes, model->excludeCount, bodies) < 0;
}

bool rgModel_ShapesMeet(const rgModel* model, rgShapeId a, rgShapeId b) {
    return rgIsShape(model, a) && rgIsShape(model, b) && a.index1 != b.index1 &&
           !model->shapes[a.index1 - 1].disabled && !model->shapes[b.index1 - 1].disabled &&
           rgModel_ShapesMayMeet(model, a, b);
}

// Two springs in a row; rigid (0) leaves the other.
static double rgInSeries(double a, double b) {
    return a > 0 && b > 0 ? a * b / (a + b) : a > 0 ? a : b;
}

static double rgCombineFriction(rgFrictionRule rule, double a, double b) {
    switch (rule) {
    case rg_frictionAverage:
        return 0.5 * (a + b);
    case rg_frictionMinimum:
        return RG_MIN(a, b);
    case rg_frictionMaximum:
        return RG_MAX(a, b);
    default:
        return sqrt(a * b);
    }
}

static double rgImpactFriction(const rgMaterial* material) {
    return material->transitionSpeed > 0 ? material->muImpact : material->mu;
}

// Of springs in a row: each side dissipates by how fast it gives way itself.
static double rgCombineDissipation(const rgMaterial* a, const rgMaterial* b) {
    if (!(a->stiffness > 0 && b->stiffness > 0)) {
        return a->stiffness > 0 ? a->dissipation : b->dissipation;
    }
    return (b->stiffness * a->dissipation + a->stiffness * b->dissipation) /
           (a->stiffness + b->stiffness);
}

rgMaterial rgCombineMaterials(const rgMaterial* a, const rgMaterial* b, rgFrictionRule rule) {
    return (rgMaterial){
        .mu = rgCombineFriction(rule, a->mu, b->mu),
        .muTorsion = rgCombineFriction(rule, a->muTorsion, b->muTorsion),
        .muRolling = rgCombineFriction(rule, a->muRolling, b->muRolling),
        .stiffness = rgInSeries(a->stiffness, b->stiffness),
        .damping = rgInSeries(a->damping, b->damping),
        .tangentialStiffness = rgInSeries(a->tangentialStiffness, b->tangentialStiffness),
        .tangentialDamping = rgInSeries(a->tangentialDamping, b->tangentialDamping),
        .restitution = RG_MAX(a->restitution, b->restitution),
        .dimension = RG_MAX(a->dimension, b->dimension),
        .frictionRule = rule,
        .dissipation = rgCombineDissipation(a, b),
        .muImpact = rgCombineFriction(rule, rgImpactFriction(a), rgImpactFriction(b)),
        .transitionSpeed = RG_MAX(a->transitionSpeed, b->transitionSpeed),
        .adhesion = a->adhesion + b->adhesion};
}

rgMaterial rgModel_CombinedMaterial(const rgModel* model, rgShapeId idA, rgShapeId idB,
                                    rgFrictionRule rule) {
    if (!rgIsShape(model, idA) || !rgIsShape(model, idB)) {
        return rgDefaultMaterial();
    }
    int a = idA.index1 - 1, b = idB.index1 - 1;
    int pair = rgFindKey(model->pairs, model->pairCount, rgPairKey(a, b));
    if (pair >= 0 && model->pairHasMaterial[pair]) {
        return model->pairMaterials[pair];
    }
    const rgShapeDef *shapeA = &model->shapes[a], *shapeB = &model->shapes[b];
    if (shapeA->priority != shapeB->priority) {
        return shapeA->priority > shapeB->priority ? shapeA->material : shapeB->material;
    }
    const rgMaterial *A = &shapeA->material, *B = &shapeB->material;
    rule = rule != rg_frictionUnset ? rule : RG_MAX(A->frictionRule, B->frictionRule);
    return rgCombineMaterials(A, B, rule);
}

rgMaterial rgModel_PairMaterial(const rgModel* model, rgShapeId a, rgShapeId b) {
    return rgModel_CombinedMaterial(model, a, b, rg_frictionUnset);
}
