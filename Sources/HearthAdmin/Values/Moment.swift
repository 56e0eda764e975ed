import DocumentModel

/// A time with its age.
struct Moment: ViewModel {
    let time: TimeView
    let age: String
}

extension Moment {
    init(_ time: Timestamp, now: Timestamp) {
        self.init(time: TimeView(time), age: RelativeTime.text(of: time, at: now))
    }
}
