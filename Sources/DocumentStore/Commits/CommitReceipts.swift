package import DocumentModel

/// The receipts of all clients that identify their commits, for the one place that decides on commits.
///
/// Clients are forgotten when they have not committed for a while: sooner if they are short-lived, as a command is. The number of clients
/// and their memory are bounded, too; those without a commit are forgotten first, then those that would be forgotten soonest.
package struct CommitReceipts: Sendable {
    /// The receipts by client.
    package private(set) var clients: [CommitClientID: ClientReceipts] = [:]
    /// The number of changes, by which a copy is known to be up to date.
    package private(set) var changeCount = 0
    private var byteCount = 0
    private let maximumClientCount: Int
    private let maximumBytes: Int

    /// The time for which a client is remembered after its last commit, in days.
    package static let retentionDays = 90
    /// The time for which a short-lived client is remembered, in days.
    package static let shortLivedRetentionDays = 1
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
        if clients.count > maximumClientCount || byteCount > maximumBytes { removeSoonestExpiring(except: client) }
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
        for (client, receipts) in clients where Self.end(of: client, receipts) < time.microseconds { remove(client) }
    }

    /// Returns the time in microseconds after which a client is forgotten.
    private static func end(of client: CommitClientID, _ receipts: ClientReceipts) -> Int64 {
        let day: Int64 = 24 * 3_600 * 1_000_000
        let days = client.isShortLived ? shortLivedRetentionDays : retentionDays
        return receipts.lastUse.microseconds + Int64(days) * day
    }

    /// Forgets a tenth of the clients or of their memory, so that not every commit of a new one has to search for the first to forget.
    private mutating func removeSoonestExpiring(except latest: CommitClientID) {
        let order = clients.map { (client: $0, hasCommitted: $1.lastCommitted > 0, end: Self.end(of: $0, $1)) }.sorted {
            first,
            second in
            first.hasCommitted == second.hasCommitted ? first.end < second.end : second.hasCommitted
        }
        for (client, _, _) in order where client != latest {
            guard clients.count > maximumClientCount * 9 / 10 || byteCount > maximumBytes / 10 * 9 else { return }
            remove(client)
        }
    }

    private mutating func remove(_ client: CommitClientID) {
        byteCount -= clients.removeValue(forKey: client)?.byteCount ?? 0
        changeCount += 1
    }
}
