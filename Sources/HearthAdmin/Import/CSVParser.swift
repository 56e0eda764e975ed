import DocumentModel
import UTF8Text

/// An incremental CSV parser (RFC 4180). Lines may end with CR LF or LF.
struct CSVParser {
    struct Cell: Sendable {
        let text: String
        let isQuoted: Bool
    }

    struct Row: Sendable {
        /// The number of the line on which it starts.
        let line: Int
        let cells: [Cell]
        let byteCount: Int
    }

    private var buffer: [UInt8] = []
    private var index = 0
    /// True if the end of the file is in the buffer.
    private var isComplete = false
    /// True if the first line was checked for ``apostropheEscapeComment``.
    private var hasBegun = false
    /// True if an apostrophe at the start of a cell is an escape character.
    private(set) var hasApostropheEscapes = false
    /// The current line number.
    private(set) var line = 1

    /// The name of the ID column of exported tables.
    static let idColumn = FieldPath.documentName.description
    /// The first cell of an exported table with apostrophe escapes. They protect formulas, and strings that look like JSON.
    static let escapedIDColumn = "'" + idColumn

    /// The comment in the first line of a table with apostrophe escapes that was exported by an earlier version.
    static let apostropheEscapeComment = "# hearth: a ' before a formula is a mark"

    private static let maximumRowBytes = 16 << 20

    /// Appends bytes; an empty array marks the end of the file. The caller must first consume all rows with ``next()``.
    mutating func append(_ bytes: [UInt8]) {
        buffer.removeSubrange(..<index)
        index = 0
        buffer += bytes
        isComplete = bytes.isEmpty
    }

    /// Returns the next non-empty row; `nil` if more bytes are needed, and at the end.
    ///
    /// - Throws: `invalidArgument` for an unclosed quoted cell, for text after a closing quotation mark, and for invalid UTF-8.
    ///   The parser cannot continue after an error.
    mutating func next() throws(StatusError) -> Row? {
        guard hasBegun || begin() else { return nil }
        while index < buffer.count {
            let (start, startLine) = (index, line)
            var cells: [Cell] = []
            var isEndOfRow = false
            while !isEndOfRow {
                guard let cell = try cell(&isEndOfRow) else {
                    (index, line) = (start, startLine)
                    guard buffer.count - start <= Self.maximumRowBytes else {
                        throw StatusError(
                            .invalidArgument,
                            "The row is larger than \(Self.maximumRowBytes >> 20) MiB. Check whether a quoted cell is not closed."
                        )
                    }
                    return nil
                }
                cells.append(cell)
            }
            if cells.count == 1, cells[0].text.utf8.isEmpty, !cells[0].isQuoted { continue }
            return Row(line: startLine, cells: cells, byteCount: index - start)
        }
        return nil
    }

    /// Detects apostrophe escapes and skips their comment; returns `false` when more bytes are needed.
    private mutating func begin() -> Bool {
        // Programs that save the table again may quote the cell.
        for cell in [Self.escapedIDColumn, "\"\(Self.escapedIDColumn)\""].map({ Array($0.utf8) }) {
            if buffer.count <= cell.count, !isComplete, cell.starts(with: buffer) { return false }
            guard buffer.starts(with: cell) else { continue }
            let next = buffer.dropFirst(cell.count).first
            hasApostropheEscapes = next.map { $0.endsCell || $0 == UInt8(ascii: "\r") } ?? true
        }
        let comment = Array(Self.apostropheEscapeComment.utf8)
        if buffer.starts(with: comment) {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) ?? (isComplete ? buffer.count - 1 : nil) else {
                return false
            }
            (index, line, hasApostropheEscapes) = (end + 1, 2, true)
        } else if buffer.count < comment.count, !isComplete, comment.starts(with: buffer) {
            return false
        }
        hasBegun = true
        return true
    }

    /// Returns the next cell; `nil` if more bytes are needed.
    private mutating func cell(_ isLast: inout Bool) throws(StatusError) -> Cell? {
        let quote = UInt8(ascii: "\"")
        var text: [UInt8] = []
        let isQuoted = index < buffer.count && buffer[index] == quote
        if isQuoted {
            index += 1
            while true {
                guard index < buffer.count else {
                    guard isComplete else { return nil }
                    throw StatusError(
                        .invalidArgument,
                        "A quoted cell is not closed. Close it, or double the quotation marks inside it."
                    )
                }
                let byte = buffer[index]
                index += 1
                if byte == quote {
                    // The next byte decides whether the quotation mark is doubled.
                    guard index < buffer.count || isComplete else { return nil }
                    guard index < buffer.count, buffer[index] == quote else { break }
                    index += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                text.append(byte)
            }
        } else {
            let end = buffer[index...].firstIndex(where: \.endsCell) ?? buffer.endIndex
            text = Array(buffer[index..<end])
            index = end
            if text.last == UInt8(ascii: "\r"), index >= buffer.count || buffer[index] == UInt8(ascii: "\n") { text.removeLast() }
        }
        if isQuoted, index < buffer.count, buffer[index] == UInt8(ascii: "\r") { index += 1 }
        guard index < buffer.count else {
            guard isComplete else { return nil }
            isLast = true
            return try Self.cell(text, isQuoted)
        }
        switch buffer[index] {
        case UInt8(ascii: ","): break
        case UInt8(ascii: "\n"):
            line += 1
            isLast = true
        default:
            throw StatusError(
                .invalidArgument,
                "Expected a comma or the end of the line after a quoted cell. Double the quotation marks inside it."
            )
        }
        index += 1
        return try Self.cell(text, isQuoted)
    }

    private static func cell(_ text: [UInt8], _ isQuoted: Bool) throws(StatusError) -> Cell {
        guard let text = UTF8Key(validating: text) else {
            throw StatusError(.invalidArgument, "The cell is not valid UTF-8. Save the table as UTF-8.")
        }
        return Cell(text: text.string, isQuoted: isQuoted)
    }
}

extension UInt8 {
    /// True if the byte ends an unquoted cell.
    fileprivate var endsCell: Bool {
        switch self {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): true
        default: false
        }
    }
}
