// Derivatives of the free motion: M^ (v+ - base) = force + J' dlambda, by Q, V, controls, forces
// and parameters. docs/theory/step_derivatives.md.
#include "dynamics/derivative.h"
#include "world/linearize.h"

#include <string.h>

static double* rgEntry(double* matrix, int width, int row, int column) {
    return matrix + (size_t)row * (size_t)width + (size_t)column;
}

void rgFlow_Fill(const rgModel* model, const rgDynamics* d, const double* v, rgFlow* flow) {
    flow->v = v;
    flow->links[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = flow->links[link->parent],
                  carrier = rgDynamics_ParentMotion(d, link, sum, v);
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            flow->carried[k] = rgMotionCross(&carrier, &d->axes[k]);
            sum = rgSpatialAddScaled(sum, v[k], d->axes[k]);
        }
        flow->links[i] = sum;
    }
    for (int i = model->linkCount; i < rgModel_AllLinks(model); ++i) {
        flow->links[i] = d->velocities[i];
    }
}

void rgLinearize_Laws(rgWorld* world, rgLinearization* l) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        l->laws[t] = world->sleep.asleep[t] != 0       ? rg_treeAsleep
                     : world->kinematics.isFreeBody[t] ? rg_treeFree
                     : world->fast.isFast[t]           ? rg_treeFast
                     : rgTreeIsRefined(&world->kinematics, &world->constraints, &world->sleep, t)
                         ? rg_treeRefined
                     : world->kinematics.driftTime[t] > 0 ? rg_treeMiddle
                                                          : rg_treeStart;
    }
}

// ---- accelerations and loads of one pass of inverse dynamics

// Velocity from which a tree's free motion starts: V, or the projected one of a fast tree.
double rgLinearize_BaseVelocity(const rgWorld* world, const rgLinearization* l, int dof) {
    rgTreeLaw law = l->laws[world->constraints.treeOfDof[dof]];
    return law == rg_treeFast   ? world->fast.projectedV[dof]
           : law == rg_treeFree ? world->free.v[dof]
                                : world->kinematics.v[dof];
}

void rgLinearize_Accelerations(const rgWorld* world, const rgLinearization* l, double* a) {
    const rgModel* model = world->model;
    double dt = world->settings.dt;
    for (int i = 0; i < model->vCount; ++i) {
        a[i] = (world->next.v[i] - rgLinearize_BaseVelocity(world, l, i)) / dt;
    }
    for (int t = 0; t < model->treeCount; ++t) {
        int first = model->trees[t].firstDof;
        if (l->laws[t] == rg_treeFree) { // the step has its weight
            a[first] += world->settings.gravity.x;
            a[first + 1] += world->settings.gravity.y;
            a[first + 2] += world->settings.gravity.z;
        }
    }
}

// Trees whose bias is no part of the law are at rest in it.
static void rgSetVelocities(rgWorld* world, const rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->kinematics.dynamics;
    memset(l->work, 0, (size_t)model->vCount * sizeof(double));
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* range = &model->trees[t];
        if (l->laws[t] == rg_treeFree || l->laws[t] == rg_treeFast) {
            rgDynamics_SetTreeVelocity(d, t, l->work);
        } else if (l->laws[t] == rg_treeRefined) {
            for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
                world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + world->next.v[i]);
            }
            rgDynamics_SetTreeVelocity(d, t, world->kinematics.midV);
        } else if (l->laws[t] == rg_treeMiddle) { // after an impact midV is that of readers
            for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
                l->bars[0][i] = world->kinematics.v[i] + world->kinematics.predictor[i];
            }
            rgDynamics_SetTreeVelocity(d, t, l->bars[0]);
        }
    }
}

// A wrench that keeps its direction, at a point that rides on a link, arm from the tree's
// reference.
static void rgLoadLink(rgDynamics* d, int link, rgVec3 force, rgVec3 torque, rgVec3 arm) {
    if (link <= 0 || rgModel_IsKinematic(d->model, link)) {
        return;
    }
    rgSpatial wrench = {force, torque};
    rgSpatial total = {force, rgAdd(torque, rgCross(arm, force))};
    rgTurning_AddWrench(&d->slopes->loads[link], &wrench, arm);
    for (int i = link; i > 0; i = d->model->links[i].parent) {
        d->forces[i] = rgSpatialAddScaled(d->forces[i], -1, total);
    }
}

static void rgLoadContact(rgWorld* world, const rgContactPoint* point) {
    rgDynamics* d = world->kinematics.dynamics;
    const double* lambda = world->constraints.rows.lambda + point->firstRow;
    const rgVec3 axes[3] = {point->tangent1, point->tangent2, point->normal};
    rgVec3 force = rgVec(0, 0, 0), torque = rgVec(0, 0, 0);
    double rate = 1 / world->settings.dt;
    for (int k = 0; k < point->rowCount; ++k) {
        rgVec3* sum = k < 3 ? &force : &torque;
        *sum = rgAddScaled(*sum, rate * lambda[k], axes[k < 3 ? k : (k + 2) % 3]);
    }
    int a = world->contacts.colliders[point->colliderA].link;
    int b = world->contacts.colliders[point->colliderB].link;
    rgLoadLink(d, b, force, torque, rgSub(point->position, rgDynamics_LinkOrigin(d, b)));
    rgLoadLink(d, a, rgNegate(force), rgNegate(torque),
               rgSub(point->position, rgDynamics_LinkOrigin(d, a)));
}

