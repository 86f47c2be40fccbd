// The workspace: one block of memory, planned once.
#include "dynamics/dynamics.h"

rgDynamicsDef rgDefaultDynamicsDef(const rgModel* model) {
    bool own = model != NULL && model->info.options.hasGravity;
    return (rgDynamicsDef){.gravity = own ? model->info.options.gravity : rgVec(0, 0, -9.81),
                           .cookie = RG_COOKIE_DYNAMICS};
}

// Hands out pieces of one block; with a NULL block it only adds up sizes.
typedef struct rgPlanner {
    char* block;
    size_t used;
} rgPlanner;

static void* rgPlanner_Allocate(rgPlanner* planner, int count, size_t size) {
    size_t bytes = ((size_t)count * size + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    void* piece = planner->block != NULL ? planner->block + planner->used : NULL;
    planner->used += bytes;
    return piece;
}

static void rgDynamics_Plan(rgDynamics* d, rgPlanner* planner) {
    const rgModel* model = d->model;
    int links = rgModel_AllLinks(model), dofs = model->vCount;
    d->prescribed = rgPlanner_Allocate(planner, model->kinematicCount, sizeof(rgPrescribed));
    d->q = rgPlanner_Allocate(planner, model->qCount, sizeof(double));
    d->sines = rgPlanner_Allocate(planner, model->qCount, sizeof(double));
    d->cosines = rgPlanner_Allocate(planner, model->qCount, sizeof(double));
    d->v = rgPlanner_Allocate(planner, dofs, sizeof(double));
    d->origins = rgPlanner_Allocate(planner, model->treeCount, sizeof(rgVec3));
    d->poses = rgPlanner_Allocate(planner, links, sizeof(rgLinkPose));
    d->axes = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    d->velocities = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    d->biases = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    d->accelerations = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    d->pushes = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    d->forces = rgPlanner_Allocate(planner, links, sizeof(rgSpatial));
    d->inertias = rgPlanner_Allocate(planner, links, sizeof(rgLinkInertia));
    d->composites = rgPlanner_Allocate(planner, links, sizeof(rgComposite));
    d->mass = rgPlanner_Allocate(planner, model->massCount, sizeof(double));
    d->rowLength = rgPlanner_Allocate(planner, dofs, sizeof(int));
    d->sparseMass = rgPlanner_Allocate(planner, 2 * model->massCount - dofs, sizeof(double));
    d->factor = rgPlanner_Allocate(planner, model->massCount, sizeof(double));
    d->inverseDiagonal = rgPlanner_Allocate(planner, dofs, sizeof(double));
    d->articulated = rgPlanner_Allocate(planner, links, sizeof(rgArticulated));
    d->hinged = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    d->hingedInverse = rgPlanner_Allocate(planner, dofs, sizeof(double));
    d->inverseRoot = rgPlanner_Allocate(planner, dofs, sizeof(double));
    d->isDeep = rgPlanner_Allocate(planner, model->treeCount, sizeof(bool));
    d->levers = rgPlanner_Allocate(planner, dofs, sizeof(rgSpatial));
    d->scratch = rgPlanner_Allocate(planner, 4 * dofs, sizeof(double));
}

#define RG_DEEP 64 // degrees of freedom on one path, from which articulated inertias are faster

static void rgDynamics_FindDeep(rgDynamics* d) {
    const rgModel* model = d->model;
    for (int i = 0; i < model->vCount; ++i) {
        bool* deep = &d->isDeep[model->links[model->dofs[i].link].tree];
        *deep = *deep || model->dofs[i].depth >= RG_DEEP;
        d->anyDeep = d->anyDeep || *deep;
    }
}

rgResult rgCreateDynamics(const rgModel* model, const rgDynamicsDef* def, rgDynamics** dynamics) {
    rgDynamicsDef usual = rgDefaultDynamicsDef(model);
    def = def != NULL ? def : &usual;
    if (model == NULL || dynamics == NULL || def->cookie != RG_COOKIE_DYNAMICS) {
        return rg_errorArgument;
    }
    rgDynamics plan = {.model = model,
                       .allocator = rgResolveAllocator(&def->allocator),
                       .gravity = def->gravity,
                       .stepCoordinates = def->coordinates == rg_velocityStep};
    rgPlanner planner = {.used = 0};
    rgPlanner_Allocate(&planner, 1, sizeof(rgDynamics));
    rgDynamics_Plan(&plan, &planner);
    char* block = rgAllocate(&def->allocator, planner.used, 1);
    if (block == NULL) {
        return rg_errorMemory;
    }
    planner = (rgPlanner){.block = block};
    rgDynamics* made = rgPlanner_Allocate(&planner, 1, sizeof(rgDynamics));
    *made = plan;
    rgDynamics_Plan(made, &planner);
    for (int i = 0; i < model->kinematicCount; ++i) {
        made->prescribed[i].pose = model->kinematicPoses[i];
    }
    rgDynamics_FindDeep(made);
    rgDynamics_SetPositions(made, model->neutral);
    *dynamics = made;
    return rg_ok;
}

void rgDestroyDynamics(rgDynamics* dynamics) {
    if (dynamics != NULL) {
        rgAllocator allocator = dynamics->allocator;
        rgRelease(&allocator, dynamics->slopes);
        rgRelease(&allocator, dynamics);
    }
}
