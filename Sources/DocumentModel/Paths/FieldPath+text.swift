internal import StrictJSON

extension FieldPath {
    /// Reads a path in the server's syntax, such as ``address.street`` or ``a.`b.c` ``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when a name is empty, has a character that needs back-quotes, or has a
    ///   quote that is not closed, and when the names have more than 1,500 bytes in all. The text says what to write instead.
    public init(_ text: String) throws(StatusError) {
        do throws(StatusError) {
            var reader = FieldPathReader(text)
            self.init(unchecked: try reader.segments())
        } catch {
            var error = error
            error.field = Excerpt(text).text
            throw error
        }
    }
}

private struct FieldPathReader {
    private let text: String
    private var rest: Substring.UTF8View
    private var bytes = 0

    init(_ text: String) {
        self.text = text
        rest = text.utf8[...]
    }

    mutating func segments() throws(StatusError) -> [UTF8Key] {
        guard !rest.isEmpty else { throw StatusError(.invalidArgument, "Expected a field path, found an empty text.") }
        var segments: [UTF8Key] = []
        while true {
            let segment = try rest.first == FieldPath.quote ? quotedSegment() : plainSegment()
            segments.append(segment)
            bytes += segment.byteCount
            try FieldPath.validateLength(bytes)
            guard let next = rest.popFirst() else { return segments }
            guard next == UInt8(ascii: ".") else {
                throw fault("has text right after a closing back-quote. Put a dot there, or escape the back-quote as \\`.")
            }
            bytes += 1
        }
    }

    private mutating func plainSegment() throws(StatusError) -> UTF8Key {
        let end = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
        let name = rest[..<end]
        rest = rest[end...]
        guard !name.isEmpty else {
            throw fault("has an empty name. Remove the extra dot, or put a name that contains dots into back-quotes.")
        }
        let key = UTF8Key(Substring(name))
        guard FieldPath.isSimple(name) else {
            let quoted = Excerpt(FieldPath.canonicalText(ofSegment: key)).text
            throw fault("has a name with characters that need back-quotes. Write it as \(quoted).")
        }
        return key
    }

    private mutating func quotedSegment() throws(StatusError) -> UTF8Key {
        rest.removeFirst()
        var name: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case FieldPath.quote:
                guard !name.isEmpty else { throw fault("has an empty name. Put a name between the back-quotes.") }
                return UTF8Key(String(decoding: name, as: UTF8.self))
            case FieldPath.backslash:
                guard let escaped = rest.popFirst(), escaped == FieldPath.quote || escaped == FieldPath.backslash else {
                    throw fault("has a backslash before another character than ` and \\. Write a backslash itself as \\\\.")
                }
                name.append(escaped)
            default:
                name.append(byte)
            }
        }
        throw fault("has an open back-quote. Close it at the end of the name.")
    }

    private func fault(_ sentence: String) -> StatusError {
        StatusError(.invalidArgument, "The field path \(Excerpt(text)) \(sentence)")
    }
}
