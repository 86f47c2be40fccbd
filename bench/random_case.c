#include "random_case.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* const rgRandomKindNames[rg_randomKindCount] = {"chain", "pile", "stack", "any"};

enum { rg_maxBodies = 24, rg_maxTouches = 72, rg_maxOthers = 6, rg_world = -1 };

typedef struct rgV3 {
    double x, y, z;
} rgV3;

static rgV3 rgSum(rgV3 a, rgV3 b) {
    return (rgV3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static rgV3 rgTimes(double s, rgV3 a) {
    return (rgV3){s * a.x, s * a.y, s * a.z};
}

static rgV3 rgFromTo(rgV3 a, rgV3 b) {
    return (rgV3){b.x - a.x, b.y - a.y, b.z - a.z};
}

static double rgDot(rgV3 a, rgV3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static rgV3 rgCross(rgV3 a, rgV3 b) {
    return (rgV3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double rgLength(rgV3 a) {
    return sqrt(rgDot(a, a));
}

static rgV3 rgUnit(rgV3 a) {
    return rgTimes(1 / rgLength(a), a);
}

static rgV3 rgRandomVector(rgRandom* random, double size) {
    double x = rgRandom_Uniform(random, -size, size);
    double y = rgRandom_Uniform(random, -size, size);
    return (rgV3){x, y, rgRandom_Uniform(random, -size, size)};
}

static bool rgHappens(rgRandom* random, double chance) {
    return rgRandom_Uniform(random, 0, 1) < chance;
}

// Bodies of size one. Those of a cluster move together as one rigid body, so that their contacts
// stick; cluster 0 is at rest like the world.
typedef struct rgBall {
    rgV3 centre;
    double mass;
    rgV3 inertia; // along the world's axes
    int cluster;
} rgBall;

// Contact from body a (or the world) to body b. `load` is the normal impulse that the bodies above
// require, beyond what the contact's own mass would.
typedef struct rgTouch {
    int a, b;
    rgV3 point, normal;
    double load;
} rgTouch;

typedef struct rgScenery {
    rgBall bodies[rg_maxBodies];
    int bodyCount;
    rgV3 linear[rg_maxBodies], angular[rg_maxBodies]; // velocities of clusters
    int clusterCount;
    rgTouch touches[rg_maxTouches];
    int touchCount;
} rgScenery;

static void rgAddBody(rgScenery* s, rgRandom* random, rgV3 centre, double massDecades) {
    double mass = pow(10, rgRandom_Uniform(random, -0.5, 0.5) * massDecades);
    rgV3 spread = rgRandomVector(random, 0.5);
    s->bodies[s->bodyCount++] =
        (rgBall){.centre = centre,
                 .mass = mass,
                 .inertia = rgTimes(0.1 * mass, (rgV3){1 + spread.x, 1 + spread.y, 1 + spread.z})};
}

static void rgAddTouch(rgScenery* s, int a, int b, rgV3 point, rgV3 normal) {
    if (s->touchCount < rg_maxTouches) {
        s->touches[s->touchCount++] =
            (rgTouch){.a = a, .b = b, .point = point, .normal = rgUnit(normal)};
    }
}

// Chain of bodies with one to three points between neighbours; the first body touches the world,
// others may.
static void rgBuildChain(rgScenery* s, rgRandom* random, double massDecades) {
    int count = 1 + rgRandom_Index(random, 20);
    rgV3 along = rgUnit(rgSum(rgRandomVector(random, 0.7), (rgV3){0, 0, 1}));
    double bend = rgHappens(random, 0.5) ? 0 : 0.5;
    for (int i = 0; i < count; ++i) {
        rgAddBody(s, random, rgTimes(i + 1, along), massDecades);
        int points = bend == 0 ? 1 : 1 + rgRandom_Index(random, 3);
        for (int k = 0; k < points; ++k) {
            rgV3 middle = rgSum(rgTimes(i + 0.5, along), rgRandomVector(random, bend));
            rgAddTouch(s, i - 1, i, middle, rgSum(along, rgRandomVector(random, bend)));
        }
        if (rgHappens(random, 0.15)) {
            rgV3 normal = rgRandomVector(random, 1);
            rgV3 point = rgSum(s->bodies[i].centre, rgTimes(-0.5, rgUnit(normal)));
            rgAddTouch(s, rg_world, i, point, normal);
        }
    }
}

static void rgTouchFloor(rgScenery* s, int body) {
    rgV3 point = s->bodies[body].centre;
    point.z -= 0.5;
    rgAddTouch(s, rg_world, body, point, (rgV3){0, 0, 1});
}

// Neighbours touch where they are near; who has none below stands on the floor.
static void rgBuildPile(rgScenery* s, rgRandom* random, double massDecades) {
    int count = 2 + rgRandom_Index(random, rg_maxBodies - 1);
    double reach = 0.55 * cbrt(count);
    for (int i = 0; i < count; ++i) {
        rgV3 centre = rgRandomVector(random, reach);
        bool below = false;
        for (int j = 0; j < i; ++j) {
            rgV3 normal = rgFromTo(s->bodies[j].centre, centre);
            double distance = rgLength(normal);
            if (distance < 1.1 && distance > 0.1) {
                rgAddTouch(s, j, i, rgTimes(0.5, rgSum(s->bodies[j].centre, centre)), normal);
                below = below || normal.z > 0;
            }
        }
        rgAddBody(s, random, centre, massDecades);
        if (!below || rgHappens(random, 0.2)) {
            rgTouchFloor(s, i);
        }
    }
}

// Corners of the lower face, and more points in between at times. Every interface carries what
// stands on it, in the same shares, so that light bodies below heavy ones are in balance.
static void rgBuildStack(rgScenery* s, rgRandom* random, double massDecades) {
    int count = 1 + rgRandom_Index(random, 12);
    int points = 4 + (rgHappens(random, 0.3) ? rgRandom_Index(random, 3) : 0);
    rgV3 offset[6];
    double share[6], total = 0;
    for (int k = 0; k < points; ++k) {
        offset[k] = k < 4 ? (rgV3){k % 2 - 0.5, k / 2 - 0.5, -0.5} : rgRandomVector(random, 0.5);
        offset[k].z = -0.5;
        share[k] = rgRandom_Uniform(random, 0.5, 1.5);
        total += share[k];
    }
    for (int i = 0; i < count; ++i) {
        rgAddBody(s, random, (rgV3){0, 0, i + 0.5}, massDecades);
        for (int k = 0; k < points; ++k) {
            rgAddTouch(s, i - 1, i, rgSum(s->bodies[i].centre, offset[k]), (rgV3){0, 0, 1});
            s->touches[s->touchCount - 1].load = share[k] / total;
        }
    }
    double above = 0;
    for (int t = s->touchCount - 1; t >= 0; --t) {
        above += (t + 1) % points == 0 ? s->bodies[s->touches[t].b].mass : 0;
        s->touches[t].load *= above;
    }
}

static void rgChooseMotion(rgScenery* s, rgRandom* random) {
    s->clusterCount = 1 + rgRandom_Index(random, 4);
    for (int c = 1; c < s->clusterCount; ++c) {
        s->linear[c] = rgRandomVector(random, 1);
        s->angular[c] = rgRandomVector(random, 1);
    }
    for (int i = 0; i < s->bodyCount; ++i) {
        s->bodies[i].cluster = rgRandom_Index(random, s->clusterCount);
    }
}

static int rgClusterOf(const rgScenery* s, int body) {
    return body == rg_world ? 0 : s->bodies[body].cluster;
}

// Velocity of b relative to a at a point, and of rotation.
static rgV3 rgSlipOf(const rgScenery* s, const rgTouch* t) {
    int a = rgClusterOf(s, t->a), b = rgClusterOf(s, t->b);
    rgV3 turn = rgFromTo(s->angular[a], s->angular[b]);
    return rgSum(rgFromTo(s->linear[a], s->linear[b]), rgCross(turn, t->point));
}

static rgV3 rgTurnOf(const rgScenery* s, const rgTouch* t) {
    return rgFromTo(s->angular[rgClusterOf(s, t->a)], s->angular[rgClusterOf(s, t->b)]);
}

// ---- numbers of the problem ----

static void rgFillMasses(rgContactCase* made, const rgScenery* s) {
    for (int row = 0; row <= made->nv; ++row) {
        made->Mstart[row] = 6 * row;
    }
    for (int row = 0; row < made->nv; ++row) {
        const rgBall* body = &s->bodies[row / 6];
        const double inertia[3] = {body->inertia.x, body->inertia.y, body->inertia.z};
        int i = row % 6;
        for (int j = 0; j < 6; ++j) {
            made->Mcolumn[6 * row + j] = row - i + j;
            made->Mvalue[6 * row + j] = i != j ? 0 : i < 3 ? body->mass : inertia[i - 3];
        }
    }
}

// A row that measures the velocity of b minus that of a along an axis at a point, or the rotation
// about the axis.
static void rgWriteRow(rgContactCase* made, const rgScenery* s, const rgTouch* t, int row,
                       rgV3 axis, bool rotation) {
    int at = made->Jstart[row];
    const int ends[2] = {t->a < t->b ? t->a : t->b, t->a < t->b ? t->b : t->a};
    for (int e = 0; e < 2; ++e) {
        if (ends[e] == rg_world) {
            continue;
        }
        rgV3 d = rgTimes(ends[e] == t->b ? 1 : -1, axis);
        rgV3 arm = rgCross(rgFromTo(s->bodies[ends[e]].centre, t->point), d);
        const double values[6] = {d.x, d.y, d.z, arm.x, arm.y, arm.z};
        const double turns[6] = {0, 0, 0, d.x, d.y, d.z};
        for (int c = 0; c < 6; ++c) {
            made->Jcolumn[at] = 6 * ends[e] + c;
            made->Jvalue[at++] = rotation ? turns[c] : values[c];
        }
    }
    made->Jstart[row + 1] = at;
}

// Axes t1, t2, n. Where contacts turn, t1 is the axis of rolling.
static void rgFrameOf(const rgScenery* s, const rgTouch* t, bool rolls, rgV3 axes[3]) {
    rgV3 turn = rgTurnOf(s, t);
    rgV3 start = rolls && rgLength(rgCross(turn, t->normal)) > 1e-3 ? turn
                 : fabs(t->normal.x) < 0.7                          ? (rgV3){1, 0, 0}
                                                                    : (rgV3){0, 1, 0};
    axes[2] = t->normal;
    axes[0] = rgUnit(rgSum(start, rgTimes(-rgDot(start, axes[2]), axes[2])));
    axes[1] = rgCross(axes[2], axes[0]);
}

static void rgWriteTouch(rgContactCase* made, const rgScenery* s, const rgTouch* t,
                         const rgBlock* block) {
    rgV3 axes[3];
    rgFrameOf(s, t, block->rowCount == 6, axes);
    const rgV3 all[6] = {axes[0], axes[1], axes[2], axes[2], axes[0], axes[1]};
    for (int i = 0; i < block->rowCount; ++i) {
        rgWriteRow(made, s, t, block->firstRow + i, all[i], i >= 3);
    }
}

// A row without geometry on one or two bodies.
static void rgWriteOther(rgContactCase* made, const rgScenery* s, rgRandom* random,
                         const rgBlock* block) {
    int body = rgRandom_Index(random, s->bodyCount);
    bool pair = body + 1 < s->bodyCount && rgHappens(random, 0.5);
    for (int i = 0; i < block->rowCount; ++i) {
        int at = made->Jstart[block->firstRow + i];
        for (int c = 0; c < (pair ? 12 : 6); ++c) {
            made->Jcolumn[at] = 6 * body + c;
            made->Jvalue[at++] = rgRandom_Uniform(random, -1, 1);
        }
        made->Jstart[block->firstRow + i + 1] = at;
    }
}

// 1/mean of the diagonal over some rows: the mass that they feel.
static double rgMassOf(const rgContactCase* made, int first, int count) {
    size_t n = (size_t)made->problem.rowCount;
    double sum = 0;
    for (int i = first; i < first + count; ++i) {
        sum += made->G[(size_t)i * n + (size_t)i] + (made->R != NULL ? made->R[i] : 0);
    }
    return count / sum;
}

// Impulses and velocities of one contact that obey every law. Bodies that move together stick, some
// exactly at the limit; some contacts only just touch.
static void rgChooseTouch(rgContactCase* made, const rgScenery* s, rgRandom* random,
                          const rgTouch* t, const rgBlock* block) {
    double* lambda = made->lambda + block->firstRow;
    double* sigma = made->sigma + block->firstRow;
    bool together = rgClusterOf(s, t->a) == rgClusterOf(s, t->b);
    rgV3 axes[3], slip = rgSlipOf(s, t), turn = rgTurnOf(s, t);
    rgFrameOf(s, t, block->rowCount == 6, axes);
    for (int k = 0; k < 2 && !together; ++k) {
        sigma[k] = rgDot(slip, axes[k]);
    }
    if (block->rowCount > 3 && !together) {
        sigma[3] = rgDot(turn, axes[2]);
    }
    if (block->rowCount > 4 && !together) {
        sigma[4] = rgDot(turn, axes[0]); // by the choice of t1 the only rolling
    }
    double state = rgRandom_Uniform(random, 0, 1);
    if (state < 0.2) {
        sigma[2] = rgRandom_Uniform(random, 0.1, 1);
        return;
    }
    if (state < 0.23) {
        return;
    }
    lambda[2] = t->load + rgMassOf(made, block->firstRow, 3) * rgRandom_Uniform(random, 0.2, 1);
    double angle = rgRandom_Uniform(random, 0, 6.283185307179586);
    double speed = hypot(sigma[0], sigma[1]);
    double c = speed > 0 ? sigma[0] / speed : cos(angle);
    double z = speed > 0 ? sigma[1] / speed : sin(angle);
    double share = speed > 0 || rgHappens(random, 0.03) ? 1 : rgRandom_Uniform(random, 0, 0.9);
    lambda[0] = -share * block->mu * lambda[2] * c;
    lambda[1] = -share * block->mu * lambda[2] * z;
    for (int k = 3; k < (block->rowCount < 5 ? block->rowCount : 5); ++k) {
        double bound = (k == 3 ? block->muTorsion : block->muRolling) * lambda[2];
        lambda[k] = sigma[k] != 0 ? -copysign(bound, sigma[k])
                                  : bound * rgRandom_Uniform(random, -0.9, 0.9);
    }
}

static void rgChooseOther(rgContactCase* made, rgRandom* random, rgBlock* block) {
    double mass = rgMassOf(made, block->firstRow, block->rowCount);
    block->lower = -mass * rgRandom_Uniform(random, 0.1, 1);
    block->upper = mass * rgRandom_Uniform(random, 0.1, 1);
    for (int i = 0; i < block->rowCount; ++i) {
        double* lambda = made->lambda + block->firstRow + i;
        double* sigma = made->sigma + block->firstRow + i;
        double x = rgRandom_Uniform(random, 0.1, 1);
        int state = rgRandom_Index(random, 3);
        if (block->kind == rg_blockFree) {
            *lambda = mass * rgRandom_Uniform(random, -1, 1);
        } else if (block->kind == rg_blockHalfLine) {
            *(state > 0 ? lambda : sigma) = state > 0 ? mass * x : x;
        } else if (state == 0) {
            *lambda = rgRandom_Uniform(random, 0.9 * block->lower, 0.9 * block->upper);
        } else {
            *lambda = state == 1 ? block->lower : block->upper;
            *sigma = state == 1 ? x : -x;
        }
    }
}

// ---- the set ----

static rgRandomTraits rgChooseTraits(uint64_t number, rgRandom* random) {
    rgRandomTraits traits = {.kind = (rgRandomKind)(number % rg_randomKindCount)};
    traits.massDecades = rgHappens(random, 0.2) ? 0 : rgRandom_Uniform(random, 0, 6);
    traits.mu = rgHappens(random, 1.0 / 7) ? 0 : rgRandom_Uniform(random, 0, 2);
    traits.otherRows = rgHappens(random, 1.0 / 3);
    traits.compliant = rgHappens(random, 0.25);
    return traits;
}

static int rgChooseBlocks(const rgScenery* s, const rgRandomTraits* traits, rgRandom* random,
                          rgBlock* blocks) {
    bool mixed = rgHappens(random, 0.5), turning = rgHappens(random, 0.25);
    int count = 0, row = 0;
    for (int t = 0; t < s->touchCount; ++t) {
        double mu = !mixed                   ? traits->mu
                    : rgHappens(random, 0.1) ? 0
                                             : rgRandom_Uniform(random, 0, traits->mu);
        rgBlock block = {.kind = rg_blockCoulomb, .mu = mu, .rowCount = 3};
        if (turning) {
            block.rowCount = 3 + rgRandom_Index(random, 3);
            block.rowCount += block.rowCount == 5;
            block.muTorsion = rgRandom_Uniform(random, 0.01, 0.1);
            block.muRolling = rgRandom_Uniform(random, 0.01, 0.05);
        }
        blocks[count++] = block;
    }
    static const rgBlockKind kinds[3] = {rg_blockFree, rg_blockHalfLine, rg_blockBox};
    for (int k = traits->otherRows ? 1 + rgRandom_Index(random, rg_maxOthers) : 0; k > 0; --k) {
        blocks[count++] =
            (rgBlock){.kind = kinds[rgRandom_Index(random, 3)], .rowCount = 1 + k % 3};
    }
    for (int b = 0; b < count; ++b) {
        blocks[b].firstRow = row;
        row += blocks[b].rowCount;
    }
    return count;
}

// Compliance of the normals alone, as contacts have it, or of all rows.
static void rgChooseCompliance(rgContactCase* made, rgRandom* random) {
    double size = pow(10, rgRandom_Uniform(random, -4, -1));
    bool normals = rgHappens(random, 0.5);
    double* R = calloc((size_t)made->problem.rowCount, sizeof(double));
    for (int b = 0; R != NULL && b < made->problem.blockCount; ++b) {
        const rgBlock* block = made->blocks + b;
        for (int i = 0; i < block->rowCount; ++i) {
            bool takes = !normals || block->kind != rg_blockCoulomb || i == 2;
            R[block->firstRow + i] = takes ? size / rgMassOf(made, block->firstRow + i, 1) : 0;
        }
    }
    made->R = R;
}

static rgContactCase* rgMakeScenery(const rgScenery* s, const rgRandomTraits* traits,
                                    rgRandom* random) {
    rgBlock blocks[rg_maxTouches + rg_maxOthers];
    int blockCount = rgChooseBlocks(s, traits, random, blocks);
    const rgBlock* last = &blocks[blockCount - 1];
    rgContactCase* made =
        rgMakeEmptyCase(blockCount, last->firstRow + last->rowCount, 6 * s->bodyCount);
    rgContactCase_SetBlocks(made, blocks);
    rgFillMasses(made, s);
    for (int b = 0; b < blockCount; ++b) {
        if (b < s->touchCount) {
            rgWriteTouch(made, s, s->touches + b, blocks + b);
        } else {
            rgWriteOther(made, s, random, blocks + b);
        }
    }
    rgContactCase_FillMatrix(made);
    if (traits->compliant) {
        rgChooseCompliance(made, random);
    }
    for (int b = 0; b < blockCount; ++b) {
        if (b < s->touchCount) {
            rgChooseTouch(made, s, random, s->touches + b, made->blocks + b);
        } else {
            rgChooseOther(made, random, made->blocks + b);
        }
    }
    rgContactCase_Finish(made);
    return made;
}

static rgContactCase* rgMakeAny(const rgRandomTraits* traits, rgRandom* random) {
    int bodies = 1 + rgRandom_Index(random, 10);
    bool turning = rgHappens(random, 0.25);
    rgContactCaseDef def = {.seed = rgRandom_Bits(random),
                            .bodyCount = bodies,
                            .contactCount = 1 + rgRandom_Index(random, 6 * bodies),
                            .torsionCount = turning ? 1 + rgRandom_Index(random, 2) : 0,
                            .rollingCount = turning ? 1 + rgRandom_Index(random, 2) : 0,
                            .mu = rgHappens(random, 0.5) ? traits->mu : -traits->mu,
                            .massDecades = traits->massDecades,
                            .state = -1};
    if (traits->otherRows) {
        def.halfLineCount = rgRandom_Index(random, 3);
        def.boxCount = rgRandom_Index(random, 3);
        def.freeCount = rgRandom_Index(random, 3);
    }
    if (traits->compliant) {
        def.compliance = pow(10, rgRandom_Uniform(random, -4, -1));
    }
    return rgMakeContactCase(&def);
}

rgContactCase* rgMakeRandomCase(uint64_t number, rgRandomTraits* traits) {
    rgRandom random = {number * 0x632be59bd9b4e019u + 1};
    rgRandomTraits chosen = rgChooseTraits(number, &random);
    rgScenery s = {.bodyCount = 0};
    rgContactCase* made;
    if (chosen.kind == rg_randomAny) {
        made = rgMakeAny(&chosen, &random);
    } else {
        (chosen.kind == rg_randomChain  ? rgBuildChain
         : chosen.kind == rg_randomPile ? rgBuildPile
                                        : rgBuildStack)(&s, &random, chosen.massDecades);
        rgChooseMotion(&s, &random);
        made = rgMakeScenery(&s, &chosen, &random);
    }
    made->problem = rgContactCase_UseForm(made, (rgDelassusKind)(number / rg_randomKindCount % 3));
    if (traits != NULL) {
        *traits = chosen;
    }
    return made;
}

// ---- the residual ----

typedef long double rgReal;

// Rows with one set: the three of a contact, its two rolling rows, any other row for itself.
static int rgRowsTogether(const rgBlock* block, int i) {
    bool contact = block->kind == rg_blockCoulomb;
    return contact && i == 0 ? 3 : contact && i == 4 ? 2 : 1;
}

static void rgProjectRows(const rgBlock* block, int i, rgReal normal, rgReal* x) {
    if (block->kind == rg_blockFree) {
        return;
    }
    if (block->kind != rg_blockCoulomb || i == 3) {
        rgReal side = block->muTorsion * normal;
        rgReal low = i == 3 && block->kind == rg_blockCoulomb ? -side
                     : block->kind == rg_blockHalfLine        ? 0
                                                              : block->lower;
        rgReal high = i == 3 && block->kind == rg_blockCoulomb ? side
                      : block->kind == rg_blockHalfLine        ? INFINITY
                                                               : block->upper;
        x[0] = fminl(fmaxl(x[0], low), high);
        return;
    }
    rgReal length = hypotl(x[0], x[1]);
    rgReal radius = block->muRolling * normal;
    if (i == 0) {
        rgReal mu = block->mu;
        bool inside = x[2] >= 0 && length <= mu * x[2];
        rgReal height = inside ? x[2] : fmaxl(0, (x[2] + mu * length) / (1 + mu * mu));
        radius = inside ? length : mu * height;
        x[2] = height;
    }
    rgReal shrink = length > radius ? radius / length : 1;
    x[0] *= shrink;
    x[1] *= shrink;
}

// |lambda - P(lambda - m u)| of rows i ... of a block, as the velocity that it would make: times G,
// without R
static rgReal rgRowsError(const rgContactCase* made, const rgBlock* block, int i,
                          const double* lambda, const rgReal* sigma) {
    int first = block->firstRow + i, count = rgRowsTogether(block, i);
    bool contact = block->kind == rg_blockCoulomb && i == 0;
    rgReal m = rgMassOf(made, first, count), sum = 0, x[3];
    for (int k = 0; k < count; ++k) {
        rgReal u = sigma[first + k];
        u += contact && k == 2 ? block->mu * hypotl(sigma[first], sigma[first + 1]) : 0;
        x[k] = lambda[first + k] - m * u;
    }
    rgProjectRows(block, i, i > 2 ? lambda[block->firstRow + 2] : 0, x);
    for (int k = 0; k < count; ++k) {
        sum += (lambda[first + k] - x[k]) * (lambda[first + k] - x[k]);
    }
    size_t n = (size_t)made->problem.rowCount;
    rgReal moved = 0;
    for (int k = first; k < first + count; ++k) {
        moved += made->G[(size_t)k * n + (size_t)k];
    }
    return sqrtl(sum) * moved / count;
}

static rgReal rgBlockError(const rgContactCase* made, const rgBlock* block, const double* lambda,
                           const rgReal* sigma) {
    rgReal error = 0;
    for (int i = 0; i < block->rowCount; i += rgRowsTogether(block, i)) {
        rgReal e = rgRowsError(made, block, i, lambda, sigma);
        error = e <= error ? error : e; // keeps NaN
    }
    return error;
}

static void rgVelocityOf(const rgContactCase* made, const double* lambda, rgReal* sigma) {
    int n = made->problem.rowCount;
    for (int i = 0; i < n; ++i) {
        sigma[i] = made->g[i] + (made->R != NULL ? (rgReal)made->R[i] * lambda[i] : 0);
        for (int j = 0; j < n; ++j) {
            sigma[i] += (rgReal)made->G[(size_t)i * (size_t)n + (size_t)j] * lambda[j];
        }
    }
}

// Number of each block's island: blocks that G couples have the same.
static void rgFindIslands(const rgContactCase* made, int* island) {
    int n = made->problem.rowCount, count = made->problem.blockCount;
    for (int b = 0; b < count; ++b) {
        island[b] = b;
    }
    for (int b = 0; b < count; ++b) {
        for (int c = 0; c < b; ++c) {
            bool coupled = false;
            for (int i = 0; i < made->blocks[b].rowCount && !coupled; ++i) {
                const double* row = made->G + (size_t)(made->blocks[b].firstRow + i) * (size_t)n;
                for (int j = 0; j < made->blocks[c].rowCount; ++j) {
                    coupled = coupled || row[made->blocks[c].firstRow + j] != 0;
                }
            }
            int from = island[c], to = island[b];
            for (int k = 0; k < count && coupled; ++k) {
                island[k] = island[k] == from ? to : island[k];
            }
        }
    }
}

double rgNaturalResidual(const rgContactCase* made, const double* lambda) {
    int n = made->problem.rowCount, count = made->problem.blockCount;
    rgReal* sigma = calloc((size_t)n + 2 * (size_t)count + 1, sizeof(rgReal));
    double* zero = calloc((size_t)n + 1, sizeof(double));
    int* island = calloc((size_t)count + 1, sizeof(int));
    if (sigma == NULL || zero == NULL || island == NULL) {
        free(sigma), free(zero), free(island);
        return NAN;
    }
    rgReal *nothing = sigma + n, *error = nothing + count, whole = 0, worst = 0;
    rgFindIslands(made, island);
    rgVelocityOf(made, zero, sigma);
    for (int b = 0; b < count; ++b) {
        rgReal e = rgBlockError(made, made->blocks + b, zero, sigma);
        nothing[island[b]] = fmaxl(nothing[island[b]], e);
        whole = fmaxl(whole, e);
    }
    rgReal fastest = 0;
    for (int i = 0; i < n; ++i) {
        fastest = fmaxl(fastest, fabsl(sigma[i]));
    }
    whole = fmaxl(whole, 1e-6L * fastest); // rounding, where no impulses are the solution
    rgVelocityOf(made, lambda, sigma);
    for (int b = 0; b < count; ++b) {
        error[b] = rgBlockError(made, made->blocks + b, lambda, sigma);
        rgReal scale = fmaxl(nothing[island[b]], 1e-3L * whole);
        rgReal share = scale > 0 ? error[b] / scale : error[b];
        worst = share <= worst ? worst : share;
    }
    free(sigma), free(zero), free(island);
    return (double)worst;
}
