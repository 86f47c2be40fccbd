// Numbers of the time step, each in one place. A name ends in its quantity. Behind the value: the
// quantity it is relative to [unit], the effect of doubling it, and the experiment that chose it:
//   [x.md]  docs/theory/x.md;  [note] docs/notebook/step.md
//   [t x]   test/world/test_x.c fails with half or twice the value
//   [inh]   inherited, not measured
// Defaults of rgWorldDef are not here.
#pragma once

// Zero, for decisions.
#define RG_SLOP            1e-9  // [m], [rad] of gap or depth. [note, t inverse_recover]
#define RG_ROUNDING        1e-12 // of gaps [m], slips [m/s], entries of J, ratios of G. [inh]
#define RG_DEPTH_TOLERANCE 1e-6  // [m], [rad] of overlap by design, starts, casts. [t start]
#define RG_CREEP_SPEED     1e-7  // [m/s] of a slip that sticks; x2: bristles drift. [t bristle]
#define RG_CONE_RATIO      1e-3  // distance from the cone / bound of a slip; x1e3: nothing. [note]
#define RG_REST_RATIO      1e-2  // v / (g dt) at rest, w^2 r / g of bodies that do not roll. [inh]
#define RG_LEAST_REACH     1 // [m] of a coordinate that moves neither shape nor mass. [t joints]

// Contacts.
#define RG_IMPACT_SPEED_RATIO  2  // speed / that before an impact at the other end. [note]
#define RG_OVERLAP_POINT_COUNT 2  // points of pairs that overlap by design; x2: cost. [note]
#define RG_PAIRS_PER_TASK      64 // of collision; x2: fewer, longer tasks. [inh]

// Passes.
#define RG_MOST_PASSES         16   // of a step, rebounds included. [inh]
#define RG_REVISE_PASSES       6    // in which contacts and gaps change; x1/2: alike. [note]
#define RG_MOST_FACTORIZATIONS 450  // of a step, islands up to 200 blocks. [note]
#define RG_RESTITUTION_RATIO   1e-4 // accuracy of the work / work of full restitution. [inh]

// Free motion.
#define RG_STIFFNESS_FACTOR      4.0      // of free.2, step.8; x2: 18, not 12, steps per period
#define RG_ADHESION_GAP          1e-5     // [m] up to which it acts. [t actuator]
#define RG_MIDPOINT_TOLERANCE    1e-9     // of free.6, relative to the velocity. [inh]
#define RG_MOST_DELAYED_CONTROLS 10000000 // of a world. [inh]
#define RG_FLUID_STIFF_RATIO     0.05     // dt d / m of a fluid that changes within a step. [inh]
#define RG_FLIGHT_ANGLE          2e-4     // [rad] of a joint in a step, of free.6. [free.md]

// Trees that turn fast.
#define RG_FAST_ANGLE          0.03 // [rad] of a joint in a step; x1/2: 20 % more cost. [note]
#define RG_FAST_CHANGE_FACTOR  10   // weight of the last change of a rate; 1: [t compliant]
#define RG_SUBSTEP_MOST_COUNT  50   // of a step. [inh]
#define RG_ROTATION_ITERATIONS 2    // of free.10; 1: [t fast, motion]

// Curved paths.
#define RG_CURVED_GAP_RATIO  0.1 // correction / half width of the thinner shape. [t cards]
#define RG_CURVED_MOST_ANGLE 1   // [rad] in a step that corrections can follow. [t tunnel]
#define RG_ROLLING_GAP_RATIO 10  // correction / (arm angle^2) of rolling; none: [t kinematic]
#define RG_ROLLING_RUN_RATIO 0.1 // way of a point of contact / arm; x2: gains. [t rolling]
#define RG_TOGETHER_FACTOR   20  // of constraints.24; x2: rolling starts sooner. [inh]

// Compliances, relative to G.
#define RG_RIGID_COMPLIANCE_RATIO   1e-9 // of loops. [t inverse]
#define RG_SQUEEZE_COMPLIANCE_RATIO 1e-8 // of contacts that a kinematic body closes. [t kinematic]
#define RG_DAMPED_COMPLIANCE_RATIO  1e-3 // of dragged and of open loops; x10: alike. [note]
#define RG_PROJECT_COMPLIANCE_RATIO 1e-6 // of half lines of the projection. [inh]
#define RG_REGULARIZED_RATIO        1e-3 // slip / speed of a kinematic body, of a report. [inh]

