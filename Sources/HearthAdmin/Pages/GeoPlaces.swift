import DocumentModel

/// The geo points anywhere in documents, as far as a page has room for them.
struct GeoPlaces: Sendable {
    /// A point and the field that it is in.
    struct Found: Sendable {
        let document: DocumentPath
        let field: String
        let point: GeoPoint
    }

    /// The first of them.
    private(set) var shown: [Found] = []
    /// How many there are.
    private(set) var count = 0

    /// Looks through the fields, maps and arrays of documents.
    init(in documents: [Document]) {
        for document in documents {
            FieldWalk.forEachValue(of: document) { value, name in
                guard case .geoPoint(let point) = value else { return }
                if shown.count < Self.limit { shown.append(Found(document: document.path, field: name(), point: point)) }
                count += 1
            }
        }
    }

    /// How many are shown of how many; nil when that is all.
    var extent: String? {
        guard shown.count < count else { return nil }
        return localized(
            "The first {shown} of {total} places here are shown.",
            ["shown": Counting.grouped(shown.count), "total": Counting.grouped(count)]
        )
    }

    private static let limit = 1_000
}
