// Inertias of shapes and meshes, their motion and sum, and the checks that a physical one passes.
#include "rigor/inertia.h"

#include "base/base.h"

static const double rgPi = 3.14159265358979323846;

static double rgCapsuleVolumes(rgVec3 size, double* cylinder, double* sphere) {
    double r = size.x;
    *cylinder = rgPi * r * r * 2 * size.y;
    *sphere = 4.0 / 3 * rgPi * r * r * r;
    return *cylinder + *sphere;
}

double rgShapeVolume(rgShapeKind kind, rgVec3 size) {
    double cylinder, sphere;
    switch (kind) {
    case rg_shapeSphere:
        return 4.0 / 3 * rgPi * size.x * size.x * size.x;
    case rg_shapeCapsule:
        return rgCapsuleVolumes(size, &cylinder, &sphere);
    case rg_shapeCylinder:
        return rgPi * size.x * size.x * 2 * size.y;
    case rg_shapeBox:
        return 8 * size.x * size.y * size.z;
    case rg_shapeEllipsoid:
        return 4.0 / 3 * rgPi * size.x * size.y * size.z;
    default:
        return 0;
    }
}

// Cylinder plus two half spheres, whose centres of mass are 3r/8 off the segment's ends.
static rgSym3 rgCapsuleMoment(rgVec3 size, double mass) {
    double cylinder, sphere;
    double volume = rgCapsuleVolumes(size, &cylinder, &sphere);
    if (!(volume > 0)) {
        return (rgSym3){0};
    }
    double r = size.x, h = size.y;
    double mc = mass * cylinder / volume, ms = mass * sphere / volume;
    double across = mc * (r * r / 4 + h * h / 3) + ms * (0.4 * r * r + 0.75 * r * h + h * h);
    return (rgSym3){.xx = across, .yy = across, .zz = mc * r * r / 2 + ms * 0.4 * r * r};
}

// k (b^2 + c^2) and so on: boxes have k = m/3, ellipsoids m/5.
static rgSym3 rgAxesMoment(double k, rgVec3 size) {
    double xx = size.x * size.x, yy = size.y * size.y, zz = size.z * size.z;
    return (rgSym3){.xx = k * (yy + zz), .yy = k * (xx + zz), .zz = k * (xx + yy)};
}

rgInertia rgInertiaFromShape(rgShapeKind kind, rgVec3 size, double mass) {
    rgInertia inertia = {.mass = mass};
    double r = size.x, h = size.y;
    switch (kind) {
    case rg_shapeSphere:
        inertia.moment = rgAxesMoment(mass / 5, rgVec(r, r, r));
        break;
    case rg_shapeCapsule:
        inertia.moment = rgCapsuleMoment(size, mass);
        break;
    case rg_shapeCylinder: {
        double across = mass * (r * r / 4 + h * h / 3);
        inertia.moment = (rgSym3){.xx = across, .yy = across, .zz = mass * r * r / 2};
        break;
    }
    case rg_shapeBox:
        inertia.moment = rgAxesMoment(mass / 3, size);
        break;
    case rg_shapeEllipsoid:
        inertia.moment = rgAxesMoment(mass / 5, size);
        break;
    default:
        break;
    }
    return inertia;
}

// Integrals over a solid: volume, first moments, and second moments of x x, y y, z z, x y, x z, y
// z.
typedef struct rgVolumeIntegrals {
    double volume;
    rgVec3 first;
    rgSym3 second;
} rgVolumeIntegrals;

// Add the tetrahedron origin, a, b, c.
static void rgAddTetrahedron(rgVolumeIntegrals* sum, rgVec3 a, rgVec3 b, rgVec3 c) {
    double volume = rgDot(a, rgCross(b, c)) / 6;
    rgVec3 s = rgAdd(a, rgAdd(b, c));
    sum->volume += volume;
    sum->first = rgAddScaled(sum->first, volume / 4, s);
    double k = volume / 20;
    sum->second.xx += k * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    sum->second.yy += k * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    sum->second.zz += k * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    sum->second.xy += k * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    sum->second.xz += k * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    sum->second.yz += k * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
}

static rgVec3 rgMeshVertex(const rgMeshData* mesh, int index) {
    const double* v = mesh->vertices + 3 * (size_t)index;
    return rgVec(v[0], v[1], v[2]);
}

