// Where the rigid problem has no solution, or none was found: jammed bodies that cannot be pushed
// out, parts that overlap by design. Those contacts, and no others, yield a little, and the report
// says so. docs/theory/constraints.md (17).
#include "world/world.h"

#define RG_JAM_COMPLIANCE 1e-6 // relative to the diagonal of G
#define RG_JAM_LOAD       10   // velocities V that contacts stop by themselves; the rest braces

// |W|^2 of a row
static double rgWorld_WhitenedDelassus(const rgWorld* world, int row) {
    double sum = 0;
    for (int k = world->rows.rowStart[row]; k < world->rows.rowStart[row + 1]; ++k) {
        sum += world->whitened[k] * world->whitened[k];
    }
    return sum;
}

// R of a contact that yields
static double rgYield(const rgWorld* world, int normal) {
    return RG_JAM_COMPLIANCE * rgWorld_WhitenedDelassus(world, normal);
}

// The contacts of one pair, from point i on.
static int rgSoftenPair(rgWorld* world, int i) {
    int count = 0;
    for (int k = i; k < i + world->points[i].pointCount; ++k) {
        int normal = world->points[k].firstRow + 2;
        double R = rgYield(world, normal);
        if (world->rows.compliance[normal] == 0 && R > 0) {
            world->rows.compliance[normal] = R;
            world->points[k].softened = true;
            ++count;
        }
    }
    return count;
}

// Where a certificate names blocks: those. Else all that want to leave a penetration.
static bool rgPairJams(const rgWorld* world, int i, const rgContactReport* report) {
    const rgPoint* points = world->points;
    bool jams = false;
    for (int k = i; k < i + points[i].pointCount; ++k) {
        for (int c = 0; c < report->conflictCount; ++c) {
            jams = jams || world->rows.blocks[report->conflict[c]].firstRow == points[k].firstRow;
        }
        jams = jams || (report->conflictCount == 0 && (points[k].pushesOut || points[k].overlaps));
    }
    return jams;
}

static rgPairMemory* rgPairOfPoint(const rgWorld* world, int i) {
    return &world->memories[1].pairs[world->points[i].pair];
}

// What they would leave wrong, as a residual. Under the present impulses, but contacts that yield
// do not brace bodies against each other.
static double rgYieldError(const rgWorld* world, const rgContactReport* report) {
    double worst = 0;
    for (int i = 0; i < world->pointCount; i += world->points[i].pointCount) {
        for (int k = i; rgPairJams(world, i, report) && k < i + world->points[i].pointCount; ++k) {
            int normal = world->points[k].firstRow + 2;
            worst = fmax(worst, world->rows.lambda[normal] * rgYield(world, normal));
        }
    }
    return fmin(worst / report->residual.reference, RG_JAM_LOAD * RG_JAM_COMPLIANCE);
}

// For one step, and for twice as many each time that it is found again: what is jammed for good
// does not cost a failed solve in every step.
void rgJamPair(rgWorld* world, int i, bool yields) {
    rgPairMemory* pair = rgPairOfPoint(world, i);
    pair->jams = RG_MIN(pair->jams + 1, RG_JAM_LEVELS);
    pair->jammed = 1 << (pair->jams - 1); // this step is one of them
    pair->yields = yields;
}

int rgSoftenKnownJams(rgWorld* world) {
    int count = 0;
    for (int i = 0; i < world->pointCount && !world->def.neverSoften;
         i += world->points[i].pointCount) {
        const rgPairMemory* pair = rgPairOfPoint(world, i);
        if (pair->jammed > 0 && pair->yields) {
            count += rgSoftenPair(world, i);
        }
    }
    return count;
}

// Where nothing is proven and the rigid solve came nearer than yielding would, nothing yields.
int rgSoftenNewJams(rgWorld* world, const rgContactReport* report) {
    int count = 0;
    if (report->conflictCount == 0 && report->residual.total <= rgYieldError(world, report)) {
        return 0;
    }
    for (int i = 0; i < world->pointCount && !world->def.neverSoften;
         i += world->points[i].pointCount) {
        int softened = rgPairJams(world, i, report) ? rgSoftenPair(world, i) : 0;
        if (softened > 0) {
            rgJamPair(world, i, true);
        }
        count += softened;
    }
    return count;
}

void rgForgetJams(rgWorld* world) {
    for (int i = 0; i < world->pointCount; i += world->points[i].pointCount) {
        if (rgPairOfPoint(world, i)->jammed > 0) {
            return;
        }
    }
    for (int i = 0; i < world->pointCount; i += world->points[i].pointCount) {
        rgPairOfPoint(world, i)->jams = 0;
    }
}
