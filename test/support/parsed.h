// A definition read from a text, with what was said about it.
#pragma once
#include "remarks.h"
#include "rigor/io.h"

typedef struct rgParsed {
    rgDiagnostics* diagnostics;
    rgModelDef* def;
    rgResult result;
} rgParsed;

typedef rgResult rgParseFcn(const void* text, size_t byteCount, const char* path,
                            const rgLoadDef* load, rgDiagnostics* diagnostics, rgModelDef** def);

rgParsed rgParseText(rgParseFcn* parse, const char* path, const char* text, const rgLoadDef* load);
// Fails unless there is a definition and not a single remark, but for notes.
void rgExpectClean(const rgParsed* parsed);
void rgParsed_Close(rgParsed* parsed);
