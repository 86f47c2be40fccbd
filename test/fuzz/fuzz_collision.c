// Bytes as two shapes somewhere: every pair of kinds, sizes and poses that hurt. Shapes are refused
// with a remark, or distance, manifold, overlap and rays are numbers that fit each other.
#include "fuzz.h"

#include "rigor/collision.h"

enum { rg_mostVertices = 24 };

static rgGeometry* rgMakeGeometry(rgInput* in, rgNumberFcn* number) {
    double vertices[3 * rg_mostVertices];
    int triangles[3 * rg_mostVertices];
    rgGeometryDef def = rgDefaultGeometryDef();
    rgMeshData mesh = {rgInput_Below(in, rg_mostVertices + 1), vertices, 0, triangles};
    rgHeightFieldData field = {
        1 + rgInput_Below(in, 4), 1 + rgInput_Below(in, 4), 1, 1, 1, vertices};
    def.kind = (rgShapeKind)(1 + rgInput_Below(in, 9));
    def.size = rgInput_Vec(in, number);
    if (rgInput_Byte(in) < 224) {
        def.size = rgVec(fabs(def.size.x), fabs(def.size.y), fabs(def.size.z));
    }
    def.rounding = rgInput_Byte(in) < 64 ? fabs(number(in)) : 0;
    if (def.kind >= rg_shapeHull) {
        for (int i = 0; i < 3 * mesh.vertexCount || i < 16; ++i) {
            vertices[i] = number(in);
        }
        mesh.triangleCount = rgInput_Below(in, rg_mostVertices);
        for (int i = 0; i < 3 * mesh.triangleCount; ++i) {
            triangles[i] = (int)(int8_t)rgInput_Byte(in);
            if (rgInput_Byte(in) < 252 && mesh.vertexCount > 0) {
                triangles[i] = (int)((unsigned)triangles[i] % (unsigned)mesh.vertexCount);
            }
        }
        field.sizeX = fabs(number(in));
        field.sizeY = fabs(number(in));
        field.depth = fabs(number(in));
        def.mesh = &mesh;
        def.heightField = &field;
    }
    rgDiagnostics* said = NULL;
    rgGeometry* geometry = NULL;
    RG_PROMISE(rgCreateDiagnostics(NULL, &said) == rg_ok);
    rgResult result = rgCreateGeometry(&def, said, &geometry);
    RG_PROMISE((geometry != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(said, rg_severityError) > 0);
    rgDestroyDiagnostics(said);
    return geometry;
}

// Lengths whose squares are subnormal have few digits.
static bool rgIsUnit(rgVec3 n) {
    return fabs(rgLength(n) - 1) < 1e-3;
}

static void rgCheckPair(rgInput* in, const rgGeometry* a, rgPose poseA, const rgGeometry* b,
                        rgPose poseB) {
    rgPairCache cache = {0};
    rgProximity p;
    for (int i = 0; i < 3; ++i) { // cold, then with what the last call left, elsewhere
        rgResult result = rgDistance(a, poseA, b, poseB, &cache, &p);
        RG_PROMISE(result == rg_ok || result == rg_errorUnsupported || result == rg_errorNumeric);
        RG_PROMISE(result != rg_ok || (!isnan(p.distance) && rgIsUnit(p.normal)));
        rgManifold manifold;
        int points = rgCollideUpTo(1 + rgInput_Below(in, 9), a, poseA, b, poseB,
                                   fabs(rgInput_Sane(in)) * 0.1, &cache, &manifold);
        RG_PROMISE(points >= 0 && points <= RG_MANIFOLD_CAPACITY);
        for (int k = 0; k < points; ++k) {
            RG_PROMISE(!isnan(manifold.points[k].gap) && rgIsUnit(manifold.points[k].normal));
        }
        rgOverlap(a, poseA, b, poseB);
        poseB.p = rgAdd(poseB.p, rgVec(0.01 * rgInput_Sane(in), 0, 0));
    }
}

static void rgCheckRay(rgInput* in, const rgGeometry* a, rgPose pose, rgNumberFcn* number) {
    rgRay ray = {rgInput_Vec(in, number), rgInput_Vec(in, number), fabs(rgInput_Sane(in))};
    rgRayHit hit;
    if (rgRayCast(a, pose, &ray, &hit)) {
        RG_PROMISE(hit.fraction >= 0 && hit.fraction <= ray.maxFraction);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgInput in = {bytes, count};
    rgNumberFcn* number = rgInput_Byte(&in) < 96 ? rgInput_Number : rgInput_Sane;
    rgGeometry* a = rgMakeGeometry(&in, number);
    rgGeometry* b = rgMakeGeometry(&in, number);
    rgPose poseA = rgInput_Pose(&in, number), poseB = rgInput_Pose(&in, number);
    poseA.q = rgQuatNormalize(poseA.q);
    poseB.q = rgQuatNormalize(poseB.q);
    if (a != NULL && b != NULL) {
        rgCheckPair(&in, a, poseA, b, poseB);
    }
    if (a != NULL) {
        rgCheckRay(&in, a, poseA, number);
        rgBox box = rgGeometry_Box(a, poseA);
        (void)box;
    }
    rgDestroyGeometry(a);
    rgDestroyGeometry(b);
    return 0;
}
