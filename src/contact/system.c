// Build one island as a dimensionless system. ncp.13-14.
#include "contact/system.h"
#include "contact/tuning.h"

#include "contact/cones.h"
#include "contact/problem.h"
#include "contact/whitened.h"

#include <math.h>
#include <string.h>

static const rgLayoutBlock* rgSystemDef_Source(const rgSystemDef* def, int place) {
    return def->layout->blocks + def->members[place];
}

// Length [m] that turns the velocity of a row into m/s.
static double rgSystemDef_Length(const rgSystemDef* def, int row) {
    return def->problem->rowLength != NULL ? def->problem->rowLength[row] : 1;
}

// Rows, blocks and friction of the island, still in the problem's units.
static rgResult rgSystem_CollectBlocks(rgSystem* system, const rgSystemDef* def) {
    system->blockCount = def->memberCount;
    system->blocks = RG_TAKE(def->arena, rgSystemBlock, system->blockCount);
    system->blockStart = RG_TAKE(def->arena, int, system->blockCount + 1);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgLayoutBlock* source = rgSystemDef_Source(def, i);
        def->layout->placeOfBlock[def->members[i]] = i;
        system->blockStart[i] = system->n;
        const rgBlock* given = def->problem->blocks + source->given;
        system->blocks[i] = (rgSystemBlock){
            .kind = given->kind,
            .row = system->n,
            .size = source->rowCount,
            .entryStart = system->entryCount,
            .mu = given->mu,
            .torsion = given->muTorsion,
            .rolling = given->muRolling,
            .lower = given->lower,
            .upper = given->upper,
        };
        system->n += source->rowCount;
        system->entryCount += source->rowCount * source->rowCount;
    }
    system->blockStart[system->blockCount] = system->n;
    size_t n = (size_t)system->n;
    if (system->tasks.run != NULL) {
        system->rangeResidual =
            RG_TAKE(def->arena, double, system->blockCount / RG_BLOCKS_PER_TASK + 1);
    }
    system->g = RG_TAKE(def->arena, double, n);
    system->rowScale = RG_TAKE(def->arena, double, n);
    system->mass = RG_TAKE(def->arena, double, n);
    system->weight = RG_TAKE(def->arena, double, n);
    system->globalRow = RG_TAKE(def->arena, int, n);
    system->diagonal = RG_TAKE(def->arena, double, system->entryCount);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgLayoutBlock* source = rgSystemDef_Source(def, i);
        for (int k = 0; k < source->rowCount; ++k) {
            int row = system->blocks[i].row + k;
            system->globalRow[row] = source->firstRow + k;
            system->g[row] = def->problem->freeVelocity[source->firstRow + k];
        }
    }
    return rg_ok;
}

// Velocity error of zero impulses: at a contact (row 0 stands for its three; torsion and rolling
// have nothing to ask without a normal impulse), or in one row that feels the mass m [m/s].
static double rgSystem_ErrorOfZero(const rgSystem* system, const rgSystemBlock* block, int k,
                                   double mass) {
    double g = system->g[block->row + k];
    switch (block->kind) {
    case rg_blockCoulomb:
        return k == 0 ? rgOpeningError(block->mu, system->model, system->g + block->row) : 0;
    case rg_blockFree:
        return fabs(g);
    case rg_blockHalfLine:
        return g < 0 ? -g : 0;
    default:
        return fabs(rgClamp(-mass * g, block->lower, block->upper)) / mass;
    }
}

// True if lambda = 0 solves the island.
static bool rgSystem_IsTrivial(const rgSystem* system) {
    for (int i = 0; i < system->blockCount; ++i) {
        for (int k = 0; k < system->blocks[i].size; ++k) {
            if (rgSystem_ErrorOfZero(system, system->blocks + i, k, 1) != 0) {
                return false;
            }
        }
    }
    return true;
}

// Rows of a block that share one mass: the three of a contact, its two rolling rows, else one.
static int rgSystemBlock_Sharing(const rgSystemBlock* block, int k) {
    bool contact = block->kind == rg_blockCoulomb;
    return contact && k == 0 ? 3 : contact && k == 4 ? 2 : 1;
}

