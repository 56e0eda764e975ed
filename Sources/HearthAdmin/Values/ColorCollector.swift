import DocumentModel

/// Collects the colors in documents, up to the number that a page shows.
struct ColorCollector: Sendable {
    /// A color and its location.
    struct Match: Sendable {
        let document: DocumentPath
        let field: String
        let chip: ColorChip
    }

    private(set) var matches = TruncatedList<Match>(limit: 1_000)

    /// Adds a value if it is a color.
    mutating func collect(_ value: Value, in document: Document, path: () -> String) {
        guard case .string(let string) = value, let chip = ColorChip(string) else { return }
        matches.append(Match(document: document.path, field: path(), chip: chip))
    }
}
