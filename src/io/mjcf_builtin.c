// MJCF meshes that the file does not hold but describes: <mesh builtin params>, as MuJoCo's
// reference has them. Unit size; faces counter-clockwise from outside.
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

#define RG_PI             3.14159265358979323846
#define RG_MAX_RESOLUTION 1000
#define RG_MAX_PARAMS     5

typedef struct rgMjBuilder {
    double* vertices;
    int vertexCount;
    int* triangles;
    int triangleCount;
} rgMjBuilder;

static int rgMjBuilder_Vertex(rgMjBuilder* b, double x, double y, double z) {
    double* v = b->vertices + 3 * (size_t)b->vertexCount;
    v[0] = x, v[1] = y, v[2] = z;
    return b->vertexCount++;
}

static void rgMjBuilder_Triangle(rgMjBuilder* b, int i, int j, int k) {
    int* t = b->triangles + 3 * (size_t)b->triangleCount++;
    t[0] = i, t[1] = j, t[2] = k;
}

// Room for so many vertices and triangles; false: out of memory.
static bool rgMjcf_AllocateBuilder(rgMjcf* m, rgMjBuilder* b, size_t vertexCount,
                                   size_t triangleCount) {
    *b = (rgMjBuilder){.vertices = RG_TAKE(&m->arena, double, 3 * vertexCount),
                       .triangles = RG_TAKE(&m->arena, int, 3 * triangleCount)};
    if (b->vertices == NULL || b->triangles == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    return true;
}

// Push a vertex out to the unit sphere.
static void rgMjBuilder_Normalize(rgMjBuilder* b, int vertex) {
    double* v = b->vertices + 3 * (size_t)vertex;
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    v[0] /= length, v[1] /= length, v[2] /= length;
}

// The vertex between two others on the sphere: the same for both triangles of an edge. Few enough
// for a search.
static int rgMjBuilder_Middle(rgMjBuilder* b, int i, int j, int first) {
    const double* p = b->vertices + 3 * (size_t)i;
    const double* q = b->vertices + 3 * (size_t)j;
    int made = rgMjBuilder_Vertex(b, p[0] + q[0], p[1] + q[1], p[2] + q[2]);
    rgMjBuilder_Normalize(b, made);
    const double* v = b->vertices + 3 * (size_t)made;
    for (int k = first; k < made; ++k) {
        const double* w = b->vertices + 3 * (size_t)k;
        if (fabs(v[0] - w[0]) + fabs(v[1] - w[1]) + fabs(v[2] - w[2]) < 1e-9) {
            b->vertexCount -= 1;
            return k;
        }
    }
    return made;
}

// Every triangle into four.
static void rgMjBuilder_Subdivide(rgMjBuilder* b) {
    int first = b->vertexCount, count = b->triangleCount;
    for (int i = 0; i < count; ++i) {
        int* t = b->triangles + 3 * (size_t)i;
        int a = t[0], c = t[1], e = t[2];
        int ac = rgMjBuilder_Middle(b, a, c, first);
        int ce = rgMjBuilder_Middle(b, c, e, first);
        int ea = rgMjBuilder_Middle(b, e, a, first);
        t[0] = ac, t[1] = ce, t[2] = ea;
        rgMjBuilder_Triangle(b, a, ac, ea);
        rgMjBuilder_Triangle(b, c, ce, ac);
        rgMjBuilder_Triangle(b, e, ea, ce);
    }
}

// An icosahedron, subdivided: 2 + 10 4^s vertices.
static bool rgMjcf_MakeSphere(rgMjcf* m, const double* params, rgMjBuilder* b) {
    static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    double g = (1 + sqrt(5)) / 2; // golden ratio
    const double corners[12][3] = {{-1, g, 0}, {1, g, 0}, {-1, -g, 0}, {1, -g, 0},
                                   {0, -1, g}, {0, 1, g}, {0, -1, -g}, {0, 1, -g},
                                   {g, 0, -1}, {g, 0, 1}, {-g, 0, -1}, {-g, 0, 1}};
    int level = (int)params[0];
    size_t power = (size_t)1 << (2 * level);
    // A middle may be made twice before it is found again: room for one more.
    if (!rgMjcf_AllocateBuilder(m, b, 3 + 10 * power, 20 * power)) {
        return false;
    }
    for (int i = 0; i < 12; ++i) {
        int v = rgMjBuilder_Vertex(b, corners[i][0], corners[i][1], corners[i][2]);
        rgMjBuilder_Normalize(b, v);
    }
    for (int i = 0; i < 20; ++i) {
        rgMjBuilder_Triangle(b, faces[i][0], faces[i][1], faces[i][2]);
    }
    for (int i = 0; i < level; ++i) {
        rgMjBuilder_Subdivide(b);
    }
    return true;
}

// The vertex of a row, which goes once round the pole in four sides.
static int rgHemisphereVertex(int row, int side, int column) {
    int inRow = 4 * row;
    return row == 0 ? 0 : 1 + 2 * row * (row - 1) + (side * row + column) % inRow;
}

// Rows of a pyramid, from the pole at z = 1 down to the equator, pushed out; a cap below.
static bool rgMjcf_MakeHemisphere(rgMjcf* m, const double* params, rgMjBuilder* b) {
    static const double corner[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
    int rows = (int)params[0] + 1;
    size_t count = (size_t)rows * (size_t)(rows + 1);
    if (!rgMjcf_AllocateBuilder(m, b, 2 + 2 * count, 4 * count)) {
        return false;
    }
    rgMjBuilder_Vertex(b, 0, 0, 1);
    for (int row = 1; row <= rows; ++row) {
        for (int i = 0; i < 4 * row; ++i) {
            int side = i / row;
            double along = (double)(i % row) / row, out = (double)row / rows;
            double x = corner[side][0] + along * (corner[side + 1][0] - corner[side][0]);
            double y = corner[side][1] + along * (corner[side + 1][1] - corner[side][1]);
            rgMjBuilder_Normalize(b, rgMjBuilder_Vertex(b, out * x, out * y, 1 - out));
        }
    }
    int middle = rgMjBuilder_Vertex(b, 0, 0, 0);
    for (int row = 0; row < rows; ++row) {
        for (int side = 0; side < 4; ++side) {
            for (int i = 0; i <= row; ++i) {
                int a = rgHemisphereVertex(row, side, i);
                int c = rgHemisphereVertex(row + 1, side, i);
                int d = rgHemisphereVertex(row + 1, side, i + 1);
                rgMjBuilder_Triangle(b, a, c, d);
                if (i < row) {
                    rgMjBuilder_Triangle(b, a, d, rgHemisphereVertex(row, side, i + 1));
                }
            }
        }
    }
    for (int i = 0; i < 4 * rows; ++i) {
        rgMjBuilder_Triangle(b, middle, rgHemisphereVertex(rows, 0, i + 1),
                             rgHemisphereVertex(rows, 0, i));
    }
    return true;
}

// A polygon at z = -1 and a smaller one, or a point, at z = 1.
static bool rgMjcf_MakeCone(rgMjcf* m, const double* params, rgMjBuilder* b) {
    int count = (int)params[0];
    bool pointed = params[1] == 0;
    if (!rgMjcf_AllocateBuilder(m, b, 2 + 2 * (size_t)count, 4 * (size_t)count)) {
        return false;
    }
    int bottom = rgMjBuilder_Vertex(b, 0, 0, -1), top = rgMjBuilder_Vertex(b, 0, 0, 1);
    for (int i = 0; i < count; ++i) {
        double angle = 2 * RG_PI * i / count;
        rgMjBuilder_Vertex(b, cos(angle), sin(angle), -1);
    }
    for (int i = 0; i < count && !pointed; ++i) {
        double angle = 2 * RG_PI * i / count;
        rgMjBuilder_Vertex(b, params[1] * cos(angle), params[1] * sin(angle), 1);
    }
    for (int i = 0; i < count; ++i) {
        int a = 2 + i, c = 2 + (i + 1) % count;
        rgMjBuilder_Triangle(b, bottom, c, a);
        if (pointed) {
            rgMjBuilder_Triangle(b, top, a, c);
            continue;
        }
        rgMjBuilder_Triangle(b, a, c, c + count);
        rgMjBuilder_Triangle(b, a, c + count, a + count);
        rgMjBuilder_Triangle(b, top, a + count, c + count);
    }
    return true;
}

// |x|^power with the sign of x.
static double rgSignedPower(double x, double power) {
    return fabs(x) < 1e-14 ? 0 : copysign(pow(fabs(x), power), x);
}

// Barr's superellipsoid: rings between the poles.
static bool rgMjcf_MakeSupersphere(rgMjcf* m, const double* params, rgMjBuilder* b) {
    int n = (int)params[0];
    size_t count = (size_t)n * (size_t)(n - 1);
    if (!rgMjcf_AllocateBuilder(m, b, 2 + count, 2 * count)) {
        return false;
    }
    int south = rgMjBuilder_Vertex(b, 0, 0, -1), north = rgMjBuilder_Vertex(b, 0, 0, 1);
    for (int i = 1; i < n; ++i) {
        double v = -RG_PI / 2 + RG_PI * i / n, r = rgSignedPower(cos(v), params[2]);
        for (int j = 0; j < n; ++j) {
            double u = -RG_PI + 2 * RG_PI * j / n;
            rgMjBuilder_Vertex(b, r * rgSignedPower(cos(u), params[1]),
                               r * rgSignedPower(sin(u), params[1]),
                               rgSignedPower(sin(v), params[2]));
        }
    }
    for (int j = 0; j < n; ++j) {
        int next = (j + 1) % n, last = 2 + (n - 2) * n;
        rgMjBuilder_Triangle(b, south, 2 + next, 2 + j);
        rgMjBuilder_Triangle(b, north, last + j, last + next);
        for (int i = 0; i < n - 2; ++i) {
            int below = 2 + i * n, above = below + n;
            rgMjBuilder_Triangle(b, below + j, below + next, above + next);
            rgMjBuilder_Triangle(b, below + j, above + next, above + j);
        }
    }
    return true;
}

// Barr's supertoroid, of larger radius 1.
static bool rgMjcf_MakeSupertorus(rgMjcf* m, const double* params, rgMjBuilder* b) {
    int n = (int)params[0];
    size_t count = (size_t)n * (size_t)n;
    if (!rgMjcf_AllocateBuilder(m, b, count, 2 * count)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double u = 2 * RG_PI * i / n, v = 2 * RG_PI * j / n;
            double r = 1 + params[1] * rgSignedPower(cos(v), params[2]);
            rgMjBuilder_Vertex(b, r * rgSignedPower(cos(u), params[3]),
                               r * rgSignedPower(sin(u), params[3]),
                               params[1] * rgSignedPower(sin(v), params[2]));
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int a = i * n + j, c = (i + 1) % n * n + j, d = (i + 1) % n * n + (j + 1) % n,
                e = i * n + (j + 1) % n;
            rgMjBuilder_Triangle(b, a, c, d);
            rgMjBuilder_Triangle(b, a, d, e);
        }
    }
    return true;
}

// Middle of cell i of n between -1 and 1, which are finer in the middle by gamma.
static double rgFoveate(int i, int n, double gamma) {
    double sum = 0;
    for (int side = 0; side < 2; ++side) {
        double x = 2.0 * (i + side) / n - 1;
        sum += gamma * pow(x, 5) + (1 - gamma) * x;
    }
    return 0.5 * sum;
}

// Hull of a grid of points on the unit sphere, seen along -z: horizontal and vertical resolution
// and half angle, gamma.
static bool rgMjcf_MakeWedge(rgMjcf* m, const double* params, rgMjBuilder* b) {
    int columns = (int)params[0], rows = (int)params[1];
    if (!rgMjcf_AllocateBuilder(m, b, (size_t)columns * (size_t)rows, 0)) {
        return false;
    }
    for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < rows; ++j) {
            double azimuth = params[2] * RG_PI / 180 * rgFoveate(i, columns, params[4]);
            double elevation = params[3] * RG_PI / 180 * rgFoveate(j, rows, params[4]);
            rgMjBuilder_Vertex(b, sin(azimuth) * cos(elevation), sin(elevation),
                               -cos(azimuth) * cos(elevation));
        }
    }
    return true;
}

