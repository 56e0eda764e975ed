/// How a listener is added.
public struct SnapshotListenOptions: Hashable, Sendable {
    /// Whether changes of metadata alone are told. There are none, so that it changes nothing.
    public let includeMetadataChanges: Bool
    /// Where the snapshots come from.
    public let source: ListenSource

    /// Makes the usual options.
    public init() {
        self.init(includeMetadataChanges: false, source: .default)
    }

    private init(includeMetadataChanges: Bool, source: ListenSource) {
        self.includeMetadataChanges = includeMetadataChanges
        self.source = source
    }

    /// The same options, with changes of metadata told or not.
    public func withIncludeMetadataChanges(_ includeMetadataChanges: Bool) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }

    /// The same options, with another source.
    public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }
}

/// Where a listener's snapshots come from.
public enum ListenSource: Hashable, Sendable {
    /// From the server.
    case `default`
    /// From a cache on this machine. There is none, so that such listeners end with ``FirestoreErrorCode/unavailable``.
    case cache
}
