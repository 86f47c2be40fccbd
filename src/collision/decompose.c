// Approximate convex decomposition: a solid of triangles becomes few hulls that cover it and reach
// no further into its hollows than a share of its size. docs/theory/collision.md, "Hollow bodies".
#include "collision/internal.h"

#include <string.h>

#define RG_DECOMPOSE_COOKIE 0x68756c6cu
#define RG_CUTS             20 // cuts tried across an axis, evenly
#define RG_LEVELS           8  // and at the largest faces that lie across it
#define RG_BORDERS          (RG_CUTS + RG_LEVELS)
#define RG_SEEN             64   // levels compared
#define RG_ROUNDS           4    // rounds of cutting and joining
#define RG_ON_CUT           1e-9 // relative: a corner this close to a cut is on it
#define RG_LOOKS            64   // directions in which slices are measured
#define RG_PROBES           1500 // points at which hollows are measured, about
#define RG_ESCAPES          24   // rays that test whether a point can be reached from outside

typedef struct rgShard {
    rgVec3 corners[3];
    int32_t triangle; // triangle of the mesh
} rgShard;

// A point of the surface that can be touched from outside, and how far it is along its normal to
// the surface again.
typedef struct rgProbe {
    rgVec3 p, normal;
    double free;
    double hollow; // rgDecomposer_Excess
} rgProbe;

// Contents of a box: triangles cut to it, and the corners of the box inside the solid.
typedef struct rgPart {
    int count, capacity;
    rgShard* shards;
    int innerCount, innerCapacity;
    rgVec3* inner;
    rgBox box;
    rgGeometry* hull;
    double volume;
    double blame; // depth of hollows it fills, summed over probes
    bool whole;   // cannot be cut
} rgPart;

typedef struct rgDecomposer {
    const rgDecomposeDef* def;
    rgAllocator allocator;
    rgGeometry* mesh;
    int probeCount, probeCapacity;
    rgProbe* probes;
    rgVec3 looks[RG_LOOKS];
    double size;
    int partCount;
    rgPart* parts; // def->maxHulls + 1
    bool* apart;   // pairs of parts that were not joined, def->maxHulls squared
    rgResult result;
} rgDecomposer;

struct rgDecomposition {
    rgAllocator allocator;
    int count;
    rgGeometry** hulls;
    double hollow;
};

rgDecomposeDef rgDefaultDecomposeDef(void) {
    return (rgDecomposeDef){.tolerance = 0.03, .maxHulls = 32, .cookie = RG_DECOMPOSE_COOKIE};
}

// ---- parts

static void rgPart_Free(rgDecomposer* c, rgPart* part) {
    rgRelease(&c->allocator, part->shards);
    rgRelease(&c->allocator, part->inner);
    rgDestroyGeometry(part->hull);
    *part = (rgPart){0};
}

static void rgPart_Add(rgDecomposer* c, rgPart* part, rgVec3 p, rgVec3 q, rgVec3 r,
                       int32_t triangle) {
    rgResult result = rgReserve(&c->allocator, (void**)&part->shards, &part->capacity, part->count,
                                part->count + 1, sizeof(rgShard));
    if (result != rg_ok) {
        c->result = result;
        return;
    }
    part->shards[part->count++] = (rgShard){{p, q, r}, triangle};
}

static void rgPart_AddInner(rgDecomposer* c, rgPart* part, rgVec3 p) {
    rgResult result = rgReserve(&c->allocator, (void**)&part->inner, &part->innerCapacity,
                                part->innerCount, part->innerCount + 1, sizeof(rgVec3));
    if (result != rg_ok) {
        c->result = result;
        return;
    }
    part->inner[part->innerCount++] = p;
}

// Inside by the winding number, which small gaps between triangles do not upset.
static bool rgIsInSolid(const rgDecomposer* c, rgVec3 p) {
    const rgTriangles* t = &c->mesh->triangles;
    double sum = 0;
    for (int i = 0; i < t->triangleCount; ++i) {
        rgSurfaceTriangle s;
        rgTriangles_Get(t, i, &s);
        rgVec3 u = rgSub(s.corners[0], p), v = rgSub(s.corners[1], p), w = rgSub(s.corners[2], p);
        double lu = rgLength(u), lv = rgLength(v), lw = rgLength(w);
        sum += atan2(rgDot(u, rgCross(v, w)),
                     lu * lv * lw + rgDot(u, v) * lw + rgDot(v, w) * lu + rgDot(w, u) * lv);
    }
    return sum > 3.141592653589793; // half of a whole turn of 2 pi
}

// Corners of the box that have the solid on this part's side.
static void rgPart_FindInner(rgDecomposer* c, rgPart* part) {
    double in = 1e-6 * c->size;
    for (int k = 0; k < 8; ++k) {
        rgVec3 p = rgVec(k & 1 ? part->box.upper.x : part->box.lower.x,
                         k & 2 ? part->box.upper.y : part->box.lower.y,
                         k & 4 ? part->box.upper.z : part->box.lower.z);
        rgVec3 within = rgAdd(p, rgVec(k & 1 ? -in : in, k & 2 ? -in : in, k & 4 ? -in : in));
        if (rgIsFinite(p) && rgIsInSolid(c, within)) {
            rgPart_AddInner(c, part, p);
        }
    }
}