// Impulses of a loop, whose rows are along the axes of the world, at the points that it joins.
static void rgLoadLoop(rgWorld* world, int row) {
    rgDynamics* d = world->kinematics.dynamics;
    const rgRowSource* source = &world->constraints.rows.sources[row];
    const rgPlace* places = &world->constraints.loopPlaces[2 * source->index];
    double x[3] = {0}, rate = world->constraints.rows.lambda[row] / world->settings.dt;
    x[source->row % 3] = rate;
    rgVec3 push = rgVec(x[0], x[1], x[2]), none = rgVec(0, 0, 0);
    for (int side = 0; side < 2; ++side) {
        rgVec3 own = side == 0 ? rgNegate(push) : push;
        int link = places[side].link;
        rgVec3 arm = link > 0 ? rgDynamics_PlacePoint(d, &places[side]) : none;
        rgLoadLink(d, link, source->row < 3 ? own : none, source->row < 3 ? none : own, arm);
    }
}

// Forces of rows whose axes are not those of joints.
static void rgLoadRows(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgLoadContact(world, &world->contacts.points[i]);
    }
    for (int r = 0; r < rows->rowCount; ++r) {
        const rgRowSource* source = &rows->sources[r];
        if (source->kind == rg_constraintEquality &&
            rgEqualityIsLoop(&world->model->equalities[source->index])) {
            rgLoadLoop(world, r);
        }
    }
}

// Wrenches of users and of what takes weight off bodies; free bodies have theirs in their own law.
static void rgLoadWrenches(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->kinematics.dynamics;
    for (int b = 0; world->free.hasWrench && b < model->info.bodyCount; ++b) {
        const double* w = world->free.wrench + 6 * b;
        const rgPlace* place = &model->bodyPlaces[b];
        int tree = model->links[place->link].tree;
        if (tree >= 0 && l->laws[tree] != rg_treeFree) {
            rgVec3 center = rgPose_Point(place->pose, model->bodies[b].inertia.center);
            const rgLinkPose* pose = &d->poses[place->link];
            rgLoadLink(d, place->link, rgVec(w[0], w[1], w[2]), rgVec(w[3], w[4], w[5]),
                       rgAdd(pose->p, rgRot_Apply(&pose->r, center)));
        }
    }
    if (world->free.hasFluid) {
        rgLinearization_Freeze(l, "forces of the fluid");
    }
    if (world->free.hasAdhesion) {
        rgLinearization_Freeze(l, "adhesion");
    }
}

// step_derivatives.6 Inverse dynamics by Q and the velocity that the bias has.
static void rgStoreSlopes(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    const rgDynamics* d = world->kinematics.dynamics;
    double dt = world->settings.dt;
    int n = l->n, w = l->width;
    for (int i = 0; i < n; ++i) {
        const rgDof* dof = &model->dofs[i];
        rgTreeLaw law = l->laws[world->constraints.treeOfDof[i]];
        if (law == rg_treeAsleep) {
            continue;
        }
        rgSlopeRow row = rgDynamics_SlopeRow(d, i);
        bool biased = law != rg_treeFree && law != rg_treeFast;
        for (int k = 0; k < dof->depth; ++k) {
            int j = model->massColumns[dof->rowStart + k];
            *rgEntry(l->force, w, i, j) -= dt * row.qRow[k];
            *rgEntry(l->force, w, i, n + j) -= biased ? dt * row.vRow[k] : 0;
            if (law == rg_treeMiddle && l->trendFirst >= 0) {
                *rgEntry(l->force, w, i, l->trendFirst + j) -= dt * row.vRow[k];
            }
            if (law == rg_treeRefined) {
                *rgEntry(l->tree, n, i, j) += 0.5 * dt * row.vRow[k];
            }
            if (k > 0) {
                *rgEntry(l->force, w, j, i) -= dt * row.qColumn[k];
                *rgEntry(l->force, w, j, n + i) -= biased ? dt * row.vColumn[k] : 0;
                if (law == rg_treeMiddle && l->trendFirst >= 0) {
                    *rgEntry(l->force, w, j, l->trendFirst + i) -= dt * row.vColumn[k];
                }
                if (law == rg_treeRefined) {
                    *rgEntry(l->tree, n, j, i) += 0.5 * dt * row.vColumn[k];
                }
            }
        }
    }
}

