// Close pairs of a set of placed shapes, through a broadphase of boxes grown by half the distance.
#include "collision/internal.h"

#include <stdlib.h>

static int rgCompareClosePairs(const void* left, const void* right) {
    const rgClosePair *p = left, *q = right;
    if (p->proximity.distance != q->proximity.distance) {
        return p->proximity.distance < q->proximity.distance ? -1 : 1;
    }
    if (p->a != q->a) {
        return p->a < q->a ? -1 : 1;
    }
    return p->b < q->b ? -1 : p->b > q->b;
}

static rgResult rgAddShapes(rgBroadphase* bp, const rgPlacedGeometry* shapes, int count,
                            double grow) {
    rgVec3 g = rgVec(grow, grow, grow);
    for (int i = 0; i < count; ++i) {
        rgBox box = rgGeometry_Box(shapes[i].geometry, shapes[i].pose);
        box.lower = rgSub(box.lower, g);
        box.upper = rgAdd(box.upper, g);
        int proxy;
        rgResult result = rgBroadphase_Add(bp, box, &proxy);
        if (result != rg_ok) {
            return result;
        }
    }
    return rgBroadphase_Update(bp, NULL, NULL);
}

static rgResult rgMeasurePairs(const rgBroadphase* bp, const rgPlacedGeometry* shapes,
                               double maxDistance, rgClosePair* all, int* found) {
    int count;
    const rgProxyPair* pairs = rgBroadphase_Pairs(bp, &count);
    for (int k = 0; k < count; ++k) {
        const rgPlacedGeometry *a = &shapes[pairs[k].a], *b = &shapes[pairs[k].b];
        rgClosePair pair = {.a = pairs[k].a, .b = pairs[k].b};
        rgResult result =
            rgDistance(a->geometry, a->pose, b->geometry, b->pose, NULL, &pair.proximity);
        if (result == rg_ok && pair.proximity.distance <= maxDistance) {
            all[(*found)++] = pair;
        } else if (result != rg_ok && result != rg_errorUnsupported) {
            return result;
        }
    }
    return rg_ok;
}

static rgResult rgFindWith(rgBroadphase* bp, const rgPlacedGeometry* shapes, int shapeCount,
                           double maxDistance, rgClosePair* pairs, int capacity, int* found) {
    rgResult result = rgAddShapes(bp, shapes, shapeCount, 0.5 * RG_MAX(0, maxDistance));
    int candidates = 0;
    if (result == rg_ok) {
        rgBroadphase_Pairs(bp, &candidates);
    }
    rgClosePair* all = rgAllocate(NULL, (size_t)candidates, sizeof(rgClosePair));
    if (all == NULL) {
        return rg_errorMemory;
    }
    if (result == rg_ok) {
        result = rgMeasurePairs(bp, shapes, maxDistance, all, found);
    }
    if (result == rg_ok) {
        qsort(all, (size_t)*found, sizeof(rgClosePair), rgCompareClosePairs);
        for (int k = 0; k < *found && k < capacity; ++k) {
            pairs[k] = all[k];
        }
    }
    rgRelease(NULL, all);
    return result;
}

rgResult rgFindClosePairs(const rgPlacedGeometry* shapes, int shapeCount, double maxDistance,
                          rgClosePair* pairs, int capacity, int* found) {
    if ((shapes == NULL && shapeCount > 0) || shapeCount < 0 || found == NULL || capacity < 0 ||
        (pairs == NULL && capacity > 0) || !(fabs(maxDistance) < 1e30)) {
        return rg_errorArgument;
    }
    *found = 0;
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    def.fatten = def.fattenRelative = 0;
    rgBroadphase* bp = NULL;
    rgResult result = rgCreateBroadphase(&def, &bp);
    if (result == rg_ok) {
        result = rgFindWith(bp, shapes, shapeCount, maxDistance, pairs, capacity, found);
    }
    rgDestroyBroadphase(bp);
    return result;
}
