package import DocumentModel

/// The parts of replication that depend on the driver: a capability that only some drivers offer.
///
/// A primary sends the commits of its databases, and snapshots to those who lack earlier ones. A standby applies them.
package protocol HostReplication: Sendable {
    // MARK: On a primary

    /// Returns the files beside the documents that a standby needs as well, such as security rules.
    ///
    /// - Parameter id: The additional database; `nil` for the default one.
    func files(of id: DatabaseID?) async throws(StatusError) -> [ReplicatedFile]

    /// Begins a snapshot of an open store, which is read and written meanwhile.
    func snapshot(of store: any DocumentStore) async throws(StatusError) -> any StoreSnapshot

    /// Returns the position of an additional database that is not open; `nil` if it cannot be told without opening it.
    func closedPosition(of id: DatabaseID) async throws(StatusError) -> StorePosition?

    // MARK: On a standby

    /// Applies commits of the primary, which follow the store's last one without a gap. They are durable and visible when this
    /// returns.
    ///
    /// - Throws: `.dataLoss` if they do not fit; the errors of a commit. Those before the one that fails have been applied.
    func apply(_ commits: [Commit], to store: any DocumentStore) async throws(StatusError)

    /// Records durably that the data folder follows a primary, so that it is not started as one before it is promoted.
    func recordFollowing(_ primary: String) async throws(StatusError)

    /// Returns the number of snapshots of the default database since the standby last had all commits of the primary, also before a
    /// restart.
    func consecutiveSnapshotCount() async throws(StatusError) -> Int

    /// Records durably that the standby has all commits of the primary.
    func recordCaughtUp() async throws(StatusError)

    /// Returns whether a database has a file beside the documents as it is on the primary.
    func has(_ file: ReplicatedFile, of id: DatabaseID?) async -> Bool

    /// Replaces a file beside the documents. Durable when this returns.
    ///
    /// - Parameter store: The open store of the database.
    func replace(_ file: ReplicatedFile, of id: DatabaseID?, in store: any DocumentStore) async throws(StatusError)

    /// Creates the receiver of a snapshot. What an earlier one has left is removed.
    func makeReceiver(of id: DatabaseID?) async throws(StatusError) -> any SnapshotReceiver

    /// Puts a received snapshot in the place of an additional database that is not open.
    ///
    /// - Parameter keepingPrevious: True to set aside what was there, since it may contain what the snapshot does not have; false to
    ///   remove it.
    func install(_ id: DatabaseID, keepingPrevious: Bool) async throws(StatusError)

    /// Marks a received snapshot of the default database, which takes its place when the data folder is opened next.
    func installAtNextStart(keepingPrevious: Bool) async throws(StatusError)

    /// Writes the commits of a store after one to a file for people, in which they are found after the store was replaced.
    ///
    /// - Returns: The name of the file, relative to the data folder, and the number of commits in it. It lacks some if
    ///   `isComplete` is false.
    func setAsideCommits(
        after sequence: SequenceNumber,
        of store: any DocumentStore,
        named name: String
    ) async throws(StatusError) -> SetAsideCommits

    /// Makes the history of a closed database continue as that of the primary, which has branched off from it.
    func beginBranch(_ branch: HistoryBranch, of id: DatabaseID?) async throws(StatusError)

    /// Moves an additional database that is not open out of the way.
    ///
    /// - Returns: The path of its folder, relative to the data folder.
    func setAside(_ id: DatabaseID) async throws(StatusError) -> String

    /// Ends following: at the next start, all databases begin a branch of their history, which accepts writes. Durable when this
    /// returns.
    func promote() async throws(StatusError)

    /// Removes what earlier snapshots have replaced, which can take a long time. Stops soon when the task is cancelled.
    func removeReplaced() async throws(StatusError)
}

/// A file beside the documents.
package struct ReplicatedFile: Hashable, Sendable {
    /// The name in the folder of its database.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The maximum size.
    package static let maximumBytes = 16 << 20
}

/// A file with commits that were set aside.
package struct SetAsideCommits: Sendable {
    /// The name of the file, relative to the data folder.
    package let name: String
    /// The number of commits in it.
    package let count: Int
    /// False if some of the commits were no longer retained.
    package let isComplete: Bool

    package init(name: String, count: Int, isComplete: Bool) {
        self.name = name
        self.count = count
        self.isComplete = isComplete
    }
}

/// The epoch of a history with those from which it has branched off.
package struct HistoryBranch: Hashable, Sendable {
    package let epoch: Epoch
    /// The earlier epochs, oldest first.
    package let lineage: [AncestorEpoch]

    package init(epoch: Epoch, lineage: [AncestorEpoch]) {
        self.epoch = epoch
        self.lineage = lineage
    }
}

/// A snapshot of a store that is being read, as of the last commit that any part of it shows.
package protocol StoreSnapshot: Sendable {
    /// Returns the next parts; `nil` after the last ones.
    func next() async throws(StatusError) -> [SnapshotPart]?

    /// The last commit of the snapshot, once all parts have been returned.
    var lastSequence: SequenceNumber? { get async }
}

/// A part of a file of a snapshot.
package struct SnapshotPart: Hashable, Sendable {
    /// The path of the file in the folder of its database.
    package let path: String
    /// The modification time, in microseconds since 1970.
    package let modifiedTime: Int64
    /// The offset of the bytes in the file.
    package let offset: Int
    package let bytes: [UInt8]

    package init(path: String, modifiedTime: Int64, offset: Int, bytes: [UInt8]) {
        self.path = path
        self.modifiedTime = modifiedTime
        self.offset = offset
        self.bytes = bytes
    }

    /// The maximum number of bytes.
    package static let maximumBytes = 256 << 10
    /// The maximum number of names in a path. No document is deeper.
    package static let maximumDepth = 2 * DocumentLimits.maximumSubcollectionDepth + 4
}

/// The receiver of a snapshot.
package protocol SnapshotReceiver: Sendable {
    /// Writes a part. The parts of a file follow each other.
    ///
    /// - Throws: `.dataLoss` if a part does not fit; `.resourceExhausted` without enough space.
    func write(_ part: SnapshotPart) async throws(StatusError)

    /// Completes the snapshot. It is durable when this returns.
    ///
    /// - Throws: `.dataLoss` if it is not complete.
    func finish() async throws(StatusError)
}
