/// Tells by the first bytes of a connection whether the client speaks HTTP/2 with prior knowledge, whose connections begin with a
/// preface (RFC 9113, 3.4), or HTTP/1.
struct ProtocolDetector {
    enum Result: Hashable {
        case http1
        case http2
    }

    /// The first bytes of an HTTP/2 connection, which no HTTP/1 client sends.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private var matchedByteCount = 0

    /// Receives bytes. Returns the protocol at the first byte that differs from the preface, or at the preface's end; `nil` before.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> Result? {
        for byte in bytes {
            guard byte == Self.preface[matchedByteCount] else { return .http1 }
            matchedByteCount += 1
            if matchedByteCount == Self.preface.count { return .http2 }
        }
        return nil
    }
}
