// Cost of a fit: a robust loss of each sample's error, its mean over a motion.
#include "identify/identify.h"

#include <math.h>

// Loss of a squared error, and its derivative. All grow like the square itself near zero.
static double rgLossOf(const rgIdentifyDef* def, double square, double* slope) {
    double limit = def->lossLimit, size = sqrt(square);
    switch (def->loss) {
    case rg_lossHuber:
        *slope = size > limit ? limit / size : 1;
        return size > limit ? 2 * limit * size - limit * limit : square;
    case rg_lossCauchy:
        *slope = 1 / (1 + square / (limit * limit));
        return limit * limit * log1p(square / (limit * limit));
    default:
        *slope = 1;
        return square;
    }
}

double rgMotionCost(const rgIdentifyDef* def, const rgTarget* target, const double* errors,
                    double* weights) {
    int samples = target->motion->sampleCount - 1;
    double sum = 0;
    for (int s = 0; s < samples; ++s) {
        double square = 0, slope = 0;
        for (int k = 0; k < target->errorCount; ++k) {
            double e = errors[s * target->errorCount + k];
            square += e * e;
        }
        sum += rgLossOf(def, square, &slope);
        if (weights != NULL) {
            weights[s] = slope / samples;
        }
    }
    return isfinite(sum) ? sum / samples : INFINITY;
}

static double rgMeanOf(double sum, int count) {
    return count > 0 ? sum / count : NAN;
}

rgMotionError rgMotionErrorOf(const rgIdentifyDef* def, const rgTarget* target,
                              const double* errors) {
    const rgMotion* motion = target->motion;
    double sums[3] = {0};
    int counts[3] = {0};
    for (int s = 1; s < motion->sampleCount; ++s) {
        const double* seen = motion->values + (size_t)s * (size_t)motion->valueCount;
        const double* e = errors + (size_t)(s - 1) * (size_t)target->errorCount;
        for (int i = 0; i < motion->channelCount; ++i) {
            if (motion->channels[i].kind == rg_channelCoordinate) {
                counts[2] += !isnan(seen[0]);
                sums[2] += fabs(e[0]) * def->coordinateNoise;
                ++seen, ++e;
                continue;
            }
            counts[0] += !(isnan(seen[0]) && isnan(seen[1]) && isnan(seen[2]));
            sums[0] += rgLength(rgVec(e[0], e[1], e[2])) * def->positionNoise;
            counts[1] += !isnan(seen[3]);
            sums[1] += rgLength(rgVec(e[3], e[4], e[5])) * def->rotationNoise;
            seen += 7, e += 6;
        }
    }
    return (rgMotionError){.position = rgMeanOf(sums[0], counts[0]),
                           .rotation = rgMeanOf(sums[1], counts[1]),
                           .coordinate = rgMeanOf(sums[2], counts[2]),
                           .cost = rgMotionCost(def, target, errors, NULL)};
}
