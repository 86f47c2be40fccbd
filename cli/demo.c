// rigor demo: what a newcomer sees first.
#include "cli.h"

#include <stdio.h>

int rgCli_Demo(int argc, char** argv) {
    (void)argc;
    (void)argv;
    printf("rigor %d\n", rgVersion());
    return 0;
}
