// MJCF values that follow from the model at its reference configuration: from the mass matrix the
// damping of servos with `dampratio` and the springs of joints with `springdamper`; from where
// everything is the free length of spatial tendons.
#include "dynamics/dynamics.h"
#include "io/mjcf.h"
#include "model/model.h"

#include <string.h>

// Shapes play no part but for those that tendons go around, and are dear to compile.
static rgResult rgMjcf_AddPlainShapes(rgMjcf* m, rgModelDef* tree) {
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < m->def->shapeCount; ++i) {
        const rgShapeDef* shape = &m->def->shapes[i];
        rgShapeDef plain = rgDefaultShapeDef();
        bool round = shape->kind == rg_shapeSphere || shape->kind == rg_shapeCylinder;
        plain.body = shape->body;
        plain.pose = shape->pose;
        plain.kind = round ? shape->kind : rg_shapeSphere;
        plain.size = round ? shape->size : rgVec(1, 1, 1);
        plain.visualOnly = true;
        result = rgModelDef_AddShape(tree, &plain, NULL);
    }
    return result;
}

static rgResult rgMjcf_AddWays(rgMjcf* m, rgModelDef* tree) {
    rgResult result = rgMjcf_AddPlainShapes(m, tree);
    for (int i = 0; result == rg_ok && i < m->def->frameCount; ++i) {
        result = rgModelDef_AddFrame(tree, &m->def->frames[i], NULL);
    }
    for (int i = 0; result == rg_ok && i < m->def->tendonCount; ++i) {
        rgTendonDef tendon = m->def->tendons[i];
        tendon.springReference = 0;
        result = rgModelDef_AddTendon(tree, &tendon, NULL);
    }
    for (int i = 0; result == rg_ok && i < m->def->actuatorCount; ++i) {
        rgActuatorDef actuator = m->def->actuators[i];
        actuator.isMuscle = false;
        actuator.activation = rg_activationNone;
        result = rgModelDef_AddActuator(tree, &actuator, NULL);
    }
    return result;
}

static rgModel* rgMjcf_CompileTree(rgMjcf* m) {
    rgModelDef* tree = NULL;
    rgModel* model = NULL;
    rgResult result = rgCreateModelDef(&m->load->allocator, &tree);
    for (int i = 0; result == rg_ok && i < m->def->bodyCount; ++i) {
        result = rgModelDef_AddBody(tree, &m->def->bodies[i], NULL);
    }
    for (int i = 0; result == rg_ok && i < m->def->jointCount; ++i) {
        result = rgModelDef_AddJoint(tree, &m->def->joints[i], NULL);
    }
    if (result == rg_ok && m->def->tendonCount + m->def->actuatorCount > 0) {
        result = rgMjcf_AddWays(m, tree);
    }
    if (result == rg_ok) {
        // Discard errors of the tree: compiling the whole model reports them.
        result = rgCompileModel(tree, &m->load->allocator, NULL, &model);
    }
    if (result == rg_errorMemory) {
        rgMjcf_Check(m, result);
    }
    rgDestroyModelDef(tree);
    return model;
}

// Mean of the inertia per degree of freedom: the diagonal of M (as a joint held by itself feels),
// or, `released`, the inverse of that of M^-1 (as one feels when all others are free).
static double rgReflectedInertia(rgDynamics* dynamics, rgJointRange range, int count,
                                 const double* mass, double* unit, bool released) {
    double sum = 0;
    for (int i = range.v; i < range.v + range.vCount; ++i) {
        if (!released) {
            sum += mass[(size_t)i * (size_t)count + (size_t)i];
            continue;
        }
        for (int k = 0; k < count; ++k) {
            unit[k] = k == i;
        }
        rgDynamics_Solve(dynamics, 1, unit);
        sum += unit[i];
    }
    sum /= RG_MAX(range.vCount, 1);
    return released ? (sum > 0 ? 1 / sum : 0) : sum;
}

// The model at its reference configuration.
typedef struct rgMjMoments {
    rgModel* model;
    rgDynamics* dynamics;
    double *q, *mass, *row, *spare;
    double *held, *released; // per joint: M_ii; 1 / (M^-1)_ii
} rgMjMoments;

