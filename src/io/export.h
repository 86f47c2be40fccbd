// Common to the writers of model files: growing text, XML attributes, lists of omitted parts.
#pragma once
#include "base/base.h"
#include "model/def.h"

typedef struct rgText {
    rgAllocator allocator;
    char* bytes; // ends with a zero byte
    int count, capacity;
    bool failed; // out of memory
} rgText;

void rgText_Add(rgText* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void rgText_Indent(rgText* text, int depth);
// name="value", escaped, with a blank before it. NULL values write nothing.
void rgText_Attribute(rgText* text, const char* name, const char* value);
// The shortest decimals that read back as the same numbers, with a point in every locale.
void rgText_Value(rgText* text, double value);
void rgText_Color(rgText* text, const float color[4]); // rgba="..."
void rgText_Numbers(rgText* text, const char* name, const double* values, int count);
void rgText_Number(rgText* text, const char* name, double value);
void rgText_NumberUnless(rgText* text, const char* name, double value, double usual);
void rgText_Vec(rgText* text, const char* name, rgVec3 value);
void rgText_Integer(rgText* text, const char* name, int value);

// Write the text to a file, or fail with a remark.
rgResult rgText_Save(rgText* text, const char* path, rgDiagnostics* diagnostics);

// Names of parts that cannot be written, reported in one warning.
typedef struct rgOmissions {
    rgDiagnostics* diagnostics;
    const char* what; // "actuators have no place in URDF"
    char names[600];
    int count;
} rgOmissions;

void rgOmissions_Add(rgOmissions* omissions, const char* name);
void rgOmissions_Report(rgOmissions* omissions);
// Warn about belts and disabled shapes, which no format can express.
void rgReportSurfaces(const rgModelDef* def, rgDiagnostics* diagnostics, bool tellsBelts);

// A part's name, or one made from its number.
typedef struct rgPartName {
    char text[64];
} rgPartName;
const char* rgNamed(const char* name, const char* kind, int number, rgPartName* made);

// A definition as MJCF text, which the caller releases.
rgResult rgWriteMjcf(const rgModelDef* def, rgDiagnostics* diagnostics, rgText* text);
