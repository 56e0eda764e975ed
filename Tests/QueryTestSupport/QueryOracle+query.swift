import DocumentModel
import UTF8Text

extension StructuredQuery {
    /// Returns the explicit orders, followed by inequality fields sorted by path, aggregated fields and the document name, in the last
    /// explicit direction.
    func oracleOrders(aggregating aggregated: [FieldPath]) -> [Order] {
        var result = orders
        let direction = orders.last?.direction ?? .ascending
        func add(_ field: FieldPath) {
            if !result.contains(where: { $0.key == .field(field) }) { result.append(Order(.field(field), direction)) }
        }
        var inequalities: [FieldPath] = []
        filter?.collectInequalities(into: &inequalities)
        for field in inequalities.sorted(by: { OracleOrder.compare($0, $1) < 0 }) where !field.isOracleName { add(field) }
        let hasName = orders.contains { $0.key.field.isOracleName }
        let reachesName = [start, end].contains { ($0?.values.count ?? 0) > result.count }
        if !hasName, !reachesName {
            for field in aggregated.sorted(by: { OracleOrder.compare($0, $1) < 0 }) { add(field) }
        }
        if !hasName { result.append(Order(.field(.documentName), direction)) }
        return result
    }

    /// Returns the projected fields.
    func projected(_ fields: MapValue) -> MapValue {
        guard !projection.isEmpty else { return fields }
        return fields.kept(projection.filter { !$0.isOracleName }.map { $0.segments[...] })
    }
}

extension MapValue {
    /// Returns the part of the map on the given paths.
    fileprivate func kept(_ paths: [ArraySlice<UTF8Key>]) -> MapValue {
        var result = MapValue()
        for (key, value) in self {
            let below = paths.filter { $0.first == key }.map { $0.dropFirst() }
            if below.contains(where: \.isEmpty) {
                result[key] = value
            } else if case .map(let inner) = value, below.contains(where: { inner.containsPath($0) }) {
                result[key] = .map(inner.kept(below))
            }
        }
        return result
    }

    private func containsPath(_ path: ArraySlice<UTF8Key>) -> Bool {
        guard let name = path.first, let value = self[name] else { return false }
        if path.count == 1 { return true }
        guard case .map(let inner) = value else { return false }
        return inner.containsPath(path.dropFirst())
    }
}

extension QueryFilter {
    fileprivate func collectInequalities(into fields: inout [FieldPath]) {
        switch self {
        case .and(let filters), .or(let filters):
            for filter in filters { filter.collectInequalities(into: &fields) }
        case .field(let field, let condition):
            switch condition {
            case .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual, .notIn:
                fields.append(field)
            case .equal, .in, .arrayContains, .arrayContainsAny, .near, .within:
                break
            }
        }
    }
}

extension StructuredQuery.Source {
    func oracleContains(_ path: DocumentPath) -> Bool {
        let segments = path.segments
        switch self {
        case .collection(let collection):
            return Array(segments.dropLast()) == collection.segments
        case .collectionGroup(let id, let parent):
            let above = parent?.segments ?? []
            return segments.count > above.count && segments.starts(with: above) && segments[segments.count - 2] == id.key
        case .descendants(let parent):
            let above = parent?.segments ?? []
            return segments.count > above.count && segments.starts(with: above)
        }
    }

    /// Returns the reference that a document name denotes, if the value is a string.
    func resolvingName(_ value: Value) -> Value {
        guard case .string(let text) = value else { return value }
        let above: String? =
            switch self {
            case .collection(let collection): collection.string
            case .collectionGroup(_, let parent), .descendants(let parent): parent?.string
            }
        guard let path = try? DocumentPath(above.map { $0 + "/" + text } ?? text) else { return .null }
        return .reference(path)
    }
}

extension StructuredQuery.Cursor {
    /// Returns whether a document is on one side of the cursor: 1 is after it, -1 before it.
    func admits(_ document: Document, _ orders: [StructuredQuery.Order], side: Int, in source: StructuredQuery.Source) -> Bool {
        for (value, order) in zip(values, orders) {
            guard let own = document.oracleValue(order.key) else { return false }
            let result = OracleOrder.compare(own, order.key.field.isOracleName ? source.resolvingName(value) : value)
            if result != 0 { return (order.direction == .ascending ? result : -result) == side }
        }
        return isInclusive
    }
}

extension FieldPath {
    var isOracleName: Bool { segments.count == 1 && segments[0].utf8.elementsEqual("__name__".utf8) }
}

extension Document {
    func oracleValue(_ field: FieldPath) -> Value? {
        if field.isOracleName { return .reference(path) }
        var value: Value? = .map(fields)
        for segment in field.segments {
            guard case .map(let map)? = value else { return nil }
            value = map.first { $0.key == segment }?.value
        }
        return value
    }

    func oracleValue(_ key: StructuredQuery.Order.Key) -> Value? {
        switch key {
        case .field(let field):
            return oracleValue(field)
        case .distance(let field, let center):
            guard case .geoPoint(let point)? = oracleValue(field) else { return nil }
            return .double(OracleGeometry.distance(center, point))
        }
    }
}