static bool rgMjcf_OpenMoments(rgMjcf* m, bool inertia, rgMjMoments* moments) {
    moments->model = rgMjcf_CompileTree(m);
    if (moments->model == NULL) {
        return false;
    }
    rgModelInfo info = rgModel_Info(moments->model);
    size_t count = (size_t)info.vCount;
    rgDynamicsDef def = rgDefaultDynamicsDef(moments->model);
    def.allocator = m->load->allocator;
    moments->q = RG_TAKE(&m->arena, double, info.qCount + 1);
    moments->mass = RG_TAKE(&m->arena, double, inertia ? count* count + 1 : 1);
    moments->row = RG_TAKE(&m->arena, double, count + 1);
    moments->spare = RG_TAKE(&m->arena, double, count + 1);
    moments->held = RG_TAKE(&m->arena, double, 2 * m->def->jointCount + 1);
    if (moments->q == NULL || moments->mass == NULL || moments->row == NULL ||
        moments->held == NULL || moments->spare == NULL ||
        rgCreateDynamics(moments->model, &def, &moments->dynamics) != rg_ok) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    moments->released = moments->held + m->def->jointCount;
    rgModel_NeutralConfiguration(moments->model, moments->q);
    rgDynamics_SetPositions(moments->dynamics, moments->q);
    return true;
}

static bool rgMjcf_Reflect(rgMjcf* m, const rgMjMoments* moments) {
    rgDynamics_MassMatrix(moments->dynamics, moments->mass);
    if (rgDynamics_Factorize(moments->dynamics, NULL) != rg_ok) {
        return false;
    }
    int count = moments->model->vCount;
    for (int i = 0; i < m->def->jointCount; ++i) {
        rgJointRange range = moments->model->jointRanges[i];
        moments->held[i] =
            rgReflectedInertia(moments->dynamics, range, count, moments->mass, moments->row, false);
        moments->released[i] =
            rgReflectedInertia(moments->dynamics, range, count, moments->mass, moments->row, true);
    }
    return true;
}

// Inertia that an actuator feels; what acts on several degrees of freedom adds what they feel, as
// MuJoCo has it.
static double rgActuatorInertia(const rgMjMoments* moments, int actuator) {
    const rgModel* model = moments->model;
    const rgActuatorDef* def = &model->actuators[actuator];
    if (def->joint.index1 > 0) {
        return moments->held[def->joint.index1 - 1] / (def->gear[0] * def->gear[0]);
    }
    double sum = 0;
    int start = model->driveStart[actuator], count = model->driveStart[actuator + 1] - start;
    rgDynamics_DriveRow(moments->dynamics, actuator, moments->row, NULL);
    for (int k = 0; k < count; ++k) {
        size_t dof = (size_t)model->driveColumns[start + k];
        double moment = moments->row[k], mass = moments->mass[dof * (size_t)(model->vCount + 1)];
        sum += fabs(moment) > 1e-15 ? mass / (moment * moment) : 0;
    }
    return sum;
}

// Norm of the acceleration of all degrees of freedom by a unit force of the actuator.
static double rgActuatorAcceleration(const rgMjMoments* moments, int actuator) {
    const rgModel* model = moments->model;
    int start = model->driveStart[actuator], count = model->driveStart[actuator + 1] - start;
    double *values = moments->spare, *a = moments->row, square = 0;
    memset(a, 0, (size_t)model->vCount * sizeof(double));
    rgDynamics_DriveRow(moments->dynamics, actuator, values, NULL);
    for (int k = 0; k < count; ++k) {
        a[model->driveColumns[start + k]] = values[k];
    }
    rgDynamics_Solve(moments->dynamics, 1, a);
    for (int i = 0; i < model->vCount; ++i) {
        square += a[i] * a[i];
    }
    return sqrt(square);
}

#define RG_RANGE_SAMPLES 24
#define RG_RANGE_SWEEPS  3

// The least (sign 1) or largest (-1) position of an actuator within the limits of its joints (an
// angle without limits: a turn), joint by joint from the reference.
static double rgExtremePosition(const rgMjcf* m, const rgMjMoments* moments, int actuator,
                                double sign) {
    const rgModel* model = moments->model;
    double *q = moments->q, best = INFINITY;
    rgModel_NeutralConfiguration(model, q);
    for (int n = 0; n < RG_RANGE_SWEEPS; ++n) {
        for (int j = 0; j < m->def->jointCount; ++j) {
            const rgJointDef* joint = &m->def->joints[j];
            bool scalar = joint->kind == rg_jointRevolute ||
                          (joint->kind == rg_jointPrismatic && joint->hasLimits);
            double lower = joint->hasLimits ? joint->lower : -3.14159265358979323846;
            double upper = joint->hasLimits ? joint->upper : 3.14159265358979323846;
            double *x = &q[model->jointRanges[j].q], kept = *x;
            for (int k = 0; scalar && k <= RG_RANGE_SAMPLES; ++k) {
                *x = lower + (upper - lower) * k / RG_RANGE_SAMPLES;
                rgDynamics_SetPositions(moments->dynamics, q);
                double l = sign * rgDynamics_DriveRow(moments->dynamics, actuator, NULL, NULL);
                kept = l < best ? *x : kept;
                best = fmin(l, best);
            }
            *x = kept;
        }
    }
    return sign * best;
}

