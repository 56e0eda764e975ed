// A fault injection library for servers (LD_PRELOAD). Counts the system calls that modify files in a folder, and makes the n-th
// one fail, kill the process or block.
//
// Environment variables:
//
//   HEARTH_FAULT_ROOT   The folder, an absolute path without symbolic links. Other calls are not affected.
//   HEARTH_FAULT        The fault, see below. Without it, calls are only counted.
//   HEARTH_FAULT_LOG    A log file with one line per counted call: its number, kind and path relative to the folder.
//   HEARTH_FAULT_GATE   A gate file: calls are counted and faults injected only while it exists.
//   HEARTH_FAULT_CLOCK  A file: the time of day is ahead by as many seconds as it has bytes.
//
// Faults, with N counted from 1:
//
//   kill-before:N            Kills the process instead of the N-th call.
//   kill-within:N            Like kill-before, but a write call first writes half of its bytes.
//   kill-after:N             Kills the process after the N-th call, before it returns.
//   fail:KIND:ERROR:N        Makes the N-th call of a kind fail with ENOSPC, EIO, EDQUOT or EROFS.
//   fail-from:KIND:ERROR:N   Makes that call and all later ones fail.
//   hold:KIND                Blocks calls of a kind while the gate exists, for at most 30 seconds.
//
// KIND is `write`, `pwrite`, `fdatasync`, `fsync`, `syncfs`, `rename`, `open` (only if it can create a file), `mkdir`, `unlink`,
// `rmdir`, `link`, `ftruncate`, `fallocate`, or `any` of these; or `pread`, which is counted only if the fault specifies it.
// `KIND@PREFIX` restricts the calls to paths with a prefix: `pwrite@journal/`. A failing write call first writes half of its bytes,
// as when the disk becomes full.
//
// Calls are forwarded as raw system calls, so that no symbols have to be resolved while the process starts.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum action { COUNT, KILL_BEFORE, KILL_WITHIN, KILL_AFTER, FAIL, FAIL_FROM, HOLD };

static enum action action = COUNT;
static char wanted_kind[32] = "any";
static char wanted_folder[256] = "";
static int wanted_error = 0;
static long wanted_number = 0;

static char root[PATH_MAX] = "";
static const char *gate = NULL;
static const char *clock_file = NULL;
static int log_file = -1;
static atomic_long counted = 0;

/// The injected behavior of a call.
struct verdict {
    bool fails;
    bool dies_within;
    bool dies_after;
};

__attribute__((noreturn)) static void reject(const char *fault) {
    fprintf(stderr, "HEARTH_FAULT: invalid fault \"%s\"; see fault.h\n", fault);
    _exit(127);
}

static int error_number(const char *name) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}};
    for (size_t index = 0; index < sizeof errors / sizeof *errors; index++) {
        if (strcmp(errors[index].name, name) == 0) return errors[index].number;
    }
    return 0;
}

static void read_fault(const char *fault) {
    static const struct {
        const char *name;
        enum action action;
    } actions[] = {
        {"kill-before", KILL_BEFORE}, {"kill-within", KILL_WITHIN}, {"kill-after", KILL_AFTER},
        {"fail", FAIL},               {"fail-from", FAIL_FROM},     {"hold", HOLD},
    };
    char name[32] = "", target[sizeof wanted_kind + sizeof wanted_folder] = "", error[32] = "";
    if (sscanf(fault, "%31[^:]:", name) != 1) reject(fault);
    for (size_t index = 0; index < sizeof actions / sizeof *actions; index++) {
        if (strcmp(actions[index].name, name) == 0) action = actions[index].action;
    }
    if (action == FAIL || action == FAIL_FROM) {
        if (sscanf(fault, "%*[^:]:%287[^:]:%31[^:]:%ld", target, error, &wanted_number) != 3) reject(fault);
        wanted_error = error_number(error);
        if (wanted_error == 0) reject(fault);
        if (sscanf(target, "%31[^@]@%255s", wanted_kind, wanted_folder) < 1) reject(fault);
    } else if (action == HOLD) {
        if (sscanf(fault, "%*[^:]:%287s", target) != 1) reject(fault);
        if (sscanf(target, "%31[^@]@%255s", wanted_kind, wanted_folder) < 1) reject(fault);
        wanted_number = 1;
    } else if (action == COUNT || sscanf(fault, "%*[^:]:%ld", &wanted_number) != 1) {
        reject(fault);
    }
    if (wanted_number < 1) reject(fault);
}

