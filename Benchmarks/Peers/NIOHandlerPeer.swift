import NIOCore
import NIOHTTP1

/// A NIO handler that answers every request with constant bytes: the least that a request over HTTP takes.
struct NIOHandlerPeer: Peer {
    let name = "NIO handler"
    private let server: BenchmarkServer

    /// The size of a response with a document.
    private static let responseBytes = 400

    init(in folder: String) throws {
        server = try BenchmarkServer.start(
            SpawnedProcess.sibling("hearth-bench"),
            ["constant-server", "--bytes", "\(Self.responseBytes)"],
            in: folder
        )
    }

    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int? {
        guard case .read = workload else { return nil }
        return try await HTTPLoad(port: server.port, connections: load.connections)
            .send(for: load.duration, expecting: "x") { _ in HTTPLoad.Request(method: .GET, path: "/constant") }
    }

    func processorTime() throws -> Duration { try server.process.processorTime() }

    func stop() { server.process.terminate() }
}
