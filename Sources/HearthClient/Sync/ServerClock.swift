internal import DocumentModel

/// The knowledge of the server's clock, by which the times of local writes are estimated: those that server timestamps show until the server
/// has set them.
///
/// The local clock may be wrong by hours. What is compared are times of the server only.
struct ServerClock {
    /// The time by which the server's clock is ahead of the local one, in microseconds.
    private var offset: Int64 = 0
    /// The latest time that the server has told.
    private var latest = Timestamp.minimum

    /// Records a time that the server has told, such as that of its last commit.
    mutating func record(_ time: Timestamp?) {
        if let time, time != .maximum { latest = max(latest, time) }
    }

    /// Records the time of a commit that the server has just made.
    mutating func record(commitTime: Timestamp, at localTime: Timestamp) {
        record(commitTime)
        offset = commitTime.microseconds - localTime.microseconds
    }

    /// Returns the time on the server at a local time, in whole milliseconds as the server's timestamps are: never before a time that the server
    /// has told.
    func time(at localTime: Timestamp) -> Timestamp {
        let (estimate, isOverflow) = localTime.microseconds.addingReportingOverflow(offset)
        guard !isOverflow, let time = try? Timestamp(microseconds: estimate / 1_000 * 1_000) else {
            return max(localTime, latest)
        }
        return max(time, latest)
    }
}