__attribute__((constructor)) static void initialize(void) {
    clock_file = getenv("HEARTH_FAULT_CLOCK");
    const char *folder = getenv("HEARTH_FAULT_ROOT");
    if (folder == NULL || strlen(folder) >= sizeof root) return;
    const char *fault = getenv("HEARTH_FAULT");
    if (fault != NULL) read_fault(fault);
    const char *log = getenv("HEARTH_FAULT_LOG");
    if (log != NULL) {
        log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    gate = getenv("HEARTH_FAULT_GATE");
    // Set last: calls are counted from here on.
    strcpy(root, folder);
}

/// Determines the path of a name in an open folder, or of an open file if `name` is NULL. Returns false on failure.
static bool find_path(int file, const char *name, char *path, size_t size) {
    if (name != NULL && name[0] == '/') return (size_t)snprintf(path, size, "%s", name) < size;
    char link[64];
    if (file == AT_FDCWD) {
        strcpy(link, "/proc/self/cwd");
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    }
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
    if (length < 0) return false;
    path[length] = 0;
    if (name == NULL) return true;
    size_t rest = size - (size_t)length;
    return (size_t)snprintf(path + length, rest, "/%s", name) < rest;
}

/// Returns the path relative to the root, or NULL if it is outside.
static const char *below_root(const char *path) {
    size_t length = strlen(root);
    if (length == 0 || strncmp(path, root, length) != 0) return NULL;
    if (path[length] == 0) return ".";
    return path[length] == '/' ? path + length + 1 : NULL;
}

__attribute__((noreturn)) static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static bool is_wanted(const char *kind, const char *path) {
    bool is_read = strcmp(kind, "pread") == 0;
    if (strcmp(wanted_kind, kind) != 0 && (is_read || strcmp(wanted_kind, "any") != 0)) return false;
    return strncmp(path, wanted_folder, strlen(wanted_folder)) == 0;
}

static void log_call(long number, const char *kind, const char *path) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", number, kind, path);
    if (length > 0 && (size_t)length < sizeof line) syscall(SYS_write, log_file, line, length);
}

/// Returns whether fault injection is enabled: the gate file exists or there is none.
static bool is_enabled(void) {
    return gate == NULL || syscall(SYS_faccessat, AT_FDCWD, gate, F_OK) == 0;
}

/// Blocks while fault injection is enabled, for at most 30 seconds.
static void hold(void) {
    for (int round = 0; round < 3000 && is_enabled(); round++) usleep(10000);
}

/// Counts a call and determines its injected behavior. Preserves errno.
static struct verdict judge(const char *kind, int file, const char *name) {
    struct verdict verdict = {false, false, false};
    if (root[0] == 0) return verdict;
    int saved = errno;
    char full[PATH_MAX];
    const char *path = find_path(file, name, full, sizeof full) ? below_root(full) : NULL;
    if (path != NULL && is_wanted(kind, path) && is_enabled()) {
        long number = atomic_fetch_add(&counted, 1) + 1;
        if (log_file >= 0) log_call(number, kind, path);
        bool is_it = number == wanted_number;
        if (action == HOLD) hold();
        if (is_it && action == KILL_BEFORE) die();
        verdict.dies_within = is_it && action == KILL_WITHIN;
        verdict.dies_after = is_it && action == KILL_AFTER;
        verdict.fails = (is_it && action == FAIL) || (number >= wanted_number && action == FAIL_FROM);
    }
    errno = saved;
    return verdict;
}

/// Performs a call with its injected behavior. `part` is the partial operation before a failure or kill.
#define CALL(type, kind, file, name, part, call)                                                                                 \
    struct verdict verdict = judge(kind, file, name);                                                                            \
    if (verdict.fails || verdict.dies_within) {                                                                                  \
        (void)(part);                                                                                                            \
        if (verdict.dies_within) die();                                                                                          \
        errno = wanted_error;                                                                                                    \
        return -1;                                                                                                               \
    }                                                                                                                            \
    type result = (type)(call);                                                                                                  \
    if (verdict.dies_after) die();                                                                                               \
    return result

