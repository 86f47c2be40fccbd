// Commands of the page: one JSON object with texts, numbers and lists of three numbers.
#include "io/number.h"
#include "view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgReader {
    const char* at;
    const char* end;
} rgReader;

typedef struct rgFields {
    char name[16]; // "do"
    char text[16]; // "value" as a text, or "shape"
    double value;
    double vector[3]; // "value" as a list
    double point[3], target[3];
    double size, key, body, index;
    bool hasNumber, hasVector, hasText, hasPoint, hasTarget;
} rgFields;

static void rgSkip(rgReader* r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL && *r->at != '\0') {
        ++r->at;
    }
}

static bool rgParseChar(rgReader* r, char c) {
    rgSkip(r);
    bool same = r->at < r->end && *r->at == c;
    r->at += same;
    return same;
}

// Plain texts: no escapes, which no command needs.
static bool rgParseString(rgReader* r, char text[16]) {
    size_t length = 0;
    if (!rgParseChar(r, '"')) {
        return false;
    }
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20 &&
           length < 15) {
        text[length++] = *r->at++;
    }
    text[length] = '\0';
    return rgParseChar(r, '"');
}

static bool rgTakeNumber(rgReader* r, double* number) {
    char digits[40];
    size_t length = 0;
    rgSkip(r);
    while (r->at < r->end && length < sizeof(digits) - 1 &&
           strchr("+-.eE0123456789", *r->at) != NULL && *r->at != '\0') {
        digits[length++] = *r->at++;
    }
    return length > 0 && rgScanDouble(digits, digits + length, number) == digits + length &&
           isfinite(*number);
}

static bool rgTakeVector(rgReader* r, double vector[3]) {
    bool good = rgParseChar(r, '[');
    for (int i = 0; good && i < 3; ++i) {
        good = rgTakeNumber(r, &vector[i]) && rgParseChar(r, i < 2 ? ',' : ']');
    }
    return good;
}

static bool rgParseValue(rgReader* r, rgFields* f) {
    rgSkip(r);
    char first = r->at < r->end ? *r->at : '\0';
    if (first == '"') {
        f->hasText = true;
        return rgParseString(r, f->text);
    }
    if (first == '[') {
        f->hasVector = true;
        return rgTakeVector(r, f->vector);
    }
    f->hasNumber = true;
    return rgTakeNumber(r, &f->value);
}

static bool rgParseField(rgReader* r, rgFields* f) {
    char key[16];
    if (!rgParseString(r, key) || !rgParseChar(r, ':')) {
        return false;
    }
    const struct {
        const char* name;
        double* number;
    } numbers[] = {{"size", &f->size}, {"key", &f->key}, {"body", &f->body}, {"index", &f->index}};
    for (int i = 0; i < RG_COUNT(numbers); ++i) {
        if (strcmp(key, numbers[i].name) == 0) {
            return rgTakeNumber(r, numbers[i].number);
        }
    }
    if (strcmp(key, "do") == 0) {
        return rgParseString(r, f->name);
    }
    if (strcmp(key, "value") == 0) {
        return rgParseValue(r, f);
    }
    if (strcmp(key, "shape") == 0) {
        f->hasText = true;
        return rgParseString(r, f->text);
    }
    if (strcmp(key, "point") == 0) {
        f->hasPoint = true;
        return rgTakeVector(r, f->point);
    }
    if (strcmp(key, "target") == 0) {
        f->hasTarget = true;
        return rgTakeVector(r, f->target);
    }
    return false;
}

static bool rgParseObject(rgReader* r, rgFields* f) {
    if (!rgParseChar(r, '{')) {
        return false;
    }
    do {
        if (!rgParseField(r, f)) {
            return false;
        }
    } while (rgParseChar(r, ','));
    bool closed = rgParseChar(r, '}');
    rgSkip(r);
    return closed && r->at == r->end;
}

static bool rgIsWhole(double x) {
    return fabs(x) < 1e9 && x == rint(x);
}

// Arguments that a command requires beside its name.
enum {
    rg_needNothing,
    rg_needNumber,
    rg_needVector,
    rg_needText,
    rg_needDrag,
    rg_needWrench,
    rg_needDrop
};

