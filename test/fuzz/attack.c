// A mutator of our own beside libFuzzer's: it knows lines, numbers, words in quotes and elements,
// not the program's edges. attack COUNT SEED FILES... tries COUNT inputs. A crash ends it, as do 10
// s of computing in one input and a file that stays open; attack-input then holds the bytes.
#include "fuzz.h"

#include "base/base.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { rg_largest = 20000, rg_seconds = 10 };

typedef struct rgText {
    size_t size;
    uint8_t bytes[2 * rg_largest];
} rgText;

typedef struct rgMutator {
    uint64_t state;
    int seedCount;
    rgText* seeds;
    rgText* text; // shared with attack-input
} rgMutator;

static uint64_t rgMutator_Next(rgMutator* m) { // splitmix64
    uint64_t x = m->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t rgMutator_Below(rgMutator* m, size_t count) {
    return count > 0 ? (size_t)(rgMutator_Next(m) % count) : 0;
}

// Bytes [from, from + length) become `count` others.
static void rgText_Replace(rgText* t, size_t from, size_t length, const void* bytes, size_t count) {
    if (from + length > t->size || t->size - length + count > rg_largest) {
        return;
    }
    memmove(t->bytes + from + count, t->bytes + from + length, t->size - from - length);
    memcpy(t->bytes + from, bytes, count);
    t->size += count - length;
}

// Start and length of what lies around a random place, between two bytes of `ends`.
static size_t rgMutator_Span(rgMutator* m, const rgText* t, const char* ends, size_t* length) {
    size_t from = rgMutator_Below(m, t->size), to = from;
    while (from > 0 && (t->bytes[from - 1] == 0 || !strchr(ends, t->bytes[from - 1]))) {
        --from;
    }
    while (to < t->size && (t->bytes[to] == 0 || !strchr(ends, t->bytes[to]))) {
        ++to;
    }
    *length = to - from;
    return from;
}

static const char* const rgHostile[] = {"0",          "-0",
                                        "-1",         "1e308",
                                        "-1e308",     "1e-320",
                                        "nan",        "inf",
                                        "1e999",      "",
                                        " ",          "2147483647",
                                        "2147483648", "-2147483648",
                                        "4294967296", "99999999999999999999",
                                        "0x7f",       "1e",
                                        "--1",        "1,2",
                                        ".",          "\"",
                                        "<",          ">",
                                        "&#0;",       "&lt;",
                                        "%n%s",       "../../etc/passwd",
                                        "/dev/zero",  "\xff\xfe",
                                        "\xc0\x80",   "[",
                                        "{",          "}",
                                        "]",          "]]>",
                                        "<!--",       "<!DOCTYPE a [<!ENTITY b \"c\">]>",
                                        "\r",         "\n",
                                        "true",       "null",
                                        "\\u0000"};

static void rgMutator_Word(rgMutator* m, rgText* t) {
    static const char* const ends[] = {" \t\r\n\"',<>=/", "\"'", " \t\r\n\"',<>=/.-+e:"};
    size_t length, from = rgMutator_Span(m, t, ends[rgMutator_Below(m, 3)], &length);
    const char* word = rgHostile[rgMutator_Below(m, sizeof(rgHostile) / sizeof(rgHostile[0]))];
    rgText_Replace(t, from, length, word, strlen(word));
}

// A line, an element's start or a word of any seed in place of another, or beside it.
static void rgMutator_Splice(rgMutator* m, rgText* t) {
    static const char* const ends[] = {"\n", ">", "\"", " \n,"};
    const char* end = ends[rgMutator_Below(m, 4)];
    const rgText* other =
        rgMutator_Below(m, 2) ? t : &m->seeds[rgMutator_Below(m, (size_t)m->seedCount)];
    uint8_t copy[rg_largest];
    size_t length, taken, from = rgMutator_Span(m, t, end, &length);
    size_t source = rgMutator_Span(m, other, end, &taken);
    memcpy(copy, other->bytes + source, taken);
    rgText_Replace(t, from, rgMutator_Below(m, 2) ? length : 0, copy, taken);
}

// A part comes again, up to a thousand times.
static void rgMutator_Repeat(rgMutator* m, rgText* t) {
    static const char* const ends[] = {"\n", ">", "\"", " \n,"};
    size_t length, from = rgMutator_Span(m, t, ends[rgMutator_Below(m, 4)], &length);
    size_t times = (size_t)1 << rgMutator_Below(m, 10);
    uint8_t copy[rg_largest];
    memcpy(copy, t->bytes + from, length);
    for (size_t i = 0; i < times; ++i) {
        rgText_Replace(t, from, 0, copy, length);
    }
}

static void rgMutator_Bytes(rgMutator* m, rgText* t) {
    static const uint32_t numbers[] = {0,          1,          0x7fffffff, 0x80000000,
                                       0xffffffff, 0x7ff00000, 0x7fc00000, 0x10000};
    size_t at = rgMutator_Below(m, t->size);
    uint32_t number = numbers[rgMutator_Below(m, sizeof(numbers) / sizeof(numbers[0]))];
    uint8_t byte = (uint8_t)rgMutator_Next(m);
    if (t->size == 0) {
        return;
    }
    switch (rgMutator_Below(m, 5)) {
    case 0:
        t->bytes[at] ^= (uint8_t)(1u << byte % 8);
        break;
    case 1:
        t->bytes[at] = byte;
        break;
    case 2:
        rgText_Replace(t, at - at % 4, RG_MIN(sizeof(number), t->size - at + at % 4), &number,
                       sizeof(number));
        break;
    case 3:
        rgText_Replace(t, at, rgMutator_Below(m, RG_MIN(t->size - at, (size_t)64)), "", 0);
        break;
    default:
        t->size = at;
    }
}

static void rgMutator_Make(rgMutator* m) {
    static void (*const kinds[])(rgMutator*, rgText*) = {rgMutator_Word,   rgMutator_Word,
                                                         rgMutator_Splice, rgMutator_Repeat,
                                                         rgMutator_Bytes,  rgMutator_Bytes};
    const rgText* seed = &m->seeds[rgMutator_Below(m, (size_t)m->seedCount)];
    m->text->size = seed->size;
    memcpy(m->text->bytes, seed->bytes, seed->size);
    for (size_t n = 1 + rgMutator_Below(m, 4); n > 0; --n) {
        kinds[rgMutator_Below(m, sizeof(kinds) / sizeof(kinds[0]))](m, m->text);
    }
}

static int rgOpenFiles(void) {
    int count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        ++count;
    }
    closedir(folder);
    return count;
}

