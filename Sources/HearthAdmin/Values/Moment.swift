import DocumentModel

/// A time with its age.
struct Moment: Sendable {
    let time: TimeView
    let age: String
}

extension Moment: ViewModel {
    init(_ time: Timestamp, now: Timestamp) {
        self.init(time: TimeView(time), age: RelativeTime.text(of: time, at: now))
    }

    func child(named name: String) -> Any? {
        switch name {
        case "time": time
        case "age": age
        default: nil
        }
    }
}
