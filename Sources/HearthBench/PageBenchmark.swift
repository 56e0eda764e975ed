import ArgumentParser
import AsyncHTTPClient
import DocumentModel
import DocumentStore
import FirestoreREST
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON

/// Pages of a large collection in the browser, and queries by Firestore's own interface, beside the same queries by JSON-RPC.
struct PageBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: "Table pages of a large collection, and Firestore's :runQuery, beside the same queries by JSON-RPC."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many documents the collection has.")
    var documents = 1_000_000

    @Option(help: "How often each page is asked for.")
    var rounds = 1_000

    @Option(help: "How many connections are used at once.")
    var connections = 8

    @Option(help: "The hearth program; by default the one beside this program.")
    var hearth: String?

    func validate() throws {
        guard documents >= 1_000, rounds >= 1, connections >= 1 else {
            throw ValidationError("At least 1,000 documents, 1 round and 1 connection are needed.")
        }
    }

    func run() async throws {
        var report = Report()
        try await BusyCores.with(options.busy) {
            try await RawFile.withTemporaryFolder(in: options.folder) { folder in
                try await fill(folder + "/data")
                try await BenchmarkServer.with(
                    hearth ?? ChildProgram.sibling("hearth"),
                    ["serve", "--data", folder + "/data", "--port", "0"],
                    in: folder
                ) { server in
                    for kind in Kind.all { try await measure(kind, of: server, into: &report) }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func fill(_ folder: String) async throws {
        var logger = Logger(label: "hearth-bench")
        logger.logLevel = .warning
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder), logger: logger)
        var generator = GeneratedDocuments(seed: options.seed)
        let all = try generator.documents(documents)
        for start in stride(from: 0, to: all.count, by: 500) {
            let part = all[start..<min(start + 500, all.count)]
            _ = try await store.commit(part.map { .create($0.path, $0.fields, transforms: []) })
        }
        await store.close()
    }

    /// 100 documents, as they are asked for in different ways.
    private struct Kind: Sendable {
        let name: String
        /// Members of the parameters of `query.run`.
        let call: String
        /// Members of the structured query of `:runQuery`.
        let structured: String
        /// The query of the page's address.
        let page: String

        static let all = [
            Kind(name: "by name", call: "", structured: "", page: "size=100"),
            Kind(
                name: "in an order",
                call: #", "orderBy": [{"field": "isbn"}]"#,
                structured: #", "orderBy": [{"field": {"fieldPath": "isbn"}}]"#,
                page: "size=100&order=isbn"
            ),
            Kind(
                name: "filtered, in an order",
                call: #", "where": {"field": "available", "op": "==", "value": true}, "orderBy": [{"field": "isbn"}]"#,
                structured: #"""
                    , "where": {"fieldFilter": {"field": {"fieldPath": "available"}, "op": "EQUAL", "value": {"booleanValue": true}}},
                    "orderBy": [{"field": {"fieldPath": "isbn"}}]
                    """#,
                page: "size=100&order=isbn&where=available%20%3D%3D%20true"
            ),
        ]
    }

    private func measure(_ kind: Kind, of server: BenchmarkServer, into report: inout Report) async throws {
        let database = DatabaseName(.standard)
        let call = "query.run, 100 of \(documents) documents \(kind.name)"
        let requests = [
            HTTPLoad.Request(
                path: "/rpc",
                body: ByteBuffer(
                    string: #"{"jsonrpc": "2.0", "id": 1, "method": "query.run", "params": "#
                        + #"{"collection": "documents", "limit": 100\#(kind.call)}}"#
                )
            ),
            HTTPLoad.Request(
                path: "/v1/\(database.root.string):runQuery",
                body: ByteBuffer(
                    string: #"{"structuredQuery": {"from": [{"collectionId": "documents"}], "limit": 100\#(kind.structured)}}"#
                )
            ),
            HTTPLoad.Request(method: .GET, path: "/admin/data/documents?\(kind.page)"),
        ]
        // Once to warm up.
        for isMeasured in [false, true] {
            let count = isMeasured ? rounds : max(1, rounds / 10)
            let run = try await measure(call, requests[0], count, expecting: HTTPLoad.result, of: server)
            let firestore = try await measure(
                ":runQuery, 100 of \(documents) documents \(kind.name)",
                requests[1],
                count,
                expecting: "[{",
                of: server,
                target: .init(limit: call, share: 1 / 1.3)
            )
            var page = try await measure(
                "a page of 100 of \(documents) documents \(kind.name)",
                requests[2],
                count,
                expecting: "<!doctype html>",
                of: server,
                target: .init(limit: call, share: 0.25)
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
        expecting answer: String,
        of server: BenchmarkServer,
        target: Measurement.Target? = nil
    ) async throws -> Measurement {
        try await Measurement.run(
            name,
            operations: count,
            unit: "call",
            target: target,
            processorTime: server.program.processorTime
        ) {
            try await HTTPLoad(port: server.port, connections: connections)
                .send(Array(repeating: request, count: count), expecting: answer)
        }
    }

    /// How many bytes a page has on its way to a browser.
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
                throw HTTPLoad.UnexpectedAnswer(description: "The server does not compress pages.")
            }
            return try await response.body.collect(upTo: 16 << 20).readableBytes
        }
    }
}
