// The new state from the impulses. step.12, step.13-14.
#include "math/triple.h"
#include "world/project.h"

#include <string.h>

bool rgAllFinite(const double* x, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * 0;
    }
    return sum == 0;
}

// step.12: v+ = v_free + M^^-1 J' lambda
static void rgConstraintSet_NextVelocity(const rgConstraintSet* constraints,
                                         const rgKinematics* kinematics, const rgFreeMotion* motion,
                                         double* v) {
    const rgRows* rows = &constraints->rows;
    int nv = kinematics->dynamics->model->vCount;
    const double* W = constraints->whitened;
    memset(v, 0, (size_t)nv * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        int r = rows->blocks[b].firstRow, end = r + rows->blocks[b].rowCount;
        const double* lambda = rows->lambda + r;
        if (rows->blocks[b].kind == rg_blockCoulomb) { // its rows have the same columns
            int begin = rows->rowStart[r];
            if (lambda[0] != 0 || lambda[1] != 0 || lambda[2] != 0) {
                rgPushTriple(rgRows_Columns(rows, r), rows->column + begin, W + begin, lambda, v);
            }
            r += 3;
        }
        for (; r < end; ++r) {
            double push = rows->lambda[r];
            for (int k = rows->rowStart[r]; push != 0 && k < rows->rowStart[r + 1]; ++k) {
                v[rows->column[k]] += W[k] * push;
            }
        }
    }
    if (rows->rowCount > 0) {
        rgDynamics_Unwhiten(kinematics->dynamics, v);
    }
    for (int i = 0; i < nv; ++i) {
        v[i] += motion->v[i];
    }
}

rgResult rgUpdateVelocity(rgStep* step) {
    rgWorld* world = step->world;
    rgConstraintSet_NextVelocity(&world->constraints, &world->kinematics, &world->free,
                                 world->next.v);
    return rgAllFinite(world->next.v, world->model->vCount) ? rg_ok : rg_errorNumeric;
}

// Impulses, anchors and forces of actuators of the last pass.
rgResult rgStoreContactState(rgStep* step) {
    rgWorld* world = step->world;
    const rgRows* rows = &world->constraints.rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].kind == rg_constraintActuator) {
            world->transmission.actuatorForce[rows->sources[r].index] =
                rows->lambda[r] / world->settings.dt;
        }
    }
    step->report->regularizedRows =
        rgConstraintSet_MarkRegularized(&world->constraints, &world->contacts);
    rgResult result = rgWorld_TransportFast(world);
    if (result != rg_ok) {
        return result;
    }
    return rgWorld_StoreImpulses(world);
}

static void rgTurnQuat(const double* q, const double* rate, double time, double* out) {
    rgVec3 turn = rgScale(time, rgVec(rate[0], rate[1], rate[2]));
    rgQuat next = rgQuatNormalize(
        rgQuatMultiply((rgQuat){q[0], q[1], q[2], q[3]}, rgQuatFromRotationVector(turn)));
    out[0] = next.w, out[1] = next.x, out[2] = next.y, out[3] = next.z;
}

static rgVec3 rgTurned(const double* quat, rgVec3 x) {
    return rgRotate((rgQuat){quat[0], quat[1], quat[2], quat[3]}, x);
}

// step.13: The centre of mass goes straight on, the body turns about it.
static void rgMoveFree(const rgLink* link, bool aboutCenter, const double* q, const double* v,
                       double time, double* out) {
    rgVec3 velocity = rgVec(v[0], v[1], v[2]), offset = rgVec(0, 0, 0);
    double rotation[4];
    rgTurnQuat(q + 3, v + 3, time, rotation);
    bool centered = link->center.x == 0 && link->center.y == 0 && link->center.z == 0;
    if (aboutCenter && !centered) {
        rgVec3 c = rgTurned(q + 3, link->center);
        rgVec3 w = rgTurned(q + 3, rgVec(v[3], v[4], v[5]));
        velocity = rgAdd(velocity, rgCross(w, c));
        offset = rgSub(c, rgTurned(rotation, link->center));
    }
    out[0] = q[0] + (time * velocity.x + offset.x);
    out[1] = q[1] + (time * velocity.y + offset.y);
    out[2] = q[2] + (time * velocity.z + offset.z);
    memcpy(out + 3, rotation, sizeof(rotation));
}

static void rgKinematics_IntegrateLinks(const rgKinematics* kinematics, int first, int end,
                                        const double* q, const double* v, double time,
                                        double* next) {
    const rgModel* model = kinematics->dynamics->model;
    for (int i = first; i < end; ++i) {
        const rgLink* link = &model->links[i];
        const double *from = q + link->q, *rate = v + link->v;
        double* out = next + link->q;
        if (link->kind == rg_linkSpherical) {
            rgTurnQuat(from, rate, time, out);
        } else if (link->kind == rg_linkFree) {
            rgMoveFree(link, kinematics->isFreeBody[link->tree], from, rate, time, out);
        } else {
            out[0] = from[0] + time * rate[0];
        }
    }
}

void rgKinematics_Integrate(const rgKinematics* kinematics, const double* q, const double* v,
                            double time, double* next) {
    rgKinematics_IntegrateLinks(kinematics, 1, kinematics->dynamics->model->linkCount, q, v, time,
                                next);
}

void rgKinematics_IntegrateTree(const rgKinematics* kinematics, int tree, const double* q,
                                const double* v, double time, double* next) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    rgKinematics_IntegrateLinks(kinematics, range->firstLink, range->firstLink + range->linkCount,
                                q, v, time, next);
}

