import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import Testing

/// What a watcher knows, from nothing but the frames that it got, and whether the frames keep what a stream promises.
struct WatchReplica {
    private(set) var documents: [DocumentPath: EncodedDocument] = [:]
    /// The documents in the order of the result, by the places that frames tell.
    private(set) var ranking: [DocumentPath] = []
    private(set) var sequence = SequenceNumber.zero
    private(set) var isCurrent = false
    private(set) var token: WatchToken?
    private(set) var faults: [String] = []
    /// The frames in short, such as `added a 1`.
    private(set) var log: [String] = []
    private var last: WatchFrame.Position?

    mutating func take(_ frames: [WatchFrame]) {
        for frame in frames { take(frame) }
    }

    mutating func take(_ frame: WatchFrame) {
        switch frame {
        case .open:
            log.append("open")
        case .change(let change, let position):
            log.append(change.shown)
            check(position)
            take(change)
        case .damaged(let document):
            log.append("damaged \(document.error.path ?? "?")")
            if isCurrent { fault("damaged after current") }
        case .current(let sequence, let count, let token):
            log.append("current \(count)")
            if count != documents.count { fault("\(documents.count) documents") }
            if isCurrent { fault("current again") }
            if sequence < self.sequence { fault("goes back") }
            isCurrent = true
            self.sequence = sequence
            self.token = token
        case .checkpoint(let sequence, let count, let token):
            log.append("checkpoint")
            if !isCurrent { fault("before the state is complete") }
            if let count, count != documents.count { fault("\(documents.count) documents") }
            if sequence < self.sequence { fault("goes back") }
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

    /// A replica that has been told everything up to a token.
    mutating func resume() {
        last = nil
    }

    private mutating func take(_ change: WatchFrame.Change) {
        let known = documents[change.path]
        switch (change.kind, known) {
        case (.added, .some): fault("added again")
        case (.modified, nil), (.removed, nil), (.deleted, nil): fault("\(change.kind) and unknown")
        default: break
        }
        if let before = change.before, before != known { fault("was not so before") }
        documents[change.path] = change.document
        if let index = change.oldIndex {
            if ranking.indices.contains(index), ranking[index] == change.path {
                ranking.remove(at: index)
            } else {
                fault("not at \(index)")
            }
        }
        if let index = change.newIndex {
            if (0...ranking.count).contains(index) {
                ranking.insert(change.path, at: index)
            } else {
                fault("can't be at \(index)")
            }
        }
    }

    private mutating func check(_ position: WatchFrame.Position?) {
        guard let position else {
            if isCurrent { fault("no position after current") }
            return
        }
        if position.sequence < sequence { fault("goes back") }
        if let last, last.sequence == position.sequence {
            if position.number != last.number + 1 || position.count != last.count {
                fault("\(last.number) of \(last.count) before")
            }
        } else if position.number != 1 {
            fault("begins with \(position.number)")
        }
        if (position.token != nil) != (isCurrent && position.number == position.count) { fault("token") }
        sequence = position.sequence
        token = position.token ?? token
        last = position
    }

    private mutating func fault(_ text: String) {
        faults.append("\(log.last ?? ""): \(text)")
    }
}

extension WatchFrame.Change {
    /// The change in short.
    fileprivate var shown: String {
        guard let document else { return "\(kind) \(path.id)" }
        guard case .integer(let version)? = try? document.decoded().fields["v"] else { return "\(kind) \(path.id) ?" }
        return "\(kind) \(path.id) \(version)"
    }
}

extension WatchSession {
    /// Takes frames until the replica is as wanted, or the stream ends.
    func follow(into replica: inout WatchReplica, until isDone: (WatchReplica) -> Bool) async throws {
        for try await frames in self {
            replica.take(frames)
            if isDone(replica) { break }
        }
    }
}
