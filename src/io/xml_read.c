// Reading attributes of XML elements: typed values, complaints with file and line, suggestions.
#include "io/xml.h"

#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_QUOTE "%.60s" // values of a file are quoted in full up to this length

static void rgXmlReader_Remark(rgXmlReader* reader, rgSeverity severity, const rgXmlNode* node,
                               const char* format, va_list arguments) {
    bool isError = severity == rg_severityError;
    int* count = isError ? &reader->errorCount : &reader->remarkCount;
    if (++*count > RG_XML_MAX_REMARKS) {
        if (*count == RG_XML_MAX_REMARKS + 1) {
            rgDiagnostics_Add(reader->diagnostics, rg_severityNote, node->file, node->line,
                              "further %s are left out", isError ? "errors" : "remarks");
        }
        return;
    }
    char text[900];
    if (rgPrintList(text, sizeof(text), format, arguments) < 0) {
        text[0] = '\0';
    }
    rgDiagnostics_Add(reader->diagnostics, severity, node->file, node->line, "%s", text);
}

void rgXmlReader_Error(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgXmlReader_Remark(reader, rg_severityError, node, format, arguments);
    va_end(arguments);
}

void rgXmlReader_Warn(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgSeverity severity = reader->strict ? rg_severityError : rg_severityWarning;
    rgXmlReader_Remark(reader, severity, node, format, arguments);
    va_end(arguments);
}

void rgXmlReader_Note(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    rgXmlReader_Remark(reader, rg_severityNote, node, format, arguments);
    va_end(arguments);
}

static const char* rgSkipBlanks(const char* at) {
    while (rgIsBlank(*at)) {
        ++at;
    }
    return at;
}

static const char* rgSkipWord(const char* at) {
    while (*at != '\0' && !rgIsBlank(*at)) {
        ++at;
    }
    return at;
}

static int rgCountWords(const char* at) {
    int count = 0;
    for (at = rgSkipBlanks(at); *at != '\0'; at = rgSkipBlanks(rgSkipWord(at))) {
        ++count;
    }
    return count;
}

int rgXmlNode_WordCount(const rgXmlNode* node, const char* name) {
    const char* at = rgXmlNode_Attribute(node, name);
    return at != NULL ? rgCountWords(at) : 0;
}

// A finite number that fills the word.
static bool rgWordToDouble(const char* word, const char* end, double* value) {
    double read = 0;
    bool good = rgScanDouble(word, end, &read) == end && isfinite(read);
    if (good) {
        *value = read;
    }
    return good;
}

// Name of a text's place: "name" for <element name>, "" for the text of an element.
static void rgXmlPlace(const rgXmlNode* node, const char* name, char out[160]) {
    snprintf(out, 160, "<%.60s%s%.60s>", node->name, name[0] != '\0' ? " " : "", name);
}

static bool rgCheckWordCount(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                             const char* text, int least, int most) {
    int count = rgCountWords(text);
    if (count >= least && count <= most) {
        return true;
    }
    char place[160];
    rgXmlPlace(node, name, place);
    if (least == most) {
        rgXmlReader_Error(reader, node, "%s: needs %d number%s, has %d", place, least,
                          least == 1 ? "" : "s", count);
    } else {
        rgXmlReader_Error(reader, node, "%s: needs %d to %d numbers, has %d", place, least, most,
                          count);
    }
    return false;
}

static void rgXmlReader_BadWord(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                                const char* word, const char* wanted) {
    char place[160];
    rgXmlPlace(node, name, place);
    rgXmlReader_Error(reader, node, "%s: '%.*s' is not %s", place,
                      (int)RG_MIN(rgSkipWord(word) - word, 60), word, wanted);
}

// The numbers of an attribute, or of the element's text (name "").
static int rgXmlReader_Numbers(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                               const char* text, double* values, int least, int most) {
    if (!rgCheckWordCount(reader, node, name, text, least, most)) {
        return 0;
    }
    // Check all before writing any.
    double ignored = 0;
    for (const char* word = rgSkipBlanks(text); *word != '\0';
         word = rgSkipBlanks(rgSkipWord(word))) {
        if (!rgWordToDouble(word, rgSkipWord(word), &ignored)) {
            rgXmlReader_BadWord(reader, node, name, word, "a finite number");
            return 0;
        }
    }
    int count = 0;
    for (const char* at = rgSkipBlanks(text); *at != '\0'; at = rgSkipBlanks(rgSkipWord(at))) {
        rgWordToDouble(at, rgSkipWord(at), &values[count++]);
    }
    return count;
}

int rgXmlReader_Doubles(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                        double* values, int least, int most) {
    const char* text = rgXmlNode_Attribute(node, name);
    return text != NULL ? rgXmlReader_Numbers(reader, node, name, text, values, least, most) : 0;
}

int rgXmlReader_TextDoubles(rgXmlReader* reader, const rgXmlNode* node, double* values, int least,
                            int most) {
    const char* text = node->text != NULL ? node->text : "";
    return rgXmlReader_Numbers(reader, node, "", text, values, least, most);
}

bool rgXmlReader_Text(rgXmlReader* reader, const rgXmlNode* node, double* value) {
    const char* text = node->text != NULL ? node->text : "";
    if (!rgWordToDouble(text, text + strlen(text), value)) {
        rgXmlReader_Error(reader, node, "<%s>: '%.60s' is not a finite number", node->name, text);
        return false;
    }
    return true;
}

