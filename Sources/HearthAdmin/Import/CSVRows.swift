import DocumentModel
import StrictJSON

/// The rows of a table (RFC 4180), whose lines may end with CR LF or LF.
struct CSVRows {
    /// A cell, and whether it stood within quotes.
    struct Cell: Sendable {
        let text: String
        let isQuoted: Bool
    }

    /// A row, and the line on which it begins.
    struct Row: Sendable {
        let line: Int
        let cells: [Cell]
        let byteCount: Int
    }

    private let bytes: [UInt8]
    private var index = 0
    /// The line that is read next.
    private(set) var line = 1

    /// How the first line of a table begins that says that a `'` before a formula is a mark.
    static let markComment = "# hearth: a ' before a formula is a mark"

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Passes over a first line that says what the mark before formulas is.
    ///
    /// - Returns: Whether there was one.
    mutating func skipMarkComment() -> Bool {
        guard bytes.starts(with: Self.markComment.utf8) else { return false }
        index = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
        line = 2
        return true
    }

    /// The next row that isn't empty; nil at the end.
    ///
    /// - Throws: `invalidArgument` for a quote that is not closed, for text behind one that is, and for what isn't UTF-8.
    mutating func next() throws(StatusError) -> Row? {
        while index < bytes.count {
            let (start, startLine) = (index, line)
            var cells: [Cell] = []
            var isOver = false
            while !isOver { cells.append(try cell(&isOver)) }
            if cells.count == 1, cells[0].text.utf8.isEmpty, !cells[0].isQuoted { continue }
            return Row(line: startLine, cells: cells, byteCount: index - start)
        }
        return nil
    }

    private mutating func cell(_ isLast: inout Bool) throws(StatusError) -> Cell {
        let quote = UInt8(ascii: "\"")
        var text: [UInt8] = []
        let isQuoted = index < bytes.count && bytes[index] == quote
        if isQuoted {
            index += 1
            while true {
                guard index < bytes.count else {
                    throw StatusError(
                        .invalidArgument,
                        "A cell begins with a quotation mark that is not closed. Close it, or double it."
                    )
                }
                let byte = bytes[index]
                index += 1
                if byte == quote {
                    guard index < bytes.count, bytes[index] == quote else { break }
                    index += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                text.append(byte)
            }
        } else {
            while index < bytes.count, ![UInt8(ascii: ","), UInt8(ascii: "\n")].contains(bytes[index]) {
                text.append(bytes[index])
                index += 1
            }
            if text.last == UInt8(ascii: "\r"), index >= bytes.count || bytes[index] == UInt8(ascii: "\n") { text.removeLast() }
        }
        if isQuoted, index < bytes.count, bytes[index] == UInt8(ascii: "\r") { index += 1 }
        guard index < bytes.count else {
            isLast = true
            return try Self.cell(text, isQuoted)
        }
        switch bytes[index] {
        case UInt8(ascii: ","): break
        case UInt8(ascii: "\n"):
            line += 1
            isLast = true
        default:
            throw StatusError(
                .invalidArgument,
                "Expected a comma or the end of the line behind a quotation mark. Double those inside."
            )
        }
        index += 1
        return try Self.cell(text, isQuoted)
    }

    private static func cell(_ text: [UInt8], _ isQuoted: Bool) throws(StatusError) -> Cell {
        guard let text = UTF8Key(validating: text) else {
            throw StatusError(.invalidArgument, "The line isn't UTF-8. Save the table in that encoding.")
        }
        return Cell(text: text.string, isQuoted: isQuoted)
    }
}
