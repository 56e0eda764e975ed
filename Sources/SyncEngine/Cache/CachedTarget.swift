package import DocumentModel

/// The number of a use of a target or a document, for evicting the least recently used ones.
package typealias UseNumber = UInt64

/// A target in the cache, with the position up to which its documents are known.
package struct CachedTarget: Hashable, Sendable {
    /// The ID.
    package let id: TargetID
    /// The target.
    package let target: SyncTarget
    /// The resume token; `nil` before the first complete result.
    package var token: String?
    /// The time of the snapshot that the token belongs to.
    package var snapshotTime: Timestamp?
    /// The last change of the cache at which the view of the target was synced: not from cache, and no document in limbo.
    package var syncedChange: ChangeNumber?
    /// The last use.
    package var lastUse: UseNumber

    /// Creates a target from its parts, as a cache stored them.
    package init(
        id: TargetID,
        target: SyncTarget,
        token: String? = nil,
        snapshotTime: Timestamp? = nil,
        syncedChange: ChangeNumber? = nil,
        lastUse: UseNumber
    ) {
        self.id = id
        self.target = target
        self.token = token
        self.snapshotTime = snapshotTime
        self.syncedChange = syncedChange
        self.lastUse = lastUse
    }
}
