// Several runs of one verb from a JSON file of options.
#include "runs.h"
#include "json_read.h"

#include <stdlib.h>
#include <string.h>

typedef struct rgWords {
    char** texts; // owned
    int count;
} rgWords;

static void rgWords_Add(rgWords* words, char* text) {
    words->texts = rgCli_Grow(words->texts, (size_t)words->count + 2, sizeof(char*));
    words->texts[words->count++] = text;
    words->texts[words->count] = NULL;
}

static void rgWords_Free(rgWords* words) {
    for (int i = 0; i < words->count; ++i) {
        free(words->texts[i]);
    }
    free(words->texts);
    *words = (rgWords){0};
}

static bool rgReportInvalid(const char* path, const rgJsonValue* value, const char* what) {
    rgCli_Error("%s:%d: %s", path, value->line, what);
    return false;
}

static bool rgIsScalar(const rgJsonValue* value) {
    return value->kind == rg_jsonNumber || value->kind == rg_jsonText;
}

// "at": [0, 0, 1] is --at 0,0,1; a list of texts repeats the option.
static bool rgAddList(rgWords* words, const char* path, const rgJsonValue* option) {
    char* joined = NULL;
    for (int i = 0; i < option->count; ++i) {
        const rgJsonValue* item = &option->items[i];
        if (!rgIsScalar(item)) {
            free(joined);
            return rgReportInvalid(path, item, "the list of an option must have numbers or texts");
        }
        if (item->kind == rg_jsonText) {
            rgWords_Add(words, rgCli_Format("--%s=%s", option->key, item->text));
            continue;
        }
        char* longer = rgCli_Format("%s%s%s", joined != NULL ? joined : "",
                                    joined != NULL ? "," : "", item->text);
        free(joined);
        joined = longer;
    }
    if (joined != NULL) {
        rgWords_Add(words, rgCli_Format("--%s=%s", option->key, joined));
    }
    free(joined);
    return true;
}

static bool rgAddOption(rgWords* words, const char* path, const rgJsonValue* option) {
    if (strcmp(option->key, "runs") == 0 || strcmp(option->key, "json") == 0) {
        return rgReportInvalid(path, option, "this option belongs on the command line");
    }
    switch (option->kind) {
    case rg_jsonBool:
        if (option->flag) {
            rgWords_Add(words, rgCli_Format("--%s", option->key));
        }
        return true;
    case rg_jsonNumber:
    case rg_jsonText:
        rgWords_Add(words, rgCli_Format("--%s=%s", option->key, option->text));
        return true;
    case rg_jsonArray:
        return rgAddList(words, path, option);
    case rg_jsonObject:
        return rgReportInvalid(path, option, "an option cannot be an object");
    case rg_jsonNull:
        break;
    }
    return true;
}

static bool rgAddOptions(rgWords* words, const char* path, const rgJsonValue* run,
                         const char* except) {
    bool good = true;
    for (int i = 0; good && i < run->count; ++i) {
        if (strcmp(run->items[i].key, except) != 0) {
            good = rgAddOption(words, path, &run->items[i]);
        }
    }
    return good;
}

static bool rgAddFile(rgWords* words, const char* path, const rgJsonValue* file) {
    if (file->kind == rg_jsonText) {
        rgWords_Add(words, rgCli_CopyText(file->text));
        return true;
    }
    const rgJsonValue* name = rgJsonValue_Find(file, "file");
    if (name == NULL || name->kind != rg_jsonText) {
        return rgReportInvalid(path, file, "a file must be a text, or an object with \"file\"");
    }
    rgWords_Add(words, rgCli_CopyText(name->text));
    return rgAddOptions(words, path, file, "file");
}

static bool rgAddFiles(rgWords* words, const char* path, const rgJsonValue* files) {
    if (files->kind != rg_jsonArray) {
        return rgAddFile(words, path, files);
    }
    bool good = true;
    for (int i = 0; good && i < files->count; ++i) {
        good = rgAddFile(words, path, &files->items[i]);
    }
    return good;
}

// One run's command line: that of the user, the defaults, its own options, its files.
static bool rgMakeRun(rgWords* words, const char* path, const rgJsonValue* defaults,
                      const rgJsonValue* run, int argc, char** argv) {
    for (int i = 0; i < argc; ++i) {
        bool isRuns = strcmp(argv[i], "--runs") == 0;
        if (!isRuns && strncmp(argv[i], "--runs=", 7) != 0) {
            rgWords_Add(words, rgCli_CopyText(argv[i]));
        }
        i += isRuns;
    }
    if (run->kind != rg_jsonObject) {
        return rgReportInvalid(path, run, "a run must be an object of options");
    }
    const rgJsonValue* files = rgJsonValue_Find(run, "files");
    if (defaults != NULL && !rgAddOptions(words, path, defaults, "files")) {
        return false;
    }
    if (!rgAddOptions(words, path, run, "files")) {
        return false;
    }
    files = files == NULL && defaults != NULL ? rgJsonValue_Find(defaults, "files") : files;
    return files == NULL || rgAddFiles(words, path, files);
}

