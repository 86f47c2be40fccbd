// Projections on the Coulomb cone |x_t| <= mu x_n (rows t1, t2, n) and on its dual, in place; and
// on an interval.
#pragma once
#include "rigor/contact.h"

void rgProjectCone(double mu, double* x);
void rgProjectDualCone(double mu, double* x);

static inline double rgClamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}
