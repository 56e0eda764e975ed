import StrictJSON

/// A form with files, as browsers send it (RFC 7578).
struct MultipartForm: Sendable {
    /// A file that was chosen.
    struct File: Sendable {
        let name: UTF8Key
        let bytes: [UInt8]
    }

    /// The fields that are no files.
    private(set) var items: [(name: UTF8Key, value: UTF8Key)] = []
    /// The file that was chosen; nil when there is none.
    private(set) var file: File?

    /// The media type of such a form.
    static let mediaType = "multipart/form-data"

    /// Reads what was sent; nil when it isn't as browsers send it.
    ///
    /// - Parameter contentType: The header, which names the mark between the parts.
    init?(_ bytes: [UInt8], contentType: String) {
        guard let boundary = Self.boundary(in: contentType) else { return nil }
        let mark = Array("--".utf8) + boundary
        let inner = Array("\r\n".utf8) + mark
        guard bytes.starts(with: mark) else { return nil }
        var rest = bytes[mark.count...]
        // After each mark there is either the end, or a part up to the next mark.
        while rest.starts(with: "\r\n".utf8) {
            rest = rest.dropFirst(2)
            guard let end = Self.range(of: inner, in: rest), add(rest[..<end.lowerBound]) else { return nil }
            rest = rest[end.upperBound...]
        }
        guard rest.starts(with: "--".utf8) else { return nil }
    }

    private mutating func add(_ part: ArraySlice<UInt8>) -> Bool {
        guard let headEnd = Self.range(of: Array("\r\n\r\n".utf8), in: part) else { return false }
        let head = part[..<headEnd.lowerBound]
        let body = part[headEnd.upperBound...]
        for line in head.split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            let prefix = Array("content-disposition:".utf8)
            guard line.count > prefix.count, zip(line, prefix).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { continue }
            guard let name = Self.parameter("name", in: line) else { return false }
            if let fileName = Self.parameter("filename", in: line) {
                if !body.isEmpty || fileName.byteCount > 0 { file = File(name: fileName, bytes: Array(body)) }
            } else {
                guard let value = UTF8Key(validating: Form.lines(body)) else { return false }
                items.append((name, value))
            }
            return true
        }
        return false
    }

    /// The parameter `name="value"` of a header.
    private static func parameter(_ name: String, in line: ArraySlice<UInt8>) -> UTF8Key? {
        for part in line.split(separator: UInt8(ascii: ";")).dropFirst() {
            let part = part.drop { $0 == UInt8(ascii: " ") }
            let start = Array("\(name)=\"".utf8)
            guard part.starts(with: start), let end = part.lastIndex(of: UInt8(ascii: "\"")), end >= part.startIndex + start.count
            else { continue }
            return UTF8Key(validating: part[(part.startIndex + start.count)..<end])
        }
        return nil
    }

    private static func boundary(in contentType: String) -> [UInt8]? {
        for part in contentType.utf8.split(separator: UInt8(ascii: ";")).dropFirst() {
            let part = part.drop { $0 == UInt8(ascii: " ") }
            guard part.starts(with: "boundary=".utf8) else { continue }
            let value = part.dropFirst("boundary=".utf8.count).filter { $0 != UInt8(ascii: "\"") }
            return (1...70).contains(value.count) ? value : nil
        }
        return nil
    }

    /// Where some bytes are found first. Their first is looked for by itself, which is fast where it is rare.
    private static func range(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: pattern[0]) {
            guard found + pattern.count <= bytes.endIndex else { return nil }
            if bytes[found..<(found + pattern.count)].elementsEqual(pattern) { return found..<(found + pattern.count) }
            start = found + 1
        }
        return nil
    }
}
