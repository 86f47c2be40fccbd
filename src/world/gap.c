// Gaps at the ends of curved paths. Gaps are linear in the motion, but a turn by a quarter radian
// within the step, as after an impact, changes them by more than a plate is thick. There the gap
// between the material points of a contact at the end of the step counts, along the normal as
// either body carries it. gap.2.
#include "world/world.h"

#include <string.h>

static double rgContactSet_Thickness(const rgContactSet* contacts, int colliderA, int colliderB) {
    return RG_MIN(contacts->colliders[colliderA].thin, contacts->colliders[colliderB].thin);
}

// A body of radius r whose points travel by s turns by s/r, and its paths bend by s^2/2r.
bool rgContactSet_PairCurves(const rgContactSet* contacts, const rgPairMemory* pair) {
    const rgCollider *A = &contacts->colliders[pair->a], *B = &contacts->colliders[pair->b];
    double thin = rgContactSet_Thickness(contacts, pair->a, pair->b),
           radius = RG_MIN(A->radius, B->radius);
    double travel = RG_IMPACT_SPEED_RATIO * rgPairTravel(A, B); // step.4
    return travel * travel > 2 * radius * RG_CURVED_GAP_RATIO * thin;
}

// A link from where the step is computed to where the next one will be.
typedef struct rgTurn {
    rgVec3 origin, nextOrigin; // of the frame
    const rgRot *now, *next;
} rgTurn;

static rgTurn rgKinematics_LinkRotation(const rgKinematics* kinematics, const rgReadout* readout,
                                        int link) {
    const rgDynamics *d = kinematics->dynamics, *e = readout->start;
    return (rgTurn){rgAdd(rgDynamics_LinkOrigin(d, link), d->poses[link].p),
                    rgAdd(rgDynamics_LinkOrigin(e, link), e->poses[link].p), &d->poses[link].r,
                    &e->poses[link].r};
}

static rgVec3 rgTurn_Vector(const rgTurn* turn, rgVec3 x) {
    return rgRot_Apply(turn->next, rgRot_ApplyBack(turn->now, x));
}

static rgVec3 rgTurn_Point(const rgTurn* turn, rgVec3 x) {
    return rgAdd(turn->nextOrigin, rgTurn_Vector(turn, rgSub(x, turn->origin)));
}

// Correction of a point: gap at the ends of its paths less the gap that straight paths leave; zero
// where it is small.
static double rgPointGapCorrection(const rgWorld* world, const rgContactPoint* point) {
    rgTurn A = rgKinematics_LinkRotation(&world->kinematics, world->readout,
                                         world->contacts.colliders[point->colliderA].link);
    rgTurn B = rgKinematics_LinkRotation(&world->kinematics, world->readout,
                                         world->contacts.colliders[point->colliderB].link);
    rgVec3 n = point->normal, half = rgScale(0.5 * point->gap, n);
    rgVec3 apart = rgSub(rgTurn_Point(&B, rgAdd(point->position, half)),
                         rgTurn_Point(&A, rgSub(point->position, half)));
    double gap = RG_MIN(rgDot(rgTurn_Vector(&A, n), apart), rgDot(rgTurn_Vector(&B, n), apart));
    double correction = gap - rgContactSet_StraightGap(&world->contacts, &world->kinematics,
                                                       &world->settings, point);
    double thin = rgContactSet_Thickness(&world->contacts, point->colliderA, point->colliderB);
    return correction < -RG_CURVED_GAP_RATIO * thin ? correction : 0;
}

// Pose of a collider at the end of the step.
static rgPose rgKinematics_NextPose(const rgKinematics* kinematics, const rgReadout* readout,
                                    const rgCollider* collider) {
    if (collider->link == 0) {
        return collider->pose;
    }
    rgTurn turn = rgKinematics_LinkRotation(kinematics, readout, collider->link);
    rgMat3 now = rgMat3FromRot(turn.now), next = rgMat3FromRot(turn.next);
    rgQuat rotation = rgQuatMultiply(rgQuatFromMat3(&next), rgQuatConjugate(rgQuatFromMat3(&now)));
    return (rgPose){rgTurn_Point(&turn, collider->pose.p),
                    rgQuatMultiply(rotation, collider->pose.q)};
}

