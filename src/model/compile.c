// Compiles a definition: checks first, then copies, links, filters and names. The model owns one
// arena with everything in it.
#include "model/def.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static void rgCompiler_Report(rgCompiler* compiler, rgSeverity severity, rgSource source,
                              const char* format, va_list arguments) {
    char text[900];
    rgPrintList(text, sizeof(text), format, arguments);
    rgDiagnostics_Add(compiler->diagnostics, severity, source.file, source.line, "%s", text);
}

void rgCompiler_Error(rgCompiler* compiler, rgSource source, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgCompiler_Report(compiler, rg_severityError, source, format, arguments);
    va_end(arguments);
    compiler->errorCount += 1;
}

void rgCompiler_Warn(rgCompiler* compiler, rgSource source, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgCompiler_Report(compiler, rg_severityWarning, source, format, arguments);
    va_end(arguments);
}

void* rgCompiler_Allocate(rgCompiler* compiler, int count, size_t size) {
    void* memory = rgArena_Take(&compiler->model->arena, (size_t)RG_MAX(count, 1), size);
    if (memory == NULL) {
        compiler->outOfMemory = true;
        return NULL;
    }
    memset(memory, 0, (size_t)RG_MAX(count, 1) * size);
    return memory;
}

const char* rgPartName(const char* name, int index, char buffer[32]) {
    if (name != NULL && name[0] != '\0') {
        return name;
    }
    snprintf(buffer, 32, "#%d", index + 1);
    return buffer;
}

static rgModel* rgAllocateModel(const rgAllocator* allocator) {
    rgModel* model = rgAllocate(allocator, 1, sizeof(*model));
    if (model != NULL) {
        model->allocator = rgResolveAllocator(allocator);
        rgArena_Init(&model->arena, &model->allocator);
    }
    return model;
}

void rgDestroyModel(rgModel* model) {
    if (model == NULL) {
        return;
    }
    rgAllocator allocator = model->allocator;
    rgArena_Free(&model->arena);
    rgRelease(&allocator, model);
}

// A part that could not be added is missing: no model without it.
static void rgCheckRefusal(rgCompiler* compiler) {
    const rgRefusal* refusal = &compiler->def->refusal;
    if (refusal->result != rg_ok) {
        rgCompiler_Error(compiler, refusal->source, "%s", refusal->text);
        compiler->outOfMemory = refusal->result == rg_errorMemory;
    }
}

static bool rgBuildModel(rgCompiler* compiler) {
    rgCheckRefusal(compiler);
    rgCheckDefinition(compiler);
    if (compiler->errorCount > 0) {
        return false;
    }
    if (!rgBuildParts(compiler) || !rgBuildLinks(compiler) || !rgBuildTransmissions(compiler) ||
        !rgBuildKeys(compiler) || !rgBuildFilters(compiler) || !rgBuildNames(compiler)) {
        return false;
    }
    rgCheckLinks(compiler);
    return compiler->errorCount == 0;
}

rgResult rgCompileModel(const rgModelDef* def, const rgAllocator* allocator,
                        rgDiagnostics* diagnostics, rgModel** model) {
    if (def == NULL || model == NULL) {
        return rg_errorArgument;
    }
    rgCompiler compiler = {.def = def, .diagnostics = diagnostics};
    compiler.model = rgAllocateModel(allocator);
    if (compiler.model == NULL) {
        return rg_errorMemory;
    }
    if (!rgBuildModel(&compiler)) {
        rgDestroyModel(compiler.model);
        return compiler.outOfMemory ? rg_errorMemory : rg_errorArgument;
    }
    *model = compiler.model;
    return rg_ok;
}
