// Results of an experiment: tables, plots, pictures, checks and a conclusion; written as a section
// of the HTML report, as JSON and as CSV. Experiments have one file each in bench/experiments and
// one row in experiments/registry.c.
#pragma once
#include "cli.h"

typedef enum rgEffort { rg_effortQuick, rg_effortNormal, rg_effortFull } rgEffort;

typedef struct rgReport rgReport;

typedef struct rgExperiment {
    const char* name;     // as typed: "convergence"
    const char* title;    // heading of its section
    const char* question; // one sentence
    const char* source;   // "paper, Fig. 4", or "past the paper"
    // Fill the report. False: it could not be made, and rgReport_Fail() gave the reason.
    bool (*run)(rgReport* report);
} rgExperiment;

extern const rgExperiment* const rgExperiments[]; // in the order of the report
extern const int rgExperimentCount;
const rgExperiment* rgFindExperiment(const char* name); // NULL: there is none

// ---- how much to do

rgEffort rgReport_Effort(const rgReport* report);
// One of three, by effort: seconds in the quick pass, a minute or so normally.
int rgReport_Pick(const rgReport* report, int quick, int normal, int full);
// Shown on a terminal.
void rgReport_Progress(rgReport* report, int done, int total, const char* what);
// Folder for files beside the report, such as contact problems; it exists. NULL: nothing is kept.
const char* rgReport_Folder(const rgReport* report);

// ---- text

void rgReport_Conclude(rgReport* report, const char* format, ...)
    __attribute__((format(printf, 2, 3))); // one or two sentences, above everything else; a quick
                                           // pass says that it concludes nothing
void rgReport_Note(rgReport* report, const char* format, ...)
    __attribute__((format(printf, 2, 3))); // a paragraph below the question
// Check of a property that holds on any machine: a false one makes the run fail.
void rgReport_Check(rgReport* report, bool holds, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// Always returns false.
bool rgReport_Fail(rgReport* report, const char* format, ...) __attribute__((format(printf, 2, 3)));

// ---- tables: columns first, then cells row by row

typedef struct rgSheet rgSheet;

// The name is that of the CSV file: NAME_<name>.csv.
rgSheet* rgReport_Table(rgReport* report, const char* name, const char* title);
// Format of numbers, such as "%.3g"; NULL for text. A unit may be NULL.
void rgSheet_Column(rgSheet* sheet, const char* name, const char* unit, const char* format);
void rgSheet_Text(rgSheet* sheet, const char* format, ...) __attribute__((format(printf, 2, 3)));
void rgSheet_Number(rgSheet* sheet, double value); // in the column's unit; NAN is shown as "-"
void rgSheet_Mark(rgSheet* sheet);                 // the last cell stands out (bold)

// ---- plots

typedef enum rgPlotKind { rg_plotLines, rg_plotSteps, rg_plotPoints, rg_plotBars } rgPlotKind;

typedef struct rgPlotDef {
    const char* name; // name of the CSV file
    const char* title;
    const char* x; // label with unit
    const char* y;
    rgPlotKind kind;
    bool logX, logY;
    double low, high; // range of y; both 0: from the data
} rgPlotDef;

typedef struct rgPlot rgPlot;

rgPlot* rgReport_Plot(rgReport* report, const rgPlotDef* def);
int rgPlot_Series(rgPlot* plot, const char* name); // found or added
// Points that are not finite, or not positive on a log axis, are kept in the files, not drawn.
void rgPlot_Point(rgPlot* plot, int series, double x, double y);
// Bars: the place of a group on the x axis, found or added.
double rgPlot_Group(rgPlot* plot, const char* name);

// ---- pictures

// A PNG file, taken into the page. False when it cannot be read.
bool rgReport_Picture(rgReport* report, const char* path, const char* caption);
