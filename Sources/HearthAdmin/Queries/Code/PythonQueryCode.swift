import DocumentModel
import UTF8Text

/// The code of queries for the Python package google-cloud-firestore.
struct PythonQueryCode {
    typealias UnsupportedFeature = QueryCode.UnsupportedFeature

    func code(for query: StructuredQuery) throws(UnsupportedFeature) -> String {
        let source = try query.source.collection()
        var lines = ["db.\(source.isGroup ? "collection_group" : "collection")(\(StringLiteral.python(source.name)))"]
        for filter in query.filter?.conjuncts ?? [] { lines.append(".where(filter=\(try text(of: filter, indent: "    ")))") }
        for order in query.orders {
            guard case .field(let field) = order.key else { throw UnsupportedFeature(name: "distanceFrom") }
            let direction = order.direction == .descending ? ", direction=firestore.Query.DESCENDING" : ""
            lines.append(".order_by(\(StringLiteral.python(field.description))\(direction))")
        }
        if query.offset > 0 { lines.append(".offset(\(query.offset))") }
        var method = "stream"
        switch query.limit {
        case .first(let count): lines.append(".limit(\(count))")
        case .last(let count):
            lines.append(".limit_to_last(\(count))")
            // The package doesn't stream a query that it runs in reverse.
            method = "get"
        case nil: break
        }
        if !query.projection.isEmpty {
            lines.append(".select([\(query.projection.map { StringLiteral.python($0.description) }.joined(separator: ", "))])")
        }
        let body = lines.map { "    \($0)" }.joined(separator: "\n")
        let imports = self.imports(for: body)
        return (imports.isEmpty ? "" : imports.joined(separator: "\n") + "\n\n") + """
            query = (
            \(body)
            )
            for document in query.\(method)():
                print(document.id, document.to_dict())

            """
    }

    private func imports(for body: String) -> [String] {
        var imports: [String] = []
        if body.mentions("firestore.") { imports.append("from google.cloud import firestore") }
        let filters = ["And", "FieldFilter", "Or"].filter { body.mentions("\($0)(") }
        if !filters.isEmpty {
            imports.append("from google.cloud.firestore_v1.base_query import \(filters.joined(separator: ", "))")
        }
        if body.mentions("Vector([") { imports.append("from google.cloud.firestore_v1.vector import Vector") }
        guard body.mentions("datetime.datetime(") else { return imports }
        return ["import datetime"] + (imports.isEmpty ? [] : [""]) + imports
    }

    private func text(of filter: QueryFilter, indent: String) throws(UnsupportedFeature) -> String {
        let (name, filters): (String, [QueryFilter])
        switch filter {
        case .field(let field, let condition):
            let op = condition.operator.pythonName
            return "FieldFilter(\(StringLiteral.python(field.description)), \"\(op)\", \(try operand(of: condition)))"
        case .and(let parts): (name, filters) = ("And", parts)
        case .or(let parts): (name, filters) = ("Or", parts)
        }
        var lines: [String] = []
        for part in filters { lines.append("\(indent)    \(try text(of: part, indent: indent + "    ")),") }
        return "\(name)([\n\(lines.joined(separator: "\n"))\n\(indent)])"
    }

    private func operand(of condition: Condition) throws(UnsupportedFeature) -> String {
        switch condition {
        case .equal(let value), .notEqual(let value), .less(let value), .lessOrEqual(let value), .greater(let value),
            .greaterOrEqual(let value), .arrayContains(let value):
            text(of: value)
        case .in(let values), .notIn(let values), .arrayContainsAny(let values): text(of: .array(values))
        case .near, .within: throw UnsupportedFeature(name: condition.operator.rawValue)
        }
    }

    private func text(of value: Value) -> String {
        switch value {
        case .null: "None"
        case .boolean(let boolean): boolean ? "True" : "False"
        case .integer(let integer): "\(integer)"
        case .double(let double): text(of: double)
        case .timestamp(let time): text(of: time)
        case .string(let string): StringLiteral.python(string)
        case .bytes(let bytes): "bytes.fromhex(\"\(Hexadecimal.encode(bytes))\")"
        case .reference(let path): "db.document(\(StringLiteral.python(path.string)))"
        case .geoPoint(let point): "firestore.GeoPoint(\(point.latitude), \(point.longitude))"
        case .vector(let components): "Vector([\(components.map { text(of: $0) }.joined(separator: ", "))])"
        case .array(let elements): "[\(elements.map { text(of: $0) }.joined(separator: ", "))]"
        case .map(let map):
            "{\(map.map { "\(StringLiteral.python($0.key.string)): \(text(of: $0.value))" }.joined(separator: ", "))}"
        }
    }

    private func text(of double: Double) -> String {
        double.isNaN ? "float(\"nan\")" : double.isInfinite ? "float(\"\(double < 0 ? "-inf" : "inf")\")" : "\(double)"
    }

    private func text(of time: Timestamp) -> String {
        // The numbers of 2024-02-29T12:00:00.000000Z; a literal must not have leading zeros.
        let numbers = time.rfc3339.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let parts = numbers.map { Int(String(Substring($0))).map(String.init) ?? "0" }
        return "datetime.datetime(\(parts.joined(separator: ", ")), tzinfo=datetime.timezone.utc)"
    }
}

extension Condition.Operator {
    /// The name of the operator in google-cloud-firestore.
    fileprivate var pythonName: String {
        switch self {
        case .arrayContains: "array_contains"
        case .arrayContainsAny: "array_contains_any"
        default: rawValue
        }
    }
}
