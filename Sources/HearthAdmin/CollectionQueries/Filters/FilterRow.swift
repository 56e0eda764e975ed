import DocumentModel
import StrictJSON
import UTF8Text

/// A filter as a row of the filter form: a field, an operator, and a value's text and type.
///
/// In a URL it is one parameter, `numberOfPages >= 200`: the field path, the operator and the operand as JSON, separated by
/// spaces. `title prefix "The "` is a range: of the strings that begin with a text.
struct FilterRow: Sendable {
    var field = ""
    var op = Condition.Operator.equal
    /// True if the operand is the beginning of strings; the operator is then `>=`.
    var isPrefix = false
    var operand = ValueInput("", as: .automatic)
    /// The validation error of the row.
    var error: String?

    init() {}

    /// Creates a row from submitted form fields.
    init(field: String, op: String, kind: String, text: String) {
        self.field = field
        isPrefix = UTF8Key(op) == UTF8Key(Self.prefixOperator)
        self.op =
            isPrefix ? .greaterOrEqual : Condition.Operator.allCases.first { UTF8Key($0.rawValue) == UTF8Key(op) } ?? .equal
        let known = ValueInput.Kind.allCases.first { UTF8Key($0.rawValue) == UTF8Key(kind) }
        operand = ValueInput(text, as: known ?? .automatic)
        if UTF8Key(op) != UTF8Key(operatorName), !op.utf8.isEmpty { error = "Unknown operator \(Excerpt(op))." }
        if known == nil, !kind.utf8.isEmpty { error = "Unknown type \(Excerpt(kind))." }
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

    /// The name of the operator in forms and URLs.
    var operatorName: String { isPrefix ? Self.prefixOperator : op.rawValue }

    /// The name of the operator for the beginning of strings, which is not one of ``Condition``.
    static let prefixOperator = "prefix"

    /// Returns the field and the JSON operand of the filter.
    ///
    /// - Throws: `invalidArgument` when the field or the value is invalid.
    func condition() throws(StatusError) -> (field: FieldPath, operand: [UInt8]) {
        guard !field.utf8.isEmpty else { throw StatusError(.invalidArgument, "Enter a field, such as author.name.") }
        return (try FieldPathText.path(field), try operandJSON())
    }

    /// Returns the row with a type for an operand without one.
    ///
    /// - Parameter types: The types of the field's values, as far as they are known.
    func resolvingType(fitting types: FieldTypes) -> FilterRow {
        guard operand.kind == .automatic, !isBlank else { return self }
        var row = self
        switch op {
        case _ where isPrefix: row.operand.kind = .string
        case .near, .within: row.operand.kind = .geoPoint
        case .in, .notIn, .arrayContainsAny:
            let types = op == .arrayContainsAny ? types.elements : types.values
            guard operand.text.utf8.first != UInt8(ascii: "[") else {
                row.operand.kind = .json
                break
            }
            let values = operandParts.map { AutomaticValue($0).reading(fitting: types).value }
            row.operand = ValueInput(EscapedJSON.text(Value.array(values).json), as: .json)
        case .arrayContains: row.operand.kind = AutomaticValue(operand.text).reading(fitting: types.elements).kind
        default: row.operand.kind = AutomaticValue(operand.text).reading(fitting: types.values).kind
        }
        return row
    }

    /// Returns the row for display with the type “automatic” if it stands for the same operand; otherwise the row as it is.
    ///
    /// A form that has been submitted without a type is then still without one, so that another field or value gets its own type.
    ///
    /// - Parameter types: The types of the field's values, as far as they are known.
    func restoringAutomaticType(fitting types: FieldTypes) -> FilterRow {
        var row = escaped
        row.operand.kind = .automatic
        guard error == nil, let known = try? condition().operand,
            let automatic = try? row.resolvingType(fitting: types).condition().operand, automatic == known
        else { return self }
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
        case _ where isPrefix:
            guard case .string(let text) = operand.kind == .automatic ? .string(operand.text) : try operand.value() else {
                throw StatusError(.invalidArgument, "Expected a string: only strings begin with a text.")
            }
            if text.utf8.isEmpty { throw StatusError(.invalidArgument, "Enter the text that the strings begin with.") }
            return Value.string(text).json
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

extension [FilterRow] {
    /// Returns the rows for display, with the type “automatic” wherever it stands for the same operand.
    ///
    /// - Parameter types: Returns the types of a field's values.
    func restoringAutomaticTypes(_ types: (FieldPath) async -> FieldTypes) async -> [FilterRow] {
        var known: [FieldPath: FieldTypes] = [:]
        var rows = self
        for (index, row) in enumerated() where !row.isBlank && row.error == nil {
            guard let field = try? FieldPathText.path(row.field) else { continue }
            let fieldTypes: FieldTypes
            if let found = known[field] { fieldTypes = found } else { fieldTypes = await types(field) }
            known[field] = fieldTypes
            rows[index] = row.restoringAutomaticType(fitting: fieldTypes)
        }
        return rows
    }
}

extension FilterRow {
    /// Writes the filter as JSON for the parameters of a query: one condition, or the two of a range.
    func write(to writer: inout JSONWriter) throws(StatusError) {
        if let error { throw StatusError(.invalidArgument, error) }
        let (field, operand) = try condition()
        var conditions = [(op, operand)]
        if isPrefix, let prefix = (try? JSONText(operand))?.root.string, let end = Self.successor(ofPrefix: prefix) {
            conditions.append((.less, Value.string(end).json))
        }
        if conditions.count > 1 {
            writer.beginObject()
            writer.key("and")
            writer.beginArray()
        }
        for (op, operand) in conditions {
            writer.beginObject()
            writer.key("field")
            writer.string(field.description)
            writer.key("op")
            writer.string(op.rawValue)
            writer.key("value")
            writer.raw(operand)
            writer.endObject()
        }
        if conditions.count > 1 {
            writer.endArray()
            writer.endObject()
        }
    }

    /// Returns the least string that is greater than all strings with a prefix; `nil` if there is none. Strings are ordered by their
    /// scalars.
    static func successor(ofPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // The scalar after the last one before the surrogates is the first one after them.
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            text.append(scalar)
            return String(text)
        }
        return nil
    }

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
        if name.elementsEqual(Self.prefixOperator.utf8) {
            (isPrefix, op) = (true, .greaterOrEqual)
            operand = Self.operand(of: op, json: json)
            return
        }
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
        return UTF8Key("\(FieldPathText.text(field)) \(operatorName) \(EscapedJSON.text(operand))")
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
