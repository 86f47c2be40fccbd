// Contacts that the joints around them and their own friction lock, one alone or several together:
// nothing pushes such a wedge out, and nothing asks for it. docs/theory/constraints.md (35), (36).
#include "world/world.h"

#include <string.h>

#define RG_LOCKED       1e-3  // |J' n| over |J_n|, below which nothing moves the contact along n
#define RG_ONE_WAY_LEFT 1e-12 // determinant over squared trace of what both tangents move

// The rows of one contact, which share their columns.
typedef struct rgContactRows {
    int count;
    const double *x, *y, *n;
} rgContactRows;

static double rgDotOf(int count, const double* a, const double* b) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

// (35) The shortest t for which J' (t, 1) is least. False unless that is nothing.
static bool rgFindLocked(const rgContactRows* rows, double t[2]) {
    int count = rows->count;
    double xx = rgDotOf(count, rows->x, rows->x), yy = rgDotOf(count, rows->y, rows->y);
    double xy = rgDotOf(count, rows->x, rows->y), size = xx + yy;
    double xn = rgDotOf(count, rows->x, rows->n), yn = rgDotOf(count, rows->y, rows->n);
    double determinant = xx * yy - xy * xy;
    if (determinant > RG_ONE_WAY_LEFT * size * size) {
        t[0] = (xy * yn - yy * xn) / determinant;
        t[1] = (xy * xn - xx * yn) / determinant;
    } else { // the pseudo-inverse of a matrix of rank one or zero
        double scale = size > 0 ? -1 / (size * size) : 0;
        t[0] = scale * (xx * xn + xy * yn);
        t[1] = scale * (xy * xn + yy * yn);
    }
    double left = 0;
    for (int k = 0; k < count; ++k) {
        double speed = rows->n[k] + t[0] * rows->x[k] + t[1] * rows->y[k];
        left += speed * speed;
    }
    return left <= RG_LOCKED * RG_LOCKED * rgDotOf(count, rows->n, rows->n);
}

void rgFreeWedges(rgWorld* world) {
    rgRows* rows = &world->rows;
    for (int i = 0; i < world->pointCount; ++i) {
        int row = world->points[i].firstRow;
        double mu = world->points[i].mu, t[2];
        double* gamma = rows->bias + row;
        const double* R = rows->compliance + row;
        bool rigid = R[0] == 0 && R[1] == 0 && R[2] == 0;
        if (!rigid || gamma[2] >= mu * sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1])) {
            continue; // asks for nothing, whatever n
        }
        rgContactRows own = {rgRows_Columns(rows, row), rows->value + rows->rowStart[row],
                             rows->value + rows->rowStart[row + 1],
                             rows->value + rows->rowStart[row + 2]};
        if (!rgFindLocked(&own, t)) {
            continue;
        }
        double asked = gamma[2] + t[0] * gamma[0] + t[1] * gamma[1];
        if (asked < 0 && t[0] * t[0] + t[1] * t[1] < mu * mu) {
            gamma[2] -= asked;
            world->points[i].locked = true;
        }
    }
}

// (36) How much less may be asked of a contact. An impact is no penetration, and what yields is
// not jammed.
static double rgReliefOf(const rgWorld* world, const rgPoint* point) {
    const rgRows* rows = &world->rows;
    int normal = point->firstRow + 2;
    bool asks = point->pushesOut && point->rebound == 0 && rows->compliance[normal] == 0;
    return asks ? fmax(rgRows_Speed(rows, normal, world->freeV) - rows->bias[normal], 0) : 0;
}

void rgRelieveKnownJams(rgWorld* world) {
    for (int i = 0; i < world->pointCount; ++i) {
        rgPoint* point = &world->points[i];
        const rgPairMemory* pair = &world->memories[1].pairs[point->pair];
        if (pair->jammed > 0 && pair->yields == 0) {
            double relief = rgReliefOf(world, point);
            world->rows.bias[point->firstRow + 2] += relief;
            point->locked = point->locked || relief > 0;
        }
    }
}

rgResult rgOfferRelief(rgWorld* world, double** relief) {
    bool any = false;
    for (int i = 0; i < world->pointCount && !any; ++i) {
        any = world->points[i].pushesOut;
    }
    *relief = NULL;
    if (!any || world->def.neverSoften) {
        return rg_ok;
    }
    int n = world->rows.rowCount;
    rgResult result = rgReserve(&world->allocator, (void**)&world->relief, &world->reliefCapacity,
                                0, n, sizeof(double));
    if (result != rg_ok) {
        return result;
    }
    memset(world->relief, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        world->relief[point->firstRow + 2] = rgReliefOf(world, point);
    }
    *relief = world->relief;
    return rg_ok;
}

void rgTakeRelief(rgWorld* world, const double* relief) {
    for (int i = 0, count; i < world->pointCount; i += count) {
        count = world->points[i].pointCount;
        bool jams = false;
        for (int k = i; k < i + count; ++k) {
            int normal = world->points[k].firstRow + 2;
            world->rows.bias[normal] += relief[normal];
            world->points[k].locked = world->points[k].locked || relief[normal] > 0;
            jams = jams || relief[normal] > 0;
        }
        if (jams) {
            rgJamPair(world, i, false);
        }
    }
}

int rgCountLocked(const rgWorld* world) {
    int count = 0;
    for (int i = 0; i < world->pointCount; ++i) {
        count += world->points[i].locked;
    }
    return count;
}
