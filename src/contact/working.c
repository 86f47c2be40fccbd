// Contacts that wait. docs/theory/auto.md.
#include "contact/working.h"

#include <math.h>
#include <string.h>

#define RG_WAITING_ROUNDS 3   // after which all join
#define RG_WAITING_SETS   100 // in larger islands all take part: the interior point likes company

// Fastest speed at which a contact of the island would close.
static double rgWorking_ClosingSpeed(const rgWorking* working) {
    double speed = 0;
    for (int i = 0; i < working->count; ++i) {
        const rgSetSource* set = working->layout->sets + working->members[i];
        if (working->problem->blocks[set->block].kind == rg_blockCoulomb) {
            double normal = working->problem->freeVelocity[set->firstRow + 2];
            speed = RG_MAX(speed, -normal);
        }
    }
    return speed;
}

static void rgWorking_Screen(rgWorking* working, double* lambda) {
    const rgContactProblem* problem = working->problem;
    double limit = rgWorking_ClosingSpeed(working);
    int count = working->count;
    working->count = 0;
    for (int i = 0; i < count; ++i) {
        int member = working->members[i];
        const rgSetSource* set = working->layout->sets + member;
        int normal = set->firstRow + 2;
        bool waits = problem->blocks[set->block].kind == rg_blockCoulomb && limit > 0 &&
                     lambda[normal] == 0 && problem->freeVelocity[normal] > limit;
        if (waits) {
            working->waiting[working->waitingCount++] = member;
            memset(lambda + set->firstRow, 0, (size_t)set->rowCount * sizeof(double));
        } else {
            working->members[working->count++] = member;
        }
    }
}

rgResult rgWorking_Init(rgWorking* working, const rgContactProblem* problem, const rgLayout* layout,
                        int island, double* lambda, bool screen, rgArena* arena) {
    int first = layout->islandStart[island];
    int count = layout->islandStart[island + 1] - first;
    *working = (rgWorking){.problem = problem, .layout = layout, .count = count};
    screen = screen && count <= RG_WAITING_SETS;
    working->members = RG_TAKE(arena, int, count);
    if (screen) {
        working->waiting = RG_TAKE(arena, int, count);
        working->velocity = RG_TAKE(arena, double, problem->delassus.jacobian.columnCount);
    }
    if (arena->failed) {
        return rg_errorMemory;
    }
    memcpy(working->members, layout->members + first, (size_t)count * sizeof(int));
    if (screen) {
        rgWorking_Screen(working, lambda);
    }
    return rg_ok;
}

// v = W' lambda, where the island's rows touch it
static void rgWorking_ComputeVelocity(rgWorking* working, const double* lambda) {
    const rgDelassus* delassus = &working->problem->delassus;
    const int* start = delassus->jacobian.rowStart;
    const int* column = delassus->jacobian.column;
    for (int i = 0; i < working->waitingCount; ++i) {
        int row = working->layout->sets[working->waiting[i]].firstRow + 2;
        for (int k = start[row]; k < start[row + 1]; ++k) {
            working->velocity[column[k]] = 0;
        }
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < working->count; ++i) {
            const rgSetSource* set = working->layout->sets + working->members[i];
            for (int row = set->firstRow; row < set->firstRow + set->rowCount; ++row) {
                for (int k = start[row]; lambda[row] != 0 && k < start[row + 1]; ++k) {
                    double* v = working->velocity + column[k];
                    *v = pass == 0 ? 0 : *v + delassus->whitened[k] * lambda[row];
                }
            }
        }
    }
}

static bool rgWorking_Closes(const rgWorking* working, int set) {
    const rgDelassus* delassus = &working->problem->delassus;
    int row = working->layout->sets[set].firstRow + 2;
    double sigma = working->problem->freeVelocity[row];
    for (int k = delassus->jacobian.rowStart[row]; k < delassus->jacobian.rowStart[row + 1]; ++k) {
        sigma += delassus->whitened[k] * working->velocity[delassus->jacobian.column[k]];
    }
    return !(sigma >= 0);
}

// Put a set among the members, in order.
static void rgWorking_Join(rgWorking* working, int set) {
    int at = working->count++;
    for (; at > 0 && working->members[at - 1] > set; --at) {
        working->members[at] = working->members[at - 1];
    }
    working->members[at] = set;
}

void rgWorking_Drop(rgWorking* working, const bool* drop) {
    int count = working->count;
    working->count = 0;
    for (int i = 0; i < count; ++i) {
        if (!drop[i]) {
            working->members[working->count++] = working->members[i];
        }
    }
}

bool rgWorking_Admit(rgWorking* working, const double* lambda) {
    if (working->waitingCount == 0) {
        return false;
    }
    rgWorking_ComputeVelocity(working, lambda);
    bool all = ++working->rounds > RG_WAITING_ROUNDS, any = false;
    int count = working->waitingCount;
    for (int i = 0; i < count && !any; ++i) {
        any = rgWorking_Closes(working, working->waiting[i]);
    }
    working->waitingCount = 0;
    for (int i = 0; i < count; ++i) {
        int set = working->waiting[i];
        if (any && (all || rgWorking_Closes(working, set))) {
            rgWorking_Join(working, set);
        } else {
            working->waiting[working->waitingCount++] = set;
        }
    }
    return any;
}
