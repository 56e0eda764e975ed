package import HearthService
package import JSONRPC
package import NIOCore

/// How the frames of a stream are written for its client.
package protocol WatchEncoder: Sendable {
    /// The media type of the stream.
    var contentType: String { get }

    /// The format, where everyone who watches the same gets the same bytes; nil where they are made for this client.
    var commonFormat: WatchFormat? { get }

    /// For how long to let commits gather after some were told, so that they are told together.
    var pause: Duration { get }

    /// Appends the bytes of a frame.
    func write(_ frame: WatchFrame, to buffer: inout ByteBuffer)

    /// Appends the bytes of the frame that ends a stream that fails.
    func write(_ error: RPCError, to buffer: inout ByteBuffer)
}

extension WatchEncoder {
    package var pause: Duration { .zero }
}
