// MJCF primitives fitted to meshes: of the box with the mesh's inertia, as MuJoCo has it.
#include "io/mjcf.h"
#include "rigor/inertia.h"

#include <math.h>

// Half sides of the box with this inertia, in its principal axes, shortest first.
static rgVec3 rgInertiaBox(const rgInertia* inertia, rgQuat* axes) {
    rgVec3 p = rgSym3Eigen(&inertia->moment, axes);
    double k = 1.5 / inertia->mass; // m/3 (b^2 + c^2) and so on
    return rgVec(sqrt(RG_MAX(k * (p.y + p.z - p.x), 0)), sqrt(RG_MAX(k * (p.z + p.x - p.y), 0)),
                 sqrt(RG_MAX(k * (p.x + p.y - p.z), 0)));
}

static void rgMjGeom_SetFitted(rgMjGeom* g, rgVec3 box) {
    double round = (box.x + box.y) / 2;
    const double sizes[][3] = {[rg_mjSphere] = {(box.x + box.y + box.z) / 3, 0, 0},
                               [rg_mjCapsule] = {round, RG_MAX(box.z - round / 2, 0), 0},
                               [rg_mjEllipsoid] = {box.x, box.y, box.z},
                               [rg_mjCylinder] = {round, box.z, 0},
                               [rg_mjBox] = {box.x, box.y, box.z}};
    for (int i = 0; i < 3; ++i) {
        g->size[i] = sizes[g->type][i] * g->fitScale;
    }
    g->sizeCount = 3;
    g->mesh = NULL;
}

bool rgMjcf_Fit(rgMjcf* m, const rgXmlNode* node, rgMjGeom* g, const rgMjMesh* mesh, rgPose* pose) {
    rgInertia inertia = {0};
    if (!rgMjMesh_Inertia(mesh, g->shell, &m->load->allocator, &inertia)) {
        rgXmlReader_Error(&m->reader, node, "<geom mesh>: '%.60s' has no volume to fit to",
                          g->mesh);
        return false;
    }
    rgPose frame = {.p = inertia.center};
    rgVec3 box = rgInertiaBox(&inertia, &frame.q);
    *pose = rgPoseMultiply(*pose, frame);
    rgMjGeom_SetFitted(g, box);
    return true;
}
