package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of the result of a query.
package enum QueryResponseKeys {
    package static let documents: UTF8Key = "documents"
    package static let readTime: UTF8Key = "readTime"
    /// The epoch of the history that the times belong to.
    package static let epoch: UTF8Key = "epoch"
}

/// The result of a query.
package struct QueryResponse: Sendable {
    /// The documents, in the order of the query.
    package var documents: [EncodedDocument]
    /// The point in time at which the query was run.
    package var readTime: Timestamp
    /// Errors for documents that could be in the result but cannot be read.
    package var damaged: [StatusError]
    /// The epoch of the history that the times belong to; `nil` from older servers.
    package var epoch: String?

    /// Creates a result.
    package init(documents: [EncodedDocument], readTime: Timestamp, damaged: [StatusError], epoch: String? = nil) {
        self.documents = documents
        self.readTime = readTime
        self.damaged = damaged
        self.epoch = epoch
    }

    /// Writes `{"documents": […], "readTime": …, "epoch"?: …, "damaged"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(QueryResponseKeys.documents, of: documents) { $0.write(to: &$1) }
        writer.member(QueryResponseKeys.readTime, readTime.rfc3339)
        if let epoch { writer.member(QueryResponseKeys.epoch, epoch) }
        writer.damaged(damaged)
        writer.endObject()
    }

    /// Parses a result.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        documents = try json.array(QueryResponseKeys.documents).map { json throws(StatusError) in
            try EncodedDocument(json: json)
        }
        readTime = try Timestamp(rfc3339: json.string(QueryResponseKeys.readTime))
        damaged = json.damaged
        epoch = json[QueryResponseKeys.epoch]?.string
    }
}
