import DocumentModel

/// The colours anywhere in documents, as far as a page has room for them.
struct FoundColors: Sendable {
    /// A colour and the field that it is in.
    struct Found: Sendable {
        let document: DocumentPath
        let field: String
        let chip: ColorChip
    }

    /// The first of them.
    private(set) var shown: [Found] = []
    /// How many there are.
    private(set) var count = 0

    /// Looks through the fields, maps and arrays of documents.
    init(in documents: [Document]) {
        for document in documents {
            FieldWalk.forEachValue(of: document) { value, name in
                guard case .string(let string) = value, let chip = ColorChip(string) else { return }
                if shown.count < Self.limit { shown.append(Found(document: document.path, field: name(), chip: chip)) }
                count += 1
            }
        }
    }

    private static let limit = 1_000
}
