import DocumentModel
import UTF8Text

/// Queries and documents in JSON for tests.
enum QueryFixtures {
    static let books = try! CollectionPath("books")  // Cannot fail: a literal with valid components.

    static func field(_ text: String) throws -> FieldPath {
        UTF8Key(text) == "__name__" ? .documentName : try FieldPath(text)
    }

    static func value(_ json: String) throws -> Value {
        try WriteFixtures.value(json)
    }

    static func values(_ json: [String]) throws -> [Value] {
        try json.map { try value($0) }
    }

    static func reference(_ path: String) throws -> Value {
        .reference(try DocumentPath(path))
    }

    /// Parses orders: `a` for ascending, `-b` for descending.
    static func orders(_ texts: [String]) throws -> [StructuredQuery.Order] {
        try texts.map { text in
            let isDescending = text.utf8.first == UInt8(ascii: "-")
            return StructuredQuery.Order(
                .field(try field(isDescending ? String(text.dropFirst()) : text)),
                isDescending ? .descending : .ascending
            )
        }
    }

    static func point(_ latitude: Double, _ longitude: Double) throws -> GeoPoint {
        try GeoPoint(validatingLatitude: latitude, longitude: longitude)
    }

    /// Returns a query of the collection `books`.
    static func query(
        where filter: QueryFilter? = nil,
        orders: [String] = [],
        limit: StructuredQuery.Limit? = nil
    ) throws -> StructuredQuery {
        StructuredQuery(.collection(books), where: filter, orders: try self.orders(orders), limit: limit)
    }
}

extension NormalizedQuery {
    /// The orders in the notation of ``QueryFixtures/orders(_:)``.
    var orderTexts: [String] {
        orders.map { ($0.direction == .descending ? "-" : "") + $0.key.field.description }
    }

    /// Returns the IDs of the matching documents in order, from documents of `books`.
    func ids(among documents: [(id: String, fields: String)]) throws -> [String] {
        let found = try documents.compactMap { document -> (String, SortKey)? in
            let path = QueryFixtures.books.document(try DocumentPath.ID(document.id))
            return match(try WriteFixtures.fields(document.fields), at: path).map { (document.id, $0) }
        }
        let sorted = found.sorted { compare($0.1, $1.1) == .less }.map(\.0).dropFirst(offset).prefix(limit ?? .max)
        return isReversed ? sorted.reversed() : Array(sorted)
    }
}