static double rgHullVolume(const rgGeometry* g) {
    const rgHull* hull = &g->hull;
    rgVec3 base = rgVec(hull->vertices[0], hull->vertices[1], hull->vertices[2]);
    double six = 0;
    for (int f = 0; f < hull->faceCount; ++f) {
        const int* v = hull->faceVertices + hull->faceStart[f];
        int count = hull->faceStart[f + 1] - hull->faceStart[f];
        const double* a = hull->vertices + 3 * v[0];
        rgVec3 p = rgSub(rgVec(a[0], a[1], a[2]), base);
        for (int k = 1; k + 1 < count; ++k) {
            const double *b = hull->vertices + 3 * v[k], *d = hull->vertices + 3 * v[k + 1];
            rgVec3 q = rgSub(rgVec(b[0], b[1], b[2]), base);
            rgVec3 r = rgSub(rgVec(d[0], d[1], d[2]), base);
            six += rgDot(p, rgCross(q, r));
        }
    }
    return six / 6;
}

// NULL when the points are flat, or too few.
static rgGeometry* rgHullOfPoints(rgDecomposer* c, const rgVec3* points, int count) {
    rgGeometryDef def = rgDefaultGeometryDef();
    rgMeshData data = {.vertexCount = count, .vertices = &points[0].x};
    rgGeometry* hull = NULL;
    def.kind = rg_shapeHull;
    def.mesh = &data;
    def.allocator = c->allocator;
    rgResult result = count >= 4 ? rgCreateGeometry(&def, NULL, &hull) : rg_errorArgument;
    c->result = result == rg_errorMemory ? result : c->result;
    return result == rg_ok ? hull : NULL;
}

static void rgPart_MakeHull(rgDecomposer* c, rgPart* part) {
    int count = 0;
    rgVec3* points = rgAllocate(&c->allocator, 3 * (size_t)part->count + (size_t)part->innerCount,
                                sizeof(rgVec3));
    if (points == NULL) {
        c->result = rg_errorMemory;
        return;
    }
    for (int i = 0; i < part->count; ++i) {
        for (int k = 0; k < 3; ++k) {
            points[count++] = part->shards[i].corners[k];
        }
    }
    for (int i = 0; i < part->innerCount; ++i) {
        points[count++] = part->inner[i];
    }
    rgDestroyGeometry(part->hull);
    part->hull = rgHullOfPoints(c, points, count);
    part->volume = part->hull != NULL ? rgHullVolume(part->hull) : 0;
    rgRelease(&c->allocator, points);
}

// ---- hollows

// Exit of a ray from p from a hull that holds the point at `from`; `from` when it holds it not.
static double rgRayExit(const rgGeometry* g, rgVec3 p, rgVec3 d, double from, double slack) {
    const rgHull* hull = &g->hull;
    double to = INFINITY;
    for (int f = 0; f < hull->faceCount; ++f) {
        double speed = rgDot(hull->faceNormal[f], d);
        double room = hull->faceOffset[f] - rgDot(hull->faceNormal[f], p);
        if (room - from * speed < -slack) {
            return from;
        }
        if (speed > 1e-12 && room < to * speed) {
            to = room / speed;
        }
    }
    return RG_MAX(from, to);
}

// A box around the hull, with room to spare, holds the point. Hulls far from a probe are most.
static bool rgMayHold(const rgGeometry* g, rgVec3 p, double room) {
    const rgBox* box = &g->box;
    return p.x > box->lower.x - room && p.y > box->lower.y - room && p.z > box->lower.z - room &&
           p.x < box->upper.x + room && p.y < box->upper.y + room && p.z < box->upper.z + room;
}

// Along the normal from a probe, as long as any hull covers the way, or up to the surface again.
// The hulls that cover it are to blame if that is too far.
static double rgHollowAt(const rgDecomposer* c, const rgProbe* probe, bool blame) {
    double at = 0, slack = 1e-7 * c->size;
    for (int round = 0; round < c->partCount && at < probe->free; ++round) {
        double next = at;
        rgVec3 here = rgAddScaled(probe->p, at, probe->normal);
        int by = -1;
        for (int i = 0; i < c->partCount; ++i) {
            if (!rgMayHold(c->parts[i].hull, here, 1e-4 * c->size)) {
                continue;
            }
            double to = rgRayExit(c->parts[i].hull, probe->p, probe->normal, at, slack);
            if (to > next) {
                next = to;
                by = i;
            }
        }
        if (by < 0 || next - at < slack) {
            break;
        }
        next = RG_MIN(next, probe->free);
        if (blame) {
            c->parts[by].blame += next - at;
        }
        at = next;
    }
    return at;
}

