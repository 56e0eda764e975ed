import DocumentModel
import UTF8Text

/// The code of queries for Firestore's Web SDK.
struct JavaScriptQueryCode {
    typealias UnsupportedFeature = QueryCode.UnsupportedFeature

    func code(for query: StructuredQuery) throws(UnsupportedFeature) -> String {
        let source = try query.source.collection()
        if query.offset > 0 { throw UnsupportedFeature(name: "offset") }
        if !query.projection.isEmpty { throw UnsupportedFeature(name: "select") }
        let collection = source.isGroup ? "collectionGroup" : "collection"
        var names: Set<String> = ["getDocs", "query", collection]
        var arguments = ["\(collection)(db, \(StringLiteral.braced(source.name)))"]
        if let filter = query.filter {
            // A composite filter must be the only one.
            let isPlain = filter.conjuncts.allSatisfy { if case .field = $0 { true } else { false } }
            for part in isPlain ? filter.conjuncts : [filter] {
                arguments.append(try text(of: part, indent: "  ", names: &names))
            }
        }
        for order in query.orders {
            guard case .field(let field) = order.key else { throw UnsupportedFeature(name: "distanceFrom") }
            names.insert("orderBy")
            let direction = order.direction == .descending ? ", \"desc\"" : ""
            arguments.append("orderBy(\(text(of: field, names: &names))\(direction))")
        }
        switch query.limit {
        case .first(let count):
            names.insert("limit")
            arguments.append("limit(\(count))")
        case .last(let count):
            names.insert("limitToLast")
            arguments.append("limitToLast(\(count))")
        case nil: break
        }
        return """
            import { \(names.sorted().joined(separator: ", ")) } from "firebase/firestore";

            const q = query(
            \(arguments.map { "  \($0)," }.joined(separator: "\n"))
            );
            const snapshot = await getDocs(q);
            snapshot.forEach((document) => console.log(document.id, document.data()));

            """
    }

    private func text(of filter: QueryFilter, indent: String, names: inout Set<String>) throws(UnsupportedFeature) -> String {
        let (name, filters): (String, [QueryFilter])
        switch filter {
        case .field(let field, let condition):
            names.insert("where")
            let path = text(of: field, names: &names)
            return "where(\(path), \"\(condition.operator.rawValue)\", \(try operand(of: condition, names: &names)))"
        case .and(let parts): (name, filters) = ("and", parts)
        case .or(let parts): (name, filters) = ("or", parts)
        }
        names.insert(name)
        var lines: [String] = []
        for part in filters { lines.append("\(indent)  \(try text(of: part, indent: indent + "  ", names: &names)),") }
        return "\(name)(\n\(lines.joined(separator: "\n"))\n\(indent))"
    }

    private func operand(of condition: Condition, names: inout Set<String>) throws(UnsupportedFeature) -> String {
        switch condition {
        case .equal(let value), .notEqual(let value), .less(let value), .lessOrEqual(let value), .greater(let value),
            .greaterOrEqual(let value), .arrayContains(let value):
            try text(of: value, names: &names)
        case .in(let values), .notIn(let values), .arrayContainsAny(let values): try text(of: .array(values), names: &names)
        case .near, .within: throw UnsupportedFeature(name: condition.operator.rawValue)
        }
    }

    private func text(of field: FieldPath, names: inout Set<String>) -> String {
        if field.isDocumentName {
            names.insert("documentId")
            return "documentId()"
        }
        if let dotted = field.dotted { return StringLiteral.braced(dotted) }
        names.insert("FieldPath")
        return "new FieldPath(\(field.segments.map { StringLiteral.braced($0.string) }.joined(separator: ", ")))"
    }

    private func text(of value: Value, names: inout Set<String>) throws(UnsupportedFeature) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let boolean): return boolean ? "true" : "false"
        case .integer(let integer):
            // The range in which numbers are exact integers.
            guard integer.magnitude < 1 << 53 else { throw UnsupportedFeature(name: "\(integer)") }
            return "\(integer)"
        case .double(let double): return text(of: double)
        case .timestamp(let time):
            names.insert("Timestamp")
            return "new Timestamp(\(time.parts.seconds), \(time.parts.nanoseconds))"
        case .string(let string): return StringLiteral.braced(string)
        case .bytes(let bytes):
            names.insert("Bytes")
            return "Bytes.fromBase64String(\"\(Base64.standard.encode(bytes))\")"
        case .reference(let path):
            names.insert("doc")
            return "doc(db, \(StringLiteral.braced(path.string)))"
        case .geoPoint(let point):
            names.insert("GeoPoint")
            return "new GeoPoint(\(point.latitude), \(point.longitude))"
        case .vector(let components):
            names.insert("vector")
            return "vector([\(components.map { text(of: $0) }.joined(separator: ", "))])"
        case .array(let elements):
            var texts: [String] = []
            for element in elements { texts.append(try text(of: element, names: &names)) }
            return "[\(texts.joined(separator: ", "))]"
        case .map(let map):
            var texts: [String] = []
            for (key, value) in map {
                texts.append("\(StringLiteral.braced(key.string)): \(try text(of: value, names: &names))")
            }
            return texts.isEmpty ? "{}" : "{ \(texts.joined(separator: ", ")) }"
        }
    }

    private func text(of double: Double) -> String {
        double.isNaN ? "NaN" : double.isInfinite ? (double < 0 ? "-Infinity" : "Infinity") : "\(double)"
    }
}
