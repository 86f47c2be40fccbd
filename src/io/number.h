// Numbers from text, independent of the locale and correctly rounded.
#pragma once
#include "base/base.h"

// Decimal number at the start of text, which ends at end. Gives the first character after it, or
// NULL when there is no number. Too large numbers give infinity; "inf", "nan" and hexadecimal are
// not numbers.
const char* rgScanDouble(const char* text, const char* end, double* value);

// Scan a decimal integer; NULL also when it does not fit.
const char* rgScanInt(const char* text, const char* end, int* value);

// Blanks as XML and mesh files have them.
static inline bool rgIsBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
