// XML that is not well-formed in ways that other readers of robot files accept: made well-formed,
// with every line where it was.
#include "io/number.h"
#include "io/xml.h"

#include <ctype.h>
#include <string.h>

typedef struct rgMender {
    const rgAllocator* allocator;
    const char *at, *end;
    char* out;
    int length, capacity;
    int depth;   // number of open elements
    bool closed; // the root is
    bool failed;
} rgMender;

static void rgMender_Put(rgMender* m, const char* text, size_t count) {
    if (m->failed || rgReserve(m->allocator, (void**)&m->out, &m->capacity, m->length,
                               m->length + (int)count, 1) != rg_ok) {
        m->failed = true;
        return;
    }
    memcpy(m->out + m->length, text, count);
    m->length += (int)count;
}

static bool rgMender_Starts(const rgMender* m, const char* word) {
    size_t length = strlen(word);
    return (size_t)(m->end - m->at) >= length && memcmp(m->at, word, length) == 0;
}

// The end of what ends with this word; the end of the text when it does not come.
static const char* rgMender_After(const rgMender* m, const char* word) {
    size_t length = strlen(word);
    for (const char* at = m->at; (size_t)(m->end - at) >= length; ++at) {
        if (memcmp(at, word, length) == 0) {
            return at + length;
        }
    }
    return m->end;
}

static void rgMender_CopyTo(rgMender* m, const char* end) {
    rgMender_Put(m, m->at, (size_t)(end - m->at));
    m->at = end;
}

// Line ends stay.
static void rgMender_BlankTo(rgMender* m, const char* end) {
    for (; m->at < end; ++m->at) {
        rgMender_Put(m, *m->at == '\n' ? "\n" : " ", 1);
    }
}

// True for &name; or &#number;: unknown names are errors.
static bool rgIsEntity(const rgMender* m) {
    const char* at = m->at + 1;
    while (at < m->end && (isalnum((unsigned char)*at) || *at == '#')) {
        ++at;
    }
    return at > m->at + 1 && at < m->end && *at == ';';
}

// One character of a text or value.
static void rgMender_Character(rgMender* m) {
    if (*m->at == '&' && !rgIsEntity(m)) {
        rgMender_Put(m, "&amp;", 5);
        m->at += 1;
    } else if (*m->at == '<') {
        rgMender_Put(m, "&lt;", 4);
        m->at += 1;
    } else {
        rgMender_CopyTo(m, m->at + 1);
    }
}

static void rgMender_Value(rgMender* m) {
    char quote = *m->at;
    rgMender_CopyTo(m, m->at + 1);
    while (m->at < m->end && *m->at != quote) {
        rgMender_Character(m);
    }
    if (m->at < m->end) {
        rgMender_CopyTo(m, m->at + 1);
    }
    if (m->at < m->end && !rgIsBlank(*m->at) && strchr("/>?", *m->at) == NULL) {
        rgMender_Put(m, " ", 1); // attributes without a blank between them
    }
}

static void rgMender_Tag(rgMender* m) {
    bool closes = rgMender_Starts(m, "</");
    bool empty = false;
    while (m->at < m->end && *m->at != '>') {
        if (*m->at == '"' || *m->at == '\'') {
            rgMender_Value(m);
            empty = false;
        } else {
            empty = *m->at == '/';
            rgMender_CopyTo(m, m->at + 1);
        }
    }
    if (m->at < m->end) {
        rgMender_CopyTo(m, m->at + 1);
    }
    m->depth += closes ? -1 : empty ? 0 : 1;
    m->closed = m->closed || m->depth <= 0;
}

static void rgMender_Step(rgMender* m) {
    if (rgMender_Starts(m, "<!--")) {
        rgMender_BlankTo(m, rgMender_After(m, "-->")); // it may hold two dashes
    } else if (rgMender_Starts(m, "<![CDATA[")) {
        rgMender_CopyTo(m, rgMender_After(m, "]]>"));
    } else if (rgMender_Starts(m, "<!")) {
        rgMender_CopyTo(m, m->end); // refused anyway
    } else if (rgMender_Starts(m, "<?xml") && m->length > 0) {
        rgMender_BlankTo(m, rgMender_After(m, "?>")); // a declaration that is not at the start
    } else if (rgMender_Starts(m, "<?")) {
        rgMender_CopyTo(m, rgMender_After(m, "?>"));
    } else if (*m->at == '<') {
        rgMender_Tag(m);
    } else if (m->closed) {
        rgMender_BlankTo(m, m->at + 1);
    } else {
        rgMender_Character(m);
    }
}

char* rgMendXml(const rgAllocator* allocator, const char* bytes, size_t count, size_t* outCount) {
    rgMender m = {.allocator = allocator, .at = bytes, .end = bytes + count};
    while (m.at < m.end && !m.failed) {
        rgMender_Step(&m);
    }
    rgMender_Put(&m, "\n", 1); // an empty file becomes a line: the result is never empty
    if (m.failed) {
        rgRelease(allocator, m.out);
        return NULL;
    }
    *outCount = (size_t)m.length;
    return m.out;
}
