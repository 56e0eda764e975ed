/// A fault injection library for servers (LD_PRELOAD). Counts the system calls that modify files in a folder, and makes the n-th
/// one fail, kill the process or block.
///
/// Environment variables:
///
///   HEARTH_FAULT_ROOT   The folder, an absolute path without symbolic links. Other calls are not affected.
///   HEARTH_FAULT        The fault, see below. Without it, calls are only counted.
///   HEARTH_FAULT_LOG    A log file with one line per counted call: its number, kind and path relative to the folder.
///   HEARTH_FAULT_GATE   A gate file: calls are counted and faults injected only while it exists.
///
/// Faults, with N counted from 1:
///
///   kill-before:N            Kills the process instead of the N-th call.
///   kill-within:N            As kill-before, but a write call first writes half of its bytes.
///   kill-after:N             Kills the process after the N-th call, before it returns.
///   fail:KIND:ERROR:N        Makes the N-th call of a kind fail with ENOSPC, EIO, EDQUOT or EROFS.
///   fail-from:KIND:ERROR:N   Makes that call and all later ones fail.
///   hold:KIND                Blocks calls of a kind while the gate exists, for at most 30 seconds.
///
/// KIND is `write`, `pwrite`, `fdatasync`, `fsync`, `syncfs`, `rename`, `open` (only if it can create a file), `mkdir`, `unlink`,
/// `rmdir`, `link`, `ftruncate`, `fallocate`, or `any` of these; or `pread`, which is counted only if the fault specifies it.
/// `KIND@PREFIX` restricts the calls to paths with a prefix: `pwrite@journal/`. A failing write call first writes half of its bytes,
/// as when the disk becomes full.
#ifndef FAULT_H
#define FAULT_H

#endif
