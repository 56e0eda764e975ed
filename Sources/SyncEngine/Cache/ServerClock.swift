package import DocumentModel

/// The knowledge of the server's clock, by which the times of local writes are estimated: those that server timestamps show until the server
/// has set them.
///
/// The local clock may be wrong by hours. What is compared are times of the server only.
package struct ServerClock: Hashable, Sendable {
    /// The time by which the server's clock is ahead of the local one, in microseconds.
    package private(set) var offset: Int64
    /// The latest time that the server has told.
    package private(set) var latest: Timestamp

    /// Creates the knowledge from its parts, as a cache stored them; by default none.
    package init(offset: Int64 = 0, latest: Timestamp = .minimum) {
        self.offset = offset
        self.latest = latest
    }

    /// Records a time that the server has told, such as that of its last commit.
    package mutating func record(_ time: Timestamp?) {
        if let time, time != .maximum { latest = max(latest, time) }
    }

    /// Records the time of a commit that the server has just made.
    package mutating func record(commitTime: Timestamp, at localTime: Timestamp) {
        record(commitTime)
        offset = commitTime.microseconds - localTime.microseconds
    }

    /// Returns the time on the server at a local time, in whole milliseconds as the server's timestamps are: never before a time that the server
    /// has told.
    package func time(at localTime: Timestamp) -> Timestamp {
        let (estimate, isOverflow) = localTime.microseconds.addingReportingOverflow(offset)
        guard !isOverflow, let time = try? Timestamp(microseconds: estimate / 1_000 * 1_000) else {
            return max(localTime, latest)
        }
        return max(time, latest)
    }

    /// Returns whether this knowledge is worth storing in place of an earlier one: estimates would differ by more than a second, or the latest
    /// time is minutes later.
    package func isWorthSaving(over saved: ServerClock) -> Bool {
        // The saved offset may be any number, from a damaged cache. Times are far from the limits of their microseconds.
        let (change, isOverflow) = offset.subtractingReportingOverflow(saved.offset)
        return isOverflow || change.magnitude > 1_000_000 || latest.microseconds - saved.latest.microseconds > 300_000_000
    }
}
