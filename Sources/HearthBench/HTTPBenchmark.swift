import ArgumentParser
import DocumentModel
import FirestoreREST
import NIOCore
import NIOHTTP1
import StrictJSON

/// Calls over HTTP of a server in a process of its own, which is charged with its own processor time only.
struct HTTPBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http",
        abstract: "Durable creates and reads over HTTP, beside the same files without sync and a route that does nothing."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many documents each workload writes.")
    var documents = 20_000

    @Option(help: "How many connections are used at once.")
    var connections = 64

    @Option(help: "The hearth program; by default the one beside this program.")
    var hearth: String?

    func validate() throws {
        guard documents >= 1_000, connections >= 1 else {
            throw ValidationError("At least 1,000 documents and 1 connection are needed for figures that mean something.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = GeneratedDocuments(seed: options.seed)
        let documents = try generator.documents(documents)
        try await BusyCores.with(options.busy) {
            try await RawFile.withTemporaryFolder(in: options.folder) { folder in
                try await DiskLimits.measureFiles(documents, in: folder, into: &report)
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
        let constantBytes = Self.answerBytes(documents[0])
        try await BenchmarkServer.with(
            ChildProgram.sibling("hearth-bench"),
            ["constant-server", "--data", folder + "/unused", "--bytes", "\(constantBytes)"],
            in: folder
        ) { server in
            try await report.add(measure(Self.constant, gets, to: "/constant", expecting: "x", of: server))
        }
        try await BenchmarkServer.with(
            hearth ?? ChildProgram.sibling("hearth"),
            ["serve", "--data", folder + "/data", "--port", "0"],
            in: folder
        ) { server in
            try await report.add(
                measure(
                    "documents.create, \(connections) connections",
                    creates,
                    of: server,
                    target: .init(limit: DiskLimits.unsynced, share: 0.35)
                )
            )
            let single = "documents.get, \(connections) connections"
            try await report.add(measure(single, gets, of: server, target: .init(limit: Self.constant, share: 0.7)))
            var batched = try await measure(
                "documents.get, \(Self.batchCount) in a batch",
                ByteBuffer.batches(of: Self.batchCount, gets),
                expecting: "[" + HTTPLoad.result,
                of: server,
                target: .init(limit: single, share: 4)
            )
            batched.operations = gets.count
            report.add(batched)
            try await measureFirestore(documents, gets: single, of: server, into: &report)
        }
    }

    /// The same calls by Firestore's own interface, beside those by JSON-RPC.
    private func measureFirestore(
        _ documents: [Document],
        gets: String,
        of server: BenchmarkServer,
        into report: inout Report
    ) async throws {
        let database = DatabaseName(.standard)
        try await report.add(
            measure(
                "Firestore's GET, \(connections) connections",
                documents.map { HTTPLoad.Request(method: .GET, path: "/v1/" + database.name(of: $0.path)) },
                expecting: #"{"name":"#,
                of: server,
                target: .init(limit: gets, share: Self.firestoreShare)
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
                "Firestore's :commit, \(connections) connections",
                documents.map { document in
                    HTTPLoad.Request(
                        path: "/v1/\(database.root.string):commit",
                        body: .firestoreCommit(document, in: "firestore", of: database)
                    )
                },
                expecting: #"{"writeResults":"#,
                of: server,
                target: .init(limit: commits, share: Self.firestoreShare)
            )
        )
    }

    /// A call by Firestore's interface is to cost at most 1.3 times what it does by JSON-RPC.
    private static let firestoreShare = 1 / 1.3

    private func measure(
        _ name: String,
        _ requests: [ByteBuffer],
        to path: String = "/rpc",
        expecting answer: String = HTTPLoad.result,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        try await measure(
            name,
            requests.map { HTTPLoad.Request(path: path, body: $0) },
            expecting: answer,
            of: server,
            target: target
        )
    }

    private func measure(
        _ name: String,
        _ requests: [HTTPLoad.Request],
        expecting answer: String,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        let load = HTTPLoad(port: server.port, connections: connections)
        return try await Measurement.run(
            name,
            operations: requests.count,
            unit: "call",
            target: target,
            processorTime: server.program.processorTime
        ) {
            try await load.send(requests, expecting: answer)
        }
    }

    /// How many calls a batch has; together they are to cost less than a quarter of what they do one by one.
    private static let batchCount = 100

    private static let constant = "a constant of the same size"

    /// About the size of the answer to reading a document.
    private static func answerBytes(_ document: Document) -> Int {
        var writer = JSONWriter()
        document.fields.write(to: &writer)
        return writer.bytes.count + 180
    }
}
