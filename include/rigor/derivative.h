// Derivatives of rigid-body algorithms: of motion on the configuration manifold, of inverse and
// forward dynamics, of frames and of the whole model. docs/theory/derivatives.md.
//
// "By q" means by a small velocity: column j is the change when q moves by rgModel_Integrate()
// with a unit of degree of freedom j alone. Rotations change about the axes of the body, free
// joints move along those of the body (rg_velocityBody) or of the world (rg_velocityStep); a
// result that is a configuration changes by such a velocity, too. v, a and tau keep their numbers
// while q changes. Matrices are stored row by row; NULL for one that is not wanted.
#pragma once
#include "rigor/dynamics.h"

/// Derivatives of rgModel_Integrate(q, v, dt), vCount x vCount; they are the same for all q. With
/// rg_velocityStep v is in step coordinates, too.
RG_API void rgModel_IntegrateDerivatives(const rgModel* model, const double* v, double dt,
                                         rgVelocityCoordinates coordinates, double* byQ,
                                         double* byV);
/// Derivatives of rgModel_Difference(q0, q1), vCount x vCount, by q0 and q1.
RG_API void rgModel_DifferenceDerivatives(const rgModel* model, const double* q0, const double* q1,
                                          rgVelocityCoordinates coordinates, double* byQ0,
                                          double* byQ1);

// The first of these calls may need memory of the model's size (rg_errorMemory); later ones
// do not. Position and velocity are those of rgDynamics_SetState().

/// Derivatives of rgDynamics_InverseDynamics(a, wrenches), vCount x vCount. By a it is the mass
/// matrix. Wrenches keep their direction in the world and act at the bodies' origins.
RG_API rgResult rgDynamics_InverseDynamicsDerivatives(rgDynamics* dynamics, const double* a,
                                                      const rgSpatial* wrenches, double* byQ,
                                                      double* byV);
/// Derivatives of rgDynamics_ForwardDynamics(tau, wrenches), vCount x vCount; byTau is M^-1.
/// Factorizes M; rg_errorNumeric when it is singular.
RG_API rgResult rgDynamics_ForwardDynamicsDerivatives(rgDynamics* dynamics, const double* tau,
                                                      const rgSpatial* wrenches, double* byQ,
                                                      double* byV, double* byTau);
/// Derivative of the product M y by q for constant y, vCount x vCount.
RG_API rgResult rgDynamics_MassDerivative(rgDynamics* dynamics, const double* y, double* byQ);

/// Inertial parameters of a body, in which inverse dynamics is linear: mass, mass times center (3),
/// moment about the body's origin (xx, yy, zz, xy, xz, yz), in the body's axes.
enum { RG_INERTIA_PARAMETERS = 10 };
RG_API void rgInertia_Parameters(const rgInertia* inertia, double* parameters);
RG_API rgInertia rgInertiaFromParameters(const double* parameters);

/// Regressor: derivative of inverse dynamics by the inertial parameters of one body, vCount x 10.
/// Armature does not belong to it.
RG_API rgResult rgDynamics_InverseDynamicsByInertia(const rgDynamics* dynamics, const double* a,
                                                    rgBodyId body, double* byInertia);
/// Likewise of forward dynamics, whose result a is. Factorizes M.
RG_API rgResult rgDynamics_ForwardDynamicsByInertia(rgDynamics* dynamics, const double* a,
                                                    rgBodyId body, double* byInertia);

/// Gradient of a number L by the inputs of a calculation; NULL for gradients that are not wanted.
typedef struct rgDynamicsGradient {
    double* q;           ///< vCount
    double* v;           ///< vCount
    double* a;           ///< vCount: inverse dynamics
    double* tau;         ///< vCount: forward dynamics
    rgSpatial* wrenches; ///< per body
    double* inertias;    ///< 10 per body
} rgDynamicsGradient;

/// Reverse pass of inverse dynamics: from tauBar = dL/dtau to the gradient, in the time of a few
/// calculations of tau, without matrices.
RG_API rgResult rgDynamics_InverseDynamicsGradient(rgDynamics* dynamics, const double* a,
                                                   const rgSpatial* wrenches, const double* tauBar,
                                                   const rgDynamicsGradient* gradient);
/// Reverse pass of forward dynamics: from aBar = dL/da. Factorizes M.
RG_API rgResult rgDynamics_ForwardDynamicsGradient(rgDynamics* dynamics, const double* tau,
                                                   const rgSpatial* wrenches, const double* aBar,
                                                   const rgDynamicsGradient* gradient);