// Diagonal entries of rows that share one mass.
static double rgSystem_SumDiagonal(const rgSystem* system, const rgSystemBlock* block, int k,
                                   int count) {
    const double* d = system->diagonal + block->entryStart;
    double sum = 0;
    for (int j = k; j < k + count; ++j) {
        sum += d[j * (block->size + 1)];
    }
    return sum;
}

// m of every row in the problem's units (ncp.9), and which part of an impulse moves something: the
// share of G in G + R. It is kept where the weights will be.
static void rgSystem_FindMasses(rgSystem* system, const rgSystemDef* def) {
    const double* R = def->problem->compliance;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = 0; k < block->size;) {
            int count = rgSystemBlock_Sharing(block, k);
            double sum = rgSystem_SumDiagonal(system, block, k, count), soft = 0;
            for (int j = k; j < k + count; ++j) {
                soft += R != NULL ? R[system->globalRow[block->row + j]] : 0;
            }
            for (int end = k + count; k < end; ++k) {
                system->mass[block->row + k] = sum > 0 ? count / sum : 0;
                system->weight[block->row + k] = sum > soft ? (sum - soft) / sum : 1;
            }
        }
    }
}

// Contacts whose normal cannot move. Eliminated rows hold others that can: beside a loop of
// compliance R they keep G R / (G + R).
static void rgSystem_MarkImmovable(rgSystem* system) {
    for (int i = 0; i < system->blockCount; ++i) {
        rgSystemBlock* block = system->blocks + i;
        const double* d = system->diagonal + block->entryStart;
        int m = block->size;
        block->immovable =
            block->kind == rg_blockCoulomb && d[2 * m + 2] < RG_ZERO_RATIO * (d[0] + d[m + 1]);
    }
}

// Power of two nearest to the root of x.
static double rgRootPower(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2));
}

// The next row of a block that zero impulses may leave wrong by something of its own.
static int rgSystemBlock_NextError(const rgSystemBlock* block, int k) {
    return block->kind == rg_blockCoulomb ? block->size : k + 1;
}

// s of ncp.13: powers of two, so that scaling rounds nothing; and the unit of mass, the largest
// there is
static void rgSystem_FindScale(rgSystem* system) {
    double largest = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = 0; k < block->size;) {
            int count = rgSystemBlock_Sharing(block, k);
            double sum = rgSystem_SumDiagonal(system, block, k, count);
            double mass = sum > 0 ? count / sum : 0;
            largest = RG_MAX(largest, mass);
            for (int end = k + count; k < end; ++k) {
                system->rowScale[block->row + k] = mass;
            }
        }
    }
    int exponent;
    frexp(largest, &exponent);
    if (system->ops == &rgVelocityOps) {
        exponent = 2 * (exponent / 2); // W takes the unit's root
    }
    system->massUnit = largest > 0 ? ldexp(1, exponent) : 1;
    double last = 0, root = 1; // rows of a contact share them
    for (int i = 0; i < system->n; ++i) {
        double mass = system->rowScale[i];
        if (mass != last) {
            root = mass > 0 ? rgRootPower(mass / system->massUnit) : 1;
            last = mass;
        }
        system->rowScale[i] = root;
    }
}

// V of ncp.11 in the problem's units.
static double rgSystem_FindReference(const rgSystem* system, const rgSystemDef* def) {
    double reference = def->reference;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = 0; k < block->size; k = rgSystemBlock_NextError(block, k)) {
            int row = block->row + k;
            double mass = system->mass[row] > 0 ? system->mass[row] : 1;
            double error = rgSystem_ErrorOfZero(system, block, k, mass);
            double length = rgSystemDef_Length(def, system->globalRow[row]);
            reference = RG_MAX(reference, error * length * system->weight[row]);
        }
    }
    return reference > 0 ? reference : 1;
}

// c of ncp.14: the residual of zero impulses becomes about one. least: where they leave nothing
// wrong [m/s].
static double rgSystem_FindUnit(const rgSystem* system, double least) {
    double largest = least;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = 0; k < block->size; k = rgSystemBlock_NextError(block, k)) {
            double mass = system->mass[block->row + k];
            double error = rgSystem_ErrorOfZero(system, block, k, mass > 0 ? mass : 1);
            largest = RG_MAX(largest, error * system->rowScale[block->row + k]);
        }
    }
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1, -exponent);
}

