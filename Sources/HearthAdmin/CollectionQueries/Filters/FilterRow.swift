import DocumentModel
import StrictJSON
import UTF8Text

/// A filter as a row of the filter form: a field, an operator, and a value's text and type.
///
/// In a URL it is one parameter, `numberOfPages >= 200`: the field path, the operator and the operand as JSON, separated by
/// spaces.
struct FilterRow: Sendable {
    var field = ""
    var op = Condition.Operator.equal
    var operand = ValueInput("", as: .automatic)
    /// The validation error of the row.
    var error: String?

    init() {}

    /// Creates a row from submitted form fields.
    init(field: String, op: String, kind: String, text: String) {
        self.field = field
        self.op = Condition.Operator.allCases.first { UTF8Key($0.rawValue) == UTF8Key(op) } ?? .equal
        operand = ValueInput(text, as: ValueInput.Kind.allCases.first { UTF8Key($0.rawValue) == UTF8Key(kind) } ?? .automatic)
    }

    /// True if neither field nor value is filled in.
    var isBlank: Bool { field.utf8.isEmpty && operand.text.utf8.isEmpty }

    /// Returns the rows with an error on each row beyond the limit; none is dropped silently.
    static func markingExcess(_ rows: [FilterRow]) -> [FilterRow] {
        let limit = CollectionRequest.maximumFilterCount
        return rows.prefix(limit)
            + rows.dropFirst(limit).map { row in
                var row = row
                row.error =
                    row.error
                    ?? localized(
                        count: limit,
                        one: "A page has at most {count} filter. Remove this one or use a query.",
                        other: "A page has at most {count} filters. Remove this one or use a query."
                    )
                return row
            }
    }

    /// Returns the field and the JSON operand of the filter.
    ///
    /// - Throws: `invalidArgument` when the field or the value is invalid.
    func condition() throws(StatusError) -> (field: FieldPath, operand: [UInt8]) {
        guard !field.utf8.isEmpty else { throw StatusError(.invalidArgument, "Enter a field, such as author.name.") }
        return (try FieldPathText.path(field), try operandJSON())
    }

    /// Returns the row with a type for an operand without one.
    ///
    /// - Parameter types: The types of the field's values, the most frequent first; empty if they are unknown.
    func resolvingType(fitting types: [ValueType]) -> FilterRow {
        guard operand.kind == .automatic, !isBlank else { return self }
        var row = self
        switch op {
        case .near, .within: row.operand.kind = .geoPoint
        case .in, .notIn, .arrayContainsAny:
            let elementTypes = op == .arrayContainsAny ? [] : types
            guard operand.text.utf8.first != UInt8(ascii: "[") else {
                row.operand.kind = .json
                break
            }
            let values = operandParts.map { AutomaticValue($0).reading(fitting: elementTypes).value }
            row.operand = ValueInput(EscapedJSON.text(Value.array(values).json), as: .json)
        case .arrayContains: row.operand.kind = AutomaticValue(operand.text).reading(fitting: []).kind
        default: row.operand.kind = AutomaticValue(operand.text).reading(fitting: types).kind
        }
        return row
    }

    /// The texts between the commas of an operand with several values.
    private var operandParts: [String] {
        operand.text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
            var text = part.drop { $0 == UInt8(ascii: " ") }
            while text.last == UInt8(ascii: " ") { text.removeLast() }
            return String(Substring(text))
        }
    }

    private func operandJSON() throws(StatusError) -> [UInt8] {
        switch op {
        case .near:
            if operand.kind == .json { return Array(try operand.json().rawBytes) }
            return try GeoFilterOperand(circle: operand.text).json
        case .within:
            if operand.kind == .json { return Array(try operand.json().rawBytes) }
            return try GeoFilterOperand(box: operand.text).json
        case .in, .notIn, .arrayContainsAny:
            if operand.kind == .json || operand.text.utf8.first == UInt8(ascii: "[") { return Array(try operand.json().rawBytes) }
            var values: [Value] = []
            for text in operandParts { values.append(try ValueInput(text, as: operand.kind).value()) }
            return Value.array(values).json
        default:
            return try operand.value().json
        }
    }
}

extension FilterRow {
    /// Parses a row from a URL parameter. Invalid text is kept in the row together with an error.
    init(_ text: UTF8Key) {
        let bytes = text.utf8
        var isQuoted = false
        var isEscaped = false
        let fieldEnd =
            bytes.firstIndex { byte in
                defer { isEscaped = !isEscaped && byte == UInt8(ascii: "\\") }
                if !isEscaped, byte == UInt8(ascii: "`") || byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: " ") && !isQuoted
            } ?? bytes.endIndex
        field = String(Substring(bytes[..<fieldEnd]))
        let rest = bytes[fieldEnd...].dropFirst()
        let name = rest.prefix { $0 != UInt8(ascii: " ") }
        let json = String(Substring(rest.dropFirst(name.count + 1)))
        guard let op = Condition.Operator.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }) else {
            operand = ValueInput(json, as: .json)
            error = "Expected a field, an operator and a value as JSON, such as numberOfPages >= 200."
            return
        }
        self.op = op
        operand = Self.operand(of: op, json: json)
    }

    /// The value of the URL parameter; `nil` if the row is invalid.
    var text: UTF8Key? {
        guard let (field, operand) = try? condition() else { return nil }
        return UTF8Key("\(FieldPathText.text(field)) \(op.rawValue) \(EscapedJSON.text(operand))")
    }

    /// The row for display in a form, with invisible characters escaped.
    var escaped: FilterRow {
        var row = self
        row.field = (try? FieldPathText.path(field)).map { FieldPathText.text($0) } ?? DisplayText(field).plain
        row.operand = operand.escaped
        return row
    }

    private static func operand(of op: Condition.Operator, json: String) -> ValueInput {
        let raw = ValueInput(json, as: .json)
        guard let node = try? raw.json() else { return raw }
        switch op {
        case .near: return GeoFilterOperand(circle: node).map { ValueInput($0.text, as: .geoPoint) } ?? raw
        case .within: return GeoFilterOperand(box: node).map { ValueInput($0.text, as: .geoPoint) } ?? raw
        case .in, .notIn, .arrayContainsAny: return ValueInput(EscapedJSON.text(Array(json.utf8)), as: .json)
        default: return (try? Value(json: node)).map { ValueInput($0) } ?? raw
        }
    }
}
