package import DocumentModel
internal import Glibc

extension Timestamp {
    /// The time of the system's clock.
    package static func current() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        // A clock outside the years 1 to 9999 is as wrong as one at their ends.
        return (try? Timestamp(microseconds: microseconds)) ?? (microseconds < 0 ? .minimum : .maximum)
    }
}
