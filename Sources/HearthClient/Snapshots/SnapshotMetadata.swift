/// The metadata of a snapshot. There is no local cache: every snapshot comes from the server.
public struct SnapshotMetadata: Hashable, Sendable {
    /// True if the snapshot includes writes that have not been committed; always `false`.
    public let hasPendingWrites = false
    /// True if the snapshot comes from the cache; always `false`.
    public let isFromCache = false
}

/// The value for a pending server timestamp. It has no effect: snapshots come from the server and have no pending timestamps.
public enum ServerTimestampBehavior: Hashable, Sendable {
    /// Null.
    case none
    /// An estimate by the local clock.
    case estimate
    /// The previous value.
    case previous
}