// Set muscles: a missing length from the range of the joints; a missing force from their
// acceleration by a unit force.
static void rgMjcf_SetMuscles(rgMjcf* m, const rgMjMoments* moments) {
    for (int i = 0; i < m->def->actuatorCount; ++i) {
        rgMuscle* muscle = &m->def->actuators[i].muscle;
        if (!m->def->actuators[i].isMuscle) {
            continue;
        }
        if (muscle->force < 0) {
            double acceleration = rgActuatorAcceleration(moments, i);
            muscle->force = m->reflected[i].muscleScale / fmax(acceleration, 1e-15);
        }
    }
    for (int i = 0; i < m->def->actuatorCount; ++i) {
        rgActuatorDef* actuator = &m->def->actuators[i];
        double* range = actuator->muscle.lengthRange;
        if (actuator->isMuscle && range[0] == 0 && range[1] == 0) {
            range[0] = rgExtremePosition(m, moments, i, 1);
            range[1] = rgExtremePosition(m, moments, i, -1);
        }
    }
}

// springlength="-1": where every joint has its springref.
static void rgMjcf_SetFreeLengths(rgMjcf* m, const rgMjMoments* moments) {
    rgModel_NeutralConfiguration(moments->model, moments->q);
    for (int i = 0; i < m->def->jointCount; ++i) {
        const rgJointDef* joint = &m->def->joints[i];
        if (joint->kind == rg_jointRevolute || joint->kind == rg_jointPrismatic) {
            moments->q[moments->model->jointRanges[i].q] = joint->springReference;
        }
    }
    rgDynamics_SetPositions(moments->dynamics, moments->q);
    for (int i = 0; i < m->def->tendonCount; ++i) {
        rgTendonDef* tendon = &m->def->tendons[i];
        if (isnan(tendon->springReference)) {
            tendon->springReference =
                rgDynamics_TendonLength(moments->dynamics, (rgTendonId){i + 1});
        }
    }
}

static void rgMjcf_SetSpringDampers(rgMjcf* m, const double* released) {
    for (int i = 0; i < m->def->jointCount; ++i) {
        rgJointDef* joint = &m->def->joints[i];
        double time = m->springDampers[i][0], ratio = m->springDampers[i][1];
        if (time > 0 && ratio > 0) {
            joint->stiffness = released[i] / (time * time * ratio * ratio);
            joint->damping = 2 * released[i] / time;
        }
    }
}

static bool rgMjcf_NeedsInertia(const rgMjcf* m) {
    for (int i = 0; i < m->def->jointCount; ++i) {
        if (m->springDampers[i][0] > 0) {
            return true;
        }
    }
    for (int i = 0; i < m->def->actuatorCount; ++i) {
        if (m->reflected[i].dampRatio > 0 || m->def->actuators[i].isMuscle) {
            return true;
        }
    }
    return false;
}

static bool rgMjcf_NeedsLengths(const rgMjcf* m) {
    bool needs = false;
    for (int i = 0; i < m->def->tendonCount; ++i) {
        needs = needs || isnan(m->def->tendons[i].springReference);
    }
    return needs;
}

void rgMjcf_SetReflected(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    bool inertia = rgMjcf_NeedsInertia(m);
    rgMjMoments moments = {0};
    if (!inertia && !rgMjcf_NeedsLengths(m)) {
        return;
    }
    if (rgMjcf_OpenMoments(m, inertia, &moments)) {
        if (inertia && rgMjcf_Reflect(m, &moments)) {
            rgMjcf_SetSpringDampers(m, moments.released);
            for (int i = 0; i < m->def->actuatorCount; ++i) {
                rgActuatorDef* actuator = &m->def->actuators[i];
                if (m->reflected[i].dampRatio > 0 && actuator->kp > 0) {
                    double felt = rgActuatorInertia(&moments, i);
                    actuator->kd = 2 * m->reflected[i].dampRatio * sqrt(actuator->kp * felt);
                }
            }
            rgMjcf_SetMuscles(m, &moments);
        }
        rgMjcf_SetFreeLengths(m, &moments);
    }
    // Skip models that do not compile: compiling the whole reports the reason.
    for (int i = 0; i < m->def->tendonCount; ++i) {
        rgTendonDef* tendon = &m->def->tendons[i];
        tendon->springReference = isnan(tendon->springReference) ? 0 : tendon->springReference;
    }
    rgDestroyDynamics(moments.dynamics);
    rgDestroyModel(moments.model);
}
