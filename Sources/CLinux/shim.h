#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Opens a path relative to a folder with `O_PATH` if all its components are in the kernel's dentry cache, and fails with `EAGAIN`
/// if the lookup would have to read from disk (openat2(2), `RESOLVE_CACHED`, Linux 5.12 and later). Doesn't follow symbolic links.
/// glibc has no wrapper for openat2.
static inline int clinux_open_cached(int folder, const char *path) {
    struct open_how how = {
        // `O_PATH`: glibc defines the name without underscores only with `_GNU_SOURCE`, which modules don't set.
        .flags = __O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}
