// What a report writes: numbers with all digits, text escaped, curves where the data are.
#include "report/parts.h"

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool rgNothing(rgReport* report) {
    return report != NULL;
}

static const rgExperiment rgOnly = {"only", "A <title>", "Why?", "a test", rgNothing};
const rgExperiment* const rgExperiments[] = {&rgOnly};
const int rgExperimentCount = 1;

static char* rgReadAll(const char* folder, const char* name) {
    char* path = rgCli_Format("%s/%s", folder, name);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    char* text = calloc(1, 100000);
    assert_true(fread(text, 1, 99999, file) > 0);
    fclose(file);
    remove(path);
    free(path);
    return text;
}

static rgReport* rgMakeReport(void) {
    rgReport* report = rgCreateReport(&rgOnly, rg_effortNormal, NULL);
    rgSheet* sheet = rgReport_Table(report, "rows", "Rows");
    rgSheet_Column(sheet, "name", NULL, NULL);
    rgSheet_Column(sheet, "time", "ms", "%.1f");
    rgSheet_Text(sheet, "a, \"b\" & <c>");
    rgSheet_Number(sheet, 1.2421875);
    rgSheet_Text(sheet, "none");
    rgSheet_Number(sheet, NAN);
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = "curve",
                                                      .title = "Curve",
                                                      .x = "iterations",
                                                      .y = "residual",
                                                      .logX = true,
                                                      .logY = true});
    int series = rgPlot_Series(plot, "one");
    rgPlot_Point(plot, series, 1, 1);
    rgPlot_Point(plot, series, 10, 0); // not on a log axis
    rgPlot_Point(plot, series, 100, 1e-4);
    assert_int_equal(rgPlot_Series(plot, "two"), 1);
    assert_int_equal(rgPlot_Series(plot, "one"), 0);
    rgReport_Conclude(report, "%d < %d", 1, 2);
    rgReport_Check(report, false, "%s", "never");
    assert_int_equal(rgReport_Pick(report, 1, 2, 3), 2);
    return report;
}

static void test_files(void** state) {
    (void)state;
    char folder[] = "/tmp/rigor-report-XXXXXX";
    assert_non_null(mkdtemp(folder));
    rgReport* report = rgMakeReport();
    assert_true(rgReport_WriteFiles(report, folder));
    char* csv = rgReadAll(folder, "only_rows.csv");
    assert_string_equal(csv, "name,time [ms]\n\"a, \"\"b\"\" & <c>\",1.2421875\nnone,nan\n");
    char* curve = rgReadAll(folder, "only_curve.csv");
    assert_string_equal(curve, "series,iterations,residual\none,1,1\none,10,0\none,100,0.0001\n");
    char* json = rgReadAll(folder, "only.json");
    assert_non_null(strstr(json, "\"conclusion\": \"1 < 2\""));
    assert_non_null(strstr(json, "\"holds\": false"));
    assert_non_null(strstr(json, "1.2421875"));
    free(csv);
    free(curve);
    free(json);
    rgDestroyReport(report);
    assert_int_equal(rmdir(folder), 0);
}

// What was hardly measured is not concluded from.
static void test_quick(void** state) {
    (void)state;
    char folder[] = "/tmp/rigor-report-XXXXXX";
    assert_non_null(mkdtemp(folder));
    rgReport* report = rgCreateReport(&rgOnly, rg_effortQuick, NULL);
    rgReport_Conclude(report, "%s is the fastest", "rigor");
    assert_true(rgReport_WriteFiles(report, folder));
    char* json = rgReadAll(folder, "only.json");
    assert_null(strstr(json, "fastest"));
    assert_non_null(strstr(json, "concludes nothing"));
    free(json);
    rgDestroyReport(report);
    assert_int_equal(rmdir(folder), 0);
}

static void test_page(void** state) {
    (void)state;
    char folder[] = "/tmp/rigor-report-XXXXXX";
    assert_non_null(mkdtemp(folder));
    rgReport* report = rgMakeReport();
    char* sections = rgCli_Format("%s/sections", folder);
    assert_int_equal(mkdir(sections, 0777), 0);
    assert_true(rgReport_WriteSection(report, folder));
    assert_true(rgWritePage(folder, rg_effortNormal));
    char* page = rgReadAll(folder, "index.html");
    assert_non_null(strstr(page, "A &lt;title&gt;"));
    assert_non_null(strstr(page, "a, &quot;b&quot; &amp; &lt;c&gt;"));
    assert_non_null(strstr(page, "<td class=\"n\">1.2</td>"));
    assert_non_null(strstr(page, "<td class=\"n\">-</td>"));
    assert_non_null(strstr(page, "Does not hold: never"));
    // The conclusion is in the list and in the section.
    const char* first = strstr(page, "1 &lt; 2");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "1 &lt; 2"));
    // Two pieces of the curve: upper left corner, and lower right one.
    assert_non_null(strstr(page, "d=\"M66.0 34.0M466.0 304.0\""));
    free(page);
    char* summary = rgReadAll(folder, "summary.md");
    assert_non_null(strstr(summary, "**A <title>** (`only`, a test). 1 < 2\n"));
    free(summary);
    free(rgReadAll(sections, "only.html"));
    free(rgReadAll(sections, "only.md"));
    assert_int_equal(rmdir(sections), 0);
    assert_int_equal(rmdir(folder), 0);
    free(sections);
    rgDestroyReport(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_quick),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
