// Projections on the Coulomb cone |x_t| <= mu x_n (rows t1, t2, n) and on its dual, in place; and
// on an interval.
#pragma once
#include "rigor/contact.h"

void rgProjectCone(double mu, double* x);
void rgProjectDualCone(double mu, double* x);
// Friction from which the residual takes Alart and Curnier's map instead of De Saxcé's.
#define RG_STEEP 10

// |P_K(-u)|, u = g + Gamma(g): what zero impulses leave wrong at a contact with free velocity g.
double rgOpeningError(double mu, rgContactModel model, const double* g);
void rgProjectDisc(double radius, double* x); // of two rows

static inline double rgClamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}
