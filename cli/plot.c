// rigor plot: columns of a recording or a CSV file over time, drawn by gnuplot, and the same
// numbers as CSV.
#include "recording.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { rg_maxSeries = 64, rg_maxPanels = 12 };

typedef struct rgSeries {
    char* name;
    double* values;
} rgSeries;

typedef struct rgPanel {
    char* label; // label of the axis, with its unit
    int first, count;
    bool isLog;
} rgPanel;

typedef struct rgPlot {
    int64_t rowCount;
    double* times;
    rgSeries series[rg_maxSeries];
    int seriesCount;
    rgPanel panels[rg_maxPanels];
    int panelCount;
} rgPlot;

static int rgParsePlot(int argc, char** argv, const char** what, const char** title, bool* json,
                       int* count) {
    const rgOption table[] = {
        {"--what", rg_optionText, what,
         "quantities: energy, residual, iterations, contacts, joint:NAME, force:BODY; of a CSV "
         "file: columns",
         "LIST", NULL, 0, 0},
        {"--title", rg_optionText, title, "title above the picture", "TEXT", NULL, 0, 0},
        {"--json", rg_optionFlag, json, "print a list of the files and panels as JSON", NULL, NULL,
         0, 0},
    };
    const rgCommand command = {
        .name = "rigor plot",
        .usage = "RECORDING|FILE.csv OUT.png|OUT.svg|OUT.pdf [OPTIONS]",
        .summary = "Draw quantities over time, one panel each, and write the same numbers to "
                   "a file beside the picture\n(wall.png.csv). Needs gnuplot.\n\n"
                   "Examples:\n"
                   "  rigor plot wall.h5 wall.png --what energy,residual,contacts\n"
                   "  rigor plot humanoid.h5 legs.pdf --what joint:knee_left,force:foot_left\n"
                   "  rigor plot cube.csv path.svg --what q:cube.x",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 2,
        .maxArguments = 2,
        .output = 2,
    };
    return rgParseOptions(&command, argc, argv, count);
}

static void rgPlot_Free(rgPlot* plot) {
    for (int i = 0; i < plot->seriesCount; ++i) {
        free(plot->series[i].name);
        free(plot->series[i].values);
    }
    for (int i = 0; i < plot->panelCount; ++i) {
        free(plot->panels[i].label);
    }
    free(plot->times);
}

static bool rgPlot_AddPanel(rgPlot* plot, const char* label, const char* const* names, int count,
                            bool isLog) {
    if (plot->panelCount == rg_maxPanels || plot->seriesCount + count > rg_maxSeries) {
        rgCli_Error("--what: %d panels at most", rg_maxPanels);
        return false;
    }
    plot->panels[plot->panelCount++] = (rgPanel){
        .label = rgCli_CopyText(label), .first = plot->seriesCount, .count = count, .isLog = isLog};
    for (int i = 0; i < count; ++i) {
        plot->series[plot->seriesCount++] = (rgSeries){
            rgCli_CopyText(names[i]), rgCli_Allocate((size_t)plot->rowCount, sizeof(double))};
    }
    return true;
}

// ---- recordings ----

// Quantity selected by one word of --what.
typedef struct rgPlotQuantity {
    enum {
        rg_plotEnergy,
        rg_plotResidual,
        rg_plotIterations,
        rg_plotContacts,
        rg_plotJoint,
        rg_plotForce
    } kind;
    int index; // into q, or of the body
} rgPlotQuantity;

static bool rgNoSuch(const char* what, const char* name) {
    rgCli_Error("--what: the recording has no %s '%s'", what, name);
    return false;
}

static bool rgSelectJoint(const rgOpenedRecording* opened, const char* name,
                          rgPlotQuantity* quantity, rgPlot* plot) {
    rgJointId id = opened->model != NULL ? rgModel_FindJoint(opened->model, name) : (rgJointId){0};
    if (id.index1 == 0 || rgModel_JointRange(opened->model, id).qCount != 1) {
        return rgNoSuch("joint with one coordinate", name);
    }
    bool slides = rgModel_Joint(opened->model, id)->kind == rg_jointPrismatic;
    *quantity = (rgPlotQuantity){rg_plotJoint, rgModel_JointRange(opened->model, id).q};
    return rgPlot_AddPanel(plot, slides ? "position [m]" : "angle [rad]", &name, 1, false);
}

