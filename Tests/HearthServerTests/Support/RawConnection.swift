import NIOCore
import NIOPosix
import Testing

/// A TCP connection that sends what it is told, byte by byte, and shows what comes back.
struct RawConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    let channel: any Channel
    /// What has come and was not taken yet.
    private var received: [UInt8] = []
    /// Whether the server has closed its side.
    private(set) var isAtEnd = false

    fileprivate init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ channel: any Channel
    ) {
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
        self.channel = channel
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Sends the same again and again, without reading, until the server closes the connection, which shows as an error, or
    /// the task is cancelled.
    func sendUntilClosed(_ block: [UInt8] = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)) async {
        while !Task.isCancelled, (try? await send(block)) != nil {}
    }

    /// Says that nothing more will be sent.
    func finishSending() {
        outbound.finish()
    }

    /// Closes the connection at once.
    func close() async throws {
        try await channel.close()
    }

    /// Takes the bytes up to the first place where `end` stands, with it.
    mutating func receive(through end: String) async throws -> String {
        let end = Array(end.utf8)
        while true {
            if let range = received.firstRange(of: end) {
                return take(range.upperBound)
            }
            try await receiveMore()
        }
    }

    /// Takes so many bytes.
    mutating func receive(_ count: Int) async throws -> [UInt8] {
        while received.count < count { try await receiveMore() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Takes everything until the server closes its side.
    mutating func receiveAll() async throws -> String {
        while !isAtEnd {
            do {
                try await receiveMore()
            } catch is EndOfStream {
                break
            }
        }
        return take(received.count)
    }

    private mutating func take(_ count: Int) -> String {
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

    /// The server closed the connection before what was expected came.
    struct EndOfStream: Error {
        let received: String
    }
}

/// Runs `body` with a connection to the server, and closes it.
func withConnection<Result: Sendable>(
    to server: TestServer,
    receiveBuffer: Int? = nil,
    _ body: (inout RawConnection) async throws -> Result
) async throws -> Result {
    var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelOption(.allowRemoteHalfClosure, value: true)
    if let receiveBuffer {
        bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBuffer))
    }
    let channel = try await bootstrap.connect(host: "127.0.0.1", port: server.port) { channel in
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
