// Numbers of the contact solver, each in one place. A name ends in its quantity. Behind the value:
// the quantity it is relative to [unit], the effect of doubling it, and the experiment that chose
// it:
//   [abl]  left out or changed alone, docs/notebook/auto.md (2026-11-18, numbers)
//   [x.md] a table of docs/theory/x.md;  [note] docs/notebook/auto.md
//   [piles] docs/notebook/piles.md
//   [inh]  inherited, not measured
// Mathematical constants are not here; numbers of published baselines stand in baselines/.
#pragma once

// The residual (ncp.md). Part of its definition, hence of every solver.
#define RG_STEEP_FRICTION  10   // mu [-] above which Alart-Curnier's map is judged. [inh]
#define RG_REFERENCE_RATIO 1e-3 // least V / largest error of zero impulses; x2: less asked. [inh]

// Tolerances, over that of the def.
#define RG_RUN_TOLERANCE_RATIO   0.9 // of a run; margin for rounding between run and judge. [inh]
#define RG_START_TOLERANCE_RATIO 0.3 // of a start solved in the last step; x2: starts swing. [note]
#define RG_REST_TOLERANCE_RATIO  1e-4 // of solves at rest; x2: a little more of them. [note]

// Rounding.
#define RG_ZERO_RATIO  1e-9  // mu, slopes, pivots, normals over others that count as 0. [abl]
#define RG_LEAST_SHIFT 1e-10 // eps of newton.8, interior.8; rho of interior.9. [abl, note]

// Forms of the matrix: cost only.
#define RG_DENSE_ROW_RATIO  2   // rows / velocities up to which G is dense. [abl]
#define RG_DENSE_ROWS       100 // up to which G, or H, is dense; x2: cost. [abl]
#define RG_DENSE_FILL_RATIO 0.4 // nonzeros above which blocks are not worth it. [inh]

// Starts and Gauss-Seidel passes.
#define RG_START_MOST_RESIDUAL 10  // residual [-] above which a start is scaled down. [note]
#define RG_START_FAR_RESIDUAL  0.1 // residual [-] of wrong active sets; x10: 10 % work. [abl]
#define RG_GAUSS_SEIDEL_PASSES 5   // before Newton, on far and slow starts. [abl] 2 and 5 alike

// Proximal Newton (newton.md).
#define RG_NEWTON_ITERATIONS      20 // of each try, memory of newton.9. [abl] 15, 20, 25, 30 alike
#define RG_NEWTON_SHIFT_RATIO     3e-2 // e of newton.7 [-]; x1/3: 5 robot steps left, not 0. [abl]
#define RG_NEWTON_PROXIMAL_RATIO  1e-5 // p of newton.11 at first; x10: 8, not 0, left. [abl]
#define RG_STRONG_PROXIMAL_RATIO  1e-4 // of polish, certificate, interior.12. [abl] 1e-5: worse
#define RG_PROXIMAL_GROWTH_RATIO  3    // p after / before, where it grows or falls. [abl, piles]
#define RG_CENTRE_PROXIMAL_RATIO  0.1  // p after / before newton.12; x3: [t scene] towers swing
#define RG_CENTRE_MAP_RATIO       10   // |F| / |p (lambda - c)| of newton.12. [newton.md]
#define RG_CENTRE_GROWTH_RATIO    1e3  // growth of |F| after it. [abl] 1: 40, not 21, left
#define RG_LINE_SEARCH_LEAST_STEP 0.05 // of newton.9 [-]. [newton.md]
#define RG_CYCLE_MAP_RATIO        1e-3 // difference of two |F| that are alike. [newton.md]
#define RG_SLOW_RESIDUAL_RATIO    0.5  // residual after / before, at rest and of auto.5. [piles]

// Nonlinear elimination (newton.17-20).
#define RG_LARGE_BLOCK_COUNT          200 // blocks of islands above which it is done. [piles]
#define RG_BLOCKS_PER_TASK            64  // of loops on several threads, 5 us; no answer. [piles]
#define RG_SUBPROBLEM_MOST_COUNT      20 // contacts solved exactly; x2: fewer steps, slower. [piles]
#define RG_SUBPROBLEM_ROUNDS          3  // in which they join; 1: more iterations. [piles]
#define RG_SUBPROBLEM_ITERATIONS      30  // of Newton from each start. [piles] 10: more, not solved
#define RG_SUBPROBLEM_REST_RATIO      0.1 // |F| left to the others / |F|; x3: the same. [piles]
#define RG_SUBPROBLEM_TOLERANCE_RATIO 0.03 // |F| of those / |F|; x3, x10: more iterations. [piles]

// Search for further answers (ncp.17-19).
#define RG_ANSWER_START_TOLERANCE  1e-3 // residual [-] of its starts. [inh]
#define RG_ANSWER_COMPLIANCE_RATIO 1e-2 // their compliance / G_ii; x10: 3 of 5 not found. [note]

// Interior point (interior.md).
#define RG_ROBUST_ITERATIONS        100  // of interior point, damped Newton, multipliers. [inh]
#define RG_POINT_IMPULSE            0.3  // lambda_n of the first point [-]; 0.5: 28, not 20. [abl]
#define RG_POINT_VELOCITY           0.5  // sigma_n above the velocity there [-]; 0.3: 23. [abl]
#define RG_BOUNDARY_RATIO           0.95 // step / way to the boundary; 0.9: 25 for 20 left. [abl]
#define RG_CENTRING_LEAST_RATIO     0.01 // target mu / duality measure; x3: 23, not 20. [abl]
#define RG_SECOND_ORDER_STEP        0.1  // predictor's step with a corrector. [abl] 0: 118, not 98
#define RG_FLOOR_TOLERANCE_RATIO    0.03 // s of interior.10 / tolerance; x3: 22, not 20. [abl]
#define RG_STALL_STEP               1e-4 // step that ends the path. [abl] 1e-2: 194, not 98, left
#define RG_BLOCKED_STEP             0.3  // below: interior.12, 14; x1/2: 29, not 20. [abl]
#define RG_BLOCKING_MOST_COUNT      20   // such contacts; more cost more. [inh]
#define RG_BLOCKING_TOLERANCE       1e-3 // |F| of interior.15 / sqrt(mu); x10: 23, not 20. [abl]
#define RG_BLOCKING_SMOOTHING_RATIO 1e4 // mu of the smoothest start / mu. [abl] 0: 70, not 54, left
#define RG_POLISH_RESIDUAL          1e-4 // residual [-] from which Newton tries. [inh]

// Damped Newton, for friction above one.
#define RG_DAMPED_SHIFT_RATIO 1.0 // e of newton.7; x2: as good, x0.3 or x10: less. [note]

// Method of multipliers (auto.4-6). p of newton.11 is the accuracy at first.
#define RG_MULTIPLIER_ITERATIONS     6    // of Newton per centre; x2: a few more in all. [piles]
#define RG_MULTIPLIER_DECAY_RATIO    0.1  // p after / before such a centre. [piles] 1: walls creep
#define RG_MULTIPLIER_FIRST_RESIDUAL 1e-4 // to it, then to the tolerance; x10, x0.1: more. [piles]

// Certificate (auto.1-3), for users of the solver alone.
#define RG_CERTIFICATE_SPEED_RATIO 1e6  // velocity that the proof excludes / max |g|. [towers]
#define RG_CONFLICT_RATIO          1e-2 // |y| / max |y| of rows that are named. [inh]
