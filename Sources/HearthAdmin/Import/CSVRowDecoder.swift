import DocumentModel
import StrictJSON
import UTF8Text

/// Decodes the rows of a CSV table as documents, by the columns of its header row.
struct CSVRowDecoder {
    private let options: ImportOptions
    /// The field of each column; `nil` for the ID column.
    private let fields: [FieldPath?]
    private let hasApostropheEscapes: Bool

    /// The ID column of exported tables.
    private static let idColumn = FieldPath.documentName.segments[0]

    /// Creates a decoder for a table.
    ///
    /// - Throws: `invalidArgument` for an invalid column name, for duplicate and nested columns, and for a missing ID column.
    init(header: [CSVParser.Cell], options: ImportOptions, hasApostropheEscapes: Bool) throws(StatusError) {
        self.options = options
        self.hasApostropheEscapes = hasApostropheEscapes
        let names = header.map { UTF8Key(Self.unescaped($0.text, hasApostropheEscapes)) }
        let idColumn = options.idField ?? (names.contains(Self.idColumn) ? Self.idColumn : nil)
        if let idColumn, !names.contains(idColumn) {
            throw StatusError(.invalidArgument, "The table has no ID column \(Excerpt(idColumn.string)).")
        }
        var fields: [FieldPath?] = []
        for name in names {
            if name == idColumn {
                fields.append(nil)
                continue
            }
            // A name that is not a valid field path is the name of a top-level field.
            let path = if let path = try? FieldPath(name.string) { path } else { try FieldPath(segments: [name]) }
            fields.append(path)
        }
        self.fields = fields
        try checkOverlaps(names)
    }

    /// Rejects columns that would overwrite each other.
    private func checkOverlaps(_ names: [UTF8Key]) throws(StatusError) {
        var columns: [FieldPath: Int] = [:]
        for (index, field) in fields.enumerated() {
            guard let field else { continue }
            if let first = columns.updateValue(index, forKey: field) {
                throw StatusError(
                    .invalidArgument,
                    "Duplicate column \(Excerpt(names[index].string)): columns \(first + 1) and \(index + 1)."
                )
            }
        }
        for (index, field) in fields.enumerated() {
            let segments = field?.segments ?? []
            for count in 1..<max(1, segments.count) {
                guard let outer = columns[try FieldPath(segments: Array(segments.prefix(count)))] else { continue }
                throw StatusError(
                    .invalidArgument,
                    "Column \(index + 1), \(Excerpt(names[index].string)), is a subfield of column \(outer + 1), "
                        + "\(Excerpt(names[outer].string)). Remove one of them."
                )
            }
        }
    }

    /// Decodes a row.
    func document(_ cells: [CSVParser.Cell]) throws(StatusError) -> (path: DocumentPath, fields: MapValue) {
        guard cells.count == fields.count else {
            throw StatusError(
                .invalidArgument,
                "Expected \(fields.count.counted("cell")) as in the header row, found \(cells.count)."
            )
        }
        var (map, id) = (MapValue(), String?.none)
        for (cell, field) in zip(cells, fields) {
            if let field {
                if let value = value(of: cell) { map.set(value, at: field) }
            } else {
                id = Self.unescaped(cell.text, hasApostropheEscapes)
            }
        }
        let path = try options.path(id: id)
        try Document.validate(map, at: path)
        return (path, map)
    }

    /// Returns the value of a cell; `nil` for an empty cell, which means a missing field.
    ///
    /// Geo points, bytes and references are strings unless they are written as tagged JSON.
    private func value(of cell: CSVParser.Cell) -> Value? {
        let text = Self.unescaped(cell.text, hasApostropheEscapes)
        if text.utf8.isEmpty { return cell.isQuoted ? .string("") : nil }
        // An escaped cell is always a string.
        let isEscaped = text.utf8.count < cell.text.utf8.count
        guard !options.readsCellsAsStrings, !isEscaped else { return .string(text) }
        if let first = text.utf8.first, first == UInt8(ascii: "[") || first == UInt8(ascii: "{"),
            let json = try? JSONText(text).root,
            let value = try? Value(json: json)
        {
            return value
        }
        if cell.isQuoted { return .string(text) }
        switch UTF8Key(text) {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        return Self.number(text) ?? (try? Timestamp(rfc3339: text)).map { .timestamp($0) } ?? .string(text)
    }

    /// Parses a number. A number with leading zeros, such as a postal code, stays a string.
    private static func number(_ text: String) -> Value? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let next = digits.dropFirst().first ?? 0
        let hasLeadingZero = digits.first == UInt8(ascii: "0") && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next)
        guard !hasLeadingZero else { return nil }
        if let integer = NumberInput.integer(text) { return .integer(integer) }
        return NumberInput.double(text).map { .double($0) }
    }

    private static func unescaped(_ text: String, _ hasApostropheEscapes: Bool) -> String {
        hasApostropheEscapes && text.utf8.first == UInt8(ascii: "'") ? String(Substring(text.utf8.dropFirst())) : text
    }
}