static bool rgSelectForce(const rgOpenedRecording* opened, const char* name,
                          rgPlotQuantity* quantity, rgPlot* plot) {
    rgRecordedNames names;
    int found = 0;
    if (rgRecordedNames_Read(&names, opened, "bodies")) {
        for (int i = names.count; i >= 1; --i) {
            found = strcmp(rgRecordedNames_At(&names, i), name) == 0 ? i : found;
        }
    }
    rgRecordedNames_Free(&names);
    if (found == 0) {
        return rgNoSuch("body", name);
    }
    *quantity = (rgPlotQuantity){rg_plotForce, found};
    return rgPlot_AddPanel(plot, "contact force [N]", &name, 1, false);
}

static bool rgReadPlotQuantity(const rgOpenedRecording* opened, const char* word,
                               rgPlotQuantity* quantity, rgPlot* plot) {
    static const char* const energies[] = {"total", "kinetic", "potential"};
    static const char* const plain[] = {"residual", "iterations", "contacts"};
    if (strncmp(word, "joint:", 6) == 0) {
        return rgSelectJoint(opened, word + 6, quantity, plot);
    }
    if (strncmp(word, "force:", 6) == 0) {
        return rgSelectForce(opened, word + 6, quantity, plot);
    }
    if (strcmp(word, "energy") == 0) {
        *quantity = (rgPlotQuantity){rg_plotEnergy, 0};
        return rgPlot_AddPanel(plot, "energy [J]", energies, 3, false);
    }
    for (int i = 0; i < 3; ++i) {
        if (strcmp(word, plain[i]) == 0) {
            quantity->kind = rg_plotResidual + (unsigned)i;
            return rgPlot_AddPanel(plot, plain[i], &plain[i], 1, i == 0);
        }
    }
    rgCli_Error("--what: unknown quantity '%s'; there are: energy, residual, iterations, contacts, "
                "joint:NAME, "
                "force:BODY",
                word);
    return false;
}

static double rgForceOn(const rgRecordedFrame* frame, int body) {
    rgVec3 sum = {0};
    for (int i = 0; i < frame->contactCount; ++i) {
        const rgRecordedContact* c = &frame->contacts[i];
        double sign = c->bodyB.index1 == body ? 1 : c->bodyA.index1 == body ? -1 : 0;
        sum = rgAddScaled(sum, sign, c->force);
    }
    return rgLength(sum);
}

static void rgFillRow(const rgPlot* plot, const rgPlotQuantity* quantities, int64_t row,
                      const rgRecordedFrame* frame) {
    for (int i = 0; i < plot->panelCount; ++i) {
        const rgSeries* s = &plot->series[plot->panels[i].first];
        switch (quantities[i].kind) {
        case rg_plotEnergy:
            s[0].values[row] = frame->kineticEnergy + frame->potentialEnergy;
            s[1].values[row] = frame->kineticEnergy;
            s[2].values[row] = frame->potentialEnergy;
            break;
        case rg_plotResidual:
            s[0].values[row] = frame->residual;
            break;
        case rg_plotIterations:
            s[0].values[row] = frame->iterationCount;
            break;
        case rg_plotContacts:
            s[0].values[row] = frame->contactCount;
            break;
        case rg_plotJoint:
            s[0].values[row] = frame->q[quantities[i].index];
            break;
        case rg_plotForce:
            s[0].values[row] = rgForceOn(frame, quantities[i].index);
            break;
        }
    }
}

