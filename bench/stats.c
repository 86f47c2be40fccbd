// Statistics of measurements.
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double rgMeanOf(const double* values, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += values[i];
    }
    return count > 0 ? sum / count : NAN;
}

double rgDeviationOf(const double* values, int count) {
    double mean = rgMeanOf(values, count), sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return count > 0 ? sqrt(sum / count) : NAN;
}

double rgGeometricMeanOf(const double* values, int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += log(values[i]);
    }
    return count > 0 ? exp(sum / count) : NAN;
}

static int rgCompareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double rgQuantileOf(const double* values, int count, double share) {
    double* sorted = count > 0 ? malloc((size_t)count * sizeof(double)) : NULL;
    if (sorted == NULL) {
        return NAN;
    }
    memcpy(sorted, values, (size_t)count * sizeof(double));
    qsort(sorted, (size_t)count, sizeof(double), rgCompareNumbers);
    double at = share * (count - 1);
    int below = (int)floor(at);
    int above = below + 1 < count ? below + 1 : below;
    double rest = at - below;
    double value = rest > 0 ? (1 - rest) * sorted[below] + rest * sorted[above] : sorted[below];
    free(sorted);
    return value;
}

bool rgFitPowerLaw(const double* x, const double* y, int count, rgPowerLaw* law) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; ++i) {
        double lx = log(x[i]), ly = log(y[i]);
        sx += lx;
        sy += ly;
        sxx += lx * lx;
        sxy += lx * ly;
    }
    double spread = count * sxx - sx * sx;
    if (count < 2 || !(spread > 1e-12 * count * sxx)) {
        *law = (rgPowerLaw){NAN, NAN};
        return false;
    }
    law->exponent = (count * sxy - sx * sy) / spread;
    law->factor = exp((sy - law->exponent * sx) / count);
    return true;
}

static double rgLeastCost(const double* costs, int solverCount) {
    double least = INFINITY;
    for (int s = 0; s < solverCount; ++s) {
        least = fmin(least, costs[s]);
    }
    return least;
}

double rgProfileAt(const double* costs, int problemCount, int solverCount, int solver,
                   double factor) {
    int within = 0;
    for (int p = 0; p < problemCount; ++p) {
        const double* row = costs + (size_t)p * (size_t)solverCount;
        within += isfinite(row[solver]) && row[solver] <= factor * rgLeastCost(row, solverCount);
    }
    return problemCount > 0 ? (double)within / problemCount : NAN;
}

double rgProfileEnd(const double* costs, int problemCount, int solverCount) {
    double end = 1;
    for (int p = 0; p < problemCount; ++p) {
        const double* row = costs + (size_t)p * (size_t)solverCount;
        for (int s = 0; s < solverCount; ++s) {
            double ratio = row[s] / rgLeastCost(row, solverCount);
            end = isfinite(ratio) ? fmax(end, ratio) : end;
        }
    }
    return end;
}
