package import DocumentModel
package import StrictJSON

extension ListedDocument {
    /// Writes the document, or `{"path": …}` alone for one that does not exist.
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .document(let document):
            document.write(to: &writer)
        case .missing(let path):
            writer.beginObject()
            writer.member(DocumentKeys.path, path.string)
            writer.endObject()
        }
    }

    /// Parses an entry of a list.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        self =
            json[DocumentKeys.fields] == nil
            ? .missing(try DocumentPath(json.string(DocumentKeys.path))) : .document(try EncodedDocument(json: json))
    }
}
