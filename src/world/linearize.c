// Derivatives of a step: the step is evaluated, then differentiated as it went, by the mode that
// each row of its constraint problem is in. docs/theory/step_derivatives.md.
#include "world/linearize.h"
#include "world/project.h"

#include <string.h>

#define RG_COOKIE_DERIVATIVE 0x64657201u
#define RG_MOST_BYTES        1e9
#define RG_BLOCK_COUNT       6 // of columns: bits of rgBy

rgDerivativeDef rgDefaultDerivativeDef(void) {
    return (rgDerivativeDef){.by = rg_byPosition | rg_byVelocity | rg_byControl,
                             .increment = 1e-6,
                             .cookie = RG_COOKIE_DERIVATIVE};
}

void rgLinearization_Freeze(rgLinearization* l, const char* why) {
    l->frozenWhy = l->frozen == 0 ? why : l->frozenWhy;
    l->frozen += 1;
}

// ---- memory

typedef struct rgCursor {
    char* block;
    size_t used;
} rgCursor;

static int rgAligned(int count) {
    return (count + RG_ALIGNED_COUNT - 1) / RG_ALIGNED_COUNT * RG_ALIGNED_COUNT;
}

static void* rgCursor_Allocate(rgCursor* cursor, size_t count, size_t size) {
    size_t bytes = (count * size + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
    void* piece = cursor->block != NULL ? cursor->block + cursor->used : NULL;
    cursor->used += bytes;
    return piece;
}

static double* rgCursor_AllocateNumbers(rgCursor* cursor, size_t rows, size_t columns) {
    return rgCursor_Allocate(cursor, rows * columns, sizeof(double));
}

static void rgCursor_AllocateSystem(rgCursor* c, size_t n, rgLinearSystem* system) {
    system->K = rgCursor_AllocateNumbers(c, n, n);
    system->factor = rgCursor_AllocateNumbers(c, n, n);
    system->null = rgCursor_AllocateNumbers(c, n, n);
    system->units = rgCursor_AllocateNumbers(c, n, 1);
    system->exchanges = rgCursor_Allocate(c, n, sizeof(int));
    system->order = rgCursor_Allocate(c, n, sizeof(int));
}

static void rgLinearization_SetArrays(const rgWorld* world, rgLinearization* l, rgCursor* c) {
    const rgModel* model = world->model;
    size_t n = (size_t)l->n, m = (size_t)l->m, width = (size_t)l->width;
    size_t pitch = (size_t)l->pitch;
    size_t p = (size_t)l->projectedCapacity, links = (size_t)rgModel_AllLinks(model);
    double** wide[] = {&l->base, &l->force, &l->change, &l->next, &l->out};
    for (int i = 0; i < RG_COUNT(wide); ++i) {
        *wide[i] = rgCursor_AllocateNumbers(c, n, width);
    }
    double** tall[] = {&l->rows, &l->bounds, &l->impulse};
    for (int i = 0; i < RG_COUNT(tall); ++i) {
        *tall[i] = rgCursor_AllocateNumbers(c, m, width);
    }
    l->trend = rgCursor_AllocateNumbers(c, l->trendFirst >= 0 ? 2 * n : 0, width);
    l->sensor = rgCursor_AllocateNumbers(c, (size_t)l->sensorCount, width);
    double** square[] = {&l->G, &l->B, &l->inverse};
    for (int i = 0; i < RG_COUNT(square); ++i) {
        *square[i] = rgCursor_AllocateNumbers(c, m, pitch);
    }
    rgCursor_AllocateSystem(c, m, &l->system);
    rgCursor_AllocateSystem(c, p, &l->projection);
    l->answer = rgCursor_AllocateNumbers(c, n, m);
    l->turning = rgCursor_AllocateNumbers(c, m, n);
    l->columns = rgCursor_AllocateNumbers(c, n, pitch);
    l->pushed = rgCursor_AllocateNumbers(c, n, p);
    l->diagonal = rgCursor_AllocateNumbers(c, n, n);
    l->tree = rgCursor_AllocateNumbers(c, n, n);
    l->slip = rgCursor_AllocateNumbers(c, m, 1);
    l->mobility = rgCursor_AllocateNumbers(c, m, 1);
    l->rateSlope = rgCursor_AllocateNumbers(c, m, 1);
    l->share = rgCursor_AllocateNumbers(c, n, 1);
    l->stiffnessShare = rgCursor_AllocateNumbers(c, n, 1);
    l->dampingShare = rgCursor_AllocateNumbers(c, n, 1);
    l->gradient = rgCursor_AllocateNumbers(c, 2, width);
    size_t fast = l->hasFast ? n : 0;
    l->rates = rgCursor_AllocateNumbers(c, 6 * links, 3 * fast);
    l->sums = rgCursor_AllocateNumbers(c, 6 * links, 3 * fast);
    l->ends = rgCursor_AllocateNumbers(c, n, 3 * fast);
    l->slopes = rgCursor_AllocateNumbers(c, n, fast);
    l->turned = rgCursor_AllocateNumbers(c, fast, width);
    l->parts = rgCursor_AllocateNumbers(c, l->hasParts ? 4 * n : 0, width);
    l->partBars = rgCursor_AllocateNumbers(c, 4 * n, 1);
    l->inParts = rgCursor_Allocate(c, n, sizeof(bool));
    l->linkRates = rgCursor_Allocate(c, l->hasFast ? 2 * links : 0, sizeof(rgSpatial));
    l->packed = rgCursor_AllocateNumbers(c, m, width + 3 > n ? width + 3 : n + 3);
    l->packed = c->block != NULL ? l->packed : NULL;
    rgCursor_AllocateNumbers(c, n, 1); // packed goes on
    size_t most = n > m ? n : m;
    most = most > 2 * p ? most : 2 * p;
    l->work = rgCursor_AllocateNumbers(c, most, width > 2 * most ? width : 2 * most);
    rgCursor_AllocateNumbers(c, most + width, 16); // likewise work
    rgCursor_AllocateNumbers(c, n + (size_t)model->qCount, 1);
    for (int i = 0; i < 4; ++i) {
        l->bars[i] = rgCursor_AllocateNumbers(c, n, 1);
    }
    l->projected = rgCursor_Allocate(c, p, sizeof(rgProjectedRow));
    l->active = rgCursor_Allocate(c, m, sizeof(int));
    l->place = rgCursor_Allocate(c, m, sizeof(int));
    l->pivots = rgCursor_Allocate(c, n, sizeof(int));
    l->modes = rgCursor_Allocate(c, m, sizeof(rgRowMode));
    l->laws = rgCursor_Allocate(c, (size_t)model->treeCount, sizeof(rgTreeLaw));
    for (int i = 0; i < 3; ++i) {
        l->flows[i].links = rgCursor_Allocate(c, links, sizeof(rgSpatial));
        l->flows[i].carried = rgCursor_Allocate(c, n, sizeof(rgSpatial));
    }
    l->maps = rgCursor_Allocate(c, links, sizeof(rgJointMaps));
    l->points =
        rgCursor_Allocate(c, (size_t)world->contacts.pointCount, sizeof(rgContactVariation));
    rgVec3** vectors[] = {&l->along, &l->turn, &l->atA, &l->angular};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = rgCursor_Allocate(c, n, sizeof(rgVec3));
    }
    l->marks = rgCursor_Allocate(c, 2 * n, sizeof(bool));
}

