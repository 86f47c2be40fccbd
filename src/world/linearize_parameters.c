// Derivatives by named numbers of the model. docs/theory/step_derivatives.md, Parameters.
#include "dynamics/derivative.h"
#include "model/def.h"
#include "world/linearize.h"

#include <string.h>

static double* rgCell(const rgLinearization* l, double* matrix, int row, int column) {
    return matrix + (size_t)row * (size_t)l->width + (size_t)column;
}

// ---- materials

// Slope of a number of a pair's material by that of a shape, whatever the rule: by differences of
// the rule, which is a formula.
static double rgMaterialSlope(const rgWorld* world, const rgContactPoint* point,
                              const rgQuantity* of) {
    const rgModel* model = world->model;
    bool friction = of->kind == rg_quantityFriction;
    double all = friction ? world->def.friction : world->def.restitution;
    int a = world->contacts.colliders[point->colliderA].shape;
    int b = world->contacts.colliders[point->colliderB].shape;
    if (of->index < 0) {
        return 1;
    }
    if (all >= 0 || (of->index != a && of->index != b)) {
        return 0;
    }
    double values[2];
    const rgShapeDef *A = &model->shapes[a], *B = &model->shapes[b];
    double own = friction ? model->shapes[of->index].material.mu
                          : model->shapes[of->index].material.restitution;
    double step = RG_MATERIAL_STEP * fmax(own, RG_MATERIAL_STEP);
    rgMaterial pair = rgContactSet_Material(&world->contacts, &world->def, world->model, point);
    for (int side = 0; side < 2; ++side) {
        rgMaterial materials[2] = {A->material, B->material};
        for (int k = 0; k < 2; ++k) {
            double change = (k == 0 ? a : b) == of->index ? (side == 0 ? -step : step) : 0;
            materials[k].mu += friction ? change : 0;
            materials[k].restitution += friction ? 0 : change;
        }
        rgMaterial both = A->priority > B->priority ? materials[0]
                          : A->priority < B->priority
                              ? materials[1]
                              : rgCombineMaterials(&materials[0], &materials[1], pair.frictionRule);
        values[side] = friction ? both.mu : both.restitution;
    }
    rgMaterial now = A->priority > B->priority ? A->material
                     : A->priority < B->priority
                         ? B->material
                         : rgCombineMaterials(&A->material, &B->material, pair.frictionRule);
    bool explicitPair = friction ? now.mu != pair.mu : now.restitution != pair.restitution;
    return explicitPair ? 0 : (values[1] - values[0]) / (2 * step);
}

static void rgByMaterial(rgWorld* world, rgLinearization* l, const rgQuantity* of, int column) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        int first = point->firstRow;
        if (of->kind == rg_quantityRestitution && point->restitutionBias < 0) {
            double before = rgRows_Speed(rows, first + 2, world->kinematics.v);
            *rgCell(l, l->rows, first + 2, column) +=
                rgConstraintSet_RestitutionShare(&world->constraints, &world->contacts,
                                                 world->model, point) *
                before * rgMaterialSlope(world, point, of);
        }
        bool smooth = l->modes[first] == rg_modeSmooth;
        if (of->kind == rg_quantityFriction && (smooth || l->modes[first] == rg_modeSlip)) {
            double slope =
                rgMaterialSlope(world, point, of) * (smooth ? 1 : rows->lambda[first + 2]);
            for (int k = first; k < first + 2; ++k) {
                *rgCell(l, l->bounds, k, column) -= l->slip[k] * slope;
            }
        }
    }
}

// ---- inertias

// dM_ii of a column: shares of springs and of rows that depend on what degrees of freedom weigh.
static void rgAddMassChange(const rgWorld* world, rgLinearization* l, int dof, double change,
                            int column) {
    const rgRows* rows = &world->constraints.rows;
    double mass = world->kinematics.dynamics->mass[world->model->dofs[dof].rowStart];
    *rgCell(l, l->force, dof, column) += l->share[dof] * change;
    for (int r = 0; r < l->m; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1] && l->mobility[r] != 0; ++k) {
            double part = rows->column[k] == dof ? rows->value[k] / mass : 0;
            *rgCell(l, l->rows, r, column) -= l->mobility[r] * part * part * change;
        }
    }
}

static rgMat3 rgMomentOf(const double* change) { // xx yy zz xy xz yz
    return (rgMat3){{change[0], change[3], change[4], change[3], change[1], change[5], change[4],
                     change[5], change[2]}};
}

