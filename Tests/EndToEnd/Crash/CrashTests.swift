import TestSupport
import Testing

/// Durability and atomicity of commits when the process is killed, system calls fail or the disk is full.
///
/// The tests run sequentially, since each one runs a server under load. The seed of a run is printed, and can be set with
/// `HEARTH_TEST_SEED`.
@Suite("Crashes", .tags(.crash, .slow), .serialized) enum CrashTests {}
