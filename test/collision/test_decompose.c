// Convex decomposition: hulls cover the solid, fill no hollow beyond the tolerance, are the same
// every time; what is no solid becomes one hull, and says so.
#include "nearest.h"
#include "scene.h"

#define RG_SOLID_VERTICES  600
#define RG_SOLID_TRIANGLES 1200

typedef struct rgSolid {
    int vertexCount, triangleCount;
    double vertices[3 * RG_SOLID_VERTICES];
    int triangles[3 * RG_SOLID_TRIANGLES];
} rgSolid;

static int rgSolid_Vertex(rgSolid* s, double x, double y, double z) {
    double* v = s->vertices + 3 * s->vertexCount;
    v[0] = x, v[1] = y, v[2] = z;
    return s->vertexCount++;
}

static void rgSolid_Triangle(rgSolid* s, int a, int b, int c) {
    int* t = s->triangles + 3 * s->triangleCount++;
    t[0] = a, t[1] = b, t[2] = c;
}

static int rgSolid_Ring(rgSolid* s, int count, double radius, double z) {
    for (int i = 0; i < count; ++i) {
        double a = 2 * acos(-1) * i / count;
        rgSolid_Vertex(s, radius * cos(a), radius * sin(a), z);
    }
    return s->vertexCount - count;
}

static void rgSolid_Band(rgSolid* s, int count, int low, int high) {
    for (int i = 0; i < count; ++i) {
        int j = (i + 1) % count;
        rgSolid_Triangle(s, low + i, low + j, high + j);
        rgSolid_Triangle(s, low + i, high + j, high + i);
    }
}

static void rgSolid_Cap(rgSolid* s, int count, int ring, double z, bool up) {
    int middle = rgSolid_Vertex(s, 0, 0, z);
    for (int i = 0; i < count; ++i) {
        int j = (i + 1) % count;
        rgSolid_Triangle(s, middle, ring + (up ? i : j), ring + (up ? j : i));
    }
}

// A cup: outside, rim, inside, bottom.
static void rgMakeCup(rgSolid* s, int count) {
    memset(s, 0, sizeof(*s));
    int a = rgSolid_Ring(s, count, 0.04, 0), b = rgSolid_Ring(s, count, 0.04, 0.1);
    int c = rgSolid_Ring(s, count, 0.035, 0.1), d = rgSolid_Ring(s, count, 0.035, 0.006);
    rgSolid_Band(s, count, a, b);
    rgSolid_Band(s, count, b, c);
    rgSolid_Band(s, count, c, d);
    rgSolid_Cap(s, count, a, 0, false);
    rgSolid_Cap(s, count, d, 0.006, true);
}

// A spool, thick at both ends.
static void rgMakeSpool(rgSolid* s, int count) {
    memset(s, 0, sizeof(*s));
    const double radius[6] = {0.5, 0.5, 0.2, 0.2, 0.5, 0.5}, z[6] = {0, 0.1, 0.1, 0.6, 0.6, 0.75};
    int ring = rgSolid_Ring(s, count, radius[0], z[0]);
    rgSolid_Cap(s, count, ring, 0, false);
    for (int k = 1; k < 6; ++k) {
        int next = rgSolid_Ring(s, count, radius[k], z[k]);
        rgSolid_Band(s, count, ring, next);
        ring = next;
    }
    rgSolid_Cap(s, count, ring, 0.75, true);
}

static void rgMakeTorus(rgSolid* s) {
    memset(s, 0, sizeof(*s));
    int rings = 24, count = 10;
    for (int j = 0; j < rings; ++j) {
        for (int i = 0; i < count; ++i) {
            double a = 2 * acos(-1) * j / rings, b = 2 * acos(-1) * i / count;
            double r = 0.5 + 0.1 * cos(b);
            rgSolid_Vertex(s, r * cos(a), r * sin(a), 0.1 * sin(b));
        }
    }
    for (int j = 0; j < rings; ++j) {
        for (int i = 0; i < count; ++i) {
            int a = j * count + i, b = j * count + (i + 1) % count;
            int c = (j + 1) % rings * count + i, d = (j + 1) % rings * count + (i + 1) % count;
            rgSolid_Triangle(s, a, c, d);
            rgSolid_Triangle(s, a, d, b);
        }
    }
}

static void rgMakeCube(rgSolid* s) {
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < 8; ++i) {
        rgSolid_Vertex(s, i & 1, i & 2, i & 4);
    }
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int q = 0; q < 6; ++q) {
        rgSolid_Triangle(s, quads[q][0], quads[q][1], quads[q][2]);
        rgSolid_Triangle(s, quads[q][0], quads[q][2], quads[q][3]);
    }
}

