/// A place in a file of text.
struct TextPlace: Hashable, Sendable {
    /// The line, from 1.
    var line = 1
    /// The place in the line, in Unicode scalars, from 1; nil where only the line is known.
    var column: Int?

    /// The place of something in a text that begins at this place, by its line and column in that text.
    func adding(line: Int, column: Int) -> TextPlace {
        TextPlace(line: self.line + line - 1, column: line == 1 ? (self.column ?? 1) + column - 1 : column)
    }
}

extension TextPlace {
    /// How people read it.
    var text: String {
        let line = Counting.grouped(line)
        guard let column else { return localized("line {line}", ["line": line]) }
        return localized("line {line}, column {column}", ["line": line, "column": Counting.grouped(column)])
    }
}
