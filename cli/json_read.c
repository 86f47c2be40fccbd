// Reading JSON (RFC 8259) by descent.
#include "json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RG_JSON_DEPTH   32
#define RG_JSON_BYTES   (16 << 20)
#define RG_JSON_MEMBERS 1000 // most members of an object, whose names are compared with each other

typedef struct rgJsonReader {
    const char* path;
    const char* at;
    int line;
    int depth;
} rgJsonReader;

static bool rgJsonReader_Fail(const rgJsonReader* r, const char* what) {
    rgCli_Error("%s:%d: %s", r->path, r->line, what);
    return false;
}

static void rgJsonReader_Skip(rgJsonReader* r) {
    for (; *r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n'; ++r->at) {
        r->line += *r->at == '\n';
    }
}

static bool rgReadHex(const char* at, unsigned* code) {
    *code = 0;
    for (int i = 0; i < 4; ++i) {
        const char* digits = "0123456789abcdef";
        char c = at[i] >= 'A' && at[i] <= 'F' ? (char)(at[i] + 32) : at[i];
        const char* digit = c != '\0' ? strchr(digits, c) : NULL;
        if (digit == NULL) {
            return false;
        }
        *code = 16 * *code + (unsigned)(digit - digits);
    }
    return true;
}

// UTF-8 of a code of the basic plane.
static char* rgPutCode(char* out, unsigned code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

static bool rgJsonReader_Text(rgJsonReader* r, char** text) {
    if (*r->at != '"') {
        return rgJsonReader_Fail(r, "a text in quotes is needed here");
    }
    size_t length = strcspn(r->at + 1, "\n");
    char* out = rgCli_Allocate(length + 1, 1);
    *text = out;
    for (++r->at; *r->at != '"'; ++r->at) {
        static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        const char* escape =
            r->at[0] == '\\' && r->at[1] != '\0' ? strchr(letters, r->at[1]) : NULL;
        unsigned code = 0;
        if ((unsigned char)*r->at < 0x20) {
            return rgJsonReader_Fail(r, "a text does not end in its line");
        }
        if (*r->at != '\\') {
            *out++ = *r->at;
        } else if (escape != NULL) {
            *out++ = meant[escape - letters];
            ++r->at;
        } else if (r->at[1] == 'u' && rgReadHex(r->at + 2, &code) && code != 0 &&
                   (code < 0xd800 || code > 0xdfff)) {
            out = rgPutCode(out, code);
            r->at += 5;
        } else {
            return rgJsonReader_Fail(r, "a text has an unknown escape sequence");
        }
    }
    ++r->at;
    return true;
}

static bool rgJsonReader_Value(rgJsonReader* r, rgJsonValue* value);

// Refuse two members with one name: the one that counts would be left to chance.
static bool rgJsonReader_IsNew(const rgJsonReader* r, const rgJsonValue* list) {
    if (list->count > RG_JSON_MEMBERS) {
        return rgJsonReader_Fail(r, "an object has too many members");
    }
    for (int i = 0; i + 1 < list->count; ++i) {
        if (strcmp(list->items[i].key, list->items[list->count - 1].key) == 0) {
            char* text = rgCli_Format("\"%s\" is given twice", list->items[i].key);
            rgJsonReader_Fail(r, text);
            free(text);
            return false;
        }
    }
    return true;
}

static bool rgJsonReader_Item(rgJsonReader* r, rgJsonValue* list) {
    list->items = rgCli_Grow(list->items, (size_t)list->count + 1, sizeof(rgJsonValue));
    rgJsonValue* item = &list->items[list->count++];
    *item = (rgJsonValue){0};
    if (list->kind == rg_jsonObject) {
        if (!rgJsonReader_Text(r, &item->key) || !rgJsonReader_IsNew(r, list)) {
            return false;
        }
        rgJsonReader_Skip(r);
        if (*r->at != ':') {
            return rgJsonReader_Fail(r, "a ':' is needed here");
        }
        ++r->at;
    }
    return rgJsonReader_Value(r, item);
}

static bool rgJsonReader_List(rgJsonReader* r, rgJsonValue* list, char end) {
    if (++r->depth > RG_JSON_DEPTH) {
        return rgJsonReader_Fail(r, "lists are nested too deep");
    }
    ++r->at;
    rgJsonReader_Skip(r);
    for (bool first = true; *r->at != end; first = false) {
        if (!first) {
            if (*r->at != ',') {
                return rgJsonReader_Fail(r, end == '}' ? "a ',' or '}' is needed here"
                                                       : "a ',' or ']' is needed here");
            }
            ++r->at;
            rgJsonReader_Skip(r);
        }
        if (!rgJsonReader_Item(r, list)) {
            return false;
        }
        rgJsonReader_Skip(r);
    }
    ++r->at;
    r->depth -= 1;
    return true;
}

static bool rgJsonReader_Word(rgJsonReader* r, rgJsonValue* value) {
    static const char* const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; ++i) {
        size_t length = strlen(words[i]);
        if (strncmp(r->at, words[i], length) == 0) {
            value->kind = i == 0 ? rg_jsonNull : rg_jsonBool;
            value->flag = i == 2;
            r->at += length;
            return true;
        }
    }
    size_t length = strspn(r->at, "+-.0123456789eE");
    double number = 0;
    value->kind = rg_jsonNumber;
    value->text = rgCli_Format("%.*s", (int)length, r->at);
    r->at += length;
    return rgParseNumber(value->text, &number) ||
           rgJsonReader_Fail(r, "a JSON value is needed here");
}

