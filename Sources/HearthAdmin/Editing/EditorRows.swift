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

    /// Focuses the value at a location; its type if it is a map or array.
    mutating func focus(_ location: ElementLocation) {
        var (next, depth) = (0, 0)
        var found: Int?
        for component in location.components {
            let siblings = rows.indices[next...].prefix { rows[$0].depth >= depth }.filter { rows[$0].depth == depth }
            found =
                switch component {
                case .index(let index): index < siblings.count ? siblings[index] : nil
                case .name(let key): siblings.first { (try? rows[$0].key()) == key }
                }
            guard let found else { return }
            (next, depth) = (found + 1, depth + 1)
        }
        if let found { rows[found].focus = rows[found].type.isContainer ? .type : .value }
    }

    /// Returns the row whose button searches for the documents that it may refer to, by the action of the button; `nil` for another
    /// action.
    func referenceRow(of action: UTF8Key) -> Int? {
        let parts = action.utf8.split(separator: UInt8(ascii: "-"))
        guard parts.count == 2, UTF8Key(Substring(parts[0])) == "find", let number = Int(Substring(parts[1])),
            rows.indices.contains(number), rows[number].type == .reference
        else { return nil }
        return number
    }

    /// Sets the suggestions for the reference of a row, and focuses it.
    mutating func suggest(_ suggestions: [String], at number: Int) {
        rows[number].suggestions = suggestions
        rows[number].focus = .value
    }

    /// Returns the row of the enclosing map or array.
    func parent(of number: Int) -> Int? {
        rows[..<number].lastIndex { $0.depth < rows[number].depth }
    }

    /// Returns the index of a row in its map or array.
    func index(of number: Int) -> Int {
        let siblings = (parent(of: number).map { $0 + 1 } ?? 0)..<number
        return siblings.count { rows[$0].depth == rows[number].depth }
    }

    /// Returns the path of a row for people: `tags[0].color`, and a placeholder for a field without a name.
    func path(of number: Int) -> String {
        let parent = parent(of: number).map { path(of: $0) } ?? ""
        guard !isElement(number) else { return "\(parent)[\(index(of: number))]" }
        let name = rows[number].name.truncatingMiddle(toScalars: 60)
        return (parent.utf8.isEmpty ? "" : "\(parent).") + (name.utf8.isEmpty ? localized("new field") : name)
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
        let parts = action.utf8.split(separator: UInt8(ascii: "-"))
        let number = parts.dropFirst().first.flatMap { Int(Substring($0)) }
        let verb = parts.first.map { UTF8Key(Substring($0)) }
        guard verb != "add" || rows.count < Self.maximumCount else { return false }
        guard let number else {
            switch action {
            case "add": rows.append(EditorRow(newAt: 0, focusing: .name))
            case "types": focusChangedType()
            default: break
            }
            return true
        }
        guard rows.indices.contains(number) else { return true }
        switch verb {
        case "add":
            let isArray = rows[number].type == .array
            rows.insert(
                EditorRow(newAt: rows[number].depth + 1, focusing: isArray ? .value : .name),
                at: subtree(of: number).upperBound
            )
        case "remove":
            rows.removeSubrange(subtree(of: number))
            if !rows.isEmpty { rows[min(number, rows.count - 1)].focus = .remove }
        case "up":
            rows[number].focus = .up
            moveUp(number)
        case "down":
            rows[number].focus = .down
            if let next = nextSibling(of: number) { moveUp(next) }
        default: break
        }
        return true
    }

    /// Focuses the value of the first row whose type the user has changed, or its type when it has no value to enter.
    private mutating func focusChangedType() {
        guard let number = rows.firstIndex(where: { $0.shownType != nil && $0.shownType != $0.type }) else { return }
        let hasValue = rows[number].type != .null && !rows[number].type.isContainer
        rows[number].focus = hasValue ? .value : .type
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
        for (number, part, message) in parser.errors {
            problems.add(message, at: "r\(number)-\(part)", label: path(of: number))
        }
        return parser.errors.isEmpty ? fields : nil
    }

    /// Parses the rows in order and continues after errors.
    private struct Parser {
        let rows: [EditorRow]
        var errors: [(number: Int, part: StaticString, message: String)] = []
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
                    errors.append((number, "name", error.message))
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
                        number, "value",
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
                                next, "name",
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
                        number, "type",
                        localized("This map or array still has contents. Remove them first, or change the type back.")
                    )
                )
            }
            do throws(EditorRow.InvalidInput) {
                return try row.value()
            } catch {
                errors.append((number, "value", error.message))
                return .null
            }
        }
    }
}
