import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Group commit")
struct GroupCommitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(in: TemporaryFolder.disk)
    }

    @Test
    func `Concurrent commits are visible when they return, densely numbered, and published once`() async throws {
        try await fixture.withStore { store throws in
            let (callers, each) = (32, 20)
            let sequences = try await withThrowingTaskGroup(of: [SequenceNumber].self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        var sequences: [SequenceNumber] = []
                        for index in 0..<each {
                            let path = "c/d\(caller)-\(index)"
                            let result = try await store.set(path, ["n": .integer(Int64(index))])
                            #expect(try await store.fields(path) == ["n": .integer(Int64(index))])
                            sequences.append(try #require(result.sequence))
                        }
                        #expect(sequences == sequences.sorted())
                        return sequences
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(sequences.map(\.rawValue).sorted() == Array(1...UInt64(callers * each)))
            let commits = try await store.firstCommits(callers * each, after: .zero)
            #expect(commits.map(\.sequence.rawValue) == Array(1...UInt64(callers * each)))
            #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.time < $1.time })
            #expect(try await store.list("c", limit: 1_000).documents.count == callers * each)
        }
    }

    @Test
    func `Concurrent increments of one document are all counted`() async throws {
        try await fixture.withStore { store throws in
            let path = try DocumentPath("c/counter")
            let increment = FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(1)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        for _ in 0..<10 { _ = try await store.commit([.set(path, [:], merge: .all, transforms: [increment])]) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.fields("c/counter") == ["n": .integer(500)])
            let changes = try await store.firstCommits(500, after: .zero).flatMap(\.changes)
            #expect(try changes.map { try $0.after?.decoded().fields["n" as UTF8Key] } == (1...500).map { .integer($0) })
        }
    }

    @Test
    func `Of concurrent creations of one document, one succeeds, and the others change nothing`() async throws {
        try await fixture.withStore { store throws in
            let wins = try await withThrowingTaskGroup(of: Bool.self) { group in
                for caller in 0..<40 {
                    group.addTask {
                        do {
                            _ = try await store.commit([
                                .create(DocumentPath("c/own\(caller)"), [:]), .create(DocumentPath("c/contested"), [:]),
                            ])
                            return true
                        } catch let error as StatusError where error.code == .alreadyExists {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(wins == 1)
            #expect(try await store.list("c").documents.count == 2)
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test
    func `A large commit, and commits that exceed a batch, succeed`() async throws {
        try await fixture.withStore { store in
            let text = Value.string(String(repeating: "x", count: 900_000))
            _ = try await store.commit((0..<10).map { try Write.create(DocumentPath("c/d\($0)"), ["text": text]) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<10 { group.addTask { try await store.set("c/e\(index)", ["text": text]) } }
                try await group.waitForAll()
            }
        }
        try await fixture.withStore { store throws in
            #expect(store.position.lastSequence == SequenceNumber(11))
            #expect(try await store.firstCommits(11, after: .zero).flatMap(\.changes).count == 20)
            #expect(try await store.list("c").ids.count == 20)
        }
    }

    @Test
    func `A batch contains neither a large commit after small ones nor too many writes`() async throws {
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 16 << 20
        let sizes = [2_500, 1, 2, 1_500, 600, 3, 1_500, 1, 900, 2_001, 1, 1_000]
        try await fixture.withStore { store throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, size) in sizes.enumerated() {
                    group.addTask {
                        let result = try await store.commit((0..<size).map { try .set(DocumentPath("c\(number)/d\($0)"), [:]) })
                        #expect(result.writeResults.count == size && result.sequence != nil)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.list("c0", limit: 10_000).documents.count == 2_500)
        }
        var batches: [SequenceNumber: [Int]] = [:]
        for name in try fixture.folder.segments(in: "data") {
            let bytes = try fixture.folder.bytes(of: "data/journal/\(name)")
            var offset = JournalSegment.headerBytes
            while case .record(let record, let byteCount) = JournalRecord.read(bytes[offset...]) {
                batches[record.batch, default: []].append(record.commit.changes.count)
                offset += byteCount
            }
        }
        #expect(batches.values.reduce([], +).sorted() == sizes.sorted())
        #expect(batches.values.allSatisfy { $0.count == 1 || $0.reduce(0, +) <= CommitBatch.maximumWrites }, "\(batches)")
    }

    @Test
    func `Closing completes the accepted commits and rejects later ones`() async throws {
        let store = try await fixture.open()
        let count = await withTaskGroup(of: Int.self) { group in
            for caller in 0..<16 {
                group.addTask {
                    var count = 0
                    while (try? await store.set("c/d\(caller)-\(count)", [:])) != nil { count += 1 }
                    return count
                }
            }
            group.addTask {
                _ = try? await store.firstCommits(100, after: .zero)
                await store.close()
                return 0
            }
            return await group.reduce(0, +)
        }
        try await fixture.withStore { store throws in
            #expect(store.position.lastSequence.rawValue == UInt64(count))
            #expect(try await store.list("c", limit: 100_000).documents.count == count)
        }
    }
}
