import Testing

/// What is acknowledged stays, whatever happens to the process, its system calls and the disk.
///
/// One test at a time: each keeps both a server and its callers busy. The seed of a run is printed, and taken from
/// `HEARTH_TEST_SEED`.
@Suite("Crashes", .serialized) enum CrashTests {}
