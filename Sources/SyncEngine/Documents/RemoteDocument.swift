package import DocumentModel

/// The number of a cache transaction that saved documents. It takes the place of a read time: it only grows.
package typealias ChangeNumber = UInt64

/// A document as the server had it, without local writes.
package struct RemoteDocument: Hashable, Sendable {
    /// The path.
    package let path: DocumentPath
    /// The state that the server had at the path.
    package var content: Content
    /// The update time of a document; for an absent or unknown one the time at which that was observed.
    package var version: Timestamp
    /// The epoch of the history that the version belongs to; `nil` if the server does not tell.
    package var epoch: String?
    /// True if the content includes acknowledged writes of this client that no stream has delivered yet.
    package var hasCommittedMutations: Bool
    /// The number of the cache transaction that saved this content; the cache sets it.
    package var change: ChangeNumber

    /// The content of a cached path.
    package enum Content: Hashable, Sendable {
        /// A document. The create time is `nil` if only the answer to a write is known.
        case found(MapValue, createTime: Timestamp?)
        /// No document.
        case missing
        /// A document that exists but whose fields are not known.
        case unknown
    }

    /// Creates a document as received from the server.
    package init(
        path: DocumentPath,
        content: Content,
        version: Timestamp,
        epoch: String? = nil,
        hasCommittedMutations: Bool = false,
        change: ChangeNumber = 0
    ) {
        self.path = path
        self.content = content
        self.version = version
        self.epoch = epoch
        self.hasCommittedMutations = hasCommittedMutations
        self.change = change
    }

    /// Creates an existing document.
    package init(_ document: Document, epoch: String? = nil) {
        self.init(
            path: document.path,
            content: .found(document.fields, createTime: document.createTime),
            version: document.updateTime,
            epoch: epoch
        )
    }

    /// True if the document is known to exist with its fields.
    package var isFound: Bool {
        if case .found = content { true } else { false }
    }

    /// The approximate size in a cache.
    package var byteCount: Int {
        guard case .found(let fields, _) = content else { return Document.size(of: MapValue(), at: path) }
        return Document.size(of: fields, at: path)
    }

    /// Returns whether this document, received from the server, replaces the cached one.
    ///
    /// A document never goes back in time. An equal version replaces only the outcome that this client has computed for its own
    /// write.
    func replaces(_ cached: RemoteDocument?, in epochs: EpochHistory) -> Bool {
        guard let cached else { return true }
        if epoch == nil || epoch == cached.epoch, version == cached.version {
            return cached.hasCommittedMutations || cached.content == .unknown
        }
        return isNewer(than: cached, in: epochs)
    }

    /// Returns whether this document is of a later state of the server than the cached one.
    ///
    /// A document of another history has no comparable version: that of the current one is newer than any other.
    func isNewer(than cached: RemoteDocument?, in epochs: EpochHistory) -> Bool {
        guard let cached else { return true }
        if let epoch, epoch != cached.epoch { return epochs.current.map { $0 == epoch } ?? true }
        return version > cached.version
    }
}
