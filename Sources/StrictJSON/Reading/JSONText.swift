/// A parsed JSON text: its bytes and a flat tape over them.
///
/// Accepts exactly RFC 8259 in UTF-8 without a byte order mark, and rejects duplicate keys and unpaired surrogates
/// (RFC 7493). Parsing validates the whole text in one pass without recursion. Values stay byte ranges until they are
/// read, so most of a text is never copied. The tape takes 16 bytes per value or key.
public struct JSONText: Sendable {
    let storage: Storage

    /// Parses bytes.
    ///
    /// - Throws: ``JSONSyntaxError`` with the location of the first error.
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
    /// - Throws: ``JSONSyntaxError`` with the location of the first error.
    public init(_ string: String, limits: JSONLimits = JSONLimits()) throws(JSONSyntaxError) {
        try self.init(Array(string.utf8), limits: limits)
    }

    /// The top-level value.
    public var root: JSONNode { JSONNode(storage, at: 0) }
}

extension JSONText {
    /// The storage shared by the nodes of a text.
    final class Storage: Sendable {
        let bytes: [UInt8]
        let tape: [JSONTapeEntry]

        init(bytes: [UInt8], tape: [JSONTapeEntry]) {
            self.bytes = bytes
            self.tape = tape
        }
    }
}