// Numbers outside low..high (lengths of vectors, sizes of dropped bodies) are refused.
static const struct {
    const char* name;
    rgViewerCommandKind kind;
    int need;
    double low, high;
} rgCommandTable[] = {
    {"pause", rg_commandPause, rg_needNothing, 0, 0},
    {"play", rg_commandPlay, rg_needNothing, 0, 0},
    {"step", rg_commandStep, rg_needNothing, 0, 0},
    {"reset", rg_commandReset, rg_needNothing, 0, 0},
    {"gravity", rg_commandGravity, rg_needVector, 0, 1e4},
    {"friction", rg_commandFriction, rg_needNumber, 0, 1e3},
    {"stiffness", rg_commandStiffness, rg_needNumber, 0, 1e15},
    {"dt", rg_commandTimeStep, rg_needNumber, 1e-6, 0.1},
    {"speed", rg_commandSpeed, rg_needNumber, 1e-3, 1e3},
    {"solver", rg_commandSolver, rg_needText, 0, 0},
    {"drag", rg_commandDrag, rg_needDrag, 0, 0},
    {"release", rg_commandRelease, rg_needNothing, 0, 0},
    {"drop", rg_commandDrop, rg_needDrop, 1e-4, 100},
    {"pose", rg_commandPose, rg_needNumber, -1e6, 1e6},
    {"control", rg_commandControl, rg_needNumber, -1e9, 1e9},
    {"wrench", rg_commandWrench, rg_needWrench, 0, 1e9},
    {"watch", rg_commandWatch, rg_needNumber, 0, 1},
};

static const double rg_farthest = 1e6; // bound of any coordinate [m]

static bool rgHasWhatItNeeds(int need, const rgFields* f) {
    switch (need) {
    case rg_needNumber:
        return f->hasNumber;
    case rg_needVector:
        return f->hasVector;
    case rg_needText:
        return f->hasText;
    case rg_needDrag:
    case rg_needWrench:
        return f->hasPoint && f->hasTarget && f->body >= 1;
    case rg_needDrop:
        return f->hasPoint && f->hasText;
    default:
        return true;
    }
}

static double rgLargest(const double p[3]) {
    return fmax(fmax(fabs(p[0]), fabs(p[1])), fabs(p[2]));
}

static const char* rgRefuseValue(int need, double low, double high, const rgFields* f) {
    double value = need == rg_needVector   ? rgLargest(f->vector)
                   : need == rg_needDrop   ? f->size
                   : need == rg_needWrench ? fmax(rgLargest(f->point), rgLargest(f->target))
                                           : f->value;
    bool counts = need != rg_needNothing && need != rg_needText && need != rg_needDrag;
    if (counts && !(value >= low && value <= high)) {
        return "The value is out of range.";
    }
    double place = fmax(rgLargest(f->point), rgLargest(f->target));
    if (need != rg_needWrench && place > rg_farthest) {
        return "The position is too far away.";
    }
    if (need == rg_needDrop && strcmp(f->text, "ball") != 0 && strcmp(f->text, "box") != 0) {
        return "Balls and boxes can be dropped.";
    }
    return NULL;
}

const char* rgReadCommand(const char* text, size_t size, rgViewerCommand* command) {
    rgFields f = {0};
    text = text != NULL ? text : ""; // a request without a body
    rgReader reader = {text, text + size};
    if (!rgParseObject(&reader, &f)) {
        return "This is not a command: one JSON object with known fields is needed.";
    }
    if (!rgIsWhole(f.key) || !rgIsWhole(f.body) || !rgIsWhole(f.index) || f.index < 0) {
        return "Keys, bodies and indices are whole numbers.";
    }
    for (int i = 0; i < RG_COUNT(rgCommandTable); ++i) {
        if (strcmp(rgCommandTable[i].name, f.name) != 0) {
            continue;
        }
        if (!rgHasWhatItNeeds(rgCommandTable[i].need, &f)) {
            return "The command lacks a value, or has one of the wrong kind.";
        }
        const char* refusal = rgRefuseValue(rgCommandTable[i].need, rgCommandTable[i].low,
                                            rgCommandTable[i].high, &f);
        if (refusal != NULL) {
            return refusal;
        }
        const double* place = f.hasVector ? f.vector : f.point;
        bool isDrop = rgCommandTable[i].kind == rg_commandDrop;
        bool isReset = rgCommandTable[i].kind == rg_commandReset;
        *command = (rgViewerCommand){.kind = rgCommandTable[i].kind,
                                     .number = isDrop    ? f.size
                                               : isReset ? f.key
                                                         : f.value,
                                     .index = (int)f.index,
                                     .body = {(int32_t)f.body},
                                     .point = {place[0], place[1], place[2]},
                                     .target = {f.target[0], f.target[1], f.target[2]}};
        memcpy(command->text, f.text, sizeof(command->text));
        return NULL;
    }
    return "There is no such command.";
}
