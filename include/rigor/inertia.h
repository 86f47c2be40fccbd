// Mass distributions: from shapes and meshes, moved, added, and checked for physical sense.
#pragma once
#include "rigor/shape.h"

/// Volume [m^3] of a primitive shape; 0 for planes, height fields, hulls and meshes.
RG_API double rgShapeVolume(rgShapeKind kind, rgVec3 size);

/// Inertia of a solid primitive of the given mass [kg] in its own frame. The moment is zero for
/// shapes without a volume.
RG_API rgInertia rgInertiaFromShape(rgShapeKind kind, rgVec3 size, double mass);

/// Inertia of the solid that the triangles enclose, of the given density [kg/m^3]. Refuses
/// (rg_errorNumeric) a surface whose volume is not positive: open, flat, or facing inwards.
RG_API rgResult rgInertiaFromMesh(const rgMeshData* mesh, double density, rgInertia* inertia);

/// The same body seen from frame A, where pose is the frame of the inertia in A.
RG_API rgInertia rgInertiaMove(rgPose pose, const rgInertia* inertia);

/// Both bodies as one. They share a frame.
RG_API rgInertia rgInertiaAdd(const rgInertia* a, const rgInertia* b);

/// Scale mass and moment so that the mass is the given one.
RG_API rgInertia rgInertiaWithMass(const rgInertia* inertia, double mass);

/// R S R' for the rotation matrix R of q.
RG_API rgSym3 rgSym3Rotate(rgQuat q, const rgSym3* s);

/// Moment about a point at offset from the center of mass: moment + mass (|r|^2 - r r').
RG_API rgSym3 rgMomentAbout(const rgInertia* inertia, rgVec3 offset);

/// Eigenvalues, largest first. The columns of axes' rotation are the eigenvectors; axes may be
/// NULL.
RG_API rgVec3 rgSym3Eigen(const rgSym3* s, rgQuat* axes);

/// Faults of an inertia, worst first.
typedef enum rgInertiaFault {
    rg_inertiaFine,
    rg_inertiaNotFinite,    ///< NaN or infinite
    rg_inertiaNegativeMass, ///< below zero
    rg_inertiaMassless,     ///< a moment without a mass
    rg_inertiaIndefinite,   ///< a principal moment below zero
    rg_inertiaTriangle,     ///< a principal moment larger than the sum of the others
} rgInertiaFault;

/// Point masses and thin rods are fine. Tolerance: 1e-6 of the largest principal moment.
RG_API rgInertiaFault rgInertia_Check(const rgInertia* inertia);
