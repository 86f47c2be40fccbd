// Forces of a fluid on an ellipsoid: drag, viscosity, lift by spin and by a sharp edge, and what
// the motion of the fluid around it adds to momentum. fluid.6-11.
#include "world/world.h"

#define RG_PI 3.14159265358979323846

// Carlson's R_D(x, y, z) = 3/2 int_0^inf dt/((t + x)^1/2 (t + y)^1/2 (t + z)^3/2), by duplication:
// each round brings x, y, z four times as near to each other, and the remainder is of sixth order.
static double rgCarlsonD(double x, double y, double z) {
    double sum = 0, share = 1;
    for (int i = 0; i < 30; ++i) {
        double root = sqrt(x * y) + sqrt(y * z) + sqrt(z * x);
        sum += share / (sqrt(z) * (z + root));
        share *= 0.25;
        x = 0.25 * (x + root), y = 0.25 * (y + root), z = 0.25 * (z + root);
    }
    return 3 * sum + share / (z * sqrt(z));
}

// fluid.6, fluid.7
void rgFluidEllipsoid_Set(rgFluidEllipsoid* e, const rgShapeDef* shape) {
    const rgVec3* s = &shape->size;
    bool even = shape->kind == rg_shapeBox || shape->kind == rg_shapeEllipsoid,
         ball = shape->kind == rg_shapeSphere;
    double along = shape->kind == rg_shapeCapsule ? s->x + s->y : s->y;
    double r[3] = {s->x, even ? s->y : s->x, even ? s->z : ball ? s->x : along}, kappa[3];
    double product = r[0] * r[1] * r[2], volume = 4 * RG_PI / 3 * product;
    for (int i = 0; i < 3; ++i) {
        double a = r[(i + 1) % 3], b = r[(i + 2) % 3];
        kappa[i] = 2.0 / 3 * product * rgCarlsonD(a * a, b * b, r[i] * r[i]);
    }
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double minus = r[j] * r[j] - r[k] * r[k], plus = r[j] * r[j] + r[k] * r[k];
        double below = 2 * minus + plus * (kappa[j] - kappa[k]);
        e->r[i] = r[i];
        e->mass[i] = volume * kappa[i] / (2 - kappa[i]);
        e->moment[i] = fabs(minus) > 1e-9 * plus
                           ? volume / 5 * minus * minus * (kappa[k] - kappa[j]) / below
                           : 0; // a solid of revolution turns in the fluid without moving it
    }
}

static double rgSquared(double x) {
    return x * x;
}

// fluid.8: Area that a flow along v meets, and the normal of the section of the ellipsoid that
// makes its outline.
static double rgProjectedArea(const double r[3], rgVec3 v, rgVec3* normal) {
    double a = rgSquared(r[1] * r[2]), b = rgSquared(r[2] * r[0]), c = rgSquared(r[0] * r[1]);
    rgVec3 n = rgVec(a * v.x, b * v.y, c * v.z);
    double length = rgLength(n), outline = rgDot(n, v);
    *normal = length > 0 ? rgScale(1 / length, n) : v;
    return outline > 0 ? RG_PI * length / sqrt(outline) : 0;
}

static rgVec3 rgTimes(const double a[3], rgVec3 v) {
    return rgVec(a[0] * v.x, a[1] * v.y, a[2] * v.z);
}

// fluid.9-11: Force and torque at velocities relative to the fluid, in the axes of the ellipsoid.
void rgFluidEllipsoid_Force(const rgFluidEllipsoid* e, const double coefficients[5],
                            const rgModelOptions* fluid, const double motion[6], double out[6]) {
    const double *r = e->r, density = fluid->density;
    rgVec3 v = rgVec(motion[0], motion[1], motion[2]), w = rgVec(motion[3], motion[4], motion[5]);
    rgVec3 momentum = rgTimes(e->mass, v), spin = rgTimes(e->moment, w);
    rgVec3 force = rgScale(density, rgCross(momentum, w));
    rgVec3 torque = rgScale(density, rgAdd(rgCross(momentum, v), rgCross(spin, w)));
    double volume = 4 * RG_PI / 3 * r[0] * r[1] * r[2];
    force = rgAddScaled(force, coefficients[4] * density * volume, rgCross(w, v));

    double longest = fmax(r[0], fmax(r[1], r[2])), shortest = fmin(r[0], fmin(r[1], r[2]));
    double middle = r[0] + r[1] + r[2] - longest - shortest, most = RG_PI * longest * middle;
    double speed = rgLength(v), mean = (r[0] + r[1] + r[2]) / 3;
    double drag = 6 * RG_PI * fluid->viscosity * mean;
    if (speed > 0) {
        rgVec3 normal, along = rgScale(1 / speed, v);
        double area = rgProjectedArea(r, along, &normal);
        drag += density * speed * (coefficients[0] * area + coefficients[1] * (most - area));
        double lift = coefficients[3] * density * area * rgDot(along, normal);
        force = rgAddScaled(force, lift, rgCross(rgCross(normal, v), v));
    }
    force = rgAddScaled(force, -drag, v);

    double swept[3], largest = 8 * RG_PI / 15 * middle * rgSquared(rgSquared(longest));
    for (int i = 0; i < 3; ++i) {
        double across = fmax(r[(i + 1) % 3], r[(i + 2) % 3]);
        double own = 8 * RG_PI / 15 * r[i] * rgSquared(rgSquared(across));
        swept[i] = coefficients[2] * own + coefficients[1] * (largest - own);
    }
    double turning =
        density * rgLength(rgTimes(swept, w)) + 8 * RG_PI * fluid->viscosity * mean * mean * mean;
    torque = rgAddScaled(torque, -turning, w);
    out[0] = force.x, out[1] = force.y, out[2] = force.z;
    out[3] = torque.x, out[4] = torque.y, out[5] = torque.z;
}

// Bounds on the slopes of drag along and about the axes, up to a speed and a rate.
void rgFluidEllipsoid_Slopes(const rgFluidEllipsoid* e, const double coefficients[5],
                             const rgModelOptions* fluid, double speed, double rate,
                             double slopes[6]) {
    const double* r = e->r;
    double longest = fmax(r[0], fmax(r[1], r[2])), shortest = fmin(r[0], fmin(r[1], r[2]));
    double mean = (r[0] + r[1] + r[2]) / 3, middle = 3 * mean - longest - shortest;
    double area = RG_PI * longest * middle,
           moment = 8 * RG_PI / 15 * middle * rgSquared(rgSquared(longest));
    double linear = 6 * RG_PI * fluid->viscosity * mean +
                    2 * fluid->density * speed * area * fmax(coefficients[0], coefficients[1]);
    double angular = 8 * RG_PI * fluid->viscosity * mean * mean * mean +
                     2 * fluid->density * rate * moment * fmax(coefficients[2], coefficients[1]);
    for (int k = 0; k < 6; ++k) {
        slopes[k] = k < 3 ? linear : angular;
    }
}
