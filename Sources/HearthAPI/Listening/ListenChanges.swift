import DocumentModel

/// The changes of one commit, or of several that count as one, to the targets of a stream: one message for each document.
struct ListenChanges {
    private struct Key: Hashable {
        let path: DocumentPath
        /// The target with a projection of its own; `nil` for targets with whole documents.
        let target: Int32?
    }

    /// The content of a document after a change.
    enum Content {
        case document(EncodedDocument)
        /// The document does not exist.
        case missing
        /// The document has left a target, and cannot be read.
        case unknown

        init(_ document: EncodedDocument?) {
            self = document.map { .document($0) } ?? .missing
        }
    }

    private struct Entry {
        var content = Content.unknown
        var targets: [Int32] = []
        var removedTargets: [Int32] = []
    }

    private var keys: [Key] = []
    private var entries: [Key: Entry] = [:]

    var isEmpty: Bool { keys.isEmpty }

    /// Adds a change to a document in a target.
    mutating func add(_ change: OutgoingWatchFrame.Change, _ content: Content, to target: ListenTarget) {
        let key = Key(path: change.path, target: target.hasProjection ? target.id : nil)
        if entries[key] == nil { keys.append(key) }
        switch change.kind {
        case .added, .modified: entries[key, default: Entry()].targets.append(target.id)
        case .removed, .deleted: entries[key, default: Entry()].removedTargets.append(target.id)
        }
        if case .unknown = content { return }
        entries[key]?.content = content
    }

    /// Returns the messages, in the order in which the documents were added.
    ///
    /// - Parameter withholdsOthers: True if the client may see only documents that are in a target.
    func messages(at time: Timestamp, withholdsOthers: Bool) -> [ListenMessage] {
        keys.compactMap { key in
            guard let entry = entries[key] else { return nil }
            switch entry.content {
            case .missing:
                return .deleted(key.path, removedTargets: entry.removedTargets, readTime: time)
            case .document(let document) where !entry.targets.isEmpty || !withholdsOthers:
                return .changed(document, targets: entry.targets, removedTargets: entry.removedTargets)
            case .document, .unknown:
                return .withdrawn(key.path, removedTargets: entry.removedTargets, readTime: time)
            }
        }
    }
}
