// Ray casts. A convex shape is met over one interval of the ray; surfaces are walked.
#include "collision/internal.h"

#define RG_RAY_STACK 128

// Part of the line origin + t direction inside a convex set.
typedef struct rgSpan {
    double enter, exit;
    rgVec3 normal; // normal at the point of entry
    int part;
} rgSpan;

static rgSpan rgWholeLine(void) {
    return (rgSpan){.enter = -INFINITY, .exit = INFINITY};
}

static const rgSpan rgNoSpan = {.enter = INFINITY, .exit = -INFINITY};

// Clip to the inner side of the plane n . x = offset.
static void rgSpan_Cut(rgSpan* span, rgVec3 o, rgVec3 d, rgVec3 n, double offset, int part) {
    double speed = rgDot(n, d), height = rgDot(n, o) - offset;
    if (speed == 0) {
        if (height > 0) {
            *span = rgNoSpan;
        }
        return;
    }
    double t = -height / speed;
    if (speed < 0 && t > span->enter) {
        span->enter = t;
        span->normal = n;
        span->part = part;
    } else if (speed > 0 && t < span->exit) {
        span->exit = t;
    }
}

// a t^2 + 2 b t + c <= 0 with a >= 0.
static bool rgQuadratic(double a, double b, double c, double* low, double* high) {
    double root = b * b - a * c;
    if (!(a > 0)) {
        *low = -INFINITY;
        *high = INFINITY;
        return c <= 0;
    }
    if (root < 0) {
        return false;
    }
    root = sqrt(root);
    // The larger root in size first: the other one without cancellation.
    double q = b > 0 ? -b - root : -b + root;
    double t1 = q / a, t2 = q != 0 ? c / q : t1;
    *low = RG_MIN(t1, t2);
    *high = RG_MAX(t1, t2);
    return true;
}

static rgSpan rgSpanEllipsoid(rgVec3 o, rgVec3 d, rgVec3 center, rgVec3 size) {
    rgVec3 p = rgSub(o, center);
    p = rgVec(p.x / size.x, p.y / size.y, p.z / size.z);
    rgVec3 v = rgVec(d.x / size.x, d.y / size.y, d.z / size.z);
    rgSpan span = rgNoSpan;
    if (!rgQuadratic(rgDot(v, v), rgDot(p, v), rgDot(p, p) - 1, &span.enter, &span.exit)) {
        return rgNoSpan;
    }
    rgVec3 x = rgAddScaled(p, isfinite(span.enter) ? span.enter : 0, v);
    span.normal = rgNormalize(rgVec(x.x / size.x, x.y / size.y, x.z / size.z));
    return span;
}

static rgSpan rgSpanTube(rgVec3 o, rgVec3 d, double radius) {
    rgSpan span = rgNoSpan;
    double a = d.x * d.x + d.y * d.y, b = o.x * d.x + o.y * d.y;
    double c = o.x * o.x + o.y * o.y - radius * radius;
    if (!rgQuadratic(a, b, c, &span.enter, &span.exit)) {
        return rgNoSpan;
    }
    double t = isfinite(span.enter) ? span.enter : 0;
    span.normal = rgNormalize(rgVec(o.x + t * d.x, o.y + t * d.y, 0));
    return span;
}

static rgSpan rgSpanCylinder(rgVec3 o, rgVec3 d, rgVec3 size) {
    rgSpan span = rgSpanTube(o, d, size.x);
    rgSpan_Cut(&span, o, d, rgVec(0, 0, 1), size.y, 0);
    rgSpan_Cut(&span, o, d, rgVec(0, 0, -1), size.y, 0);
    return span;
}

static void rgSpan_Join(rgSpan* span, rgSpan other) {
    if (other.enter > other.exit) {
        return;
    }
    double exit = RG_MAX(span->exit, other.exit);
    if (other.enter < span->enter) {
        *span = other;
    }
    span->exit = exit;
}

static rgSpan rgSpanCapsule(rgVec3 o, rgVec3 d, rgVec3 size) {
    rgVec3 ball = rgVec(size.x, size.x, size.x);
    rgSpan span = rgSpanCylinder(o, d, size);
    if (span.enter > span.exit) {
        span = rgNoSpan;
    }
    rgSpan_Join(&span, rgSpanEllipsoid(o, d, rgVec(0, 0, size.y), ball));
    rgSpan_Join(&span, rgSpanEllipsoid(o, d, rgVec(0, 0, -size.y), ball));
    return span;
}

static rgSpan rgSpanBox(rgVec3 o, rgVec3 d, rgVec3 size) {
    rgSpan span = rgWholeLine();
    for (int i = 0; i < 3; ++i) {
        rgVec3 n = rgVec(i == 0, i == 1, i == 2);
        rgSpan_Cut(&span, o, d, n, rgVec3_At(size, i), 0);
        rgSpan_Cut(&span, o, d, rgNegate(n), rgVec3_At(size, i), 0);
    }
    return span;
}

