import StrictJSON

/// Reads a form with a file as browsers send it (RFC 7578), as its bytes come.
///
/// Whatever is sent, it holds and gives a bounded number of bytes of all but the file.
struct MultipartReader {
    /// What has been read.
    enum Event: Hashable, Sendable {
        /// A field that is no file.
        case field(name: UTF8Key, value: UTF8Key)
        /// A file begins, of this name; empty when none was chosen.
        case file(name: UTF8Key)
        /// More of the file.
        case bytes([UInt8])
    }

    /// The form isn't as browsers send it, has more than one file, or more or longer fields than it may have.
    struct Malformed: Error {}

    private enum State {
        /// At the mark before the first part.
        case atBeginning
        /// Behind a mark.
        case atMark
        case inHead
        /// In the value of a field.
        case inField(UTF8Key)
        case inFile
        case atEnd
    }

    private let mark: [UInt8]
    private let innerMark: [UInt8]
    private var state = State.atBeginning
    private var pending: [UInt8] = []
    /// Up to here there is no end of what is read.
    private var scanned = 0
    private var events: [Event] = []
    private var fieldCount = 0
    /// How many bytes the names and values of all fields have that were read.
    private var fieldBytes = 0
    private var hasFile = false

    /// The media type of such a form.
    static let mediaType: StaticString = "multipart/form-data"
    private static let maximumHeadBytes = 16 << 10
    private static let maximumFieldCount = 100
    /// How many bytes the names and values of all fields may have together.
    static let maximumFieldBytes = 128 << 10

    /// - Parameter contentType: The header, which names the mark between the parts; nil comes of one that doesn't.
    init?(contentType: String) {
        let header = DispositionHeader(Array(contentType.utf8)[...])
        guard let boundary = header["boundary"], (1...70).contains(boundary.byteCount) else { return nil }
        mark = Array("--".utf8) + boundary.utf8
        innerMark = Array("\r\n".utf8) + mark
    }

    /// Takes the next bytes, and gives what is in them as far as it is known to be whole.
    mutating func read(_ bytes: [UInt8]) throws(Malformed) -> [Event] {
        pending += bytes
        while try step() {}
        defer { events = [] }
        return events
    }

    /// How many bytes are held.
    var heldCount: Int { pending.count }

    /// Makes sure that the form was all there.
    func finish() throws(Malformed) {
        guard case .atEnd = state else { throw Malformed() }
    }

    /// Goes one step on; false when that needs more bytes.
    private mutating func step() throws(Malformed) -> Bool {
        switch state {
        case .atBeginning:
            guard pending.count >= mark.count else { return false }
            guard pending.starts(with: mark) else { throw Malformed() }
            take(mark.count)
            state = .atMark
        case .atMark:
            guard pending.count >= 2 else { return false }
            let isLast = pending.starts(with: "--".utf8)
            guard isLast || pending.starts(with: "\r\n".utf8) else { throw Malformed() }
            take(2)
            state = isLast ? .atEnd : .inHead
        case .inHead: return try readHead()
        case .inField(let name):
            guard let end = find(innerMark) else {
                // What may be the beginning of a mark is none of the value yet.
                guard fieldBytes + scanned <= Self.maximumFieldBytes else { throw Malformed() }
                return false
            }
            try countField(end.lowerBound)
            guard let value = UTF8Key(validating: Form.lines(pending[..<end.lowerBound])) else { throw Malformed() }
            events.append(.field(name: name, value: value))
            take(end.upperBound)
            state = .atMark
        case .inFile: return readFile()
        case .atEnd:
            // What follows the last mark is nothing of the form (RFC 2046, 5.1.1).
            take(pending.count)
            return false
        }
        return true
    }

    private mutating func readHead() throws(Malformed) -> Bool {
        guard let end = find(Array("\r\n\r\n".utf8)) else {
            guard pending.count <= Self.maximumHeadBytes else { throw Malformed() }
            return false
        }
        // A mark may follow at once, which is one too few line breaks.
        guard pending.count >= end.upperBound + mark.count else { return false }
        guard !pending[end.upperBound...].starts(with: mark) else { throw Malformed() }
        let name = Array("content-disposition:".utf8)
        let line = pending[..<end.lowerBound].split(separator: UInt8(ascii: "\n")).first { line in
            line.count > name.count && zip(line, name).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
        guard let line else { throw Malformed() }
        let header = DispositionHeader(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        guard let field = header["name"] else { throw Malformed() }
        if let fileName = header["filename"] {
            guard !hasFile else { throw Malformed() }
            hasFile = true
            events.append(.file(name: fileName))
            state = .inFile
        } else {
            fieldCount += 1
            guard fieldCount <= Self.maximumFieldCount else { throw Malformed() }
            try countField(field.byteCount)
            state = .inField(field)
        }
        take(end.upperBound)
        return true
    }

    private mutating func countField(_ byteCount: Int) throws(Malformed) {
        fieldBytes += byteCount
        guard fieldBytes <= Self.maximumFieldBytes else { throw Malformed() }
    }

    private mutating func readFile() -> Bool {
        let end = find(innerMark)
        // What may be the beginning of a mark waits for the rest of it.
        let count = end?.lowerBound ?? max(0, pending.count - innerMark.count + 1)
        if count > 0 { events.append(.bytes(Array(pending[..<count]))) }
        take(end?.upperBound ?? count)
        if end != nil { state = .atMark }
        return end != nil
    }

    private mutating func take(_ count: Int) {
        pending.removeSubrange(..<count)
        scanned = 0
    }

    /// Where some bytes are found first; what was looked through before is not looked through again.
    private mutating func find(_ pattern: [UInt8]) -> Range<Int>? {
        let found = pending.firstRange(of: pattern, from: scanned)
        if found == nil { scanned = max(0, pending.count - pattern.count + 1) }
        return found
    }
}

extension [UInt8] {
    /// Where some bytes are found first. Their first is looked for by itself, which is fast where it is rare.
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Range<Int>? {
        var start = start
        while let found = self[start...].firstIndex(of: pattern[0]), found + pattern.count <= endIndex {
            if self[found..<(found + pattern.count)].elementsEqual(pattern) { return found..<(found + pattern.count) }
            start = found + 1
        }
        return nil
    }
}
