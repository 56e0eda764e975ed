extension StructuredQuery {
    /// A sort order: a key and a direction.
    package struct Order: Hashable, Sendable {
        /// The sort key.
        package var key: Key
        /// The direction.
        package var direction: Direction

        /// Creates an order.
        package init(_ key: Key, _ direction: Direction = .ascending) {
            self.key = key
            self.direction = direction
        }
    }
}

extension StructuredQuery.Order {
    /// A sort key. Documents without it are not in the result.
    package enum Key: Hashable, Sendable {
        /// A field's value; the document's path for ``FieldPath/documentName``.
        case field(FieldPath)
        /// The distance in meters from a point to the geo point in a field.
        case distance(of: FieldPath, from: GeoPoint)
    }

    /// A sort direction.
    package enum Direction: Hashable, Sendable {
        /// Least first.
        case ascending
        /// Greatest first.
        case descending
    }

    /// Returns an order by document name.
    static func name(_ direction: Direction) -> StructuredQuery.Order {
        StructuredQuery.Order(.field(.documentName), direction)
    }

    package var isByName: Bool { key == .field(.documentName) }

    var reversed: StructuredQuery.Order {
        StructuredQuery.Order(key, direction == .ascending ? .descending : .ascending)
    }
}

extension StructuredQuery.Order.Key {
    /// The field with the value or the geo point.
    package var field: FieldPath {
        switch self {
        case .field(let field), .distance(let field, _): field
        }
    }
}
