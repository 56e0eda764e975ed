package import DocumentModel

/// The limits on what a database holds. Commits that would exceed one fail; those that make it smaller always pass.
package struct DatabaseQuota: Hashable, Sendable {
    /// The number of documents; `nil` for no limit.
    package var documentCount: Int?
    /// The total size of the documents, as ``CollectionSize/byteCount``; `nil` for no limit.
    package var byteCount: Int?

    /// Creates a quota.
    package init(documentCount: Int? = nil, byteCount: Int? = nil) {
        self.documentCount = documentCount
        self.byteCount = byteCount
    }

    /// True if nothing is limited.
    package var isUnlimited: Bool { documentCount == nil && byteCount == nil }
}

extension DatabaseQuota {
    /// The cause of an error because of a quota.
    package struct Exceeded: Error {}

    /// Verifies that a commit stays within the quota.
    ///
    /// - Parameters:
    ///   - change: The additions of the commit to the database, negative if it removes more.
    ///   - used: The documents before.
    /// - Throws: ``StatusCode/resourceExhausted`` with ``Exceeded`` as its cause.
    package func check(_ change: CollectionSize, to used: CollectionSize) throws(StatusError) {
        if let documentCount, change.documentCount > 0, used.documentCount + change.documentCount > documentCount {
            throw Self.error("\(used.documentCount) of at most \(documentCount) documents", adding: "\(change.documentCount)")
        }
        if let byteCount, change.byteCount > 0, used.byteCount + change.byteCount > byteCount {
            throw Self.error("\(used.byteCount) of at most \(byteCount) bytes of documents", adding: "\(change.byteCount)")
        }
    }

    private static func error(_ use: String, adding amount: String) -> StatusError {
        StatusError(
            .resourceExhausted,
            "The quota of the database is exhausted: it holds \(use), and the commit would add \(amount). Delete documents, or ask an "
                + "admin to raise the quota (databases.setQuota).",
            cause: Exceeded()
        )
    }
}

extension DatabaseQuota {
    /// The additions to a database that a batch of commits may make.
    package struct Allowance {
        private let quota: DatabaseQuota
        private let used: CollectionSize?
        /// The additions of the commits so far.
        package private(set) var change = CollectionSize.zero

        /// Creates the allowance of a batch.
        ///
        /// - Parameter used: The documents before the batch; `nil` while they are unknown, and nothing is refused.
        package init(_ quota: DatabaseQuota, used: CollectionSize?) {
            self.quota = quota
            self.used = used
        }

        /// Adds the change of a commit.
        ///
        /// - Throws: `.resourceExhausted` if it exceeds the quota.
        mutating func add(_ change: CollectionSize) throws(StatusError) {
            if var used {
                used += self.change
                try quota.check(change, to: used)
            }
            self.change += change
        }
    }
}
