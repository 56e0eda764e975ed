package import DocumentModel

/// An existing document as the client shows it: the server's with the queued writes laid over it.
///
/// Copying one costs a reference, since views and their snapshots hold many.
package struct LocalDocument: Sendable {
    private let storage: Storage

    private final class Storage: Sendable {
        let path: DocumentPath
        let fields: MapValue
        let pendingTimestamps: [FieldPath: PendingTimestamp]
        let createTime: Timestamp?
        let version: Timestamp?
        let hasLocalMutations: Bool
        let hasCommittedMutations: Bool

        init(
            path: DocumentPath,
            fields: MapValue,
            pendingTimestamps: [FieldPath: PendingTimestamp],
            createTime: Timestamp?,
            version: Timestamp?,
            hasLocalMutations: Bool,
            hasCommittedMutations: Bool
        ) {
            self.path = path
            self.fields = fields
            self.pendingTimestamps = pendingTimestamps
            self.createTime = createTime
            self.version = version
            self.hasLocalMutations = hasLocalMutations
            self.hasCommittedMutations = hasCommittedMutations
        }
    }

    init(
        path: DocumentPath,
        fields: MapValue,
        pendingTimestamps: [FieldPath: PendingTimestamp],
        createTime: Timestamp?,
        version: Timestamp?,
        hasLocalMutations: Bool,
        hasCommittedMutations: Bool
    ) {
        storage = Storage(
            path: path,
            fields: fields,
            pendingTimestamps: pendingTimestamps,
            createTime: createTime,
            version: version,
            hasLocalMutations: hasLocalMutations,
            hasCommittedMutations: hasCommittedMutations
        )
    }

    /// The path.
    package var path: DocumentPath { storage.path }
    /// The fields, with null for pending timestamps.
    package var fields: MapValue { storage.fields }
    /// The server timestamps that the server has not set yet.
    package var pendingTimestamps: [FieldPath: PendingTimestamp] { storage.pendingTimestamps }
    /// The create time; `nil` while the server has not told it.
    package var createTime: Timestamp? { storage.createTime }
    /// The version of the cached document below the local writes; `nil` if none is cached.
    package var version: Timestamp? { storage.version }
    /// True if queued writes affect the document.
    package var hasLocalMutations: Bool { storage.hasLocalMutations }
    /// True if acknowledged writes of this client affect the document that no stream has delivered yet.
    package var hasCommittedMutations: Bool { storage.hasCommittedMutations }

    /// Returns the fields for a reader.
    package func fields(_ resolution: PendingTimestamp.Resolution) -> MapValue {
        pendingTimestamps.resolved(resolution, in: fields)
    }

    /// Returns whether both are the same version of the document. Equal ones may not be.
    package func isIdentical(to other: LocalDocument) -> Bool {
        storage === other.storage
    }

    /// Returns whether both show the same data, whatever their versions and mutations.
    func hasSameData(as other: LocalDocument) -> Bool {
        storage === other.storage || (fields == other.fields && pendingTimestamps == other.pendingTimestamps)
    }
}

extension LocalDocument: Hashable {
    /// Returns whether both are equal in all properties.
    package static func == (left: LocalDocument, right: LocalDocument) -> Bool {
        left.path == right.path && left.hasSameData(as: right)
            && left.createTime == right.createTime && left.version == right.version
            && left.hasLocalMutations == right.hasLocalMutations
            && left.hasCommittedMutations == right.hasCommittedMutations
    }

    /// Hashes the path and the version.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(version)
    }
}
