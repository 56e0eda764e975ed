import DocumentModel
import StrictJSON

/// The columns of a table, and how its cells become values.
struct CSVColumns {
    private let plan: ImportPlan
    /// The fields; nil for the column of IDs.
    private let fields: [FieldPath?]
    private let isMarked: Bool

    /// The name of the column of IDs in the tables that pages export.
    private static let idColumn = FieldPath.documentName.segments[0]

    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - isMarked: Whether a `'` before a text is a mark.
    /// - Throws: `invalidArgument` for a name that is no field path, one that is there twice or inside another, and without a column of IDs
    ///   that is asked for.
    init(_ header: [CSVRows.Cell], plan: ImportPlan, isMarked: Bool) throws(StatusError) {
        self.plan = plan
        self.isMarked = isMarked
        let names = header.map { UTF8Key(Self.unmarked($0.text, isMarked)) }
        let idColumn = plan.idField ?? (names.contains(Self.idColumn) ? Self.idColumn : nil)
        if let idColumn, !names.contains(idColumn) {
            throw StatusError(.invalidArgument, "The table has no column \(Excerpt(idColumn.string)) to take the IDs from.")
        }
        var fields: [FieldPath?] = []
        for name in names {
            if name == idColumn {
                fields.append(nil)
                continue
            }
            // What is no path of a field in its syntax is the name of one.
            let path = if let path = try? FieldPath(name.string) { path } else { try FieldPath(segments: [name]) }
            fields.append(path)
        }
        self.fields = fields
        try refuseOverlaps(names)
    }

    /// Refuses columns of which one would overwrite another.
    private func refuseOverlaps(_ names: [UTF8Key]) throws(StatusError) {
        var places: [FieldPath: Int] = [:]
        for (index, field) in fields.enumerated() {
            guard let field else { continue }
            if let first = places.updateValue(index, forKey: field) {
                throw StatusError(
                    .invalidArgument,
                    "The column \(Excerpt(names[index].string)) is there twice: columns \(first + 1) and \(index + 1)."
                )
            }
        }
        for (index, field) in fields.enumerated() {
            let segments = field?.segments ?? []
            for count in 1..<max(1, segments.count) {
                guard let outer = places[try FieldPath(segments: Array(segments.prefix(count)))] else { continue }
                throw StatusError(
                    .invalidArgument,
                    "The column \(Excerpt(names[index].string)), number \(index + 1), is a part of the column "
                        + "\(Excerpt(names[outer].string)), number \(outer + 1). Leave one of them out."
                )
            }
        }
    }

    /// The document of a row.
    func document(_ cells: [CSVRows.Cell]) throws(StatusError) -> (path: DocumentPath, fields: MapValue) {
        guard cells.count == fields.count else {
            throw StatusError(.invalidArgument, "Expected \(fields.count) cells as in the first line, found \(cells.count).")
        }
        var (map, id) = (MapValue(), String?.none)
        for (cell, field) in zip(cells, fields) {
            if let field {
                if let value = value(of: cell) { map.set(value, at: field) }
            } else {
                id = Self.unmarked(cell.text, isMarked)
            }
        }
        let path = try plan.path(id: id)
        try Document.validate(map, at: path)
        return (path, map)
    }

    /// What a cell stands for; nil for an empty one, which says that there is no such field.
    private func value(of cell: CSVRows.Cell) -> Value? {
        let text = Self.unmarked(cell.text, isMarked)
        if text.utf8.isEmpty { return cell.isQuoted ? .string("") : nil }
        // What is marked is a text, whatever it looks like.
        let hasMark = text.utf8.count < cell.text.utf8.count
        guard !plan.keepsTexts, !hasMark else { return .string(text) }
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

    /// A number, unless it is one that would be changed by being taken for one, such as a postal code.
    private static func number(_ text: String) -> Value? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let next = digits.dropFirst().first ?? 0
        let hasLeadingZero = digits.first == UInt8(ascii: "0") && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next)
        guard !hasLeadingZero else { return nil }
        if let integer = TypedNumber.integer(text) { return .integer(integer) }
        return TypedNumber.double(text).map { .double($0) }
    }

    /// A text without its mark.
    private static func unmarked(_ text: String, _ isMarked: Bool) -> String {
        isMarked && text.utf8.first == UInt8(ascii: "'") ? String(Substring(text.utf8.dropFirst())) : text
    }
}
