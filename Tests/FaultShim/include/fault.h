/// A library to be preloaded into a server (LD_PRELOAD): it counts the system calls that change files below one folder, and
/// makes the n-th of them go wrong.
///
/// It is told what to do by the environment:
///
///   HEARTH_FAULT_ROOT   The folder, as an absolute path without symbolic links. Calls elsewhere are not touched.
///   HEARTH_FAULT        The fault, one of those below. Without one, calls are only counted.
///   HEARTH_FAULT_LOG    A file to which each counted call is appended as a line: its number, its kind, its path in the folder.
///   HEARTH_FAULT_GATE   A file: calls are counted, and go wrong, only while it exists.
///
/// The faults, where N counts from 1:
///
///   kill-before:N       The process is killed in place of the N-th call.
///   kill-within:N       The same, but a call that writes has written the first half of its bytes.
///   kill-after:N        The process is killed when the N-th call has been made, before it returns.
///   fail:KIND:ERROR:N        The N-th call of a kind fails with an error: ENOSPC, EIO, EDQUOT, EROFS.
///   fail-from:KIND:ERROR:N   That one and all later ones fail.
///   hold:KIND                Calls of a kind are held up while the gate exists, 30 seconds at most.
///
/// A KIND is `write`, `pwrite`, `fdatasync`, `fsync`, `syncfs`, `rename`, `open` (where it may make the file), `mkdir`,
/// `unlink`, `rmdir`, `link`, `ftruncate`, `fallocate`, or `any` of these; or `pread`, which changes nothing and is counted
/// only where a fault names it. `KIND@FOLDER` is a call of that kind on a path in the folder that begins so: `pwrite@journal/`.
/// A call that writes and fails has written the first half of its bytes, as when a disk runs full in the middle.
#ifndef FAULT_H
#define FAULT_H

#endif
