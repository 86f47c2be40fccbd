// Plots as inline SVG: axes with round or decade ticks, and a legend below the plot, where it
// covers nothing.
#include "parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { rg_plotWidth = 400, rg_plotHeight = 270, rg_left = 66, rg_top = 34, rg_maxTicks = 64 };

typedef struct rgAxis {
    bool log;
    double low, high; // range of the values, or of their logarithms
    double ticks[rg_maxTicks];
    int tickCount;
    int pixels;
} rgAxis;

static const char* const rgColors[] = {"#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df",
                                       "#bf3989", "#0e7490", "#57606a", "#e16f24", "#4d2d00"};
static const char* const rgDashes[] = {"", "6 3", "2 3", "8 3 2 3"};
enum { rg_colorCount = 10 };

static const char* rgColor(int series) {
    return rgColors[series % rg_colorCount];
}

static const char* rgDash(int series) {
    return rgDashes[series / rg_colorCount % 4];
}

// ---- axes

static double rgAxis_Value(const rgAxis* axis, double value) {
    return axis->log ? log10(value) : value;
}

static bool rgAxis_Has(const rgAxis* axis, double value) {
    return isfinite(value) && (!axis->log || value > 0);
}

static double rgAxis_At(const rgAxis* axis, double value) {
    double share = (rgAxis_Value(axis, value) - axis->low) / (axis->high - axis->low);
    return axis->pixels * fmin(fmax(share, 0), 1);
}

static void rgAxis_Round(rgAxis* axis) {
    double span = axis->high - axis->low;
    if (!(span > 0)) {
        axis->low -= axis->log ? 1 : fmax(fabs(axis->low) / 2, 0.5);
        axis->high += axis->log ? 1 : fmax(fabs(axis->high) / 2, 0.5);
        span = axis->high - axis->low;
    }
    double step = pow(10, floor(log10(span / 4)));
    step *= span / step > 24 ? 5 : span / step > 10 ? 2 : 1;
    if (axis->log) { // whole decades, or 1-2-5 where there are few
        step = fmax(ceil(span / 8), 1);
        axis->low = floor(axis->low + 1e-9);
        axis->high = ceil(axis->high - 1e-9);
    } else {
        axis->low = step * floor(axis->low / step + 1e-9);
        axis->high = step * ceil(axis->high / step - 1e-9);
    }
    axis->tickCount = 0;
    for (double t = axis->low; t <= axis->high + 1e-9 * step && axis->tickCount < rg_maxTicks;
         t = axis->low + step * axis->tickCount) {
        axis->ticks[axis->tickCount++] = axis->log ? pow(10, t) : fabs(t) < 1e-9 * step ? 0 : t;
    }
}

static void rgAxis_Fit(rgAxis* axis, const rgPlot* plot, int coordinate) {
    const rgAxis other = {.log = coordinate == 0 ? plot->logY : plot->logX};
    axis->low = INFINITY;
    axis->high = -INFINITY;
    for (int i = 0; i < plot->seriesCount; ++i) {
        for (int k = 0; k < plot->series[i].count; ++k) {
            const double* point = &plot->series[i].points[2 * k];
            if (rgAxis_Has(axis, point[coordinate]) && rgAxis_Has(&other, point[1 - coordinate])) {
                double value = rgAxis_Value(axis, point[coordinate]);
                axis->low = fmin(axis->low, value);
                axis->high = fmax(axis->high, value);
            }
        }
    }
    if (axis->low > axis->high) {
        axis->low = 0;
        axis->high = 1;
    }
}

static void rgWriteTick(FILE* out, const rgAxis* axis, double value) {
    if (axis->log && (value >= 1e4 || value < 1e-2)) {
        fprintf(out, "10<tspan dy=\"-5\" font-size=\"9\">%.0f</tspan>", log10(value));
    } else {
        fprintf(out, "%.6g", value);
    }
}

static void rgWriteAxes(const rgPlot* plot, const rgAxis* x, const rgAxis* y, int below,
                        FILE* out) {
    for (int i = 0; i < y->tickCount; ++i) {
        double at = rg_top + rg_plotHeight - rgAxis_At(y, y->ticks[i]);
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e8ec\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                rg_left, rg_left + x->pixels, at, at, rg_left - 6, at + 4);
        rgWriteTick(out, y, y->ticks[i]);
        fputs("</text>\n", out);
    }
    for (int i = 0; plot->kind != rg_plotBars && i < x->tickCount; ++i) {
        double at = rg_left + rgAxis_At(x, x->ticks[i]);
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#e4e8ec\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
                at, at, rg_top, rg_top + rg_plotHeight, at, rg_top + rg_plotHeight + 17);
        rgWriteTick(out, x, x->ticks[i]);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
            "stroke=\"#8c959f\"/>\n<text class=\"t\" x=\"%d\" y=\"18\">",
            rg_left, rg_top, x->pixels, rg_plotHeight, 8);
    rgWriteEscaped(out, plot->title);
    fprintf(out, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            rg_left + x->pixels / 2, below);
    rgWriteEscaped(out, plot->x);
    fprintf(out,
            "</text>\n<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
            rg_top + rg_plotHeight / 2);
    rgWriteEscaped(out, plot->y);
    fputs("</text>\n", out);
}

