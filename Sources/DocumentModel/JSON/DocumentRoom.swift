internal import StrictJSON

/// How much more is read for a document, counted down value by value.
///
/// A text of a few megabytes can stand for millions of values, which need not be read to know that they are too many. What is
/// less than twice as large as a document may be is read all the same, so that the error can name the document and its size.
struct DocumentRoom {
    private var bytes = 2 * DocumentLimits.maximumDocumentBytes

    /// Takes what a value needs by ``Document/size(of:at:)``.
    mutating func take(_ count: Int, for node: JSONNode) throws(JSONFormFault) {
        bytes -= count
        guard bytes >= 0 else {
            throw JSONFormFault(
                node,
                "Expected a document of at most \(DocumentLimits.maximumDocumentBytes) bytes, found more than twice as many. "
                    + "Move some fields to other documents, for example to a subcollection."
            )
        }
    }
}
