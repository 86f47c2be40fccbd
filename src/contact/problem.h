// What the files of this folder share about problems.
#pragma once
#include "base/base.h"
#include "rigor/contact.h"

// Judge with scratch from an arena (rgContactProblem_Judge makes its own).
rgResult rgJudge(const rgContactProblem* problem, rgContactModel model, const double* lambda,
                 rgArena* arena, rgResidual* residual);

// sigma = (G + R) lambda + g with scratch from an arena.
rgResult rgJudgeVelocity(const rgContactProblem* problem, const double* lambda, rgArena* arena,
                         double* sigma);

// Do the blocks cover the rows without gaps, each with numbers that make sense?
rgResult rgCheckBlocks(int rowCount, int blockCount, const rgBlock* blocks,
                       rgDiagnostics* diagnostics);
