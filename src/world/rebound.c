// Impacts with restitution must not add energy. Newton's law prescribes the speed after an impact
// and takes no notice of what friction does meanwhile; where contacts would do positive work, the
// impacts that hang together rebound less. docs/theory/constraints.md (4), (20).
#include "world/world.h"

#include <string.h>

#define RG_REBOUND_ROUNDS 8    // solves per step at most, after the first
#define RG_REBOUND_CLOSE  1e-3 // of the work between no rebound and all of it

int rgFindIsland(rgIsland* islands, int tree) {
    while (islands[tree].parent != tree) {
        islands[tree].parent = islands[islands[tree].parent].parent;
        tree = islands[tree].parent;
    }
    return tree;
}

int rgRowIsland(const rgWorld* world, int row) {
    const rgRows* rows = &world->rows;
    int dof = rows->column[rows->rowStart[row]];
    return rgFindIsland(world->islands, world->treeOfDof[dof]);
}

void rgConnectIslands(rgWorld* world) {
    const rgRows* rows = &world->rows;
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        world->islands[i] = (rgIsland){.parent = i, .share = 1, .high = 1};
    }
    for (int r = 0; r < rows->rowCount && world->model->info.treeCount > 1; ++r) {
        int last = -1;
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            int tree = world->treeOfDof[rows->column[k]];
            if (tree != last) { // columns of a tree stand together
                int a = rgRowIsland(world, r), b = rgFindIsland(world->islands, tree);
                world->islands[RG_MAX(a, b)].parent = RG_MIN(a, b);
            }
            last = tree;
        }
    }
}

// Work of contacts: lambda . J (v_free + v+)/2.
static void rgMeasureIslands(rgWorld* world) {
    const rgRows* rows = &world->rows;
    rgWorld_NextVelocity(world, world->nextV);
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        world->islands[i].work = world->islands[i].hits = 0;
    }
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        if (rgRows_Columns(rows, point->firstRow) == 0) {
            continue;
        }
        rgIsland* island = &world->islands[rgRowIsland(world, point->firstRow)];
        for (int r = point->firstRow; r < point->firstRow + point->rowCount; ++r) {
            island->work +=
                0.5 * rows->lambda[r] *
                (rgRows_Speed(rows, r, world->freeV) + rgRows_Speed(rows, r, world->nextV));
        }
        if (point->rebound < 0) {
            double before = rgRows_Speed(rows, point->firstRow + 2, world->startV);
            island->hits +=
                rows->lambda[point->firstRow + 2] * RG_MAX(fabs(before), -point->rebound);
        }
    }
}

// (4) The share of the rebound that an island has now.
static rgResult rgSolveShares(rgStep* step) {
    rgWorld* world = step->world;
    rgRows* rows = &world->rows;
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        if (point->rebound < 0) {
            double s = world->islands[rgRowIsland(world, point->firstRow)].share;
            rows->bias[point->firstRow + 2] =
                rgRows_Speed(rows, point->firstRow + 2, world->freeV) + (1 - s) * point->restBias +
                s * point->rebound;
        }
    }
    rgResult result = rgStep_Solve(step);
    if (result == rg_ok) {
        rgMeasureIslands(world);
    }
    return result;
}

// Islands whose contacts did work. Rounding and the solver's tolerance are no work.
static bool rgMarkIslands(rgWorld* world) {
    double tolerance = 10 * world->def.contact.tolerance;
    bool any = false;
    for (int i = 0; i < world->model->info.treeCount; ++i) {
        rgIsland* island = &world->islands[i];
        if (island->work > tolerance * island->hits && island->hits > 0) {
            island->limited = any = true;
            island->highWork = island->work;
            island->share = 0;
        }
    }
    return any;
}

// One step of regula falsi on the share; true: not yet close. A contact that leaves a penetration
// works without any rebound; that much stays allowed.
static bool rgNarrowIsland(rgIsland* island, bool first) {
    if (first) {
        island->lowWork = island->work;
        island->allowed = RG_MAX(island->work, 0);
    } else if (island->work <= island->allowed) {
        island->low = island->share;
        island->lowWork = island->work;
    } else {
        island->high = island->share;
        island->highWork = island->work;
    }
    double span = island->highWork - island->lowWork, room = island->allowed - island->lowWork;
    bool closed = !(span > 0) || room <= RG_REBOUND_CLOSE * span;
    // A little on the side that is allowed, so that both sides close in.
    double aim = closed ? 0 : room / span * (1 - 0.5 * RG_REBOUND_CLOSE);
    island->share = island->low + aim * (island->high - island->low);
    return !closed;
}

// (20)
rgResult rgLimitRebounds(rgStep* step) {
    rgWorld* world = step->world;
    bool any = false;
    for (int i = 0; i < world->pointCount && !any; ++i) {
        any = world->points[i].rebound < 0;
    }
    if (!any) {
        return rg_ok;
    }
    rgConnectIslands(world);
    rgMeasureIslands(world);
    rgResult result = rg_ok;
    bool open = rgMarkIslands(world);
    for (int round = 0; open && result == rg_ok; ++round) {
        result = rgSolveShares(step);
        open = false;
        for (int i = 0; i < world->model->info.treeCount && round < RG_REBOUND_ROUNDS; ++i) {
            rgIsland* island = &world->islands[i];
            double solved = island->share;
            bool again = island->limited && rgNarrowIsland(island, round == 0);
            // Out of rounds, or close: what was last allowed.
            island->share = again && round < RG_REBOUND_ROUNDS - 1 ? island->share : island->low;
            open = open || (island->limited && island->share != solved);
        }
    }
    return result;
}
