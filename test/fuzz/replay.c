// Runs a fuzzing program on stored files, without libFuzzer: every compiler and build can.
#include "fuzz.h"

#include <stdio.h>

static void rgReplay(const char* path) {
    FILE* file = fopen(path, "rb");
    RG_PROMISE(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    uint8_t* bytes = malloc(size + 1); // as many as there are, so that a read beyond them is seen
    rewind(file);
    RG_PROMISE(bytes != NULL && fread(bytes, 1, size, file) == size);
    fclose(file);
    uint8_t* exact = realloc(bytes, size > 0 ? size : 1);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        fprintf(stderr, "%s\n", argv[i]); // the last one is to blame
        rgReplay(argv[i]);
    }
    printf("%d files\n", argc - 1);
    return 0;
}
