package import DocumentModel

/// The net effect of all queued batches on one document.
package struct Overlay: Hashable, Sendable {
    /// The document.
    package let path: DocumentPath
    /// The effect.
    package let content: Content
    /// The server timestamps among the fields, where these have null.
    package let pendingTimestamps: [FieldPath: PendingTimestamp]
    /// The last batch that affects the document.
    package let batch: BatchNumber
    /// True for a patch that was computed on an existing document and has an update in it, which needs one.
    package let requiresDocument: Bool

    /// The effect of queued writes on the server's document.
    package enum Content: Hashable, Sendable {
        /// The document has these fields, whatever the server has.
        case set(MapValue)
        /// The document does not exist.
        case delete
        /// The fields of the mask have the values in the map, or are absent if it has none.
        case patch(MapValue, mask: [FieldPath])
    }

    /// Creates an overlay from its parts, as a cache stored them.
    package init(
        path: DocumentPath,
        content: Content,
        pendingTimestamps: [FieldPath: PendingTimestamp],
        batch: BatchNumber,
        requiresDocument: Bool
    ) {
        self.path = path
        self.content = content
        self.pendingTimestamps = pendingTimestamps
        self.batch = batch
        self.requiresDocument = requiresDocument
    }

    /// True if the effect depends on the existence of the server's document.
    var isPatch: Bool {
        if case .patch = content { true } else { false }
    }
}
