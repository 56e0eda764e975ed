import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP load generator with persistent connections. Each connection sends a request when the previous response is complete.
struct HTTPLoad {
    let port: Int
    let connections: Int
    /// The ID token or API key of all requests; `nil` for none.
    var token: String?

    /// An unexpected response, which invalidates the measurement.
    struct UnexpectedResponse: Error, CustomStringConvertible {
        let description: String
    }

    /// A request with an optional JSON body.
    struct Request: Sendable {
        var method = HTTPMethod.POST
        var path: String
        var body = ByteBuffer()
    }

    /// Sends POST requests with the given bodies.
    ///
    /// - Parameter prefix: The expected prefix of every response body. Any other response aborts the run.
    func post(_ bodies: [ByteBuffer], to path: String, expecting prefix: String) async throws {
        try await send(bodies.map { Request(path: path, body: $0) }, expecting: prefix)
    }

    /// Sends requests.
    ///
    /// - Parameter prefix: The expected prefix of every response body. Any other response aborts the run.
    func send(_ list: [Request], expecting prefix: String) async throws {
        try await send(expecting: prefix, maximumConnections: list.count) { $0 < list.count ? list[$0] : nil }
    }

    /// Sends requests until a time has passed.
    ///
    /// - Parameters:
    ///   - prefix: The expected prefix of every response body. Any other response aborts the run.
    ///   - request: Returns the request with a number.
    /// - Returns: The number of requests.
    func send(
        for duration: Duration,
        expecting prefix: String,
        _ request: @escaping @Sendable (Int) -> Request
    ) async throws -> Int {
        let end = ContinuousClock.now + duration
        return try await send(expecting: prefix, maximumConnections: connections) { .now < end ? request($0) : nil }
    }

    @discardableResult
    private func send(
        expecting prefix: String,
        maximumConnections: Int,
        _ request: @escaping @Sendable (Int) -> Request?
    ) async throws -> Int {
        var headers: HTTPHeaders = ["Host": "127.0.0.1:\(port)"]
        if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
        let requests = LoadRequestQueue(request, headers: headers, expectedPrefix: ByteBuffer(string: prefix))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(connections, maximumConnections) {
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
        return requests.count
    }
}

/// The queue of requests, shared by all connections.
private final class LoadRequestQueue: Sendable {
    let expectedPrefix: ByteBuffer
    private let headers: HTTPHeaders
    private let request: @Sendable (Int) -> HTTPLoad.Request?
    private let nextIndex = Atomic(0)
    private let sentCount = Atomic(0)

    /// - Parameter request: Returns the request with a number; `nil` if all have been sent.
    init(_ request: @escaping @Sendable (Int) -> HTTPLoad.Request?, headers: HTTPHeaders, expectedPrefix: ByteBuffer) {
        self.request = request
        self.headers = headers
        self.expectedPrefix = expectedPrefix
    }

    /// The number of requests sent.
    var count: Int { sentCount.load(ordering: .relaxed) }

    /// Returns the next request; `nil` if all have been sent.
    func next() -> (head: HTTPRequestHead, body: ByteBuffer)? {
        let index = nextIndex.wrappingAdd(1, ordering: .relaxed).oldValue
        guard let request = request(index) else { return nil }
        sentCount.add(1, ordering: .relaxed)
        var head = HTTPRequestHead(version: .http1_1, method: request.method, uri: request.path, headers: headers)
        if request.body.readableBytes > 0 {
            head.headers.add(name: "Content-Type", value: "application/json")
            head.headers.add(name: "Content-Length", value: "\(request.body.readableBytes)")
        }
        return (head, request.body)
    }
}

private final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let requests: LoadRequestQueue
    private let done: EventLoopPromise<Void>
    private var status = HTTPResponseStatus.ok
    private var body = ByteBuffer()

    init(_ requests: LoadRequestQueue, done: EventLoopPromise<Void>) {
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
            guard (200..<300).contains(status.code),
                body.readableBytesView.starts(with: requests.expectedPrefix.readableBytesView)
            else {
                let text = String(buffer: body.getSlice(at: 0, length: min(body.readableBytes, 300)) ?? ByteBuffer())
                done.fail(HTTPLoad.UnexpectedResponse(description: "Unexpected response with status \(status.code): \(text)"))
                return
            }
            send(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(HTTPLoad.UnexpectedResponse(description: "The server closed a connection."))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard let (head, body) = requests.next() else {
            done.succeed()
            return
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
