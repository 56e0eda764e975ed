internal import UTF8Text

extension FieldPath {
    /// Parses a path in text form, such as ``address.street`` or ``a.`b.c` ``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if a name is empty, needs backticks or has an unclosed backtick, or if the path
    ///   is longer than 1,500 bytes. The message suggests the correct form.
    public init(_ text: String) throws(StatusError) {
        do throws(StatusError) {
            var parser = FieldPathParser(text)
            self.init(unchecked: try parser.segments())
        } catch {
            var error = error
            error.field = Excerpt(text).text
            throw error
        }
    }
}

private struct FieldPathParser {
    private let text: String
    private var rest: Substring.UTF8View
    private var bytes = 0

    init(_ text: String) {
        self.text = text
        rest = text.utf8[...]
    }

    mutating func segments() throws(StatusError) -> [UTF8Key] {
        guard !rest.isEmpty else { throw StatusError(.invalidArgument, "Expected a field path, found an empty string.") }
        var segments: [UTF8Key] = []
        while true {
            let segment = try rest.first == FieldPath.backtick ? quotedSegment() : plainSegment()
            segments.append(segment)
            bytes += segment.byteCount
            try FieldPath.validateLength(bytes)
            guard let next = rest.popFirst() else { return segments }
            guard next == UInt8(ascii: ".") else {
                throw invalidPath("has text after a closing backtick. Insert a dot, or escape the backtick as \\`.")
            }
            bytes += 1
        }
    }

    private mutating func plainSegment() throws(StatusError) -> UTF8Key {
        let end = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
        let name = rest[..<end]
        rest = rest[end...]
        guard !name.isEmpty else {
            throw invalidPath("has an empty name. Remove the extra dot, or quote a name that contains dots in backticks.")
        }
        let key = UTF8Key(Substring(name))
        guard FieldPath.isSimple(name) else {
            let quoted = Excerpt(FieldPath.canonicalText(ofSegment: key)).text
            throw invalidPath("has a name that must be quoted in backticks. Write it as \(quoted).")
        }
        return key
    }

    private mutating func quotedSegment() throws(StatusError) -> UTF8Key {
        rest.removeFirst()
        var name: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case FieldPath.backtick:
                guard !name.isEmpty else { throw invalidPath("has an empty name. Insert a name between the backticks.") }
                return UTF8Key(String(decoding: name, as: UTF8.self))
            case FieldPath.backslash:
                guard let escaped = rest.popFirst(), escaped == FieldPath.backtick || escaped == FieldPath.backslash else {
                    throw invalidPath("has an invalid escape sequence: only \\` and \\\\ are valid. Write a backslash as \\\\.")
                }
                name.append(escaped)
            default:
                name.append(byte)
            }
        }
        throw invalidPath("has an unclosed backtick. Close it at the end of the name.")
    }

    private func invalidPath(_ sentence: String) -> StatusError {
        StatusError(.invalidArgument, "The field path \(Excerpt(text)) \(sentence)")
    }
}
