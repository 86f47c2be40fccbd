// Derivatives of q (+) dt v and of the difference of two configurations: blocks of 1, 3 or 6 on the
// diagonal. derivatives.1-5.
#include "dynamics/tangent.h"
#include "rigor/derivative.h"

#include <string.h>

static rgVec3 rgLoadVec(const double* v) {
    return rgVec(v[0], v[1], v[2]);
}

static rgQuat rgLoadQuat(const double* q) {
    return (rgQuat){q[0], q[1], q[2], q[3]};
}

// One link's entries of a matrix; scalar: those of a joint with one coordinate.
static void rgStoreTangent(const rgLink* link, int n, const rgTangent* t, double scalar,
                           double* matrix) {
    if (matrix == NULL) {
        return;
    }
    size_t stride = (size_t)n;
    double* first = matrix + (size_t)link->v * (stride + 1);
    if (link->vCount == 1) {
        *first = scalar;
        return;
    }
    bool free = link->kind == rg_linkFree;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
            first[(i + 3 * free) * stride + j + 3 * free] = t->angular.m[3 * i + j];
            if (free) {
                first[i * stride + j] = t->linear.m[3 * i + j];
                first[i * stride + j + 3] = t->lever.m[3 * i + j];
            }
        }
    }
}

static void rgClear(int n, double* matrix) {
    if (matrix != NULL && n > 0) {
        memset(matrix, 0, (size_t)n * (size_t)n * sizeof(double));
    }
}

void rgIntegrateTangents(const rgLink* link, const double* v, double dt,
                         rgVelocityCoordinates coordinates, rgTangent* byQ, rgTangent* byV) {
    bool free = link->kind == rg_linkFree, body = coordinates == rg_velocityBody;
    rgVec3 turn = rgScale(dt, rgLoadVec(v + (free ? 3 : 0)));
    rgMat3 E = rgMat3FromQuat(rgQuatFromRotationVector(turn)), back = rgMat3_TransposedOf(&E);
    rgMat3 J = rgRotationJacobian(turn), one = rgMat3_Identity();
    *byQ = (rgTangent){.linear = body ? back : one, .angular = back};
    *byV = (rgTangent){.linear = rgMat3_Scaled(dt, &byQ->linear), .angular = rgMat3_Scaled(dt, &J)};
    if (free && body) {
        rgMat3 moved = rgSkew(rgScale(-dt, rgLoadVec(v)));
        byQ->lever = rgMat3_Product(&back, &moved);
    }
}

void rgModel_IntegrateDerivatives(const rgModel* model, const double* v, double dt,
                                  rgVelocityCoordinates coordinates, double* byQ, double* byV) {
    if (model == NULL || v == NULL) {
        return;
    }
    int n = model->vCount;
    rgClear(n, byQ);
    rgClear(n, byV);
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgTangent first = {0}, second = {0};
        if (link->vCount > 1) {
            rgIntegrateTangents(link, v + link->v, dt, coordinates, &first, &second);
        }
        rgStoreTangent(link, n, &first, 1, byQ);
        rgStoreTangent(link, n, &second, dt, byV);
    }
}

static void rgDifferenceTangents(const rgLink* link, const double* q0, const double* q1,
                                 rgVelocityCoordinates coordinates, rgTangent* by0,
                                 rgTangent* by1) {
    bool free = link->kind == rg_linkFree, body = coordinates == rg_velocityBody;
    int at = free ? 3 : 0;
    rgQuat from = rgLoadQuat(q0 + at), to = rgLoadQuat(q1 + at);
    rgQuat turn = rgQuatMultiply(rgQuatConjugate(from), to);
    rgMat3 D = rgMat3FromQuat(turn), one = rgMat3_Identity();
    rgMat3 right = rgRotationJacobianInverse(rgRotationVectorFromQuat(turn));
    rgMat3 left = rgMat3_TransposedOf(&right);
    *by0 = (rgTangent){.linear = rgMat3_Scaled(-1, &one), .angular = rgMat3_Scaled(-1, &left)};
    *by1 = (rgTangent){.linear = body ? D : one, .angular = right};
    if (free && body) {
        by0->lever = rgSkew(rgRotateBack(from, rgSub(rgLoadVec(q1), rgLoadVec(q0))));
    }
}

void rgModel_DifferenceDerivatives(const rgModel* model, const double* q0, const double* q1,
                                   rgVelocityCoordinates coordinates, double* byQ0, double* byQ1) {
    if (model == NULL || q0 == NULL || q1 == NULL) {
        return;
    }
    int n = model->vCount;
    rgClear(n, byQ0);
    rgClear(n, byQ1);
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgTangent first = {0}, second = {0};
        if (link->vCount > 1) {
            rgDifferenceTangents(link, q0 + link->q, q1 + link->q, coordinates, &first, &second);
        }
        rgStoreTangent(link, n, &first, -1, byQ0);
        rgStoreTangent(link, n, &second, 1, byQ1);
    }
}
