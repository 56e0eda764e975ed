#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The time since a moment, by the monotonic clock. Cheaper than a difference of `ContinuousClock`, whose units are attoseconds.
package struct Stopwatch: Sendable {
    private let start: UInt64

    /// Starts now.
    package init() {
        start = Self.now
    }

    /// The time since the start.
    package var nanoseconds: UInt64 { Self.now &- start }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