static bool rgPlotRecording(rgPlot* plot, rgOpenedRecording* opened, const char* what) {
    rgPlotQuantity quantities[rg_maxPanels] = {0};
    char* words = rgCli_CopyText(what != NULL ? what : "energy,residual,contacts");
    plot->rowCount = opened->info.frameCount;
    plot->times = rgCli_Allocate((size_t)plot->rowCount, sizeof(double));
    bool good = true;
    char* rest = NULL;
    for (char* word = strtok_r(words, ",", &rest); good && word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        rgPlotQuantity quantity = {0};
        good = rgReadPlotQuantity(opened, word, &quantity, plot);
        if (good) {
            quantities[plot->panelCount - 1] = quantity;
        }
    }
    for (int64_t i = 0; good && i < plot->rowCount; ++i) {
        rgRecordedFrame frame;
        good = rgRecording_Frame(opened->recording, i, &frame) == rg_ok;
        if (good) {
            plot->times[i] = frame.time;
            rgFillRow(plot, quantities, i, &frame);
        }
    }
    free(words);
    return good;
}

// ---- CSV files ----

static char** rgSplitLine(char* line, int* count) {
    char** cells = NULL;
    *count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char* at = line; at != NULL;) {
        cells = rgCli_Grow((void*)cells, (size_t)*count + 1, sizeof(char*));
        cells[(*count)++] = at;
        at = strchr(at, ',');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return cells;
}

