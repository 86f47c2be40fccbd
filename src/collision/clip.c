// Manifolds from two features: their overlap seen along the normal, and the choice of few points.
#include "collision/internal.h"
#include "math/two.h"

#define RG_CLIP_SLACK 1e-6 // relative: a vertex this close to an edge counts as inside
#define RG_CLIP_LIMIT (2 * RG_POLYGON_LIMIT + 8)

// A feature seen along the normal: corners, and height as an affine function.
typedef struct rgFlat {
    int count;
    double x[RG_POLYGON_LIMIT], y[RG_POLYGON_LIMIT];
    int32_t ids[RG_POLYGON_LIMIT];
    double z0, zx, zy; // height z0 + zx x + zy y
} rgFlat;

// Corner of the overlap. The edge that starts here is one of the subject (k >= 0) or of the
// clipping polygon (-1 - k).
typedef struct rgCorner {
    double x, y;
    int edge;
} rgCorner;

typedef struct rgOverlapPolygon {
    int count;
    rgCorner corners[RG_CLIP_LIMIT];
} rgOverlapPolygon;

typedef struct rgClip {
    rgFlat a, b;
    rgVec3 t1, t2, n, origin;
    double size;
    double radiusA, radiusB, margin;
    rgRawManifold* raw;
} rgClip;

void rgPatchBasis(rgVec3 n, rgVec3* t1, rgVec3* t2) {
    rgVec3 odd = rgVec(0.36, 0.48, 0.8);
    rgVec3 across = rgAddScaled(odd, -rgDot(odd, n), n);
    double length = rgLengthSquared(across);
    if (length > 1e-6) {
        *t1 = rgScale(1 / sqrt(length), across);
        *t2 = rgCross(n, *t1);
    } else {
        rgTangentBasis(n, t1, t2);
    }
}

void rgRawManifold_Add(rgRawManifold* raw, rgVec3 position, double gap, uint32_t feature) {
    if (raw->count < RG_RAW_LIMIT) {
        raw->points[raw->count++] =
            (rgRawPoint){.position = position, .gap = gap, .feature = feature};
    }
}

static void rgFlatten(const rgClip* clip, const rgFeature* f, bool reverse, rgFlat* flat) {
    flat->count = f->count;
    double z[2] = {0, 0};
    for (int k = 0; k < f->count; ++k) {
        int from = reverse ? f->count - 1 - k : k;
        rgVec3 p = rgSub(f->points[from], clip->origin);
        flat->x[k] = rgDot(p, clip->t1);
        flat->y[k] = rgDot(p, clip->t2);
        flat->ids[k] = f->ids[from];
        if (k < 2) {
            z[k] = rgDot(p, clip->n);
        }
    }
    if (f->count == 2) {
        double dx = flat->x[1] - flat->x[0], dy = flat->y[1] - flat->y[0];
        double dd = dx * dx + dy * dy;
        double slope = dd > 0 ? (z[1] - z[0]) / dd : 0;
        flat->zx = slope * dx;
        flat->zy = slope * dy;
    } else {
        double down = -1 / rgDot(f->normal, clip->n);
        flat->zx = down * rgDot(f->normal, clip->t1);
        flat->zy = down * rgDot(f->normal, clip->t2);
    }
    flat->z0 = z[0] - flat->zx * flat->x[0] - flat->zy * flat->y[0];
}

static double rgFlatSize(const rgFlat* f) {
    double most = 0;
    for (int k = 1; k < f->count; ++k) {
        most = RG_MAX(most, RG_MAX(fabs(f->x[k] - f->x[0]), fabs(f->y[k] - f->y[0])));
    }
    return most;
}

