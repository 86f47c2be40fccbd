// Parameters to be identified and their bounds: options and lines of a file.
#include "identify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// "A:B", cut at the colon.
static bool rgReadTwo(char* text, double* a, double* b) {
    char* colon = strchr(text, ':');
    if (colon == NULL) {
        return false;
    }
    *colon = '\0';
    bool good = rgParseNumber(text, a) && rgParseNumber(colon + 1, b);
    *colon = ':';
    return good;
}

static bool rgReadExtra(char* text, rgParameterDef* def) {
    if (strcmp(text, "log") == 0) {
        def->logarithmic = true;
        return true;
    }
    if (strncmp(text, "start=", 6) == 0) {
        return rgParseNumber(text + 6, &def->start);
    }
    return strncmp(text, "prior=", 6) == 0 && rgReadTwo(text + 6, &def->prior, &def->deviation);
}

// `where` is the option or the file and line, for messages.
static bool rgReadFit(rgIdentifyJob* job, const char* text, const char* where) {
    char* copy = rgCli_CopyText(text);
    char* equal = strchr(copy, '=');
    rgParameterDef def = rgDefaultParameterDef();
    bool good = equal != NULL && equal > copy;
    if (good) {
        *equal = '\0';
        char* rest = NULL;
        char* range = strtok_r(equal + 1, ", \t", &rest);
        good = range != NULL && rgReadTwo(range, &def.lower, &def.upper);
        for (char* word = strtok_r(NULL, ", \t", &rest); good && word != NULL;
             word = strtok_r(NULL, ", \t", &rest)) {
            good = rgReadExtra(word, &def);
        }
    }
    if (!good) {
        rgCli_Error("%s: '%s' is not NAME=LOW:HIGH with, after commas, log, start=X or "
                    "prior=MEAN:SD",
                    where, text);
        free(copy);
        return false;
    }
    def.name = copy; // ends at the equal sign
    job->parameters =
        rgCli_Grow(job->parameters, (size_t)job->parameterCount + 1, sizeof(rgParameterDef));
    job->parameters[job->parameterCount++] = def;
    return true;
}

// Read the lines of the plan; blank lines and text after # are ignored.
static bool rgReadPlanFile(rgIdentifyJob* job, const char* path) {
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    char* line = NULL;
    size_t capacity = 0;
    int number = 0;
    bool good = true;
    while (good && rgCli_ReadLine(&line, &capacity, file)) {
        char where[600];
        snprintf(where, sizeof(where), "%.500s:%d", path, ++number);
        line[strcspn(line, "#\r\n")] = '\0';
        char* text = line + strspn(line, " \t");
        for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); --n) {
            text[n - 1] = '\0';
        }
        good = text[0] == '\0' || rgReadFit(job, text, where);
    }
    free(line);
    fclose(file);
    return good;
}

bool rgIdentifyJob_ReadPlan(rgIdentifyJob* job) {
    const rgIdentifyOptions* options = &job->options;
    bool good = options->plan == NULL || rgReadPlanFile(job, options->plan);
    for (int i = 0; i < options->fits.count && good; ++i) {
        good = rgReadFit(job, options->fits.texts[i], "--fit");
    }
    if (good && job->parameterCount == 0) {
        rgCli_Error("no parameter to fit: give --fit NAME=LOW:HIGH or --plan FILE; --fields lists "
                    "the names");
        good = false;
    }
    return good;
}

void rgIdentifyJob_FreePlan(rgIdentifyJob* job) {
    for (int i = 0; i < job->parameterCount; ++i) {
        free((void*)(uintptr_t)job->parameters[i].name);
    }
    free(job->parameters);
}
