package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The parameters of a commit.
package enum CommitKeys {
    package static let writes: UTF8Key = "writes"
    package static let transaction: UTF8Key = "transaction"
    package static let identity: UTF8Key = "identity"
}

/// The members of the result of a commit.
package enum CommitResponseKeys {
    package static let commitTime: UTF8Key = "commitTime"
    package static let writeResults: UTF8Key = "writeResults"
    /// The sequence number of the commit.
    package static let sequence: UTF8Key = "seq"
    /// True if the commit had been made before.
    package static let replayed: UTF8Key = "replayed"
    /// True if the results were too large to be kept.
    package static let resultsDropped: UTF8Key = "resultsDropped"
    /// The epoch of the history that the times belong to.
    package static let epoch: UTF8Key = "epoch"
}

/// The result of a commit.
package struct CommitResponse: Hashable, Sendable {
    /// The time at which the writes were applied.
    package let commitTime: Timestamp
    /// The results of the writes, in order.
    package let writeResults: [WriteResult]
    /// The sequence number of the commit; `nil` if nothing has changed.
    package let sequence: UInt64?
    /// True if the commit had been made before, and was not applied again.
    package let isReplayed: Bool
    /// True if ``writeResults`` is empty because the results were too large to be kept.
    package let hasDroppedResults: Bool
    /// The epoch of the history that the times belong to; `nil` for a commit without an identity.
    package let epoch: String?

    /// Creates a result.
    package init(
        commitTime: Timestamp,
        writeResults: [WriteResult],
        sequence: UInt64?,
        isReplayed: Bool = false,
        hasDroppedResults: Bool = false,
        epoch: String? = nil
    ) {
        self.commitTime = commitTime
        self.writeResults = writeResults
        self.sequence = sequence
        self.isReplayed = isReplayed
        self.hasDroppedResults = hasDroppedResults
        self.epoch = epoch
    }

    /// Writes `{"commitTime": …, "writeResults": […], "seq"?: …, "epoch"?: …, "replayed"?: true, "resultsDropped"?: true}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(CommitResponseKeys.commitTime, commitTime.rfc3339)
        writer.array(CommitResponseKeys.writeResults, of: writeResults) { $0.write(to: &$1) }
        if let sequence {
            writer.key(CommitResponseKeys.sequence)
            writer.integer(Int64(clamping: sequence))
        }
        if let epoch { writer.member(CommitResponseKeys.epoch, epoch) }
        if isReplayed { writer.member(CommitResponseKeys.replayed, true) }
        if hasDroppedResults { writer.member(CommitResponseKeys.resultsDropped, true) }
        writer.endObject()
    }

    /// Parses a result.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        commitTime = try Timestamp(rfc3339: json.string(CommitResponseKeys.commitTime))
        writeResults = try json.array(CommitResponseKeys.writeResults).map { json throws(StatusError) in
            try WriteResult(json: json)
        }
        sequence = json.integer(CommitResponseKeys.sequence)
        isReplayed = json[CommitResponseKeys.replayed]?.boolean ?? false
        hasDroppedResults = json[CommitResponseKeys.resultsDropped]?.boolean ?? false
        epoch = json[CommitResponseKeys.epoch]?.string
    }
}
