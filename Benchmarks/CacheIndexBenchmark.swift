import ArgumentParser
import DocumentModel
import Foundation
import GRDB
import SyncCache
import SyncEngine
import UTF8Text

/// The indexes of a client's cache, compared with scans and with an index that a program has made with GRDB alone.
///
/// The query has the longest available books, 50 of half of the documents.
struct CacheIndexBenchmark {
    let documentCount: Int

    private static let rounds = 50
    private static let limit = 50
    private static let changeCount = 2_000

    func run(in folder: String, _ report: inout Report) async throws {
        let plain = try PlainIndex(folder + "/plain-index.sqlite", documentCount: documentCount)
        report.add(
            try await Measurement.run("plain GRDB: 50 documents by index", operations: Self.rounds, unit: "query") {
                for _ in 0..<Self.rounds {
                    try Self.check(plain.firstDocuments())
                }
            }
        )
        // The cache of the measurements of reading.
        let path = folder + "/large/cache.sqlite"
        var engine = SyncEngine(cache: try PersistentCache(folder: folder + "/large"))
        _ = try engine.start()
        let query = try Self.query(.collection(CollectionPath("documents")))
        report.add(
            try await Measurement.run("cache: query by a scan", operations: 1, unit: "query") {
                try Self.check(engine.result(of: query).documents.count)
            }
        )
        try await measureWriting("cache: change documents without indexes", &engine, version: 1, &report)
        engine.createsIndexes = true
        _ = try engine.result(of: query)
        engine.cache.close()
        let before = try Self.size(path)
        engine = SyncEngine(cache: try PersistentCache(folder: folder + "/large"))
        _ = try engine.start()
        var steps: [Double] = []
        var filling = try await Measurement.run("cache: fill an index", operations: documentCount, unit: "document") {
            while engine.hasIncompleteIndexes {
                let start = ContinuousClock.now
                try engine.fillIndexes()
                steps.append((ContinuousClock.now - start) / .milliseconds(1))
            }
        }
        engine.cache.close()
        let added = Double(try Self.size(path) - before) / 1e6 * 100_000 / Double(documentCount)
        filling.quantities = [
            Measurement.Quantity(name: "size of the index per 100,000 documents", value: added, unit: "MB", maximum: 5),
            Measurement.Quantity(
                name: "median time of a step",
                value: steps.sorted().percentile(50),
                unit: "ms",
                maximum: 20
            ),
        ]
        report.add(filling)
        engine = SyncEngine(cache: try PersistentCache(folder: folder + "/large"))
        _ = try engine.start()
        var indexed = try await Measurement.run("cache: 50 documents by index", operations: Self.rounds, unit: "query") {
            for _ in 0..<Self.rounds {
                try Self.check(engine.result(of: query).documents.count)
            }
        }
        let milliseconds = indexed.elapsed / .milliseconds(1) / Double(Self.rounds)
        indexed.quantities = [Measurement.Quantity(name: "mean time of a query", value: milliseconds, unit: "ms", maximum: 5)]
        report.add(indexed)
        try await measureWriting("cache: change documents with an index", &engine, version: 2, &report)
        engine.cache.close()
    }

    /// Measures changes of documents from the server, each of which changes the key in the index.
    private func measureWriting(
        _ name: String,
        _ engine: inout SyncEngine<PersistentCache>,
        version: Int64,
        _ report: inout Report
    ) async throws {
        let documents = try (0..<min(Self.changeCount, documentCount)).map { number in
            let sample = try CacheBenchmark.document(number)
            var fields = sample.fields
            fields["numberOfPages"] = .integer(Int64(number % 1_200) + version)
            return RemoteDocument(
                path: sample.path,
                content: .found(fields, createTime: .minimum),
                version: try Timestamp(microseconds: version)
            )
        }
        report.add(
            try await Measurement.run(name, operations: documents.count, unit: "document") {
                for document in documents { _ = try engine.apply(RemoteEvent(documents: [document])) }
            }
        )
    }

    private static func query(_ source: StructuredQuery.Source) throws -> ViewQuery {
        try ViewQuery(
            StructuredQuery(
                source,
                where: .field(FieldPath("available"), .equal(.boolean(true))),
                orders: [StructuredQuery.Order(.field(FieldPath("numberOfPages")), .descending)],
                limit: .first(limit)
            )
        )
    }

    private static func check(_ count: Int) throws {
        guard count == limit else { throw ValidationError("Expected \(limit) documents, found \(count).") }
    }

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}

/// A table with an index for one query.
private struct PlainIndex {
    private let queue: DatabaseQueue

    init(_ path: String, documentCount: Int) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            try database.execute(
                sql: "CREATE TABLE document (id INTEGER PRIMARY KEY, name TEXT, available INTEGER, pages INTEGER, fields TEXT)"
            )
            let insertion = try database.cachedStatement(
                sql: "INSERT INTO document (name, available, pages, fields) VALUES (?, ?, ?, ?)"
            )
            for number in 0..<documentCount {
                let document = try CacheBenchmark.document(number)
                try insertion.execute(
                    arguments: [document.path.id.description, number.isMultiple(of: 2), number % 1_200, document.fieldsJSON]
                )
            }
            try database.execute(sql: "CREATE INDEX document_pages ON document (available, pages, name)")
        }
    }

    /// Returns the number of documents of the query, with their fields decoded as JSON.
    func firstDocuments() throws -> Int {
        try queue.read { database in
            let rows = try String.fetchAll(
                database,
                sql: "SELECT fields FROM document WHERE available = 1 ORDER BY pages DESC, name DESC LIMIT 50"
            )
            return try rows.filter { try JSONSerialization.jsonObject(with: Data($0.utf8)) is [String: Any] }.count
        }
    }
}
