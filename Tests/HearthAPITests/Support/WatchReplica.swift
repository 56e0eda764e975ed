import DocumentModel
import DocumentStore
import HearthAPI
import Testing
import UTF8Text

/// The state of a watcher, derived from its frames only, with violations of the guarantees of a stream.
struct WatchReplica {
    private(set) var documents: [DocumentPath: EncodedDocument] = [:]
    /// The documents in the order of the result, by the indexes of the frames.
    private(set) var ranking: [DocumentPath] = []
    private(set) var sequence = SequenceNumber.zero
    private(set) var isCurrent = false
    private(set) var token: ResumeToken?
    private(set) var violations: [String] = []
    /// The frames in short form, such as `added a 1`.
    private(set) var log: [String] = []
    private var last: OutgoingWatchFrame.Position?

    mutating func apply(_ frames: [OutgoingWatchFrame]) {
        for frame in frames { apply(frame) }
    }

    mutating func apply(_ frame: OutgoingWatchFrame) {
        switch frame {
        case .open:
            log.append("open")
        case .change(let change, let position):
            log.append(change.summary)
            check(position)
            apply(change)
        case .damaged(let error):
            log.append("damaged \(error.path ?? "?")")
            if isCurrent { recordViolation("damaged after current") }
        case .current(let sequence, let count, let token):
            log.append("current \(count)")
            if count != documents.count { recordViolation("\(documents.count) documents") }
            if isCurrent { recordViolation("current again") }
            if sequence < self.sequence { recordViolation("sequence decreases") }
            isCurrent = true
            self.sequence = sequence
            self.token = token
        case .heartbeat(let sequence, let count, let token):
            log.append("checkpoint")
            if !isCurrent { recordViolation("before the state is complete") }
            if let count, count != documents.count { recordViolation("\(documents.count) documents") }
            if sequence < self.sequence { recordViolation("sequence decreases") }
            self.sequence = sequence
            self.token = token
        case .reset(let reason):
            log.append("reset \(reason)")
            documents.removeAll()
            ranking.removeAll()
            isCurrent = false
            token = nil
        case .end(let reason, _):
            log.append("end \(reason)")
        }
    }

    /// Prepares the replica for a stream that is resumed after its token.
    mutating func resume() {
        last = nil
    }

    private mutating func apply(_ change: OutgoingWatchFrame.Change) {
        let known = documents[change.path]
        switch (change.kind, known) {
        case (.added, .some): recordViolation("added again")
        case (.modified, nil), (.removed, nil), (.deleted, nil): recordViolation("\(change.kind) of an unknown document")
        default: break
        }
        if let before = change.before, before != known { recordViolation("wrong before-image") }
        documents[change.path] = change.kind == .removed ? nil : change.document
        if let index = change.oldIndex {
            if ranking.indices.contains(index), ranking[index] == change.path {
                ranking.remove(at: index)
            } else {
                recordViolation("not at \(index)")
            }
        }
        if let index = change.newIndex {
            if (0...ranking.count).contains(index) {
                ranking.insert(change.path, at: index)
            } else {
                recordViolation("cannot be at \(index)")
            }
        }
    }

    private mutating func check(_ position: OutgoingWatchFrame.Position?) {
        guard let position else {
            if isCurrent { recordViolation("no position after current") }
            return
        }
        if position.sequence < sequence { recordViolation("sequence decreases") }
        if let last, last.sequence == position.sequence {
            if position.number != last.number + 1 || position.count != last.count {
                recordViolation("\(last.number) of \(last.count) before")
            }
        } else if position.number != 1 {
            recordViolation("starts with \(position.number)")
        }
        if (position.token != nil) != (isCurrent && position.number == position.count) { recordViolation("token") }
        sequence = position.sequence
        token = position.token ?? token
        last = position
    }

    private mutating func recordViolation(_ text: String) {
        violations.append("\(log.last ?? ""): \(text)")
    }
}

extension OutgoingWatchFrame.Change {
    /// The change in short form.
    fileprivate var summary: String {
        guard kind != .removed, let document else { return "\(kind) \(path.id)" }
        guard case .integer(let version)? = try? document.decoded().fields["v"] else { return "\(kind) \(path.id) ?" }
        return "\(kind) \(path.id) \(version)"
    }
}

extension WatchSession {
    /// Applies frames to a replica until a condition holds or the stream ends.
    func follow(into replica: inout WatchReplica, until isDone: (WatchReplica) -> Bool) async throws {
        for try await frames in self {
            replica.apply(frames)
            if isDone(replica) { break }
        }
    }
}