static double rgDecomposer_Hollow(const rgDecomposer* c) {
    double most = 0;
    for (int i = 0; i < c->probeCount; ++i) {
        most = RG_MAX(most, rgHollowAt(c, &c->probes[i], false));
    }
    return most;
}

// Depth of filled hollows above the tolerance, summed over the probes.
static double rgDecomposer_Excess(rgDecomposer* c) {
    double sum = 0;
    for (int i = 0; i < c->probeCount; ++i) {
        rgProbe* probe = &c->probes[i];
        probe->hollow = rgHollowAt(c, probe, false);
        sum += RG_MAX(0, probe->hollow - c->def->tolerance * c->size);
    }
    return sum;
}

// The way from a probe to the surface again goes through a hull.
static bool rgProbe_Meets(const rgProbe* probe, const rgGeometry* g, double slack) {
    const rgHull* hull = &g->hull;
    double enter = 0, exit = probe->free;
    for (int f = 0; f < hull->faceCount && enter <= exit; ++f) {
        double speed = rgDot(hull->faceNormal[f], probe->normal);
        double room = hull->faceOffset[f] - rgDot(hull->faceNormal[f], probe->p) + slack;
        if (speed > 0) {
            exit = RG_MIN(exit, room / speed);
        } else if (speed < 0) {
            enter = RG_MAX(enter, room / speed);
        } else if (room < 0) {
            return false;
        }
    }
    return enter <= exit;
}

// rgDecomposer_Excess after two parts became one hull is at most that before. Hollows away from the
// hull are those that rgDecomposer_Excess has measured.
static bool rgDecomposer_KeepsExcess(const rgDecomposer* c, const rgGeometry* joined,
                                     double allowed) {
    double sum = 0;
    for (int i = 0; i < c->probeCount && sum <= allowed; ++i) {
        const rgProbe* probe = &c->probes[i];
        double hollow = rgProbe_Meets(probe, joined, 2e-7 * c->size) ? rgHollowAt(c, probe, false)
                                                                     : probe->hollow;
        sum += RG_MAX(0, hollow - c->def->tolerance * c->size);
    }
    return sum <= allowed;
}

// The deepest hollow that is filled; and by whom, where it is more than allowed.
static double rgDecomposer_Assign(rgDecomposer* c) {
    double most = 0;
    for (int i = 0; i < c->partCount; ++i) {
        c->parts[i].blame = 0;
    }
    for (int i = 0; i < c->probeCount; ++i) {
        double hollow = rgHollowAt(c, &c->probes[i], false);
        most = RG_MAX(most, hollow);
        if (hollow > c->def->tolerance * c->size) {
            rgHollowAt(c, &c->probes[i], true);
        }
    }
    return most;
}

// ---- cuts

// Farthest points of a slice, by direction.
typedef struct rgSlice {
    bool any;
    double reach[RG_LOOKS];
    rgVec3 points[RG_LOOKS];
} rgSlice;

static void rgSlice_Add(const rgDecomposer* c, rgSlice* slice, rgVec3 p) {
    for (int d = 0; d < RG_LOOKS; ++d) {
        double reach = rgDot(c->looks[d], p);
        if (!slice->any || reach > slice->reach[d]) {
            slice->reach[d] = reach;
            slice->points[d] = p;
        }
    }
    slice->any = true;
}

static void rgSlice_Join(rgSlice* into, const rgSlice* other) {
    for (int d = 0; d < RG_LOOKS && other->any; ++d) {
        if (!into->any || other->reach[d] > into->reach[d]) {
            into->reach[d] = other->reach[d];
            into->points[d] = other->points[d];
        }
    }
    into->any = into->any || other->any;
}

// Volume of the hull of a slice; 0 when it is flat.
static double rgSlice_Volume(rgDecomposer* c, const rgSlice* slice) {
    rgVec3 points[RG_LOOKS];
    int count = 0;
    for (int d = 0; d < RG_LOOKS && slice->any; ++d) {
        const rgVec3* p = &slice->points[d];
        int k = 0;
        while (k < count && (points[k].x != p->x || points[k].y != p->y || points[k].z != p->z)) {
            ++k;
        }
        points[k] = *p;
        count += k == count;
    }
    rgGeometry* hull = count > 0 ? rgHullOfPoints(c, points, count) : NULL;
    double volume = hull != NULL ? rgHullVolume(hull) : 0;
    rgDestroyGeometry(hull);
    return volume;
}

typedef struct rgCut {
    int axis;
    double at, cost;
} rgCut;

// Slices of a part across an axis, between borders, and the outlines of its triangles on the
// borders.
typedef struct rgSlices {
    int axis, count; // borders
    double at[RG_BORDERS];
    rgSlice within[RG_BORDERS + 1], border[RG_BORDERS];
    rgSlice left[RG_BORDERS + 1], right[RG_BORDERS + 2];
} rgSlices;

