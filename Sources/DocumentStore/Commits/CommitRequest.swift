package import DocumentModel

/// A commit to be evaluated: its writes, and what must hold for them to be applied.
package struct CommitRequest: Sendable {
    /// A document that existed before the commit, though no version of it is known.
    package struct UnknownVersion: Sendable {
        /// The time of its creation; `nil` if that is not known either.
        package let createTime: Timestamp?

        /// Creates a document of an unknown version.
        package init(createTime: Timestamp?) {
            self.createTime = createTime
        }
    }

    /// The times that a document of another database keeps.
    package struct Times: Sendable {
        package let createTime: Timestamp
        package let updateTime: Timestamp

        /// Creates times.
        package init(createTime: Timestamp, updateTime: Timestamp) {
            self.createTime = createTime
            self.updateTime = updateTime
        }
    }

    /// The writes.
    package let writes: [Write]
    /// The reads to validate.
    package let reads: ReadSet
    /// The author; `nil` for the server itself.
    package let author: CommitAuthor?
    /// The identity; `nil` for a commit that is applied each time it is sent.
    package let identity: CommitIdentity?
    /// The written documents that exist, though no version of them is known.
    package let unknownVersions: [DocumentPath: UnknownVersion]
    /// The times of written documents that are imported with them, instead of that of the commit.
    package let times: [DocumentPath: Times]

    /// Creates a request.
    package init(
        writes: [Write],
        reads: ReadSet,
        author: CommitAuthor?,
        identity: CommitIdentity?,
        unknownVersions: [DocumentPath: UnknownVersion] = [:],
        times: [DocumentPath: Times] = [:]
    ) {
        self.writes = writes
        self.reads = reads
        self.author = author
        self.identity = identity
        self.unknownVersions = unknownVersions
        self.times = times
    }
}
