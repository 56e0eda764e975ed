import DocumentModel
import UTF8Text

/// The code of queries for Hearth's Swift client.
struct SwiftQueryCode {
    typealias UnsupportedFeature = QueryCode.UnsupportedFeature

    func code(for query: StructuredQuery) throws(UnsupportedFeature) -> String {
        let source = try query.source.collection()
        if query.offset > 0 { throw UnsupportedFeature(name: "offset") }
        if !query.projection.isEmpty { throw UnsupportedFeature(name: "select") }
        let collection = source.isGroup ? "collectionGroup" : "collection"
        var lines = ["let snapshot = try await db.\(collection)(\(StringLiteral.braced(source.name)))"]
        for filter in query.filter?.conjuncts ?? [] {
            if case .field(let field, let condition) = filter {
                lines.append("    .whereField(\(try arguments(field, condition, isQuery: true)))")
            } else {
                lines.append("    .whereFilter(\(try text(of: filter, indent: "    ")))")
            }
        }
        for order in query.orders {
            let descending = order.direction == .descending ? ", descending: true" : ""
            switch order.key {
            case .field(let field): lines.append("    .order(by: \(text(of: field))\(descending))")
            case .distance(let field, let center):
                lines.append("    .order(byDistanceOf: \(try dotted(field)), from: \(text(of: center))\(descending))")
            }
        }
        switch query.limit {
        case .first(let count): lines.append("    .limit(to: \(count))")
        case .last(let count): lines.append("    .limit(toLast: \(count))")
        case nil: break
        }
        lines.append("    .getDocuments()")
        let body = lines.joined(separator: "\n")
        let needsFoundation = body.mentions("NSNull()") || body.mentions("Data([")
        return (needsFoundation ? "import Foundation\n" : "") + "import HearthClient\n\n" + body
            + "\nfor document in snapshot.documents {\n    print(document.documentID, document.data())\n}\n"
    }

    private func text(of filter: QueryFilter, indent: String) throws(UnsupportedFeature) -> String {
        let (name, filters): (String, [QueryFilter])
        switch filter {
        case .field(let field, let condition): return ".whereField(\(try arguments(field, condition, isQuery: false)))"
        case .and(let parts): (name, filters) = (".andFilter", parts)
        case .or(let parts): (name, filters) = (".orFilter", parts)
        }
        var lines: [String] = []
        for part in filters { lines.append("\(indent)    \(try text(of: part, indent: indent + "    ")),") }
        return "\(name)([\n\(lines.joined(separator: "\n"))\n\(indent)])"
    }

    /// Returns the arguments of `whereField`, whose label for `>=` differs between queries and filters as in Firestore's SDK.
    private func arguments(_ field: FieldPath, _ condition: Condition, isQuery: Bool) throws(UnsupportedFeature) -> String {
        let name = text(of: field)
        switch condition {
        case .equal(let value): return "\(name), isEqualTo: \(text(of: value))"
        case .notEqual(let value): return "\(name), isNotEqualTo: \(text(of: value))"
        case .less(let value): return "\(name), isLessThan: \(text(of: value))"
        case .lessOrEqual(let value): return "\(name), isLessThanOrEqualTo: \(text(of: value))"
        case .greater(let value): return "\(name), isGreaterThan: \(text(of: value))"
        case .greaterOrEqual(let value):
            return "\(name), \(isQuery ? "isGreaterThanOrEqualTo" : "isGreaterOrEqualTo"): \(text(of: value))"
        case .in(let values): return "\(name), in: \(list(values))"
        case .notIn(let values): return "\(name), notIn: \(list(values))"
        case .arrayContains(let value): return "\(name), arrayContains: \(text(of: value))"
        case .arrayContainsAny(let values): return "\(name), arrayContainsAny: \(list(values))"
        case .near(let circle): return "\(try dotted(field)), isNear: \(text(of: circle.center)), radius: \(circle.radius)"
        case .within(let box): return "\(try dotted(field)), isWithin: \(text(of: box.southWest)), \(text(of: box.northEast))"
        }
    }

    private func text(of field: FieldPath) -> String {
        if field.isDocumentName { return "FieldPath.documentID()" }
        if let dotted = field.dotted { return StringLiteral.braced(dotted) }
        return "FieldPath([\(field.segments.map { StringLiteral.braced($0.string) }.joined(separator: ", "))])"
    }

    /// Returns the literal of a field for methods that don't take a `FieldPath`.
    private func dotted(_ field: FieldPath) throws(UnsupportedFeature) -> String {
        guard let dotted = field.dotted else { throw UnsupportedFeature(name: field.description) }
        return StringLiteral.braced(dotted)
    }

    private func text(of point: GeoPoint) -> String {
        "GeoPoint(latitude: \(point.latitude), longitude: \(point.longitude))"
    }

    private func list(_ values: [Value]) -> String {
        "[\(values.map { text(of: $0) }.joined(separator: ", "))]"
    }

    private func text(of value: Value) -> String {
        switch value {
        case .null: "NSNull()"
        case .boolean(let boolean): boolean ? "true" : "false"
        case .integer(let integer): "\(integer)"
        case .double(let double): text(of: double)
        case .timestamp(let time): "Timestamp(seconds: \(time.parts.seconds), nanoseconds: \(time.parts.nanoseconds))"
        case .string(let string): StringLiteral.braced(string)
        case .bytes(let bytes): "Data([\(bytes.map { "0x" + Hexadecimal.encode([$0]) }.joined(separator: ", "))])"
        case .reference(let path): "db.document(\(StringLiteral.braced(path.string)))"
        case .geoPoint(let point): text(of: point)
        case .vector(let components): "VectorValue([\(components.map { text(of: $0) }.joined(separator: ", "))])"
        // Without a type, literals of different types don't compile.
        case .array(let elements): "\(list(elements)) as [Any]"
        case .map(let map) where map.isEmpty: "[:] as [String: Any]"
        case .map(let map):
            "[\(map.map { "\(StringLiteral.braced($0.key.string)): \(text(of: $0.value))" }.joined(separator: ", "))] as [String: Any]"
        }
    }

    private func text(of double: Double) -> String {
        double.isNaN ? "Double.nan" : double.isInfinite ? (double < 0 ? "-Double.infinity" : "Double.infinity") : "\(double)"
    }
}
