import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

/// A `hearth serve` process on a free port.
struct EndToEndServer: Sendable {
    let process: HearthProcess
    /// The data folder.
    let folder: URL
    /// The URL printed by the server, such as `http://127.0.0.1:40123`.
    let address: String
    /// A connection to the server.
    let connection: HearthConnection

    /// Starts a server and waits for its URL.
    ///
    /// - Parameters:
    ///   - folder: The data folder; with an engine, the folder of the server's own files.
    ///   - engine: The URL of the engine; `nil` for a data folder.
    ///   - port: The port; 0 selects a free port.
    ///   - arguments: Further arguments of `hearth serve`.
    ///   - environment: Further environment variables.
    init(
        data folder: URL,
        engine: String? = nil,
        port: String = "0",
        arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws {
        let process = try HearthProcess(
            ["serve"] + (engine.map { ["--engine", $0, "--server-folder"] } ?? ["--data"]) + [folder.path, "--port", port]
                + arguments,
            environment: environment
        )
        var address: String?
        for await line in process.output {
            address = line
            break
        }
        guard let address else {
            let errors = await process.errors.reduce(into: []) { $0.append($1) }.joined(separator: "\n")
            throw StatusError(.unavailable, "hearth serve did not start: \(try await process.exitStatus()) \(errors)")
        }
        self.process = process
        self.folder = folder
        self.address = address
        do {
            self.connection = try HearthConnection(server: ServerAddress(address))
        } catch {
            _ = try await process.end(with: SIGKILL)
            throw error
        }
    }

    /// Stops the server and waits until it has exited.
    func stop(with signal: Int32 = SIGTERM) async throws -> HearthProcess.ExitStatus {
        await connection.shutdown()
        return try await process.end(with: signal)
    }

    /// Returns the file of a document.
    func file(_ path: String) -> URL {
        folder.appendingPathComponent("documents/\(path).json")
    }
}

/// Calls `body` with a server on an empty data folder, and expects that the server shuts down cleanly.
///
/// - Parameter arguments: Further arguments of `hearth serve`.
func withServer(arguments: [String] = [], _ body: (EndToEndServer) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        let server = try await EndToEndServer(data: folder.appendingPathComponent("data"), arguments: arguments)
        do {
            try await body(server)
        } catch {
            _ = try await server.stop(with: SIGKILL)
            throw error
        }
        #expect(try await server.stop() == .code(0))
    }
}
