package import DocumentModel

/// A target of a ``ListenSession``: what a listener listens to.
package struct ListenTarget: Sendable {
    /// The documents of a target.
    package enum Source: Sendable {
        case query(PreparedWatchQuery)
        /// Documents by path, whether or not they exist.
        case documents([DocumentPath])
    }

    /// The state that the client already has.
    package enum Resume: Sendable {
        /// The state after a message with this token; `nil` for a token that is not one of this server's.
        case token(ResumeToken?)
        /// The state as of a time.
        case time(Timestamp)
    }

    /// The ID, chosen by the client.
    package var id: Int32
    package let source: Source
    /// The state to resume from; `nil` for a new listener.
    package var resume: Resume?
    /// The number of documents that a client with a state to resume from has.
    package var expectedCount: Int?
    /// True if the target is reset where the number of documents is another one; otherwise the client is told the right one.
    package var isResetOnMismatch: Bool
    /// True if the target is removed once its state has been sent.
    package var isRemovedWhenCurrent: Bool
    /// The size of the request for the target, which the stream retains.
    package let byteCount: Int

    package init(
        id: Int32,
        _ source: Source,
        resume: Resume? = nil,
        expectedCount: Int? = nil,
        isResetOnMismatch: Bool = false,
        isRemovedWhenCurrent: Bool = false,
        byteCount: Int = 0
    ) {
        self.id = id
        self.source = source
        self.resume = resume
        self.expectedCount = expectedCount
        self.isResetOnMismatch = isResetOnMismatch
        self.isRemovedWhenCurrent = isRemovedWhenCurrent
        self.byteCount = byteCount
    }
}

extension ListenTarget {
    /// Requires that a caller has access to all documents of the target.
    func requireAccess(for caller: Caller) throws(StatusError) {
        switch source {
        case .query(let watched): try caller.requireAccess(to: watched.query)
        case .documents(let paths): for path in paths { try caller.requireAccess(to: path) }
        }
    }

    /// The target, as rules see it.
    var forRules: TargetAccess.Target {
        switch source {
        case .query(let watched): .query(watched.query)
        case .documents(let paths): .documents(paths)
        }
    }

    /// True if the documents of the target have only some of their fields, so that their messages are not shared with other
    /// targets.
    var hasProjection: Bool {
        if case .query(let watched) = source { watched.hasProjection } else { false }
    }

    /// The maximum number of documents of targets that are compared.
    private static let maximumComparedDocuments = 64

    /// Returns whether the messages of a commit to the target are those to another one. Targets with many documents are not compared:
    /// a commit is applied to them faster.
    func hasSameMessages(as other: ListenTarget) -> Bool {
        guard id == other.id else { return false }
        return switch (source, other.source) {
        case (.query(let watched), .query(let otherWatched)): watched === otherWatched || watched == otherWatched
        case (.documents(let paths), .documents(let otherPaths)):
            paths.count <= Self.maximumComparedDocuments && paths == otherPaths
        case (.query, .documents), (.documents, .query): false
        }
    }

    /// Returns a document with the fields that the target has.
    func projected(_ document: EncodedDocument) throws(StatusError) -> EncodedDocument {
        if case .query(let watched) = source { try watched.projected(document) } else { document }
    }
}
