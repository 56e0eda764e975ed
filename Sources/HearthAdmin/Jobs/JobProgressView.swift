import DocumentModel
import HearthAPI

/// The progress of a job as a bar with its share, and an estimate of the time left.
struct JobProgressView: ViewModel {
    private let completedCount: Int
    private let totalCount: Int
    /// The share and the time left: `42 %, 3 minutes left`.
    private let text: String

    /// The time before which there is no estimate.
    private static let minimumElapsed = Duration.seconds(2)
    /// The maximum of an estimate: a hundred years.
    private static let maximumSecondsLeft = 3.2e9

    /// Creates the view of work that is in progress; returns `nil` if its total is unknown or exceeded.
    init?(_ completedCount: Int, of totalCount: Int?, since startTime: Timestamp, now: Timestamp) {
        guard let totalCount, totalCount > 0, completedCount <= totalCount else { return nil }
        (self.completedCount, self.totalCount) = (completedCount, totalCount)
        let share = Double(completedCount) / Double(totalCount)
        let percentage = localized("{count} %", ["count": NumberFormat.grouped(Int(share * 100))])
        let elapsed = Duration.microseconds(now.microseconds - startTime.microseconds)
        guard completedCount > 0, share < 1, elapsed >= Self.minimumElapsed else {
            text = percentage
            return
        }
        // The numbers may be any that another server has reported.
        let left = RelativeTime.text(of: .seconds(min(elapsed / .seconds(1) * (1 - share) / share, Self.maximumSecondsLeft)))
        text = localized("{share}, {time} left", ["share": percentage, "time": left])
    }
}
