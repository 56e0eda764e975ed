import ArgumentParser
import DocumentModel
import Foundation
import GRDB
import SyncCache
import SyncEngine
import UTF8Text

/// The persistent cache of a client, compared with the same rows written by GRDB alone.
struct CacheBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "The persistent cache of a client."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents in the large cache.")
    var documents = 100_000

    @Option(help: "Number of queued batches.")
    var batches = 1_000

    private static let resultSize = 10_000
    private static let user = UserID("user")

    func run() async throws {
        var report = Report()
        let folder = options.folder + "/hearth-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await measureQueue(folder, &report)
        try await measureResult(folder, &report)
        try await measureReading(folder, &report)
        try await CacheIndexBenchmark(documentCount: documents).run(in: folder, &report)
        let cache = try PersistentCache(folder: folder + "/large")
        try await CacheStepBenchmark(documentCount: documents).run("cache", cache, &report)
        cache.close()
        var memory = MemoryCache(isEager: false)
        memory.save(try (0..<documents).map { try Self.document($0).remote })
        try await CacheStepBenchmark(documentCount: documents).run("cache in memory", memory, &report)
        if let path = options.json { try report.write(to: path) }
    }

    // MARK: Queue

    private func measureQueue(_ folder: String, _ report: inout Report) async throws {
        let baseline = try PlainDatabase(folder + "/plain-queue.sqlite", PlainDatabase.queueSchema)
        let fields = try Self.document(0).fieldsJSON
        report.add(
            try await Measurement.run("plain GRDB: queue a batch", operations: batches, unit: "write") {
                for number in 0..<batches { try baseline.queue(number, fields) }
            }
        )
        var cache = try PersistentCache(folder: folder + "/queue")
        report.add(
            try await Measurement.run(
                "cache: queue a batch",
                operations: batches,
                unit: "write",
                target: Measurement.Target(baseline: "plain GRDB: queue a batch", ratio: 0.5)
            ) {
                for number in 0..<batches { try Self.queue(number, &cache) }
            }
        )
        try cache.synchronize()
        let syncedCount = min(batches, 200)
        let descriptor = open(folder + "/raw", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let page = [UInt8](repeating: 1, count: 16_384)
        report.add(
            try await Measurement.run("append 16 KiB to a file, and sync", operations: syncedCount, unit: "write") {
                for _ in 0..<syncedCount where write(descriptor, page, page.count) == page.count { fdatasync(descriptor) }
            }
        )
        report.add(
            try await Measurement.run(
                "cache: queue a batch, and sync",
                operations: syncedCount,
                unit: "write",
                target: Measurement.Target(baseline: "append 16 KiB to a file, and sync", ratio: 0.5)
            ) {
                for number in 0..<syncedCount {
                    try Self.queue(batches + number, &cache)
                    try cache.synchronize()
                }
            }
        )
        report.add(
            try await Measurement.run("cache: remove a batch", operations: batches, unit: "write") {
                for _ in 0..<batches {
                    try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
                        guard let batch = try cache.batch(after: 0, for: Self.user) else { return }
                        try cache.removeBatch(batch.number, for: Self.user)
                        try cache.removeOverlays(at: batch.paths, for: Self.user)
                    }
                }
            }
        )
        cache.close()
    }

    private static func queue(_ number: Int, _ cache: inout PersistentCache) throws {
        let document = try document(number)
        try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
            _ = try cache.documents(at: [document.path])
            _ = try cache.overlays(at: [document.path], for: user)
            let write = Write(path: document.path, operation: .replace(document.fields))
            let batch = try cache.appendBatch([write], baseValues: [], at: .minimum, for: user)
            let overlay = Overlay(
                path: document.path,
                content: .set(document.fields),
                pendingTimestamps: [:],
                batch: batch.number,
                requiresDocument: false
            )
            try cache.save([overlay], for: user)
        }
    }

    // MARK: A first result

    private func measureResult(_ folder: String, _ report: inout Report) async throws {
        let documents = try (0..<Self.resultSize).map { try Self.document($0) }
        let baseline = try PlainDatabase(folder + "/plain-cache.sqlite", PlainDatabase.cacheSchema)
        report.add(
            try await Measurement.run("plain GRDB: store a result", operations: documents.count, unit: "document") {
                try baseline.store(documents)
            }
        )
        var cache = try PersistentCache(folder: folder + "/result")
        let target = try cache.addTarget(Self.target())
        let remote = documents.map(\.remote)
        report.add(
            try await Measurement.run(
                "cache: store a result",
                operations: documents.count,
                unit: "document",
                target: Measurement.Target(baseline: "plain GRDB: store a result", ratio: 0.5)
            ) {
                try Self.store(remote, target, &cache)
            }
        )
        cache.close()
    }

    private static func store(_ documents: [RemoteDocument], _ target: CachedTarget, _ cache: inout PersistentCache) throws {
        try cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
            try cache.updateKeys(of: target.id, adding: Set(documents.map(\.path)), removing: [])
            var target = target
            target.token = "token"
            try cache.save(target)
            _ = try cache.documents(at: Set(documents.map(\.path)))
            try cache.save(documents)
        }
    }

    // MARK: Reading

    private func measureReading(_ folder: String, _ report: inout Report) async throws {
        let path = folder + "/large"
        var cache = try PersistentCache(folder: path)
        let target = try cache.addTarget(Self.target())
        var count = 0
        while count < documents {
            let next = min(count + Self.resultSize, documents)
            let part = try (count..<next).map { try Self.document($0).remote }
            try Self.store(part, target, &cache)
            count = next
        }
        cache.close()
        let size = try FileManager.default.attributesOfItem(atPath: path + "/cache.sqlite")[.size] as? Int ?? 0
        let payload = try documents * Self.document(0).fieldsJSON.utf8.count
        var opening = try await Measurement.run("cache: open", operations: 20, unit: "open") {
            for _ in 0..<20 { try PersistentCache(folder: path).close() }
        }
        let ratio = Double(size) / Double(payload)
        opening.quantities.append(
            Measurement.Quantity(name: "size of the file to that of the fields", value: ratio, unit: "×", maximum: 1.6)
        )
        report.add(opening)
        cache = try PersistentCache(folder: path)
        let before = try HearthBench.residentMebibytes()
        report.add(
            try await Measurement.run("cache: 50 documents by path", operations: 100, unit: "lookup") {
                for round in 0..<100 {
                    let paths = try (0..<50).map { try Self.path((round * 7_919 + $0 * 104_729) % documents) }
                    let found = try cache.documents(at: Set(paths))
                    guard found.count == 50 else { throw ValidationError("Expected 50 documents, found \(found.count).") }
                }
            }
        )
        try cache.save([Self.document(documents / 2).remote])
        let source = StructuredQuery.Source.collection(try CollectionPath("documents"))
        let change = try cache.lastChange - 1
        report.add(
            try await Measurement.run("cache: documents after a late change", operations: 100, unit: "scan") {
                for _ in 0..<100 {
                    var count = 0
                    try cache.visitDocuments(in: source, after: change) { _ in count += 1 }
                    guard count == 1 else { throw ValidationError("Expected a document, found \(count).") }
                }
            }
        )
        var scan = try await Measurement.run("cache: scan, with decoding", operations: documents, unit: "document") {
            var count = 0
            try cache.visitDocuments(in: source, after: 0) { _ in count += 1 }
            guard count == documents else { throw ValidationError("Expected all documents, found \(count).") }
        }
        let scanTime = scan.elapsed / .milliseconds(1) * 100_000 / Double(documents)
        scan.quantities.append(
            Measurement.Quantity(name: "time for 100,000 documents", value: scanTime, unit: "ms", maximum: 300)
        )
        report.add(scan)
        var choice = try await Measurement.run("cache: choose what to evict", operations: 10, unit: "choice") {
            for _ in 0..<10 {
                _ = try cache.byteCount
                _ = try cache.useNumber(atFraction: 0.1, maximumCount: 1_000)
            }
        }
        let added = try HearthBench.residentMebibytes() - before
        choice.quantities.append(
            Measurement.Quantity(name: "memory added by reading", value: added, unit: "MiB", maximum: 32)
        )
        report.add(choice)
        report.add(
            try await Measurement.run("cache: keys of the target", operations: documents, unit: "document") {
                _ = try cache.keys(of: target.id)
            }
        )
        try await measurePreviousKeys(&cache, &report)
        cache.close()
    }

    /// Measures a query whose previous result is known: its documents are read by their keys.
    private func measurePreviousKeys(_ cache: inout PersistentCache, _ report: inout Report) async throws {
        let count = min(1_000, documents)
        let query = StructuredQuery(
            .collection(try CollectionPath("documents")),
            where: try .field(FieldPath("isbn"), .less(.integer(Self.isbn(count)))),
            orders: [StructuredQuery.Order(.field(try FieldPath("isbn")))]
        )
        var target = try cache.addTarget(.query(query))
        try cache.updateKeys(of: target.id, adding: Set((0..<count).map { try Self.path($0) }), removing: [])
        target.syncedChange = try cache.lastChange
        try cache.save(target)
        var engine = SyncEngine(cache: cache)
        _ = try engine.start()
        let view = try ViewQuery(query)
        var measurement = try await Measurement.run("cache: previous result", operations: 20, unit: "query") {
            for _ in 0..<20 {
                let found = try engine.result(of: view).documents.count
                guard found == count else { throw ValidationError("Expected \(count) documents, found \(found).") }
            }
        }
        let time = measurement.elapsed / .milliseconds(1) / 20 * 1_000 / Double(count)
        measurement.quantities.append(
            Measurement.Quantity(name: "time for 1,000 documents", value: time, unit: "ms", maximum: 10)
        )
        report.add(measurement)
    }

    // MARK: Documents

    private static func isbn(_ number: Int) -> Int64 { 9_780_345_000_000 + Int64(number) }

    /// A document with about 440 bytes of fields as JSON.
    struct SampleDocument {
        let path: DocumentPath
        let fields: MapValue
        let remote: RemoteDocument
        let fieldsJSON: String
    }

    static func path(_ number: Int) throws -> DocumentPath {
        // Names as clients generate them: in no order.
        var hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        return try DocumentPath("documents/" + String(hash, radix: 36) + "x\(number)")
    }

    static func document(_ number: Int) throws -> SampleDocument {
        let path = try path(number)
        let fields: MapValue = [
            "author": .string("Douglas Adams \(number % 1_000)"),
            "available": .boolean(number.isMultiple(of: 2)),
            "isbn": .integer(isbn(number)),
            "numberOfPages": .integer(Int64(number % 1_200)),
            "published": .timestamp(try Timestamp(microseconds: 1_000_000 * Int64(number))),
            "rating": .double(Double(number % 500) / 100),
            "summary": .string(String(repeating: "The ships hung in the sky. ", count: 7)),
            "tags": .array([.string("answer"), .string("towel")]),
            "title": .string("The Hitchhiker's Guide to the Galaxy, part \(number)"),
        ]
        let encoded = EncodedDocument(Document(path: path, fields: fields, createTime: .minimum, updateTime: .minimum))
        return SampleDocument(
            path: path,
            fields: fields,
            remote: RemoteDocument(path: path, content: .found(fields, createTime: .minimum), version: .minimum),
            fieldsJSON: String(decoding: encoded.fieldsJSON, as: UTF8.self)
        )
    }

    private static func target() throws -> SyncTarget {
        .query(StructuredQuery(.collection(try CollectionPath("documents"))))
    }
}

