// What the fuzzing programs share. libFuzzer calls LLVMFuzzerTestOneInput with bytes of its choice;
// sanitizers and the checks below decide whether a call went wrong.
#pragma once
#include "rigor/io.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A broken promise is printed and stops the run, and libFuzzer keeps the bytes.
#define RG_PROMISE(condition) ((condition) ? (void)0 : rgBreak(__FILE__, __LINE__, #condition))
static inline void rgBreak(const char* file, int line, const char* condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count);

// ---- structure from bytes: choices and numbers, zeros when there are no more

typedef struct rgInput {
    const uint8_t* at;
    size_t left;
} rgInput;

static inline unsigned rgInput_Byte(rgInput* in) {
    if (in->left == 0) {
        return 0;
    }
    in->left -= 1;
    return *in->at++;
}

static inline int rgInput_Below(rgInput* in, int count) {
    return (int)(rgInput_Byte(in) % (unsigned)count);
}

// Numbers of every kind: small ones mostly, then what hurts, then any eight bytes.
static inline double rgInput_Number(rgInput* in) {
    static const double strange[] = {0,      -0.0,    NAN,   INFINITY, -INFINITY, 5e-324, 1e-310,
                                     1e-300, 1e-160,  1e-30, 1e-12,    1e12,      1e30,   1e160,
                                     1e300,  1.7e308, -1e-9, -1e9,     1,         -1};
    unsigned kind = rgInput_Byte(in);
    if (kind < 176) {
        return ((double)rgInput_Byte(in) - 128) / 64;
    }
    if (kind < 216) {
        return strange[rgInput_Byte(in) % (sizeof(strange) / sizeof(strange[0]))];
    }
    if (kind < 240) {
        return ldexp(1 + rgInput_Byte(in) / 256.0, (int)rgInput_Byte(in) - 128);
    }
    double number = 0;
    if (in->left >= sizeof(number)) {
        memcpy(&number, in->at, sizeof(number));
        in->at += sizeof(number);
        in->left -= sizeof(number);
    }
    return number;
}

// Numbers that a user may mean: finite, and of a size between a nanometre and a light second.
static inline double rgInput_Sane(rgInput* in) {
    double number = rgInput_Number(in);
    bool sane = isfinite(number) && fabs(number) < 1e9 && fabs(number) > 1e-9;
    return sane || number == 0 ? number : 1;
}

typedef double rgNumberFcn(rgInput* in);

static inline rgVec3 rgInput_Vec(rgInput* in, rgNumberFcn* number) {
    double x = number(in), y = number(in);
    return rgVec(x, y, number(in));
}

static inline rgPose rgInput_Pose(rgInput* in, rgNumberFcn* number) {
    rgVec3 p = rgInput_Vec(in, number);
    rgQuat q = rgQuatFromRotationVector(rgInput_Vec(in, rgInput_Sane));
    if (rgInput_Byte(in) < 8) { // not a unit
        q.w = number(in);
    }
    return (rgPose){p, q};
}

static inline bool rgAllFinite(const double* x, int count) {
    for (int i = 0; i < count; ++i) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// ---- model files

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