// Cut away the part right of the line from corner k of `by` to the next.
static void rgCutBy(const rgFlat* by, int k, double slack, const rgOverlapPolygon* in,
                    rgOverlapPolygon* out) {
    int next = k + 1 < by->count ? k + 1 : 0;
    double ex = by->x[next] - by->x[k], ey = by->y[next] - by->y[k];
    // Not normalised: distances are scaled by the edge's length, and so is the slack.
    double nx = -ey, ny = ex;
    slack *= fabs(ex) + fabs(ey);
    out->count = 0;
    double offset = nx * by->x[k] + ny * by->y[k];
    const rgCorner* p = &in->corners[in->count - 1];
    double dp = nx * p->x + ny * p->y - offset;
    for (int i = 0; i < in->count; ++i) {
        const rgCorner* q = &in->corners[i];
        double dq = nx * q->x + ny * q->y - offset;
        bool pIn = dp >= -slack, qIn = dq >= -slack;
        if (pIn != qIn && out->count < RG_CLIP_LIMIT) {
            double s = RG_MAX(0, RG_MIN(1, dp / (dp - dq)));
            out->corners[out->count++] = (rgCorner){
                p->x + s * (q->x - p->x), p->y + s * (q->y - p->y), pIn ? -1 - k : p->edge};
        }
        if (qIn && out->count < RG_CLIP_LIMIT) {
            out->corners[out->count++] = *q;
        }
        p = q;
        dp = dq;
    }
}

static void rgAddOverlap(const rgClip* clip, double x, double y, uint32_t feature) {
    double za = clip->a.z0 + clip->a.zx * x + clip->a.zy * y + clip->radiusA;
    double zb = clip->b.z0 + clip->b.zx * x + clip->b.zy * y - clip->radiusB;
    rgRawManifold* raw = clip->raw;
    if (!(zb - za <= clip->margin) || raw->count == RG_RAW_LIMIT) {
        return;
    }
    double near = 4 * RG_CLIP_SLACK * clip->size;
    for (int k = 0; k < raw->count; ++k) {
        if (fabs(raw->points[k].x - x) <= near && fabs(raw->points[k].y - y) <= near) {
            return;
        }
    }
    rgVec3 p = rgAddScaled(clip->origin, x, clip->t1);
    p = rgAddScaled(rgAddScaled(p, y, clip->t2), 0.5 * (za + zb), clip->n);
    raw->points[raw->count++] = (rgRawPoint){p, zb - za, x, y, feature};
}

// Name of a corner: a vertex of either shape, or a crossing of two edges. It does not depend on
// which of the two was the subject.
static uint32_t rgCornerId(const rgFlat* subject, const rgFlat* by, bool subjectIsA, int in,
                           int out) {
    if (in >= 0 && out >= 0) {
        return rgFeatureId(subjectIsA ? 0 : 1, subject->ids[out], -1, -1, -1);
    }
    if (in < 0 && out < 0) {
        return rgFeatureId(subjectIsA ? 1 : 0, by->ids[-1 - out], -1, -1, -1);
    }
    int s = in >= 0 ? in : out, c = in >= 0 ? -1 - out : -1 - in;
    int32_t s0 = subject->ids[s], s1 = subject->ids[(s + 1) % subject->count];
    int32_t c0 = by->ids[c], c1 = by->ids[(c + 1) % by->count];
    return subjectIsA ? rgFeatureId(2, s0, s1, c0, c1) : rgFeatureId(2, c0, c1, s0, s1);
}

// Corners of the subject (polygon or segment) inside the polygon.
static void rgClipPolygon(const rgClip* clip, const rgFlat* subject, const rgFlat* by,
                          bool subjectIsA) {
    rgOverlapPolygon polygons[2];
    rgOverlapPolygon *in = &polygons[0], *out = &polygons[1];
    in->count = subject->count;
    for (int k = 0; k < subject->count; ++k) {
        in->corners[k] = (rgCorner){subject->x[k], subject->y[k], k};
    }
    double slack = RG_CLIP_SLACK * clip->size;
    for (int k = 0; k < by->count && in->count > 0; ++k) {
        rgCutBy(by, k, slack, in, out);
        rgOverlapPolygon* swap = in;
        in = out;
        out = swap;
    }
    for (int k = 0; k < in->count; ++k) {
        const rgCorner* c = &in->corners[k];
        int before = in->corners[k > 0 ? k - 1 : in->count - 1].edge;
        rgAddOverlap(clip, c->x, c->y, rgCornerId(subject, by, subjectIsA, before, c->edge));
    }
}

