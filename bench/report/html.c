// The page: a section per experiment, kept as a file each so that experiments can be run one by
// one, and everything in one file that needs no other.
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void rgWriteEscaped(FILE* out, const char* text) {
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void rgWriteElement(FILE* out, const char* begin, const char* text, const char* end) {
    fputs(begin, out);
    rgWriteEscaped(out, text);
    fputs(end, out);
}

static void rgWriteBase64(FILE* out, const unsigned char* bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned word = (unsigned)bytes[i] << 16;
        word |= i + 1 < size ? (unsigned)bytes[i + 1] << 8 : 0;
        word |= i + 2 < size ? bytes[i + 2] : 0;
        fputc(digits[word >> 18], out);
        fputc(digits[(word >> 12) & 63], out);
        fputc(i + 1 < size ? digits[(word >> 6) & 63] : '=', out);
        fputc(i + 2 < size ? digits[word & 63] : '=', out);
    }
}

static void rgWriteSheet(FILE* out, const rgSheet* sheet) {
    fputs("<figure class=\"table\">", out);
    rgWriteElement(out, "<figcaption>", sheet->title, "</figcaption>\n<table><thead><tr>");
    for (int i = 0; i < sheet->columnCount; ++i) {
        const rgColumn* column = &sheet->columns[i];
        rgWriteElement(out, column->format != NULL ? "<th class=\"n\">" : "<th>", column->name, "");
        if (column->unit != NULL) {
            rgWriteElement(out, "<br><small>", column->unit, "</small>");
        }
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < sheet->cellCount; ++i) {
        char buffer[64];
        int column = i % sheet->columnCount;
        fputs(column == 0 ? "<tr>" : "", out);
        fprintf(out, "<td%s>%s", sheet->columns[column].format != NULL ? " class=\"n\"" : "",
                sheet->cells[i].mark ? "<b>" : "");
        rgWriteEscaped(out, rgSheet_CellText(sheet, i, buffer));
        fprintf(out, "%s</td>", sheet->cells[i].mark ? "</b>" : "");
        fputs(column + 1 == sheet->columnCount ? "</tr>\n" : "", out);
    }
    fputs("</tbody></table></figure>\n", out);
}

static void rgWritePicture(FILE* out, const rgPicture* picture) {
    fputs("<figure><img alt=\"", out);
    rgWriteEscaped(out, picture->caption);
    fputs("\" src=\"data:image/png;base64,", out);
    rgWriteBase64(out, picture->bytes, picture->size);
    rgWriteElement(out, "\"><figcaption>", picture->caption, "</figcaption></figure>\n");
}

static void rgWriteParts(const rgReport* report, FILE* out) {
    bool open = false; // plots and pictures stand beside each other where there is room
    for (int i = 0; i < report->partCount; ++i) {
        const rgPart* part = &report->parts[i];
        bool beside = part->kind != rg_partTable;
        if (beside != open) {
            fputs(beside ? "<div class=\"row\">\n" : "</div>\n", out);
            open = beside;
        }
        if (part->kind == rg_partTable) {
            rgWriteSheet(out, report->sheets[part->index]);
        } else if (part->kind == rg_partPlot) {
            fputs("<figure>", out);
            rgPlot_WriteSvg(report->plots[part->index], out);
            fputs("</figure>\n", out);
        } else {
            rgWritePicture(out, &report->pictures[part->index]);
        }
    }
    fputs(open ? "</div>\n" : "", out);
}

