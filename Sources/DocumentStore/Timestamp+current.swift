package import DocumentModel
internal import Glibc

extension Timestamp {
    /// Returns the system clock's time.
    package static func current() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        // A clock outside the years 1 to 9999 is wrong anyway, so the time is clamped.
        return (try? Timestamp(microseconds: microseconds)) ?? (microseconds < 0 ? .minimum : .maximum)
    }
}
