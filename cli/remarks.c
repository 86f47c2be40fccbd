// Remarks about a file: those that differ only in names and numbers are reported once, with a
// count.
#include "cli.h"

#include <ctype.h>
#include <string.h>

static const char* const severityNames[] = {"note", "warning", "error"};

static void rgPrintRemark(FILE* out, const rgMessage* message, int more) {
    if (message->file != NULL && message->line > 0) {
        rgCli_Print(out, "%s:%d: ", message->file, message->line);
    } else if (message->file != NULL) {
        rgCli_Print(out, "%s: ", message->file);
    }
    rgCli_Print(out, "%s: %s", severityNames[message->severity], message->text);
    if (more > 0) {
        fprintf(out, " (and %d more like it)", more);
    }
    fputc('\n', out);
}

// After a quoted name or a number, else where it was.
static const char* rgSkipParticular(const char* at) {
    const char* end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
    if (end != NULL) {
        return end + 1;
    }
    while (isdigit((unsigned char)*at) || *at == '.' || *at == '-' || *at == '+') {
        ++at;
    }
    return at;
}

static bool rgSameKind(const rgMessage* a, const rgMessage* b) {
    if (a->severity != b->severity || a->severity == rg_severityError) {
        return false;
    }
    const char *x = a->text, *y = b->text;
    for (;; ++x, ++y) {
        x = rgSkipParticular(x);
        y = rgSkipParticular(y);
        if (*x != *y || *x == '\0') {
            return *x == *y;
        }
    }
}

void rgCli_PrintDiagnostics(const rgDiagnostics* diagnostics, FILE* out, bool notes, bool all) {
    int count = rgDiagnostics_Count(diagnostics);
    for (int i = 0; i < count; ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        if (message.severity == rg_severityNote && !notes) {
            continue;
        }
        bool told = false;
        int more = 0;
        for (int k = 0; !all && k < count; ++k) {
            rgMessage other = rgDiagnostics_Message(diagnostics, k);
            bool same = k != i && rgSameKind(&message, &other);
            told = told || (same && k < i);
            more += same;
        }
        if (!told) {
            rgPrintRemark(out, &message, more);
        }
    }
}

void rgCli_WriteDiagnostics(rgJson* json, const rgDiagnostics* diagnostics) {
    rgJson_BeginArray(json, "messages");
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "severity", severityNames[message.severity]);
        rgJson_String(json, "file", message.file);
        rgJson_Int(json, "line", message.line);
        rgJson_String(json, "text", message.text);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
}
