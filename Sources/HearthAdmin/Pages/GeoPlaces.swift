import DocumentModel

/// The geo points anywhere in documents, as far as a page has room for them.
struct GeoPlaces: Sendable {
    /// A point and the field that it is in.
    struct Found: Sendable {
        let document: DocumentPath
        let field: String
        let point: GeoPoint
    }

    private(set) var found = Beginning<Found>(limit: 1_000)

    /// Takes in a value of a document if it is a place.
    mutating func look(at value: Value, in document: Document, named name: () -> String) {
        guard case .geoPoint(let point) = value else { return }
        found.append(Found(document: document.path, field: name(), point: point))
    }

    /// How many are shown of how many; nil when that is all.
    var extent: String? {
        guard found.elements.count < found.count else { return nil }
        return localized(
            "The first {shown} of {total} places here are shown.",
            ["shown": Counting.grouped(found.elements.count), "total": Counting.grouped(found.count)]
        )
    }
}