// The change that is foreseen is kept in axes of the parent: t' = t x angle.
static void rgTurnPredictor(const rgWorld* world, rgLinearization* l, const rgLink* link) {
    int first = link->v + link->vCount - 3, n = l->n;
    const double* t = world->kinematics.predictor + first;
    const rgTree* tree = &world->model->trees[link->tree];
    for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
        double* row = rgEntry(l->force, l->width, i, 0);
        const double* byV = row + n + first;
        rgVec3 change = rgCross(rgVec(byV[0], byV[1], byV[2]), rgVec(t[0], t[1], t[2]));
        row[first] += change.x, row[first + 1] += change.y, row[first + 2] += change.z;
    }
}

// ---- diagonal of M

// step_derivatives.7 dM_ii/dq_j = 2 (S_i x S_j) . I_j S_i of degrees of freedom j below i.
static void rgFillDiagonal(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->kinematics.dynamics;
    size_t count = (size_t)l->n * (size_t)l->n;
    memset(l->diagonal, 0, count * sizeof(double));
    rgDynamics_NeedComposites(d);
    for (int j = 0; j < l->n && l->needsDiagonal; ++j) {
        const rgDof* dof = &model->dofs[j];
        for (int i = dof->parent; i >= 0; i = model->dofs[i].parent) {
            if (model->dofs[i].link == dof->link) {
                continue;
            }
            rgSpatial turned = rgMotionCross(&d->axes[i], &d->axes[j]);
            rgSpatial push = rgComposite_Force(&d->composites[dof->link], &d->axes[i]);
            *rgEntry(l->diagonal, l->n, i, j) = 2 * rgSpatialDot(&turned, &push);
        }
    }
}

// row by Q += s dM_ii/dQ
static void rgAddDiagonal(const rgLinearization* l, int dof, double s, double* row) {
    const double* slopes = l->diagonal + (size_t)dof * (size_t)l->n;
    for (int j = 0; j < l->n && s != 0; ++j) {
        row[j] += s * slopes[j];
    }
}

// ---- springs, dampers and gains

// step_derivatives.8 k and d on a degree of freedom at a stretch: force on it, and what is
// implicit.
typedef struct rgDofSpring {
    int dof;
    double stiffness, damping, stretch;
    const double* slope; // of the stretch, by those of its joint from first on
    int first, count;
} rgDofSpring;

// v+ - V as the implicit part of the step has it.
double rgLinearize_ImplicitChange(const rgWorld* world, const rgLinearization* l, int dof) {
    if (l->laws[world->constraints.treeOfDof[dof]] == rg_treeFast) {
        return world->next.v[dof] + world->fast.projectedV[dof] - 2 * world->kinematics.v[dof];
    }
    return world->next.v[dof] - world->kinematics.v[dof];
}

rgDofLaw rgLinearize_DofLaw(const rgWorld* world, int dof) {
    double dt = world->settings.dt, factor = dt * rgKinematics_DofMobility(&world->kinematics, dof);
    double lead = world->kinematics.driftTime[world->constraints.treeOfDof[dof]];
    rgDofLaw law = {.k = factor * dt * world->free.dofStiffness[dof],
                    .d = factor * world->free.dofDamping[dof]};
    law.weights = rgJointWeights(lead, law.k, law.d);
    rgJointWeightSlopes(lead, law.k, law.d, &law.byK, &law.byD);
    return law;
}

// Impulse of a spring and damper of a degree of freedom by the weights of free.1.
static double rgImpulseByWeights(const rgWorld* world, const rgDofSpring* s, double change,
                                 rgWeights by) {
    double dt = world->settings.dt, v = world->kinematics.v[s->dof];
    return -dt * (s->stiffness * dt * (by.along * v + by.ahead * change) +
                  s->damping * by.share * change);
}

static void rgAddDofSpring(const rgWorld* world, rgLinearization* l, const rgDofSpring* s) {
    double dt = world->settings.dt, k = s->stiffness, d = s->damping;
    double change = rgLinearize_ImplicitChange(world, l, s->dof);
    rgDofLaw law = rgLinearize_DofLaw(world, s->dof);
    double* row = rgEntry(l->force, l->width, s->dof, 0);
    for (int i = 0; i < s->count; ++i) {
        row[s->first + i] -= dt * k * s->slope[i];
    }
    row[l->n + s->dof] -= dt * (k * law.weights.along * dt + d);
    // Of a fast tree 2 added (V - v_Q) stands beside, whose v_Q is not that of the base.
    double byK = rgImpulseByWeights(world, s, change, law.byK);
    double byD = rgImpulseByWeights(world, s, change, law.byD);
    double mass = world->kinematics.dynamics->mass[world->model->dofs[s->dof].rowStart];
    double slope = -(law.k * byK + law.d * byD) / mass;
    l->share[s->dof] += slope;
    l->stiffnessShare[s->dof] += byK;
    l->dampingShare[s->dof] += byD;
    rgAddDiagonal(l, s->dof, slope, row);
}

