package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The parameters of a commit.
package enum CommitKeys {
    package static let writes: UTF8Key = "writes"
    package static let transaction: UTF8Key = "transaction"
}

/// The members of the result of a commit.
package enum CommitResponseKeys {
    package static let commitTime: UTF8Key = "commitTime"
    package static let writeResults: UTF8Key = "writeResults"
}

/// The result of a commit.
package struct CommitResponse: Hashable, Sendable {
    /// The time at which the writes were applied.
    package let commitTime: Timestamp
    /// The results of the writes, in order.
    package let writeResults: [WriteResult]

    /// Creates a result.
    package init(commitTime: Timestamp, writeResults: [WriteResult]) {
        self.commitTime = commitTime
        self.writeResults = writeResults
    }

    /// Writes `{"commitTime": …, "writeResults": […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(CommitResponseKeys.commitTime, commitTime.rfc3339)
        writer.array(CommitResponseKeys.writeResults, of: writeResults) { $0.write(to: &$1) }
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
    }
}