static rgMeshData rgSolid_Data(const rgSolid* s) {
    return (rgMeshData){s->vertexCount, s->vertices, s->triangleCount, s->triangles};
}

static bool rgIsInHull(const rgHullView* h, rgVec3 p, double slack) {
    for (int f = 0; f < h->faceCount; ++f) {
        const int* v = h->faceVertices + h->faceStart[f];
        int count = h->faceStart[f + 1] - h->faceStart[f];
        rgVec3 n = rgVec(0, 0, 0);
        for (int k = 0; k < count; ++k) {
            const double *a = h->vertices + 3 * v[k], *b = h->vertices + 3 * v[(k + 1) % count];
            n = rgAdd(n, rgCross(rgVec(a[0], a[1], a[2]), rgVec(b[0], b[1], b[2])));
        }
        const double* a = h->vertices + 3 * v[0];
        if (rgDot(rgNormalize(n), rgSub(p, rgVec(a[0], a[1], a[2]))) > slack) {
            return false;
        }
    }
    return h->faceCount > 0;
}

static bool rgIsCovered(const rgDecomposition* d, rgVec3 p, double slack) {
    for (int i = 0; i < rgDecomposition_Count(d); ++i) {
        rgHullView view = rgDecomposition_Hull(d, i);
        if (rgIsInHull(&view, p, slack)) {
            return true;
        }
    }
    return false;
}

static rgDecomposition* rgDecomposeOrFail(const rgSolid* s, double tolerance, int most) {
    rgMeshData data = rgSolid_Data(s);
    rgDecomposeDef def = rgDefaultDecomposeDef();
    rgDecomposition* d = NULL;
    def.tolerance = tolerance;
    def.maxHulls = most;
    assert_int_equal(rgDecomposeMesh(&data, &def, NULL, &d), rg_ok);
    return d;
}

// Random points: inside the solid covered; covered but outside, near the surface.
static void rgCheckSolid(const rgSolid* s, double tolerance, int expected) {
    rgDecomposition* d = rgDecomposeOrFail(s, tolerance, 64);
    int hulls = rgDecomposition_Count(d);
    if (hulls > expected) {
        print_error("%d hulls, expected at most %d\n", hulls, expected);
        fail();
    }
    assert_true(rgDecomposition_Hollow(d) <= tolerance);
    rgMeshData data = rgSolid_Data(s);
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry *mesh, *point;
    def.kind = rg_shapeMesh;
    def.mesh = &data;
    assert_int_equal(rgCreateGeometry(&def, NULL, &mesh), rg_ok);
    def.kind = rg_shapeSphere;
    def.size.x = 1e-9;
    assert_int_equal(rgCreateGeometry(&def, NULL, &point), rg_ok);
    rgBox box = rgGeometry_LocalBox(mesh);
    double size = rgLength(rgSub(box.upper, box.lower));
    rgRandom random = {91};
    int inside = 0;
    double worst = 0; // depth of what is filled, over the size
    for (int k = 0; k < rgFewer(4000); ++k) {
        rgVec3 p = rgVec(rgRandom_Uniform(&random, box.lower.x, box.upper.x),
                         rgRandom_Uniform(&random, box.lower.y, box.upper.y),
                         rgRandom_Uniform(&random, box.lower.z, box.upper.z));
        bool solid = rgWindingNumber(s->triangleCount, s->triangles, s->vertices, p) > 0.5;
        if (solid) {
            inside += 1;
            assert_true(rgIsCovered(d, p, 1e-7 * size));
        } else if (rgIsCovered(d, p, 0)) {
            rgProximity at;
            assert_int_equal(rgDistance(mesh, rgPoseIdentity(), point,
                                        (rgPose){p, rgPoseIdentity().q}, NULL, &at),
                             rg_ok);
            worst = fmax(worst, at.distance / size);
        }
    }
    assert_true(inside > 10);
    if (!(worst < 1.1 * tolerance)) { // probes are some way apart
        print_error("%d hulls fill %g of the size, more than %g\n", hulls, worst, tolerance);
        fail();
    }
    for (int i = 0; i < s->vertexCount; ++i) {
        const double* v = s->vertices + 3 * i;
        assert_true(rgIsCovered(d, rgVec(v[0], v[1], v[2]), 1e-7 * size));
    }
    rgDestroyGeometry(mesh);
    rgDestroyGeometry(point);
    rgDestroyDecomposition(d);
}

