// Build one island as a dimensionless system. docs/theory/ncp.md (9)-(10).
#include "contact/system.h"

#include "contact/cones.h"

#include <math.h>
#include <string.h>

static const rgSetSource* rgSystemDef_Source(const rgSystemDef* def, int place) {
    return def->layout->sets + def->members[place];
}

// Rows, sets and friction of the island, still in the problem's units.
static rgResult rgSystem_CollectSets(rgSystem* system, const rgSystemDef* def) {
    system->setCount = def->memberCount;
    system->sets = RG_TAKE(def->arena, rgSet, system->setCount);
    if (system->sets == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSetSource* source = rgSystemDef_Source(def, i);
        const rgBlock* block = def->problem->blocks + source->block;
        system->sets[i] = (rgSet){
            .kind = block->kind,
            .row = system->n,
            .size = source->rowCount,
            .pairStart = system->pairCount,
            .mu = block->mu,
            .bound = {block->muTorsion, block->muRolling, block->muRolling},
            .lower = block->lower,
            .upper = block->upper,
        };
        system->n += source->rowCount;
        system->pairCount += source->rowCount * source->rowCount;
    }
    size_t n = (size_t)system->n;
    system->g = RG_TAKE(def->arena, double, n);
    system->rowScale = RG_TAKE(def->arena, double, n);
    system->globalRow = RG_TAKE(def->arena, int, n);
    system->diagonal = RG_TAKE(def->arena, double, system->pairCount);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSetSource* source = rgSystemDef_Source(def, i);
        for (int k = 0; k < source->rowCount; ++k) {
            int row = system->sets[i].row + k;
            system->globalRow[row] = source->firstRow + k;
            system->g[row] = def->problem->freeVelocity[source->firstRow + k];
        }
    }
    return rg_ok;
}

static bool rgRowNeedsImpulse(const rgSet* set, double g) {
    switch (set->kind) {
    case rg_blockFree:
        return g != 0;
    case rg_blockHalfLine:
        return g < 0;
    default:
        return rgClamp(-g, set->lower, set->upper) != 0;
    }
}

// Largest |scale g| of all rows, torsion and rolling aside.
static double rgSystem_LargestSpeed(const rgSystem* system, const double* scale) {
    double largest = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int rows = set->kind == rg_blockCoulomb ? 3 : set->size;
        for (int k = 0; k < rows; ++k) {
            double s = scale != NULL ? scale[set->row + k] : 1;
            largest = RG_MAX(largest, s * fabs(system->g[set->row + k]));
        }
    }
    return largest;
}

// The relaxed model brakes contacts that open while they slide.
static bool rgSystem_Brakes(const rgSystem* system) {
    for (int i = 0; i < system->setCount && system->model == rg_modelCcp; ++i) {
        const rgSet* set = system->sets + i;
        const double* g = system->g + set->row;
        if (set->kind == rg_blockCoulomb && set->mu * sqrt(g[0] * g[0] + g[1] * g[1]) > g[2]) {
            return true;
        }
    }
    return false;
}

// Largest |scale g| over the rows that zero impulses leave wrong; scale NULL counts as one. A box
// without zero asks for its nearest bound.
static double rgSystem_Demand(const rgSystem* system, const double* scale) {
    double demand = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double* g = system->g + set->row;
        bool contact = set->kind == rg_blockCoulomb;
        int rows = contact ? (g[2] < 0 ? 3 : 0) : set->size;
        for (int k = 0; k < rows; ++k) {
            double s = scale != NULL ? scale[set->row + k] : 1;
            if (contact || rgRowNeedsImpulse(set, g[k])) {
                demand = RG_MAX(demand, s * fabs(g[k]));
            }
            if (set->kind == rg_blockBox) {
                demand = RG_MAX(demand, fabs(rgClamp(0, set->lower, set->upper)) / s);
            }
        }
    }
    return demand > 0 || !rgSystem_Brakes(system) ? demand : rgSystem_LargestSpeed(system, scale);
}

