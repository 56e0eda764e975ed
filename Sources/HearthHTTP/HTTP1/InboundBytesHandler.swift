import NIOCore

/// The first channel handler of an HTTP/1 connection: detects clients that speak HTTP/2, and passes received bytes to
/// ``HTTP1ConnectionHandler``, which cannot see an incomplete request head in any other way.
final class InboundBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTP1ConnectionHandler
    private let startHTTP2: (_ firstBytes: ByteBuffer) -> Void
    /// `nil` once the protocol is known.
    private var detector: ProtocolDetector? = ProtocolDetector()
    /// The bytes received before the protocol is known, at most the length of the preface.
    private var heldBytes: ByteBuffer?

    /// Creates a handler.
    ///
    /// - Parameter startHTTP2: Replaces the channel's handlers by those of HTTP/2, and passes the first bytes to them.
    init(_ connection: HTTP1ConnectionHandler, startHTTP2: @escaping (_ firstBytes: ByteBuffer) -> Void) {
        self.connection = connection
        self.startHTTP2 = startHTTP2
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        connection.receive(bytes)
        if detector != nil { detect(bytes, context: context) } else { context.fireChannelRead(data) }
    }

    private func detect(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        // A connection without a slot, or whose first bytes took too long, has had its response.
        let result = connection.isClosing ? .http1 : detector?.receive(bytes.readableBytesView)
        heldBytes.setOrWriteImmutableBuffer(bytes)
        guard let result, let received = heldBytes else { return }
        detector = nil
        heldBytes = nil
        switch result {
        case .http1: context.fireChannelRead(wrapInboundOut(received))
        case .http2: startHTTP2(received)
        }
    }
}

/// Counts the received bytes of a request line.
struct RequestLineCounter {
    /// The number of bytes, without the line terminator.
    private(set) var length = 0
    private var isComplete = false

    /// Counts received bytes. Empty lines before the request line are ignored (RFC 9112, 2.2).
    mutating func count(_ bytes: ByteBuffer) {
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
