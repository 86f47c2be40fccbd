// Stacks of boxes, chains of links and heaps of capsules, simulated; their contact problems.
#include "collection.h"

#include "cases.h"
#include "cli.h"
#include "physics/physics.h"
#include "random.h"

// ---- scenes

typedef struct rgText {
    char* text;
    int used, capacity;
} rgText;

static void rgText_Add(rgText* text, const char* format, ...) __attribute__((format(printf, 2, 3)));

static void rgText_Add(rgText* text, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int room = text->capacity - text->used;
    int length = vsnprintf(text->text + text->used, (size_t)room, format, arguments);
    text->used += length < room ? length : 0;
    va_end(arguments);
}

static const char rgFloor[] = "<geom type='plane' size='20 20 1'/>";

// Number of bodies of a run: from 1 to `most`, growing as the power 1.3 of the run's share.
static int rgBodiesOf(int run, int runCount, int most) {
    double share = runCount > 1 ? (double)run / (runCount - 1) : 1;
    return (int)lround(1 + (most - 1) * pow(share, 1.3));
}

enum { rg_stackRuns = 17, rg_chainRuns = 11, rg_capsuleRuns = 17 };

// Columns of up to six boxes of different sizes, turned and shifted a little, which fall on each
// other from a few millimetres.
static int rgWriteStacks(int run, char* text, int capacity) {
    rgText out = {text, 0, capacity};
    rgRandom random = {100 + (uint64_t)run};
    int count = rgBodiesOf(run, rg_stackRuns, 50);
    int columns = (count + 5) / 6, side = (int)ceil(sqrt(columns));
    double height[64] = {0};
    rgText_Add(&out, "%s", rgFloor);
    for (int i = 0; i < count; ++i) {
        int column = i % columns;
        double half = rgRandom_Uniform(&random, 0.07, 0.1), z = height[column] + half + 0.004;
        height[column] = z + half;
        rgText_Add(&out,
                   "<body pos='%.6f %.6f %.6f' euler='0 0 %.6f'><freejoint/>"
                   "<geom type='box' size='%.6f %.6f %.6f' density='1000'/></body>",
                   0.23 * (column % side) + rgRandom_Uniform(&random, -0.02, 0.02),
                   0.23 * (column / side) + rgRandom_Uniform(&random, -0.02, 0.02), z,
                   rgRandom_Uniform(&random, -0.2, 0.2), rgRandom_Uniform(&random, 0.08, 0.11),
                   rgRandom_Uniform(&random, 0.08, 0.11), half);
    }
    return out.used;
}

// Links that hold each other: closed loops of four rods, every other one turned by a quarter, with
// some play, hung up at the first one, which does not move, and thrown sideways. Under two of
// three the floor is so high that the lower links come to lie on it.
static int rgWriteChain(int run, char* text, int capacity) {
    const double length = 0.06, width = 0.03, radius = 0.01;
    rgText out = {text, 0, capacity};
    rgRandom random = {200 + (uint64_t)run};
    int count = 8 + run / 2 % 3; // 48 to 60 degrees of freedom
    double pitch = 2 * length - 2 * radius - 1e-3;
    if (run % 3 != 0) {
        rgText_Add(&out, "<geom type='plane' size='20 20 1' pos='0 0 %.6f'/>",
                   2 - pitch * count * (run % 3 == 1 ? 0.85 : 0.75));
    }
    for (int i = 0; i <= count; ++i) {
        rgText_Add(&out, "<body pos='%.6f %.6f %.6f' euler='0 0 %.6f'>%s",
                   i == 0 ? 0 : rgRandom_Uniform(&random, -2e-4, 2e-4),
                   i == 0 ? 0 : rgRandom_Uniform(&random, -2e-4, 2e-4), 2 - pitch * i,
                   i % 2 == 0 ? 0 : 1.5707963267948966, i == 0 ? "" : "<freejoint/>");
        rgText_Add(&out,
                   "<geom type='capsule' size='%g' fromto='%g 0 %g %g 0 %g' density='7800'/>"
                   "<geom type='capsule' size='%g' fromto='%g 0 %g %g 0 %g' density='7800'/>"
                   "<geom type='capsule' size='%g' fromto='%g 0 %g %g 0 %g' density='7800'/>"
                   "<geom type='capsule' size='%g' fromto='%g 0 %g %g 0 %g' density='7800'/>"
                   "</body>",
                   radius, -width, -length, -width, length, radius, width, -length, width, length,
                   radius, -width, -length, width, -length, radius, -width, length, width, length);
    }
    return out.used;
}

// A heap of capsules in a wide bowl of four walls.
static int rgWriteCapsules(int run, char* text, int capacity) {
    rgText out = {text, 0, capacity};
    rgRandom random = {300 + (uint64_t)run};
    int count = rgBodiesOf(run, rg_capsuleRuns, 90);
    int side = (int)ceil(cbrt(count));
    rgText_Add(&out, "%s", rgFloor);
    for (int k = 0; k < 4; ++k) {
        double angle = 1.5707963267948966 * k, reach = 0.14 * side + 0.1;
        rgText_Add(&out, "<geom type='box' size='0.05 %g 1' pos='%.6f %.6f 0' euler='0 0 %.6f'/>",
                   reach + 0.1, reach * cos(angle), reach * sin(angle), angle);
    }
    for (int i = 0; i < count; ++i) {
        rgText_Add(&out,
                   "<body pos='%.6f %.6f %.6f' euler='%.6f %.6f %.6f'><freejoint/>"
                   "<geom type='capsule' size='%.6f %.6f' density='1000'/></body>",
                   0.24 * (i % side - 0.5 * (side - 1)),
                   0.24 * (i / side % side - 0.5 * (side - 1)), 0.15 + 0.24 * (i / side / side),
                   rgRandom_Uniform(&random, -3, 3), rgRandom_Uniform(&random, -3, 3),
                   rgRandom_Uniform(&random, -3, 3), rgRandom_Uniform(&random, 0.03, 0.05),
                   rgRandom_Uniform(&random, 0.03, 0.06));
    }
    return out.used;
}

