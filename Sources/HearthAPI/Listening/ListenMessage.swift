package import DocumentModel

/// A message of a ``ListenSession``, before its encoding: those of Firestore's `ListenResponse`.
package enum ListenMessage: Sendable {
    /// A target has been added; its state follows.
    case added(target: Int32)
    /// A target has been removed, by the client or because of an error.
    case removed(target: Int32, cause: StatusError?)
    /// Everything that has been sent for a target is void; its state follows.
    case reset(target: Int32)
    /// The state of a target is complete as of a position.
    case current(target: Int32, ListenPosition)
    /// A document is in some targets and has left others, with this content.
    case changed(EncodedDocument, targets: [Int32], removedTargets: [Int32])
    /// A document does not exist.
    case deleted(DocumentPath, removedTargets: [Int32], readTime: Timestamp)
    /// A document has left targets. Its content is not for an end user to see, or cannot be read.
    case withdrawn(DocumentPath, removedTargets: [Int32], readTime: Timestamp)
    /// A document of a target cannot be read, and is omitted from its state.
    case damaged(target: Int32, StatusError)
    /// The number of documents of a resumed target, and which they are, unless there are too many. The client removes others.
    case filter(target: Int32, count: Int, [DocumentPath]?)
    /// All current targets show the same commit. `isOfAllTargets` is true if no other target waits for its state.
    case snapshot(ListenPosition, isOfAllTargets: Bool)
}

extension ListenMessage {
    /// True if the message tells that a target has ended without an error.
    var endsTarget: Bool {
        if case .removed(_, cause: nil) = self { true } else { false }
    }

    /// Returns the message without what it tells of targets other than the given ones; `nil` if nothing is left.
    func withoutTargets(outside ids: some Collection<Int32>) -> ListenMessage? {
        switch self {
        case .added, .removed, .snapshot:
            return self
        case .reset(let id), .current(let id, _), .damaged(let id, _), .filter(let id, _, _):
            return ids.contains(id) ? self : nil
        case .changed(let document, let targets, let removedTargets):
            let visible = targets.filter(ids.contains)
            let removed = removedTargets.filter(ids.contains)
            guard visible.isEmpty else { return .changed(document, targets: visible, removedTargets: removed) }
            return removed.isEmpty
                ? nil : .withdrawn(document.path, removedTargets: removed, readTime: document.updateTime)
        case .deleted(let path, let removedTargets, let readTime):
            let removed = removedTargets.filter(ids.contains)
            return removed.isEmpty ? nil : .deleted(path, removedTargets: removed, readTime: readTime)
        case .withdrawn(let path, let removedTargets, let readTime):
            let removed = removedTargets.filter(ids.contains)
            return removed.isEmpty ? nil : .withdrawn(path, removedTargets: removed, readTime: readTime)
        }
    }
}

/// A position of a ``ListenSession``.
package struct ListenPosition: Hashable, Sendable {
    /// The time of the state: not before the update time of anything that has been sent. Never decreases on a stream.
    package let readTime: Timestamp
    /// The token to resume the targets after that are current.
    package let token: ResumeToken
}