// (9) s = (trace(G_ii + R_ii)/m)^-1/2: one per contact, one per row elsewhere
static void rgSystem_FindScale(rgSystem* system, double* scale) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double* d = system->diagonal + set->pairStart;
        int m = set->size;
        for (int k = 0; k < m; ++k) {
            double mean = d[k * m + k];
            if (set->kind == rg_blockCoulomb && k < 3) {
                mean = (d[0] + d[m + 1] + d[2 * m + 2]) / 3;
            }
            scale[set->row + k] = mean > 0 ? 1 / sqrt(mean) : 1;
        }
    }
}

static void rgSystem_ScaleSets(rgSystem* system, const double* scale, double unit) {
    for (int i = 0; i < system->setCount; ++i) {
        rgSet* set = system->sets + i;
        const double* s = scale + set->row;
        double* d = system->diagonal + set->pairStart;
        int m = set->size;
        for (int a = 0; a < m; ++a) {
            for (int b = 0; b < m; ++b) {
                d[a * m + b] *= s[a] * s[b];
            }
        }
        for (int k = 3; k < m && set->kind == rg_blockCoulomb; ++k) {
            set->bound[k - 3] *= s[2] / s[k];
        }
        set->lower *= unit / s[0];
        set->upper *= unit / s[0];
    }
    for (int i = 0; i < system->n; ++i) {
        system->g[i] *= unit * scale[i];
    }
}

static void rgSystem_ScaleMatrix(rgSystem* system, const double* s) {
    for (int j = 0; system->G != NULL && j < system->n; ++j) {
        double* column = system->G + (size_t)j * (size_t)system->ld;
        for (int i = 0; i < system->n; ++i) {
            column[i] *= s[i] * s[j];
        }
    }
    for (int i = 0; system->values != NULL && i < system->setCount; ++i) {
        const rgSet* a = system->sets + i;
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            const rgSet* b = system->sets + system->column[k];
            for (int r = 0; r < a->size; ++r) {
                for (int c = 0; c < b->size; ++c) {
                    system->values[k][r * b->size + c] *= s[a->row + r] * s[b->row + c];
                }
            }
        }
    }
    for (int l = 0; l < system->linkCount; ++l) {
        rgVelocityLink* link = system->links + l;
        const rgSet* set = system->sets + link->set;
        const rgVelocityPart* part = system->parts + link->part;
        for (int r = 0; r < set->size; ++r) {
            for (int c = 0; c < part->size; ++c) {
                link->W[r * part->stride + c] *= s[set->row + r];
            }
        }
    }
    for (int i = 0; system->R != NULL && i < system->n; ++i) {
        system->R[i] *= s[i] * s[i];
    }
}

static rgResult rgSystem_Scale(rgSystem* system, const rgSystemDef* def) {
    double* scale = RG_TAKE(def->arena, double, system->n);
    if (scale == NULL) {
        return rg_errorMemory;
    }
    rgSystem_FindScale(system, scale);
    double unit = 1 / rgSystem_Demand(system, scale);
    if (def->scaled) {
        rgSystem_ScaleSets(system, scale, unit);
        rgSystem_ScaleMatrix(system, scale);
        system->rowScale = scale;
        system->unit = unit;
        return rg_ok;
    }
    // The paper's units: the system stays as it is, the judge's scaling is kept beside it.
    system->toJudge = RG_TAKE(def->arena, double, system->n);
    system->fromJudge = RG_TAKE(def->arena, double, system->n);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->n; ++i) {
        system->toJudge[i] = unit / scale[i];
        system->fromJudge[i] = unit * scale[i];
        system->rowScale[i] = 1;
    }
    system->unit = 1;
    return rg_ok;
}

