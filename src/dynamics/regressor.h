// Inverse dynamics as a linear function of the inertial parameters of a body.
#pragma once
#include "dynamics/dynamics.h"
#include "rigor/derivative.h"

// Motion of a body, with gravity in its acceleration, in its own axes, at its own origin.
typedef struct rgBodyRates {
    rgRot axes;
    rgVec3 origin;        // relative to the tree's reference point
    rgVec3 acceleration;  // acceleration of the origin
    rgVec3 rate, turning; // angular velocity and its rate
} rgBodyRates;

rgBodyRates rgDynamics_BodyRates(const rgDynamics* d, int body, const double* a);
// derivatives.18: The power of the body's force along a velocity U of its link, per parameter,
// times a scale.
void rgBodyRates_Product(const rgBodyRates* rates, rgSpatial U, double scale, double* parameters);
