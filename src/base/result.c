// Results, version, diagnostics and hashing.
#include "base/base.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

const char* rgResult_Name(rgResult result) {
    static const char* const names[] = {"ok",     "argument",    "memory",  "file",
                                        "format", "unsupported", "numeric", "version"};
    return (int)result >= 0 && (int)result < RG_COUNT(names) ? names[result] : "unknown";
}

int rgVersion(void) {
    return RG_VERSION;
}

rgResult rgCheckVersion(int headerVersion) {
    // Before 1.0 a minor version may change structs; a patch may not.
    return headerVersion / 100 == RG_VERSION / 100 ? rg_ok : rg_errorVersion;
}

// The locale of this thread alone, and only for as long as it takes.
#ifdef _WIN32
int rgPrintList(char* text, size_t size, const char* format, va_list arguments) {
    char before[64];
    int perThread = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char* now = setlocale(LC_NUMERIC, NULL);
    snprintf(before, sizeof(before), "%s", now != NULL ? now : "C");
    setlocale(LC_NUMERIC, "C");
    int length = vsnprintf(text, size, format, arguments);
    setlocale(LC_NUMERIC, before);
    _configthreadlocale(perThread);
    return length;
}
#else
int rgPrintList(char* text, size_t size, const char* format, va_list arguments) {
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain); // without memory for a locale: stays as it is
    int length = vsnprintf(text, size, format, arguments);
    uselocale(before);
    if (plain != (locale_t)0) {
        freelocale(plain);
    }
    return length;
}
#endif

int rgPrint(char* text, size_t size, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = rgPrintList(text, size, format, arguments);
    va_end(arguments);
    return length;
}

struct rgDiagnostics {
    rgAllocator allocator;
    rgMessage* messages;
    int count;
    int capacity;
};

rgResult rgCreateDiagnostics(const rgAllocator* allocator, rgDiagnostics** diagnostics) {
    if (diagnostics == NULL) {
        return rg_errorArgument;
    }
    rgDiagnostics* made = rgAllocate(allocator, 1, sizeof(rgDiagnostics));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(allocator);
    *diagnostics = made;
    return rg_ok;
}

void rgDiagnostics_Clear(rgDiagnostics* diagnostics) {
    if (diagnostics == NULL) {
        return;
    }
    for (int i = 0; i < diagnostics->count; ++i) {
        // The file name and the text share one block that starts with the text.
        union {
            const char* view;
            void* memory;
        } text = {.view = diagnostics->messages[i].text};
        rgRelease(&diagnostics->allocator, text.memory);
    }
    diagnostics->count = 0;
}

void rgDestroyDiagnostics(rgDiagnostics* diagnostics) {
    if (diagnostics == NULL) {
        return;
    }
    rgDiagnostics_Clear(diagnostics);
    rgRelease(&diagnostics->allocator, diagnostics->messages);
    rgAllocator allocator = diagnostics->allocator;
    rgRelease(&allocator, diagnostics);
}

int rgDiagnostics_Count(const rgDiagnostics* diagnostics) {
    return diagnostics != NULL ? diagnostics->count : 0;
}

rgMessage rgDiagnostics_Message(const rgDiagnostics* diagnostics, int index) {
    if (diagnostics == NULL || index < 0 || index >= diagnostics->count) {
        return (rgMessage){.text = ""};
    }
    return diagnostics->messages[index];
}

int rgDiagnostics_CountOf(const rgDiagnostics* diagnostics, rgSeverity severity) {
    int count = 0;
    for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
        count += diagnostics->messages[i].severity == severity;
    }
    return count;
}

void rgDiagnostics_Add(rgDiagnostics* diagnostics, rgSeverity severity, const char* file, int line,
                       const char* format, ...) {
    if (diagnostics == NULL ||
        rgReserve(&diagnostics->allocator, (void**)&diagnostics->messages, &diagnostics->capacity,
                  diagnostics->count, diagnostics->count + 1, sizeof(rgMessage)) != rg_ok) {
        return;
    }
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int written = rgPrintList(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (written < 0) {
        text[0] = '\0';
    }
    size_t textBytes = strlen(text) + 1;
    size_t fileBytes = file != NULL ? strlen(file) + 1 : 0;
    char* memory = rgAllocate(&diagnostics->allocator, textBytes + fileBytes, 1);
    if (memory == NULL) {
        return;
    }
    memcpy(memory, text, textBytes);
    if (file != NULL) {
        memcpy(memory + textBytes, file, fileBytes);
    }
    diagnostics->messages[diagnostics->count++] = (rgMessage){
        .severity = severity,
        .file = file != NULL ? memory + textBytes : NULL,
        .line = line,
        .text = memory,
    };
}

uint64_t rgHashBytes(const void* bytes, size_t count, uint64_t seed) {
    // FNV-1a with a final mix; byte by byte, hence the same on every machine.
    const unsigned char* data = bytes;
    count = bytes != NULL ? count : 0;
    uint64_t hash = seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ data[i]) * 0x100000001b3u;
    }
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    hash ^= hash >> 29;
    return hash;
}
