/// A parsed text: its bytes and a flat tape over them.
///
/// Accepts exactly RFC 8259 in UTF-8 without a byte order mark, and of that refuses duplicate keys
/// and lone surrogates (RFC 7493). The whole text is validated at once, in one pass without
/// recursion; values stay byte ranges until they are asked for, so most of a text is never copied.
/// The tape takes 16 bytes a value or key.
public struct JSONText: Sendable {
    let storage: Storage

    /// Parses bytes.
    ///
    /// - Throws: ``JSONSyntaxError`` with the place of the first fault found.
    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        let tape = try bytes.withUnsafeBufferPointer { source throws(JSONSyntaxError) in
            var scanner = JSONScanner(source, limits: limits)
            do throws(JSONScanner.Failure) {
                try scanner.scan()
            } catch {
                throw JSONSyntaxError(error.reason, at: error.offset, in: source)
            }
            return scanner.tape
        }
        storage = Storage(bytes: bytes, tape: tape)
    }

    /// Parses the UTF-8 bytes of a string.
    ///
    /// - Throws: ``JSONSyntaxError`` with the place of the first fault found.
    public init(_ string: String, limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        try self.init(Array(string.utf8), limits: limits)
    }

    /// The value that the text is.
    public var root: JSONNode { JSONNode(storage, at: 0) }
}

extension JSONText {
    /// What the nodes of a text share.
    final class Storage: Sendable {
        let bytes: [UInt8]
        let tape: [JSONTapeEntry]

        init(bytes: [UInt8], tape: [JSONTapeEntry]) {
            self.bytes = bytes
            self.tape = tape
        }
    }
}
