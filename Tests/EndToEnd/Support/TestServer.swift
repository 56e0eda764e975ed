import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

/// A `hearth serve` on a port of its own.
struct TestServer: Sendable {
    let process: HearthProcess
    /// The data folder.
    let folder: URL
    /// As it printed it, such as `http://127.0.0.1:40123`.
    let address: String
    /// A connection, for calls without the command line in between.
    let connection: HearthConnection

    /// Starts a server and waits for the line that says where it is.
    ///
    /// - Parameter port: 0, or the port of a server that was there before.
    init(data folder: URL, port: String = "0") async throws {
        let process = try HearthProcess(["serve", "--data", folder.path, "--port", port])
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

    /// Ends the server and waits until it is gone.
    func stop(with signal: Int32 = SIGTERM) async throws -> HearthProcess.ExitStatus {
        await connection.shutdown()
        return try await process.end(with: signal)
    }

    /// The file of a document.
    func file(_ path: String) -> URL {
        folder.appendingPathComponent("documents/\(path).json")
    }
}

/// Runs `body` with a server over an empty data folder, and checks that the server stops cleanly afterwards.
func withServer(_ body: (TestServer) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        let server = try await TestServer(data: folder.appendingPathComponent("data"))
        do {
            try await body(server)
        } catch {
            _ = try await server.stop(with: SIGKILL)
            throw error
        }
        #expect(try await server.stop() == .code(0))
    }
}
