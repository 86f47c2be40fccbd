// A small JSON reader for reference data. Memory belongs to the root.
#pragma once
#include <stdbool.h>

typedef enum rgJsonKind {
    rg_jsonNull,
    rg_jsonBool,
    rg_jsonNumber,
    rg_jsonString,
    rg_jsonArray,
    rg_jsonObject,
} rgJsonKind;

typedef struct rgJson {
    rgJsonKind kind;
    double number; // bool: 0 or 1
    char* text;
    int count;            // of an array or object
    struct rgJson* items; // values
    char** keys;          // of an object
} rgJson;

// NULL when the file cannot be read or is not JSON.
rgJson* rgReadJson(const char* path);
void rgDestroyJson(rgJson* root);

const rgJson* rgJson_Find(const rgJson* object, const char* key); // NULL when missing
double rgJson_Number(const rgJson* object, const char* key);      // NAN when missing
const char* rgJson_Text(const rgJson* object, const char* key);   // "" when missing
// All numbers of nested arrays in order, at most capacity; returns how many there are.
int rgJson_Flatten(const rgJson* value, double* out, int capacity);