// ---- data

static void rgWriteCurve(const rgPlot* plot, int index, const rgAxis* x, const rgAxis* y,
                         FILE* out) {
    const rgSeries* series = &plot->series[index];
    bool pen = false;
    double last = 0;
    fprintf(out,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.7\" stroke-linejoin=\"round\" "
            "stroke-dasharray=\"%s\" d=\"",
            rgColor(index), rgDash(index));
    for (int k = 0; k < series->count; ++k) {
        const double* point = &series->points[2 * k];
        if (!rgAxis_Has(x, point[0]) || !rgAxis_Has(y, point[1])) {
            pen = false;
            continue;
        }
        double px = rg_left + rgAxis_At(x, point[0]);
        double py = rg_top + rg_plotHeight - rgAxis_At(y, point[1]);
        if (pen && plot->kind == rg_plotSteps) {
            fprintf(out, "L%.1f %.1f", px, last);
        }
        fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', px, py);
        pen = true;
        last = py;
    }
    fputs("\"/>\n", out);
}

static void rgWriteMarks(const rgPlot* plot, int index, const rgAxis* x, const rgAxis* y,
                         FILE* out) {
    const rgSeries* series = &plot->series[index];
    for (int k = 0; k < series->count; ++k) {
        const double* point = &series->points[2 * k];
        if (rgAxis_Has(x, point[0]) && rgAxis_Has(y, point[1])) {
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>",
                    rg_left + rgAxis_At(x, point[0]),
                    rg_top + rg_plotHeight - rgAxis_At(y, point[1]), rgColor(index));
        }
    }
    fputc('\n', out);
}

static void rgWriteBars(const rgPlot* plot, int index, const rgAxis* x, const rgAxis* y,
                        FILE* out) {
    const rgSeries* series = &plot->series[index];
    double group = (double)x->pixels / (plot->groupCount > 0 ? plot->groupCount : 1);
    double width = 0.84 * group / plot->seriesCount;
    for (int k = 0; k < series->count; ++k) {
        if (!rgAxis_Has(y, series->points[2 * k + 1])) {
            continue;
        }
        double height = rgAxis_At(y, series->points[2 * k + 1]);
        double at = rg_left + group * (series->points[2 * k] + 0.08) + width * index;
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>",
                at, rg_top + rg_plotHeight - height, fmax(width - 1, 1), fmax(height, 0.5),
                rgColor(index));
        rgWriteEscaped(out, series->name);
        fprintf(out, ": %.4g</title></rect>", series->points[2 * k + 1]);
    }
    fputc('\n', out);
}

// Names below the groups, slanted where there is no room.
static void rgWriteGroups(const rgPlot* plot, const rgAxis* x, bool slanted, FILE* out) {
    double group = (double)x->pixels / (plot->groupCount > 0 ? plot->groupCount : 1);
    for (int i = 0; i < plot->groupCount; ++i) {
        double at = rg_left + group * (i + 0.5);
        int y = rg_top + rg_plotHeight + 16;
        if (slanted) {
            fprintf(out, "<text transform=\"translate(%.1f %d) rotate(-30)\" text-anchor=\"end\">",
                    at + 6, y);
        } else {
            fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", at, y);
        }
        rgWriteEscaped(out, plot->groups[i]);
        fputs("</text>\n", out);
    }
}

static int rgLongest(const rgPlot* plot, bool groups) {
    size_t longest = 0;
    for (int i = 0; i < (groups ? plot->groupCount : plot->seriesCount); ++i) {
        size_t length = strlen(groups ? plot->groups[i] : plot->series[i].name);
        longest = length > longest ? length : longest;
    }
    return (int)longest;
}

// Overhang of slanted names to the left of the plot's own space.
static int rgOverhang(const rgPlot* plot, const rgAxis* x) {
    double group = (double)x->pixels / plot->groupCount, most = 0;
    for (int i = 0; i < plot->groupCount; ++i) {
        double reach = 6.2 * (double)strlen(plot->groups[i]); // 7 pixels a letter, at 30 degrees
        most = fmax(most, reach - rg_left - group * (i + 0.5));
    }
    return (int)ceil(most);
}