static int rgFindColumn(char* const* cells, int count, const char* name) {
    for (int i = 1; i < count; ++i) {
        if (strcmp(cells[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

// Choose one panel per column: those of --what, or the first ones.
static bool rgChooseColumns(rgPlot* plot, const char* path, char* const* cells, int count,
                            const char* what, int* column) {
    if (what == NULL) {
        for (int i = 1; i < count && i <= rg_maxPanels; ++i) {
            column[i - 1] = i;
            rgPlot_AddPanel(plot, cells[i], (const char* const*)&cells[i], 1, false);
        }
        if (count - 1 > rg_maxPanels) {
            fprintf(stderr, "hint: of %d columns the first %d are drawn; --what chooses others\n",
                    count - 1, rg_maxPanels);
        }
        return true;
    }
    char* words = rgCli_CopyText(what);
    char* rest = NULL;
    bool good = true;
    for (const char* word = strtok_r(words, ",", &rest); good && word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        int i = rgFindColumn(cells, count, word);
        if (i < 0) {
            rgCli_Error("--what: %s has no column '%s'", path, word);
        }
        good = i > 0 && rgPlot_AddPanel(plot, word, &word, 1, false);
        if (good) {
            column[plot->panelCount - 1] = i;
        }
    }
    free(words);
    return good;
}

static bool rgPlotCsv(rgPlot* plot, const char* path, const char* what) {
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    char* line = NULL;
    size_t capacity = 0;
    int columnCount = 0, number = 0;
    int column[rg_maxPanels];
    bool good = true;
    while (good && rgCli_ReadLine(&line, &capacity, file)) {
        int count = 0;
        char** cells = rgSplitLine(line, &count);
        if (number == 0) {
            columnCount = count;
            good = rgChooseColumns(plot, path, cells, count, what, column);
        } else if (count == columnCount) {
            plot->times = rgCli_Grow(plot->times, (size_t)number, sizeof(double));
            good = rgParseNumber(cells[0], &plot->times[number - 1]);
            for (int i = 0; good && i < plot->panelCount; ++i) {
                rgSeries* s = &plot->series[i];
                s->values = rgCli_Grow(s->values, (size_t)number, sizeof(double));
                good = rgParseNumber(cells[column[i]], &s->values[number - 1]);
            }
        } else {
            good = false;
        }
        if (!good && number > 0) {
            rgCli_Error("%s:%d: %d numbers are needed", path, number + 1, columnCount);
        }
        free((void*)cells);
        plot->rowCount = number;
        number += 1;
    }
    free(line);
    fclose(file);
    if (good && (plot->panelCount == 0 || plot->rowCount == 0)) {
        rgCli_Error("%s: nothing to draw", path);
        good = false;
    }
    return good;
}

// ---- drawing ----

static bool rgWriteTable(const rgPlot* plot, const char* path) {
    rgOutput output;
    if (!rgOutput_Open(&output, path)) {
        return false;
    }
    FILE* file = output.file;
    fputs("time", file);
    for (int i = 0; i < plot->seriesCount; ++i) {
        fprintf(file, ",%s", plot->series[i].name);
    }
    fputc('\n', file);
    for (int64_t row = 0; row < plot->rowCount; ++row) {
        fprintf(file, "%.9g", plot->times[row]);
        for (int i = 0; i < plot->seriesCount; ++i) {
            fprintf(file, ",%.17g", plot->series[i].values[row]);
        }
        fputc('\n', file);
    }
    return rgOutput_Close(&output, true);
}

// True if a picture is complete, by the end mark of its format: gnuplot does not report a full
// disk.
static bool rgIsWhole(const char* path) {
    static const char* const ends[] = {"IEND", "</svg>", "%%EOF"};
    char tail[64] = "";
    FILE* file = fopen(path, "rb");
    bool whole = file != NULL && fseek(file, -(long)sizeof(tail), SEEK_END) == 0;
    size_t count = whole ? fread(tail, 1, sizeof(tail), file) : 0;
    whole = false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); ++i) {
        size_t length = strlen(ends[i]);
        for (size_t at = 0; at + length <= count; ++at) {
            whole = whole || memcmp(tail + at, ends[i], length) == 0;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return whole;
}

// Names of users inside a text of gnuplot: in single quotes, which are doubled.
static void rgPutQuoted(FILE* out, const char* text) {
    fputc('\'', out);
    for (; *text != '\0'; ++text) {
        if ((unsigned char)*text >= 0x20) {
            fputs(*text == '\'' ? "''" : (char[2]){*text, '\0'}, out);
        }
    }
    fputc('\'', out);
}

// Set the range of an axis: gnuplot rejects constant data without a range, and fails if no value is
// positive on an axis of logarithms.
static void rgWriteAxis(FILE* out, const rgPlot* plot, const rgPanel* panel) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < panel->count; ++k) {
        for (int64_t row = 0; row < plot->rowCount; ++row) {
            low = fmin(low, plot->series[panel->first + k].values[row]);
            high = fmax(high, plot->series[panel->first + k].values[row]);
        }
    }
    bool isLog = panel->isLog && high > 0;
    fputs(isLog ? "set logscale y; set format y '1e%T'\n" : "unset logscale y; set format y '%g'\n",
          out);
    if (low == high && !isLog) {
        double margin = fmax(0.1 * fabs(low), 1e-3);
        fprintf(out, "set yrange [%.17g:%.17g]\n", low - margin, high + margin);
    } else {
        fputs("set yrange [*:*]\n", out);
    }
}

static void rgWriteScript(FILE* out, const rgPlot* plot, const char* table, const char* picture,
                          const char* terminal, const char* title) {
    static const char* const colors[] = {"#2f6f8f", "#d98a3d", "#2a8f6d", "#8b97a1"};
    fprintf(out, "set terminal %s\nset output ", terminal);
    rgPutQuoted(out, picture);
    fputs("\nset datafile separator ','\nset key noenhanced above right horizontal\n"
          "set grid lc rgb '#d9dee2' lw 0.5\nset border 3 lc rgb '#5b6873'\n"
          "set tics nomirror out scale 0.5\nset lmargin 12\n",
          out);
    fprintf(out, "set multiplot layout %d,1", plot->panelCount);
    if (title != NULL) {
        fputs(" title ", out);
        rgPutQuoted(out, title);
        fputs(" noenhanced", out);
    }
    fputc('\n', out);
    for (int i = 0; i < plot->panelCount; ++i) {
        const rgPanel* panel = &plot->panels[i];
        rgWriteAxis(out, plot, panel);
        fputs("set ylabel ", out);
        rgPutQuoted(out, panel->label);
        fprintf(out, " noenhanced\nset xlabel '%s'\nplot ",
                i == plot->panelCount - 1 ? "time [s]" : "");
        for (int k = 0; k < panel->count; ++k) {
            if (k > 0) {
                fputs(", ", out);
            }
            rgPutQuoted(out, table);
            fprintf(out, " using 1:%d with lines lw 1.5 lc rgb '%s' title ", panel->first + k + 2,
                    colors[k % 4]);
            rgPutQuoted(out, plot->series[panel->first + k].name);
        }
        fputc('\n', out);
    }
    fputs("unset multiplot\n", out);
}

static char* rgTerminal(const char* path, int panelCount) {
    const char* ending = strrchr(path, '.');
    int height = 80 + 200 * panelCount;
    if (ending != NULL && strcmp(ending, ".png") == 0) {
        return rgCli_Format("pngcairo size 1000,%d font 'Sans,11'", height);
    }
    if (ending != NULL && strcmp(ending, ".svg") == 0) {
        return rgCli_Format("svg size 1000,%d font 'Sans,13' background '#ffffff'", height);
    }
    if (ending != NULL && strcmp(ending, ".pdf") == 0) {
        return rgCli_Format("pdfcairo size 10in,%.2fin font 'Sans,11'", 0.01 * height);
    }
    rgCli_Error("%s: pictures end in .png, .svg or .pdf", path);
    return NULL;
}

static void rgReportPlot(const rgPlot* plot, const char* picture, const char* table, bool asJson) {
    if (!asJson) {
        printf("%s, and its numbers in %s\n", picture, table);
        return;
    }
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "picture", picture);
    rgJson_String(&json, "numbers", table);
    rgJson_Int(&json, "rows", plot->rowCount);
    rgJson_BeginArray(&json, "series");
    for (int i = 0; i < plot->seriesCount; ++i) {
        rgJson_String(&json, NULL, plot->series[i].name);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

// The picture of the table at `part`; `out` is its name in messages.
static bool rgRunGnuplot(const rgPlot* plot, const char* table, const char* part, const char* out,
                         const char* terminal, const char* title) {
    signal(SIGPIPE, SIG_IGN); // without gnuplot nobody reads the script
    FILE* pipe = popen("gnuplot 2>&1 >/dev/null", "w");
    if (pipe != NULL) {
        rgWriteScript(pipe, plot, table, part, terminal, title);
    }
    if (pipe == NULL || pclose(pipe) != 0) {
        rgCli_Error("gnuplot failed; is it installed (gnuplot-nox)? The numbers are in %s", table);
        return false;
    }
    if (!rgIsWhole(part)) {
        rgCli_Error("%s: could not be written; the numbers are in %s", out, table);
        return false;
    }
    return true;
}

static bool rgDrawPlot(const rgPlot* plot, const char* out, const char* title, bool json) {
    char* terminal = rgTerminal(out, plot->panelCount);
    if (terminal == NULL) {
        return false;
    }
    char* table = rgCli_Format("%s.csv", out);
    rgOutput picture;
    bool good = rgWriteTable(plot, table) && rgOutput_Open(&picture, out);
    if (good) {
        good = rgRunGnuplot(plot, table, picture.part != NULL ? picture.part : out, out, terminal,
                            title);
        good = rgOutput_Close(&picture, good) && good;
    }
    if (good) {
        rgReportPlot(plot, out, table, json);
    }
    free(table);
    free(terminal);
    return good;
}

int rgCli_Plot(int argc, char** argv) {
    const char* what = NULL;
    const char* title = NULL;
    bool json = false;
    int count = 0;
    int code = rgParsePlot(argc, argv, &what, &title, &json, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgPlot plot = {0};
    rgOpenedRecording opened = {0};
    bool good = rgCli_IsHdf5(argv[1])
                    ? rgCli_OpenRecording(argv[1], &opened) && rgPlotRecording(&plot, &opened, what)
                    : rgPlotCsv(&plot, argv[1], what);
    if (good && plot.panelCount == 0) {
        rgCli_Error("--what names nothing to draw");
        good = false;
    }
    good = good && rgDrawPlot(&plot, argv[2], title, json);
    rgPlot_Free(&plot);
    rgCli_CloseRecording(&opened);
    return good ? rg_exitDone : rg_exitUsage;
}
