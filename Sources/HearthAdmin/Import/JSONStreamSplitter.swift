import DocumentModel
import StrictJSON

/// Splits a JSON array into its elements, or an object into its members, incrementally and in bounded memory.
///
/// It tracks only strings and brackets. The elements themselves are not validated.
struct JSONStreamSplitter {
    /// The text between two commas.
    struct Element: Sendable {
        /// The position of the start in the file.
        let position: TextPosition
        let bytes: [UInt8]
    }

    private enum State: Equatable {
        case beforeOpeningBracket
        /// Between the brackets; `followsComma` is `true` after the first element.
        case inside(followsComma: Bool)
        case afterClosingBracket
        /// An error was returned.
        case failed
    }

    /// True if the root is an object; known with the first element.
    private(set) var isObject = false
    private var state = State.beforeOpeningBracket
    private var buffer: [UInt8] = []
    /// The index of the next byte in the buffer.
    private var index = 0
    /// The position of the next byte in the file.
    private(set) var position = TextPosition(line: 1, column: 1)
    /// The start of the current element in the buffer and in the file.
    private var start: (index: Int, position: TextPosition)?
    /// The number of open brackets in the current element.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    private static let maximumElementBytes = 16 << 20

    /// Appends bytes. The caller must first consume all elements with ``next()``.
    mutating func append(_ bytes: [UInt8]) {
        let keptIndex = start?.index ?? index
        buffer.removeSubrange(..<keptIndex)
        index -= keptIndex
        start?.index = 0
        buffer += bytes
    }

    /// Returns the next complete element, or the error that ends the stream; `nil` if more bytes are needed.
    mutating func next() -> Result<Element, ImportRecordError>? {
        do throws(ImportRecordError) {
            return try nextElement().map { .success($0) }
        } catch {
            state = .failed
            return .failure(error)
        }
    }

    /// Returns an error if the file ended too early.
    func finish() -> ImportRecordError? {
        switch state {
        case .beforeOpeningBracket:
            error("Expected an array of documents, or an object with document IDs as keys, found the end of the file.")
        case .inside: error("Unexpected end of the file: a bracket is not closed.")
        case .afterClosingBracket, .failed: nil
        }
    }

    private mutating func nextElement() throws(ImportRecordError) -> Element? {
        while index < buffer.count {
            let byte = buffer[index]
            defer {
                position.advance(past: byte)
                index += 1
            }
            switch state {
            case .beforeOpeningBracket: try open(with: byte)
            case .inside: if let element = try process(byte) { return element }
            case .afterClosingBracket:
                guard byte.isJSONWhitespace else { throw error("Unexpected content after the closing bracket.") }
            case .failed: return nil
            }
        }
        return nil
    }

    private mutating func open(with byte: UInt8) throws(ImportRecordError) {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            isObject = byte == UInt8(ascii: "{")
            state = .inside(followsComma: false)
        case _ where byte.isJSONWhitespace: break
        default: throw error("Expected an array of documents, or an object with document IDs as keys.")
        }
    }

    private mutating func process(_ byte: UInt8) throws(ImportRecordError) -> Element? {
        guard let start else { return try processBetweenElements(byte) }
        guard index - start.index < Self.maximumElementBytes else {
            throw error("The document is larger than \(Self.maximumElementBytes >> 20) MiB.", at: start.position)
        }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return nil
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            if depth == 0 { return try close(with: byte) }
            depth -= 1
        case UInt8(ascii: ",") where depth == 0:
            state = .inside(followsComma: true)
            return finishElement()
        default: break
        }
        return nil
    }

    private mutating func processBetweenElements(_ byte: UInt8) throws(ImportRecordError) -> Element? {
        if byte.isJSONWhitespace { return nil }
        if byte == UInt8(ascii: ",") { throw error("Expected a document before the comma.") }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
            if state == .inside(followsComma: true) { throw error("Expected a document after the comma.") }
            return try close(with: byte)
        }
        start = (index, position)
        return try process(byte)
    }

    private mutating func close(with byte: UInt8) throws(ImportRecordError) -> Element? {
        guard (byte == UInt8(ascii: "}")) == isObject else { throw error("Mismatched closing bracket.") }
        state = .afterClosingBracket
        return finishElement()
    }

    private mutating func finishElement() -> Element? {
        guard let start else { return nil }
        self.start = nil
        return Element(position: start.position, bytes: Array(buffer[start.index..<index]))
    }

    private func error(_ message: String, at position: TextPosition? = nil) -> ImportRecordError {
        ImportRecordError(
            position: position ?? self.position,
            error: StatusError(.invalidArgument, "Invalid JSON: \(message)")
        )
    }
}

extension TextPosition {
    fileprivate mutating func advance(past byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            self = TextPosition(line: line + 1, column: 1)
        } else if byte & 0b1100_0000 != 0b1000_0000 {
            column = (column ?? 0) + 1
        }
    }
}
