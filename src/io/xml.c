// XML as a tree of elements: expat's events become nodes in an arena.
#include "io/xml.h"

#include "io/file.h"
#include "io/number.h"

#include <expat.h>
#include <string.h>

struct rgXmlTree {
    rgArena arena;
    int nodeCount;
    bool keepsText; // keep texts of any length
    bool isStrict;  // nothing is mended
};

// State of one parse. The first failure stops expat and is reported once.
typedef struct rgXmlBuilder {
    rgXmlTree* tree;
    XML_Parser parser;
    const char* file; // in the arena
    rgXmlNode* root;
    rgXmlNode* open; // innermost element that is not closed
    int depth;
    char* text; // text of the innermost element, as far as it came
    int textLength, textCapacity;
    rgResult result;
    const char* reason;
    int line; // line of the failure
    bool isMalformed;
} rgXmlBuilder;

rgResult rgCreateXmlTree(const rgAllocator* allocator, rgXmlTree** tree) {
    rgXmlTree* made = rgAllocate(allocator, 1, sizeof(rgXmlTree));
    if (made == NULL) {
        return rg_errorMemory;
    }
    rgArena_Init(&made->arena, allocator);
    *tree = made;
    return rg_ok;
}

void rgXmlTree_KeepText(rgXmlTree* tree) {
    tree->keepsText = true;
}

void rgXmlTree_SetStrict(rgXmlTree* tree) {
    tree->isStrict = true;
}

void rgDestroyXmlTree(rgXmlTree* tree) {
    if (tree == NULL) {
        return;
    }
    rgAllocator allocator = tree->arena.allocator;
    rgArena_Free(&tree->arena);
    rgRelease(&allocator, tree);
}

static void rgXmlBuilder_Stop(rgXmlBuilder* builder, rgResult result, const char* reason) {
    if (builder->result == rg_ok) {
        builder->result = result;
        builder->reason = reason;
        XML_StopParser(builder->parser, XML_FALSE);
    }
}

static char* rgPutString(char** at, const char* text) {
    size_t bytes = strlen(text) + 1;
    char* copy = memcpy(*at, text, bytes);
    *at += bytes;
    return copy;
}

// Node, attributes and strings in one piece of the arena.
static rgXmlNode* rgXmlBuilder_MakeNode(rgXmlBuilder* builder, const char* name,
                                        const char** pairs) {
    size_t bytes = sizeof(rgXmlNode) + strlen(name) + 1;
    int attributeCount = 0;
    for (; pairs[2 * attributeCount] != NULL; ++attributeCount) {
        bytes += sizeof(rgXmlAttribute) + strlen(pairs[2 * attributeCount]) +
                 strlen(pairs[2 * attributeCount + 1]) + 2;
    }
    char* memory = rgArena_Take(&builder->tree->arena, bytes, 1);
    if (memory == NULL) {
        return NULL;
    }
    rgXmlNode* node = (rgXmlNode*)(void*)memory;
    rgXmlAttribute* attributes = (rgXmlAttribute*)(void*)(memory + sizeof(rgXmlNode));
    char* at = (char*)(attributes + attributeCount);
    *node = (rgXmlNode){
        .name = rgPutString(&at, name),
        .file = builder->file,
        .line = (int)XML_GetCurrentLineNumber(builder->parser),
        .attributeCount = attributeCount,
        .attributes = attributes,
        .parent = builder->open,
    };
    for (int i = 0; i < attributeCount; ++i) {
        attributes[i].name = rgPutString(&at, pairs[2 * i]);
        attributes[i].value = rgPutString(&at, pairs[2 * i + 1]);
    }
    return node;
}

void rgXmlNode_Append(rgXmlNode* parent, rgXmlNode* child) {
    child->parent = parent;
    if (parent->lastChild != NULL) {
        parent->lastChild->next = child;
    } else {
        parent->firstChild = child;
    }
    parent->lastChild = child;
}

