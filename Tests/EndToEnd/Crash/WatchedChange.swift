import DocumentModel
import HearthClient
import StrictJSON
import UTF8Text

/// A change received by a watcher.
struct WatchedChange: Sendable {
    let path: DocumentPath
    /// The number of the commit that wrote the document; `nil` for a deletion.
    let number: Int?
    let sequence: UInt64
    let time: Timestamp

    /// Parses a frame; returns `nil` if it contains no change.
    init?(_ frame: WatchFrame) throws {
        guard frame.number != nil, let time = try frame.time(), let sequence = frame.sequence else { return nil }
        if let document = try frame.document() {
            self.path = document.path
            self.number = try document.decoded().fields.commitNumber
        } else {
            self.path = try frame.path()
            self.number = nil
        }
        self.sequence = sequence
        self.time = time
    }
}

/// Checks that a watch stream delivers commits in order, with increasing sequence numbers and times.
struct WatchOrder {
    private var last: (sequence: UInt64, time: Timestamp)?

    /// Returns an inconsistency in the next change; `nil` if there is none.
    mutating func inconsistency(in change: WatchedChange) -> String? {
        defer { last = (change.sequence, change.time) }
        guard let last else { return nil }
        if change.sequence == last.sequence, change.time == last.time { return nil }
        if change.sequence > last.sequence, change.time > last.time { return nil }
        return "a watcher received \(change.path) at \(change.sequence), \(change.time), after \(last.sequence), \(last.time)"
    }
}