static bool rgMeshIsIndexed(const rgMeshData* mesh) {
    if (mesh == NULL || mesh->vertexCount < 4 || mesh->triangleCount < 4) {
        return false;
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertexCount) {
            return false;
        }
    }
    return true;
}

rgResult rgInertiaFromMesh(const rgMeshData* mesh, double density, rgInertia* inertia) {
    if (inertia == NULL || !(density > 0) || !rgMeshIsIndexed(mesh)) {
        return rg_errorArgument;
    }
    // Relative to a vertex, so that meshes far from their origin lose no digits.
    rgVec3 origin = rgMeshVertex(mesh, 0);
    rgVolumeIntegrals sum = {0};
    for (int t = 0; t < mesh->triangleCount; ++t) {
        const int* corner = mesh->triangles + 3 * (size_t)t;
        rgAddTetrahedron(&sum, rgSub(rgMeshVertex(mesh, corner[0]), origin),
                         rgSub(rgMeshVertex(mesh, corner[1]), origin),
                         rgSub(rgMeshVertex(mesh, corner[2]), origin));
    }
    if (!(sum.volume > 0) || !isfinite(sum.volume)) {
        return rg_errorNumeric;
    }
    double mass = density * sum.volume;
    rgVec3 c = rgScale(1 / sum.volume, sum.first);
    rgSym3 s = sum.second;
    double xx = density * s.xx - mass * c.x * c.x, yy = density * s.yy - mass * c.y * c.y;
    double zz = density * s.zz - mass * c.z * c.z;
    *inertia = (rgInertia){.mass = mass, .center = rgAdd(origin, c)};
    inertia->moment = (rgSym3){.xx = yy + zz,
                               .yy = xx + zz,
                               .zz = xx + yy,
                               .xy = mass * c.x * c.y - density * s.xy,
                               .xz = mass * c.x * c.z - density * s.xz,
                               .yz = mass * c.y * c.z - density * s.yz};
    return rg_ok;
}

rgSym3 rgSym3Rotate(rgQuat q, const rgSym3* s) {
    if (s == NULL) {
        return (rgSym3){0};
    }
    rgMat3 r = rgMat3FromQuat(q);
    rgVec3 row[3];
    for (int i = 0; i < 3; ++i) {
        row[i] = rgVec(r.m[3 * i], r.m[3 * i + 1], r.m[3 * i + 2]);
    }
    rgVec3 sx = rgSym3_Multiply(s, row[0]), sy = rgSym3_Multiply(s, row[1]);
    rgVec3 sz = rgSym3_Multiply(s, row[2]);
    return (rgSym3){.xx = rgDot(row[0], sx),
                    .yy = rgDot(row[1], sy),
                    .zz = rgDot(row[2], sz),
                    .xy = rgDot(row[0], sy),
                    .xz = rgDot(row[0], sz),
                    .yz = rgDot(row[1], sz)};
}

rgSym3 rgMomentAbout(const rgInertia* inertia, rgVec3 r) {
    if (inertia == NULL) {
        return (rgSym3){0};
    }
    const rgSym3* s = &inertia->moment;
    double m = inertia->mass;
    return (rgSym3){.xx = s->xx + m * (r.y * r.y + r.z * r.z),
                    .yy = s->yy + m * (r.x * r.x + r.z * r.z),
                    .zz = s->zz + m * (r.x * r.x + r.y * r.y),
                    .xy = s->xy - m * r.x * r.y,
                    .xz = s->xz - m * r.x * r.z,
                    .yz = s->yz - m * r.y * r.z};
}

rgInertia rgInertiaMove(rgPose pose, const rgInertia* inertia) {
    return inertia != NULL ? (rgInertia){.mass = inertia->mass,
                                         .center = rgPose_Point(pose, inertia->center),
                                         .moment = rgSym3Rotate(pose.q, &inertia->moment)}
                           : (rgInertia){0};
}

