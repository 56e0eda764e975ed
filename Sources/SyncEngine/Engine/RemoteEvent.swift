package import DocumentModel

/// A consistent step of what the server has told: the boundary between the decoding of streams and answers, and the engine.
///
/// A decoder buffers what a stream brings until the server marks it as a snapshot. Documents from answers to reads enter the cache the
/// same way, as an event without targets.
package struct RemoteEvent: Sendable {
    /// The time of the snapshot, or the read time of an answer to reads; `nil` if the server does not tell.
    package var time: Timestamp?
    /// The epoch of the server's history; `nil` if the server does not tell.
    package var epoch: String?
    /// The resume token of the snapshot, which also holds for targets that the event does not name, if they are up to date by an
    /// earlier event of the stream; `nil` if those named are all that it is about.
    package var token: String?
    /// The changes of targets. Those of targets that are not open are ignored.
    package var targets: [TargetID: TargetChange]
    /// The documents that were received, whether they are new or not.
    package var documents: [RemoteDocument]
    /// The documents in limbo whose read this event answers.
    package var answeredReads: Set<DocumentPath>
    /// The documents that the user may no longer read. They leave the cache.
    package var inaccessible: Set<DocumentPath>

    /// Creates an event.
    package init(
        time: Timestamp? = nil,
        epoch: String? = nil,
        token: String? = nil,
        targets: [TargetID: TargetChange] = [:],
        documents: [RemoteDocument] = [],
        answeredReads: Set<DocumentPath> = [],
        inaccessible: Set<DocumentPath> = []
    ) {
        self.time = time
        self.epoch = epoch
        self.token = token
        self.targets = targets
        self.documents = documents
        self.answeredReads = answeredReads
        self.inaccessible = inaccessible
    }

    /// True if the event tells of documents.
    var hasDocuments: Bool { !documents.isEmpty || !inaccessible.isEmpty }

    /// The change of a target in a snapshot.
    package struct TargetChange: Sendable {
        /// The documents that entered the target.
        package var added: Set<DocumentPath>
        /// The documents of the target that changed.
        package var modified: Set<DocumentPath>
        /// The documents that left the target, whether they still exist or not.
        package var removed: Set<DocumentPath>
        /// True if ``added`` and ``modified`` are all documents of the target, so that all others have left it.
        package var isComplete: Bool
        /// True if the target is up to date at the time of the snapshot; false until it is, and after a reset.
        package var isCurrent: Bool
        /// The resume token of the snapshot; `nil` to keep the last one.
        package var token: String?
        /// True if the server no longer knows the position, so that the last token is worthless.
        package var isReset: Bool

        /// Creates a change.
        package init(
            added: Set<DocumentPath> = [],
            modified: Set<DocumentPath> = [],
            removed: Set<DocumentPath> = [],
            isComplete: Bool = false,
            isCurrent: Bool,
            token: String? = nil,
            isReset: Bool = false
        ) {
            self.added = added
            self.modified = modified
            self.removed = removed
            self.isComplete = isComplete
            self.isCurrent = isCurrent
            self.token = token
            self.isReset = isReset
        }

        /// True if the keys of the target or its documents change.
        var hasChanges: Bool { isComplete || !added.isEmpty || !modified.isEmpty || !removed.isEmpty }
    }
}
