/// A table row of a field or an array element, at any depth of a document.
struct FieldRow: Sendable {
    let depth: Int
    /// The path of the enclosing map or array, for screen readers, which don't convey the indentation.
    let parent: DisplayText?
    let name: DisplayText
    let isElement: Bool
    /// The full path.
    let path: DisplayText
    let type: ValueType
    let value: ValueView
    /// The links that filter the collection by the value; `nil` if no filter can match it.
    let filters: ValueFilterLinks?
    /// The editor of the value; `nil` if the user may not change it.
    let editURL: String?
}