// The file that a run writes by an option, --csv=a.csv or --csv a.csv: the last one counts. NULL:
// none, or a pipe.
static const char* rgWrittenFile(const rgWords* words, const char* option) {
    size_t length = strlen(option);
    const char* file = NULL;
    for (int i = 0; i < words->count; ++i) {
        const char* word = words->texts[i];
        bool named = strncmp(word, option, length) == 0;
        if (named && word[length] == '=') {
            file = word + length + 1;
        } else if (named && word[length] == '\0' && i + 1 < words->count) {
            file = words->texts[i + 1];
        }
    }
    return file != NULL && strcmp(file, "-") != 0 ? file : NULL;
}

// Two runs that write one file: the second would replace what the first wrote. Nor does one write
// the file of the runs.
static bool rgCheckFiles(const char* path, const rgJsonValue* run, const rgWords* now,
                         rgWords* written) {
    static const char* const options[] = {"--csv", "--record"};
    for (int i = 0; i < (int)(sizeof(options) / sizeof(options[0])); ++i) {
        const char* file = rgWrittenFile(now, options[i]);
        if (file != NULL && rgCli_IsSameFile(file, path)) {
            rgCli_Error("%s:%d: a run would replace this file", path, run->line);
            return false;
        }
        for (int k = 0; file != NULL && k < written->count; ++k) {
            if (rgCli_IsSameFile(file, written->texts[k])) {
                rgCli_Error("%s:%d: another run writes '%s' already", path, run->line, file);
                return false;
            }
        }
        if (file != NULL) {
            rgWords_Add(written, rgCli_CopyText(file));
        }
    }
    return true;
}

// Before any of them starts.
static bool rgCheckRuns(const char* path, const rgJsonValue* defaults, const rgJsonValue* runs,
                        int argc, char** argv) {
    rgWords written = {0};
    bool good = true;
    for (int i = 0; good && i < runs->count; ++i) {
        rgWords words = {0};
        good = rgMakeRun(&words, path, defaults, &runs->items[i], argc, argv) &&
               rgCheckFiles(path, &runs->items[i], &words, &written);
        rgWords_Free(&words);
    }
    rgWords_Free(&written);
    return good;
}

// Array of runs in the file; NULL after a message.
static const rgJsonValue* rgFindRuns(const char* path, const rgJsonValue* root,
                                     const rgJsonValue** defaults) {
    static const char* const known[] = {"runs", "defaults"};
    for (int i = 0; root->kind == rg_jsonObject && i < root->count; ++i) {
        const char* key = root->items[i].key;
        if (strcmp(key, known[0]) != 0 && strcmp(key, known[1]) != 0) {
            rgCli_UnknownName(key, known, 2, "%s:%d: unknown key \"%s\" beside \"runs\"", path,
                              root->items[i].line, key);
            return NULL;
        }
    }
    const rgJsonValue* runs = root->kind == rg_jsonArray ? root : rgJsonValue_Find(root, "runs");
    *defaults = rgJsonValue_Find(root, "defaults");
    if (runs == NULL || runs->kind != rg_jsonArray ||
        (*defaults != NULL && (*defaults)->kind != rg_jsonObject)) {
        rgReportInvalid(path, root,
                        "it must be a list of runs, or an object with \"runs\" and \"defaults\"");
        return NULL;
    }
    return runs->count > 0 || rgReportInvalid(path, runs, "the list of runs is empty") ? runs
                                                                                       : NULL;
}

int rgRunAll(const char* path, int argc, char** argv, bool json, rgRunFcn* run) {
    rgJsonValue root;
    if (!rgReadJson(path, &root)) {
        return rg_exitUsage;
    }
    int worst = rg_exitDone;
    const rgJsonValue* defaults = NULL;
    const rgJsonValue* runs = rgFindRuns(path, &root, &defaults);
    bool good = runs != NULL && rgCheckRuns(path, defaults, runs, argc, argv);
    for (int i = 0; good && i < runs->count && worst != rg_exitInterrupted; ++i) {
        rgWords words = {0};
        good = rgMakeRun(&words, path, defaults, &runs->items[i], argc, argv);
        if (good) {
            fputs(!json ? "" : i == 0 ? "[\n" : ",\n", stdout);
            // The parser moves arguments to the front: keep the texts by their own list.
            char** copy = rgCli_Allocate((size_t)words.count + 1, sizeof(char*));
            memcpy(copy, words.texts, ((size_t)words.count + 1) * sizeof(char*));
            int code = run(words.count, copy);
            free(copy);
            if (code == rg_exitUsage) {
                rgCli_Error("%s:%d: run %d could not be made", path, runs->items[i].line, i + 1);
            }
            worst = code > worst ? code : worst;
            fputs(!json && i + 1 < runs->count ? "\n" : "", stdout);
        }
        rgWords_Free(&words);
    }
    fputs(good && json ? "]\n" : "", stdout);
    rgFreeJson(&root);
    return good ? worst : rg_exitUsage;
}
