// The contents of a report.
#include "parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

rgReport* rgCreateReport(const rgExperiment* experiment, rgEffort effort, const char* folder) {
    rgReport* report = rgCli_Allocate(1, sizeof(rgReport));
    report->experiment = experiment;
    report->effort = effort;
    report->folder = folder;
    report->load = rgMachineLoad();
    return report;
}

static void rgFreeSheet(rgSheet* sheet) {
    for (int i = 0; i < sheet->columnCount; ++i) {
        free(sheet->columns[i].name);
        free(sheet->columns[i].unit);
        free(sheet->columns[i].format);
    }
    for (int i = 0; i < sheet->cellCount; ++i) {
        free(sheet->cells[i].text);
    }
    free(sheet->columns);
    free(sheet->cells);
    free(sheet->name);
    free(sheet->title);
    free(sheet);
}

static void rgFreePlot(rgPlot* plot) {
    for (int i = 0; i < plot->seriesCount; ++i) {
        free(plot->series[i].name);
        free(plot->series[i].points);
    }
    for (int i = 0; i < plot->groupCount; ++i) {
        free(plot->groups[i]);
    }
    free(plot->series);
    free((void*)plot->groups);
    free(plot->name);
    free(plot->title);
    free(plot->x);
    free(plot->y);
    free(plot);
}

void rgDestroyReport(rgReport* report) {
    for (int i = 0; i < report->sheetCount; ++i) {
        rgFreeSheet(report->sheets[i]);
    }
    for (int i = 0; i < report->plotCount; ++i) {
        rgFreePlot(report->plots[i]);
    }
    for (int i = 0; i < report->pictureCount; ++i) {
        free(report->pictures[i].bytes);
        free(report->pictures[i].caption);
    }
    for (int i = 0; i < report->noteCount; ++i) {
        free(report->notes[i]);
    }
    for (int i = 0; i < report->verdictCount; ++i) {
        free(report->verdicts[i].text);
    }
    free((void*)report->sheets);
    free((void*)report->plots);
    free((void*)report->notes);
    free(report->pictures);
    free(report->verdicts);
    free(report->parts);
    free(report->conclusion);
    free(report->fault);
    free(report);
}

rgEffort rgReport_Effort(const rgReport* report) {
    return report->effort;
}

int rgReport_Pick(const rgReport* report, int quick, int normal, int full) {
    return report->effort == rg_effortQuick    ? quick
           : report->effort == rg_effortNormal ? normal
                                               : full;
}

void rgReport_Progress(rgReport* report, int done, int total, const char* what) {
    if (!report->inProgress || report->progress.total != total) {
        rgProgress_Begin(&report->progress, report->experiment->name, total);
        report->inProgress = true;
    }
    rgProgress_Update(&report->progress, done, what);
}

const char* rgReport_Folder(const rgReport* report) {
    return report->folder;
}

// ---- text

void rgReport_Conclude(rgReport* report, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    free(report->conclusion);
    report->conclusion =
        report->effort == rg_effortQuick
            ? rgCli_CopyText("A quick pass shows that the experiment runs, and concludes nothing.")
            : rgCli_FormatList(format, arguments);
    va_end(arguments);
}

void rgReport_Note(rgReport* report, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t count = (size_t)report->noteCount++;
    report->notes = rgCli_Grow((void*)report->notes, count + 1, sizeof(char*));
    report->notes[count] = rgCli_FormatList(format, arguments);
    va_end(arguments);
}

void rgReport_Check(rgReport* report, bool holds, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t count = (size_t)report->verdictCount++;
    report->verdicts = rgCli_Grow(report->verdicts, count + 1, sizeof(rgVerdict));
    report->verdicts[count] = (rgVerdict){rgCli_FormatList(format, arguments), holds};
    va_end(arguments);
}

bool rgReport_Fail(rgReport* report, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    free(report->fault);
    report->fault = rgCli_FormatList(format, arguments);
    va_end(arguments);
    return false;
}

static void rgAddPart(rgReport* report, rgPartKind kind, int index) {
    size_t count = (size_t)report->partCount++;
    report->parts = rgCli_Grow(report->parts, count + 1, sizeof(rgPart));
    report->parts[count] = (rgPart){kind, index};
}

// ---- tables

rgSheet* rgReport_Table(rgReport* report, const char* name, const char* title) {
    size_t count = (size_t)report->sheetCount++;
    report->sheets = rgCli_Grow((void*)report->sheets, count + 1, sizeof(rgSheet*));
    rgSheet* sheet = rgCli_Allocate(1, sizeof(rgSheet));
    sheet->name = rgCli_CopyText(name);
    sheet->title = rgCli_CopyText(title);
    report->sheets[count] = sheet;
    rgAddPart(report, rg_partTable, (int)count);
    return sheet;
}

