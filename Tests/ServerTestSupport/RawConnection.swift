package import NIOCore
import NIOPosix

/// A TCP connection for sending raw bytes and inspecting the response.
package struct RawConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    package let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    package let channel: any Channel
    /// The received bytes that have not been consumed.
    private var received: [UInt8] = []
    /// True if the server has closed its side.
    package private(set) var isAtEnd = false

    fileprivate init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ channel: any Channel
    ) {
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
        self.channel = channel
    }

    package func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    package func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Sends a block repeatedly, without reading, until the server closes the connection or the task is cancelled.
    package func sendUntilClosed(_ block: [UInt8] = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)) async {
        while !Task.isCancelled, (try? await send(block)) != nil {}
    }

    /// Closes the sending side.
    package func finishSending() {
        outbound.finish()
    }

    /// Closes the connection immediately.
    package func close() async throws {
        try await channel.close()
    }

    /// Receives bytes through the first occurrence of `end`.
    package mutating func receive(through end: String) async throws -> String {
        let end = Array(end.utf8)
        while true {
            if let range = received.firstRange(of: end) {
                return consume(range.upperBound)
            }
            try await receiveMore()
        }
    }

    /// Receives a number of bytes.
    package mutating func receive(_ count: Int) async throws -> [UInt8] {
        while received.count < count { try await receiveMore() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Receives the bytes of the next read.
    package mutating func receiveSome() async throws -> [UInt8] {
        if received.isEmpty { try await receiveMore() }
        defer { received = [] }
        return received
    }

    /// Receives all bytes until the server closes its side.
    package mutating func receiveAll() async throws -> String {
        while !isAtEnd {
            do {
                try await receiveMore()
            } catch is EndOfStream {
                break
            }
        }
        return consume(received.count)
    }

    private mutating func consume(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }

    private mutating func receiveMore() async throws {
        guard let buffer = try await inbound.next() else {
            isAtEnd = true
            throw EndOfStream(received: String(decoding: received, as: UTF8.self))
        }
        received += buffer.readableBytesView
    }

    /// The error for a connection that the server closed too early.
    package struct EndOfStream: Error {
        package let received: String
    }
}

/// Runs `body` with a connection to the server, then closes it.
package func withConnection<Result: Sendable>(
    to server: InProcessServer,
    host: String = "127.0.0.1",
    receiveBuffer: Int? = nil,
    _ body: (inout RawConnection) async throws -> Result
) async throws -> Result {
    var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connectTimeout(.seconds(60))
        .channelOption(.allowRemoteHalfClosure, value: true)
    if let receiveBuffer {
        bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBuffer))
    }
    let channel = try await bootstrap.connect(host: host, port: server.port) { channel in
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }
    return try await channel.executeThenClose { inbound, outbound in
        var connection = RawConnection(inbound, outbound, channel.channel)
        return try await body(&connection)
    }
}