static void rgWriteSection(const rgReport* report, FILE* out) {
    const rgExperiment* experiment = report->experiment;
    char time[16];
    fprintf(out, "<section id=\"%s\">\n", experiment->name);
    rgWriteElement(out, "<h2>", experiment->title, "</h2>\n");
    rgWriteElement(out, "<p class=\"question\">", experiment->question, " ");
    rgWriteElement(out, "<span>", experiment->source, "</span></p>\n");
    if (report->fault != NULL) {
        rgWriteElement(out, "<p class=\"fault\">Could not be made: ", report->fault, "</p>\n");
    }
    if (report->conclusion != NULL) {
        rgWriteElement(out, "<p class=\"conclusion\">", report->conclusion, "</p>\n");
    }
    for (int i = 0; i < report->verdictCount; ++i) {
        if (!report->verdicts[i].holds) {
            rgWriteElement(out, "<p class=\"fault\">Does not hold: ", report->verdicts[i].text,
                           "</p>\n");
        }
    }
    rgWriteParts(report, out);
    for (int i = 0; i < report->noteCount; ++i) {
        rgWriteElement(out, "<p class=\"note\">", report->notes[i], "</p>\n");
    }
    fprintf(out,
            "<p class=\"how\"><code>rigor bench %s</code> &middot; %s &middot; load at the start "
            "%.2f &middot; <a href=\"%s.json\">JSON</a></p>\n</section>\n",
            experiment->name, rgFormatSeconds(time, report->seconds), report->load,
            experiment->name);
}

static char* rgSectionPath(const char* folder, const rgExperiment* experiment, const char* ending) {
    return rgCli_Format("%s/sections/%s.%s", folder, experiment->name, ending);
}

// The section, and its conclusion as a paragraph of Markdown.
bool rgReport_WriteSection(const rgReport* report, const char* folder) {
    static const char* const endings[] = {"html", "md"};
    bool good = true;
    for (int i = 0; good && i < 2; ++i) {
        rgOutput output;
        char* path = rgSectionPath(folder, report->experiment, endings[i]);
        good = rgOutput_Open(&output, path);
        if (good && i == 0) {
            rgWriteSection(report, output.file);
        } else if (good) {
            const char* text = report->fault != NULL ? report->fault : report->conclusion;
            fprintf(output.file, "**%s** (`%s`, %s). %s\n\n", report->experiment->title,
                    report->experiment->name, report->experiment->source, text != NULL ? text : "");
        }
        good = good && rgOutput_Close(&output, true);
        free(path);
    }
    return good;
}

// ---- the page

static const char rgStyle[] =
    "<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:#1b1f24;max-width:1180px;margin:2em auto;"
    "padding:0 1.2em;background:#fff}\n"
    "h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.25em;margin:2.2em 0 .2em;"
    "border-top:1px solid #d8dee4;padding-top:1em}\n"
    ".machine{color:#57606a;font-size:.9em}.machine b{font-weight:600}\n"
    "nav table{width:100%}nav td:first-child{white-space:nowrap}\n"
    ".question{color:#57606a;margin:.2em 0}.question span{font-size:.85em;background:#eef1f4;"
    "border-radius:3px;padding:0 .4em}\n"
    ".conclusion{font-weight:600;margin:.5em 0 1em;border-left:4px solid #0969da;padding-left:.7em}"
    "\n.fault{color:#b3261e;font-weight:600}.note{max-width:62em}.how{color:#57606a;"
    "font-size:.85em}\n"
    ".row{display:flex;flex-wrap:wrap;gap:1em}figure{margin:.6em 0;max-width:100%}"
    "figure.table{overflow-x:auto}\n"
    "figcaption{color:#57606a;font-size:.9em;margin:.2em 0}img{max-width:560px;width:100%}\n"
    "table{border-collapse:collapse;font-size:.88em}th,td{padding:.18em .65em;text-align:left;"
    "border-bottom:1px solid #e4e8ec;vertical-align:top}th.n,td.n{text-align:right;"
    "font-variant-numeric:tabular-nums}\nthead th{border-bottom:1.5px solid #8c959f;"
    "vertical-align:bottom;white-space:nowrap}small{color:#57606a;font-weight:400}\n"
    "svg text{font:12px system-ui,sans-serif;fill:#1b1f24}svg .t{font-size:13px;font-weight:600}\n"
    "</style>\n";

