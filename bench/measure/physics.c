// rigor bench physics: experiments with known answers, expected beside measured.
#include "measure.h"
#include "physics/table.h"

typedef struct rgPhysicsOptions {
    bool quick, json, markdown;
    const char* only;
} rgPhysicsOptions;

static int rgParsePhysics(int argc, char** argv, rgPhysicsOptions* options) {
    const rgOption table[] = {
        {"--only", rg_optionText, &options->only, "experiments whose name holds this text", "TEXT",
         NULL, 0, 0},
        {"--quick", rg_optionFlag, &options->quick, "leave out those that take seconds", NULL, NULL,
         0, 0},
        {"--markdown", rg_optionFlag, &options->markdown, "print the table of docs/physics.md",
         NULL, NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor bench physics",
        .usage = "[OPTIONS]",
        .summary = "Experiments with known answers: what mechanics expects, what is measured.\n"
                   "Exit code 0 when all pass but those that are known to miss, 1 otherwise.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
    };
    int count = 0;
    return rgParseOptions(&command, argc, argv, &count);
}

static void rgTellNext(void* context, int done, int total, const char* name) {
    rgProgress* progress = context;
    if (progress->total != total) {
        rgProgress_Begin(progress, "physics", total);
    }
    if (rgProgress_IsDue(progress)) {
        rgProgress_Update(progress, done, name);
    }
}

static const char* rgVerdict(const rgPhysicsRow* row) {
    return row->passes ? "pass" : row->experiment->because != NULL ? "known" : "MISS";
}

static void rgPrintRows(const rgPhysicsRow* rows, int count) {
    static const char* const headers[] = {"experiment", "expected", "measured", "unit",
                                          "within",     "",         "time"};
    rgTable table;
    rgTable_Init(&table, headers, 7);
    for (int i = 0; i < count; ++i) {
        char time[16];
        rgTable_Add(&table, "%s", rows[i].experiment->name);
        rgTable_Add(&table, "%.6g", rows[i].outcome.expected);
        rgTable_Add(&table, "%.6g", rows[i].outcome.measured);
        rgTable_Add(&table, "%s", rows[i].experiment->unit);
        rgTable_Add(&table, "%.2g", rows[i].experiment->tolerance);
        rgTable_Add(&table, "%s", rgVerdict(&rows[i]));
        rgTable_Add(&table, "%s", rgFormatSeconds(time, rows[i].seconds));
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
    for (int i = 0; i < count; ++i) {
        if (!rows[i].passes && rows[i].experiment->because != NULL) {
            printf("known: %s: %s\n", rows[i].experiment->name, rows[i].experiment->because);
        }
    }
}

static void rgPrintMarkdown(const rgPhysicsRow* rows, int count) {
    const char* subject = "";
    for (int i = 0; i < count; ++i) {
        if (strcmp(subject, rows[i].subject) != 0) {
            subject = rows[i].subject;
            printf("\n## %c%s\n\n| experiment | expected | measured | within | "
                   "|\n|---|---|---|---|---|\n",
                   subject[0] - 'a' + 'A', subject + 1);
        }
        const char* unit = rows[i].experiment->unit;
        printf("| %s | %.6g %s | %.6g | %.2g | %s%s%s |\n", rows[i].experiment->name,
               rows[i].outcome.expected, unit, rows[i].outcome.measured,
               rows[i].experiment->tolerance, rows[i].passes ? "pass" : "misses",
               !rows[i].passes && rows[i].experiment->because != NULL ? ": " : "",
               !rows[i].passes && rows[i].experiment->because != NULL ? rows[i].experiment->because
                                                                      : "");
    }
}

static void rgPrintPhysicsJson(const rgPhysicsRow* rows, int count) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_Build(&json);
    rgJson_BeginArray(&json, "experiments");
    for (int i = 0; i < count; ++i) {
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "subject", rows[i].subject);
        rgJson_String(&json, "name", rows[i].experiment->name);
        rgJson_String(&json, "unit", rows[i].experiment->unit);
        rgJson_Number(&json, "expected", rows[i].outcome.expected);
        rgJson_Number(&json, "measured", rows[i].outcome.measured);
        rgJson_Number(&json, "tolerance", rows[i].experiment->tolerance);
        rgJson_Bool(&json, "pass", rows[i].passes);
        rgJson_String(&json, "because", rows[i].passes ? NULL : rows[i].experiment->because);
        rgJson_Number(&json, "seconds", rows[i].seconds);
        rgJson_EndObject(&json);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

int rgBench_Physics(int argc, char** argv) {
    rgPhysicsOptions options = {0};
    int code = rgParsePhysics(argc, argv, &options);
    if (code != RG_CLI_GO) {
        return code;
    }
    rgPhysicsRow rows[rg_physicsCapacity];
    rgProgress progress = {0};
    int count = rgPhysics_Run(options.only, options.quick, rows, rgTellNext, &progress), missed = 0;
    rgProgress_End(&progress);
    for (int i = 0; i < count; ++i) {
        missed += !rows[i].passes && rows[i].experiment->because == NULL;
    }
    if (options.json) {
        rgPrintPhysicsJson(rows, count);
    } else if (options.markdown) {
        rgPrintMarkdown(rows, count);
    } else {
        rgPrintRows(rows, count);
    }
    return missed == 0 ? rg_exitDone : rg_exitNo;
}
