#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

/// Opens a path relative to a folder with `O_PATH` if all its components are in the kernel's dentry cache, and fails with
/// `EAGAIN` if the lookup would have to read from disk (openat2(2), `RESOLVE_CACHED`, Linux 5.12 and later). Doesn't follow
/// symbolic links. glibc has no wrapper for openat2.
static inline int clinux_open_cached(int folder, const char *path) {
    struct open_how how = {
        // `O_PATH`: glibc defines the name without underscores only with `_GNU_SOURCE`, which modules don't set.
        .flags = __O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// Allocates disk space for the first bytes of a file (fallocate(2)), or fails with `EOPNOTSUPP` if the file system cannot; glibc's
/// `posix_fallocate` would write to the file instead. glibc declares `fallocate` only with `_GNU_SOURCE`.
static inline int clinux_allocate(int file, off_t length) {
    return (int)syscall(SYS_fallocate, file, 0, (off_t)0, length);
}

/// Returns the type of the file system that contains an open file (fstatfs(2)), or 0 on failure. The types are the magic numbers of
/// statfs(2).
static inline unsigned int clinux_file_system_type(int file) {
    struct statfs status;
    return fstatfs(file, &status) == 0 ? (unsigned int)status.f_type : 0;
}

/// Returns whether a folder ignores the case of names (`chattr +F`; ext4, F2FS and tmpfs).
static inline int clinux_folds_case(int folder) {
    int flags = 0;
    return ioctl(folder, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0;
}

int renameat2(int folder, const char *name, int new_folder, const char *new_name, unsigned int flags);

/// Exchanges two names atomically (renameat2(2), `RENAME_EXCHANGE`), or fails with `EINVAL` if the file system cannot.
/// glibc declares `renameat2` only with `_GNU_SOURCE`.
static inline int clinux_exchange(int folder, const char *name, int other_folder, const char *other) {
    return renameat2(folder, name, other_folder, other, RENAME_EXCHANGE);
}

/// Renames an entry of a folder to a name that doesn't exist (renameat2(2), `RENAME_NOREPLACE`), or fails with `EEXIST`, or with `EINVAL`
/// if the file system cannot.
static inline int clinux_rename_new(int folder, const char *name, const char *new_name) {
    return renameat2(folder, name, folder, new_name, RENAME_NOREPLACE);
}

/// Lowers the priority of the calling thread for the processor (nice 10) and for the disk (idle), for as long as it runs. The thread
/// keeps its priority where the system does not permit that. glibc has no wrapper for ioprio_set(2).
static inline void clinux_lower_thread_priority(void) {
    // Who 0 is the calling thread, class 3 idle.
    (void)setpriority(PRIO_PROCESS, 0, 10);
    (void)syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}

/// Returns 1 if the system's clock is synchronized, 0 if it is not, and -1 if that cannot be told (adjtimex(2)).
static inline int clinux_clock_is_synchronized(void) {
    struct timex time = {.modes = 0};
    int state = adjtimex(&time);
    return state < 0 ? -1 : (state != TIME_ERROR && (time.status & STA_UNSYNC) == 0);
}

/// Makes all open files but the standard streams close when the process begins another program (close_range(2),
/// `CLOSE_RANGE_CLOEXEC`, Linux 5.11 and later).
static inline void clinux_close_files_on_exec(void) {
    (void)syscall(SYS_close_range, 3u, ~0u, 4u);
}