// Signed distance at the end of the step, on the side that the normal of a point is on: shapes that
// have passed each other, or are nearer to the way out on the other side, are deep.
static double rgContactSet_EndGap(const rgContactSet* contacts, const rgKinematics* kinematics,
                                  const rgReadout* readout, const rgContactPoint* point,
                                  rgProximity* end) {
    const rgCollider *A = &contacts->colliders[point->colliderA],
                     *B = &contacts->colliders[point->colliderB];
    rgPose a = rgKinematics_NextPose(kinematics, readout, A),
           b = rgKinematics_NextPose(kinematics, readout, B);
    rgVec3 axis = rgRotateBack(A->pose.q, point->normal);
    rgResult result = rgDistance(A->geometry, a, B->geometry, b, NULL, end);
    if (result == rg_ok && rgDot(end->normal, rgRotate(a.q, axis)) < 0) {
        rgPairCache cache = {.axis = axis, .touching = 1};
        result = rgDistance(A->geometry, a, B->geometry, b, &cache, end);
    }
    return result == rg_ok ? end->distance : INFINITY;
}

static bool rgCorrectSomeGaps(const rgWorld* world, int count, rgContactPoint* points) {
    bool changed = false;
    for (int i = 0; i < count; ++i) {
        rgContactPoint* point = &points[i];
        if (point->mayCurve && !point->rolls && !point->actsAtCenter) {
            double correction = rgPointGapCorrection(world, point) + point->manifoldCorrection;
            double thin =
                rgContactSet_Thickness(&world->contacts, point->colliderA, point->colliderB);
            changed =
                changed || fabs(correction - point->gapCorrection) > RG_CURVED_GAP_RATIO * thin;
            point->gapCorrection = correction;
        }
    }
    return changed;
}

// Body of a contact that turns faster: its centre of mass moves straight on, and so does the
// largest ball about it.
typedef struct rgFasterBody {
    rgVec3 center;
    double height;       // of the centre above the surface of the other body
    double speed;        // of its height
    double radius, turn; // of the ball; in the step [rad]
} rgFasterBody;

static rgFasterBody rgWorld_FasterBody(const rgWorld* world, const rgContactPoint* point) {
    const rgCollider *A = &world->contacts.colliders[point->colliderA],
                     *B = &world->contacts.colliders[point->colliderB];
    double spinA = rgLength(world->kinematics.linkVelocities[A->link].angular);
    double spinB = rgLength(world->kinematics.linkVelocities[B->link].angular);
    const rgCollider* faster = spinA > spinB ? A : B;
    rgTurn turn = rgKinematics_LinkRotation(&world->kinematics, world->readout, faster->link);
    bool moves = faster->link < world->model->linkCount;
    rgVec3 center = moves ? world->model->links[faster->link].center : rgVec(0, 0, 0);
    rgContactPoint at = *point;
    at.position = rgAdd(turn.origin, rgRot_Apply(turn.now, center));
    double height = rgDot(point->normal, rgSub(at.position, point->position));
    return (rgFasterBody){
        at.position, (faster == B ? height : -height) + 0.5 * point->gap,
        rgDot(point->normal, rgKinematics_PointVelocity(&world->kinematics, &world->contacts, &at)),
        faster->thin, world->settings.dt * RG_MAX(spinA, spinB)};
}

// Velocities at the ends of a needle that spins by radians in a step do not give the path of its
// middle: its only loaded point acts there. True: it does so from now on.
static bool rgActAtCenter(const rgWorld* world, int count, rgContactPoint* points) {
    const double* lambda = world->constraints.rows.lambda;
    rgContactPoint* loaded = NULL;
    for (int i = 0; i < count; ++i) {
        if (lambda[points[i].firstRow + 2] > 0) {
            if (loaded != NULL) {
                return false;
            }
            loaded = &points[i];
        }
    }
    if (loaded == NULL || loaded->actsAtCenter) {
        return false;
    }
    rgFasterBody body = rgWorld_FasterBody(world, loaded);
    double end = body.height + world->settings.dt * body.speed;
    if (end > 0 || body.turn < RG_CURVED_MOST_ANGLE) {
        return false;
    }
    loaded->position = body.center;
    loaded->actsAtCenter = true;
    loaded->gapCorrection = RG_MAX(body.height - body.radius, 0) - loaded->gap;
    return true;
}

