// Sine and cosine of many angles at once.
#pragma once

// s[i] = sin(x[i]), c[i] = cos(x[i]), good to 2.5e-16; the same bits on every machine while
// |x| <= 1e5, where libm takes over.
void rgSinCos(int count, const double* x, double* s, double* c);
