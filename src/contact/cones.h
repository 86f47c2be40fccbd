// Projections on the Coulomb cone |x_t| <= mu x_n (rows t1, t2, n) and on its dual, in place; and
// on an interval.
#pragma once
#include "rigor/contact.h"

void rgProjectCone(double mu, double* x);
void rgProjectDualCone(double mu, double* x);

// |P_K(-u)|, u = g + Gamma(g): residual of zero impulses at a contact with free velocity g.
double rgOpeningError(double mu, rgContactModel model, const double* g);
void rgProjectDisc(double radius, double* x); // of two rows

// Sides of the polygon that takes the place of a disc; 0: a disc.
static inline int rgModelSides(rgContactModel model) {
    return model == rg_modelLcp4 ? 4 : model == rg_modelLcp8 ? 8 : 0;
}
// A regular polygon around the disc, one side across the first axis: the normal of side k.
void rgPolygonNormal(int sides, int k, double* normal);
// Projection of two rows on that polygon (sides > 0) or on the disc.
void rgProjectFriction(int sides, double radius, double* x);

static inline double rgClamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}
