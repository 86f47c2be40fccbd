// MJCF values that follow from the mass matrix at the reference configuration: the damping of
// servos with `dampratio`, stiffness and damping of joints with `springdamper`.
#include "io/mjcf.h"
#include "rigor/dynamics.h"

// Bodies and joints alone: shapes play no part and are dear to compile.
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
    if (result == rg_ok) {
        // What is wrong with the tree is said when the whole is compiled.
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

// held: M_ii; released: 1 / (M^-1)_ii; both per joint, in the arena. False: no mass matrix.
static bool rgMjcf_Reflect(rgMjcf* m, const rgModel* model, double* held, double* released) {
    int count = rgModel_Info(model).vCount;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    def.allocator = m->load->allocator;
    rgDynamics* dynamics = NULL;
    double* q = RG_TAKE(&m->arena, double, rgModel_Info(model).qCount + 1);
    double* mass = RG_TAKE(&m->arena, double, (size_t)count*(size_t)count + 1);
    double* unit = RG_TAKE(&m->arena, double, count + 1);
    if (q == NULL || mass == NULL || unit == NULL ||
        rgCreateDynamics(model, &def, &dynamics) != rg_ok) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    rgModel_NeutralConfiguration(model, q);
    rgDynamics_SetPositions(dynamics, q);
    rgDynamics_MassMatrix(dynamics, mass);
    bool good = rgDynamics_Factorize(dynamics, NULL) == rg_ok;
    for (int i = 0; good && i < m->def->jointCount; ++i) {
        rgJointRange range = rgModel_JointRange(model, (rgJointId){i + 1});
        held[i] = rgReflectedInertia(dynamics, range, count, mass, unit, false);
        released[i] = rgReflectedInertia(dynamics, range, count, mass, unit, true);
    }
    rgDestroyDynamics(dynamics);
    return good;
}

// Inertia that an actuator feels; a tendon adds what its joints feel, as MuJoCo has it.
static double rgMjcf_ActuatorInertia(const rgMjcf* m, const rgActuatorDef* actuator,
                                     const double* held) {
    double gear = actuator->gear[0];
    if (actuator->joint.index1 > 0) {
        return held[actuator->joint.index1 - 1] / (gear * gear);
    }
    const rgTendonDef* tendon = &m->def->tendons[actuator->tendon.index1 - 1];
    double sum = 0;
    for (int i = 0; i < tendon->jointCount; ++i) {
        double moment = gear * tendon->coefficients[i];
        sum += moment != 0 ? held[tendon->joints[i].index1 - 1] / (moment * moment) : 0;
    }
    return sum;
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
        if (m->dampRatios[i] > 0) {
            return true;
        }
    }
    return false;
}

void rgMjcf_SetReflected(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    if (!rgMjcf_NeedsInertia(m)) {
        return;
    }
    double* inertias = RG_TAKE(&m->arena, double, 2 * m->def->jointCount + 1);
    rgModel* model = inertias != NULL ? rgMjcf_CompileTree(m) : NULL;
    if (model != NULL && rgMjcf_Reflect(m, model, inertias, inertias + m->def->jointCount)) {
        rgMjcf_SetSpringDampers(m, inertias + m->def->jointCount);
        for (int i = 0; i < m->def->actuatorCount; ++i) {
            rgActuatorDef* actuator = &m->def->actuators[i];
            if (m->dampRatios[i] > 0 && actuator->kp > 0) {
                double inertia = rgMjcf_ActuatorInertia(m, actuator, inertias);
                actuator->kd = 2 * m->dampRatios[i] * sqrt(actuator->kp * inertia);
            }
        }
    }
    rgDestroyModel(model);
}
