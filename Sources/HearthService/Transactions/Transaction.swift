import DocumentModel
import DocumentStore

/// An open transaction: what its reads show, and what they have shown.
struct Transaction: Sendable {
    /// What it may do.
    enum Mode: Sendable {
        /// Read as of a time.
        case readOnly(at: Timestamp)
        /// Read as of its first read, and commit writes if all of it still holds.
        case readWrite
    }

    let mode: Mode
    /// Who has begun it, and may go on with it.
    let owner: Caller.Identity
    let begun: ContinuousClock.Instant
    private(set) var lastUse: ContinuousClock.Instant
    /// What the first read of one that may write has chosen for all of them.
    private(set) var snapshot: Snapshot?
    /// When that was: what others commit from then on may conflict.
    private(set) var firstRead: ContinuousClock.Instant?
    /// What has to hold when it commits.
    private(set) var reads = ReadSet()

    init(_ mode: Mode, of owner: Caller.Identity, at now: ContinuousClock.Instant) {
        self.mode = mode
        self.owner = owner
        begun = now
        lastUse = now
    }

    func isExpired(at now: ContinuousClock.Instant, _ limits: TransactionLimits) -> Bool {
        now - lastUse >= limits.idleTime || now - begun >= limits.lifetime
    }

    mutating func use(at now: ContinuousClock.Instant) {
        lastUse = now
    }

    /// Takes the snapshot for all reads, unless another read was the first; returns the one that counts.
    mutating func pin(_ snapshot: Snapshot) -> Snapshot {
        if let pinned = self.snapshot { return pinned }
        self.snapshot = snapshot
        firstRead = lastUse
        return snapshot
    }

    mutating func note(_ read: (inout ReadSet) -> Void) {
        read(&reads)
    }
}
