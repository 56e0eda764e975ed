import DocumentModel
import HearthClient
import StrictJSON

/// A change that a watch stream reported.
struct WatchedChange: Sendable {
    let path: DocumentPath
    /// The commit that wrote the document; nil when it was deleted.
    let number: Int?
    let sequence: Int64
    let time: Timestamp

    /// Takes a frame; nil when it reports no change.
    init?(_ frame: WatchFrame) throws {
        guard let time = frame.json["time"]?.string, case .integer(let sequence)? = frame.json["seq"]?.number else { return nil }
        if let document = try frame.document() {
            self.path = document.path
            self.number = try document.decoded().fields.commitNumber
        } else {
            guard let path = frame.json["path"]?.string else { return nil }
            self.path = try DocumentPath(path)
            self.number = nil
        }
        self.sequence = sequence
        self.time = try Timestamp(rfc3339: time)
    }
}

/// Checks that a watch stream reports commits in order: sequence numbers and times grow together.
struct WatchOrder {
    private var last: (sequence: Int64, time: Timestamp)?

    /// What is wrong with the next change; nil when nothing is.
    mutating func fault(in change: WatchedChange) -> String? {
        defer { last = (change.sequence, change.time) }
        guard let last else { return nil }
        if change.sequence == last.sequence, change.time == last.time { return nil }
        if change.sequence > last.sequence, change.time > last.time { return nil }
        return "a watcher was shown \(change.path) at \(change.sequence), \(change.time), after \(last.sequence), \(last.time)"
    }
}