static void rgWriteMachine(FILE* out, rgEffort effort) {
    static const char* const efforts[] = {
        "Quick pass: the numbers show that it runs, nothing else. ", "", "Long runs. "};
    rgMachine machine = rgReadMachine();
    char date[64];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    fprintf(out, "<p class=\"machine\"><b>%s</b>commit <b>%s</b> &middot; ", efforts[effort],
            machine.commit);
    rgWriteEscaped(out, machine.processor);
    fprintf(out, ", %d cores &middot; ", machine.coreCount);
    rgWriteEscaped(out, machine.system);
    fprintf(out, " &middot; compiler %s, flags <code>", machine.compiler);
    rgWriteEscaped(out, machine.flags);
    fprintf(out, "</code> &middot; load now %.2f &middot; %s</p>\n", rgMachineLoad(), date);
    fputs("<p class=\"machine\">Times are CPU time of one thread; opponents take turns within one "
          "run, and the least and the median of the repetitions count. The residual is that of "
          "the judge, which shares no code with a solver.</p>\n",
          out);
}

// The conclusion of a section that is there already, for the list at the top.
static void rgWriteContents(const char* folder, FILE* out) {
    fputs("<nav><table><tbody>\n", out);
    for (int i = 0; i < rgExperimentCount; ++i) {
        const rgExperiment* experiment = rgExperiments[i];
        char* path = rgSectionPath(folder, experiment, "html");
        FILE* in = fopen(path, "r");
        char line[4096];
        if (in != NULL) {
            fprintf(out, "<tr><td><a href=\"#%s\">", experiment->name);
            rgWriteElement(out, "", experiment->title, "</a></td><td>");
            while (fgets(line, sizeof(line), in) != NULL) {
                static const char begins[][24] = {"<p class=\"conclusion\">",
                                                  "<p class=\"fault\">"};
                for (int k = 0; k < 2; ++k) {
                    size_t length = strlen(begins[k]);
                    if (strncmp(line, begins[k], length) == 0) {
                        line[strcspn(line, "\n")] = '\0';
                        line[strlen(line) - strlen("</p>")] = '\0';
                        fprintf(out, k == 0 ? "%s " : "<b class=\"fault\">%s</b> ", line + length);
                    }
                }
            }
            fputs("</td></tr>\n", out);
            fclose(in);
        }
        free(path);
    }
    fputs("</tbody></table></nav>\n", out);
}

static void rgCopySection(const char* folder, const rgExperiment* experiment, const char* ending,
                          FILE* out) {
    char* path = rgSectionPath(folder, experiment, ending);
    FILE* in = fopen(path, "r");
    char bytes[4096];
    for (size_t got = 1; in != NULL && got > 0;) {
        got = fread(bytes, 1, sizeof(bytes), in);
        fwrite(bytes, 1, got, out);
    }
    if (in != NULL) {
        fclose(in);
    }
    free(path);
}

// All conclusions, to be quoted.
static bool rgWriteSummary(const char* folder) {
    char* path = rgCli_Format("%s/summary.md", folder);
    rgMachine machine = rgReadMachine();
    rgOutput output;
    bool good = rgOutput_Open(&output, path);
    if (good) {
        fprintf(output.file, "Commit %s, %s, %d cores, %s, compiler %s, flags %s.\n\n",
                machine.commit, machine.processor, machine.coreCount, machine.system,
                machine.compiler, machine.flags);
        for (int i = 0; i < rgExperimentCount; ++i) {
            rgCopySection(folder, rgExperiments[i], "md", output.file);
        }
        good = rgOutput_Close(&output, true);
    }
    free(path);
    return good;
}

bool rgWritePage(const char* folder, rgEffort effort) {
    char* path = rgCli_Format("%s/index.html", folder);
    rgOutput output;
    bool good = rgOutput_Open(&output, path);
    if (good) {
        FILE* out = output.file;
        fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
              "<title>rigor: evaluation</title>\n",
              out);
        fputs(rgStyle, out);
        fputs("</head><body>\n<h1>rigor: evaluation</h1>\n", out);
        rgWriteMachine(out, effort);
        rgWriteContents(folder, out);
        for (int i = 0; i < rgExperimentCount; ++i) {
            rgCopySection(folder, rgExperiments[i], "html", out);
        }
        fputs("</body></html>\n", out);
        good = rgOutput_Close(&output, true);
    }
    free(path);
    return good && rgWriteSummary(folder);
}