// Correction of a pair: overlap of the shapes at the end that no point has goes to the nearest
// point.
static bool rgCorrectPairGaps(const rgContactSet* contacts, const rgKinematics* kinematics,
                              const rgReadout* readout, int count, rgContactPoint* points) {
    const rgCollider *A = &contacts->colliders[points->colliderA],
                     *B = &contacts->colliders[points->colliderB];
    double thin = RG_MIN(A->thin, B->thin);
    bool rolls = false;
    for (int i = 0; i < count; ++i) {
        rolls = rolls || points[i].rolls;
    }
    if (!points->mayCurve || rolls || !isfinite(RG_MAX(A->thin, B->thin))) {
        return false;
    }
    rgProximity end;
    double gap = rgContactSet_EndGap(contacts, kinematics, readout, points, &end);
    if (!(gap < -RG_CURVED_GAP_RATIO * thin)) {
        return false;
    }
    rgTurn turn = rgKinematics_LinkRotation(kinematics, readout, A->link);
    rgContactPoint* nearest = points;
    double least = INFINITY;
    for (int i = 0; i < count; ++i) {
        double away = rgLength(rgSub(rgTurn_Point(&turn, points[i].position), end.pointA));
        if (away < least && !points[i].actsAtCenter) {
            least = away;
            nearest = &points[i];
        }
    }
    if (nearest->actsAtCenter) {
        return false;
    }
    nearest->manifoldCorrection += gap;
    nearest->gapCorrection += gap;
    return true;
}

// Corrections of pairs with active points, then of those without.
static bool rgCorrectAllGaps(const rgWorld* world) {
    bool changed = false;
    int at = 0;
    for (int i = 0, count; i < world->contacts.pointCount; i += count) {
        rgContactPoint* points = &world->contacts.points[i];
        count = points->pointCount;
        changed = (points->mayCurve && rgActAtCenter(world, count, points)) ||
                  rgCorrectPairGaps(&world->contacts, &world->kinematics, world->readout, count,
                                    points) ||
                  changed;
    }
    for (int i = 0, end; i < world->contacts.inactiveCount; i = end) {
        int pair = world->contacts.inactive[i].pair;
        for (end = i + 1;
             end < world->contacts.inactiveCount && world->contacts.inactive[end].pair == pair;) {
            ++end;
        }
        while (at < world->contacts.pointCount && world->contacts.points[at].pair < pair) {
            ++at;
        }
        if (at == world->contacts.pointCount || world->contacts.points[at].pair != pair) {
            changed = rgCorrectPairGaps(&world->contacts, &world->kinematics, world->readout,
                                        end - i, &world->contacts.inactive[i]) ||
                      changed;
        }
    }
    return changed;
}

// Place all links where the next step is computed, at a velocity.
static void rgWorld_PlaceEnds(rgWorld* world, const double* v) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        double time = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                             world->model->trees[t].firstLink, 0);
        rgKinematics_IntegrateTree(&world->kinematics, t, world->kinematics.q, v, time,
                                   world->next.q);
    }
    rgKinematics_PlaceAhead(&world->kinematics, world->settings.dt, world->readout->start);
    rgDynamics_SetPositions(world->readout->start, world->next.q); // readers come after the step
}

bool rgWorld_CorrectGaps(rgWorld* world, const double* v, int round) {
    if (!world->contacts.mayCurve || round > RG_REVISE_PASSES) {
        return false;
    }
    rgWorld_PlaceEnds(world, v);
    bool corrected = rgCorrectSomeGaps(world, world->contacts.pointCount, world->contacts.points);
    corrected = rgCorrectSomeGaps(world, world->contacts.inactiveCount, world->contacts.inactive) ||
                corrected;
    return rgCorrectAllGaps(world) || corrected;
}

// ---- rolling

static rgVec3 rgDynamics_PointRate(const rgDynamics* d, int link, rgVec3 position) {
    const rgSpatial* V = &d->velocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(d, link));
    return rgAdd(V->linear, rgCross(V->angular, arm));
}

static double rgContactSet_PairTurn(const rgContactSet* contacts, const rgKinematics* kinematics,
                                    double dt, const rgContactPoint* point) {
    const rgSpatial* V = kinematics->dynamics->velocities;
    rgVec3 a = V[contacts->colliders[point->colliderA].link].angular;
    rgVec3 b = V[contacts->colliders[point->colliderB].link].angular;
    return dt * rgLength(rgSub(b, a));
}

// True for free bodies, kinematic ones and the world: links of robots roll for a moment only.
static bool rgKinematics_IsWhole(const rgKinematics* kinematics, const rgCollider* collider) {
    int link = collider->link, tree = kinematics->dynamics->model->links[link].tree;
    return link >= kinematics->dynamics->model->linkCount || tree < 0 ||
           kinematics->isFreeBody[tree];
}