static void rgSlices_AddBorder(rgSlices* s, double at, double least) {
    int k = s->count;
    for (int i = 0; i < s->count; ++i) {
        if (fabs(s->at[i] - at) < least) {
            return;
        }
    }
    for (; k > 0 && s->at[k - 1] > at; --k) {
        s->at[k] = s->at[k - 1];
    }
    s->at[k] = at;
    s->count += 1;
}

typedef struct rgLevel {
    double at, area;
} rgLevel;

// Faces across the axis, by height: where a shape changes, a cut there leaves nothing over.
static int rgFindLevels(const rgDecomposer* c, const rgPart* part, int axis,
                        rgLevel levels[RG_SEEN]) {
    int count = 0;
    for (int i = 0; i < part->count; ++i) {
        const rgShard* s = &part->shards[i];
        if (fabs(rgVec3_At(c->mesh->triangles.normal[s->triangle], axis)) < 0.999) {
            continue;
        }
        double at = rgVec3_At(s->corners[0], axis);
        double area = rgLength(
            rgCross(rgSub(s->corners[1], s->corners[0]), rgSub(s->corners[2], s->corners[0])));
        int k = 0;
        while (k < count && fabs(levels[k].at - at) > 1e-6 * c->size) {
            k += 1;
        }
        if (k == count && count < RG_SEEN) {
            levels[count++] = (rgLevel){at, 0};
        }
        if (k < count) {
            levels[k].area += area;
        }
    }
    return count;
}

static void rgSlices_SetBorders(const rgDecomposer* c, const rgPart* part, int axis, rgSlices* s) {
    double low = rgVec3_At(part->hull->box.lower, axis);
    double high = rgVec3_At(part->hull->box.upper, axis), least = 1e-3 * (high - low);
    rgLevel levels[RG_SEEN];
    int count = rgFindLevels(c, part, axis, levels);
    s->axis = axis;
    s->count = 0;
    for (int k = 0; k < RG_LEVELS; ++k) {
        int best = -1;
        for (int i = 0; i < count; ++i) {
            bool inside = levels[i].at > low + least && levels[i].at < high - least;
            if (inside && levels[i].area > (best < 0 ? 0 : levels[best].area)) {
                best = i;
            }
        }
        if (best >= 0) {
            rgSlices_AddBorder(s, levels[best].at, least);
            levels[best].area = 0;
        }
    }
    for (int k = 1; k <= RG_CUTS; ++k) {
        rgSlices_AddBorder(s, low + (high - low) * k / (RG_CUTS + 1), least);
    }
}

// Corners on a border belong to the side where their triangle is, or the solid behind it.
static void rgSlices_AddCorner(const rgDecomposer* c, rgSlices* s, rgVec3 p, const double range[2],
                               double normal) {
    double x = rgVec3_At(p, s->axis), on = RG_ON_CUT * c->size;
    int k = 0;
    while (k < s->count && s->at[k] < x - on) {
        k += 1;
    }
    if (k == s->count || s->at[k] > x + on) {
        rgSlice_Add(c, &s->within[k], p);
        return;
    }
    bool below = range[0]<s->at[k] - on, above = range[1]> s->at[k] + on;
    if (below || (!above && normal > 0)) {
        rgSlice_Add(c, &s->within[k], p);
    }
    if (above || (!below && normal <= 0)) {
        rgSlice_Add(c, &s->within[k + 1], p);
    }
}

static void rgSlices_AddShard(const rgDecomposer* c, rgSlices* s, const rgShard* shard) {
    double x[3], on = RG_ON_CUT * c->size;
    for (int k = 0; k < 3; ++k) {
        x[k] = rgVec3_At(shard->corners[k], s->axis);
    }
    double range[2] = {RG_MIN(x[0], RG_MIN(x[1], x[2])), RG_MAX(x[0], RG_MAX(x[1], x[2]))};
    double normal = rgVec3_At(c->mesh->triangles.normal[shard->triangle], s->axis);
    for (int k = 0; k < 3; ++k) {
        int next = (k + 1) % 3;
        rgVec3 p = shard->corners[k], q = shard->corners[next];
        rgSlices_AddCorner(c, s, p, range, normal);
        for (int b = 0; b < s->count; ++b) {
            if (RG_MIN(x[k], x[next]) < s->at[b] - on && RG_MAX(x[k], x[next]) > s->at[b] + on) {
                double part = (s->at[b] - x[k]) / (x[next] - x[k]);
                rgSlice_Add(c, &s->border[b], rgAddScaled(p, part, rgSub(q, p)));
            }
        }
    }
}

