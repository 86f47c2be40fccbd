// Aligned tables and comma-separated values, times for people, memory for the program.
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define RG_LINE_BYTES (16 << 20)

static void* rgCli_CheckMemory(void* memory) {
    if (memory == NULL) {
        rgCli_Error("out of memory");
        exit(rg_exitUsage);
    }
    return memory;
}

void* rgCli_Allocate(size_t count, size_t size) {
    return rgCli_CheckMemory(calloc(count > 0 ? count : 1, size));
}

void* rgCli_Grow(void* memory, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) {
        return rgCli_CheckMemory(NULL);
    }
    return rgCli_CheckMemory(realloc(memory, count * size + 1));
}

bool rgCli_ReadLine(char** line, size_t* capacity, FILE* in) {
    size_t count = 0;
    int c = 0;
    do {
        if (count + 1 >= *capacity) {
            *capacity = 2 * *capacity + 128;
            *line = rgCli_Grow(*line, *capacity, 1);
        }
        c = getc(in);
        if (c != EOF) {
            (*line)[count++] = (char)c;
        }
        if (count == RG_LINE_BYTES) { // a device without end, or no text
            rgCli_Error("a line of more than %d MiB", RG_LINE_BYTES >> 20);
            exit(rg_exitUsage);
        }
    } while (c != EOF && c != '\n');
    (*line)[count] = '\0';
    return count > 0;
}

char* rgCli_CopyText(const char* text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(rgCli_Allocate(bytes, 1), text, bytes);
}

char* rgCli_FormatList(const char* format, va_list arguments) {
    va_list copy;
    va_copy(copy, arguments);
    int length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    size_t bytes = (size_t)(length > 0 ? length : 0) + 1;
    char* text = rgCli_Allocate(bytes, 1);
    vsnprintf(text, bytes, format, arguments);
    return text;
}

char* rgCli_Format(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char* text = rgCli_FormatList(format, arguments);
    va_end(arguments);
    return text;
}

// C0, DEL, and C1 as UTF-8 has them; not the end of a line.
static int rgControlLength(const char* text) {
    const unsigned char* c = (const unsigned char*)text;
    if ((c[0] < 0x20 && c[0] != '\n') || c[0] == 0x7f) {
        return 1;
    }
    return c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
}

void rgCli_PutText(FILE* out, const char* text) {
    while (*text != '\0') {
        int length = rgControlLength(text);
        for (int i = 0; i < length; ++i) {
            fprintf(out, "\\x%02x", (unsigned char)text[i]);
        }
        if (length == 0) {
            fputc(*text, out);
        }
        text += length > 0 ? length : 1;
    }
}

void rgCli_PrintList(FILE* out, const char* format, va_list arguments) {
    char* text = rgCli_FormatList(format, arguments);
    rgCli_PutText(out, text);
    free(text);
}

void rgCli_Print(FILE* out, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgCli_PrintList(out, format, arguments);
    va_end(arguments);
}

static void rgTable_Push(rgTable* table, char* text) {
    if (table->cellCount == table->cellCapacity) {
        table->cellCapacity = 2 * table->cellCapacity + 64;
        table->cells = rgCli_Grow(table->cells, (size_t)table->cellCapacity, sizeof(char*));
    }
    table->cells[table->cellCount++] = text;
}

void rgTable_Init(rgTable* table, const char* const* headers, int columnCount) {
    *table = (rgTable){.columnCount = columnCount};
    for (int i = 0; i < columnCount; ++i) {
        rgTable_Push(table, rgCli_CopyText(headers[i]));
    }
}

void rgTable_Free(rgTable* table) {
    for (int i = 0; i < table->cellCount; ++i) {
        free(table->cells[i]);
    }
    free(table->cells);
    *table = (rgTable){0};
}

void rgTable_Add(rgTable* table, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgTable_Push(table, rgCli_FormatList(format, arguments));
    va_end(arguments);
}

// Characters shown, not bytes: continuation bytes of UTF-8 do not count.
static int rgTextWidth(const char* text) {
    int width = 0;
    for (; *text != '\0'; ++text) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static int rgTable_Width(const rgTable* table, int column) {
    int width = 0;
    for (int i = column; i < table->cellCount; i += table->columnCount) {
        int cell = rgTextWidth(table->cells[i]);
        width = cell > width ? cell : width;
    }
    return width;
}

// Replace cells by their form for a terminal, in place.
static void rgTable_Escape(const rgTable* table) {
    for (int i = 0; i < table->cellCount; ++i) {
        char* text = NULL;
        size_t size = 0;
        FILE* memory = open_memstream(&text, &size);
        if (memory != NULL) {
            rgCli_PutText(memory, table->cells[i]);
            fclose(memory);
            free(table->cells[i]);
            table->cells[i] = text;
        }
    }
}

void rgTable_Print(const rgTable* table, FILE* out) {
    rgTable_Escape(table);
    int* widths = rgCli_Allocate((size_t)table->columnCount, sizeof(int));
    for (int i = 0; i < table->columnCount; ++i) {
        widths[i] = rgTable_Width(table, i);
    }
    for (int i = 0; i < table->cellCount; ++i) {
        int column = i % table->columnCount;
        bool last = column == table->columnCount - 1;
        int pad = widths[column] - rgTextWidth(table->cells[i]);
        if (column == 0) {
            fprintf(out, "%s%*s", table->cells[i], last ? 0 : pad, "");
        } else {
            fprintf(out, "  %*s%s", pad, "", table->cells[i]);
        }
        if (last || i == table->cellCount - 1) {
            fputc('\n', out);
        }
    }
    free(widths);
}

static void rgPrintCsvCell(const char* text, FILE* out) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; ++text) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

void rgTable_PrintCsv(const rgTable* table, FILE* out) {
    for (int i = 0; i < table->cellCount; ++i) {
        rgPrintCsvCell(table->cells[i], out);
        bool last = i % table->columnCount == table->columnCount - 1;
        fputc(last || i == table->cellCount - 1 ? '\n' : ',', out);
    }
}

const char* rgFormatSeconds(char buffer[16], double seconds) {
    if (seconds < 1e-3) {
        snprintf(buffer, 16, "%.3g us", seconds * 1e6);
    } else if (seconds < 1) {
        snprintf(buffer, 16, "%.3g ms", seconds * 1e3);
    } else {
        snprintf(buffer, 16, "%.3g s", seconds);
    }
    return buffer;
}