// Arrays for the rows that the step has.
rgResult rgLinearization_Reserve(rgWorld* world, rgLinearization* l) {
    rgCursor plan = {.block = NULL};
    rgLinearization_SetArrays(world, l, &plan);
    if ((double)plan.used > RG_MOST_BYTES) {
        return rg_errorUnsupported;
    }
    rgResult result = rgReserve(&world->heap.allocator, (void**)&l->block, &l->blockCapacity, 0,
                                (int)plan.used, 1);
    if (result == rg_ok) {
        plan = (rgCursor){.block = l->block};
        rgLinearization_SetArrays(world, l, &plan);
    }
    return result;
}

static rgLinearization* rgLinearization_Of(rgWorld* world) {
    if (world->linearization == NULL) {
        world->linearization = rgAllocate(&world->heap.allocator, 1, sizeof(rgLinearization));
    }
    return world->linearization;
}

void rgLinearization_Destroy(rgWorld* world) {
    rgLinearization* l = world->linearization;
    if (l != NULL) {
        rgRelease(&world->heap.allocator, l->block);
        rgRelease(&world->heap.allocator, l->kept);
        rgRelease(&world->heap.allocator, l);
    }
}

// ---- what is asked for

static bool rgParameterIsKnown(const rgModel* model, const rgQuantity* ref) {
    const rgModelInfo* info = &model->info;
    int count = 0, least = 0;
    switch (ref->kind) {
    case rg_quantityFriction:
    case rg_quantityRestitution:
        count = info->shapeCount, least = -1;
        break;
    case rg_quantityMass:
    case rg_quantityInertia:
        count = info->bodyCount;
        break;
    case rg_quantityDamping:
    case rg_quantityStiffness:
    case rg_quantityArmature:
    case rg_quantityDryFriction:
        count = info->jointCount;
        break;
    case rg_quantityPositionGain:
    case rg_quantityVelocityGain:
    case rg_quantityGain:
        count = info->actuatorCount;
        break;
    default:
        return false;
    }
    bool element = ref->kind != rg_quantityInertia || (ref->element >= 0 && ref->element < 10);
    return ref->index >= least && ref->index < count && element;
}