static void rgTryAxis(rgDecomposer* c, const rgPart* part, int axis, rgSlices* s, rgCut* best) {
    rgVec3 span = rgSub(part->hull->box.upper, part->hull->box.lower);
    double length = rgVec3_At(span, axis) / RG_MAX(span.x, RG_MAX(span.y, span.z));
    memset(s, 0, sizeof(*s));
    rgSlices_SetBorders(c, part, axis, s);
    for (int i = 0; i < part->count; ++i) {
        rgSlices_AddShard(c, s, &part->shards[i]);
    }
    for (int i = 0; i < part->innerCount; ++i) {
        double x = rgVec3_At(part->inner[i], axis);
        rgSlices_AddCorner(c, s, part->inner[i], (double[2]){x - c->size, x + c->size}, 0);
    }
    for (int b = 0; b < s->count; ++b) {
        s->left[b + 1] = s->left[b];
        rgSlice_Join(&s->left[b + 1], &s->within[b]);
    }
    for (int b = s->count; b > 0; --b) {
        s->right[b] = s->right[b + 1];
        rgSlice_Join(&s->right[b], &s->within[b]);
    }
    for (int b = 0; b < s->count; ++b) {
        rgSlice left = s->left[b + 1], right = s->right[b + 1];
        rgSlice_Join(&left, &s->border[b]);
        rgSlice_Join(&right, &s->border[b]);
        double u = rgSlice_Volume(c, &left), v = rgSlice_Volume(c, &right);
        // A ring needs two cuts before its hulls shrink: if volumes hardly differ, cut across the
        // longest side and into equal halves.
        double cost = (u + v + 0.02 * fabs(u - v)) / part->volume - 0.03 * length;
        if (u > 0 && v > 0 && cost < best->cost - 1e-9) {
            *best = (rgCut){axis, s->at[b], cost};
        }
    }
}

// The piece of a triangle on one side, as a fan.
static void rgPart_AddSide(rgDecomposer* c, rgPart* part, const rgShard* shard, const rgCut* cut,
                           double sign) {
    rgVec3 kept[4];
    double height[3];
    int count = 0, flat = 0;
    for (int k = 0; k < 3; ++k) {
        height[k] = sign * (rgVec3_At(shard->corners[k], cut->axis) - cut->at);
        height[k] = fabs(height[k]) <= RG_ON_CUT * c->size ? 0 : height[k];
        flat += height[k] == 0;
    }
    // A face on the cut goes with the solid behind it.
    double normal = rgVec3_At(c->mesh->triangles.normal[shard->triangle], cut->axis);
    if (flat == 3 && (sign > 0) != (normal <= 0)) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        rgVec3 p = shard->corners[k], q = shard->corners[(k + 1) % 3];
        double x = height[k], y = height[(k + 1) % 3];
        if (x >= 0) {
            kept[count++] = p;
        }
        if ((x < 0) != (y < 0) && x != 0 && y != 0) {
            kept[count++] = rgAddScaled(p, x / (x - y), rgSub(q, p));
        }
    }
    for (int k = 1; k + 1 < count; ++k) {
        rgPart_Add(c, part, kept[0], kept[k], kept[k + 1], shard->triangle);
    }
}

static void rgSetAxis(rgVec3* v, int axis, double value) {
    *(axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z) = value;
}

static void rgPart_Split(rgDecomposer* c, const rgPart* part, const rgCut* cut, rgPart halves[2]) {
    for (int side = 0; side < 2 && c->result == rg_ok; ++side) {
        rgPart* half = &halves[side];
        *half = (rgPart){.box = part->box};
        rgSetAxis(side ? &half->box.lower : &half->box.upper, cut->axis, cut->at);
        for (int i = 0; i < part->count && c->result == rg_ok; ++i) {
            rgPart_AddSide(c, half, &part->shards[i], cut, side ? 1 : -1);
        }
        rgPart_FindInner(c, half);
        rgPart_MakeHull(c, half);
    }
}

// Cut the part that fills most in two; false when all is well or nothing is left to cut.
static bool rgDecomposer_CutWorst(rgDecomposer* c, rgSlices* slices) {
    if (c->partCount >= c->def->maxHulls || rgDecomposer_Assign(c) <= c->def->tolerance * c->size) {
        return false;
    }
    int worst = -1;
    for (int i = 0; i < c->partCount; ++i) {
        const rgPart* p = &c->parts[i];
        if (!p->whole && p->blame > (worst < 0 ? 0 : c->parts[worst].blame)) {
            worst = i;
        }
    }
    if (worst < 0) {
        return false;
    }
    rgPart* part = &c->parts[worst];
    rgCut cut = {-1, 0, INFINITY};
    for (int axis = 0; axis < 3; ++axis) {
        rgTryAxis(c, part, axis, slices, &cut);
    }
    rgPart halves[2] = {{0}, {0}};
    if (cut.axis >= 0) {
        rgPart_Split(c, part, &cut, halves);
    }
    if (c->result != rg_ok || halves[0].hull == NULL || halves[1].hull == NULL) {
        rgPart_Free(c, &halves[0]);
        rgPart_Free(c, &halves[1]);
        part->whole = true;
        return c->result == rg_ok;
    }
    rgPart_Free(c, part);
    *part = halves[0];
    c->parts[c->partCount++] = halves[1];
    return true;
}

// ---- joining pieces that cuts have split needlessly