// The judge's mass and weight of every row in the system's units.
static void rgSystem_WeighRows(rgSystem* system, const rgSystemDef* def, double reference) {
    for (int i = 0; i < system->n; ++i) {
        double s = system->rowScale[i], c = system->velocityUnit;
        double mass = system->mass[i] / (system->massUnit * s * s);
        double length = rgSystemDef_Length(def, system->globalRow[i]);
        system->mass[i] = mass;
        system->weight[i] *= length / (c * s * (mass > 0 ? mass : 1) * reference);
    }
}

static void rgSystem_ScaleBlocks(rgSystem* system) {
    const double* scale = system->rowScale;
    for (int i = 0; i < system->blockCount; ++i) {
        rgSystemBlock* block = system->blocks + i;
        const double* s = scale + block->row;
        double* d = system->diagonal + block->entryStart;
        int m = block->size;
        for (int a = 0; a < m; ++a) {
            double own = system->massUnit * s[a];
            for (int b = 0; b < m; ++b) {
                *d++ *= own * s[b];
            }
        }
        block->torsion *= m > 3 && block->kind == rg_blockCoulomb ? s[2] / s[3] : 1;
        block->rolling *= m > 4 && block->kind == rg_blockCoulomb ? s[2] / s[4] : 1;
        double impulse = system->velocityUnit / (system->massUnit * s[0]);
        block->lower *= impulse;
        block->upper *= impulse;
    }
    for (int i = 0; i < system->n; ++i) {
        system->g[i] *= system->velocityUnit * scale[i];
    }
}

// Units, in which the judge's masses and reference are those of the whole system, also where rows
// are taken out of it.
static rgResult rgSystem_Scale(rgSystem* system, const rgSystemDef* def) {
    rgSystem_FindMasses(system, def);
    rgSystem_MarkImmovable(system);
    double reference = rgSystem_FindReference(system, def);
    rgMatrix* dense = rgSystem_Dense(system);
    rgResult result =
        def->eliminate && dense != NULL ? rgSystem_Eliminate(system, def, dense) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    system->massUnit = system->velocityUnit = 1;
    for (int i = 0; i < system->n; ++i) {
        system->rowScale[i] = 1;
    }
    if (def->scaled) {
        rgSystem_FindScale(system);
        system->velocityUnit = rgSystem_FindUnit(system, def->keepsStart ? reference : 0);
    }
    rgSystem_WeighRows(system, def, reference);
    if (def->scaled) {
        rgSystem_ScaleBlocks(system);
    }
    system->ops->scale(system);
    return rg_ok;
}

// Share of the matrix that is not zero, for contact-space input.
static double rgSystemDef_Density(const rgSystemDef* def, const rgSystem* system) {
    double entries = 0;
    for (int i = 0; i < system->n; ++i) {
        rgGivenRow row = rgContactProblem_Row(def->problem, system->globalRow[i]);
        for (int k = row.start; k < row.end; ++k) {
            entries += row.value[k] != 0;
        }
    }
    return entries / ((double)system->n * system->n);
}

// The form that the def asks for, unless the input does not allow it; else by predicted cost.
// rows: velocity input, NULL: contact space.
static rgSystemForm rgChooseForm(const rgSystemDef* def, const rgSystem* system,
                                 const rgWhitened* rows) {
    bool allowed = def->form == (rows != NULL ? rg_formVelocity : rg_formSparse);
    if (allowed || def->form == rg_formDense) {
        return def->form;
    }
    if (rows != NULL) {
        int n = rgSystem_RowsLeft(system, def);
        bool few = n <= RG_DENSE_ROW_RATIO * rows->nv && system->n <= RG_DENSE_ROWS;
        return few ? rg_formDense : rg_formVelocity;
    }
    bool dense =
        system->n <= RG_DENSE_ROWS || rgSystemDef_Density(def, system) > RG_DENSE_FILL_RATIO;
    return dense ? rg_formDense : rg_formSparse;
}