// Share of the block matrix that is not zero, for contact-space input.
static double rgSystemDef_Density(const rgSystemDef* def, const rgSystem* system) {
    if (def->problem->delassus.kind == rg_delassusSparse) {
        const rgSparse* G = &def->problem->delassus.sparse;
        double entries = 0;
        for (int i = 0; i < system->n; ++i) {
            entries += G->rowStart[system->globalRow[i] + 1] - G->rowStart[system->globalRow[i]];
        }
        return entries / ((double)system->n * system->n);
    }
    const double* G = def->problem->delassus.matrix;
    size_t n = (size_t)def->problem->rowCount;
    double entries = 0;
    for (int i = 0; i < system->setCount; ++i) {
        for (int j = 0; j < system->setCount; ++j) {
            int row = system->globalRow[system->sets[i].row];
            int column = system->globalRow[system->sets[j].row];
            entries += G[(size_t)row * n + (size_t)column] != 0;
        }
    }
    return entries / ((double)system->setCount * system->setCount);
}

#define RG_FEW_ROWS 30 // up to which G is formed whatever the number of velocities

static rgSystemForm rgChooseForm(const rgSystemDef* def, const rgSystem* system) {
    bool velocityInput = def->problem->delassus.kind == rg_delassusVelocity;
    if (def->form != rg_formAuto && (def->form != rg_formVelocity || velocityInput)) {
        return def->form;
    }
    if (velocityInput) {
        bool few = system->n <= RG_FEW_ROWS || 2 * system->n <= 3 * system->nv;
        return few && system->n <= 150 ? rg_formDense : rg_formVelocity;
    }
    if (system->n <= 90) {
        return rg_formDense;
    }
    return rgSystemDef_Density(def, system) > 0.35 ? rg_formDense : rg_formSparse;
}

rgResult rgBuildSystem(const rgSystemDef* def, rgSystem* system) {
    *system = (rgSystem){
        .model = def->model,
        .kernels = def->kernels,
        .arena = def->arena,
        .factor = def->factor,
        .spare = def->spare,
    };
    rgResult result = rgSystem_CollectSets(system, def);
    if (result != rg_ok || rgSystem_Demand(system, NULL) == 0) {
        return result;
    }
    bool velocities = def->problem->delassus.kind == rg_delassusVelocity;
    result = velocities ? rgCollectParts(def, system) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    rgSystemForm form = rgChooseForm(def, system);
    if (velocities) {
        result = rgBuildVelocityLinks(def, system, form == rg_formDense);
    }
    if (result != rg_ok) {
        return result;
    }
    switch (form) {
    case rg_formSparse:
        result = rgBuildSparse(def, system);
        break;
    case rg_formVelocity:
        result = rgBuildVelocity(def, system);
        break;
    default:
        result = rgBuildDense(def, system);
        break;
    }
    return result == rg_ok ? rgSystem_Scale(system, def) : result;
}

void rgSystem_Load(const rgSystem* system, const double* lambda, double* own) {
    for (int i = 0; i < system->n; ++i) {
        own[i] = system->unit * lambda[system->globalRow[i]] / system->rowScale[i];
    }
}

void rgSystem_Store(const rgSystem* system, const double* own, double* lambda) {
    for (int i = 0; i < system->n; ++i) {
        lambda[system->globalRow[i]] = own[i] * system->rowScale[i] / system->unit;
    }
}

void rgSystem_Velocity(rgSystem* system, const double* lambda, double* sigma) {
    system->ops->apply(system, lambda, sigma);
    for (int i = 0; i < system->n; ++i) {
        sigma[i] += system->g[i];
    }
}

// Add column k of the diagonal block times delta to the set's own sigma.
static void rgMoveSigma(int m, const double* diagonal, int k, double delta, double* sigma) {
    for (int i = 0; i < m; ++i) {
        sigma[i] += diagonal[i * m + k] * delta;
    }
}

static double rgLargestEigenvalue2(double a, double b, double c) {
    return 0.5 * (a + c) + sqrt(0.25 * (a - c) * (a - c) + b * b);
}

