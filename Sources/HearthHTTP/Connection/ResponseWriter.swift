import Concurrency
import HTTPTypes
package import HummingbirdCore
package import NIOCore
import Synchronization

/// Writes responses to a channel, that of an HTTP/1 connection or of an HTTP/2 stream, from any thread, with backpressure.
final class ResponseWriter: Sendable {
    private enum State {
        case writable
        /// The client has not read enough; writers wait until it has.
        case notWritable(Waiters)
        case closed
    }

    private let channel: any Channel
    private let state = Mutex(State.writable)
    /// The number of body bytes that other threads have passed to the event loop and that have not been written.
    private let queuedByteCount = Atomic(0)
    /// The number of body bytes of all responses of unknown length.
    fileprivate let streamedByteCount = Atomic(0)

    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// The number of body bytes that have been written to streams.
    var bodyByteCount: Int { streamedByteCount.load(ordering: .relaxed) }

    /// Records whether the channel accepts more data.
    func setWritable(_ isWritable: Bool) {
        let waiters: [Waiter] = state.withLock { state in
            switch state {
            case .writable where !isWritable:
                state = .notWritable(Waiters())
            case .notWritable(var waiters) where isWritable:
                state = .writable
                return waiters.removeAll()
            case .writable, .notWritable, .closed:
                break
            }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Records that the channel is closed: all writes fail.
    func close() {
        let waiters: [Waiter] = state.withLock { state in
            defer { state = .closed }
            guard case .notWritable(var waiters) = state else { return [] }
            return waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Writes and sends the head of a response whose body has no known length.
    func writeHead(_ head: HTTPResponse) async throws {
        try await write([.head(head)], flushes: true)
    }

    /// Returns the writer of a response's body.
    ///
    /// - Parameter head: The head of a response of known length, written with the first part of its body; all parts are sent
    ///   together at the end, unless there is more than the channel buffers. `nil` if the head has been written and each part is
    ///   to be sent at once.
    func bodyWriter(after head: HTTPResponse?) -> some ResponseBodyWriter {
        ChannelBodyWriter(channel: self, head: head, isStream: head == nil)
    }

    fileprivate func write(_ parts: [ResponsePart], flushes: Bool) async throws {
        try await waitUntilWritable()
        let eventLoop = channel.eventLoop
        guard !eventLoop.inEventLoop else { return writeOnEventLoop(parts, flushes: flushes) }
        let byteCount = parts.reduce(0) { $0 + $1.bodyByteCount }
        let queuedByteCount = queuedByteCount.add(byteCount, ordering: .relaxed).newValue
        let operation: @Sendable () -> Void = {
            self.queuedByteCount.subtract(byteCount, ordering: .relaxed)
            self.writeOnEventLoop(parts, flushes: flushes)
        }
        guard queuedByteCount > Self.maximumQueuedBytes else { return eventLoop.execute(operation) }
        try await eventLoop.submit(operation).get()
    }

    /// Writes and sends a part of a body if the client has read enough. Called on the event loop.
    ///
    /// - Returns: False, with nothing written, if the channel does not accept more data or is closed.
    fileprivate func writeIfWritable(_ buffer: ByteBuffer) -> Bool {
        guard state.withLock({ if case .writable = $0 { true } else { false } }) else { return false }
        streamedByteCount.add(buffer.readableBytes, ordering: .relaxed)
        channel.write(ResponsePart.body(buffer), promise: nil)
        channel.flush()
        return true
    }

    private func writeOnEventLoop(_ parts: [ResponsePart], flushes: Bool) {
        for part in parts { channel.write(part, promise: nil) }
        // A channel that is not writable becomes writable again only by sending.
        if flushes || !channel.isWritable { channel.flush() }
    }

    /// The number of bytes that another thread may pass to the event loop before it waits.
    private static let maximumQueuedBytes = 64 << 10

    private func waitUntilWritable() async throws {
        while true {
            let waiter: Waiter? = try state.withLock { state in
                switch state {
                case .writable: return nil
                case .closed: throw ChannelError.ioOnClosedChannel
                case .notWritable(var waiters):
                    let waiter = waiters.add()
                    state = .notWritable(waiters)
                    return waiter
                }
            }
            guard let waiter else { return }
            guard await waiter.wait() else { throw CancellationError() }
        }
    }
}

/// A writer of the body of a stream, which can also write without waiting.
package protocol StreamBodyWriter: ResponseBodyWriter {
    /// Writes and sends a part of the body if the client has read enough. Called on the channel's event loop, when all earlier
    /// writes have returned.
    ///
    /// - Returns: False, with nothing written, if ``write(_:)`` would wait or fail.
    func writeIfWritable(_ buffer: ByteBuffer) -> Bool
}

/// Writes the body of one response.
private struct ChannelBodyWriter: StreamBodyWriter {
    let channel: ResponseWriter
    /// The head that has not been written.
    var head: HTTPResponse?
    let isStream: Bool

    mutating func write(_ buffer: ByteBuffer) async throws {
        let byteCount = buffer.readableBytes
        try await channel.write(takeHead() + [.body(buffer)], flushes: isStream)
        if isStream { channel.streamedByteCount.add(byteCount, ordering: .relaxed) }
    }

    func writeIfWritable(_ buffer: ByteBuffer) -> Bool {
        isStream && channel.writeIfWritable(buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await channel.write(takeHead() + [.end(trailingHeaders)], flushes: true)
    }

    private mutating func takeHead() -> [ResponsePart] {
        defer { head = nil }
        return head.map { [.head($0)] } ?? []
    }
}