// Hull of two hulls.
static bool rgPart_Enclose(rgDecomposer* c, const rgPart* a, const rgPart* b, rgPart* both) {
    const rgHull *first = &a->hull->hull, *second = &b->hull->hull;
    size_t n = (size_t)first->vertexCount, m = (size_t)second->vertexCount;
    rgVec3* points = rgAllocate(&c->allocator, n + m, sizeof(rgVec3));
    *both = (rgPart){0};
    if (points == NULL) {
        c->result = rg_errorMemory;
        return false;
    }
    memcpy(points, first->vertices, n * sizeof(rgVec3));
    memcpy(points + n, second->vertices, m * sizeof(rgVec3));
    both->hull = rgHullOfPoints(c, points, (int)(n + m));
    both->volume = both->hull != NULL ? rgHullVolume(both->hull) : 0;
    rgRelease(&c->allocator, points);
    return both->hull != NULL;
}

// The triangles of a part, too.
static void rgPart_Append(rgDecomposer* c, rgPart* part, const rgPart* from) {
    for (int i = 0; i < from->count && c->result == rg_ok; ++i) {
        const rgShard* s = &from->shards[i];
        rgPart_Add(c, part, s->corners[0], s->corners[1], s->corners[2], s->triangle);
    }
    for (int i = 0; i < from->innerCount && c->result == rg_ok; ++i) {
        rgPart_AddInner(c, part, from->inner[i]);
    }
}

// Join two parts if little is added to the volume and no more of a hollow is filled.
static bool rgDecomposer_Join(rgDecomposer* c, int i, int j, double allowed) {
    rgPart both, first = c->parts[i], second = c->parts[j];
    bool good = rgPart_Enclose(c, &first, &second, &both) &&
                both.volume <= 1.1 * (first.volume + second.volume);
    if (good) {
        int last = c->partCount - 1;
        c->parts[i] = both;
        c->parts[j] = c->parts[last];
        c->partCount = last;
        good = rgDecomposer_KeepsExcess(c, both.hull, allowed);
        if (good) {
            rgDecomposer_Excess(c);
            rgPart_Append(c, &c->parts[i], &first);
            rgPart_Append(c, &c->parts[i], &second);
            rgPart_Free(c, &first);
            rgPart_Free(c, &second);
            return true;
        }
        c->partCount = last + 1;
        c->parts[last] = c->parts[j];
        c->parts[i] = first;
        c->parts[j] = second;
    }
    rgPart_Free(c, &both);
    return false;
}

static bool* rgDecomposer_Separate(const rgDecomposer* c, int i, int j) {
    return &c->apart[(size_t)RG_MIN(i, j) * (size_t)c->def->maxHulls + (size_t)RG_MAX(i, j)];
}

// Parts i and j became part i, the last part part j.
static void rgDecomposer_MoveSeparate(rgDecomposer* c, int i, int j) {
    for (int k = 0; k < c->partCount; ++k) {
        if (k != j) {
            *rgDecomposer_Separate(c, j, k) = *rgDecomposer_Separate(c, c->partCount, k);
        }
    }
    for (int k = 0; k < c->partCount; ++k) {
        *rgDecomposer_Separate(c, i, k) = false;
    }
}

// Join parts as long as any can be. Hulls and hollows only grow on the way: a pair that was refused
// once stays refused.
static void rgDecomposer_JoinAll(rgDecomposer* c, double slack, double allowed) {
    memset(c->apart, 0, (size_t)c->def->maxHulls * (size_t)c->def->maxHulls * sizeof(bool));
    for (int i = 0; i < c->partCount; ++i) {
        for (int j = i + 1; j < c->partCount && c->result == rg_ok; ++j) {
            rgBox a = c->parts[i].hull->box;
            a.lower = rgSub(a.lower, rgVec(slack, slack, slack));
            a.upper = rgAdd(a.upper, rgVec(slack, slack, slack));
            bool* apart = rgDecomposer_Separate(c, i, j);
            if (*apart || !rgBoxesMeet(&a, &c->parts[j].hull->box)) {
                continue;
            }
            *apart = true;
            if (rgDecomposer_Join(c, i, j, allowed)) {
                rgDecomposer_MoveSeparate(c, i, j);
                i = j = 0; // again from the first pair
            }
        }
    }
}

// ---- the whole

// Directions spread evenly over the sphere.
static rgVec3 rgSphereDirection(int k, int count) {
    double z = 1 - (2 * k + 1.0) / count, turn = 2.399963229728653 * k;
    double r = sqrt(1 - z * z);
    return rgVec(r * cos(turn), r * sin(turn), z);
}

// True if something small could touch the surface there: some ray leaves everything behind. Walls
// of closed cavities, and parts that other parts hide, are out of reach.
static bool rgIsExposed(const rgDecomposer* c, rgVec3 p, rgVec3 normal) {
    rgVec3 from = rgAddScaled(p, 1e-6 * c->size, normal);
    for (int k = 0; k < RG_ESCAPES; ++k) {
        rgVec3 d = rgSphereDirection(k, RG_ESCAPES);
        double up = rgDot(d, normal);
        d = up < 0 ? rgAddScaled(d, -2 * up, normal) : d;
        rgRay ray = {from, d, 4 * c->size};
        if (!rgRayMeetsMesh(&c->mesh->triangles, &ray)) {
            return true;
        }
    }
    return false;
}