// Columns as wide as the longest name, as many as there is room for.
typedef struct rgLegend {
    int columnCount, columnWidth, height;
} rgLegend;

static rgLegend rgPlaceLegend(const rgPlot* plot, int width) {
    int column = 40 + 7 * rgLongest(plot, false);
    int count = width / column > 0 ? width / column : 1;
    int rows = plot->seriesCount > 1 ? (plot->seriesCount + count - 1) / count : 0;
    return (rgLegend){count, column, 18 * rows + (rows > 0 ? 6 : 0)};
}

static void rgWriteLegend(const rgPlot* plot, const rgLegend* legend, int top, FILE* out) {
    for (int i = 0; i < plot->seriesCount; ++i) {
        int x = rg_left - 20 + legend->columnWidth * (i % legend->columnCount);
        int y = top + 10 + 18 * (i / legend->columnCount);
        if (plot->kind == rg_plotBars || plot->kind == rg_plotPoints) {
            fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"10\" fill=\"%s\"/>", x + 6,
                    y - 5, rgColor(i));
        } else {
            fprintf(out,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" "
                    "stroke-width=\"2\" stroke-dasharray=\"%s\"/>",
                    x, x + 22, y, y, rgColor(i), rgDash(i));
        }
        fprintf(out, "<text x=\"%d\" y=\"%d\">", x + 28, y + 4);
        rgWriteEscaped(out, plot->series[i].name);
        fputs("</text>\n", out);
    }
}

// Bars begin at zero, or a decade below the least on a log axis.
static void rgPlaceAxes(const rgPlot* plot, rgAxis* x, rgAxis* y) {
    rgAxis_Fit(x, plot, 0);
    rgAxis_Fit(y, plot, 1);
    if (!y->log && plot->kind != rg_plotBars) { // room above and below the curves
        double room = 0.05 * (y->high - y->low);
        y->low -= y->low == 0 ? 0 : room;
        y->high += room;
    }
    if (plot->kind == rg_plotBars) {
        y->low = y->log ? y->low - 0.3 : fmin(y->low, 0);
    }
    if (plot->low != 0 || plot->high != 0) {
        y->low = rgAxis_Value(y, plot->low);
        y->high = rgAxis_Value(y, plot->high);
    }
    rgAxis_Round(x);
    rgAxis_Round(y);
}

void rgPlot_WriteSvg(const rgPlot* plot, FILE* out) {
    int bars = plot->groupCount * (plot->seriesCount * 9 + 12);
    rgAxis x = {.log = plot->logX, .pixels = rg_plotWidth};
    rgAxis y = {.log = plot->logY, .pixels = rg_plotHeight};
    if (plot->kind == rg_plotBars && bars > rg_plotWidth) {
        x.pixels = bars < 860 ? bars : 860;
    }
    rgPlaceAxes(plot, &x, &y);
    bool slanted = plot->groupCount > 0 && 7 * rgLongest(plot, true) > x.pixels / plot->groupCount;
    int title = 8 * (int)strlen(plot->title) + 16;
    int width = rg_left + x.pixels + 16;
    width = title > width ? title : width;
    rgLegend legend = rgPlaceLegend(plot, width - rg_left + 20);
    int bottom = rg_top + rg_plotHeight + 46 + (slanted ? 4 * rgLongest(plot, true) : 0);
    int height = bottom + legend.height;
    int before = slanted ? rgOverhang(plot, &x) : 0;
    fprintf(out, "<svg viewBox=\"%d 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", -before,
            width + before, height, width + before, height);
    rgWriteAxes(plot, &x, &y, bottom - 8, out);
    for (int i = 0; i < plot->seriesCount; ++i) {
        if (plot->kind == rg_plotBars) {
            rgWriteBars(plot, i, &x, &y, out);
        } else if (plot->kind == rg_plotPoints) {
            rgWriteMarks(plot, i, &x, &y, out);
        } else {
            rgWriteCurve(plot, i, &x, &y, out);
            if (plot->series[i].count <= 12 && plot->kind == rg_plotLines) {
                rgWriteMarks(plot, i, &x, &y, out);
            }
        }
    }
    if (plot->kind == rg_plotBars) {
        rgWriteGroups(plot, &x, slanted, out);
    }
    if (legend.height > 0) {
        rgWriteLegend(plot, &legend, bottom, out);
    }
    fputs("</svg>", out);
}
