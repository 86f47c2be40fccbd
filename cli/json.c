// JSON output.
#include "cli.h"

#include <math.h>

// Length of the UTF-8 sequence at c, or 0 when it is none (file names may hold any bytes).
static int rgSequenceLength(const unsigned char* c) {
    int length = *c < 0x80 ? 1 : *c >= 0xc2 && *c < 0xe0 ? 2 : *c >= 0xe0 && *c < 0xf0 ? 3 : 4;
    if ((*c >= 0x80 && *c < 0xc2) || *c > 0xf4) {
        return 0;
    }
    for (int i = 1; i < length; ++i) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static void rgJson_Text(rgJson* json, const char* text) {
    fputc('"', json->out);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0';) {
        int length = rgSequenceLength(c);
        if (length == 0) {
            fputs("\\ufffd", json->out);
        } else if (*c == '"' || *c == '\\') {
            fprintf(json->out, "\\%c", *c);
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(json->out, "\\u%04x", *c);
        } else if (*c == 0xc2 && c[1] < 0xa0) { // C1, which terminals obey as well
            fprintf(json->out, "\\u%04x", c[1]);
        } else {
            fwrite(c, 1, (size_t)length, json->out);
        }
        c += length > 0 ? length : 1;
    }
    fputc('"', json->out);
}

static void rgJson_NewLine(rgJson* json) {
    fprintf(json->out, "\n%*s", 2 * json->depth, "");
}

// Comma, line and key before a value.
static void rgJson_Start(rgJson* json, const char* key) {
    if (json->depth > 0) {
        if (json->hasItems[json->depth - 1]) {
            fputc(',', json->out);
        }
        json->hasItems[json->depth - 1] = true;
        rgJson_NewLine(json);
    }
    if (key != NULL) {
        rgJson_Text(json, key);
        fputs(": ", json->out);
    }
}

static void rgJson_Open(rgJson* json, const char* key, char bracket) {
    rgJson_Start(json, key);
    fputc(bracket, json->out);
    json->hasItems[json->depth++] = false;
}

static void rgJson_Close(rgJson* json, char bracket) {
    json->depth -= 1;
    if (json->hasItems[json->depth]) {
        rgJson_NewLine(json);
    }
    fputc(bracket, json->out);
    if (json->depth == 0) {
        fputc('\n', json->out);
    }
}

void rgJson_BeginObject(rgJson* json, const char* key) {
    rgJson_Open(json, key, '{');
}

void rgJson_EndObject(rgJson* json) {
    rgJson_Close(json, '}');
}

void rgJson_BeginArray(rgJson* json, const char* key) {
    rgJson_Open(json, key, '[');
}

void rgJson_EndArray(rgJson* json) {
    rgJson_Close(json, ']');
}

void rgJson_String(rgJson* json, const char* key, const char* text) {
    rgJson_Start(json, key);
    if (text != NULL) {
        rgJson_Text(json, text);
    } else {
        fputs("null", json->out);
    }
}

void rgJson_Number(rgJson* json, const char* key, double value) {
    rgJson_Start(json, key);
    if (isfinite(value)) {
        fprintf(json->out, "%.17g", value);
    } else {
        fputs("null", json->out);
    }
}

void rgJson_Int(rgJson* json, const char* key, long long value) {
    rgJson_Start(json, key);
    fprintf(json->out, "%lld", value);
}

void rgJson_Bool(rgJson* json, const char* key, bool value) {
    rgJson_Start(json, key);
    fputs(value ? "true" : "false", json->out);
}