static rgSpan rgSpanHull(rgVec3 o, rgVec3 d, const rgHull* hull) {
    rgSpan span = rgWholeLine();
    for (int f = 0; f < hull->faceCount && span.enter <= span.exit; ++f) {
        rgSpan_Cut(&span, o, d, hull->faceNormal[f], hull->faceOffset[f], f);
    }
    return span;
}

static rgSpan rgSpanOf(const rgGeometry* g, rgVec3 o, rgVec3 d) {
    rgSpan span = rgWholeLine();
    switch (g->kind) {
    case rg_shapePlane:
        rgSpan_Cut(&span, o, d, rgVec(0, 0, 1), 0, 0);
        return span;
    case rg_shapeSphere:
        return rgSpanEllipsoid(o, d, rgVec(0, 0, 0), rgVec(g->size.x, g->size.x, g->size.x));
    case rg_shapeEllipsoid:
        return rgSpanEllipsoid(o, d, rgVec(0, 0, 0), g->size);
    case rg_shapeCapsule:
        return rgSpanCapsule(o, d, g->size);
    case rg_shapeCylinder:
        return rgSpanCylinder(o, d, g->size);
    case rg_shapeBox:
        return rgSpanBox(o, d, g->size);
    case rg_shapeHull:
        return rgSpanHull(o, d, &g->hull);
    default:
        return rgNoSpan;
    }
}

// ---- surfaces

static bool rgRayTriangle(const rgSurfaceTriangle* t, const rgRay* ray, rgRayHit* hit) {
    double speed = rgDot(t->normal, ray->direction);
    if (speed == 0) {
        return false;
    }
    double fraction = rgDot(t->normal, rgSub(t->corners[0], ray->origin)) / speed;
    if (!(fraction >= 0 && fraction <= hit->fraction)) {
        return false;
    }
    rgVec3 x = rgAddScaled(ray->origin, fraction, ray->direction);
    double area = rgDot(t->normal, rgCross(rgSub(t->corners[1], t->corners[0]),
                                           rgSub(t->corners[2], t->corners[0])));
    for (int k = 0; k < 3; ++k) {
        rgVec3 u = rgSub(t->corners[k], x), v = rgSub(t->corners[(k + 1) % 3], x);
        // A little wider than the triangle: no ray slips between neighbours.
        if (rgDot(t->normal, rgCross(u, v)) < -1e-12 * area) {
            return false;
        }
    }
    hit->fraction = fraction;
    hit->normal = speed < 0 ? t->normal : rgNegate(t->normal);
    hit->part = t->index;
    return true;
}

static bool rgRayMeetsBox(const rgRay* ray, const float* lower, const float* upper, double limit) {
    double enter = 0, exit = limit;
    for (int i = 0; i < 3; ++i) {
        double o = rgVec3_At(ray->origin, i), d = rgVec3_At(ray->direction, i);
        if (d == 0) {
            if (o < lower[i] || o > upper[i]) {
                return false;
            }
            continue;
        }
        double t1 = (lower[i] - o) / d, t2 = (upper[i] - o) / d;
        enter = RG_MAX(enter, RG_MIN(t1, t2));
        exit = RG_MIN(exit, RG_MAX(t1, t2));
    }
    return enter <= exit * (1 + 1e-12);
}

// The nearest triangle, or any.
static bool rgRayMesh(const rgTriangles* t, const rgRay* ray, bool any, rgRayHit* hit) {
    int stack[RG_RAY_STACK], depth = 0;
    bool found = false;
    stack[depth++] = 0;
    while (depth > 0 && !(any && found)) {
        const rgBvhNode* node = &t->nodes[stack[--depth]];
        if (!rgRayMeetsBox(ray, node->lower, node->upper, hit->fraction)) {
            continue;
        }
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
        for (int i = node->first; i < node->first + node->count; ++i) {
            rgSurfaceTriangle triangle;
            rgTriangles_Get(t, i, &triangle);
            found |= rgRayTriangle(&triangle, ray, hit);
        }
    }
    return found;
}

static int rgClampCell(double x, int cells) {
    return x < 0 ? 0 : x >= cells ? cells - 1 : (int)x;
}

