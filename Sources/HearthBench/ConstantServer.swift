import ArgumentParser
import DocumentStore
import Foundation
import HTTPTypes
import HearthServer
import HearthService
import Hummingbird
import Logging
import NIOCore

/// Hearth's HTTP server with a route that answers `POST /constant` with the same bytes: what a call costs without its work.
struct ConstantServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "constant-server",
        abstract: "Serves a constant, for hearth-bench http.",
        shouldDisplay: false
    )

    @Option(help: "An empty folder for the store, which the route doesn't touch.")
    var data: String

    @Option(help: "The size of the answer in bytes.")
    var bytes: Int

    func run() async throws {
        let logger = Logger(label: "hearth-bench") { StreamLogHandler.standardError(label: $0) }
        let store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: logger)
        var configuration = HearthServerConfiguration()
        configuration.port = 0
        let answer = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
        let server = try HearthServer(
            configuration: configuration,
            context: ServiceContext(store: store),
            logger: logger
        ) { router, _ in
            router.post("constant") { request, _ in
                _ = try await request.body.collect(upTo: 1 << 20)
                return Response(status: .ok, headers: [.contentType: "text/plain"], body: ResponseBody(byteBuffer: answer))
            }
        } onRunning: { port in
            try? FileHandle.standardOutput.write(contentsOf: Data("http://127.0.0.1:\(port)\n".utf8))
        }
        try await server.run()
    }
}
