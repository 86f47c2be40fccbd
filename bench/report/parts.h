// Inside of a report, for the files that write it.
#pragma once
#include "machine.h"
#include "report.h"

typedef struct rgColumn {
    char* name;
    char* unit;   // or NULL
    char* format; // NULL: text
} rgColumn;

typedef struct rgCell {
    char* text; // NULL: a number
    double value;
    bool mark;
} rgCell;

struct rgSheet {
    char* name;
    char* title;
    rgColumn* columns;
    int columnCount;
    rgCell* cells;
    int cellCount;
};

typedef struct rgSeries {
    char* name;
    double* points; // count x 2
    int count;
} rgSeries;

struct rgPlot {
    char* name;
    char* title;
    char* x;
    char* y;
    rgPlotKind kind;
    bool logX, logY;
    double low, high;
    rgSeries* series;
    int seriesCount;
    char** groups;
    int groupCount;
};

typedef struct rgPicture {
    unsigned char* bytes;
    size_t size;
    char* caption;
} rgPicture;

typedef struct rgVerdict {
    char* text;
    bool holds;
} rgVerdict;

// Parts of a section, in the order in which they were added.
typedef enum rgPartKind { rg_partTable, rg_partPlot, rg_partPicture } rgPartKind;
typedef struct rgPart {
    rgPartKind kind;
    int index;
} rgPart;

struct rgReport {
    const rgExperiment* experiment;
    rgEffort effort;
    const char* folder;
    rgProgress progress;
    bool inProgress;
    double seconds; // that the experiment took
    double load;    // load of the machine at the start
    char* conclusion;
    char* fault;
    char** notes;
    int noteCount;
    rgVerdict* verdicts;
    int verdictCount;
    rgSheet** sheets;
    int sheetCount;
    rgPlot** plots;
    int plotCount;
    rgPicture* pictures;
    int pictureCount;
    rgPart* parts;
    int partCount;
};

// report.c
rgReport* rgCreateReport(const rgExperiment* experiment, rgEffort effort, const char* folder);
void rgDestroyReport(rgReport* report);
// A cell as people read it. Returns buffer, or the cell's own text.
const char* rgSheet_CellText(const rgSheet* sheet, int cell, char buffer[64]);

// files.c: NAME.json, NAME_<table>.csv, NAME_<plot>.csv. False after a message.
bool rgReport_WriteFiles(const rgReport* report, const char* folder);
// Tables and conclusion as text.
void rgReport_Print(const rgReport* report, FILE* out);

// svg.c
void rgPlot_WriteSvg(const rgPlot* plot, FILE* out);

// html.c: a section of the page in FOLDER/sections, and the page around the sections there, with
// the conclusions as Markdown beside it.
void rgWriteEscaped(FILE* out, const char* text);
bool rgReport_WriteSection(const rgReport* report, const char* folder);
bool rgWritePage(const char* folder, rgEffort effort);
