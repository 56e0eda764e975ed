/// The limits on the lifetime, number and reads of transactions.
package struct TransactionLimits: Sendable {
    /// The time after which an unused transaction expires.
    package var idleTime: Duration
    /// The time after which every transaction expires.
    package var lifetime: Duration
    /// The maximum number of open transactions.
    package var maximumCount: Int
    /// The maximum number of open transactions of one end user, or of all who are not signed in.
    package var maximumCountPerEndUser: Int
    /// The maximum number of documents and collections that one transaction may read.
    package var maximumReads: Int
    /// The maximum number of documents and collections that all open transactions together may read; each takes about 200 bytes
    /// of memory.
    package var maximumTotalReads: Int

    package init(
        idleTime: Duration = .seconds(60),
        lifetime: Duration = .seconds(270),
        maximumCount: Int = 2_000,
        maximumCountPerEndUser: Int = 100,
        maximumReads: Int = 10_000,
        maximumTotalReads: Int = 400_000
    ) {
        self.idleTime = idleTime
        self.lifetime = lifetime
        self.maximumCount = maximumCount
        self.maximumCountPerEndUser = maximumCountPerEndUser
        self.maximumReads = maximumReads
        self.maximumTotalReads = maximumTotalReads
    }
}

extension TransactionLimits {
    /// The limits for an additional database, which allow a small fraction of the memory that those for the default one do.
    static let additionalDatabase = TransactionLimits(maximumCount: 200, maximumCountPerEndUser: 20, maximumTotalReads: 20_000)
}