static double rgTwiceArea(const rgSurfaceTriangle* t) {
    return rgLength(
        rgCross(rgSub(t->corners[1], t->corners[0]), rgSub(t->corners[2], t->corners[0])));
}

static void rgDecomposer_AddProbe(rgDecomposer* c, rgVec3 p, rgVec3 normal) {
    if (!rgIsExposed(c, p, normal)) {
        return;
    }
    rgResult result = rgReserve(&c->allocator, (void**)&c->probes, &c->probeCapacity, c->probeCount,
                                c->probeCount + 1, sizeof(rgProbe));
    if (result != rg_ok) {
        c->result = result;
        return;
    }
    rgRay ray = {rgAddScaled(p, 1e-6 * c->size, normal), normal, 2 * c->size};
    rgRayHit hit;
    bool stopped = rgRayCast(c->mesh, rgPoseIdentity(), &ray, &hit);
    c->probes[c->probeCount++] = (rgProbe){p, normal, stopped ? hit.fraction : INFINITY, 0};
}

// Evenly over the surface: large triangles get several, of small ones every nth gets one.
static void rgDecomposer_SpreadProbes(rgDecomposer* c) {
    const rgTriangles* t = &c->mesh->triangles;
    double whole = 0, due = 0.5;
    rgSurfaceTriangle s;
    for (int i = 0; i < t->triangleCount; ++i) {
        rgTriangles_Get(t, i, &s);
        whole += rgTwiceArea(&s);
    }
    for (int i = 0; i < t->triangleCount && c->result == rg_ok; ++i) {
        rgTriangles_Get(t, i, &s);
        due += RG_PROBES * rgTwiceArea(&s) / whole;
        int n = (int)ceil(sqrt(2 * due) - 0.5);
        if (due < 1) {
            continue;
        }
        due -= 0.5 * n * (n + 1);
        rgVec3 u = rgSub(s.corners[1], s.corners[0]), v = rgSub(s.corners[2], s.corners[0]);
        for (int k = 0; k < n * n && c->result == rg_ok; ++k) {
            int a = k / n, b = k % n;
            if (a + b < n) {
                rgVec3 p = rgAddScaled(s.corners[0], (a + 1.0 / 3) / n, u);
                rgDecomposer_AddProbe(c, rgAddScaled(p, (b + 1.0 / 3) / n, v), s.normal);
            }
        }
    }
}

static bool rgDecomposer_Begin(rgDecomposer* c) {
    const rgTriangles* t = &c->mesh->triangles;
    rgVec3 span = rgSub(c->mesh->box.upper, c->mesh->box.lower);
    c->size = rgLength(span);
    c->parts = rgAllocate(&c->allocator, (size_t)c->def->maxHulls + 1, sizeof(rgPart));
    c->apart = rgAllocate(&c->allocator, (size_t)c->def->maxHulls * (size_t)c->def->maxHulls,
                          sizeof(bool));
    if (c->parts == NULL || c->apart == NULL) {
        c->result = rg_errorMemory;
        return false;
    }
    for (int k = 0; k < RG_LOOKS; ++k) {
        c->looks[k] = k < 6 ? rgVec(k == 0   ? 1
                                    : k == 1 ? -1
                                             : 0,
                                    k == 2   ? 1
                                    : k == 3 ? -1
                                             : 0,
                                    k == 4   ? 1
                                    : k == 5 ? -1
                                             : 0)
                            : rgSphereDirection(k - 6, RG_LOOKS - 6);
    }
    rgPart* whole = &c->parts[c->partCount++];
    *whole = (rgPart){.box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}};
    for (int i = 0; i < t->triangleCount && c->result == rg_ok; ++i) {
        rgSurfaceTriangle s;
        rgTriangles_Get(t, i, &s);
        rgPart_Add(c, whole, s.corners[0], s.corners[1], s.corners[2], i);
    }
    rgDecomposer_SpreadProbes(c);
    if (c->result == rg_ok) {
        rgPart_MakeHull(c, whole);
    }
    return c->result == rg_ok;
}

// True if the triangles close around a volume, up to small gaps.
static bool rgIsSolid(const rgGeometry* mesh) {
    const rgTriangles* t = &mesh->triangles;
    rgVec3 sum = rgVec(0, 0, 0);
    double area = 0, volume = 0;
    for (int i = 0; i < t->triangleCount; ++i) {
        rgSurfaceTriangle s;
        rgTriangles_Get(t, i, &s);
        rgVec3 a = rgCross(rgSub(s.corners[1], s.corners[0]), rgSub(s.corners[2], s.corners[0]));
        sum = rgAdd(sum, a);
        area += rgLength(a);
        volume += rgDot(a, rgSub(s.corners[0], mesh->box.lower)) / 6;
    }
    rgVec3 span = rgSub(mesh->box.upper, mesh->box.lower);
    return rgLength(sum) <= 1e-2 * area && volume > 1e-6 * span.x * span.y * span.z;
}

