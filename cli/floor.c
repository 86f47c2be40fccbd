// Robots that start inside a floor: lifted onto it if they move freely and stand at the file's
// pose, else refused with the height that would do.
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_FLOOR_DEPTH 1e-3 // [m] that the projection of positions takes out unseen
#define RG_FLOOR_TILT  1e-9 // by which a floor's normal may differ from vertical

static double rgLowestPoint(const rgShapeDef* shape, rgPose pose) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = shape->kind;
    def.size = shape->size;
    def.rounding = shape->rounding;
    def.mesh = shape->mesh;
    def.heightField = shape->heightField;
    rgGeometry* geometry = NULL;
    if (rgCreateGeometry(&def, NULL, &geometry) != rg_ok) {
        return INFINITY;
    }
    double lowest = rgGeometry_Box(geometry, pose).lower.z;
    rgDestroyGeometry(geometry);
    return lowest;
}

// The height of the highest floor that a shape meets.
static double rgFloorBelow(const rgSimulation* simulation, const rgShapeId* floors, int floorCount,
                           rgShapeId shape) {
    double height = -INFINITY;
    for (int i = 0; i < floorCount; ++i) {
        if (rgModel_ShapesMeet(simulation->loaded.model, floors[i], shape)) {
            height = fmax(height, rgDynamics_ShapePose(simulation->poses, floors[i]).p.z);
        }
    }
    return height;
}

static bool rgIsFloor(const rgSimulation* simulation, rgShapeId id) {
    const rgShapeDef* shape = rgModel_Shape(simulation->loaded.model, id);
    rgVec3 up = rgRotate(rgDynamics_ShapePose(simulation->poses, id).q, rgVec(0, 0, 1));
    return shape->kind == rg_shapePlane && !shape->visualOnly && up.z > 1 - RG_FLOOR_TILT &&
           !rgIsMovingShape(simulation->loaded.model, id);
}

static rgBodyId rgTopmostBody(const rgModel* model, rgBodyId body) {
    const rgBodyDef* def = rgModel_Body(model, body);
    while (def->parent.index1 != 0) {
        body = def->parent;
        def = rgModel_Body(model, body);
    }
    return body;
}

// Depth of each robot in a floor [m], by the id of its topmost body. True: some robot is.
static bool rgMeasureDepths(const rgSimulation* simulation, double* depths) {
    const rgModel* model = simulation->loaded.model;
    rgShapeId* floors = rgCli_Allocate((size_t)simulation->info.shapeCount, sizeof(rgShapeId));
    int floorCount = 0;
    bool any = false;
    for (int i = 1; i <= simulation->info.shapeCount; ++i) {
        floors[floorCount].index1 = i;
        floorCount += rgIsFloor(simulation, (rgShapeId){i});
    }
    for (int i = 1; i <= simulation->info.shapeCount; ++i) {
        rgShapeId id = {i};
        const rgShapeDef* shape = rgModel_Shape(model, id);
        double height = rgIsMovingShape(model, id)
                            ? rgFloorBelow(simulation, floors, floorCount, id)
                            : -INFINITY;
        if (height > -INFINITY) {
            double* depth = &depths[rgTopmostBody(model, shape->body).index1];
            double low = rgLowestPoint(shape, rgDynamics_ShapePose(simulation->poses, id));
            *depth = fmax(*depth, height - low);
            any = any || *depth > RG_FLOOR_DEPTH;
        }
    }
    free(floors);
    return any;
}

// The free joint of a body, or null.
static rgJointId rgFreeJoint(const rgModel* model, rgBodyId body) {
    for (int j = 1; j <= rgModel_Info(model).jointCount; ++j) {
        const rgJointDef* joint = rgModel_Joint(model, (rgJointId){j});
        if (joint->kind == rg_jointFree && joint->body.index1 == body.index1) {
            return (rgJointId){j};
        }
    }
    return (rgJointId){0};
}

// Lift a robot in q, or give the reason for which it cannot be.
static bool rgLift(const rgModel* model, rgBodyId body, double depth, bool isPlaced, double* q) {
    const char* name = rgModel_Body(model, body)->name;
    rgJointId joint = rgFreeJoint(model, body);
    if (joint.index1 == 0 || isPlaced) {
        rgCli_Error("'%s' starts %.4g m inside the floor; place it %.4g m higher%s", name, depth,
                    depth, isPlaced ? "" : ", such as with --at");
        return false;
    }
    double* z = &q[rgModel_JointRange(model, joint).q + 2];
    *z += depth;
    fprintf(stderr, "start: '%s' is lifted by %.4g m to a height of %.4g m, onto the floor\n", name,
            depth, *z);
    return true;
}

bool rgSimulation_LiftFromFloor(rgSimulation* simulation, const rgSimulationArguments* arguments) {
    const rgModelArguments* model = &arguments->model;
    bool isPlaced = arguments->q != NULL || model->at.count > 0 || model->on.count > 0;
    if (simulation->scene != NULL || (!arguments->ground && model->floating.count == 0)) {
        return true;
    }
    int count = 0;
    const double* old = rgWorld_Positions(simulation->world, &count);
    rgDynamics_SetPositions(simulation->poses, old);
    double* depths = rgCli_Allocate((size_t)simulation->info.bodyCount + 1, sizeof(double));
    bool good = true;
    if (rgMeasureDepths(simulation, depths)) {
        double* q = rgCli_Allocate((size_t)count, sizeof(double));
        memcpy(q, old, (size_t)count * sizeof(double));
        for (int b = 1; good && b <= simulation->info.bodyCount; ++b) {
            good = !(depths[b] > RG_FLOOR_DEPTH) ||
                   rgLift(simulation->loaded.model, (rgBodyId){b}, depths[b], isPlaced, q);
        }
        const double* v = rgWorld_Velocities(simulation->world, NULL);
        good = good && rgWorld_SetState(simulation->world, q, v) == rg_ok;
        free(q);
    }
    free(depths);
    return good;
}
