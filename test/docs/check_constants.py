"""Numbers on the pages are those of the code: check_constants.py SOURCE

A row of TABLE is a page, a phrase of it with {} where numbers are, and for each number where the
code has it: a file and the name of a macro, of a constant or of a field that is set there, or a
regular expression with one group, and maybe a function of it. {mm}, {um}, {%} and so on are units that the code does not have.
Every number of the table of bounds in docs/limits.md must be in some row.
"""
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
UNITS = {"": 1, "mm": 1e-3, "um": 1e-6, "%": 1e-2, "ms": 1e-3, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "million": 1e6, "kHz": 1e3}
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
SHARES = {"a third": 1 / 3, "half": 1 / 2, "a quarter": 1 / 4, "a fifth": 1 / 5, "a tenth": 1 / 10}
TIMES = {"once": 1, "twice": 2}
NUMBER = (r"((?i:\d+(?: \d\d\d)*(?:\.\d+)?(?:e-?\d+|\^\d+)?|" + "|".join(WORDS[1:] + [*SHARES, *TIMES]) + "))")

TUNING = "src/contact/tuning.h"
STEP = "src/world/tuning.h"
SERVER = "src/view/server.c"
XML = "src/io/xml.h"
WORLD = "src/world/world.c"
SOLVER = "src/contact/solver.c"
PIVOT = "src/contact/baselines/pivot.c"
DECOMPOSE = "src/collision/decompose.c"

