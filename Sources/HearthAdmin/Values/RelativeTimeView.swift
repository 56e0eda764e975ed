import DocumentModel

/// A timestamp with its relative time, such as `3 minutes ago`.
struct RelativeTimeView: ViewModel {
    let time: TimeView
    let age: String
}

extension RelativeTimeView {
    init(_ time: Timestamp, now: Timestamp) {
        self.init(time: TimeView(time), age: RelativeTime.text(of: time, at: now))
    }
}
