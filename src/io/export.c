// Text and lists for the writers of model files.
#include "io/export.h"
#include "io/file.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool rgText_Reserve(rgText* text, int more) {
    if (!text->failed && rgReserve(&text->allocator, (void**)&text->bytes, &text->capacity,
                                   text->count, text->count + more + 1, 1) != rg_ok) {
        text->failed = true;
    }
    return !text->failed;
}

void rgText_Add(rgText* text, const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = rgPrintList(NULL, 0, format, arguments);
    if (length >= 0 && rgText_Reserve(text, length)) {
        rgPrintList(text->bytes + text->count, (size_t)length + 1, format, again);
        text->count += length;
    }
    va_end(again);
    va_end(arguments);
}

void rgText_Indent(rgText* text, int depth) {
    rgText_Add(text, "%*s", 2 * RG_MIN(depth, 40), "");
}

void rgText_Attribute(rgText* text, const char* name, const char* value) {
    if (value == NULL) {
        return;
    }
    rgText_Add(text, " %s=\"", name);
    for (const char* at = value; *at != '\0'; ++at) {
        switch (*at) {
        case '&':
            rgText_Add(text, "&amp;");
            break;
        case '<':
            rgText_Add(text, "&lt;");
            break;
        case '"':
            rgText_Add(text, "&quot;");
            break;
        default:
            rgText_Add(text, "%c", *at);
            break;
        }
    }
    rgText_Add(text, "\"");
}

void rgText_Value(rgText* text, double value) {
    char digits[40];
    value = value == 0 ? 0 : value; // no minus sign
    for (int precision = 15; precision <= 17; ++precision) {
        double read = 0;
        int length = rgPrint(digits, sizeof(digits), "%.*g", precision, value);
        if (rgScanDouble(digits, digits + length, &read) != NULL && read == value) {
            break;
        }
    }
    rgText_Add(text, "%s", digits);
}

void rgText_Color(rgText* text, const float color[4]) {
    rgText_Add(text, " rgba=\"%.6g %.6g %.6g %.6g\"", (double)color[0], (double)color[1],
               (double)color[2], (double)color[3]);
}

void rgText_Numbers(rgText* text, const char* name, const double* values, int count) {
    rgText_Add(text, " %s=\"", name);
    for (int i = 0; i < count; ++i) {
        rgText_Add(text, i > 0 ? " " : "");
        rgText_Value(text, values[i]);
    }
    rgText_Add(text, "\"");
}

void rgText_Number(rgText* text, const char* name, double value) {
    rgText_Numbers(text, name, &value, 1);
}

void rgText_NumberUnless(rgText* text, const char* name, double value, double usual) {
    if (value != usual) {
        rgText_Number(text, name, value);
    }
}

void rgText_Vec(rgText* text, const char* name, rgVec3 value) {
    const double values[3] = {value.x, value.y, value.z};
    rgText_Numbers(text, name, values, 3);
}

void rgText_Integer(rgText* text, const char* name, int value) {
    rgText_Add(text, " %s=\"%d\"", name, value);
}

rgResult rgText_Save(rgText* text, const char* path, rgDiagnostics* diagnostics) {
    if (text->failed) {
        return rg_errorMemory;
    }
    rgNewFile made;
    rgResult result = rgNewFile_Open(&made, path, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    size_t count = (size_t)text->count;
    return rgNewFile_Close(&made, fwrite(text->bytes, 1, count, made.file) == count, diagnostics);
}

void rgOmissions_Add(rgOmissions* omissions, const char* name) {
    size_t length = strlen(omissions->names);
    snprintf(omissions->names + length, sizeof(omissions->names) - length, "%s%s",
             omissions->count > 0 ? ", " : "",
             name != NULL && name[0] != '\0' ? name : "(unnamed)");
    omissions->count += 1;
}

void rgOmissions_Report(rgOmissions* omissions) {
    if (omissions->count > 0) {
        bool cut = strlen(omissions->names) == sizeof(omissions->names) - 1;
        rgDiagnostics_Add(omissions->diagnostics, rg_severityWarning, NULL, 0, "%s: %s%s",
                          omissions->what, omissions->names, cut ? " ..." : "");
    }
}

const char* rgNamed(const char* name, const char* kind, int number, rgPartName* made) {
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    snprintf(made->text, sizeof(made->text), "unnamed_%s_%d", kind, number);
    return made->text;
}

void rgReportSurfaces(const rgModelDef* def, rgDiagnostics* diagnostics, bool tellsBelts) {
    rgOmissions belts = {.diagnostics = diagnostics,
                         .what = "surface velocities cannot be written; left out"};
    rgOmissions disabled = {.diagnostics = diagnostics,
                            .what = "disabled shapes are written as enabled"};
    for (int i = 0; i < def->shapeCount; ++i) {
        const rgShapeDef* shape = &def->shapes[i];
        if (tellsBelts && rgShapeDef_HasBelt(shape)) {
            rgOmissions_Add(&belts, shape->name);
        }
        if (shape->disabled) {
            rgOmissions_Add(&disabled, shape->name);
        }
    }
    rgOmissions_Report(&belts);
    rgOmissions_Report(&disabled);
}