static void rgAddJointSpring(const rgWorld* world, rgLinearization* l, int joint) {
    const rgJointDef* def = &world->model->joints[joint];
    const rgJointRange* range = &world->model->jointRanges[joint];
    const double* q = world->kinematics.q + range->q;
    if (def->kind == rg_jointSpherical) {
        rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
        rgMat3 J = rgRotationJacobianInverse(r);
        for (int i = 0; i < 3; ++i) {
            rgDofSpring s = {range->v + i, def->stiffness, 0, rgVec3_At(r, i),
                             &J.m[3 * i],  range->v,       3};
            rgAddDofSpring(world, l, &s);
        }
    } else if (range->vCount == 1) {
        double one = 1;
        rgDofSpring s = {range->v, def->stiffness, 0, q[0] - def->springReference,
                         &one,     range->v,       1};
        rgAddDofSpring(world, l, &s);
    }
}

static void rgAddDofSprings(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        if (model->joints[j].stiffness > 0) {
            rgAddJointSpring(world, l, j);
        }
    }
    for (int i = 0; i < l->n; ++i) {
        if (model->dofs[i].damping > 0) {
            rgDofSpring s = {.dof = i, .damping = model->dofs[i].damping};
            rgAddDofSpring(world, l, &s);
        }
    }
}

// ---- actuators and forces

// True if what motors and users ask of a degree of freedom is cut to its joint's effort.
static bool rgIsClamped(const rgWorld* world, int dof, double asked) {
    double limit = world->model->joints[world->model->dofs[dof].joint].effortLimit;
    return limit > 0 && fabs(asked) >= limit;
}

static bool rgControlIsClamped(const rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    double c = rgState_Control(&world->state, actuator);
    return def->hasControlRange && !(c >= def->controlLower && c <= def->controlUpper);
}

double rgActuatorGain(const rgWorld* world, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    bool constant = !world->transmission.actuators[actuator].varies;
    return constant && !rgControlIsClamped(world, actuator)
               ? def->gain *
                     rgActuatorInputSlope(&world->state, world->model, &world->settings, actuator)
               : 0;
}

// Derivative of an actuator's command by its control.
double rgLinearize_ControlGain(const rgWorld* world, rgLinearization* l, int actuator) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    if (rgControlIsClamped(world, actuator)) {
        return 0;
    }
    double c = rgState_Control(&world->state, actuator);
    l->betweenModes += def->hasControlRange && (c == def->controlLower || c == def->controlUpper);
    if (world->transmission.actuators[actuator].varies) {
        rgLinearization_Freeze(l, "gains that vary");
    } else if (def->activation == rg_activationMuscle) {
        rgLinearization_Freeze(l, "activations of muscles");
    } else if (def->activation != rg_activationNone && l->trendFirst >= 0) {
        rgLinearization_Freeze(l, "activations from step to step");
    }
    if (def->delay > 0) {
        rgLinearization_Freeze(l, "controls that act later");
        return 0;
    }
    return rgActuatorGain(world, actuator);
}

static void rgAddGain(const rgWorld* world, rgLinearization* l, int actuator, double* asked) {
    const rgActuatorDef* def = &world->model->actuators[actuator];
    const rgActuator* drive = &world->transmission.actuators[actuator];
    const rgJointRange* range = &world->model->jointRanges[def->joint.index1 - 1];
    double gear = def->gear[0], one = 1;
    rgDofSpring s = {range->v,
                     gear * gear * drive->stiffness,
                     gear * gear * drive->damping,
                     world->kinematics.q[range->q],
                     &one,
                     range->v,
                     1};
    if (!rgIsClamped(world, range->v, asked[range->v])) {
        rgAddDofSpring(world, l, &s);
    } else {
        rgLinearization_Freeze(l, "gains of a joint at its effort limit");
    }
}

static void rgAddDrives(rgWorld* world, rgLinearization* l, double* asked) {
    const rgModel* model = world->model;
    double dt = world->settings.dt;
    for (int i = 0; i < l->n; ++i) {
        asked[i] = world->state.force[i];
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int a = 0; a < model->info.actuatorCount; ++a) {
            const rgActuator* drive = &world->transmission.actuators[a];
            if (drive->mode == rg_actuatorRow) {
                continue;
            }
            double force = world->transmission.actuatorForce[a], gain = 0;
            bool inside = drive->mode != rg_actuatorForce ||
                          (drive->command > drive->lower && drive->command < drive->upper);
            if (pass == 1) {
                gain = inside && l->controlFirst >= 0 ? rgLinearize_ControlGain(world, l, a) : 0;
                if (drive->varies) {
                    rgLinearization_Freeze(l, "gains that vary");
                }
            }
            int count =
                rgActuatorEntries(&world->transmission, &world->constraints, world->model, a);
            for (int k = 0; k < count; ++k) {
                int i = world->constraints.entryColumns[k];
                double value = world->constraints.entryValues[k];
                if (pass == 0) {
                    asked[i] += value * force;
                } else if (gain != 0 && !rgIsClamped(world, i, asked[i])) {
                    *rgEntry(l->force, l->width, i, l->controlFirst + a) += dt * value * gain;
                }
            }
            if (pass == 1 && drive->mode == rg_actuatorJoint) {
                rgAddGain(world, l, a, asked);
            }
        }
    }
}

