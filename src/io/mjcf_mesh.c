// Inertia of MJCF meshes, by MuJoCo's rules.
#include "io/convex.h"
#include "io/mjcf.h"

static rgVec3 rgMjMesh_Vertex(const rgMeshData* mesh, int triangle, int corner) {
    const double* v = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + corner];
    return rgVec(v[0], v[1], v[2]);
}

// Middle of the surface, weighted by area.
static rgVec3 rgMjMesh_SurfaceCenter(const rgMeshData* mesh) {
    rgVec3 sum = {0, 0, 0};
    double total = 0;
    for (int i = 0; i < mesh->triangleCount; ++i) {
        rgVec3 a = rgMjMesh_Vertex(mesh, i, 0), b = rgMjMesh_Vertex(mesh, i, 1),
               c = rgMjMesh_Vertex(mesh, i, 2);
        double area = rgLength(rgCross(rgSub(b, a), rgSub(c, a))) / 2;
        sum = rgAddScaled(sum, area / 3, rgAdd(a, rgAdd(b, c)));
        total += area;
    }
    return total > 0 ? rgScale(1 / total, sum) : sum;
}

// Tetrahedra from the origin to the triangles, each counted as positive: MuJoCo's legacy rule,
// which gives the solid's integrals where the surface is star-shaped around the origin, whichever
// way the triangles face. Products: integrals of x x, y y, z z, x y, x z, y z about the origin.
static double rgMjMesh_Integrate(const rgMeshData* mesh, rgVec3 origin, rgVec3* first,
                                 rgSym3* second) {
    double volume = 0;
    *first = rgVec(0, 0, 0);
    *second = (rgSym3){0};
    for (int i = 0; i < mesh->triangleCount; ++i) {
        rgVec3 a = rgSub(rgMjMesh_Vertex(mesh, i, 0), origin);
        rgVec3 b = rgSub(rgMjMesh_Vertex(mesh, i, 1), origin);
        rgVec3 c = rgSub(rgMjMesh_Vertex(mesh, i, 2), origin);
        double v = fabs(rgDot(a, rgCross(b, c))) / 6;
        rgVec3 s = rgAdd(a, rgAdd(b, c));
        volume += v;
        *first = rgAddScaled(*first, v / 4, s);
        double k = v / 20;
        second->xx += k * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x);
        second->yy += k * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y);
        second->zz += k * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z);
        second->xy += k * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y);
        second->xz += k * (s.x * s.z + a.x * a.z + b.x * b.z + c.x * c.z);
        second->yz += k * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z);
    }
    return volume;
}

static rgSym3 rgMomentOf(const rgSym3* p) {
    return (rgSym3){.xx = p->yy + p->zz,
                    .yy = p->xx + p->zz,
                    .zz = p->xx + p->yy,
                    .xy = -p->xy,
                    .xz = -p->xz,
                    .yz = -p->yz};
}

// The volume is that of the second pass, around the centre that the first one gave.
static bool rgMjMesh_LegacyInertia(const rgMeshData* mesh, rgInertia* inertia) {
    rgVec3 origin = rgMjMesh_SurfaceCenter(mesh), first;
    rgSym3 second;
    double volume = rgMjMesh_Integrate(mesh, origin, &first, &second);
    if (!(volume > 1e-18)) {
        return false;
    }
    rgVec3 center = rgAddScaled(origin, 1 / volume, first);
    inertia->mass = rgMjMesh_Integrate(mesh, center, &first, &second);
    inertia->center = center;
    inertia->moment = rgMomentOf(&second);
    return inertia->mass > 0;
}

// Inertia of triangles with unit mass per area: the integral of x x' over one is A/12 (sum of its
// corners' v v' + s s'), s the sum of its corners.
static bool rgMjMesh_ShellInertia(const rgMeshData* mesh, rgInertia* inertia) {
    rgVec3 center = rgMjMesh_SurfaceCenter(mesh);
    rgSym3 p = {0};
    double total = 0;
    for (int i = 0; i < mesh->triangleCount; ++i) {
        rgVec3 v[4];
        for (int k = 0; k < 3; ++k) {
            v[k] = rgSub(rgMjMesh_Vertex(mesh, i, k), center);
        }
        v[3] = rgAdd(v[0], rgAdd(v[1], v[2]));
        double area = rgLength(rgCross(rgSub(v[1], v[0]), rgSub(v[2], v[0]))) / 2;
        total += area;
        for (int k = 0; k < 4; ++k) {
            double w = area / 12;
            p.xx += w * v[k].x * v[k].x, p.yy += w * v[k].y * v[k].y, p.zz += w * v[k].z * v[k].z;
            p.xy += w * v[k].x * v[k].y, p.xz += w * v[k].x * v[k].z, p.yz += w * v[k].y * v[k].z;
        }
    }
    inertia->mass = total;
    inertia->center = center;
    inertia->moment = rgMomentOf(&p);
    return total > 0;
}

static bool rgMjMesh_HullInertia(const rgMeshData* mesh, const rgAllocator* allocator,
                                 rgInertia* inertia) {
    rgArena arena;
    rgMeshData hull;
    rgArena_Init(&arena, allocator);
    bool good = rgConvexTriangles(mesh, &arena, &hull) && rgMjMesh_LegacyInertia(&hull, inertia);
    rgArena_Free(&arena);
    return good;
}

bool rgMjMesh_Inertia(const rgMjMesh* mesh, bool shell, const rgAllocator* allocator,
                      rgInertia* inertia) {
    if (shell || mesh->inertia == rg_mjMeshShell) {
        return rgMjMesh_ShellInertia(&mesh->data, inertia);
    }
    if (mesh->inertia == rg_mjMeshConvex || mesh->data.triangleCount == 0) {
        return rgMjMesh_HullInertia(&mesh->data, allocator, inertia);
    }
    if (mesh->inertia == rg_mjMeshExact) {
        return rgInertiaFromMesh(&mesh->data, 1, inertia) == rg_ok;
    }
    return rgMjMesh_LegacyInertia(&mesh->data, inertia);
}