// Projection.
#define RG_PROJECT_SHARE           0.5  // of a depth that a step undoes. [projection.md]
#define RG_PROJECT_TOLERANCE_RATIO 1e-4 // of the largest depth; x100: 2.5 times the solves. [note]
#define RG_PROJECT_PASSES          10   // of Gauss-Seidel; x1/2: Cassie 38, not 0, left. [note]
#define RG_OPEN_VIOLATION          1e-3 // [m], [rad] of open, fully damped loops. [t kinematic]
#define RG_OPEN_STEPS              10   // time steps in which an open loop closes; x2: [t conflict]
#define RG_LOOP_ITERATIONS         5    // of Gauss and Newton; 60: [t conflict]
#define RG_LOOP_TOLERANCE          1e-10 // [m], [rad] of a closed loop; x10: [t joints, linearize]
#define RG_LOOP_DENSE_ROWS         128   // up to which loops are one dense block. [inh]
#define RG_SEARCH_ITERATIONS       60    // of midpoints, loops, starts; 12: same bits. [note]
#define RG_SEARCH_LEAST_STEP       1e-3  // of Gauss and Newton [-]. [inh]
#define RG_SEARCH_RISE_COUNT       4     // rises of an error that is rounding. [inh]

// Monitor: bounds of anomalies. Sound runs of all scenes and robots stay below half of each.
#define RG_MONITOR_STEPS        8    // between two looks at energy and forces; x2: cost halves
#define RG_ANOMALY_ENERGY_RATIO 0.03 // rise / largest kinetic energy
#define RG_ANOMALY_SPEED        0.3  // [m/s] of all that moves, with an energy that is none
#define RG_ANOMALY_FORCE_RATIO  1e4  // force / weight of all that moves
#define RG_ANOMALY_STOP_RATIO   4    // and / force that stops all that moves in one step
#define RG_ANOMALY_DEPTH_RATIO  0.02 // sudden depth / radius of the smaller shape
#define RG_ANOMALY_LEAST_DEPTH  1e-3 // [m] beside it

#define RG_RUNAWAY_RATIO 100 // kinetic energy / that of the energy balance, of an error. [inh]
#define RG_RUNAWAY_SPEED 100 // [m/s] of all that moves, below which there is none. [inh]
#define RG_LIGHT_SPEED   3e8 // [m/s], [rad/s] that nothing reaches

// Inverse dynamics (inverse.md).
#define RG_INVERSE_PROJECTIONS     2    // between rows and projection. [inh]
#define RG_INVERSE_ROLLING_RATIO   0.01 // normal speed / rate of the correction. [inh]
#define RG_MISSING_RATIO           1e-6 // missing force / forces on a joint. [inh]
#define RG_FEASIBLE_TOLERANCE      1e-9 // of least squares, ranks and cones. [inh]
#define RG_FEASIBLE_ITERATIONS     500  // of its solver. [inh]
#define RG_FEASIBLE_PASSES         4    // proximal steps. [inh]
#define RG_FEASIBLE_PROXIMAL_RATIO 1e-7 // weight of the last impulses / mean of diag G. [inh]
#define RG_FEASIBLE_GIVEN_RATIO    1e3  // weight of given impulses / mean of diag G. [inh]

// Queries.
#define RG_CAST_ITERATIONS 256 // of conservative advancement. [inh]
#define RG_RANGE_MOST      1e6 // [m] of a range finder. [inh]

// Derivatives of a step.
#define RG_EDGE_SPEED_RATIO   1e-4 // impulse and speed / g dt that neither press nor leave. [inh]
#define RG_RANK_RATIO         1e-8 // of the largest pivot: least that counts. [inh]
#define RG_REGULAR_RATIO      1e-5 // of entries of G: least singular value without QR. [inh]
#define RG_INCONSISTENT_RATIO 1e-3 // of right sides that no impulses meet. [inh]
#define RG_SIDE_POSITION      1e-7 // [m], [rad] along a direction to the side of a kink. [inh]
#define RG_SIDE_VELOCITY      2e-5 // [m/s], [rad/s] the same. [inh]
#define RG_SIDE_FORCE         2e-2 // [N], [N m], of controls the same. [inh]
#define RG_SIDE_EDGE          0.01 // of edges, there. [inh]
#define RG_POINT_STEP         1e-5 // [m], [rad] of differences of contact points. [inh]
#define RG_ARM_STEP           1e-5 // [m], [rad] of differences of lever arms. [inh]
#define RG_PART_STEP          1e-5 // [m], [rad], [m/s] of differences of parts of a step. [inh]
#define RG_PART_FORCE_STEP    1e-3 // [N], [N m], of controls the same. [inh]
#define RG_READ_STEP          1e-5 // [m], [rad], [m/s] of differences of readings. [inh]
#define RG_POINT_FINE_STEP    1e-7 // the same where features change within it. [inh]
#define RG_POINT_BEND         0.1  // relative difference of two sides that is a change. [inh]
#define RG_MATERIAL_STEP      1e-6 // of differences of rules of friction, relative. [inh]
