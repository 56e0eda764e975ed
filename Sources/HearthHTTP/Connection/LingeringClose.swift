import NIOCore

/// A lingering close: for a limited time, what the client still sends is read and discarded. Closing a socket with unread bytes
/// resets the connection, and the client could lose the end of the response. Used on the event loop.
struct LingeringClose {
    private let configuration: ConnectionConfiguration
    private let channel: any Channel
    private var timer: Scheduled<Void>?
    /// The number of bytes received since the connection was closing.
    private var discardedByteCount = 0

    init(_ configuration: ConnectionConfiguration, of channel: any Channel) {
        self.configuration = configuration
        self.channel = channel
    }

    var hasStarted: Bool { timer != nil }

    /// Closes the sending side of the connection, and the connection after the timeout.
    mutating func start() {
        guard timer == nil else { return }
        timer = channel.eventLoop.assumeIsolated().scheduleTask(in: configuration.lingerTimeout) { [channel] in
            channel.close(promise: nil)
        }
        channel.close(mode: .output, promise: nil)
    }

    /// Counts bytes that are received while the connection is closing; disconnects a client that sends too many of them.
    mutating func discard(_ byteCount: Int) {
        discardedByteCount += byteCount
        if discardedByteCount > configuration.maximumDiscardedBytes { channel.reset() }
    }

    mutating func stop() {
        timer?.cancel()
    }
}