// Two edges: their crossing is the witness that the caller has; side by side they share a stretch.
static void rgClipSegments(const rgClip* clip) {
    const rgFlat *a = &clip->a, *b = &clip->b;
    double ax = a->x[1] - a->x[0], ay = a->y[1] - a->y[0];
    double bx = b->x[1] - b->x[0], by = b->y[1] - b->y[0];
    double la = sqrt(ax * ax + ay * ay), lb = sqrt(bx * bx + by * by);
    // Past this angle [rad], two points would lie off one of the edges.
    if (!(la > 0) || !(lb > 0) || fabs(ax * by - ay * bx) > 0.003 * la * lb) {
        return;
    }
    ax /= la, ay /= la;
    for (int k = 0; k < 2; ++k) {
        double s = ax * (b->x[k] - a->x[0]) + ay * (b->y[k] - a->y[0]);
        if (s > 0 && s < la) {
            rgAddOverlap(clip, a->x[0] + s * ax, a->y[0] + s * ay,
                         rgFeatureId(1, b->ids[k], -1, -1, -1));
        }
        double t = bx * (a->x[k] - b->x[0]) + by * (a->y[k] - b->y[0]);
        if (t >= 0 && t <= lb * lb) {
            rgAddOverlap(clip, a->x[k], a->y[k], rgFeatureId(0, a->ids[k], -1, -1, -1));
        }
    }
}

void rgClipFeatures(const rgFeature* a, const rgFeature* b, double radiusA, double radiusB,
                    double margin, rgRawManifold* raw) {
    if (a->count < 2 || b->count < 2) {
        return;
    }
    rgClip clip;
    clip.n = raw->normal;
    clip.origin = a->points[0];
    clip.radiusA = radiusA;
    clip.radiusB = radiusB;
    clip.margin = margin;
    clip.raw = raw;
    rgPatchBasis(clip.n, &clip.t1, &clip.t2);
    rgFlatten(&clip, a, false, &clip.a);
    rgFlatten(&clip, b, b->count > 2, &clip.b);
    clip.size = RG_MIN(rgFlatSize(&clip.a), rgFlatSize(&clip.b));
    if (a->count == 2 && b->count == 2) {
        rgClipSegments(&clip);
    } else if (b->count == 2) {
        rgClipPolygon(&clip, &clip.b, &clip.a, false);
    } else {
        rgClipPolygon(&clip, &clip.a, &clip.b, true);
    }
}

// ---- reduction

// Points seen along the normal, column by column. An odd number is followed by the last one again.
typedef struct rgPatch {
    int count;
    double x[RG_RAW_LIMIT], y[RG_RAW_LIMIT], gap[RG_RAW_LIMIT];
    double apart[RG_RAW_LIMIT]; // squared distance to the nearest point of those chosen
    double size;                // from the first point to the farthest
    int deepest;
    int chosenCount, spreadCount;
    int chosen[RG_MANIFOLD_CAPACITY];
} rgPatch;

static bool rgPatch_IsChosen(const rgPatch* patch, int point) {
    bool found = false;
    for (int j = 0; j < patch->chosenCount; ++j) {
        found = found || patch->chosen[j] == point;
    }
    return found;
}

static void rgPatch_Choose(rgPatch* patch, int i, int limit) {
    if (i >= 0 && patch->chosenCount < limit && !rgPatch_IsChosen(patch, i)) {
        patch->chosen[patch->chosenCount++] = i;
    }
}

static inline double rgPatch_Apart(const rgPatch* patch, int i, int j) {
    double x = patch->x[i] - patch->x[j], y = patch->y[i] - patch->y[j];
    return x * x + y * y;
}

