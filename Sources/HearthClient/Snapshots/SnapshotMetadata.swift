/// What is known of a snapshot beside its data. There is no cache on this side, so that every snapshot is the server's.
public struct SnapshotMetadata: Hashable, Sendable {
    /// Whether writes are in the snapshot that the server has not answered; never.
    public let hasPendingWrites = false
    /// Whether the snapshot is from a cache; never.
    public let isFromCache = false
}

/// What stands for a server's time that is not known yet. Snapshots are the server's, so that it is always known.
public enum ServerTimestampBehavior: Hashable, Sendable {
    /// Null.
    case none
    /// This machine's time.
    case estimate
    /// What was there before.
    case previous
}
