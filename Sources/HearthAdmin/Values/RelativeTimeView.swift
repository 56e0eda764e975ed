import DocumentModel

/// A time with its age.
struct RelativeTimeView: ViewModel {
    let time: TimeView
    let age: String
}

extension RelativeTimeView {
    init(_ time: Timestamp, now: Timestamp) {
        self.init(time: TimeView(time), age: RelativeTime.text(of: time, at: now))
    }
}
