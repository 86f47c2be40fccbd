// Loops that nothing can close: beyond the reach of what they hold, against limits, or against each
// other. Their rows would ask for speeds without bound where joints are stretched or jammed; they
// yield instead, as springs with dampers, until they can be closed. docs/theory/constraints.md
// (28).
#include "world/world.h"

#define RG_OPEN_SET   1e-4 // likewise, of what was set
#define RG_OPEN_SPEED 1e-4 // [m/s] that a rigid loop lacks
#define RG_AMPLIFIED  30   // energy of a motion beside that of its cause
#define RG_OPEN_SHARE 0.01 // of the largest impulse, above which a loop takes part in a conflict
#define RG_OPEN_GAIN  0.1  // of the kinetic energy, that is much in a step

bool rgWorld_IsOpen(const rgWorld* world, int equality) {
    return world->isOpen[equality];
}

int rgWorld_OpenCount(const rgWorld* world) {
    const rgRows* rows = &world->rows;
    int count = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        const rgRowSource* source = &rows->sources[rows->blocks[b].firstRow];
        count += source->kind == rg_constraintEquality && world->isOpen[source->index];
    }
    return count;
}

// ---- groups

static int rgEqualityTree(const rgModel* model, const rgEqualityDef* def, int side) {
    rgBodyId body = side == 0 ? def->bodyA : def->bodyB;
    rgJointId joint = side == 0 ? def->jointA : def->jointB;
    if (body.index1 > 0) {
        return model->links[model->bodyPlaces[body.index1 - 1].link].tree;
    }
    bool moves = joint.index1 > 0 && model->jointRanges[joint.index1 - 1].vCount > 0;
    return moves ? model->links[model->dofs[model->jointRanges[joint.index1 - 1].v].link].tree : -1;
}

static int rgGroupRoot(int* group, int tree) {
    while (group[tree] != tree) {
        tree = group[tree] = group[group[tree]];
    }
    return tree;
}

static void rgGroupTrees(rgWorld* world, int* first, int tree) {
    if (tree < 0) {
        return;
    }
    int root = rgGroupRoot(world->loopGroup, tree);
    int other = *first < 0 ? root : rgGroupRoot(world->loopGroup, *first);
    world->loopGroup[RG_MAX(root, other)] = RG_MIN(root, other);
    *first = RG_MIN(root, other);
}

// Any tree of an equality; -1: it has none.
static int rgWorld_GroupEquality(rgWorld* world, int equality) {
    const rgModel* model = world->model;
    const rgEqualityDef* def = &model->equalities[equality];
    int first = -1;
    rgGroupTrees(world, &first, rgEqualityTree(model, def, 0));
    rgGroupTrees(world, &first, rgEqualityTree(model, def, 1));
    const int tendons[2] = {def->tendonA.index1 - 1, def->tendonB.index1 - 1};
    for (int i = 0; i < 2; ++i) {
        int t = tendons[i];
        for (int k = t >= 0 ? model->tendonStart[t] : 0; t >= 0 && k < model->tendonStart[t + 1];
             ++k) {
            rgGroupTrees(world, &first, world->treeOfDof[model->tendonColumns[k]]);
        }
    }
    return first;
}

void rgWorld_GroupLoops(rgWorld* world) {
    const rgModel* model = world->model;
    for (int t = 0; t < model->treeCount; ++t) {
        world->loopGroup[t] = t;
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        bool rigid = !def->disabled && def->stiffness == 0;
        world->loopTree[e] = rigid ? rgWorld_GroupEquality(world, e) : -1;
    }
    for (int t = 0; t < model->treeCount; ++t) {
        world->loopGroup[t] = rgGroupRoot(world->loopGroup, t);
    }
}

rgLoopGroup* rgWorld_LoopGroup(const rgWorld* world, int equality) {
    int tree = world->loopTree[equality];
    return tree < 0 ? NULL : &world->loopGroups[world->loopGroup[tree]];
}

// ---- amplification

bool rgIsAmplified(double energy, double mass, double size) {
    return energy > 0.5 * RG_AMPLIFIED * mass * size * size;
}

// What moves, as a mass at the end of what turns.
static double rgWorld_TreeMass(const rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    double sum = 0;
    for (int v = range->firstDof; v < range->firstDof + range->dofCount; ++v) {
        sum += world->dynamics->mass[world->model->dofs[v].rowStart] /
               (world->reach[v] * world->reach[v]);
    }
    return sum;
}

double rgWorld_GroupMass(const rgWorld* world, int group) {
    double sum = 0;
    for (int t = 0; t < world->model->treeCount; ++t) {
        sum += world->loopGroup[t] == group ? rgWorld_TreeMass(world, t) : 0;
    }
    return sum;
}

// ---- the step

void rgWorld_StartLoops(rgWorld* world) {
    for (int e = 0; e < world->model->info.equalityCount; ++e) {
        world->isOpen[e] = world->state.open[e] != 0 && world->loopTree[e] >= 0;
    }
}

bool rgWorld_OpenSetLoop(rgWorld* world, int first) {
    const rgRows* rows = &world->rows;
    bool set = false, off = false;
    for (int r = first; r < rows->rowCount && !world->def.neverSoften; ++r) {
        off = off || fabs(rows->gap[r]) > RG_OPEN_SET;
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            set = set || world->state.isSet[world->treeOfDof[rows->column[k]]] != 0;
        }
    }
    if (set && off) {
        world->isOpen[rows->sources[first].index] = true;
    }
    return set && off;
}