static void XMLCALL rgOnStart(void* context, const char* name, const char** pairs) {
    rgXmlBuilder* builder = context;
    if (builder->result != rg_ok) {
        return;
    }
    if (builder->depth >= RG_XML_MAX_DEPTH) {
        rgXmlBuilder_Stop(builder, rg_errorUnsupported, "elements are nested too deeply");
        return;
    }
    if (builder->tree->nodeCount >= RG_XML_MAX_NODES) {
        rgXmlBuilder_Stop(builder, rg_errorUnsupported, "there are too many elements");
        return;
    }
    rgXmlNode* node = rgXmlBuilder_MakeNode(builder, name, pairs);
    if (node == NULL) {
        rgXmlBuilder_Stop(builder, rg_errorMemory, "out of memory");
        return;
    }
    if (builder->open != NULL) {
        rgXmlNode_Append(builder->open, node);
    } else {
        builder->root = node;
    }
    builder->open = node;
    builder->textLength = 0;
    ++builder->depth;
    ++builder->tree->nodeCount;
}

// Set the text of the innermost element; too long a text is dropped as a whole, since a part of a
// number is no number.
static void rgXmlBuilder_SetText(rgXmlBuilder* builder) {
    int first = 0, end = builder->textLength;
    while (first < end && rgIsBlank(builder->text[first])) {
        ++first;
    }
    while (end > first && rgIsBlank(builder->text[end - 1])) {
        --end;
    }
    int length = end - first;
    if (length == 0 || (length > RG_XML_MAX_TEXT && !builder->tree->keepsText)) {
        return;
    }
    char* kept = rgArena_Take(&builder->tree->arena, (size_t)length + 1, 1);
    if (kept == NULL) {
        rgXmlBuilder_Stop(builder, rg_errorMemory, "out of memory");
        return;
    }
    memcpy(kept, builder->text + first, (size_t)length);
    kept[length] = '\0';
    builder->open->text = kept;
}

static void XMLCALL rgOnEnd(void* context, const char* name) {
    (void)name;
    rgXmlBuilder* builder = context;
    if (builder->result == rg_ok && builder->open != NULL) {
        rgXmlBuilder_SetText(builder);
        builder->textLength = 0;
        builder->open = builder->open->parent;
        --builder->depth;
    }
}

// Collect text, which comes in pieces; of text between elements only its start is kept.
static void XMLCALL rgOnText(void* context, const char* text, int length) {
    rgXmlBuilder* builder = context;
    if (builder->result != rg_ok || builder->open == NULL) {
        return;
    }
    int blanks = 0;
    while (blanks < length && rgIsBlank(text[blanks])) {
        ++blanks;
    }
    if (blanks < length && builder->open->textLine == 0) {
        builder->open->textLine = (int)XML_GetCurrentLineNumber(builder->parser);
    }
    bool full = !builder->tree->keepsText && builder->textLength > 16 * RG_XML_MAX_TEXT;
    if (full || (blanks == length && builder->textLength == 0)) {
        return;
    }
    const rgAllocator* allocator = &builder->tree->arena.allocator;
    if (rgReserve(allocator, (void**)&builder->text, &builder->textCapacity, builder->textLength,
                  builder->textLength + length, 1) != rg_ok) {
        rgXmlBuilder_Stop(builder, rg_errorMemory, "out of memory");
        return;
    }
    memcpy(builder->text + builder->textLength, text, (size_t)length);
    builder->textLength += length;
}

// Names of ASCII that expat does not know.
static int XMLCALL rgOnEncoding(void* context, const char* name, XML_Encoding* encoding) {
    (void)context;
    if (strcmp(name, "ASCII") != 0 && strcmp(name, "ascii") != 0) {
        return XML_STATUS_ERROR;
    }
    for (int i = 0; i < 256; ++i) {
        encoding->map[i] = i < 128 ? i : -1;
    }
    encoding->data = NULL;
    encoding->convert = NULL;
    encoding->release = NULL;
    return XML_STATUS_OK;
}

static void XMLCALL rgOnDoctype(void* context, const char* name, const char* systemId,
                                const char* publicId, int hasInternal) {
    (void)name, (void)systemId, (void)publicId, (void)hasInternal;
    rgXmlBuilder_Stop(context, rg_errorUnsupported,
                      "document type declarations (<!DOCTYPE>) and entities are refused");
}

// expat counts bytes in int.
static bool rgXmlBuilder_ParseBytes(rgXmlBuilder* builder, const char* bytes, size_t count) {
    const size_t piece = (size_t)1 << 20;
    do {
        size_t length = RG_MIN(count, piece);
        bool last = length == count;
        if (XML_Parse(builder->parser, bytes, (int)length, last) != XML_STATUS_OK) {
            return false;
        }
        bytes += length;
        count -= length;
    } while (count > 0);
    return true;
}

