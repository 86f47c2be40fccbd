// Restitution. Newton's law prescribes the speed after an impact and leaves friction out of
// account, so that it may add energy. Where contacts would do positive work, the impacts of their
// island rebound less. constraints.6, constraints.7.
#include "world/world.h"

#include <string.h>

int rgFindIsland(rgIsland* islands, int tree) {
    while (islands[tree].parent != tree) {
        islands[tree].parent = islands[islands[tree].parent].parent;
        tree = islands[tree].parent;
    }
    return tree;
}

int rgRowIsland(const rgConstraintSet* constraints, int row) {
    const rgRows* rows = &constraints->rows;
    int dof = rows->column[rows->rowStart[row]];
    return rgFindIsland(constraints->islands, constraints->treeOfDof[dof]);
}

void rgConnectIslands(rgConstraintSet* constraints, const rgModel* model) {
    const rgRows* rows = &constraints->rows;
    for (int i = 0; i < model->info.treeCount; ++i) {
        bool jams = constraints->islands[i].jams;
        constraints->islands[i] = (rgIsland){.parent = i, .share = 1, .high = 1, .jams = jams};
    }
    for (int r = 0; r < rows->rowCount && model->info.treeCount > 1; ++r) {
        int last = -1;
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            int tree = constraints->treeOfDof[rows->column[k]];
            if (tree != last) { // columns of a tree stand together
                int a = rgRowIsland(constraints, r), b = rgFindIsland(constraints->islands, tree);
                constraints->islands[RG_MAX(a, b)].parent = RG_MIN(a, b);
            }
            last = tree;
        }
    }
}

// Work of contacts: lambda . J (v_free + v+)/2.
static void rgMeasureIslands(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        world->constraints.islands[i].work = world->constraints.islands[i].hits = 0;
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        if (rgRows_Columns(rows, point->firstRow) == 0) {
            continue;
        }
        rgIsland* island =
            &world->constraints.islands[rgRowIsland(&world->constraints, point->firstRow)];
        for (int r = point->firstRow; r < point->firstRow + point->rowCount; ++r) {
            island->work +=
                0.5 * rows->lambda[r] *
                (rgRows_Speed(rows, r, world->free.v) + rgRows_Speed(rows, r, world->next.v));
        }
        if (point->restitutionBias < 0) {
            double before = rgRows_Speed(rows, point->firstRow + 2, world->kinematics.v);
            island->hits +=
                rows->lambda[point->firstRow + 2] * RG_MAX(fabs(before), -point->restitutionBias);
        }
    }
}

static int rgPointTree(const rgContactSet* contacts, const rgModel* model,
                       const rgContactPoint* point) {
    int a = model->links[contacts->colliders[point->colliderA].link].tree;
    int b = model->links[contacts->colliders[point->colliderB].link].tree;
    return a >= 0 ? a : b;
}

double rgConstraintSet_RestitutionShare(const rgConstraintSet* constraints,
                                        const rgContactSet* contacts, const rgModel* model,
                                        const rgContactPoint* point) {
    int tree = rgPointTree(contacts, model, point);
    if (tree < 0 || constraints->islands[tree].jams) {
        return 0;
    }
    return constraints->restitutionPass == 0
               ? 1
               : constraints->islands[rgFindIsland(constraints->islands, tree)].share;
}

// Islands whose contacts did work. Rounding and the solver's tolerance are no work.
static bool rgMarkIslands(rgConstraintSet* constraints, const rgWorldDef* def,
                          const rgModel* model) {
    bool any = false;
    for (int i = 0; i < model->info.treeCount; ++i) {
        rgIsland* island = &constraints->islands[i];
        if (island->work > def->contact.tolerance * island->hits && island->hits > 0) {
            island->limited = any = true;
            island->highWork = island->work;
            island->share = 0;
        }
    }
    return any;
}

