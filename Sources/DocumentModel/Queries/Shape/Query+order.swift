extension Query {
    /// One of the criteria by which documents are sorted.
    package struct Order: Hashable, Sendable {
        /// What of a document is compared.
        package var key: Key
        /// Which end comes first.
        package var direction: Direction

        /// Makes a criterion.
        package init(_ key: Key, _ direction: Direction = .ascending) {
            self.key = key
            self.direction = direction
        }
    }
}

extension Query.Order {
    /// What of a document is compared. Documents that have no such thing are not in the result.
    package enum Key: Hashable, Sendable {
        /// A field's value; the document's path for ``FieldPath/documentName``.
        case field(FieldPath)
        /// The metres from a point to the point in a field.
        case distance(of: FieldPath, from: GeoPoint)
    }

    /// Which end comes first.
    package enum Direction: Hashable, Sendable {
        /// The least.
        case ascending
        /// The greatest.
        case descending
    }

    /// The order of document paths.
    static func name(_ direction: Direction) -> Query.Order {
        Query.Order(.field(.documentName), direction)
    }

    var isByName: Bool { key == .field(.documentName) }

    var reversed: Query.Order {
        Query.Order(key, direction == .ascending ? .descending : .ascending)
    }
}

extension Query.Order.Key {
    /// The field that is compared, or that holds the point.
    package var field: FieldPath {
        switch self {
        case .field(let field), .distance(let field, _): field
        }
    }
}
