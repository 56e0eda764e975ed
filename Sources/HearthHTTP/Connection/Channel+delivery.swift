internal import Glibc
import NIOCore

extension Channel {
    /// The number of bytes written to a socket that the client's machine has not acknowledged. Called on the event loop.
    var undeliveredByteCount: Int {
        ((try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) + unacknowledgedByteCount
    }

    /// The number of bytes in the kernel's send buffer.
    private var unacknowledgedByteCount: Int {
        let count = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            var count: CInt = 0
            return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        }
        return count ?? 0
    }

    /// Makes the kernel close the connection when sent data stays unacknowledged for the timeout (`TCP_USER_TIMEOUT`). Called on the
    /// event loop.
    ///
    /// When the client's machine or network disappears, writes such as a stream's heartbeats still succeed into the socket buffer,
    /// and by default the kernel retransmits for about 15 minutes.
    func setUnacknowledgedTimeout(_ timeout: TimeAmount) throws {
        #if os(Linux)
        let milliseconds = SocketOptionValue(timeout.nanoseconds / 1_000_000)
        try syncOptions?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)), value: milliseconds)
        #endif
    }

    /// Makes closing the socket a reset, so that the client stops sending, and closes it. Called on the event loop.
    func reset() {
        let option =
            (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            ?? eventLoop.makeSucceededVoidFuture()
        option.assumeIsolated().whenComplete { _ in self.close(promise: nil) }
    }
}