static bool rgJsonReader_Value(rgJsonReader* r, rgJsonValue* value) {
    rgJsonReader_Skip(r);
    value->line = r->line;
    if (*r->at == '{') {
        value->kind = rg_jsonObject;
        return rgJsonReader_List(r, value, '}');
    }
    if (*r->at == '[') {
        value->kind = rg_jsonArray;
        return rgJsonReader_List(r, value, ']');
    }
    if (*r->at == '"') {
        value->kind = rg_jsonText;
        return rgJsonReader_Text(r, &value->text);
    }
    return rgJsonReader_Word(r, value);
}

// Text of a file up to the largest size, terminated by a zero.
static char* rgReadText(FILE* in, size_t* count) {
    char* text = NULL;
    size_t capacity = 0;
    do {
        capacity = capacity == 0 ? 1 << 12 : 4 * capacity;
        text = rgCli_Grow(text, capacity + 1, 1);
        *count += fread(text + *count, 1, capacity - *count, in);
    } while (*count == capacity && capacity < RG_JSON_BYTES);
    text[*count] = '\0';
    return text;
}

bool rgParseJson(const char* path, const char* text, size_t count, rgJsonValue* root) {
    rgJsonReader reader = {.path = path, .at = text, .line = 1};
    *root = (rgJsonValue){0};
    bool good = rgJsonReader_Value(&reader, root);
    rgJsonReader_Skip(&reader);
    if (good && reader.at != text + count) {
        good = rgJsonReader_Fail(&reader, "there is text after the end");
    }
    if (!good) { // no half-read tree, whose last key may be missing
        rgFreeJson(root);
    }
    return good;
}

bool rgReadJson(const char* path, rgJsonValue* root) {
    *root = (rgJsonValue){0};
    FILE* in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (in == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    size_t count = 0;
    char* text = rgReadText(in, &count);
    bool failed = ferror(in) != 0 || !feof(in);
    if (in != stdin) {
        fclose(in);
    }
    rgJsonReader reader = {.path = path, .line = 1};
    bool good = failed ? rgJsonReader_Fail(&reader, "it cannot be read, or is too large")
                       : rgParseJson(path, text, count, root);
    free(text);
    return good;
}

void rgFreeJson(rgJsonValue* value) {
    for (int i = 0; i < value->count; ++i) {
        rgFreeJson(&value->items[i]);
    }
    free(value->items);
    free(value->key);
    free(value->text);
    *value = (rgJsonValue){0};
}

const rgJsonValue* rgJsonValue_Find(const rgJsonValue* object, const char* key) {
    for (int i = 0; object->kind == rg_jsonObject && i < object->count; ++i) {
        if (strcmp(object->items[i].key, key) == 0) {
            return &object->items[i];
        }
    }
    return NULL;
}
