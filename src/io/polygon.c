// Polygons of mesh files into triangles: a fan, or one ear after the other.
#include "io/polygon.h"

#include "rigor/math.h"

#include <string.h>

typedef struct rgPolygon {
    const double* vertices;
    int* corners;
    int count;
    rgVec3 normal; // not of unit length
} rgPolygon;

static rgVec3 rgPolygon_Point(const rgPolygon* polygon, int corner) {
    const double* x = polygon->vertices + 3 * (size_t)polygon->corners[corner % polygon->count];
    return rgVec(x[0], x[1], x[2]);
}

// Sum of cross products: twice the area, across the mean plane (Newell).
static rgVec3 rgPolygon_Normal(const rgPolygon* polygon) {
    rgVec3 origin = rgPolygon_Point(polygon, 0);
    rgVec3 sum = {0, 0, 0};
    for (int i = 1; i + 1 < polygon->count; ++i) {
        sum = rgAdd(sum, rgCross(rgSub(rgPolygon_Point(polygon, i), origin),
                                 rgSub(rgPolygon_Point(polygon, i + 1), origin)));
    }
    return sum;
}

// Twice the signed area of a triangle seen along the normal, times the normal's length.
static double rgPolygon_Turn(const rgPolygon* polygon, rgVec3 a, rgVec3 b, rgVec3 c) {
    return rgDot(polygon->normal, rgCross(rgSub(b, a), rgSub(c, a)));
}

static double rgPolygon_TurnAt(const rgPolygon* polygon, int corner) {
    int before = corner + polygon->count - 1;
    return rgPolygon_Turn(polygon, rgPolygon_Point(polygon, before),
                          rgPolygon_Point(polygon, corner), rgPolygon_Point(polygon, corner + 1));
}

static bool rgPolygon_IsConvex(const rgPolygon* polygon) {
    for (int i = 0; i < polygon->count; ++i) {
        if (rgPolygon_TurnAt(polygon, i) < 0) {
            return false;
        }
    }
    return true;
}

// No other corner lies in the triangle that would be cut off here.
static bool rgPolygon_IsEar(const rgPolygon* polygon, int corner) {
    int n = polygon->count;
    if (!(rgPolygon_TurnAt(polygon, corner) > 0)) {
        return false;
    }
    rgVec3 a = rgPolygon_Point(polygon, corner + n - 1);
    rgVec3 b = rgPolygon_Point(polygon, corner);
    rgVec3 c = rgPolygon_Point(polygon, corner + 1);
    for (int k = 2; k < n - 1; ++k) {
        int other = (corner + k) % n;
        rgVec3 p = rgPolygon_Point(polygon, other);
        bool inside = rgPolygon_Turn(polygon, a, b, p) > 0 &&
                      rgPolygon_Turn(polygon, b, c, p) > 0 && rgPolygon_Turn(polygon, c, a, p) > 0;
        if (inside) {
            return false;
        }
    }
    return true;
}

static int* rgPolygon_Emit(const rgPolygon* polygon, int corner, int* out) {
    int n = polygon->count;
    out[0] = polygon->corners[(corner + n - 1) % n];
    out[1] = polygon->corners[corner % n];
    out[2] = polygon->corners[(corner + 1) % n];
    return out + 3;
}

static void rgPolygon_Remove(rgPolygon* polygon, int corner) {
    memmove(polygon->corners + corner, polygon->corners + corner + 1,
            (size_t)(polygon->count - corner - 1) * sizeof(int));
    --polygon->count;
}

static void rgPolygon_Fan(const rgPolygon* polygon, int* out) {
    for (int i = 1; i + 1 < polygon->count; ++i) {
        *out++ = polygon->corners[0];
        *out++ = polygon->corners[i];
        *out++ = polygon->corners[i + 1];
    }
}

void rgTriangulatePolygon(const double* vertices, int* corners, int count, int* triangles) {
    rgPolygon polygon = {.vertices = vertices, .corners = corners, .count = count};
    polygon.normal = rgPolygon_Normal(&polygon);
    if (count > 3 && count <= RG_POLYGON_MAX_CLIPPED && !rgPolygon_IsConvex(&polygon)) {
        int corner = 0;
        for (int tried = 0; polygon.count > 3 && tried < polygon.count; ++tried) {
            if (rgPolygon_IsEar(&polygon, corner % polygon.count)) {
                triangles = rgPolygon_Emit(&polygon, corner % polygon.count, triangles);
                rgPolygon_Remove(&polygon, corner % polygon.count);
                tried = -1;
            } else {
                ++corner;
            }
        }
    }
    rgPolygon_Fan(&polygon, triangles); // the rest, also of polygons that cross themselves
}