const rgFamily rgFamilies[rg_familyCount] = {
    {"BoxesStack", "stacks of 1 to 50 boxes", 255, 240, 1, 0.7, rg_stackRuns, 0.02, 0.04,
     rgWriteStacks},
    {"Chain", "chains of 8 to 10 links that swing and lie", 242, 28, 8, 0.3, rg_chainRuns, 0.1,
     0.03, rgWriteChain},
    {"Capsules", "heaps of 1 to 90 capsules", 249, 200, 1, 0.7, rg_capsuleRuns, 0.3, 0.05,
     rgWriteCapsules},
};

// ---- problems

int rgCountContacts(const rgContactProblem* problem, int* others) {
    int count = 0;
    for (int i = 0; i < problem->blockCount; ++i) {
        count += problem->blocks[i].kind == rg_blockCoulomb;
    }
    if (others != NULL) {
        *others = problem->blockCount - count;
    }
    return count;
}

bool rgWriteProblem(const rgContactProblem* problem, const int* keys, const char* path,
                    const char* title, const char* description) {
    rgDiagnostics* remarks = NULL;
    rgCreateDiagnostics(NULL, &remarks);
    rgFclibContent content = {
        .problem = problem, .title = title, .description = description, .keys = keys};
    bool good = rgMakeParents(path) && rgSaveFclib(path, &content, remarks) == rg_ok;
    if (!good) {
        rgCli_PrintDiagnostics(remarks, stderr, false, false);
        rgCli_Error("%s: could not be written", path);
    }
    rgDestroyDiagnostics(remarks);
    return good;
}

static rgLab rgOpenRun(const rgFamily* family, int run) {
    enum { capacity = 1 << 16 };
    char* bodies = rgCli_Allocate(capacity, 1);
    family->write(run, bodies, capacity);
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = 1e-3;
    def.friction = family->mu;
    rgLab lab = rgLab_Open(&def, "<worldbody>%s</worldbody>", bodies);
    free(bodies);
    // Chains swing: links are thrown sideways, the lower the faster.
    int qCount = 0;
    const double* q = lab.world != NULL ? rgWorld_Positions(lab.world, &qCount) : NULL;
    for (int i = 1; q != NULL && family->least > 1 && i <= rgModel_Info(lab.model).bodyCount; ++i) {
        double depth = 2 - rgWorld_BodyPose(lab.world, (rgBodyId){i}).p.z;
        rgSpatial velocity = {.linear = rgVec((1 + 0.2 * run) * depth, 0.3 * depth, 0)};
        rgWorld_SetBodyVelocity(lab.world, (rgBodyId){i}, velocity);
    }
    return lab;
}

// States of one run, until it has given its share; those without enough contacts are passed by.
static bool rgTakeRun(const rgFamily* family, int run, int* index, int end, int stride,
                      rgTakeProblemFcn* take, void* context) {
    rgLab lab = rgOpenRun(family, run);
    bool good = lab.world != NULL && rgLab_Run(&lab, family->first);
    for (int tries = 0; good && *index < end && tries < 400; ++tries) {
        good = rgLab_Run(&lab, family->every);
        const rgContactProblem* problem = good ? rgWorld_Problem(lab.world, NULL) : NULL;
        int count = problem != NULL ? rgCountContacts(problem, NULL) : 0;
        if (count >= family->least && count <= family->most) {
            good = *index % stride != 0 || take(context, family, *index, problem, NULL);
            *index += 1;
        }
    }
    rgLab_Close(&lab);
    return good && *index == end;
}

bool rgFamily_Generate(const rgFamily* family, int stride, rgTakeProblemFcn* take, void* context) {
    int index = 0;
    bool good = true;
    for (int run = 0; good && run < family->runCount; ++run) {
        int end = (int)((long long)family->count * (run + 1) / family->runCount);
        good = rgTakeRun(family, run, &index, end, stride, take, context);
    }
    return good;
}

static bool rgWriteOne(void* context, const rgFamily* family, int index,
                       const rgContactProblem* problem, const int* keys) {
    char* path = rgCli_Format("%s/%s/%s-i%04d-%d.hdf5", (const char*)context, family->name,
                              family->name, index, rgCountContacts(problem, NULL));
    bool good = rgWriteProblem(problem, keys, path, family->name, family->description);
    free(path);
    return good;
}

bool rgFamily_Write(const rgFamily* family, int stride, const char* folder) {
    char* context = rgCli_CopyText(folder);
    bool good = rgFamily_Generate(family, stride, rgWriteOne, context);
    if (!good) {
        rgCli_Error("%s: not all problems could be made", family->name);
    }
    free(context);
    return good;
}