static rgResult rgXmlBuilder_Run(rgXmlBuilder* builder, const void* bytes, size_t count) {
    XML_SetUserData(builder->parser, builder);
    XML_SetHashSalt(builder->parser, 0x72696721u);
    XML_SetElementHandler(builder->parser, rgOnStart, rgOnEnd);
    XML_SetCharacterDataHandler(builder->parser, rgOnText);
    XML_SetStartDoctypeDeclHandler(builder->parser, rgOnDoctype);
    XML_SetUnknownEncodingHandler(builder->parser, rgOnEncoding, NULL);
    if (!rgXmlBuilder_ParseBytes(builder, bytes, count)) {
        enum XML_Error error = XML_GetErrorCode(builder->parser);
        builder->isMalformed = builder->result == rg_ok && error != XML_ERROR_NO_MEMORY;
        if (builder->result == rg_ok) {
            builder->result = error == XML_ERROR_NO_MEMORY ? rg_errorMemory : rg_errorFormat;
            builder->reason = XML_ErrorString(error);
        }
        builder->line = (int)XML_GetCurrentLineNumber(builder->parser);
    }
    return builder->result;
}

static rgResult rgXmlBuilder_Parse(rgXmlBuilder* builder, const void* bytes, size_t count) {
    builder->parser = XML_ParserCreate(NULL);
    if (builder->parser == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgXmlBuilder_Run(builder, bytes, count);
    XML_ParserFree(builder->parser);
    rgRelease(&builder->tree->arena.allocator, builder->text);
    return result;
}

// Parse again in the form that other readers accept; *builder has the tree if that succeeds.
static rgResult rgXmlBuilder_ParseRepaired(rgXmlBuilder* builder, const void* bytes, size_t count) {
    const rgAllocator* allocator = &builder->tree->arena.allocator;
    size_t mendedCount = 0;
    char* mended = rgRepairXml(allocator, bytes, count, &mendedCount);
    rgXmlBuilder again = {.tree = builder->tree, .file = builder->file};
    rgResult result =
        mended != NULL ? rgXmlBuilder_Parse(&again, mended, mendedCount) : rg_errorMemory;
    rgRelease(allocator, mended);
    builder->root = again.root;
    return result;
}

rgResult rgXmlTree_Parse(rgXmlTree* tree, const void* bytes, size_t count, const char* file,
                         rgDiagnostics* diagnostics, rgXmlNode** root) {
    if (tree == NULL || (bytes == NULL && count > 0) || root == NULL) {
        return rg_errorArgument;
    }
    if (count > RG_XML_MAX_BYTES) {
        rgDiagnostics_Add(diagnostics, rg_severityError, file, 0, "more than %zu bytes of XML",
                          RG_XML_MAX_BYTES);
        return rg_errorUnsupported;
    }
    rgXmlBuilder builder = {.tree = tree};
    if (file != NULL) {
        char* copy = rgArena_Take(&tree->arena, strlen(file) + 1, 1);
        if (copy == NULL) {
            return rg_errorMemory;
        }
        builder.file = strcpy(copy, file);
    }
    bytes = bytes != NULL ? bytes : "";
    rgResult result = rgXmlBuilder_Parse(&builder, bytes, count);
    if (builder.isMalformed && !tree->isStrict) {
        rgResult mended = rgXmlBuilder_ParseRepaired(&builder, bytes, count);
        result = mended == rg_ok || mended == rg_errorMemory ? mended : result;
    }
    if (builder.reason != NULL && result == rg_ok) {
        rgDiagnostics_Add(diagnostics, rg_severityWarning, builder.file, builder.line,
                          "XML: %s; the text was repaired", builder.reason);
    } else if (builder.reason != NULL) {
        rgDiagnostics_Add(diagnostics, rg_severityError, builder.file, builder.line, "XML: %s",
                          builder.reason);
    }
    if (result == rg_ok) {
        *root = builder.root;
    }
    return result;
}

rgResult rgXmlTree_Load(rgXmlTree* tree, const char* path, rgDiagnostics* diagnostics,
                        rgXmlNode** root) {
    if (tree == NULL || path == NULL || root == NULL) {
        return rg_errorArgument;
    }
    rgAllocator allocator = tree->arena.allocator;
    char* bytes = NULL;
    size_t count = 0;
    rgResult result = rgReadFile(path, RG_XML_MAX_BYTES, &allocator, diagnostics, &bytes, &count);
    if (result != rg_ok) {
        return result;
    }
    if (count >= 4 && memcmp(bytes, "\x89HDF", 4) == 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "is an HDF5 file, not XML; recordings are for `rigor view` and `rigor "
                          "replay`, contact problems for `rigor solve`");
        result = rg_errorFormat;
    } else {
        result = rgXmlTree_Parse(tree, bytes, count, path, diagnostics, root);
    }
    rgRelease(&allocator, bytes);
    return result;
}

