// Every shape against random meshes, closed and open, hollow, badly oriented, with slivers, beside
// distances to all triangles one by one.
#include "nearest.h"
#include "scene.h"

#define RG_SOUP_VERTICES  400
#define RG_SOUP_TRIANGLES 800

typedef struct rgSoup {
    int vertexCount, triangleCount;
    double vertices[3 * RG_SOUP_VERTICES];
    int triangles[3 * RG_SOUP_TRIANGLES];
    int outward[3 * RG_SOUP_TRIANGLES]; // as closed meshes were made, before they were spoiled
    int outwardCount;
    bool closed;
    rgGeometry* geometry;
} rgSoup;

static int rgSoup_Vertex(rgSoup* m, double x, double y, double z) {
    assert_true(m->vertexCount < RG_SOUP_VERTICES);
    double* v = m->vertices + 3 * m->vertexCount;
    v[0] = x, v[1] = y, v[2] = z;
    return m->vertexCount++;
}

static void rgSoup_Triangle(rgSoup* m, int a, int b, int c) {
    assert_true(m->triangleCount < RG_SOUP_TRIANGLES);
    int* t = m->triangles + 3 * m->triangleCount++;
    t[0] = a, t[1] = b, t[2] = c;
}

static void rgSoup_Quad(rgSoup* m, int a, int b, int c, int d) {
    rgSoup_Triangle(m, a, b, c);
    rgSoup_Triangle(m, a, c, d);
}

// Rings of points one above the other, closed by a point at each end or into a torus.
static void rgSoup_Rings(rgSoup* m, int first, int rings, int count, bool torus) {
    for (int j = 0; j < (torus ? rings : rings - 1); ++j) {
        for (int i = 0; i < count; ++i) {
            int next = (i + 1) % count, up = (j + 1) % rings;
            rgSoup_Quad(m, first + j * count + i, first + j * count + next,
                        first + up * count + next, first + up * count + i);
        }
    }
}

static void rgSoup_Caps(rgSoup* m, int first, int rings, int count, int low, int high) {
    int last = first + (rings - 1) * count;
    for (int i = 0; i < count; ++i) {
        rgSoup_Triangle(m, low, first + (i + 1) % count, first + i);
        rgSoup_Triangle(m, high, last + i, last + (i + 1) % count);
    }
}

// A T of revolution with few sides, or a vase: radii jump from ring to ring.
static void rgMakeTurned(rgSoup* m, rgRandom* random) {
    int rings = 3 + rgRandom_Index(random, 4), count = 3 + rgRandom_Index(random, 6);
    double z = -0.5;
    bool level = true;
    int first = m->vertexCount;
    for (int j = 0; j < rings; ++j) {
        double radius = rgRandom_Uniform(random, 0.05, 0.6);
        for (int i = 0; i < count; ++i) {
            double a = 2 * acos(-1) * i / count;
            rgSoup_Vertex(m, radius * cos(a), radius * sin(a), z);
        }
        // Three rings at one height would make a sheet without thickness.
        level = !level && j < rings - 2 && rgRandom_Index(random, 2);
        z += level ? 0 : rgRandom_Uniform(random, 0.02, 0.4);
    }
    int low = rgSoup_Vertex(m, 0, 0, -0.5);
    const double* top = m->vertices + 3 * (low - 1);
    int high = rgSoup_Vertex(m, 0, 0, top[2]);
    m->vertices[3 * high + 2] += 0.05;
    rgSoup_Rings(m, first, rings, count, false);
    rgSoup_Caps(m, first, rings, count, low, high);
}

static void rgMakeTorus(rgSoup* m, rgRandom* random) {
    int rings = 4 + rgRandom_Index(random, 7), count = 3 + rgRandom_Index(random, 5);
    double small = rgRandom_Uniform(random, 0.03, 0.2);
    int first = m->vertexCount;
    for (int j = 0; j < rings; ++j) {
        double b = -2 * acos(-1) * j / rings; // outward
        for (int i = 0; i < count; ++i) {
            double a = 2 * acos(-1) * i / count, r = 0.5 + small * cos(a);
            rgSoup_Vertex(m, r * cos(b), r * sin(b), small * sin(a));
        }
    }
    rgSoup_Rings(m, first, rings, count, true);
}

