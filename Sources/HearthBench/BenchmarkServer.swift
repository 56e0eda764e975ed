import Foundation

/// A server in a process of its own, for the length of a benchmark.
struct BenchmarkServer {
    let port: Int
    let program: ChildProgram

    /// Runs `body` with a server, a program that prints its address (`http://127.0.0.1:PORT`) as its first line, and ends it.
    static func with<Result>(
        _ path: String,
        _ arguments: [String],
        in folder: String,
        _ body: (BenchmarkServer) async throws -> Result
    ) async throws -> Result {
        let pipe = folder + "/address-\(UUID().uuidString)"
        guard mkfifo(pipe, 0o600) == 0 else { throw RawFile.Failure(call: "mkfifo", code: errno) }
        // Opened for both, the pipe neither waits for the program to open it nor ends when the program does.
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        guard reader >= 0 else { throw RawFile.Failure(call: "open", code: errno) }
        defer { close(reader) }
        let program = try ChildProgram(path, arguments, output: pipe)
        defer { program.end() }
        var line = [UInt8](repeating: 0, count: 256)
        var event = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, startMilliseconds) == 1, case let count = read(reader, &line, line.count), count > 0 else {
            throw StartFailure(program: path)
        }
        let address = line.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
        guard let url = URL(string: String(decoding: address, as: UTF8.self)), let port = url.port else {
            throw StartFailure(program: path)
        }
        return try await body(BenchmarkServer(port: port, program: program))
    }

    /// A server that printed no address.
    struct StartFailure: Error, CustomStringConvertible {
        let program: String

        var description: String { "\(program) did not print an address. Build it first, or name another with --hearth." }
    }

    private static let startMilliseconds: Int32 = 30_000
}