/// A program that writes the rows of the cache by GRDB, without looking anything up.
private struct PlainDatabase {
    private let queue: DatabaseQueue

    static let queueSchema = """
        CREATE TABLE queue (user TEXT PRIMARY KEY, last INTEGER, bytes INTEGER) WITHOUT ROWID;
        INSERT INTO queue VALUES ('=user', 0, 0);
        CREATE TABLE batch (id INTEGER PRIMARY KEY, user TEXT, number INTEGER, time INTEGER, bytes INTEGER, writes TEXT);
        CREATE UNIQUE INDEX batch_number ON batch (user, number);
        CREATE TABLE batch_document (path TEXT, user TEXT, number INTEGER, PRIMARY KEY (path, user, number)) WITHOUT ROWID;
        CREATE TABLE overlay (id INTEGER PRIMARY KEY, user TEXT, collection TEXT, name TEXT, batch INTEGER, fields TEXT);
        CREATE UNIQUE INDEX overlay_document ON overlay (user, collection, name);
        """

    static let cacheSchema = """
        CREATE TABLE document (
            id INTEGER PRIMARY KEY, collection INTEGER, name TEXT, state INTEGER, updateTime INTEGER, createTime INTEGER,
            changed INTEGER, lastUse INTEGER, fields TEXT
        );
        CREATE UNIQUE INDEX document_name ON document (collection, name);
        CREATE INDEX document_changed ON document (collection, changed);
        CREATE TABLE target_document (
            target INTEGER, collection INTEGER, name TEXT, PRIMARY KEY (target, collection, name)
        ) WITHOUT ROWID;
        CREATE INDEX target_document_name ON target_document (collection, name);
        """

