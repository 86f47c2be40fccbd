// XML as a tree of elements, from bytes; and reading attributes so that every mistake is reported
// with file and line. Document type declarations and entities of a file's own are refused.
#pragma once
#include "base/base.h"

#define RG_XML_MAX_BYTES ((size_t)256 << 20)
#define RG_XML_MAX_DEPTH 200
#define RG_XML_MAX_NODES 4000000
#define RG_XML_MAX_TEXT  63 // for numbers and words; no format here has longer text that matters

typedef struct rgXmlAttribute {
    const char* name;
    const char* value;
} rgXmlAttribute;

// One element. Everything belongs to the tree.
typedef struct rgXmlNode {
    const char* name;
    const char* file; // as given to the parser
    int line;         // line of the start tag
    int textLine;     // line of the first text that is not blank; 0 when there is none
    int copy;         // number among several copies that a reader made; else 0
    bool isChecked;   // its attributes were compared with those that are known
    const char* text; // after the last child, without blanks around it, up to RG_XML_MAX_TEXT
                      // characters unless the tree keeps all; NULL: none or more
    int attributeCount;
    rgXmlAttribute* attributes;
    struct rgXmlNode* parent;
    struct rgXmlNode* firstChild;
    struct rgXmlNode* lastChild;
    struct rgXmlNode* next; // sibling
} rgXmlNode;

// Owns the elements of one or more files (an MJCF file and those it includes).
typedef struct rgXmlTree rgXmlTree;

rgResult rgCreateXmlTree(const rgAllocator* allocator, rgXmlTree** tree);
void rgDestroyXmlTree(rgXmlTree* tree);
void rgXmlTree_KeepText(rgXmlTree* tree); // keep texts of any length in later parses
// XML that is not well-formed is an error; otherwise it is mended where that can be, with a
// warning.
void rgXmlTree_SetStrict(rgXmlTree* tree);
// A copy with attributes apart, & and < in values escaped, nothing before the declaration or after
// the root, and no comments. NULL: out of memory. xml_repair.c
char* rgRepairXml(const rgAllocator* allocator, const char* bytes, size_t count, size_t* outCount);

// Parse bytes into the tree and give the root element. `file` names the source in remarks.
rgResult rgXmlTree_Parse(rgXmlTree* tree, const void* bytes, size_t count, const char* file,
                         rgDiagnostics* diagnostics, rgXmlNode** root);
// Load a tree from a file.
rgResult rgXmlTree_Load(rgXmlTree* tree, const char* path, rgDiagnostics* diagnostics,
                        rgXmlNode** root);

// Drop attributes without a value, here and below.
void rgXmlNode_DropEmpty(rgXmlNode* node);

// Put the children of `source` in the place of `node`, which must have a parent.
void rgXmlNode_ReplaceByChildren(rgXmlNode* node, rgXmlNode* source);

// New value of an attribute of a copy; NULL: unchanged.
typedef const char* rgXmlRenameFcn(void* context, const rgXmlNode* node,
                                   const rgXmlAttribute* attribute);
// A copy without parent of the element and all below it. NULL: out of memory, or too many elements.
rgXmlNode* rgXmlTree_Copy(rgXmlTree* tree, const rgXmlNode* node, rgXmlRenameFcn* rename,
                          void* context);
void rgXmlNode_Append(rgXmlNode* parent, rgXmlNode* child);

// First child of that name, or the next sibling of that name; NULL when there is none. A NULL name
// matches any.
const rgXmlNode* rgXmlNode_Child(const rgXmlNode* node, const char* name);
const rgXmlNode* rgXmlNode_Next(const rgXmlNode* node, const char* name);
// Value of an attribute; NULL when it is not there.
const char* rgXmlNode_Attribute(const rgXmlNode* node, const char* name);

// Reader of attributes that keeps account of remarks. Under strict, warnings are errors. After
// RG_XML_MAX_REMARKS errors, further ones are counted but not kept; warnings and notes together
// have a limit of the same size.
#define RG_XML_MAX_REMARKS 500
typedef struct rgXmlReader {
    rgDiagnostics* diagnostics;
    bool strict;
    int errorCount;
    int remarkCount; // warnings and notes
} rgXmlReader;

void rgXmlReader_Error(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void rgXmlReader_Warn(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
void rgXmlReader_Note(rgXmlReader* reader, const rgXmlNode* node, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// Getters: true when the attribute is there and good. Otherwise the value is left as it was; a bad
// one is an error. Numbers must be finite, with nothing after them.
bool rgXmlReader_Double(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                        double* value);
bool rgXmlReader_Int(rgXmlReader* reader, const rgXmlNode* node, const char* name, int* value);
bool rgXmlReader_Bool(rgXmlReader* reader, const rgXmlNode* node, const char* name, bool* value);
// Between `least` and `most` numbers separated by blanks. Gives how many; 0 when absent or bad.
int rgXmlReader_Doubles(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                        double* values, int least, int most);
// Numbers of an element's text, which must be there.
int rgXmlReader_TextDoubles(rgXmlReader* reader, const rgXmlNode* node, double* values, int least,
                            int most);
// One number as the text of an element.
bool rgXmlReader_Text(rgXmlReader* reader, const rgXmlNode* node, double* value);
int rgXmlReader_Ints(rgXmlReader* reader, const rgXmlNode* node, const char* name, int* values,
                     int least, int most);
// Number of words of an attribute, to size an array before reading it.
int rgXmlNode_WordCount(const rgXmlNode* node, const char* name);

typedef struct rgXmlWord {
    const char* word;
    int value;
} rgXmlWord;
// One of the words of a table that ends with a NULL word.
bool rgXmlReader_Word(rgXmlReader* reader, const rgXmlNode* node, const char* name,
                      const rgXmlWord* table, int* value);

// An attribute or a child that must be there and not be empty; NULL and an error otherwise.
const char* rgXmlReader_Required(rgXmlReader* reader, const rgXmlNode* node, const char* name);
const rgXmlNode* rgXmlReader_RequiredChild(rgXmlReader* reader, const rgXmlNode* node,
                                           const char* name);

// Warn about attributes, children and text that are not known here, and suggest the nearest known
// name. The lists end with NULL; a NULL list means none are known.
void rgXmlReader_CheckAttributes(rgXmlReader* reader, const rgXmlNode* node,
                                 const char* const* known);
void rgXmlReader_CheckChildren(rgXmlReader* reader, const rgXmlNode* node,
                               const char* const* known);
