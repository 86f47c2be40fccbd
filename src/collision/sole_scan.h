// Body of the search for the vertices near a plane, for each instruction set. rgFour is four
// numbers, with rgFour_...() for arithmetic: the same operations, hence the same results.
#pragma once
#include "collision/sole.h"

typedef struct rgSoleScan {
    rgFour dx, dy, dz, offset, margin;
    rgFour t1[3], t2[3];
    const rgSolePlane* plane;
} rgSoleScan;

static inline void rgSole_Put(rgSole* sole, int at, double x, double y, double gap,
                              int32_t vertex) {
    sole->x[at] = x;
    sole->y[at] = y;
    sole->gap[at] = gap;
    sole->vertices[at] = vertex;
}

static inline rgFour rgAlongFour(rgFour a, rgFour x, rgFour b, rgFour y, rgFour c, rgFour z) {
    return rgFour_Add(rgFour_Add(rgFour_Multiply(a, x), rgFour_Multiply(b, y)),
                      rgFour_Multiply(c, z));
}

// Squared distance to the farthest from the lowest vertex.
static double rgSole_Size(const rgSole* sole, const rgSolePlane* plane) {
    rgFour most = rgFour_All(0), x0 = rgFour_All(plane->x), y0 = rgFour_All(plane->y);
    for (int k = 0; k < sole->count; k += 4) {
        rgFour x = rgFour_Subtract(rgFour_Load(sole->x + k), x0);
        rgFour y = rgFour_Subtract(rgFour_Load(sole->y + k), y0);
        most = rgFour_Larger(rgFour_Add(rgFour_Multiply(x, x), rgFour_Multiply(y, y)), most);
    }
    double parts[4];
    rgFour_Store(parts, most);
    return RG_MAX(RG_MAX(parts[0], parts[1]), RG_MAX(parts[2], parts[3]));
}

#define RG_SOLE_SIDES 9

// Places of the lowest, and of the one that is farthest to each of eight sides.
static void rgSole_Extremes(const rgSole* sole, double slope, int places[RG_SOLE_SIDES]) {
    rgFour most[RG_SOLE_SIDES], at[RG_SOLE_SIDES];
    for (int i = 0; i < RG_SOLE_SIDES; ++i) {
        most[i] = rgFour_All(-INFINITY);
        at[i] = rgFour_All(0);
    }
    rgFour weight = rgFour_All(slope), half = rgFour_All(0.70710678118654752), none = rgFour_All(0);
    double numbers[4] = {0, 1, 2, 3};
    rgFour here = rgFour_Load(numbers), four = rgFour_All(4);
    for (int k = 0; k < sole->count; k += 4, here = rgFour_Add(here, four)) {
        rgFour down = rgFour_Subtract(none, rgFour_Load(sole->gap + k));
        rgFour x = rgFour_Load(sole->x + k), y = rgFour_Load(sole->y + k);
        rgFour p = rgFour_Multiply(half, rgFour_Add(x, y));
        rgFour q = rgFour_Multiply(half, rgFour_Subtract(x, y)), w = rgFour_Multiply(weight, down);
        rgFour values[RG_SOLE_SIDES] = {down,
                                        rgFour_Add(w, x),
                                        rgFour_Subtract(w, x),
                                        rgFour_Add(w, y),
                                        rgFour_Subtract(w, y),
                                        rgFour_Add(w, p),
                                        rgFour_Subtract(w, p),
                                        rgFour_Add(w, q),
                                        rgFour_Subtract(w, q)};
        for (int i = 0; i < RG_SOLE_SIDES; ++i) {
            at[i] = rgFour_Choose(values[i], most[i], here, at[i]);
            most[i] = rgFour_Larger(values[i], most[i]);
        }
    }
    for (int i = 0; i < RG_SOLE_SIDES; ++i) {
        double value[4], place[4];
        rgFour_Store(value, most[i]);
        rgFour_Store(place, at[i]);
        int best = 0;
        for (int k = 1; k < 4; ++k) {
            bool same = value[k] == value[best] && place[k] < place[best];
            best = value[k] > value[best] || same ? k : best;
        }
        places[i] = (int)place[best];
    }
}

