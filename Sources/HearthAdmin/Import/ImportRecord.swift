import DocumentModel

/// A document in an imported file.
struct ImportRecord: Sendable {
    /// The number of the line on which it starts.
    let line: Int
    let path: DocumentPath
    let fields: MapValue
    /// The approximate size of its write.
    let byteCount: Int
}

/// The error of a record that cannot be imported.
struct ImportRecordError: Error {
    let position: TextPosition
    let error: StatusError

    init(position: TextPosition, error: StatusError) {
        (self.position, self.error) = (position, error)
    }

    /// Creates an error at a line, without a column.
    init(line: Int, error: StatusError) {
        self.init(position: TextPosition(line: line), error: error)
    }
}

extension BackgroundJob {
    /// Returns the error of a record that cannot be imported, as pages show it.
    func itemError(_ recordError: ImportRecordError) -> ItemError {
        itemError(recordError.error, at: recordError.position.text)
    }
}

/// A position in a text file.
struct TextPosition: Hashable, Sendable {
    /// The line number, from 1.
    var line = 1
    /// The position in the line in Unicode scalars, from 1; `nil` if only the line is known.
    var column: Int?

    /// Converts a position in text that begins here to a position in the file.
    func adding(line: Int, column: Int) -> TextPosition {
        TextPosition(line: self.line + line - 1, column: line == 1 ? (self.column ?? 1) + column - 1 : column)
    }

    /// The position in the language of the page.
    var text: String {
        let line = NumberFormat.grouped(line)
        guard let column else { return localized("line {line}", ["line": line]) }
        return localized("line {line}, column {column}", ["line": line, "column": NumberFormat.grouped(column)])
    }
}