// Edge of points k and k + 1.
static inline rgTwo rgPatch_ApartTwo(const rgPatch* patch, int k, int j) {
    rgTwo x = rgLoadTwo(patch->x + k) - rgBoth(patch->x[j]);
    rgTwo y = rgLoadTwo(patch->y + k) - rgBoth(patch->y[j]);
    return x * x + y * y;
}

static void rgPatch_Project(rgPatch* patch, const rgRawManifold* raw) {
    rgVec3 t1, t2, origin = raw->points[0].position;
    rgPatchBasis(raw->normal, &t1, &t2);
    patch->count = raw->count;
    patch->chosenCount = patch->spreadCount = patch->deepest = 0;
    double most = 0, least = raw->points[0].gap;
    for (int k = 0; k < raw->count; ++k) {
        rgVec3 p = rgSub(raw->points[k].position, origin);
        double x = rgDot(p, t1), y = rgDot(p, t2), gap = raw->points[k].gap;
        patch->x[k] = x;
        patch->y[k] = y;
        patch->gap[k] = gap;
        most = RG_MAX(most, x * x + y * y);
        if (gap < least) {
            least = gap;
            patch->deepest = k;
        }
    }
    patch->size = sqrt(most);
    int last = raw->count - 1;
    if (raw->count % 2 != 0) { // RG_RAW_LIMIT is even
        patch->x[last + 1] = patch->x[last];
        patch->y[last + 1] = patch->y[last];
        patch->gap[last + 1] = patch->gap[last];
    }
}

// Outermost point, in a fixed direction, among points about as deep as the deepest: depths that
// differ by rounding do not change the choice.
static int rgPatch_First(const rgPatch* patch) {
    rgTwo limit = rgBoth(patch->gap[patch->deepest] + 1e-3 * patch->size);
    rgLargest outermost = rgAbove(-INFINITY);
    rgTwoInts at = {0, 1};
    for (int k = 0; k < patch->count; k += 2, at += 2) {
        rgTwo reach = rgLoadTwo(patch->x + k) + 0.3 * rgLoadTwo(patch->y + k);
        rgTwoInts deep = rgLoadTwo(patch->gap + k) <= limit;
        rgLargest_Update(&outermost, rgChooseTwo(deep, reach, rgBoth(-INFINITY)), at);
    }
    int first = rgLargest_Place(&outermost);
    return first >= 0 ? first : patch->deepest;
}

static int rgPatch_Farthest(rgPatch* patch) {
    rgLargest farthest = rgAbove(0);
    rgTwoInts at = {0, 1};
    for (int k = 0; k < patch->count; k += 2, at += 2) {
        rgTwo apart = patch->spreadCount == 0 ? rgBoth(INFINITY) : rgLoadTwo(patch->apart + k);
        for (int j = patch->spreadCount; j < patch->chosenCount; ++j) {
            rgTwo other = rgPatch_ApartTwo(patch, k, patch->chosen[j]);
            apart = rgChooseTwo(apart < other, apart, other);
        }
        rgStoreTwo(patch->apart + k, apart);
        rgLargest_Update(&farthest, apart, at);
    }
    patch->spreadCount = patch->chosenCount;
    return rgLargest_Place(&farthest);
}

// The points that span the largest triangles on the two sides of a line.
static void rgPatch_Widest(const rgPatch* patch, int i, int j, int widest[2]) {
    double px = patch->x[i], py = patch->y[i];
    rgTwo ex = rgBoth(patch->x[j] - px), ey = rgBoth(patch->y[j] - py);
    rgLargest left = rgAbove(0), right = rgAbove(0);
    rgTwoInts at = {0, 1};
    for (int k = 0; k < patch->count; k += 2, at += 2) {
        rgTwo x = rgLoadTwo(patch->x + k) - rgBoth(px), y = rgLoadTwo(patch->y + k) - rgBoth(py);
        rgTwo area = ex * y - ey * x;
        rgLargest_Update(&left, area, at);
        rgLargest_Update(&right, -area, at);
    }
    widest[0] = rgLargest_Place(&left);
    widest[1] = rgLargest_Place(&right);
}