// Forces of users turn with free joints.
static void rgAddForces(rgWorld* world, rgLinearization* l, const double* asked) {
    const rgModel* model = world->model;
    double dt = world->settings.dt;
    for (int i = 0; i < l->n && l->forceFirst >= 0; ++i) {
        const rgLink* link = &model->links[model->dofs[i].link];
        bool turns = link->kind == rg_linkFree && i < link->v + 3;
        if (!turns && !rgIsClamped(world, i, asked[i])) {
            *rgEntry(l->force, l->width, i, l->forceFirst + i) += dt;
        }
    }
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        if (link->kind != rg_linkFree) {
            continue;
        }
        const rgRot* r = &world->kinematics.dynamics->poses[model->trees[t].firstLink].r;
        const double* f = world->state.force + link->v;
        rgVec3 force = rgVec(f[0], f[1], f[2]);
        for (int k = 0; k < 3; ++k) {
            rgVec3 e = rgVec(k == 0, k == 1, k == 2);
            rgVec3 axis = rgRot_Apply(r, e), turned = rgRot_Apply(r, rgCross(e, force));
            for (int i = 0; i < 3; ++i) {
                double* row = rgEntry(l->force, l->width, link->v + i, 0);
                if (l->forceFirst >= 0) {
                    row[l->forceFirst + link->v + k] += dt * rgVec3_At(axis, i);
                }
                row[link->v + 3 + k] += dt * rgVec3_At(turned, i);
            }
        }
    }
}

// ---- free bodies

// d (exp(s x) I x) = exp(s x) (I - [I x] s Jr(s x)) dx
static rgMat3 rgTurnedMomentum(const rgSym3* I, rgVec3 rate, double s) {
    rgVec3 r = rgScale(s, rate);
    rgMat3 turn = rgMat3FromQuat(rgQuatFromRotationVector(r)), J = rgRotationJacobian(r);
    rgMat3 spin = rgSkew(rgSym3_Multiply(I, rate)), product = rgMat3_Product(&spin, &J);
    rgMat3 sum = {{I->xx, I->xy, I->xz, I->xy, I->yy, I->yz, I->xz, I->yz, I->zz}};
    rgMat3_AddScaled(&sum, -s, &product);
    return rgMat3_Product(&turn, &sum);
}

static rgMat3 rgInverse3(const rgMat3* a) {
    const double* m = a->m;
    rgVec3 x = rgVec(m[0], m[1], m[2]), y = rgVec(m[3], m[4], m[5]), z = rgVec(m[6], m[7], m[8]);
    rgVec3 yz = rgCross(y, z), zx = rgCross(z, x), xy = rgCross(x, y);
    double inverse = 1 / rgDot(x, yz);
    return (rgMat3){{inverse * yz.x, inverse * zx.x, inverse * xy.x, inverse * yz.y, inverse * zx.y,
                     inverse * xy.y, inverse * yz.z, inverse * zx.z, inverse * xy.z}};
}

// step_derivatives.9 The rate after the free motion by the rate before, by an impulse about the
// centre, and by the angle, as far as what is foreseen turns.
typedef struct rgSpinChange {
    rgMat3 byRate, byImpulse, byAngle, byTrend;
} rgSpinChange;

static rgSpinChange rgMidpointSpin(const rgWorld* world, const rgLink* link, rgVec3 before,
                                   rgVec3 after) {
    double half = 0.5 * world->settings.dt;
    const rgSym3* I = &link->moment;
    rgMat3 left = rgTurnedMomentum(I, after, half), right = rgTurnedMomentum(I, before, -half);
    rgSpinChange out = {.byImpulse = rgInverse3(&left)};
    out.byRate = rgMat3_Product(&out.byImpulse, &right);
    return out;
}

rgMat3 rgLinearize_SpinInverse(const rgWorld* world, const rgLink* link, rgVec3 after) {
    rgMat3 left = rgTurnedMomentum(&link->moment, after, 0.5 * world->settings.dt);
    return rgInverse3(&left);
}

// The gyroscopic impulse of the rate w + 2 t that is foreseen.
static rgSpinChange rgPredictedSpin(const rgWorld* world, const rgLink* link, rgVec3 before) {
    double half = 0.5 * world->settings.dt;
    const rgSym3* I = &link->moment;
    const double* p = world->kinematics.predictor + link->v + 3;
    rgVec3 t = rgVec(p[0], p[1], p[2]), next = rgAddScaled(before, 2, t);
    rgMat3 moment = {{I->xx, I->xy, I->xz, I->xy, I->yy, I->yz, I->xz, I->yz, I->zz}};
    rgMat3 after = rgTurnedMomentum(I, next, half), start = rgTurnedMomentum(I, before, -half);
    rgMat3_AddScaled(&after, -1, &moment);
    rgMat3_AddScaled(&start, -1, &moment);
    rgSpinChange out = {.byImpulse = rgInverse3(&moment)};
    rgMat3 spin = rgSkew(rgScale(2, t)), turned = rgMat3_Product(&after, &spin);
    turned = rgMat3_Product(&out.byImpulse, &turned);
    out.byAngle = rgMat3_Scaled(-1, &turned);
    out.byTrend = rgMat3_Product(&out.byImpulse, &after);
    out.byTrend = rgMat3_Scaled(-2, &out.byTrend);
    rgMat3 sum = start;
    rgMat3_AddScaled(&sum, -1, &after);
    out.byRate = rgMat3_Product(&out.byImpulse, &sum);
    rgMat3 one = rgMat3_Identity();
    rgMat3_AddScaled(&out.byRate, 1, &one);
    return out;
}

