// Names of MJCF parts: a hash table per kind, so that large files stay linear.
#include "io/mjcf.h"

#include <string.h>

struct rgMjName {
    const char* name; // NULL: free
    int number;
};

static struct rgMjName* rgMjNames_Slot(const rgMjNames* names, const char* name) {
    uint64_t hash = rgHashBytes(name, strlen(name), 0);
    size_t mask = (size_t)names->capacity - 1;
    size_t at = (size_t)hash & mask;
    while (names->slots[at].name != NULL && strcmp(names->slots[at].name, name) != 0) {
        at = (at + 1) & mask;
    }
    return &names->slots[at];
}

static bool rgMjNames_Reserve(rgMjcf* m, rgMjNames* names) {
    if (2 * (names->count + 1) <= names->capacity) {
        return true;
    }
    int capacity = names->capacity > 0 ? 2 * names->capacity : 32;
    struct rgMjName* slots = rgAllocate(&m->load->allocator, (size_t)capacity, sizeof(*slots));
    if (slots == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    rgMjNames grown = {.slots = slots, .capacity = capacity, .count = names->count};
    for (int i = 0; i < names->capacity; ++i) {
        if (names->slots[i].name != NULL) {
            *rgMjNames_Slot(&grown, names->slots[i].name) = names->slots[i];
        }
    }
    rgRelease(&m->load->allocator, names->slots);
    *names = grown;
    return true;
}

void rgMjNames_Add(rgMjcf* m, rgMjNames* names, const rgXmlNode* node, const char* name,
                   int number) {
    if (name == NULL || name[0] == '\0' || !rgMjNames_Reserve(m, names)) {
        return;
    }
    struct rgMjName* slot = rgMjNames_Slot(names, name);
    if (slot->name != NULL) {
        rgXmlReader_Error(&m->reader, node, "<%s name>: '%.60s' is used twice", node->name, name);
        return;
    }
    *slot = (struct rgMjName){.name = name, .number = number};
    names->count += 1;
}

const char* rgMjNames_Of(const rgMjNames* names, int number) {
    for (int i = 0; i < names->capacity; ++i) {
        if (names->slots[i].name != NULL && names->slots[i].number == number) {
            return names->slots[i].name;
        }
    }
    return NULL;
}

int rgMjNames_Find(const rgMjNames* names, const char* name) {
    if (names->capacity == 0 || name == NULL) {
        return -1;
    }
    const struct rgMjName* slot = rgMjNames_Slot(names, name);
    return slot->name != NULL ? slot->number : -1;
}

// True if the name belongs to a part that was left out.
static bool rgMjcf_IsLeftOut(const rgMjcf* m, const rgMjNames* names, const char* name) {
    return names == &m->geomNames && rgMjNames_Find(&m->leftGeoms, name) >= 0;
}

void rgMjcf_Suggest(rgMjcf* m, const rgMjNames* names, const char* name, char out[100]) {
    rgArenaMark mark = rgArena_Mark(&m->arena);
    const char** known = RG_TAKE(&m->arena, const char*, RG_MAX(names->capacity, 1));
    for (int i = 0; known != NULL && i < names->capacity; ++i) {
        known[i] = names->slots[i].name;
    }
    rgDidYouMean(name, known, known != NULL ? names->capacity : 0, out);
    rgArena_Return(&m->arena, mark);
}

int rgMjcf_Lookup(rgMjcf* m, const rgMjNames* names, const rgXmlNode* node, const char* attribute,
                  const char* kind) {
    const char* name = rgXmlReader_Required(&m->reader, node, attribute);
    if (name == NULL) {
        return -1;
    }
    int number = rgMjNames_Find(names, name);
    if (number < 0 && rgMjcf_IsLeftOut(m, names, name)) {
        rgXmlReader_Warn(&m->reader, node, "<%s %s>: '%.60s' was left out, and so is this",
                         node->name, attribute, name);
    } else if (number < 0) {
        char suggestion[100];
        rgMjcf_Suggest(m, names, name, suggestion);
        rgXmlReader_Error(&m->reader, node, "<%s %s>: there is no %s '%.60s'%s", node->name,
                          attribute, kind, name, suggestion);
    }
    return number;
}
