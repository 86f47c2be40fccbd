// The mass matrix by composite rigid bodies: sums of inertias (dynamics.10), compact rows
// (dynamics.11). A row holds a degree of freedom and those above it in the tree; everything else is
// zero.
#include "dynamics/dynamics.h"
#include "math/six.h"

static rgComposite rgCompositeOf(const rgLinkInertia* inertia) {
    rgVec3 c = inertia->center;
    double m = inertia->mass, mx = m * c.x, my = m * c.y, mz = m * c.z;
    const rgSym3* s = &inertia->moment;
    return (rgComposite){.mass = m,
                         .first = {mx, my, mz},
                         .moment = {.xx = s->xx + my * c.y + mz * c.z,
                                    .yy = s->yy + mx * c.x + mz * c.z,
                                    .zz = s->zz + mx * c.x + my * c.y,
                                    .xy = s->xy - mx * c.y,
                                    .xz = s->xz - mx * c.z,
                                    .yz = s->yz - my * c.z}};
}

static inline void rgComposite_Add(rgComposite* sum, const rgComposite* part) {
    sum->mass += part->mass;
    sum->first = rgAdd(sum->first, part->first);
    sum->moment.xx += part->moment.xx;
    sum->moment.yy += part->moment.yy;
    sum->moment.zz += part->moment.zz;
    sum->moment.xy += part->moment.xy;
    sum->moment.xz += part->moment.xz;
    sum->moment.yz += part->moment.yz;
}

static inline rgSpatial rgCompositeForce(const rgComposite* inertia, const rgSpatial* motion) {
    rgVec3 w = motion->angular, v = motion->linear, h = inertia->first;
    return (rgSpatial){rgAdd(rgScale(inertia->mass, v), rgCross(w, h)),
                       rgAdd(rgSym3_Multiply(&inertia->moment, w), rgCross(h, v))};
}

rgSpatial rgComposite_Force(const rgComposite* inertia, const rgSpatial* motion) {
    return rgCompositeForce(inertia, motion);
}

// dynamics.10
static void rgDynamics_SumInertias(rgDynamics* d, int first, int end) {
    const rgModel* model = d->model;
    for (int i = first; i < end; ++i) {
        d->composites[i] = rgCompositeOf(&d->inertias[i]);
    }
    for (int i = end - 1; i >= first; --i) {
        int parent = model->links[i].parent;
        if (parent > 0) {
            rgComposite_Add(&d->composites[parent], &d->composites[i]);
        }
    }
}

void rgDynamics_NeedComposites(rgDynamics* d) {
    if (d->valid & rg_haveComposites) {
        return;
    }
    rgDynamics_NeedInertias(d);
    rgDynamics_SumInertias(d, 1, d->model->linkCount);
    d->valid |= rg_haveComposites;
}

// Row of M. base: the free joint at the root of the tree, whose axes are those of the world and of
// its link; NULL: none. They are the last six columns of every row of another link.
static void rgDynamics_FillRow(rgDynamics* d, int i, int length, const rgRot* base) {
    const rgModel* model = d->model;
    const rgDof* dof = &model->dofs[i];
    const int* column = model->massColumns + dof->rowStart;
    double* row = d->mass + dof->rowStart;
    rgSpatial force = rgCompositeForce(&d->composites[dof->link], &d->axes[i]);
    if (base != NULL && length > 6) {
        double* last = row + length - 6;
        rgVec3 torque = rgRot_ApplyBack(base, force.angular);
        last[0] = torque.z, last[1] = torque.y, last[2] = torque.x;
        last[3] = force.linear.z, last[4] = force.linear.y, last[5] = force.linear.x;
        length -= 6;
    }
    rgSix six = rgSixOf(&force);
    for (int k = 0; k < length; ++k) {
        row[k] = rgSix_Dot(rgLoadSix(&d->axes[column[k]]), six);
    }
    row[0] += dof->armature;
}

static void rgDynamics_FillRows(rgDynamics* d, const rgTree* tree, bool whole) {
    bool free = d->stepCoordinates && d->model->links[tree->firstLink].kind == rg_linkFree;
    const rgRot* base = free ? &d->poses[tree->firstLink].r : NULL;
    for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
        int depth = d->model->dofs[i].depth;
        rgDynamics_FillRow(d, i, whole ? depth : 1, base);
        d->rowLength[i] = depth;
    }
}

// A body alone on a free joint, whose axes are the principal ones at its centre of mass.
static bool rgDynamics_IsDiagonal(const rgDynamics* d, const rgTree* tree) {
    const rgLink* link = &d->model->links[tree->firstLink];
    const rgVec3* c = &link->center;
    const rgSym3* I = &link->moment;
    return d->stepCoordinates && tree->linkCount == 1 && link->kind == rg_linkFree && c->x == 0 &&
           c->y == 0 && c->z == 0 && I->xy == 0 && I->xz == 0 && I->yz == 0;
}