TABLE = [
    # What bounds the work of one input.
    ("limits.md", "| XML (URDF, MJCF, SDF, Collada) | {MiB} MiB, {} levels, {million} million elements, {} errors and as many other remarks",
     (XML, "RG_XML_MAX_BYTES"), (XML, "RG_XML_MAX_DEPTH"), (XML, "RG_XML_MAX_NODES"), (XML, "RG_XML_MAX_REMARKS")),
    ("limits.md", "`<replicate>` {} copies, `<attach>` {} levels; meshes of rings and cones {} corners around",
     ("src/io/mjcf_replicate.c", "RG_MAX_COPIES"), ("src/io/mjcf_attach.c", "RG_ATTACH_MAX_DEPTH"), ("src/io/mjcf_builtin.c", "RG_MAX_RESOLUTION")),
    ("limits.md", "| SDF | `<include>` {} levels, {million} million parts, {} links of one model between which contacts are excluded",
     ("src/io/sdf.h", "RG_SDF_MAX_DEPTH"), ("src/io/sdf.h", "RG_SDF_MAX_PARTS"), ("src/io/sdf.c", "RG_SDF_MAX_EXCLUDED")),
    ("limits.md", "| Collada | {million} million nodes placed, {} levels |",
     ("src/io/collada.c", "RG_COLLADA_MAX_NODES"), ("src/io/collada.c", "RG_COLLADA_MAX_DEPTH")),
    ("limits.md", "| meshes | {MiB} MiB, {million} million vertices or triangles, coordinates up to {} m |",
     ("src/io/mesh.h", "RG_MESH_MAX_BYTES"), ("src/io/mesh.h", "RG_MESH_MAX_COUNT"), ("src/io/mesh.h", "RG_MESH_MAX_COORDINATE")),
    ("limits.md", "| height fields | {} samples in MJCF, {million} million in SDF; files of {GiB} GiB |",
     ("src/io/mjcf_asset.c", "RG_HFIELD_MAX_COUNT"), ("src/io/sdf_shape.c", "RG_SDF_FIELD_MAX"), ("src/io/mjcf_asset.c", "RG_HFIELD_MAX_BYTES")),
    ("limits.md", "| motions for `rigor identify` | {GiB} GiB of CSV |", ("src/identify/motion_csv.c", "rg_longestFile")),
    ("limits.md", "| other lines of text | {MiB} MiB |", ("cli/table.c", "RG_LINE_BYTES")),
    ("limits.md", "| JSON of runs | {MiB} MiB, {} levels |", ("cli/json_read.c", "RG_JSON_BYTES"), ("cli/json_read.c", "RG_JSON_DEPTH")),
    ("limits.md", "in a child process with {} s and {GiB} GiB", ("cli/guard.c", "seconds"), ("cli/guard.c", r"\.bytes = ([^}]*)\}")),
    ("limits.md", "| the viewer's server | {} connections of one request each, {} of them with frames, {} s to ask, {} s to take the answer, {KiB} KiB of headers, {KiB} KiB of a command, {MiB} MiB of a picture that was asked for, {} commands that wait, {} s of silence |",
     (SERVER, "rg_connectionLimit"), (SERVER, "rg_clientLimit"), (SERVER, "rg_requestSeconds"), (SERVER, "rg_answerSeconds"), (SERVER, "rg_headerBytes"), (SERVER, "rg_commandBytes"), (SERVER, "rg_pictureBytes"), (SERVER, "rg_commandCount"), (SERVER, "rg_idleSeconds")),
    ("limits.md", "| a model | {} entries of its mass matrix (a chain of {} joints) |", ("src/model/links.c", "RG_MASS_LIMIT"), ("src/model/links.c", "RG_MASS_LIMIT", lambda n: int((2 * n) ** 0.5))),
    ("limits.md", "| a built-in scene | {million} million bodies |", ("src/scene/scene.c", "rg_sceneMaxCount")),
    ("limits.md", "| folders for `rigor solve` | {} in each other, {} files and folders;", ("cli/cases.c", "RG_WALK_DEPTH"), ("cli/cases.c", "RG_WALK_ENTRIES")),
    ("formats/fclib.md", "More than {} folders in each other or {} files and folders", ("cli/cases.c", "RG_WALK_DEPTH"), ("cli/cases.c", "RG_WALK_ENTRIES")),
    # What limits.md says elsewhere.
    ("limits.md", "at most 2^31 worlds and {} parts", ("src/io/results.c", "RG_RESULTS_PARTS")),
    ("limits.md", "become up to {} convex parts that may fill hollows up to {%} % of the size", (DECOMPOSE, "maxHulls"), (DECOMPOSE, "tolerance")),
    ("limits.md", "Equalities have a compliance of {} of G", (STEP, "RG_RIGID_COMPLIANCE_RATIO")),
    ("limits.md", "allows {%} % of the largest kinetic", (STEP, "RG_ANOMALY_ENERGY_RATIO")),
    ("limits.md", "its tolerance, {} of the residual", (SOLVER, "tolerance")),
    ("limits.md", "a manifold has at most {} ({} where the pair is fast)", (WORLD, "maxContactsPerPair"), ("include/rigor/collision.h", "RG_MANIFOLD_CAPACITY")),
    # Defaults.
    ("architecture.md", "tolerance {} of the residual of [ncp.12](theory/ncp.md), at most {} iterations in a solve; rigid contacts, penetration undone at most at {} m/s",
     (SOLVER, "tolerance"), (SOLVER, "maxIterations"), (WORLD, "pushOutSpeed")),
    ("architecture.md", "threshold {} g dt; mu {} where", (WORLD, r"fmax\(RG_CREEP_SPEED, (\d) \*"), ("src/model/defaults.c", r"\.mu = (\S+),")),
    ("architecture.md", "dt {ms} ms; gravity {}.", (WORLD, r": (1e-3),"), (WORLD, r"rgVec\(0, 0, -(9\.81)\)")),
    ("architecture.md", "closing speed plus {mm} mm", (WORLD, "margin")),
    ("architecture.md", "a manifold of up to {} points", (WORLD, "maxContactsPerPair")),
    # A step.
    ("theory/step.md", "margin of a pair = 2 dt (|v_A - v_B| + |w_A| r_A + |w_B| r_B) + {mm} mm", (WORLD, "margin")),
    ("theory/step.md", "a point is a candidate if phi <= {mm} mm", (WORLD, "margin")),
    ("theory/step.md", "and {} points hold them as four do", (STEP, "RG_OVERLAP_POINT_COUNT")),
    ("theory/step.md", "after {} rounds all take part", (STEP, "RG_REVISE_PASSES")),
    ("theory/step.md", "travels more than {mm} mm gets {} points instead of {}", (WORLD, "margin"), ("include/rigor/collision.h", "RG_MANIFOLD_CAPACITY"), (WORLD, "maxContactsPerPair")),
    ("theory/step.md", "passed by more than {um} um", (STEP, "RG_DEPTH_TOLERANCE")),
    ("theory/free.md", "y = {} K/(1 + 4 D)", (STEP, "RG_STIFFNESS_FACTOR")),
    ("theory/step.md", "y = {} n (dt^2 k + dt d)/m", (STEP, "RG_STIFFNESS_FACTOR")),
    ("theory/free.md", "fixed-point iteration to {};", (STEP, "RG_MIDPOINT_TOLERANCE")),
    ("theory/free.md", "by {} fixed-point iterations", (STEP, "RG_ROTATION_ITERATIONS")),
    ("theory/free.md", "dt sqrt(w^2 + ({} d)^2) > {} rad", (STEP, "RG_FAST_CHANGE_FACTOR"), (STEP, "RG_FAST_ANGLE")),
    ("theory/free.md", "n = ceil(dt w_max/{}), at most {}.", (STEP, "RG_FAST_ANGLE"), (STEP, "RG_SUBSTEP_MOST_COUNT")),
    ("limits.md", "turn by more than {} rad in a step gain none", (STEP, "RG_FAST_ANGLE")),
    ("theory/step.md", "A gap below {} m counts as zero", (STEP, "RG_SLOP")),
    ("theory/step.md", "A step has {} factorizations", (STEP, "RG_MOST_FACTORIZATIONS")),
    ("theory/step.md", "islands of up to {} blocks the solve", (TUNING, "RG_LARGE_BLOCK_COUNT")),
    ("theory/step.md", "After {} passes, or after half", (STEP, "RG_MOST_PASSES")),
    ("theory/gap.md", "solved again until it stays to h/10, {} times at most", (STEP, "RG_REVISE_PASSES")),
    ("theory/monitor.md", "An anomaly above {mm} mm + {%} % of the smaller bounding radius", (STEP, "RG_ANOMALY_LEAST_DEPTH"), (STEP, "RG_ANOMALY_DEPTH_RATIO")),
    ("theory/monitor.md", "An anomaly above {%} % of the largest kinetic energy + m ({} m/s)^2/2", (STEP, "RG_ANOMALY_ENERGY_RATIO"), (STEP, "RG_ANOMALY_SPEED")),
    # Projection.
    ("theory/projection.md", "a depth above {} m or with rigid loops take part", (STEP, "RG_SLOP")),
    ("theory/projection.md", "R = {} G_rr", (STEP, "RG_PROJECT_COMPLIANCE_RATIO")),
    ("theory/projection.md", "by more than {} of the largest depth", (STEP, "RG_PROJECT_TOLERANCE_RATIO")),
    ("theory/projection.md", "all loops are one block of a pass (up to {} rows,", (STEP, "RG_LOOP_DENSE_ROWS")),
    ("theory/projection.md", "|phi| < {}. Half lines join", (STEP, "RG_LOOP_TOLERANCE")),
    ("theory/projection.md", "d = {} min(|phi|/{}, 1)", (STEP, "RG_DAMPED_COMPLIANCE_RATIO"), (STEP, "RG_OPEN_VIOLATION")),
    ("theory/projection.md", "at the start of the step exceeds {} m or rad", (STEP, "RG_OPEN_VIOLATION")),
    ("theory/projection.md", "drags have R = {} G", (STEP, "RG_DAMPED_COMPLIANCE_RATIO")),
    ("theory/projection.md", "has R_n = {} G_nn", (STEP, "RG_SQUEEZE_COMPLIANCE_RATIO")),
    # Constraints.
    ("theory/constraints.md", "gaps below {} m count as none", (STEP, "RG_SLOP")),
    ("theory/constraints.md", "The threshold is {} g dt", (WORLD, r"fmax\(RG_CREEP_SPEED, (\d) \*")),
    ("theory/constraints.md", "phi <= {} dt (|v| + |v_free|) + {}.", (STEP, "RG_IMPACT_SPEED_RATIO"), (STEP, "RG_SLOP")),
    ("theory/constraints.md", "R is at least {} trace(G_ii)/m", (STEP, "RG_RIGID_COMPLIANCE_RATIO")),
    ("theory/constraints.md", "(G_rr below {} of the mean)", (STEP, "RG_ROUNDING")),
    ("theory/constraints.md", "where that exceeds {} m/s", (STEP, "RG_CREEP_SPEED")),
    ("theory/constraints.md", "max(0, 1 - {} |w_B - w_A|", (STEP, "RG_TOGETHER_FACTOR")),
    # The plan of auto.
    ("theory/auto.md", "**Proximal Newton** ([newton.md](newton.md)), {} iterations", (TUNING, "RG_NEWTON_ITERATIONS")),
    ("theory/auto.md", "A start with a residual above {} is scaled", (TUNING, "RG_START_MOST_RESIDUAL")),
    ("theory/auto.md", "Above {}, contacts have come or gone: {} Gauss-Seidel passes", (TUNING, "RG_START_FAR_RESIDUAL"), (TUNING, "RG_GAUSS_SEIDEL_PASSES")),
    ("theory/auto.md", "from zero impulses, {} iterations", (TUNING, "RG_ROBUST_ITERATIONS")),
    ("theory/auto.md", "Up to {} contacts that block", (TUNING, "RG_BLOCKING_MOST_COUNT")),
    ("theory/auto.md", "Newton solves it to the accuracy, {} iterations at most", (TUNING, "RG_MULTIPLIER_ITERATIONS")),
    ("theory/auto.md", "p = min({} p, 1) where it is not", (TUNING, "RG_PROXIMAL_GROWTH_RATIO")),
    ("theory/auto.md", "p = {} p where it is, and the rigid residual has not fallen to {} of the one before", (TUNING, "RG_MULTIPLIER_DECAY_RATIO"), (TUNING, "RG_SLOW_RESIDUAL_RATIO")),
    ("theory/auto.md", "at most the accuracy, {} iterations at most", (TUNING, "RG_ROBUST_ITERATIONS")),
    ("theory/auto.md", "Runs aim at {} of the tolerance", (TUNING, "RG_RUN_TOLERANCE_RATIO")),
    ("theory/auto.md", "-y . g > {} max |g|", (TUNING, "RG_CERTIFICATE_SPEED_RATIO")),
    ("theory/auto.md", "rows in conflict: |y| > {} max |y|", (TUNING, "RG_CONFLICT_RATIO")),
    ("theory/auto.md", "every row has a compliance of {} of its own G", (TUNING, "RG_STRONG_PROXIMAL_RATIO")),
    # Newton, interior point, ADMM, sweeps, judge.
    ("theory/newton.md", "the first of 1, 1/2, ..., 1/16 with |F(lambda + t d)| < max of the last {} |F|", (TUNING, "RG_NEWTON_ITERATIONS")),
    ("theory/auto.md", "In islands of more than {} blocks", (TUNING, "RG_LARGE_BLOCK_COUNT")),
    ("theory/auto.md", "to a residual of {}, then to", (TUNING, "RG_MULTIPLIER_FIRST_RESIDUAL")),
    ("theory/newton.md", "largest |F|, up to {} until the others have {} |F|,", (TUNING, "RG_SUBPROBLEM_MOST_COUNT"), (TUNING, "RG_SUBPROBLEM_REST_RATIO")),
    ("theory/newton.md", "by Newton with newton.9, to {} |F|: {} iterations each", (TUNING, "RG_SUBPROBLEM_TOLERANCE_RATIO"), (TUNING, "RG_SUBPROBLEM_ITERATIONS")),
    ("theory/newton.md", "newton.20 leaves wrong join S, {} rounds;", (TUNING, "RG_SUBPROBLEM_ROUNDS")),
    ("theory/newton.md", "least = {}\n", (TUNING, "RG_LEAST_SHIFT")),
    ("theory/newton.md", "max(1, |lambda|_inf), least),  e = {},", (TUNING, "RG_NEWTON_SHIFT_RATIO")),
    ("theory/newton.md", "p = {} at first", (TUNING, "RG_NEWTON_PROXIMAL_RATIO")),
    ("theory/newton.md", "when |F| <= {} |p (lambda - c)|: c = lambda, p {} of what it was", (TUNING, "RG_CENTRE_MAP_RATIO"), (TUNING, "RG_CENTRE_PROXIMAL_RATIO")),
    ("theory/interior.md", "step length a ({} of the way to the boundary, at most 1)", (TUNING, "RG_BOUNDARY_RATIO")),
    ("theory/interior.md", "max((1 - a)^3, {})", (TUNING, "RG_CENTRING_LEAST_RATIO")),
    ("theory/interior.md", "rho = {} duality measure", (TUNING, "RG_LEAST_SHIFT")),
    ("theory/interior.md", "s = {} tolerance/weight", (TUNING, "RG_FLOOR_TOLERANCE_RATIO")),
    ("theory/interior.md", "would end the step before {} gets p = max({} p, {}), others p/{}, rho at least:", (TUNING, "RG_BLOCKED_STEP"), (TUNING, "RG_PROXIMAL_GROWTH_RATIO"),
     (TUNING, "RG_STRONG_PROXIMAL_RATIO"), (TUNING, "RG_PROXIMAL_GROWTH_RATIO")),
    ("theory/interior.md", "shorter than {}, the contacts S that end it before {} (at most {})", (TUNING, "RG_BLOCKED_STEP"), (TUNING, "RG_BOUNDARY_RATIO"), (TUNING, "RG_BLOCKING_MOST_COUNT")),
    ("theory/interior.md", "halved steps, {} iterations", (TUNING, "RG_NEWTON_ITERATIONS")),
    ("theory/interior.md", "cones before {} join S, round by round, until the step is longer than {}", (TUNING, "RG_BOUNDARY_RATIO"), (TUNING, "RG_BOUNDARY_RATIO")),
    ("theory/interior.md", "a step shorter than {} ends it", (TUNING, "RG_STALL_STEP")),
    ("theory/admm.md", "eta = {}. The penalty", (SOLVER, "proximal")),
    ("theory/admm.md", "p = {} at the start", (SOLVER, "exponent")),
    ("theory/admm.md", "p += {} when primal >= {} dual, p -= {} when dual >= {} primal", (SOLVER, "exponentStep"), (SOLVER, "ratio"), (SOLVER, "exponentStep"), (SOLVER, "ratio")),
    ("theory/admm.md", "`relaxation` a ({}), `cooldown` (rho moves at most every {} iterations), `andersonMemory` ({})", (SOLVER, r"def\.relaxation = (\S+);"), (SOLVER, r"def\.cooldown = (\S+);"), (SOLVER, "andersonMemory")),
    ("theory/ncp.md", "For mu > {} ncp.10 uses", (TUNING, "RG_STEEP_FRICTION")),
    ("theory/ncp.md", "without it, {} of the error of zero impulses", (TUNING, "RG_REFERENCE_RATIO")),
    ("theory/velocity.md", "touch more than {%} % of the island's velocities", (TUNING, "RG_DENSE_FILL_RATIO")),
    ("theory/velocity.md", "dense up to {} velocities or {} parts", (TUNING, "RG_DENSE_ROWS"), ("src/contact/system_velocity.c", r"partCount <= (\d)\)")),
    ("theory/velocity.md", "becomes a dense G up to {} rows where n <= {} nv,", (TUNING, "RG_DENSE_ROWS"), (TUNING, "RG_DENSE_ROW_RATIO")),
    ("theory/velocity.md", "dense up to {} rows or above {%} % filling", (TUNING, "RG_DENSE_ROWS"), (TUNING, "RG_DENSE_FILL_RATIO")),
    ("theory/velocity.md", "least regularisation is {}. A", (TUNING, "RG_LEAST_SHIFT")),
    ("theory/models.md", "has fallen to {} of its first value", (PIVOT, "RG_PIVOT_END")),
    ("theory/models.md", "up to {} sweeps take rounding away, and up to {} paths", (PIVOT, "RG_PIVOT_SWEEPS"), (PIVOT, "RG_PIVOT_TRIES")),
    ("theory/models.md", "the others exceed {} variables per island", (PIVOT, "RG_PIVOT_MOST")),
    ("theory/inverse.md", "rho = {} by default", ("src/contact/inverse.c", "penalty")),
    ("theory/inverse.md", "after {} iterations without progress", ("src/contact/inverse.c", r"sinceProgress > (\d+)")),
    ("theory/inverse.md", "speeds below the **snap** ({} m/s by default", ("src/inverse/inverse.c", "snap")),
    ("theory/inverse.md", "exceeds {} of the forces at the base", (STEP, "RG_MISSING_RATIO")),
    ("theory/inverse.md", "{} proximal steps (x0 := x) remove", (STEP, "RG_FEASIBLE_PASSES")),
    ("theory/inverse.md", "(Gram-Schmidt, {})", (STEP, "RG_FEASIBLE_TOLERANCE")),
    ("theory/identify.md", "a quarter of the step is tried, {}.", ("src/identify/refine.c", "rg_narrowings")),
    ("theory/identify.md", "{} steps of Gauss and Newton", ("src/identify/starts.c", "rg_startSteps")),
    ("theory/fluid.md", "where dt D/M exceeds {}", (STEP, "RG_FLUID_STIFF_RATIO")),
    # Collision.
    ("theory/collision.md", "coplanar to {} of the hull's size become one polygon (at most {} corners)", ("src/collision/hull.c", "RG_HULL_MERGE"), ("src/collision/internal.h", "RG_POLYGON_LIMIT")),
    ("theory/collision.md", "a hull with more than {} vertices climbs along edges", ("src/collision/internal.h", "RG_HULL_SMALL")),
    ("theory/collision.md", "v . v - v . w <= {} v . v, when a support repeats, or after {} supports", ("src/collision/gjk.c", "RG_GJK_TOLERANCE"), ("src/collision/gjk.c", "RG_GJK_LIMIT")),
    ("theory/collision.md", "(`epa.c`, at most {} vertices)", ("src/collision/epa.c", "RG_EPA_VERTICES")),
    ("theory/collision.md", "has no volume, {} directions are tried", ("src/collision/distance.c", r"k < (27);")),
    ("theory/collision.md", "up to {} more supports push those faces out", ("src/collision/epa.c", "RG_EPA_RIVALS")),
    ("theory/collision.md", "polygons of {} corners", ("src/collision/feature.c", "RG_RIM")),
    ("theory/collision.md", "The inset is {%} % of the least half extent", ("src/collision/boxes.c", "RG_BOX_ROUND")),
    ("theory/collision.md", "with an inset of {%} %", ("src/collision/corners.c", "RG_CORNER_ROUND")),
    ("theory/collision.md", "no less by {} insets than the signed distance", ("src/collision/corners.c", "RG_CORNER_DEEP")),
    ("theory/collision.md", "collected by normal ({} groups) and reduced to {} points in all", ("src/collision/surface.c", "RG_GROUPS"), ("include/rigor/collision.h", "RG_MANIFOLD_CAPACITY")),
    ("theory/collision.md", "deeper than {} of its size are therefore tested", ("src/collision/surface.c", "RG_DEEP")),
    ("theory/collision.md", "and by {} more steps like the last one", ("src/collision/broadphase.c", "RG_AHEAD")),
    ("theory/collision.md", "with up to {} children per node", ("src/collision/tree.h", "RG_TREE_WIDTH")),
    ("theory/collision.md", "{} points spread over the surface", (DECOMPOSE, "RG_PROBES")),
    ("theory/collision.md", "length of this ray stays below {%} % of the diagonal of the mesh's box (`tolerance`), with at most {} hulls (`maxHulls`)", (DECOMPOSE, "tolerance"), (DECOMPOSE, "maxHulls")),
    ("theory/collision.md", "{} planes at even distances and up to {} at the largest faces", (DECOMPOSE, "RG_CUTS"), (DECOMPOSE, "RG_LEVELS")),
    ("theory/collision.md", "farthest points in {} directions", (DECOMPOSE, "RG_LOOKS")),
    ("theory/collision.md", "cutting goes on, up to {} times", (DECOMPOSE, "RG_ROUNDS")),
    # Formats.
    ("formats/urdf.md", "Limits: {MiB} MiB of XML, {} levels, {million} million elements; at most {} errors and {} other remarks",
     (XML, "RG_XML_MAX_BYTES"), (XML, "RG_XML_MAX_DEPTH"), (XML, "RG_XML_MAX_NODES"), (XML, "RG_XML_MAX_REMARKS"), (XML, "RG_XML_MAX_REMARKS")),
    ("formats/mjcf.md", "At most {} copies", ("src/io/mjcf_replicate.c", "RG_MAX_COPIES")),
    ("formats/mjcf.md", "At most {} files deep", ("src/io/mjcf_attach.c", "RG_ATTACH_MAX_DEPTH")),
    ("formats/mjcf.md", "one that is not convex becomes up to {} hulls", (DECOMPOSE, "maxHulls")),
    ("formats/mesh.md", "At most {} levels", ("src/io/collada.c", "RG_COLLADA_MAX_DEPTH")),
    ("formats/mesh.md", "not finite or beyond {}, indices", ("src/io/mesh.h", "RG_MESH_MAX_COORDINATE")),
    ("formats/mesh.md", "more than {MiB} MiB or {million} million vertices or triangles", ("src/io/mesh.h", "RG_MESH_MAX_BYTES"), ("src/io/mesh.h", "RG_MESH_MAX_COUNT")),
    ("formats/recording.md", "Datasets are in chunks of {KiB} KiB", ("src/record/recorder.c", "rg_chunkBytes")),
    ("formats/recording.md", "\"rigor recording\", {} |", ("src/record/record.h", "RG_RECORD_VERSION")),
    ("kernels.md", "no contraction, fixed order of operations) up to n = {}", ("src/math/kernels.h", "RG_PLAIN_LIMIT")),
    ("kernels.md", "Cholesky {} (AVX2) and {} (AVX-512", ("src/math/kernels_avx2.c", "RG_WIDE_CHOLESKY_LIMIT"), ("src/math/kernels_avx512.c", "RG_WIDE_CHOLESKY_LIMIT")),
    ("kernels.md", "LU {} and {}, products above {} (AVX2) and {} (AVX-512)", ("src/math/kernels_avx2.c", "RG_WIDE_LU_LIMIT"), ("src/math/kernels_avx512.c", "RG_WIDE_LU_LIMIT"),
     ("src/math/kernels_avx2.c", "RG_WIDE_PRODUCT_LIMIT"), ("src/math/kernels_avx512.c", "RG_WIDE_PRODUCT_LIMIT")),
    ("kernels.md", "`rgBlockFactor_SolveMany` takes {} right-hand sides at a time", ("src/math/blockfactor_private.h", "rg_groupSize")),
    ("kernels.md", "more than {million} MFlop, a nested dissection", ("src/math/blockfactor_symbolic.c", "rg_dissectionFlops")),
    ("howto/simulate.md", "residual to reach ({}), iterations per solve ({};", (SOLVER, "tolerance"), (SOLVER, "maxIterations")),
    ("viewer.md", "at most {} per second unless `--fps` says otherwise", ("src/view/pack.c", "framesPerSecond")),
    ("formats/sdf.md", "At most {} files deep", ("src/io/sdf.h", "RG_SDF_MAX_DEPTH")),
    ("formats/sdf.md", "of their `density` ({} kg/m^3)", ("src/io/sdf_shape.c", "RG_SDF_DENSITY")),
    ("formats/sdf.md", "bounds of {} and `inf` are none", ("src/io/sdf_joint.c", "RG_SDF_NO_LIMIT")),
]


