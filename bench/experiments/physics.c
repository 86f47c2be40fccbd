// Mechanics with known answers: theory against the default settings.
#include "physics/table.h"
#include "report/report.h"

static void rgTellReport(void* context, int done, int total, const char* name) {
    rgReport_Progress(context, done, total, name);
}

static bool rgRunPhysics(rgReport* report) {
    bool quick = rgReport_Effort(report) == rg_effortQuick;
    rgPhysicsRow rows[rg_physicsCapacity];
    int count = rgPhysics_Run(NULL, quick, rows, rgTellReport, report), passed = 0, known = 0;
    rgSheet* sheet = rgReport_Table(report, "answers", "Expected and measured");
    rgSheet_Column(sheet, "subject", NULL, NULL);
    rgSheet_Column(sheet, "experiment", NULL, NULL);
    rgSheet_Column(sheet, "expected", NULL, "%.6g");
    rgSheet_Column(sheet, "measured", NULL, "%.6g");
    rgSheet_Column(sheet, "unit", NULL, NULL);
    rgSheet_Column(sheet, "within", NULL, "%.2g");
    rgSheet_Column(sheet, "", NULL, NULL);
    for (int i = 0; i < count; ++i) {
        const rgPhysicsTest* test = rows[i].experiment;
        bool isKnown = !rows[i].passes && test->because != NULL;
        passed += rows[i].passes;
        known += isKnown;
        rgSheet_Text(sheet, "%s", rows[i].subject);
        rgSheet_Text(sheet, "%s", test->name);
        rgSheet_Number(sheet, rows[i].outcome.expected);
        rgSheet_Number(sheet, rows[i].outcome.measured);
        rgSheet_Text(sheet, "%s", test->unit);
        rgSheet_Number(sheet, test->tolerance);
        rgSheet_Text(sheet, "%s", rows[i].passes ? "pass" : isKnown ? test->because : "misses");
        rgReport_Check(report, rows[i].passes || isKnown, "%s: %g instead of %g %s", test->name,
                       rows[i].outcome.measured, rows[i].outcome.expected, test->unit);
    }
    rgReport_Conclude(report,
                      "%d of %d experiments give the answer of mechanics within its "
                      "tolerance%s.",
                      passed, count,
                      known > 0 ? "; the others miss for reasons that the table tells" : "");
    return true;
}

const rgExperiment rgExperimentPhysics = {"physics-table", "Physics with known answers",
                                          "Does each world of a few bodies do what mechanics says?",
                                          "past the paper", rgRunPhysics};