// One Newton step from V: w+ = w - C^-1 r, C = I + dt/2 D, r = dt (w x I w - T).
static rgSpinChange rgStartSpin(const rgWorld* world, const rgLink* link, rgVec3 before,
                                rgVec3 after) {
    double dt = world->settings.dt;
    const rgSym3* I = &link->moment;
    rgVec3 step = rgSub(before, after); // C^-1 r
    rgMat3 moment = {{I->xx, I->xy, I->xz, I->xy, I->yy, I->yz, I->xz, I->yz, I->zz}};
    rgMat3 w = rgSkew(before), Iw = rgSkew(rgSym3_Multiply(I, before));
    rgMat3 D = rgMat3_Product(&w, &moment);
    rgMat3_AddScaled(&D, -1, &Iw);
    rgMat3 C = moment;
    rgMat3_AddScaled(&C, 0.5 * dt, &D);
    rgSpinChange out = {.byImpulse = rgInverse3(&C)};
    // dr - dC step
    rgMat3 s = rgSkew(step), Is = rgSkew(rgSym3_Multiply(I, step));
    rgMat3 bent = rgMat3_Product(&s, &moment);
    rgMat3_AddScaled(&bent, -1, &Is); // of dw, as D has it: (dD) s = D_s dw
    rgMat3 change = rgMat3_Scaled(dt, &D);
    rgMat3_AddScaled(&change, -0.5 * dt, &bent);
    rgMat3 turned = rgMat3_Product(&out.byImpulse, &change);
    out.byRate = rgMat3_Identity();
    rgMat3_AddScaled(&out.byRate, -1, &turned);
    return out;
}

static rgSpinChange rgSpinOf(const rgWorld* world, const rgLink* link, rgVec3 before,
                             rgVec3 after) {
    const double* t = world->kinematics.predictor + link->v + 3;
    bool held = world->free.isLooped[link->tree] || world->contacts.treeRolls[link->tree] ||
                world->contacts.treeSprings[link->tree];
    if (world->kinematics.driftTime[link->tree] == 0) {
        return rgStartSpin(world, link, before, after);
    }
    return held && (t[0] != 0 || t[1] != 0 || t[2] != 0)
               ? rgPredictedSpin(world, link, before)
               : rgMidpointSpin(world, link, before, after);
}

// step_derivatives.9 rows of v_free of a free body: forces and their changes are in l->force so
// far.
static void rgAddFreeBody(const rgWorld* world, rgLinearization* l, int index) {
    const rgLink* link = &world->model->links[index];
    int v = link->v;
    const double *V = world->kinematics.v + v, *end = world->free.v + v, *tau = world->free.tau + v;
    const rgRot* r = &world->kinematics.dynamics->poses[index].r;
    rgVec3 before = rgVec(V[3], V[4], V[5]), after = rgVec(end[3], end[4], end[5]);
    rgVec3 c = link->center, force = rgRot_ApplyBack(r, rgVec(tau[0], tau[1], tau[2]));
    rgSpinChange spin = rgSpinOf(world, link, before, after);
    double dt = world->settings.dt;
    for (int j = 0; j < l->width; ++j) {
        double column[6];
        for (int i = 0; i < 6; ++i) { // dt times changes of tau
            double* entry = rgEntry(l->force, l->width, v + i, j);
            column[i] = *entry;
            *entry = 0;
        }
        rgVec3 dforce = rgVec(column[0], column[1], column[2]);
        rgVec3 dtorque = rgVec(column[3], column[4], column[5]);
        rgVec3 angle = rgVec(j == v + 3, j == v + 4, j == v + 5);
        int k = j - l->n - v;
        rgVec3 linear = rgVec(k == 0, k == 1, k == 2), rate = rgVec(k == 3, k == 4, k == 5);
        // T = tau - c x R' F, in axes of the body
        rgVec3 turned = rgScale(-dt, rgCross(angle, force));
        rgVec3 impulse = rgSub(dtorque, rgCross(c, rgAdd(rgRot_ApplyBack(r, dforce), turned)));
        rgVec3 next = rgMat3_Multiply(&spin.byImpulse, impulse);
        next = rgAdd(next, rgMat3_Multiply(&spin.byRate, rate));
        next = rgAdd(next, rgMat3_Multiply(&spin.byAngle, angle));
        if (l->trendFirst >= 0) {
            int t = j - l->trendFirst - v;
            next = rgAdd(next, rgMat3_Multiply(&spin.byTrend, rgVec(t == 3, t == 4, t == 5)));
        }
        rgVec3 swing = rgCross(rgSub(rate, next), c);
        swing = rgAdd(swing, rgCross(angle, rgCross(rgSub(before, after), c)));
        rgVec3 moved = rgAdd(rgAddScaled(linear, 1 / link->mass, dforce), rgRot_Apply(r, swing));
        for (int i = 0; i < 3; ++i) {
            *rgEntry(l->base, l->width, v + i, j) = rgVec3_At(moved, i);
            *rgEntry(l->base, l->width, v + 3 + i, j) = rgVec3_At(next, i);
        }
    }
}

