import DocumentModel
import StrictJSON

/// The geo points anywhere in a document's fields.
struct GeoPlaces: Sendable {
    /// A point and the field that it is in.
    struct Found: Sendable {
        let field: String
        let point: GeoPoint
    }

    private(set) var found: [Found] = []

    /// Looks through maps and arrays, up to a number of points.
    init(in fields: MapValue) {
        for (key, value) in fields { look(into: value, at: FieldName.text(of: key)) }
    }

    private mutating func look(into value: Value, at field: String) {
        guard found.count < Self.limit else { return }
        switch value {
        case .geoPoint(let point): found.append(Found(field: field, point: point))
        case .map(let map):
            for (key, value) in map { look(into: value, at: FieldName.text(of: key, in: field)) }
        case .array(let elements):
            for (index, value) in elements.enumerated() { look(into: value, at: FieldName.text(of: index, in: field)) }
        default: break
        }
    }

    private static let limit = 1_000
}