    init(_ path: String, _ schema: String) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: schema) }
    }

    func queue(_ number: Int, _ fields: String) throws {
        try queue.write { database in
            let name = "\(number &* 0x9E37_79B9 % 1_000_003)-\(number)"
            let batch = try database.cachedStatement(
                sql: "INSERT INTO batch (user, number, time, bytes, writes) VALUES (?, ?, ?, ?, ?)"
            )
            try batch.execute(arguments: ["=user", number, 0, 436, fields])
            let document = try database.cachedStatement(sql: "INSERT INTO batch_document VALUES (?, ?, ?)")
            try document.execute(arguments: ["documents/" + name, "=user", number])
            let overlay = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO overlay (user, collection, name, batch, fields) VALUES (?, ?, ?, ?, ?)"
            )
            try overlay.execute(arguments: ["=user", "documents", name, number, fields])
            let state = try database.cachedStatement(sql: "UPDATE queue SET last = ?, bytes = bytes + 436 WHERE user = ?")
            try state.execute(arguments: [number, "=user"])
        }
    }

    func store(_ documents: [CacheBenchmark.SampleDocument]) throws {
        try queue.write { database in
            let key = try database.cachedStatement(sql: "INSERT INTO target_document VALUES (1, 1, ?)")
            for document in documents { try key.execute(arguments: [document.path.id.description]) }
            let insertion = try database.cachedStatement(
                sql: """
                    INSERT INTO document (collection, name, state, updateTime, createTime, changed, lastUse, fields)
                    VALUES (1, ?, 0, 0, 0, 1, 1, ?)
                    """
            )
            for document in documents { try insertion.execute(arguments: [document.path.id.description, document.fieldsJSON]) }
        }
    }
}