static bool rgDefIsValid(const rgModel* model, const rgDerivativeDef* def) {
    unsigned all =
        rg_byPosition | rg_byVelocity | rg_byControl | rg_byForce | rg_byParameters | rg_byTrend;
    if (def->cookie != RG_COOKIE_DERIVATIVE || (def->by & ~all) != 0 || !(def->increment > 0) ||
        !isfinite(def->increment) || !(def->smoothing >= 0) || !isfinite(def->smoothing) ||
        (def->smoothing > 0 && def->differences) || def->parameterCount < 0 ||
        (def->parameterCount > 0 && def->parameters == NULL)) {
        return false;
    }
    bool known = true;
    for (int i = 0; i < def->parameterCount; ++i) {
        known = known && rgParameterIsKnown(model, &def->parameters[i]);
    }
    return known;
}

int rgModel_DerivativeColumns(const rgModel* model, const rgDerivativeDef* def) {
    rgDerivativeDef usual = rgDefaultDerivativeDef();
    def = def != NULL ? def : &usual;
    if (model == NULL || !rgDefIsValid(model, def)) {
        return model == NULL ? 0 : -1;
    }
    int count = 0;
    count += def->by & rg_byPosition ? model->vCount : 0;
    count += def->by & rg_byVelocity ? model->vCount : 0;
    count += def->by & rg_byControl ? model->info.actuatorCount : 0;
    count += def->by & rg_byForce ? model->vCount : 0;
    count += def->by & rg_byParameters ? def->parameterCount : 0;
    return count + (def->by & rg_byTrend ? 2 * model->vCount : 0);
}

// Columns are Q, V, control, force, parameters, trend; those of Q and V are always there.
static void rgLinearization_Start(const rgWorld* world, rgLinearization* l,
                                  const rgDerivativeDef* def) {
    l->def = *def;
    l->n = world->model->vCount;
    l->width = 2 * l->n;
    l->controlFirst = l->forceFirst = l->parameterFirst = l->trendFirst = -1;
    if (def->by & rg_byControl) {
        l->controlFirst = l->width;
        l->controlCount = world->model->info.actuatorCount;
        l->width += l->controlCount;
    }
    if (def->by & rg_byForce) {
        l->forceFirst = l->width;
        l->width += l->n;
    }
    if (def->by & rg_byParameters) {
        l->parameterFirst = l->width;
        l->width += def->parameterCount;
    }
    if (def->by & rg_byTrend) {
        l->trendFirst = l->width;
        l->width += 2 * l->n;
    }
    l->sensorCount = def->sensors ? rgModel_SensorNumbers(world->model) : 0;
    l->used = l->width;
    l->width = rgAligned(l->used);
    l->betweenModes = l->touching = l->inconsistent = l->redundant = l->frozen = 0;
    l->frozenWhy = NULL;
    l->margin = 1;
}