static rgSym3 rgSym3Add(rgSym3 a, rgSym3 b) {
    return (rgSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

rgInertia rgInertiaAdd(const rgInertia* a, const rgInertia* b) {
    if (a == NULL || b == NULL) {
        return (rgInertia){0};
    }
    double mass = a->mass + b->mass;
    if (!(mass > 0)) {
        return (rgInertia){.mass = mass, .moment = rgSym3Add(a->moment, b->moment)};
    }
    rgVec3 center = rgAddScaled(a->center, b->mass / mass, rgSub(b->center, a->center));
    return (rgInertia){.mass = mass,
                       .center = center,
                       .moment = rgSym3Add(rgMomentAbout(a, rgSub(center, a->center)),
                                           rgMomentAbout(b, rgSub(center, b->center)))};
}

rgInertia rgInertiaWithMass(const rgInertia* inertia, double mass) {
    if (inertia == NULL) {
        return (rgInertia){0};
    }
    double k = inertia->mass > 0 ? mass / inertia->mass : 0;
    const rgSym3* s = &inertia->moment;
    return (rgInertia){
        .mass = mass,
        .center = inertia->center,
        .moment = {k * s->xx, k * s->yy, k * s->zz, k * s->xy, k * s->xz, k * s->yz}};
}

// One Jacobi rotation in the plane (p, q) of a; v collects the rotations in its columns.
static void rgJacobiRotate(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0) {
        return;
    }
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; ++k) {
        double akp = a[k][p], akq = a[k][q];
        a[k][p] = c * akp - s * akq;
        a[k][q] = s * akp + c * akq;
    }
    for (int k = 0; k < 3; ++k) {
        double apk = a[p][k], aqk = a[q][k], vkp = v[k][p], vkq = v[k][q];
        a[p][k] = c * apk - s * aqk;
        a[q][k] = s * apk + c * aqk;
        v[k][p] = c * vkp - s * vkq;
        v[k][q] = s * vkp + c * vkq;
    }
    a[p][q] = a[q][p] = 0;
}

static void rgSwapEigen(double value[3], double v[3][3], int i, int j) {
    if (value[i] >= value[j]) {
        return;
    }
    double t = value[i];
    value[i] = value[j];
    value[j] = t;
    for (int k = 0; k < 3; ++k) {
        // A swap with one sign turned keeps the axes right-handed.
        double x = v[k][i];
        v[k][i] = v[k][j];
        v[k][j] = -x;
    }
}

rgVec3 rgSym3Eigen(const rgSym3* s, rgQuat* axes) {
    if (s == NULL) {
        return (rgVec3){0};
    }
    double a[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 12; ++sweep) {
        rgJacobiRotate(a, v, 0, 1);
        rgJacobiRotate(a, v, 0, 2);
        rgJacobiRotate(a, v, 1, 2);
    }
    double value[3] = {a[0][0], a[1][1], a[2][2]};
    rgSwapEigen(value, v, 0, 1);
    rgSwapEigen(value, v, 0, 2);
    rgSwapEigen(value, v, 1, 2);
    if (axes != NULL) {
        rgMat3 m = {
            {v[0][0], v[0][1], v[0][2], v[1][0], v[1][1], v[1][2], v[2][0], v[2][1], v[2][2]}};
        *axes = rgQuatFromMat3(&m);
    }
    return rgVec(value[0], value[1], value[2]);
}

static bool rgInertiaIsFinite(const rgInertia* inertia) {
    const rgSym3* s = &inertia->moment;
    double sum = fabs(inertia->mass) + fabs(inertia->center.x) + fabs(inertia->center.y) +
                 fabs(inertia->center.z) + fabs(s->xx) + fabs(s->yy) + fabs(s->zz) + fabs(s->xy) +
                 fabs(s->xz) + fabs(s->yz);
    return isfinite(sum);
}

rgInertiaFault rgInertia_Check(const rgInertia* inertia) {
    if (inertia == NULL) {
        return rg_inertiaNotFinite;
    }
    if (!rgInertiaIsFinite(inertia)) {
        return rg_inertiaNotFinite;
    }
    if (inertia->mass < 0) {
        return rg_inertiaNegativeMass;
    }
    rgVec3 e = rgSym3Eigen(&inertia->moment, NULL);
    double tolerance = 1e-6 * fmax(fabs(e.x), fabs(e.z));
    if (inertia->mass == 0 && tolerance > 0) {
        return rg_inertiaMassless;
    }
    if (e.z < -tolerance) {
        return rg_inertiaIndefinite;
    }
    return e.x > e.y + e.z + tolerance ? rg_inertiaTriangle : rg_inertiaFine;
}
