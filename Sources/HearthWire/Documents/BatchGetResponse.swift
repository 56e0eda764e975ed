package import DocumentModel
package import StrictJSON

/// The result of a batch read: an entry for each requested path, in the order of the paths.
package struct BatchGetResponse: Hashable, Sendable {
    /// The documents; `.missing` for those that don't exist.
    package let documents: [ListedDocument]
    /// The time of the state that all documents show, or than which each is at least as new.
    package let readTime: Timestamp
    /// The epoch of the history that the times belong to.
    package let epoch: String

    /// Creates a result.
    package init(documents: [ListedDocument], readTime: Timestamp, epoch: String) {
        self.documents = documents
        self.readTime = readTime
        self.epoch = epoch
    }

    /// Writes `{"documents": […], "readTime": …, "epoch": …}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(PageKeys.documents, of: documents) { $0.write(to: &$1) }
        writer.member(QueryResponseKeys.readTime, readTime.rfc3339)
        writer.member(QueryResponseKeys.epoch, epoch)
        writer.endObject()
    }

    /// Parses the documents of a result; `nil` for those that don't exist.
    ///
    /// - Throws: `.internal` if the documents are missing, or the error of an invalid one.
    package static func documents(json: JSONNode) throws(StatusError) -> [Document?] {
        try json.array(PageKeys.documents).map { json throws(StatusError) in
            json[DocumentKeys.fields] == nil ? nil : try Document(json: json)
        }
    }
}
