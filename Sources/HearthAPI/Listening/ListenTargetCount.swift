/// The number of targets of a stream, as part of those of the server until the stream ends.
final class ListenTargetCount {
    private let activity: ServerActivity
    private var count = 0

    init(in activity: ServerActivity) {
        self.activity = activity
    }

    deinit {
        activity.adjustListenTargetCount(by: -count)
    }

    func set(_ newCount: Int) {
        guard newCount != count else { return }
        activity.adjustListenTargetCount(by: newCount - count)
        count = newCount
    }
}