static void rgHang(int signal) {
    static const char said[] = "attack: 10 s in one input\n";
    (void)signal;
    (void)!write(2, said, sizeof(said) - 1);
    abort();
}

static bool rgMutator_Read(rgMutator* m, const char* path) {
    FILE* file = fopen(path, "rb");
    rgText* text = &m->seeds[m->seedCount];
    if (file == NULL) {
        return false;
    }
    text->size = fread(text->bytes, 1, rg_largest, file);
    m->seedCount += feof(file) != 0; // not those that are larger
    fclose(file);
    return true;
}

static rgText* rgSharedText(void) {
    int file = open("attack-input", O_RDWR | O_CREAT | O_TRUNC, 0600);
    RG_PROMISE(file >= 0 && ftruncate(file, sizeof(rgText)) == 0);
    void* text = mmap(NULL, sizeof(rgText), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    RG_PROMISE(text != MAP_FAILED);
    close(file);
    return text;
}

int main(int argc, char** argv) {
    rgMutator m = {.seeds = calloc((size_t)argc, sizeof(rgText)), .text = rgSharedText()};
    for (int i = 3; i < argc; ++i) {
        RG_PROMISE(rgMutator_Read(&m, argv[i]));
    }
    RG_PROMISE(argc > 3 && m.seedCount > 0);
    signal(SIGPROF, rgHang);
    const int count = atoi(argv[1]);
    const uint64_t first = (uint64_t)strtoull(argv[2], NULL, 10) << 32;
    double slowest = 0;
    int files = 0;
    for (int i = 0; i < count; ++i) {
        m.state = first + (uint64_t)i;
        rgMutator_Make(&m);
        uint8_t* exact = malloc(m.text->size > 0 ? m.text->size : 1);
        memcpy(exact, m.text->bytes, m.text->size);
        struct itimerval left = {.it_value.tv_sec = rg_seconds};
        setitimer(ITIMER_PROF, &left, NULL);
        LLVMFuzzerTestOneInput(exact, m.text->size);
        getitimer(ITIMER_PROF, &left);
        free(exact);
        slowest = fmax(slowest, rg_seconds - (double)left.it_value.tv_sec -
                                    1e-6 * (double)left.it_value.tv_usec);
        if (i < 100) { // what is opened once, such as a server
            files = RG_MAX(files, rgOpenFiles());
        }
        for (int k = 0; k < 100 && rgOpenFiles() > files; ++k) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000},
                      NULL); // a server closes its connections when it sees their end
        }
        RG_PROMISE(rgOpenFiles() <= files);
    }
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    printf("%d inputs from %d files, the slowest %.2f s\n", count, m.seedCount, slowest);
    free(m.seeds);
    return 0;
}