def fail(text):
    raise ValueError(text)


def read_value(text):
    text = re.sub(r"\((?:size_t|double|int)\)", "", text).replace("^", "**")
    try:
        return float(eval(text, {"__builtins__": {}}))
    except Exception:
        fail(f"'{text}' is no number")


def code_value(place):
    path, what = place[0], place[1]
    text = (SOURCE / path).read_text(encoding="utf-8")
    if not re.fullmatch(r"\w+", what):
        found = re.findall(what, text, re.M)
    else:
        found = re.findall(rf"^#define +{what} +(.*?)(?: *//.*)?$|\b{what} = (-?\d[\w.-]*(?: << \d+)?)[,;}} ]", text, re.M)
        found = [a or b for a, b in found]
    values = {read_value(f) for f in found}
    if len(values) != 1:
        fail(f"{path}: {what} has {len(values)} values {sorted(values)}; one is needed")
    return place[2](values.pop()) if len(place) > 2 else values.pop()


def page_value(text):
    text = text.lower()
    if text in WORDS:
        return float(WORDS.index(text))
    if text in SHARES or text in TIMES:
        return SHARES.get(text) or TIMES[text]
    base, _, power = text.replace(" ", "").partition("^")
    return float(base) ** float(power or 1)


def check(row, pages, seen):
    page, phrase, places = row[0], row[1], row[2:]
    parts = re.split(r"\{(\w*|%)\}", phrase)
    units, pattern = parts[1::2], NUMBER.join(re.sub(r"(\\ )+|(\\\n)+", r"\\s+", re.escape(p)) for p in parts[0::2])
    if len(units) != len(places):
        fail(f"{page}: '{phrase}' has {len(units)} numbers and {len(places)} places")
    found = list(re.finditer(pattern, pages[page]))
    if not found:
        return [f"{page}: '{phrase}' is not there"]
    wrong = []
    for match in found:
        for i, (unit, place) in enumerate(zip(units, places), 1):
            seen.setdefault(page, []).append(match.span(i))
            said, true = page_value(match.group(i)) * UNITS[unit], code_value(place)
            if abs(said - true) > 1e-9 * abs(true):
                wrong.append(f"{page}: '{match.group(0)}': {match.group(i)} is {true / UNITS[unit]:g} in {place[0]} ({place[1]})")
    return wrong


def unchecked_bounds(text, spans):
    start = text.index("| input | bound |")
    end = text.index("\n\n", start)
    for match in re.finditer(r"(?<![\w.^])\d[\d.]*(?:e-?\d+|\^\d+)?", text[start:end]):
        at = start + match.start()
        if not any(a <= at < b for a, b in spans):
            yield f"limits.md: {match.group(0)} in '{text[at - 20:at + 20]}' is in no row of check_constants.py"


def main():
    pages = {row[0]: (SOURCE / "docs" / row[0]).read_text(encoding="utf-8") for row in TABLE}
    seen, wrong = {}, []
    for row in TABLE:
        try:
            wrong += check(row, pages, seen)
        except ValueError as error:
            wrong.append(f"{row[0]}: '{row[1]}': {error}")
    wrong += unchecked_bounds(pages["limits.md"], seen.get("limits.md", []))
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(len(row) - 2 for row in TABLE)} numbers on {len(pages)} pages")


main()
