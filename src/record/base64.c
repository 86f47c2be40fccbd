// Bytes as text.
#include "record/record.h"

size_t rgEncodeBase64(const void* bytes, size_t count, char* out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char* b = bytes;
    char* at = out;
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned group = (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) |
                         (left > 2 ? (unsigned)b[i + 2] : 0);
        *at++ = digits[group >> 18 & 63];
        *at++ = digits[group >> 12 & 63];
        *at++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[group & 63] : '=';
    }
    return (size_t)(at - out);
}
