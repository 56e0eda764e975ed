import ArgumentParser
import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreREST
import NIOCore
import NIOHTTP1
import StrictJSON
import UTF8Text

/// Calls over HTTP to a server in a separate process, whose CPU time is measured.
struct HTTPBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http",
        abstract: "Durable creates and reads over HTTP, compared with file replacement without sync and a raw NIO handler."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents per workload.")
    var documents = 20_000

    @Option(help: "Number of concurrent connections.")
    var connections = 64

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard documents >= 1_000, connections >= 1 else {
            throw ValidationError("Requires at least 1,000 documents and 1 connection.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = DocumentGenerator(seed: options.seed)
        let documents = try generator.documents(documents)
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                try await DiskBaseline.measureFiles(documents, in: folder, into: &report)
                try await measureServer(documents, in: folder, into: &report)
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measureServer(_ documents: [Document], in folder: String, into report: inout Report) async throws {
        let creates = documents.map { document in
            ByteBuffer.call("documents.create") { params in
                params.key("collection")
                params.string(document.path.collection.string)
                params.key("id")
                params.string(document.path.id.description)
                params.key("fields")
                document.fields.write(to: &params)
            }
        }
        let gets = documents.map { document in
            ByteBuffer.call("documents.get") { params in
                params.key("path")
                params.string(document.path.string)
            }
        }
        let constantBytes = Self.responseBytes(documents[0])
        let constant = try await BenchmarkServer.with(
            SpawnedProcess.sibling("hearth-bench"),
            ["constant-server", "--bytes", "\(constantBytes)"],
            in: folder
        ) { server in
            try await measure(Self.constant, gets, to: "/constant", expecting: "x", of: server)
        }
        report.add(constant)
        try await BenchmarkServer.withHearth(hearth, data: folder + "/data", in: folder) { server in
            var health = try await measure(
                "GET /health, \(connections) connections",
                documents.map { _ in HTTPLoad.Request(method: .GET, path: "/health") },
                expecting: #"{"status":"ok"}"#,
                of: server
            )
            health.addProcessorTime(relativeTo: constant, maximum: 1.5)
            report.add(health)
            try await report.add(
                measure(
                    "documents.create, \(connections) connections",
                    creates,
                    of: server,
                    target: .init(baseline: DiskBaseline.unsynced, ratio: 0.35)
                )
            )
            let single = "documents.get, \(connections) connections"
            var get = try await measure(single, gets, of: server)
            get.addProcessorTime(relativeTo: constant)
            report.add(get)
            var batched = try await measure(
                "documents.get, \(Self.batchCount) per batch",
                ByteBuffer.batches(of: Self.batchCount, gets),
                expecting: "[" + HTTPLoad.result,
                of: server,
                target: .init(baseline: single, ratio: 4)
            )
            batched.operations = gets.count
            report.add(batched)
            try await measureFirestore(documents, gets: single, of: server, into: &report)
        }
    }

    /// Measures the same calls through the Firestore REST API, compared with JSON-RPC.
    private func measureFirestore(
        _ documents: [Document],
        gets: String,
        of server: BenchmarkServer,
        into report: inout Report
    ) async throws {
        let database = DatabaseName(.standard)
        try await report.add(
            measure(
                "Firestore GET, \(connections) connections",
                documents.map { HTTPLoad.Request(method: .GET, path: "/v1/" + database.name(of: $0.path)) },
                expecting: #"{"name":"#,
                of: server,
                target: .init(baseline: gets, ratio: Self.firestoreRatio)
            )
        )
        let commits = "documents.commit, \(connections) connections"
        try await report.add(
            measure(
                commits,
                documents.map { HTTPLoad.Request(path: "/rpc", body: .commit($0, in: "rpc")) },
                expecting: HTTPLoad.result,
                of: server
            )
        )
        try await report.add(
            measure(
                "Firestore :commit, \(connections) connections",
                documents.map { document in
                    HTTPLoad.Request(
                        path: "/v1/\(database.root.string):commit",
                        body: .firestoreCommit(document, in: "firestore", of: database)
                    )
                },
                expecting: #"{"writeResults":"#,
                of: server,
                target: .init(baseline: commits, ratio: Self.firestoreRatio)
            )
        )
    }

    /// The target: a Firestore REST call costs at most 1.3 times a JSON-RPC call.
    private static let firestoreRatio = 1 / 1.3

    private func measure(
        _ name: String,
        _ requests: [ByteBuffer],
        to path: String = "/rpc",
        expecting prefix: String = HTTPLoad.result,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        try await measure(
            name,
            requests.map { HTTPLoad.Request(path: path, body: $0) },
            expecting: prefix,
            of: server,
            target: target
        )
    }

    /// Measures a workload of a server that is warm and has completed the work of earlier requests.
    private func measure(
        _ name: String,
        _ requests: [HTTPLoad.Request],
        expecting prefix: String,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        let load = HTTPLoad(port: server.port, connections: connections)
        try await load.send(Array(repeating: HTTPLoad.Request(method: .GET, path: "/health"), count: 1_000), expecting: "")
        try await server.process.waitUntilIdle()
        return try await Measurement.run(
            name,
            operations: requests.count,
            unit: "call",
            target: target,
            processorTime: server.process.processorTime
        ) {
            try await load.send(requests, expecting: prefix)
        }
    }

    /// The number of calls per batch. The target: a batched call costs at most a quarter as much as a single one.
    private static let batchCount = 100

    private static let constant = "constant response of a raw NIO handler"

    /// The approximate size of a response with a document.
    private static func responseBytes(_ document: Document) -> Int {
        var writer = JSONWriter()
        document.fields.write(to: &writer)
        return writer.bytes.count + 180
    }
}
