// URDF links that move and have no mass, nor anything that they carry: they weigh what their
// collision shapes do at the density of water, as MuJoCo has it. Joints that still move nothing are
// fixed.
#include "io/convex.h"
#include "io/urdf.h"
#include "model/def.h"
#include "rigor/inertia.h"

#define RG_MISSING_DENSITY 1000.0 // [kg/m^3]

// In the frame of the link; no mass if the shape encloses no volume.
static rgInertia rgUrdf_ShapeInertia(rgUrdf* urdf, const rgShapeDef* shape) {
    rgInertia inertia = {0};
    if (shape->mesh != NULL) {
        rgMeshData hull;
        rgArenaMark mark = rgArena_Mark(&urdf->arena);
        if (!rgConvexTriangles(shape->mesh, &urdf->arena, &hull) ||
            rgInertiaFromMesh(&hull, RG_MISSING_DENSITY, &inertia) != rg_ok) {
            inertia = (rgInertia){0};
        }
        rgArena_Return(&urdf->arena, mark);
    } else {
        double mass = RG_MISSING_DENSITY * rgShapeVolume(shape->kind, shape->size);
        inertia = rgInertiaFromShape(shape->kind, shape->size, mass);
    }
    return rgInertiaMove(shape->pose, &inertia);
}

// Mass of each link and of all that it carries. Children come behind their parents.
static void rgUrdf_SumMasses(const rgUrdf* urdf, const int* order, int count, double* masses) {
    for (int i = 0; i < urdf->linkCount; ++i) {
        masses[i] = urdf->links[i].inertia.mass;
    }
    for (int i = count - 1; i > 0; --i) {
        const rgUrdfLink* link = &urdf->links[order[i]];
        if (link->parentJoint >= 0) {
            masses[urdf->joints[link->parentJoint].parent] += masses[order[i]];
        }
    }
}

static void rgUrdf_AddInertia(rgUrdf* urdf, rgUrdfLink* link) {
    rgInertia sum = {0};
    for (int i = 0; i < urdf->model->shapeCount; ++i) {
        const rgShapeDef* shape = &urdf->model->shapes[i];
        if (shape->body.index1 == link->body.index1 && !shape->visualOnly) {
            rgInertia inertia = rgUrdf_ShapeInertia(urdf, shape);
            sum = rgInertiaAdd(&sum, &inertia);
        }
    }
    if (!(sum.mass > 0)) {
        return;
    }
    link->inertia = sum;
    rgBodyDef body = *rgModelDef_Body(urdf->model, link->body);
    body.inertia = sum;
    urdf->result = rgModelDef_SetBody(urdf->model, link->body, &body);
    rgXmlReader_Warn(&urdf->xml, link->node,
                     "link '%.60s' moves, but its subtree has no mass: its collision "
                     "shapes weigh %.4g kg at %g kg/m^3",
                     link->name, sum.mass, RG_MISSING_DENSITY);
}

static void rgUrdf_FixJoint(rgUrdf* urdf, rgUrdfJoint* joint, const rgUrdfLink* link) {
    rgJointDef def = rgDefaultJointDef();
    def.name = joint->name;
    def.body = link->body;
    def.kind = rg_jointFixed;
    def.source = (rgSource){.file = joint->node->file, .line = joint->node->line};
    urdf->result = rgModelDef_SetJoint(urdf->model, joint->id, &def);
    joint->type = rg_urdfFixed;
    joint->isLocked = true;
    rgXmlReader_Warn(&urdf->xml, joint->node,
                     "joint '%.60s' moves nothing that has a mass or a collision shape: it is "
                     "fixed; give link '%.60s' a mass, or set least values (--bound, "
                     "rgLoadDef.boundMass and boundInertia)",
                     joint->name, link->name);
}

void rgUrdf_AddInertias(rgUrdf* urdf, const int* order, int count) {
    double* masses = RG_TAKE(&urdf->arena, double, RG_MAX(urdf->linkCount, 1));
    if (masses == NULL) {
        urdf->result = rg_errorMemory;
        return;
    }
    rgUrdf_SumMasses(urdf, order, count, masses);
    for (int i = 0; i < count && urdf->result == rg_ok; ++i) {
        rgUrdfLink* link = &urdf->links[order[i]];
        if (link->isBare && masses[order[i]] > 0) {
            rgXmlReader_Warn(
                &urdf->xml, link->node,
                "link '%.60s' moves, but neither it nor a link fixed to it has an inertia",
                link->name);
        }
        bool isLight = link->carrier >= 0 && !(masses[link->carrier] > 0);
        if (isLight && link->body.index1 > 0) {
            rgUrdf_AddInertia(urdf, link);
        }
    }
    bool bound = urdf->def->boundMass > 0 || urdf->def->boundInertia > 0;
    rgUrdf_SumMasses(urdf, order, count, masses);
    for (int i = 0; i < count && !bound && urdf->result == rg_ok; ++i) {
        const rgUrdfLink* link = &urdf->links[order[i]];
        rgUrdfJoint* joint = link->parentJoint >= 0 ? &urdf->joints[link->parentJoint] : NULL;
        if (!(masses[order[i]] > 0) && joint != NULL && joint->id.index1 > 0) {
            rgUrdf_FixJoint(urdf, joint, link);
        }
    }
}
