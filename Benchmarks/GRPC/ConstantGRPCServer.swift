import ArgumentParser
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix

/// A NIO channel handler that responds to every gRPC call with constant bytes: the baseline cost of a call over HTTP/2.
struct ConstantGRPCServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "constant-grpc-server",
        abstract: "Serve a constant response to gRPC calls, for hearth-bench grpc.",
        shouldDisplay: false
    )

    @Option(help: "Size of the response's body in bytes.")
    var bytes: Int

    func run() async throws {
        let body = ByteBuffer(repeating: 0, count: bytes)
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.configureHTTP2Pipeline(mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()) {
                    stream in
                    stream.eventLoop.makeCompletedFuture {
                        try stream.pipeline.syncOperations.addHandler(ConstantGRPCHandler(body: body))
                    }
                }
                .map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        try FileHandle.standardOutput.write(contentsOf: Data("http://127.0.0.1:\(port)\n".utf8))
        try await server.closeFuture.get()
    }
}

/// Responds to the request of a stream with constant bytes.
private final class ConstantGRPCHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let body: ByteBuffer

    init(body: ByteBuffer) {
        self.body = body
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .data(let part) = unwrapInboundIn(data), part.endStream else { return }
        let head: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
        context.write(wrapOutboundOut(.headers(.init(headers: head))), promise: nil)
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(body)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: ["grpc-status": "0"], endStream: true))), promise: nil)
    }
}
