import DocumentModel
import StrictJSON

/// A table of RFC 4180: a line of names, then a line a document, the first column its ID.
///
/// Programs for tables run what looks like a formula. So a text that begins with a sign of one, whatever blanks are before it, gets a
/// `'` before it, and so does one that looks like JSON; the first line says so, unless the table is for machines. Numbers stay numbers. A
/// field that a document doesn't have is nothing, an empty text is `""`. Arrays, maps and vectors are JSON.
///
/// Imported again, such a table gives the same documents, but for bytes, references and geo points, which come back as texts.
struct CSVExportWriter: ExportWriter {
    private let columns: [FieldPath]
    private let isRaw: Bool

    /// - Parameter isRaw: Whether texts are to stay as they are, for programs that take no formulas.
    init(columns: [FieldPath], isRaw: Bool) {
        self.columns = columns
        self.isRaw = isRaw
    }

    func begin() -> [UInt8] {
        let names = line([cell(Self.idColumn)] + columns.map { cell(Self.name(of: $0)) })
        // Without it nobody could tell a `'` of the text itself from a mark.
        return isRaw ? names : Array((CSVRows.markComment + "\r\n").utf8) + names
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

    /// A line of one cell more than the others, so that it is no document, however few those are.
    func breakOff(_ reason: String) -> [UInt8] {
        line([cell("# " + reason, alwaysQuoted: true)] + [[UInt8]](repeating: [], count: columns.count + 1))
    }

    private static let idColumn = FieldPath.documentName.description

    /// What stands above a column: a name as it is where it is read as no other path, else the path in its syntax.
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
        case .double(let double): Array(Number.text(double).utf8)
        case .timestamp(let time): Array(time.rfc3339.utf8)
        case .string(let text): cell(text, alwaysQuoted: true)
        case .bytes(let bytes): cell(Base64.standard.encode(bytes), alwaysQuoted: true)
        case .reference(let path): cell(path.string, alwaysQuoted: true)
        case .geoPoint(let point): Self.quoted(Coordinates.decimal(point))
        case .array, .map, .vector: Self.quoted(String(decoding: value.json, as: UTF8.self))
        }
    }

    /// - Parameter alwaysQuoted: Whether it stands within quotes even where it needs none, so that `42` is known for a text.
    private func cell(_ text: String, alwaysQuoted: Bool = false) -> [UInt8] {
        Self.quoted(!isRaw && Self.needsMark(text) ? "'" + text : text, always: alwaysQuoted)
    }

    /// A text within quotes where it needs them.
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

    /// Whether a text looks like a formula or JSON, or as if it were marked.
    private static func needsMark(_ text: String) -> Bool {
        switch text.utf8.first {
        case UInt8(ascii: "'"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            return true
        default: break
        }
        // What programs pass over before they look for a formula.
        let first = text.unicodeScalars.first { scalar in
            let properties = scalar.properties
            let isPassedOver = properties.isWhitespace || [.format, .control].contains(properties.generalCategory)
            return !isPassedOver && scalar != "\"" && scalar != "'"
        }
        return switch first {
        case "=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": true
        default: false
        }
    }
}
