// Parameters that differ from world to world: changes of each world as rgWorld_Change...() makes
// them.
#include "batch/batch.h"

const char* rgBatchParameter_Name(rgBatchParameter parameter) {
    static const char* const names[] = {"gravity",   "mass", "mu",     "restitution",
                                        "stiffness", "gain", "damping"};
    return (int)parameter >= 0 && (int)parameter < RG_COUNT(names) ? names[parameter] : "unknown";
}

int rgBatch_ParameterSize(const rgBatch* batch, rgBatchParameter parameter) {
    if (batch == NULL) {
        return 0;
    }
    const rgModelInfo* info = &batch->model->info;
    switch (parameter) {
    case rg_parameterGravity:
        return 3;
    case rg_parameterMass:
        return info->bodyCount;
    case rg_parameterGain:
        return info->actuatorCount;
    case rg_parameterDamping:
        return info->jointCount;
    default:
        return (int)parameter >= 0 && parameter < rg_parameterCount ? 1 : 0;
    }
}

static double rgFactor(double value) {
    return isnan(value) ? 1 : value;
}

// ---- one world

static rgResult rgChangeMasses(rgWorld* world, const double* row) {
    rgResult result = rg_ok;
    for (int b = 0; b < world->variant.shared->info.bodyCount && result == rg_ok; ++b) {
        rgBodyDef body = world->model->bodies[b];
        const rgInertia* first = &world->variant.shared->bodies[b].inertia;
        double factor = rgFactor(row[b]);
        body.inertia.mass = factor * first->mass;
        const rgSym3* m = &first->moment;
        body.inertia.moment = (rgSym3){factor * m->xx, factor * m->yy, factor * m->zz,
                                       factor * m->xy, factor * m->xz, factor * m->yz};
        bool massless = first->mass == 0;
        result = massless ? rg_ok : rgWorld_ChangeBody(world, (rgBodyId){b + 1}, &body, NULL);
    }
    return result;
}

static rgResult rgChangeGains(rgWorld* world, const double* row) {
    rgResult result = rg_ok;
    for (int a = 0; a < world->variant.shared->info.actuatorCount && result == rg_ok; ++a) {
        rgActuatorDef actuator = world->model->actuators[a];
        const rgActuatorDef* first = &world->variant.shared->actuators[a];
        double factor = rgFactor(row[a]);
        actuator.gain = factor * first->gain;
        actuator.bias = factor * first->bias;
        actuator.kp = factor * first->kp;
        actuator.kd = factor * first->kd;
        result = rgWorld_ChangeActuator(world, (rgActuatorId){a + 1}, &actuator, NULL);
    }
    return result;
}

static rgResult rgChangeDampings(rgWorld* world, const double* row) {
    rgResult result = rg_ok;
    for (int j = 0; j < world->variant.shared->info.jointCount && result == rg_ok; ++j) {
        rgJointDef joint = world->model->joints[j];
        joint.damping = rgFactor(row[j]) * world->variant.shared->joints[j].damping;
        result = rgWorld_ChangeJoint(world, (rgJointId){j + 1}, &joint, NULL);
    }
    return result;
}

static void rgSetStiffness(const rgWorld* world, double value, rgWorldDef* def) {
    const rgWorldDef* first = &world->variant.firstDef;
    bool soft = first->stiffness > 0;
    double time = soft ? first->damping / first->stiffness : 10 * world->settings.dt;
    def->stiffness = isnan(value) ? first->stiffness : value;
    def->damping = isnan(value) ? first->damping : time * value;
}

static rgResult rgChangeSettings(rgWorld* world, rgBatchParameter parameter, const double* row) {
    const rgWorldDef* first = &world->variant.firstDef;
    rgWorldDef def = world->def;
    bool unset = isnan(row[0]);
    switch (parameter) {
    case rg_parameterGravity:
        def.hasGravity = unset ? first->hasGravity : true;
        def.gravity = unset ? first->gravity : rgVec(row[0], row[1], row[2]);
        break;
    case rg_parameterFriction:
        def.friction = unset ? first->friction : row[0];
        break;
    case rg_parameterRestitution:
        def.restitution = unset ? first->restitution : row[0];
        break;
    default:
        rgSetStiffness(world, row[0], &def);
        break;
    }
    return rgWorld_ChangeSettings(world, &def, NULL);
}

typedef struct rgParameterRows {
    rgBatchParameter parameter;
    const double* values;
    int columnCount;
} rgParameterRows;

static void rgSetRow(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgParameterRows* rows = context;
    const double* row = rows->values + (size_t)i * (size_t)rows->columnCount;
    rgResult result = rows->parameter == rg_parameterMass   ? rgChangeMasses(lane->world, row)
                      : rows->parameter == rg_parameterGain ? rgChangeGains(lane->world, row)
                      : rows->parameter == rg_parameterDamping
                          ? rgChangeDampings(lane->world, row)
                          : rgChangeSettings(lane->world, rows->parameter, row);
    if (result != rg_ok) {
        rgBatch_Stop(batch, i, result == rg_errorMemory ? rg_faultMemory : rg_faultParameter);
    }
}

// ---- all worlds

rgResult rgBatch_SetParameter(rgBatch* batch, rgBatchParameter parameter, const double* values,
                              size_t count, const rgWorldMask* mask, rgDiagnostics* diagnostics) {
    if (batch == NULL || (int)parameter < 0 || parameter >= rg_parameterCount) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "batch: no parameter has this number");
        return rg_errorArgument;
    }
    rgParameterRows rows = {parameter, values, rgBatch_ParameterSize(batch, parameter)};
    if (!rgBatch_RowsFit(batch, rgBatchParameter_Name(parameter), values, count, rows.columnCount,
                         mask, diagnostics)) {
        return rg_errorArgument;
    }
    return count > 0 ? rgBatch_Visit(batch, mask, false, rgSetRow, &rows) : rg_ok;
}

typedef struct rgEachCall {
    rgWorldPolicyFcn* call;
    void* context;
} rgEachCall;

static void rgCallWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgEachCall* each = context;
    if (each->call(lane->world, i, 0, each->context) != rg_ok) {
        rgBatch_Stop(batch, i, rg_faultCallback);
    }
}

rgResult rgBatch_Each(rgBatch* batch, rgWorldPolicyFcn* call, void* context,
                      const rgWorldMask* mask) {
    rgEachCall each = {call, context};
    return call != NULL ? rgBatch_Visit(batch, mask, false, rgCallWorld, &each) : rg_errorArgument;
}
