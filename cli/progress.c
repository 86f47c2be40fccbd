// The progress bar, and the clock it needs.
#include "cli.h"

#include <time.h>
#include <unistd.h>

static double rgReadClock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double rgCli_Seconds(void) {
    return rgReadClock(CLOCK_MONOTONIC);
}

double rgCli_ThreadSeconds(void) {
    return rgReadClock(CLOCK_THREAD_CPUTIME_ID);
}

void rgProgress_Begin(rgProgress* progress, const char* label, int total) {
    double now = rgCli_Seconds();
    *progress = (rgProgress){.label = label,
                             .total = total,
                             .start = now,
                             .last = now,
                             .terminal = isatty(STDERR_FILENO) == 1};
}

bool rgProgress_IsDue(const rgProgress* progress) {
    if (!progress->terminal) {
        return false;
    }
    double now = rgCli_Seconds();
    return now - progress->start >= 0.5 && now - progress->last >= 0.05;
}

void rgProgress_Update(rgProgress* progress, int done, const char* what) {
    if (!rgProgress_IsDue(progress)) {
        return;
    }
    progress->last = rgCli_Seconds();
    progress->shown = true;
    enum { width = 20 };
    int filled = progress->total > 0 ? (int)((long long)width * done / progress->total) : 0;
    fprintf(stderr, "\r\033[K%s [", progress->label);
    for (int i = 0; i < width; ++i) {
        fputc(i < filled ? '#' : '.', stderr);
    }
    double elapsed = progress->last - progress->start;
    double rate = done > 0 ? done / elapsed : 0;
    fprintf(stderr, "] %d/%d", done, progress->total);
    if (rate > 0 && done <= progress->total) {
        char left[16];
        fprintf(stderr, ", %.3g/s, %s left", rate,
                rgFormatSeconds(left, (progress->total - done) / rate));
    }
    fprintf(stderr, " %.80s", what != NULL ? what : "");
    fflush(stderr);
}

void rgProgress_End(rgProgress* progress) {
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
