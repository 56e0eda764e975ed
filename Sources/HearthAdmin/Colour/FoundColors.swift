import DocumentModel

/// The colours anywhere in documents, as far as a page has room for them.
struct FoundColors: Sendable {
    /// A colour and the field that it is in.
    struct Found: Sendable {
        let document: DocumentPath
        let field: String
        let chip: ColorChip
    }

    private(set) var found = Beginning<Found>(limit: 1_000)

    /// Takes in a value of a document if it is a colour.
    mutating func look(at value: Value, in document: Document, named name: () -> String) {
        guard case .string(let string) = value, let chip = ColorChip(string) else { return }
        found.append(Found(document: document.path, field: name(), chip: chip))
    }
}