// Forces of a free body by the angle: those of users turn, wrenches in world axes do about its
// origin, as J' of a body turns.
static void rgAddBodyWrenches(const rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    for (int b = 0; world->free.hasWrench && b < model->info.bodyCount; ++b) {
        const rgPlace* place = &model->bodyPlaces[b];
        const rgLink* link = &model->links[place->link];
        if (place->link == 0 || rgModel_IsKinematic(model, place->link) ||
            l->laws[link->tree] != rg_treeFree) {
            continue;
        }
        // Torques about the origin in axes of the body: c x R' F + R' T
        const double* w = world->free.wrench + 6 * b;
        const rgRot* r = &world->kinematics.dynamics->poses[place->link].r;
        rgVec3 c = rgPose_Point(place->pose, model->bodies[b].inertia.center);
        rgVec3 F = rgRot_ApplyBack(r, rgVec(w[0], w[1], w[2]));
        rgVec3 T = rgRot_ApplyBack(r, rgVec(w[3], w[4], w[5]));
        for (int k = 0; k < 3; ++k) {
            rgVec3 e = rgVec(k == 0, k == 1, k == 2);
            rgVec3 change = rgAdd(rgCross(c, rgCross(F, e)), rgCross(T, e));
            for (int i = 0; i < 3; ++i) {
                *rgEntry(l->force, l->width, link->v + 3 + i, link->v + 3 + k) +=
                    world->settings.dt * rgVec3_At(change, i);
            }
        }
    }
}

static void rgFillBase(const rgWorld* world, rgLinearization* l) {
    memset(l->base, 0, (size_t)l->n * (size_t)l->width * sizeof(double));
    for (int i = 0; i < l->n; ++i) {
        *rgEntry(l->base, l->width, i, l->n + i) = 1;
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* tree = &world->model->trees[t];
        if (l->laws[t] == rg_treeFree) {
            rgAddFreeBody(world, l, tree->firstLink);
        }
    }
}

// ---- implicit matrices of refined trees

static void rgCompleteTree(const rgWorld* world, rgLinearization* l, const rgTree* tree) {
    const rgModel* model = world->model;
    const double* mass = rgDynamics_CompactMassMatrix(world->kinematics.dynamics, NULL);
    for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
        const rgDof* dof = &model->dofs[i];
        for (int k = 0; k < dof->depth; ++k) {
            int j = model->massColumns[dof->rowStart + k];
            double value = mass[dof->rowStart + k] + (k == 0 ? world->free.added[i] : 0);
            *rgEntry(l->tree, l->n, i, j) += value;
            if (k > 0) {
                *rgEntry(l->tree, l->n, j, i) += value;
            }
        }
    }
}

// LU with partial pivoting of a block on the diagonal. False: singular.
static bool rgFactorizeBlock(int n, int first, int count, double* a, int* pivots) {
    for (int k = first; k < first + count; ++k) {
        int best = k;
        for (int i = k + 1; i < first + count; ++i) {
            best = fabs(*rgEntry(a, n, i, k)) > fabs(*rgEntry(a, n, best, k)) ? i : best;
        }
        pivots[k] = best;
        for (int j = first; j < first + count && best != k; ++j) {
            double swap = *rgEntry(a, n, k, j);
            *rgEntry(a, n, k, j) = *rgEntry(a, n, best, j);
            *rgEntry(a, n, best, j) = swap;
        }
        double pivot = *rgEntry(a, n, k, k);
        if (!(fabs(pivot) > 0)) {
            return false;
        }
        for (int i = k + 1; i < first + count; ++i) {
            double factor = *rgEntry(a, n, i, k) /= pivot;
            for (int j = k + 1; j < first + count && factor != 0; ++j) {
                *rgEntry(a, n, i, j) -= factor * *rgEntry(a, n, k, j);
            }
        }
    }
    return true;
}

static void rgSwapRows(int width, double* x, int a, int b) {
    for (int j = 0; j < width && a != b; ++j) {
        double swap = *rgEntry(x, width, a, j);
        *rgEntry(x, width, a, j) = *rgEntry(x, width, b, j);
        *rgEntry(x, width, b, j) = swap;
    }
}