static void rgDynamics_FillDiagonal(rgDynamics* d, const rgTree* tree) {
    const rgLink* link = &d->model->links[tree->firstLink];
    const double diagonal[6] = {link->mass,      link->mass,      link->mass,
                                link->moment.xx, link->moment.yy, link->moment.zz};
    for (int k = 0; k < 6; ++k) {
        const rgDof* dof = &d->model->dofs[tree->firstDof + k];
        double* row = d->mass + dof->rowStart;
        row[0] = diagonal[k] + dof->armature;
        for (int j = 1; j <= k; ++j) {
            row[j] = 0;
        }
        d->rowLength[tree->firstDof + k] = 1;
    }
}

// dynamics.11
void rgDynamics_NeedMass(rgDynamics* d) {
    const rgModel* model = d->model;
    unsigned both = rg_haveInertias | rg_haveComposites, made = both;
    if (d->valid & rg_haveMass) {
        return;
    }
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* tree = &model->trees[t];
        int first = tree->firstLink, end = first + tree->linkCount;
        if (rgDynamics_IsDiagonal(d, tree)) {
            rgDynamics_FillDiagonal(d, tree);
            made = 0;
            continue;
        }
        if (!(d->valid & rg_haveInertias)) {
            rgDynamics_FillInertias(d, first, end);
        }
        if (!(d->valid & rg_haveComposites)) {
            rgDynamics_SumInertias(d, first, end);
        }
        rgDynamics_FillRows(d, tree, !d->isDeep[t]);
    }
    d->valid |= rg_haveMass | made;
}

void rgDynamics_NeedRows(rgDynamics* d) {
    rgDynamics_NeedMass(d);
    for (int t = 0; t < d->model->treeCount && !(d->valid & rg_haveRows); ++t) {
        if (d->isDeep[t]) {
            rgDynamics_FillRows(d, &d->model->trees[t], true);
        }
    }
    d->valid |= rg_haveRows;
}

void rgDynamics_FillTreeMass(rgDynamics* d, int tree) {
    const rgTree* range = &d->model->trees[tree];
    rgDynamics_SumInertias(d, range->firstLink, range->firstLink + range->linkCount);
    rgDynamics_FillRows(d, range, !d->isDeep[tree]);
    d->valid &= ~(unsigned)rg_haveRows;
}

void rgDynamics_TreeMultiply(rgDynamics* d, int tree, const double* x, double* y) {
    const rgModel* model = d->model;
    rgDynamics_NeedRows(d);
    const rgTree* range = &model->trees[tree];
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        const rgDof* dof = &model->dofs[i];
        const int* column = model->massColumns + dof->rowStart;
        const double* row = d->mass + dof->rowStart;
        y[i] = row[0] * x[i];
        for (int k = 1; k < dof->depth; ++k) {
            y[i] += row[k] * x[column[k]];
            y[column[k]] += row[k] * x[i];
        }
    }
}

const double* rgDynamics_CompactMassMatrix(rgDynamics* d, int* count) {
    if (d == NULL) {
        return rgNothing(count);
    }
    rgDynamics_NeedRows(d);
    if (count != NULL) {
        *count = d->model->massCount;
    }
    return d->mass;
}

rgSparse rgDynamics_SparseMassMatrix(rgDynamics* d, const double* added) {
    if (d == NULL) {
        return (rgSparse){0};
    }
    const rgModel* model = d->model;
    int count = 2 * model->massCount - model->vCount;
    rgDynamics_NeedRows(d);
    for (int i = 0; i < count; ++i) {
        d->sparseMass[i] = d->mass[model->sparseFrom[i]];
    }
    for (int i = 0; added != NULL && i < model->vCount; ++i) {
        d->sparseMass[model->sparseStart[i] + model->dofs[i].depth - 1] += added[i];
    }
    return (rgSparse){.rowCount = model->vCount,
                      .columnCount = model->vCount,
                      .rowStart = model->sparseStart,
                      .column = model->sparseColumns,
                      .value = d->sparseMass};
}

void rgDynamics_MassMatrix(rgDynamics* d, double* mass) {
    if (d == NULL || mass == NULL) {
        return;
    }
    const rgModel* model = d->model;
    size_t n = (size_t)model->vCount;
    rgDynamics_NeedRows(d);
    for (size_t i = 0; i < n * n; ++i) {
        mass[i] = 0;
    }
    for (size_t i = 0; i < n; ++i) {
        const rgDof* dof = &model->dofs[i];
        for (int k = 0; k < dof->depth; ++k) {
            size_t j = (size_t)model->massColumns[dof->rowStart + k];
            mass[i * n + j] = d->mass[dof->rowStart + k];
            mass[j * n + i] = d->mass[dof->rowStart + k];
        }
    }
}