// A ball with dents and spikes.
static void rgMakeSpiky(rgSoup* m, rgRandom* random) {
    int rings = 4, count = 6, first = m->vertexCount;
    for (int j = 0; j < rings; ++j) {
        double up = acos(-1) * (j + 1) / (rings + 1);
        for (int i = 0; i < count; ++i) {
            double a = 2 * acos(-1) * i / count, r = rgRandom_Uniform(random, 0.15, 0.6);
            rgSoup_Vertex(m, r * sin(up) * cos(a), r * sin(up) * sin(a), -r * cos(up));
        }
    }
    int low = rgSoup_Vertex(m, 0, 0, -rgRandom_Uniform(random, 0.2, 0.6));
    int high = rgSoup_Vertex(m, 0, 0, rgRandom_Uniform(random, 0.2, 0.6));
    rgSoup_Rings(m, first, rings, count, false);
    rgSoup_Caps(m, first, rings, count, low, high);
}

static void rgMakeCube(rgSoup* m, rgRandom* random) {
    double x = rgRandom_Uniform(random, 0.1, 0.5), y = rgRandom_Uniform(random, 0.1, 0.5);
    double z = rgRandom_Uniform(random, 0.05, 0.5);
    int first = m->vertexCount;
    for (int i = 0; i < 8; ++i) {
        rgSoup_Vertex(m, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
    }
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int q = 0; q < 6; ++q) {
        rgSoup_Quad(m, first + quads[q][0], first + quads[q][1], first + quads[q][2],
                    first + quads[q][3]);
    }
}

static void rgMakeSheet(rgSoup* m, rgRandom* random) {
    int side = 5;
    for (int i = 0; i < side * side; ++i) {
        rgSoup_Vertex(m, 0.25 * (i % side) - 0.5, 0.25 * (i / side) - 0.5,
                      rgRandom_Uniform(random, -0.15, 0.15));
    }
    for (int j = 0; j < side - 1; ++j) {
        for (int i = 0; i < side - 1; ++i) {
            int at = j * side + i;
            rgSoup_Quad(m, at, at + 1, at + side + 1, at + side);
        }
    }
}

static void rgMakeScraps(rgSoup* m, rgRandom* random) {
    for (int t = 0; t < 12; ++t) {
        rgVec3 c = rgScale(0.4, rgTestDirection(random));
        int first = m->vertexCount;
        for (int k = 0; k < 3; ++k) {
            rgVec3 p = rgAddScaled(c, rgRandom_Uniform(random, 0.02, 0.4), rgTestDirection(random));
            rgSoup_Vertex(m, p.x, p.y, p.z);
        }
        rgSoup_Triangle(m, first, first + 1, first + 2);
    }
}

static void rgSoup_Flip(rgSoup* m, int t) {
    int* c = m->triangles + 3 * t;
    int swap = c[0];
    c[0] = c[1], c[1] = swap;
}

// Points, lines and a copy of an edge's length without area.
static void rgSoup_AddSlivers(rgSoup* m, rgRandom* random) {
    for (int k = 0; k < 5; ++k) {
        const int* c = m->triangles + 3 * rgRandom_Index(random, m->triangleCount);
        rgSoup_Triangle(m, c[0], c[k % 3], c[1]);
    }
}

enum { rg_asMade, rg_insideOut, rg_mixed, rg_slivers, rg_holes, rg_ways };