// A limit that is passed, or a rigid loop: both correct what is where it must not be.
static bool rgWorld_Corrects(const rgWorld* world, int row) {
    const rgRowSource* source = &world->rows.sources[row];
    if (source->kind == rg_constraintEquality) {
        return world->model->equalities[source->index].stiffness == 0 &&
               !world->isOpen[source->index];
    }
    return source->kind == rg_constraintLimit && world->rows.gap[row] <= 0;
}

// Energy that an impulse would give to what it acts on alone.
static double rgWorld_ImpulseEnergy(const rgWorld* world, int row) {
    const rgRows* rows = &world->rows;
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        sum += world->whitened[k] * world->whitened[k];
    }
    return 0.5 * sum * rows->lambda[row] * rows->lambda[row];
}

// Of the rows that correct: their work lambda . J (v_free + v+)/2, where J v+ is what they ask for,
// and the largest speed among that.
static bool rgMeasureCorrections(rgWorld* world) {
    const rgRows* rows = &world->rows;
    bool any = false;
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->lambda[r] == 0 || !rgWorld_Corrects(world, r)) {
            continue;
        }
        rgIsland* island = &world->islands[rgRowIsland(world, r)];
        double before = rgRows_Dot(rows, r, world->freeV), asked = before - rows->bias[r];
        double after = asked - rows->compliance[r] * rows->lambda[r];
        island->work += 0.5 * rows->lambda[r] * (before + after);
        island->asked = fmax(island->asked, fabs(asked) * rows->length[r]);
        any = any || rows->sources[r].kind == rg_constraintEquality;
    }
    return any;
}

// The largest impulse of a loop.
static void rgMeasureImpulses(rgWorld* world) {
    const rgRows* rows = &world->rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->lambda[r] != 0 && rows->sources[r].kind == rg_constraintEquality &&
            rgWorld_Corrects(world, r)) {
            rgIsland* island = &world->islands[rgRowIsland(world, r)];
            island->carried = fmax(island->carried, rgWorld_ImpulseEnergy(world, r));
        }
    }
}

static double rgWorld_IslandMotion(rgWorld* world, int island) {
    const double* v = world->freeV;
    double sum = 0;
    for (int i = 0; i < world->model->vCount; ++i) {
        bool within = rgFindIsland(world->islands, world->treeOfDof[i]) == island;
        for (int k = world->massStart[i]; within && k < world->massStart[i + 1]; ++k) {
            sum += 0.5 * v[i] * world->massValue[k] * v[world->massColumn[k]];
        }
    }
    return sum;
}

// More than the speeds that are asked for explain, and more than carrying a load at those speeds
// takes, and much beside the motion that there is.
static bool rgWorld_IslandPumps(rgWorld* world, int at) {
    const rgIsland* island = &world->islands[at];
    double load = sqrt(island->asked * (island->asked + rgLength(world->gravity) * world->dt));
    return rgIsAmplified(island->work, island->mass, load) &&
           island->work > RG_OPEN_GAIN * rgWorld_IslandMotion(world, at);
}

static bool rgWorld_OpenRow(rgWorld* world, int row) {
    const rgRowSource* source = &world->rows.sources[row];
    bool opens = source->kind == rg_constraintEquality && rgWorld_Corrects(world, row);
    if (opens) {
        world->isOpen[source->index] = true;
    }
    return opens;
}

// Loops that limits, contacts or each other hold: a certificate names them, or the little that all
// loops yield by (10) is what they need.
static bool rgWorld_OpenHeld(rgWorld* world, const rgContactReport* report) {
    const rgRows* rows = &world->rows;
    bool any = false;
    for (int c = 0; c < report->conflictCount; ++c) {
        any = rgWorld_OpenRow(world, rows->blocks[report->conflict[c]].firstRow) || any;
    }
    for (int r = 0; r < rows->rowCount; ++r) {
        double lack = fabs(rows->compliance[r] * rows->lambda[r]) * rows->length[r];
        any = (lack > RG_OPEN_SPEED && rgWorld_OpenRow(world, r)) || any;
    }
    return any;
}

bool rgWorld_OpenLoops(rgWorld* world, const rgContactReport* report) {
    const rgRows* rows = &world->rows;
    if (world->rigidEqualityCount == 0 || rows->rowCount == 0 || world->def.neverSoften) {
        return false;
    }
    if (rgWorld_OpenHeld(world, report)) {
        return true;
    }
    rgConnectIslands(world);
    if (!rgMeasureCorrections(world)) {
        return false;
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->islands[rgFindIsland(world->islands, t)].mass += rgWorld_TreeMass(world, t);
    }
    bool pumps = false, any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        rgIsland* island = &world->islands[t];
        island->pumps = island->parent == t && rgWorld_IslandPumps(world, t);
        pumps = pumps || island->pumps;
    }
    if (!pumps) {
        return false;
    }
    rgMeasureImpulses(world);
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgIsland* island = rows->lambda[r] != 0 && rgWorld_Corrects(world, r)
                                     ? &world->islands[rgRowIsland(world, r)]
                                     : NULL;
        if (island != NULL && island->pumps &&
            rgWorld_ImpulseEnergy(world, r) >= RG_OPEN_SHARE * island->carried) {
            any = rgWorld_OpenRow(world, r) || any;
        }
    }
    return any;
}

void rgWorld_CommitLoops(rgWorld* world) {
    for (int e = 0; e < world->model->info.equalityCount; ++e) {
        world->state.open[e] =
            world->loopTree[e] >= 0 && world->miss[e] > RG_LOOP_OPEN && !world->def.neverSoften;
    }
}
