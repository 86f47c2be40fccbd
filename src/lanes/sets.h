// Sets of impulses, projections on them, and errors, for one group of rows. docs/theory/ncp.md.
#pragma once
#include "lanes/work.h"

RG_LANE_FN inline void rgLaneProjectDisc(double radius, double* x) {
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (length > radius) {
        double k = radius / length;
        x[0] *= k;
        x[1] *= k;
    }
}

RG_LANE_FN inline void rgLaneProjectCone(double mu, double* x) {
    double t = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (x[2] >= 0 && t <= mu * x[2]) {
        return;
    }
    double along = (mu * t + x[2]) / (1 + mu * mu);
    along = along > 0 ? along : along * 0; // not a number stays so
    double k = t > 0 ? mu * along / t : 0;
    x[0] *= k;
    x[1] *= k;
    x[2] = along;
}

// The normal by itself, then friction within what this normal allows.
RG_LANE_FN inline void rgLaneProjectSteps(double mu, double* x) {
    x[2] = x[2] < 0 ? 0 : x[2];
    rgLaneProjectDisc(mu * x[2], x);
}

RG_LANE_FN inline double rgLaneProjectRow(const rgLaneGroup* group, double scale, double x) {
    if (group->kind == rg_laneFree) {
        return x;
    }
    double low = group->kind == rg_laneBox ? group->lower * scale : 0;
    double high = group->kind == rg_laneBox ? group->upper * scale : x;
    return x < low ? low : x > high ? high : x;
}

// P of a group's impulses; scale is that of its bounds.
RG_LANE_FN inline void rgLaneProjectGroup(const rgLaneGroup* group, double scale, double* x) {
    if (group->kind == rg_laneCoulomb) {
        rgLaneProjectCone(group->mu, x);
    } else {
        x[0] = rgLaneProjectRow(group, scale, x[0]);
    }
}

// u = sigma + Gamma(sigma); steep cones have none (ncp.md)
RG_LANE_FN inline void rgLaneShift(const rgLaneGroup* group, const double* sigma, double* u) {
    u[0] = sigma[0];
    if (group->kind == rg_laneCoulomb) {
        u[1] = sigma[1];
        u[2] = sigma[2];
        if (group->mu <= RG_STEEP_FRICTION) {
            u[2] += group->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
        }
    }
}

RG_LANE_FN inline double rgLaneLength(const rgLaneGroup* group, const double* x) {
    return group->kind == rg_laneCoulomb ? sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
                                         : fabs(x[0]);
}

// ncp.9: |lambda - P(lambda - m u)|
RG_LANE_FN inline double rgLaneNatural(const rgLaneGroup* group, double scale, double mass,
                                       const double* lambda, const double* sigma) {
    double u[3], x[3];
    int rows = rgLaneGroup_Rows(group);
    rgLaneShift(group, sigma, u);
    for (int i = 0; i < rows; ++i) {
        x[i] = lambda[i] - mass * u[i];
    }
    if (rows == 3 && group->mu > RG_STEEP_FRICTION) {
        rgLaneProjectSteps(group->mu, x);
    } else {
        rgLaneProjectGroup(group, scale, x);
    }
    for (int i = 0; i < rows; ++i) {
        x[i] = lambda[i] - x[i];
    }
    return rgLaneLength(group, x);
}

// Distance of u(g) to the directions that the dual set allows.
RG_LANE_FN inline double rgLaneDual(const rgLaneGroup* group, const double* g) {
    double u[3];
    rgLaneShift(group, g, u);
    for (int i = 0; i < rgLaneGroup_Rows(group); ++i) {
        u[i] = -u[i];
    }
    if (group->kind == rg_laneCoulomb) {
        if (group->mu > RG_STEEP_FRICTION) {
            rgLaneProjectSteps(group->mu, u);
        } else {
            rgLaneProjectCone(group->mu, u);
        }
    } else if (group->kind == rg_laneHalfLine) {
        u[0] = u[0] < 0 ? 0 : u[0];
    } else if (group->kind == rg_laneBox) {
        int open = u[0] > 0 ? group->upper == INFINITY : group->lower == -INFINITY;
        u[0] = open ? u[0] : 0;
    }
    return rgLaneLength(group, u);
}
