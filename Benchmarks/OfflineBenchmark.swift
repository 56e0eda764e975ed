import ArgumentParser
import Foundation
import GRDB
import HearthClient
import StrictJSON
import UTF8Text

/// The client with a persistent cache, through its public API, compared with a program that uses GRDB alone.
struct OfflineBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline",
        abstract: "The client with a persistent cache, through its public API."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents in the large collection.")
    var documents = 100_000

    @Option(help: "Number of repetitions of short operations.")
    var rounds = 50

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    private static let resultSize = 10_000
    private static let pageSize = 50

    func run() async throws {
        var report = Report()
        try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
            try await BenchmarkServer.withHearth(hearth, data: folder + "/data", in: folder) { server in
                let client = OfflineBenchmarkClient(port: server.port, folder: folder + "/cache")
                try await client.store(documents, in: "large")
                try await client.store(Self.resultSize, in: "small")
                try await server.process.waitUntilIdle()
                try await measureFirstResult(client, folder, &report)
                try await measureReading(client, folder, &report)
                try await measureQueue(client, folder, &report)
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    // MARK: A first result

    private func measureFirstResult(_ client: OfflineBenchmarkClient, _ folder: String, _ report: inout Report) async throws {
        let plain = try PlainRows(folder + "/plain-result.sqlite")
        report.add(
            try await Measurement.run("plain GRDB: store a result", operations: Self.resultSize, unit: "document") {
                try plain.store(0..<Self.resultSize)
            }
        )
        let online = client.database(with: nil)
        report.add(
            try await Measurement.run("listener without a cache", operations: Self.resultSize, unit: "document") {
                try await online.collection("small").synchronize(count: Self.resultSize)
            }
        )
        try await online.terminate()
        let db = client.database()
        var measurement = try await Measurement.run("listener with a cache", operations: Self.resultSize, unit: "document") {
            try await db.collection("small").synchronize(count: Self.resultSize)
        }
        measurement.add("first result stored and shown", measurement.elapsed / .seconds(1), "s", maximum: 1)
        report.add(measurement)
        try await db.terminate()
    }

    // MARK: Reading

    private func measureReading(_ client: OfflineBenchmarkClient, _ folder: String, _ report: inout Report) async throws {
        var db = client.database()
        var measurement = try await Measurement.run("listener, all documents", operations: documents, unit: "document") {
            try await db.collection("large").synchronize(count: documents)
        }
        report.add(measurement)
        try await Self.page(in: db).synchronize(count: Self.pageSize)
        try await db.disableNetwork()

        let plain = try PlainRows(folder + "/plain-rows.sqlite")
        try plain.store(0..<documents)
        try await add("plain GRDB: 50 rows by an index, decoded", maximum: nil, to: &report) { _ in
            guard try plain.firstRows(Self.pageSize) == Self.pageSize else { throw ValidationError("Expected a page.") }
        }
        let warm = db
        try await add("first snapshot of a page of 50", maximum: 5, to: &report) { _ in
            try await Self.page(in: warm).firstSnapshot(count: Self.pageSize)
        }
        try await add("document(source: .cache)", maximum: nil, to: &report) { round in
            _ = try await warm.document("large/\(PlainRows.name(round * 7))").getDocument(source: .cache)
        }
        measurement = try await Measurement.run("query of the cache that was never synced", operations: 3, unit: "scan") {
            for round in 0..<3 {
                let query = warm.collection("large").whereField("numberOfPages", isEqualTo: round).order(by: "isbn")
                _ = try await query.limit(to: Self.pageSize).getDocuments(source: .cache)
            }
        }
        report.add(measurement)
        try await measureMemory(warm, &report)
        try await measureRefill(warm, &report)
        try await db.terminate()

        try await add("plain GRDB: open, 50 rows by an index, decoded", maximum: nil, to: &report) { _ in
            let plain = try PlainRows(folder + "/plain-rows.sqlite")
            guard try plain.firstRows(Self.pageSize) == Self.pageSize else { throw ValidationError("Expected a page.") }
        }
        try await add("first snapshot of a new instance", maximum: 20, to: &report) { _ in
            db = client.database()
            try await Self.page(in: db).firstSnapshot(count: Self.pageSize)
        } after: {
            try await db.terminate()
        }
    }

    /// Measures the memory that listening adds, while a program shows one page after the other.
    private func measureMemory(_ db: Firestore, _ report: inout Report) async throws {
        let pageCount = 20
        // The first page of each kind fills caches of fixed sizes.
        try await Self.page(in: db, after: 0).firstSnapshot(count: Self.pageSize)
        let before = try HearthBench.residentMebibytes()
        var measurement = try await Measurement.run("scroll from page to page", operations: pageCount, unit: "page") {
            for page in 1...pageCount {
                try await Self.page(in: db, after: page * Self.pageSize).firstSnapshot(count: Self.pageSize)
            }
        }
        measurement.add("memory added by scrolling", try HearthBench.residentMebibytes() - before, "MiB", maximum: 16)
        report.add(measurement)
    }

    /// Measures how long writes take to be queued while documents are searched for in place of one that has left a page.
    private func measureRefill(_ db: Firestore, _ report: inout Report) async throws {
        let number = documents / 2
        var snapshots = Self.page(in: db, after: number).snapshots.makeAsyncIterator()
        guard try await snapshots.next()?.count == Self.pageSize else { throw ValidationError("Expected a page.") }
        let measurement = try await Measurement.run("refill a page, and enqueue meanwhile", operations: 1, unit: "page") {
            try await db.batch().deleteDocument(db.document("large/\(PlainRows.name(number + 1))")).enqueue()
            try await add("enqueue a write while a page is refilled", maximum: nil, to: &report) { round in
                try await db.batch().setData(PlainRows.fields(round), forDocument: db.document("other/\(round)")).enqueue()
            }
            guard try await snapshots.next()?.count == Self.pageSize else { throw ValidationError("Expected a page.") }
        }
        report.add(measurement)
    }

    private static func page(in db: Firestore, after number: Int? = nil) -> Query {
        let query = db.collection("large").order(by: "isbn").limit(to: pageSize)
        return number.map { query.start(after: [PlainRows.isbn($0)]) } ?? query
    }

    // MARK: The queue

    private func measureQueue(_ client: OfflineBenchmarkClient, _ folder: String, _ report: inout Report) async throws {
        let descriptor = open(folder + "/raw", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 1, count: 16_384)
        let sync = try await add("append 16 KiB to a file, and sync", maximum: nil, to: &report) { _ in
            guard write(descriptor, bytes, bytes.count) == bytes.count, fdatasync(descriptor) == 0 else {
                throw RawFileIO.Failure(call: "fdatasync", code: errno)
            }
        }
        let db = client.database()
        try await db.disableNetwork()
        try await add("enqueue a write", maximum: sync + 1, to: &report) { round in
            try await db.batch().setData(PlainRows.fields(round), forDocument: db.document("queue/\(round)")).enqueue()
        }
        // Without the time that each write takes, three syncs.
        try await add("enqueue 64 writes concurrently", maximum: 3 * sync + 64, to: &report) { round in
            try await withThrowingTaskGroup { group in
                for number in round * 64..<(round + 1) * 64 {
                    group.addTask {
                        let document = db.document("queue/c\(number)")
                        try await db.batch().setData(PlainRows.fields(number), forDocument: document).enqueue()
                    }
                }
                try await group.waitForAll()
            }
        }
        try await db.terminate()
    }

    /// Adds the median time of an operation in milliseconds, which it returns.
    @discardableResult
    private func add(
        _ name: String,
        maximum: Double?,
        to report: inout Report,
        _ body: (Int) async throws -> Void,
        after: () async throws -> Void = {}
    ) async throws -> Double {
        var times: [Double] = []
        var measurement = try await Measurement.run(name, operations: rounds, unit: "operation") {
            for round in 0..<rounds {
                let start = ContinuousClock.now
                try await body(round)
                times.append((ContinuousClock.now - start) / .milliseconds(1))
                try await after()
            }
        }
        times.sort()
        let median = times.percentile(50)
        measurement.add("median", median, "ms", maximum: maximum)
        measurement.add("95th percentile", times.percentile(95), "ms", maximum: nil)
        report.add(measurement)
        return median
    }
}

extension Measurement {
    fileprivate mutating func add(_ name: String, _ value: Double, _ unit: String, maximum: Double?) {
        quantities.append(Quantity(name: name, value: value, unit: unit, maximum: maximum))
    }
}

/// The databases of the benchmark.
private struct OfflineBenchmarkClient {
    let port: Int
    let folder: String

    /// Returns a new instance with the persistent cache, or with `nil` without a cache.
    func database(with cacheSize: Int? = 1 << 30) -> Firestore {
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(port)"
        settings.isSSLEnabled = false
        settings.dispatchQueue = .global()
        settings.cacheSettings = cacheSize.map {
            PersistentCacheSettings(sizeBytes: $0 as NSNumber, folder: URL(filePath: folder))
        }
        return Firestore(settings: settings)
    }

    /// Stores documents on the server.
    func store(_ count: Int, in collection: String) async throws {
        let db = database(with: nil)
        for start in stride(from: 0, to: count, by: 500) {
            let batch = db.batch()
            for number in start..<min(start + 500, count) {
                batch.setData(PlainRows.fields(number), forDocument: db.document("\(collection)/\(PlainRows.name(number))"))
            }
            try await batch.commit()
        }
        try await db.terminate()
    }
}

extension Query {
    /// Listens until the server's result has arrived.
    fileprivate func synchronize(count: Int) async throws {
        for try await snapshot in snapshots(includeMetadataChanges: true) where !snapshot.metadata.isFromCache {
            guard snapshot.count == count else { throw ValidationError("Expected \(count) documents, found \(snapshot.count).") }
            return
        }
    }

    /// Listens until there is a first snapshot, and reads its documents.
    fileprivate func firstSnapshot(count: Int) async throws {
        for try await snapshot in snapshots {
            let pages = snapshot.documents.compactMap { $0.get("numberOfPages") }
            guard pages.count == count else { throw ValidationError("Expected \(count) documents, found \(pages.count).") }
            return
        }
    }
}

/// A program that keeps the documents of the benchmark in rows, with GRDB alone.
private struct PlainRows {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS document (name TEXT PRIMARY KEY, isbn INTEGER, fields TEXT) WITHOUT ROWID;
                    CREATE INDEX IF NOT EXISTS document_isbn ON document (isbn);
                    """
            )
        }
    }

    func store(_ numbers: Range<Int>) throws {
        try queue.write { database in
            let insertion = try database.cachedStatement(sql: "INSERT INTO document VALUES (?, ?, ?)")
            for number in numbers {
                let fields = try JSONSerialization.data(withJSONObject: Self.fields(number))
                try insertion.execute(arguments: [Self.name(number), Self.isbn(number), String(decoding: fields, as: UTF8.self)])
            }
        }
    }

    /// Returns the number of rows with decoded fields.
    func firstRows(_ count: Int) throws -> Int {
        try queue.read { database in
            let rows = try String.fetchAll(database, sql: "SELECT fields FROM document ORDER BY isbn LIMIT ?", arguments: [count])
            return try rows.compactMap { try JSONText(Array($0.utf8), limits: JSONLimits()).root["numberOfPages"] }.count
        }
    }

    static func isbn(_ number: Int) -> Int { 9_780_345_000_000 + number }

    /// Returns a name as clients generate them: in no order.
    static func name(_ number: Int) -> String {
        var hash = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        return String(hash, radix: 36) + "x\(number)"
    }

    /// Returns fields of about 440 bytes as JSON.
    static func fields(_ number: Int) -> [String: Any] {
        [
            "author": "Douglas Adams \(number % 1_000)",
            "available": number.isMultiple(of: 2),
            "isbn": isbn(number),
            "numberOfPages": number % 1_200,
            "rating": Double(number % 500) / 100,
            "summary": String(repeating: "The ships hung in the sky. ", count: 8),
            "tags": ["answer", "towel"],
            "title": "The Hitchhiker's Guide to the Galaxy, part \(number)",
        ]
    }
}