static void rgSubtractRow(int width, double factor, const double* from, double* to) {
    for (int j = 0; j < width && factor != 0; ++j) {
        to[j] -= factor * from[j];
    }
}

static void rgScaleRow(int width, double factor, double* row) {
    for (int j = 0; j < width; ++j) {
        row[j] *= factor;
    }
}

// x := S^-1 x or S^-T x of the block's rows, n x width.
static void rgSolveBlock(const rgLinearization* l, const rgTree* tree, int width, bool transposed,
                         double* x) {
    int first = tree->firstDof, end = first + tree->dofCount, n = l->n;
    const double* a = l->tree;
    for (int k = first; k < end && !transposed; ++k) {
        rgSwapRows(width, x, k, l->pivots[k]);
    }
    for (int k = first; k < end; ++k) { // L, or U'
        if (transposed) {
            rgScaleRow(width, 1 / a[(size_t)k * (size_t)(n + 1)], rgEntry(x, width, k, 0));
        }
        for (int i = k + 1; i < end; ++i) {
            double factor = transposed ? a[(size_t)k * (size_t)n + (size_t)i]
                                       : a[(size_t)i * (size_t)n + (size_t)k];
            rgSubtractRow(width, factor, rgEntry(x, width, k, 0), rgEntry(x, width, i, 0));
        }
    }
    for (int k = end - 1; k >= first; --k) { // U, or L'
        if (!transposed) {
            rgScaleRow(width, 1 / a[(size_t)k * (size_t)(n + 1)], rgEntry(x, width, k, 0));
        }
        for (int i = first; i < k; ++i) {
            double factor = transposed ? a[(size_t)k * (size_t)n + (size_t)i]
                                       : a[(size_t)i * (size_t)n + (size_t)k];
            rgSubtractRow(width, factor, rgEntry(x, width, k, 0), rgEntry(x, width, i, 0));
        }
    }
    for (int k = end - 1; k >= first && transposed; --k) {
        rgSwapRows(width, x, k, l->pivots[k]);
    }
}

void rgLinearize_SolveFree(const rgWorld* world, const rgLinearization* l, int columnCount,
                           bool transposed, double* x) {
    const rgModel* model = world->model;
    bool any = false;
    for (int t = 0; t < model->treeCount; ++t) {
        any = any || l->laws[t] == rg_treeRefined;
    }
    if (!any) {
        rgDynamics_Solve(world->kinematics.dynamics, columnCount, x);
        return;
    }
    size_t bytes = (size_t)l->n * (size_t)columnCount * sizeof(double);
    double* kept = l->work;
    memcpy(kept, x, bytes);
    rgDynamics_Solve(world->kinematics.dynamics, columnCount, x);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* tree = &model->trees[t];
        if (l->laws[t] == rg_treeRefined) {
            size_t at = (size_t)tree->firstDof * (size_t)columnCount;
            memcpy(x + at, kept + at,
                   (size_t)tree->dofCount * (size_t)columnCount * sizeof(double));
            rgSolveBlock(l, tree, columnCount, transposed, x);
        }
    }
}

static rgResult rgFactorizeTrees(const rgWorld* world, rgLinearization* l) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* tree = &world->model->trees[t];
        if (l->laws[t] == rg_treeRefined) {
            rgCompleteTree(world, l, tree);
            if (!rgFactorizeBlock(l->n, tree->firstDof, tree->dofCount, l->tree, l->pivots)) {
                return rg_errorNumeric;
            }
        }
    }
    return rg_ok;
}

rgResult rgLinearize_Free(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    rgDynamics* d = world->kinematics.dynamics;
    size_t n = (size_t)l->n, width = (size_t)l->width;
    double *a = l->work + n, *asked = l->work + 2 * n;
    memset(l->force, 0, n * width * sizeof(double));
    memset(l->tree, 0, n * n * sizeof(double));
    memset(l->share, 0, n * sizeof(double));
    memset(l->stiffnessShare, 0, n * sizeof(double));
    memset(l->dampingShare, 0, n * sizeof(double));
    rgFillDiagonal(world, l);
    // Free bodies first: what their forces change goes into their own law.
    rgAddDrives(world, l, asked);
    rgAddForces(world, l, asked);
    rgAddBodyWrenches(world, l);
    rgLinearize_ForceArms(world, l);
    rgFillBase(world, l);
    rgResult result = rgLinearize_Fast(world, l);
    if (result != rg_ok) {
        return result;
    }
    rgSetVelocities(world, l);
    rgLinearize_Accelerations(world, l, a);
    result = rgDynamics_Slopes(d, a, NULL);
    if (result != rg_ok) {
        return result;
    }
    rgLoadRows(world);
    rgLoadWrenches(world, l);
    rgDynamics_SumSlopes(d);
    rgStoreSlopes(world, l);
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->vCount > 1 && l->laws[link->tree] == rg_treeMiddle) {
            rgTurnPredictor(world, l, link);
        }
    }
    rgAddDofSprings(world, l);
    return rgFactorizeTrees(world, l);
}