static void rgMakeSoup(rgSoup* m, int which, int way, rgRandom* random) {
    memset(m, 0, sizeof(*m));
    switch (which) {
    case 0:
        rgMakeTurned(m, random);
        break;
    case 1:
        rgMakeTorus(m, random);
        break;
    case 2:
        rgMakeSpiky(m, random);
        break;
    case 3:
        rgMakeCube(m, random);
        break;
    case 4:
        rgMakeSheet(m, random);
        break;
    default:
        rgMakeScraps(m, random);
        break;
    }
    m->closed = which < 4 && way != rg_holes;
    m->outwardCount = m->triangleCount;
    memcpy(m->outward, m->triangles, 3 * sizeof(int) * (size_t)m->triangleCount);
    for (int t = 0; t < m->triangleCount; ++t) {
        if (way == rg_insideOut || (way == rg_mixed && rgRandom_Index(random, 2))) {
            rgSoup_Flip(m, t);
        }
    }
    if (way == rg_slivers) {
        rgSoup_AddSlivers(m, random);
    }
    if (way == rg_holes) {
        m->triangleCount -= 1 + rgRandom_Index(random, m->triangleCount / 2);
    }
    rgMeshData mesh = {m->vertexCount, m->vertices, m->triangleCount, m->triangles};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapeMesh;
    def.mesh = &mesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &m->geometry), rg_ok);
}

// ---- distances to all triangles

typedef struct rgPlaced {
    const rgTestShape* shape;
    rgPose pose;
} rgPlaced;

static rgVec3 rgFarthestOfShape(const void* set, rgVec3 d) {
    const rgPlaced* p = set;
    rgVec3 local = rgTestFarthest(p->shape, rgRotateBack(p->pose.q, d));
    return rgPose_Point(p->pose, local);
}

static rgVec3 rgFarthestOfTriangle(const void* set, rgVec3 d) {
    const rgVec3* c = set;
    int best = rgDot(c[1], d) > rgDot(c[0], d) ? 1 : 0;
    return c[rgDot(c[2], d) > rgDot(c[best], d) ? 2 : best];
}

typedef struct rgTruth {
    double distance; // from the triangles
    rgVec3 normal;
    bool inside; // apart from the triangles, within the solid
} rgTruth;

static rgTruth rgMeasure(const rgSoup* m, const rgTestShape* s, rgPose pose) {
    rgTruth truth = {INFINITY, {0, 0, 0}, false};
    rgPlaced placed = {s, pose};
    double size = rgGeometry_BoundingRadius(s->geometry);
    for (int t = 0; t < m->triangleCount; ++t) {
        rgVec3 corners[3];
        double away = INFINITY;
        for (int k = 0; k < 3; ++k) {
            const double* v = m->vertices + 3 * m->triangles[3 * t + k];
            corners[k] = rgVec(v[0], v[1], v[2]);
            away = fmin(away, rgLength(rgSub(corners[k], pose.p)));
        }
        if (away - size - 1.5 > truth.distance) {
            continue;
        }
        rgNearest n = rgFindNearest(rgFarthestOfTriangle, corners, rgFarthestOfShape, &placed);
        if (n.distance < truth.distance) {
            truth.distance = n.distance;
            truth.normal = n.normal;
        }
    }
    truth.inside = m->closed && truth.distance > 0 &&
                   rgWindingNumber(m->outwardCount, m->outward, m->vertices,
                                   rgFarthestOfShape(&placed, rgVec(1, 0, 0))) > 0.5;
    return truth;
}

static double rgLeast(const rgManifold* m) {
    double least = INFINITY;
    for (int k = 0; k < m->count; ++k) {
        least = fmin(least, m->points[k].gap);
    }
    return least;
}

static void rgReportCase(const char* what, int shape, int which, int way, int k, double expected,
                         const rgManifold* m) {
    print_error("%s: %s on mesh %d as %d, case %d: expected %g, %d points, least %g\n", what,
                rgTestName(shape), which, way, k, expected, m->count, rgLeast(m));
    fail();
}

typedef struct rgCase {
    int shape, which, way, k;
} rgCase;