typedef bool rgMjBuiltinFcn(rgMjcf* m, const double* params, rgMjBuilder* b);

// Parameters of a built-in mesh: their number, the first ones integers, and their ranges.
typedef struct rgMjBuiltin {
    const char* name;
    rgMjBuiltinFcn* make; // NULL: flat
    int integerCount, paramCount;
    double least[RG_MAX_PARAMS], most[RG_MAX_PARAMS];
} rgMjBuiltin;

static const rgMjBuiltin builtins[] = {
    {"sphere", rgMjcf_MakeSphere, 1, 1, {0}, {4}},
    {"hemisphere", rgMjcf_MakeHemisphere, 1, 1, {0}, {10}},
    {"cone", rgMjcf_MakeCone, 1, 2, {3, 0}, {RG_MAX_RESOLUTION, 1}},
    {"supersphere", rgMjcf_MakeSupersphere, 1, 3, {3, 0, 0}, {RG_MAX_RESOLUTION, 100, 100}},
    {"supertorus",
     rgMjcf_MakeSupertorus,
     1,
     4,
     {3, 1e-9, 1e-9, 1e-9},
     {RG_MAX_RESOLUTION, 1, 100, 100}},
    {"wedge",
     rgMjcf_MakeWedge,
     2,
     5,
     {2, 2, 1e-9, 1e-9, 0},
     {RG_MAX_RESOLUTION, RG_MAX_RESOLUTION, 180, 90, 1}},
    {"plate", NULL, 2, 2, {0}, {0}},
};