// Laws whose implicit share depends on what a degree of freedom weighs.
static bool rgNeedsDiagonal(const rgWorld* world) {
    bool needs = false;
    for (int i = 0; i < world->model->vCount; ++i) {
        needs = needs || world->free.dofStiffness[i] > 0 || world->free.dofDamping[i] > 0;
    }
    for (int r = 0; r < world->constraints.rows.rowCount; ++r) {
        const rgRowSource* source = &world->constraints.rows.sources[r];
        needs = needs || source->kind == rg_constraintActuator ||
                (source->kind == rg_constraintTendon && source->row == 3);
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        needs = needs || world->contacts.points[i].isSoft;
    }
    return needs;
}

// ---- a step and its derivative

static bool rgWorld_AnyInParts(const rgWorld* world) {
    bool any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        any = any || rgWorld_MovesInParts(world, t);
    }
    return any;
}

// Loops and parts of a step leave the workspace where the step ended.
static rgResult rgPlaceMiddle(rgWorld* world) {
    if (world->constraints.rigidEqualityCount == 0 && !rgWorld_AnyInParts(world)) {
        return rg_ok;
    }
    rgDynamics* d = world->kinematics.dynamics;
    rgKinematics_PlaceStart(&world->kinematics, world->settings.dt, d);
    rgDynamics_SetState(d, world->kinematics.q, world->kinematics.v);
    rgDynamics_NeedMass(d);
    rgTransmission_PlaceTendons(&world->transmission, &world->kinematics);
    return rgDynamics_Factorize(d, world->free.added);
}

static rgResult rgReserveStep(rgWorld* world, rgLinearization* l) {
    l->m = world->constraints.rows.rowCount;
    l->pitch = rgAligned(l->m);
    l->hasFast = rgWorld_AnyTransported(world);
    l->hasParts = rgWorld_AnyInParts(world);
    const rgProjection* p = world->projection;
    l->projectedCapacity = p->loopRowCount + p->halfLineCount;
    return rgLinearization_Reserve(world, l);
}

static rgResult rgLinearize_Step(rgWorld* world, rgLinearization* l) {
    rgResult result = rgReserveStep(world, l);
    if (result == rg_ok) {
        result = rgPlaceMiddle(world);
    }
    if (result != rg_ok) {
        return result;
    }
    l->needsDiagonal = rgNeedsDiagonal(world);
    memset(l->bounds, 0,
           l->parameterFirst >= 0 ? (size_t)l->m * (size_t)l->width * sizeof(double) : 0);
    const rgDynamics* d = world->kinematics.dynamics;
    rgFlow_Fill(world->model, d, world->next.v, &l->flows[0]);
    rgFlow_Fill(world->model, d, world->kinematics.v, &l->flows[1]);
    rgLinearize_Laws(world, l);
    rgLinearize_State(world, l);
    result = rgLinearize_Free(world, l); // -> base, force
    if (result == rg_ok) {
        result = rgLinearize_Solve(world, l); // -> rows, modes, K^-1
        rgLinearize_Parameters(world, l);
        rgLinearize_TurnTrend(world, l);
    }
    if (result == rg_ok) {
        result = rgLinearize_Project(world, l);
    }
    return result;
}

