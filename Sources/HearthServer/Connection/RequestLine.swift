import NIOCore

/// How much of the first line of a request has come.
struct RequestLine {
    /// The bytes without those that end it.
    private(set) var length = 0
    private var isComplete = false

    /// Takes what has come next. Empty lines before the first one do not count (RFC 9112, 2.2).
    mutating func take(_ bytes: ByteBuffer) {
        guard !isComplete else { return }
        var bytes = bytes.readableBytesView[...]
        if length == 0 {
            bytes = bytes.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        length += (end ?? bytes.endIndex) - bytes.startIndex
        isComplete = end != nil
    }
}
