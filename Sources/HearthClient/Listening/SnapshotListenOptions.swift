internal import SyncEngine

/// The options of a listener.
public struct SnapshotListenOptions: Hashable, Sendable {
    /// True to report changes of ``SnapshotMetadata`` alone. It has no effect without ``FirestoreSettings/cacheSettings``.
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
public enum ListenSource: UInt, Hashable, Sendable {
    /// The server and, with ``FirestoreSettings/cacheSettings``, the local cache.
    case `default`
    /// The local cache alone. Without one, listeners fail with ``FirestoreErrorCode/unavailable``.
    case cache

    /// Checks that the source exists without a local cache.
    func check() throws(FirestoreError) {
        try (self == .cache ? FirestoreSource.cache : .default).check()
    }
}

extension SnapshotListenOptions {
    /// The equivalent of the sync engine for a database with a local cache.
    var listenOptions: ListenOptions {
        ListenOptions(includesMetadataChanges: includeMetadataChanges, isCacheOnly: source == .cache)
    }
}

extension ListenOptions {
    /// The options of all listeners of a database without a local cache.
    static let withoutCache = ListenOptions(requiresServer: true)
}