static rgResult rgLinearize_Columns(rgWorld* world, rgLinearization* l) {
    rgLinearize_Forward(world, l);
    rgLinearize_PushFast(world, l);
    rgLinearize_PushEnd(world, l);
    rgLinearize_PushProjection(world, l);
    rgLinearize_PushFastEnd(world, l);
    if (l->trendFirst >= 0) {
        rgLinearize_PushTrend(world, l);
    }
    rgLinearize_PushOut(world, l);
    rgResult result = l->sensorCount > 0 ? rgLinearize_PushSensors(world, l) : rg_ok;
    rgLinearize_PullStart(world, l, l->n, l->next);
    rgLinearize_PullStart(world, l, l->n, l->out);
    rgLinearize_PullStart(world, l, l->trendFirst >= 0 ? 2 * l->n : 0, l->trend);
    rgLinearize_PullStart(world, l, l->def.impulses ? l->m : 0, l->impulse);
    rgLinearize_PullStart(world, l, l->sensorCount, l->sensor);
    rgLinearize_PushParts(l);
    return result;
}

// ---- answers

// First column of what is asked for, and how many: from where they are in a row of width.
typedef struct rgColumns {
    int from, count;
} rgColumns;

static int rgListColumns(const rgLinearization* l, rgColumns list[RG_BLOCK_COUNT]) {
    unsigned by = l->def.by;
    int count = 0, n = l->n;
    list[0] = (rgColumns){0, by & rg_byPosition ? n : 0};
    list[1] = (rgColumns){n, by & rg_byVelocity ? n : 0};
    list[2] = (rgColumns){l->controlFirst, l->controlFirst >= 0 ? l->controlCount : 0};
    list[3] = (rgColumns){l->forceFirst, l->forceFirst >= 0 ? n : 0};
    list[4] = (rgColumns){l->parameterFirst, l->parameterFirst >= 0 ? l->def.parameterCount : 0};
    list[5] = (rgColumns){l->trendFirst, l->trendFirst >= 0 ? 2 * n : 0};
    for (int i = 0; i < RG_BLOCK_COUNT; ++i) {
        count += list[i].count;
    }
    return count;
}

// Rows move together, without the columns that are not asked for.
static void rgDropColumns(const rgLinearization* l, int rowCount, double* matrix) {
    rgColumns list[RG_BLOCK_COUNT], runs[RG_BLOCK_COUNT];
    int count = rgListColumns(l, list), runCount = 0;
    for (int i = 0; i < RG_BLOCK_COUNT; ++i) {
        rgColumns* last = &runs[RG_MAX(runCount - 1, 0)];
        if (list[i].count > 0 && runCount > 0 && list[i].from == last->from + last->count) {
            last->count += list[i].count;
        } else if (list[i].count > 0) {
            runs[runCount++] = list[i];
        }
    }
    for (int r = 0; r < rowCount && count < l->width; ++r) {
        const double* row = matrix + (size_t)r * (size_t)l->width;
        double* to = matrix + (size_t)r * (size_t)count;
        for (int i = 0; i < runCount; ++i) {
            memmove(to, row + runs[i].from, (size_t)runs[i].count * sizeof(double));
            to += runs[i].count;
        }
    }
}

// As rgAllFinite(), of rows of a multiple of RG_ALIGNED_COUNT numbers.
static bool rgRowsAreFinite(const rgLinearization* l, int rowCount, const double* x) {
    double sums[RG_ALIGNED_COUNT] = {0};
    for (size_t i = 0; i < (size_t)rowCount * (size_t)l->width; i += RG_ALIGNED_COUNT) {
        for (int k = 0; k < RG_ALIGNED_COUNT; ++k) {
            sums[k] += x[i + (size_t)k] * 0;
        }
    }
    return rgAllFinite(sums, RG_ALIGNED_COUNT);
}

static void rgAnswer(const rgLinearization* l, rgDerivatives* out) {
    rgColumns list[RG_BLOCK_COUNT];
    int* firsts[RG_BLOCK_COUNT] = {&out->positionColumn, &out->velocityColumn,  &out->controlColumn,
                                   &out->forceColumn,    &out->parameterColumn, &out->trendColumn};
    *out = (rgDerivatives){.columnCount = rgListColumns(l, list),
                           .rowCount = l->m,
                           .sensorCount = l->sensorCount,
                           .betweenModes = l->betweenModes,
                           .touching = l->touching,
                           .inconsistent = l->inconsistent,
                           .redundant = l->redundant,
                           .frozen = l->frozen,
                           .frozenWhy = l->frozenWhy,
                           .margin = l->margin};
    int at = 0;
    for (int i = 0; i < RG_BLOCK_COUNT; ++i) {
        *firsts[i] = list[i].count > 0 ? at : -1;
        at += list[i].count;
    }
}