// step_derivatives.9 of a moment of inertia about the centre of a free body, and of its mass; the
// centre stays.
static void rgChangeFreeBody(const rgWorld* world, rgLinearization* l, int index, double mass,
                             const rgMat3* moment, int column) {
    const rgLink* link = &world->model->links[index];
    double half = 0.5 * world->settings.dt, dt = world->settings.dt;
    const double *V = world->kinematics.v + link->v, *end = world->free.v + link->v;
    const double* tau = world->free.tau + link->v;
    const rgRot* r = &world->kinematics.dynamics->poses[index].r;
    rgVec3 before = rgVec(V[3], V[4], V[5]), after = rgVec(end[3], end[4], end[5]);
    rgVec3 force = rgVec(tau[0], tau[1], tau[2]);
    rgVec3 last =
        rgRotate(rgQuatFromRotationVector(rgScale(half, after)), rgMat3_Multiply(moment, after));
    rgVec3 first =
        rgRotate(rgQuatFromRotationVector(rgScale(-half, before)), rgMat3_Multiply(moment, before));
    rgMat3 inverse = rgLinearize_SpinInverse(world, link, after);
    rgVec3 spin = rgMat3_Multiply(&inverse, rgSub(first, last));
    rgVec3 swing = rgRot_Apply(r, rgCross(rgNegate(spin), link->center));
    rgVec3 moved = rgAddScaled(swing, -dt * mass / (link->mass * link->mass), force);
    for (int i = 0; i < 3; ++i) {
        *rgCell(l, l->base, link->v + i, column) += rgVec3_At(moved, i);
        *rgCell(l, l->base, link->v + 3 + i, column) += rgVec3_At(spin, i);
    }
}

// Projections of trees that turn fast have masses of their own.
static void rgFreezeFastInertia(const rgWorld* world, rgLinearization* l, int tree) {
    if (world->fast.isTransported[tree]) {
        rgLinearization_Freeze(l, "inertias of trees that turn fast");
    }
}

// A change of inertial parameters of a body, in its axes about its origin.
static void rgByInertia(rgWorld* world, rgLinearization* l, int body, const double* change,
                        int column) {
    const rgModel* model = world->model;
    rgDynamics* d = world->kinematics.dynamics;
    const rgPlace* place = &model->bodyPlaces[body];
    const rgLink* link = &model->links[place->link];
    if (place->link == 0 || rgModel_IsKinematic(model, place->link) ||
        l->laws[link->tree] == rg_treeAsleep) {
        return;
    }
    rgFreezeFastInertia(world, l, link->tree);
    int count = l->n;
    double *a = l->work, *regressor = l->work + count;
    rgLinearize_Accelerations(world, l, a);
    rgDynamics_InverseDynamicsByInertia(d, a, (rgBodyId){body + 1}, regressor);
    for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int k = 0; k < RG_INERTIA_PARAMETERS; ++k) {
            sum += regressor[RG_INERTIA_PARAMETERS * i + k] * change[k];
        }
        *rgCell(l, l->force, i, column) -= world->settings.dt * sum;
    }
    if (l->laws[link->tree] == rg_treeFree) {
        rgMat3 turn = rgMat3FromQuat(place->pose.q), back = rgMat3_TransposedOf(&turn);
        const rgInertia* inertia = &model->bodies[body].inertia;
        rgVec3 c = inertia->center,
               dc = rgVec(change[1] - change[0] * c.x, change[2] - change[0] * c.y,
                          change[3] - change[0] * c.z);
        rgVec3 at = rgPose_Point(place->pose, c);
        bool stays = rgLength(dc) <= 1e-12 &&
                     rgLength(rgSub(at, link->center)) <= 1e-9 * (1 + rgLength(link->center));
        if (!stays || world->kinematics.driftTime[link->tree] == 0) {
            rgLinearization_Freeze(l, "centres of mass of free bodies");
            return;
        }
        rgMat3 moment = rgMomentOf(change + 4), arm = rgOuterProduct(c, c);
        rgMat3_AddScaled(&moment, change[0], &arm);
        for (int k = 0; k < 9; k += 4) {
            moment.m[k] -= change[0] * rgLengthSquared(c);
        }
        rgMat3 turned = rgMat3_Product(&turn, &moment);
        turned = rgMat3_Product(&turned, &back);
        rgChangeFreeBody(world, l, place->link, change[0], &turned, column);
        return;
    }
    rgRest rest = rgDynamics_Rest(d);
    for (int i = link->v + link->vCount - 1; i >= 0 && l->needsDiagonal;
         i = model->dofs[i].parent) {
        memset(a, 0, (size_t)count * sizeof(double));
        a[i] = 1;
        rgDynamics_InverseDynamicsByInertia(d, a, (rgBodyId){body + 1}, regressor);
        double sum = 0;
        for (int k = 0; k < RG_INERTIA_PARAMETERS; ++k) {
            sum += regressor[RG_INERTIA_PARAMETERS * i + k] * change[k];
        }
        rgAddMassChange(world, l, i, sum, column);
    }
    rgDynamics_Resume(d, rest);
}

