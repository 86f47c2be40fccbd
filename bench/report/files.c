// A report as JSON, as CSV and as text.
#include "parts.h"

#include <math.h>
#include <stdlib.h>

static const char* rgEffortName(rgEffort effort) {
    static const char* const names[] = {"quick", "normal", "full"};
    return names[effort];
}

// ---- JSON

static void rgJsonTexts(rgJson* json, const char* key, char** texts, int count) {
    rgJson_BeginArray(json, key);
    for (int i = 0; i < count; ++i) {
        rgJson_String(json, NULL, texts[i]);
    }
    rgJson_EndArray(json);
}

static void rgJsonSheet(rgJson* json, const rgSheet* sheet) {
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "name", sheet->name);
    rgJson_String(json, "title", sheet->title);
    rgJson_BeginArray(json, "columns");
    for (int i = 0; i < sheet->columnCount; ++i) {
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "name", sheet->columns[i].name);
        rgJson_String(json, "unit", sheet->columns[i].unit);
        rgJson_String(json, "format", sheet->columns[i].format); // as people read it; null: text
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
    rgJson_BeginArray(json, "rows");
    for (int i = 0; i < sheet->cellCount; ++i) {
        const rgCell* cell = &sheet->cells[i];
        if (i % sheet->columnCount == 0) {
            rgJson_BeginArray(json, NULL);
        }
        if (cell->text != NULL) {
            rgJson_String(json, NULL, cell->text);
        } else {
            rgJson_Number(json, NULL, cell->value);
        }
        if ((i + 1) % sheet->columnCount == 0) {
            rgJson_EndArray(json);
        }
    }
    rgJson_EndArray(json);
    rgJson_EndObject(json);
}

static void rgJsonPlot(rgJson* json, const rgPlot* plot) {
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "name", plot->name);
    rgJson_String(json, "title", plot->title);
    rgJson_String(json, "x", plot->x);
    rgJson_String(json, "y", plot->y);
    rgJsonTexts(json, "groups", plot->groups, plot->groupCount);
    rgJson_BeginArray(json, "series");
    for (int i = 0; i < plot->seriesCount; ++i) {
        const rgSeries* series = &plot->series[i];
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "name", series->name);
        for (int c = 0; c < 2; ++c) {
            rgJson_BeginArray(json, c == 0 ? "x" : "y");
            for (int k = 0; k < series->count; ++k) {
                rgJson_Number(json, NULL, series->points[2 * k + c]);
            }
            rgJson_EndArray(json);
        }
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
    rgJson_EndObject(json);
}