static rgResult rgAnswerMatrices(const rgLinearization* l, rgDerivatives* out) {
    const struct {
        bool wanted;
        int rowCount;
        double* matrix;
        const double** out;
    } answers[] = {{true, l->n, l->next, &out->nextQ},
                   {true, l->n, l->out, &out->nextV},
                   {l->trendFirst >= 0, 2 * l->n, l->trend, &out->nextTrend},
                   {l->def.impulses, l->m, l->impulse, &out->impulse},
                   {l->sensorCount > 0, l->sensorCount, l->sensor, &out->sensor}};
    bool finite = true;
    for (int i = 0; i < RG_COUNT(answers); ++i) {
        finite = finite &&
                 (!answers[i].wanted || rgRowsAreFinite(l, answers[i].rowCount, answers[i].matrix));
    }
    for (int i = 0; i < RG_COUNT(answers) && finite; ++i) {
        if (answers[i].wanted) {
            rgDropColumns(l, answers[i].rowCount, answers[i].matrix);
            *answers[i].out = answers[i].matrix;
        }
    }
    return finite ? rg_ok : rg_errorNumeric;
}

static rgStep rgEvaluate(rgWorld* world, const rgDerivativeDef* def, rgStepReport* report) {
    world->contacts.keepsOpen = def->smoothing > 0;
    rgStep step = rgWorld_EvaluateStep(world, report);
    world->contacts.keepsOpen = false;
    return step;
}

// One step, differentiated; what makes of it is done before the step is taken.
typedef rgResult rgUseFcn(rgWorld* world, rgLinearization* l, void* context);

static rgResult rgLinearize_Run(rgWorld* world, const rgDerivativeDef* def, rgUseFcn* use,
                                void* context) {
    rgDerivativeDef usual = rgDefaultDerivativeDef();
    def = def != NULL ? def : &usual;
    if (world == NULL || !rgDefIsValid(world->model, def)) {
        return rg_errorArgument;
    }
    rgLinearization* l = rgLinearization_Of(world);
    if (l == NULL) {
        return rg_errorMemory;
    }
    if (def->advance && world->monitor.ranAway) {
        return rg_errorNumeric; // as rgWorld_Step()
    }
    rgLinearization_Start(world, l, def);
    if (def->differences) {
        rgResult result = rgLinearize_Differences(world, l);
        if (result != rg_ok) {
            return result;
        }
    }
    rgStepReport report;
    rgStep step = rgEvaluate(world, def, &report);
    rgResult result = step.result;
    if (result == rg_ok && !def->differences && rgWorld_AnyInParts(world)) {
        result = rgReserveStep(world, l);
        result = result == rg_ok ? rgLinearize_Parts(world, l) : result;
        step = rgEvaluate(world, def, &report);
        result = result == rg_ok ? step.result : result;
    }
    if (result == rg_ok && !def->differences) {
        result = rgLinearize_Step(world, l);
    }
    if (result == rg_ok) {
        result = use(world, l, context);
    }
    if (result == rg_ok && def->advance && def->smoothing > 0) {
        step = rgWorld_EvaluateStep(world, &report); // without rows of open contacts, as ever
        result = step.result;
    }
    return result == rg_ok && def->advance ? rgWorld_CommitStep(&step) : result;
}

static rgResult rgUseMatrices(rgWorld* world, rgLinearization* l, void* context) {
    rgDerivatives* out = context;
    rgResult result = l->def.differences ? rg_ok : rgLinearize_Columns(world, l);
    rgAnswer(l, out);
    return result == rg_ok ? rgAnswerMatrices(l, out) : result;
}

