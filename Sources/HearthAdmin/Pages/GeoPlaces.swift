import DocumentModel
import StrictJSON

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
            for (key, value) in document.fields {
                look(into: value, at: isFull ? "" : FieldName.text(of: key), of: document.path)
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

    private var isFull: Bool { shown.count >= Self.limit }

    private mutating func look(into value: Value, at field: String, of document: DocumentPath) {
        switch value {
        case .geoPoint(let point):
            if !isFull { shown.append(Found(document: document, field: field, point: point)) }
            count += 1
        case .map(let map):
            for (key, value) in map {
                look(into: value, at: isFull ? "" : FieldName.text(of: key, in: field), of: document)
            }
        case .array(let elements):
            for (index, value) in elements.enumerated() {
                look(into: value, at: isFull ? "" : FieldName.text(of: index, in: field), of: document)
            }
        default: break
        }
    }

    private static let limit = 1_000
}
