import Foundation

/// A server in a separate process.
struct BenchmarkServer {
    let port: Int
    let process: SpawnedProcess

    /// Starts a server, calls `body` and terminates the server. The program prints its URL (`http://127.0.0.1:PORT`) as its first line.
    static func with<Result>(
        _ path: String,
        _ arguments: [String],
        in folder: String,
        _ body: (BenchmarkServer) async throws -> Result
    ) async throws -> Result {
        let server = try start(path, arguments, in: folder)
        defer { server.process.terminate() }
        return try await body(server)
    }

    /// Starts Hearth on a free port, calls `body` and terminates it.
    ///
    /// - Parameters:
    ///   - program: The path of the executable; `nil` for the one next to this program.
    ///   - data: The data folder.
    ///   - options: Further options of `hearth serve`.
    static func withHearth<Result>(
        _ program: String?,
        data: String,
        _ options: [String] = [],
        in folder: String,
        _ body: (BenchmarkServer) async throws -> Result
    ) async throws -> Result {
        let arguments = ["serve", "--data", data, "--port", "0"] + options
        return try await with(program ?? SpawnedProcess.sibling("hearth"), arguments, in: folder, body)
    }

    /// Starts a server, which the caller terminates. The program prints its URL (`http://127.0.0.1:PORT`) as its first line.
    static func start(_ path: String, _ arguments: [String], in folder: String) throws -> BenchmarkServer {
        let pipe = folder + "/address-\(UUID().uuidString)"
        guard mkfifo(pipe, 0o600) == 0 else { throw RawFileIO.Failure(call: "mkfifo", code: errno) }
        // Opened for reading and writing, so that opening doesn't block and the pipe stays open when the program exits.
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        guard reader >= 0 else { throw RawFileIO.Failure(call: "open", code: errno) }
        defer { close(reader) }
        let process = try SpawnedProcess(path, arguments, output: pipe)
        var line = [UInt8](repeating: 0, count: 256)
        var event = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        let count = poll(&event, 1, startMilliseconds) == 1 ? read(reader, &line, line.count) : 0
        let address = line.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        guard let url = URL(string: String(decoding: address, as: UTF8.self)), let port = url.port else {
            process.terminate()
            throw StartFailure(program: path)
        }
        return BenchmarkServer(port: port, process: process)
    }

    /// The server did not print its URL.
    struct StartFailure: Error, CustomStringConvertible {
        let program: String

        var description: String {
            "\(program) did not print its URL. Build it first, or specify another executable with --hearth."
        }
    }

    private static let startMilliseconds: Int32 = 30_000
}
