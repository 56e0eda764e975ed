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

    /// What is held of the table.
    private var bytes: [UInt8] = []
    private var index = 0
    /// Whether there are no more bytes than are held.
    private var isWhole = false
    /// Whether it is known what the first line says.
    private var hasBegun = false
    /// Whether the first line says that a `'` before a text is a mark.
    private(set) var isMarked = false
    /// The line that is read next.
    private(set) var line = 1

    /// How the first line of a table begins that says that a `'` before a text is a mark: before formulas, and before what is a text though
    /// it looks like JSON.
    static let markComment = "# hearth: a ' before a formula is a mark"

    private static let maximumRowBytes = 16 << 20

    /// Takes the next bytes; none at the end. Take out all rows with ``next()`` before giving more.
    mutating func append(_ part: [UInt8]) {
        bytes.removeSubrange(..<index)
        index = 0
        bytes += part
        isWhole = part.isEmpty
    }

    /// The next row that isn't empty; nil when more bytes are needed, and at the end.
    ///
    /// - Throws: `invalidArgument` for a quote that is not closed, for text behind one that is, and for what isn't UTF-8: nothing more is
    ///   to be had then.
    mutating func next() throws(StatusError) -> Row? {
        guard hasBegun || begin() else { return nil }
        while index < bytes.count {
            let (start, startLine) = (index, line)
            var cells: [Cell] = []
            var isOver = false
            while !isOver {
                guard let cell = try cell(&isOver) else {
                    (index, line) = (start, startLine)
                    guard bytes.count - start <= Self.maximumRowBytes else {
                        throw StatusError(
                            .invalidArgument,
                            "The row has more than \(Self.maximumRowBytes >> 20) MiB. A quotation mark may not be closed."
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

    /// Passes over a first line that says what the mark before texts is; false when more bytes are needed to know.
    private mutating func begin() -> Bool {
        let comment = Array(Self.markComment.utf8)
        if bytes.starts(with: comment) {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? (isWhole ? bytes.count - 1 : nil) else { return false }
            (index, line, isMarked) = (end + 1, 2, true)
        } else if bytes.count < comment.count, !isWhole, comment.starts(with: bytes) {
            return false
        }
        hasBegun = true
        return true
    }

    /// The next cell; nil when its end is not there yet.
    private mutating func cell(_ isLast: inout Bool) throws(StatusError) -> Cell? {
        let quote = UInt8(ascii: "\"")
        var text: [UInt8] = []
        let isQuoted = index < bytes.count && bytes[index] == quote
        if isQuoted {
            index += 1
            while true {
                guard index < bytes.count else {
                    guard isWhole else { return nil }
                    throw StatusError(
                        .invalidArgument,
                        "A cell begins with a quotation mark that is not closed. Close it, or double it."
                    )
                }
                let byte = bytes[index]
                index += 1
                if byte == quote {
                    // The next byte tells whether it is one of two.
                    guard index < bytes.count || isWhole else { return nil }
                    guard index < bytes.count, bytes[index] == quote else { break }
                    index += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                text.append(byte)
            }
        } else {
            let end = bytes[index...].firstIndex(where: \.endsCell) ?? bytes.endIndex
            text = Array(bytes[index..<end])
            index = end
            if text.last == UInt8(ascii: "\r"), index >= bytes.count || bytes[index] == UInt8(ascii: "\n") { text.removeLast() }
        }
        if isQuoted, index < bytes.count, bytes[index] == UInt8(ascii: "\r") { index += 1 }
        guard index < bytes.count else {
            guard isWhole else { return nil }
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

extension UInt8 {
    /// Whether a cell without quotes ends before it.
    fileprivate var endsCell: Bool {
        switch self {
        case UInt8(ascii: ","), UInt8(ascii: "\n"): true
        default: false
        }
    }
}
