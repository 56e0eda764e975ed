/// The options of a listener.
public struct SnapshotListenOptions: Hashable, Sendable {
    /// True to report changes that affect only metadata. It has no effect, since metadata never changes.
    public let includeMetadataChanges: Bool
    /// The source of the snapshots.
    public let source: ListenSource

    /// Creates the default options.
    public init() {
        self.init(includeMetadataChanges: false, source: .default)
    }

    private init(includeMetadataChanges: Bool, source: ListenSource) {
        self.includeMetadataChanges = includeMetadataChanges
        self.source = source
    }

    /// Returns the options with `includeMetadataChanges` changed.
    public func withIncludeMetadataChanges(_ includeMetadataChanges: Bool) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }

    /// Returns the options with `source` changed.
    public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }
}

/// The source of the snapshots of a listener.
public enum ListenSource: Hashable, Sendable {
    /// The server.
    case `default`
    /// The local cache. There is none: listeners fail with ``FirestoreErrorCode/unavailable``.
    case cache

    func check() throws(FirestoreError) {
        try (self == .cache ? FirestoreSource.cache : .default).check()
    }
}