static void rgSole_ThinWith(rgSole* sole, const rgSolePlane* plane) {
    int last = sole->count - 1, places[RG_SOLE_SIDES], count = 0;
    for (int k = sole->count; k % 4 != 0; ++k) {
        rgSole_Put(sole, k, sole->x[last], sole->y[last], sole->gap[last], sole->vertices[last]);
    }
    double room = plane->margin - plane->least;
    rgSole_Extremes(sole, room > 0 ? 0.5 * sqrt(rgSole_Size(sole, plane)) / room : 0, places);
    rgSole kept;
    for (int i = 0; i < RG_SOLE_SIDES; ++i) {
        int from = places[i];
        bool known = false;
        for (int j = 0; j < i; ++j) {
            known = known || sole->vertices[places[j]] == sole->vertices[from];
        }
        rgSole_Put(&kept, count, sole->x[from], sole->y[from], sole->gap[from],
                   sole->vertices[from]);
        count += !known;
    }
    for (int k = 0; k < count; ++k) {
        rgSole_Put(sole, k, kept.x[k], kept.y[k], kept.gap[k], kept.vertices[k]);
    }
    sole->count = count;
    sole->thinned = true;
}

static void rgSole_AddBlock(rgSole* sole, const rgSoleScan* s, const rgHullBlocks* blocks,
                            int block, int count) {
    if (sole->count > RG_SOLE_LIMIT - RG_BLOCK_SIZE) {
        rgSole_ThinWith(sole, s->plane);
    }
    int used = sole->count, first = block * RG_BLOCK_SIZE;
    const double *xs = blocks->points[0], *ys = blocks->points[1], *zs = blocks->points[2];
    for (int k = first; k < first + count; k += 4) {
        rgFour x = rgFour_Load(xs + k), y = rgFour_Load(ys + k), z = rgFour_Load(zs + k);
        rgFour gap = rgFour_Add(rgAlongFour(s->dx, x, s->dy, y, s->dz, z), s->offset);
        unsigned low = rgFour_NotAbove(gap, s->margin);
        low &= (1u << RG_MIN(first + count - k, 4)) - 1;
        if (low == 0) {
            continue;
        }
        double u[4], v[4], g[4];
        rgFour_Store(u, rgAlongFour(s->t1[0], x, s->t1[1], y, s->t1[2], z));
        rgFour_Store(v, rgAlongFour(s->t2[0], x, s->t2[1], y, s->t2[2], z));
        rgFour_Store(g, gap);
        for (; low != 0; low &= low - 1) {
            int i = __builtin_ctz(low);
            rgSole_Put(sole, used++, u[i], v[i], g[i], blocks->vertices[k + i]);
        }
    }
    sole->count = used;
}

// The height of a block's box is rounded as those of its vertices, hence no higher than any.
static void rgFindSoleWith(const rgHull* hull, const rgSolePlane* plane, rgSole* sole) {
    rgVec3 d = plane->d, t1 = plane->t1, t2 = plane->t2;
    rgSoleScan s = {.dx = rgFour_All(d.x),
                    .dy = rgFour_All(d.y),
                    .dz = rgFour_All(d.z),
                    .offset = rgFour_All(plane->offset),
                    .margin = rgFour_All(plane->margin),
                    .t1 = {rgFour_All(t1.x), rgFour_All(t1.y), rgFour_All(t1.z)},
                    .t2 = {rgFour_All(t2.x), rgFour_All(t2.y), rgFour_All(t2.z)},
                    .plane = plane};
    const rgHullBlocks* blocks = &hull->blocks;
    const double* x = d.x > 0 ? blocks->lower[0] : blocks->upper[0];
    const double* y = d.y > 0 ? blocks->lower[1] : blocks->upper[1];
    const double* z = d.z > 0 ? blocks->lower[2] : blocks->upper[2];
    sole->count = 0;
    sole->thinned = false;
    for (int b = 0; b < blocks->count; b += 4) {
        rgFour bottom = rgAlongFour(s.dx, rgFour_Load(x + b), s.dy, rgFour_Load(y + b), s.dz,
                                    rgFour_Load(z + b));
        unsigned low = rgFour_NotAbove(rgFour_Add(bottom, s.offset), s.margin);
        low &= (1u << RG_MIN(blocks->count - b, 4)) - 1;
        for (; low != 0; low &= low - 1) {
            int block = b + __builtin_ctz(low);
            int left = hull->vertexCount - block * RG_BLOCK_SIZE;
            rgSole_AddBlock(sole, &s, blocks, block, RG_MIN(RG_BLOCK_SIZE, left));
        }
    }
    if (sole->count > RG_SOLE_FEW) {
        rgSole_ThinWith(sole, plane);
    }
}
