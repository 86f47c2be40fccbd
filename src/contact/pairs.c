// Jordan algebra of the friction pairs, and the smoothed law. interior.3-6,
// interior.11.
#include "contact/pairs.h"

#include <math.h>
#include <stddef.h>

void rgJordan(const double a[3], const double b[3], double out[3]) {
    out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    out[1] = a[0] * b[1] + b[0] * a[1];
    out[2] = a[0] * b[2] + b[0] * a[2];
}

double rgConeStep(const double x[3], const double d[3]) {
    double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    double b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    double c = x[0] * x[0] - x[1] * x[1] - x[2] * x[2];
    c = c > 0 ? c : 0;
    double most = d[0] < 0 ? -x[0] / d[0] : INFINITY;
    double discriminant = b * b - a * c, root = INFINITY;
    if (a < 0) {
        // One positive root, in the form that does not cancel.
        double r = sqrt(discriminant > 0 ? discriminant : 0);
        root = b <= 0 ? c / (r - b) : (b + r) / -a;
    } else if (b < 0 && discriminant >= 0) {
        root = c / (sqrt(discriminant) - b);
    }
    return most < root ? most : root;
}

static double rgConeDeterminant(const double x[3]) {
    double tail = sqrt(x[1] * x[1] + x[2] * x[2]);
    return fmax((x[0] - tail) * (x[0] + tail), 1e-300);
}

void rgScaling_Apply(const rgScaling* scaling, bool inverse, const double x[3], double out[3]) {
    const double* q = scaling->q;
    double sign = inverse ? -1 : 1;
    double dot = q[0] * x[0] + sign * (q[1] * x[1] + q[2] * x[2]);
    double factor = inverse ? 1 / scaling->beta : scaling->beta;
    out[0] = factor * (2 * q[0] * dot - x[0]);
    out[1] = factor * (2 * sign * q[1] * dot + x[1]);
    out[2] = factor * (2 * sign * q[2] * dot + x[2]);
}

void rgScaling_Init(rgScaling* scaling, const double b[3], const double e[3]) {
    double rootB = sqrt(rgConeDeterminant(b));
    double rootE = sqrt(rgConeDeterminant(e));
    double dot = (b[0] * e[0] + b[1] * e[1] + b[2] * e[2]) / (rootB * rootE);
    double gamma = 2 * sqrt(0.5 * (1 + dot));
    double mean[3] = {(b[0] / rootB + e[0] / rootE) / gamma, (b[1] / rootB - e[1] / rootE) / gamma,
                      (b[2] / rootB - e[2] / rootE) / gamma};
    double norm = sqrt(2 * (mean[0] + 1));
    scaling->beta = sqrt(rootB / rootE);
    scaling->q[0] = (mean[0] + 1) / norm;
    scaling->q[1] = mean[1] / norm;
    scaling->q[2] = mean[2] / norm;
    rgScaling_Apply(scaling, false, e, scaling->v);
}

void rgJordanSolve(const double v[3], const double r[3], double x[3]) {
    x[0] = (v[0] * r[0] - v[1] * r[1] - v[2] * r[2]) / rgConeDeterminant(v);
    x[1] = (r[1] - x[0] * v[1]) / v[0];
    x[2] = (r[2] - x[0] * v[2]) / v[0];
}

double rgSmoothHalfLine(double k, double z) {
    double root = 0.5 * (fabs(z) + sqrt(z * z + 4 * k)); // does not cancel
    return z > 0 ? root : k / root;
}

// b s + ratio s/(1 - s^2) = rho, 0 <= s < 1: Newton, safeguarded by bisection. The left side is
// increasing and convex.
static double rgSlipRatio(double b, double ratio, double rho) {
    double low = 0, high = 1;
    double s = rho / (b + ratio); // too large
    if (!(s < 1)) {
        s = rho > b ? 1 - fmin(0.5, 0.5 * ratio / (rho - b)) : 0.5;
    }
    for (int i = 0; i < 60; ++i) {
        double d = (1 - s) * (1 + s);
        double f = b * s + ratio * s / d - rho;
        *(f > 0 ? &high : &low) = s;
        double next = s - f / (b + ratio * (1 + s * s) / (d * d));
        next = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(next - s) <= 1e-15 * s) {
            break;
        }
        s = next;
    }
    return s;
}

void rgSmoothLaw(double mu, const double k[2], const double z[3], double lambda[3], double sigma[3],
                 double D[9]) {
    double normal = rgSmoothHalfLine(k[0], z[2]);
    double b = mu * normal, ratio = k[1] / b;
    double rho = sqrt(z[0] * z[0] + z[1] * z[1]);
    double s = rgSlipRatio(b, ratio, rho);
    double share = rho > 0 ? b * s / rho : b / (b + ratio);
    lambda[0] = share * z[0];
    lambda[1] = share * z[1];
    lambda[2] = normal;
    // From its own formula, or as the difference, whichever rounds less.
    double sliding = rho > 0 ? ratio * s / ((1 - s) * (1 + s)) / rho : ratio / (b + ratio);
    sliding = sliding < share * (1 - s) ? sliding : 1 - share;
    sigma[0] = -sliding * z[0];
    sigma[1] = -sliding * z[1];
    sigma[2] = k[0] / normal;
    if (D == NULL) {
        return;
    }
    double d = (1 - s) * (1 + s);
    double slope = b + ratio * (1 + s * s) / (d * d);
    double radial = b / slope;                            // d|lambda_t|/drho
    double byB = s - b * (s - ratio / b * s / d) / slope; // d|lambda_t|/db
    double byNormal = normal / (normal + sigma[2]);
    double t[2] = {rho > 0 ? z[0] / rho : 0, rho > 0 ? z[1] / rho : 0};
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            D[3 * i + j] = share * (i == j) + (radial - share) * t[i] * t[j];
        }
        D[3 * i + 2] = byB * t[i] * mu * byNormal;
        D[6 + i] = 0;
    }
    D[8] = byNormal;
}

double rgSlipBound(double mu, double k, const double lambda[3], const double sigma[3]) {
    double a = 0.5 * k / (mu * lambda[2]);
    return a + sqrt(a * a + sigma[0] * sigma[0] + sigma[1] * sigma[1]);
}
