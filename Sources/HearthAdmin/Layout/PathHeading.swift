import UTF8Text

/// The heading of a document's or collection's page: its ID, and its path to copy.
struct PathHeading: ViewModel {
    private let name: DisplayText
    /// Percent-encoded, because an attribute cannot contain every character, and invisible ones would be overlooked in the
    /// source.
    private let encodedPath: String

    /// - Parameter segments: The IDs of the path, at least one.
    init(_ segments: [UTF8Key]) {
        name = DisplayText(segments.last?.string ?? "")
        encodedPath = segments.map(PercentEncoding.encode).joined(separator: "/")
    }
}
