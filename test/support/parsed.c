#include "parsed.h"

#include <string.h>

rgParsed rgParseText(rgParseFcn* parse, const char* path, const char* text, const rgLoadDef* load) {
    rgParsed parsed = {0};
    assert_int_equal(rgCreateDiagnostics(NULL, &parsed.diagnostics), rg_ok);
    parsed.result = parse(text, strlen(text), path, load, parsed.diagnostics, &parsed.def);
    return parsed;
}

void rgExpectClean(const rgParsed* parsed) {
    int remarks = rgDiagnostics_CountOf(parsed->diagnostics, rg_severityWarning) +
                  rgDiagnostics_CountOf(parsed->diagnostics, rg_severityError);
    if (parsed->result != rg_ok || remarks > 0) {
        rgPrintRemarks(parsed->diagnostics);
    }
    assert_int_equal(parsed->result, rg_ok);
    assert_int_equal(remarks, 0);
}

void rgParsed_Close(rgParsed* parsed) {
    rgDestroyDiagnostics(parsed->diagnostics);
    rgDestroyModelDef(parsed->def);
    *parsed = (rgParsed){0};
}