// step.14: While a free body turns, the velocity of its centre stays, that of its origin does not.
void rgKinematics_TransformVelocity(const rgKinematics* kinematics, const double* from,
                                    const double* to, double* v) {
    const rgModel* model = kinematics->dynamics->model;
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        const rgVec3 c = link->center;
        if (!kinematics->isFreeBody[t] || (c.x == 0 && c.y == 0 && c.z == 0)) {
            continue;
        }
        double* out = v + link->v;
        rgVec3 swing = rgCross(rgVec(out[3], out[4], out[5]), c);
        rgVec3 change =
            rgSub(rgTurned(from + link->q + 3, swing), rgTurned(to + link->q + 3, swing));
        out[0] += change.x, out[1] += change.y, out[2] += change.z;
    }
}

rgResult rgIntegratePositions(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    for (int t = 0; t < model->treeCount; ++t) {
        if (world->fast.substeps[t] == 1) { // otherwise it is there
            double rest = world->settings.dt - world->kinematics.driftTime[t];
            rgKinematics_IntegrateTree(&world->kinematics, t, world->kinematics.q, world->next.endV,
                                       rest, world->next.q);
        }
    }
    return rgAllFinite(world->next.q, model->qCount) ? rg_ok : rg_errorNumeric;
}

// step.14 at q+ as the projection leaves it, which turns bodies but neither their momentum nor that
// of a frame in which all this moves.
rgResult rgUpdateBodyVelocity(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    memcpy(world->next.bodyV, world->next.endV, (size_t)model->vCount * sizeof(double));
    rgKinematics_TransformVelocity(&world->kinematics, world->kinematics.q, world->next.q,
                                   world->next.bodyV);
    rgModel_BodyVelocity(model, world->next.q, world->next.bodyV, world->next.bodyV);
    return rgUpdateFastVelocity(world);
}

// step.14 inverted: from the velocity at the end of the step to step coordinates at its start, by
// the motion of the projection as far as it is known. Ends of fast trees are not known yet.
void rgWorld_StepVelocityAfter(const rgWorld* world, double* v) {
    const rgModel* model = world->model;
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        if (link->kind != rg_linkFree || world->fast.isFast[t]) {
            continue;
        }
        const double* old = world->kinematics.q + link->q + 3;
        double* out = v + link->v;
        double rotation[4];
        rgTurnQuat(old, out + 3, world->settings.dt - world->kinematics.driftTime[t], rotation);
        rgTurnQuat(rotation, world->projection->moved + link->v + 3, 1, rotation);
        rgVec3 linear = rgTurned(rotation, rgVec(out[0], out[1], out[2]));
        if (world->kinematics.isFreeBody[t]) {
            rgVec3 w = rgVec(out[3], out[4], out[5]);
            linear = rgAdd(linear, rgTurned(rotation, rgCross(w, link->center)));
            linear = rgSub(linear, rgTurned(old, rgCross(w, link->center)));
        }
        out[0] = linear.x, out[1] = linear.y, out[2] = linear.z;
    }
}

// Rates of joints that turn freely, from axes of the body to those of its parent or back: in axes
// of the parent they change steadily, in those of a spinning body they do not.
void rgKinematics_TurnRates(const rgKinematics* kinematics, double* v, bool out) {
    const rgModel* model = kinematics->dynamics->model;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->kind == rg_linkSpherical || link->kind == rg_linkFree) {
            const double* q = kinematics->q + link->q + (link->kind == rg_linkFree ? 3 : 0);
            double* w = v + link->v + link->vCount - 3;
            rgQuat turn = {q[0], q[1], q[2], q[3]};
            rgVec3 rate = rgVec(w[0], w[1], w[2]);
            rate = out ? rgRotate(turn, rate) : rgRotateBack(turn, rate);
            w[0] = rate.x, w[1] = rate.y, w[2] = rate.z;
        }
    }
}

// free.5: Of the last two changes the smaller, where they point the same way: impacts and jitter do
// not predict the next step.
void rgPredictChange(const double* last, const double* now, int count, double* predictor) {
    double both = 0, a = 0, b = 0;
    for (int k = 0; k < count; ++k) {
        both += last[k] * now[k];
        a += last[k] * last[k];
        b += now[k] * now[k];
    }
    for (int k = 0; k < count; ++k) {
        predictor[k] = both > 0 ? 0.5 * (a < b ? last[k] : now[k]) : 0;
    }
}

void rgWorld_FindChange(const rgWorld* world, double* change) {
    for (int i = 0; i < world->model->vCount; ++i) {
        change[i] = world->next.endV[i] - world->kinematics.v[i];
    }
    rgKinematics_TurnRates(&world->kinematics, change, true);
}

void rgWorld_FindTrend(rgWorld* world, double* last, double* predictor) {
    const rgModel* model = world->model;
    if (world->settings.integrator == rg_integratorEuler) {
        return;
    }
    rgWorld_FindChange(world, world->kinematics.scratch);
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        int first = link->v, count = link->vCount;
        rgPredictChange(last + first, world->kinematics.scratch + first, RG_MIN(count, 3),
                        predictor + first);
        if (count > 3) {
            rgPredictChange(last + first + 3, world->kinematics.scratch + first + 3, 3,
                            predictor + first + 3);
        }
    }
    memcpy(last, world->kinematics.scratch, (size_t)model->vCount * sizeof(double));
}

void rgWorld_CommitPredictor(rgWorld* world) {
    rgWorld_FindTrend(world, world->state.change, world->state.predictor);
    if (world->settings.integrator != rg_integratorEuler) {
        memset(world->state.isSet, 0, (size_t)world->model->treeCount * sizeof(double));
    }
}

bool rgNext_Create(rgNext* next, rgHeap* heap, const rgModel* model) {
    int nv = model->vCount;
    int nq = model->qCount;
    bool good = true;
    next->endV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    next->v = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    next->q = rgHeap_Allocate(heap, nq, sizeof(double), &good);
    next->bodyV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    return good;
}
