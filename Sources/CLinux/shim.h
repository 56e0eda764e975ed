#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Opens a place below a folder for asking what is there, if the kernel has all of the way in memory, and fails with `EAGAIN` where
/// it would have to read a disk (Linux 5.12 and later; see openat2(2)). Symbolic links lead nowhere. The C library has no function
/// for it.
static inline int clinux_open_in_memory(int folder, const char *path) {
    struct open_how how = {
        // `O_PATH`, which the C library calls so where its GNU extensions are not asked for, as in modules.
        .flags = __O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}
