// Parameters that differ from world to world.
#include "rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool rgFindParameter(const char* name, rgBatchParameter* parameter) {
    if (strcmp(name, "friction") == 0) { // as the settings of a world call it
        name = "mu";
    }
    for (int i = 0; i < rg_parameterCount; ++i) {
        if (strcmp(name, rgBatchParameter_Name((rgBatchParameter)i)) == 0) {
            *parameter = (rgBatchParameter)i;
            return true;
        }
    }
    return false;
}

static void rgReportParameters(const char* option, const char* name) {
    fprintf(stderr, "rigor: %s: there is no parameter '%s'; there are", option, name);
    for (int i = 0; i < rg_parameterCount; ++i) {
        fprintf(stderr, "%s %s", i > 0 ? "," : "", rgBatchParameter_Name((rgBatchParameter)i));
    }
    fputc('\n', stderr);
}

// "0.1:0.9:17:log", cut at the colons.
static bool rgReadRange(rgSpread* spread, char* text, bool grid) {
    char* parts[4] = {text};
    int count = 1;
    for (char* c = text; *c != '\0'; ++c) {
        if (*c == ':') {
            *c = '\0';
            if (count == 4) {
                return false;
            }
            parts[count++] = c + 1;
        }
    }
    bool good = rgParseNumber(parts[0], &spread->low);
    spread->high = spread->low;
    good = good && (count < 2 || rgParseNumber(parts[1], &spread->high));
    spread->count = grid ? 1 : 0;
    if (grid) {
        good = good && count >= 3 && rgParseInt(parts[2], &spread->count) && spread->count >= 1 &&
               (count < 4 || strcmp(parts[3], "log") == 0);
        spread->logarithmic = count == 4;
    } else {
        good = good && count == 2;
    }
    return good;
}

static bool rgReadSpread(rgSpreads* spreads, const char* option, char* text, bool grid) {
    char* equal = strchr(text, '=');
    rgSpread spread = {0};
    if (equal == NULL) {
        rgCli_Error("%s: '%s' is not NAME=%s", option, text, grid ? "LOW:HIGH:COUNT" : "LOW:HIGH");
        return false;
    }
    *equal = '\0';
    if (!rgFindParameter(text, &spread.parameter)) {
        rgReportParameters(option, text);
        return false;
    }
    for (int i = 0; i < spreads->count; ++i) {
        if (spreads->spreads[i].parameter == spread.parameter) {
            rgCli_Error("%s: %s is given twice", option, text);
            return false;
        }
    }
    char* range = rgCli_CopyText(equal + 1);
    bool good = rgReadRange(&spread, range, grid);
    free(range);
    if (!good) {
        rgCli_Error("%s: %s wants %s, not '%s'", option, text,
                    grid ? "LOW:HIGH:COUNT, or LOW:HIGH:COUNT:log" : "LOW:HIGH", equal + 1);
        return false;
    }
    if (spread.low > spread.high || (spread.logarithmic && !(spread.low > 0))) {
        rgCli_Error("%s: %s from %g to %g is not a range%s", option, text, spread.low, spread.high,
                    spread.logarithmic ? " in equal ratios" : "");
        return false;
    }
    spreads->spreads[spreads->count++] = spread;
    if (grid && (spreads->gridSize *= spread.count) > INT32_MAX) {
        rgCli_Error("%s: a grid of more than %d points", option, INT32_MAX);
        return false;
    }
    return true;
}

bool rgSpreads_Read(rgSpreads* spreads, const char* option, const char* text, bool grid) {
    char* copy = rgCli_CopyText(text);
    char* rest = NULL;
    char* part = strtok_r(copy, ",", &rest);
    bool good = part != NULL;
    if (!good) {
        rgCli_Error("%s names no parameter", option);
    }
    for (; good && part != NULL; part = strtok_r(NULL, ",", &rest)) {
        good = spreads->count < RG_ROLLOUT_PARAMETERS && rgReadSpread(spreads, option, part, grid);
    }
    free(copy);
    return good;
}

static double rgGridValue(const rgSpread* spread, int place) {
    double share = spread->count > 1 ? (double)place / (spread->count - 1) : 0;
    if (place == spread->count - 1 && place > 0) {
        return spread->high;
    }
    return spread->logarithmic ? spread->low * pow(spread->high / spread->low, share)
                               : spread->low + share * (spread->high - spread->low);
}

double rgSpreads_Value(const rgSpreads* spreads, int index, uint64_t seed, int64_t world) {
    const rgSpread* spread = &spreads->spreads[index];
    if (spread->count == 0) {
        uint64_t own = rgRandomBits(seed, (uint64_t)world);
        return spread->low + (spread->high - spread->low) * rgRandomUnit(own, (uint64_t)index);
    }
    int64_t place = world % spreads->gridSize;
    for (int i = spreads->count - 1; i > index; --i) {
        place /= spreads->spreads[i].count > 0 ? spreads->spreads[i].count : 1;
    }
    return rgGridValue(spread, (int)(place % spread->count));
}
