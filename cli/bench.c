// rigor bench: measurements, by subject.
#include "bench.h"

static const rgVerb subjects[] = {
    {"inverse", "inverse dynamics with contacts: an arm that slides on a wall", rgBench_Inverse},
    {"physics", "experiments with known answers", rgBench_Physics},
    {"simulate", "steps per second of whole simulations, beside MuJoCo", rgBench_Simulate},
    {"solver", "contact solvers on FCLIB problems", rgBench_Solver},
};

int rgCli_Bench(int argc, char** argv) {
    return rgRunVerb("rigor bench", subjects, (int)(sizeof(subjects) / sizeof(subjects[0])), argc,
                     argv);
}