// Share at which the work reaches its bound, on the parabola through both sides and the third
// point: work is quadratic in the share while the set of loaded contacts stays.
static double rgIsland_NextShare(const rgIsland* island, double work) {
    double span = island->high - island->low, low = island->lowWork;
    double slope = (island->highWork - low) / span, curvature = 0;
    if (island->third >= 0) {
        double far = (island->thirdWork - island->highWork) / (island->third - island->high);
        curvature = (far - slope) / (island->third - island->low);
    }
    double rise = slope - curvature * span, c = low - work;
    double u = -2 * c / (rise + sqrt(RG_MAX(rise * rise - 4 * curvature * c, 0)));
    return island->low + (u > 0 && u < span ? u : -c / slope);
}

// One step towards the largest share that is allowed; true: not yet close. A contact that leaves a
// penetration works without any rebound; that much stays allowed.
static bool rgNarrowIsland(rgIsland* island, bool first) {
    if (first) {
        island->lowWork = island->work;
        island->allowed = RG_MAX(island->work, 0);
        island->third = -1;
    } else if (island->work <= island->allowed) {
        island->third = island->low;
        island->thirdWork = island->lowWork;
        island->low = island->share;
        island->lowWork = island->work;
    } else {
        island->third = island->high;
        island->thirdWork = island->highWork;
        island->high = island->share;
        island->highWork = island->work;
    }
    double scale = first ? island->highWork - island->lowWork : island->scale;
    double room = island->allowed - island->lowWork;
    island->scale = scale;
    bool closed = !(scale > 0) || room <= RG_RESTITUTION_RATIO * scale;
    // A little on the side that is allowed, so that both sides close in.
    double aim = island->allowed - 0.5 * RG_RESTITUTION_RATIO * scale;
    island->share = closed ? island->low : rgIsland_NextShare(island, RG_MAX(aim, island->lowWork));
    return !closed;
}

static bool rgHasRestitution(const rgContactSet* contacts) {
    for (int i = 0; i < contacts->pointCount; ++i) {
        if (contacts->points[i].restitutionBias < 0) {
            return true;
        }
    }
    return false;
}

void rgWorld_StartRestitution(rgWorld* world) {
    world->constraints.restitutionPass = 0;
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        world->constraints.islands[i].jams = false;
    }
}

// constraints.7: gamma_n < 0 with friction, or between two impacts, may have no solution, e = 0 has
// one. Of an island whose impulses solve nothing, no impact rebounds in this step.
bool rgWorld_StopRebounds(rgWorld* world, const rgContactReport* report) {
    const rgRows* rows = &world->constraints.rows;
    int block = report->residual.block;
    if (rows->rowCount == 0 || report->status == rg_contactSolved || block < 0 ||
        rgRows_Columns(rows, rows->blocks[block].firstRow) == 0 ||
        !rgHasRestitution(&world->contacts)) {
        return false;
    }
    rgConnectIslands(&world->constraints, world->model);
    rgIsland* islands = world->constraints.islands;
    int island = rgRowIsland(&world->constraints, rows->blocks[block].firstRow);
    bool rebounds = false;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        int tree = rgPointTree(&world->contacts, world->model, point);
        rebounds = rebounds || (point->restitutionBias < 0 && tree >= 0 && !islands[tree].jams &&
                                rgFindIsland(islands, tree) == island);
    }
    for (int i = 0; i < world->model->info.treeCount && rebounds; ++i) {
        islands[i].jams = islands[i].jams || rgFindIsland(islands, i) == island;
    }
    return rebounds;
}

// constraints.7
bool rgReviseRestitution(rgWorld* world, bool last) {
    if (!rgHasRestitution(&world->contacts)) {
        return false;
    }
    if (world->constraints.restitutionPass == 0) {
        rgConnectIslands(&world->constraints, world->model);
        rgMeasureIslands(world);
        world->constraints.restitutionPass =
            rgMarkIslands(&world->constraints, &world->def, world->model) ? 1 : 0;
        return world->constraints.restitutionPass > 0;
    }
    rgMeasureIslands(world);
    bool first = world->constraints.restitutionPass++ == 1, open = false;
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        rgIsland* island = &world->constraints.islands[i];
        double solved = island->share;
        bool again = island->limited && rgNarrowIsland(island, first);
        island->share = again && !last ? island->share : island->low; // the last admissible share
        open = open || (island->limited && island->share != solved);
    }
    return open;
}
