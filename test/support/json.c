#include "json.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgReader {
    const char* at;
    bool failed;
} rgReader;

static void rgReader_Value(rgReader* reader, rgJson* value);

static char rgReader_Peek(rgReader* reader) {
    while (isspace((unsigned char)*reader->at)) {
        reader->at += 1;
    }
    return *reader->at;
}

static bool rgReader_Accept(rgReader* reader, char c) {
    if (rgReader_Peek(reader) != c) {
        return false;
    }
    reader->at += 1;
    return true;
}

static char* rgReader_String(rgReader* reader) {
    if (!rgReader_Accept(reader, '"')) {
        reader->failed = true;
        return NULL;
    }
    const char* end = strchr(reader->at, '"'); // the data have no escapes
    if (end == NULL) {
        reader->failed = true;
        return NULL;
    }
    size_t length = (size_t)(end - reader->at);
    char* text = malloc(length + 1);
    memcpy(text, reader->at, length);
    text[length] = '\0';
    reader->at = end + 1;
    return text;
}

static void rgJson_Grow(rgJson* value) {
    bool full = (value->count & (value->count - 1)) == 0; // at 0, 1, 2, 4, 8, ...
    if (full) {
        size_t capacity = value->count > 0 ? 2 * (size_t)value->count : 1;
        value->items = realloc(value->items, capacity * sizeof(rgJson));
        value->keys = realloc(value->keys, capacity * sizeof(char*));
    }
    value->items[value->count] = (rgJson){0};
    value->keys[value->count] = NULL;
    value->count += 1;
}

static void rgReader_List(rgReader* reader, rgJson* value, char close) {
    while (!reader->failed && !rgReader_Accept(reader, close)) {
        if (value->count > 0 && !rgReader_Accept(reader, ',')) {
            reader->failed = true;
            return;
        }
        rgJson_Grow(value);
        if (value->kind == rg_jsonObject) {
            value->keys[value->count - 1] = rgReader_String(reader);
            reader->failed = reader->failed || !rgReader_Accept(reader, ':');
        }
        rgReader_Value(reader, &value->items[value->count - 1]);
    }
}

static void rgReader_Word(rgReader* reader, rgJson* value) {
    static const char* const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; ++i) {
        if (strncmp(reader->at, words[i], strlen(words[i])) == 0) {
            value->kind = i == 0 ? rg_jsonNull : rg_jsonBool;
            value->number = i == 2;
            reader->at += strlen(words[i]);
            return;
        }
    }
    char* end = NULL;
    value->kind = rg_jsonNumber;
    value->number = strtod(reader->at, &end);
    reader->failed = reader->failed || end == reader->at;
    reader->at = end;
}

static void rgReader_Value(rgReader* reader, rgJson* value) {
    char c = reader->failed ? '\0' : rgReader_Peek(reader);
    if (c == '{' || c == '[') {
        reader->at += 1;
        value->kind = c == '{' ? rg_jsonObject : rg_jsonArray;
        rgReader_List(reader, value, c == '{' ? '}' : ']');
    } else if (c == '"') {
        value->kind = rg_jsonString;
        value->text = rgReader_String(reader);
    } else if (c == '\0') {
        reader->failed = true;
    } else {
        rgReader_Word(reader, value);
    }
}

static char* rgReadText(const char* path) {
    FILE* file = path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char* text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text != NULL) {
        text[fread(text, 1, (size_t)size, file)] = '\0';
    }
    fclose(file);
    return text;
}

rgJson* rgReadJson(const char* path) {
    char* text = rgReadText(path);
    if (text == NULL) {
        return NULL;
    }
    rgJson* root = calloc(1, sizeof(rgJson));
    rgReader reader = {.at = text};
    rgReader_Value(&reader, root);
    free(text);
    if (reader.failed) {
        rgDestroyJson(root);
        return NULL;
    }
    return root;
}

static void rgJson_Free(rgJson* value) {
    for (int i = 0; i < value->count; ++i) {
        rgJson_Free(&value->items[i]);
        free(value->keys[i]);
    }
    free(value->items);
    free(value->keys);
    free(value->text);
}

void rgDestroyJson(rgJson* root) {
    if (root != NULL) {
        rgJson_Free(root);
        free(root);
    }
}

const rgJson* rgJson_Find(const rgJson* object, const char* key) {
    for (int i = 0; object != NULL && object->kind == rg_jsonObject && i < object->count; ++i) {
        if (strcmp(object->keys[i], key) == 0) {
            return &object->items[i];
        }
    }
    return NULL;
}

double rgJson_Number(const rgJson* object, const char* key) {
    const rgJson* value = rgJson_Find(object, key);
    return value != NULL ? value->number : NAN;
}

const char* rgJson_Text(const rgJson* object, const char* key) {
    const rgJson* value = rgJson_Find(object, key);
    return value != NULL && value->text != NULL ? value->text : "";
}

static void rgJson_Collect(const rgJson* value, double* out, int capacity, int* count) {
    if (value->kind == rg_jsonNumber) {
        if (*count < capacity) {
            out[*count] = value->number;
        }
        *count += 1;
    }
    for (int i = 0; i < value->count; ++i) {
        rgJson_Collect(&value->items[i], out, capacity, count);
    }
}

int rgJson_Flatten(const rgJson* value, double* out, int capacity) {
    int count = 0;
    if (value != NULL) {
        rgJson_Collect(value, out, capacity, &count);
    }
    return count;
}
