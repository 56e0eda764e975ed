import DocumentModel
import DocumentStore

/// An open transaction: its read snapshot and its recorded reads.
struct OpenTransaction: Sendable {
    enum Mode: Sendable {
        /// Reads at a point in time.
        case readOnly(at: Timestamp)
        /// Reads at the time of its first read, and commits writes if no recorded read has changed.
        case readWrite
    }

    let mode: Mode
    /// The caller that began the transaction; no other caller may use it.
    let owner: Caller.Identity
    let startTime: ContinuousClock.Instant
    private(set) var lastUse: ContinuousClock.Instant
    /// The snapshot of all reads of a read-write transaction, pinned by its first read.
    private(set) var snapshot: ReadSnapshot?
    /// The time of the first read. Commits by others from then on may conflict.
    private(set) var firstReadTime: ContinuousClock.Instant?
    /// The reads to validate at commit.
    private(set) var reads = ReadSet()

    init(_ mode: Mode, of owner: Caller.Identity, at now: ContinuousClock.Instant) {
        self.mode = mode
        self.owner = owner
        startTime = now
        lastUse = now
    }

    func isExpired(at now: ContinuousClock.Instant, _ limits: TransactionLimits) -> Bool {
        now - lastUse >= limits.idleTime || now - startTime >= limits.lifetime
    }

    mutating func touch(at now: ContinuousClock.Instant) {
        lastUse = now
    }

    /// Pins the snapshot unless a concurrent read has done so, and returns the pinned one.
    mutating func pin(_ snapshot: ReadSnapshot) -> ReadSnapshot {
        if let pinned = self.snapshot { return pinned }
        self.snapshot = snapshot
        reads.restartCount = snapshot.restartCount
        firstReadTime = lastUse
        return snapshot
    }

    mutating func recordRead(_ read: (inout ReadSet) -> Void) {
        read(&reads)
    }
}

/// The state of the database that the reads of a transaction show. It includes every commit that any caller could have observed
/// when the snapshot was taken.
struct ReadSnapshot: Hashable, Sendable {
    /// The point in time to read at.
    let time: Timestamp
    /// The sequence number of the last included commit.
    let sequence: SequenceNumber
    /// The number of times that the log was found to be another one by then.
    let restartCount: Int

    /// Takes a snapshot of the latest state.
    init(of store: any DocumentStore) async throws(StatusError) {
        let position = try await store.safePosition()
        time = position.lastCommitTime ?? .minimum
        sequence = position.lastSequence
        restartCount = position.restartCount
    }
}