void rgXmlNode_ReplaceByChildren(rgXmlNode* node, rgXmlNode* source) {
    rgXmlNode* parent = node->parent;
    rgXmlNode* previous = NULL;
    for (rgXmlNode* at = parent->firstChild; at != node; at = at->next) {
        previous = at;
    }
    for (rgXmlNode* at = source->firstChild; at != NULL; at = at->next) {
        at->parent = parent;
    }
    bool empty = source->firstChild == NULL;
    rgXmlNode* first = empty ? node->next : source->firstChild;
    rgXmlNode* last = empty ? previous : source->lastChild;
    if (!empty) {
        last->next = node->next;
    }
    if (previous != NULL) {
        previous->next = first;
    } else {
        parent->firstChild = first;
    }
    if (parent->lastChild == node) {
        parent->lastChild = last;
    }
    source->firstChild = NULL;
    source->lastChild = NULL;
}

void rgXmlNode_DropEmpty(rgXmlNode* node) {
    int kept = 0;
    for (int i = 0; i < node->attributeCount; ++i) {
        const char* value = node->attributes[i].value;
        if (value[strspn(value, " \t\r\n")] != '\0') {
            node->attributes[kept++] = node->attributes[i];
        }
    }
    node->attributeCount = kept;
    for (rgXmlNode* child = node->firstChild; child != NULL; child = child->next) {
        rgXmlNode_DropEmpty(child);
    }
}

static rgXmlNode* rgXmlTree_CopyOne(rgXmlTree* tree, const rgXmlNode* node, rgXmlRenameFcn* rename,
                                    void* context) {
    rgXmlNode* copy = RG_TAKE(&tree->arena, rgXmlNode, 1);
    rgXmlAttribute* attributes =
        RG_TAKE(&tree->arena, rgXmlAttribute, RG_MAX(node->attributeCount, 1));
    if (copy == NULL || attributes == NULL || tree->nodeCount >= RG_XML_MAX_NODES) {
        return NULL;
    }
    *copy = *node;
    copy->parent = NULL;
    copy->next = NULL;
    copy->firstChild = NULL;
    copy->lastChild = NULL;
    copy->attributes = attributes;
    for (int i = 0; i < node->attributeCount; ++i) {
        const char* other = rename(context, node, &node->attributes[i]);
        attributes[i].name = node->attributes[i].name;
        attributes[i].value = other != NULL ? other : node->attributes[i].value;
    }
    tree->nodeCount += 1;
    return copy;
}

// Recursion as deep as elements are nested: at most RG_XML_MAX_DEPTH.
rgXmlNode* rgXmlTree_Copy(rgXmlTree* tree, const rgXmlNode* node, rgXmlRenameFcn* rename,
                          void* context) {
    rgXmlNode* copy = rgXmlTree_CopyOne(tree, node, rename, context);
    for (const rgXmlNode* child = node->firstChild; copy != NULL && child != NULL;
         child = child->next) {
        rgXmlNode* below = rgXmlTree_Copy(tree, child, rename, context);
        if (below == NULL) {
            return NULL;
        }
        rgXmlNode_Append(copy, below);
    }
    return copy;
}

static const rgXmlNode* rgFirstNamed(const rgXmlNode* node, const char* name) {
    while (node != NULL && name != NULL && strcmp(node->name, name) != 0) {
        node = node->next;
    }
    return node;
}

const rgXmlNode* rgXmlNode_Child(const rgXmlNode* node, const char* name) {
    return node != NULL ? rgFirstNamed(node->firstChild, name) : NULL;
}

const rgXmlNode* rgXmlNode_Next(const rgXmlNode* node, const char* name) {
    return node != NULL ? rgFirstNamed(node->next, name) : NULL;
}

const char* rgXmlNode_Attribute(const rgXmlNode* node, const char* name) {
    for (int i = 0; i < node->attributeCount; ++i) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            return node->attributes[i].value;
        }
    }
    return NULL;
}