static void rgByBody(rgWorld* world, rgLinearization* l, const rgQuantity* of, int column) {
    double change[RG_INERTIA_PARAMETERS] = {0};
    if (of->kind == rg_quantityInertia) {
        change[of->element] = 1;
    } else {
        rgVec3 c = world->model->bodies[of->index].inertia.center;
        rgInertia point = {.mass = 1, .center = c};
        rgInertia_Parameters(&point, change);
    }
    rgByInertia(world, l, of->index, change, column);
}

// ---- joints and gains

// Force of the spring and damper of a degree of freedom, by stiffness or damping.
static void rgByDofSpring(const rgWorld* world, rgLinearization* l, int dof, double stretch,
                          bool damping, double scale, int column) {
    double dt = world->settings.dt, v = world->kinematics.v[dof];
    rgWeights w = rgLinearize_DofLaw(world, dof).weights;
    double change = rgLinearize_ImplicitChange(world, l, dof);
    double slope = damping ? -dt * v - dt * w.share * change
                           : -dt * (stretch + w.along * dt * v) - dt * dt * w.ahead * change;
    double factor = dt * rgKinematics_DofMobility(&world->kinematics, dof);
    double implicit = factor * (damping ? l->dampingShare[dof] : dt * l->stiffnessShare[dof]);
    *rgCell(l, l->force, dof, column) += scale * (slope + implicit);
}

static void rgByJoint(rgWorld* world, rgLinearization* l, const rgQuantity* of, int column) {
    const rgModel* model = world->model;
    const rgJointDef* def = &model->joints[of->index];
    const rgJointRange* range = &model->jointRanges[of->index];
    const rgRows* rows = &world->constraints.rows;
    const double* q = world->kinematics.q + range->q;
    rgVec3 r = def->kind == rg_jointSpherical
                   ? rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]})
                   : rgVec(q[0] - def->springReference, 0, 0);
    for (int k = 0; k < range->vCount; ++k) {
        int dof = range->v + k;
        if (of->kind == rg_quantityDamping ||
            (of->kind == rg_quantityStiffness && range->vCount <= 3)) {
            rgByDofSpring(world, l, dof, k < 3 ? rgVec3_At(r, k) : 0,
                          of->kind == rg_quantityDamping, 1, column);
        } else if (of->kind == rg_quantityArmature) {
            double base = rgLinearize_BaseVelocity(world, l, dof);
            *rgCell(l, l->force, dof, column) -= world->next.v[dof] - base;
            rgFreezeFastInertia(world, l, world->constraints.treeOfDof[dof]);
            rgAddMassChange(world, l, dof, 1, column);
        }
    }
    for (int row = 0; row < l->m && of->kind == rg_quantityDryFriction; ++row) {
        const rgRowSource* source = &rows->sources[row];
        bool own = source->kind == rg_constraintFriction && source->index == of->index;
        double sign = copysign(world->settings.dt, rows->lambda[row]);
        for (int k = rows->rowStart[row];
             k < rows->rowStart[row + 1] && own && l->modes[row] == rg_modeOpen; ++k) {
            *rgCell(l, l->force, rows->column[k], column) += sign * rows->value[k];
        }
    }
}

