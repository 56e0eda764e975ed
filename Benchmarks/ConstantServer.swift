import ArgumentParser
import DocumentStore
import FileStore
import Foundation
import HTTPTypes
import HearthAPI
import HearthHTTP
import Hummingbird
import Logging
import NIOCore

/// Hearth's HTTP server with a route `POST /constant` that returns constant bytes: the baseline cost of a call.
struct ConstantServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "constant-server",
        abstract: "Serve a constant response, for hearth-bench http.",
        shouldDisplay: false
    )

    @Option(help: "Empty folder for the store, which the route doesn't use.")
    var data: String

    @Option(help: "Size of the response in bytes.")
    var bytes: Int

    func run() async throws {
        let logger = Logger(label: "hearth-bench") { StreamLogHandler.standardError(label: $0) }
        let store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: logger)
        var configuration = HTTPServerConfiguration()
        configuration.port = 0
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
        let server = try HTTPServer(
            configuration: configuration,
            context: ServiceContext(store: store),
            modules: [ConstantModule(body: body)],
            logger: logger
        ) { port in
            try? FileHandle.standardOutput.write(contentsOf: Data("http://127.0.0.1:\(port)\n".utf8))
        }
        try await server.run()
    }
}

/// A route that reads the body of a request and responds with constant bytes.
private struct ConstantModule: RouteModule {
    let body: ByteBuffer

    func routes(using _: ServerResources) -> [Route] {
        let handler: Route.Handler = { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(status: .ok, headers: [.contentType: "text/plain"], body: ResponseBody(byteBuffer: body))
        }
        return [Route("/constant", RoutePolicy(), [.post: handler])]
    }
}
