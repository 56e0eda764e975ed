import ArgumentParser
import AsyncHTTPClient
import DocumentModel
import DocumentStore
import FileStore
import FirestoreAPI
import FirestoreMessages
import FirestoreREST
import Logging
import NIOCore
import NIOHTTP1
import UTF8Text

/// Admin pages of a large collection and Firestore REST queries, compared with the same queries over JSON-RPC.
struct PageBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "Admin pages of a large collection and Firestore :runQuery, compared with the same queries over JSON-RPC."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents in the collection.")
    var documents = 1_000_000

    @Option(help: "Number of requests per page.")
    var rounds = 1_000

    @Option(help: "Number of concurrent connections.")
    var connections = 8

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard documents >= 1_000, rounds >= 1, connections >= 1 else {
            throw ValidationError("Requires at least 1,000 documents, 1 round and 1 connection.")
        }
    }

    func run() async throws {
        var report = Report()
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                try await fill(folder + "/data")
                try await BenchmarkServer.withHearth(hearth, data: folder + "/data", in: folder) { server in
                    for workload in Workload.all { try await measure(workload, of: server, into: &report) }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func fill(_ folder: String) async throws {
        var logger = Logger(label: "hearth-bench")
        logger.logLevel = .warning
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder), logger: logger)
        var generator = DocumentGenerator(seed: options.seed)
        let all = try generator.documents(documents)
        for start in stride(from: 0, to: all.count, by: 500) {
            let part = all[start..<min(start + 500, all.count)]
            _ = try await store.commit(part.map { .create($0.path, $0.fields, transforms: []) })
        }
        await store.close()
    }

    /// A query for 100 documents, run over JSON-RPC, Firestore REST and an admin page.
    private struct Workload: Sendable {
        let name: String
        /// Members of the parameters of `query.run`.
        let call: String
        /// Members of the structured query of `:runQuery`.
        let structured: String
        /// The query component of the page's URL.
        let page: String

        static let all = [
            Workload(name: "by ID", call: "", structured: "", page: "size=100"),
            Workload(
                name: "sorted",
                call: #", "orderBy": [{"field": "isbn"}]"#,
                structured: #", "orderBy": [{"field": {"fieldPath": "isbn"}}]"#,
                page: "size=100&order=isbn"
            ),
            Workload(
                name: "filtered and sorted",
                call: #", "where": {"field": "available", "op": "==", "value": true}, "orderBy": [{"field": "isbn"}]"#,
                structured: #"""
                    , "where": {"fieldFilter": {"field": {"fieldPath": "available"}, "op": "EQUAL", "value": {"booleanValue": true}}},
                    "orderBy": [{"field": {"fieldPath": "isbn"}}]
                    """#,
                page: "size=100&order=isbn&where=available%20%3D%3D%20true"
            ),
        ]
    }

    private func measure(_ workload: Workload, of server: BenchmarkServer, into report: inout Report) async throws {
        let database = DatabaseName(.standard)
        let call = "query.run, 100 of \(documents) documents \(workload.name)"
        let requests = [
            HTTPLoad.Request(
                path: "/rpc",
                body: ByteBuffer(
                    string: #"{"jsonrpc": "2.0", "id": 1, "method": "query.run", "params": "#
                        + #"{"collection": "documents", "limit": 100\#(workload.call)}}"#
                )
            ),
            HTTPLoad.Request(
                path: "/v1/\(database.root.string):runQuery",
                body: ByteBuffer(
                    string:
                        #"{"structuredQuery": {"from": [{"collectionId": "documents"}], "limit": 100\#(workload.structured)}}"#
                )
            ),
            HTTPLoad.Request(method: .GET, path: "/admin/data/documents?\(workload.page)"),
        ]
        // The first round is a warm-up.
        for isMeasured in [false, true] {
            let count = isMeasured ? rounds : max(1, rounds / 10)
            let run = try await measure(call, requests[0], count, expecting: HTTPLoad.result, of: server)
            let firestore = try await measure(
                ":runQuery, 100 of \(documents) documents \(workload.name)",
                requests[1],
                count,
                expecting: "[{",
                of: server,
                target: .init(baseline: call, ratio: 1 / 1.3)
            )
            var page = try await measure(
                "page with 100 of \(documents) documents \(workload.name)",
                requests[2],
                count,
                expecting: "<!doctype html>",
                of: server,
                target: .init(baseline: call, ratio: 0.25)
            )
            guard isMeasured else { continue }
            let bytes = try await compressedBytes(requests[2].path, of: server)
            page.quantities = [.init(name: "compressed", value: Double(bytes) / 1_024, unit: "KiB", maximum: 60)]
            for measurement in [run, firestore, page] { report.add(measurement) }
        }
    }

    private func measure(
        _ name: String,
        _ request: HTTPLoad.Request,
        _ count: Int,
        expecting prefix: String,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        try await Measurement.run(
            name,
            operations: count,
            unit: "call",
            target: target,
            processorTime: server.process.processorTime
        ) {
            try await HTTPLoad(port: server.port, connections: connections)
                .send(Array(repeating: request, count: count), expecting: prefix)
        }
    }

    /// Returns the compressed size of a page in bytes.
    private func compressedBytes(_ path: String, of server: BenchmarkServer) async throws -> Int {
        let request = {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)\(path)")
            request.headers.add(name: "Accept-Encoding", value: "gzip")
            return request
        }()
        var configuration = HTTPClient.Configuration()
        configuration.decompression = .disabled
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(request, timeout: .seconds(30))
            guard response.headers.first(name: "Content-Encoding") == "gzip" else {
                throw HTTPLoad.UnexpectedResponse(description: "The page is not compressed.")
            }
            return try await response.body.collect(upTo: 16 << 20).readableBytes
        }
    }
}
