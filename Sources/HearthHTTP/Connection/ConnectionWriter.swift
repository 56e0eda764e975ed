import Concurrency
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization

/// Writes the responses of a connection, from any thread, with backpressure.
final class ConnectionWriter: Sendable {
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

    init(_ channel: any Channel) {
        self.channel = channel
    }

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

    /// Records that the connection is closed: all writes fail.
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
        try await write([.head(HTTPResponseHead(head))], flushes: true)
    }

    /// Returns the writer of a response's body.
    ///
    /// - Parameter head: The head of a response of known length, written with the first part of its body; all parts are sent
    ///   together at the end, unless there is more than the channel buffers. `nil` if the head has been written and each part is
    ///   to be sent at once.
    func bodyWriter(after head: HTTPResponse?) -> some ResponseBodyWriter {
        ConnectionBodyWriter(connection: self, head: head, isStream: head == nil)
    }

    fileprivate func write(_ parts: [HTTPServerResponsePart], flushes: Bool) async throws {
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

    private func writeOnEventLoop(_ parts: [HTTPServerResponsePart], flushes: Bool) {
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

/// Writes the body of one response.
private struct ConnectionBodyWriter: ResponseBodyWriter {
    let connection: ConnectionWriter
    /// The head that has not been written.
    var head: HTTPResponse?
    let isStream: Bool

    mutating func write(_ buffer: ByteBuffer) async throws {
        try await connection.write(takeHead() + [.body(.byteBuffer(buffer))], flushes: isStream)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await connection.write(takeHead() + [.end(nil)], flushes: true)
    }

    private mutating func takeHead() -> [HTTPServerResponsePart] {
        defer { head = nil }
        return head.map { [.head(HTTPResponseHead($0))] } ?? []
    }
}

extension HTTPServerResponsePart {
    fileprivate var bodyByteCount: Int {
        if case .body(let data) = self { data.readableBytes } else { 0 }
    }
}
