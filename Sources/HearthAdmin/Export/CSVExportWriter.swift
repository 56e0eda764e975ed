import DocumentModel
import UTF8Text

/// Writes CSV (RFC 4180): a header row, then one row for each document, whose first column is the document's ID.
///
/// Spreadsheets execute text that looks like a formula. Text that starts with a formula character, after any whitespace, is
/// therefore prefixed with `'`, as is text that looks like JSON. A comment in the first line declares this, unless raw output is
/// requested. Numbers are not prefixed. A missing field is an empty cell, an empty string is `""`. Arrays, maps and vectors are
/// JSON.
///
/// Importing the file restores the same documents, except that bytes, references and geo points become strings.
struct CSVExportWriter: ExportWriter {
    private let columns: [FieldPath]
    private let isRaw: Bool

    /// - Parameter isRaw: Whether text is written without the formula prefix.
    init(columns: [FieldPath], isRaw: Bool) {
        self.columns = columns
        self.isRaw = isRaw
    }

    func begin() -> [UInt8] {
        let names = line([cell(Self.idColumn)] + columns.map { cell(Self.name(of: $0)) })
        // The comment distinguishes the prefix from a `'` of the text itself.
        return isRaw ? names : Array((CSVParser.apostropheEscapeComment + "\r\n").utf8) + names
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

    private static let idColumn = FieldPath.documentName.description

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
        case .string(let text): cell(text, alwaysQuoted: true)
        case .bytes(let bytes): cell(Base64.standard.encode(bytes), alwaysQuoted: true)
        case .reference(let path): cell(path.string, alwaysQuoted: true)
        case .geoPoint(let point): Self.quoted(CoordinateFormat.decimal(point))
        case .array, .map, .vector: Self.quoted(String(decoding: value.json, as: UTF8.self))
        }
    }

    /// - Parameter alwaysQuoted: Whether to quote text that needs no quotes, so that `42` is recognized as a string.
    private func cell(_ text: String, alwaysQuoted: Bool = false) -> [UInt8] {
        Self.quoted(!isRaw && Self.needsPrefix(text) ? "'" + text : text, always: alwaysQuoted)
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
