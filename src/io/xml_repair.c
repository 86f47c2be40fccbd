// XML that is not well-formed in ways that other readers of robot files accept: made well-formed,
// with every line where it was.
#include "io/number.h"
#include "io/xml.h"

#include <ctype.h>
#include <string.h>

typedef struct rgXmlRepair {
    const rgAllocator* allocator;
    const char *at, *end;
    char* out;
    int length, capacity;
    int depth;   // number of open elements
    bool closed; // the root is
    bool failed;
} rgXmlRepair;

static void rgXmlRepair_Put(rgXmlRepair* m, const char* text, size_t count) {
    if (m->failed || rgReserve(m->allocator, (void**)&m->out, &m->capacity, m->length,
                               m->length + (int)count, 1) != rg_ok) {
        m->failed = true;
        return;
    }
    memcpy(m->out + m->length, text, count);
    m->length += (int)count;
}

static bool rgXmlRepair_Starts(const rgXmlRepair* m, const char* word) {
    size_t length = strlen(word);
    return (size_t)(m->end - m->at) >= length && memcmp(m->at, word, length) == 0;
}

// Position behind the next occurrence of this word; the end of the text when there is none.
static const char* rgXmlRepair_After(const rgXmlRepair* m, const char* word) {
    size_t length = strlen(word);
    for (const char* at = m->at; (size_t)(m->end - at) >= length; ++at) {
        if (memcmp(at, word, length) == 0) {
            return at + length;
        }
    }
    return m->end;
}

static void rgXmlRepair_CopyTo(rgXmlRepair* m, const char* end) {
    rgXmlRepair_Put(m, m->at, (size_t)(end - m->at));
    m->at = end;
}

// Line ends stay.
static void rgXmlRepair_BlankTo(rgXmlRepair* m, const char* end) {
    for (; m->at < end; ++m->at) {
        rgXmlRepair_Put(m, *m->at == '\n' ? "\n" : " ", 1);
    }
}

// True for &name; or &#number;: unknown names are errors.
static bool rgIsEntity(const rgXmlRepair* m) {
    const char* at = m->at + 1;
    while (at < m->end && (isalnum((unsigned char)*at) || *at == '#')) {
        ++at;
    }
    return at > m->at + 1 && at < m->end && *at == ';';
}

// One character of a text or value.
static void rgXmlRepair_Character(rgXmlRepair* m) {
    if (*m->at == '&' && !rgIsEntity(m)) {
        rgXmlRepair_Put(m, "&amp;", 5);
        m->at += 1;
    } else if (*m->at == '<') {
        rgXmlRepair_Put(m, "&lt;", 4);
        m->at += 1;
    } else {
        rgXmlRepair_CopyTo(m, m->at + 1);
    }
}

static void rgXmlRepair_Value(rgXmlRepair* m) {
    char quote = *m->at;
    rgXmlRepair_CopyTo(m, m->at + 1);
    while (m->at < m->end && *m->at != quote) {
        rgXmlRepair_Character(m);
    }
    if (m->at < m->end) {
        rgXmlRepair_CopyTo(m, m->at + 1);
    }
    if (m->at < m->end && !rgIsBlank(*m->at) && strchr("/>?", *m->at) == NULL) {
        rgXmlRepair_Put(m, " ", 1); // attributes without a blank between them
    }
}

static void rgXmlRepair_Tag(rgXmlRepair* m) {
    bool closes = rgXmlRepair_Starts(m, "</");
    bool empty = false;
    while (m->at < m->end && *m->at != '>') {
        if (*m->at == '"' || *m->at == '\'') {
            rgXmlRepair_Value(m);
            empty = false;
        } else {
            empty = *m->at == '/';
            rgXmlRepair_CopyTo(m, m->at + 1);
        }
    }
    if (m->at < m->end) {
        rgXmlRepair_CopyTo(m, m->at + 1);
    }
    m->depth += closes ? -1 : empty ? 0 : 1;
    m->closed = m->closed || m->depth <= 0;
}

static void rgXmlRepair_Step(rgXmlRepair* m) {
    if (rgXmlRepair_Starts(m, "<!--")) {
        rgXmlRepair_BlankTo(m, rgXmlRepair_After(m, "-->")); // it may hold two dashes
    } else if (rgXmlRepair_Starts(m, "<![CDATA[")) {
        rgXmlRepair_CopyTo(m, rgXmlRepair_After(m, "]]>"));
    } else if (rgXmlRepair_Starts(m, "<!")) {
        rgXmlRepair_CopyTo(m, m->end); // refused anyway
    } else if (rgXmlRepair_Starts(m, "<?xml") && m->length > 0) {
        rgXmlRepair_BlankTo(m,
                            rgXmlRepair_After(m, "?>")); // a declaration that is not at the start
    } else if (rgXmlRepair_Starts(m, "<?")) {
        rgXmlRepair_CopyTo(m, rgXmlRepair_After(m, "?>"));
    } else if (*m->at == '<') {
        rgXmlRepair_Tag(m);
    } else if (m->closed) {
        rgXmlRepair_BlankTo(m, m->at + 1);
    } else {
        rgXmlRepair_Character(m);
    }
}

char* rgRepairXml(const rgAllocator* allocator, const char* bytes, size_t count, size_t* outCount) {
    rgXmlRepair m = {.allocator = allocator, .at = bytes, .end = bytes + count};
    while (m.at < m.end && !m.failed) {
        rgXmlRepair_Step(&m);
    }
    rgXmlRepair_Put(&m, "\n", 1); // an empty file becomes a line: the result is never empty
    if (m.failed) {
        rgRelease(allocator, m.out);
        return NULL;
    }
    *outCount = (size_t)m.length;
    return m.out;
}