// Apart: nothing beyond the margin, else the distance (the front of open surfaces only), and
// never a gap below it.
static void rgCheckApart(const rgSoup* m, const rgTestShape* s, rgPose pose, const rgTruth* truth,
                         const rgCase* c) {
    // Rims of cylinders are clipped as polygons of 12 corners.
    double margin = 0.02, rim = c->shape == 2 ? 2e-3 : 1e-6;
    rgManifold got;
    rgCollide(m->geometry, rgPoseIdentity(), s->geometry, pose, margin, NULL, &got);
    if (truth->distance > margin + 1e-6 && got.count > 0) {
        rgReportCase("from nothing", c->shape, c->which, c->way, c->k, truth->distance, &got);
    }
    if (got.count > 0 && rgLeast(&got) < truth->distance - 1e-6) {
        rgReportCase("too deep", c->shape, c->which, c->way, c->k, truth->distance, &got);
    }
    if (m->closed && truth->distance < margin - 1e-6 &&
        !(fabs(rgLeast(&got) - truth->distance) < rim)) {
        rgReportCase("missed", c->shape, c->which, c->way, c->k, truth->distance, &got);
    }
    rgProximity p;
    assert_int_equal(rgDistance(m->geometry, rgPoseIdentity(), s->geometry, pose, NULL, &p), rg_ok);
    if (fabs(p.distance - truth->distance) > 1e-5) {
        rgReportCase("distance", c->shape, c->which, c->way, c->k, truth->distance, &got);
    }
}

// Pressed in by a little from where it touches: some contact says so, and none says much more.
static void rgCheckPressed(const rgSoup* m, const rgTestShape* s, rgPose pose, const rgTruth* truth,
                           const rgCase* c) {
    double depth = 2e-3;
    pose.p = rgAddScaled(pose.p, -truth->distance - depth, truth->normal);
    rgTruth pressed = rgMeasure(m, s, pose);
    rgManifold got;
    rgCollide(m->geometry, rgPoseIdentity(), s->geometry, pose, 0.01, NULL, &got);
    // A corner may have slipped off an edge.
    if (pressed.distance == 0 && !(rgLeast(&got) < 0)) {
        rgReportCase("unnoticed", c->shape, c->which, c->way, c->k, -depth, &got);
    }
    if (rgLeast(&got) < -1.5 * depth) {
        rgReportCase("false depth", c->shape, c->which, c->way, c->k, -depth, &got);
    }
}

static rgPose rgBeside(rgRandom* random, double apart) {
    rgPose pose = {rgScale(apart, rgTestDirection(random)), rgTestRotation(random)};
    return pose;
}

static void test_random_meshes(void** state) {
    (void)state;
    rgRandom random = {61};
    static rgSoup m;
    int apart = 0, near = 0, deep = 0;
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        for (int which = 0; which < 6; ++which) {
            for (int way = 0; way < rg_ways; ++way) {
                rgTestShape s;
                rgTestMake(&s, i, rgRandom_Uniform(&random, 0.1, 0.6), &random);
                rgMakeSoup(&m, which, way, &random);
                for (int k = 0; k < 2 * rgFewer(4); ++k) {
                    rgPose pose = rgBeside(&random, rgRandom_Uniform(&random, 0, 1));
                    rgTruth truth = rgMeasure(&m, &s, pose);
                    rgCase c = {i, which, way, k};
                    if (truth.distance == 0 || truth.inside) {
                        deep += 1;
                        continue;
                    }
                    // Half of them brought near.
                    if (k % 2) {
                        double to = rgRandom_Uniform(&random, 1e-4, 0.03);
                        pose.p = rgAddScaled(pose.p, to - truth.distance, truth.normal);
                        truth = rgMeasure(&m, &s, pose);
                        near += 1;
                    }
                    if (truth.distance == 0) {
                        continue;
                    }
                    apart += 1;
                    rgCheckApart(&m, &s, pose, &truth, &c);
                    // Needles and plates are thinner than the depth.
                    if (m.closed && i != 9 && i != 10) {
                        rgCheckPressed(&m, &s, pose, &truth, &c);
                    }
                }
                rgDestroyGeometry(m.geometry);
                rgTestDestroy(&s);
            }
        }
    }
    assert_true(apart > 10 * near / 11 && near > 0 && deep > 0);
}

