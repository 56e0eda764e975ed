package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of the result of a query.
package enum QueryResponseKeys {
    package static let documents: UTF8Key = "documents"
    package static let readTime: UTF8Key = "readTime"
}

/// The result of a query.
package struct QueryResponse: Sendable {
    /// The documents, in the order of the query.
    package var documents: [EncodedDocument]
    /// The point in time at which the query was run.
    package var readTime: Timestamp
    /// Errors for documents that could be in the result but cannot be read.
    package var damaged: [StatusError]

    /// Creates a result.
    package init(documents: [EncodedDocument], readTime: Timestamp, damaged: [StatusError]) {
        self.documents = documents
        self.readTime = readTime
        self.damaged = damaged
    }

    /// Writes `{"documents": […], "readTime": …, "damaged"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(QueryResponseKeys.documents, of: documents) { $0.write(to: &$1) }
        writer.member(QueryResponseKeys.readTime, readTime.rfc3339)
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
    }
}
