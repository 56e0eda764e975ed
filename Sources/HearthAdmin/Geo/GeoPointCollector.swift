import DocumentModel

/// Collects the geo points in documents, up to the number that a page shows.
struct GeoPointCollector: Sendable {
    /// A geo point and its location in a document.
    struct Match: Sendable {
        let document: DocumentPath
        let field: String
        let point: GeoPoint
    }

    private(set) var matches = TruncatedList<Match>(limit: 1_000)

    /// Adds a value if it is a geo point.
    mutating func collect(_ value: Value, in document: Document, path: () -> String) {
        guard case .geoPoint(let point) = value else { return }
        matches.append(Match(document: document.path, field: path(), point: point))
    }

    /// The number of points shown and in total; `nil` if all are shown.
    var truncationNote: String? {
        guard matches.elements.count < matches.count else { return nil }
        return localized(
            "Showing the first {shown} of {total} geo points.",
            ["shown": NumberFormat.grouped(matches.elements.count), "total": NumberFormat.grouped(matches.count)]
        )
    }
}
