import DocumentModel
import UTF8Text

/// The rows of the field editor. The contents of a map or array follow its own row, one level deeper.
struct EditorRows: Sendable {
    private(set) var rows: [EditorRow] = []

    /// The maximum number of rows of a document that the editor opens. Larger documents are edited as JSON.
    static let openLimit = 300
    /// The maximum number of rows, including added ones.
    static let maximumCount = 2 * openLimit
    /// The maximum size of the JSON of a document that the editor opens.
    static let byteLimit = 128 << 10

    /// Creates the rows of an existing document; `nil` if it exceeds the limits.
    init?(_ document: EncodedDocument, fields: MapValue) {
        guard document.fieldsJSON.count <= Self.byteLimit else { return nil }
        self.init(fields)
        guard rows.count <= Self.openLimit else { return nil }
    }

    /// Creates the rows of fields, up to one more than ``openLimit``.
    init(_ fields: MapValue) {
        for (key, value) in fields { append(value, name: key, depth: 0) }
    }

    /// Decodes the rows of a submitted form; `nil` if it is malformed.
    init?(_ form: Form) {
        guard let count = form["rows"].flatMap({ Int($0.string) }), (0...Self.maximumCount).contains(count) else { return nil }
        for number in 0..<count {
            guard let row = EditorRow(number, of: form), row.depth <= (rows.last?.depth ?? -1) + 1 else { return nil }
            rows.append(row)
        }
    }

    private mutating func append(_ value: Value, name: UTF8Key?, depth: Int) {
        // One row more than the limit shows that the limit is exceeded.
        guard rows.count <= Self.openLimit else { return }
        rows.append(EditorRow(value, name: name, depth: depth))
        switch value {
        case .map(let map): for (key, value) in map { append(value, name: key, depth: depth + 1) }
        case .array(let elements): for value in elements { append(value, name: nil, depth: depth + 1) }
        default: break
        }
    }
}

extension EditorRows {
    /// Returns whether a row is an element of an array.
    func isElement(_ number: Int) -> Bool {
        parent(of: number).map { rows[$0].type == .array } ?? false
    }

    /// Returns the row of the enclosing map or array.
    func parent(of number: Int) -> Int? {
        rows[..<number].lastIndex { $0.depth < rows[number].depth }
    }

    /// Returns a row and its contents.
    func subtree(of number: Int) -> Range<Int> {
        let end = rows[(number + 1)...].firstIndex { $0.depth <= rows[number].depth } ?? rows.endIndex
        return number..<end
    }

    /// Performs the action of a button, such as `add`, `add-3` or `remove-3`. An action on a missing row has no effect.
    ///
    /// - Returns: `false` when no row can be added because of ``maximumCount``.
    @discardableResult
    mutating func apply(_ action: UTF8Key) -> Bool {
        for index in rows.indices { rows[index].isNew = false }
        let parts = action.utf8.split(separator: UInt8(ascii: "-"))
        let number = parts.dropFirst().first.flatMap { Int(Substring($0)) }
        let verb = parts.first.map { UTF8Key(Substring($0)) }
        guard verb != "add" || rows.count < Self.maximumCount else { return false }
        guard let number else {
            if action == "add" { rows.append(EditorRow(newAt: 0)) }
            return true
        }
        guard rows.indices.contains(number) else { return true }
        switch verb {
        case "add": rows.insert(EditorRow(newAt: rows[number].depth + 1), at: subtree(of: number).upperBound)
        case "remove": rows.removeSubrange(subtree(of: number))
        case "up": moveUp(number)
        case "down": if let next = nextSibling(of: number) { moveUp(next) }
        default: break
        }
        return true
    }

    private mutating func moveUp(_ number: Int) {
        let depth = rows[number].depth
        guard let before = rows[..<number].lastIndex(where: { $0.depth <= depth }), rows[before].depth == depth else { return }
        let range = subtree(of: number)
        let movedRows = rows[range]
        rows.removeSubrange(range)
        rows.insert(contentsOf: movedRows, at: before)
    }

    private func nextSibling(of number: Int) -> Int? {
        let end = subtree(of: number).upperBound
        return end < rows.count && rows[end].depth == rows[number].depth ? end : nil
    }
}

extension EditorRows {
    /// Parses all rows; returns `nil` and adds the errors when some are invalid.
    func fields(addingTo problems: inout FormProblems) -> MapValue? {
        var parser = Parser(rows: rows)
        let fields = parser.map(at: 0)
        for (id, message) in parser.errors { problems.add(message, at: id) }
        return parser.errors.isEmpty ? fields : nil
    }

    /// Parses the rows in order and continues after errors.
    private struct Parser {
        let rows: [EditorRow]
        var errors: [(id: String, message: String)] = []
        private var next = 0

        init(rows: [EditorRow]) {
            self.rows = rows
        }

        mutating func map(at depth: Int) -> MapValue {
            var map = MapValue()
            while next < rows.count, rows[next].depth == depth {
                let number = next
                let value = value()
                do throws(EditorRow.InvalidInput) {
                    let key = try rows[number].key()
                    if map[key] != nil {
                        throw EditorRow.InvalidInput(
                            message: localized("Another field has the same name. Rename or remove one of them.")
                        )
                    }
                    map[key] = value
                } catch {
                    errors.append(("r\(number)-name", error.message))
                }
            }
            return map
        }

        private mutating func value() -> Value {
            let (number, row) = (next, rows[next])
            next += 1
            if row.hasLeftoverText {
                errors.append(
                    (
                        "r\(number)-value",
                        localized(
                            "A map or array can’t have text. Move the text into a field, delete it, or change the type back."
                        )
                    )
                )
            }
            if row.type == .map { return .map(map(at: row.depth + 1)) }
            if row.type == .array {
                var elements: [Value] = []
                while next < rows.count, rows[next].depth == row.depth + 1 {
                    if !rows[next].name.utf8.isEmpty {
                        errors.append(
                            (
                                "r\(next)-name",
                                localized("Array elements have no names. Delete the name, or change the array to a map.")
                            )
                        )
                    }
                    elements.append(value())
                }
                return .array(elements)
            }
            if next < rows.count, rows[next].depth > row.depth {
                while next < rows.count, rows[next].depth > row.depth { next += 1 }
                errors.append(
                    (
                        "r\(number)-type",
                        localized("This map or array still has contents. Remove them first, or change the type back.")
                    )
                )
            }
            do throws(EditorRow.InvalidInput) {
                return try row.value()
            } catch {
                errors.append(("r\(number)-value", error.message))
                return .null
            }
        }
    }
}
