import NIOCore
import NIOHTTP2

/// The limits of HTTP/2 connections.
enum HTTP2Configuration {
    /// The maximum number of open streams of a connection. Above it, clients of gRPC queue their calls silently; some of them open
    /// a stream per listener.
    static let maximumConcurrentStreams = 1_000
    /// The maximum size of a header list that is decoded. It is twice the maximum size of a request's, so that a request that is only
    /// somewhat too large gets a response; a larger one ends the connection.
    static let maximumHeaderListBytes = 2 * ConnectionConfiguration.maximumHeadBytes
    /// The maximum number of fields in a request.
    static let maximumFieldCount = 100

    /// The number of body bytes that a client may send on a stream before any of them is read. The initial value of the protocol, so
    /// that it also applies to streams that are opened with the connection.
    static let initialStreamWindow = 65_535
    /// The number of body bytes that a client may send on a stream ahead of its reader.
    static let streamWindow = 1 << 20
    /// The number of body bytes that a client may send on all streams of a connection within a round trip.
    static let connectionWindow = 16 << 20

    /// The time between the end of a response and the reset of its stream, if the client is still sending the request.
    static let resetDelay = TimeAmount.milliseconds(20)

    /// The configuration of the frame codec.
    ///
    /// Its limits on frame rates must not end clients that cancel thousands of streams at once, or that measure bandwidth with a PING
    /// per round trip; a thousand frames of one kind in so short a period are more than arrive in practice. The periods are short
    /// because NIO reserves memory for a time stamp per counted frame. What a client can make the server retain is limited by other
    /// means: at most 10,000 unsent acknowledgements (NIO), and requests in progress, cancelled or not.
    static var codec: NIOHTTP2Handler.Configuration {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumConcurrentStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: maximumHeaderListBytes),
        ]
        connection.targetWindowSize = connectionWindow
        connection.controlFrameRateLimit.maximumCount = 1_000
        connection.controlFrameRateLimit.windowLength = .microseconds(100)
        // Counted until the next request.
        connection.maximumSequentialEmptyDataFrames = 10_000
        connection.maximumConnectionGlitches = 100_000
        // All streams may be reset at once, while the client still sends.
        connection.maximumRecentlyResetStreams = maximumConcurrentStreams
        var stream = NIOHTTP2Handler.StreamConfiguration()
        // HTTP2StreamHandler manages the windows of streams: NIO would extend them before a body is read.
        stream.targetWindowSize = 0
        stream.outboundBufferSizeHighWatermark = 64 << 10
        stream.outboundBufferSizeLowWatermark = 32 << 10
        stream.streamResetFrameRateLimit.maximumCount = 1_000
        stream.streamResetFrameRateLimit.windowLength = .milliseconds(1)
        stream.streamErrorRateLimit.maximumCount = 1_000
        stream.streamErrorRateLimit.windowLength = .milliseconds(1)
        return NIOHTTP2Handler.Configuration(connection: connection, stream: stream)
    }
}