// A rod 3 cm from the rim of a T, whose upper plate it passes on its way up.
static void test_rod_beside_t(void** state) {
    (void)state;
    static rgSoup m;
    memset(&m, 0, sizeof(m));
    const double half[4][2] = {{0.02, 0}, {0.02, 0.1}, {0.1, 0.1}, {0.1, 0.2}};
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 4; ++i) {
            rgSoup_Vertex(&m, i == 1 || i == 2 ? half[j][0] : -half[j][0],
                          i < 2 ? -half[j][0] : half[j][0], half[j][1]);
        }
    }
    rgSoup_Rings(&m, 0, 4, 4, false);
    rgSoup_Quad(&m, 3, 2, 1, 0);
    rgSoup_Quad(&m, 12, 13, 14, 15);
    rgMeshData mesh = {m.vertexCount, m.vertices, m.triangleCount, m.triangles};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapeMesh;
    def.mesh = &mesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &m.geometry), rg_ok);
    rgTestShape rod = {.kind = rg_shapeBox, .size = {0.01, 0.01, 0.34}};
    rgTestCreate(&rod);
    for (int k = 0; k < 200; ++k) {
        rgPose pose = {rgVec(0.3, 0, 0.07 + 1e-3 * (k - 100)),
                       rgQuatFromAxisAngle(rgVec(0, 1, 0), -0.8271)};
        rgTruth truth = rgMeasure(&m, &rod, pose);
        rgCase c = {3, 0, 0, k};
        if (truth.distance > 0) {
            m.closed = true;
            rgCheckApart(&m, &rod, pose, &truth, &c);
        }
    }
    rgTestDestroy(&rod);
    rgDestroyGeometry(m.geometry);
}

// The walls of a hollow cube face into the hollow as made, inside out, and said twice.
static void test_hollow(void** state) {
    (void)state;
    static rgSoup m;
    for (int way = 0; way < 3; ++way) {
        memset(&m, 0, sizeof(m));
        rgRandom random = {7};
        rgMakeCube(&m, &random);
        rgMakeCube(&m, &random);
        for (int i = 0; i < 16; ++i) {
            double size = i < 8 ? 1 : 0.5;
            for (int k = 0; k < 3; ++k) {
                m.vertices[3 * i + k] = copysign(size, m.vertices[3 * i + k]);
            }
        }
        for (int t = 0; t < 24; ++t) {
            if ((t >= 12) != (way == 1)) {
                rgSoup_Flip(&m, t);
            }
        }
        for (int t = 0; way == 2 && t < 24; ++t) {
            const int* c = m.triangles + 3 * t;
            rgSoup_Triangle(&m, c[1], c[0], c[2]);
        }
        rgMeshData mesh = {m.vertexCount, m.vertices, m.triangleCount, m.triangles};
        rgGeometryDef def = rgDefaultGeometryDef();
        def.kind = rg_shapeMesh;
        def.mesh = &mesh;
        assert_int_equal(rgCreateGeometry(&def, NULL, &m.geometry), rg_ok);
        rgTestShape ball = {.kind = rg_shapeSphere, .size = {0.1, 0, 0}};
        rgTestCreate(&ball);
        rgManifold got;
        rgPose pose = {rgVec(0, 0, -0.41), rgPoseIdentity().q};
        assert_int_equal(
            rgCollide(m.geometry, rgPoseIdentity(), ball.geometry, pose, 0.02, NULL, &got), 1);
        EXPECT_NEAR(got.points[0].gap, -0.01, 1e-12);
        EXPECT_NEAR(got.normal.z, 1, 1e-12);
        pose.p.z = 1.09;
        assert_int_equal(
            rgCollide(m.geometry, rgPoseIdentity(), ball.geometry, pose, 0.02, NULL, &got), 1);
        EXPECT_NEAR(got.points[0].gap, -0.01, 1e-12);
        pose.p.z = 0.95; // in the wall, nearer to its outside
        assert_int_equal(
            rgCollide(m.geometry, rgPoseIdentity(), ball.geometry, pose, 0.02, NULL, &got), 1);
        EXPECT_NEAR(got.points[0].gap, -0.15, 1e-12);
        rgTestDestroy(&ball);
        rgDestroyGeometry(m.geometry);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rod_beside_t),
        cmocka_unit_test(test_hollow),
        cmocka_unit_test(test_random_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
