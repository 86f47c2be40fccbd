// What the fuzzing programs share. libFuzzer calls LLVMFuzzerTestOneInput with bytes of its choice;
// sanitizers and the checks below decide whether a call went wrong.
#pragma once
#include "rigor/io.h"

#include <stdint.h>
#include <stdlib.h>

// A broken promise stops the run, and libFuzzer keeps the bytes.
#define RG_PROMISE(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

typedef rgResult rgParseFcn(const void* text, size_t byteCount, const char* path,
                            const rgLoadDef* def, rgDiagnostics* diagnostics, rgModelDef** model);

// Any bytes give a definition, or an error with at least one remark that is an error.
static inline void rgFuzzModel(rgParseFcn* parse, const uint8_t* bytes, size_t count) {
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgLoadDef load = rgDefaultLoadDef();
    load.ignoreEnvironment = true;
    RG_PROMISE(rgCreateDiagnostics(NULL, &diagnostics) == rg_ok);
    rgResult result = parse(bytes, count, "nowhere/input", &load, diagnostics, &def);
    RG_PROMISE((def != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(diagnostics, rg_severityError) > 0);
    if (def != NULL) {
        rgDiagnostics_Clear(diagnostics);
        result = rgCompileModel(def, NULL, diagnostics, &model);
        RG_PROMISE((model != NULL) == (result == rg_ok));
        RG_PROMISE(result == rg_ok || rgDiagnostics_Count(diagnostics) > 0);
    }
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    rgDestroyDiagnostics(diagnostics);
}
