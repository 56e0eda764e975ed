import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Large commits")
struct LargeCommitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Small commits are acknowledged while the files of a large commit are written`() async throws {
        try await fixture.withStore { store throws in
            try await Self.whileCommitting(store, try Self.sets("large", 4_000)) { isInProgress throws in
                var count = 0
                while isInProgress() {
                    try await store.set("small/d\(count)", [:])
                    count += 1
                }
                #expect(count >= 3)
            }
            #expect(try fixture.folder.names(in: "data/documents/large").count == 4_000)
        }
    }

    @Test
    func `A large commit is visible as a whole before its files have been written`() async throws {
        try await fixture.withStore { store throws in
            _ = try await store.commit(try Self.sets("old", 1_000, below: "x/p/"))
            let writes = try Self.sets("new", 3_000) + (0..<1_000).map { try .delete(DocumentPath("x/p/old/d\($0)")) }
            try await Self.whileCommitting(store, writes) { isInProgress throws in
                while store.position.lastSequence < SequenceNumber(2) { await Task.yield() }
                #expect(try await store.fields("new/d2999") == ["n": .integer(2_999)])
                #expect(try await store.fields("x/p/old/d999") == nil)
                #expect(try await store.list("new", limit: 10_000).documents.count == 3_000)
                #expect(try await store.list("x/p/old").documents.isEmpty)
                #expect(try await store.list("x", includingMissing: true).documents.isEmpty)
                #expect(try await store.collections() == ["new"])
                #expect(try await store.collections(under: "x/p") == [])
                #expect(await store.writeBlockedReason == nil)
                #expect(await store.storage()?.unappliedCount == 0)
            }
            #expect(try await store.collections() == ["new"])
            #expect(!fixture.folder.exists("data/documents/x"))
        }
    }

    @Test
    func `A small commit replaces a document of a large commit that is not in its file yet`() async throws {
        try await fixture.withStore { store throws in
            try await Self.whileCommitting(store, try Self.sets("c", 3_000)) { _ throws in
                while store.position.lastSequence < SequenceNumber(1) { await Task.yield() }
                // The files are written in order, so the last ones follow.
                try await store.set("c/d2999", ["n": .string("replaced")])
                try await store.delete("c/d2998")
                #expect(try await store.fields("c/d2999") == ["n": .string("replaced")])
            }
            #expect(try await store.fields("c/d2999") == ["n": .string("replaced")])
            #expect(try await store.fields("c/d2998") == nil)
            #expect(try await store.list("c", limit: 10_000).documents.count == 2_999)
        }
        try await fixture.withStore { store throws in
            #expect(try await store.fields("c/d2999") == ["n": .string("replaced")])
            #expect(try await store.list("c", limit: 10_000).documents.count == 2_999)
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test
    func `Concurrent large and small increments of the same documents are all counted`() async throws {
        let increment = FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(1)))
        try await fixture.withStore { store throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<5 {
                            _ = try await store.commit(
                                (0..<200).map { try .set(DocumentPath("c/d\($0)"), [:], merge: .all, transforms: [increment]) }
                            )
                        }
                    }
                }
                for caller in 0..<4 {
                    group.addTask {
                        for index in 0..<100 {
                            let path = try DocumentPath("c/d\((index * 7 + caller) % 200)")
                            _ = try await store.commit([.set(path, [:], merge: .all, transforms: [increment])])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sum = try await store.list("c", limit: 1_000).documents.reduce(0) { sum, entry in
                guard case .document(let document) = entry, case .integer(let n)? = try document.decoded().fields["n" as UTF8Key]
                else {
                    return sum
                }
                return sum + Int(n)
            }
            #expect(sum == 3 * 5 * 200 + 4 * 100)
            let commits = try await store.firstCommits(415, after: .zero)
            #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.time < $1.time && $0.sequence.next == $1.sequence })
        }
    }

    @Test
    func `A rejected large commit changes nothing and leaves no folders`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/d50", ["n": .string("kept")])
            let writes = try (0..<100).map { try Write.create(DocumentPath("c/d\($0)/sub\($0)/e"), [:]) }
            let error = await expectStatus(.alreadyExists) {
                try await store.commit(writes + [.create(DocumentPath("c/d50"), [:], transforms: [])])
            }
            #expect(error?.path == "c/d50")
            #expect(store.position.lastSequence == SequenceNumber(1))
            #expect(try fixture.folder.names(in: "data/documents/c") == ["d50.json"])
        }
    }

    @Test
    func `A large commit is in an index that is rebuilt while its files are written`() async throws {
        try await fixture.withStore { store throws in _ = try await store.commit(try Self.sets("c", 3_000)) }
        for name in try fixture.folder.names(in: "data") where name.hasPrefix("index.sqlite") {
            try fixture.folder.remove("data/\(name)")
        }
        try await fixture.withStore { store throws in
            let writes =
                try (0..<3_000).map { try Write.set(DocumentPath("c/d\($0)"), ["n": .string("changed")]) } + Self.sets("e", 1_000)
            try await Self.whileCommitting(store, writes) { _ throws in
                while store.position.lastSequence < SequenceNumber(2) { await Task.yield() }
                #expect(try await store.size(of: nil).documentCount == 4_000)
            }
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test
    func `Closing completes the accepted large commits`() async throws {
        let store = try await fixture.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 { group.addTask { _ = try await store.commit(try Self.sets("c\(number)", 500)) } }
            while store.position.lastSequence < SequenceNumber(1) { await Task.yield() }
            await store.close()
            do { try await group.waitForAll() } catch let error as StatusError { #expect(error.code == .unavailable) }
        }
        let count = Int(store.position.lastSequence.rawValue)
        try await fixture.withStore { store throws in
            var counts: [Int] = []
            for number in 0..<3 { counts.append(try await store.list("c\(number)", limit: 1_000).documents.count) }
            #expect(counts.filter { $0 == 500 }.count == count && counts.allSatisfy { $0 == 0 || $0 == 500 })
        }
    }

    // MARK: -

    /// Calls `body` while the writes are committed; its argument returns `false` once they have been acknowledged.
    private static func whileCommitting(
        _ store: FileStore,
        _ writes: [Write],
        _ body: (_ isInProgress: () -> Bool) async throws -> Void
    ) async throws {
        let isDone = Flag()
        async let result = isDone.set(after: { try await store.commit(writes) })
        try await body { !isDone.isSet }
        #expect(try await result.writeResults.count == writes.count)
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }

        func set<Result>(after body: @Sendable () async throws -> Result) async throws -> Result {
            defer { value.store(true, ordering: .releasing) }
            return try await body()
        }
    }

    private static func sets(_ collection: String, _ count: Int, below parent: String = "") throws -> [Write] {
        try (0..<count).map { try .set(DocumentPath("\(parent)\(collection)/d\($0)"), ["n": .integer(Int64($0))]) }
    }
}