// True if neither the path of a round body is curved nor its nearest point moves on it: a ball that
// turns about its centre on a static flat.
static bool rgRollsStraight(const rgModel* model, const rgCollider* ball, const rgCollider* flat) {
    const rgPlace* place = &model->shapePlaces[ball->shape];
    rgVec3 off = rgSub(place->pose.p, model->links[ball->link].center);
    rgShapeKind kind = rgGeometry_Kind(flat->geometry);
    return rgGeometry_Kind(ball->geometry) == rg_shapeSphere && flat->link == 0 &&
           (kind == rg_shapePlane || kind == rg_shapeBox) && rgLengthSquared(off) == 0;
}

static bool rgIsRound(rgShapeKind kind) {
    return kind == rg_shapeSphere || kind == rg_shapeCapsule || kind == rg_shapeCylinder ||
           kind == rg_shapeEllipsoid;
}

// Corners do not roll.
static bool rgMayRoll(const rgModel* model, const rgCollider* A, const rgCollider* B) {
    rgShapeKind a = rgGeometry_Kind(A->geometry), b = rgGeometry_Kind(B->geometry);
    return (rgIsRound(a) || rgIsRound(b)) && RG_MAX(a, b) < rg_shapeHeightField &&
           !rgRollsStraight(model, A, B) && !rgRollsStraight(model, B, A);
}

static int rgContactSet_TreeOf(const rgContactSet* contacts, const rgModel* model, int collider) {
    int link = contacts->colliders[collider].link;
    return link < model->linkCount ? model->links[link].tree : -1;
}

// True if the point was loaded in the last step. A point that is only near has no impulse.
static bool rgWarmStart_WasLoaded(const rgWarmStart* warmStart, const rgContactPoint* point) {
    const rgContactMemory* memory = rgWarmStart_ContactMemory(warmStart, point);
    return memory != NULL && rgDot(memory->linear, point->normal) > 0;
}

static void rgContactSet_CountTouches(const rgContactSet* contacts, const rgWarmStart* warmStart,
                                      const rgModel* model) {
    memset(contacts->treeContacts, 0, (size_t)model->treeCount * sizeof(int));
    for (int i = 0; i < contacts->pointCount; ++i) {
        const rgContactPoint* point = &contacts->points[i];
        int a = rgContactSet_TreeOf(contacts, model, point->colliderA),
            b = rgContactSet_TreeOf(contacts, model, point->colliderB);
        if (!rgWarmStart_WasLoaded(warmStart, point)) {
            continue;
        }
        if (a >= 0) {
            contacts->treeContacts[a] += 1;
        }
        if (b >= 0) {
            contacts->treeContacts[b] += 1;
        }
    }
}

static bool rgContactSet_IsSpring(const rgContactSet* contacts, const rgWorldDef* def,
                                  const rgModel* model, const rgContactPoint* point) {
    const rgShapeDef* shapes = model->shapes;
    const rgCollider *A = &contacts->colliders[point->colliderA],
                     *B = &contacts->colliders[point->colliderB];
    if (model->pairCount == 0 && def->stiffness == 0 && shapes[A->shape].material.stiffness == 0 &&
        shapes[B->shape].material.stiffness == 0) {
        return false;
    }
    return rgContactSet_Material(contacts, def, model, point).stiffness > 0;
}

// Trees on springs alone: their forces are continuous, so that the last steps predict the next.
static void rgContactSet_FindSprings(const rgContactSet* contacts, const rgWorldDef* def,
                                     const rgModel* model) {
    for (int t = 0; t < model->treeCount; ++t) {
        contacts->treeSprings[t] = contacts->treeContacts[t] > 0;
    }
    for (int i = 0; i < contacts->pointCount; i += contacts->points[i].pointCount) {
        const rgContactPoint* point = &contacts->points[i];
        int a = rgContactSet_TreeOf(contacts, model, point->colliderA),
            b = rgContactSet_TreeOf(contacts, model, point->colliderB);
        bool any = (a >= 0 && contacts->treeSprings[a]) || (b >= 0 && contacts->treeSprings[b]);
        if (any && !rgContactSet_IsSpring(contacts, def, model, point)) {
            if (a >= 0) {
                contacts->treeSprings[a] = false;
            }
            if (b >= 0) {
                contacts->treeSprings[b] = false;
            }
        }
    }
}

// True if the contact is the only one of both bodies.
static bool rgContactSet_TouchesOnce(const rgContactSet* contacts, const rgModel* model,
                                     const rgContactPoint* point) {
    int a = rgContactSet_TreeOf(contacts, model, point->colliderA),
        b = rgContactSet_TreeOf(contacts, model, point->colliderB);
    return (a < 0 || contacts->treeContacts[a] == 1) && (b < 0 || contacts->treeContacts[b] == 1);
}

