// Numbers from text: an exact short way for few digits, strtod for the rest.
#include "io/number.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_NUMBER_LENGTH 400 // characters of a number that is read exactly

typedef struct rgDecimal {
    uint64_t mantissa; // first digits, at most 19
    int digitCount;    // digits in the mantissa, without leading zeros
    int exponent;      // exponent of ten
    bool negative;
    bool inexact; // digits were left out of the mantissa
} rgDecimal;

static bool rgIsDigit(char c) {
    return c >= '0' && c <= '9';
}

static void rgDecimal_AddDigit(rgDecimal* decimal, char digit, bool afterPoint) {
    if (decimal->digitCount < 19) {
        decimal->mantissa = 10 * decimal->mantissa + (uint64_t)(digit - '0');
        decimal->digitCount += decimal->mantissa != 0;
        decimal->exponent -= afterPoint;
    } else {
        decimal->inexact = true;
        decimal->exponent += !afterPoint;
    }
}

// Digits with at most one point; NULL without any digit.
static const char* rgDecimal_ReadDigits(rgDecimal* decimal, const char* at, const char* end) {
    bool afterPoint = false;
    bool any = false;
    for (; at < end && (rgIsDigit(*at) || (*at == '.' && !afterPoint)); ++at) {
        if (*at == '.') {
            afterPoint = true;
            continue;
        }
        any = true;
        rgDecimal_AddDigit(decimal, *at, afterPoint);
    }
    return any ? at : NULL;
}

// An exponent, if there is one; otherwise the text is left where it was.
static const char* rgDecimal_ReadExponent(rgDecimal* decimal, const char* at, const char* end) {
    const char* start = at;
    if (at == end || (*at != 'e' && *at != 'E')) {
        return start;
    }
    ++at;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !rgIsDigit(*at)) {
        return start;
    }
    int exponent = 0;
    for (; at < end && rgIsDigit(*at); ++at) {
        exponent = exponent < 100000 ? 10 * exponent + (*at - '0') : exponent;
    }
    decimal->exponent += negative ? -exponent : exponent;
    return at;
}

static const char* rgDecimal_Read(rgDecimal* decimal, const char* text, const char* end) {
    const char* at = text;
    if (at < end && (*at == '-' || *at == '+')) {
        decimal->negative = *at == '-';
        ++at;
    }
    at = rgDecimal_ReadDigits(decimal, at, end);
    return at != NULL ? rgDecimal_ReadExponent(decimal, at, end) : NULL;
}

// Both factors are exact doubles, hence one rounding.
static bool rgDecimal_Exact(const rgDecimal* decimal, double* value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (decimal->inexact || decimal->mantissa > (UINT64_C(1) << 53)) {
        return false;
    }
    double mantissa = (double)decimal->mantissa;
    if (decimal->mantissa == 0) {
        *value = 0;
    } else if (decimal->exponent >= 0 && decimal->exponent <= 22) {
        *value = mantissa * powers[decimal->exponent];
    } else if (decimal->exponent < 0 && decimal->exponent >= -22) {
        *value = mantissa / powers[-decimal->exponent];
    } else {
        return false;
    }
    return true;
}

// A number too long for the buffer: its first 19 digits, right to one unit in the last place.
static double rgDecimal_Cut(const rgDecimal* decimal) {
    char buffer[64];
    int exponent = RG_MIN(RG_MAX(decimal->exponent, -9999), 9999);
    snprintf(buffer, sizeof(buffer), "%" PRIu64 "e%d", decimal->mantissa, exponent);
    return strtod(buffer, NULL);
}

// strtod reads the point of the locale: put it where the text has a dot.
static double rgDecimal_Slow(const rgDecimal* decimal, const char* text, const char* end) {
    char buffer[RG_NUMBER_LENGTH + 64];
    const char* point = localeconv()->decimal_point;
    size_t pointLength = strlen(point);
    if (end - text > RG_NUMBER_LENGTH || pointLength > 32) {
        return rgDecimal_Cut(decimal);
    }
    text += *text == '-' || *text == '+';
    size_t length = 0;
    for (; text < end; ++text) {
        if (*text == '.') {
            memcpy(buffer + length, point, pointLength);
            length += pointLength;
        } else {
            buffer[length++] = *text;
        }
    }
    buffer[length] = '\0';
    return strtod(buffer, NULL);
}

const char* rgScanDouble(const char* text, const char* end, double* value) {
    rgDecimal decimal = {0};
    const char* after = rgDecimal_Read(&decimal, text, end);
    if (after == NULL) {
        return NULL;
    }
    double magnitude = 0;
    if (!rgDecimal_Exact(&decimal, &magnitude)) {
        magnitude = rgDecimal_Slow(&decimal, text, after);
    }
    *value = decimal.negative ? -magnitude : magnitude;
    return after;
}

const char* rgScanInt(const char* text, const char* end, int* value) {
    const char* at = text;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !rgIsDigit(*at)) {
        return NULL;
    }
    int64_t sum = 0;
    for (; at < end && rgIsDigit(*at); ++at) {
        sum = 10 * sum + (*at - '0');
        if (sum > (int64_t)INT32_MAX + 1) {
            return NULL;
        }
    }
    sum = negative ? -sum : sum;
    if (sum > INT32_MAX) {
        return NULL;
    }
    *value = (int)sum;
    return at;
}
