// Work in a process of its own, with limits on time and memory.
#include "guard.h"

#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// Sanitizers reserve terabytes of addresses, so that a limit on them would only break the tool.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RG_LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RG_LIMIT_MEMORY 0
#endif
#endif
#ifndef RG_LIMIT_MEMORY
#define RG_LIMIT_MEMORY 1
#endif

static void rgByteBuffer_Reserve(rgByteBuffer* buffer, size_t more) {
    if (buffer->size + more > buffer->capacity) {
        buffer->capacity = 2 * buffer->capacity + more;
        buffer->data = rgCli_Grow(buffer->data, buffer->capacity, 1);
    }
}

static size_t rgRoundUp(size_t count) {
    return (count + 7) / 8 * 8;
}

void rgByteBuffer_Put(rgByteBuffer* buffer, const void* bytes, size_t count) {
    int64_t header = bytes != NULL ? (int64_t)count : -1;
    size_t body = bytes != NULL ? rgRoundUp(count) : 0;
    rgByteBuffer_Reserve(buffer, sizeof(header) + body);
    memcpy(buffer->data + buffer->size, &header, sizeof(header));
    buffer->size += sizeof(header);
    if (body > 0) {
        memset(buffer->data + buffer->size, 0, body);
        memcpy(buffer->data + buffer->size, bytes, count);
        buffer->size += body;
    }
}

void* rgByteBuffer_Read(rgByteBuffer* buffer, size_t* count) {
    int64_t header = -1;
    if (buffer->at + sizeof(header) <= buffer->size) {
        memcpy(&header, buffer->data + buffer->at, sizeof(header));
        buffer->at += sizeof(header);
    }
    size_t left = buffer->size - buffer->at;
    if (header < 0 || (size_t)header > left) {
        if (count != NULL) {
            *count = 0;
        }
        return NULL;
    }
    void* bytes = buffer->data + buffer->at;
    buffer->at += rgRoundUp((size_t)header);
    if (count != NULL) {
        *count = (size_t)header;
    }
    return bytes;
}

void rgByteBuffer_Free(rgByteBuffer* buffer) {
    free(buffer->data);
    *buffer = (rgByteBuffer){0};
}

rgGuardLimits rgDefaultGuardLimits(void) {
    return (rgGuardLimits){.seconds = 60, .bytes = (size_t)8 << 30};
}

static void rgWriteAll(int pipe, const unsigned char* bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(pipe, bytes, count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            _exit(rg_exitUsage);
        }
        bytes += written;
        count -= (size_t)written;
    }
}

static void rgRunChild(rgGuardFcn* run, void* context, rgGuardLimits limits, int pipe) {
    if (RG_LIMIT_MEMORY) {
        struct rlimit memory = {.rlim_cur = limits.bytes, .rlim_max = limits.bytes};
        setrlimit(RLIMIT_AS, &memory);
    }
    rlim_t seconds = (rlim_t)limits.seconds + 1;
    struct rlimit time = {.rlim_cur = seconds, .rlim_max = seconds + 1};
    setrlimit(RLIMIT_CPU, &time);
    struct rlimit core = {0};
    setrlimit(RLIMIT_CORE, &core);
    rgByteBuffer buffer = {0};
    run(context, &buffer);
    rgWriteAll(pipe, buffer.data, buffer.size);
    _exit(0);
}

// Read until the child closes its end; false when the time is over.
static bool rgReadAll(int pipe, double seconds, rgByteBuffer* result) {
    double deadline = rgCli_Seconds() + seconds;
    for (;;) {
        double left = deadline - rgCli_Seconds();
        struct pollfd wait = {.fd = pipe, .events = POLLIN};
        int ready = left > 0 ? poll(&wait, 1, (int)(1000 * left) + 1) : 0;
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            return false;
        }
        rgByteBuffer_Reserve(result, 1 << 16);
        ssize_t count = read(pipe, result->data + result->size, 1 << 16);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        if (count == 0) {
            return true;
        }
        result->size += count > 0 ? (size_t)count : 0;
    }
}

static char* rgDescribeEnd(int status, bool inTime, rgGuardLimits limits) {
    if (!inTime) {
        return rgCli_Format("took longer than %g s and was stopped", limits.seconds);
    }
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGXCPU
                   ? rgCli_Format("took longer than %g s and was stopped", limits.seconds)
                   : rgCli_Format("crashed libhdf5 (signal %d): the file is damaged",
                                  WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0
               ? NULL
               : rgCli_Format("ended the reading process early: damaged, or more than %zu MiB",
                              limits.bytes >> 20);
}

bool rgRunGuarded(rgGuardFcn* run, void* context, rgGuardLimits limits, rgByteBuffer* result,
                  char** fault) {
    int ends[2];
    *result = (rgByteBuffer){0};
    *fault = NULL;
    if (pipe(ends) != 0) {
        *fault = rgCli_Format("cannot be read in a separate process: %s", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        rgRunChild(run, context, limits, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        *fault = rgCli_Format("cannot be read in a separate process: %s", strerror(errno));
        return false;
    }
    bool inTime = rgReadAll(ends[0], limits.seconds, result);
    close(ends[0]);
    if (!inTime) {
        kill(child, SIGKILL);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    *fault = rgDescribeEnd(status, inTime, limits);
    if (*fault != NULL) {
        rgByteBuffer_Free(result);
    }
    return *fault == NULL;
}
