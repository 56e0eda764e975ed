import DocumentModel
import DocumentStore
import Foundation
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import DocumentIndex
@testable import FileStore

@Suite("Rebuilds of the index")
struct RebuildTests {
    private let fixture: StoreFixture
    private let gate = ScanGate()

    init() throws {
        var fixture = try StoreFixture()
        fixture.configuration.willScanForIndex = { [gate] in gate.pass() }
        // Queries do not wait for a rebuild of any documents.
        fixture.configuration.indexWaitDocumentCount = 0
        self.fixture = fixture
    }

    /// Waits until the state of the index is as expected.
    private func wait(for store: FileStore, until isReached: (IndexReport.BuildState) -> Bool) async throws {
        while !isReached(await store.indexes().singleFields) { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Queries fail at once with the progress of a rebuild, and reads and writes of documents go on`() async throws {
        // More than one batch of the scan.
        let text = Value.string(String(repeating: "x", count: 900_000))
        try await fixture.withStore { store in
            for number in 0..<12 { try await store.set("c/d\(number)", ["n": .integer(Int64(number)), "text": text]) }
            try await store.waitUntilIndexed()
        }
        try fixture.folder.remove("data/index.sqlite")
        gate.close(after: 1)
        try await fixture.withStore { store in
            defer { gate.open() }
            try await wait(for: store) { if case .building(1..., of: 12) = $0 { true } else { false } }
            guard case .building(let readCount, _) = await store.indexes().singleFields else {
                throw StatusError(.internal, "The rebuild is not held.")
            }
            #expect(readCount < 12)
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            let error = await expectStatus(.unavailable) { try await store.run(query, maximumBytes: 1 << 20, readTime: nil) }
            #expect(error?.message.contains("\(readCount) of 12 documents read, about ") == true, "\(error?.message ?? "")")
            #expect(error?.progress?.completedCount == readCount)
            #expect(error?.progress?.totalCount == 12)
            let fraction = try #require(error?.progress?.fraction)
            #expect(fraction > 0 && fraction < 1)
            #expect(error?.retryAfter != nil)
            await expectStatus(.unavailable) { try await store.size(of: nil) }
            #expect(try await store.fields("c/d3")?["n"] == .integer(3))
            try await store.set("c/new", ["n": .integer(3)])
            try await store.delete("c/d3")
            #expect(try await store.list("c").ids.count == 12)
            gate.open()
            try await store.waitUntilIndexed()
            #expect(try await store.ids(in: "c", where: "n", is: 3) == ["new"])
            #expect(try await store.size(of: nil).documentCount == 12)
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `Queries fail with the reported error before any document is read`() async throws {
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let index = store.components.index
            index.maintenanceQueue.sync {}
            // The state at the start of a rebuild, when some documents have been counted.
            var progress = RebuildProgress(startTime: .now)
            index.state.withLock { [progress] in $0.phase = .rebuilding(progress) }
            #expect(await store.indexes().queryError == nil)
            progress.countedCount = 1
            index.state.withLock { [progress] in $0.phase = .rebuilding(progress) }
            let report = await store.indexes()
            #expect(report.singleFields == .building(documents: 0))
            let error = await expectStatus(.unavailable) { try await store.ids(in: "c", where: "n", is: 1) }
            let message = error?.message ?? ""
            #expect(message.utf8.starts(with: "The index is being rebuilt, which has just begun. Queries".utf8), "\(message)")
            #expect(report.queryError?.message == message)
            index.state.withLock { $0.phase = .ready }
        }
    }

    @Test
    func `An index that applies recent commits for longer than queries wait is reported as their error`() async throws {
        var fixture = fixture
        fixture.configuration.indexWaitTimeout = .seconds(60)
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let index = store.components.index
            index.maintenanceQueue.sync {}
            index.state.withLock { $0.phase = .starting(since: .now) }
            #expect(await store.indexes().queryError == nil)
            index.state.withLock { $0.phase = .starting(since: .now - .seconds(60)) }
            #expect(await store.indexes().queryError?.message.contains("applying recent commits") == true)
            index.state.withLock { $0.phase = .ready }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A query waits for the rebuild of a small database`() async throws {
        var fixture = fixture
        fixture.configuration.indexWaitDocumentCount = 3
        for (count, waits) in [(3, true), (4, false)] {
            try await fixture.withStore { store in
                for number in 0..<count { try await store.set("c/d\(number)", ["n": .integer(1)]) }
                try await store.waitUntilIndexed()
            }
            try fixture.folder.remove("data/index.sqlite")
            gate.close()
            try await fixture.withStore { store in
                defer { gate.open() }
                try await wait(for: store) { $0 == .building(documents: 0, of: count) }
                if waits {
                    async let ids = store.ids(in: "c", where: "n", is: 1)
                    gate.open()
                    #expect(try await ids.count == count)
                } else {
                    await expectStatus(.unavailable) { try await store.ids(in: "c", where: "n", is: 1) }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A document that is applied to its file during a rebuild is indexed as of its last commit`() async throws {
        try await fixture.withStore { store in
            defer { gate.open() }
            for id in ["stale", "gone", "same"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            try await store.waitUntilIndexed()
            // The state after commits that could not be applied to their files.
            for id in ["stale", "new"] {
                let document = try document("c/\(id)", ["n": .integer(2)])
                store.components.unapplied.insert(document, at: document.path, because: Self.failure)
            }
            store.components.unapplied.insert(nil, at: try DocumentPath("c/gone"), because: Self.failure)
            gate.close(after: 1)
            let index = store.components.index
            index.maintenanceQueue.async {
                index.maintainer.withLock { index.handleFailure(.database(IndexDatabaseError(corruption: "a test")), &$0) }
                index.state.withLock { $0.retryTime = nil }
                index.runMaintenance()
            }
            // All files have been read.
            while !gate.isHolding { try await Task.sleep(for: .milliseconds(5)) }
            // Applies the documents first.
            try await store.set("c/other", ["n": .integer(1)])
            #expect(store.components.unapplied.isEmpty)
            gate.open()
            try await store.waitUntilIndexed()
            let changed = try await store.ids(in: "c", where: "n", is: 2)
            #expect(changed == ["new", "stale"])
            let others = try await store.ids(in: "c", where: "n", is: 1)
            #expect(others == ["other", "same"])
        }
    }

    private static let failure = StatusError(.unavailable, "The disk fails.")

    private func document(_ path: String, _ fields: MapValue) throws -> EncodedDocument {
        let time = Timestamp.current()
        return EncodedDocument(Document(path: try DocumentPath(path), fields: fields, createTime: time, updateTime: time))
    }
}
