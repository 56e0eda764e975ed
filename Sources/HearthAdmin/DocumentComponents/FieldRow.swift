/// A table row of a document's fields: a value, or the link after the first values of a large map or array.
struct FieldRow: Sendable {
    /// The contents of a row.
    enum Content: Sendable {
        case value(FieldValueRow)
        /// The link to the page with more of the values, or with fewer, and the path of their map or array, for screen readers.
        case link(LinkView, parent: DisplayText)
    }

    let depth: Int
    /// The full path of the value, or that of the map or array with an ellipsis.
    let path: DisplayText
    /// True for the first value beyond those that are shown at first, which the link leads to.
    var isFirstOfMore = false
    let content: Content

    /// True for a map or array with contents, whose rows follow.
    var isContainer: Bool {
        if case .value(let row) = content { row.isContainer } else { false }
    }
}

/// The cells of a field or an array element, at any depth of a document.
struct FieldValueRow: Sendable {
    /// The path of the enclosing map or array, for screen readers, which don't convey the indentation.
    let parent: DisplayText?
    let name: DisplayText
    let isElement: Bool
    /// True for a map or array with contents, whose rows follow.
    let isContainer: Bool
    let type: ValueType
    let value: ValueView
    /// The links that filter the collection by the value; `nil` if no filter can match it.
    let filters: ValueFilterLinks?
    /// The editor of the value; `nil` if the user may not change it.
    let editURL: String?
}
