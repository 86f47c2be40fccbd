// Common to the verbs of the program: options, tables, JSON, progress. Each verb is one file, one
// function here, one row in main.c. Exit codes: 0 done, 1 the answer is no, 2 wrong usage or input,
// 130 interrupted.
#pragma once
#include "rigor/rigor.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct rgVerb {
    const char* name;
    const char* summary;
    // argv[0] is the verb; returns the exit code. NULL: the name is a heading of the help
    int (*run)(int argc, char** argv);
} rgVerb;

enum { rg_exitDone = 0, rg_exitNo = 1, rg_exitUsage = 2, rg_exitInterrupted = 130 };

// Run the verb that argv[1] names; `program` is what the user typed so far, such as "rigor bench".
int rgRunVerb(const char* program, const rgVerb* verbs, int verbCount, int argc, char** argv);

int rgCli_Bench(int argc, char** argv);
int rgCli_Check(int argc, char** argv);
int rgCli_Convert(int argc, char** argv);
int rgCli_Demo(int argc, char** argv);
int rgCli_Dynamics(int argc, char** argv);
int rgCli_Identify(int argc, char** argv);
int rgCli_Derive(int argc, char** argv);
int rgCli_Devices(int argc, char** argv);
int rgCli_Inverse(int argc, char** argv);
int rgCli_New(int argc, char** argv);
int rgCli_Plot(int argc, char** argv);
int rgCli_Render(int argc, char** argv);
int rgCli_Replay(int argc, char** argv);
int rgCli_Rollout(int argc, char** argv);
int rgCli_Scenes(int argc, char** argv);
int rgCli_Simulate(int argc, char** argv);
int rgCli_Solve(int argc, char** argv);
int rgCli_View(int argc, char** argv);

// ---- options.c ----

typedef enum rgOptionKind {
    rg_optionFlag,       // value: bool*
    rg_optionText,       // value: const char**; of an argument FILE: a file that is read
    rg_optionOutput,     // value: const char**, a file that is written
    rg_optionInt,        // value: int*, within low..high
    rg_optionNumber,     // value: double*, finite, within low..high
    rg_optionChoice,     // value: int*, index into choices
    rg_optionList,       // value: rgTextList*; each use adds one
    rg_optionPlaced,     // value: rgPlacedList*; belongs to the argument before it
    rg_optionPlacedFlag, // belongs to the argument before it, without a value
} rgOptionKind;

#define RG_MAX_TEXTS 64
typedef struct rgTextList {
    int count;
    const char* texts[RG_MAX_TEXTS];
} rgTextList;

// Options that belong to the argument before them; before the first, to all.
typedef struct rgPlacedList {
    int count;
    int arguments[RG_MAX_TEXTS]; // 0: all
    const char* texts[RG_MAX_TEXTS];
} rgPlacedList;

// The text for an argument (from 1): the last of its own, else the last for all, else NULL.
const char* rgPlacedList_At(const rgPlacedList* list, int argument);

// One option. It is left alone when the user does not give it, so that its start is its default.
typedef struct rgOption {
    const char* name; // "--tol"; "--tol T" and "--tol=T" are both accepted
    rgOptionKind kind;
    void* value;
    const char* help;
    const char* argument;       // name of the value in the help, such as "T"
    const char* const* choices; // NULL-terminated (choice)
    double low, high;           // inclusive; both 0 means no bounds
} rgOption;

typedef struct rgCommand {
    const char* name;    // "rigor solve"
    const char* usage;   // "FILE|DIR... [OPTIONS]"
    const char* summary; // one or more lines
    const rgOption* options;
    int optionCount;
    int minArguments;
    int maxArguments; // negative: any number
    int output;       // number of the argument that is written; -1: the last, 0: none
    bool* given;      // per option, or NULL; rgParseOptions sets it
} rgCommand;

#define RG_CLI_GO (-1) // rgParseOptions: nothing to stop for

// Fill the options' values and move the other arguments to argv[1 .. *argumentCount]. "--" ends the
// options. Returns RG_CLI_GO, or the exit code after printing help (--help) or the error.
int rgParseOptions(const rgCommand* command, int argc, char** argv, int* argumentCount);

// Whole-string conversions: false unless all of text is a number of that kind.
bool rgParseInt(const char* text, int* value);
bool rgParseNumber(const char* text, double* value);

// Print "rigor: ...; did you mean 'x'? There are: ..." on stderr, the question only if a name is
// near.
void rgCli_UnknownName(const char* name, const char* const* names, int count, const char* format,
                       ...) __attribute__((format(printf, 4, 5)));