static rgResult rgDecomposer_Finish(rgDecomposer* c, rgDecomposition** out) {
    rgDecomposition* d = rgAllocate(&c->allocator, 1, sizeof(rgDecomposition));
    rgGeometry** hulls = rgAllocate(&c->allocator, (size_t)c->partCount, sizeof(rgGeometry*));
    if (d == NULL || hulls == NULL) {
        rgRelease(&c->allocator, d);
        rgRelease(&c->allocator, hulls);
        return rg_errorMemory;
    }
    *d = (rgDecomposition){.allocator = c->allocator, .count = c->partCount, .hulls = hulls};
    d->hollow = rgDecomposer_Hollow(c) / c->size;
    for (int i = 0; i < c->partCount; ++i) {
        hulls[i] = c->parts[i].hull;
        c->parts[i].hull = NULL;
    }
    *out = d;
    return rg_ok;
}

static rgResult rgDecomposer_Run(rgDecomposer* c, bool solid, rgDecomposition** out) {
    rgSlices* slices = rgAllocate(&c->allocator, 1, sizeof(rgSlices));
    if (slices == NULL || !rgDecomposer_Begin(c)) {
        rgRelease(&c->allocator, slices);
        return rg_errorMemory;
    }
    if (c->parts[0].hull == NULL) {
        rgRelease(&c->allocator, slices);
        return rg_errorArgument;
    }
    // Joining makes room for more cuts where the number of hulls ran out, a few times over.
    double before = INFINITY;
    for (int round = 0; solid && round < RG_ROUNDS && c->result == rg_ok; ++round) {
        while (rgDecomposer_CutWorst(c, slices)) {
        }
        double excess = rgDecomposer_Excess(c);
        rgDecomposer_JoinAll(c, 1e-6 * c->size, excess);
        if (!(excess > 0 && excess < 0.9 * before)) {
            break;
        }
        before = excess;
    }
    rgRelease(&c->allocator, slices);
    return c->result == rg_ok ? rgDecomposer_Finish(c, out) : c->result;
}

rgResult rgDecomposeMesh(const rgMeshData* mesh, const rgDecomposeDef* def,
                         rgDiagnostics* diagnostics, rgDecomposition** decomposition) {
    rgDecomposeDef usual = rgDefaultDecomposeDef();
    def = def != NULL ? def : &usual;
    if (mesh == NULL || def->cookie != RG_DECOMPOSE_COOKIE || decomposition == NULL ||
        !(def->tolerance > 0) || def->maxHulls < 1 || def->maxHulls > RG_DECOMPOSE_LIMIT) {
        return rg_errorArgument;
    }
    rgDecomposer c = {.def = def, .allocator = rgResolveAllocator(&def->allocator)};
    rgGeometryDef geometry = rgDefaultGeometryDef();
    geometry.kind = rg_shapeMesh;
    geometry.mesh = mesh;
    geometry.file = def->file;
    geometry.line = def->line;
    geometry.allocator = c.allocator;
    rgResult result = rgCreateGeometry(&geometry, diagnostics, &c.mesh);
    if (result == rg_ok) {
        bool solid = rgIsSolid(c.mesh);
        result = rgDecomposer_Run(&c, solid, decomposition);
        if (result == rg_ok && !solid) {
            rgDiagnostics_Add(diagnostics, rg_severityWarning, def->file, def->line,
                              "the mesh encloses no volume; its convex hull is used");
        }
    }
    for (int i = 0; i < c.partCount; ++i) {
        rgPart_Free(&c, &c.parts[i]);
    }
    rgRelease(&c.allocator, c.parts);
    rgRelease(&c.allocator, c.apart);
    rgRelease(&c.allocator, c.probes);
    rgDestroyGeometry(c.mesh);
    return result;
}

void rgDestroyDecomposition(rgDecomposition* d) {
    if (d != NULL) {
        rgAllocator allocator = d->allocator;
        for (int i = 0; i < d->count; ++i) {
            rgDestroyGeometry(d->hulls[i]);
        }
        rgRelease(&allocator, d->hulls);
        rgRelease(&allocator, d);
    }
}

int rgDecomposition_Count(const rgDecomposition* d) {
    return d != NULL ? d->count : 0;
}

rgHullView rgDecomposition_Hull(const rgDecomposition* d, int index) {
    if (d == NULL) {
        return (rgHullView){0};
    }
    rgHullView view = {0};
    if (index >= 0 && index < d->count) {
        rgGeometry_Hull(d->hulls[index], &view);
    }
    return view;
}

double rgDecomposition_Hollow(const rgDecomposition* d) {
    return d != NULL ? d->hollow : 0;
}
