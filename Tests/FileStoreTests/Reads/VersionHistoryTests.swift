import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("The version history of a document")
struct VersionHistoryTests {
    private let fixture: StoreFixture
    private let path: DocumentPath

    init() throws {
        fixture = try StoreFixture()
        path = try DocumentPath("c/d")
    }

    @Test
    func `Versions have authors, if known`() async throws {
        try await fixture.withStore { store in
            for author in [UTF8Key("k1"), nil, UTF8Key("k2")] {
                let write = Write(path: path, operation: .replace(["author": .string(author?.string ?? "")]))
                _ = try await store.commit([write], validating: ReadSet(), by: CommitAuthor(keyID: author))
            }
        }
        try await fixture.withStore { store in
            let page = try await store.history(of: path, before: nil, limit: 10)
            #expect(page.versions.map(\.author) == [UTF8Key("k2"), nil, UTF8Key("k1")])
        }
    }

    @Test(arguments: [1, 2, 5, 100])
    func `Versions are listed newest first in pages of any size, across segments and restarts`(limit: Int) async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 2 << 10
        var expected: [DocumentVersion] = []
        for session in 0..<3 {
            try await fixture.withStore { store in
                for index in 0..<8 {
                    try await store.set("c/other", ["n": .integer(Int64(session * 8 + index))])
                    let fields: MapValue = [
                        "n": .integer(Int64(session * 8 + index)), "t": .string(String(repeating: "x", count: 200)),
                    ]
                    let isDeleted = index == 5
                    let result = try await isDeleted ? store.delete("c/d") : store.set("c/d", fields)
                    let document = try await store.document(at: path)
                    expected.insert(DocumentVersion(commitTime: result.commitTime, document: document), at: 0)
                }
            }
        }
        try await fixture.withStore { store in
            var versions: [DocumentVersion] = []
            var before: Timestamp?
            repeat {
                let page = try await store.history(of: path, before: before, limit: limit)
                #expect((1...limit).contains(page.versions.count))
                versions += page.versions
                before = page.next
            } while before != nil
            #expect(versions == expected)
        }
    }

    @Test
    func `The before-image of the oldest retained commit is a version`() async throws {
        let first = try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            return try #require(try await store.document(at: path))
        }
        try fixture.folder.remove("data/journal")
        try await fixture.withStore { store in
            #expect(try await store.history(of: path, before: nil, limit: 10).versions.map(\.document) == [first])
            let result = try await store.delete("c/d")
            let versions = try await store.history(of: path, before: nil, limit: 10).versions
            #expect(versions.map(\.commitTime) == [result.commitTime, first.updateTime])
            #expect(versions.map(\.document) == [nil, first])
            #expect(try await store.history(of: path, before: result.commitTime, limit: 10).versions.count == 1)
        }
    }

    @Test
    func `A document that never existed has no versions`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/other", [:])
            #expect(try await store.history(of: path, before: nil, limit: 10) == VersionPage(versions: [], next: nil))
        }
    }

    @Test
    func `A segment index finds the commits of a document and of a collection`() throws {
        var index = SegmentIndex(segment: SequenceNumber(1))
        for number in 0..<6 {
            let path = try DocumentPath("c/d\(number % 2)")
            let change = CommittedChange(path: path, before: nil, after: nil, existedBefore: true)
            let time = try Timestamp(microseconds: Int64(number) * 10)
            index.append(Commit(sequence: SequenceNumber(UInt64(number + 1)), time: time, changes: [change]), offset: number * 64)
        }
        #expect(try index.firstRecord(after: Timestamp(microseconds: 9)) == 1)
        #expect(try index.firstRecord(after: Timestamp(microseconds: 10)) == 2)
        #expect(try index.firstRecord(after: Timestamp(microseconds: 99)) == 6)
        #expect(index.firstRecord(after: .minimum) == 0)
        #expect(try index.records(changing: DocumentPath("c/d1"), in: 0..<6) == [1, 3, 5])
        #expect(try index.records(changing: DocumentPath("c/d1"), in: 2..<5) == [3])
        #expect(try index.records(changing: CollectionPath("c"), in: 2..<5) == [2, 3, 4])
        #expect(try index.records(changing: CollectionPath("d"), in: 0..<6) == [])
    }

    @Test(arguments: [1 << 20, 2 << 10])
    func `A page reads only the versions that it returns`(segmentBytes: Int) async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = segmentBytes
        try await fixture.withStore { store throws in
            for number in 0..<30 { try await store.set("c/d", ["n": .integer(Int64(number))]) }
            let all = try await store.history(of: path, before: nil, limit: 100).versions
            #expect(all.count == 30)
            // Damages the newer commits.
            for first in store.components.history.journal.segments {
                let name = "data/\(Journal.path(first: first))"
                var bytes = try fixture.folder.bytes(of: name)
                var start = JournalSegment.headerBytes
                while case .record(let record, let byteCount) = JournalRecord.read(bytes[start...]) {
                    if record.commit.sequence.rawValue > 20 { bytes[start + 20] ^= 1 }
                    start += byteCount
                }
                try fixture.folder.write(bytes, to: name)
            }
            await expectStatus(.dataLoss) { try await store.history(of: path, before: nil, limit: 100) }
            let page = try await store.history(of: path, before: all[9].commitTime, limit: 5)
            #expect(page.versions == Array(all[10..<15]) && page.next == all[14].commitTime)
            #expect(try await store.history(of: path, before: all[9].commitTime, limit: 100).versions == Array(all[10...]))
        }
    }

    @Test
    func `Before all retained commits, the before-image of the oldest is returned`() async throws {
        try await fixture.withStore { store throws in try await store.set("c/d", ["n": .integer(0)]) }
        try fixture.folder.remove("data/journal")
        try await fixture.withStore { store throws in
            let first = try #require(try await store.document(at: path))
            let second = try await store.set("c/d", ["n": .integer(1)]).commitTime
            try await store.set("c/d", ["n": .integer(2)])
            let page = try await store.history(of: path, before: second, limit: 5)
            #expect(page.versions == [DocumentVersion(commitTime: first.updateTime, document: first)])
        }
    }
}
