package import Foundation
import Gzip
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An OpenTelemetry collector on a free port of this machine, which keeps what it receives.
package final class TraceCollector: Sendable {
    /// A request, with its body decompressed.
    package struct Request: Sendable {
        package let path: String
        /// The headers, with names in lower case.
        package let headers: [String: String]
        package let body: Data
        /// The time at which it was complete.
        package let time: ContinuousClock.Instant
    }

    /// The answer to a request.
    package enum Answer: Sendable {
        case response(status: Int, headers: [String: String] = [:], body: String = "{}")
        /// The connection is closed without one.
        case close
        /// There is none.
        case none
        /// The head of a response, without its body.
        case head
    }

    /// The requests, each as soon as it is complete. To be read once.
    package let requests: AsyncStream<Request>
    /// The URL of the collector.
    package let url: String
    private let channel: any Channel

    /// Starts a collector.
    ///
    /// - Parameter answer: Returns the answer to a request, by its number from 0. By default, all spans are accepted.
    package init(answer: @escaping @Sendable (Int) -> Answer = { _ in .response(status: 200) }) async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: Request.self)
        let counter = RequestCounter()
        self.requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    let handler = CollectorHandler { request in
                        continuation.yield(request)
                        return answer(counter.next())
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }

    /// Stops accepting connections, so that no more can be made.
    package func stop() async throws {
        try await channel.close().get()
    }

    /// Waits for the requests that have all of some spans, and returns the spans of all requests until then.
    ///
    /// - Parameter names: The names of the spans to wait for, as often as they occur here.
    package func spans(named names: [String]) async throws -> [TraceSpan] {
        var spans: [TraceSpan] = []
        for await request in requests {
            spans += try TraceSpan.spans(of: request)
            let found = spans.map(\.name)
            if Set(names).allSatisfy({ name in found.count { $0 == name } >= names.count { $0 == name } }) { return spans }
        }
        return spans
    }
}

/// The number of requests that a collector has received.
private final class RequestCounter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

/// Receives requests of one connection, and answers them.
private final class CollectorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receive: (TraceCollector.Request) -> TraceCollector.Answer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(receive: @escaping (TraceCollector.Request) -> TraceCollector.Answer) {
        self.receive = receive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part):
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
            let content = headers["content-encoding"] == "gzip" ? Self.decompressed(body) : body
            answer(
                receive(TraceCollector.Request(path: head.uri, headers: headers, body: Data(content), time: .now)),
                in: context
            )
        }
    }

    private func answer(_ answer: TraceCollector.Answer, in context: ChannelHandlerContext) {
        switch answer {
        case .none: return
        case .head:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "2"])
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        case .close: context.close(promise: nil)
        case .response(let status, let fields, let text):
            var headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
            headers.add(name: "Content-Length", value: "\(text.utf8.count)")
            headers.add(name: "Content-Type", value: "application/json")
            let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// Returns the bytes; none if they cannot be decompressed.
    private static func decompressed(_ bytes: [UInt8]) -> [UInt8] {
        let decompressor = GzipDecompressor()
        decompressor.append(bytes)
        var output: [UInt8] = []
        while let part = try? decompressor.next() { output += part }
        return output
    }
}