rgResult rgWorld_Derivatives(rgWorld* world, const rgDerivativeDef* def,
                             rgDerivatives* derivatives) {
    if (derivatives == NULL) {
        return rg_errorArgument;
    }
    *derivatives = (rgDerivatives){0};
    return rgLinearize_Run(world, def, rgUseMatrices, derivatives);
}

typedef struct rgPullback {
    rgStepGradient bar;
    double* out;
    rgDerivatives* answer;
} rgPullback;

// From gradients by sensors, through their matrix.
static rgResult rgPullSensors(rgWorld* world, rgLinearization* l, const double* bar, double* row) {
    rgResult result = rgLinearize_Columns(world, l);
    for (int s = 0; s < l->sensorCount; ++s) {
        for (int j = 0; j < l->width && bar[s] != 0; ++j) {
            row[j] += bar[s] * l->sensor[(size_t)s * (size_t)l->width + (size_t)j];
        }
    }
    return result;
}

static void rgCopyBar(const double* bar, size_t count, double* out) {
    if (bar != NULL) {
        memcpy(out, bar, count * sizeof(double));
    } else {
        memset(out, 0, count * sizeof(double));
    }
}

static rgResult rgUseGradient(rgWorld* world, rgLinearization* l, void* context) {
    rgPullback* pull = context;
    const rgStepGradient* bar = &pull->bar;
    size_t n = (size_t)l->n, width = (size_t)l->width;
    double *own = l->partBars, *next = l->bars[1], *end = l->bars[2], *Q = l->bars[3];
    memset(next, 0, n * sizeof(double));
    memset(end, 0, n * sizeof(double));
    memset(Q, 0, n * sizeof(double));
    double *row = l->gradient, *parts = row + width;
    memset(row, 0, 2 * width * sizeof(double));
    rgCopyBar(bar->qBar, n, own);
    rgCopyBar(bar->vBar, n, own + n);
    rgCopyBar(bar->trendBar, 2 * n, own + 2 * n);
    rgLinearize_PullParts(l, own, parts);
    if (bar->trendBar != NULL) {
        rgLinearize_PullTrend(world, l, own + 2 * n, end, row);
    }
    // J' of gaps and loops before the projection, then q+ and v+
    rgLinearize_PullOut(world, l, own, own + n, next, end, Q);
    rgLinearize_PullFastEnd(l, next, end, row);
    rgLinearize_PullProjection(world, l, next, end, Q);
    rgLinearize_PullEnd(world, l, next, end, Q);
    rgLinearize_PullFast(world, l, end, row);
    rgLinearize_Backward(world, l, end, row);
    for (size_t i = 0; i < n; ++i) {
        row[i] += Q[i];
    }
    rgLinearize_PullStart(world, l, 1, row);
    for (size_t j = 0; j < width; ++j) {
        row[j] += parts[j];
    }
    rgResult result = rg_ok;
    if (bar->sensorBar != NULL) {
        result = rgPullSensors(world, l, bar->sensorBar, row);
    }
    rgDropColumns(l, 1, row);
    rgColumns list[RG_BLOCK_COUNT];
    int count = rgListColumns(l, list);
    if (result != rg_ok || !rgAllFinite(row, count)) {
        return result != rg_ok ? result : rg_errorNumeric;
    }
    memcpy(pull->out, row, (size_t)count * sizeof(double));
    if (pull->answer != NULL) {
        rgAnswer(l, pull->answer);
    }
    return rg_ok;
}

rgResult rgWorld_Adjoint(rgWorld* world, const rgDerivativeDef* def, const rgStepGradient* gradient,
                         double* out, rgDerivatives* derivatives) {
    rgDerivativeDef own = def != NULL ? *def : rgDefaultDerivativeDef();
    rgPullback pull = {gradient != NULL ? *gradient : (rgStepGradient){0}, out, derivatives};
    if (out == NULL || own.differences ||
        (pull.bar.trendBar != NULL && (own.by & rg_byTrend) == 0)) {
        return rg_errorArgument;
    }
    own.sensors = pull.bar.sensorBar != NULL;
    own.impulses = false;
    return rgLinearize_Run(world, &own, rgUseGradient, &pull);
}