// Arm from the centre of mass of a body to its contact point.
static rgVec3 rgKinematics_TouchArm(const rgKinematics* kinematics, const rgReadout* readout,
                                    int link, rgVec3 position) {
    const rgModel* model = kinematics->dynamics->model;
    if (link >= model->linkCount || model->links[link].tree < 0) {
        return rgVec(INFINITY, 0, 0);
    }
    rgTurn turn = rgKinematics_LinkRotation(kinematics, readout, link);
    rgVec3 center = rgRot_Apply(turn.now, model->links[link].center);
    return rgSub(rgSub(position, turn.origin), center);
}

// Arm from the centre of mass of a link to a point fixed to it, at the end of the step.
static rgVec3 rgKinematics_EndArm(const rgKinematics* kinematics, const rgReadout* readout,
                                  int link, rgVec3 position) {
    rgTurn turn = rgKinematics_LinkRotation(kinematics, readout, link);
    rgVec3 center = rgRot_Apply(turn.next, kinematics->dynamics->model->links[link].center);
    return rgSub(rgSub(position, turn.nextOrigin), center);
}

// Link of the body whose centre of mass is nearer to the contact point, with that distance.
static int rgContactSet_RollingLink(const rgContactSet* contacts, const rgKinematics* kinematics,
                                    const rgReadout* readout, const rgContactPoint* point,
                                    double* arm) {
    const rgCollider* colliders = contacts->colliders;
    int links[2] = {colliders[point->colliderA].link, colliders[point->colliderB].link};
    double a = rgLength(rgKinematics_TouchArm(kinematics, readout, links[0], point->position));
    double b = rgLength(rgKinematics_TouchArm(kinematics, readout, links[1], point->position));
    *arm = RG_MIN(a, b);
    return links[a < b ? 0 : 1];
}

// A single point that was loaded in the last step; a path with an impact is no rolling.
static bool rgWorld_ContactRolls(const rgWorld* world, const rgContactPoint* point) {
    const rgCollider *A = &world->contacts.colliders[point->colliderA],
                     *B = &world->contacts.colliders[point->colliderB];
    double turn = rgContactSet_PairTurn(&world->contacts, &world->kinematics, world->settings.dt,
                                        point),
           arm, slow = RG_REST_RATIO * rgLength(world->settings.gravity);
    rgContactSet_RollingLink(&world->contacts, &world->kinematics, world->readout, point, &arm);
    if (!rgContactSet_TouchesOnce(&world->contacts, world->model, point) ||
        world->warmStart.memories[1].pairs[point->pair].overlap ||
        !(turn * turn * arm > world->settings.dt * world->settings.dt * slow) ||
        !rgMayRoll(world->model, A, B) || !rgKinematics_IsWhole(&world->kinematics, A) ||
        !rgKinematics_IsWhole(&world->kinematics, B)) {
        return false;
    }
    return rgWarmStart_WasLoaded(&world->warmStart, point);
}

static void rgContactSet_SetRolling(const rgContactSet* contacts, const rgModel* model,
                                    int collider, bool rolls) {
    int tree = rgContactSet_TreeOf(contacts, model, collider);
    if (tree >= 0) {
        contacts->treeRolls[tree] = rolls;
    }
}