// The parts and rows that the input has, then the form that suits them.
static rgResult rgSystem_MakeForm(rgSystem* system, const rgSystemDef* def) {
    rgWhitened own = {0};
    rgWhitened* rows = def->problem->delassus.kind == rg_delassusVelocity ? &own : NULL;
    rgResult result = rows != NULL ? rgWhitened_FindParts(rows, def, system) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    rgSystemForm form = rgChooseForm(def, system, rows);
    if (rows != NULL) {
        result = form == rg_formDense ? rgWhitened_FillColumns(rows, def, system)
                                      : rgWhitened_Fill(rows, def, system, false);
    }
    if (result != rg_ok) {
        return result;
    }
    return form == rg_formDense    ? rgMakeDense(def, rows, system)
           : form == rg_formSparse ? rgMakeSparse(def, system)
                                   : rgMakeVelocity(def, rows, system);
}

rgResult rgBuildSystem(const rgSystemDef* def, rgSystem* system) {
    *system = (rgSystem){
        .model = def->model, .kernels = def->kernels, .tasks = def->tasks, .arena = def->arena};
    rgResult result = rgSystem_CollectBlocks(system, def);
    if (result != rg_ok || (!def->keepsStart && rgSystem_IsTrivial(system))) {
        return result;
    }
    result = rgSystem_MakeForm(system, def);
    return result == rg_ok ? rgSystem_Scale(system, def) : result;
}

void rgSystem_Load(const rgSystem* system, const double* lambda, double* own) {
    for (int i = 0; i < system->n; ++i) {
        double unit = system->velocityUnit / (system->massUnit * system->rowScale[i]);
        own[i] = unit * lambda[system->globalRow[i]];
    }
}

rgResult rgSystem_Store(const rgSystem* system, const double* own, double* lambda) {
    for (int i = 0; i < system->n; ++i) {
        double unit = system->massUnit * system->rowScale[i] / system->velocityUnit;
        lambda[system->globalRow[i]] = unit * own[i];
    }
    return system->eliminated.count > 0 ? rgSystem_Restore(system, lambda) : rg_ok;
}

// A loop over ranges.
typedef struct rgSpread {
    int count;
    rgRangeFcn* work;
    void* context;
} rgSpread;

static void rgSpread_Run(int index, int worker, void* context) {
    const rgSpread* spread = context;
    int first = index * RG_BLOCKS_PER_TASK;
    spread->work(first, RG_MIN(first + RG_BLOCKS_PER_TASK, spread->count), worker, spread->context);
}

void rgSystem_Spread(const rgSystem* system, int count, rgRangeFcn* work, void* context) {
    if (system->tasks.run == NULL) {
        work(0, count, 0, context);
        return;
    }
    rgSpread spread = {count, work, context};
    rgTasks_Run(&system->tasks, (count + RG_BLOCKS_PER_TASK - 1) / RG_BLOCKS_PER_TASK, rgSpread_Run,
                &spread);
}

void rgSystem_Velocity(rgSystem* system, const double* lambda, double* sigma) {
    system->ops->apply(system, lambda, sigma);
    for (int i = 0; i < system->n; ++i) {
        sigma[i] += system->g[i];
    }
}

rgResult rgSystem_RespondByColumns(rgSystem* system, int count, const int* blocks, double* X,
                                   double* Y, int ld) {
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* unit = RG_TAKE(system->arena, double, system->n);
    double* column = RG_TAKE(system->arena, double, system->n);
    double* moved = RG_TAKE(system->arena, double, system->n);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    memset(unit, 0, (size_t)system->n * sizeof(double));
    for (int j = 0; j < 3 * count; ++j) {
        int row = system->blocks[blocks[j / 3]].row + j % 3;
        unit[row] = 1;
        system->ops->solveNewton(system, unit, column, moved);
        unit[row] = 0;
        for (int i = 0; i < 3 * count; ++i) {
            int at = system->blocks[blocks[i / 3]].row + i % 3;
            X[(size_t)j * (size_t)ld + (size_t)i] = column[at];
            Y[(size_t)j * (size_t)ld + (size_t)i] = moved[at];
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