// Normal first, then the tangential rows with the velocity that the normal left. docs/theory/pgs.md
// (2)-(4).
static void rgSweepContact(const rgSet* set, const double* D, double relaxation, double* lambda,
                           double* sigma) {
    int m = set->size;
    double dn = D[2 * m + 2];
    double normal = dn > 0 ? lambda[2] - relaxation * sigma[2] / dn : lambda[2];
    normal = normal > 0 ? normal : 0;
    rgMoveSigma(m, D, 2, normal - lambda[2], sigma);
    lambda[2] = normal;
    double L = rgLargestEigenvalue2(D[0], D[1], D[m + 1]);
    double step = L > 0 ? relaxation / L : 0;
    double x = lambda[0] - step * sigma[0];
    double y = lambda[1] - step * sigma[1];
    double t = sqrt(x * x + y * y);
    double reach = set->mu * normal;
    double k = t > reach ? reach / t : 1;
    rgMoveSigma(m, D, 0, k * x - lambda[0], sigma);
    rgMoveSigma(m, D, 1, k * y - lambda[1], sigma);
    lambda[0] = k * x;
    lambda[1] = k * y;
}

// The relaxed model: a projected gradient step on the whole cone.
static void rgSweepConvexContact(const rgSet* set, const double* D, double relaxation,
                                 double* lambda, double* sigma) {
    int m = set->size;
    double L = D[0] + D[m + 1] + D[2 * m + 2]; // the trace bounds the largest eigenvalue
    double step = L > 0 ? relaxation / L : 0;
    double x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = lambda[i] - step * sigma[i];
    }
    rgProjectCone(set->mu, x);
    for (int i = 0; i < 3; ++i) {
        rgMoveSigma(m, D, i, x[i] - lambda[i], sigma);
        lambda[i] = x[i];
    }
}

static void rgSweepRow(const rgSet* set, const double* D, int k, double relaxation, double* lambda,
                       double* sigma) {
    double low = -INFINITY;
    double high = INFINITY;
    if (set->kind == rg_blockHalfLine) {
        low = 0;
    } else if (set->kind == rg_blockBox) {
        low = set->lower;
        high = set->upper;
    } else if (set->kind == rg_blockCoulomb) {
        high = set->bound[k - 3] * lambda[2];
        low = -high;
    }
    double d = D[k * set->size + k];
    double x = rgClamp(d > 0 ? lambda[k] - relaxation * sigma[k] / d : lambda[k], low, high);
    rgMoveSigma(set->size, D, k, x - lambda[k], sigma);
    lambda[k] = x;
}

bool rgSweepSet(const rgSet* set, const double* diagonal, rgContactModel model, double relaxation,
                double* lambda, double* sigma, double* change) {
    double before[RG_SET_MAX];
    memcpy(before, lambda, (size_t)set->size * sizeof(double));
    int row = 0;
    if (set->kind == rg_blockCoulomb) {
        if (model == rg_modelNcp) {
            rgSweepContact(set, diagonal, relaxation, lambda, sigma);
        } else {
            rgSweepConvexContact(set, diagonal, relaxation, lambda, sigma);
        }
        row = 3;
    }
    for (; row < set->size; ++row) {
        rgSweepRow(set, diagonal, row, relaxation, lambda, sigma);
    }
    bool moved = false;
    for (int i = 0; i < set->size; ++i) {
        change[i] = lambda[i] - before[i];
        moved = moved || change[i] != 0;
    }
    return moved;
}

rgResult rgSystem_RespondByColumns(rgSystem* system, int count, const int* sets, double* X,
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
        int row = system->sets[sets[j / 3]].row + j % 3;
        unit[row] = 1;
        system->ops->solvePair(system, unit, column);
        system->ops->apply(system, column, moved);
        unit[row] = 0;
        for (int i = 0; i < 3 * count; ++i) {
            int at = system->sets[sets[i / 3]].row + i % 3;
            X[(size_t)j * (size_t)ld + (size_t)i] = column[at];
            Y[(size_t)j * (size_t)ld + (size_t)i] = moved[at];
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