int rgXmlReader_Ints(rgXmlReader* reader, const rgXmlNode* node, const char* name, int* values,
                     int least, int most) {
    const char* at = rgXmlNode_Attribute(node, name);
    if (at == NULL || !rgCheckWordCount(reader, node, name, at, least, most)) {
        return 0;
    }
    int ignored = 0;
    for (const char* word = rgSkipBlanks(at); *word != '\0';
         word = rgSkipBlanks(rgSkipWord(word))) {
        const char* end = rgSkipWord(word);
        if (rgScanInt(word, end, &ignored) != end) {
            rgXmlReader_BadWord(reader, node, name, word, "an integer");
            return 0;
        }
    }
    int count = 0;
    for (at = rgSkipBlanks(at); *at != '\0'; at = rgSkipBlanks(rgSkipWord(at))) {
        rgScanInt(at, rgSkipWord(at), &values[count++]);
    }
    return count;
}

bool rgXmlReader_Double(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                        double* value) {
    return rgXmlReader_Doubles(reader, node, name, value, 1, 1) == 1;
}

bool rgXmlReader_Int(rgXmlReader* reader, const rgXmlNode* node, const char* name, int* value) {
    return rgXmlReader_Ints(reader, node, name, value, 1, 1) == 1;
}

bool rgXmlReader_Bool(rgXmlReader* reader, const rgXmlNode* node, const char* name, bool* value) {
    static const rgXmlWord words[] = {{"false", 0}, {"true", 1}, {"0", 0}, {"1", 1}, {NULL, 0}};
    int chosen = 0;
    bool good = rgXmlReader_Word(reader, node, name, words, &chosen);
    if (good) {
        *value = chosen != 0;
    }
    return good;
}

// "a, b, c" cut to the buffer.
static void rgListWords(const rgXmlWord* table, char* out, size_t capacity) {
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; table[i].word != NULL && length < capacity; ++i) {
        int written =
            snprintf(out + length, capacity - length, "%s%s", i > 0 ? ", " : "", table[i].word);
        length += written > 0 ? (size_t)written : 0;
    }
}

bool rgXmlReader_Word(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                      const rgXmlWord* table, int* value) {
    const char* text = rgXmlNode_Attribute(node, name);
    if (text == NULL) {
        return false;
    }
    for (int i = 0; table[i].word != NULL; ++i) {
        if (strcmp(table[i].word, text) == 0) {
            *value = table[i].value;
            return true;
        }
    }
    char known[400];
    rgListWords(table, known, sizeof(known));
    rgXmlReader_Error(reader, node, "<%s %s>: '" RG_QUOTE "' is none of: %s", node->name, name,
                      text, known);
    return false;
}

const char* rgXmlReader_Required(rgXmlReader* reader, const rgXmlNode* node, const char* name) {
    const char* value = rgXmlNode_Attribute(node, name);
    if (value == NULL) {
        rgXmlReader_Error(reader, node, "<" RG_QUOTE "> needs the attribute '%s'", node->name,
                          name);
    } else if (value[0] == '\0') {
        rgXmlReader_Error(reader, node, "<" RG_QUOTE ">: the attribute '%s' is empty", node->name,
                          name);
        return NULL;
    }
    return value;
}

const rgXmlNode* rgXmlReader_RequiredChild(rgXmlReader* reader, const rgXmlNode* node,
                                           const char* name) {
    const rgXmlNode* child = rgXmlNode_Child(node, name);
    if (child == NULL) {
        rgXmlReader_Error(reader, node, "<" RG_QUOTE "> needs an element <%s>", node->name, name);
    }
    return child;
}

static bool rgIsListed(const char* name, const char* const* known) {
    for (int i = 0; known != NULL && known[i] != NULL; ++i) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void rgSuggest(const char* name, const char* const* known, char out[100]) {
    int count = 0;
    while (known != NULL && known[count] != NULL) {
        ++count;
    }
    rgDidYouMean(name, known, count, out);
}

void rgXmlReader_CheckAttributes(rgXmlReader* reader, const rgXmlNode* node,
                                 const char* const* known) {
    ((rgXmlNode*)(uintptr_t)node)->isChecked = true; // nodes are the tree's, and never const there
    for (int i = 0; i < node->attributeCount; ++i) {
        const char* name = node->attributes[i].name;
        bool isNamespace = strncmp(name, "xmlns", 5) == 0;
        if (!isNamespace && !rgIsListed(name, known)) {
            char suggestion[100];
            rgSuggest(name, known, suggestion);
            rgXmlReader_Warn(reader, node, "<" RG_QUOTE ">: unknown attribute '" RG_QUOTE "'%s",
                             node->name, name, suggestion);
        }
    }
}

void rgXmlReader_CheckChildren(rgXmlReader* reader, const rgXmlNode* node,
                               const char* const* known) {
    for (const rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        if (!rgIsListed(child->name, known)) {
            char suggestion[100];
            rgSuggest(child->name, known, suggestion);
            rgXmlReader_Warn(reader, child,
                             "unknown element <" RG_QUOTE "> in <" RG_QUOTE "> is ignored%s",
                             child->name, node->name, suggestion);
        }
    }
    if (node->textLine != 0) {
        rgXmlNode place = *node;
        place.line = node->textLine;
        rgXmlReader_Warn(reader, &place, "text inside <" RG_QUOTE "> has no meaning", node->name);
    }
}