static void rgWriteJson(const rgReport* report, FILE* out) {
    rgJson json = {.out = out};
    const rgExperiment* experiment = report->experiment;
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "experiment", experiment->name);
    rgJson_String(&json, "title", experiment->title);
    rgJson_String(&json, "question", experiment->question);
    rgJson_String(&json, "source", experiment->source);
    rgJson_String(&json, "conclusion", report->conclusion);
    rgJson_String(&json, "fault", report->fault);
    rgJson_String(&json, "effort", rgEffortName(report->effort));
    rgJson_Number(&json, "seconds", report->seconds);
    rgJson_Number(&json, "load", report->load);
    rgJson_Build(&json);
    rgJsonTexts(&json, "notes", report->notes, report->noteCount);
    rgJson_BeginArray(&json, "checks");
    for (int i = 0; i < report->verdictCount; ++i) {
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "text", report->verdicts[i].text);
        rgJson_Bool(&json, "holds", report->verdicts[i].holds);
        rgJson_EndObject(&json);
    }
    rgJson_EndArray(&json);
    rgJson_BeginArray(&json, "tables");
    for (int i = 0; i < report->sheetCount; ++i) {
        rgJsonSheet(&json, report->sheets[i]);
    }
    rgJson_EndArray(&json);
    rgJson_BeginArray(&json, "plots");
    for (int i = 0; i < report->plotCount; ++i) {
        rgJsonPlot(&json, report->plots[i]);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

// ---- CSV

static char* rgColumnName(const rgColumn* column) {
    return column->unit != NULL ? rgCli_Format("%s [%s]", column->name, column->unit)
                                : rgCli_CopyText(column->name);
}

// With all digits for files, as formatted for people.
static void rgFillTable(const rgSheet* sheet, bool digits, rgTable* table) {
    const char** headers = rgCli_Allocate((size_t)sheet->columnCount, sizeof(char*));
    for (int i = 0; i < sheet->columnCount; ++i) {
        headers[i] = rgColumnName(&sheet->columns[i]);
    }
    rgTable_Init(table, headers, sheet->columnCount);
    for (int i = 0; i < sheet->cellCount; ++i) {
        char buffer[64];
        const rgCell* cell = &sheet->cells[i];
        if (digits && cell->text == NULL) {
            rgTable_Add(table, "%.9g", cell->value);
        } else {
            rgTable_Add(table, "%s", rgSheet_CellText(sheet, i, buffer));
        }
    }
    for (int i = 0; i < sheet->columnCount; ++i) {
        free((void*)(uintptr_t)headers[i]);
    }
    free((void*)headers);
}

static void rgFillSeries(const rgPlot* plot, rgTable* table) {
    const char* headers[3] = {"series", plot->x, plot->y};
    rgTable_Init(table, headers, 3);
    for (int i = 0; i < plot->seriesCount; ++i) {
        const rgSeries* series = &plot->series[i];
        for (int k = 0; k < series->count; ++k) {
            int group = plot->groupCount > 0 ? (int)series->points[2 * k] : -1;
            rgTable_Add(table, "%s", series->name);
            if (group >= 0 && group < plot->groupCount) {
                rgTable_Add(table, "%s", plot->groups[group]);
            } else {
                rgTable_Add(table, "%.9g", series->points[2 * k]);
            }
            rgTable_Add(table, "%.9g", series->points[2 * k + 1]);
        }
    }
}

static bool rgWriteCsv(const rgReport* report, const char* folder, const char* name,
                       rgTable* table) {
    char* path = rgCli_Format("%s/%s_%s.csv", folder, report->experiment->name, name);
    rgOutput output;
    bool good = rgOutput_Open(&output, path);
    if (good) {
        rgTable_PrintCsv(table, output.file);
        good = rgOutput_Close(&output, true);
    }
    rgTable_Free(table);
    free(path);
    return good;
}

bool rgReport_WriteFiles(const rgReport* report, const char* folder) {
    char* path = rgCli_Format("%s/%s.json", folder, report->experiment->name);
    rgOutput output;
    rgTable table;
    bool good = rgOutput_Open(&output, path);
    if (good) {
        rgWriteJson(report, output.file);
        good = rgOutput_Close(&output, true);
    }
    for (int i = 0; good && i < report->sheetCount; ++i) {
        rgFillTable(report->sheets[i], true, &table);
        good = rgWriteCsv(report, folder, report->sheets[i]->name, &table);
    }
    for (int i = 0; good && i < report->plotCount; ++i) {
        rgFillSeries(report->plots[i], &table);
        good = rgWriteCsv(report, folder, report->plots[i]->name, &table);
    }
    free(path);
    return good;
}

// ---- text

void rgReport_Print(const rgReport* report, FILE* out) {
    const rgExperiment* experiment = report->experiment;
    fprintf(out, "%s (%s)\n%s\n", experiment->title, experiment->source, experiment->question);
    if (report->conclusion != NULL) {
        fprintf(out, "=> %s\n", report->conclusion);
    }
    for (int i = 0; i < report->noteCount; ++i) {
        fprintf(out, "   %s\n", report->notes[i]);
    }
    for (int i = 0; i < report->sheetCount; ++i) {
        rgTable table;
        fprintf(out, "\n%s\n\n", report->sheets[i]->title);
        rgFillTable(report->sheets[i], false, &table);
        rgTable_Print(&table, out);
        rgTable_Free(&table);
    }
    for (int i = 0; i < report->verdictCount; ++i) {
        if (!report->verdicts[i].holds) {
            fprintf(out, "FAILED: %s\n", report->verdicts[i].text);
        }
    }
    if (report->fault != NULL) {
        fprintf(out, "FAILED: %s\n", report->fault);
    }
    char time[16];
    fprintf(out, "\n%s, load %.2f\n", rgFormatSeconds(time, report->seconds), report->load);
}
