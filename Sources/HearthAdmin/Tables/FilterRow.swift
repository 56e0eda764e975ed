import DocumentModel
import StrictJSON

/// A filter as a row of the form: a field, an operator, and the text of a value with its type.
///
/// In an address it is one text, `numberOfPages >= 200`: the path of the field, the operator and the operand as the JSON that a
/// query takes, between them a space. So it reads well and says exactly what is looked for.
struct FilterRow: Sendable {
    var field = ""
    var op = Condition.Operator.equal
    var operand = TypedText()
    /// What is wrong with the row.
    var fault: String?

    init() {}

    /// What a form sent for a row.
    init(field: String, op: String, kind: String, text: String) {
        self.field = field
        self.op = Condition.Operator.allCases.first { UTF8Key($0.rawValue) == UTF8Key(op) } ?? .equal
        operand = TypedText(text, as: TypedText.Kind.allCases.first { UTF8Key($0.rawValue) == UTF8Key(kind) } ?? .string)
    }

    /// Whether the row says nothing yet.
    var isBlank: Bool { field.utf8.isEmpty && operand.text.utf8.isEmpty }

    /// Rows of which those say so that are too many: none is left out in silence.
    static func bounded(_ rows: [FilterRow]) -> [FilterRow] {
        let limit = CollectionRequest.maximumFilterCount
        return rows.prefix(limit)
            + rows.dropFirst(limit).map { row in
                var row = row
                row.fault =
                    row.fault
                    ?? localized(
                        count: limit,
                        one: "A page has no more than {count} filter. Remove this one, or ask by a query.",
                        other: "A page has no more than {count} filters. Remove this one, or ask by a query."
                    )
                return row
            }
    }

    /// The row as a filter of a query.
    ///
    /// - Throws: `invalidArgument` saying what is wrong with the field or the value.
    func condition() throws(StatusError) -> (field: FieldPath, operand: [UInt8]) {
        guard !field.utf8.isEmpty else { throw StatusError(.invalidArgument, "Name the field to look at, such as author.name.") }
        return (try FieldText.path(field), try operandJSON())
    }

    private func operandJSON() throws(StatusError) -> [UInt8] {
        switch op {
        case .near:
            if operand.kind == .json { return Array(try operand.json().rawBytes) }
            return try FilterPlace(circle: operand.text).json
        case .within:
            if operand.kind == .json { return Array(try operand.json().rawBytes) }
            return try FilterPlace(box: operand.text).json
        case .in, .notIn, .arrayContainsAny:
            if operand.kind == .json || operand.text.utf8.first == UInt8(ascii: "[") { return Array(try operand.json().rawBytes) }
            var values: [Value] = []
            for part in operand.text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                var text = part.drop { $0 == UInt8(ascii: " ") }
                while text.last == UInt8(ascii: " ") { text.removeLast() }
                values.append(try TypedText(String(Substring(text)), as: operand.kind).value())
            }
            return Value.array(values).json
        default:
            return try operand.value().json
        }
    }
}

extension FilterRow {
    /// Reads a row from an address; what can't be read stands in the row as it is, with what is wrong with it.
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
            operand = TypedText(json, as: .json)
            fault = "Expected a field, an operator and a value as JSON, such as numberOfPages >= 200."
            return
        }
        self.op = op
        operand = Self.operand(of: op, json: json)
    }

    /// The text that stands for the row in an address; nil when the row can't be read.
    var text: UTF8Key? {
        guard let (field, operand) = try? condition() else { return nil }
        return UTF8Key("\(FieldText.text(field)) \(op.rawValue) \(VisibleJSON.text(operand))")
    }

    /// The row as an attribute can hold it, without characters that nobody sees.
    var visible: FilterRow {
        var row = self
        row.field = (try? FieldText.path(field)).map { FieldText.text($0) } ?? DisplayText(field).plain
        row.operand = operand.visible
        return row
    }

    private static func operand(of op: Condition.Operator, json: String) -> TypedText {
        let raw = TypedText(json, as: .json)
        guard let node = try? raw.json() else { return raw }
        switch op {
        case .near: return FilterPlace(circle: node).map { TypedText($0.text, as: .geoPoint) } ?? raw
        case .within: return FilterPlace(box: node).map { TypedText($0.text, as: .geoPoint) } ?? raw
        case .in, .notIn, .arrayContainsAny: return TypedText(VisibleJSON.text(Array(json.utf8)), as: .json)
        default: return (try? Value(json: node)).map { TypedText($0) } ?? raw
        }
    }
}
