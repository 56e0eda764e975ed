import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A NIO channel handler that returns constant bytes: the baseline cost of a request over HTTP.
struct ConstantServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "constant-server",
        abstract: "Serve a constant response, for hearth-bench http.",
        shouldDisplay: false
    )

    @Option(help: "Size of the response in bytes.")
    var bytes: Int

    func run() async throws {
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(ConstantHandler(body: body))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        try FileHandle.standardOutput.write(contentsOf: Data("http://127.0.0.1:\(port)\n".utf8))
        try await server.closeFuture.get()
    }
}

/// Responds to every request with constant bytes.
private final class ConstantHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let body: ByteBuffer

    init(body: ByteBuffer) {
        self.body = body
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        let headers: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "\(body.readableBytes)"]
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
