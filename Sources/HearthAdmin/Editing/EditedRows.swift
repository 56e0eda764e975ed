import DocumentModel
import StrictJSON

/// The fields of a document in the editor: each on a row, those of maps and arrays on the rows after their own, one step deeper.
struct EditedRows: Sendable {
    private(set) var rows: [EditedRow] = []

    /// How many rows a document has at most that the editor is opened for.
    static let limit = 300
    /// How many rows the editor has at most, when fields have been added.
    static let maximumCount = 2 * limit
    /// How much of a document the editor takes at most; what is larger is edited as JSON.
    static let byteLimit = 128 << 10

    /// Takes the fields that are there; nil when they are too many or too large.
    init?(_ document: EncodedDocument, fields: MapValue) {
        guard document.fieldsJSON.count <= Self.byteLimit else { return nil }
        self.init(fields)
        guard rows.count <= Self.limit else { return nil }
    }

    /// Takes fields, however many.
    init(_ fields: MapValue) {
        for (key, value) in fields { append(value, name: key, depth: 0) }
    }

    /// Takes what a form has sent; nil when it isn't of the editor.
    init?(_ form: Form) {
        guard let count = form["rows"].flatMap({ Int($0.string) }), (0...Self.maximumCount).contains(count) else { return nil }
        for number in 0..<count {
            guard let row = EditedRow(number, of: form), row.depth <= (rows.last?.depth ?? -1) + 1 else { return nil }
            rows.append(row)
        }
    }

    private mutating func append(_ value: Value, name: UTF8Key?, depth: Int) {
        // No more than it takes to know that they are too many.
        guard rows.count <= Self.limit else { return }
        rows.append(EditedRow(value, name: name, depth: depth))
        switch value {
        case .map(let map): for (key, value) in map { append(value, name: key, depth: depth + 1) }
        case .array(let elements): for value in elements { append(value, name: nil, depth: depth + 1) }
        default: break
        }
    }
}

extension EditedRows {
    /// Whether a row is an element of an array.
    func isElement(_ number: Int) -> Bool {
        parent(of: number).map { rows[$0].type == .array } ?? false
    }

    /// The row of the map or array around a row.
    func parent(of number: Int) -> Int? {
        rows[..<number].lastIndex { $0.depth < rows[number].depth }
    }

    /// A row and all that is in it.
    func subtree(of number: Int) -> Range<Int> {
        let end = rows[(number + 1)...].firstIndex { $0.depth <= rows[number].depth } ?? rows.endIndex
        return number..<end
    }

    /// Does what a button of the editor asks for, such as `add`, `add-3` or `remove-3`; nothing when there is no such row.
    ///
    /// - Returns: Whether there was room for it.
    @discardableResult
    mutating func apply(_ action: UTF8Key) -> Bool {
        for index in rows.indices { rows[index].isNew = false }
        let parts = action.utf8.split(separator: UInt8(ascii: "-"))
        let number = parts.dropFirst().first.flatMap { Int(Substring($0)) }
        let verb = parts.first.map { UTF8Key(Substring($0)) }
        guard verb != "add" || rows.count < Self.maximumCount else { return false }
        guard let number else {
            if action == "add" { rows.append(EditedRow(newAt: 0)) }
            return true
        }
        guard rows.indices.contains(number) else { return true }
        switch verb {
        case "add": rows.insert(EditedRow(newAt: rows[number].depth + 1), at: subtree(of: number).upperBound)
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
        let moved = rows[range]
        rows.removeSubrange(range)
        rows.insert(contentsOf: moved, at: before)
    }

    private func nextSibling(of number: Int) -> Int? {
        let end = subtree(of: number).upperBound
        return end < rows.count && rows[end].depth == rows[number].depth ? end : nil
    }
}

extension EditedRows {
    /// The fields that were typed; nil when something is wrong, which is noted.
    func fields(noting problems: inout FormProblems) -> MapValue? {
        var reader = Reader(rows: rows)
        let fields = reader.map(at: 0)
        for (id, message) in reader.faults { problems.add(message, at: id) }
        return reader.faults.isEmpty ? fields : nil
    }

    /// Reads the rows in their order, and goes on after what is wrong.
    private struct Reader {
        let rows: [EditedRow]
        var faults: [(id: String, message: String)] = []
        private var next = 0

        init(rows: [EditedRow]) {
            self.rows = rows
        }

        mutating func map(at depth: Int) -> MapValue {
            var map = MapValue()
            while next < rows.count, rows[next].depth == depth {
                let number = next
                let value = value()
                do throws(EditedRow.Fault) {
                    let key = try rows[number].key()
                    if map[key] != nil {
                        throw EditedRow.Fault(
                            message: localized("Another field has this name already. Rename or remove one of them.")
                        )
                    }
                    map[key] = value
                } catch {
                    faults.append(("r\(number)-name", error.message))
                }
            }
            return map
        }

        private mutating func value() -> Value {
            let (number, row) = (next, rows[next])
            next += 1
            if row.hasLeftoverText {
                faults.append(
                    (
                        "r\(number)-value",
                        localized(
                            "A map or array has no text of its own. Move it into a field, take it away, or change the type back."
                        )
                    )
                )
            }
            if row.type == .map { return .map(map(at: row.depth + 1)) }
            if row.type == .array {
                var elements: [Value] = []
                while next < rows.count, rows[next].depth == row.depth + 1 {
                    if !rows[next].name.utf8.isEmpty {
                        faults.append(
                            (
                                "r\(next)-name",
                                localized("Elements of an array have no names. Take the name away, or make the array a map.")
                            )
                        )
                    }
                    elements.append(value())
                }
                return .array(elements)
            }
            if next < rows.count, rows[next].depth > row.depth {
                while next < rows.count, rows[next].depth > row.depth { next += 1 }
                faults.append(
                    (
                        "r\(number)-type",
                        localized("This was a map or array, and still has contents. Remove them first, or change the type back.")
                    )
                )
            }
            do throws(EditedRow.Fault) {
                return try row.value()
            } catch {
                faults.append(("r\(number)-value", error.message))
                return .null
            }
        }
    }
}
