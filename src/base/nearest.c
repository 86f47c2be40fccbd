// The name that was probably meant, by letters that differ.
#include "base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define RG_NAME_LENGTH 64 // longer names are compared by their first letters

static int rgLower(const char* text, int index) {
    return tolower((unsigned char)text[index]);
}

// Letters to insert, delete, replace or swap with the next one (optimal string alignment).
static int rgNameDistance(const char* a, const char* b) {
    int rows[3][RG_NAME_LENGTH + 1];
    int m = (int)strnlen(a, RG_NAME_LENGTH), n = (int)strnlen(b, RG_NAME_LENGTH);
    int *last = rows[0], *row = rows[1], *beforeLast = rows[2];
    for (int j = 0; j <= n; ++j) {
        last[j] = j;
        beforeLast[j] = j;
    }
    for (int i = 1; i <= m; ++i) {
        row[0] = i;
        for (int j = 1; j <= n; ++j) {
            int x = rgLower(a, i - 1), y = rgLower(b, j - 1);
            int best = last[j - 1] + (x != y);
            best = RG_MIN(best, RG_MIN(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == rgLower(b, j - 2) && y == rgLower(a, i - 2)) {
                best = RG_MIN(best, beforeLast[j - 2] + 1);
            }
            row[j] = best;
        }
        int* spare = beforeLast;
        beforeLast = last;
        last = row;
        row = spare;
    }
    return last[n];
}

int rgNearestName(const char* name, const char* const* names, int count) {
    int best = -1, least = 0;
    bool typed = name != NULL && name[0] != '\0';
    for (int i = 0; typed && names != NULL && i < count; ++i) {
        if (names[i] == NULL || names[i][0] == '\0') {
            continue;
        }
        // A name that holds the other one is near as well, after those that are spelled alike.
        size_t length = strlen(name);
        int distance = rgNameDistance(name, names[i]);
        bool near = distance <= (length < 3 ? 1 : length < 6 ? 2 : 3);
        bool part = length >= 3 && strstr(names[i], name) != NULL;
        int cost = near ? distance : RG_NAME_LENGTH + distance;
        if ((near || part) && (best < 0 || cost < least)) {
            best = i;
            least = cost;
        }
    }
    return best;
}

void rgDidYouMean(const char* name, const char* const* names, int count, char out[100]) {
    int nearest = rgNearestName(name, names, count);
    out[0] = '\0';
    if (nearest >= 0) {
        snprintf(out, 100, "; did you mean '%.60s'?", names[nearest]);
    }
}
