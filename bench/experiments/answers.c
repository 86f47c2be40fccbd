// Answers that are not unique: contact problems solved again from other impulses, and how far the
// answers are apart. Exact contact with friction may have several, in impulses and in velocities.
#include "cases.h"
#include "frozen.h"
#include "report/report.h"
#include "scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rg_familiesMost = 32 };

typedef struct rgAnswerSums {
    const char* name;
    int problems, compared;   // with at least two answers
    int impulses, velocities; // problems whose answers differ in them
    double farthest;          // of two velocities [m/s]
} rgAnswerSums;

static bool rgCompareAnswers(rgAnswerSums* sums, const rgContactProblem* problem) {
    size_t n = (size_t)problem->rowCount;
    double* zero = rgCli_Allocate(2 * n, sizeof(double));
    rgAnswers answers;
    bool good = rgContactProblem_FindAnswers(problem, NULL, zero, zero + n, &answers) == rg_ok;
    sums->problems += 1;
    if (good && answers.count > 1) {
        sums->compared += 1;
        sums->impulses += answers.impulsesDiffer;
        sums->velocities += answers.motionDiffers;
        sums->farthest = fmax(sums->farthest, answers.velocity);
    }
    free(zero);
    return good;
}

static void rgWriteSums(rgSheet* sheet, const rgAnswerSums* sums) {
    rgSheet_Text(sheet, "%s", sums->name);
    rgSheet_Number(sheet, sums->problems);
    rgSheet_Number(sheet, sums->compared);
    rgSheet_Number(sheet, sums->impulses);
    rgSheet_Number(sheet, sums->velocities);
    rgSheet_Number(sheet, sums->farthest);
}

static rgAnswerSums* rgSumsOf(rgAnswerSums* sums, int* count, const char* family) {
    for (int i = 0; i < *count; ++i) {
        if (strcmp(sums[i].name, family) == 0) {
            return &sums[i];
        }
    }
    if (*count < rg_familiesMost) {
        sums[(*count)++] = (rgAnswerSums){.name = family};
    }
    return &sums[*count - 1];
}

// Frozen collections, one problem each of robots, and FCLIB's files where they are.
static bool rgFindAll(rgReport* report, char* scratch, rgCaseFiles files[2]) {
    bool good = rgFindFrozen(scratch, rgReport_Pick(report, 16, 1, 1), &files[0]);
    const char* data = getenv("RIGOR_DATA");
    char* folders[2] = {rgCli_CopyText(RIGOR_SOURCE_DIR "/bench/problems/single"),
                        rgCli_Format("%s/fclib", data != NULL ? data : "../shared/data")};
    bool both = access(folders[1], R_OK) == 0 && rgReport_Effort(report) != rg_effortQuick;
    good = good && rgFindCases(folders, both ? 2 : 1, &files[1]);
    free(folders[0]);
    free(folders[1]);
    return good;
}

static bool rgRunAnswers(rgReport* report) {
    rgSheet* sheet = rgReport_Table(report, "answers", "Answers to 1e-9 from nine starts");
    rgSheet_Column(sheet, "collection", NULL, NULL);
    rgSheet_Column(sheet, "problems", NULL, "%.0f");
    rgSheet_Column(sheet, "with two answers or more", NULL, "%.0f");
    rgSheet_Column(sheet, "impulses differ", NULL, "%.0f");
    rgSheet_Column(sheet, "velocities differ", NULL, "%.0f");
    rgSheet_Column(sheet, "farthest velocities", "m/s", "%.2g");
    rgCaseFiles files[2] = {{0}, {0}};
    rgAnswerSums sums[rg_familiesMost], all = {.name = "all"};
    char* scratch = rgMakeScratch();
    int families = 0, done = 0;
    bool good = scratch != NULL && rgFindAll(report, scratch, files);
    for (int f = 0; f < 2 && good; ++f) {
        for (int i = 0; i < files[f].count && good; ++i) {
            rgCase one = {0};
            rgReport_Progress(report, done, files[0].count + files[1].count, "problems");
            good =
                rgLoadCase(files[f].files[i].path, rg_fclibMatrixAuto, &one) &&
                rgCompareAnswers(rgSumsOf(sums, &families, files[f].files[i].family), &one.problem);
            done += 1;
            rgCase_Free(&one);
        }
    }
    for (int i = 0; i < families; ++i) {
        rgWriteSums(sheet, &sums[i]);
        all.problems += sums[i].problems;
        all.compared += sums[i].compared;
        all.impulses += sums[i].impulses;
        all.velocities += sums[i].velocities;
        all.farthest = fmax(all.farthest, sums[i].farthest);
    }
    rgWriteSums(sheet, &all);
    rgCaseFiles_Free(&files[0]);
    rgCaseFiles_Free(&files[1]);
    rgRemoveScratch(scratch);
    rgReport_Note(report,
                  "Each problem is solved by rigor's default from zero impulses, and from those of "
                  "eight problems of the same contacts, a little compliant, at other velocities: "
                  "pressed together, or shaken at random (rgContactProblem_FindAnswers). Answers "
                  "count that the judge accepts at 1e-9; they differ where velocities, or those "
                  "that impulses make, are apart by more than 1e-4 of the largest free velocity "
                  "of their island. Impulses that differ with the same velocities are redundant "
                  "contacts: the motion is one. Velocities that differ are another motion, equally "
                  "exact.");
    rgReport_Conclude(report,
                      "Of %d problems with at least two answers, impulses are not unique in %d, "
                      "and the motion is not in %d (at most %.2g m/s apart). Where it is not, the "
                      "start of the search decides, which in a simulation is the last step.",
                      all.compared, all.impulses, all.velocities, all.farthest);
    return good || rgReport_Fail(report, "a frozen problem could not be read");
}

const rgExperiment rgExperimentAnswers = {
    "answers", "Answers that are not unique",
    "Does the exact problem have one answer, from wherever it is searched?", "past the paper",
    rgRunAnswers};
