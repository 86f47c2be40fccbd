// Ctrl-C and SIGTERM end a run after the step that is being made; a second one ends it at once.
#include "cli.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void rgInterrupt(int signalNumber) {
    (void)signalNumber;
    interrupted = 1;
}

void rgCli_CatchInterrupt(void) {
    struct sigaction action = {.sa_handler = rgInterrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool rgCli_IsInterrupted(void) {
    return interrupted != 0;
}
