import UTF8Text

/// An incremental parser of multipart forms (RFC 7578).
///
/// It buffers and returns a bounded number of bytes, except for the contents of the file.
struct MultipartParser {
    enum Event: Hashable, Sendable {
        case field(name: UTF8Key, value: UTF8Key)
        /// The start of a file. The name is empty when no file was chosen.
        case fileStart(name: UTF8Key)
        /// A chunk of the file.
        case fileBytes([UInt8])
    }

    /// The form is malformed, has several files, or exceeds the limits for fields.
    struct SyntaxError: Error {}

    private enum State {
        case firstDelimiter
        case afterDelimiter
        case headers
        case field(UTF8Key)
        case file
        case end
    }

    private let delimiter: [UInt8]
    private let innerDelimiter: [UInt8]
    private var state = State.firstDelimiter
    private var buffer: [UInt8] = []
    /// The number of buffered bytes that contain no delimiter and need not be searched again.
    private var scannedCount = 0
    private var events: [Event] = []
    private var fieldCount = 0
    /// The size of the names and values of all fields so far.
    private var fieldBytes = 0
    private var hasFile = false

    static let mediaType: StaticString = "multipart/form-data"
    private static let maximumHeaderBytes = 16 << 10
    private static let maximumFieldCount = 100
    /// The maximum size of the names and values of all fields.
    static let maximumFieldBytes = 128 << 10

    /// Fails when the `Content-Type` header has no valid boundary.
    init?(contentType: String) {
        let header = HeaderParameters(Array(contentType.utf8)[...])
        guard let boundary = header["boundary"], (1...70).contains(boundary.byteCount) else { return nil }
        delimiter = Array("--".utf8) + boundary.utf8
        innerDelimiter = Array("\r\n".utf8) + delimiter
    }

    /// Appends bytes and returns the events that are complete.
    mutating func parse(_ bytes: [UInt8]) throws(SyntaxError) -> [Event] {
        buffer += bytes
        while try step() {}
        defer { events = [] }
        return events
    }

    var bufferedByteCount: Int { buffer.count }

    /// Checks that the form is complete.
    func finish() throws(SyntaxError) {
        guard case .end = state else { throw SyntaxError() }
    }

    /// Advances the state machine; returns `false` when it needs more bytes.
    private mutating func step() throws(SyntaxError) -> Bool {
        switch state {
        case .firstDelimiter:
            guard buffer.count >= delimiter.count else { return false }
            guard buffer.starts(with: delimiter) else { throw SyntaxError() }
            consume(delimiter.count)
            state = .afterDelimiter
        case .afterDelimiter:
            guard buffer.count >= 2 else { return false }
            let isLast = buffer.starts(with: "--".utf8)
            guard isLast || buffer.starts(with: "\r\n".utf8) else { throw SyntaxError() }
            consume(2)
            state = isLast ? .end : .headers
        case .headers: return try parseHeaders()
        case .field(let name):
            guard let end = find(innerDelimiter) else {
                // A partial delimiter at the end of the buffer is not yet counted as part of the value.
                guard fieldBytes + scannedCount <= Self.maximumFieldBytes else { throw SyntaxError() }
                return false
            }
            try countField(end.lowerBound)
            guard let value = UTF8Key(validating: Form.normalizingLineBreaks(buffer[..<end.lowerBound])) else {
                throw SyntaxError()
            }
            events.append(.field(name: name, value: value))
            consume(end.upperBound)
            state = .afterDelimiter
        case .file: return parseFile()
        case .end:
            // The epilogue after the last delimiter is ignored (RFC 2046, 5.1.1).
            consume(buffer.count)
            return false
        }
        return true
    }

    private mutating func parseHeaders() throws(SyntaxError) -> Bool {
        guard let end = find(Array("\r\n\r\n".utf8)) else {
            guard buffer.count <= Self.maximumHeaderBytes else { throw SyntaxError() }
            return false
        }
        // The headers must be followed by an empty line, not directly by a delimiter.
        guard buffer.count >= end.upperBound + delimiter.count else { return false }
        guard !buffer[end.upperBound...].starts(with: delimiter) else { throw SyntaxError() }
        let name = Array("content-disposition:".utf8)
        let line = buffer[..<end.lowerBound].split(separator: UInt8(ascii: "\n")).first { line in
            line.count > name.count && zip(line, name).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
        guard let line else { throw SyntaxError() }
        let header = HeaderParameters(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        guard let field = header["name"] else { throw SyntaxError() }
        if let fileName = header["filename"] {
            guard !hasFile else { throw SyntaxError() }
            hasFile = true
            events.append(.fileStart(name: fileName))
            state = .file
        } else {
            fieldCount += 1
            guard fieldCount <= Self.maximumFieldCount else { throw SyntaxError() }
            try countField(field.byteCount)
            state = .field(field)
        }
        consume(end.upperBound)
        return true
    }

    private mutating func countField(_ byteCount: Int) throws(SyntaxError) {
        fieldBytes += byteCount
        guard fieldBytes <= Self.maximumFieldBytes else { throw SyntaxError() }
    }

    private mutating func parseFile() -> Bool {
        let end = find(innerDelimiter)
        // A partial delimiter at the end of the buffer is kept.
        let count = end?.lowerBound ?? max(0, buffer.count - innerDelimiter.count + 1)
        if count > 0 { events.append(.fileBytes(Array(buffer[..<count]))) }
        consume(end?.upperBound ?? count)
        if end != nil { state = .afterDelimiter }
        return end != nil
    }

    private mutating func consume(_ count: Int) {
        buffer.removeSubrange(..<count)
        scannedCount = 0
    }

    /// Returns the first occurrence of a pattern. Bytes that were searched before are skipped.
    private mutating func find(_ pattern: [UInt8]) -> Range<Int>? {
        let found = buffer.firstRange(of: pattern, from: scannedCount)
        if found == nil { scannedCount = max(0, buffer.count - pattern.count + 1) }
        return found
    }
}

extension [UInt8] {
    /// Returns the first occurrence of a pattern. Searching for its first byte alone is fast when that byte is rare.
    fileprivate func firstRange(of pattern: [UInt8], from start: Int) -> Range<Int>? {
        var start = start
        while let found = self[start...].firstIndex(of: pattern[0]), found + pattern.count <= endIndex {
            if self[found..<(found + pattern.count)].elementsEqual(pattern) { return found..<(found + pattern.count) }
            start = found + 1
        }
        return nil
    }
}
