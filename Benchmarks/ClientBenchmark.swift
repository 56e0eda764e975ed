import ArgumentParser
import AsyncHTTPClient
import DocumentModel
import HearthClient
import NIOCore
import NIOHTTP1
import StrictJSON

/// Sequential reads of documents decoded to a type, compared with bare HTTP calls.
struct ClientBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Reads decoded to a type, compared with bare HTTP calls by the same HTTP library."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents to read.")
    var documents = 5_000

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func run() async throws {
        var generator = DocumentGenerator(seed: options.seed)
        let documents = try generator.documents(documents)
        var report = Report()
        try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
            try await BenchmarkServer.withHearth(hearth, data: folder + "/data", in: folder) { server in
                let address = "http://127.0.0.1:\(server.port)"
                try await HearthConnection.withConnection(to: ServerAddress(address)) { connection in
                    for document in documents { try await connection.set(document.path, document.fields) }
                }
                // Warm-up.
                try await measureCalls(documents, of: address, into: nil)
                try await measureReads(documents, of: server, into: nil)
                try await measureCalls(documents, of: address) { report.add($0) }
                try await measureReads(documents, of: server) { report.add($0) }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private static let call = "bare HTTP call"

    private func measureCalls(_ documents: [Document], of address: String, into report: ((Measurement) -> Void)?) async throws {
        let bodies = documents.map { document in
            ByteBuffer.call("documents.batchGet") { params in
                params.key("paths")
                params.beginArray()
                params.string(document.path.string)
                params.endArray()
            }
        }
        let measurement = try await Measurement.run(Self.call, operations: bodies.count, unit: "call") {
            for body in bodies {
                var request = HTTPClientRequest(url: address + "/rpc")
                request.method = .POST
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(body)
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
                _ = try await response.body.collect(upTo: 1 << 20)
            }
        }
        report?(measurement)
    }

    private func measureReads(
        _ documents: [Document],
        of server: BenchmarkServer,
        into report: ((Measurement) -> Void)?
    ) async throws {
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(server.port)"
        settings.isSSLEnabled = false
        let db = Firestore(settings: settings)
        let references = documents.map { db.document($0.path.string) }
        let measurement = try await Measurement.run(
            Self.read,
            operations: references.count,
            unit: "call",
            target: .init(baseline: Self.call, ratio: 1 / 1.3)
        ) {
            for reference in references { _ = try await reference.getDocument(as: Volume.self) }
        }
        let concurrent = try await Measurement.run(
            "\(Self.read), \(Self.concurrentReads) concurrently",
            operations: references.count,
            unit: "call",
            target: .init(baseline: Self.read, ratio: 2)
        ) {
            for start in stride(from: 0, to: references.count, by: Self.concurrentReads) {
                try await withThrowingTaskGroup { group in
                    for reference in references[start...].prefix(Self.concurrentReads) {
                        group.addTask { _ = try await reference.getDocument(as: Volume.self) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        try await db.terminate()
        report?(measurement)
        report?(concurrent)
    }

    private static let read = "getDocument(as:)"
    private static let concurrentReads = 100
}
