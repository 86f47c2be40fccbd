// Surfaces of triangles: static meshes with a tree over them, and height fields.
#include "collision/internal.h"

rgResult rgBuildTriangles(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                          rgGeometry* geometry) {
    (void)def;
    (void)diagnostics;
    (void)geometry;
    return rg_errorUnsupported;
}
rgResult rgBuildHeights(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                        rgGeometry* geometry) {
    (void)def;
    (void)diagnostics;
    (void)geometry;
    return rg_errorUnsupported;
}
void rgCollideSurface(const rgCollideInput* input, rgManifold* manifold) {
    (void)input;
    (void)manifold;
}
void rgSurfaceDistance(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                       rgProximity* proximity) {
    (void)a;
    (void)poseA;
    (void)b;
    (void)poseB;
    (void)proximity;
}