static bool rgMjcf_ReadParams(rgMjcf* m, const rgXmlNode* node, const rgMjBuiltin* builtin,
                              double params[RG_MAX_PARAMS]) {
    rgXmlReader_Required(&m->reader, node, "params");
    if (rgXmlReader_Doubles(&m->reader, node, "params", params, builtin->paramCount,
                            builtin->paramCount) == 0) {
        return false;
    }
    for (int i = 0; i < builtin->paramCount; ++i) {
        bool good = params[i] >= builtin->least[i] && params[i] <= builtin->most[i] &&
                    (i >= builtin->integerCount || params[i] == floor(params[i]));
        if (!good) {
            rgXmlReader_Error(&m->reader, node, "<mesh params>: %g of a %s is not %s %g to %g",
                              params[i], builtin->name,
                              i < builtin->integerCount ? "an integer from" : "from",
                              builtin->least[i], builtin->most[i]);
            return false;
        }
    }
    return true;
}

bool rgMjMesh_MakeBuiltin(rgMjcf* m, rgMjMesh* mesh, const char* kind) {
    const rgMjBuiltin* builtin = NULL;
    for (int i = 0; i < RG_COUNT(builtins); ++i) {
        builtin = strcmp(builtins[i].name, kind) == 0 ? &builtins[i] : builtin;
    }
    if (builtin == NULL) {
        rgXmlReader_Error(&m->reader, mesh->node,
                          "<mesh builtin>: '%.60s' is none of: sphere, hemisphere, cone, "
                          "supersphere, supertorus, wedge, plate",
                          kind);
        return false;
    }
    if (builtin->make == NULL) {
        rgXmlReader_Error(&m->reader, mesh->node,
                          "<mesh builtin>: a %s is flat, a grid for tactile sensors, and has "
                          "neither volume nor convex hull; use a thin box instead",
                          kind);
        return false;
    }
    double params[RG_MAX_PARAMS] = {0};
    rgMjBuilder b;
    if (!rgMjcf_ReadParams(m, mesh->node, builtin, params) || !builtin->make(m, params, &b)) {
        return false;
    }
    mesh->data = (rgMeshData){.vertexCount = b.vertexCount,
                              .vertices = b.vertices,
                              .triangleCount = b.triangleCount,
                              .triangles = b.triangles};
    return true;
}