static void test_solids(void** state) {
    (void)state;
    static rgSolid s;
    rgMakeCube(&s);
    rgCheckSolid(&s, 0.03, 1);
    rgMakeSpool(&s, 24);
    rgCheckSolid(&s, 0.03, 3);
    rgMakeCup(&s, 32);
    rgCheckSolid(&s, 0.03, 12);
    rgCheckSolid(&s, 0.1, 12);
    rgMakeTorus(&s);
    rgCheckSolid(&s, 0.03, 12);
}

// With few hulls allowed there are no more, and what is filled is told.
static void test_limit(void** state) {
    (void)state;
    static rgSolid s;
    rgMakeCup(&s, 32);
    double before = INFINITY;
    for (int most = 1; most <= 16; most *= 4) {
        rgDecomposition* d = rgDecomposeOrFail(&s, 0.03, most);
        assert_in_range(rgDecomposition_Count(d), 1, most);
        assert_true(rgDecomposition_Hollow(d) <= before);
        before = rgDecomposition_Hollow(d);
        rgDestroyDecomposition(d);
    }
    assert_true(before <= 0.03);
}

// Bit by bit the same, and for triangles that face any way.
static void test_same(void** state) {
    (void)state;
    static rgSolid s;
    rgMakeCup(&s, 32);
    rgDecomposition* a = rgDecomposeOrFail(&s, 0.03, 32);
    rgDecomposition* b = rgDecomposeOrFail(&s, 0.03, 32);
    assert_int_equal(rgDecomposition_Count(a), rgDecomposition_Count(b));
    for (int i = 0; i < rgDecomposition_Count(a); ++i) {
        rgHullView u = rgDecomposition_Hull(a, i), v = rgDecomposition_Hull(b, i);
        assert_int_equal(u.vertexCount, v.vertexCount);
        assert_memory_equal(u.vertices, v.vertices, 3 * sizeof(double) * (size_t)u.vertexCount);
    }
    for (int t = 0; t < s.triangleCount; t += 3) {
        int swap = s.triangles[3 * t];
        s.triangles[3 * t] = s.triangles[3 * t + 1];
        s.triangles[3 * t + 1] = swap;
    }
    rgDecomposition* c = rgDecomposeOrFail(&s, 0.03, 32);
    assert_in_range(rgDecomposition_Count(c), 6, 12);
    rgDestroyDecomposition(a);
    rgDestroyDecomposition(b);
    rgDestroyDecomposition(c);
}

// Open, flat, empty: one hull with a warning, or refused.
static void test_no_solid(void** state) {
    (void)state;
    static rgSolid s;
    rgDiagnostics* said = NULL;
    rgDecomposeDef def = rgDefaultDecomposeDef();
    rgDecomposition* d = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgMakeCup(&s, 32);
    s.triangleCount /= 2; // the rim and what is inside are gone
    rgMeshData data = rgSolid_Data(&s);
    assert_int_equal(rgDecomposeMesh(&data, &def, said, &d), rg_ok);
    assert_int_equal(rgDecomposition_Count(d), 1);
    assert_int_equal(rgDiagnostics_Count(said), 1);
    assert_int_equal(rgDiagnostics_Message(said, 0).severity, rg_severityWarning);
    rgDestroyDecomposition(d);
    for (int i = 0; i < s.vertexCount; ++i) {
        s.vertices[3 * i + 2] = 0;
    }
    d = NULL;
    assert_int_equal(rgDecomposeMesh(&data, &def, said, &d), rg_errorArgument);
    data.triangleCount = 0;
    assert_int_equal(rgDecomposeMesh(&data, &def, said, &d), rg_errorArgument);
    def.maxHulls = 0;
    assert_int_equal(rgDecomposeMesh(&data, &def, said, &d), rg_errorArgument);
    assert_null(d);
    rgDestroyDiagnostics(said);
}

// Memory that ends at any call is told, and nothing stays behind.
static void test_memory(void** state) {
    (void)state;
    static rgSolid s;
    rgMakeSpool(&s, 8);
    rgMeshData data = rgSolid_Data(&s);
    bool done = false;
    for (int n = 0; !done; n += 1 + n / 4) {
        rgCounter counter = {.failAfter = n};
        rgDecomposeDef def = rgDefaultDecomposeDef();
        rgDecomposition* d = NULL;
        def.allocator = rgCountingAllocator(&counter);
        rgResult result = rgDecomposeMesh(&data, &def, NULL, &d);
        done = result == rg_ok;
        assert_true(done || result == rg_errorMemory);
        rgDestroyDecomposition(d);
        assert_int_equal(counter.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solids),   cmocka_unit_test(test_limit),  cmocka_unit_test(test_same),
        cmocka_unit_test(test_no_solid), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
