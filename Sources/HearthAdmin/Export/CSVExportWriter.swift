import DocumentModel
import UTF8Text

/// Writes CSV (RFC 4180): a header row, then one row for each document, whose first column is the document's ID.
///
/// Spreadsheets execute text that looks like a formula. Text that starts with a formula character, after any whitespace, is
/// therefore prefixed with `'`, as is text that looks like JSON, unless raw output is requested. A file with such prefixes declares
/// them in the name of the ID column, which then has the prefix as well. Numbers are not prefixed. A missing field is an empty cell, an empty string is `""`. Arrays, maps and vectors are
/// JSON.
///
/// Importing the file restores the same documents, except that bytes, references and geo points become strings.
struct CSVExportWriter: ExportWriter {
    private let columns: [FieldPath]
    private let hasEscapes: Bool

    /// - Parameter hasEscapes: Whether text that looks like a formula or JSON has the prefix. A file without such text needs none.
    init(columns: [FieldPath], hasEscapes: Bool) {
        self.columns = columns
        self.hasEscapes = hasEscapes
    }

    func begin() -> [UInt8] {
        // The prefix of the ID column distinguishes prefixes from a `'` of the text itself.
        let idColumn = hasEscapes ? CSVParser.escapedIDColumn : CSVParser.idColumn
        return line([Array(idColumn.utf8)] + columns.map { cell(Self.name(of: $0)) })
    }

    /// Returns whether a document has text that looks like a formula or JSON.
    ///
    /// - Parameter columns: The columns of the table; `nil` for all fields.
    static func needsEscapes(_ fields: MapValue, at path: DocumentPath, columns: [FieldPath]?) -> Bool {
        func needsPrefix(_ value: Value) -> Bool {
            text(of: value).map(Self.needsPrefix) ?? false
        }
        if Self.needsPrefix(path.id.key.string) { return true }
        guard let columns else { return fields.contains { needsPrefix($0.value) || Self.needsPrefix($0.key.string) } }
        return columns.contains { column in Self.needsPrefix(name(of: column)) || (fields[column].map(needsPrefix) ?? false) }
    }

    /// The text of a value that is written as text; `nil` for other values.
    private static func text(of value: Value) -> String? {
        switch value {
        case .string(let text): text
        case .bytes(let bytes): Base64.standard.encode(bytes)
        case .reference(let path): path.string
        default: nil
        }
    }

    func write(_ documents: [EncodedDocument]) throws(StatusError) -> [UInt8] {
        var bytes: [UInt8] = []
        for document in documents {
            let fields = try document.decoded().fields
            bytes += line([cell(document.path.id.key.string)] + columns.map { fields[$0].map(cell) ?? [] })
        }
        return bytes
    }

    func end() -> [UInt8] { [] }

    /// Returns a row with one cell more than the others, which no import accepts as a document.
    func abort(_ reason: String) -> [UInt8] {
        line([cell("# " + reason, alwaysQuoted: true)] + [[UInt8]](repeating: [], count: columns.count + 1))
    }

    /// Returns the header of a column: the plain field name if it is unambiguous, otherwise the field path.
    private static func name(of column: FieldPath) -> String {
        guard column.segments.count == 1, let name = column.segments.first?.string else { return column.description }
        return (try? FieldPath(name)) ?? column == column ? name : column.description
    }

    private func line(_ cells: [[UInt8]]) -> [UInt8] {
        Array(cells.joined(separator: CollectionOfOne(UInt8(ascii: ",")))) + "\r\n".utf8
    }

    private func cell(_ value: Value) -> [UInt8] {
        switch value {
        case .null: Array("null".utf8)
        case .boolean(let boolean): Array((boolean ? "true" : "false").utf8)
        case .integer(let integer): Array(integer.description.utf8)
        case .double(let double): Array(NumberFormat.roundTrip(double).utf8)
        case .timestamp(let time): Array(time.rfc3339.utf8)
        case .string, .bytes, .reference: cell(Self.text(of: value) ?? "", alwaysQuoted: true)
        case .geoPoint(let point): Self.quoted(CoordinateFormat.decimal(point))
        case .array, .map, .vector: Self.quoted(String(decoding: value.json, as: UTF8.self))
        }
    }

    /// - Parameter alwaysQuoted: Whether to quote text that needs no quotes, so that `42` is recognized as a string.
    private func cell(_ text: String, alwaysQuoted: Bool = false) -> [UInt8] {
        Self.quoted(hasEscapes && Self.needsPrefix(text) ? "'" + text : text, always: alwaysQuoted)
    }

    /// Quotes text if necessary.
    private static func quoted(_ text: String, always: Bool = false) -> [UInt8] {
        let needsQuotes =
            always || text.utf8.isEmpty
            || text.utf8.contains {
                [UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains($0)
            }
            || text.utf8.first == UInt8(ascii: " ") || text.utf8.last == UInt8(ascii: " ")
        guard needsQuotes else { return Array(text.utf8) }
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        return bytes + [UInt8(ascii: "\"")]
    }

    /// Returns whether text looks like a formula, JSON or prefixed text.
    private static func needsPrefix(_ text: String) -> Bool {
        switch text.utf8.first {
        case UInt8(ascii: "'"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            return true
        default: break
        }
        // Spreadsheets skip these characters before a formula.
        let first = text.unicodeScalars.first { scalar in
            let properties = scalar.properties
            let isSkipped = properties.isWhitespace || [.format, .control].contains(properties.generalCategory)
            return !isSkipped && scalar != "\"" && scalar != "'"
        }
        return switch first {
        case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }
}
