import ArgumentParser

/// Firestore's API over gRPC, compared with the same work over HTTP/1.1 and with a raw NIO handler for HTTP/2.
struct GRPCBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grpc",
        abstract:
            "Calls and listeners over gRPC, compared with JSON-RPC, watch streams, Firestore's REST API and a raw NIO handler.",
        discussion: """
            Needs h2load, of the Debian package nghttp2-client, for the calls. A number of 0 leaves a workload out.
            """
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of unary calls per workload.")
    var calls = 50_000

    @Option(help: "Number of listeners that receive every commit.")
    var listeners = 1_000

    @Option(help: "Number of HTTP/2 connections of the listeners.")
    var connections = 10

    @Option(help: "Commits per second.")
    var rate = 100

    @Option(help: "Duration of the commits in seconds.")
    var seconds = 10

    @Option(help: "Number of listeners whose memory is measured.")
    var idleListeners = 2_000

    @Option(help: "Number of documents in an initial snapshot.")
    var documents = 10_000

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard calls >= 0, documents >= 0, connections >= 1, rate >= 1, seconds >= 1 else {
            throw ValidationError("Requires at least 1 connection, 1 commit per second and 1 second.")
        }
        guard [listeners, idleListeners].allSatisfy({ $0 == 0 || (connections...1_000 * connections).contains($0) }) else {
            throw ValidationError("Requires 1 to 1,000 listeners per connection.")
        }
    }

    func run() async throws {
        var report = Report()
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                if calls > 0 { try await measureCalls(in: folder, into: &report) }
                if listeners > 0 { try await measureListeners(in: folder, into: &report) }
                if idleListeners > 0 { try await measureIdleListeners(in: folder, into: &report) }
                if documents > 0 { try await measureSnapshots(in: folder, into: &report) }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    /// Starts a server on an empty folder, calls `body` and terminates the server.
    func withServer<Result>(
        _ name: String,
        watchers: Int = 1,
        in folder: String,
        _ body: (BenchmarkServer) async throws -> Result
    ) async throws -> Result {
        let limits = ["--watchers", "\(watchers)", "--watchers-per-address", "\(watchers)"]
        return try await BenchmarkServer.withHearth(hearth, data: folder + "/" + name, limits, in: folder, body)
    }
}