// gap.1: Nearest points of the surfaces at the predicted end of the step: gapCorrection is the gap
// there less the gap of straight paths, curvatureSlip half of the change of the slip.
static void rgWorld_RollContact(const rgWorld* world, rgContactPoint* point) {
    const rgDynamics* e = world->readout->start;
    const rgCollider *A = &world->contacts.colliders[point->colliderA],
                     *B = &world->contacts.colliders[point->colliderB];
    double turn = rgContactSet_PairTurn(&world->contacts, &world->kinematics, world->settings.dt,
                                        point),
           arm;
    int link =
        rgContactSet_RollingLink(&world->contacts, &world->kinematics, world->readout, point, &arm);
    double most = RG_ROLLING_GAP_RATIO * turn * turn * arm;
    double closes =
        rgContactSet_StraightGap(&world->contacts, &world->kinematics, &world->settings, point) -
        point->gap;
    rgProximity now, end;
    if (!(fabs(point->gap) + fabs(closes) < most) ||
        rgDistance(A->geometry, A->pose, B->geometry, B->pose, NULL, &now) != rg_ok ||
        rgDistance(A->geometry, rgKinematics_NextPose(&world->kinematics, world->readout, A),
                   B->geometry, rgKinematics_NextPose(&world->kinematics, world->readout, B), NULL,
                   &end) != rg_ok) {
        return;
    }
    double correction = end.distance - now.distance - closes;
    double runs = rgLength(
        rgSub(rgKinematics_EndArm(&world->kinematics, world->readout, link, end.pointB),
              rgKinematics_TouchArm(&world->kinematics, world->readout, link, now.pointB)));
    if (fabs(correction) < most && runs < RG_ROLLING_RUN_RATIO * arm) {
        rgVec3 middle = rgScale(0.5, rgAdd(end.pointA, end.pointB));
        rgVec3 next = rgSub(rgDynamics_PointRate(e, B->link, middle),
                            rgDynamics_PointRate(e, A->link, middle));
        point->manifoldCorrection = point->gapCorrection = correction;
        point->curvatureSlip = rgScale(
            0.5,
            rgSub(next, rgKinematics_PointVelocity(&world->kinematics, &world->contacts, point)));
        point->rolls = true;
        rgContactSet_SetRolling(&world->contacts, world->model, point->colliderA, true);
        rgContactSet_SetRolling(&world->contacts, world->model, point->colliderB, true);
    }
}

void rgWorld_FindRolling(rgWorld* world) {
    bool isPlaced = false;
    memset(world->contacts.treeRolls, 0, (size_t)world->model->treeCount * sizeof(bool));
    rgContactSet_CountTouches(&world->contacts, &world->warmStart, world->model);
    rgContactSet_FindSprings(&world->contacts, &world->def, world->model);
    for (int i = 0;
         i < world->contacts.pointCount && world->settings.integrator != rg_integratorEuler; ++i) {
        if (!rgWorld_ContactRolls(world, &world->contacts.points[i])) {
            continue;
        }
        if (!isPlaced) {
            for (int k = 0; k < world->model->vCount; ++k) {
                world->next.v[k] = world->kinematics.v[k] + 2 * world->kinematics.predictor[k];
            }
            rgKinematics_SetLinkVelocities(&world->kinematics, world->next.v);
            rgWorld_PlaceEnds(world, world->next.v);
            rgKinematics_TransformVelocity(&world->kinematics, world->kinematics.q, world->next.q,
                                           world->next.v);
            rgDynamics_SetState(world->readout->start, world->next.q, world->next.v);
            isPlaced = true;
        }
        rgWorld_RollContact(world, &world->contacts.points[i]);
    }
}

void rgContactSet_StopRolling(const rgContactSet* contacts, const rgModel* model,
                              rgContactPoint* point) {
    point->rolls = false;
    point->manifoldCorrection = point->gapCorrection = 0;
    point->curvatureSlip = rgVec(0, 0, 0);
    rgContactSet_SetRolling(contacts, model, point->colliderA, false);
    rgContactSet_SetRolling(contacts, model, point->colliderB, false);
}

// True if another point of its bodies is loaded.
static bool rgContactSet_HasOtherLoad(const rgContactSet* contacts,
                                      const rgConstraintSet* constraints, const rgModel* model,
                                      const rgContactPoint* rolling) {
    int a = rgContactSet_TreeOf(contacts, model, rolling->colliderA),
        b = rgContactSet_TreeOf(contacts, model, rolling->colliderB);
    for (int i = 0; i < contacts->pointCount; ++i) {
        const rgContactPoint* point = &contacts->points[i];
        int c = rgContactSet_TreeOf(contacts, model, point->colliderA),
            d = rgContactSet_TreeOf(contacts, model, point->colliderB);
        bool shares = (c >= 0 && (c == a || c == b)) || (d >= 0 && (d == a || d == b));
        if (shares && point != rolling && constraints->rows.lambda[point->firstRow + 2] > 0) {
            return true;
        }
    }
    return false;
}

bool rgContactSet_ReviseRolling(rgContactSet* contacts, const rgConstraintSet* constraints,
                                const rgModel* model) {
    bool any = false;
    for (int i = 0; i < contacts->pointCount; ++i) {
        rgContactPoint* point = &contacts->points[i];
        if (point->rolls && (!(constraints->rows.lambda[point->firstRow + 2] > 0) ||
                             rgContactSet_HasOtherLoad(contacts, constraints, model, point))) {
            rgContactSet_StopRolling(contacts, model, point);
            any = true;
        }
    }
    return any;
}