void rgSheet_Column(rgSheet* sheet, const char* name, const char* unit, const char* format) {
    size_t count = (size_t)sheet->columnCount++;
    sheet->columns = rgCli_Grow(sheet->columns, count + 1, sizeof(rgColumn));
    sheet->columns[count] = (rgColumn){rgCli_CopyText(name), unit ? rgCli_CopyText(unit) : NULL,
                                       format ? rgCli_CopyText(format) : NULL};
}

static rgCell* rgAddCell(rgSheet* sheet) {
    size_t count = (size_t)sheet->cellCount++;
    sheet->cells = rgCli_Grow(sheet->cells, count + 1, sizeof(rgCell));
    sheet->cells[count] = (rgCell){NULL, NAN, false};
    return &sheet->cells[count];
}

void rgSheet_Text(rgSheet* sheet, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgAddCell(sheet)->text = rgCli_FormatList(format, arguments);
    va_end(arguments);
}

void rgSheet_Number(rgSheet* sheet, double value) {
    rgAddCell(sheet)->value = value;
}

void rgSheet_Mark(rgSheet* sheet) {
    if (sheet->cellCount > 0) {
        sheet->cells[sheet->cellCount - 1].mark = true;
    }
}

const char* rgSheet_CellText(const rgSheet* sheet, int cell, char buffer[64]) {
    const rgCell* c = &sheet->cells[cell];
    if (c->text != NULL) {
        return c->text;
    }
    const char* format = sheet->columns[cell % sheet->columnCount].format;
    if (isfinite(c->value)) {
        snprintf(buffer, 64, format != NULL ? format : "%g", c->value);
    } else {
        snprintf(buffer, 64, "%s", isnan(c->value) ? "-" : c->value > 0 ? "inf" : "-inf");
    }
    return buffer;
}

// ---- plots

rgPlot* rgReport_Plot(rgReport* report, const rgPlotDef* def) {
    size_t count = (size_t)report->plotCount++;
    report->plots = rgCli_Grow((void*)report->plots, count + 1, sizeof(rgPlot*));
    rgPlot* plot = rgCli_Allocate(1, sizeof(rgPlot));
    *plot = (rgPlot){.name = rgCli_CopyText(def->name),
                     .title = rgCli_CopyText(def->title),
                     .x = rgCli_CopyText(def->x),
                     .y = rgCli_CopyText(def->y),
                     .kind = def->kind,
                     .logX = def->logX,
                     .logY = def->logY,
                     .low = def->low,
                     .high = def->high};
    report->plots[count] = plot;
    rgAddPart(report, rg_partPlot, (int)count);
    return plot;
}

int rgPlot_Series(rgPlot* plot, const char* name) {
    for (int i = 0; i < plot->seriesCount; ++i) {
        if (strcmp(plot->series[i].name, name) == 0) {
            return i;
        }
    }
    size_t count = (size_t)plot->seriesCount++;
    plot->series = rgCli_Grow(plot->series, count + 1, sizeof(rgSeries));
    plot->series[count] = (rgSeries){.name = rgCli_CopyText(name)};
    return (int)count;
}

void rgPlot_Point(rgPlot* plot, int series, double x, double y) {
    rgSeries* s = &plot->series[series];
    size_t count = (size_t)s->count++;
    s->points = rgCli_Grow(s->points, 2 * (count + 1), sizeof(double));
    s->points[2 * count] = x;
    s->points[2 * count + 1] = y;
}

double rgPlot_Group(rgPlot* plot, const char* name) {
    for (int i = 0; i < plot->groupCount; ++i) {
        if (strcmp(plot->groups[i], name) == 0) {
            return i;
        }
    }
    size_t count = (size_t)plot->groupCount++;
    plot->groups = rgCli_Grow((void*)plot->groups, count + 1, sizeof(char*));
    plot->groups[count] = rgCli_CopyText(name);
    return (double)count;
}

// ---- pictures

bool rgReport_Picture(rgReport* report, const char* path, const char* caption) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    unsigned char* bytes = NULL;
    size_t size = 0, got = 0;
    do {
        bytes = rgCli_Grow(bytes, size + 65536, 1);
        got = fread(bytes + size, 1, 65536, file);
        size += got;
    } while (got > 0);
    fclose(file);
    size_t count = (size_t)report->pictureCount++;
    report->pictures = rgCli_Grow(report->pictures, count + 1, sizeof(rgPicture));
    report->pictures[count] = (rgPicture){bytes, size, rgCli_CopyText(caption)};
    rgAddPart(report, rg_partPicture, (int)count);
    return size > 0;
}
