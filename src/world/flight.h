// Trees on free joints without rows, at fourth order.
#pragma once
#include "world/world.h"

// True for trees that the step extrapolates.
bool rgWorld_IsInFlight(const rgWorld* world, int tree);
// q+ and v+ of these trees, once they are those of one step with dt.
rgResult rgExtrapolateFlight(rgStep* step);
// Inverse dynamics: the force, beside tau, with which a step without extrapolation ends at the
// target becomes that with which the step does; v is near to its v+.
void rgWorld_CorrectFlightForce(rgWorld* world, int tree, const rgTargetVelocity* target,
                                const double* v, double* force);
