// Locks of files that one program at a time writes, and disk space reserved for them.
#ifndef _WIN32      // windows.c
#define _GNU_SOURCE // locks of open files, fallocate
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// A byte far behind any data: other locks, such as HDF5's, are of the file's beginning.
static bool rgLock(int file) {
#ifdef F_OFD_SETLK
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
    return fcntl(file, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
#else
    (void)file;
    return true;
#endif
}

int rgLockFile(const char* path, bool create, const char** fault, int* reason) {
    struct stat found;
    int file =
        open(path, O_RDWR | (create ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    *reason = file < 0 ? errno : 0;
    *fault = NULL;
    if (file < 0) {
        *fault = *reason == ELOOP ? "is a link; files are not written through links"
                                  : "cannot be created";
        *reason = *reason == ELOOP ? 0 : *reason;
    } else if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
        *fault = "cannot be written: it exists and is not a regular file";
    } else if (!rgLock(file)) {
        *fault = "is being written by another program";
    }
    if (*fault != NULL && file >= 0) {
        close(file);
        file = -1;
    }
    return file;
}

bool rgReserveDisk(int file, uint64_t from, uint64_t to) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        to > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
#ifdef FALLOC_FL_KEEP_SIZE
    int result;
    do {
        result = fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    } while (result != 0 && errno == EINTR);
    return result == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
#else
    (void)file, (void)from;
    return true;
#endif
}

void rgReleaseDisk(int file) {
    struct stat found;
    if (fstat(file, &found) == 0) {
        (void)!ftruncate(file, found.st_size);
    }
}
#else
typedef int rgNotPosixLock; // a file of C has a declaration
#endif
