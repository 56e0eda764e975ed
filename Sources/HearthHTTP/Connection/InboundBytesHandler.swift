import NIOCore

/// Passes received bytes to ``ConnectionHandler``, which cannot see an incomplete request head in any other way.
final class InboundBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.receive(unwrapInboundIn(data))
        context.fireChannelRead(data)
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