// Cells under the ray, row by row: in each row of cells the columns between entry and exit.
static bool rgRayHeights(const rgGeometry* g, const rgRay* ray, rgRayHit* hit) {
    const rgHeights* h = &g->heights;
    rgBox box = g->box;
    box.lower.z = h->lowest;
    rgVec3 half = rgScale(0.5, rgSub(box.upper, box.lower));
    rgVec3 middle = rgScale(0.5, rgAdd(box.upper, box.lower));
    double grow = 1e-9 * (1 + rgLength(half));
    half = rgAdd(half, rgVec(grow, grow, grow));
    rgSpan span = rgSpanBox(rgSub(ray->origin, middle), ray->direction, half);
    double t0 = RG_MAX(0, span.enter), t1 = RG_MIN(hit->fraction, span.exit);
    if (!(t0 <= t1)) {
        return false;
    }
    int cellsX = h->columnCount - 1, cellsY = h->rowCount - 1;
    double y0 = (ray->origin.y + t0 * ray->direction.y + h->sizeY) / h->cellY;
    double y1 = (ray->origin.y + t1 * ray->direction.y + h->sizeY) / h->cellY;
    int row0 = rgClampCell(y0 - 1e-6, cellsY), row1 = rgClampCell(y1 + 1e-6, cellsY);
    if (y0 > y1) {
        row0 = rgClampCell(y0 + 1e-6, cellsY);
        row1 = rgClampCell(y1 - 1e-6, cellsY);
    }
    bool found = false;
    int step = row0 <= row1 ? 1 : -1;
    for (int j = row0; j != row1 + step && !found; j += step) {
        double a = t0, b = t1;
        if (ray->direction.y != 0) {
            double low = (-h->sizeY + j * h->cellY - ray->origin.y) / ray->direction.y;
            double high = (-h->sizeY + (j + 1) * h->cellY - ray->origin.y) / ray->direction.y;
            a = RG_MAX(a, RG_MIN(low, high));
            b = RG_MIN(b, RG_MAX(low, high));
        }
        double xa = (ray->origin.x + a * ray->direction.x + h->sizeX) / h->cellX;
        double xb = (ray->origin.x + b * ray->direction.x + h->sizeX) / h->cellX;
        int first = rgClampCell(RG_MIN(xa, xb) - 1e-6, cellsX);
        int last = rgClampCell(RG_MAX(xa, xb) + 1e-6, cellsX);
        for (int i = first; i <= last; ++i) {
            for (int part = 0; part < 2; ++part) {
                rgSurfaceTriangle t;
                rgHeights_Triangle(h, i, j, part, &t);
                found |= rgRayTriangle(&t, ray, hit);
            }
        }
    }
    return found;
}

bool rgRayCastSurface(const rgGeometry* g, const rgRay* ray, rgRayHit* hit) {
    return g->kind == rg_shapeMesh ? rgRayMesh(&g->triangles, ray, false, hit)
                                   : rgRayHeights(g, ray, hit);
}

bool rgRayMeetsMesh(const rgTriangles* triangles, const rgRay* ray) {
    rgRayHit hit = {.fraction = ray->maxFraction};
    return rgRayMesh(triangles, ray, true, &hit);
}

// The ray goes on to the plane that touches the rounded shape below where it is, until it is there:
// Newton's method on a convex function, from outside.
static bool rgRayRounded(const rgGeometry* g, const rgRay* local, rgRayHit* hit) {
    rgConvex point = {.kind = rg_shapeSphere};
    double t = 0, close = 1e-12 * g->convex.scale;
    for (int k = 0; k < 100 && t <= local->maxFraction; ++k) {
        rgPose at = {rgAddScaled(local->origin, t, local->direction), {1, 0, 0, 0}};
        rgConvexPair pair = rgMakePair(&g->convex, rgPoseIdentity(), &point, at);
        rgPairCache cache = {0};
        rgSigned s;
        rgSignedDistance(&pair, INFINITY, &cache, &s);
        bool inside = k == 0 && s.gap < 0;
        if (inside || s.gap <= close) {
            hit->fraction = t;
            hit->normal = inside ? rgNormalize(rgNegate(local->direction)) : s.normal;
            hit->part = 0;
            return true;
        }
        double speed = -rgDot(s.normal, local->direction);
        if (!(speed > 0)) {
            return false;
        }
        t += s.gap / speed;
    }
    return false;
}

static bool rgRayConvex(const rgGeometry* g, const rgRay* local, rgRayHit* hit) {
    if (rgIsConvexKind(g->kind) && g->kind >= rg_shapeCylinder && g->convex.radius > 0) {
        return rgRayRounded(g, local, hit);
    }
    rgSpan span = rgSpanOf(g, local->origin, local->direction);
    if (!(span.enter <= span.exit) || span.exit < 0 || span.enter > local->maxFraction) {
        return false;
    }
    bool inside = span.enter < 0;
    hit->fraction = inside ? 0 : span.enter;
    hit->normal = inside ? rgNormalize(rgNegate(local->direction)) : span.normal;
    hit->part = inside ? 0 : span.part;
    return true;
}

bool rgRayCast(const rgGeometry* g, rgPose pose, const rgRay* ray, rgRayHit* hit) {
    if (g == NULL || ray == NULL || hit == NULL || !(ray->maxFraction >= 0) ||
        !rgIsFinite(ray->origin) || !rgIsFinite(ray->direction) ||
        !(rgLengthSquared(ray->direction) > 0)) {
        return false;
    }
    rgRay local = {.origin = rgPose_PointBack(pose, ray->origin),
                   .direction = rgRotateBack(pose.q, ray->direction),
                   .maxFraction = ray->maxFraction};
    rgRayHit found = {.fraction = ray->maxFraction};
    bool surface = g->kind == rg_shapeMesh || g->kind == rg_shapeHeightField;
    if (!rgIsFinite(local.origin) || !rgIsFinite(local.direction) ||
        !(surface ? rgRayCastSurface(g, &local, &found) : rgRayConvex(g, &local, &found))) {
        return false;
    }
    found.position = rgAddScaled(ray->origin, found.fraction, ray->direction);
    found.normal = rgRotate(pose.q, found.normal);
    *hit = found;
    return true;
}
