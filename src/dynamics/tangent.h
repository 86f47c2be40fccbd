// Derivatives of motion on the configuration manifold, one link at a time.
#pragma once
#include "dynamics/dynamics.h"
#include "math/mat3.h"

// Change of a free joint: linear part by the linear and by the angular one, angular part by the
// angular one. Spherical joints have the last alone, other joints the number 1 or dt.
typedef struct rgTangent {
    rgMat3 linear, lever, angular;
} rgTangent;

// derivatives.2, derivatives.3 of q (+) dt v for a spherical or free joint: by q and by v.
void rgIntegrateTangents(const rgLink* link, const double* v, double dt,
                         rgVelocityCoordinates coordinates, rgTangent* byQ, rgTangent* byV);
