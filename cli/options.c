// Command lines: options with checked values, verbs, messages.
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RG_LISTED_NAMES 40 // of a message about an unknown name

void rgCli_Error(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("rigor: ", stderr);
    rgCli_PrintList(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

// Suggest the nearest name; true if there is one.
static bool rgSuggest(const char* name, const char* const* names, int count) {
    int nearest = rgNearestName(name, names, count);
    if (nearest >= 0) {
        rgCli_Print(stderr, "; did you mean '%s'?", names[nearest]);
    }
    return nearest >= 0;
}

// List names, but not more of them than fit on a few lines.
static void rgListNames(const char* const* names, int count, bool suggested) {
    int shown = 0;
    for (int i = 0; i < count && shown < RG_LISTED_NAMES; ++i) {
        if (names[i] != NULL && names[i][0] != '\0') {
            rgCli_Print(stderr, "%s%s",
                        shown == 0 ? suggested ? " There are: " : "; there are: " : ", ", names[i]);
            ++shown;
        }
    }
    if (shown == RG_LISTED_NAMES && count > shown) {
        fprintf(stderr, ", ... (%d in all)", count);
    }
}

void rgCli_UnknownName(const char* name, const char* const* names, int count, const char* format,
                       ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("rigor: ", stderr);
    rgCli_PrintList(stderr, format, arguments);
    va_end(arguments);
    rgListNames(names, count, rgSuggest(name, names, count));
    fputc('\n', stderr);
}

bool rgParseNumber(const char* text, double* value) {
    char* end = NULL;
    errno = 0;
    double parsed = strtod(text, &end);
    // ERANGE is also set for numbers too small to be normal, which are fine.
    if (end == text || *end != '\0' || !isfinite(parsed)) {
        return false;
    }
    *value = parsed;
    return true;
}

bool rgParseInt(const char* text, int* value) {
    char* end = NULL;
    errno = 0;
    long parsed = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || parsed < INT_MIN || parsed > INT_MAX) {
        return false;
    }
    *value = (int)parsed;
    return true;
}

// Groups of options in the help, in this order. An option of no group belongs to its verb alone.
typedef struct rgOptionGroup {
    const char* title;
    const char* names; // each between spaces
} rgOptionGroup;
static const rgOptionGroup groups[] = {
    {"Most used",
     " --time --steps --dt --key --q --ground --floating --fixed --at --hold --ctrl --mu "
     "--restitution --stiffness --solver --tol --csv --record --view --json "},
    {"Run",
     " --start --v --runs --seed --threads --bodies --integrator --realtime --worlds --randomise "
     "--grid --policy --noise --noise-steps --block --resume --force --port --address --open "},
    {"Physics",
     " --damping --dissipation --tangential-stiffness --tangential-damping --friction-rule "
     "--self-collision --self-overlap --contact --bound "},
    {"Output",
     " --columns --record-every --dump --name --out --every --sensors --export --fps --quiet "},
    {"Files",
     " --rpy --prefix --on --scale --density --without-world --package-dir --strict --no-meshes "
     "--hull --decompose --sheet "},
    {"Solver", " --model --accuracy --answers --max-iter --islands --stop --rule --eta --p "
               "--p-start --tau --alpha "
               "--rho "},
};
enum { rg_groupCount = sizeof(groups) / sizeof(groups[0]), rg_flatOptions = 12 };

// Place of an option in a group, its first option being the first; large: it is not there.
static size_t rgPlaceInGroup(const rgOption* option, const rgOptionGroup* group) {
    char* name = rgCli_Format(" %s ", option->name);
    const char* at = strstr(group->names, name);
    free(name);
    return at != NULL ? (size_t)(at - group->names) : SIZE_MAX;
}

static void rgPrintOption(const rgOption* option, FILE* out) {
    char left[64];
    snprintf(left, sizeof(left), "%s %s", option->name,
             option->argument != NULL ? option->argument : "");
    fprintf(out, "  %-25s %s", left, option->help);
    for (int i = 0; option->kind == rg_optionChoice && option->choices[i] != NULL; ++i) {
        fprintf(out, "%s%s", i == 0 ? ": " : ", ", option->choices[i]);
    }
    fputc('\n', out);
}

// Options of a group in its order.
static void rgPrintGroup(const rgCommand* command, const rgOptionGroup* group, FILE* out) {
    size_t last = 0;
    bool any = false;
    for (;;) {
        const rgOption* next = NULL;
        size_t least = SIZE_MAX;
        for (int i = 0; i < command->optionCount; ++i) {
            size_t place = rgPlaceInGroup(&command->options[i], group);
            if (place < least && (!any || place > last)) {
                least = place;
                next = &command->options[i];
            }
        }
        if (next == NULL) {
            return;
        }
        if (!any) {
            fprintf(out, "\n%s:\n", group->title);
        }
        any = true;
        last = least;
        rgPrintOption(next, out);
    }
}

static bool rgIsOfVerb(const rgOption* option) {
    for (int g = 0; g < rg_groupCount; ++g) {
        if (rgPlaceInGroup(option, &groups[g]) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

static void rgPrintHelp(const rgCommand* command, FILE* out) {
    fprintf(out, "usage: %s %s\n\n%s\n", command->name, command->usage, command->summary);
    bool grouped = command->optionCount > rg_flatOptions, any = false;
    for (int i = 0; i < command->optionCount; ++i) {
        if (!grouped || rgIsOfVerb(&command->options[i])) {
            fputs(any ? "" : grouped ? "\nOptions of this verb:\n" : "\n", out);
            any = true;
            rgPrintOption(&command->options[i], out);
        }
    }
    for (int g = 0; grouped && g < rg_groupCount; ++g) {
        rgPrintGroup(command, &groups[g], out);
    }
}

static bool rgCheckRange(const rgOption* option, const char* text, double value) {
    if ((option->low == 0 && option->high == 0) ||
        (value >= option->low && value <= option->high)) {
        return true;
    }
    rgCli_Error("%s must be between %g and %g, not '%s'", option->name, option->low, option->high,
                text);
    return false;
}

static bool rgSetChoice(const rgOption* option, const char* text) {
    for (int i = 0; option->choices[i] != NULL; ++i) {
        if (strcmp(option->choices[i], text) == 0) {
            *(int*)option->value = i;
            return true;
        }
    }
    rgCli_Print(stderr, "rigor: %s cannot be '%s'; it is one of", option->name, text);
    for (int i = 0; option->choices[i] != NULL; ++i) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", option->choices[i]);
    }
    fputc('\n', stderr);
    return false;
}

static bool rgSetInt(const rgOption* option, const char* text) {
    int value = 0;
    if (!rgParseInt(text, &value)) {
        rgCli_Error("%s needs a whole number, not '%s'", option->name, text);
        return false;
    }
    if (!rgCheckRange(option, text, value)) {
        return false;
    }
    *(int*)option->value = value;
    return true;
}

static bool rgSetNumber(const rgOption* option, const char* text) {
    double value = 0;
    if (!rgParseNumber(text, &value)) {
        rgCli_Error("%s needs a number, not '%s'", option->name, text);
        return false;
    }
    if (!rgCheckRange(option, text, value)) {
        return false;
    }
    *(double*)option->value = value;
    return true;
}

static bool rgAddText(const rgOption* option, const char* text) {
    rgTextList* list = option->value;
    if (list->count == RG_MAX_TEXTS) {
        rgCli_Error("%s can be given %d times at most", option->name, RG_MAX_TEXTS);
        return false;
    }
    list->texts[list->count++] = text;
    return true;
}

const char* rgPlacedList_At(const rgPlacedList* list, int argument) {
    const char* all = NULL;
    const char* own = NULL;
    for (int i = 0; i < list->count; ++i) {
        own = list->arguments[i] == argument ? list->texts[i] : own;
        all = list->arguments[i] == 0 ? list->texts[i] : all;
    }
    return own != NULL ? own : all;
}

static bool rgAddPlaced(const rgOption* option, const char* text, int argument) {
    rgPlacedList* list = option->value;
    if (list->count == RG_MAX_TEXTS) {
        rgCli_Error("%s can be given %d times at most", option->name, RG_MAX_TEXTS);
        return false;
    }
    list->arguments[list->count] = argument;
    list->texts[list->count++] = text;
    return true;
}

static bool rgIsFlag(const rgOption* option) {
    return option->kind == rg_optionFlag || option->kind == rg_optionPlacedFlag;
}

// The argument is the number of those before the option.
static bool rgSetOption(const rgOption* option, const char* text, int argument) {
    switch (option->kind) {
    case rg_optionFlag:
        *(bool*)option->value = true;
        return true;
    case rg_optionText:
    case rg_optionOutput:
        *(const char**)option->value = text;
        return true;
    case rg_optionInt:
        return rgSetInt(option, text);
    case rg_optionNumber:
        return rgSetNumber(option, text);
    case rg_optionChoice:
        return rgSetChoice(option, text);
    case rg_optionList:
        return rgAddText(option, text);
    case rg_optionPlaced:
        return rgAddPlaced(option, text, argument);
    case rg_optionPlacedFlag:
        return rgAddPlaced(option, option->name, argument);
    }
    return false;
}

static bool rgIsText(const char* text, size_t length, const char* other) {
    return strlen(other) == length && strncmp(other, text, length) == 0;
}

static const rgOption* rgFindOption(const rgCommand* command, const char* text, size_t length) {
    for (int i = 0; i < command->optionCount; ++i) {
        if (rgIsText(text, length, command->options[i].name)) {
            return &command->options[i];
        }
    }
    // The coefficient has two names, here as in files of runs and in Python.
    return rgIsText(text, length, "--friction") ? rgFindOption(command, "--mu", 4) : NULL;
}

static void rgReportUnknownOption(const rgCommand* command, const char* text, size_t length) {
    const char** names = rgCli_Allocate((size_t)command->optionCount, sizeof(char*));
    char* name = rgCli_Format("%.*s", (int)length, text);
    for (int i = 0; i < command->optionCount; ++i) {
        names[i] = command->options[i].name;
    }
    rgCli_Print(stderr, "rigor: unknown option '%s' (%s --help lists all)", name, command->name);
    rgSuggest(name, names, command->optionCount);
    fputc('\n', stderr);
    free(name);
    free((void*)names);
}

// Take the option at argv[*index] and its value; moves *index to the last string used.
static bool rgParseOption(const rgCommand* command, int argc, char** argv, int* index,
                          int argument) {
    const char* text = argv[*index];
    size_t length = strcspn(text, "=");
    const rgOption* option = rgFindOption(command, text, length);
    if (option == NULL) {
        rgReportUnknownOption(command, text, length);
        return false;
    }
    const char* value = text[length] == '=' ? text + length + 1 : NULL;
    if (rgIsFlag(option) && value != NULL) {
        rgCli_Error("%s takes no value", option->name);
        return false;
    }
    if (!rgIsFlag(option) && value == NULL) {
        if (*index + 1 >= argc) {
            rgCli_Error("%s needs a value", option->name);
            return false;
        }
        value = argv[++*index];
    }
    if (command->given != NULL) {
        command->given[option - command->options] = true;
    }
    return rgSetOption(option, value, argument);
}

static int rgCheckArguments(const rgCommand* command, int count) {
    if (count < command->minArguments) {
        rgCli_Error("an argument is missing\nusage: %s %s", command->name, command->usage);
        return rg_exitUsage;
    }
    if (command->maxArguments >= 0 && count > command->maxArguments) {
        rgCli_Error("too many arguments\nusage: %s %s", command->name, command->usage);
        return rg_exitUsage;
    }
    return RG_CLI_GO;
}

// Files of the command line that are read, or those that are written.
static int rgCollectFiles(const rgCommand* command, char** argv, int count, bool written,
                          const char** files) {
    int output = command->output < 0 ? count : command->output, found = 0;
    for (int i = 1; i <= count; ++i) {
        if ((i == output) == written) {
            files[found++] = argv[i];
        }
    }
    for (int i = 0; i < command->optionCount; ++i) {
        const rgOption* option = &command->options[i];
        bool isRead = option->kind == rg_optionText && option->argument != NULL &&
                      strncmp(option->argument, "FILE", 4) == 0;
        if (written ? option->kind == rg_optionOutput : isRead) {
            const char* file = *(const char**)option->value;
            if (file != NULL && strcmp(file, "-") != 0) {
                files[found++] = file;
            }
        }
    }
    return found;
}

// Nothing that is read is overwritten, and each output is a file of its own.
static bool rgCheckOutputs(const rgCommand* command, char** argv, int count) {
    size_t capacity = (size_t)count + (size_t)command->optionCount + 1;
    const char** in = rgCli_Allocate(capacity, sizeof(char*));
    const char** out = rgCli_Allocate(capacity, sizeof(char*));
    int inCount = rgCollectFiles(command, argv, count, false, in);
    int outCount = rgCollectFiles(command, argv, count, true, out);
    bool good = true;
    for (int i = 0; i < outCount && good; ++i) {
        for (int k = 0; k < inCount && good; ++k) {
            good = access(in[k], F_OK) != 0 || !rgCli_IsSameFile(out[i], in[k]);
            if (!good) {
                rgCli_Error("%s: the output would replace an input file", out[i]);
            }
        }
        for (int k = 0; k < i && good; ++k) {
            good = !rgCli_IsSameFile(out[i], out[k]);
            if (!good) {
                rgCli_Error("%s: two outputs would be written to this file", out[i]);
            }
        }
    }
    free((void*)in);
    free((void*)out);
    return good;
}

int rgParseOptions(const rgCommand* command, int argc, char** argv, int* argumentCount) {
    int count = 0;
    bool optionsEnded = false;
    for (int i = 1; i < argc; ++i) {
        bool isOption = !optionsEnded && argv[i][0] == '-' && argv[i][1] != '\0';
        if (!isOption) {
            argv[++count] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            optionsEnded = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            rgPrintHelp(command, stdout);
            return rg_exitDone;
        } else if (!rgParseOption(command, argc, argv, &i, count)) {
            return rg_exitUsage;
        }
    }
    *argumentCount = count;
    int code = rgCheckArguments(command, count);
    return code == RG_CLI_GO && !rgCheckOutputs(command, argv, count) ? rg_exitUsage : code;
}

static int rgPrintVerbs(const char* program, const rgVerb* verbs, int verbCount, FILE* out) {
    fprintf(out, "usage: %s VERB [ARGUMENTS]\n", program);
    for (int i = 0; i < verbCount; ++i) {
        if (verbs[i].run == NULL) {
            fprintf(out, "\n%s:\n", verbs[i].name);
        } else {
            fprintf(out, "%s  %-10s %s\n", i == 0 ? "\n" : "", verbs[i].name, verbs[i].summary);
        }
    }
    fprintf(out,
            "\n%s VERB --help explains a verb and its options; %s version prints the version.\n",
            program, program);
    return out == stdout ? rg_exitDone : rg_exitUsage;
}

int rgRunVerb(const char* program, const rgVerb* verbs, int verbCount, int argc, char** argv) {
    if (argc < 2) {
        return rgPrintVerbs(program, verbs, verbCount, stderr);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return rgPrintVerbs(program, verbs, verbCount, stdout);
    }
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)) {
        printf("%s %d.%d.%d\n", program, RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH);
        return rg_exitDone;
    }
    if (strcmp(argv[1], "help") == 0) { // help of a verb: equals --help
        if (argc < 3) {
            return rgPrintVerbs(program, verbs, verbCount, stdout);
        }
        char option[] = "--help";
        char* asked[] = {argv[0], argv[2], option, NULL};
        return rgRunVerb(program, verbs, verbCount, 3, asked);
    }
    const char* names[32] = {NULL};
    int count = 0;
    for (int i = 0; i < verbCount; ++i) {
        if (verbs[i].run != NULL && strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].run(argc - 1, argv + 1);
        }
        if (verbs[i].run != NULL && count < 32) {
            names[count++] = verbs[i].name;
        }
    }
    rgCli_Print(stderr, "rigor: '%s' is not a verb of %s", argv[1], program);
    rgSuggest(argv[1], names, count);
    fputc('\n', stderr);
    return rgPrintVerbs(program, verbs, verbCount, stderr);
}
