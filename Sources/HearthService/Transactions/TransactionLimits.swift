/// How long transactions stay open, and how much they may read.
package struct TransactionLimits: Sendable {
    /// After how long a transaction that is not used expires.
    package var idleTime: Duration
    /// After how long every transaction expires.
    package var lifetime: Duration
    /// The transactions that may be open at the same time.
    package var maximumCount: Int
    /// The documents and collections that one transaction may read.
    package var maximumReads: Int
    /// The documents and collections that all open transactions together may have read, about 200 bytes each.
    package var maximumTotalReads: Int

    package init(
        idleTime: Duration = .seconds(60),
        lifetime: Duration = .seconds(270),
        maximumCount: Int = 2_000,
        maximumReads: Int = 10_000,
        maximumTotalReads: Int = 400_000
    ) {
        self.idleTime = idleTime
        self.lifetime = lifetime
        self.maximumCount = maximumCount
        self.maximumReads = maximumReads
        self.maximumTotalReads = maximumTotalReads
    }
}

extension TransactionLimits {
    /// The limits in one of many databases, whose transactions get a small part of the memory of the default one's.
    static let ofOneOfMany = TransactionLimits(maximumCount: 200, maximumTotalReads: 20_000)
}
