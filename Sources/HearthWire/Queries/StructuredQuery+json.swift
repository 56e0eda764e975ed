package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a query.
package enum QueryKeys {
    package static let parent: UTF8Key = "parent"
    package static let collection: UTF8Key = "collection"
    package static let collectionGroup: UTF8Key = "collectionGroup"
    package static let allDescendants: UTF8Key = "allDescendants"
    package static let filter: UTF8Key = "where"
    package static let orderBy: UTF8Key = "orderBy"
    package static let startAt: UTF8Key = "startAt"
    package static let startAfter: UTF8Key = "startAfter"
    package static let endAt: UTF8Key = "endAt"
    package static let endBefore: UTF8Key = "endBefore"
    package static let offset: UTF8Key = "offset"
    package static let limit: UTF8Key = "limit"
    package static let limitToLast: UTF8Key = "limitToLast"
    package static let select: UTF8Key = "select"
    package static let findNearest: UTF8Key = "findNearest"
}

/// The members of a sort key: `{"field", "direction"?, "distanceFrom"?}`.
package enum OrderKeys {
    package static let field: UTF8Key = "field"
    package static let direction: UTF8Key = "direction"
    package static let distanceFrom: UTF8Key = "distanceFrom"
}

/// The members of a cursor: `{"values"}`.
package enum CursorKeys {
    package static let values: UTF8Key = "values"
}

/// The members of a nearest-neighbor search.
package enum VectorSearchKeys {
    package static let field: UTF8Key = "field"
    package static let vector: UTF8Key = "vector"
    package static let measure: UTF8Key = "measure"
    package static let limit: UTF8Key = "limit"
    package static let distanceResultField: UTF8Key = "distanceResultField"
    package static let distanceThreshold: UTF8Key = "distanceThreshold"
}

extension StructuredQuery {
    /// Writes the members of the query, the parameters of `query.run`.
    package func writeMembers(to writer: inout JSONWriter) {
        source.writeMembers(to: &writer)
        if let filter {
            writer.key(QueryKeys.filter)
            filter.write(to: &writer)
        }
        if !orders.isEmpty { writer.array(QueryKeys.orderBy, of: orders) { $0.write(to: &$1) } }
        start?.writeMember(start?.isInclusive == true ? QueryKeys.startAt : QueryKeys.startAfter, to: &writer)
        end?.writeMember(end?.isInclusive == true ? QueryKeys.endAt : QueryKeys.endBefore, to: &writer)
        if offset != 0 { writer.member(QueryKeys.offset, offset) }
        switch limit {
        case .first(let count)?: writer.member(QueryKeys.limit, count)
        case .last(let count)?: writer.member(QueryKeys.limitToLast, count)
        case nil: break
        }
        if !projection.isEmpty { writer.array(QueryKeys.select, of: projection) { $1.string($0.description) } }
        if let vectorSearch {
            writer.key(QueryKeys.findNearest)
            vectorSearch.write(to: &writer)
        }
    }
}

extension StructuredQuery.Source {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .collection(let path):
            writer.member(QueryKeys.collection, path.string)
        case .collectionGroup(let id, let parent):
            if let parent { writer.member(QueryKeys.parent, parent.string) }
            writer.member(QueryKeys.collectionGroup, id.key.string)
        case .descendants(let parent):
            if let parent { writer.member(QueryKeys.parent, parent.string) }
            writer.member(QueryKeys.allDescendants, true)
        }
    }
}

extension StructuredQuery.Order {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(OrderKeys.field, key.field.description)
        if case .distance(_, let center) = key {
            writer.key(OrderKeys.distanceFrom)
            Value.geoPoint(center).write(to: &writer)
        }
        if direction == .descending { writer.member(OrderKeys.direction, OrderDirectionName(direction).rawValue) }
        writer.endObject()
    }
}

/// The name of a sort direction.
package enum OrderDirectionName: String, CaseIterable, Sendable {
    case ascending = "asc"
    case descending = "desc"

    init(_ direction: StructuredQuery.Order.Direction) {
        self =
            switch direction {
            case .ascending: .ascending
            case .descending: .descending
            }
    }

    /// The direction.
    package var direction: StructuredQuery.Order.Direction {
        switch self {
        case .ascending: .ascending
        case .descending: .descending
        }
    }
}

extension StructuredQuery.Cursor {
    fileprivate func writeMember(_ key: UTF8Key, to writer: inout JSONWriter) {
        writer.key(key)
        writer.beginObject()
        writer.array(CursorKeys.values, of: values) { $0.write(to: &$1) }
        writer.endObject()
    }
}

extension VectorSearch {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(VectorSearchKeys.field, field.description)
        writer.key(VectorSearchKeys.vector)
        Value.vector(vector).write(to: &writer)
        writer.member(VectorSearchKeys.measure, measure.rawValue)
        writer.member(VectorSearchKeys.limit, limit)
        if let distanceField { writer.member(VectorSearchKeys.distanceResultField, distanceField.description) }
        if let threshold {
            writer.key(VectorSearchKeys.distanceThreshold)
            Value.double(threshold).write(to: &writer)
        }
        writer.endObject()
    }
}