// The deepest point takes the place of its nearest neighbour when that changes the depth.
static void rgPatch_IncludeDeepest(rgPatch* patch) {
    int nearest = 0, deepest = patch->deepest;
    for (int j = 0; j < patch->chosenCount; ++j) {
        if (patch->gap[patch->chosen[j]] <= patch->gap[deepest] + 1e-5 * patch->size) {
            return;
        }
        if (rgPatch_Apart(patch, patch->chosen[j], deepest) <
            rgPatch_Apart(patch, patch->chosen[nearest], deepest)) {
            nearest = j;
        }
    }
    patch->chosen[nearest] = deepest;
}

// Replace each point by a clearly deeper one close by: of the vertices of a rounded sole, the one
// that touches first counts, not the outermost.
static void rgPatch_ReplaceOne(rgPatch* patch, int j) {
    int start = patch->chosen[j];
    double least = patch->gap[start] - 1e-4 * patch->size;
    rgTwo near = rgBoth(0.0225 * patch->size * patch->size);
    if (!(patch->gap[patch->deepest] < least)) {
        return;
    }
    for (int k = 0; k < patch->count; k += 2) {
        rgTwo gap = rgLoadTwo(patch->gap + k);
        rgTwoInts better = (gap < rgBoth(least)) & (rgPatch_ApartTwo(patch, k, start) < near);
        if (!rgAnyOf(better)) {
            continue;
        }
        for (int i = 0; i < RG_MIN(2, patch->count - k); ++i) {
            if (better[i] != 0 && gap[i] < least && !rgPatch_IsChosen(patch, k + i)) {
                least = gap[i];
                patch->chosen[j] = k + i;
            }
        }
    }
}

void rgReduce(rgRawManifold* raw, int limit) {
    if (raw->count <= limit) {
        return;
    }
    rgPatch patch;
    rgPatch_Project(&patch, raw);
    rgPatch_Choose(&patch, limit > 1 ? rgPatch_First(&patch) : patch.deepest, limit);
    rgPatch_Choose(&patch, rgPatch_Farthest(&patch), limit);
    if (patch.chosenCount == 2) {
        int widest[2];
        rgPatch_Widest(&patch, patch.chosen[0], patch.chosen[1], widest);
        rgPatch_Choose(&patch, widest[0], limit);
        rgPatch_Choose(&patch, widest[1], limit);
    }
    while (patch.chosenCount < limit) {
        int before = patch.chosenCount;
        rgPatch_Choose(&patch, rgPatch_Farthest(&patch), limit);
        if (patch.chosenCount == before) {
            break;
        }
    }
    rgPatch_IncludeDeepest(&patch);
    for (int j = 0; j < patch.chosenCount; ++j) {
        rgPatch_ReplaceOne(&patch, j);
    }
    rgRawPoint kept[RG_MANIFOLD_CAPACITY];
    for (int k = 0; k < patch.chosenCount; ++k) {
        kept[k] = raw->points[patch.chosen[k]];
    }
    for (int k = 0; k < patch.chosenCount; ++k) {
        raw->points[k] = kept[k];
    }
    raw->count = patch.chosenCount;
}

void rgEmit(const rgRawManifold* raw, rgPose poseA, rgManifold* manifold) {
    manifold->normal = rgRotate(poseA.q, raw->normal);
    manifold->count = RG_MIN(raw->count, RG_MANIFOLD_CAPACITY);
    for (int k = 0; k < manifold->count; ++k) {
        const rgRawPoint* p = &raw->points[k];
        manifold->points[k] = (rgManifoldPoint){.position = rgPose_Point(poseA, p->position),
                                                .normal = manifold->normal,
                                                .gap = p->gap,
                                                .feature = p->feature};
    }
}