// File contents

ssize_t write(int file, const void *bytes, size_t count) {
    CALL(ssize_t, "write", file, NULL, syscall(SYS_write, file, bytes, count / 2), syscall(SYS_write, file, bytes, count));
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    CALL(
        ssize_t, "pwrite", file, NULL, syscall(SYS_pwrite64, file, bytes, count / 2, offset),
        syscall(SYS_pwrite64, file, bytes, count, offset)
    );
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return pwrite(file, bytes, count, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    CALL(ssize_t, "write", file, NULL, syscall(SYS_writev, file, parts, count / 2), syscall(SYS_writev, file, parts, count));
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    CALL(ssize_t, "pread", file, NULL, 0, syscall(SYS_pread64, file, bytes, count, offset));
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    return pread(file, bytes, count, offset);
}

int ftruncate(int file, off_t size) {
    CALL(int, "ftruncate", file, NULL, 0, syscall(SYS_ftruncate, file, size));
}

int ftruncate64(int file, off64_t size) {
    return ftruncate(file, size);
}

int fallocate(int file, int mode, off_t offset, off_t size) {
    CALL(int, "fallocate", file, NULL, 0, syscall(SYS_fallocate, file, mode, offset, size));
}

int fallocate64(int file, int mode, off64_t offset, off64_t size) {
    return fallocate(file, mode, offset, size);
}

int posix_fallocate(int file, off_t offset, off_t size) {
    return fallocate(file, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate64(int file, off64_t offset, off64_t size) {
    return posix_fallocate(file, offset, size);
}

// Syncs

int fsync(int file) {
    CALL(int, "fsync", file, NULL, 0, syscall(SYS_fsync, file));
}

int fdatasync(int file) {
    CALL(int, "fdatasync", file, NULL, 0, syscall(SYS_fdatasync, file));
}

int syncfs(int file) {
    CALL(int, "syncfs", file, NULL, 0, syscall(SYS_syncfs, file));
}

// Directory entries

static int open_in(int folder, const char *name, int flags, mode_t mode) {
    if ((flags & O_CREAT) == 0 && (flags & O_TMPFILE) != O_TMPFILE) return (int)syscall(SYS_openat, folder, name, flags, mode);
    CALL(int, "open", folder, name, 0, syscall(SYS_openat, folder, name, flags, mode));
}

/// Declares the optional mode argument of an open call.
#define MODE(flags, mode)                                                                                                        \
    mode_t mode = 0;                                                                                                             \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {                                                                                \
        va_list rest;                                                                                                            \
        va_start(rest, flags);                                                                                                   \
        mode = va_arg(rest, mode_t);                                                                                             \
        va_end(rest);                                                                                                            \
    }

int openat(int folder, const char *name, int flags, ...) {
    MODE(flags, mode)
    return open_in(folder, name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...) {
    MODE(flags, mode)
    return open_in(folder, name, flags, mode);
}

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_in(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_in(AT_FDCWD, path, flags, mode);
}

int renameat2(int folder, const char *name, int new_folder, const char *new_name, unsigned int flags) {
    CALL(int, "rename", new_folder, new_name, 0, syscall(SYS_renameat2, folder, name, new_folder, new_name, flags));
}

int renameat(int folder, const char *name, int new_folder, const char *new_name) {
    return renameat2(folder, name, new_folder, new_name, 0);
}

int rename(const char *path, const char *new_path) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, new_path, 0);
}

int linkat(int folder, const char *name, int new_folder, const char *new_name, int flags) {
    CALL(int, "link", new_folder, new_name, 0, syscall(SYS_linkat, folder, name, new_folder, new_name, flags));
}

int mkdirat(int folder, const char *name, mode_t mode) {
    CALL(int, "mkdir", folder, name, 0, syscall(SYS_mkdirat, folder, name, mode));
}

int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int folder, const char *name, int flags) {
    const char *kind = (flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink";
    CALL(int, kind, folder, name, 0, syscall(SYS_unlinkat, folder, name, flags));
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

// Clocks

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || clock != CLOCK_REALTIME || clock_file == NULL) return result;
    int saved = errno;
    struct stat status;
    if (stat(clock_file, &status) == 0) time->tv_sec += status.st_size;
    errno = saved;
    return 0;
}
