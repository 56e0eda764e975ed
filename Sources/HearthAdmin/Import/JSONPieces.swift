import DocumentModel
import StrictJSON

/// The elements of an array, or the members of an object, as the bytes of a file come: so that a file of any size is read in little
/// memory.
///
/// It follows strings and brackets only. Whether a piece is JSON is for whoever reads it.
struct JSONPieces {
    /// What stands between two commas.
    struct Piece: Sendable {
        /// Where it begins.
        let place: TextPlace
        let bytes: [UInt8]
    }

    private enum State: Equatable {
        /// Before the bracket that all is in.
        case outside
        /// Between the brackets; whether something was there already, so that a comma leads to something more.
        case inside(follows: Bool)
        case atEnd
        /// Something was wrong, and has been said.
        case failed
    }

    /// Whether the whole is an object; known with the first piece.
    private(set) var isObject = false
    private var state = State.outside
    private var pending: [UInt8] = []
    /// Up to here it was looked at.
    private var index = 0
    /// The place of what is looked at next.
    private(set) var place = TextPlace(line: 1, column: 1)
    /// Where the piece begins that is looked at, here and in the file.
    private var start: (index: Int, place: TextPlace)?
    /// How many brackets are open within it.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    private static let maximumBytes = 16 << 20

    /// Takes the next bytes. Take out all pieces with ``next()`` before giving more.
    mutating func append(_ bytes: [UInt8]) {
        let kept = start?.index ?? index
        pending.removeSubrange(..<kept)
        index -= kept
        start?.index = 0
        pending += bytes
    }

    /// The next piece whose end has come, or what is wrong with the whole, after which nothing more is to be had; nil when more bytes
    /// are needed.
    mutating func next() -> Result<Piece, ImportPlan.Fault>? {
        do throws(ImportPlan.Fault) {
            return try piece().map { .success($0) }
        } catch {
            state = .failed
            return .failure(error)
        }
    }

    /// What is missing when there are no more bytes; nil when nothing is.
    func finish() -> ImportPlan.Fault? {
        switch state {
        case .outside: fault("Expected an array of documents, or an object with their IDs as names, found nothing.")
        case .inside: fault("The file ends before its last bracket is closed.")
        case .atEnd, .failed: nil
        }
    }

    private mutating func piece() throws(ImportPlan.Fault) -> Piece? {
        while index < pending.count {
            let byte = pending[index]
            defer {
                place.pass(byte)
                index += 1
            }
            switch state {
            case .outside: try begin(with: byte)
            case .inside: if let piece = try look(at: byte) { return piece }
            case .atEnd: guard byte.isJSONWhitespace else { throw fault("Expected nothing after the end, found more.") }
            case .failed: return nil
            }
        }
        return nil
    }

    private mutating func begin(with byte: UInt8) throws(ImportPlan.Fault) {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            isObject = byte == UInt8(ascii: "{")
            state = .inside(follows: false)
        case _ where byte.isJSONWhitespace: break
        default: throw fault("Expected an array of documents, or an object with their IDs as names.")
        }
    }

    private mutating func look(at byte: UInt8) throws(ImportPlan.Fault) -> Piece? {
        guard let start else {
            return try lookForBeginning(at: byte)
        }
        guard index - start.index < Self.maximumBytes else {
            throw fault("A document of more than \(Self.maximumBytes >> 20) MiB. No document is as large.", at: start.place)
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
            if depth == 0 { return try end(with: byte) }
            depth -= 1
        case UInt8(ascii: ",") where depth == 0:
            state = .inside(follows: true)
            return take()
        default: break
        }
        return nil
    }

    private mutating func lookForBeginning(at byte: UInt8) throws(ImportPlan.Fault) -> Piece? {
        if byte.isJSONWhitespace { return nil }
        if byte == UInt8(ascii: ",") { throw fault("Expected a document before the comma.") }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
            if state == .inside(follows: true) { throw fault("Expected a document after the comma.") }
            return try end(with: byte)
        }
        start = (index, place)
        return try look(at: byte)
    }

    private mutating func end(with byte: UInt8) throws(ImportPlan.Fault) -> Piece? {
        guard (byte == UInt8(ascii: "}")) == isObject else { throw fault("A bracket is closed that was not opened.") }
        state = .atEnd
        return take()
    }

    private mutating func take() -> Piece? {
        guard let start else { return nil }
        self.start = nil
        return Piece(place: start.place, bytes: Array(pending[start.index..<index]))
    }

    private func fault(_ message: String, at place: TextPlace? = nil) -> ImportPlan.Fault {
        ImportPlan.Fault(place: place ?? self.place, error: StatusError(.invalidArgument, "Not JSON: \(message)"))
    }
}

extension TextPlace {
    /// Goes on behind a byte of UTF-8.
    fileprivate mutating func pass(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            self = TextPlace(line: line + 1, column: 1)
        } else if byte & 0b1100_0000 != 0b1000_0000 {
            column = (column ?? 0) + 1
        }
    }
}
