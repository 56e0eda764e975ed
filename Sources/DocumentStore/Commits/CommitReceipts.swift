package import DocumentModel

/// The receipts of all clients that identify their commits, for the one place that decides on commits.
///
/// Clients are forgotten when they have not committed for a while: sooner if they have made a single commit, as a command does.
/// The number of clients and their memory are bounded, too; those without a commit are forgotten first, then those that have committed
/// least recently.
package struct CommitReceipts: Sendable {
    /// The receipts by client.
    package private(set) var clients: [CommitClientID: ClientReceipts] = [:]
    /// The number of changes, by which a copy is known to be up to date.
    package private(set) var changeCount = 0
    private var byteCount = 0
    private let maximumClientCount: Int
    private let maximumBytes: Int

    /// The time for which a client with several commits is remembered after the last one, in days.
    package static let retentionDays = 90
    /// The time for which a client with a single commit is remembered, in days.
    package static let singleCommitRetentionDays = 1
    /// The default maximum number of clients of a database.
    package static let defaultMaximumClientCount = 100_000

    /// The default maximum memory of the receipts of a database.
    package static let defaultMaximumBytes = 64 << 20

    /// Creates an empty table.
    package init(maximumClientCount: Int = defaultMaximumClientCount, maximumBytes: Int = defaultMaximumBytes) {
        self.maximumClientCount = maximumClientCount
        self.maximumBytes = maximumBytes
    }

    /// True if no client is known.
    package var isEmpty: Bool { clients.isEmpty }

    /// The receipts of a client; `nil` if it is not known.
    package subscript(client: CommitClientID) -> ClientReceipts? { clients[client] }

    /// Replaces the receipts of a client.
    package mutating func update(_ client: CommitClientID, _ receipts: ClientReceipts) {
        byteCount += receipts.byteCount - (clients.updateValue(receipts, forKey: client)?.byteCount ?? 0)
        changeCount += 1
        if clients.count > maximumClientCount || byteCount > maximumBytes { removeLeastRecent() }
    }

    /// Records a commit of the log; has no effect if it has no receipt.
    package mutating func record(_ commit: Commit) {
        guard let client = commit.receipt?.identity.client else { return }
        var receipts = clients[client] ?? ClientReceipts()
        receipts.record(commit)
        update(client, receipts)
    }

    /// Forgets clients that have not committed for long.
    package mutating func removeExpired(at time: Timestamp) {
        let day: Int64 = 24 * 3_600 * 1_000_000
        let isExpired = { (receipts: ClientReceipts) in
            let days = receipts.last > 1 ? Self.retentionDays : Self.singleCommitRetentionDays
            return time.microseconds - receipts.lastUse.microseconds > Int64(days) * day
        }
        for (client, receipts) in clients where isExpired(receipts) { remove(client) }
    }

    /// Forgets a tenth of the clients or of their memory, so that not every commit of a new one has to search for the least recent.
    private mutating func removeLeastRecent() {
        let order = clients.sorted { first, second in
            let hasCommitted = (first.value.lastCommitted > 0, second.value.lastCommitted > 0)
            return hasCommitted.0 == hasCommitted.1 ? first.value.lastUse < second.value.lastUse : hasCommitted.1
        }
        for (client, _) in order {
            guard clients.count > maximumClientCount * 9 / 10 || byteCount > maximumBytes / 10 * 9 else { return }
            remove(client)
        }
    }

    private mutating func remove(_ client: CommitClientID) {
        byteCount -= clients.removeValue(forKey: client)?.byteCount ?? 0
        changeCount += 1
    }
}
