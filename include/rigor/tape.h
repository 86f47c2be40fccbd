// Tapes: rollouts of a world or of all worlds of a batch, and gradients back through all their
// steps, by the start, the controls and numbers of the model. docs/theory/step_derivatives.md.
#pragma once
#include "rigor/batch.h"

/// States along a rollout, which its gradients start from.
typedef struct rgTape rgTape;

/// Start from rgDefaultTapeDef(), then set members. N is 1 for a world.
typedef struct rgTapeDef {
    int stepCount;          ///< T
    const double* controls; ///< N x T x nu; NULL: controls stay as they are
    size_t controlCount;    ///< N T nu
    int stateInterval;      ///< keep the state before every so many steps; gradients step again
                            ///< between them: 1, the default, is fastest and takes most memory
    const rgQuantity* parameters; ///< numbers of the model that gradients are by, too
    int parameterCount;
    bool heldGaps; ///< as in rgDerivativeDef, as the next one
    double smoothing;
    uint32_t cookie;
} rgTapeDef;

/// A gradient on its way back, dense, with the last index fastest.
typedef struct rgTapeGradient {
    const double* qBar; ///< N x T x nv, by q after every step, as a small velocity; NULL: zero
    const double* vBar; ///< N x T x nv, by v after every step; NULL: zero
    double* start;      ///< N x 2 nv: by q and v of the start; NULL: not wanted, as the next two
    double* controls;   ///< N x T x nu
    double* parameters; ///< N x parameterCount
} rgTapeGradient;

RG_API rgTapeDef rgDefaultTapeDef(void);
/// Take the steps, and store the data of gradients. Until the last gradient, change nothing of the
/// world but its state.
RG_API rgResult rgWorld_Record(rgWorld* world, const rgTapeDef* def, rgTape** tape);
/// The same of all worlds, on all threads; a world that fails stops, and has no gradient.
RG_API rgResult rgBatch_Record(rgBatch* batch, const rgTapeDef* def, const rgWorldMask* mask,
                               rgTape** tape);
RG_API void rgDestroyTape(rgTape* tape);

/// States before the first and after every step: (T + 1) x nq and (T + 1) x nv of one world, NaN
/// after a fault. NULL where there is none.
RG_API const double* rgTape_Positions(const rgTape* tape, int world);
RG_API const double* rgTape_Velocities(const rgTape* tape, int world);
RG_API size_t rgTape_MemoryUse(const rgTape* tape); ///< bytes

/// The gradient through all steps, from the last to the first. The world has to be the one that was
/// recorded, or one that was made like it; its state stays. Linear in qBar and vBar, and as many
/// times as wanted.
RG_API rgResult rgTape_WorldGradient(const rgTape* tape, rgWorld* world,
                                     const rgTapeGradient* gradient);
/// The same of all worlds, on all threads, to the same bits; zero for worlds that were left out or
/// failed.
RG_API rgResult rgTape_BatchGradient(const rgTape* tape, rgBatch* batch,
                                     const rgTapeGradient* gradient);
