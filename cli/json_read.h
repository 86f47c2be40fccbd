// Reading JSON: values as a tree, numbers also as the text that they were.
#pragma once
#include "cli.h"

typedef enum rgJsonKind {
    rg_jsonNull,
    rg_jsonBool,
    rg_jsonNumber,
    rg_jsonText,
    rg_jsonArray,
    rg_jsonObject,
} rgJsonKind;

typedef struct rgJsonValue {
    rgJsonKind kind;
    bool flag;
    char* key;  // name of an object's member
    char* text; // text, or a number as it was written
    int line;
    int count;
    struct rgJsonValue* items; // elements of an array or object
} rgJsonValue;

// False after a message with file and line, and nothing to free.
bool rgParseJson(const char* path, const char* text, size_t count,
                 rgJsonValue* root); // text[count]: 0
bool rgReadJson(const char* path, rgJsonValue* root);
void rgFreeJson(rgJsonValue* value);
// A member by name; NULL when there is none.
const rgJsonValue* rgJsonValue_Find(const rgJsonValue* object, const char* key);
