import DocumentModel
import UTF8Text

/// Formats the paths of values inside a document: `tags[2].color`.
enum ElementPath {
    /// Returns the path of a field, with the name quoted if the field path syntax requires it.
    ///
    /// - Parameter parent: The path of the map; `nil` for the document.
    static func appending(_ key: UTF8Key, to parent: String?) -> String {
        let name = (try? FieldPath(segments: [key]))?.description ?? key.string
        return parent.map { "\($0).\(name)" } ?? name
    }

    /// Returns the path of an array element.
    static func appending(_ index: Int, to parent: String) -> String {
        "\(parent)[\(index)]"
    }
}
