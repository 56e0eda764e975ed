import Dispatch
import DocumentModel
import DocumentStore
import GRDB
import QueryEngine
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import DocumentIndex
@testable import FileStore

@Suite("The index")
struct IndexLifecycleTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `The index contains every acknowledged commit as a whole`() async throws {
        try await fixture.withStore { store in
            for number in 1...20 as ClosedRange<Int64> {
                _ = try await store.commit(["a", "b"].map { try .set(DocumentPath("c/\($0)"), ["n": .integer(number)]) })
                let found1 = try await store.ids(in: "c", where: "n", is: number)
                #expect(found1 == ["a", "b"])
                let found2 = try await store.ids(in: "c", where: "n", is: number - 1)
                #expect(found2 == [])
                let sequence = try await store.readIndex { $0.sequence }
                #expect(sequence >= store.position.lastSequence)
            }
        }
        #expect(try await fixture.findings() == [])
    }

    @Test(.timeLimit(.minutes(10)))
    func `Commits do not wait while a rebuild writes its entries, and are applied afterward`() async throws {
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let index = store.components.index
            index.maintenanceQueue.sync {}
            // The state at the end of a rebuild.
            index.state.withLock {
                ($0.phase, $0.isWritingRebuiltEntries) = (.rebuilding(RebuildProgress(startTime: .now)), true)
            }
            let text = Value.string(String(repeating: "x", count: 900_000))
            for number in 0..<24 { try await store.set("c/d\(number)", ["text": text, "n": .integer(Int64(number))]) }
            let queuedBytes = index.state.withLock { $0.queuedBytes }
            #expect(queuedBytes <= 16 << 20)
            index.state.withLock { ($0.phase, $0.isWritingRebuiltEntries) = (.ready, false) }
            for number in [0, 23] as [Int64] {
                let found = try await store.ids(in: "c", where: "n", is: number)
                #expect(found == ["d\(number)"])
            }
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `The index continues after a restart without a rebuild`() async throws {
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        let before = try fixture.folder.contents(of: "data")
        #expect(before.keys.filter { $0.hasPrefix("index") } == ["index.sqlite"])
        try await fixture.withStore { store in
            let found3 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found3 == ["a"])
        }
        let after = try fixture.folder.contents(of: "data")
        #expect(Set(after.keys).union(before.keys).filter { after[$0] != before[$0] } == [])
    }

    @Test(arguments: [false, true])
    func `The index applies missing commits from the journal after a crash`(isMissing: Bool) async throws {
        try await fixture.withStore { store in
            for number in 0..<30 { try await store.set("c/d\(number % 7)", ["n": .integer(Int64(number))]) }
            try await store.delete("c/d0")
            // A copy of the open folder, as a crash would leave it.
            try fixture.folder.copy("data", to: "copy")
        }
        if isMissing { try fixture.folder.remove("copy/index.sqlite") }
        try await fixture.withStore(at: "copy") { store in
            let found4 = try await store.ids(in: "c", where: "n", is: 29)
            #expect(found4 == ["d1"])
            let found5 = try await store.ids(in: "c", where: "n", is: 28)
            #expect(found5 == [])
        }
    }

    @Test
    func `The index catches up from the journal, and is rebuilt if the journal is incomplete`() async throws {
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        let old = try fixture.folder.bytes(of: "data/index.sqlite")
        try await fixture.withStore { store in
            try await store.set("c/b", ["n": .integer(1)])
            try await store.delete("c/a")
        }
        try fixture.folder.write(old, to: "data/index.sqlite")
        try await fixture.withStore { store in
            let found6 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found6 == ["b"])
        }
        #expect(try await fixture.findings() == [])
        try fixture.folder.write(old, to: "data/index.sqlite")
        for name in try fixture.folder.names(in: "data/journal") { try fixture.folder.remove("data/journal/\(name)") }
        try await fixture.withStore { store in
            let found7 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found7 == ["b"])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test(
        arguments: Damage.allCases
    )
    func `The index is rebuilt when it is damaged, belongs to another history, or was open when the machine went down`(
        _ damage: Damage
    ) async throws {
        try await fixture.withStore { store in
            for number in 0..<300 { try await store.set("c/d\(number)", ["n": .integer(Int64(number % 3))]) }
        }
        try damage.apply(in: fixture.folder)
        if damage == .notADatabase || damage == .tornHeader {
            #expect(try await fixture.findings().map(\.kind) == [.damagedIndex])
        }
        try await fixture.withStore { store in
            let found8 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found8 == 100)
            try await store.set("c/new", ["n": .integer(1)])
            let found9 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found9 == 101)
        }
        #expect(try await fixture.findings() == [])
    }

    /// A kind of damage to the file.
    enum Damage: CaseIterable {
        case removed, empty, notADatabase, tornHeader, otherBoot, otherHistory, foreignLog, olderFormat

        func apply(in folder: TemporaryFolder) throws {
            let file = "data/index.sqlite"
            var bytes = try folder.bytes(of: file)
            switch self {
            case .removed: return try folder.remove(file)
            case .olderFormat:
                let index = try DatabaseQueue(path: folder[file])
                try index.write { try $0.execute(sql: "UPDATE state SET format = format - 1; ALTER TABLE entries DROP isDouble") }
                return try index.close()
            case .empty: bytes = []
            case .notADatabase: bytes = Array("not a database at all".utf8)
            case .tornHeader: bytes.replaceSubrange(0..<100, with: repeatElement(0, count: 100))
            case .otherBoot:
                // After a power failure: some pages were never written, and the open marker is set.
                bytes.replaceSubrange(bytes.count / 2..<bytes.count, with: repeatElement(0, count: bytes.count - bytes.count / 2))
                let text = try folder.text(of: "data/hearth.json")
                let marker = "\"openIndex\":\"00000000-0000-0000-0000-000000000000/1\"}"
                try folder.write(text.replacing("}", with: "," + marker), to: "data/hearth.json")
            case .otherHistory:
                for position in bytes.indices.dropLast(32) where (0x30...0x66).contains(bytes[position]) {
                    // The epoch is the only text of 32 hexadecimal digits.
                    let digits = bytes[position..<position + 32]
                    guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { continue }
                    bytes[position] = bytes[position] == 0x30 ? 0x31 : 0x30
                    break
                }
            case .foreignLog:
                try folder.remove(file)
                return try folder.write([UInt8](repeating: 7, count: 5_000), to: file + "-wal")
            }
            try folder.write(bytes, to: file)
        }
    }

    @Test
    func `The index is complete when documents are written during a rebuild`() async throws {
        try await fixture.withStore { store in
            for number in 0..<400 { try await store.set("c/d\(number)", ["n": .integer(0)]) }
        }
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            for number in 0..<200 {
                try await store.set("c/d\(number * 2)", ["n": .integer(1)])
                if number.isMultiple(of: 3) { try await store.delete("c/d\(number * 2 + 1)") }
            }
            let found10 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found10 == 200)
            let found11 = try await store.ids(in: "c", where: "n", is: 0).count
            #expect(found11 == 133)
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `The index tells integers from doubles, after changes, a rebuild and a restart`() async throws {
        let numbers: [Value] = [
            .integer(1), .double(1), .double(2.5), .integer(.max), .integer(.min), .integer((1 << 53) + 1), .double(0x1p60),
            .double(-0x1p53), .integer(-((1 << 53) + 1)), .double(-0.0), .double(.nan), .double(-.infinity), .double(0x1p-1074),
        ]
        let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))), aggregating: [FieldPath("n")])
        let sum = try NormalizedAggregations([Aggregation(.sum(FieldPath("n")), alias: "sum")])
        @Sendable func expectSum(_ value: Value, in store: FileStore) async throws {
            let answer = try await store.aggregate(query, sum, readTime: nil)
            #expect(answer.results["sum" as UTF8Key] == value, "\(answer.metrics)")
            #expect(answer.metrics.documentsRead == 0)
        }
        for number in numbers {
            // The sum of doubles is a double, but not -0.0.
            let expected = if case .double(let double) = number { Value.double(double + 0) } else { number }
            try await fixture.withStore { store in
                for other in [number, .integer(1), .double(1), .integer(1), number] {
                    try await store.set("c/a", ["n": other])
                    if other != number || other == .integer(1) { try await expectSum(other, in: store) }
                }
                try await expectSum(expected, in: store)
            }
            try await fixture.withStore { store in try await expectSum(expected, in: store) }
            try fixture.folder.remove("data/index.sqlite")
            try await fixture.withStore { store in try await expectSum(expected, in: store) }
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `A rebuild excludes a damaged document, and later commits are indexed`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try await store.set("c/b", ["n": .integer(1)])
        }
        try fixture.folder.remove("data/index.sqlite")
        try fixture.folder.write("{", to: "data/documents/c/a.json")
        try await fixture.withStore { store in
            let found12 = try await store.ids(in: "c", where: "n", is: 1)
            #expect(found12 == ["b"])
        }
    }

    @Test
    func `The index is correct after a commit to a document that was edited by hand`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1), "m": .integer(1)])
            let text = try fixture.folder.text(of: "data/documents/c/a.json")
            try fixture.folder.write(text.replacing("\"m\": 1", with: "\"m\": 2"), to: "data/documents/c/a.json")
            _ = try await store.commit([.update(DocumentPath("c/a"), [(FieldPath("n"), .integer(5))])])
            let found13 = try await store.ids(in: "c", where: "m", is: 1)
            #expect(found13 == [])
            let found14 = try await store.ids(in: "c", where: "m", is: 2)
            #expect(found14 == ["a"])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `A check compares the index and reports the number of documents and the first one, and a repair rebuilds it`()
        async throws
    {
        try await fixture.withStore { store in
            for id in ["edited", "removed", "same"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await store.set("c/same/s/nested", ["n": .integer(1)])
        }
        let text = try fixture.folder.text(of: "data/documents/c/edited.json")
        try fixture.folder.write(text.replacing("\"n\": 1", with: "\"n\": 2"), to: "data/documents/c/edited.json")
        try fixture.folder.remove("data/documents/c/removed.json")
        try fixture.folder.write(text, to: "data/documents/c/added.json")
        let findings = try await fixture.findings().filter { $0.kind == .outdatedIndex }
        #expect(findings.count == 1)
        #expect(findings.first?.path.map { ["c/edited", "c/removed", "c/added"].contains($0) } == true)
        #expect(findings.first?.message.contains("3 documents") == true, "\(findings)")
        try await FileStore.repair(fixture.folder["data"], logger: .silent)
        #expect(try await fixture.findings().filter { $0.kind == .outdatedIndex || $0.kind == .damagedIndex } == [])
    }

    @Test
    func `A cancelled task ends its read of the index`() async throws {
        try await fixture.withStore { store in
            for number in 0..<50 { try await store.set("c/d\(number)", ["n": .integer(1)]) }
            let scan = IndexScan(target: .collection(try CollectionPath("c")), index: .documents)
            let reading = Task {
                try await store.readIndex { snapshot throws(StatusError) in
                    while true {
                        let cursor = try snapshot.cursor(scan, probing: [])
                        while try cursor.next() {}
                    }
                }
            }
            await Task.yield()
            reading.cancel()
            await expectStatus(.cancelled) { try await reading.value }
            let found15 = try await store.ids(in: "c", where: "n", is: 1).count
            #expect(found15 == 50)
        }
    }

    @Test
    func `Closing the store cancels reads of the index`() async throws {
        let store = try await fixture.open()
        try await store.set("c/a", ["n": .integer(1)])
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let scan = IndexScan(target: .collection(try CollectionPath("c")), index: .documents)
        let reading = Task {
            try await store.readIndex { snapshot throws(StatusError) in
                start.yield()
                while true { _ = try snapshot.count(scan, limit: nil) }
            }
        }
        for await _ in started { break }
        #expect(await store.close() == nil)
        await expectStatus(.cancelled) { try await reading.value }
        await expectStatus(.unavailable) { try await store.readIndex { $0.sequence } }
    }
}
