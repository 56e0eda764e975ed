import DocumentModel
import StrictJSON

/// How a place inside a document is written: `tags[2].color`.
enum FieldName {
    /// The name of a field of the document or of a map, quoted where the syntax of field paths asks for it.
    static func text(of key: UTF8Key, in parent: String? = nil) -> String {
        let name = (try? FieldPath(segments: [key]))?.description ?? key.string
        return parent.map { "\($0).\(name)" } ?? name
    }

    /// The name of an element of an array.
    static func text(of index: Int, in parent: String) -> String {
        "\(parent)[\(index)]"
    }
}
