package import HearthAPI
package import JSONRPC
package import NIOCore

/// An encoder of the frames of a stream.
package protocol WatchEncoder: Sendable {
    /// The media type of the stream.
    var contentType: String { get }

    /// The format, if the encoded bytes can be shared between streams; `nil` if they are specific to this client.
    var sharedFormat: WatchFormat? { get }

    /// The time to wait after sending changes, so that subsequent commits are sent together.
    var batchingInterval: Duration { get }

    /// Encodes a frame.
    func write(_ frame: OutgoingWatchFrame, to buffer: inout ByteBuffer)

    /// Encodes the frame that ends a failed stream.
    func write(_ error: RPCError, to buffer: inout ByteBuffer)
}

extension WatchEncoder {
    package var batchingInterval: Duration { .zero }
}
