internal import SyncEngine

/// The metadata of a snapshot.
///
/// Without ``FirestoreSettings/cacheSettings`` every first snapshot comes from the server, and there are no pending writes.
public struct SnapshotMetadata: Hashable, Sendable {
    /// True if the snapshot includes writes that the server has not committed yet, or that its streams have not delivered yet.
    public let hasPendingWrites: Bool
    /// True if the snapshot may not be that of the server: it comes from the local cache, and the server has not confirmed it yet.
    public let isFromCache: Bool

    init(hasPendingWrites: Bool = false, isFromCache: Bool = false) {
        self.hasPendingWrites = hasPendingWrites
        self.isFromCache = isFromCache
    }
}

/// The value for a server timestamp that the server has not set yet.
public enum ServerTimestampBehavior: Int, Hashable, Sendable {
    /// Null.
    case none
    /// The local time of the write.
    case estimate
    /// The previous value; null if there is none.
    case previous

    /// The equivalent of the sync engine.
    var resolution: PendingTimestamp.Resolution {
        switch self {
        case .none: .none
        case .estimate: .estimate
        case .previous: .previous
        }
    }
}
