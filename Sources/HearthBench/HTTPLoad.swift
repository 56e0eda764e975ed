import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Requests over connections that stay open, each sending its next one when the answer to its last is complete.
struct HTTPLoad {
    let port: Int
    let connections: Int

    /// An answer that was not the one that is measured.
    struct UnexpectedAnswer: Error, CustomStringConvertible {
        let description: String
    }

    /// Sends POST requests with these bodies, as fast as they are answered.
    ///
    /// - Parameter answer: What every answer's body begins with; another one ends the run.
    func post(_ bodies: [ByteBuffer], to path: String, expecting answer: String) async throws {
        let requests = LoadRequests(bodies: bodies, path: path, host: "127.0.0.1:\(port)", answer: ByteBuffer(string: answer))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(connections, bodies.count) {
                group.addTask {
                    let done = loop.makePromise(of: Void.self)
                    do {
                        let channel = try await ClientBootstrap(group: loop)
                            .channelInitializer { channel in
                                channel.eventLoop.makeCompletedFuture {
                                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                                    try channel.pipeline.syncOperations.addHandler(LoadConnection(requests, done: done))
                                }
                            }
                            .connect(host: "127.0.0.1", port: port).get()
                        _ = try await done.futureResult.get()
                        try? await channel.close()
                    } catch {
                        done.fail(error)
                        throw error
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The requests that all connections share.
private final class LoadRequests: Sendable {
    let head: @Sendable (Int) -> HTTPRequestHead
    let answer: ByteBuffer
    private let bodies: [ByteBuffer]
    private let next = Atomic(0)

    init(bodies: [ByteBuffer], path: String, host: String, answer: ByteBuffer) {
        self.bodies = bodies
        self.answer = answer
        head = { length in
            HTTPRequestHead(
                version: .http1_1,
                method: .POST,
                uri: path,
                headers: ["Host": host, "Content-Type": "application/json", "Content-Length": "\(length)"]
            )
        }
    }

    /// The next request's body; nil when all were sent.
    func take() -> ByteBuffer? {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return index < bodies.count ? bodies[index] : nil
    }
}

private final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let requests: LoadRequests
    private let done: EventLoopPromise<Void>
    private var status = HTTPResponseStatus.ok
    private var body = ByteBuffer()

    init(_ requests: LoadRequests, done: EventLoopPromise<Void>) {
        self.requests = requests
        self.done = done
    }

    func channelActive(context: ChannelHandlerContext) {
        send(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status
            body.clear()
        case .body(var part):
            body.writeBuffer(&part)
        case .end:
            guard status == .ok, body.readableBytesView.starts(with: requests.answer.readableBytesView) else {
                let text = String(buffer: body.getSlice(at: 0, length: min(body.readableBytes, 300)) ?? ByteBuffer())
                done.fail(HTTPLoad.UnexpectedAnswer(description: "The server answered \(status.code): \(text)"))
                return
            }
            send(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(HTTPLoad.UnexpectedAnswer(description: "The server closed a connection"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard let body = requests.take() else {
            done.succeed()
            return
        }
        context.write(wrapOutboundOut(.head(requests.head(body.readableBytes))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
