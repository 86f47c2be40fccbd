// Euclidean projections on the sets of a block, on their duals, and in a diagonal metric.
// ncp.5-8.
#include "contact/cones.h"
#include "contact/tuning.h"

#include <math.h>

// ncp.5: Projection on |x_t| <= mu x_n. Inside: kept; in the polar cone: the tip; else: the nearest
// ray.
void rgProjectCone(double mu, double* x) {
    double t = sqrt(x[0] * x[0] + x[1] * x[1]);
    double n = x[2];
    if (n >= 0 && t <= mu * n) {
        return;
    }
    if (mu * t <= -n) {
        x[0] = x[1] = x[2] = 0;
        return;
    }
    double a = (mu * t + n) / (1 + mu * mu);
    double k = t > 0 ? mu * a / t : 0;
    x[0] *= k;
    x[1] *= k;
    x[2] = a;
}

// ncp.6: Projection on the dual cone mu |x_t| <= x_n, by Moreau: x + P_K(-x).
void rgProjectDualCone(double mu, double* x) {
    double y[3] = {-x[0], -x[1], -x[2]};
    rgProjectCone(mu, y);
    x[0] += y[0];
    x[1] += y[1];
    x[2] += y[2];
}

void rgProjectDisc(double radius, double* x) {
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (length > radius) {
        x[0] *= radius / length;
        x[1] *= radius / length;
    }
}

void rgPolygonNormal(int sides, int k, double* normal) {
    static const double h = 0.70710678118654752440; // of an octagon; the square's are every other
    static const double octagon[8][2] = {{1, 0},  {h, h},   {0, 1},  {-h, h},
                                         {-1, 0}, {-h, -h}, {0, -1}, {h, -h}};
    normal[0] = octagon[8 / sides * k][0];
    normal[1] = octagon[8 / sides * k][1];
}

// The nearest point lies on the side that x looks at, or at one of its ends.
static void rgProjectPolygon(int sides, double radius, double* x) {
    double most = -INFINITY, n[2] = {0, 0};
    for (int k = 0; k < sides; ++k) {
        double normal[2];
        rgPolygonNormal(sides, k, normal);
        double along = normal[0] * x[0] + normal[1] * x[1];
        if (along > most) {
            most = along;
            n[0] = normal[0];
            n[1] = normal[1];
        }
    }
    if (most > radius) {
        double half = radius * (sides == 4 ? 1 : 0.41421356237309504880); // tan(pi/sides)
        double across = rgClamp(n[0] * x[1] - n[1] * x[0], -half, half);
        x[0] = radius * n[0] - across * n[1];
        x[1] = radius * n[1] + across * n[0];
    }
}

void rgProjectFriction(int sides, double radius, double* x) {
    if (sides > 0) {
        rgProjectPolygon(sides, radius, x);
    } else {
        rgProjectDisc(radius, x);
    }
}

double rgOpeningError(double mu, rgContactModel model, const double* g) {
    double x[3] = {-g[0], -g[1], -g[2]};
    int sides = rgModelSides(model);
    if (sides > 0 || (model == rg_modelNcp && mu > RG_STEEP_FRICTION)) {
        x[2] = x[2] > 0 ? x[2] : 0;
        rgProjectFriction(sides, mu * x[2], x);
    } else {
        x[2] -= model == rg_modelNcp ? mu * sqrt(g[0] * g[0] + g[1] * g[1]) : 0;
        rgProjectCone(mu, x);
    }
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// Torsion and rolling, bounded by the normal impulse.
static void rgProjectSpin(const rgBlock* block, double* lambda) {
    if (block->rowCount > 3) {
        double bound = block->muTorsion * lambda[2];
        lambda[3] = rgClamp(lambda[3], -bound, bound);
    }
    if (block->rowCount > 4) {
        rgProjectDisc(block->muRolling * lambda[2], lambda + 4);
    }
}

void rgBlock_Project(const rgBlock* block, double* lambda) {
    if (block == NULL || lambda == NULL) {
        return;
    }
    switch (block->kind) {
    case rg_blockFree:
        break;
    case rg_blockHalfLine:
        for (int i = 0; i < block->rowCount; ++i) {
            lambda[i] = lambda[i] > 0 ? lambda[i] : 0;
        }
        break;
    case rg_blockBox:
        for (int i = 0; i < block->rowCount; ++i) {
            lambda[i] = rgClamp(lambda[i], block->lower, block->upper);
        }
        break;
    case rg_blockCoulomb:
        rgProjectCone(block->mu, lambda);
        rgProjectSpin(block, lambda);
        break;
    }
}

void rgBlock_ProjectDual(const rgBlock* block, double* sigma) {
    if (block == NULL || sigma == NULL) {
        return;
    }
    switch (block->kind) {
    case rg_blockHalfLine:
        rgBlock_Project(block, sigma);
        break;
    case rg_blockCoulomb:
        rgProjectDualCone(block->mu, sigma);
        break;
    case rg_blockFree:
    case rg_blockBox:
        for (int i = 0; i < block->rowCount; ++i) {
            sigma[i] = 0;
        }
        break;
    }
}

void rgBlock_ProjectMetric(const rgBlock* block, const double* metric, double* lambda) {
    if (block == NULL || metric == NULL || lambda == NULL) {
        return;
    }
    if (block->kind != rg_blockCoulomb) {
        rgBlock_Project(block, lambda); // row by row, any diagonal metric gives the same
        return;
    }
    // ncp.8: P^D(x) = D^-1/2 P_K~(D^1/2 x) with mu~ = sqrt(D_t/D_n) mu
    double dt = sqrt(metric[0]);
    double dn = sqrt(metric[2]);
    double x[3] = {dt * lambda[0], dt * lambda[1], dn * lambda[2]};
    rgProjectCone(dt / dn * block->mu, x);
    lambda[0] = x[0] / dt;
    lambda[1] = x[1] / dt;
    lambda[2] = x[2] / dn;
    rgProjectSpin(block, lambda);
}