// Print "rigor: ..." on stderr.
void rgCli_Error(const char* format, ...) __attribute__((format(printf, 1, 2)));
// ---- remarks.c ----

// Print messages, one line each: "file:line: warning: text". Notes only if requested; of remarks
// that differ in names and numbers alone the first with a count, unless all are requested.
void rgCli_PrintDiagnostics(const rgDiagnostics* diagnostics, FILE* out, bool notes, bool all);

// ---- interrupt.c ----

// Catch Ctrl-C and SIGTERM from now on: the first is only noted; a second one ends the program.
void rgCli_CatchInterrupt(void);
bool rgCli_IsInterrupted(void);

// ---- table.c ----

// printf for people: control characters of names, which may come from files of others and command a
// terminal, are shown as \xNN. Lines stay lines.
void rgCli_Print(FILE* out, const char* format, ...) __attribute__((format(printf, 2, 3)));
void rgCli_PrintList(FILE* out, const char* format, va_list arguments);
void rgCli_PutText(FILE* out, const char* text);

// ---- output.c ----

// Output file in progress. Open reports a path that cannot be written; Close reports faults, and
// removes files that are unwanted or incomplete. A link to a file, or to nothing, is refused: its
// owner may not be the one who writes.
typedef struct rgOutput {
    const char* path;
    FILE* file;
    char* part; // temporary path of a regular file until it is whole
} rgOutput;

bool rgOutput_Open(rgOutput* output, const char* path);

// True if both lead to one regular file, or would if it were there.
bool rgCli_IsSameFile(const char* a, const char* b);
// A file that grows in its place; links as above. NULL after a message.
FILE* rgCli_OpenToWrite(const char* path);
bool rgOutput_Close(rgOutput* output, bool wanted);

// ---- table.c ----

// Cells are collected, then printed with aligned columns: the first to the left, others to the
// right.
typedef struct rgTable {
    char** cells;
    int cellCount;
    int cellCapacity;
    int columnCount;
} rgTable;

void rgTable_Init(rgTable* table, const char* const* headers, int columnCount);
void rgTable_Free(rgTable* table);
void rgTable_Add(rgTable* table, const char* format, ...) __attribute__((format(printf, 2, 3)));
void rgTable_Print(const rgTable* table, FILE* out);
// Print lines of comma-separated values; cells with commas, quotes or line ends are quoted.
void rgTable_PrintCsv(const rgTable* table, FILE* out);

// Text for people: "12.3 us", "4.5 ms", "1.2 s". Returns buffer.
const char* rgFormatSeconds(char buffer[16], double seconds);

// ---- json.c ----

// A writer that takes care of commas, escapes and numbers that JSON does not know (null). key is
// NULL inside arrays and for the outermost value.
typedef struct rgJson {
    FILE* out;
    int depth;
    bool hasItems[32];
} rgJson;

void rgJson_BeginObject(rgJson* json, const char* key);
void rgJson_EndObject(rgJson* json);
void rgJson_BeginArray(rgJson* json, const char* key);
void rgJson_EndArray(rgJson* json);
void rgJson_String(rgJson* json, const char* key, const char* text); // NULL text gives null
void rgJson_Number(rgJson* json, const char* key, double value);
void rgJson_Int(rgJson* json, const char* key, long long value);
void rgJson_Bool(rgJson* json, const char* key, bool value);

// Messages as the array "messages". remarks.c
void rgCli_WriteDiagnostics(rgJson* json, const rgDiagnostics* diagnostics);

// ---- progress.c ----

// A bar on stderr, shown only on a terminal and only once a run has taken half a second.
typedef struct rgProgress {
    const char* label;
    int total;
    double start;
    double last;
    bool shown;
    bool terminal;
} rgProgress;

void rgProgress_Begin(rgProgress* progress, const char* label, int total);
// True if an update would be shown now.
bool rgProgress_IsDue(const rgProgress* progress);
void rgProgress_Update(rgProgress* progress, int done, const char* what);
void rgProgress_End(rgProgress* progress); // erases the bar

// Monotonic clock [s].
double rgCli_Seconds(void);
// CPU time of the calling thread [s], independent of other load on the machine.
double rgCli_ThreadSeconds(void);

// Memory or the end of the program, with a message.
void* rgCli_Allocate(size_t count, size_t size);
void* rgCli_Grow(void* memory, size_t count, size_t size);
char* rgCli_CopyText(const char* text);
// The next line with its end, in memory that grows; false at the end of the file. One that is too
// long ends the program, too.
bool rgCli_ReadLine(char** line, size_t* capacity, FILE* in);
char* rgCli_Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
char* rgCli_FormatList(const char* format, va_list arguments);
