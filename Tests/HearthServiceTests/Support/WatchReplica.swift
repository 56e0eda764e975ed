import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import Testing

/// What a watcher knows, from nothing but the frames that it got, and whether the frames keep what a stream promises.
struct WatchReplica {
    private(set) var documents: [DocumentPath: EncodedDocument] = [:]
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
        case .added(let document, let position):
            log.append("added \(document.path.id) \(Self.version(of: document))")
            check(position)
            if documents.updateValue(document, forKey: document.path) != nil { fault("added again") }
        case .damaged(let document):
            log.append("damaged \(document.error.path ?? "?")")
            if isCurrent { fault("damaged after current") }
        case .modified(let document, let position):
            log.append("modified \(document.path.id) \(Self.version(of: document))")
            check(position)
            if documents.updateValue(document, forKey: document.path) == nil { fault("modified and unknown") }
        case .deleted(let path, let position):
            log.append("deleted \(path.id)")
            check(position)
            if documents.removeValue(forKey: path) == nil { fault("deleted and unknown") }
        case .current(let sequence, let count, let token):
            log.append("current \(count)")
            if count != documents.count { fault("\(documents.count) documents") }
            if isCurrent { fault("current again") }
            if sequence < self.sequence { fault("goes back") }
            isCurrent = true
            self.sequence = sequence
            self.token = token
        case .checkpoint(let sequence, let token):
            log.append("checkpoint")
            if !isCurrent { fault("before the state is complete") }
            if sequence < self.sequence { fault("goes back") }
            self.sequence = sequence
            self.token = token
        case .reset(let reason):
            log.append("reset \(reason)")
            documents.removeAll()
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

    private static func version(of document: EncodedDocument) -> String {
        guard case .integer(let version)? = try? document.decoded().fields["v"] else { return "?" }
        return String(version)
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