// Of the row of an actuator, by its gains.
static void rgByRowGain(rgWorld* world, rgLinearization* l, int row, const rgActuator* drive,
                        bool damping, int column) {
    const rgRows* rows = &world->constraints.rows;
    double dt = world->settings.dt, k = drive->stiffness, d = drive->damping;
    double rate = rgRows_Speed(rows, row, world->kinematics.v);
    double factor = dt * rgRows_SpringMobility(&world->constraints, &world->kinematics, row);
    double lead =
        rgRows_DriftTime(&world->constraints, &world->kinematics, world->settings.dt, row);
    rgWeights w = rgJointWeights(lead, factor * dt * k, factor * d), byK, byD;
    rgJointWeightSlopes(lead, factor * dt * k, factor * d, &byK, &byD);
    double R = 1 / (dt * (dt * k * w.ahead + d * w.share));
    double before = (d * (1 - w.share) + dt * k * (w.along - w.ahead)) * rate;
    double rest = dt * (k * drive->position + before - drive->command) + rows->lambda[row];
    double slope = damping ? -R * R * dt * w.share * rest + R * dt * (1 - w.share) * rate
                           : -R * R * dt * dt * w.ahead * rest +
                                 R * dt * (drive->position + dt * (w.along - w.ahead) * rate);
    double implicit = factor * (damping ? 1 : dt) *
                      rgLinearize_SpringByWeights(dt, R, rest, rate,
                                                  (rgSoftness){drive->stiffness, drive->damping},
                                                  damping ? byD : byK);
    *rgCell(l, l->rows, row, column) += slope + implicit;
}

static void rgByActuator(rgWorld* world, rgLinearization* l, const rgQuantity* of, int column) {
    const rgModel* model = world->model;
    const rgActuator* drive = &world->transmission.actuators[of->index];
    const rgActuatorDef* def = &model->actuators[of->index];
    const rgRows* rows = &world->constraints.rows;
    bool damping = of->kind == rg_quantityVelocityGain;
    if (drive->varies || def->activation != rg_activationNone) {
        rgLinearization_Freeze(l, "gains that vary");
        return;
    }
    double control = rgState_Control(&world->state, of->index);
    control =
        def->hasControlRange ? fmin(fmax(control, def->controlLower), def->controlUpper) : control;
    double dt = world->settings.dt;
    if (drive->mode != rg_actuatorRow && of->kind == rg_quantityGain) {
        bool inside = drive->mode != rg_actuatorForce ||
                      (drive->command > drive->lower && drive->command < drive->upper);
        int count = inside ? rgActuatorEntries(&world->transmission, &world->constraints,
                                               world->model, of->index)
                           : 0;
        for (int k = 0; k < count; ++k) {
            *rgCell(l, l->force, world->constraints.entryColumns[k], column) +=
                dt * world->constraints.entryValues[k] * control;
        }
    } else if (drive->mode == rg_actuatorJoint) {
        const rgJointRange* range = &model->jointRanges[def->joint.index1 - 1];
        rgByDofSpring(world, l, range->v, world->kinematics.q[range->q], damping,
                      def->gear[0] * def->gear[0], column);
    } else if (drive->mode == rg_actuatorForce) {
        rgLinearization_Freeze(l, "gains that are zero");
    }
    for (int r = 0; r < l->m; ++r) {
        const rgRowSource* source = &rows->sources[r];
        if (source->kind == rg_constraintActuator && source->index == of->index &&
            l->modes[r] == rg_modeActive) {
            if (of->kind == rg_quantityGain) {
                *rgCell(l, l->rows, r, column) -= rows->compliance[r] * dt * control;
            } else {
                rgByRowGain(world, l, r, drive, damping, column);
            }
        }
    }
}

void rgLinearize_Parameters(rgWorld* world, rgLinearization* l) {
    if (l->hasParts && l->parameterFirst >= 0) {
        rgLinearization_Freeze(l, "numbers of trees that move in parts of the step");
    }
    for (int i = 0; i < l->def.parameterCount && l->parameterFirst >= 0; ++i) {
        const rgQuantity* of = &l->def.parameters[i];
        int column = l->parameterFirst + i;
        switch (of->kind) {
        case rg_quantityFriction:
        case rg_quantityRestitution:
            rgByMaterial(world, l, of, column);
            break;
        case rg_quantityMass:
        case rg_quantityInertia:
            rgByBody(world, l, of, column);
            break;
        case rg_quantityDamping:
        case rg_quantityStiffness:
        case rg_quantityArmature:
        case rg_quantityDryFriction:
            rgByJoint(world, l, of, column);
            break;
        default:
            rgByActuator(world, l, of, column);
            break;
        }
    }
}
